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

// script stands in for Anthropic's model API: each turn of the main conversation calls the next tool, the last ends it.
// It keeps what the model was sent.
type script struct {
	*httptest.Server
	mu   sync.Mutex
	sent string
}

type toolCall struct {
	name  string
	input map[string]any
}

func newScript(t *testing.T, calls ...toolCall) *script {
	t.Helper()
	s := &script{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Model    string            `json:"model"`
			Tools    []json.RawMessage `json:"tools"`
			Messages []json.RawMessage `json:"messages"`
		}
		_ = json.NewDecoder(r.Body).Decode(&req)
		if !strings.HasPrefix(r.URL.Path, "/v1/messages") || strings.Contains(r.URL.Path, "count_tokens") || len(req.Messages) == 0 {
			_, _ = fmt.Fprint(w, `{"input_tokens":1}`)
			return
		}
		all, _ := json.Marshal(req.Messages)
		done := strings.Count(string(all), `"type":"tool_result"`)
		s.mu.Lock()
		s.sent = string(all)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(event string, data map[string]any) {
			data["type"] = event
			raw, _ := json.Marshal(data)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, raw)
		}
		send("message_start", map[string]any{"message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model, "content": []any{}, "stop_reason": nil, "usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
		}})
		block, delta, reason := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": "done"}, "end_turn"
		if len(req.Tools) > 0 && done < len(calls) {
			input, _ := json.Marshal(calls[done].input)
			block = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", done), "name": calls[done].name, "input": map[string]any{}}
			delta, reason = map[string]any{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
		}
		send("content_block_start", map[string]any{"index": 0, "content_block": block})
		send("content_block_delta", map[string]any{"index": 0, "delta": delta})
		send("content_block_stop", map[string]any{"index": 0})
		send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason}, "usage": map[string]int{"output_tokens": 2}})
		send("message_stop", map[string]any{})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *script) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// TestHostClaudeCodeIsRefused: installed as the README says, the real Claude Code gets the brief, cannot write what
// ana holds, can write what is free, is told when a command slipped by, and holds nothing afterwards; what it mended is in
// the memory. uninstall leaves its settings as they were.
func TestHostClaudeCodeIsRefused(t *testing.T) {
	nodeBin := filepath.Join(hosts(t), "node_modules", ".bin")
	in, home, dir := up(t), t.TempDir(), t.TempDir()
	settings := filepath.Join(home, ".claude", "settings.json")
	before := "{\n  \"cleanupPeriodDays\": 20,\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}\n"
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + home, "PATH=" + nodeBin + string(os.PathListSeparator) + os.Getenv("PATH"), "COORD_HOME=" + in.Home, "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1", "ANTHROPIC_API_KEY=sk-ant-test",
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
	run(ctl, "install", "claude-code")
	if out := run(ctl, "doctor"); !strings.Contains(out, "Claude Code hook   answered") {
		t.Errorf("doctor did not fire the hook:\n%s", out)
	}
	run(ctl, "lock", "acquire", "--agent-id", "ana", "--file-path", "held.go", "--reason", "rewriting the form")

	model := newScript(t,
		toolCall{"Write", map[string]any{"file_path": filepath.Join(dir, "held.go"), "content": "x"}},
		toolCall{"Write", map[string]any{"file_path": filepath.Join(dir, "free.go"), "content": "x"}},
		toolCall{"Bash", map[string]any{"command": "n=$(echo held.go); echo slipped > $n", "description": "writes"}},
		toolCall{"Bash", map[string]any{"command": "sh check.sh", "description": "checks"}},
		toolCall{"Write", map[string]any{"file_path": filepath.Join(dir, "mended.go"), "content": "x"}},
		toolCall{"Bash", map[string]any{"command": "sh check.sh", "description": "checks"}},
	)
	if err := os.WriteFile(filepath.Join(dir, "check.sh"), []byte("test -f mended.go || { echo 'error: mended.go is missing' >&2; exit 1; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "ANTHROPIC_BASE_URL="+model.URL)
	run(filepath.Join(nodeBin, "claude"), "-p", "write the files", "--permission-mode", "bypassPermissions")
	heard := model.heard()
	for what, want := range map[string]string{
		"the brief":    "Agent Coordinator guards this repository",
		"the refusal":  "held.go is held by ana",
		"its reason":   "rewriting the form",
		"what slipped": "your last call changed what others hold: held.go (held by ana)",
	} {
		if !strings.Contains(heard, want) {
			t.Errorf("%s did not reach the model: %q is not in\n%s", what, want, heard)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "free.go")); err != nil {
		t.Errorf("the free file was not written: %v", err)
	}
	if out := run(ctl, "lock", "list", "--json"); strings.Contains(out, "free.go") || !strings.Contains(out, "held.go") {
		t.Errorf("locks after the session: %s", out)
	}
	learnt := run(ctl, "memory", "search", "--event-type", "fix", "--json")
	if !strings.Contains(learnt, "`sh check.sh` failed: error: mended.go is missing") || !strings.Contains(learnt, "it worked after changing mended.go") {
		t.Errorf("what the session mended was not learnt: %s", learnt)
	}
	run(ctl, "uninstall", "claude-code")
	if raw, err := os.ReadFile(settings); err != nil || string(raw) != before {
		t.Errorf("after uninstall:\n%s\nwas:\n%s", raw, before)
	}
}
