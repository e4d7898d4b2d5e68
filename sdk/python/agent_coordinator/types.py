# Written by internal/sdkgen from openapi.json; do not edit.
"""The structs of the wire as typed dictionaries."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict


class AckMessage(TypedDict):
    message_ids: Optional[List[str]]
    """ids of list_messages or of a notice (at most 200 items)"""


class AckedMessages(TypedDict):
    acknowledged: Optional[List[str]]
    """acknowledged by this call; the others were before"""
    success: bool
    """false when none of the ids is in the mailbox"""
    unknown: Optional[List[str]]
    """ids that are not in the mailbox"""


class AcquireLock(TypedDict, total=False):
    branch: str
    """the lock counts on this branch only; left out: on every branch (at most 255 characters)"""
    file_path: str
    """file, dir/, glob, or key such as api:users (at most 1024 characters)"""
    file_paths: Optional[List[str]]
    """several: all or none (at most 200 items)"""
    mode: Literal["exclusive", "shared"]
    """shared: several sessions may hold it, none exclusively (one of exclusive, shared; default exclusive)"""
    reason: str
    """shown to others (at most 500 characters)"""
    ttl_minutes: int
    """kept so long unless renewed (1 to 480; default 30)"""
    wait_seconds: float
    """queue so long when held (0 to 55; default 0)"""


class _ActsActsRequired(TypedDict):
    act_id: str
    created_at: str
    expires_at: str
    kind: Literal["command", "work", "force_release", "policies", "guardrails", "safeguards"]
    """command: of a tool call, which may be made once when it is approved; the others: the operation is done
    with the approval (one of command, work, force_release, policies, guardrails, safeguards)
    """
    operation: str
    """what is done when it is approved"""
    requested_by: str
    status: Literal["pending", "approved", "denied", "used", "expired"]
    """approved: a command that was let through and has not run yet; used: done (one of pending, approved,
    denied, used, expired)
    """
    title: str
    """one line: what and on what"""


class ActsActs(_ActsActsRequired, total=False):
    agent_id: str
    arguments: Dict[str, Any]
    comment: str
    decided_at: str
    decided_by: str
    session_id: str
    why: str
    """why it is asked, and the reason given"""


class Acts(TypedDict):
    acts: Optional[List[ActsActs]]
    truncated: bool


class _AgentBlueprintDemandsRequired(TypedDict):
    tags: Optional[List[str]]


class AgentBlueprintDemands(_AgentBlueprintDemandsRequired, total=False):
    executor_profile: str
    hostname: str
    project_dir: str


class AgentBlueprintMcp_servers(TypedDict, total=False):
    args: Optional[List[str]]
    """at most 200 items"""
    command: str
    """at most 4096 characters"""
    env: Dict[str, str]
    headers: Dict[str, str]
    type: Literal["stdio", "http"]
    """one of stdio, http; default stdio"""
    url: str
    """at most 4096 characters"""


class _AgentBlueprintRequired(TypedDict):
    capabilities: Optional[List[str]]
    created_at: str
    description: str
    modified_at: str
    name: str
    status: Literal["active", "inactive"]
    """one of active, inactive"""
    tags: Optional[List[str]]


class AgentBlueprint(_AgentBlueprintRequired, total=False):
    demands: AgentBlueprintDemands
    mcp_servers: Dict[str, AgentBlueprintMcp_servers]
    skills: Optional[List[str]]
    system_prompt: str


class _AgentBlueprintsDemandsRequired(TypedDict):
    tags: Optional[List[str]]


class AgentBlueprintsDemands(_AgentBlueprintsDemandsRequired, total=False):
    executor_profile: str
    hostname: str
    project_dir: str


class AgentBlueprintsMcp_servers(TypedDict, total=False):
    args: Optional[List[str]]
    """at most 200 items"""
    command: str
    """at most 4096 characters"""
    env: Dict[str, str]
    headers: Dict[str, str]
    type: Literal["stdio", "http"]
    """one of stdio, http; default stdio"""
    url: str
    """at most 4096 characters"""


class _AgentBlueprintsRequired(TypedDict):
    capabilities: Optional[List[str]]
    created_at: str
    description: str
    modified_at: str
    name: str
    status: Literal["active", "inactive"]
    """one of active, inactive"""
    tags: Optional[List[str]]


class AgentBlueprints(_AgentBlueprintsRequired, total=False):
    demands: AgentBlueprintsDemands
    mcp_servers: Dict[str, AgentBlueprintsMcp_servers]
    skills: Optional[List[str]]
    system_prompt: str

AgentBlueprints = Optional[List[AgentBlueprints]]


class _AgentTrustRequired(TypedDict):
    agent_id: str
    alpha: float
    """1 and what passed at the first attempt, by size, halved every 30 days"""
    beta: float
    """1 and what failed, likewise"""
    ceiling: int
    """most that evidence may raise the level to; a person sets it"""
    evidence: float
    """changes since the level moved last: 20 to rise, 10 to sink"""
    level: int
    """0 (a person looks at everything) to 4"""
    pass_rate_bound: float
    """the true rate of passing exceeds it with 95 %"""
    repository: str
    """empty: what was set for all, and where new repositories begin"""


class AgentTrust(_AgentTrustRequired, total=False):
    frozen_until: str
    """no rise before, since a waived check failed"""
    set_by: str
    updated_at: str


class _AgentsAgentsRequired(TypedDict):
    agent_id: str
    agent_type: str
    capabilities: Optional[List[str]]
    last_seen: str
    """last call or heartbeat, RFC 3339 UTC"""
    locks_held: int
    session_id: str
    started_at: str
    status: Literal["active", "idle", "disconnected"]
    """one of active, idle, disconnected"""
    tasks_held: int


class AgentsAgents(_AgentsAgentsRequired, total=False):
    current_task: str
    delegated_from: str
    ended_at: str
    held_by: str
    hold: Literal["pause", "drain", "budget"]
    """one of pause, drain, budget"""
    hold_reason: str
    last_heartbeat: str
    """absent: it never sent one and so cannot lapse"""
    locks_expired: int
    """locks this agent ever let expire instead of releasing them"""


class _AgentsRequired(TypedDict):
    agents: Optional[List[AgentsAgents]]
    count: int
    truncated: bool


class Agents(_AgentsRequired, total=False):
    hint: str


class _ApprovalVotesRequired(TypedDict):
    at: str
    head_sha: str
    source: Literal["github_review", "github_comment", "api"]
    """one of github_review, github_comment, api"""
    vote: Literal["approve", "deny"]
    """one of approve, deny"""
    voter: str


class ApprovalVotes(_ApprovalVotesRequired, total=False):
    comment: str
    role: str


class _ApprovalRequired(TypedDict):
    approval_id: str
    branch: str
    changeset_id: str
    head_sha: str
    policy: str
    pr_number: Optional[int]
    reason: str
    repository: str
    required_count: int
    roles: Optional[List[str]]
    status: Literal["waiting", "pending", "approved", "denied", "expired", "voided"]
    """waiting: the static checks come first (one of waiting, pending, approved, denied, expired, voided)"""
    teams: Optional[List[str]]
    title: str
    users: Optional[List[str]]
    votes: Optional[List[ApprovalVotes]]


class Approval(_ApprovalRequired, total=False):
    changeset_state: str
    """after the vote"""
    decided_at: str
    decided_by: str
    expires_at: str
    opened_at: str
    requested_by: str


class _ApprovalListApprovalsVotesRequired(TypedDict):
    at: str
    head_sha: str
    source: Literal["github_review", "github_comment", "api"]
    """one of github_review, github_comment, api"""
    vote: Literal["approve", "deny"]
    """one of approve, deny"""
    voter: str


class ApprovalListApprovalsVotes(_ApprovalListApprovalsVotesRequired, total=False):
    comment: str
    role: str


class _ApprovalListApprovalsRequired(TypedDict):
    approval_id: str
    branch: str
    changeset_id: str
    head_sha: str
    policy: str
    pr_number: Optional[int]
    reason: str
    repository: str
    required_count: int
    roles: Optional[List[str]]
    status: Literal["waiting", "pending", "approved", "denied", "expired", "voided"]
    """waiting: the static checks come first (one of waiting, pending, approved, denied, expired, voided)"""
    teams: Optional[List[str]]
    title: str
    users: Optional[List[str]]
    votes: Optional[List[ApprovalListApprovalsVotes]]


class ApprovalListApprovals(_ApprovalListApprovalsRequired, total=False):
    changeset_state: str
    """after the vote"""
    decided_at: str
    decided_by: str
    expires_at: str
    opened_at: str
    requested_by: str


class _ApprovalListRequired(TypedDict):
    approvals: Optional[List[ApprovalListApprovals]]


class ApprovalList(_ApprovalListRequired, total=False):
    truncated: bool
    """there are more"""


class _AuditEntriesEntriesRequired(TypedDict):
    created_at: str
    id: str
    object_ids: Optional[List[str]]
    operation: str
    success: bool


class AuditEntriesEntries(_AuditEntriesEntriesRequired, total=False):
    agent_id: str
    agent_type: str
    duration_ms: float
    """milliseconds in the database"""
    parameters: Any
    principal: str
    reason: str
    result: Any
    session_id: str


class _AuditEntriesRequired(TypedDict):
    count: int
    entries: Optional[List[AuditEntriesEntries]]
    truncated: bool


class AuditEntries(_AuditEntriesRequired, total=False):
    hint: str


class _BindSessionRequired(TypedDict):
    executor_profile: str
    """at most 200 characters"""
    executor_session_id: str
    """at most 500 characters"""
    hostname: str
    """at most 255 characters"""
    session_id: str
    """at most 200 characters"""


class BindSession(_BindSessionRequired, total=False):
    project_dir: str
    """at most 4096 characters"""


class BriefHandoff(TypedDict):
    """newest handoff that concerns this agent"""

    agent_name: str
    created_at: str
    next_steps: Optional[List[str]]
    summary: str


class _BriefLessonsRequired(TypedDict):
    text: str


class BriefLessons(_BriefLessonsRequired, total=False):
    memory_id: str
    stale: bool
    """its file changed since"""

_BriefMessagesRequired = TypedDict(
    "_BriefMessagesRequired",
    {
        "from": "str",
        "kind": "str",
        "message_id": "str",
        "text": "str",
        "ack_required": "bool",
        "more": "bool",
    },
    total=False,
)
BriefMessages = _BriefMessagesRequired


class _BriefMy_locksRequired(TypedDict):
    expires_at: str
    file_path: str


class BriefMy_locks(_BriefMy_locksRequired, total=False):
    locked_by: str
    reason: str


class _BriefMy_tasksRequired(TypedDict):
    description: str
    task_id: str
    task_type: str


class BriefMy_tasks(_BriefMy_tasksRequired, total=False):
    lease_until: str
    priority: int


class _BriefOthers_locksRequired(TypedDict):
    expires_at: str
    file_path: str


class BriefOthers_locks(_BriefOthers_locksRequired, total=False):
    locked_by: str
    reason: str


class _BriefReadyRequired(TypedDict):
    description: str
    task_id: str
    task_type: str


class BriefReady(_BriefReadyRequired, total=False):
    lease_until: str
    priority: int


class _BriefRequired(TypedDict):
    agent_id: str
    messages: Optional[List[BriefMessages]]
    my_locks: Optional[List[BriefMy_locks]]
    my_locks_total: int
    my_tasks: Optional[List[BriefMy_tasks]]
    others_active: int
    """other sessions heard within 15 minutes"""
    others_locks: Optional[List[BriefOthers_locks]]
    others_locks_total: int
    project: str
    ready: Optional[List[BriefReady]]
    """first tasks this session may claim"""
    ready_total: int
    """at most 100 are counted"""
    session_id: str
    unread: int


class Brief(_BriefRequired, total=False):
    handoff: BriefHandoff
    """newest handoff that concerns this agent"""
    hold: str
    """why you are kept from new work, and what to do"""
    lessons: Optional[List[BriefLessons]]
    """what earlier agents learned about the files and tasks at hand"""
    shortened: bool
    """lists were cut to fit; the totals are right"""


class _BudgetRequired(TypedDict):
    action: Literal["warn", "stop"]
    """one of warn, stop"""
    name: str
    percent: float
    """of the limit that is nearer"""
    period: Literal["day", "month", "total"]
    """one of day, month, total"""
    set_by: str
    spent_tokens: int
    spent_usd: float
    state: Literal["ok", "warned", "exceeded", "stopped"]
    """exceeded: over the limit, and action is warn (one of ok, warned, exceeded, stopped)"""
    warn_percent: int


class Budget(_BudgetRequired, total=False):
    agent: str
    limit_tokens: int
    limit_usd: float
    period_end: str
    period_start: str
    state_since: str
    uncosted: int
    """reports of this period without a cost: a limit in USD does not see them"""


class _BudgetsBudgetsRequired(TypedDict):
    action: Literal["warn", "stop"]
    """one of warn, stop"""
    name: str
    percent: float
    """of the limit that is nearer"""
    period: Literal["day", "month", "total"]
    """one of day, month, total"""
    set_by: str
    spent_tokens: int
    spent_usd: float
    state: Literal["ok", "warned", "exceeded", "stopped"]
    """exceeded: over the limit, and action is warn (one of ok, warned, exceeded, stopped)"""
    warn_percent: int


class BudgetsBudgets(_BudgetsBudgetsRequired, total=False):
    agent: str
    limit_tokens: int
    limit_usd: float
    period_end: str
    period_start: str
    state_since: str
    uncosted: int
    """reports of this period without a cost: a limit in USD does not see them"""


class Budgets(TypedDict):
    budgets: Optional[List[BudgetsBudgets]]


class _CancelChangesetRequired(TypedDict):
    changeset_id: str
    """uuid"""


class CancelChangeset(_CancelChangesetRequired, total=False):
    reason: str
    """at most 500 characters"""


class _CancelWorkRequired(TypedDict):
    task_id: str
    """uuid"""


class CancelWork(_CancelWorkRequired, total=False):
    reason: str
    """at most 2000 characters"""


class Capabilities(TypedDict):
    created_at: str
    description: str
    has_mcp: bool
    has_text: bool
    mcp_server_names: Optional[List[str]]
    modified_at: str
    name: str

Capabilities = Optional[List[Capabilities]]


class CapabilityMcp_servers(TypedDict, total=False):
    args: Optional[List[str]]
    """at most 200 items"""
    command: str
    """at most 4096 characters"""
    env: Dict[str, str]
    headers: Dict[str, str]
    type: Literal["stdio", "http"]
    """one of stdio, http; default stdio"""
    url: str
    """at most 4096 characters"""


class _CapabilityRequired(TypedDict):
    created_at: str
    description: str
    modified_at: str
    name: str


class Capability(_CapabilityRequired, total=False):
    mcp_servers: Dict[str, CapabilityMcp_servers]
    text: str


class _ChangesetLock_violationsRequired(TypedDict):
    holder: str
    """agent that held the lock (at most 200 characters)"""
    path: str
    """at most 4096 characters"""


class ChangesetLock_violations(_ChangesetLock_violationsRequired, total=False):
    reason: str
    """what the holder said it was for (at most 2000 characters)"""


class _ChangesetOverrideRequired(TypedDict):
    at: str
    by: str
    head_sha: str
    """what it is for; another commit is verified anew"""
    reason: str
    verdict: str


class ChangesetOverride(_ChangesetOverrideRequired, total=False):
    """a person set the verdict"""

    before: str
    """the state it replaced"""


class _ChangesetRequired(TypedDict):
    additions: int
    branch: str
    changeset_id: str
    created_at: str
    deletions: int
    file_count: int
    head_sha: str
    provenance: str
    """where the list of files comes from: api, git, or agent_claimed (nothing else was to be had)"""
    repository: str
    route_version: int
    """how often it was routed"""
    source: Literal["github", "agent", "merge_group"]
    """one of github, agent, merge_group"""
    state: Literal["received", "routing", "verifying", "awaiting_approval", "passed", "failed", "error", "superseded", "cancelled"]
    """one of received, routing, verifying, awaiting_approval, passed, failed, error, superseded, cancelled"""


class Changeset(_ChangesetRequired, total=False):
    actor: str
    """who pushed or opened it, as the source says"""
    agent_id: str
    agent_type: str
    base_ref: str
    base_sha: str
    blocked_since: str
    """since when a required run can run nowhere"""
    decided_at: str
    draft: bool
    """only its static checks run until it is ready for review"""
    files_truncated: bool
    """the list of files is not whole, so every tier is asked"""
    fork: bool
    lock_violations: Optional[List[ChangesetLock_violations]]
    override: ChangesetOverride
    """a person set the verdict"""
    pr_number: int
    prior_failures: int
    """failures in a row before it"""
    reason: str
    """why the verdict, or what it waits for"""
    routed_at: str
    session_id: str
    superseded_by: str
    task_id: str
    tiers: Optional[List[int]]
    """tiers it needs"""
    title: str
    trust_level: int
    """of its author when it was routed"""
    verdict: str
    """passed, failed or error once it is decided"""


class _ChangesetDetailApprovalsVotesRequired(TypedDict):
    at: str
    head_sha: str
    source: Literal["github_review", "github_comment", "api"]
    """one of github_review, github_comment, api"""
    vote: Literal["approve", "deny"]
    """one of approve, deny"""
    voter: str


class ChangesetDetailApprovalsVotes(_ChangesetDetailApprovalsVotesRequired, total=False):
    comment: str
    role: str


class _ChangesetDetailApprovalsRequired(TypedDict):
    approval_id: str
    branch: str
    changeset_id: str
    head_sha: str
    policy: str
    pr_number: Optional[int]
    reason: str
    repository: str
    required_count: int
    roles: Optional[List[str]]
    status: Literal["waiting", "pending", "approved", "denied", "expired", "voided"]
    """waiting: the static checks come first (one of waiting, pending, approved, denied, expired, voided)"""
    teams: Optional[List[str]]
    title: str
    users: Optional[List[str]]
    votes: Optional[List[ChangesetDetailApprovalsVotes]]


class ChangesetDetailApprovals(_ChangesetDetailApprovalsRequired, total=False):
    changeset_state: str
    """after the vote"""
    decided_at: str
    decided_by: str
    expires_at: str
    opened_at: str
    requested_by: str


class _ChangesetDetailFilesRequired(TypedDict):
    path: str
    """at most 4096 characters"""


class ChangesetDetailFiles(_ChangesetDetailFilesRequired, total=False):
    additions: int
    """lines (0 to 1e+08)"""
    deletions: int
    """lines (0 to 1e+08)"""
    mode: str
    """git's octal mode, such as 100644, 120000 (symlink), 160000 (submodule) (at most 6 characters)"""
    previous_path: str
    """of a rename or copy (at most 4096 characters)"""
    status: Literal["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"]
    """one of added, removed, modified, renamed, copied, changed, unchanged; default modified"""


class _ChangesetDetailLock_violationsRequired(TypedDict):
    holder: str
    """agent that held the lock (at most 200 characters)"""
    path: str
    """at most 4096 characters"""


class ChangesetDetailLock_violations(_ChangesetDetailLock_violationsRequired, total=False):
    reason: str
    """what the holder said it was for (at most 2000 characters)"""


class _ChangesetDetailOverrideRequired(TypedDict):
    at: str
    by: str
    head_sha: str
    """what it is for; another commit is verified anew"""
    reason: str
    verdict: str


class ChangesetDetailOverride(_ChangesetDetailOverrideRequired, total=False):
    """a person set the verdict"""

    before: str
    """the state it replaced"""


class _ChangesetDetailPlanRequired(TypedDict):
    policy: str
    required: bool
    tier: int


class ChangesetDetailPlan(_ChangesetDetailPlanRequired, total=False):
    blocked: str
    """why nothing can run it"""
    executor: str


class _ChangesetDetailReasonsRequired(TypedDict):
    code: str
    """such as matched, size, trust, failures, fork, truncated, waived, lock_violation, draft"""
    text: str
    tier: int


class ChangesetDetailReasons(_ChangesetDetailReasonsRequired, total=False):
    path: str
    """an example of what matched"""
    policy: str


class _ChangesetDetailRunsFindingsRequired(TypedDict):
    level: str
    """none, note, warning or error"""
    line: int
    """from 1; 0: the whole file"""
    message: str
    path: str
    rule: str
    tool: str


class ChangesetDetailRunsFindings(_ChangesetDetailRunsFindingsRequired, total=False):
    end_line: int
    fingerprint: str


class _ChangesetDetailRunsRequired(TypedDict):
    attempt: int
    head_sha: str
    """what was verified"""
    policy: str
    required: bool
    run_id: str
    status: Literal["pending", "queued", "dispatching", "running", "completed"]
    """one of pending, queued, dispatching, running, completed"""
    success: bool
    tier: int


class ChangesetDetailRuns(_ChangesetDetailRunsRequired, total=False):
    completed_at: str
    conclusion: str
    """success, failure, timed_out, cancelled, infra_error or blocked"""
    deadline: str
    duration_seconds: float
    executor: str
    """absent: nothing can run it"""
    exit_code: int
    external_id: str
    findings: Optional[List[ChangesetDetailRunsFindings]]
    findings_total: int
    flaky: bool
    """it passed after the same commit had failed"""
    output: str
    """the end of it"""
    queued_at: str
    reason: str
    started_at: str
    url: str


class ChangesetDetailTimeline(TypedDict):
    at: str
    kind: str
    text: str


class _ChangesetDetailWaivedRequired(TypedDict):
    policy: str
    required: bool
    tier: int


class ChangesetDetailWaived(_ChangesetDetailWaivedRequired, total=False):
    blocked: str
    """why nothing can run it"""
    executor: str


class _ChangesetDetailRequired(TypedDict):
    additions: int
    approvals: Optional[List[ChangesetDetailApprovals]]
    branch: str
    changeset_id: str
    created_at: str
    deletions: int
    file_count: int
    files: Optional[List[ChangesetDetailFiles]]
    """at most 500"""
    head_sha: str
    plan: Optional[List[ChangesetDetailPlan]]
    provenance: str
    """where the list of files comes from: api, git, or agent_claimed (nothing else was to be had)"""
    reasons: Optional[List[ChangesetDetailReasons]]
    """why these tiers"""
    repository: str
    route_version: int
    """how often it was routed"""
    runs: Optional[List[ChangesetDetailRuns]]
    """every attempt"""
    source: Literal["github", "agent", "merge_group"]
    """one of github, agent, merge_group"""
    state: Literal["received", "routing", "verifying", "awaiting_approval", "passed", "failed", "error", "superseded", "cancelled"]
    """one of received, routing, verifying, awaiting_approval, passed, failed, error, superseded, cancelled"""
    timeline: Optional[List[ChangesetDetailTimeline]]
    """the latest 200 lines"""
    waived: Optional[List[ChangesetDetailWaived]]


class ChangesetDetail(_ChangesetDetailRequired, total=False):
    actor: str
    """who pushed or opened it, as the source says"""
    agent_id: str
    agent_type: str
    base_ref: str
    base_sha: str
    blocked_since: str
    """since when a required run can run nowhere"""
    decided_at: str
    draft: bool
    """only its static checks run until it is ready for review"""
    files_truncated: bool
    """the list of files is not whole, so every tier is asked"""
    fork: bool
    lock_violations: Optional[List[ChangesetDetailLock_violations]]
    override: ChangesetDetailOverride
    """a person set the verdict"""
    pr_number: int
    prior_failures: int
    """failures in a row before it"""
    reason: str
    """why the verdict, or what it waits for"""
    routed_at: str
    session_id: str
    superseded_by: str
    task_id: str
    tiers: Optional[List[int]]
    """tiers it needs"""
    title: str
    trust_level: int
    """of its author when it was routed"""
    verdict: str
    """passed, failed or error once it is decided"""


class _ChangesetsChangesetsLock_violationsRequired(TypedDict):
    holder: str
    """agent that held the lock (at most 200 characters)"""
    path: str
    """at most 4096 characters"""


class ChangesetsChangesetsLock_violations(_ChangesetsChangesetsLock_violationsRequired, total=False):
    reason: str
    """what the holder said it was for (at most 2000 characters)"""


class _ChangesetsChangesetsOverrideRequired(TypedDict):
    at: str
    by: str
    head_sha: str
    """what it is for; another commit is verified anew"""
    reason: str
    verdict: str


class ChangesetsChangesetsOverride(_ChangesetsChangesetsOverrideRequired, total=False):
    """a person set the verdict"""

    before: str
    """the state it replaced"""


class _ChangesetsChangesetsRequired(TypedDict):
    additions: int
    branch: str
    changeset_id: str
    created_at: str
    deletions: int
    file_count: int
    head_sha: str
    provenance: str
    """where the list of files comes from: api, git, or agent_claimed (nothing else was to be had)"""
    repository: str
    route_version: int
    """how often it was routed"""
    source: Literal["github", "agent", "merge_group"]
    """one of github, agent, merge_group"""
    state: Literal["received", "routing", "verifying", "awaiting_approval", "passed", "failed", "error", "superseded", "cancelled"]
    """one of received, routing, verifying, awaiting_approval, passed, failed, error, superseded, cancelled"""


class ChangesetsChangesets(_ChangesetsChangesetsRequired, total=False):
    actor: str
    """who pushed or opened it, as the source says"""
    agent_id: str
    agent_type: str
    base_ref: str
    base_sha: str
    blocked_since: str
    """since when a required run can run nowhere"""
    decided_at: str
    draft: bool
    """only its static checks run until it is ready for review"""
    files_truncated: bool
    """the list of files is not whole, so every tier is asked"""
    fork: bool
    lock_violations: Optional[List[ChangesetsChangesetsLock_violations]]
    override: ChangesetsChangesetsOverride
    """a person set the verdict"""
    pr_number: int
    prior_failures: int
    """failures in a row before it"""
    reason: str
    """why the verdict, or what it waits for"""
    routed_at: str
    session_id: str
    superseded_by: str
    task_id: str
    tiers: Optional[List[int]]
    """tiers it needs"""
    title: str
    trust_level: int
    """of its author when it was routed"""
    verdict: str
    """passed, failed or error once it is decided"""


class _ChangesetsRequired(TypedDict):
    changesets: Optional[List[ChangesetsChangesets]]


class Changesets(_ChangesetsRequired, total=False):
    truncated: bool
    """there are more: ask with before"""


class _CheckGuardrailRequired(TypedDict):
    command: str
    """at most 4000 characters"""
    rules: Optional[List[str]]
    """the rules that the command meets; the strictest counts (at most 20 items)"""


class CheckGuardrail(_CheckGuardrailRequired, total=False):
    asks: bool
    """the host can ask its person itself"""
    tool: str
    """at most 100 characters"""
    why: str
    """what it would destroy (at most 500 characters)"""


class CheckLocks(TypedDict, total=False):
    branch: str
    """only locks that count on this branch (at most 255 characters)"""
    file_path: str
    """one path instead of several (at most 1024 characters)"""
    file_paths: Optional[List[str]]
    """only locks that overlap these; left out: all (at most 200 items)"""
    limit: int
    """at most so many, oldest first (1 to 10000; default 200)"""
    locked_by: str
    """only locks of this agent (at most 200 characters)"""


class CleanedAgents(TypedDict):
    agents_cleaned: int
    dry_run: bool
    locks_released: int
    sessions: Optional[List[str]]
    success: bool
    tasks_requeued: int


class CleanupAgents(TypedDict, total=False):
    dry_run: bool
    """only name them"""
    idle_minutes: int
    """also sessions that never sent a heartbeat and were silent for so many minutes (1 to 525600)"""
    stale_threshold_minutes: int
    """minutes since the last heartbeat (1 to 525600; default 15)"""


class _CompleteTasksTasksRequired(TypedDict):
    success: bool
    """false: it failed"""
    task_id: str
    """uuid"""


class CompleteTasksTasks(_CompleteTasksTasksRequired, total=False):
    error_message: str
    """at most 20000 characters"""
    head_sha: str
    """your commit: completed once it passes verification"""
    lease_token: str
    """as claimed (at most 40 characters)"""
    remember: bool
    """keep what the result teaches (its lessons or summary, or the error) for others (default true)"""
    result: Dict[str, Any]
    retryable: bool
    """a failure another attempt may mend"""
    skill_id: str
    """skill you followed; its success is counted (uuid)"""


class CompleteTasks(TypedDict):
    tasks: Optional[List[CompleteTasksTasks]]
    """at most 500 items"""


class _CompleteWorkRequired(TypedDict):
    success: bool
    """false: it failed"""
    task_id: str
    """uuid"""


class CompleteWork(_CompleteWorkRequired, total=False):
    error_message: str
    """at most 20000 characters"""
    head_sha: str
    """your commit: completed once it passes verification"""
    lease_token: str
    """as claimed (at most 40 characters)"""
    remember: bool
    """keep what the result teaches (its lessons or summary, or the error) for others (default true)"""
    result: Dict[str, Any]
    retryable: bool
    """a failure another attempt may mend"""
    skill_id: str
    """skill you followed; its success is counted (uuid)"""


class _CompletedTasksResultsRequired(TypedDict):
    success: bool
    task_id: str


class CompletedTasksResults(_CompletedTasksResultsRequired, total=False):
    cancelled: int
    """how many tasks were cancelled, dependents included"""
    lease_expires_at: str
    memory_id: str
    """experience that was recorded"""
    memory_note: str
    """why none was"""
    reason: str
    """a word for why nothing was changed"""
    replayed: bool
    """this was done before; nothing was changed now"""
    retry_at: str
    """when a task that failed comes back"""
    status: str
    """the task's status now"""
    why: str
    """the same as a sentence"""


class CompletedTasks(TypedDict):
    results: Optional[List[CompletedTasksResults]]
    success: bool
    """every task was ended"""


class CreateAgentDemands(TypedDict, total=False):
    executor_profile: str
    """at most 200 characters"""
    hostname: str
    """at most 255 characters"""
    project_dir: str
    """at most 4096 characters"""
    tags: Optional[List[str]]
    """at most 50 items"""


class CreateAgentMcp_servers(TypedDict, total=False):
    args: Optional[List[str]]
    """at most 200 items"""
    command: str
    """at most 4096 characters"""
    env: Dict[str, str]
    headers: Dict[str, str]
    type: Literal["stdio", "http"]
    """one of stdio, http; default stdio"""
    url: str
    """at most 4096 characters"""


class _CreateAgentRequired(TypedDict):
    description: str
    """at most 20000 characters"""
    name: str
    """letters, digits, - and _; at most 60"""


class CreateAgent(_CreateAgentRequired, total=False):
    capabilities: Optional[List[str]]
    """at most 200 items"""
    demands: CreateAgentDemands
    mcp_servers: Dict[str, CreateAgentMcp_servers]
    skills: Optional[List[str]]
    """at most 200 items"""
    system_prompt: str
    tags: Optional[List[str]]
    """at most 200 items"""


class CreateCapabilityMcp_servers(TypedDict, total=False):
    args: Optional[List[str]]
    """at most 200 items"""
    command: str
    """at most 4096 characters"""
    env: Dict[str, str]
    headers: Dict[str, str]
    type: Literal["stdio", "http"]
    """one of stdio, http; default stdio"""
    url: str
    """at most 4096 characters"""


class _CreateCapabilityRequired(TypedDict):
    description: str
    """at most 20000 characters"""
    name: str
    """letters, digits, - and _; at most 60"""


class CreateCapability(_CreateCapabilityRequired, total=False):
    mcp_servers: Dict[str, CreateCapabilityMcp_servers]
    text: str


class _CreateKeyRequired(TypedDict):
    name: str
    """unique name of the key (at most 200 characters)"""


class CreateKey(_CreateKeyRequired, total=False):
    agent_id: str
    """bind it to this agent: acting as another is refused (at most 200 characters)"""
    agent_type: str
    """type of the bound agent (at most 200 characters)"""
    all_projects: bool
    """good for every project instead"""
    expires_in_days: int
    """default: never (1 to 3650)"""
    person: str
    """person behind the key; it may do no more than the person's roles (at most 200 characters)"""
    project: str
    """the one project it is good for; default: the caller's (at most 120 characters)"""
    rate_limit: int
    """its own limit of requests a second; default: the server's (1 to 100000)"""
    scopes: Optional[List[Literal["read", "write", "runner", "reviewer", "admin"]]]
    """what it may do; write implies read, admin everything. Default: read and write, or the person's roles (at
    most 5 items)
    """
    stream_limit: int
    """its own limit of waiting calls and open streams at a time; default: the server's (1 to 100000)"""


class _CreateOrchestratedSessionRequired(TypedDict):
    session_id: str
    """at most 200 characters"""


class CreateOrchestratedSession(_CreateOrchestratedSessionRequired, total=False):
    agent_name: str
    """at most 200 characters"""
    execution_mode: Literal["sync", "async_poll", "async_callback"]
    """one of sync, async_poll, async_callback"""
    parent_session_id: str
    """at most 200 characters"""
    project_dir: str
    """at most 4096 characters"""


class CreatePerson(TypedDict):
    name: str
    """short name without spaces, such as ana (at most 200 characters)"""
    roles: Optional[List[Literal["read", "write", "runner", "reviewer", "admin"]]]
    """the most that keys of this person may do (at most 5 items)"""


class CreatePolicyApprovals(TypedDict, total=False):
    """what is asked of people"""

    count: int
    """approvals needed; 0 reads as 1 (0 to 20)"""
    roles: Optional[List[str]]
    """any of these suffices (at most 20 items)"""
    teams: Optional[List[str]]
    """at most 100 items"""
    users: Optional[List[str]]
    """at most 100 items"""


class _CreatePolicyRequired(TypedDict):
    name: str
    """letters, digits, dot, dash and underscore (at most 100 characters)"""
    patterns: Optional[List[str]]
    """globs over paths, such as **/*.go; ** crosses directories (at most 500 items)"""
    tier: int
    """0 static, 1 unit, 2 integration, 3 system, 4 human (0 to 4)"""


class CreatePolicy(_CreatePolicyRequired, total=False):
    accept_conclusions: List[Literal["skipped", "neutral", "stale", "action_required"]]
    """GitHub conclusions that count as success beside success (at most 4 items)"""
    approvals: CreatePolicyApprovals
    """what is asked of people"""
    branch: str
    """glob over the branch; empty: every branch (at most 500 characters)"""
    command: str
    """for e2b and ntm: run by /bin/sh -c in the checkout (at most 20000 characters)"""
    default: bool
    """what a raised tier without a matching policy runs"""
    enabled: bool
    exclude_patterns: List[str]
    """paths that do not count (at most 500 items)"""
    executors: List[Literal["inline", "github", "e2b", "ntm", "human"]]
    """in order of preference (at most 10 items)"""
    fail_on: Literal["note", "warning", "error"]
    """lowest level of finding that fails (one of note, warning, error)"""
    fold_case: bool
    """match without regard to case"""
    priority: int
    """lower first, within a tier (0 to 1000)"""
    repository: str
    """glob over the normalised remote; empty: every repository (at most 500 characters)"""
    required: bool
    """false: advisory, never decides the verdict"""
    required_env: List[str]
    """environment variables that must be set for the gateway, else the policy is blocked (at most 50 items)"""
    requires_approval: bool
    """a person approves beside the run"""
    retry_max: int
    """further attempts after a failure of the change itself (0 to 5)"""
    template: str
    """e2b template id (at most 200 characters)"""
    timeout_seconds: int
    """1 to 86400"""
    tools: List[str]
    """inline: which; empty: every one that fits (at most 50 items)"""
    waivable: bool
    """trust may drop it for small changes"""
    workflow: str
    """GitHub Actions workflow file, such as verify.yml (at most 200 characters)"""


class CreateRunAdditional_demands(TypedDict, total=False):
    """demands beside those of the session's place and the blueprint; they add, never override"""

    executor_profile: str
    """at most 200 characters"""
    hostname: str
    """at most 255 characters"""
    project_dir: str
    """at most 4096 characters"""
    tags: Optional[List[str]]
    """at most 50 items"""


class _CreateRunRequired(TypedDict):
    prompt: str
    """at most 1000000 characters"""
    type: Literal["start_session", "resume_session"]
    """one of start_session, resume_session"""


class CreateRun(_CreateRunRequired, total=False):
    additional_demands: CreateRunAdditional_demands
    """demands beside those of the session's place and the blueprint; they add, never override"""
    agent_name: str
    """blueprint to use; a resume keeps the session's (at most 200 characters)"""
    deadline: str
    """the same as a time (date-time)"""
    delay_seconds: float
    """begin no sooner (0 to 2.592e+06)"""
    execution_mode: Literal["sync", "async_poll", "async_callback"]
    """async_callback: the parent is resumed when this ends (one of sync, async_poll, async_callback; default
    sync)
    """
    parent_session_id: str
    """session that started this one (at most 200 characters)"""
    priority: int
    """1 is first (1 to 10; default 5)"""
    project_dir: str
    """at most 4096 characters"""
    retries: int
    """further attempts after a failure (0 to 19)"""
    session_id: str
    """the session to resume; for a start its id, else one is made (at most 200 characters)"""
    timeout_seconds: float
    """it is stopped when it is not over by then (1 to 2.592e+06)"""


class _CreatedKeyKeyRequired(TypedDict):
    created_at: str
    name: str
    prefix: str
    """first characters of the secret, to recognise it"""
    scopes: Optional[List[str]]
    status: Literal["active", "expired", "revoked"]
    """one of active, expired, revoked"""


class CreatedKeyKey(_CreatedKeyKeyRequired, total=False):
    agent_id: str
    agent_type: str
    expires_at: str
    last_used_at: str
    """to the minute"""
    person: str
    project: str
    """absent: every project"""
    rate_limit: int
    """requests a second; absent: the server's default"""
    revoked_at: str
    rotated_at: str
    """when it got the secret it has now"""
    stream_limit: int
    """waiting calls and open streams at a time; absent: the server's default"""


class CreatedKey(TypedDict):
    key: CreatedKeyKey
    secret: str
    """send it as X-API-Key; it cannot be shown again"""
    success: bool


class CreatedPerson(TypedDict):
    created: bool
    """false: the person was known and has these roles now"""
    created_at: str
    name: str
    roles: Optional[List[str]]
    success: bool


class CreatedRun(TypedDict):
    run_id: str
    session_id: str
    status: Literal["pending"]
    """one of pending"""


class _DecideActRequired(TypedDict):
    act_id: str
    """uuid"""


class DecideAct(_DecideActRequired, total=False):
    comment: str
    """kept, and told to who asked (at most 2000 characters)"""


class _DecidedActRequired(TypedDict):
    act_id: str
    created_at: str
    expires_at: str
    kind: Literal["command", "work", "force_release", "policies", "guardrails", "safeguards"]
    """command: of a tool call, which may be made once when it is approved; the others: the operation is done
    with the approval (one of command, work, force_release, policies, guardrails, safeguards)
    """
    operation: str
    """what is done when it is approved"""
    requested_by: str
    status: Literal["pending", "approved", "denied", "used", "expired"]
    """approved: a command that was let through and has not run yet; used: done (one of pending, approved,
    denied, used, expired)
    """
    title: str
    """one line: what and on what"""


class DecidedAct(_DecidedActRequired, total=False):
    agent_id: str
    arguments: Dict[str, Any]
    comment: str
    decided_at: str
    decided_by: str
    result: Dict[str, Any]
    """approved: what the operation answered"""
    session_id: str
    why: str
    """why it is asked, and the reason given"""


class DeletedSessionDeleted(TypedDict):
    events_count: int
    runs_count: int
    session: bool
    sessions_count: int
    """itself and what was below it"""


class DeletedSession(TypedDict):
    deleted: DeletedSessionDeleted
    ok: bool
    runs_removed_from_cache: int
    """the same as runs_count"""
    session_id: str


class DeregisteredRunner(TypedDict):
    initiated_by: Literal["self", "external"]
    """one of self, external"""
    message: str
    ok: bool


class DigestKinds(TypedDict):
    agents: Optional[List[str]]
    count: int
    objects: Optional[List[str]]
    """the latest ten things concerned"""
    operation: str


class DigestNewsletter_tasks(TypedDict):
    description: str
    status: str
    task_id: str
    task_type: str


class Digest(TypedDict):
    changes: int
    """changes by others since then, at most 2000"""
    kinds: Optional[List[DigestKinds]]
    """by operation, the latest first"""
    markdown: str
    newsletter_tasks: Optional[List[DigestNewsletter_tasks]]
    """the last five of them"""
    newsletters: Dict[str, int]
    """tasks whose type starts with newsletter, by status"""
    project: str
    since: str
    """when the caller looked last; a day ago at the first time"""


class EndSession(TypedDict, total=False):
    reason: str
    """why, for the audit trail (at most 200 characters)"""


class _EndedSessionRequired(TypedDict):
    locks_released: int
    session_id: str
    success: bool
    tasks_requeued: int


class EndedSession(_EndedSessionRequired, total=False):
    already: Literal["ended", "lapsed"]
    """set when it was closed before (one of ended, lapsed)"""
    file_paths: Optional[List[str]]
    """paths that are free now"""
    reason: str
    """session_not_found when nothing was ended"""
    tasks_dead: int
    """tasks that had no attempt left"""


class _ErrorRequired(TypedDict):
    code: str
    detail: Any
    retryable: bool
    """true when the same call may succeed later"""
    status: int
    title: str
    type: str
    what: str


class Error(_ErrorRequired, total=False):
    act_id: str
    """with code approval_required: the act that waits"""
    field: str
    next: str
    request_id: str
    retry_after: int
    """seconds to wait before another try"""
    why: str


class _ExportedMemoryRequired(TypedDict):
    count: int
    format: str
    text: str
    truncated: bool


class ExportedMemory(_ExportedMemoryRequired, total=False):
    next: int
    """send it as after for the next page"""


class _ForceReleaseLockRequired(TypedDict):
    file_path: str
    """the lock's path, exactly as listed (at most 1024 characters)"""
    reason: str
    """why; the holder and the audit trail get it (at most 500 characters)"""


class ForceReleaseLock(_ForceReleaseLockRequired, total=False):
    locked_by: str
    """only if this agent holds it (at most 200 characters)"""


class _ForceReleasedRequired(TypedDict):
    count: int
    """locks removed; a shared one counts once a holder"""
    file_path: str
    released: bool
    """false: nobody held it"""


class ForceReleased(_ForceReleasedRequired, total=False):
    prior_acquired_at: str
    """RFC 3339 UTC"""
    prior_holder_agent_id: str


class _ForgetMemoryRequired(TypedDict):
    memory_ids: Optional[List[str]]
    """at most 1000 items"""


class ForgetMemory(_ForgetMemoryRequired, total=False):
    reason: str
    """for the audit trail, which keeps the ids and not the text (at most 500 characters)"""


class ForgottenMemory(TypedDict):
    forgotten: Optional[List[str]]
    success: bool
    """false when none of the ids was there, or was the caller's to forget"""
    unknown: Optional[List[str]]


class _FreeAgentRequired(TypedDict):
    agent: str
    """agent id; * = the hold on every agent of the project (at most 200 characters)"""


class FreeAgent(_FreeAgentRequired, total=False):
    reason: str
    """shown to the agent and kept (at most 500 characters)"""
    session: str
    """the hold on this session of the agent (at most 200 characters)"""


class GetWork(TypedDict, total=False):
    lease_seconds: int
    """renew within this time, or the task goes to another (10 to 86400; default 1800)"""
    limit: int
    """claim up to so many (1 to 500; default 1)"""
    tags: Optional[List[str]]
    """what you offer; tagged tasks need all their tags (at most 100 items)"""
    task_types: Optional[List[str]]
    """only these types (at most 100 items)"""
    wait_seconds: float
    """wait for one (0 to 30)"""


class _GuardrailRequired(TypedDict):
    action: Literal["deny", "ask", "allow"]
    """what holds now. deny: refused, a person may approve the one command; ask: the host asks its person,
    elsewhere as deny; allow: goes on (one of deny, ask, allow)
    """
    default: Literal["deny", "ask", "allow"]
    """one of deny, ask, allow"""
    rule: str
    """the rule's name"""
    text: str
    """what it catches"""


class Guardrail(_GuardrailRequired, total=False):
    pattern: str
    """of a rule of the project's own: a regular expression (RE2) over the command"""
    reason: str
    set_at: str
    set_by: str


class _GuardrailAnswerRequired(TypedDict):
    action: Literal["deny", "ask", "allow"]
    """one of deny, ask, allow"""
    rule: str


class GuardrailAnswer(_GuardrailAnswerRequired, total=False):
    act_id: str
    """deny: a person can approve this one command: approve_act"""
    approved: bool
    """allow: a person approved this very command; the approval is used up"""
    by: str
    """who approved it"""


class _GuardrailHitsHitsRequired(TypedDict):
    action: Literal["deny", "ask", "allow", "approved"]
    """what was done; approved: a person had let it through (one of deny, ask, allow, approved)"""
    at: str
    command: str
    id: str
    rule: str
    where: Literal["hook", "queue"]
    """one of hook, queue"""


class GuardrailHitsHits(_GuardrailHitsHitsRequired, total=False):
    act_id: str
    agent_id: str
    session_id: str
    why: str


class GuardrailHits(TypedDict):
    hits: Optional[List[GuardrailHitsHits]]
    truncated: bool


class _GuardrailsRulesRequired(TypedDict):
    action: Literal["deny", "ask", "allow"]
    """what holds now. deny: refused, a person may approve the one command; ask: the host asks its person,
    elsewhere as deny; allow: goes on (one of deny, ask, allow)
    """
    default: Literal["deny", "ask", "allow"]
    """one of deny, ask, allow"""
    rule: str
    """the rule's name"""
    text: str
    """what it catches"""


class GuardrailsRules(_GuardrailsRulesRequired, total=False):
    pattern: str
    """of a rule of the project's own: a regular expression (RE2) over the command"""
    reason: str
    set_at: str
    set_by: str


class Guardrails(TypedDict):
    rules: Optional[List[GuardrailsRules]]

_HandOverRequired = TypedDict(
    "_HandOverRequired",
    {
        "from": "str",
        "note": "str",
        "to": "str",
        "file_paths": "Optional[List[str]]",
        "from_session": "str",
        "task_ids": "Optional[List[str]]",
        "to_session": "str",
    },
    total=False,
)
HandOver = _HandOverRequired


class HandedOverLocks(TypedDict):
    fencing_token: str
    """the new holder's, higher than the old one"""
    file_path: str


class HandedOverTasks(TypedDict):
    lease_token: str
    """the new holder's; the old one is worth nothing"""
    task_id: str

_HandedOverRequired = TypedDict(
    "_HandedOverRequired",
    {
        "from": "str",
        "locks": "Optional[List[HandedOverLocks]]",
        "success": "bool",
        "tasks": "Optional[List[HandedOverTasks]]",
        "to": "str",
        "handoff_id": "str",
        "reason": "str",
        "to_session": "str",
    },
    total=False,
)
HandedOver = _HandedOverRequired


class _HandoffRequired(TypedDict):
    action: Literal["write", "read"]
    """one of write, read"""


class Handoff(_HandoffRequired, total=False):
    agent_name: str
    """read: whose (at most 200 characters)"""
    completed_work: Optional[List[str]]
    decisions: Optional[List[str]]
    in_progress: Optional[List[str]]
    limit: int
    """read: how many (1 to 100; default 1)"""
    next_steps: Optional[List[str]]
    relevant_files: Optional[List[str]]
    summary: str
    """write: where it stands (at most 8000 characters)"""
    to: str
    """write: agent to tell of it (at most 200 characters)"""


class _HandoffReplyHandoffsRequired(TypedDict):
    agent_name: str
    completed_work: Optional[List[Any]]
    created_at: str
    decisions: Optional[List[Any]]
    id: str
    in_progress: Optional[List[Any]]
    next_steps: Optional[List[Any]]
    relevant_files: Optional[List[Any]]
    summary: str


class HandoffReplyHandoffs(_HandoffReplyHandoffsRequired, total=False):
    session_id: str
    to: str


class _HandoffReplyRequired(TypedDict):
    success: bool


class HandoffReply(_HandoffReplyRequired, total=False):
    count: int
    handoff_id: str
    handoffs: Optional[List[HandoffReplyHandoffs]]
    truncated: bool


class _HandoffsHandoffsRequired(TypedDict):
    agent_name: str
    completed_work: Optional[List[Any]]
    created_at: str
    decisions: Optional[List[Any]]
    id: str
    in_progress: Optional[List[Any]]
    next_steps: Optional[List[Any]]
    relevant_files: Optional[List[Any]]
    summary: str


class HandoffsHandoffs(_HandoffsHandoffsRequired, total=False):
    session_id: str
    to: str


class Handoffs(TypedDict):
    count: int
    handoffs: Optional[List[HandoffsHandoffs]]
    truncated: bool


class Heartbeat(TypedDict, total=False):
    current_task: str
    """new current task; an empty string clears it (at most 500 characters)"""


class _HeartbeatWorkRequired(TypedDict):
    task_id: str
    """uuid"""


class HeartbeatWork(_HeartbeatWorkRequired, total=False):
    lease_seconds: int
    """a new length of the lease; else as claimed (10 to 86400)"""
    lease_token: str
    """as claimed (at most 40 characters)"""


class _HoldAgentRequired(TypedDict):
    agent: str
    """agent id; * = every agent of the project (at most 200 characters)"""
    reason: str
    """shown to the agent and kept (at most 500 characters)"""


class HoldAgent(_HoldAgentRequired, total=False):
    session: str
    """only this session of the agent (at most 200 characters)"""


class _HoldResultRequired(TypedDict):
    sessions_told: int
    """open sessions that are told with their next call"""
    success: bool


class HoldResult(_HoldResultRequired, total=False):
    agent: str
    already: bool
    """it was so before; the reason is the new one"""
    reason: str
    runner_id: str
    session: str


class _HoldRunnerRequired(TypedDict):
    runner_id: str
    """at most 200 characters"""


class HoldRunner(_HoldRunnerRequired, total=False):
    reason: str
    """kept, and shown where the runner is listed (at most 500 characters)"""


class _HoldsHoldsRequired(TypedDict):
    by: str
    kind: Literal["pause", "drain", "budget"]
    """pause: no new locks and no new work; drain, budget: no new work (one of pause, drain, budget)"""
    locks: int
    """locks that who is held still has"""
    reason: str
    since: str
    tasks: int
    """tasks, of a runner runs, that who is held still has; at 0 a drain is done"""


class HoldsHolds(_HoldsHoldsRequired, total=False):
    agent: str
    """* = every agent of the project"""
    runner_id: str
    session: str
    until: str
    """ends by itself then: the budget's next period"""


class Holds(TypedDict):
    count: int
    holds: Optional[List[HoldsHolds]]


class Identity(TypedDict, total=False):
    """Who acts. Every member may be left out or sent as header instead."""

    agent_id: str
    """who acts; needed by calls that act for an agent unless the key is bound to one (at most 200 characters)"""
    agent_type: str
    """its type, such as claude_code (at most 200 characters)"""
    project: str
    """project; default: the key's, else default (at most 200 characters)"""
    repository: str
    """repository in the project that paths belong to; default: the first (at most 200 characters)"""
    session_id: str
    """session it acts in; default: the agent's implicit session (at most 200 characters)"""


class _ImportMemoryRequired(TypedDict):
    jsonl: str
    """one memory a line, as memory_export with format jsonl writes them; summary alone is enough (at most
    4000000 characters)
    """


class ImportMemory(_ImportMemoryRequired, total=False):
    source: str
    """where they are from (at most 200 characters; default import)"""


class ImportedMemory(TypedDict):
    imported: int
    skipped: int
    """there already"""
    success: bool


class _KeysKeysRequired(TypedDict):
    created_at: str
    name: str
    prefix: str
    """first characters of the secret, to recognise it"""
    scopes: Optional[List[str]]
    status: Literal["active", "expired", "revoked"]
    """one of active, expired, revoked"""


class KeysKeys(_KeysKeysRequired, total=False):
    agent_id: str
    agent_type: str
    expires_at: str
    last_used_at: str
    """to the minute"""
    person: str
    project: str
    """absent: every project"""
    rate_limit: int
    """requests a second; absent: the server's default"""
    revoked_at: str
    rotated_at: str
    """when it got the secret it has now"""
    stream_limit: int
    """waiting calls and open streams at a time; absent: the server's default"""


class _KeysOld_secretsRequired(TypedDict):
    expires_at: str
    """when it ends"""
    name: str
    """the key's name"""
    prefix: str
    """first characters of the secret"""


class KeysOld_secrets(_KeysOld_secretsRequired, total=False):
    last_used_at: str
    """to the minute; absent: never since the rotation or before"""


class Keys(TypedDict):
    count: int
    keys: Optional[List[KeysKeys]]
    old_secrets: Optional[List[KeysOld_secrets]]
    """secrets from before a rotation whose grace still runs"""


class _LimitKeyRequired(TypedDict):
    name: str
    """name of the key (at most 200 characters)"""


class LimitKey(_LimitKeyRequired, total=False):
    rate_limit: int
    """requests a second; default: the server's (1 to 100000)"""
    stream_limit: int
    """waiting calls and open streams at a time; default: the server's (1 to 100000)"""


class _LimitedKeyKeyRequired(TypedDict):
    created_at: str
    name: str
    prefix: str
    """first characters of the secret, to recognise it"""
    scopes: Optional[List[str]]
    status: Literal["active", "expired", "revoked"]
    """one of active, expired, revoked"""


class LimitedKeyKey(_LimitedKeyKeyRequired, total=False):
    agent_id: str
    agent_type: str
    expires_at: str
    last_used_at: str
    """to the minute"""
    person: str
    project: str
    """absent: every project"""
    rate_limit: int
    """requests a second; absent: the server's default"""
    revoked_at: str
    rotated_at: str
    """when it got the secret it has now"""
    stream_limit: int
    """waiting calls and open streams at a time; absent: the server's default"""


class LimitedKey(TypedDict):
    key: LimitedKeyKey
    success: bool


class ListMessages(TypedDict, total=False):
    box: Literal["unread", "all", "sent"]
    """unread: urgent first, then oldest, and marked read; all, sent: newest first (one of unread, all, sent;
    default unread)
    """
    limit: int
    """most messages to return (1 to 200; default 20)"""
    peek: bool
    """do not mark them read"""
    thread: str
    """only this thread (at most 200 characters)"""
    wait_seconds: int
    """with box unread: wait so long for the first one (0 to 30)"""


class ListWork(TypedDict, total=False):
    claimed_by: str
    """at most 200 characters"""
    cursor: str
    """next_cursor of the page before"""
    label: str
    """at most 200 characters"""
    limit: int
    """1 to 500; default 50"""
    status: Optional[List[Literal["ready", "blocked", "scheduled", "pending", "claimed", "running", "verifying", "completed", "failed", "dead", "cancelled"]]]
    """any of these (at most 10 items)"""
    submitted_by: str
    """at most 200 characters"""
    tag: str
    """at most 100 characters"""
    task_types: Optional[List[str]]
    """any of these (at most 100 items)"""


class _LockResultConflictsRequired(TypedDict):
    file_path: str
    """the requested path"""
    locked_by: str
    """agent that holds it"""


class LockResultConflicts(_LockResultConflictsRequired, total=False):
    agent_type: str
    branch: str
    """branch of the lock; left out: every branch"""
    expires_at: str
    """RFC 3339 UTC"""
    held_path: str
    """the path that overlaps it, when it is another"""
    locked_at: str
    """RFC 3339 UTC"""
    mode: Literal["exclusive", "shared"]
    """one of exclusive, shared"""
    reason: str
    """what the holder wrote"""
    seconds_left: int
    session_id: str
    """session that holds it"""
    waiting: bool
    """it does not hold the path but asked for it earlier"""


class LockResultCycle(TypedDict):
    agent_id: str
    session_id: str
    waits_for: str
    """path held by the next member; the last waits for the first"""


class LockResultLocks(TypedDict):
    fencing_token: str
    file_path: str


class _LockResultRequired(TypedDict):
    action: Literal["acquired", "refreshed", "blocked"]
    """one of acquired, refreshed, blocked"""
    success: bool
    """false: nothing was locked"""


class LockResult(_LockResultRequired, total=False):
    conflicts: Optional[List[LockResultConflicts]]
    """everything in the way, at most 20"""
    cycle: Optional[List[LockResultCycle]]
    """with reason deadlock: who waits for whom"""
    expires_at: str
    """end of your lock, or of the one in the way; RFC 3339 UTC"""
    fencing_token: str
    """grows with every grant; a store can refuse writes with an older one"""
    file_path: str
    """the path asked for, cleaned; the first of several"""
    free_nearby: Optional[List[str]]
    """requested paths that are free, and what is free within a refused directory or glob"""
    lock_reason: str
    """what the agent in the way is doing; with agent_paused: who paused you, and why"""
    locked_by: str
    """agent in the way"""
    locks: Optional[List[LockResultLocks]]
    """each path and its token, when there are several"""
    mode: Literal["exclusive", "shared"]
    """one of exclusive, shared"""
    next: str
    """what to do now"""
    queue_position: int
    """place in line, 1 is next"""
    reason: str
    """on failure: locked_by_other, deadlock, agent_paused or ttl_out_of_range"""
    ticket: str
    """number drawn while it waited"""
    waited_ms: int
    """milliseconds spent waiting"""


class _LockStateLockRequired(TypedDict):
    agent_type: str
    expires_at: str
    """RFC 3339 UTC"""
    fencing_token: str
    file_path: str
    locked_at: str
    """RFC 3339 UTC"""
    locked_by: str
    """agent that holds it"""
    mode: Literal["exclusive", "shared"]
    """one of exclusive, shared"""
    seconds_left: int


class LockStateLock(_LockStateLockRequired, total=False):
    """the lock, the oldest of several"""

    branch: str
    """left out: every branch"""
    reason: str
    repository: str
    """left out: a logical key"""
    session_id: str
    """session that holds it"""


class _LockStateRequired(TypedDict):
    file_path: str
    locked: bool
    """true when a lock overlaps the path"""


class LockState(_LockStateRequired, total=False):
    lock: LockStateLock
    """the lock, the oldest of several"""


class _LockWaitsWaitsRequired(TypedDict):
    agent_id: str
    file_path: str
    """what it asked for"""
    mode: Literal["exclusive", "shared"]
    """one of exclusive, shared"""
    session_id: str
    since: str
    """when it joined the queue, RFC 3339 UTC"""


class LockWaitsWaits(_LockWaitsWaitsRequired, total=False):
    agent_type: str
    ahead: int
    """waiters for an overlapping path that came earlier"""
    branch: str
    """left out: every branch"""
    held_by: str
    """agent that holds it"""
    held_path: str
    """the lock in the way, the first of several; left out: only earlier waiters are"""


class LockWaits(TypedDict):
    count: int
    truncated: bool
    """there are more than limit"""
    waits: Optional[List[LockWaitsWaits]]
    """an empty list means that nobody waits"""


class _LocksLocksRequired(TypedDict):
    agent_type: str
    expires_at: str
    """RFC 3339 UTC"""
    fencing_token: str
    file_path: str
    locked_at: str
    """RFC 3339 UTC"""
    locked_by: str
    """agent that holds it"""
    mode: Literal["exclusive", "shared"]
    """one of exclusive, shared"""
    seconds_left: int


class LocksLocks(_LocksLocksRequired, total=False):
    branch: str
    """left out: every branch"""
    reason: str
    repository: str
    """left out: a logical key"""
    session_id: str
    """session that holds it"""


class Locks(TypedDict):
    count: int
    locks: Optional[List[LocksLocks]]
    """an empty list means that nobody holds any of it"""
    truncated: bool
    """there are more than limit"""


class MemoryScore(TypedDict):
    context: float
    """from its neighbours in the session"""
    coverage: float
    """share of the question's information that it and its neighbours have"""
    factor: float
    """age, staleness and a skill's success together"""
    matched: Optional[List[str]]
    """index terms; = marks whole identifiers, paths and codes"""
    parameters: int
    """version of the ranking's parameters"""
    paths: float
    tags: float
    words: float


class _MemoryRequired(TypedDict):
    content: Dict[str, Any]
    """episodic: event_type, summary, outcome, lessons, details, tags; procedural: skill_name, description,
    steps, success_rate
    """
    memory_id: str
    memory_type: Literal["episodic", "procedural"]
    """one of episodic, procedural"""
    relevance: float
    """0..1, what the list is sorted by"""
    why: str
    """what matched"""


class Memory(_MemoryRequired, total=False):
    agent_id: str
    """who remembered"""
    archived: bool
    created_at: str
    details: Dict[str, Any]
    event_type: str
    id: str
    """memory_id again"""
    lessons: Optional[List[str]]
    outcome: str
    project: str
    """scope all: where it is from"""
    relevance_score: float
    """relevance again"""
    score: MemoryScore
    stale: bool
    """its file changed since: check before relying on it"""
    summary: str
    tags: Optional[List[str]]


class _MemoryPoliciesPoliciesRequired(TypedDict):
    layer: str


class MemoryPoliciesPolicies(_MemoryPoliciesPoliciesRequired, total=False):
    archive_days: int
    delete_days: int


class MemoryPolicies(TypedDict):
    policies: Optional[List[MemoryPoliciesPolicies]]


class MemoryRetention(TypedDict, total=False):
    archive_days: int
    """archive after so many days (searchable on request); 0: never (0 to 36500)"""
    delete_days: int
    """delete after so many days, experiences only once archived; 0: never (0 to 36500)"""
    layer: Literal["episodic", "working", "procedural"]
    """layer to set; absent: only show (one of episodic, working, procedural)"""


class _MessagesMessagesRecipientsRequired(TypedDict):
    agent_id: str


class MessagesMessagesRecipients(_MessagesMessagesRecipientsRequired, total=False):
    acked_at: str
    delivered_at: str
    """a session was told, or read it"""
    read_at: str

_MessagesMessagesRequired = TypedDict(
    "_MessagesMessagesRequired",
    {
        "ack_required": "bool",
        "created_at": "str",
        "from": "str",
        "from_kind": "Literal[\"agent\", \"person\"]",
        "kind": "str",
        "message_id": "str",
        "text": "str",
        "thread": "str",
        "urgency": "Literal[\"normal\", \"high\", \"overseer\"]",
        "acknowledged": "bool",
        "recipients": "Optional[List[MessagesMessagesRecipients]]",
        "reply_to": "str",
        "unread": "bool",
    },
    total=False,
)
MessagesMessages = _MessagesMessagesRequired


class Messages(TypedDict):
    count: int
    messages: Optional[List[MessagesMessages]]
    truncated: bool
    unread: int
    """messages still unread, at most 1000 are counted"""

Nothing = Dict[str, Any]

Nothing = Dict[str, Any]


class _NudgeAgentRequired(TypedDict):
    agent: str
    """at most 200 characters"""


class NudgeAgent(_NudgeAgentRequired, total=False):
    session: str
    """only this session of the agent (at most 200 characters)"""
    text: str
    """default: asks where it stands (at most 500 characters)"""


class _NudgedRequired(TypedDict):
    message_id: str
    sessions_told: int
    """open sessions that are told with their next call"""
    success: bool


class Nudged(_NudgedRequired, total=False):
    already: bool
    """an earlier nudge of yours was not taken yet; nothing was added"""


class Ok(TypedDict):
    ok: bool


class OneOrchestratedSessionSession(TypedDict):
    agent_name: Optional[str]
    created_at: str
    execution_mode: Literal["sync", "async_poll", "async_callback"]
    """one of sync, async_poll, async_callback"""
    executor_profile: Optional[str]
    executor_session_id: Optional[str]
    hostname: Optional[str]
    last_resumed_at: Optional[str]
    parent_session_id: Optional[str]
    project_dir: Optional[str]
    session_id: str
    status: Literal["pending", "running", "stopping", "stopped", "finished", "failed"]
    """one of pending, running, stopping, stopped, finished, failed"""


class OneOrchestratedSession(TypedDict):
    session: OneOrchestratedSessionSession


class OrchestratedSessionReplySession(TypedDict):
    agent_name: Optional[str]
    created_at: str
    execution_mode: Literal["sync", "async_poll", "async_callback"]
    """one of sync, async_poll, async_callback"""
    executor_profile: Optional[str]
    executor_session_id: Optional[str]
    hostname: Optional[str]
    last_resumed_at: Optional[str]
    parent_session_id: Optional[str]
    project_dir: Optional[str]
    session_id: str
    status: Literal["pending", "running", "stopping", "stopped", "finished", "failed"]
    """one of pending, running, stopping, stopped, finished, failed"""


class OrchestratedSessionReply(TypedDict):
    ok: bool
    session: OrchestratedSessionReplySession


class OrchestratedSessionsSessions(TypedDict):
    agent_name: Optional[str]
    created_at: str
    execution_mode: Literal["sync", "async_poll", "async_callback"]
    """one of sync, async_poll, async_callback"""
    executor_profile: Optional[str]
    executor_session_id: Optional[str]
    hostname: Optional[str]
    last_resumed_at: Optional[str]
    parent_session_id: Optional[str]
    project_dir: Optional[str]
    session_id: str
    status: Literal["pending", "running", "stopping", "stopped", "finished", "failed"]
    """one of pending, running, stopping, stopped, finished, failed"""


class _OrchestratedSessionsRequired(TypedDict):
    sessions: Optional[List[OrchestratedSessionsSessions]]


class OrchestratedSessions(_OrchestratedSessionsRequired, total=False):
    truncated: bool
    """there are more: ask with before"""


class _OverrideChangesetRequired(TypedDict):
    changeset_id: str
    """uuid"""
    reason: str
    """shown with the verdict (at most 900 characters)"""


class OverrideChangeset(_OverrideChangesetRequired, total=False):
    verdict: Literal["passed", "failed"]
    """one of passed, failed; default passed"""


class PersonsPersons(TypedDict):
    created_at: str
    keys: int
    """keys that are not revoked"""
    name: str
    roles: Optional[List[str]]


class Persons(TypedDict):
    count: int
    persons: Optional[List[PersonsPersons]]


class PoliciesPoliciesApprovals(TypedDict, total=False):
    count: int
    """approvals needed; 0 reads as 1 (0 to 20)"""
    roles: Optional[List[str]]
    """any of these suffices (at most 20 items)"""
    teams: Optional[List[str]]
    """at most 100 items"""
    users: Optional[List[str]]
    """at most 100 items"""


class _PoliciesPoliciesRequired(TypedDict):
    enabled: bool
    executors: Optional[List[str]]
    """in order of preference"""
    name: str
    patterns: Optional[List[str]]
    required: bool
    """false: advisory, never decides the verdict"""
    tier: int
    """0 static, 1 unit, 2 integration, 3 system, 4 human"""
    timeout_seconds: int
    waivable: bool
    """trust may drop it for small changes"""


class PoliciesPolicies(_PoliciesPoliciesRequired, total=False):
    accept_conclusions: Optional[List[str]]
    """GitHub conclusions that count as success beside success"""
    approvals: PoliciesPoliciesApprovals
    branch: str
    """glob over the branch; empty: every branch"""
    command: str
    """for e2b and ntm: run by /bin/sh -c in the checkout"""
    default: bool
    """what a raised tier without a matching policy runs"""
    exclude_patterns: Optional[List[str]]
    fail_on: str
    """lowest level of finding that fails"""
    fold_case: bool
    id: str
    priority: int
    """lower first, within a tier"""
    repository: str
    """glob over the normalised remote; empty: every repository"""
    required_env: Optional[List[str]]
    """environment variables that must be set for the gateway, else the policy is blocked"""
    requires_approval: bool
    """a person approves beside the run"""
    retry_max: int
    """further attempts after a failure of the change itself"""
    template: str
    """e2b template id"""
    tools: Optional[List[str]]
    """inline: which; empty: every one that fits"""
    version: int
    """counts its changes, from 1"""
    workflow: str
    """GitHub Actions workflow file, such as verify.yml"""


class Policies(TypedDict):
    policies: Optional[List[PoliciesPolicies]]
    set_version: int
    """changes with every change of a policy"""


class PolicyVersionsVersionsPolicyApprovals(TypedDict, total=False):
    count: int
    """approvals needed; 0 reads as 1 (0 to 20)"""
    roles: Optional[List[str]]
    """any of these suffices (at most 20 items)"""
    teams: Optional[List[str]]
    """at most 100 items"""
    users: Optional[List[str]]
    """at most 100 items"""


class _PolicyVersionsVersionsPolicyRequired(TypedDict):
    enabled: bool
    executors: Optional[List[str]]
    """in order of preference"""
    name: str
    patterns: Optional[List[str]]
    required: bool
    """false: advisory, never decides the verdict"""
    tier: int
    """0 static, 1 unit, 2 integration, 3 system, 4 human"""
    timeout_seconds: int
    waivable: bool
    """trust may drop it for small changes"""


class PolicyVersionsVersionsPolicy(_PolicyVersionsVersionsPolicyRequired, total=False):
    accept_conclusions: Optional[List[str]]
    """GitHub conclusions that count as success beside success"""
    approvals: PolicyVersionsVersionsPolicyApprovals
    branch: str
    """glob over the branch; empty: every branch"""
    command: str
    """for e2b and ntm: run by /bin/sh -c in the checkout"""
    default: bool
    """what a raised tier without a matching policy runs"""
    exclude_patterns: Optional[List[str]]
    fail_on: str
    """lowest level of finding that fails"""
    fold_case: bool
    id: str
    priority: int
    """lower first, within a tier"""
    repository: str
    """glob over the normalised remote; empty: every repository"""
    required_env: Optional[List[str]]
    """environment variables that must be set for the gateway, else the policy is blocked"""
    requires_approval: bool
    """a person approves beside the run"""
    retry_max: int
    """further attempts after a failure of the change itself"""
    template: str
    """e2b template id"""
    tools: Optional[List[str]]
    """inline: which; empty: every one that fits"""
    version: int
    """counts its changes, from 1"""
    workflow: str
    """GitHub Actions workflow file, such as verify.yml"""


class PolicyVersionsVersions(TypedDict):
    at: str
    by: str
    policy: PolicyVersionsVersionsPolicy
    version: int


class PolicyVersions(TypedDict):
    name: str
    versions: Optional[List[PolicyVersionsVersions]]


class PrioritiseWork(TypedDict):
    priority: int
    """1 is first (1 to 10)"""
    task_id: str
    """uuid"""


class _ProgressWorkRequired(TypedDict):
    task_id: str
    """uuid"""


class ProgressWork(_ProgressWorkRequired, total=False):
    lease_token: str
    """as claimed (at most 40 characters)"""
    note: str
    """one sentence others will see (at most 2000 characters)"""
    percent: float
    """0 to 100"""


class _ProjectRepositoriesRequired(TypedDict):
    repository: str
    """its name within the project"""


class ProjectRepositories(_ProjectRepositoriesRequired, total=False):
    remote: str
    """normalised remote: host/owner/name"""
    root_commit: str


class _ProjectRequired(TypedDict):
    anon_read: bool
    """readable without a login through the Data API"""
    created_at: str
    project: str
    """its name"""
    repositories: Optional[List[ProjectRepositories]]


class Project(_ProjectRequired, total=False):
    last_activity: str
    """when an agent called last, RFC 3339 UTC"""


class _ProjectsProjectsRepositoriesRequired(TypedDict):
    repository: str
    """its name within the project"""


class ProjectsProjectsRepositories(_ProjectsProjectsRepositoriesRequired, total=False):
    remote: str
    """normalised remote: host/owner/name"""
    root_commit: str


class _ProjectsProjectsRequired(TypedDict):
    anon_read: bool
    """readable without a login through the Data API"""
    created_at: str
    project: str
    """its name"""
    repositories: Optional[List[ProjectsProjectsRepositories]]


class ProjectsProjects(_ProjectsProjectsRequired, total=False):
    last_activity: str
    """when an agent called last, RFC 3339 UTC"""


class Projects(TypedDict):
    count: int
    projects: Optional[List[ProjectsProjects]]


class PurgeAudit(TypedDict):
    days: int
    """rows older than this go; at least 30 (30 to 36500)"""


class PurgedAudit(TypedDict):
    deleted: int
    """at most 10000 a call; call again while it is not less"""
    success: bool


class ReadHandoff(TypedDict, total=False):
    agent_name: str
    """whose; default: anybody's (at most 200 characters)"""
    limit: int
    """how many (1 to 100; default 1)"""


class Recall(TypedDict, total=False):
    event_type: str
    """only this type; skill: only skills (at most 100 characters)"""
    explain: bool
    """say how each relevance came about"""
    include_archived: bool
    """also archived memories"""
    include_stale: bool
    """false: leave out memories whose file changed since (default true)"""
    limit: int
    """most to return (1 to 100; default 10)"""
    min_relevance: float
    """leave out what is less relevant (0 to 1)"""
    paths: Optional[List[str]]
    """files at hand (at most 50 items)"""
    scope: Literal["project", "own", "all"]
    """project: everybody's here; own: the caller's; all: every project the key may see (one of project, own,
    all; default project)
    """
    tags: Optional[List[str]]
    """prefer these (at most 50 items)"""
    task_description: str
    """what you are about to do, or a question (at most 20000 characters)"""
    token_budget: int
    """most tokens to return (1 to 200000)"""


class RecalledMemoriesScore(TypedDict):
    context: float
    """from its neighbours in the session"""
    coverage: float
    """share of the question's information that it and its neighbours have"""
    factor: float
    """age, staleness and a skill's success together"""
    matched: Optional[List[str]]
    """index terms; = marks whole identifiers, paths and codes"""
    parameters: int
    """version of the ranking's parameters"""
    paths: float
    tags: float
    words: float


class _RecalledMemoriesRequired(TypedDict):
    content: Dict[str, Any]
    """episodic: event_type, summary, outcome, lessons, details, tags; procedural: skill_name, description,
    steps, success_rate
    """
    memory_id: str
    memory_type: Literal["episodic", "procedural"]
    """one of episodic, procedural"""
    relevance: float
    """0..1, what the list is sorted by"""
    why: str
    """what matched"""


class RecalledMemories(_RecalledMemoriesRequired, total=False):
    agent_id: str
    """who remembered"""
    archived: bool
    created_at: str
    details: Dict[str, Any]
    event_type: str
    id: str
    """memory_id again"""
    lessons: Optional[List[str]]
    outcome: str
    project: str
    """scope all: where it is from"""
    relevance_score: float
    """relevance again"""
    score: RecalledMemoriesScore
    stale: bool
    """its file changed since: check before relying on it"""
    summary: str
    tags: Optional[List[str]]


class _RecalledRequired(TypedDict):
    count: int
    memories: Optional[List[RecalledMemories]]
    tokens: int
    """of the memories' content"""
    truncated: bool
    """more matched than limit or budget allow"""


class Recalled(_RecalledRequired, total=False):
    low_confidence: bool
    """the best match covers little of the question"""
    notes: Optional[List[str]]
    """what was not done, and why"""
    nothing_relevant: bool
    """searched, and nothing fits; an outage is an error instead"""
    reason: str


class RecordSkillUse(TypedDict):
    skill_id: str
    """uuid"""
    success: bool


class _RegisterRunnerRequired(TypedDict):
    executor_profile: str
    """at most 200 characters"""
    hostname: str
    """at most 255 characters"""
    project_dir: str
    """at most 4096 characters"""


class RegisterRunner(_RegisterRunnerRequired, total=False):
    capacity: int
    """most runs it takes at once; left out: as many as come (1 to 10000)"""
    executor: Dict[str, Any]
    """type, command and config of its executor"""
    instance_id: str
    """kept over restarts of one installation: after a crash it may register again at once (at most 200
    characters)
    """
    require_matching_tags: bool
    """take only runs that demand one of its tags"""
    run_ids: List[str]
    """runs it still executes; others that it had have failed"""
    tags: Optional[List[str]]
    """at most 100 items"""


class RegisterSession(TypedDict, total=False):
    capabilities: Optional[List[str]]
    """what this agent can do, short words (at most 50 items)"""
    current_task: str
    """what it works on now (at most 500 characters)"""
    delegated_from: str
    """agent that started this one (at most 200 characters)"""
    lapse_seconds: int
    """silence after which the session lapses, once it sent a heartbeat; 120 unless set (5 to 86400)"""
    metadata: Dict[str, Any]
    """anything else worth showing, at most 8 KB"""


class RegisteredRunner(TypedDict):
    heartbeat_interval_seconds: float
    poll_endpoint: str
    poll_timeout_seconds: float
    runner_id: str


class ReleaseLock(TypedDict, total=False):
    all: bool
    """all locks of this session"""
    branch: str
    """only the lock on this branch; left out: on any (at most 255 characters)"""
    file_path: str
    """as it was locked (at most 1024 characters)"""
    file_paths: Optional[List[str]]
    """several (at most 200 items)"""


class _ReleaseResultRequired(TypedDict):
    count: int
    """how many paths were released"""
    released: bool
    success: bool
    """true when something was released"""


class ReleaseResult(_ReleaseResultRequired, total=False):
    action: Literal["released"]
    """one of released"""
    file_path: str
    """the path, the first of several"""
    file_paths: Optional[List[str]]
    """everything released, when several"""
    not_held: Optional[List[str]]
    """asked for, but not held by this session"""
    reason: str
    """lock_not_found_or_not_owner when nothing was released"""


class _ReleaseWorkRequired(TypedDict):
    task_id: str
    """uuid"""


class ReleaseWork(_ReleaseWorkRequired, total=False):
    lease_token: str
    """as claimed (at most 40 characters)"""
    reason: str
    """what the next one should know (at most 2000 characters)"""


class _RememberRequired(TypedDict):
    summary: str
    """one sentence with names to search for (at most 4000 characters)"""


class Remember(_RememberRequired, total=False):
    branch: str
    """branch the file was seen on; left out: a digest that is the newest of any branch stands (at most 255
    characters)
    """
    details: Dict[str, Any]
    """anything else, at most 64 KB"""
    digest: str
    """digest of the file's content as seen; the memory is stale once another one is reported (at most 200
    characters)
    """
    event_type: str
    """error, decision, lesson, … (at most 100 characters; default discovery)"""
    lessons: Optional[List[str]]
    """for next time (at most 50 items)"""
    line_from: int
    """first line it is about (at least 1)"""
    line_to: int
    """last line (at least 1)"""
    outcome: str
    """success, failure (at most 100 characters)"""
    path: str
    """file it is about (at most 1000 characters)"""
    tags: Optional[List[str]]
    """at most 50 items"""


class Remembered(TypedDict):
    action: Literal["stored", "merged"]
    """merged: you said the same within the hour; lessons, tags and details were united (one of stored, merged)"""
    memory_id: str
    success: bool


class RenewLocks(TypedDict, total=False):
    ttl_minutes: int
    """new length; left out: each lock's own (1 to 480)"""


class _RenewedLocksRequired(TypedDict):
    held: int
    """paths the session holds; an expired lock is not brought back"""
    renewed: int
    """locks prolonged; those with two thirds of their time left are not touched"""
    success: bool


class RenewedLocks(_RenewedLocksRequired, total=False):
    expires_at: str
    """when the first of them ends, RFC 3339 UTC"""
    reason: str


class RenewedWork(TypedDict):
    renewed: int
    """tasks the session holds; a lost one is not brought back"""
    success: bool


class _ReportChangesFilesRequired(TypedDict):
    file_path: str
    """at most 1024 characters"""


class ReportChangesFiles(_ReportChangesFilesRequired, total=False):
    deleted: bool
    digest: str
    """digest of its content now; memories bound to another one become stale (at most 200 characters)"""


class _ReportChangesRequired(TypedDict):
    files: Optional[List[ReportChangesFiles]]
    """what changed (at most 1000 items)"""


class ReportChanges(_ReportChangesRequired, total=False):
    branch: str
    """branch that is checked out; memories bound to files of other branches stay as they are (at most 255
    characters)
    """
    bypass: str
    """why somebody goes ahead past the locks of others; kept with the record (at most 500 characters)"""
    command: str
    """its command, shortened (at most 300 characters)"""
    stage: Literal["edit", "commit", "push"]
    """when it was noticed (one of edit, commit, push; default edit)"""
    tool: str
    """what changed it, such as Bash (at most 100 characters)"""
    unknown: bool
    """the change came between calls: another process may have made it"""


class _ReportDigestsFilesRequired(TypedDict):
    path: str
    """at most 1000 characters"""


class ReportDigestsFiles(_ReportDigestsFilesRequired, total=False):
    digest: str
    """empty: the file is gone (at most 200 characters)"""


class _ReportDigestsRequired(TypedDict):
    files: Optional[List[ReportDigestsFiles]]
    """at most 5000 items"""


class ReportDigests(_ReportDigestsRequired, total=False):
    branch: str
    """branch that was looked at; memories of other branches stay as they are (at most 255 characters)"""


class _ReportUsageReportsRequired(TypedDict):
    key: str
    """names this use for ever in the project: a second report of it changes nothing (at most 200 characters)"""


class ReportUsageReports(_ReportUsageReportsRequired, total=False):
    agent: str
    """default: the caller's; of a run: its agent (at most 200 characters)"""
    at: str
    """when; default now. It counts in the period it lies in, however late it comes (date-time)"""
    cache_read_tokens: int
    """0 to 1e+12"""
    cache_write_tokens: int
    """0 to 1e+12"""
    cost_usd: float
    """left out: not known (0 to 1e+06)"""
    input_tokens: int
    """not those read from or written to a cache (0 to 1e+12)"""
    model: str
    """at most 200 characters"""
    output_tokens: int
    """0 to 1e+12"""
    run_id: str
    """at most 200 characters"""
    session: str
    """default: the caller's; of a run: its session (at most 200 characters)"""
    source: str
    """who counted: executor, hook, … (at most 40 characters)"""
    task_id: str
    """default: the run's task, else the one task the session holds (uuid)"""


class ReportUsage(TypedDict):
    reports: Optional[List[ReportUsageReports]]
    """at most 1000 items"""


class _ReportedChangesViolationsRequired(TypedDict):
    file_path: str
    """the requested path"""
    locked_by: str
    """agent that holds it"""


class ReportedChangesViolations(_ReportedChangesViolationsRequired, total=False):
    agent_type: str
    branch: str
    """branch of the lock; left out: every branch"""
    expires_at: str
    """RFC 3339 UTC"""
    held_path: str
    """the path that overlaps it, when it is another"""
    locked_at: str
    """RFC 3339 UTC"""
    mode: Literal["exclusive", "shared"]
    """one of exclusive, shared"""
    reason: str
    """what the holder wrote"""
    seconds_left: int
    session_id: str
    """session that holds it"""
    waiting: bool
    """it does not hold the path but asked for it earlier"""


class ReportedChanges(TypedDict):
    files: int
    success: bool
    """true: the report was taken in"""
    told: int
    """sessions that were told; a repetition within ten minutes tells nobody again"""
    violations: Optional[List[ReportedChangesViolations]]
    """changed files that another session holds, at most 100; an empty list means none"""


class ReportedDigests(TypedDict):
    changed: int
    """files whose digest is new"""
    files: int
    marked_fresh: int
    """observations that hold again"""
    marked_stale: int
    """observations that no longer hold"""
    success: bool


class _ReportedUsageBudgetsRequired(TypedDict):
    action: Literal["warn", "stop"]
    """one of warn, stop"""
    name: str
    percent: float
    """of the limit that is nearer"""
    period: Literal["day", "month", "total"]
    """one of day, month, total"""
    set_by: str
    spent_tokens: int
    spent_usd: float
    state: Literal["ok", "warned", "exceeded", "stopped"]
    """exceeded: over the limit, and action is warn (one of ok, warned, exceeded, stopped)"""
    warn_percent: int


class ReportedUsageBudgets(_ReportedUsageBudgetsRequired, total=False):
    agent: str
    limit_tokens: int
    limit_usd: float
    period_end: str
    period_start: str
    state_since: str
    uncosted: int
    """reports of this period without a cost: a limit in USD does not see them"""


class _ReportedUsageRequired(TypedDict):
    counted: int
    duplicates: int
    """reported before; not counted again"""
    success: bool


class ReportedUsage(_ReportedUsageRequired, total=False):
    budgets: Optional[List[ReportedUsageBudgets]]
    """budgets that are near their limit or over it"""


class _RerunChangesetRequired(TypedDict):
    changeset_id: str
    """uuid"""


class RerunChangeset(_RerunChangesetRequired, total=False):
    reason: str
    """at most 500 characters"""
    tier: int
    """only this tier, and what did not succeed above it; absent: route and verify everything anew (0 to 3)"""


class ResolveRepository(TypedDict, total=False):
    name: str
    """name for a repository seen for the first time (at most 200 characters)"""
    project: str
    """put it in this project instead of one of its own (at most 120 characters)"""
    remote: str
    """normalised remote: host/owner/name (at most 500 characters)"""
    root_commit: str
    """first commit of the history (at most 64 characters)"""


class ResolvedRepository(TypedDict):
    project: str
    project_id: int
    repository: str
    repository_id: int
    success: bool


class RevokeKey(TypedDict):
    name: str
    """name of the key (at most 200 characters)"""


class _RevokedKeyRequired(TypedDict):
    name: str
    success: bool


class RevokedKey(_RevokedKeyRequired, total=False):
    already: bool
    """it was revoked before"""


class _RotateKeyRequired(TypedDict):
    name: str
    """name of the key (at most 200 characters)"""


class RotateKey(_RotateKeyRequired, total=False):
    grace: str
    """how long the old secret stays good: 24h, 90m, 30s; 0 ends it at once; at most 720h (default 24h)"""


class _RotatedKeyKeyRequired(TypedDict):
    created_at: str
    name: str
    prefix: str
    """first characters of the secret, to recognise it"""
    scopes: Optional[List[str]]
    status: Literal["active", "expired", "revoked"]
    """one of active, expired, revoked"""


class RotatedKeyKey(_RotatedKeyKeyRequired, total=False):
    agent_id: str
    agent_type: str
    expires_at: str
    last_used_at: str
    """to the minute"""
    person: str
    project: str
    """absent: every project"""
    rate_limit: int
    """requests a second; absent: the server's default"""
    revoked_at: str
    rotated_at: str
    """when it got the secret it has now"""
    stream_limit: int
    """waiting calls and open streams at a time; absent: the server's default"""


class _RotatedKeyRequired(TypedDict):
    key: RotatedKeyKey
    secret: str
    """send it as X-API-Key; it cannot be shown again"""
    success: bool


class RotatedKey(_RotatedKeyRequired, total=False):
    old_secret_until: str
    """until when the old secret is good; absent: it ended"""


class _RouteDecisionPlanRequired(TypedDict):
    policy: str
    required: bool
    tier: int


class RouteDecisionPlan(_RouteDecisionPlanRequired, total=False):
    blocked: str
    """why nothing can run it"""
    executor: str


class _RouteDecisionReasonsRequired(TypedDict):
    code: str
    """such as matched, size, trust, failures, fork, truncated, waived, lock_violation, draft"""
    text: str
    tier: int


class RouteDecisionReasons(_RouteDecisionReasonsRequired, total=False):
    path: str
    """an example of what matched"""
    policy: str


class _RouteDecisionWaivedRequired(TypedDict):
    policy: str
    required: bool
    tier: int


class RouteDecisionWaived(_RouteDecisionWaivedRequired, total=False):
    blocked: str
    """why nothing can run it"""
    executor: str


class _RouteDecisionRequired(TypedDict):
    plan: Optional[List[RouteDecisionPlan]]
    reasons: Optional[List[RouteDecisionReasons]]
    tiers: Optional[List[int]]


class RouteDecision(_RouteDecisionRequired, total=False):
    waived: Optional[List[RouteDecisionWaived]]
    """matched, but dropped for a trusted author's small change"""


class _RunDemandsRequired(TypedDict):
    tags: Optional[List[str]]


class RunDemands(_RunDemandsRequired, total=False):
    executor_profile: str
    hostname: str
    project_dir: str


class Run(TypedDict):
    agent_name: Optional[str]
    attempt: int
    """how often it was claimed"""
    claimed_at: Optional[str]
    completed_at: Optional[str]
    created_at: str
    deadline: Optional[str]
    demands: Optional[RunDemands]
    error: Optional[str]
    execution_mode: Literal["sync", "async_poll", "async_callback"]
    """one of sync, async_poll, async_callback"""
    max_attempts: int
    parent_session_id: Optional[str]
    priority: int
    project: str
    project_dir: Optional[str]
    prompt: str
    run_id: str
    runner_id: Optional[str]
    session_id: str
    started_at: Optional[str]
    status: Literal["pending", "claimed", "running", "stopping", "completed", "failed", "stopped"]
    """one of pending, claimed, running, stopping, completed, failed, stopped"""
    task_id: Optional[str]
    """the task of the work queue that it executes"""
    timeout_at: Optional[str]
    """while it is pending: it fails then unless a runner fits"""
    type: Literal["start_session", "resume_session"]
    """one of start_session, resume_session"""


class _RunCompletedRequired(TypedDict):
    run_id: str
    """at most 200 characters"""
    runner_id: str
    """at most 200 characters"""


class RunCompleted(_RunCompletedRequired, total=False):
    status: str
    """success; not looked at (at most 100 characters)"""


class RunFailed(TypedDict):
    error: str
    """what went wrong, such as the end of its stderr"""
    run_id: str
    """at most 200 characters"""
    runner_id: str
    """at most 200 characters"""


class RunRef(TypedDict):
    run_id: str
    """at most 200 characters"""


class RunStarted(TypedDict):
    run_id: str
    """at most 200 characters"""
    runner_id: str
    """at most 200 characters"""


class _RunStoppedRequired(TypedDict):
    run_id: str
    """at most 200 characters"""
    runner_id: str
    """at most 200 characters"""


class RunStopped(_RunStoppedRequired, total=False):
    signal: str
    """at most 100 characters; default SIGTERM"""


class _RunWhyDemandsRequired(TypedDict):
    tags: Optional[List[str]]


class RunWhyDemands(_RunWhyDemandsRequired, total=False):
    executor_profile: str
    hostname: str
    project_dir: str


class RunWhyRunners(TypedDict):
    executor_profile: str
    fits: bool
    hostname: str
    lacks: Optional[List[str]]
    runner_id: str
    status: Literal["online", "stale"]
    """one of online, stale"""


class _RunWhyRequired(TypedDict):
    ahead: int
    """runs with the same demands that are served before it"""
    demands: Optional[RunWhyDemands]
    reason: str
    """session_busy, delayed, queued, at_capacity, no_runner, no_match, agent_paused, agent_draining,
    budget_exhausted, or the status
    """
    run_id: str
    runners: Optional[List[RunWhyRunners]]
    status: str
    why: str
    """the same as a sentence"""


class RunWhy(_RunWhyRequired, total=False):
    waits_for_run: str


class RunnerRef(TypedDict):
    runner_id: str
    """at most 200 characters"""


class _RunnersRunnersRequired(TypedDict):
    capacity: Optional[int]
    """most runs it takes at once; null: it does not say"""
    draining: bool
    """it finishes what it has and takes nothing new"""
    executor: Dict[str, Any]
    executor_profile: str
    hostname: str
    last_heartbeat: str
    project_dir: str
    registered_at: str
    require_matching_tags: bool
    runner_id: str
    seconds_since_heartbeat: float
    status: Literal["online", "stale"]
    """one of online, stale"""
    tags: Optional[List[str]]


class RunnersRunners(_RunnersRunnersRequired, total=False):
    drain_reason: str
    drained_by: str
    draining_since: str


class Runners(TypedDict):
    runners: Optional[List[RunnersRunners]]


class _RunsRunsDemandsRequired(TypedDict):
    tags: Optional[List[str]]


class RunsRunsDemands(_RunsRunsDemandsRequired, total=False):
    executor_profile: str
    hostname: str
    project_dir: str


class RunsRuns(TypedDict):
    agent_name: Optional[str]
    attempt: int
    """how often it was claimed"""
    claimed_at: Optional[str]
    completed_at: Optional[str]
    created_at: str
    deadline: Optional[str]
    demands: Optional[RunsRunsDemands]
    error: Optional[str]
    execution_mode: Literal["sync", "async_poll", "async_callback"]
    """one of sync, async_poll, async_callback"""
    max_attempts: int
    parent_session_id: Optional[str]
    priority: int
    project: str
    project_dir: Optional[str]
    prompt: str
    run_id: str
    runner_id: Optional[str]
    session_id: str
    started_at: Optional[str]
    status: Literal["pending", "claimed", "running", "stopping", "completed", "failed", "stopped"]
    """one of pending, claimed, running, stopping, completed, failed, stopped"""
    task_id: Optional[str]
    """the task of the work queue that it executes"""
    timeout_at: Optional[str]
    """while it is pending: it fails then unless a runner fits"""
    type: Literal["start_session", "resume_session"]
    """one of start_session, resume_session"""


class _RunsRequired(TypedDict):
    runs: Optional[List[RunsRuns]]


class Runs(_RunsRequired, total=False):
    truncated: bool
    """there are more: ask with after"""


class Safeguards(TypedDict):
    two_person: Optional[List[Literal["force_release", "policies", "guardrails"]]]
    """acts that wait for another person's approval; while the list is not empty, changing it is one of them"""


class _SendMessageRequired(TypedDict):
    text: str
    """at most 4000 characters"""


class SendMessage(_SendMessageRequired, total=False):
    ack_required: bool
    """ask for ack_message"""
    allow_unknown: bool
    """keep it for agents never seen in this project, instead of refusing"""
    kind: Literal["note", "question", "answer", "request", "warning"]
    """default: note, or answer with reply_to (one of note, question, answer, request, warning)"""
    reply_to: str
    """message answered; acknowledges it (uuid)"""
    thread: str
    """thread to join; a reply joins that of its original (at most 200 characters)"""
    to: Optional[List[str]]
    """agent ids; * = all active; default: sender of reply_to"""
    urgency: Literal["normal", "high"]
    """messages of persons are above both (one of normal, high)"""


class _SentMessageRequired(TypedDict):
    message_id: str
    recipients: Optional[List[str]]
    sessions_told: int
    """open sessions that get it with their next call; a recipient without one is told when it comes"""
    success: bool
    thread: str


class SentMessage(_SentMessageRequired, total=False):
    unknown_recipients: Optional[List[str]]
    """recipients never seen in this project"""


class _SessionRequired(TypedDict):
    lapse_seconds: int
    """seconds of silence after which it lapses, once it sent a heartbeat"""
    session_id: str
    """name of the session; send it with later calls"""
    status: str
    """active"""
    success: bool


class Session(_SessionRequired, total=False):
    agent_id: str
    lapses_at: str
    """when it lapses unless it is heard again, RFC 3339 UTC"""


class SessionAffinityAffinity(TypedDict):
    executor_profile: Optional[str]
    executor_session_id: Optional[str]
    hostname: Optional[str]
    project_dir: Optional[str]
    session_id: str


class SessionAffinity(TypedDict):
    affinity: SessionAffinityAffinity


class _SessionEventRequired(TypedDict):
    event_type: str
    """session_start, message, post_tool, result, session_stop, or any other word (at most 200 characters)"""
    session_id: str
    """at most 200 characters"""
    timestamp: str
    """at most 100 characters"""


class SessionEvent(_SessionEventRequired, total=False):
    content: Optional[List[Dict[str, Any]]]
    error: str
    exit_code: int
    """-2.147483648e+09 to 2.147483647e+09"""
    reason: str
    result_data: Any
    """of an event result"""
    result_text: str
    """of an event result"""
    role: str
    """at most 100 characters"""
    tool_input: Dict[str, Any]
    tool_name: str
    """at most 500 characters"""
    tool_output: Any


class _SessionEventsEventsRequired(TypedDict):
    content: Optional[List[Dict[str, Any]]]
    error: Optional[str]
    event_type: str
    exit_code: Optional[int]
    id: int
    reason: Optional[str]
    role: Optional[str]
    session_id: str
    timestamp: str
    tool_input: Optional[Dict[str, Any]]
    tool_name: Optional[str]
    tool_output: Any


class SessionEventsEvents(_SessionEventsEventsRequired, total=False):
    result_data: Any
    result_text: str


class _SessionEventsRequired(TypedDict):
    events: Optional[List[SessionEventsEvents]]


class SessionEvents(_SessionEventsRequired, total=False):
    next_after_id: int
    """after_id of the next page"""
    truncated: bool
    """there are more"""


class _SessionResultRequired(TypedDict):
    result: str
    """text of the assistant's last message"""


class SessionResult(_SessionResultRequired, total=False):
    result_data: Any
    """structured result, where the executor sent one"""


class SessionStatus(TypedDict):
    status: Literal["pending", "running", "stopping", "stopped", "finished", "failed", "not_existent"]
    """one of pending, running, stopping, stopped, finished, failed, not_existent"""


class SetAgentStatus(TypedDict):
    name: str
    """at most 200 characters"""
    status: Literal["active", "inactive"]
    """one of active, inactive"""


class _SetBudgetRequired(TypedDict):
    name: str
    """at most 100 characters"""


class SetBudget(_SetBudgetRequired, total=False):
    action: Literal["warn", "stop"]
    """stop: nothing new is claimed or dispatched until the period ends or the limit is raised (one of warn,
    stop; default stop)
    """
    agent: str
    """for this agent; left out: for the project (at most 200 characters)"""
    limit_tokens: int
    """input, output and cache together (0 to 1e+15)"""
    limit_usd: float
    """0 to 1e+07"""
    period: Literal["day", "month", "total"]
    """in UTC; total: for ever (one of day, month, total; default month)"""
    reason: str
    """at most 500 characters"""
    warn_percent: int
    """1 to 100; default 80"""


class _SetGuardrailRequired(TypedDict):
    action: Literal["deny", "ask", "allow", "default"]
    """default: as delivered; a rule of the project's own is removed (one of deny, ask, allow, default)"""
    reason: str
    """at most 500 characters"""
    rule: str
    """at most 60 characters"""


class SetGuardrail(_SetGuardrailRequired, total=False):
    pattern: str
    """a regular expression (RE2) over the command: makes or changes a rule of the project's own (at most 500
    characters)
    """


class SetSafeguards(TypedDict):
    reason: str
    """at most 500 characters"""
    two_person: Optional[List[Literal["force_release", "policies", "guardrails"]]]
    """at most 3 items"""


class _SetTrustRequired(TypedDict):
    agent: str
    """at most 200 characters"""


class SetTrust(_SetTrustRequired, total=False):
    ceiling: int
    """most that evidence may raise it to; absent: as it was, or the level if that is higher (0 to 4)"""
    level: int
    """from now on; evidence moves it further (0 to 4)"""
    reason: str
    """at most 2000 characters"""
    repository: str
    """normalised remote; empty: all of them (at most 500 characters)"""


class _SimulatePoliciesFilesRequired(TypedDict):
    path: str
    """at most 4096 characters"""


class SimulatePoliciesFiles(_SimulatePoliciesFilesRequired, total=False):
    additions: int
    """lines (0 to 1e+08)"""
    deletions: int
    """lines (0 to 1e+08)"""
    mode: str
    """git's octal mode, such as 100644, 120000 (symlink), 160000 (submodule) (at most 6 characters)"""
    previous_path: str
    """of a rename or copy (at most 4096 characters)"""
    status: Literal["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"]
    """one of added, removed, modified, renamed, copied, changed, unchanged; default modified"""


class _SimulatePoliciesLock_violationsRequired(TypedDict):
    holder: str
    """agent that held the lock (at most 200 characters)"""
    path: str
    """at most 4096 characters"""


class SimulatePoliciesLock_violations(_SimulatePoliciesLock_violationsRequired, total=False):
    reason: str
    """what the holder said it was for (at most 2000 characters)"""


class _SimulatePoliciesRequired(TypedDict):
    files: Optional[List[SimulatePoliciesFiles]]
    """at most 5000 items"""


class SimulatePolicies(_SimulatePoliciesRequired, total=False):
    branch: str
    """for policies of certain branches (at most 500 characters)"""
    draft: bool
    """not ready for review"""
    fork: bool
    """it comes from a fork"""
    lock_violations: Optional[List[SimulatePoliciesLock_violations]]
    """at most 1000 items"""
    prior_failures: int
    """the author's consecutive failures on the branch (0 to 1e+06)"""
    repository: str
    """normalised remote, for policies of certain repositories (at most 500 characters)"""
    truncated: bool
    """the list of files is not whole"""
    trust_level: int
    """of the author; absent: 2 (0 to 4)"""
    unavailable_executors: Optional[List[str]]
    """leave these out of the choice (at most 20 items)"""


class _SkillsSkillsRequired(TypedDict):
    agent_id: str
    """who stored it"""
    created_at: str
    description: str
    skill_id: str
    skill_name: str
    steps: Optional[List[Any]]
    success_rate: float
    successes: int
    tags: Optional[List[str]]
    updated_at: str
    uses: int


class SkillsSkills(_SkillsSkillsRequired, total=False):
    archived: bool


class Skills(TypedDict):
    count: int
    skills: Optional[List[SkillsSkills]]
    truncated: bool


class _SnoozeRequired(TypedDict):
    item: str
    """the item's id, as the page shows it (at most 200 characters)"""


class Snooze(_SnoozeRequired, total=False):
    minutes: float
    """for so long; default 60 (1 to 43200)"""
    reason: str
    """at most 500 characters"""
    until: str
    """until then, instead of minutes (date-time)"""


class _SnoozedRequired(TypedDict):
    item: str


class Snoozed(_SnoozedRequired, total=False):
    reason: str
    until: str
    """left out: it is not hidden"""


class _SnoozedItemsItemsRequired(TypedDict):
    item: str


class SnoozedItemsItems(_SnoozedItemsItemsRequired, total=False):
    reason: str
    until: str
    """left out: it is not hidden"""


class SnoozedItems(TypedDict):
    items: Optional[List[SnoozedItemsItems]]


class _StopSessionRequired(TypedDict):
    session_id: str
    """at most 200 characters"""


class StopSession(_StopSessionRequired, total=False):
    tree: bool
    """stop everything below it, too; ends of children are then told to nobody"""


class _StoppedRunRequired(TypedDict):
    ok: bool
    run_id: str
    session_id: str
    status: Literal["stopping", "stopped"]
    """stopping: its runner is told (one of stopping, stopped)"""


class StoppedRun(_StoppedRunRequired, total=False):
    message: str


class _StoppedSessionRequired(TypedDict):
    ok: bool
    session_id: str
    status: str
    """stopping: its runner is told; else the status it has"""


class StoppedSession(_StoppedSessionRequired, total=False):
    descendants_stopped: int
    message: str
    run_id: str


class _StoreSkillRequired(TypedDict):
    name: str
    """what it does; unique in the project (at most 200 characters)"""


class StoreSkill(_StoreSkillRequired, total=False):
    description: str
    """when to use it (at most 8000 characters)"""
    steps: Optional[List[Any]]
    """what to do, in order (at most 100 items)"""
    tags: Optional[List[str]]
    """task types it is for (at most 50 items)"""


class StoredSkill(TypedDict):
    action: Literal["stored", "updated"]
    """one of stored, updated"""
    skill_id: str
    success: bool


class _SubmitChangesetRequired(TypedDict):
    branch: str
    """at most 500 characters"""
    head_sha: str
    """the commit, in full"""


class SubmitChangeset(_SubmitChangesetRequired, total=False):
    base_ref: str
    """branch it is meant for; empty: the default branch (at most 500 characters)"""
    base_sha: str
    """hint: counts if the base branch was pushed to it, else the branch's head is taken"""
    bundle: str
    """git bundle, base64, at most 3 MB, of a commit that is not pushed: git bundle create - base..branch (at
    most 4000000 characters)
    """
    changed_files: Optional[List[str]]
    """hint only: the list is read from git; it can add to what is verified, never take away (at most 3000 items)"""
    repository: str
    """its remote, or its name in this project; empty: the project's only one (at most 500 characters)"""
    task_id: str
    """the task it was made for (uuid)"""
    title: str
    """at most 300 characters"""


class SubmitTasksTasksAgent_requirements(TypedDict, total=False):
    """demands on the agent"""

    agent_name: str
    """blueprint of that run (at most 60 characters)"""
    agent_type: str
    """only agents of this type (at most 200 characters)"""
    archetype: str
    """only agents with the capability archetype:<this> (at most 80 characters)"""
    executor_profile: str
    """exact profile: a runner executes the task as a run (at most 200 characters)"""
    hostname: str
    """exact host (at most 255 characters)"""
    min_trust_level: int
    """least trust of the agent (0 to 4)"""
    project_dir: str
    """exact directory (at most 1000 characters)"""


class _SubmitTasksTasksRequired(TypedDict):
    description: str
    """what to do (at most 20000 characters)"""
    task_type: str
    """a word workers filter by (at most 200 characters)"""


class SubmitTasksTasks(_SubmitTasksTasksRequired, total=False):
    agent_requirements: SubmitTasksTasksAgent_requirements
    """demands on the agent"""
    deadline: str
    """fails when it is not finished by then (date-time)"""
    delay_seconds: float
    """begin no sooner than in so many seconds (0 to 3.1536e+07)"""
    depends_on: Optional[List[str]]
    """task ids, or refs of this batch (at most 200 items)"""
    files: Optional[List[str]]
    """to lock before work (at most 200 items)"""
    input_data: Dict[str, Any]
    """up to 256 KiB"""
    labels: Optional[List[str]]
    """words to find it by; they demand nothing (at most 50 items)"""
    max_attempts: int
    """claims before it is dead; releases and lost leases count (1 to 20; default 3)"""
    priority: int
    """1 is first (1 to 10; default 5)"""
    ref: str
    """a name for depends_on within this batch (at most 100 characters)"""
    run_at: str
    """begin no sooner than at this time (date-time)"""
    tags: Optional[List[str]]
    """the worker needs all (at most 50 items)"""


class SubmitTasks(TypedDict):
    tasks: Optional[List[SubmitTasksTasks]]
    """the tasks, in any order (at most 5000 items)"""


class SubmitWorkAgent_requirements(TypedDict, total=False):
    """demands on the agent"""

    agent_name: str
    """blueprint of that run (at most 60 characters)"""
    agent_type: str
    """only agents of this type (at most 200 characters)"""
    archetype: str
    """only agents with the capability archetype:<this> (at most 80 characters)"""
    executor_profile: str
    """exact profile: a runner executes the task as a run (at most 200 characters)"""
    hostname: str
    """exact host (at most 255 characters)"""
    min_trust_level: int
    """least trust of the agent (0 to 4)"""
    project_dir: str
    """exact directory (at most 1000 characters)"""


class _SubmitWorkRequired(TypedDict):
    description: str
    """what to do (at most 20000 characters)"""
    task_type: str
    """a word workers filter by (at most 200 characters)"""


class SubmitWork(_SubmitWorkRequired, total=False):
    agent_requirements: SubmitWorkAgent_requirements
    """demands on the agent"""
    deadline: str
    """fails when it is not finished by then (date-time)"""
    delay_seconds: float
    """begin no sooner than in so many seconds (0 to 3.1536e+07)"""
    depends_on: Optional[List[str]]
    """task ids to complete first (at most 200 items)"""
    files: Optional[List[str]]
    """to lock before work (at most 200 items)"""
    input_data: Dict[str, Any]
    """up to 256 KiB"""
    labels: Optional[List[str]]
    """words to find it by; they demand nothing (at most 50 items)"""
    max_attempts: int
    """claims before it is dead; releases and lost leases count (1 to 20; default 3)"""
    priority: int
    """1 is first (1 to 10; default 5)"""
    run_at: str
    """begin no sooner than at this time (date-time)"""
    tags: Optional[List[str]]
    """the worker needs all (at most 50 items)"""


class SubmittedChangeset(TypedDict):
    changeset_id: str
    created: bool
    """false: the commit was known already"""
    state: str
    status_url: str
    """GET it for the verdict"""


class SubmittedTasksTasks(TypedDict):
    blocked: bool
    """waits for dependencies"""
    status: Literal["pending", "scheduled"]
    """one of pending, scheduled"""
    task_id: str


class _SubmittedTasksRequired(TypedDict):
    success: bool
    """false: all of them wait for a person's approval"""
    task_ids: Optional[List[str]]
    tasks: Optional[List[SubmittedTasksTasks]]


class SubmittedTasks(_SubmittedTasksRequired, total=False):
    act_id: str
    approval_required: bool
    error: str
    operation: str


class _SubmittedWorkRequired(TypedDict):
    blocked: bool
    """waits for dependencies"""
    status: Literal["pending", "scheduled", "awaiting_approval"]
    """one of pending, scheduled, awaiting_approval"""
    success: bool
    """false: it waits for a person's approval"""
    task_id: str


class SubmittedWork(_SubmittedWorkRequired, total=False):
    act_id: str
    approval_required: bool
    error: str
    operation: str


class _TaskChangeRequired(TypedDict):
    success: bool
    task_id: str


class TaskChange(_TaskChangeRequired, total=False):
    cancelled: int
    """how many tasks were cancelled, dependents included"""
    lease_expires_at: str
    memory_id: str
    """experience that was recorded"""
    memory_note: str
    """why none was"""
    reason: str
    """a word for why nothing was changed"""
    replayed: bool
    """this was done before; nothing was changed now"""
    retry_at: str
    """when a task that failed comes back"""
    status: str
    """the task's status now"""
    why: str
    """the same as a sentence"""


class TaskRef(TypedDict):
    task_id: str
    """uuid"""


class TaskReplyTaskAgent_requirements(TypedDict, total=False):
    agent_name: str
    """blueprint of that run (at most 60 characters)"""
    agent_type: str
    """only agents of this type (at most 200 characters)"""
    archetype: str
    """only agents with the capability archetype:<this> (at most 80 characters)"""
    executor_profile: str
    """exact profile: a runner executes the task as a run (at most 200 characters)"""
    hostname: str
    """exact host (at most 255 characters)"""
    min_trust_level: int
    """least trust of the agent (0 to 4)"""
    project_dir: str
    """exact directory (at most 1000 characters)"""


class _TaskReplyTaskProgressRequired(TypedDict):
    at: str


class TaskReplyTaskProgress(_TaskReplyTaskProgressRequired, total=False):
    note: str
    percent: float


class _TaskReplyTaskWaits_forRequired(TypedDict):
    status: str
    task_id: str
    task_type: str


class TaskReplyTaskWaits_for(_TaskReplyTaskWaits_forRequired, total=False):
    error_message: str


class _TaskReplyTaskRequired(TypedDict):
    attempt: int
    created_at: str
    depends_on: Optional[List[str]]
    description: str
    id: str
    max_attempts: int
    priority: int
    state: Literal["ready", "blocked", "scheduled", "claimed", "running", "verifying", "completed", "failed", "dead", "cancelled"]
    """the status, with pending split into ready and blocked (one of ready, blocked, scheduled, claimed, running,
    verifying, completed, failed, dead, cancelled)
    """
    status: Literal["scheduled", "pending", "claimed", "running", "verifying", "completed", "failed", "dead", "cancelled"]
    """one of scheduled, pending, claimed, running, verifying, completed, failed, dead, cancelled"""
    submitted_by: str
    task_id: str
    task_type: str
    updated_at: str


class TaskReplyTask(_TaskReplyTaskRequired, total=False):
    agent_requirements: TaskReplyTaskAgent_requirements
    claimed_at: str
    claimed_by: str
    completed_at: str
    deadline: str
    error_message: str
    files: Optional[List[str]]
    input_data: Any
    labels: Optional[List[str]]
    lease_expires_at: str
    progress: TaskReplyTaskProgress
    repository: str
    result: Any
    run_at: str
    tags: Optional[List[str]]
    waits_for: Optional[List[TaskReplyTaskWaits_for]]
    """dependencies that are not completed"""
    why: str
    """why it is not ready"""


class _TaskReplyRequired(TypedDict):
    success: bool


class TaskReply(_TaskReplyRequired, total=False):
    reason: Literal["task_not_found"]
    """one of task_not_found"""
    task: TaskReplyTask


class TasksTasksAgent_requirements(TypedDict, total=False):
    agent_name: str
    """blueprint of that run (at most 60 characters)"""
    agent_type: str
    """only agents of this type (at most 200 characters)"""
    archetype: str
    """only agents with the capability archetype:<this> (at most 80 characters)"""
    executor_profile: str
    """exact profile: a runner executes the task as a run (at most 200 characters)"""
    hostname: str
    """exact host (at most 255 characters)"""
    min_trust_level: int
    """least trust of the agent (0 to 4)"""
    project_dir: str
    """exact directory (at most 1000 characters)"""


class _TasksTasksProgressRequired(TypedDict):
    at: str


class TasksTasksProgress(_TasksTasksProgressRequired, total=False):
    note: str
    percent: float


class _TasksTasksWaits_forRequired(TypedDict):
    status: str
    task_id: str
    task_type: str


class TasksTasksWaits_for(_TasksTasksWaits_forRequired, total=False):
    error_message: str


class _TasksTasksRequired(TypedDict):
    attempt: int
    created_at: str
    depends_on: Optional[List[str]]
    description: str
    id: str
    max_attempts: int
    priority: int
    state: Literal["ready", "blocked", "scheduled", "claimed", "running", "verifying", "completed", "failed", "dead", "cancelled"]
    """the status, with pending split into ready and blocked (one of ready, blocked, scheduled, claimed, running,
    verifying, completed, failed, dead, cancelled)
    """
    status: Literal["scheduled", "pending", "claimed", "running", "verifying", "completed", "failed", "dead", "cancelled"]
    """one of scheduled, pending, claimed, running, verifying, completed, failed, dead, cancelled"""
    submitted_by: str
    task_id: str
    task_type: str
    updated_at: str


class TasksTasks(_TasksTasksRequired, total=False):
    agent_requirements: TasksTasksAgent_requirements
    claimed_at: str
    claimed_by: str
    completed_at: str
    deadline: str
    error_message: str
    files: Optional[List[str]]
    input_data: Any
    labels: Optional[List[str]]
    lease_expires_at: str
    progress: TasksTasksProgress
    repository: str
    result: Any
    run_at: str
    tags: Optional[List[str]]
    waits_for: Optional[List[TasksTasksWaits_for]]
    """dependencies that are not completed"""
    why: str
    """why it is not ready"""


class _TasksRequired(TypedDict):
    count: int
    tasks: Optional[List[TasksTasks]]
    truncated: bool
    """there are more"""


class Tasks(_TasksRequired, total=False):
    next_cursor: str
    """send as cursor for the next page; a page may be short and still have one"""


class _TrustListEventsRequired(TypedDict):
    at: str
    by: str
    kind: Literal["passed", "failed", "denied", "waived_failure", "set", "raised", "lowered"]
    """one of passed, failed, denied, waived_failure, set, raised, lowered"""
    level: int
    """afterwards"""
    repository: str


class TrustListEvents(_TrustListEventsRequired, total=False):
    changeset_id: str
    pass_rate_bound: float
    reason: str
    weight: float
    """min(1, lines / 50)"""


class _TrustListTrustRequired(TypedDict):
    agent_id: str
    alpha: float
    """1 and what passed at the first attempt, by size, halved every 30 days"""
    beta: float
    """1 and what failed, likewise"""
    ceiling: int
    """most that evidence may raise the level to; a person sets it"""
    evidence: float
    """changes since the level moved last: 20 to rise, 10 to sink"""
    level: int
    """0 (a person looks at everything) to 4"""
    pass_rate_bound: float
    """the true rate of passing exceeds it with 95 %"""
    repository: str
    """empty: what was set for all, and where new repositories begin"""


class TrustListTrust(_TrustListTrustRequired, total=False):
    frozen_until: str
    """no rise before, since a waived check failed"""
    set_by: str
    updated_at: str


class _TrustListRequired(TypedDict):
    trust: Optional[List[TrustListTrust]]


class TrustList(_TrustListRequired, total=False):
    events: Optional[List[TrustListEvents]]
    """of the agent asked for, newest first"""


class UpdateAgentDemands(TypedDict, total=False):
    executor_profile: str
    """at most 200 characters"""
    hostname: str
    """at most 255 characters"""
    project_dir: str
    """at most 4096 characters"""
    tags: Optional[List[str]]
    """at most 50 items"""


class UpdateAgentMcp_servers(TypedDict, total=False):
    args: Optional[List[str]]
    """at most 200 items"""
    command: str
    """at most 4096 characters"""
    env: Dict[str, str]
    headers: Dict[str, str]
    type: Literal["stdio", "http"]
    """one of stdio, http; default stdio"""
    url: str
    """at most 4096 characters"""


class _UpdateAgentRequired(TypedDict):
    name: str
    """at most 200 characters"""


class UpdateAgent(_UpdateAgentRequired, total=False):
    capabilities: List[str]
    demands: UpdateAgentDemands
    description: str
    """at most 20000 characters"""
    mcp_servers: Dict[str, UpdateAgentMcp_servers]
    skills: List[str]
    system_prompt: str
    tags: List[str]


class UpdateCapabilityMcp_servers(TypedDict, total=False):
    args: Optional[List[str]]
    """at most 200 items"""
    command: str
    """at most 4096 characters"""
    env: Dict[str, str]
    headers: Dict[str, str]
    type: Literal["stdio", "http"]
    """one of stdio, http; default stdio"""
    url: str
    """at most 4096 characters"""


class _UpdateCapabilityRequired(TypedDict):
    name: str
    """at most 200 characters"""


class UpdateCapability(_UpdateCapabilityRequired, total=False):
    description: str
    """at most 20000 characters"""
    mcp_servers: Dict[str, UpdateCapabilityMcp_servers]
    text: str


class UpdatePolicyApprovals(TypedDict, total=False):
    """what is asked of people"""

    count: int
    """approvals needed; 0 reads as 1 (0 to 20)"""
    roles: Optional[List[str]]
    """any of these suffices (at most 20 items)"""
    teams: Optional[List[str]]
    """at most 100 items"""
    users: Optional[List[str]]
    """at most 100 items"""


class _UpdatePolicyRequired(TypedDict):
    name: str
    """at most 100 characters"""


class UpdatePolicy(_UpdatePolicyRequired, total=False):
    accept_conclusions: List[Literal["skipped", "neutral", "stale", "action_required"]]
    """GitHub conclusions that count as success beside success (at most 4 items)"""
    approvals: UpdatePolicyApprovals
    """what is asked of people"""
    branch: str
    """glob over the branch; empty: every branch (at most 500 characters)"""
    command: str
    """for e2b and ntm: run by /bin/sh -c in the checkout (at most 20000 characters)"""
    default: bool
    """what a raised tier without a matching policy runs"""
    enabled: bool
    exclude_patterns: List[str]
    """paths that do not count (at most 500 items)"""
    executors: List[Literal["inline", "github", "e2b", "ntm", "human"]]
    """in order of preference (at most 10 items)"""
    fail_on: Literal["note", "warning", "error"]
    """lowest level of finding that fails (one of note, warning, error)"""
    fold_case: bool
    """match without regard to case"""
    patterns: List[str]
    """globs over paths, such as **/*.go; ** crosses directories (at most 500 items)"""
    priority: int
    """lower first, within a tier (0 to 1000)"""
    repository: str
    """glob over the normalised remote; empty: every repository (at most 500 characters)"""
    required: bool
    """false: advisory, never decides the verdict"""
    required_env: List[str]
    """environment variables that must be set for the gateway, else the policy is blocked (at most 50 items)"""
    requires_approval: bool
    """a person approves beside the run"""
    retry_max: int
    """further attempts after a failure of the change itself (0 to 5)"""
    template: str
    """e2b template id (at most 200 characters)"""
    tier: int
    """0 to 4"""
    timeout_seconds: int
    """1 to 86400"""
    tools: List[str]
    """inline: which; empty: every one that fits (at most 50 items)"""
    version: int
    """version you read; a conflict when it was changed since (0 to 2e+09)"""
    waivable: bool
    """trust may drop it for small changes"""
    workflow: str
    """GitHub Actions workflow file, such as verify.yml (at most 200 characters)"""


class _UpdateSessionMetadataRequired(TypedDict):
    session_id: str
    """at most 200 characters"""


class UpdateSessionMetadata(_UpdateSessionMetadataRequired, total=False):
    agent_name: str
    """at most 200 characters"""
    executor_profile: str
    """at most 200 characters"""
    executor_session_id: str
    """at most 500 characters"""
    hostname: str
    """at most 255 characters"""
    last_resumed_at: str
    """at most 100 characters"""
    project_dir: str
    """at most 4096 characters"""


class _UpdateWorkRequired(TypedDict):
    action: Literal["heartbeat", "progress", "release"]
    """one of heartbeat, progress, release"""
    task_id: str
    """uuid"""


class UpdateWork(_UpdateWorkRequired, total=False):
    lease_seconds: int
    """a new length of the lease (10 to 86400)"""
    lease_token: str
    """as claimed (at most 40 characters)"""
    note: str
    """progress, or why you release (at most 2000 characters)"""
    percent: float
    """0 to 100"""


class _UsageSummaryGroupsRequired(TypedDict):
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float
    """of the reports that name a cost"""
    input_tokens: int
    key: str
    """what it is grouped by; empty: not known"""
    output_tokens: int
    reports: int
    tokens: int
    """all four"""


class UsageSummaryGroups(_UsageSummaryGroupsRequired, total=False):
    name: str
    """of a task or change: its title"""
    uncosted: int
    """reports without a cost"""


class _UsageSummaryTotalRequired(TypedDict):
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float
    """of the reports that name a cost"""
    input_tokens: int
    key: str
    """what it is grouped by; empty: not known"""
    output_tokens: int
    reports: int
    tokens: int
    """all four"""


class UsageSummaryTotal(_UsageSummaryTotalRequired, total=False):
    """of everything that was asked for, also what is cut off"""

    name: str
    """of a task or change: its title"""
    uncosted: int
    """reports without a cost"""


class UsageSummary(TypedDict):
    by: str
    groups: Optional[List[UsageSummaryGroups]]
    since: str
    total: UsageSummaryTotal
    """of everything that was asked for, also what is cut off"""
    truncated: bool


class UsedSkill(TypedDict):
    skill_id: str
    skill_name: str
    success: bool
    success_rate: float
    successes: int
    uses: int


class VerificationPolicyApprovals(TypedDict, total=False):
    count: int
    """approvals needed; 0 reads as 1 (0 to 20)"""
    roles: Optional[List[str]]
    """any of these suffices (at most 20 items)"""
    teams: Optional[List[str]]
    """at most 100 items"""
    users: Optional[List[str]]
    """at most 100 items"""


class _VerificationPolicyRequired(TypedDict):
    enabled: bool
    executors: Optional[List[str]]
    """in order of preference"""
    name: str
    patterns: Optional[List[str]]
    required: bool
    """false: advisory, never decides the verdict"""
    tier: int
    """0 static, 1 unit, 2 integration, 3 system, 4 human"""
    timeout_seconds: int
    waivable: bool
    """trust may drop it for small changes"""


class VerificationPolicy(_VerificationPolicyRequired, total=False):
    accept_conclusions: Optional[List[str]]
    """GitHub conclusions that count as success beside success"""
    approvals: VerificationPolicyApprovals
    branch: str
    """glob over the branch; empty: every branch"""
    command: str
    """for e2b and ntm: run by /bin/sh -c in the checkout"""
    default: bool
    """what a raised tier without a matching policy runs"""
    exclude_patterns: Optional[List[str]]
    fail_on: str
    """lowest level of finding that fails"""
    fold_case: bool
    id: str
    priority: int
    """lower first, within a tier"""
    repository: str
    """glob over the normalised remote; empty: every repository"""
    required_env: Optional[List[str]]
    """environment variables that must be set for the gateway, else the policy is blocked"""
    requires_approval: bool
    """a person approves beside the run"""
    retry_max: int
    """further attempts after a failure of the change itself"""
    template: str
    """e2b template id"""
    tools: Optional[List[str]]
    """inline: which; empty: every one that fits"""
    version: int
    """counts its changes, from 1"""
    workflow: str
    """GitHub Actions workflow file, such as verify.yml"""


class _VerificationStateDeniedRequired(TypedDict):
    by: str
    policy: str


class VerificationStateDenied(_VerificationStateDeniedRequired, total=False):
    comment: str


class _VerificationStateFindingsRequired(TypedDict):
    level: str
    """none, note, warning or error"""
    line: int
    """from 1; 0: the whole file"""
    message: str
    path: str
    rule: str
    tool: str


class VerificationStateFindings(_VerificationStateFindingsRequired, total=False):
    end_line: int
    fingerprint: str


class _VerificationStateRunsRequired(TypedDict):
    policy: str
    required: bool
    state: str
    """its conclusion, or how far it is"""
    tier: int


class VerificationStateRuns(_VerificationStateRunsRequired, total=False):
    output: str
    """the end of it, when it failed"""
    reason: str
    url: str


class _VerificationStateRequired(TypedDict):
    decided: bool
    """nothing more happens by itself"""
    found: bool
    """false: the gateway knows no such commit"""
    head_sha: str
    state: str
    """a changeset's state, or unknown"""


class VerificationState(_VerificationStateRequired, total=False):
    changeset_id: str
    denied: Optional[List[VerificationStateDenied]]
    findings: Optional[List[VerificationStateFindings]]
    """at most 20, when it failed"""
    reason: str
    """why the verdict, or what it waits for"""
    runs: Optional[List[VerificationStateRuns]]
    """the latest attempt at each policy"""
    tiers: Optional[List[int]]
    waits_for: Optional[List[str]]
    """policies that people are asked about"""


class VerifiedLock(TypedDict):
    expires_at: str
    """RFC 3339 UTC"""
    fencing_token: str
    file_path: str
    locked_by: str
    seconds_left: int
    success: bool
    valid: bool


class VerifyLock(TypedDict):
    fencing_token: str
    """token that acquire_lock returned"""
    file_path: str
    """the path to be written; a lock on its directory counts too (at most 1024 characters)"""


class _ViolationsViolationsRequired(TypedDict):
    agent_id: str
    """who changed it; with unknown: who worked there last"""
    at: str
    """RFC 3339 UTC"""
    file_path: str
    held_path: str
    """the lock's path"""
    id: str
    last_at: str
    """when it was reported last, RFC 3339 UTC"""
    locked_by: str
    """agent that held the lock"""
    stage: Literal["edit", "commit", "push"]
    """one of edit, commit, push"""


class ViolationsViolations(_ViolationsViolationsRequired, total=False):
    bypass: str
    """the reason given for going ahead"""
    command: str
    holder_session_id: str
    repository: str
    session_id: str
    tool: str
    unknown: bool


class Violations(TypedDict):
    count: int
    truncated: bool
    """there are more than limit"""
    violations: Optional[List[ViolationsViolations]]


class _VoteApprovalRequired(TypedDict):
    approval_id: str
    """uuid"""


class VoteApproval(_VoteApprovalRequired, total=False):
    comment: str
    """at most 2000 characters"""
    head_sha: str
    """the commit that was looked at: refused when it is not the approval's (at most 64 characters)"""


class _WhoAmIRequired(TypedDict):
    principal: str
    """what the key stands for: key:<name>, person:<name> or local"""
    project: str
    scopes: Optional[List[str]]


class WhoAmI(_WhoAmIRequired, total=False):
    agent_id: str
    agent_type: str
    bound_to: Literal["project"]
    """project: the key is good for this project alone (one of project)"""
    person: str
    session_id: str
    """session that calls with this identity act in"""


class _WhyNotReadyWaits_forRequired(TypedDict):
    status: str
    task_id: str
    task_type: str


class WhyNotReadyWaits_for(_WhyNotReadyWaits_forRequired, total=False):
    error_message: str


class _WhyNotReadyRequired(TypedDict):
    ready: bool
    success: bool
    task_id: str


class WhyNotReady(_WhyNotReadyRequired, total=False):
    demands: Dict[str, Any]
    """what an agent needs to take it"""
    fits_you: bool
    """whether your registered capabilities meet the demands"""
    reason: Literal["task_not_found"]
    """one of task_not_found"""
    state: str
    status: str
    waits_for: Optional[List[WhyNotReadyWaits_for]]
    """dependencies that are not completed"""
    why: str
    """one sentence"""


class WorkMemoriesScore(TypedDict):
    context: float
    """from its neighbours in the session"""
    coverage: float
    """share of the question's information that it and its neighbours have"""
    factor: float
    """age, staleness and a skill's success together"""
    matched: Optional[List[str]]
    """index terms; = marks whole identifiers, paths and codes"""
    parameters: int
    """version of the ranking's parameters"""
    paths: float
    tags: float
    words: float


class _WorkMemoriesRequired(TypedDict):
    content: Dict[str, Any]
    """episodic: event_type, summary, outcome, lessons, details, tags; procedural: skill_name, description,
    steps, success_rate
    """
    memory_id: str
    memory_type: Literal["episodic", "procedural"]
    """one of episodic, procedural"""
    relevance: float
    """0..1, what the list is sorted by"""
    why: str
    """what matched"""


class WorkMemories(_WorkMemoriesRequired, total=False):
    agent_id: str
    """who remembered"""
    archived: bool
    created_at: str
    details: Dict[str, Any]
    event_type: str
    id: str
    """memory_id again"""
    lessons: Optional[List[str]]
    outcome: str
    project: str
    """scope all: where it is from"""
    relevance_score: float
    """relevance again"""
    score: WorkMemoriesScore
    stale: bool
    """its file changed since: check before relying on it"""
    summary: str
    tags: Optional[List[str]]


class WorkQueue(TypedDict):
    """why there was none"""

    blocked: int
    """wait for dependencies"""
    claimed: int
    """others are at work on them"""
    ready_other: int
    """ready, but they demand other types, tags or agents"""
    scheduled: int
    """begin later"""


class _WorkTasksRequired(TypedDict):
    task_id: str


class WorkTasks(_WorkTasksRequired, total=False):
    attempt: int
    """which try this is"""
    deadline: str
    depends_on: Optional[List[str]]
    """completed tasks whose results may help: get_task"""
    description: str
    files: Optional[List[str]]
    """lock these before you begin"""
    input_data: Any
    """what the submitter sent along"""
    last_error: str
    """how the attempt before ended"""
    lease_expires_at: str
    """renew before then"""
    lease_token: str
    """send it with complete_work to be told when the task was lost"""
    max_attempts: int
    priority: int
    repository: str
    tags: Optional[List[str]]
    task_description: str
    """the same as description"""
    task_type: str


class _WorkRequired(TypedDict):
    success: bool
    """false: there was no task for you"""
    task_id: Optional[str]


class Work(_WorkRequired, total=False):
    attempt: int
    """which try this is"""
    deadline: str
    depends_on: Optional[List[str]]
    """completed tasks whose results may help: get_task"""
    description: str
    files: Optional[List[str]]
    """lock these before you begin"""
    held: bool
    """kept from new work: see why, next"""
    input_data: Any
    """what the submitter sent along"""
    last_error: str
    """how the attempt before ended"""
    lease_expires_at: str
    """renew before then"""
    lease_token: str
    """send it with complete_work to be told when the task was lost"""
    max_attempts: int
    memories: Optional[List[WorkMemories]]
    """what earlier agents learned about it, at most three"""
    memory_note: str
    """why memories are missing"""
    next: str
    priority: int
    queue: WorkQueue
    """why there was none"""
    reason: Literal["no_tasks_available", "agent_paused", "agent_draining", "budget_exhausted"]
    """one of no_tasks_available, agent_paused, agent_draining, budget_exhausted"""
    repository: str
    tags: Optional[List[str]]
    task_description: str
    """the same as description"""
    task_type: str
    tasks: Optional[List[WorkTasks]]
    """all of them, when limit is over 1"""
    why: str


class _WorkStatsLanesRequired(TypedDict):
    oldest: str
    ready: int
    """counted to 10,000"""
    task_type: str


class WorkStatsLanes(_WorkStatsLanesRequired, total=False):
    demands: Dict[str, Any]


class WorkStats(TypedDict):
    blocked: int
    claimed: int
    lanes: Optional[List[WorkStatsLanes]]
    latest: Dict[str, int]
    """states of the latest 20,000 tasks"""
    ready: int
    scheduled: int


class _WorkingItemsRequired(TypedDict):
    content: str
    item_id: int
    timestamp: str
    tokens: int
    type: str


class WorkingItems(_WorkingItemsRequired, total=False):
    compressed: bool
    compressed_by: str
    pinned: bool


class Working(TypedDict):
    count: int
    hidden: int
    """items no longer shown; originals=true has them"""
    items: Optional[List[WorkingItems]]
    tokens: int
    """of all items as shown"""


class _WorkingUpdateContext_itemRequired(TypedDict):
    content: Any
    """text; anything else is kept as JSON"""
    type: str
    """note, decision, file, error, … (at most 100 characters)"""


class WorkingUpdateContext_item(_WorkingUpdateContext_itemRequired, total=False):
    pinned: bool
    """never shorten it"""
    timestamp: str
    """when it was; default: now (date-time)"""


class _WorkingUpdateRequired(TypedDict):
    context_item: WorkingUpdateContext_item


class WorkingUpdate(_WorkingUpdateRequired, total=False):
    token_budget: int
    """most tokens of the session's working memory; older items are shortened to fit (100 to 200000; default
    8000)
    """


class _WorkingUpdatedRequired(TypedDict):
    compressed: int
    """older items that were shortened or hidden by this; their originals stay readable"""
    success: bool
    token_budget: int
    tokens: int
    """of all items as shown"""


class WorkingUpdated(_WorkingUpdatedRequired, total=False):
    compressed_by: str
    """extractive, or the model that did it"""
    item_id: int
    notes: Optional[List[str]]
    reason: str
    """over_budget: pinned items would exceed the budget; nothing was changed"""


class _WriteHandoffRequired(TypedDict):
    summary: str
    """what was done and where it stands, for somebody who was not there (at most 8000 characters)"""


class WriteHandoff(_WriteHandoffRequired, total=False):
    completed_work: Optional[List[Any]]
    """what is finished (at most 100 items)"""
    decisions: Optional[List[Any]]
    """what was decided, and why (at most 100 items)"""
    in_progress: Optional[List[Any]]
    """what is half done (at most 100 items)"""
    next_steps: Optional[List[Any]]
    """what to do next, first things first (at most 100 items)"""
    relevant_files: Optional[List[Any]]
    """files to look at (at most 200 items)"""
    to: str
    """agent to tell of it (at most 200 characters)"""


class WrittenHandoff(TypedDict):
    handoff_id: str
    success: bool
