package apiserver

import (
	"context"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

const (
	sweepBusy   = time.Second            // pause while sweeps find something
	sweepIdle   = 5 * time.Second        // pause while they find nothing: the one thing an idle server asks
	sweepJitter = 500 * time.Millisecond // so that processes on one database spread

	retentionIdle  = 10 * time.Minute
	budgetsEvery   = 15 * time.Second // what stopped goes on so soon after its period's end
	budgetsLimit   = 500
	retentionLimit = 2000 // rows of each kind in one sweep
)

// loops are the periodic workers of this process. Every one is bounded, idempotent and safe beside the same worker
// of another process.
func (s *server) loops() []loop.Loop {
	return []loop.Loop{{
		Name: "sweep", Every: sweepBusy, Idle: sweepIdle, Jitter: sweepJitter, Report: s.metrics.Ran, Log: s.cfg.Log,
		Do: func(ctx context.Context) (int, error) {
			did, err := s.store.Sweep(ctx)
			return did.SessionsLapsed + did.LocksExpired + did.TasksRequeued + did.TasksReadied + did.MemoriesFolded, err
		},
	}, {
		Name: "runs", Every: sweepBusy, Idle: sweepIdle, Jitter: sweepJitter, Report: s.metrics.Ran, Log: s.cfg.Log, Do: s.sweepRuns,
	}, {
		Name: "budgets", Every: budgetsEvery, Idle: budgetsEvery, Jitter: sweepJitter, Report: s.metrics.Ran, Log: s.cfg.Log,
		Do: func(ctx context.Context) (int, error) { return s.store.SweepBudgets(ctx, budgetsLimit) },
	}, {
		Name: "retention", Every: sweepBusy, Idle: retentionIdle, Jitter: time.Minute, Report: s.metrics.Ran, Log: s.cfg.Log,
		Do: func(ctx context.Context) (int, error) {
			return s.store.SweepRetention(ctx, s.cfg.RetentionDays, retentionLimit)
		},
	}}
}
