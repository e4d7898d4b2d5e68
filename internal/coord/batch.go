package coord

import (
	"context"
	"sync"
	"time"
)

const (
	batchMax     = 64               // calls of one statement; it holds their gates until its commit
	batchMore    = 16               // calls that wait for a second batch to begin beside the first; fewer join the next
	batchTimeout = 10 * time.Second // of one statement; it is nobody's own, so nobody's leaving ends it
)

// batcher folds calls that arrive while others are under way into one statement: one round trip and one commit for
// all of them. There is no timer: while few calls are under way each goes alone at once, and calls that find all
// places taken form the next batch. The larger a batch, the less each of its calls costs, so there is one at a time
// until many wait. A batch that fails is repeated call by call, so that an error is its own caller's.
type batcher[In, Out any] struct {
	alone   func(ctx context.Context, in In) (Out, error)
	many    func(ctx context.Context, in []In) ([]Out, error) // answers in order
	undo    func(ctx context.Context, in In, out Out)         // of a call in a batch whose caller left meanwhile; may be nil
	direct  int                                               // calls that go alone at a time
	workers int                                               // batches at a time

	mu      sync.Mutex
	singles int // calls under way alone
	batches int // workers under way
	lone    int // of them, those that run one call for itself: it may wait for a lock, and nobody shall wait for it
	queue   []*queued[In, Out]
}

// queued is a call that waits for its batch.
type queued[In, Out any] struct {
	ctx  context.Context
	in   In
	out  Out
	err  error
	done chan struct{}
	left bool // guarded by the batcher's mu, as is closing done
}

// do runs one call.
func (b *batcher[In, Out]) do(ctx context.Context, in In) (Out, error) {
	b.mu.Lock()
	if b.batches == 0 && b.singles < b.direct {
		b.singles++
		b.mu.Unlock()
		defer b.add(&b.singles, -1)
		return b.alone(ctx, in)
	}
	q := &queued[In, Out]{ctx: ctx, in: in, done: make(chan struct{})}
	b.queue = append(b.queue, q)
	if b.batches < b.workers && (b.batches == b.lone || len(b.queue) >= batchMore) {
		b.batches++
		go b.work()
	}
	b.mu.Unlock()
	select {
	case <-q.done:
		return q.out, q.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-q.done: // after all
		return q.out, q.err
	default:
		q.left = true
		var zero Out
		return zero, ctx.Err()
	}
}

// answer hands an outcome over and reports whether its caller is still there.
func (b *batcher[In, Out]) answer(q *queued[In, Out], out Out, err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.out, q.err = out, err
	close(q.done)
	return !q.left
}

// work runs batches until nobody waits, or few and another worker is there for them.
func (b *batcher[In, Out]) work() {
	for {
		b.mu.Lock()
		n := min(len(b.queue), batchMax)
		if n == 0 || b.batches-b.lone > 1 && n < batchMore {
			b.batches--
			b.mu.Unlock()
			return
		}
		batch := b.queue[:n:n]
		b.queue = b.queue[n:]
		if len(b.queue) == 0 {
			b.queue = nil // let the answered calls go
		}
		b.mu.Unlock()
		b.run(batch)
	}
}

// run answers the calls of a batch whose callers are still there.
func (b *batcher[In, Out]) run(batch []*queued[In, Out]) {
	live := make([]*queued[In, Out], 0, len(batch))
	for _, q := range batch {
		if q.ctx.Err() == nil {
			live = append(live, q)
		}
	}
	if len(live) > 1 && b.together(live) {
		return
	}
	b.add(&b.lone, 1)
	defer b.add(&b.lone, -1)
	for _, q := range live {
		out, err := b.alone(q.ctx, q.in)
		b.answer(q, out, err)
	}
}

func (b *batcher[In, Out]) add(n *int, by int) {
	b.mu.Lock()
	*n += by
	b.mu.Unlock()
}

// together reports whether the batch was answered by one statement.
func (b *batcher[In, Out]) together(live []*queued[In, Out]) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(live[0].ctx), batchTimeout)
	defer cancel()
	in := make([]In, len(live))
	for i, q := range live {
		in[i] = q.in
	}
	out, err := b.many(ctx, in)
	if err != nil || len(out) != len(live) {
		return false
	}
	for i, q := range live {
		if !b.answer(q, out[i], nil) && b.undo != nil {
			b.undo(ctx, q.in, out[i])
		}
	}
	return true
}
