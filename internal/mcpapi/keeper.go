package mcpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// Operations that a keeper calls, where the catalogue has them.
const (
	opHeartbeat  = "heartbeat"
	opRenewLocks = "renew_locks"
	opRenewWork  = "renew_work"
	opEndSession = "end_session"
)

const (
	// beatEvery is a quarter of the default 120 s after which a silent session lapses.
	beatEvery = 30 * time.Second
	beatRetry = 5 * time.Second // after a failed one
	minBeat   = time.Second
	beatWait  = 10 * time.Second // of one round for one session
	// renewFor bounds renewal without any call: an agent that forgot its locks and sits idle must not hold them for
	// as long as its window stays open.
	renewFor = 2 * time.Hour
	// keepFor is how long a session that only calls named (not the process's own) is kept without any call: hosts
	// open many threads over one process.
	keepFor = time.Hour
)

// Keeper keeps the sessions that called alive: a heartbeat each 30 s (sooner where a session would lapse sooner), and their locks and leases renewed, until Run's
// context ends. A process that dies sends no more, and its sessions lapse after 120 s.
type Keeper struct {
	inv Invoker
	cat *op.Catalogue
	log *slog.Logger
	own func() string // the process's own session, kept whether it calls or not once it called

	mu       sync.Mutex
	sessions map[ident.Claim]*kept
	kick     chan struct{}
}

type kept struct {
	principal ident.Principal
	caller    ident.Caller
	lastCall  time.Time
	nextBeat  time.Time
	every     time.Duration
}

// NewKeeper returns a keeper that calls through inv. own names the process's own session; nil: there is none.
func NewKeeper(cat *op.Catalogue, inv Invoker, own func() string, log *slog.Logger) *Keeper {
	if own == nil {
		own = func() string { return "" }
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Keeper{inv: inv, cat: cat, log: log, own: own, sessions: map[ident.Claim]*kept{}, kick: make(chan struct{}, 1)}
}

// seen records that a session called. It returns the caller, with the internal session id of an earlier call where
// this one, a read, has none.
func (k *Keeper) seen(p ident.Principal, claim ident.Claim, c ident.Caller) ident.Caller {
	if claim.Agent == "" || claim.Session == "" {
		return c
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sessions[claim]
	if s == nil {
		s = &kept{principal: p, every: beatEvery}
		k.sessions[claim] = s
		select {
		case k.kick <- struct{}{}:
		default:
		}
	}
	s.lastCall = time.Now()
	if c.SessionID != 0 {
		s.caller = c
	} else if s.caller.SessionID != 0 {
		c.ProjectID, c.SessionID, c.Session = s.caller.ProjectID, s.caller.SessionID, s.caller.Session
	}
	return c
}

// drop forgets a session that ended: a heartbeat would open it again.
func (k *Keeper) drop(claim ident.Claim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.sessions, claim)
}

// Run beats until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	t := time.NewTimer(beatEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-k.kick:
		}
		k.RunOnce(ctx, time.Now())
		t.Reset(k.pause(time.Now()))
	}
}

// RunOnce sends what is due at now: a heartbeat and the renewals for every session that has not had one for an
// interval. Failures are tried again with the next round.
func (k *Keeper) RunOnce(ctx context.Context, now time.Time) {
	for claim, s := range k.due(now) {
		bctx, cancel := context.WithTimeout(ctx, beatWait)
		k.beat(bctx, claim, s, now)
		cancel()
	}
}

// due takes the sessions whose next heartbeat has come.
func (k *Keeper) due(now time.Time) map[ident.Claim]kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := map[ident.Claim]kept{}
	for claim, s := range k.sessions {
		if claim.Session != k.own() && now.Sub(s.lastCall) > keepFor {
			delete(k.sessions, claim)
			continue
		}
		if !now.Before(s.nextBeat) {
			s.nextBeat = now.Add(s.every)
			out[claim] = *s
		}
	}
	return out
}

// pause is the time until the next heartbeat is due.
func (k *Keeper) pause(now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := beatEvery
	for _, s := range k.sessions {
		d = min(d, s.nextBeat.Sub(now))
	}
	return max(d, minBeat)
}

func (k *Keeper) beat(ctx context.Context, claim ident.Claim, s kept, now time.Time) {
	resp, err := k.call(ctx, opHeartbeat, s.principal, claim, map[string]any{})
	if err != nil {
		k.log.WarnContext(ctx, "heartbeat failed", "session", claim.Session, "err", err)
		k.retry(claim)
		return
	}
	k.beaten(claim, resp, now)
	if now.Sub(s.lastCall) > renewFor {
		return
	}
	for _, name := range []string{opRenewLocks, opRenewWork} {
		if _, err := k.call(ctx, name, s.principal, claim, map[string]any{}); err != nil {
			k.log.WarnContext(ctx, "renewal failed", "op", name, "session", claim.Session, "err", err)
		}
	}
}

// beaten notes what a heartbeat told: the session's id, and how soon it would lapse.
func (k *Keeper) beaten(claim ident.Claim, resp op.Response, now time.Time) {
	var reply struct {
		LapseSeconds float64 `json:"lapse_seconds"`
	}
	if raw, err := json.Marshal(resp.Body); err == nil {
		_ = json.Unmarshal(raw, &reply) // one that does not say keeps the interval
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sessions[claim]
	if s == nil {
		return
	}
	if resp.Caller.SessionID != 0 {
		s.caller = resp.Caller
	}
	if reply.LapseSeconds > 0 {
		s.every = max(min(time.Duration(reply.LapseSeconds/4*float64(time.Second)), beatEvery), minBeat)
		s.nextBeat = now.Add(s.every)
	}
}

// retry makes the session due soon.
func (k *Keeper) retry(claim ident.Claim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.sessions[claim]; s != nil {
		s.nextBeat = time.Now().Add(min(s.every, beatRetry))
	}
}

// call runs an operation of the catalogue; one that it does not have does nothing.
func (k *Keeper) call(ctx context.Context, name string, p ident.Principal, claim ident.Claim, args map[string]any) (op.Response, error) {
	def := k.cat.Get(name)
	if def == nil {
		return op.Response{}, nil
	}
	return k.inv.Call(ctx, def, op.Request{Principal: p, Claim: claim, Args: args, Door: "mcp", RequestID: "mcp-" + randomHex(6)})
}

// End closes every session that is kept, which gives back its locks and tasks. It is for an orderly end of the process
// only, and tries each once.
func (k *Keeper) End(ctx context.Context) {
	k.mu.Lock()
	all := k.sessions
	k.sessions = map[ident.Claim]*kept{}
	k.mu.Unlock()
	for claim, s := range all {
		if _, err := k.call(ctx, opEndSession, s.principal, claim, map[string]any{"reason": "the agent's host closed the connection"}); err != nil {
			k.log.WarnContext(ctx, "session could not be ended; it lapses by itself", "session", claim.Session, "err", err)
		}
	}
}
