package ops

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

const (
	workTopics  = "w:"            // prefix of the topics of the claiming engine
	workRecheck = 5 * time.Second // how often all waiting claimers of this process are looked after together
)

// claiming is get_work: claim, or wait until there is something to claim.
//
// A waiting call looks once at the start and then only when it is woken: by one unit of a lane it may take from, or
// because a demand class is new and turned out to fit. It answers "none" only when the database confirmed it: by a look
// at the end, or by a re-check that began shortly before.
type claiming struct {
	store *coord.Store
	hub   *dispatch.Hub
}

func newClaiming(d Deps) claiming {
	if d.Hub != nil && d.Store != nil {
		d.Hub.Recheck(workTopics, workRecheck, d.Store.ReadyTopics)
	}
	return claiming{d.Store, d.Hub}
}

func (g claiming) get(ctx context.Context, c ident.Caller, in client.GetWork) (client.Work, error) {
	if in.WaitSeconds <= 0 || g.hub == nil {
		return g.look(ctx, c, in)
	}
	end := time.NewTimer(time.Duration(in.WaitSeconds * float64(time.Second)))
	defer end.Stop()
	w := g.hub.Park(g.store.WorkTopics(c, in)...)
	defer w.Close()
	for why := woken; ; {
		looked := time.Now()
		out, err := g.look(ctx, c, in)
		if err == nil && out.Held {
			w.Close() // else it would take wake-ups that others wait for
			return g.held(ctx, c, in, out, end.C)
		}
		if err != nil || out.Success {
			if err == nil && why == learnt {
				g.wakeOthers(ctx, c, in)
			}
			return out, err
		}
		if w.Add(g.store.WorkTopics(c, in)...) {
			continue // something may have come to a lane before this call was parked on it
		}
		if why, err = g.await(ctx, c, in, w, end.C); err != nil {
			return client.Work{}, err
		}
		if why == timeUp {
			if g.hub.LastCheck(workTopics).After(looked) && time.Since(g.hub.LastCheck(workTopics)) < 2*workRecheck {
				return out, nil
			}
			return g.look(ctx, c, in)
		}
	}
}

// heldRecheck is how often a call that is held looks without having been woken.
const heldRecheck = 5 * time.Second

// held waits, on no lane, until the caller is let go or the time is up; then it looks for work as a call that begins.
func (g claiming) held(ctx context.Context, c ident.Caller, in client.GetWork, out client.Work, end <-chan time.Time) (client.Work, error) {
	w := g.hub.Park(g.store.HoldTopic(c))
	defer w.Close()
	look := time.NewTicker(heldRecheck)
	defer look.Stop()
	for {
		select {
		case <-w.C:
		case <-look.C:
		case <-end:
			return out, nil
		case <-ctx.Done():
			return out, ctx.Err()
		}
		again, err := g.look(ctx, c, in)
		if err != nil || !again.Held {
			return again, err
		}
		out = again
	}
}

// reason is why a waiting call looks again.
type reason int

const (
	woken  reason = iota // there was a unit for it
	learnt               // it found out, for all that offer the same, that a new class fits
	timeUp
)

// await waits for a reason to look.
func (g claiming) await(ctx context.Context, c ident.Caller, in client.GetWork, w *dispatch.Waiter, end <-chan time.Time) (reason, error) {
	for {
		select {
		case <-w.C:
		case <-end:
			return timeUp, nil
		case <-ctx.Done():
			return timeUp, ctx.Err()
		}
		unit, everybody := w.Why()
		grew := false
		if everybody {
			var err error
			if grew, err = g.store.LearnWork(ctx, c, in); err != nil {
				return timeUp, err
			}
			w.Add(g.store.WorkTopics(c, in)...)
		}
		if unit || grew {
			w.Requeue()
		}
		if grew {
			return learnt, nil
		}
		if unit {
			return woken, nil
		}
	}
}

// wakeOthers wakes a waiter for every task that is still ready: their wake-ups may have come before those waiting for
// them knew the class. It is best effort; the re-check does the same a little later.
func (g claiming) wakeOthers(ctx context.Context, c ident.Caller, in client.GetWork) {
	if news, err := g.store.ReadyTopics(ctx, g.store.WorkTopics(c, in)); err == nil {
		g.hub.Local(news)
	}
}

// errNone undoes a look that found nothing, so that the request key is not used up by it.
var errNone = errors.New("no task")

// look claims once. With a request key the reply is stored in the claim's own transaction, and a repeat gets the same
// task again.
func (g claiming) look(ctx context.Context, c ident.Caller, in client.GetWork) (client.Work, error) {
	if c.RequestKey == "" {
		return g.store.ClaimWork(ctx, c, in)
	}
	in.WaitSeconds = 0 // a repeat may wait longer
	body, err := json.Marshal(in)
	if err != nil {
		return client.Work{}, err
	}
	hash := sha256.Sum256(body)
	var out client.Work
	raw, replayed, err := g.store.Once(ctx, c, "get_work", hash[:], func(ctx context.Context) (json.RawMessage, error) {
		if out, err = g.store.ClaimWork(ctx, c, in); err != nil {
			return nil, err
		}
		if !out.Success {
			return nil, errNone
		}
		return json.Marshal(out)
	})
	if errors.Is(err, errNone) {
		return out, nil
	}
	if err == nil && replayed {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}
