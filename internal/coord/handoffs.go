package coord

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// WriteHandoff stores a handoff of the caller's session and tells in.To of it.
func (s *Store) WriteHandoff(ctx context.Context, c ident.Caller, in client.WriteHandoff) (client.WrittenHandoff, error) {
	if in.Summary == "" {
		return client.WrittenHandoff{}, fault.Invalid("summary", "a handoff needs a summary", "say in a few sentences where the work stands")
	}
	doc, err := json.Marshal(in) // the SQL function reads the lists and leaves the rest
	if err != nil {
		return client.WrittenHandoff{}, fault.Invalid("", "the handoff is not JSON", "send lists of strings")
	}
	return act[client.WrittenHandoff](ctx, s, `select coord.write_handoff($1, $2, $3, $4, $5, nullif($6, ''))`,
		c.ProjectID, c.SessionID, c.By, in.Summary, doc, in.To)
}

// ReadHandoff returns the newest handoffs.
func (s *Store) ReadHandoff(ctx context.Context, c ident.Caller, in client.ReadHandoff) (client.Handoffs, error) {
	return reply[client.Handoffs](ctx, s, `select coord.read_handoffs($1, nullif($2, ''), $3)`, c.ProjectID, in.AgentName, cmp.Or(in.Limit, 1))
}
