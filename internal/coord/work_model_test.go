package coord_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// model is the work queue in fifty lines: what any order of calls must amount to.
type model struct {
	tasks []*modelTask
	now   time.Time
}

type modelTask struct {
	id       string
	priority int
	deps     []int
	status   string
	attempt  int
	holder   string
	until    time.Time // of the lease, or the start
}

func (m *model) open(t *modelTask) bool {
	return slices.ContainsFunc(t.deps, func(d int) bool { return m.tasks[d].status != "completed" })
}

func (m *model) best() *modelTask {
	var best *modelTask
	for _, t := range m.tasks {
		if t.status == "pending" && !m.open(t) && (best == nil || t.priority < best.priority) {
			best = t
		}
	}
	return best
}

// back is what becomes of a task whose attempt ended without an outcome.
func (m *model) back(t *modelTask, delayed bool) {
	t.holder = ""
	switch {
	case t.attempt >= 2:
		t.status = "dead"
	case delayed:
		t.status, t.until = "scheduled", time.Time{} // the database says when
	default:
		t.status = "pending"
	}
}

func (m *model) sweep() {
	for _, t := range m.tasks {
		if t.status == "claimed" && !t.until.After(m.now) {
			m.back(t, true)
			t.until = m.now.Add(time.Hour)
		} else if t.status == "scheduled" && !t.until.After(m.now) {
			t.status = "pending"
		}
	}
}

func (m *model) cancel(i int) {
	if slices.Contains([]string{"completed", "failed", "dead", "cancelled"}, m.tasks[i].status) {
		return
	}
	m.tasks[i].status = "cancelled"
	for j, t := range m.tasks {
		if slices.Contains(t.deps, i) {
			m.cancel(j)
		}
	}
}

// TestWorkMatchesTheModel plays random calls against the database and the model. Time moves by two hours at a time,
// more than any lease or backoff, so that the model need not know how long a backoff is.
func TestWorkMatchesTheModel(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	clk := fakeClock(t, q.pool)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		g := &game{T: t, m: &model{now: clk.now()}, project: fmt.Sprint("game", n), pool: q.pool, store: q.store, clk: clk}
		t.Repeat(map[string]func(*rapid.T){
			"": g.check, "submit": g.submit, "claim": g.claim, "claim more": g.claim, "complete": g.complete, "fail": g.fail,
			"release": g.release, "cancel": g.cancel, "retry": g.retry, "end session": g.endSession, "time": g.time,
		})
	})
	q.tidy()
}

type game struct {
	*rapid.T
	m       *model
	project string
	pool    *pgxpool.Pool
	store   *coord.Store
	clk     *clock
}

func (g *game) as(agent string) ident.Caller {
	c, err := g.store.Resolve(context.Background(), someone, ident.Claim{Project: g.project, Agent: agent}, true)
	if err != nil {
		g.Fatal(err)
	}
	return c
}

func (g *game) agent() string { return rapid.SampledFrom([]string{"ana", "bob"}).Draw(g.T, "agent") }

// pick draws a task, or nil when there is none.
func (g *game) pick() (int, *modelTask) {
	if len(g.m.tasks) == 0 {
		return 0, nil
	}
	i := rapid.IntRange(0, len(g.m.tasks)-1).Draw(g.T, "task")
	return i, g.m.tasks[i]
}

func (g *game) submit(*rapid.T) {
	task := &modelTask{priority: rapid.IntRange(1, 3).Draw(g.T, "priority"), status: "pending"}
	in := client.SubmitWork{TaskSpec: client.TaskSpec{
		TaskType: rapid.SampledFrom([]string{"a", "b"}).Draw(g.T, "type"), Description: "d", Priority: task.priority, MaxAttempts: 2,
	}}
	for range rapid.IntRange(0, 2).Draw(g.T, "deps") {
		if i, dep := g.pick(); dep != nil && dep.status != "cancelled" && !slices.Contains(task.deps, i) {
			task.deps = append(task.deps, i)
			in.DependsOn = append(in.DependsOn, dep.id)
		}
	}
	out, err := g.store.SubmitWork(context.Background(), g.as("ana"), in)
	if err != nil {
		g.Fatal(err)
	}
	task.id = out.TaskID
	g.m.tasks = append(g.m.tasks, task)
}

func (g *game) claim(*rapid.T) {
	agent, want := g.agent(), g.m.best()
	out, err := g.store.ClaimWork(context.Background(), g.as(agent), client.GetWork{LeaseSeconds: 3600})
	if err != nil || out.Success != (want != nil) || want != nil && *out.TaskID != want.id {
		g.Fatalf("claimed %+v %v, want %+v", out, err, want)
	}
	if want != nil {
		want.status, want.holder, want.until = "claimed", agent, g.m.now.Add(time.Hour)
		want.attempt++
	}
}

func (g *game) end(in client.CompleteWork, status func(t *modelTask)) {
	_, task := g.pick()
	if task == nil {
		return
	}
	agent := g.agent()
	in.TaskID = task.id
	out, err := g.store.CompleteWork(context.Background(), g.as(agent), in)
	held := task.status == "claimed" && task.holder == agent
	if err != nil || !out.Replayed && out.Success != held {
		g.Fatalf("%s ends %+v: %+v %v", agent, task, out, err)
	}
	if held {
		status(task)
		if out.Status != task.status {
			g.Fatalf("status %s, want %s", out.Status, task.status)
		}
	}
}

func (g *game) complete(*rapid.T) {
	g.end(client.CompleteWork{Success: true}, func(t *modelTask) { t.status = "completed" })
}

func (g *game) fail(*rapid.T) {
	if rapid.Bool().Draw(g.T, "retryable") {
		g.end(client.CompleteWork{Retryable: true}, func(t *modelTask) { g.m.back(t, true); t.until = g.m.now.Add(time.Hour) })
		return
	}
	g.end(client.CompleteWork{}, func(t *modelTask) { t.status = "failed" })
}

func (g *game) release(*rapid.T) {
	_, task := g.pick()
	if task == nil {
		return
	}
	agent := g.agent()
	out, err := g.store.ReleaseWork(context.Background(), g.as(agent), client.ReleaseWork{TaskID: task.id})
	if held := task.status == "claimed" && task.holder == agent; err != nil || out.Success != held {
		g.Fatalf("%s releases %+v: %+v %v", agent, task, out, err)
	} else if held {
		g.m.back(task, false)
	}
}

func (g *game) cancel(*rapid.T) {
	i, task := g.pick()
	if task == nil {
		return
	}
	if _, err := g.store.CancelWork(context.Background(), g.as("ana"), client.CancelWork{TaskID: task.id}); err != nil {
		g.Fatal(err)
	}
	g.m.cancel(i)
}

func (g *game) retry(*rapid.T) {
	_, task := g.pick()
	if task == nil {
		return
	}
	out, err := g.store.RetryWork(context.Background(), g.as("ana"), client.TaskRef{TaskID: task.id})
	if can := task.status == "failed" || task.status == "dead"; err != nil || out.Success != can {
		g.Fatalf("retry %+v: %+v %v", task, out, err)
	} else if can {
		task.status, task.attempt = "pending", 0
	}
}

func (g *game) endSession(*rapid.T) {
	agent := g.agent()
	if _, err := g.store.EndSession(context.Background(), g.as(agent), client.EndSession{}); err != nil {
		g.Fatal(err)
	}
	for _, task := range g.m.tasks {
		if task.status == "claimed" && task.holder == agent {
			g.m.back(task, false)
		}
	}
}

func (g *game) time(*rapid.T) {
	g.clk.pass(2 * time.Hour)
	g.m.now = g.m.now.Add(2 * time.Hour)
	if _, err := g.store.SweepWork(context.Background(), 1000); err != nil {
		g.Fatal(err)
	}
	g.m.sweep()
}

// check compares every task.
func (g *game) check(*rapid.T) {
	for _, want := range g.m.tasks {
		out, err := g.store.GetTask(context.Background(), g.as("ana"), client.TaskRef{TaskID: want.id})
		if err != nil || !out.Success {
			g.Fatalf("%+v %v", out, err)
		}
		state := want.status
		if state == "pending" {
			state = map[bool]string{true: "blocked", false: "ready"}[g.m.open(want)]
		}
		if out.Task.State != state || out.Task.Attempt != want.attempt || want.status == "claimed" && out.Task.ClaimedBy != want.holder {
			g.Fatalf("task is %s attempt %d of %s, want %s attempt %d of %s", out.Task.State, out.Task.Attempt, out.Task.ClaimedBy, state, want.attempt, want.holder)
		}
	}
}
