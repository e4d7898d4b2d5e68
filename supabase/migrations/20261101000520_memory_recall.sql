-- Memory, what recall reads. Every function takes one project and returns rows of that project alone, whatever hashes
-- collide. Sequential and plain index scans are switched off where only the GIN index answers in time; the project is
-- compared as an expression there, so that no other index looks cheaper.
set local lock_timeout = '5s';

-- Size of the index, and in how many memories each term is.
create function coord.memory_stats(p_project bigint, p_terms bigint[])
returns table (n bigint, groups bigint, len_title float8, len_body float8, df bigint[]) language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select greatest(coalesce(s.n, 0), 0), coalesce(s.groups, 0), coalesce(s.len_title::float8 / nullif(s.n, 0), 0), coalesce(s.len_body::float8 / nullif(s.n, 0), 0),
      array(select coalesce(t.n, 0)::bigint from pg_catalog.unnest(p_terms) with ordinality u (term, i)
        left join coord.memory_terms t on t.project_id = p_project and t.term = u.term order by u.i)
    from (select 1) one left join coord.memory_stat s on s.project_id = p_project;
end $$;

-- Memories with any of p_any that have all of p_need.
create function coord.memories_any(p_project bigint, p_any bigint[], p_need bigint[], p_archived boolean, p_limit int)
returns table (id bigint, group_id bigint, seq int, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea)
language plpgsql stable security definer set search_path = '' set enable_seqscan = off set enable_indexscan = off set jit = off as $$
begin
  return query select i.id, i.group_id, i.seq, i.kind, extract(epoch from i.at)::bigint, i.len_title, i.len_body, i.flags, i.skill, i.sig
    from coord.memory_index i
    where i.terms operator(pg_catalog.&&) p_any and i.project_id + 0 = p_project
      and (p_archived or i.flags & 1 = 0) and (p_need is null or (i.terms operator(pg_catalog.@>) p_need) is not false)
    limit p_limit;
end $$;

-- Memories with all terms of one of the sets that have all of p_need. A set that is null finds nothing.
create function coord.memories_all(p_project bigint, p_1 bigint[], p_2 bigint[], p_3 bigint[], p_4 bigint[], p_5 bigint[], p_6 bigint[],
  p_need bigint[], p_archived boolean, p_limit int)
returns table (id bigint, group_id bigint, seq int, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea)
language plpgsql stable security definer set search_path = '' set enable_seqscan = off set enable_indexscan = off set jit = off as $$
begin
  return query select i.id, i.group_id, i.seq, i.kind, extract(epoch from i.at)::bigint, i.len_title, i.len_body, i.flags, i.skill, i.sig
    from coord.memory_index i
    where (i.terms operator(pg_catalog.@>) p_1 or i.terms operator(pg_catalog.@>) p_2 or i.terms operator(pg_catalog.@>) p_3
        or i.terms operator(pg_catalog.@>) p_4 or i.terms operator(pg_catalog.@>) p_5 or i.terms operator(pg_catalog.@>) p_6)
      and i.project_id + 0 = p_project
      and (p_archived or i.flags & 1 = 0) and (p_need is null or (i.terms operator(pg_catalog.@>) p_need) is not false)
    limit p_limit;
end $$;

-- The newest memories.
create function coord.memories_newest(p_project bigint, p_need bigint[], p_archived boolean, p_limit int)
returns table (id bigint, group_id bigint, seq int, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea)
language plpgsql stable security definer set search_path = '' set jit = off as $$
begin
  return query select i.id, i.group_id, i.seq, i.kind, extract(epoch from i.at)::bigint, i.len_title, i.len_body, i.flags, i.skill, i.sig
    from coord.memory_index i
    where i.project_id = p_project and (p_archived or i.flags & 1 = 0)
      and (p_need is null or (i.terms operator(pg_catalog.@>) p_need) is not false)
    order by i.id desc limit p_limit;
end $$;

-- Stretches of sessions: memories p_from[k] ≤ seq ≤ p_to[k] of group p_groups[k].
create function coord.memory_windows(p_project bigint, p_groups bigint[], p_from int[], p_to int[])
returns table (id bigint, group_id bigint, seq int, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea)
language plpgsql stable security definer set search_path = '' set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off as $$
begin
  return query select i.id, i.group_id, i.seq, i.kind, extract(epoch from i.at)::bigint, i.len_title, i.len_body, i.flags, i.skill, i.sig
    from unnest(p_groups, p_from, p_to) as s (g, a, z)
    join coord.memory_index i on i.project_id = p_project and i.group_id = s.g and i.seq between s.a and s.z and i.group_id <> 0;
end $$;

-- Known words most like each of p_words, two each, similarity at least 0.4. Nothing where pg_trgm is missing.
create function coord.similar_words(p_project bigint, p_words text[])
returns table (asked text, word text, score real) language plpgsql stable security definer set search_path = '' as $$
declare v_schema text;
begin
  select n.nspname into v_schema from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  if v_schema is null then return; end if;
  perform pg_catalog.set_config('pg_trgm.similarity_threshold', '0.4', true);
  return query execute pg_catalog.format(
    'select w.asked, v.word, v.score from pg_catalog.unnest($2) w (asked) cross join lateral (
       select x.word, %1$I.similarity(x.word, w.asked) as score from coord.memory_vocab x
       where x.word operator(%1$I.%%) w.asked and x.project_id = $1 order by score desc, x.word limit 2) v', v_schema)
    using p_project, p_words;
end $$;

-- A memory as replies show it.
create function coord.memory_json(p_e public.memory_episodic) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('memory_type', 'episodic', 'memory_id', p_e.memory_id, 'agent_id', p_e.agent_id,
    'session_id', p_e.session_id, 'event_type', p_e.event_type, 'summary', p_e.summary, 'outcome', p_e.outcome,
    'lessons', p_e.lessons, 'tags', p_e.tags, 'repository', nullif(p_e.repository, ''), 'path', p_e.path, 'line_from', p_e.line_from, 'line_to', p_e.line_to,
    'digest', p_e.digest, 'branch', nullif(p_e.branch, ''), 'stale', case when p_e.stale_at is not null then true end, 'archived', case when p_e.archived_at is not null then true end,
    'merged', nullif(p_e.merged, 0), 'task_id', p_e.task_id, 'source', p_e.source, 'tokens', p_e.tokens, 'created_at', coord.ts(p_e.created_at)))
    || case when p_e.details is null then '{}' else pg_catalog.jsonb_build_object('details', p_e.details) end
$$;

-- A skill as replies show it. success_rate is the mean of the Beta posterior with a uniform prior: 0.5 unused.
create function coord.skill_json(p_k public.memory_procedural) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('memory_type', 'procedural', 'memory_id', p_k.memory_id, 'skill_id', p_k.memory_id,
    'skill_name', p_k.name, 'description', p_k.description, 'steps', p_k.steps, 'tags', p_k.tags, 'agent_id', p_k.agent_id, 'uses', p_k.uses,
    'successes', p_k.successes, 'success_rate', round((p_k.successes + 1)::numeric / (p_k.uses + 2), 4), 'tokens', p_k.tokens,
    'archived', case when p_k.archived_at is not null then true end, 'created_at', coord.ts(p_k.created_at), 'updated_at', coord.ts(p_k.updated_at)))
$$;

-- The memories of the given internal ids p_ids[k] in projects p_projects[k].
create function coord.memories_by_id(p_projects bigint[], p_ids bigint[])
returns table (id bigint, doc jsonb) language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select e.id, coord.memory_json(e) from unnest(p_projects, p_ids) u (project, id) join public.memory_episodic e on e.project_id = u.project and e.id = u.id
    union all
    select k.id, coord.skill_json(k) from unnest(p_projects, p_ids) u (project, id) join public.memory_procedural k on k.project_id = u.project and k.id = u.id;
end $$;

-- Whether anything is remembered.
create function coord.has_memories(p_project bigint) returns boolean language plpgsql stable security definer set search_path = '' as $$
begin
  return exists (select from coord.memory_index i where i.project_id = p_project);
end $$;

-- Projects that have memories, those with the newest first. p_only, when not null, is the only one allowed.
create function coord.projects_with_memory(p_only bigint, p_limit int)
returns table (id bigint, name text) language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select p.id, p.name from public.projects p
    cross join lateral (select i.id as newest from coord.memory_index i where i.project_id = p.id order by i.id desc limit 1) i
    where p_only is null or p.id = p_only order by i.newest desc limit p_limit;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
