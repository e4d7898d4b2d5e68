package coord_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestWorkSubmitClaimComplete(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ana, bob := q.as("ana"), q.as("bob")
	id := q.submit(ana, client.SubmitWork{TaskSpec: client.TaskSpec{
		Description: "fix the login", InputData: map[string]any{"a": nil, "n": 1.0}, Files: []string{"src/login.go"}, Priority: 3,
	}})
	got := q.take(bob, id)
	if got.Description != "fix the login" || got.TaskDescription != got.Description || got.Priority != 3 || got.Attempt != 1 || got.LeaseToken != "1" ||
		!slices.Equal(got.Files, []string{"src/login.go"}) || string(got.InputData) != `{"a": null, "n": 1}` || got.LeaseExpiresAt == "" {
		t.Fatalf("claimed %+v", got)
	}
	if counts := q.none(ana); counts.Claimed != 1 || counts.ReadyOther != 0 {
		t.Fatalf("queue %+v", counts)
	}
	if out := q.complete(bob, client.CompleteWork{TaskID: id, Success: true, Result: map[string]any{"pr": 7.0}}); !out.Success || out.Status != "completed" {
		t.Fatalf("complete %+v", out)
	}
	task := q.state(id, "completed")
	if string(task.Result) != `{"pr": 7}` || task.ClaimedBy != "bob" || task.SubmittedBy != "ana" || task.CompletedAt == "" {
		t.Fatalf("task %+v", task)
	}
	q.tidy()
}

// I7: a task is claimed by at most one agent.
func TestWorkI7NoDoubleClaim(t *testing.T) {
	t.Parallel()
	noDoubleClaim(t, 2000, 32)
}

// noDoubleClaim has claimers drain a queue in ones, twos and tens, and checks that each task was had once.
func noDoubleClaim(t *testing.T, tasks, claimers int) {
	t.Helper()
	q := newQueue(t, pgtest.MaxConns(8))
	for left := tasks; left > 0; left -= 1000 {
		q.many(q.as("boss"), min(left, 1000))
	}
	var mu sync.Mutex
	had := map[string]string{}
	var all sync.WaitGroup
	for i := range claimers {
		c := q.as(fmt.Sprint("worker", i))
		all.Go(func() {
			for {
				out, err := q.store.ClaimWork(context.Background(), c, client.GetWork{Limit: []int{1, 2, 10}[i%3]})
				if err != nil {
					t.Error(err)
					return
				}
				if !out.Success {
					return
				}
				ids := []client.CompleteWork{{TaskID: *out.TaskID, Success: true}}
				if out.Tasks != nil {
					ids = ids[:0]
				}
				for _, task := range out.Tasks {
					ids = append(ids, client.CompleteWork{TaskID: task.TaskID, Success: true})
				}
				mu.Lock()
				for _, id := range ids {
					if other := had[id.TaskID]; other != "" {
						t.Errorf("task %s claimed by %s and %s", id.TaskID, other, c.Agent)
					}
					had[id.TaskID] = c.Agent
				}
				mu.Unlock()
				if done, err := q.store.CompleteTasks(context.Background(), c, client.CompleteTasks{Tasks: ids}); err != nil || !done.Success {
					t.Errorf("complete: %+v %v", done, err)
					return
				}
			}
		})
	}
	all.Wait()
	if len(had) != tasks {
		t.Fatalf("%d of %d tasks were claimed", len(had), tasks)
	}
	q.tidy()
}

// I8: a task is never claimed before its dependencies completed; a failed one keeps blocking.
func TestWorkI8DependencySafety(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	c := q.as("ana")
	first := q.submit(c, client.SubmitWork{})
	second := q.submit(c, client.SubmitWork{})
	last := q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{Priority: 1}, DependsOn: []string{first, second, first}})
	q.state(last, "blocked")
	q.take(c, first)
	q.take(c, second)
	if counts := q.none(c); counts.Blocked != 1 {
		t.Fatalf("queue %+v", counts)
	}
	q.finish(c, first)
	q.none(c)
	if out := q.complete(c, client.CompleteWork{TaskID: second, Success: false, ErrorMessage: "no way"}); out.Status != "failed" {
		t.Fatalf("fail: %+v", out)
	}
	q.none(c)
	task := q.state(last, "blocked")
	if !strings.Contains(task.Why, "1 of its 2") || !strings.Contains(task.Why, "failed") || len(task.WaitsFor) != 1 || task.WaitsFor[0].TaskID != second {
		t.Fatalf("why: %q %+v", task.Why, task.WaitsFor)
	}
	if out, err := q.store.RetryWork(context.Background(), c, client.TaskRef{TaskID: second}); err != nil || !out.Success {
		t.Fatalf("retry: %+v %v", out, err)
	}
	q.take(c, second)
	q.finish(c, second)
	q.take(c, last)
	q.tidy()
}

// I9: only the claimant ends a task.
func TestWorkI9CompletionOwnership(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ana, bob, ana2 := q.as("ana/s1"), q.as("bob"), q.as("ana/s2")
	id := q.submit(ana, client.SubmitWork{})
	got := q.take(ana, id)
	for _, c := range []ident.Caller{bob, ana2} {
		out := q.complete(c, client.CompleteWork{TaskID: id, Success: true})
		if out.Success || out.Reason != "task_not_found_or_not_claimed_by_agent" || out.Status != "claimed" {
			t.Fatalf("%s: %+v", c.Agent, out)
		}
	}
	if task := q.state(id, "claimed"); task.ClaimedBy != "ana" {
		t.Fatalf("owner changed: %+v", task)
	}
	if out := q.complete(bob, client.CompleteWork{TaskID: "0190b5a0-0000-7000-8000-000000000000", Success: true}); out.Success || out.Reason != "task_not_found_or_not_claimed_by_agent" {
		t.Fatalf("unknown: %+v", out)
	}
	// A call without a session acts for the agent, and the token proves the claim from any session of it.
	if out := q.complete(ana2, client.CompleteWork{TaskID: id, Success: true, LeaseToken: got.LeaseToken}); !out.Success {
		t.Fatalf("with token: %+v", out)
	}
	id = q.submit(ana, client.SubmitWork{})
	q.take(ana, id)
	q.finish(q.as("ana"), id)
	q.tidy()
}

// I10: an ended task cannot be claimed or ended again; the claimant's repeat gets the first reply.
func TestWorkI10ResultImmutability(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ana, bob := q.as("ana"), q.as("bob")
	id := q.submit(ana, client.SubmitWork{})
	token := q.take(ana, id).LeaseToken
	done := client.CompleteWork{TaskID: id, Success: true, Result: map[string]any{"first": true}}
	q.complete(ana, done)
	if out := q.complete(ana, done); !out.Success || out.Status != "completed" || !out.Replayed {
		t.Fatalf("repeat: %+v", out)
	}
	if out := q.complete(ana, client.CompleteWork{TaskID: id, Success: true, LeaseToken: token}); !out.Success || !out.Replayed {
		t.Fatalf("repeat with token: %+v", out)
	}
	if out := q.complete(ana, client.CompleteWork{TaskID: id, Success: false}); out.Success || out.Status != "completed" {
		t.Fatalf("other outcome: %+v", out)
	}
	if out := q.complete(bob, done); out.Success {
		t.Fatalf("other agent: %+v", out)
	}
	if task := q.state(id, "completed"); string(task.Result) != `{"first": true}` {
		t.Fatalf("result changed: %s", task.Result)
	}
	q.none(ana)
	// The same for a failure, final and retryable.
	id = q.submit(ana, client.SubmitWork{})
	q.take(ana, id)
	for i := range 2 {
		if out := q.complete(ana, client.CompleteWork{TaskID: id}); !out.Success || out.Status != "failed" || out.Replayed != (i == 1) {
			t.Fatalf("failure %d: %+v", i, out)
		}
	}
	id = q.submit(ana, client.SubmitWork{})
	q.take(ana, id)
	var first client.TaskChange
	for i := range 2 {
		out := q.complete(ana, client.CompleteWork{TaskID: id, Retryable: true})
		if !out.Success || out.Status != "scheduled" || out.RetryAt == "" || i == 1 && out.RetryAt != first.RetryAt {
			t.Fatalf("retryable %d: %+v", i, out)
		}
		first = out
	}
	q.tidy()
}

// I11: cancelled is for good, and readable as such.
func TestWorkI11CancelledIsTerminal(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ana, bob, eve := q.as("ana"), q.as("bob"), q.as("eve")
	id := q.submit(ana, client.SubmitWork{})
	_, err := q.store.CancelWork(context.Background(), eve, client.CancelWork{TaskID: id})
	q.refused(err, client.CodeForbidden, "cancel")
	got := q.take(bob, id)
	if out, err := q.store.CancelWork(context.Background(), ana, client.CancelWork{TaskID: id, Reason: "not needed"}); err != nil || !out.Success || out.Cancelled != 1 {
		t.Fatalf("cancel: %+v %v", out, err)
	}
	if n := q.notices(bob); len(n) != 1 || n[0].Kind != "work_lost" {
		t.Fatalf("notices %+v", n)
	}
	if task := q.state(id, "cancelled"); !strings.Contains(task.ErrorMessage, "not needed") {
		t.Fatalf("task %+v", task)
	}
	if out := q.complete(bob, client.CompleteWork{TaskID: id, Success: true}); out.Success || out.Status != "cancelled" {
		t.Fatalf("complete: %+v", out)
	}
	_, err = q.store.CompleteWork(context.Background(), bob, client.CompleteWork{TaskID: id, Success: true, LeaseToken: got.LeaseToken})
	q.refused(err, client.CodeLeaseLost, "stale")
	if out, err := q.store.RetryWork(context.Background(), ana, client.TaskRef{TaskID: id}); err != nil || out.Success || out.Reason != "not_failed" {
		t.Fatalf("retry: %+v %v", out, err)
	}
	if out, err := q.store.CancelWork(context.Background(), ana, client.CancelWork{TaskID: id}); err != nil || !out.Success || out.Cancelled != 0 {
		t.Fatalf("again: %+v %v", out, err)
	}
	q.none(ana)
	q.tidy()
}

// I12: a claimed task ends or comes back: every way of losing a claimant leads to the queue or to the dead letters.
func TestWorkI12EventuallyReclaimable(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	ana := q.as("ana")
	id := q.submit(ana, client.SubmitWork{TaskSpec: client.TaskSpec{MaxAttempts: 4}})
	q.take(ana, id)
	if out, err := q.store.ReleaseWork(context.Background(), ana, client.ReleaseWork{TaskID: id, Reason: "too hard"}); err != nil || out.Status != "pending" {
		t.Fatalf("release: %+v %v", out, err)
	}
	if got := q.take(ana, id); got.Attempt != 2 || !strings.Contains(got.LastError, "too hard") {
		t.Fatalf("after release: %+v", got)
	}
	clk.pass(30 * time.Minute)
	if out := q.sweep(); out.Requeued != 1 {
		t.Fatalf("sweep: %+v", out)
	}
	q.state(id, "scheduled")
	clk.pass(15 * time.Minute)
	if out := q.sweep(); out.Readied != 1 {
		t.Fatalf("sweep: %+v", out)
	}
	bob := q.as("bob/one")
	q.take(bob, id)
	if _, err := q.store.EndSession(context.Background(), bob, client.EndSession{}); err != nil {
		t.Fatal(err)
	}
	q.state(id, "ready")
	q.take(ana, id)
	clk.pass(30 * time.Minute)
	if out := q.sweep(); out.Dead != 1 {
		t.Fatalf("sweep: %+v", out)
	}
	q.state(id, "dead")
	q.tidy()
}

// I14: cancelling reaches every task that depends on it, once, whatever the shape.
func TestWorkI14CancelReachesDependents(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	c := q.as("ana")
	task := func(ref string, on ...string) client.BatchTask {
		return client.BatchTask{TaskSpec: client.TaskSpec{TaskType: "t", Description: ref}, Ref: ref, DependsOn: on}
	}
	out, err := q.store.SubmitTasks(context.Background(), c, client.SubmitTasks{Tasks: []client.BatchTask{
		task("join", "left", "right"), task("left", "top"), task("right", "top"), task("after", "join"), task("top"), task("aside"), task("half", "left", "aside"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	id := map[string]string{}
	for i, ref := range []string{"join", "left", "right", "after", "top", "aside", "half"} {
		id[ref] = out.TaskIDs[i]
	}
	q.take(c, id["top"])
	q.finish(c, id["top"])
	got, err := q.store.CancelWork(context.Background(), c, client.CancelWork{TaskID: id["left"]})
	if err != nil || got.Cancelled != 4 {
		t.Fatalf("cancel: %+v %v", got, err)
	}
	for ref, want := range map[string]string{"top": "completed", "left": "cancelled", "join": "cancelled", "after": "cancelled", "half": "cancelled", "right": "ready", "aside": "ready"} {
		q.state(id[ref], want)
	}
	if s := q.state(id["after"], "cancelled"); !strings.Contains(s.ErrorMessage, id["left"]) {
		t.Fatalf("why: %s", s.ErrorMessage)
	}
	q.tidy()
}

// I24: cycles, unknown, cancelled and self dependencies are refused, and nothing is submitted.
func TestWorkI24BadDependenciesRefused(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	c := q.as("ana")
	gone := q.submit(c, client.SubmitWork{})
	if _, err := q.store.CancelWork(context.Background(), c, client.CancelWork{TaskID: gone}); err != nil {
		t.Fatal(err)
	}
	task := func(ref string, on ...string) client.BatchTask {
		return client.BatchTask{TaskSpec: client.TaskSpec{TaskType: "t", Description: "d"}, Ref: ref, DependsOn: on}
	}
	for name, tc := range map[string]struct {
		tasks []client.BatchTask
		part  string
	}{
		"self":       {[]client.BatchTask{task("a", "a")}, "itself"},
		"pair":       {[]client.BatchTask{task("a", "b"), task("b", "a")}, "cycle"},
		"long cycle": {[]client.BatchTask{task("x"), task("a", "c", "x"), task("b", "a"), task("c", "b")}, "cycle"},
		"unknown id": {[]client.BatchTask{task("a", "0190b5a0-0000-7000-8000-000000000000")}, "no task"},
		"unknown":    {[]client.BatchTask{task("a", "zz")}, "no task"},
		"cancelled":  {[]client.BatchTask{task("a", gone)}, "cancelled"},
	} {
		_, err := q.store.SubmitTasks(context.Background(), c, client.SubmitTasks{Tasks: tc.tasks})
		if !fault.Is(err, client.CodeInvalid) || !strings.Contains(err.Error(), tc.part) || fault.From(err).Field != "depends_on" {
			t.Errorf("%s: %v", name, err)
		}
	}
	other, err := q.store.Resolve(context.Background(), someone, ident.Claim{Project: "other", Agent: "ana"}, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = q.store.SubmitWork(context.Background(), other, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: "d"}, DependsOn: []string{gone}})
	q.refused(err, client.CodeInvalid, "no task")
	var n int
	if err := q.pool.QueryRow(context.Background(), `select count(*) from public.work_queue`).Scan(&n); err != nil || n != 1 {
		t.Fatalf("%d tasks, %v", n, err)
	}
	// What is not a cycle is fine in any order.
	if _, err := q.store.SubmitTasks(context.Background(), c, client.SubmitTasks{Tasks: []client.BatchTask{task("d", "b", "c"), task("c", "a"), task("b", "a"), task("a")}}); err != nil {
		t.Fatal(err)
	}
	q.tidy()
}

// I25: claims are served by priority, then age, over all classes, one by one and in batches.
func TestWorkI25Order(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	c := q.as("ana")
	type key struct{ priority, n int }
	var want []key
	ids := map[string]key{}
	for n := range 60 {
		p := (n*7)%10 + 1
		id := q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: fmt.Sprint("type", n%5), Priority: p}})
		ids[id] = key{p, n}
		want = append(want, key{p, n})
	}
	slices.SortFunc(want, func(a, b key) int {
		if a.priority != b.priority {
			return a.priority - b.priority
		}
		return a.n - b.n
	})
	var got []key
	for n := 1; len(got) < len(want); n++ {
		out := q.claim(c, client.GetWork{Limit: n%7 + 1})
		if !out.Success {
			t.Fatalf("none after %d", len(got))
		}
		if out.Tasks == nil {
			got = append(got, ids[*out.TaskID])
		}
		for _, task := range out.Tasks {
			got = append(got, ids[task.TaskID])
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("order\n%v, want\n%v", got, want)
	}
	ready, err := q.store.ReadyWork(context.Background(), c, client.ReadyWork{})
	if err != nil || ready.Count != 0 {
		t.Fatalf("ready %+v %v", ready, err)
	}
	q.tidy()
}

// I26: attempts never exceed max_attempts; after the last the task is dead.
func TestWorkI26AttemptsAreBounded(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	c := q.as("ana")
	byReport := q.submit(c, client.SubmitWork{})
	byRelease := q.submit(c, client.SubmitWork{})
	byLease := q.submit(c, client.SubmitWork{})
	for attempt := 1; attempt <= 3; attempt++ {
		for range 3 {
			got := q.claim(c, client.GetWork{LeaseSeconds: 60})
			if !got.Success || got.Attempt != attempt {
				t.Fatalf("attempt %d: %+v", attempt, got)
			}
			var out client.TaskChange
			var err error
			switch *got.TaskID {
			case byReport:
				out = q.complete(c, client.CompleteWork{TaskID: byReport, Retryable: true, ErrorMessage: "flaky"})
			case byRelease:
				// Released last of the three: it is ready again at once.
				continue
			default:
				continue
			}
			if want := map[bool]string{true: "dead", false: "scheduled"}[attempt == 3]; err != nil || out.Status != want {
				t.Fatalf("attempt %d: %+v %v", attempt, out, err)
			}
		}
		out, err := q.store.ReleaseWork(context.Background(), c, client.ReleaseWork{TaskID: byRelease})
		if want := map[bool]string{true: "dead", false: "pending"}[attempt == 3]; err != nil || out.Status != want {
			t.Fatalf("attempt %d: %+v %v", attempt, out, err)
		}
		clk.pass(20 * time.Minute)
		q.sweep() // the lease
		clk.pass(20 * time.Minute)
		q.sweep() // the backoff
	}
	q.none(c)
	for _, id := range []string{byReport, byRelease, byLease} {
		if task := q.state(id, "dead"); task.Attempt != 3 {
			t.Fatalf("%+v", task)
		}
	}
	if out, err := q.store.RetryWork(context.Background(), c, client.TaskRef{TaskID: byLease}); err != nil || out.Status != "pending" {
		t.Fatalf("retry: %+v %v", out, err)
	}
	if got := q.take(c, byLease); got.Attempt != 1 || got.LeaseToken != "4" {
		t.Fatalf("after retry: %+v", got)
	}
	q.tidy()
}

// I28: a killed agent's claim returns within its lease, whoever sweeps.
func TestWorkI28KilledClaimantsTaskReturns(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	ana, bob := q.as("ana"), q.as("bob")
	id := q.submit(bob, client.SubmitWork{})
	lost := q.claim(ana, client.GetWork{LeaseSeconds: 10})
	clk.pass(9 * time.Second)
	if out := q.sweep(); out.Requeued != 0 {
		t.Fatalf("early: %+v", out)
	}
	clk.pass(time.Second)
	if out := q.sweep(); out.Requeued != 1 {
		t.Fatalf("due: %+v", out)
	}
	if n := q.notices(ana); len(n) != 1 || n[0].Kind != "work_lost" || n[0].Data["task_id"] != id {
		t.Fatalf("notices: %+v", n)
	}
	clk.pass(6 * time.Second)
	q.sweep()
	q.take(bob, id)
	// The first claimant, back from the dead, is turned away whatever it tries.
	_, err := q.store.CompleteWork(context.Background(), ana, client.CompleteWork{TaskID: id, Success: true, LeaseToken: lost.LeaseToken})
	q.refused(err, client.CodeLeaseLost, "stale")
	_, err = q.store.HeartbeatWork(context.Background(), ana, client.HeartbeatWork{TaskID: id, LeaseToken: lost.LeaseToken})
	q.refused(err, client.CodeLeaseLost, "stale")
	if out := q.complete(ana, client.CompleteWork{TaskID: id, Success: true}); out.Success {
		t.Fatalf("complete: %+v", out)
	}
	q.finish(bob, id)
	q.tidy()
}
