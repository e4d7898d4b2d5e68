-- Many calls of the short path in one transaction: requests that arrive together share one round trip, one look and one
-- commit, which costs a third of what they cost apart.
--
-- A transaction that works for several sessions must not wait for anybody, or two of them could wait for each other.
-- So it only tries session locks and gates (see 20261101000200); where one is taken the answer is 'other', and that call
-- goes its own way. For the same reason the caller sends at most one call per session, in the order of the sessions:
-- rows are then taken in one order by everybody. Calls that are not plain grants are left to acquire_lock, which finds
-- the gates held already.
set local lock_timeout = '5s';

-- acquire_lock for each of the calls, exclusive, answered in order. p_anc: the ancestors of a key, one a line.
-- v_try: nobody is in the way at the gates. v_free: nothing at all is held or waited for around the key, and no earlier
-- call of the batch takes it.
create function coord.acquire_lock_many(p_project bigint[], p_session bigint[], p_by text[], p_space bigint[], p_key text[], p_anc text[],
  p_path text[], p_shown text[], p_repo text[], p_branch text[], p_minutes int[], p_reason text[])
returns table (outcome text, token bigint, expires_at timestamptz, now timestamptz, locked_by text, agent_type text,
  holder_session text, branch text, reason text, locked_at timestamptz)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
declare v_try boolean[]; v_free boolean[]; v_token bigint[]; v_until timestamptz[];
begin
  v_try := array(select current_setting('transaction_isolation') = 'read committed'
      and pg_try_advisory_xact_lock_shared(hashtextextended('coord.lock.session', u.session)) and (
      select bool_and(case when a.n = cardinality(x.anc)
          then pg_try_advisory_xact_lock(hashtextextended(a.a, u.project * 1000003 + u.space))
          else pg_try_advisory_xact_lock_shared(hashtextextended(a.a, u.project * 1000003 + u.space)) end)
        from unnest(x.anc) with ordinality a(a, n))
    from unnest(p_project, p_session, p_space, p_anc) with ordinality u (project, session, space, anc, n)
    cross join lateral (select string_to_array(u.anc, E'\n') anc offset 0) x order by u.n);
  v_free := array(select u.ok and not exists (select from public.file_locks l
        where l.project_id = u.project and l.space = u.space and l.base = any (string_to_array(u.anc, E'\n')))
      and not exists (select from coord.lock_wait_keys w where w.project_id = u.project and w.space = u.space and w.base = any (string_to_array(u.anc, E'\n')))
      and row_number() over (partition by u.project, u.space, u.key order by u.n) = 1
    from unnest(p_project, p_space, p_key, p_anc, v_try) with ordinality u (project, space, key, anc, ok, n) order by u.n);
  with me as materialized (
    select u.*, s.agent_id, s.agent_type, s.session_id, coord.now() now, nextval('coord.lock_token') token
    from unnest(p_project, p_session, p_by, p_space, p_key, p_path, p_shown, p_repo, p_branch, p_minutes, p_reason, v_free) with ordinality
      u (project, session, who, space, key, path, shown, repo, branch, minutes, reason, free, n)
    join public.agent_sessions s on s.project_id = u.project and s.id = u.session and s.status = 'active'
    where u.free and u.minutes between 1 and 480),
  taken as (
    insert into public.file_locks (project_id, space, base, key, branch, session_id, kind, mode, token, ttl_minutes,
      acquired_at, expires_at, file_path, locked_by, agent_type, session_name, repository, reason)
    select m.project, m.space, m.key, m.key, m.branch, m.session, 'l', 'exclusive', m.token, m.minutes,
      m.now, m.now + make_interval(mins => m.minutes), m.path, m.agent_id, m.agent_type, m.session_id, nullif(m.repo, ''), nullif(m.reason, '') from me m
    on conflict do nothing returning token, expires_at),
  done as (select m.*, t.expires_at until from me m join taken t on t.token = m.token),
  audited as (
    insert into coord.audit_log (project_id, at, principal, agent_id, agent_type, session_id, operation, object_ids, success, parameters, result, duration_ms)
    select d.project, d.now, d.who, d.agent_id, d.agent_type, d.session_id, 'acquire_lock', array[d.shown], true,
      jsonb_build_object('mode', 'exclusive', 'ttl_minutes', d.minutes), jsonb_build_object('fencing_token', d.token::text),
      extract(epoch from clock_timestamp() - statement_timestamp()) * 1000
    from done d)
  select array_agg(d.token order by i.n), array_agg(d.until order by i.n) into v_token, v_until
    from generate_series(1, cardinality(p_session)) i (n) left join done d on d.n = i.n;
  for i in 1 .. cardinality(p_session) loop
    if v_token[i] is null and v_try[i] then
      return query select x.* from coord.acquire_lock(p_project[i], p_session[i], p_by[i], p_space[i], p_key[i], string_to_array(p_anc[i], E'\n'),
        p_path[i], p_shown[i], p_repo[i], p_branch[i], 'exclusive', p_minutes[i], nullif(p_reason[i], '')) x;
    else
      outcome := case when v_token[i] is null then 'other' else 'acquired' end;
      token := v_token[i];
      expires_at := v_until[i];
      return next;
    end if;
  end loop;
end $$;

-- release_lock for each of the calls, answered in order.
create function coord.release_lock_many(p_project bigint[], p_session bigint[], p_by text[], p_space bigint[], p_key text[], p_anc text[],
  p_shown text[]) returns boolean[]
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare v_try boolean[]; v_out boolean[];
begin
  v_try := array(select current_setting('transaction_isolation') = 'read committed'
      and pg_try_advisory_xact_lock_shared(hashtextextended('coord.lock.session', u.session)) and (
      select bool_and(pg_try_advisory_xact_lock_shared(hashtextextended(a.a, u.project * 1000003 + u.space)))
        from unnest(string_to_array(u.anc, E'\n')) a(a))
    from unnest(p_project, p_session, p_space, p_anc) with ordinality u (project, session, space, anc, n) order by u.n);
  v_try := array(select u.ok and not exists (select from coord.lock_wait_keys w
      where w.project_id = u.project and w.space = u.space and w.base = any (string_to_array(u.anc, E'\n')))
    from unnest(p_project, p_space, p_anc, v_try) with ordinality u (project, space, anc, ok, n) order by u.n);
  with u as materialized (
    select u.* from unnest(p_project, p_session, p_by, p_space, p_key, p_shown, v_try) with ordinality u (project, session, who, space, key, shown, ok, n)
    where u.ok order by u.n),
  freed as (
    delete from public.file_locks l using u, public.agent_sessions s
    where l.project_id = u.project and l.space = u.space and l.base = u.key and l.key = u.key and l.kind = 'l'
      and l.session_id = u.session and l.expires_at > coord.now()
      and s.project_id = u.project and s.id = u.session and s.status = 'active'
    returning u.n, u.project, u.who, u.shown, s.agent_id, s.agent_type, s.session_id),
  once as (select distinct on (f.n) f.* from freed f),
  audited as (
    insert into coord.audit_log (project_id, at, principal, agent_id, agent_type, session_id, operation, object_ids, success, duration_ms)
    select f.project, coord.now(), f.who, f.agent_id, f.agent_type, f.session_id, 'release_lock', array[f.shown], true,
      extract(epoch from clock_timestamp() - statement_timestamp()) * 1000 from once f)
  select array_agg(o.n is not null order by i.n) into v_out from generate_series(1, cardinality(p_session)) i (n) left join once o on o.n = i.n;
  return v_out;
end $$;

grant execute on function coord.acquire_lock_many, coord.release_lock_many to service_role;
