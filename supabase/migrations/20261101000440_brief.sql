-- What an agent reads to find its way: the brief at the start of a session, the digest of what changed, the audit
-- trail. And the housekeeping of what nobody reads any more.
set local lock_timeout = '5s';

-- The brief of a session: what it holds, what others hold, five ready tasks it may take, up to three unread messages
-- (the ones from persons first) and the newest handoff that concerns it. Texts are cut. The messages count as told,
-- and those shown whole that want no acknowledgement as read.
create function coord.session_brief(p_project bigint, p_session bigint)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_now timestamptz := coord.now(); v_mail uuid[]; v_out jsonb;
begin
  v_s := coord.session(p_project, p_session);
  select pg_catalog.array_agg(x.id) into v_mail from (select m.id from public.message_recipients r
    join public.messages m on m.project_id = r.project_id and m.id = r.message_id
    where r.project_id = p_project and r.agent_id = v_s.agent_id and r.read_at is null
    order by m.urgency <> 'overseer', m.urgency <> 'high', m.id limit 3) x;
  v_out := pg_catalog.jsonb_build_object(
    'project', (select p.name from public.projects p where p.id = p_project), 'agent_id', v_s.agent_id, 'session_id', v_s.session_id,
    'others_active', (select count(*) from public.agent_sessions s where s.project_id = p_project and s.id <> p_session and s.status = 'active'
      and greatest(s.last_seen_at, s.heartbeat_at) > v_now - interval '15 minutes'),
    'unread', (select count(*) from (select from public.message_recipients r
      where r.project_id = p_project and r.agent_id = v_s.agent_id and r.read_at is null limit 100) x))
    || coord.brief_locks(p_project, p_session, v_now) || coord.brief_work(p_project, v_s);
  v_out := v_out || pg_catalog.jsonb_build_object('messages', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'message_id', m.id, 'from', m.sender, 'kind', m.kind, 'text', coord.cut(m.text, 180), 'more', nullif(pg_catalog.octet_length(m.text) > 180, false),
      'ack_required', nullif(m.ack_required, false)))
      order by m.urgency <> 'overseer', m.urgency <> 'high', m.id), '[]') from public.messages m where m.project_id = p_project and m.id = any (v_mail)),
    'handoff', (select pg_catalog.jsonb_build_object('agent_name', h.agent_name, 'summary', pg_catalog.left(h.summary, 400), 'next_steps',
        (select coalesce(pg_catalog.jsonb_agg(pg_catalog.left(case when pg_catalog.jsonb_typeof(e) = 'string' then e #>> '{}' else e::text end, 120)), '[]')
         from (select e from pg_catalog.jsonb_array_elements(h.next_steps) e limit 3) x), 'created_at', coord.ts(h.created_at))
      from public.handoff_documents h
      where h.project_id = p_project and (h.to_agent is null or h.to_agent = v_s.agent_id) and h.created_at > v_now - interval '14 days'
      order by h.to_agent is null, h.agent_name <> v_s.agent_id, h.id desc limit 1));
  if v_mail is not null then
    update public.message_recipients r set delivered_at = coalesce(r.delivered_at, v_now),
        read_at = case when pg_catalog.octet_length(m.text) <= 180 and not m.ack_required then v_now end
      from public.messages m where m.project_id = p_project and m.id = any (v_mail)
        and r.project_id = p_project and r.agent_id = v_s.agent_id and r.message_id = m.id and r.read_at is null;
    update coord.notices n set delivered_at = v_now where n.project_id = p_project and n.session_id = p_session and n.delivered_at is null
      and n.kind = 'message' and (n.data ->> 'message_id')::uuid = any (v_mail);
  end if;
  return pg_catalog.jsonb_strip_nulls(v_out);
end $$;

-- What the session holds, and the locks of others that run longest.
create function coord.brief_locks(p_project bigint, p_session bigint, p_now timestamptz)
returns jsonb language plpgsql stable set search_path = '' as $$
declare v_mine jsonb; v_n_mine bigint; v_others jsonb; v_n_others bigint;
begin
  select count(*), pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('file_path', pg_catalog.left(l.file_path, 120),
      'expires_at', coord.ts(l.expires_at)) order by l.n) filter (where l.n <= 5)
    into v_n_mine, v_mine from (select *, row_number() over (order by l.expires_at, l.file_path) as n from public.file_locks l
      where l.project_id = p_project and l.session_id = p_session and l.expires_at > p_now) l;
  select count(*), pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'file_path', pg_catalog.left(l.file_path, 120), 'locked_by', l.locked_by,
      'reason', pg_catalog.left(l.reason, 80), 'expires_at', coord.ts(l.expires_at))) order by l.n) filter (where l.n <= 5)
    into v_n_others, v_others from (select *, row_number() over (order by l.expires_at desc, l.file_path) as n from public.file_locks l
      where l.project_id = p_project and l.session_id <> p_session and l.expires_at > p_now) l;
  return pg_catalog.jsonb_build_object('my_locks', coalesce(v_mine, '[]'), 'my_locks_total', v_n_mine,
    'others_locks', coalesce(v_others, '[]'), 'others_locks_total', v_n_others);
end $$;

-- The session's tasks and the first ready ones it may take.
create function coord.brief_work(p_project bigint, p_s public.agent_sessions)
returns jsonb language plpgsql stable set search_path = '' as $$
declare v_classes int[] := coord.match_classes(p_project, 1::smallint, coord.work_claimer(p_s, null, null));
  v_mine jsonb; v_ready jsonb; v_n bigint;
begin
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', w.task_id, 'task_type', pg_catalog.left(w.task_type, 40),
      'description', pg_catalog.left(w.description, 120),
      'lease_until', coord.ts(w.lease_until)) order by w.id) into v_mine
    from (select w.* from coord.lease l join public.work_queue w on w.project_id = p_project and w.id = l.id
      where l.project_id = p_project and l.queue = 1 and l.session_id = p_s.id and w.session_id = p_s.id
        and w.status in ('claimed', 'running') order by w.id limit 5) w;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', w.task_id, 'task_type', pg_catalog.left(w.task_type, 40),
      'description', pg_catalog.left(w.description, 120),
      'priority', w.priority) order by w.priority, w.id) into v_ready
    from (select w.* from (
        -- The best five of each class, then the best five of these: an index scan a class, however long the queue.
        select x.id, x.priority from pg_catalog.unnest(v_classes) c cross join lateral (select r.id, r.priority from coord.ready r
          where r.project_id = p_project and r.queue = 1 and r.class_id = c order by r.priority, r.id limit 5) x
        order by x.priority, x.id limit 5) r
      join public.work_queue w on w.project_id = p_project and w.id = r.id) w;
  select count(*) into v_n from (select from coord.ready r where r.project_id = p_project and r.queue = 1 and r.class_id = any (v_classes) limit 100) x;
  return pg_catalog.jsonb_build_object('my_tasks', coalesce(v_mine, '[]'), 'ready', coalesce(v_ready, '[]'), 'ready_total', v_n);
end $$;

---------------------------------------------------------------------------------------------- digest
-- Up to where in the audit trail each reader has seen the digest.
create table coord.digest_marks (
  project_id bigint not null references public.projects (id) on delete cascade,
  reader     text not null,
  audit_id   bigint not null,
  at         timestamptz not null,
  primary key (project_id, reader)
);
alter table coord.digest_marks enable row level security;

-- What others changed since p_reader looked last (a day at the first time), from at most the newest 2000 rows of the
-- audit trail, and the tasks whose type starts with "newsletter". p_agent: whose own changes are left out. Moves the
-- mark unless p_peek.
create function coord.project_digest(p_project bigint, p_reader text, p_agent text, p_peek boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_mark coord.digest_marks; v_since timestamptz; v_rows jsonb; v_n bigint; v_last bigint; v_news jsonb; v_counts jsonb;
begin
  select * into v_mark from coord.digest_marks d where d.project_id = p_project and d.reader = p_reader;
  v_since := coalesce(v_mark.at, v_now - interval '24 hours');
  with recent as (
    select a.* from coord.audit_log a where a.project_id = p_project and a.id > coalesce(v_mark.audit_id, 0) and a.at > v_since - interval '1 minute'
    order by a.id desc limit 2000),
  told as (
    select r.*, row_number() over (partition by r.operation order by r.id desc) as n from recent r
    where r.success and r.agent_id is distinct from p_agent),
  kinds as (
    select t.operation, count(*) as n, max(t.id) as last,
      pg_catalog.array_agg(distinct coalesce(t.agent_id, t.principal)) filter (where coalesce(t.agent_id, t.principal) is not null) as who,
      (select pg_catalog.jsonb_agg(o.x) from (select pg_catalog.left(y, 120) as x from told u, pg_catalog.unnest(u.object_ids) y
        where u.operation = t.operation and u.n <= 10 order by u.n limit 10) o) as objects
    from told t group by t.operation)
  select (select max(r.id) from recent r), coalesce(sum(k.n), 0), pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('operation', k.operation, 'count', k.n,
      'agents', k.who[1:10], 'objects', coalesce(k.objects, '[]')) order by k.last desc)
    into v_last, v_n, v_rows from kinds k;
  select pg_catalog.jsonb_object_agg(x.status, x.n) into v_counts from (select w.status, count(*) as n from public.work_queue w
    where w.project_id = p_project and pg_catalog.starts_with(w.task_type, 'newsletter') group by w.status) x;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', x.task_id, 'task_type', x.task_type, 'status', x.status,
      'description', pg_catalog.left(x.description, 120)) order by x.id desc)
    into v_news from (select * from public.work_queue w where w.project_id = p_project and pg_catalog.starts_with(w.task_type, 'newsletter')
      order by w.id desc limit 5) x;
  if not p_peek then
    insert into coord.digest_marks as d (project_id, reader, audit_id, at) values (p_project, p_reader, coalesce(v_last, v_mark.audit_id, 0), v_now)
      on conflict (project_id, reader) do update set audit_id = greatest(d.audit_id, excluded.audit_id), at = excluded.at;
  end if;
  return pg_catalog.jsonb_build_object('project', (select p.name from public.projects p where p.id = p_project), 'since', coord.ts(v_since), 'changes', v_n,
    'kinds', coalesce(v_rows, '[]'), 'newsletters', coalesce(v_counts, '{}'), 'newsletter_tasks', coalesce(v_news, '[]'));
end $$;

----------------------------------------------------------------------------------------------- audit
-- Rows of the audit trail, newest first. Null means: any.
create function coord.query_audit(p_project bigint, p_agent text, p_operation text, p_since timestamptz, p_success boolean, p_limit int)
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  select count(*), pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'id', a.id::text, 'created_at', coord.ts(a.at), 'principal', a.principal,
      'agent_id', a.agent_id, 'agent_type', a.agent_type, 'session_id', a.session_id, 'operation', a.operation, 'object_ids', a.object_ids,
      'success', a.success, 'reason', a.reason, 'parameters', a.parameters, 'result', a.result,
      'duration_ms', pg_catalog.round(a.duration_ms::numeric, 3))) order by a.id desc)
    into v_n, v_rows
    from (select * from coord.audit_log l where l.project_id = p_project and (p_agent is null or l.agent_id = p_agent)
        and (p_operation is null or l.operation = p_operation) and (p_since is null or l.at >= p_since) and (p_success is null or l.success = p_success)
      order by l.id desc limit p_limit + 1) a;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('entries', coalesce(v_rows, '[]'), 'count', least(v_n, p_limit), 'truncated', v_n > p_limit,
    'hint', case when v_n > p_limit then 'older rows exist; narrow by agent_id, operation or since, or raise limit' end));
end $$;

---------------------------------------------------------------------------------------- housekeeping
-- Removes what is over: remembered replies after a day, delivered notices after seven days, undelivered ones after
-- thirty. At most p_limit rows of each.
create function coord.sweep_leftovers(p_limit int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_replies bigint; v_notices bigint;
begin
  delete from coord.idempotency i using (select x.ctid from coord.idempotency x where x.created_at < v_now - interval '24 hours'
    order by x.created_at limit p_limit for update skip locked) old where i.ctid = old.ctid;
  get diagnostics v_replies = row_count;
  delete from coord.notices n using (select x.ctid from coord.notices x where x.created_at < v_now - interval '7 days'
      and (x.delivered_at < v_now - interval '7 days' or x.created_at < v_now - interval '30 days')
    order by x.created_at limit p_limit for update skip locked) old where n.ctid = old.ctid;
  get diagnostics v_notices = row_count;
  return pg_catalog.jsonb_build_object('replies', v_replies, 'notices', v_notices);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
