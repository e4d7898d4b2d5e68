-- Runs: creating, ending, stopping, explaining. A session has one run at work at a time; a further one waits behind it
-- (waits = session) and takes its place in coord.ready when the one before ended.
set local lock_timeout = '5s';

-- Scalars: the first that is set. Tags: all of them. Null when nothing is demanded.
create function coord.merge_demands(variadic p_list jsonb[]) returns jsonb language plpgsql immutable set search_path = '' as $$
begin
  return coord.tidy_demands(pg_catalog.jsonb_build_object(
    'hostname', (select nullif(d ->> 'hostname', '') from unnest(p_list) with ordinality x (d, n) where coalesce(d ->> 'hostname', '') <> '' order by n limit 1),
    'project_dir', (select nullif(d ->> 'project_dir', '') from unnest(p_list) with ordinality x (d, n) where coalesce(d ->> 'project_dir', '') <> '' order by n limit 1),
    'executor_profile', (select nullif(d ->> 'executor_profile', '') from unnest(p_list) with ordinality x (d, n) where coalesce(d ->> 'executor_profile', '') <> '' order by n limit 1),
    'tags', (select pg_catalog.jsonb_agg(distinct t) from unnest(p_list) d, pg_catalog.jsonb_array_elements_text(
      case when pg_catalog.jsonb_typeof(d -> 'tags') = 'array' then d -> 'tags' else '[]' end) t)));
end $$;

-- Puts a pending run (its session locked by the caller) where it belongs: into its lane, or behind the run at work.
-- Its no-match timeout counts from when it can be taken. Returns topics to wake.
create function coord.enqueue_run(p_r public.runs) returns text[] language plpgsql set search_path = '' as $$
declare v_c record; v_now timestamptz := coord.now(); v_wake text[];
begin
  if exists (select from public.runs r where r.session_id = p_r.session_id and r.id <> p_r.id
      and (r.status in ('claimed', 'running', 'stopping') or r.status = 'pending' and r.id < p_r.id)) then
    update public.runs r set waits = 'session', class_id = null where r.project_id = p_r.project_id and r.id = p_r.id;
    return '{}';
  end if;
  if p_r.run_at > v_now then
    update public.runs r set waits = 'time', class_id = null, timeout_at = null where r.project_id = p_r.project_id and r.id = p_r.id;
    return '{}';
  end if;
  v_c := coord.class_of(0, 2::smallint, coord.canonical_demands(p_r.demands) || pg_catalog.jsonb_build_object('project', p_r.project_id));
  update public.runs r set waits = null, run_at = null, class_id = v_c.class_id, timeout_at = v_now + pg_catalog.make_interval(secs => p_r.no_match_seconds)
    where r.project_id = p_r.project_id and r.id = p_r.id;
  insert into coord.ready (project_id, queue, class_id, priority, id) values (0, 2, v_c.class_id, p_r.priority, p_r.id);
  v_wake := array[coord.lane_topic(0, 2::smallint, v_c.class_id)];
  if v_c.made then v_wake := v_wake || 'w:0:2:+'::text; end if;
  return v_wake;
end $$;

create function coord.run_news(p_r public.runs) returns void language plpgsql set search_path = '' as $$
declare v_r public.runs;
begin
  select * into v_r from public.runs r where r.project_id = p_r.project_id and r.id = p_r.id;
  perform coord.emit(v_r.project_id, case when v_r.attempt = 0 and v_r.status = 'pending' then 'run_created' else 'run_updated' end,
    v_r.session_id, pg_catalog.jsonb_build_object('run', coord.run_wire(v_r) - 'prompt'));
end $$;

-- How deep a session lies below the top (1: it has no parent), at most p_max + 1.
create function coord.depth_of(p_session text, p_max int) returns int language plpgsql stable set search_path = '' as $$
declare v_at text := p_session; v_n int := 0;
begin
  while v_at is not null and v_n <= p_max loop
    v_n := v_n + 1;
    select s.parent_session_id into v_at from public.sessions s where s.session_id = v_at;
  end loop;
  return v_n;
end $$;

-- Bounds runaway trees: depth of nesting, and children of one parent that are not over.
create function coord.check_tree(p_parent text, p_limits jsonb) returns void language plpgsql set search_path = '' as $$
declare v_depth int := (p_limits ->> 'max_depth')::int; v_children int := (p_limits ->> 'max_children')::int; v_n int;
begin
  if coord.depth_of(p_parent, v_depth) >= v_depth then
    perform coord.fail(400, 'invalid', pg_catalog.format('Sessions may be nested %s deep', v_depth), 'the parent is at that depth already', 'let an ancestor start it, or raise RUN_MAX_DEPTH', 'parent_session_id');
  end if;
  select count(*) into v_n from (select 1 from public.sessions s where s.parent_session_id = p_parent
    and s.status in ('pending', 'running', 'stopping') limit v_children) x;
  if v_n >= v_children then
    perform coord.fail(429, 'exhausted', pg_catalog.format('The parent has %s children at work', v_children), 'that is the most one session may have at a time', 'wait for some to end, or raise RUN_MAX_CHILDREN', 'parent_session_id');
  end if;
end $$;

-- Refuses an agent that is unknown, cannot be resolved or, for a start, is inactive; returns its demands.
create function coord.agent_demands(p_name text, p_start boolean) returns jsonb language plpgsql stable set search_path = '' as $$
declare v_a public.agent_blueprints;
begin
  if p_name is null then return null; end if;
  perform coord.resolve_blueprint(p_name);
  v_a := coord.get_blueprint(p_name);
  if p_start and v_a.status <> 'active' then
    perform coord.fail(400, 'invalid', 'Agent is inactive: ' || p_name, 'it was switched off', 'activate it: PATCH /agents/{name}/status', 'agent_name');
  end if;
  return v_a.demands;
end $$;

-- POST /runs. p_limits: no_match (s), max_depth, max_children. Everything is checked before anything is stored.
create function coord.create_run(p_project bigint, p_only bigint, p_by text, p_in jsonb, p_limits jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions; v_r public.runs; v_start boolean := p_in ->> 'type' = 'start_session'; v_parent text := p_in ->> 'parent_session_id';
  v_id text := nullif(p_in ->> 'session_id', ''); v_agent text := nullif(p_in ->> 'agent_name', ''); v_demands jsonb; v_wake text[];
begin
  if not v_start then
    if v_id is null then
      perform coord.fail(400, 'invalid', 'session_id is required for resume_session', '', 'name the session to resume', 'session_id');
    end if;
    v_s := coord.lock_session(p_only, v_id);
    v_agent := coalesce(v_agent, v_s.agent_name);
  else
    v_id := coalesce(v_id, coord.wire_id('ses_'));
  end if;
  if v_parent is not null then
    perform coord.check_parent(p_only, v_parent, v_id);
    if v_start then perform coord.check_tree(v_parent, p_limits); end if;
  end if;
  if (p_in ->> 'deadline')::timestamptz <= coord.now() then
    perform coord.fail(400, 'invalid', 'The deadline has passed', 'the run could only fail', 'give a later deadline, or none', 'deadline');
  end if;
  v_demands := coord.agent_demands(v_agent, v_start);
  v_demands := coord.merge_demands(case when v_s.hostname is not null or v_s.executor_profile is not null
      then pg_catalog.jsonb_build_object('hostname', v_s.hostname, 'executor_profile', v_s.executor_profile) else '{}' end,
    coalesce(v_demands, '{}'), coalesce(p_in -> 'additional_demands', '{}'));
  if v_start then v_s := coord.add_session(p_project, p_by, v_id, 'pending', p_in); end if;
  v_r := coord.add_run(v_s, p_by, p_in || pg_catalog.jsonb_build_object('agent_name', v_agent,
    'project_dir', coalesce(p_in ->> 'project_dir', v_s.project_dir)), v_demands, (p_limits ->> 'no_match')::int);
  v_wake := coord.enqueue_run(v_r);
  perform coord.run_news(v_r);
  perform coord.audit(v_s.project_id, null, p_by, 'create_run', array[v_r.run_id, v_id]);
  return pg_catalog.jsonb_build_object('run_id', v_r.run_id, 'session_id', v_id, 'status', 'pending', 'wake', v_wake || coord.live_topic());
end $$;

create function coord.add_run(p_s public.sessions, p_by text, p_in jsonb, p_demands jsonb, p_no_match int) returns public.runs language plpgsql set search_path = '' as $$
declare v_r public.runs; v_now timestamptz := coord.now();
begin
  insert into public.runs (project_id, run_id, type, session_id, agent_name, prompt, project_dir, parent_session_id, execution_mode, demands,
      priority, max_attempts, no_match_seconds, deadline, run_at, created_by, created_at)
    values (p_s.project_id, coord.wire_id('run_'), p_in ->> 'type', p_s.session_id, p_in ->> 'agent_name', p_in ->> 'prompt', p_in ->> 'project_dir',
      p_in ->> 'parent_session_id', coalesce(p_in ->> 'execution_mode', 'sync'), p_demands, coalesce((p_in ->> 'priority')::smallint, 5),
      1 + coalesce((p_in ->> 'retries')::smallint, 0), p_no_match,
      coalesce((p_in ->> 'deadline')::timestamptz, v_now + pg_catalog.make_interval(secs => (p_in ->> 'timeout_seconds')::float8)),
      v_now + pg_catalog.make_interval(secs => nullif((p_in ->> 'delay_seconds')::float8, 0)), p_by, v_now)
    returning * into v_r;
  return v_r;
end $$;

-- Takes a run out of wherever it waits or is leased.
create function coord.loosen_run(p_r public.runs) returns void language plpgsql set search_path = '' as $$
begin
  if p_r.status = 'pending' and p_r.class_id is not null then
    perform coord.unready(0, 2::smallint, p_r.class_id, p_r.priority, p_r.id);
  elsif p_r.lease_until is not null then
    delete from coord.lease l where l.project_id = 0 and l.queue = 2 and l.until = p_r.lease_until and l.id = p_r.id;
  end if;
end $$;

-- Ends a run whose session and row the caller has locked: the only way to a final status. The session follows unless
-- another run is to come or its executor ended it before; its parent is told; the next run of the session gets its turn.
create function coord.end_run(p_r public.runs, p_status text, p_error text) returns text[] language plpgsql set search_path = '' as $$
declare v_s public.sessions; v_next public.runs; v_wake text[] := array[coord.live_topic()]; v_to text;
begin
  perform coord.loosen_run(p_r);
  update public.runs r set status = p_status, error = coalesce(p_error, r.error), completed_at = coord.now(), lease_until = null, waits = null, class_id = null, timeout_at = null
    where r.project_id = p_r.project_id and r.id = p_r.id;
  perform coord.run_news(p_r);
  if p_status = 'failed' then
    perform coord.emit(p_r.project_id, 'run_failed', p_r.session_id, pg_catalog.jsonb_build_object('run_id', p_r.run_id, 'error', p_error, 'session_id', p_r.session_id));
  end if;
  select * into v_s from public.sessions s where s.session_id = p_r.session_id;
  v_to := case p_status when 'completed' then 'finished' else p_status end;
  -- A run that never began and waited behind another says nothing about the session.
  if p_r.waits is distinct from 'session' and v_s.status <> v_to
      and (v_s.status in ('pending', 'running', 'stopping') or p_status = 'stopped') then
    v_wake := v_wake || coord.set_session(v_s, v_to);
    select * into v_s from public.sessions s where s.session_id = p_r.session_id;
  end if;
  v_wake := v_wake || coord.capacity_topics(p_r.runner_id) || coord.tell_parent(v_s, p_r, p_status <> 'completed',
    case when p_status = 'failed' or p_r.error = 'Run deadline exceeded' and p_status = 'stopped' then coalesce(p_error, p_r.error)
      when p_status = 'stopped' then 'Session was manually stopped' end);
  for v_next in select * from public.runs r where r.session_id = p_r.session_id and r.status = 'pending' and r.waits = 'session' order by r.id limit 1 for update loop
    v_wake := v_wake || coord.enqueue_run(v_next);
  end loop;
  return v_wake;
end $$;

-- Whom to wake when a runner has a run less: the runner, if it may be waiting for a place.
create function coord.capacity_topics(p_runner text) returns text[] language plpgsql stable set search_path = '' as $$
begin
  return case when exists (select from public.runners x where x.runner_id = p_runner and x.capacity is not null) then array['u:' || p_runner] else '{}' end;
end $$;

create function coord.no_run() returns void language plpgsql set search_path = '' as $$
begin
  perform coord.fail(404, 'not_found', 'Run not found', 'no run has that id, or it is of another project', 'list them: GET /runs', 'run_id');
end $$;

-- The run, its session locked first.
create function coord.lock_run(p_only bigint, p_run text) returns public.runs language plpgsql set search_path = '' as $$
declare v_r public.runs;
begin
  select * into v_r from public.runs r where r.run_id = p_run and (p_only is null or r.project_id = p_only);
  if v_r.id is null then perform coord.no_run(); end if;
  perform 1 from public.sessions s where s.session_id = v_r.session_id for update;
  select * into v_r from public.runs r where r.project_id = v_r.project_id and r.id = v_r.id for update;
  if v_r.id is null then perform coord.no_run(); end if;
  return v_r;
end $$;

create function coord.get_run(p_only bigint, p_run text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_r public.runs;
begin
  select * into v_r from public.runs r where r.run_id = p_run and (p_only is null or r.project_id = p_only);
  if v_r.id is null then perform coord.no_run(); end if;
  return coord.run_wire(v_r);
end $$;

-- Oldest first, as these lists always were; p_newest turns it around. p_after is a run id of the page before.
create function coord.list_runs(p_project bigint, p_filter jsonb, p_limit int, p_after text, p_newest boolean) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int; v_id bigint;
begin
  if p_after is not null then
    select r.id into v_id from public.runs r where r.run_id = p_after and r.project_id = p_project;
    if v_id is null then perform coord.no_run(); end if;
  end if;
  execute 'select pg_catalog.jsonb_agg(coord.run_wire(r) order by case when $4 then -r.id else r.id end), count(*) from (
      select * from public.runs r where r.project_id = $1'
    || case when v_id is null then '' when p_newest then ' and r.id < $2' else ' and r.id > $2' end
    || coord.conditions('r', p_filter, '{status, session_id, runner_id}')
    || ' order by r.id' || case when p_newest then ' desc' else '' end || ' limit $3) r'
    into v_rows, v_n using p_project, v_id, p_limit + 1, p_newest;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_build_object('runs', coalesce(v_rows, '[]'), 'truncated', v_n > p_limit);
end $$;

------------------------------------------------------------------------------------------- stopping
-- Stops a run whose session and row the caller has locked; returns {status, wake}. A run nobody has ends at once.
create function coord.stop_locked(p_r public.runs) returns jsonb language plpgsql set search_path = '' as $$
declare v_s public.sessions; v_wake text[]; v_now timestamptz := coord.now();
begin
  if p_r.status = 'pending' or not exists (select from public.runners x where x.runner_id = p_r.runner_id) then
    return pg_catalog.jsonb_build_object('status', 'stopped', 'wake', coord.end_run(p_r, 'stopped', null));
  end if;
  if p_r.status = 'stopping' then return pg_catalog.jsonb_build_object('status', 'stopping', 'wake', '[]'::jsonb); end if;
  perform coord.loosen_run(p_r);
  update public.runs r set status = 'stopping', stopping_at = v_now, stop_sent_at = null, lease_until = null
    where r.project_id = p_r.project_id and r.id = p_r.id;
  perform coord.run_news(p_r);
  select * into v_s from public.sessions s where s.session_id = p_r.session_id;
  v_wake := array[coord.live_topic(), coord.runner_topic(p_r.runner_id)];
  if v_s.status in ('pending', 'running') then v_wake := v_wake || coord.set_session(v_s, 'stopping'); end if;
  return pg_catalog.jsonb_build_object('status', 'stopping', 'wake', v_wake);
end $$;

create function coord.stop_run(p_only bigint, p_by text, p_run text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r public.runs := coord.lock_run(p_only, p_run); v_out jsonb;
begin
  if v_r.status in ('completed', 'failed', 'stopped') then
    perform coord.fail(400, 'invalid', pg_catalog.format('Run cannot be stopped (status: RunStatus.%s)', pg_catalog.upper(v_r.status)), 'it is over', 'nothing is left to stop');
  end if;
  v_out := coord.stop_locked(v_r);
  perform coord.audit(v_r.project_id, null, p_by, 'stop_run', array[v_r.run_id, v_r.session_id]);
  return pg_catalog.jsonb_build_object('ok', true, 'run_id', v_r.run_id, 'session_id', v_r.session_id) || v_out
    || case when v_r.status = 'pending' then pg_catalog.jsonb_build_object('message', 'Run cancelled before execution') else '{}' end;
end $$;

-- Stops a session: the run at work, and those that wait behind it. With p_tree its descendants too, one after the other.
create function coord.stop_session(p_only bigint, p_by text, p_session text, p_tree boolean) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions; v_out jsonb; v_wake jsonb := '[]'; v_child text; v_n int := 0; v_one jsonb;
begin
  if p_tree then  -- locked in one order for everybody, as deletions are; then the deepest first
    perform coord.read_session(p_only, p_session);
    perform 1 from public.sessions s where s.session_id in (select t.session_id from coord.tree_of(p_session) t) order by s.id for update;
    for v_child in select t.session_id from coord.tree_of(p_session) t where t.depth > 0 order by t.depth desc loop
      select * into v_s from public.sessions s where s.session_id = v_child for update;
      continue when v_s.id is null or v_s.status not in ('pending', 'running', 'stopping');
      -- Else the end of a child would resume the parent that is being stopped.
      update public.runs r set quiet = true where r.session_id = v_child and r.status in ('pending', 'claimed', 'running', 'stopping');
      v_one := coord.stop_one_session(v_s);
      v_wake := v_wake || (v_one -> 'wake');
      v_n := v_n + 1;
    end loop;
  end if;
  v_s := coord.lock_session(p_only, p_session);
  v_out := coord.stop_one_session(v_s);
  perform coord.audit(v_s.project_id, null, p_by, 'stop_session', array[p_session]);
  return v_out || pg_catalog.jsonb_build_object('ok', true, 'session_id', p_session, 'wake', v_wake || (v_out -> 'wake'))
    || case when p_tree then pg_catalog.jsonb_build_object('descendants_stopped', v_n) else '{}' end;
end $$;

create function coord.stop_one_session(p_s public.sessions) returns jsonb language plpgsql set search_path = '' as $$
declare v_r public.runs; v_active public.runs; v_wake jsonb := '[]'; v_one jsonb := '{}';
begin
  for v_r in select * from public.runs r where r.session_id = p_s.session_id and r.status in ('pending', 'claimed', 'running', 'stopping')
      order by r.waits = 'session' desc nulls last, r.id desc for update loop
    v_active := v_r;
    v_one := coord.stop_locked(v_r);
    v_wake := v_wake || (v_one -> 'wake');
  end loop;
  if v_active.id is not null then
    return pg_catalog.jsonb_build_object('run_id', v_active.run_id, 'status', v_one ->> 'status', 'wake', v_wake)
      || case when v_active.status = 'pending' then pg_catalog.jsonb_build_object('message', 'Run cancelled before execution') else '{}' end;
  end if;
  if p_s.status in ('stopping', 'stopped', 'finished', 'failed') then
    return pg_catalog.jsonb_build_object('status', p_s.status, 'message', 'Session is already ' || p_s.status, 'wake', v_wake);
  end if;
  v_wake := v_wake || pg_catalog.to_jsonb(coord.set_session(p_s, 'stopped') || coord.tell_parent(p_s, null, true, 'Session was manually stopped'));
  return pg_catalog.jsonb_build_object('status', 'stopped', 'message', 'Session stopped (no active run)', 'wake', v_wake);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.create_run(bigint, bigint, text, jsonb, jsonb), coord.get_run(bigint, text), coord.list_runs(bigint, jsonb, int, text, boolean),
  coord.stop_run(bigint, text, text), coord.stop_session(bigint, text, text, boolean) to service_role;
