package ops_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

var rita = ident.Principal{Name: "person:rita", Person: "rita", Scopes: []ident.Scope{ident.Reviewer, ident.Write}}

func (w *world) pause(agent string, more ...any) client.HoldResult {
	w.t.Helper()
	return must[client.HoldResult](w, rita, "", "", "pause_agent", members(map[string]any{"agent": agent, "reason": "look at this first"}, more...))
}

func (w *world) resume(agent string, more ...any) client.HoldResult {
	w.t.Helper()
	return must[client.HoldResult](w, rita, "", "", "resume_agent", members(map[string]any{"agent": agent}, more...))
}

func members(m map[string]any, more ...any) map[string]any {
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

func (w *world) takes(agent, session, path string) client.LockResult {
	w.t.Helper()
	return must[client.LockResult](w, anyone, agent, session, "acquire_lock", map[string]any{"file_path": path})
}

func (w *world) submit(text string) string {
	w.t.Helper()
	return must[client.SubmittedWork](w, anyone, "boss", "s", "submit_work", map[string]any{"task_type": "t", "task_description": text}).TaskID
}

func (w *world) claim(agent, session string) client.Work {
	w.t.Helper()
	return must[client.Work](w, anyone, agent, session, "get_work", nil)
}

func TestAPausedAgentTakesNothingNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	w.here("bob", "s")
	mine := w.takes("ana", "s", "mine.go")
	if !mine.Success {
		t.Fatalf("%+v", mine)
	}
	task := w.submit("one")
	if got := w.claim("ana", "s"); got.TaskID == nil || *got.TaskID != task {
		t.Fatalf("%+v", got)
	}
	w.submit("two")
	w.pause("ana")
	for _, path := range []any{"other.go", []any{"a.go", "b.go"}, "dir/**"} {
		args := map[string]any{"file_paths": path}
		if s, ok := path.(string); ok {
			args = map[string]any{"file_path": s}
		}
		got := must[client.LockResult](w, anyone, "ana", "s", "acquire_lock", args)
		if got.Success || got.Reason != "agent_paused" || !strings.Contains(got.LockReason, "person:rita") || !strings.Contains(got.LockReason, "look at this first") || got.Next == "" {
			t.Errorf("%v: %+v", path, got)
		}
	}
	if n := scan[int](w, `select count(*) from public.file_locks where locked_by = 'ana'`); n != 1 {
		t.Errorf("%d locks", n)
	}
	again := w.takes("ana", "s", "mine.go")
	if !again.Success || again.FencingToken != mine.FencingToken {
		t.Errorf("what it holds is not renewed: %+v", again)
	}
	if got := w.claim("ana", "s"); got.Success || got.Reason != "agent_paused" || !got.Held || !strings.Contains(got.Why, "look at this first") {
		t.Errorf("%+v", got)
	}
	if got := must[client.TaskChange](w, anyone, "ana", "s", "complete_work", map[string]any{"task_id": task, "success": true}); !got.Success {
		t.Errorf("what it has it may end: %+v", got)
	}
	told := w.notices("ana", "s")
	if len(told) == 0 || !strings.Contains(told[0].Text, "paused you: look at this first") {
		t.Errorf("%+v", told)
	}
	brief := must[client.Brief](w, anyone, "ana", "s", "session_brief", nil)
	if !strings.Contains(brief.Hold, "paused ana") {
		t.Errorf("%+v", brief.Hold)
	}
	for _, a := range must[client.Agents](w, anyone, "", "", "who_is_active", nil).Agents {
		if (a.Hold == "pause") != (a.AgentID == "ana") {
			t.Errorf("%+v", a)
		}
	}
	if got := w.takes("bob", "s", "other.go"); !got.Success {
		t.Errorf("others are not concerned: %+v", got)
	}
	if got := must[client.LockResult](w, anyone, "ana", "fresh", "acquire_lock", map[string]any{"file_path": "z.go"}); got.Success {
		t.Errorf("a new session of a paused agent: %+v", got)
	}
	list := must[client.Holds](w, anyone, "", "", "list_holds", nil)
	if list.Count != 1 || list.Holds[0].Agent != "ana" || list.Holds[0].Locks != 1 || list.Holds[0].By != "person:rita" {
		t.Errorf("%+v", list)
	}
	if got := w.resume("ana"); !got.Success {
		t.Errorf("%+v", got)
	}
	if got := w.claim("ana", "s"); !got.Success {
		t.Errorf("%+v", got)
	}
	if got := w.takes("ana", "s", "free.go"); !got.Success {
		t.Errorf("%+v", got)
	}
	if got := w.resume("ana"); got.Success || got.Reason != "not_paused" {
		t.Errorf("%+v", got)
	}
}

func TestOneSessionOrEverybodyIsPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s1", "s2")
	w.here("bob", "s")
	w.pause("ana", "session", "s1")
	if got := w.takes("ana", "s1", "a.go"); got.Success {
		t.Errorf("%+v", got)
	}
	if got := w.takes("ana", "s2", "a.go"); !got.Success {
		t.Errorf("%+v", got)
	}
	w.resume("ana", "session", "s1")
	w.pause("*")
	for _, who := range []string{"ana", "bob"} {
		if got := w.takes(who, "s2", "b.go"); got.Success || got.Reason != "agent_paused" {
			t.Errorf("%s: %+v", who, got)
		}
	}
	w.resume("*")
	if got := w.takes("bob", "s", "b.go"); !got.Success {
		t.Errorf("%+v", got)
	}
	_, err := do[client.HoldResult](w, rita, "", "", "pause_agent", map[string]any{"agent": "anna", "reason": "x"})
	if f := w.refused(err, client.CodeNotFound); !strings.Contains(f.Why, "ana") {
		t.Errorf("no suggestion: %+v", f)
	}
	_, err = do[client.HoldResult](w, rita, "", "", "pause_agent", map[string]any{"agent": "ana"})
	w.refused(err, client.CodeInvalid)
	_, err = do[client.HoldResult](w, anyone, "", "", "pause_agent", map[string]any{"agent": "ana", "reason": "x"})
	w.refused(err, client.CodeForbidden)
}

// A claim that waits is not woken to be refused again, takes nobody's wake-up, and goes on by itself when it is let go.
func TestAPausedAgentWaitsForWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	w.here("bob", "s")
	w.pause("ana")
	got := make(chan client.Work, 2)
	var wg sync.WaitGroup
	defer wg.Wait()
	wait := func(agent string) {
		wg.Go(func() {
			out, err := do[client.Work](w, anyone, agent, "s", "get_work", map[string]any{"wait_seconds": 20.0})
			if err != nil {
				t.Error(err)
			}
			got <- out
		})
	}
	wait("ana")
	w.parked(1)
	wait("bob")
	w.parked(2)
	first := w.submit("for bob")
	if out := <-got; out.TaskID == nil || *out.TaskID != first {
		t.Fatalf("%+v", out)
	}
	if by := scan[string](w, `select claimed_by from public.work_queue where task_id = $1`, first); by != "bob" {
		t.Fatalf("claimed by %s", by)
	}
	second := w.submit("for ana")
	w.resume("ana")
	if out := <-got; out.TaskID == nil || *out.TaskID != second {
		t.Fatalf("%+v", out)
	}
}

// parked waits until n calls wait.
func (w *world) parked(n int) {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); w.hub.Parked() < n; {
		if time.Now().After(deadline) {
			w.t.Fatalf("%d calls wait, want %d", w.hub.Parked(), n)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestADrainedAgentFinishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	task := w.submit("one")
	w.claim("ana", "s")
	w.submit("two")
	must[client.HoldResult](w, rita, "", "", "drain_agent", map[string]any{"agent": "ana", "reason": "machine goes down"})
	if got := w.takes("ana", "s", "needed.go"); !got.Success {
		t.Errorf("it needs locks to finish: %+v", got)
	}
	if got := w.claim("ana", "s"); got.Success || got.Reason != "agent_draining" {
		t.Errorf("%+v", got)
	}
	if l := must[client.Holds](w, anyone, "", "", "list_holds", map[string]any{"agent": "ana"}); l.Count != 1 || l.Holds[0].Tasks != 1 {
		t.Errorf("%+v", l)
	}
	must[client.TaskChange](w, anyone, "ana", "s", "complete_work", map[string]any{"task_id": task, "success": true})
	if l := must[client.Holds](w, anyone, "", "", "list_holds", nil); l.Holds[0].Tasks != 0 {
		t.Errorf("the drain is not done: %+v", l)
	}
	must[client.HoldResult](w, rita, "", "", "undrain_agent", map[string]any{"agent": "ana"})
	if got := w.claim("ana", "s"); !got.Success {
		t.Errorf("%+v", got)
	}
}

func TestRunsOfAPausedAgentWait(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w := f.world
	runner := f.register("h")
	must[map[string]any](w, admin, "", "", "create_agent", map[string]any{"name": "writer", "description": "d"})
	other := f.run()
	run := f.run("agent_name", "writer")
	w.pause("writer")
	f.claim(runner, other.RunID)
	if p := f.poll(runner); p.Run != nil {
		t.Fatalf("a run of a paused agent was dispatched: %s", p.Run)
	}
	why := must[client.RunWhy](w, anyone, "", "", "why_run", map[string]any{"run_id": run.RunID})
	if why.Reason != "agent_paused" || !strings.Contains(why.Why, "look at this first") {
		t.Errorf("%+v", why)
	}
	f.reports(runner, other.RunID, "started", "completed")
	w.later(time.Hour) // far beyond the no-match timeout: it does not fail for waiting
	f.register("h")
	f.sweepRuns()
	if r := f.get(run.RunID); r.Status != "pending" || r.Attempt != 0 {
		t.Fatalf("%+v", r)
	}
	w.resume("writer")
	f.claim(f.register("h2"), run.RunID)
}

func TestADrainedRunnerFinishes(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w := f.world
	runner := f.register("h")
	first := f.run()
	f.claim(runner, first.RunID)
	second := f.run()
	must[client.HoldResult](w, rita, "", "", "drain_runner", map[string]any{"runner_id": runner, "reason": "update"})
	if p := f.poll(runner); p.Run != nil {
		t.Fatalf("%s", p.Run)
	}
	f.reports(runner, first.RunID, "started", "completed")
	if p := f.poll(runner); p.Run != nil {
		t.Fatalf("%s", p.Run)
	}
	r := must[client.Runners](w, anyone, "", "", "list_runners", nil).Runners[0]
	if !r.Draining || r.DrainReason != "update" || r.DrainedBy != "person:rita" {
		t.Errorf("%+v", r)
	}
	why := must[client.RunWhy](w, anyone, "", "", "why_run", map[string]any{"run_id": second.RunID})
	if why.Reason != "no_match" || len(why.Runners) != 1 || len(why.Runners[0].Lacks) != 1 || !strings.Contains(why.Runners[0].Lacks[0], "draining: update") {
		t.Errorf("%+v", why)
	}
	if l := must[client.Holds](w, anyone, "", "", "list_holds", nil); l.Count != 1 || l.Holds[0].RunnerID != runner || l.Holds[0].Tasks != 0 {
		t.Errorf("%+v", l)
	}
	must[client.HoldResult](w, rita, "", "", "undrain_runner", map[string]any{"runner_id": runner})
	f.claim(runner, second.RunID)
}

func TestANudgeIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s1", "s2")
	w.here("bob", "s")
	must[client.SentMessage](w, anyone, "bob", "s", "send_message", map[string]any{"to": []any{"ana"}, "text": "earlier, of an agent"})
	first := must[client.Nudged](w, rita, "", "", "nudge_agent", map[string]any{"agent": "ana", "text": "still there?"})
	if !first.Success || first.Already || first.SessionsTold != 2 {
		t.Fatalf("%+v", first)
	}
	again := must[client.Nudged](w, rita, "", "", "nudge_agent", map[string]any{"agent": "ana", "text": "hello?"})
	if !again.Already || again.MessageID != first.MessageID {
		t.Errorf("%+v", again)
	}
	told := w.notices("ana", "s1")
	if len(told) != 2 || !strings.Contains(told[0].Text, "still there?") {
		t.Errorf("it does not come first: %+v", told)
	}
	if told := w.notices("ana", "s1"); len(told) != 0 {
		t.Errorf("nagging: %+v", told)
	}
	if n := must[client.Nudged](w, rita, "", "", "nudge_agent", map[string]any{"agent": "ana", "session": "s2"}); n.Already || n.SessionsTold != 1 {
		t.Errorf("%+v", n)
	}
	if told := w.notices("ana", "s1"); len(told) != 0 {
		t.Errorf("it was for the other session: %+v", told)
	}
}

func TestWorkIsHandedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	w.here("bob", "s")
	w.here("eve", "s")
	lock := w.takes("ana", "s", "a.go")
	w.takes("ana", "s", "keep.go")
	task := w.submit("one")
	claimed := w.claim("ana", "s")
	_, err := do[client.HandedOver](w, anyone, "eve", "s", "hand_over", map[string]any{"from": "ana", "to": "eve", "note": "mine now"})
	w.refused(err, client.CodeForbidden)
	bad := must[client.HandedOver](w, rita, "", "", "hand_over", map[string]any{"from": "ana", "to": "bob", "task_ids": []any{task}, "file_paths": []any{"a.go", "nobody.go"}, "note": "x"})
	if bad.Success || bad.Reason != "nothing_to_hand_over" || scan[int](w, `select count(*) from public.file_locks where locked_by = 'ana'`) != 2 {
		t.Fatalf("all or nothing: %+v", bad)
	}
	got := must[client.HandedOver](w, rita, "", "", "hand_over", map[string]any{"from": "ana", "to": "bob", "task_ids": []any{task}, "file_paths": []any{"a.go"}, "note": "finish the parser"})
	if !got.Success || got.ToSession != "s" || len(got.Tasks) != 1 || len(got.Locks) != 1 || got.HandoffID == "" {
		t.Fatalf("%+v", got)
	}
	if got.Locks[0].FencingToken <= lock.FencingToken || got.Tasks[0].LeaseToken == claimed.LeaseToken {
		t.Errorf("tokens do not rise: %+v, were %s and %s", got, lock.FencingToken, claimed.LeaseToken)
	}
	_, err = do[client.VerifiedLock](w, anyone, "ana", "s", "verify_lock", map[string]any{"file_path": "a.go", "fencing_token": lock.FencingToken})
	w.refused(err, client.CodeLeaseLost)
	_, err = do[client.TaskChange](w, anyone, "ana", "s", "complete_work", map[string]any{"task_id": task, "success": true, "lease_token": claimed.LeaseToken})
	w.refused(err, client.CodeLeaseLost)
	if got := w.takes("ana", "s", "a.go"); got.Success || got.LockedBy != "bob" {
		t.Errorf("%+v", got)
	}
	if done := must[client.TaskChange](w, anyone, "bob", "s", "complete_work", map[string]any{"task_id": task, "success": true, "lease_token": got.Tasks[0].LeaseToken}); !done.Success {
		t.Errorf("%+v", done)
	}
	if told := w.notices("ana", "s"); len(told) != 1 || !strings.Contains(told[0].Text, "to bob") {
		t.Errorf("%+v", told)
	}
	if told := w.notices("bob", "s"); len(told) != 1 || !strings.Contains(told[0].Text, "finish the parser") {
		t.Errorf("%+v", told)
	}
	if doc := must[client.Handoffs](w, anyone, "bob", "s", "read_handoff", map[string]any{"agent_name": "ana"}); doc.Count != 1 || doc.Handoffs[0].Summary != "finish the parser" {
		t.Errorf("%+v", doc)
	}
	// An agent hands over what it has left, by itself.
	if rest := must[client.HandedOver](w, anyone, "ana", "s", "hand_over", map[string]any{"from": "ana", "to": "bob", "note": "the rest"}); !rest.Success || len(rest.Locks) != 1 {
		t.Errorf("%+v", rest)
	}
	w.pause("eve")
	_, err = do[client.HandedOver](w, rita, "", "", "hand_over", map[string]any{"from": "bob", "to": "eve", "note": "x"})
	w.refused(err, client.CodeConflict)
	_, err = do[client.HandedOver](w, rita, "", "", "hand_over", map[string]any{"from": "bob", "to": "nobody", "note": "x"})
	w.refused(err, client.CodeNotFound)
}

// Whoever is in line for a lock that changes hands waits for the new holder.
func TestHandingOverKeepsTheLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	w.here("bob", "s")
	w.takes("ana", "s", "a.go")
	got := make(chan client.LockResult, 1)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		out, err := do[client.LockResult](w, anyone, "eve", "s", "acquire_lock", map[string]any{"file_path": "a.go", "wait_seconds": 20.0})
		if err != nil {
			t.Error(err)
		}
		got <- out
	})
	w.parked(1)
	must[client.HandedOver](w, rita, "", "", "hand_over", map[string]any{"from": "ana", "to": "bob", "note": "x"})
	must[client.ReleaseResult](w, anyone, "bob", "s", "release_lock", map[string]any{"file_path": "a.go"})
	if out := <-got; !out.Success {
		t.Errorf("%+v", out)
	}
}

// A waiter that is paused leaves the line at its next look, and who stands behind it goes on.
func TestAPausedWaiterLeavesTheLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	w.here("eve", "s")
	w.takes("ana", "s", "a.go")
	got := make(chan client.LockResult, 1)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		out, err := do[client.LockResult](w, anyone, "eve", "s", "acquire_lock", map[string]any{"file_path": "a.go", "wait_seconds": 20.0})
		if err != nil {
			t.Error(err)
		}
		got <- out
	})
	w.parked(1)
	w.pause("eve")
	if out := <-got; out.Success || out.Reason != "agent_paused" {
		t.Errorf("%+v", out)
	}
	if n := scan[int](w, `select count(*) from coord.lock_waits`); n != 0 {
		t.Errorf("%d still in line", n)
	}
}

func TestItemsArePutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana := ident.Principal{Name: "person:ana", Person: "ana", Scopes: []ident.Scope{ident.Write}}
	must[client.Snoozed](w, rita, "", "", "snooze", map[string]any{"item": "t-1", "minutes": 30.0, "reason": "after lunch"})
	if l := must[client.SnoozedItems](w, rita, "", "", "list_snoozed", nil); len(l.Items) != 1 || l.Items[0].Item != "t-1" || l.Items[0].Reason != "after lunch" {
		t.Errorf("%+v", l)
	}
	if l := must[client.SnoozedItems](w, ana, "", "", "list_snoozed", nil); len(l.Items) != 0 {
		t.Errorf("hidden for somebody else: %+v", l)
	}
	w.later(31 * time.Minute)
	if l := must[client.SnoozedItems](w, rita, "", "", "list_snoozed", nil); len(l.Items) != 0 {
		t.Errorf("it is over: %+v", l)
	}
	_, err := do[client.Snoozed](w, rita, "", "", "snooze", map[string]any{"item": "t-1", "until": "2020-01-01T00:00:00Z"})
	w.refused(err, client.CodeInvalid)
}
