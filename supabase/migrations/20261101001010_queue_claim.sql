-- Claiming at speed, and past what others hold: the rows of a claim come as columns, and a claimer may say up to where its
-- lanes are consumed, so that no claim walks over what was deleted under somebody's old snapshot.
set local lock_timeout = '5s';

-- coord.claim_ready with floors: nothing of a lane (p_floor_class, p_floor_priority) is looked for up to p_floor_id. A floor
-- is a hint of the caller's: what came back below it is found by the caller's next claim without, which it makes every
-- second, and by this one when there is nothing else. heads are (class, priority, first) of every lane that was taken from,
-- flat: nothing that the claim could see lies before first, whoever is just taking it.
-- A class without a floor is one range of places (priority, id); floors cut it into one range a lane and one before.
create function coord.claim_lanes(p_project bigint, p_queue smallint, p_classes int[], p_n int,
  p_floor_class int[], p_floor_priority smallint[], p_floor_id bigint[], out ids bigint[], out heads bigint[])
language plpgsql set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_got bigint[]; v_classes int[] := p_classes; v_fp smallint[]; v_fi bigint[]; v_tp smallint[];
  v_head record; v_k int; v_class int; v_priority smallint; v_first bigint; v_bound bigint;
begin
  ids := '{}';
  heads := '{}';
  if pg_catalog.cardinality(v_classes) > 64 then v_classes := coord.nonempty_classes(p_project, p_queue, v_classes); end if;
  if coalesce(pg_catalog.cardinality(v_classes), 0) = 0 then return; end if;
  if coalesce(pg_catalog.cardinality(p_floor_class), 0) = 0 then
    v_fp := pg_catalog.array_fill(0::smallint, array[pg_catalog.cardinality(v_classes)]);
    v_fi := pg_catalog.array_fill(0::bigint, array[pg_catalog.cardinality(v_classes)]);
    v_tp := pg_catalog.array_fill(32767::smallint, array[pg_catalog.cardinality(v_classes)]);
  else
    select pg_catalog.array_agg(x.c), pg_catalog.array_agg(x.fp), pg_catalog.array_agg(x.fi), pg_catalog.array_agg(x.tp) into v_classes, v_fp, v_fi, v_tp from (
      select c.c, 0::smallint as fp, 0::bigint as fi, coalesce(min(f.p), 32767)::smallint as tp
        from unnest(v_classes) c (c) left join unnest(p_floor_class, p_floor_priority) f (c, p) on f.c = c.c group by c.c
      union all
      select f.c, f.p, f.i, coalesce(pg_catalog.lead(f.p) over (partition by f.c order by f.p), 32767)::smallint
        from unnest(p_floor_class, p_floor_priority, p_floor_id) f (c, p, i) where f.c = any (v_classes)) x
    where x.tp > 1;
  end if;
  loop
    v_k := null; v_bound := 9223372036854775807;
    for v_head in
      select c.k, c.class_id, h.priority, h.id
      from unnest(v_classes, v_fp, v_fi, v_tp) with ordinality c (class_id, fp, fi, tp, k)
      cross join lateral (
        select r.priority, r.id from coord.ready r
        where r.project_id = p_project and r.queue = p_queue and r.class_id = c.class_id and (r.priority, r.id) > (c.fp, c.fi) and r.priority < c.tp
        order by r.priority, r.id limit 1) h
      order by h.priority, h.id limit 2
    loop
      if v_k is null then
        v_k := v_head.k; v_class := v_head.class_id; v_priority := v_head.priority; v_first := v_head.id;
      elsif v_head.priority = v_priority then
        v_bound := v_head.id;
      end if;
    end loop;
    exit when v_k is null;
    with taken as (
      delete from coord.ready d where d.ctid = any (array(
        select r.ctid from coord.ready r
        where r.project_id = p_project and r.queue = p_queue and r.class_id = v_class and r.priority = v_priority
          and r.id >= v_first and r.id < v_bound
        order by r.id limit p_n - pg_catalog.cardinality(ids) for update skip locked))
      returning d.id)
    select pg_catalog.array_agg(t.id order by t.id) into v_got from taken t;
    ids := ids || v_got;
    heads := heads || array[v_class, v_priority, v_first];
    exit when pg_catalog.cardinality(ids) >= p_n;
    v_fp[v_k] := v_priority; v_fi[v_k] := v_bound - 1;
  end loop;
end $$;

-- As before (see claiming): coord.claim_lanes without floors.
create or replace function coord.claim_ready(p_project bigint, p_queue smallint, p_classes int[], p_n int)
returns bigint[] language plpgsql set search_path = '' as $$
begin
  return (coord.claim_lanes(p_project, p_queue, p_classes, p_n, null, null, null)).ids;
end $$;

-- Claims up to p_n tasks for the session: the best first (priority, then age), for p_lease seconds.
-- p_classes, p_epoch and p_caps are what the caller remembers from the last reply of this claimer (same session,
-- types and tags); a reply carries classes, epoch and caps anew when they changed. p_floor_*: see coord.claim_lanes.
-- The first row is the call's: reply has memo, and when nothing was claimed reason and queue; heads are the lanes taken
-- from. A row for each task follows, in no order: sort them by priority, then place. Codes: PT440.
create function coord.claim_tasks(p_project bigint, p_session bigint, p_by text, p_types text[], p_tags text[], p_n int, p_lease int,
  p_classes int[], p_epoch int, p_caps text, p_floor_class int[], p_floor_priority smallint[], p_floor_id bigint[])
returns table (reply jsonb, heads bigint[], lease_until timestamptz, place bigint, task_id text, task_type text, description text, input_data jsonb, priority smallint,
  deadline timestamptz, attempt smallint, max_attempts smallint, lease_token text, files text[], repository text, tags text[], depends_on text[], last_error text)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare v_now timestamptz; v_s public.agent_sessions; v_claimer jsonb; v_caps text; v_last int; v_classes int[] := p_classes;
  v_ids bigint[]; v_uuids text[]; v_places tid[]; v_until timestamptz; v_n int; v_refusal jsonb; v_floors boolean := pg_catalog.cardinality(p_floor_class) > 0;
begin
  v_s := coord.work_session(p_project, p_session);
  -- Holds keep a session from new work; they are made by a later migration, and looked for when this is called.
  v_refusal := (select coord.hold_refusal(h) from coord.dispatch_hold(p_project, v_s.agent_id, p_session) h where h.project_id is not null);
  if v_refusal is not null then
    reply := v_refusal || pg_catalog.jsonb_build_object('held', true, 'queue', coord.work_counts(p_project));
    return next;
    return;
  end if;
  v_claimer := coord.work_claimer(v_s, p_types, p_tags);
  v_caps := pg_catalog.md5(v_claimer::text);
  v_last := coord.class_epoch(p_project, 1::smallint);
  if v_caps is distinct from p_caps or v_last <> p_epoch then
    v_classes := case when v_caps = p_caps and v_last > p_epoch
      then p_classes || coord.match_classes(p_project, 1::smallint, v_claimer, p_epoch)
      else coord.match_classes(p_project, 1::smallint, v_claimer) end;
    reply := pg_catalog.jsonb_build_object('memo', pg_catalog.jsonb_build_object('classes', v_classes, 'epoch', v_last, 'caps', v_caps));
  end if;
  loop
    select l.ids, l.heads into v_ids, heads from coord.claim_lanes(p_project, 1::smallint, v_classes, p_n,
      case when v_floors then p_floor_class end, case when v_floors then p_floor_priority end, case when v_floors then p_floor_id end) l;
    if pg_catalog.cardinality(v_ids) = 0 then
      if v_floors then  -- there may be something below
        v_floors := false;
        continue;
      end if;
      reply := coalesce(reply, '{}') || pg_catalog.jsonb_build_object('reason', 'no_tasks_available', 'queue', coord.work_counts(p_project));
      return next;
      return;
    end if;
    -- Locked in the order of their ids, and as they are then: some may have been cancelled or become overdue just now.
    v_now := coord.now();
    select pg_catalog.array_agg(l.id), pg_catalog.array_agg(l.task_id), pg_catalog.array_agg(l.ctid) into v_ids, v_uuids, v_places
      from (select u.id from unnest(v_ids) u (id) order by u.id offset 0) s
      cross join lateral (select w.id, w.task_id::text as task_id, w.ctid, w.status, w.deadline from public.work_queue w
        where w.project_id = p_project and w.id = s.id limit 1 for no key update) l
      where l.status = 'pending' and (l.deadline is null or l.deadline > v_now);
    exit when v_ids is not null;  -- else look further
  end loop;
  v_now := coord.now();
  lease_until := v_now + make_interval(secs => p_lease);
  v_until := lease_until;
  return next;
  insert into coord.lease (project_id, queue, until, id, session_id) select p_project, 1, v_until, u.id, p_session from unnest(v_ids) u (id);
  perform coord.audit(p_project, p_session, p_by, 'get_work', v_uuids);
  -- What is locked stays in its place.
  return query
    update public.work_queue w set status = 'claimed', claimed_by = v_s.agent_id, session_id = p_session, claimed_at = v_now,
      attempt = w.attempt + 1, fence = w.fence + 1, lease_seconds = p_lease, lease_until = v_until, lease_due = v_until,
      run_at = null, progress = null, ended_by = null, ended_as = null, updated_at = v_now
    where w.ctid = any (v_places)
    returning null::jsonb, null::bigint[], null::timestamptz, w.id, w.task_id::text, w.task_type, w.description, w.input_data, w.priority,
      w.deadline, w.attempt, w.max_attempts, w.fence::text, nullif(w.files, '{}'), w.repository, nullif(w.tags, '{}'), nullif(w.depends_on, '{}')::text[], w.error_message;
  get diagnostics v_n = row_count;
  if v_n <> pg_catalog.cardinality(v_ids) then raise exception 'claimed % of % tasks', v_n, pg_catalog.cardinality(v_ids) using errcode = 'serialization_failure'; end if;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.claim_tasks(bigint, bigint, text, text[], text[], int, int, int[], int, text, int[], smallint[], bigint[]) to service_role;
