package coord_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// A reply in hand means that its claim is committed: another connection can end the task at once.
func TestWorkNothingIsHandedOutBeforeItsCommit(t *testing.T) {
	t.Parallel()
	q := newQueue(t, pgtest.MaxConns(8))
	c := q.as("ana")
	q.many(c, 400)
	claimed := make(chan client.Work, 16)
	var claimers, enders sync.WaitGroup
	for range 4 {
		claimers.Go(func() {
			for {
				out, err := q.store.ClaimWork(context.Background(), c, client.GetWork{Limit: 3})
				if err != nil {
					t.Error(err)
				}
				if err != nil || !out.Success {
					return
				}
				claimed <- out
			}
		})
		enders.Go(func() {
			for out := range claimed {
				for _, task := range out.Tasks {
					done, err := q.store.CompleteWork(context.Background(), c, client.CompleteWork{TaskID: task.TaskID, Success: true, LeaseToken: task.LeaseToken})
					if err != nil || !done.Success || done.Replayed {
						t.Errorf("a claimed task could not be ended: %+v %v", done, err)
					}
				}
			}
		})
	}
	claimers.Wait()
	close(claimed)
	enders.Wait()
	var left int
	if err := q.pool.QueryRow(context.Background(), `select count(*) from public.work_queue where status <> 'completed'`).Scan(&left); err != nil || left != 0 {
		t.Fatalf("%d tasks left, %v", left, err)
	}
}

// watcher checks, whenever a lane is woken, that another connection sees what it is woken for.
type watcher struct {
	t    *testing.T
	pool *pgxpool.Pool
	seen int
}

func (w *watcher) Wake(topics []string) {
	for _, topic := range topics {
		if !strings.HasPrefix(topic, "w:") || strings.HasSuffix(topic, "+") {
			continue
		}
		var ready bool
		if err := w.pool.QueryRow(context.Background(), `select exists (select from coord.ready where class_id = $1)`,
			topic[strings.LastIndexByte(topic, ':')+1:]).Scan(&ready); err != nil || !ready {
			w.t.Errorf("woken for %s before it could be seen (%v)", topic, err)
		}
		w.seen++
	}
}

func TestWorkWakesAfterTheCommit(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	w := &watcher{t: t, pool: q.pool}
	q.store.WakeTo(w)
	c := q.as("ana")
	first := q.submit(c, client.SubmitWork{})
	err := q.store.InTx(context.Background(), func(ctx context.Context) error {
		_, err := q.store.SubmitWork(ctx, c, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "x", Description: "d"}, DependsOn: []string{first}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	q.take(c, first)
	err = q.store.InTx(context.Background(), func(ctx context.Context) error {
		_, err := q.store.CompleteWork(ctx, c, client.CompleteWork{TaskID: first, Success: true})
		return err
	})
	if err != nil || w.seen != 2 {
		t.Fatalf("%d lanes woken, %v", w.seen, err)
	}
	// What is rolled back wakes nobody.
	if err = q.store.InTx(context.Background(), func(ctx context.Context) error {
		if _, err := q.store.SubmitWork(ctx, c, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "y", Description: "d"}}); err != nil {
			return err
		}
		return fault.NotFound("reason", "to commit")
	}); err == nil || w.seen != 2 {
		t.Fatalf("%d lanes woken, %v", w.seen, err)
	}
}

const nobody = "0190b5a0-0000-7000-8000-000000000000" // a task id that is never given

// All calls at once from many agents: no deadlock, no failure, and the private tables agree with the tasks afterwards.
func TestWorkEverythingAtOnce(t *testing.T) {
	t.Parallel()
	everythingAtOnce(t, 12, 60)
}

func everythingAtOnce(t *testing.T, agents, calls int) {
	t.Helper()
	m := &mixer{q: newQueue(t, pgtest.MaxConns(8))}
	var all sync.WaitGroup
	for a := range agents {
		all.Go(func() {
			for i := range calls {
				if err := m.call(fmt.Sprint("agent", a), i); err != nil && !errors.Is(err, ident.ErrSessionLapsed) {
					t.Errorf("agent %d: %v", a, err)
				}
			}
		})
	}
	all.Wait()
	m.q.tidy()
}

// mixer makes random calls on the newest tasks.
type mixer struct {
	q   *queue
	mu  sync.Mutex
	ids []string
}

func (m *mixer) some() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ids) == 0 {
		return nobody
	}
	return m.ids[max(0, len(m.ids)-1-rand.IntN(40))]
}

// call makes one; an agent whose session was ended goes on in it.
func (m *mixer) call(agent string, i int) error {
	ctx, s := context.Background(), m.q.store
	c, boss := m.q.as(agent), m.q.as("boss")
	var err error
	switch rand.IntN(10) {
	case 0, 1:
		return m.submit(boss, i)
	case 2, 3, 4, 5:
		return m.work(c)
	case 6:
		_, err = s.ReleaseWork(ctx, c, client.ReleaseWork{TaskID: m.some()})
	case 7:
		_, err = s.CancelWork(ctx, boss, client.CancelWork{TaskID: m.some()})
	case 8:
		if _, err = s.RetryWork(ctx, boss, client.TaskRef{TaskID: m.some()}); err == nil {
			_, err = s.SweepWork(ctx, 50)
		}
	case 9:
		_, err = s.EndSession(ctx, c, client.EndSession{})
	}
	return err
}

func (m *mixer) submit(c ident.Caller, i int) error {
	task := func(ref string, on ...string) client.BatchTask {
		return client.BatchTask{TaskSpec: client.TaskSpec{TaskType: fmt.Sprint("t", i%3), Description: "d", Priority: i%3 + 1, MaxAttempts: 5}, Ref: ref, DependsOn: on}
	}
	batch := []client.BatchTask{task("c", "a", "b"), task("a"), task("b", "a")}
	if id := m.some(); i%2 == 0 && id != nobody {
		batch = append(batch, task("d", id, "c"))
	}
	out, err := m.q.store.SubmitTasks(context.Background(), c, client.SubmitTasks{Tasks: batch})
	if fault.Is(err, client.CodeInvalid) {
		return nil // it would depend on a cancelled one
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids = append(m.ids, out.TaskIDs...)
	return err
}

// work claims a few tasks and ends them in some way, or walks away.
func (m *mixer) work(c ident.Caller) error {
	out, err := m.q.store.ClaimWork(context.Background(), c, client.GetWork{Limit: 1 + rand.IntN(4)})
	if err != nil || !out.Success || rand.IntN(3) == 0 {
		return err
	}
	done := client.CompleteTasks{}
	for _, task := range append(out.Tasks, client.BatchClaim{TaskID: *out.TaskID}) {
		done.Tasks = append(done.Tasks, client.CompleteWork{TaskID: task.TaskID, Success: rand.IntN(4) > 0, Retryable: rand.IntN(2) > 0})
	}
	_, err = m.q.store.CompleteTasks(context.Background(), c, done)
	return err
}

var shared = regexp.MustCompile(`Buffers: shared hit=(\d+)(?: read=(\d+))?`)

// buffers runs sql and returns how many pages it touched, with the plan.
func buffers(t *testing.T, conn *pgx.Conn, sql string, args ...any) (int, string) {
	t.Helper()
	rows, err := conn.Query(context.Background(), "explain (analyze, buffers, costs off, timing off) "+sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	m := shared.FindStringSubmatch(plan)
	if m == nil {
		t.Fatalf("no buffers in\n%s", plan)
	}
	hit, _ := strconv.Atoi(m[1])
	read, _ := strconv.Atoi(m[2])
	return hit + read, plan
}

// A claim's cost follows the classes it may take from, not the depth of the queue nor what is queued for others.
func TestWorkClaimTouchesFewPages(t *testing.T) {
	t.Parallel()
	q := newQueue(t, pgtest.MaxConns(2))
	ctx := context.Background()
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	// 100,000 ready items of 158 classes; the claimer's eight have one in twenty of them, at the lowest priority.
	if _, err := conn.Exec(ctx, `insert into coord.ready (project_id, queue, class_id, priority, id)
		select 1, 2, case when g % 20 = 0 then 151 + (g / 20) % 8 else 1 + g % 150 end, case when g % 20 = 0 then 5 else 1 + g % 3 end, g from generate_series(1, 100000) g`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, `analyze coord.ready`); err != nil {
		t.Fatal(err)
	}
	const claim = `select coord.claim_ready(1, 2::smallint, '{151,152,153,154,155,156,157,158}', $1)`
	for range 10 {
		buffers(t, conn.Conn(), claim, 1)
	}
	if n, plan := buffers(t, conn.Conn(), claim, 1); n > 70 {
		t.Errorf("%d pages for one\n%s", n, plan)
	}
	if n, plan := buffers(t, conn.Conn(), `select coord.claim_ready(1, 2::smallint, '{999}', 1)`); n > 10 {
		t.Errorf("%d pages for none\n%s", n, plan)
	}
	var ids []int64
	if err := conn.QueryRow(ctx, claim, 50).Scan(&ids); err != nil || len(ids) != 50 {
		t.Fatalf("%d ids, %v", len(ids), err)
	}
	for i, id := range ids {
		if id != ids[0]+int64(20*i) {
			t.Fatalf("out of order: %v", ids)
		}
	}
}

// More classes than it pays to probe one by one: the same answer by way of those that have something.
func TestWorkClaimWithManyClasses(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	if _, err := q.pool.Exec(ctx, `insert into coord.ready (project_id, queue, class_id, priority, id) values (1, 2, 7, 5, 1), (1, 2, 5000, 4, 2), (1, 2, 501, 4, 3), (1, 2, 499, 4, 4)`); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	if err := q.pool.QueryRow(ctx, `select coord.claim_ready(1, 2::smallint, array(select generate_series(2, 1000, 1)), 10)`).Scan(&ids); err != nil || fmt.Sprint(ids) != "[3 4 1]" {
		t.Fatalf("%v %v", ids, err)
	}
	if err := q.pool.QueryRow(ctx, `select coord.claim_ready(1, 2::smallint, array(select generate_series(2, 1000, 1)), 10)`).Scan(&ids); err != nil || len(ids) != 0 {
		t.Fatalf("%v %v", ids, err)
	}
}
