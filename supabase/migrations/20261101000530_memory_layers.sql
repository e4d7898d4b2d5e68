-- Memory, the other layers and the upkeep: skills and their success, a session's working memory, files that change,
-- forgetting, export and import, retention.
set local lock_timeout = '5s';

------------------------------------------------------------------------------------------ procedural
-- Stores a skill, or changes the one of that name: what is null stays as it is. Its counts of use stay. The program
-- indexes it (member reindex). Raises invalid over 64 KB.
create function coord.store_skill(p_project bigint, p_session bigint, p_by text, p_name text, p_description text, p_steps jsonb, p_tags text[])
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions := coord.session(p_project, p_session); v_k public.memory_procedural; v_now timestamptz := coord.now();
begin
  if pg_catalog.octet_length(coalesce(p_steps, '[]')::text) + length(coalesce(p_description, '')) > 65536 then
    perform coord.fail(422, 'invalid', 'the skill is larger than 65536 bytes', 'it is shown to every agent that does something like it', 'name scripts instead of quoting them', 'steps');
  end if;
  insert into public.memory_procedural as k (project_id, name, description, steps, tags, agent_id, created_at, updated_at)
    values (p_project, p_name, coalesce(p_description, ''), coalesce(p_steps, '[]'), coalesce(p_tags, '{}'), v_s.agent_id, v_now, v_now)
    on conflict (project_id, name) do update set description = coalesce(p_description, k.description), steps = coalesce(p_steps, k.steps),
      tags = coalesce(p_tags, k.tags), rev = k.rev + 1, updated_at = v_now, archived_at = null
    returning * into v_k;
  update coord.memory_index i set flags = i.flags & ~1 where i.project_id = p_project and i.id = v_k.id and i.flags & 1 = 1;
  insert into coord.memory_unindexed (project_id, id, kind) values (p_project, v_k.id, 2) on conflict do nothing;
  perform coord.audit(p_project, p_session, p_by, 'skill_store', array[v_k.memory_id::text], true, null, pg_catalog.jsonb_build_object('name', p_name));
  return pg_catalog.jsonb_build_object('success', true, 'skill_id', v_k.memory_id, 'action', case when v_k.rev = 1 then 'stored' else 'updated' end, 'reindex', v_k.id);
end $$;

-- Counts a use of a skill. Reply: the new success_rate; an unknown skill is not_found.
create function coord.record_skill_use(p_project bigint, p_session bigint, p_by text, p_skill uuid, p_success boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_k public.memory_procedural;
begin
  if p_session is not null then perform coord.session(p_project, p_session); end if;
  v_k := coord.count_skill_use(p_project, p_skill, p_success);
  if v_k.id is null then
    perform coord.fail(404, 'not_found', 'there is no skill ' || p_skill::text, null, 'list_skills and recall show skill ids', 'skill_id');
  end if;
  perform coord.audit(p_project, p_session, p_by, 'skill_use', array[p_skill::text], true, null, pg_catalog.jsonb_build_object('success', p_success));
  return coord.skill_json(v_k) || '{"success": true}';
end $$;

-- The counting itself, for calls that audit by themselves. Null members: there is no such skill.
create function coord.count_skill_use(p_project bigint, p_skill uuid, p_success boolean) returns public.memory_procedural language plpgsql set search_path = '' as $$
declare v_k public.memory_procedural;
begin
  update public.memory_procedural k set uses = k.uses + 1, successes = k.successes + case when p_success then 1 else 0 end, used_at = coord.now()
    where k.project_id = p_project and k.memory_id = p_skill returning * into v_k;
  update coord.memory_index i set skill = coord.skill_mean(v_k.uses, v_k.successes) where i.project_id = p_project and i.id = v_k.id;
  return v_k;
end $$;

-- Skills by the mean of their success, then by use. p_tags: with one of these.
create function coord.list_skills(p_project bigint, p_tags text[], p_archived boolean, p_limit int)
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  select count(*), pg_catalog.jsonb_agg(coord.skill_json(x) order by (x.successes + 1)::float8 / (x.uses + 2) desc, x.uses desc, x.id) into v_n, v_rows
    from (select k.* from public.memory_procedural k where k.project_id = p_project and (p_archived or k.archived_at is null)
        and (p_tags is null or k.tags && p_tags)
      order by (k.successes + 1)::float8 / (k.uses + 2) desc, k.uses desc, k.id limit p_limit + 1) x;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_build_object('skills', coalesce(v_rows, '[]'), 'count', least(v_n, p_limit), 'truncated', v_n > p_limit);
end $$;

--------------------------------------------------------------------------------------------- working
-- Takes the session's working memory for this transaction and returns its items, oldest first, as the session sees them.
create function coord.lock_working(p_project bigint, p_session bigint)
returns table (id bigint, type text, content text, pinned boolean, tokens int, shown text, shown_tokens int)
language plpgsql security definer set search_path = '' as $$
begin
  perform coord.session(p_project, p_session);
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('coord.working:' || p_session, p_project));
  return query select w.id, w.type, w.content, w.pinned, w.tokens, w.shown, w.shown_tokens
    from public.memory_working w where w.project_id = p_project and w.session = p_session and (w.shown is null or w.shown <> '') order by w.id;
end $$;

-- Adds an item and writes what the program decided to show of older ones: p_changes [{id, shown, tokens, by}]. The
-- item's own view, when it was shortened, is in p_item {type, content, tokens, pinned, at, shown, shown_tokens, by}.
create function coord.update_working(p_project bigint, p_session bigint, p_by text, p_item jsonb, p_changes jsonb)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions := coord.session(p_project, p_session); v_id bigint;
begin
  insert into public.memory_working (project_id, session, agent_id, session_id, type, content, pinned, tokens, shown, shown_tokens, shown_by, occurred_at)
    values (p_project, p_session, v_s.agent_id, v_s.session_id, p_item ->> 'type', p_item ->> 'content', (p_item ->> 'pinned')::boolean, (p_item ->> 'tokens')::int,
      p_item ->> 'shown', (p_item ->> 'shown_tokens')::int, p_item ->> 'by', coalesce((p_item ->> 'at')::timestamptz, coord.now()))
    returning id into v_id;
  insert into coord.memory_stat (project_id) values (p_project) on conflict do nothing;  -- so that retention knows the project
  update public.memory_working w set shown = c.shown, shown_tokens = c.tokens, shown_by = c.by
    from pg_catalog.jsonb_to_recordset(p_changes) as c (id bigint, shown text, tokens int, by text)
    where w.project_id = p_project and w.session = p_session and w.id = c.id;
  perform coord.audit(p_project, p_session, p_by, 'working_update', array[v_id::text], true, null,
    pg_catalog.jsonb_build_object('type', p_item ->> 'type', 'tokens', (p_item ->> 'tokens')::int, 'compressed', pg_catalog.jsonb_array_length(p_changes)));
  return pg_catalog.jsonb_build_object('success', true, 'item_id', v_id);
end $$;

-- The working memory of a session, oldest first. p_originals: every item as it was stored, also those no longer shown.
create function coord.get_working(p_project bigint, p_session bigint, p_originals boolean, p_limit int)
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int; v_tokens bigint; v_hidden bigint;
begin
  select count(*), pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('item_id', x.id, 'type', x.type,
      'content', case when p_originals then x.content else coalesce(x.shown, x.content) end, 'pinned', case when x.pinned then true end,
      'tokens', case when p_originals then x.tokens else x.shown_tokens end, 'compressed', case when x.shown is not null then true end,
      'compressed_by', x.shown_by, 'timestamp', coord.ts(x.occurred_at))) order by x.id)
    into v_n, v_rows
    from (select * from public.memory_working w where w.project_id = p_project and w.session = p_session and (p_originals or w.shown is null or w.shown <> '')
      order by w.id desc limit p_limit) x;
  select coalesce(sum(w.shown_tokens), 0), count(*) filter (where w.shown = '') into v_tokens, v_hidden
    from public.memory_working w where w.project_id = p_project and w.session = p_session;
  return pg_catalog.jsonb_build_object('items', coalesce(v_rows, '[]'), 'count', v_n, 'tokens', v_tokens, 'hidden', v_hidden);
end $$;

------------------------------------------------------------------------------------------- staleness
-- Whether a file's content p_digest still stands: on branch p_branch it is the newest one reported there. Where the
-- branch is unknown ('') it may be the newest of any branch that was heard of within 30 days, or the newest of all: a
-- look at another branch changes nothing. Nothing reported: it stands.
create function coord.digest_stands(p_project bigint, p_repository text, p_path text, p_branch text, p_digest text)
returns boolean language plpgsql stable set search_path = '' as $$
declare v_stands boolean;
begin
  select pg_catalog.bool_or(d.digest = p_digest) into v_stands from (
    select x.digest, x.at, x.branch, max(x.at) over () as newest from coord.file_digests x
      where x.project_id = p_project and x.path = p_path and (x.repository = p_repository or x.repository = '' or p_repository = '')) d
    where case when p_branch <> '' and exists (select from coord.file_digests y where y.project_id = p_project and y.path = p_path
        and (y.repository = p_repository or y.repository = '' or p_repository = '') and y.branch = p_branch) then d.branch = p_branch
      else d.at > d.newest - interval '30 days' end;
  return coalesce(v_stands, true);
end $$;

-- Takes in the digests of files as they are now on p_branch ('' = not said): p_files [{path, digest}]. Observations of a
-- content that no longer stands become stale, the others fresh again. An empty digest means that the file is gone.
-- One audit row, none when nothing changed.
create function coord.report_digests(p_project bigint, p_agent text, p_session bigint, p_by text, p_repository text, p_branch text, p_files jsonb)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_changed text[]; v_stale bigint[]; v_fresh bigint[]; v_ids text[];
begin
  with f as (select distinct on (x.path) x.path, coalesce(x.digest, '') as digest from pg_catalog.jsonb_to_recordset(p_files) as x (path text, digest text) order by x.path),
  put as (
    insert into coord.file_digests as d (project_id, repository, path, branch, digest, at, agent_id)
    select p_project, p_repository, f.path, p_branch, f.digest, v_now, p_agent from f order by f.path
    on conflict (project_id, repository, path, branch) do update set digest = excluded.digest, at = v_now, agent_id = excluded.agent_id
      where d.digest <> excluded.digest or d.at < v_now - interval '1 day' returning d.path)
  select pg_catalog.array_agg(put.path) into v_changed from put;
  with f as (select distinct x.path from pg_catalog.jsonb_to_recordset(p_files) as x (path text)),
  hit as (
    select e.id, not coord.digest_stands(p_project, e.repository, e.path, e.branch, e.digest) as stale
    from f join public.memory_episodic e on e.project_id = p_project and e.path = f.path
    where e.digest is not null and (e.repository = p_repository or e.repository = '' or p_repository = '')
      and (not coord.digest_stands(p_project, e.repository, e.path, e.branch, e.digest)) <> (e.stale_at is not null) order by e.id for update of e),
  done as (
    update public.memory_episodic e set stale_at = case when hit.stale then v_now end, updated_at = v_now from hit
    where e.project_id = p_project and e.id = hit.id returning e.id, e.memory_id, hit.stale)
  select pg_catalog.array_agg(done.id) filter (where done.stale), pg_catalog.array_agg(done.id) filter (where not done.stale), pg_catalog.array_agg(done.memory_id::text)
    into v_stale, v_fresh, v_ids from done;
  update coord.memory_index i set flags = i.flags | 2 where i.project_id = p_project and i.id = any (v_stale);
  update coord.memory_index i set flags = i.flags & ~2 where i.project_id = p_project and i.id = any (v_fresh);
  if v_changed is not null or v_ids is not null then
    perform coord.audit(p_project, p_session, p_by, 'report_digests', v_ids, true, null,
      pg_catalog.jsonb_build_object('files', pg_catalog.jsonb_array_length(p_files), 'changed', coalesce(pg_catalog.cardinality(v_changed), 0)));
  end if;
  return pg_catalog.jsonb_build_object('success', true, 'files', pg_catalog.jsonb_array_length(p_files), 'changed', coalesce(pg_catalog.cardinality(v_changed), 0),
    'marked_stale', coalesce(pg_catalog.cardinality(v_stale), 0), 'marked_fresh', coalesce(pg_catalog.cardinality(v_fresh), 0));
end $$;

------------------------------------------------------------------------------------ reading, forgetting
-- One memory by its id on the wire; null when there is none.
create function coord.get_memory(p_project bigint, p_id uuid) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_doc jsonb;
begin
  select coord.memory_json(e) into v_doc from public.memory_episodic e where e.project_id = p_project and e.memory_id = p_id;
  if v_doc is null then
    select coord.skill_json(k) into v_doc from public.memory_procedural k where k.project_id = p_project and k.memory_id = p_id;
  end if;
  return v_doc;
end $$;

-- Takes memories out of the index and queues the counts; the caller deletes them.
create function coord.drop_memory_index(p_project bigint, p_ids bigint[]) returns void language plpgsql set search_path = '' as $$
begin
  with gone as (delete from coord.memory_index i where i.project_id = p_project and i.id = any (p_ids) returning i.len_title, i.len_body, i.terms)
  insert into coord.memory_fold (project_id, delta, len_title, len_body, terms) select p_project, -1, g.len_title, g.len_body, g.terms from gone g;
  delete from coord.memory_unindexed u where u.project_id = p_project and u.id = any (p_ids);
end $$;

-- Forgets memories for good. The audit row keeps their ids and p_reason, nothing of the text. p_agent, when not null,
-- forgets only what that agent remembered. Unknown ids are named.
create function coord.forget_memory(p_project bigint, p_session bigint, p_by text, p_agent text, p_ids uuid[], p_reason text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_gone uuid[]; v_ids bigint[];
begin
  with e as (delete from public.memory_episodic e where e.project_id = p_project and e.memory_id = any (p_ids) and (p_agent is null or e.agent_id = p_agent) returning e.id, e.memory_id),
  k as (delete from public.memory_procedural k where k.project_id = p_project and k.memory_id = any (p_ids) and (p_agent is null or k.agent_id = p_agent) returning k.id, k.memory_id),
  gone as (select * from e union all select * from k)
  select pg_catalog.array_agg(g.memory_id), pg_catalog.array_agg(g.id) into v_gone, v_ids from gone g;
  if v_ids is not null then
    perform coord.drop_memory_index(p_project, v_ids);
    perform coord.audit(p_project, p_session, p_by, 'memory_forget', v_gone::text[], true, nullif(p_reason, ''));
  end if;
  return pg_catalog.jsonb_build_object('success', v_gone is not null, 'forgotten', coalesce(v_gone, '{}'),
    'unknown', (select coalesce(pg_catalog.jsonb_agg(x), '[]') from pg_catalog.unnest(p_ids) x where x <> all (coalesce(v_gone, '{}'))));
end $$;

-- Memories in order of their internal id, after p_after: a page of an export. layer null: both.
create function coord.export_memory(p_project bigint, p_layer text, p_after bigint, p_archived boolean, p_limit int)
returns table (id bigint, doc jsonb) language plpgsql stable security definer set search_path = '' as $$
begin
  return query select x.id, x.doc from (
      (select e.id, coord.memory_json(e) as doc from public.memory_episodic e where e.project_id = p_project and e.id > p_after
        and coalesce(p_layer, 'episodic') = 'episodic' and (p_archived or e.archived_at is null) order by e.id limit p_limit)
      union all
      (select k.id, coord.skill_json(k) from public.memory_procedural k where k.project_id = p_project and k.id > p_after
        and coalesce(p_layer, 'procedural') = 'procedural' and (p_archived or k.archived_at is null) order by k.id limit p_limit)) x
    order by x.id limit p_limit;
end $$;

-- Imports experiences and skills as export_memory gives them; ids, agents and times are kept. What is there already, by
-- id (skills also by name), is left alone. The program indexes them. p_source names where they are from.
create function coord.import_memory(p_project bigint, p_session bigint, p_by text, p_source text, p_docs jsonb)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_d jsonb; v_new bigint[] := '{}'; v_skipped int := 0; v_id bigint; v_s public.agent_sessions := coord.session(p_project, p_session); v_now timestamptz := coord.now();
begin
  for v_d in select x from pg_catalog.jsonb_array_elements(p_docs) x loop
    v_id := null;
    if v_d ->> 'memory_type' = 'procedural' then
      insert into public.memory_procedural (project_id, memory_id, name, description, steps, tags, agent_id, uses, successes, created_at, updated_at)
        values (p_project, coalesce((v_d ->> 'memory_id')::uuid, coord.uuid7()), v_d ->> 'skill_name', coalesce(v_d ->> 'description', ''), coalesce(v_d -> 'steps', '[]'),
          coord.doc_texts(v_d, 'tags'), coalesce(v_d ->> 'agent_id', v_s.agent_id), coalesce((v_d ->> 'uses')::int, 0), coalesce((v_d ->> 'successes')::int, 0),
          coalesce((v_d ->> 'created_at')::timestamptz, v_now), v_now)
        on conflict do nothing returning id into v_id;
    elsif not exists (select from public.memory_episodic e where e.project_id = p_project and e.memory_id = (v_d ->> 'memory_id')::uuid) then
      v_id := (coord.new_memory(p_project, coalesce(v_d ->> 'agent_id', v_s.agent_id), 'import', v_d ->> 'session_id', v_d || pg_catalog.jsonb_build_object('source', p_source),
        pg_catalog.hashtextextended(coalesce(v_d ->> 'agent_id', v_s.agent_id) || E'\n' || (v_d ->> 'event_type') || E'\n' || (v_d ->> 'summary'), p_project),
        coalesce((v_d ->> 'created_at')::timestamptz, v_now), 0)).id;
    end if;
    if v_id is null then v_skipped := v_skipped + 1; else v_new := v_new || v_id; end if;
  end loop;
  insert into coord.memory_unindexed (project_id, id, kind)
    select p_project, u, case when exists (select from public.memory_procedural k where k.project_id = p_project and k.id = u) then 2 else 1 end from pg_catalog.unnest(v_new) u;
  if pg_catalog.cardinality(v_new) > 0 then
    perform coord.audit(p_project, p_session, p_by, 'memory_import', '{}', true, null,
      pg_catalog.jsonb_build_object('source', p_source, 'imported', pg_catalog.cardinality(v_new), 'skipped', v_skipped));
  end if;
  return pg_catalog.jsonb_build_object('success', true, 'imported', pg_catalog.cardinality(v_new), 'skipped', v_skipped, 'ids', v_new);
end $$;

------------------------------------------------------------------------------------------- retention
-- The retention of a layer: days until a row is archived (searchable on request only) and until it is deleted. Defaults:
-- experiences are archived after 180 days and kept for ever, skills after a year without use; working memory is deleted
-- after 30 days. Null: never.
create function coord.memory_policy(p_project bigint, p_layer text, out archive_days int, out delete_days int)
language plpgsql stable set search_path = '' as $$
begin
  select p.archive_days, p.delete_days into archive_days, delete_days from coord.memory_policies p where p.project_id = p_project and p.layer = p_layer;
  if found then return; end if;
  archive_days := case p_layer when 'episodic' then 180 when 'procedural' then 365 end;
  delete_days := case p_layer when 'working' then 30 end;
end $$;

-- Shows the retention of the project's layers; with p_layer it sets that one first (null days: never).
create function coord.set_memory_policy(p_project bigint, p_by text, p_layer text, p_archive int, p_delete int)
returns jsonb language plpgsql security definer set search_path = '' as $$
begin
  if p_layer is not null then
    insert into coord.memory_policies (project_id, layer, archive_days, delete_days) values (p_project, p_layer, p_archive, p_delete)
      on conflict (project_id, layer) do update set archive_days = excluded.archive_days, delete_days = excluded.delete_days;
    perform coord.audit(p_project, null, p_by, 'memory_retention', array[p_layer], true, null,
      pg_catalog.jsonb_build_object('archive_days', p_archive, 'delete_days', p_delete));
  end if;
  return pg_catalog.jsonb_build_object('policies', (select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('layer', l,
      'archive_days', (coord.memory_policy(p_project, l)).archive_days, 'delete_days', (coord.memory_policy(p_project, l)).delete_days)) order by n)
    from pg_catalog.unnest(array['episodic', 'working', 'procedural']) with ordinality u (l, n)));
end $$;

-- Applies retention to a project: at most p_limit rows of each kind.
create function coord.retain_memory(p_project bigint, p_limit int) returns jsonb language plpgsql set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_p record; v_ids bigint[]; v_archived int := 0; v_deleted int := 0; v_n int;
begin
  select * into v_p from coord.memory_policy(p_project, 'episodic');
  with old as (select e.id from public.memory_episodic e where e.project_id = p_project and e.archived_at is null
      and e.created_at < v_now - pg_catalog.make_interval(days => v_p.archive_days) order by e.created_at limit p_limit for update skip locked)
  select pg_catalog.array_agg(o.id) into v_ids from old o;
  update public.memory_episodic e set archived_at = v_now where e.project_id = p_project and e.id = any (v_ids);
  get diagnostics v_archived = row_count;
  update coord.memory_index i set flags = i.flags | 1 where i.project_id = p_project and i.id = any (v_ids);
  with old as (select e.id from public.memory_episodic e where e.project_id = p_project and e.archived_at is not null
      and e.archived_at < v_now and e.created_at < v_now - pg_catalog.make_interval(days => v_p.delete_days) order by e.archived_at limit p_limit for update skip locked)
  select pg_catalog.array_agg(o.id) into v_ids from old o;
  if v_ids is not null then
    perform coord.drop_memory_index(p_project, v_ids);
    delete from public.memory_episodic e where e.project_id = p_project and e.id = any (v_ids);
    get diagnostics v_deleted = row_count;
  end if;
  select * into v_p from coord.memory_policy(p_project, 'procedural');
  with old as (update public.memory_procedural k set archived_at = v_now where k.project_id = p_project and k.archived_at is null
      and greatest(k.used_at, k.updated_at) < v_now - pg_catalog.make_interval(days => v_p.archive_days) returning k.id)
  update coord.memory_index i set flags = i.flags | 1 from old where i.project_id = p_project and i.id = old.id;
  get diagnostics v_n = row_count;
  v_archived := v_archived + v_n;
  select * into v_p from coord.memory_policy(p_project, 'working');
  delete from public.memory_working w where w.project_id = p_project and w.id in (select x.id from public.memory_working x
    where x.project_id = p_project and x.created_at < v_now - pg_catalog.make_interval(days => v_p.delete_days) order by x.created_at limit p_limit);
  get diagnostics v_n = row_count;
  if v_archived + v_deleted + v_n > 0 then
    perform coord.audit(p_project, null, 'retention', 'sweep_memory', '{}', true, null,
      pg_catalog.jsonb_build_object('archived', v_archived, 'deleted', v_deleted, 'working_deleted', v_n));
  end if;
  return pg_catalog.jsonb_build_object('archived', v_archived, 'deleted', v_deleted + v_n);
end $$;

-- The upkeep of memory: folds at most p_limit changes into the counts, and applies retention to the five projects that
-- waited longest, each at most once in ten minutes. Bounded, idempotent, safe beside itself.
create function coord.sweep_memory(p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_folded int := coord.fold_memory(p_limit); v_project bigint; v_one jsonb; v_archived int := 0; v_deleted int := 0; v_now timestamptz := coord.now();
begin
  for v_project in
    select s.project_id from coord.memory_stat s where s.swept_at < v_now - interval '10 minutes' order by s.swept_at limit 5 for update skip locked
  loop
    v_one := coord.retain_memory(v_project, p_limit);
    v_archived := v_archived + (v_one ->> 'archived')::int;
    v_deleted := v_deleted + (v_one ->> 'deleted')::int;
    -- A project with more to do than the limit is next again.
    update coord.memory_stat s set swept_at = case when (v_one ->> 'archived')::int + (v_one ->> 'deleted')::int >= p_limit then s.swept_at else v_now end where s.project_id = v_project;
  end loop;
  return pg_catalog.jsonb_build_object('folded', v_folded, 'archived', v_archived, 'deleted', v_deleted);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
