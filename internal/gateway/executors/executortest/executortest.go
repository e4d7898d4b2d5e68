// Package executortest holds what every place of verification must do alike, as one suite of tests.
package executortest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// Kind is what the job's command does.
type Kind int

// The kinds of commands a place under test must be able to run.
const (
	Succeeds Kind = iota
	Fails         // the command says that the change is bad
	Hangs         // it never ends by itself
	Floods        // it prints much more than may be kept, then ends
)

// Place is one place of verification under test.
type Place struct {
	Executor executors.Executor
	// Job makes a new job of the kind, ready to start but for Timeout, which is set here.
	Job func(kind Kind) executors.Job
	// Restart gives a second instance over the same outside, as after a crash of the gateway.
	Restart func() executors.Executor
	// Ran counts how often the job's command has begun; nil: the place cannot know.
	Ran func(executors.Job) int
	// Slack is added to every bound on time: what the place itself needs.
	Slack time.Duration
}

// Run runs the suite; make is called for each test.
func Run(t *testing.T, make func(t *testing.T) Place) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Place){
		"success": success, "failure": failure, "started twice runs once": twice, "cancel ends it": cancelled,
		"time runs out": timedOut, "output is bounded": flooded, "after a restart": restarted, "unknown job": unknown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, make(t))
		})
	}
}

// NewJob makes a job with an id of its own, for a commit that git can fetch.
func NewJob(cloneURL, head string, policy route.Policy) executors.Job {
	return executors.Job{
		ID: strings.ToLower(rand.Text()), CloneURL: cloneURL, HeadSHA: head, Timeout: time.Minute, StartedAt: time.Now(), Trust: 2, Policy: policy,
	}
}

// Await polls Check until the job has ended.
func Await(t testing.TB, e executors.Executor, job executors.Job, within time.Duration) executors.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := e.Check(ctx, job)
		if err != nil && ctx.Err() == nil {
			t.Fatalf("check: %v", err)
		}
		if out != nil {
			return *out
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("job %s has no outcome after %s", job.ID, within)
		}
	}
}

// Start starts the job and notes where it went, as the ladder does.
func Start(t testing.TB, e executors.Executor, job *executors.Job) {
	t.Helper()
	started, err := e.Start(t.Context(), *job)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	job.ExternalID, job.ExternalURL = started.ExternalID, started.ExternalURL
}

func begin(t *testing.T, p Place, kind Kind, timeout time.Duration) executors.Job {
	t.Helper()
	job := p.Job(kind)
	job.Timeout, job.StartedAt = timeout, time.Now()
	if err := p.Executor.Available(t.Context(), job); err != nil {
		t.Fatalf("available: %v", err)
	}
	Start(t, p.Executor, &job)
	return job
}

func check(t *testing.T, out executors.Outcome, want executors.Conclusion) {
	t.Helper()
	if out.Conclusion != want {
		t.Errorf("conclusion %s (%s), want %s\n%s", out.Conclusion, out.Reason, want, out.Output)
	}
	if out.Conclusion != executors.Success && out.Reason == "" {
		t.Error("no reason is given")
	}
	if out.CompletedAt.IsZero() {
		t.Error("it is not said when it ended")
	}
	if len(out.Output) > executors.MaxOutput {
		t.Errorf("%d bytes of output are kept", len(out.Output))
	}
}

const patient = time.Minute

func success(t *testing.T, p Place) {
	job := begin(t, p, Succeeds, patient)
	check(t, Await(t, p.Executor, job, patient), executors.Success)
}

func failure(t *testing.T, p Place) {
	job := begin(t, p, Fails, patient)
	check(t, Await(t, p.Executor, job, patient), executors.Failure)
}

func twice(t *testing.T, p Place) {
	job := begin(t, p, Succeeds, patient)
	again := job
	Start(t, p.Executor, &again)
	check(t, Await(t, p.Executor, job, patient), executors.Success)
	Start(t, p.Executor, &again) // and once more when it has ended
	check(t, Await(t, p.Executor, again, patient), executors.Success)
	if p.Ran != nil && p.Ran(job) != 1 {
		t.Errorf("the command ran %d times", p.Ran(job))
	}
}

func cancelled(t *testing.T, p Place) {
	job := begin(t, p, Hangs, patient)
	for range 2 {
		if err := p.Executor.Cancel(t.Context(), job); err != nil {
			t.Fatalf("cancel: %v", err)
		}
	}
	check(t, Await(t, p.Executor, job, 10*time.Second+p.Slack), executors.Cancelled)
	if err := p.Executor.Cancel(t.Context(), job); err != nil {
		t.Errorf("cancelling what has ended: %v", err)
	}
}

func timedOut(t *testing.T, p Place) {
	const timeout = 2 * time.Second
	job := begin(t, p, Hangs, timeout+p.Slack)
	began := time.Now()
	check(t, Await(t, p.Executor, job, patient), executors.TimedOut)
	if took := time.Since(began); took > timeout+p.Slack+time.Second {
		t.Errorf("the verdict came after %s", took)
	}
}

func flooded(t *testing.T, p Place) {
	job := begin(t, p, Floods, patient)
	if out := Await(t, p.Executor, job, patient); len(out.Output) > executors.MaxOutput {
		t.Errorf("%d bytes of output are kept", len(out.Output))
	}
}

// restarted: another instance finds the job, or says that it is lost; it never says that it succeeded when it hangs.
func restarted(t *testing.T, p Place) {
	job := begin(t, p, Hangs, patient)
	other := p.Restart()
	out, err := other.Check(t.Context(), job)
	if err != nil && !errors.Is(err, executors.ErrLost) {
		t.Errorf("check after a restart: %v", err)
	}
	if out != nil && out.Conclusion == executors.Success {
		t.Error("what still runs is said to have succeeded")
	}
	if err := other.Cancel(t.Context(), job); err != nil {
		t.Errorf("cancel after a restart: %v", err)
	}
	if err := p.Executor.Cancel(t.Context(), job); err != nil {
		t.Errorf("cancel: %v", err)
	}
	Await(t, p.Executor, job, 10*time.Second+p.Slack)
}

func unknown(t *testing.T, p Place) {
	job := p.Job(Succeeds)
	job.Timeout, job.StartedAt = patient, time.Now()
	if out, err := p.Executor.Check(t.Context(), job); !errors.Is(err, executors.ErrLost) {
		t.Errorf("a job that never began: %v, %v", out, err)
	}
	if err := p.Executor.Cancel(t.Context(), job); err != nil {
		t.Errorf("cancelling it: %v", err)
	}
}
