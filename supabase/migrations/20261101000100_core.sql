-- Core: the clock, projects and repositories, agents and their sessions, keys and persons, the audit
-- trail, idempotency. Everything later stands on these.
--
-- Schema public holds what a reader may see through the Data API (row level security decides).
-- Schema coord holds functions and private tables; it is never exposed, only service_role may use it.
-- Function conventions: p_ parameters, v_ locals, project first, one read of coord.now(); a lost race is
-- a result, an error is RAISE with errcode PTnnn (nnn = HTTP status), detail = JSON {code, why, field?},
-- hint = the next step. Replies are jsonb in the wire's own names; only functions take locks.
set local lock_timeout = '5s';

create schema coord;
revoke all on schema coord from public, anon, authenticated;
grant usage on schema coord to service_role;
alter default privileges in schema coord revoke execute on functions from public;

-- The one clock. Tests replace this function in their own databases; nothing else reads the time.
create function coord.now() returns timestamptz language sql volatile parallel safe
as $$ select pg_catalog.clock_timestamp() $$;

-- RFC 3339 in UTC with microseconds, as every reply prints it.
create function coord.ts(p_at timestamptz) returns text language sql stable parallel safe
as $$ select pg_catalog.to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') $$;

-- Raises a fault: p_status is the HTTP status, p_code the stable code of client.Code.
create function coord.fail(p_status int, p_code text, p_what text, p_why text, p_next text, p_field text default null)
returns void language plpgsql set search_path = '' as $$
begin
  raise exception using
    errcode = 'PT' || p_status::text,
    message = p_what,
    detail = pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('code', p_code, 'why', p_why, 'field', p_field))::text,
    hint = p_next;
end $$;

-- Time-ordered uuid, version 7 of RFC 9562: 48 bits of milliseconds, the rest random.
create function coord.uuid7() returns uuid language sql volatile parallel safe as $$
  select pg_catalog.encode(
    pg_catalog.set_bit(pg_catalog.set_bit(
      overlay(pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
        placing substring(pg_catalog.int8send((extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

------------------------------------------------------------------------------------------- projects
create table public.projects (
  id         bigint generated always as identity primary key,
  name       text not null unique check (name ~ '^[a-z0-9][a-z0-9._/-]{0,119}$'),
  anon_read  boolean not null default false,
  settings   jsonb not null default '{}',
  created_at timestamptz not null default coord.now()
);
comment on table public.projects is 'One namespace of locks, work and memory; usually one repository, sometimes several related ones.';

create table public.repositories (
  project_id  bigint not null references public.projects (id) on delete cascade,
  id          bigint generated always as identity,
  name        text not null,
  remote      text,
  root_commit text,
  created_at  timestamptz not null default coord.now(),
  primary key (project_id, id),
  unique (project_id, name)
);

-- Every spelling under which a repository was ever seen: 'remote:host/owner/name', 'root:<sha>'.
create table coord.repository_aliases (
  alias         text primary key,
  project_id    bigint not null,
  repository_id bigint not null,
  foreign key (project_id, repository_id) references public.repositories (project_id, id) on delete cascade
);
create index repository_aliases_repo on coord.repository_aliases (project_id, repository_id);

--------------------------------------------------------------------------------- agents and sessions
create table public.agents (
  project_id    bigint not null references public.projects (id) on delete cascade,
  agent_id      text not null check (length(agent_id) between 1 and 200),
  agent_type    text not null default 'unknown',
  capabilities  text[] not null default '{}',
  trust         smallint not null default 1 check (trust between 0 and 4),
  locks_expired bigint not null default 0,   -- leases it let lapse instead of releasing them
  created_at    timestamptz not null default coord.now(),
  last_seen_at  timestamptz not null default coord.now(),
  primary key (project_id, agent_id)
);

-- A session owns locks and claims. implicit = the one that calls without a session act in.
-- Only a session with heartbeat_at can lapse: a silent client's locks live to their TTL.
create table public.agent_sessions (
  project_id    bigint not null references public.projects (id) on delete cascade,
  id            bigint generated always as identity,
  session_id    text not null check (length(session_id) between 1 and 200),
  agent_id      text not null,
  agent_type    text not null default 'unknown',
  implicit      boolean not null default false,
  status        text not null default 'active' check (status in ('active', 'lapsed', 'ended')),
  capabilities  text[] not null default '{}',
  current_task  text,
  metadata      jsonb not null default '{}',
  lapse_seconds int not null default 120 check (lapse_seconds between 5 and 86400),
  started_at    timestamptz not null default coord.now(),
  last_seen_at  timestamptz not null default coord.now(),  -- last call, as processes report it every few seconds
  heartbeat_at  timestamptz,
  ended_at      timestamptz,
  end_reason    text,
  primary key (project_id, id),
  unique (project_id, agent_id, session_id)
);
create index agent_sessions_lapse on public.agent_sessions (project_id, heartbeat_at) where status = 'active' and heartbeat_at is not null;

------------------------------------------------------------------------------------ keys and persons
create table coord.persons (
  name       text primary key check (length(name) between 1 and 200),
  roles      text[] not null default '{}' check (roles <@ array['read','write','runner','reviewer','admin']),
  created_at timestamptz not null default coord.now()
);

-- Only the SHA-256 of a key is kept. project_id null = every project. A key may be bound to one agent
-- (acting as another is refused) or stand for a person.
create table coord.api_keys (
  id           bigint generated always as identity primary key,
  name         text not null unique check (length(name) between 1 and 200),
  hash         bytea not null unique check (length(hash) = 32),
  prefix       text not null,
  project_id   bigint references public.projects (id) on delete cascade,
  scopes       text[] not null check (scopes <@ array['read','write','runner','reviewer','admin'] and cardinality(scopes) > 0),
  agent_id     text,
  agent_type   text,
  person       text references coord.persons (name),
  created_at   timestamptz not null default coord.now(),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz
);
create index api_keys_project on coord.api_keys (project_id);
create index api_keys_person on coord.api_keys (person);

------------------------------------------------------------------------------------------ audit trail
-- One row per executed change or forbidden call, written in the change's own transaction.
create table coord.audit_log (
  project_id  bigint not null,
  id          bigint generated always as identity,
  at          timestamptz not null default coord.now(),
  principal   text,
  agent_id    text,
  agent_type  text,
  session_id  text,
  operation   text not null,
  object_ids  text[] not null default '{}',
  success     boolean not null,
  reason      text,
  parameters  jsonb,
  result      jsonb,
  duration_ms real,
  primary key (project_id, id)
);
create index audit_log_at on coord.audit_log (project_id, at);

-- Immutable but for coord.purge_audit. The check reads the call stack, so no setting can open it.
create function coord.audit_guard() returns trigger language plpgsql set search_path = '' as $$
declare v_stack text;
begin
  get diagnostics v_stack = pg_context;
  if tg_op = 'DELETE' and v_stack ~ 'function coord\.purge_audit\(' then return old; end if;
  perform coord.fail(403, 'forbidden', 'the audit trail cannot be changed', 'rows of coord.audit_log are append-only',
    'use the retention setting; it deletes by age only and records that it did');
  return null;
end $$;
create trigger audit_immutable before update or delete on coord.audit_log for each row execute function coord.audit_guard();
create trigger audit_no_truncate before truncate on coord.audit_log for each statement execute function coord.audit_guard();

-- Writes the one audit row of a call. p_session is the session's internal id (null: no agent acted).
create function coord.audit(p_project bigint, p_session bigint, p_by text, p_operation text, p_ids text[],
  p_success boolean default true, p_reason text default null, p_parameters jsonb default null, p_result jsonb default null)
returns void language plpgsql set search_path = '' as $$
begin
  insert into coord.audit_log (project_id, principal, agent_id, agent_type, session_id, operation, object_ids,
      success, reason, parameters, result, duration_ms)
  select p_project, p_by, s.agent_id, s.agent_type, s.session_id, p_operation, coalesce(p_ids, '{}'), p_success, p_reason,
      p_parameters, p_result,
      extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.statement_timestamp()) * 1000
  from (select 1) one left join public.agent_sessions s on s.project_id = p_project and s.id = p_session;
end $$;

-- Retention: removes rows older than p_days (at least 30), at most p_limit a call, and audits itself.
create function coord.purge_audit(p_project bigint, p_by text, p_days int, p_limit int default 10000)
returns bigint language plpgsql set search_path = '' as $$
declare v_n bigint;
begin
  if p_days is null or p_days < 30 then
    perform coord.fail(422, 'invalid', 'days must be at least 30', 'a shorter audit trail would be none', 'give 30 or more', 'days');
  end if;
  delete from coord.audit_log a where a.project_id = p_project and a.id in (
    select b.id from coord.audit_log b
    where b.project_id = p_project and b.at < coord.now() - make_interval(days => p_days) order by b.at limit p_limit);
  get diagnostics v_n = row_count;
  perform coord.audit(p_project, null, p_by, 'purge_audit', '{}', true, null,
    pg_catalog.jsonb_build_object('days', p_days), pg_catalog.jsonb_build_object('deleted', v_n));
  return v_n;
end $$;

------------------------------------------------------------------------------------------ idempotency
-- One remembered reply per (project, agent, operation, key) for 24 hours.
create table coord.idempotency (
  project_id bigint not null,
  agent_id   text not null,
  operation  text not null,
  key        text not null check (length(key) between 1 and 255),
  body_hash  bytea not null,
  reply      jsonb,
  created_at timestamptz not null default coord.now(),
  primary key (project_id, agent_id, operation, key)
);
create index idempotency_age on coord.idempotency (created_at);

-- Takes the key for this transaction: the first caller gets null and runs, a later one waits for the
-- first to end and gets its reply. Raises conflict when the same key comes with another body.
create function coord.once_begin(p_project bigint, p_agent text, p_operation text, p_key text, p_hash bytea)
returns jsonb language plpgsql set search_path = '' as $$
declare v_row coord.idempotency;
begin
  delete from coord.idempotency i where i.project_id = p_project and i.agent_id = p_agent and i.operation = p_operation
    and i.key = p_key and i.created_at < coord.now() - interval '24 hours';
  insert into coord.idempotency (project_id, agent_id, operation, key, body_hash)
    values (p_project, p_agent, p_operation, p_key, p_hash) on conflict do nothing;
  if found then return null; end if;
  select * into v_row from coord.idempotency i
    where i.project_id = p_project and i.agent_id = p_agent and i.operation = p_operation and i.key = p_key;
  if v_row.body_hash is distinct from p_hash then
    perform coord.fail(409, 'conflict', 'this request key was used before with another body',
      'a request key names one request for 24 hours', 'send a new key, or the same body', 'request_key');
  end if;
  return v_row.reply;
end $$;

create function coord.once_end(p_project bigint, p_agent text, p_operation text, p_key text, p_reply jsonb)
returns void language sql set search_path = '' as $$
  update coord.idempotency set reply = p_reply
  where project_id = p_project and agent_id = p_agent and operation = p_operation and key = p_key
$$;

---------------------------------------------------------------------------------- project resolution
-- Finds or creates a project by name. Names are lower-case slugs.
create function coord.ensure_project(p_name text) returns bigint language plpgsql security definer set search_path = '' as $$
declare v_id bigint;
begin
  select id into v_id from public.projects where name = p_name;
  if v_id is not null then return v_id; end if;
  if p_name !~ '^[a-z0-9][a-z0-9._/-]{0,119}$' then
    perform coord.fail(422, 'invalid', 'the project name is not a slug', 'names are a-z, 0-9, dot, dash, underscore and slash, at most 120 characters',
      'give a name such as my-team/my-repo', 'project');
  end if;
  insert into public.projects (name) values (p_name) on conflict (name) do nothing;
  select id into v_id from public.projects where name = p_name;
  return v_id;
end $$;

-- Maps what a checkout knows about itself to (project, repository), creating both on first sight.
-- p_remote is the normalised remote (host/owner/name) or null, p_root the root commit or null, p_project an
-- explicit project name or null. The remote names the repository; the root commit is an alias, and names it
-- where there is no remote. A repository first seen without a remote adopts the first remote seen with its root.
create function coord.resolve_repository(p_project text, p_remote text, p_root text, p_name text)
returns table (project_id bigint, project text, repository_id bigint, repository text)
language plpgsql security definer set search_path = '' as $$
declare v_project bigint; v_repo bigint; v_remote text := 'remote:' || p_remote; v_root text := 'root:' || p_root;
  v_slug text; v_name text := coalesce(nullif(p_name, ''), 'repository');
begin
  if p_project is not null then v_project := coord.ensure_project(p_project); end if;
  -- Two clones of a new repository arriving together must make one: serialise on the id.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('coord.repository:' || coalesce(p_root, v_remote, p_project, ''), 0));
  select a.project_id, a.repository_id into v_project, v_repo from coord.repository_aliases a
    where a.alias = v_remote and (v_project is null or a.project_id = v_project);
  if v_repo is null and p_root is not null then
    select a.project_id, a.repository_id into v_project, v_repo from coord.repository_aliases a
      join public.repositories r on r.project_id = a.project_id and r.id = a.repository_id
      where a.alias = v_root and (p_remote is null or r.remote is null)
        and (p_project is null or a.project_id = coord.ensure_project(p_project));
    if v_repo is not null and p_remote is not null then
      update public.repositories r set remote = p_remote where r.project_id = v_project and r.id = v_repo;
    end if;
  end if;
  if v_repo is null then
    if p_project is not null then
      v_project := coord.ensure_project(p_project);
    else
      v_slug := pg_catalog.lower(pg_catalog.regexp_replace(
        coalesce(p_remote, v_name || '-' || pg_catalog.left(coalesce(p_root, ''), 8)), '[^a-zA-Z0-9._/-]+', '-', 'g'));
      v_slug := pg_catalog.regexp_replace(pg_catalog.left(v_slug, 120), '^[^a-z0-9]+|-+$', '', 'g');
      v_project := coord.ensure_project(coalesce(nullif(v_slug, ''), 'default'));
    end if;
    insert into public.repositories as r (project_id, name, remote, root_commit) values (v_project, v_name, p_remote, p_root)
      on conflict on constraint repositories_project_id_name_key do update
        set remote = coalesce(r.remote, excluded.remote), root_commit = coalesce(r.root_commit, excluded.root_commit)
        where r.remote is not distinct from excluded.remote or r.remote is null
      returning r.id into v_repo;
    if v_repo is null then  -- the name is another repository's: take a longer one
      v_name := coalesce(p_remote, v_name || '-' || pg_catalog.left(coalesce(p_root, 'new'), 8));
      insert into public.repositories as r (project_id, name, remote, root_commit) values (v_project, v_name, p_remote, p_root)
        on conflict on constraint repositories_project_id_name_key do update set name = excluded.name returning r.id into v_repo;
    end if;
  end if;
  insert into coord.repository_aliases (alias, project_id, repository_id)
    select x, v_project, v_repo from pg_catalog.unnest(array[v_remote, v_root]) x where x is not null
    on conflict do nothing;
  return query select v_project, p.name, v_repo, r.name from public.projects p
    join public.repositories r on r.project_id = p.id and r.id = v_repo where p.id = v_project;
end $$;

--------------------------------------------------------------------------------- row level security
-- projects decides; every other readable table asks "is its project one I can see?".
alter table public.projects enable row level security;
alter table public.repositories enable row level security;
alter table public.agents enable row level security;
alter table public.agent_sessions enable row level security;
revoke all on public.projects, public.repositories, public.agents, public.agent_sessions from anon, authenticated;
grant select on public.projects, public.repositories, public.agents, public.agent_sessions to anon, authenticated;
grant select, insert, update, delete on public.projects, public.repositories, public.agents, public.agent_sessions to service_role;

create policy projects_anon on public.projects for select to anon using (anon_read);
create policy projects_member on public.projects for select to authenticated using (
  name in (select pg_catalog.jsonb_array_elements_text(coalesce((select auth.jwt()) -> 'app_metadata' -> 'projects', '[]'::jsonb))));
create policy repositories_read on public.repositories for select to anon, authenticated
  using (project_id in (select id from public.projects));
create policy agents_read on public.agents for select to anon, authenticated
  using (project_id in (select id from public.projects));
create policy agent_sessions_read on public.agent_sessions for select to anon, authenticated
  using (project_id in (select id from public.projects));
-- service_role bypasses row level security where the platform allows it; elsewhere these policies serve.
create policy projects_service on public.projects to service_role using (true) with check (true);
create policy repositories_service on public.repositories to service_role using (true) with check (true);
create policy agents_service on public.agents to service_role using (true) with check (true);
create policy agent_sessions_service on public.agent_sessions to service_role using (true) with check (true);

-- Private tables: no role of the Data API reaches them; row level security is on all the same.
alter table coord.repository_aliases enable row level security;
alter table coord.persons enable row level security;
alter table coord.api_keys enable row level security;
alter table coord.audit_log enable row level security;
alter table coord.idempotency enable row level security;

--------------------------------------------------------------------------------------------- sessions
-- Finds, opens or revives the session an agent acts in and returns its internal id. p_session null = the
-- agent's implicit session. Never refuses: a lapsed or ended session that calls again is alive again (what it
-- held was freed, which its notices say).
create function coord.open_session(p_project bigint, p_agent text, p_type text, p_session text)
returns bigint language plpgsql security definer set search_path = '' as $$
declare v_id bigint; v_name text := coalesce(p_session, 'agent:' || p_agent); v_status text; v_type text;
begin
  select s.id, s.status, s.agent_type into v_id, v_status, v_type from public.agent_sessions s
    where s.project_id = p_project and s.agent_id = p_agent and s.session_id = v_name;
  if v_id is not null and v_status = 'active' and (p_type is null or p_type = v_type) then return v_id; end if;
  insert into public.agents as a (project_id, agent_id, agent_type) values (p_project, p_agent, coalesce(p_type, 'unknown'))
    on conflict (project_id, agent_id) do update set last_seen_at = coord.now(),
      agent_type = case when p_type is null then a.agent_type else p_type end;
  insert into public.agent_sessions as s (project_id, session_id, agent_id, agent_type, implicit)
    values (p_project, v_name, p_agent, coalesce(p_type, 'unknown'), p_session is null)
    on conflict (project_id, agent_id, session_id) do update set status = 'active', ended_at = null, end_reason = null,
      last_seen_at = coord.now(),
      heartbeat_at = case when s.status = 'active' then s.heartbeat_at end,
      agent_type = case when p_type is null then s.agent_type else p_type end
    returning s.id into v_id;
  return v_id;
end $$;

-- Reads the session for a call that acts in it; raises PT440 (caught by the data layer, which opens the session
-- again and repeats the call once) when it lapsed or ended.
create function coord.session(p_project bigint, p_session bigint) returns public.agent_sessions
language plpgsql set search_path = '' as $$
declare v_s public.agent_sessions;
begin
  select * into v_s from public.agent_sessions s where s.project_id = p_project and s.id = p_session;
  if v_s.id is null or v_s.status <> 'active' then
    perform coord.fail(440, 'session_lapsed', 'this session is not active', 'it lapsed or was ended', 'call again; the session continues');
  end if;
  return v_s;
end $$;

------------------------------------------------------------------------------------------------ keys
-- The principal behind a key's hash; no row when it is unknown, revoked or expired. Marks the use at most once a
-- minute. A person's key holds the person's roles, and no more than the key's own scopes.
create function coord.authenticate(p_hash bytea)
returns table (name text, scopes text[], agent_id text, agent_type text, project_id bigint, person text)
language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  update coord.api_keys k set last_used_at = v_now
    where k.hash = p_hash and k.revoked_at is null and (k.last_used_at is null or k.last_used_at < v_now - interval '1 minute');
  return query
    select k.name,
      case when k.person is null then k.scopes
           else (select coalesce(array_agg(x), '{}') from pg_catalog.unnest(k.scopes) x where x = any (p.roles)) end,
      coalesce(k.agent_id, ''), coalesce(k.agent_type, ''), coalesce(k.project_id, 0), coalesce(k.person, '')
    from coord.api_keys k left join coord.persons p on p.name = k.person
    where k.hash = p_hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
end $$;

--------------------------------------------------------------------------------------------- notices
-- What a session must be told with its next reply: a lock lost, a message, a task ready. kind is one of
-- lock_lost, work_lost, message, task_ready, info.
create table coord.notices (
  project_id   bigint not null,
  id           bigint generated always as identity,
  session_id   bigint not null,
  kind         text not null,
  text         text not null,
  data         jsonb,
  created_at   timestamptz not null default coord.now(),
  delivered_at timestamptz,
  primary key (project_id, id)
);
create index notices_waiting on coord.notices (project_id, session_id, id) where delivered_at is null;
alter table coord.notices enable row level security;

create function coord.notice(p_project bigint, p_session bigint, p_kind text, p_text text, p_data jsonb default null)
returns void language sql set search_path = '' as $$
  insert into coord.notices (project_id, session_id, kind, text, data)
  values (p_project, p_session, p_kind, pg_catalog.left(p_text, 300), p_data)
$$;
