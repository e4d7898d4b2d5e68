-- Where a commit stands, in few words: what an agent asks after it handed one over.
set local lock_timeout = '5s';

-- By changeset, head commit (or how it begins, at least 7 digits), or task; else the newest of p_agent. found false: the
-- gateway knows no such commit, which is not "passed". Reply: see client.VerificationState.
create function coord.verification_status(p_project bigint, p_agent text, p_changeset uuid, p_head text, p_task uuid) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare v_c public.changesets; v_findings jsonb := '{}'; v_head text := p_head;
begin
  if p_task is not null and p_head is null and p_changeset is null then  -- the commit that the task names counts, whoever handed it over
    select coalesce(t.head_sha, w.result ->> 'head_sha') into v_head from public.work_queue w left join coord.task_verdicts t on t.project_id = w.project_id and t.id = w.id
      where w.project_id = p_project and w.task_id = p_task;
  end if;
  select * into v_c from public.changesets c where c.project_id = p_project
      and case when p_changeset is not null then c.id = p_changeset when v_head is not null then c.head_sha like v_head || '%'
        when p_task is not null then c.task_id = p_task else c.agent_id = p_agent end
    order by c.state in ('superseded', 'cancelled'), c.seq desc limit 1;
  if v_c.id is null then
    return pg_catalog.jsonb_build_object('found', false, 'decided', false, 'state', 'unknown', 'head_sha', coalesce(v_head, ''),
      'reason', 'the gateway knows no such commit: push it, or hand it over with submit_changes');
  end if;
  if v_c.state in ('failed', 'error') then v_findings := coord.verdict_findings(v_c); end if;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('found', true, 'changeset_id', v_c.id, 'head_sha', v_c.head_sha,
    'state', v_c.state, 'decided', coord.changeset_final(v_c.state), 'reason', v_c.verdict_reason, 'tiers', v_c.decision -> 'tiers',
    'findings', v_findings -> 'findings', 'denied', v_findings -> 'denied',
    'runs', (select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('policy', r.policy_name, 'tier', r.tier, 'state', coalesce(r.conclusion, r.status), 'required', r.required,
        'reason', case when r.conclusion <> 'success' then pg_catalog.left(r.reason, 300) end, 'url', r.external_url,
        'output', case when r.conclusion in ('failure', 'timed_out') then pg_catalog.right(nullif(r.output, ''), 1000) end)) order by r.tier, r.policy_name)
      from (select distinct on (x.policy_name) x.* from public.verification_results x where x.project_id = p_project and x.changeset_id = v_c.id and x.route_version = v_c.route_version
        order by x.policy_name, x.attempt desc) r),
    'waits_for', (select pg_catalog.jsonb_agg(a.policy_name order by a.policy_name) from public.approval_queue a where a.project_id = p_project and a.changeset_id = v_c.id
      and a.route_version = v_c.route_version and a.status in ('waiting', 'pending'))));
end $$;

revoke execute on function coord.verification_status(bigint, text, uuid, text, uuid) from public;
grant execute on function coord.verification_status(bigint, text, uuid, text, uuid) to service_role;
