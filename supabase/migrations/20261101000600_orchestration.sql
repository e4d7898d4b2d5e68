-- Orchestrated sessions, their events and runs, the runners that execute them, blueprints of agents: the tables, how
-- each looks on the wire, and the log behind live views. Calls are in the files that follow.
--
-- These sessions (public.sessions, ids ses_…) are conversations that runners execute. public.agent_sessions are what
-- locks and tasks belong to; the two meet in the id: where a session ends, the agent session of that id is ended too.
-- Runners and blueprints belong to the installation, sessions and runs to a project. Wire ids are unique everywhere.
-- A run waits in coord.ready under project 0 and queue 2, since runners serve every project; its demand class holds the
-- run's project beside its demands.
--
-- Lock order: the session's row, then its runs, then what coord.close_session takes. A call locks one session; sweeps
-- that lock several skip those that others hold. A runner's row is locked before its runs, never after.
set local lock_timeout = '5s';

create table public.sessions (
  project_id          bigint   not null,
  id                  bigint   generated always as identity,
  session_id          text     not null unique check (length(session_id) between 1 and 200),
  status              text     not null default 'pending' check (status in ('pending', 'running', 'stopping', 'stopped', 'finished', 'failed')),
  project_dir         text,
  agent_name          text,
  last_resumed_at     text,                                          -- as it was reported
  parent_session_id   text,
  execution_mode      text     not null default 'sync' check (execution_mode in ('sync', 'async_poll', 'async_callback')),
  executor_session_id text,
  executor_profile    text,
  hostname            text,
  created_by          text     not null default 'unknown',
  created_at          timestamptz not null default coord.now(),
  updated_at          timestamptz not null default coord.now(),
  primary key (project_id, id)
);
create index sessions_newest on public.sessions (project_id, created_at desc, id desc);
create index sessions_parent on public.sessions (parent_session_id, created_at desc, id desc) where parent_session_id is not null;
create index sessions_status on public.sessions (project_id, status, created_at desc, id desc);
create index sessions_agent on public.sessions (project_id, agent_name, created_at desc, id desc) where agent_name is not null;

create table public.events (
  project_id  bigint not null,
  id          bigint generated always as identity,
  session_id  text   not null,
  event_type  text   not null check (length(event_type) between 1 and 200),
  "timestamp" text   not null,                                       -- the sender's clock, as sent
  tool_name   text,
  tool_input  jsonb,
  tool_output jsonb,
  error       text,
  exit_code   int,
  reason      text,
  role        text,
  content     jsonb,
  result_text text,
  result_data jsonb,
  at          timestamptz not null default coord.now(),
  primary key (project_id, id)
);
create index events_session on public.events (session_id, id);

create table public.runs (
  project_id        bigint   not null,
  id                bigint   generated always as identity,
  run_id            text     not null unique,
  type              text     not null check (type in ('start_session', 'resume_session')),
  session_id        text     not null,
  agent_name        text,
  prompt            text     not null,
  project_dir       text,
  parent_session_id text,
  execution_mode    text     not null default 'sync' check (execution_mode in ('sync', 'async_poll', 'async_callback')),
  demands           jsonb,
  status            text     not null default 'pending' check (status in ('pending', 'claimed', 'running', 'stopping', 'completed', 'failed', 'stopped')),
  runner_id         text,                                            -- who has it, or had it last
  error             text,
  signal            text,
  priority          smallint not null default 5 check (priority between 1 and 10),
  attempt           smallint not null default 0,
  max_attempts      smallint not null default 1 check (max_attempts between 1 and 20),
  lapses            smallint not null default 0,                     -- of its attempts, those that never began: the claim lapsed
  class_id          int,                                             -- its lane while it waits in coord.ready
  waits             text     check (waits in ('session', 'time')),    -- why a pending run is not in coord.ready
  run_at            timestamptz,                                     -- waits = time: until then
  lease_until       timestamptz,                                     -- claimed: started must arrive by then
  stop_sent_at      timestamptz,                                     -- when its runner was last told to stop it
  stopping_at       timestamptz,
  deadline          timestamptz,
  timeout_at        timestamptz,                                     -- pending: fails then unless a runner fits
  no_match_seconds  int      not null default 300,                   -- how long it may wait for one
  quiet             boolean  not null default false,                 -- its end is told to no parent: the tree was stopped
  task_id           uuid,                                            -- the task of the work queue that it executes
  task_open         boolean  not null default false,                 -- the task does not know its end yet
  created_by        text     not null default 'unknown',
  created_at        timestamptz not null default coord.now(),
  claimed_at        timestamptz,
  started_at        timestamptz,
  completed_at      timestamptz,
  primary key (project_id, id)
) with (fillfactor = 80);
create unique index runs_by_id on public.runs (id);
create index runs_session on public.runs (session_id, id);
create index runs_status on public.runs (project_id, status, id);
create index runs_runner on public.runs (runner_id, id) where runner_id is not null;
create index runs_tasks on public.runs (id) where task_open;
create index runs_held on public.runs (runner_id, id) where status in ('claimed', 'running', 'stopping');
create index runs_timeout on public.runs (timeout_at) where status = 'pending' and timeout_at is not null;
create index runs_delayed on public.runs (run_at) where status = 'pending' and waits = 'time';
create index runs_deadline on public.runs (deadline) where deadline is not null and completed_at is null;

create table public.runners (
  runner_id             text    primary key,
  hostname              text    not null,
  project_dir           text    not null,
  executor_profile      text    not null,
  executor              jsonb   not null default '{}',
  tags                  text[]  not null default '{}',
  require_matching_tags boolean not null default false,
  capacity              int     check (capacity between 1 and 10000),   -- runs at once; null: it does not say
  instance_id           text,                                        -- names the process, so that it may register again
  project_id            bigint,                                      -- of the key it registered with; null: serves every project
  registered_at         timestamptz not null default coord.now(),
  last_heartbeat        timestamptz not null default coord.now(),
  leaving               boolean not null default false               -- to be told at its next poll that it is deregistered
);

create table public.agent_blueprints (
  name          text   primary key check (name ~ '^[a-zA-Z0-9][a-zA-Z0-9_-]*$' and length(name) <= 60),
  description   text   not null,
  system_prompt text,
  mcp_servers   jsonb,
  skills        text[],
  tags          text[] not null default '{}',
  capabilities  text[] not null default '{}',
  demands       jsonb,
  status        text   not null default 'active' check (status in ('active', 'inactive')),
  created_at    timestamptz not null default coord.now(),
  modified_at   timestamptz not null default coord.now()
);

create table public.capabilities (
  name        text not null primary key check (name ~ '^[a-zA-Z0-9][a-zA-Z0-9_-]*$' and length(name) <= 60),
  description text not null,
  text        text,
  mcp_servers jsonb,
  created_at  timestamptz not null default coord.now(),
  modified_at timestamptz not null default coord.now()
);

-- Ends of children that their parents must hear of. One row an ended run (or session without a run), for ever: that
-- is what makes each be told once.
create table coord.callbacks (
  id                bigint generated always as identity primary key,
  source            text   not null unique,                          -- the run's id, or the session's where it had no run
  project_id        bigint not null,
  parent_session_id text   not null,
  child_session_id  text   not null,
  failed            boolean not null,
  text              text,
  created_at        timestamptz not null default coord.now(),
  delivered_at      timestamptz,
  delivered_run_id  text                                             -- null with delivered_at: the parent was gone
);
create index callbacks_open on coord.callbacks (parent_session_id, id) where delivered_at is null;

-- What live views are told. Rows come into live_inbox in their change's own transaction; whoever reads first gives them
-- consecutive numbers and moves them to live_log, under the lock of live_head. So the numbers rise in commit order.
create table coord.live_inbox (
  id         bigint generated always as identity primary key,
  project_id bigint,
  type       text   not null,
  session_id text,
  data       jsonb,
  event_id   bigint,
  at         timestamptz not null default coord.now()
);
create table coord.live_log (
  seq        bigint primary key,
  project_id bigint,
  type       text   not null,
  session_id text,
  data       jsonb,
  event_id   bigint,
  at         timestamptz not null
);
create index live_log_at on coord.live_log (at);
create table coord.live_head (one boolean primary key default true check (one), seq bigint not null);
insert into coord.live_head (seq) values (0);

-- An agent session of that name is looked up when a session ends.
create index agent_sessions_orchestrated on public.agent_sessions (session_id) where status = 'active';

do $$ declare v_table text; begin
  foreach v_table in array array['sessions', 'events', 'runs', 'runners', 'agent_blueprints', 'capabilities'] loop
    execute pg_catalog.format('alter table public.%I enable row level security', v_table);
    execute pg_catalog.format('revoke all on public.%I from anon, authenticated', v_table);
    execute pg_catalog.format('grant select on public.%I to anon, authenticated', v_table);
    execute pg_catalog.format('grant select, insert, update, delete on public.%I to service_role', v_table);
    execute pg_catalog.format('create policy %I on public.%I to service_role using (true) with check (true)', v_table || '_service', v_table);
  end loop;
  -- What belongs to a project is read by who sees the project; runners and blueprints by who is signed in.
  foreach v_table in array array['sessions', 'events', 'runs'] loop
    execute pg_catalog.format('create policy %I on public.%I for select to anon, authenticated using (project_id in (select id from public.projects))', v_table || '_read', v_table);
  end loop;
  foreach v_table in array array['runners', 'agent_blueprints', 'capabilities'] loop
    execute pg_catalog.format('create policy %I on public.%I for select to authenticated using (true)', v_table || '_read', v_table);
  end loop;
  foreach v_table in array array['callbacks', 'live_inbox', 'live_log', 'live_head'] loop
    execute pg_catalog.format('alter table coord.%I enable row level security', v_table);
  end loop;
end $$;

------------------------------------------------------------------------------------------ on the wire
-- ISO 8601 in UTC with microseconds and +00:00, as these routes print it.
create function coord.iso(p_at timestamptz) returns text language sql stable parallel safe
as $$ select pg_catalog.to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') $$;

create function coord.wire_id(p_prefix text) returns text language plpgsql volatile
as $$
begin
  return p_prefix || pg_catalog.left(pg_catalog.replace(pg_catalog.gen_random_uuid()::text, '-', ''), 12);
end $$;

create function coord.session_wire(p_s public.sessions) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('session_id', p_s.session_id, 'status', p_s.status, 'created_at', coord.iso(p_s.created_at),
    'project_dir', p_s.project_dir, 'agent_name', p_s.agent_name, 'last_resumed_at', p_s.last_resumed_at,
    'parent_session_id', p_s.parent_session_id, 'execution_mode', p_s.execution_mode, 'executor_session_id', p_s.executor_session_id,
    'executor_profile', p_s.executor_profile, 'hostname', p_s.hostname);
end $$;

create function coord.event_wire(p_e public.events) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('id', p_e.id, 'session_id', p_e.session_id, 'event_type', p_e.event_type, 'timestamp', p_e."timestamp",
    'tool_name', p_e.tool_name, 'tool_input', p_e.tool_input, 'tool_output', p_e.tool_output, 'error', p_e.error, 'exit_code', p_e.exit_code,
    'reason', p_e.reason, 'role', p_e.role, 'content', p_e.content)
    || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('result_text', p_e.result_text, 'result_data', p_e.result_data));
end $$;

create function coord.run_wire(p_r public.runs) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('run_id', p_r.run_id, 'type', p_r.type, 'session_id', p_r.session_id, 'agent_name', p_r.agent_name,
    'prompt', p_r.prompt, 'project_dir', p_r.project_dir, 'parent_session_id', p_r.parent_session_id, 'execution_mode', p_r.execution_mode,
    'demands', p_r.demands, 'status', p_r.status, 'runner_id', p_r.runner_id, 'error', p_r.error, 'created_at', coord.iso(p_r.created_at),
    'claimed_at', coord.iso(p_r.claimed_at), 'started_at', coord.iso(p_r.started_at), 'completed_at', coord.iso(p_r.completed_at),
    'timeout_at', coord.iso(p_r.timeout_at), 'priority', p_r.priority, 'attempt', p_r.attempt, 'max_attempts', p_r.max_attempts,
    'deadline', coord.iso(p_r.deadline), 'project', (select p.name from public.projects p where p.id = p_r.project_id), 'task_id', p_r.task_id);
end $$;

create function coord.runner_wire(p_r public.runners, p_now timestamptz, p_stale int) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('runner_id', p_r.runner_id, 'registered_at', coord.iso(p_r.registered_at),
    'last_heartbeat', coord.iso(p_r.last_heartbeat), 'hostname', p_r.hostname, 'project_dir', p_r.project_dir,
    'executor_profile', p_r.executor_profile, 'executor', p_r.executor, 'tags', p_r.tags, 'require_matching_tags', p_r.require_matching_tags, 'capacity', p_r.capacity,
    'status', case when p_r.last_heartbeat > p_now - pg_catalog.make_interval(secs => p_stale) then 'online' else 'stale' end,
    'seconds_since_heartbeat', pg_catalog.round(greatest(extract(epoch from p_now - p_r.last_heartbeat), 0), 3));
end $$;

---------------------------------------------------------------------------------------- the live log
-- Notes a change for live views. p_data is the frame's content without its type; an event names its row instead.
create function coord.emit(p_project bigint, p_type text, p_session text, p_data jsonb, p_event bigint default null)
returns void language plpgsql set search_path = '' as $$
begin
  insert into coord.live_inbox (project_id, type, session_id, data, event_id) values (p_project, p_type, p_session, p_data, p_event);
end $$;

-- The dispatch topic of "the live log has news".
create function coord.live_topic() returns text language sql immutable parallel safe as $$ select 'r:live' $$;

-- Numbers what came in and returns up to p_limit rows after p_after, with the newest number (head) and the oldest row
-- that is still kept. p_after null: only head and oldest.
create function coord.live_after(p_after bigint, p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_head bigint; v_n bigint; v_rows jsonb;
begin
  if exists (select from coord.live_inbox) then
    select h.seq into v_head from coord.live_head h for update;
    with taken as (delete from coord.live_inbox i where i.id in (select x.id from coord.live_inbox x order by x.id limit 5000) returning i.*)
    insert into coord.live_log (seq, project_id, type, session_id, data, event_id, at)
      select v_head + row_number() over (order by t.id), t.project_id, t.type, t.session_id, t.data, t.event_id, t.at from taken t;
    get diagnostics v_n = row_count;
    update coord.live_head set seq = v_head + v_n;
  end if;
  select h.seq into v_head from coord.live_head h;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('seq', l.seq, 'project_id', l.project_id, 'type', l.type, 'session_id', l.session_id,
      'at', (extract(epoch from l.at) * 1000)::bigint,
      'data', case when l.event_id is null then l.data else pg_catalog.jsonb_build_object('data', coord.event_wire(e) - 'id') end) order by l.seq)
    into v_rows
    from (select * from coord.live_log x where x.seq > p_after order by x.seq limit p_limit) l
    left join public.events e on e.project_id = l.project_id and e.id = l.event_id
    where l.event_id is null or e.id is not null;
  return pg_catalog.jsonb_build_object('head', v_head, 'oldest', coalesce((select pg_catalog.min(l.seq) from coord.live_log l), v_head + 1),
    'last', coalesce((select pg_catalog.max(x.seq) from (select l.seq from coord.live_log l where l.seq > p_after order by l.seq limit p_limit) x), p_after),
    'rows', coalesce(v_rows, '[]'));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.live_after(bigint, int) to service_role;
