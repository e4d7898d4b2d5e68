-- What the migrations make: interfaces only. Written by `make golden`, read in review.

-- tables
coord.api_keys
  id bigint not null identity
  name text not null
  hash bytea not null
  prefix text not null
  project_id bigint
  scopes text[] not null
  agent_id text
  agent_type text
  person text
  created_at timestamp with time zone not null default coord.now()
  expires_at timestamp with time zone
  revoked_at timestamp with time zone
  last_used_at timestamp with time zone
  rotated_at timestamp with time zone
  rate_limit integer
  stream_limit integer
coord.audit_log
  project_id bigint not null
  id bigint not null identity
  at timestamp with time zone not null default coord.now()
  principal text
  agent_id text
  agent_type text
  session_id text
  operation text not null
  object_ids text[] not null default '{}'::text[]
  success boolean not null
  reason text
  parameters jsonb
  result jsonb
  duration_ms real
coord.budget_spend
  project_id bigint not null
  name text not null
  period timestamp with time zone not null
  micros bigint not null default 0
  tokens bigint not null default 0
  uncosted bigint not null default 0
coord.callbacks
  id bigint not null identity
  source text not null
  project_id bigint not null
  parent_session_id text not null
  child_session_id text not null
  failed boolean not null
  text text
  created_at timestamp with time zone not null default coord.now()
  delivered_at timestamp with time zone
  delivered_run_id text
coord.changeset_bundles
  project_id bigint not null
  changeset_id uuid not null
  head_sha text not null
  bundle bytea not null
  at timestamp with time zone not null default coord.now()
coord.demand_class
  project_id bigint not null
  queue smallint not null
  id integer not null
  demands jsonb not null
  digest bytea not null
coord.demand_epoch
  project_id bigint not null
  queue smallint not null
  last integer not null default 0
coord.digest_marks
  project_id bigint not null
  reader text not null
  audit_id bigint not null
  at timestamp with time zone not null
coord.file_digests
  project_id bigint not null
  repository text not null default ''::text
  path text not null
  branch text not null default ''::text
  digest text not null
  at timestamp with time zone not null
  agent_id text
coord.gateway_outbox
  project_id bigint not null
  id bigint not null identity
  kind text not null
  dedupe_key text not null
  target text not null
  payload jsonb not null
  attempts integer not null default 0
  next_attempt_at timestamp with time zone not null default coord.now()
  leased boolean not null default false
  error text
  outcome text
  created_at timestamp with time zone not null default coord.now()
  done_at timestamp with time zone
coord.idempotency
  project_id bigint not null
  agent_id text not null
  operation text not null
  key text not null
  body_hash bytea not null
  reply jsonb
  created_at timestamp with time zone not null default coord.now()
coord.issue_tasks
  project_id bigint not null
  key text not null
  task_id uuid not null
  created_at timestamp with time zone not null default coord.now()
coord.lease
  project_id bigint not null
  queue smallint not null
  until timestamp with time zone not null
  id bigint not null
  session_id bigint not null
coord.line_heads
  project_id bigint not null
  repository text not null
  line text not null
  head_sha text not null
  at timestamp with time zone
coord.line_moves
  project_id bigint not null
  repository text not null
  line text not null
  before_sha text not null
  after_sha text not null
  at timestamp with time zone
  pushed timestamp with time zone[] not null default '{}'::timestamp with time zone[]
  seen_at timestamp with time zone
coord.live_head
  one boolean not null default true
  seq bigint not null
coord.live_inbox
  id bigint not null identity
  project_id bigint
  type text not null
  session_id text
  data jsonb
  event_id bigint
  at timestamp with time zone not null default coord.now()
coord.live_log
  seq bigint not null
  project_id bigint
  type text not null
  session_id text
  data jsonb
  event_id bigint
  at timestamp with time zone not null
coord.lock_wait_keys (unlogged)
  project_id bigint not null
  space bigint not null
  base text not null
  key text not null
  wait_id bigint not null
  session_id bigint not null
  branch text not null
  kind text not null
  mode text not null
  path text not null
  re text
  pre text
  lk text
  anc text[] not null
coord.lock_waits (unlogged)
  project_id bigint not null
  id bigint not null
  session_id bigint not null
  agent_id text not null
  topic text not null
  created_at timestamp with time zone not null
  alive_until timestamp with time zone not null
coord.memory_fold
  project_id bigint not null
  id bigint not null identity
  delta smallint not null
  groups smallint not null default 0
  len_title integer not null
  len_body integer not null
  terms bigint[] not null
  words text[] not null default '{}'::text[]
coord.memory_groups
  project_id bigint not null
  id bigint not null identity
  name text not null
  imported boolean not null default false
  last_seq integer not null default 0
  last_at timestamp with time zone not null
coord.memory_index
  project_id bigint not null
  id bigint not null
  group_id bigint not null default 0
  seq integer not null default 0
  kind smallint not null
  at timestamp with time zone not null
  len_title smallint not null
  len_body smallint not null
  flags smallint not null default 0
  skill smallint not null default 0
  version smallint not null
  rev integer not null
  sig bytea not null
  terms bigint[] not null
coord.memory_policies
  project_id bigint not null
  layer text not null
  archive_days integer
  delete_days integer
coord.memory_stat
  project_id bigint not null
  n bigint not null default 0
  groups bigint not null default 0
  len_title bigint not null default 0
  len_body bigint not null default 0
  swept_at timestamp with time zone not null default '-infinity'::timestamp with time zone
coord.memory_terms
  project_id bigint not null
  term bigint not null
  n integer not null
coord.memory_unindexed
  project_id bigint not null
  id bigint not null
  kind smallint not null
coord.memory_vocab
  project_id bigint not null
  word text not null
coord.notices
  project_id bigint not null
  id bigint not null identity
  session_id bigint not null
  kind text not null
  text text not null
  data jsonb
  created_at timestamp with time zone not null default coord.now()
  delivered_at timestamp with time zone
coord.old_secrets
  hash bytea not null
  key_id bigint not null
  prefix text not null
  expires_at timestamp with time zone not null
  last_used_at timestamp with time zone
coord.persons
  name text not null
  roles text[] not null default '{}'::text[]
  created_at timestamp with time zone not null default coord.now()
coord.policy_sets
  project_id bigint not null
  version bigint not null default 1
coord.ready
  project_id bigint not null
  queue smallint not null
  class_id integer not null
  priority smallint not null
  id bigint not null
coord.repository_aliases
  alias text not null
  project_id bigint not null
  repository_id bigint not null
coord.reserved_agents
  project_id bigint not null
  agent_id text not null
coord.snoozed
  project_id bigint not null
  who text not null
  item text not null
  until timestamp with time zone not null
  reason text
coord.task_verdicts
  project_id bigint not null
  id bigint not null
  head_sha text not null
  agent_id text not null
  session_ref bigint not null
  asked_at timestamp with time zone not null default coord.now()
coord.timer
  project_id bigint not null
  queue smallint not null
  kind smallint not null
  at timestamp with time zone not null
  id bigint not null
coord.traces
  kind text not null
  id text not null
  traceparent text not null
  created_at timestamp with time zone not null default coord.now()
coord.webhook_deliveries
  source text not null
  delivery_id text not null
  id bigint not null identity
  event text not null
  action text
  received_at timestamp with time zone not null default coord.now()
  body bytea not null
  body_sha256 bytea not null
  headers jsonb not null default '{}'::jsonb
  state text not null default 'received'::text
  attempts integer not null default 0
  next_attempt_at timestamp with time zone not null default coord.now()
  error text
  result jsonb
  done_at timestamp with time zone
coord.work_dep
  project_id bigint not null
  on_id bigint not null
  id bigint not null
public.acts
  project_id bigint not null
  id uuid not null default coord.uuid7()
  kind text not null
  operation text not null
  title text not null
  why text
  arguments jsonb not null default '{}'::jsonb
  repository text
  agent_id text
  agent_type text
  session_id text
  requested_by text not null
  digest bytea
  status text not null default 'pending'::text
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  decided_by text
  decided_at timestamp with time zone
  comment text
public.agent_blueprints
  name text not null
  description text not null
  system_prompt text
  mcp_servers jsonb
  skills text[]
  tags text[] not null default '{}'::text[]
  capabilities text[] not null default '{}'::text[]
  demands jsonb
  status text not null default 'active'::text
  created_at timestamp with time zone not null default coord.now()
  modified_at timestamp with time zone not null default coord.now()
public.agent_sessions
  project_id bigint not null
  id bigint not null identity
  session_id text not null
  agent_id text not null
  agent_type text not null default 'unknown'::text
  implicit boolean not null default false
  status text not null default 'active'::text
  capabilities text[] not null default '{}'::text[]
  current_task text
  metadata jsonb not null default '{}'::jsonb
  lapse_seconds integer not null default 120
  started_at timestamp with time zone not null default coord.now()
  last_seen_at timestamp with time zone not null default coord.now()
  heartbeat_at timestamp with time zone
  ended_at timestamp with time zone
  end_reason text
public.agent_trust
  project_id bigint not null
  agent_id text not null
  repository text not null default ''::text
  level smallint not null
  ceiling smallint not null
  alpha double precision not null default 1
  beta double precision not null default 1
  since_change double precision not null default 0
  evidence_at timestamp with time zone not null default coord.now()
  frozen_until timestamp with time zone
  set_by text
  updated_at timestamp with time zone not null default coord.now()
public.agents
  project_id bigint not null
  agent_id text not null
  agent_type text not null default 'unknown'::text
  capabilities text[] not null default '{}'::text[]
  trust smallint not null default 1
  locks_expired bigint not null default 0
  created_at timestamp with time zone not null default coord.now()
  last_seen_at timestamp with time zone not null default coord.now()
public.approval_queue
  project_id bigint not null
  id uuid not null default coord.uuid7()
  changeset_id uuid not null
  head_sha text not null
  route_version integer not null
  policy_name text not null
  reason text not null default ''::text
  required_count integer not null default 1
  roles text[] not null default '{}'::text[]
  users text[] not null default '{}'::text[]
  teams text[] not null default '{}'::text[]
  requested_by text
  status text not null default 'waiting'::text
  created_at timestamp with time zone not null default coord.now()
  opened_at timestamp with time zone
  expires_at timestamp with time zone
  decided_at timestamp with time zone
  decided_by text
public.approval_votes
  project_id bigint not null
  approval_id uuid not null
  voter text not null
  head_sha text not null
  role text
  source text not null
  vote text not null
  comment text
  at timestamp with time zone not null default coord.now()
public.budgets
  project_id bigint not null
  name text not null
  agent_id text
  period text not null
  limit_micros bigint
  limit_tokens bigint
  action text not null
  warn_percent smallint not null
  state text not null default 'ok'::text
  state_since timestamp with time zone not null default coord.now()
  set_by text not null
  set_at timestamp with time zone not null default coord.now()
public.capabilities
  name text not null
  description text not null
  text text
  mcp_servers jsonb
  created_at timestamp with time zone not null default coord.now()
  modified_at timestamp with time zone not null default coord.now()
public.changeset_events
  project_id bigint not null
  id bigint not null identity
  changeset_id uuid not null
  at timestamp with time zone not null default coord.now()
  kind text not null
  text text not null
  data jsonb
public.changeset_files
  project_id bigint not null
  changeset_id uuid not null
  path text not null
  prev_path text
  status text not null
  additions integer not null default 0
  deletions integer not null default 0
  mode text
public.changesets
  project_id bigint not null
  id uuid not null default coord.uuid7()
  seq bigint not null identity
  source text not null
  repository text not null
  clone_url text
  pr_number integer
  branch text not null default ''::text
  default_branch text
  line text not null
  ref text
  base_ref text
  base_sha text
  bases text[] not null default '{}'::text[]
  head_sha text not null
  agent_id text
  agent_type text
  agent_verified boolean not null default false
  actor_login text
  contributors text[] not null default '{}'::text[]
  session_id text
  task_id uuid
  is_fork boolean not null default false
  draft boolean not null default false
  provenance text not null default 'git'::text
  claimed_files text[] not null default '{}'::text[]
  files_truncated boolean not null default false
  file_count integer not null default 0
  additions bigint not null default 0
  deletions bigint not null default 0
  title text
  metadata jsonb not null default '{}'::jsonb
  state text not null default 'received'::text
  verdict text
  verdict_reason text
  override jsonb
  superseded_by uuid
  route_version integer not null default 0
  decision jsonb
  trust_level smallint
  prior_failures integer not null default 0
  lock_violations jsonb not null default '[]'::jsonb
  route_attempts integer not null default 0
  next_route_at timestamp with time zone not null default coord.now()
  blocked_since timestamp with time zone
  created_at timestamp with time zone not null default coord.now()
  updated_at timestamp with time zone not null default coord.now()
  routed_at timestamp with time zone
  decided_at timestamp with time zone
public.events
  project_id bigint not null
  id bigint not null identity
  session_id text not null
  event_type text not null
  timestamp text not null
  tool_name text
  tool_input jsonb
  tool_output jsonb
  error text
  exit_code integer
  reason text
  role text
  content jsonb
  result_text text
  result_data jsonb
  at timestamp with time zone not null default coord.now()
public.file_locks
  project_id bigint not null
  space bigint not null
  base text not null
  key text not null
  branch text not null default ''::text
  session_id bigint not null
  kind text not null
  mode text not null
  token bigint not null
  ttl_minutes integer not null
  acquired_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  file_path text not null
  locked_by text not null
  agent_type text not null
  session_name text not null default ''::text
  repository text
  reason text
  re text
  pre text
  lk text
public.guardrail_rules
  project_id bigint not null
  rule text not null
  action text not null
  pattern text
  reason text not null
  set_by text not null
  set_at timestamp with time zone not null
public.guardrail_violations
  project_id bigint not null
  id bigint not null identity
  at timestamp with time zone not null
  agent_id text
  session_id text
  principal text not null
  rule text not null
  action text not null
  place text not null
  command text not null
  why text
  act_id uuid
public.handoff_documents
  project_id bigint not null
  id uuid not null default coord.uuid7()
  agent_name text not null
  session_id text
  to_agent text
  summary text not null
  completed_work jsonb not null default '[]'::jsonb
  in_progress jsonb not null default '[]'::jsonb
  decisions jsonb not null default '[]'::jsonb
  next_steps jsonb not null default '[]'::jsonb
  relevant_files jsonb not null default '[]'::jsonb
  created_at timestamp with time zone not null default coord.now()
public.holds
  project_id bigint not null
  target text not null
  kind text not null
  ref text not null default ''::text
  agent_id text not null
  session_id text
  reason text not null
  set_by text not null
  since timestamp with time zone not null
  until timestamp with time zone
public.lock_violations
  project_id bigint not null
  id bigint not null identity
  repository text not null
  path text not null
  held_path text not null
  agent_id text not null
  session_id text
  session_ref bigint not null
  holder_agent_id text not null
  holder_session_id text
  stage text not null
  tool text
  command text
  unknown boolean not null default false
  bypass text
  created_at timestamp with time zone not null default coord.now()
  last_at timestamp with time zone not null default coord.now()
public.memory_episodic
  project_id bigint not null
  id bigint not null default nextval('coord.memory_ids'::regclass)
  memory_id uuid not null default coord.uuid7()
  agent_id text not null
  agent_type text not null default 'unknown'::text
  session_id text
  event_type text not null
  summary text not null
  details jsonb
  outcome text
  lessons text[] not null default '{}'::text[]
  tags text[] not null default '{}'::text[]
  repository text not null default ''::text
  path text
  line_from integer
  line_to integer
  digest text
  branch text not null default ''::text
  stale_at timestamp with time zone
  task_id uuid
  source text
  merged integer not null default 0
  rev integer not null default 1
  tokens integer not null default 0
  dedup bigint not null
  created_at timestamp with time zone not null default coord.now()
  updated_at timestamp with time zone not null default coord.now()
  archived_at timestamp with time zone
public.memory_procedural
  project_id bigint not null
  id bigint not null default nextval('coord.memory_ids'::regclass)
  memory_id uuid not null default coord.uuid7()
  name text not null
  description text not null default ''::text
  steps jsonb not null default '[]'::jsonb
  tags text[] not null default '{}'::text[]
  agent_id text not null
  uses integer not null default 0
  successes integer not null default 0
  rev integer not null default 1
  tokens integer not null default 0
  created_at timestamp with time zone not null default coord.now()
  updated_at timestamp with time zone not null default coord.now()
  used_at timestamp with time zone
  archived_at timestamp with time zone
public.memory_working
  project_id bigint not null
  id bigint not null identity
  session bigint not null
  agent_id text not null
  session_id text not null
  type text not null
  content text not null
  pinned boolean not null default false
  tokens integer not null
  shown text
  shown_tokens integer not null
  shown_by text
  occurred_at timestamp with time zone not null default coord.now()
  created_at timestamp with time zone not null default coord.now()
public.message_recipients
  project_id bigint not null
  agent_id text not null
  message_id uuid not null
  delivered_at timestamp with time zone
  read_at timestamp with time zone
  acked_at timestamp with time zone
public.messages
  project_id bigint not null
  id uuid not null default coord.uuid7()
  thread text not null
  reply_to uuid
  sender text not null
  sender_session text
  sender_kind text not null
  kind text not null
  urgency text not null
  text text not null
  ack_required boolean not null default false
  created_at timestamp with time zone not null default coord.now()
public.projects
  id bigint not null identity
  name text not null
  anon_read boolean not null default false
  settings jsonb not null default '{}'::jsonb
  created_at timestamp with time zone not null default coord.now()
public.repositories
  project_id bigint not null
  id bigint not null identity
  name text not null
  remote text
  root_commit text
  created_at timestamp with time zone not null default coord.now()
public.runners
  runner_id text not null
  hostname text not null
  project_dir text not null
  executor_profile text not null
  executor jsonb not null default '{}'::jsonb
  tags text[] not null default '{}'::text[]
  require_matching_tags boolean not null default false
  capacity integer
  instance_id text
  project_id bigint
  registered_at timestamp with time zone not null default coord.now()
  last_heartbeat timestamp with time zone not null default coord.now()
  leaving boolean not null default false
  draining_since timestamp with time zone
  drain_reason text
  drained_by text
public.runs
  project_id bigint not null
  id bigint not null identity
  run_id text not null
  type text not null
  session_id text not null
  agent_name text
  prompt text not null
  project_dir text
  parent_session_id text
  execution_mode text not null default 'sync'::text
  demands jsonb
  status text not null default 'pending'::text
  runner_id text
  error text
  signal text
  priority smallint not null default 5
  attempt smallint not null default 0
  max_attempts smallint not null default 1
  lapses smallint not null default 0
  class_id integer
  waits text
  run_at timestamp with time zone
  lease_until timestamp with time zone
  stop_sent_at timestamp with time zone
  stopping_at timestamp with time zone
  deadline timestamp with time zone
  timeout_at timestamp with time zone
  no_match_seconds integer not null default 300
  quiet boolean not null default false
  task_id uuid
  task_open boolean not null default false
  created_by text not null default 'unknown'::text
  created_at timestamp with time zone not null default coord.now()
  claimed_at timestamp with time zone
  started_at timestamp with time zone
  completed_at timestamp with time zone
public.sessions
  project_id bigint not null
  id bigint not null identity
  session_id text not null
  status text not null default 'pending'::text
  project_dir text
  agent_name text
  last_resumed_at text
  parent_session_id text
  execution_mode text not null default 'sync'::text
  executor_session_id text
  executor_profile text
  hostname text
  created_by text not null default 'unknown'::text
  created_at timestamp with time zone not null default coord.now()
  updated_at timestamp with time zone not null default coord.now()
public.trust_events
  project_id bigint not null
  id bigint not null identity
  at timestamp with time zone not null default coord.now()
  agent_id text not null
  repository text not null
  kind text not null
  changeset_id uuid
  weight double precision
  alpha double precision
  beta double precision
  bound double precision
  level smallint not null
  by text not null
  reason text not null default ''::text
public.usage_reports
  project_id bigint not null
  key text not null
  at timestamp with time zone not null
  model text
  agent_id text
  session_id text
  run_id text
  task_id uuid
  input_tokens bigint not null default 0
  output_tokens bigint not null default 0
  cache_read_tokens bigint not null default 0
  cache_write_tokens bigint not null default 0
  cost_micros bigint
  source text
  reported_by text not null
  created_at timestamp with time zone not null default coord.now()
public.verification_policies
  project_id bigint not null
  id uuid not null default coord.uuid7()
  name text not null
  version integer not null default 1
  repository text not null default ''::text
  branch text not null default ''::text
  tier smallint not null
  executors text[] not null
  patterns text[] not null
  exclude_patterns text[] not null default '{}'::text[]
  fold_case boolean not null default false
  required_env text[] not null default '{}'::text[]
  timeout_seconds integer not null default 600
  required boolean not null default true
  waivable boolean not null default false
  requires_approval boolean not null default false
  approvals jsonb not null default '{}'::jsonb
  fail_on text not null default 'error'::text
  retry_max smallint not null default 0
  accept_conclusions text[] not null default '{}'::text[]
  workflow text not null default ''::text
  command text not null default ''::text
  template text not null default ''::text
  tools text[] not null default '{}'::text[]
  is_default boolean not null default false
  priority smallint not null default 100
  enabled boolean not null default true
  created_at timestamp with time zone not null default coord.now()
  updated_at timestamp with time zone not null default coord.now()
  updated_by text not null default 'default'::text
public.verification_policy_versions
  project_id bigint not null
  policy_id uuid not null
  version integer not null
  policy jsonb not null
  at timestamp with time zone not null default coord.now()
  by text not null
public.verification_results
  project_id bigint not null
  id uuid not null default coord.uuid7()
  changeset_id uuid not null
  head_sha text not null
  route_version integer not null
  policy_id text
  policy_name text not null
  policy jsonb not null
  tier smallint not null
  executor text not null default ''::text
  required boolean not null
  attempt integer not null default 1
  infra_retries integer not null default 0
  test_retries integer not null default 0
  status text not null default 'pending'::text
  conclusion text
  success boolean
  flaky boolean not null default false
  reason text
  external_id text
  external_url text
  lease_owner text
  lease_until timestamp with time zone
  next_check_at timestamp with time zone
  not_before timestamp with time zone
  deadline timestamp with time zone
  cancel_due boolean not null default false
  cancel_attempts integer not null default 0
  created_at timestamp with time zone not null default coord.now()
  queued_at timestamp with time zone
  dispatched_at timestamp with time zone
  started_at timestamp with time zone
  completed_at timestamp with time zone
  duration_seconds real
  exit_code integer
  output text
  output_ref text
  findings jsonb not null default '[]'::jsonb
  findings_total integer not null default 0
public.work_queue
  project_id bigint not null
  id bigint not null identity
  task_id uuid not null default coord.uuid7()
  task_type text not null
  description text not null
  input_data jsonb
  priority smallint not null default 5
  status text not null default 'pending'::text
  class_id integer not null
  waiting_on integer not null default 0
  depends_on uuid[] not null default '{}'::uuid[]
  tags text[] not null default '{}'::text[]
  agent_requirements jsonb
  labels text[] not null default '{}'::text[]
  files text[] not null default '{}'::text[]
  repository text
  run_at timestamp with time zone
  deadline timestamp with time zone
  max_attempts smallint not null default 3
  attempt smallint not null default 0
  claimed_by text
  session_id bigint
  claimed_at timestamp with time zone
  lease_seconds integer
  lease_until timestamp with time zone
  lease_due timestamp with time zone
  fence bigint not null default 0
  progress jsonb
  result jsonb
  error_message text
  ended_by text
  ended_as text
  submitted_by text not null
  submitted_session bigint
  created_at timestamp with time zone not null default coord.now()
  updated_at timestamp with time zone not null default coord.now()
  completed_at timestamp with time zone

-- constraints
acts: acts_kind_check CHECK ((kind = ANY (ARRAY['command'::text, 'work'::text, 'force_release'::text, 'policies'::text, 'guardrails'::text, 'safeguards'::text])))
acts: acts_pkey PRIMARY KEY (project_id, id)
acts: acts_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
acts: acts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text, 'used'::text])))
agent_blueprints: agent_blueprints_name_check CHECK (((name ~ '^[a-zA-Z0-9][a-zA-Z0-9_-]*$'::text) AND (length(name) <= 60)))
agent_blueprints: agent_blueprints_pkey PRIMARY KEY (name)
agent_blueprints: agent_blueprints_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text])))
agent_sessions: agent_sessions_lapse_seconds_check CHECK (((lapse_seconds >= 5) AND (lapse_seconds <= 86400)))
agent_sessions: agent_sessions_pkey PRIMARY KEY (project_id, id)
agent_sessions: agent_sessions_project_id_agent_id_session_id_key UNIQUE (project_id, agent_id, session_id)
agent_sessions: agent_sessions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
agent_sessions: agent_sessions_session_id_check CHECK (((length(session_id) >= 1) AND (length(session_id) <= 200)))
agent_sessions: agent_sessions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'lapsed'::text, 'ended'::text])))
agent_trust: agent_trust_ceiling_check CHECK (((ceiling >= 0) AND (ceiling <= 4)))
agent_trust: agent_trust_level_check CHECK (((level >= 0) AND (level <= 4)))
agent_trust: agent_trust_pkey PRIMARY KEY (project_id, agent_id, repository)
agents: agents_agent_id_check CHECK (((length(agent_id) >= 1) AND (length(agent_id) <= 200)))
agents: agents_pkey PRIMARY KEY (project_id, agent_id)
agents: agents_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
agents: agents_trust_check CHECK (((trust >= 0) AND (trust <= 4)))
approval_queue: approval_queue_id_key UNIQUE (id)
approval_queue: approval_queue_pkey PRIMARY KEY (project_id, id)
approval_queue: approval_queue_project_id_changeset_id_policy_name_key UNIQUE (project_id, changeset_id, policy_name)
approval_queue: approval_queue_required_count_check CHECK (((required_count >= 1) AND (required_count <= 20)))
approval_queue: approval_queue_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'pending'::text, 'approved'::text, 'denied'::text, 'expired'::text, 'voided'::text])))
approval_votes: approval_votes_pkey PRIMARY KEY (project_id, approval_id, voter)
approval_votes: approval_votes_source_check CHECK ((source = ANY (ARRAY['github_review'::text, 'github_comment'::text, 'api'::text])))
approval_votes: approval_votes_vote_check CHECK ((vote = ANY (ARRAY['approve'::text, 'deny'::text])))
budgets: budgets_action_check CHECK ((action = ANY (ARRAY['warn'::text, 'stop'::text])))
budgets: budgets_check CHECK (((limit_micros IS NOT NULL) OR (limit_tokens IS NOT NULL)))
budgets: budgets_limit_micros_check CHECK ((limit_micros > 0))
budgets: budgets_limit_tokens_check CHECK ((limit_tokens > 0))
budgets: budgets_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
budgets: budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text])))
budgets: budgets_pkey PRIMARY KEY (project_id, name)
budgets: budgets_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
budgets: budgets_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'warned'::text, 'exceeded'::text, 'stopped'::text])))
budgets: budgets_warn_percent_check CHECK (((warn_percent >= 1) AND (warn_percent <= 100)))
capabilities: capabilities_name_check CHECK (((name ~ '^[a-zA-Z0-9][a-zA-Z0-9_-]*$'::text) AND (length(name) <= 60)))
capabilities: capabilities_pkey PRIMARY KEY (name)
changeset_events: changeset_events_pkey PRIMARY KEY (project_id, id)
changeset_files: changeset_files_pkey PRIMARY KEY (project_id, changeset_id, path)
changesets: changesets_head_sha_check CHECK ((head_sha ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text))
changesets: changesets_id_key UNIQUE (id)
changesets: changesets_pkey PRIMARY KEY (project_id, id)
changesets: changesets_project_id_repository_head_sha_key UNIQUE (project_id, repository, head_sha)
changesets: changesets_provenance_check CHECK ((provenance = ANY (ARRAY['api'::text, 'git'::text, 'agent_claimed'::text])))
changesets: changesets_repository_check CHECK (((length(repository) >= 1) AND (length(repository) <= 500)))
changesets: changesets_source_check CHECK ((source = ANY (ARRAY['github'::text, 'agent'::text, 'merge_group'::text])))
changesets: changesets_state_check CHECK ((state = ANY (ARRAY['received'::text, 'routing'::text, 'verifying'::text, 'awaiting_approval'::text, 'passed'::text, 'failed'::text, 'error'::text, 'superseded'::text, 'cancelled'::text])))
changesets: changesets_trust_level_check CHECK (((trust_level >= 0) AND (trust_level <= 4)))
changesets: changesets_verdict_check CHECK ((verdict = ANY (ARRAY['passed'::text, 'failed'::text, 'error'::text])))
coord.api_keys: api_keys_hash_check CHECK ((length(hash) = 32))
coord.api_keys: api_keys_hash_key UNIQUE (hash)
coord.api_keys: api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
coord.api_keys: api_keys_name_key UNIQUE (name)
coord.api_keys: api_keys_person_fkey FOREIGN KEY (person) REFERENCES coord.persons(name)
coord.api_keys: api_keys_pkey PRIMARY KEY (id)
coord.api_keys: api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
coord.api_keys: api_keys_rate_limit_check CHECK (((rate_limit >= 1) AND (rate_limit <= 100000)))
coord.api_keys: api_keys_scopes_check CHECK (((scopes <@ ARRAY['read'::text, 'write'::text, 'runner'::text, 'reviewer'::text, 'admin'::text]) AND (cardinality(scopes) > 0)))
coord.api_keys: api_keys_stream_limit_check CHECK (((stream_limit >= 1) AND (stream_limit <= 100000)))
coord.audit_log: audit_log_pkey PRIMARY KEY (project_id, id)
coord.budget_spend: budget_spend_pkey PRIMARY KEY (project_id, name, period)
coord.budget_spend: budget_spend_project_id_name_fkey FOREIGN KEY (project_id, name) REFERENCES budgets(project_id, name) ON DELETE CASCADE
coord.callbacks: callbacks_pkey PRIMARY KEY (id)
coord.callbacks: callbacks_source_key UNIQUE (source)
coord.changeset_bundles: changeset_bundles_bundle_check CHECK ((octet_length(bundle) <= 3000000))
coord.changeset_bundles: changeset_bundles_pkey PRIMARY KEY (project_id, changeset_id)
coord.demand_class: demand_class_pkey PRIMARY KEY (project_id, queue, id)
coord.demand_class: demand_class_project_id_queue_digest_key UNIQUE (project_id, queue, digest)
coord.demand_epoch: demand_epoch_pkey PRIMARY KEY (project_id, queue)
coord.digest_marks: digest_marks_pkey PRIMARY KEY (project_id, reader)
coord.digest_marks: digest_marks_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
coord.file_digests: file_digests_pkey PRIMARY KEY (project_id, repository, path, branch)
coord.gateway_outbox: gateway_outbox_kind_check CHECK ((kind = ANY (ARRAY['status'::text, 'notify'::text])))
coord.gateway_outbox: gateway_outbox_outcome_check CHECK ((outcome = ANY (ARRAY['sent'::text, 'skipped'::text, 'replaced'::text, 'dead'::text])))
coord.gateway_outbox: gateway_outbox_pkey PRIMARY KEY (project_id, id)
coord.gateway_outbox: gateway_outbox_project_id_kind_dedupe_key_key UNIQUE (project_id, kind, dedupe_key)
coord.idempotency: idempotency_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
coord.idempotency: idempotency_pkey PRIMARY KEY (project_id, agent_id, operation, key)
coord.issue_tasks: issue_tasks_pkey PRIMARY KEY (project_id, key)
coord.lease: lease_pkey PRIMARY KEY (project_id, queue, until, id)
coord.line_heads: line_heads_pkey PRIMARY KEY (project_id, repository, line)
coord.line_moves: line_moves_pkey PRIMARY KEY (project_id, repository, line, before_sha, after_sha)
coord.live_head: live_head_one_check CHECK (one)
coord.live_head: live_head_pkey PRIMARY KEY (one)
coord.live_inbox: live_inbox_pkey PRIMARY KEY (id)
coord.live_log: live_log_pkey PRIMARY KEY (seq)
coord.lock_wait_keys: lock_wait_keys_pkey PRIMARY KEY (project_id, space, base, key, wait_id)
coord.lock_waits: lock_waits_pkey PRIMARY KEY (project_id, id)
coord.memory_fold: memory_fold_pkey PRIMARY KEY (project_id, id)
coord.memory_groups: memory_groups_pkey PRIMARY KEY (project_id, id)
coord.memory_groups: memory_groups_project_id_name_key UNIQUE (project_id, name)
coord.memory_index: memory_index_pkey PRIMARY KEY (project_id, id)
coord.memory_policies: memory_policies_archive_days_check CHECK (((archive_days >= 1) AND (archive_days <= 36500)))
coord.memory_policies: memory_policies_delete_days_check CHECK (((delete_days >= 1) AND (delete_days <= 36500)))
coord.memory_policies: memory_policies_layer_check CHECK ((layer = ANY (ARRAY['episodic'::text, 'working'::text, 'procedural'::text])))
coord.memory_policies: memory_policies_pkey PRIMARY KEY (project_id, layer)
coord.memory_stat: memory_stat_pkey PRIMARY KEY (project_id)
coord.memory_terms: memory_terms_pkey PRIMARY KEY (project_id, term)
coord.memory_unindexed: memory_unindexed_pkey PRIMARY KEY (project_id, id)
coord.memory_vocab: memory_vocab_pkey PRIMARY KEY (project_id, word)
coord.notices: notices_pkey PRIMARY KEY (project_id, id)
coord.old_secrets: old_secrets_hash_check CHECK ((length(hash) = 32))
coord.old_secrets: old_secrets_key_id_fkey FOREIGN KEY (key_id) REFERENCES coord.api_keys(id) ON DELETE CASCADE
coord.old_secrets: old_secrets_pkey PRIMARY KEY (hash)
coord.persons: persons_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
coord.persons: persons_pkey PRIMARY KEY (name)
coord.persons: persons_roles_check CHECK ((roles <@ ARRAY['read'::text, 'write'::text, 'runner'::text, 'reviewer'::text, 'admin'::text]))
coord.policy_sets: policy_sets_pkey PRIMARY KEY (project_id)
coord.ready: ready_pkey PRIMARY KEY (project_id, queue, class_id, priority, id)
coord.repository_aliases: repository_aliases_pkey PRIMARY KEY (alias)
coord.repository_aliases: repository_aliases_project_id_repository_id_fkey FOREIGN KEY (project_id, repository_id) REFERENCES repositories(project_id, id) ON DELETE CASCADE
coord.reserved_agents: reserved_agents_pkey PRIMARY KEY (project_id, agent_id)
coord.snoozed: snoozed_item_check CHECK (((length(item) >= 1) AND (length(item) <= 200)))
coord.snoozed: snoozed_pkey PRIMARY KEY (project_id, who, item)
coord.snoozed: snoozed_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
coord.task_verdicts: task_verdicts_pkey PRIMARY KEY (project_id, id)
coord.timer: timer_pkey PRIMARY KEY (project_id, queue, kind, at, id)
coord.traces: traces_id_check CHECK ((length(id) <= 200))
coord.traces: traces_kind_check CHECK ((kind = ANY (ARRAY['run'::text, 'changeset'::text])))
coord.traces: traces_pkey PRIMARY KEY (kind, id)
coord.traces: traces_traceparent_check CHECK ((length(traceparent) <= 200))
coord.webhook_deliveries: webhook_deliveries_body_sha256_check CHECK ((length(body_sha256) = 32))
coord.webhook_deliveries: webhook_deliveries_delivery_id_check CHECK (((length(delivery_id) >= 1) AND (length(delivery_id) <= 200)))
coord.webhook_deliveries: webhook_deliveries_id_key UNIQUE (id)
coord.webhook_deliveries: webhook_deliveries_pkey PRIMARY KEY (source, delivery_id)
coord.webhook_deliveries: webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['received'::text, 'processed'::text, 'ignored'::text, 'failed'::text, 'dead'::text])))
coord.work_dep: work_dep_pkey PRIMARY KEY (project_id, on_id, id)
events: events_event_type_check CHECK (((length(event_type) >= 1) AND (length(event_type) <= 200)))
events: events_pkey PRIMARY KEY (project_id, id)
file_locks: file_locks_kind_check CHECK ((kind = ANY (ARRAY['l'::text, 'd'::text, 'g'::text])))
file_locks: file_locks_mode_check CHECK ((mode = ANY (ARRAY['exclusive'::text, 'shared'::text])))
file_locks: file_locks_pkey PRIMARY KEY (project_id, space, base, key, branch, session_id)
guardrail_rules: guardrail_rules_action_check CHECK ((action = ANY (ARRAY['deny'::text, 'ask'::text, 'allow'::text])))
guardrail_rules: guardrail_rules_pattern_check CHECK (((length(pattern) >= 1) AND (length(pattern) <= 500)))
guardrail_rules: guardrail_rules_pkey PRIMARY KEY (project_id, rule)
guardrail_rules: guardrail_rules_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
guardrail_rules: guardrail_rules_rule_check CHECK ((rule ~ '^[a-z0-9][a-z0-9_-]{0,59}$'::text))
guardrail_violations: guardrail_violations_action_check CHECK ((action = ANY (ARRAY['deny'::text, 'ask'::text, 'allow'::text, 'approved'::text])))
guardrail_violations: guardrail_violations_pkey PRIMARY KEY (project_id, id)
guardrail_violations: guardrail_violations_place_check CHECK ((place = ANY (ARRAY['hook'::text, 'queue'::text])))
guardrail_violations: guardrail_violations_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
handoff_documents: handoff_documents_pkey PRIMARY KEY (project_id, id)
handoff_documents: handoff_documents_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
handoff_documents: handoff_documents_summary_check CHECK (((length(summary) >= 1) AND (length(summary) <= 8000)))
holds: holds_kind_check CHECK ((kind = ANY (ARRAY['pause'::text, 'drain'::text, 'budget'::text])))
holds: holds_pkey PRIMARY KEY (project_id, target, kind, ref)
holds: holds_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
holds: holds_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500)))
lock_violations: lock_violations_pkey PRIMARY KEY (project_id, id)
lock_violations: lock_violations_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
lock_violations: lock_violations_stage_check CHECK ((stage = ANY (ARRAY['edit'::text, 'commit'::text, 'push'::text])))
memory_episodic: memory_episodic_event_type_check CHECK (((length(event_type) >= 1) AND (length(event_type) <= 100)))
memory_episodic: memory_episodic_pkey PRIMARY KEY (project_id, id)
memory_episodic: memory_episodic_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
memory_episodic: memory_episodic_project_id_memory_id_key UNIQUE (project_id, memory_id)
memory_episodic: memory_episodic_summary_check CHECK (((length(summary) >= 1) AND (length(summary) <= 4000)))
memory_procedural: memory_procedural_check CHECK (((successes >= 0) AND (successes <= uses)))
memory_procedural: memory_procedural_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
memory_procedural: memory_procedural_pkey PRIMARY KEY (project_id, id)
memory_procedural: memory_procedural_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
memory_procedural: memory_procedural_project_id_memory_id_key UNIQUE (project_id, memory_id)
memory_procedural: memory_procedural_project_id_name_key UNIQUE (project_id, name)
memory_working: memory_working_pkey PRIMARY KEY (project_id, id)
memory_working: memory_working_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
memory_working: memory_working_type_check CHECK (((length(type) >= 1) AND (length(type) <= 100)))
message_recipients: message_recipients_agent_id_check CHECK (((length(agent_id) >= 1) AND (length(agent_id) <= 210)))
message_recipients: message_recipients_pkey PRIMARY KEY (project_id, agent_id, message_id)
message_recipients: message_recipients_project_id_message_id_fkey FOREIGN KEY (project_id, message_id) REFERENCES messages(project_id, id) ON DELETE CASCADE
messages: messages_kind_check CHECK ((kind = ANY (ARRAY['note'::text, 'question'::text, 'answer'::text, 'request'::text, 'warning'::text, 'handoff'::text])))
messages: messages_pkey PRIMARY KEY (project_id, id)
messages: messages_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
messages: messages_sender_kind_check CHECK ((sender_kind = ANY (ARRAY['agent'::text, 'person'::text])))
messages: messages_text_check CHECK (((length(text) >= 1) AND (length(text) <= 4000)))
messages: messages_thread_check CHECK (((length(thread) >= 1) AND (length(thread) <= 200)))
messages: messages_urgency_check CHECK ((urgency = ANY (ARRAY['normal'::text, 'high'::text, 'overseer'::text])))
projects: projects_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._/-]{0,119}$'::text))
projects: projects_name_key UNIQUE (name)
projects: projects_pkey PRIMARY KEY (id)
repositories: repositories_pkey PRIMARY KEY (project_id, id)
repositories: repositories_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
repositories: repositories_project_id_name_key UNIQUE (project_id, name)
runners: runners_capacity_check CHECK (((capacity >= 1) AND (capacity <= 10000)))
runners: runners_pkey PRIMARY KEY (runner_id)
runs: runs_execution_mode_check CHECK ((execution_mode = ANY (ARRAY['sync'::text, 'async_poll'::text, 'async_callback'::text])))
runs: runs_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 20)))
runs: runs_pkey PRIMARY KEY (project_id, id)
runs: runs_priority_check CHECK (((priority >= 1) AND (priority <= 10)))
runs: runs_run_id_key UNIQUE (run_id)
runs: runs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'claimed'::text, 'running'::text, 'stopping'::text, 'completed'::text, 'failed'::text, 'stopped'::text])))
runs: runs_type_check CHECK ((type = ANY (ARRAY['start_session'::text, 'resume_session'::text])))
runs: runs_waits_check CHECK ((waits = ANY (ARRAY['session'::text, 'time'::text, 'hold'::text])))
sessions: sessions_execution_mode_check CHECK ((execution_mode = ANY (ARRAY['sync'::text, 'async_poll'::text, 'async_callback'::text])))
sessions: sessions_pkey PRIMARY KEY (project_id, id)
sessions: sessions_session_id_check CHECK (((length(session_id) >= 1) AND (length(session_id) <= 200)))
sessions: sessions_session_id_key UNIQUE (session_id)
sessions: sessions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'stopping'::text, 'stopped'::text, 'finished'::text, 'failed'::text])))
trust_events: trust_events_kind_check CHECK ((kind = ANY (ARRAY['passed'::text, 'failed'::text, 'denied'::text, 'waived_failure'::text, 'set'::text, 'raised'::text, 'lowered'::text])))
trust_events: trust_events_pkey PRIMARY KEY (project_id, id)
usage_reports: usage_reports_cache_read_tokens_check CHECK ((cache_read_tokens >= 0))
usage_reports: usage_reports_cache_write_tokens_check CHECK ((cache_write_tokens >= 0))
usage_reports: usage_reports_cost_micros_check CHECK ((cost_micros >= 0))
usage_reports: usage_reports_input_tokens_check CHECK ((input_tokens >= 0))
usage_reports: usage_reports_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200)))
usage_reports: usage_reports_output_tokens_check CHECK ((output_tokens >= 0))
usage_reports: usage_reports_pkey PRIMARY KEY (project_id, key)
usage_reports: usage_reports_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
verification_policies: verification_policies_executors_check CHECK ((cardinality(executors) > 0))
verification_policies: verification_policies_fail_on_check CHECK ((fail_on = ANY (ARRAY['note'::text, 'warning'::text, 'error'::text])))
verification_policies: verification_policies_id_key UNIQUE (id)
verification_policies: verification_policies_name_check CHECK ((name ~ '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$'::text))
verification_policies: verification_policies_patterns_check CHECK ((cardinality(patterns) > 0))
verification_policies: verification_policies_pkey PRIMARY KEY (project_id, id)
verification_policies: verification_policies_project_id_name_key UNIQUE (project_id, name)
verification_policies: verification_policies_retry_max_check CHECK (((retry_max >= 0) AND (retry_max <= 5)))
verification_policies: verification_policies_tier_check CHECK (((tier >= 0) AND (tier <= 4)))
verification_policies: verification_policies_timeout_seconds_check CHECK (((timeout_seconds >= 1) AND (timeout_seconds <= 86400)))
verification_policy_versions: verification_policy_versions_pkey PRIMARY KEY (project_id, policy_id, version)
verification_results: verification_results_check CHECK (((status = 'completed'::text) = (conclusion IS NOT NULL)))
verification_results: verification_results_conclusion_check CHECK ((conclusion = ANY (ARRAY['success'::text, 'failure'::text, 'timed_out'::text, 'cancelled'::text, 'infra_error'::text, 'blocked'::text])))
verification_results: verification_results_id_key UNIQUE (id)
verification_results: verification_results_output_check CHECK ((length(output) <= 65536))
verification_results: verification_results_pkey PRIMARY KEY (project_id, id)
verification_results: verification_results_project_id_changeset_id_policy_name_at_key UNIQUE (project_id, changeset_id, policy_name, attempt)
verification_results: verification_results_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'queued'::text, 'dispatching'::text, 'running'::text, 'completed'::text])))
verification_results: verification_results_tier_check CHECK (((tier >= 0) AND (tier <= 4)))
work_queue: work_queue_description_check CHECK (((length(description) >= 1) AND (length(description) <= 20000)))
work_queue: work_queue_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 20)))
work_queue: work_queue_pkey PRIMARY KEY (project_id, id)
work_queue: work_queue_priority_check CHECK (((priority >= 1) AND (priority <= 10)))
work_queue: work_queue_project_id_task_id_key UNIQUE (project_id, task_id)
work_queue: work_queue_status_check CHECK ((status = ANY (ARRAY['scheduled'::text, 'pending'::text, 'claimed'::text, 'running'::text, 'verifying'::text, 'completed'::text, 'failed'::text, 'dead'::text, 'cancelled'::text])))
work_queue: work_queue_task_type_check CHECK (((length(task_type) >= 1) AND (length(task_type) <= 200)))
work_queue: work_queue_waiting_on_check CHECK ((waiting_on >= 0))

-- indexes
CREATE UNIQUE INDEX api_keys_hash_key ON coord.api_keys USING btree (hash)
CREATE UNIQUE INDEX api_keys_name_key ON coord.api_keys USING btree (name)
CREATE INDEX api_keys_person ON coord.api_keys USING btree (person)
CREATE UNIQUE INDEX api_keys_pkey ON coord.api_keys USING btree (id)
CREATE INDEX api_keys_project ON coord.api_keys USING btree (project_id)
CREATE INDEX audit_log_at ON coord.audit_log USING btree (project_id, at)
CREATE UNIQUE INDEX audit_log_pkey ON coord.audit_log USING btree (project_id, id)
CREATE UNIQUE INDEX budget_spend_pkey ON coord.budget_spend USING btree (project_id, name, period)
CREATE INDEX callbacks_child ON coord.callbacks USING btree (child_session_id)
CREATE INDEX callbacks_open ON coord.callbacks USING btree (parent_session_id, id) WHERE (delivered_at IS NULL)
CREATE UNIQUE INDEX callbacks_pkey ON coord.callbacks USING btree (id)
CREATE UNIQUE INDEX callbacks_source_key ON coord.callbacks USING btree (source)
CREATE INDEX changeset_bundles_age ON coord.changeset_bundles USING btree (at)
CREATE INDEX changeset_bundles_of ON coord.changeset_bundles USING btree (head_sha)
CREATE UNIQUE INDEX changeset_bundles_pkey ON coord.changeset_bundles USING btree (project_id, changeset_id)
CREATE INDEX demand_class_executors ON coord.demand_class USING btree (project_id, id) WHERE ((queue = 1) AND jsonb_exists(demands, 'executor_profile'::text))
CREATE UNIQUE INDEX demand_class_pkey ON coord.demand_class USING btree (project_id, queue, id)
CREATE UNIQUE INDEX demand_class_project_id_queue_digest_key ON coord.demand_class USING btree (project_id, queue, digest)
CREATE UNIQUE INDEX demand_epoch_pkey ON coord.demand_epoch USING btree (project_id, queue)
CREATE UNIQUE INDEX digest_marks_pkey ON coord.digest_marks USING btree (project_id, reader)
CREATE UNIQUE INDEX file_digests_pkey ON coord.file_digests USING btree (project_id, repository, path, branch)
CREATE INDEX gateway_outbox_due ON coord.gateway_outbox USING btree (next_attempt_at, id) WHERE (done_at IS NULL)
CREATE INDEX gateway_outbox_last ON coord.gateway_outbox USING btree (project_id, kind, target, id)
CREATE UNIQUE INDEX gateway_outbox_pkey ON coord.gateway_outbox USING btree (project_id, id)
CREATE UNIQUE INDEX gateway_outbox_project_id_kind_dedupe_key_key ON coord.gateway_outbox USING btree (project_id, kind, dedupe_key)
CREATE INDEX gateway_outbox_target ON coord.gateway_outbox USING btree (project_id, kind, target, id) WHERE (done_at IS NULL)
CREATE INDEX idempotency_age ON coord.idempotency USING btree (created_at)
CREATE UNIQUE INDEX idempotency_pkey ON coord.idempotency USING btree (project_id, agent_id, operation, key)
CREATE UNIQUE INDEX issue_tasks_pkey ON coord.issue_tasks USING btree (project_id, key)
CREATE UNIQUE INDEX lease_pkey ON coord.lease USING btree (project_id, queue, until, id)
CREATE INDEX line_heads_by_sha ON coord.line_heads USING btree (head_sha, repository, project_id)
CREATE UNIQUE INDEX line_heads_pkey ON coord.line_heads USING btree (project_id, repository, line)
CREATE INDEX line_moves_age ON coord.line_moves USING btree (COALESCE(seen_at, at))
CREATE UNIQUE INDEX line_moves_pkey ON coord.line_moves USING btree (project_id, repository, line, before_sha, after_sha)
CREATE INDEX line_moves_seen ON coord.line_moves USING btree (project_id, repository, line, seen_at)
CREATE UNIQUE INDEX live_head_pkey ON coord.live_head USING btree (one)
CREATE UNIQUE INDEX live_inbox_pkey ON coord.live_inbox USING btree (id)
CREATE INDEX live_log_at ON coord.live_log USING btree (at)
CREATE UNIQUE INDEX live_log_pkey ON coord.live_log USING btree (seq)
CREATE UNIQUE INDEX lock_wait_keys_pkey ON coord.lock_wait_keys USING btree (project_id, space, base, key, wait_id)
CREATE INDEX lock_wait_keys_session ON coord.lock_wait_keys USING btree (session_id, project_id)
CREATE INDEX lock_wait_keys_wait ON coord.lock_wait_keys USING btree (wait_id, project_id)
CREATE UNIQUE INDEX lock_waits_pkey ON coord.lock_waits USING btree (project_id, id)
CREATE INDEX lock_waits_session ON coord.lock_waits USING btree (session_id, project_id)
CREATE UNIQUE INDEX memory_fold_pkey ON coord.memory_fold USING btree (project_id, id)
CREATE UNIQUE INDEX memory_groups_pkey ON coord.memory_groups USING btree (project_id, id)
CREATE UNIQUE INDEX memory_groups_project_id_name_key ON coord.memory_groups USING btree (project_id, name)
CREATE UNIQUE INDEX memory_index_pkey ON coord.memory_index USING btree (project_id, id)
CREATE UNIQUE INDEX memory_index_place ON coord.memory_index USING btree (project_id, group_id, seq) WHERE (group_id <> 0)
CREATE INDEX memory_index_terms ON coord.memory_index USING gin (terms) WITH (fastupdate=off)
CREATE INDEX memory_index_version ON coord.memory_index USING btree (version)
CREATE UNIQUE INDEX memory_policies_pkey ON coord.memory_policies USING btree (project_id, layer)
CREATE UNIQUE INDEX memory_stat_pkey ON coord.memory_stat USING btree (project_id)
CREATE UNIQUE INDEX memory_terms_pkey ON coord.memory_terms USING btree (project_id, term)
CREATE UNIQUE INDEX memory_unindexed_pkey ON coord.memory_unindexed USING btree (project_id, id)
CREATE INDEX memory_vocab_like ON coord.memory_vocab USING gin (word extensions.gin_trgm_ops)
CREATE UNIQUE INDEX memory_vocab_pkey ON coord.memory_vocab USING btree (project_id, word)
CREATE INDEX notices_age ON coord.notices USING btree (created_at)
CREATE UNIQUE INDEX notices_pkey ON coord.notices USING btree (project_id, id)
CREATE INDEX notices_waiting ON coord.notices USING btree (project_id, session_id, id) WHERE (delivered_at IS NULL)
CREATE INDEX old_secrets_key ON coord.old_secrets USING btree (key_id)
CREATE UNIQUE INDEX old_secrets_pkey ON coord.old_secrets USING btree (hash)
CREATE UNIQUE INDEX persons_pkey ON coord.persons USING btree (name)
CREATE UNIQUE INDEX policy_sets_pkey ON coord.policy_sets USING btree (project_id)
CREATE UNIQUE INDEX ready_pkey ON coord.ready USING btree (project_id, queue, class_id, priority, id)
CREATE INDEX repository_aliases_folded ON coord.repository_aliases USING btree (lower(alias))
CREATE UNIQUE INDEX repository_aliases_pkey ON coord.repository_aliases USING btree (alias)
CREATE INDEX repository_aliases_repo ON coord.repository_aliases USING btree (project_id, repository_id)
CREATE UNIQUE INDEX reserved_agents_pkey ON coord.reserved_agents USING btree (project_id, agent_id)
CREATE UNIQUE INDEX snoozed_pkey ON coord.snoozed USING btree (project_id, who, item)
CREATE INDEX task_verdicts_age ON coord.task_verdicts USING btree (asked_at)
CREATE INDEX task_verdicts_head ON coord.task_verdicts USING btree (project_id, head_sha)
CREATE UNIQUE INDEX task_verdicts_pkey ON coord.task_verdicts USING btree (project_id, id)
CREATE UNIQUE INDEX timer_pkey ON coord.timer USING btree (project_id, queue, kind, at, id)
CREATE INDEX traces_created ON coord.traces USING btree (created_at)
CREATE UNIQUE INDEX traces_pkey ON coord.traces USING btree (kind, id)
CREATE INDEX webhook_deliveries_age ON coord.webhook_deliveries USING btree (received_at)
CREATE INDEX webhook_deliveries_due ON coord.webhook_deliveries USING btree (next_attempt_at, id) WHERE (state = ANY (ARRAY['received'::text, 'failed'::text]))
CREATE UNIQUE INDEX webhook_deliveries_id_key ON coord.webhook_deliveries USING btree (id)
CREATE UNIQUE INDEX webhook_deliveries_pkey ON coord.webhook_deliveries USING btree (source, delivery_id)
CREATE UNIQUE INDEX work_dep_pkey ON coord.work_dep USING btree (project_id, on_id, id)
CREATE UNIQUE INDEX acts_command ON public.acts USING btree (project_id, agent_id, digest) WHERE ((kind = 'command'::text) AND (status = ANY (ARRAY['pending'::text, 'approved'::text])))
CREATE INDEX acts_open ON public.acts USING btree (project_id, created_at) WHERE (status = ANY (ARRAY['pending'::text, 'approved'::text]))
CREATE UNIQUE INDEX acts_pkey ON public.acts USING btree (project_id, id)
CREATE UNIQUE INDEX agent_blueprints_pkey ON public.agent_blueprints USING btree (name)
CREATE INDEX agent_sessions_lapse ON public.agent_sessions USING btree (project_id, heartbeat_at) WHERE ((status = 'active'::text) AND (heartbeat_at IS NOT NULL))
CREATE INDEX agent_sessions_orchestrated ON public.agent_sessions USING btree (session_id) WHERE (status = 'active'::text)
CREATE INDEX agent_sessions_over ON public.agent_sessions USING btree (ended_at) WHERE (status <> 'active'::text)
CREATE UNIQUE INDEX agent_sessions_pkey ON public.agent_sessions USING btree (project_id, id)
CREATE UNIQUE INDEX agent_sessions_project_id_agent_id_session_id_key ON public.agent_sessions USING btree (project_id, agent_id, session_id)
CREATE UNIQUE INDEX agent_trust_pkey ON public.agent_trust USING btree (project_id, agent_id, repository)
CREATE UNIQUE INDEX agents_pkey ON public.agents USING btree (project_id, agent_id)
CREATE INDEX approval_queue_expiry ON public.approval_queue USING btree (expires_at) WHERE (status = 'pending'::text)
CREATE UNIQUE INDEX approval_queue_id_key ON public.approval_queue USING btree (id)
CREATE INDEX approval_queue_newest ON public.approval_queue USING btree (project_id, status, created_at)
CREATE UNIQUE INDEX approval_queue_pkey ON public.approval_queue USING btree (project_id, id)
CREATE UNIQUE INDEX approval_queue_project_id_changeset_id_policy_name_key ON public.approval_queue USING btree (project_id, changeset_id, policy_name)
CREATE UNIQUE INDEX approval_votes_pkey ON public.approval_votes USING btree (project_id, approval_id, voter)
CREATE UNIQUE INDEX budgets_pkey ON public.budgets USING btree (project_id, name)
CREATE UNIQUE INDEX capabilities_pkey ON public.capabilities USING btree (name)
CREATE INDEX changeset_events_age ON public.changeset_events USING btree (at)
CREATE INDEX changeset_events_of ON public.changeset_events USING btree (project_id, changeset_id, id)
CREATE UNIQUE INDEX changeset_events_pkey ON public.changeset_events USING btree (project_id, id)
CREATE INDEX changeset_files_path ON public.changeset_files USING btree (project_id, path)
CREATE UNIQUE INDEX changeset_files_pkey ON public.changeset_files USING btree (project_id, changeset_id, path)
CREATE INDEX changesets_agent ON public.changesets USING btree (project_id, agent_id, seq) WHERE (agent_id IS NOT NULL)
CREATE UNIQUE INDEX changesets_id_key ON public.changesets USING btree (id)
CREATE INDEX changesets_line ON public.changesets USING btree (project_id, repository, line, seq)
CREATE INDEX changesets_newest ON public.changesets USING btree (project_id, seq)
CREATE INDEX changesets_open ON public.changesets USING btree (updated_at) WHERE (state = ANY (ARRAY['verifying'::text, 'awaiting_approval'::text]))
CREATE UNIQUE INDEX changesets_pkey ON public.changesets USING btree (project_id, id)
CREATE UNIQUE INDEX changesets_project_id_repository_head_sha_key ON public.changesets USING btree (project_id, repository, head_sha)
CREATE INDEX changesets_task ON public.changesets USING btree (project_id, task_id) WHERE (task_id IS NOT NULL)
CREATE INDEX changesets_to_route ON public.changesets USING btree (next_route_at) WHERE (state = ANY (ARRAY['received'::text, 'routing'::text]))
CREATE UNIQUE INDEX events_pkey ON public.events USING btree (project_id, id)
CREATE INDEX events_session ON public.events USING btree (session_id, id)
CREATE UNIQUE INDEX file_locks_pkey ON public.file_locks USING btree (project_id, space, base, key, branch, session_id)
CREATE INDEX file_locks_session ON public.file_locks USING btree (session_id, project_id)
CREATE UNIQUE INDEX guardrail_rules_pkey ON public.guardrail_rules USING btree (project_id, rule)
CREATE INDEX guardrail_violations_at ON public.guardrail_violations USING btree (project_id, at)
CREATE UNIQUE INDEX guardrail_violations_pkey ON public.guardrail_violations USING btree (project_id, id)
CREATE INDEX handoff_documents_age ON public.handoff_documents USING btree (created_at)
CREATE INDEX handoff_documents_agent ON public.handoff_documents USING btree (project_id, agent_name, id)
CREATE UNIQUE INDEX handoff_documents_pkey ON public.handoff_documents USING btree (project_id, id)
CREATE UNIQUE INDEX holds_pkey ON public.holds USING btree (project_id, target, kind, ref)
CREATE INDEX lock_violations_again ON public.lock_violations USING btree (project_id, session_ref, path, last_at DESC)
CREATE INDEX lock_violations_newest ON public.lock_violations USING btree (project_id, created_at DESC, id DESC)
CREATE UNIQUE INDEX lock_violations_pkey ON public.lock_violations USING btree (project_id, id)
CREATE INDEX memory_episodic_age ON public.memory_episodic USING btree (project_id, created_at) WHERE (archived_at IS NULL)
CREATE INDEX memory_episodic_archived ON public.memory_episodic USING btree (project_id, archived_at) WHERE (archived_at IS NOT NULL)
CREATE INDEX memory_episodic_dedup ON public.memory_episodic USING btree (project_id, dedup, id)
CREATE INDEX memory_episodic_path ON public.memory_episodic USING btree (project_id, path) WHERE (path IS NOT NULL)
CREATE UNIQUE INDEX memory_episodic_pkey ON public.memory_episodic USING btree (project_id, id)
CREATE UNIQUE INDEX memory_episodic_project_id_memory_id_key ON public.memory_episodic USING btree (project_id, memory_id)
CREATE UNIQUE INDEX memory_procedural_pkey ON public.memory_procedural USING btree (project_id, id)
CREATE UNIQUE INDEX memory_procedural_project_id_memory_id_key ON public.memory_procedural USING btree (project_id, memory_id)
CREATE UNIQUE INDEX memory_procedural_project_id_name_key ON public.memory_procedural USING btree (project_id, name)
CREATE INDEX memory_working_age ON public.memory_working USING btree (project_id, created_at)
CREATE UNIQUE INDEX memory_working_pkey ON public.memory_working USING btree (project_id, id)
CREATE INDEX memory_working_session ON public.memory_working USING btree (project_id, session, id)
CREATE INDEX message_recipients_message ON public.message_recipients USING btree (project_id, message_id)
CREATE UNIQUE INDEX message_recipients_pkey ON public.message_recipients USING btree (project_id, agent_id, message_id)
CREATE INDEX message_recipients_unread ON public.message_recipients USING btree (project_id, agent_id, message_id) WHERE (read_at IS NULL)
CREATE INDEX message_recipients_waiting ON public.message_recipients USING btree (project_id, agent_id, message_id) WHERE ((delivered_at IS NULL) AND (read_at IS NULL))
CREATE INDEX messages_age ON public.messages USING btree (created_at)
CREATE UNIQUE INDEX messages_pkey ON public.messages USING btree (project_id, id)
CREATE INDEX messages_sender ON public.messages USING btree (project_id, sender, id)
CREATE INDEX messages_thread ON public.messages USING btree (project_id, thread, id)
CREATE UNIQUE INDEX projects_name_key ON public.projects USING btree (name)
CREATE UNIQUE INDEX projects_pkey ON public.projects USING btree (id)
CREATE UNIQUE INDEX repositories_pkey ON public.repositories USING btree (project_id, id)
CREATE UNIQUE INDEX repositories_project_id_name_key ON public.repositories USING btree (project_id, name)
CREATE UNIQUE INDEX runners_pkey ON public.runners USING btree (runner_id)
CREATE UNIQUE INDEX runs_by_id ON public.runs USING btree (id)
CREATE INDEX runs_deadline ON public.runs USING btree (deadline) WHERE ((deadline IS NOT NULL) AND (completed_at IS NULL))
CREATE INDEX runs_delayed ON public.runs USING btree (run_at) WHERE ((status = 'pending'::text) AND (waits = 'time'::text))
CREATE INDEX runs_held ON public.runs USING btree (runner_id, id) WHERE (status = ANY (ARRAY['claimed'::text, 'running'::text, 'stopping'::text]))
CREATE INDEX runs_on_hold ON public.runs USING btree (project_id, id) WHERE ((status = 'pending'::text) AND (waits = 'hold'::text))
CREATE UNIQUE INDEX runs_pkey ON public.runs USING btree (project_id, id)
CREATE UNIQUE INDEX runs_run_id_key ON public.runs USING btree (run_id)
CREATE INDEX runs_runner ON public.runs USING btree (runner_id, id) WHERE (runner_id IS NOT NULL)
CREATE INDEX runs_session ON public.runs USING btree (session_id, id)
CREATE INDEX runs_status ON public.runs USING btree (project_id, status, id)
CREATE INDEX runs_tasks ON public.runs USING btree (id) WHERE task_open
CREATE INDEX runs_timeout ON public.runs USING btree (timeout_at) WHERE ((status = 'pending'::text) AND (timeout_at IS NOT NULL))
CREATE INDEX sessions_agent ON public.sessions USING btree (project_id, agent_name, created_at DESC, id DESC) WHERE (agent_name IS NOT NULL)
CREATE INDEX sessions_newest ON public.sessions USING btree (project_id, created_at DESC, id DESC)
CREATE INDEX sessions_over ON public.sessions USING btree (updated_at) WHERE (status = ANY (ARRAY['finished'::text, 'failed'::text, 'stopped'::text]))
CREATE INDEX sessions_parent ON public.sessions USING btree (parent_session_id, created_at DESC, id DESC) WHERE (parent_session_id IS NOT NULL)
CREATE UNIQUE INDEX sessions_pkey ON public.sessions USING btree (project_id, id)
CREATE UNIQUE INDEX sessions_session_id_key ON public.sessions USING btree (session_id)
CREATE INDEX sessions_status ON public.sessions USING btree (project_id, status, created_at DESC, id DESC)
CREATE INDEX trust_events_of ON public.trust_events USING btree (project_id, agent_id, id)
CREATE UNIQUE INDEX trust_events_once ON public.trust_events USING btree (project_id, changeset_id, (
CASE
    WHEN (kind = 'waived_failure'::text) THEN kind
    ELSE 'verdict'::text
END)) WHERE ((changeset_id IS NOT NULL) AND (kind = ANY (ARRAY['passed'::text, 'failed'::text, 'denied'::text, 'waived_failure'::text])))
CREATE UNIQUE INDEX trust_events_pkey ON public.trust_events USING btree (project_id, id)
CREATE INDEX usage_reports_agent ON public.usage_reports USING btree (project_id, agent_id, at)
CREATE INDEX usage_reports_at ON public.usage_reports USING btree (project_id, at)
CREATE UNIQUE INDEX usage_reports_pkey ON public.usage_reports USING btree (project_id, key)
CREATE INDEX usage_reports_run ON public.usage_reports USING btree (project_id, run_id) WHERE (run_id IS NOT NULL)
CREATE INDEX usage_reports_session ON public.usage_reports USING btree (project_id, session_id)
CREATE INDEX usage_reports_task ON public.usage_reports USING btree (project_id, task_id) WHERE (task_id IS NOT NULL)
CREATE UNIQUE INDEX verification_policies_id_key ON public.verification_policies USING btree (id)
CREATE UNIQUE INDEX verification_policies_pkey ON public.verification_policies USING btree (project_id, id)
CREATE UNIQUE INDEX verification_policies_project_id_name_key ON public.verification_policies USING btree (project_id, name)
CREATE UNIQUE INDEX verification_policy_versions_pkey ON public.verification_policy_versions USING btree (project_id, policy_id, version)
CREATE INDEX verification_results_by_policy ON public.verification_results USING btree (policy_name, project_id, completed_at)
CREATE INDEX verification_results_cancel ON public.verification_results USING btree (next_check_at) WHERE cancel_due
CREATE UNIQUE INDEX verification_results_id_key ON public.verification_results USING btree (id)
CREATE INDEX verification_results_live ON public.verification_results USING btree (next_check_at) WHERE (status = ANY (ARRAY['dispatching'::text, 'running'::text]))
CREATE UNIQUE INDEX verification_results_pkey ON public.verification_results USING btree (project_id, id)
CREATE UNIQUE INDEX verification_results_project_id_changeset_id_policy_name_at_key ON public.verification_results USING btree (project_id, changeset_id, policy_name, attempt)
CREATE INDEX verification_results_queued ON public.verification_results USING btree (executor, queued_at) WHERE (status = 'queued'::text)
CREATE UNIQUE INDEX work_queue_pkey ON public.work_queue USING btree (project_id, id)
CREATE UNIQUE INDEX work_queue_project_id_task_id_key ON public.work_queue USING btree (project_id, task_id)

-- functions, and who may execute them
coord.ack_messages(p_project bigint, p_session bigint, p_by text, p_agent text, p_ids uuid[]) returns jsonb security definer: service_role
coord.acquire_lock(p_project bigint, p_session bigint, p_by text, p_space bigint, p_key text, p_anc text[], p_path text, p_shown text, p_repo text, p_branch text, p_mode text, p_minutes integer, p_reason text, OUT outcome text, OUT token bigint, OUT expires_at timestamp with time zone, OUT now timestamp with time zone, OUT locked_by text, OUT agent_type text, OUT holder_session text, OUT branch text, OUT reason text, OUT locked_at timestamp with time zone) returns record security definer: service_role
coord.acquire_lock_many(p_project bigint[], p_session bigint[], p_by text[], p_space bigint[], p_key text[], p_anc text[], p_path text[], p_shown text[], p_repo text[], p_branch text[], p_minutes integer[], p_reason text[]) returns TABLE(outcome text, token bigint, expires_at timestamp with time zone, now timestamp with time zone, locked_by text, agent_type text, holder_session text, branch text, reason text, locked_at timestamp with time zone) security definer: service_role
coord.acquire_locks(p_project bigint, p_session bigint, p_by text, p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_branch text, p_mode text, p_minutes integer, p_reason text, p_wait boolean DEFAULT false, p_topic text DEFAULT NULL::text, p_ticket bigint DEFAULT NULL::bigint) returns jsonb security definer: service_role
coord.act_wire(p_a acts, p_now timestamp with time zone) returns jsonb: the owner alone
coord.add_attempt(p_r verification_results, p_infra integer, p_test integer, p_not_before timestamp with time zone) returns void: the owner alone
coord.add_event(p_only bigint, p_session text, p_in jsonb) returns jsonb security definer: service_role
coord.add_evidence(p_project bigint, p_agent text, p_repository text, p_kind text, p_changeset uuid, p_weight double precision) returns void: the owner alone
coord.add_run(p_s sessions, p_by text, p_in jsonb, p_demands jsonb, p_no_match integer) returns runs: the owner alone
coord.add_session(p_project bigint, p_by text, p_session text, p_status text, p_in jsonb) returns sessions: the owner alone
coord.add_to(p_sums jsonb, p_project bigint, p_kind text, p_n integer DEFAULT 1) returns jsonb: the owner alone
coord.agent_demands(p_name text, p_start boolean) returns jsonb: the owner alone
coord.agent_wire(p_a agent_blueprints) returns jsonb: the owner alone
coord.apply_gone(p_project bigint, p_in jsonb) returns jsonb security definer: service_role
coord.apply_head(p_project bigint, p_in jsonb) returns jsonb security definer: service_role
coord.apply_verdict(p_v coord.task_verdicts, p_c changesets) returns text[]: the owner alone
coord.approval_wire(p_a approval_queue) returns jsonb: the owner alone
coord.assign_issue(p_project bigint, p_key text, p_repository text, p_task jsonb) returns jsonb security definer: service_role
coord.audit(p_project bigint, p_session bigint, p_by text, p_operation text, p_ids text[], p_success boolean DEFAULT true, p_reason text DEFAULT NULL::text, p_parameters jsonb DEFAULT NULL::jsonb, p_result jsonb DEFAULT NULL::jsonb) returns void: service_role
coord.audit_each(p_project bigint, p_sessions bigint[], p_by text[], p_operation text, p_ids text[]) returns void: the owner alone
coord.audit_guard() returns trigger: service_role
coord.audit_waiver() returns trigger security definer: the owner alone
coord.authenticate(p_hash bytea) returns TABLE(name text, scopes text[], agent_id text, agent_type text, project_id bigint, person text) security definer: service_role
coord.author_trust(p_project bigint, p_repository text, p_agent text, p_verified boolean, p_permission text) returns integer security definer: service_role
coord.backoff_seconds(p_id bigint, p_attempt integer) returns integer: service_role
coord.base_names(p_in jsonb) returns text[]: the owner alone
coord.beta_bound(p_a double precision, p_b double precision) returns double precision: the owner alone
coord.beta_cdf(p_x double precision, p_a double precision, p_b double precision) returns double precision: the owner alone
coord.bind_session(p_only bigint, p_by text, p_session text, p_in jsonb) returns jsonb security definer: service_role
coord.blocked_words(p_open bigint, p_of integer, p_stuck bigint) returns text: service_role
coord.blocked_work(p_project bigint, p_limit integer) returns jsonb security definer: service_role
coord.brief_locks(p_project bigint, p_session bigint, p_now timestamp with time zone) returns jsonb: service_role
coord.brief_work(p_project bigint, p_s agent_sessions) returns jsonb: service_role
coord.budget_percent(p_b budgets, p_s coord.budget_spend) returns numeric: the owner alone
coord.budget_state(p_b budgets, p_s coord.budget_spend) returns text: the owner alone
coord.budget_wire(p_b budgets, p_now timestamp with time zone) returns jsonb: the owner alone
coord.budget_words(p_b budgets, p_s coord.budget_spend) returns text: the owner alone
coord.bundle_of(p_clone_url text, p_sha text) returns bytea security definer: service_role
coord.callback_prompt(p_rows coord.callbacks[]) returns text: the owner alone
coord.callbacks_topic() returns text: the owner alone
coord.cancel_changeset(p_only bigint, p_by text, p_id uuid, p_reason text) returns jsonb security definer: service_role
coord.cancel_done(p_project bigint, p_run uuid, p_error text) returns void security definer: service_role
coord.cancel_wait(p_project bigint, p_session bigint, p_ticket bigint) returns jsonb security definer: service_role
coord.cancel_work(p_project bigint, p_session bigint, p_by text, p_agent text, p_privileged boolean, p_task uuid, p_reason text) returns jsonb security definer: service_role
coord.canonical_demands(p_demands jsonb) returns jsonb: service_role
coord.capability_wire(p_c capabilities, p_full boolean) returns jsonb: the owner alone
coord.capacity_topics(p_runner text) returns text[]: the owner alone
coord.cast_vote(p_c changesets, p_a approval_queue, p_voter text, p_role text, p_teams text[], p_source text, p_vote text, p_comment text, p_head text) returns jsonb: the owner alone
coord.changeset_final(p_state text) returns boolean: the owner alone
coord.changeset_news(p_c changesets) returns text[]: the owner alone
coord.changeset_note(p_project bigint, p_id uuid, p_kind text, p_text text, p_data jsonb DEFAULT NULL::jsonb) returns void: the owner alone
coord.changeset_of_pull(p_project bigint, p_repository text, p_number integer) returns jsonb security definer: service_role
coord.changeset_wire(p_c changesets) returns jsonb: the owner alone
coord.check_growing(p_parent text, p_start boolean) returns void: the owner alone
coord.check_guardrail(p_project bigint, p_session bigint, p_by text, p_actions jsonb, p_command text, p_why text, p_tool text, p_asks boolean) returns jsonb security definer: service_role
coord.check_locks(p_project bigint, p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_agent text, p_branch text, p_limit integer DEFAULT 100) returns jsonb security definer: service_role
coord.check_name(p_what text, p_name text) returns void: the owner alone
coord.check_parent(p_only bigint, p_parent text, p_session text) returns void: the owner alone
coord.check_tasks(p_tasks jsonb, p_now timestamp with time zone) returns void: service_role
coord.check_tree(p_parent text, p_limits jsonb) returns void: the owner alone
coord.claim_lanes(p_project bigint, p_queue smallint, p_classes integer[], p_n integer, p_floor_class integer[], p_floor_priority smallint[], p_floor_id bigint[], OUT ids bigint[], OUT heads bigint[]) returns record: the owner alone
coord.claim_ready(p_project bigint, p_queue smallint, p_classes integer[], p_n integer) returns bigint[]: service_role
coord.claim_tasks(p_project bigint, p_session bigint, p_by text, p_types text[], p_tags text[], p_n integer, p_lease integer, p_classes integer[], p_epoch integer, p_caps text, p_floor_class integer[], p_floor_priority smallint[], p_floor_id bigint[]) returns TABLE(reply jsonb, heads bigint[], lease_until timestamp with time zone, place bigint, task_id text, task_type text, description text, input_data jsonb, priority smallint, deadline timestamp with time zone, attempt smallint, max_attempts smallint, lease_token text, files text[], repository text, tags text[], depends_on text[], last_error text) security definer: service_role
coord.claim_work(p_project bigint, p_session bigint, p_by text, p_types text[], p_tags text[], p_n integer, p_lease integer, p_classes integer[] DEFAULT '{}'::integer[], p_epoch integer DEFAULT 0, p_caps text DEFAULT NULL::text) returns jsonb security definer: service_role
coord.class_epoch(p_project bigint, p_queue smallint) returns integer: service_role
coord.class_of(p_project bigint, p_queue smallint, p_demands jsonb, OUT class_id integer, OUT made boolean) returns record: service_role
coord.class_ranges(p_tok text) returns integer[]: service_role
coord.cleanup_sessions(p_project bigint, p_by text, p_stale_minutes integer, p_idle_minutes integer, p_dry_run boolean) returns jsonb security definer: service_role
coord.close_changeset(p_c changesets, p_state text, p_why text, p_by uuid DEFAULT NULL::uuid, p_who text DEFAULT 'gateway'::text) returns text[]: the owner alone
coord.close_session(p_project bigint, p_session bigint, p_status text, p_reason text) returns jsonb: service_role
coord.complete_one(p_project bigint, p_s agent_sessions, p_task uuid, p_success boolean, p_result jsonb, p_error text, p_retryable boolean, p_token text, p_raise boolean, p_now timestamp with time zone) returns jsonb: service_role
coord.complete_plain(p_project bigint, p_sessions bigint[], p_agents text[], p_implicit boolean[], p_ids uuid[], p_tokens text[], p_results jsonb[], p_errors text[], p_now timestamp with time zone, OUT done integer[], OUT wake text[]) returns record: the owner alone
coord.complete_tasks(p_project bigint, p_sessions bigint[], p_by text[], p_ids uuid[], p_tokens text[], p_results jsonb[]) returns jsonb security definer: service_role
coord.complete_with_commit(p_project bigint, p_s agent_sessions, p_task uuid, p_result jsonb, p_head text, p_token text, p_raise boolean, p_now timestamp with time zone) returns jsonb: the owner alone
coord.complete_work(p_project bigint, p_session bigint, p_by text, p_items jsonb) returns jsonb security definer: service_role
coord.conditions(p_alias text, p_filter jsonb, p_names text[]) returns text: the owner alone
coord.count_skill_use(p_project bigint, p_skill uuid, p_success boolean) returns memory_procedural: service_role
coord.create_key(p_project bigint, p_by text, p_name text, p_hash bytea, p_prefix text, p_scopes text[], p_for bigint, p_agent text, p_type text, p_person text, p_days integer) returns jsonb security definer: service_role
coord.create_person(p_project bigint, p_by text, p_name text, p_roles text[]) returns jsonb security definer: service_role
coord.create_run(p_project bigint, p_only bigint, p_by text, p_in jsonb, p_limits jsonb) returns jsonb security definer: service_role
coord.create_session(p_project bigint, p_only bigint, p_by text, p_in jsonb) returns jsonb security definer: service_role
coord.cut(p_text text, p_bytes integer) returns text: service_role
coord.decide(p_c changesets, p_state text, p_reason text, p_audited boolean DEFAULT false) returns text[]: the owner alone
coord.decide_act(p_project bigint, p_by text, p_agent text, p_id uuid, p_vote text, p_comment text) returns jsonb security definer: service_role
coord.default_policies() returns jsonb: the owner alone
coord.delete_agent(p_project bigint, p_by text, p_name text) returns jsonb security definer: service_role
coord.delete_budget(p_project bigint, p_by text, p_name text) returns jsonb security definer: service_role
coord.delete_capability(p_project bigint, p_by text, p_name text) returns jsonb security definer: service_role
coord.delete_session(p_only bigint, p_by text, p_session text, p_tree boolean) returns jsonb security definer: service_role
coord.deliver_callbacks(p_no_match integer, p_limit integer) returns jsonb security definer: service_role
coord.deliver_head(p_project bigint, p_source text, p_delivery text, p_action text, p_in jsonb) returns jsonb security definer: service_role
coord.demands_match(p_demands jsonb, p_claimer jsonb) returns boolean: service_role
coord.depth_of(p_session text, p_max integer) returns integer: the owner alone
coord.deregister_runner(p_project bigint, p_only bigint, p_by text, p_runner text, p_self boolean) returns jsonb security definer: service_role
coord.digest_stands(p_project bigint, p_repository text, p_path text, p_branch text, p_digest text) returns boolean: service_role
coord.dispatch_hold(p_project bigint, p_agent text, p_session bigint) returns holds: the owner alone
coord.doc_texts(p_doc jsonb, p_key text) returns text[]: service_role
coord.drain_runner(p_project bigint, p_only bigint, p_by text, p_runner text, p_drain boolean, p_reason text) returns jsonb security definer: service_role
coord.drop_memory_index(p_project bigint, p_ids bigint[]) returns void: service_role
coord.due_projects(p_queue smallint, p_now timestamp with time zone) returns SETOF bigint: service_role
coord.due_runs(p_now timestamp with time zone, p_limit integer) returns TABLE(run_id text, session_id text, what text): the owner alone
coord.emit(p_project bigint, p_type text, p_session text, p_data jsonb, p_event bigint DEFAULT NULL::bigint) returns void: the owner alone
coord.end_delivery(p_source text, p_delivery text, p_state text, p_action text, p_error text, p_result jsonb, p_retry integer) returns void security definer: service_role
coord.end_outbox(p_project bigint, p_id bigint, p_outcome text, p_error text, p_retry integer) returns void security definer: service_role
coord.end_run(p_r runs, p_status text, p_error text) returns text[]: the owner alone
coord.end_runs(p_c changesets, p_why text) returns void: the owner alone
coord.end_session(p_project bigint, p_agent text, p_name text, p_by text, p_reason text) returns jsonb security definer: service_role
coord.end_task(p_w work_queue, p_now timestamp with time zone, p_status text, p_result jsonb, p_error text) returns void: service_role
coord.enqueue_run(p_r runs) returns text[]: the owner alone
coord.ensure_project(p_name text) returns bigint security definer: service_role
coord.event_wire(p_e events) returns jsonb: the owner alone
coord.executor_classes() returns integer security definer: service_role
coord.export_memory(p_project bigint, p_layer text, p_after bigint, p_archived boolean, p_limit integer) returns TABLE(id bigint, doc jsonb) security definer: service_role
coord.faded(p_value double precision, p_from timestamp with time zone, p_now timestamp with time zone) returns double precision: the owner alone
coord.fail(p_status integer, p_code text, p_what text, p_why text, p_next text, p_field text DEFAULT NULL::text) returns void: service_role
coord.fail_run(p_r runs, p_error text) returns text[]: the owner alone
coord.figures(p_stale integer) returns jsonb security definer: service_role
coord.first_statistics() returns integer security definer: service_role
coord.fold_memory(p_limit integer) returns integer security definer: service_role
coord.force_release_locks(p_project bigint, p_by text, p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_agent text, p_reason text) returns jsonb security definer: service_role
coord.forget_memory(p_project bigint, p_session bigint, p_by text, p_agent text, p_ids uuid[], p_reason text) returns jsonb security definer: service_role
coord.free_agent(p_project bigint, p_by text, p_kind text, p_agent text, p_session text, p_reason text) returns jsonb security definer: service_role
coord.free_locks(p_project bigint, p_session bigint, p_reason text) returns jsonb security definer: service_role
coord.free_runs(p_project bigint, p_limit integer) returns text[]: the owner alone
coord.free_work(p_project bigint, p_session bigint, p_reason text) returns jsonb security definer: service_role
coord.gateway_state() returns jsonb security definer: service_role
coord.get_agent(p_name text, p_raw boolean) returns jsonb security definer: service_role
coord.get_blueprint(p_name text) returns agent_blueprints: the owner alone
coord.get_capability(p_name text) returns jsonb security definer: service_role
coord.get_capability_row(p_name text) returns capabilities: the owner alone
coord.get_changeset(p_only bigint, p_id uuid) returns jsonb security definer: service_role
coord.get_memory(p_project bigint, p_id uuid) returns jsonb security definer: service_role
coord.get_policy(p_project bigint, p_name text) returns jsonb security definer: service_role
coord.get_policy_row(p_project bigint, p_name text) returns verification_policies: the owner alone
coord.get_run(p_only bigint, p_run text) returns jsonb security definer: service_role
coord.get_session(p_only bigint, p_session text) returns jsonb security definer: service_role
coord.get_task(p_project bigint, p_task uuid) returns jsonb security definer: service_role
coord.get_working(p_project bigint, p_session bigint, p_originals boolean, p_limit integer) returns jsonb security definer: service_role
coord.give_back(p_w work_queue, p_now timestamp with time zone, p_delay integer, p_error text) returns text: service_role
coord.glob_meet(p_a text, p_b text) returns boolean: service_role
coord.glob_toks(p_seg text) returns text[]: service_role
coord.glob_walk(p_a text[], p_b text[], p_deep boolean) returns boolean: service_role
coord.guardrail_hit(p_project bigint, p_by text, p_agent text, p_session text, p_rule text, p_action text, p_place text, p_command text, p_why text, p_act uuid) returns void security definer: service_role
coord.guardrail_rules(p_project bigint) returns jsonb security definer: service_role
coord.hand_over(p_project bigint, p_by text, p_from text, p_from_session text, p_to text, p_to_session text, p_tasks uuid[], p_paths text[], p_note text) returns jsonb security definer: service_role
coord.has_memories(p_project bigint) returns boolean security definer: service_role
coord.hear_runner(p_only bigint, p_runner text, p_stale integer) returns boolean: the owner alone
coord.heartbeat_session(p_project bigint, p_session bigint, p_task text) returns jsonb security definer: service_role
coord.heartbeat_work(p_project bigint, p_session bigint, p_task uuid, p_lease integer, p_token text) returns jsonb security definer: service_role
coord.held_name(p_h holds) returns text: the owner alone
coord.hold_act(p_project bigint, p_by text, p_in jsonb) returns uuid security definer: service_role
coord.hold_agent(p_project bigint, p_by text, p_kind text, p_agent text, p_session text, p_reason text) returns jsonb security definer: service_role
coord.hold_refusal(p_h holds) returns jsonb: the owner alone
coord.hold_target(p_project bigint, p_agent text, p_session text) returns text: the owner alone
coord.holds_task(p_w work_queue, p_s agent_sessions, p_token text) returns boolean: service_role
coord.hush_notices(p_project bigint, p_agent text, p_ids uuid[]) returns void: service_role
coord.import_memory(p_project bigint, p_session bigint, p_by text, p_source text, p_docs jsonb) returns jsonb security definer: service_role
coord.inbox_state() returns jsonb security definer: service_role
coord.is_below(p_session text, p_above text) returns boolean: the owner alone
coord.iso(p_at timestamp with time zone) returns text: the owner alone
coord.job_wire(p_r verification_results, p_c changesets, p_action text, p_files boolean) returns jsonb: the owner alone
coord.join_repository(p_bound bigint, p_by text, p_project text, p_remote text, p_root text, p_name text) returns jsonb security definer: service_role
coord.keep_trace(p_kind text, p_id text, p_traceparent text) returns void security definer: service_role
coord.key_json(p_key coord.api_keys) returns jsonb: service_role
coord.known_alias(p_alias text) returns coord.repository_aliases: the owner alone
coord.lane_topic(p_project bigint, p_queue smallint, p_class integer) returns text: service_role
coord.legacy_event(p_project bigint, p_only bigint, p_by text, p_in jsonb) returns jsonb security definer: service_role
coord.like_agents(p_project bigint, p_name text) returns text: service_role
coord.limit_key(p_project bigint, p_bound bigint, p_by text, p_name text, p_rate integer, p_streams integer) returns jsonb security definer: service_role
coord.line_head(p_project bigint, p_repository text, p_line text) returns TABLE(head_sha text, at timestamp with time zone): the owner alone
coord.line_of(p_source text, p_branch text, p_fork boolean, p_pr integer) returns text: the owner alone
coord.link_tasks(p_project bigint, p_tasks jsonb, OUT ids bigint[], OUT uuids uuid[], OUT waits integer[], OUT named text[]) returns record: the owner alone
coord.list_acts(p_project bigint, p_status text, p_limit integer) returns jsonb security definer: service_role
coord.list_agents(p_tags text[]) returns jsonb security definer: service_role
coord.list_approvals(p_project bigint, p_status text, p_limit integer) returns jsonb security definer: service_role
coord.list_budgets(p_project bigint) returns jsonb security definer: service_role
coord.list_capabilities() returns jsonb security definer: service_role
coord.list_changesets(p_project bigint, p_filter jsonb, p_limit integer, p_before uuid) returns jsonb security definer: service_role
coord.list_guardrail_hits(p_project bigint, p_agent text, p_limit integer) returns jsonb security definer: service_role
coord.list_holds(p_project bigint, p_only bigint, p_agent text) returns jsonb security definer: service_role
coord.list_keys(p_bound bigint, p_all boolean) returns jsonb security definer: service_role
coord.list_messages(p_project bigint, p_agent text, p_box text, p_thread text, p_limit integer, p_peek boolean) returns jsonb security definer: service_role
coord.list_persons() returns jsonb security definer: service_role
coord.list_policies(p_project bigint) returns jsonb security definer: service_role
coord.list_projects(p_bound bigint) returns jsonb security definer: service_role
coord.list_runners(p_only bigint, p_stale integer, p_remove integer) returns jsonb security definer: service_role
coord.list_runs(p_project bigint, p_filter jsonb, p_limit integer, p_after text, p_newest boolean) returns jsonb security definer: service_role
coord.list_sessions(p_project bigint, p_capability text, p_status text, p_limit integer) returns jsonb security definer: service_role
coord.list_skills(p_project bigint, p_tags text[], p_archived boolean, p_limit integer) returns jsonb security definer: service_role
coord.list_snoozed(p_project bigint, p_who text) returns jsonb security definer: service_role
coord.list_trust(p_project bigint, p_agent text, p_repository text, p_limit integer) returns jsonb security definer: service_role
coord.list_violations(p_project bigint, p_agent text, p_limit integer) returns jsonb security definer: service_role
coord.list_work(p_project bigint, p_filter jsonb, p_limit integer, p_cursor bigint) returns jsonb security definer: service_role
coord.live_after(p_after bigint, p_limit integer) returns jsonb security definer: service_role
coord.live_topic() returns text: the owner alone
coord.living_key(p_bound bigint, p_name text) returns coord.api_keys: the owner alone
coord.ln_gamma(p_x double precision) returns double precision: the owner alone
coord.lock_anc(p_base text) returns text[]: service_role
coord.lock_behind(p_project bigint, p_session bigint, p_now timestamp with time zone) returns coord.lock_edge[]: service_role
coord.lock_blockers(p_project bigint, p_session bigint, p_before bigint, p_keys coord.lock_key[], p_anc text[], p_now timestamp with time zone) returns coord.lock_blocker[]: service_role
coord.lock_changeset(p_only bigint, p_id uuid) returns changesets: the owner alone
coord.lock_enter(p_project bigint, p_session bigint) returns agent_sessions: service_role
coord.lock_gates(p_project bigint, p_keys coord.lock_key[], p_anc text[], p_change boolean) returns void: service_role
coord.lock_grant(p_project bigint, p_home bigint, p_me agent_sessions, p_by text, p_keys coord.lock_key[], p_minutes integer, p_reason text, p_ticket bigint, p_now timestamp with time zone) returns jsonb: service_role
coord.lock_head(p_project bigint, p_head text) returns void: the owner alone
coord.lock_holder(p_project bigint, p_session bigint, p_space bigint, p_key text, p_anc text[], p_branch text) returns TABLE(expires_at timestamp with time zone, now timestamp with time zone, locked_by text, agent_type text, holder_session text, branch text, reason text, locked_at timestamp with time zone): service_role
coord.lock_join(p_project bigint, p_me agent_sessions, p_topic text, p_keys coord.lock_key[], p_live coord.lock_blocker[], p_edges coord.lock_edge[], p_now timestamp with time zone) returns jsonb: service_role
coord.lock_keys(p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_branch text, p_mode text) returns coord.lock_key[]: service_role
coord.lock_live(p_blockers coord.lock_blocker[], p_edges coord.lock_edge[], p_now timestamp with time zone) returns coord.lock_blocker[]: service_role
coord.lock_meet(p_ak text, p_ab text, p_akey text, p_are text, p_apre text, p_alk text, p_bk text, p_bb text, p_bkey text, p_bre text, p_bpre text, p_blk text) returns boolean: service_role
coord.lock_mourn(p_project bigint, p_gone file_locks[], p_why text, p_tail text) returns jsonb: service_role
coord.lock_refused(p_project bigint, p_me agent_sessions, p_keys coord.lock_key[], p_blockers coord.lock_blocker[], p_now timestamp with time zone) returns jsonb: service_role
coord.lock_rivals(p_project bigint, p_session bigint, p_space bigint, p_kind text, p_base text, p_key text, p_branch text, p_mode text, p_re text, p_pre text, p_lk text, p_anc text[]) returns SETOF file_locks: service_role
coord.lock_rivals_waiting(p_project bigint, p_session bigint, p_before bigint, p_space bigint, p_kind text, p_base text, p_key text, p_branch text, p_mode text, p_re text, p_pre text, p_lk text, p_anc text[]) returns SETOF coord.lock_wait_keys: service_role
coord.lock_row_keys(p_rows file_locks[]) returns coord.lock_key[]: service_role
coord.lock_run(p_only bigint, p_run text) returns runs: the owner alone
coord.lock_session(p_only bigint, p_session text) returns sessions: the owner alone
coord.lock_space(p_project bigint, p_name text) returns TABLE(id bigint, name text) security definer: service_role
coord.lock_take_over(p_project bigint, p_blockers coord.lock_blocker[], p_agent text, p_now timestamp with time zone) returns jsonb: service_role
coord.lock_task(p_project bigint, p_task uuid) returns work_queue: service_role
coord.lock_tasks(p_project bigint, p_ids bigint[]) returns void: service_role
coord.lock_to_wake(p_project bigint, p_keys coord.lock_key[], p_now timestamp with time zone) returns jsonb: service_role
coord.lock_trust(p_project bigint, p_agent text, p_repository text) returns agent_trust: the owner alone
coord.lock_under(p_path text, p_dir text) returns boolean: service_role
coord.lock_waiters(p_project bigint, p_home bigint, p_limit integer) returns jsonb security definer: service_role
coord.lock_waiting(p_project bigint, p_me agent_sessions, p_ticket bigint, p_keys coord.lock_key[], p_live coord.lock_blocker[], p_now timestamp with time zone) returns jsonb: service_role
coord.lock_working(p_project bigint, p_session bigint) returns TABLE(id bigint, type text, content text, pinned boolean, tokens integer, shown text, shown_tokens integer) security definer: service_role
coord.look_at_run(p_executor text, p_run uuid, p_external text) returns jsonb security definer: service_role
coord.loosen_run(p_r runs) returns void: the owner alone
coord.loosen_task(p_w work_queue, p_final boolean) returns void: service_role
coord.lose_runs(p_runner text, p_keep text[], p_error text) returns text[]: the owner alone
coord.make_key(p_project bigint, p_by text, p_name text, p_hash bytea, p_prefix text, p_scopes text[], p_for bigint, p_agent text, p_type text, p_person text, p_days integer, p_rate integer, p_streams integer) returns jsonb security definer: service_role
coord.match_classes(p_project bigint, p_queue smallint, p_claimer jsonb, p_after integer DEFAULT 0) returns integer[]: service_role
coord.may_manage(p_w work_queue, p_agent text, p_by text, p_privileged boolean, p_what text) returns void: service_role
coord.memories_all(p_project bigint, p_1 bigint[], p_2 bigint[], p_3 bigint[], p_4 bigint[], p_5 bigint[], p_6 bigint[], p_need bigint[], p_archived boolean, p_limit integer) returns TABLE(id bigint, group_id bigint, seq integer, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea) security definer: service_role
coord.memories_any(p_project bigint, p_any bigint[], p_need bigint[], p_archived boolean, p_limit integer) returns TABLE(id bigint, group_id bigint, seq integer, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea) security definer: service_role
coord.memories_by_id(p_projects bigint[], p_ids bigint[]) returns TABLE(id bigint, doc jsonb) security definer: service_role
coord.memories_near(p_project bigint, p_model text, p_vector real[], p_need bigint[], p_archived boolean, p_limit integer) returns TABLE(id bigint, group_id bigint, seq integer, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea) security definer: service_role
coord.memories_newest(p_project bigint, p_need bigint[], p_archived boolean, p_limit integer) returns TABLE(id bigint, group_id bigint, seq integer, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea) security definer: service_role
coord.memories_to_embed(p_limit integer) returns TABLE(project_id bigint, id bigint, rev integer, body text) security definer: service_role
coord.memories_to_index(p_project bigint, p_ids bigint[], p_version integer, p_limit integer) returns TABLE(project_id bigint, id bigint, kind smallint, rev integer, doc jsonb) security definer: service_role
coord.memories_with(p_project bigint, p_any bigint[], p_1 bigint[], p_2 bigint[], p_3 bigint[], p_4 bigint[], p_5 bigint[], p_6 bigint[], p_one bigint[], p_other bigint[], p_need bigint[], p_archived boolean, p_limit integer) returns TABLE(id bigint, group_id bigint, seq integer, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea) security definer: service_role
coord.memory_json(p_e memory_episodic) returns jsonb: service_role
coord.memory_place(p_project bigint, p_name text, p_imported boolean, p_at timestamp with time zone, OUT v_group bigint, OUT v_seq integer, OUT v_new boolean) returns record: service_role
coord.memory_policy(p_project bigint, p_layer text, OUT archive_days integer, OUT delete_days integer) returns record: service_role
coord.memory_stats(p_project bigint, p_terms bigint[]) returns TABLE(n bigint, groups bigint, len_title double precision, len_body double precision, df bigint[]) security definer: service_role
coord.memory_windows(p_project bigint, p_groups bigint[], p_from integer[], p_to integer[]) returns TABLE(id bigint, group_id bigint, seq integer, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea) security definer: service_role
coord.merge_demands(VARIADIC p_list jsonb[]) returns jsonb: the owner alone
coord.merge_memory(p_project bigint, p_session bigint, p_by text, p_id bigint, p_doc jsonb, p_now timestamp with time zone) returns jsonb: service_role
coord.message_json(p_m messages, p_full boolean) returns jsonb: service_role
coord.message_notice_data(p_m messages) returns jsonb: service_role
coord.message_notice_text(p_m messages) returns text: service_role
coord.message_recipients_of(p_project bigint, p_sender text, p_to text[], p_unknown boolean, OUT v_to text[], OUT v_unknown text[]) returns record: service_role
coord.move_locks(p_locks file_locks[], p_to agent_sessions, p_now timestamp with time zone) returns jsonb: the owner alone
coord.move_tasks(p_tasks work_queue[], p_to agent_sessions, p_now timestamp with time zone) returns jsonb: the owner alone
coord.name_meet(p_a text, p_b text) returns boolean: service_role
coord.new_memory(p_project bigint, p_agent text, p_type text, p_session text, p_doc jsonb, p_hash bigint, p_at timestamp with time zone, p_tokens integer) returns memory_episodic: service_role
coord.no_changeset() returns void: the owner alone
coord.no_run() returns void: the owner alone
coord.no_session() returns void: the owner alone
coord.nonempty_classes(p_project bigint, p_queue smallint, p_classes integer[]) returns integer[]: service_role
coord.not_impartial(p_c changesets, p_who text) returns text: the owner alone
coord.not_yours(p_task uuid, p_w work_queue) returns jsonb: service_role
coord.note_hand_over(p_from text, p_session text, p_to agent_sessions, p_by text, p_note text, p_tasks work_queue[], p_paths text[]) returns jsonb: the owner alone
coord.note_move(p_project bigint, p_repository text, p_line text, p_before text, p_after text, p_at timestamp with time zone, p_push boolean) returns boolean: the owner alone
coord.note_outcome(p_c changesets) returns void: the owner alone
coord.note_waived_failure(p_c changesets, p_reason text) returns void: the owner alone
coord.notice(p_project bigint, p_session bigint, p_kind text, p_text text, p_data jsonb DEFAULT NULL::jsonb) returns void: service_role
coord.notify_out(p_project bigint, p_key text, p_payload jsonb) returns text[]: the owner alone
coord.now() returns timestamp with time zone: service_role
coord.nudge_agent(p_project bigint, p_by text, p_sender text, p_agent text, p_session text, p_text text) returns jsonb security definer: service_role
coord.old_sessions(p_before timestamp with time zone, p_limit integer) returns SETOF sessions: the owner alone
coord.on_approval_wanted(p_c changesets) returns text[]: the owner alone
coord.on_verdict(p_c changesets) returns text[]: the owner alone
coord.once_begin(p_project bigint, p_agent text, p_operation text, p_key text, p_hash bytea) returns jsonb: service_role
coord.once_end(p_project bigint, p_agent text, p_operation text, p_key text, p_reply jsonb) returns void: service_role
coord.open_session(p_project bigint, p_agent text, p_type text, p_session text) returns bigint security definer: service_role
coord.orchestrated_sessions(p_project bigint, p_filter jsonb, p_limit integer, p_before text) returns jsonb security definer: service_role
coord.outcome_flags(p_outcome text) returns integer: service_role
coord.override_changeset(p_only bigint, p_by text, p_who text, p_id uuid, p_verdict text, p_reason text) returns jsonb security definer: service_role
coord.pause_of(p_project bigint, p_agent text, p_session bigint) returns holds: the owner alone
coord.period_end(p_period text, p_at timestamp with time zone) returns timestamp with time zone: the owner alone
coord.period_start(p_period text, p_at timestamp with time zone) returns timestamp with time zone: the owner alone
coord.policy_base(p_tier integer) returns jsonb: the owner alone
coord.policy_history(p_project bigint, p_name text, p_limit integer) returns jsonb security definer: service_role
coord.policy_version(p_project bigint) returns bigint security definer: service_role
coord.policy_wire(p_p verification_policies) returns jsonb: the owner alone
coord.poll_runner(p_only bigint, p_runner text, p_stale integer, p_lease integer, p_classes integer[], p_epoch integer, p_caps text) returns jsonb security definer: service_role
coord.post_message(p_m messages, p_to text[], p_session bigint) returns jsonb: service_role
coord.prepare_vectors(p_model text) returns boolean security definer: service_role
coord.principal_of(p_hash bytea) returns jsonb security definer: service_role
coord.prior_failures(p_c changesets) returns integer: the owner alone
coord.prioritise_work(p_project bigint, p_session bigint, p_by text, p_agent text, p_privileged boolean, p_task uuid, p_priority integer) returns jsonb security definer: service_role
coord.progress_work(p_project bigint, p_session bigint, p_task uuid, p_percent double precision, p_note text, p_token text) returns jsonb security definer: service_role
coord.project_digest(p_project bigint, p_reader text, p_agent text, p_peek boolean) returns jsonb security definer: service_role
coord.project_json(p_id bigint) returns jsonb security definer: service_role
coord.project_of_remote(p_remote text) returns bigint security definer: service_role
coord.projects_with_memory(p_only bigint, p_limit integer) returns TABLE(id bigint, name text) security definer: service_role
coord.purge_agent_sessions(p_before timestamp with time zone, p_limit integer) returns TABLE(project_id bigint, n integer): the owner alone
coord.purge_audit(p_project bigint, p_by text, p_days integer, p_limit integer DEFAULT 10000) returns bigint: service_role
coord.purge_deliveries(p_days integer, p_limit integer) returns integer security definer: service_role
coord.purge_handoffs(p_before timestamp with time zone, p_limit integer) returns TABLE(project_id bigint, n integer): the owner alone
coord.purge_history(p_days integer, p_limit integer) returns integer security definer: service_role
coord.purge_messages(p_before timestamp with time zone, p_limit integer) returns TABLE(project_id bigint, n integer): the owner alone
coord.purge_outbox(p_days integer, p_limit integer) returns integer security definer: service_role
coord.purge_sessions(p_before timestamp with time zone, p_limit integer) returns jsonb: the owner alone
coord.put_agent(p_project bigint, p_by text, p_name text, p_in jsonb, p_create boolean) returns jsonb security definer: service_role
coord.put_aside(p_w work_queue, p_now timestamp with time zone) returns void: the owner alone
coord.put_capability(p_project bigint, p_by text, p_name text, p_in jsonb, p_create boolean) returns jsonb security definer: service_role
coord.put_memory_index(p_project bigint, p_id bigint, p_kind smallint, p_rev integer, p_at timestamp with time zone, p_group bigint, p_seq integer, p_new_group boolean, p_flags integer, p_skill integer, p_terms bigint[], p_sig bytea, p_words text[], p_title integer, p_body integer, p_version integer) returns void: service_role
coord.put_policy(p_project bigint, p_by text, p_name text, p_in jsonb, p_create boolean, p_version integer) returns jsonb security definer: service_role
coord.put_vectors(p_model text, p_projects bigint[], p_ids bigint[], p_revs integer[], p_dims integer, p_vectors real[]) returns integer security definer: service_role
coord.query_audit(p_project bigint, p_agent text, p_operation text, p_since timestamp with time zone, p_success boolean, p_limit integer) returns jsonb security definer: service_role
coord.queue_mail(p_project bigint, p_session bigint, p_agent text) returns void: service_role
coord.read_handoffs(p_project bigint, p_agent text, p_limit integer) returns jsonb security definer: service_role
coord.read_session(p_only bigint, p_session text) returns sessions: the owner alone
coord.ready_topics(p_projects bigint[], p_queues smallint[], p_limit integer DEFAULT 64) returns text[] security definer: service_role
coord.ready_work(p_project bigint, p_types text[], p_limit integer) returns jsonb security definer: service_role
coord.receiving_session(p_project bigint, p_agent text, p_session text) returns bigint: the owner alone
coord.record_skill_use(p_project bigint, p_session bigint, p_by text, p_skill uuid, p_success boolean) returns jsonb security definer: service_role
coord.recorded_violations(p_project bigint, p_agent text, p_paths text[], p_hours integer) returns jsonb security definer: service_role
coord.recover_runs(p_mode text, p_stale integer, p_limit integer) returns jsonb security definer: service_role
coord.register_runner(p_project bigint, p_only bigint, p_by text, p_in jsonb, p_stale integer) returns jsonb security definer: service_role
coord.register_session(p_project bigint, p_session bigint, p_by text, p_capabilities text[], p_task text, p_lapse_seconds integer, p_metadata jsonb, p_delegated_from text) returns jsonb security definer: service_role
coord.reindex_memory(p_project bigint, p_id bigint, p_kind smallint, p_rev integer, p_terms bigint[], p_sig bytea, p_words text[], p_title integer, p_body integer, p_tokens integer, p_version integer) returns boolean security definer: service_role
coord.release_lock(p_project bigint, p_session bigint, p_by text, p_space bigint, p_key text, p_anc text[], p_shown text) returns boolean security definer: service_role
coord.release_lock_many(p_project bigint[], p_session bigint[], p_by text[], p_space bigint[], p_key text[], p_anc text[], p_shown text[]) returns boolean[] security definer: service_role
coord.release_locks(p_project bigint, p_session bigint, p_by text, p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_branch text, p_any boolean DEFAULT false, p_all boolean DEFAULT false) returns jsonb security definer: service_role
coord.release_work(p_project bigint, p_session bigint, p_by text, p_task uuid, p_reason text, p_token text) returns jsonb security definer: service_role
coord.remember(p_project bigint, p_session bigint, p_by text, p_doc jsonb, p_terms bigint[], p_sig bytea, p_words text[], p_title integer, p_body integer, p_tokens integer, p_version integer) returns jsonb security definer: service_role
coord.remove_runner(p_r runners) returns text[]: the owner alone
coord.renew_label_locks(p_minutes integer) returns integer security definer: service_role
coord.renew_session_locks(p_project bigint, p_session bigint, p_minutes integer DEFAULT NULL::integer) returns jsonb security definer: service_role
coord.renew_work(p_project bigint, p_session bigint) returns integer security definer: service_role
coord.reopen_changeset(p_c changesets, p_why text) returns text[]: the owner alone
coord.report_digests(p_project bigint, p_agent text, p_session bigint, p_by text, p_repository text, p_branch text, p_files jsonb) returns jsonb security definer: service_role
coord.report_run(p_only bigint, p_by text, p_runner text, p_run text, p_kind text, p_text text, p_stale integer) returns jsonb security definer: service_role
coord.report_usage(p_project bigint, p_sid bigint, p_by text, p_agent text, p_session text, p_reports jsonb) returns jsonb security definer: service_role
coord.report_violations(p_project bigint, p_session bigint, p_by text, p_repository text, p_rows jsonb, p_tool text, p_command text, p_stage text, p_unknown boolean, p_bypass text) returns jsonb security definer: service_role
coord.repository_of_remote(p_remote text) returns TABLE(project_id bigint, remote text) security definer: service_role
coord.requeue_run(p_r runs, p_delay integer, p_error text) returns text[]: the owner alone
coord.rerun_changeset(p_only bigint, p_by text, p_id uuid, p_tier integer, p_reason text) returns jsonb security definer: service_role
coord.resolve_blueprint(p_name text) returns jsonb: the owner alone
coord.resolve_repository(p_project text, p_remote text, p_root text, p_name text) returns TABLE(project_id bigint, project text, repository_id bigint, repository text) security definer: service_role
coord.result_text(p_session text, OUT result text, OUT data jsonb) returns record: the owner alone
coord.resume_author(p_project bigint, p_session text, p_source text, p_text text) returns boolean: the owner alone
coord.retain_memory(p_project bigint, p_limit integer) returns jsonb: service_role
coord.retry_run(p_c changesets, p_r verification_results) returns text: the owner alone
coord.retry_work(p_project bigint, p_session bigint, p_by text, p_agent text, p_privileged boolean, p_task uuid) returns jsonb security definer: service_role
coord.return_task(p_w work_queue, p_v coord.task_verdicts, p_source text, p_why text, p_prompt text, p_feedback jsonb) returns text[]: the owner alone
coord.revoke_key(p_project bigint, p_bound bigint, p_by text, p_name text) returns jsonb security definer: service_role
coord.rotate_key(p_project bigint, p_bound bigint, p_by text, p_name text, p_hash bytea, p_prefix text, p_grace interval) returns jsonb security definer: service_role
coord.route_failed(p_project bigint, p_id uuid, p_version integer, p_error text, p_retry integer, p_most integer) returns jsonb security definer: service_role
coord.run_due(p_r runs, p_what text, p_now timestamp with time zone, p_stale integer) returns text[]: the owner alone
coord.run_lost(p_r runs, p_error text) returns text[]: the owner alone
coord.run_news(p_r runs) returns void: the owner alone
coord.run_rank(p_status text) returns integer: the owner alone
coord.run_result_wire(p_r verification_results, p_full boolean) returns jsonb: the owner alone
coord.run_started(p_r runs) returns text[]: the owner alone
coord.run_timeout(p_r verification_results) returns integer: the owner alone
coord.run_wire(p_r runs) returns jsonb: the owner alone
coord.runner_claimer(p_r runners) returns jsonb: the owner alone
coord.runner_classes(p_claimer jsonb, p_after integer) returns integer[]: the owner alone
coord.runner_full(p_r runners) returns boolean: the owner alone
coord.runner_gone() returns void: the owner alone
coord.runner_heartbeat(p_only bigint, p_runner text, p_stale integer) returns jsonb security definer: service_role
coord.runner_lacks(p_r runners, p_demands jsonb, p_project bigint) returns text[]: the owner alone
coord.runner_task_classes(p_r runners) returns TABLE(project_id bigint, classes integer[]): the owner alone
coord.runner_task_lanes(p_r runners) returns text[]: the owner alone
coord.runner_topic(p_runner text) returns text: the owner alone
coord.runner_wire(p_r runners, p_now timestamp with time zone, p_stale integer) returns jsonb: the owner alone
coord.safeguards(p_project bigint) returns jsonb security definer: service_role
coord.save_trust(p_t agent_trust) returns void: the owner alone
coord.scheduled_words(p_run_at timestamp with time zone, p_error text) returns text: service_role
coord.seed_new_project() returns trigger security definer: the owner alone
coord.seed_policies(p_project bigint) returns void: the owner alone
coord.send_message(p_project bigint, p_session bigint, p_by text, p_sender text, p_to text[], p_text text, p_thread text, p_reply_to uuid, p_kind text, p_urgency text, p_ack boolean, p_unknown boolean) returns jsonb security definer: service_role
coord.session(p_project bigint, p_session bigint) returns agent_sessions: service_role
coord.session_affinity(p_only bigint, p_session text) returns jsonb security definer: service_role
coord.session_brief(p_project bigint, p_session bigint) returns jsonb security definer: service_role
coord.session_events(p_only bigint, p_session text, p_after bigint, p_limit integer, p_strict boolean) returns jsonb security definer: service_role
coord.session_result(p_only bigint, p_session text) returns jsonb security definer: service_role
coord.session_status(p_only bigint, p_session text) returns jsonb security definer: service_role
coord.session_wire(p_s sessions) returns jsonb: the owner alone
coord.set_budget(p_project bigint, p_by text, p_in jsonb) returns jsonb security definer: service_role
coord.set_guardrail(p_project bigint, p_by text, p_rule text, p_action text, p_pattern text, p_reason text) returns void security definer: service_role
coord.set_memory_policy(p_project bigint, p_by text, p_layer text, p_archive integer, p_delete integer) returns jsonb security definer: service_role
coord.set_safeguards(p_project bigint, p_by text, p_acts text[], p_reason text) returns jsonb security definer: service_role
coord.set_session(p_s sessions, p_status text) returns text[]: the owner alone
coord.set_trust(p_project bigint, p_by text, p_agent text, p_repository text, p_level integer, p_ceiling integer, p_reason text) returns jsonb security definer: service_role
coord.settle(p_project bigint, p_id uuid, p_audited boolean DEFAULT false) returns text[]: the owner alone
coord.settle_budgets(p_project bigint, p_names text[], p_now timestamp with time zone) returns jsonb: the owner alone
coord.settle_tasks(p_limit integer) returns jsonb: the owner alone
coord.similar_words(p_project bigint, p_words text[]) returns TABLE(asked text, word text, score real) security definer: service_role
coord.skill_json(p_k memory_procedural) returns jsonb: service_role
coord.skill_mean(p_uses integer, p_successes integer) returns integer: service_role
coord.snooze(p_project bigint, p_by text, p_who text, p_item text, p_until timestamp with time zone, p_reason text) returns jsonb security definer: service_role
coord.status_out(p_c changesets) returns void: the owner alone
coord.stop_locked(p_r runs) returns jsonb: the owner alone
coord.stop_one_session(p_s sessions) returns jsonb: the owner alone
coord.stop_run(p_only bigint, p_by text, p_run text) returns jsonb security definer: service_role
coord.stop_session(p_only bigint, p_by text, p_session text, p_tree boolean) returns jsonb security definer: service_role
coord.stop_taskless(p_limit integer) returns jsonb: the owner alone
coord.store_delivery(p_source text, p_delivery text, p_event text, p_body bytea, p_sha256 bytea, p_headers jsonb) returns jsonb security definer: service_role
coord.store_event(p_project bigint, p_session text, p_in jsonb) returns void: the owner alone
coord.store_policy(p_project bigint, p_by text, p_id uuid, p_in jsonb) returns verification_policies: the owner alone
coord.store_route(p_project bigint, p_id uuid, p_version integer, p_in jsonb) returns jsonb security definer: service_role
coord.store_skill(p_project bigint, p_session bigint, p_by text, p_name text, p_description text, p_steps jsonb, p_tags text[]) returns jsonb security definer: service_role
coord.submit_changeset(p_project bigint, p_session bigint, p_by text, p_in jsonb) returns jsonb security definer: service_role
coord.submit_tasks(p_project bigint, p_sessions bigint[], p_by text[], p_repositories text[], p_tasks jsonb, OUT ids uuid[], OUT statuses text[], OUT blocked boolean[], OUT lanes integer[], OUT units integer[], OUT made boolean) returns record security definer: service_role
coord.submit_work(p_project bigint, p_session bigint, p_by text, p_repository text, p_tasks jsonb) returns jsonb security definer: service_role
coord.supersede_line(p_project bigint, p_repository text, p_line text, p_keep uuid, p_state text, p_why text) returns text[]: the owner alone
coord.sweep_budgets(p_limit integer) returns jsonb security definer: service_role
coord.sweep_changesets(p_limit integer, p_queue_seconds integer, p_blocked_seconds integer) returns jsonb security definer: service_role
coord.sweep_deadlines(p_project bigint, p_now timestamp with time zone, p_limit integer) returns jsonb: service_role
coord.sweep_leases(p_project bigint, p_now timestamp with time zone, p_limit integer) returns jsonb: service_role
coord.sweep_leftovers(p_limit integer) returns jsonb security definer: service_role
coord.sweep_locks(p_limit integer DEFAULT 500) returns jsonb security definer: service_role
coord.sweep_memory(p_limit integer) returns jsonb security definer: service_role
coord.sweep_retention(p_days integer, p_limit integer) returns jsonb security definer: service_role
coord.sweep_runs(p_stale integer, p_remove integer, p_no_match integer, p_limit integer) returns jsonb security definer: service_role
coord.sweep_schedule(p_project bigint, p_now timestamp with time zone, p_limit integer) returns jsonb: service_role
coord.sweep_sessions(p_limit integer) returns jsonb security definer: service_role
coord.sweep_verdicts(p_limit integer) returns jsonb security definer: service_role
coord.sweep_work(p_limit integer DEFAULT 200) returns jsonb security definer: service_role
coord.sweeps_due(p_tokeniser integer) returns TABLE(sessions boolean, verdicts boolean, locks boolean, work boolean, memory boolean) security definer: service_role
coord.take_cancels(p_owner text, p_executors text[], p_lease integer) returns TABLE(job jsonb) security definer: service_role
coord.take_changesets(p_limit integer, p_lease integer) returns TABLE(changeset jsonb) security definer: service_role
coord.take_deliveries(p_limit integer, p_lease integer) returns TABLE(source text, delivery_id text, event text, body bytea, headers jsonb, attempts integer, received_at timestamp with time zone) security definer: service_role
coord.take_notices(p_project bigint, p_session bigint, p_limit integer DEFAULT 3) returns jsonb security definer: service_role
coord.take_outbox(p_limit integer, p_lease integer) returns TABLE(project_id bigint, id bigint, kind text, payload jsonb, attempts integer) security definer: service_role
coord.take_run(p_classes integer[], p_runner text, p_lease integer) returns runs: the owner alone
coord.take_runs(p_owner text, p_slots jsonb, p_lease integer, p_grace integer) returns TABLE(job jsonb) security definer: service_role
coord.take_task(p_r runners, p_lease integer) returns runs: the owner alone
coord.task_classes(p_project bigint, p_tasks jsonb, OUT classes integer[], OUT made integer) returns record: service_role
coord.task_edges(p_project bigint, p_tasks jsonb) returns TABLE(n integer, on_n integer, on_id bigint, on_task uuid, open boolean): service_role
coord.task_json(p_w work_queue, p_full boolean) returns jsonb: service_role
coord.task_levels(p_n integer, p_from integer[], p_to integer[]) returns integer[]: service_role
coord.task_prompt(p_w work_queue) returns text: the owner alone
coord.task_state(p_w work_queue) returns text: service_role
coord.task_why(p_w work_queue, OUT why text, OUT waits_for jsonb) returns record: service_role
coord.tell_held(p_h holds, p_text text) returns text[]: the owner alone
coord.tell_parent(p_s sessions, p_r runs, p_failed boolean, p_text text) returns text[]: the owner alone
coord.tell_session(p_project bigint, p_ref bigint, p_text text, p_data jsonb) returns text[]: the owner alone
coord.texts(p_list jsonb) returns text[]: the owner alone
coord.tidy_demands(p_demands jsonb) returns jsonb: the owner alone
coord.tok_meet(p_a text, p_b text) returns boolean: service_role
coord.touch_sessions(p_projects bigint[], p_ids bigint[]) returns void security definer: service_role
coord.trace_of(p_kind text, p_id text) returns text security definer: service_role
coord.tree_of(p_session text) returns TABLE(session_id text, depth integer): the owner alone
coord.trust_event(p_t agent_trust, p_kind text, p_changeset uuid, p_weight double precision, p_bound double precision, p_by text, p_reason text) returns boolean: the owner alone
coord.trust_events_guard() returns trigger: the owner alone
coord.trust_level(p_project bigint, p_agent text, p_repository text) returns integer security definer: service_role
coord.trust_row(p_project bigint, p_agent text, p_repository text) returns agent_trust: the owner alone
coord.trust_wire(p_t agent_trust) returns jsonb: the owner alone
coord.truthy(p_value jsonb) returns jsonb: the owner alone
coord.ts(p_at timestamp with time zone) returns text: service_role
coord.turn_line(p_project bigint, p_repository text, p_line text, p_told text, OUT head text, OUT wake text[]) returns record: the owner alone
coord.unblock(p_project bigint, p_ids bigint[], p_now timestamp with time zone) returns text[]: service_role
coord.undo_locks(p_project bigint, p_session bigint, p_by text, p_token bigint) returns jsonb security definer: service_role
coord.union_texts(p_a text[], p_b text[]) returns text[]: service_role
coord.unready(p_project bigint, p_queue smallint, p_class integer, p_priority smallint, p_id bigint) returns void: service_role
coord.unsnooze(p_project bigint, p_by text, p_who text, p_item text) returns jsonb security definer: service_role
coord.unvote_from_forge(p_project bigint, p_repository text, p_head text, p_login text) returns jsonb security definer: service_role
coord.update_session(p_only bigint, p_by text, p_session text, p_in jsonb) returns jsonb security definer: service_role
coord.update_working(p_project bigint, p_session bigint, p_by text, p_item jsonb, p_changes jsonb) returns jsonb security definer: service_role
coord.usage_rows(p_project bigint, p_sid bigint, p_agent text, p_session text, p_reports jsonb, p_now timestamp with time zone) returns TABLE(key text, at timestamp with time zone, model text, agent_id text, session_id text, run_id text, task_id uuid, i bigint, o bigint, cr bigint, cw bigint, micros bigint, source text): the owner alone
coord.usage_sum(p_key text, p_i numeric, p_o numeric, p_cr numeric, p_cw numeric, p_micros numeric, p_n numeric, p_z numeric) returns jsonb: the owner alone
coord.usage_summary(p_project bigint, p_by text, p_filter jsonb, p_since timestamp with time zone, p_until timestamp with time zone, p_limit integer) returns jsonb security definer: service_role
coord.uuid7() returns uuid: service_role
coord.uuid7_many(p_n integer) returns uuid[]: the owner alone
coord.vector_schema() returns text: service_role
coord.verdict_findings(p_c changesets) returns jsonb: the owner alone
coord.verdict_of(p_c changesets) returns jsonb: the owner alone
coord.verdict_prompt(p_c changesets, p_task uuid) returns text: the owner alone
coord.verification_ended(p_project bigint, p_run uuid, p_out jsonb) returns jsonb security definer: service_role
coord.verification_started(p_project bigint, p_run uuid, p_external text, p_url text) returns jsonb security definer: service_role
coord.verification_status(p_project bigint, p_agent text, p_changeset uuid, p_head text, p_task uuid) returns jsonb security definer: service_role
coord.verify_lock(p_project bigint, p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_token bigint) returns jsonb security definer: service_role
coord.vote_approval(p_only bigint, p_by text, p_voter text, p_role text, p_id uuid, p_vote text, p_comment text, p_head text) returns jsonb security definer: service_role
coord.vote_from_forge(p_project bigint, p_repository text, p_head text, p_login text, p_permission text, p_teams text[], p_source text, p_vote text, p_comment text) returns jsonb security definer: service_role
coord.wake_held(p_project bigint) returns text[]: the owner alone
coord.why_again(p_c changesets, p_in jsonb, p_newer boolean) returns text: the owner alone
coord.why_not_ready(p_project bigint, p_task uuid, p_agent text) returns jsonb security definer: service_role
coord.why_run(p_only bigint, p_run text, p_stale integer) returns jsonb security definer: service_role
coord.wire_id(p_prefix text) returns text: the owner alone
coord.word_list(p_list jsonb) returns text[]: the owner alone
coord.work_claimer(p_session agent_sessions, p_types text[], p_tags text[]) returns jsonb: service_role
coord.work_classes(p_project bigint, p_session bigint, p_types text[], p_tags text[]) returns jsonb security definer: service_role
coord.work_counts(p_project bigint) returns jsonb: service_role
coord.work_session(p_project bigint, p_session bigint) returns agent_sessions: service_role
coord.work_sessions(p_project bigint, p_sessions bigint[], OUT agents text[], OUT implicit boolean[]) returns record: the owner alone
coord.work_stats(p_project bigint) returns jsonb security definer: service_role
coord.work_topic(p_project bigint) returns text: service_role
coord.working_session(p_project bigint, p_agent text, p_task uuid) returns text security definer: service_role
coord.write_handoff(p_project bigint, p_session bigint, p_by text, p_summary text, p_doc jsonb, p_to text) returns jsonb security definer: service_role
coord.wrong_report(p_r runs, p_runner text, p_kind text) returns void: the owner alone

-- triggers
CREATE TRIGGER audit_immutable BEFORE DELETE OR UPDATE ON coord.audit_log FOR EACH ROW EXECUTE FUNCTION coord.audit_guard()
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON coord.audit_log FOR EACH STATEMENT EXECUTE FUNCTION coord.audit_guard()
CREATE TRIGGER projects_policies AFTER INSERT ON public.projects FOR EACH ROW EXECUTE FUNCTION coord.seed_new_project()
CREATE TRIGGER trust_events_immutable BEFORE DELETE OR UPDATE ON public.trust_events FOR EACH ROW EXECUTE FUNCTION coord.trust_events_guard()
CREATE TRIGGER trust_events_no_truncate BEFORE TRUNCATE ON public.trust_events FOR EACH STATEMENT EXECUTE FUNCTION coord.trust_events_guard()
CREATE TRIGGER verification_results_waiver AFTER UPDATE OF status ON public.verification_results FOR EACH ROW WHEN (((new.status = 'completed'::text) AND (old.status <> 'completed'::text) AND (NOT new.required) AND (new.conclusion = ANY (ARRAY['failure'::text, 'timed_out'::text])))) EXECUTE FUNCTION coord.audit_waiver()

-- views
public.lock_list (security_invoker=true): project_id bigint, space bigint, token bigint, acquired_at timestamp with time zone, file_path text, locked_by text, agent_type text, session_id text, mode text, branch text, repository text, locked_at text, expires_at text, seconds_left integer, reason text, fencing_token text
public.session_list (security_invoker=true): project_id bigint, seq bigint, created timestamp with time zone, session_id text, status text, created_at text, project_dir text, agent_name text, last_resumed_at text, parent_session_id text, execution_mode text, executor_session_id text, executor_profile text, hostname text
public.work_list (security_invoker=true): project_id bigint, seq bigint, id uuid, task_id uuid, task_type text, description text, status text, state text, priority smallint, tags text[], labels text[], files text[], repository text, depends_on uuid[], agent_requirements jsonb, claimed_by text, claimed_at text, lease_expires_at text, attempt smallint, max_attempts smallint, progress jsonb, error_message text, run_at text, deadline text, submitted_by text, created_at text, updated_at text, completed_at text

-- publications
supabase_realtime: public.agent_sessions, public.approval_queue, public.changesets, public.file_locks, public.message_recipients, public.messages, public.runs, public.sessions, public.verification_results, public.work_queue

-- policies
coord.lock_wait_keys: lock_wait_keys_service for SELECT to service_role using (true) check ()
public.acts: acts_read for SELECT to authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.acts: acts_service for ALL to service_role using (true) check (true)
public.agent_blueprints: agent_blueprints_read for SELECT to authenticated using (true) check ()
public.agent_blueprints: agent_blueprints_service for ALL to service_role using (true) check (true)
public.agent_sessions: agent_sessions_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.agent_sessions: agent_sessions_service for ALL to service_role using (true) check (true)
public.agent_trust: agent_trust_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.agent_trust: agent_trust_service for ALL to service_role using (true) check (true)
public.agents: agents_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.agents: agents_service for ALL to service_role using (true) check (true)
public.approval_queue: approval_queue_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.approval_queue: approval_queue_service for ALL to service_role using (true) check (true)
public.approval_votes: approval_votes_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.approval_votes: approval_votes_service for ALL to service_role using (true) check (true)
public.budgets: budgets_read for SELECT to authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.budgets: budgets_service for ALL to service_role using (true) check (true)
public.capabilities: capabilities_read for SELECT to authenticated using (true) check ()
public.capabilities: capabilities_service for ALL to service_role using (true) check (true)
public.changeset_events: changeset_events_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.changeset_events: changeset_events_service for ALL to service_role using (true) check (true)
public.changeset_files: changeset_files_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.changeset_files: changeset_files_service for ALL to service_role using (true) check (true)
public.changesets: changesets_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.changesets: changesets_service for ALL to service_role using (true) check (true)
public.events: events_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.events: events_service for ALL to service_role using (true) check (true)
public.file_locks: file_locks_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.file_locks: file_locks_service for ALL to service_role using (true) check (true)
public.guardrail_rules: guardrail_rules_read for SELECT to authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.guardrail_rules: guardrail_rules_service for ALL to service_role using (true) check (true)
public.guardrail_violations: guardrail_violations_read for SELECT to authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.guardrail_violations: guardrail_violations_service for ALL to service_role using (true) check (true)
public.handoff_documents: handoff_documents_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.handoff_documents: handoff_documents_service for ALL to service_role using (true) check (true)
public.holds: holds_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.holds: holds_service for ALL to service_role using (true) check (true)
public.lock_violations: lock_violations_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.lock_violations: lock_violations_service for ALL to service_role using (true) check (true)
public.memory_episodic: memory_episodic_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.memory_episodic: memory_episodic_service for ALL to service_role using (true) check (true)
public.memory_procedural: memory_procedural_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.memory_procedural: memory_procedural_service for ALL to service_role using (true) check (true)
public.memory_working: memory_working_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.memory_working: memory_working_service for ALL to service_role using (true) check (true)
public.message_recipients: message_recipients_read for SELECT to authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.message_recipients: message_recipients_service for ALL to service_role using (true) check (true)
public.messages: messages_read for SELECT to authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.messages: messages_service for ALL to service_role using (true) check (true)
public.projects: projects_anon for SELECT to anon using (anon_read) check ()
public.projects: projects_member for SELECT to authenticated using ((name IN ( SELECT jsonb_array_elements_text(COALESCE(((( SELECT auth.jwt() AS jwt) -> 'app_metadata'::text) -> 'projects'::text), '[]'::jsonb)) AS jsonb_array_elements_text))) check ()
public.projects: projects_service for ALL to service_role using (true) check (true)
public.repositories: repositories_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.repositories: repositories_service for ALL to service_role using (true) check (true)
public.runners: runners_read for SELECT to authenticated using (((project_id IS NULL) OR (project_id IN ( SELECT projects.id
   FROM projects)))) check ()
public.runners: runners_service for ALL to service_role using (true) check (true)
public.runs: runs_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.runs: runs_service for ALL to service_role using (true) check (true)
public.sessions: sessions_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.sessions: sessions_service for ALL to service_role using (true) check (true)
public.trust_events: trust_events_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.trust_events: trust_events_service for ALL to service_role using (true) check (true)
public.usage_reports: usage_reports_read for SELECT to authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.usage_reports: usage_reports_service for ALL to service_role using (true) check (true)
public.verification_policies: verification_policies_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.verification_policies: verification_policies_service for ALL to service_role using (true) check (true)
public.verification_policy_versions: verification_policy_versions_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.verification_policy_versions: verification_policy_versions_service for ALL to service_role using (true) check (true)
public.verification_results: verification_results_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.verification_results: verification_results_service for ALL to service_role using (true) check (true)
public.work_queue: work_queue_read for SELECT to anon, authenticated using ((project_id IN ( SELECT projects.id
   FROM projects))) check ()
public.work_queue: work_queue_service for ALL to service_role using (true) check (true)

-- grants
acts: DELETE, INSERT, SELECT, UPDATE to service_role
acts: SELECT to authenticated
agent_blueprints: DELETE, INSERT, SELECT, UPDATE to service_role
agent_blueprints: SELECT to anon
agent_blueprints: SELECT to authenticated
agent_sessions: DELETE, INSERT, SELECT, UPDATE to service_role
agent_sessions: SELECT to anon
agent_sessions: SELECT to authenticated
agent_sessions_id_seq: USAGE to service_role
agent_trust: DELETE, INSERT, SELECT, UPDATE to service_role
agent_trust: SELECT to anon
agent_trust: SELECT to authenticated
agents: DELETE, INSERT, SELECT, UPDATE to service_role
agents: SELECT to anon
agents: SELECT to authenticated
approval_queue: DELETE, INSERT, SELECT, UPDATE to service_role
approval_queue: SELECT to anon
approval_queue: SELECT to authenticated
approval_votes: DELETE, INSERT, SELECT, UPDATE to service_role
approval_votes: SELECT to anon
approval_votes: SELECT to authenticated
budgets: DELETE, INSERT, SELECT, UPDATE to service_role
budgets: SELECT to authenticated
capabilities: DELETE, INSERT, SELECT, UPDATE to service_role
capabilities: SELECT to anon
capabilities: SELECT to authenticated
changeset_events: DELETE, INSERT, SELECT, UPDATE to service_role
changeset_events: SELECT to anon
changeset_events: SELECT to authenticated
changeset_events_id_seq: USAGE to service_role
changeset_files: DELETE, INSERT, SELECT, UPDATE to service_role
changeset_files: SELECT to anon
changeset_files: SELECT to authenticated
changesets: DELETE, INSERT, SELECT, UPDATE to service_role
changesets: SELECT to anon
changesets: SELECT to authenticated
changesets_seq_seq: USAGE to service_role
coord.memory_ids: USAGE to service_role
events: DELETE, INSERT, SELECT, UPDATE to service_role
events: SELECT to anon
events: SELECT to authenticated
events_id_seq: USAGE to service_role
file_locks: DELETE, INSERT, SELECT, UPDATE to service_role
file_locks: SELECT to anon
file_locks: SELECT to authenticated
guardrail_rules: DELETE, INSERT, SELECT, UPDATE to service_role
guardrail_rules: SELECT to authenticated
guardrail_violations: DELETE, INSERT, SELECT, UPDATE to service_role
guardrail_violations: SELECT to authenticated
guardrail_violations_id_seq: USAGE to service_role
handoff_documents: DELETE, INSERT, SELECT, UPDATE to service_role
handoff_documents: SELECT to anon
handoff_documents: SELECT to authenticated
holds: DELETE, INSERT, SELECT, UPDATE to service_role
holds: SELECT to anon
holds: SELECT to authenticated
lock_list: SELECT to anon
lock_list: SELECT to authenticated
lock_list: SELECT to service_role
lock_violations: DELETE, INSERT, SELECT, UPDATE to service_role
lock_violations: SELECT to anon
lock_violations: SELECT to authenticated
memory_episodic: DELETE, INSERT, SELECT, UPDATE to service_role
memory_episodic: SELECT to anon
memory_episodic: SELECT to authenticated
memory_procedural: DELETE, INSERT, SELECT, UPDATE to service_role
memory_procedural: SELECT to anon
memory_procedural: SELECT to authenticated
memory_working: DELETE, INSERT, SELECT, UPDATE to service_role
memory_working: SELECT to anon
memory_working: SELECT to authenticated
memory_working_id_seq: USAGE to service_role
message_recipients: DELETE, INSERT, SELECT, UPDATE to service_role
message_recipients: SELECT to authenticated
messages: DELETE, INSERT, SELECT, UPDATE to service_role
messages: SELECT to authenticated
projects: DELETE, INSERT, SELECT, UPDATE to service_role
projects: SELECT to anon
projects: SELECT to authenticated
projects_id_seq: USAGE to service_role
repositories: DELETE, INSERT, SELECT, UPDATE to service_role
repositories: SELECT to anon
repositories: SELECT to authenticated
repositories_id_seq: USAGE to service_role
runners: DELETE, INSERT, SELECT, UPDATE to service_role
runners: SELECT to anon
runners: SELECT to authenticated
runs: DELETE, INSERT, SELECT, UPDATE to service_role
runs: SELECT to anon
runs: SELECT to authenticated
runs_id_seq: USAGE to service_role
session_list: SELECT to anon
session_list: SELECT to authenticated
session_list: SELECT to service_role
sessions: DELETE, INSERT, SELECT, UPDATE to service_role
sessions: SELECT to anon
sessions: SELECT to authenticated
sessions_id_seq: USAGE to service_role
trust_events: DELETE, INSERT, SELECT, UPDATE to service_role
trust_events: SELECT to anon
trust_events: SELECT to authenticated
trust_events_id_seq: USAGE to service_role
usage_reports: DELETE, INSERT, SELECT, UPDATE to service_role
usage_reports: SELECT to authenticated
verification_policies: DELETE, INSERT, SELECT, UPDATE to service_role
verification_policies: SELECT to anon
verification_policies: SELECT to authenticated
verification_policy_versions: DELETE, INSERT, SELECT, UPDATE to service_role
verification_policy_versions: SELECT to anon
verification_policy_versions: SELECT to authenticated
verification_results: DELETE, INSERT, SELECT, UPDATE to service_role
verification_results: SELECT to anon
verification_results: SELECT to authenticated
work_list: SELECT to anon
work_list: SELECT to authenticated
work_list: SELECT to service_role
work_queue: DELETE, INSERT, SELECT, UPDATE to service_role
work_queue: SELECT to anon
work_queue: SELECT to authenticated
work_queue_id_seq: USAGE to service_role
