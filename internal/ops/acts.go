package ops

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// Kinds of acts that need a second person where a project's safeguards say so.
const (
	forceRelease = "force_release"
	policyEdits  = "policies"
	ruleEdits    = "guardrails"
	safeguardSet = "safeguards"
)

// heldOps are the operations that can wait for a person: how each is done with the approval, in the name of who asked.
type heldOps map[string]func(ctx context.Context, c ident.Caller, args []byte) (any, error)

// heldDo makes a typed operation one that can be done from stored arguments.
func heldDo[In, Out any](do func(context.Context, ident.Caller, In) (Out, error)) func(context.Context, ident.Caller, []byte) (any, error) {
	return func(ctx context.Context, c ident.Caller, args []byte) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		return do(ctx, c, in)
	}
}

// secondPerson wraps an operation that needs a second person where the project's safeguards name kind: the call is
// stored and refused with approval_required; approve_act does it.
func secondPerson[In, Out any](s *coord.Store, held heldOps, kind, operation string, title func(In) (what, why string), do func(context.Context, ident.Caller, In) (Out, error)) func(context.Context, ident.Caller, In) (Out, error) {
	held[operation] = heldDo(do)
	return func(ctx context.Context, c ident.Caller, in In) (Out, error) {
		g, err := s.Safeguards(ctx, c)
		if err != nil || !slices.Contains(g.TwoPerson, kind) && (kind != safeguardSet || len(g.TwoPerson) == 0) {
			if err == nil {
				return do(ctx, c, in)
			}
			var none Out
			return none, err
		}
		var none Out
		what, why := title(in)
		id, err := s.HoldAct(ctx, c, coord.HeldAct{Kind: kind, Operation: operation, Title: what, Why: why, Arguments: in})
		if err != nil {
			return none, err
		}
		return none, approvalRequired(id, "this project asks for a second person: "+kind)
	}
}

func approvalRequired(id, why string) *fault.Error {
	f := fault.New(client.CodeApprovalRequired, "this waits for another person's approval; nothing was changed", why, "another person decides: coordctl act approve "+id)
	f.ActID = id
	return f
}

// acts declares what waits for a person.
func acts(c *op.Catalogue, s *coord.Store, held heldOps) {
	op.Register(c, op.Op[client.ListActs, client.Acts]{
		Name: "list_acts", Title: "List acts that wait", Text: "Acts that wait for a person: destructive commands that were stopped, tasks and runs that ask for such, and what needs a second person.",
		Routes: []op.Route{{Method: "GET", Path: "/acts"}}, Scope: ident.Read, CLI: "act list", Do: s.ListActs,
	})
	op.Register(c, op.Op[client.DecideAct, client.DecidedAct]{
		Name: "approve_act", Title: "Approve an act", Text: "Does what waits, at once and once, in the name of who asked; a stopped command may be run once more within the hour. " +
			"Nobody approves what they asked for. Changes of policies and rules need an administrator.",
		Routes: []op.Route{{Method: "POST", Path: "/acts/:act_id/approve"}}, Scope: ident.Reviewer, CLI: "act approve",
		Do: func(ctx context.Context, c ident.Caller, in client.DecideAct) (client.DecidedAct, error) {
			return approveAct(ctx, s, held, c, in)
		},
	})
	op.Register(c, op.Op[client.DecideAct, client.DecidedAct]{
		Name: "deny_act", Title: "Deny an act", Text: "Ends what waits without doing it. Who asked is told.",
		Routes: []op.Route{{Method: "POST", Path: "/acts/:act_id/deny"}}, Scope: ident.Reviewer, CLI: "act deny",
		Do: func(ctx context.Context, c ident.Caller, in client.DecideAct) (client.DecidedAct, error) {
			d, err := s.DecideAct(ctx, c, "deny", in)
			return client.DecidedAct{Act: d.Act}, err
		},
	})
	op.Register(c, op.Op[client.None, client.Safeguards]{
		Name: "get_safeguards", Title: "Safeguards", Text: "Which acts need a second person in this project.",
		Routes: []op.Route{{Method: "GET", Path: "/safeguards"}}, Scope: ident.Read, CLI: "safeguards show",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Safeguards, error) {
			return s.Safeguards(ctx, c)
		},
	})
	op.Register(c, op.Op[client.SetSafeguards, client.Safeguards]{
		Name: "set_safeguards", Title: "Set safeguards", Text: "Sets which acts need a second person: force_release (of locks), policies (of verification), guardrails (rules on commands). " +
			"While the list is not empty, changing it needs one, too. Persons need keys of their own for it.",
		Routes: []op.Route{{Method: "PUT", Path: "/safeguards"}}, Scope: ident.Admin, CLI: "safeguards set",
		Do: secondPerson(s, held, safeguardSet, "set_safeguards", func(in client.SetSafeguards) (string, string) {
			return "set the safeguards to " + words(in.TwoPerson), in.Reason
		}, s.SetSafeguards),
	})
}

func words(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return spans(list)
}

// approveAct decides and does the act in one transaction: what fails is not used up.
func approveAct(ctx context.Context, s *coord.Store, held heldOps, c ident.Caller, in client.DecideAct) (client.DecidedAct, error) {
	var out client.DecidedAct
	err := s.InTx(ctx, func(ctx context.Context) error {
		d, err := s.DecideAct(ctx, c, "approve", in)
		if err != nil {
			return err
		}
		out.Act = d.Act
		if slices.Contains([]string{policyEdits, ruleEdits, safeguardSet}, d.Kind) && !(ident.Principal{Scopes: c.Scopes}).May(ident.Admin) {
			return fault.New(client.CodeForbidden, "this act needs an administrator", "it changes what holds for everybody in the project", "ask an administrator to approve it")
		}
		do := held[d.Operation]
		if do == nil {
			return nil // a command: its agent runs it
		}
		args, err := json.Marshal(d.Arguments)
		if err != nil {
			return err
		}
		res, err := do(ctx, d.For(c), args)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(res)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &out.Result)
	})
	return out, err
}
