package limit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that tests move.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1_000_000, c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

func take(t *testing.T, l *Limiter, name string, perSecond, n int) (granted int, wait time.Duration) {
	t.Helper()
	for range n {
		w, ok := l.Take(name, perSecond)
		if ok {
			granted++
		} else {
			wait = w
		}
	}
	return granted, wait
}

func TestSharesAreOnesOwn(t *testing.T) {
	t.Parallel()
	c := &clock{}
	l := New(c.now)
	if n, wait := take(t, l, "a", 20, 150); n != 100 || wait <= 0 || wait > 50*time.Millisecond {
		t.Errorf("%d granted, wait %s", n, wait)
	}
	if n, _ := take(t, l, "b", 20, 100); n != 100 {
		t.Errorf("another's share was touched: %d", n)
	}
	c.advance(time.Second)
	if n, _ := take(t, l, "a", 20, 100); n != 20 {
		t.Errorf("after a second %d, want 20", n)
	}
	if n, _ := take(t, l, "c", 0, 10_000); n != 10_000 {
		t.Errorf("no limit refused: %d", n)
	}
	if n, wait := take(t, l, "slow", 1, 20); n != minBurst || wait != time.Second {
		t.Errorf("%d granted, wait %s", n, wait)
	}
	if r, _ := l.Refused(); r != 50+80+10 {
		t.Errorf("%d refused", r)
	}
}

// A key whose limit was changed does not get a whole share for it.
func TestAChangedLimitKeepsWhatIsLeft(t *testing.T) {
	t.Parallel()
	c := &clock{}
	l := New(c.now)
	take(t, l, "a", 20, 100)
	if n, _ := take(t, l, "a", 1000, 10); n != 0 {
		t.Errorf("%d granted", n)
	}
	c.advance(10 * time.Millisecond)
	if n, _ := take(t, l, "a", 1000, 20); n != 10 {
		t.Errorf("%d granted, want 10", n)
	}
	c.advance(time.Hour)
	if n, _ := take(t, l, "a", 2, 100); n != 10 {
		t.Errorf("%d granted, want 10", n)
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	l := New(nil)
	var leave []func()
	for i := range 5 {
		f, ok := l.Enter("a", 3)
		if ok != (i < 3) {
			t.Fatalf("stream %d: %v", i, ok)
		}
		if ok {
			leave = append(leave, f)
		}
	}
	if _, ok := l.Enter("b", 3); !ok {
		t.Error("another's streams count")
	}
	leave[0]()
	if _, ok := l.Enter("a", 3); !ok {
		t.Error("a place that was left is not free")
	}
	if _, n := l.Refused(); n != 2 {
		t.Errorf("%d refused", n)
	}
}

// Names that come once are forgotten; who is in the middle of something is not.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	c := &clock{}
	l := New(c.now)
	leave, _ := l.Enter("open", 1)
	take(t, l, "busy", 1000, 5000)
	for i := range 100_000 {
		l.Take(fmt.Sprint(i), 100)
		c.advance(time.Millisecond)
		take(t, l, "busy", 1000, 1)
	}
	if n := l.Names(); n > 4*tidyAt {
		t.Errorf("%d names are remembered", n)
	}
	if _, ok := l.Enter("open", 1); ok {
		t.Error("an open stream was forgotten")
	}
	if n, _ := take(t, l, "busy", 1000, 10); n != 0 {
		t.Error("an empty bucket was forgotten")
	}
	leave()
	for i := range 3 * mostNames { // all at one moment: none has its whole share
		l.Take("x"+fmt.Sprint(i), 100)
	}
	if n := l.Names(); n > 2*mostNames {
		t.Errorf("%d names are remembered", n)
	}
}

func TestEmptyTakesNothing(t *testing.T) {
	t.Parallel()
	c := &clock{}
	l := New(c.now)
	if _, empty := l.Empty("a", 10); empty {
		t.Error("an unknown name has its share")
	}
	take(t, l, "a", 10, 49)
	for range 10 {
		if _, empty := l.Empty("a", 10); empty {
			t.Fatal("looking took something")
		}
	}
	take(t, l, "a", 10, 1)
	if wait, empty := l.Empty("a", 10); !empty || wait <= 0 || wait > 100*time.Millisecond {
		t.Errorf("%s %v", wait, empty)
	}
}

func TestRace(t *testing.T) {
	t.Parallel()
	c := &clock{}
	l := New(c.now)
	var granted, inside atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if _, ok := l.Take("a", 20); ok {
					granted.Add(1)
				}
				if leave, ok := l.Enter("a", 2); ok {
					if inside.Add(1) > 2 {
						t.Error("three inside")
					}
					inside.Add(-1)
					leave()
				}
			}
		})
	}
	wg.Wait()
	if granted.Load() != 100 {
		t.Errorf("%d granted, want 100", granted.Load())
	}
}
