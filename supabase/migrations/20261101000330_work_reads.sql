-- The work queue, read: one task, lists, why a task is not ready, figures. Nothing here changes anything.
set local lock_timeout = '5s';

-- A task as the wire shows it. p_full adds input_data, result and what it may need.
create function coord.task_json(p_w public.work_queue, p_full boolean) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('id', p_w.task_id, 'task_id', p_w.task_id, 'task_type', p_w.task_type,
      'description', case when p_full then p_w.description else pg_catalog.left(p_w.description, 300) end,
      'status', p_w.status, 'state', coord.task_state(p_w), 'priority', p_w.priority, 'tags', p_w.tags, 'labels', nullif(p_w.labels, '{}'),
      'files', nullif(p_w.files, '{}'), 'repository', p_w.repository, 'depends_on', p_w.depends_on, 'agent_requirements', p_w.agent_requirements,
      'claimed_by', p_w.claimed_by, 'claimed_at', coord.ts(p_w.claimed_at), 'lease_expires_at', coord.ts(p_w.lease_until),
      'attempt', p_w.attempt, 'max_attempts', p_w.max_attempts, 'progress', p_w.progress, 'error_message', p_w.error_message,
      'run_at', coord.ts(p_w.run_at), 'deadline', coord.ts(p_w.deadline), 'submitted_by', p_w.submitted_by,
      'created_at', coord.ts(p_w.created_at), 'updated_at', coord.ts(p_w.updated_at), 'completed_at', coord.ts(p_w.completed_at)))
    || case when p_full then pg_catalog.jsonb_build_object('input_data', p_w.input_data, 'result', p_w.result) else '{}' end;
end $$;

-- ready and blocked are the two faces of pending; every other state is the status.
create function coord.task_state(p_w public.work_queue) returns text language sql immutable as $$
  select case when p_w.status <> 'pending' then p_w.status when p_w.waiting_on > 0 then 'blocked' else 'ready' end
$$;

-- Why a task is not ready, in sentences; null when it is ready or over. what is its dependencies that are not completed.
create function coord.task_why(p_w public.work_queue, out why text, out waits_for jsonb) language plpgsql stable set search_path = '' as $$
declare v_n int; v_stuck int;
begin
  if p_w.status in ('pending', 'scheduled') and p_w.waiting_on > 0 then
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', d.task_id, 'task_type', d.task_type, 'status', coord.task_state(d),
        'error_message', d.error_message) order by d.id) filter (where d.status <> 'completed'),
      count(*) filter (where d.status <> 'completed'), count(*) filter (where d.status in ('failed', 'dead', 'cancelled'))
      into waits_for, v_n, v_stuck from public.work_queue d where d.project_id = p_w.project_id and d.task_id = any (p_w.depends_on);
    waits_for := pg_catalog.jsonb_strip_nulls(waits_for);
    why := pg_catalog.format('blocked: waits for %s of its %s dependencies', v_n, pg_catalog.cardinality(p_w.depends_on))
      || case when v_stuck > 0 then pg_catalog.format('; %s of them failed: retry it, or cancel this task', v_stuck) else '' end;
  end if;
  if p_w.status = 'scheduled' then
    why := pg_catalog.concat_ws('; ', why, 'scheduled: begins at ' || coord.ts(p_w.run_at) || coalesce(' after: ' || p_w.error_message, ''));
  elsif p_w.status in ('claimed', 'running') then
    why := pg_catalog.format('%s: %s has it until %s', p_w.status, p_w.claimed_by, coord.ts(p_w.lease_until));
  elsif p_w.status = 'verifying' then
    why := 'verifying: its result is being checked';
  elsif p_w.status in ('completed', 'failed', 'dead', 'cancelled') then
    why := 'it is ' || p_w.status || case when p_w.error_message is null then '' else ': ' || p_w.error_message end;
  end if;
end $$;

-- One task with its result, whoever has it.
create function coord.get_task(p_project bigint, p_task uuid) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_w public.work_queue; v_why record;
begin
  select * into v_w from public.work_queue w where w.project_id = p_project and w.task_id = p_task;
  if v_w.id is null then return pg_catalog.jsonb_build_object('success', false, 'reason', 'task_not_found', 'task_id', p_task); end if;
  v_why := coord.task_why(v_w);
  return pg_catalog.jsonb_build_object('success', true, 'task', coord.task_json(v_w, true)
    || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('why', v_why.why, 'waits_for', v_why.waits_for)));
end $$;

-- Why a task is not ready; for a ready one, what it demands, and whether the asking agent (p_agent, may be null)
-- could take it with the capabilities it registered.
create function coord.why_not_ready(p_project bigint, p_task uuid, p_agent text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_w public.work_queue; v_why record; v_demands jsonb; v_s public.agent_sessions; v_fits boolean;
begin
  select * into v_w from public.work_queue w where w.project_id = p_project and w.task_id = p_task;
  if v_w.id is null then return pg_catalog.jsonb_build_object('success', false, 'reason', 'task_not_found', 'task_id', p_task); end if;
  v_why := coord.task_why(v_w);
  select c.demands - 'task_type' into v_demands from coord.demand_class c where c.project_id = p_project and c.queue = 1 and c.id = v_w.class_id;
  if p_agent is not null then
    select s.* into v_s from public.agent_sessions s where s.project_id = p_project and s.agent_id = p_agent and s.status = 'active' order by s.id desc limit 1;
    v_fits := v_s.id is not null and coord.demands_match(v_demands, coord.work_claimer(v_s, null, null));
  end if;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', v_w.status, 'state', coord.task_state(v_w),
    'ready', v_w.status = 'pending' and v_w.waiting_on = 0, 'waits_for', v_why.waits_for, 'demands', nullif(v_demands, '{}'), 'fits_you', v_fits,
    'why', coalesce(v_why.why, case when v_demands = '{}' then 'ready: any agent may take it now'
      else 'ready: it goes to the first agent that meets its demands ' || v_demands::text end)));
end $$;

-- Newest first. p_filter: status[] (ready and blocked too), task_types[], tag, label, claimed_by, submitted_by.
-- p_cursor is the reply's next_cursor. A call looks at no more than 20,000 tasks: with a narrow filter a page may be
-- short, even empty, and still carry next_cursor.
create function coord.list_work(p_project bigint, p_filter jsonb, p_limit int, p_cursor bigint) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_status text[]; v_types text[]; v_tasks jsonb; v_n int; v_last bigint; v_seen bigint; v_scan int; v_next bigint;
  v_held bigint[];
begin
  select pg_catalog.array_agg(x) into v_status from pg_catalog.jsonb_array_elements_text(nullif(p_filter -> 'status', 'null')) x;
  select pg_catalog.array_agg(x) into v_types from pg_catalog.jsonb_array_elements_text(nullif(p_filter -> 'task_types', 'null')) x;
  if v_status <@ '{claimed,running}' then  -- few among many: by their leases
    v_held := array(select l.id from coord.lease l where l.project_id = p_project and l.queue = 1 order by l.id desc limit 20000);
  end if;
  with page as materialized (
    select w.* from public.work_queue w where v_held is null and w.project_id = p_project and w.id < coalesce(p_cursor, 9223372036854775807)
    order by w.id desc limit 20000),
  held as materialized (
    select w.* from public.work_queue w where w.project_id = p_project and w.id = any (v_held) and w.id < coalesce(p_cursor, 9223372036854775807)),
  hits as materialized (
    select p.* from (select * from page union all select * from held) p where (v_status is null or p.status = any (v_status) or coord.task_state((p)) = any (v_status))
      and (v_types is null or p.task_type = any (v_types)) and (p_filter ->> 'tag' is null or p_filter ->> 'tag' = any (p.tags))
      and (p_filter ->> 'label' is null or p_filter ->> 'label' = any (p.labels))
      and (p_filter ->> 'claimed_by' is null or p.claimed_by = p_filter ->> 'claimed_by')
      and (p_filter ->> 'submitted_by' is null or p.submitted_by = p_filter ->> 'submitted_by')
    order by p.id desc limit p_limit + 1),
  shown as (select h.* from hits h order by h.id desc limit p_limit)
  select (select pg_catalog.jsonb_agg(coord.task_json(s, false) order by s.id desc) from shown s), (select count(*) from hits),
      (select min(s.id) from shown s), (select count(*) from page), (select min(p.id) from page p)
    into v_tasks, v_n, v_last, v_scan, v_seen;
  v_next := case when v_n > p_limit then v_last when v_scan = 20000 then v_seen end;
  return pg_catalog.jsonb_build_object('tasks', coalesce(v_tasks, '[]'), 'count', coalesce(pg_catalog.jsonb_array_length(v_tasks), 0), 'truncated', v_next is not null)
    || case when v_next is null then '{}' else pg_catalog.jsonb_build_object('next_cursor', v_next::text) end;
end $$;

-- What is ready, in the order it will be served: priority, then age.
create function coord.ready_work(p_project bigint, p_types text[], p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_tasks jsonb; v_n int;
begin
  with ids as (
    select h.priority, h.id from unnest(coord.nonempty_classes(p_project, 1::smallint, null)) n (class_id)
      join coord.demand_class c on c.project_id = p_project and c.queue = 1 and c.id = n.class_id
        and (p_types is null or c.demands ->> 'task_type' = any (p_types))
      cross join lateral (select r.priority, r.id from coord.ready r where r.project_id = p_project and r.queue = 1 and r.class_id = n.class_id
        order by r.priority, r.id limit p_limit + 1) h
    order by h.priority, h.id limit p_limit + 1)
  select pg_catalog.jsonb_agg(coord.task_json(w, false) order by w.priority, w.id), count(*) into v_tasks, v_n
    from ids join public.work_queue w on w.project_id = p_project and w.id = ids.id;
  if v_n > p_limit then v_tasks := v_tasks - p_limit; end if;
  return pg_catalog.jsonb_build_object('tasks', coalesce(v_tasks, '[]'), 'count', least(v_n, p_limit), 'truncated', v_n > p_limit);
end $$;

-- What waits for dependencies, oldest first, each with its reason. Looks at the first 5,000 open dependencies.
create function coord.blocked_work(p_project bigint, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_tasks jsonb; v_n int;
begin
  with ids as (select distinct d.id from (select x.id from coord.work_dep x where x.project_id = p_project limit 5000) d order by d.id limit p_limit + 1)
  select pg_catalog.jsonb_agg(coord.task_json(w, false)
      || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('why', y.why, 'waits_for', y.waits_for)) order by w.id), count(*) into v_tasks, v_n
    from ids join public.work_queue w on w.project_id = p_project and w.id = ids.id cross join lateral coord.task_why(w) y
    where w.status in ('pending', 'scheduled');
  if v_n > p_limit then v_tasks := v_tasks - p_limit; end if;
  return pg_catalog.jsonb_build_object('tasks', coalesce(v_tasks, '[]'), 'count', least(v_n, p_limit), 'truncated', v_n > p_limit);
end $$;

-- Figures: what is ready by task type and demands (counted to 10,000 a class), what is blocked, scheduled and in
-- work, and how the latest 20,000 tasks stand.
create function coord.work_stats(p_project bigint) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_lanes jsonb; v_status jsonb;
begin
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_type', c.demands ->> 'task_type', 'demands', nullif(c.demands - 'task_type', '{}'),
      'ready', x.n, 'oldest', coord.ts(x.oldest)) order by x.n desc, c.id) into v_lanes
    from unnest(coord.nonempty_classes(p_project, 1::smallint, null)) k (id)
    join coord.demand_class c on c.project_id = p_project and c.queue = 1 and c.id = k.id
    cross join lateral (select count(*) as n, (select w.created_at from public.work_queue w where w.project_id = p_project and w.id = min(y.id)) as oldest
      from (select r.id from coord.ready r where r.project_id = p_project and r.queue = 1 and r.class_id = k.id order by r.priority, r.id limit 10000) y) x;
  select pg_catalog.jsonb_object_agg(s.status, s.n) into v_status from (
    select coord.task_state(w) as status, count(*) as n
    from (select x.* from public.work_queue x where x.project_id = p_project order by x.id desc limit 20000) w group by 1) s;
  return pg_catalog.jsonb_build_object('ready', coalesce((select sum((l ->> 'ready')::int) from pg_catalog.jsonb_array_elements(v_lanes) l), 0),
    'claimed', (select count(*) from coord.lease l where l.project_id = p_project and l.queue = 1),
    'scheduled', (select count(*) from coord.timer t where t.project_id = p_project and t.queue = 1 and t.kind = 1),
    'blocked', (select count(distinct d.id) from (select x.id from coord.work_dep x where x.project_id = p_project limit 10000) d),
    'lanes', coalesce(v_lanes, '[]'), 'latest', coalesce(v_status, '{}'));
end $$;

grant execute on function coord.get_task(bigint, uuid), coord.why_not_ready(bigint, uuid, text), coord.list_work(bigint, jsonb, int, bigint),
  coord.ready_work(bigint, text[], int), coord.blocked_work(bigint, int), coord.work_stats(bigint) to service_role;
