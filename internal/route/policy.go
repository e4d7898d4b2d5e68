package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The places where verification runs, as policies name them.
const (
	Inline = "inline"
	GitHub = "github"
	E2B    = "e2b"
	NTM    = "ntm"
	Human  = "human"
)

// PolicyError says what is wrong with a policy, and in which member.
type PolicyError struct{ Policy, Field, What string }

func (e *PolicyError) Error() string {
	return fmt.Sprintf("policy %s: %s %s", e.Policy, e.Field, e.What)
}

// compiled is a policy ready to be matched.
type compiled struct {
	Policy

	patterns, excludes []glob
	repository, branch *glob // nil: every one
}

// Check reports what is wrong with a policy as a *PolicyError, or nil.
func Check(p Policy) error {
	_, err := compile(p)
	return err
}

func compile(p Policy) (*compiled, error) {
	c := &compiled{Policy: p}
	if err := checkPlaces(p); err != nil {
		return nil, err
	}
	if len(p.Patterns) == 0 {
		return nil, &PolicyError{p.Name, "patterns", "are none, so it would never apply"}
	}
	var err error
	if c.patterns, err = compileGlobs(p, "patterns", p.Patterns); err != nil {
		return nil, err
	}
	if c.excludes, err = compileGlobs(p, "exclude_patterns", p.ExcludePatterns); err != nil {
		return nil, err
	}
	for _, scope := range []struct {
		field, source string
		into          **glob
	}{{"repository", p.Repository, &c.repository}, {"branch", p.Branch, &c.branch}} {
		if scope.source == "" {
			continue
		}
		g, wrong := compileGlob(scope.source, false)
		if wrong != "" {
			return nil, &PolicyError{p.Name, scope.field, fmt.Sprintf("%q %s", scope.source, wrong)}
		}
		*scope.into = &g
	}
	return c, nil
}

// checkPlaces refuses tiers and executors that do not go together.
func checkPlaces(p Policy) error {
	if p.Tier < TierStatic || p.Tier > TierHuman {
		return &PolicyError{p.Name, "tier", "must be 0 to 4"}
	}
	if len(p.Executors) == 0 {
		return &PolicyError{p.Name, "executors", "are none, so nothing could run it"}
	}
	for _, e := range p.Executors {
		switch {
		case !slices.Contains([]string{Inline, GitHub, E2B, NTM, Human}, e):
			return &PolicyError{p.Name, "executors", fmt.Sprintf("has %q, which is none of inline, github, e2b, ntm, human", e)}
		case (e == Human) != (p.Tier == TierHuman):
			return &PolicyError{p.Name, "executors", "must be human in tier 4, and only there"}
		case e == E2B && p.Tier == TierSystem:
			return &PolicyError{p.Name, "executors", "cannot be e2b in tier 3: a system test needs the whole system"}
		}
	}
	return nil
}

func compileGlobs(p Policy, field string, sources []string) ([]glob, error) {
	out := make([]glob, 0, len(sources))
	for _, source := range sources {
		g, wrong := compileGlob(source, p.FoldCase)
		if wrong != "" {
			return nil, &PolicyError{p.Name, field, fmt.Sprintf("%q %s", source, wrong)}
		}
		out = append(out, g)
	}
	return out, nil
}

// covers reports whether the policy is meant for the change's repository and branch.
func (c *compiled) covers(ch *Change) bool {
	return (c.repository == nil || c.repository.matches(ch.Repository)) && (c.branch == nil || c.branch.matches(ch.Branch))
}

// match is the path and the pattern by which the policy applies; "" when it does not.
func (c *compiled) match(x *index, shown []string) (p, pattern string) {
	for i := range c.patterns {
		if id := x.first(&c.patterns[i], c.excludes); id >= 0 {
			return shown[id], c.patterns[i].source
		}
	}
	return "", ""
}

// place chooses the first executor that may run the policy for this change; blocked says why there is none.
func (c *compiled) place(ch *Change) (executor, blocked string) {
	why := make([]string, 0, len(c.Executors))
	for _, e := range c.Executors {
		switch {
		case slices.Contains(ch.UnavailableExecutors, e):
			why = append(why, e+" is not available")
		case e == NTM && ch.Fork:
			why = append(why, "ntm does not isolate, and the change comes from a fork")
		case e == NTM && ch.TrustLevel < 2:
			why = append(why, fmt.Sprintf("ntm does not isolate and needs trust 2, the author has %d", ch.TrustLevel))
		default:
			return e, ""
		}
	}
	return "", strings.Join(why, "; ")
}

// step is the policy as a part of a plan.
func (c *compiled) step(ch *Change) Step {
	s := Step{Tier: c.Tier, Policy: c.Name, Required: c.Required}
	s.Executor, s.Blocked = c.place(ch)
	return s
}

// Router holds compiled policies. It never changes and is safe for concurrent use.
type Router struct {
	policies []*compiled // the enabled ones, by tier, priority, name
	exact    words       // keys of the policies that tell cases apart
	folded   words       // and of those that do not
	folds    bool
}

// Compile checks and compiles policies; those that are not enabled are checked and left out. The error is a
// *PolicyError, about the first wrong one.
func Compile(policies []Policy) (*Router, error) {
	r := &Router{exact: newWords(), folded: newWords()}
	seen := map[string]bool{}
	for _, p := range policies {
		c, err := compile(p)
		if err != nil {
			return nil, err
		}
		if seen[p.Name] {
			return nil, &PolicyError{p.Name, "name", "is another policy's as well"}
		}
		seen[p.Name] = true
		if !p.Enabled {
			continue
		}
		r.policies = append(r.policies, c)
		w := r.exact
		if p.FoldCase {
			w, r.folds = r.folded, true
		}
		for _, g := range c.patterns {
			w.add(g)
		}
	}
	slices.SortStableFunc(r.policies, func(a, b *compiled) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Name, b.Name))
	})
	return r, nil
}

// Policy returns an enabled policy by name, as it was given to Compile.
func (r *Router) Policy(name string) (Policy, bool) {
	for _, c := range r.policies {
		if c.Name == name {
			return c.Policy, true
		}
	}
	return Policy{}, false
}
