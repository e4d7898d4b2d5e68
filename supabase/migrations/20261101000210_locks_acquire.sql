-- Taking locks: gates, blockers, the queue, deadlocks, the grant. Lock order: see the previous file.
set local lock_timeout = '5s';

-- What stands in the way of a request: a held row (wait_id null, until = its expiry) or an earlier waiter (until =
-- when it counts as gone). mine is the requested path, theirs the other's.
create type coord.lock_blocker as (
  mine text, theirs text, session_id bigint, agent_id text, agent_type text, mode text, branch text, reason text,
  since timestamptz, until timestamptz, wait_id bigint, space bigint, base text collate "C", key text collate "C");
-- session_id waits, perhaps through others, for the session that asked; parent is the next one on the way, which
-- holds or asked earlier for path.
create type coord.lock_edge as (session_id bigint, parent bigint, path text);

-- Opens every call that takes or frees locks: refuses any isolation but READ COMMITTED, holds the session in place
-- (its end waits for us, see coord.free_locks), and returns it. Raises session_lapsed.
create function coord.lock_enter(p_project bigint, p_session bigint) returns public.agent_sessions
language plpgsql as $$
declare v_h bigint := hashtextextended('coord.lock.session', p_session);
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform coord.fail(422, 'invalid', 'locks need the isolation level READ COMMITTED',
      'a transaction that keeps one snapshot cannot see who came first', 'call outside a transaction, or in a READ COMMITTED one');
  end if;
  if not pg_try_advisory_xact_lock_shared(v_h) then
    perform pg_advisory_xact_lock_shared(v_h);
  end if;
  return coord.session(p_project, p_session);
end $$;

-- Takes the gates of a request in one order, (space, path), the strongest mode per gate. p_anc: all ancestors of the
-- keys in that order, if they lie in one space; else null. p_change: the keys will be taken, else only freed.
-- Paths deeper than 12 names share the gate of their 12th; a call with more than 64 gates takes coarser ones.
create function coord.lock_gates(p_project bigint, p_keys coord.lock_key[], p_anc text[], p_change boolean) returns void
language plpgsql as $$
declare v_depth int := 12; v_h bigint[]; v_x boolean[]; v_seed bigint := p_project * 1000003; v_bases text[] := '{}'; k coord.lock_key;
begin
  if p_anc is not null and cardinality(p_anc) <= 64 and (select max(cardinality(q.anc)) <= 13 from unnest(p_keys) q) then
    foreach k in array p_keys loop
      if k.kind <> 'l' or (p_change and k.mode = 'exclusive') then v_bases := v_bases || k.base; end if;
    end loop;
    v_seed := v_seed + k.space;
    for i in 1 .. cardinality(p_anc) loop
      if p_anc[i] = any (v_bases) then
        if not pg_try_advisory_xact_lock(hashtextextended(p_anc[i], v_seed)) then
          perform pg_advisory_xact_lock(hashtextextended(p_anc[i], v_seed));
        end if;
      elsif not pg_try_advisory_xact_lock_shared(hashtextextended(p_anc[i], v_seed)) then
        perform pg_advisory_xact_lock_shared(hashtextextended(p_anc[i], v_seed));
      end if;
    end loop;
    return;
  end if;
  select coalesce(max(c.d), 0) into v_depth from (
    select g.d, sum(count(distinct (q.space, q.anc[g.d + 1]))) over (order by g.d) n
    from unnest(p_keys) q cross join lateral generate_series(0, least(cardinality(q.anc) - 1, 12)) g(d)
    group by g.d) c where c.n <= 64;
  select array_agg(y.h order by y.space, y.p), array_agg(y.x order by y.space, y.p) into v_h, v_x from (
    select x.space, x.p, hashtextextended(x.p, v_seed + x.space) h, bool_or(x.x) x from (
      select q.space, q.anc[g.d + 1] collate "C" p,
        g.d = least(cardinality(q.anc) - 1, v_depth)
          and (q.kind <> 'l' or (p_change and q.mode = 'exclusive') or cardinality(q.anc) - 1 > v_depth) x
      from unnest(p_keys) q cross join lateral generate_series(0, least(cardinality(q.anc) - 1, v_depth)) g(d)) x
    group by x.space, x.p) y;
  for i in 1 .. cardinality(v_h) loop
    if v_x[i] then
      perform pg_advisory_xact_lock(v_h[i]);
    else
      perform pg_advisory_xact_lock_shared(v_h[i]);
    end if;
  end loop;
end $$;

-- What stands in the way of the keys for a session: held rows of others, expired ones too, then waiters with a ticket
-- below p_before. Keys that the session already holds are out of the question. At most 400. p_anc: all ancestors of
-- the keys when all are literal and in one space, else null.
create function coord.lock_blockers(p_project bigint, p_session bigint, p_before bigint, p_keys coord.lock_key[],
  p_anc text[], p_now timestamptz) returns coord.lock_blocker[]
language plpgsql as $$
declare v_waiters boolean := exists (select from coord.lock_waits w where w.project_id = p_project); v_keys coord.lock_key[];
begin
  if p_anc is not null and not v_waiters and not exists (
      select from unnest(p_anc) a(a) cross join lateral (select from public.file_locks l where l.project_id = p_project
        and l.space = p_keys[1].space and l.base = a.a and l.session_id <> p_session offset 0) l) then
    return '{}';
  end if;
  v_keys := array(select k from unnest(p_keys) k where not exists (
    select from public.file_locks l where l.project_id = p_project and l.space = k.space and l.base = k.base and l.key = k.key
      and l.branch = k.branch and l.session_id = p_session and l.mode = k.mode and l.expires_at > p_now offset 0));
  return array(
    select row(k.pfx || k.path, k.pfx || l.file_path, l.session_id, l.locked_by, l.agent_type, l.mode, l.branch, l.reason,
        l.acquired_at, l.expires_at, null, l.space, l.base, l.key)::coord.lock_blocker
      from unnest(v_keys) k cross join lateral coord.lock_rivals(p_project, p_session,
        k.space, k.kind, k.base, k.key, k.branch, k.mode, k.re, k.pre, k.lk, k.anc) l
    limit 400)
  || case when v_waiters then array(
    select row(k.pfx || k.path, k.pfx || w.path, w.session_id, q.agent_id, null, w.mode, w.branch, null,
        q.created_at, q.alive_until, w.wait_id, w.space, w.base, w.key)::coord.lock_blocker
      from unnest(v_keys) k cross join lateral coord.lock_rivals_waiting(p_project, p_session, p_before,
        k.space, k.kind, k.base, k.key, k.branch, k.mode, k.re, k.pre, k.lk, k.anc) w
      join coord.lock_waits q on q.project_id = p_project and q.id = w.wait_id
      where q.alive_until > p_now order by w.wait_id
    limit 400) else '{}' end;
end $$;

-- Who waits for a session, directly or through others: nobody, unless it holds or waits for something. Breadth first,
-- backwards from the session, so that the cost follows what it holds and not the length of the queue.
create function coord.lock_behind(p_project bigint, p_session bigint, p_now timestamptz) returns coord.lock_edge[]
language plpgsql as $$
declare v_out coord.lock_edge[] := '{}'; v_front bigint[] := array[p_session]; v_seen bigint[] := v_front; v_level coord.lock_edge[];
begin
  if not exists (select from coord.lock_waits w where w.project_id = p_project)
    or not (exists (select from public.file_locks l where l.project_id = p_project and l.session_id = p_session)
      or exists (select from coord.lock_waits w where w.project_id = p_project and w.session_id = p_session)) then
    return v_out;
  end if;
  loop
    v_level := array(
      select row(e.session_id, e.parent, e.path)::coord.lock_edge from (
        select distinct on (w.session_id) w.session_id, x.parent, x.path
        from coord.lock_wait_keys w
        join coord.lock_waits q on q.project_id = p_project and q.id = w.wait_id and q.alive_until > p_now
        cross join lateral (
          select l.session_id parent, l.file_path path from coord.lock_rivals(p_project, w.session_id,
            w.space, w.kind, w.base, w.key, w.branch, w.mode, w.re, w.pre, w.lk, w.anc) l
            where l.session_id = any (v_front) and l.expires_at > p_now
          union all
          select o.session_id, o.path from coord.lock_rivals_waiting(p_project, w.session_id, w.wait_id,
            w.space, w.kind, w.base, w.key, w.branch, w.mode, w.re, w.pre, w.lk, w.anc) o
            where o.session_id = any (v_front)) x
        where w.project_id = p_project and w.session_id <> all (v_seen)
        order by w.session_id) e);
    exit when cardinality(v_level) = 0;
    v_out := v_out || v_level;
    v_front := array(select e.session_id from unnest(v_level) e);
    v_seen := v_seen || v_front;
  end loop;
  return v_out;
end $$;

-- The live ones of some blockers: expired rows do not block, nor do waiters that wait for the asking session itself.
create function coord.lock_live(p_blockers coord.lock_blocker[], p_edges coord.lock_edge[], p_now timestamptz)
returns coord.lock_blocker[] language plpgsql as $$
begin
  return array(select b from unnest(p_blockers) b where case when b.wait_id is null then b.until > p_now
    else b.session_id not in (select e.session_id from unnest(p_edges) e) end);
end $$;

-- Removes rows that expired before p_now and stand in the way; tells the losers, counts them. Returns how many were
-- removed and the topics to wake; fewer than were seen means that somebody renewed in time.
create function coord.lock_take_over(p_project bigint, p_blockers coord.lock_blocker[], p_agent text, p_now timestamptz)
returns jsonb language plpgsql as $$
declare v_gone public.file_locks[]; v_l public.file_locks; b record;
begin
  for b in select distinct x.space, x.base, x.key, x.branch, x.session_id from unnest(p_blockers) x
    where x.wait_id is null and x.until <= p_now order by 1, 2, 3, 4, 5
  loop
    delete from public.file_locks l where l.project_id = p_project and l.space = b.space and l.base = b.base
      and l.key = b.key and l.branch = b.branch and l.session_id = b.session_id and l.expires_at <= p_now returning l.* into v_l;
    if found then v_gone := v_gone || v_l; end if;
  end loop;
  return jsonb_build_object('removed', coalesce(cardinality(v_gone), 0),
    'wake', coord.lock_mourn(p_project, v_gone, 'expired', format('; %s holds it now', p_agent)));
end $$;

-- Says to each former owner which locks it lost (p_why: expired or force_released) and counts lapses. Returns topics.
create function coord.lock_mourn(p_project bigint, p_gone public.file_locks[], p_why text, p_tail text) returns jsonb
language plpgsql as $$
declare r record; v_wake jsonb := '[]';
begin
  if p_gone is null then return v_wake; end if;
  if p_why = 'expired' then
    update public.agents a set locks_expired = a.locks_expired + x.n
      from (select g.locked_by, count(distinct (g.space, g.file_path)) n from unnest(p_gone) g group by 1 order by 1) x
      where a.project_id = p_project and a.agent_id = x.locked_by;
  end if;
  for r in
    select g.session_id, array_agg(distinct g.file_path) paths, max(g.expires_at) at from unnest(p_gone) g
    group by g.session_id order by g.session_id
  loop
    perform coord.notice(p_project, r.session_id, 'lock_lost',
      format('Your lock on %s%s %s%s.', left(r.paths[1], 120),
        case when cardinality(r.paths) > 1 then format(' and %s more', cardinality(r.paths) - 1) else '' end,
        case p_why when 'expired' then 'expired at ' || to_char(r.at at time zone 'UTC', 'HH24:MI:SS "UTC"') else 'was released by force' end, p_tail),
      jsonb_build_object('file_paths', to_jsonb(r.paths[1:20]), 'reason', p_why, 'expires_at', coord.ts(r.at)));
    v_wake := v_wake || to_jsonb(format('n:%s:%s', p_project, r.session_id));
  end loop;
  return v_wake;
end $$;

-- The reply of a refused request: every conflict (at most 20), who is first in the way, what is free nearby.
create function coord.lock_refused(p_project bigint, p_me public.agent_sessions, p_keys coord.lock_key[],
  p_blockers coord.lock_blocker[], p_now timestamptz) returns jsonb
language plpgsql as $$
declare v_conflicts jsonb; v_b coord.lock_blocker; v_free text[]; v_own text; v_ahead int;
begin
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('file_path', c.mine, 'held_path', nullif(c.theirs, c.mine), 'locked_by', c.agent_id,
      'agent_type', c.agent_type, 'session_id', c.session_name, 'mode', c.mode, 'branch', nullif(c.branch, ''), 'reason', c.reason,
      'locked_at', coord.ts(c.since), 'expires_at', case when c.wait_id is null then coord.ts(c.until) end,
      'seconds_left', case when c.wait_id is null then ceil(extract(epoch from c.until - p_now))::int end,
      'waiting', case when c.wait_id is not null then true end)) order by c.wait_id nulls first, c.since, c.mine),
    max(c.session_name) filter (where c.agent_id = p_me.agent_id)
  into v_conflicts, v_own
  from (select distinct on (b.mine, b.theirs, b.session_id) b.*,
      (select s.session_id from public.agent_sessions s where s.project_id = p_project and s.id = b.session_id) session_name
    from unnest(p_blockers) b order by b.mine, b.theirs, b.session_id, b.wait_id nulls first limit 20) c;
  select b.* into v_b from unnest(p_blockers) b order by b.wait_id nulls first, b.since limit 1;
  select count(distinct b.wait_id) into v_ahead from unnest(p_blockers) b where b.wait_id is not null;
  v_free := array(select distinct k.pfx || k.path from unnest(p_keys) k
      where not exists (select from unnest(p_blockers) b where b.mine = k.pfx || k.path) order by 1 limit 10)
    || array(select b.mine || ' except ' || string_agg(distinct b.theirs, ', ')
      from (select distinct k.pfx || k.path p, k.base, k.space from unnest(p_keys) k where k.kind <> 'l') k
      join lateral (select x.* from unnest(p_blockers) x where x.mine = k.p limit 5) b on true
      group by b.mine, k.base having bool_and(not coord.lock_under(k.base, b.base) or b.key not in (b.base, b.base || '/', './')) limit 5);
  return jsonb_strip_nulls(jsonb_build_object('success', false, 'action', 'blocked', 'reason', 'locked_by_other',
    'file_path', p_keys[1].pfx || p_keys[1].path, 'locked_by', v_b.agent_id, 'lock_reason', v_b.reason,
    'expires_at', case when v_b.wait_id is null then coord.ts(v_b.until) end,
    'conflicts', v_conflicts, 'queue_position', v_ahead + 1,
    'free_nearby', case when cardinality(v_free) > 0 then to_jsonb(v_free) end,
    'next', case when v_own is not null then format('you hold it yourself, in your session %s: release it there, or go on in that session', v_own)
      else 'call again with wait_seconds to queue for it, or work on something else until it is free' end));
end $$;

-- The reply of a request that waits: its place in the queue, and after how many milliseconds to look again at the
-- latest (the first blocker's end, which wakes nobody). Keeps the waiter alive; retry when its ticket was dropped.
create function coord.lock_waiting(p_project bigint, p_me public.agent_sessions, p_ticket bigint, p_keys coord.lock_key[],
  p_live coord.lock_blocker[], p_now timestamptz) returns jsonb
language plpgsql as $$
declare v_until timestamptz; v_ahead int;
begin
  update coord.lock_waits w set alive_until = p_now + interval '5 seconds' where w.project_id = p_project and w.id = p_ticket;
  if not found then return '{"retry": true}'; end if;
  select min(b.until), count(distinct b.wait_id) into v_until, v_ahead from unnest(p_live) b;
  return jsonb_build_object('waiting', true, 'ticket', p_ticket, 'queue_position', v_ahead + 1, 'locked_by', p_live[1].agent_id,
    'file_path', p_live[1].mine,
    'again_ms', greatest(1, ceil(extract(epoch from v_until - p_now) * 1000)),
    'refusal', coord.lock_refused(p_project, p_me, p_keys, p_live, p_now));
end $$;

-- Joins the queue, holding the queue lock and the gates. A request that would close a circle of sessions waiting for
-- each other is refused with the circle instead: it is the victim, nobody else is disturbed.
create function coord.lock_join(p_project bigint, p_me public.agent_sessions, p_topic text, p_keys coord.lock_key[],
  p_live coord.lock_blocker[], p_edges coord.lock_edge[], p_now timestamptz) returns jsonb
language plpgsql as $$
declare v_ticket bigint; v_cycle jsonb := '[]'; v_b coord.lock_blocker; v_at bigint; v_path text; v_e coord.lock_edge; v_name public.agent_sessions;
begin
  select b.* into v_b from unnest(p_live) b join unnest(p_edges) e on e.session_id = b.session_id where b.wait_id is null limit 1;
  if v_b.session_id is not null then
    v_cycle := jsonb_build_array(jsonb_build_object('agent_id', p_me.agent_id, 'session_id', p_me.session_id, 'waits_for', v_b.theirs));
    v_at := v_b.session_id;
    while v_at <> p_me.id loop
      select * into v_e from unnest(p_edges) e where e.session_id = v_at limit 1;
      select * into v_name from public.agent_sessions s where s.project_id = p_project and s.id = v_at;
      v_cycle := v_cycle || jsonb_build_object('agent_id', v_name.agent_id, 'session_id', v_name.session_id, 'waits_for', v_e.path);
      v_at := v_e.parent;
    end loop;
    return coord.lock_refused(p_project, p_me, p_keys, p_live, p_now) || jsonb_build_object('reason', 'deadlock', 'cycle', v_cycle,
      'next', 'each of these waits for the next: release what the last one waits for, then ask for everything in one call');
  end if;
  v_ticket := nextval('coord.lock_ticket');
  insert into coord.lock_waits (project_id, id, session_id, agent_id, topic, created_at, alive_until)
    values (p_project, v_ticket, p_me.id, p_me.agent_id, coalesce(p_topic, format('l:%s:%s', p_project, v_ticket)), p_now, p_now);
  insert into coord.lock_wait_keys (project_id, space, base, key, wait_id, session_id, branch, kind, mode, path, re, pre, lk, anc)
    select p_project, k.space, k.base, k.key, v_ticket, p_me.id, k.branch, k.kind, k.mode, k.path, k.re, k.pre, k.lk, k.anc
    from unnest(p_keys) k;
  return coord.lock_waiting(p_project, p_me, v_ticket, p_keys, p_live, p_now);
end $$;

-- Writes the rows of a granted request, under its gates. A key held already keeps its token and acquired_at (renewal)
-- unless its mode changes or it had expired. One audit row names the newly taken paths.
create function coord.lock_grant(p_project bigint, p_home bigint, p_me public.agent_sessions, p_by text, p_keys coord.lock_key[],
  p_minutes int, p_reason text, p_ticket bigint, p_now timestamptz) returns jsonb
language plpgsql as $$
declare v_token bigint := nextval('coord.lock_token'); v_new text[]; v_locks jsonb; v_first bigint;
begin
  with up as (
    insert into public.file_locks as l (project_id, space, base, key, branch, session_id, kind, mode, token, ttl_minutes,
      acquired_at, expires_at, file_path, locked_by, agent_type, session_name, repository, reason, re, pre, lk)
    select p_project, k.space, k.base, k.key, k.branch, p_me.id, k.kind, k.mode, v_token, p_minutes,
      p_now, p_now + make_interval(mins => p_minutes), k.path, p_me.agent_id, p_me.agent_type, p_me.session_id, k.repo, p_reason, k.re, k.pre, k.lk
    from unnest(p_keys) k
    on conflict (project_id, space, base, key, branch, session_id) do update set
      token = case when l.expires_at > p_now and l.mode = excluded.mode then l.token else excluded.token end,
      acquired_at = case when l.expires_at > p_now and l.mode = excluded.mode then l.acquired_at else excluded.acquired_at end,
      mode = excluded.mode, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
      agent_type = excluded.agent_type, reason = coalesce(excluded.reason, l.reason)
    returning l.file_path, l.token, l.key, l.space, case when l.space in (0, p_home) then '' else '@' || l.repository || '//' end || l.file_path shown)
  select array_agg(u.shown) filter (where u.token = v_token), case when cardinality(p_keys) > 1 then
      jsonb_agg(jsonb_build_object('file_path', u.shown, 'fencing_token', u.token::text)) end,
      max(u.token) filter (where u.key = p_keys[1].key and u.space = p_keys[1].space)
    into v_new, v_locks, v_first
    from (select distinct on (u.shown) u.* from up u order by u.shown, u.token) u;
  if p_ticket is not null then
    delete from coord.lock_wait_keys w where w.project_id = p_project and w.wait_id = p_ticket;
    delete from coord.lock_waits w where w.project_id = p_project and w.id = p_ticket;
  end if;
  if v_new is not null then
    perform coord.audit(p_project, p_me.id, p_by, 'acquire_lock', v_new, true, null,
      jsonb_build_object('mode', p_keys[1].mode, 'ttl_minutes', p_minutes), jsonb_build_object('fencing_token', v_token::text));
  end if;
  return jsonb_build_object('success', true, 'action', case when v_new is null then 'refreshed' else 'acquired' end,
      'file_path', p_keys[1].pfx || p_keys[1].path, 'mode', p_keys[1].mode,
      'expires_at', coord.ts(p_now + make_interval(mins => p_minutes)), 'fencing_token', v_first::text,
      'grant', case when v_new is null then 0 else v_token end)
    || case when jsonb_array_length(v_locks) > 1 then jsonb_build_object('locks', v_locks) else '{}' end;
end $$;

-- Takes all keys or none. Replies granted, refused, deadlock, ttl_out_of_range, or, with p_wait, waiting (look again
-- with p_ticket when woken on p_topic or after again_ms) and retry (call again, with a new ticket).
-- Refused without waiting it takes no gate, no transaction id, and writes nothing. Raises session_lapsed.
create function coord.acquire_locks(p_project bigint, p_session bigint, p_by text, p_home bigint, p_space bigint[], p_kind text[],
  p_base text[], p_key text[], p_path text[], p_repo text[], p_re text[], p_pre text[], p_lk text[], p_branch text, p_mode text,
  p_minutes int, p_reason text, p_wait boolean default false, p_topic text default null, p_ticket bigint default null)
returns jsonb language plpgsql security definer set search_path = ''
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare v_me public.agent_sessions := coord.lock_enter(p_project, p_session); v_now timestamptz := coord.now();
  v_keys coord.lock_key[] := coord.lock_keys(p_home, p_space, p_kind, p_base, p_key, p_path, p_repo, p_re, p_pre, p_lk, p_branch, p_mode);
  v_anc text[]; v_lit text[]; v_b coord.lock_blocker[]; v_live coord.lock_blocker[]; v_edges coord.lock_edge[] := '{}'; v_expired int;
  v_before bigint := coalesce(p_ticket, 9223372036854775807); v_joining boolean := false; v_taken jsonb; v_wake jsonb := '[]';
begin
  if p_minutes not between 1 and 480 then
    return jsonb_build_object('success', false, 'action', 'blocked', 'reason', 'ttl_out_of_range', 'next', 'give ttl_minutes between 1 and 480');
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
