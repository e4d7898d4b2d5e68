package ops_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// task submits a task that a runner of profile test executes.
func (f fleet) task(more ...any) string {
	f.t.Helper()
	args := map[string]any{"task_type": "build", "description": "make it", "agent_requirements": map[string]any{"executor_profile": "test"}}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return must[client.SubmittedWork](f.world, anyone, "boss", "s", "submit_work", args).TaskID
}

// takes polls until the runner has a run of that task, and returns it.
func (f fleet) takes(runner, task string) client.Run {
	f.t.Helper()
	if p := f.poll(runner); !strings.Contains(string(p.Run), task) {
		f.t.Fatalf("%s got %+v, want a run of %s", runner, p, task)
	}
	runs := must[client.Runs](f.world, anyone, "", "", "list_runs", map[string]any{"newest": true, "limit": 1.0}).Runs
	if len(runs) != 1 || runs[0].TaskID == nil || *runs[0].TaskID != task {
		f.t.Fatalf("%+v", runs)
	}
	return runs[0]
}

func (f fleet) taskIs(id, status string) client.Task {
	f.t.Helper()
	got := must[client.TaskReply](f.world, anyone, "boss", "s", "get_task", map[string]any{"task_id": id})
	if got.Task == nil || got.Task.Status != status {
		f.t.Fatalf("task %s is %+v, want %s", id, got.Task, status)
	}
	return *got.Task
}

// TestARunnerExecutesATask: an agent does not get it; the runner's claim makes it a run; its end is the task's.
func TestARunnerExecutesATask(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r, other := f.register("host"), f.register("host", "executor_profile", "another")
	task := f.task("input_data", map[string]any{"n": 7.0}, "files", []any{"a.go"})
	next := must[client.SubmittedWork](f.world, anyone, "boss", "s", "submit_work", map[string]any{
		"task_type": "test", "description": "then", "depends_on": []any{task},
	}).TaskID
	if w := must[client.Work](f.world, anyone, "coder", "c", "get_work", nil); w.Success {
		t.Fatalf("an agent got it: %+v", w)
	}
	if p := f.poll(other); p.Run != nil || len(p.TaskLanes) != 0 {
		t.Fatalf("%+v", p)
	}
	run := f.takes(r, task)
	for _, want := range []string{"make it", `"n": 7`, "a.go"} {
		if !strings.Contains(run.Prompt, want) {
			t.Errorf("the prompt lacks %s: %s", want, run.Prompt)
		}
	}
	if run.Status != "claimed" || run.Project != "demo" || run.Demands == nil || run.Demands.ExecutorProfile != "test" {
		t.Errorf("%+v", run)
	}
	f.taskIs(task, "claimed")
	if p := f.poll(r); p.Run != nil || len(p.TaskLanes) != 1 {
		t.Fatalf("%+v", p)
	}
	f.reports(r, run.RunID, "started")
	f.says(run.SessionID, "made")
	f.event(run.SessionID, "session_stop")
	f.reports(r, run.RunID, "completed")
	f.deliver()
	done := f.taskIs(task, "completed")
	if result := string(done.Result); !strings.Contains(result, `"text": "made"`) && !strings.Contains(result, `"text":"made"`) || !strings.Contains(result, run.RunID) {
		t.Errorf("%+v", done)
	}
	if w := must[client.Work](f.world, anyone, "coder", "c", "get_work", nil); w.TaskID == nil || *w.TaskID != next {
		t.Errorf("what waited for it does not begin: %+v", w)
	}
}

// TestATaskOutlivesItsRuns: a failed run is an attempt of the task; what nobody may execute fails; a stopped run fails it.
func TestATaskOutlivesItsRuns(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	task := f.task("max_attempts", 2.0)
	run := f.takes(r, task)
	f.reports(r, run.RunID, "started", "failed")
	f.deliver()
	f.taskIs(task, "scheduled") // after a pause
	f.later(10 * time.Second)
	if _, err := f.store.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	run = f.takes(r, task)
	f.reports(r, run.RunID, "started", "failed")
	f.deliver()
	if dead := f.taskIs(task, "dead"); !strings.Contains(dead.ErrorMessage, "it broke") {
		t.Errorf("%+v", dead)
	}

	stopped := f.task()
	run = f.takes(r, stopped)
	f.reports(r, run.RunID, "started")
	must[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": run.RunID})
	f.reports(r, run.RunID, "stopped")
	f.deliver()
	f.taskIs(stopped, "failed")

	unknown := f.task("agent_requirements", map[string]any{"executor_profile": "test", "agent_name": "nobody"})
	if p := f.poll(r); p.Run != nil {
		t.Errorf("%+v", p)
	}
	if failed := f.taskIs(unknown, "failed"); !strings.Contains(failed.ErrorMessage, "nobody") {
		t.Errorf("%+v", failed)
	}
}

// TestACancelledTaskStopsItsRun, and a lapsed claim of a task's run goes to the next runner as a run.
func TestACancelledTaskStopsItsRun(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	task := f.task()
	run := f.takes(r, task)
	f.later(31 * time.Second)
	f.sweepRuns()
	f.taskIs(task, "claimed")
	other := f.register("host", "project_dir", "/other")
	f.claim(other, run.RunID)
	f.reports(other, run.RunID, "started")
	must[client.TaskChange](f.world, anyone, "boss", "s", "cancel_work", map[string]any{"task_id": task})
	f.sweepRuns()
	if p := f.poll(other); len(p.StopRuns) != 1 {
		t.Fatalf("%+v", p)
	}
	f.reports(other, run.RunID, "stopped")
	f.deliver()
	f.taskIs(task, "cancelled")
}

// TestARunnerTakesNoMoreThanItsCapacity, and is given the next when one ends. What it does not take goes to others.
func TestARunnerTakesNoMoreThanItsCapacity(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host", "capacity", 2.0)
	a, b, c := f.run(), f.run(), f.run()
	f.claim(r, a.RunID)
	f.claim(r, b.RunID)
	f.reports(r, a.RunID, "started")
	if p := f.poll(r); !p.Full || p.Run != nil {
		t.Fatalf("%+v", p)
	}
	if w := must[client.RunWhy](f.world, anyone, "", "", "why_run", map[string]any{"run_id": c.RunID}); w.Reason != "at_capacity" {
		t.Errorf("%+v", w)
	}
	must[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": b.RunID})
	if p := f.poll(r); len(p.StopRuns) != 1 {
		t.Fatalf("a full runner does not hear of stops: %+v", p)
	}
	f.reports(r, a.RunID, "completed")
	f.claim(r, c.RunID)
	list := must[client.Runners](f.world, anyone, "", "", "list_runners", nil).Runners
	if len(list) != 1 || list[0].Capacity == nil || *list[0].Capacity != 2 {
		t.Errorf("%+v", list)
	}
}

// TestAClaimThatLapsesCostsNoAttempt, but a run that kills whoever takes it does not go round for ever.
func TestAClaimThatLapsesCostsNoAttempt(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.register("host")
	run, poison := f.run("retries", 1.0, "priority", 1.0), f.run()
	shift := time.Duration(0)
	lapse := func() {
		shift += 31 * time.Second
		f.later(shift)
		must[client.Ok](f.world, runnerKey, "", "", "runner_heartbeat", map[string]any{"runner_id": r})
		f.sweepRuns()
	}
	f.claim(r, run.RunID)
	lapse()
	f.claim(r, run.RunID)
	f.reports(r, run.RunID, "started", "failed")
	if got := f.get(run.RunID); got.Status != "pending" {
		t.Errorf("the first failure was the last: %+v", got)
	}
	must[client.StoppedRun](f.world, anyone, "", "", "stop_run", map[string]any{"run_id": run.RunID})
	for range 10 {
		f.claim(r, poison.RunID)
		lapse()
	}
	if got := f.get(poison.RunID); got.Status != "failed" || !strings.Contains(*got.Error, "never started") {
		t.Errorf("%+v", got)
	}
}
