package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// holds declares what people do with agents at work.
func holds(c *op.Catalogue, s *coord.Store) {
	hold := func(kind string) func(context.Context, ident.Caller, client.HoldAgent) (client.HoldResult, error) {
		return func(ctx context.Context, c ident.Caller, in client.HoldAgent) (client.HoldResult, error) {
			return s.HoldAgent(ctx, c, kind, in)
		}
	}
	free := func(kind string) func(context.Context, ident.Caller, client.FreeAgent) (client.HoldResult, error) {
		return func(ctx context.Context, c ident.Caller, in client.FreeAgent) (client.HoldResult, error) {
			return s.FreeAgent(ctx, c, kind, in)
		}
	}
	op.Register(c, op.Op[client.HoldAgent, client.HoldResult]{
		Name: "pause_agent", Title: "Pause an agent", Text: "The agent, one of its sessions or (*) every agent takes no new locks and no new work, and its runs are not dispatched, until it is resumed. " +
			"What it holds it keeps. It is told with its next call or hook, and why.",
		Routes: []op.Route{{Method: "POST", Path: "/holds/pause"}}, Scope: ident.Reviewer, CLI: "hold pause", RefuseEmpty: true, Do: hold(coord.Pause),
	})
	op.Register(c, op.Op[client.FreeAgent, client.HoldResult]{
		Name: "resume_agent", Title: "Resume an agent", Text: "Ends a pause. Runs that waited for it are dispatched again; the agent is told.",
		Routes: []op.Route{{Method: "POST", Path: "/holds/resume"}}, Scope: ident.Reviewer, CLI: "hold resume", RefuseEmpty: true, Do: free(coord.Pause),
	})
	op.Register(c, op.Op[client.HoldAgent, client.HoldResult]{
		Name: "drain_agent", Title: "Drain an agent", Text: "The agent finishes what it has, with the locks that takes, and gets no new work until it is undrained. list_holds says when nothing is left.",
		Routes: []op.Route{{Method: "POST", Path: "/holds/drain"}}, Scope: ident.Reviewer, CLI: "hold drain", RefuseEmpty: true, Do: hold(coord.Drain),
	})
	op.Register(c, op.Op[client.FreeAgent, client.HoldResult]{
		Name: "undrain_agent", Title: "Undrain an agent", Text: "Ends a drain: the agent takes new work again.",
		Routes: []op.Route{{Method: "POST", Path: "/holds/undrain"}}, Scope: ident.Reviewer, CLI: "hold undrain", RefuseEmpty: true, Do: free(coord.Drain),
	})
	op.Register(c, op.Op[client.HoldRunner, client.HoldResult]{
		Name: "drain_runner", Title: "Drain a runner", Text: "The runner finishes the runs it has and is given no new ones, until it is undrained. It stays so when it registers anew.",
		Routes: []op.Route{{Method: "POST", Path: "/runners/:runner_id/drain"}}, Scope: ident.Reviewer, CLI: "runner drain",
		Do: func(ctx context.Context, c ident.Caller, in client.HoldRunner) (client.HoldResult, error) {
			return s.DrainRunner(ctx, c, true, in)
		},
	})
	op.Register(c, op.Op[client.HoldRunner, client.HoldResult]{
		Name: "undrain_runner", Title: "Undrain a runner", Text: "The runner is given runs again.",
		Routes: []op.Route{{Method: "POST", Path: "/runners/:runner_id/undrain"}}, Scope: ident.Reviewer, CLI: "runner undrain",
		Do: func(ctx context.Context, c ident.Caller, in client.HoldRunner) (client.HoldResult, error) {
			return s.DrainRunner(ctx, c, false, in)
		},
	})
	op.Register(c, op.Op[client.ListHolds, client.Holds]{
		Name: "list_holds", Title: "List holds", Text: "Who is kept from new work, by whom, why and until when: pauses, drains and exhausted budgets; and what they still have.",
		Routes: []op.Route{{Method: "GET", Path: "/holds"}}, Scope: ident.Read, CLI: "hold list", Do: s.ListHolds,
	})
	op.Register(c, op.Op[client.NudgeAgent, client.Nudged]{
		Name: "nudge_agent", Title: "Nudge an agent", Text: "A person's short word: told once, with the next call or hook of the agent's open sessions, before everything else. " +
			"While an earlier nudge was not taken, another is not added.",
		Routes: []op.Route{{Method: "POST", Path: "/messages/nudge"}}, Scope: ident.Reviewer, CLI: "message nudge", RefuseEmpty: true, Do: s.NudgeAgent,
	})
	op.Register(c, op.Op[client.HandOver, client.HandedOver]{
		Name: "hand_over", Title: "Hand work over", Text: "Moves tasks and locks from one agent to another, all of what is named (nothing named: all it has) or nothing. " +
			"Tokens rise, so what the old holder still sends is refused. Both are told, and the note is kept as a handoff. An agent may hand over its own work, a reviewer anybody's.",
		Routes: []op.Route{{Method: "POST", Path: "/handoffs/over"}}, Scope: ident.Write, Or: ident.Reviewer, CLI: "handoff over", RefuseEmpty: true, Do: s.HandOver,
	})
	op.Register(c, op.Op[client.Snooze, client.Snoozed]{
		Name: "snooze", Title: "Put an item off", Text: "Hides an item that needs a person, for the caller alone, until a time: an hour unless said otherwise.",
		Routes: []op.Route{{Method: "POST", Path: "/snoozed"}}, Scope: ident.Write, Or: ident.Reviewer, CLI: "snooze add", RefuseEmpty: true, Do: s.Snooze,
	})
	op.Register(c, op.Op[client.Unsnooze, client.Snoozed]{
		Name: "unsnooze", Title: "Show an item again", Text: "Ends the caller's snooze of an item.",
		Routes: []op.Route{{Method: "DELETE", Path: "/snoozed"}}, Scope: ident.Write, Or: ident.Reviewer, CLI: "snooze remove", Do: s.Unsnooze,
	})
	op.Register(c, op.Op[client.None, client.SnoozedItems]{
		Name: "list_snoozed", Title: "List what is put off", Text: "The items that the caller put off, and until when.",
		Routes: []op.Route{{Method: "GET", Path: "/snoozed"}}, Scope: ident.Read, CLI: "snooze list",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.SnoozedItems, error) {
			return s.ListSnoozed(ctx, c)
		},
	})
}
