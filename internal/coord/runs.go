package coord

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// RunQueue is the number of the runs in the claiming engine; they wait under project 0.
const RunQueue = 2

// CreateRun starts or resumes a session. Codes: not_found (agent, session, parent), conflict (session id taken),
// invalid, exhausted (too many children).
func (s *Store) CreateRun(ctx context.Context, c ident.Caller, in client.CreateRun) (client.CreatedRun, error) {
	o := s.Orchestration()
	raw, err := members(in)
	if err != nil {
		return client.CreatedRun{}, err
	}
	limits, err := json.Marshal(map[string]int{"no_match": wholeSeconds(o.NoMatch), "max_depth": o.MaxDepth, "max_children": o.MaxChildren})
	if err != nil {
		return client.CreatedRun{}, err
	}
	out, err := act[client.CreatedRun](ctx, s, `select coord.create_run($1, $2, $3, $4, $5)`, c.ProjectID, only(c), c.By, raw, limits)
	if err == nil {
		s.KeepTrace(ctx, "run", out.RunID)
	}
	return out, err
}

// GetRun reads one run. Codes: not_found.
func (s *Store) GetRun(ctx context.Context, c ident.Caller, in client.RunRef) (client.Run, error) {
	return reply[client.Run](ctx, s, `select coord.get_run($1, $2)`, only(c), in.RunID)
}

// ListRuns lists the project's runs.
func (s *Store) ListRuns(ctx context.Context, c ident.Caller, in client.ListRuns) (client.Runs, error) {
	filter, err := members(in)
	if err != nil {
		return client.Runs{}, err
	}
	return reply[client.Runs](ctx, s, `select coord.list_runs($1, $2, $3, nullif($4, ''), $5)`, c.ProjectID, filter, cmp.Or(in.Limit, 10_000), in.After, in.Newest)
}

// StopRun stops a run. Codes: not_found, invalid (400: it is over).
func (s *Store) StopRun(ctx context.Context, c ident.Caller, in client.RunRef) (client.StoppedRun, error) {
	return act[client.StoppedRun](ctx, s, `select coord.stop_run($1, $2, $3)`, only(c), c.By, in.RunID)
}

// WhyRun explains where a run stands. Codes: not_found.
func (s *Store) WhyRun(ctx context.Context, c ident.Caller, in client.RunRef) (client.RunWhy, error) {
	return reply[client.RunWhy](ctx, s, `select coord.why_run($1, $2, $3)`, only(c), in.RunID, wholeSeconds(s.Orchestration().Stale))
}

// ReportRun takes a runner's report: kind is started, completed, failed (text: the error) or stopped (text: the signal).
// Codes: unauthenticated (unknown runner), not_found, conflict (not its run, or it came too late).
func (s *Store) ReportRun(ctx context.Context, c ident.Caller, runner, run, kind, text string) (client.Ok, error) {
	return act[client.Ok](ctx, s, `select coord.report_run($1, $2, $3, $4, $5, nullif($6, ''), $7)`,
		only(c), c.By, runner, run, kind, text, wholeSeconds(s.Orchestration().Stale))
}

// SweepRuns does what is due with runs and runners, at most limit of each kind, and delivers callbacks.
func (s *Store) SweepRuns(ctx context.Context, limit int) (changed int, err error) {
	o := s.Orchestration()
	out, err := act[struct {
		Changed int `json:"changed"`
	}](ctx, s, `select coord.sweep_runs($1, $2, $3, $4)`, wholeSeconds(o.Stale), wholeSeconds(o.Remove), wholeSeconds(o.NoMatch), limit)
	return out.Changed, err
}

// DeliverCallbacks tells at most limit idle parents of what their children ended with.
func (s *Store) DeliverCallbacks(ctx context.Context, limit int) (delivered int, err error) {
	out, err := act[struct {
		Delivered int `json:"delivered"`
	}](ctx, s, `select coord.deliver_callbacks($1, $2)`, wholeSeconds(s.Orchestration().NoMatch), limit)
	return out.Delivered, err
}

// SweepRetention deletes what ended more than days ago and nothing needs: at most limit rows of each kind. Zero days
// delete nothing.
func (s *Store) SweepRetention(ctx context.Context, days, limit int) (deleted int, err error) {
	out, err := act[struct {
		Deleted int `json:"deleted"`
	}](ctx, s, `select coord.sweep_retention($1, $2)`, days, limit)
	return out.Deleted, err
}

// RecoverRuns takes up runs whose runner is gone, at the start of a coordinator: mode is stale, all or none. Codes:
// invalid.
func (s *Store) RecoverRuns(ctx context.Context, mode string) (recovered int, err error) {
	if mode != "stale" && mode != "all" && mode != "none" {
		return 0, fault.Invalid("", "RUN_RECOVERY_MODE must be stale, all or none", "set one of them, or leave it out")
	}
	for {
		out, err := act[struct {
			Recovered int `json:"recovered"`
		}](ctx, s, `select coord.recover_runs($1, $2, $3)`, mode, wholeSeconds(s.Orchestration().Stale), 200)
		recovered += out.Recovered
		if err != nil || out.Recovered == 0 {
			return recovered, err
		}
	}
}
