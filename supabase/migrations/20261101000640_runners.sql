-- Runners: registering, the long-poll's one look, reports on runs. A runner lives as long as it is heard: a heartbeat, a
-- poll and a report all count. After the stale threshold another process may take its name; after the remove threshold
-- it is gone and its runs have failed.
set local lock_timeout = '5s';

-- The dispatch topic of a runner: a stop or its deregistration waits for it.
create function coord.runner_topic(p_runner text) returns text language sql immutable parallel safe as $$ select 'u:' || p_runner $$;

create function coord.runner_gone() returns void language plpgsql set search_path = '' as $$
begin
  perform coord.fail(401, 'unauthenticated', 'Runner not registered', 'it never registered, was silent for too long, or was deregistered', 'register again: POST /runner/register', 'runner_id');
end $$;

-- Fails what a runner had: its process is gone. Runs of p_keep are still alive. The runner's row is locked by the caller.
create function coord.lose_runs(p_runner text, p_keep text[], p_error text) returns text[] language plpgsql set search_path = '' as $$
declare v_r public.runs; v_id text; v_wake text[] := '{}';
begin
  for v_id in select r.run_id from public.runs r where r.runner_id = p_runner and r.status in ('claimed', 'running', 'stopping')
      and not (r.run_id = any (coalesce(p_keep, '{}'))) order by r.id loop
    v_r := coord.lock_run(null, v_id);
    continue when v_r.runner_id is distinct from p_runner or v_r.status not in ('claimed', 'running', 'stopping');
    v_wake := v_wake || coord.run_lost(v_r, p_error);
  end loop;
  return v_wake;
end $$;

-- What becomes of a run whose runner is gone: a claimed one never began and goes to another; one being stopped is
-- stopped; a running one has failed, unless it may be tried again.
create function coord.run_lost(p_r public.runs, p_error text) returns text[] language plpgsql set search_path = '' as $$
begin
  if p_r.status = 'claimed' then return coord.requeue_run(p_r, 0, null); end if;
  if p_r.status = 'stopping' then return coord.end_run(p_r, 'stopped', null); end if;
  return coord.fail_run(p_r, p_error);
end $$;

-- Fails a run, or sends it back after a pause while attempts remain.
create function coord.fail_run(p_r public.runs, p_error text) returns text[] language plpgsql set search_path = '' as $$
begin
  if p_r.attempt - p_r.lapses < p_r.max_attempts and (p_r.deadline is null or p_r.deadline > coord.now()) then
    return coord.requeue_run(p_r, coord.backoff_seconds(p_r.id, p_r.attempt), p_error);
  end if;
  return coord.end_run(p_r, 'failed', p_error);
end $$;

-- Sends a run back: to its lane at once, or after p_delay seconds. Its runner stays noted, so that a late report of
-- started is taken when nobody else had the run meanwhile.
create function coord.requeue_run(p_r public.runs, p_delay int, p_error text) returns text[] language plpgsql set search_path = '' as $$
declare v_r public.runs; v_wake text[];
begin
  perform coord.loosen_run(p_r);
  update public.runs r set status = 'pending', lease_until = null, class_id = null, claimed_at = null, started_at = null, stopping_at = null,
      lapses = r.lapses + (p_r.status = 'claimed')::int, error = coalesce(p_error, r.error), run_at = case when p_delay > 0 then coord.now() + pg_catalog.make_interval(secs => p_delay) end
    where r.project_id = p_r.project_id and r.id = p_r.id returning * into v_r;
  v_wake := coord.enqueue_run(v_r);
  perform coord.run_news(v_r);
  return v_wake || coord.live_topic() || coord.capacity_topics(p_r.runner_id);
end $$;

-- Registers a runner. Its id follows from host, directory and profile. Where one of that id was heard within p_stale
-- seconds: duplicate, unless both name the same instance (the process came back after a crash). Runs of another process
-- before it have failed; the same instance knows its own runs and reports them, or names in run_ids which are alive.
create function coord.register_runner(p_project bigint, p_only bigint, p_by text, p_in jsonb, p_stale int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r public.runners; v_now timestamptz := coord.now(); v_wake text[] := array[coord.live_topic()];
  v_id text := 'lnch_' || pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
    (p_in ->> 'hostname') || ':' || (p_in ->> 'project_dir') || ':' || (p_in ->> 'executor_profile'), 'UTF8')), 'hex'), 12);
begin
  insert into public.runners (runner_id, hostname, project_dir, executor_profile, executor, tags, require_matching_tags, capacity, instance_id, project_id, registered_at, last_heartbeat)
    values (v_id, p_in ->> 'hostname', p_in ->> 'project_dir', p_in ->> 'executor_profile', coalesce(p_in -> 'executor', '{}'),
      coalesce(coord.texts(p_in -> 'tags'), '{}'), coalesce((p_in ->> 'require_matching_tags')::boolean, false), (p_in ->> 'capacity')::int, p_in ->> 'instance_id', p_only, v_now, v_now)
    on conflict (runner_id) do nothing;
  if not found then
    select * into v_r from public.runners r where r.runner_id = v_id for update;
    if v_r.last_heartbeat > v_now - pg_catalog.make_interval(secs => p_stale)
        and (v_r.instance_id is null or v_r.instance_id is distinct from p_in ->> 'instance_id') then
      return pg_catalog.jsonb_build_object('duplicate', true, 'runner_id', v_id);
    end if;
    if v_r.instance_id is null or v_r.instance_id is distinct from p_in ->> 'instance_id' or p_in ? 'run_ids' then
      v_wake := v_wake || coord.lose_runs(v_id, coord.texts(p_in -> 'run_ids'), 'Runner disconnected during execution');
    end if;
    update public.runners r set last_heartbeat = v_now, leaving = false, project_id = p_only, executor = coalesce(p_in -> 'executor', r.executor),
        tags = coalesce(coord.texts(p_in -> 'tags'), r.tags), require_matching_tags = coalesce((p_in ->> 'require_matching_tags')::boolean, false),
        instance_id = p_in ->> 'instance_id', capacity = (p_in ->> 'capacity')::int
      where r.runner_id = v_id;
  end if;
  select * into v_r from public.runners r where r.runner_id = v_id;
  perform coord.emit(p_only, 'runner_registered', null, pg_catalog.jsonb_build_object('runner', coord.runner_wire(v_r, v_now, p_stale)));
  perform coord.audit(p_project, null, p_by, 'register_runner', array[v_id]);
  return pg_catalog.jsonb_build_object('runner_id', v_id, 'wake', v_wake);
end $$;

create function coord.list_runners(p_only bigint, p_stale int, p_remove int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  return pg_catalog.jsonb_build_object('runners', coalesce((select pg_catalog.jsonb_agg(coord.runner_wire(r, v_now, p_stale) order by r.registered_at, r.runner_id)
    from public.runners r where (p_only is null or r.project_id is null or r.project_id = p_only)
      and r.last_heartbeat > v_now - pg_catalog.make_interval(secs => p_remove)), '[]'));
end $$;

-- Notes that a runner was heard, and that it is back when it had been stale. False when it is not registered.
create function coord.hear_runner(p_only bigint, p_runner text, p_stale int) returns boolean language plpgsql set search_path = '' as $$
declare v_r public.runners; v_now timestamptz := coord.now();
begin
  select * into v_r from public.runners r where r.runner_id = p_runner and (p_only is null or r.project_id = p_only);
  if v_r.runner_id is null then return false; end if;
  if v_r.last_heartbeat < v_now - interval '5 seconds' then
    update public.runners r set last_heartbeat = v_now where r.runner_id = p_runner;
    if v_r.last_heartbeat <= v_now - pg_catalog.make_interval(secs => p_stale) then
      v_r.last_heartbeat := v_now;
      perform coord.emit(v_r.project_id, 'runner_updated', null, pg_catalog.jsonb_build_object('runner', coord.runner_wire(v_r, v_now, p_stale)));
    end if;
  end if;
  return true;
end $$;

create function coord.runner_heartbeat(p_only bigint, p_runner text, p_stale int) returns jsonb language plpgsql security definer set search_path = '' as $$
begin
  if not coord.hear_runner(p_only, p_runner, p_stale) then perform coord.runner_gone(); end if;
  return '{"ok": true}';
end $$;

-- p_self: the runner itself leaves, at once; what it still had is lost. Else it is told at its next poll.
create function coord.deregister_runner(p_project bigint, p_only bigint, p_by text, p_runner text, p_self boolean) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r public.runners; v_wake text[] := '{}';
begin
  select * into v_r from public.runners r where r.runner_id = p_runner and (p_only is null or r.project_id = p_only) for update;
  if v_r.runner_id is null then
    perform coord.fail(404, 'not_found', 'Runner not found', 'it is not registered', 'list them: GET /runners', 'runner_id');
  end if;
  if p_self then
    v_wake := coord.remove_runner(v_r);
  else
    update public.runners r set leaving = true where r.runner_id = p_runner;
    v_wake := array[coord.runner_topic(p_runner)];
  end if;
  perform coord.audit(p_project, null, p_by, 'deregister_runner', array[p_runner]);
  return pg_catalog.jsonb_build_object('ok', true, 'message', case when p_self then 'Runner deregistered' else 'Runner marked for deregistration' end,
    'initiated_by', case when p_self then 'self' else 'external' end, 'wake', v_wake);
end $$;

-- Removes a runner whose row the caller has locked.
create function coord.remove_runner(p_r public.runners) returns text[] language plpgsql set search_path = '' as $$
declare v_wake text[];
begin
  v_wake := coord.lose_runs(p_r.runner_id, null, 'Runner disconnected during execution');
  delete from public.runners r where r.runner_id = p_r.runner_id;
  perform coord.emit(p_r.project_id, 'runner_removed', null, pg_catalog.jsonb_build_object('runner_id', p_r.runner_id));
  return v_wake || coord.live_topic();
end $$;

--------------------------------------------------------------------------------------------- polling
-- The classes after p_after that a runner may take from.
create function coord.runner_classes(p_claimer jsonb, p_after int) returns int[] language plpgsql stable set search_path = '' as $$
begin
  return coalesce((select pg_catalog.array_agg(c.id order by c.id) from coord.demand_class c where c.project_id = 0 and c.queue = 2 and c.id > p_after
    and coord.demands_match(c.demands, p_claimer) and (p_claimer -> 'project' is null or c.demands -> 'project' = p_claimer -> 'project')), '{}');
end $$;

create function coord.runner_claimer(p_r public.runners) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('hostname', p_r.hostname, 'project_dir', p_r.project_dir,
    'executor_profile', p_r.executor_profile, 'tags', p_r.tags, 'require_matching_tags', p_r.require_matching_tags, 'project', p_r.project_id));
end $$;

-- One look for a waiting runner: {unknown}, {deregistered}, {stop_runs}, {full}, {run}, or nothing ({task_lanes}: the
-- topics of tasks it may take). p_classes, p_epoch and
-- p_caps are the memo of the look before; a new one comes back when it no longer holds. A stop is told again every five
-- seconds until it is reported; a claimed run must be reported started within p_lease seconds, or it goes on.
create function coord.poll_runner(p_only bigint, p_runner text, p_stale int, p_lease int, p_classes int[], p_epoch int, p_caps text)
returns jsonb language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_r public.runners; v_now timestamptz := coord.now(); v_claimer jsonb; v_caps text; v_last int; v_classes int[] := p_classes;
  v_memo jsonb := '{}'; v_stops text[]; v_run public.runs;
begin
  select * into v_r from public.runners r where r.runner_id = p_runner and (p_only is null or r.project_id = p_only);
  if v_r.runner_id is null then return '{"unknown": true}'; end if;
  if v_r.leaving then
    select * into v_r from public.runners r where r.runner_id = p_runner for update;
    return pg_catalog.jsonb_build_object('deregistered', true, 'wake', coord.remove_runner(v_r));
  end if;
  perform coord.hear_runner(p_only, p_runner, p_stale);
  with told as (update public.runs r set stop_sent_at = v_now where r.runner_id = p_runner and r.status = 'stopping'
      and (r.stop_sent_at is null or r.stop_sent_at < v_now - interval '5 seconds') returning r.run_id, r.id)
    select pg_catalog.array_agg(t.run_id order by t.id) into v_stops from told t;
  if v_stops is not null then return pg_catalog.jsonb_build_object('stop_runs', v_stops); end if;
  if v_r.capacity is not null and coord.runner_full(v_r) then return '{"full": true}'; end if;
  v_claimer := coord.runner_claimer(v_r);
  v_caps := pg_catalog.md5(v_claimer::text);
  v_last := coord.class_epoch(0, 2::smallint);
  if v_caps is distinct from p_caps or v_last <> p_epoch then
    v_classes := case when v_caps = p_caps and v_last > p_epoch then p_classes || coord.runner_classes(v_claimer, p_epoch)
      else coord.runner_classes(v_claimer, 0) end;
    v_memo := pg_catalog.jsonb_build_object('memo', pg_catalog.jsonb_build_object('classes', v_classes, 'epoch', v_last, 'caps', v_caps));
  end if;
  v_run := coord.take_run(v_classes, p_runner, p_lease);
  if v_run.id is null then v_run := coord.take_task(v_r, p_lease); end if;
  if v_run.id is null then return v_memo || pg_catalog.jsonb_build_object('task_lanes', coord.runner_task_lanes(v_r)); end if;
  return v_memo || pg_catalog.jsonb_build_object('run', coord.run_wire(v_run), 'wake', array[coord.live_topic()] || case when v_run.task_id is null then '{}' else array[coord.work_topic(v_run.project_id)] end);
end $$;

-- Has the runner as many runs as it wants? Before its last place is given away its row is locked, so that two polls of
-- one runner do not both get it.
create function coord.runner_full(p_r public.runners) returns boolean language plpgsql set search_path = '' as $$
declare v_n int;
begin
  for i in 1..2 loop
    select count(*) into v_n from (select from public.runs r where r.runner_id = p_r.runner_id and r.status in ('claimed', 'running', 'stopping') limit p_r.capacity) x;
    exit when v_n <> p_r.capacity - 1;
    perform 1 from public.runners x where x.runner_id = p_r.runner_id for no key update;
  end loop;
  return v_n >= p_r.capacity;
end $$;

-- Claims the first run of these classes for a runner.
create function coord.take_run(p_classes int[], p_runner text, p_lease int) returns public.runs language plpgsql set search_path = '' as $$
declare v_ids bigint[]; v_run public.runs; v_now timestamptz;
begin
  loop
    v_ids := coord.claim_ready(0, 2::smallint, p_classes, 1);
    if pg_catalog.cardinality(v_ids) = 0 then return null; end if;
    v_now := coord.now();
    update public.runs r set status = 'claimed', runner_id = p_runner, claimed_at = v_now, attempt = r.attempt + 1, class_id = null,
        lease_until = v_now + pg_catalog.make_interval(secs => p_lease), stop_sent_at = null
      where r.id = v_ids[1] and r.status = 'pending' and r.waits is null returning * into v_run;
    exit when v_run.id is not null;  -- else it was cancelled just now: look further
  end loop;
  insert into coord.lease (project_id, queue, until, id, session_id) values (0, 2, v_run.lease_until, v_run.id, 0);
  perform coord.run_news(v_run);
  return v_run;
end $$;

--------------------------------------------------------------------------------------------- reports
create function coord.wrong_report(p_r public.runs, p_runner text, p_kind text) returns void language plpgsql set search_path = '' as $$
begin
  if p_r.runner_id is distinct from p_runner then
    perform coord.fail(409, 'conflict', 'Run belongs to another runner', 'its lease ran out and it went on, or it was never yours', 'stop working on it', 'runner_id');
  end if;
  perform coord.fail(409, 'conflict', pg_catalog.format('Run is %s; it cannot become %s', p_r.status, p_kind), 'a report came late', 'stop working on it');
end $$;

-- Takes a runner's report: started, completed, failed (p_text: the error), stopped (p_text: the signal). Only the run's
-- runner may report, only what follows from its state; a repeat is taken again without effect.
create function coord.report_run(p_only bigint, p_by text, p_runner text, p_run text, p_kind text, p_text text, p_stale int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r public.runs; v_wake text[] := '{}'; v_own boolean;
begin
  if not coord.hear_runner(p_only, p_runner, p_stale) then perform coord.runner_gone(); end if;
  v_r := coord.lock_run(p_only, p_run);
  v_own := v_r.runner_id = p_runner and v_r.waits is distinct from 'time';
  if not coalesce(v_own, false) then perform coord.wrong_report(v_r, p_runner, p_kind); end if;
  case
    when p_kind = 'started' and v_r.status in ('claimed', 'pending') then v_wake := coord.run_started(v_r);
    when p_kind = 'started' and v_r.status in ('running', 'stopping') then null;
    when p_kind = 'completed' and v_r.status in ('claimed', 'running', 'stopping', 'pending') then v_wake := coord.end_run(v_r, 'completed', null);
    when p_kind = 'completed' and v_r.status = 'completed' then null;
    when p_kind = 'failed' and v_r.status in ('claimed', 'running', 'pending') then v_wake := coord.fail_run(v_r, p_text);
    -- The stopped process was seen to end before the stop was reported.
    when p_kind = 'failed' and v_r.status = 'stopping' then v_wake := coord.end_run(v_r, 'stopped', null);
    when p_kind = 'failed' and v_r.status in ('failed', 'stopped') then null;
    when p_kind = 'stopped' and v_r.status in ('claimed', 'running', 'stopping', 'pending') then
      update public.runs r set signal = p_text where r.project_id = v_r.project_id and r.id = v_r.id;
      v_wake := coord.end_run(v_r, 'stopped', null);
    when p_kind = 'stopped' and v_r.status in ('stopped', 'failed') then null;
    else perform coord.wrong_report(v_r, p_runner, p_kind);
  end case;
  perform coord.audit(v_r.project_id, null, p_by, 'run_' || p_kind, array[v_r.run_id, p_runner], true, case when p_kind = 'failed' then pg_catalog.left(p_text, 200) end);
  return pg_catalog.jsonb_build_object('ok', true, 'wake', v_wake);
end $$;

create function coord.run_started(p_r public.runs) returns text[] language plpgsql set search_path = '' as $$
declare v_s public.sessions; v_wake text[] := array[coord.live_topic()];
begin
  perform coord.loosen_run(p_r);
  update public.runs r set status = 'running', started_at = coord.now(), lease_until = null, class_id = null, timeout_at = null,
      claimed_at = coalesce(r.claimed_at, coord.now())
    where r.project_id = p_r.project_id and r.id = p_r.id;
  if p_r.parent_session_id is not null and not coord.is_below(p_r.parent_session_id, p_r.session_id) then
    update public.sessions s set parent_session_id = p_r.parent_session_id where s.session_id = p_r.session_id;
  end if;
  select * into v_s from public.sessions s where s.session_id = p_r.session_id;
  -- A start's session runs once its executor binds; a resumed one is no longer what its last run left.
  if v_s.status in ('finished', 'stopped', 'failed') then v_wake := v_wake || coord.set_session(v_s, 'running'); end if;
  perform coord.run_news(p_r);
  return v_wake;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.register_runner(bigint, bigint, text, jsonb, int), coord.list_runners(bigint, int, int), coord.runner_heartbeat(bigint, text, int),
  coord.deregister_runner(bigint, bigint, text, text, boolean), coord.poll_runner(bigint, text, int, int, int[], int, text),
  coord.report_run(bigint, text, text, text, text, text, int) to service_role;
