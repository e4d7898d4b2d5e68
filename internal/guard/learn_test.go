package guard_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/guard"
)

// agentSession plays one session of Claude Code, call by call, as the host sends them.
type agentSession struct {
	w    *world
	id   string
	tree string
}

func (s agentSession) send(event string, more map[string]any) guard.Decision {
	s.w.t.Helper()
	in := map[string]any{"session_id": s.id, "cwd": s.tree, "hook_event_name": event, "transcript_path": "/tmp/x.jsonl", "permission_mode": "default"}
	for k, v := range more {
		in[k] = v
	}
	raw, err := json.Marshal(in)
	if err != nil {
		s.w.t.Fatal(err)
	}
	c, err := guard.Decode(guard.ClaudeCode, raw, s.tree)
	if err != nil {
		s.w.t.Fatal(err)
	}
	d := s.w.guard("ana").Handle(s.w.t.Context(), c)
	if strings.Contains(d.Person, "could not be asked") {
		s.w.t.Fatalf("%s: %s", event, d.Person)
	}
	return d
}

// bash is a command that ended: why is what it printed when it failed, empty when it worked.
func (s agentSession) bash(command, why string) {
	s.w.t.Helper()
	in := map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command}, "tool_use_id": "toolu_1"}
	if d := s.send("PreToolUse", in); d.Deny != "" {
		s.w.t.Fatalf("%s: %s", command, d.Deny)
	}
	if why != "" {
		in["error"] = "Exit code 1\n" + why
		s.send("PostToolUseFailure", in)
		return
	}
	in["tool_response"] = map[string]any{"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false}
	s.send("PostToolUse", in)
}

func (s agentSession) edit(file string) {
	s.w.t.Helper()
	path := filepath.Join(s.tree, file)
	in := map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": path, "content": s.id}}
	if d := s.send("PreToolUse", in); d.Deny != "" {
		s.w.t.Fatal(d.Deny)
	}
	if err := os.WriteFile(path, []byte(s.id), 0o600); err != nil {
		s.w.t.Fatal(err)
	}
	in["tool_response"] = map[string]any{"filePath": path, "type": "update"}
	s.send("PostToolUse", in)
}

// Ten sessions that call nothing of ours: the hooks alone write and read every layer, and the tenth session begins with
// what the nine before it learnt.
func TestTenSessionsTeachTheTenth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for n := 1; n <= 9; n++ {
		s := agentSession{w, fmt.Sprintf("%d0000000-0000-4000-8000-000000000000", n), w.ana}
		s.send("SessionStart", map[string]any{"source": "startup"})
		s.send("UserPromptSubmit", map[string]any{"prompt": fmt.Sprintf("make the login form keep its state, part %d", n)})
		s.bash("ls -la && git status", "")
		if n == 3 {
			s.bash("go test ./login/...", "--- FAIL: TestKeepsState\n    form_test.go:12: undefined: sessionStore\nFAIL")
			s.edit("src/free.go")
		}
		s.bash("go generate ./...", "")
		s.bash("go test ./login/...", "")
		if n == 5 {
			s.bash("npm run deploy -- --token=sk-live-abcdefghijklmnop1234567890", "Error: permission denied for ghp_0123456789abcdefghijABCDEFGHIJ012345")
		}
		s.send("Stop", nil)
		if n == 4 { // its context is shortened: it gets back what it had in mind
			d := s.send("SessionStart", map[string]any{"source": "compact"})
			if text := strings.Join(d.Context, "\n"); !strings.Contains(text, "In mind from before") || !strings.Contains(text, "part 4") {
				t.Errorf("after the context was shortened: %s", text)
			}
		}
		s.send("SessionEnd", map[string]any{"reason": "other"})
	}
	tenth := agentSession{w, "a0000000-0000-4000-8000-000000000000", w.bob} // another working tree of the repository
	brief := strings.Join(tenth.send("SessionStart", map[string]any{"source": "startup"}).Context, "\n")
	for what, want := range map[string]string{
		"what failed":            "`go test ./login/...` failed: --- FAIL: TestKeepsState",
		"what mended it":         "src/free.go",
		"what is done each time": "skill: run go test ./login/... (worked",
		"the session before":     "part 9",
	} {
		if !strings.Contains(brief, want) {
			t.Errorf("the tenth brief lacks %s: %q is not in\n%s", what, want, brief)
		}
	}
	asked := strings.Join(tenth.send("UserPromptSubmit", map[string]any{"prompt": "why is sessionStore undefined in TestKeepsState of the login tests?"}).Context, "\n")
	if !strings.Contains(asked, "Learnt before: `go test ./login/...` failed") {
		t.Errorf("a question that an earlier session answered brought %q", asked)
	}
	layers(t, w)

	// Nothing secret was kept, and what was kept is bounded.
	api := w.api("eva")
	out, err := api.MemoryExport(ctx, client.ExportMemory{Format: "jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "abcdefghijklmnop") || strings.Contains(string(all), "ghp_0123") || !strings.Contains(string(all), "[redacted]") {
		t.Errorf("a secret is in the memory, or what failed is not: %s", all)
	}
	if left, _ := filepath.Glob(filepath.Join(w.states["ana"], "*.steps*")); len(left) > 1 { // the tenth's own
		t.Errorf("left over: %v", left)
	}
}

// layers checks what the nine sessions left in each layer.
func layers(t *testing.T, w *world) {
	t.Helper()
	ctx, api := t.Context(), w.api("eva")
	episodes := func(kind string) []client.Memory {
		t.Helper()
		r, err := api.Recall(ctx, client.Recall{EventType: kind, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		return r.Memories
	}
	if n := len(episodes("session")); n != 9 {
		t.Errorf("%d sessions are remembered, want 9", n)
	}
	for _, m := range episodes("session") {
		if m.Details["turns"] != float64(1) {
			t.Errorf("a session was concluded without its working memory: %v", m.Details)
		}
	}
	fixes := episodes("fix")
	if len(fixes) != 1 || fixes[0].Details["changed"] == nil {
		t.Errorf("fixes: %+v", fixes)
	}
	skills, err := api.ListSkills(ctx, client.ListSkills{Tags: []string{"hooks"}})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, k := range skills.Skills {
		if k.SkillName == "run go test ./login/..." {
			found = true
			if steps := fmt.Sprint(k.Steps); steps != "[go generate ./... go test ./login/...]" || k.Uses != 8 || k.Successes != 8 {
				t.Errorf("the skill: %+v", k)
			}
		}
	}
	if !found {
		t.Errorf("no skill of what every session ran: %+v", skills.Skills)
	}
}

// A session that was killed is concluded by the next one; a coordinator that is away loses nothing.
func TestKilledSessionIsConcludedByTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := agentSession{w, "killed-session", w.ana}
	s.send("SessionStart", nil)
	s.bash("make check", "Error: no such target check")
	s.bash("make lint", "")
	s.bash("make check", "Error: no such target check")
	s.bash("make test", "")
	spools, err := filepath.Glob(filepath.Join(w.states["ana"], "*.steps"))
	if err != nil || len(spools) != 1 {
		t.Fatalf("%v, %v", spools, err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(spools[0], old, old); err != nil {
		t.Fatal(err)
	}
	agentSession{w, "next-session", w.ana}.send("SessionStart", nil)
	r, err := w.api("eva").Recall(t.Context(), client.Recall{EventType: "session"})
	if err != nil || len(r.Memories) != 1 || r.Memories[0].Outcome != "failure" || !strings.Contains(r.Memories[0].Summary, "killed-s") {
		t.Errorf("%+v, %v", r.Memories, err)
	}
	if left, _ := filepath.Glob(filepath.Join(w.states["ana"], "*.steps*")); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestLearningCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.guard("ana")
	g.Getenv = func(name string) string { return map[string]string{guard.MemoryVariable: "off"}[name] }
	raw := `{"session_id":"s","cwd":"` + w.ana + `","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make x"},"tool_response":{"stdout":""}}`
	c, err := guard.Decode(guard.ClaudeCode, []byte(raw), w.ana)
	if err != nil {
		t.Fatal(err)
	}
	g.Handle(t.Context(), c)
	if left, _ := filepath.Glob(filepath.Join(w.states["ana"], "*.steps")); len(left) != 0 {
		t.Errorf("it was kept: %v", left)
	}
}
