package client

import "context"

// PauseAgent keeps an agent, one of its sessions or (*) every agent from new locks and new work until it is resumed.
func (c *AgentCoordinationClient) PauseAgent(ctx context.Context, in HoldAgent) (HoldResult, error) {
	return call[HoldResult](ctx, c, "POST", "/holds/pause", in)
}

// ResumeAgent ends a pause.
func (c *AgentCoordinationClient) ResumeAgent(ctx context.Context, in FreeAgent) (HoldResult, error) {
	return call[HoldResult](ctx, c, "POST", "/holds/resume", in)
}

// DrainAgent lets an agent finish what it has and gives it nothing new.
func (c *AgentCoordinationClient) DrainAgent(ctx context.Context, in HoldAgent) (HoldResult, error) {
	return call[HoldResult](ctx, c, "POST", "/holds/drain", in)
}

// UndrainAgent ends a drain.
func (c *AgentCoordinationClient) UndrainAgent(ctx context.Context, in FreeAgent) (HoldResult, error) {
	return call[HoldResult](ctx, c, "POST", "/holds/undrain", in)
}

// DrainRunner lets a runner finish its runs and gives it no new ones.
func (c *AgentCoordinationClient) DrainRunner(ctx context.Context, in HoldRunner) (HoldResult, error) {
	return call[HoldResult](ctx, c, "POST", "/runners/:runner_id/drain", in)
}

// UndrainRunner gives a runner runs again.
func (c *AgentCoordinationClient) UndrainRunner(ctx context.Context, in HoldRunner) (HoldResult, error) {
	return call[HoldResult](ctx, c, "POST", "/runners/:runner_id/undrain", in)
}

// ListHolds returns who is kept from new work, by whom and why, and what they still have.
func (c *AgentCoordinationClient) ListHolds(ctx context.Context, in ListHolds) (Holds, error) {
	return call[Holds](ctx, c, "GET", "/holds", in)
}

// NudgeAgent tells an agent a person's short word, once, with its next call or hook.
func (c *AgentCoordinationClient) NudgeAgent(ctx context.Context, in NudgeAgent) (Nudged, error) {
	return call[Nudged](ctx, c, "POST", "/messages/nudge", in)
}

// HandOver moves tasks and locks from one agent to another, all of what is named or nothing.
func (c *AgentCoordinationClient) HandOver(ctx context.Context, in HandOver) (HandedOver, error) {
	return call[HandedOver](ctx, c, "POST", "/handoffs/over", in)
}

// Snooze hides an item that needs a person, for the caller alone, until a time.
func (c *AgentCoordinationClient) Snooze(ctx context.Context, in Snooze) (Snoozed, error) {
	return call[Snoozed](ctx, c, "POST", "/snoozed", in)
}

// Unsnooze shows an item again.
func (c *AgentCoordinationClient) Unsnooze(ctx context.Context, in Unsnooze) (Snoozed, error) {
	return call[Snoozed](ctx, c, "DELETE", "/snoozed", in)
}

// ListSnoozed returns the items that the caller put off.
func (c *AgentCoordinationClient) ListSnoozed(ctx context.Context, in None) (SnoozedItems, error) {
	return call[SnoozedItems](ctx, c, "GET", "/snoozed", in)
}

// ReportUsage tells what a model used; a report may be sent again without being counted twice.
func (c *AgentCoordinationClient) ReportUsage(ctx context.Context, in ReportUsage) (ReportedUsage, error) {
	return call[ReportedUsage](ctx, c, "POST", "/usage", in)
}

// UsageSummary returns tokens and cost by agent, session, task, run, model, day or verified change.
func (c *AgentCoordinationClient) UsageSummary(ctx context.Context, in UsageQuery) (UsageSummary, error) {
	return call[UsageSummary](ctx, c, "GET", "/usage", in)
}

// ListBudgets returns the budgets of the project and what is used of each.
func (c *AgentCoordinationClient) ListBudgets(ctx context.Context, in None) (Budgets, error) {
	return call[Budgets](ctx, c, "GET", "/budgets", in)
}

// SetBudget limits what the project or an agent may use in a period.
func (c *AgentCoordinationClient) SetBudget(ctx context.Context, in SetBudget) (Budget, error) {
	return call[Budget](ctx, c, "PUT", "/budgets/:name", in)
}

// DeleteBudget ends a budget, and with it what it stopped.
func (c *AgentCoordinationClient) DeleteBudget(ctx context.Context, in BudgetRef) (Ok, error) {
	return call[Ok](ctx, c, "DELETE", "/budgets/:name", in)
}

// ListGuardrails returns the rules on destructive commands and what is done in this project.
func (c *AgentCoordinationClient) ListGuardrails(ctx context.Context, in None) (Guardrails, error) {
	return call[Guardrails](ctx, c, "GET", "/guardrails", in)
}

// SetGuardrail changes what a rule does, or adds one of the project's own. Code approval_required where safeguards say so.
func (c *AgentCoordinationClient) SetGuardrail(ctx context.Context, in SetGuardrail) (Guardrail, error) {
	return call[Guardrail](ctx, c, "PUT", "/guardrails/:rule", in)
}

// CheckGuardrail returns what is to be done with a command that meets rules, and keeps a record of it.
func (c *AgentCoordinationClient) CheckGuardrail(ctx context.Context, in CheckGuardrail) (GuardrailAnswer, error) {
	return call[GuardrailAnswer](ctx, c, "POST", "/guardrails/check", in)
}

// ListGuardrailHits returns what rules caught, newest first.
func (c *AgentCoordinationClient) ListGuardrailHits(ctx context.Context, in ListGuardrailHits) (GuardrailHits, error) {
	return call[GuardrailHits](ctx, c, "GET", "/guardrails/hits", in)
}

// ListActs returns acts that wait for a person, or waited.
func (c *AgentCoordinationClient) ListActs(ctx context.Context, in ListActs) (Acts, error) {
	return call[Acts](ctx, c, "GET", "/acts", in)
}

// ApproveAct does what waits, at once and once.
func (c *AgentCoordinationClient) ApproveAct(ctx context.Context, in DecideAct) (DecidedAct, error) {
	return call[DecidedAct](ctx, c, "POST", "/acts/:act_id/approve", in)
}

// DenyAct ends what waits without doing it.
func (c *AgentCoordinationClient) DenyAct(ctx context.Context, in DecideAct) (DecidedAct, error) {
	return call[DecidedAct](ctx, c, "POST", "/acts/:act_id/deny", in)
}

// GetSafeguards returns which acts need a second person.
func (c *AgentCoordinationClient) GetSafeguards(ctx context.Context, in None) (Safeguards, error) {
	return call[Safeguards](ctx, c, "GET", "/safeguards", in)
}

// SetSafeguards sets which acts need a second person. Code approval_required while some do.
func (c *AgentCoordinationClient) SetSafeguards(ctx context.Context, in SetSafeguards) (Safeguards, error) {
	return call[Safeguards](ctx, c, "PUT", "/safeguards", in)
}
