-- The path most calls take: one literal key, nobody waiting for it, nothing expired in the way. In every other case the
-- answer is 'other', and the caller asks acquire_locks or release_locks, which know them all.
-- Same lock order, same overlap rules, same rows written. Here every microsecond is counted: plpgsql prepares each
-- expression anew in each transaction and building jsonb costs more than the look-up, so there are few statements and
-- the answer is columns. p_anc is coord.lock_anc(p_key), at most 13 long.
set local lock_timeout = '5s';

-- The exclusive lock of another session on one literal key, or no row: nobody has it, or something else has to be known
-- that acquire_lock finds out (it has expired, it is shared, somebody waits around the key, only a branch is taken). Who
-- was refused a key lately asks this first, for most of them are refused again and an acquire_lock that refuses costs
-- more than twice as much. To cost that little it must become part of the query that calls it: so no SET, no SECURITY
-- DEFINER, and a volatility below that of its clock. A row is true for its moment, as every refusal is.
-- The look at those who wait counts for each row ("offset 0"): a scan of all locks is then never the cheaper plan.
create function coord.lock_holder(p_project bigint, p_session bigint, p_space bigint, p_key text, p_anc text[], p_branch text)
returns table (expires_at timestamptz, now timestamptz, locked_by text, agent_type text, holder_session text, branch text, reason text, locked_at timestamptz)
language sql stable as $$
  select l.expires_at, coord.now(), l.locked_by, l.agent_type, l.session_name, l.branch, l.reason, l.acquired_at
  from public.file_locks l
  where l.project_id = p_project and l.space = p_space and l.base = p_key and l.key = p_key and l.branch in ('', p_branch)
    and l.session_id <> p_session and l.mode = 'exclusive' and l.expires_at > coord.now()
    and not exists (select from coord.lock_wait_keys w where w.project_id = l.project_id and w.space = l.space and w.base = any (p_anc) offset 0)
$$;

-- Takes one literal key. outcome: acquired and refreshed (token, expires_at), held (the lock in the way, as lock_holder
-- says it), other. A refusal takes no gate and no transaction id and writes nothing.
-- It names the one lock on the file: an exclusive lock shares with nobody, so there is no second. A file that lies in
-- somebody's directory or glob is left to acquire_locks.
-- p_path is how people read the key, p_shown how the audit row does.
create function coord.acquire_lock(p_project bigint, p_session bigint, p_by text, p_space bigint, p_key text, p_anc text[],
  p_path text, p_shown text, p_repo text, p_branch text, p_mode text, p_minutes int, p_reason text,
  out outcome text, out token bigint, out expires_at timestamptz, out now timestamptz, out locked_by text, out agent_type text,
  out holder_session text, out branch text, out reason text, out locked_at timestamptz)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
begin
  select case when l.session_id = p_session then case when l.mode = p_mode then 'mine' else 'other' end
      when l.expires_at <= coord.now() or l.mode = 'shared' or (l.branch <> '' and p_branch = '') or exists (
        select from coord.lock_wait_keys w where w.project_id = p_project and w.space = p_space and w.base = any (p_anc)) then 'other' else 'held' end,
    l.expires_at, coord.now(), l.locked_by, l.agent_type, l.session_name, l.branch, l.reason, l.acquired_at
  into outcome, expires_at, now, locked_by, agent_type, holder_session, branch, reason, locked_at
  from public.file_locks l
  where l.project_id = p_project and l.space = p_space and l.base = p_key and l.key = p_key
    and case when l.session_id = p_session then l.branch = p_branch
      else (l.mode = 'exclusive' or p_mode = 'exclusive') and (l.branch = '' or p_branch = '' or l.branch = p_branch) end
  limit 1;
  if outcome in ('held', 'other') then return; end if;
  if p_minutes not between 1 and 480 or cardinality(p_anc) > 13 or current_setting('transaction_isolation') <> 'read committed' then
    outcome := 'other';
    return;
  end if;
  if outcome = 'mine' then
    update public.file_locks l set expires_at = coord.now() + make_interval(mins => p_minutes), ttl_minutes = p_minutes, reason = coalesce(p_reason, l.reason)
      where l.project_id = p_project and l.space = p_space and l.base = p_key and l.key = p_key and l.branch = p_branch
        and l.session_id = p_session and l.expires_at > coord.now() and exists (
          select from public.agent_sessions s where s.project_id = p_project and s.id = p_session and s.status = 'active')
      returning l.expires_at, l.token into expires_at, token;
    outcome := case when found then 'refreshed' else 'other' end;
    return;
  end if;
  -- Nobody has this very file: the session lock, the gates, and a look at it, its directories and globs.
  perform pg_advisory_xact_lock_shared(hashtextextended('coord.lock.session', p_session));
  perform case when a.n = cardinality(p_anc) and p_mode = 'exclusive'
      then pg_advisory_xact_lock(hashtextextended(a.a, p_project * 1000003 + p_space))::text
      else pg_advisory_xact_lock_shared(hashtextextended(a.a, p_project * 1000003 + p_space))::text end
    from unnest(p_anc) with ordinality a(a, n);
  if exists (select from unnest(p_anc) a(a) cross join lateral (select l.* from public.file_locks l
        where l.project_id = p_project and l.space = p_space and l.base = a.a offset 0) l
      where case when l.session_id = p_session then l.key = p_key and l.branch = p_branch
          else (l.mode = 'exclusive' or p_mode = 'exclusive') and (l.branch = '' or p_branch = '' or l.branch = p_branch)
            and case l.kind when 'l' then l.base = p_key when 'd' then true else p_key like l.lk and p_key ~ l.re end end)
    or exists (select from coord.lock_wait_keys w where w.project_id = p_project and w.space = p_space and w.base = any (p_anc)) then
    outcome := 'other';
    return;
  end if;
  with me as materialized (
    select s.agent_id, s.agent_type, s.session_id, coord.now() now, nextval('coord.lock_token') token from public.agent_sessions s
    where s.project_id = p_project and s.id = p_session and s.status = 'active'),
  taken as (
    insert into public.file_locks (project_id, space, base, key, branch, session_id, kind, mode, token, ttl_minutes,
      acquired_at, expires_at, file_path, locked_by, agent_type, session_name, repository, reason)
    select p_project, p_space, p_key, p_key, p_branch, p_session, 'l', p_mode, m.token, p_minutes,
      m.now, m.now + make_interval(mins => p_minutes), p_path, m.agent_id, m.agent_type, m.session_id, nullif(p_repo, ''), p_reason from me m
    on conflict do nothing returning token, expires_at),
  audited as (
    insert into coord.audit_log (project_id, at, principal, agent_id, agent_type, session_id, operation, object_ids, success, parameters, result, duration_ms)
    select p_project, m.now, p_by, m.agent_id, m.agent_type, m.session_id, 'acquire_lock', array[p_shown], true,
      jsonb_build_object('mode', p_mode, 'ttl_minutes', p_minutes), jsonb_build_object('fencing_token', t.token::text),
      extract(epoch from clock_timestamp() - statement_timestamp()) * 1000
    from me m cross join taken t)
  select t.token, t.expires_at into token, expires_at from taken t;
  outcome := case when found then 'acquired' else 'other' end;
end $$;

-- Releases one literal key that the session holds, on whatever branch. False: ask release_locks.
create function coord.release_lock(p_project bigint, p_session bigint, p_by text, p_space bigint, p_key text, p_anc text[], p_shown text)
returns boolean language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare v_done boolean;
begin
  if cardinality(p_anc) > 13 or current_setting('transaction_isolation') <> 'read committed' then return false; end if;
  perform pg_advisory_xact_lock_shared(hashtextextended(a.a, p_project * 1000003 + p_space)) from unnest(p_anc) a(a);
  if exists (select from coord.lock_wait_keys w where w.project_id = p_project and w.space = p_space and w.base = any (p_anc)) then
    return false;
  end if;
  with freed as (
    delete from public.file_locks l using public.agent_sessions s
    where l.project_id = p_project and l.space = p_space and l.base = p_key and l.key = p_key and l.kind = 'l'
      and l.session_id = p_session and l.expires_at > coord.now()
      and s.project_id = p_project and s.id = p_session and s.status = 'active'
    returning s.agent_id, s.agent_type, s.session_id),
  audited as (
    insert into coord.audit_log (project_id, at, principal, agent_id, agent_type, session_id, operation, object_ids, success, duration_ms)
    select p_project, coord.now(), p_by, f.agent_id, f.agent_type, f.session_id, 'release_lock', array[p_shown], true,
      extract(epoch from clock_timestamp() - statement_timestamp()) * 1000 from freed f limit 1)
  select exists (select from freed) into v_done;
  return v_done;
end $$;

grant execute on function coord.lock_holder, coord.acquire_lock, coord.release_lock to service_role;
