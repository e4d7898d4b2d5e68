package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	ghexec "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubtest"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

const (
	dispatches = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"
	lists      = "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs"
	reads      = "GET /repos/{owner}/{repo}/actions/runs/{run_id}"
)

var head = strings.Repeat("a", 40)

// bench is a fake GitHub with one repository and a workflow.
type bench struct {
	t *testing.T
	s *githubtest.Server
	r *githubtest.Repo
}

func newBench(t *testing.T, w githubtest.Workflow) bench {
	t.Helper()
	s := githubtest.New(t)
	r := s.AddRepo("acme/shop", "")
	if w.File == "" {
		w.File = ghexec.DefaultWorkflow
	}
	r.AddWorkflow(w)
	return bench{t, s, r}
}

// executor is a new instance over the same GitHub, as after a restart.
func (b bench) executor(o ghexec.Options) *ghexec.Executor {
	b.t.Helper()
	transport := &http.Transport{}
	b.t.Cleanup(transport.CloseIdleConnections)
	c, err := github.New(github.Config{API: b.s.URL, Server: "https://" + githubtest.Host, Token: githubtest.Token, Transport: transport})
	if err != nil {
		b.t.Fatal(err)
	}
	return ghexec.New(c, o)
}

var serial atomic.Int64

func (b bench) job() executors.Job {
	return executors.Job{
		ID: fmt.Sprintf("0f8fad5b-d9cb-469f-a165-%012x", serial.Add(1)), Repository: b.r.Remote(), HeadSHA: head, Ref: "refs/pull/7/head",
		Policy: route.Policy{Name: "unit-code", Tier: 1}, Timeout: time.Minute, StartedAt: time.Now(),
	}
}

func (b bench) begin(e executors.Executor, job *executors.Job) {
	b.t.Helper()
	started, err := e.Start(b.t.Context(), *job)
	if err != nil {
		b.t.Fatalf("start: %v", err)
	}
	job.ExternalID, job.ExternalURL = started.ExternalID, started.ExternalURL
}

// await polls Check until the job has ended.
func (b bench) await(e executors.Executor, job executors.Job) executors.Outcome {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := e.Check(ctx, job)
		if err != nil {
			b.t.Fatalf("check: %v", err)
		}
		if out != nil {
			return *out
		}
		<-tick.C
	}
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		github string
		accept []string
		want   executors.Conclusion
	}{
		{"success", nil, executors.Success},
		{"failure", nil, executors.Failure},
		{"startup_failure", nil, executors.Failure},
		{"timed_out", nil, executors.TimedOut},
		{"cancelled", nil, executors.Cancelled},
		{"skipped", nil, executors.Blocked},
		{"neutral", nil, executors.Blocked},
		{"stale", nil, executors.Blocked},
		{"action_required", nil, executors.Blocked},
		{"skipped", []string{"skipped"}, executors.Success},
		{"neutral", []string{"skipped"}, executors.Blocked},
		{"neutral", []string{"neutral"}, executors.Success},
		{"failure", []string{"failure"}, executors.Failure},
		{"cancelled", []string{"cancelled"}, executors.Cancelled},
		{"", []string{""}, executors.Blocked},
	} {
		t.Run(c.github+fmt.Sprint(c.accept), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, githubtest.Workflow{Script: func(map[string]string) githubtest.Script { return githubtest.Script{Conclusion: c.github} }})
			e, job := b.executor(ghexec.Options{}), b.job()
			job.Policy.AcceptConclusions = c.accept
			b.begin(e, &job)
			out := b.await(e, job)
			if out.Conclusion != c.want || (out.Conclusion != executors.Success) != (out.Reason != "") || out.ExternalURL == "" {
				t.Errorf("got %+v, want %s", out, c.want)
			}
		})
	}
}

// TestGreenWithoutAnyJob: a run whose every job was skipped is green at GitHub and verified nothing.
func TestGreenWithoutAnyJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{Script: func(map[string]string) githubtest.Script {
		return githubtest.Script{Conclusion: "success", Jobs: []githubtest.Job{{Name: "build", Conclusion: "skipped"}, {Name: "test", Conclusion: "skipped"}}}
	}})
	e, job := b.executor(ghexec.Options{}), b.job()
	b.begin(e, &job)
	if out := b.await(e, job); out.Conclusion != executors.Blocked {
		t.Errorf("got %+v", out)
	}
}

func TestReportNamesWhatFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{Script: func(map[string]string) githubtest.Script {
		return githubtest.Script{Conclusion: "failure", Jobs: []githubtest.Job{
			{Name: "lint", Conclusion: "success"}, {Name: "test", Conclusion: "failure", Steps: []githubtest.Job{{Name: "checkout", Conclusion: "success"}, {Name: "go test", Conclusion: "failure"}}},
		}}
	}})
	e, job := b.executor(ghexec.Options{}), b.job()
	b.begin(e, &job)
	out := b.await(e, job)
	if !strings.Contains(out.Reason, `job "test", step "go test"`) || !strings.Contains(out.Output, "go test: failure") || !strings.Contains(out.Output, "/job/") {
		t.Errorf("reason %q\noutput %s", out.Reason, out.Output)
	}
	if in := b.r.Runs()[0].Inputs; in["sha"] != head || in["ref"] != job.Ref || in["tier"] != "1" || in["policy"] != "unit-code" || in["correlation_id"] != job.ID {
		t.Errorf("inputs %v", in)
	}
}

// TestCompletionIsFoundWithoutAWebhook: nothing here listens to webhooks at all; Check alone finds the end.
func TestCompletionIsFoundWithoutAWebhook(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{NoRunDetails: true, Script: func(map[string]string) githubtest.Script { return githubtest.Script{Hold: true} }})
	e, job := b.executor(ghexec.Options{}), b.job()
	b.begin(e, &job)
	if out, err := e.Check(t.Context(), job); out != nil || err != nil {
		t.Fatalf("while it runs: %+v, %v", out, err)
	}
	b.r.Finish(b.r.Runs()[0].ID, "success")
	if out := b.await(e, job); out.Conclusion != executors.Success {
		t.Errorf("got %+v", out)
	}
}

// TestConnectionCutAfterTheDispatch: GitHub took the dispatch and nobody heard; there is one run, and it is found.
func TestConnectionCutAfterTheDispatch(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{
		"cut":         {Operation: dispatches, Times: 1, Cut: true, After: true},
		"bad gateway": {Operation: dispatches, Times: 1, Status: http.StatusBadGateway, Body: `{}`, After: true},
	} {
		for _, lag := range []time.Duration{0, 300 * time.Millisecond} {
			t.Run(fmt.Sprint(name, " lag ", lag), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, githubtest.Workflow{Lag: lag})
				b.s.Fail(fault)
				e, job := b.executor(ghexec.Options{}), b.job()
				for range 5 {
					again := job
					b.begin(e, &again)
				}
				crashed := b.executor(ghexec.Options{}) // knows nothing of the first
				job.StartedAt = time.Now().Add(-20 * time.Second)
				b.begin(crashed, &job)
				if out := b.await(crashed, job); out.Conclusion != executors.Success {
					t.Errorf("got %+v", out)
				}
				if n := b.s.Calls(dispatches); n != 1 || len(b.r.Runs()) != 1 {
					t.Errorf("%d dispatches, %d runs", n, len(b.r.Runs()))
				}
			})
		}
	}
}

// TestConnectionCutBeforeTheDispatch: nothing came of it, so the job is lost once a run would have shown, and not before.
func TestConnectionCutBeforeTheDispatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{})
	b.s.Fail(githubtest.Fault{Operation: dispatches, Times: 1, Cut: true})
	now := time.Now()
	e, job := b.executor(ghexec.Options{Now: func() time.Time { return now }}), b.job()
	b.begin(e, &job)
	if out, err := e.Check(t.Context(), job); out != nil || err != nil {
		t.Fatalf("at once: %+v, %v", out, err)
	}
	if err := e.Cancel(t.Context(), job); err == nil {
		t.Error("a run that may still show is said to be cancelled")
	}
	now = now.Add(2 * time.Minute)
	if out, err := e.Check(t.Context(), job); !errors.Is(err, executors.ErrLost) {
		t.Errorf("later: %+v, %v", out, err)
	}
	if n := b.s.Calls(dispatches); n != 1 {
		t.Errorf("%d dispatches", n)
	}
	retried := b.job()
	retried.StartedAt = now
	b.begin(e, &retried)
	if out := b.await(e, retried); out.Conclusion != executors.Success {
		t.Errorf("the next attempt: %+v", out)
	}
}

// TestGitHubIsDown: an answer that cannot be had is never an outcome.
func TestGitHubIsDown(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{})
	e, job := b.executor(ghexec.Options{}), b.job()
	b.begin(e, &job)
	b.s.Fail(githubtest.Fault{Operation: reads, Times: 2, Status: http.StatusServiceUnavailable, Body: `{}`})
	for range 2 {
		if out, err := e.Check(t.Context(), job); err == nil || out != nil || errors.Is(err, executors.ErrLost) {
			t.Errorf("got %+v, %v", out, err)
		}
	}
	if out := b.await(e, job); out.Conclusion != executors.Success {
		t.Errorf("afterwards: %+v", out)
	}
}

// TestRateLimitOnDispatch: nothing was begun, no attempt is used up, and the dispatch happens when the limit is over.
func TestRateLimitOnDispatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{})
	b.s.Fail(githubtest.SecondaryLimit(dispatches, 1, time.Second))
	e, job := b.executor(ghexec.Options{}), b.job()
	b.begin(e, &job)
	if len(b.r.Runs()) != 0 {
		t.Fatal("it was dispatched")
	}
	if out := b.await(e, job); out.Conclusion != executors.Success || len(b.r.Runs()) != 1 {
		t.Errorf("%+v with %d runs", out, len(b.r.Runs()))
	}
	cancelled := b.job()
	b.s.Fail(githubtest.SecondaryLimit(dispatches, 1, time.Second))
	b.begin(e, &cancelled)
	if err := e.Cancel(t.Context(), cancelled); err != nil {
		t.Fatal(err)
	}
	if out, err := e.Check(t.Context(), cancelled); out != nil || len(b.r.Runs()) != 1 {
		t.Errorf("a cancelled job was dispatched: %+v, %v", out, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workflow githubtest.Workflow
		change   func(*executors.Job)
	}{
		"no such workflow": {change: func(j *executors.Job) { j.Policy.Workflow = "absent.yml" }},
		"no such input":    {workflow: githubtest.Workflow{Inputs: []string{"sha"}}},
		"no such host":     {change: func(j *executors.Job) { j.Repository = "gitlab.com/acme/shop" }},
		"a path":           {change: func(j *executors.Job) { j.Policy.Workflow = "../../x.yml" }},
		"from a fork":      {change: func(j *executors.Job) { j.Fork = true }},
		"no commit":        {change: func(j *executors.Job) { j.HeadSHA = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.workflow)
			e, job := b.executor(ghexec.Options{}), b.job()
			if c.change != nil {
				c.change(&job)
			}
			if got, err := e.Start(t.Context(), job); err == nil {
				t.Errorf("started as %+v", got)
			}
			if len(b.r.Runs()) != 0 {
				t.Error("something runs")
			}
		})
	}
	none := ghexec.New(nil, ghexec.Options{})
	if err := none.Available(t.Context(), executors.Job{HeadSHA: head}); err == nil {
		t.Error("available without credentials")
	}
}

// TestForks: a change from a fork runs only the workflow that was named for forks.
func TestForks(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{File: "forks.yml"})
	e, job := b.executor(ghexec.Options{ForkWorkflow: "forks.yml"}), b.job()
	job.Fork, job.Policy.Workflow = true, "secrets.yml"
	b.begin(e, &job)
	if out := b.await(e, job); out.Conclusion != executors.Success || b.r.Runs()[0].File != "forks.yml" {
		t.Errorf("got %+v", out)
	}
}

// TestForeignRunsDoNotCount: whoever may dispatch can repeat an id with a commit that passes.
func TestForeignRunsDoNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{NoRunDetails: true})
	job := b.job()
	b.r.Dispatch(ghexec.DefaultWorkflow, map[string]string{"correlation_id": job.ID, "sha": strings.Repeat("b", 40)})
	now := time.Now().Add(time.Second)
	e := b.executor(ghexec.Options{Now: func() time.Time { return now }})
	if out, err := e.Check(t.Context(), job); out != nil || err != nil {
		t.Errorf("another commit's run counts: %+v, %v", out, err)
	}
	b.begin(e, &job)
	out := b.await(e, job)
	if runs := b.r.Runs(); out.Conclusion != executors.Success || !strings.HasSuffix(out.ExternalURL, fmt.Sprint(runs[1].ID)) {
		t.Errorf("got %+v of %+v", out, runs)
	}
}

// TestRunAgainInThePage: while a person runs it again there is no outcome; then the new attempt's counts.
func TestRunAgainInThePage(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{Script: func(map[string]string) githubtest.Script { return githubtest.Script{Hold: true} }})
	e, job := b.executor(ghexec.Options{}), b.job()
	b.begin(e, &job)
	id := b.r.Runs()[0].ID
	b.r.Finish(id, "failure")
	b.r.Rerun(id, githubtest.Script{Hold: true})
	if out, err := e.Check(t.Context(), job); out != nil || err != nil {
		t.Fatalf("while it runs again: %+v, %v", out, err)
	}
	b.r.Finish(id, "success")
	if out := b.await(e, job); out.Conclusion != executors.Success || !strings.Contains(out.Output, "attempt 2") {
		t.Errorf("got %+v", out)
	}
}

// TestNoMachineTakesIt: a run that never left GitHub's queue is the place's fault.
func TestNoMachineTakesIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{Script: func(map[string]string) githubtest.Script { return githubtest.Script{Hold: true, Queued: true} }})
	e, job := b.executor(ghexec.Options{}), b.job()
	b.begin(e, &job)
	job.StartedAt = job.StartedAt.Add(-2 * time.Minute)
	if out := b.await(e, job); out.Conclusion != executors.InfraError {
		t.Errorf("got %+v", out)
	}
}

// TestManyRuns: the run is found among more than a page of others.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, githubtest.Workflow{NoRunDetails: true})
	e, job := b.executor(ghexec.Options{}), b.job()
	b.s.Fail(githubtest.Fault{Operation: lists, Times: 1, Status: http.StatusBadGateway, Body: `{}`})
	b.begin(e, &job)
	for range 250 {
		b.r.Dispatch(ghexec.DefaultWorkflow, map[string]string{"correlation_id": b.job().ID, "sha": head})
	}
	if out := b.await(b.executor(ghexec.Options{}), job); out.Conclusion != executors.Success {
		t.Errorf("got %+v", out)
	}
}
