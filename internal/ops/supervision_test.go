package ops_test

import (
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// Who waits is listed in the order of the line, with who is in the way; who waits behind a waiter alone, too.
func TestLockWaitsAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := func() client.LockWaits {
		return must[client.LockWaits](w, anyone, "", "", "list_lock_waits", map[string]any{})
	}
	if got := list(); got.Count != 0 || got.Waits == nil {
		t.Fatalf("nobody waits: %+v", got)
	}
	must[client.LockResult](w, anyone, "ana", "ana-s", "acquire_lock", map[string]any{"file_path": "src/"})
	bob := w.queue(t.Context(), "bob", map[string]any{"file_path": "src/a.go"})
	cleo := w.queue(t.Context(), "cleo", map[string]any{"file_path": "src/a.go"})
	got := list()
	if got.Count != 2 || got.Waits[0].AgentID != "bob" || got.Waits[1].AgentID != "cleo" {
		t.Fatalf("two wait: %+v", got)
	}
	if x := got.Waits[0]; x.FilePath != "src/a.go" || x.HeldPath != "src/" || x.HeldBy != "ana" || x.Ahead != 0 || x.Since == "" {
		t.Errorf("bob: %+v", x)
	}
	if x := got.Waits[1]; x.HeldBy != "ana" || x.Ahead != 1 {
		t.Errorf("cleo: %+v", x)
	}
	if few := must[client.LockWaits](w, anyone, "", "", "list_lock_waits", map[string]any{"limit": 1}); few.Count != 1 || !few.Truncated {
		t.Errorf("limited: %+v", few)
	}
	must[client.ReleaseResult](w, anyone, "ana", "ana-s", "release_lock", map[string]any{"all": true})
	bob.wait(t, 10*time.Second)
	if got = list(); got.Count != 1 || got.Waits[0].HeldBy != "bob" {
		t.Errorf("bob's turn came: %+v", got)
	}
	must[client.ReleaseResult](w, anyone, "bob", "bob-s", "release_lock", map[string]any{"all": true})
	cleo.wait(t, 10*time.Second)
}

// Another priority counts from the next claim on; who neither submitted the task nor reviews may not change it.
func TestPrioritise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := submit(w, map[string]any{"task_type": "t", "description": "first"})
	second := submit(w, map[string]any{"task_type": "t", "description": "second"})
	to := func(p ident.Principal, agent, task string, priority int) (client.TaskChange, error) {
		return do[client.TaskChange](w, p, agent, "", "prioritise_work", map[string]any{"task_id": task, "priority": priority})
	}
	_, err := to(anyone, "stranger", second.TaskID, 1)
	w.refused(err, client.CodeForbidden)
	if out, err := to(admin, "eva", second.TaskID, 1); err != nil || !out.Success {
		t.Fatalf("%+v %v", out, err)
	}
	if got := must[client.Work](w, anyone, "ana", "s", "get_work", map[string]any{}); got.TaskID == nil || *got.TaskID != second.TaskID || got.Priority != 1 {
		t.Fatalf("the second first: %+v", got)
	}
	if out, err := to(admin, "eva", second.TaskID, 3); err != nil || !out.Success || out.Status != "claimed" {
		t.Errorf("one in work: %+v %v", out, err)
	}
	must[client.TaskChange](w, anyone, "ana", "s", "complete_work", map[string]any{"task_id": second.TaskID, "success": true})
	if out, err := to(admin, "eva", second.TaskID, 1); err != nil || out.Success || out.Reason != "ended" {
		t.Errorf("one that ended: %+v %v", out, err)
	}
	if n := scan[int](w, `select count(*) from coord.ready`); n != 1 {
		t.Errorf("%d rows in the lanes", n)
	}
	if got := must[client.Work](w, anyone, "ana", "s", "get_work", map[string]any{}); got.TaskID == nil || *got.TaskID != first.TaskID {
		t.Errorf("then the first: %+v", got)
	}
}
