package coord_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

var someone = ident.Principal{Name: "key:any", Scopes: []ident.Scope{ident.Read, ident.Write}}

// queue is a store on a database of its own, with what tests of the work queue say often.
type queue struct {
	t     testing.TB
	pool  *pgxpool.Pool
	store *coord.Store
}

func newQueue(t testing.TB, opts ...pgtest.Option) *queue {
	t.Helper()
	pool := pgtest.New(t, opts...)
	return &queue{t, pool, coord.New(pool)}
}

// as resolves an agent in project demo; a session may follow the name after a slash.
func (q *queue) as(agent string) ident.Caller {
	q.t.Helper()
	name, session, _ := strings.Cut(agent, "/")
	c, err := q.store.Resolve(context.Background(), someone, ident.Claim{Project: "demo", Agent: name, Session: session}, true)
	if err != nil {
		q.t.Fatal(err)
	}
	return c
}

func (q *queue) submit(c ident.Caller, in client.SubmitWork) string {
	q.t.Helper()
	if in.TaskType == "" {
		in.TaskType = "code"
	}
	if in.Description == "" {
		in.Description = "do it"
	}
	out, err := q.store.SubmitWork(context.Background(), c, in)
	if err != nil {
		q.t.Fatal(err)
	}
	return out.TaskID
}

// many submits n plain tasks.
func (q *queue) many(c ident.Caller, n int) []string {
	q.t.Helper()
	in := client.SubmitTasks{}
	for i := range n {
		in.Tasks = append(in.Tasks, client.BatchTask{TaskSpec: client.TaskSpec{TaskType: "code", Description: fmt.Sprint("task ", i)}})
	}
	out, err := q.store.SubmitTasks(context.Background(), c, in)
	if err != nil {
		q.t.Fatal(err)
	}
	return out.TaskIDs
}

func (q *queue) claim(c ident.Caller, in client.GetWork) client.Work {
	q.t.Helper()
	out, err := q.store.ClaimWork(context.Background(), c, in)
	if err != nil {
		q.t.Fatal(err)
	}
	return out
}

// take claims and expects that very task.
func (q *queue) take(c ident.Caller, want string) client.Work {
	q.t.Helper()
	out := q.claim(c, client.GetWork{})
	if !out.Success || *out.TaskID != want {
		q.t.Fatalf("claimed %+v, want %s", out, want)
	}
	return out
}

// none expects that there is nothing to claim.
func (q *queue) none(c ident.Caller) client.QueueState {
	q.t.Helper()
	out := q.claim(c, client.GetWork{})
	if out.Success || out.TaskID != nil || out.Reason != "no_tasks_available" || out.Queue == nil {
		q.t.Fatalf("claimed %+v, want none", out)
	}
	return *out.Queue
}

func (q *queue) complete(c ident.Caller, in client.CompleteWork) client.TaskChange {
	q.t.Helper()
	out, err := q.store.CompleteWork(context.Background(), c, in)
	if err != nil {
		q.t.Fatal(err)
	}
	return out
}

func (q *queue) finish(c ident.Caller, id string) {
	q.t.Helper()
	if out := q.complete(c, client.CompleteWork{TaskID: id, Success: true}); !out.Success || out.Status != "completed" {
		q.t.Fatalf("complete: %+v", out)
	}
}

func (q *queue) task(id string) client.Task {
	q.t.Helper()
	out, err := q.store.GetTask(context.Background(), q.as("reader"), client.TaskRef{TaskID: id})
	if err != nil || !out.Success {
		q.t.Fatalf("get_task: %+v %v", out, err)
	}
	return *out.Task
}

func (q *queue) state(id, want string) client.Task {
	q.t.Helper()
	task := q.task(id)
	if task.State != want {
		q.t.Fatalf("task is %s (%s), want %s", task.State, task.Why, want)
	}
	return task
}

func (q *queue) sweep() client.SweptWork {
	q.t.Helper()
	out, err := q.store.SweepWork(context.Background(), 1000)
	if err != nil {
		q.t.Fatal(err)
	}
	return out
}

func (q *queue) refused(err error, code client.Code, part string) {
	q.t.Helper()
	if !fault.Is(err, code) || !strings.Contains(err.Error(), part) {
		q.t.Fatalf("got %v, want %s with %q", err, code, part)
	}
}

func (q *queue) notices(c ident.Caller) []client.Notice {
	q.t.Helper()
	out, err := q.store.TakeNotices(context.Background(), c, 50)
	if err != nil {
		q.t.Fatal(err)
	}
	return out.Notices
}

// tidy checks what must hold of the private tables at any time between calls.
func (q *queue) tidy() {
	q.t.Helper()
	for what, sql := range map[string]string{
		"a ready row for every ready task and no other": `select count(*) from (select project_id, class_id, priority, id from coord.ready where queue = 1) r
			full join (select project_id, class_id, priority, id from public.work_queue where status = 'pending' and waiting_on = 0) w
			using (project_id, class_id, priority, id) where r.id is null or w.id is null`,
		"a lease row for every held task and no other": `select count(*) from (select project_id, until, id, session_id from coord.lease where queue = 1) l
			full join (select project_id, lease_due as until, id, session_id from public.work_queue where status in ('claimed', 'running')) w
			using (project_id, until, id, session_id) where l.id is null or w.id is null`,
		"a timer for every scheduled task and no other": `select count(*) from (select project_id, at, id from coord.timer where queue = 1 and kind = 1) l
			full join (select project_id, run_at as at, id from public.work_queue where status = 'scheduled') w using (project_id, at, id) where l.id is null or w.id is null`,
		"a timer for every open deadline and no other": `select count(*) from (select project_id, at, id from coord.timer where queue = 1 and kind = 2) l
			full join (select project_id, deadline as at, id from public.work_queue where deadline is not null and status not in ('completed', 'failed', 'dead', 'cancelled')) w
			using (project_id, at, id) where l.id is null or w.id is null`,
		"waiting_on counts open dependencies": `select count(*) from public.work_queue w where w.status <> 'cancelled' and w.waiting_on <>
			(select count(*) from public.work_queue d where d.project_id = w.project_id and d.task_id = any (w.depends_on) and d.status <> 'completed')`,
		"an edge for every open dependency and no other": `select count(*) from coord.work_dep e full join (select w.project_id, d.id as on_id, w.id from public.work_queue w
			join public.work_queue d on d.project_id = w.project_id and d.task_id = any (w.depends_on) where d.status <> 'completed' and w.status <> 'cancelled') x
			using (project_id, on_id, id) where e.id is null or x.id is null`,
		"attempts stay within bounds": `select count(*) from public.work_queue where attempt > max_attempts`,
		"held tasks have a holder":    `select count(*) from public.work_queue where (session_id is not null) <> (status in ('claimed', 'running'))`,
	} {
		var bad int
		if err := q.pool.QueryRow(context.Background(), sql).Scan(&bad); err != nil || bad != 0 {
			q.t.Fatalf("%s: %d violations, %v", what, bad, err)
		}
	}
}
