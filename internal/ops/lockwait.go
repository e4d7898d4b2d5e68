package ops

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

const (
	lookEvery     = 2 * time.Second  // slow re-check of a waiter; the database drops one that is silent for 5 s
	firstProgress = 2 * time.Second  // a wait this long is reported
	progressEvery = 5 * time.Second  // and again so often
	cleanupTime   = 5 * time.Second  // to leave the queue after the caller has gone
	attemptTime   = 15 * time.Second // of one look; it is not cut short when the caller goes, so that its outcome is known
)

// waiter takes locks, waiting in line when asked to.
type waiter struct {
	store *coord.Store
	hub   *dispatch.Hub
}

// acquire is the operation: one attempt, or with wait_seconds as many as it takes. The caller's going away leaves the
// queue, and gives back a lock that was granted at that very moment.
func (w waiter) acquire(ctx context.Context, c ident.Caller, in client.AcquireLock) (client.LockResult, error) {
	if in.WaitSeconds <= 0 || w.hub == nil {
		t, err := w.attempt(ctx, c, in, nil)
		return t.Result, err
	}
	start := time.Now()
	turn := coord.LockWait{Topic: "l:" + strconv.FormatInt(c.ProjectID, 10) + ":" + rand.Text()}
	parked := w.hub.Park(turn.Topic) // before the first look: no wake-up is missed
	defer parked.Close()
	t, err := w.line(ctx, c, in, &turn, parked, start)
	if turn.Ticket != 0 {
		t.Result.Ticket = strconv.FormatInt(turn.Ticket, 10)
		t.Result.WaitedMS = int(time.Since(start).Milliseconds())
	}
	return t.Result, err
}

// line looks, waits and looks again until the locks are had, refused, the time is up or the caller goes.
func (w waiter) line(ctx context.Context, c ident.Caller, in client.AcquireLock, turn *coord.LockWait, parked *dispatch.Waiter, start time.Time) (coord.LockAttempt, error) {
	total := time.Duration(in.WaitSeconds * float64(time.Second))
	report := firstProgress
	for {
		t, err := w.look(ctx, c, in, turn)
		left := total - time.Since(start)
		switch {
		case err != nil:
			if turn.Ticket == 0 {
				turn.Ticket = t.Ticket // the caller went during the very look that queued it
			}
			w.leave(ctx, c, turn)
			return t, err
		case t.Retry:
			turn.Ticket = 0
			turn.Last = left <= 0
			continue
		case !t.Waiting:
			return t, nil
		}
		turn.Ticket = t.Ticket
		if left <= 0 {
			turn.Last = true
			continue
		}
		until := time.Now().Add(min(lookEvery, left, max(t.Again, time.Millisecond)))
		for woken := false; !woken && time.Now().Before(until); {
			timer := time.NewTimer(min(time.Until(until), time.Until(start.Add(report))))
			select {
			case <-parked.C:
				woken = true
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				w.leave(ctx, c, turn)
				return t, ctx.Err()
			}
			timer.Stop()
			if past := time.Since(start); past >= report {
				op.Progress(ctx, past.Seconds(), in.WaitSeconds, waitText(t))
				report += progressEvery
			}
		}
	}
}

func waitText(t coord.LockAttempt) string {
	return fmt.Sprintf("waiting for %s, held by %s; place %d in line", t.Result.FilePath, t.Result.LockedBy, t.Result.QueuePosition)
}

// look makes one attempt to its end, whatever happens to the caller, and undoes a grant that nobody waits for.
func (w waiter) look(ctx context.Context, c ident.Caller, in client.AcquireLock, turn *coord.LockWait) (coord.LockAttempt, error) {
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTime)
	defer cancel()
	t, err := w.attempt(keep, c, in, turn)
	if turn.Last && err == nil && !t.Result.Success {
		err = w.store.CancelWait(keep, c, turn.Ticket)
	}
	if ctx.Err() == nil {
		return t, err
	}
	if err == nil && t.Grant != 0 && c.RequestKey == "" { // with a key the caller may ask again and get this grant
		err = w.store.UndoLock(keep, c, t.Grant)
	}
	if err == nil {
		err = ctx.Err()
	}
	return t, err
}

// leave takes the waiter out of the queue. A failure is covered: the database drops who is silent for 5 s.
func (w waiter) leave(ctx context.Context, c ident.Caller, turn *coord.LockWait) {
	if turn.Ticket == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	_ = w.store.CancelWait(ctx, c, turn.Ticket)
}

// attempt is one look, under the request key if there is one: a final outcome is remembered with its changes, one
// that waits is not.
func (w waiter) attempt(ctx context.Context, c ident.Caller, in client.AcquireLock, turn *coord.LockWait) (coord.LockAttempt, error) {
	if c.RequestKey == "" {
		return w.store.AcquireLock(ctx, c, in, turn)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return coord.LockAttempt{}, err
	}
	hash := sha256.Sum256(body)
	var t coord.LockAttempt
	raw, replayed, err := w.store.Once(ctx, c, "acquire_lock", hash[:], func(ctx context.Context) (json.RawMessage, error) {
		if t, err = w.store.AcquireLock(ctx, c, in, turn); err != nil || t.Waiting || t.Retry {
			return nil, err
		}
		return json.Marshal(t.Result)
	})
	if err == nil && replayed {
		t = coord.LockAttempt{}
		err = json.Unmarshal(raw, &t.Result)
	}
	return t, err
}
