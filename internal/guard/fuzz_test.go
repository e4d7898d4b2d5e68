package guard_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/guard"
)

// What a host writes to a hook's input is read without a crash, and whatever it says is written has an absolute path.
func FuzzDecode(f *testing.F) {
	for host, seeds := range map[guard.Host][]string{
		guard.ClaudeCode: {
			`{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/r", "tool_name": "Edit", "tool_input": {"file_path": "a.go"}}`,
			`{"hook_event_name": "PostToolUse", "cwd": "r", "tool_name": "Bash", "tool_input": {"command": "sed -i s/a/b/ *.go > out"}}`,
			`{"hook_event_name": "PreToolUse", "tool_name": "NotebookEdit", "tool_input": []}`,
		},
		guard.Codex: {
			`{"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": ["apply_patch", "*** Begin Patch\n*** Move to: b\n*** Delete File: a\n"]}}`,
			`{"hook_event_name": "PreToolUse", "tool_name": "shell", "tool_input": {"command": ["bash", "-lc", "echo x > y"], "workdir": "sub"}}`,
		},
		guard.Cursor: {
			`{"hook_event_name": "beforeShellExecution", "conversation_id": "c", "workspace_roots": ["/w"], "command": "rm -rf a"}`,
			`{"hook_event_name": "afterFileEdit", "file_path": "file:///w/a.ts"}`,
		},
	} {
		for _, s := range seeds {
			f.Add(string(host), []byte(s), "/here")
		}
	}
	f.Fuzz(func(t *testing.T, host string, raw []byte, cwd string) {
		if !filepath.IsAbs(cwd) { // the process's own folder
			cwd = "/" + cwd
		}
		c, err := guard.Decode(guard.Host(host), raw, cwd)
		if err != nil {
			for _, h := range guard.Hosts() {
				if string(h) == host && !errors.Is(err, guard.ErrInput) {
					t.Fatalf("an error of another kind: %v", err)
				}
			}
			return
		}
		if c.Event == "" || !filepath.IsAbs(c.Cwd) {
			t.Fatalf("%+v", c)
		}
		for _, w := range c.Read(func(string) string { return "x" }).Writes {
			if !filepath.IsAbs(w.Path) {
				t.Fatalf("%s writes the relative path %q", raw, w.Path)
			}
		}
	})
}
