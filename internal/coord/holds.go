package coord

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// The kinds of holds that people set.
const (
	Pause = "pause" // no new locks, no new work
	Drain = "drain" // no new work
)

// HoldAgent pauses or drains an agent or one of its sessions. Codes: not_found, invalid.
func (s *Store) HoldAgent(ctx context.Context, c ident.Caller, kind string, in client.HoldAgent) (client.HoldResult, error) {
	return act[client.HoldResult](ctx, s, `select coord.hold_agent($1, $2, $3, $4, nullif($5, ''), $6)`, c.ProjectID, c.By, kind, in.Agent, in.Session, in.Reason)
}

// FreeAgent ends such a hold; one that is not there is a result. Codes: not_found, invalid.
func (s *Store) FreeAgent(ctx context.Context, c ident.Caller, kind string, in client.FreeAgent) (client.HoldResult, error) {
	return act[client.HoldResult](ctx, s, `select coord.free_agent($1, $2, $3, $4, nullif($5, ''), nullif($6, ''))`, c.ProjectID, c.By, kind, in.Agent, in.Session, in.Reason)
}

// DrainRunner keeps a runner from new runs, or lets it take them again. Codes: not_found.
func (s *Store) DrainRunner(ctx context.Context, c ident.Caller, drain bool, in client.HoldRunner) (client.HoldResult, error) {
	return act[client.HoldResult](ctx, s, `select coord.drain_runner($1, $2, $3, $4, $5, nullif($6, ''))`, c.ProjectID, only(c), c.By, in.RunnerID, drain, in.Reason)
}

// HoldTopic is what a caller that is held parks on: everybody there is woken when a hold of the project ends.
func (s *Store) HoldTopic(c ident.Caller) string { return fmt.Sprintf("h:%d:+", c.ProjectID) }

// ListHolds lists what is held, and the runners that drain.
func (s *Store) ListHolds(ctx context.Context, c ident.Caller, in client.ListHolds) (client.Holds, error) {
	return reply[client.Holds](ctx, s, `select coord.list_holds($1, $2, nullif($3, ''))`, c.ProjectID, only(c), in.Agent)
}

// NudgeAgent tells an agent a person's short word. Codes: not_found.
func (s *Store) NudgeAgent(ctx context.Context, c ident.Caller, in client.NudgeAgent) (client.Nudged, error) {
	return act[client.Nudged](ctx, s, `select coord.nudge_agent($1, $2, $3, $4, nullif($5, ''), $6)`,
		c.ProjectID, c.By, person(c), in.Agent, in.Session, cmp.Or(in.Text, "Where do you stand? Say it in one line with send_message, or go on if you were about to."))
}

// person is the address under which somebody who supervises is known: person:<name>, else the name of the key.
func person(c ident.Caller) string {
	if c.Person != "" {
		return personPrefix + c.Person
	}
	return c.By
}

// HandOver moves work to another agent; what from does not hold is a result. Codes: forbidden for an agent that is not
// from and no reviewer, not_found, conflict (the receiver is paused).
func (s *Store) HandOver(ctx context.Context, c ident.Caller, in client.HandOver) (client.HandedOver, error) {
	if !reviews(c) && c.Agent != in.From {
		return client.HandedOver{}, fault.New(client.CodeForbidden, "you may not hand over what "+in.From+" has",
			"an agent hands over its own work; that of others is a reviewer's", "ask the agent, or a person who reviews")
	}
	return act[client.HandedOver](ctx, s, `select coord.hand_over($1, $2, $3, nullif($4, ''), $5, nullif($6, ''), $7::text[]::uuid[], $8, $9)`,
		c.ProjectID, c.By, in.From, in.FromSession, in.To, in.ToSession, in.TaskIDs, in.FilePaths, in.Note)
}

// Snooze hides an item for the caller. Codes: invalid.
func (s *Store) Snooze(ctx context.Context, c ident.Caller, in client.Snooze) (client.Snoozed, error) {
	until := time.Now().Add(time.Duration(cmp.Or(in.Minutes, 60) * float64(time.Minute)))
	if in.Until != "" {
		var err error
		if until, err = time.Parse(time.RFC3339, in.Until); err != nil {
			return client.Snoozed{}, fault.Invalid("until", "until is not a time", "write it as 2026-01-31T12:00:00Z")
		}
	}
	return reply[client.Snoozed](ctx, s, `select coord.snooze($1, $2, $3, $4, $5, nullif($6, ''))`, c.ProjectID, c.By, person(c), in.Item, until, in.Reason)
}

// Unsnooze shows an item again; one that was not hidden is no error.
func (s *Store) Unsnooze(ctx context.Context, c ident.Caller, in client.Unsnooze) (client.Snoozed, error) {
	return reply[client.Snoozed](ctx, s, `select coord.unsnooze($1, $2, $3, $4)`, c.ProjectID, c.By, person(c), in.Item)
}

// ListSnoozed lists what the caller put off.
func (s *Store) ListSnoozed(ctx context.Context, c ident.Caller) (client.SnoozedItems, error) {
	return reply[client.SnoozedItems](ctx, s, `select coord.list_snoozed($1, $2)`, c.ProjectID, person(c))
}
