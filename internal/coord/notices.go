package coord

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// TakeNotices hands over at most limit waiting notices of the caller's session and marks them delivered.
func (s *Store) TakeNotices(ctx context.Context, c ident.Caller, limit int) (client.Notices, error) {
	return reply[client.Notices](ctx, s, `select coord.take_notices($1, $2, $3)`, c.ProjectID, c.SessionID, limit)
}
