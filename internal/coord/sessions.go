package coord

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// RegisterSession describes the caller's session.
func (s *Store) RegisterSession(ctx context.Context, c ident.Caller, in client.RegisterSession) (client.Session, error) {
	var meta []byte
	if in.Metadata != nil {
		var err error
		if meta, err = json.Marshal(in.Metadata); err != nil {
			return client.Session{}, fault.Invalid("metadata", "the metadata is not JSON", "send a plain object")
		}
	}
	return reply[client.Session](ctx, s, `select coord.register_session($1, $2, $3, $4, nullif($5, ''), nullif($6, 0), $7, nullif($8, ''))`,
		c.ProjectID, c.SessionID, c.By, in.Capabilities, in.CurrentTask, in.LapseSeconds, meta, in.DelegatedFrom)
}

// Heartbeat is a sign of life of the caller's session; the first one starts its lapse clock.
func (s *Store) Heartbeat(ctx context.Context, c ident.Caller, in client.Heartbeat) (client.Session, error) {
	return reply[client.Session](ctx, s, `select coord.heartbeat_session($1, $2, $3)`, c.ProjectID, c.SessionID, in.CurrentTask)
}

// EndSession closes the session that the caller names and gives back its locks and tasks.
func (s *Store) EndSession(ctx context.Context, c ident.Caller, in client.EndSession) (client.EndedSession, error) {
	if c.Agent == "" {
		return client.EndedSession{}, fault.Invalid("agent_id", "agent_id is needed: it names whose session ends", "send agent_id in the body or the header X-Agent-Id")
	}
	out, err := act[client.EndedSession](ctx, s, `select coord.end_session($1, $2, nullif($3, ''), $4, $5)`,
		c.ProjectID, c.Agent, c.Session, c.By, in.Reason)
	s.Forget(c)
	return out, err
}

// DiscoverAgents lists sessions. status is a word of client.Agent.Status, "open" for all but disconnected, or empty.
func (s *Store) DiscoverAgents(ctx context.Context, c ident.Caller, capability, status string, limit int) (client.Agents, error) {
	return reply[client.Agents](ctx, s, `select coord.list_sessions($1, nullif($2, ''), nullif($3, ''), $4)`,
		c.ProjectID, capability, status, limit)
}

// CleanupAgents lapses silent sessions of the caller's project.
func (s *Store) CleanupAgents(ctx context.Context, c ident.Caller, in client.CleanupAgents) (client.CleanedAgents, error) {
	return act[client.CleanedAgents](ctx, s, `select coord.cleanup_sessions($1, $2, $3, nullif($4, 0), $5)`,
		c.ProjectID, c.By, cmp.Or(in.StaleThresholdMinutes, 15), in.IdleMinutes, in.DryRun)
}
