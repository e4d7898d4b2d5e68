package runner

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const (
	hastyPoll  = 100 * time.Millisecond // an empty answer that came sooner was not waited for
	hastyPause = 500 * time.Millisecond
)

// pollLoop asks for work until ctx is done or the coordinator deregisters this runner (true). A coordinator that is
// away or restarted is waited for: no failure ends the loop.
func (r *Runner) pollLoop(ctx context.Context) (deregistered bool) {
	log := r.log("poller")
	pause := r.newBackoff()
	failures := 0
	for ctx.Err() == nil {
		gen, began := r.generation(), time.Now()
		d, err := r.api.poll(ctx, r.id(), r.pollTimeout())
		if ctx.Err() != nil && err != nil {
			return false
		}
		if errors.Is(err, context.DeadlineExceeded) { // the coordinator held it too long: nothing to do
			continue
		}
		if err != nil {
			if failures++; failures == 1 {
				log.WarnContext(ctx, "Polling failed: {err}", "err", err)
			}
			if status(err) == http.StatusUnauthorized {
				r.reregister(ctx, gen)
			}
			pause.wait(ctx)
			continue
		}
		if failures > 0 {
			log.InfoContext(ctx, "Polling works again", "failures", failures)
		}
		failures = 0
		pause.reset()
		if d.Deregistered {
			log.WarnContext(ctx, "The coordinator deregistered this runner")
			return true
		}
		if !r.dispatch(ctx, d) && time.Since(began) < hastyPoll {
			sleep(ctx, hastyPause)
		}
	}
	return false
}

// dispatch acts on an answer; false: there was nothing in it.
func (r *Runner) dispatch(ctx context.Context, d delivery) bool {
	for _, id := range d.StopRuns {
		r.stopRun(ctx, id)
	}
	for _, id := range d.StopSessions {
		r.stopSession(ctx, id)
	}
	if d.Run != nil && d.Run.RunID != "" {
		r.accept(trace.Under(ctx, d.Traceparent), *d.Run)
		return true
	}
	return len(d.StopRuns)+len(d.StopSessions) > 0
}
