package coord

import (
	"cmp"
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// AddSessionEvent stores an event; session_stop finishes the session and tells its parent. Codes: not_found.
func (s *Store) AddSessionEvent(ctx context.Context, c ident.Caller, in client.SessionEvent) (client.Ok, error) {
	return acted[client.Ok](ctx, s, in, `select coord.add_event($1, $2, $3)`, only(c), in.SessionID)
}

// AddEvent stores an event the old way: session_start opens its session. Codes: not_found.
func (s *Store) AddEvent(ctx context.Context, c ident.Caller, in client.SessionEvent) (client.Ok, error) {
	return acted[client.Ok](ctx, s, in, `select coord.legacy_event($1, $2, $3, $4)`, c.ProjectID, only(c), c.By)
}

// SessionEvents reads a page of events, oldest first. strict: an unknown session is not_found, else an empty page.
func (s *Store) SessionEvents(ctx context.Context, c ident.Caller, in client.ListSessionEvents, strict bool) (client.SessionEvents, error) {
	return reply[client.SessionEvents](ctx, s, `select coord.session_events($1, $2, $3, $4, $5)`,
		only(c), in.SessionID, in.AfterID, cmp.Or(in.Limit, 10_000), strict)
}

// LiveRow is one entry of the live log. Project 0: it concerns the whole installation.
type LiveRow struct {
	Seq       int64          `json:"seq"`
	ProjectID int64          `json:"project_id"`
	Type      string         `json:"type"`
	SessionID string         `json:"session_id"`
	AtMillis  int64          `json:"at"`
	Data      map[string]any `json:"data"`
}

// LivePage are rows after a number, with the newest number there is, the oldest row that is kept, and the last number
// this page covers (rows whose session is gone are left out).
type LivePage struct {
	Head   int64     `json:"head"`
	Oldest int64     `json:"oldest"`
	Last   int64     `json:"last"`
	Rows   []LiveRow `json:"rows"`
}

// LiveAfter reads the live log after a number; limit 0 reads only where it stands.
func (s *Store) LiveAfter(ctx context.Context, after int64, limit int) (LivePage, error) {
	return reply[LivePage](ctx, s, `select coord.live_after($1, $2)`, after, limit)
}
