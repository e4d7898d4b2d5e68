package coord

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// SessionBrief returns what the caller's session should know, texts cut but lists not yet fitted to a size. The
// messages in it count as told.
func (s *Store) SessionBrief(ctx context.Context, c ident.Caller) (client.Brief, error) {
	return reply[client.Brief](ctx, s, `select coord.session_brief($1, $2)`, c.ProjectID, c.SessionID)
}

// ProjectDigest returns what others changed since the caller looked last; Markdown is left empty. The reader is the
// agent, or the principal where no agent is named.
func (s *Store) ProjectDigest(ctx context.Context, c ident.Caller, in client.ProjectDigest) (client.Digest, error) {
	reader := c.Agent
	if reader == "" {
		reader = c.By
	}
	return reply[client.Digest](ctx, s, `select coord.project_digest($1, $2, nullif($3, ''), $4)`, c.ProjectID, reader, c.Agent, in.Peek)
}
