package github

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

const (
	// DefaultWorkflow is dispatched for policies that name none.
	DefaultWorkflow = "verify.yml"
	// DefaultSettle is how long a dispatched run may take to show in GitHub's list.
	DefaultSettle = time.Minute
	// skew covers a clock of ours that goes ahead of GitHub's.
	skew = 2 * time.Minute
	// fresh is how soon after its intent was stored a job that this process has not seen counts as never begun.
	fresh = 10 * time.Second
	// remembered is how long a job's dispatch is kept in mind; no job lives longer.
	remembered = 24 * time.Hour
)

// Options are what may differ between installations. The zero value means the defaults.
type Options struct {
	Workflow string // for policies that name none; DefaultWorkflow
	// ForkWorkflow is dispatched for changes from forks; "" refuses them. It must use neither secrets nor caches: runs on
	// the default branch may write to caches that every later run reads.
	ForkWorkflow string
	Settle       time.Duration // DefaultSettle
	Now          func() time.Time
}

// Executor verifies by GitHub Actions.
type Executor struct {
	actions Actions
	options Options

	mu   sync.Mutex
	jobs map[string]memory // by Job.ID; a help, never the truth
}

// memory is what this process knows of a job.
type memory struct {
	at    time.Time
	asked bool  // a dispatch left this process and was not refused
	held  bool  // GitHub asked to wait before anything was dispatched; Check tries again
	runID int64 // 0: unknown
}

// New makes an executor. actions nil: GitHub is not configured, and Available says so.
func New(actions Actions, options Options) *Executor {
	if options.Workflow == "" {
		options.Workflow = DefaultWorkflow
	}
	if options.Settle <= 0 {
		options.Settle = DefaultSettle
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Executor{actions: actions, options: options, jobs: map[string]memory{}}
}

// Name implements executors.Executor.
func (e *Executor) Name() string { return "github" }

var workflowName = regexp.MustCompile(`^(?:[0-9]+|[A-Za-z0-9_][A-Za-z0-9_. -]*\.ya?ml)$`)

// Available implements executors.Executor.
func (e *Executor) Available(_ context.Context, job executors.Job) error {
	switch {
	case e.actions == nil:
		return errors.New("no GitHub credentials are configured; set GATEWAY_GITHUB_TOKEN, or GITHUB_APP_ID with its private key")
	case job.HeadSHA == "":
		return errors.New("the change names no commit that GitHub Actions could check out")
	case job.Fork && e.options.ForkWorkflow == "":
		return errors.New("changes from forks are not run in GitHub Actions here; set GITHUB_FORK_WORKFLOW_FILE to a workflow without secrets and caches")
	case !workflowName.MatchString(e.workflow(job)):
		return fmt.Errorf("the policy's workflow %q is no file name such as %s", e.workflow(job), DefaultWorkflow)
	}
	return nil
}

func (e *Executor) workflow(job executors.Job) string {
	switch {
	case job.Fork:
		return e.options.ForkWorkflow
	case job.Policy.Workflow != "":
		return strings.TrimPrefix(job.Policy.Workflow, ".github/workflows/")
	default:
		return e.options.Workflow
	}
}

// Start implements executors.Executor. Started carries no id when GitHub did not tell one; Check finds the run then.
func (e *Executor) Start(ctx context.Context, job executors.Job) (executors.Started, error) {
	if job.ExternalID != "" {
		return executors.Started{ExternalID: job.ExternalID, ExternalURL: job.ExternalURL}, nil
	}
	if err := e.Available(ctx, job); err != nil {
		return executors.Started{}, err
	}
	if e.take(job) {
		return e.dispatch(ctx, job)
	}
	// Begun before, by this process or by one that was killed: look, and never dispatch again under this id.
	run, err := e.find(ctx, job)
	if err != nil {
		return executors.Started{}, fmt.Errorf("looking for an earlier run of this job: %w", err)
	}
	if run == nil {
		return executors.Started{}, nil
	}
	return started(*run), nil
}

// take says whether nobody can have dispatched the job yet, and remembers that this call does.
func (e *Executor) take(job executors.Job) bool {
	now := e.options.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, m := range e.jobs {
		if now.Sub(m.at) > remembered {
			delete(e.jobs, id)
		}
	}
	m, known := e.jobs[job.ID]
	if m.asked || !known && !job.StartedAt.IsZero() && now.Sub(job.StartedAt) > fresh {
		return false
	}
	e.jobs[job.ID] = memory{at: now, asked: true}
	return true
}

func (e *Executor) memory(job string) memory {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.jobs[job]
}

func (e *Executor) remember(job string, change func(*memory)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.jobs[job]
	if m.at.IsZero() {
		m.at = e.options.Now()
	}
	change(&m)
	e.jobs[job] = m
}

func (e *Executor) dispatch(ctx context.Context, job executors.Job) (executors.Started, error) {
	run, err := e.actions.Dispatch(ctx, job.Repository, e.workflow(job), map[string]string{
		"sha": job.HeadSHA, "ref": job.Ref, "tier": strconv.Itoa(job.Policy.Tier), "policy": job.Policy.Name, "correlation_id": job.ID,
	})
	switch {
	case errors.Is(err, ErrLimited):
		// A rate limit says nothing about the change and must not use up its attempts.
		e.remember(job.ID, func(m *memory) { m.asked, m.held = false, true })
		return executors.Started{}, nil
	case errors.Is(err, ErrRefused):
		e.remember(job.ID, func(m *memory) { m.asked, m.held = false, false })
		return executors.Started{}, err
	}
	e.remember(job.ID, func(m *memory) { m.asked, m.held = true, false })
	if err == nil && run.ID != 0 {
		e.remember(job.ID, func(m *memory) { m.runID = run.ID })
		return started(run), nil
	}
	// Taken without a word of which run it is, or perhaps not taken: the title tells, now or at the next Check.
	if found, err := e.find(ctx, job); err == nil && found != nil {
		return started(*found), nil
	}
	return executors.Started{}, nil
}

func started(run Run) executors.Started {
	return executors.Started{ExternalID: strconv.FormatInt(run.ID, 10), ExternalURL: run.URL}
}

var commitName = regexp.MustCompile(`\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b`)

// find returns the run whose title carries the job's id, or nil.
func (e *Executor) find(ctx context.Context, job executors.Job) (*Run, error) {
	since := job.StartedAt
	if since.IsZero() {
		since = e.options.Now().Add(-remembered)
	}
	runs, err := e.actions.Find(ctx, job.Repository, e.workflow(job), since.Add(-skew))
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		title := strings.ToLower(run.Title)
		if !strings.Contains(title, strings.ToLower(job.ID)) {
			continue
		}
		// Whoever may dispatch can repeat an id that he saw, with a commit that passes.
		if named := commitName.FindAllString(title, -1); len(named) > 0 && !slices.Contains(named, strings.ToLower(job.HeadSHA)) {
			continue
		}
		e.remember(job.ID, func(m *memory) { m.asked, m.runID = true, run.ID })
		return &run, nil
	}
	return nil, nil
}

// run reads the job's run; nil without error: it has not shown yet.
func (e *Executor) run(ctx context.Context, job executors.Job) (*Run, error) {
	id, err := strconv.ParseInt(job.ExternalID, 10, 64)
	if job.ExternalID == "" {
		id, err = e.memory(job.ID).runID, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %q is no id of a workflow run", executors.ErrLost, job.ExternalID)
	}
	if id == 0 {
		run, err := e.find(ctx, job)
		if err != nil || run != nil {
			return run, err
		}
		if !job.StartedAt.IsZero() && e.options.Now().Sub(job.StartedAt) < e.options.Settle {
			return nil, nil
		}
		return nil, fmt.Errorf("%w: GitHub shows no run of %s with the id %s", executors.ErrLost, e.workflow(job), job.ID)
	}
	run, err := e.actions.Run(ctx, job.Repository, id)
	if errors.Is(err, ErrNoRun) {
		return nil, fmt.Errorf("%w: %w", executors.ErrLost, err)
	}
	if err != nil {
		return nil, err
	}
	return &run, nil
}

// Check implements executors.Executor.
func (e *Executor) Check(ctx context.Context, job executors.Job) (*executors.Outcome, error) {
	if e.actions == nil {
		return nil, e.Available(ctx, job)
	}
	if e.memory(job.ID).held {
		_, err := e.dispatch(ctx, job)
		if errors.Is(err, ErrRefused) {
			return &executors.Outcome{Conclusion: executors.InfraError, Reason: err.Error(), CompletedAt: e.options.Now()}, nil
		}
		return nil, err
	}
	run, err := e.run(ctx, job)
	if err != nil || run == nil {
		return nil, err
	}
	if run.Status != "completed" {
		return e.overdue(ctx, job, *run)
	}
	steps, err := e.actions.Jobs(ctx, job.Repository, run.ID, max(run.Attempt, 1))
	if err != nil && !errors.Is(err, ErrNoRun) {
		return nil, fmt.Errorf("reading the jobs of run %d: %w", run.ID, err)
	}
	return outcome(*run, steps, job.Policy.AcceptConclusions), nil
}

// overdue ends a run that has had its time. One that no machine of GitHub's took was not slow, it was never run.
func (e *Executor) overdue(ctx context.Context, job executors.Job, run Run) (*executors.Outcome, error) {
	now := e.options.Now()
	if job.Timeout <= 0 || job.StartedAt.IsZero() || now.Sub(job.StartedAt) < job.Timeout {
		return nil, nil
	}
	if err := e.actions.Cancel(ctx, job.Repository, run.ID); err != nil {
		return nil, err
	}
	o := &executors.Outcome{
		Conclusion: executors.TimedOut, Reason: fmt.Sprintf("The workflow was not done within %s.", job.Timeout), ExternalURL: run.URL,
		StartedAt: run.StartedAt, CompletedAt: now, Output: report(run, nil),
	}
	if run.Status != "in_progress" {
		o.Conclusion, o.Reason = executors.InfraError, fmt.Sprintf("The workflow was still %s after %s: GitHub began no job of it.", run.Status, job.Timeout)
	}
	return o, nil
}

// Cancel implements executors.Executor.
func (e *Executor) Cancel(ctx context.Context, job executors.Job) error {
	if e.actions == nil {
		return nil
	}
	if e.memory(job.ID).held {
		e.remember(job.ID, func(m *memory) { m.held = false })
		return nil
	}
	run, err := e.run(ctx, job)
	switch {
	case errors.Is(err, executors.ErrLost):
		return nil
	case err != nil:
		return err
	case run == nil:
		return fmt.Errorf("the workflow run of job %s has not shown yet; it can be cancelled once it has", job.ID)
	case run.Status == "completed":
		return nil
	}
	return e.actions.Cancel(ctx, job.Repository, run.ID)
}
