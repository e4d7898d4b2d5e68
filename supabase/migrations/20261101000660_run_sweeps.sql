-- What becomes due with runs and runners, recovery at the start, and why a run is pending. Sweeps are bounded, skip what
-- others hold, and may run in any number of processes at once.
set local lock_timeout = '5s';

-- Up to p_limit runs that are due by time, each with what is to be done.
create function coord.due_runs(p_now timestamptz, p_limit int) returns table (run_id text, session_id text, what text) language plpgsql stable set search_path = '' as $$
begin
  return query
    (select r.run_id, r.session_id, 'timeout' from public.runs r where r.status = 'pending' and r.timeout_at <= p_now and r.waits is null order by r.timeout_at limit p_limit)
    union all
    (select r.run_id, r.session_id, 'delay' from public.runs r where r.status = 'pending' and r.waits = 'time' and r.run_at <= p_now order by r.run_at limit p_limit)
    union all
    (select r.run_id, r.session_id, 'deadline' from public.runs r where r.deadline <= p_now and r.completed_at is null and r.status <> 'stopping' order by r.deadline limit p_limit)
    union all
    (select r.run_id, r.session_id, 'lease' from coord.lease l join public.runs r on r.id = l.id where l.project_id = 0 and l.queue = 2 and l.until <= p_now order by l.until limit p_limit)
    union all  -- its runner never answered the stop
    (select r.run_id, r.session_id, 'stopping' from public.runs r where r.runner_id is not null and r.status = 'stopping' and r.stopping_at < p_now - interval '60 seconds' limit p_limit)
    union all  -- its runner is gone
    (select r.run_id, r.session_id, 'lost' from public.runs r where r.runner_id is not null and r.status in ('claimed', 'running', 'stopping')
      and not exists (select from public.runners x where x.runner_id = r.runner_id) limit p_limit);
end $$;

-- Does what is due with one run, its session and row locked by the caller. Looks again, since time went by.
create function coord.run_due(p_r public.runs, p_what text, p_now timestamptz, p_stale int) returns text[] language plpgsql set search_path = '' as $$
begin
  case
    when p_what = 'timeout' and p_r.status = 'pending' and p_r.timeout_at <= p_now then
      -- A run that only waits for its turn at a living runner goes on waiting.
      if exists (select from public.runners x where x.last_heartbeat > p_now - pg_catalog.make_interval(secs => p_stale) and not x.leaving
          and (x.project_id is null or x.project_id = p_r.project_id)
          and coord.demands_match(coord.canonical_demands(p_r.demands), coord.runner_claimer(x))) then
        update public.runs r set timeout_at = p_now + pg_catalog.make_interval(secs => r.no_match_seconds) where r.project_id = p_r.project_id and r.id = p_r.id;
        return '{}';
      end if;
      return coord.end_run(p_r, 'failed', 'No matching runner available within timeout');
    when p_what = 'delay' and p_r.status = 'pending' and p_r.waits = 'time' and p_r.run_at <= p_now then
      p_r.run_at := null;
      return coord.enqueue_run(p_r);
    when p_what = 'deadline' and p_r.status = 'pending' then
      return coord.end_run(p_r, 'failed', 'Run deadline exceeded');
    when p_what = 'deadline' and p_r.status in ('claimed', 'running') then
      update public.runs r set error = 'Run deadline exceeded' where r.project_id = p_r.project_id and r.id = p_r.id;
      return coord.texts(coord.stop_locked(p_r) -> 'wake');
    when p_what = 'lease' and p_r.status = 'claimed' and p_r.lease_until <= p_now then
      if p_r.lapses >= 9 then  -- whoever takes it dies of it
        return coord.end_run(p_r, 'failed', 'Claimed 10 times and never started');
      end if;
      return coord.requeue_run(p_r, 0, null);
    when p_what = 'stopping' and p_r.status = 'stopping' then
      return coord.end_run(p_r, 'stopped', null);
    when p_what = 'lost' and p_r.status in ('claimed', 'running', 'stopping') then
      return coord.run_lost(p_r, 'Runner disconnected during execution');
    else return '{}';
  end case;
end $$;

-- Everything due: runs by time, runners silent for p_remove seconds and what they had, callbacks, the live log's numbers
-- and its retention (a day).
create function coord.sweep_runs(p_stale int, p_remove int, p_no_match int, p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_due record; v_r public.runs; v_x public.runners; v_wake text[] := '{}'; v_n int := 0; v_out jsonb;
begin
  for v_x in select * from public.runners x where x.last_heartbeat <= v_now - pg_catalog.make_interval(secs => p_remove) order by x.runner_id limit p_limit for update skip locked loop
    -- What it had is found below, run by run: a sweep waits for nobody's lock.
    delete from public.runners r where r.runner_id = v_x.runner_id;
    perform coord.emit(v_x.project_id, 'runner_removed', null, pg_catalog.jsonb_build_object('runner_id', v_x.runner_id));
    v_wake := v_wake || coord.live_topic();
    perform coord.audit(coord.ensure_project('default'), null, 'system', 'remove_runner', array[v_x.runner_id], true, 'silent for too long');
    v_n := v_n + 1;
  end loop;
  for v_due in select * from coord.due_runs(v_now, p_limit) loop
    perform 1 from public.sessions s where s.session_id = v_due.session_id for update skip locked;
    continue when not found;
    select * into v_r from public.runs r where r.run_id = v_due.run_id for update skip locked;
    continue when v_r.id is null;
    v_wake := v_wake || coord.run_due(v_r, v_due.what, v_now, p_stale);
    v_n := v_n + 1;
  end loop;
  -- Runners that a wake-up should have told of a stop, or that they are to leave, and that were not heard to take it.
  v_wake := v_wake || array(select distinct coord.runner_topic(r.runner_id) from public.runs r where r.runner_id is not null and r.status = 'stopping'
      and (r.stop_sent_at is null or r.stop_sent_at < v_now - interval '5 seconds'))
    || array(select coord.runner_topic(x.runner_id) from public.runners x where x.leaving);
  v_out := coord.stop_taskless(p_limit);
  v_n := v_n + (v_out ->> 'stopped')::int;
  v_wake := v_wake || coord.texts(v_out -> 'wake');
  v_out := coord.deliver_callbacks(p_no_match, p_limit);
  perform coord.live_after(null, 0);
  delete from coord.live_log l where l.seq in (select x.seq from coord.live_log x where x.at < v_now - interval '1 day' order by x.at limit 5000);
  return pg_catalog.jsonb_build_object('changed', v_n + (v_out ->> 'delivered')::int, 'wake', v_wake || coord.texts(v_out -> 'wake'));
end $$;

-- Recovery at a coordinator's start. It concerns only runs whose runner was not heard for p_stale seconds or is gone:
-- healthy ones go on. p_mode stale: those claimed or started more than five minutes ago; all: at once; none: nothing.
-- claimed → pending, running → failed, stopping → stopped.
create function coord.recover_runs(p_mode text, p_stale int, p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_id text; v_r public.runs; v_wake text[] := '{}'; v_n int := 0;
  v_error text := case p_mode when 'all' then 'Coordinator restarted - execution state unknown' else 'Coordinator restarted during execution' end;
begin
  if p_mode = 'none' then return '{"recovered": 0}'; end if;
  for v_id in
    select r.run_id from public.runs r where r.runner_id is not null and r.status in ('claimed', 'running', 'stopping')
      and not exists (select from public.runners x where x.runner_id = r.runner_id and x.last_heartbeat > v_now - pg_catalog.make_interval(secs => p_stale))
      and (p_mode = 'all' or r.status = 'stopping' or coalesce(r.started_at, r.claimed_at) < v_now - interval '300 seconds')
    order by r.session_id, r.id limit p_limit
  loop
    select * into v_r from public.runs r where r.run_id = v_id;
    perform 1 from public.sessions s where s.session_id = v_r.session_id for update skip locked;
    continue when not found;
    select * into v_r from public.runs r where r.run_id = v_id for update;
    continue when v_r.status not in ('claimed', 'running', 'stopping');
    v_wake := v_wake || coord.run_lost(v_r, v_error);
    v_n := v_n + 1;
  end loop;
  return pg_catalog.jsonb_build_object('recovered', v_n, 'wake', v_wake);
end $$;

------------------------------------------------------------------------------------------------- why
-- What a runner lacks for these demands, in words; empty when it fits.
create function coord.runner_lacks(p_r public.runners, p_demands jsonb, p_project bigint) returns text[] language sql stable set search_path = '' as $$
  select pg_catalog.array_remove(array[
    case when p_demands ->> 'hostname' <> p_r.hostname then 'its host is ' || p_r.hostname end,
    case when p_demands ->> 'project_dir' <> p_r.project_dir then 'its directory is ' || p_r.project_dir end,
    case when p_demands ->> 'executor_profile' <> p_r.executor_profile then 'its profile is ' || p_r.executor_profile end,
    case when not coalesce(coord.texts(p_demands -> 'tags'), '{}') <@ p_r.tags then 'it lacks tags' end,
    case when p_r.require_matching_tags and coalesce(p_demands -> 'tags', '[]') = '[]' then 'it takes tagged runs only' end,
    case when p_r.project_id is not null and p_r.project_id <> p_project then 'it serves another project' end,
    case when p_r.leaving then 'it is being deregistered' end], null)
$$;

-- Why a run is where it is: what it waits for, and for each runner what it lacks.
create function coord.why_run(p_only bigint, p_run text, p_stale int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_r public.runs; v_now timestamptz := coord.now(); v_runners jsonb; v_fit int; v_full int; v_before text; v_ahead int := 0; v_why text; v_reason text := 'waiting';
begin
  select * into v_r from public.runs r where r.run_id = p_run and (p_only is null or r.project_id = p_only);
  if v_r.id is null then perform coord.no_run(); end if;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('runner_id', x.runner_id, 'hostname', x.hostname, 'executor_profile', x.executor_profile, 'status', y.status,
      'fits', pg_catalog.cardinality(y.lacks) = 0, 'lacks', y.lacks) order by x.runner_id), count(*) filter (where pg_catalog.cardinality(y.lacks) = 0 and y.status = 'online'),
      count(*) filter (where pg_catalog.cardinality(y.lacks) = 0 and y.status = 'online' and y.full)
    into v_runners, v_fit, v_full from public.runners x cross join lateral (select coord.runner_lacks(x, v_r.demands, v_r.project_id) as lacks,
      case when x.last_heartbeat > v_now - pg_catalog.make_interval(secs => p_stale) then 'online' else 'stale' end as status,
      (select count(*) from public.runs h where h.runner_id = x.runner_id and h.status in ('claimed', 'running', 'stopping')) >= x.capacity as full) y;
  if v_r.status <> 'pending' then
    v_reason := v_r.status;
    v_why := case when v_r.status in ('claimed', 'running', 'stopping') then pg_catalog.format('%s: runner %s has it', v_r.status, v_r.runner_id)
      else 'it is ' || v_r.status || coalesce(': ' || v_r.error, '') end;
  elsif v_r.waits = 'session' then
    select r.run_id into v_before from public.runs r where r.session_id = v_r.session_id and r.id <> v_r.id
      and (r.status in ('claimed', 'running', 'stopping') or r.status = 'pending' and r.id < v_r.id) order by r.id limit 1;
    v_reason := 'session_busy';
    v_why := pg_catalog.format('its session is busy with run %s; it comes next', coalesce(v_before, '(just ended)'));
  elsif v_r.waits = 'time' then
    v_reason := 'delayed';
    v_why := 'it begins at ' || coord.iso(v_r.run_at) || coalesce(' after: ' || v_r.error, '');
  else
    select count(*) into v_ahead from (select 1 from coord.ready q where q.project_id = 0 and q.queue = 2 and q.class_id = v_r.class_id
      and (q.priority, q.id) < (v_r.priority, v_r.id) limit 1000) a;
    v_reason := case when v_fit > 0 and v_full = v_fit then 'at_capacity' when v_fit > 0 then 'queued' when v_runners is null then 'no_runner' else 'no_match' end;
    v_why := case when v_fit > 0 and v_full = v_fit then pg_catalog.format('the %s runner(s) that fit have as many runs as they take; %s run(s) are ahead of it', v_fit, v_ahead)
      when v_fit > 0 then pg_catalog.format('%s runner(s) fit and have not asked for work yet; %s run(s) are ahead of it', v_fit, v_ahead)
      when v_runners is null then 'no runner is registered' else 'no runner that is online meets its demands ' || coalesce(v_r.demands::text, '{}') end
      || coalesce('; it fails at ' || coord.iso(v_r.timeout_at) || ' unless one does', '');
  end if;
  return pg_catalog.jsonb_build_object('run_id', p_run, 'status', v_r.status, 'reason', v_reason, 'why', v_why, 'demands', v_r.demands, 'ahead', v_ahead,
    'runners', coalesce(v_runners, '[]')) || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('waits_for_run', v_before));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.sweep_runs(int, int, int, int), coord.recover_runs(text, int, int), coord.why_run(bigint, text, int) to service_role;
