-- The work queue, continued: what a claimant does with a task (renew, report, end, give back), what its submitter
-- or a reviewer does (cancel, retry), and what time does (sweep).
set local lock_timeout = '5s';

-- Locks and returns the task, null members when there is none. The caller writes what it decides.
create function coord.lock_task(p_project bigint, p_task uuid) returns public.work_queue language plpgsql set search_path = '' as $$
declare v_w public.work_queue;
begin
  select * into v_w from public.work_queue w where w.project_id = p_project and w.task_id = p_task for no key update;
  return v_w;
end $$;

-- Locks tasks in the order of their ids, each found by its key.
create function coord.lock_tasks(p_project bigint, p_ids bigint[]) returns void language plpgsql set search_path = '' as $$
begin
  perform 1 from (select u.id from unnest(p_ids) u (id) order by u.id offset 0) s
    cross join lateral (select 1 from public.work_queue w where w.project_id = p_project and w.id = s.id for no key update) l;
end $$;

-- Does the session hold this task? Its agent must be the claimant; another explicit session of the same agent holds
-- it only with the lease token. Raises lease_lost (410) when a token is sent and is not the present one.
create function coord.holds_task(p_w public.work_queue, p_s public.agent_sessions, p_token text) returns boolean language plpgsql set search_path = '' as $$
declare v_held boolean := coalesce(p_w.status in ('claimed', 'running') and p_w.claimed_by = p_s.agent_id, false);
begin
  if p_token is not null and p_w.id is not null and (not v_held or p_token <> p_w.fence::text) then
    perform coord.fail(410, 'lease_lost', 'the lease token is stale: this task is no longer yours',
      pg_catalog.format('the task is %s%s', p_w.status, case when p_w.status in ('claimed', 'running') then ' by ' || p_w.claimed_by else '' end),
      'stop working on it; call get_task to see where it stands', 'lease_token');
  end if;
  return v_held and (p_token is not null or p_w.session_id = p_s.id or p_s.implicit
    or exists (select from public.agent_sessions o where o.project_id = p_w.project_id and o.id = p_w.session_id and o.implicit));
end $$;

-- The refusal of every call that only the claimant may make.
create function coord.not_yours(p_task uuid, p_w public.work_queue) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_build_object('success', false, 'task_id', p_task, 'reason', 'task_not_found_or_not_claimed_by_agent', 'why', case
    when p_w.id is null then 'there is no such task in this project'
    when p_w.status in ('claimed', 'running') then 'it is claimed by ' || p_w.claimed_by || ', in another session than this one'
    else 'it is ' || p_w.status || case when p_w.error_message is null then '' else ': ' || pg_catalog.left(p_w.error_message, 200) end end)
    || case when p_w.id is null then '{}' else pg_catalog.jsonb_build_object('status', p_w.status) end
$$;

-- Frees a locked task from what hangs on it: its lease, its deadline timer (p_final), its start timer, its lane.
create function coord.loosen_task(p_w public.work_queue, p_final boolean) returns void language plpgsql set search_path = '' as $$
begin
  if p_w.lease_due is not null and p_w.status in ('claimed', 'running') then
    delete from coord.lease l where l.project_id = p_w.project_id and l.queue = 1 and l.until = p_w.lease_due and l.id = p_w.id;
  elsif p_w.status = 'pending' and p_w.waiting_on = 0 then
    perform coord.unready(p_w.project_id, 1::smallint, p_w.class_id, p_w.priority, p_w.id);
  elsif p_w.status = 'scheduled' then
    delete from coord.timer t where t.project_id = p_w.project_id and t.queue = 1 and t.kind = 1 and t.at = p_w.run_at and t.id = p_w.id;
  end if;
  if p_final and p_w.deadline is not null then
    delete from coord.timer t where t.project_id = p_w.project_id and t.queue = 1 and t.kind = 2 and t.at = p_w.deadline and t.id = p_w.id;
  end if;
end $$;

-- Ends an attempt of a locked, held task without a final outcome: back to its lane now (p_delay 0) or in p_delay
-- seconds, or to the dead letters when its attempts are used up. Returns the new status.
create function coord.give_back(p_w public.work_queue, p_now timestamptz, p_delay int, p_error text) returns text language plpgsql set search_path = '' as $$
declare v_status text; v_at timestamptz;
begin
  v_status := case when p_w.attempt >= p_w.max_attempts then 'dead' when p_delay > 0 then 'scheduled' else 'pending' end;
  perform coord.loosen_task(p_w, v_status = 'dead');
  if v_status = 'scheduled' then
    v_at := p_now + make_interval(secs => p_delay);
    insert into coord.timer (project_id, queue, kind, at, id) values (p_w.project_id, 1, 1, v_at, p_w.id);
  elsif v_status = 'pending' then
    insert into coord.ready (project_id, queue, class_id, priority, id) values (p_w.project_id, 1, p_w.class_id, p_w.priority, p_w.id);
  end if;
  update public.work_queue w set status = v_status, claimed_by = case when v_status = 'dead' then w.claimed_by end, session_id = null,
      lease_until = null, lease_due = null, run_at = v_at, error_message = p_error, updated_at = p_now,
      completed_at = case when v_status = 'dead' then p_now end
    where w.project_id = p_w.project_id and w.id = p_w.id;
  return v_status;
end $$;

-- Ends a locked task for good as failed or cancelled. Its dependents stay as they are.
create function coord.end_task(p_w public.work_queue, p_now timestamptz, p_status text, p_result jsonb, p_error text) returns void language plpgsql set search_path = '' as $$
begin
  perform coord.loosen_task(p_w, true);
  update public.work_queue w set status = p_status, result = coalesce(p_result, w.result), error_message = p_error, run_at = null,
      session_id = null, lease_until = null, lease_due = null, updated_at = p_now, completed_at = p_now
    where w.project_id = p_w.project_id and w.id = p_w.id;
end $$;

-- The completed tasks' dependents: one dependency less each; those that wait for nothing more become ready, and the
-- open sessions that submitted them are told. Returns one topic per task that became ready, and those of the notices.
create function coord.unblock(p_project bigint, p_ids bigint[], p_now timestamptz) returns text[] language plpgsql
set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_wake text[];
begin
  if not exists (select from coord.work_dep d where d.project_id = p_project and d.on_id = any (p_ids)) then return '{}'; end if;
  perform 1 from public.work_queue w where w.project_id = p_project
    and w.id in (select d.id from coord.work_dep d where d.project_id = p_project and d.on_id = any (p_ids)) order by w.id for no key update;
  with gone as (delete from coord.work_dep d where d.project_id = p_project and d.on_id = any (p_ids) returning d.id),
  n as (select g.id, count(*) as c from gone g group by g.id),
  freed as (update public.work_queue w set waiting_on = w.waiting_on - n.c, updated_at = p_now from n
    where w.project_id = p_project and w.id = n.id
    returning w.id, w.task_id, w.task_type, w.class_id, w.priority, w.submitted_session, w.waiting_on = 0 and w.status = 'pending' as ready),
  lanes as (insert into coord.ready (project_id, queue, class_id, priority, id)
    select p_project, 1, f.class_id, f.priority, f.id from freed f where f.ready returning class_id),
  told as (insert into coord.notices (project_id, session_id, kind, text, data)
    select p_project, s.id, 'task_ready', pg_catalog.format('%s you submitted can begin: what %s waited for is completed.',
        case count(*) when 1 then 'A task (' || pg_catalog.left(min(f.task_type), 80) || ')' else count(*) || ' tasks' end,
        case count(*) when 1 then 'it' else 'they' end),
      pg_catalog.jsonb_build_object('task_ids', (pg_catalog.array_agg(f.task_id order by f.id))[1:20])
    from freed f join public.agent_sessions s on s.project_id = p_project and s.id = f.submitted_session and s.status = 'active'
    where f.ready group by s.id returning session_id)
  select pg_catalog.array_agg(t.topic) into v_wake from (
    select coord.lane_topic(p_project, 1::smallint, l.class_id) as topic from lanes l
    union all select pg_catalog.format('n:%s:%s', p_project, t.session_id) from told t) t;
  return coalesce(v_wake, '{}');
end $$;

------------------------------------------------------------------------------------ renewing, reporting
-- Renews the lease for p_lease seconds (null: as claimed) from now. Not audited, and not waited for on disk: a crash
-- may take a renewal back. Codes: lease_lost, PT440.
create function coord.heartbeat_work(p_project bigint, p_session bigint, p_task uuid, p_lease int, p_token text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions := coord.work_session(p_project, p_session); v_w public.work_queue; v_now timestamptz; v_until timestamptz;
begin
  perform pg_catalog.set_config('synchronous_commit', 'off', true);
  v_w := coord.lock_task(p_project, p_task);
  if not coord.holds_task(v_w, v_s, p_token) then return coord.not_yours(p_task, v_w); end if;
  v_now := coord.now();
  v_until := v_now + make_interval(secs => coalesce(p_lease, v_w.lease_seconds));
  if v_until < v_w.lease_due then  -- a shorter lease: the sweep must look earlier
    update coord.lease l set until = v_until where l.project_id = p_project and l.queue = 1 and l.until = v_w.lease_due and l.id = v_w.id;
  end if;
  update public.work_queue w set lease_until = v_until, lease_due = least(w.lease_due, v_until), lease_seconds = coalesce(p_lease, w.lease_seconds),
    updated_at = v_now where w.project_id = p_project and w.id = v_w.id;
  return pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', v_w.status, 'lease_expires_at', coord.ts(v_until));
end $$;

-- Renews every lease of the session for as long as each was claimed; returns how many. For the session's heartbeat.
create function coord.renew_work(p_project bigint, p_session bigint) returns int language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_n int;
begin
  update public.work_queue w set lease_until = v_now + make_interval(secs => w.lease_seconds)
    from (select x.id from public.work_queue x join coord.lease l on l.project_id = p_project and l.queue = 1 and l.id = x.id
      where x.project_id = p_project and l.session_id = p_session order by x.id for no key update of x skip locked) held
    where w.project_id = p_project and w.id = held.id and w.session_id = p_session and w.status in ('claimed', 'running');
  get diagnostics v_n = row_count;
  return v_n;
end $$;

-- Reports progress (percent 0..100, a note, both optional) and renews the lease; the task is running from then on.
-- Not audited. Codes: lease_lost, PT440.
create function coord.progress_work(p_project bigint, p_session bigint, p_task uuid, p_percent float8, p_note text, p_token text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_reply jsonb := coord.heartbeat_work(p_project, p_session, p_task, null, p_token); v_now timestamptz := coord.now();
begin
  if not (v_reply ->> 'success')::boolean then return v_reply; end if;
  update public.work_queue w set status = 'running', updated_at = v_now,
      progress = pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('percent', coalesce(p_percent, (w.progress ->> 'percent')::float8),
        'note', coalesce(pg_catalog.left(p_note, 2000), w.progress ->> 'note'), 'at', coord.ts(v_now)))
    where w.project_id = p_project and w.task_id = p_task;
  return v_reply || '{"status": "running"}';
end $$;

---------------------------------------------------------------------------------------------- ending
-- Ends tasks the session holds. p_items is an array of {task_id, success, result?, error_message?, retryable?,
-- lease_token?}. success true completes and unblocks dependents; false fails for good, unless retryable and attempts
-- remain: then the task comes back after a backoff (scheduled), and is dead when none remain. A repeat by the same
-- claimant with the same outcome answers as the first did. Reply: results in order, wake. In an array of one a
-- stale token raises lease_lost; in a longer one it is that item's reason.
create function coord.complete_work(p_project bigint, p_session bigint, p_by text, p_items jsonb)
returns jsonb language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_s public.agent_sessions := coord.work_session(p_project, p_session); v_now timestamptz; v_ids bigint[]; v_done uuid[]; v_wake text[] := '{}';
  v_item record; v_one jsonb; v_results jsonb[] := '{}'; v_n int := pg_catalog.jsonb_array_length(p_items); v_changed text[];
begin
  -- Every access is by key from the items: joined freely, a plan made for few rows would look at the whole project.
  perform coord.lock_tasks(p_project, array(select w.id from (select distinct (i ->> 'task_id')::uuid as task_id from pg_catalog.jsonb_array_elements(p_items) i) i
    cross join lateral (select x.id from public.work_queue x where x.project_id = p_project and x.task_id = i.task_id limit 1) w));
  v_now := coord.now();
  with i as (select * from pg_catalog.jsonb_to_recordset(p_items) as x (task_id uuid, success boolean, result jsonb, error_message text, lease_token text)
    where x.success),
  done as (
    update public.work_queue w set status = 'completed', result = nullif(i.result, 'null'), error_message = i.error_message, completed_at = v_now, updated_at = v_now,
      lease_until = null, session_id = null, ended_by = v_s.agent_id, ended_as = 'completed'
    from (select i.*, x.ctid as place from i cross join lateral (
        select y.ctid from public.work_queue y where y.project_id = p_project and y.task_id = i.task_id limit 1) x) i
    where w.ctid = i.place and w.status in ('claimed', 'running') and w.claimed_by = v_s.agent_id
      and (w.session_id = p_session or v_s.implicit or i.lease_token is not null) and (i.lease_token is null or i.lease_token = w.fence::text)
    returning w.id, w.task_id, w.lease_due, w.deadline),
  leases as (delete from coord.lease l where l.ctid = any (array(select x.ctid from done d cross join lateral (
      select y.ctid from coord.lease y where y.project_id = p_project and y.queue = 1 and y.until = d.lease_due and y.id = d.id limit 1) x))),
  times as (delete from coord.timer t where t.ctid = any (array(select x.ctid from done d cross join lateral (
      select y.ctid from coord.timer y where y.project_id = p_project and y.queue = 1 and y.kind = 2 and y.at = d.deadline and y.id = d.id limit 1) x
    where d.deadline is not null)))
  select pg_catalog.array_agg(d.id), pg_catalog.array_agg(d.task_id) into v_ids, v_done from done d;
  v_changed := coalesce(v_done::text[], '{}');
  if v_ids is not null then v_wake := coord.unblock(p_project, v_ids, v_now); end if;
  for v_item in select * from pg_catalog.jsonb_to_recordset(p_items)
      as x (task_id uuid, success boolean, result jsonb, error_message text, retryable boolean, lease_token text)
  loop
    if v_item.task_id = any (v_done) then
      v_one := pg_catalog.jsonb_build_object('success', true, 'task_id', v_item.task_id, 'status', 'completed');
      v_done := pg_catalog.array_remove(v_done, v_item.task_id);
    else
      v_one := coord.complete_one(p_project, v_s, v_item.task_id, coalesce(v_item.success, false), v_item.result, v_item.error_message,
        coalesce(v_item.retryable, false), v_item.lease_token, v_n = 1, v_now);
      if (v_one ->> 'success')::boolean and not v_one ? 'replayed' then v_changed := v_changed || v_item.task_id::text; end if;
      v_wake := v_wake || coalesce(array(select pg_catalog.jsonb_array_elements_text(v_one -> 'wake')), '{}');
    end if;
    v_results := v_results || (v_one - 'wake');
  end loop;
  if pg_catalog.cardinality(v_changed) > 0 then
    perform coord.audit(p_project, p_session, p_by, 'complete_work', v_changed);
    v_wake := v_wake || coord.work_topic(p_project);
  end if;
  return pg_catalog.jsonb_build_object('results', pg_catalog.to_jsonb(v_results), 'wake', v_wake);
end $$;

-- One item of coord.complete_work that was not a plain success.
create function coord.complete_one(p_project bigint, p_s public.agent_sessions, p_task uuid, p_success boolean, p_result jsonb, p_error text,
  p_retryable boolean, p_token text, p_raise boolean, p_now timestamptz)
returns jsonb language plpgsql set search_path = '' as $$
declare v_w public.work_queue := coord.lock_task(p_project, p_task); v_status text; v_reply jsonb; v_wake text[] := '{}'; v_held boolean;
begin
  if v_w.id is not null and v_w.ended_by = p_s.agent_id and v_w.status not in ('claimed', 'running') and (p_token is null or p_token = v_w.fence::text)
      and (p_success and v_w.ended_as = 'completed' or not p_success and not p_retryable and v_w.ended_as = 'failed'
        or not p_success and p_retryable and v_w.ended_as in ('scheduled', 'dead')) then
    return pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', v_w.ended_as, 'replayed', true)
      || case when v_w.status = 'scheduled' then pg_catalog.jsonb_build_object('retry_at', coord.ts(v_w.run_at)) else '{}' end;
  end if;
  if p_token is not null and not p_raise and (v_w.status not in ('claimed', 'running') or v_w.claimed_by <> p_s.agent_id or p_token <> v_w.fence::text) then
    return coord.not_yours(p_task, v_w) || '{"reason": "lease_lost"}';
  end if;
  v_held := coord.holds_task(v_w, p_s, p_token);
  if not v_held then return coord.not_yours(p_task, v_w); end if;
  if p_success then
    perform coord.end_task(v_w, p_now, 'completed', nullif(p_result, 'null'), p_error);
    v_wake := coord.unblock(p_project, array[v_w.id], p_now);
    v_status := 'completed';
  elsif p_retryable then
    v_status := coord.give_back(v_w, p_now, coord.backoff_seconds(v_w.id, v_w.attempt), coalesce(p_error, 'the claimant reported a failure that may be retried'));
  else
    perform coord.end_task(v_w, p_now, 'failed', nullif(p_result, 'null'), coalesce(p_error, 'the claimant reported failure'));
    v_status := 'failed';
  end if;
  update public.work_queue w set ended_by = p_s.agent_id, ended_as = v_status where w.project_id = p_project and w.id = v_w.id;
  v_reply := pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', v_status, 'wake', v_wake);
  if v_status = 'scheduled' then
    v_reply := v_reply || pg_catalog.jsonb_build_object('retry_at', coord.ts(p_now + make_interval(secs => coord.backoff_seconds(v_w.id, v_w.attempt))));
  end if;
  return v_reply;
end $$;

-- Gives a held task back to the queue at once; the attempt counts. Codes: lease_lost, PT440.
create function coord.release_work(p_project bigint, p_session bigint, p_by text, p_task uuid, p_reason text, p_token text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions := coord.work_session(p_project, p_session); v_w public.work_queue; v_status text;
begin
  v_w := coord.lock_task(p_project, p_task);
  if not coord.holds_task(v_w, v_s, p_token) then return coord.not_yours(p_task, v_w); end if;
  v_status := coord.give_back(v_w, coord.now(), 0, 'released by ' || v_s.agent_id || coalesce(': ' || p_reason, ''));
  perform coord.audit(p_project, p_session, p_by, 'release_work', array[p_task::text], true, p_reason);
  return pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', v_status, 'wake',
    case when v_status = 'pending' then array[coord.lane_topic(p_project, 1::smallint, v_w.class_id)] else '{}' end || coord.work_topic(p_project));
end $$;

------------------------------------------------------------------------------------- cancelling, retrying
-- May this caller manage the task: a reviewer or admin (p_privileged), its submitter, or its claimant?
create function coord.may_manage(p_w public.work_queue, p_agent text, p_by text, p_privileged boolean, p_what text) returns void language plpgsql set search_path = '' as $$
begin
  if p_privileged or p_w.submitted_by in (p_agent, case when p_agent is null then p_by end) or (p_what = 'cancel' and p_w.claimed_by = p_agent) then return; end if;
  perform coord.fail(403, 'forbidden', 'you may not ' || p_what || ' this task', 'it was submitted by ' || p_w.submitted_by,
    'ask its submitter, or use a key with the scope reviewer');
end $$;

-- Cancels a task for good, with all that depend on it, directly or not. A task that ended stays as it is.
-- The claimant of a running one gets a notice. Codes: forbidden.
create function coord.cancel_work(p_project bigint, p_session bigint, p_by text, p_agent text, p_privileged boolean, p_task uuid, p_reason text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz; v_w public.work_queue; v_text text; v_ids text[] := '{}'; v_wake text[] := '{}';
  v_root bigint; v_gone bigint[] := '{}'; v_found boolean;
begin
  select * into v_w from public.work_queue w where w.project_id = p_project and w.task_id = p_task;
  if v_w.id is null then
    return pg_catalog.jsonb_build_object('success', false, 'task_id', p_task, 'reason', 'task_not_found');
  end if;
  perform coord.may_manage(v_w, p_agent, p_by, p_privileged, 'cancel');
  v_w := coord.lock_task(p_project, p_task);
  if v_w.status in ('completed', 'failed', 'dead', 'cancelled') then
    return pg_catalog.jsonb_build_object('success', v_w.status = 'cancelled', 'task_id', p_task, 'status', v_w.status, 'cancelled', 0)
      || case when v_w.status = 'cancelled' then '{}' else pg_catalog.jsonb_build_object('reason', 'already_ended') end;
  end if;
  v_text := 'cancelled by ' || coalesce(p_agent, p_by) || coalesce(': ' || p_reason, '');
  v_now := coord.now();
  v_root := v_w.id;
  loop  -- until there is nothing new: a task may have been submitted on one of them while we waited for its lock
    v_found := false;
    for v_w in
      with recursive d (id) as (select v_root union select e.id from d join coord.work_dep e on e.project_id = p_project and e.on_id = d.id)
      select w.* from public.work_queue w where w.project_id = p_project and w.id in (select d.id from d)
        and w.status not in ('completed', 'failed', 'dead', 'cancelled') order by w.id for no key update
    loop
      v_found := true;
      if v_w.session_id is not null then
        perform coord.notice(p_project, v_w.session_id, 'work_lost', pg_catalog.format('Task %s was %s. Stop working on it.', v_w.task_id, v_text),
          pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'reason', 'cancelled'));
        v_wake := v_wake || pg_catalog.format('n:%s:%s', p_project, v_w.session_id);
      end if;
      perform coord.end_task(v_w, v_now, 'cancelled', null, case when v_w.id = v_root then v_text else pg_catalog.format('%s (with %s, which it depends on)', v_text, p_task) end);
      v_ids := v_ids || v_w.task_id::text;
      v_gone := v_gone || v_w.id;
    end loop;
    exit when not v_found;
  end loop;
  delete from coord.work_dep e where e.project_id = p_project and e.on_id = any (v_gone);
  delete from coord.work_dep e using public.work_queue w, public.work_queue o
    where w.project_id = p_project and w.id = any (v_gone) and o.project_id = p_project and o.task_id = any (w.depends_on)
      and e.project_id = p_project and e.on_id = o.id and e.id = w.id;
  perform coord.audit(p_project, p_session, p_by, 'cancel_work', v_ids, true, p_reason);
  return pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', 'cancelled', 'cancelled', pg_catalog.cardinality(v_ids), 'task_ids', v_ids,
    'wake', array[coord.work_topic(p_project)] || v_wake);
end $$;

-- Puts a failed or dead task back into the queue with its attempts counted from zero; a deadline that passed is
-- dropped. Codes: forbidden.
create function coord.retry_work(p_project bigint, p_session bigint, p_by text, p_agent text, p_privileged boolean, p_task uuid)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_w public.work_queue := coord.lock_task(p_project, p_task); v_now timestamptz := coord.now(); v_keep boolean;
begin
  if v_w.id is null then return pg_catalog.jsonb_build_object('success', false, 'task_id', p_task, 'reason', 'task_not_found'); end if;
  perform coord.may_manage(v_w, p_agent, p_by, p_privileged, 'retry');
  if v_w.status not in ('failed', 'dead') then
    return pg_catalog.jsonb_build_object('success', false, 'task_id', p_task, 'status', v_w.status, 'reason', 'not_failed');
  end if;
  v_keep := v_w.deadline > v_now;
  update public.work_queue w set status = 'pending', attempt = 0, claimed_by = null, completed_at = null, ended_by = null, ended_as = null, updated_at = v_now,
    deadline = case when v_keep then w.deadline end where w.project_id = p_project and w.id = v_w.id;
  if v_keep then insert into coord.timer (project_id, queue, kind, at, id) values (p_project, 1, 2, v_w.deadline, v_w.id) on conflict do nothing; end if;
  if v_w.waiting_on = 0 then
    insert into coord.ready (project_id, queue, class_id, priority, id) values (p_project, 1, v_w.class_id, v_w.priority, v_w.id);
  end if;
  perform coord.audit(p_project, p_session, p_by, 'retry_work', array[p_task::text]);
  return pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', 'pending', 'wake',
    case when v_w.waiting_on = 0 then array[coord.lane_topic(p_project, 1::smallint, v_w.class_id)] else '{}' end || coord.work_topic(p_project));
end $$;

---------------------------------------------------------------------------------- sessions that end, time
-- Takes back everything a session holds, at once: for the end or lapse of a session, in its transaction, after its
-- status was changed. A session that did not end itself gets notices.
-- Returns {"requeued", "dead", "wake"}.
create function coord.free_work(p_project bigint, p_session bigint, p_reason text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_w public.work_queue; v_status text; v_requeued int := 0; v_dead int := 0; v_wake text[] := '{}';
  v_tell boolean := (select s.status <> 'ended' from public.agent_sessions s where s.project_id = p_project and s.id = p_session);
begin
  for v_w in
    select w.* from public.work_queue w where w.project_id = p_project
      and w.id = any (array(select l.id from coord.lease l where l.project_id = p_project and l.queue = 1 and l.session_id = p_session))
    order by w.id for no key update
  loop
    continue when v_w.session_id is distinct from p_session or v_w.status not in ('claimed', 'running');
    v_status := coord.give_back(v_w, v_now, 0, pg_catalog.format('the session of %s ended: %s', v_w.claimed_by, p_reason));
    if v_status = 'dead' then
      v_dead := v_dead + 1;
    else
      v_requeued := v_requeued + 1;
      v_wake := v_wake || coord.lane_topic(p_project, 1::smallint, v_w.class_id);
    end if;
    if v_tell then
      perform coord.notice(p_project, p_session, 'work_lost', pg_catalog.format('Task %s is no longer yours: %s. Stop working on it.', v_w.task_id, p_reason),
        pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'reason', p_reason, 'status', v_status));
    end if;
  end loop;
  if v_requeued + v_dead > 0 then v_wake := v_wake || coord.work_topic(p_project); end if;
  return pg_catalog.jsonb_build_object('requeued', v_requeued, 'dead', v_dead, 'wake', v_wake);
end $$;

-- Does what is due by time, at most p_limit of each kind a project: leases that ran out (back to the queue after a
-- backoff, or dead), scheduled tasks that become ready, deadlines that passed (failed). Any process may call it at
-- any time; tasks that are locked are left for the next call.
create function coord.sweep_work(p_limit int default 200) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_project bigint; v_sum jsonb; v_n int[] := '{0,0,0,0}'; v_wake text[] := '{}';
begin
  for v_project in select coord.due_projects(1::smallint, v_now) loop
    v_sum := coord.sweep_deadlines(v_project, v_now, p_limit) || coord.sweep_leases(v_project, v_now, p_limit)
      || coord.sweep_schedule(v_project, v_now, p_limit);
    v_n := array[v_n[1] + (v_sum ->> 'requeued')::int, v_n[2] + (v_sum ->> 'dead')::int,
      v_n[3] + (v_sum ->> 'readied')::int, v_n[4] + (v_sum ->> 'overdue')::int];
    v_wake := v_wake || coord.work_topic(v_project) || array(select pg_catalog.jsonb_array_elements_text(v_sum -> 'lanes'))
      || array(select pg_catalog.format('n:%s:%s', v_project, x) from pg_catalog.jsonb_array_elements_text((v_sum -> 'told') || (v_sum -> 'told_too')) x);
  end loop;
  return pg_catalog.jsonb_build_object('requeued', v_n[1], 'dead', v_n[2], 'readied', v_n[3], 'overdue', v_n[4], 'wake', v_wake);
end $$;

create function coord.sweep_leases(p_project bigint, p_now timestamptz, p_limit int) returns jsonb language plpgsql set search_path = '' as $$
declare v_w public.work_queue; v_text text; v_status text; v_requeued int := 0; v_dead int := 0; v_ids text[] := '{}'; v_told bigint[] := '{}';
begin
  for v_w in
    select w.* from (select l.id from coord.lease l where l.project_id = p_project and l.queue = 1 and l.until <= p_now order by l.until limit p_limit) due
    join public.work_queue w on w.project_id = p_project and w.id = due.id order by w.id for no key update of w skip locked
  loop
    continue when v_w.status not in ('claimed', 'running') or v_w.lease_due > p_now;
    if v_w.lease_until > p_now then  -- renewed since: look again when the renewed lease ends
      update coord.lease l set until = v_w.lease_until where l.project_id = p_project and l.queue = 1 and l.until = v_w.lease_due and l.id = v_w.id;
      update public.work_queue w set lease_due = w.lease_until where w.project_id = p_project and w.id = v_w.id;
      continue;
    end if;
    v_text := pg_catalog.format('the lease of %s ran out at %s', v_w.claimed_by, coord.ts(v_w.lease_until));
    v_status := coord.give_back(v_w, p_now, coord.backoff_seconds(v_w.id, v_w.attempt), v_text);
    v_requeued := v_requeued + (v_status <> 'dead')::int;
    v_dead := v_dead + (v_status = 'dead')::int;
    v_ids := v_ids || v_w.task_id::text;
    perform coord.notice(p_project, v_w.session_id, 'work_lost', pg_catalog.format('Task %s is no longer yours: its lease ran out. Stop working on it.', v_w.task_id),
      pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'reason', 'lease_expired', 'status', v_status));
    v_told := v_told || v_w.session_id;
  end loop;
  if v_requeued + v_dead > 0 then perform coord.audit(p_project, null, 'sweep', 'expire_lease', v_ids); end if;
  return pg_catalog.jsonb_build_object('requeued', v_requeued, 'dead', v_dead, 'told', v_told);
end $$;

create function coord.sweep_schedule(p_project bigint, p_now timestamptz, p_limit int) returns jsonb language plpgsql set search_path = '' as $$
declare v_w public.work_queue; v_readied int := 0; v_wake text[] := '{}';
begin
  for v_w in
    select w.* from (select t.id from coord.timer t where t.project_id = p_project and t.queue = 1 and t.kind = 1 and t.at <= p_now order by t.at limit p_limit) due
    join public.work_queue w on w.project_id = p_project and w.id = due.id order by w.id for no key update of w skip locked
  loop
    continue when v_w.status <> 'scheduled' or v_w.run_at > p_now;
    perform coord.loosen_task(v_w, false);
    update public.work_queue w set status = 'pending', run_at = null, updated_at = p_now where w.project_id = p_project and w.id = v_w.id;
    v_readied := v_readied + 1;
    if v_w.waiting_on = 0 then
      insert into coord.ready (project_id, queue, class_id, priority, id) values (p_project, 1, v_w.class_id, v_w.priority, v_w.id);
      v_wake := v_wake || coord.lane_topic(p_project, 1::smallint, v_w.class_id);
    end if;
  end loop;
  return pg_catalog.jsonb_build_object('readied', v_readied, 'lanes', v_wake);
end $$;

create function coord.sweep_deadlines(p_project bigint, p_now timestamptz, p_limit int) returns jsonb language plpgsql set search_path = '' as $$
declare v_w public.work_queue; v_ids text[] := '{}'; v_told bigint[] := '{}';
begin
  for v_w in
    select w.* from (select t.id from coord.timer t where t.project_id = p_project and t.queue = 1 and t.kind = 2 and t.at <= p_now order by t.at limit p_limit) due
    join public.work_queue w on w.project_id = p_project and w.id = due.id order by w.id for no key update of w skip locked
  loop
    continue when v_w.status in ('completed', 'failed', 'dead', 'cancelled') or v_w.deadline > p_now;
    if v_w.session_id is not null then
      perform coord.notice(p_project, v_w.session_id, 'work_lost', pg_catalog.format('Task %s failed: its deadline passed. Stop working on it.', v_w.task_id),
        pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'reason', 'deadline'));
      v_told := v_told || v_w.session_id;
    end if;
    perform coord.end_task(v_w, p_now, 'failed', null, 'the deadline passed at ' || coord.ts(v_w.deadline));
    v_ids := v_ids || v_w.task_id::text;
  end loop;
  if pg_catalog.cardinality(v_ids) > 0 then perform coord.audit(p_project, null, 'sweep', 'deadline_passed', v_ids); end if;
  return pg_catalog.jsonb_build_object('overdue', pg_catalog.cardinality(v_ids), 'told_too', v_told);
end $$;

grant execute on function coord.heartbeat_work(bigint, bigint, uuid, int, text), coord.renew_work(bigint, bigint),
  coord.progress_work(bigint, bigint, uuid, float8, text, text), coord.complete_work(bigint, bigint, text, jsonb),
  coord.release_work(bigint, bigint, text, uuid, text, text), coord.cancel_work(bigint, bigint, text, text, boolean, uuid, text),
  coord.retry_work(bigint, bigint, text, text, boolean, uuid), coord.free_work(bigint, bigint, text), coord.sweep_work(int) to service_role;
