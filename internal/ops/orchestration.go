package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// orchestrated declares the operations of orchestrated sessions and their events.
func orchestrated(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.ListOrchestratedSessions, client.OrchestratedSessions]{
		Name: "list_orchestrated_sessions", Title: "List sessions", Text: "Sessions that runners execute, newest first.",
		Routes: []op.Route{{Method: "GET", Path: "/sessions"}}, Scope: ident.Read, Listed: true, CLI: "ses list", Do: s.ListOrchestratedSessions,
	})
	op.Register(c, op.Op[client.CreateOrchestratedSession, client.OrchestratedSessionReply]{
		Name: "create_orchestrated_session", Title: "Create a session", Text: "Opens a session without a run. POST /runs makes its session by itself.",
		Routes: []op.Route{{Method: "POST", Path: "/sessions"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "ses create", Do: s.CreateOrchestratedSession,
	})
	op.Register(c, op.Op[client.OrchestratedSessionRef, client.OneOrchestratedSession]{
		Name: "get_orchestrated_session", Title: "Get a session", Text: "Reads one session.",
		Routes: []op.Route{{Method: "GET", Path: "/sessions/:session_id"}}, Scope: ident.Read, Listed: true, CLI: "ses get", Do: s.GetOrchestratedSession,
	})
	op.Register(c, op.Op[client.OrchestratedSessionRef, client.SessionStatus]{
		Name: "session_status", Title: "Status of a session", Text: "The status alone; not_existent for a session that is not known.",
		Routes: []op.Route{{Method: "GET", Path: "/sessions/:session_id/status"}}, Scope: ident.Read, Listed: true, CLI: "ses status", Do: s.SessionStatus,
	})
	op.Register(c, op.Op[client.OrchestratedSessionRef, client.SessionResult]{
		Name: "session_result", Title: "Result of a session", Text: "The text a finished session ended with: the assistant's last message.",
		Routes: []op.Route{{Method: "GET", Path: "/sessions/:session_id/result"}}, Scope: ident.Read, Listed: true, CLI: "ses result", Do: s.SessionResult,
	})
	op.Register(c, op.Op[client.OrchestratedSessionRef, client.SessionAffinity]{
		Name: "session_affinity", Title: "Affinity of a session", Text: "Where a session's conversation lives: executor session, host, directory, profile. A resume goes there.",
		Routes: []op.Route{{Method: "GET", Path: "/sessions/:session_id/affinity"}}, Scope: ident.Read, Listed: true, CLI: "ses affinity", Do: s.SessionAffinity,
	})
	op.Register(c, op.Op[client.BindSession, client.OrchestratedSessionReply]{
		Name: "bind_session", Title: "Bind a session", Text: "An executor says that it works on the session, where, and under which id of its own. The session runs from then on.",
		Routes: []op.Route{{Method: "POST", Path: "/sessions/:session_id/bind"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "ses bind", Do: s.BindSession,
	})
	op.Register(c, op.Op[client.UpdateSessionMetadata, client.OrchestratedSessionReply]{
		Name: "update_session_metadata", Title: "Change a session's metadata", Text: "Changes what is known about a session; what is left out stays as it is.",
		Routes: []op.Route{{Method: "PATCH", Path: "/sessions/:session_id/metadata"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "ses update", Do: s.UpdateSessionMetadata,
	})
	op.Register(c, op.Op[client.StopSession, client.StoppedSession]{
		Name: "stop_session", Title: "Stop a session", Text: "Stops the run a session is at and cancels those that wait behind it; with tree, everything below it as well.",
		Routes: []op.Route{{Method: "POST", Path: "/sessions/:session_id/stop"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "ses stop", Do: s.StopSession,
	})
	op.Register(c, op.Op[client.DeleteSession, client.DeletedSession]{
		Name: "delete_session", Title: "Delete a session", Text: "Deletes a session with its runs and events and everything below it, and counts them. Refused while anything of it is at work.",
		Routes: []op.Route{{Method: "DELETE", Path: "/sessions/:session_id"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "ses delete", Do: s.DeleteSession,
	})
	sessionEvents(c, s)
}

func sessionEvents(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.ListSessionEvents, client.SessionEvents]{
		Name: "list_session_events", Title: "List a session's events", Text: "What happened in a session, oldest first, by pages.",
		Routes: []op.Route{{Method: "GET", Path: "/sessions/:session_id/events"}}, Scope: ident.Read, Listed: true, CLI: "ses events",
		Do: func(ctx context.Context, c ident.Caller, in client.ListSessionEvents) (client.SessionEvents, error) {
			return s.SessionEvents(ctx, c, in, true)
		},
	})
	op.Register(c, op.Op[client.SessionEvent, client.Ok]{
		Name: "add_session_event", Title: "Add an event to a session", Text: "Stores what happened in a session and shows it to live views. session_stop finishes the session and tells its parent.",
		Routes: []op.Route{{Method: "POST", Path: "/sessions/:session_id/events"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "ses event", Do: s.AddSessionEvent,
	})
	op.Register(c, op.Op[client.SessionEvent, client.Ok]{
		Name: "add_event", Title: "Add an event", Text: "The older way to add an event: session_start opens the session, session_stop finishes it, and no parent is told.",
		Routes: []op.Route{{Method: "POST", Path: "/events"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "event add", Do: s.AddEvent,
	})
	op.Register(c, op.Op[client.ListSessionEvents, client.SessionEvents]{
		Name: "list_events", Title: "List events", Text: "The older way to read a session's events; a session that is not known has none.",
		Routes: []op.Route{{Method: "GET", Path: "/events/:session_id"}}, Scope: ident.Read, Listed: true, CLI: "event list",
		Do: func(ctx context.Context, c ident.Caller, in client.ListSessionEvents) (client.SessionEvents, error) {
			return s.SessionEvents(ctx, c, in, false)
		},
	})
}
