package live_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tape is a log in memory.
type tape struct {
	mu      sync.Mutex
	entries []live.Entry
	trimmed int64
}

func (t *tape) add(e live.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Seq = int64(len(t.entries)) + 1
	t.entries = append(t.entries, e)
}

func (t *tape) source(_ context.Context, after int64, limit int) (live.Page, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := live.Page{Head: int64(len(t.entries)), Oldest: t.trimmed + 1, Last: after}
	for _, e := range t.entries {
		if e.Seq > after && e.Seq > t.trimmed && len(p.Entries) < limit {
			p.Entries, p.Last = append(p.Entries, e), e.Seq
		}
	}
	return p, nil
}

// running returns a hub on a tape; it stops with the test.
func running(t *testing.T, tp *tape) *live.Hub {
	t.Helper()
	h := live.New(tp.source)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); h.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return h
}

func next(t *testing.T, s *live.Stream) live.Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	e, err := s.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEveryClientGetsEverythingInOrder(t *testing.T) {
	t.Parallel()
	tp := &tape{}
	tp.add(live.Entry{Type: "old"})
	h := running(t, tp)
	fast, err := h.Open(t.Context(), live.Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	slow, err := h.Open(t.Context(), live.Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	for range 1000 {
		tp.add(live.Entry{Type: "new"})
		h.Kick()
	}
	for want := int64(2); want <= 1001; want++ {
		if e := next(t, fast); e.Seq != want {
			t.Fatalf("%+v, want %d", e, want)
		}
	}
	for want := int64(2); want <= 1001; want++ { // it fell out of the ring and reads again
		if e := next(t, slow); e.Seq != want {
			t.Fatalf("%+v, want %d", e, want)
		}
	}
}

func TestReplayAndGap(t *testing.T) {
	t.Parallel()
	tp := &tape{}
	for range 10 {
		tp.add(live.Entry{Type: "x"})
	}
	h := running(t, tp)
	seen := int64(7)
	s, err := h.Open(t.Context(), live.Filter{}, &seen)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if a, b := next(t, s), next(t, s); a.Seq != 8 || b.Seq != 9 {
		t.Fatalf("%d %d", a.Seq, b.Seq)
	}
	tp.mu.Lock()
	tp.trimmed = 6
	tp.mu.Unlock()
	early := int64(2)
	g, err := h.Open(t.Context(), live.Filter{}, &early)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	e := next(t, g)
	if e.Type != "gap" || e.Data["from"] != int64(3) || e.Data["to"] != int64(6) {
		t.Fatalf("%+v", e)
	}
	if e = next(t, g); e.Seq != 7 {
		t.Fatalf("%+v", e)
	}
}

func TestFilterAndEnd(t *testing.T) {
	t.Parallel()
	tp := &tape{}
	h := running(t, tp)
	s, err := h.Open(t.Context(), live.Filter{Project: 1, Session: "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, e := range []live.Entry{{Project: 2, Session: "a"}, {Project: 1, Session: "b"}, {Project: 1, Session: "a"}} {
		tp.add(e)
	}
	h.Kick()
	if e := next(t, s); e.Seq != 3 {
		t.Fatalf("%+v", e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if h.Clients() != 1 {
		t.Error(h.Clients())
	}
}
