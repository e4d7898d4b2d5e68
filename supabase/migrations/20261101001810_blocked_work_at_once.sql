-- Why tasks wait is found for a whole list at once. It was asked for each of them in turn, which took most of the time of
-- the board with some hundred blocked tasks. The words are the same; both functions take them from one place.
create function coord.blocked_words(p_open bigint, p_of int, p_stuck bigint) returns text language sql immutable set search_path = '' as $$
  select pg_catalog.format('blocked: waits for %s of its %s dependencies', p_open, p_of)
    || case when p_stuck > 0 then pg_catalog.format('; %s of them failed: retry it, or cancel this task', p_stuck) else '' end
$$;
revoke all on function coord.blocked_words(bigint, int, bigint) from public;
grant execute on function coord.blocked_words(bigint, int, bigint) to service_role;

create function coord.scheduled_words(p_run_at timestamptz, p_error text) returns text language sql stable set search_path = '' as $$
  select 'scheduled: begins at ' || coord.ts(p_run_at) || coalesce(' after: ' || p_error, '')
$$;
revoke all on function coord.scheduled_words(timestamptz, text) from public;
grant execute on function coord.scheduled_words(timestamptz, text) to service_role;

create or replace function coord.task_why(p_w public.work_queue, out why text, out waits_for jsonb) language plpgsql stable set search_path = '' as $$
declare v_n int; v_stuck int;
begin
  if p_w.status in ('pending', 'scheduled') and p_w.waiting_on > 0 then
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', d.task_id, 'task_type', d.task_type, 'status', coord.task_state(d),
        'error_message', d.error_message) order by d.id) filter (where d.status <> 'completed'),
      count(*) filter (where d.status <> 'completed'), count(*) filter (where d.status in ('failed', 'dead', 'cancelled'))
      into waits_for, v_n, v_stuck from public.work_queue d where d.project_id = p_w.project_id and d.task_id = any (p_w.depends_on);
    waits_for := pg_catalog.jsonb_strip_nulls(waits_for);
    why := coord.blocked_words(v_n, pg_catalog.cardinality(p_w.depends_on), v_stuck);
  end if;
  if p_w.status = 'scheduled' then
    why := pg_catalog.concat_ws('; ', why, coord.scheduled_words(p_w.run_at, p_w.error_message));
  elsif p_w.status in ('claimed', 'running') then
    why := pg_catalog.format('%s: %s has it until %s', p_w.status, p_w.claimed_by, coord.ts(p_w.lease_until));
  elsif p_w.status = 'verifying' then
    why := 'verifying: its result is being checked';
  elsif p_w.status in ('completed', 'failed', 'dead', 'cancelled') then
    why := 'it is ' || p_w.status || case when p_w.error_message is null then '' else ': ' || p_w.error_message end;
  end if;
end $$;

create or replace function coord.blocked_work(p_project bigint, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_tasks jsonb; v_n int;
begin
  with ids as (select distinct d.id from (select x.id from coord.work_dep x where x.project_id = p_project limit 5000) d order by d.id limit p_limit + 1),
  tasks as materialized (
    select w.* from ids join public.work_queue w on w.project_id = p_project and w.id = ids.id where w.status in ('pending', 'scheduled')),
  reasons as (
    select t.id, pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', d.task_id, 'task_type', d.task_type, 'status', coord.task_state(d),
        'error_message', d.error_message) order by d.id) filter (where d.status <> 'completed') as waits_for,
      count(*) filter (where d.status <> 'completed') as n, count(*) filter (where d.status in ('failed', 'dead', 'cancelled')) as stuck
    from tasks t cross join lateral unnest(t.depends_on) u (task_id)
      join public.work_queue d on d.project_id = p_project and d.task_id = u.task_id
    where t.waiting_on > 0 group by t.id)
  select pg_catalog.jsonb_agg(coord.task_json(w, false) || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('waits_for', y.waits_for,
      'why', nullif(pg_catalog.concat_ws('; ', case when w.waiting_on > 0 then coord.blocked_words(coalesce(y.n, 0), pg_catalog.cardinality(w.depends_on), coalesce(y.stuck, 0)) end,
        case when w.status = 'scheduled' then coord.scheduled_words(w.run_at, w.error_message) end), ''))) order by w.id), count(*) into v_tasks, v_n
    from tasks t join public.work_queue w on w.project_id = p_project and w.id = t.id left join reasons y on y.id = t.id;
  if v_n > p_limit then v_tasks := v_tasks - p_limit; end if;
  return pg_catalog.jsonb_build_object('tasks', coalesce(v_tasks, '[]'), 'count', least(v_n, p_limit), 'truncated', v_n > p_limit);
end $$;
