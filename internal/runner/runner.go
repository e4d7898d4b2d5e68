package runner

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Runner is one agent runner. Make it with New and run it once.
type Runner struct {
	cfg   Config
	api   *coordinator
	state *state
	wake  chan struct{} // a report was added
	slots chan struct{} // one per run that may run at once; nil: no limit

	registering chan struct{} // held by whoever registers again
	running     sync.WaitGroup
	gateway     net.Listener
	mcp         net.Listener

	mu      sync.Mutex
	reg     registered
	gen     int64           // counts registrations
	jobs    map[string]*job // by run
	tokens  map[string]*job // by gateway token
	closing bool            // no run is accepted any more
}

// New checks the configuration. Nothing is opened before Run.
func New(cfg Config) (*Runner, error) {
	if err := cfg.normalise(); err != nil {
		return nil, err
	}
	r := &Runner{
		cfg: cfg, api: newCoordinator(cfg), wake: make(chan struct{}, 1), registering: make(chan struct{}, 1),
		jobs: map[string]*job{}, tokens: map[string]*job{},
	}
	if cfg.MaxRuns > 0 {
		r.slots = make(chan struct{}, cfg.MaxRuns)
	}
	return r, nil
}

func (r *Runner) log(component string) *slog.Logger { return r.cfg.Log.With("component", component) }

// Run registers and works until ctx is done or the coordinator deregisters the runner; then it shuts down (runs are
// given Config.Drain to end, then they are ended and reported) and returns nil. It returns ErrDuplicate, ErrRefused,
// or what kept it from starting. When hurry is done the shutdown does not wait for anything: children are killed.
func (r *Runner) Run(ctx, hurry context.Context) error {
	log := r.log("agent-runner")
	var err error
	if r.state, err = openState(r.cfg); err != nil {
		return err
	}
	defer r.state.close()
	defer r.api.http.CloseIdleConnections()
	r.endLeftovers(ctx)
	log.InfoContext(ctx, "Connecting to Agent Coordinator at {url}", "url", r.cfg.CoordinatorURL)
	if err := r.register(ctx, true); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	log.InfoContext(ctx, "Registered as {runner}", "runner", r.id())
	closeDoors, err := r.openDoors(ctx)
	if err != nil {
		return err
	}
	defer closeDoors()
	r.work(ctx, hurry)
	return nil
}

// work runs the loops and, when they are to end, the shutdown: first stop claiming, then the children, then the
// reports, then the registration.
func (r *Runner) work(ctx, hurry context.Context) {
	log := r.log("agent-runner")
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	polling, stopPolling := context.WithCancel(background)
	defer stopPolling()
	context.AfterFunc(ctx, func() {
		r.close()
		stopPolling()
	})
	var loops sync.WaitGroup
	loops.Go(func() { _ = r.heartbeatLoop().Run(background) }) // it has no failure of its own
	reporting, stopReporting := context.WithCancel(background)
	defer stopReporting()
	var reporter sync.WaitGroup
	reporter.Go(func() { r.reportLoop(reporting) })
	log.InfoContext(ctx, "Runner started - waiting for runs")

	deregistered := r.pollLoop(polling)
	r.close()
	log.InfoContext(ctx, "Shutting down")
	r.endRuns(hurry)
	stopReporting()
	reporter.Wait()
	if !deregistered {
		r.leave(background, hurry)
	} else if err := r.state.change(func(s *saved) { s.RunnerID, s.Reports = "", nil }); err != nil {
		log.ErrorContext(ctx, "The state file cannot be written: {err}", "err", err)
	}
	stop()
	loops.Wait()
	log.InfoContext(ctx, "Runner stopped")
}

func (r *Runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = true
}

// endRuns waits for the runs at most Config.Drain, then ends them. hurry kills their processes.
func (r *Runner) endRuns(hurry context.Context) {
	done := make(chan struct{})
	go func() {
		r.running.Wait()
		close(done)
	}()
	drain := time.NewTimer(r.cfg.Drain)
	defer drain.Stop()
	select {
	case <-done:
		return
	case <-drain.C:
	case <-hurry.Done():
	}
	r.mu.Lock()
	for _, j := range r.jobs {
		j.stop(errShutdown)
	}
	r.mu.Unlock()
	select {
	case <-done:
		return
	case <-hurry.Done():
	}
	for _, c := range r.state.view().Runs {
		if c.PID > 0 {
			kill(c.PID)
		}
	}
	<-done
}

// leave sends the last reports and deregisters. Reports that could not be sent stay for the next start, and so does the
// registration: it is what makes them acceptable.
func (r *Runner) leave(ctx, hurry context.Context) {
	log := r.log("agent-runner")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(hurry, cancel)()
	if !r.flush(ctx) {
		log.WarnContext(ctx, "Reports are left for the next start", "reports", len(r.state.view().Reports))
		return
	}
	if err := r.api.deregister(ctx, r.id()); err != nil && status(err) != 404 {
		log.WarnContext(ctx, "Deregistering failed: {err}", "err", err)
		return
	}
	if err := r.state.change(func(s *saved) { s.RunnerID = "" }); err != nil {
		log.ErrorContext(ctx, "The state file cannot be written: {err}", "err", err)
	}
}
