//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// commands stands in for an OpenAI Responses endpoint: each turn runs the next command, the last ends it. It keeps what
// the model was sent.
func commands(t *testing.T, list ...string) (url string, heard func() string) {
	t.Helper()
	var mu sync.Mutex
	sent := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"data":[],"models":[]}`))
			return
		}
		var req struct {
			Input []json.RawMessage `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		all, _ := json.Marshal(req.Input)
		mu.Lock()
		sent = string(all)
		mu.Unlock()
		done := strings.Count(string(all), `"function_call_output"`)
		item := map[string]any{"type": "message", "id": "m_1", "role": "assistant", "content": []map[string]any{{"type": "output_text", "text": "done"}}}
		if done < len(list) {
			args, _ := json.Marshal(map[string]string{"cmd": list[done]})
			item = map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", done), "call_id": fmt.Sprintf("call_%d", done), "name": "exec_command", "arguments": string(args)}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range []map[string]any{
			{"type": "response.created", "response": map[string]any{"id": "r_1"}},
			{"type": "response.output_item.done", "item": item},
			{"type": "response.completed", "response": map[string]any{"id": "r_1", "usage": map[string]any{
				"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2,
			}}},
		} {
			raw, _ := json.Marshal(ev)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", ev["type"], raw)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return sent
	}
}

// TestHostCodexIsRefused: installed as the README says, the real Codex gets the brief, cannot patch or overwrite what ana
// holds, can write what is free, is told when a command slipped by, and holds nothing afterwards. uninstall leaves its
// files as they were.
func TestHostCodexIsRefused(t *testing.T) {
	nodeBin := filepath.Join(hosts(t), "node_modules", ".bin")
	in, home, dir := up(t), t.TempDir(), t.TempDir()
	patch := func(file string) string {
		return "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + file + "\n+x\n*** End Patch\nEOF"
	}
	model, heard := commands(t, patch("held.go"), "echo x > held.go", patch("free.go"), "n=$(echo held.go); echo slipped > $n", "ls")
	before := map[string]string{
		"config.toml": "model = \"stand-in\"\nmodel_provider = \"local\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n" +
			"[model_providers.local]\nname = \"local\"\nbase_url = \"" + model + "/v1\"\nwire_api = \"responses\"\nenv_key = \"STAND_IN_KEY\"", // no newline at its end
		"hooks.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,
		"AGENTS.md":  "# How we work\n\nSmall steps.",
	}
	folder := filepath.Join(home, ".codex")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range before {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"HOME=" + home, "CODEX_HOME=" + folder, "PATH=" + nodeBin + string(os.PathListSeparator) + os.Getenv("PATH"), "COORD_HOME=" + in.Home, "STAND_IN_KEY=x",
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = dir, append(cleanEnv(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("git", "init", "-q", "-b", "main")
	run("git", "-c", "user.name=a", "-c", "user.email=a@x", "commit", "-q", "--allow-empty", "-m", "one")
	ctl := filepath.Join(bin, "coordctl")
	run(ctl, "install", "codex", "--instructions")
	if again := run(ctl, "install", "codex"); !strings.Contains(again, "has it already") {
		t.Errorf("a second install: %s", again)
	}
	run(ctl, "lock", "acquire", "--agent-id", "ana", "--file-path", "held.go", "--reason", "rewriting the form")
	run(filepath.Join(nodeBin, "codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--json", "write the files")
	for what, want := range map[string]string{
		"the brief":        "Agent Coordinator guards this repository",
		"the instructions": "Other agents work in this repository at the same time",
		"the refusal":      "held.go is held by ana",
		"its reason":       "rewriting the form",
		"what slipped":     "your last call changed what others hold: held.go (held by ana)",
	} {
		if !strings.Contains(heard(), want) {
			t.Errorf("%s did not reach the model: %q is not in\n%s", what, want, heard())
		}
	}
	if n := strings.Count(heard(), "held.go is held by ana"); n < 2 {
		t.Errorf("%d refusals, want the patch's and the command's", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "free.go")); err != nil {
		t.Errorf("the free file was not written: %v", err)
	}
	if out := run(ctl, "lock", "list", "--json"); strings.Contains(out, "free.go") || !strings.Contains(out, "held.go") {
		t.Errorf("locks after the session: %s", out)
	}
	run(ctl, "uninstall", "codex")
	for name, text := range before {
		if raw, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(raw) != text {
			t.Errorf("%s after uninstall:\n%s\nwas:\n%s", name, raw, text)
		}
	}
}

// TestHostClaudeCodePlugin: the real Claude Code takes both plugins, the one of the repository as a marketplace's, and
// connects to the server of the one that coordctl writes.
func TestHostClaudeCodePlugin(t *testing.T) {
	hosts(t)
	in, home, dir := up(t), t.TempDir(), t.TempDir()
	env := []string{"DISABLE_AUTOUPDATER=1", "COORD_HOME=" + in.Home}
	claude := func(want string, args ...string) {
		t.Helper()
		out, err := hostCommand(t, home, dir, env, "claude", args...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("claude %v: %v, no %q in\n%s", args, err, want, out)
		}
	}
	plugin := filepath.Join(dir, "coord-plugin")
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "coordctl"), "install", "claude-code", "--plugin", plugin)
	cmd.Env = in.env("HOME=" + home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	claude("Validation passed", "plugin", "validate", plugin)
	claude("Validation passed", "plugin", "validate", filepath.Join(repoRoot(), "plugins", "claude-code"))
	claude("Validation passed", "plugin", "validate", repoRoot())
	claude("Connected", "--plugin-dir", plugin, "mcp", "list")
	claude("Successfully added", "plugin", "marketplace", "add", repoRoot())
	claude("Successfully installed", "plugin", "install", "coord@agent-coordinator")
}
