package coord

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// ListApprovals lists approvals of the project, oldest first.
func (s *Store) ListApprovals(ctx context.Context, c ident.Caller, in client.ListApprovals) (client.ApprovalList, error) {
	return reply[client.ApprovalList](ctx, s, `select coord.list_approvals($1, $2, $3)`, c.ProjectID, cmp.Or(in.Status, "pending"), cmp.Or(in.Limit, 100))
}

// VoteApproval approves (or denies) what an approval is about. Codes: not_found, forbidden (one's own change, an agent,
// not whom the policy asks for), conflict (it is decided, or for another commit).
func (s *Store) VoteApproval(ctx context.Context, c ident.Caller, in client.VoteApproval, vote string) (client.Approval, error) {
	role := "reviewer"
	if slices.Contains(c.Scopes, ident.Admin) {
		role = "admin"
	}
	if c.Agent != "" && c.Person == "" && role != "admin" {
		return client.Approval{}, fault.New(client.CodeForbidden, "agents do not approve changes", "a person decides", "call with a person's key and without agent_id: coordctl keys create --person")
	}
	return act[client.Approval](ctx, s, `select coord.vote_approval($1, $2, $3, $4, $5, $6, $7, nullif($8, ''))`,
		only(c), c.By, voter(c), role, in.ApprovalID, vote, in.Comment, in.HeadSHA)
}

// voter is who decides: the person behind the key, else the key.
func voter(c ident.Caller) string { return cmp.Or(c.Person, c.By) }

// ForgeVote is a vote that a person gave on the forge.
type ForgeVote struct {
	Repository string
	HeadSHA    string // what was looked at
	Login      string
	Permission string // admin, maintain, write, read, none
	Teams      []string
	Source     string // github_review, github_comment
	Vote       string // approve, deny
	Comment    string
}

// CountedVotes says what a forge's vote did.
type CountedVotes struct {
	ChangesetID string `json:"changeset_id,omitempty"`
	Refused     string `json:"refused,omitempty"`
	Votes       []struct {
		Policy  string `json:"policy"`
		Counted bool   `json:"counted"`
		Why     string `json:"why,omitempty"`
		Status  string `json:"status"`
	} `json:"votes"`
}

// VoteFromForge counts a vote on every open approval of the commit that was looked at.
func (s *Store) VoteFromForge(ctx context.Context, project int64, v ForgeVote) (CountedVotes, error) {
	return act[CountedVotes](ctx, s, `select coord.vote_from_forge($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		project, v.Repository, v.HeadSHA, v.Login, v.Permission, cmpList(v.Teams), v.Source, v.Vote, v.Comment)
}

// UnvoteFromForge takes a vote back that was dismissed, while nothing has been decided on it.
func (s *Store) UnvoteFromForge(ctx context.Context, project int64, repository, head, login string) error {
	return exec(ctx, s, `select coord.unvote_from_forge($1, $2, $3, $4)`, project, repository, head, login)
}

// PullHead is the changeset that stands for a pull request: that of its newest head.
type PullHead struct {
	ChangesetID string     `json:"changeset_id"`
	HeadSHA     string     `json:"head_sha"`
	HeadAt      *time.Time `json:"head_at"` // when that became the head, by the forge's clock
}

// MovedAfter says whether the head moved after t, by the forge's clock.
func (p PullHead) MovedAfter(t time.Time) bool {
	return p.HeadAt != nil && !t.IsZero() && p.HeadAt.After(t)
}

// ChangesetOfPull finds it; the zero value when there is none.
func (s *Store) ChangesetOfPull(ctx context.Context, project int64, repository string, number int) (PullHead, error) {
	return reply[PullHead](ctx, s, `select coord.changeset_of_pull($1, $2, $3)`, project, repository, number)
}
