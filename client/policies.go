package client

// ChangedFile is one file of a change. Paths are relative to the repository, with slashes.
type ChangedFile struct {
	Path         string `json:"path" minLength:"1" maxLength:"4096"`
	PreviousPath string `json:"previous_path,omitempty" maxLength:"4096" doc:"of a rename or copy"`
	Status       string `json:"status,omitempty" enum:"added,removed,modified,renamed,copied,changed,unchanged" default:"modified"`
	Additions    int    `json:"additions,omitempty" minimum:"0" maximum:"100000000" doc:"lines"`
	Deletions    int    `json:"deletions,omitempty" minimum:"0" maximum:"100000000" doc:"lines"`
	Mode         string `json:"mode,omitempty" maxLength:"6" pattern:"^[0-7]*$" doc:"git's octal mode, such as 100644, 120000 (symlink), 160000 (submodule)"`
}

// VerificationPolicy is one rule of what must be verified where.
type VerificationPolicy struct {
	ID                string          `json:"id,omitempty"`
	Name              string          `json:"name"`
	Version           int             `json:"version,omitempty" doc:"counts its changes, from 1"`
	Repository        string          `json:"repository,omitempty" doc:"glob over the normalised remote; empty: every repository"`
	Branch            string          `json:"branch,omitempty" doc:"glob over the branch; empty: every branch"`
	Tier              int             `json:"tier" doc:"0 static, 1 unit, 2 integration, 3 system, 4 human"`
	Executors         []string        `json:"executors" doc:"in order of preference"`
	Patterns          []string        `json:"patterns"`
	ExcludePatterns   []string        `json:"exclude_patterns,omitempty"`
	FoldCase          bool            `json:"fold_case,omitempty"`
	RequiredEnv       []string        `json:"required_env,omitempty" doc:"environment variables that must be set for the gateway, else the policy is blocked"`
	TimeoutSeconds    int             `json:"timeout_seconds"`
	Required          bool            `json:"required" doc:"false: advisory, never decides the verdict"`
	Waivable          bool            `json:"waivable" doc:"trust may drop it for small changes"`
	RequiresApproval  bool            `json:"requires_approval,omitempty" doc:"a person approves beside the run"`
	Approvals         PolicyApprovals `json:"approvals,omitzero"`
	FailOn            string          `json:"fail_on,omitempty" doc:"lowest level of finding that fails"`
	RetryMax          int             `json:"retry_max,omitempty" doc:"further attempts after a failure of the change itself"`
	AcceptConclusions []string        `json:"accept_conclusions,omitempty" doc:"GitHub conclusions that count as success beside success"`
	Workflow          string          `json:"workflow,omitempty" doc:"GitHub Actions workflow file, such as verify.yml"`
	Command           string          `json:"command,omitempty" doc:"for e2b and ntm: run by /bin/sh -c in the checkout"`
	Template          string          `json:"template,omitempty" doc:"e2b template id"`
	Tools             []string        `json:"tools,omitempty" doc:"inline: which; empty: every one that fits"`
	Default           bool            `json:"default,omitempty" doc:"what a raised tier without a matching policy runs"`
	Priority          int             `json:"priority,omitempty" doc:"lower first, within a tier"`
	Enabled           bool            `json:"enabled"`
}

// PolicyApprovals is what a human tier asks for. Whoever changed the code never counts.
type PolicyApprovals struct {
	Count int      `json:"count,omitempty" minimum:"0" maximum:"20" doc:"approvals needed; 0 reads as 1"`
	Roles []string `json:"roles,omitempty" maxItems:"20" maxLength:"100" doc:"any of these suffices"`
	Users []string `json:"users,omitempty" maxItems:"100" maxLength:"200"`
	Teams []string `json:"teams,omitempty" maxItems:"100" maxLength:"200"`
}

// LockViolation is a path that was changed while somebody else held its lock.
type LockViolation struct {
	Path   string `json:"path" minLength:"1" maxLength:"4096"`
	Holder string `json:"holder" maxLength:"200" doc:"agent that held the lock"`
	Reason string `json:"reason,omitempty" maxLength:"2000" doc:"what the holder said it was for"`
}

// RouteStep is one policy in a plan. Either Executor or Blocked is set.
type RouteStep struct {
	Tier     int    `json:"tier"`
	Policy   string `json:"policy"`
	Executor string `json:"executor,omitempty"`
	Required bool   `json:"required"`
	Blocked  string `json:"blocked,omitempty" doc:"why nothing can run it"`
}

// RouteReason is why a tier is needed, raised, waived or put off.
type RouteReason struct {
	Code   string `json:"code" doc:"such as matched, size, trust, failures, fork, truncated, waived, lock_violation, draft"`
	Tier   int    `json:"tier"`
	Policy string `json:"policy,omitempty"`
	Path   string `json:"path,omitempty" doc:"an example of what matched"`
	Text   string `json:"text"`
}

// RouteDecision is a routed change: the tiers it needs and what runs in them.
type RouteDecision struct {
	Tiers   []int         `json:"tiers"`
	Plan    []RouteStep   `json:"plan"`
	Waived  []RouteStep   `json:"waived,omitempty" doc:"matched, but dropped for a trusted author's small change"`
	Reasons []RouteReason `json:"reasons"`
}

// CreatePolicy makes a policy. What is left out has the default of its tier.
type CreatePolicy struct {
	Name     string   `json:"name" minLength:"1" maxLength:"100" doc:"letters, digits, dot, dash and underscore"`
	Tier     int      `json:"tier" minimum:"0" maximum:"4" doc:"0 static, 1 unit, 2 integration, 3 system, 4 human"`
	Patterns []string `json:"patterns" minItems:"1" maxItems:"500" maxLength:"1000" doc:"globs over paths, such as **/*.go; ** crosses directories"`
	PolicyRest
}

// UpdatePolicy changes a policy. What is left out stays; "", [] and {} clear a member.
type UpdatePolicy struct {
	Name     string    `json:"name" minLength:"1" maxLength:"100"`
	Version  int       `json:"version,omitempty" minimum:"0" maximum:"2000000000" doc:"version you read; a conflict when it was changed since"`
	Tier     *int      `json:"tier,omitempty" minimum:"0" maximum:"4"`
	Patterns *[]string `json:"patterns,omitempty" minItems:"1" maxItems:"500" maxLength:"1000" doc:"globs over paths, such as **/*.go; ** crosses directories"`
	PolicyRest
}

// PolicyRest are the members of a policy that have defaults.
type PolicyRest struct {
	Executors         *[]string        `json:"executors,omitempty" minItems:"1" maxItems:"10" enum:"inline,github,e2b,ntm,human" doc:"in order of preference"`
	ExcludePatterns   *[]string        `json:"exclude_patterns,omitempty" maxItems:"500" maxLength:"1000" doc:"paths that do not count"`
	Repository        *string          `json:"repository,omitempty" maxLength:"500" doc:"glob over the normalised remote; empty: every repository"`
	Branch            *string          `json:"branch,omitempty" maxLength:"500" doc:"glob over the branch; empty: every branch"`
	FoldCase          *bool            `json:"fold_case,omitempty" doc:"match without regard to case"`
	RequiredEnv       *[]string        `json:"required_env,omitempty" maxItems:"50" maxLength:"200" doc:"environment variables that must be set for the gateway, else the policy is blocked"`
	TimeoutSeconds    *int             `json:"timeout_seconds,omitempty" minimum:"1" maximum:"86400"`
	Required          *bool            `json:"required,omitempty" doc:"false: advisory, never decides the verdict"`
	Waivable          *bool            `json:"waivable,omitempty" doc:"trust may drop it for small changes"`
	RequiresApproval  *bool            `json:"requires_approval,omitempty" doc:"a person approves beside the run"`
	Approvals         *PolicyApprovals `json:"approvals,omitempty" doc:"what is asked of people"`
	FailOn            *string          `json:"fail_on,omitempty" enum:"note,warning,error" doc:"lowest level of finding that fails"`
	RetryMax          *int             `json:"retry_max,omitempty" minimum:"0" maximum:"5" doc:"further attempts after a failure of the change itself"`
	AcceptConclusions *[]string        `json:"accept_conclusions,omitempty" maxItems:"4" enum:"skipped,neutral,stale,action_required" doc:"GitHub conclusions that count as success beside success"`
	Workflow          *string          `json:"workflow,omitempty" maxLength:"200" doc:"GitHub Actions workflow file, such as verify.yml"`
	Command           *string          `json:"command,omitempty" maxLength:"20000" doc:"for e2b and ntm: run by /bin/sh -c in the checkout"`
	Template          *string          `json:"template,omitempty" maxLength:"200" doc:"e2b template id"`
	Tools             *[]string        `json:"tools,omitempty" maxItems:"50" maxLength:"100" doc:"inline: which; empty: every one that fits"`
	Default           *bool            `json:"default,omitempty" doc:"what a raised tier without a matching policy runs"`
	Priority          *int             `json:"priority,omitempty" minimum:"0" maximum:"1000" doc:"lower first, within a tier"`
	Enabled           *bool            `json:"enabled,omitempty"`
}

// PolicyRef names a policy.
type PolicyRef struct {
	Name string `json:"name" minLength:"1" maxLength:"100" doc:"its name, or its id"`
}

// Policies are a project's policies in the order they run.
type Policies struct {
	SetVersion int64                `json:"set_version" doc:"changes with every change of a policy"`
	Policies   []VerificationPolicy `json:"policies"`
}

// PolicyHistory asks for the versions of a policy.
type PolicyHistory struct {
	Name  string `json:"name" minLength:"1" maxLength:"100" doc:"its name, or its id"`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"50"`
}

// PolicyVersions are the versions of a policy, newest first.
type PolicyVersions struct {
	Name     string          `json:"name"`
	Versions []PolicyVersion `json:"versions"`
}

// PolicyVersion is a policy as it was from At on.
type PolicyVersion struct {
	Version int                `json:"version"`
	At      string             `json:"at"`
	By      string             `json:"by"`
	Policy  VerificationPolicy `json:"policy"`
}

// SimulatePolicies asks what a change would need, without making one. The very code that routes answers.
type SimulatePolicies struct {
	Files                []ChangedFile   `json:"files" maxItems:"5000"`
	TrustLevel           *int            `json:"trust_level,omitempty" minimum:"0" maximum:"4" doc:"of the author; absent: 2"`
	PriorFailures        int             `json:"prior_failures,omitempty" minimum:"0" maximum:"1000000" doc:"the author's consecutive failures on the branch"`
	Fork                 bool            `json:"fork,omitempty" doc:"it comes from a fork"`
	Truncated            bool            `json:"truncated,omitempty" doc:"the list of files is not whole"`
	UnavailableExecutors []string        `json:"unavailable_executors,omitempty" maxItems:"20" maxLength:"100" doc:"leave these out of the choice"`
	Draft                bool            `json:"draft,omitempty" doc:"not ready for review"`
	Repository           string          `json:"repository,omitempty" maxLength:"500" doc:"normalised remote, for policies of certain repositories"`
	Branch               string          `json:"branch,omitempty" maxLength:"500" doc:"for policies of certain branches"`
	LockViolations       []LockViolation `json:"lock_violations,omitempty" maxItems:"1000"`
}
