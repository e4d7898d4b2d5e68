package coord

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// VerificationStatus reads where a commit stands. Found false is an answer: nobody handed it over.
func (s *Store) VerificationStatus(ctx context.Context, c ident.Caller, in client.VerificationStatus) (client.VerificationState, error) {
	return reply[client.VerificationState](ctx, s, `select coord.verification_status($1, nullif($2, ''), nullif($3, '')::uuid, nullif($4, ''), nullif($5, '')::uuid)`,
		c.ProjectID, c.Agent, in.ChangesetID, in.HeadSHA, in.TaskID)
}

// SweepVerdicts gives back tasks whose verdict never comes, at most limit; those whose verdict came unnoticed are settled.
func (s *Store) SweepVerdicts(ctx context.Context, limit int) (settled int, err error) {
	out, err := act[struct {
		Settled int `json:"settled"`
	}](ctx, s, `select coord.sweep_verdicts($1)`, limit)
	return out.Settled, err
}

// RecordedViolations are the paths that an agent changed in the last day while somebody else held them, as its hooks
// reported.
func (s *Store) RecordedViolations(ctx context.Context, project int64, agent string, paths []string) ([]client.LockViolation, error) {
	if agent == "" || len(paths) == 0 {
		return nil, nil
	}
	return reply[[]client.LockViolation](ctx, s, `select coord.recorded_violations($1, $2, $3, 24)`, project, agent, paths)
}
