package ops_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// child starts a session below a parent whose end calls the parent back.
func (f fleet) child(parent string) client.CreatedRun {
	f.t.Helper()
	return f.run("parent_session_id", parent, "execution_mode", "async_callback")
}

// last is the newest run of a session.
func (f fleet) last(session string) client.Run {
	f.t.Helper()
	out := must[client.Runs](f.world, anyone, "", "", "list_runs", map[string]any{"session_id": session, "newest": true, "limit": 1.0})
	if len(out.Runs) != 1 {
		f.t.Fatalf("%s has no run", session)
	}
	return out.Runs[0]
}

func TestAParentHearsOfItsChildren(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	parent := f.run()
	f.claim(r, parent.RunID)
	f.reports(r, parent.RunID, "started")
	good := f.child(parent.SessionID)
	f.execute(r, good, "the child's answer")
	if n := f.deliver(); n != 0 {
		t.Fatalf("%d delivered to a parent that is busy", n)
	}
	f.event(parent.SessionID, "session_stop")
	if n := f.deliver(); n != 1 {
		t.Fatalf("%d delivered", n)
	}
	if n := f.deliver(); n != 0 {
		t.Fatal("delivered twice")
	}
	back := f.last(parent.SessionID)
	want := "The child agent session \"" + good.SessionID + "\" has completed.\n\n## Child Result\n\nthe child's answer\n\n" +
		"Please continue with the orchestration based on this result."
	if back.Type != "resume_session" || back.Prompt != want {
		t.Fatalf("%+v", back)
	}
	if p := f.poll(r); p.Run != nil {
		t.Fatal("the parent's run before is not over, and yet another was given out")
	}
	f.reports(r, parent.RunID, "completed")
	f.claim(r, back.RunID)
	f.reports(r, back.RunID, "started")
	// While it works: one child fails, one is stopped, one times out. All of it comes as one run.
	failed, stopped := f.child(parent.SessionID), f.child(parent.SessionID)
	late := f.run("parent_session_id", parent.SessionID, "execution_mode", "async_callback", "additional_demands", map[string]any{"hostname": "nowhere"})
	f.claim(r, failed.RunID)
	f.reports(r, failed.RunID, "started", "failed")
	must[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": stopped.RunID})
	f.later(301 * time.Second)
	f.poll(r) // it lives
	f.sweepRuns()
	// The parent's own run fails: what waits is told all the same.
	f.reports(r, back.RunID, "failed")
	if n := f.deliver(); n != 1 {
		t.Fatalf("%d delivered", n)
	}
	want = "Multiple child agent sessions have completed.\n\n### Child: " + failed.SessionID + " (FAILED)\n\nit broke\n\n---\n\n### Child: " +
		stopped.SessionID + " (FAILED)\n\nSession was manually stopped\n\n---\n\n### Child: " + late.SessionID +
		" (FAILED)\n\nNo matching runner available within timeout\n\nPlease continue with the orchestration based on these results."
	if got := f.last(parent.SessionID).Prompt; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The outbox is in the database: whoever comes up next delivers.
func TestCallbacksSurviveARestart(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	parent := f.run()
	f.execute(r, parent, "waiting")
	c := f.child(parent.SessionID)
	f.execute(r, c, "done")
	next := coord.New(f.pool)
	if n, err := next.SweepRuns(context.Background(), 100); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	if back := f.last(parent.SessionID); !strings.Contains(back.Prompt, "done") || back.Status != "pending" {
		t.Errorf("%+v", back)
	}
	// A parent that is gone: the callback is dropped, not kept for ever.
	orphan := f.run()
	f.execute(r, client.CreatedRun{RunID: f.last(parent.SessionID).RunID, SessionID: parent.SessionID}, "x")
	f.execute(r, orphan, "x")
	d := f.child(orphan.SessionID)
	must[client.DeletedSession](f.world, anyone, "", "", "delete_session", map[string]any{"session_id": orphan.SessionID, "tree": false})
	f.execute(r, d, "x")
	f.deliver()
	if n := scan[int](f.world, `select count(*) from coord.callbacks where delivered_at is null`); n != 0 {
		t.Errorf("%d callbacks wait for nobody", n)
	}
}

func TestARunnerThatIsLostGivesEverythingBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	run := f.run()
	f.claim(r, run.RunID)
	f.reports(r, run.RunID, "started")
	retried := f.run("retries", 1.0)
	f.claim(r, retried.RunID)
	f.reports(r, retried.RunID, "started")
	// The agent works under the session's id: a lock and a task.
	if l := must[client.LockResult](f.world, anyone, "coder", run.SessionID, "acquire_lock", map[string]any{"file_path": "a.go"}); !l.Success {
		t.Fatalf("%+v", l)
	}
	must[client.SubmittedWork](f.world, anyone, "boss", "s", "submit_work", map[string]any{"task_type": "t", "description": "d"})
	must[client.Work](f.world, anyone, "coder", run.SessionID, "get_work", nil)
	f.later(130 * time.Second)
	f.sweepRuns()
	list := must[client.Runners](f.world, anyone, "", "", "list_runners", nil)
	if list.Runners[0].Status != "stale" || f.get(run.RunID).Status != "running" {
		t.Fatalf("%+v", list)
	}
	must[client.Ok](f.world, runnerKey, "", "", "runner_heartbeat", map[string]any{"runner_id": r})
	if list = must[client.Runners](f.world, anyone, "", "", "list_runners", nil); list.Runners[0].Status != "online" {
		t.Fatal("a heartbeat does not revive")
	}
	f.later(800 * time.Second)
	f.sweepRuns()
	if got := f.get(run.RunID); got.Status != "failed" || *got.Error != "Runner disconnected during execution" || f.status(run.SessionID) != "failed" {
		t.Errorf("%+v", got)
	}
	if got := f.get(retried.RunID); got.Status != "pending" {
		t.Errorf("%+v", got)
	}
	if !must[client.LockResult](f.world, anyone, "other", "s", "acquire_lock", map[string]any{"file_path": "a.go"}).Success {
		t.Error("the lock is still held")
	}
	if w := must[client.Work](f.world, anyone, "other", "s", "get_work", nil); !w.Success {
		t.Error("the task is still held")
	}
	f.refused(f.report(r, run.RunID, "completed"), client.CodeUnauthenticated)
	// The time of the retry comes.
	again := f.register("host")
	f.later(900 * time.Second)
	f.poll(again)
	f.sweepRuns()
	f.claim(again, retried.RunID)
}

func TestAnInstanceMayComeBackAtOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host", "instance_id", "i1")
	run, other := f.run(), f.run()
	f.claim(r, run.RunID)
	f.claim(r, other.RunID)
	f.reports(r, run.RunID, "started")
	f.reports(r, other.RunID, "started")
	_, err := do[client.RegisteredRunner](f.world, runnerKey, "", "", "register_runner", map[string]any{
		"hostname": "host", "project_dir": "/work", "executor_profile": "test", "instance_id": "i2",
	})
	f.refused(err, client.CodeConflict)
	if again := f.register("host", "instance_id", "i1"); again != r || f.get(run.RunID).Status != "running" {
		t.Error("the same instance lost its runs")
	}
	f.register("host", "instance_id", "i1", "run_ids", []any{run.RunID})
	if f.get(run.RunID).Status != "running" || f.get(other.RunID).Status != "failed" {
		t.Errorf("%s %s", f.get(run.RunID).Status, f.get(other.RunID).Status)
	}
}

func TestTreesAreBoundedStoppedAndDeleted(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.store.Orchestrate(coord.OrchestrationSettings{MaxDepth: 3, MaxChildren: 2})
	r := f.register("host")
	top := f.run()
	f.claim(r, top.RunID)
	f.reports(r, top.RunID, "started")
	a, b := f.child(top.SessionID), f.child(top.SessionID)
	leaf := f.child(a.SessionID)
	refuse := func(parent string, status int) {
		t.Helper()
		_, err := do[client.CreatedRun](f.world, anyone, "", "", "create_run", map[string]any{"type": "start_session", "prompt": "x", "parent_session_id": parent})
		if e, ok := err.(*client.Error); !ok || e.Status != status { //nolint:errorlint // the pipeline returns nothing else
			t.Errorf("%v, want %d", err, status)
		}
	}
	refuse(top.SessionID, 429)
	refuse(leaf.SessionID, 400)
	f.claim(r, a.RunID)
	f.reports(r, a.RunID, "started")
	_, err := do[client.DeletedSession](f.world, anyone, "", "", "delete_session", map[string]any{"session_id": top.SessionID})
	if e := f.refused(err, client.CodeConflict); e.Detail != "Stop session first" {
		t.Errorf("%+v", e)
	}
	out := must[client.StoppedSession](f.world, anyone, "", "", "stop_session", map[string]any{"session_id": top.SessionID, "tree": true})
	if out.DescendantsStopped == nil || *out.DescendantsStopped != 3 || out.Status != "stopping" {
		t.Fatalf("%+v", out)
	}
	if p := f.poll(r); len(p.StopRuns) != 2 {
		t.Fatalf("%+v", p)
	}
	f.reports(r, a.RunID, "stopped")
	f.reports(r, top.RunID, "stopped")
	if n := f.deliver(); n != 0 {
		t.Error("a stopped tree was woken by its own children")
	}
	f.event(leaf.SessionID, "message")
	gone := must[client.DeletedSession](f.world, anyone, "", "", "delete_session", map[string]any{"session_id": top.SessionID})
	if gone.Deleted != (client.DeletedCounts{Session: true, Events: 1, Runs: 4, Sessions: 4}) {
		t.Errorf("%+v", gone)
	}
	if f.status(b.SessionID) != "not_existent" {
		t.Error("a child was left")
	}
}

func TestRecoveryTouchesOnlyWhatIsLost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mode   string
		silent time.Duration
		want   [3]string // of a claimed, a running, a stopping run
	}{
		{"none", 400 * time.Second, [3]string{"claimed", "running", "stopping"}},
		{"stale", 200 * time.Second, [3]string{"claimed", "running", "stopped"}},
		{"stale", 400 * time.Second, [3]string{"pending", "failed", "stopped"}},
		{"all", 60 * time.Second, [3]string{"claimed", "running", "stopping"}}, // its runner lives
		{"all", 130 * time.Second, [3]string{"pending", "failed", "stopped"}},
	} {
		t.Run(tc.mode+tc.silent.String(), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			r := f.register("host")
			var runs [3]client.CreatedRun
			for i := range runs {
				runs[i] = f.run()
				f.claim(r, runs[i].RunID)
			}
			f.reports(r, runs[1].RunID, "started")
			f.reports(r, runs[2].RunID, "started")
			must[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": runs[2].RunID})
			f.later(tc.silent)
			if _, err := f.store.RecoverRuns(context.Background(), tc.mode); err != nil {
				t.Fatal(err)
			}
			for i, want := range tc.want {
				if got := f.get(runs[i].RunID); got.Status != want {
					t.Errorf("run %d is %s, want %s", i, got.Status, want)
				}
			}
		})
	}
}

func TestDeadlinesAndDelays(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	waiting, working := f.run("timeout_seconds", 5.0), f.run("timeout_seconds", 50.0)
	delayed, urgent := f.run("delay_seconds", 20.0), f.run("priority", 1.0)
	f.later(10 * time.Second)
	f.sweepRuns()
	if got := f.get(waiting.RunID); got.Status != "failed" || *got.Error != "Run deadline exceeded" {
		t.Errorf("%+v", got)
	}
	f.claim(r, urgent.RunID)
	f.claim(r, working.RunID)
	f.reports(r, working.RunID, "started")
	if w := must[client.RunWhy](f.world, anyone, "", "", "why_run", map[string]any{"run_id": delayed.RunID}); w.Reason != "delayed" {
		t.Errorf("%+v", w)
	}
	f.later(55 * time.Second)
	f.sweepRuns()
	if p := f.poll(r); len(p.StopRuns) != 1 || p.StopRuns[0] != working.RunID {
		t.Fatalf("%+v", p)
	}
	f.reports(r, working.RunID, "stopped")
	if got := f.get(working.RunID); got.Status != "stopped" || *got.Error != "Run deadline exceeded" {
		t.Errorf("%+v", got)
	}
	f.poll(r)
	f.sweepRuns()
	if got := f.get(delayed.RunID); got.Status == "pending" && got.TimeoutAt == nil {
		t.Errorf("%+v", got)
	}
}

// A key of one project sees and serves that project alone.
func TestABoundRunnerServesItsProject(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	run := f.run() // in project demo
	other := scan[int64](f.world, `select coord.ensure_project('other')`)
	bound := ident.Principal{Name: "key:bound", Scopes: []ident.Scope{ident.Runner}, ProjectID: other}
	req := f.req(bound, "", "", map[string]any{"hostname": "h", "project_dir": "/w", "executor_profile": "p"})
	req.Claim.Project = ""
	reg, err := send[client.RegisteredRunner](f.world, "register_runner", req)
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.store.PollRunner(context.Background(), ident.Caller{ProjectID: other, Bound: true}, reg.RunnerID)
	if err != nil || out.Run != nil || out.Unknown {
		t.Fatalf("%+v, %v", out, err)
	}
	req = f.req(bound, "", "", map[string]any{"run_id": run.RunID})
	req.Claim.Project = ""
	_, err = send[client.Run](f.world, "get_run", req)
	f.refused(err, client.CodeNotFound)
}
