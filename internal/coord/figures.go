package coord

import "context"

// Figures are what an operator watches: how much there is, and how long the oldest has been standing there, in seconds.
type Figures struct {
	Locks           float64 `json:"locks"`
	LocksOverdue    float64 `json:"locks_overdue"` // expired for 30 s and still there: no sweep runs
	LockOldest      float64 `json:"lock_oldest_seconds"`
	TasksReady      float64 `json:"tasks_ready"` // counted up to 100,000
	TaskOldest      float64 `json:"task_oldest_seconds"`
	RunsWaiting     float64 `json:"runs_waiting"` // counted up to 100,000
	RunOldest       float64 `json:"run_oldest_seconds"`
	Runners         float64 `json:"runners"`
	RunnersSilent   float64 `json:"runners_silent"`
	Approvals       float64 `json:"approvals_waiting"`
	ApprovalOldest  float64 `json:"approval_oldest_seconds"`
	VerdictsFailed  float64 `json:"verdicts_failed"` // within the last hour
	Outbox          float64 `json:"outbox"`
	DeliveriesAwait float64 `json:"deliveries_waiting"`
}

// Figures reads them, of all projects.
func (s *Store) Figures(ctx context.Context) (Figures, error) {
	return reply[Figures](ctx, s, `select coord.figures($1)`, wholeSeconds(s.Orchestration().Stale))
}
