package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const (
	routeBatch     = 16
	planAgain      = 150 // changes routed by this process, after which the database should know how large its tables are
	routeLease     = 90 * time.Second
	routeTime      = 75 * time.Second // for everything that one routing asks outside
	mostRoutings   = 8                // attempts before the changeset ends in error
	unfetchedTries = 2                // attempts before an agent's word is taken for what git cannot give
	auditOneIn     = 10               // of changes whose waived policies run all the same, as advisory
	mostViolations = 100              // named of one change
	mostFiles      = 20_000           // stored of one change; beyond it the list counts as truncated
)

// routeSome routes changesets that wait for it.
func (g *Gateway) routeSome(ctx context.Context) (int, error) {
	due, err := g.store.TakeChangesets(ctx, routeBatch, routeLease)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	taken := ctx
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(g.cfg.Workers)
	for _, c := range due {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, routeTime)
			defer cancel()
			return g.routeOne(ctx, c)
		})
	}
	err = group.Wait()
	if before := g.routed.Add(int64(len(due))) - int64(len(due)); before < planAgain && before+int64(len(due)) >= planAgain {
		if _, err := g.store.FirstStatistics(taken); err != nil {
			g.log.InfoContext(taken, "tables of a new database could not be analysed; autovacuum will do it", "err", err)
		}
	}
	return len(due), err
}

// routeOne looks up what a change changes and decides what verifies it. Whatever cannot be told is asked again later; it
// never lowers what is asked for.
func (g *Gateway) routeOne(ctx context.Context, c coord.RoutingChangeset) error {
	ctx, span := trace.Start(trace.Under(ctx, g.store.TraceOf(ctx, traceKind, c.ID)), "route", trace.Internal, "gateway.changeset", c.ID)
	r, err := g.routing(ctx, c)
	defer func() { span.End(failure(err)) }()
	stored := false
	if err == nil {
		stored, err = g.store.StoreRoute(ctx, c, r)
	}
	if stored {
		g.holdBranch(ctx, c, r.Files, r.LockViolations)
	}
	if err == nil || fault.Is(err, client.CodeUnavailable) && !errors.Is(err, errOutside) {
		return err
	}
	g.log.WarnContext(ctx, "a change could not be routed", "changeset", c.ID, "attempt", c.RouteAttempts, "err", err)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	pause, busy := waitFor(err, min(time.Second<<min(c.RouteAttempts, 9), 5*time.Minute))
	most := mostRoutings
	if busy {
		most = c.RouteAttempts + 1
	}
	return g.store.RouteFailed(end, c, err.Error(), pause, most)
}

// errOutside marks failures of what was asked outside.
var errOutside = errors.New("asked outside")

func (g *Gateway) routing(ctx context.Context, c coord.RoutingChangeset) (coord.Routing, error) {
	r := coord.Routing{PriorFailures: c.PriorFailures, Provenance: "git"}
	var err error
	if r.Files, r.Truncated, r.Provenance, r.BaseSHA, err = g.changedFiles(ctx, c); err != nil {
		return r, fmt.Errorf("%w: %w", errOutside, err)
	}
	if len(r.Files) > mostFiles {
		r.Files, r.Truncated = r.Files[:mostFiles], true
	}
	ref := refOf(c)
	if g.cfg.Forge != nil {
		who, err := g.cfg.Forge.Contributors(ctx, ref)
		if err != nil && !errors.Is(err, ErrElsewhere) && !errors.Is(err, ErrGone) {
			return r, fmt.Errorf("%w: who wrote it: %w", errOutside, err)
		}
		r.Contributors = who
	}
	if r.TrustLevel, err = g.trust(ctx, c); err != nil {
		return r, err
	}
	if r.LockViolations, err = g.lockViolations(ctx, c, r.Files); err != nil {
		return r, err
	}
	router, err := g.store.RouterOf(ctx, c.ProjectID, c.PolicySet)
	if err != nil {
		return r, err
	}
	change := route.Change{
		Repository: c.Repository, Branch: c.Branch, Files: r.Files, Truncated: r.Truncated, TrustLevel: r.TrustLevel,
		PriorFailures: c.PriorFailures, Fork: c.Fork, Draft: c.Draft, UnavailableExecutors: g.unavailable(), LockViolations: r.LockViolations,
		AuditWaiver: rand.IntN(auditOneIn) == 0,
	}
	r.Decision = router.Route(change)
	for _, step := range r.Decision.Plan {
		policy, ok := router.Policy(step.Policy)
		if !ok {
			policy = route.Policy{Name: step.Policy, Tier: step.Tier, Required: step.Required}
		}
		step = g.checkPlace(ctx, c, step, policy)
		human := step.Executor == "human" || step.Tier == route.TierHuman && step.Blocked == ""
		if human { // a policy that asks for an approval beside its run has a human step as well
			r.Approvals = append(r.Approvals, wanted(step, policy, r.Decision.Reasons))
		}
		if !human {
			r.Runs = append(r.Runs, coord.RoutedStep{Step: step, Policy: policy})
		}
	}
	return r, nil
}

// wanted is the approval that a step asks for.
func wanted(step route.Step, p route.Policy, reasons []route.Reason) coord.WantedApproval {
	w := coord.WantedApproval{Policy: step.Policy, Count: max(p.Approvals.Count, 1), Roles: p.Approvals.Roles, Users: p.Approvals.Users, Teams: p.Approvals.Teams}
	var why []string
	for _, r := range reasons {
		if r.Policy == step.Policy || r.Policy == "" && r.Tier == step.Tier {
			why = append(why, r.Text)
		}
	}
	w.Reason = strings.Join(why, "; ")
	return w
}

// unavailable names the executors that policies may ask for and that this gateway has not.
func (g *Gateway) unavailable() []string {
	var out []string
	for _, name := range []string{"inline", "github", "e2b", "ntm"} {
		if g.places[name] == nil {
			out = append(out, name)
		}
	}
	return out
}

// checkPlace asks the chosen executor whether it can run the job; one that cannot blocks the step, unless the policy names
// another that can.
func (g *Gateway) checkPlace(ctx context.Context, c coord.RoutingChangeset, step route.Step, p route.Policy) route.Step {
	if step.Blocked != "" || step.Executor == "" || step.Executor == "human" {
		return step
	}
	job := executors.Job{
		Changeset: c.ID, Project: c.Project, Repository: c.Repository, CloneURL: c.CloneURL, HeadSHA: c.HeadSHA, BaseSHA: c.BaseSHA,
		Ref: c.Ref, PullNumber: c.PRNumber, Fork: c.Fork, Policy: p,
	}
	var why []string
	first := max(slices.Index(p.Executors, step.Executor), 0)
	names := append([]string{step.Executor}, p.Executors[min(first+1, len(p.Executors)):]...)
	for _, name := range names {
		place := g.places[name]
		if place == nil || name == "ntm" && (c.Fork || name != step.Executor) { // whom ntm may run for is routing's matter
			continue
		}
		err := cmp.Or(missingEnv(p.RequiredEnv), place.Available(ctx, job))
		if err == nil {
			step.Executor = name
			return step
		}
		why = append(why, name+": "+err.Error())
	}
	step.Executor, step.Blocked = "", cmp.Or(strings.Join(why, "; "), "no executor of its policy is there")
	return step
}

// missingEnv says what a policy needs in the gateway's environment and is not there.
func missingEnv(names []string) error {
	for _, name := range names {
		if os.Getenv(name) == "" {
			return fmt.Errorf("its policy needs %s, which is not set for the gateway", name)
		}
	}
	return nil
}

func refOf(c coord.RoutingChangeset) ChangeRef {
	return ChangeRef{
		Project: c.Project, Repository: c.Repository, CloneURL: c.CloneURL, PullNumber: c.PRNumber, Branch: c.Branch,
		BaseRef: c.BaseRef, BaseSHA: c.BaseSHA, HeadSHA: c.HeadSHA, HeadRef: c.Ref, Fork: c.Fork,
	}
}

// changedFiles asks the forge, then git. What an agent claims is added, and taken alone only where git cannot give the
// commit at all: then the list counts as truncated, so that every tier is asked.
func (g *Gateway) changedFiles(ctx context.Context, c coord.RoutingChangeset) (files []route.File, truncated bool, provenance, base string, err error) {
	forgeErr := ErrElsewhere
	if g.cfg.Forge != nil {
		files, truncated, forgeErr = g.cfg.Forge.ChangedFiles(ctx, refOf(c))
	}
	if forgeErr == nil && !truncated {
		return withClaims(files, c.ClaimedFiles), false, "api", "", nil
	}
	fromGit, base, gitErr := g.filesFromGit(ctx, c)
	switch {
	case gitErr == nil && g.cfg.Source.Claimed(ctx, c.CloneURL, c.HeadSHA):
		return withClaims(fromGit, c.ClaimedFiles), false, "agent_claimed", base, nil
	case gitErr == nil:
		return withClaims(fromGit, c.ClaimedFiles), false, "git", base, nil
	case forgeErr == nil: // truncated, and git cannot tell either
		return withClaims(files, c.ClaimedFiles), true, "api", "", nil
	case c.Source == "agent" && c.RouteAttempts >= unfetchedTries:
		return withClaims(nil, c.ClaimedFiles), true, "agent_claimed", "", nil
	case errors.Is(forgeErr, ErrElsewhere):
		return nil, false, "", "", gitErr
	}
	return nil, false, "", "", errors.Join(forgeErr, gitErr)
}

// filesFromGit also says which base it compared with; "" when every file counts as changed.
func (g *Gateway) filesFromGit(ctx context.Context, c coord.RoutingChangeset) (files []route.File, base string, err error) {
	if g.cfg.Source == nil {
		return nil, "", errors.New("there is no access to the repository: neither its forge nor git is configured")
	}
	if c.CloneURL == "" {
		return nil, "", errors.New("where git could fetch the repository is unknown")
	}
	if err := g.cfg.Source.Fetch(ctx, c.CloneURL, c.HeadSHA, c.Ref); err != nil {
		return nil, "", err
	}
	base = cmp.Or(c.BaseSHA, c.BaseHead)
	if base == "" && c.Source == "agent" { // no forge told of it; what the agent says of its base would be its word alone
		base, _ = g.cfg.Source.Branch(ctx, c.CloneURL, cmp.Or(c.BaseRef, c.DefaultBranch)) // none: everything counts as changed
	}
	if strings.Trim(base, "0") == "" || base == c.HeadSHA {
		base = "" // every file counts as changed
	}
	if base != "" {
		if err := g.cfg.Source.Fetch(ctx, c.CloneURL, base, ""); err != nil {
			base = "" // a base that is gone: everything counts as changed, which asks for more, never for less
		}
	}
	files, err = g.cfg.Source.ChangedFiles(ctx, c.CloneURL, base, c.HeadSHA)
	return files, base, err
}

// withClaims adds paths that an agent says it changed.
func withClaims(files []route.File, claims []string) []route.File {
	for _, path := range claims {
		path = strings.TrimPrefix(strings.TrimSpace(path), "./")
		if path != "" && !slices.ContainsFunc(files, func(f route.File) bool { return f.Path == path }) {
			files = append(files, route.File{Path: path, Status: "modified"})
		}
	}
	return files
}

// lockViolations are changed paths that somebody else holds locked now, or held when the agent changed them, as its hooks
// recorded.
func (g *Gateway) lockViolations(ctx context.Context, c coord.RoutingChangeset, files []route.File) ([]route.LockViolation, error) {
	paths := make([]string, 0, len(files))
	for _, f := range files {
		for _, p := range []string{f.Path, f.PreviousPath} {
			if p != "" && len(p) <= 1024 {
				paths = append(paths, p)
			}
		}
	}
	var out []route.LockViolation
	var chunks iter.Seq[[]string] = func(func([]string) bool) {} // in a project without locks nothing is held
	if c.Locked {
		chunks = slices.Chunk(paths, 200)
	}
	for batch := range chunks {
		held, err := g.heldLocks(ctx, c, batch)
		if err != nil {
			return nil, err
		}
		for _, l := range held {
			if l.LockedBy != c.AgentID && len(out) < mostViolations && l.Mode != "shared" {
				out = append(out, route.LockViolation{Path: l.FilePath, Holder: l.LockedBy, Reason: l.Reason})
			}
		}
	}
	recorded, err := g.store.RecordedViolations(ctx, c.ProjectID, c.AgentID, paths)
	if err != nil {
		return nil, err
	}
	for _, v := range recorded {
		if len(out) < mostViolations && !slices.ContainsFunc(out, func(o route.LockViolation) bool { return o.Path == v.Path && o.Holder == v.Holder }) {
			out = append(out, v)
		}
	}
	return out, nil
}

// heldLocks are the locks that meet any of the paths. A path that cannot be locked is not locked, and a repository nobody
// locked in has no locks.
func (g *Gateway) heldLocks(ctx context.Context, c coord.RoutingChangeset, paths []string) ([]client.Lock, error) {
	who := ident.Caller{ProjectID: c.ProjectID, Project: c.Project, Repository: c.Repository, By: "gateway"}
	held, err := g.store.CheckLocks(ctx, who, client.CheckLocks{FilePaths: paths, Branch: c.Branch})
	switch {
	case err == nil:
		return held.Locks, nil
	case fault.Is(err, client.CodeNotFound), fault.Is(err, client.CodeInvalid) && len(paths) == 1:
		return nil, nil
	case !fault.Is(err, client.CodeInvalid):
		return nil, err
	}
	var out []client.Lock
	for _, p := range paths { // one of them is none: the others are looked up all the same
		one, err := g.heldLocks(ctx, c, []string{p})
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}

// trust is the level of who made the change: of an agent whose key submitted it, else by what the forge lets the actor do.
func (g *Gateway) trust(ctx context.Context, c coord.RoutingChangeset) (int, error) {
	permission := ""
	if g.cfg.Forge != nil && c.Actor != "" && !c.AgentVerified {
		p, err := g.cfg.Forge.Permission(ctx, c.Repository, c.Actor)
		if err != nil && !errors.Is(err, ErrElsewhere) && !errors.Is(err, ErrGone) {
			return 0, fmt.Errorf("%w: what %s may do: %w", errOutside, c.Actor, err)
		}
		permission = p
	}
	return g.store.AuthorTrust(ctx, c.ProjectID, c.Repository, c.AgentID, c.AgentVerified, permission)
}
