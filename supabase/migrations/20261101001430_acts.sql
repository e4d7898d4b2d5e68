-- Acts that wait for a person, guardrails on destructive commands, and what needs a second person.
--
-- An act is stored with everything that is needed to do it and is done with its approval, once, by who approved it and in
-- the name of who asked. An act of kind command is a tool call of an agent: approved, that very command goes through once.
-- The rules themselves live in the program; here stand a project's changes to them and its own.
set local lock_timeout = '5s';

create table public.acts (
  project_id   bigint not null references public.projects (id) on delete cascade,
  id           uuid   not null default coord.uuid7(),
  kind         text   not null check (kind in ('command', 'work', 'force_release', 'policies', 'guardrails', 'safeguards')),
  operation    text   not null,
  title        text   not null,
  why          text,
  arguments    jsonb  not null default '{}',
  repository   text,
  agent_id     text,
  agent_type   text,
  session_id   text,
  requested_by text   not null,
  digest       bytea,                 -- of a command: what is to be let through
  status       text   not null default 'pending' check (status in ('pending', 'approved', 'denied', 'used')),
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  decided_by   text,
  decided_at   timestamptz,
  comment      text,
  primary key (project_id, id)
);
create index acts_open on public.acts (project_id, created_at) where status in ('pending', 'approved');
create unique index acts_command on public.acts (project_id, agent_id, digest) where kind = 'command' and status in ('pending', 'approved');

create table public.guardrail_rules (
  project_id bigint not null references public.projects (id) on delete cascade,
  rule       text   not null check (rule ~ '^[a-z0-9][a-z0-9_-]{0,59}$'),
  action     text   not null check (action in ('deny', 'ask', 'allow')),
  pattern    text   check (length(pattern) between 1 and 500),  -- of a rule of the project's own
  reason     text   not null,
  set_by     text   not null,
  set_at     timestamptz not null,
  primary key (project_id, rule)
);

create table public.guardrail_violations (
  project_id bigint not null references public.projects (id) on delete cascade,
  id         bigint generated always as identity,
  at         timestamptz not null,
  agent_id   text,
  session_id text,
  principal  text   not null,
  rule       text   not null,
  action     text   not null check (action in ('deny', 'ask', 'allow', 'approved')),
  place      text   not null check (place in ('hook', 'queue')),
  command    text   not null,
  why        text,
  act_id     uuid,
  primary key (project_id, id)
);
create index guardrail_violations_at on public.guardrail_violations (project_id, at);

alter table public.acts enable row level security;
alter table public.guardrail_rules enable row level security;
alter table public.guardrail_violations enable row level security;
revoke all on public.acts, public.guardrail_rules, public.guardrail_violations from anon, authenticated;
revoke all on sequence public.guardrail_violations_id_seq from anon, authenticated;
grant select on public.acts, public.guardrail_rules, public.guardrail_violations to authenticated;
grant select, insert, update, delete on public.acts, public.guardrail_rules, public.guardrail_violations to service_role;
grant usage on sequence public.guardrail_violations_id_seq to service_role;
create policy acts_read on public.acts for select to authenticated using (project_id in (select id from public.projects));
create policy acts_service on public.acts to service_role using (true) with check (true);
create policy guardrail_rules_read on public.guardrail_rules for select to authenticated using (project_id in (select id from public.projects));
create policy guardrail_rules_service on public.guardrail_rules to service_role using (true) with check (true);
create policy guardrail_violations_read on public.guardrail_violations for select to authenticated using (project_id in (select id from public.projects));
create policy guardrail_violations_service on public.guardrail_violations to service_role using (true) with check (true);

------------------------------------------------------------------------------------------------- acts
create function coord.act_wire(p_a public.acts, p_now timestamptz) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('act_id', p_a.id, 'kind', p_a.kind, 'operation', p_a.operation, 'title', p_a.title, 'why', p_a.why, 'arguments', p_a.arguments,
    'agent_id', p_a.agent_id, 'session_id', p_a.session_id, 'requested_by', p_a.requested_by, 'created_at', coord.ts(p_a.created_at), 'expires_at', coord.ts(p_a.expires_at),
    'status', case when p_a.status in ('pending', 'approved') and p_a.expires_at <= p_now then 'expired' else p_a.status end,
    'decided_by', p_a.decided_by, 'decided_at', coord.ts(p_a.decided_at), 'comment', p_a.comment));
end $$;

-- Stores an act that waits, for 72 hours. p_in: kind, operation, title, why, arguments, repository, agent_id, agent_type,
-- session_id. One audit row.
create function coord.hold_act(p_project bigint, p_by text, p_in jsonb) returns uuid language plpgsql security definer set search_path = '' as $$
declare v_id uuid := coord.uuid7(); v_now timestamptz := coord.now();
begin
  insert into public.acts (project_id, id, kind, operation, title, why, arguments, repository, agent_id, agent_type, session_id, requested_by, created_at, expires_at)
    values (p_project, v_id, p_in ->> 'kind', p_in ->> 'operation', pg_catalog.left(p_in ->> 'title', 300), pg_catalog.left(p_in ->> 'why', 1000), coalesce(p_in -> 'arguments', '{}'),
      nullif(p_in ->> 'repository', ''), nullif(p_in ->> 'agent_id', ''), nullif(p_in ->> 'agent_type', ''), nullif(p_in ->> 'session_id', ''), p_by, v_now, v_now + interval '72 hours');
  perform coord.emit(p_project, 'act_waits', nullif(p_in ->> 'session_id', ''), pg_catalog.jsonb_build_object('act_id', v_id, 'kind', p_in ->> 'kind', 'title', p_in ->> 'title'));
  perform coord.audit(p_project, null, p_by, 'hold_act', array[v_id::text, p_in ->> 'operation'], true, p_in ->> 'why');
  return v_id;
end $$;

-- Takes an act's decision. p_vote approve: a command may be made once; any other act is used up, and the caller does it in
-- the same transaction. Who asked may not decide, nor the agent itself. Returns the act with repository, agent_type and
-- wake. Raises not_found, conflict (decided, expired), forbidden.
create function coord.decide_act(p_project bigint, p_by text, p_agent text, p_id uuid, p_vote text, p_comment text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_a public.acts; v_now timestamptz; v_wake text[] := '{}'; v_session bigint;
begin
  select * into v_a from public.acts a where a.project_id = p_project and a.id = p_id for update;
  v_now := coord.now();
  if v_a.id is null then perform coord.fail(404, 'not_found', 'there is no act ' || p_id::text, 'no act has that id, or it is of another project', 'list them: GET /acts', 'act_id'); end if;
  if v_a.status <> 'pending' or v_a.expires_at <= v_now then
    perform coord.fail(409, 'conflict', 'this act does not wait any more', case when v_a.status = 'pending' then 'it expired at ' || coord.ts(v_a.expires_at) else 'it is ' || v_a.status || coalesce(' by ' || v_a.decided_by, '') end,
      'let it be asked for again');
  end if;
  if p_agent is not null and p_agent = v_a.agent_id or p_by = v_a.requested_by and v_a.kind not in ('command', 'work') then
    perform coord.fail(403, 'forbidden', 'you may not decide about what you asked for', v_a.requested_by || ' asked for it', 'ask another person to decide');
  end if;
  update public.acts a set status = case when p_vote = 'deny' then 'denied' when a.kind = 'command' then 'approved' else 'used' end, decided_by = p_by, decided_at = v_now, comment = p_comment,
      expires_at = case when p_vote = 'approve' and a.kind = 'command' then v_now + interval '1 hour' else a.expires_at end
    where a.project_id = p_project and a.id = p_id returning * into v_a;
  select s.id into v_session from public.agent_sessions s where s.project_id = p_project and s.agent_id = v_a.agent_id and s.session_id = v_a.session_id and s.status = 'active';
  if v_session is not null then
    perform coord.notice(p_project, v_session, 'info', coord.cut(pg_catalog.format('%s %s: %s%s%s', p_by, case p_vote when 'deny' then 'denied' else 'approved' end, coord.cut(v_a.title, 120),
      coalesce(' (' || coord.cut(p_comment, 60) || ')', ''), case when v_a.status = 'approved' then '. Run exactly that command again, within the hour.' else '.' end), 290),
      pg_catalog.jsonb_build_object('urgency', 'overseer', 'act_id', v_a.id, 'status', v_a.status));
    v_wake := array[pg_catalog.format('n:%s:%s', p_project, v_session)];
  end if;
  perform coord.emit(p_project, 'act_decided', v_a.session_id, pg_catalog.jsonb_build_object('act_id', v_a.id, 'status', v_a.status, 'by', p_by));
  perform coord.audit(p_project, null, p_by, p_vote || '_act', array[v_a.id::text, v_a.operation], true, p_comment, pg_catalog.jsonb_build_object('requested_by', v_a.requested_by, 'title', v_a.title));
  return coord.act_wire(v_a, v_now) || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('repository', v_a.repository, 'agent_type', v_a.agent_type)) || pg_catalog.jsonb_build_object('wake', v_wake || coord.live_topic());
end $$;

create function coord.list_acts(p_project bigint, p_status text, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_rows jsonb; v_n int; v_open boolean := p_status = 'pending';
begin
  select pg_catalog.jsonb_agg(coord.act_wire(a.act, v_now) order by a.n) filter (where a.n <= p_limit), count(*) into v_rows, v_n from (
    select x as act, row_number() over (order by case when v_open then x.created_at end, x.created_at desc) n from public.acts x
    where x.project_id = p_project and case p_status when 'all' then true when 'expired' then x.status in ('pending', 'approved') and x.expires_at <= v_now
      when 'pending' then x.status = 'pending' and x.expires_at > v_now when 'approved' then x.status = 'approved' and x.expires_at > v_now else x.status = p_status end
    order by case when v_open then x.created_at end, x.created_at desc limit p_limit + 1) a;
  return pg_catalog.jsonb_build_object('acts', coalesce(v_rows, '[]'), 'truncated', v_n > p_limit);
end $$;

------------------------------------------------------------------------------------------ guardrails
create function coord.guardrail_rules(p_project bigint) returns jsonb language sql stable security definer set search_path = '' as $$
  select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('rule', r.rule, 'action', r.action, 'pattern', r.pattern, 'reason', r.reason, 'set_by', r.set_by,
    'set_at', coord.ts(r.set_at))) order by r.rule), '[]') from public.guardrail_rules r where r.project_id = p_project
$$;

-- Sets or (p_action default) takes back a project's change of a rule. p_pattern: a rule of its own.
create function coord.set_guardrail(p_project bigint, p_by text, p_rule text, p_action text, p_pattern text, p_reason text) returns void language plpgsql security definer set search_path = '' as $$
begin
  if p_action = 'default' then
    delete from public.guardrail_rules r where r.project_id = p_project and r.rule = p_rule;
  else
    insert into public.guardrail_rules (project_id, rule, action, pattern, reason, set_by, set_at) values (p_project, p_rule, p_action, p_pattern, p_reason, p_by, coord.now())
      on conflict (project_id, rule) do update set action = excluded.action, pattern = excluded.pattern, reason = excluded.reason, set_by = excluded.set_by, set_at = excluded.set_at;
  end if;
  perform coord.audit(p_project, null, p_by, 'set_guardrail', array[p_rule], true, p_reason, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('action', p_action, 'pattern', p_pattern)));
end $$;

-- Notes what a rule caught. One audit row is the caller's matter.
create function coord.guardrail_hit(p_project bigint, p_by text, p_agent text, p_session text, p_rule text, p_action text, p_place text, p_command text, p_why text, p_act uuid)
returns void language sql security definer set search_path = '' as $$
  insert into public.guardrail_violations (project_id, at, agent_id, session_id, principal, rule, action, place, command, why, act_id)
  values (p_project, coord.now(), p_agent, p_session, p_by, p_rule, p_action, p_place, pg_catalog.left(p_command, 4000), p_why, p_act)
$$;

-- What is done with a command that meets rules. p_actions: {rule: action as delivered}; the project's changes apply. The
-- strictest counts. A command that a person approved goes through once. Returns {action, rule, act_id?, approved?, by?}.
create function coord.check_guardrail(p_project bigint, p_session bigint, p_by text, p_actions jsonb, p_command text, p_why text, p_tool text, p_asks boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions := coord.session(p_project, p_session); v_rule text; v_action text; v_digest bytea := pg_catalog.sha256(pg_catalog.convert_to(p_command, 'UTF8'));
  v_a public.acts; v_now timestamptz := coord.now(); v_out jsonb;
begin
  select x.rule, x.action into v_rule, v_action from (
    select d.key as rule, coalesce(r.action, d.value) as action from pg_catalog.jsonb_each_text(p_actions) d
    left join public.guardrail_rules r on r.project_id = p_project and r.rule = d.key) x
    order by pg_catalog.array_position(array['deny', 'ask', 'allow'], x.action), x.rule limit 1;
  if v_action <> 'allow' then
    update public.acts a set status = 'used' where a.project_id = p_project and a.agent_id = v_s.agent_id and a.digest = v_digest and a.kind = 'command' and a.status = 'approved'
      and a.expires_at > v_now returning * into v_a;
    if v_a.id is not null then
      v_out := pg_catalog.jsonb_build_object('action', 'allow', 'rule', v_rule, 'approved', true, 'by', v_a.decided_by);
    elsif v_action = 'deny' or not p_asks then
      delete from public.acts a where a.project_id = p_project and a.agent_id = v_s.agent_id and a.digest = v_digest and a.kind = 'command' and a.status in ('pending', 'approved') and a.expires_at <= v_now;
      insert into public.acts as a (project_id, kind, operation, title, why, arguments, agent_id, agent_type, session_id, requested_by, digest, created_at, expires_at)
        values (p_project, 'command', 'command', pg_catalog.left(v_rule || ': ' || p_command, 300), p_why, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('command', p_command, 'rule', v_rule, 'tool', p_tool)),
          v_s.agent_id, v_s.agent_type, v_s.session_id, p_by, v_digest, v_now, v_now + interval '72 hours')
        on conflict (project_id, agent_id, digest) where kind = 'command' and status in ('pending', 'approved') do update set session_id = excluded.session_id
        returning * into v_a;
      perform coord.emit(p_project, 'act_waits', v_s.session_id, pg_catalog.jsonb_build_object('act_id', v_a.id, 'kind', 'command', 'title', v_a.title));
      v_out := pg_catalog.jsonb_build_object('action', 'deny', 'rule', v_rule, 'act_id', v_a.id);
    end if;
  end if;
  v_out := coalesce(v_out, pg_catalog.jsonb_build_object('action', v_action, 'rule', v_rule));
  perform coord.guardrail_hit(p_project, p_by, v_s.agent_id, v_s.session_id, v_rule, case when v_out ? 'approved' then 'approved' else v_out ->> 'action' end, 'hook', p_command, p_why, v_a.id);
  perform coord.audit(p_project, p_session, p_by, 'check_guardrail', array[v_rule], true, p_why, pg_catalog.jsonb_build_object('command', pg_catalog.left(p_command, 500), 'tool', p_tool), v_out);
  return v_out || pg_catalog.jsonb_build_object('wake', array[coord.live_topic()]);
end $$;

create function coord.list_guardrail_hits(p_project bigint, p_agent text, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('id', v.id::text, 'at', coord.ts(v.at), 'agent_id', v.agent_id, 'session_id', v.session_id, 'rule', v.rule, 'action', v.action,
      'where', v.place, 'command', v.command, 'why', v.why, 'act_id', v.act_id)) order by v.id desc) filter (where v.n <= p_limit), count(*) into v_rows, v_n
    from (select x.*, row_number() over (order by x.id desc) n from public.guardrail_violations x where x.project_id = p_project and (p_agent is null or x.agent_id = p_agent) order by x.id desc limit p_limit + 1) v;
  return pg_catalog.jsonb_build_object('hits', coalesce(v_rows, '[]'), 'truncated', v_n > p_limit);
end $$;

------------------------------------------------------------------------------------------ safeguards
-- Which acts need a second person in this project.
create function coord.safeguards(p_project bigint) returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('two_person', coalesce((select p.settings -> 'two_person' from public.projects p where p.id = p_project), '[]'))
$$;

create function coord.set_safeguards(p_project bigint, p_by text, p_acts text[], p_reason text) returns jsonb language plpgsql security definer set search_path = '' as $$
begin
  update public.projects p set settings = p.settings || pg_catalog.jsonb_build_object('two_person', (select coalesce(pg_catalog.jsonb_agg(distinct x order by x), '[]') from pg_catalog.unnest(p_acts) x)) where p.id = p_project;
  perform coord.audit(p_project, null, p_by, 'set_safeguards', p_acts, true, p_reason);
  return coord.safeguards(p_project);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.hold_act(bigint, text, jsonb), coord.decide_act(bigint, text, text, uuid, text, text), coord.list_acts(bigint, text, int), coord.guardrail_rules(bigint),
  coord.set_guardrail(bigint, text, text, text, text, text), coord.check_guardrail(bigint, bigint, text, jsonb, text, text, text, boolean), coord.list_guardrail_hits(bigint, text, int),
  coord.guardrail_hit(bigint, text, text, text, text, text, text, text, text, uuid), coord.safeguards(bigint), coord.set_safeguards(bigint, text, text[], text) to service_role;
