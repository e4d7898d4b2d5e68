-- A subtree that is stopped grows no more: whoever starts a child holds its parent from being stopped until the child is
-- there to be stopped with it, and a parent that is being stopped, or was, starts and resumes none.
set local lock_timeout = '5s';

-- Refuses a parent that was stopped. For a new child (p_start) its row is share-locked until the commit, which coord.stop_session
-- waits for; a child that is resumed is locked itself.
create function coord.check_growing(p_parent text, p_start boolean) returns void language plpgsql set search_path = '' as $$
declare v_status text;
begin
  if p_start then
    select s.status into v_status from public.sessions s where s.session_id = p_parent for share;
  else
    select s.status into v_status from public.sessions s where s.session_id = p_parent;
  end if;
  if v_status in ('stopping', 'stopped') then
    perform coord.fail(409, 'conflict', 'The parent session is ' || v_status, 'a session that was stopped starts nothing', 'resume the parent first, or leave parent_session_id out', 'parent_session_id');
  end if;
end $$;

-- POST /runs. p_limits: no_match (s), max_depth, max_children. Everything is checked before anything is stored.
create or replace function coord.create_run(p_project bigint, p_only bigint, p_by text, p_in jsonb, p_limits jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
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
    perform coord.check_growing(v_parent, v_start);
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

-- Stops a session: the run at work, and those that wait behind it. With p_tree its descendants too, one after the other.
create or replace function coord.stop_session(p_only bigint, p_by text, p_session text, p_tree boolean) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.sessions; v_out jsonb; v_wake jsonb := '[]'; v_child text; v_n int := 0; v_one jsonb; v_locked int;
begin
  if p_tree then  -- locked in one order for everybody, as deletions are; then the deepest first
    perform coord.read_session(p_only, p_session);
    loop  -- until all of it is locked: a child may have been started while we waited for its parent
      perform 1 from public.sessions s where s.session_id in (select t.session_id from coord.tree_of(p_session) t) order by s.id for update;
      get diagnostics v_locked = row_count;
      exit when v_locked >= (select count(*) from coord.tree_of(p_session));
    end loop;
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

revoke execute on all functions in schema coord from public;
grant execute on function coord.create_run(bigint, bigint, text, jsonb, jsonb), coord.stop_session(bigint, text, text, boolean) to service_role;
