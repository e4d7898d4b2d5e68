package coord

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
)

// fastDepth is the most ancestors a key may have on the fast path, its own base included.
const fastDepth = 13

// stamp is RFC 3339 in UTC with microseconds, as coord.ts prints it.
const stamp = "2006-01-02T15:04:05.000000Z07:00"

// fast is a call for one literal key.
type fast struct {
	key   lockpath.Key
	space space
	shown string // as the reply and the audit row name it
}

// fastKey tells whether the call is for one literal key; every other goes the general way.
func (a *lockArgs) fastKey() (fast, bool) {
	if len(a.keys) != 1 || a.keys[0].Kind != lockpath.Literal {
		return fast{}, false
	}
	k := a.keys[0]
	f := fast{key: k, space: space{ID: a.space[0], Name: a.repo[0]}, shown: k.Path}
	if f.space.ID != 0 && f.space.ID != a.home {
		f.shown = "@" + f.space.Name + "//" + k.Path
	}
	return f, true
}

// fastRow is what coord.acquire_lock answers, and with outcome held what coord.lock_holder does.
type fastRow struct {
	Outcome       string
	Token         *int64
	ExpiresAt     *time.Time
	Now           *time.Time
	LockedBy      *string
	AgentType     *string
	HolderSession *string
	Branch        *string
	Reason        *string
	LockedAt      *time.Time
}

const (
	outcomeHeld = "held"
	exclusive   = "exclusive"
)

// acquireOne tries the fast path; done is false when the general one has to decide.
func (s *Store) acquireOne(ctx context.Context, c ident.Caller, f fast, in client.AcquireLock) (_ LockAttempt, done bool, err error) {
	anc := f.key.Ancestors()
	if len(anc) > fastDepth {
		return LockAttempt{}, false, nil
	}
	mode := cmp.Or(in.Mode, exclusive)
	r, err := s.take(ctx, oneKey{c: c, f: f, anc: anc, branch: in.Branch, mode: mode, ttl: cmp.Or(in.TTLMinutes, defaultTTL), reason: in.Reason})
	if err != nil {
		return LockAttempt{}, false, err
	}
	switch r.Outcome {
	case "acquired", "refreshed":
		t := LockAttempt{Result: client.LockResult{
			Success: true, Action: r.Outcome, FilePath: f.shown, Mode: mode,
			ExpiresAt: r.ExpiresAt.UTC().Format(stamp), FencingToken: strconv.FormatInt(*r.Token, 10),
		}}
		if r.Outcome == "acquired" {
			t.Grant = *r.Token
		}
		return t, true, nil
	case outcomeHeld:
		return LockAttempt{Result: r.refusal(c, f)}, true, nil
	}
	return LockAttempt{}, false, nil
}

// refusal is the reply that coord.lock_refused would build. The lock in the way is an exclusive one on the very path.
func (r *fastRow) refusal(c ident.Caller, f fast) client.LockResult {
	str := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	out := client.LockResult{
		Action: "blocked", Reason: "locked_by_other", FilePath: f.shown, LockedBy: str(r.LockedBy), LockReason: str(r.Reason),
		ExpiresAt: r.ExpiresAt.UTC().Format(stamp), QueuePosition: 1,
		Conflicts: []client.LockConflict{{
			FilePath: f.shown, LockedBy: str(r.LockedBy), AgentType: str(r.AgentType), SessionID: str(r.HolderSession),
			Mode: exclusive, Branch: str(r.Branch), Reason: str(r.Reason), LockedAt: r.LockedAt.UTC().Format(stamp),
			ExpiresAt: r.ExpiresAt.UTC().Format(stamp), SecondsLeft: int(math.Ceil(r.ExpiresAt.Sub(*r.Now).Seconds())),
		}},
		Next: "call again with wait_seconds to queue for it, or work on something else until it is free",
	}
	if c.Agent == str(r.LockedBy) {
		out.Next = "you hold it yourself, in your session " + str(r.HolderSession) + ": release it there, or go on in that session"
	}
	return out
}

// releaseOne tries the fast path of a release.
func (s *Store) releaseOne(ctx context.Context, c ident.Caller, f fast) (_ client.ReleaseResult, done bool, err error) {
	anc := f.key.Ancestors()
	if len(anc) > fastDepth {
		return client.ReleaseResult{}, false, nil
	}
	done, err = s.free(ctx, oneKey{c: c, f: f, anc: anc})
	return client.ReleaseResult{Success: true, Action: "released", Released: true, FilePath: f.shown, Count: 1}, done, err
}
