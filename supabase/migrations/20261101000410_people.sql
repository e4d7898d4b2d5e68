-- Keys, persons and projects as their administrators see them. The secret of a key never reaches the database.
set local lock_timeout = '5s';

create function coord.key_json(p_key coord.api_keys) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'name', p_key.name, 'prefix', p_key.prefix, 'scopes', p_key.scopes,
    'project', (select p.name from public.projects p where p.id = p_key.project_id),
    'agent_id', p_key.agent_id, 'agent_type', p_key.agent_type, 'person', p_key.person,
    'status', case when p_key.revoked_at is not null then 'revoked'
                   when p_key.expires_at <= coord.now() then 'expired' else 'active' end,
    'created_at', coord.ts(p_key.created_at), 'expires_at', coord.ts(p_key.expires_at),
    'revoked_at', coord.ts(p_key.revoked_at), 'last_used_at', coord.ts(p_key.last_used_at)))
$$;

-- Stores a key. p_project is the acting administrator's project (for the audit row), p_for the project the key is
-- good for (null: all). Null p_scopes: the person's roles, else read and write. Raises conflict when the name is
-- taken, not_found for an unknown person.
create function coord.create_key(p_project bigint, p_by text, p_name text, p_hash bytea, p_prefix text, p_scopes text[],
  p_for bigint, p_agent text, p_type text, p_person text, p_days int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_key coord.api_keys; v_roles text[]; v_now timestamptz := coord.now();
begin
  if p_person is not null then
    select p.roles into v_roles from coord.persons p where p.name = p_person;
    if not found then
      perform coord.fail(404, 'not_found', pg_catalog.format('there is no person %s', p_person), 'a key can only stand for somebody who is registered',
        'create the person first', 'person');
    end if;
  end if;
  insert into coord.api_keys (name, hash, prefix, project_id, scopes, agent_id, agent_type, person, created_at, expires_at)
    values (p_name, p_hash, p_prefix, p_for, coalesce(nullif(p_scopes, '{}'), nullif(v_roles, '{}'), array['read', 'write']), p_agent, p_type, p_person,
      v_now, v_now + pg_catalog.make_interval(days => p_days))
    on conflict (name) do nothing returning * into v_key;
  if v_key.id is null then
    perform coord.fail(409, 'conflict', pg_catalog.format('a key named %s exists', p_name), 'names of keys are never used twice, so that the audit trail stays clear',
      'choose another name', 'name');
  end if;
  perform coord.audit(coalesce(p_for, p_project), null, p_by, 'create_key', array[p_name], true, null, coord.key_json(v_key) - 'prefix');
  return coord.key_json(v_key);
end $$;

create function coord.list_keys(p_bound bigint, p_all boolean)
returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('keys', coalesce(pg_catalog.jsonb_agg(coord.key_json(k) order by k.name), '[]'), 'count', count(*))
  from coord.api_keys k
  where (p_bound is null or k.project_id = p_bound)
    and (p_all or (k.revoked_at is null and (k.expires_at is null or k.expires_at > coord.now())))
$$;

-- p_bound: the project the acting key is bound to (null: any); keys of others do not exist for it.
create function coord.revoke_key(p_project bigint, p_bound bigint, p_by text, p_name text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_key coord.api_keys;
begin
  select * into v_key from coord.api_keys k where k.name = p_name and (p_bound is null or k.project_id = p_bound) for update;
  if v_key.id is null then
    perform coord.fail(404, 'not_found', pg_catalog.format('there is no key named %s', p_name), null, 'list the keys to see their names', 'name');
  end if;
  if v_key.revoked_at is not null then
    return pg_catalog.jsonb_build_object('success', true, 'name', p_name, 'already', true);
  end if;
  update coord.api_keys k set revoked_at = coord.now() where k.id = v_key.id;
  perform coord.audit(coalesce(v_key.project_id, p_project), null, p_by, 'revoke_key', array[p_name]);
  return pg_catalog.jsonb_build_object('success', true, 'name', p_name);
end $$;

--------------------------------------------------------------------------------------------- persons
-- Registers a person, or gives a known one other roles. Roles cap what the person's keys may do, at once.
create function coord.create_person(p_project bigint, p_by text, p_name text, p_roles text[])
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_p coord.persons; v_new boolean;
begin
  insert into coord.persons as p (name, roles) values (p_name, coalesce(p_roles, '{}'))
    on conflict (name) do update set roles = excluded.roles
    returning p.name, p.roles, p.created_at, (p.xmax = 0) into v_p.name, v_p.roles, v_p.created_at, v_new;
  perform coord.audit(p_project, null, p_by, 'create_person', array[p_name], true, null,
    pg_catalog.jsonb_build_object('roles', v_p.roles, 'created', v_new));
  return pg_catalog.jsonb_build_object('success', true, 'created', v_new, 'name', v_p.name, 'roles', v_p.roles, 'created_at', coord.ts(v_p.created_at));
end $$;

create function coord.list_persons()
returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('count', count(*), 'persons', coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
    'name', p.name, 'roles', p.roles, 'created_at', coord.ts(p.created_at),
    'keys', (select count(*) from coord.api_keys k where k.person = p.name and k.revoked_at is null)) order by p.name), '[]'))
  from coord.persons p
$$;

-------------------------------------------------------------------------------------------- projects
create function coord.project_json(p_id bigint) returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('project', p.name, 'created_at', coord.ts(p.created_at), 'anon_read', p.anon_read,
    'last_activity', coord.ts((select pg_catalog.max(s.last_seen_at) from public.agent_sessions s where s.project_id = p.id)),
    'repositories', coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'repository', r.name, 'remote', r.remote, 'root_commit', r.root_commit)) order by r.id)
      from public.repositories r where r.project_id = p.id), '[]'))
  from public.projects p where p.id = p_id
$$;

create function coord.list_projects(p_bound bigint)
returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('count', count(*), 'projects', coalesce(pg_catalog.jsonb_agg(coord.project_json(p.id) order by p.name), '[]'))
  from public.projects p where p_bound is null or p.id = p_bound
$$;

-- resolve_repository for a caller: a key bound to a project resolves within it, and forbidden is raised when it asks
-- for another. Writes an audit row when something was created.
create function coord.join_repository(p_bound bigint, p_by text, p_project text, p_remote text, p_root text, p_name text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_project text := p_project; v_row record; v_new boolean;
begin
  if p_remote is null and p_root is null and p_name is null then
    perform coord.fail(422, 'invalid', 'nothing names the repository', 'remote, root_commit and name are all empty', 'send at least one of them', 'remote');
  end if;
  if p_bound is not null then
    select p.name into v_project from public.projects p where p.id = p_bound;
    if p_project is not null and p_project <> v_project then
      perform coord.fail(403, 'forbidden', 'API key is not permitted in the requested project', 'this key belongs to one project',
        'leave project out, or use a key of that project', 'project');
    end if;
  end if;
  v_new := not exists (select from coord.repository_aliases a where a.alias in ('remote:' || p_remote, 'root:' || p_root));
  select * into v_row from coord.resolve_repository(v_project, p_remote, p_root, p_name);
  if v_new then
    perform coord.audit(v_row.project_id, null, p_by, 'resolve_repository', array[v_row.repository], true, null,
      pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('remote', p_remote, 'root_commit', p_root)));
  end if;
  return pg_catalog.jsonb_build_object('success', true, 'project_id', v_row.project_id, 'project', v_row.project,
    'repository_id', v_row.repository_id, 'repository', v_row.repository);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
