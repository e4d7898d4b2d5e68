-- What people do with changesets: look at them, vote, run them again, end them, override the verdict.
--
-- A vote is for one head commit: approvals carry head_sha, a new push is another changeset with approvals of its own.
-- Who changed the code never counts, nor the owner of the agent that did; a denial stands for that commit for good.
set local lock_timeout = '5s';

--------------------------------------------------------------------------------------------- on the wire
create function coord.run_result_wire(p_r public.verification_results, p_full boolean) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('run_id', p_r.id, 'policy', p_r.policy_name, 'tier', p_r.tier, 'executor', nullif(p_r.executor, ''), 'required', p_r.required,
    'attempt', p_r.attempt, 'status', p_r.status, 'conclusion', p_r.conclusion, 'success', p_r.success, 'flaky', nullif(p_r.flaky, false), 'reason', p_r.reason, 'url', p_r.external_url,
    'external_id', p_r.external_id, 'head_sha', p_r.head_sha, 'queued_at', coord.ts(p_r.queued_at), 'started_at', coord.ts(p_r.started_at), 'completed_at', coord.ts(p_r.completed_at),
    'deadline', case when p_r.status in ('dispatching', 'running') then coord.ts(p_r.deadline) end, 'duration_seconds', p_r.duration_seconds, 'exit_code', p_r.exit_code,
    'findings_total', nullif(p_r.findings_total, 0), 'findings', case when p_full and p_r.findings <> '[]' then p_r.findings end, 'output', case when p_full then p_r.output end))
$$;

create function coord.approval_wire(p_a public.approval_queue) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('approval_id', p_a.id, 'changeset_id', p_a.changeset_id, 'head_sha', p_a.head_sha, 'policy', p_a.policy_name, 'reason', p_a.reason,
    'status', p_a.status, 'required_count', p_a.required_count, 'roles', p_a.roles, 'users', p_a.users, 'teams', p_a.teams, 'requested_by', p_a.requested_by, 'opened_at', coord.ts(p_a.opened_at),
    'expires_at', coord.ts(p_a.expires_at), 'decided_at', coord.ts(p_a.decided_at), 'decided_by', p_a.decided_by,
    'votes', coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('voter', v.voter, 'vote', v.vote, 'source', v.source, 'role', v.role, 'comment', v.comment,
      'head_sha', v.head_sha, 'at', coord.ts(v.at))) order by v.at) from public.approval_votes v where v.project_id = p_a.project_id and v.approval_id = p_a.id), '[]')))
    || (select pg_catalog.jsonb_build_object('repository', c.repository, 'branch', c.branch, 'title', coalesce(c.title, ''), 'pr_number', c.pr_number)
      from public.changesets c where c.project_id = p_a.project_id and c.id = p_a.changeset_id)
$$;

create function coord.changeset_wire(p_c public.changesets) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('changeset_id', p_c.id, 'source', p_c.source, 'repository', p_c.repository, 'branch', p_c.branch, 'pr_number', p_c.pr_number,
    'head_sha', p_c.head_sha, 'base_ref', p_c.base_ref, 'base_sha', p_c.base_sha, 'state', p_c.state, 'verdict', p_c.verdict, 'reason', p_c.verdict_reason, 'override', p_c.override,
    'agent_id', p_c.agent_id, 'agent_type', p_c.agent_type, 'session_id', p_c.session_id, 'task_id', p_c.task_id, 'actor', p_c.actor_login, 'title', p_c.title, 'fork', nullif(p_c.is_fork, false),
    'draft', nullif(p_c.draft, false), 'provenance', p_c.provenance, 'files_truncated', nullif(p_c.files_truncated, false), 'file_count', p_c.file_count, 'additions', p_c.additions,
    'deletions', p_c.deletions, 'trust_level', p_c.trust_level, 'prior_failures', nullif(p_c.prior_failures, 0), 'tiers', p_c.decision -> 'tiers', 'superseded_by', p_c.superseded_by,
    'lock_violations', case when p_c.lock_violations <> '[]' then p_c.lock_violations end, 'route_version', p_c.route_version, 'created_at', coord.ts(p_c.created_at),
    'routed_at', coord.ts(p_c.routed_at), 'decided_at', coord.ts(p_c.decided_at), 'blocked_since', coord.ts(p_c.blocked_since)))
$$;

create function coord.no_changeset() returns void language plpgsql set search_path = '' as $$
begin
  perform coord.fail(404, 'not_found', 'Changeset not found', 'no changeset has that id, or it is of another project', 'list them: GET /changesets', 'changeset_id');
end $$;

create function coord.get_changeset(p_only bigint, p_id uuid) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_c public.changesets;
begin
  select * into v_c from public.changesets c where c.id = p_id and (p_only is null or c.project_id = p_only);
  if v_c.id is null then perform coord.no_changeset(); end if;
  return coord.changeset_wire(v_c) || pg_catalog.jsonb_build_object(
    'reasons', coalesce(v_c.decision -> 'reasons', '[]'), 'plan', coalesce(v_c.decision -> 'plan', '[]'), 'waived', coalesce(v_c.decision -> 'waived', '[]'),
    'files', coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('path', f.path, 'previous_path', f.prev_path, 'status', f.status, 'additions', f.additions, 'deletions', f.deletions, 'mode', f.mode)) order by f.path)
      from (select * from public.changeset_files x where x.project_id = v_c.project_id and x.changeset_id = v_c.id order by x.path limit 500) f), '[]'),
    'runs', coalesce((select pg_catalog.jsonb_agg(coord.run_result_wire(r, true) order by r.tier, r.policy_name, r.attempt) from public.verification_results r where r.project_id = v_c.project_id and r.changeset_id = v_c.id), '[]'),
    'approvals', coalesce((select pg_catalog.jsonb_agg(coord.approval_wire(a) order by a.policy_name) from public.approval_queue a where a.project_id = v_c.project_id and a.changeset_id = v_c.id), '[]'),
    'timeline', coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('at', coord.ts(e.at), 'kind', e.kind, 'text', e.text) order by e.id)
      from (select * from public.changeset_events x where x.project_id = v_c.project_id and x.changeset_id = v_c.id order by x.id desc limit 200) e), '[]'));
end $$;

-- Newest first. p_filter: state, open (true: not decided), repository, branch, agent_id, task_id, head_sha, pr_number.
create function coord.list_changesets(p_project bigint, p_filter jsonb, p_limit int, p_before uuid) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int; v_seq bigint;
begin
  if p_before is not null then
    select c.seq into v_seq from public.changesets c where c.id = p_before and c.project_id = p_project;
    if v_seq is null then perform coord.no_changeset(); end if;
  end if;
  select pg_catalog.jsonb_agg(coord.changeset_wire(c) order by c.seq desc), count(*) into v_rows, v_n from (
    select * from public.changesets c where c.project_id = p_project and (v_seq is null or c.seq < v_seq)
      and (p_filter ->> 'state' is null or c.state = p_filter ->> 'state')
      and (coalesce((p_filter ->> 'open')::boolean, false) is false or not coord.changeset_final(c.state))
      and (p_filter ->> 'repository' is null or c.repository = p_filter ->> 'repository') and (p_filter ->> 'branch' is null or c.branch = p_filter ->> 'branch')
      and (p_filter ->> 'agent_id' is null or c.agent_id = p_filter ->> 'agent_id') and (p_filter ->> 'task_id' is null or c.task_id = (p_filter ->> 'task_id')::uuid)
      and (p_filter ->> 'head_sha' is null or c.head_sha like pg_catalog.lower(p_filter ->> 'head_sha') || '%') and (p_filter ->> 'pr_number' is null or c.pr_number = (p_filter ->> 'pr_number')::int)
    order by c.seq desc limit p_limit + 1) c;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_build_object('changesets', coalesce(v_rows, '[]'), 'truncated', v_n > p_limit);
end $$;

create function coord.list_approvals(p_project bigint, p_status text, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  select pg_catalog.jsonb_agg(coord.approval_wire(a) order by a.created_at), count(*) into v_rows, v_n from (
    select * from public.approval_queue a where a.project_id = p_project and (p_status = 'all' or a.status = p_status) order by a.created_at limit p_limit + 1) a;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_build_object('approvals', coalesce(v_rows, '[]'), 'truncated', v_n > p_limit);
end $$;

--------------------------------------------------------------------------------------------------- votes
-- Why p_who may not decide about a changeset, or null.
create function coord.not_impartial(p_c public.changesets, p_who text) returns text language plpgsql stable set search_path = '' as $$
declare v_who text := pg_catalog.lower(pg_catalog.regexp_replace(p_who, '^person:', ''));
begin
  return case
    when v_who = pg_catalog.lower(coalesce(p_c.actor_login, '')) then 'they brought the change in'
    when v_who = any (select pg_catalog.lower(x) from pg_catalog.unnest(p_c.contributors) x) then 'they wrote part of it'
    when v_who = pg_catalog.lower(coalesce(p_c.agent_id, '')) then 'it is their own change'
    when exists (select from coord.api_keys k where k.agent_id = p_c.agent_id and k.revoked_at is null and (pg_catalog.lower(k.person) = v_who or 'key:' || k.name = p_who)) then 'the agent that made it acts for them'
  end;
end $$;

-- One vote on an approval whose changeset the caller has locked. p_role: reviewer or admin for keys; admin, maintain, write
-- for a forge's users. Returns {counted, why, status, wake}: a vote that does not count changes nothing.
create function coord.cast_vote(p_c public.changesets, p_a public.approval_queue, p_voter text, p_role text, p_teams text[], p_source text, p_vote text, p_comment text, p_head text)
returns jsonb language plpgsql set search_path = '' as $$
declare v_why text; v_now timestamptz := coord.now(); v_n int; v_status text; v_wake text[] := '{}';
begin
  v_why := case
    when p_a.status not in ('waiting', 'pending') then 'it is ' || p_a.status || ' already'
    when p_c.state not in ('verifying', 'awaiting_approval') then 'the change is ' || p_c.state
    when p_head is not null and p_head <> p_a.head_sha or p_a.head_sha <> p_c.head_sha then 'the vote is for another commit'
    when cardinality(p_a.users) + cardinality(p_a.teams) + cardinality(p_a.roles) > 0
      and not (pg_catalog.lower(p_voter) = any (select pg_catalog.lower(x) from pg_catalog.unnest(p_a.users) x) or p_a.teams && p_teams or p_role = any (p_a.roles)
        or p_role = 'admin' and 'maintain' = any (p_a.roles)) then 'the policy asks for others: ' || pg_catalog.array_to_string(p_a.users || p_a.teams || p_a.roles, ', ')
    else coord.not_impartial(p_c, p_voter) end;
  if v_why is not null then
    return pg_catalog.jsonb_build_object('counted', false, 'why', v_why, 'status', p_a.status, 'wake', '[]'::jsonb);
  end if;
  insert into public.approval_votes as v (project_id, approval_id, voter, head_sha, role, source, vote, comment, at)
    values (p_c.project_id, p_a.id, p_voter, p_a.head_sha, p_role, p_source, p_vote, pg_catalog.left(p_comment, 2000), v_now)
    on conflict (project_id, approval_id, voter) do update set vote = excluded.vote, comment = excluded.comment, source = excluded.source, role = excluded.role, at = v_now;
  select count(*) into v_n from public.approval_votes v where v.project_id = p_c.project_id and v.approval_id = p_a.id and v.vote = 'approve' and v.head_sha = p_a.head_sha;
  v_status := case when p_vote = 'deny' then 'denied' when v_n >= p_a.required_count then 'approved' else p_a.status end;
  perform coord.changeset_note(p_c.project_id, p_c.id, 'approval', pg_catalog.format('%s: %s by %s (%s of %s)%s', p_a.policy_name, case p_vote when 'deny' then 'denied' else 'approved' end, p_voter,
    v_n, p_a.required_count, case when p_comment <> '' then ': ' || p_comment else '' end));
  if v_status <> p_a.status then
    update public.approval_queue a set status = v_status, decided_at = v_now, decided_by = p_voter where a.project_id = p_c.project_id and a.id = p_a.id;
    v_wake := coord.settle(p_c.project_id, p_c.id, true);
  end if;
  return pg_catalog.jsonb_build_object('counted', true, 'status', v_status, 'wake', v_wake || array['g:cs:' || p_c.id::text, 'g:outbox', coord.live_topic()]);
end $$;

-- POST /approvals/:id/approve and /deny. A vote that may not count is refused: forbidden, conflict.
create function coord.vote_approval(p_only bigint, p_by text, p_voter text, p_role text, p_id uuid, p_vote text, p_comment text, p_head text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_a public.approval_queue; v_c public.changesets; v_out jsonb;
begin
  select * into v_a from public.approval_queue a where a.id = p_id and (p_only is null or a.project_id = p_only);
  if v_a.id is null then perform coord.fail(404, 'not_found', 'Approval not found', 'no approval has that id, or it is of another project', 'list them: GET /approvals', 'approval_id'); end if;
  select * into v_c from public.changesets c where c.project_id = v_a.project_id and c.id = v_a.changeset_id for update;
  select * into v_a from public.approval_queue a where a.project_id = v_a.project_id and a.id = p_id for update;
  v_out := coord.cast_vote(v_c, v_a, p_voter, p_role, '{}', 'api', p_vote, p_comment, p_head);
  if not (v_out ->> 'counted')::boolean then
    if v_a.status in ('waiting', 'pending') and v_c.state in ('verifying', 'awaiting_approval') and (p_head is null or p_head = v_a.head_sha) then
      perform coord.fail(403, 'forbidden', p_voter || ' may not decide about this change', v_out ->> 'why', 'ask somebody else who may review it');
    end if;
    perform coord.fail(409, 'conflict', 'this vote does not count', v_out ->> 'why', 'look at the change: GET /changesets/' || v_c.id::text);
  end if;
  perform coord.audit(v_c.project_id, null, p_by, case p_vote when 'deny' then 'deny_change' else 'approve_change' end, array[v_a.id::text, v_c.id::text], true, p_comment,
    null, (select pg_catalog.jsonb_build_object('state', c.state, 'head_sha', c.head_sha) from public.changesets c where c.project_id = v_c.project_id and c.id = v_c.id));
  select * into v_a from public.approval_queue a where a.project_id = v_a.project_id and a.id = p_id;
  return coord.approval_wire(v_a) || pg_catalog.jsonb_build_object('changeset_state', (select c.state from public.changesets c where c.project_id = v_a.project_id and c.id = v_a.changeset_id), 'wake', v_out -> 'wake');
end $$;

-- A forge user's vote on every open approval of the head that they looked at. Returns {votes: [{policy, counted, why, status}], wake}.
create function coord.vote_from_forge(p_project bigint, p_repository text, p_head text, p_login text, p_permission text, p_teams text[], p_source text, p_vote text, p_comment text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets; v_a public.approval_queue; v_one jsonb; v_all jsonb := '[]'; v_wake jsonb := '[]';
begin
  if p_permission not in ('admin', 'maintain', 'write') then return '{"votes": [], "refused": "only people with write access may vote", "wake": []}'; end if;
  select * into v_c from public.changesets c where c.project_id = p_project and c.repository = p_repository and c.head_sha = p_head for update;
  if v_c.id is null then return '{"votes": [], "refused": "that commit is unknown", "wake": []}'; end if;
  for v_a in select * from public.approval_queue a where a.project_id = p_project and a.changeset_id = v_c.id and a.route_version = v_c.route_version and a.status in ('waiting', 'pending') order by a.policy_name for update loop
    select * into v_c from public.changesets c where c.project_id = p_project and c.id = v_c.id;
    v_one := coord.cast_vote(v_c, v_a, p_login, p_permission, p_teams, p_source, p_vote, p_comment, p_head);
    v_all := v_all || pg_catalog.jsonb_build_array((v_one - 'wake') || pg_catalog.jsonb_build_object('policy', v_a.policy_name));
    v_wake := v_wake || (v_one -> 'wake');
    if (v_one ->> 'counted')::boolean then
      perform coord.audit(p_project, null, 'forge:' || p_login, case p_vote when 'deny' then 'deny_change' else 'approve_change' end, array[v_a.id::text, v_c.id::text], true, p_comment);
    end if;
  end loop;
  return pg_catalog.jsonb_build_object('votes', v_all, 'changeset_id', v_c.id, 'wake', v_wake);
end $$;

-- A review that was dismissed takes its vote back while nothing has been decided on it.
create function coord.unvote_from_forge(p_project bigint, p_repository text, p_head text, p_login text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets; v_n int;
begin
  select * into v_c from public.changesets c where c.project_id = p_project and c.repository = p_repository and c.head_sha = p_head for update;
  delete from public.approval_votes v using public.approval_queue a where a.project_id = p_project and a.changeset_id = v_c.id and a.status in ('waiting', 'pending')
    and v.project_id = p_project and v.approval_id = a.id and v.voter = p_login;
  get diagnostics v_n = row_count;
  if v_n > 0 then perform coord.changeset_note(p_project, v_c.id, 'approval', p_login || ' took the vote back'); end if;
  return pg_catalog.jsonb_build_object('taken_back', v_n);
end $$;

------------------------------------------------------------------------------------------------ commands
create function coord.lock_changeset(p_only bigint, p_id uuid) returns public.changesets language plpgsql set search_path = '' as $$
declare v_c public.changesets;
begin
  select * into v_c from public.changesets c where c.id = p_id and (p_only is null or c.project_id = p_only) for update;
  if v_c.id is null then perform coord.no_changeset(); end if;
  if v_c.state = 'superseded' then
    perform coord.fail(409, 'conflict', 'this changeset was superseded', 'its branch has a newer head', coalesce('act on the newer one: ' || v_c.superseded_by::text, 'act on the newer one'), 'changeset_id');
  end if;
  return v_c;
end $$;

-- POST /changesets/:id/rerun. Without a tier everything is routed and verified anew; with one, its runs and what did not
-- succeed above it. A denied commit stays denied.
create function coord.rerun_changeset(p_only bigint, p_by text, p_id uuid, p_tier int, p_reason text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets := coord.lock_changeset(p_only, p_id); v_wake text[]; v_r public.verification_results; v_n int := 0;
begin
  if exists (select from public.approval_queue a where a.project_id = v_c.project_id and a.changeset_id = v_c.id and a.status = 'denied') then
    perform coord.fail(409, 'conflict', 'a reviewer denied this commit', 'a denial stands for that commit', 'push another commit');
  end if;
  if not exists (select from coord.line_heads h where h.project_id = v_c.project_id and h.repository = v_c.repository and h.head_sha = v_c.head_sha) then
    perform coord.fail(409, 'conflict', 'the commit is no branch''s head any more', 'its branch moved on or was deleted', 'push it again, or verify the newer head', 'changeset_id');
  end if;
  if p_tier is null or v_c.route_version = 0 then
    v_wake := coord.reopen_changeset(v_c, 'run again by ' || p_by || coalesce(': ' || nullif(p_reason, ''), ''));
  else
    for v_r in select distinct on (r.policy_name) r.* from public.verification_results r where r.project_id = v_c.project_id and r.changeset_id = v_c.id and r.route_version = v_c.route_version
        order by r.policy_name, r.attempt desc loop
      continue when v_r.executor = '' or v_r.status <> 'completed' or not (v_r.tier = p_tier or v_r.tier > p_tier and not v_r.success);
      v_r.infra_retries := 0; v_r.test_retries := 0;
      perform coord.add_attempt(v_r, 0, 0, null);
      v_n := v_n + 1;
    end loop;
    if v_n = 0 then perform coord.fail(409, 'conflict', pg_catalog.format('tier %s has nothing to run again', p_tier), 'nothing of it is over, or nothing can run it', 'leave tier out to route the change anew', 'tier'); end if;
    update public.verification_results r set status = 'pending', queued_at = null where r.project_id = v_c.project_id and r.changeset_id = v_c.id and r.status = 'queued';
    update public.approval_queue a set status = 'waiting' where a.project_id = v_c.project_id and a.changeset_id = v_c.id and a.route_version = v_c.route_version and a.status in ('voided', 'expired');
    update public.changesets c set state = 'verifying', verdict = null, verdict_reason = 'tier ' || p_tier || ' is run again by ' || p_by, override = null, decided_at = null, blocked_since = null
      where c.project_id = v_c.project_id and c.id = v_c.id returning * into v_c;
    perform coord.changeset_note(v_c.project_id, v_c.id, 'command', v_c.verdict_reason || coalesce(': ' || nullif(p_reason, ''), ''));
    v_wake := coord.settle(v_c.project_id, v_c.id) || array['g:runs', 'g:outbox'];
  end if;
  perform coord.audit(v_c.project_id, null, p_by, 'rerun_changeset', array[v_c.id::text], true, nullif(p_reason, ''), pg_catalog.jsonb_build_object('tier', p_tier));
  select * into v_c from public.changesets c where c.project_id = v_c.project_id and c.id = v_c.id;
  return coord.changeset_wire(v_c) || pg_catalog.jsonb_build_object('wake', v_wake);
end $$;

-- POST /changesets/:id/cancel: nothing more is verified. One that is decided keeps its verdict: conflict.
create function coord.cancel_changeset(p_only bigint, p_by text, p_id uuid, p_reason text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets := coord.lock_changeset(p_only, p_id); v_wake text[];
begin
  if coord.changeset_final(v_c.state) then
    perform coord.fail(409, 'conflict', 'the changeset is ' || v_c.state || ' already', 'what is over cannot be cancelled', 'run it again if that is what you want: POST /changesets/{id}/rerun');
  end if;
  v_wake := coord.close_changeset(v_c, 'cancelled', 'cancelled by ' || p_by || coalesce(': ' || nullif(p_reason, ''), ''), null, p_by);
  select * into v_c from public.changesets c where c.project_id = v_c.project_id and c.id = v_c.id;
  return coord.changeset_wire(v_c) || pg_catalog.jsonb_build_object('wake', v_wake);
end $$;

-- POST /changesets/:id/override: a person sets the verdict, for this head commit and for good, with a reason that is shown
-- wherever the verdict is. Who changed the code may not.
create function coord.override_changeset(p_only bigint, p_by text, p_who text, p_id uuid, p_verdict text, p_reason text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets := coord.lock_changeset(p_only, p_id); v_why text := coord.not_impartial(v_c, p_who); v_wake text[];
begin
  if v_why is not null then perform coord.fail(403, 'forbidden', p_who || ' may not override the verdict on this change', v_why, 'ask somebody else who may review it'); end if;
  if coalesce(pg_catalog.btrim(p_reason), '') = '' then perform coord.fail(422, 'invalid', 'an override needs a reason', 'it is shown with the verdict', 'say why', 'reason'); end if;
  perform coord.end_runs(v_c, 'overridden by ' || p_who);
  update public.changesets c set state = p_verdict, verdict = p_verdict, verdict_reason = pg_catalog.left(pg_catalog.format('overridden by %s for this commit: %s', p_who, p_reason), 1000),
      override = pg_catalog.jsonb_build_object('by', p_who, 'reason', p_reason, 'at', coord.ts(coord.now()), 'verdict', p_verdict, 'head_sha', v_c.head_sha, 'before', v_c.state),
      decided_at = coord.now(), updated_at = coord.now(), blocked_since = null
    where c.project_id = v_c.project_id and c.id = v_c.id returning * into v_c;
  perform coord.changeset_note(v_c.project_id, v_c.id, 'command', v_c.verdict_reason);
  perform coord.audit(v_c.project_id, null, p_by, 'override_changeset', array[v_c.id::text], true, p_reason, null, v_c.override);
  perform coord.status_out(v_c);
  v_wake := coord.changeset_news(v_c) || coord.on_verdict(v_c) || array['g:runs', 'g:outbox'];
  return coord.changeset_wire(v_c) || pg_catalog.jsonb_build_object('wake', v_wake);
end $$;

-- The changeset that a comment on a pull request means: the one of its newest head.
create function coord.changeset_of_pull(p_project bigint, p_repository text, p_number int) returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('changeset_id', c.id, 'head_sha', c.head_sha, 'head_at', coord.ts(h.at)) from public.changesets c
    left join coord.line_heads h on h.project_id = c.project_id and h.repository = c.repository and h.line = c.line and h.head_sha = c.head_sha
    where c.project_id = p_project and c.repository = p_repository and c.pr_number = p_number order by c.state = 'superseded', c.seq desc limit 1
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.get_changeset(bigint, uuid), coord.list_changesets(bigint, jsonb, int, uuid), coord.list_approvals(bigint, text, int),
  coord.vote_approval(bigint, text, text, text, uuid, text, text, text), coord.vote_from_forge(bigint, text, text, text, text, text[], text, text, text),
  coord.unvote_from_forge(bigint, text, text, text), coord.rerun_changeset(bigint, text, uuid, int, text), coord.cancel_changeset(bigint, text, uuid, text),
  coord.override_changeset(bigint, text, text, uuid, text, text), coord.changeset_of_pull(bigint, text, int) to service_role;
