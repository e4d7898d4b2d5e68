-- A repository is the same however its name is capitalised: forges do not tell acme/shop from Acme/Shop, and clones and
-- webhooks spell it as each was told. The spelling that was seen first stays the name.
set local lock_timeout = '5s';

create index repository_aliases_folded on coord.repository_aliases (pg_catalog.lower(alias));

-- The alias of a repository that p_alias names: exactly, else but for its case; the oldest repository where there are several.
create function coord.known_alias(p_alias text) returns coord.repository_aliases language sql stable set search_path = '' as $$
  select a from coord.repository_aliases a where pg_catalog.lower(a.alias) = pg_catalog.lower(p_alias) order by a.alias <> p_alias, a.repository_id limit 1
$$;

-- Finds the project and repository that a checkout means, and makes both on first sight. Any of remote, root commit and
-- name may be null.
create or replace function coord.resolve_repository(p_project text, p_remote text, p_root text, p_name text)
returns table (project_id bigint, project text, repository_id bigint, repository text)
language plpgsql security definer set search_path = '' as $$
declare v_project bigint; v_repo bigint; v_remote text := 'remote:' || p_remote; v_root text := 'root:' || p_root;
  v_slug text; v_name text := coalesce(nullif(p_name, ''), 'repository');
begin
  if p_project is not null then v_project := coord.ensure_project(p_project); end if;
  -- Two clones of a new repository arriving together must make one: serialise on the id.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('coord.repository:' || coalesce(p_root, pg_catalog.lower(v_remote), p_project, ''), 0));
  select a.project_id, a.repository_id into v_project, v_repo from coord.repository_aliases a
    where pg_catalog.lower(a.alias) = pg_catalog.lower(v_remote) and (v_project is null or a.project_id = v_project) order by a.alias <> v_remote, a.repository_id limit 1;
  if v_repo is null and p_root is not null then
    select a.project_id, a.repository_id into v_project, v_repo from coord.repository_aliases a
      join public.repositories r on r.project_id = a.project_id and r.id = a.repository_id
      where a.alias = v_root and (p_remote is null or r.remote is null)
        and (p_project is null or a.project_id = coord.ensure_project(p_project));
    if v_repo is not null and p_remote is not null then
      update public.repositories r set remote = p_remote where r.project_id = v_project and r.id = v_repo;
    end if;
  end if;
  if v_repo is null then
    if p_project is not null then
      v_project := coord.ensure_project(p_project);
    else
      v_slug := pg_catalog.lower(pg_catalog.regexp_replace(
        coalesce(p_remote, v_name || '-' || pg_catalog.left(coalesce(p_root, ''), 8)), '[^a-zA-Z0-9._/-]+', '-', 'g'));
      v_slug := pg_catalog.regexp_replace(pg_catalog.left(v_slug, 120), '^[^a-z0-9]+|-+$', '', 'g');
      v_project := coord.ensure_project(coalesce(nullif(v_slug, ''), 'default'));
    end if;
    insert into public.repositories as r (project_id, name, remote, root_commit) values (v_project, v_name, p_remote, p_root)
      on conflict on constraint repositories_project_id_name_key do update
        set remote = coalesce(r.remote, excluded.remote), root_commit = coalesce(r.root_commit, excluded.root_commit)
        where r.remote is not distinct from excluded.remote or r.remote is null
      returning r.id into v_repo;
    if v_repo is null then  -- the name is another repository's: take a longer one
      v_name := coalesce(p_remote, v_name || '-' || pg_catalog.left(coalesce(p_root, 'new'), 8));
      insert into public.repositories as r (project_id, name, remote, root_commit) values (v_project, v_name, p_remote, p_root)
        on conflict on constraint repositories_project_id_name_key do update set name = excluded.name returning r.id into v_repo;
    end if;
  end if;
  insert into coord.repository_aliases (alias, project_id, repository_id)
    select x, v_project, v_repo from pg_catalog.unnest(array[v_remote, v_root]) x where x is not null
    on conflict do nothing;
  return query select v_project, p.name, v_repo, r.name from public.projects p
    join public.repositories r on r.project_id = p.id and r.id = v_repo where p.id = v_project;
end $$;

-- The project of a normalised remote, and the remote as it is known here; made on first sight.
create function coord.repository_of_remote(p_remote text) returns table (project_id bigint, remote text) language plpgsql security definer set search_path = '' as $$
declare v_a coord.repository_aliases := coord.known_alias('remote:' || p_remote); v_repo bigint := v_a.repository_id; v_project bigint := v_a.project_id;
begin
  if v_repo is null then
    select r.project_id, r.repository_id into v_project, v_repo from coord.resolve_repository(null, p_remote, null, pg_catalog.regexp_replace(p_remote, '^.*/', '')) r;
  end if;
  return query select v_project, coalesce((select r.remote from public.repositories r where r.project_id = v_project and r.id = v_repo), p_remote);
end $$;

create or replace function coord.project_of_remote(p_remote text) returns bigint language sql security definer set search_path = '' as $$
  select r.project_id from coord.repository_of_remote(p_remote) r
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.repository_of_remote(text) to service_role;
