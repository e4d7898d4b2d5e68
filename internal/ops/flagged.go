package ops

import (
	"context"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/guardrail"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// commandKeys are members of a task's input that hold commands, as executors and scripts name them.
var commandKeys = []string{"command", "cmd", "script", "run", "shell"}

// askedFor are the rules that a task meets, by its text and its commands.
func askedFor(t client.TaskSpec) []guardrail.Finding {
	out := guardrail.InText(t.Description)
	for _, key := range commandKeys {
		switch v := t.InputData[key].(type) {
		case string:
			out = append(out, guardrail.InText(v)...)
		case []any:
			var words []string
			for _, x := range v {
				if s, ok := x.(string); ok {
					words = append(words, s)
				}
			}
			out = append(out, guardrail.InText(strings.Join(words, " "))...)
		}
	}
	return out
}

// strictest is the finding that counts in this project, and what is done with it; allow when there is none.
func strictest(ctx context.Context, s *coord.Store, c ident.Caller, found []guardrail.Finding) (guardrail.Finding, guardrail.Action, error) {
	best, action := guardrail.Finding{}, guardrail.Allow
	if len(found) == 0 {
		return best, action, nil
	}
	changes, err := s.GuardrailChanges(ctx, c)
	if err != nil {
		return best, action, err
	}
	now := map[string]string{}
	for _, r := range rulesWith(changes) {
		now[r.Rule] = r.Action
	}
	for _, f := range found {
		a := guardrail.Action(now[f.Rule])
		if best.Rule == "" || a == guardrail.Deny && action != guardrail.Deny || a == guardrail.Ask && action == guardrail.Allow {
			best, action = f, a
		}
	}
	return best, action, nil
}

// flag decides about what somebody wants to be done: nil, it goes on; else it waits for a person under the id. A person
// who reviews does not wait for one.
func flag(ctx context.Context, s *coord.Store, c ident.Caller, operation, text string, args any, found []guardrail.Finding) (*client.FlaggedWork, error) {
	f, action, err := strictest(ctx, s, c, found)
	if err != nil || f.Rule == "" {
		return nil, err
	}
	if action == guardrail.Allow || c.Person != "" && reviewer(c) {
		return nil, s.GuardrailHit(ctx, c, f.Rule, string(guardrail.Allow), text, f.Why, "")
	}
	id, err := s.HoldAct(ctx, c, coord.HeldAct{Kind: "work", Operation: operation, Title: f.Rule + ": " + cut(text, 200), Why: "it asks for: " + f.Why, Arguments: args})
	if err != nil {
		return nil, err
	}
	return &client.FlaggedWork{
		Error: "destructive_operation_blocked", Operation: strings.ReplaceAll(f.Rule, "-", "_"), ApprovalRequired: true, ActID: id,
	}, s.GuardrailHit(ctx, c, f.Rule, string(guardrail.Deny), text, f.Why, id)
}

func reviewer(c ident.Caller) bool { return ident.Principal{Scopes: c.Scopes}.May(ident.Reviewer) }

// guarded wraps a submission: what asks for something destructive waits for a person instead of entering the queue.
func guarded[In, Out any](s *coord.Store, held heldOps, operation string, tasks func(In) []client.TaskSpec, flagged func(client.FlaggedWork) Out,
	do func(context.Context, ident.Caller, In) (Out, error),
) func(context.Context, ident.Caller, In) (Out, error) {
	held[operation] = heldDo(do)
	return func(ctx context.Context, c ident.Caller, in In) (Out, error) {
		for _, t := range tasks(in) {
			f, err := flag(ctx, s, c, operation, t.Description, in, askedFor(t))
			if err != nil || f != nil {
				var none Out
				if f != nil {
					none = flagged(*f)
				}
				return none, err
			}
		}
		return do(ctx, c, in)
	}
}

// guardedRun is guarded for runs.
func guardedRun(s *coord.Store, held heldOps) func(context.Context, ident.Caller, client.CreateRun) (client.CreatedRun, error) {
	held["create_run"] = heldDo(s.CreateRun)
	return func(ctx context.Context, c ident.Caller, in client.CreateRun) (client.CreatedRun, error) {
		f, err := flag(ctx, s, c, "create_run", cut(in.Prompt, 4000), in, guardrail.InText(in.Prompt))
		if err != nil {
			return client.CreatedRun{}, err
		}
		if f != nil {
			return client.CreatedRun{}, approvalRequired(f.ActID, "the prompt meets the guardrail "+f.Operation)
		}
		return s.CreateRun(ctx, c, in)
	}
}
