package coord

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// VerificationJob is a run that a gateway has under its lease. Action says what to do with it: start, check or cancel.
type VerificationJob struct {
	Action         string                    `json:"action"`
	ID             string                    `json:"id"`
	ProjectID      int64                     `json:"project_id"`
	Project        string                    `json:"project"`
	ChangesetID    string                    `json:"changeset_id"`
	Repository     string                    `json:"repository"`
	CloneURL       string                    `json:"clone_url"`
	HeadSHA        string                    `json:"head_sha"`
	BaseSHA        string                    `json:"base_sha"`
	Ref            string                    `json:"ref"`
	PullNumber     int                       `json:"pull_number"`
	Fork           bool                      `json:"fork"`
	Trust          int                       `json:"trust"`
	Truncated      bool                      `json:"truncated"`
	Files          []client.ChangedFile      `json:"files"` // to start; nil otherwise
	Policy         client.VerificationPolicy `json:"policy"`
	Executor       string                    `json:"executor"`
	Attempt        int                       `json:"attempt"`
	TimeoutSeconds int                       `json:"timeout_seconds"`
	DispatchedAt   time.Time                 `json:"dispatched_at"`
	ExternalID     string                    `json:"external_id"`
	ExternalURL    string                    `json:"external_url"`
}

// Slot is what a gateway can run in one executor.
type Slot struct {
	Free         int     `json:"free"`
	CheckSeconds float64 `json:"check_seconds"` // how often a run there is looked at
}

// TakeRuns hands out runs to start and to look at, and renews the leases of all that owner has. grace is added to a run's
// own timeout before the ladder gives it up.
func (s *Store) TakeRuns(ctx context.Context, owner string, slots map[string]Slot, lease, grace time.Duration) ([]VerificationJob, error) {
	raw, err := json.Marshal(slots)
	if err != nil {
		return nil, err
	}
	return docs[VerificationJob](ctx, s, `select job from coord.take_runs($1, $2, $3, $4)`, owner, raw, wholeSeconds(lease), wholeSeconds(grace))
}

// VerificationStarted records that a run was begun; live is false when it is over already and must be ended where it runs.
func (s *Store) VerificationStarted(ctx context.Context, j VerificationJob, externalID, externalURL string) (live bool, err error) {
	out, err := reply[struct {
		Live bool `json:"live"`
	}](ctx, s, `select coord.verification_started($1, $2, $3, $4)`, j.ProjectID, j.ID, externalID, externalURL)
	return out.Live, err
}

// VerificationEnd is how a run ended.
type VerificationEnd struct {
	Conclusion    string           `json:"conclusion"`
	Reason        string           `json:"reason,omitempty"`
	ExitCode      *int             `json:"exit_code,omitempty"`
	Output        string           `json:"output,omitempty"`
	Findings      []client.Finding `json:"findings,omitempty"`
	FindingsTotal int              `json:"findings_total,omitempty"`
	ExternalURL   string           `json:"external_url,omitempty"`
	StartedAt     *time.Time       `json:"started_at,omitempty"`
	CompletedAt   *time.Time       `json:"completed_at,omitempty"`
	Cancel        bool             `json:"cancel,omitempty"` // it may still run somewhere and must be ended there
}

// VerificationEnded records how a run ended and walks its changeset on. changed is false when it was over already.
func (s *Store) VerificationEnded(ctx context.Context, project int64, run string, e VerificationEnd) (changed bool, err error) {
	out, err := acted[struct {
		Changed bool `json:"changed"`
	}](ctx, s, e, `select coord.verification_ended($1, $2, $3)`, project, run)
	return out.Changed, err
}

// LookAtRun has a run looked at now, by its own id, or by the executor's where run is "". found is false when no such run
// is on its way.
func (s *Store) LookAtRun(ctx context.Context, executor, run, external string) (found bool, err error) {
	out, err := act[struct {
		Found bool `json:"found"`
	}](ctx, s, `select coord.look_at_run($1, nullif($2, '')::uuid, nullif($3, ''))`, executor, run, external)
	return out.Found, err
}

// TakeCancels leases runs that are over and still to be ended where they run.
func (s *Store) TakeCancels(ctx context.Context, owner string, executors []string, lease time.Duration) ([]VerificationJob, error) {
	return docs[VerificationJob](ctx, s, `select job from coord.take_cancels($1, $2, $3)`, owner, executors, wholeSeconds(lease))
}

// CancelDone records that a run was ended where it runs, or (problem) that it is to be tried again.
func (s *Store) CancelDone(ctx context.Context, j VerificationJob, problem string) error {
	return exec(ctx, s, `select coord.cancel_done($1, $2, nullif($3, ''))`, j.ProjectID, j.ID, problem)
}

// SweepChangesets ends what time has ended, at most limit of each kind: runs past their deadline, runs queued for longer
// than queue, approvals that expired, changesets blocked for longer than blocked.
func (s *Store) SweepChangesets(ctx context.Context, limit int, queue, blocked time.Duration) (changed int, err error) {
	out, err := act[struct {
		Changed int `json:"changed"`
	}](ctx, s, `select coord.sweep_changesets($1, $2, $3)`, limit, wholeSeconds(queue), wholeSeconds(blocked))
	return out.Changed, err
}

// GatewayState are figures for metrics.
type GatewayState struct {
	Changesets        map[string]int `json:"changesets"` // by state, those not decided
	Runs              map[string]int `json:"runs"`       // by executor:status, those not over
	Blocked           int            `json:"blocked"`
	OldestOpenSeconds float64        `json:"oldest_open_seconds"`
	Outbox            int            `json:"outbox"`
	Waiting           int            `json:"waiting"` // deliveries
	Dead              int            `json:"dead"`
	OldestSeconds     float64        `json:"oldest_seconds"`
}

// GatewayState reads them.
func (s *Store) GatewayState(ctx context.Context) (GatewayState, error) {
	return reply[GatewayState](ctx, s, `select coord.gateway_state()`)
}
