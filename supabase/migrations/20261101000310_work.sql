-- The work queue: its table, submitting and claiming. Ending, renewing and sweeping are in work_calls, reading in
-- work_reads.
--
-- Statuses: scheduled (run_at lies ahead), pending, claimed, running (its claimant reported), verifying, completed,
-- failed, dead (attempts used up), cancelled. A pending task is ready when waiting_on = 0 (then it has a row in
-- coord.ready) and blocked otherwise.
-- A dependency's id is always smaller than its dependent's, so locking in id order never makes a circle.
set local lock_timeout = '5s';

create table public.work_queue (
  project_id         bigint      not null,
  id                 bigint      generated always as identity,
  task_id            uuid        not null default coord.uuid7(),
  task_type          text        not null check (length(task_type) between 1 and 200),
  description        text        not null check (length(description) between 1 and 20000),
  input_data         jsonb,
  priority           smallint    not null default 5 check (priority between 1 and 10),
  status             text        not null default 'pending' check (status in
    ('scheduled', 'pending', 'claimed', 'running', 'verifying', 'completed', 'failed', 'dead', 'cancelled')),
  class_id           int         not null,
  waiting_on         int         not null default 0 check (waiting_on >= 0),   -- dependencies not completed yet
  depends_on         uuid[]      not null default '{}',
  tags               text[]      not null default '{}',
  agent_requirements jsonb,
  labels             text[]      not null default '{}',
  files              text[]      not null default '{}',                        -- paths to lock before beginning
  repository         text,                                                     -- which repository files are in; null: the project's first
  run_at             timestamptz,
  deadline           timestamptz,
  max_attempts       smallint    not null default 3 check (max_attempts between 1 and 20),
  attempt            smallint    not null default 0,
  claimed_by         text,
  session_id         bigint,                                                   -- internal id of the claimant's session while held
  claimed_at         timestamptz,
  lease_seconds      int,
  lease_until        timestamptz,
  lease_due          timestamptz,                                              -- until of the row in coord.lease
  fence              bigint      not null default 0,                           -- counts claims; the lease token
  progress           jsonb,
  result             jsonb,
  error_message      text,
  ended_by           text,                                                     -- who ended the latest attempt by complete_work
  ended_as           text,                                                     -- and the status that made
  submitted_by       text        not null,
  submitted_session  bigint,
  created_at         timestamptz not null default coord.now(),
  updated_at         timestamptz not null default coord.now(),
  completed_at       timestamptz,
  primary key (project_id, id),
  unique (project_id, task_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);
comment on table public.work_queue is 'Tasks. No index mentions state or lease columns: claims, renewals and completions stay in place (HOT).';

-- Open dependencies: the dependent id waits for on_id. Removed when on_id completes.
create table coord.work_dep (
  project_id bigint not null,
  on_id      bigint not null,
  id         bigint not null,
  primary key (project_id, on_id, id)
);

alter table public.work_queue enable row level security;
alter table coord.work_dep enable row level security;
revoke all on public.work_queue from anon, authenticated;
grant select on public.work_queue to anon, authenticated;
grant select, insert, update, delete on public.work_queue to service_role;
create policy work_queue_read on public.work_queue for select to anon, authenticated
  using (project_id in (select id from public.projects));
create policy work_queue_service on public.work_queue to service_role using (true) with check (true);

-- The session a work call acts in; PT440 when it is not active. The share lock holds off the end of the session
-- until the call commits, so that nothing is claimed by a session that has just been cleared.
create function coord.work_session(p_project bigint, p_session bigint) returns public.agent_sessions
language plpgsql set search_path = '' as $$
declare v_s public.agent_sessions;
begin
  select * into v_s from public.agent_sessions s where s.project_id = p_project and s.id = p_session for share;
  if v_s.id is null or v_s.status <> 'active' then
    perform coord.fail(440, 'session_lapsed', 'this session is not active', 'it lapsed or was ended', 'call again; the session continues');
  end if;
  return v_s;
end $$;

------------------------------------------------------------------------------------------ submitting
-- Raises invalid (422) or too_large (413) for the first task of the batch that is not well-formed.
create function coord.check_tasks(p_tasks jsonb, p_now timestamptz) returns void language plpgsql set search_path = '' as $$
declare v_bad record; v_at text;
begin
  if pg_catalog.jsonb_typeof(p_tasks) is distinct from 'array' or pg_catalog.jsonb_array_length(p_tasks) not between 1 and 5000 then
    perform coord.fail(422, 'invalid', 'a batch has 1 to 5000 tasks', 'this one has none or too many', 'send it in parts', 'tasks');
  end if;
  select e.n, f.field, f.what into v_bad from pg_catalog.jsonb_array_elements(p_tasks) with ordinality e (t, n)
    cross join lateral pg_catalog.jsonb_to_record(e.t) as r (task_type text, description text, input_data jsonb, priority int,
      depends_on jsonb, tags jsonb, files jsonb, labels jsonb, run_at timestamptz, delay_seconds float8, deadline timestamptz, max_attempts int)
    cross join lateral (select case
      when coalesce(length(r.task_type), 0) not between 1 and 200 then array['task_type', 'is a word of 1 to 200 characters']
      when coalesce(length(r.description), 0) not between 1 and 20000 then array['description', 'is a text of 1 to 20,000 characters']
      when coalesce(r.priority, 5) not between 1 and 10 then array['priority', 'is 1 (first) to 10']
      when coalesce(r.max_attempts, 3) not between 1 and 20 then array['max_attempts', 'is 1 to 20']
      when coalesce(r.delay_seconds, 0) not between 0 and 31536000 then array['delay_seconds', 'is 0 to 31,536,000 (a year)']
      when r.delay_seconds > 0 and r.run_at is not null then array['run_at', 'and delay_seconds exclude each other']
      when r.run_at > p_now + interval '1 year' then array['run_at', 'lies at most a year ahead']
      when r.deadline <= greatest(p_now, coalesce(r.run_at, p_now + make_interval(secs => coalesce(r.delay_seconds, 0))))
        then array['deadline', 'lies after now and after the task''s start']
      when pg_catalog.jsonb_typeof(r.input_data) not in ('object', 'null') then array['input_data', 'is an object']
      when pg_catalog.octet_length(r.input_data::text) > 262144 then array['input_data', 'is at most 256 KiB']
      when (select count(*) > 50 or bool_or(length(x) not between 1 and 100) from pg_catalog.jsonb_array_elements_text(coalesce(r.tags, '[]')) x)
        then array['tags', 'are at most 50 words of 1 to 100 characters']
      when (select count(*) > 50 or bool_or(length(x) not between 1 and 200) from pg_catalog.jsonb_array_elements_text(coalesce(r.labels, '[]')) x)
        then array['labels', 'are at most 50 words of 1 to 200 characters']
      when pg_catalog.jsonb_array_length(coalesce(r.files, '[]')) > 200 then array['files', 'are at most 200 paths']
      when pg_catalog.jsonb_array_length(coalesce(r.depends_on, '[]')) > 200 then array['depends_on', 'are at most 200 tasks']
      end) x (f)
    cross join lateral (select x.f[1] as field, x.f[2] as what) f
    where x.f is not null order by e.n limit 1;
  if found then
    v_at := case when pg_catalog.jsonb_array_length(p_tasks) > 1 then pg_catalog.format('task %s: ', v_bad.n) else '' end;
    perform coord.fail(case when v_bad.what like '%KiB' then 413 else 422 end, case when v_bad.what like '%KiB' then 'too_large' else 'invalid' end,
      v_at || v_bad.field || ' ' || v_bad.what, 'the value sent is outside of that', 'correct it; nothing was submitted', v_bad.field);
  end if;
end $$;

-- The dependencies of a batch: n depends on on_n (in the batch) or on_id (a task that exists; share-locked, so that
-- it cannot end before this submit commits). Raises invalid for unknown, self and cancelled dependencies.
create function coord.task_edges(p_project bigint, p_tasks jsonb)
returns table (n int, on_n int, on_id bigint, on_task uuid, open boolean) language plpgsql set search_path = '' as $$
declare v_status text; v_ref text; v_what text;
  v_uuid constant text := '^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$';
begin
  perform 1 from public.work_queue w where w.project_id = p_project and w.task_id in (
      select x.ref::uuid from pg_catalog.jsonb_array_elements(p_tasks) t
      cross join lateral pg_catalog.jsonb_array_elements_text(coalesce(t -> 'depends_on', '[]')) x (ref) where x.ref ~ v_uuid)
    order by w.id for share;
  for n, v_ref, on_n, on_id, on_task, v_status in
    with t as materialized (select e.t, e.n::int as n from pg_catalog.jsonb_array_elements(p_tasks) with ordinality e (t, n)),
    d as (select distinct t.n, x.ref from t cross join lateral pg_catalog.jsonb_array_elements_text(coalesce(t.t -> 'depends_on', '[]')) x (ref))
    select d.n, d.ref, l.n, w.id, w.task_id, w.status from d
      left join (select t.t ->> 'ref' as ref, pg_catalog.min(t.n) as n from t where t.t ? 'ref' group by 1) l on l.ref = d.ref
      left join public.work_queue w on l.n is null and w.project_id = p_project
        and w.task_id = case when d.ref ~ v_uuid then d.ref::uuid end
  loop
    v_what := case
      when on_n = n then 'a task cannot depend on itself'
      when on_n is null and on_id is null then pg_catalog.format('depends_on names %L, which is no task of this project', v_ref)
      when v_status = 'cancelled' then pg_catalog.format('depends_on names %s, which is cancelled', v_ref) end;
    if v_what is not null then
      perform coord.fail(422, 'invalid', v_what, 'such a task could never begin', 'correct depends_on; nothing was submitted', 'depends_on');
    end if;
    open := v_status is distinct from 'completed';
    return next;
  end loop;
end $$;

-- The order to insert a batch in so that dependencies come first: a level per task. Raises invalid for a cycle.
create function coord.task_levels(p_n int, p_from int[], p_to int[]) returns int[] language plpgsql set search_path = '' as $$
declare v_level int[] := pg_catalog.array_fill(0, array[p_n]); v_next int[];
begin
  if not exists (select from unnest(p_from, p_to) e (a, b) where e.b >= e.a) then return v_level; end if;
  if p_n > 1000 then
    perform coord.fail(422, 'invalid', 'a batch over 1000 tasks must list dependencies first', 'a task names one that comes after it',
      'order the tasks, or send them in parts', 'depends_on');
  end if;
  for i in 0 .. p_n loop
    select pg_catalog.array_agg(greatest(l.v, m.v) order by l.n) into v_next from unnest(v_level) with ordinality l (v, n)
      left join (select e.a, max(v_level[e.b]) + 1 as v from unnest(p_from, p_to) e (a, b) group by e.a) m on m.a = l.n;
    if v_next = v_level then return v_level; end if;
    v_level := v_next;
  end loop;
  perform coord.fail(422, 'invalid', 'the dependencies form a cycle', 'each of its tasks would wait for the others', 'break the cycle; nothing was submitted', 'depends_on');
end $$;

-- A class per task of the batch, and how many classes are new.
create function coord.task_classes(p_project bigint, p_tasks jsonb, out classes int[], out made int) language plpgsql set search_path = '' as $$
declare v_d jsonb[]; v_u jsonb[]; v_c int[] := '{}'; v_one record;
begin
  made := 0;
  select pg_catalog.array_agg(pg_catalog.jsonb_build_object('task_type', e.t -> 'task_type',
        'hostname', r -> 'hostname', 'project_dir', r -> 'project_dir', 'executor_profile', r -> 'executor_profile',
        'agent_type', r -> 'agent_type', 'min_trust', r -> 'min_trust_level',
        'tags', case when r ? 'archetype' then coalesce(nullif(e.t -> 'tags', 'null'), '[]') || pg_catalog.to_jsonb('archetype:' || (r ->> 'archetype'))
                     else e.t -> 'tags' end) order by e.n)
    into v_d from pg_catalog.jsonb_array_elements(p_tasks) with ordinality e (t, n)
    cross join lateral (select coalesce(nullif(e.t -> 'agent_requirements', 'null'), '{}') as r) q;
  select pg_catalog.array_agg(distinct d order by d) into v_u from unnest(v_d) d;
  for i in 1 .. pg_catalog.cardinality(v_u) loop  -- alike ones are brought into their one form once
    v_one := coord.class_of(p_project, 1::smallint, coord.canonical_demands(v_u[i]));
    v_c := v_c || v_one.class_id;
    made := made + v_one.made::int;
  end loop;
  if pg_catalog.cardinality(v_u) = 1 then
    classes := pg_catalog.array_fill(v_c[1], array[pg_catalog.cardinality(v_d)]);
  else
    select pg_catalog.array_agg(m.c order by x.n) into classes from unnest(v_d) with ordinality x (d, n) join unnest(v_u, v_c) m (d, c) on m.d = x.d;
  end if;
end $$;

-- Submits tasks, all or none. p_tasks is an array of objects: task_type, description, input_data?, priority?,
-- depends_on? (task ids, or refs of this batch), ref?, tags?, agent_requirements?, labels?, files?, run_at? or
-- delay_seconds?, deadline?, max_attempts?. Without a session the submitter is p_by.
-- Reply: task_ids in order, tasks ({task_id, status, ref?}), wake. Codes: invalid, too_large, PT440.
create function coord.submit_work(p_project bigint, p_session bigint, p_by text, p_repository text, p_tasks jsonb)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_n int; v_submitter text := p_by; v_cls record; v_level int[]; v_ids bigint[]; v_uuids uuid[];
  v_en int[]; v_eon int[]; v_eid bigint[]; v_eu uuid[]; v_eo boolean[]; v_tasks jsonb; v_wake text[];
begin
  perform coord.check_tasks(p_tasks, v_now);
  if p_session is not null then v_submitter := (coord.work_session(p_project, p_session)).agent_id; end if;
  v_n := pg_catalog.jsonb_array_length(p_tasks);
  if exists (select from pg_catalog.jsonb_array_elements(p_tasks) t where pg_catalog.jsonb_array_length(coalesce(nullif(t -> 'depends_on', 'null'), '[]')) > 0) then
    select pg_catalog.array_agg(e.n), pg_catalog.array_agg(e.on_n), pg_catalog.array_agg(e.on_id), pg_catalog.array_agg(e.on_task), pg_catalog.array_agg(e.open)
      into v_en, v_eon, v_eid, v_eu, v_eo from coord.task_edges(p_project, p_tasks) e;
  end if;
  v_level := coord.task_levels(v_n, v_en, v_eon);
  v_cls := coord.task_classes(p_project, p_tasks);
  select pg_catalog.array_agg(s.id order by s.n), pg_catalog.array_agg(s.u order by s.n) into v_ids, v_uuids from (
    select o.n, pg_catalog.nextval('public.work_queue_id_seq') as id, coord.uuid7() as u
    from (select l.n from unnest(v_level) with ordinality l (v, n) order by l.v, l.n offset 0) o) s;
  with e as (
    select e.n, e.open, coalesce(e.on_id, v_ids[e.on_n]) as on_id, coalesce(e.on_task, v_uuids[e.on_n]) as on_task
    from unnest(v_en, v_eon, v_eid, v_eu, v_eo) e (n, on_n, on_id, on_task, open)),
  need as (select e.n, count(*) filter (where e.open) as waits, pg_catalog.array_agg(distinct e.on_task) as on_tasks from e group by e.n),
  edges as (insert into coord.work_dep (project_id, on_id, id) select distinct p_project, e.on_id, v_ids[e.n] from e where e.open),
  rows_in as (
    insert into public.work_queue (project_id, id, task_id, task_type, description, input_data, priority, status, class_id, waiting_on,
      depends_on, tags, agent_requirements, labels, files, repository, run_at, deadline, max_attempts, submitted_by, submitted_session, created_at, updated_at)
    overriding system value
    select p_project, r.id, r.u, r.task_type, r.description, nullif(r.input_data, 'null'), coalesce(r.priority, 5),
      case when x.at > v_now then 'scheduled' else 'pending' end, r.class_id, coalesce(need.waits, 0), coalesce(need.on_tasks, '{}'),
      coalesce(r.tags, '{}'), nullif(r.agent_requirements, 'null'), coalesce(r.labels, '{}'), coalesce(r.files, '{}'), p_repository,
      case when x.at > v_now then x.at end, r.deadline, coalesce(r.max_attempts, 3), v_submitter, p_session, v_now, v_now
    from rows from (jsonb_to_recordset(p_tasks) as (task_type text, description text, input_data jsonb, priority smallint, tags text[],
        agent_requirements jsonb, labels text[], files text[], run_at timestamptz, delay_seconds float8, deadline timestamptz, max_attempts smallint),
        unnest(v_ids), unnest(v_uuids), unnest(v_cls.classes)) with ordinality
      as r (task_type, description, input_data, priority, tags, agent_requirements, labels, files, run_at, delay_seconds, deadline,
        max_attempts, id, u, class_id, n)
    cross join lateral (select coalesce(r.run_at, v_now + make_interval(secs => nullif(r.delay_seconds, 0))) as at) x
    left join need on need.n = r.n
    returning id, task_id, class_id, priority, status, waiting_on, run_at, deadline),
  lanes as (insert into coord.ready (project_id, queue, class_id, priority, id)
    select p_project, 1, i.class_id, i.priority, i.id from rows_in i where i.status = 'pending' and i.waiting_on = 0 returning class_id),
  times as (insert into coord.timer (project_id, queue, kind, at, id)
    select p_project, 1, 1, i.run_at, i.id from rows_in i where i.run_at is not null
    union all select p_project, 1, 2, i.deadline, i.id from rows_in i where i.deadline is not null)
  select (select pg_catalog.array_agg(coord.lane_topic(p_project, 1::smallint, l.class_id)) from lanes l),
    pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', i.task_id, 'status', i.status, 'blocked', i.waiting_on > 0) order by o.n)
    into v_wake, v_tasks from unnest(v_ids) with ordinality o (id, n) join rows_in i on i.id = o.id;
  perform coord.audit(p_project, p_session, p_by, 'submit_work', v_uuids::text[]);
  return pg_catalog.jsonb_build_object('success', true, 'task_id', v_uuids[1], 'task_ids', v_uuids, 'tasks', v_tasks, 'wake',
    case when v_cls.made > 0 then array['w:' || p_project || ':1:+'] else '{}' end || coalesce(v_wake, '{}') || coord.work_topic(p_project));
end $$;

-------------------------------------------------------------------------------------------- claiming
-- What a session offers to demands: its agent's type and trust, its own and its agent's capabilities as tags, with
-- those of the call. types null = any.
create function coord.work_claimer(p_session public.agent_sessions, p_types text[], p_tags text[])
returns jsonb language plpgsql stable set search_path = '' as $$
declare v_trust int; v_capabilities text[];
begin
  select a.trust, a.capabilities into v_trust, v_capabilities from public.agents a
    where a.project_id = p_session.project_id and a.agent_id = p_session.agent_id;
  return pg_catalog.jsonb_build_object('types', p_types, 'agent_type', p_session.agent_type, 'trust', coalesce(v_trust, 0),
    'tags', (select coalesce(pg_catalog.jsonb_agg(distinct t order by t), '[]')
      from unnest(coalesce(p_tags, '{}') || p_session.capabilities || coalesce(v_capabilities, '{}')) t));
end $$;

-- Why a claimer got nothing, counted to 100 at most: ready but not for this claimer, blocked, scheduled, in work.
-- The orders keep every count on its index, whatever share of the table the project is.
create function coord.work_counts(p_project bigint) returns jsonb language plpgsql stable set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object(
    'ready_other', (select count(*) from (select from coord.ready r where r.project_id = p_project and r.queue = 1 order by r.class_id, r.priority, r.id limit 100) x),
    'blocked', (select count(distinct x.id) from (select d.id from coord.work_dep d where d.project_id = p_project order by d.on_id limit 100) x),
    'scheduled', (select count(*) from (select from coord.timer t where t.project_id = p_project and t.queue = 1 and t.kind = 1 order by t.at limit 100) x),
    'claimed', (select count(*) from (select from coord.lease l where l.project_id = p_project and l.queue = 1 order by l.until limit 100) x));
end $$;

-- Claims up to p_n tasks for the session: the best first (priority, then age), for p_lease seconds.
-- p_classes, p_epoch and p_caps are what the caller remembers from the last reply of this claimer (same session,
-- types and tags); a reply carries classes, epoch and caps anew when they changed.
-- Reply: the first task's members beside success, tasks when p_n > 1; or success false, reason no_tasks_available
-- and queue. Codes: PT440.
create function coord.claim_work(p_project bigint, p_session bigint, p_by text, p_types text[], p_tags text[], p_n int, p_lease int,
  p_classes int[] default '{}', p_epoch int default 0, p_caps text default null)
returns jsonb language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_now timestamptz; v_s public.agent_sessions; v_claimer jsonb; v_caps text; v_last int; v_classes int[] := p_classes;
  v_ids bigint[]; v_tasks jsonb; v_uuids text[]; v_memo jsonb := '{}'; v_until timestamptz;
begin
  v_s := coord.work_session(p_project, p_session);
  v_claimer := coord.work_claimer(v_s, p_types, p_tags);
  v_caps := pg_catalog.md5(v_claimer::text);
  v_last := coord.class_epoch(p_project, 1::smallint);
  if v_caps is distinct from p_caps or v_last <> p_epoch then
    v_classes := case when v_caps = p_caps and v_last > p_epoch
      then p_classes || coord.match_classes(p_project, 1::smallint, v_claimer, p_epoch)
      else coord.match_classes(p_project, 1::smallint, v_claimer) end;
    v_memo := pg_catalog.jsonb_build_object('memo', pg_catalog.jsonb_build_object('classes', v_classes, 'epoch', v_last, 'caps', v_caps));
  end if;
  loop
    v_ids := coord.claim_ready(p_project, 1::smallint, v_classes, p_n);
    if pg_catalog.cardinality(v_ids) = 0 then
      return v_memo || pg_catalog.jsonb_build_object('success', false, 'reason', 'no_tasks_available', 'task_id', null,
        'queue', coord.work_counts(p_project));
    end if;
    v_now := coord.now();
    v_until := v_now + make_interval(secs => p_lease);
    -- Locked first, then found again by place: the plan is one look-up an item, whatever is known of the table.
    perform coord.lock_tasks(p_project, v_ids);
    with held as (
      update public.work_queue w set status = 'claimed', claimed_by = v_s.agent_id, session_id = p_session, claimed_at = v_now,
        attempt = w.attempt + 1, fence = w.fence + 1, lease_seconds = p_lease, lease_until = v_until, lease_due = v_until,
        run_at = null, progress = null, ended_by = null, ended_as = null, updated_at = v_now
      where w.ctid = any (array(select x.ctid from unnest(v_ids) t (id)
          cross join lateral (select y.ctid from public.work_queue y where y.project_id = p_project and y.id = t.id limit 1) x))
        and w.status = 'pending' and (w.deadline is null or w.deadline > v_now)
      returning w.*),
    leases as (insert into coord.lease (project_id, queue, until, id, session_id) select p_project, 1, v_until, h.id, p_session from held h)
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('task_id', h.task_id, 'task_type', h.task_type,
        'description', h.description, 'task_description', h.description, 'priority', h.priority, 'deadline', coord.ts(h.deadline),
        'attempt', h.attempt, 'max_attempts', h.max_attempts, 'lease_token', h.fence::text, 'lease_expires_at', coord.ts(h.lease_until),
        'files', h.files, 'repository', h.repository, 'tags', h.tags, 'depends_on', h.depends_on, 'last_error', h.error_message))
        || pg_catalog.jsonb_build_object('input_data', h.input_data) order by h.priority, h.id),
      pg_catalog.array_agg(h.task_id::text) into v_tasks, v_uuids from held h;
    exit when v_uuids is not null;  -- else all of them were cancelled or overdue: look further
  end loop;
  perform coord.audit(p_project, p_session, p_by, 'get_work', v_uuids);
  return v_memo || (v_tasks -> 0) || pg_catalog.jsonb_build_object('success', true, 'wake', array[coord.work_topic(p_project)])
    || case when p_n > 1 then pg_catalog.jsonb_build_object('tasks', v_tasks) else '{}' end;
end $$;

-- The classes a waiting claimer should park on, when coord.claim_work's memo is not at hand or out of date.
create function coord.work_classes(p_project bigint, p_session bigint, p_types text[], p_tags text[])
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_claimer jsonb; v_last int := coord.class_epoch(p_project, 1::smallint);
begin
  v_claimer := coord.work_claimer((select s from public.agent_sessions s where s.project_id = p_project and s.id = p_session), p_types, p_tags);
  return pg_catalog.jsonb_build_object('classes', coord.match_classes(p_project, 1::smallint, v_claimer), 'epoch', v_last,
    'caps', pg_catalog.md5(v_claimer::text));
end $$;

grant execute on function coord.submit_work(bigint, bigint, text, text, jsonb),
  coord.claim_work(bigint, bigint, text, text[], text[], int, int, int[], int, text),
  coord.work_classes(bigint, bigint, text[], text[]) to service_role;
