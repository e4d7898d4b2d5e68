-- The ladder: a routed changeset's runs, from the cheapest tier up, and the verdict over them.
--
-- coord.settle is the only way to a verdict by rule, coord.verdict_of the rule: a pure function over rows. Tier n+1 is
-- queued when every required run of the tiers below succeeded; the first required failure ends all the rest, also where
-- they run. A run's status only grows (coord.run_rank), so that late reports change nothing; another attempt is another
-- row. A run ended in infra_error is repeated at most twice; one that failed only as often as its policy says.
set local lock_timeout = '5s';

-- Topics to wake, and the line for live views, when a changeset changed.
create function coord.changeset_news(p_c public.changesets) returns text[] language plpgsql set search_path = '' as $$
begin
  perform coord.emit(p_c.project_id, 'changeset_updated', p_c.session_id, pg_catalog.jsonb_build_object('changeset', pg_catalog.jsonb_build_object(
    'changeset_id', p_c.id, 'repository', p_c.repository, 'branch', p_c.branch, 'pr_number', p_c.pr_number, 'head_sha', p_c.head_sha, 'state', p_c.state,
    'verdict', p_c.verdict, 'reason', p_c.verdict_reason, 'agent_id', p_c.agent_id, 'task_id', p_c.task_id)));
  return array['g:cs:' || p_c.id::text, coord.live_topic()];
end $$;

-- Ends every run of a changeset that is not over; what runs somewhere is still to be ended there. Waiting approvals go too.
create function coord.end_runs(p_c public.changesets, p_why text) returns void language plpgsql set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  update public.verification_results r set cancel_due = r.status in ('dispatching', 'running'), status = 'completed', conclusion = 'cancelled', reason = pg_catalog.left(p_why, 1000),
      completed_at = v_now, next_check_at = v_now, duration_seconds = extract(epoch from v_now - r.started_at)
    where r.project_id = p_c.project_id and r.changeset_id = p_c.id and r.status <> 'completed';
  update public.approval_queue a set status = 'voided', decided_at = v_now
    where a.project_id = p_c.project_id and a.changeset_id = p_c.id and a.status in ('waiting', 'pending');
end $$;

-- Ends a changeset without a verdict: superseded or cancelled. The caller has locked it.
create function coord.close_changeset(p_c public.changesets, p_state text, p_why text, p_by uuid default null, p_who text default 'gateway') returns text[] language plpgsql set search_path = '' as $$
declare v_c public.changesets;
begin
  perform coord.end_runs(p_c, p_why);
  update public.changesets c set state = p_state, verdict = null, verdict_reason = p_why, superseded_by = p_by, updated_at = coord.now(), decided_at = coord.now(), blocked_since = null
    where c.project_id = p_c.project_id and c.id = p_c.id returning * into v_c;
  perform coord.changeset_note(v_c.project_id, v_c.id, p_state, p_why);
  perform coord.audit(v_c.project_id, null, p_who, case p_state when 'cancelled' then 'cancel_changeset' else 'supersede_changeset' end, array[v_c.id::text], true, p_why);
  perform coord.status_out(v_c);
  return coord.changeset_news(v_c) || array['g:runs', 'g:outbox'];
end $$;

-- Back to the beginning: routed anew, verified anew; what it had is history. The caller has locked it. Approvals of this
-- very head stay, for the head has not changed.
create function coord.reopen_changeset(p_c public.changesets, p_why text) returns text[] language plpgsql set search_path = '' as $$
declare v_c public.changesets; v_now timestamptz := coord.now();
begin
  update public.verification_results r set cancel_due = r.status in ('dispatching', 'running'), status = 'completed', conclusion = 'cancelled', reason = pg_catalog.left(p_why, 1000),
      completed_at = v_now, next_check_at = v_now
    where r.project_id = p_c.project_id and r.changeset_id = p_c.id and r.status <> 'completed';
  update public.changesets c set state = 'received', verdict = null, verdict_reason = p_why, superseded_by = null, override = null, decided_at = null, blocked_since = null,
      route_attempts = 0, next_route_at = v_now, updated_at = v_now
    where c.project_id = p_c.project_id and c.id = p_c.id returning * into v_c;
  perform coord.changeset_note(v_c.project_id, v_c.id, 'reopened', p_why);
  return coord.changeset_news(v_c) || array['g:route', 'g:runs'];
end $$;

---------------------------------------------------------------------------------------------- routing
-- Changesets to route, leased. prior_failures: how often its author failed on this line in a row. base_head: the base
-- branch as it was last seen here, for comparisons without a forge.
create function coord.take_changesets(p_limit int, p_lease int) returns table (changeset jsonb) language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  return query with due as (
      select c.project_id, c.id from public.changesets c where c.state in ('received', 'routing') and c.next_route_at <= v_now
        order by c.next_route_at limit p_limit for update skip locked),
    taken as (update public.changesets c set state = 'routing', route_attempts = c.route_attempts + 1, next_route_at = v_now + pg_catalog.make_interval(secs => p_lease)
      from due where c.project_id = due.project_id and c.id = due.id returning c.*)
    select pg_catalog.to_jsonb(t) || pg_catalog.jsonb_build_object('prior_failures', coord.prior_failures(t),
      'base_head', (select h.head_sha from coord.line_heads h where h.project_id = t.project_id and h.repository = t.repository and h.line = coalesce(t.base_ref, t.default_branch)),
      'project', (select p.name from public.projects p where p.id = t.project_id))
    from taken t order by t.seq;
end $$;

-- Consecutive failures of the same author on the same line, up to ten, before this changeset.
create function coord.prior_failures(p_c public.changesets) returns int language sql stable set search_path = '' as $$
  select count(*)::int from (
    select pg_catalog.bool_or(x.state = 'passed') over (order by x.seq desc) as broken from (
      select c.seq, c.state from public.changesets c where c.project_id = p_c.project_id and c.repository = p_c.repository and c.line = p_c.line and c.seq < p_c.seq
        and c.state in ('passed', 'failed') and coalesce(c.agent_id, c.actor_login, '') = coalesce(p_c.agent_id, p_c.actor_login, '') order by c.seq desc limit 10) x) y
  where not broken
$$;

-- Stores a routing: files, runs, approvals; then the ladder begins. p_in: files[], truncated, decision, trust_level,
-- prior_failures, lock_violations[], contributors[], provenance, runs[{policy, step}], approvals[{policy_name, reason, count,
-- roles, users, teams}]. Nothing happens (stored: false) when the changeset was taken from the router meanwhile.
create function coord.store_route(p_project bigint, p_id uuid, p_version int, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets; v_now timestamptz := coord.now(); v_version int := p_version + 1; v_run jsonb; v_step jsonb; v_attempt int; v_blocked text; v_wake text[];
begin
  select * into v_c from public.changesets c where c.project_id = p_project and c.id = p_id for update;
  if v_c.id is null or v_c.state <> 'routing' or v_c.route_version <> p_version then
    return pg_catalog.jsonb_build_object('stored', false);
  end if;
  insert into public.changeset_files as f (project_id, changeset_id, path, prev_path, status, additions, deletions, mode)
    select distinct on (x.path) p_project, p_id, x.path, nullif(x.previous_path, ''), coalesce(nullif(x.status, ''), 'modified'), coalesce(x.additions, 0), coalesce(x.deletions, 0), nullif(x.mode, '')
    from pg_catalog.jsonb_to_recordset(p_in -> 'files') as x (path text, previous_path text, status text, additions int, deletions int, mode text)
    on conflict (project_id, changeset_id, path) do update set prev_path = coalesce(excluded.prev_path, f.prev_path), status = excluded.status,
      additions = greatest(f.additions, excluded.additions), deletions = greatest(f.deletions, excluded.deletions), mode = coalesce(excluded.mode, f.mode);
  for v_run in select x from pg_catalog.jsonb_array_elements(p_in -> 'runs') x loop
    v_step := v_run -> 'step'; v_blocked := nullif(v_step ->> 'blocked', '');
    select coalesce(pg_catalog.max(r.attempt), 0) + 1 into v_attempt from public.verification_results r
      where r.project_id = p_project and r.changeset_id = p_id and r.policy_name = v_step ->> 'policy';
    insert into public.verification_results (project_id, changeset_id, head_sha, route_version, policy_id, policy_name, policy, tier, executor, required, attempt, status, conclusion, reason, completed_at)
      values (p_project, p_id, v_c.head_sha, v_version, v_run -> 'policy' ->> 'id', v_step ->> 'policy', coalesce(v_run -> 'policy', '{}'), (v_step ->> 'tier')::smallint, coalesce(v_step ->> 'executor', ''),
        (v_step ->> 'required')::boolean, v_attempt, case when v_blocked is null then 'pending' else 'completed' end, case when v_blocked is not null then 'blocked' end, v_blocked,
        case when v_blocked is not null then v_now end);
  end loop;
  insert into public.approval_queue as a (project_id, changeset_id, head_sha, route_version, policy_name, reason, required_count, roles, users, teams, requested_by)
    select p_project, p_id, v_c.head_sha, v_version, x.policy_name, coalesce(x.reason, ''), greatest(coalesce(x.count, 1), 1), coord.word_list(x.roles), coord.word_list(x.users), coord.word_list(x.teams), coalesce(v_c.agent_id, v_c.actor_login)
    from pg_catalog.jsonb_to_recordset(coalesce(p_in -> 'approvals', '[]')) as x (policy_name text, reason text, count int, roles jsonb, users jsonb, teams jsonb)
    on conflict (project_id, changeset_id, policy_name) do update set route_version = v_version, reason = excluded.reason,
      required_count = greatest(a.required_count, excluded.required_count), roles = excluded.roles, users = excluded.users, teams = excluded.teams,
      status = case when a.status in ('voided', 'expired') or a.status = 'approved' and a.required_count < excluded.required_count then 'waiting' else a.status end;
  -- An approval that the new routing does not ask for is no longer asked for.
  update public.approval_queue a set status = 'voided', decided_at = v_now where a.project_id = p_project and a.changeset_id = p_id and a.route_version < v_version and a.status in ('waiting', 'pending');
  update public.changesets c set state = 'verifying', route_version = v_version, routed_at = v_now, updated_at = v_now, decision = p_in -> 'decision', verdict_reason = null,
      files_truncated = coalesce((p_in ->> 'truncated')::boolean, false), trust_level = (p_in ->> 'trust_level')::smallint, prior_failures = coalesce((p_in ->> 'prior_failures')::int, 0),
      lock_violations = coalesce(p_in -> 'lock_violations', '[]'), provenance = coalesce(p_in ->> 'provenance', c.provenance),
      contributors = (select coalesce(pg_catalog.array_agg(distinct x), '{}') from pg_catalog.unnest(c.contributors || coord.word_list(p_in -> 'contributors')) x),
      file_count = t.n, additions = t.plus, deletions = t.minus
    from (select count(*)::int n, coalesce(pg_catalog.sum(f.additions), 0) plus, coalesce(pg_catalog.sum(f.deletions), 0) minus from public.changeset_files f where f.project_id = p_project and f.changeset_id = p_id) t
    where c.project_id = p_project and c.id = p_id returning c.* into v_c;
  perform coord.changeset_note(p_project, p_id, 'routed', pg_catalog.format('%s file(s): tiers %s', v_c.file_count, coalesce((select pg_catalog.string_agg(x, ', ') from pg_catalog.jsonb_array_elements_text(v_c.decision -> 'tiers') x), 'none')), v_c.decision);
  perform coord.audit(p_project, null, 'gateway', 'route_changeset', array[p_id::text], true, null, pg_catalog.jsonb_build_object('tiers', v_c.decision -> 'tiers', 'route_version', v_version));
  v_wake := coord.settle(p_project, p_id);
  return pg_catalog.jsonb_build_object('stored', true, 'wake', v_wake || array['g:runs', 'g:outbox']);
end $$;

-- A routing that could not be made now; after p_most attempts the changeset ends in error.
create function coord.route_failed(p_project bigint, p_id uuid, p_version int, p_error text, p_retry int, p_most int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets; v_wake text[];
begin
  select * into v_c from public.changesets c where c.project_id = p_project and c.id = p_id for update;
  if v_c.id is null or v_c.state <> 'routing' or v_c.route_version <> p_version then return '{"wake": []}'; end if;
  if v_c.route_attempts >= p_most then
    v_wake := coord.decide(v_c, 'error', 'it could not be routed: ' || p_error);
  else
    update public.changesets c set next_route_at = coord.now() + pg_catalog.make_interval(secs => p_retry), verdict_reason = pg_catalog.left('routing is tried again: ' || p_error, 1000)
      where c.project_id = p_project and c.id = p_id;
  end if;
  return pg_catalog.jsonb_build_object('wake', coalesce(v_wake, '{}'));
end $$;

---------------------------------------------------------------------------------------------- verdict
-- The rule, over rows alone: {state, reason, open_tier, approvals_open, blocked}. state is passed, failed or error only
-- when that is decided. Rows count when they are the latest attempt at their policy, of the newest routing, and name the
-- changeset's own head.
create function coord.verdict_of(p_c public.changesets) returns jsonb language plpgsql stable set search_path = '' as $$
declare v_r record; v_a record; v_tier0 boolean;
begin
  select count(*) filter (where r.required) as required, count(*) filter (where r.required and r.success) as succeeded,
      pg_catalog.min(r.tier) filter (where r.required and not r.success) as open_tier, count(*) filter (where r.required and r.conclusion = 'blocked') as blocked,
      (pg_catalog.array_agg(pg_catalog.format('%s: %s', r.policy_name, coalesce(nullif(r.reason, ''), r.conclusion)) order by r.tier, r.completed_at) filter (where r.required and r.conclusion in ('failure', 'timed_out')))[1] as failure,
      (pg_catalog.array_agg(pg_catalog.format('%s: %s', r.policy_name, coalesce(nullif(r.reason, ''), r.conclusion)) order by r.tier, r.completed_at) filter (where r.required and r.conclusion in ('infra_error', 'cancelled')))[1] as broken,
      (pg_catalog.array_agg(pg_catalog.format('%s is blocked: %s', r.policy_name, coalesce(r.reason, 'nothing can run it')) order by r.tier) filter (where r.required and r.conclusion = 'blocked'))[1] as why_blocked,
      count(*) filter (where r.tier = 0 and r.required and not r.success) as tier0_open
    into v_r from (
      select distinct on (x.policy_name) x.* from public.verification_results x
      where x.project_id = p_c.project_id and x.changeset_id = p_c.id and x.route_version = p_c.route_version and x.head_sha = p_c.head_sha
      order by x.policy_name, x.attempt desc) r;
  select count(*) as asked, count(*) filter (where a.status = 'approved') as approved, pg_catalog.min(a.policy_name) filter (where a.status = 'denied') as denied,
      pg_catalog.min(a.decided_by) filter (where a.status = 'denied') as denied_by, pg_catalog.min(a.policy_name) filter (where a.status = 'expired') as expired,
      pg_catalog.string_agg(a.policy_name, ', ' order by a.policy_name) filter (where a.status in ('waiting', 'pending')) as waits
    into v_a from public.approval_queue a
    where a.project_id = p_c.project_id and a.changeset_id = p_c.id and a.route_version = p_c.route_version and a.head_sha = p_c.head_sha;
  v_tier0 := v_r.tier0_open = 0;
  return case
    when v_a.denied is not null then pg_catalog.jsonb_build_object('state', 'failed', 'reason', pg_catalog.format('%s: denied by %s', v_a.denied, v_a.denied_by))
    when v_r.failure is not null then pg_catalog.jsonb_build_object('state', 'failed', 'reason', v_r.failure)
    when v_r.broken is not null then pg_catalog.jsonb_build_object('state', 'error', 'reason', v_r.broken)
    when v_a.expired is not null then pg_catalog.jsonb_build_object('state', 'error', 'reason', pg_catalog.format('%s: nobody decided in time', v_a.expired))
    when p_c.draft then pg_catalog.jsonb_build_object('state', 'verifying', 'open_tier', 0, 'approvals_open', false, 'reason', 'a draft: the rest is verified once it is ready for review')
    when v_r.required = 0 and v_a.asked = 0 and p_c.file_count = 0 and not p_c.files_truncated then
      pg_catalog.jsonb_build_object('state', 'passed', 'reason', 'nothing to verify: no file differs from the base')
    when v_r.required = 0 and v_a.asked = 0 then pg_catalog.jsonb_build_object('state', 'error', 'reason', 'no required policy applies to this change: enable one, such as a static check of everything')
    when v_r.succeeded < v_r.required then pg_catalog.jsonb_build_object('state', 'verifying', 'open_tier', v_r.open_tier, 'approvals_open', v_tier0, 'blocked', v_r.blocked > 0,
      'reason', case when v_r.blocked > 0 then v_r.why_blocked else pg_catalog.format('tier %s: %s of %s required runs succeeded', v_r.open_tier, v_r.succeeded, v_r.required) end)
    when v_a.approved < v_a.asked then pg_catalog.jsonb_build_object('state', 'awaiting_approval', 'open_tier', 4, 'approvals_open', true, 'reason', 'waits for approval: ' || v_a.waits)
    else pg_catalog.jsonb_build_object('state', 'passed', 'reason', pg_catalog.format('%s required run(s) succeeded%s', v_r.required,
      case when v_a.asked > 0 then pg_catalog.format(', %s approval(s)', v_a.asked) else '' end))
  end;
end $$;

-- Sets a verdict on a changeset that the caller has locked. p_audited: the caller writes the audit row.
create function coord.decide(p_c public.changesets, p_state text, p_reason text, p_audited boolean default false) returns text[] language plpgsql set search_path = '' as $$
declare v_c public.changesets;
begin
  if p_state = 'passed' then  -- advisory runs may still say what they have to say
    update public.verification_results r set status = 'queued', queued_at = coord.now()
      where r.project_id = p_c.project_id and r.changeset_id = p_c.id and r.route_version = p_c.route_version and r.status = 'pending';
  else
    perform coord.end_runs(p_c, 'fail_fast: ' || p_reason);
  end if;
  update public.changesets c set state = p_state, verdict = p_state, verdict_reason = pg_catalog.left(p_reason, 1000), decided_at = coord.now(), updated_at = coord.now(), blocked_since = null
    where c.project_id = p_c.project_id and c.id = p_c.id returning * into v_c;
  perform coord.changeset_note(v_c.project_id, v_c.id, 'verdict', p_state || ': ' || p_reason);
  if not p_audited then
    perform coord.audit(v_c.project_id, null, 'gateway', 'verdict', array[v_c.id::text], true, p_reason, null, pg_catalog.jsonb_build_object('verdict', p_state, 'head_sha', v_c.head_sha));
  end if;
  perform coord.status_out(v_c);
  return coord.changeset_news(v_c) || coord.on_verdict(v_c) || array['g:runs', 'g:outbox'];
end $$;

-- Walks a changeset on after something about it changed. Returns topics to wake.
create function coord.settle(p_project bigint, p_id uuid, p_audited boolean default false) returns text[] language plpgsql set search_path = '' as $$
declare v_c public.changesets; v_v jsonb; v_now timestamptz := coord.now(); v_n int; v_wake text[] := '{}'; v_old text;
begin
  select * into v_c from public.changesets c where c.project_id = p_project and c.id = p_id for update;
  if v_c.state not in ('verifying', 'awaiting_approval') then return '{}'; end if;
  v_v := coord.verdict_of(v_c);
  if v_v ->> 'state' in ('passed', 'failed', 'error') then
    return coord.decide(v_c, v_v ->> 'state', v_v ->> 'reason', p_audited);
  end if;
  update public.verification_results r set status = 'queued', queued_at = v_now
    where r.project_id = p_project and r.changeset_id = p_id and r.route_version = v_c.route_version and r.status = 'pending' and r.tier <= (v_v ->> 'open_tier')::int;
  get diagnostics v_n = row_count;
  if v_n > 0 then v_wake := array['g:runs']; end if;
  if (v_v ->> 'approvals_open')::boolean then
    update public.approval_queue a set status = 'pending', opened_at = v_now, expires_at = v_now + interval '72 hours'
      where a.project_id = p_project and a.changeset_id = p_id and a.route_version = v_c.route_version and a.status = 'waiting';
    if found then
      perform coord.changeset_note(p_project, p_id, 'approval', 'people are asked: ' || (select pg_catalog.string_agg(a.policy_name, ', ') from public.approval_queue a
        where a.project_id = p_project and a.changeset_id = p_id and a.status = 'pending'));
      v_wake := v_wake || coord.on_approval_wanted(v_c);
    end if;
  end if;
  v_old := v_c.verdict_reason;
  update public.changesets c set state = v_v ->> 'state', verdict_reason = v_v ->> 'reason', updated_at = v_now,
      blocked_since = case when (v_v ->> 'blocked')::boolean then coalesce(c.blocked_since, v_now) end
    where c.project_id = p_project and c.id = p_id returning * into v_c;
  if v_old is distinct from v_c.verdict_reason then
    perform coord.status_out(v_c);
    v_wake := v_wake || coord.changeset_news(v_c) || 'g:outbox'::text;
  end if;
  return v_wake;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.take_changesets(int, int), coord.store_route(bigint, uuid, int, jsonb), coord.route_failed(bigint, uuid, int, text, int, int) to service_role;
