package runner

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// register announces this runner until the coordinator takes it. ErrDuplicate: another one has the identity and it is
// not our own dead instance; ErrRefused: the key is not accepted (only for the first registration; later a wrong key
// is waited out, since somebody may be rotating it). A coordinator that is away is waited for until ctx ends.
func (r *Runner) register(ctx context.Context, first bool) error {
	log := r.log("agent-runner")
	body := registration{
		Hostname: r.cfg.Hostname, ProjectDir: r.cfg.ProjectDir, ExecutorProfile: r.cfg.Profile, Executor: r.cfg.Executor,
		Tags: r.cfg.Tags, RequireMatchingTags: r.cfg.RequireMatchingTags,
		InstanceID: r.state.view().InstanceID, Capacity: max(r.cfg.MaxRuns, 0),
	}
	if body.Tags == nil {
		body.Tags = []string{}
	}
	pause, failures, began := r.newBackoff(), 0, time.Now()
	for {
		reg, err := r.api.register(ctx, body)
		if err == nil {
			return r.registered(reg)
		}
		wait := pause.wait
		switch s := status(err); {
		case s == http.StatusConflict:
			// The state file is locked by us, so an instance of this folder that did not deregister is dead. A
			// coordinator that does not know instance ids forgets it when it has been silent for long enough.
			ours := !first || r.state.view().RunnerID != ""
			if !ours || time.Since(began) > duplicateLimit {
				return fmt.Errorf("%w: %w", ErrDuplicate, err)
			}
			wait = func(ctx context.Context) bool {
				return sleep(ctx, max(r.cfg.backoff, min(duplicateRetry, 10*r.cfg.backoff)))
			}
		case s == http.StatusUnauthorized || s == http.StatusForbidden:
			if first {
				return fmt.Errorf("%w: %w", ErrRefused, err)
			}
		case final(err):
			if first {
				return err
			}
		}
		if failures++; failures == 1 {
			log.WarnContext(ctx, "Registration is repeated: {err}", "err", err)
		}
		if !wait(ctx) {
			return ctx.Err()
		}
	}
}

func (r *Runner) registered(reg registered) error {
	r.mu.Lock()
	r.reg = reg
	r.gen++
	r.mu.Unlock()
	return r.state.change(func(s *saved) { s.RunnerID = reg.RunnerID })
}

// reregister registers again after the coordinator forgot this runner. gen is the registration that the caller used:
// of several callers one registers, the others find it done. It ends early with ctx.
func (r *Runner) reregister(ctx context.Context, gen int64) {
	select {
	case r.registering <- struct{}{}:
		defer func() { <-r.registering }()
	case <-ctx.Done():
		return
	}
	if r.generation() != gen {
		return
	}
	log := r.log("agent-runner")
	log.WarnContext(ctx, "The coordinator does not know this runner any more; registering again")
	if err := r.register(ctx, false); err != nil {
		if ctx.Err() == nil {
			log.ErrorContext(ctx, "Registering again failed: {err}", "err", err)
		}
		return
	}
	log.InfoContext(ctx, "Registered as {runner}", "runner", r.id())
	r.announceAgain(ctx)
}

func (r *Runner) id() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reg.RunnerID
}

func (r *Runner) generation() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gen
}

// pollTimeout is how long one poll may take: what was configured or what the coordinator says, and a margin.
func (r *Runner) pollTimeout() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.cfg.PollTimeout, time.Duration(r.reg.PollTimeout*float64(time.Second))) + pollMargin
}
