-- Submitting at speed: one statement takes one call with many tasks, or many calls of one task each, that came at the
-- same time. What it answers are columns, not jsonb: building and reading the latter cost more than storing the tasks.
-- Every plan is generic: access is by bound index prefixes and aligned arrays, and planning cost more than running.
set local lock_timeout = '5s';

-- A claim and a completion each leave a new version of the row. With room for both on the page no index is touched and
-- only what changed is logged: 45 % leaves it (at 70 % half of a batch found no room).
alter table public.work_queue set (fillfactor = 45);

-- The ids in one audit row of a batch are random digits: trying to compress them costs more than writing them.
alter table coord.audit_log alter column object_ids set storage external;

-- n ids that follow each other: version 7 of RFC 9562 with its random part drawn once a call and counted up (6.2, method 2).
-- They cost a third of as many random ones, and are stored side by side.
create function coord.uuid7_many(p_n int) returns uuid[] language plpgsql volatile set search_path = '' as $$
declare v_ms text := pg_catalog.lpad(pg_catalog.to_hex((extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint), 12, '0');
  v_random text := pg_catalog.gen_random_uuid()::text; v_low bigint;
begin
  v_ms := pg_catalog.left(v_ms, 8) || '-' || pg_catalog.right(v_ms, 4) || '-7' || pg_catalog.substr(v_random, 16, 9);
  v_low := ('x' || pg_catalog.substr(v_random, 25, 12))::bit(48)::bigint % (281474976710656 - p_n);
  return array(select (v_ms || pg_catalog.lpad(pg_catalog.to_hex(v_low + n), 12, '0'))::uuid from pg_catalog.generate_series(1, p_n) n);
end $$;

-- Writes one audit row per call of a batch: sessions, principals and ids are aligned.
create function coord.audit_each(p_project bigint, p_sessions bigint[], p_by text[], p_operation text, p_ids text[]) returns void
language plpgsql set search_path = '' set plan_cache_mode = force_generic_plan as $$
begin
  insert into coord.audit_log (project_id, principal, agent_id, agent_type, session_id, operation, object_ids, success, duration_ms)
  select p_project, c.by, s.agent_id, s.agent_type, s.session_id, p_operation, array[c.id], true,
      extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.statement_timestamp()) * 1000
  from unnest(p_sessions, p_by, p_ids) c (session, by, id) left join public.agent_sessions s on s.project_id = p_project and s.id = c.session;
end $$;

-- coord.work_session for a batch: locks the sessions (null: nobody's call) in one order and returns what each is, aligned.
create function coord.work_sessions(p_project bigint, p_sessions bigint[], out agents text[], out implicit boolean[])
language plpgsql set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_s public.agent_sessions;
begin
  if pg_catalog.cardinality(p_sessions) = 1 then
    if p_sessions[1] is not null then v_s := coord.work_session(p_project, p_sessions[1]); end if;
    agents := array[v_s.agent_id];
    implicit := array[coalesce(v_s.implicit, false)];
    return;
  end if;
  perform 1 from (select distinct u.id from unnest(p_sessions) u (id) where u.id is not null order by u.id offset 0) d
    cross join lateral (select 1 from public.agent_sessions s where s.project_id = p_project and s.id = d.id for share) l;
  select pg_catalog.array_agg(s.agent_id order by c.n), pg_catalog.array_agg(coalesce(s.implicit, false) order by c.n) into agents, implicit
    from unnest(p_sessions) with ordinality c (id, n)
    left join public.agent_sessions s on s.project_id = p_project and s.id = c.id and s.status = 'active';
  if exists (select from unnest(p_sessions, agents) c (id, agent) where c.id is not null and c.agent is null) then
    perform coord.fail(440, 'session_lapsed', 'this session is not active', 'it lapsed or was ended', 'call again; the session continues');
  end if;
end $$;

-- As before (see work), reading the batch once.
create or replace function coord.check_tasks(p_tasks jsonb, p_now timestamptz) returns void
language plpgsql set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_bad record; v_at text;
begin
  if pg_catalog.jsonb_typeof(p_tasks) is distinct from 'array' or pg_catalog.jsonb_array_length(p_tasks) not between 1 and 5000 then
    perform coord.fail(422, 'invalid', 'a batch has 1 to 5000 tasks', 'this one has none or too many', 'send it in parts', 'tasks');
  end if;
  select r.n, f.x[1] as field, f.x[2] as what into v_bad
    from rows from (jsonb_to_recordset(p_tasks) as (task_type text, description text, input_data jsonb, priority int,
      depends_on jsonb, tags jsonb, files jsonb, labels jsonb, run_at timestamptz, delay_seconds float8, deadline timestamptz, max_attempts int))
      with ordinality as r (task_type, description, input_data, priority, depends_on, tags, files, labels, run_at, delay_seconds, deadline, max_attempts, n)
    cross join lateral (select case
      when coalesce(length(r.task_type), 0) not between 1 and 200 then array['task_type', 'is a word of 1 to 200 characters']
      when coalesce(length(r.description), 0) not between 1 and 20000 then array['description', 'is a text of 1 to 20,000 characters']
      when r.priority not between 1 and 10 then array['priority', 'is 1 (first) to 10']
      when r.max_attempts not between 1 and 20 then array['max_attempts', 'is 1 to 20']
      when r.delay_seconds not between 0 and 31536000 then array['delay_seconds', 'is 0 to 31,536,000 (a year)']
      when r.delay_seconds > 0 and r.run_at is not null then array['run_at', 'and delay_seconds exclude each other']
      when r.run_at > p_now + interval '1 year' then array['run_at', 'lies at most a year ahead']
      when r.deadline <= greatest(p_now, coalesce(r.run_at, p_now + make_interval(secs => coalesce(r.delay_seconds, 0))))
        then array['deadline', 'lies after now and after the task''s start']
      when pg_catalog.jsonb_typeof(r.input_data) not in ('object', 'null') then array['input_data', 'is an object']
      when pg_catalog.octet_length(r.input_data::text) > 262144 then array['input_data', 'is at most 256 KiB']
      when r.tags is not null and (select count(*) > 50 or bool_or(length(x) not between 1 and 100) from pg_catalog.jsonb_array_elements_text(nullif(r.tags, 'null')) x)
        then array['tags', 'are at most 50 words of 1 to 100 characters']
      when r.labels is not null and (select count(*) > 50 or bool_or(length(x) not between 1 and 200) from pg_catalog.jsonb_array_elements_text(nullif(r.labels, 'null')) x)
        then array['labels', 'are at most 50 words of 1 to 200 characters']
      when pg_catalog.jsonb_array_length(nullif(r.files, 'null')) > 200 then array['files', 'are at most 200 paths']
      when pg_catalog.jsonb_array_length(nullif(r.depends_on, 'null')) > 200 then array['depends_on', 'are at most 200 tasks']
      end) f (x)
    where f.x is not null order by r.n limit 1;
  if found then
    v_at := case when pg_catalog.jsonb_array_length(p_tasks) > 1 then pg_catalog.format('task %s: ', v_bad.n) else '' end;
    perform coord.fail(case when v_bad.what like '%KiB' then 413 else 422 end, case when v_bad.what like '%KiB' then 'too_large' else 'invalid' end,
      v_at || v_bad.field || ' ' || v_bad.what, 'the value sent is outside of that', 'correct it; nothing was submitted', v_bad.field);
  end if;
end $$;

-- As before (see work): a class per task of the batch, and how many classes are new. Tasks that ask for the same are looked
-- at once.
create or replace function coord.task_classes(p_project bigint, p_tasks jsonb, out classes int[], out made int)
language plpgsql set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_k jsonb[]; v_c int[] := '{}'; v_one record; v_r jsonb;
begin
  made := 0;
  v_k := array(select distinct pg_catalog.jsonb_build_array(d.task_type, d.tags, d.agent_requirements)
    from (select distinct r.task_type, r.tags, r.agent_requirements
      from jsonb_to_recordset(p_tasks) r (task_type jsonb, tags jsonb, agent_requirements jsonb)) d order by 1);
  for i in 1 .. pg_catalog.cardinality(v_k) loop
    v_r := coalesce(nullif(v_k[i] -> 2, 'null'), '{}');
    v_one := coord.class_of(p_project, 1::smallint, coord.canonical_demands(pg_catalog.jsonb_build_object('task_type', v_k[i] -> 0,
      'hostname', v_r -> 'hostname', 'project_dir', v_r -> 'project_dir', 'executor_profile', v_r -> 'executor_profile',
      'agent_type', v_r -> 'agent_type', 'min_trust', v_r -> 'min_trust_level',
      'tags', case when v_r ? 'archetype' then coalesce(nullif(v_k[i] -> 1, 'null'), '[]') || pg_catalog.to_jsonb('archetype:' || (v_r ->> 'archetype'))
                   else v_k[i] -> 1 end)));
    v_c := v_c || v_one.class_id;
    made := made + v_one.made::int;
  end loop;
  if pg_catalog.cardinality(v_k) = 1 then
    classes := pg_catalog.array_fill(v_c[1], array[pg_catalog.jsonb_array_length(p_tasks)]);
    return;
  end if;
  select pg_catalog.array_agg(m.c order by r.n) into classes
    from rows from (jsonb_to_recordset(p_tasks) as (task_type jsonb, tags jsonb, agent_requirements jsonb)) with ordinality
      as r (task_type, tags, agent_requirements, n)
    join (select pg_catalog.unnest(v_k) as k, pg_catalog.unnest(v_c) as c) m on m.k = pg_catalog.jsonb_build_array(r.task_type, r.tags, r.agent_requirements);
end $$;

-- The dependencies of a batch as they are stored, aligned with its tasks: how many each waits for, and the tasks it names.
-- Its plans are made for the arrays at hand: joined blindly, thousands of edges would cost seconds.
create function coord.link_tasks(p_project bigint, p_tasks jsonb, out ids bigint[], out uuids uuid[], out waits int[], out named text[])
language plpgsql set search_path = '' as $$
declare v_n int := pg_catalog.jsonb_array_length(p_tasks); v_level int[]; v_en int[]; v_eon int[]; v_eid bigint[]; v_eu uuid[]; v_eo boolean[];
begin
  select pg_catalog.array_agg(e.n), pg_catalog.array_agg(e.on_n), pg_catalog.array_agg(e.on_id), pg_catalog.array_agg(e.on_task), pg_catalog.array_agg(e.open)
    into v_en, v_eon, v_eid, v_eu, v_eo from coord.task_edges(p_project, p_tasks) e;
  v_level := coord.task_levels(v_n, v_en, v_eon);
  select pg_catalog.array_agg(s.id order by s.n) into ids from (
    select o.n, pg_catalog.nextval('public.work_queue_id_seq') as id
    from (select l.n from unnest(v_level) with ordinality l (v, n) order by l.v, l.n offset 0) o) s;
  uuids := coord.uuid7_many(v_n);
  insert into coord.work_dep (project_id, on_id, id)
    select distinct p_project, coalesce(e.on_id, ids[e.on_n]), ids[e.n] from unnest(v_en, v_eon, v_eid, v_eo) e (n, on_n, on_id, open) where e.open;
  select pg_catalog.array_agg(coalesce(x.waits, 0) order by t.n), pg_catalog.array_agg(x.named order by t.n) into waits, named
    from pg_catalog.generate_series(1, v_n) t (n)
    left join (select e.n, count(*) filter (where e.open)::int as waits, pg_catalog.array_agg(distinct coalesce(e.on_task, uuids[e.on_n]))::text as named
      from unnest(v_en, v_eon, v_eu, v_eo) e (n, on_n, on_task, open) group by e.n) x on x.n = t.n;
end $$;

-- Submits tasks, all or none. p_tasks is an array of objects: task_type, description, input_data?, priority?,
-- depends_on? (task ids, or refs of this batch), ref?, tags?, agent_requirements?, labels?, files?, run_at? or
-- delay_seconds?, deadline?, max_attempts?. p_sessions, p_by and p_repositories have one element for all tasks (one call),
-- or one a task (calls that are answered together, each with its own audit row). Without a session the submitter is its by.
-- ids are aligned with the tasks, and so are statuses and blocked, which are null when all are pending and none blocked.
-- lanes are the classes that have something new, units how much each; made tells of new classes.
-- Codes: invalid, too_large, PT440.
create function coord.submit_tasks(p_project bigint, p_sessions bigint[], p_by text[], p_repositories text[], p_tasks jsonb,
  out ids uuid[], out statuses text[], out blocked boolean[], out lanes int[], out units int[], out made boolean)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_now timestamptz := coord.now(); v_n int; v_many boolean := pg_catalog.cardinality(p_sessions) > 1; v_agents text[]; v_cls record;
  v_ids bigint[]; v_waits int[]; v_named text[]; v_one text; v_one_repository text; v_one_session bigint;
begin
  perform coord.check_tasks(p_tasks, v_now);
  v_n := pg_catalog.jsonb_array_length(p_tasks);
  select w.agents into v_agents from coord.work_sessions(p_project, p_sessions) w;
  if not v_many then
    v_one := coalesce(v_agents[1], p_by[1]);
    v_one_repository := p_repositories[1];
    v_one_session := p_sessions[1];
  end if;
  if p_tasks @? '$[*].depends_on[*]' then
    select l.ids, l.uuids, l.waits, l.named into v_ids, ids, v_waits, v_named from coord.link_tasks(p_project, p_tasks) l;
  else
    v_ids := array(select pg_catalog.nextval('public.work_queue_id_seq') from pg_catalog.generate_series(1, v_n));
    ids := coord.uuid7_many(v_n);
  end if;
  v_cls := coord.task_classes(p_project, p_tasks);
  with rows_in as (
    insert into public.work_queue (project_id, id, task_id, task_type, description, input_data, priority, status, class_id, waiting_on,
      depends_on, tags, agent_requirements, labels, files, repository, run_at, deadline, max_attempts, submitted_by, submitted_session, created_at, updated_at)
    overriding system value
    select p_project, r.id, r.u, r.task_type, r.description, nullif(r.input_data, 'null'), coalesce(r.priority, 5),
      case when x.at > v_now then 'scheduled' else 'pending' end, r.class_id, coalesce(r.waits, 0), coalesce(r.named::uuid[], '{}'),
      coalesce(r.tags, '{}'), nullif(r.agent_requirements, 'null'), coalesce(r.labels, '{}'), coalesce(r.files, '{}'),
      coalesce(v_one_repository, r.repository), case when x.at > v_now then x.at end, r.deadline, coalesce(r.max_attempts, 3),
      coalesce(v_one, r.agent, r.by), coalesce(v_one_session, r.session), v_now, v_now
    from rows from (jsonb_to_recordset(p_tasks) as (task_type text, description text, input_data jsonb, priority smallint, tags text[],
        agent_requirements jsonb, labels text[], files text[], run_at timestamptz, delay_seconds float8, deadline timestamptz, max_attempts smallint),
        unnest(v_ids), unnest(ids), unnest(v_cls.classes), unnest(v_waits), unnest(v_named),
        unnest(case when v_many then p_sessions end), unnest(case when v_many then p_by end),
        unnest(case when v_many then p_repositories end), unnest(case when v_many then v_agents end))
      as r (task_type, description, input_data, priority, tags, agent_requirements, labels, files, run_at, delay_seconds, deadline,
        max_attempts, id, u, class_id, waits, named, session, by, repository, agent)
    cross join lateral (select coalesce(r.run_at, v_now + make_interval(secs => nullif(r.delay_seconds, 0))) as at) x
    returning id, class_id, priority, status, waiting_on, run_at, deadline),
  lanes_in as (insert into coord.ready (project_id, queue, class_id, priority, id)
    select p_project, 1, i.class_id, i.priority, i.id from rows_in i where i.status = 'pending' and i.waiting_on = 0 returning class_id),
  times as (insert into coord.timer (project_id, queue, kind, at, id)
    select p_project, 1, 1, i.run_at, i.id from rows_in i where i.run_at is not null
    union all select p_project, 1, 2, i.deadline, i.id from rows_in i where i.deadline is not null)
  select pg_catalog.array_agg(l.class_id), pg_catalog.array_agg(l.n) into lanes, units
    from (select x.class_id, count(*)::int as n from lanes_in x group by x.class_id) l;
  if v_waits is not null or p_tasks @? '$[*] ? (exists (@.run_at) || @.delay_seconds > 0)' then
    select pg_catalog.array_agg(w.status order by o.n), pg_catalog.array_agg(w.waiting_on > 0 order by o.n) into statuses, blocked
      from unnest(v_ids) with ordinality o (id, n)
      cross join lateral (select y.status, y.waiting_on from public.work_queue y where y.project_id = p_project and y.id = o.id limit 1) w;
  end if;
  made := v_cls.made > 0;
  if v_many then
    perform coord.audit_each(p_project, p_sessions, p_by, 'submit_work', ids::text[]);
  else
    perform coord.audit(p_project, p_sessions[1], p_by[1], 'submit_work', ids::text[]);
  end if;
end $$;

-- One call of coord.submit_tasks, in jsonb: for calls within the database.
-- Reply: task_ids in order, tasks ({task_id, status, blocked}), wake (a topic per task that is ready).
create or replace function coord.submit_work(p_project bigint, p_session bigint, p_by text, p_repository text, p_tasks jsonb)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_r record;
begin
  v_r := coord.submit_tasks(p_project, array[p_session], array[p_by], array[p_repository], p_tasks);
  return pg_catalog.jsonb_build_object('success', true, 'task_id', v_r.ids[1], 'task_ids', v_r.ids,
    'tasks', (select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', t.id, 'status', coalesce(t.status, 'pending'), 'blocked', coalesce(t.blocked, false)) order by t.n)
      from unnest(v_r.ids, v_r.statuses, v_r.blocked) with ordinality t (id, status, blocked, n)),
    'wake', case when v_r.made then array['w:' || p_project || ':1:+'] else '{}' end
      || array(select coord.lane_topic(p_project, 1::smallint, l.class_id) from unnest(v_r.lanes, v_r.units) l (class_id, units), pg_catalog.generate_series(1, l.units))
      || coord.work_topic(p_project));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.submit_tasks(bigint, bigint[], text[], text[], jsonb), coord.submit_work(bigint, bigint, text, text, jsonb) to service_role;
