package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
)

const (
	outboxBatch = 32
	outboxLease = 90 * time.Second
	sendTime    = time.Minute
	mostSends   = 20 // attempts before a row is given up; with the pauses below, about a day
	keepDays    = 30 // deliveries and notifications that were done with
	historyDays = 90 // timelines of what was decided, moves of branches
	purgeLimit  = 5000
	sweepLimit  = 100
)

// sendOutbox tells outside what is due.
func (g *Gateway) sendOutbox(ctx context.Context) (int, error) {
	due, err := g.store.TakeOutbox(ctx, outboxBatch, outboxLease)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	group, sending := errgroup.WithContext(ctx)
	group.SetLimit(g.cfg.Workers)
	var mu sync.Mutex
	var sent []coord.OutboxRow
	for _, row := range due {
		group.Go(func() error {
			told, err := g.send(sending, row)
			if told {
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, row)
			}
			return err
		})
	}
	err = group.Wait()
	return len(due), errors.Join(err, g.store.EndSent(ctx, sent))
}

// send tells one thing outside. told: it is a status that was shown, whose row is still to be ended. Statuses are ended a
// batch at a time, because one that is shown twice harms nobody; a message to people is ended at once.
func (g *Gateway) send(ctx context.Context, row coord.OutboxRow) (told bool, err error) {
	out, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	err = g.tell(out, row)
	pause, busy := waitFor(err, min(time.Second<<min(row.Attempts, 12), time.Hour))
	switch {
	case err == nil && row.Kind == "status":
		return true, nil
	case err == nil:
		return false, g.store.EndOutbox(ctx, row, "sent", "", 0)
	case errors.Is(err, ErrElsewhere):
		return false, g.store.EndOutbox(ctx, row, "skipped", err.Error(), 0)
	case errors.Is(err, ErrGone), row.Attempts >= mostSends && !busy:
		g.log.WarnContext(ctx, "something could not be told outside and is given up", "kind", row.Kind, "id", row.ID, "err", err)
		return false, g.store.EndOutbox(ctx, row, "dead", err.Error(), 0)
	case ctx.Err() != nil:
		return false, ctx.Err() // the lease runs out
	}
	return false, g.store.EndOutbox(ctx, row, "", err.Error(), pause)
}

func (g *Gateway) tell(ctx context.Context, row coord.OutboxRow) error {
	if row.Kind == "notify" {
		if g.cfg.Notify == nil {
			return ErrElsewhere
		}
		var n Notification
		if err := json.Unmarshal(row.Payload, &n); err != nil {
			return errors.Join(ErrGone, err)
		}
		if n.URL == "" {
			n.URL = g.link(n.ChangesetID)
		}
		return g.cfg.Notify.Notify(ctx, n)
	}
	if g.cfg.Forge == nil {
		return ErrElsewhere
	}
	var s Status
	if err := json.Unmarshal(row.Payload, &s); err != nil {
		return errors.Join(ErrGone, err)
	}
	s.TargetURL = g.link(s.ChangesetID)
	return g.cfg.Forge.PostStatus(ctx, s)
}

// link is where a changeset can be looked at.
func (g *Gateway) link(id string) string {
	if g.cfg.Page == "" || id == "" {
		return ""
	}
	return g.cfg.Page + id
}

// sweep ends what time has ended.
func (g *Gateway) sweep(ctx context.Context) (int, error) {
	n, err := g.store.SweepChangesets(ctx, sweepLimit, g.cfg.Queue, g.cfg.Blocked)
	if n < sweepLimit {
		n = 0 // the rest was looked at
	}
	return n, err
}

// tidy keeps what labels lock, and removes what nobody will ask for any more.
func (g *Gateway) tidy(ctx context.Context) (int, error) {
	if _, err := g.store.RenewLabelLocks(ctx, labelTTL); err != nil {
		return 0, err
	}
	deliveries, err := g.store.PurgeDeliveries(ctx, keepDays, purgeLimit)
	if err != nil {
		return 0, err
	}
	rows, err := g.store.PurgeOutbox(ctx, keepDays, purgeLimit)
	if err != nil {
		return 0, err
	}
	history, err := g.store.PurgeHistory(ctx, historyDays, purgeLimit)
	if deliveries+rows+history < purgeLimit {
		return 0, err
	}
	return deliveries + rows + history, err
}

const (
	resendFirst   = 3 * 24 * time.Hour // how far back a new process asks: a forge keeps failed deliveries for days
	resendOverlap = 10 * time.Minute
)

// resend asks the forge to deliver again what failed to arrive, so that what was sent while nothing listened comes.
func (g *Gateway) resend(ctx context.Context) (int, error) {
	now := time.Now()
	since := now.Add(-resendFirst)
	if last := g.resent.Load(); last != 0 {
		since = time.Unix(0, last).Add(-resendOverlap)
	}
	n, err := g.cfg.Resend.Redeliver(ctx, since)
	if err != nil {
		return 0, err
	}
	g.resent.Store(now.UnixNano())
	if n > 0 {
		g.log.InfoContext(ctx, "asked for deliveries that had not arrived", "deliveries", n)
	}
	return 0, nil
}

// tail is the end of s, at most n bytes, beginning with a whole character. NUL, which Postgres cannot store, is left out.
func tail(s string, n int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) > n {
		s = s[len(s)-n:]
		for len(s) > 0 && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	return s
}
