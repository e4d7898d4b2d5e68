package ops

import (
	"cmp"
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// openSessions is the filter of DiscoverAgents for all but disconnected ones.
const openSessions = "open"

// sessions declares who calls and who is there.
func sessions(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.None, client.WhoAmI]{
		Name: "whoami", Title: "Who am I", Text: "Says what the service makes of this call: principal, scopes, project, agent and session.",
		Routes: []op.Route{{Method: "GET", Path: "/whoami"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true},
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.WhoAmI, error) {
			project, err := s.ProjectName(ctx, c)
			out := client.WhoAmI{
				Principal: c.By, Person: c.Person, Scopes: []string{}, Project: project,
				AgentID: c.Agent, AgentType: c.AgentType, SessionID: c.Session,
			}
			for _, sc := range c.Scopes {
				out.Scopes = append(out.Scopes, string(sc))
			}
			if c.Agent != "" && c.Session == "" {
				out.SessionID = "agent:" + c.Agent
			}
			if c.Bound {
				out.BoundTo = "project"
			}
			return out, err
		},
	})
	op.Register(c, op.Op[client.RegisterSession, client.Session]{
		Name: "register_session", Title: "Register a session", Text: "Describes the session of the calling agent: capabilities, current task, metadata. " +
			"A new session_id opens a session; without one the agent's implicit session is meant. Sessions open by themselves on first use, so this is for being found.",
		Routes: []op.Route{{Method: "POST", Path: "/discovery/register"}}, Scope: ident.Write, Acts: true,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "session register", RefuseEmpty: true, Do: s.RegisterSession,
	})
	op.Register(c, op.Op[client.Heartbeat, client.Session]{
		Name: "heartbeat", Title: "Heartbeat", Text: "A sign of life. The first one starts the session's lapse clock (120 s unless registered otherwise): " +
			"a session silent for longer loses its locks and its tasks go back to the queue.",
		Routes: []op.Route{{Method: "POST", Path: "/discovery/heartbeat"}}, Scope: ident.Write, Acts: true,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "session heartbeat", RefuseEmpty: true, Do: s.Heartbeat,
	})
	op.Register(c, op.Op[client.EndSession, client.EndedSession]{
		Name: "end_session", Title: "End the session", Text: "Ends the calling session: its locks are freed and its tasks requeued, at once. Other sessions of the same agent are untouched.",
		Routes: []op.Route{{Method: "POST", Path: "/discovery/end"}}, Scope: ident.Write,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "session end", RefuseEmpty: true, Do: s.EndSession,
	})
	op.Register(c, op.Op[client.WhoIsActive, client.Agents]{
		Name: "who_is_active", Title: "Who is active", Text: "Who works in this project now, on what, holding how many locks and tasks. Call it before asking or messaging somebody.",
		Routes: []op.Route{{Method: "GET", Path: "/discovery/active"}}, Scope: ident.Read, CLI: "who",
		Tool: op.Tool{Profile: op.Core, ReadOnly: true, Text: "Who works here now, on what, with how many locks and tasks."},
		Do: func(ctx context.Context, c ident.Caller, in client.WhoIsActive) (client.Agents, error) {
			return s.DiscoverAgents(ctx, c, in.Capability, openSessions, cmp.Or(in.Limit, 20))
		},
	})
	op.Register(c, op.Op[client.DiscoverAgents, client.Agents]{
		Name: "discover_agents", Title: "Discover agents", Text: "Every session of the project, closed ones too, open ones first. " +
			"status: active = heard within 15 minutes, idle = open but silent for longer, disconnected = ended or lapsed.",
		Routes: []op.Route{{Method: "GET", Path: "/discovery/agents"}}, Scope: ident.Read, CLI: "session list",
		Tool: op.Tool{Profile: op.Full, ReadOnly: true},
		Do: func(ctx context.Context, c ident.Caller, in client.DiscoverAgents) (client.Agents, error) {
			return s.DiscoverAgents(ctx, c, in.Capability, in.Status, cmp.Or(in.Limit, 10_000))
		},
	})
	op.Register(c, op.Op[client.CleanupAgents, client.CleanedAgents]{
		Name: "cleanup_agents", Title: "Clean up silent agents", Text: "Lapses sessions of the project whose last heartbeat is older than the threshold: frees their locks, requeues their tasks. " +
			"Sessions lapse by themselves; this is for shortening the wait or, with idle_minutes, for sessions that never sent a heartbeat.",
		Routes: []op.Route{{Method: "POST", Path: "/discovery/cleanup"}}, Scope: ident.Admin, CLI: "session cleanup", Do: s.CleanupAgents,
	})
}
