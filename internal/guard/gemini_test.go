package guard_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/guard"
)

// Gemini CLI's events, tools and answers, in the format of its hooks reference.
func TestGeminiHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if d := w.hook("ana", w.ana, "PreToolUse", "Edit", map[string]string{"file_path": filepath.Join(w.ana, "src/held.go")}); d.Deny != "" {
		t.Fatal(d.Deny)
	}
	hook := func(event, tool string, input any) (guard.Decision, map[string]any) {
		t.Helper()
		raw, err := json.Marshal(map[string]any{
			"session_id": "gem-s", "cwd": w.bob, "hook_event_name": event, "tool_name": tool, "tool_input": input, "timestamp": "2026-11-21T10:00:00Z",
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := guard.Decode(guard.Gemini, raw, w.bob)
		if err != nil {
			t.Fatal(err)
		}
		d := w.guard("gem").Handle(t.Context(), c)
		out := map[string]any{}
		if answer := c.Answer(d); len(answer) > 0 && json.Unmarshal(answer, &out) != nil {
			t.Fatalf("%s: not JSON: %s", event, answer)
		}
		return d, out
	}
	_, out := hook("SessionStart", "", nil)
	specific, _ := out["hookSpecificOutput"].(map[string]any)
	if text, _ := specific["additionalContext"].(string); !strings.Contains(text, "src/held.go") {
		t.Errorf("the brief: %v", out)
	}
	for tool, input := range map[string]any{
		"write_file":        map[string]string{"file_path": filepath.Join(w.bob, "src/held.go"), "content": "x"},
		"replace":           map[string]string{"file_path": "src/held.go", "old_string": "a", "new_string": "b"},
		"run_shell_command": map[string]string{"command": "echo x > held.go", "dir_path": "src"},
	} {
		if _, out := hook("BeforeTool", tool, input); out["decision"] != "deny" || !strings.Contains(out["reason"].(string), "held by ana") {
			t.Errorf("%s: %v", tool, out)
		}
	}
	if d, out := hook("BeforeTool", "write_file", map[string]string{"file_path": "src/free.go"}); d.Deny != "" || len(out) != 0 {
		t.Errorf("a free file: %v", out)
	}
	w.sh(w.bob, "echo slipped > src/held.go")
	_, out = hook("AfterTool", "run_shell_command", map[string]string{"command": "python3 x.py"})
	specific, _ = out["hookSpecificOutput"].(map[string]any)
	if text, _ := specific["additionalContext"].(string); !strings.Contains(text, "changed what others hold") {
		t.Errorf("after the call: %v", out)
	}
	hook("AfterAgent", "", nil)
	hook("SessionEnd", "", nil)
}
