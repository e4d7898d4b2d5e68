-- What a pause does to locks: a session that is paused, or whose agent is, takes none that it does not have. It keeps and
-- renews what it has, and leaves the queue at its next look. One probe of public.holds where a lock is taken; a refusal or
-- a renewal costs none.
set local lock_timeout = '5s';

-- Takes one literal key. outcome: acquired and refreshed (token, expires_at), held (the lock in the way, as lock_holder
-- says it), other. A refusal takes no gate and no transaction id and writes nothing.
-- It names the one lock on the file: an exclusive lock shares with nobody, so there is no second. A file that lies in
-- somebody's directory or glob is left to acquire_locks.
-- p_path is how people read the key, p_shown how the audit row does.
create or replace function coord.acquire_lock(p_project bigint, p_session bigint, p_by text, p_space bigint, p_key text, p_anc text[],
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
    where s.project_id = p_project and s.id = p_session and s.status = 'active'
    and not exists (select from public.holds h where h.project_id = p_project and h.target in ('', 'agent:' || s.agent_id, 'session:' || p_session) and h.kind = 'pause')),
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

-- acquire_lock for each of the calls, exclusive, answered in order. p_anc: the ancestors of a key, one a line.
-- v_try: nobody is in the way at the gates. v_free: nothing at all is held or waited for around the key, and no earlier
-- call of the batch takes it.
create or replace function coord.acquire_lock_many(p_project bigint[], p_session bigint[], p_by text[], p_space bigint[], p_key text[], p_anc text[],
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
    where u.free and u.minutes between 1 and 480
      and not exists (select from public.holds h where h.project_id = u.project and h.target in ('', 'agent:' || s.agent_id, 'session:' || u.session) and h.kind = 'pause')),
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

-- Takes all keys or none. Replies granted, refused, deadlock, ttl_out_of_range, or, with p_wait, waiting (look again
-- with p_ticket when woken on p_topic or after again_ms) and retry (call again, with a new ticket).
-- Refused without waiting it takes no gate, no transaction id, and writes nothing. Raises session_lapsed.
create or replace function coord.acquire_locks(p_project bigint, p_session bigint, p_by text, p_home bigint, p_space bigint[], p_kind text[],
  p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_branch text, p_mode text,
  p_minutes int, p_reason text, p_wait boolean default false, p_topic text default null, p_ticket bigint default null)
returns jsonb language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_me public.agent_sessions := coord.lock_enter(p_project, p_session); v_now timestamptz := coord.now();
  v_keys coord.lock_key[] := coord.lock_keys(p_home, p_space, p_kind, p_base, p_key, p_path, p_repo, p_re, p_pre, p_lk, p_branch, p_mode);
  v_anc text[]; v_lit text[]; v_b coord.lock_blocker[]; v_live coord.lock_blocker[]; v_edges coord.lock_edge[] := '{}'; v_expired int;
  v_before bigint := coalesce(p_ticket, 9223372036854775807); v_joining boolean := false; v_taken jsonb; v_wake jsonb := '[]'; v_hold public.holds; v_refusal jsonb;
begin
  if p_minutes not between 1 and 480 then
    return jsonb_build_object('success', false, 'action', 'blocked', 'reason', 'ttl_out_of_range', 'next', 'give ttl_minutes between 1 and 480');
  end if;
  v_hold := coord.pause_of(p_project, v_me.agent_id, p_session);
  if v_hold.project_id is not null and exists (select from unnest(v_keys) k where not exists (select from public.file_locks l where l.project_id = p_project
      and l.space = k.space and l.base = k.base and l.key = k.key and l.branch = k.branch and l.session_id = p_session and l.mode = k.mode and l.expires_at > v_now)) then
    if p_ticket is not null then v_wake := coord.cancel_wait(p_project, p_session, p_ticket) -> 'wake'; end if;
    v_refusal := coord.hold_refusal(v_hold);
    return (v_refusal - 'why') || jsonb_build_object('success', false, 'lock_reason', v_refusal -> 'why', 'action', 'blocked', 'file_path', v_keys[1].pfx || v_keys[1].path, 'wake', v_wake);
  end if;
  if p_space[1] = all (p_space) then
    v_anc := array(select distinct a collate "C" from unnest(v_keys) k cross join unnest(k.anc) a order by 1);
    if 'l' = all (p_kind) then v_lit := v_anc; end if;
  end if;
  v_b := coord.lock_blockers(p_project, p_session, v_before, v_keys, v_lit, v_now);
  if cardinality(v_b) > 0 then
    if (v_b[cardinality(v_b)]).wait_id is not null then v_edges := coord.lock_behind(p_project, p_session, v_now); end if;
    v_live := coord.lock_live(v_b, v_edges, v_now);
    if cardinality(v_live) > 0 then
      if not p_wait then return coord.lock_refused(p_project, v_me, v_keys, v_live, v_now); end if;
      if p_ticket is not null then return coord.lock_waiting(p_project, v_me, p_ticket, v_keys, v_live, v_now); end if;
      perform pg_advisory_xact_lock(hashtextextended('coord.lock.queue', p_project));
      v_joining := true;
    end if;
  end if;
  perform coord.lock_gates(p_project, v_keys, v_anc, true);
  for v_try in 1 .. 100 loop
    v_now := coord.now();
    v_b := coord.lock_blockers(p_project, p_session, v_before, v_keys, v_lit, v_now);
    exit when cardinality(v_b) = 0;
    if v_joining or (v_b[cardinality(v_b)]).wait_id is not null then v_edges := coord.lock_behind(p_project, p_session, v_now); end if;
    v_live := coord.lock_live(v_b, v_edges, v_now);
    if cardinality(v_live) > 0 then
      if not p_wait then return coord.lock_refused(p_project, v_me, v_keys, v_live, v_now); end if;
      if p_ticket is not null then return coord.lock_waiting(p_project, v_me, p_ticket, v_keys, v_live, v_now); end if;
      if not v_joining then return '{"retry": true}'; end if;
      return coord.lock_join(p_project, v_me, p_topic, v_keys, v_live, v_edges, v_now);
    end if;
    select count(distinct (b.space, b.base, b.key, b.branch, b.session_id)) into v_expired from unnest(v_b) b where b.wait_id is null;
    exit when v_expired = 0;
    v_taken := coord.lock_take_over(p_project, v_b, v_me.agent_id, v_now);
    v_wake := v_wake || (v_taken -> 'wake');
    exit when (v_taken ->> 'removed')::int = v_expired and cardinality(v_b) < 400;
  end loop;
  return coord.lock_grant(p_project, p_home, v_me, p_by, v_keys, p_minutes, p_reason, p_ticket, v_now) || jsonb_build_object('wake', v_wake);
end $$;
