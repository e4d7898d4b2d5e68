package coord

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

var errBad = errors.New("bad")

// doubler answers twice the number; negative ones fail, alone or with their whole batch. gate holds statements back.
type doubler struct {
	gate    chan struct{}
	began   chan int // size of each statement as it begins
	batches atomic.Int64
}

func (d *doubler) batcher(direct int) *batcher[int, int] {
	return &batcher[int, int]{direct: direct, workers: 1, alone: d.alone, many: d.many}
}

func (d *doubler) alone(_ context.Context, n int) (int, error) {
	d.began <- 1
	<-d.gate
	if n < 0 {
		return 0, errBad
	}
	return 2 * n, nil
}

func (d *doubler) many(_ context.Context, in []int) ([]int, error) {
	d.batches.Add(1)
	d.began <- len(in)
	<-d.gate
	out := make([]int, len(in))
	for i, n := range in {
		if n < 0 {
			return nil, errBad
		}
		out[i] = 2 * n
	}
	return out, nil
}

func newDoubler() *doubler { return &doubler{gate: make(chan struct{}), began: make(chan int, 100)} }

// queueUp starts calls for the numbers and returns once all of them wait.
func queueUp(ctx context.Context, b *batcher[int, int], numbers []int) (results []int, errs []error, wait func()) {
	results, errs = make([]int, len(numbers)), make([]error, len(numbers))
	var wg sync.WaitGroup
	for i, n := range numbers {
		wg.Go(func() { results[i], errs[i] = b.do(ctx, n) })
	}
	for {
		b.mu.Lock()
		n := len(b.queue)
		b.mu.Unlock()
		if n == len(numbers) {
			return results, errs, wg.Wait
		}
	}
}

// busy puts one call under way alone and one into a batch of one, so that what comes next must queue up.
func busy(t *testing.T, d *doubler, b *batcher[int, int]) {
	t.Helper()
	for range 2 {
		go b.do(context.Background(), 1) //nolint:errcheck // its outcome is of no interest
		if n := <-d.began; n != 1 {
			t.Fatalf("the first calls went together with others: %d", n)
		}
	}
}

func TestBatcherGoesAloneWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	d := newDoubler()
	close(d.gate)
	b := d.batcher(1)
	for n := range 5 {
		if got, err := b.do(t.Context(), n); got != 2*n || err != nil {
			t.Errorf("%d: got %d, %v", n, got, err)
		}
	}
	if d.batches.Load() != 0 {
		t.Error("a lone caller went in a batch")
	}
}

func TestBatcherFoldsWhatWaits(t *testing.T) {
	t.Parallel()
	d := newDoubler()
	b := d.batcher(1)
	busy(t, d, b)
	results, errs, wait := queueUp(t.Context(), b, []int{3, 4, 5, 6})
	close(d.gate)
	wait()
	for i, want := range []int{6, 8, 10, 12} {
		if results[i] != want || errs[i] != nil {
			t.Errorf("got %d, %v, want %d", results[i], errs[i], want)
		}
	}
	if n := <-d.began; n != 4 || d.batches.Load() != 1 {
		t.Errorf("%d calls in the first of %d batches, want all 4 in one", n, d.batches.Load())
	}
}

// A worker with a call of its own may wait for a lock; the next call gets another worker. Beside a batch it joins the
// next one, until many wait.
func TestBatcherBeginsASecondBatchWhenNeeded(t *testing.T) {
	t.Parallel()
	d := newDoubler()
	b := d.batcher(0)
	b.workers = 2
	busy(t, d, b) // two workers, each with one call
	_, _, first := queueUp(t.Context(), b, []int{3, 4})
	d.gate <- struct{}{}
	if n := <-d.began; n != 2 {
		t.Fatalf("%d calls in the batch, want 2", n)
	}
	d.gate <- struct{}{} // the other worker may go, for a batch is under way and nobody waits
	for active := 2; active > 1; {
		b.mu.Lock()
		active = b.batches
		b.mu.Unlock()
	}
	few := make([]int, batchMore-1)
	_, _, second := queueUp(t.Context(), b, few)
	if len(d.began) != 0 {
		t.Fatal("few calls began a second batch")
	}
	go b.do(context.Background(), 1) //nolint:errcheck // its outcome is of no interest
	if n := <-d.began; n != batchMore {
		t.Errorf("%d calls in the second batch, want %d", n, batchMore)
	}
	close(d.gate)
	first()
	second()
}

func TestBatcherKeepsErrorsApart(t *testing.T) {
	t.Parallel()
	d := newDoubler()
	b := d.batcher(1)
	busy(t, d, b)
	results, errs, wait := queueUp(t.Context(), b, []int{3, -1, 5})
	close(d.gate)
	wait()
	if results[0] != 6 || errs[0] != nil || results[2] != 10 || errs[2] != nil {
		t.Errorf("neighbours of a failing call: %v %v", results, errs)
	}
	if !errors.Is(errs[1], errBad) {
		t.Errorf("the failing call: %v", errs[1])
	}
}

func TestBatcherLeavesOutWhoLeft(t *testing.T) {
	t.Parallel()
	d := newDoubler()
	b := d.batcher(1)
	busy(t, d, b)
	ctx, cancel := context.WithCancel(t.Context())
	_, errs, wait := queueUp(ctx, b, []int{3, 4})
	cancel()
	wait()
	for _, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	close(d.gate)
	if got, err := b.do(t.Context(), 7); got != 14 || err != nil {
		t.Errorf("after them: %d, %v", got, err)
	}
}
