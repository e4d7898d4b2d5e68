package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

const (
	labelTTL    = 480 // minutes; the longest there is, renewed every hour while the label is there
	branchTTL   = 120 // minutes that a pushed agent branch holds what it changed
	mostPaths   = 200 // of one lock request
	holderType  = "github"
	holderOfURL = "issue:" // prefix of the agents that labels act as
)

// acting is an agent in a session ("": its implicit one), for what the gateway does in its name.
func (g *Gateway) acting(ctx context.Context, project int64, repository, agent, kind, session string) (ident.Caller, error) {
	return g.store.Resolve(ctx, ident.Principal{Name: "gateway", ProjectID: project, Scopes: []ident.Scope{ident.Write}},
		ident.Claim{Agent: agent, AgentType: kind, Session: session, Repository: repository}, true)
}

// labels does what the labels of an issue or pull request say while it is open: locked:<path> locks the path in the name
// of the issue, agent:<id> beside status:assigned makes the issue a task of that agent, once. Taking the label away, or
// closing, gives the lock back; the task stays, for somebody may be at work on it.
func (g *Gateway) labels(ctx context.Context, project int64, e githubevent.Event) (done, error) {
	l := e.Labels
	var paths, agents []string
	if l.Open {
		paths, agents = githubevent.LockedPaths(l.All), githubevent.AssignedAgents(l.All)
	}
	holder := fmt.Sprintf("%s%s#%d", holderOfURL, e.Repository.FullName, l.Number)
	held, err := g.store.CheckLocks(ctx, ident.Caller{ProjectID: project, Repository: e.Repository.Remote, By: "gateway"}, client.CheckLocks{LockedBy: holder, Limit: mostPaths})
	if err != nil {
		return done{}, err
	}
	if len(paths) == 0 && len(held.Locks) == 0 && len(agents) == 0 {
		return done{ignored: "its labels ask for nothing"}, nil
	}
	did := map[string]any{}
	if len(paths) > 0 || len(held.Locks) > 0 {
		if err := g.holdLabelled(ctx, project, e, holder, paths, held.Locks, did); err != nil {
			return done{}, err
		}
	}
	for _, agent := range agents {
		id, created, err := g.store.AssignIssue(ctx, project, coord.IssueTask{
			Key: fmt.Sprintf("%s#%d:%s", e.Repository.Remote, l.Number, agent), Repository: e.Repository.Remote, Agent: agent, Title: l.Title, Body: l.Body, URL: l.URL, Number: l.Number,
		})
		if err != nil {
			return done{}, err
		}
		if created {
			if err := g.tellAssigned(ctx, project, e, holder, agent, id); err != nil {
				return done{}, err
			}
		}
		did["task_for_"+agent] = id
	}
	return done{result: did}, nil
}

// tellAssigned tells an agent of its task.
func (g *Gateway) tellAssigned(ctx context.Context, project int64, e githubevent.Event, holder, agent, task string) error {
	who, err := g.acting(ctx, project, e.Repository.Remote, holder, holderType, "")
	if err != nil {
		return err
	}
	_, err = g.store.SendMessage(ctx, who, client.SendMessage{
		To: []string{agent}, Kind: "request", AllowUnknown: true,
		Text: fmt.Sprintf("%s is assigned to you as task %s: %s", holder, task, tail(e.Labels.URL, 500)),
	})
	return err
}

// holdLabelled takes the locks that labels name and gives back the others of this issue.
func (g *Gateway) holdLabelled(ctx context.Context, project int64, e githubevent.Event, holder string, paths []string, held []client.Lock, did map[string]any) error {
	who, err := g.acting(ctx, project, e.Repository.Remote, holder, holderType, "")
	if err != nil {
		return err
	}
	var surplus []string
	for _, lock := range held {
		if !slices.Contains(paths, lock.FilePath) {
			surplus = append(surplus, lock.FilePath)
		}
	}
	if len(surplus) > 0 {
		if _, err := g.store.ReleaseLock(ctx, who, client.ReleaseLock{FilePaths: surplus}); err != nil {
			return err
		}
		did["released"] = surplus
	}
	for _, path := range paths[:min(len(paths), mostPaths)] {
		got, err := g.store.AcquireLock(ctx, who, client.AcquireLock{FilePath: path, TTLMinutes: labelTTL, Reason: strings.TrimSpace(e.Labels.Title + " " + e.Labels.URL)}, nil)
		if err != nil {
			return err // a path that cannot be locked: the delivery is ignored, and says so
		}
		if got.Result.Success {
			did["locked "+path] = true
		} else {
			did["locked "+path] = "held by " + got.Result.LockedBy
		}
	}
	return nil
}

// holdBranch locks what an agent changed on its own branch, agent/<agent_id>/<task_id>, so that others see it. It is a
// courtesy: what somebody else holds is a violation already, and a failure changes nothing about the routing.
func (g *Gateway) holdBranch(ctx context.Context, c coord.RoutingChangeset, files []route.File, violations []route.LockViolation) {
	agent, _, ok := githubevent.AgentBranch(c.Branch)
	if !ok || c.Fork || agent != c.AgentID || len(files) > mostPaths {
		return
	}
	var paths []string
	for _, f := range files {
		if f.Status != "removed" && !slices.ContainsFunc(violations, func(v route.LockViolation) bool { return v.Path == f.Path }) {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	session, err := g.store.WorkingSession(ctx, c.ProjectID, agent, c.TaskID) // another session of its own would be in its way
	var who ident.Caller
	if err == nil {
		who, err = g.acting(ctx, c.ProjectID, c.Repository, agent, "", session)
	}
	if err == nil {
		_, err = g.store.AcquireLock(ctx, who, client.AcquireLock{FilePaths: paths, TTLMinutes: branchTTL, Reason: "changed on branch " + c.Branch}, nil)
	}
	if err != nil && !fault.Is(err, client.CodeInvalid) {
		g.log.InfoContext(ctx, "the files of an agent's branch could not be locked for it", "changeset", c.ID, "err", err)
	}
}
