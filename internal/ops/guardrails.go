package ops

import (
	"cmp"
	"context"
	"regexp"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/guardrail"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// guardrails declares the rules on destructive commands.
func guardrails(c *op.Catalogue, s *coord.Store, held heldOps) {
	op.Register(c, op.Op[client.None, client.Guardrails]{
		Name: "list_guardrails", Title: "List guardrails", Text: "The rules on destructive commands: what each catches, what is done by default and what in this project, and the project's own.",
		Routes: []op.Route{{Method: "GET", Path: "/guardrails"}}, Scope: ident.Read, CLI: "guardrail list",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Guardrails, error) {
			changes, err := s.GuardrailChanges(ctx, c)
			return client.Guardrails{Rules: rulesWith(changes)}, err
		},
	})
	op.Register(c, op.Op[client.SetGuardrail, client.Guardrail]{
		Name: "set_guardrail", Title: "Change a guardrail", Text: "Says what is done in this project with commands that a rule catches, or adds a rule of the project's own (a pattern over the command).",
		Routes: []op.Route{{Method: "PUT", Path: "/guardrails/:rule"}}, Scope: ident.Admin, CLI: "guardrail set",
		Do: secondPerson(s, held, ruleEdits, "set_guardrail", func(in client.SetGuardrail) (string, string) {
			return "guardrail " + in.Rule + ": " + in.Action, in.Reason
		}, func(ctx context.Context, c ident.Caller, in client.SetGuardrail) (client.Guardrail, error) {
			return setGuardrail(ctx, s, c, in)
		}),
	})
	op.Register(c, op.Op[client.CheckGuardrail, client.GuardrailAnswer]{
		Name: "check_guardrail", Title: "Check a command", Text: "Says what is to be done with a command that meets rules, and keeps a record of it. What is refused waits for a person, who may let that very command through once. Hooks send it.",
		Routes: []op.Route{{Method: "POST", Path: "/guardrails/check"}}, Scope: ident.Write, Acts: true, CLI: "guardrail check", RefuseEmpty: true,
		Do: func(ctx context.Context, c ident.Caller, in client.CheckGuardrail) (client.GuardrailAnswer, error) {
			return checkGuardrail(ctx, s, c, in)
		},
	})
	op.Register(c, op.Op[client.ListGuardrailHits, client.GuardrailHits]{
		Name: "list_guardrail_hits", Title: "What guardrails caught", Text: "Commands and tasks that rules caught, who sent them and what was done, newest first.",
		Routes: []op.Route{{Method: "GET", Path: "/guardrails/hits"}}, Scope: ident.Read, CLI: "guardrail hits", Do: s.ListGuardrailHits,
	})
}

// rulesWith are the delivered rules with a project's changes, then its own.
func rulesWith(changes []client.Guardrail) []client.Guardrail {
	byName := map[string]client.Guardrail{}
	for _, x := range changes {
		byName[x.Rule] = x
	}
	var out []client.Guardrail
	for _, r := range guardrail.Rules() {
		x := byName[r.Name]
		delete(byName, r.Name)
		x.Rule, x.Text, x.Default, x.Action = r.Name, r.Text, string(r.Default), cmp.Or(x.Action, string(r.Default))
		out = append(out, x)
	}
	for _, x := range changes {
		if own, ok := byName[x.Rule]; ok {
			own.Text, own.Default = "a rule of this project", own.Action
			out = append(out, own)
		}
	}
	return out
}

func setGuardrail(ctx context.Context, s *coord.Store, c ident.Caller, in client.SetGuardrail) (client.Guardrail, error) {
	known, delivered := guardrail.Known(in.Rule)
	changes, err := s.GuardrailChanges(ctx, c)
	if err != nil {
		return client.Guardrail{}, err
	}
	if delivered && in.Pattern != "" {
		return client.Guardrail{}, fault.Invalid("pattern", "the rule "+in.Rule+" has its own reading of commands", "leave pattern out, or give your rule another name")
	}
	own := ""
	for _, x := range changes {
		if x.Rule == in.Rule {
			own = x.Pattern
		}
	}
	if in.Pattern = cmp.Or(in.Pattern, own); !delivered && in.Pattern == "" {
		return client.Guardrail{}, fault.NotFound("guardrail", in.Rule)
	}
	if _, err := regexp.Compile(in.Pattern); err != nil {
		return client.Guardrail{}, fault.Invalid("pattern", "the pattern is no regular expression: "+err.Error(), "write it as RE2 reads it")
	}
	if err := s.SetGuardrail(ctx, c, in); err != nil {
		return client.Guardrail{}, err
	}
	if changes, err = s.GuardrailChanges(ctx, c); err != nil {
		return client.Guardrail{}, err
	}
	for _, x := range rulesWith(changes) {
		if x.Rule == in.Rule {
			return x, nil
		}
	}
	return client.Guardrail{Rule: in.Rule, Text: known.Text, Default: "allow", Action: "allow"}, nil // a rule of the project's own that is no more
}

// checkGuardrail knows the actions as delivered; what the project changed is the data layer's matter. A name that is
// neither's is refused: whoever sends it would believe that it was checked.
func checkGuardrail(ctx context.Context, s *coord.Store, c ident.Caller, in client.CheckGuardrail) (client.GuardrailAnswer, error) {
	defaults := map[string]string{}
	for _, name := range in.Rules {
		r, ok := guardrail.Known(name)
		if !ok {
			changes, err := s.GuardrailChanges(ctx, c)
			if err != nil {
				return client.GuardrailAnswer{}, err
			}
			for _, x := range changes {
				if ok = ok || x.Rule == name; x.Rule == name {
					r.Default = guardrail.Action(x.Action)
				}
			}
		}
		if !ok {
			return client.GuardrailAnswer{}, fault.NotFound("guardrail", name)
		}
		defaults[name] = string(r.Default)
	}
	return s.CheckGuardrail(ctx, c, defaults, in)
}
