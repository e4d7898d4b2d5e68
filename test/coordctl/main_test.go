// Package coordctl runs the real programs: the README's commands as they stand there, and the life of an
// installation through crashes.
package coordctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const root = "../.."

// programs builds them once for all tests; built is where.
var (
	built    string
	programs = sync.OnceValues(build)
)

func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "coord-programs-"); err != nil {
		return "", err
	}
	built = dir
	for _, args := range [][]string{
		{dir + string(filepath.Separator), "./cmd/coordctl", "./cmd/mcp-server", "./cmd/api", "./cmd/agent-runner"},
		{filepath.Join(dir, "executors", "test-executor", "ao-test-exec"), "./executors/test-executor"},
	} {
		cmd := exec.Command("go", append([]string{"build", "-o"}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return dir, nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	var err error
	if built != "" {
		err = os.RemoveAll(built)
	}
	if err = errors.Join(err, goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// place is a repository of somebody's with the programs in bin/, and an empty home.
type place struct {
	t    *testing.T
	dir  string
	env  []string
	home string // COORD_HOME
}

// ours are the variables that would lead to another installation.
var ours = []string{"COORD", "DATABASE_URL", "DIRECT_URL", "API_ADDR", "GATEWAY_", "GITHUB_", "AUTH_ENABLED", "AGENT_", "SESSION_ID", "CLAUDE", "CODEX", "LOG_LEVEL", "HOME=", "XDG_DATA_HOME"}

func newPlace(t *testing.T) *place {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	// Not below t.TempDir: its parents are closed to the account that runs Postgres under root.
	dir, err := os.MkdirTemp("", "coord-place-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: filepath.Join(dir, "app"), home: filepath.Join(dir, "state")}
	p.env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(kv, prefix) }) && !strings.HasPrefix(kv, "COORD_PG_")
	})
	p.env = append(p.env, "HOME="+dir, "COORD_HOME="+p.home, "COORD_PG_GRACE=2s", "API_ADDR=127.0.0.1:0", "GATEWAY_ADDR=127.0.0.1:0", "GIT_CONFIG_GLOBAL=/dev/null")
	if err := os.MkdirAll(filepath.Join(p.dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(p.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	// Of one moment, so that every place holds the same repository, as clones do.
	p.must("git init -q . && GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first")
	t.Cleanup(func() {
		p.sh("bin/coordctl down")
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return p
}

// result is what a command did.
type result struct {
	code     int
	out, err string
}

// sh runs a shell line in the place.
func (p *place) sh(line string, vars ...string) result {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // clean-up runs after the test's context
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clone(p.env), vars...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("%s: %v", line, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// must runs a line that has to succeed and returns its output.
func (p *place) must(line string, vars ...string) string {
	p.t.Helper()
	r := p.sh(line, vars...)
	if r.code != 0 {
		p.t.Fatalf("%s: exit code %d\n%s%s", line, r.code, r.out, r.err)
	}
	return r.out
}

// up is up.json.
type up struct {
	APIURL string `json:"api_url"`
	APIKey string `json:"api_key"`
	PID    int    `json:"pid"`
	DB     string `json:"database_url"`
	Gate   string `json:"gateway_url"`
}

func (p *place) up() up {
	p.t.Helper()
	var u up
	if err := json.Unmarshal([]byte(p.must("bin/coordctl up -d --json")), &u); err != nil {
		p.t.Fatal(err)
	}
	return u
}

// postgres is the embedded server as status tells.
func (p *place) postgres() (pid int, running bool) {
	p.t.Helper()
	var s struct {
		Postgres struct {
			PID     int  `json:"pid"`
			Running bool `json:"running"`
		} `json:"postgres"`
	}
	r := p.sh("bin/coordctl status --json")
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		p.t.Fatalf("%v: %s", err, r.err)
	}
	return s.Postgres.PID, s.Postgres.Running
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// eventually asks until ok, for at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s did not come true", what)
		}
	}
}
