// Written by internal/sdkgen from openapi.json; do not edit.
export interface AckMessage {
  /** ids of list_messages or of a notice (at most 200 items) */
  message_ids: Array<string> | null;
}

export interface AckedMessages {
  /** acknowledged by this call; the others were before */
  acknowledged: Array<string> | null;
  /** false when none of the ids is in the mailbox */
  success: boolean;
  /** ids that are not in the mailbox */
  unknown: Array<string> | null;
}

export interface AcquireLock {
  /** the lock counts on this branch only; left out: on every branch (at most 255 characters) */
  branch?: string;
  /** file, dir/, glob, or key such as api:users (at most 1024 characters) */
  file_path?: string;
  /** several: all or none (at most 200 items) */
  file_paths?: Array<string> | null;
  /** shared: several sessions may hold it, none exclusively (one of exclusive, shared; default exclusive) */
  mode?: "exclusive" | "shared";
  /** shown to others (at most 500 characters) */
  reason?: string;
  /** kept so long unless renewed (1 to 480; default 30) */
  ttl_minutes?: number;
  /** queue so long when held (0 to 55; default 0) */
  wait_seconds?: number;
}

export interface Acts {
  acts: Array<{
    act_id: string;
    agent_id?: string;
    arguments?: Record<string, unknown>;
    comment?: string;
    created_at: string;
    decided_at?: string;
    decided_by?: string;
    expires_at: string;
    /** command: of a tool call, which may be made once when it is approved; the others: the operation is done with the approval (one of command, work, force_release, policies, guardrails, safeguards) */
    kind: "command" | "work" | "force_release" | "policies" | "guardrails" | "safeguards";
    /** what is done when it is approved */
    operation: string;
    requested_by: string;
    session_id?: string;
    /** approved: a command that was let through and has not run yet; used: done (one of pending, approved, denied, used, expired) */
    status: "pending" | "approved" | "denied" | "used" | "expired";
    /** one line: what and on what */
    title: string;
    /** why it is asked, and the reason given */
    why?: string;
  }> | null;
  truncated: boolean;
}

export interface AgentBlueprint {
  capabilities: Array<string> | null;
  created_at: string;
  demands?: {
    executor_profile?: string;
    hostname?: string;
    project_dir?: string;
    tags: Array<string> | null;
  };
  description: string;
  mcp_servers?: Record<string, {
    /** at most 200 items */
    args?: Array<string> | null;
    /** at most 4096 characters */
    command?: string;
    env?: Record<string, string>;
    headers?: Record<string, string>;
    /** one of stdio, http; default stdio */
    type?: "stdio" | "http";
    /** at most 4096 characters */
    url?: string;
  }>;
  modified_at: string;
  name: string;
  skills?: Array<string> | null;
  /** one of active, inactive */
  status: "active" | "inactive";
  system_prompt?: string;
  tags: Array<string> | null;
}

export type AgentBlueprints = Array<{
  capabilities: Array<string> | null;
  created_at: string;
  demands?: {
    executor_profile?: string;
    hostname?: string;
    project_dir?: string;
    tags: Array<string> | null;
  };
  description: string;
  mcp_servers?: Record<string, {
    /** at most 200 items */
    args?: Array<string> | null;
    /** at most 4096 characters */
    command?: string;
    env?: Record<string, string>;
    headers?: Record<string, string>;
    /** one of stdio, http; default stdio */
    type?: "stdio" | "http";
    /** at most 4096 characters */
    url?: string;
  }>;
  modified_at: string;
  name: string;
  skills?: Array<string> | null;
  /** one of active, inactive */
  status: "active" | "inactive";
  system_prompt?: string;
  tags: Array<string> | null;
}> | null;

export interface AgentTrust {
  agent_id: string;
  /** 1 and what passed at the first attempt, by size, halved every 30 days */
  alpha: number;
  /** 1 and what failed, likewise */
  beta: number;
  /** most that evidence may raise the level to; a person sets it */
  ceiling: number;
  /** changes since the level moved last: 20 to rise, 10 to sink */
  evidence: number;
  /** no rise before, since a waived check failed */
  frozen_until?: string;
  /** 0 (a person looks at everything) to 4 */
  level: number;
  /** the true rate of passing exceeds it with 95 % */
  pass_rate_bound: number;
  /** empty: what was set for all, and where new repositories begin */
  repository: string;
  set_by?: string;
  updated_at?: string;
}

export interface Agents {
  agents: Array<{
    agent_id: string;
    agent_type: string;
    capabilities: Array<string> | null;
    current_task?: string;
    delegated_from?: string;
    ended_at?: string;
    held_by?: string;
    /** one of pause, drain, budget */
    hold?: "pause" | "drain" | "budget";
    hold_reason?: string;
    /** absent: it never sent one and so cannot lapse */
    last_heartbeat?: string;
    /** last call or heartbeat, RFC 3339 UTC */
    last_seen: string;
    /** locks this agent ever let expire instead of releasing them */
    locks_expired?: number;
    locks_held: number;
    session_id: string;
    started_at: string;
    /** one of active, idle, disconnected */
    status: "active" | "idle" | "disconnected";
    tasks_held: number;
  }> | null;
  count: number;
  hint?: string;
  truncated: boolean;
}

export interface Approval {
  approval_id: string;
  branch: string;
  changeset_id: string;
  /** after the vote */
  changeset_state?: string;
  decided_at?: string;
  decided_by?: string;
  expires_at?: string;
  head_sha: string;
  opened_at?: string;
  policy: string;
  pr_number: number | null;
  reason: string;
  repository: string;
  requested_by?: string;
  required_count: number;
  roles: Array<string> | null;
  /** waiting: the static checks come first (one of waiting, pending, approved, denied, expired, voided) */
  status: "waiting" | "pending" | "approved" | "denied" | "expired" | "voided";
  teams: Array<string> | null;
  title: string;
  users: Array<string> | null;
  votes: Array<{
    at: string;
    comment?: string;
    head_sha: string;
    role?: string;
    /** one of github_review, github_comment, api */
    source: "github_review" | "github_comment" | "api";
    /** one of approve, deny */
    vote: "approve" | "deny";
    voter: string;
  }> | null;
}

export interface ApprovalList {
  approvals: Array<{
    approval_id: string;
    branch: string;
    changeset_id: string;
    /** after the vote */
    changeset_state?: string;
    decided_at?: string;
    decided_by?: string;
    expires_at?: string;
    head_sha: string;
    opened_at?: string;
    policy: string;
    pr_number: number | null;
    reason: string;
    repository: string;
    requested_by?: string;
    required_count: number;
    roles: Array<string> | null;
    /** waiting: the static checks come first (one of waiting, pending, approved, denied, expired, voided) */
    status: "waiting" | "pending" | "approved" | "denied" | "expired" | "voided";
    teams: Array<string> | null;
    title: string;
    users: Array<string> | null;
    votes: Array<{
      at: string;
      comment?: string;
      head_sha: string;
      role?: string;
      /** one of github_review, github_comment, api */
      source: "github_review" | "github_comment" | "api";
      /** one of approve, deny */
      vote: "approve" | "deny";
      voter: string;
    }> | null;
  }> | null;
  /** there are more */
  truncated?: boolean;
}

export interface AuditEntries {
  count: number;
  entries: Array<{
    agent_id?: string;
    agent_type?: string;
    created_at: string;
    /** milliseconds in the database */
    duration_ms?: number;
    id: string;
    object_ids: Array<string> | null;
    operation: string;
    parameters?: unknown;
    principal?: string;
    reason?: string;
    result?: unknown;
    session_id?: string;
    success: boolean;
  }> | null;
  hint?: string;
  truncated: boolean;
}

export interface BindSession {
  /** at most 200 characters */
  executor_profile: string;
  /** at most 500 characters */
  executor_session_id: string;
  /** at most 255 characters */
  hostname: string;
  /** at most 4096 characters */
  project_dir?: string;
  /** at most 200 characters */
  session_id: string;
}

export interface Brief {
  agent_id: string;
  /** newest handoff that concerns this agent */
  handoff?: {
    agent_name: string;
    created_at: string;
    next_steps: Array<string> | null;
    summary: string;
  };
  /** why you are kept from new work, and what to do */
  hold?: string;
  /** what earlier agents learned about the files and tasks at hand */
  lessons?: Array<{
    memory_id?: string;
    /** its file changed since */
    stale?: boolean;
    text: string;
  }> | null;
  messages: Array<{
    ack_required?: boolean;
    from: string;
    kind: string;
    message_id: string;
    /** list_messages has the rest */
    more?: boolean;
    text: string;
  }> | null;
  my_locks: Array<{
    expires_at: string;
    file_path: string;
    locked_by?: string;
    reason?: string;
  }> | null;
  my_locks_total: number;
  my_tasks: Array<{
    description: string;
    lease_until?: string;
    priority?: number;
    task_id: string;
    task_type: string;
  }> | null;
  /** other sessions heard within 15 minutes */
  others_active: number;
  others_locks: Array<{
    expires_at: string;
    file_path: string;
    locked_by?: string;
    reason?: string;
  }> | null;
  others_locks_total: number;
  project: string;
  /** first tasks this session may claim */
  ready: Array<{
    description: string;
    lease_until?: string;
    priority?: number;
    task_id: string;
    task_type: string;
  }> | null;
  /** at most 100 are counted */
  ready_total: number;
  session_id: string;
  /** lists were cut to fit; the totals are right */
  shortened?: boolean;
  unread: number;
}

export interface Budget {
  /** one of warn, stop */
  action: "warn" | "stop";
  agent?: string;
  limit_tokens?: number;
  limit_usd?: number;
  name: string;
  /** of the limit that is nearer */
  percent: number;
  /** one of day, month, total */
  period: "day" | "month" | "total";
  period_end?: string;
  period_start?: string;
  set_by: string;
  spent_tokens: number;
  spent_usd: number;
  /** exceeded: over the limit, and action is warn (one of ok, warned, exceeded, stopped) */
  state: "ok" | "warned" | "exceeded" | "stopped";
  state_since?: string;
  /** reports of this period without a cost: a limit in USD does not see them */
  uncosted?: number;
  warn_percent: number;
}

export interface Budgets {
  budgets: Array<{
    /** one of warn, stop */
    action: "warn" | "stop";
    agent?: string;
    limit_tokens?: number;
    limit_usd?: number;
    name: string;
    /** of the limit that is nearer */
    percent: number;
    /** one of day, month, total */
    period: "day" | "month" | "total";
    period_end?: string;
    period_start?: string;
    set_by: string;
    spent_tokens: number;
    spent_usd: number;
    /** exceeded: over the limit, and action is warn (one of ok, warned, exceeded, stopped) */
    state: "ok" | "warned" | "exceeded" | "stopped";
    state_since?: string;
    /** reports of this period without a cost: a limit in USD does not see them */
    uncosted?: number;
    warn_percent: number;
  }> | null;
}

export interface CancelChangeset {
  /** uuid */
  changeset_id: string;
  /** at most 500 characters */
  reason?: string;
}

export interface CancelWork {
  /** at most 2000 characters */
  reason?: string;
  /** uuid */
  task_id: string;
}

export type Capabilities = Array<{
  created_at: string;
  description: string;
  has_mcp: boolean;
  has_text: boolean;
  mcp_server_names: Array<string> | null;
  modified_at: string;
  name: string;
}> | null;

export interface Capability {
  created_at: string;
  description: string;
  mcp_servers?: Record<string, {
    /** at most 200 items */
    args?: Array<string> | null;
    /** at most 4096 characters */
    command?: string;
    env?: Record<string, string>;
    headers?: Record<string, string>;
    /** one of stdio, http; default stdio */
    type?: "stdio" | "http";
    /** at most 4096 characters */
    url?: string;
  }>;
  modified_at: string;
  name: string;
  text?: string;
}

export interface Changeset {
  /** who pushed or opened it, as the source says */
  actor?: string;
  additions: number;
  agent_id?: string;
  agent_type?: string;
  base_ref?: string;
  base_sha?: string;
  /** since when a required run can run nowhere */
  blocked_since?: string;
  branch: string;
  changeset_id: string;
  created_at: string;
  decided_at?: string;
  deletions: number;
  /** only its static checks run until it is ready for review */
  draft?: boolean;
  file_count: number;
  /** the list of files is not whole, so every tier is asked */
  files_truncated?: boolean;
  fork?: boolean;
  head_sha: string;
  lock_violations?: Array<{
    /** agent that held the lock (at most 200 characters) */
    holder: string;
    /** at most 4096 characters */
    path: string;
    /** what the holder said it was for (at most 2000 characters) */
    reason?: string;
  }> | null;
  /** a person set the verdict */
  override?: {
    at: string;
    /** the state it replaced */
    before?: string;
    by: string;
    /** what it is for; another commit is verified anew */
    head_sha: string;
    reason: string;
    verdict: string;
  };
  pr_number?: number;
  /** failures in a row before it */
  prior_failures?: number;
  /** where the list of files comes from: api, git, or agent_claimed (nothing else was to be had) */
  provenance: string;
  /** why the verdict, or what it waits for */
  reason?: string;
  repository: string;
  /** how often it was routed */
  route_version: number;
  routed_at?: string;
  session_id?: string;
  /** one of github, agent, merge_group */
  source: "github" | "agent" | "merge_group";
  /** one of received, routing, verifying, awaiting_approval, passed, failed, error, superseded, cancelled */
  state: "received" | "routing" | "verifying" | "awaiting_approval" | "passed" | "failed" | "error" | "superseded" | "cancelled";
  superseded_by?: string;
  task_id?: string;
  /** tiers it needs */
  tiers?: Array<number> | null;
  title?: string;
  /** of its author when it was routed */
  trust_level?: number;
  /** passed, failed or error once it is decided */
  verdict?: string;
}

export interface ChangesetDetail {
  /** who pushed or opened it, as the source says */
  actor?: string;
  additions: number;
  agent_id?: string;
  agent_type?: string;
  approvals: Array<{
    approval_id: string;
    branch: string;
    changeset_id: string;
    /** after the vote */
    changeset_state?: string;
    decided_at?: string;
    decided_by?: string;
    expires_at?: string;
    head_sha: string;
    opened_at?: string;
    policy: string;
    pr_number: number | null;
    reason: string;
    repository: string;
    requested_by?: string;
    required_count: number;
    roles: Array<string> | null;
    /** waiting: the static checks come first (one of waiting, pending, approved, denied, expired, voided) */
    status: "waiting" | "pending" | "approved" | "denied" | "expired" | "voided";
    teams: Array<string> | null;
    title: string;
    users: Array<string> | null;
    votes: Array<{
      at: string;
      comment?: string;
      head_sha: string;
      role?: string;
      /** one of github_review, github_comment, api */
      source: "github_review" | "github_comment" | "api";
      /** one of approve, deny */
      vote: "approve" | "deny";
      voter: string;
    }> | null;
  }> | null;
  base_ref?: string;
  base_sha?: string;
  /** since when a required run can run nowhere */
  blocked_since?: string;
  branch: string;
  changeset_id: string;
  created_at: string;
  decided_at?: string;
  deletions: number;
  /** only its static checks run until it is ready for review */
  draft?: boolean;
  file_count: number;
  /** at most 500 */
  files: Array<{
    /** lines (0 to 1e+08) */
    additions?: number;
    /** lines (0 to 1e+08) */
    deletions?: number;
    /** git's octal mode, such as 100644, 120000 (symlink), 160000 (submodule) (at most 6 characters) */
    mode?: string;
    /** at most 4096 characters */
    path: string;
    /** of a rename or copy (at most 4096 characters) */
    previous_path?: string;
    /** one of added, removed, modified, renamed, copied, changed, unchanged; default modified */
    status?: "added" | "removed" | "modified" | "renamed" | "copied" | "changed" | "unchanged";
  }> | null;
  /** the list of files is not whole, so every tier is asked */
  files_truncated?: boolean;
  fork?: boolean;
  head_sha: string;
  lock_violations?: Array<{
    /** agent that held the lock (at most 200 characters) */
    holder: string;
    /** at most 4096 characters */
    path: string;
    /** what the holder said it was for (at most 2000 characters) */
    reason?: string;
  }> | null;
  /** a person set the verdict */
  override?: {
    at: string;
    /** the state it replaced */
    before?: string;
    by: string;
    /** what it is for; another commit is verified anew */
    head_sha: string;
    reason: string;
    verdict: string;
  };
  plan: Array<{
    /** why nothing can run it */
    blocked?: string;
    executor?: string;
    policy: string;
    required: boolean;
    tier: number;
  }> | null;
  pr_number?: number;
  /** failures in a row before it */
  prior_failures?: number;
  /** where the list of files comes from: api, git, or agent_claimed (nothing else was to be had) */
  provenance: string;
  /** why the verdict, or what it waits for */
  reason?: string;
  /** why these tiers */
  reasons: Array<{
    /** such as matched, size, trust, failures, fork, truncated, waived, lock_violation, draft */
    code: string;
    /** an example of what matched */
    path?: string;
    policy?: string;
    text: string;
    tier: number;
  }> | null;
  repository: string;
  /** how often it was routed */
  route_version: number;
  routed_at?: string;
  /** every attempt */
  runs: Array<{
    attempt: number;
    completed_at?: string;
    /** success, failure, timed_out, cancelled, infra_error or blocked */
    conclusion?: string;
    deadline?: string;
    duration_seconds?: number;
    /** absent: nothing can run it */
    executor?: string;
    exit_code?: number;
    external_id?: string;
    findings?: Array<{
      end_line?: number;
      fingerprint?: string;
      /** none, note, warning or error */
      level: string;
      /** from 1; 0: the whole file */
      line: number;
      message: string;
      path: string;
      rule: string;
      tool: string;
    }> | null;
    findings_total?: number;
    /** it passed after the same commit had failed */
    flaky?: boolean;
    /** what was verified */
    head_sha: string;
    /** the end of it */
    output?: string;
    policy: string;
    queued_at?: string;
    reason?: string;
    required: boolean;
    run_id: string;
    started_at?: string;
    /** one of pending, queued, dispatching, running, completed */
    status: "pending" | "queued" | "dispatching" | "running" | "completed";
    success: boolean;
    tier: number;
    url?: string;
  }> | null;
  session_id?: string;
  /** one of github, agent, merge_group */
  source: "github" | "agent" | "merge_group";
  /** one of received, routing, verifying, awaiting_approval, passed, failed, error, superseded, cancelled */
  state: "received" | "routing" | "verifying" | "awaiting_approval" | "passed" | "failed" | "error" | "superseded" | "cancelled";
  superseded_by?: string;
  task_id?: string;
  /** tiers it needs */
  tiers?: Array<number> | null;
  /** the latest 200 lines */
  timeline: Array<{
    at: string;
    kind: string;
    text: string;
  }> | null;
  title?: string;
  /** of its author when it was routed */
  trust_level?: number;
  /** passed, failed or error once it is decided */
  verdict?: string;
  waived: Array<{
    /** why nothing can run it */
    blocked?: string;
    executor?: string;
    policy: string;
    required: boolean;
    tier: number;
  }> | null;
}

export interface Changesets {
  changesets: Array<{
    /** who pushed or opened it, as the source says */
    actor?: string;
    additions: number;
    agent_id?: string;
    agent_type?: string;
    base_ref?: string;
    base_sha?: string;
    /** since when a required run can run nowhere */
    blocked_since?: string;
    branch: string;
    changeset_id: string;
    created_at: string;
    decided_at?: string;
    deletions: number;
    /** only its static checks run until it is ready for review */
    draft?: boolean;
    file_count: number;
    /** the list of files is not whole, so every tier is asked */
    files_truncated?: boolean;
    fork?: boolean;
    head_sha: string;
    lock_violations?: Array<{
      /** agent that held the lock (at most 200 characters) */
      holder: string;
      /** at most 4096 characters */
      path: string;
      /** what the holder said it was for (at most 2000 characters) */
      reason?: string;
    }> | null;
    /** a person set the verdict */
    override?: {
      at: string;
      /** the state it replaced */
      before?: string;
      by: string;
      /** what it is for; another commit is verified anew */
      head_sha: string;
      reason: string;
      verdict: string;
    };
    pr_number?: number;
    /** failures in a row before it */
    prior_failures?: number;
    /** where the list of files comes from: api, git, or agent_claimed (nothing else was to be had) */
    provenance: string;
    /** why the verdict, or what it waits for */
    reason?: string;
    repository: string;
    /** how often it was routed */
    route_version: number;
    routed_at?: string;
    session_id?: string;
    /** one of github, agent, merge_group */
    source: "github" | "agent" | "merge_group";
    /** one of received, routing, verifying, awaiting_approval, passed, failed, error, superseded, cancelled */
    state: "received" | "routing" | "verifying" | "awaiting_approval" | "passed" | "failed" | "error" | "superseded" | "cancelled";
    superseded_by?: string;
    task_id?: string;
    /** tiers it needs */
    tiers?: Array<number> | null;
    title?: string;
    /** of its author when it was routed */
    trust_level?: number;
    /** passed, failed or error once it is decided */
    verdict?: string;
  }> | null;
  /** there are more: ask with before */
  truncated?: boolean;
}

export interface CheckGuardrail {
  /** the host can ask its person itself */
  asks?: boolean;
  /** at most 4000 characters */
  command: string;
  /** the rules that the command meets; the strictest counts (at most 20 items) */
  rules: Array<string> | null;
  /** at most 100 characters */
  tool?: string;
  /** what it would destroy (at most 500 characters) */
  why?: string;
}

export interface CheckLocks {
  /** only locks that count on this branch (at most 255 characters) */
  branch?: string;
  /** one path instead of several (at most 1024 characters) */
  file_path?: string;
  /** only locks that overlap these; left out: all (at most 200 items) */
  file_paths?: Array<string> | null;
  /** at most so many, oldest first (1 to 10000; default 200) */
  limit?: number;
  /** only locks of this agent (at most 200 characters) */
  locked_by?: string;
}

export interface CleanedAgents {
  agents_cleaned: number;
  dry_run: boolean;
  locks_released: number;
  sessions: Array<string> | null;
  success: boolean;
  tasks_requeued: number;
}

export interface CleanupAgents {
  /** only name them */
  dry_run?: boolean;
  /** also sessions that never sent a heartbeat and were silent for so many minutes (1 to 525600) */
  idle_minutes?: number;
  /** minutes since the last heartbeat (1 to 525600; default 15) */
  stale_threshold_minutes?: number;
}

export interface CompleteTasks {
  /** at most 500 items */
  tasks: Array<{
    /** at most 20000 characters */
    error_message?: string;
    /** your commit: completed once it passes verification */
    head_sha?: string;
    /** as claimed (at most 40 characters) */
    lease_token?: string;
    /** keep what the result teaches (its lessons or summary, or the error) for others (default true) */
    remember?: boolean;
    result?: Record<string, unknown>;
    /** a failure another attempt may mend */
    retryable?: boolean;
    /** skill you followed; its success is counted (uuid) */
    skill_id?: string;
    /** false: it failed */
    success: boolean;
    /** uuid */
    task_id: string;
  }> | null;
}

export interface CompleteWork {
  /** at most 20000 characters */
  error_message?: string;
  /** your commit: completed once it passes verification */
  head_sha?: string;
  /** as claimed (at most 40 characters) */
  lease_token?: string;
  /** keep what the result teaches (its lessons or summary, or the error) for others (default true) */
  remember?: boolean;
  result?: Record<string, unknown>;
  /** a failure another attempt may mend */
  retryable?: boolean;
  /** skill you followed; its success is counted (uuid) */
  skill_id?: string;
  /** false: it failed */
  success: boolean;
  /** uuid */
  task_id: string;
}

export interface CompletedTasks {
  results: Array<{
    /** how many tasks were cancelled, dependents included */
    cancelled?: number;
    lease_expires_at?: string;
    /** experience that was recorded */
    memory_id?: string;
    /** why none was */
    memory_note?: string;
    /** a word for why nothing was changed */
    reason?: string;
    /** this was done before; nothing was changed now */
    replayed?: boolean;
    /** when a task that failed comes back */
    retry_at?: string;
    /** the task's status now */
    status?: string;
    success: boolean;
    task_id: string;
    /** the same as a sentence */
    why?: string;
  }> | null;
  /** every task was ended */
  success: boolean;
}

export interface CreateAgent {
  /** at most 200 items */
  capabilities?: Array<string> | null;
  demands?: {
    /** at most 200 characters */
    executor_profile?: string;
    /** at most 255 characters */
    hostname?: string;
    /** at most 4096 characters */
    project_dir?: string;
    /** at most 50 items */
    tags?: Array<string> | null;
  };
  /** at most 20000 characters */
  description: string;
  mcp_servers?: Record<string, {
    /** at most 200 items */
    args?: Array<string> | null;
    /** at most 4096 characters */
    command?: string;
    env?: Record<string, string>;
    headers?: Record<string, string>;
    /** one of stdio, http; default stdio */
    type?: "stdio" | "http";
    /** at most 4096 characters */
    url?: string;
  }>;
  /** letters, digits, - and _; at most 60 */
  name: string;
  /** at most 200 items */
  skills?: Array<string> | null;
  system_prompt?: string;
  /** at most 200 items */
  tags?: Array<string> | null;
}

export interface CreateCapability {
  /** at most 20000 characters */
  description: string;
  mcp_servers?: Record<string, {
    /** at most 200 items */
    args?: Array<string> | null;
    /** at most 4096 characters */
    command?: string;
    env?: Record<string, string>;
    headers?: Record<string, string>;
    /** one of stdio, http; default stdio */
    type?: "stdio" | "http";
    /** at most 4096 characters */
    url?: string;
  }>;
  /** letters, digits, - and _; at most 60 */
  name: string;
  text?: string;
}

export interface CreateKey {
  /** bind it to this agent: acting as another is refused (at most 200 characters) */
  agent_id?: string;
  /** type of the bound agent (at most 200 characters) */
  agent_type?: string;
  /** good for every project instead */
  all_projects?: boolean;
  /** default: never (1 to 3650) */
  expires_in_days?: number;
  /** unique name of the key (at most 200 characters) */
  name: string;
  /** person behind the key; it may do no more than the person's roles (at most 200 characters) */
  person?: string;
  /** the one project it is good for; default: the caller's (at most 120 characters) */
  project?: string;
  /** its own limit of requests a second; default: the server's (1 to 100000) */
  rate_limit?: number;
  /** what it may do; write implies read, admin everything. Default: read and write, or the person's roles (at most 5 items) */
  scopes?: Array<"read" | "write" | "runner" | "reviewer" | "admin"> | null;
  /** its own limit of waiting calls and open streams at a time; default: the server's (1 to 100000) */
  stream_limit?: number;
}

export interface CreateOrchestratedSession {
  /** at most 200 characters */
  agent_name?: string;
  /** one of sync, async_poll, async_callback */
  execution_mode?: "sync" | "async_poll" | "async_callback";
  /** at most 200 characters */
  parent_session_id?: string;
  /** at most 4096 characters */
  project_dir?: string;
  /** at most 200 characters */
  session_id: string;
}

export interface CreatePerson {
  /** short name without spaces, such as ana (at most 200 characters) */
  name: string;
  /** the most that keys of this person may do (at most 5 items) */
  roles: Array<"read" | "write" | "runner" | "reviewer" | "admin"> | null;
}

export interface CreatePolicy {
  /** GitHub conclusions that count as success beside success (at most 4 items) */
  accept_conclusions?: Array<"skipped" | "neutral" | "stale" | "action_required">;
  /** what is asked of people */
  approvals?: {
    /** approvals needed; 0 reads as 1 (0 to 20) */
    count?: number;
    /** any of these suffices (at most 20 items) */
    roles?: Array<string> | null;
    /** at most 100 items */
    teams?: Array<string> | null;
    /** at most 100 items */
    users?: Array<string> | null;
  };
  /** glob over the branch; empty: every branch (at most 500 characters) */
  branch?: string;
  /** for e2b and ntm: run by /bin/sh -c in the checkout (at most 20000 characters) */
  command?: string;
  /** what a raised tier without a matching policy runs */
  default?: boolean;
  enabled?: boolean;
  /** paths that do not count (at most 500 items) */
  exclude_patterns?: Array<string>;
  /** in order of preference (at most 10 items) */
  executors?: Array<"inline" | "github" | "e2b" | "ntm" | "human">;
  /** lowest level of finding that fails (one of note, warning, error) */
  fail_on?: "note" | "warning" | "error";
  /** match without regard to case */
  fold_case?: boolean;
  /** letters, digits, dot, dash and underscore (at most 100 characters) */
  name: string;
  /** globs over paths, such as ** /*.go; ** crosses directories (at most 500 items) */
  patterns: Array<string> | null;
  /** lower first, within a tier (0 to 1000) */
  priority?: number;
  /** glob over the normalised remote; empty: every repository (at most 500 characters) */
  repository?: string;
  /** false: advisory, never decides the verdict */
  required?: boolean;
  /** environment variables that must be set for the gateway, else the policy is blocked (at most 50 items) */
  required_env?: Array<string>;
  /** a person approves beside the run */
  requires_approval?: boolean;
  /** further attempts after a failure of the change itself (0 to 5) */
  retry_max?: number;
  /** e2b template id (at most 200 characters) */
  template?: string;
  /** 0 static, 1 unit, 2 integration, 3 system, 4 human (0 to 4) */
  tier: number;
  /** 1 to 86400 */
  timeout_seconds?: number;
  /** inline: which; empty: every one that fits (at most 50 items) */
  tools?: Array<string>;
  /** trust may drop it for small changes */
  waivable?: boolean;
  /** GitHub Actions workflow file, such as verify.yml (at most 200 characters) */
  workflow?: string;
}

export interface CreateRun {
  /** demands beside those of the session's place and the blueprint; they add, never override */
  additional_demands?: {
    /** at most 200 characters */
    executor_profile?: string;
    /** at most 255 characters */
    hostname?: string;
    /** at most 4096 characters */
    project_dir?: string;
    /** at most 50 items */
    tags?: Array<string> | null;
  };
  /** blueprint to use; a resume keeps the session's (at most 200 characters) */
  agent_name?: string;
  /** the same as a time (date-time) */
  deadline?: string;
  /** begin no sooner (0 to 2.592e+06) */
  delay_seconds?: number;
  /** async_callback: the parent is resumed when this ends (one of sync, async_poll, async_callback; default sync) */
  execution_mode?: "sync" | "async_poll" | "async_callback";
  /** session that started this one (at most 200 characters) */
  parent_session_id?: string;
  /** 1 is first (1 to 10; default 5) */
  priority?: number;
  /** at most 4096 characters */
  project_dir?: string;
  /** at most 1000000 characters */
  prompt: string;
  /** further attempts after a failure (0 to 19) */
  retries?: number;
  /** the session to resume; for a start its id, else one is made (at most 200 characters) */
  session_id?: string;
  /** it is stopped when it is not over by then (1 to 2.592e+06) */
  timeout_seconds?: number;
  /** one of start_session, resume_session */
  type: "start_session" | "resume_session";
}

export interface CreatedKey {
  key: {
    agent_id?: string;
    agent_type?: string;
    created_at: string;
    expires_at?: string;
    /** to the minute */
    last_used_at?: string;
    name: string;
    person?: string;
    /** first characters of the secret, to recognise it */
    prefix: string;
    /** absent: every project */
    project?: string;
    /** requests a second; absent: the server's default */
    rate_limit?: number;
    revoked_at?: string;
    /** when it got the secret it has now */
    rotated_at?: string;
    scopes: Array<string> | null;
    /** one of active, expired, revoked */
    status: "active" | "expired" | "revoked";
    /** waiting calls and open streams at a time; absent: the server's default */
    stream_limit?: number;
  };
  /** send it as X-API-Key; it cannot be shown again */
  secret: string;
  success: boolean;
}

export interface CreatedPerson {
  /** false: the person was known and has these roles now */
  created: boolean;
  created_at: string;
  name: string;
  roles: Array<string> | null;
  success: boolean;
}

export interface CreatedRun {
  run_id: string;
  session_id: string;
  /** one of pending */
  status: "pending";
}

export interface DecideAct {
  /** uuid */
  act_id: string;
  /** kept, and told to who asked (at most 2000 characters) */
  comment?: string;
}

export interface DecidedAct {
  act_id: string;
  agent_id?: string;
  arguments?: Record<string, unknown>;
  comment?: string;
  created_at: string;
  decided_at?: string;
  decided_by?: string;
  expires_at: string;
  /** command: of a tool call, which may be made once when it is approved; the others: the operation is done with the approval (one of command, work, force_release, policies, guardrails, safeguards) */
  kind: "command" | "work" | "force_release" | "policies" | "guardrails" | "safeguards";
  /** what is done when it is approved */
  operation: string;
  requested_by: string;
  /** approved: what the operation answered */
  result?: Record<string, unknown>;
  session_id?: string;
  /** approved: a command that was let through and has not run yet; used: done (one of pending, approved, denied, used, expired) */
  status: "pending" | "approved" | "denied" | "used" | "expired";
  /** one line: what and on what */
  title: string;
  /** why it is asked, and the reason given */
  why?: string;
}

export interface DeletedSession {
  deleted: {
    events_count: number;
    runs_count: number;
    session: boolean;
    /** itself and what was below it */
    sessions_count: number;
  };
  ok: boolean;
  /** the same as runs_count */
  runs_removed_from_cache: number;
  session_id: string;
}

export interface DeregisteredRunner {
  /** one of self, external */
  initiated_by: "self" | "external";
  message: string;
  ok: boolean;
}

export interface Digest {
  /** changes by others since then, at most 2000 */
  changes: number;
  /** by operation, the latest first */
  kinds: Array<{
    agents: Array<string> | null;
    count: number;
    /** the latest ten things concerned */
    objects: Array<string> | null;
    operation: string;
  }> | null;
  markdown: string;
  /** the last five of them */
  newsletter_tasks: Array<{
    description: string;
    status: string;
    task_id: string;
    task_type: string;
  }> | null;
  /** tasks whose type starts with newsletter, by status */
  newsletters: Record<string, number>;
  project: string;
  /** when the caller looked last; a day ago at the first time */
  since: string;
}

export interface EndSession {
  /** why, for the audit trail (at most 200 characters) */
  reason?: string;
}

export interface EndedSession {
  /** set when it was closed before (one of ended, lapsed) */
  already?: "ended" | "lapsed";
  /** paths that are free now */
  file_paths?: Array<string> | null;
  locks_released: number;
  /** session_not_found when nothing was ended */
  reason?: string;
  session_id: string;
  success: boolean;
  /** tasks that had no attempt left */
  tasks_dead?: number;
  tasks_requeued: number;
}

export interface Error {
  /** with code approval_required: the act that waits */
  act_id?: string;
  code: string;
  detail: unknown;
  field?: string;
  next?: string;
  request_id?: string;
  /** seconds to wait before another try */
  retry_after?: number;
  /** true when the same call may succeed later */
  retryable: boolean;
  status: number;
  title: string;
  type: string;
  what: string;
  why?: string;
}

export interface ExportedMemory {
  count: number;
  format: string;
  /** send it as after for the next page */
  next?: number;
  text: string;
  truncated: boolean;
}

export interface ForceReleaseLock {
  /** the lock's path, exactly as listed (at most 1024 characters) */
  file_path: string;
  /** only if this agent holds it (at most 200 characters) */
  locked_by?: string;
  /** why; the holder and the audit trail get it (at most 500 characters) */
  reason: string;
}

export interface ForceReleased {
  /** locks removed; a shared one counts once a holder */
  count: number;
  file_path: string;
  /** RFC 3339 UTC */
  prior_acquired_at?: string;
  prior_holder_agent_id?: string;
  /** false: nobody held it */
  released: boolean;
}

export interface ForgetMemory {
  /** at most 1000 items */
  memory_ids: Array<string> | null;
  /** for the audit trail, which keeps the ids and not the text (at most 500 characters) */
  reason?: string;
}

export interface ForgottenMemory {
  forgotten: Array<string> | null;
  /** false when none of the ids was there, or was the caller's to forget */
  success: boolean;
  unknown: Array<string> | null;
}

export interface FreeAgent {
  /** agent id; * = the hold on every agent of the project (at most 200 characters) */
  agent: string;
  /** shown to the agent and kept (at most 500 characters) */
  reason?: string;
  /** the hold on this session of the agent (at most 200 characters) */
  session?: string;
}

export interface GetWork {
  /** renew within this time, or the task goes to another (10 to 86400; default 1800) */
  lease_seconds?: number;
  /** claim up to so many (1 to 500; default 1) */
  limit?: number;
  /** what you offer; tagged tasks need all their tags (at most 100 items) */
  tags?: Array<string> | null;
  /** only these types (at most 100 items) */
  task_types?: Array<string> | null;
  /** wait for one (0 to 30) */
  wait_seconds?: number;
}

export interface Guardrail {
  /** what holds now. deny: refused, a person may approve the one command; ask: the host asks its person, elsewhere as deny; allow: goes on (one of deny, ask, allow) */
  action: "deny" | "ask" | "allow";
  /** one of deny, ask, allow */
  default: "deny" | "ask" | "allow";
  /** of a rule of the project's own: a regular expression (RE2) over the command */
  pattern?: string;
  reason?: string;
  /** the rule's name */
  rule: string;
  set_at?: string;
  set_by?: string;
  /** what it catches */
  text: string;
}

export interface GuardrailAnswer {
  /** deny: a person can approve this one command: approve_act */
  act_id?: string;
  /** one of deny, ask, allow */
  action: "deny" | "ask" | "allow";
  /** allow: a person approved this very command; the approval is used up */
  approved?: boolean;
  /** who approved it */
  by?: string;
  rule: string;
}

export interface GuardrailHits {
  hits: Array<{
    act_id?: string;
    /** what was done; approved: a person had let it through (one of deny, ask, allow, approved) */
    action: "deny" | "ask" | "allow" | "approved";
    agent_id?: string;
    at: string;
    command: string;
    id: string;
    rule: string;
    session_id?: string;
    /** one of hook, queue */
    where: "hook" | "queue";
    why?: string;
  }> | null;
  truncated: boolean;
}

export interface Guardrails {
  rules: Array<{
    /** what holds now. deny: refused, a person may approve the one command; ask: the host asks its person, elsewhere as deny; allow: goes on (one of deny, ask, allow) */
    action: "deny" | "ask" | "allow";
    /** one of deny, ask, allow */
    default: "deny" | "ask" | "allow";
    /** of a rule of the project's own: a regular expression (RE2) over the command */
    pattern?: string;
    reason?: string;
    /** the rule's name */
    rule: string;
    set_at?: string;
    set_by?: string;
    /** what it catches */
    text: string;
  }> | null;
}

export interface HandOver {
  /** locks, as they were taken (at most 1000 items) */
  file_paths?: Array<string> | null;
  /** agent that has it (at most 200 characters) */
  from: string;
  /** only what this session has (at most 200 characters) */
  from_session?: string;
  /** what the next one must know; kept as a handoff document (at most 4000 characters) */
  note: string;
  /** tasks; with file_paths also empty: everything (at most 200 items) */
  task_ids?: Array<string> | null;
  /** agent that gets it (at most 200 characters) */
  to: string;
  /** default: the session of to that was heard last (at most 200 characters) */
  to_session?: string;
}

export interface HandedOver {
  from: string;
  handoff_id?: string;
  locks: Array<{
    /** the new holder's, higher than the old one */
    fencing_token: string;
    file_path: string;
  }> | null;
  /** nothing_to_hand_over: from holds nothing of it; nothing was changed */
  reason?: string;
  success: boolean;
  tasks: Array<{
    /** the new holder's; the old one is worth nothing */
    lease_token: string;
    task_id: string;
  }> | null;
  to: string;
  to_session?: string;
}

export interface Handoff {
  /** one of write, read */
  action: "write" | "read";
  /** read: whose (at most 200 characters) */
  agent_name?: string;
  completed_work?: Array<string> | null;
  decisions?: Array<string> | null;
  in_progress?: Array<string> | null;
  /** read: how many (1 to 100; default 1) */
  limit?: number;
  next_steps?: Array<string> | null;
  relevant_files?: Array<string> | null;
  /** write: where it stands (at most 8000 characters) */
  summary?: string;
  /** write: agent to tell of it (at most 200 characters) */
  to?: string;
}

export interface HandoffReply {
  count?: number;
  handoff_id?: string;
  handoffs?: Array<{
    agent_name: string;
    completed_work: Array<unknown> | null;
    created_at: string;
    decisions: Array<unknown> | null;
    id: string;
    in_progress: Array<unknown> | null;
    next_steps: Array<unknown> | null;
    relevant_files: Array<unknown> | null;
    session_id?: string;
    summary: string;
    to?: string;
  }> | null;
  success: boolean;
  truncated?: boolean;
}

export interface Handoffs {
  count: number;
  handoffs: Array<{
    agent_name: string;
    completed_work: Array<unknown> | null;
    created_at: string;
    decisions: Array<unknown> | null;
    id: string;
    in_progress: Array<unknown> | null;
    next_steps: Array<unknown> | null;
    relevant_files: Array<unknown> | null;
    session_id?: string;
    summary: string;
    to?: string;
  }> | null;
  truncated: boolean;
}

export interface Heartbeat {
  /** new current task; an empty string clears it (at most 500 characters) */
  current_task?: string;
}

export interface HeartbeatWork {
  /** a new length of the lease; else as claimed (10 to 86400) */
  lease_seconds?: number;
  /** as claimed (at most 40 characters) */
  lease_token?: string;
  /** uuid */
  task_id: string;
}

export interface HoldAgent {
  /** agent id; * = every agent of the project (at most 200 characters) */
  agent: string;
  /** shown to the agent and kept (at most 500 characters) */
  reason: string;
  /** only this session of the agent (at most 200 characters) */
  session?: string;
}

export interface HoldResult {
  agent?: string;
  /** it was so before; the reason is the new one */
  already?: boolean;
  reason?: string;
  runner_id?: string;
  session?: string;
  /** open sessions that are told with their next call */
  sessions_told: number;
  success: boolean;
}

export interface HoldRunner {
  /** kept, and shown where the runner is listed (at most 500 characters) */
  reason?: string;
  /** at most 200 characters */
  runner_id: string;
}

export interface Holds {
  count: number;
  holds: Array<{
    /** * = every agent of the project */
    agent?: string;
    by: string;
    /** pause: no new locks and no new work; drain, budget: no new work (one of pause, drain, budget) */
    kind: "pause" | "drain" | "budget";
    /** locks that who is held still has */
    locks: number;
    reason: string;
    runner_id?: string;
    session?: string;
    since: string;
    /** tasks, of a runner runs, that who is held still has; at 0 a drain is done */
    tasks: number;
    /** ends by itself then: the budget's next period */
    until?: string;
  }> | null;
}

/** Who acts. Every member may be left out or sent as header instead. */
export interface Identity {
  /** who acts; needed by calls that act for an agent unless the key is bound to one (at most 200 characters) */
  agent_id?: string;
  /** its type, such as claude_code (at most 200 characters) */
  agent_type?: string;
  /** project; default: the key's, else default (at most 200 characters) */
  project?: string;
  /** repository in the project that paths belong to; default: the first (at most 200 characters) */
  repository?: string;
  /** session it acts in; default: the agent's implicit session (at most 200 characters) */
  session_id?: string;
}

export interface ImportMemory {
  /** one memory a line, as memory_export with format jsonl writes them; summary alone is enough (at most 4000000 characters) */
  jsonl: string;
  /** where they are from (at most 200 characters; default import) */
  source?: string;
}

export interface ImportedMemory {
  imported: number;
  /** there already */
  skipped: number;
  success: boolean;
}

export interface Keys {
  count: number;
  keys: Array<{
    agent_id?: string;
    agent_type?: string;
    created_at: string;
    expires_at?: string;
    /** to the minute */
    last_used_at?: string;
    name: string;
    person?: string;
    /** first characters of the secret, to recognise it */
    prefix: string;
    /** absent: every project */
    project?: string;
    /** requests a second; absent: the server's default */
    rate_limit?: number;
    revoked_at?: string;
    /** when it got the secret it has now */
    rotated_at?: string;
    scopes: Array<string> | null;
    /** one of active, expired, revoked */
    status: "active" | "expired" | "revoked";
    /** waiting calls and open streams at a time; absent: the server's default */
    stream_limit?: number;
  }> | null;
  /** secrets from before a rotation whose grace still runs */
  old_secrets: Array<{
    /** when it ends */
    expires_at: string;
    /** to the minute; absent: never since the rotation or before */
    last_used_at?: string;
    /** the key's name */
    name: string;
    /** first characters of the secret */
    prefix: string;
  }> | null;
}

export interface LimitKey {
  /** name of the key (at most 200 characters) */
  name: string;
  /** requests a second; default: the server's (1 to 100000) */
  rate_limit?: number;
  /** waiting calls and open streams at a time; default: the server's (1 to 100000) */
  stream_limit?: number;
}

export interface LimitedKey {
  key: {
    agent_id?: string;
    agent_type?: string;
    created_at: string;
    expires_at?: string;
    /** to the minute */
    last_used_at?: string;
    name: string;
    person?: string;
    /** first characters of the secret, to recognise it */
    prefix: string;
    /** absent: every project */
    project?: string;
    /** requests a second; absent: the server's default */
    rate_limit?: number;
    revoked_at?: string;
    /** when it got the secret it has now */
    rotated_at?: string;
    scopes: Array<string> | null;
    /** one of active, expired, revoked */
    status: "active" | "expired" | "revoked";
    /** waiting calls and open streams at a time; absent: the server's default */
    stream_limit?: number;
  };
  success: boolean;
}

export interface ListMessages {
  /** unread: urgent first, then oldest, and marked read; all, sent: newest first (one of unread, all, sent; default unread) */
  box?: "unread" | "all" | "sent";
  /** most messages to return (1 to 200; default 20) */
  limit?: number;
  /** do not mark them read */
  peek?: boolean;
  /** only this thread (at most 200 characters) */
  thread?: string;
  /** with box unread: wait so long for the first one (0 to 30) */
  wait_seconds?: number;
}

export interface ListWork {
  /** at most 200 characters */
  claimed_by?: string;
  /** next_cursor of the page before */
  cursor?: string;
  /** at most 200 characters */
  label?: string;
  /** 1 to 500; default 50 */
  limit?: number;
  /** any of these (at most 10 items) */
  status?: Array<"ready" | "blocked" | "scheduled" | "pending" | "claimed" | "running" | "verifying" | "completed" | "failed" | "dead" | "cancelled"> | null;
  /** at most 200 characters */
  submitted_by?: string;
  /** at most 100 characters */
  tag?: string;
  /** any of these (at most 100 items) */
  task_types?: Array<string> | null;
}

export interface LockResult {
  /** one of acquired, refreshed, blocked */
  action: "acquired" | "refreshed" | "blocked";
  /** everything in the way, at most 20 */
  conflicts?: Array<{
    agent_type?: string;
    /** branch of the lock; left out: every branch */
    branch?: string;
    /** RFC 3339 UTC */
    expires_at?: string;
    /** the requested path */
    file_path: string;
    /** the path that overlaps it, when it is another */
    held_path?: string;
    /** RFC 3339 UTC */
    locked_at?: string;
    /** agent that holds it */
    locked_by: string;
    /** one of exclusive, shared */
    mode?: "exclusive" | "shared";
    /** what the holder wrote */
    reason?: string;
    seconds_left?: number;
    /** session that holds it */
    session_id?: string;
    /** it does not hold the path but asked for it earlier */
    waiting?: boolean;
  }> | null;
  /** with reason deadlock: who waits for whom */
  cycle?: Array<{
    agent_id: string;
    session_id: string;
    /** path held by the next member; the last waits for the first */
    waits_for: string;
  }> | null;
  /** end of your lock, or of the one in the way; RFC 3339 UTC */
  expires_at?: string;
  /** grows with every grant; a store can refuse writes with an older one */
  fencing_token?: string;
  /** the path asked for, cleaned; the first of several */
  file_path?: string;
  /** requested paths that are free, and what is free within a refused directory or glob */
  free_nearby?: Array<string> | null;
  /** what the agent in the way is doing; with agent_paused: who paused you, and why */
  lock_reason?: string;
  /** agent in the way */
  locked_by?: string;
  /** each path and its token, when there are several */
  locks?: Array<{
    fencing_token: string;
    file_path: string;
  }> | null;
  /** one of exclusive, shared */
  mode?: "exclusive" | "shared";
  /** what to do now */
  next?: string;
  /** place in line, 1 is next */
  queue_position?: number;
  /** on failure: locked_by_other, deadlock, agent_paused or ttl_out_of_range */
  reason?: string;
  /** false: nothing was locked */
  success: boolean;
  /** number drawn while it waited */
  ticket?: string;
  /** milliseconds spent waiting */
  waited_ms?: number;
}

export interface LockState {
  file_path: string;
  /** the lock, the oldest of several */
  lock?: {
    agent_type: string;
    /** left out: every branch */
    branch?: string;
    /** RFC 3339 UTC */
    expires_at: string;
    fencing_token: string;
    file_path: string;
    /** RFC 3339 UTC */
    locked_at: string;
    /** agent that holds it */
    locked_by: string;
    /** one of exclusive, shared */
    mode: "exclusive" | "shared";
    reason?: string;
    /** left out: a logical key */
    repository?: string;
    seconds_left: number;
    /** session that holds it */
    session_id?: string;
  };
  /** true when a lock overlaps the path */
  locked: boolean;
}

export interface LockWaits {
  count: number;
  /** there are more than limit */
  truncated: boolean;
  /** an empty list means that nobody waits */
  waits: Array<{
    agent_id: string;
    agent_type?: string;
    /** waiters for an overlapping path that came earlier */
    ahead?: number;
    /** left out: every branch */
    branch?: string;
    /** what it asked for */
    file_path: string;
    /** agent that holds it */
    held_by?: string;
    /** the lock in the way, the first of several; left out: only earlier waiters are */
    held_path?: string;
    /** one of exclusive, shared */
    mode: "exclusive" | "shared";
    session_id: string;
    /** when it joined the queue, RFC 3339 UTC */
    since: string;
  }> | null;
}

export interface Locks {
  count: number;
  /** an empty list means that nobody holds any of it */
  locks: Array<{
    agent_type: string;
    /** left out: every branch */
    branch?: string;
    /** RFC 3339 UTC */
    expires_at: string;
    fencing_token: string;
    file_path: string;
    /** RFC 3339 UTC */
    locked_at: string;
    /** agent that holds it */
    locked_by: string;
    /** one of exclusive, shared */
    mode: "exclusive" | "shared";
    reason?: string;
    /** left out: a logical key */
    repository?: string;
    seconds_left: number;
    /** session that holds it */
    session_id?: string;
  }> | null;
  /** there are more than limit */
  truncated: boolean;
}

export interface Memory {
  /** who remembered */
  agent_id?: string;
  archived?: boolean;
  /** episodic: event_type, summary, outcome, lessons, details, tags; procedural: skill_name, description, steps, success_rate */
  content: Record<string, unknown>;
  created_at?: string;
  details?: Record<string, unknown>;
  event_type?: string;
  /** memory_id again */
  id?: string;
  lessons?: Array<string> | null;
  memory_id: string;
  /** one of episodic, procedural */
  memory_type: "episodic" | "procedural";
  outcome?: string;
  /** scope all: where it is from */
  project?: string;
  /** 0..1, what the list is sorted by */
  relevance: number;
  /** relevance again */
  relevance_score?: number;
  score?: {
    /** from its neighbours in the session */
    context: number;
    /** share of the question's information that it and its neighbours have */
    coverage: number;
    /** age, staleness and a skill's success together */
    factor: number;
    /** index terms; = marks whole identifiers, paths and codes */
    matched: Array<string> | null;
    /** version of the ranking's parameters */
    parameters: number;
    paths: number;
    tags: number;
    words: number;
  };
  /** its file changed since: check before relying on it */
  stale?: boolean;
  summary?: string;
  tags?: Array<string> | null;
  /** what matched */
  why: string;
}

export interface MemoryPolicies {
  policies: Array<{
    archive_days?: number;
    delete_days?: number;
    layer: string;
  }> | null;
}

export interface MemoryRetention {
  /** archive after so many days (searchable on request); 0: never (0 to 36500) */
  archive_days?: number;
  /** delete after so many days, experiences only once archived; 0: never (0 to 36500) */
  delete_days?: number;
  /** layer to set; absent: only show (one of episodic, working, procedural) */
  layer?: "episodic" | "working" | "procedural";
}

export interface Messages {
  count: number;
  messages: Array<{
    ack_required: boolean;
    acknowledged?: boolean;
    created_at: string;
    /** agent id, or person:<name> */
    from: string;
    /** one of agent, person */
    from_kind: "agent" | "person";
    kind: string;
    message_id: string;
    /** box sent: what became of it */
    recipients?: Array<{
      acked_at?: string;
      agent_id: string;
      /** a session was told, or read it */
      delivered_at?: string;
      read_at?: string;
    }> | null;
    reply_to?: string;
    text: string;
    thread: string;
    /** it was unread until now */
    unread?: boolean;
    /** overseer: from a person, goes before everything else (one of normal, high, overseer) */
    urgency: "normal" | "high" | "overseer";
  }> | null;
  truncated: boolean;
  /** messages still unread, at most 1000 are counted */
  unread: number;
}

export type None = Record<string, unknown>;

export type Nothing = Record<string, unknown>;

export interface NudgeAgent {
  /** at most 200 characters */
  agent: string;
  /** only this session of the agent (at most 200 characters) */
  session?: string;
  /** default: asks where it stands (at most 500 characters) */
  text?: string;
}

export interface Nudged {
  /** an earlier nudge of yours was not taken yet; nothing was added */
  already?: boolean;
  message_id: string;
  /** open sessions that are told with their next call */
  sessions_told: number;
  success: boolean;
}

export interface Ok {
  ok: boolean;
}

export interface OneOrchestratedSession {
  session: {
    agent_name: string | null;
    created_at: string;
    /** one of sync, async_poll, async_callback */
    execution_mode: "sync" | "async_poll" | "async_callback";
    executor_profile: string | null;
    executor_session_id: string | null;
    hostname: string | null;
    last_resumed_at: string | null;
    parent_session_id: string | null;
    project_dir: string | null;
    session_id: string;
    /** one of pending, running, stopping, stopped, finished, failed */
    status: "pending" | "running" | "stopping" | "stopped" | "finished" | "failed";
  };
}

export interface OrchestratedSessionReply {
  ok: boolean;
  session: {
    agent_name: string | null;
    created_at: string;
    /** one of sync, async_poll, async_callback */
    execution_mode: "sync" | "async_poll" | "async_callback";
    executor_profile: string | null;
    executor_session_id: string | null;
    hostname: string | null;
    last_resumed_at: string | null;
    parent_session_id: string | null;
    project_dir: string | null;
    session_id: string;
    /** one of pending, running, stopping, stopped, finished, failed */
    status: "pending" | "running" | "stopping" | "stopped" | "finished" | "failed";
  };
}

export interface OrchestratedSessions {
  sessions: Array<{
    agent_name: string | null;
    created_at: string;
    /** one of sync, async_poll, async_callback */
    execution_mode: "sync" | "async_poll" | "async_callback";
    executor_profile: string | null;
    executor_session_id: string | null;
    hostname: string | null;
    last_resumed_at: string | null;
    parent_session_id: string | null;
    project_dir: string | null;
    session_id: string;
    /** one of pending, running, stopping, stopped, finished, failed */
    status: "pending" | "running" | "stopping" | "stopped" | "finished" | "failed";
  }> | null;
  /** there are more: ask with before */
  truncated?: boolean;
}

export interface OverrideChangeset {
  /** uuid */
  changeset_id: string;
  /** shown with the verdict (at most 900 characters) */
  reason: string;
  /** one of passed, failed; default passed */
  verdict?: "passed" | "failed";
}

export interface Persons {
  count: number;
  persons: Array<{
    created_at: string;
    /** keys that are not revoked */
    keys: number;
    name: string;
    roles: Array<string> | null;
  }> | null;
}

export interface Policies {
  policies: Array<{
    /** GitHub conclusions that count as success beside success */
    accept_conclusions?: Array<string> | null;
    approvals?: {
      /** approvals needed; 0 reads as 1 (0 to 20) */
      count?: number;
      /** any of these suffices (at most 20 items) */
      roles?: Array<string> | null;
      /** at most 100 items */
      teams?: Array<string> | null;
      /** at most 100 items */
      users?: Array<string> | null;
    };
    /** glob over the branch; empty: every branch */
    branch?: string;
    /** for e2b and ntm: run by /bin/sh -c in the checkout */
    command?: string;
    /** what a raised tier without a matching policy runs */
    default?: boolean;
    enabled: boolean;
    exclude_patterns?: Array<string> | null;
    /** in order of preference */
    executors: Array<string> | null;
    /** lowest level of finding that fails */
    fail_on?: string;
    fold_case?: boolean;
    id?: string;
    name: string;
    patterns: Array<string> | null;
    /** lower first, within a tier */
    priority?: number;
    /** glob over the normalised remote; empty: every repository */
    repository?: string;
    /** false: advisory, never decides the verdict */
    required: boolean;
    /** environment variables that must be set for the gateway, else the policy is blocked */
    required_env?: Array<string> | null;
    /** a person approves beside the run */
    requires_approval?: boolean;
    /** further attempts after a failure of the change itself */
    retry_max?: number;
    /** e2b template id */
    template?: string;
    /** 0 static, 1 unit, 2 integration, 3 system, 4 human */
    tier: number;
    timeout_seconds: number;
    /** inline: which; empty: every one that fits */
    tools?: Array<string> | null;
    /** counts its changes, from 1 */
    version?: number;
    /** trust may drop it for small changes */
    waivable: boolean;
    /** GitHub Actions workflow file, such as verify.yml */
    workflow?: string;
  }> | null;
  /** changes with every change of a policy */
  set_version: number;
}

export interface PolicyVersions {
  name: string;
  versions: Array<{
    at: string;
    by: string;
    policy: {
      /** GitHub conclusions that count as success beside success */
      accept_conclusions?: Array<string> | null;
      approvals?: {
        /** approvals needed; 0 reads as 1 (0 to 20) */
        count?: number;
        /** any of these suffices (at most 20 items) */
        roles?: Array<string> | null;
        /** at most 100 items */
        teams?: Array<string> | null;
        /** at most 100 items */
        users?: Array<string> | null;
      };
      /** glob over the branch; empty: every branch */
      branch?: string;
      /** for e2b and ntm: run by /bin/sh -c in the checkout */
      command?: string;
      /** what a raised tier without a matching policy runs */
      default?: boolean;
      enabled: boolean;
      exclude_patterns?: Array<string> | null;
      /** in order of preference */
      executors: Array<string> | null;
      /** lowest level of finding that fails */
      fail_on?: string;
      fold_case?: boolean;
      id?: string;
      name: string;
      patterns: Array<string> | null;
      /** lower first, within a tier */
      priority?: number;
      /** glob over the normalised remote; empty: every repository */
      repository?: string;
      /** false: advisory, never decides the verdict */
      required: boolean;
      /** environment variables that must be set for the gateway, else the policy is blocked */
      required_env?: Array<string> | null;
      /** a person approves beside the run */
      requires_approval?: boolean;
      /** further attempts after a failure of the change itself */
      retry_max?: number;
      /** e2b template id */
      template?: string;
      /** 0 static, 1 unit, 2 integration, 3 system, 4 human */
      tier: number;
      timeout_seconds: number;
      /** inline: which; empty: every one that fits */
      tools?: Array<string> | null;
      /** counts its changes, from 1 */
      version?: number;
      /** trust may drop it for small changes */
      waivable: boolean;
      /** GitHub Actions workflow file, such as verify.yml */
      workflow?: string;
    };
    version: number;
  }> | null;
}

export interface PrioritiseWork {
  /** 1 is first (1 to 10) */
  priority: number;
  /** uuid */
  task_id: string;
}

export interface ProgressWork {
  /** as claimed (at most 40 characters) */
  lease_token?: string;
  /** one sentence others will see (at most 2000 characters) */
  note?: string;
  /** 0 to 100 */
  percent?: number;
  /** uuid */
  task_id: string;
}

export interface Project {
  /** readable without a login through the Data API */
  anon_read: boolean;
  created_at: string;
  /** when an agent called last, RFC 3339 UTC */
  last_activity?: string;
  /** its name */
  project: string;
  repositories: Array<{
    /** normalised remote: host/owner/name */
    remote?: string;
    /** its name within the project */
    repository: string;
    root_commit?: string;
  }> | null;
}

export interface Projects {
  count: number;
  projects: Array<{
    /** readable without a login through the Data API */
    anon_read: boolean;
    created_at: string;
    /** when an agent called last, RFC 3339 UTC */
    last_activity?: string;
    /** its name */
    project: string;
    repositories: Array<{
      /** normalised remote: host/owner/name */
      remote?: string;
      /** its name within the project */
      repository: string;
      root_commit?: string;
    }> | null;
  }> | null;
}

export interface PurgeAudit {
  /** rows older than this go; at least 30 (30 to 36500) */
  days: number;
}

export interface PurgedAudit {
  /** at most 10000 a call; call again while it is not less */
  deleted: number;
  success: boolean;
}

export interface ReadHandoff {
  /** whose; default: anybody's (at most 200 characters) */
  agent_name?: string;
  /** how many (1 to 100; default 1) */
  limit?: number;
}

export interface Recall {
  /** only this type; skill: only skills (at most 100 characters) */
  event_type?: string;
  /** say how each relevance came about */
  explain?: boolean;
  /** also archived memories */
  include_archived?: boolean;
  /** false: leave out memories whose file changed since (default true) */
  include_stale?: boolean;
  /** most to return (1 to 100; default 10) */
  limit?: number;
  /** leave out what is less relevant (0 to 1) */
  min_relevance?: number;
  /** files at hand (at most 50 items) */
  paths?: Array<string> | null;
  /** project: everybody's here; own: the caller's; all: every project the key may see (one of project, own, all; default project) */
  scope?: "project" | "own" | "all";
  /** prefer these (at most 50 items) */
  tags?: Array<string> | null;
  /** what you are about to do, or a question (at most 20000 characters) */
  task_description?: string;
  /** most tokens to return (1 to 200000) */
  token_budget?: number;
}

export interface Recalled {
  count: number;
  /** the best match covers little of the question */
  low_confidence?: boolean;
  memories: Array<{
    /** who remembered */
    agent_id?: string;
    archived?: boolean;
    /** episodic: event_type, summary, outcome, lessons, details, tags; procedural: skill_name, description, steps, success_rate */
    content: Record<string, unknown>;
    created_at?: string;
    details?: Record<string, unknown>;
    event_type?: string;
    /** memory_id again */
    id?: string;
    lessons?: Array<string> | null;
    memory_id: string;
    /** one of episodic, procedural */
    memory_type: "episodic" | "procedural";
    outcome?: string;
    /** scope all: where it is from */
    project?: string;
    /** 0..1, what the list is sorted by */
    relevance: number;
    /** relevance again */
    relevance_score?: number;
    score?: {
      /** from its neighbours in the session */
      context: number;
      /** share of the question's information that it and its neighbours have */
      coverage: number;
      /** age, staleness and a skill's success together */
      factor: number;
      /** index terms; = marks whole identifiers, paths and codes */
      matched: Array<string> | null;
      /** version of the ranking's parameters */
      parameters: number;
      paths: number;
      tags: number;
      words: number;
    };
    /** its file changed since: check before relying on it */
    stale?: boolean;
    summary?: string;
    tags?: Array<string> | null;
    /** what matched */
    why: string;
  }> | null;
  /** what was not done, and why */
  notes?: Array<string> | null;
  /** searched, and nothing fits; an outage is an error instead */
  nothing_relevant?: boolean;
  reason?: string;
  /** of the memories' content */
  tokens: number;
  /** more matched than limit or budget allow */
  truncated: boolean;
}

export interface RecordSkillUse {
  /** uuid */
  skill_id: string;
  success: boolean;
}

export interface RegisterRunner {
  /** most runs it takes at once; left out: as many as come (1 to 10000) */
  capacity?: number;
  /** type, command and config of its executor */
  executor?: Record<string, unknown>;
  /** at most 200 characters */
  executor_profile: string;
  /** at most 255 characters */
  hostname: string;
  /** kept over restarts of one installation: after a crash it may register again at once (at most 200 characters) */
  instance_id?: string;
  /** at most 4096 characters */
  project_dir: string;
  /** take only runs that demand one of its tags */
  require_matching_tags?: boolean;
  /** runs it still executes; others that it had have failed */
  run_ids?: Array<string>;
  /** at most 100 items */
  tags?: Array<string> | null;
}

export interface RegisterSession {
  /** what this agent can do, short words (at most 50 items) */
  capabilities?: Array<string> | null;
  /** what it works on now (at most 500 characters) */
  current_task?: string;
  /** agent that started this one (at most 200 characters) */
  delegated_from?: string;
  /** silence after which the session lapses, once it sent a heartbeat; 120 unless set (5 to 86400) */
  lapse_seconds?: number;
  /** anything else worth showing, at most 8 KB */
  metadata?: Record<string, unknown>;
}

export interface RegisteredRunner {
  heartbeat_interval_seconds: number;
  poll_endpoint: string;
  poll_timeout_seconds: number;
  runner_id: string;
}

export interface ReleaseLock {
  /** all locks of this session */
  all?: boolean;
  /** only the lock on this branch; left out: on any (at most 255 characters) */
  branch?: string;
  /** as it was locked (at most 1024 characters) */
  file_path?: string;
  /** several (at most 200 items) */
  file_paths?: Array<string> | null;
}

export interface ReleaseResult {
  /** one of released */
  action?: "released";
  /** how many paths were released */
  count: number;
  /** the path, the first of several */
  file_path?: string;
  /** everything released, when several */
  file_paths?: Array<string> | null;
  /** asked for, but not held by this session */
  not_held?: Array<string> | null;
  /** lock_not_found_or_not_owner when nothing was released */
  reason?: string;
  released: boolean;
  /** true when something was released */
  success: boolean;
}

export interface ReleaseWork {
  /** as claimed (at most 40 characters) */
  lease_token?: string;
  /** what the next one should know (at most 2000 characters) */
  reason?: string;
  /** uuid */
  task_id: string;
}

export interface Remember {
  /** branch the file was seen on; left out: a digest that is the newest of any branch stands (at most 255 characters) */
  branch?: string;
  /** anything else, at most 64 KB */
  details?: Record<string, unknown>;
  /** digest of the file's content as seen; the memory is stale once another one is reported (at most 200 characters) */
  digest?: string;
  /** error, decision, lesson, … (at most 100 characters; default discovery) */
  event_type?: string;
  /** for next time (at most 50 items) */
  lessons?: Array<string> | null;
  /** first line it is about (at least 1) */
  line_from?: number;
  /** last line (at least 1) */
  line_to?: number;
  /** success, failure (at most 100 characters) */
  outcome?: string;
  /** file it is about (at most 1000 characters) */
  path?: string;
  /** one sentence with names to search for (at most 4000 characters) */
  summary: string;
  /** at most 50 items */
  tags?: Array<string> | null;
}

export interface Remembered {
  /** merged: you said the same within the hour; lessons, tags and details were united (one of stored, merged) */
  action: "stored" | "merged";
  memory_id: string;
  success: boolean;
}

export interface RenewLocks {
  /** new length; left out: each lock's own (1 to 480) */
  ttl_minutes?: number;
}

export interface RenewedLocks {
  /** when the first of them ends, RFC 3339 UTC */
  expires_at?: string;
  /** paths the session holds; an expired lock is not brought back */
  held: number;
  reason?: string;
  /** locks prolonged; those with two thirds of their time left are not touched */
  renewed: number;
  success: boolean;
}

export interface RenewedWork {
  /** tasks the session holds; a lost one is not brought back */
  renewed: number;
  success: boolean;
}

export interface ReportChanges {
  /** branch that is checked out; memories bound to files of other branches stay as they are (at most 255 characters) */
  branch?: string;
  /** why somebody goes ahead past the locks of others; kept with the record (at most 500 characters) */
  bypass?: string;
  /** its command, shortened (at most 300 characters) */
  command?: string;
  /** what changed (at most 1000 items) */
  files: Array<{
    deleted?: boolean;
    /** digest of its content now; memories bound to another one become stale (at most 200 characters) */
    digest?: string;
    /** at most 1024 characters */
    file_path: string;
  }> | null;
  /** when it was noticed (one of edit, commit, push; default edit) */
  stage?: "edit" | "commit" | "push";
  /** what changed it, such as Bash (at most 100 characters) */
  tool?: string;
  /** the change came between calls: another process may have made it */
  unknown?: boolean;
}

export interface ReportDigests {
  /** branch that was looked at; memories of other branches stay as they are (at most 255 characters) */
  branch?: string;
  /** at most 5000 items */
  files: Array<{
    /** empty: the file is gone (at most 200 characters) */
    digest?: string;
    /** at most 1000 characters */
    path: string;
  }> | null;
}

export interface ReportUsage {
  /** at most 1000 items */
  reports: Array<{
    /** default: the caller's; of a run: its agent (at most 200 characters) */
    agent?: string;
    /** when; default now. It counts in the period it lies in, however late it comes (date-time) */
    at?: string;
    /** 0 to 1e+12 */
    cache_read_tokens?: number;
    /** 0 to 1e+12 */
    cache_write_tokens?: number;
    /** left out: not known (0 to 1e+06) */
    cost_usd?: number;
    /** not those read from or written to a cache (0 to 1e+12) */
    input_tokens?: number;
    /** names this use for ever in the project: a second report of it changes nothing (at most 200 characters) */
    key: string;
    /** at most 200 characters */
    model?: string;
    /** 0 to 1e+12 */
    output_tokens?: number;
    /** at most 200 characters */
    run_id?: string;
    /** default: the caller's; of a run: its session (at most 200 characters) */
    session?: string;
    /** who counted: executor, hook, … (at most 40 characters) */
    source?: string;
    /** default: the run's task, else the one task the session holds (uuid) */
    task_id?: string;
  }> | null;
}

export interface ReportedChanges {
  files: number;
  /** true: the report was taken in */
  success: boolean;
  /** sessions that were told; a repetition within ten minutes tells nobody again */
  told: number;
  /** changed files that another session holds, at most 100; an empty list means none */
  violations: Array<{
    agent_type?: string;
    /** branch of the lock; left out: every branch */
    branch?: string;
    /** RFC 3339 UTC */
    expires_at?: string;
    /** the requested path */
    file_path: string;
    /** the path that overlaps it, when it is another */
    held_path?: string;
    /** RFC 3339 UTC */
    locked_at?: string;
    /** agent that holds it */
    locked_by: string;
    /** one of exclusive, shared */
    mode?: "exclusive" | "shared";
    /** what the holder wrote */
    reason?: string;
    seconds_left?: number;
    /** session that holds it */
    session_id?: string;
    /** it does not hold the path but asked for it earlier */
    waiting?: boolean;
  }> | null;
}

export interface ReportedDigests {
  /** files whose digest is new */
  changed: number;
  files: number;
  /** observations that hold again */
  marked_fresh: number;
  /** observations that no longer hold */
  marked_stale: number;
  success: boolean;
}

export interface ReportedUsage {
  /** budgets that are near their limit or over it */
  budgets?: Array<{
    /** one of warn, stop */
    action: "warn" | "stop";
    agent?: string;
    limit_tokens?: number;
    limit_usd?: number;
    name: string;
    /** of the limit that is nearer */
    percent: number;
    /** one of day, month, total */
    period: "day" | "month" | "total";
    period_end?: string;
    period_start?: string;
    set_by: string;
    spent_tokens: number;
    spent_usd: number;
    /** exceeded: over the limit, and action is warn (one of ok, warned, exceeded, stopped) */
    state: "ok" | "warned" | "exceeded" | "stopped";
    state_since?: string;
    /** reports of this period without a cost: a limit in USD does not see them */
    uncosted?: number;
    warn_percent: number;
  }> | null;
  counted: number;
  /** reported before; not counted again */
  duplicates: number;
  success: boolean;
}

export interface RerunChangeset {
  /** uuid */
  changeset_id: string;
  /** at most 500 characters */
  reason?: string;
  /** only this tier, and what did not succeed above it; absent: route and verify everything anew (0 to 3) */
  tier?: number;
}

export interface ResolveRepository {
  /** name for a repository seen for the first time (at most 200 characters) */
  name?: string;
  /** put it in this project instead of one of its own (at most 120 characters) */
  project?: string;
  /** normalised remote: host/owner/name (at most 500 characters) */
  remote?: string;
  /** first commit of the history (at most 64 characters) */
  root_commit?: string;
}

export interface ResolvedRepository {
  project: string;
  project_id: number;
  repository: string;
  repository_id: number;
  success: boolean;
}

export interface RevokeKey {
  /** name of the key (at most 200 characters) */
  name: string;
}

export interface RevokedKey {
  /** it was revoked before */
  already?: boolean;
  name: string;
  success: boolean;
}

export interface RotateKey {
  /** how long the old secret stays good: 24h, 90m, 30s; 0 ends it at once; at most 720h (default 24h) */
  grace?: string;
  /** name of the key (at most 200 characters) */
  name: string;
}

export interface RotatedKey {
  key: {
    agent_id?: string;
    agent_type?: string;
    created_at: string;
    expires_at?: string;
    /** to the minute */
    last_used_at?: string;
    name: string;
    person?: string;
    /** first characters of the secret, to recognise it */
    prefix: string;
    /** absent: every project */
    project?: string;
    /** requests a second; absent: the server's default */
    rate_limit?: number;
    revoked_at?: string;
    /** when it got the secret it has now */
    rotated_at?: string;
    scopes: Array<string> | null;
    /** one of active, expired, revoked */
    status: "active" | "expired" | "revoked";
    /** waiting calls and open streams at a time; absent: the server's default */
    stream_limit?: number;
  };
  /** until when the old secret is good; absent: it ended */
  old_secret_until?: string;
  /** send it as X-API-Key; it cannot be shown again */
  secret: string;
  success: boolean;
}

export interface RouteDecision {
  plan: Array<{
    /** why nothing can run it */
    blocked?: string;
    executor?: string;
    policy: string;
    required: boolean;
    tier: number;
  }> | null;
  reasons: Array<{
    /** such as matched, size, trust, failures, fork, truncated, waived, lock_violation, draft */
    code: string;
    /** an example of what matched */
    path?: string;
    policy?: string;
    text: string;
    tier: number;
  }> | null;
  tiers: Array<number> | null;
  /** matched, but dropped for a trusted author's small change */
  waived?: Array<{
    /** why nothing can run it */
    blocked?: string;
    executor?: string;
    policy: string;
    required: boolean;
    tier: number;
  }> | null;
}

export interface Run {
  agent_name: string | null;
  /** how often it was claimed */
  attempt: number;
  claimed_at: string | null;
  completed_at: string | null;
  created_at: string;
  deadline: string | null;
  demands: {
    executor_profile?: string;
    hostname?: string;
    project_dir?: string;
    tags: Array<string> | null;
  };
  error: string | null;
  /** one of sync, async_poll, async_callback */
  execution_mode: "sync" | "async_poll" | "async_callback";
  max_attempts: number;
  parent_session_id: string | null;
  priority: number;
  project: string;
  project_dir: string | null;
  prompt: string;
  run_id: string;
  runner_id: string | null;
  session_id: string;
  started_at: string | null;
  /** one of pending, claimed, running, stopping, completed, failed, stopped */
  status: "pending" | "claimed" | "running" | "stopping" | "completed" | "failed" | "stopped";
  /** the task of the work queue that it executes */
  task_id: string | null;
  /** while it is pending: it fails then unless a runner fits */
  timeout_at: string | null;
  /** one of start_session, resume_session */
  type: "start_session" | "resume_session";
}

export interface RunCompleted {
  /** at most 200 characters */
  run_id: string;
  /** at most 200 characters */
  runner_id: string;
  /** success; not looked at (at most 100 characters) */
  status?: string;
}

export interface RunFailed {
  /** what went wrong, such as the end of its stderr */
  error: string;
  /** at most 200 characters */
  run_id: string;
  /** at most 200 characters */
  runner_id: string;
}

export interface RunRef {
  /** at most 200 characters */
  run_id: string;
}

export interface RunStarted {
  /** at most 200 characters */
  run_id: string;
  /** at most 200 characters */
  runner_id: string;
}

export interface RunStopped {
  /** at most 200 characters */
  run_id: string;
  /** at most 200 characters */
  runner_id: string;
  /** at most 100 characters; default SIGTERM */
  signal?: string;
}

export interface RunWhy {
  /** runs with the same demands that are served before it */
  ahead: number;
  demands: {
    executor_profile?: string;
    hostname?: string;
    project_dir?: string;
    tags: Array<string> | null;
  };
  /** session_busy, delayed, queued, at_capacity, no_runner, no_match, agent_paused, agent_draining, budget_exhausted, or the status */
  reason: string;
  run_id: string;
  runners: Array<{
    executor_profile: string;
    fits: boolean;
    hostname: string;
    lacks: Array<string> | null;
    runner_id: string;
    /** one of online, stale */
    status: "online" | "stale";
  }> | null;
  status: string;
  waits_for_run?: string;
  /** the same as a sentence */
  why: string;
}

export interface RunnerRef {
  /** at most 200 characters */
  runner_id: string;
}

export interface Runners {
  runners: Array<{
    /** most runs it takes at once; null: it does not say */
    capacity: number | null;
    drain_reason?: string;
    drained_by?: string;
    /** it finishes what it has and takes nothing new */
    draining: boolean;
    draining_since?: string;
    executor: Record<string, unknown>;
    executor_profile: string;
    hostname: string;
    last_heartbeat: string;
    project_dir: string;
    registered_at: string;
    require_matching_tags: boolean;
    runner_id: string;
    seconds_since_heartbeat: number;
    /** one of online, stale */
    status: "online" | "stale";
    tags: Array<string> | null;
  }> | null;
}

export interface Runs {
  runs: Array<{
    agent_name: string | null;
    /** how often it was claimed */
    attempt: number;
    claimed_at: string | null;
    completed_at: string | null;
    created_at: string;
    deadline: string | null;
    demands: {
      executor_profile?: string;
      hostname?: string;
      project_dir?: string;
      tags: Array<string> | null;
    };
    error: string | null;
    /** one of sync, async_poll, async_callback */
    execution_mode: "sync" | "async_poll" | "async_callback";
    max_attempts: number;
    parent_session_id: string | null;
    priority: number;
    project: string;
    project_dir: string | null;
    prompt: string;
    run_id: string;
    runner_id: string | null;
    session_id: string;
    started_at: string | null;
    /** one of pending, claimed, running, stopping, completed, failed, stopped */
    status: "pending" | "claimed" | "running" | "stopping" | "completed" | "failed" | "stopped";
    /** the task of the work queue that it executes */
    task_id: string | null;
    /** while it is pending: it fails then unless a runner fits */
    timeout_at: string | null;
    /** one of start_session, resume_session */
    type: "start_session" | "resume_session";
  }> | null;
  /** there are more: ask with after */
  truncated?: boolean;
}

export interface Safeguards {
  /** acts that wait for another person's approval; while the list is not empty, changing it is one of them */
  two_person: Array<"force_release" | "policies" | "guardrails"> | null;
}

export interface SendMessage {
  /** ask for ack_message */
  ack_required?: boolean;
  /** keep it for agents never seen in this project, instead of refusing */
  allow_unknown?: boolean;
  /** default: note, or answer with reply_to (one of note, question, answer, request, warning) */
  kind?: "note" | "question" | "answer" | "request" | "warning";
  /** message answered; acknowledges it (uuid) */
  reply_to?: string;
  /** at most 4000 characters */
  text: string;
  /** thread to join; a reply joins that of its original (at most 200 characters) */
  thread?: string;
  /** agent ids; * = all active; default: sender of reply_to */
  to?: Array<string> | null;
  /** messages of persons are above both (one of normal, high) */
  urgency?: "normal" | "high";
}

export interface SentMessage {
  message_id: string;
  recipients: Array<string> | null;
  /** open sessions that get it with their next call; a recipient without one is told when it comes */
  sessions_told: number;
  success: boolean;
  thread: string;
  /** recipients never seen in this project */
  unknown_recipients?: Array<string> | null;
}

export interface Session {
  agent_id?: string;
  /** seconds of silence after which it lapses, once it sent a heartbeat */
  lapse_seconds: number;
  /** when it lapses unless it is heard again, RFC 3339 UTC */
  lapses_at?: string;
  /** name of the session; send it with later calls */
  session_id: string;
  /** active */
  status: string;
  success: boolean;
}

export interface SessionAffinity {
  affinity: {
    executor_profile: string | null;
    executor_session_id: string | null;
    hostname: string | null;
    project_dir: string | null;
    session_id: string;
  };
}

export interface SessionEvent {
  content?: Array<Record<string, unknown>> | null;
  error?: string;
  /** session_start, message, post_tool, result, session_stop, or any other word (at most 200 characters) */
  event_type: string;
  /** -2.147483648e+09 to 2.147483647e+09 */
  exit_code?: number;
  reason?: string;
  /** of an event result */
  result_data?: unknown;
  /** of an event result */
  result_text?: string;
  /** at most 100 characters */
  role?: string;
  /** at most 200 characters */
  session_id: string;
  /** at most 100 characters */
  timestamp: string;
  tool_input?: Record<string, unknown>;
  /** at most 500 characters */
  tool_name?: string;
  tool_output?: unknown;
}

export interface SessionEvents {
  events: Array<{
    content: Array<Record<string, unknown>> | null;
    error: string | null;
    event_type: string;
    exit_code: number | null;
    id: number;
    reason: string | null;
    result_data?: unknown;
    result_text?: string;
    role: string | null;
    session_id: string;
    timestamp: string;
    tool_input: Record<string, unknown> | null;
    tool_name: string | null;
    tool_output: unknown;
  }> | null;
  /** after_id of the next page */
  next_after_id?: number;
  /** there are more */
  truncated?: boolean;
}

export interface SessionResult {
  /** text of the assistant's last message */
  result: string;
  /** structured result, where the executor sent one */
  result_data?: unknown;
}

export interface SessionStatus {
  /** one of pending, running, stopping, stopped, finished, failed, not_existent */
  status: "pending" | "running" | "stopping" | "stopped" | "finished" | "failed" | "not_existent";
}

export interface SetAgentStatus {
  /** at most 200 characters */
  name: string;
  /** one of active, inactive */
  status: "active" | "inactive";
}

export interface SetBudget {
  /** stop: nothing new is claimed or dispatched until the period ends or the limit is raised (one of warn, stop; default stop) */
  action?: "warn" | "stop";
  /** for this agent; left out: for the project (at most 200 characters) */
  agent?: string;
  /** input, output and cache together (0 to 1e+15) */
  limit_tokens?: number;
  /** 0 to 1e+07 */
  limit_usd?: number;
  /** at most 100 characters */
  name: string;
  /** in UTC; total: for ever (one of day, month, total; default month) */
  period?: "day" | "month" | "total";
  /** at most 500 characters */
  reason?: string;
  /** 1 to 100; default 80 */
  warn_percent?: number;
}

export interface SetGuardrail {
  /** default: as delivered; a rule of the project's own is removed (one of deny, ask, allow, default) */
  action: "deny" | "ask" | "allow" | "default";
  /** a regular expression (RE2) over the command: makes or changes a rule of the project's own (at most 500 characters) */
  pattern?: string;
  /** at most 500 characters */
  reason: string;
  /** at most 60 characters */
  rule: string;
}

export interface SetSafeguards {
  /** at most 500 characters */
  reason: string;
  /** at most 3 items */
  two_person: Array<"force_release" | "policies" | "guardrails"> | null;
}

export interface SetTrust {
  /** at most 200 characters */
  agent: string;
  /** most that evidence may raise it to; absent: as it was, or the level if that is higher (0 to 4) */
  ceiling?: number;
  /** from now on; evidence moves it further (0 to 4) */
  level?: number;
  /** at most 2000 characters */
  reason?: string;
  /** normalised remote; empty: all of them (at most 500 characters) */
  repository?: string;
}

export interface SimulatePolicies {
  /** for policies of certain branches (at most 500 characters) */
  branch?: string;
  /** not ready for review */
  draft?: boolean;
  /** at most 5000 items */
  files: Array<{
    /** lines (0 to 1e+08) */
    additions?: number;
    /** lines (0 to 1e+08) */
    deletions?: number;
    /** git's octal mode, such as 100644, 120000 (symlink), 160000 (submodule) (at most 6 characters) */
    mode?: string;
    /** at most 4096 characters */
    path: string;
    /** of a rename or copy (at most 4096 characters) */
    previous_path?: string;
    /** one of added, removed, modified, renamed, copied, changed, unchanged; default modified */
    status?: "added" | "removed" | "modified" | "renamed" | "copied" | "changed" | "unchanged";
  }> | null;
  /** it comes from a fork */
  fork?: boolean;
  /** at most 1000 items */
  lock_violations?: Array<{
    /** agent that held the lock (at most 200 characters) */
    holder: string;
    /** at most 4096 characters */
    path: string;
    /** what the holder said it was for (at most 2000 characters) */
    reason?: string;
  }> | null;
  /** the author's consecutive failures on the branch (0 to 1e+06) */
  prior_failures?: number;
  /** normalised remote, for policies of certain repositories (at most 500 characters) */
  repository?: string;
  /** the list of files is not whole */
  truncated?: boolean;
  /** of the author; absent: 2 (0 to 4) */
  trust_level?: number;
  /** leave these out of the choice (at most 20 items) */
  unavailable_executors?: Array<string> | null;
}

export interface Skills {
  count: number;
  skills: Array<{
    /** who stored it */
    agent_id: string;
    archived?: boolean;
    created_at: string;
    description: string;
    skill_id: string;
    skill_name: string;
    steps: Array<unknown> | null;
    success_rate: number;
    successes: number;
    tags: Array<string> | null;
    updated_at: string;
    uses: number;
  }> | null;
  truncated: boolean;
}

export interface Snooze {
  /** the item's id, as the page shows it (at most 200 characters) */
  item: string;
  /** for so long; default 60 (1 to 43200) */
  minutes?: number;
  /** at most 500 characters */
  reason?: string;
  /** until then, instead of minutes (date-time) */
  until?: string;
}

export interface Snoozed {
  item: string;
  reason?: string;
  /** left out: it is not hidden */
  until?: string;
}

export interface SnoozedItems {
  items: Array<{
    item: string;
    reason?: string;
    /** left out: it is not hidden */
    until?: string;
  }> | null;
}

export interface StopSession {
  /** at most 200 characters */
  session_id: string;
  /** stop everything below it, too; ends of children are then told to nobody */
  tree?: boolean;
}

export interface StoppedRun {
  message?: string;
  ok: boolean;
  run_id: string;
  session_id: string;
  /** stopping: its runner is told (one of stopping, stopped) */
  status: "stopping" | "stopped";
}

export interface StoppedSession {
  descendants_stopped?: number;
  message?: string;
  ok: boolean;
  run_id?: string;
  session_id: string;
  /** stopping: its runner is told; else the status it has */
  status: string;
}

export interface StoreSkill {
  /** when to use it (at most 8000 characters) */
  description?: string;
  /** what it does; unique in the project (at most 200 characters) */
  name: string;
  /** what to do, in order (at most 100 items) */
  steps?: Array<unknown> | null;
  /** task types it is for (at most 50 items) */
  tags?: Array<string> | null;
}

export interface StoredSkill {
  /** one of stored, updated */
  action: "stored" | "updated";
  skill_id: string;
  success: boolean;
}

export interface SubmitChangeset {
  /** branch it is meant for; empty: the default branch (at most 500 characters) */
  base_ref?: string;
  /** hint: counts if the base branch was pushed to it, else the branch's head is taken */
  base_sha?: string;
  /** at most 500 characters */
  branch: string;
  /** git bundle, base64, at most 3 MB, of a commit that is not pushed: git bundle create - base..branch (at most 4000000 characters) */
  bundle?: string;
  /** hint only: the list is read from git; it can add to what is verified, never take away (at most 3000 items) */
  changed_files?: Array<string> | null;
  /** the commit, in full */
  head_sha: string;
  /** its remote, or its name in this project; empty: the project's only one (at most 500 characters) */
  repository?: string;
  /** the task it was made for (uuid) */
  task_id?: string;
  /** at most 300 characters */
  title?: string;
}

export interface SubmitTasks {
  /** the tasks, in any order (at most 5000 items) */
  tasks: Array<{
    /** demands on the agent */
    agent_requirements?: {
      /** blueprint of that run (at most 60 characters) */
      agent_name?: string;
      /** only agents of this type (at most 200 characters) */
      agent_type?: string;
      /** only agents with the capability archetype:<this> (at most 80 characters) */
      archetype?: string;
      /** exact profile: a runner executes the task as a run (at most 200 characters) */
      executor_profile?: string;
      /** exact host (at most 255 characters) */
      hostname?: string;
      /** least trust of the agent (0 to 4) */
      min_trust_level?: number;
      /** exact directory (at most 1000 characters) */
      project_dir?: string;
    };
    /** fails when it is not finished by then (date-time) */
    deadline?: string;
    /** begin no sooner than in so many seconds (0 to 3.1536e+07) */
    delay_seconds?: number;
    /** task ids, or refs of this batch (at most 200 items) */
    depends_on?: Array<string> | null;
    /** what to do (at most 20000 characters) */
    description: string;
    /** to lock before work (at most 200 items) */
    files?: Array<string> | null;
    /** up to 256 KiB */
    input_data?: Record<string, unknown>;
    /** words to find it by; they demand nothing (at most 50 items) */
    labels?: Array<string> | null;
    /** claims before it is dead; releases and lost leases count (1 to 20; default 3) */
    max_attempts?: number;
    /** 1 is first (1 to 10; default 5) */
    priority?: number;
    /** a name for depends_on within this batch (at most 100 characters) */
    ref?: string;
    /** begin no sooner than at this time (date-time) */
    run_at?: string;
    /** the worker needs all (at most 50 items) */
    tags?: Array<string> | null;
    /** a word workers filter by (at most 200 characters) */
    task_type: string;
  }> | null;
}

export interface SubmitWork {
  /** demands on the agent */
  agent_requirements?: {
    /** blueprint of that run (at most 60 characters) */
    agent_name?: string;
    /** only agents of this type (at most 200 characters) */
    agent_type?: string;
    /** only agents with the capability archetype:<this> (at most 80 characters) */
    archetype?: string;
    /** exact profile: a runner executes the task as a run (at most 200 characters) */
    executor_profile?: string;
    /** exact host (at most 255 characters) */
    hostname?: string;
    /** least trust of the agent (0 to 4) */
    min_trust_level?: number;
    /** exact directory (at most 1000 characters) */
    project_dir?: string;
  };
  /** fails when it is not finished by then (date-time) */
  deadline?: string;
  /** begin no sooner than in so many seconds (0 to 3.1536e+07) */
  delay_seconds?: number;
  /** task ids to complete first (at most 200 items) */
  depends_on?: Array<string> | null;
  /** what to do (at most 20000 characters) */
  description: string;
  /** to lock before work (at most 200 items) */
  files?: Array<string> | null;
  /** up to 256 KiB */
  input_data?: Record<string, unknown>;
  /** words to find it by; they demand nothing (at most 50 items) */
  labels?: Array<string> | null;
  /** claims before it is dead; releases and lost leases count (1 to 20; default 3) */
  max_attempts?: number;
  /** 1 is first (1 to 10; default 5) */
  priority?: number;
  /** begin no sooner than at this time (date-time) */
  run_at?: string;
  /** the worker needs all (at most 50 items) */
  tags?: Array<string> | null;
  /** a word workers filter by (at most 200 characters) */
  task_type: string;
}

export interface SubmittedChangeset {
  changeset_id: string;
  /** false: the commit was known already */
  created: boolean;
  state: string;
  /** GET it for the verdict */
  status_url: string;
}

export interface SubmittedTasks {
  act_id?: string;
  approval_required?: boolean;
  error?: string;
  operation?: string;
  /** false: all of them wait for a person's approval */
  success: boolean;
  task_ids: Array<string> | null;
  tasks: Array<{
    /** waits for dependencies */
    blocked: boolean;
    /** one of pending, scheduled */
    status: "pending" | "scheduled";
    task_id: string;
  }> | null;
}

export interface SubmittedWork {
  act_id?: string;
  approval_required?: boolean;
  /** waits for dependencies */
  blocked: boolean;
  error?: string;
  operation?: string;
  /** one of pending, scheduled, awaiting_approval */
  status: "pending" | "scheduled" | "awaiting_approval";
  /** false: it waits for a person's approval */
  success: boolean;
  task_id: string;
}

export interface TaskChange {
  /** how many tasks were cancelled, dependents included */
  cancelled?: number;
  lease_expires_at?: string;
  /** experience that was recorded */
  memory_id?: string;
  /** why none was */
  memory_note?: string;
  /** a word for why nothing was changed */
  reason?: string;
  /** this was done before; nothing was changed now */
  replayed?: boolean;
  /** when a task that failed comes back */
  retry_at?: string;
  /** the task's status now */
  status?: string;
  success: boolean;
  task_id: string;
  /** the same as a sentence */
  why?: string;
}

export interface TaskRef {
  /** uuid */
  task_id: string;
}

export interface TaskReply {
  /** one of task_not_found */
  reason?: "task_not_found";
  success: boolean;
  task?: {
    agent_requirements?: {
      /** blueprint of that run (at most 60 characters) */
      agent_name?: string;
      /** only agents of this type (at most 200 characters) */
      agent_type?: string;
      /** only agents with the capability archetype:<this> (at most 80 characters) */
      archetype?: string;
      /** exact profile: a runner executes the task as a run (at most 200 characters) */
      executor_profile?: string;
      /** exact host (at most 255 characters) */
      hostname?: string;
      /** least trust of the agent (0 to 4) */
      min_trust_level?: number;
      /** exact directory (at most 1000 characters) */
      project_dir?: string;
    };
    attempt: number;
    claimed_at?: string;
    claimed_by?: string;
    completed_at?: string;
    created_at: string;
    deadline?: string;
    depends_on: Array<string> | null;
    description: string;
    error_message?: string;
    files?: Array<string> | null;
    id: string;
    input_data?: unknown;
    labels?: Array<string> | null;
    lease_expires_at?: string;
    max_attempts: number;
    priority: number;
    progress?: {
      at: string;
      note?: string;
      percent?: number;
    };
    repository?: string;
    result?: unknown;
    run_at?: string;
    /** the status, with pending split into ready and blocked (one of ready, blocked, scheduled, claimed, running, verifying, completed, failed, dead, cancelled) */
    state: "ready" | "blocked" | "scheduled" | "claimed" | "running" | "verifying" | "completed" | "failed" | "dead" | "cancelled";
    /** one of scheduled, pending, claimed, running, verifying, completed, failed, dead, cancelled */
    status: "scheduled" | "pending" | "claimed" | "running" | "verifying" | "completed" | "failed" | "dead" | "cancelled";
    submitted_by: string;
    tags?: Array<string> | null;
    task_id: string;
    task_type: string;
    updated_at: string;
    /** dependencies that are not completed */
    waits_for?: Array<{
      error_message?: string;
      status: string;
      task_id: string;
      task_type: string;
    }> | null;
    /** why it is not ready */
    why?: string;
  };
}

export interface Tasks {
  count: number;
  /** send as cursor for the next page; a page may be short and still have one */
  next_cursor?: string;
  tasks: Array<{
    agent_requirements?: {
      /** blueprint of that run (at most 60 characters) */
      agent_name?: string;
      /** only agents of this type (at most 200 characters) */
      agent_type?: string;
      /** only agents with the capability archetype:<this> (at most 80 characters) */
      archetype?: string;
      /** exact profile: a runner executes the task as a run (at most 200 characters) */
      executor_profile?: string;
      /** exact host (at most 255 characters) */
      hostname?: string;
      /** least trust of the agent (0 to 4) */
      min_trust_level?: number;
      /** exact directory (at most 1000 characters) */
      project_dir?: string;
    };
    attempt: number;
    claimed_at?: string;
    claimed_by?: string;
    completed_at?: string;
    created_at: string;
    deadline?: string;
    depends_on: Array<string> | null;
    description: string;
    error_message?: string;
    files?: Array<string> | null;
    id: string;
    input_data?: unknown;
    labels?: Array<string> | null;
    lease_expires_at?: string;
    max_attempts: number;
    priority: number;
    progress?: {
      at: string;
      note?: string;
      percent?: number;
    };
    repository?: string;
    result?: unknown;
    run_at?: string;
    /** the status, with pending split into ready and blocked (one of ready, blocked, scheduled, claimed, running, verifying, completed, failed, dead, cancelled) */
    state: "ready" | "blocked" | "scheduled" | "claimed" | "running" | "verifying" | "completed" | "failed" | "dead" | "cancelled";
    /** one of scheduled, pending, claimed, running, verifying, completed, failed, dead, cancelled */
    status: "scheduled" | "pending" | "claimed" | "running" | "verifying" | "completed" | "failed" | "dead" | "cancelled";
    submitted_by: string;
    tags?: Array<string> | null;
    task_id: string;
    task_type: string;
    updated_at: string;
    /** dependencies that are not completed */
    waits_for?: Array<{
      error_message?: string;
      status: string;
      task_id: string;
      task_type: string;
    }> | null;
    /** why it is not ready */
    why?: string;
  }> | null;
  /** there are more */
  truncated: boolean;
}

export interface TrustList {
  /** of the agent asked for, newest first */
  events?: Array<{
    at: string;
    by: string;
    changeset_id?: string;
    /** one of passed, failed, denied, waived_failure, set, raised, lowered */
    kind: "passed" | "failed" | "denied" | "waived_failure" | "set" | "raised" | "lowered";
    /** afterwards */
    level: number;
    pass_rate_bound?: number;
    reason?: string;
    repository: string;
    /** min(1, lines / 50) */
    weight?: number;
  }> | null;
  trust: Array<{
    agent_id: string;
    /** 1 and what passed at the first attempt, by size, halved every 30 days */
    alpha: number;
    /** 1 and what failed, likewise */
    beta: number;
    /** most that evidence may raise the level to; a person sets it */
    ceiling: number;
    /** changes since the level moved last: 20 to rise, 10 to sink */
    evidence: number;
    /** no rise before, since a waived check failed */
    frozen_until?: string;
    /** 0 (a person looks at everything) to 4 */
    level: number;
    /** the true rate of passing exceeds it with 95 % */
    pass_rate_bound: number;
    /** empty: what was set for all, and where new repositories begin */
    repository: string;
    set_by?: string;
    updated_at?: string;
  }> | null;
}

export interface UpdateAgent {
  capabilities?: Array<string>;
  demands?: {
    /** at most 200 characters */
    executor_profile?: string;
    /** at most 255 characters */
    hostname?: string;
    /** at most 4096 characters */
    project_dir?: string;
    /** at most 50 items */
    tags?: Array<string> | null;
  };
  /** at most 20000 characters */
  description?: string;
  mcp_servers?: Record<string, {
    /** at most 200 items */
    args?: Array<string> | null;
    /** at most 4096 characters */
    command?: string;
    env?: Record<string, string>;
    headers?: Record<string, string>;
    /** one of stdio, http; default stdio */
    type?: "stdio" | "http";
    /** at most 4096 characters */
    url?: string;
  }>;
  /** at most 200 characters */
  name: string;
  skills?: Array<string>;
  system_prompt?: string;
  tags?: Array<string>;
}

export interface UpdateCapability {
  /** at most 20000 characters */
  description?: string;
  mcp_servers?: Record<string, {
    /** at most 200 items */
    args?: Array<string> | null;
    /** at most 4096 characters */
    command?: string;
    env?: Record<string, string>;
    headers?: Record<string, string>;
    /** one of stdio, http; default stdio */
    type?: "stdio" | "http";
    /** at most 4096 characters */
    url?: string;
  }>;
  /** at most 200 characters */
  name: string;
  text?: string;
}

export interface UpdatePolicy {
  /** GitHub conclusions that count as success beside success (at most 4 items) */
  accept_conclusions?: Array<"skipped" | "neutral" | "stale" | "action_required">;
  /** what is asked of people */
  approvals?: {
    /** approvals needed; 0 reads as 1 (0 to 20) */
    count?: number;
    /** any of these suffices (at most 20 items) */
    roles?: Array<string> | null;
    /** at most 100 items */
    teams?: Array<string> | null;
    /** at most 100 items */
    users?: Array<string> | null;
  };
  /** glob over the branch; empty: every branch (at most 500 characters) */
  branch?: string;
  /** for e2b and ntm: run by /bin/sh -c in the checkout (at most 20000 characters) */
  command?: string;
  /** what a raised tier without a matching policy runs */
  default?: boolean;
  enabled?: boolean;
  /** paths that do not count (at most 500 items) */
  exclude_patterns?: Array<string>;
  /** in order of preference (at most 10 items) */
  executors?: Array<"inline" | "github" | "e2b" | "ntm" | "human">;
  /** lowest level of finding that fails (one of note, warning, error) */
  fail_on?: "note" | "warning" | "error";
  /** match without regard to case */
  fold_case?: boolean;
  /** at most 100 characters */
  name: string;
  /** globs over paths, such as ** /*.go; ** crosses directories (at most 500 items) */
  patterns?: Array<string>;
  /** lower first, within a tier (0 to 1000) */
  priority?: number;
  /** glob over the normalised remote; empty: every repository (at most 500 characters) */
  repository?: string;
  /** false: advisory, never decides the verdict */
  required?: boolean;
  /** environment variables that must be set for the gateway, else the policy is blocked (at most 50 items) */
  required_env?: Array<string>;
  /** a person approves beside the run */
  requires_approval?: boolean;
  /** further attempts after a failure of the change itself (0 to 5) */
  retry_max?: number;
  /** e2b template id (at most 200 characters) */
  template?: string;
  /** 0 to 4 */
  tier?: number;
  /** 1 to 86400 */
  timeout_seconds?: number;
  /** inline: which; empty: every one that fits (at most 50 items) */
  tools?: Array<string>;
  /** version you read; a conflict when it was changed since (0 to 2e+09) */
  version?: number;
  /** trust may drop it for small changes */
  waivable?: boolean;
  /** GitHub Actions workflow file, such as verify.yml (at most 200 characters) */
  workflow?: string;
}

export interface UpdateSessionMetadata {
  /** at most 200 characters */
  agent_name?: string;
  /** at most 200 characters */
  executor_profile?: string;
  /** at most 500 characters */
  executor_session_id?: string;
  /** at most 255 characters */
  hostname?: string;
  /** at most 100 characters */
  last_resumed_at?: string;
  /** at most 4096 characters */
  project_dir?: string;
  /** at most 200 characters */
  session_id: string;
}

export interface UpdateWork {
  /** one of heartbeat, progress, release */
  action: "heartbeat" | "progress" | "release";
  /** a new length of the lease (10 to 86400) */
  lease_seconds?: number;
  /** as claimed (at most 40 characters) */
  lease_token?: string;
  /** progress, or why you release (at most 2000 characters) */
  note?: string;
  /** 0 to 100 */
  percent?: number;
  /** uuid */
  task_id: string;
}

export interface UsageSummary {
  by: string;
  groups: Array<{
    cache_read_tokens: number;
    cache_write_tokens: number;
    /** of the reports that name a cost */
    cost_usd: number;
    input_tokens: number;
    /** what it is grouped by; empty: not known */
    key: string;
    /** of a task or change: its title */
    name?: string;
    output_tokens: number;
    reports: number;
    /** all four */
    tokens: number;
    /** reports without a cost */
    uncosted?: number;
  }> | null;
  since: string;
  /** of everything that was asked for, also what is cut off */
  total: {
    cache_read_tokens: number;
    cache_write_tokens: number;
    /** of the reports that name a cost */
    cost_usd: number;
    input_tokens: number;
    /** what it is grouped by; empty: not known */
    key: string;
    /** of a task or change: its title */
    name?: string;
    output_tokens: number;
    reports: number;
    /** all four */
    tokens: number;
    /** reports without a cost */
    uncosted?: number;
  };
  truncated: boolean;
}

export interface UsedSkill {
  skill_id: string;
  skill_name: string;
  success: boolean;
  success_rate: number;
  successes: number;
  uses: number;
}

export interface VerificationPolicy {
  /** GitHub conclusions that count as success beside success */
  accept_conclusions?: Array<string> | null;
  approvals?: {
    /** approvals needed; 0 reads as 1 (0 to 20) */
    count?: number;
    /** any of these suffices (at most 20 items) */
    roles?: Array<string> | null;
    /** at most 100 items */
    teams?: Array<string> | null;
    /** at most 100 items */
    users?: Array<string> | null;
  };
  /** glob over the branch; empty: every branch */
  branch?: string;
  /** for e2b and ntm: run by /bin/sh -c in the checkout */
  command?: string;
  /** what a raised tier without a matching policy runs */
  default?: boolean;
  enabled: boolean;
  exclude_patterns?: Array<string> | null;
  /** in order of preference */
  executors: Array<string> | null;
  /** lowest level of finding that fails */
  fail_on?: string;
  fold_case?: boolean;
  id?: string;
  name: string;
  patterns: Array<string> | null;
  /** lower first, within a tier */
  priority?: number;
  /** glob over the normalised remote; empty: every repository */
  repository?: string;
  /** false: advisory, never decides the verdict */
  required: boolean;
  /** environment variables that must be set for the gateway, else the policy is blocked */
  required_env?: Array<string> | null;
  /** a person approves beside the run */
  requires_approval?: boolean;
  /** further attempts after a failure of the change itself */
  retry_max?: number;
  /** e2b template id */
  template?: string;
  /** 0 static, 1 unit, 2 integration, 3 system, 4 human */
  tier: number;
  timeout_seconds: number;
  /** inline: which; empty: every one that fits */
  tools?: Array<string> | null;
  /** counts its changes, from 1 */
  version?: number;
  /** trust may drop it for small changes */
  waivable: boolean;
  /** GitHub Actions workflow file, such as verify.yml */
  workflow?: string;
}

export interface VerificationState {
  changeset_id?: string;
  /** nothing more happens by itself */
  decided: boolean;
  denied?: Array<{
    by: string;
    comment?: string;
    policy: string;
  }> | null;
  /** at most 20, when it failed */
  findings?: Array<{
    end_line?: number;
    fingerprint?: string;
    /** none, note, warning or error */
    level: string;
    /** from 1; 0: the whole file */
    line: number;
    message: string;
    path: string;
    rule: string;
    tool: string;
  }> | null;
  /** false: the gateway knows no such commit */
  found: boolean;
  head_sha: string;
  /** why the verdict, or what it waits for */
  reason?: string;
  /** the latest attempt at each policy */
  runs?: Array<{
    /** the end of it, when it failed */
    output?: string;
    policy: string;
    reason?: string;
    required: boolean;
    /** its conclusion, or how far it is */
    state: string;
    tier: number;
    url?: string;
  }> | null;
  /** a changeset's state, or unknown */
  state: string;
  tiers?: Array<number> | null;
  /** policies that people are asked about */
  waits_for?: Array<string> | null;
}

export interface VerifiedLock {
  /** RFC 3339 UTC */
  expires_at: string;
  fencing_token: string;
  file_path: string;
  locked_by: string;
  seconds_left: number;
  success: boolean;
  valid: boolean;
}

export interface VerifyLock {
  /** token that acquire_lock returned */
  fencing_token: string;
  /** the path to be written; a lock on its directory counts too (at most 1024 characters) */
  file_path: string;
}

export interface Violations {
  count: number;
  /** there are more than limit */
  truncated: boolean;
  violations: Array<{
    /** who changed it; with unknown: who worked there last */
    agent_id: string;
    /** RFC 3339 UTC */
    at: string;
    /** the reason given for going ahead */
    bypass?: string;
    command?: string;
    file_path: string;
    /** the lock's path */
    held_path: string;
    holder_session_id?: string;
    id: string;
    /** when it was reported last, RFC 3339 UTC */
    last_at: string;
    /** agent that held the lock */
    locked_by: string;
    repository?: string;
    session_id?: string;
    /** one of edit, commit, push */
    stage: "edit" | "commit" | "push";
    tool?: string;
    unknown?: boolean;
  }> | null;
}

export interface VoteApproval {
  /** uuid */
  approval_id: string;
  /** at most 2000 characters */
  comment?: string;
  /** the commit that was looked at: refused when it is not the approval's (at most 64 characters) */
  head_sha?: string;
}

export interface WhoAmI {
  agent_id?: string;
  agent_type?: string;
  /** project: the key is good for this project alone (one of project) */
  bound_to?: "project";
  person?: string;
  /** what the key stands for: key:<name>, person:<name> or local */
  principal: string;
  project: string;
  scopes: Array<string> | null;
  /** session that calls with this identity act in */
  session_id?: string;
}

export interface WhyNotReady {
  /** what an agent needs to take it */
  demands?: Record<string, unknown>;
  /** whether your registered capabilities meet the demands */
  fits_you?: boolean;
  ready: boolean;
  /** one of task_not_found */
  reason?: "task_not_found";
  state?: string;
  status?: string;
  success: boolean;
  task_id: string;
  /** dependencies that are not completed */
  waits_for?: Array<{
    error_message?: string;
    status: string;
    task_id: string;
    task_type: string;
  }> | null;
  /** one sentence */
  why?: string;
}

export interface Work {
  /** which try this is */
  attempt?: number;
  deadline?: string;
  /** completed tasks whose results may help: get_task */
  depends_on?: Array<string> | null;
  description?: string;
  /** lock these before you begin */
  files?: Array<string> | null;
  /** kept from new work: see why, next */
  held?: boolean;
  /** what the submitter sent along */
  input_data?: unknown;
  /** how the attempt before ended */
  last_error?: string;
  /** renew before then */
  lease_expires_at?: string;
  /** send it with complete_work to be told when the task was lost */
  lease_token?: string;
  max_attempts?: number;
  /** what earlier agents learned about it, at most three */
  memories?: Array<{
    /** who remembered */
    agent_id?: string;
    archived?: boolean;
    /** episodic: event_type, summary, outcome, lessons, details, tags; procedural: skill_name, description, steps, success_rate */
    content: Record<string, unknown>;
    created_at?: string;
    details?: Record<string, unknown>;
    event_type?: string;
    /** memory_id again */
    id?: string;
    lessons?: Array<string> | null;
    memory_id: string;
    /** one of episodic, procedural */
    memory_type: "episodic" | "procedural";
    outcome?: string;
    /** scope all: where it is from */
    project?: string;
    /** 0..1, what the list is sorted by */
    relevance: number;
    /** relevance again */
    relevance_score?: number;
    score?: {
      /** from its neighbours in the session */
      context: number;
      /** share of the question's information that it and its neighbours have */
      coverage: number;
      /** age, staleness and a skill's success together */
      factor: number;
      /** index terms; = marks whole identifiers, paths and codes */
      matched: Array<string> | null;
      /** version of the ranking's parameters */
      parameters: number;
      paths: number;
      tags: number;
      words: number;
    };
    /** its file changed since: check before relying on it */
    stale?: boolean;
    summary?: string;
    tags?: Array<string> | null;
    /** what matched */
    why: string;
  }> | null;
  /** why memories are missing */
  memory_note?: string;
  next?: string;
  priority?: number;
  /** why there was none */
  queue?: {
    /** wait for dependencies */
    blocked: number;
    /** others are at work on them */
    claimed: number;
    /** ready, but they demand other types, tags or agents */
    ready_other: number;
    /** begin later */
    scheduled: number;
  };
  /** one of no_tasks_available, agent_paused, agent_draining, budget_exhausted */
  reason?: "no_tasks_available" | "agent_paused" | "agent_draining" | "budget_exhausted";
  repository?: string;
  /** false: there was no task for you */
  success: boolean;
  tags?: Array<string> | null;
  /** the same as description */
  task_description?: string;
  task_id: string | null;
  task_type?: string;
  /** all of them, when limit is over 1 */
  tasks?: Array<{
    /** which try this is */
    attempt?: number;
    deadline?: string;
    /** completed tasks whose results may help: get_task */
    depends_on?: Array<string> | null;
    description?: string;
    /** lock these before you begin */
    files?: Array<string> | null;
    /** what the submitter sent along */
    input_data?: unknown;
    /** how the attempt before ended */
    last_error?: string;
    /** renew before then */
    lease_expires_at?: string;
    /** send it with complete_work to be told when the task was lost */
    lease_token?: string;
    max_attempts?: number;
    priority?: number;
    repository?: string;
    tags?: Array<string> | null;
    /** the same as description */
    task_description?: string;
    task_id: string;
    task_type?: string;
  }> | null;
  why?: string;
}

export interface WorkStats {
  blocked: number;
  claimed: number;
  lanes: Array<{
    demands?: Record<string, unknown>;
    oldest: string;
    /** counted to 10,000 */
    ready: number;
    task_type: string;
  }> | null;
  /** states of the latest 20,000 tasks */
  latest: Record<string, number>;
  ready: number;
  scheduled: number;
}

export interface Working {
  count: number;
  /** items no longer shown; originals=true has them */
  hidden: number;
  items: Array<{
    compressed?: boolean;
    compressed_by?: string;
    content: string;
    item_id: number;
    pinned?: boolean;
    timestamp: string;
    tokens: number;
    type: string;
  }> | null;
  /** of all items as shown */
  tokens: number;
}

export interface WorkingUpdate {
  context_item: {
    /** text; anything else is kept as JSON */
    content: unknown;
    /** never shorten it */
    pinned?: boolean;
    /** when it was; default: now (date-time) */
    timestamp?: string;
    /** note, decision, file, error, … (at most 100 characters) */
    type: string;
  };
  /** most tokens of the session's working memory; older items are shortened to fit (100 to 200000; default 8000) */
  token_budget?: number;
}

export interface WorkingUpdated {
  /** older items that were shortened or hidden by this; their originals stay readable */
  compressed: number;
  /** extractive, or the model that did it */
  compressed_by?: string;
  item_id?: number;
  notes?: Array<string> | null;
  /** over_budget: pinned items would exceed the budget; nothing was changed */
  reason?: string;
  success: boolean;
  token_budget: number;
  /** of all items as shown */
  tokens: number;
}

export interface WriteHandoff {
  /** what is finished (at most 100 items) */
  completed_work?: Array<unknown> | null;
  /** what was decided, and why (at most 100 items) */
  decisions?: Array<unknown> | null;
  /** what is half done (at most 100 items) */
  in_progress?: Array<unknown> | null;
  /** what to do next, first things first (at most 100 items) */
  next_steps?: Array<unknown> | null;
  /** files to look at (at most 200 items) */
  relevant_files?: Array<unknown> | null;
  /** what was done and where it stands, for somebody who was not there (at most 8000 characters) */
  summary: string;
  /** agent to tell of it (at most 200 characters) */
  to?: string;
}

export interface WrittenHandoff {
  handoff_id: string;
  success: boolean;
}

/** What may be said with one call. */
export interface CallOptions {
  /** makes a repeated change happen once, also across restarts; random unless set */
  requestKey?: string;
  signal?: AbortSignal;
  /** milliseconds before the call is given up; 30,000 beyond its wait_seconds unless set */
  timeout?: number;
}

/** One method for every operation. */
export interface Operations {
  /** Acknowledges messages; who asked for it is told. Twice changes nothing. */
  ackMessage(members: AckMessage, options?: CallOptions): Promise<AckedMessages>;
  /** Reserves a path, a directory, a glob or a logical key, or several at once, all or none. Call it before editing any file. Success carries expires_at and a fencing token; asking again for what the session holds renews it. A refusal names who holds what until when, and what is free nearby. wait_seconds waits in line, first come first served. */
  acquireLock(members?: AcquireLock, options?: CallOptions): Promise<LockResult>;
  /** The older way to add an event: session_start opens the session, session_stop finishes it, and no parent is told. */
  addEvent(members: SessionEvent, options?: CallOptions): Promise<Ok>;
  /** Stores what happened in a session and shows it to live views. session_stop finishes the session and tells its parent. */
  addSessionEvent(members: { session_id: string }, options?: CallOptions): Promise<Ok>;
  /** Does what waits, at once and once, in the name of who asked; a stopped command may be run once more within the hour. Nobody approves what they asked for. Changes of policies and rules need an administrator. */
  approveAct(members: { act_id: string }, options?: CallOptions): Promise<DecidedAct>;
  /** Votes for one commit. Who changed the code may not, nor the owner of the agent that did; a newer commit needs a vote of its own. */
  approveChange(members: { approval_id: string }, options?: CallOptions): Promise<Approval>;
  /** An executor says that it works on the session, where, and under which id of its own. The session runs from then on. */
  bindSession(members: { session_id: string }, options?: CallOptions): Promise<OrchestratedSessionReply>;
  /** What waits for dependencies, oldest first, each with the reason. */
  blockedWork(members?: { limit?: number }, options?: CallOptions): Promise<Tasks>;
  /** Ends what is being verified of a commit, also where it runs. It gets no verdict until it is run again. */
  cancelChangeset(members: { changeset_id: string }, options?: CallOptions): Promise<Changeset>;
  /** Cancels a task for good, with everything that depends on it. For its submitter, its claimant, or a reviewer. */
  cancelWork(members: CancelWork, options?: CallOptions): Promise<TaskChange>;
  /** Says what is to be done with a command that meets rules, and keeps a record of it. What is refused waits for a person, who may let that very command through once. Hooks send it. */
  checkGuardrail(members: CheckGuardrail, options?: CallOptions): Promise<GuardrailAnswer>;
  /** Lists live locks: holder, reason, expiry, fencing token. file_paths narrows it to locks that overlap these paths. Takes nothing. */
  checkLocks(members?: CheckLocks, options?: CallOptions): Promise<Locks>;
  /** Lapses sessions of the project whose last heartbeat is older than the threshold: frees their locks, requeues their tasks. Sessions lapse by themselves; this is for shortening the wait or, with idle_minutes, for sessions that never sent a heartbeat. */
  cleanupAgents(members?: CleanupAgents, options?: CallOptions): Promise<CleanedAgents>;
  /** Ends several tasks you claimed in one transaction; each has its own outcome. */
  completeTasks(members: CompleteTasks, options?: CallOptions): Promise<CompletedTasks>;
  /** Ends a task you claimed: success true completes it and unblocks what depends on it; false fails it for good, or, with retryable, sends it back after a pause while attempts remain. */
  completeWork(members: CompleteWork, options?: CallOptions): Promise<TaskChange>;
  /** Describes an agent: prompt, MCP servers, tags, demands on its runner. */
  createAgent(members: CreateAgent, options?: CallOptions): Promise<AgentBlueprint>;
  /** Describes a part that several agents share. */
  createCapability(members: CreateCapability, options?: CallOptions): Promise<Capability>;
  /** Makes an API key and returns its secret, this once. It may be bound to a project, an agent or a person. */
  createKey(members: CreateKey, options?: CallOptions): Promise<CreatedKey>;
  /** Opens a session without a run. POST /runs makes its session by itself. */
  createOrchestratedSession(members: CreateOrchestratedSession, options?: CallOptions): Promise<OrchestratedSessionReply>;
  /** Registers a person, or gives a known one other roles. Keys of a person hold at most these roles. */
  createPerson(members: CreatePerson, options?: CallOptions): Promise<CreatedPerson>;
  /** Adds a rule: which paths need which tier, run by which executor. What is left out has the default of its tier. */
  createPolicy(members: CreatePolicy, options?: CallOptions): Promise<VerificationPolicy>;
  /** Starts a session or resumes one. The first runner that meets the demands of session, blueprint and request executes it; a session has one run at work at a time, a further one waits behind it. */
  createRun(members: CreateRun, options?: CallOptions): Promise<CreatedRun>;
  /** Removes a blueprint. Sessions of it stay. */
  deleteAgent(members: { name: string }, options?: CallOptions): Promise<Record<string, never>>;
  /** Ends a budget, and with it what it stopped. What was used stays on record. */
  deleteBudget(members: { name: string }, options?: CallOptions): Promise<Ok>;
  /** Removes a capability; refused while an agent names it. */
  deleteCapability(members: { name: string }, options?: CallOptions): Promise<Record<string, never>>;
  /** Deletes a session with its runs and events and everything below it, and counts them. Refused while anything of it is at work. */
  deleteSession(members: { session_id: string; tree?: boolean }, options?: CallOptions): Promise<DeletedSession>;
  /** Ends what waits without doing it. Who asked is told. */
  denyAct(members: { act_id: string }, options?: CallOptions): Promise<DecidedAct>;
  /** Votes against one commit: its verdict is failed, for good. */
  denyChange(members: { approval_id: string }, options?: CallOptions): Promise<Approval>;
  /** Takes a runner off the list: itself at once, another at its next poll, which tells it to end. */
  deregisterRunner(members: { runner_id: string; self?: boolean }, options?: CallOptions): Promise<DeregisteredRunner>;
  /** Takes a policy out of use; enabled=true in a change brings it back. Its versions stay. */
  disablePolicy(members: { name: string }, options?: CallOptions): Promise<VerificationPolicy>;
  /** Every session of the project, closed ones too, open ones first. status: active = heard within 15 minutes, idle = open but silent for longer, disconnected = ended or lapsed. */
  discoverAgents(members?: { capability?: string; limit?: number; status?: "active" | "idle" | "disconnected" }, options?: CallOptions): Promise<Agents>;
  /** The agent finishes what it has, with the locks that takes, and gets no new work until it is undrained. list_holds says when nothing is left. */
  drainAgent(members: HoldAgent, options?: CallOptions): Promise<HoldResult>;
  /** The runner finishes the runs it has and is given no new ones, until it is undrained. It stays so when it registers anew. */
  drainRunner(members: { runner_id: string }, options?: CallOptions): Promise<HoldResult>;
  /** Ends the calling session: its locks are freed and its tasks requeued, at once. Other sessions of the same agent are untouched. */
  endSession(members?: EndSession, options?: CallOptions): Promise<EndedSession>;
  /** A reviewer takes a lock away from its holder, who is told why. For a stuck team; the holder may still be writing. */
  forceReleaseLock(members: ForceReleaseLock, options?: CallOptions): Promise<ForceReleased>;
  /** One blueprint with its capabilities worked in: prompts joined, MCP servers merged; raw as it is written. */
  getAgent(members: { name: string; raw?: boolean }, options?: CallOptions): Promise<AgentBlueprint>;
  /** One capability with its text and servers. */
  getCapability(members: { name: string }, options?: CallOptions): Promise<Capability>;
  /** Reads one changeset: why these tiers, every run with its findings, approvals, and the timeline. */
  getChangeset(members: { changeset_id: string }, options?: CallOptions): Promise<ChangesetDetail>;
  /** Reads one session. */
  getOrchestratedSession(members: { session_id: string }, options?: CallOptions): Promise<OneOrchestratedSession>;
  /** Reads one policy. */
  getPolicy(members: { name: string }, options?: CallOptions): Promise<VerificationPolicy>;
  /** One project with its repositories; the caller's when none is named. */
  getProject(members?: { project?: string }, options?: CallOptions): Promise<Project>;
  /** Reads one run. */
  getRun(members: { run_id: string }, options?: CallOptions): Promise<Run>;
  /** Which acts need a second person in this project. */
  getSafeguards(members?: Record<string, never>, options?: CallOptions): Promise<Safeguards>;
  /** Reads one task with its result, whoever has it, and why it is not ready if it is not. Claims nothing. */
  getTask(members: TaskRef, options?: CallOptions): Promise<TaskReply>;
  /** Claims the best task for you, by priority (1 first), then age, and returns it with what you need to begin. It stays yours while its lease is renewed. success false with reason no_tasks_available says that there is none; queue tells why. */
  getWork(members?: GetWork, options?: CallOptions): Promise<Work>;
  /** Moves tasks and locks from one agent to another, all of what is named (nothing named: all it has) or nothing. Tokens rise, so what the old holder still sends is refused. Both are told, and the note is kept as a handoff. An agent may hand over its own work, a reviewer anybody's. */
  handOver(members: HandOver, options?: CallOptions): Promise<HandedOver>;
  /** action write: leaves a summary for the next session (done, in progress, decisions, next steps, files). action read: returns the newest ones. */
  handoff(members: Handoff, options?: CallOptions): Promise<HandoffReply>;
  /** A sign of life. The first one starts the session's lapse clock (120 s unless registered otherwise): a session silent for longer loses its locks and its tasks go back to the queue. */
  heartbeat(members?: Heartbeat, options?: CallOptions): Promise<Session>;
  /** Renews the lease of a task you claimed, for as long as it was claimed or for lease_seconds. */
  heartbeatWork(members: HeartbeatWork, options?: CallOptions): Promise<TaskChange>;
  /** Sets an API key's own limits of requests a second and of waiting calls and open streams; what is left out goes back to the server's default. Within ten seconds everywhere. */
  limitKey(members: LimitKey, options?: CallOptions): Promise<LimitedKey>;
  /** Acts that wait for a person: destructive commands that were stopped, tasks and runs that ask for such, and what needs a second person. */
  listActs(members?: { limit?: number; status?: "pending" | "approved" | "denied" | "used" | "expired" | "all" }, options?: CallOptions): Promise<Acts>;
  /** Blueprints by name as they are written, inactive ones too; with tags those that have all of them. */
  listAgents(members?: { tags?: string }, options?: CallOptions): Promise<AgentBlueprints>;
  /** What people are asked to decide, oldest first: which commit, which policy, why, until when, and who said what. */
  listApprovals(members?: { limit?: number; status?: "waiting" | "pending" | "approved" | "denied" | "expired" | "voided" | "all" }, options?: CallOptions): Promise<ApprovalList>;
  /** The budgets of the project, what is used of each and its state, the fullest first. */
  listBudgets(members?: Record<string, never>, options?: CallOptions): Promise<Budgets>;
  /** What agents may share: texts for their prompts, MCP servers. */
  listCapabilities(members?: Record<string, never>, options?: CallOptions): Promise<Capabilities>;
  /** Changes under verification and decided ones, newest first: state, verdict and why. */
  listChangesets(members?: { agent_id?: string; before?: string; branch?: string; head_sha?: string; limit?: number; open?: boolean; pr_number?: number; repository?: string; state?: "received" | "routing" | "verifying" | "awaiting_approval" | "passed" | "failed" | "error" | "superseded" | "cancelled"; task_id?: string }, options?: CallOptions): Promise<Changesets>;
  /** The older way to read a session's events; a session that is not known has none. */
  listEvents(members: { session_id: string; after_id?: number; limit?: number }, options?: CallOptions): Promise<SessionEvents>;
  /** Commands and tasks that rules caught, who sent them and what was done, newest first. */
  listGuardrailHits(members?: { agent?: string; limit?: number }, options?: CallOptions): Promise<GuardrailHits>;
  /** The rules on destructive commands: what each catches, what is done by default and what in this project, and the project's own. */
  listGuardrails(members?: Record<string, never>, options?: CallOptions): Promise<Guardrails>;
  /** Who is kept from new work, by whom, why and until when: pauses, drains and exhausted budgets; and what they still have. */
  listHolds(members?: { agent?: string }, options?: CallOptions): Promise<Holds>;
  /** API keys with their scopes, bindings and last use; never a secret. */
  listKeys(members?: { include_revoked?: boolean }, options?: CallOptions): Promise<Keys>;
  /** Lists who waits for which lock, first in line first, and who is in the way. */
  listLockWaits(members?: { limit?: number }, options?: CallOptions): Promise<LockWaits>;
  /** The caller's mailbox: unread messages (marked read by this), all, or what it sent and what became of it. */
  listMessages(members?: { box?: "unread" | "all" | "sent"; limit?: number; peek?: boolean; thread?: string; wait_seconds?: number }, options?: CallOptions): Promise<Messages>;
  /** Sessions that runners execute, newest first. */
  listOrchestratedSessions(members?: { agent_name?: string; before?: string; limit?: number; parent_session_id?: string; status?: string }, options?: CallOptions): Promise<OrchestratedSessions>;
  /** Persons, their roles and how many keys stand for them. */
  listPersons(members?: Record<string, never>, options?: CallOptions): Promise<Persons>;
  /** What must be verified where: every policy in the order they run, disabled ones too. */
  listPolicies(members?: Record<string, never>, options?: CallOptions): Promise<Policies>;
  /** The projects this key is good for, with their repositories. */
  listProjects(members?: Record<string, never>, options?: CallOptions): Promise<Projects>;
  /** The runners, with what they offer and when they were heard. */
  listRunners(members?: Record<string, never>, options?: CallOptions): Promise<Runners>;
  /** Runs of the project, by pages. */
  listRuns(members?: { after?: string; limit?: number; newest?: boolean; runner_id?: string; session_id?: string; status?: string }, options?: CallOptions): Promise<Runs>;
  /** What happened in a session, oldest first, by pages. */
  listSessionEvents(members: { session_id: string; after_id?: number; limit?: number }, options?: CallOptions): Promise<SessionEvents>;
  /** Skills of the project, those that work best first. */
  listSkills(members?: { include_archived?: boolean; limit?: number; tags?: Array<string> | null }, options?: CallOptions): Promise<Skills>;
  /** The items that the caller put off, and until when. */
  listSnoozed(members?: Record<string, never>, options?: CallOptions): Promise<SnoozedItems>;
  /** How far agents are trusted, by repository, and the evidence behind it; of one agent also what happened. */
  listTrust(members?: { agent?: string; limit?: number; repository?: string }, options?: CallOptions): Promise<TrustList>;
  /** Lists changes of files that another session held: who changed what, how, and whose lock it was. */
  listViolations(members?: { by?: string; limit?: number }, options?: CallOptions): Promise<Violations>;
  /** Tasks, newest first, filtered by state, type, tag, label, claimant or submitter. */
  listWork(members?: { claimed_by?: string; cursor?: string; label?: string; limit?: number; status?: Array<"ready" | "blocked" | "scheduled" | "pending" | "claimed" | "running" | "verifying" | "completed" | "failed" | "dead" | "cancelled"> | null; submitted_by?: string; tag?: string; task_types?: Array<string> | null }, options?: CallOptions): Promise<Tasks>;
  /** Tells whether a lock overlaps one path, and which. */
  lockStatus(members: { file_path: string }, options?: CallOptions): Promise<LockState>;
  /** Memories and skills as Markdown to read or as JSON lines to import elsewhere, page by page, oldest first. */
  memoryExport(members?: { after?: number; format?: "markdown" | "jsonl"; include_archived?: boolean; layer?: "episodic" | "procedural"; limit?: number }, options?: CallOptions): Promise<ExportedMemory>;
  /** Deletes memories for good; the audit trail keeps the ids and the reason. An agent forgets what it remembered itself, a reviewer anything. */
  memoryForget(members: ForgetMemory, options?: CallOptions): Promise<ForgottenMemory>;
  /** One memory or skill by its id. */
  memoryGet(members: { memory_id: string }, options?: CallOptions): Promise<Memory>;
  /** Takes in JSON lines as memory_export writes them, all or nothing; what is there already is left alone. */
  memoryImport(members: ImportMemory, options?: CallOptions): Promise<ImportedMemory>;
  /** Shows after how many days each layer is archived and deleted; with layer it sets that one. */
  memoryRetention(members?: MemoryRetention, options?: CallOptions): Promise<MemoryPolicies>;
  /** A person's short word: told once, with the next call or hook of the agent's open sessions, before everything else. While an earlier nudge was not taken, another is not added. */
  nudgeAgent(members: NudgeAgent, options?: CallOptions): Promise<Nudged>;
  /** A reviewer sets the verdict of one commit, with a reason that is shown wherever the verdict is. It holds for that commit alone and does not expire; who changed the code may not. */
  overrideChangeset(members: { changeset_id: string }, options?: CallOptions): Promise<Changeset>;
  /** The agent, one of its sessions or (*) every agent takes no new locks and no new work, and its runs are not dispatched, until it is resumed. What it holds it keeps. It is told with its next call or hook, and why. */
  pauseAgent(members: HoldAgent, options?: CallOptions): Promise<HoldResult>;
  /** Every version of a policy, newest first, and who made it. */
  policyHistory(members: { name: string; limit?: number }, options?: CallOptions): Promise<PolicyVersions>;
  /** Gives a task another priority; one that is ready moves in its lane at once. For its submitter or a reviewer. */
  prioritiseWork(members: PrioritiseWork, options?: CallOptions): Promise<TaskChange>;
  /** Shows others how far a task you claimed is, and renews its lease. */
  progressWork(members: ProgressWork, options?: CallOptions): Promise<TaskChange>;
  /** What others changed in the project since the caller looked last, as markdown and as data, and the tasks whose type starts with newsletter. */
  projectDigest(members?: { peek?: boolean }, options?: CallOptions): Promise<Digest>;
  /** Removes rows of the audit trail older than so many days (at least 30) and records that it did. Nothing else can remove or change them. */
  purgeAudit(members: PurgeAudit, options?: CallOptions): Promise<PurgedAudit>;
  /** Executed changes and refused calls of the project, newest first: who, what, when, with which result. Heartbeats and renewals are not in it. */
  queryAudit(members?: { agent_id?: string; limit?: number; operation?: string; since?: string; success?: boolean }, options?: CallOptions): Promise<AuditEntries>;
  /** The newest handoffs, of one agent or of anybody. */
  readHandoff(members?: ReadHandoff, options?: CallOptions): Promise<Handoffs>;
  /** What can be claimed now, in the order it will be: priority, then age. */
  readyWork(members?: { limit?: number; task_types?: Array<string> | null }, options?: CallOptions): Promise<Tasks>;
  /** Finds what agents of this project remembered, and skills, by relevance. Without words, tags and paths: the newest. nothing_relevant means that it looked and found nothing; a failure is an error. */
  recall(members?: Recall, options?: CallOptions): Promise<Recalled>;
  /** Makes a runner known under the id of its host, directory and profile. Refused while another process of that identity is heard. */
  registerRunner(members: RegisterRunner, options?: CallOptions): Promise<RegisteredRunner>;
  /** Describes the session of the calling agent: capabilities, current task, metadata. A new session_id opens a session; without one the agent's implicit session is meant. Sessions open by themselves on first use, so this is for being found. */
  registerSession(members?: RegisterSession, options?: CallOptions): Promise<Session>;
  /** Gives back locks as soon as the edit is done: one path, several, or all of the session. Only the owner can; without a session the path is freed in whichever session of the agent holds it. What others wait for goes to the next in line. */
  releaseLock(members?: ReleaseLock, options?: CallOptions): Promise<ReleaseResult>;
  /** Gives a task you claimed back to the queue at once. The attempt counts; a task without attempts left is dead. */
  releaseWork(members: ReleaseWork, options?: CallOptions): Promise<TaskChange>;
  /** Stores an experience for every agent of the project: an error and its fix, a decision, a lesson. The same summary again within an hour is merged. Bound to a file and a digest, it is marked stale when the file changes. */
  remember(members: Remember, options?: CallOptions): Promise<Remembered>;
  /** Prolongs every lock of the session. Expired ones are not brought back. */
  renewLocks(members?: RenewLocks, options?: CallOptions): Promise<RenewedLocks>;
  /** Renews the lease of every task the session holds, each for as long as it was claimed. MCP servers and runners call it with their heartbeat. */
  renewWork(members?: Record<string, never>, options?: CallOptions): Promise<RenewedWork>;
  /** Tells which files a tool call, a commit or a push changed. Files that another session holds are recorded as violations and told to their holder; digests mark memories about other contents stale. Hooks send it. */
  reportChanges(members: ReportChanges, options?: CallOptions): Promise<ReportedChanges>;
  /** Tells what files are like now: memories bound to another content of them become stale, those of this content fresh again. */
  reportDigests(members: ReportDigests, options?: CallOptions): Promise<ReportedDigests>;
  /** Tells what a model used: tokens, cost, of which run, session and task. A report whose key was counted before changes nothing, so every report may be sent again. Runners and hooks send them. */
  reportUsage(members: ReportUsage, options?: CallOptions): Promise<ReportedUsage>;
  /** Verifies a commit again: routed anew, or only one tier and what did not succeed above it. A denied commit stays denied, a superseded one stays superseded. */
  rerunChangeset(members: { changeset_id: string }, options?: CallOptions): Promise<Changeset>;
  /** Maps what a checkout knows about itself (remote, root commit, name) to its project and repository, and creates both on first sight. */
  resolveRepository(members?: ResolveRepository, options?: CallOptions): Promise<ResolvedRepository>;
  /** Ends a pause. Runs that waited for it are dispatched again; the agent is told. */
  resumeAgent(members: FreeAgent, options?: CallOptions): Promise<HoldResult>;
  /** Puts a failed or dead task back into the queue, its attempts counted anew. For its submitter or a reviewer. */
  retryWork(members: TaskRef, options?: CallOptions): Promise<TaskChange>;
  /** Ends an API key with all its secrets: at once in this server, within ten seconds in others. */
  revokeKey(members: { name: string }, options?: CallOptions): Promise<RevokedKey>;
  /** Gives an API key a new secret and returns it, this once. Name, scopes, bindings and limits stay; the old secret stays good for the grace, and the list of keys shows until when and whether it is still used. A key that got out: rotate with grace 0, which ends every older secret within ten seconds. Keys of COORDINATION_API_KEYS are changed there: name the new one beside the old, restart, remove the old one. The keys that coordctl up made for itself (named local … and runner …) lie in the files key and runner.key of COORD_HOME: write the new secret there, then coordctl down and coordctl up, which writes up.json anew; MCP servers, hooks and coordctl read that. A host that was given COORDINATION_API_KEY needs the new secret there. */
  rotateKey(members: RotateKey, options?: CallOptions): Promise<RotatedKey>;
  /** The run's executor ended well. Its session is finished and its parent told. */
  runCompleted(members: { run_id: string }, options?: CallOptions): Promise<Ok>;
  /** The run's executor failed, and how. It is tried again while attempts remain; else its session has failed and its parent is told. */
  runFailed(members: { run_id: string }, options?: CallOptions): Promise<Ok>;
  /** The runner executes the run. Without this report the run goes to another after half a minute. */
  runStarted(members: { run_id: string }, options?: CallOptions): Promise<Ok>;
  /** The runner ended the run's executor as it was told. */
  runStopped(members: { run_id: string }, options?: CallOptions): Promise<Ok>;
  /** A sign of life. A runner that was stale is online again; polls and reports count as well. */
  runnerHeartbeat(members: RunnerRef, options?: CallOptions): Promise<Ok>;
  /** Sends a message to agents by name, or to everybody active with "*". It is kept until read, and shown to each open session of the recipient with its next call; an agent without a session is told when it opens one. A name never seen in the project is refused. */
  sendMessage(members: SendMessage, options?: CallOptions): Promise<SentMessage>;
  /** Where a session's conversation lives: executor session, host, directory, profile. A resume goes there. */
  sessionAffinity(members: { session_id: string }, options?: CallOptions): Promise<SessionAffinity>;
  /** Everything a session needs to begin, in one call of at most 600 tokens: locks and tasks it holds, locks of others, the first ready tasks, unread messages, the newest handoff. The messages shown count as told. */
  sessionBrief(members?: Record<string, never>, options?: CallOptions): Promise<Brief>;
  /** The text a finished session ended with: the assistant's last message. */
  sessionResult(members: { session_id: string }, options?: CallOptions): Promise<SessionResult>;
  /** The status alone; not_existent for a session that is not known. */
  sessionStatus(members: { session_id: string }, options?: CallOptions): Promise<SessionStatus>;
  /** An inactive agent is not started. */
  setAgentStatus(members: { name: string }, options?: CallOptions): Promise<AgentBlueprint>;
  /** Limits what the project or an agent may use in a day, a month or in all. At warn_percent people are told; at the limit claims and dispatch are refused, with action stop, until the period ends or the limit is raised. What was used before counts. */
  setBudget(members: { name: string }, options?: CallOptions): Promise<Budget>;
  /** Says what is done in this project with commands that a rule catches, or adds a rule of the project's own (a pattern over the command). */
  setGuardrail(members: { rule: string }, options?: CallOptions): Promise<Guardrail>;
  /** Sets which acts need a second person: force_release (of locks), policies (of verification), guardrails (rules on commands). While the list is not empty, changing it needs one, too. Persons need keys of their own for it. */
  setSafeguards(members: SetSafeguards, options?: CallOptions): Promise<Safeguards>;
  /** Sets an agent's level (0 to 4) and the ceiling that evidence may raise it to. A new agent has 1 until then. */
  setTrust(members: SetTrust, options?: CallOptions): Promise<AgentTrust>;
  /** Says which tiers, policies and executors a change would need, and why. The code that routes answers; nothing is stored. */
  simulatePolicies(members: SimulatePolicies, options?: CallOptions): Promise<RouteDecision>;
  /** Keeps how something is done, as steps; the same name again changes it. recall finds it beside experiences. */
  skillStore(members: StoreSkill, options?: CallOptions): Promise<StoredSkill>;
  /** Counts whether a skill worked. Skills are ranked by the mean of that: (successes + 1) / (uses + 2). */
  skillUse(members: RecordSkillUse, options?: CallOptions): Promise<UsedSkill>;
  /** Hides an item that needs a person, for the caller alone, until a time: an hour unless said otherwise. */
  snooze(members: Snooze, options?: CallOptions): Promise<Snoozed>;
  /** Stops a run: at once when nobody has it, else its runner is told until it reports. */
  stopRun(members: { run_id: string }, options?: CallOptions): Promise<StoppedRun>;
  /** Stops the run a session is at and cancels those that wait behind it; with tree, everything below it as well. */
  stopSession(members: { session_id: string }, options?: CallOptions): Promise<StoppedSession>;
  /** Hands a pushed commit over for verification: it is routed by policy, verified in the tiers it needs, and ends in one verdict. Submitting the same commit again returns what is known of it. A commit that is not pushed comes with a git bundle. */
  submitChanges(members: SubmitChangeset, options?: CallOptions): Promise<SubmittedChangeset>;
  /** Puts many tasks into the queue, all or none. depends_on may name tasks of the batch by their ref. Cycles are refused. */
  submitTasks(members: SubmitTasks, options?: CallOptions): Promise<SubmittedTasks>;
  /** Puts a task into the queue. It is ready once its dependencies completed and its start time came; the first agent that meets its demands gets it. */
  submitWork(members: SubmitWork, options?: CallOptions): Promise<SubmittedWork>;
  /** Ends a drain: the agent takes new work again. */
  undrainAgent(members: FreeAgent, options?: CallOptions): Promise<HoldResult>;
  /** The runner is given runs again. */
  undrainRunner(members: { runner_id: string }, options?: CallOptions): Promise<HoldResult>;
  /** Ends the caller's snooze of an item. */
  unsnooze(members: { item: string }, options?: CallOptions): Promise<Snoozed>;
  /** Changes members of a blueprint; what is left out stays, an empty value clears. */
  updateAgent(members: { name: string }, options?: CallOptions): Promise<AgentBlueprint>;
  /** Changes members of a capability; what is left out stays, an empty value clears. */
  updateCapability(members: { name: string }, options?: CallOptions): Promise<Capability>;
  /** Changes a policy from the next routing on. What is left out stays; every version is kept. */
  updatePolicy(members: { name: string }, options?: CallOptions): Promise<VerificationPolicy>;
  /** Changes what is known about a session; what is left out stays as it is. */
  updateSessionMetadata(members: { session_id: string }, options?: CallOptions): Promise<OrchestratedSessionReply>;
  /** For a task you claimed: heartbeat renews its lease; progress also shows others how far it is; release gives it back (the attempt counts). */
  updateWork(members: UpdateWork, options?: CallOptions): Promise<TaskChange>;
  /** Tokens and cost by agent, session, task, run, model, day or verified change. */
  usageSummary(members?: { agent?: string; by?: "project" | "agent" | "session" | "task" | "run" | "model" | "day" | "change"; limit?: number; model?: string; run_id?: string; session?: string; since?: string; task_id?: string; until?: string }, options?: CallOptions): Promise<UsageSummary>;
  /** Where a commit stands: its state, what ran and what was found. It may wait for the verdict. Only state passed means that it passed. */
  verificationStatus(members?: { changeset_id?: string; head_sha?: string; task_id?: string; wait_seconds?: number }, options?: CallOptions): Promise<VerificationState>;
  /** Checks a fencing token right before a write: valid, or lease_lost (410) when the lock expired, was released or passed to another. */
  verifyLock(members: VerifyLock, options?: CallOptions): Promise<VerifiedLock>;
  /** Who works in this project now, on what, holding how many locks and tasks. Call it before asking or messaging somebody. */
  whoIsActive(members?: { capability?: string; limit?: number }, options?: CallOptions): Promise<Agents>;
  /** Says what the service makes of this call: principal, scopes, project, agent and session. */
  whoami(members?: Record<string, never>, options?: CallOptions): Promise<WhoAmI>;
  /** Says what a task waits for: dependencies, a time, its claimant, or an agent that meets its demands. */
  whyNotReady(members: { task_id: string }, options?: CallOptions): Promise<WhyNotReady>;
  /** Says what a run waits for: its session, a time, its turn, or a runner; and for each runner what it lacks. */
  whyRun(members: { run_id: string }, options?: CallOptions): Promise<RunWhy>;
  /** How many tasks are ready (by type and demands), blocked, scheduled and in work, and how the latest ended. */
  workStats(members?: Record<string, never>, options?: CallOptions): Promise<WorkStats>;
  /** What the session has in mind, oldest first, within its token budget. */
  workingGet(members?: { limit?: number; originals?: boolean }, options?: CallOptions): Promise<Working>;
  /** Adds an item to what the session has in mind. Over the token budget older items are shortened; pinned and recent ones stay whole, and every original stays readable. */
  workingUpdate(members: WorkingUpdate, options?: CallOptions): Promise<WorkingUpdated>;
  /** Leaves a structured summary for the next session. */
  writeHandoff(members: WriteHandoff, options?: CallOptions): Promise<WrittenHandoff>;
}
