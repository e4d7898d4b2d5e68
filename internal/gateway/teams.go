package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
)

// CodeOwners, among the teams that a policy asks for, stands for whoever owns every changed path that has an owner, by the
// CODEOWNERS file of the default branch. A change of paths without owners has none.
const CodeOwners = "codeowners"

// Membership is what a forge knows of teams and of who owns which path. Without it, votes that a policy wants from teams
// come over HTTP alone.
type Membership interface {
	// InTeam says whether login belongs to org/team.
	InTeam(ctx context.Context, repository, team, login string) (bool, error)
	// Owners names the owners of paths at ref ("": the default branch): "@login", "@org/team" or an e-mail address.
	Owners(ctx context.Context, repository, ref string, paths []string) (map[string][]string, error)
}

// teamsOf asks which of the teams that are wanted for the commit a voter belongs to.
func (g *Gateway) teamsOf(ctx context.Context, project int64, e githubevent.Event, login string) ([]string, error) {
	forge, ok := g.cfg.Forge.(Membership)
	if !ok {
		return nil, nil
	}
	head := ""
	if e.Review != nil {
		head = e.Review.Commit
	} else {
		on, err := g.store.ChangesetOfPull(ctx, project, e.Repository.Remote, e.Comment.Number)
		if err != nil {
			return nil, err
		}
		head = on.HeadSHA
	}
	if head == "" {
		return nil, nil
	}
	who := person(project, login)
	list, err := g.store.ListChangesets(ctx, who, client.ListChangesets{Repository: e.Repository.Remote, HeadSHA: head, Limit: 1})
	if err != nil || len(list.Changesets) == 0 {
		return nil, err
	}
	c, err := g.store.GetChangeset(ctx, who, client.ChangesetRef{ChangesetID: list.Changesets[0].ChangesetID})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range c.Approvals {
		for _, team := range a.Teams {
			if slices.Contains(out, team) {
				continue
			}
			var in bool
			if team == CodeOwners {
				in, err = ownsAll(ctx, forge, e.Repository.Remote, login, c)
			} else {
				in, err = forge.InTeam(ctx, e.Repository.Remote, team, login)
			}
			if err != nil {
				return nil, fmt.Errorf("whether %s belongs to %s: %w", login, team, err)
			}
			if in {
				out = append(out, team)
			}
		}
	}
	return out, nil
}

// ownsAll says whether login owns every path of the change that has an owner. Of a list that is not whole nobody can say so.
func ownsAll(ctx context.Context, forge Membership, repository, login string, c client.ChangesetDetail) (bool, error) {
	if c.FilesTruncated || len(c.Files) < c.FileCount {
		return false, nil
	}
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path)
		if f.PreviousPath != "" {
			paths = append(paths, f.PreviousPath)
		}
	}
	owners, err := forge.Owners(ctx, repository, "", paths)
	if err != nil || len(owners) == 0 {
		return false, err
	}
	member := map[string]bool{"@" + strings.ToLower(login): true} // of owners asked for so far
	for _, of := range owners {
		mine := false
		for _, o := range of {
			o = strings.ToLower(o)
			in, known := member[o]
			if !known && strings.Contains(o, "/") {
				if in, err = forge.InTeam(ctx, repository, o, login); err != nil {
					return false, err
				}
				member[o] = in
			}
			mine = mine || in
		}
		if !mine {
			return false, nil
		}
	}
	return true, nil
}
