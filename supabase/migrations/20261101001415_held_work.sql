-- What holds do to claims and dispatch: a session that is held gets no task, a run of a held agent or project is put aside
-- until it is let go (waits = hold), a draining runner gets nothing new. A claim costs one probe of public.holds more; what
-- is put aside costs no later claim anything.
set local lock_timeout = '5s';

-- coord.claim_tasks in jsonb: for processes of before. Reply: the first task's members beside success, tasks when
-- p_n > 1; or success false, a reason and queue. Codes: PT440.
create or replace function coord.claim_work(p_project bigint, p_session bigint, p_by text, p_types text[], p_tags text[], p_n int, p_lease int,
  p_classes int[] default '{}', p_epoch int default 0, p_caps text default null)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_reply jsonb; v_tasks jsonb;
begin
  with got as materialized (
    select * from coord.claim_tasks(p_project, p_session, p_by, p_types, p_tags, p_n, p_lease, p_classes, p_epoch, p_caps, null, null, null)),
  call as (select g.reply, g.lease_until from got g where g.task_id is null)
  select (select c.reply from call c),
    (select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('task_id', g.task_id, 'task_type', g.task_type,
        'description', g.description, 'task_description', g.description, 'priority', g.priority, 'deadline', coord.ts(g.deadline),
        'attempt', g.attempt, 'max_attempts', g.max_attempts, 'lease_token', g.lease_token, 'lease_expires_at', coord.ts((select c.lease_until from call c)),
        'files', coalesce(g.files, '{}'), 'repository', g.repository, 'tags', coalesce(g.tags, '{}'), 'depends_on', coalesce(g.depends_on, '{}'), 'last_error', g.last_error))
        || pg_catalog.jsonb_build_object('input_data', g.input_data) order by g.priority, g.place) from got g where g.task_id is not null)
    into v_reply, v_tasks;
  v_reply := coalesce(v_reply, '{}');
  if v_tasks is null then return v_reply || '{"success": false, "task_id": null}'; end if;
  return v_reply || (v_tasks -> 0) || pg_catalog.jsonb_build_object('success', true, 'wake', array[coord.work_topic(p_project)])
    || case when p_n > 1 then pg_catalog.jsonb_build_object('tasks', v_tasks) else '{}' end;
end $$;

-- Puts a task that a claim has just taken back for half a minute, without counting the attempt.
create function coord.put_aside(p_w public.work_queue, p_now timestamptz) returns void language plpgsql set search_path = '' as $$
begin
  insert into coord.timer (project_id, queue, kind, at, id) values (p_w.project_id, 1, 1, p_now + interval '30 seconds', p_w.id);
  update public.work_queue w set status = 'scheduled', run_at = p_now + interval '30 seconds', claimed_by = null, claimed_at = null, attempt = w.attempt - 1
    where w.project_id = p_w.project_id and w.id = p_w.id;
end $$;

-- Claims the first run of these classes for a runner.
create or replace function coord.take_run(p_classes int[], p_runner text, p_lease int) returns public.runs language plpgsql set search_path = '' as $$
declare v_ids bigint[]; v_run public.runs; v_now timestamptz;
begin
  loop
    v_ids := coord.claim_ready(0, 2::smallint, p_classes, 1);
    if pg_catalog.cardinality(v_ids) = 0 then return null; end if;
    v_now := coord.now();
    update public.runs r set status = 'claimed', runner_id = p_runner, claimed_at = v_now, attempt = r.attempt + 1, class_id = null,
        lease_until = v_now + pg_catalog.make_interval(secs => p_lease), stop_sent_at = null
      where r.id = v_ids[1] and r.status = 'pending' and r.waits is null returning * into v_run;
    continue when v_run.id is null;  -- it was cancelled just now: look further
    exit when (coord.dispatch_hold(v_run.project_id, v_run.agent_name, null)).project_id is null;
    update public.runs r set status = 'pending', runner_id = null, claimed_at = null, attempt = r.attempt - 1, lease_until = null, waits = 'hold', timeout_at = null
      where r.project_id = v_run.project_id and r.id = v_run.id;
    v_run := null;
  end loop;
  insert into coord.lease (project_id, queue, until, id, session_id) values (0, 2, v_run.lease_until, v_run.id, 0);
  perform coord.run_news(v_run);
  return v_run;
end $$;

-- Claims a task for a runner and makes it a run that the runner has; no row when there is none. Projects are tried in
-- any order, so that none waits behind another.
create or replace function coord.take_task(p_r public.runners, p_lease int) returns public.runs language plpgsql set search_path = '' as $$
declare v_t record; v_ids bigint[]; v_w public.work_queue; v_s public.sessions; v_run public.runs; v_now timestamptz; v_agent text; v_demands jsonb;
begin
  for v_t in select * from coord.runner_task_classes(p_r) t order by pg_catalog.random() loop
    continue when (coord.dispatch_hold(v_t.project_id, null, null)).project_id is not null;
    loop
      v_ids := coord.claim_ready(v_t.project_id, 1::smallint, v_t.classes, 1);
      exit when pg_catalog.cardinality(v_ids) = 0;
      v_now := coord.now();
      v_s.session_id := coord.wire_id('ses_');
      update public.work_queue w set status = 'claimed', claimed_by = v_s.session_id, session_id = null, claimed_at = v_now, attempt = w.attempt + 1,
          fence = w.fence + 1, lease_seconds = null, lease_until = null, lease_due = null, run_at = null, ended_by = null, ended_as = null, updated_at = v_now, progress = null
        where w.project_id = v_t.project_id and w.id = v_ids[1] and w.status = 'pending' and (w.deadline is null or w.deadline > v_now) returning * into v_w;
      continue when v_w.id is null;
      v_agent := v_w.agent_requirements ->> 'agent_name';
      if v_agent is not null and (coord.dispatch_hold(v_w.project_id, v_agent, null)).project_id is not null then
        perform coord.put_aside(v_w, v_now);
        continue;
      end if;
      begin
        v_demands := coord.agent_demands(v_agent, true);
      exception when others then  -- unknown, inactive, or not to be resolved: nobody could execute it
        perform coord.end_task(v_w, v_now, 'failed', null, sqlerrm);
        continue;
      end;
      v_demands := coord.merge_demands(coalesce(v_demands, '{}'), (select c.demands from coord.demand_class c where c.project_id = v_w.project_id and c.queue = 1 and c.id = v_w.class_id));
      v_s := coord.add_session(v_w.project_id, v_w.submitted_by, v_s.session_id, 'pending', pg_catalog.jsonb_build_object('agent_name', v_agent));
      v_run := coord.add_run(v_s, v_w.submitted_by, pg_catalog.jsonb_build_object('type', 'start_session', 'agent_name', v_agent, 'prompt', coord.task_prompt(v_w),
        'priority', v_w.priority, 'deadline', v_w.deadline), v_demands, 300);
      update public.runs r set status = 'claimed', runner_id = p_r.runner_id, claimed_at = v_now, attempt = 1, task_id = v_w.task_id, task_open = true,
          lease_until = v_now + pg_catalog.make_interval(secs => p_lease)
        where r.project_id = v_run.project_id and r.id = v_run.id returning * into v_run;
      insert into coord.lease (project_id, queue, until, id, session_id) values (0, 2, v_run.lease_until, v_run.id, 0);
      update public.work_queue w set progress = pg_catalog.jsonb_build_object('note', 'executed as run ' || v_run.run_id, 'at', coord.ts(v_now))
        where w.project_id = v_w.project_id and w.id = v_w.id;
      perform coord.run_news(v_run);
      perform coord.audit(v_w.project_id, null, 'system', 'run_task', array[v_w.task_id::text, v_run.run_id, p_r.runner_id]);
      return v_run;
    end loop;
  end loop;
  return null;
end $$;

-- One look for a waiting runner: {unknown}, {deregistered}, {stop_runs}, {full}, {run}, or nothing ({task_lanes}: the
-- topics of tasks it may take). p_classes, p_epoch and
-- p_caps are the memo of the look before; a new one comes back when it no longer holds. A stop is told again every five
-- seconds until it is reported; a claimed run must be reported started within p_lease seconds, or it goes on.
create or replace function coord.poll_runner(p_only bigint, p_runner text, p_stale int, p_lease int, p_classes int[], p_epoch int, p_caps text)
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
  if v_r.draining_since is not null then return '{"full": true}'; end if;
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


create or replace function coord.runner_wire(p_r public.runners, p_now timestamptz, p_stale int) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('runner_id', p_r.runner_id, 'registered_at', coord.iso(p_r.registered_at),
    'last_heartbeat', coord.iso(p_r.last_heartbeat), 'hostname', p_r.hostname, 'project_dir', p_r.project_dir,
    'executor_profile', p_r.executor_profile, 'executor', p_r.executor, 'tags', p_r.tags, 'require_matching_tags', p_r.require_matching_tags, 'capacity', p_r.capacity,
    'status', case when p_r.last_heartbeat > p_now - pg_catalog.make_interval(secs => p_stale) then 'online' else 'stale' end,
    'seconds_since_heartbeat', pg_catalog.round(greatest(extract(epoch from p_now - p_r.last_heartbeat), 0), 3),
    'draining', p_r.draining_since is not null)
    || case when p_r.draining_since is null then '{}' else pg_catalog.jsonb_build_object('drain_reason', coalesce(p_r.drain_reason, ''), 'drained_by', p_r.drained_by, 'draining_since', coord.iso(p_r.draining_since)) end;
end $$;

-- What a runner lacks for these demands, in words; empty when it fits.
create or replace function coord.runner_lacks(p_r public.runners, p_demands jsonb, p_project bigint) returns text[] language sql stable set search_path = '' as $$
  select pg_catalog.array_remove(array[
    case when p_demands ->> 'hostname' <> p_r.hostname then 'its host is ' || p_r.hostname end,
    case when p_demands ->> 'project_dir' <> p_r.project_dir then 'its directory is ' || p_r.project_dir end,
    case when p_demands ->> 'executor_profile' <> p_r.executor_profile then 'its profile is ' || p_r.executor_profile end,
    case when not coalesce(coord.texts(p_demands -> 'tags'), '{}') <@ p_r.tags then 'it lacks tags' end,
    case when p_r.require_matching_tags and coalesce(p_demands -> 'tags', '[]') = '[]' then 'it takes tagged runs only' end,
    case when p_r.project_id is not null and p_r.project_id <> p_project then 'it serves another project' end,
    case when p_r.leaving then 'it is being deregistered' end,
    case when p_r.draining_since is not null then 'it is draining' || coalesce(': ' || p_r.drain_reason, '') end], null)
$$;

-- Why a run is where it is: what it waits for, and for each runner what it lacks.
create or replace function coord.why_run(p_only bigint, p_run text, p_stale int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_r public.runs; v_now timestamptz := coord.now(); v_runners jsonb; v_fit int; v_full int; v_before text; v_ahead int := 0; v_why text; v_reason text := 'waiting'; v_hold public.holds; v_refusal jsonb;
begin
  select * into v_r from public.runs r where r.run_id = p_run and (p_only is null or r.project_id = p_only);
  if v_r.id is null then perform coord.no_run(); end if;
  v_hold := coord.dispatch_hold(v_r.project_id, v_r.agent_name, null);
  v_refusal := coord.hold_refusal(v_hold);
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
  elsif v_hold.project_id is not null and v_r.waits is distinct from 'session' then
    v_reason := v_refusal ->> 'reason';
    v_why := v_refusal ->> 'why';
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

-- Everything due: runs by time, runners silent for p_remove seconds and what they had, callbacks, the live log's numbers
-- and its retention (a day).
create or replace function coord.sweep_runs(p_stale int, p_remove int, p_no_match int, p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
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
  v_wake := v_wake || coord.free_runs(null, p_limit);
  v_out := coord.stop_taskless(p_limit);
  v_n := v_n + (v_out ->> 'stopped')::int;
  v_wake := v_wake || coord.texts(v_out -> 'wake');
  v_out := coord.deliver_callbacks(p_no_match, p_limit);
  perform coord.live_after(null, 0);
  delete from coord.live_log l where l.seq in (select x.seq from coord.live_log x where x.at < v_now - interval '1 day' order by x.at limit 5000);
  return pg_catalog.jsonb_build_object('changed', v_n + (v_out ->> 'delivered')::int, 'wake', v_wake || coord.texts(v_out -> 'wake'));
end $$;

-- The brief of a session: what it holds, what others hold, five ready tasks it may take, up to three unread messages
-- (the ones from persons first) and the newest handoff that concerns it. Texts are cut. The messages count as told,
-- and those shown whole that want no acknowledgement as read.
create or replace function coord.session_brief(p_project bigint, p_session bigint)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_now timestamptz := coord.now(); v_mail uuid[]; v_out jsonb; v_hold public.holds;
begin
  v_s := coord.session(p_project, p_session);
  select pg_catalog.array_agg(x.id) into v_mail from (select m.id from public.message_recipients r
    join public.messages m on m.project_id = r.project_id and m.id = r.message_id
    where r.project_id = p_project and r.agent_id = v_s.agent_id and r.read_at is null
    order by m.urgency <> 'overseer', m.urgency <> 'high', m.id limit 3) x;
  v_out := pg_catalog.jsonb_build_object(
    'project', (select p.name from public.projects p where p.id = p_project), 'agent_id', v_s.agent_id, 'session_id', v_s.session_id,
    'others_active', (select count(*) from public.agent_sessions s where s.project_id = p_project and s.id <> p_session and s.status = 'active'
      and greatest(s.last_seen_at, s.heartbeat_at) > v_now - interval '15 minutes'),
    'unread', (select count(*) from (select from public.message_recipients r
      where r.project_id = p_project and r.agent_id = v_s.agent_id and r.read_at is null limit 100) x))
    || coord.brief_locks(p_project, p_session, v_now) || coord.brief_work(p_project, v_s);
  v_hold := coord.dispatch_hold(p_project, v_s.agent_id, p_session);
  if v_hold.project_id is not null then v_out := v_out || pg_catalog.jsonb_build_object('hold', coord.hold_refusal(v_hold) ->> 'why' || '; so ' || (coord.hold_refusal(v_hold) ->> 'next')); end if;
  v_out := v_out || pg_catalog.jsonb_build_object('messages', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'message_id', m.id, 'from', m.sender, 'kind', m.kind, 'text', coord.cut(m.text, 180), 'more', nullif(pg_catalog.octet_length(m.text) > 180, false),
      'ack_required', nullif(m.ack_required, false)))
      order by m.urgency <> 'overseer', m.urgency <> 'high', m.id), '[]') from public.messages m where m.project_id = p_project and m.id = any (v_mail)),
    'handoff', (select pg_catalog.jsonb_build_object('agent_name', h.agent_name, 'summary', pg_catalog.left(h.summary, 400), 'next_steps',
        (select coalesce(pg_catalog.jsonb_agg(pg_catalog.left(case when pg_catalog.jsonb_typeof(e) = 'string' then e #>> '{}' else e::text end, 120)), '[]')
         from (select e from pg_catalog.jsonb_array_elements(h.next_steps) e limit 3) x), 'created_at', coord.ts(h.created_at))
      from public.handoff_documents h
      where h.project_id = p_project and (h.to_agent is null or h.to_agent = v_s.agent_id) and h.created_at > v_now - interval '14 days'
      order by h.to_agent is null, h.agent_name <> v_s.agent_id, h.id desc limit 1));
  if v_mail is not null then
    update public.message_recipients r set delivered_at = coalesce(r.delivered_at, v_now),
        read_at = case when pg_catalog.octet_length(m.text) <= 180 and not m.ack_required then v_now end
      from public.messages m where m.project_id = p_project and m.id = any (v_mail)
        and r.project_id = p_project and r.agent_id = v_s.agent_id and r.message_id = m.id and r.read_at is null;
    update coord.notices n set delivered_at = v_now where n.project_id = p_project and n.session_id = p_session and n.delivered_at is null
      and n.kind = 'message' and (n.data ->> 'message_id')::uuid = any (v_mail);
  end if;
  return pg_catalog.jsonb_strip_nulls(v_out);
end $$;

-- Sessions as others see them: open ones first, then the last heard. p_status: active (heard within 15 minutes), idle
-- (open, silent for longer), disconnected (ended or lapsed), open (active or idle), null (all).
create or replace function coord.list_sessions(p_project bigint, p_capability text, p_status text, p_limit int)
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_rows jsonb; v_n int;
begin
  with seen as (
    select s.*, greatest(s.last_seen_at, s.heartbeat_at) as heard,
      case when s.status <> 'active' then 'disconnected'
           when greatest(s.last_seen_at, s.heartbeat_at) < v_now - interval '15 minutes' then 'idle' else 'active' end as word
    from public.agent_sessions s where s.project_id = p_project and (p_capability is null or p_capability = any (s.capabilities))),
  locks as (
    select l.session_id, count(*) as n from public.file_locks l where l.project_id = p_project and l.expires_at > v_now group by l.session_id),
  tasks as (
    select l.session_id, count(*) as n from coord.lease l where l.project_id = p_project and l.queue = 1 group by l.session_id),
  page as (
    select * from seen s where p_status is null or s.word = p_status or (p_status = 'open' and s.status = 'active')
    order by s.status <> 'active', s.heard desc, s.id limit p_limit + 1)
  select count(*), pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'agent_id', s.agent_id, 'agent_type', s.agent_type, 'session_id', s.session_id, 'status', s.word,
      'current_task', s.current_task, 'capabilities', s.capabilities, 'last_seen', coord.ts(s.heard),
      'last_heartbeat', coord.ts(s.heartbeat_at), 'started_at', coord.ts(s.started_at), 'ended_at', coord.ts(s.ended_at),
      'delegated_from', s.metadata ->> 'delegated_from', 'locks_expired', nullif(a.locks_expired, 0),
      'locks_held', coalesce(l.n, 0), 'tasks_held', coalesce(t.n, 0),
      'hold', h.kind, 'hold_reason', h.reason, 'held_by', h.set_by))
      order by s.status <> 'active', s.heard desc, s.id)
    into v_n, v_rows
    from page s left join public.agents a on a.project_id = s.project_id and a.agent_id = s.agent_id
      left join locks l on l.session_id = s.id left join tasks t on t.session_id = s.id
      left join lateral coord.dispatch_hold(p_project, s.agent_id, s.id) h on s.status = 'active' and h.project_id is not null;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('agents', coalesce(v_rows, '[]'), 'count', least(v_n, p_limit),
    'truncated', v_n > p_limit, 'hint', case when v_n > p_limit then 'more sessions exist; narrow by capability or status' end));
end $$;

revoke execute on all functions in schema coord from public;
