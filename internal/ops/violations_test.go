package ops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// report tells of changed files as agent, in the session that lock uses.
func (w *world) report(agent string, in map[string]any, paths ...string) client.ReportedChanges {
	w.t.Helper()
	files := []any{}
	for _, p := range paths {
		files = append(files, map[string]any{"file_path": p})
	}
	args := map[string]any{"files": files}
	for k, v := range in {
		args[k] = v
	}
	return must[client.ReportedChanges](w, anyone, agent, agent+"-s", "report_changes", args)
}

func TestChangesOfWhatOthersHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "src/"))
	w.granted(w.lock("cleo", "docs/*.md"))
	w.granted(w.lock("bob", "own.go"))
	w.granted(w.lock("dan", "read.go", "mode", "shared"))

	r := w.report("bob", map[string]any{"tool": "Bash", "command": "sed -i s/a/b/ src/a.go"}, "src/a.go", "docs/guide.md", "docs/deep/x.md", "own.go", "free.go", "read.go")
	if !r.Success || r.Files != 6 || len(r.Violations) != 2 || r.Told != 2 {
		t.Fatalf("%+v", r)
	}
	if v := r.Violations[0]; v.FilePath != "src/a.go" || v.HeldPath != "src/" || v.LockedBy != "ana" || v.SessionID != "ana-s" {
		t.Errorf("%+v", v)
	}
	n := w.notices("ana", "ana-s")
	if len(n) != 1 || !strings.Contains(n[0].Text, "bob changed src/a.go, which you hold") {
		t.Fatalf("the holder was told %+v", n)
	}
	if again := w.report("bob", nil, "src/a.go"); len(again.Violations) != 1 || again.Told != 0 || len(w.notices("ana", "ana-s")) != 0 {
		t.Errorf("the same within ten minutes told the holder again: %+v", again)
	}
	w.later(11 * time.Minute)
	if again := w.report("bob", map[string]any{"unknown": true}, "src/a.go"); again.Told != 1 {
		t.Errorf("%+v", again)
	}
	if n := w.notices("ana", "ana-s"); len(n) != 1 || !strings.HasPrefix(n[0].Text, "Somebody (last at work there: bob) changed") {
		t.Errorf("%+v", n)
	}
	list := must[client.Violations](w, anyone, "eva", "", "list_violations", map[string]any{"limit": 2.0})
	if list.Count != 2 || !list.Truncated || !list.Violations[0].Unknown || list.Violations[0].LockedBy != "ana" || list.Violations[0].AgentID != "bob" {
		t.Errorf("%+v", list)
	}
	if list = must[client.Violations](w, anyone, "eva", "", "list_violations", map[string]any{"by": "nobody"}); list.Count != 0 || list.Truncated {
		t.Errorf("%+v", list)
	}
}

func TestReportedChangesMarkMemoriesStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must[client.Remembered](w, anyone, "ana", "ana-s", "remember", map[string]any{"summary": "the parser eats blanks", "path": "p.go", "digest": "d1"})
	must[client.ReportedChanges](w, anyone, "bob", "bob-s", "report_changes", map[string]any{"files": []any{map[string]any{"file_path": "p.go", "digest": "d2"}}})
	if n := scan[int](w, `select count(*) from public.memory_episodic where stale_at is not null`); n != 1 {
		t.Errorf("%d stale memories, want 1", n)
	}
}

func TestBypassedCommitIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "a.go"))
	w.report("bob", map[string]any{"stage": "commit", "bypass": "ana is on holiday"}, "a.go")
	if got := scan[string](w, `select bypass from public.lock_violations where stage = 'commit'`); got != "ana is on holiday" {
		t.Errorf("bypass %q", got)
	}
	if n := w.notices("ana", "ana-s"); len(n) != 1 || !strings.Contains(n[0].Text, "bob commits a.go, which you hold: ana is on holiday") {
		t.Errorf("%+v", n)
	}
}

func TestReportRefusesNonsense(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, args := range []map[string]any{
		{},
		{"files": []any{}},
		{"files": []any{map[string]any{"file_path": "/etc/passwd"}}},
		{"files": []any{map[string]any{"file_path": "../x"}}},
		{"files": "a.go"},
		{"files": []any{map[string]any{"file_path": "a.go"}}, "stage": "later"},
	} {
		_, err := do[client.ReportedChanges](w, anyone, "bob", "s", "report_changes", args)
		w.refused(err, client.CodeInvalid)
	}
}
