-- Tasks that runners execute. A task whose demands name an executor_profile is claimed by no agent: a runner that fits
-- and finds no run waiting takes it from the work queue, and with that claim it becomes a run (of a new session) that
-- the runner has. When the run ends, the task does: completed with the session's result; back in the queue after a
-- pause while attempts remain, else dead, when the run failed; failed for good when somebody stopped the run.
-- What is demanded of agents alone (agent_type, min_trust_level) no runner meets.
--
-- Lock order: run, then task, then what coord.unblock takes. The end of a run is noted on the run (task_open) and told to
-- the task by a later transaction, which holds no session; so nobody waits in a circle.
set local lock_timeout = '5s';

create index demand_class_executors on coord.demand_class (project_id, id) where queue = 1 and pg_catalog.jsonb_exists(demands, 'executor_profile');

-- The classes of tasks a runner may take, by project.
create function coord.runner_task_classes(p_r public.runners) returns table (project_id bigint, classes int[]) language sql stable set search_path = '' as $$
  select c.project_id, pg_catalog.array_agg(c.id) from coord.demand_class c
  where c.queue = 1 and pg_catalog.jsonb_exists(c.demands, 'executor_profile') and (p_r.project_id is null or c.project_id = p_r.project_id)
    and coord.demands_match(c.demands, coord.runner_claimer(p_r))
  group by c.project_id
$$;

-- The topics a waiting runner parks on for tasks.
create function coord.runner_task_lanes(p_r public.runners) returns text[] language sql stable set search_path = '' as $$
  select coalesce(pg_catalog.array_agg(coord.lane_topic(t.project_id, 1::smallint, c)), '{}') from coord.runner_task_classes(p_r) t, unnest(t.classes) c
$$;

-- What the executor of a task is asked: the description, and what else the task carries.
create function coord.task_prompt(p_w public.work_queue) returns text language sql stable set search_path = '' as $$
  select p_w.description
    || case when coalesce(p_w.input_data, '{}') = '{}' then '' else E'\n\n## Input\n\n```json\n' || pg_catalog.jsonb_pretty(p_w.input_data) || E'\n```' end
    || case when p_w.files = '{}' then '' else E'\n\n## Files to lock before you edit them\n\n' || pg_catalog.array_to_string(p_w.files, E'\n') end
$$;

-- Claims a task for a runner and makes it a run that the runner has; no row when there is none. Projects are tried in
-- any order, so that none waits behind another.
create function coord.take_task(p_r public.runners, p_lease int) returns public.runs language plpgsql set search_path = '' as $$
declare v_t record; v_ids bigint[]; v_w public.work_queue; v_s public.sessions; v_run public.runs; v_now timestamptz; v_agent text; v_demands jsonb;
begin
  for v_t in select * from coord.runner_task_classes(p_r) t order by pg_catalog.random() loop
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

-- Tells the tasks of at most p_limit runs that ended. Returns {settled, wake}.
create function coord.settle_tasks(p_limit int) returns jsonb language plpgsql set search_path = '' as $$
declare v_r public.runs; v_w public.work_queue; v_now timestamptz; v_n int := 0; v_wake text[] := '{}'; v_status text;
begin
  for v_r in select * from public.runs r where r.task_open and r.status in ('completed', 'failed', 'stopped') order by r.id limit p_limit for update skip locked loop
    select * into v_w from public.work_queue w where w.project_id = v_r.project_id and w.task_id = v_r.task_id for no key update skip locked;
    continue when v_w.id is null and exists (select from public.work_queue w where w.project_id = v_r.project_id and w.task_id = v_r.task_id);  -- the next time
    v_n := v_n + 1;
    update public.runs r set task_open = false where r.project_id = v_r.project_id and r.id = v_r.id;
    continue when v_w.id is null or v_w.status not in ('claimed', 'running') or v_w.claimed_by is distinct from v_r.session_id;
    v_now := coord.now();
    if v_r.status = 'completed' then
      perform coord.loosen_task(v_w, true);
      update public.work_queue w set status = 'completed', completed_at = v_now, updated_at = v_now, session_id = null, ended_by = v_r.session_id, ended_as = 'completed',
          result = pg_catalog.jsonb_build_object('run_id', v_r.run_id, 'session_id', v_r.session_id, 'text', (coord.result_text(v_r.session_id)).result)
        where w.project_id = v_w.project_id and w.id = v_w.id;
      v_wake := v_wake || coord.unblock(v_w.project_id, array[v_w.id], v_now);
      v_status := 'completed';
    elsif v_r.status = 'failed' then
      v_status := coord.give_back(v_w, v_now, coord.backoff_seconds(v_w.id, v_w.attempt), pg_catalog.format('run %s failed: %s', v_r.run_id, pg_catalog.left(v_r.error, 2000)));
    else
      perform coord.end_task(v_w, v_now, 'failed', null, pg_catalog.format('run %s was stopped', v_r.run_id));
      v_status := 'failed';
    end if;
    v_wake := v_wake || coord.work_topic(v_w.project_id);
    perform coord.audit(v_w.project_id, null, 'system', 'settle_task', array[v_w.task_id::text, v_r.run_id], true, v_status);
  end loop;
  return pg_catalog.jsonb_build_object('settled', v_n, 'wake', v_wake);
end $$;

-- Stops runs whose task is no longer theirs: it was cancelled, or its deadline passed. At most p_limit.
create function coord.stop_taskless(p_limit int) returns jsonb language plpgsql set search_path = '' as $$
declare v_due record; v_r public.runs; v_n int := 0; v_wake text[] := '{}';
begin
  for v_due in select r.run_id, r.session_id from public.runs r
      left join public.work_queue w on w.project_id = r.project_id and w.task_id = r.task_id and w.status in ('claimed', 'running') and w.claimed_by = r.session_id
      where r.task_open and r.status in ('pending', 'claimed', 'running') and w.id is null order by r.id limit p_limit loop
    perform 1 from public.sessions s where s.session_id = v_due.session_id for update skip locked;
    continue when not found;
    select * into v_r from public.runs r where r.run_id = v_due.run_id for update;
    continue when v_r.status not in ('pending', 'claimed', 'running');
    v_wake := v_wake || coord.texts(coord.stop_locked(v_r) -> 'wake');
    v_n := v_n + 1;
  end loop;
  return pg_catalog.jsonb_build_object('stopped', v_n, 'wake', v_wake);
end $$;

-- How many distinct demands of tasks name an executor_profile.
create function coord.executor_classes() returns int language sql stable security definer set search_path = '' as $$
  select count(*)::int from coord.demand_class c where c.queue = 1 and pg_catalog.jsonb_exists(c.demands, 'executor_profile')
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.executor_classes() to service_role;
