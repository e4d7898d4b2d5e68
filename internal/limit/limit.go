// Package limit keeps callers within their share: how many requests a second, how many open at a time. It counts by a
// name (a key, an address) and forgets names that have their whole share again, so memory is bounded by who called lately.
//
// It refuses and never delays. What it counts is this process's: two servers give a caller twice the share.
package limit

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	burstSeconds = 5      // a bucket holds what so many seconds fill
	minBurst     = 10     // and no less than this
	tidyAt       = 1024   // names, before idle ones are looked for
	mostNames    = 50_000 // beyond it any name may be forgotten
)

// Limiter counts for any number of names. It is safe for concurrent use.
type Limiter struct {
	now     func() time.Time
	mu      sync.Mutex
	buckets map[string]*bucket
	tidy    int // how many names make the next look for idle ones due
	refused atomic.Int64
	turned  atomic.Int64
}

type bucket struct {
	tokens *rate.Limiter
	rate   int
	open   int
}

// New returns a limiter; now is the clock, nil for the real one.
func New(now func() time.Time) *Limiter {
	if now == nil {
		now = time.Now
	}
	return &Limiter{now: now, buckets: map[string]*bucket{}, tidy: tidyAt}
}

// Take asks for one request by name at perSecond; 0 or less is no limit. When it is refused, wait is how long until the
// next would be granted.
func (l *Limiter) Take(name string, perSecond int) (wait time.Duration, ok bool) {
	if perSecond <= 0 {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(name, perSecond), l.now()
	if b.tokens.AllowN(now, 1) {
		return 0, true
	}
	l.refused.Add(1)
	return time.Duration(math.Ceil((1 - b.tokens.TokensAt(now)) / float64(perSecond) * float64(time.Second))), false
}

// Empty reports whether Take would be refused, without taking, and for how long.
func (l *Limiter) Empty(name string, perSecond int) (wait time.Duration, empty bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[name]
	if b == nil {
		return 0, false
	}
	left := b.tokens.TokensAt(l.now())
	if left >= 1 {
		return 0, false
	}
	l.refused.Add(1)
	return time.Duration((1 - left) / float64(perSecond) * float64(time.Second)), true
}

// Enter counts one more open stream of name, unless most are open already; 0 or less is no limit. leave, to be called
// once, ends it.
func (l *Limiter) Enter(name string, most int) (leave func(), ok bool) {
	if most <= 0 {
		return func() {}, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(name, 0)
	if b.open >= most {
		l.turned.Add(1)
		return nil, false
	}
	b.open++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		b.open--
	}, true
}

// Refused is how many requests and streams were refused since the start.
func (l *Limiter) Refused() (requests, streams int64) { return l.refused.Load(), l.turned.Load() }

// Names is how many names are remembered.
func (l *Limiter) Names() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// bucket returns name's, at perSecond if that is positive. A changed rate keeps what is left of the old share.
func (l *Limiter) bucket(name string, perSecond int) *bucket {
	b := l.buckets[name]
	if b == nil {
		l.forget()
		b = &bucket{tokens: rate.NewLimiter(rate.Inf, 0)}
		l.buckets[name] = b
	}
	if perSecond <= 0 || b.rate == perSecond {
		return b
	}
	now, burst := l.now(), max(minBurst, burstSeconds*perSecond)
	if b.rate == 0 {
		b.tokens = rate.NewLimiter(rate.Limit(perSecond), burst)
	} else {
		b.tokens.SetLimitAt(now, rate.Limit(perSecond))
		b.tokens.SetBurstAt(now, burst)
	}
	b.rate = perSecond
	return b
}

// forget drops names that have their whole share and nothing open: a new bucket says the same about them.
func (l *Limiter) forget() {
	if len(l.buckets) < l.tidy {
		return
	}
	now := l.now()
	for name, b := range l.buckets {
		if b.open == 0 && (b.rate == 0 || b.tokens.TokensAt(now) >= float64(b.tokens.Burst())) {
			delete(l.buckets, name)
		}
	}
	for name, b := range l.buckets {
		if len(l.buckets) < mostNames {
			break
		}
		if b.open == 0 {
			delete(l.buckets, name)
		}
	}
	l.tidy = max(tidyAt, 2*len(l.buckets))
}
