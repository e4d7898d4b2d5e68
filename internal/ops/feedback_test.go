package ops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

const head1, head2 = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"

// pushed puts a changeset under verification into the database and returns its id.
func (w *world) pushed(agent, session, head string) string {
	w.t.Helper()
	w.exec(`select coord.ensure_project('demo')`)
	return scan[string](w, `insert into public.changesets (project_id, source, repository, branch, line, head_sha, agent_id, agent_verified, session_id, additions, state, route_version)
		values ((select id from public.projects where name = 'demo'), 'agent', $1, 'fix', 'fix', $2, $3, true, nullif($4, ''), 50, 'verifying', 1) returning id::text`, shop, head, agent, session)
}

// verdict ends a changeset's only run and lets the rule decide.
func (w *world) verdict(id, conclusion string) {
	w.t.Helper()
	w.exec(`insert into public.verification_results (project_id, changeset_id, head_sha, route_version, policy_name, policy, tier, executor, required, status, conclusion, reason, output, findings)
		select c.project_id, c.id, c.head_sha, 1, 'unit-code', '{}', 1, 'github', true, 'completed', $2, case when $2 <> 'success' then 'two tests fail' end, 'FAIL TestX',
			'[{"tool": "vet", "rule": "printf", "level": "error", "message": "wrong verb", "path": "a.go", "line": 7}]' from public.changesets c where c.id = $1`, id, conclusion)
	w.exec(`select coord.settle(c.project_id, c.id) from public.changesets c where c.id = $1`, id)
}

// claimed submits a task and claims it as ana.
func (w *world) claimed(args map[string]any) (task, dependent string) {
	w.t.Helper()
	in := map[string]any{"task_type": "fix", "task_description": "mend it"}
	for k, v := range args {
		in[k] = v
	}
	task = must[client.SubmittedWork](w, anyone, "boss", "s", "submit_work", in).TaskID
	dependent = must[client.SubmittedWork](w, anyone, "boss", "s", "submit_work", map[string]any{"task_type": "after", "task_description": "d", "depends_on": []any{task}}).TaskID
	if got := must[client.Work](w, anyone, "ana", "s1", "get_work", map[string]any{"task_types": []any{"fix"}}); got.TaskID == nil || *got.TaskID != task {
		w.t.Fatalf("claimed %+v", got)
	}
	return task, dependent
}

func (w *world) complete(task, head string) client.TaskChange {
	w.t.Helper()
	return must[client.TaskChange](w, anyone, "ana", "s1", "complete_work", map[string]any{"task_id": task, "success": true, "head_sha": head, "result": map[string]any{"note": "done"}})
}

func (w *world) taskStatus(task string) string {
	w.t.Helper()
	return scan[string](w, `select status from public.work_queue where task_id = $1`, task)
}

func TestTaskWaitsForTheVerdictOnItsCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, after := w.claimed(nil)
	if got := w.complete(task, head1); !got.Success || got.Status != "verifying" || !strings.Contains(got.Why, "submit_changes") {
		t.Fatalf("%+v", got)
	}
	if got := w.complete(task, head1); !got.Replayed || got.Status != "verifying" {
		t.Errorf("a repetition: %+v", got)
	}
	w.verdict(w.pushed("ana", "s1", head2), "success")
	if got := w.taskStatus(task); got != "verifying" {
		t.Fatalf("another commit's verdict made it %s", got)
	}
	id := w.pushed("ana", "s1", head1)
	if got := must[client.Work](w, anyone, "bob", "s2", "get_work", nil); got.Success {
		t.Errorf("something can be claimed while the task is verifying: %+v", got)
	}
	w.notices("ana", "s1")
	w.verdict(id, "success")
	if got := w.taskStatus(task); got != "completed" {
		t.Fatalf("after its verdict it is %s", got)
	}
	if got := must[client.Work](w, anyone, "bob", "s2", "get_work", nil); got.TaskID == nil || *got.TaskID != after {
		t.Errorf("what waited for it is not ready: %+v", got)
	}
	if n := w.notices("ana", "s1"); len(n) != 1 || !strings.Contains(n[0].Text, "passed verification") {
		t.Errorf("ana was told %+v", n)
	}
	if got := w.complete(task, head1); !got.Success || !got.Replayed || got.Status != "completed" {
		t.Errorf("a late repetition: %+v", got)
	}
	if r := must[client.TaskReply](w, anyone, "", "", "get_task", map[string]any{"task_id": task}).Task.Result; !strings.Contains(string(r), head1) || !strings.Contains(string(r), "done") {
		t.Errorf("result %s", r)
	}
}

func TestVerdictThatIsThereCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, _ := w.claimed(nil)
	w.verdict(w.pushed("ana", "s1", head1), "success")
	if got := w.complete(task, head1); !got.Success || got.Status != "completed" {
		t.Errorf("%+v", got)
	}
	task, _ = w.claimed(nil)
	w.verdict(w.pushed("ana", "s1", head2), "failure")
	if got := w.complete(task, head2); got.Success || got.Reason != "verification_failed" || got.Status != "pending" || !strings.Contains(got.Why, "two tests fail") {
		t.Errorf("%+v", got)
	}
}

func TestFailedVerdictGivesTheTaskBackWithItsFindings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, _ := w.claimed(map[string]any{"max_attempts": 2.0, "input_data": map[string]any{"k": "v"}})
	w.complete(task, head1)
	w.verdict(w.pushed("ana", "s1", head1), "failure")
	n := w.notices("ana", "s1")
	if len(n) != 1 || !strings.Contains(n[0].Text, "two tests fail") || !strings.Contains(n[0].Text, "back in the queue") {
		t.Errorf("told %+v", n)
	}
	again := must[client.Work](w, anyone, "ana", "s1", "get_work", map[string]any{"task_types": []any{"fix"}})
	in := string(again.InputData)
	if again.TaskID == nil || *again.TaskID != task || again.Attempt != 2 || !strings.Contains(again.LastError, "failed verification") ||
		!strings.Contains(in, "wrong verb") || !strings.Contains(in, "FAIL TestX") || !strings.Contains(in, `"k"`) {
		t.Fatalf("%+v\n%s", again, in)
	}
	w.complete(task, head2)
	w.verdict(w.pushed("ana", "s1", head2), "failure")
	if got := w.taskStatus(task); got != "dead" {
		t.Errorf("after its last attempt it is %s", got)
	}
	if text := scan[string](w, `select payload ->> 'text' from coord.gateway_outbox where kind = 'notify'`); !strings.Contains(text, task) || !strings.Contains(text, "2 time(s)") {
		t.Errorf("people were told %q", text)
	}
	if got := w.trustOf("ana"); got.Beta <= 1.9 {
		t.Errorf("trust did not hear of it: %+v", got)
	}
}

// A session that a runner executes is resumed with the findings as its prompt, and still has its task.
func TestFailedVerdictResumesTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, _ := w.claimed(nil)
	w.exec(`insert into public.sessions (project_id, session_id, status, executor_profile, hostname) values ((select id from public.projects where name = 'demo'), 's1', 'finished', 'p', 'h')`)
	w.complete(task, head1)
	w.verdict(w.pushed("ana", "s1", head1), "failure")
	if got := w.taskStatus(task); got != "claimed" {
		t.Fatalf("it is %s", got)
	}
	if _, err := w.store.DeliverCallbacks(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	prompt := scan[string](w, `select prompt from public.runs where session_id = 's1' and type = 'resume_session'`)
	for _, part := range []string{"did not pass verification", "two tests fail", "a.go:7 error wrong verb (vet printf)", "FAIL TestX", task} {
		if !strings.Contains(prompt, part) {
			t.Errorf("the prompt lacks %q:\n%s", part, prompt)
		}
	}
	if got := w.complete(task, head2); got.Status != "verifying" {
		t.Errorf("its session cannot complete it again: %+v", got)
	}
	w.verdict(w.pushed("ana", "s1", head2), "success")
	if got := w.taskStatus(task); got != "completed" {
		t.Errorf("it is %s", got)
	}
	// A session that does not come back loses the task by its lease, as any other.
	other, _ := w.claimed(nil)
	w.complete(other, strings.Repeat("3", 40))
	w.verdict(w.pushed("ana", "s1", strings.Repeat("3", 40)), "failure")
	w.later(31 * time.Minute)
	if _, err := w.store.SweepWork(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if got := w.taskStatus(other); got != "scheduled" && got != "pending" {
		t.Errorf("the lease ran out and it is %s", got)
	}
}

func TestChangesetWithoutTaskGoesBackToItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s1")
	w.verdict(w.pushed("ana", "s1", head1), "failure")
	if n := w.notices("ana", "s1"); len(n) != 1 || !strings.Contains(n[0].Text, "verification failed: ") && !strings.Contains(n[0].Text, "verification failed. ") {
		t.Errorf("told %+v", n)
	}
	w.exec(`insert into public.sessions (project_id, session_id, status, executor_profile, hostname) values ((select id from public.projects where name = 'demo'), 'ses_x', 'finished', 'p', 'h')`)
	w.verdict(w.pushed("ana", "ses_x", head2), "failure")
	if n := scan[int](w, `select count(*) from coord.callbacks where parent_session_id = 'ses_x'`); n != 1 {
		t.Errorf("%d callbacks", n)
	}
	bad := w.pushed("ana", "ses_x", strings.Repeat("4", 40))
	w.exec(`update public.changesets set prior_failures = 3 where id = $1`, bad)
	w.verdict(bad, "failure")
	if n := scan[int](w, `select count(*) from coord.callbacks where parent_session_id = 'ses_x'`); n != 1 {
		t.Errorf("it is resumed without end: %d callbacks", n)
	}
	if n := scan[int](w, `select count(*) from coord.gateway_outbox where kind = 'notify' and payload ->> 'kind' = 'attempts_used_up'`); n != 1 {
		t.Errorf("people were told %d times", n)
	}
}

func TestErrorKeepsTheTaskAndTellsPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, _ := w.claimed(nil)
	w.complete(task, head1)
	id := w.pushed("ana", "s1", head1)
	w.verdict(id, "infra_error")
	if got := w.taskStatus(task); got != "verifying" {
		t.Errorf("it is %s", got)
	}
	if n := scan[int](w, `select count(*) from coord.gateway_outbox where kind = 'notify' and payload ->> 'kind' = 'error'`); n != 1 {
		t.Errorf("people were told %d times", n)
	}
	w.exec(`select coord.override_changeset(null, 'key:admin', 'eva', $1, 'passed', 'seen by hand')`, id)
	if got := w.taskStatus(task); got != "completed" {
		t.Errorf("after the override it is %s", got)
	}
}

// A verdict that never comes: the commit was superseded, or nobody handed it over.
func TestTaskWithoutVerdictGoesBack(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world){
		"superseded": func(w *world) {
			w.exec(`update public.changesets set state = 'superseded' where id = $1`, w.pushed("ana", "s1", head1))
		},
		"not handed over": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			task, _ := w.claimed(nil)
			w.complete(task, head1)
			prepare(w)
			sweep := func() { w.exec(`select coord.sweep_verdicts(10)`) }
			sweep()
			if got := w.taskStatus(task); got != "verifying" {
				t.Fatalf("at once: %s", got)
			}
			w.later(61 * time.Minute)
			sweep()
			if got := w.taskStatus(task); got != "pending" {
				t.Errorf("it is %s", got)
			}
		})
	}
}

func TestNewerCommitReplacesTheOneThatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, _ := w.claimed(nil)
	w.complete(task, head1)
	if got := w.complete(task, head2); !got.Success || got.Replayed || got.Status != "verifying" {
		t.Fatalf("%+v", got)
	}
	w.verdict(w.pushed("ana", "s1", head1), "success")
	if got := w.taskStatus(task); got != "verifying" {
		t.Errorf("the older commit made it %s", got)
	}
	if got := must[client.TaskChange](w, anyone, "bob", "s2", "complete_work", map[string]any{"task_id": task, "success": true, "head_sha": head1}); got.Success {
		t.Errorf("somebody else took it: %+v", got)
	}
	if got := must[client.TaskChange](w, anyone, "boss", "s", "cancel_work", map[string]any{"task_id": task}); !got.Success {
		t.Fatalf("%+v", got)
	}
	w.verdict(w.pushed("ana", "s1", head2), "success")
	if got := w.taskStatus(task); got != "cancelled" {
		t.Errorf("a verdict revived a cancelled task: %s", got)
	}
	if n := scan[int](w, `select count(*) from coord.task_verdicts`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

func TestApprovalTellsPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.pushed("ana", "s1", head1)
	w.exec(`insert into public.approval_queue (project_id, changeset_id, head_sha, route_version, policy_name, reason) select project_id, id, head_sha, 1, 'security-review', 'src/auth/x matches **/auth/**' from public.changesets where id = $1`, id)
	w.verdict(id, "success")
	text := scan[string](w, `select payload ->> 'text' from coord.gateway_outbox where kind = 'notify' and payload ->> 'kind' = 'needs_approval'`)
	if !strings.Contains(text, "security-review") || !strings.Contains(text, "src/auth/x") {
		t.Errorf("%q", text)
	}
}
