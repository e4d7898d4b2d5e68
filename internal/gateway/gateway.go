// Package gateway verifies changes: it takes deliveries in, makes changesets of them, has them routed, walks each up its
// ladder of tiers, and tells the verdict.
//
// Promises. What was acknowledged is stored and gets done, whatever is killed: every step is a row, every claim on a row
// a lease. A verdict rests on rows that name the very head commit it is for; skipped, neutral, missing, queued or unknown
// is never success. Two gateways may run on one database.
//
// Failure. Without the database nothing is acknowledged (503). An outside service that is away delays and is tried
// again; it never decides a verdict. A place of verification that stays away ends as infra_error, verdict error.
//
// The stages, each a loop over rows: deliveries → changesets (inbox.go) → routed (router.go) → runs (ladder.go) →
// told outside (outbox.go). A wake-up is a hint to look; a slow look backs it up.
package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// StatusContext is the name of the one aggregate status that every changeset gets, also when nothing had to be done.
const StatusContext = "gateway/verdict"

// ChangeRef names a change for what looks it up.
type ChangeRef struct {
	Project    string
	Repository string // normalised remote, such as github.com/acme/shop
	CloneURL   string // where git can fetch; without credentials
	PullNumber int    // 0: no pull request
	Branch     string
	BaseRef    string // branch it is to be merged into; "" when unknown
	BaseSHA    string // "" when unknown
	HeadSHA    string
	HeadRef    string // fetchable name of HeadSHA when the sha itself is not, such as refs/pull/7/head
	Fork       bool
}

// Forge is where repositories live and statuses are shown: GitHub. An error says "cannot tell now" and is tried again.
type Forge interface {
	// ChangedFiles lists what the change changes: a pull request's files, else the comparison with the base (the default
	// branch where BaseRef is ""). truncated: the list is not whole, or cannot be trusted to be.
	ChangedFiles(ctx context.Context, ref ChangeRef) (files []route.File, truncated bool, err error)
	// Contributors are the logins of who wrote or committed the change; they may not approve it.
	Contributors(ctx context.Context, ref ChangeRef) ([]string, error)
	// Permission is what login may do in the repository: admin, write, read or none.
	Permission(ctx context.Context, repository, login string) (string, error)
	// PostStatus shows a status on a commit. Repeating it is harmless. ErrGone (wrapped): it can never be shown.
	PostStatus(ctx context.Context, s Status) error
}

// Redeliverer asks the forge to send again what failed to be delivered since then; it returns how many it asked for.
type Redeliverer interface {
	Redeliver(ctx context.Context, since time.Time) (int, error)
}

// Source reads changes out of git. It knows commits only once they were fetched.
type Source interface {
	// Fetch makes a commit available; ref is asked for where the remote does not give the commit by its name.
	Fetch(ctx context.Context, cloneURL, sha, ref string) error
	// ChangedFiles lists what head changes from where it left base. An empty base: every file is new.
	ChangedFiles(ctx context.Context, cloneURL, base, head string) ([]route.File, error)
	// Branch is the commit that a branch of the remote points to now; "" asks for the default branch.
	Branch(ctx context.Context, cloneURL, branch string) (string, error)
	// Claimed says whether a commit is known only from what its author handed over.
	Claimed(ctx context.Context, cloneURL, sha string) bool
}

// ErrGone means that what was asked for can never be done: the commit, the repository or the right to it is gone.
var ErrGone = errors.New("it is gone for good")

// ErrElsewhere means that the forge does not host the repository.
var ErrElsewhere = errors.New("the repository is hosted elsewhere")

// Busy is an error of a forge that asks to wait, such as a rate limit. It uses up nobody's attempts.
type Busy interface {
	error
	// Until is the earliest time at which asking again can bring an answer.
	Until() time.Time
}

// waitFor says how long to wait after an error, and whether the error only asks for that.
func waitFor(err error, otherwise time.Duration) (time.Duration, bool) {
	var busy Busy
	if !errors.As(err, &busy) {
		return otherwise, false
	}
	return min(max(time.Until(busy.Until()), otherwise), time.Hour), true
}

// StatusState is what a forge shows.
type StatusState string

// The states a forge knows.
const (
	StatusPending StatusState = "pending"
	StatusSuccess StatusState = "success"
	StatusFailure StatusState = "failure"
	StatusError   StatusState = "error"
)

// Status is what is shown on a commit.
type Status struct {
	Repository  string      `json:"repository"`
	PullNumber  int         `json:"pull_number,omitempty"`
	HeadSHA     string      `json:"head_sha"`
	Context     string      `json:"context"` // StatusContext
	State       StatusState `json:"state"`
	Description string      `json:"description"` // one sentence; a forge may cut it (GitHub: 140 characters)
	ChangesetID string      `json:"changeset_id"`
	TargetURL   string      `json:"target_url,omitempty"`
	// Findings of the deciding runs, for forges that can show them on lines (checks). At most 50.
	Findings []executors.Finding `json:"findings,omitempty"`
}

// Notifier tells people outside, such as a chat. Payloads are of kind notify in the outbox.
type Notifier interface {
	Notify(ctx context.Context, n Notification) error
}

// Notification is one line of news for people.
type Notification struct {
	Project     string         `json:"project"`
	Kind        string         `json:"kind"` // such as needs_approval, failed, error
	Title       string         `json:"title"`
	Text        string         `json:"text"`
	URL         string         `json:"url,omitempty"`
	ChangesetID string         `json:"changeset_id,omitempty"`
	Data        map[string]any `json:"data,omitempty"`
}
