// Package loop runs named periodic workers. A loop starts and stops with a context, never overlaps itself, and a
// failing run delays the next one instead of ending the process.
package loop

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// Loop is one worker. Name, Every and Do are needed.
type Loop struct {
	Name    string
	Every   time.Duration // from the end of a run to the start of the next, while there is work
	Idle    time.Duration // the same after a run that found nothing; 0: Every
	Jitter  time.Duration // up to this much is added to every pause, so that processes spread
	Timeout time.Duration // of one run; 0: 30 s
	// Do does one bounded piece of work and returns how much it changed. Negative means: none, but stay alert (the
	// next pause is Every, not Idle).
	Do     func(ctx context.Context) (changed int, err error)
	Report func(name string, changed int, err error) // sees every run (metrics); may be nil
	Log    *slog.Logger                              // failures, at most one line for each change of state; may be nil
}

// maxBackoff bounds the pause after repeated failures.
const maxBackoff = 30 * time.Second

// RunOnce does one run under the loop's timeout; a panic is returned as an error.
func (l Loop) RunOnce(ctx context.Context) (changed int, err error) {
	timeout := l.Timeout
	if timeout <= 0 {
		timeout = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in loop %s: %v\n%s", l.Name, p, debug.Stack())
		}
		if l.Report != nil && !(err != nil && ctx.Err() == context.Canceled) {
			l.Report(l.Name, changed, err)
		}
	}()
	return l.Do(ctx)
}

// Run runs until ctx is done and returns nil: a loop has no failure of its own.
func (l Loop) Run(ctx context.Context) error {
	failures := 0
	timer := time.NewTimer(l.pause(0, 0))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		changed, err := l.RunOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		failures = l.note(ctx, failures, err)
		timer.Reset(l.pause(changed, failures))
	}
}

// note logs the first failure of a row and the recovery, and counts.
func (l Loop) note(ctx context.Context, failures int, err error) int {
	switch {
	case err == nil && failures > 0 && l.Log != nil:
		l.Log.InfoContext(ctx, "loop works again", "loop", l.Name, "failures", failures)
	case err != nil && failures == 0 && l.Log != nil:
		l.Log.WarnContext(ctx, "loop failed", "loop", l.Name, "err", err)
	}
	if err == nil {
		return 0
	}
	return failures + 1
}

func (l Loop) pause(changed, failures int) time.Duration {
	d := l.Every
	if changed == 0 && l.Idle > 0 {
		d = l.Idle
	}
	if failures > 0 {
		d = min(l.Every<<min(failures, 10), max(maxBackoff, l.Every))
	}
	if l.Jitter > 0 {
		d += rand.N(l.Jitter)
	}
	return d
}
