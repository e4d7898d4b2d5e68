package ops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
)

// turn is a call of acquire_lock that waits in the background.
type turn struct {
	agent  string
	result client.LockResult
	err    error
	at     time.Time
	done   chan struct{}
}

// queue starts a waiting call and returns once it stands in the queue.
func (w *world) queue(ctx context.Context, agent string, args map[string]any) *turn {
	w.t.Helper()
	before := w.waiting()
	if args["wait_seconds"] == nil {
		args["wait_seconds"] = 30.0
	}
	u := &turn{agent: agent, done: make(chan struct{})}
	go func() {
		defer close(u.done)
		res, err := w.pipe.Call(ctx, w.cat.Get("acquire_lock"), w.req(anyone, agent, agent+"-s", args))
		u.at, u.err = time.Now(), err
		if err == nil {
			raw, _ := json.Marshal(res.Body)
			u.err = json.Unmarshal(raw, &u.result)
		}
	}()
	for w.waiting() <= before {
		select {
		case <-u.done:
			return u // it did not have to wait
		case <-w.t.Context().Done():
			w.t.Fatal("it never joined the queue")
		case <-time.After(time.Millisecond):
		}
	}
	return u
}

func (w *world) waiting() int {
	w.t.Helper()
	return scan[int](w, `select count(*) from coord.lock_waits`)
}

func (u *turn) wait(t *testing.T, limit time.Duration) *turn {
	t.Helper()
	select {
	case <-u.done:
	case <-time.After(limit):
		t.Fatalf("%s still waits after %s", u.agent, limit)
	}
	return u
}

func (u *turn) waits(t *testing.T) {
	t.Helper()
	select {
	case <-u.done:
		t.Fatalf("%s did not wait: %+v %v", u.agent, u.result, u.err)
	default:
	}
}

// second is another process on the same database: a store, a hub and a pool of its own, linked by a relay of topics.
func (w *world) second() *world {
	w.t.Helper()
	pool, err := pgxpool.NewWithConfig(context.Background(), w.pool.Config())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(pool.Close)
	o := &world{t: w.t, pool: pool, store: coord.New(pool)}
	o.hub = dispatch.New(func(topics []string) { w.hub.Local(topics) })
	first := w.hub
	w.store.WakeTo(relay{first, o.hub})
	o.store.WakeTo(o.hub)
	o.cat = ops.Catalogue(ops.Deps{Store: o.store, Hub: o.hub})
	o.pipe = &op.Pipeline{Resolver: o.store, Once: o.store}
	return o
}

// relay wakes in this process and in the other one.
type relay struct{ here, there *dispatch.Hub }

func (r relay) Wake(topics []string) {
	r.here.Wake(topics)
	r.there.Local(topics)
}

func TestLockWaitersAreServedInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f"))
	turns := make([]*turn, 50)
	for i := range turns {
		turns[i] = w.queue(t.Context(), fmt.Sprintf("w%02d", i), map[string]any{"file_path": "f"})
	}
	if r := w.blocked(w.lock("barger", "f"), "ana"); r.QueuePosition != 51 {
		t.Errorf("queue_position = %d, want 51", r.QueuePosition)
	}
	w.unlock("ana", "f")
	for i, u := range turns {
		u.wait(t, 5*time.Second)
		if u.err != nil || !u.result.Success || u.result.WaitedMS <= 0 || u.result.Ticket == "" {
			t.Fatalf("%d: %+v %v", i, u.result, u.err)
		}
		if i+1 < len(turns) {
			turns[i+1].waits(t)
		}
		if r := w.unlock(u.agent, "f"); !r.Success {
			t.Fatalf("%+v", r)
		}
	}
	if w.waiting() != 0 || scan[int](w, `select count(*) from coord.lock_wait_keys`) != 0 {
		t.Error("the queue is not empty")
	}
}

func TestLockWriterIsNotStarvedByReaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("r0", "f", "mode", "shared"))
	writer := w.queue(t.Context(), "writer", map[string]any{"file_path": "f"})
	if r := w.lock("r1", "f", "mode", "shared"); r.Success || r.LockedBy != "writer" || !r.Conflicts[0].Waiting {
		t.Fatalf("a reader passed the waiting writer: %+v", r)
	}
	readers := []*turn{
		w.queue(t.Context(), "r2", map[string]any{"file_path": "f", "mode": "shared"}),
		w.queue(t.Context(), "r3", map[string]any{"file_path": "*", "mode": "shared"}),
	}
	if r := w.lock("r0", "f", "mode", "shared"); r.Action != "refreshed" {
		t.Fatalf("the holder cannot renew: %+v", r)
	}
	w.unlock("r0", "f")
	if !writer.wait(t, 2*time.Second).result.Success {
		t.Fatalf("%+v", writer.result)
	}
	w.unlock("writer", "f")
	for _, r := range readers { // both at once
		if !r.wait(t, 2*time.Second).result.Success {
			t.Fatalf("%+v", r.result)
		}
	}
}

func TestLockWaitEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f", "reason", "long work"))
	late := w.queue(t.Context(), "late", map[string]any{"file_path": "f", "wait_seconds": 0.3}).wait(t, 3*time.Second)
	if r := late.result; r.Success || r.Reason != "locked_by_other" || r.LockReason != "long work" || r.WaitedMS < 300 || r.QueuePosition != 1 || r.Ticket == "" {
		t.Fatalf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := w.queue(ctx, "gone", map[string]any{"file_path": "f"})
	next := w.queue(t.Context(), "next", map[string]any{"file_path": "f"})
	cancel()
	if gone.wait(t, 2*time.Second).err == nil {
		t.Fatalf("%+v", gone.result)
	}
	w.unlock("ana", "f")
	if !next.wait(t, time.Second).result.Success {
		t.Fatalf("%+v", next.result)
	}
	if w.waiting() != 0 {
		t.Error("somebody is left in the queue")
	}
}

func TestLockGrantToACallerThatLeftIsGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		path := fmt.Sprintf("f%d", i)
		w.granted(w.lock("ana", path))
		ctx, cancel := context.WithCancel(t.Context())
		u := w.queue(ctx, "gone", map[string]any{"file_path": path})
		var both sync.WaitGroup
		both.Go(func() { w.unlock("ana", path) })
		both.Go(cancel)
		both.Wait()
		u.wait(t, 2*time.Second)
		if u.err == nil && u.result.Success {
			continue // the answer was faster
		}
		w.granted(w.lock("bob", path))
	}
}

func TestLockWaitReportsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f"))
	said := make(chan string, 10)
	ctx := op.WithProgress(t.Context(), func(done, total float64, text string) { said <- fmt.Sprintf("%.0f/%.0f %s", done, total, text) })
	u := w.queue(ctx, "bob", map[string]any{"file_path": "f", "wait_seconds": 20.0})
	select {
	case s := <-said:
		if s != "2/20 waiting for f, held by ana; place 1 in line" {
			t.Errorf("%q", s)
		}
	case <-time.After(4 * time.Second):
		t.Fatal("no progress after 2 s")
	}
	w.unlock("ana", "f")
	u.wait(t, time.Second)
}

func TestLockExpiryServesWaiters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "d/", "ttl_minutes", 1.0))
	u := w.queue(t.Context(), "bob", map[string]any{"file_path": "d/f"})
	w.later(61 * time.Second) // nobody releases and nobody sweeps: the next look, at most 2 s away, finds it
	if !u.wait(t, 3*time.Second).result.Success {
		t.Fatalf("%+v", u.result)
	}
	w.granted(w.lock("bob", "g", "ttl_minutes", 1.0))
	v := w.queue(t.Context(), "cyd", map[string]any{"file_path": "g"})
	w.later(123 * time.Second)
	w.exec(`update coord.lock_waits set alive_until = alive_until + interval '1 hour'`) // it is the clock that jumped
	if _, err := w.store.Sweep(t.Context()); err != nil {                               // the sweep wakes at once
		t.Fatal(err)
	}
	if !v.wait(t, time.Second).result.Success {
		t.Fatalf("%+v", v.result)
	}
}

func TestLockDeadWaiterIsPassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f"))
	u := w.queue(t.Context(), "bob", map[string]any{"file_path": "f"})
	w.exec(`insert into coord.lock_waits select project_id, 0, session_id + 1000, 'dead', 'none', now(), now() + interval '1 second' from coord.lock_waits`)
	w.exec(`insert into coord.lock_wait_keys select project_id, space, base, key, 0, session_id + 1000, branch, kind, mode, path, re, pre, lk, anc from coord.lock_wait_keys`)
	w.unlock("ana", "f")
	if !u.wait(t, 4*time.Second).result.Success {
		t.Fatalf("%+v", u.result)
	}
	u = w.queue(t.Context(), "cyd", map[string]any{"file_path": "f"})
	w.exec(`delete from coord.lock_wait_keys`) // as after a crash of the database: unlogged tables are empty
	w.exec(`delete from coord.lock_waits`)
	w.unlock("bob", "f")
	if !u.wait(t, 4*time.Second).result.Success {
		t.Fatalf("it did not join again: %+v", u.result)
	}
}

func TestLockDeadlockIsBrokenAcrossProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.second()
	for _, c := range []struct{ name, a, b, wantA, wantB string }{
		{"files", "a", "b", "a", "b"},
		{"directory and glob", "d/", "*.md", "d/x", "y.md"},
		{"three", "p", "q", "p", "q"},
	} {
		w.granted(w.lock("ana", c.a))
		o.granted(o.lock("bob", c.b))
		first := w.queue(t.Context(), "ana", map[string]any{"file_path": c.wantB})
		start := time.Now()
		r := o.lock("bob", c.wantA, "wait_seconds", 20.0)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: broken after %s", c.name, took)
		}
		if r.Success || r.Reason != "deadlock" || len(r.Cycle) != 2 || r.Cycle[0].AgentID != "bob" || r.Cycle[1].AgentID != "ana" || r.Cycle[1].WaitsFor != c.b {
			t.Fatalf("%s: %+v", c.name, r)
		}
		first.waits(t)
		o.unlock("bob", c.b)
		if !first.wait(t, 2*time.Second).result.Success {
			t.Fatalf("%s: %+v", c.name, first.result)
		}
		for _, p := range []string{c.a, c.wantB} {
			w.unlock("ana", p)
		}
	}
}

func TestLockDeadlockOfThreeAndUpgrade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, a := range []string{"a", "b", "c"} {
		w.granted(w.lock(a, a))
	}
	w.queue(t.Context(), "a", map[string]any{"file_path": "b"})
	w.queue(t.Context(), "b", map[string]any{"file_path": "c"})
	r := w.lock("c", "a", "wait_seconds", 20.0)
	var names []string
	for _, m := range r.Cycle {
		names = append(names, m.AgentID+">"+m.WaitsFor)
	}
	if r.Reason != "deadlock" || !slices.Equal(names, []string{"c>a", "a>b", "b>c"}) {
		t.Fatalf("%+v", r)
	}
	w.granted(w.lock("x", "s", "mode", "shared"))
	w.granted(w.lock("y", "s", "mode", "shared"))
	w.queue(t.Context(), "x", map[string]any{"file_path": "s"})
	if r := w.lock("y", "s", "wait_seconds", 20.0); r.Reason != "deadlock" {
		t.Fatalf("two upgrades: %+v", r)
	}
	// No deadlock: what the holder asks for is only wanted by one that waits for it.
	w.granted(w.lock("h", "m"))
	w.queue(t.Context(), "w", map[string]any{"file_paths": []any{"m", "n"}})
	w.granted(w.lock("h", "n"))
}

func TestLockSimultaneousCrossingHasOneVictim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.second()
	for i := range 10 {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		w.granted(w.lock("ana", a))
		o.granted(o.lock("bob", b))
		var ra, rb client.LockResult
		var both sync.WaitGroup
		both.Go(func() {
			ra = w.lock("ana", b, "wait_seconds", 10.0)
			if !ra.Success {
				w.unlock("ana", a)
			}
		})
		both.Go(func() {
			rb = o.lock("bob", a, "wait_seconds", 10.0)
			if !rb.Success {
				o.unlock("bob", b)
			}
		})
		both.Wait()
		if ra.Success == rb.Success || ra.Reason+rb.Reason != "deadlock" {
			t.Fatalf("%d: %+v\n%+v", i, ra, rb)
		}
		must[client.ReleaseResult](w, anyone, "ana", "ana-s", "release_lock", map[string]any{"all": true})
		must[client.ReleaseResult](o, anyone, "bob", "bob-s", "release_lock", map[string]any{"all": true})
	}
}

func TestLockEndOfASessionServesWaiters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f"))
	must[client.LockResult](w, anyone, "ana", "other", "acquire_lock", map[string]any{"file_path": "g"})
	u := w.queue(t.Context(), "bob", map[string]any{"file_path": "f"})
	must[client.EndedSession](w, anyone, "ana", "ana-s", "end_session", map[string]any{})
	if !u.wait(t, time.Second).result.Success {
		t.Fatalf("%+v", u.result)
	}
	w.blocked(w.lock("bob", "g"), "ana") // another session of the same agent is untouched
}

func TestLockRequestKeyWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f"))
	args := map[string]any{"file_path": "f", "request_key": "k1"}
	u := w.queue(t.Context(), "bob", args)
	w.unlock("ana", "f")
	if !u.wait(t, 2*time.Second).result.Success {
		t.Fatalf("%+v %v", u.result, u.err)
	}
	again := w.queue(t.Context(), "bob", map[string]any{"file_path": "f", "request_key": "k1"}).wait(t, time.Second)
	if again.err != nil || again.result.FencingToken != u.result.FencingToken || again.result.Action != "acquired" {
		t.Fatalf("not the same reply: %+v %v", again.result, again.err)
	}
	other := w.queue(t.Context(), "bob", map[string]any{"file_path": "g", "request_key": "k1"}).wait(t, time.Second)
	if other.err == nil || !strings.Contains(other.err.Error(), "request key") {
		t.Fatalf("%+v %v", other.result, other.err)
	}
}
