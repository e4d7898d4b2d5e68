-- What a verdict does. A task that was completed with a commit stays verifying until the verdict for exactly that commit:
-- passed completes it and unblocks what waits for it; failed gives it back with the findings, to the session that did it
-- where a runner can resume that, else to the queue. A changeset without a task goes back to its session likewise.
-- Attempts are bounded; then people are told, as they are when verification itself failed or approvals are wanted.
--
-- Lock order: the changeset's row, then the heads' advisory locks, then tasks (in order of id), then the outbox.
set local lock_timeout = '5s';

-- Tasks that wait for the verdict on a commit.
create table coord.task_verdicts (
  project_id  bigint not null,
  id          bigint not null,                       -- of the task in public.work_queue
  head_sha    text   not null,
  agent_id    text   not null,
  session_ref bigint not null,                       -- agent_sessions.id of who completed it
  asked_at    timestamptz not null default coord.now(),
  primary key (project_id, id)
);
create index task_verdicts_head on coord.task_verdicts (project_id, head_sha);
create index task_verdicts_age on coord.task_verdicts (asked_at);
alter table coord.task_verdicts enable row level security;

create function coord.lock_head(p_project bigint, p_head text) returns void language sql set search_path = '' as $$
  select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(pg_catalog.concat_ws(chr(1), 'coord.head', p_project, p_head), 0))
$$;

-------------------------------------------------------------------------------------------- the findings
-- What an agent needs to mend a change: the runs that did not succeed and what they found, at most 20 findings.
create function coord.verdict_findings(p_c public.changesets) returns jsonb language sql stable set search_path = '' as $$
  with bad as (select distinct on (r.policy_name) r.* from public.verification_results r
    where r.project_id = p_c.project_id and r.changeset_id = p_c.id and r.route_version = p_c.route_version and r.required
    order by r.policy_name, r.attempt desc)
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('changeset_id', p_c.id, 'head_sha', p_c.head_sha, 'verdict', coalesce(p_c.verdict, p_c.state), 'reason', p_c.verdict_reason,
    'runs', coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('policy', b.policy_name, 'conclusion', b.conclusion, 'reason', b.reason, 'url', b.external_url,
      'output', pg_catalog.right(nullif(b.output, ''), 2000))) order by b.tier) from bad b where b.conclusion in ('failure', 'timed_out', 'infra_error', 'blocked')), '[]'),
    'findings', coalesce((select pg_catalog.jsonb_agg(x.f - 'fingerprint') from (select f from bad b, pg_catalog.jsonb_array_elements(b.findings) f where b.conclusion = 'failure'
      order by f ->> 'path', (f ->> 'line')::int limit 20) x), '[]'),
    'denied', (select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('policy', a.policy_name, 'by', v.voter, 'comment', v.comment)) from public.approval_queue a
      join public.approval_votes v on v.project_id = a.project_id and v.approval_id = a.id and v.vote = 'deny'
      where a.project_id = p_c.project_id and a.changeset_id = p_c.id and a.status = 'denied')))
$$;

-- The same as a prompt.
create function coord.verdict_prompt(p_c public.changesets, p_task uuid) returns text language plpgsql stable set search_path = '' as $$
declare v_f jsonb := coord.verdict_findings(p_c); v_x jsonb; v_out text;
begin
  v_out := pg_catalog.format(E'Your commit %s on branch %s did not pass verification.\n\n## Reason\n\n%s', pg_catalog.left(p_c.head_sha, 12), coalesce(nullif(p_c.branch, ''), p_c.line), p_c.verdict_reason);
  if v_f -> 'findings' <> '[]' then
    v_out := v_out || E'\n\n## Findings\n';
    for v_x in select * from pg_catalog.jsonb_array_elements(v_f -> 'findings') loop
      v_out := v_out || pg_catalog.format(E'\n- %s:%s %s %s (%s)', v_x ->> 'path', v_x ->> 'line', v_x ->> 'level', v_x ->> 'message', pg_catalog.concat_ws(' ', v_x ->> 'tool', v_x ->> 'rule'));
    end loop;
  end if;
  for v_x in select * from pg_catalog.jsonb_array_elements(v_f -> 'runs') loop
    v_out := v_out || pg_catalog.format(E'\n\n## %s: %s\n\n%s', v_x ->> 'policy', v_x ->> 'conclusion', coalesce(v_x ->> 'reason', ''));
    if v_x ? 'url' then v_out := v_out || E'\n' || (v_x ->> 'url'); end if;
    if v_x ? 'output' then v_out := v_out || E'\n\n```\n' || (v_x ->> 'output') || E'\n```'; end if;
  end loop;
  for v_x in select * from pg_catalog.jsonb_array_elements(v_f -> 'denied') loop
    v_out := v_out || pg_catalog.format(E'\n\n## Denied by %s\n\n%s', v_x ->> 'by', coalesce(v_x ->> 'comment', ''));
  end loop;
  return v_out || E'\n\nPlease mend it, commit, push, and hand the new commit over' || case when p_task is null then '.'
    else pg_catalog.format(': complete_work for task %s with its head_sha.', p_task) end;
end $$;

-- As before, and verdicts, whose text is the whole prompt.
create or replace function coord.callback_prompt(p_rows coord.callbacks[]) returns text language plpgsql immutable set search_path = '' as $$
declare v_c coord.callbacks; v_parts text[] := '{}';
begin
  if pg_catalog.cardinality(p_rows) = 1 then
    v_c := p_rows[1];
    if v_c.child_session_id like 'changeset:%' then return v_c.text; end if;
    if v_c.failed then
      return 'The child agent session "' || v_c.child_session_id || E'" has failed.\n\n## Error\n\n' || coalesce(nullif(v_c.text, ''), 'Unknown error')
        || E'\n\nPlease handle this failure and continue with the orchestration.';
    end if;
    return 'The child agent session "' || v_c.child_session_id || E'" has completed.\n\n## Child Result\n\n' || coalesce(nullif(v_c.text, ''), '(No result available)')
      || E'\n\nPlease continue with the orchestration based on this result.';
  end if;
  if not exists (select from unnest(p_rows) x where x.child_session_id not like 'changeset:%') then
    return (select pg_catalog.string_agg(x.text, E'\n\n---\n\n' order by x.id) from unnest(p_rows) x);
  end if;
  foreach v_c in array p_rows loop
    v_parts := v_parts || case when v_c.child_session_id like 'changeset:%' then v_c.text else '### Child: ' || v_c.child_session_id || case when v_c.failed then ' (FAILED)' else ' (completed)' end || E'\n\n'
      || coalesce(nullif(v_c.text, ''), case when v_c.failed then 'Unknown error' else '(No result available)' end) end;
  end loop;
  return E'Multiple child agent sessions have completed.\n\n' || pg_catalog.array_to_string(v_parts, E'\n\n---\n\n')
    || E'\n\nPlease continue with the orchestration based on these results.';
end $$;

-- Has the session that did the work one more run, with p_text as its prompt, if runners execute it. By its external id.
create function coord.resume_author(p_project bigint, p_session text, p_source text, p_text text) returns boolean language plpgsql set search_path = '' as $$
begin
  if not exists (select from public.sessions s where s.session_id = p_session and s.project_id = p_project and s.executor_profile is not null) then return false; end if;
  insert into coord.callbacks (source, project_id, parent_session_id, child_session_id, failed, text)
    values (p_source, p_project, p_session, p_source, true, p_text) on conflict (source) do nothing;
  return true;
end $$;

-- Tells a session that is alive; returns the topic of its notices.
create function coord.tell_session(p_project bigint, p_ref bigint, p_text text, p_data jsonb) returns text[] language plpgsql set search_path = '' as $$
begin
  if not exists (select from public.agent_sessions s where s.project_id = p_project and s.id = p_ref and s.status = 'active') then return '{}'; end if;
  perform coord.notice(p_project, p_ref, 'info', p_text, p_data);
  return array[pg_catalog.format('n:%s:%s', p_project, p_ref)];
end $$;

------------------------------------------------------------------------------------------------- tasks
-- Gives a locked task that waits for a verdict back to who did it, or to the queue. p_why stands in the task, p_feedback in
-- its input_data as "verification". Returns topics to wake; the last attempt makes it dead, and people are told.
create function coord.return_task(p_w public.work_queue, p_v coord.task_verdicts, p_source text, p_why text, p_prompt text, p_feedback jsonb) returns text[]
language plpgsql set search_path = '' as $$
declare v_w public.work_queue; v_now timestamptz := coord.now(); v_status text; v_s public.agent_sessions; v_until timestamptz; v_wake text[] := '{}';
begin
  update public.work_queue w set input_data = coalesce(w.input_data, '{}') || pg_catalog.jsonb_build_object('verification', p_feedback)
    where w.project_id = p_w.project_id and w.id = p_w.id returning * into v_w;
  select * into v_s from public.agent_sessions s where s.project_id = p_v.project_id and s.id = p_v.session_ref;
  if v_w.attempt < v_w.max_attempts and coord.resume_author(v_w.project_id, v_s.session_id, p_source || ':' || v_w.task_id, p_prompt) then
    v_until := v_now + pg_catalog.make_interval(secs => greatest(coalesce(v_w.lease_seconds, 0), 1800));
    update public.work_queue w set status = 'claimed', session_id = v_s.id, attempt = w.attempt + 1, lease_until = v_until, lease_due = v_until,
        error_message = pg_catalog.left(p_why, 20000), ended_by = null, ended_as = null, updated_at = v_now where w.project_id = v_w.project_id and w.id = v_w.id;
    insert into coord.lease (project_id, queue, until, id, session_id) values (v_w.project_id, 1, v_until, v_w.id, v_s.id);
    v_status := 'claimed';
    v_wake := v_wake || coord.callbacks_topic();
  else
    v_status := coord.give_back(v_w, v_now, 0, pg_catalog.left(p_why, 20000));
    update public.work_queue w set ended_by = null, ended_as = null where w.project_id = v_w.project_id and w.id = v_w.id;
    if v_status = 'pending' then v_wake := v_wake || coord.lane_topic(v_w.project_id, 1::smallint, v_w.class_id); end if;
  end if;
  if v_status = 'dead' then
    v_wake := v_wake || coord.notify_out(v_w.project_id, 'task:' || v_w.task_id || ':' || v_w.fence, pg_catalog.jsonb_build_object('kind', 'attempts_used_up',
      'title', pg_catalog.format('A task needs you: %s', pg_catalog.left(v_w.description, 100)),
      'text', pg_catalog.format('Task %s failed verification %s time(s), the last by %s: %s', v_w.task_id, v_w.attempt, p_v.agent_id, p_why),
      'changeset_id', p_feedback -> 'changeset_id', 'data', pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'agent_id', p_v.agent_id)));
  end if;
  v_wake := v_wake || coord.tell_session(v_w.project_id, p_v.session_ref, pg_catalog.format('Task %s: %s. %s', v_w.task_id, pg_catalog.left(p_why, 140), case v_status
      when 'pending' then 'It is back in the queue: claim it to mend it.' when 'claimed' then 'It is yours again: mend it.' else 'Its attempts are used up; people were told.' end),
    pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'status', v_status, 'changeset_id', p_feedback -> 'changeset_id', 'head_sha', p_feedback -> 'head_sha'));
  delete from coord.task_verdicts t where t.project_id = p_v.project_id and t.id = p_v.id;
  perform coord.audit(v_w.project_id, null, 'gateway', 'return_task', array[v_w.task_id::text], true, pg_catalog.left(p_why, 500), pg_catalog.jsonb_build_object('status', v_status));
  return v_wake || coord.work_topic(v_w.project_id);
end $$;

-- Does to a waiting task what the verdict on its commit says. Nothing while there is none.
create function coord.apply_verdict(p_v coord.task_verdicts, p_c public.changesets) returns text[] language plpgsql set search_path = '' as $$
declare v_w public.work_queue; v_now timestamptz := coord.now(); v_wake text[] := '{}'; v_source text := 'changeset:' || p_c.id || ':' || p_c.route_version;
begin
  select * into v_w from public.work_queue w where w.project_id = p_v.project_id and w.id = p_v.id for no key update;
  if v_w.status is distinct from 'verifying' then  -- cancelled, or its deadline passed
    delete from coord.task_verdicts t where t.project_id = p_v.project_id and t.id = p_v.id;
    return '{}';
  end if;
  if p_c.state = 'passed' then
    perform coord.end_task(v_w, v_now, 'completed', null, null);
    update public.work_queue w set ended_as = 'completed', input_data = w.input_data - 'verification' where w.project_id = v_w.project_id and w.id = v_w.id;
    delete from coord.task_verdicts t where t.project_id = p_v.project_id and t.id = p_v.id;
    perform coord.audit(v_w.project_id, null, 'gateway', 'complete_verified', array[v_w.task_id::text], true, null, pg_catalog.jsonb_build_object('head_sha', p_c.head_sha, 'changeset_id', p_c.id));
    v_wake := coord.unblock(v_w.project_id, array[v_w.id], v_now) || coord.work_topic(v_w.project_id)
      || coord.tell_session(v_w.project_id, p_v.session_ref, pg_catalog.format('Task %s is completed: commit %s passed verification.', v_w.task_id, pg_catalog.left(p_c.head_sha, 12)),
        pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'status', 'completed', 'changeset_id', p_c.id));
  elsif p_c.state = 'failed' then
    v_wake := coord.return_task(v_w, p_v, v_source, pg_catalog.format('commit %s failed verification: %s', pg_catalog.left(p_c.head_sha, 12), p_c.verdict_reason),
      coord.verdict_prompt(p_c, v_w.task_id), coord.verdict_findings(p_c));
  elsif p_c.state = 'error' then
    v_wake := coord.tell_session(v_w.project_id, p_v.session_ref, pg_catalog.format('Task %s waits: commit %s could not be verified (%s). People were told; the change is not at fault.',
      v_w.task_id, pg_catalog.left(p_c.head_sha, 12), pg_catalog.left(p_c.verdict_reason, 100)), pg_catalog.jsonb_build_object('task_id', v_w.task_id, 'changeset_id', p_c.id));
  end if;
  return v_wake;
end $$;

-- Completes a task whose proof is a commit: it is verifying until the verdict on that very commit. Who completed it may
-- name a newer commit while it waits.
create function coord.complete_with_commit(p_project bigint, p_s public.agent_sessions, p_task uuid, p_result jsonb, p_head text, p_token text, p_raise boolean, p_now timestamptz)
returns jsonb language plpgsql set search_path = '' as $$
declare v_w public.work_queue := coord.lock_task(p_project, p_task); v_v coord.task_verdicts; v_c public.changesets; v_wake text[] := '{}'; v_again boolean; v_was text;
begin
  v_again := v_w.id is not null and v_w.status in ('verifying', 'completed') and v_w.ended_by = p_s.agent_id and (p_token is null or p_token = v_w.fence::text);
  if v_again then select t.head_sha into v_was from coord.task_verdicts t where t.project_id = p_project and t.id = v_w.id; end if;
  if v_again and (v_w.status = 'completed' and v_w.result ->> 'head_sha' = p_head or v_was = p_head) then
    return pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', v_w.status, 'replayed', true);
  end if;
  if not v_again or v_was is null then
    if p_token is not null and not p_raise and (v_w.id is null or v_w.status not in ('claimed', 'running') or v_w.claimed_by <> p_s.agent_id or p_token <> v_w.fence::text) then
      return coord.not_yours(p_task, v_w) || '{"reason": "lease_lost"}';
    end if;
    if not coord.holds_task(v_w, p_s, p_token) then return coord.not_yours(p_task, v_w); end if;
    perform coord.loosen_task(v_w, false);
  end if;
  update public.work_queue w set status = 'verifying', result = coalesce(nullif(p_result, 'null'), '{}') || pg_catalog.jsonb_build_object('head_sha', p_head), error_message = null, updated_at = p_now,
      session_id = null, lease_until = null, lease_due = null, ended_by = p_s.agent_id, ended_as = 'verifying'
    where w.project_id = p_project and w.id = v_w.id returning * into v_w;
  insert into coord.task_verdicts as t (project_id, id, head_sha, agent_id, session_ref, asked_at) values (p_project, v_w.id, p_head, p_s.agent_id, p_s.id, p_now)
    on conflict (project_id, id) do update set head_sha = excluded.head_sha, agent_id = excluded.agent_id, session_ref = excluded.session_ref, asked_at = excluded.asked_at
    returning * into v_v;
  select * into v_c from public.changesets c where c.project_id = p_project and c.head_sha = p_head order by c.state in ('superseded', 'cancelled'), c.seq desc limit 1;
  if v_c.state in ('passed', 'failed') then v_wake := coord.apply_verdict(v_v, v_c); end if;
  select * into v_w from public.work_queue w where w.project_id = p_project and w.id = v_w.id;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('success', v_w.status in ('verifying', 'completed'), 'task_id', p_task, 'status', v_w.status, 'wake', v_wake,
    'reason', case when v_w.status not in ('verifying', 'completed') then 'verification_failed' end,
    'why', case v_w.status when 'verifying' then case when v_c.id is null then 'it waits for the verdict on that commit, which the gateway does not know yet: push it or call submit_changes' else 'it waits for the verdict on that commit' end
      when 'completed' then null else v_w.error_message end));
end $$;

-- As before (see work_calls), and success with a head_sha goes to coord.complete_with_commit.
create or replace function coord.complete_work(p_project bigint, p_session bigint, p_by text, p_items jsonb)
returns jsonb language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_s public.agent_sessions := coord.work_session(p_project, p_session); v_now timestamptz; v_ids bigint[]; v_done uuid[]; v_wake text[] := '{}';
  v_item record; v_one jsonb; v_results jsonb[] := '{}'; v_n int := pg_catalog.jsonb_array_length(p_items); v_changed text[];
begin
  if p_items @? '$[*].head_sha' then  -- so that no verdict on them comes meanwhile
    perform coord.lock_head(p_project, h.sha) from (select distinct i ->> 'head_sha' as sha from pg_catalog.jsonb_array_elements(p_items) i where i ? 'head_sha' order by 1) h;
  end if;
  -- Every access is by key from the items: joined freely, a plan made for few rows would look at the whole project.
  perform coord.lock_tasks(p_project, array(select w.id from (select distinct (i ->> 'task_id')::uuid as task_id from pg_catalog.jsonb_array_elements(p_items) i) i
    cross join lateral (select x.id from public.work_queue x where x.project_id = p_project and x.task_id = i.task_id limit 1) w));
  v_now := coord.now();
  with i as (select * from pg_catalog.jsonb_to_recordset(p_items) as x (task_id uuid, success boolean, result jsonb, error_message text, lease_token text, head_sha text)
    where x.success and x.head_sha is null),
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
      as x (task_id uuid, success boolean, result jsonb, error_message text, retryable boolean, lease_token text, head_sha text)
  loop
    if v_item.task_id = any (v_done) then
      v_one := pg_catalog.jsonb_build_object('success', true, 'task_id', v_item.task_id, 'status', 'completed');
      v_done := pg_catalog.array_remove(v_done, v_item.task_id);
    else
      if v_item.success and v_item.head_sha is not null then
        v_one := coord.complete_with_commit(p_project, v_s, v_item.task_id, v_item.result, v_item.head_sha, v_item.lease_token, v_n = 1, v_now);
      else
        v_one := coord.complete_one(p_project, v_s, v_item.task_id, coalesce(v_item.success, false), v_item.result, v_item.error_message,
          coalesce(v_item.retryable, false), v_item.lease_token, v_n = 1, v_now);
      end if;
      if (v_one ->> 'success')::boolean and not v_one ? 'replayed' or v_one ->> 'reason' = 'verification_failed' then v_changed := v_changed || v_item.task_id::text; end if;
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

------------------------------------------------------------------------------------------ what a verdict does
-- In the transaction that sets a verdict: trust, tasks, the author's session, people.
create function coord.on_verdict(p_c public.changesets) returns text[] language plpgsql set search_path = '' as $$
declare v_v coord.task_verdicts; v_wake text[] := '{}'; v_tasks int := 0; v_ref bigint; v_short text := pg_catalog.left(p_c.head_sha, 12); v_resumed boolean := false;
begin
  perform coord.note_outcome(p_c);
  perform coord.lock_head(p_c.project_id, p_c.head_sha);
  for v_v in select * from coord.task_verdicts t where t.project_id = p_c.project_id and t.head_sha = p_c.head_sha order by t.id loop
    v_wake := v_wake || coord.apply_verdict(v_v, p_c);
    v_tasks := v_tasks + 1;
  end loop;
  if v_tasks = 0 and p_c.agent_id is not null then
    if p_c.state = 'failed' and p_c.prior_failures < 3 then
      v_resumed := coord.resume_author(p_c.project_id, p_c.session_id, 'changeset:' || p_c.id || ':' || p_c.route_version, coord.verdict_prompt(p_c, p_c.task_id));
      if v_resumed then v_wake := v_wake || coord.callbacks_topic(); end if;
    end if;
    select s.id into v_ref from public.agent_sessions s where s.project_id = p_c.project_id and s.agent_id = p_c.agent_id and (p_c.session_id is null or s.session_id = p_c.session_id) and s.status = 'active'
      order by s.last_seen_at desc limit 1;
    if v_ref is not null and not v_resumed then
      v_wake := v_wake || coord.tell_session(p_c.project_id, v_ref, pg_catalog.format('Commit %s on %s: %s. %s', v_short, coalesce(nullif(p_c.branch, ''), p_c.line), case p_c.state
          when 'passed' then 'verification passed' when 'failed' then 'verification failed' else 'it could not be verified' end, case when p_c.state = 'passed' then '' else pg_catalog.left(p_c.verdict_reason, 180) end),
        pg_catalog.jsonb_build_object('changeset_id', p_c.id, 'verdict', p_c.state, 'head_sha', p_c.head_sha));
    end if;
  end if;
  if p_c.state = 'error' then
    v_wake := v_wake || coord.notify_out(p_c.project_id, 'error:' || p_c.id || ':' || p_c.route_version, pg_catalog.jsonb_build_object('kind', 'error',
      'title', pg_catalog.format('%s could not be verified', v_short), 'text', pg_catalog.format('%s on %s of %s: %s', v_short, p_c.line, p_c.repository, p_c.verdict_reason), 'changeset_id', p_c.id));
  elsif p_c.state = 'failed' and p_c.agent_id is not null and v_tasks = 0 and p_c.prior_failures >= 3 then
    v_wake := v_wake || coord.notify_out(p_c.project_id, 'failed:' || p_c.id || ':' || p_c.route_version, pg_catalog.jsonb_build_object('kind', 'attempts_used_up',
      'title', pg_catalog.format('%s fails again and again', p_c.agent_id), 'text', pg_catalog.format('%s failed verification on %s of %s %s times in a row, the last time %s: %s', p_c.agent_id, p_c.line,
        p_c.repository, p_c.prior_failures + 1, v_short, p_c.verdict_reason), 'changeset_id', p_c.id));
  end if;
  return v_wake;
end $$;

-- People are asked for the first time about this routing.
create function coord.on_approval_wanted(p_c public.changesets) returns text[] language plpgsql set search_path = '' as $$
begin
  return coord.notify_out(p_c.project_id, 'approval:' || p_c.id || ':' || p_c.route_version, pg_catalog.jsonb_build_object('kind', 'needs_approval',
    'title', pg_catalog.format('%s needs your approval', coalesce(nullif(p_c.title, ''), pg_catalog.left(p_c.head_sha, 12) || ' on ' || p_c.line)),
    'text', pg_catalog.format('%s by %s in %s: %s', pg_catalog.left(p_c.head_sha, 12), coalesce(p_c.agent_id, p_c.actor_login, 'somebody'), p_c.repository,
      (select pg_catalog.string_agg(a.policy_name || case when a.reason <> '' then ' (' || pg_catalog.left(a.reason, 300) || ')' else '' end, '; ' order by a.policy_name)
        from public.approval_queue a where a.project_id = p_c.project_id and a.changeset_id = p_c.id and a.route_version = p_c.route_version and a.status = 'pending')),
    'changeset_id', p_c.id));
end $$;

------------------------------------------------------------------------------------------------- what is due
-- Tasks whose verdict came unnoticed; those whose commit was superseded or cancelled five minutes ago, or whose commit
-- nobody handed over for an hour, go back: such a verdict never comes. At most p_limit.
create function coord.sweep_verdicts(p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_v coord.task_verdicts; v_c public.changesets; v_w public.work_queue; v_now timestamptz := coord.now(); v_n int := 0; v_wake text[] := '{}'; v_why text;
begin
  for v_v in select t.* from coord.task_verdicts t join public.work_queue w on w.project_id = t.project_id and w.id = t.id
      left join lateral (select c.state, c.updated_at from public.changesets c where c.project_id = t.project_id and c.head_sha = t.head_sha order by c.state in ('superseded', 'cancelled'), c.seq desc limit 1) c on true
      where c.state in ('passed', 'failed') or c.state in ('superseded', 'cancelled') and greatest(c.updated_at, t.asked_at) < v_now - interval '5 minutes'
        or c.state is null and t.asked_at < v_now - interval '1 hour' or w.status <> 'verifying'
      order by t.project_id, t.id limit p_limit
  loop
    select * into v_w from public.work_queue w where w.project_id = v_v.project_id and w.id = v_v.id for no key update skip locked;
    continue when v_w.id is null;
    select * into v_v from coord.task_verdicts t where t.project_id = v_w.project_id and t.id = v_w.id;
    continue when v_v.id is null;
    select * into v_c from public.changesets c where c.project_id = v_v.project_id and c.head_sha = v_v.head_sha order by c.state in ('superseded', 'cancelled'), c.seq desc limit 1;
    if v_w.status <> 'verifying' or v_c.state in ('passed', 'failed') then
      v_wake := v_wake || coord.apply_verdict(v_v, v_c);
    elsif v_c.id is null or v_c.state in ('superseded', 'cancelled') then
      v_why := case when v_c.id is null then pg_catalog.format('commit %s was never handed over for verification: push it or call submit_changes', pg_catalog.left(v_v.head_sha, 12))
        else pg_catalog.format('commit %s was %s before a verdict: %s', pg_catalog.left(v_v.head_sha, 12), v_c.state, coalesce(v_c.verdict_reason, '')) end;
      v_wake := v_wake || coord.return_task(v_w, v_v, 'changeset:' || coalesce(v_c.id::text, v_v.head_sha) || ':' || v_w.fence, v_why,
        pg_catalog.format(E'Your task %s has no verdict: %s.\n\nPlease complete it with the commit that is to count: complete_work with its head_sha.', v_w.task_id, v_why),
        pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('head_sha', v_v.head_sha, 'changeset_id', v_c.id, 'verdict', 'none', 'reason', v_why)));
    else
      continue;
    end if;
    v_n := v_n + 1;
  end loop;
  return pg_catalog.jsonb_build_object('settled', v_n, 'wake', v_wake);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.complete_work(bigint, bigint, text, jsonb), coord.sweep_verdicts(int) to service_role;
