package ops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// runnerKey is what a runner's machine holds: nothing but the scope runner.
var runnerKey = ident.Principal{Name: "key:runner", Scopes: []ident.Scope{ident.Runner}}

// fleet is the world with helpers that speak as runners and their executors do.
type fleet struct{ *world }

func newFleet(t *testing.T) fleet { t.Helper(); return fleet{newWorld(t)} }

// register makes a runner known and returns its id.
func (f fleet) register(host string, more ...any) string {
	f.t.Helper()
	args := map[string]any{"hostname": host, "project_dir": "/work", "executor_profile": "test"}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return must[client.RegisteredRunner](f.world, runnerKey, "", "", "register_runner", args).RunnerID
}

// run creates a run; more are further members.
func (f fleet) run(more ...any) client.CreatedRun {
	f.t.Helper()
	args := map[string]any{"type": "start_session", "prompt": "do it"}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return must[client.CreatedRun](f.world, anyone, "", "", "create_run", args)
}

func (f fleet) poll(runner string) coord.Poll {
	f.t.Helper()
	out, err := f.store.PollRunner(context.Background(), ident.Caller{By: "key:runner"}, runner)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// claim polls until the runner has that run.
func (f fleet) claim(runner, run string) {
	f.t.Helper()
	if p := f.poll(runner); !strings.Contains(string(p.Run), run) {
		f.t.Fatalf("%s got %+v, want %s", runner, p, run)
	}
}

// report sends a runner's report.
func (f fleet) report(runner, run, kind string) error {
	f.t.Helper()
	args := map[string]any{"runner_id": runner, "run_id": run}
	if kind == "failed" {
		args["error"] = "it broke"
	}
	_, err := do[client.Ok](f.world, runnerKey, "", "", "run_"+kind, args)
	return err
}

func (f fleet) reports(runner, run string, kinds ...string) {
	f.t.Helper()
	for _, kind := range kinds {
		if err := f.report(runner, run, kind); err != nil {
			f.t.Fatalf("%s of %s: %v", kind, run, err)
		}
	}
}

// event posts an event as an executor does.
func (f fleet) event(session, kind string, more ...any) {
	f.t.Helper()
	args := map[string]any{"session_id": session, "event_type": kind, "timestamp": "2026-01-01T00:00:00"}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	must[client.Ok](f.world, runnerKey, "", "", "add_session_event", args)
}

func (f fleet) says(session, text string) {
	f.t.Helper()
	f.event(session, "message", "role", "assistant", "content", []any{map[string]any{"type": "text", "text": text}})
}

// execute takes a run through its whole life with a result.
func (f fleet) execute(runner string, run client.CreatedRun, result string) {
	f.t.Helper()
	f.claim(runner, run.RunID)
	f.reports(runner, run.RunID, "started")
	f.says(run.SessionID, result)
	f.event(run.SessionID, "session_stop", "exit_code", 0.0, "reason", "completed")
	f.reports(runner, run.RunID, "completed")
}

func (f fleet) status(session string) string {
	f.t.Helper()
	return must[client.SessionStatus](f.world, anyone, "", "", "session_status", map[string]any{"session_id": session}).Status
}

func (f fleet) get(run string) client.Run {
	f.t.Helper()
	return must[client.Run](f.world, anyone, "", "", "get_run", map[string]any{"run_id": run})
}

func (f fleet) sweepRuns() {
	f.t.Helper()
	if _, err := f.store.SweepRuns(context.Background(), 100); err != nil {
		f.t.Fatal(err)
	}
}

func (f fleet) deliver() int {
	f.t.Helper()
	n, err := f.store.DeliverCallbacks(context.Background(), 100)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestARunFromPostToResult(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	run := f.run()
	if f.status(run.SessionID) != "pending" || !strings.HasPrefix(run.RunID, "run_") || !strings.HasPrefix(run.SessionID, "ses_") || len(run.RunID) != 16 {
		t.Fatalf("%+v", run)
	}
	if p := f.poll("lnch_stranger"); !p.Unknown {
		t.Fatalf("%+v", p)
	}
	f.claim(r, run.RunID)
	if p := f.poll(r); p.Run != nil {
		t.Fatalf("claimed twice: %s", p.Run)
	}
	f.reports(r, run.RunID, "started", "started")
	must[client.OrchestratedSessionReply](f.world, runnerKey, "", "", "bind_session", map[string]any{
		"session_id": run.SessionID, "executor_session_id": "x1", "hostname": "host", "executor_profile": "test",
	})
	if f.status(run.SessionID) != "running" {
		t.Fatal(f.status(run.SessionID))
	}
	_, err := do[client.SessionResult](f.world, anyone, "", "", "session_result", map[string]any{"session_id": run.SessionID})
	if e := f.refused(err, client.CodeInvalid); e.Status != 400 || e.Detail != "Session not finished" {
		t.Errorf("%+v", e)
	}
	f.says(run.SessionID, "the answer")
	f.event(run.SessionID, "session_stop")
	f.reports(r, run.RunID, "completed", "completed")
	if got := must[client.SessionResult](f.world, anyone, "", "", "session_result", map[string]any{"session_id": run.SessionID}); got.Result != "the answer" {
		t.Errorf("%+v", got)
	}
	if err := f.report(r, run.RunID, "started"); err == nil {
		t.Error("a late started was taken")
	}
	events := must[client.SessionEvents](f.world, anyone, "", "", "list_session_events", map[string]any{"session_id": run.SessionID, "limit": 1.0})
	if len(events.Events) != 1 || !events.Truncated || events.NextAfterID != events.Events[0].ID {
		t.Errorf("%+v", events)
	}
	got := f.get(run.RunID)
	if got.Status != "completed" || got.StartedAt == nil || !strings.HasSuffix(got.CreatedAt, "+00:00") || got.Attempt != 1 {
		t.Errorf("%+v", got)
	}
}

func TestOnlyItsRunnerReportsARun(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	a, b := f.register("a"), f.register("b")
	run := f.run()
	f.claim(a, run.RunID)
	for _, kind := range []string{"started", "completed", "failed", "stopped"} {
		f.refused(f.report(b, run.RunID, kind), client.CodeConflict)
	}
	f.refused(f.report("lnch_x", run.RunID, "started"), client.CodeUnauthenticated)
	f.refused(f.report(a, "run_x", "started"), client.CodeNotFound)
	// A lost answer: the run goes to another when it is not started in time.
	f.later(40 * time.Second)
	f.sweepRuns()
	f.claim(b, run.RunID)
	f.refused(f.report(a, run.RunID, "started"), client.CodeConflict)
	f.reports(b, run.RunID, "started", "failed", "failed")
	if got := f.get(run.RunID); got.Status != "failed" || *got.Error != "it broke" || f.status(run.SessionID) != "failed" {
		t.Errorf("%+v %s", got, f.status(run.SessionID))
	}
	f.refused(f.report(b, run.RunID, "completed"), client.CodeConflict)
}

func TestDemandsDecideWhoGetsARun(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	plain, tagged := f.register("plain"), f.register("tagged", "tags", []any{"python", "docker"}, "require_matching_tags", true)
	must[client.AgentBlueprint](f.world, anyone, "", "", "create_agent", map[string]any{
		"name": "py", "description": "d", "demands": map[string]any{"tags": []any{"python"}, "executor_profile": "test"},
	})
	run := f.run("agent_name", "py", "additional_demands", map[string]any{"tags": []any{"docker"}, "executor_profile": "other"})
	got := f.get(run.RunID)
	if got.Demands == nil || strings.Join(got.Demands.Tags, ",") != "docker,python" || got.Demands.ExecutorProfile != "test" || got.TimeoutAt == nil {
		t.Fatalf("%+v", got.Demands)
	}
	why := must[client.RunWhy](f.world, anyone, "", "", "why_run", map[string]any{"run_id": run.RunID})
	if why.Reason != "queued" || len(why.Runners) != 2 {
		t.Errorf("%+v", why)
	}
	free := f.run()
	f.claim(plain, free.RunID)
	f.claim(tagged, run.RunID)
	nobody := f.run("additional_demands", map[string]any{"hostname": "elsewhere"})
	if w := must[client.RunWhy](f.world, anyone, "", "", "why_run", map[string]any{"run_id": nobody.RunID}); w.Reason != "no_match" {
		t.Errorf("%+v", w)
	}
	f.later(301 * time.Second)
	f.sweepRuns()
	if got := f.get(nobody.RunID); got.Status != "failed" || *got.Error != "No matching runner available within timeout" || f.status(nobody.SessionID) != "failed" {
		t.Errorf("%+v", got)
	}
}

func TestRunsAreCheckedBeforeTheyAreStored(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.run("session_id", "ses_mine")
	must[client.AgentBlueprint](f.world, anyone, "", "", "create_agent", map[string]any{"name": "off", "description": "d"})
	must[client.AgentBlueprint](f.world, anyone, "", "", "set_agent_status", map[string]any{"name": "off", "status": "inactive"})
	must[client.AgentBlueprint](f.world, anyone, "", "", "create_agent", map[string]any{"name": "broken", "description": "d", "capabilities": []any{"none"}})
	for _, tc := range []struct {
		status int
		detail string
		args   map[string]any
	}{
		{409, "Session 'ses_mine' already exists", map[string]any{"session_id": "ses_mine"}},
		{404, "Session not found", map[string]any{"type": "resume_session", "session_id": "ses_x"}},
		{400, "session_id is required for resume_session", map[string]any{"type": "resume_session"}},
		{404, "Agent not found: nobody", map[string]any{"agent_name": "nobody"}},
		{400, "Agent is inactive: off", map[string]any{"agent_name": "off"}},
		{422, "Capability not found: none", map[string]any{"agent_name": "broken"}},
		{404, "Parent session not found", map[string]any{"parent_session_id": "ses_x"}},
		{400, "A session cannot be its own parent", map[string]any{"session_id": "ses_own", "parent_session_id": "ses_own"}},
	} {
		args := map[string]any{"type": "start_session", "prompt": "p"}
		for k, v := range tc.args {
			args[k] = v
		}
		_, err := do[client.CreatedRun](f.world, anyone, "", "", "create_run", args)
		e, ok := err.(*client.Error) //nolint:errorlint // the pipeline returns nothing else
		if !ok || e.Status != tc.status || e.Detail != tc.detail {
			t.Errorf("%v: %+v", tc.args, err)
		}
	}
	_, err := do[client.CreatedRun](f.world, anyone, "", "", "create_run", map[string]any{"type": "start_session", "additional_demands": map[string]any{"tags": "x"}})
	if e := f.refused(err, client.CodeInvalid); e.Status != 422 || strings.Contains(fmt.Sprint(e.Detail), "must") {
		t.Errorf("%+v", e.Detail)
	}
	if n := scan[int](f.world, `select count(*) from public.sessions`); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestASessionHasOneRunAtATime(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	first := f.run()
	second := f.run("type", "resume_session", "session_id", first.SessionID)
	third := f.run("type", "resume_session", "session_id", first.SessionID, "priority", 1.0)
	f.claim(r, first.RunID)
	if p := f.poll(r); p.Run != nil {
		t.Fatalf("two runs of a session: %s", p.Run)
	}
	if w := must[client.RunWhy](f.world, anyone, "", "", "why_run", map[string]any{"run_id": second.RunID}); w.Reason != "session_busy" || w.WaitsForRun != first.RunID {
		t.Errorf("%+v", w)
	}
	f.reports(r, first.RunID, "started", "completed")
	f.execute(r, second, "two")
	if f.status(first.SessionID) != "finished" {
		t.Error(f.status(first.SessionID))
	}
	f.claim(r, third.RunID)
	f.reports(r, third.RunID, "started")
	if f.status(first.SessionID) != "running" {
		t.Error("a resumed session reads " + f.status(first.SessionID))
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	waiting := f.run()
	out := must[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": waiting.RunID})
	if out.Status != "stopped" || out.Message != "Run cancelled before execution" || f.status(waiting.SessionID) != "stopped" {
		t.Fatalf("%+v", out)
	}
	_, err := do[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": waiting.RunID})
	if e := f.refused(err, client.CodeInvalid); e.Status != 400 || e.Detail != "Run cannot be stopped (status: RunStatus.STOPPED)" {
		t.Errorf("%+v", e)
	}
	if p := f.poll(r); p.Run != nil {
		t.Fatal("a stopped run was claimed")
	}
	first := f.run()
	f.execute(r, first, "one")
	again := f.run("type", "resume_session", "session_id", first.SessionID)
	f.claim(r, again.RunID)
	f.reports(r, again.RunID, "started")
	s := must[client.StoppedSession](f.world, anyone, "", "", "stop_session", map[string]any{"session_id": first.SessionID})
	if s.Status != "stopping" || s.RunID != again.RunID {
		t.Fatalf("the stop hit %+v", s)
	}
	for range 2 {
		if p := f.poll(r); len(p.StopRuns) != 1 || p.StopRuns[0] != again.RunID {
			t.Fatalf("%+v", p)
		}
		f.later(11 * time.Second) // unreported: told again
	}
	f.reports(r, again.RunID, "failed", "stopped") // the runner saw the process end first
	if f.get(again.RunID).Status != "stopped" || f.status(first.SessionID) != "stopped" {
		t.Errorf("%+v", f.get(again.RunID))
	}
	// A runner that never answers.
	deaf := f.run()
	f.claim(r, deaf.RunID)
	must[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": deaf.RunID})
	f.later(90 * time.Second)
	f.sweepRuns()
	if f.get(deaf.RunID).Status != "stopped" {
		t.Error(f.get(deaf.RunID).Status)
	}
}

// polled claims a run for the one runner there is and returns a report's arguments.
func polled(w *world) map[string]any {
	w.t.Helper()
	runner := scan[string](w, `select runner_id from public.runners`)
	if p := (fleet{w}).poll(runner); p.Run == nil {
		w.t.Fatalf("%+v", p)
	}
	return held(w)
}

// held are the arguments of a report on the run that is in work.
func held(w *world) map[string]any {
	w.t.Helper()
	return map[string]any{
		"runner_id": scan[string](w, `select runner_id from public.runners`),
		"run_id":    scan[string](w, `select run_id from public.runs where status in ('claimed', 'running')`),
	}
}
