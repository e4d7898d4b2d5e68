-- The verification gateway's tables: what came in (webhook_deliveries), the changes (changesets, changeset_files), what
-- verified them (verification_results), what people say (approval_queue, approval_votes), and what is to be told outside
-- (coord.gateway_outbox). Policies, trust and feedback have files of their own.
--
-- A changeset is one head commit of one repository: unique by (project, repository, head_sha). Its runs and approvals
-- carry that head_sha themselves, so that what `passed` rests on can be checked row by row.
-- Lock order: advisory lock of the line (repository and branch), then the changeset's row, then its runs, its approvals,
-- the outbox. Nothing that locks a run or an approval first may lock a changeset later.
set local lock_timeout = '5s';

-- Every delivery, stored before it is acknowledged. Of the installation: the project is known only once it is read.
-- source: github; agents' submissions become changesets at once and need no inbox.
create table coord.webhook_deliveries (
  source          text        not null,
  delivery_id     text        not null check (length(delivery_id) between 1 and 200),
  id              bigint      generated always as identity unique,   -- order of arrival
  event           text        not null,
  action          text,
  received_at     timestamptz not null default coord.now(),
  body            bytea       not null,
  body_sha256     bytea       not null check (length(body_sha256) = 32),
  headers         jsonb       not null default '{}',
  state           text        not null default 'received' check (state in ('received', 'processed', 'ignored', 'failed', 'dead')),
  attempts        int         not null default 0,
  next_attempt_at timestamptz not null default coord.now(),          -- also the lease of the worker that has it
  error           text,                                              -- why it failed, or was ignored
  result          jsonb,                                             -- what it did: {"changeset_id"} and the like
  done_at         timestamptz,
  primary key (source, delivery_id)
) with (fillfactor = 80);
create index webhook_deliveries_due on coord.webhook_deliveries (next_attempt_at, id) where state in ('received', 'failed');
create index webhook_deliveries_age on coord.webhook_deliveries (received_at);

create table public.changesets (
  project_id      bigint      not null,
  id              uuid        not null default coord.uuid7() unique,
  seq             bigint      generated always as identity,          -- order of arrival
  source          text        not null check (source in ('github', 'agent', 'merge_group')),
  repository      text        not null check (length(repository) between 1 and 500),   -- normalised remote, or its name
  clone_url       text,                                              -- where git can fetch it; never with credentials
  pr_number       int,
  branch          text        not null default '',
  default_branch  text,
  line            text        not null,                              -- what a newer head supersedes: branch, pr/<n> of forks
  ref             text,                                              -- fetchable name of the head when its sha is not
  base_ref        text,
  base_sha        text,
  bases           text[]      not null default '{}',                 -- every base it was routed against
  head_sha        text        not null check (head_sha ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
  agent_id        text,
  agent_type      text,
  agent_verified  boolean     not null default false,                -- agent_id is that of a key, not of a branch's name
  actor_login     text,                                              -- who pushed or opened it, as the source says
  contributors    text[]      not null default '{}',                 -- logins that may not approve it
  session_id      text,                                              -- external id of the agent's session
  task_id         uuid,
  is_fork         boolean     not null default false,
  draft           boolean     not null default false,                -- stays unpassed until it is ready for review
  provenance      text        not null default 'git' check (provenance in ('api', 'git', 'agent_claimed')),
  claimed_files   text[]      not null default '{}',                 -- hints of the agent: they can raise a tier only
  files_truncated boolean     not null default false,
  file_count      int         not null default 0,
  additions       bigint      not null default 0,
  deletions       bigint      not null default 0,
  title           text,
  metadata        jsonb       not null default '{}',
  state           text        not null default 'received' check (state in
    ('received', 'routing', 'verifying', 'awaiting_approval', 'passed', 'failed', 'error', 'superseded', 'cancelled')),
  verdict         text        check (verdict in ('passed', 'failed', 'error')),        -- set with the state of that name
  verdict_reason  text,                                              -- also says what a live one waits for
  override        jsonb,                                             -- {by, reason, at}: a person set the verdict
  superseded_by   uuid,
  route_version   int         not null default 0,                    -- counts routings; only runs of the newest count
  decision        jsonb,                                             -- the routing as it was decided: tiers, plan, waived, reasons
  trust_level     smallint    check (trust_level between 0 and 4),
  prior_failures  int         not null default 0,
  lock_violations jsonb       not null default '[]',
  route_attempts  int         not null default 0,
  next_route_at   timestamptz not null default coord.now(),          -- also the lease of the router that has it
  blocked_since   timestamptz,                                       -- a required run can run nowhere; becomes error in time
  created_at      timestamptz not null default coord.now(),
  updated_at      timestamptz not null default coord.now(),
  routed_at       timestamptz,
  decided_at      timestamptz,
  primary key (project_id, id),
  unique (project_id, repository, head_sha)
) with (fillfactor = 80);
create index changesets_line on public.changesets (project_id, repository, line, seq);
create index changesets_newest on public.changesets (project_id, seq);
create index changesets_to_route on public.changesets (next_route_at) where state in ('received', 'routing');
create index changesets_open on public.changesets (updated_at) where state in ('verifying', 'awaiting_approval');
create index changesets_task on public.changesets (project_id, task_id) where task_id is not null;
create index changesets_agent on public.changesets (project_id, agent_id, seq) where agent_id is not null;

create table public.changeset_files (
  project_id   bigint not null,
  changeset_id uuid   not null,
  path         text   not null collate "C",
  prev_path    text,
  status       text   not null,
  additions    int    not null default 0,
  deletions    int    not null default 0,
  mode         text,
  primary key (project_id, changeset_id, path)
);
create index changeset_files_path on public.changeset_files (project_id, path);

-- One attempt at one policy. Its id is the correlation id outside. rank(status) only grows: see coord.run_rank.
create table public.verification_results (
  project_id       bigint      not null,
  id               uuid        not null default coord.uuid7() unique,
  changeset_id     uuid        not null,
  head_sha         text        not null,
  route_version    int         not null,
  policy_id        text,
  policy_name      text        not null,
  policy           jsonb       not null,                             -- as it was when it was routed
  tier             smallint    not null check (tier between 0 and 4),
  executor         text        not null default '',                  -- '': blocked, nothing can run it
  required         boolean     not null,
  attempt          int         not null default 1,
  infra_retries    int         not null default 0,                   -- how many attempts before it ended in infra_error
  test_retries     int         not null default 0,                   -- how many before it were repeated after a failure
  status           text        not null default 'pending' check (status in ('pending', 'queued', 'dispatching', 'running', 'completed')),
  conclusion       text        check (conclusion in ('success', 'failure', 'timed_out', 'cancelled', 'infra_error', 'blocked')),
  success          boolean     generated always as (conclusion is not null and conclusion = 'success') stored,
  flaky            boolean     not null default false,               -- passed after the same commit had failed
  reason           text,
  external_id      text,
  external_url     text,
  lease_owner      text,
  lease_until      timestamptz,
  next_check_at    timestamptz,
  not_before       timestamptz,                                      -- queued: backoff of a retry
  deadline         timestamptz,
  cancel_due       boolean     not null default false,               -- ended here, still to be ended where it runs
  cancel_attempts  int         not null default 0,
  created_at       timestamptz not null default coord.now(),
  queued_at        timestamptz,
  dispatched_at    timestamptz,
  started_at       timestamptz,
  completed_at     timestamptz,
  duration_seconds real,
  exit_code        int,
  output           text        check (length(output) <= 65536),
  output_ref       text,
  findings         jsonb       not null default '[]',
  findings_total   int         not null default 0,                   -- before they were capped
  primary key (project_id, id),
  unique (project_id, changeset_id, policy_name, attempt),
  check ((status = 'completed') = (conclusion is not null))
) with (fillfactor = 70);
create index verification_results_queued on public.verification_results (executor, queued_at) where status = 'queued';
create index verification_results_live on public.verification_results (next_check_at) where status in ('dispatching', 'running');
create index verification_results_cancel on public.verification_results (next_check_at) where cancel_due;
create index verification_results_policy on public.verification_results (project_id, policy_name, completed_at);

-- What people must say about a head. waiting: not asked yet, cheap verification goes first.
create table public.approval_queue (
  project_id     bigint      not null,
  id             uuid        not null default coord.uuid7() unique,
  changeset_id   uuid        not null,
  head_sha       text        not null,
  route_version  int         not null,
  policy_name    text        not null,
  reason         text        not null default '',
  required_count int         not null default 1 check (required_count between 1 and 20),
  roles          text[]      not null default '{}',
  users          text[]      not null default '{}',
  teams          text[]      not null default '{}',
  requested_by   text,
  status         text        not null default 'waiting' check (status in ('waiting', 'pending', 'approved', 'denied', 'expired', 'voided')),
  created_at     timestamptz not null default coord.now(),
  opened_at      timestamptz,
  expires_at     timestamptz,
  decided_at     timestamptz,
  decided_by     text,
  primary key (project_id, id),
  unique (project_id, changeset_id, policy_name)
);
create index approval_queue_expiry on public.approval_queue (expires_at) where status = 'pending';
create index approval_queue_newest on public.approval_queue (project_id, status, created_at);

create table public.approval_votes (
  project_id  bigint      not null,
  approval_id uuid        not null,
  voter       text        not null,                                  -- person's name, or login of the forge
  head_sha    text        not null,
  role        text,
  source      text        not null check (source in ('github_review', 'github_comment', 'api')),
  vote        text        not null check (vote in ('approve', 'deny')),
  comment     text,
  at          timestamptz not null default coord.now(),
  primary key (project_id, approval_id, voter)
);

-- Moves of a branch or pull request from one head to the next, as the source told them: what decides which of two
-- heads is the newer one when events come late or twice.
create table coord.line_moves (
  project_id bigint not null,
  repository text   not null,
  line       text   not null,
  before_sha text   not null,
  after_sha  text   not null,
  at         timestamptz,                                            -- the source's clock
  primary key (project_id, repository, line, before_sha, after_sha)
);

create table coord.line_heads (
  project_id bigint not null,
  repository text   not null,
  line       text   not null,
  head_sha   text   not null,                                        -- 40 zeros: it was deleted
  at         timestamptz,
  primary key (project_id, repository, line)
);

create index line_heads_of on coord.line_heads (project_id, repository, head_sha);

-- What happened to a changeset, in order, for people.
create table public.changeset_events (
  project_id   bigint      not null,
  id           bigint      generated always as identity,
  changeset_id uuid        not null,
  at           timestamptz not null default coord.now(),
  kind         text        not null,                                 -- received, routed, run, verdict, approval, command, …
  text         text        not null,
  data         jsonb,
  primary key (project_id, id)
);
create index changeset_events_of on public.changeset_events (project_id, changeset_id, id);

-- What is to be told outside: kind status (the forge), notify (people). Rows of one target leave in order of id.
create table coord.gateway_outbox (
  project_id      bigint      not null,
  id              bigint      generated always as identity,
  kind            text        not null check (kind in ('status', 'notify')),
  dedupe_key      text        not null,
  target          text        not null,                              -- what the order is kept for
  payload         jsonb       not null,
  attempts        int         not null default 0,
  next_attempt_at timestamptz not null default coord.now(),          -- also the lease of the sender that has it
  leased          boolean     not null default false,
  error           text,
  outcome         text        check (outcome in ('sent', 'skipped', 'replaced', 'dead')),
  created_at      timestamptz not null default coord.now(),
  done_at         timestamptz,
  primary key (project_id, id),
  unique (project_id, kind, dedupe_key)
);
create index gateway_outbox_due on coord.gateway_outbox (next_attempt_at, id) where done_at is null;
create index gateway_outbox_target on coord.gateway_outbox (project_id, kind, target, id) where done_at is null;

do $$ declare v_table text; begin
  foreach v_table in array array['changesets', 'changeset_files', 'verification_results', 'approval_queue', 'approval_votes', 'changeset_events'] loop
    execute pg_catalog.format('alter table public.%I enable row level security', v_table);
    execute pg_catalog.format('revoke all on public.%I from anon, authenticated', v_table);
    execute pg_catalog.format('grant select on public.%I to anon, authenticated', v_table);
    execute pg_catalog.format('grant select, insert, update, delete on public.%I to service_role', v_table);
    execute pg_catalog.format('create policy %I on public.%I for select to anon, authenticated using (project_id in (select id from public.projects))', v_table || '_read', v_table);
    execute pg_catalog.format('create policy %I on public.%I to service_role using (true) with check (true)', v_table || '_service', v_table);
  end loop;
  foreach v_table in array array['webhook_deliveries', 'line_moves', 'line_heads', 'gateway_outbox'] loop
    execute pg_catalog.format('alter table coord.%I enable row level security', v_table);
  end loop;
end $$;

-- How far a run has come. It only grows within one attempt.
create function coord.run_rank(p_status text) returns int language sql immutable parallel safe as $$
  select case p_status when 'pending' then 0 when 'queued' then 1 when 'dispatching' then 2 when 'running' then 3 when 'completed' then 5 end
$$;

create function coord.changeset_final(p_state text) returns boolean language sql immutable parallel safe as $$
  select p_state in ('passed', 'failed', 'error', 'superseded', 'cancelled')
$$;

-- A line of the changeset's timeline.
create function coord.changeset_note(p_project bigint, p_id uuid, p_kind text, p_text text, p_data jsonb default null)
returns void language sql set search_path = '' as $$
  insert into public.changeset_events (project_id, changeset_id, kind, text, data)
  values (p_project, p_id, p_kind, pg_catalog.left(p_text, 1000), p_data)
$$;

revoke execute on all functions in schema coord from public;
