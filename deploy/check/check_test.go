// Package check holds the deployment files to what they are: the compose file is loaded by compose's own loader, the
// Dockerfile is read by BuildKit's, the units by systemd, and what they start is started here, as plain processes with
// the same arguments and environment. Only the containers themselves are not exercised: that needs a Docker daemon.
package check

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

const root = "../.."

func TestMain(m *testing.M) { pgtest.Main(m) }

// settings are the .env of these tests.
var settings = map[string]string{
	"POSTGRES_PASSWORD": "pw", "COORDINATION_API_KEYS": "key-0123456789", "COORDINATION_API_KEY": "key-0123456789",
	"AUTHENTICATOR_PASSWORD": "pw", "PGRST_JWT_SECRET": "0123456789abcdef0123456789abcdef",
}

func project(t *testing.T, env map[string]string) *types.Project {
	t.Helper()
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: root, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(root, "docker-compose.yml")}}, Environment: env,
	}, func(o *loader.Options) { o.Profiles = []string{"*"}; o.SetProjectName("agent-coordinator", true) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestComposeFile(t *testing.T) {
	t.Parallel()
	p := project(t, maps.Clone(settings)) // the loader adds to it
	for _, name := range []string{"postgres", "migrate", "api", "gateway", "runner"} {
		s, err := p.GetService(name)
		if err != nil || len(s.Profiles) > 0 {
			t.Errorf("%s: %v, profiles %v", name, err, s.Profiles)
		}
	}
	pinned := regexp.MustCompile(`:v?\d+\.\d+`)
	for name, s := range p.Services {
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %s has no version", name, s.Image)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes port %s to everybody", name, port.Published)
			}
		}
		if s.Build != nil && (s.User == "root" || s.Privileged || !slices.Contains(s.CapDrop, "ALL")) {
			t.Errorf("%s may do more than it needs", name)
		}
	}
	for name := range settings {
		if name == "AUTHENTICATOR_PASSWORD" || name == "PGRST_JWT_SECRET" { // the profile's own
			continue
		}
		without := maps.Clone(settings)
		delete(without, name)
		if _, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
			WorkingDir: root, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(root, "docker-compose.yml")}}, Environment: without,
		}, func(o *loader.Options) { o.SetProjectName("agent-coordinator", true) }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestComposeNamesVariablesThatExist: every setting of our programs in the compose file, and every variable it reads, is one
// that .env.example explains.
func TestComposeNamesVariablesThatExist(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.Join(root, ".env.example"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	known := func(name string) bool { return regexp.MustCompile(`(?m)^# ` + name + `=`).Match(example) }
	for _, m := range regexp.MustCompile(`\$\{([A-Z_]+)`).FindAllSubmatch(file, -1) {
		if !known(string(m[1])) {
			t.Errorf("docker-compose.yml reads %s, which .env.example does not explain", m[1])
		}
	}
	for name, s := range project(t, maps.Clone(settings)).Services {
		if s.Build == nil {
			continue
		}
		for variable := range s.Environment {
			if !known(variable) {
				t.Errorf("%s is given %s, which .env.example does not explain", name, variable)
			}
		}
	}
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parsed, err := parser.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`:\d+\.\d+(\.\d+)?-`)
	for _, s := range stages {
		if !pinned.MatchString(s.BaseName) {
			t.Errorf("the base %s has no version", s.BaseName)
		}
	}
	last, user, packages := stages[len(stages)-1], "", ""
	for _, c := range last.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.RunCommand:
			packages += strings.Join(c.CmdLine, " ")
		case *instructions.CopyCommand:
			if c.From != "" && c.From != stages[0].Name {
				t.Errorf("it copies from %s, which is no stage", c.From)
			}
		}
	}
	if user == "" || strings.HasPrefix(user, "0") || user == "root" {
		t.Errorf("it runs as %q", user)
	}
	// What the health checks run must be in the image.
	for name, s := range project(t, maps.Clone(settings)).Services {
		if s.Build != nil && s.HealthCheck != nil && !strings.Contains(packages, " "+s.HealthCheck.Test[1]+" ") {
			t.Errorf("%s: the image lacks %s, which its health check runs", name, s.HealthCheck.Test[1])
		}
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED, nothing was proven: systemd-analyze is not installed (apt-get install systemd)")
	}
	units, err := filepath.Glob(filepath.Join(root, "deploy", "systemd", "*.service"))
	if err != nil || len(units) != 4 {
		t.Fatalf("%v, %v", units, err)
	}
	dir := t.TempDir()
	var copies []string
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		start := regexp.MustCompile(`(?m)^ExecStart=(\S+)`).FindSubmatch(text)
		if start == nil {
			t.Fatalf("%s starts nothing", unit)
		}
		program := filepath.Base(string(start[1]))
		if _, err := os.Stat(filepath.Join(root, "cmd", program)); err != nil {
			t.Errorf("%s starts %s, which is no command of ours", unit, program)
		}
		// The programs are not installed here: any other one in their place.
		at := filepath.Join(dir, filepath.Base(unit))
		if err := os.WriteFile(at, []byte(strings.ReplaceAll(string(text), string(start[1]), "/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, at)
	}
	if out, err := exec.CommandContext(t.Context(), program, append([]string{"verify", "--man=no"}, copies...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	for unit, most := range map[string]string{"migrate": "20", "api": "20", "gateway": "40", "runner": "60"} { // exposure times ten: 0 is closed, 100 open
		out, err := exec.CommandContext(t.Context(), program, "security", "--offline=yes", "--threshold="+most, filepath.Join(dir, "agent-coordinator-"+unit+".service")).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze security %s: %v\n%.2000s", unit, err, out)
		}
	}
}
