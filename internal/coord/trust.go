package coord

import (
	"cmp"
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// ListTrust reads how far agents are trusted and why.
func (s *Store) ListTrust(ctx context.Context, c ident.Caller, in client.ListTrust) (client.TrustList, error) {
	return reply[client.TrustList](ctx, s, `select coord.list_trust($1, nullif($2, ''), $3, $4)`, c.ProjectID, in.Agent, in.Repository, cmp.Or(in.Limit, 100))
}

// SetTrust sets an agent's level, its ceiling or both. Codes: invalid.
func (s *Store) SetTrust(ctx context.Context, c ident.Caller, in client.SetTrust) (client.AgentTrust, error) {
	return reply[client.AgentTrust](ctx, s, `select coord.set_trust($1, $2, $3, $4, $5, $6, $7)`, c.ProjectID, c.By, in.Agent, in.Repository, in.Level, in.Ceiling, in.Reason)
}
