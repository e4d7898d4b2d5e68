package coord

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// HeldAct is an act to be stored until a person decides.
type HeldAct struct {
	Kind, Operation, Title, Why string
	Arguments                   any
}

// HoldAct stores an act that waits and returns its id. It does so in a transaction of its own: the call that is refused
// with it must not take it back.
func (s *Store) HoldAct(ctx context.Context, c ident.Caller, a HeldAct) (string, error) {
	raw, err := json.Marshal(map[string]any{
		"kind": a.Kind, "operation": a.Operation, "title": a.Title, "why": a.Why, "arguments": a.Arguments,
		"repository": c.Repository, "agent_id": c.Agent, "agent_type": c.AgentType, "session_id": c.Session,
	})
	if err != nil {
		return "", err
	}
	return one[string](context.WithValue(ctx, txKey{}, nil), s, `select coord.hold_act($1, $2, $3)::text`, c.ProjectID, c.By, raw)
}

// Decision is an act that was decided, with what is needed to do it.
type Decision struct {
	client.Act
	Repository string `json:"repository"`
	AgentType  string `json:"agent_type"`
}

// For is the caller that the act is done for: who asked for it.
func (d Decision) For(c ident.Caller) ident.Caller {
	return ident.Caller{
		ProjectID: c.ProjectID, Project: c.Project, Repository: d.Repository, Agent: d.AgentID, AgentType: d.AgentType, Session: d.SessionID,
		By: d.RequestedBy, Scopes: c.Scopes, Bound: c.Bound, RequestID: c.RequestID, Door: c.Door,
	}
}

// DecideAct takes the caller's vote, approve or deny. Codes: not_found, conflict, forbidden.
func (s *Store) DecideAct(ctx context.Context, c ident.Caller, vote string, in client.DecideAct) (Decision, error) {
	return act[Decision](ctx, s, `select coord.decide_act($1, $2, nullif($3, ''), $4, $5, nullif($6, ''))`, c.ProjectID, c.By, c.Agent, in.ActID, vote, in.Comment)
}

// ListActs lists acts that wait for a person, or waited.
func (s *Store) ListActs(ctx context.Context, c ident.Caller, in client.ListActs) (client.Acts, error) {
	return reply[client.Acts](ctx, s, `select coord.list_acts($1, $2, $3)`, c.ProjectID, cmp.Or(in.Status, "pending"), cmp.Or(in.Limit, 100))
}

// Safeguards says which acts need a second person.
func (s *Store) Safeguards(ctx context.Context, c ident.Caller) (client.Safeguards, error) {
	return reply[client.Safeguards](ctx, s, `select coord.safeguards($1)`, c.ProjectID)
}

// SetSafeguards sets which acts need a second person.
func (s *Store) SetSafeguards(ctx context.Context, c ident.Caller, in client.SetSafeguards) (client.Safeguards, error) {
	return reply[client.Safeguards](ctx, s, `select coord.set_safeguards($1, $2, $3, $4)`, c.ProjectID, c.By, cmpList(in.TwoPerson), in.Reason)
}

// GuardrailChanges are the project's changes to the rules on destructive commands, and its own rules.
func (s *Store) GuardrailChanges(ctx context.Context, c ident.Caller) ([]client.Guardrail, error) {
	return reply[[]client.Guardrail](ctx, s, `select coord.guardrail_rules($1)`, c.ProjectID)
}

// SetGuardrail stores a change of a rule.
func (s *Store) SetGuardrail(ctx context.Context, c ident.Caller, in client.SetGuardrail) error {
	return exec(ctx, s, `select coord.set_guardrail($1, $2, $3, $4, nullif($5, ''), $6)`, c.ProjectID, c.By, in.Rule, in.Action, in.Pattern, in.Reason)
}

// CheckGuardrail decides about a command that meets rules; defaults has their actions as delivered.
func (s *Store) CheckGuardrail(ctx context.Context, c ident.Caller, defaults map[string]string, in client.CheckGuardrail) (client.GuardrailAnswer, error) {
	if len(defaults) == 0 { // rules that are null pass the schema, for lists of replies may be
		return client.GuardrailAnswer{}, fault.Invalid("rules", "no rule is named", "name the rules that the command meets")
	}
	raw, err := json.Marshal(defaults)
	if err != nil {
		return client.GuardrailAnswer{}, err
	}
	return act[client.GuardrailAnswer](ctx, s, `select coord.check_guardrail($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), $8)`,
		c.ProjectID, c.SessionID, c.By, raw, in.Command, in.Why, in.Tool, in.Asks)
}

// GuardrailHit notes what a rule caught in the queue.
func (s *Store) GuardrailHit(ctx context.Context, c ident.Caller, rule, action, command, why, actID string) error {
	return exec(context.WithValue(ctx, txKey{}, nil), s, `select coord.guardrail_hit($1, $2, nullif($3, ''), nullif($4, ''), $5, $6, 'queue', $7, $8, nullif($9, '')::uuid)`,
		c.ProjectID, c.By, c.Agent, c.Session, rule, action, command, why, actID)
}

// ListGuardrailHits lists what rules caught, newest first.
func (s *Store) ListGuardrailHits(ctx context.Context, c ident.Caller, in client.ListGuardrailHits) (client.GuardrailHits, error) {
	return reply[client.GuardrailHits](ctx, s, `select coord.list_guardrail_hits($1, nullif($2, ''), $3)`, c.ProjectID, in.Agent, cmp.Or(in.Limit, 100))
}
