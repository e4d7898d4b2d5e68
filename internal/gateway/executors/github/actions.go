package github

import (
	"context"
	"errors"
	"time"
)

// Actions is GitHub Actions as this executor needs it.
type Actions interface {
	// Dispatch starts a workflow on the default branch. The run is zero when GitHub took the dispatch and did not say
	// which run it became. ErrRefused and ErrLimited (wrapped) say that nothing was started; after any other error that is
	// not known.
	Dispatch(ctx context.Context, repository, workflow string, inputs map[string]string) (Run, error)
	// Find returns the dispatched runs of a workflow on the default branch that were created since then, oldest first.
	Find(ctx context.Context, repository, workflow string, since time.Time) ([]Run, error)
	// Run reads one run. ErrNoRun (wrapped): there is no such run.
	Run(ctx context.Context, repository string, id int64) (Run, error)
	// Jobs reads the jobs of one attempt of a run; at most 1000.
	Jobs(ctx context.Context, repository string, id int64, attempt int) ([]Step, error)
	// Cancel asks for a run to end; a run that has ended is no error.
	Cancel(ctx context.Context, repository string, id int64) error
}

// What Actions can answer beside "cannot tell".
var (
	// ErrRefused: GitHub understood and said no; asking again brings the same.
	ErrRefused = errors.New("GitHub refused")
	// ErrLimited: GitHub asks to wait.
	ErrLimited = errors.New("GitHub's rate limit is used up")
	// ErrNoRun: no run has this id.
	ErrNoRun = errors.New("GitHub knows no such workflow run")
)

// Run is a workflow run.
type Run struct {
	ID         int64
	Attempt    int // from 1; grows when somebody presses "Re-run"
	Title      string
	Branch     string
	Status     string // queued, in_progress, completed, waiting, …
	Conclusion string // "" until completed
	URL        string
	CreatedAt  time.Time
	StartedAt  time.Time // of the attempt
	UpdatedAt  time.Time
}

// Step is a job of a run, or a step of a job.
type Step struct {
	Name       string
	Status     string
	Conclusion string
	URL        string // of a job: page with its log
	Steps      []Step
}
