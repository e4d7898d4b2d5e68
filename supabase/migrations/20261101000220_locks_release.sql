-- Freeing, renewing and reading locks. Lock order: see 20261101000200.
set local lock_timeout = '5s';

-- Rows as keys, to ask who overlaps them.
create function coord.lock_row_keys(p_rows public.file_locks[]) returns coord.lock_key[]
language plpgsql stable as $$
begin
  return array(select row(l.space, l.kind, l.base, l.key, l.branch, l.mode, l.file_path, l.repository, '', l.re, l.pre, l.lk,
    coord.lock_anc(l.base))::coord.lock_key from unnest(p_rows) l);
end $$;

-- Topics of the waiters that freed keys may have let through: those in line for them with nobody earlier before them.
create function coord.lock_to_wake(p_project bigint, p_keys coord.lock_key[], p_now timestamptz) returns jsonb
language plpgsql as $$
declare v_wake jsonb;
begin
  if not exists (select from coord.lock_waits w where w.project_id = p_project) then return '[]'; end if;
  with cand as materialized (
    select distinct on (w.wait_id, w.space, w.base, w.key) w.*, q.topic
    from unnest(p_keys) k cross join lateral coord.lock_rivals_waiting(p_project, 0, 9223372036854775807,
        k.space, k.kind, k.base, k.key, k.branch, k.mode, k.re, k.pre, k.lk, k.anc) w
    join coord.lock_waits q on q.project_id = p_project and q.id = w.wait_id
    where q.alive_until > p_now)
  select jsonb_agg(distinct c.topic) into v_wake from cand c where not exists (
    select from cand e where e.wait_id < c.wait_id and e.session_id <> c.session_id and e.space = c.space
      and (e.mode = 'exclusive' or c.mode = 'exclusive') and (e.branch = '' or c.branch = '' or e.branch = c.branch)
      and coord.lock_meet(e.kind, e.base, e.key, e.re, e.pre, e.lk, c.kind, c.base, c.key, c.re, c.pre, c.lk));
  return coalesce(v_wake, '[]');
end $$;

-- Releases keys, or with p_all everything the session holds. p_any: the path in whichever session of the agent holds
-- it. Success when something was freed; not_held names the rest. One audit row. Raises session_lapsed.
create function coord.release_locks(p_project bigint, p_session bigint, p_by text, p_home bigint, p_space bigint[], p_kind text[],
  p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_branch text,
  p_any boolean default false, p_all boolean default false)
returns jsonb language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_me public.agent_sessions := coord.lock_enter(p_project, p_session); v_now timestamptz;
  v_keys coord.lock_key[]; v_anc text[]; v_paths text[]; v_missing text[]; k coord.lock_key; v_one boolean := false; v_found boolean := false;
begin
  if p_all then
    v_keys := coord.lock_row_keys(array(select l from public.file_locks l where l.project_id = p_project and l.session_id = p_session));
  else
    v_keys := coord.lock_keys(p_home, p_space, p_kind, p_base, p_key, p_path, p_repo, p_re, p_pre, p_lk, p_branch, 'exclusive');
    v_one := p_space[1] = all (p_space);
  end if;
  foreach k in array v_keys loop
    v_found := exists (select from public.file_locks l where l.project_id = p_project and l.space = k.space and l.base = k.base
      and l.key = k.key and l.locked_by = v_me.agent_id and (p_any or l.session_id = p_session));
    exit when v_found;
  end loop;
  if v_found then
    if v_one then
      v_anc := array(select distinct a collate "C" from unnest(v_keys) q cross join unnest(q.anc) a order by 1);
    end if;
    perform coord.lock_gates(p_project, v_keys, v_anc, false);
    v_now := coord.now();
    foreach k in array v_keys loop  -- one by one: a join would be planned for the few locks there were then
      delete from public.file_locks l where l.project_id = p_project and l.space = k.space and l.base = k.base and l.key = k.key
        and (p_branch = '' or l.branch = p_branch) and l.expires_at > v_now
        and l.locked_by = v_me.agent_id and (p_any or l.session_id = p_session);
      if found then
        v_paths := v_paths || (case when k.space in (0, p_home) then '' else '@' || k.repo || '//' end || k.path);
      end if;
    end loop;
    v_paths := nullif(array(select distinct x from unnest(v_paths) x order by 1), '{}');
  end if;
  if not p_all and coalesce(cardinality(v_paths), 0) < cardinality(v_keys) then
    v_missing := array(select distinct q.pfx || q.path from unnest(v_keys) q where q.pfx || q.path <> all (coalesce(v_paths, '{}')) order by 1);
  end if;
  if v_paths is null then
    return jsonb_strip_nulls(jsonb_build_object('success', p_all, 'action', case when p_all then 'released' end, 'released', p_all,
      'count', 0, 'file_path', v_keys[1].pfx || v_keys[1].path,
      'reason', case when not p_all then 'lock_not_found_or_not_owner' end, 'not_held', to_jsonb(nullif(v_missing, '{}'))));
  end if;
  perform coord.audit(p_project, p_session, p_by, 'release_lock', v_paths);
  return jsonb_strip_nulls(jsonb_build_object('success', true, 'action', 'released', 'released', true, 'count', cardinality(v_paths),
      'file_path', v_paths[1], 'file_paths', case when cardinality(v_paths) > 1 then to_jsonb(v_paths) end,
      'not_held', to_jsonb(nullif(v_missing, '{}')), 'wake', coord.lock_to_wake(p_project, v_keys, v_now)));
end $$;

-- Frees everything a session holds and waits for; part of its end or lapse (p_reason says why). The caller has already
-- changed the session's status. Waits for the session's calls in flight, so that none of them leaves a lock behind.
-- Takes no gate, so that one transaction may close several sessions; a waiter that joins at this very moment finds out
-- at its next look. A session that did not end by itself finds a notice when it comes back.
create function coord.free_locks(p_project bigint, p_session bigint, p_reason text) returns jsonb
language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_now timestamptz; v_gone public.file_locks[]; v_wait_keys coord.lock_key[]; v_live text[];
begin
  perform pg_advisory_xact_lock(hashtextextended('coord.lock.session', p_session));
  v_now := coord.now();
  with d as (delete from public.file_locks l where l.project_id = p_project and l.session_id = p_session returning l.*)
    select array_agg(d::public.file_locks) into v_gone from d;
  with d as (delete from coord.lock_wait_keys w where w.project_id = p_project and w.session_id = p_session returning w.*)
    select array_agg(row(d.space, d.kind, d.base, d.key, d.branch, d.mode, d.path, null, '', d.re, d.pre, d.lk, d.anc)::coord.lock_key)
    into v_wait_keys from d;
  if v_wait_keys is not null then
    delete from coord.lock_waits w where w.project_id = p_project and w.session_id = p_session;
  end if;
  v_live := array(select distinct g.file_path from unnest(v_gone) g where g.expires_at > v_now order by 1);
  if cardinality(v_live) > 0 and not exists (select from public.agent_sessions s
      where s.project_id = p_project and s.id = p_session and s.status = 'ended') then
    perform coord.notice(p_project, p_session, 'lock_lost',
      format('Your lock on %s%s was freed before its time: %s.', left(v_live[1], 120),
        case when cardinality(v_live) > 1 then format(' and %s more', cardinality(v_live) - 1) else '' end, p_reason),
      jsonb_build_object('file_paths', to_jsonb(v_live[1:20]), 'reason', p_reason));
  end if;
  return jsonb_build_object('released', cardinality(v_live), 'file_paths', to_jsonb(v_live),
    'wake', coord.lock_to_wake(p_project, coord.lock_row_keys(v_gone) || coalesce(v_wait_keys, '{}'), v_now));
end $$;

-- A reviewer's override: frees exactly these keys, whoever holds them (p_agent: only that agent). The holders get a
-- notice with the reason. One audit row.
create function coord.force_release_locks(p_project bigint, p_by text, p_home bigint, p_space bigint[], p_kind text[],
  p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_agent text, p_reason text)
returns jsonb language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_now timestamptz; v_gone public.file_locks[]; v_wake jsonb; v_first public.file_locks; k coord.lock_key;
  v_keys coord.lock_key[] := coord.lock_keys(p_home, p_space, p_kind, p_base, p_key, p_path, p_repo, p_re, p_pre, p_lk, '', 'shared');
begin
  if coalesce(btrim(p_reason), '') = '' then
    perform coord.fail(422, 'invalid', 'reason is needed', 'the holder is told why its lock was taken away', 'say why', 'reason');
  end if;
  perform coord.lock_gates(p_project, v_keys, null, false);
  v_now := coord.now();
  foreach k in array v_keys loop
    with d as (
      delete from public.file_locks l where l.project_id = p_project and l.space = k.space and l.base = k.base and l.key = k.key
        and l.expires_at > v_now and (p_agent is null or l.locked_by = p_agent) returning l.*)
    select v_gone || array_agg(d::public.file_locks order by d.acquired_at) into v_gone from d;
  end loop;
  if v_gone is null then
    return jsonb_build_object('released', false, 'file_path', v_keys[1].pfx || v_keys[1].path, 'count', 0);
  end if;
  v_first := v_gone[1];
  v_wake := coord.lock_mourn(p_project, v_gone, 'force_released', format(' by %s: %s', p_by, left(p_reason, 100)))
    || coord.lock_to_wake(p_project, coord.lock_row_keys(v_gone), v_now);
  perform coord.audit(p_project, null, p_by, 'force_release_lock', array(select distinct g.file_path from unnest(v_gone) g order by 1),
    true, p_reason, null, jsonb_build_object('holders', (select jsonb_agg(distinct g.locked_by) from unnest(v_gone) g)));
  return jsonb_build_object('released', true, 'file_path', v_keys[1].pfx || v_keys[1].path, 'count', cardinality(v_gone),
    'prior_holder_agent_id', v_first.locked_by, 'prior_acquired_at', coord.ts(v_first.acquired_at), 'wake', v_wake);
end $$;

-- Prolongs every live lock of a session by its own ttl (p_minutes: by a new one), if more than a third of it has
-- passed or a new one is given. Never brings back an expired lock. No gate, no audit row: nobody else is affected.
create function coord.renew_session_locks(p_project bigint, p_session bigint, p_minutes int default null) returns jsonb
language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_me public.agent_sessions := coord.lock_enter(p_project, p_session); v_now timestamptz := coord.now(); v_n int; v_held int; v_first timestamptz;
begin
  if p_minutes not between 1 and 480 then
    return jsonb_build_object('success', false, 'reason', 'ttl_out_of_range', 'renewed', 0, 'held', 0);
  end if;
  update public.file_locks l set ttl_minutes = coalesce(p_minutes, l.ttl_minutes),
      expires_at = v_now + make_interval(mins => coalesce(p_minutes, l.ttl_minutes))
    where l.project_id = p_project and l.session_id = p_session and l.expires_at > v_now
      and (p_minutes is not null or l.expires_at < v_now + make_interval(secs => l.ttl_minutes * 40));
  get diagnostics v_n = row_count;
  select count(distinct (l.space, l.file_path, l.branch)), min(l.expires_at) into v_held, v_first from public.file_locks l
    where l.project_id = p_project and l.session_id = p_session and l.expires_at > v_now;
  return jsonb_strip_nulls(jsonb_build_object('success', true, 'renewed', v_n, 'held', v_held, 'expires_at', coord.ts(v_first)));
end $$;

-- Gives back what one grant took (its token), because the one who asked has gone. One audit row.
create function coord.undo_locks(p_project bigint, p_session bigint, p_by text, p_token bigint) returns jsonb
language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_gone public.file_locks[];
begin
  with d as (delete from public.file_locks l where l.project_id = p_project and l.session_id = p_session and l.token = p_token returning l.*)
    select array_agg(d::public.file_locks) into v_gone from d;
  if v_gone is null then return '{"released": 0}'; end if;
  perform coord.audit(p_project, p_session, p_by, 'release_lock', array(select distinct g.file_path from unnest(v_gone) g order by 1),
    true, 'caller_gone');
  return jsonb_build_object('released', cardinality(v_gone), 'wake', coord.lock_to_wake(p_project, coord.lock_row_keys(v_gone), coord.now()));
end $$;

-- Leaves the queue. Wakes whoever stood behind.
create function coord.cancel_wait(p_project bigint, p_session bigint, p_ticket bigint) returns jsonb
language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_keys coord.lock_key[];
begin
  with d as (delete from coord.lock_wait_keys w where w.project_id = p_project and w.wait_id = p_ticket and w.session_id = p_session returning w.*)
    select array_agg(row(d.space, d.kind, d.base, d.key, d.branch, d.mode, d.path, null, '', d.re, d.pre, d.lk, d.anc)::coord.lock_key)
    into v_keys from d;
  delete from coord.lock_waits w where w.project_id = p_project and w.id = p_ticket and w.session_id = p_session;
  return jsonb_build_object('cancelled', v_keys is not null,
    'wake', case when v_keys is null then '[]' else coord.lock_to_wake(p_project, v_keys, coord.now()) end);
end $$;

-- Clears at most p_limit expired rows of all projects: tells the losers, counts, one audit row a project, wakes those
-- in line. Skips rows that somebody works on; takes no gate, for an expired row blocks nobody. Drops dead waiters.
create function coord.sweep_locks(p_limit int default 500) returns jsonb
language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_now timestamptz := coord.now(); v_gone public.file_locks[]; v_mine public.file_locks[]; v_project bigint; v_wake jsonb := '[]';
begin
  with due as (
    select l.ctid c from public.file_locks l where l.expires_at <= v_now limit p_limit for update skip locked),
  d as (delete from public.file_locks l using due where l.ctid = due.c returning l.*)
  select array_agg(d::public.file_locks) into v_gone from d;
  for v_project in select distinct g.project_id from unnest(v_gone) g order by 1 loop
    v_mine := array(select g from unnest(v_gone) g where g.project_id = v_project);
    v_wake := v_wake || coord.lock_to_wake(v_project, coord.lock_row_keys(v_mine), v_now)
      || coord.lock_mourn(v_project, v_mine, 'expired', '');
    perform coord.audit(v_project, null, 'system', 'expire_lock', array(select distinct g.file_path from unnest(v_mine) g order by 1));
  end loop;
  with dead as (delete from coord.lock_waits w where w.alive_until < v_now - interval '1 minute' returning w.project_id, w.id)
    delete from coord.lock_wait_keys k using dead where k.project_id = dead.project_id and k.wait_id = dead.id;
  return jsonb_build_object('expired', coalesce(cardinality(v_gone), 0), 'wake', v_wake);
end $$;

-------------------------------------------------------------------------------------------------- reads
-- Live locks of a project, newest last: those that overlap the given keys (p_space null: all), of an agent, on a
-- branch (which includes locks on every branch). truncated when there are more than p_limit.
create function coord.check_locks(p_project bigint, p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[],
  p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_agent text, p_branch text, p_limit int default 100)
returns jsonb language plpgsql stable security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_now timestamptz := coord.now(); v_rows public.file_locks[]; v_locks jsonb; v_n int;
begin
  if p_space is null then
    v_rows := array(select x.l from (
      select distinct on (l.space, l.file_path, l.branch, l.session_id) l from public.file_locks l
      where l.project_id = p_project and l.expires_at > v_now
        and (p_agent is null or l.locked_by = p_agent) and (p_branch is null or l.branch in ('', p_branch))) x
      order by (x.l).acquired_at, (x.l).token limit p_limit + 1);
  else
    v_rows := array(select x.l from (select distinct on (l.space, l.file_path, l.branch, l.session_id) l from unnest(coord.lock_keys(p_home, p_space, p_kind, p_base, p_key, p_path, p_repo, p_re,
        p_pre, p_lk, coalesce(p_branch, ''), 'exclusive')) k cross join lateral coord.lock_rivals(p_project, 0,
        k.space, k.kind, k.base, k.key, k.branch, k.mode, k.re, k.pre, k.lk, k.anc) l
      where l.expires_at > v_now and (p_agent is null or l.locked_by = p_agent)) x
      order by (x.l).acquired_at, (x.l).token limit p_limit + 1);
  end if;
  v_n := least(cardinality(v_rows), p_limit);
  select jsonb_agg(x.j order by x.acquired_at, x.token) into v_locks from (
    select l.acquired_at, l.token, jsonb_strip_nulls(jsonb_build_object(
      'file_path', case when l.space in (0, p_home) then '' else '@' || l.repository || '//' end || l.file_path,
      'locked_by', l.locked_by, 'agent_type', l.agent_type, 'session_id', l.session_name,
      'mode', l.mode, 'branch', nullif(l.branch, ''),
      'repository', l.repository, 'locked_at', coord.ts(l.acquired_at), 'expires_at', coord.ts(l.expires_at),
      'seconds_left', ceil(extract(epoch from l.expires_at - v_now))::int, 'reason', l.reason, 'fencing_token', l.token::text)) j
    from unnest(v_rows[1:p_limit]) l) x;
  return jsonb_build_object('locks', coalesce(v_locks, '[]'), 'count', coalesce(jsonb_array_length(v_locks), 0),
    'truncated', cardinality(v_rows) > p_limit);
end $$;

-- Is p_token the token of a live lock that covers the key? Raises lease_lost (410) when not, saying what is there.
create function coord.verify_lock(p_project bigint, p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[],
  p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_token bigint)
returns jsonb language plpgsql stable security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_now timestamptz := coord.now(); v_l public.file_locks; v_why text;
  v_k coord.lock_key := (coord.lock_keys(p_home, p_space, p_kind, p_base, p_key, p_path, p_repo, p_re, p_pre, p_lk, '', 'exclusive'))[1];
begin
  select l.* into v_l from coord.lock_rivals(p_project, 0, v_k.space, v_k.kind, v_k.base, v_k.key, v_k.branch, v_k.mode, v_k.re, v_k.pre, v_k.lk, v_k.anc) l
    where l.token = p_token and l.expires_at > v_now
      and (l.key = v_k.key or v_k.kind = 'l' or (l.kind = 'd' and coord.lock_under(v_k.base, l.base))) limit 1;
  if v_l.token is null then
    select case when l.expires_at <= v_now then 'the lock expired at ' || coord.ts(l.expires_at)
        when l.token > p_token then format('%s took it since, with token %s', l.locked_by, l.token)
        else format('the lock there has token %s', l.token) end into v_why
      from coord.lock_rivals(p_project, 0, v_k.space, v_k.kind, v_k.base, v_k.key, v_k.branch, v_k.mode, v_k.re, v_k.pre, v_k.lk, v_k.anc) l order by l.expires_at > v_now desc, l.token desc limit 1;
    perform coord.fail(410, 'lease_lost', format('token %s is not valid for %s', p_token, v_k.pfx || v_k.path),
      coalesce(v_why, 'nobody holds a lock there'), 'do not write; acquire the lock again and re-read the file', 'fencing_token');
  end if;
  return jsonb_build_object('success', true, 'valid', true, 'file_path', v_k.pfx || v_k.path, 'locked_by', v_l.locked_by,
    'fencing_token', v_l.token::text, 'expires_at', coord.ts(v_l.expires_at),
    'seconds_left', ceil(extract(epoch from v_l.expires_at - v_now))::int);
end $$;

grant execute on function coord.lock_space, coord.acquire_locks, coord.release_locks, coord.free_locks, coord.force_release_locks,
  coord.renew_session_locks, coord.undo_locks, coord.cancel_wait, coord.sweep_locks, coord.check_locks, coord.verify_lock to service_role;
