package client

import "context"

// The methods below are the operations of the service, one each, in the order of its catalogue. A test compares them
// with it.

// SessionBrief returns everything a session needs to begin, in one call of at most 600 tokens: locks and tasks it
// holds, locks of others, the first ready tasks, unread messages, the newest handoff.
func (c *AgentCoordinationClient) SessionBrief(ctx context.Context, in None) (Brief, error) {
	return call[Brief](ctx, c, "GET", "/brief", in)
}

// ProjectDigest returns what others changed in the project since the caller looked last, as markdown and as data, and
// the tasks whose type starts with newsletter.
func (c *AgentCoordinationClient) ProjectDigest(ctx context.Context, in ProjectDigest) (Digest, error) {
	return call[Digest](ctx, c, "GET", "/status/digest", in)
}

// AcquireLock reserves a path, a directory, a glob or a logical key, or several at once, all or none.
func (c *AgentCoordinationClient) AcquireLock(ctx context.Context, in AcquireLock) (LockResult, error) {
	return call[LockResult](ctx, c, "POST", "/locks/acquire", in)
}

// ReleaseLock gives back locks as soon as the edit is done: one path, several, or all of the session.
func (c *AgentCoordinationClient) ReleaseLock(ctx context.Context, in ReleaseLock) (ReleaseResult, error) {
	return call[ReleaseResult](ctx, c, "POST", "/locks/release", in)
}

// CheckLocks lists live locks: holder, reason, expiry, fencing token.
func (c *AgentCoordinationClient) CheckLocks(ctx context.Context, in CheckLocks) (Locks, error) {
	return call[Locks](ctx, c, "POST", "/locks/check", in)
}

// LockStatus tells whether a lock overlaps one path, and which.
func (c *AgentCoordinationClient) LockStatus(ctx context.Context, in LockStatus) (LockState, error) {
	return call[LockState](ctx, c, "GET", "/locks/status/*file_path", in)
}

// VerifyLock checks a fencing token right before a write: valid, or lease_lost (410) when the lock expired, was
// released or passed to another.
func (c *AgentCoordinationClient) VerifyLock(ctx context.Context, in VerifyLock) (VerifiedLock, error) {
	return call[VerifiedLock](ctx, c, "POST", "/locks/verify", in)
}

// ForceReleaseLock takes a lock away from its holder, as a reviewer; the holder is told why.
func (c *AgentCoordinationClient) ForceReleaseLock(ctx context.Context, in ForceReleaseLock) (ForceReleased, error) {
	return call[ForceReleased](ctx, c, "POST", "/locks/force-release", in)
}

// RenewLocks prolongs every lock of the session.
func (c *AgentCoordinationClient) RenewLocks(ctx context.Context, in RenewLocks) (RenewedLocks, error) {
	return call[RenewedLocks](ctx, c, "POST", "/locks/renew", in)
}

// ReportChanges tells which files were changed, and learns which of them another session holds. Codes: invalid.
func (c *AgentCoordinationClient) ReportChanges(ctx context.Context, in ReportChanges) (ReportedChanges, error) {
	return call[ReportedChanges](ctx, c, "POST", "/locks/changes", in)
}

// ListViolations lists changes of files that another session held, newest first.
func (c *AgentCoordinationClient) ListViolations(ctx context.Context, in ListViolations) (Violations, error) {
	return call[Violations](ctx, c, "GET", "/locks/violations", in)
}

// ListLockWaits lists who waits for which lock, first in line first.
func (c *AgentCoordinationClient) ListLockWaits(ctx context.Context, in ListLockWaits) (LockWaits, error) {
	return call[LockWaits](ctx, c, "GET", "/locks/waits", in)
}

// GetWork claims the best task for you, by priority (1 first), then age, and returns it with what you need to begin.
func (c *AgentCoordinationClient) GetWork(ctx context.Context, in GetWork) (Work, error) {
	return call[Work](ctx, c, "POST", "/work/claim", in)
}

// CompleteWork ends a task you claimed: success true completes it and unblocks what depends on it; false fails it for
// good, or, with retryable, sends it back after a pause while attempts remain.
func (c *AgentCoordinationClient) CompleteWork(ctx context.Context, in CompleteWork) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/complete", in)
}

// CompleteTasks ends several tasks you claimed in one transaction; each has its own outcome.
func (c *AgentCoordinationClient) CompleteTasks(ctx context.Context, in CompleteTasks) (CompletedTasks, error) {
	return call[CompletedTasks](ctx, c, "POST", "/work/complete/batch", in)
}

// UpdateWork renews the lease of a claimed task, reports its progress, or gives it back.
func (c *AgentCoordinationClient) UpdateWork(ctx context.Context, in UpdateWork) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/update", in)
}

// HeartbeatWork renews the lease of a task you claimed, for as long as it was claimed or for lease_seconds.
func (c *AgentCoordinationClient) HeartbeatWork(ctx context.Context, in HeartbeatWork) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/heartbeat", in)
}

// ProgressWork shows others how far a task you claimed is, and renews its lease.
func (c *AgentCoordinationClient) ProgressWork(ctx context.Context, in ProgressWork) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/progress", in)
}

// RenewWork renews the lease of every task the session holds, each for as long as it was claimed.
func (c *AgentCoordinationClient) RenewWork(ctx context.Context, in None) (RenewedWork, error) {
	return call[RenewedWork](ctx, c, "POST", "/work/renew", in)
}

// ReleaseWork gives a task you claimed back to the queue at once.
func (c *AgentCoordinationClient) ReleaseWork(ctx context.Context, in ReleaseWork) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/release", in)
}

// SubmitWork puts a task into the queue.
func (c *AgentCoordinationClient) SubmitWork(ctx context.Context, in SubmitWork) (SubmittedWork, error) {
	return call[SubmittedWork](ctx, c, "POST", "/work/submit", in)
}

// SubmitTasks puts many tasks into the queue, all or none.
func (c *AgentCoordinationClient) SubmitTasks(ctx context.Context, in SubmitTasks) (SubmittedTasks, error) {
	return call[SubmittedTasks](ctx, c, "POST", "/work/submit/batch", in)
}

// CancelWork cancels a task for good, with everything that depends on it.
func (c *AgentCoordinationClient) CancelWork(ctx context.Context, in CancelWork) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/cancel", in)
}

// RetryWork puts a failed or dead task back into the queue, its attempts counted anew.
func (c *AgentCoordinationClient) RetryWork(ctx context.Context, in TaskRef) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/retry", in)
}

// PrioritiseWork gives a task another priority.
func (c *AgentCoordinationClient) PrioritiseWork(ctx context.Context, in PrioritiseWork) (TaskChange, error) {
	return call[TaskChange](ctx, c, "POST", "/work/prioritise", in)
}

// GetTask reads one task with its result, whoever has it, and why it is not ready if it is not.
func (c *AgentCoordinationClient) GetTask(ctx context.Context, in TaskRef) (TaskReply, error) {
	return call[TaskReply](ctx, c, "POST", "/work/get", in)
}

// ListWork returns tasks, newest first, filtered by state, type, tag, label, claimant or submitter.
func (c *AgentCoordinationClient) ListWork(ctx context.Context, in ListWork) (Tasks, error) {
	return call[Tasks](ctx, c, "GET", "/work", in)
}

// ReadyWork returns what can be claimed now, in the order it will be: priority, then age.
func (c *AgentCoordinationClient) ReadyWork(ctx context.Context, in ReadyWork) (Tasks, error) {
	return call[Tasks](ctx, c, "GET", "/work/ready", in)
}

// BlockedWork returns what waits for dependencies, oldest first, each with the reason.
func (c *AgentCoordinationClient) BlockedWork(ctx context.Context, in BlockedWork) (Tasks, error) {
	return call[Tasks](ctx, c, "GET", "/work/blocked", in)
}

// WhyNotReady says what a task waits for: dependencies, a time, its claimant, or an agent that meets its demands.
func (c *AgentCoordinationClient) WhyNotReady(ctx context.Context, in TaskRef) (WhyNotReady, error) {
	return call[WhyNotReady](ctx, c, "GET", "/work/why/:task_id", in)
}

// WorkStats returns how many tasks are ready (by type and demands), blocked, scheduled and in work, and how the
// latest ended.
func (c *AgentCoordinationClient) WorkStats(ctx context.Context, in None) (WorkStats, error) {
	return call[WorkStats](ctx, c, "GET", "/work/stats", in)
}

// Whoami says what the service makes of this call: principal, scopes, project, agent and session.
func (c *AgentCoordinationClient) Whoami(ctx context.Context, in None) (WhoAmI, error) {
	return call[WhoAmI](ctx, c, "GET", "/whoami", in)
}

// RegisterSession describes the session of the calling agent: capabilities, current task, metadata.
func (c *AgentCoordinationClient) RegisterSession(ctx context.Context, in RegisterSession) (Session, error) {
	return call[Session](ctx, c, "POST", "/discovery/register", in)
}

// Heartbeat sends a sign of life; the first one starts the session's lapse clock.
func (c *AgentCoordinationClient) Heartbeat(ctx context.Context, in Heartbeat) (Session, error) {
	return call[Session](ctx, c, "POST", "/discovery/heartbeat", in)
}

// EndSession ends the calling session: its locks are freed and its tasks requeued, at once.
func (c *AgentCoordinationClient) EndSession(ctx context.Context, in EndSession) (EndedSession, error) {
	return call[EndedSession](ctx, c, "POST", "/discovery/end", in)
}

// WhoIsActive returns who works in this project now, on what, holding how many locks and tasks.
func (c *AgentCoordinationClient) WhoIsActive(ctx context.Context, in WhoIsActive) (Agents, error) {
	return call[Agents](ctx, c, "GET", "/discovery/active", in)
}

// DiscoverAgents returns every session of the project, closed ones too, open ones first.
func (c *AgentCoordinationClient) DiscoverAgents(ctx context.Context, in DiscoverAgents) (Agents, error) {
	return call[Agents](ctx, c, "GET", "/discovery/agents", in)
}

// CleanupAgents lapses sessions of the project whose last heartbeat is older than the threshold: frees their locks,
// requeues their tasks.
func (c *AgentCoordinationClient) CleanupAgents(ctx context.Context, in CleanupAgents) (CleanedAgents, error) {
	return call[CleanedAgents](ctx, c, "POST", "/discovery/cleanup", in)
}

// SendMessage sends a message to agents by name, or to everybody active with "*".
func (c *AgentCoordinationClient) SendMessage(ctx context.Context, in SendMessage) (SentMessage, error) {
	return call[SentMessage](ctx, c, "POST", "/messages", in)
}

// ListMessages returns the caller's mailbox: unread messages (which it marks read), all, or what it sent.
func (c *AgentCoordinationClient) ListMessages(ctx context.Context, in ListMessages) (Messages, error) {
	return call[Messages](ctx, c, "GET", "/messages", in)
}

// AckMessage acknowledges messages; who asked for it is told.
func (c *AgentCoordinationClient) AckMessage(ctx context.Context, in AckMessage) (AckedMessages, error) {
	return call[AckedMessages](ctx, c, "POST", "/messages/ack", in)
}

// Handoff writes or reads handoffs, as in.Action says.
func (c *AgentCoordinationClient) Handoff(ctx context.Context, in Handoff) (HandoffReply, error) {
	return call[HandoffReply](ctx, c, "POST", "/handoffs", in)
}

// WriteHandoff leaves a structured summary for the next session.
func (c *AgentCoordinationClient) WriteHandoff(ctx context.Context, in WriteHandoff) (WrittenHandoff, error) {
	return call[WrittenHandoff](ctx, c, "POST", "/handoffs/write", in)
}

// ReadHandoff returns the newest handoffs, of one agent or of anybody.
func (c *AgentCoordinationClient) ReadHandoff(ctx context.Context, in ReadHandoff) (Handoffs, error) {
	return call[Handoffs](ctx, c, "POST", "/handoffs/read", in)
}

// QueryAudit returns executed changes and refused calls of the project, newest first: who, what, when, with which
// result.
func (c *AgentCoordinationClient) QueryAudit(ctx context.Context, in QueryAudit) (AuditEntries, error) {
	return call[AuditEntries](ctx, c, "GET", "/audit", in)
}

// PurgeAudit removes rows of the audit trail older than so many days (at least 30) and records that it did.
func (c *AgentCoordinationClient) PurgeAudit(ctx context.Context, in PurgeAudit) (PurgedAudit, error) {
	return call[PurgedAudit](ctx, c, "POST", "/audit/purge", in)
}

// CreateKey makes an API key and returns its secret, this once. A repeat is a conflict, whatever the request key.
func (c *AgentCoordinationClient) CreateKey(ctx context.Context, in CreateKey) (CreatedKey, error) {
	return call[CreatedKey](ctx, c, "POST", "/keys", in)
}

// ListKeys returns API keys with their scopes, bindings and last use; never a secret.
func (c *AgentCoordinationClient) ListKeys(ctx context.Context, in ListKeys) (Keys, error) {
	return call[Keys](ctx, c, "GET", "/keys", in)
}

// RotateKey gives an API key a new secret and returns it, this once; the old one stays good for the grace. A try that
// fails without an answer may have rotated it: rotate again, the secret that nobody saw ends with its grace.
func (c *AgentCoordinationClient) RotateKey(ctx context.Context, in RotateKey) (RotatedKey, error) {
	return call[RotatedKey](ctx, c, "POST", "/keys/rotate", in)
}

// LimitKey sets an API key's own limits of requests and streams.
func (c *AgentCoordinationClient) LimitKey(ctx context.Context, in LimitKey) (LimitedKey, error) {
	return call[LimitedKey](ctx, c, "POST", "/keys/limit", in)
}

// RevokeKey ends an API key: at once in this server, within ten seconds in others.
func (c *AgentCoordinationClient) RevokeKey(ctx context.Context, in RevokeKey) (RevokedKey, error) {
	return call[RevokedKey](ctx, c, "DELETE", "/keys/:name", in)
}

// CreatePerson registers a person, or gives a known one other roles.
func (c *AgentCoordinationClient) CreatePerson(ctx context.Context, in CreatePerson) (CreatedPerson, error) {
	return call[CreatedPerson](ctx, c, "POST", "/persons", in)
}

// ListPersons returns persons, their roles and how many keys stand for them.
func (c *AgentCoordinationClient) ListPersons(ctx context.Context, in None) (Persons, error) {
	return call[Persons](ctx, c, "GET", "/persons", in)
}

// ListProjects returns the projects this key is good for, with their repositories.
func (c *AgentCoordinationClient) ListProjects(ctx context.Context, in None) (Projects, error) {
	return call[Projects](ctx, c, "GET", "/projects", in)
}

// GetProject returns one project with its repositories; the caller's when none is named.
func (c *AgentCoordinationClient) GetProject(ctx context.Context, in GetProject) (Project, error) {
	return call[Project](ctx, c, "GET", "/project", in)
}

// ResolveRepository maps what a checkout knows about itself (remote, root commit, name) to its project and
// repository, and creates both on first sight.
func (c *AgentCoordinationClient) ResolveRepository(ctx context.Context, in ResolveRepository) (ResolvedRepository, error) {
	return call[ResolvedRepository](ctx, c, "POST", "/projects/resolve", in)
}

// IsFileLocked reports whether somebody holds a lock that overlaps path. An error means: cannot tell.
func (c *AgentCoordinationClient) IsFileLocked(ctx context.Context, path string) (bool, error) {
	state, err := c.LockStatus(ctx, LockStatus{FilePath: path})
	return state.Locked, err
}

// Remember stores an experience for every agent of the project; the same again within an hour is merged.
func (c *AgentCoordinationClient) Remember(ctx context.Context, in Remember) (Remembered, error) {
	return call[Remembered](ctx, c, "POST", "/memory/store", in)
}

// Recall finds what agents remembered, and skills, by relevance.
func (c *AgentCoordinationClient) Recall(ctx context.Context, in Recall) (Recalled, error) {
	return call[Recalled](ctx, c, "POST", "/memory/query", in)
}

// WorkingUpdate adds an item to what the session has in mind; older ones are shortened to the budget.
func (c *AgentCoordinationClient) WorkingUpdate(ctx context.Context, in WorkingUpdate) (WorkingUpdated, error) {
	return call[WorkingUpdated](ctx, c, "POST", "/memory/working/update", in)
}

// WorkingGet returns what the session has in mind, oldest first.
func (c *AgentCoordinationClient) WorkingGet(ctx context.Context, in GetWorking) (Working, error) {
	return call[Working](ctx, c, "GET", "/memory/working", in)
}

// SkillStore keeps how something is done; the same name again changes it.
func (c *AgentCoordinationClient) SkillStore(ctx context.Context, in StoreSkill) (StoredSkill, error) {
	return call[StoredSkill](ctx, c, "POST", "/memory/procedural/store", in)
}

// SkillUse counts whether a skill worked.
func (c *AgentCoordinationClient) SkillUse(ctx context.Context, in RecordSkillUse) (UsedSkill, error) {
	return call[UsedSkill](ctx, c, "POST", "/memory/procedural/record-use", in)
}

// ListSkills returns the skills of the project, those that work best first.
func (c *AgentCoordinationClient) ListSkills(ctx context.Context, in ListSkills) (Skills, error) {
	return call[Skills](ctx, c, "GET", "/memory/procedural", in)
}

// ReportDigests tells what files are like now; memories bound to another content become stale.
func (c *AgentCoordinationClient) ReportDigests(ctx context.Context, in ReportDigests) (ReportedDigests, error) {
	return call[ReportedDigests](ctx, c, "POST", "/memory/digests", in)
}

// MemoryGet returns one memory or skill.
func (c *AgentCoordinationClient) MemoryGet(ctx context.Context, in GetMemory) (Memory, error) {
	return call[Memory](ctx, c, "GET", "/memory/item/:memory_id", in)
}

// MemoryForget deletes memories for good.
func (c *AgentCoordinationClient) MemoryForget(ctx context.Context, in ForgetMemory) (ForgottenMemory, error) {
	return call[ForgottenMemory](ctx, c, "POST", "/memory/forget", in)
}

// MemoryExport returns a page of memories as text.
func (c *AgentCoordinationClient) MemoryExport(ctx context.Context, in ExportMemory) (ExportedMemory, error) {
	return call[ExportedMemory](ctx, c, "GET", "/memory/export", in)
}

// MemoryImport takes in what MemoryExport wrote as JSON lines.
func (c *AgentCoordinationClient) MemoryImport(ctx context.Context, in ImportMemory) (ImportedMemory, error) {
	return call[ImportedMemory](ctx, c, "POST", "/memory/import", in)
}

// MemoryRetention shows, and sets, how long each layer is kept.
func (c *AgentCoordinationClient) MemoryRetention(ctx context.Context, in MemoryRetention) (MemoryPolicies, error) {
	return call[MemoryPolicies](ctx, c, "POST", "/memory/retention", in)
}
