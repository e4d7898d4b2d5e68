// Package executors holds the words that the gateway's ladder and the places where verification runs share. The places
// themselves are the packages below it: inline, github, e2b, ntm. A human is not among them: approvals are rows.
//
// The ladder owns the state, an executor owns nothing that must survive it. Before Start the ladder has stored the
// intent with the run's id; after a crash it calls Check with what was stored. So Start must be harmless when it is
// repeated with the same Job.ID, and Check must tell "still running" from "I cannot tell".
package executors

import (
	"context"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// Conclusion is how a run ended. Only Success is success.
type Conclusion string

// The conclusions a run can have (contracts: GitHub's skipped, neutral, stale and action_required are Blocked).
const (
	Success    Conclusion = "success"
	Failure    Conclusion = "failure"     // the change is at fault; not retried by itself
	TimedOut   Conclusion = "timed_out"   // the change used up its time
	Cancelled  Conclusion = "cancelled"   // superseded, failed fast, or stopped by a person
	InfraError Conclusion = "infra_error" // the place is at fault; retried a bounded number of times
	Blocked    Conclusion = "blocked"     // nothing could verify it; never success
)

// Job is one attempt at one policy for one changeset.
type Job struct {
	ID         string // uuid; the correlation id wherever the outside can carry one
	Changeset  string
	Project    string
	Repository string // normalised remote, such as github.com/acme/shop
	CloneURL   string // where git can fetch HeadSHA; without credentials
	HeadSHA    string
	BaseSHA    string // "" when unknown
	Ref        string // fetchable name of HeadSHA when the sha itself is not, such as refs/pull/7/head
	PullNumber int    // 0: none
	Fork       bool
	Trust      int // 0..4, of the author
	Files      []route.File
	Truncated  bool // Files is not the whole list

	Policy    route.Policy
	Attempt   int
	Timeout   time.Duration
	StartedAt time.Time

	// What an earlier Start of this same attempt reported; "" at first.
	ExternalID  string
	ExternalURL string
}

// Started is where a job went.
type Started struct {
	ExternalID  string
	ExternalURL string
}

// Finding is one thing a tool found, as in SARIF 2.1.0.
type Finding struct {
	Tool        string `json:"tool"`
	Rule        string `json:"rule"`
	Level       string `json:"level"` // none, note, warning, error
	Message     string `json:"message"`
	Path        string `json:"path"` // relative to the repository
	Line        int    `json:"line"` // 1-based; 0: the whole file
	EndLine     int    `json:"end_line,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Outcome is how a job ended, with its evidence.
type Outcome struct {
	Conclusion  Conclusion
	Reason      string // one sentence for a person; required unless Success
	ExitCode    *int
	Output      string // tail, at most MaxOutput bytes
	Findings    []Finding
	ExternalURL string
	StartedAt   time.Time
	CompletedAt time.Time
}

// MaxOutput bounds Outcome.Output, in bytes.
const MaxOutput = 64 << 10

// Executor is a place where verification runs. All methods are safe for concurrent use.
type Executor interface {
	// Name is the word policies use: inline, github, e2b, ntm.
	Name() string
	// Available says why the job cannot run here, or nil. It makes no outside call that can be saved.
	Available(ctx context.Context, job Job) error
	// Start begins the job and returns at once, or as soon as the outside has acknowledged it. Repeated with the same
	// Job.ID it finds what it began before and begins nothing. An error means nothing is known to run: the ladder records
	// infra_error and tries again, a bounded number of times.
	Start(ctx context.Context, job Job) (Started, error)
	// Check reads the truth. nil, nil: still running. ErrLost (wrapped): this executor knows nothing of the job any more.
	// Any other error: it cannot tell now, ask again later.
	Check(ctx context.Context, job Job) (*Outcome, error)
	// Cancel ends the job wherever it runs; ending what has ended is no error.
	Cancel(ctx context.Context, job Job) error
}
