-- Orchestrated sessions and their events. p_only is the project a key is bound to; null: sessions are found by their
-- id alone, whatever their project.
set local lock_timeout = '5s';

create function coord.no_session() returns void language plpgsql set search_path = '' as $$
begin
  perform coord.fail(404, 'not_found', 'Session not found', 'no session has that id, or it is of another project', 'list them: GET /sessions', 'session_id');
end $$;

-- The session of that id, its row locked.
create function coord.lock_session(p_only bigint, p_session text) returns public.sessions language plpgsql set search_path = '' as $$
declare v_s public.sessions;
begin
  select * into v_s from public.sessions s where s.session_id = p_session and (p_only is null or s.project_id = p_only) for update;
  if v_s.id is null then perform coord.no_session(); end if;
  return v_s;
end $$;

create function coord.read_session(p_only bigint, p_session text) returns public.sessions language plpgsql stable set search_path = '' as $$
declare v_s public.sessions;
begin
  select * into v_s from public.sessions s where s.session_id = p_session and (p_only is null or s.project_id = p_only);
  if v_s.id is null then perform coord.no_session(); end if;
  return v_s;
end $$;

-- A session and everything below it, with how deep below.
create function coord.tree_of(p_session text) returns table (session_id text, depth int) language sql stable set search_path = '' as $$
  with recursive t (session_id, depth) as (
    select p_session, 0 union select s.session_id, t.depth + 1 from public.sessions s join t on s.parent_session_id = t.session_id where t.depth < 200)
  select t.session_id, max(t.depth) from t group by 1
$$;

-- Is p_session below p_above (or the same) in the tree of parents?
create function coord.is_below(p_session text, p_above text) returns boolean language plpgsql stable set search_path = '' as $$
declare v_at text := p_session;
begin
  for i in 1..200 loop
    if v_at is null or v_at = p_above then return v_at is not null; end if;
    select s.parent_session_id into v_at from public.sessions s where s.session_id = v_at;
  end loop;
  return true;  -- deeper than any tree may be: treated as a circle
end $$;

-- Gives a session (its row locked by the caller) another status and tells live views. An end also ends the agent
-- session of the same id: its locks and tasks are free with this commit. Returns topics to wake.
create function coord.set_session(p_s public.sessions, p_status text) returns text[] language plpgsql set search_path = '' as $$
declare v_s public.sessions; v_a public.agent_sessions; v_out jsonb; v_wake text[] := array[coord.live_topic()];
begin
  update public.sessions s set status = p_status, updated_at = coord.now() where s.project_id = p_s.project_id and s.id = p_s.id returning * into v_s;
  perform coord.emit(v_s.project_id, 'session_updated', v_s.session_id, pg_catalog.jsonb_build_object('session', coord.session_wire(v_s)));
  if p_status in ('finished', 'failed', 'stopped') then
    for v_a in select * from public.agent_sessions x where x.session_id = v_s.session_id and x.status = 'active' order by x.project_id, x.id for update loop
      v_out := coord.close_session(v_a.project_id, v_a.id, 'ended', 'session_' || p_status);
      v_wake := v_wake || coord.texts(v_out -> 'wake');
    end loop;
  end if;
  return v_wake;
end $$;

-- Stores a new session. The caller checked what p_in says.
create function coord.add_session(p_project bigint, p_by text, p_session text, p_status text, p_in jsonb) returns public.sessions language plpgsql set search_path = '' as $$
declare v_s public.sessions;
begin
  if p_session ~ '[/\\[:cntrl:]]' or p_session in ('.', '..') then
    perform coord.fail(400, 'invalid', 'Invalid session id: ' || pg_catalog.left(pg_catalog.to_json(p_session)::text, 80), 'it stands in addresses and file names',
      'use letters, digits, - and _, or leave session_id out', 'session_id');
  end if;
  insert into public.sessions (project_id, session_id, status, project_dir, agent_name, parent_session_id, execution_mode, created_by)
    values (p_project, p_session, p_status, p_in ->> 'project_dir', p_in ->> 'agent_name', p_in ->> 'parent_session_id',
      coalesce(p_in ->> 'execution_mode', 'sync'), p_by)
    on conflict (session_id) do nothing returning * into v_s;
  if v_s.id is null then
    perform coord.fail(409, 'conflict', pg_catalog.format('Session ''%s'' already exists', p_session), 'session ids are unique', 'leave session_id out, or resume the session', 'session_id');
  end if;
  perform coord.emit(p_project, 'session_created', v_s.session_id, pg_catalog.jsonb_build_object('session', coord.session_wire(v_s)));
  return v_s;
end $$;

-- POST /sessions. The parent is that of a run of the session, if there is one.
create function coord.create_session(p_project bigint, p_only bigint, p_by text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions; v_parent text := p_in ->> 'parent_session_id';
begin
  v_parent := coalesce((select r.parent_session_id from public.runs r where r.session_id = p_in ->> 'session_id' order by r.id desc limit 1), v_parent);
  if v_parent is not null then perform coord.check_parent(p_only, v_parent, p_in ->> 'session_id'); end if;
  v_s := coord.add_session(p_project, p_by, p_in ->> 'session_id', 'pending', p_in || pg_catalog.jsonb_build_object('parent_session_id', v_parent));
  perform coord.audit(p_project, null, p_by, 'create_orchestrated_session', array[v_s.session_id]);
  return pg_catalog.jsonb_build_object('ok', true, 'session', coord.session_wire(v_s), 'wake', array[coord.live_topic()]);
end $$;

-- Refuses a parent that does not exist or is the session itself.
create function coord.check_parent(p_only bigint, p_parent text, p_session text) returns void language plpgsql set search_path = '' as $$
begin
  if p_parent = p_session then
    perform coord.fail(400, 'invalid', 'A session cannot be its own parent', '', 'leave parent_session_id out', 'parent_session_id');
  end if;
  perform 1 from public.sessions s where s.session_id = p_parent and (p_only is null or s.project_id = p_only);
  if not found then
    perform coord.fail(404, 'not_found', 'Parent session not found', 'no session has that id, or it is of another project', 'leave parent_session_id out, or create the parent first', 'parent_session_id');
  end if;
end $$;

-- The conditions of those members of a filter that are set: " and a.name = 'value'" each.
create function coord.conditions(p_alias text, p_filter jsonb, p_names text[]) returns text language sql immutable set search_path = '' as $$
  select coalesce(pg_catalog.string_agg(pg_catalog.format(' and %I.%I = %L', p_alias, n, p_filter ->> n), ''), '')
  from unnest(p_names) n where p_filter ->> n is not null
$$;

-- Newest first. p_filter: status, parent_session_id, agent_name.
create function coord.orchestrated_sessions(p_project bigint, p_filter jsonb, p_limit int, p_before text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int; v_at timestamptz; v_id bigint;
begin
  -- The statement has the conditions that hold, so that each filter finds its index.
  if p_before is not null then
    select s.created_at, s.id into v_at, v_id from public.sessions s where s.session_id = p_before and s.project_id = p_project;
    if v_id is null then perform coord.no_session(); end if;
  end if;
  execute 'select pg_catalog.jsonb_agg(coord.session_wire(s) order by s.created_at desc, s.id desc), count(*) from (
      select * from public.sessions s where s.project_id = $1'
    || case when v_id is not null then ' and (s.created_at, s.id) < ($2, $3)' else '' end
    || coord.conditions('s', p_filter, '{status, parent_session_id, agent_name}')
    || ' order by s.created_at desc, s.id desc limit $4) s'
    into v_rows, v_n using p_project, v_at, v_id, p_limit + 1;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_build_object('sessions', coalesce(v_rows, '[]'), 'truncated', v_n > p_limit);
end $$;

create function coord.get_session(p_only bigint, p_session text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('session', coord.session_wire(coord.read_session(p_only, p_session)));
end $$;

create function coord.session_status(p_only bigint, p_session text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('status', coalesce((select s.status from public.sessions s where s.session_id = p_session
    and (p_only is null or s.project_id = p_only)), 'not_existent'));
end $$;

-- The text a session ended with: of its last result event, else of the assistant's last message; null when there is none.
create function coord.result_text(p_session text, out result text, out data jsonb) language plpgsql stable set search_path = '' as $$
begin
  select coalesce(e.result_text, e.content -> 0 ->> 'text'), e.result_data into result, data from public.events e
    where e.session_id = p_session and (e.event_type = 'message' and e.role = 'assistant' or e.event_type = 'result')
    order by e.id desc limit 1;
end $$;

create function coord.session_result(p_only bigint, p_session text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_s public.sessions := coord.read_session(p_only, p_session); v_r record;
begin
  if v_s.status <> 'finished' then
    perform coord.fail(400, 'invalid', 'Session not finished', 'its status is ' || v_s.status, 'ask again when GET /sessions/{id}/status says finished');
  end if;
  v_r := coord.result_text(p_session);
  if v_r.result is null and v_r.data is null then
    perform coord.fail(404, 'not_found', 'No result found', 'the session ended without a message of the assistant', 'read its events');
  end if;
  return pg_catalog.jsonb_build_object('result', coalesce(v_r.result, ''))
    || case when v_r.data is null then '{}' else pg_catalog.jsonb_build_object('result_data', v_r.data) end;
end $$;

create function coord.session_affinity(p_only bigint, p_session text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_s public.sessions := coord.read_session(p_only, p_session);
begin
  return pg_catalog.jsonb_build_object('affinity', pg_catalog.jsonb_build_object('session_id', v_s.session_id, 'executor_session_id', v_s.executor_session_id,
    'hostname', v_s.hostname, 'project_dir', v_s.project_dir, 'executor_profile', v_s.executor_profile));
end $$;

-- Says which executor works on the session, where. The session runs from then on; an end that was ordered meanwhile
-- stays ordered, and an executor whose run is over already (its runner was given up) revives nothing.
create function coord.bind_session(p_only bigint, p_by text, p_session text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions := coord.lock_session(p_only, p_session); v_wake text[]; v_over boolean;
begin
  select bool_and(r.status in ('completed', 'failed', 'stopped')) into v_over from public.runs r where r.session_id = p_session;
  v_over := coalesce(v_over, false);
  update public.sessions s set executor_session_id = p_in ->> 'executor_session_id', hostname = p_in ->> 'hostname',
      executor_profile = p_in ->> 'executor_profile', project_dir = coalesce(p_in ->> 'project_dir', s.project_dir)
    where s.project_id = v_s.project_id and s.id = v_s.id returning * into v_s;
  v_wake := coord.set_session(v_s, case when v_s.status = 'stopping' or v_over then v_s.status else 'running' end);
  perform coord.audit(v_s.project_id, null, p_by, 'bind_session', array[p_session]);
  return coord.get_session(p_only, p_session) || pg_catalog.jsonb_build_object('ok', true, 'wake', v_wake);
end $$;

create function coord.update_session(p_only bigint, p_by text, p_session text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions := coord.lock_session(p_only, p_session); v_wake text[];
begin
  update public.sessions s set project_dir = coalesce(p_in ->> 'project_dir', s.project_dir), agent_name = coalesce(p_in ->> 'agent_name', s.agent_name),
      last_resumed_at = coalesce(p_in ->> 'last_resumed_at', s.last_resumed_at), hostname = coalesce(p_in ->> 'hostname', s.hostname),
      executor_session_id = coalesce(p_in ->> 'executor_session_id', s.executor_session_id),
      executor_profile = coalesce(p_in ->> 'executor_profile', s.executor_profile), updated_at = coord.now()
    where s.project_id = v_s.project_id and s.id = v_s.id returning * into v_s;
  perform coord.emit(v_s.project_id, 'session_updated', p_session, pg_catalog.jsonb_build_object('session', coord.session_wire(v_s)));
  perform coord.audit(v_s.project_id, null, p_by, 'update_session_metadata', array[p_session]);
  return pg_catalog.jsonb_build_object('ok', true, 'session', coord.session_wire(v_s), 'wake', array[coord.live_topic()]);
end $$;

-------------------------------------------------------------------------------------------- events
-- What Python calls false is kept as null, as readers of these rows expect.
create function coord.truthy(p_value jsonb) returns jsonb language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return case when p_value in ('null', '{}', '[]', '""', '0', 'false') then null else p_value end;
end $$;

create function coord.store_event(p_project bigint, p_session text, p_in jsonb) returns void language plpgsql set search_path = '' as $$
declare v_e public.events;
begin
  insert into public.events (project_id, session_id, event_type, "timestamp", tool_name, tool_input, tool_output, error, exit_code, reason, role, content, result_text, result_data)
    values (p_project, p_session, p_in ->> 'event_type', p_in ->> 'timestamp', p_in ->> 'tool_name', coord.truthy(p_in -> 'tool_input'),
      coord.truthy(p_in -> 'tool_output'), p_in ->> 'error', (p_in ->> 'exit_code')::int, p_in ->> 'reason', p_in ->> 'role', coord.truthy(p_in -> 'content'),
      p_in ->> 'result_text', coord.truthy(p_in -> 'result_data'))
    returning * into v_e;
  perform coord.emit(p_project, 'event', p_session, null, v_e.id);
end $$;

-- Stores an event of a known session. session_stop finishes the session and tells its parent.
create function coord.add_event(p_only bigint, p_session text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions; v_wake text[] := array[coord.live_topic()];
begin
  if p_in ->> 'event_type' <> 'session_stop' then  -- the frequent case takes no lock
    v_s := coord.read_session(p_only, p_session);
    perform coord.store_event(v_s.project_id, p_session, p_in);
    return pg_catalog.jsonb_build_object('ok', true, 'wake', v_wake);
  end if;
  v_s := coord.lock_session(p_only, p_session);
  if v_s.status in ('pending', 'running') then v_wake := v_wake || coord.set_session(v_s, 'finished'); end if;
  perform coord.store_event(v_s.project_id, p_session, p_in);
  -- While a stop is under way the run's own end says how it ended.
  if v_s.status in ('pending', 'running') or v_s.status <> 'stopping' and exists (select from public.runs r
      where r.session_id = p_session and r.status in ('claimed', 'running')) then
    v_wake := v_wake || coord.tell_parent(v_s, null, false, null);
  end if;
  return pg_catalog.jsonb_build_object('ok', true, 'wake', v_wake);
end $$;

-- POST /events: session_start opens a session that is not known, session_stop finishes one. Nobody is called back.
create function coord.legacy_event(p_project bigint, p_only bigint, p_by text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions; v_id text := p_in ->> 'session_id'; v_wake text[] := array[coord.live_topic()];
begin
  select * into v_s from public.sessions s where s.session_id = v_id and (p_only is null or s.project_id = p_only) for update;
  if v_s.id is null and p_in ->> 'event_type' = 'session_start' then
    v_s := coord.add_session(p_project, p_by, v_id, 'running', '{}');
  elsif v_s.id is null then
    perform coord.no_session();
  elsif p_in ->> 'event_type' = 'session_stop' and v_s.status in ('pending', 'running') then
    v_wake := v_wake || coord.set_session(v_s, 'finished');
  end if;
  perform coord.store_event(v_s.project_id, v_id, p_in);
  return pg_catalog.jsonb_build_object('ok', true, 'wake', v_wake || coord.callbacks_topic());
end $$;

-- Oldest first, those after p_after. p_strict: an unknown session is an error, else an empty page.
create function coord.session_events(p_only bigint, p_session text, p_after bigint, p_limit int, p_strict boolean) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  if p_strict then perform coord.read_session(p_only, p_session); end if;
  select pg_catalog.jsonb_agg(coord.event_wire(e) order by e.id), count(*) into v_rows, v_n from (
    select * from public.events e where e.session_id = p_session and e.id > p_after and (p_only is null or e.project_id = p_only)
    order by e.id limit p_limit + 1) e;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('truncated', v_n > p_limit,
      'next_after_id', case when v_n > p_limit then v_rows -> -1 -> 'id' end))
    || pg_catalog.jsonb_build_object('events', coalesce(v_rows, '[]'));
end $$;

------------------------------------------------------------------------------------------ deleting
-- Deletes a session and, with p_tree, everything below it; without, its children lose their parent. Refused while
-- anything of it is at work.
create function coord.delete_session(p_only bigint, p_by text, p_session text, p_tree boolean) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_top public.sessions := coord.read_session(p_only, p_session); v_ids text[] := array[p_session]; v_s public.sessions; v_r public.runs;
  v_busy text; v_events int; v_runs int := 0; v_all int := 0; v_wake text[] := array[coord.live_topic()];
begin
  if p_tree then
    v_ids := array(select t.session_id from coord.tree_of(p_session) t);
  end if;
  -- In one order for everybody, so that two deletions do not wait for each other.
  perform 1 from public.sessions s where s.session_id = any (v_ids) order by s.id for update;
  select s.session_id into v_busy from public.sessions s where s.session_id = any (v_ids) and (s.status in ('running', 'stopping')
    or exists (select from public.runs r where r.session_id = s.session_id and r.status in ('claimed', 'running', 'stopping'))) limit 1;
  if v_busy is not null then
    perform coord.fail(409, 'conflict', 'Stop session first', pg_catalog.format('session %s is at work', v_busy), 'stop it: POST /sessions/{id}/stop', 'session_id');
  end if;
  for v_r in select * from public.runs r where r.session_id = any (v_ids) order by r.id for update loop
    if v_r.status = 'pending' and v_r.class_id is not null then perform coord.unready(0, 2::smallint, v_r.class_id, v_r.priority, v_r.id); end if;
    v_runs := v_runs + 1;
  end loop;
  delete from public.runs r where r.session_id = any (v_ids);
  with gone as (delete from public.events e where e.session_id = any (v_ids) returning 1) select count(*) into v_events from gone;
  for v_s in delete from public.sessions s where s.session_id = any (v_ids) returning * loop
    perform coord.emit(v_s.project_id, 'session_deleted', v_s.session_id, pg_catalog.jsonb_build_object('session_id', v_s.session_id, 'runs_deleted', v_runs));
    v_all := v_all + 1;
  end loop;
  update public.sessions s set parent_session_id = null where s.parent_session_id = any (v_ids);
  perform coord.audit(v_top.project_id, null, p_by, 'delete_session', v_ids, true, null, null, pg_catalog.jsonb_build_object('sessions', v_all, 'runs', v_runs, 'events', v_events));
  return pg_catalog.jsonb_build_object('ok', true, 'session_id', p_session, 'runs_removed_from_cache', v_runs, 'wake', v_wake,
    'deleted', pg_catalog.jsonb_build_object('session', true, 'events_count', v_events, 'runs_count', v_runs, 'sessions_count', v_all));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.create_session(bigint, bigint, text, jsonb), coord.orchestrated_sessions(bigint, jsonb, int, text), coord.get_session(bigint, text),
  coord.session_status(bigint, text), coord.session_result(bigint, text), coord.session_affinity(bigint, text), coord.bind_session(bigint, text, text, jsonb),
  coord.update_session(bigint, text, text, jsonb), coord.add_event(bigint, text, jsonb), coord.legacy_event(bigint, bigint, text, jsonb),
  coord.session_events(bigint, text, bigint, int, boolean), coord.delete_session(bigint, text, text, boolean) to service_role;
