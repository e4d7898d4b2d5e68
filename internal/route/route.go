// Package route decides which verification a change needs: pure, so that the gateway, the simulation and the tests run
// the very same code. It knows no database, no clock and no executor.
package route

import "github.com/agent-coordinator/agent-coordinator/client"

// The tiers, from cheap to dear.
const (
	TierStatic      = 0
	TierUnit        = 1
	TierIntegration = 2
	TierSystem      = 3
	TierHuman       = 4
)

// The words of routing are the wire's own.
type (
	File          = client.ChangedFile
	Policy        = client.VerificationPolicy
	Approvals     = client.PolicyApprovals
	LockViolation = client.LockViolation
	Step          = client.RouteStep
	Reason        = client.RouteReason
	Decision      = client.RouteDecision
)

// Change is all that routing may look at.
type Change struct {
	Repository string // normalised remote
	Branch     string
	Files      []File
	Truncated  bool // the list is not whole
	TrustLevel int  // 0..4
	// PriorFailures counts the author's consecutive failures on the branch.
	PriorFailures int
	Fork          bool
	Draft         bool // only tier 0 until it is ready for review
	// AuditWaiver has what a waiver drops run all the same, as advisory: the caller picks some changes at random.
	AuditWaiver bool
	// UnavailableExecutors are left out of the choice; a policy with no other is blocked.
	UnavailableExecutors []string
	// LockViolations are changed paths that another session held locked.
	LockViolations []LockViolation
}
