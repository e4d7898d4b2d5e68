package gateway

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// writers are the permissions with which somebody may command and vote.
var writers = []string{"admin", "maintain", "write"}

// person is a user of the forge, acting in one project.
func person(project int64, login string) ident.Caller {
	return ident.Caller{ProjectID: project, Bound: true, By: "forge:" + login, Person: login, Scopes: []ident.Scope{ident.Reviewer}}
}

// comment does what a comment on a pull request commands. A vote counts for the pull request's head as it was when the
// comment was written: where a newer one was pushed since, it counts for nothing.
func (g *Gateway) comment(ctx context.Context, project int64, e githubevent.Event, p prepared) (done, error) {
	c := e.Comment
	switch {
	case c.Command == nil:
		return done{ignored: "no command"}, nil
	case !c.PullRequest:
		return done{ignored: "commands belong on pull requests"}, nil
	case c.Author.Bot():
		return done{ignored: "programs do not command"}, nil
	case !slices.Contains(writers, p.permission):
		return done{ignored: c.Author.Login + " has no write access"}, nil
	}
	on, err := g.store.ChangesetOfPull(ctx, project, e.Repository.Remote, c.Number)
	if err != nil {
		return done{}, err
	}
	if on.ChangesetID == "" {
		return done{ignored: "nothing of this pull request was verified yet", early: true}, nil
	}
	who := person(project, c.Author.Login)
	switch c.Command.Name {
	case githubevent.CommandRerun:
		out, err := g.store.RerunChangeset(ctx, who, client.RerunChangeset{ChangesetID: on.ChangesetID, Tier: tierOf(c.Command.Argument)})
		return done{result: map[string]any{"rerun": out.ChangesetID}}, err
	case githubevent.CommandCancel:
		out, err := g.store.CancelChangeset(ctx, who, client.CancelChangeset{ChangesetID: on.ChangesetID, Reason: c.Command.Argument})
		return done{result: map[string]any{"cancelled": out.ChangesetID}}, err
	case githubevent.CommandOverride:
		if on.MovedAfter(e.At) {
			return done{ignored: "a newer commit was pushed after the comment"}, nil
		}
		out, err := g.store.OverrideChangeset(ctx, who, client.OverrideChangeset{ChangesetID: on.ChangesetID, Reason: c.Command.Argument})
		return done{result: map[string]any{"overridden": out.ChangesetID}}, err
	case githubevent.CommandApprove, githubevent.CommandDeny:
		if on.MovedAfter(e.At) {
			return done{ignored: "a newer commit was pushed after the comment"}, nil
		}
		vote := "approve"
		if c.Command.Name == githubevent.CommandDeny {
			vote = "deny"
		}
		return g.vote(ctx, project, coord.ForgeVote{
			Repository: e.Repository.Remote, HeadSHA: on.HeadSHA, Login: c.Author.Login, Permission: p.permission, Teams: p.teams,
			Source: "github_comment", Vote: vote, Comment: c.Command.Argument,
		})
	}
	return done{ignored: "no such command"}, nil
}

// tierOf reads the tier that a rerun names: "1" or "tier 1"; nil: everything.
func tierOf(argument string) *int {
	word := strings.TrimSpace(strings.TrimPrefix(strings.ToLower(argument), "tier"))
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 || n > 3 {
		return nil
	}
	return &n
}

// review counts a review as a vote for the commit that it names.
func (g *Gateway) review(ctx context.Context, project int64, e githubevent.Event, p prepared) (done, error) {
	r := e.Review
	v := coord.ForgeVote{
		Repository: e.Repository.Remote, HeadSHA: r.Commit, Login: r.Reviewer.Login, Permission: p.permission, Teams: p.teams,
		Source: "github_review", Comment: firstLine(r.Body),
	}
	switch {
	case r.Commit == "":
		return done{ignored: "the review names no commit"}, nil
	case r.Reviewer.Bot():
		return done{ignored: "programs do not vote"}, nil
	case r.State == "approved":
		v.Vote = "approve"
	case r.State == "changes_requested":
		v.Vote = "deny"
	case r.State == "dismissed":
		return done{result: map[string]any{"dismissed": v.Login}}, g.store.UnvoteFromForge(ctx, project, v.Repository, v.HeadSHA, v.Login)
	default:
		return done{ignored: "the review neither approves nor asks for changes"}, nil
	}
	return g.vote(ctx, project, v)
}

func (g *Gateway) vote(ctx context.Context, project int64, v coord.ForgeVote) (done, error) {
	out, err := g.store.VoteFromForge(ctx, project, v)
	if err != nil {
		return done{}, err
	}
	if out.Refused != "" {
		return done{ignored: out.Refused}, nil
	}
	if len(out.Votes) == 0 {
		known, err := g.store.ListChangesets(ctx, person(project, v.Login), client.ListChangesets{Repository: v.Repository, HeadSHA: v.HeadSHA, Limit: 1})
		if err != nil {
			return done{}, err
		}
		early := len(known.Changesets) == 0 || slices.Contains([]string{"received", "routing"}, known.Changesets[0].State)
		return done{ignored: "nothing waits for a vote on that commit", early: early}, nil
	}
	return done{result: out}, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// rerequest runs a commit again because somebody pressed the button on the forge's page.
func (g *Gateway) rerequest(ctx context.Context, project int64, e githubevent.Event, p prepared) (done, error) {
	if !slices.Contains(writers, p.permission) {
		return done{ignored: e.Sender.Login + " has no write access"}, nil
	}
	who := person(project, e.Sender.Login)
	known, err := g.store.ListChangesets(ctx, who, client.ListChangesets{Repository: e.Repository.Remote, HeadSHA: e.Rerequest.Head, Limit: 1})
	if err != nil {
		return done{}, err
	}
	if len(known.Changesets) == 0 {
		return done{ignored: "that commit is unknown"}, nil
	}
	out, err := g.store.RerunChangeset(ctx, who, client.RerunChangeset{ChangesetID: known.Changesets[0].ChangesetID, Reason: "asked for on the forge"})
	return done{result: map[string]any{"rerun": out.ChangesetID}}, err
}
