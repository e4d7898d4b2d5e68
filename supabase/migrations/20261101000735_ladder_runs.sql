-- Runs on their way: handed to a gateway under a lease, begun, looked after, ended, cancelled. And what is due by time.
--
-- A gateway is an owner, a name of its process. It begins what is queued, and looks after what it began as long as its
-- lease lasts; what another left behind is anybody's. Starting again what was being started is harmless by contract of the
-- executors: the run's id is the same.
set local lock_timeout = '5s';

-- Seconds that a run may take, 600 unless its policy says otherwise.
create function coord.run_timeout(p_r public.verification_results) returns int language sql immutable set search_path = '' as $$
  select least(greatest(coalesce(nullif((p_r.policy ->> 'timeout_seconds')::int, 0), 600), 1), 86400)
$$;

-- What an executor is told: see executors.Job. Files only where they are needed: to start.
create function coord.job_wire(p_r public.verification_results, p_c public.changesets, p_action text, p_files boolean) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_build_object('action', p_action, 'id', p_r.id, 'project_id', p_r.project_id, 'changeset_id', p_c.id,
    'project', (select p.name from public.projects p where p.id = p_r.project_id), 'repository', p_c.repository, 'clone_url', coalesce(p_c.clone_url, ''), 'head_sha', p_r.head_sha,
    'base_sha', coalesce(p_c.base_sha, ''), 'ref', coalesce(p_c.ref, ''), 'pull_number', coalesce(p_c.pr_number, 0), 'fork', p_c.is_fork, 'trust', coalesce(p_c.trust_level, 0),
    'truncated', p_c.files_truncated, 'policy', p_r.policy, 'executor', p_r.executor, 'attempt', p_r.attempt, 'external_id', coalesce(p_r.external_id, ''),
    'external_url', coalesce(p_r.external_url, ''), 'dispatched_at', coord.ts(p_r.dispatched_at), 'timeout_seconds', coord.run_timeout(p_r),
    'files', case when p_files then (select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('path', f.path, 'previous_path', f.prev_path, 'status', f.status,
      'additions', f.additions, 'deletions', f.deletions, 'mode', f.mode)) order by f.path) from public.changeset_files f where f.project_id = p_c.project_id and f.changeset_id = p_c.id) end)
$$;

-- Hands out what there is to do. p_slots: {"inline": {"free": 2, "check_seconds": 30}, …}: what this gateway can run, how
-- much more of it, and how often one is looked at. Renews the leases of all that p_owner has. p_grace seconds are added to
-- a run's own timeout before the ladder gives it up.
create function coord.take_runs(p_owner text, p_slots jsonb, p_lease int, p_grace int) returns table (job jsonb) language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_until timestamptz := v_now + pg_catalog.make_interval(secs => p_lease);
begin
  update public.verification_results r set lease_until = v_until
    where r.status in ('dispatching', 'running') and r.lease_owner = p_owner and r.lease_until < v_now + pg_catalog.make_interval(secs => p_lease * 0.6);
  return query with slots as (select s.key as executor, (s.value ->> 'free')::int as free, coalesce((s.value ->> 'check_seconds')::float8, 30) as every from pg_catalog.jsonb_each(p_slots) s),
    due as (select q.id, q.project_id, s.every from slots s cross join lateral (
        select r.id, r.project_id from public.verification_results r where r.status = 'queued' and r.executor = s.executor and (r.not_before is null or r.not_before <= v_now)
        order by r.queued_at limit greatest(s.free, 0) for update skip locked) q),
    begun as (update public.verification_results r set status = 'dispatching', lease_owner = p_owner, lease_until = v_until, dispatched_at = v_now,
        next_check_at = v_now + pg_catalog.make_interval(secs => due.every), deadline = v_now + pg_catalog.make_interval(secs => coord.run_timeout(r) + p_grace)
      from due where r.project_id = due.project_id and r.id = due.id returning r.*)
    select coord.job_wire(b, c, 'start', true) from begun b join public.changesets c on c.project_id = b.project_id and c.id = b.changeset_id;
  return query with seen as (select r.id, r.project_id, r.status as was, coalesce((p_slots -> r.executor ->> 'check_seconds')::float8, 30) as every from public.verification_results r
      where r.status in ('dispatching', 'running') and r.next_check_at <= v_now and p_slots ? r.executor and (r.lease_owner = p_owner or r.lease_until < v_now)
      order by r.next_check_at limit 100 for update skip locked),
    kept as (update public.verification_results r set lease_owner = p_owner, lease_until = v_until, next_check_at = v_now + pg_catalog.make_interval(secs => seen.every)
      from seen where r.project_id = seen.project_id and r.id = seen.id returning r.*, seen.was)
    select coord.job_wire(r, c, case k.was when 'dispatching' then 'start' else 'check' end, k.was = 'dispatching')
    from kept k join public.verification_results r on r.project_id = k.project_id and r.id = k.id join public.changesets c on c.project_id = k.project_id and c.id = k.changeset_id;
end $$;

-- The run was begun. false: it is over already, and what was begun must be ended.
create function coord.verification_started(p_project bigint, p_run uuid, p_external text, p_url text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r public.verification_results; v_done boolean;
begin
  update public.verification_results r set external_id = coalesce(nullif(p_external, ''), r.external_id), external_url = coalesce(nullif(p_url, ''), r.external_url),
      status = 'running', started_at = coalesce(r.started_at, coord.now())
    where r.project_id = p_project and r.id = p_run and coord.run_rank(r.status) < coord.run_rank('running') returning * into v_r;
  if v_r.id is not null then
    perform coord.changeset_note(p_project, v_r.changeset_id, 'run', pg_catalog.format('%s began in %s (attempt %s)', v_r.policy_name, v_r.executor, v_r.attempt),
      pg_catalog.jsonb_build_object('run_id', v_r.id, 'url', v_r.external_url));
    return '{"live": true}';
  end if;
  update public.verification_results r set external_id = coalesce(r.external_id, nullif(p_external, '')), external_url = coalesce(r.external_url, nullif(p_url, '')),
      cancel_due = r.cancel_due or r.status = 'completed'
    where r.project_id = p_project and r.id = p_run returning r.status = 'completed' into v_done;
  return pg_catalog.jsonb_build_object('live', v_done is false);
end $$;

-- The run ended. p_out: conclusion, reason, exit_code, output, findings[], findings_total, external_url, started_at,
-- completed_at. A run that is over already keeps its end ({changed: false}).
create function coord.verification_ended(p_project bigint, p_run uuid, p_out jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r public.verification_results; v_c public.changesets; v_now timestamptz := coord.now(); v_again text;
begin
  select c.* into v_c from public.changesets c where c.project_id = p_project and c.id = (select r.changeset_id from public.verification_results r where r.project_id = p_project and r.id = p_run) for update;
  update public.verification_results r set status = 'completed', conclusion = p_out ->> 'conclusion', reason = pg_catalog.left(p_out ->> 'reason', 1000), exit_code = (p_out ->> 'exit_code')::int,
      output = pg_catalog.right(p_out ->> 'output', 65536), findings = coalesce(p_out -> 'findings', '[]'), findings_total = coalesce((p_out ->> 'findings_total')::int, 0),
      external_url = coalesce(nullif(p_out ->> 'external_url', ''), r.external_url), started_at = coalesce((p_out ->> 'started_at')::timestamptz, r.started_at, r.dispatched_at),
      completed_at = coalesce((p_out ->> 'completed_at')::timestamptz, v_now), lease_owner = null, lease_until = null, next_check_at = v_now,
      flaky = p_out ->> 'conclusion' = 'success' and r.test_retries > 0, cancel_due = coalesce((p_out ->> 'cancel')::boolean, false),
      duration_seconds = extract(epoch from coalesce((p_out ->> 'completed_at')::timestamptz, v_now) - coalesce((p_out ->> 'started_at')::timestamptz, r.started_at, r.dispatched_at))
    where r.project_id = p_project and r.id = p_run and coord.run_rank(r.status) < coord.run_rank('completed') returning * into v_r;
  if v_r.id is null then return '{"changed": false, "wake": []}'; end if;
  perform coord.changeset_note(p_project, v_c.id, 'run', pg_catalog.format('%s: %s%s%s', v_r.policy_name, v_r.conclusion, case when v_r.flaky then ' (flaky: it failed before on this commit)' else '' end,
    case when v_r.reason is not null then ', ' || v_r.reason else '' end), pg_catalog.jsonb_build_object('run_id', v_r.id, 'conclusion', v_r.conclusion, 'findings', v_r.findings_total));
  v_again := coord.retry_run(v_c, v_r);
  return pg_catalog.jsonb_build_object('changed', true, 'retried', v_again is not null,
    'wake', coord.settle(p_project, v_c.id) || array['g:runs', 'g:outbox', 'g:cs:' || v_c.id::text, coord.live_topic()]);
end $$;

-- Another attempt where one is due: twice after infra_error, retry_max times after a failure. Returns why, or null.
create function coord.retry_run(p_c public.changesets, p_r public.verification_results) returns text language plpgsql set search_path = '' as $$
declare v_why text; v_now timestamptz := coord.now();
begin
  if p_c.state not in ('verifying', 'awaiting_approval') or p_r.route_version <> p_c.route_version then return null; end if;
  v_why := case
    when p_r.conclusion = 'infra_error' and p_r.infra_retries < 2 then 'the place of verification failed, not the change'
    when p_r.conclusion = 'failure' and p_r.test_retries < least(coalesce((p_r.policy ->> 'retry_max')::int, 0), 5) then 'its policy allows another attempt' end;
  if v_why is null then return null; end if;
  perform coord.add_attempt(p_r, case when p_r.conclusion = 'infra_error' then 1 else 0 end, case when p_r.conclusion = 'failure' then 1 else 0 end,
    case when p_r.conclusion = 'infra_error' then v_now + pg_catalog.make_interval(secs => 2 * 5 ^ p_r.infra_retries) end);
  return v_why;
end $$;

create function coord.add_attempt(p_r public.verification_results, p_infra int, p_test int, p_not_before timestamptz) returns void language sql set search_path = '' as $$
  insert into public.verification_results (project_id, changeset_id, head_sha, route_version, policy_id, policy_name, policy, tier, executor, required, attempt, infra_retries, test_retries,
      status, queued_at, not_before)
    select p_r.project_id, p_r.changeset_id, p_r.head_sha, p_r.route_version, p_r.policy_id, p_r.policy_name, p_r.policy, p_r.tier, p_r.executor, p_r.required, 1 + (
        select pg_catalog.max(x.attempt) from public.verification_results x where x.project_id = p_r.project_id and x.changeset_id = p_r.changeset_id and x.policy_name = p_r.policy_name),
      p_r.infra_retries + p_infra, p_r.test_retries + p_test, 'queued', coord.now(), p_not_before
$$;

-- Somebody heard that a run may be over: look now. By our id, or by the place's own.
create function coord.look_at_run(p_executor text, p_run uuid, p_external text) returns jsonb language plpgsql security definer set search_path = '' as $$
begin
  update public.verification_results r set next_check_at = coord.now()
    where r.status in ('dispatching', 'running') and r.executor = p_executor and (r.id = p_run or p_run is null and r.external_id = p_external);
  return pg_catalog.jsonb_build_object('found', found, 'wake', case when found then '["g:runs"]' else '[]' end::jsonb);
end $$;

-------------------------------------------------------------------------------------------- cancelling
-- Runs that are over here and still to be ended where they run, leased for p_lease seconds.
create function coord.take_cancels(p_owner text, p_executors text[], p_lease int) returns table (job jsonb) language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  return query with due as (select r.project_id, r.id from public.verification_results r
      where r.cancel_due and r.next_check_at <= v_now and r.executor = any (p_executors) and (r.lease_owner is null or r.lease_owner = p_owner or r.lease_until < v_now)
      order by r.next_check_at limit 100 for update skip locked),
    taken as (update public.verification_results r set next_check_at = v_now + pg_catalog.make_interval(secs => p_lease), cancel_attempts = r.cancel_attempts + 1
      from due where r.project_id = due.project_id and r.id = due.id returning r.*)
    select coord.job_wire(t, c, 'cancel', false) from taken t join public.changesets c on c.project_id = t.project_id and c.id = t.changeset_id;
end $$;

-- A cancel succeeded, or (p_error) is tried again later; after ten times it is given up, and said so.
create function coord.cancel_done(p_project bigint, p_run uuid, p_error text) returns void language plpgsql security definer set search_path = '' as $$
declare v_r public.verification_results;
begin
  update public.verification_results r set cancel_due = p_error is not null and r.cancel_attempts < 10, lease_owner = case when p_error is null then null else r.lease_owner end,
      next_check_at = coord.now() + pg_catalog.make_interval(secs => least(2 ^ r.cancel_attempts, 300))
    where r.project_id = p_project and r.id = p_run and r.cancel_due returning * into v_r;
  if p_error is not null and v_r.cancel_due is false then
    perform coord.changeset_note(p_project, v_r.changeset_id, 'run', pg_catalog.format('%s could not be ended where it runs: %s', v_r.policy_name, p_error));
  end if;
end $$;

---------------------------------------------------------------------------------------------- what is due
-- Ends what time has ended: runs past their deadline, runs that no gateway takes, approvals nobody gave, changesets that
-- stay blocked. And settles once more what has not moved for a while, so that nothing depends on one event.
create function coord.sweep_changesets(p_limit int, p_queue_seconds int, p_blocked_seconds int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_x record; v_n int := 0; v_wake jsonb := '[]'; v_one jsonb;
begin
  for v_x in select r.project_id, r.id, 'infra_error' as conclusion, 'nothing was heard of it by its deadline' as why, true as cancel from public.verification_results r
        where r.status in ('dispatching', 'running') and r.deadline < v_now
      union all select r.project_id, r.id, 'blocked', pg_catalog.format('no gateway that can run %s has taken it for %s s', r.executor, p_queue_seconds), false from public.verification_results r
        where r.status = 'queued' and greatest(r.queued_at, r.not_before) < v_now - pg_catalog.make_interval(secs => p_queue_seconds)
      limit p_limit loop
    v_one := coord.verification_ended(v_x.project_id, v_x.id, pg_catalog.jsonb_build_object('conclusion', v_x.conclusion, 'reason', v_x.why, 'cancel', v_x.cancel));
    v_wake := v_wake || (v_one -> 'wake');
    v_n := v_n + 1;
  end loop;
  for v_x in select a.project_id, a.changeset_id from public.approval_queue a where a.status = 'pending' and a.expires_at < v_now limit p_limit loop
    perform 1 from public.changesets c where c.project_id = v_x.project_id and c.id = v_x.changeset_id for update;
    update public.approval_queue a set status = 'expired', decided_at = v_now
      where a.project_id = v_x.project_id and a.changeset_id = v_x.changeset_id and a.status = 'pending' and a.expires_at < v_now;
    v_wake := v_wake || pg_catalog.to_jsonb(coord.settle(v_x.project_id, v_x.changeset_id));
    v_n := v_n + 1;
  end loop;
  for v_x in select c.project_id, c.id, c.blocked_since from public.changesets c where c.state in ('verifying', 'awaiting_approval')
      and (c.updated_at < v_now - interval '60 seconds' or c.blocked_since < v_now - pg_catalog.make_interval(secs => p_blocked_seconds)) order by c.updated_at limit p_limit for update skip locked loop
    if v_x.blocked_since < v_now - pg_catalog.make_interval(secs => p_blocked_seconds) then
      v_wake := v_wake || pg_catalog.to_jsonb((select coord.decide(c, 'error', coalesce(c.verdict_reason, 'it is blocked') || '; it stayed so for too long') from public.changesets c where c.project_id = v_x.project_id and c.id = v_x.id));
      v_n := v_n + 1;
    else
      v_wake := v_wake || pg_catalog.to_jsonb(coord.settle(v_x.project_id, v_x.id));
    end if;
  end loop;
  return pg_catalog.jsonb_build_object('changed', v_n, 'wake', v_wake);
end $$;

-- Figures for the metrics.
create function coord.gateway_state() returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object(
    'changesets', (select coalesce(pg_catalog.jsonb_object_agg(x.state, x.n), '{}') from (select c.state, count(*) n from public.changesets c
      where c.state in ('received', 'routing', 'verifying', 'awaiting_approval') group by c.state) x),
    'runs', (select coalesce(pg_catalog.jsonb_object_agg(x.k, x.n), '{}') from (select r.executor || ':' || r.status k, count(*) n from public.verification_results r
      where r.status in ('queued', 'dispatching', 'running') group by 1) x),
    'blocked', (select count(*) from public.changesets c where c.state = 'verifying' and c.blocked_since is not null),
    'oldest_open_seconds', coalesce((select extract(epoch from coord.now() - pg_catalog.min(c.created_at)) from public.changesets c where c.state in ('received', 'routing', 'verifying')), 0),
    'outbox', (select count(*) from coord.gateway_outbox o where o.done_at is null)) || coord.inbox_state()
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.take_runs(text, jsonb, int, int), coord.verification_started(bigint, uuid, text, text), coord.verification_ended(bigint, uuid, jsonb),
  coord.look_at_run(text, uuid, text), coord.take_cancels(text, text[], int), coord.cancel_done(bigint, uuid, text), coord.sweep_changesets(int, int, int), coord.gateway_state() to service_role;
