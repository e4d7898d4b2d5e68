// Package route decides which verification a change needs: pure, so that the gateway, the simulation and the tests run
// the very same code. It knows no database, no clock and no executor.
package route

// The tiers, from cheap to dear.
const (
	TierStatic      = 0
	TierUnit        = 1
	TierIntegration = 2
	TierSystem      = 3
	TierHuman       = 4
)

// File is one changed file. Paths are relative to the repository, with slashes.
type File struct {
	Path         string `json:"path"`
	PreviousPath string `json:"previous_path,omitempty"` // of a rename or copy
	Status       string `json:"status"`                  // added, removed, modified, renamed, copied, changed
	Additions    int    `json:"additions"`
	Deletions    int    `json:"deletions"`
	Mode         string `json:"mode,omitempty"` // git's octal mode, such as 100644, 120000 (symlink), 160000 (submodule)
}

// Policy is one rule of what must be verified where.
type Policy struct {
	ID               string    `json:"id,omitempty"`
	Name             string    `json:"name"`
	Version          int       `json:"version,omitempty"`
	Repository       string    `json:"repository,omitempty"` // glob over the normalised remote; "": every one
	Branch           string    `json:"branch,omitempty"`     // glob over the branch; "": every one
	Tier             int       `json:"tier"`
	Executors        []string  `json:"executors"` // in order of preference
	Patterns         []string  `json:"patterns"`
	ExcludePatterns  []string  `json:"exclude_patterns,omitempty"`
	FoldCase         bool      `json:"fold_case,omitempty"`
	RequiredEnv      []string  `json:"required_env,omitempty"` // environment variables the executor must have
	TimeoutSeconds   int       `json:"timeout_seconds"`
	Required         bool      `json:"required"` // false: advisory, never decides the verdict
	Waivable         bool      `json:"waivable"`
	RequiresApproval bool      `json:"requires_approval,omitempty"`
	Approvals        Approvals `json:"approvals,omitzero"`
	FailOn           string    `json:"fail_on,omitempty"` // lowest level of finding that fails: note, warning, error
	RetryMax         int       `json:"retry_max,omitempty"`
	// AcceptConclusions are GitHub conclusions that count as success beside success, such as skipped.
	AcceptConclusions []string `json:"accept_conclusions,omitempty"`
	Workflow          string   `json:"workflow,omitempty"` // GitHub Actions workflow file, such as verify.yml
	Command           string   `json:"command,omitempty"`  // for e2b and ntm: run by /bin/sh -c in the checkout
	Template          string   `json:"template,omitempty"` // e2b template id
	Tools             []string `json:"tools,omitempty"`    // inline: which; empty: every one that fits
	Default           bool     `json:"default,omitempty"`  // what a raised tier without a matching policy runs
	Priority          int      `json:"priority,omitempty"`
	Enabled           bool     `json:"enabled"`
}

// Approvals is what a human tier asks for.
type Approvals struct {
	Count int      `json:"count,omitempty"` // 0 reads as 1
	Roles []string `json:"roles,omitempty"`
	Users []string `json:"users,omitempty"`
	Teams []string `json:"teams,omitempty"`
}

// Change is all that routing may look at.
type Change struct {
	Repository string `json:"repository,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Files      []File `json:"files"`
	Truncated  bool   `json:"truncated,omitempty"` // the list is not whole
	TrustLevel int    `json:"trust_level"`         // 0..4
	// PriorFailures counts the author's consecutive failures on the branch.
	PriorFailures int  `json:"prior_failures,omitempty"`
	Fork          bool `json:"fork,omitempty"`
	Draft         bool `json:"draft,omitempty"` // only tier 0 until it is ready for review
	// UnavailableExecutors are left out of the choice; a policy with no other is blocked.
	UnavailableExecutors []string `json:"unavailable_executors,omitempty"`
	// LockViolations are changed paths that another session held locked.
	LockViolations []LockViolation `json:"lock_violations,omitempty"`
}

// LockViolation is a path that was changed while somebody else held its lock.
type LockViolation struct {
	Path   string `json:"path"`
	Holder string `json:"holder"`
	Reason string `json:"reason,omitempty"`
}

// Step is one policy in a plan.
type Step struct {
	Tier     int    `json:"tier"`
	Policy   string `json:"policy"`
	Executor string `json:"executor,omitempty"`
	Required bool   `json:"required"`
	Blocked  string `json:"blocked,omitempty"` // why nothing can run it; Executor is empty then
}

// Reason is why a tier is needed, raised or waived.
type Reason struct {
	Code   string `json:"code"` // such as matched, size, trust, failures, fork, truncated, waived, lock_violation
	Tier   int    `json:"tier"`
	Policy string `json:"policy,omitempty"`
	Path   string `json:"path,omitempty"` // an example of what matched
	Text   string `json:"text"`
}

// Decision is a routed change.
type Decision struct {
	Tiers   []int    `json:"tiers"`
	Plan    []Step   `json:"plan"`
	Waived  []Step   `json:"waived,omitempty"`
	Reasons []Reason `json:"reasons"`
}
