package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// Head is a head commit that a source told of.
type Head struct {
	Source        string         `json:"source"` // github, agent, merge_group
	Repository    string         `json:"repository"`
	CloneURL      string         `json:"clone_url,omitempty"`
	DefaultBranch string         `json:"default_branch,omitempty"`
	Branch        string         `json:"branch"`
	Ref           string         `json:"ref,omitempty"` // fetchable name of the head when its sha is not
	HeadSHA       string         `json:"head_sha,omitempty"`
	Before        string         `json:"before,omitempty"` // the head that this one replaced
	BaseRef       string         `json:"base_ref,omitempty"`
	BaseSHA       string         `json:"base_sha,omitempty"`
	PRNumber      int            `json:"pr_number,omitempty"`
	Fork          bool           `json:"fork"`
	Draft         *bool          `json:"draft,omitempty"` // nil: the source does not say
	Title         string         `json:"title,omitempty"`
	Actor         string         `json:"actor,omitempty"`
	Contributors  []string       `json:"contributors,omitempty"`
	At            *time.Time     `json:"at,omitempty"` // the source's clock
	AgentID       string         `json:"agent_id,omitempty"`
	AgentType     string         `json:"agent_type,omitempty"`
	AgentVerified bool           `json:"agent_verified,omitempty"`
	SessionID     string         `json:"session_id,omitempty"`
	TaskID        string         `json:"task_id,omitempty"`
	ClaimedFiles  []string       `json:"claimed_files,omitempty"`
	Metadata      map[string]any `json:"metadata,omitempty"`
	By            string         `json:"by,omitempty"`
	Why           string         `json:"why,omitempty"` // of ApplyGone
}

// AppliedHead says what a head did.
type AppliedHead struct {
	ChangesetID string `json:"changeset_id"`
	Created     bool   `json:"created"`
	Rerouted    bool   `json:"rerouted"`
	Superseded  bool   `json:"superseded"` // it came after a newer head of its line
}

// ProjectOfRemote returns the project of a normalised remote, made on first sight.
func (s *Store) ProjectOfRemote(ctx context.Context, remote string) (int64, error) {
	known, err := s.RepositoryOfRemote(ctx, remote)
	return known.ProjectID, err
}

// KnownRepository is a repository as it is known here.
type KnownRepository struct {
	ProjectID int64
	Remote    string // as it was spelt first
}

// RepositoryOfRemote returns the repository of a normalised remote, made on first sight. Case does not matter.
func (s *Store) RepositoryOfRemote(ctx context.Context, remote string) (KnownRepository, error) {
	rows, err := list[KnownRepository](ctx, s, `select project_id, remote from coord.repository_of_remote($1)`, remote)
	if err != nil || len(rows) == 0 {
		return KnownRepository{}, err
	}
	return rows[0], nil
}

// ApplyHead stores a head as a changeset, once per project, repository and sha, and ends what it supersedes.
func (s *Store) ApplyHead(ctx context.Context, project int64, h Head) (AppliedHead, error) {
	return acted[AppliedHead](ctx, s, h, `select coord.apply_head($1, $2)`, project)
}

// DeliverHead is ApplyHead with the end of the delivery that told of the head.
func (s *Store) DeliverHead(ctx context.Context, project int64, h Head, d Delivery, action string) (AppliedHead, error) {
	return acted[AppliedHead](ctx, s, h, `select coord.deliver_head($1, $2, $3, nullif($4, ''), $5)`, project, d.Source, d.DeliveryID, action)
}

// ApplyGone ends what is under way on a branch, pull request or merge group that is gone.
func (s *Store) ApplyGone(ctx context.Context, project int64, h Head) error {
	_, err := acted[struct{}](ctx, s, h, `select coord.apply_gone($1, $2)`, project)
	return err
}

// SubmitChangeset hands a commit over for verification, in the caller's session. One that is known gets what is new about
// it. Codes: not_found (repository, task), invalid, conflict (the repository is another project's).
func (s *Store) SubmitChangeset(ctx context.Context, c ident.Caller, in client.SubmitChangeset) (client.SubmittedChangeset, error) {
	in.Repository = cmp.Or(in.Repository, c.Repository)
	return acted[client.SubmittedChangeset](ctx, s, in, `select coord.submit_changeset($1, $2, $3, $4)`, c.ProjectID, c.SessionID, c.By)
}

// BundleOf is the git bundle that was handed over with a commit; nil when none was.
func (s *Store) BundleOf(ctx context.Context, cloneURL, sha string) ([]byte, error) {
	return one[[]byte](ctx, s, `select coord.bundle_of($1, $2)`, cloneURL, sha)
}

// PurgeHistory removes at most limit rows of each kind that nobody will ask for: lines of the timelines of changesets that
// were decided more than days ago, moves of branches, bundles that are a week old and whose changeset was decided.
func (s *Store) PurgeHistory(ctx context.Context, days, limit int) (int, error) {
	return one[int](ctx, s, `select coord.purge_history($1, $2)`, days, limit)
}

// RoutingChangeset is a changeset that a router has under its lease.
type RoutingChangeset struct {
	ProjectID     int64          `json:"project_id"`
	Project       string         `json:"project"`
	ID            string         `json:"id"`
	Source        string         `json:"source"`
	Repository    string         `json:"repository"`
	CloneURL      string         `json:"clone_url"`
	PRNumber      int            `json:"pr_number"`
	Branch        string         `json:"branch"`
	DefaultBranch string         `json:"default_branch"`
	Ref           string         `json:"ref"`
	BaseRef       string         `json:"base_ref"`
	BaseSHA       string         `json:"base_sha"`
	BaseHead      string         `json:"base_head"` // the base branch as it was last seen here
	HeadSHA       string         `json:"head_sha"`
	AgentID       string         `json:"agent_id"`
	AgentVerified bool           `json:"agent_verified"`
	Actor         string         `json:"actor_login"`
	SessionID     string         `json:"session_id"`
	TaskID        string         `json:"task_id"`
	Fork          bool           `json:"is_fork"`
	Draft         bool           `json:"draft"`
	ClaimedFiles  []string       `json:"claimed_files"`
	RouteVersion  int            `json:"route_version"`
	RouteAttempts int            `json:"route_attempts"`
	PriorFailures int            `json:"prior_failures"`
	CreatedAt     time.Time      `json:"created_at"`
	Metadata      map[string]any `json:"metadata"`
	PolicySet     int64          `json:"policy_set"` // number of the project's set of policies when it was taken
	Locked        bool           `json:"locked"`     // the project has locks
}

// TakeChangesets leases up to limit changesets that are to be routed.
func (s *Store) TakeChangesets(ctx context.Context, limit int, lease time.Duration) ([]RoutingChangeset, error) {
	return docs[RoutingChangeset](ctx, s, `select changeset from coord.take_changesets($1, $2)`, limit, wholeSeconds(lease))
}

// docs runs a query that answers rows of one jsonb column each.
func docs[T any](ctx context.Context, s *Store, sql string, args ...any) ([]T, error) {
	rows, err := s.q(ctx).Query(ctx, sql, args...)
	if err != nil {
		return nil, mapErr(err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var v T
		if err := json.Unmarshal(rows.RawValues()[0], &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, mapErr(rows.Err())
}

// RoutedStep is one step of a plan with its policy as it was.
type RoutedStep struct {
	Step   client.RouteStep          `json:"step"`
	Policy client.VerificationPolicy `json:"policy"`
}

// WantedApproval is an approval that a routing asks for.
type WantedApproval struct {
	Policy string   `json:"policy_name"`
	Reason string   `json:"reason"`
	Count  int      `json:"count"`
	Roles  []string `json:"roles,omitempty"`
	Users  []string `json:"users,omitempty"`
	Teams  []string `json:"teams,omitempty"`
}

// Routing is a routed changeset.
type Routing struct {
	Files          []client.ChangedFile   `json:"files"`
	Truncated      bool                   `json:"truncated"`
	Decision       client.RouteDecision   `json:"decision"`
	TrustLevel     int                    `json:"trust_level"`
	PriorFailures  int                    `json:"prior_failures"`
	LockViolations []client.LockViolation `json:"lock_violations"`
	Contributors   []string               `json:"contributors"`
	Provenance     string                 `json:"provenance"`
	BaseSHA        string                 `json:"base_sha,omitempty"` // what the files were compared with, where no forge said
	Runs           []RoutedStep           `json:"runs"`
	Approvals      []WantedApproval       `json:"approvals"`
}

// StoreRoute stores a routing and begins the ladder; stored is false when the changeset was taken from the router since.
func (s *Store) StoreRoute(ctx context.Context, c RoutingChangeset, r Routing) (stored bool, err error) {
	r.LockViolations = cmpList(r.LockViolations)
	r.Files, r.Runs, r.Approvals = cmpList(r.Files), cmpList(r.Runs), cmpList(r.Approvals)
	out, err := acted[struct {
		Stored bool `json:"stored"`
	}](ctx, s, r, `select coord.store_route($1, $2, $3, $4)`, c.ProjectID, c.ID, c.RouteVersion)
	return out.Stored, err
}

// cmpList is list, never null in JSON.
func cmpList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// FirstStatistics has the gateway's tables analysed that have grown and have no statistics yet.
func (s *Store) FirstStatistics(ctx context.Context) (analysed int, err error) {
	return one[int](ctx, s, `select coord.first_statistics()`)
}

// RouteFailed has a changeset routed again after retry; after most attempts it ends in error.
func (s *Store) RouteFailed(ctx context.Context, c RoutingChangeset, problem string, retry time.Duration, most int) error {
	_, err := act[struct{}](ctx, s, `select coord.route_failed($1, $2, $3, $4, $5, $6)`, c.ProjectID, c.ID, c.RouteVersion, problem, wholeSeconds(retry), most)
	return err
}

// GetChangeset reads one changeset with its runs, approvals and timeline. Codes: not_found.
func (s *Store) GetChangeset(ctx context.Context, c ident.Caller, in client.ChangesetRef) (client.ChangesetDetail, error) {
	return reply[client.ChangesetDetail](ctx, s, `select coord.get_changeset($1, $2)`, only(c), in.ChangesetID)
}

// ListChangesets lists the project's changesets, newest first. Codes: not_found (before).
func (s *Store) ListChangesets(ctx context.Context, c ident.Caller, in client.ListChangesets) (client.Changesets, error) {
	filter, err := members(in)
	if err != nil {
		return client.Changesets{}, err
	}
	return reply[client.Changesets](ctx, s, `select coord.list_changesets($1, $2, $3, nullif($4, '')::uuid)`, c.ProjectID, filter, cmp.Or(in.Limit, 50), in.Before)
}

// RerunChangeset verifies a changeset again. Codes: not_found, conflict (superseded, denied, nothing to run).
func (s *Store) RerunChangeset(ctx context.Context, c ident.Caller, in client.RerunChangeset) (client.Changeset, error) {
	return act[client.Changeset](ctx, s, `select coord.rerun_changeset($1, $2, $3, $4, $5)`, only(c), c.By, in.ChangesetID, in.Tier, in.Reason)
}

// CancelChangeset ends verification. Codes: not_found, conflict (it is over).
func (s *Store) CancelChangeset(ctx context.Context, c ident.Caller, in client.CancelChangeset) (client.Changeset, error) {
	return act[client.Changeset](ctx, s, `select coord.cancel_changeset($1, $2, $3, $4)`, only(c), c.By, in.ChangesetID, in.Reason)
}

// OverrideChangeset sets the verdict by hand. Codes: not_found, conflict (superseded), forbidden (one's own change), invalid.
func (s *Store) OverrideChangeset(ctx context.Context, c ident.Caller, in client.OverrideChangeset) (client.Changeset, error) {
	return act[client.Changeset](ctx, s, `select coord.override_changeset($1, $2, $3, $4, $5, $6)`, only(c), c.By, voter(c), in.ChangesetID, cmp.Or(in.Verdict, "passed"), in.Reason)
}

// AuthorTrust is the trust level (0 to 4) of who made a change. permission is what the forge lets the pusher do, "" when
// it could not be asked.
func (s *Store) AuthorTrust(ctx context.Context, project int64, repository, agent string, verified bool, permission string) (int, error) {
	if agent == "" && !verified { // nobody's record counts: what coord.author_trust says without reading anything
		if slices.Contains([]string{"admin", "maintain", "write"}, permission) {
			return 2, nil
		}
		return 1, nil
	}
	return one[int](ctx, s, `select coord.author_trust($1, $2, nullif($3, ''), $4, $5)`, project, repository, agent, verified, permission)
}
