-- Messages between agents (and persons, whose address is person:<name>), and handoff documents.
--
-- A message is stored once and has a row for each recipient. Every session of the recipient that is open when it is
-- sent gets a notice; a message that no session took yet is handed to the next one that asks. A session is told once,
-- and nobody is told of a message that the recipient has read.
set local lock_timeout = '5s';

create table public.messages (
  project_id     bigint not null references public.projects (id) on delete cascade,
  id             uuid not null default coord.uuid7(),
  thread         text not null check (length(thread) between 1 and 200),
  reply_to       uuid,
  sender         text not null,
  sender_session text,
  sender_kind    text not null check (sender_kind in ('agent', 'person')),
  kind           text not null check (kind in ('note', 'question', 'answer', 'request', 'warning', 'handoff')),
  urgency        text not null check (urgency in ('normal', 'high', 'overseer')),
  text           text not null check (length(text) between 1 and 4000),
  ack_required   boolean not null default false,
  created_at     timestamptz not null default coord.now(),
  primary key (project_id, id)
);
create index messages_thread on public.messages (project_id, thread, id);
create index messages_sender on public.messages (project_id, sender, id);

create table public.message_recipients (
  project_id   bigint not null,
  agent_id     text not null check (length(agent_id) between 1 and 210),
  message_id   uuid not null,
  delivered_at timestamptz,  -- a session took the notice, or the message was read
  read_at      timestamptz,
  acked_at     timestamptz,
  primary key (project_id, agent_id, message_id),
  foreign key (project_id, message_id) references public.messages (project_id, id) on delete cascade
);
create index message_recipients_message on public.message_recipients (project_id, message_id);
create index message_recipients_waiting on public.message_recipients (project_id, agent_id, message_id)
  where delivered_at is null and read_at is null;
create index message_recipients_unread on public.message_recipients (project_id, agent_id, message_id) where read_at is null;

create index notices_age on coord.notices (created_at);  -- for their removal

-- Mail is for members: an anonymous reader never sees it, not even in a project with anon_read.
alter table public.messages enable row level security;
alter table public.message_recipients enable row level security;
revoke all on public.messages, public.message_recipients from anon, authenticated;
grant select on public.messages, public.message_recipients to authenticated;
grant select, insert, update, delete on public.messages, public.message_recipients to service_role;
create policy messages_read on public.messages for select to authenticated using (project_id in (select id from public.projects));
create policy message_recipients_read on public.message_recipients for select to authenticated
  using (project_id in (select id from public.projects));
create policy messages_service on public.messages to service_role using (true) with check (true);
create policy message_recipients_service on public.message_recipients to service_role using (true) with check (true);

-- At most p_bytes bytes of a text, without half a character.
create function coord.cut(p_text text, p_bytes int) returns text language sql immutable parallel safe set search_path = '' as $$
  select case when pg_catalog.octet_length(p_text) <= p_bytes then p_text
    else (select pg_catalog.left(p_text, max(n)) from pg_catalog.generate_series(0, least(p_bytes, length(p_text))) n
          where pg_catalog.octet_length(pg_catalog.left(p_text, n)) <= p_bytes) || '…' end
$$;

-- The notice's words (at most 300 bytes) and data for a message. complete: the words have all of the text.
create function coord.message_notice_text(p_m public.messages) returns text language sql immutable set search_path = '' as $$
  select pg_catalog.format('%s%s from %s: %s%s', case when p_m.urgency = 'normal' then '' else p_m.urgency || ' ' end, p_m.kind,
    coord.cut(p_m.sender, 40), coord.cut(p_m.text, 180),
    case when pg_catalog.octet_length(p_m.text) > 180 then ' (list_messages has all of it)'
         when p_m.ack_required then ' (acknowledge it: ack_message)' else '' end)
$$;
create function coord.message_notice_data(p_m public.messages) returns jsonb language sql immutable set search_path = '' as $$
  select pg_catalog.jsonb_build_object('message_id', p_m.id, 'from', p_m.sender, 'thread', p_m.thread, 'urgency', p_m.urgency,
    'ack_required', p_m.ack_required, 'complete', pg_catalog.octet_length(p_m.text) <= 180)
$$;

-- Stores a message for its recipients and queues its notices. Returns {message_id, wake}; wake has the topics of
-- every session told. Called by functions that have checked everything.
create function coord.post_message(p_m public.messages, p_to text[], p_session bigint)
returns jsonb language plpgsql set search_path = '' as $$
declare v_wake text[]; v_text text := coord.message_notice_text(p_m); v_data jsonb := coord.message_notice_data(p_m);
begin
  insert into public.messages select p_m.*;
  insert into public.message_recipients (project_id, agent_id, message_id)
    select p_m.project_id, x, p_m.id from pg_catalog.unnest(p_to) x order by x;
  with open as (
    select s.id, row_number() over (partition by s.agent_id order by s.last_seen_at desc, s.id desc) as n
    from public.agent_sessions s
    where s.project_id = p_m.project_id and s.agent_id = any (p_to) and s.status = 'active' and s.id is distinct from p_session),
  told as (
    insert into coord.notices (project_id, session_id, kind, text, data)
    select p_m.project_id, o.id, 'message', v_text, v_data from open o where o.n <= 20  -- an id shared by hundreds tells its latest twenty
    returning session_id)
  select pg_catalog.array_agg(pg_catalog.format('n:%s:%s', p_m.project_id, t.session_id)) into v_wake from told t;
  return pg_catalog.jsonb_build_object('message_id', p_m.id, 'wake', coalesce(v_wake, '{}'));
end $$;

-- Agents whose name resembles p_name, as text for an error; the ones heard last when none does.
create function coord.like_agents(p_project bigint, p_name text) returns text language sql stable set search_path = '' as $$
  select coalesce(
    (select 'did you mean ' || pg_catalog.string_agg(x.agent_id, ' or ') || '?' from (
      select a.agent_id from public.agents a where a.project_id = p_project
        and (pg_catalog.lower(a.agent_id) = pg_catalog.lower(p_name)
          or pg_catalog.starts_with(pg_catalog.lower(a.agent_id), pg_catalog.lower(pg_catalog.left(p_name, greatest(3, length(p_name) - 2))))
          or pg_catalog.starts_with(pg_catalog.lower(p_name), pg_catalog.lower(a.agent_id))
          or pg_catalog.regexp_replace(pg_catalog.lower(a.agent_id), '[^a-z0-9]', '', 'g') = pg_catalog.regexp_replace(pg_catalog.lower(p_name), '[^a-z0-9]', '', 'g'))
      order by a.last_seen_at desc limit 3) x),
    (select 'agents heard last: ' || pg_catalog.string_agg(x.agent_id, ', ') from (
      select a.agent_id from public.agents a where a.project_id = p_project order by a.last_seen_at desc limit 5) x),
    'who_is_active lists whom you can reach')
$$;

-- Whom a message goes to: '*' is everybody with an open session heard within a day, but the sender. Raises invalid for
-- names never seen in the project unless p_unknown, for nobody at all, and for more than 200.
create function coord.message_recipients_of(p_project bigint, p_sender text, p_to text[], p_unknown boolean, out v_to text[], out v_unknown text[])
language plpgsql stable set search_path = '' as $$
begin
  select pg_catalog.array_agg(distinct x.name) into v_to from (
    select u as name from pg_catalog.unnest(p_to) u where u <> '*' and u <> ''
    union
    select s.agent_id from public.agent_sessions s where '*' = any (p_to) and s.project_id = p_project and s.status = 'active'
      and s.agent_id <> p_sender and greatest(s.last_seen_at, s.heartbeat_at) > coord.now() - interval '24 hours') x;
  select pg_catalog.array_agg(x order by x) into v_unknown from pg_catalog.unnest(v_to) x
    where not exists (select from public.agents a where a.project_id = p_project and a.agent_id = x)
      and not exists (select from coord.persons p where 'person:' || p.name = x);
  if v_unknown is not null and not p_unknown then
    perform coord.fail(422, 'invalid', pg_catalog.format('nobody named %s was ever seen in this project', pg_catalog.array_to_string(v_unknown, ', ')),
      'a message to a misspelt name would wait for ever; nothing was sent',
      coord.like_agents(p_project, v_unknown[1]) || ' allow_unknown=true keeps it for an agent that is still to come', 'to');
  end if;
  if v_to is null then
    perform coord.fail(422, 'invalid', 'there is nobody to send it to', case when '*' = any (p_to) then 'no other agent has an open session' else 'to is empty' end,
      'name agents in to; who_is_active lists them', 'to');
  end if;
  if pg_catalog.cardinality(v_to) > 200 then
    perform coord.fail(422, 'invalid', 'a message has at most 200 recipients', null, 'name the agents it concerns', 'to');
  end if;
end $$;

-- Sends a message. p_session is the sender's session (null for a person), p_sender its address. A reply goes to the
-- sender of the original unless p_to says otherwise, joins its thread, and acknowledges it. Messages of persons are
-- of urgency overseer. Raises invalid (recipients), not_found (reply_to).
create function coord.send_message(p_project bigint, p_session bigint, p_by text, p_sender text, p_to text[], p_text text,
  p_thread text, p_reply_to uuid, p_kind text, p_urgency text, p_ack boolean, p_unknown boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_m public.messages; v_orig public.messages; v_to text[] := p_to; v_unknown text[]; v_out jsonb; v_now timestamptz := coord.now();
begin
  if p_session is not null then v_m.sender_session := (coord.session(p_project, p_session)).session_id; end if;
  if p_reply_to is not null then
    select * into v_orig from public.messages m where m.project_id = p_project and m.id = p_reply_to;
    if v_orig.id is null then
      perform coord.fail(404, 'not_found', 'there is no message ' || p_reply_to::text, null, 'list_messages shows ids', 'reply_to');
    end if;
    if coalesce(pg_catalog.cardinality(v_to), 0) = 0 then v_to := array[v_orig.sender]; end if;
    update public.message_recipients r set acked_at = coalesce(r.acked_at, v_now), read_at = coalesce(r.read_at, v_now), delivered_at = coalesce(r.delivered_at, v_now)
      where r.project_id = p_project and r.agent_id = p_sender and r.message_id = p_reply_to;
    perform coord.hush_notices(p_project, p_sender, array[p_reply_to]);
  end if;
  select x.v_to, x.v_unknown into v_to, v_unknown from coord.message_recipients_of(p_project, p_sender, v_to, p_unknown) x;
  v_m.project_id := p_project; v_m.id := coord.uuid7(); v_m.created_at := v_now;
  v_m.thread := coalesce(p_thread, v_orig.thread, v_m.id::text); v_m.reply_to := p_reply_to;
  v_m.sender := p_sender; v_m.sender_kind := case when p_session is null then 'person' else 'agent' end;
  v_m.kind := coalesce(p_kind, case when p_reply_to is null then 'note' else 'answer' end);
  v_m.urgency := case when p_session is null then 'overseer' else coalesce(p_urgency, 'normal') end;
  v_m.text := p_text; v_m.ack_required := p_ack;
  v_out := coord.post_message(v_m, v_to, p_session);
  perform coord.audit(p_project, p_session, p_by, 'send_message', array[v_m.id::text], true, null,
    pg_catalog.jsonb_build_object('to', v_to, 'kind', v_m.kind, 'thread', v_m.thread, 'length', length(p_text)));
  return pg_catalog.jsonb_strip_nulls(v_out || pg_catalog.jsonb_build_object('success', true, 'thread', v_m.thread,
    'recipients', v_to, 'sessions_told', pg_catalog.jsonb_array_length(v_out -> 'wake'), 'unknown_recipients', v_unknown));
end $$;

-- Takes back waiting notices of messages that the agent has read meanwhile.
create function coord.hush_notices(p_project bigint, p_agent text, p_ids uuid[])
returns void language plpgsql set search_path = '' as $$
begin
  update coord.notices n set delivered_at = coord.now()
    where n.project_id = p_project and n.kind = 'message' and n.delivered_at is null and (n.data ->> 'message_id')::uuid = any (p_ids)
      and n.session_id in (select s.id from public.agent_sessions s where s.project_id = p_project and s.agent_id = p_agent);
end $$;

create function coord.message_json(p_m public.messages, p_full boolean) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('message_id', p_m.id, 'from', p_m.sender, 'from_kind', p_m.sender_kind,
    'kind', p_m.kind, 'urgency', p_m.urgency, 'text', p_m.text, 'thread', p_m.thread, 'reply_to', p_m.reply_to,
    'ack_required', p_m.ack_required, 'created_at', coord.ts(p_m.created_at),
    'recipients', case when p_full then (select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('agent_id', r.agent_id,
        'delivered_at', coord.ts(r.delivered_at), 'read_at', coord.ts(r.read_at), 'acked_at', coord.ts(r.acked_at))) order by r.agent_id)
      from public.message_recipients r where r.project_id = p_m.project_id and r.message_id = p_m.id) end))
$$;

-- The mailbox of p_agent. p_box: unread (urgent ones first, then oldest; marked read unless p_peek), all (newest
-- first), sent (newest first, with what became of each). p_thread narrows to one thread.
create function coord.list_messages(p_project bigint, p_agent text, p_box text, p_thread text, p_limit int, p_peek boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_ids uuid[]; v_rows jsonb; v_unread bigint; v_more boolean; v_now timestamptz := coord.now();
begin
  if p_box = 'sent' then
    select pg_catalog.array_agg(x.id) into v_ids from (select m.id from public.messages m where m.project_id = p_project and m.sender = p_agent
      and (p_thread is null or m.thread = p_thread) order by m.id desc limit p_limit + 1) x;
  else
    select pg_catalog.array_agg(x.id order by x.n) into v_ids from (
      select m.id, row_number() over (order by case when p_box = 'unread' then m.urgency <> 'overseer' end,
          case when p_box = 'unread' then m.urgency <> 'high' end, case when p_box = 'unread' then m.id end, m.id desc) as n
      from public.message_recipients r join public.messages m on m.project_id = r.project_id and m.id = r.message_id
      where r.project_id = p_project and r.agent_id = p_agent and (p_box = 'all' or r.read_at is null) and (p_thread is null or m.thread = p_thread)
      order by n limit p_limit + 1) x;
  end if;
  v_more := coalesce(pg_catalog.cardinality(v_ids), 0) > p_limit;
  v_ids := v_ids[1:p_limit];
  select pg_catalog.jsonb_agg(coord.message_json(m, p_box = 'sent') || case when p_box = 'sent' then '{}' else
      pg_catalog.jsonb_build_object('unread', r.read_at is null, 'acknowledged', r.acked_at is not null) end order by i.n) into v_rows
    from pg_catalog.unnest(v_ids) with ordinality i (id, n)
    join public.messages m on m.project_id = p_project and m.id = i.id
    left join public.message_recipients r on r.project_id = p_project and r.agent_id = p_agent and r.message_id = m.id;
  if p_box <> 'sent' and not p_peek and v_ids is not null then
    update public.message_recipients r set read_at = v_now, delivered_at = coalesce(r.delivered_at, v_now)
      where r.project_id = p_project and r.agent_id = p_agent and r.message_id = any (v_ids) and r.read_at is null;
    if found then perform coord.hush_notices(p_project, p_agent, v_ids); end if;
  end if;
  select count(*) into v_unread from (select from public.message_recipients r
    where r.project_id = p_project and r.agent_id = p_agent and r.read_at is null limit 1000) x;
  return pg_catalog.jsonb_build_object('messages', coalesce(v_rows, '[]'), 'count', coalesce(pg_catalog.cardinality(v_ids), 0), 'truncated', v_more, 'unread', v_unread);
end $$;

-- Acknowledges messages; the sending session is told of those that asked for it. Ids that are not in the mailbox are
-- named in unknown. Acknowledging twice changes nothing.
create function coord.ack_messages(p_project bigint, p_session bigint, p_by text, p_agent text, p_ids uuid[])
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_done uuid[]; v_known uuid[]; v_wake text[];
begin
  if p_session is not null then perform coord.session(p_project, p_session); end if;
  select pg_catalog.array_agg(r.message_id) into v_known from public.message_recipients r
    where r.project_id = p_project and r.agent_id = p_agent and r.message_id = any (p_ids);
  with acked as (
    update public.message_recipients r set acked_at = v_now, read_at = coalesce(r.read_at, v_now), delivered_at = coalesce(r.delivered_at, v_now)
    where r.project_id = p_project and r.agent_id = p_agent and r.message_id = any (p_ids) and r.acked_at is null returning r.message_id)
  select pg_catalog.array_agg(a.message_id) into v_done from acked a;
  perform coord.hush_notices(p_project, p_agent, v_known);
  with told as (
    insert into coord.notices (project_id, session_id, kind, text, data)
    select p_project, s.id, 'info', pg_catalog.format('%s acknowledged your message: %s', pg_catalog.left(p_agent, 60), pg_catalog.left(m.text, 100)),
      pg_catalog.jsonb_build_object('message_id', m.id, 'by', p_agent)
    from public.messages m join public.agent_sessions s on s.project_id = m.project_id and s.agent_id = m.sender and s.session_id = m.sender_session and s.status = 'active'
    where m.project_id = p_project and m.id = any (v_done) and m.ack_required
    returning session_id)
  select pg_catalog.array_agg(distinct pg_catalog.format('n:%s:%s', p_project, t.session_id)) into v_wake from told t;
  if v_done is not null then
    perform coord.audit(p_project, p_session, p_by, 'ack_message', v_done::text[], true, null, pg_catalog.jsonb_build_object('by', p_agent));
  end if;
  return pg_catalog.jsonb_build_object('success', v_known is not null, 'acknowledged', coalesce(v_done, '{}'),
    'unknown', (select coalesce(pg_catalog.jsonb_agg(x), '[]') from pg_catalog.unnest(p_ids) x where x <> all (coalesce(v_known, '{}'))),
    'wake', coalesce(v_wake, '{}'));
end $$;

-- Hands over at most p_limit waiting notices of a session, messages of persons first, then oldest first, and marks
-- them delivered. Messages that no session of the agent took yet join the queue here, so that a session opened after
-- they were sent is told too. A message shown whole and needing no acknowledgement counts as read.
-- more = how many are still waiting.
create function coord.take_notices(p_project bigint, p_session bigint, p_limit int default 3)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_notices jsonb; v_more bigint; v_agent text; v_mail uuid[]; v_now timestamptz;
begin
  select s.agent_id into v_agent from public.agent_sessions s where s.project_id = p_project and s.id = p_session;
  perform from public.message_recipients r where r.project_id = p_project and r.agent_id = v_agent and r.delivered_at is null and r.read_at is null limit 1;
  if found then perform coord.queue_mail(p_project, p_session, v_agent); end if;
  perform from coord.notices n where n.project_id = p_project and n.session_id = p_session and n.delivered_at is null limit 1;
  if not found then return '{"notices": [], "more": 0}'; end if;
  v_now := coord.now();
  with due as (
    select n.id from coord.notices n where n.project_id = p_project and n.session_id = p_session and n.delivered_at is null
    order by (n.data ->> 'urgency') is distinct from 'overseer', n.id limit p_limit for update skip locked),
  taken as (
    update coord.notices n set delivered_at = v_now from due where n.project_id = p_project and n.id = due.id
    returning n.id, n.kind, n.text, n.data, n.created_at)
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('kind', t.kind, 'text', t.text, 'data', t.data, 'at', coord.ts(t.created_at)))
      order by (t.data ->> 'urgency') is distinct from 'overseer', t.id),
    pg_catalog.array_agg((t.data ->> 'message_id')::uuid) filter (where t.kind = 'message')
    into v_notices, v_mail from taken t;
  if v_mail is not null then
    update public.message_recipients r set delivered_at = coalesce(r.delivered_at, v_now),
        read_at = case when pg_catalog.octet_length(m.text) <= 180 and not m.ack_required then coalesce(r.read_at, v_now) else r.read_at end
      from public.messages m where m.project_id = p_project and m.id = any (v_mail)
        and r.project_id = p_project and r.agent_id = v_agent and r.message_id = m.id;
  end if;
  select count(*) into v_more from coord.notices n where n.project_id = p_project and n.session_id = p_session and n.delivered_at is null;
  return pg_catalog.jsonb_build_object('notices', coalesce(v_notices, '[]'), 'more', v_more);
end $$;

-- Queues for a session the mail of its agent that nobody took yet, unless it waits there already. The oldest twenty.
create function coord.queue_mail(p_project bigint, p_session bigint, p_agent text)
returns void language plpgsql set search_path = '' as $$
begin
  insert into coord.notices (project_id, session_id, kind, text, data)
    select p_project, p_session, 'message', coord.message_notice_text(m), coord.message_notice_data(m)
    from (select r.message_id from public.message_recipients r
          where r.project_id = p_project and r.agent_id = p_agent and r.delivered_at is null and r.read_at is null
          order by r.message_id limit 20 for update skip locked) r
    join public.messages m on m.project_id = p_project and m.id = r.message_id
    where not exists (select from coord.notices n where n.project_id = p_project and n.session_id = p_session and n.delivered_at is null
      and n.kind = 'message' and (n.data ->> 'message_id')::uuid = m.id);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
