package client

import "context"

// ListPolicies returns what must be verified where: every policy in the order they run.
func (c *AgentCoordinationClient) ListPolicies(ctx context.Context, in None) (Policies, error) {
	return call[Policies](ctx, c, "GET", "/policies", in)
}

// CreatePolicy adds a rule: which paths need which tier, run by which executor.
func (c *AgentCoordinationClient) CreatePolicy(ctx context.Context, in CreatePolicy) (VerificationPolicy, error) {
	return call[VerificationPolicy](ctx, c, "POST", "/policies", in)
}

// SimulatePolicies tells which tiers, policies and executors a change would need, and why; nothing is stored.
func (c *AgentCoordinationClient) SimulatePolicies(ctx context.Context, in SimulatePolicies) (RouteDecision, error) {
	return call[RouteDecision](ctx, c, "POST", "/policies/simulate", in)
}

// GetPolicy returns one policy, by name or id.
func (c *AgentCoordinationClient) GetPolicy(ctx context.Context, in PolicyRef) (VerificationPolicy, error) {
	return call[VerificationPolicy](ctx, c, "GET", "/policies/:name", in)
}

// PolicyHistory returns every version of a policy, newest first.
func (c *AgentCoordinationClient) PolicyHistory(ctx context.Context, in PolicyHistory) (PolicyVersions, error) {
	return call[PolicyVersions](ctx, c, "GET", "/policies/:name/history", in)
}

// UpdatePolicy changes a policy from the next routing on; what is left out stays.
func (c *AgentCoordinationClient) UpdatePolicy(ctx context.Context, in UpdatePolicy) (VerificationPolicy, error) {
	return call[VerificationPolicy](ctx, c, "PUT", "/policies/:name", in)
}

// DisablePolicy takes a policy out of use; its versions stay.
func (c *AgentCoordinationClient) DisablePolicy(ctx context.Context, in PolicyRef) (VerificationPolicy, error) {
	return call[VerificationPolicy](ctx, c, "DELETE", "/policies/:name", in)
}

// SubmitChanges hands a pushed commit over for verification.
func (c *AgentCoordinationClient) SubmitChanges(ctx context.Context, in SubmitChangeset) (SubmittedChangeset, error) {
	return call[SubmittedChangeset](ctx, c, "POST", "/changesets", in)
}

// ListChangesets lists changes under verification and decided ones, newest first.
func (c *AgentCoordinationClient) ListChangesets(ctx context.Context, in ListChangesets) (Changesets, error) {
	return call[Changesets](ctx, c, "GET", "/changesets", in)
}

// GetChangeset returns one changeset with its runs, approvals and timeline.
func (c *AgentCoordinationClient) GetChangeset(ctx context.Context, in ChangesetRef) (ChangesetDetail, error) {
	return call[ChangesetDetail](ctx, c, "GET", "/changesets/:changeset_id", in)
}

// RerunChangeset verifies a commit again.
func (c *AgentCoordinationClient) RerunChangeset(ctx context.Context, in RerunChangeset) (Changeset, error) {
	return call[Changeset](ctx, c, "POST", "/changesets/:changeset_id/rerun", in)
}

// CancelChangeset ends what is being verified of a commit.
func (c *AgentCoordinationClient) CancelChangeset(ctx context.Context, in CancelChangeset) (Changeset, error) {
	return call[Changeset](ctx, c, "POST", "/changesets/:changeset_id/cancel", in)
}

// OverrideChangeset sets the verdict of one commit by hand, as a reviewer.
func (c *AgentCoordinationClient) OverrideChangeset(ctx context.Context, in OverrideChangeset) (Changeset, error) {
	return call[Changeset](ctx, c, "POST", "/changesets/:changeset_id/override", in)
}

// ListApprovals lists what people are asked to decide, oldest first.
func (c *AgentCoordinationClient) ListApprovals(ctx context.Context, in ListApprovals) (ApprovalList, error) {
	return call[ApprovalList](ctx, c, "GET", "/approvals", in)
}

// ApproveChange votes for one commit.
func (c *AgentCoordinationClient) ApproveChange(ctx context.Context, in VoteApproval) (Approval, error) {
	return call[Approval](ctx, c, "POST", "/approvals/:approval_id/approve", in)
}

// DenyChange votes against one commit.
func (c *AgentCoordinationClient) DenyChange(ctx context.Context, in VoteApproval) (Approval, error) {
	return call[Approval](ctx, c, "POST", "/approvals/:approval_id/deny", in)
}

// ListTrust returns how far agents are trusted and the evidence behind it.
func (c *AgentCoordinationClient) ListTrust(ctx context.Context, in ListTrust) (TrustList, error) {
	return call[TrustList](ctx, c, "GET", "/trust", in)
}

// SetTrust sets an agent's level and the ceiling that evidence may raise it to.
func (c *AgentCoordinationClient) SetTrust(ctx context.Context, in SetTrust) (AgentTrust, error) {
	return call[AgentTrust](ctx, c, "PUT", "/trust", in)
}

// VerificationStatus returns where a commit stands, after waiting for its verdict if asked to.
func (c *AgentCoordinationClient) VerificationStatus(ctx context.Context, in VerificationStatus) (VerificationState, error) {
	return call[VerificationState](ctx, c, "GET", "/verification", in)
}
