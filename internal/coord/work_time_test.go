package coord_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

func TestWorkScheduleAndDependency(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	c := q.as("ana")
	first := q.submit(c, client.SubmitWork{})
	id := q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{DelaySeconds: 60}, DependsOn: []string{first}})
	at := q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{RunAt: clk.now().Add(2 * time.Minute).Format("2006-01-02T15:04:05Z07:00")}})
	past := q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{RunAt: "2029-01-01T00:00:00Z"}})
	q.state(past, "ready")
	if task := q.state(id, "scheduled"); !strings.Contains(task.Why, "waits for 1") || !strings.Contains(task.Why, "begins at 2030-06-03T12:01:00") {
		t.Fatalf("why: %s", task.Why)
	}
	clk.pass(59 * time.Second)
	if out := q.sweep(); out.Readied != 0 {
		t.Fatalf("early: %+v", out)
	}
	clk.pass(time.Second)
	if out := q.sweep(); out.Readied != 1 {
		t.Fatalf("due: %+v", out)
	}
	q.state(id, "blocked") // its time came, its dependency did not
	q.take(c, first)
	q.finish(c, first)
	q.state(id, "ready")
	clk.pass(time.Minute)
	q.sweep()
	q.state(at, "ready")
	// The other way round: the dependency completes while the task is scheduled.
	first = q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{Priority: 1}})
	id = q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{DelaySeconds: 60}, DependsOn: []string{first}})
	q.take(c, first)
	q.finish(c, first)
	q.state(id, "scheduled")
	clk.pass(time.Minute)
	q.sweep()
	q.state(id, "ready")
	q.tidy()
}

// Whoever submitted a task learns with the next reply that it can begin; a scheduled one is not there yet.
func TestWorkReadyIsTold(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	fakeClock(t, q.pool)
	ana, bob := q.as("ana/s1"), q.as("bob")
	first := q.submit(bob, client.SubmitWork{})
	id := q.submit(ana, client.SubmitWork{DependsOn: []string{first}})
	q.submit(ana, client.SubmitWork{TaskSpec: client.TaskSpec{DelaySeconds: 60}, DependsOn: []string{first}})
	q.take(bob, first)
	q.finish(bob, first)
	out, err := q.store.TakeNotices(context.Background(), ana, 50)
	if err != nil || len(out.Notices) != 1 || out.Notices[0].Kind != "task_ready" || fmt.Sprint(out.Notices[0].Data["task_ids"]) != "["+id+"]" {
		t.Fatalf("notices: %+v %v", out, err)
	}
	if out, err = q.store.TakeNotices(context.Background(), bob, 50); err != nil || len(out.Notices) != 0 {
		t.Fatalf("bob submitted nothing that waits: %+v %v", out, err)
	}
}

func TestWorkDeadline(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	ana, bob := q.as("ana"), q.as("bob")
	due := client.TaskSpec{Deadline: clk.now().Add(time.Minute).Format("2006-01-02T15:04:05Z07:00")}
	held := q.submit(ana, client.SubmitWork{TaskSpec: due})
	q.take(bob, held)
	waiting := q.submit(ana, client.SubmitWork{TaskSpec: due, DependsOn: []string{held}})
	ready := q.submit(ana, client.SubmitWork{TaskSpec: due})
	fine := q.submit(ana, client.SubmitWork{TaskSpec: client.TaskSpec{Priority: 9}})
	inTime := q.submit(ana, client.SubmitWork{TaskSpec: client.TaskSpec{Deadline: due.Deadline, Priority: 1}})
	q.take(ana, inTime)
	q.finish(ana, inTime)
	clk.pass(time.Minute)
	// What is overdue is not handed out, even before the sweep saw it.
	q.take(ana, fine)
	if out := q.sweep(); out.Overdue != 3 {
		t.Fatalf("sweep: %+v", out)
	}
	for _, id := range []string{held, waiting, ready} {
		if task := q.state(id, "failed"); !strings.Contains(task.ErrorMessage, "deadline passed") {
			t.Fatalf("%+v", task)
		}
	}
	if n := q.notices(bob); len(n) != 1 || n[0].Kind != "work_lost" {
		t.Fatalf("notices: %+v", n)
	}
	if out := q.complete(bob, client.CompleteWork{TaskID: held, Success: true}); out.Success || out.Status != "failed" {
		t.Fatalf("complete: %+v", out)
	}
	if out, err := q.store.RetryWork(context.Background(), ana, client.TaskRef{TaskID: ready}); err != nil || !out.Success {
		t.Fatalf("retry: %+v %v", out, err)
	}
	q.take(ana, ready)
	q.tidy()
}

func TestWorkHeartbeatKeepsTheLease(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	c, other := q.as("ana/s1"), q.as("bob")
	one, two := q.submit(c, client.SubmitWork{}), q.submit(c, client.SubmitWork{})
	q.claim(c, client.GetWork{LeaseSeconds: 60, Limit: 2})
	for range 5 {
		clk.pass(50 * time.Second)
		if out, err := q.store.HeartbeatWork(context.Background(), c, client.HeartbeatWork{TaskID: one}); err != nil || !out.Success {
			t.Fatalf("heartbeat: %+v %v", out, err)
		}
		if n, err := q.store.RenewWork(context.Background(), c); err != nil || n != 2 {
			t.Fatalf("renew: %d %v", n, err)
		}
		if out := q.sweep(); out.Requeued != 0 {
			t.Fatalf("sweep: %+v", out)
		}
		q.tidy()
	}
	if out, err := q.store.HeartbeatWork(context.Background(), other, client.HeartbeatWork{TaskID: one}); err != nil || out.Success {
		t.Fatalf("another's heartbeat: %+v %v", out, err)
	}
	// A shorter lease counts at once.
	if out, err := q.store.HeartbeatWork(context.Background(), c, client.HeartbeatWork{TaskID: two, LeaseSeconds: 10}); err != nil || !out.Success {
		t.Fatalf("shorter: %+v %v", out, err)
	}
	q.tidy()
	clk.pass(10 * time.Second)
	if out := q.sweep(); out.Requeued != 1 {
		t.Fatalf("sweep: %+v", out)
	}
	q.state(one, "claimed")
	q.state(two, "scheduled")
	if out, err := q.store.ProgressWork(context.Background(), c, client.ProgressWork{TaskID: one, Percent: 10, Note: "half of it"}); err != nil || out.Status != "running" {
		t.Fatalf("progress: %+v %v", out, err)
	}
	if out, err := q.store.ProgressWork(context.Background(), c, client.ProgressWork{TaskID: one, Percent: 20}); err != nil || !out.Success {
		t.Fatalf("progress: %+v %v", out, err)
	}
	if task := q.state(one, "running"); *task.Progress.Percent != 20 || task.Progress.Note != "half of it" {
		t.Fatalf("%+v", task.Progress)
	}
	q.tidy()
}

// An expired lease nobody swept yet is still the claimant's: work that is done is not thrown away.
func TestWorkLateCompletionCounts(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	c := q.as("ana")
	id := q.submit(c, client.SubmitWork{})
	got := q.take(c, id)
	clk.pass(31 * time.Minute)
	if out := q.complete(c, client.CompleteWork{TaskID: id, Success: true, LeaseToken: got.LeaseToken}); !out.Success {
		t.Fatalf("%+v", out)
	}
	if out := q.sweep(); out.Requeued != 0 {
		t.Fatalf("%+v", out)
	}
	q.tidy()
}

func TestWorkBackoffGrows(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	c := q.as("ana")
	id := q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{MaxAttempts: 20}})
	for attempt := 1; attempt < 14; attempt++ {
		q.take(c, id)
		out := q.complete(c, client.CompleteWork{TaskID: id, Retryable: true})
		at, err := parse(out.RetryAt)
		if err != nil {
			t.Fatal(err)
		}
		least := min(5*time.Second<<(attempt-1), 15*time.Minute)
		if wait := at.Sub(clk.now()); wait < least || wait > least*6/5+time.Second {
			t.Fatalf("attempt %d: %v, want about %v", attempt, wait, least)
		}
		clk.pass(at.Sub(clk.now()))
		q.sweep()
	}
	q.tidy()
}

func TestWorkLists(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	c := q.as("ana")
	var ids []string
	for i := range 7 {
		ids = append(ids, q.submit(c, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: fmt.Sprint("t", i%2), Labels: []string{"epic"}, Tags: []string{"x"}[:i%2]}}))
	}
	q.take(c, ids[0])
	ctx := context.Background()
	var got []string
	cursor := ""
	for {
		page, err := q.store.ListWork(ctx, c, client.ListWork{Label: "epic", Limit: 3, Cursor: cursor})
		if err != nil || page.Count != len(page.Tasks) {
			t.Fatalf("%+v %v", page, err)
		}
		for _, task := range page.Tasks {
			got = append([]string{task.ID}, got...)
		}
		if cursor = page.NextCursor; !page.Truncated {
			break
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Fatalf("pages: %v, want %v", got, ids)
	}
	for name, tc := range map[string]struct {
		in   client.ListWork
		want int
	}{
		"claimed":    {client.ListWork{Status: []string{"claimed", "running"}}, 1},
		"ready":      {client.ListWork{Status: []string{"ready"}}, 6},
		"blocked":    {client.ListWork{Status: []string{"blocked"}}, 0},
		"type":       {client.ListWork{TaskTypes: []string{"t1"}}, 3},
		"tag":        {client.ListWork{Tag: "x"}, 3},
		"claimed by": {client.ListWork{ClaimedBy: "ana"}, 1},
		"submitted":  {client.ListWork{SubmittedBy: "bob"}, 0},
	} {
		if page, err := q.store.ListWork(ctx, c, tc.in); err != nil || page.Count != tc.want || page.Truncated {
			t.Errorf("%s: %d tasks, %v", name, page.Count, err)
		}
	}
	if page, err := q.store.ReadyWork(ctx, c, client.ReadyWork{TaskTypes: []string{"t1"}, Limit: 2}); err != nil || page.Count != 2 || !page.Truncated || page.Tasks[0].ID != ids[1] {
		t.Fatalf("ready: %+v %v", page, err)
	}
	blocked := q.submit(c, client.SubmitWork{DependsOn: ids[:2]})
	if page, err := q.store.BlockedWork(ctx, c, client.BlockedWork{}); err != nil || page.Count != 1 || page.Tasks[0].ID != blocked || len(page.Tasks[0].WaitsFor) != 2 {
		t.Fatalf("blocked: %+v %v", page, err)
	}
	why, err := q.store.WhyNotReady(ctx, c, client.TaskRef{TaskID: ids[1]})
	if err != nil || !why.Ready || why.FitsYou == nil || *why.FitsYou || !strings.Contains(why.Why, "tags") {
		t.Fatalf("why: %+v %v", why, err)
	}
	stats, err := q.store.WorkStats(ctx, c)
	if err != nil || stats.Ready != 6 || stats.Claimed != 1 || stats.Blocked != 1 || len(stats.Lanes) != 2 || stats.Latest["ready"] != 6 {
		t.Fatalf("stats: %+v %v", stats, err)
	}
}

func parse(at string) (time.Time, error) { return time.Parse(time.RFC3339, at) }
