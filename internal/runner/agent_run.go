package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

// Why a job ends early; the cause of its context.
var (
	errStopped  = errors.New("stopped by the coordinator")
	errShutdown = errors.New("the runner was shut down during execution")
	errTimeout  = errors.New("the run took longer than this runner allows")
	errRefused  = errors.New("the coordinator gave the run to somebody else or ended it")
)

// job is a run from its delivery to the end of its last process.
type job struct {
	run
	token   string // of its gateway URL
	ctx     context.Context
	stop    context.CancelCauseFunc
	started bool // the coordinator acknowledged the start; under the runner's lock
	span    trace.Span
}

// accept starts a delivered run, unless it is here already: delivery is at least once.
func (r *Runner) accept(ctx context.Context, rn run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobs[rn.RunID] != nil || r.closing || r.state.pending(rn.RunID) {
		r.log("poller").DebugContext(ctx, "Run {run} was delivered again", "run", rn.RunID)
		return
	}
	r.log("poller").InfoContext(ctx, "Received run {run} ({type})", "run", rn.RunID, "type", rn.Type)
	j := &job{run: rn, token: randomToken(32)}
	ctx, j.span = trace.Start(context.WithoutCancel(ctx), "run", trace.Consumer, "coord.run", rn.RunID, "coord.session", rn.SessionID, "coord.type", rn.Type,
		"coord.runner", r.cfg.Profile)
	j.ctx, j.stop = context.WithCancelCause(ctx) // it ends by its own causes
	r.jobs[rn.RunID], r.tokens[j.token] = j, j
	r.running.Go(func() { r.execute(j) })
}

// execute takes a job to its end.
func (r *Runner) execute(j *job) {
	outcome := "not started"
	defer func() { j.span.End(outcome) }()
	defer r.forget(j)
	if r.slots != nil {
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
		case <-j.ctx.Done():
			if context.Cause(j.ctx) == errStopped { //nolint:errorlint // a cause is the very value
				r.ended(j, report{Kind: "stopped", Signal: "SIGTERM"})
			}
			return // never acknowledged: its claim lapses and another runner gets it
		}
	}
	if end, ok := r.perform(j); ok {
		if outcome = end.Kind; outcome == "completed" {
			outcome = ""
		}
		r.ended(j, end)
		return
	}
	r.remember(j, func(s *saved) { delete(s.Runs, j.RunID) })
}

// perform announces the run, executes it and says how it ended; false: it was not ours to execute.
func (r *Runner) perform(j *job) (report, bool) {
	r.remember(j, func(s *saved) { s.Runs[j.RunID] = child{SessionID: j.SessionID} })
	log := r.log("executor")
	if err := r.announce(j); errors.Is(err, errRefused) {
		log.WarnContext(j.ctx, "Run {run} was not started: {err}", "run", j.RunID, "err", err)
		return report{}, false
	} else if err != nil {
		return interrupted(j.ctx, "SIGTERM"), true
	}
	r.mu.Lock()
	j.started = true
	r.mu.Unlock()
	ctx := j.ctx
	if r.cfg.RunTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.cfg.RunTimeout, errTimeout)
		defer cancel()
	}
	p, err := r.spawn(ctx, j)
	if err != nil {
		if ctx.Err() != nil {
			return interrupted(ctx, "SIGTERM"), !lost(ctx)
		}
		return report{Kind: "failed", Error: err.Error()}, true
	}
	end := report{Kind: "completed"}
	select {
	case <-p.exited:
		if !p.cmd.ProcessState.Success() {
			end = report{Kind: "failed"}
		}
	case <-ctx.Done():
		end = interrupted(ctx, p.end(r.cfg.grace))
	}
	p.clear(r.cfg.grace)
	if end.Kind == "failed" && end.Error == "" {
		end.Error = p.failure()
	}
	log.DebugContext(j.ctx, "Output of {run}", "run", j.RunID, "stdout", p.stdout.String(), "stderr", p.stderr.String())
	return end, !lost(ctx)
}

// lost reports whether the job was ended because the run is not this runner's any more: then nothing is reported.
func lost(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errRefused) }

// interrupted is the report of a job whose context ended.
func interrupted(ctx context.Context, signal string) report {
	if cause := context.Cause(ctx); cause != errStopped { //nolint:errorlint // a cause is the very value
		return report{Kind: "failed", Error: cause.Error()}
	}
	return report{Kind: "stopped", Signal: signal}
}

// announceAgain asks, after a new registration, whether the started runs are still this runner's: the coordinator may have
// given them up while it did not hear from here. What it refuses is ended without a report.
func (r *Runner) announceAgain(ctx context.Context) {
	r.mu.Lock()
	var jobs []*job
	for _, j := range r.jobs {
		if j.started {
			jobs = append(jobs, j)
		}
	}
	r.mu.Unlock()
	for _, j := range jobs {
		err := r.api.report(ctx, j.RunID, "started", map[string]string{"runner_id": r.id()})
		if s := status(err); s == http.StatusConflict || s == http.StatusNotFound {
			r.log("executor").WarnContext(ctx, "Run {run} is ended here: {err}", "run", j.RunID, "err", err)
			j.stop(fmt.Errorf("%w: %w", errRefused, err))
		}
	}
}

// announce tells the coordinator that the run starts, until it is acknowledged. errRefused: somebody else has it.
func (r *Runner) announce(j *job) error {
	pause := r.newBackoff()
	for {
		gen := r.generation()
		err := r.api.report(j.ctx, j.RunID, "started", map[string]string{"runner_id": r.id()})
		switch {
		case err == nil:
			return nil
		case final(err):
			return fmt.Errorf("%w: %w", errRefused, err)
		case status(err) == http.StatusUnauthorized:
			r.reregister(j.ctx, gen)
		}
		if !pause.wait(j.ctx) {
			return context.Cause(j.ctx)
		}
	}
}

// spawn starts the job's executor and remembers its process.
func (r *Runner) spawn(ctx context.Context, j *job) (*process, error) {
	input, err := r.invocation(ctx, j)
	if err != nil {
		return nil, err
	}
	dir := r.folder(j.run)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the project folder %s does not exist on this runner's host", dir)
	}
	verb := "Starting session {session} with agent {agent}"
	if j.Type == "resume_session" {
		verb = "Resuming session {session} with agent {agent}"
	}
	r.log("executor").InfoContext(ctx, verb, "session", j.SessionID, "agent", j.AgentName) //nolint:sloglint // one of two constants
	p, err := spawn(r.cfg.Executor.path, dir, r.environment(j), input)
	if err != nil {
		return nil, fmt.Errorf("the executor could not be started: %w", err)
	}
	r.remember(j, func(s *saved) {
		s.Runs[j.RunID] = child{SessionID: j.SessionID, PID: p.pgid, Started: startOf(p.pgid)}
	})
	return p, nil
}

// ended puts the job's report into the outbox, in one write with forgetting its process.
func (r *Runner) ended(j *job, end report) {
	end.RunID = j.RunID
	r.remember(j, func(s *saved) {
		delete(s.Runs, j.RunID)
		s.Reports = append(s.Reports, end)
	})
	r.log("supervisor").InfoContext(j.ctx, "Run {run} {kind}", "run", j.RunID, "kind", end.Kind)
	r.wakeReports()
}

// remember changes the state. When the disk refuses, the change still holds in memory: better a run whose trace would
// not survive a crash than none.
func (r *Runner) remember(j *job, f func(*saved)) {
	if err := r.state.change(f); err != nil {
		r.log("agent-runner").ErrorContext(j.ctx, "The state file cannot be written: {err}", "err", err)
	}
}

func (r *Runner) forget(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, j.RunID)
	delete(r.tokens, j.token)
	j.stop(nil)
}

// stopRun ends a run because the coordinator says so. One that is not here is reported stopped: the coordinator would
// wait for ever.
func (r *Runner) stopRun(ctx context.Context, runID string) {
	r.mu.Lock()
	j := r.jobs[runID]
	r.mu.Unlock()
	switch {
	case j != nil:
		r.log("poller").InfoContext(ctx, "Stopping run {run}", "run", runID)
		j.stop(errStopped)
	case !r.state.pending(runID):
		if err := r.state.change(func(s *saved) {
			s.Reports = append(s.Reports, report{RunID: runID, Kind: "stopped", Signal: "SIGTERM"})
		}); err != nil {
			r.log("poller").ErrorContext(ctx, "The state file cannot be written: {err}", "err", err)
		}
		r.wakeReports()
	}
}

// stopSession ends the runs of a session.
func (r *Runner) stopSession(ctx context.Context, sessionID string) {
	r.mu.Lock()
	var ids []string
	for id, j := range r.jobs {
		if j.SessionID == sessionID {
			ids = append(ids, id)
		}
	}
	r.mu.Unlock()
	for _, id := range ids {
		r.stopRun(ctx, id)
	}
}

// endLeftovers ends what an earlier life of this runner left behind and puts the reports of those runs into the
// outbox. It takes up to the grace when something is there.
func (r *Runner) endLeftovers(ctx context.Context) {
	left := r.state.view().Runs
	var groups []int
	for id, c := range left {
		groups = append(groups, leftBehind(id, c)...)
	}
	for _, pgid := range groups {
		terminate(pgid)
	}
	for end := time.Now().Add(r.cfg.grace); len(groups) > 0; groups = groups[1:] {
		endGroup(groups[0], time.Until(end))
	}
	for id := range left {
		r.log("agent-runner").WarnContext(ctx, "Run {run} was left behind when this runner ended; it is reported failed", "run", id)
		if err := r.state.change(func(s *saved) {
			delete(s.Runs, id)
			s.Reports = append(s.Reports, report{RunID: id, Kind: "failed", Error: "The runner was killed during execution"})
		}); err != nil {
			r.log("agent-runner").ErrorContext(ctx, "The state file cannot be written: {err}", "err", err)
		}
	}
}
