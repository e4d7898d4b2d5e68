-- Completing at speed: plain successes, of one call or of many calls that came at the same time, in one statement.
set local lock_timeout = '5s';

-- Completes those of the tasks that are simply completed: held by who calls, with a token that is the present one if any.
-- Everything is aligned with p_ids; p_agents and p_implicit are the callers' (see coord.work_sessions), of one element for
-- all or one each. p_results and p_errors may be null. done are the positions that were completed; the caller audits them
-- and decides on the others, which are locked.
create function coord.complete_plain(p_project bigint, p_sessions bigint[], p_agents text[], p_implicit boolean[], p_ids uuid[], p_tokens text[],
  p_results jsonb[], p_errors text[], p_now timestamptz, out done int[], out wake text[])
language plpgsql set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_many boolean := pg_catalog.cardinality(p_sessions) > 1; v_ids bigint[]; v_places tid[]; v_dues timestamptz[]; v_deadlines timestamptz[]; v_n int;
  v_session bigint := p_sessions[1]; v_agent text := p_agents[1]; v_implicit boolean := p_implicit[1];
begin
  -- Locked in the order of their ids, each found by its key, and judged as they are then. What is locked stays in its place.
  select pg_catalog.array_agg(s.n), pg_catalog.array_agg(s.id), pg_catalog.array_agg(l.ctid), pg_catalog.array_agg(l.lease_due), pg_catalog.array_agg(l.deadline) filter (where l.deadline is not null)
    into done, v_ids, v_places, v_dues, v_deadlines
    from (select i.n::int as n, y.id, i.token, coalesce(i.session, v_session) as session, coalesce(i.agent, v_agent) as agent, coalesce(i.implicit, v_implicit) as implicit
      from unnest(p_ids, p_tokens, case when v_many then p_sessions end, case when v_many then p_agents end, case when v_many then p_implicit end)
        with ordinality i (task_id, token, session, agent, implicit, n)
      cross join lateral (select w.id from public.work_queue w where w.project_id = p_project and w.task_id = i.task_id limit 1) y
      order by y.id offset 0) s
    cross join lateral (select w.ctid, w.status, w.claimed_by, w.session_id, w.fence, w.lease_due, w.deadline from public.work_queue w
      where w.project_id = p_project and w.id = s.id limit 1 for no key update) l
    where l.status in ('claimed', 'running') and l.claimed_by = s.agent
      and (l.session_id = s.session or s.implicit or s.token is not null) and (s.token is null or s.token = l.fence::text);
  wake := '{}';
  if done is null then
    done := '{}';
    return;
  end if;
  if p_results is null and p_errors is null and not v_many then
    update public.work_queue w set status = 'completed', result = null, error_message = null, completed_at = p_now, updated_at = p_now,
        lease_until = null, session_id = null, ended_by = v_agent, ended_as = 'completed'
      where w.ctid = any (v_places);
  else
    update public.work_queue w set status = 'completed', result = nullif(i.result, 'null'), error_message = i.error, completed_at = p_now, updated_at = p_now,
        lease_until = null, session_id = null, ended_by = i.agent, ended_as = 'completed'
      from (select t.place, p_results[t.n] as result, p_errors[t.n] as error, p_agents[case when v_many then t.n else 1 end] as agent
        from unnest(v_places, done) t (place, n)) i
      where w.ctid = i.place;
  end if;
  get diagnostics v_n = row_count;
  if v_n <> pg_catalog.cardinality(v_places) then raise exception 'completed % of % tasks', v_n, pg_catalog.cardinality(v_places) using errcode = 'serialization_failure'; end if;
  delete from coord.lease l where l.ctid = any (array(select x.ctid from unnest(v_ids, v_dues) d (id, due) cross join lateral (
    select y.ctid from coord.lease y where y.project_id = p_project and y.queue = 1 and y.until = d.due and y.id = d.id limit 1) x));
  if v_deadlines is not null then
    delete from coord.timer t where t.project_id = p_project and t.queue = 1 and t.kind = 2 and t.at = any (v_deadlines) and t.id = any (v_ids);
  end if;
  wake := coord.unblock(p_project, v_ids, p_now);
end $$;

-- Ends tasks with success, in columns: p_results may be null. p_sessions and p_by have one element for all tasks (one call),
-- or one a task (calls that are answered together, each with its own audit row). others are those that were not simply
-- completed, {n, …the reply of coord.complete_one}; of calls that are answered together only {n}: each is to be made alone.
-- Codes: PT440.
create function coord.complete_tasks(p_project bigint, p_sessions bigint[], p_by text[], p_ids uuid[], p_tokens text[], p_results jsonb[])
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_m record; v_d record; v_n int := pg_catalog.cardinality(p_ids); v_many boolean := pg_catalog.cardinality(p_sessions) > 1;
  v_now timestamptz; v_s public.agent_sessions; v_one jsonb; v_others jsonb[] := '{}'; v_wake text[]; v_changed text[];
begin
  v_m := coord.work_sessions(p_project, p_sessions);
  v_now := coord.now();
  v_d := coord.complete_plain(p_project, p_sessions, v_m.agents, v_m.implicit, p_ids, p_tokens, p_results, null, v_now);
  v_wake := v_d.wake;
  v_changed := case when pg_catalog.cardinality(v_d.done) = v_n then p_ids::text[] else array(select p_ids[d.n]::text from unnest(v_d.done) d (n)) end;
  if pg_catalog.cardinality(v_d.done) < v_n then
    select * into v_s from public.agent_sessions s where s.project_id = p_project and s.id = p_sessions[1];
    for n in 1 .. v_n loop
      continue when n = any (v_d.done);
      if v_many then
        v_others := v_others || pg_catalog.jsonb_build_object('n', n);
        continue;
      end if;
      v_one := coord.complete_one(p_project, v_s, p_ids[n], true, p_results[n], null, false, p_tokens[n], v_n = 1, v_now);
      if (v_one ->> 'success')::boolean and not v_one ? 'replayed' then v_changed := v_changed || p_ids[n]::text; end if;
      v_wake := v_wake || coalesce(array(select pg_catalog.jsonb_array_elements_text(v_one -> 'wake')), '{}');
      v_others := v_others || (v_one - 'wake' || pg_catalog.jsonb_build_object('n', n));
    end loop;
  end if;
  if pg_catalog.cardinality(v_changed) > 0 then
    if v_many then
      perform coord.audit_each(p_project, array(select p_sessions[d.n] from unnest(v_d.done) d (n)), array(select p_by[d.n] from unnest(v_d.done) d (n)), 'complete_work', v_changed);
    else
      perform coord.audit(p_project, p_sessions[1], p_by[1], 'complete_work', v_changed);
    end if;
    v_wake := v_wake || coord.work_topic(p_project);
  end if;
  return pg_catalog.jsonb_build_object('others', v_others, 'wake', v_wake);
end $$;

-- As before (see feedback), for items of every kind; the plain successes among them go to coord.complete_plain.
create or replace function coord.complete_work(p_project bigint, p_session bigint, p_by text, p_items jsonb)
returns jsonb language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_s public.agent_sessions := coord.work_session(p_project, p_session); v_now timestamptz; v_d record; v_wake text[]; v_at int[]; v_done int[];
  v_ids uuid[]; v_tokens text[]; v_results jsonb[]; v_errors text[]; v_item record; v_one jsonb; v_all jsonb[] := '{}'; v_n int := pg_catalog.jsonb_array_length(p_items); v_changed text[];
begin
  if p_items @? '$[*].head_sha' then  -- so that no verdict on them comes meanwhile
    perform coord.lock_head(p_project, h.sha) from (select distinct i ->> 'head_sha' as sha from pg_catalog.jsonb_array_elements(p_items) i where i ? 'head_sha' order by 1) h;
  end if;
  -- All of them first, in one order, since not all go the same way.
  perform coord.lock_tasks(p_project, array(select w.id from (select distinct (i ->> 'task_id')::uuid as task_id from pg_catalog.jsonb_array_elements(p_items) i) i
    cross join lateral (select x.id from public.work_queue x where x.project_id = p_project and x.task_id = i.task_id limit 1) w));
  v_now := coord.now();
  select pg_catalog.array_agg(i.n), pg_catalog.array_agg(i.task_id), pg_catalog.array_agg(i.lease_token), pg_catalog.array_agg(i.result), pg_catalog.array_agg(i.error_message)
    into v_at, v_ids, v_tokens, v_results, v_errors from (
      select distinct on (r.task_id) r.* from rows from (jsonb_to_recordset(p_items) as (task_id uuid, success boolean, result jsonb, error_message text, lease_token text, head_sha text))
        with ordinality as r (task_id, success, result, error_message, lease_token, head_sha, n)
      where r.success and r.head_sha is null order by r.task_id, r.n) i;
  v_d := coord.complete_plain(p_project, array[p_session], array[v_s.agent_id], array[v_s.implicit], v_ids, v_tokens, v_results, v_errors, v_now);
  v_wake := v_d.wake;
  v_done := array(select v_at[d.n] from unnest(v_d.done) d (n));
  v_changed := array(select v_ids[d.n]::text from unnest(v_d.done) d (n));
  for v_item in select * from rows from (jsonb_to_recordset(p_items)
      as (task_id uuid, success boolean, result jsonb, error_message text, retryable boolean, lease_token text, head_sha text))
      with ordinality as x (task_id, success, result, error_message, retryable, lease_token, head_sha, n)
  loop
    if v_item.n = any (v_done) then
      v_one := pg_catalog.jsonb_build_object('success', true, 'task_id', v_item.task_id, 'status', 'completed');
    else
      if v_item.success and v_item.head_sha is not null then
        v_one := coord.complete_with_commit(p_project, v_s, v_item.task_id, v_item.result, v_item.head_sha, v_item.lease_token, v_n = 1, v_now);
      else
        v_one := coord.complete_one(p_project, v_s, v_item.task_id, coalesce(v_item.success, false), v_item.result, v_item.error_message,
          coalesce(v_item.retryable, false), v_item.lease_token, v_n = 1, v_now);
      end if;
      if (v_one ->> 'success')::boolean and not v_one ? 'replayed' or v_one ->> 'reason' = 'verification_failed' then v_changed := v_changed || v_item.task_id::text; end if;
      v_wake := v_wake || coalesce(array(select pg_catalog.jsonb_array_elements_text(v_one -> 'wake')), '{}');
    end if;
    v_all := v_all || (v_one - 'wake');
  end loop;
  if pg_catalog.cardinality(v_changed) > 0 then
    perform coord.audit(p_project, p_session, p_by, 'complete_work', v_changed);
    v_wake := v_wake || coord.work_topic(p_project);
  end if;
  return pg_catalog.jsonb_build_object('results', pg_catalog.to_jsonb(v_all), 'wake', v_wake);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.complete_tasks(bigint, bigint[], text[], uuid[], text[], jsonb[]), coord.complete_work(bigint, bigint, text, jsonb) to service_role;
