package githubevent

import (
	"errors"
	"time"
)

// ErrMalformed (wrapped) says that a payload lacks what its event must have.
var ErrMalformed = errors.New("malformed payload")

// Kind is what a delivery means to the gateway.
type Kind string

// The kinds of event. Which members of Event are set follows from the kind.
const (
	KindIgnored      Kind = "ignored"      // Ignored says why
	KindPing         Kind = "ping"         // Hook
	KindHead         Kind = "head"         // Change: a commit to verify, new or seen in a new light (base, draft)
	KindGone         Kind = "gone"         // Change: the branch, pull request or merge group is no longer there
	KindLabels       Kind = "labels"       // Labels, and Change when they hang on a pull request
	KindReview       Kind = "review"       // Review, Change
	KindComment      Kind = "comment"      // Comment
	KindRerequest    Kind = "rerequest"    // Rerequest
	KindWorkflowRun  Kind = "workflow_run" // WorkflowRun: a hint to look, never the truth
	KindWorkflowJob  Kind = "workflow_job" // WorkflowRun with Job
	KindInstallation Kind = "installation" // Installation
)

// Event is one delivery, normalised.
type Event struct {
	Kind    Kind
	Name    string // as in X-GitHub-Event
	Action  string // "" where the event has none
	Ignored string // why, for KindIgnored

	Repository Repository // zero for events of an organisation or App
	// InstallationID is the App installation that the event came through; 0: an ordinary hook.
	InstallationID int64
	Sender         Account
	// At is GitHub's own time of what happened; zero where the payload has none. It orders events of one subject;
	// commit dates, which the author chooses, are never used.
	At time.Time

	Change       *Change
	Labels       *Labels
	Review       *Review
	Comment      *Comment
	Rerequest    *Rerequest
	WorkflowRun  *WorkflowRun
	Hook         *Hook
	Installation *Installation
}

// Account is a user, bot or organisation.
type Account struct {
	Login string
	ID    int64
	Type  string // User, Bot, Organization
}

// Bot says whether the account is a program.
func (a Account) Bot() bool { return a.Type == "Bot" }

// Repository is where something happened.
type Repository struct {
	ID            int64
	FullName      string // owner/name
	Remote        string // normalised: host/owner/name, as in every other room
	HTMLURL       string
	CloneURL      string
	DefaultBranch string
	Private       bool
}

// Source is where a change came from.
type Source string

// The sources of a change.
const (
	SourcePush        Source = "push"
	SourcePullRequest Source = "pull_request"
	SourceMergeGroup  Source = "merge_group"
)

// Change is a head that GitHub told of. Head is empty only for KindGone.
type Change struct {
	Source Source
	Branch string // without refs/heads/; of a fork's pull request, the fork's branch
	// FetchRef is what the sha can be fetched by from CloneURL of the event's repository.
	FetchRef string
	Head     string // lower-case hex
	// Before is the head that this one replaced; "" when unknown or none.
	Before  string
	Base    string // sha; "" for pushes
	BaseRef string // branch; "" for pushes
	Forced  bool
	Created bool // the branch is new

	PullRequest int    // 0: none
	Title       string // of the pull request or the head commit, at most MaxText bytes
	URL         string // for people
	Author      Account
	// AuthorAssociation is GitHub's word, such as OWNER, MEMBER, FIRST_TIME_CONTRIBUTOR.
	AuthorAssociation string
	Fork              bool // the head lives in another repository, or in one that is gone
	HeadRepository    string
	Draft             bool
	Merged            bool // KindGone: it was merged
	Labels            []string
	// Committers are logins and e-mail addresses named in the head commit; a claim of its author, good for refusing a
	// vote, never for granting one.
	Committers []string
}

// Labels are the labels of an issue or pull request after Name was added or removed.
type Labels struct {
	Number      int
	PullRequest bool
	Added       bool
	Name        string   // the label in question; "" when the whole set may have changed (closed, reopened, opened)
	All         []string // all of them now
	Open        bool
	Title       string
	Body        string // at most MaxText bytes
	URL         string
}

// Review is a review of a pull request.
type Review struct {
	ID    int64
	State string // approved, changes_requested, commented, dismissed
	// Commit is the sha that was looked at; a vote is for this one only.
	Commit      string
	Reviewer    Account
	Association string
	Body        string // at most MaxText bytes
	SubmittedAt time.Time
}

// Comment is a new comment on an issue or pull request.
type Comment struct {
	ID          int64
	Number      int
	PullRequest bool
	Open        bool
	Author      Account
	Association string
	Body        string // at most MaxText bytes
	Command     *Command
	URL         string
}

// Rerequest is a person's wish, expressed on GitHub's page of checks, to run something again.
type Rerequest struct {
	Head       string
	Branch     string
	CheckRun   int64  // 0: the whole suite
	Name       string // of the check run
	ExternalID string // as we set it when we made the check run
	Action     string // identifier of the button; "" for "re-run"
	AppID      int64  // the App that owns the check
}

// WorkflowRun is a run of GitHub Actions.
type WorkflowRun struct {
	ID           int64
	Attempt      int
	Name         string
	Path         string // .github/workflows/verify.yml
	DisplayTitle string
	// CorrelationID is the uuid in DisplayTitle; "" when there is none.
	CorrelationID string
	Event         string // what started it, such as workflow_dispatch
	Status        string // queued, in_progress, completed, …
	Conclusion    string // "" until completed
	HeadSHA       string
	HeadBranch    string
	URL           string
	Job           string // KindWorkflowJob: the job's name
	JobStatus     string
	JobConclusion string
}

// Hook is what a ping tells of the hook that was set up.
type Hook struct {
	ID     int64
	Type   string // Repository, Organization, App
	Events []string
	Active bool
}

// Installation is an App being installed, changed or taken away.
type Installation struct {
	ID      int64
	AppID   int64
	Account Account
	Added   []string // full names
	Removed []string
}

// MaxText bounds titles, bodies and comments taken from a payload, in bytes.
const MaxText = 16 << 10
