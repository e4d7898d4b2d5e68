// Package pgnotify carries wake-ups between processes over Postgres's NOTIFY. One connection of its own listens; what
// it hears goes into the local waiting room. What this process has to tell is collected and sent at most every few
// milliseconds as one notification, outside every writer's transaction: a writer never holds the notify lock over its
// commit.
//
// Promise: a notification is a hint. It may be lost (the connection was down, the process died before the flush) or
// come twice. After every (re)connect everybody is woken, and waiters have a slow re-check of their own. Without a
// listening connection string nothing is heard and the hub stays offline, so that it re-checks often.
// Neither Send nor a dead database ever blocks a caller.
package pgnotify

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	mrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Channel is the one channel all processes use.
const Channel = "coord"

const (
	maxPayload   = 7900        // bytes; Postgres allows less than 8000
	maxCount     = 256         // mentions of one topic in one notification; more units find their waiters by re-check
	maxDirty     = 10_000      // topics kept while the database is away; beyond that everybody elsewhere re-checks anyway
	everything   = "*"         // payload that wakes everybody
	pingEvery    = time.Minute // a listening connection that is silent this long is asked whether it lives
	askTimeout   = 5 * time.Second
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 10 * time.Second
)

// Hub is what news is handed to; *dispatch.Hub is one.
type Hub interface {
	Local(topics []string)
	All()
	Online(bool)
}

// Config of a Notifier. Pool sends; it may go through a pooler. ListenDSN must lead to Postgres itself; empty: this
// process does not listen. Every is the debounce, 5 ms when 0. Log may be nil.
type Config struct {
	Pool      *pgxpool.Pool
	ListenDSN string
	Every     time.Duration
	Log       *slog.Logger
}

// Notifier sends and hears wake-ups. Its Send is the outbox of a dispatch.Hub.
type Notifier struct {
	cfg    Config
	sender string
	kick   chan struct{}

	mu    sync.Mutex
	dirty map[string]int

	sent, heard, failed, reconnects, dropped atomic.Int64
}

// Stats are counters since the start.
type Stats struct {
	Sent       int64 // notifications sent
	Heard      int64 // notifications of other processes
	Failed     int64 // flushes that did not reach the database
	Reconnects int64 // times the listening connection was lost or could not be made
	Dropped    int64 // topics given up because too many waited to be sent
}

// New returns a notifier; nothing happens before Run.
func New(cfg Config) *Notifier {
	if cfg.Every <= 0 {
		cfg.Every = 5 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	id := make([]byte, 6)
	_, _ = rand.Read(id) // never fails
	return &Notifier{cfg: cfg, sender: hex.EncodeToString(id), kick: make(chan struct{}, 1), dirty: map[string]int{}}
}

// Stats returns the counters, for the metrics.
func (n *Notifier) Stats() Stats {
	return Stats{n.sent.Load(), n.heard.Load(), n.failed.Load(), n.reconnects.Load(), n.dropped.Load()}
}

// Send takes topics to tell other processes soon. It never blocks.
func (n *Notifier) Send(topics []string) {
	n.mu.Lock()
	for _, t := range topics {
		if _, known := n.dirty[t]; !known && len(n.dirty) >= maxDirty {
			n.dropped.Add(1)
			continue
		}
		n.dirty[t] = min(n.dirty[t]+1, maxCount)
	}
	n.mu.Unlock()
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// Run listens and sends until ctx is done. It outlives every outage.
func (n *Notifier) Run(ctx context.Context, hub Hub) {
	var listening sync.WaitGroup
	if n.cfg.ListenDSN != "" {
		listening.Go(func() { n.listen(ctx, hub) })
	}
	n.flushLoop(ctx)
	listening.Wait()
}

// flushLoop sends what is dirty, at most once per cfg.Every; what is dirty when ctx ends is sent before it returns.
func (n *Notifier) flushLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			n.flush(last)
			cancel()
			return
		case <-n.kick:
		}
		if !pause(ctx, n.cfg.Every) {
			continue
		}
		if !n.flush(ctx) {
			pause(ctx, time.Second)
		}
	}
}

// flush sends everything dirty in one statement; what could not be sent is dirty again.
func (n *Notifier) flush(ctx context.Context) bool {
	n.mu.Lock()
	topics := n.dirty
	n.dirty = map[string]int{}
	n.mu.Unlock()
	if len(topics) == 0 {
		return true
	}
	payloads := encode(n.sender, topics)
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	// The commit need not reach the disk: a wake-up lost in a crash wakes nobody who is still there.
	_, err := n.cfg.Pool.Exec(ctx, `select set_config('synchronous_commit', 'off', true), pg_notify($1, p) from unnest($2::text[]) p`, Channel, payloads)
	if err == nil {
		n.sent.Add(int64(len(payloads)))
		return true
	}
	n.failed.Add(1)
	n.mu.Lock()
	for t, count := range topics {
		n.dirty[t] = min(n.dirty[t]+count, maxCount)
	}
	n.mu.Unlock()
	select {
	case n.kick <- struct{}{}:
	default:
	}
	return false
}

// encode packs topics as "<sender> topic topic*3 …". Too many for eight notifications become one that wakes everybody.
func encode(sender string, topics map[string]int) []string {
	var out []string
	var b strings.Builder
	b.WriteString(sender)
	for t, count := range topics {
		if count > 1 {
			t += "*" + strconv.Itoa(count)
		}
		if len(sender)+1+len(t) > maxPayload || strings.ContainsAny(t, " ") {
			return []string{sender + " " + everything}
		}
		if b.Len()+1+len(t) > maxPayload {
			out = append(out, b.String())
			b.Reset()
			b.WriteString(sender)
		}
		b.WriteByte(' ')
		b.WriteString(t)
	}
	if out = append(out, b.String()); len(out) > 8 {
		return []string{sender + " " + everything}
	}
	return out
}

// decode is the reverse of encode; all means: wake everybody.
func decode(payload string) (sender string, topics []string, all bool) {
	fields := strings.Fields(payload)
	if len(fields) == 0 {
		return "", nil, true
	}
	for _, f := range fields[1:] {
		t, count, many := strings.Cut(f, "*")
		if t == "" {
			return fields[0], nil, true
		}
		c := 1
		if many {
			if k, err := strconv.Atoi(count); err == nil {
				c = max(1, min(k, maxCount))
			}
		}
		for range c {
			topics = append(topics, t)
		}
	}
	return fields[0], topics, false
}

// listen keeps one listening connection until ctx is done.
func (n *Notifier) listen(ctx context.Context, hub Hub) {
	backoff := firstBackoff
	for ctx.Err() == nil {
		began := time.Now()
		err := n.session(ctx, hub)
		hub.Online(false)
		if ctx.Err() != nil {
			return
		}
		n.reconnects.Add(1)
		n.cfg.Log.WarnContext(ctx, "the notification listener lost its connection; wake-ups from other processes come by re-check until it is back", "err", err)
		if time.Since(began) > lastBackoff {
			backoff = firstBackoff
		}
		pause(ctx, backoff+mrand.N(backoff))
		backoff = min(2*backoff, lastBackoff)
	}
}

// session is one connection's life.
func (n *Notifier) session(ctx context.Context, hub Hub) error {
	dial, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := pgx.Connect(dial, n.cfg.ListenDSN)
	if err != nil {
		return err
	}
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(bye)
	}()
	if _, err := conn.Exec(dial, "listen "+Channel); err != nil {
		return err
	}
	hub.Online(true)
	hub.All()
	for {
		wait, cancel := context.WithTimeout(ctx, pingEvery)
		news, err := conn.WaitForNotification(wait)
		silent := wait.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			n.take(hub, news.Payload)
		case silent:
			ask, cancel := context.WithTimeout(ctx, askTimeout)
			err = conn.Ping(ask)
			cancel()
			if err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func (n *Notifier) take(hub Hub, payload string) {
	sender, topics, all := decode(payload)
	if sender == n.sender {
		return
	}
	n.heard.Add(1)
	if all {
		hub.All()
		return
	}
	hub.Local(topics)
}

// pause waits for d; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
