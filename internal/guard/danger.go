package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/guardrail"
)

// dangers stops a command that destroys what cannot be brought back, or has the person asked, as the project's rules say.
// The coordinator is asked only about a command that meets a rule.
func (g *Guard) dangers(ctx context.Context, c Call, read Reading) (Decision, error) {
	if !c.shell() {
		return Decision{}, nil
	}
	w, err := g.here(ctx, c)
	found := g.findings(ctx, c, read, w)
	if err != nil && len(found) == 0 {
		return Decision{}, nil // what comes after says that nothing was checked
	}
	script := c.script()
	if w != nil {
		found = append(found, g.own(ctx, w.who(c.Session), script)...)
	}
	if len(found) == 0 {
		return Decision{}, nil
	}
	who := Who{Session: c.Session, Acts: true}
	if w != nil {
		who = w.who(c.Session)
		who.Acts = true
	}
	answer, err := g.ask(ctx, c, who, found, script)
	if err != nil {
		return g.unasked(c, found, err)
	}
	return verdict(c, answer, found), nil
}

// findings are the rules that the call's commands meet.
func (g *Guard) findings(ctx context.Context, c Call, read Reading, w *worktree) []guardrail.Finding {
	home, _ := os.UserHomeDir() // empty: nothing is known to lie there
	out := slices.Clone(read.Dangers)
	for _, x := range read.Commands {
		at := guardrail.Place{Dir: x.Dir, Home: home, Temp: []string{os.TempDir(), g.Getenv("TMPDIR")}}
		if w != nil && !x.Away {
			at.Tree, at.Branch = w.Root, branchOf(w.Root)
		}
		if at.Dir != "" {
			at.Dir = real(at.Dir, false)
		}
		for _, f := range guardrail.Command(x.Words, x.Sure, at) {
			if f.Rule == guardrail.ResetHard && !g.othersDirty(ctx, c, w) {
				continue
			}
			out = append(out, f)
		}
	}
	return out
}

// othersDirty reports whether files that another session holds differ from the last commit in this working tree: what
// git reset --hard would throw away is theirs, too. What cannot be told is no: the locks are checked anyway.
func (g *Guard) othersDirty(ctx context.Context, c Call, w *worktree) bool {
	if w == nil || !w.Repo.Git {
		return false
	}
	dirty, err := look(ctx, w.Root)
	if err != nil || len(dirty) == 0 {
		return false
	}
	paths := make([]string, 0, len(dirty))
	for p := range dirty {
		paths = append(paths, p)
	}
	held, err := g.othersHold(ctx, w, c.Session, paths)
	return err == nil && len(held) > 0
}

// maxCommand is how much of a command the coordinator keeps, in characters.
const maxCommand = 4000

func (g *Guard) ask(ctx context.Context, c Call, who Who, found []guardrail.Finding, script string) (client.GuardrailAnswer, error) {
	api, err := g.Dial(who)
	if err != nil {
		return client.GuardrailAnswer{}, err
	}
	defer api.Close()
	in := client.CheckGuardrail{Tool: c.Tool, Asks: c.asks(), Command: cutRunes(script, maxCommand)}
	var why []string
	for _, f := range found {
		if !slices.Contains(in.Rules, f.Rule) && len(in.Rules) < 20 {
			in.Rules = append(in.Rules, f.Rule)
			why = append(why, f.Why)
		}
	}
	in.Why = cutRunes(strings.Join(why, "; "), 500)
	return api.CheckGuardrail(ctx, in)
}

func cutRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// verdict puts the coordinator's answer in words.
func verdict(c Call, a client.GuardrailAnswer, found []guardrail.Finding) Decision {
	why := whyOf(a.Rule, found)
	switch {
	case a.Action == string(guardrail.Allow) && a.Approved:
		return Decision{Context: []string{"Agent Coordinator: " + a.By + " approved this command; the approval is used up."}}
	case a.Action == string(guardrail.Allow):
		return Decision{}
	case a.Action == string(guardrail.Ask) && c.asks():
		return Decision{Ask: "Agent Coordinator: this " + why + " (rule " + a.Rule + "). Let it run?"}
	}
	next := "Do not do it another way."
	if a.ActID != "" {
		next = fmt.Sprintf("Do not do it another way. A person can let exactly this command through once: coordctl act approve %s. Say so, and go on with something else.", a.ActID)
	}
	return Decision{Deny: "Refused by Agent Coordinator: this " + why + " (rule " + a.Rule + "). Nothing was run. " + next}
}

func whyOf(rule string, found []guardrail.Finding) string {
	for _, f := range found {
		if f.Rule == rule && f.Why != "" {
			return f.Why
		}
	}
	return "command meets the rule"
}

// unasked is the answer when the coordinator cannot be asked about a command that meets a rule: the rules as delivered
// hold, whatever the fail mode, and nothing can be approved. What they would have a person asked about follows the fail
// mode where the host cannot ask.
func (g *Guard) unasked(c Call, found []guardrail.Finding, err error) (Decision, error) {
	strictest := client.GuardrailAnswer{Action: string(guardrail.Allow)}
	for _, f := range found {
		r, known := guardrail.Known(f.Rule)
		if !known {
			r.Default = guardrail.Ask
		}
		if strictest.Action == string(guardrail.Allow) || r.Default == guardrail.Deny {
			strictest = client.GuardrailAnswer{Action: string(r.Default), Rule: f.Rule}
		}
	}
	if strictest.Action == string(guardrail.Deny) || c.asks() {
		return verdict(c, strictest, found), nil
	}
	return Decision{}, err
}

// script is the shell command of the call as it stands.
func (c Call) script() string {
	var in toolInput
	if json.Unmarshal(c.Input, &in) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(in.Command, &text) == nil {
		return text
	}
	var words []string
	if json.Unmarshal(in.Command, &words) != nil {
		return ""
	}
	return strings.Join(words, " ")
}

// ownRules are a project's own rules as they were known At.
type ownRules struct {
	At       time.Time         `json:"at"`
	Patterns map[string]string `json:"patterns"`
}

// ownFor is how long a project's own rules are believed without asking.
const ownFor = time.Minute

// own are the project's own rules that a command meets.
func (g *Guard) own(ctx context.Context, who Who, script string) []guardrail.Finding {
	var out []guardrail.Finding
	for rule, pattern := range g.patterns(ctx, who) {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(script) {
			out = append(out, guardrail.Finding{Rule: rule, Why: "meets " + pattern})
		}
	}
	slices.SortFunc(out, func(a, b guardrail.Finding) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}

// patterns asks for the project's own rules once a minute. Rules that cannot be asked for stay as they were.
func (g *Guard) patterns(ctx context.Context, who Who) map[string]string {
	file := filepath.Join(g.State, "rules-"+BlobID([]byte(g.Server + "\x00" + who.Project))[:16]+".json")
	var known ownRules
	if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &known) == nil && time.Since(known.At) < ownFor {
		return known.Patterns
	}
	api, err := g.Dial(who)
	if err != nil {
		return known.Patterns
	}
	defer api.Close()
	list, err := api.ListGuardrails(ctx, client.None{})
	if err != nil {
		return known.Patterns
	}
	known = ownRules{At: time.Now(), Patterns: map[string]string{}}
	for _, r := range list.Rules {
		if r.Pattern != "" {
			known.Patterns[r.Rule] = r.Pattern
		}
	}
	if raw, err := json.Marshal(known); err == nil && os.MkdirAll(g.State, 0o700) == nil {
		_ = os.WriteFile(file, raw, 0o600) // else they are asked for again
	}
	return known.Patterns
}
