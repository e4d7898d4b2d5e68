-- Locks: the table, the overlap test, and the single-file fast path.
--
-- A lock is a row of file_locks; a shared one has a row per session. Whether two locks overlap is decided from
-- base (the file, the directory, or a glob's leading directories): rivals of a key lie on the key's ancestors or,
-- for directories and globs, beneath its base. One btree answers both.
--
-- Lock order of every function: session lock (advisory) -> queue lock (advisory, only to join the queue) -> gates
-- (advisory, in one sorted list) -> rows of file_locks -> rows of the queue -> rows of agents, notices, audit.
-- Gates are hierarchical: shared on each ancestor directory, exclusive on the key itself; so conflicting changes
-- meet in at least one gate and disjoint ones do not wait for each other.
-- Everything needs READ COMMITTED: a statement after the gates must see what was committed before them.
-- Functions that others call set search_path, the plan settings (index paths whatever the statistics say, one generic
-- plan, no JIT) and run as their owner; helpers inherit all that and are only for them.
set local lock_timeout = '5s';

create table public.file_locks (
  project_id  bigint not null,
  space       bigint not null,                    -- 0: logical keys of the project; else the repository's id
  base        text collate "C" not null,          -- see above; '' is the repository's root
  key         text collate "C" not null,          -- a/b.go | a/ | a glob
  branch      text collate "C" not null default '', -- '': every branch
  session_id  bigint not null,                    -- internal id of the owning session
  kind        text collate "C" not null check (kind in ('l', 'd', 'g')),  -- literal, directory, glob
  mode        text collate "C" not null check (mode in ('exclusive', 'shared')),
  token       bigint not null,                    -- fencing token; grows with every grant
  ttl_minutes int not null,
  acquired_at timestamptz not null,
  expires_at  timestamptz not null,
  file_path   text not null,                      -- key as people write it
  locked_by   text not null,                      -- agent_id
  agent_type  text not null,
  session_name text not null default '',          -- the owning session as its agent names it
  repository  text,                               -- null: a logical key
  reason      text,
  re          text collate "C",                   -- globs only: anchored expression of the matching paths,
  pre         text collate "C",                   --   of the directories with a matching path beneath,
  lk          text collate "C",                   --   and a LIKE pattern that is tried before re
  primary key (project_id, space, base, key, branch, session_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- The session first: led by the project, the planner would take it for the way to a project's locks.
create index file_locks_session on public.file_locks (session_id, project_id);
comment on table public.file_locks is 'Held locks. A row whose expires_at has passed is no lock; expires_at is not indexed, so that renewals stay in place.';

-- The queue. Unlogged: joining, keep-alive and leaving cost no fsync; after a crash it is empty and clients join again.
create unlogged table coord.lock_waits (
  project_id  bigint not null,
  id          bigint not null,       -- ticket; the order of the queue
  session_id  bigint not null,
  agent_id    text not null,
  topic       text not null,         -- dispatch topic that wakes this waiter
  created_at  timestamptz not null,
  alive_until timestamptz not null,  -- the waiter looks in every 2 s; one that does not is passed over
  primary key (project_id, id)
);
create index lock_waits_session on coord.lock_waits (session_id, project_id);

create unlogged table coord.lock_wait_keys (
  project_id bigint not null,
  space      bigint not null,
  base       text collate "C" not null,
  key        text collate "C" not null,
  wait_id    bigint not null,
  session_id bigint not null,
  branch     text collate "C" not null,
  kind       text collate "C" not null,
  mode       text collate "C" not null,
  path       text not null,
  re         text collate "C",
  pre        text collate "C",
  lk         text collate "C",
  anc        text[] collate "C" not null,
  primary key (project_id, space, base, key, wait_id)
);
create index lock_wait_keys_wait on coord.lock_wait_keys (wait_id, project_id);
create index lock_wait_keys_session on coord.lock_wait_keys (session_id, project_id);

create sequence coord.lock_token;   -- cache 1 and drawn inside the gates: tokens grow per key
create sequence coord.lock_ticket;

alter table public.file_locks enable row level security;
revoke all on public.file_locks from anon, authenticated;
grant select on public.file_locks to anon, authenticated;
grant select, insert, update, delete on public.file_locks to service_role;
create policy file_locks_read on public.file_locks for select to anon, authenticated
  using (project_id in (select id from public.projects));
create policy file_locks_service on public.file_locks to service_role using (true) with check (true);
alter table coord.lock_waits enable row level security;
alter table coord.lock_wait_keys enable row level security;
-- coord.lock_holder, which runs with the rights of its caller, reads where somebody waits.
grant select (project_id, space, base) on coord.lock_wait_keys to service_role;
create policy lock_wait_keys_service on coord.lock_wait_keys for select to service_role using (true);

-- One key of a request, with what the overlap test needs.
create type coord.lock_key as (
  space bigint, kind text collate "C", base text collate "C", key text collate "C", branch text collate "C",
  mode text collate "C", path text, repo text, pfx text,
  re text collate "C", pre text collate "C", lk text collate "C", anc text[] collate "C");

-- The repository that a name means: '' is the project's first, made as 'default' when there is none.
-- Raises not_found for a name that the project does not know; the first name ever used in a project is taken as given.
create function coord.lock_space(p_project bigint, p_name text) returns table (id bigint, name text)
language plpgsql security definer set search_path = '' as $$
declare v_name text := nullif(p_name, '');
begin
  return query select r.id, r.name from public.repositories r
    where r.project_id = p_project and (v_name is null or r.name = v_name or r.remote = v_name)
    order by r.name = v_name desc nulls last, r.id limit 1;
  if found then return; end if;
  if v_name is not null and exists (select from public.repositories r where r.project_id = p_project) then
    perform coord.fail(404, 'not_found', format('no repository %L in this project', v_name),
      'its repositories are ' || (select string_agg(x.name, ', ') from (select r.name from public.repositories r
        where r.project_id = p_project order by r.id limit 20) x), 'name one of them, or leave repository out', 'repository');
  end if;
  insert into public.repositories as r (project_id, name) values (p_project, coalesce(v_name, 'default'))
    on conflict on constraint repositories_project_id_name_key do nothing;
  return query select r.id, r.name from public.repositories r
    where r.project_id = p_project and r.name = coalesce(v_name, 'default');
end $$;

------------------------------------------------------------------------------------------------ overlap
-- '' and every leading part of a path, and the path: the places where a rival's base may lie.
create function coord.lock_anc(p_base text) returns text[] language plpgsql immutable parallel safe as $$
declare v_parts text[] := string_to_array(p_base, '/'); v_acc text := v_parts[1]; v_out text[] := array['', v_acc];
begin
  if p_base = '' then return array['']; end if;
  for n in 2 .. cardinality(v_parts) loop
    v_acc := v_acc || '/' || v_parts[n];
    v_out := v_out || v_acc;
  end loop;
  return v_out;
end $$;

-- Is p_path the directory p_dir or beneath it? '' is the root.
create function coord.lock_under(p_path text, p_dir text) returns boolean language sql immutable parallel safe
as $$ select p_dir = '' or p_path = p_dir or starts_with(p_path, p_dir || '/') $$;

-- The elements of one name of a glob: '*', '?', a class with its brackets, or one character.
create function coord.glob_toks(p_seg text) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(case when m[1] like '\\%' then right(m[1], 1) else m[1] end), '{}')
  from regexp_matches(p_seg, '\\\[|\[[!^]?\]?[^]]*\]|.', 'g') m
$$;

-- The ranges of a class as lower, upper, lower, upper, ... code points.
create function coord.class_ranges(p_tok text) returns int[] language plpgsql immutable parallel safe as $$
declare v_body text := substr(p_tok, 2, length(p_tok) - 2); v_out int[] := '{}'; i int := 1; v_lo int; v_hi int;
begin
  if left(v_body, 1) in ('!', '^') then v_body := substr(v_body, 2); end if;
  while i <= length(v_body) loop
    v_lo := ascii(substr(v_body, i, 1)); v_hi := v_lo; i := i + 1;
    if substr(v_body, i, 1) = '-' and i < length(v_body) then
      v_hi := ascii(substr(v_body, i + 1, 1)); i := i + 2;
    end if;
    if v_lo <= v_hi then v_out := v_out || v_lo || v_hi; end if;
  end loop;
  return v_out;
end $$;

-- Can one character fit both elements?
create function coord.tok_meet(p_a text, p_b text) returns boolean language plpgsql immutable parallel safe as $$
declare v_a int[]; v_b int[]; v_na boolean; v_nb boolean;
begin
  if p_a = '?' or p_b = '?' then return true; end if;
  if length(p_a) = 1 and length(p_b) = 1 then return p_a = p_b; end if;
  v_na := length(p_a) > 1 and substr(p_a, 2, 1) in ('!', '^');
  v_nb := length(p_b) > 1 and substr(p_b, 2, 1) in ('!', '^');
  if v_na and v_nb then return true; end if;
  v_a := case when length(p_a) = 1 then array[ascii(p_a), ascii(p_a)] else coord.class_ranges(p_a) end;
  v_b := case when length(p_b) = 1 then array[ascii(p_b), ascii(p_b)] else coord.class_ranges(p_b) end;
  return exists (
    select from unnest(v_a || v_b) x cross join unnest(array[x - 1, x, x + 1]) c
    where c <> 47 and c > 0
      and v_na <> exists (select from generate_series(1, cardinality(v_a), 2) g where c between v_a[g] and v_a[g + 1])
      and v_nb <> exists (select from generate_series(1, cardinality(v_b), 2) g where c between v_b[g] and v_b[g + 1]));
end $$;

-- Can one sequence fit both? p_deep: the elements are names and '**' repeats; else characters and '*' repeats.
-- The walk keeps, for the first i elements of a, the set of j such that the first j of b fit beside them.
create function coord.glob_walk(p_a text[], p_b text[], p_deep boolean) returns boolean
language plpgsql immutable parallel safe as $$
declare v_rep text := case when p_deep then '**' else '*' end; v_m int := cardinality(p_a); v_n int := cardinality(p_b);
  v_ok boolean[] := array_fill(false, array[v_n + 1]); v_next boolean[]; v_none boolean[] := v_ok; v_ar boolean; v_br boolean;
begin
  v_ok[1] := true;
  for i in 1 .. v_m + 1 loop
    v_next := v_none;
    v_ar := i <= v_m and p_a[i] = v_rep;
    for j in 1 .. v_n + 1 loop
      continue when not v_ok[j];
      v_br := j <= v_n and p_b[j] = v_rep;
      if v_ar then v_next[j] := true; end if;
      if v_br or (v_ar and j <= v_n) then v_ok[j + 1] := true; end if;
      if i <= v_m and not v_ar then
        if v_br then
          v_next[j] := true;
        elsif j <= v_n and (case when p_deep then coord.name_meet(p_a[i], p_b[j]) else coord.tok_meet(p_a[i], p_b[j]) end) then
          v_next[j + 1] := true;
        end if;
      end if;
    end loop;
    if i <= v_m then v_ok := v_next; end if;
  end loop;
  return v_ok[v_n + 1];
end $$;

-- Can one name fit both names of globs? Cheap answers first.
create function coord.name_meet(p_a text, p_b text) returns boolean language plpgsql immutable parallel safe as $$
declare v_pa boolean := p_a ~ '[*?[]'; v_pb boolean := p_b ~ '[*?[]';
begin
  if p_a = p_b or p_a = '*' or p_b = '*' then return true; end if;
  if not v_pa and not v_pb then return false; end if;
  return coord.glob_walk(coord.glob_toks(p_a), coord.glob_toks(p_b), false);
end $$;

-- Can one path fit both globs?
create function coord.glob_meet(p_a text, p_b text) returns boolean language plpgsql immutable parallel safe as $$
begin
  return p_a = p_b or coord.glob_walk(string_to_array(p_a, '/'), string_to_array(p_b, '/'), true);
end $$;

-- Do two keys of one space overlap? Inlined into its callers; internal/lockpath.Meet decides the same.
create function coord.lock_meet(p_ak text, p_ab text, p_akey text, p_are text, p_apre text, p_alk text,
  p_bk text, p_bb text, p_bkey text, p_bre text, p_bpre text, p_blk text) returns boolean
language sql immutable parallel safe as $$
  select case p_ak || p_bk
    when 'll' then p_ab = p_bb
    when 'ld' then coord.lock_under(p_ab, p_bb)
    when 'dl' then coord.lock_under(p_bb, p_ab)
    when 'dd' then coord.lock_under(p_ab, p_bb) or coord.lock_under(p_bb, p_ab)
    when 'lg' then p_ab like p_blk and p_ab ~ p_bre
    when 'gl' then p_bb like p_alk and p_bb ~ p_are
    when 'dg' then coord.lock_under(p_bb, p_ab) or (coord.lock_under(p_ab, p_bb) and p_ab ~ p_bpre)
    when 'gd' then coord.lock_under(p_ab, p_bb) or (coord.lock_under(p_bb, p_ab) and p_bb ~ p_apre)
    else (coord.lock_under(p_ab, p_bb) or coord.lock_under(p_bb, p_ab)) and coord.glob_meet(p_akey, p_bkey)
  end
$$;

-- Held rows (live or not) of other sessions that conflict with a key: on its ancestors, then beneath its base.
-- Inlined into its callers' queries: keep it free of SET and SECURITY DEFINER. One look-up per
-- ancestor ("base = any" may become a filter) and "offset 0" (a query of its own, in which the key is given): else the
-- planner reads all locks of a project that had few when it planned.
create function coord.lock_rivals(p_project bigint, p_session bigint, p_space bigint, p_kind text, p_base text,
  p_key text, p_branch text, p_mode text, p_re text, p_pre text, p_lk text, p_anc text[])
returns setof public.file_locks language sql stable as $$
  select x.* from unnest(p_anc) a(a) cross join lateral (select l.* from public.file_locks l
  where l.project_id = p_project and l.space = p_space and l.base = a.a and l.session_id <> p_session
    and (l.mode = 'exclusive' or p_mode = 'exclusive') and (l.branch = '' or p_branch = '' or l.branch = p_branch)
    and coord.lock_meet(p_kind, p_base, p_key, p_re, p_pre, p_lk, l.kind, l.base, l.key, l.re, l.pre, l.lk) offset 0) x
  union all
  select x.* from (select l.* from public.file_locks l
  where p_kind <> 'l' and l.project_id = p_project and l.space = p_space
    and l.base > case when p_base = '' then '' else p_base || '/' end
    and l.base < case when p_base = '' then U&'\+10FFFF' else p_base || '0' end
    and l.session_id <> p_session
    and (l.mode = 'exclusive' or p_mode = 'exclusive') and (l.branch = '' or p_branch = '' or l.branch = p_branch)
    and coord.lock_meet(p_kind, p_base, p_key, p_re, p_pre, p_lk, l.kind, l.base, l.key, l.re, l.pre, l.lk) offset 0) x
$$;

-- Keys of waiters that conflict with a key and joined before p_before.
create function coord.lock_rivals_waiting(p_project bigint, p_session bigint, p_before bigint, p_space bigint, p_kind text, p_base text,
  p_key text, p_branch text, p_mode text, p_re text, p_pre text, p_lk text, p_anc text[])
returns setof coord.lock_wait_keys language sql stable as $$
  select x.* from unnest(p_anc) a(a) cross join lateral (select w.* from coord.lock_wait_keys w
  where w.project_id = p_project and w.space = p_space and w.base = a.a and w.session_id <> p_session and w.wait_id < p_before
    and (w.mode = 'exclusive' or p_mode = 'exclusive') and (w.branch = '' or p_branch = '' or w.branch = p_branch)
    and coord.lock_meet(p_kind, p_base, p_key, p_re, p_pre, p_lk, w.kind, w.base, w.key, w.re, w.pre, w.lk) offset 0) x
  union all
  select x.* from (select w.* from coord.lock_wait_keys w
  where p_kind <> 'l' and w.project_id = p_project and w.space = p_space
    and w.base > case when p_base = '' then '' else p_base || '/' end
    and w.base < case when p_base = '' then U&'\+10FFFF' else p_base || '0' end
    and w.session_id <> p_session and w.wait_id < p_before
    and (w.mode = 'exclusive' or p_mode = 'exclusive') and (w.branch = '' or p_branch = '' or w.branch = p_branch)
    and coord.lock_meet(p_kind, p_base, p_key, p_re, p_pre, p_lk, w.kind, w.base, w.key, w.re, w.pre, w.lk) offset 0) x
$$;

-- The keys of a request from its columns. p_home is the caller's own repository: paths elsewhere print as @repo//path.
create function coord.lock_keys(p_home bigint, p_space bigint[], p_kind text[], p_base text[], p_key text[], p_path text[],
  p_repo text[], p_re text[], p_pre text[], p_lk text[], p_branch text, p_mode text) returns coord.lock_key[]
language plpgsql stable as $$
begin
  return array(
    select row(u.space, u.kind, u.base, u.key, coalesce(p_branch, ''), p_mode, u.path, nullif(u.repo, ''),
      case when u.space in (0, p_home) then '' else '@' || u.repo || '//' end,
      nullif(u.re, ''), nullif(u.pre, ''), nullif(u.lk, ''), coord.lock_anc(u.base))::coord.lock_key
    from unnest(p_space, p_kind, p_base, p_key, p_path, p_repo, p_re, p_pre, p_lk)
      as u(space, kind, base, key, path, repo, re, pre, lk));
end $$;
