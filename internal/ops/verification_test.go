package ops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

func (w *world) statusOf(args map[string]any) client.VerificationState {
	w.t.Helper()
	return must[client.VerificationState](w, anyone, "ana", "s1", "verification_status", args)
}

func TestVerificationStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s1")
	if got := w.statusOf(map[string]any{"head_sha": head1}); got.Found || got.Decided || got.State != "unknown" || !strings.Contains(got.Reason, "submit_changes") {
		t.Errorf("an unknown commit: %+v", got)
	}
	id := w.pushed("ana", "s1", head1)
	for _, args := range []map[string]any{nil, {"head_sha": head1[:9]}, {"changeset_id": id}} {
		if got := w.statusOf(args); !got.Found || got.ChangesetID != id || got.State != "verifying" || got.Decided {
			t.Errorf("%v: %+v", args, got)
		}
	}
	w.verdict(id, "failure")
	got := w.statusOf(nil)
	if got.State != "failed" || !got.Decided || len(got.Findings) != 1 || got.Findings[0].Message != "wrong verb" || len(got.Runs) != 1 || got.Runs[0].State != "failure" || got.Runs[0].Output != "FAIL TestX" {
		t.Errorf("%+v", got)
	}
	task, _ := w.claimed(nil)
	w.complete(task, head2)
	if got := w.statusOf(map[string]any{"task_id": task}); got.Found || got.HeadSHA != head2 {
		t.Errorf("a task whose commit nobody handed over: %+v", got)
	}
	w.verdict(w.pushed("", "", head2), "success")
	if got := w.statusOf(map[string]any{"task_id": task}); got.State != "passed" || got.Reason == "" {
		t.Errorf("%+v", got)
	}
}

// A wait ends with the verdict, not with its time.
func TestVerificationStatusWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.pushed("ana", "s1", head1)
	began := time.Now()
	got := make(chan client.VerificationState, 1)
	go func() { got <- w.statusOf(map[string]any{"head_sha": head1, "wait_seconds": 25.0}) }()
	for w.hub.Parked() == 0 {
		w.exec(`select pg_sleep(0.01)`)
	}
	w.verdict(id, "success")
	w.hub.Wake([]string{"g:cs:" + id})
	if s := <-got; s.State != "passed" || time.Since(began) > 20*time.Second {
		t.Errorf("%+v after %v", s, time.Since(began))
	}
}
