package ops_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// after says which statuses a run may have after each: a report that comes late, twice or from a stranger changes
// nothing. A run whose claim lapsed still takes the report of who had it, as long as nobody else has it.
var after = map[string][]string{
	"pending": {"pending", "claimed", "stopped"}, "claimed": {"claimed", "running", "completed", "failed", "stopping", "lapsed", "stopped"},
	"running": {"running", "completed", "failed", "stopping", "stopped"}, "stopping": {"stopping", "stopped", "completed"},
	"lapsed":    {"lapsed", "claimed", "running", "completed", "failed", "stopped"},
	"completed": {"completed"}, "failed": {"failed"}, "stopped": {"stopped"},
}

// afterSession says the same of sessions. One that was over runs again when it is resumed.
var afterSession = map[string][]string{
	"pending": {"pending", "running", "stopping", "stopped", "finished", "failed"}, "running": {"running", "stopping", "stopped", "finished", "failed"},
	"stopping": {"stopping", "stopped", "finished", "failed"}, "finished": {"finished", "running", "stopping", "stopped", "failed"},
	"stopped": {"stopped", "running", "finished", "failed"}, "failed": {"failed", "running", "stopped", "finished"},
}

// TestRunsFollowTheirStates sends reports, stops and polls in random order, twice and by the wrong runner. No run ever
// takes an illegal step, a session never has two runs at work, and every end of a child is noted for its parent once.
func TestRunsFollowTheirStates(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	ctx := context.Background()
	runners := []string{f.register("a"), f.register("b")}
	parent := f.run()
	f.claim(runners[0], parent.RunID)
	f.reports(runners[0], parent.RunID, "started")
	var shift time.Duration
	rapid.Check(t, func(rt *rapid.T) {
		was, wasSession := map[string]string{}, map[string]string{}
		var runs []string
		sessions := []string{}
		note := func() {
			for _, id := range runs {
				run := f.get(id)
				now := run.Status
				if now == "pending" && run.Attempt > 0 {
					now = "lapsed"
				}
				if !slices.Contains(after[was[id]], now) {
					rt.Fatalf("%s went from %s to %s", id, was[id], now)
				}
				was[id] = now
			}
			for _, id := range sessions {
				now := f.status(id)
				if !slices.Contains(afterSession[wasSession[id]], now) {
					rt.Fatalf("session %s went from %s to %s", id, wasSession[id], now)
				}
				wasSession[id] = now
			}
			if n := scan[int](f.world, `select count(*) from (select 1 from public.runs where status in ('claimed', 'running', 'stopping') group by session_id having count(*) > 1) x`); n > 0 {
				rt.Fatalf("%d sessions have two runs at work", n)
			}
		}
		for range rapid.IntRange(3, 14).Draw(rt, "steps") {
			switch what := rapid.SampledFrom([]string{"new", "resume", "poll", "poll", "report", "report", "report", "report", "bind", "stop", "stop session", "event", "lease"}).Draw(rt, "what"); what {
			case "new":
				run := f.child(parent.SessionID)
				runs, sessions = append(runs, run.RunID), append(sessions, run.SessionID)
				was[run.RunID], wasSession[run.SessionID] = "pending", "pending"
			case "resume":
				if len(sessions) > 0 {
					run := f.run("type", "resume_session", "session_id", rapid.SampledFrom(sessions).Draw(rt, "session"), "parent_session_id", parent.SessionID, "execution_mode", "async_callback")
					runs = append(runs, run.RunID)
					was[run.RunID] = "pending"
				}
			case "poll":
				f.poll(rapid.SampledFrom(runners).Draw(rt, "runner"))
			case "report":
				if len(runs) > 0 {
					err := f.report(rapid.SampledFrom(runners).Draw(rt, "runner"), rapid.SampledFrom(runs).Draw(rt, "run"),
						rapid.SampledFrom([]string{"started", "started", "completed", "failed", "stopped"}).Draw(rt, "kind"))
					var e *client.Error
					if err != nil && (!errors.As(err, &e) || e.Code != client.CodeConflict) {
						rt.Fatal(err)
					}
				}
			case "stop":
				if len(runs) > 0 {
					_, _ = do[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": rapid.SampledFrom(runs).Draw(rt, "run")})
				}
			case "stop session":
				if len(sessions) > 0 {
					must[client.StoppedSession](f.world, anyone, "", "", "stop_session", map[string]any{"session_id": rapid.SampledFrom(sessions).Draw(rt, "session")})
				}
			case "bind":
				if len(sessions) > 0 {
					must[client.OrchestratedSessionReply](f.world, runnerKey, "", "", "bind_session", map[string]any{
						"session_id": rapid.SampledFrom(sessions).Draw(rt, "session"), "executor_session_id": "x", "hostname": "a", "executor_profile": "test",
					})
				}
			case "event":
				if len(sessions) > 0 {
					f.event(rapid.SampledFrom(sessions).Draw(rt, "session"), "session_stop")
				}
			case "lease":
				shift += 31 * time.Second
				f.later(shift)
				for _, r := range runners { // they live
					f.poll(r)
				}
				f.sweepRuns()
			}
			note()
		}
		for _, id := range runs { // everything comes to its end
			if !slices.Contains([]string{"completed", "failed", "stopped"}, was[id]) {
				for range 2 {
					_, _ = do[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": id})
					if r := f.get(id).RunnerID; r != nil {
						_ = f.report(*r, id, "stopped")
					}
				}
			}
			if n := scan[int](f.world, `select count(*) from coord.callbacks where source = $1`, id); n != 1 {
				rt.Fatalf("the end of %s (%s) was noted %d times", id, f.get(id).Status, n)
			}
		}
		for _, id := range sessions {
			if now := f.status(id); !slices.Contains([]string{"finished", "failed", "stopped"}, now) {
				rt.Fatalf("session %s is %s though all its runs are over", id, now)
			}
		}
	})
	// Once the parent is idle it hears of every end, each once.
	f.reports(runners[0], parent.RunID, "completed")
	if n, err := f.store.DeliverCallbacks(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d delivered, %v", n, err)
	}
	if n := scan[int](f.world, `select count(*) from coord.callbacks where delivered_run_id is null`); n != 0 {
		t.Errorf("%d ends were told to nobody", n)
	}
	if told, ends := strings.Count(f.last(parent.SessionID).Prompt, "### Child: "), scan[int](f.world, `select count(*) from coord.callbacks`); told != ends {
		t.Errorf("the parent was told of %d ends, there are %d", told, ends)
	}
	if n := scan[int](f.world, `select count(*) from coord.ready r where r.queue = 2 and not exists (select from public.runs x where x.id = r.id and x.status = 'pending')`); n != 0 {
		t.Error(fmt.Sprint(n, " lanes hold runs that are over"))
	}
	if n := scan[int](f.world, `select count(*) from coord.lease where queue = 2`); n != 0 {
		t.Error(fmt.Sprint(n, " leases are left"))
	}
}
