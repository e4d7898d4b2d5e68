-- What people do with agents at work: pause, drain, nudge, hand work over, put off what waits for them.
--
-- A hold keeps a session, an agent, a runner or a whole project from new work. It is one row; who claims or dispatches
-- probes the primary key once (coord.dispatch_hold). kind pause: no new locks either; drain: finish what is there;
-- budget: made and removed by coord.settle_budgets. What is held already stays held, and can be renewed and ended.
-- Lock order: holds, then what is told; a hold never locks the work it keeps back.
set local lock_timeout = '5s';

create table public.holds (
  project_id bigint not null references public.projects (id) on delete cascade,
  target     text   not null,   -- '': the project; 'agent:<id>'; 'session:<internal id>'
  kind       text   not null check (kind in ('pause', 'drain', 'budget')),
  ref        text   not null default '',  -- the budget's name
  agent_id   text   not null,   -- '*': every agent
  session_id text,              -- as people read it
  reason     text   not null check (length(reason) between 1 and 500),
  set_by     text   not null,
  since      timestamptz not null,
  until      timestamptz,       -- ends by itself then
  primary key (project_id, target, kind, ref)
);
alter table public.holds enable row level security;
revoke all on public.holds from anon, authenticated;
grant select on public.holds to anon, authenticated;
grant select, insert, update, delete on public.holds to service_role;
create policy holds_read on public.holds for select to anon, authenticated using (project_id in (select id from public.projects));
create policy holds_service on public.holds to service_role using (true) with check (true);

alter table public.runners add column draining_since timestamptz, add column drain_reason text, add column drained_by text;
-- waits = hold: its agent or project is held; the sweep looks whether it still is.
alter table public.runs drop constraint runs_waits_check, add constraint runs_waits_check check (waits in ('session', 'time', 'hold'));
create index runs_on_hold on public.runs (project_id, id) where status = 'pending' and waits = 'hold';

-- Items that a person put off. who: the person, or the principal where no person is known.
create table coord.snoozed (
  project_id bigint not null references public.projects (id) on delete cascade,
  who        text not null,
  item       text not null check (length(item) between 1 and 200),
  until      timestamptz not null,
  reason     text,
  primary key (project_id, who, item)
);
alter table coord.snoozed enable row level security;

---------------------------------------------------------------------------------------------- probes
-- The hold that keeps an agent (and one of its sessions, null: none in particular) from new work; all null when there is
-- none. One probe a target; a pause goes before a drain, a drain before a budget.
create function coord.dispatch_hold(p_project bigint, p_agent text, p_session bigint) returns public.holds
language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_h public.holds;
begin
  select h.* into v_h from public.holds h
    where h.project_id = p_project and h.target = any (array['', 'agent:' || p_agent, 'session:' || p_session])
      and (h.until is null or h.until > coord.now())
    order by h.kind = 'budget', h.kind = 'drain', h.target limit 1;
  return v_h;
end $$;

-- The pause of a session or its agent: no new locks. All null when there is none.
create function coord.pause_of(p_project bigint, p_agent text, p_session bigint) returns public.holds
language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_h public.holds;
begin
  select h.* into v_h from public.holds h
    where h.project_id = p_project and h.target = any (array['', 'agent:' || p_agent, 'session:' || p_session]) and h.kind = 'pause'
    order by h.target limit 1;
  return v_h;
end $$;

-- A refusal's members: reason, why, next.
create function coord.hold_refusal(p_h public.holds) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('reason', case p_h.kind when 'pause' then 'agent_paused' when 'drain' then 'agent_draining' else 'budget_exhausted' end,
    'why', case p_h.kind
      when 'pause' then pg_catalog.format('%s paused %s: %s', p_h.set_by, coord.held_name(p_h), p_h.reason)
      when 'drain' then pg_catalog.format('%s lets %s finish what it has and take nothing new: %s', p_h.set_by, coord.held_name(p_h), p_h.reason)
      else p_h.reason || coalesce('; it goes on at ' || coord.ts(p_h.until), '') end,
    'next', case p_h.kind
      when 'pause' then 'take nothing new and change no files; ask with wait_seconds, or go on when you are told that it is over'
      when 'drain' then 'finish what you hold, hand off and end the session'
      else 'finish what you hold; a person can raise the budget' end);
end $$;

create function coord.held_name(p_h public.holds) returns text language sql immutable set search_path = '' as $$
  select case when p_h.target = '' then 'every agent' when p_h.session_id is not null then 'session ' || p_h.session_id || ' of ' || p_h.agent_id else p_h.agent_id end
$$;

-- The row's target for an agent ('*': all) and the name of one of its sessions. Raises not_found for a session that the
-- agent does not have, invalid for a session of '*'.
create function coord.hold_target(p_project bigint, p_agent text, p_session text) returns text language plpgsql stable set search_path = '' as $$
declare v_id bigint;
begin
  if p_session is null then return case p_agent when '*' then '' else 'agent:' || p_agent end; end if;
  if p_agent = '*' then
    perform coord.fail(422, 'invalid', 'session goes with one agent', '* stands for every agent', 'name the agent of the session, or leave session out', 'session');
  end if;
  select s.id into v_id from public.agent_sessions s where s.project_id = p_project and s.agent_id = p_agent and s.session_id = p_session;
  if v_id is null then
    perform coord.fail(404, 'not_found', pg_catalog.format('%s has no session %s', p_agent, p_session), coord.like_agents(p_project, p_agent),
      'list the sessions: GET /discovery/agents', 'session');
  end if;
  return 'session:' || v_id;
end $$;

-- Tells the open sessions that a hold concerns. Returns the topics: their notices, and who waits for work.
create function coord.tell_held(p_h public.holds, p_text text) returns text[] language plpgsql set search_path = '' as $$
declare v_wake text[];
begin
  with told as (
    insert into coord.notices (project_id, session_id, kind, text, data)
    select p_h.project_id, s.id, 'info', coord.cut(p_text, 290), pg_catalog.jsonb_build_object('urgency', 'overseer', 'hold', p_h.kind)
    from public.agent_sessions s where s.project_id = p_h.project_id and s.status = 'active' and s.agent_type <> 'person'
      and (p_h.target = '' or s.agent_id = p_h.agent_id) and (p_h.session_id is null or s.session_id = p_h.session_id)
    order by s.last_seen_at desc limit 500 returning session_id)
  select pg_catalog.array_agg(pg_catalog.format('n:%s:%s', p_h.project_id, t.session_id)) into v_wake from told t;
  return coalesce(v_wake, '{}');
end $$;

-- Everybody who may take what a hold kept back looks again.
create function coord.wake_held(p_project bigint) returns text[] language plpgsql stable set search_path = '' as $$
begin
  return array['h:' || p_project || ':+', 'w:0:2:+', coord.live_topic(), coord.work_topic(p_project)]
    || coord.ready_topics(array[p_project], array[1::smallint]) || coord.ready_topics(array[0::bigint], array[2::smallint]);
end $$;

------------------------------------------------------------------------------------- pause and drain
-- Holds an agent ('*': every agent) or one of its sessions. Again: the new reason. Raises not_found, invalid.
create function coord.hold_agent(p_project bigint, p_by text, p_kind text, p_agent text, p_session text, p_reason text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_h public.holds; v_new boolean; v_wake text[];
begin
  if p_agent <> '*' and not exists (select from public.agents a where a.project_id = p_project and a.agent_id = p_agent)
      and not exists (select from public.agent_blueprints b where b.name = p_agent) then
    perform coord.fail(404, 'not_found', pg_catalog.format('there is no agent %s in this project', p_agent), coord.like_agents(p_project, p_agent),
      'list the agents: GET /discovery/agents', 'agent');
  end if;
  insert into public.holds as h (project_id, target, kind, agent_id, session_id, reason, set_by, since)
    values (p_project, coord.hold_target(p_project, p_agent, p_session), p_kind, p_agent, p_session, p_reason, p_by, coord.now())
    on conflict (project_id, target, kind, ref) do update set reason = excluded.reason, set_by = excluded.set_by
    returning h.project_id, h.target, h.kind, h.agent_id, h.session_id, h.reason, h.set_by, h.since, h.xmax = 0
    into v_h.project_id, v_h.target, v_h.kind, v_h.agent_id, v_h.session_id, v_h.reason, v_h.set_by, v_h.since, v_new;
  v_wake := coord.tell_held(v_h, case p_kind
    when 'pause' then pg_catalog.format('%s paused you: %s. Take no new work and change no files until you are told to go on.', p_by, coord.cut(p_reason, 160))
    else pg_catalog.format('%s asks you to finish what you have and take nothing new: %s.', p_by, coord.cut(p_reason, 160)) end);
  perform coord.emit(p_project, 'hold_set', p_session, pg_catalog.jsonb_build_object('kind', p_kind, 'agent_id', p_agent, 'reason', p_reason, 'by', p_by));
  perform coord.audit(p_project, null, p_by, p_kind || '_agent', array_remove(array[p_agent, p_session], null), true, p_reason);
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('success', true, 'already', nullif(not v_new, false), 'agent', p_agent, 'session', p_session,
    'reason', p_reason, 'sessions_told', pg_catalog.cardinality(v_wake), 'wake', v_wake || coord.live_topic()));
end $$;

-- Ends a hold. One that is not there is a result.
create function coord.free_agent(p_project bigint, p_by text, p_kind text, p_agent text, p_session text, p_reason text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_h public.holds; v_wake text[];
begin
  delete from public.holds h where h.project_id = p_project and h.target = coord.hold_target(p_project, p_agent, p_session) and h.kind = p_kind returning * into v_h;
  if v_h.project_id is null then
    return pg_catalog.jsonb_build_object('success', false, 'agent', p_agent, 'reason', case p_kind when 'pause' then 'not_paused' else 'not_draining' end, 'sessions_told', 0);
  end if;
  v_wake := coord.tell_held(v_h, pg_catalog.format('%s lets you go on%s. You may take locks and work again.', p_by, coalesce(': ' || coord.cut(p_reason, 160), '')));
  perform coord.emit(p_project, 'hold_ended', p_session, pg_catalog.jsonb_build_object('kind', p_kind, 'agent_id', p_agent, 'by', p_by));
  perform coord.audit(p_project, null, p_by, case p_kind when 'pause' then 'resume_agent' else 'undrain_agent' end, array_remove(array[p_agent, p_session], null), true, p_reason);
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('success', true, 'agent', p_agent, 'session', p_session, 'reason', p_reason,
    'sessions_told', pg_catalog.cardinality(v_wake), 'wake', v_wake || coord.free_runs(p_project, 500) || coord.wake_held(p_project)));
end $$;

-- Runs that waited for a hold which is over go back to their lanes; at most p_limit. Part of the end of a hold, and of
-- the sweep, which finds what a concurrent claim put aside meanwhile. Skips what others lock.
create function coord.free_runs(p_project bigint, p_limit int) returns text[] language plpgsql set search_path = '' as $$
declare v_due record; v_r public.runs; v_wake text[] := '{}';
begin
  for v_due in select r.project_id, r.id, r.session_id from public.runs r where r.status = 'pending' and r.waits = 'hold' and (p_project is null or r.project_id = p_project)
      and (coord.dispatch_hold(r.project_id, r.agent_name, null)).project_id is null order by r.id limit p_limit loop
    perform 1 from public.sessions s where s.session_id = v_due.session_id for update skip locked;
    continue when not found;
    select * into v_r from public.runs r where r.project_id = v_due.project_id and r.id = v_due.id and r.status = 'pending' and r.waits = 'hold' for update skip locked;
    continue when v_r.id is null;
    v_wake := v_wake || coord.enqueue_run(v_r);
  end loop;
  return v_wake;
end $$;

-- Drains a runner (p_drain) or lets it take runs again. p_only: the project the key is bound to. Raises not_found.
create function coord.drain_runner(p_project bigint, p_only bigint, p_by text, p_runner text, p_drain boolean, p_reason text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r public.runners; v_was boolean;
begin
  select * into v_r from public.runners r where r.runner_id = p_runner and (p_only is null or r.project_id = p_only) for update;
  if v_r.runner_id is null then
    perform coord.fail(404, 'not_found', 'Runner not found', 'it is not registered', 'list them: GET /runners', 'runner_id');
  end if;
  v_was := v_r.draining_since is not null;
  if not v_was and not p_drain then
    return pg_catalog.jsonb_build_object('success', false, 'runner_id', p_runner, 'reason', 'not_draining', 'sessions_told', 0);
  end if;
  update public.runners r set draining_since = case when p_drain then coalesce(r.draining_since, coord.now()) end, drain_reason = case when p_drain then p_reason end,
      drained_by = case when p_drain then p_by end where r.runner_id = p_runner returning * into v_r;
  perform coord.emit(v_r.project_id, 'runner_updated', null, pg_catalog.jsonb_build_object('runner_id', p_runner, 'draining', p_drain));
  perform coord.audit(p_project, null, p_by, case when p_drain then 'drain_runner' else 'undrain_runner' end, array[p_runner], true, p_reason);
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('success', true, 'already', nullif(v_was and p_drain, false), 'runner_id', p_runner, 'reason', p_reason,
    'sessions_told', 0, 'wake', array[coord.runner_topic(p_runner), coord.live_topic()]));
end $$;

-- Every hold of the project, and the runners that drain; p_agent: those that concern it.
create function coord.list_holds(p_project bigint, p_only bigint, p_agent text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_rows jsonb;
begin
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(x.j) order by x.since, x.n) into v_rows from (
    select h.since, h.target as n, pg_catalog.jsonb_build_object('kind', h.kind, 'agent', h.agent_id, 'session', h.session_id, 'reason', h.reason, 'by', h.set_by,
      'since', coord.ts(h.since), 'until', coord.ts(h.until),
      'locks', (select count(*) from public.file_locks l where l.project_id = p_project and l.expires_at > v_now
        and (h.target = '' or l.locked_by = h.agent_id) and (h.session_id is null or l.session_name = h.session_id)),
      'tasks', (select count(*) from coord.lease l join public.agent_sessions s on s.project_id = p_project and s.id = l.session_id
        where l.project_id = p_project and l.queue = 1 and (h.target = '' or s.agent_id = h.agent_id) and (h.session_id is null or s.session_id = h.session_id))) as j
    from public.holds h where h.project_id = p_project and (h.until is null or h.until > v_now) and (p_agent is null or h.agent_id in (p_agent, '*'))
    union all
    select r.draining_since, r.runner_id, pg_catalog.jsonb_build_object('kind', 'drain', 'runner_id', r.runner_id, 'reason', coalesce(r.drain_reason, ''), 'by', r.drained_by,
      'since', coord.ts(r.draining_since), 'locks', 0,
      'tasks', (select count(*) from public.runs x where x.runner_id = r.runner_id and x.status in ('claimed', 'running', 'stopping')))
    from public.runners r where r.draining_since is not null and p_agent is null and (p_only is null or r.project_id = p_only)) x;
  return pg_catalog.jsonb_build_object('holds', coalesce(v_rows, '[]'), 'count', pg_catalog.jsonb_array_length(coalesce(v_rows, '[]')));
end $$;

---------------------------------------------------------------------------------------------- nudges
-- A person's short word to an agent, told with the next call of its open sessions (p_session: of that one only) before
-- everything else. While an earlier nudge of the same person was not taken, nothing is added. Raises not_found.
create function coord.nudge_agent(p_project bigint, p_by text, p_sender text, p_agent text, p_session text, p_text text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_m public.messages; v_out jsonb; v_only bigint; v_thread text := 'nudge:' || pg_catalog.left(p_agent, 190); v_open uuid;
begin
  if not exists (select from public.agents a where a.project_id = p_project and a.agent_id = p_agent) then
    perform coord.fail(404, 'not_found', pg_catalog.format('there is no agent %s in this project', p_agent), coord.like_agents(p_project, p_agent),
      'list the agents: GET /discovery/agents', 'agent');
  end if;
  if p_session is not null then v_only := pg_catalog.substr(coord.hold_target(p_project, p_agent, p_session), 9)::bigint; end if;
  -- Two clicks at once are one nudge.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('coord.nudge:' || p_agent, p_project));
  select m.id into v_open from public.messages m
    join public.message_recipients r on r.project_id = p_project and r.message_id = m.id and r.agent_id = p_agent and r.read_at is null
    where m.project_id = p_project and m.thread = v_thread and m.sender = p_sender and (r.delivered_at is null or exists (
      select from coord.notices n join public.agent_sessions s on s.project_id = p_project and s.id = n.session_id and s.agent_id = p_agent and s.status = 'active'
      where n.project_id = p_project and n.kind = 'message' and n.delivered_at is null and (n.data ->> 'message_id')::uuid = m.id)) limit 1;
  if v_open is not null then
    return pg_catalog.jsonb_build_object('success', true, 'already', true, 'message_id', v_open, 'sessions_told', 0);
  end if;
  v_m.project_id := p_project; v_m.id := coord.uuid7(); v_m.created_at := coord.now(); v_m.thread := v_thread; v_m.sender := p_sender;
  v_m.sender_kind := 'person'; v_m.kind := 'note'; v_m.urgency := 'overseer'; v_m.text := p_text; v_m.ack_required := false;
  v_out := coord.post_message(v_m, array[p_agent], null);
  if v_only is not null then
    delete from coord.notices n using public.agent_sessions s where n.project_id = p_project and s.project_id = p_project and s.id = n.session_id and s.agent_id = p_agent
      and s.id <> v_only and n.kind = 'message' and n.delivered_at is null and (n.data ->> 'message_id')::uuid = v_m.id;
    -- No other session may take it: it counts as delivered, its notice waits.
    update public.message_recipients r set delivered_at = v_m.created_at where r.project_id = p_project and r.agent_id = p_agent and r.message_id = v_m.id;
    v_out := v_out || pg_catalog.jsonb_build_object('wake', array[pg_catalog.format('n:%s:%s', p_project, v_only)]);
  end if;
  perform coord.audit(p_project, null, p_by, 'nudge_agent', array_remove(array[p_agent, p_session], null), true, p_text);
  return v_out || pg_catalog.jsonb_build_object('success', true, 'sessions_told', pg_catalog.jsonb_array_length(v_out -> 'wake'));
end $$;

---------------------------------------------------------------------------------------------- snooze
create function coord.snooze(p_project bigint, p_by text, p_who text, p_item text, p_until timestamptz, p_reason text)
returns jsonb language plpgsql security definer set search_path = '' as $$
begin
  if p_until <= coord.now() or p_until > coord.now() + interval '30 days' then
    perform coord.fail(422, 'invalid', 'until is not within the next 30 days', 'an item is put off, not put away', 'give a time within 30 days', 'until');
  end if;
  delete from coord.snoozed s where s.project_id = p_project and s.who = p_who and s.until < coord.now();
  insert into coord.snoozed (project_id, who, item, until, reason) values (p_project, p_who, p_item, p_until, p_reason)
    on conflict (project_id, who, item) do update set until = excluded.until, reason = excluded.reason;
  perform coord.audit(p_project, null, p_by, 'snooze', array[p_item], true, p_reason, pg_catalog.jsonb_build_object('until', coord.ts(p_until)));
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('item', p_item, 'until', coord.ts(p_until), 'reason', p_reason));
end $$;

create function coord.unsnooze(p_project bigint, p_by text, p_who text, p_item text) returns jsonb language plpgsql security definer set search_path = '' as $$
begin
  delete from coord.snoozed s where s.project_id = p_project and s.who = p_who and s.item = p_item;
  if found then perform coord.audit(p_project, null, p_by, 'unsnooze', array[p_item]); end if;
  return pg_catalog.jsonb_build_object('item', p_item);
end $$;

create function coord.list_snoozed(p_project bigint, p_who text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('items', coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('item', s.item, 'until', coord.ts(s.until),
      'reason', s.reason)) order by s.until, s.item)
    from coord.snoozed s where s.project_id = p_project and s.who = p_who and s.until > coord.now()), '[]'));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.hold_agent(bigint, text, text, text, text, text), coord.free_agent(bigint, text, text, text, text, text),
  coord.drain_runner(bigint, bigint, text, text, boolean, text), coord.list_holds(bigint, bigint, text), coord.nudge_agent(bigint, text, text, text, text, text),
  coord.snooze(bigint, text, text, text, timestamptz, text), coord.unsnooze(bigint, text, text, text), coord.list_snoozed(bigint, text) to service_role;
