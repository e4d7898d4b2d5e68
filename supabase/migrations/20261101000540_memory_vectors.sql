-- Memory by meaning, optional: where pgvector is there and the program has an endpoint that makes embeddings, every
-- memory gets a vector. Nothing of it exists until coord.prepare_vectors() is called; without it recall works by words.
set local lock_timeout = '5s';

-- Schema of the type vector; null where the server does not have it. It is installed if it can be.
create function coord.vector_schema() returns text language plpgsql set search_path = '' as $$
declare v_schema text;
begin
  select n.nspname into v_schema from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    where t.typname = 'vector' and n.nspname in ('extensions', 'public') order by n.nspname limit 1;
  if v_schema is null and exists (select from pg_catalog.pg_available_extensions x where x.name = 'vector') then
    begin
      create schema if not exists extensions;
      create extension if not exists vector with schema extensions;
      v_schema := 'extensions';
    exception when others then
      raise notice 'pgvector is not installed (%): recall goes by words', sqlerrm;
    end;
  end if;
  return v_schema;
end $$;

-- Makes ready for the vectors of a model, and says whether that is possible. Flag 32 of an index row: its vector is there.
-- Another model begins anew.
create function coord.prepare_vectors(p_model text) returns boolean language plpgsql security definer set search_path = '' as $$
declare v_schema text; v_old text;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('coord.prepare_vectors', 0));
  v_schema := coord.vector_schema();
  if v_schema is null then return false; end if;
  if pg_catalog.to_regclass('coord.memory_vectors') is null then
    execute pg_catalog.format('create table coord.memory_vectors (
      project_id bigint not null, id bigint not null, model text not null, dims int not null, embedding %I.vector not null,
      primary key (project_id, id), foreign key (project_id, id) references coord.memory_index (project_id, id) on delete cascade)', v_schema);
    alter table coord.memory_vectors enable row level security;
    create index memory_index_unembedded on coord.memory_index (id) where flags & 32 = 0;
  end if;
  execute 'select v.model from coord.memory_vectors v limit 1' into v_old;
  if v_old is distinct from p_model then
    execute 'truncate coord.memory_vectors';
    update coord.memory_index i set flags = i.flags & ~32 where i.flags & 32 <> 0;
  end if;
  return true;
end $$;

-- At most p_limit memories without a vector, the newest first, with the text to embed.
create function coord.memories_to_embed(p_limit int)
returns table (project_id bigint, id bigint, rev int, body text) language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select d.project_id, d.id, d.rev, pg_catalog.left(coalesce(
        (select pg_catalog.concat_ws(E'\n', e.summary, nullif(pg_catalog.array_to_string(e.lessons, E'\n'), ''), e.path, e.details::text)
          from public.memory_episodic e where e.project_id = d.project_id and e.id = d.id),
        (select pg_catalog.concat_ws(E'\n', k.name, k.description, k.steps::text)
          from public.memory_procedural k where k.project_id = d.project_id and k.id = d.id), ''), 4000)
    from (select i.project_id, i.id, i.rev from coord.memory_index i where i.flags & 32 = 0 order by i.id desc limit p_limit) d;
end $$;

-- Keeps vectors: p_vectors holds them one behind the other, p_dims numbers each. A memory that changed since p_revs[k] is left
-- for the next time. Returns how many were kept.
create function coord.put_vectors(p_model text, p_projects bigint[], p_ids bigint[], p_revs int[], p_dims int, p_vectors real[])
returns int language plpgsql security definer set search_path = '' as $$
declare v_schema text := coord.vector_schema(); v_n int;
begin
  execute pg_catalog.format('with ready as (
      select i.project_id, i.id, u.k from unnest($2, $3, $4) with ordinality u (project, id, rev, k)
      join coord.memory_index i on i.project_id = u.project and i.id = u.id and i.rev = u.rev order by i.id for update of i),
    put as (
      insert into coord.memory_vectors as v (project_id, id, model, dims, embedding)
      select r.project_id, r.id, $1, $5, (($6)[(r.k::int - 1) * $5 + 1 : r.k::int * $5])::%I.vector from ready r
      on conflict (project_id, id) do update set model = excluded.model, dims = excluded.dims, embedding = excluded.embedding)
    update coord.memory_index i set flags = i.flags | 32 from ready r where i.project_id = r.project_id and i.id = r.id', v_schema)
    using p_model, p_projects, p_ids, p_revs, p_dims, p_vectors;
  get diagnostics v_n = row_count;
  return v_n;
end $$;

-- The memories whose vectors are nearest to p_vector by cosine, the nearest first, as index rows. Exact: every vector of the
-- project is compared, so that its own are never crowded out by those of other projects.
create function coord.memories_near(p_project bigint, p_model text, p_vector real[], p_need bigint[], p_archived boolean, p_limit int)
returns table (id bigint, group_id bigint, seq int, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea)
language plpgsql stable security definer set search_path = '' set jit = off as $$
declare v_schema text;
begin
  select n.nspname into v_schema from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    where t.typname = 'vector' and n.nspname in ('extensions', 'public') order by n.nspname limit 1;
  return query execute pg_catalog.format('
    select i.id, i.group_id, i.seq, i.kind, extract(epoch from i.at)::bigint, i.len_title, i.len_body, i.flags, i.skill, i.sig
    from coord.memory_vectors v join coord.memory_index i on i.project_id = v.project_id and i.id = v.id
    where v.project_id = $1 and v.model = $2 and v.dims = pg_catalog.cardinality($3)
      and ($5 or i.flags & 1 = 0) and ($4 is null or i.terms operator(pg_catalog.@>) $4)
    order by v.embedding operator(%1$I.<=>) $3::%1$I.vector, i.id desc limit $6', v_schema)
    using p_project, p_model, p_vector, p_need, p_archived, p_limit;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
