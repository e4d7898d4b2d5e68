package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func woken(w *dispatch.Waiter) bool { return len(w.C) == 1 }

func TestWakeReachesTheLongestWaitingOnce(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	a, b, c := h.Park("x"), h.Park("x", "y"), h.Park("x")
	defer a.Close()
	defer b.Close()
	defer c.Close()
	h.Wake([]string{"x"})
	if !woken(a) || woken(b) || woken(c) {
		t.Fatal("the first one, and no other")
	}
	h.Wake([]string{"x", "x", "x", "x"}) // more units than waiters
	if !woken(b) || !woken(c) {
		t.Fatal("one unit, one waiter")
	}
	<-a.C
	a.Requeue()
	<-b.C
	b.Requeue()
	h.Wake([]string{"x"})
	if woken(b) || !woken(a) {
		t.Fatal("who looked in vain first comes first again")
	}
	if h.Parked() != 3 {
		t.Fatalf("%d parked", h.Parked())
	}
}

func TestNudgeConcernsEverybodyOfAKind(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	a, b, other := h.Park("l:7:x"), h.Park("l:7:y", "n:7:1"), h.Park("l:70:x")
	defer a.Close()
	defer b.Close()
	defer other.Close()
	h.Nudge("w:7:", "l:7:")
	if !woken(a) || !woken(b) || woken(other) {
		t.Fatal("everybody parked on l:7:, and nobody else")
	}
	if unit, everybody := a.Why(); unit || !everybody {
		t.Fatal("a nudge is no unit")
	}
}

func TestUnitThatComesDuringALook(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	a := h.Park("x")
	h.Wake([]string{"x"})
	<-a.C // it looks now
	b := h.Park("x")
	h.Wake([]string{"x"})
	if woken(a) || !woken(b) {
		t.Fatal("a unit goes to the idle one, not to the one that has a unit")
	}
	h.Wake([]string{"x"})
	if !woken(a) {
		t.Fatal("nobody is idle: who is looking looks again")
	}
	a.Requeue()
	<-a.C
	if unit, _ := a.Why(); !unit {
		t.Fatal("the unit is forgotten")
	}
	b.Close()
	a.Close()
}

func TestUnusedWakeUpIsPassedOn(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	a, b := h.Park("x", "y"), h.Park("x", "y")
	other := h.Park("y")
	h.Wake([]string{"x"})
	a.Close() // gave up before it looked
	if !woken(b) || woken(other) {
		t.Fatal("the unit of x goes to the next one for x, to nobody for y")
	}
	<-b.C
	b.Close() // looked
	if woken(other) {
		t.Fatal("a used wake-up is not passed on")
	}
	other.Close()
	if h.Parked() != 0 {
		t.Fatal("somebody is left")
	}
}

func TestBroadcastWakesEverybodyAndKeepsUnitsApart(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	a, b := h.Park("w:1:1:+", "w:1:1:7"), h.Park("w:1:1:+")
	defer b.Close()
	h.Wake([]string{"w:1:1:+"})
	if !woken(a) || !woken(b) {
		t.Fatal("everybody")
	}
	h.Wake([]string{"w:1:1:7"})
	<-a.C
	if unit, everybody := a.Why(); !unit || !everybody {
		t.Fatal("a unit that comes after a broadcast is not lost")
	}
	<-b.C
	if unit, everybody := b.Why(); unit || !everybody {
		t.Fatal("b has no unit")
	}
	if !b.Add("w:1:1:7") || b.Add("w:1:1:7") {
		t.Fatal("new once")
	}
	h.Wake([]string{"w:1:1:7"})
	a.Close()
	if !woken(b) {
		t.Fatal("passed on to the later one")
	}
}

func TestAllWakesEverybody(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	a, b := h.Park("x"), h.Park("y")
	defer a.Close()
	defer b.Close()
	var heard atomic.Int32
	stop := h.Observe(func(topic string) {
		if topic == "" {
			heard.Add(1)
		}
	})
	h.All()
	<-a.C
	<-b.C
	if unit, everybody := a.Why(); !unit || !everybody || heard.Load() != 1 {
		t.Fatal("everybody must look, observers too")
	}
	stop()
	h.All()
	if heard.Load() != 1 {
		t.Fatal("stopped observers hear nothing")
	}
}

func TestOutboxGetsOwnNewsOnly(t *testing.T) {
	t.Parallel()
	var sent []string
	h := dispatch.New(func(topics []string) { sent = append(sent, topics...) })
	h.Wake([]string{"x"})
	h.Local([]string{"y"})
	if !slices.Equal(sent, []string{"x"}) {
		t.Fatalf("sent %v", sent)
	}
}

func TestRecheckLooksForAllAndStopsWithTheLast(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	asked := make(chan []string)
	fail := errors.New("away")
	answers := make(chan error, 3)
	h.Recheck("w:", 5*time.Millisecond, func(ctx context.Context, topics []string) ([]string, error) {
		slices.Sort(topics)
		select {
		case asked <- topics:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case err := <-answers:
			return []string{"w:1"}, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	h.Online(true)
	mail := h.Park("n:1") // of no interest to the re-check
	a, b := h.Park("w:1"), h.Park("w:2")
	if got := <-asked; !slices.Equal(got, []string{"w:1", "w:2"}) {
		t.Fatalf("asked about %v", got)
	}
	answers <- fail
	<-asked
	if h.LastCheck("w:").After(time.Unix(1, 0)) || woken(a) {
		t.Fatal("a failed look is no look")
	}
	answers <- nil
	<-a.C
	if h.LastCheck("w:").IsZero() {
		t.Fatal("a look is remembered")
	}
	a.Close()
	b.Close()
	mail.Close() // goleak sees whether the asking ended
}

// Units and waiters in any order: as many waiters are served as there are units, and none is served twice.
func TestNoUnitIsLostBetweenManyWaiters(t *testing.T) {
	t.Parallel()
	h := dispatch.New(nil)
	const n = 200
	var units atomic.Int32
	var served sync.WaitGroup
	for i := range n {
		served.Go(func() {
			w := h.Park("x", fmt.Sprint("own", i))
			defer w.Close()
			for {
				if left := units.Load(); left > 0 && units.CompareAndSwap(left, left-1) {
					return
				}
				if units.Load() > 0 {
					continue // lost a race: look again
				}
				<-w.C
			}
		})
	}
	for range n {
		units.Add(1)
		h.Wake([]string{"x"})
	}
	served.Wait()
	if units.Load() != 0 || h.Parked() != 0 {
		t.Fatalf("%d units and %d waiters left", units.Load(), h.Parked())
	}
}
