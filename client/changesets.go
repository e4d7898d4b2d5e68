package client

// ChangesetRef names a changeset.
type ChangesetRef struct {
	ChangesetID string `json:"changeset_id" format:"uuid" doc:"id of the changeset"`
}

// ListChangesets filters the list of changesets.
type ListChangesets struct {
	State      string `json:"state,omitempty" enum:"received,routing,verifying,awaiting_approval,passed,failed,error,superseded,cancelled" doc:"only changesets in this state"`
	Open       bool   `json:"open,omitempty" doc:"only those that are not decided"`
	Repository string `json:"repository,omitempty" maxLength:"500" doc:"normalised remote, such as github.com/acme/shop"`
	Branch     string `json:"branch,omitempty" maxLength:"500"`
	AgentID    string `json:"agent_id,omitempty" maxLength:"200" doc:"only changes of this agent"`
	TaskID     string `json:"task_id,omitempty" format:"uuid" doc:"only changes made for this task"`
	HeadSHA    string `json:"head_sha,omitempty" maxLength:"64" pattern:"^[0-9a-fA-F]*$" doc:"head commit, or how it begins"`
	PRNumber   int    `json:"pr_number,omitempty" minimum:"1"`
	Limit      int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"50" doc:"most changesets of one page"`
	Before     string `json:"before,omitempty" format:"uuid" doc:"id that the page before ended with"`
}

// Override says that a person set the verdict, for one head commit.
type Override struct {
	By      string `json:"by"`
	Reason  string `json:"reason"`
	At      string `json:"at"`
	Verdict string `json:"verdict"`
	HeadSHA string `json:"head_sha" doc:"what it is for; another commit is verified anew"`
	Before  string `json:"before,omitempty" doc:"the state it replaced"`
}

// Changeset is one head commit of a repository on its way to a verdict.
type Changeset struct {
	ChangesetID    string          `json:"changeset_id"`
	Source         string          `json:"source" enum:"github,agent,merge_group"`
	Repository     string          `json:"repository"`
	Branch         string          `json:"branch"`
	PRNumber       int             `json:"pr_number,omitempty"`
	HeadSHA        string          `json:"head_sha"`
	BaseRef        string          `json:"base_ref,omitempty"`
	BaseSHA        string          `json:"base_sha,omitempty"`
	State          string          `json:"state" enum:"received,routing,verifying,awaiting_approval,passed,failed,error,superseded,cancelled"`
	Verdict        string          `json:"verdict,omitempty" doc:"passed, failed or error once it is decided"`
	Reason         string          `json:"reason,omitempty" doc:"why the verdict, or what it waits for"`
	Override       *Override       `json:"override,omitempty" doc:"a person set the verdict"`
	AgentID        string          `json:"agent_id,omitempty"`
	AgentType      string          `json:"agent_type,omitempty"`
	SessionID      string          `json:"session_id,omitempty"`
	TaskID         string          `json:"task_id,omitempty"`
	Actor          string          `json:"actor,omitempty" doc:"who pushed or opened it, as the source says"`
	Title          string          `json:"title,omitempty"`
	Fork           bool            `json:"fork,omitempty"`
	Draft          bool            `json:"draft,omitempty" doc:"only its static checks run until it is ready for review"`
	Provenance     string          `json:"provenance" doc:"where the list of files comes from: api, git, or agent_claimed (nothing else was to be had)"`
	FilesTruncated bool            `json:"files_truncated,omitempty" doc:"the list of files is not whole, so every tier is asked"`
	FileCount      int             `json:"file_count"`
	Additions      int64           `json:"additions"`
	Deletions      int64           `json:"deletions"`
	TrustLevel     *int            `json:"trust_level,omitempty" doc:"of its author when it was routed"`
	PriorFailures  int             `json:"prior_failures,omitempty" doc:"failures in a row before it"`
	Tiers          []int           `json:"tiers,omitempty" doc:"tiers it needs"`
	LockViolations []LockViolation `json:"lock_violations,omitempty"`
	SupersededBy   string          `json:"superseded_by,omitempty"`
	RouteVersion   int             `json:"route_version" doc:"how often it was routed"`
	CreatedAt      string          `json:"created_at"`
	RoutedAt       string          `json:"routed_at,omitempty"`
	DecidedAt      string          `json:"decided_at,omitempty"`
	BlockedSince   string          `json:"blocked_since,omitempty" doc:"since when a required run can run nowhere"`
}

// Changesets is a page of changesets, newest first.
type Changesets struct {
	Changesets []Changeset `json:"changesets"`
	Truncated  bool        `json:"truncated,omitempty" doc:"there are more: ask with before"`
}

// Finding is one thing that a tool found.
type Finding struct {
	Tool        string `json:"tool"`
	Rule        string `json:"rule"`
	Level       string `json:"level" doc:"none, note, warning or error"`
	Message     string `json:"message"`
	Path        string `json:"path"`
	Line        int    `json:"line" doc:"from 1; 0: the whole file"`
	EndLine     int    `json:"end_line,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// VerificationRun is one attempt at one policy.
type VerificationRun struct {
	RunID           string    `json:"run_id"`
	Policy          string    `json:"policy"`
	Tier            int       `json:"tier"`
	Executor        string    `json:"executor,omitempty" doc:"absent: nothing can run it"`
	Required        bool      `json:"required"`
	Attempt         int       `json:"attempt"`
	Status          string    `json:"status" enum:"pending,queued,dispatching,running,completed"`
	Conclusion      string    `json:"conclusion,omitempty" doc:"success, failure, timed_out, cancelled, infra_error or blocked"`
	Success         bool      `json:"success"`
	Flaky           bool      `json:"flaky,omitempty" doc:"it passed after the same commit had failed"`
	Reason          string    `json:"reason,omitempty"`
	URL             string    `json:"url,omitempty"`
	ExternalID      string    `json:"external_id,omitempty"`
	HeadSHA         string    `json:"head_sha" doc:"what was verified"`
	QueuedAt        string    `json:"queued_at,omitempty"`
	StartedAt       string    `json:"started_at,omitempty"`
	CompletedAt     string    `json:"completed_at,omitempty"`
	Deadline        string    `json:"deadline,omitempty"`
	DurationSeconds float64   `json:"duration_seconds,omitempty"`
	ExitCode        *int      `json:"exit_code,omitempty"`
	FindingsTotal   int       `json:"findings_total,omitempty"`
	Findings        []Finding `json:"findings,omitempty"`
	Output          string    `json:"output,omitempty" doc:"the end of it"`
}

// ApprovalVote is what one person said.
type ApprovalVote struct {
	Voter   string `json:"voter"`
	Vote    string `json:"vote" enum:"approve,deny"`
	Source  string `json:"source" enum:"github_review,github_comment,api"`
	Role    string `json:"role,omitempty"`
	Comment string `json:"comment,omitempty"`
	HeadSHA string `json:"head_sha"`
	At      string `json:"at"`
}

// Approval is what people must say about one head commit.
type Approval struct {
	ApprovalID     string         `json:"approval_id"`
	ChangesetID    string         `json:"changeset_id"`
	HeadSHA        string         `json:"head_sha"`
	Repository     string         `json:"repository"`
	Branch         string         `json:"branch"`
	Title          string         `json:"title"`
	PRNumber       *int           `json:"pr_number"`
	Policy         string         `json:"policy"`
	Reason         string         `json:"reason"`
	Status         string         `json:"status" enum:"waiting,pending,approved,denied,expired,voided" doc:"waiting: the static checks come first"`
	RequiredCount  int            `json:"required_count"`
	Roles          []string       `json:"roles"`
	Users          []string       `json:"users"`
	Teams          []string       `json:"teams"`
	RequestedBy    string         `json:"requested_by,omitempty"`
	OpenedAt       string         `json:"opened_at,omitempty"`
	ExpiresAt      string         `json:"expires_at,omitempty"`
	DecidedAt      string         `json:"decided_at,omitempty"`
	DecidedBy      string         `json:"decided_by,omitempty"`
	Votes          []ApprovalVote `json:"votes"`
	ChangesetState string         `json:"changeset_state,omitempty" doc:"after the vote"`
}

// ListApprovals filters the approvals.
type ListApprovals struct {
	Status string `json:"status,omitempty" enum:"waiting,pending,approved,denied,expired,voided,all" default:"pending"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100"`
}

// ApprovalList is a page of approvals, oldest first.
type ApprovalList struct {
	Approvals []Approval `json:"approvals"`
	Truncated bool       `json:"truncated,omitempty" doc:"there are more"`
}

// VoteApproval is a person's vote.
type VoteApproval struct {
	ApprovalID string `json:"approval_id" format:"uuid"`
	Comment    string `json:"comment,omitempty" maxLength:"2000"`
	HeadSHA    string `json:"head_sha,omitempty" maxLength:"64" pattern:"^[0-9a-f]*$" doc:"the commit that was looked at: refused when it is not the approval's"`
}

// ChangesetEvent is a line of a changeset's timeline.
type ChangesetEvent struct {
	At   string `json:"at"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// ChangesetDetail is a changeset with everything that was decided and done about it.
type ChangesetDetail struct {
	Changeset
	Reasons   []RouteReason     `json:"reasons" doc:"why these tiers"`
	Plan      []RouteStep       `json:"plan"`
	Waived    []RouteStep       `json:"waived"`
	Files     []ChangedFile     `json:"files" doc:"at most 500"`
	Runs      []VerificationRun `json:"runs" doc:"every attempt"`
	Approvals []Approval        `json:"approvals"`
	Timeline  []ChangesetEvent  `json:"timeline" doc:"the latest 200 lines"`
}

// RerunChangeset verifies a changeset again.
type RerunChangeset struct {
	ChangesetID string `json:"changeset_id" format:"uuid"`
	Tier        *int   `json:"tier,omitempty" minimum:"0" maximum:"3" doc:"only this tier, and what did not succeed above it; absent: route and verify everything anew"`
	Reason      string `json:"reason,omitempty" maxLength:"500"`
}

// CancelChangeset ends verification.
type CancelChangeset struct {
	ChangesetID string `json:"changeset_id" format:"uuid"`
	Reason      string `json:"reason,omitempty" maxLength:"500"`
}

// OverrideChangeset sets the verdict by hand.
type OverrideChangeset struct {
	ChangesetID string `json:"changeset_id" format:"uuid"`
	Verdict     string `json:"verdict,omitempty" enum:"passed,failed" default:"passed"`
	Reason      string `json:"reason" minLength:"1" maxLength:"900" doc:"shown with the verdict"`
}

// SubmitChangeset hands a commit over for verification.
type SubmitChangeset struct {
	Repository   string   `json:"repository,omitempty" maxLength:"500" mcp:"full" doc:"its remote, or its name in this project; empty: the project's only one"`
	Branch       string   `json:"branch" minLength:"1" maxLength:"500"`
	HeadSHA      string   `json:"head_sha" pattern:"^([0-9a-f]{40}|[0-9a-f]{64})$" doc:"the commit, in full"`
	BaseRef      string   `json:"base_ref,omitempty" maxLength:"500" mcp:"full" doc:"branch it is meant for; empty: the default branch"`
	BaseSHA      string   `json:"base_sha,omitempty" pattern:"^([0-9a-f]{40}|[0-9a-f]{64})?$" mcp:"full" doc:"hint: counts if the base branch was pushed to it, else the branch's head is taken"`
	Title        string   `json:"title,omitempty" maxLength:"300" mcp:"full"`
	TaskID       string   `json:"task_id,omitempty" format:"uuid" doc:"the task it was made for"`
	Bundle       string   `json:"bundle,omitempty" maxLength:"4000000" mcp:"full" doc:"git bundle, base64, at most 3 MB, of a commit that is not pushed: git bundle create - base..branch"`
	ChangedFiles []string `json:"changed_files,omitempty" maxItems:"3000" maxLength:"4096" mcp:"full" doc:"hint only: the list is read from git; it can add to what is verified, never take away"`
}

// SubmittedChangeset is the reply of SubmitChangeset.
type SubmittedChangeset struct {
	ChangesetID string `json:"changeset_id"`
	State       string `json:"state"`
	Created     bool   `json:"created" doc:"false: the commit was known already"`
	StatusURL   string `json:"status_url" doc:"GET it for the verdict"`
}
