package client

import "context"

// The operations of sessions, runs, runners and blueprints; see api.go.

// ListOrchestratedSessions: sessions that runners execute, newest first.
func (c *AgentCoordinationClient) ListOrchestratedSessions(ctx context.Context, in ListOrchestratedSessions) (OrchestratedSessions, error) {
	return call[OrchestratedSessions](ctx, c, "GET", "/sessions", in)
}

// CreateOrchestratedSession: opens a session without a run.
func (c *AgentCoordinationClient) CreateOrchestratedSession(ctx context.Context, in CreateOrchestratedSession) (OrchestratedSessionReply, error) {
	return call[OrchestratedSessionReply](ctx, c, "POST", "/sessions", in)
}

// GetOrchestratedSession: reads one session.
func (c *AgentCoordinationClient) GetOrchestratedSession(ctx context.Context, in OrchestratedSessionRef) (OneOrchestratedSession, error) {
	return call[OneOrchestratedSession](ctx, c, "GET", "/sessions/:session_id", in)
}

// SessionStatus: the status alone; not_existent for a session that is not known.
func (c *AgentCoordinationClient) SessionStatus(ctx context.Context, in OrchestratedSessionRef) (SessionStatus, error) {
	return call[SessionStatus](ctx, c, "GET", "/sessions/:session_id/status", in)
}

// SessionResult: the text a finished session ended with: the assistant's last message.
func (c *AgentCoordinationClient) SessionResult(ctx context.Context, in OrchestratedSessionRef) (SessionResult, error) {
	return call[SessionResult](ctx, c, "GET", "/sessions/:session_id/result", in)
}

// SessionAffinity: where a session's conversation lives: executor session, host, directory, profile.
func (c *AgentCoordinationClient) SessionAffinity(ctx context.Context, in OrchestratedSessionRef) (SessionAffinity, error) {
	return call[SessionAffinity](ctx, c, "GET", "/sessions/:session_id/affinity", in)
}

// BindSession: an executor says that it works on the session, where, and under which id of its own.
func (c *AgentCoordinationClient) BindSession(ctx context.Context, in BindSession) (OrchestratedSessionReply, error) {
	return call[OrchestratedSessionReply](ctx, c, "POST", "/sessions/:session_id/bind", in)
}

// UpdateSessionMetadata: changes what is known about a session; what is left out stays as it is.
func (c *AgentCoordinationClient) UpdateSessionMetadata(ctx context.Context, in UpdateSessionMetadata) (OrchestratedSessionReply, error) {
	return call[OrchestratedSessionReply](ctx, c, "PATCH", "/sessions/:session_id/metadata", in)
}

// StopSession: stops the run a session is at and cancels those that wait behind it; with tree, everything below it as
// well.
func (c *AgentCoordinationClient) StopSession(ctx context.Context, in StopSession) (StoppedSession, error) {
	return call[StoppedSession](ctx, c, "POST", "/sessions/:session_id/stop", in)
}

// DeleteSession: deletes a session with its runs and events and everything below it, and counts them.
func (c *AgentCoordinationClient) DeleteSession(ctx context.Context, in DeleteSession) (DeletedSession, error) {
	return call[DeletedSession](ctx, c, "DELETE", "/sessions/:session_id", in)
}

// ListSessionEvents: what happened in a session, oldest first, by pages.
func (c *AgentCoordinationClient) ListSessionEvents(ctx context.Context, in ListSessionEvents) (SessionEvents, error) {
	return call[SessionEvents](ctx, c, "GET", "/sessions/:session_id/events", in)
}

// AddSessionEvent: stores what happened in a session and shows it to live views.
func (c *AgentCoordinationClient) AddSessionEvent(ctx context.Context, in SessionEvent) (Ok, error) {
	return call[Ok](ctx, c, "POST", "/sessions/:session_id/events", in)
}

// AddEvent: the older way to add an event: session_start opens the session, session_stop finishes it, and no parent
// is told.
func (c *AgentCoordinationClient) AddEvent(ctx context.Context, in SessionEvent) (Ok, error) {
	return call[Ok](ctx, c, "POST", "/events", in)
}

// ListEvents: the older way to read a session's events; a session that is not known has none.
func (c *AgentCoordinationClient) ListEvents(ctx context.Context, in ListSessionEvents) (SessionEvents, error) {
	return call[SessionEvents](ctx, c, "GET", "/events/:session_id", in)
}

// CreateRun: starts a session or resumes one.
func (c *AgentCoordinationClient) CreateRun(ctx context.Context, in CreateRun) (CreatedRun, error) {
	return call[CreatedRun](ctx, c, "POST", "/runs", in)
}

// ListRuns: runs of the project, by pages.
func (c *AgentCoordinationClient) ListRuns(ctx context.Context, in ListRuns) (Runs, error) {
	return call[Runs](ctx, c, "GET", "/runs", in)
}

// GetRun: reads one run.
func (c *AgentCoordinationClient) GetRun(ctx context.Context, in RunRef) (Run, error) {
	return call[Run](ctx, c, "GET", "/runs/:run_id", in)
}

// WhyRun: says what a run waits for: its session, a time, its turn, or a runner; and for each runner what it lacks.
func (c *AgentCoordinationClient) WhyRun(ctx context.Context, in RunRef) (RunWhy, error) {
	return call[RunWhy](ctx, c, "GET", "/runs/:run_id/why", in)
}

// StopRun: stops a run: at once when nobody has it, else its runner is told until it reports.
func (c *AgentCoordinationClient) StopRun(ctx context.Context, in RunRef) (StoppedRun, error) {
	return call[StoppedRun](ctx, c, "POST", "/runs/:run_id/stop", in)
}

// RegisterRunner: makes a runner known under the id of its host, directory and profile.
func (c *AgentCoordinationClient) RegisterRunner(ctx context.Context, in RegisterRunner) (RegisteredRunner, error) {
	return call[RegisteredRunner](ctx, c, "POST", "/runner/register", in)
}

// RunnerHeartbeat: a sign of life.
func (c *AgentCoordinationClient) RunnerHeartbeat(ctx context.Context, in RunnerRef) (Ok, error) {
	return call[Ok](ctx, c, "POST", "/runner/heartbeat", in)
}

// ListRunners: the runners, with what they offer and when they were heard.
func (c *AgentCoordinationClient) ListRunners(ctx context.Context, in None) (Runners, error) {
	return call[Runners](ctx, c, "GET", "/runners", in)
}

// DeregisterRunner: takes a runner off the list: itself at once, another at its next poll, which tells it to end.
func (c *AgentCoordinationClient) DeregisterRunner(ctx context.Context, in DeregisterRunner) (DeregisteredRunner, error) {
	return call[DeregisteredRunner](ctx, c, "DELETE", "/runners/:runner_id", in)
}

// RunStarted: the runner executes the run.
func (c *AgentCoordinationClient) RunStarted(ctx context.Context, in RunStarted) (Ok, error) {
	return call[Ok](ctx, c, "POST", "/runner/runs/:run_id/started", in)
}

// RunCompleted: the run's executor ended well.
func (c *AgentCoordinationClient) RunCompleted(ctx context.Context, in RunCompleted) (Ok, error) {
	return call[Ok](ctx, c, "POST", "/runner/runs/:run_id/completed", in)
}

// RunFailed: the run's executor failed, and how.
func (c *AgentCoordinationClient) RunFailed(ctx context.Context, in RunFailed) (Ok, error) {
	return call[Ok](ctx, c, "POST", "/runner/runs/:run_id/failed", in)
}

// RunStopped: the runner ended the run's executor as it was told.
func (c *AgentCoordinationClient) RunStopped(ctx context.Context, in RunStopped) (Ok, error) {
	return call[Ok](ctx, c, "POST", "/runner/runs/:run_id/stopped", in)
}

// ListAgents: blueprints by name as they are written, inactive ones too; with tags those that have all of them.
func (c *AgentCoordinationClient) ListAgents(ctx context.Context, in ListAgents) (AgentBlueprints, error) {
	return call[AgentBlueprints](ctx, c, "GET", "/agents", in)
}

// GetAgent: one blueprint with its capabilities worked in: prompts joined, MCP servers merged; raw as it is written.
func (c *AgentCoordinationClient) GetAgent(ctx context.Context, in GetAgent) (AgentBlueprint, error) {
	return call[AgentBlueprint](ctx, c, "GET", "/agents/:name", in)
}

// CreateAgent: describes an agent: prompt, MCP servers, tags, demands on its runner.
func (c *AgentCoordinationClient) CreateAgent(ctx context.Context, in CreateAgent) (AgentBlueprint, error) {
	return call[AgentBlueprint](ctx, c, "POST", "/agents", in)
}

// UpdateAgent: changes members of a blueprint; what is left out stays, an empty value clears.
func (c *AgentCoordinationClient) UpdateAgent(ctx context.Context, in UpdateAgent) (AgentBlueprint, error) {
	return call[AgentBlueprint](ctx, c, "PATCH", "/agents/:name", in)
}

// SetAgentStatus: an inactive agent is not started.
func (c *AgentCoordinationClient) SetAgentStatus(ctx context.Context, in SetAgentStatus) (AgentBlueprint, error) {
	return call[AgentBlueprint](ctx, c, "PATCH", "/agents/:name/status", in)
}

// DeleteAgent: removes a blueprint.
func (c *AgentCoordinationClient) DeleteAgent(ctx context.Context, in BlueprintRef) (Nothing, error) {
	return call[Nothing](ctx, c, "DELETE", "/agents/:name", in)
}

// ListCapabilities: what agents may share: texts for their prompts, MCP servers.
func (c *AgentCoordinationClient) ListCapabilities(ctx context.Context, in None) (Capabilities, error) {
	return call[Capabilities](ctx, c, "GET", "/capabilities", in)
}

// GetCapability: one capability with its text and servers.
func (c *AgentCoordinationClient) GetCapability(ctx context.Context, in BlueprintRef) (Capability, error) {
	return call[Capability](ctx, c, "GET", "/capabilities/:name", in)
}

// CreateCapability: describes a part that several agents share.
func (c *AgentCoordinationClient) CreateCapability(ctx context.Context, in CreateCapability) (Capability, error) {
	return call[Capability](ctx, c, "POST", "/capabilities", in)
}

// UpdateCapability: changes members of a capability; what is left out stays, an empty value clears.
func (c *AgentCoordinationClient) UpdateCapability(ctx context.Context, in UpdateCapability) (Capability, error) {
	return call[Capability](ctx, c, "PATCH", "/capabilities/:name", in)
}

// DeleteCapability: removes a capability; refused while an agent names it.
func (c *AgentCoordinationClient) DeleteCapability(ctx context.Context, in BlueprintRef) (Nothing, error) {
	return call[Nothing](ctx, c, "DELETE", "/capabilities/:name", in)
}
