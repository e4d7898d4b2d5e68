-- A list of tasks reads no more of the queue than it shows. The newest 20,000 tasks were first put aside as a whole, each
-- with its description, then filtered: of 10,000 tasks the page kept all to show fifty, several times a view. They are read
-- one by one now, newest first, and the reading ends with the last that is shown. Replies and cursors are as before: 20,000 tasks are the most
-- that one call looks at.
create or replace function coord.list_work(p_project bigint, p_filter jsonb, p_limit int, p_cursor bigint) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_status text[]; v_types text[]; v_tasks jsonb; v_n int; v_last bigint; v_next bigint; v_held bigint[];
  v_before bigint := coalesce(p_cursor, 9223372036854775807);
begin
  select pg_catalog.array_agg(x) into v_status from pg_catalog.jsonb_array_elements_text(nullif(p_filter -> 'status', 'null')) x;
  select pg_catalog.array_agg(x) into v_types from pg_catalog.jsonb_array_elements_text(nullif(p_filter -> 'task_types', 'null')) x;
  if v_status <@ '{claimed,running}' then  -- few among many: by their leases
    v_held := array(select l.id from coord.lease l where l.project_id = p_project and l.queue = 1 order by l.id desc limit 20000);
  end if;
  with hits as materialized (
    select p.* from (
        (select w.* from public.work_queue w where v_held is null and w.project_id = p_project and w.id < v_before order by w.id desc limit 20000)
        union all
        (select w.* from public.work_queue w where w.project_id = p_project and w.id = any (v_held) and w.id < v_before order by w.id desc limit 20000)) p
      where (v_status is null or p.status = any (v_status)
          or case when p.status <> 'pending' then false when p.waiting_on > 0 then 'blocked' = any (v_status) else 'ready' = any (v_status) end)
        and (v_types is null or p.task_type = any (v_types)) and (p_filter ->> 'tag' is null or p_filter ->> 'tag' = any (p.tags))
        and (p_filter ->> 'label' is null or p_filter ->> 'label' = any (p.labels))
        and (p_filter ->> 'claimed_by' is null or p.claimed_by = p_filter ->> 'claimed_by')
        and (p_filter ->> 'submitted_by' is null or p.submitted_by = p_filter ->> 'submitted_by')
      order by p.id desc limit p_limit + 1),
  shown as (select w.* from (select h.id from hits h order by h.id desc limit p_limit) s join public.work_queue w on w.project_id = p_project and w.id = s.id)
  select (select pg_catalog.jsonb_agg(coord.task_json(s, false) order by s.id desc) from shown s), (select count(*) from hits), (select min(s.id) from shown s)
    into v_tasks, v_n, v_last;
  if v_n > p_limit then
    v_next := v_last;
  elsif v_held is null then  -- all of a page was looked at; there may be another
    select w.id into v_next from public.work_queue w where w.project_id = p_project and w.id < v_before order by w.id desc offset 19999 limit 1;
  end if;
  return pg_catalog.jsonb_build_object('tasks', coalesce(v_tasks, '[]'), 'count', coalesce(pg_catalog.jsonb_array_length(v_tasks), 0), 'truncated', v_next is not null)
    || case when v_next is null then '{}' else pg_catalog.jsonb_build_object('next_cursor', v_next::text) end;
end $$;
