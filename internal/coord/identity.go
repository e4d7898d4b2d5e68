package coord

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// identCache remembers project ids, open sessions and keys, so that a call costs one statement. Entries age out: a
// revoked key stops working within cacheAge in other processes, at once in the one that revoked it.
type identCache struct {
	mu       *sync.Mutex
	projects map[string]int64
	sessions map[sessionKey]cached[int64]
	keys     map[[32]byte]cached[ident.Principal]
	seen     map[seenKey]struct{} // sessions that called since the last Sweep
	tidied   time.Time
	spaces   map[spaceKey]cached[space]
}

type sessionKey struct {
	project              int64
	agent, kind, session string
}

type cached[T any] struct {
	value T
	until time.Time
}

const (
	cacheAge  = 10 * time.Second // how long a key or session is trusted without asking the database
	cacheSize = 20_000           // entries per map; a full map is emptied
)

func newIdentCache() identCache {
	return identCache{
		mu: &sync.Mutex{}, projects: map[string]int64{},
		sessions: map[sessionKey]cached[int64]{}, keys: map[[32]byte]cached[ident.Principal]{},
		seen: map[seenKey]struct{}{}, spaces: map[spaceKey]cached[space]{},
	}
}

// Resolve implements op.Resolver. A principal bound to an agent or project may not act as another: forbidden.
func (s *Store) Resolve(ctx context.Context, p ident.Principal, claim ident.Claim, acts bool) (ident.Caller, error) {
	c := ident.Caller{
		Project: claim.Project, Repository: claim.Repository, Agent: claim.Agent, AgentType: claim.AgentType, Session: claim.Session,
		By: p.Name, Person: p.Person, Scopes: p.Scopes, Bound: p.ProjectID != 0,
	}
	if p.Agent != "" {
		if c.Agent != "" && c.Agent != p.Agent || p.AgentType != "" && c.AgentType != "" && c.AgentType != p.AgentType {
			return c, fault.New(client.CodeForbidden, "API key is not permitted to act as requested agent_id",
				"this key is bound to one agent", "leave agent_id out, or send the agent this key is bound to")
		}
		c.Agent = p.Agent
		if p.AgentType != "" {
			c.AgentType = p.AgentType
		}
	}
	if c.Project == "" && p.ProjectID == 0 {
		c.Project = "default"
	}
	var err error
	if c.ProjectID, err = s.projectID(ctx, c.Project, p.ProjectID); err != nil {
		return c, err
	}
	if p.ProjectID != 0 && c.ProjectID != p.ProjectID {
		return c, fault.New(client.CodeForbidden, "API key is not permitted in the requested project",
			"this key belongs to one project", "leave project out, or use a key of that project")
	}
	if c.Agent == "" {
		if acts {
			return c, fault.Invalid("agent_id", "agent_id is needed: this call acts for an agent", "send agent_id in the body or the header X-Agent-Id")
		}
		return c, nil
	}
	if acts {
		c.SessionID, err = s.sessionID(ctx, c)
	}
	return c, err
}

func (s *Store) projectID(ctx context.Context, name string, bound int64) (int64, error) {
	if name == "" {
		return bound, nil
	}
	s.cache.mu.Lock()
	id, ok := s.cache.projects[name]
	s.cache.mu.Unlock()
	if ok {
		return id, nil
	}
	id, err := one[int64](ctx, s, `select coord.ensure_project($1)`, name)
	if err == nil {
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
		if len(s.cache.projects) >= cacheSize {
			clear(s.cache.projects)
		}
		s.cache.projects[name] = id
	}
	return id, err
}

func (s *Store) sessionID(ctx context.Context, c ident.Caller) (int64, error) {
	key := sessionKey{c.ProjectID, c.Agent, c.AgentType, c.Session}
	s.cache.mu.Lock()
	e, ok := s.cache.sessions[key]
	if ok && len(s.cache.seen) < cacheSize {
		s.cache.seen[seenKey{c.ProjectID, e.value}] = struct{}{}
	}
	s.cache.mu.Unlock()
	if ok {
		return e.value, nil // a session that ended since is noticed by the function itself (PT440)
	}
	id, err := one[int64](ctx, s, `select coord.open_session($1, $2, nullif($3, ''), nullif($4, ''))`, c.ProjectID, c.Agent, c.AgentType, c.Session)
	if _, inTx := ctx.Value(txKey{}).(*unit); err == nil && !inTx { // one opened in a transaction may still be undone
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
		if len(s.cache.sessions) >= cacheSize {
			clear(s.cache.sessions)
		}
		s.cache.sessions[key] = cached[int64]{value: id}
	}
	return id, err
}

// Forget implements op.Resolver.
func (s *Store) Forget(c ident.Caller) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	for key := range s.cache.sessions {
		if key.project == c.ProjectID && key.agent == c.Agent && key.session == c.Session {
			delete(s.cache.sessions, key)
		}
	}
}

// Denied implements op.Resolver: one audit row for a forbidden call. It is best effort by design: the refusal
// itself changed nothing, and an outage must not turn a 403 into a 503.
func (s *Store) Denied(ctx context.Context, p ident.Principal, claim ident.Claim, operation, why string) {
	project, err := s.projectID(ctx, claim.Project, p.ProjectID)
	if err != nil || project == 0 {
		if project, err = s.projectID(ctx, "default", 0); err != nil {
			return
		}
	}
	_ = exec(ctx, s, `insert into coord.audit_log (project_id, principal, agent_id, operation, success, reason)
		values ($1, $2, nullif($3, ''), $4, false, $5)`, project, p.Name, claim.Agent, operation, why)
}

// HashKey is how a key is stored and looked up: SHA-256 of its text. Keys are long and random, so no salt or
// stretching is needed.
func HashKey(key string) [32]byte { return sha256.Sum256([]byte(key)) }

// Authenticate returns the principal of an API key, or an unauthenticated fault.
func (s *Store) Authenticate(ctx context.Context, key string) (ident.Principal, error) {
	hash, now := HashKey(key), time.Now()
	s.cache.mu.Lock()
	e, ok := s.cache.keys[hash]
	s.cache.mu.Unlock()
	if ok && now.Before(e.until) {
		return e.value, nil
	}
	var r struct {
		Name        string
		Scopes      []ident.Scope
		AgentID     string `json:"agent_id"`
		AgentType   string `json:"agent_type"`
		ProjectID   int64  `json:"project_id"`
		Person      string
		SecondsLeft *float64 `json:"seconds_left"` // until the secret ends; nil: never
		RateLimit   int      `json:"rate_limit"`
		StreamLimit int      `json:"stream_limit"`
	}
	raw, err := one[[]byte](ctx, s, `select coord.principal_of($1)`, hash[:])
	if err != nil {
		return ident.Principal{}, err
	}
	if raw == nil {
		return ident.Principal{}, fault.New(client.CodeUnauthenticated, "Invalid API key", "the key is unknown, revoked or expired",
			"send a valid key in X-API-Key; a person creates one with: coordctl keys create")
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return ident.Principal{}, fmt.Errorf("decode the principal: %w", err)
	}
	p := ident.Principal{
		Name: "key:" + r.Name, Agent: r.AgentID, AgentType: r.AgentType, ProjectID: r.ProjectID, Person: r.Person, Scopes: r.Scopes,
		Key: "key:" + r.Name, RateLimit: r.RateLimit, StreamLimit: r.StreamLimit,
	}
	if r.Person != "" {
		p.Name = "person:" + r.Person
	}
	until := now.Add(cacheAge)
	if r.SecondsLeft != nil {
		if end := now.Add(time.Duration(*r.SecondsLeft * float64(time.Second))); end.Before(until) {
			until = end
		}
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if len(s.cache.keys) >= cacheSize {
		clear(s.cache.keys)
	}
	s.cache.keys[hash] = cached[ident.Principal]{value: p, until: until}
	return p, nil
}
