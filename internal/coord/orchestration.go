package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// OrchestrationSettings bound what sessions, runs and runners may do. Zero members take the defaults.
type OrchestrationSettings struct {
	PollTimeout time.Duration // how long a runner's poll waits; at most 30 s
	Heartbeat   time.Duration // how often a runner is asked to send one
	Stale       time.Duration // silence after which another process may take a runner's name
	Remove      time.Duration // silence after which a runner is gone and its runs have failed
	NoMatch     time.Duration // how long a run waits for a runner that fits
	ClaimLease  time.Duration // a claimed run that is not reported started by then goes on
	MaxDepth    int           // of nested sessions
	MaxChildren int           // of one session, at work at a time
}

// orchestration is what a store knows beside the database. The zero value is ready.
type orchestration struct {
	mu    sync.Mutex
	set   OrchestrationSettings
	memos map[string]claimMemo // by runner
}

// maxPoll is how long a poll waits at most: unmodified runners give up after 35 seconds.
const maxPoll = 30 * time.Second

// Orchestrate sets the bounds; without it the defaults hold.
func (s *Store) Orchestrate(set OrchestrationSettings) {
	s.orch.mu.Lock()
	defer s.orch.mu.Unlock()
	s.orch.set = set
}

// Orchestration returns the bounds in force.
func (s *Store) Orchestration() OrchestrationSettings {
	s.orch.mu.Lock()
	defer s.orch.mu.Unlock()
	o := s.orch.set
	o.PollTimeout = min(cmp.Or(o.PollTimeout, maxPoll), maxPoll)
	o.Heartbeat = cmp.Or(o.Heartbeat, time.Minute)
	o.Stale = cmp.Or(o.Stale, 2*time.Minute)
	o.Remove = max(cmp.Or(o.Remove, 10*time.Minute), o.Stale)
	o.NoMatch = cmp.Or(o.NoMatch, 5*time.Minute)
	o.ClaimLease = cmp.Or(o.ClaimLease, 30*time.Second)
	o.MaxDepth = cmp.Or(o.MaxDepth, 10)
	o.MaxChildren = cmp.Or(o.MaxChildren, 100)
	return o
}

// wholeSeconds rounds up: a threshold never becomes none.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// only is the project a key is bound to; nil: ids are found in every project.
func only(c ident.Caller) *int64 {
	if c.Bound {
		return &c.ProjectID
	}
	return nil
}

// members are the members of a wire struct that were sent, as JSON.
func members(in any) ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fault.Invalid("", "the request is not JSON", "send plain values")
	}
	return raw, nil
}

// acted calls a changing function whose last argument is the request as jsonb.
func acted[T any](ctx context.Context, s *Store, in any, sql string, args ...any) (T, error) {
	raw, err := members(in)
	if err != nil {
		var none T
		return none, err
	}
	return act[T](ctx, s, sql, append(args, raw)...)
}

// ListOrchestratedSessions lists the project's sessions, newest first.
func (s *Store) ListOrchestratedSessions(ctx context.Context, c ident.Caller, in client.ListOrchestratedSessions) (client.OrchestratedSessions, error) {
	if in.Before == "" {
		return s.listSessions(ctx, c, in)
	}
	filter, err := members(in)
	if err != nil {
		return client.OrchestratedSessions{}, err
	}
	return reply[client.OrchestratedSessions](ctx, s, `select coord.orchestrated_sessions($1, $2, $3, nullif($4, ''))`,
		c.ProjectID, filter, cmp.Or(in.Limit, 10_000), in.Before)
}

// CreateOrchestratedSession opens a session without a run. Codes: conflict, not_found (parent).
func (s *Store) CreateOrchestratedSession(ctx context.Context, c ident.Caller, in client.CreateOrchestratedSession) (client.OrchestratedSessionReply, error) {
	return acted[client.OrchestratedSessionReply](ctx, s, in, `select coord.create_session($1, $2, $3, $4)`, c.ProjectID, only(c), c.By)
}

// GetOrchestratedSession reads one session. Codes: not_found.
func (s *Store) GetOrchestratedSession(ctx context.Context, c ident.Caller, in client.OrchestratedSessionRef) (client.OneOrchestratedSession, error) {
	return reply[client.OneOrchestratedSession](ctx, s, `select coord.get_session($1, $2)`, only(c), in.SessionID)
}

// SessionStatus reads one session's status; an unknown one is not_existent.
func (s *Store) SessionStatus(ctx context.Context, c ident.Caller, in client.OrchestratedSessionRef) (client.SessionStatus, error) {
	return reply[client.SessionStatus](ctx, s, `select coord.session_status($1, $2)`, only(c), in.SessionID)
}

// SessionResult reads what a finished session ended with. Codes: not_found, invalid (400: not finished).
func (s *Store) SessionResult(ctx context.Context, c ident.Caller, in client.OrchestratedSessionRef) (client.SessionResult, error) {
	return reply[client.SessionResult](ctx, s, `select coord.session_result($1, $2)`, only(c), in.SessionID)
}

// SessionAffinity reads where a session's conversation lives. Codes: not_found.
func (s *Store) SessionAffinity(ctx context.Context, c ident.Caller, in client.OrchestratedSessionRef) (client.SessionAffinity, error) {
	return reply[client.SessionAffinity](ctx, s, `select coord.session_affinity($1, $2)`, only(c), in.SessionID)
}

// BindSession says which executor works on a session. Codes: not_found.
func (s *Store) BindSession(ctx context.Context, c ident.Caller, in client.BindSession) (client.OrchestratedSessionReply, error) {
	return acted[client.OrchestratedSessionReply](ctx, s, in, `select coord.bind_session($1, $2, $3, $4)`, only(c), c.By, in.SessionID)
}

// UpdateSessionMetadata changes what is known about a session. Codes: not_found.
func (s *Store) UpdateSessionMetadata(ctx context.Context, c ident.Caller, in client.UpdateSessionMetadata) (client.OrchestratedSessionReply, error) {
	return acted[client.OrchestratedSessionReply](ctx, s, in, `select coord.update_session($1, $2, $3, $4)`, only(c), c.By, in.SessionID)
}

// StopSession stops a session's run. Codes: not_found.
func (s *Store) StopSession(ctx context.Context, c ident.Caller, in client.StopSession) (client.StoppedSession, error) {
	return act[client.StoppedSession](ctx, s, `select coord.stop_session($1, $2, $3, $4)`, only(c), c.By, in.SessionID, in.Tree)
}

// DeleteSession deletes a session, by default with all below it. Codes: not_found, conflict (something is at work).
func (s *Store) DeleteSession(ctx context.Context, c ident.Caller, in client.DeleteSession) (client.DeletedSession, error) {
	return act[client.DeletedSession](ctx, s, `select coord.delete_session($1, $2, $3, $4)`, only(c), c.By, in.SessionID, in.Tree == nil || *in.Tree)
}
