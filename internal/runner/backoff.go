package runner

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is a pause that doubles, with jitter, up to longestBackoff.
type backoff struct{ first, next time.Duration }

func (r *Runner) newBackoff() *backoff { return &backoff{first: r.cfg.backoff, next: r.cfg.backoff} }

// wait pauses; false: ctx ended first.
func (b *backoff) wait(ctx context.Context) bool {
	d := b.next/2 + rand.N(b.next/2+1)
	b.next = min(2*b.next, longestBackoff)
	return sleep(ctx, d)
}

func (b *backoff) reset() { b.next = b.first }

// sleep waits; false: ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
