-- What the gateway tells outside: the status of a head commit, news for people. A row is written with the change it tells
-- of and sent later, as often as it takes; rows of one target leave in order, and a newer status replaces one that waits.
set local lock_timeout = '5s';

-- The status of a changeset, if it says something new: pending once per routing, once when people are waited for or
-- nothing can run, and the end. GitHub limits how many may be posted.
create function coord.status_out(p_c public.changesets) returns void language plpgsql set search_path = '' as $$
declare v_phase text; v_state text; v_last jsonb; v_n int; v_target text := p_c.id::text; v_text text;
begin
  v_phase := case when p_c.state = 'verifying' and p_c.blocked_since is not null then 'blocked' when p_c.state = 'verifying' and p_c.draft then 'draft' else p_c.state end;
  if v_phase in ('received', 'routing') then return; end if;
  v_state := case p_c.state when 'passed' then 'success' when 'failed' then 'failure' when 'verifying' then 'pending' when 'awaiting_approval' then 'pending' else 'error' end;
  v_text := case v_phase when 'verifying' then 'verification is under way' when 'superseded' then 'superseded by a newer head' else coalesce(p_c.verdict_reason, v_phase) end;
  select o.payload into v_last from coord.gateway_outbox o where o.project_id = p_c.project_id and o.kind = 'status' and o.target = v_target order by o.id desc limit 1;
  if v_last ->> 'phase' = v_phase and v_last ->> 'route_version' = p_c.route_version::text and (v_state = 'pending' or v_last ->> 'description' = v_text) then return; end if;
  if v_last is null and p_c.state in ('superseded', 'cancelled') then return; end if;  -- it was never shown
  select count(*) into v_n from coord.gateway_outbox o where o.project_id = p_c.project_id and o.kind = 'status' and o.target = v_target;
  update coord.gateway_outbox o set done_at = coord.now(), outcome = 'replaced'
    where o.project_id = p_c.project_id and o.kind = 'status' and o.target = v_target and o.done_at is null and not o.leased;
  insert into coord.gateway_outbox (project_id, kind, dedupe_key, target, payload) values (p_c.project_id, 'status', v_target || ':' || v_n::text, v_target,
    pg_catalog.jsonb_build_object('repository', p_c.repository, 'pull_number', coalesce(p_c.pr_number, 0), 'head_sha', p_c.head_sha, 'context', 'gateway/verdict', 'state', v_state, 'description', v_text,
      'changeset_id', p_c.id, 'phase', v_phase, 'route_version', p_c.route_version, 'source', p_c.source,
      'findings', coalesce((select pg_catalog.jsonb_agg(x.f) from (select f from public.verification_results r, pg_catalog.jsonb_array_elements(r.findings) f
        where r.project_id = p_c.project_id and r.changeset_id = p_c.id and r.route_version = p_c.route_version and r.conclusion = 'failure' limit 50) x), '[]')));
end $$;

-- News for people, once per key. Returns topics to wake.
create function coord.notify_out(p_project bigint, p_key text, p_payload jsonb) returns text[] language plpgsql set search_path = '' as $$
begin
  insert into coord.gateway_outbox (project_id, kind, dedupe_key, target, payload) values (p_project, 'notify', p_key, p_key, p_payload) on conflict (project_id, kind, dedupe_key) do nothing;
  return case when found then array['g:outbox'] else '{}'::text[] end;
end $$;

-- Due rows, leased for p_lease seconds: the oldest of each target, and none whose target has one on its way.
create function coord.take_outbox(p_limit int, p_lease int) returns table (project_id bigint, id bigint, kind text, payload jsonb, attempts int)
language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  return query with due as (
      select o.project_id, o.id from coord.gateway_outbox o where o.done_at is null and o.next_attempt_at <= v_now
        and not exists (select from coord.gateway_outbox x where x.project_id = o.project_id and x.kind = o.kind and x.target = o.target and x.done_at is null and x.id < o.id)
        order by o.next_attempt_at, o.id limit p_limit for update of o skip locked)
    update coord.gateway_outbox o set attempts = o.attempts + 1, leased = true, next_attempt_at = v_now + pg_catalog.make_interval(secs => p_lease)
      from due where o.project_id = due.project_id and o.id = due.id returning o.project_id, o.id, o.kind, o.payload || pg_catalog.jsonb_build_object('project', (select p.name from public.projects p where p.id = o.project_id)), o.attempts;
end $$;

-- What became of a row: sent, skipped (nobody to tell), dead; or tried again after p_retry seconds.
create function coord.end_outbox(p_project bigint, p_id bigint, p_outcome text, p_error text, p_retry int) returns void language plpgsql security definer set search_path = '' as $$
begin
  update coord.gateway_outbox o set leased = false, error = pg_catalog.left(p_error, 1000), outcome = p_outcome, done_at = case when p_outcome is not null then coord.now() end,
      next_attempt_at = coord.now() + pg_catalog.make_interval(secs => coalesce(p_retry, 0))
    where o.project_id = p_project and o.id = p_id and o.done_at is null;
end $$;

create function coord.purge_outbox(p_days int, p_limit int) returns int language plpgsql security definer set search_path = '' as $$
declare v_n int;
begin
  delete from coord.gateway_outbox o where (o.project_id, o.id) in (select x.project_id, x.id from coord.gateway_outbox x
    where x.kind = 'notify' and x.done_at < coord.now() - pg_catalog.make_interval(days => p_days) limit p_limit);
  get diagnostics v_n = row_count;
  return v_n;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.take_outbox(int, int), coord.end_outbox(bigint, bigint, text, text, int), coord.purge_outbox(int, int) to service_role;
