-- The claiming engine: who may take what, and who takes it first. It serves the work queue and the runs.
--
-- An item waits in a lane: (project, queue, demand class, priority). A demand class is one distinct set of demands,
-- interned once; what a claimer may take is a set of class ids, so a claim never looks at an item it may not have.
-- A claim probes the head of each of its classes by index, locks the best one with SKIP LOCKED, and removes it from
-- the thin table coord.ready. Its cost follows the number of matching classes, not the depth of the queue.
-- queue: 1 = work_queue, 2 = runs. priority: 1 is served first; within a priority the older item (smaller id).
--
-- Lock order: a claim takes rows of coord.ready first (never waiting: SKIP LOCKED), then the item. Everything else
-- locks the item first and touches coord.ready only with SKIP LOCKED; rows of coord.lease and coord.timer are
-- written only by who holds the item. So no two calls wait for each other.
set local lock_timeout = '5s';

-- Class ids count 1, 2, 3 … in commit order within (project, queue): the counter's row is locked until the commit
-- that made the class. So "all classes up to id N" is a snapshot that a claimer can remember.
create table coord.demand_epoch (
  project_id bigint   not null,
  queue      smallint not null,
  last       int      not null default 0,
  primary key (project_id, queue)
);

create table coord.demand_class (
  project_id bigint   not null,
  queue      smallint not null,
  id         int      not null,
  demands    jsonb    not null,   -- canonical: see coord.canonical_demands
  digest     bytea    not null,   -- SHA-256 of its text
  primary key (project_id, queue, id),
  unique (project_id, queue, digest)
);

create table coord.ready (
  project_id bigint   not null,
  queue      smallint not null,
  class_id   int      not null,
  priority   smallint not null,
  id         bigint   not null,
  primary key (project_id, queue, class_id, priority, id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.05);

-- Items in flight. until is when to look at the item's lease, at the earliest: a heartbeat moves the item's own
-- lease_until only, and the sweep moves this row when it finds the lease renewed.
create table coord.lease (
  project_id bigint      not null,
  queue      smallint    not null,
  until      timestamptz not null,
  id         bigint      not null,
  session_id bigint      not null,
  primary key (project_id, queue, until, id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- What has to happen to an item at a time: kind 1 = it becomes ready, kind 2 = its deadline passes.
create table coord.timer (
  project_id bigint      not null,
  queue      smallint    not null,
  kind       smallint    not null,
  at         timestamptz not null,
  id         bigint      not null,
  primary key (project_id, queue, kind, at, id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

alter table coord.demand_epoch enable row level security;
alter table coord.demand_class enable row level security;
alter table coord.ready enable row level security;
alter table coord.lease enable row level security;
alter table coord.timer enable row level security;

-------------------------------------------------------------------------------------------- matching
-- The one form of a set of demands: empty members left out, tags sorted and distinct, keys in jsonb's order.
-- Members: hostname, project_dir, executor_profile, tags; task_type, agent_type, min_trust (work).
create function coord.canonical_demands(p_demands jsonb) returns jsonb language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'hostname', nullif(p_demands ->> 'hostname', ''), 'project_dir', nullif(p_demands ->> 'project_dir', ''),
    'executor_profile', nullif(p_demands ->> 'executor_profile', ''), 'task_type', nullif(p_demands ->> 'task_type', ''),
    'agent_type', nullif(p_demands ->> 'agent_type', ''), 'min_trust', nullif((p_demands ->> 'min_trust')::int, 0),
    'tags', (select pg_catalog.jsonb_agg(distinct t order by t) from pg_catalog.jsonb_array_elements_text(
      case when pg_catalog.jsonb_typeof(p_demands -> 'tags') = 'array' then p_demands -> 'tags' else '[]' end) t where t <> '')));
end $$;

-- May this claimer take an item with these (canonical) demands? hostname, project_dir, executor_profile and
-- agent_type must be equal when demanded; every demanded tag must be the claimer's; min_trust is a floor. A claimer
-- that names types takes only those task types; one with require_matching_tags takes nothing without tags (some
-- demanded tag must be the claimer's: as all must, one demanded tag is enough). Without a SET clause it is inlined.
create function coord.demands_match(p_demands jsonb, p_claimer jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(
    (p_demands -> 'hostname' is null or p_demands -> 'hostname' = p_claimer -> 'hostname')
    and (p_demands -> 'project_dir' is null or p_demands -> 'project_dir' = p_claimer -> 'project_dir')
    and (p_demands -> 'executor_profile' is null or p_demands -> 'executor_profile' = p_claimer -> 'executor_profile')
    and (p_demands -> 'agent_type' is null or p_demands -> 'agent_type' = p_claimer -> 'agent_type')
    and (p_demands -> 'min_trust' is null or (p_demands ->> 'min_trust')::int <= (p_claimer ->> 'trust')::int)
    and (pg_catalog.jsonb_typeof(p_claimer -> 'types') is distinct from 'array'
         or pg_catalog.jsonb_exists(p_claimer -> 'types', p_demands ->> 'task_type'))
    and coalesce(p_demands -> 'tags', '[]') <@ coalesce(p_claimer -> 'tags', '[]')
    and (p_claimer -> 'require_matching_tags' is distinct from 'true'::jsonb or p_demands -> 'tags' is not null), false)
$$;

-- The class of canonical demands, made on first sight. made tells that it is new, so that waiting claimers must
-- be told to look at the classes again.
create function coord.class_of(p_project bigint, p_queue smallint, p_demands jsonb, out class_id int, out made boolean)
language plpgsql set search_path = '' as $$
declare v_digest bytea := pg_catalog.sha256(pg_catalog.convert_to(p_demands::text, 'UTF8'));
begin
  made := false;
  select c.id into class_id from coord.demand_class c where c.project_id = p_project and c.queue = p_queue and c.digest = v_digest;
  if class_id is not null then return; end if;
  insert into coord.demand_epoch (project_id, queue) values (p_project, p_queue) on conflict do nothing;
  perform 1 from coord.demand_epoch e where e.project_id = p_project and e.queue = p_queue for no key update;
  select c.id into class_id from coord.demand_class c where c.project_id = p_project and c.queue = p_queue and c.digest = v_digest;
  if class_id is not null then return; end if;
  update coord.demand_epoch e set last = e.last + 1 where e.project_id = p_project and e.queue = p_queue returning e.last into class_id;
  insert into coord.demand_class (project_id, queue, id, demands, digest) values (p_project, p_queue, class_id, p_demands, v_digest);
  made := true;
end $$;

-- The classes after p_after that a claimer may take, ascending. Remember them with the epoch read before.
create function coord.match_classes(p_project bigint, p_queue smallint, p_claimer jsonb, p_after int default 0)
returns int[] language plpgsql stable set search_path = '' as $$
begin
  return coalesce((select pg_catalog.array_agg(c.id order by c.id) from coord.demand_class c
    where c.project_id = p_project and c.queue = p_queue and c.id > p_after and coord.demands_match(c.demands, p_claimer)), '{}');
end $$;

-- How many classes there are: the epoch a claimer's remembered set belongs to.
create function coord.class_epoch(p_project bigint, p_queue smallint) returns int language plpgsql stable set search_path = '' as $$
begin
  return coalesce((select e.last from coord.demand_epoch e where e.project_id = p_project and e.queue = p_queue), 0);
end $$;

-------------------------------------------------------------------------------------------- claiming
-- Takes up to p_n items of the classes out of coord.ready and returns their ids in order: priority, then id, exactly,
-- except that items another claim is just taking are passed over. The caller marks the items and adds the leases
-- in the same transaction.
-- Each round finds the two best heads and takes from the best one's lane up to where the second one begins.
-- Plans are generic throughout the engine: every access is a fully bound index prefix, and planning anew for each
-- array would cost more than the claim. v_fp and v_fi are, per class, the position after which to look in the next round.
create function coord.claim_ready(p_project bigint, p_queue smallint, p_classes int[], p_n int)
returns bigint[] language plpgsql set search_path = '' set plan_cache_mode = force_generic_plan as $$
declare v_ids bigint[] := '{}'; v_got bigint[]; v_classes int[] := p_classes; v_fp smallint[]; v_fi bigint[];
  v_head record; v_k int; v_class int; v_priority smallint; v_first bigint; v_bound bigint;
begin
  if pg_catalog.cardinality(v_classes) > 64 then v_classes := coord.nonempty_classes(p_project, p_queue, v_classes); end if;
  if coalesce(pg_catalog.cardinality(v_classes), 0) = 0 then return v_ids; end if;
  v_fp := pg_catalog.array_fill(0::smallint, array[pg_catalog.cardinality(v_classes)]);
  v_fi := pg_catalog.array_fill(0::bigint, array[pg_catalog.cardinality(v_classes)]);
  loop
    v_k := null; v_bound := 9223372036854775807;
    for v_head in
      select c.k, c.class_id, h.priority, h.id
      from unnest(v_classes, v_fp, v_fi) with ordinality c (class_id, fp, fi, k)
      cross join lateral (
        select r.priority, r.id from coord.ready r
        where r.project_id = p_project and r.queue = p_queue and r.class_id = c.class_id and (r.priority, r.id) > (c.fp, c.fi)
        order by r.priority, r.id limit 1) h
      order by h.priority, h.id limit 2
    loop
      if v_k is null then
        v_k := v_head.k; v_class := v_head.class_id; v_priority := v_head.priority; v_first := v_head.id;
      elsif v_head.priority = v_priority then
        v_bound := v_head.id;
      end if;
    end loop;
    exit when v_k is null;
    with taken as (
      delete from coord.ready d where d.ctid = any (array(
        select r.ctid from coord.ready r
        where r.project_id = p_project and r.queue = p_queue and r.class_id = v_class and r.priority = v_priority
          and r.id >= v_first and r.id < v_bound
        order by r.id limit p_n - pg_catalog.cardinality(v_ids) for update skip locked))
      returning d.id)
    select pg_catalog.array_agg(t.id order by t.id) into v_got from taken t;
    v_ids := v_ids || v_got;
    exit when pg_catalog.cardinality(v_ids) >= p_n;
    v_fp[v_k] := v_priority; v_fi[v_k] := v_bound - 1;
  end loop;
  return v_ids;
end $$;

-- Those of the classes (null: of all) that have ready items, by skipping through the index from class to class. It
-- gives up where that would cost more than probing each of the classes, and returns them all.
create function coord.nonempty_classes(p_project bigint, p_queue smallint, p_classes int[])
returns int[] language plpgsql stable set search_path = '' as $$
declare v_found int[]; v_limit int := coalesce(pg_catalog.cardinality(p_classes) / 4, 2147483647);
begin
  with recursive s (c) as (
      (select r.class_id from coord.ready r where r.project_id = p_project and r.queue = p_queue order by r.class_id limit 1)
      union all
      select (select r.class_id from coord.ready r where r.project_id = p_project and r.queue = p_queue and r.class_id > s.c
              order by r.class_id limit 1) from s where s.c is not null)
    select pg_catalog.array_agg(x.c) into v_found from (select s.c from s where s.c is not null limit v_limit) x;
  if pg_catalog.cardinality(v_found) = v_limit then return p_classes; end if;
  return coalesce((select pg_catalog.array_agg(f.c) from unnest(v_found) f (c) where p_classes is null or f.c = any (p_classes)), '{}');
end $$;

-- Takes a queued item out of its lane. Never waits: a claim that is just taking it finds the item changed.
create function coord.unready(p_project bigint, p_queue smallint, p_class int, p_priority smallint, p_id bigint)
returns void language plpgsql set search_path = '' as $$
begin
  delete from coord.ready d where d.ctid = any (array(
    select r.ctid from coord.ready r where r.project_id = p_project and r.queue = p_queue and r.class_id = p_class
      and r.priority = p_priority and r.id = p_id for update skip locked));
end $$;

-- The dispatch topic of a class; see internal/dispatch.
create function coord.lane_topic(p_project bigint, p_queue smallint, p_class int) returns text language plpgsql stable parallel safe
as $$ begin return 'w:' || p_project || ':' || p_queue || ':' || p_class; end $$;

-- The dispatch topic of "tasks changed", for who shows them.
create function coord.work_topic(p_project bigint) returns text language sql stable parallel safe
as $$ select 'r:' || p_project || ':work' $$;

-- Which lanes have something ready: one topic per item, at most p_limit a class. The slow re-check of all waiting
-- claimers of a process is one call of this.
create function coord.ready_topics(p_projects bigint[], p_queues smallint[], p_limit int default 64)
returns text[] language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((
    with recursive q as (select distinct x.project_id, x.queue from unnest(p_projects, p_queues) x (project_id, queue)),
    s (project_id, queue, c) as (
      select q.project_id, q.queue, (select r.class_id from coord.ready r where r.project_id = q.project_id and r.queue = q.queue
        order by r.class_id limit 1) from q
      union all
      select s.project_id, s.queue, (select r.class_id from coord.ready r where r.project_id = s.project_id and r.queue = s.queue
        and r.class_id > s.c order by r.class_id limit 1) from s where s.c is not null)
    select pg_catalog.array_agg(coord.lane_topic(s.project_id, s.queue, s.c)) from s
    cross join lateral (select 1 from coord.ready r where r.project_id = s.project_id and r.queue = s.queue and r.class_id = s.c
      limit p_limit) units
    where s.c is not null), '{}');
end $$;

-- Seconds to wait before attempt p_attempt + 1: 5, 10, 20 … at most 15 minutes, plus up to a fifth that differs by
-- item, so that items that failed together do not come back together.
create function coord.backoff_seconds(p_id bigint, p_attempt int) returns int language sql immutable parallel safe as $$
  select b.s + (pg_catalog.abs(pg_catalog.hashint8(p_id)::bigint + p_attempt) % (b.s / 5 + 1))::int
  from (select least(900, 5 * (1 << least(greatest(p_attempt, 1) - 1, 8)))::int as s) b
$$;

-- Projects that have rows due in a queue's leases or timers, without visiting the others.
create function coord.due_projects(p_queue smallint, p_now timestamptz) returns setof bigint language plpgsql stable set search_path = '' as $$
begin
  return query with recursive l (p) as (
      select pg_catalog.min(x.project_id) from coord.lease x
      union all select (select pg_catalog.min(x.project_id) from coord.lease x where x.project_id > l.p) from l where l.p is not null),
    t (p) as (
      select pg_catalog.min(x.project_id) from coord.timer x
      union all select (select pg_catalog.min(x.project_id) from coord.timer x where x.project_id > t.p) from t where t.p is not null)
    select l.p from l where exists (select from coord.lease x where x.project_id = l.p and x.queue = p_queue and x.until <= p_now)
    union
    select t.p from t where exists (select from coord.timer x where x.project_id = t.p and x.queue = p_queue and x.kind = 1 and x.at <= p_now)
      or exists (select from coord.timer x where x.project_id = t.p and x.queue = p_queue and x.kind = 2 and x.at <= p_now);
end $$;

grant execute on function coord.ready_topics(bigint[], smallint[], int) to service_role;
