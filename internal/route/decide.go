package route

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// The bounds of the rules below.
const (
	manyFiles     = 30  // more raise a tier
	manyLines     = 500 // added and removed; more raise a tier
	someFailures  = 2   // consecutive; they raise a tier
	tooMany       = 4   // consecutive failures; a person looks
	waiverTrust   = 3   // least trust that may drop a tier
	waiverLines   = 50  // most lines of a change that may drop a tier
	reasonsOfKind = 20  // most reasons that name files one by one
)

// Modes of git that are no plain files.
const (
	modeSymlink   = "120000"
	modeSubmodule = "160000"
)

// Reason codes.
const (
	reasonMatched   = "matched"
	reasonAlways    = "always"
	reasonSize      = "size"
	reasonTrust     = "trust"
	reasonFailures  = "failures"
	reasonFork      = "fork"
	reasonTest      = "removed_test"
	reasonMode      = "special_file"
	reasonTruncated = "truncated"
	reasonViolation = "lock_violation"
	reasonApproval  = "approval"
	reasonWaived    = "waived"
	reasonAudit     = "waiver_audit"
	reasonDraft     = "draft"
	reasonDefault   = "default_policy"
)

// routing is one decision in the making.
type routing struct {
	r       *Router
	ch      *Change
	files   int
	lines   int
	matched [TierHuman + 1][]*compiled
	need    [TierHuman + 1]bool
	raised  [TierHuman + 1]bool // needed for another reason than a matched policy
	asks    []string            // policies of lower tiers that ask for an approval
	bumps   int
	out     Decision
}

// Route decides what a change needs. The decision depends on nothing but its arguments. But for a waiver, adding a file
// never takes away a tier that a policy asks for and never lowers the highest.
func (r *Router) Route(ch Change) Decision {
	g := &routing{r: r, ch: &ch, files: len(ch.Files)}
	for i := range ch.Files {
		g.lines += ch.Files[i].Additions + ch.Files[i].Deletions
	}
	g.match()
	g.raise(TierStatic)
	g.bump()
	g.people()
	g.waive()
	g.drafts()
	g.plan()
	g.audit()
	return g.out
}

func (g *routing) because(code string, tier int, text string, args ...any) {
	g.out.Reasons = append(g.out.Reasons, Reason{Code: code, Tier: tier, Text: fmt.Sprintf(text, args...)})
}

func (g *routing) raise(tier int) { g.need[tier], g.raised[tier] = true, true }

// match finds the policies that apply.
func (g *routing) match() {
	paths := pathsOf(g.ch.Files)
	exact := newIndex(paths, g.r.exact)
	folded := exact
	if g.r.folds {
		lower := make([]string, len(paths))
		for i, p := range paths {
			lower[i] = strings.ToLower(p)
		}
		folded = newIndex(lower, g.r.folded)
	}
	for _, c := range g.r.policies {
		if !c.covers(g.ch) {
			continue
		}
		x := exact
		if c.FoldCase {
			x = folded
		}
		p, pattern := c.match(x, paths)
		switch {
		case p != "":
			g.out.Reasons = append(g.out.Reasons, Reason{
				Code: reasonMatched, Tier: c.Tier, Policy: c.Name, Path: p, Text: fmt.Sprintf("%s matches %s", p, pattern),
			})
		case g.ch.Truncated:
			g.out.Reasons = append(g.out.Reasons, Reason{
				Code: reasonTruncated, Tier: c.Tier, Policy: c.Name, Text: "the list of files is not whole, so the policy may apply",
			})
		default:
			continue
		}
		g.matched[c.Tier] = append(g.matched[c.Tier], c)
		g.need[c.Tier] = true
	}
}

// bump raises the tiers above the highest matched one.
func (g *routing) bump() {
	floor := TierStatic
	for tier := TierStatic; tier < TierHuman; tier++ {
		if g.need[tier] {
			floor = tier
		}
	}
	one := func(code, text string, args ...any) {
		g.bumps++
		tier := min(floor+g.bumps, TierSystem)
		g.raise(tier)
		g.because(code, tier, text, args...)
	}
	if g.files > manyFiles || g.lines > manyLines {
		one(reasonSize, "%d files and %d lines changed; more than %d files or %d lines raise a tier", g.files, g.lines, manyFiles, manyLines)
	}
	if g.ch.TrustLevel == 1 {
		one(reasonTrust, "the author's trust is 1, which raises a tier")
	}
	if g.ch.PriorFailures >= someFailures {
		one(reasonFailures, "the author's last %d changes on the branch failed, which raises a tier", g.ch.PriorFailures)
	}
	if len(g.ch.LockViolations) > 0 {
		one(reasonViolation, "files were changed that somebody else held locked, which raises a tier")
		for i, v := range g.ch.LockViolations {
			if i == reasonsOfKind {
				g.because(reasonViolation, TierStatic, "and %d more", len(g.ch.LockViolations)-i)
				break
			}
			text := fmt.Sprintf("%s was locked by %s", v.Path, v.Holder)
			if v.Reason != "" {
				text += ": " + v.Reason
			}
			g.out.Reasons = append(g.out.Reasons, Reason{Code: reasonViolation, Tier: min(floor+g.bumps, TierSystem), Path: v.Path, Text: text})
		}
	}
}

// people finds what only a person may decide.
func (g *routing) people() {
	human := func(code, text string, args ...any) {
		g.raise(TierHuman)
		g.because(code, TierHuman, text, args...)
	}
	if g.ch.TrustLevel <= 0 {
		human(reasonTrust, "the author's trust is 0")
	}
	if g.ch.PriorFailures >= tooMany {
		human(reasonFailures, "the author's last %d changes on the branch failed", g.ch.PriorFailures)
	}
	if g.ch.Fork {
		human(reasonFork, "the change comes from a fork")
	}
	if g.ch.Truncated {
		for tier := TierStatic; tier <= TierHuman; tier++ {
			g.raise(tier)
		}
		g.because(reasonTruncated, TierHuman, "the list of files is not whole, so every tier and a person are needed")
	}
	named := 0
	for i := range g.ch.Files {
		f := &g.ch.Files[i]
		code, text := unusual(f)
		if code == "" {
			continue
		}
		if named++; named > reasonsOfKind {
			human(code, "and further files of the kind")
			break
		}
		human(code, "%s", text)
		g.out.Reasons[len(g.out.Reasons)-1].Path = f.Path
	}
	for tier := TierStatic; tier < TierHuman; tier++ {
		for _, c := range g.matched[tier] {
			g.ask(c)
		}
	}
}

// waive is the only rule that relaxes: a trusted author's small change need not run what every matched policy of the
// tier lets it leave out.
func (g *routing) waive() {
	if g.ch.TrustLevel < waiverTrust || g.bumps > 0 || g.need[TierHuman] || g.lines > waiverLines {
		return
	}
	for _, tier := range []int{TierUnit, TierIntegration} {
		list := g.matched[tier]
		if len(list) == 0 || g.raised[tier] || slices.ContainsFunc(list, func(c *compiled) bool { return !c.Waivable }) {
			continue
		}
		g.need[tier], g.matched[tier] = false, nil
		for _, c := range list {
			g.out.Waived = append(g.out.Waived, c.step(g.ch))
		}
		g.because(reasonWaived, tier, "trust %d and %d lines, at most %d, of waivable policies only", g.ch.TrustLevel, g.lines, waiverLines)
		if g.ch.AuditWaiver {
			g.because(reasonAudit, tier, "it runs all the same, without a say in the verdict: waivers are audited at random")
		}
	}
}

// drafts wait with everything dear.
func (g *routing) drafts() {
	if !g.ch.Draft {
		return
	}
	for tier := TierUnit; tier <= TierHuman; tier++ {
		if g.need[tier] {
			g.because(reasonDraft, tier, "waits until the draft is ready for review")
		}
		g.need[tier] = false
	}
}

// plan lists what runs. A tier that was raised and has no required match runs its default policy.
func (g *routing) plan() {
	g.out.Tiers, g.out.Plan = []int{}, []Step{}
	for tier := TierStatic; tier <= TierHuman; tier++ { // filling a tier may bring people in
		if !g.need[tier] {
			continue
		}
		g.out.Tiers = append(g.out.Tiers, tier)
		required := false
		for _, c := range g.matched[tier] {
			g.out.Plan = append(g.out.Plan, c.step(g.ch))
			required = required || c.Required
		}
		if tier == TierHuman {
			for _, name := range g.asks {
				g.out.Plan = append(g.out.Plan, Step{Tier: TierHuman, Policy: name, Executor: Human, Required: true})
				required = true
			}
		}
		if g.raised[tier] && !required {
			g.fill(tier)
		}
	}
}

// audit runs what was waived as advisory, where the change was picked for that.
func (g *routing) audit() {
	if !g.ch.AuditWaiver || g.ch.Draft {
		return
	}
	for _, s := range g.out.Waived {
		s.Required = false
		g.out.Plan = append(g.out.Plan, s)
	}
}

// fill puts a raised tier's default policy into the plan, else its first.
func (g *routing) fill(tier int) {
	var pick *compiled
	for _, c := range g.r.policies {
		if c.Tier == tier && c.covers(g.ch) && (pick == nil || c.Default && !pick.Default) {
			pick = c
		}
	}
	if pick == nil {
		g.out.Plan = append(g.out.Plan, Step{Tier: tier, Required: true, Blocked: fmt.Sprintf("no policy of tier %d is enabled", tier)})
		g.because(reasonDefault, tier, "the tier is needed, but has no policy that is enabled")
		return
	}
	at := slices.IndexFunc(g.out.Plan, func(s Step) bool { return s.Policy == pick.Name && s.Tier == tier })
	if at >= 0 { // advisory where it matched, but the tier is needed
		g.out.Plan[at].Required = true
		return
	}
	if !g.ch.Draft {
		g.ask(pick)
	}
	step := pick.step(g.ch)
	step.Required = true
	g.out.Plan = append(g.out.Plan, step)
	code, text := reasonDefault, "nothing of the tier matched, so its default policy runs"
	if tier == TierStatic {
		code, text = reasonAlways, "tier 0 always runs"
	}
	g.out.Reasons = append(g.out.Reasons, Reason{Code: code, Tier: tier, Policy: pick.Name, Text: text})
}

// ask notes that a policy of a lower tier asks for an approval, if it does.
func (g *routing) ask(c *compiled) {
	if !c.RequiresApproval || c.Tier == TierHuman {
		return
	}
	g.need[TierHuman] = true
	g.asks = append(g.asks, c.Name)
	g.out.Reasons = append(g.out.Reasons, Reason{
		Code: reasonApproval, Tier: TierHuman, Policy: c.Name, Text: fmt.Sprintf("policy %s asks for an approval", c.Name),
	})
}

// unusual says why a person must see what happened to a file; code is "" when nothing of the kind did.
func unusual(f *File) (code, text string) {
	switch {
	case f.Mode == modeSubmodule:
		return reasonMode, f.Path + " is a submodule"
	case f.Mode == modeSymlink:
		return reasonMode, f.Path + " is a symbolic link"
	case removesTest(f) && f.Status != "removed":
		return reasonTest, f.PreviousPath + " is a test and was renamed to what is none"
	case removesTest(f):
		return reasonTest, f.Path + " is a test and was removed"
	}
	return "", ""
}

// removesTest reports whether a file that tests something is gone afterwards.
func removesTest(f *File) bool {
	switch {
	case f.Status == "removed":
		return isTest(f.Path)
	case f.PreviousPath != "" && f.Status != "copied":
		return isTest(f.PreviousPath) && !isTest(f.Path)
	}
	return false
}

// isTest knows tests by the names that languages give them.
func isTest(p string) bool {
	p = clean(p)
	name := path.Base(p)
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	switch ext {
	case ".java", ".kt", ".scala", ".cs", ".swift", ".php":
		if strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") {
			return true
		}
	}
	for _, end := range []string{"_test", "_tests", "_spec", ".test", ".spec"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	if strings.HasPrefix(name, "test_") {
		return true
	}
	return slices.ContainsFunc([]string{"test", "tests", "__tests__"}, func(dir string) bool { return hasSegment(path.Dir(p), dir) })
}
