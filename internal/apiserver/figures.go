package apiserver

import (
	"context"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
)

const (
	figuresAge  = 10 * time.Second // how old figures may be
	figuresTime = 3 * time.Second  // for the database to answer
)

// figures are read when somebody asks for the metrics and those of before are old. While the database does not answer the
// last ones stay, and coord_figures_age_seconds grows.
type figures struct {
	store *coord.Store
	mu    sync.Mutex
	last  coord.Figures
	asked time.Time
	good  time.Time
}

func (f *figures) read() coord.Figures {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.asked) < figuresAge {
		return f.last
	}
	f.asked = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), figuresTime)
	defer cancel()
	if now, err := f.store.Figures(ctx); err == nil {
		f.last, f.good = now, time.Now()
	}
	return f.last
}

func (f *figures) age() float64 {
	f.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.good).Seconds()
}

// watchFigures adds what stands still to the metrics.
func (s *server) watchFigures() {
	f := &figures{store: s.store, good: time.Now()}
	gauge := func(name, help string, get func(coord.Figures) float64) {
		s.metrics.Gauge(name, help, func() float64 { return get(f.read()) })
	}
	s.metrics.Gauge("coord_figures_age_seconds", "Age of the figures below; they are older than 10 s while the database does not answer.", f.age)
	gauge("coord_locks", "Locks that are held.", func(f coord.Figures) float64 { return f.Locks })
	gauge("coord_locks_overdue", "Locks that expired more than 30 s ago and are still there: no sweep runs.", func(f coord.Figures) float64 { return f.LocksOverdue })
	gauge("coord_lock_oldest_seconds", "How long the oldest lock has been held.", func(f coord.Figures) float64 { return f.LockOldest })
	gauge("coord_tasks_ready", "Tasks that wait for an agent.", func(f coord.Figures) float64 { return f.TasksReady })
	gauge("coord_task_oldest_seconds", "Age of the oldest task that waits for an agent.", func(f coord.Figures) float64 { return f.TaskOldest })
	gauge("coord_runs_waiting", "Runs that wait for a runner.", func(f coord.Figures) float64 { return f.RunsWaiting })
	gauge("coord_run_oldest_seconds", "Age of the oldest run that waits for a runner.", func(f coord.Figures) float64 { return f.RunOldest })
	gauge("coord_runners", "Registered runners.", func(f coord.Figures) float64 { return f.Runners })
	gauge("coord_runners_silent", "Runners not heard of for RUNNER_STALE_THRESHOLD.", func(f coord.Figures) float64 { return f.RunnersSilent })
	gauge("coord_approvals_waiting", "Approvals that people are asked for.", func(f coord.Figures) float64 { return f.Approvals })
	gauge("coord_approval_oldest_seconds", "How long the oldest approval has been asked for.", func(f coord.Figures) float64 { return f.ApprovalOldest })
	gauge("coord_verdicts_failed", "Changesets whose verification failed within the last hour.", func(f coord.Figures) float64 { return f.VerdictsFailed })
	gauge("coord_outbox_waiting", "Statuses and notifications that the gateway has not sent yet.", func(f coord.Figures) float64 { return f.Outbox })
	gauge("coord_deliveries_waiting", "Webhook deliveries that the gateway has not worked on yet.", func(f coord.Figures) float64 { return f.DeliveriesAwait })
}
