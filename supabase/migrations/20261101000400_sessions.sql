-- Sessions: register, heartbeat, end, lapse, discovery. A session that ends or lapses gives back what it held, its
-- locks and its tasks, in one transaction; other sessions of the same agent are never touched.
-- Lock order: the session's row, then what coord.free_locks takes, then what coord.free_work takes.
set local lock_timeout = '5s';

-- Describes the session a caller acts in. Null leaves a member as it is, an empty p_task clears the task.
-- Raises invalid when the metadata is larger than 8 KB.
create function coord.register_session(p_project bigint, p_session bigint, p_by text, p_capabilities text[], p_task text,
  p_lapse_seconds int, p_metadata jsonb, p_delegated_from text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_now timestamptz := coord.now(); v_meta jsonb;
begin
  v_s := coord.session(p_project, p_session);
  v_meta := v_s.metadata || coalesce(p_metadata, '{}')
    || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('delegated_from', p_delegated_from));
  if pg_catalog.octet_length(v_meta::text) > 8192 then
    perform coord.fail(422, 'invalid', 'the metadata is larger than 8192 bytes', 'a session row is read by everybody who looks around',
      'keep large things in a handoff', 'metadata');
  end if;
  update public.agent_sessions s set capabilities = coalesce(p_capabilities, s.capabilities), metadata = v_meta,
      current_task = nullif(coalesce(p_task, s.current_task), ''), lapse_seconds = coalesce(p_lapse_seconds, s.lapse_seconds),
      last_seen_at = v_now
    where s.project_id = p_project and s.id = p_session and s.status = 'active' returning * into v_s;
  if v_s.id is null then perform coord.session(p_project, p_session); end if;
  update public.agents a set capabilities = v_s.capabilities, last_seen_at = v_now
    where a.project_id = p_project and a.agent_id = v_s.agent_id;
  perform coord.audit(p_project, p_session, p_by, 'register_session', array[v_s.session_id], true, null,
    pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('capabilities', p_capabilities, 'current_task', p_task, 'delegated_from', p_delegated_from)));
  return pg_catalog.jsonb_build_object('success', true, 'session_id', v_s.session_id, 'agent_id', v_s.agent_id,
    'status', 'active', 'lapse_seconds', v_s.lapse_seconds);
end $$;

-- A sign of life. The first one starts the lapse clock: from then on the session lapses when it is silent for
-- lapse_seconds. Not audited.
create function coord.heartbeat_session(p_project bigint, p_session bigint, p_task text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_now timestamptz := coord.now();
begin
  update public.agent_sessions s set heartbeat_at = v_now, last_seen_at = v_now,
      current_task = case when p_task is null then s.current_task else nullif(p_task, '') end
    where s.project_id = p_project and s.id = p_session and s.status = 'active' returning * into v_s;
  if v_s.id is null then perform coord.session(p_project, p_session); end if;
  return pg_catalog.jsonb_build_object('success', true, 'session_id', v_s.session_id, 'status', 'active',
    'lapse_seconds', v_s.lapse_seconds, 'lapses_at', coord.ts(v_now + pg_catalog.make_interval(secs => v_s.lapse_seconds)));
end $$;

-- Reports calls seen by a process since its last report: sessions p_ids[i] of projects p_projects[i].
create function coord.touch_sessions(p_projects bigint[], p_ids bigint[])
returns void language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  with due as (
    select s.project_id, s.id, s.agent_id from public.agent_sessions s
    join (select * from unnest(p_projects, p_ids) as u (project_id, id)) u using (project_id, id)
    where s.status = 'active' and s.last_seen_at < v_now - interval '2 seconds'
    order by s.project_id, s.id for update of s skip locked),
  touched as (
    update public.agent_sessions s set last_seen_at = v_now from due where s.project_id = due.project_id and s.id = due.id
    returning due.project_id, due.agent_id),
  owners as (
    select a.project_id, a.agent_id from public.agents a
    where (a.project_id, a.agent_id) in (select t.project_id, t.agent_id from touched t)
    order by a.project_id, a.agent_id for update skip locked)
  update public.agents a set last_seen_at = v_now from owners o where a.project_id = o.project_id and a.agent_id = o.agent_id;
end $$;

-- Closes a session whose row the caller has locked: p_status 'ended' or 'lapsed'. Frees what it held; a lapsed one finds
-- notices of that, in case it calls again.
create function coord.close_session(p_project bigint, p_session bigint, p_status text, p_reason text)
returns jsonb language plpgsql set search_path = '' as $$
declare v_locks jsonb; v_work jsonb;
begin
  update public.agent_sessions s set status = p_status, ended_at = coord.now(), end_reason = p_reason, current_task = null
    where s.project_id = p_project and s.id = p_session;
  v_locks := coord.free_locks(p_project, p_session, p_reason);
  v_work := coord.free_work(p_project, p_session, p_reason);
  return pg_catalog.jsonb_build_object('locks_released', coalesce((v_locks ->> 'released')::int, 0), 'file_paths', coalesce(v_locks -> 'file_paths', '[]'),
    'tasks_requeued', coalesce((v_work ->> 'requeued')::int, 0), 'tasks_dead', coalesce((v_work ->> 'dead')::int, 0),
    'wake', coalesce(v_locks -> 'wake', '[]') || coalesce(v_work -> 'wake', '[]') || pg_catalog.jsonb_build_array('n:' || p_project || ':' || p_session));
end $$;

-- Ends the agent's session of that name (null: its implicit one). A session that is unknown or already closed is a
-- result, not an error. One transaction: status, locks, tasks, audit row.
create function coord.end_session(p_project bigint, p_agent text, p_name text, p_by text, p_reason text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_out jsonb;
begin
  select * into v_s from public.agent_sessions s where s.project_id = p_project and s.agent_id = p_agent
    and s.session_id = coalesce(p_name, 'agent:' || p_agent) for update;
  if v_s.id is null then
    return pg_catalog.jsonb_build_object('success', false, 'reason', 'session_not_found', 'session_id', coalesce(p_name, 'agent:' || p_agent),
      'locks_released', 0, 'tasks_requeued', 0);
  end if;
  if v_s.status <> 'active' then
    return pg_catalog.jsonb_build_object('success', true, 'session_id', v_s.session_id, 'already', v_s.status,
      'locks_released', 0, 'tasks_requeued', 0);
  end if;
  v_out := coord.close_session(p_project, v_s.id, 'ended', coalesce(nullif(p_reason, ''), 'session_ended'));
  perform coord.audit(p_project, v_s.id, p_by, 'end_session', array[v_s.session_id], true, null,
    pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('reason', p_reason)), v_out - 'wake');
  return v_out || pg_catalog.jsonb_build_object('success', true, 'session_id', v_s.session_id);
end $$;

-- Lapses at most p_limit sessions that began to heartbeat and were not heard for their lapse_seconds. Each gets its
-- own audit row. Rows that another sweep holds are skipped; a session revived meanwhile is left alone.
create function coord.sweep_sessions(p_limit int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_now timestamptz := coord.now(); v_n int := 0; v_one jsonb;
  v_wake jsonb := '[]'; v_locks int := 0; v_tasks int := 0;
begin
  for v_s in
    select * from public.agent_sessions s where s.status = 'active' and s.heartbeat_at is not null
      and greatest(s.heartbeat_at, s.last_seen_at) < v_now - pg_catalog.make_interval(secs => s.lapse_seconds)
    order by s.project_id, s.id limit p_limit for update skip locked
  loop
    v_one := coord.close_session(v_s.project_id, v_s.id, 'lapsed', 'heartbeat_lapsed');
    perform coord.audit(v_s.project_id, v_s.id, 'system', 'lapse_session', array[v_s.session_id], true, 'heartbeat_lapsed',
      pg_catalog.jsonb_build_object('last_heartbeat', coord.ts(v_s.heartbeat_at)), v_one - 'wake');
    v_n := v_n + 1;
    v_locks := v_locks + (v_one ->> 'locks_released')::int;
    v_tasks := v_tasks + (v_one ->> 'tasks_requeued')::int;
    v_wake := v_wake || (v_one -> 'wake');
  end loop;
  return pg_catalog.jsonb_build_object('lapsed', v_n, 'locks_released', v_locks, 'tasks_requeued', v_tasks, 'wake', v_wake);
end $$;

-- An administrator's clean-up of one project: lapses sessions whose last heartbeat is older than p_stale_minutes and,
-- when p_idle_minutes is given, sessions that never sent one and were not heard for that long. At most 1000 a call.
create function coord.cleanup_sessions(p_project bigint, p_by text, p_stale_minutes int, p_idle_minutes int, p_dry_run boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_now timestamptz := coord.now(); v_names text[] := '{}'; v_one jsonb;
  v_wake jsonb := '[]'; v_locks int := 0; v_tasks int := 0;
begin
  for v_s in
    select * from public.agent_sessions s where s.project_id = p_project and s.status = 'active' and
      case when s.heartbeat_at is not null
           then greatest(s.heartbeat_at, s.last_seen_at) < v_now - pg_catalog.make_interval(mins => p_stale_minutes)
           else s.last_seen_at < v_now - pg_catalog.make_interval(mins => p_idle_minutes) end
    order by s.id limit 1000 for update skip locked
  loop
    v_names := v_names || v_s.session_id;
    continue when p_dry_run;
    v_one := coord.close_session(p_project, v_s.id, 'lapsed', 'cleaned_up');
    v_locks := v_locks + (v_one ->> 'locks_released')::int;
    v_tasks := v_tasks + (v_one ->> 'tasks_requeued')::int;
    v_wake := v_wake || (v_one -> 'wake');
  end loop;
  if not p_dry_run then
    perform coord.audit(p_project, null, p_by, 'cleanup_agents', v_names, true, null,
      pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('stale_threshold_minutes', p_stale_minutes, 'idle_minutes', p_idle_minutes)),
      pg_catalog.jsonb_build_object('locks_released', v_locks, 'tasks_requeued', v_tasks));
  end if;
  return pg_catalog.jsonb_build_object('success', true, 'dry_run', p_dry_run, 'agents_cleaned', pg_catalog.cardinality(v_names),
    'sessions', v_names, 'locks_released', v_locks, 'tasks_requeued', v_tasks, 'wake', v_wake);
end $$;

-- Sessions as others see them: open ones first, then the last heard. p_status: active (heard within 15 minutes), idle
-- (open, silent for longer), disconnected (ended or lapsed), open (active or idle), null (all).
create function coord.list_sessions(p_project bigint, p_capability text, p_status text, p_limit int)
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_rows jsonb; v_n int;
begin
  with seen as (
    select s.*, greatest(s.last_seen_at, s.heartbeat_at) as heard,
      case when s.status <> 'active' then 'disconnected'
           when greatest(s.last_seen_at, s.heartbeat_at) < v_now - interval '15 minutes' then 'idle' else 'active' end as word
    from public.agent_sessions s where s.project_id = p_project and (p_capability is null or p_capability = any (s.capabilities))),
  locks as (
    select l.session_id, count(*) as n from public.file_locks l where l.project_id = p_project and l.expires_at > v_now group by l.session_id),
  tasks as (
    select l.session_id, count(*) as n from coord.lease l where l.project_id = p_project and l.queue = 1 group by l.session_id),
  page as (
    select * from seen s where p_status is null or s.word = p_status or (p_status = 'open' and s.status = 'active')
    order by s.status <> 'active', s.heard desc, s.id limit p_limit + 1)
  select count(*), pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'agent_id', s.agent_id, 'agent_type', s.agent_type, 'session_id', s.session_id, 'status', s.word,
      'current_task', s.current_task, 'capabilities', s.capabilities, 'last_seen', coord.ts(s.heard),
      'last_heartbeat', coord.ts(s.heartbeat_at), 'started_at', coord.ts(s.started_at), 'ended_at', coord.ts(s.ended_at),
      'delegated_from', s.metadata ->> 'delegated_from', 'locks_expired', nullif(a.locks_expired, 0),
      'locks_held', coalesce(l.n, 0), 'tasks_held', coalesce(t.n, 0)))
      order by s.status <> 'active', s.heard desc, s.id)
    into v_n, v_rows
    from page s left join public.agents a on a.project_id = s.project_id and a.agent_id = s.agent_id
      left join locks l on l.session_id = s.id left join tasks t on t.session_id = s.id;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('agents', coalesce(v_rows, '[]'), 'count', least(v_n, p_limit),
    'truncated', v_n > p_limit, 'hint', case when v_n > p_limit then 'more sessions exist; narrow by capability or status' end));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
