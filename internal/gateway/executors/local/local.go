// Package local keeps the runs that live in this process: each begins once, can be asked for and cancelled, and ends
// with the process. What must outlive it is the outside's to keep.
package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

// Why a run's context can be done, beside its deadline.
var (
	ErrCancelled = errors.New("the run was cancelled")
	ErrClosed    = errors.New("the gateway is shutting down")
)

// kept is how long an outcome waits to be asked for.
const kept = time.Hour

// Runs holds them. Its methods are safe for concurrent use.
type Runs struct {
	ctx  context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu   sync.Mutex
	runs map[string]*run
}

type run struct {
	cancel  context.CancelCauseFunc
	outcome *executors.Outcome // nil: still running
	at      time.Time          // of the outcome
}

// New makes an empty set.
func New() *Runs {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Runs{ctx: ctx, stop: stop, runs: map[string]*run{}}
}

// Begin runs do, unless a run of this id was begun before.
func (r *Runs) Begin(id string, do func(context.Context) executors.Outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return ErrClosed
	}
	for old, x := range r.runs {
		if x.outcome != nil && time.Since(x.at) > kept {
			delete(r.runs, old)
		}
	}
	if r.runs[id] != nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	x := &run{cancel: cancel}
	r.runs[id] = x
	r.work.Go(func() {
		defer cancel(nil)
		out := do(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		x.outcome, x.at = &out, time.Now()
	})
	return nil
}

// Go runs do beside the runs; Close waits for it too.
func (r *Runs) Go(do func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() == nil {
		r.work.Go(func() { do(r.ctx) })
	}
}

// Look is the run's outcome, nil while it runs; known is false when it was not begun here.
func (r *Runs) Look(id string) (outcome *executors.Outcome, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.runs[id]
	if x == nil {
		return nil, false
	}
	return x.outcome, true
}

// Cancel ends the run and says whether it was begun here.
func (r *Runs) Cancel(id string) (known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.runs[id]
	if x != nil {
		x.cancel(ErrCancelled)
	}
	return x != nil
}

// Close cancels what runs and waits for it.
func (r *Runs) Close() {
	r.mu.Lock()
	r.stop(ErrClosed)
	r.mu.Unlock()
	r.work.Wait()
}

// Ended is an outcome without evidence, which ends now.
func Ended(c executors.Conclusion, reason string, started time.Time) executors.Outcome {
	return executors.Outcome{Conclusion: c, Reason: reason, StartedAt: started, CompletedAt: time.Now()}
}

// Tail keeps the end of what is written to it, executors.MaxOutput bytes at most. It is safe for concurrent use.
type Tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write adds p.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - executors.MaxOutput; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String is what is kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Text(t.buf)
}
