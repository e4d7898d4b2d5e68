package ops_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

func TestSessionRegistersIsFoundAndEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := must[client.Session](w, anyone, "ana", "s1", "register_session", map[string]any{
		"agent_type": "claude_code", "capabilities": []any{"go", "sql"}, "current_task": "fix login", "delegated_from": "boss",
	})
	if !s.Success || s.SessionID != "s1" || s.LapseSeconds != 120 {
		t.Fatalf("register: %+v", s)
	}
	must[client.Session](w, anyone, "bob", "", "register_session", map[string]any{"metadata": map[string]any{"k": "v"}})
	all := must[client.Agents](w, anyone, "", "", "who_is_active", nil)
	if all.Count != 2 {
		t.Fatalf("who: %+v", all)
	}
	found := must[client.Agents](w, anyone, "", "", "discover_agents", map[string]any{"capability": "sql", "status": "active"})
	if found.Count != 1 || found.Agents[0].AgentID != "ana" || found.Agents[0].CurrentTask != "fix login" || found.Agents[0].AgentType != "claude_code" ||
		found.Agents[0].DelegatedFrom != "boss" || !slices.Equal(found.Agents[0].Capabilities, []string{"go", "sql"}) {
		t.Fatalf("discover: %+v", found)
	}
	if one := must[client.Agents](w, anyone, "", "", "discover_agents", map[string]any{"limit": 1.0}); one.Count != 1 || !one.Truncated || one.Hint == "" {
		t.Fatalf("limit 1: %+v", one)
	}
	ended := must[client.EndedSession](w, anyone, "ana", "s1", "end_session", nil)
	if !ended.Success || ended.SessionID != "s1" {
		t.Fatalf("end: %+v", ended)
	}
	if again := must[client.EndedSession](w, anyone, "ana", "s1", "end_session", nil); !again.Success || again.Already != "ended" {
		t.Fatalf("end again: %+v", again)
	}
	if none := must[client.EndedSession](w, anyone, "ana", "nope", "end_session", nil); none.Success || none.Reason != "session_not_found" {
		t.Fatalf("end unknown: %+v", none)
	}
	if gone := must[client.Agents](w, anyone, "", "", "discover_agents", map[string]any{"status": "disconnected"}); gone.Count != 1 || gone.Agents[0].SessionID != "s1" {
		t.Fatalf("disconnected: %+v", gone)
	}
	// A session that calls again goes on: no error ever asks for another identity.
	must[client.Session](w, anyone, "ana", "s1", "heartbeat", nil)
	if who := must[client.Agents](w, anyone, "", "", "who_is_active", nil); who.Count != 2 {
		t.Fatalf("revived: %+v", who)
	}
}

func TestSilentForAWhileIsIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must[client.Session](w, anyone, "ana", "", "register_session", map[string]any{"current_task": "x"})
	w.later(20 * time.Minute)
	if got := must[client.Agents](w, anyone, "", "", "who_is_active", nil); got.Count != 1 || got.Agents[0].Status != "idle" {
		t.Fatalf("%+v", got)
	}
	// Any call is heard: the process reports it with its next sweep.
	must[client.Brief](w, anyone, "ana", "", "session_brief", nil)
	w.sweep(0)
	if got := must[client.Agents](w, anyone, "", "", "who_is_active", nil); got.Agents[0].Status != "active" {
		t.Fatalf("%+v", got)
	}
}

// I28: a dead session gives back its locks and tasks, and only its own.
func TestDeadSessionFreesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := func(session, path string) {
		must[client.Session](w, anyone, "ana", session, "heartbeat", nil)
		if l := must[map[string]any](w, anyone, "ana", session, "acquire_lock", map[string]any{"file_path": path}); l["success"] != true {
			t.Fatalf("lock %s: %+v", path, l)
		}
		must[map[string]any](w, anyone, "boss", "", "submit_work", map[string]any{"task_type": "t", "task_description": path})
		if got := must[map[string]any](w, anyone, "ana", session, "get_work", nil); got["success"] != true {
			t.Fatalf("claim: %v", got)
		}
	}
	hold("dead", "a.go")
	hold("alive", "b.go")
	w.sweep(0) // the calls up to here are reported before the clock moves
	w.later(100 * time.Second)
	must[client.Session](w, anyone, "ana", "alive", "heartbeat", nil)
	w.sweep(0)
	w.later(130 * time.Second) // the dead one is silent for 130 s, the other for 30 s
	w.sweep(1)
	w.sweep(0)
	left := must[client.Agents](w, anyone, "", "", "discover_agents", nil)
	for _, a := range left.Agents {
		want := map[string][3]any{"dead": {"disconnected", 0, 0}, "alive": {"active", 1, 1}}[a.SessionID]
		if a.AgentID == "ana" && (a.Status != want[0] || a.LocksHeld != want[1] || a.TasksHeld != want[2]) {
			t.Errorf("%s: %+v, want %v", a.SessionID, a, want)
		}
	}
	if l := must[map[string]any](w, anyone, "bob", "", "acquire_lock", map[string]any{"file_path": "a.go"}); l["success"] != true {
		t.Errorf("a.go is not free: %+v", l)
	}
	if l := must[map[string]any](w, anyone, "bob", "", "acquire_lock", map[string]any{"file_path": "b.go"}); l["success"] == true {
		t.Errorf("b.go was freed too")
	}
	if n := scan[int](w, `select count(*) from public.work_queue where status = 'pending'`); n != 1 {
		t.Errorf("%d tasks back in the queue, want 1", n)
	}
	if n := w.audited("lapse_session", true); n != 1 {
		t.Errorf("%d audit rows of the lapse, want 1", n)
	}
	if kinds := kindsOf(w.notices("ana", "dead")); !slices.Equal(slices.Sorted(slices.Values(kinds)), []string{"lock_lost", "work_lost"}) {
		t.Errorf("the lapsed session is told %v, want one notice of what it lost of each kind", kinds)
	}
	if n := w.notices("ana", "alive"); len(n) != 0 {
		t.Errorf("the other session is told: %v", n)
	}
}

// The end of a session is one transaction: when a part fails, nothing happened.
func TestEndIsOneTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must[map[string]any](w, anyone, "ana", "s", "acquire_lock", map[string]any{"file_path": "a.go"})
	w.exec(`create or replace function coord.free_work(p_project bigint, p_session bigint, p_reason text) returns jsonb language plpgsql as $$
		begin raise exception 'broken'; end $$`)
	if _, err := do[client.EndedSession](w, anyone, "ana", "s", "end_session", nil); err == nil {
		t.Fatal("it ended")
	}
	if who := must[client.Agents](w, anyone, "", "", "who_is_active", nil); who.Count != 1 || who.Agents[0].LocksHeld != 1 {
		t.Fatalf("half an end: %+v", who)
	}
	if w.audited("end_session", true) != 0 {
		t.Fatal("an audit row of what did not happen")
	}
}

func TestSilentSessionWithoutHeartbeatNeverLapses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must[map[string]any](w, anyone, "ana", "", "acquire_lock", map[string]any{"file_path": "a.go", "ttl_minutes": 60.0})
	w.later(30 * time.Minute)
	w.sweep(0)
	dry := must[client.CleanedAgents](w, admin, "", "", "cleanup_agents", map[string]any{"dry_run": true, "idle_minutes": 20.0})
	if dry.AgentsCleaned != 1 || dry.LocksReleased != 0 || w.audited("cleanup_agents", true) != 0 {
		t.Fatalf("dry run: %+v", dry)
	}
	if none := must[client.CleanedAgents](w, admin, "", "", "cleanup_agents", nil); none.AgentsCleaned != 0 {
		t.Fatalf("a silent client without heartbeat was cleaned: %+v", none)
	}
	real := must[client.CleanedAgents](w, admin, "", "", "cleanup_agents", map[string]any{"idle_minutes": 20.0})
	if real.AgentsCleaned != 1 || real.LocksReleased != 1 || w.audited("cleanup_agents", true) != 2 {
		t.Fatalf("clean-up: %+v", real)
	}
	_, err := do[client.CleanedAgents](w, anyone, "", "", "cleanup_agents", nil)
	w.refused(err, client.CodeForbidden)
}

func TestRequestKeyReplaysAndConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := func(task string) op.Request {
		r := w.req(anyone, "ana", "s", map[string]any{"current_task": task})
		r.RequestKey = "k1"
		return r
	}
	first, err := send[client.Session](w, "register_session", r("one"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := send[client.Session](w, "register_session", r("one"))
	if err != nil || second != first {
		t.Fatalf("replay: %+v, %v", second, err)
	}
	if n := w.audited("register_session", true); n != 1 {
		t.Fatalf("%d audit rows for one change", n)
	}
	_, err = send[client.Session](w, "register_session", r("two"))
	w.refused(err, client.CodeConflict)
	w.later(25 * time.Hour)
	if _, err := send[client.Session](w, "register_session", r("two")); err != nil {
		t.Fatalf("a day later the key is free: %v", err)
	}
}

func kindsOf(list []client.Notice) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.Kind)
	}
	return out
}

// Four processes sweep at once: each silent session lapses once, with one audit row.
func TestSweepsShareTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		must[client.Session](w, anyone, "ana", fmt.Sprint(i), "heartbeat", nil)
	}
	w.later(125 * time.Second)
	var wg sync.WaitGroup
	var lapsed atomic.Int64
	for range 4 {
		wg.Go(func() {
			swept, err := coord.New(w.pool).Sweep(context.Background())
			if err != nil {
				t.Error(err)
			}
			lapsed.Add(int64(swept.SessionsLapsed))
		})
	}
	wg.Wait()
	w.sweep(0)
	if rows := scan[int](w, `select count(distinct session_id) from coord.audit_log where operation = 'lapse_session'`); lapsed.Load() != 20 || rows != 20 || w.audited("lapse_session", true) != 20 {
		t.Fatalf("%d lapsed, %d audited", lapsed.Load(), rows)
	}
}

func TestLeftoversGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.req(anyone, "ana", "s", map[string]any{"to": []any{"bob"}, "text": "x", "allow_unknown": true})
	r.RequestKey = "k"
	if _, err := send[client.SentMessage](w, "send_message", r); err != nil {
		t.Fatal(err)
	}
	if len(w.notices("bob", "b")) != 1 {
		t.Fatal("no notice")
	}
	for _, step := range []struct {
		later            time.Duration
		replies, notices int
	}{{23 * time.Hour, 1, 1}, {25 * time.Hour, 0, 1}, {8 * 24 * time.Hour, 0, 0}} {
		w.later(step.later)
		w.store = coord.New(w.pool) // a process tidies once a minute
		w.sweep(0)
		if r, n := scan[int](w, `select count(*) from coord.idempotency`), scan[int](w, `select count(*) from coord.notices`); r != step.replies || n != step.notices {
			t.Errorf("after %s: %d replies, %d notices", step.later, r, n)
		}
	}
	if n := scan[int](w, `select count(*) from public.messages`); n != 1 {
		t.Error("the message went too")
	}
}
