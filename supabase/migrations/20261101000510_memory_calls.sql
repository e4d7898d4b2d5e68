-- Memory, the calls: store, index, find, forget. Replies carry text; what ranks is internal/recall.
set local lock_timeout = '5s';

-- The place of a new memory in its group p_name: the group is made on first use. p_new: it is.
create function coord.memory_place(p_project bigint, p_name text, p_imported boolean, p_at timestamptz, out v_group bigint, out v_seq int, out v_new boolean)
language plpgsql set search_path = '' as $$
begin
  v_new := false;
  update coord.memory_groups g set last_at = greatest(g.last_at, p_at),
      last_seq = g.last_seq + case when p_at - g.last_at > interval '6 hours' then 16 else 1 end
    where g.project_id = p_project and g.name = p_name returning g.id, g.last_seq into v_group, v_seq;
  if found then return; end if;
  insert into coord.memory_groups as g (project_id, name, imported, last_seq, last_at) values (p_project, p_name, p_imported, 1, p_at)
    on conflict (project_id, name) do update set last_seq = g.last_seq + 1, last_at = greatest(g.last_at, p_at)
    returning g.id, g.last_seq, g.last_seq = 1 into v_group, v_seq, v_new;
end $$;

-- Writes the index row of a memory, or replaces it, and queues the change of the counts. p_x: terms (bigint[] as JSON
-- would lose digits, hence parameters), sig, words, lengths. p_rev is the memory's revision that was indexed: an older
-- one than the present is ignored, its successor is on its way.
create function coord.put_memory_index(p_project bigint, p_id bigint, p_kind smallint, p_rev int, p_at timestamptz, p_group bigint, p_seq int,
  p_new_group boolean, p_flags int, p_skill int, p_terms bigint[], p_sig bytea, p_words text[], p_title int, p_body int, p_version int)
returns void language plpgsql set search_path = '' as $$
begin
  insert into coord.memory_index (project_id, id, group_id, seq, kind, at, len_title, len_body, flags, skill, version, rev, sig, terms)
    values (p_project, p_id, p_group, p_seq, p_kind, p_at, p_title, p_body, p_flags, p_skill, p_version, p_rev, p_sig, p_terms);
  insert into coord.memory_fold (project_id, delta, groups, len_title, len_body, terms, words)
    values (p_project, 1, case when p_new_group then 1 else 0 end, p_title, p_body, p_terms, coalesce(p_words, '{}'));
end $$;

-- Flags of the index for an outcome; both vocabularies of the clients are understood.
create function coord.outcome_flags(p_outcome text) returns int language sql immutable set search_path = '' as $$
  select case when pg_catalog.lower(p_outcome) in ('success', 'positive') then 8 when pg_catalog.lower(p_outcome) in ('failure', 'negative', 'error') then 16 else 0 end
$$;

-- Elements of both arrays, each once, in order of first appearance.
create function coord.union_texts(p_a text[], p_b text[]) returns text[] language sql immutable set search_path = '' as $$
  select coalesce(pg_catalog.array_agg(x.v order by x.n), '{}') from (
    select v, min(n) as n from pg_catalog.unnest(p_a || p_b) with ordinality u (v, n) where v is not null group by v) x
$$;

-- Array member of a document as text[]; anything else is an empty array.
create function coord.doc_texts(p_doc jsonb, p_key text) returns text[] language sql immutable set search_path = '' as $$
  select case when pg_catalog.jsonb_typeof(p_doc -> p_key) = 'array'
    then array(select pg_catalog.jsonb_array_elements_text(p_doc -> p_key)) else '{}' end
$$;

-- Stores an experience of the session's agent: {event_type, summary, details, outcome, lessons, tags, repository, path,
-- line_from, line_to, digest, task_id}. Said again by the same agent with the same type and summary within an hour, it is
-- merged into the first: lessons and tags are united, details joined (new members win), outcome and observation replaced
-- when given. p_terms … p_version index what was sent; after a merge the program indexes the whole (member reindex).
-- Raises invalid when details or lessons are too large. Serialised by an advisory lock, so that of any number of
-- concurrent repetitions exactly one inserts.
create function coord.remember(p_project bigint, p_session bigint, p_by text, p_doc jsonb, p_terms bigint[], p_sig bytea, p_words text[],
  p_title int, p_body int, p_tokens int, p_version int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_e public.memory_episodic; v_now timestamptz; v_hash bigint; v_place record; v_old bigint;
begin
  v_s := coord.session(p_project, p_session);
  if pg_catalog.octet_length(p_doc::text) > 65536 then
    perform coord.fail(422, 'invalid', 'the memory is larger than 65536 bytes', 'a memory is read by every agent that asks something near it',
      'keep the lesson; name files and commits instead of quoting them', 'details');
  end if;
  v_hash := pg_catalog.hashtextextended(v_s.agent_id || E'\n' || (p_doc ->> 'event_type') || E'\n' || (p_doc ->> 'summary'), p_project);
  perform pg_catalog.pg_advisory_xact_lock(v_hash);
  v_now := coord.now();
  select e.id into v_old from public.memory_episodic e
    where e.project_id = p_project and e.dedup = v_hash and e.agent_id = v_s.agent_id and e.event_type = p_doc ->> 'event_type'
      and e.summary = p_doc ->> 'summary' and e.created_at > v_now - interval '1 hour' order by e.id desc limit 1;
  if v_old is not null then return coord.merge_memory(p_project, p_session, p_by, v_old, p_doc, v_now); end if;
  v_e := coord.new_memory(p_project, v_s.agent_id, v_s.agent_type, v_s.session_id, p_doc, v_hash, v_now, p_tokens);
  select * into v_place from coord.memory_place(p_project, 's:' || p_session, false, v_now);
  perform coord.put_memory_index(p_project, v_e.id, 1::smallint, 1, v_now, v_place.v_group, v_place.v_seq, v_place.v_new,
    coord.outcome_flags(v_e.outcome), 0, p_terms, p_sig, p_words, p_title, p_body, p_version);
  perform coord.audit(p_project, p_session, p_by, 'remember', array[v_e.memory_id::text], true, null,
    pg_catalog.jsonb_build_object('event_type', v_e.event_type, 'summary', pg_catalog.left(v_e.summary, 200)));
  return pg_catalog.jsonb_build_object('success', true, 'memory_id', v_e.memory_id, 'action', 'stored');
end $$;

-- Inserts the row of a new experience. A digest that is known to differ from the file's newest one, reported earlier,
-- does not make it stale: who stores an observation has just looked.
create function coord.new_memory(p_project bigint, p_agent text, p_type text, p_session text, p_doc jsonb, p_hash bigint, p_at timestamptz, p_tokens int)
returns public.memory_episodic language plpgsql set search_path = '' as $$
declare v_e public.memory_episodic;
begin
  insert into public.memory_episodic (project_id, memory_id, agent_id, agent_type, session_id, event_type, summary, details, outcome, lessons, tags,
      repository, path, line_from, line_to, digest, branch, task_id, source, tokens, dedup, created_at, updated_at)
    values (p_project, coalesce((p_doc ->> 'memory_id')::uuid, coord.uuid7()), p_agent, p_type, p_session, p_doc ->> 'event_type', p_doc ->> 'summary',
      nullif(p_doc -> 'details', 'null'), p_doc ->> 'outcome', coord.doc_texts(p_doc, 'lessons'), coord.doc_texts(p_doc, 'tags'),
      coalesce(p_doc ->> 'repository', ''), p_doc ->> 'path', (p_doc ->> 'line_from')::int, (p_doc ->> 'line_to')::int, p_doc ->> 'digest',
      coalesce(p_doc ->> 'branch', ''), (p_doc ->> 'task_id')::uuid, p_doc ->> 'source', p_tokens, p_hash, p_at, p_at)
    returning * into v_e;
  return v_e;
end $$;

-- Merges p_doc into an experience that was stored within the hour. Something new makes a new revision to be indexed.
create function coord.merge_memory(p_project bigint, p_session bigint, p_by text, p_id bigint, p_doc jsonb, p_now timestamptz)
returns jsonb language plpgsql set search_path = '' as $$
declare v_e public.memory_episodic; v_new public.memory_episodic; v_changed boolean;
begin
  select * into v_e from public.memory_episodic e where e.project_id = p_project and e.id = p_id for update;
  v_new := v_e;
  v_new.lessons := (coord.union_texts(v_e.lessons, coord.doc_texts(p_doc, 'lessons')))[1:200];
  v_new.tags := (coord.union_texts(v_e.tags, coord.doc_texts(p_doc, 'tags')))[1:100];
  v_new.outcome := coalesce(p_doc ->> 'outcome', v_e.outcome);
  if pg_catalog.jsonb_typeof(p_doc -> 'details') = 'object' then
    v_new.details := coalesce(v_e.details, '{}') || (p_doc -> 'details');
    if pg_catalog.octet_length(v_new.details::text) > 65536 then v_new.details := v_e.details; end if;
  end if;
  if p_doc ? 'path' then
    v_new.repository := coalesce(p_doc ->> 'repository', ''); v_new.path := p_doc ->> 'path'; v_new.digest := p_doc ->> 'digest';
    v_new.branch := coalesce(p_doc ->> 'branch', '');
    v_new.line_from := (p_doc ->> 'line_from')::int; v_new.line_to := (p_doc ->> 'line_to')::int; v_new.stale_at := null;
  end if;
  v_changed := v_new is distinct from v_e;
  update public.memory_episodic e set lessons = v_new.lessons, tags = v_new.tags, outcome = v_new.outcome, details = v_new.details,
      repository = v_new.repository, path = v_new.path, digest = v_new.digest, branch = v_new.branch, line_from = v_new.line_from, line_to = v_new.line_to,
      stale_at = v_new.stale_at, archived_at = null, merged = e.merged + 1, updated_at = p_now, rev = e.rev + case when v_changed then 1 else 0 end
    where e.project_id = p_project and e.id = p_id;
  update coord.memory_index i set flags = (i.flags & ~(1 | 2 | 8 | 16)) | coord.outcome_flags(v_new.outcome) | case when v_new.stale_at is null then 0 else 2 end
    where i.project_id = p_project and i.id = p_id;
  if v_changed then
    insert into coord.memory_unindexed (project_id, id, kind) values (p_project, p_id, 1) on conflict do nothing;
  end if;
  perform coord.audit(p_project, p_session, p_by, 'remember', array[v_e.memory_id::text], true, 'merged');
  return pg_catalog.jsonb_build_object('success', true, 'memory_id', v_e.memory_id, 'action', 'merged', 'reindex', case when v_changed then p_id end);
end $$;

---------------------------------------------------------------------------------------- index upkeep
-- What the program has to index: of the given ids, or, without, at most p_limit memories of any project that changed or
-- were indexed by another version of the tokeniser.
create function coord.memories_to_index(p_project bigint, p_ids bigint[], p_version int, p_limit int)
returns table (project_id bigint, id bigint, kind smallint, rev int, doc jsonb) language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    with due as (
      select p_project as project_id, x as id from pg_catalog.unnest(p_ids) x
      union
      select * from (select u.project_id, u.id from coord.memory_unindexed u where p_ids is null order by u.project_id, u.id limit p_limit) a
      union
      select * from (select i.project_id, i.id from coord.memory_index i where p_ids is null and i.version < p_version order by i.version limit p_limit) b)
    select e.project_id, e.id, 1::smallint, e.rev, pg_catalog.to_jsonb(e) from due d join public.memory_episodic e on e.project_id = d.project_id and e.id = d.id
    union all
    select k.project_id, k.id, 2::smallint, k.rev, pg_catalog.to_jsonb(k) from due d join public.memory_procedural k on k.project_id = d.project_id and k.id = d.id;
end $$;

-- Indexes a memory anew. p_rev is the revision that was read: when the memory changed since, nothing happens (false), its
-- own program indexes it. A memory that SQL alone wrote gets its place at the end of its session here.
create function coord.reindex_memory(p_project bigint, p_id bigint, p_kind smallint, p_rev int, p_terms bigint[], p_sig bytea, p_words text[],
  p_title int, p_body int, p_tokens int, p_version int)
returns boolean language plpgsql security definer set search_path = '' as $$
declare v_i coord.memory_index; v_place record; v_e record;
begin
  if p_kind = 1 then
    update public.memory_episodic e set tokens = p_tokens where e.project_id = p_project and e.id = p_id and e.rev = p_rev
      returning e.created_at as at, e.session_id, e.agent_id, e.source, coord.outcome_flags(e.outcome)
        | case when e.stale_at is null then 0 else 2 end | case when e.archived_at is null then 0 else 1 end as flags into v_e;
  else
    update public.memory_procedural k set tokens = p_tokens where k.project_id = p_project and k.id = p_id and k.rev = p_rev
      returning k.updated_at as at, null::text as session_id, k.agent_id, null::text as source, case when k.archived_at is null then 0 else 1 end as flags into v_e;
  end if;
  if not found then return false; end if;
  delete from coord.memory_unindexed u where u.project_id = p_project and u.id = p_id;
  select * into v_i from coord.memory_index i where i.project_id = p_project and i.id = p_id for update;
  if v_i.id is not null then
    insert into coord.memory_fold (project_id, delta, len_title, len_body, terms) values (p_project, -1, v_i.len_title, v_i.len_body, v_i.terms);
    insert into coord.memory_fold (project_id, delta, len_title, len_body, terms, words) values (p_project, 1, p_title, p_body, p_terms, coalesce(p_words, '{}'));
    update coord.memory_index i set terms = p_terms, sig = p_sig, len_title = p_title, len_body = p_body, version = p_version, rev = p_rev, flags = i.flags & ~32
      where i.project_id = p_project and i.id = p_id;
    return true;
  end if;
  v_place := row(0::bigint, 0, false);
  if p_kind = 1 then
    select p.v_group, p.v_seq, p.v_new into v_place from coord.memory_place(p_project, coalesce('i:' || v_e.source, 's:' || coalesce(
      (select s.id::text from public.agent_sessions s where s.project_id = p_project and s.agent_id = v_e.agent_id and s.session_id = v_e.session_id), v_e.agent_id)),
      v_e.source is not null, v_e.at) p;
    perform coord.put_memory_index(p_project, p_id, p_kind, p_rev, v_e.at, v_place.v_group, v_place.v_seq, v_place.v_new,
      v_e.flags | case when v_e.source is null then 0 else 4 end, 0, p_terms, p_sig, p_words, p_title, p_body, p_version);
  else
    perform coord.put_memory_index(p_project, p_id, p_kind, p_rev, v_e.at, 0, 0, false, v_e.flags,
      (select coord.skill_mean(k.uses, k.successes) from public.memory_procedural k where k.project_id = p_project and k.id = p_id),
      p_terms, p_sig, p_words, p_title, p_body, p_version);
  end if;
  return true;
end $$;

-- Mean of the Beta posterior of a skill's success with a uniform prior, in percent.
create function coord.skill_mean(p_uses int, p_successes int) returns int language sql immutable set search_path = '' as $$
  select round(100.0 * (p_successes + 1) / (p_uses + 2))::int
$$;

-- Adds at most p_limit queued changes to the counts, rows in the order of their keys; returns how many. One at a time
-- in the whole installation: a second one beside it has nothing to do and answers 0.
create function coord.fold_memory(p_limit int) returns int language plpgsql security definer set search_path = '' as $$
declare v_n int;
begin
  if not pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('coord.fold_memory', 0)) then return 0; end if;
  with taken as (select f.project_id, f.id from coord.memory_fold f order by f.project_id, f.id limit p_limit for update skip locked),
  gone as (delete from coord.memory_fold f using taken t where f.project_id = t.project_id and f.id = t.id
    returning f.project_id, f.delta, f.groups, f.len_title, f.len_body, f.terms, f.words),
  stat as (
    insert into coord.memory_stat as s (project_id, n, groups, len_title, len_body)
    select f.project_id, sum(f.delta), sum(f.groups), sum(f.delta * f.len_title), sum(f.delta * f.len_body) from gone f group by f.project_id order by f.project_id
    on conflict (project_id) do update set n = s.n + excluded.n, groups = s.groups + excluded.groups,
      len_title = s.len_title + excluded.len_title, len_body = s.len_body + excluded.len_body),
  counts as (
    insert into coord.memory_terms as m (project_id, term, n)
    select f.project_id, u.term, sum(f.delta) from gone f cross join lateral pg_catalog.unnest(f.terms) u (term) group by f.project_id, u.term order by f.project_id, u.term
    on conflict (project_id, term) do update set n = m.n + excluded.n),
  words as (
    insert into coord.memory_vocab (project_id, word)
    select distinct f.project_id, w from gone f cross join lateral pg_catalog.unnest(f.words) w order by 1, 2 on conflict do nothing)
  select count(*) into v_n from gone;
  return v_n;
end $$;
