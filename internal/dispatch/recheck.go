package dispatch

import (
	"context"
	"strings"
	"sync/atomic"
	"time"
)

// Recheck makes the hub ask look, while anybody is parked on a topic that begins with prefix, which of those topics
// have news: one question for all waiters, in place of one each. It asks every interval while wake-ups from other
// processes arrive (see Online), and every second while they do not. look may name a topic several times. A failed
// look changes nothing; LastCheck tells.
// Call it once per prefix, before the first Park. The asking goroutine lives only while somebody is parked.
func (h *Hub) Recheck(prefix string, interval time.Duration, look func(ctx context.Context, topics []string) (news []string, err error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = append(h.checks, &check{prefix: prefix, interval: interval, look: look})
}

// Online tells whether news of other processes arrives by itself. A new hub is offline.
func (h *Hub) Online(yes bool) { h.online.Store(yes) }

// LastCheck is when the latest successful re-check of that prefix began; the zero time when there was none.
func (h *Hub) LastCheck(prefix string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.checks {
		if c.prefix == prefix {
			return time.Unix(0, c.last.Load())
		}
	}
	return time.Time{}
}

// offlineInterval is how often a hub asks that hears nothing from other processes.
const offlineInterval = time.Second

type check struct {
	prefix   string
	interval time.Duration
	look     func(ctx context.Context, topics []string) ([]string, error)
	parked   int                // entries on topics of the prefix, guarded by Hub.mu
	stop     context.CancelFunc // of the running goroutine, guarded by Hub.mu
	last     atomic.Int64       // Unix nanoseconds
}

// count keeps the re-checks that concern topic t running while somebody is parked on it. The caller holds h.mu.
func (h *Hub) count(t string, by int) {
	for _, c := range h.checks {
		if !strings.HasPrefix(t, c.prefix) {
			continue
		}
		c.parked += by
		switch {
		case c.parked > 0 && c.stop == nil:
			ctx, stop := context.WithCancel(context.Background())
			c.stop = stop
			go h.recheck(ctx, c)
		case c.parked == 0 && c.stop != nil:
			c.stop()
			c.stop = nil
		}
	}
}

func (h *Hub) recheck(ctx context.Context, c *check) {
	for {
		interval := c.interval
		if !h.online.Load() {
			interval = min(interval, offlineInterval)
		}
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		began := time.Now()
		looking, cancel := context.WithTimeout(ctx, c.interval)
		news, err := c.look(looking, h.topics(c.prefix))
		cancel()
		if err == nil {
			c.last.Store(began.UnixNano())
			h.Local(news)
		}
	}
}

// topics lists the topics of a prefix that somebody is parked on.
func (h *Hub) topics(prefix string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]string, 0, 16)
	for t := range h.parked {
		if strings.HasPrefix(t, prefix) {
			out = append(out, t)
		}
	}
	return out
}
