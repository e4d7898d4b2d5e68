-- Fewer calls a change: a head is applied and its delivery ended in one, and a router is told with the changeset what it would
-- ask next.
set local lock_timeout = '5s';

-- coord.apply_head, and the end of the delivery that told of the head, in one statement.
create function coord.deliver_head(p_project bigint, p_source text, p_delivery text, p_action text, p_in jsonb) returns jsonb
language plpgsql security definer set search_path = '' as $$
declare v_out jsonb := coord.apply_head(p_project, p_in);
begin
  perform coord.end_delivery(p_source, p_delivery, 'processed', p_action, null, v_out - 'wake', null);
  return v_out;
end $$;

-- Changesets to route, leased. prior_failures: how often its author failed on this line in a row. base_head: the base
-- branch as it was last pushed, for comparisons without a forge. policy_set: the number of the project's set of policies.
-- locked: whether the project has any lock.
create or replace function coord.take_changesets(p_limit int, p_lease int) returns table (changeset jsonb) language plpgsql security definer set search_path = '' set enable_seqscan = off as $$
declare v_now timestamptz := coord.now();
begin
  return query with due as (
      select c.project_id, c.id from public.changesets c where c.state in ('received', 'routing') and c.next_route_at <= v_now
        order by c.next_route_at limit p_limit for update skip locked),
    taken as (update public.changesets c set state = 'routing', route_attempts = c.route_attempts + 1, next_route_at = v_now + pg_catalog.make_interval(secs => p_lease)
      from due where c.project_id = due.project_id and c.id = due.id returning c.*)
    select pg_catalog.to_jsonb(t) || pg_catalog.jsonb_build_object('prior_failures', coord.prior_failures(t),
      'base_head', (select h.head_sha from coord.line_heads h where h.project_id = t.project_id and h.repository = t.repository and h.line = coalesce(t.base_ref, t.default_branch)
        and exists (select from coord.line_moves m where m.project_id = h.project_id and m.repository = h.repository and m.line = h.line and m.after_sha = h.head_sha
          and (m.pushed <> '{}' or m.seen_at is null))),
      'policy_set', coord.policy_version(t.project_id), 'locked', exists (select from public.file_locks l where l.project_id = t.project_id),
      'project', (select p.name from public.projects p where p.id = t.project_id))
    from taken t order by t.seq;
end $$;

-- Stores a routing: files, runs, approvals; then the ladder begins. p_in: files[], truncated, decision, trust_level,
-- prior_failures, lock_violations[], contributors[], provenance, base_sha, runs[{policy, step}], approvals[{policy_name, reason, count,
-- roles, users, teams}]. Nothing happens (stored: false) when the changeset was taken from the router meanwhile.
create or replace function coord.store_route(p_project bigint, p_id uuid, p_version int, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' set enable_seqscan = off as $$
declare v_c public.changesets; v_now timestamptz := coord.now(); v_version int := p_version + 1; v_wake text[];
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
  insert into public.verification_results (project_id, changeset_id, head_sha, route_version, policy_id, policy_name, policy, tier, executor, required, attempt, status, conclusion, reason, completed_at)
    select p_project, p_id, v_c.head_sha, v_version, x.policy ->> 'id', x.step ->> 'policy', coalesce(x.policy, '{}'), (x.step ->> 'tier')::smallint, coalesce(x.step ->> 'executor', ''),
      (x.step ->> 'required')::boolean, 1 + coalesce((select r.attempt from public.verification_results r
        where r.project_id = p_project and r.changeset_id = p_id and r.policy_name = x.step ->> 'policy' order by r.attempt desc limit 1), 0),
      case when b.why is null then 'pending' else 'completed' end, case when b.why is not null then 'blocked' end, b.why, case when b.why is not null then v_now end
    from pg_catalog.jsonb_to_recordset(p_in -> 'runs') as x (policy jsonb, step jsonb) cross join lateral (select nullif(x.step ->> 'blocked', '') as why) b;
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
      lock_violations = coalesce(p_in -> 'lock_violations', '[]'), provenance = coalesce(p_in ->> 'provenance', c.provenance), base_sha = coalesce(c.base_sha, nullif(p_in ->> 'base_sha', '')),
      contributors = (select coalesce(pg_catalog.array_agg(distinct x), '{}') from pg_catalog.unnest(c.contributors || coord.word_list(p_in -> 'contributors')) x),
      file_count = t.n, additions = t.plus, deletions = t.minus
    from (select count(*)::int n, coalesce(pg_catalog.sum(f.additions), 0) plus, coalesce(pg_catalog.sum(f.deletions), 0) minus from public.changeset_files f where f.project_id = p_project and f.changeset_id = p_id) t
    where c.project_id = p_project and c.id = p_id returning c.* into v_c;
  perform coord.changeset_note(p_project, p_id, 'routed', pg_catalog.format('%s file(s): tiers %s', v_c.file_count, coalesce((select pg_catalog.string_agg(x, ', ') from pg_catalog.jsonb_array_elements_text(v_c.decision -> 'tiers') x), 'none')),
    pg_catalog.jsonb_build_object('tiers', v_c.decision -> 'tiers', 'route_version', v_version));
  perform coord.audit(p_project, null, 'gateway', 'route_changeset', array[p_id::text], true, null, pg_catalog.jsonb_build_object('tiers', v_c.decision -> 'tiers', 'route_version', v_version));
  v_wake := coord.settle(p_project, p_id);
  return pg_catalog.jsonb_build_object('stored', true, 'wake', v_wake || array['g:runs', 'g:outbox']);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.deliver_head(bigint, text, text, text, jsonb) to service_role;
