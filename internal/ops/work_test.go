package ops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func submit(w *world, args map[string]any) client.SubmittedWork {
	w.t.Helper()
	full := map[string]any{"task_type": "code", "description": "do it"}
	for k, v := range args {
		full[k] = v
	}
	return must[client.SubmittedWork](w, anyone, "boss", "", "submit_work", full)
}

func TestWorkOverTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// No agent is needed to submit; both spellings of the description work.
	sent := must[client.SubmittedWork](w, anyone, "", "", "submit_work", map[string]any{
		"task_type": "code", "task_description": "old spelling", "priority": 2.0, "files": []any{"a.go"}, "input_data": map[string]any{"x": 1.0},
	})
	if !sent.Success || sent.Status != "pending" {
		t.Fatalf("submit: %+v", sent)
	}
	got := must[map[string]any](w, anyone, "ana", "", "get_work", map[string]any{"task_types": []any{"code"}})
	for k, want := range map[string]any{"success": true, "task_id": sent.TaskID, "task_type": "code", "description": "old spelling", "task_description": "old spelling", "priority": 2.0, "lease_token": "1"} {
		if got[k] != want {
			t.Errorf("%s = %v, want %v", k, got[k], want)
		}
	}
	if fmt.Sprint(got["files"]) != "[a.go]" || fmt.Sprint(got["input_data"]) != "map[x:1]" || got["memo"] != nil || got["wake"] != nil {
		t.Fatalf("got %v", got)
	}
	none := must[map[string]any](w, anyone, "bob", "", "get_work", nil)
	if id, there := none["task_id"]; none["success"] != false || !there || id != nil || none["reason"] != "no_tasks_available" || none["queue"].(map[string]any)["claimed"] != 1.0 {
		t.Fatalf("none: %v", none)
	}
	for _, action := range []string{"heartbeat", "progress"} {
		if out := must[client.TaskChange](w, anyone, "ana", "", "update_work", map[string]any{"task_id": sent.TaskID, "action": action, "percent": 40.0}); !out.Success {
			t.Fatalf("%s: %+v", action, out)
		}
	}
	task := must[client.TaskReply](w, anyone, "", "", "get_task", map[string]any{"task_id": sent.TaskID})
	if task.Task == nil || task.Task.Status != "running" || *task.Task.Progress.Percent != 40 {
		t.Fatalf("task: %+v", task.Task)
	}
	if out := must[client.TaskChange](w, anyone, "ana", "", "update_work", map[string]any{"task_id": sent.TaskID, "action": "release", "note": "hard"}); out.Status != "pending" {
		t.Fatalf("release: %+v", out)
	}
	must[client.Work](w, anyone, "bob", "", "get_work", nil)
	if out := must[client.TaskChange](w, anyone, "bob", "", "complete_work", map[string]any{"task_id": sent.TaskID, "success": true}); out.Status != "completed" {
		t.Fatalf("complete: %+v", out)
	}
	if missing := must[client.TaskReply](w, anyone, "", "", "get_task", map[string]any{"task_id": "0190b5a0-0000-7000-8000-000000000000"}); missing.Success || missing.Reason != "task_not_found" {
		t.Fatalf("missing: %+v", missing)
	}
	if n := w.audited("get_work", true) + w.audited("submit_work", true) + w.audited("complete_work", true); n != 4 {
		t.Fatalf("%d audit rows", n)
	}
}

func TestWorkRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tc := range map[string]struct {
		op    string
		args  map[string]any
		field string
	}{
		"priority 99":       {"submit_work", map[string]any{"task_type": "t", "description": "d", "priority": 99.0}, "priority"},
		"no description":    {"submit_work", map[string]any{"task_type": "t"}, "description"},
		"long description":  {"submit_work", map[string]any{"task_type": "t", "description": strings.Repeat("x", 20001)}, "description"},
		"dependency no id":  {"submit_work", map[string]any{"task_type": "t", "description": "d", "depends_on": []any{"x"}}, "depends_on[0]"},
		"delay and time":    {"submit_work", map[string]any{"task_type": "t", "description": "d", "delay_seconds": 5.0, "run_at": "2036-01-01T00:00:00Z"}, "run_at"},
		"past deadline":     {"submit_work", map[string]any{"task_type": "t", "description": "d", "deadline": "2020-01-01T00:00:00Z"}, "deadline"},
		"task id no uuid":   {"complete_work", map[string]any{"task_id": "12", "success": true}, "task_id"},
		"no outcome":        {"complete_work", map[string]any{"task_id": "0190b5a0-0000-7000-8000-000000000000"}, "success"},
		"wait too long":     {"get_work", map[string]any{"wait_seconds": 31.0}, "wait_seconds"},
		"lease too short":   {"get_work", map[string]any{"lease_seconds": 5.0}, "lease_seconds"},
		"unknown action":    {"update_work", map[string]any{"task_id": "0190b5a0-0000-7000-8000-000000000000", "action": "explode"}, "action"},
		"cursor of another": {"list_work", map[string]any{"cursor": "x"}, "cursor"},
	} {
		_, err := do[map[string]any](w, anyone, "ana", "", tc.op, tc.args)
		if f := w.refused(err, client.CodeInvalid); f.Field != tc.field {
			t.Errorf("%s: field %q, want %q (%s)", name, f.Field, tc.field, f.What)
		}
	}
	_, err := do[map[string]any](w, anyone, "ana", "", "submit_work", map[string]any{"task_type": "t", "description": "d", "input_data": map[string]any{"x": strings.Repeat("x", 256<<10)}})
	w.refused(err, client.CodeTooLarge)
	_, err = do[map[string]any](w, anyone, "", "", "get_work", map[string]any{"task_types": []any{"t"}})
	w.refused(err, client.CodeInvalid)
	// A probe claims nothing, even with an agent bound to its key.
	submit(w, nil)
	probe := op.Request{Principal: ident.Principal{Name: "key:p", Scopes: anyone.Scopes, Agent: "ana"}, Args: map[string]any{}, Door: "http", FromBody: true, Claim: ident.Claim{Project: "demo"}}
	_, err = send[map[string]any](w, "get_work", probe)
	w.refused(err, client.CodeInvalid)
	if n := scan[int](w, `select count(*) from coord.lease`); n != 0 {
		t.Fatalf("%d leases", n)
	}
}

func TestWorkRequestKeyClaimsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := func(key string, wait float64) client.Work {
		t.Helper()
		r := w.req(anyone, "ana", "", map[string]any{"wait_seconds": wait})
		r.RequestKey = key
		out, err := send[client.Work](w, "get_work", r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := call("k1", 0); out.Success {
		t.Fatalf("nothing yet: %+v", out)
	}
	first, second := submit(w, nil).TaskID, submit(w, nil).TaskID
	// Finding nothing did not use the key up; once it has a task, a repeat gets the same one.
	for _, wait := range []float64{0, 5, 0} {
		if out := call("k1", wait); !out.Success || *out.TaskID != first || out.LeaseToken != "1" {
			t.Fatalf("%+v", out)
		}
	}
	if out := call("k2", 0); *out.TaskID != second {
		t.Fatalf("%+v", out)
	}
	// Submitting with a key happens once, too.
	r := w.req(anyone, "boss", "", map[string]any{"task_type": "t", "description": "once"})
	r.RequestKey = "s1"
	a, errA := send[client.SubmittedWork](w, "submit_work", r)
	b, errB := send[client.SubmittedWork](w, "submit_work", r)
	if errA != nil || errB != nil || a.TaskID != b.TaskID {
		t.Fatalf("%+v %v, %+v %v", a, errA, b, errB)
	}
}

// waiters starts n waiting claims and returns once all are parked; each sends its reply.
func waiters(w *world, n int, args map[string]any) (replies chan client.Work, wait func()) {
	w.t.Helper()
	replies = make(chan client.Work, n)
	var all sync.WaitGroup
	before := w.hub.Parked()
	for i := range n {
		all.Go(func() {
			out, err := do[client.Work](w, anyone, fmt.Sprint("waiter", i), "", "get_work", maps.Clone(args))
			if err != nil {
				w.t.Errorf("waiter %d: %v", i, err)
			}
			replies <- out
		})
	}
	for w.hub.Parked() < before+n {
		next(w.t)
	}
	return replies, all.Wait
}

// next lets other goroutines come forward while a test looks for a state.
func next(t testing.TB) {
	t.Helper()
	select {
	case <-time.After(time.Millisecond):
	case <-t.Context().Done():
		t.Fatal("gave up")
	}
}

func TestWaitingClaimIsWokenBySubmit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	replies, wait := waiters(w, 3, map[string]any{"wait_seconds": 20.0})
	ids := []string{submit(w, nil).TaskID, submit(w, nil).TaskID, submit(w, map[string]any{"task_type": "other"}).TaskID}
	var got []string
	for range 3 {
		if out := <-replies; out.Success {
			got = append(got, *out.TaskID)
		}
	}
	wait()
	slices.Sort(got)
	if !slices.Equal(got, ids) {
		t.Fatalf("got %v, want %v", got, ids)
	}
}

func TestWaitingClaimIsWokenByEveryWayToReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := submit(w, nil).TaskID
	second := submit(w, map[string]any{"depends_on": []any{first}}).TaskID
	must[client.Work](w, anyone, "ana", "", "get_work", nil)
	expect := func(what, id string, act func()) {
		t.Helper()
		replies, wait := waiters(w, 1, map[string]any{"wait_seconds": 20.0})
		act()
		if out := <-replies; !out.Success || *out.TaskID != id {
			t.Fatalf("%s: %+v", what, out)
		}
		wait()
	}
	expect("dependency completed", second, func() {
		must[client.TaskChange](w, anyone, "ana", "", "complete_work", map[string]any{"task_id": first, "success": true})
	})
	expect("released", second, func() {
		must[client.TaskChange](w, anyone, "waiter0", "", "release_work", map[string]any{"task_id": second})
	})
	expect("session ended", second, func() {
		must[client.EndedSession](w, anyone, "waiter0", "", "end_session", nil)
	})
	must[client.TaskChange](w, anyone, "waiter0", "", "complete_work", map[string]any{"task_id": second, "success": false})
	expect("retried", second, func() {
		must[client.TaskChange](w, anyone, "boss", "", "retry_work", map[string]any{"task_id": second})
	})
	must[client.TaskChange](w, anyone, "waiter0", "", "complete_work", map[string]any{"task_id": second, "success": true})
	later := submit(w, map[string]any{"delay_seconds": 60.0}).TaskID
	expect("its time came", later, func() {
		w.later(2 * time.Minute)
		if _, err := w.store.SweepWork(context.Background(), 10); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWaitingClaimIsWokenByNewCapabilitiesClass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain, waitPlain := waiters(w, 1, map[string]any{"wait_seconds": 1.0})
	gpu, waitGPU := waiters(w, 1, map[string]any{"wait_seconds": 20.0, "tags": []any{"gpu", "linux"}})
	id := submit(w, map[string]any{"tags": []any{"gpu"}}).TaskID // a class nobody knew when they parked
	if out := <-gpu; !out.Success || *out.TaskID != id {
		t.Fatalf("%+v", out)
	}
	if out := <-plain; out.Success {
		t.Fatalf("got what it may not have: %+v", out)
	}
	waitPlain()
	waitGPU()
}

// One unit, many waiters: one of them looks, whether the class is new to them or known.
func TestHerdStaysAsleep(t *testing.T) {
	t.Parallel()
	pool, count := countingPool(t)
	w := &world{t: t, pool: pool, store: coord.New(pool), hub: dispatch.New(nil)}
	w.hub.Online(true)
	w.store.WakeTo(w.hub)
	w.cat = ops.Catalogue(ops.Deps{Store: w.store, Hub: w.hub})
	w.pipe = &op.Pipeline{Resolver: w.store, Once: w.store}
	const n = 100
	replies, wait := waiters(w, n, map[string]any{"wait_seconds": 29.0})
	for count("claim_tasks") < n {
		next(t)
	}
	for _, kind := range []string{"new to all", "known"} {
		looks, asks := count("claim_tasks"), count("work_classes")
		submit(w, nil)
		if out := <-replies; !out.Success {
			t.Fatalf("%s: %+v", kind, out)
		}
		if l, a := count("claim_tasks")-looks, count("work_classes")-asks; l > 2 || a > 3 {
			t.Errorf("%s: %d claims and %d questions for one task", kind, l, a)
		}
	}
	for range n - 2 {
		submit(w, nil)
	}
	wait()
	close(replies)
	for out := range replies {
		if !out.Success {
			t.Fatalf("a task was left: %+v", out)
		}
	}
}

// countingPool is a database whose statements are counted by what they contain.
func countingPool(t *testing.T) (*pgxpool.Pool, func(part string) int) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	tr := &tracer{}
	cfg.MaxConns, cfg.ConnConfig.Tracer = 6, tr
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, tr.count
}

type tracer struct {
	mu  sync.Mutex
	sql []string
}

func (tr *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.sql = append(tr.sql, data.SQL)
	return ctx
}

func (*tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (tr *tracer) count(part string) (n int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, sql := range tr.sql {
		if strings.Contains(sql, part) {
			n++
		}
	}
	return n
}

func TestWaitEndsWithNoneAndCancelEndsTheWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := time.Now()
	out := must[client.Work](w, anyone, "ana", "", "get_work", map[string]any{"wait_seconds": 0.2})
	if out.Success || out.Queue == nil || time.Since(start) < 200*time.Millisecond {
		t.Fatalf("%+v after %v", out, time.Since(start))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := w.pipe.Call(ctx, w.cat.Get("get_work"), w.req(anyone, "bob", "", map[string]any{"wait_seconds": 30.0}))
		done <- err
	}()
	for w.hub.Parked() == 0 {
		next(t)
	}
	cancel()
	w.refused(<-done, client.CodeUnavailable)
	if w.hub.Parked() != 0 {
		t.Fatal("still parked")
	}
}

// An outage is never "no work": not at the first look, not at the end of a wait.
func TestOutageIsNotNoWork(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	cfg, err := pgxpool.ParseConfig(pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 4
	cfg.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) {
		if down.Load() {
			return false, context.DeadlineExceeded
		}
		return true, nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w := &world{t: t, pool: pool, store: coord.New(pool), hub: dispatch.New(nil)}
	w.store.WakeTo(w.hub)
	w.cat = ops.Catalogue(ops.Deps{Store: w.store, Hub: w.hub})
	w.pipe = &op.Pipeline{Resolver: w.store, Once: w.store}
	must[client.Work](w, anyone, "ana", "", "get_work", nil)
	done := make(chan error)
	go func() {
		_, err := do[client.Work](w, anyone, "ana", "", "get_work", map[string]any{"wait_seconds": 0.5})
		done <- err
	}()
	for w.hub.Parked() == 0 {
		next(t)
	}
	down.Store(true)
	w.refused(<-done, client.CodeUnavailable)
	_, err = do[client.Work](w, anyone, "ana", "", "get_work", nil)
	w.refused(err, client.CodeUnavailable)
	down.Store(false)
	if out := must[client.Work](w, anyone, "ana", "", "get_work", nil); out.Success {
		t.Fatalf("%+v", out)
	}
}

// The five tools of the work queue that every session sees have a share of the tool list's budget.
func TestWorkToolsAreSmall(t *testing.T) {
	t.Parallel()
	total := 0
	for _, name := range []string{"get_work", "complete_work", "submit_work", "get_task", "update_work"} {
		d := catalogue().Get(name)
		if d == nil || d.Tool.Profile != op.Core {
			t.Fatalf("%s is no core tool", name)
		}
		total += len(name) + len(d.Tool.Text)
		for field, schema := range d.In.Properties {
			if slices.Contains(d.RareFields, field) {
				continue
			}
			raw, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			total += len(field) + len(raw)
		}
		if shown := len(d.In.Properties) - len(d.RareFields); shown > 10 {
			t.Errorf("%s shows %d arguments", name, shown)
		}
	}
	if total > 2600 {
		t.Errorf("%d bytes", total)
	}
}

// Who may not manage a task is refused, and the refusal is recorded though the call itself was undone.
func TestWorkForbiddenCallsAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := submit(w, nil).TaskID
	_, err := do[client.TaskChange](w, anyone, "eve", "", "cancel_work", map[string]any{"task_id": id})
	w.refused(err, client.CodeForbidden)
	if n := w.audited("cancel_work", false); n != 1 {
		t.Fatalf("%d rows", n)
	}
	reviewer := ident.Principal{Name: "person:ana", Person: "ana", Scopes: []ident.Scope{ident.Write, ident.Reviewer}}
	if out := must[client.TaskChange](w, reviewer, "", "", "cancel_work", map[string]any{"task_id": id}); out.Status != "cancelled" {
		t.Fatalf("%+v", out)
	}
	// A lost race is a result: nothing is recorded.
	if out := must[client.TaskChange](w, anyone, "eve", "", "complete_work", map[string]any{"task_id": id, "success": true}); out.Success || w.audited("complete_work", false) != 0 {
		t.Fatalf("%+v", out)
	}
}
