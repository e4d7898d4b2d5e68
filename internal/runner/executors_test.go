package runner

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder makes a runner's folder with the files; names that end in ! are executable.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name, run := strings.CutSuffix(name, "!")
		path := filepath.Join(dir, name)
		mode := os.FileMode(0o600)
		if run {
			mode = 0o700
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestExecutorsAndProfiles(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"executors/claude-code/ao-claude-code-exec!": "", "executors/mine/ao-my-exec!": "", "executors/mine/ao-notes": "",
		"executors/off/ao-off-exec": "not executable", "executors/other/run!": "",
		"profiles/fast.json":   `{"type":"claude-code","command":"executors/claude-code/ao-claude-code-exec","config":{"model":"haiku"}}`,
		"profiles/mine.json":   `{"type":"t","command":"executors/claude-code/ao-claude-code-exec"}`,
		"profiles/gone.json":   `{"type":"t","command":"executors/gone/ao-gone-exec"}`,
		"profiles/broken.json": `{`, "profiles/empty.json": `{}`,
	})
	found, err := Executors(dir)
	if err != nil || len(found) != 2 || found["mine"] != filepath.Join("executors", "mine", "ao-my-exec") {
		t.Errorf("executors %v %v", found, err)
	}
	if names, err := Profiles(dir); err != nil || !slices.Equal(names, []string{"broken", "empty", "fast", "gone", "mine"}) {
		t.Errorf("profiles %v %v", names, err)
	}
	for _, tt := range []struct{ name, profile, typ, fails string }{
		{"", "claude-code", "claude-code", ""},
		{"fast", "fast", "claude-code", ""},
		{"mine", "mine", "t", ""}, // the profile comes first
		{"off", "", "", "no profile and no executor"},
		{"gone", "", "", "not there"},
		{"broken", "", "", "profile broken"},
		{"empty", "", "", "required"},
	} {
		profile, ex, err := Select(dir, tt.name)
		switch {
		case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)):
			t.Errorf("%s: %v", tt.name, err)
		case tt.fails == "" && (err != nil || profile != tt.profile || ex.Type != tt.typ || ex.Config == nil || !filepath.IsAbs(ex.path)):
			t.Errorf("%s: %s %+v %v", tt.name, profile, ex, err)
		}
	}
	if profile, ex, err := AtPath(dir, "executors/mine/ao-my-exec"); err != nil || profile != "mine" || ex.path != filepath.Join(dir, "executors/mine/ao-my-exec") {
		t.Errorf("by path: %s %+v %v", profile, ex, err)
	}
	if empty, err := Executors(t.TempDir()); err != nil || len(empty) != 0 {
		t.Errorf("an empty folder: %v %v", empty, err)
	}
}

// TestWhatIsShippedHoldsTogether: each profile names an executor of this repository, each sample blueprint a profile or
// executor, and only placeholders that are replaced.
func TestWhatIsShippedHoldsTogether(t *testing.T) {
	t.Parallel()
	const root = "../.."
	known := []string{"claude-code", "test-executor"}
	profiles, err := filepath.Glob(root + "/executors/profiles/*.json")
	if err != nil || len(profiles) == 0 {
		t.Fatal(profiles, err)
	}
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range profiles {
		var ex Executor
		raw, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(raw, &ex) != nil || !slices.Contains(known, ex.Type) || !strings.Contains(string(makefile), "bin/"+ex.Command) {
			t.Errorf("%s: %+v %v", path, ex, err)
		}
		known = append(known, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	agents, err := filepath.Glob(root + "/config/agents/*/agent.json")
	if err != nil || len(agents) == 0 {
		t.Fatal(agents, err)
	}
	for _, path := range agents {
		var agent struct {
			Name, Description string
			Demands           struct {
				Profile string `json:"executor_profile"`
			}
		}
		raw, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(raw, &agent) != nil || agent.Name != filepath.Base(filepath.Dir(path)) || agent.Description == "" || !slices.Contains(known, agent.Demands.Profile) {
			t.Errorf("%s: %+v %v", path, agent, err)
		}
		servers, err := os.ReadFile(filepath.Join(filepath.Dir(path), "agent.mcp.json"))
		if err != nil {
			continue
		}
		var mcp struct {
			Servers json.RawMessage `json:"mcpServers"`
		}
		if err := json.Unmarshal(servers, &mcp); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		values := map[string]string{"AGENT_ORCHESTRATOR_MCP_URL": "u", "AGENT_COORDINATION_MCP_URL": "u", "AGENT_SESSION_ID": "s"}
		out, err := resolve([]byte(`{"mcp_servers":`+string(mcp.Servers)+`}`), values)
		if err != nil || strings.Contains(string(out), "${") {
			t.Errorf("%s: %s %v", path, out, err)
		}
	}
}

// TestTheExecutorOfTheDocumentation: the shell script in docs/RUNNER.md works as it stands there.
func TestTheExecutorOfTheDocumentation(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/RUNNER.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "```sh\n#!")
	script, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("there is no script in the document")
	}
	dir := folder(t, map[string]string{"executors/sh/ao-sh-exec!": "#!" + script})
	f := newFake(t)
	cfg := f.config(t)
	if cfg.Profile, cfg.Executor, err = Select(dir, "sh"); err != nil {
		t.Fatal(err)
	}
	f.starts(t, cfg)
	f.give("run_sh", "hello")
	if kind, detail := f.ends("run_sh"); kind != "completed" {
		t.Fatalf("%s %s", kind, detail)
	}
	if got := f.texts("ses_run_sh"); len(got) != 2 || !strings.HasSuffix(got[0], "bytes read") || got[1] != "session_stop" {
		t.Errorf("events %q", got)
	}
}

// TestTheTemplateIsAnExecutor: what people copy runs as it is, for a start and a resume.
func TestTheTemplateIsAnExecutor(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 on this machine")
	}
	f := newFake(t)
	cfg := f.config(t)
	var err error
	cfg.Profile, cfg.Executor, err = AtPath("../..", "executors/template/ao-template-exec")
	if err != nil {
		t.Fatal(err)
	}
	f.starts(t, cfg)
	f.give("run_1", "hello", map[string]any{"session_id": "ses_t"})
	if kind, detail := f.ends("run_1"); kind != "completed" {
		t.Fatalf("%s %s", kind, detail)
	}
	f.give("run_2", "more", map[string]any{"session_id": "ses_t", "type": "resume_session"})
	if kind, detail := f.ends("run_2"); kind != "completed" {
		t.Fatalf("%s %s", kind, detail)
	}
	if got := f.texts("ses_t"); !slices.Equal(got, []string{
		"user: hello", "assistant: start: hello", "session_stop", "session_start", "user: more", "assistant: resume: more", "session_stop",
	}) {
		t.Errorf("%q", got)
	}
}
