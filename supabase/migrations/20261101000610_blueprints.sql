-- Blueprints of agents and the capabilities they are put together from. They belong to the installation; an audit row
-- stands in the project of the caller.
set local lock_timeout = '5s';

-- As the wire shows a blueprint; what is null is left out.
create function coord.agent_wire(p_a public.agent_blueprints) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('name', p_a.name, 'description', p_a.description, 'system_prompt', p_a.system_prompt,
      'skills', p_a.skills, 'tags', p_a.tags, 'capabilities', p_a.capabilities, 'demands', p_a.demands, 'status', p_a.status,
      'created_at', coord.iso(p_a.created_at), 'modified_at', coord.iso(p_a.modified_at)))
    || case when p_a.mcp_servers is null then '{}' else pg_catalog.jsonb_build_object('mcp_servers', p_a.mcp_servers) end
$$;

create function coord.capability_wire(p_c public.capabilities, p_full boolean) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_build_object('name', p_c.name, 'description', p_c.description, 'created_at', coord.iso(p_c.created_at), 'modified_at', coord.iso(p_c.modified_at))
    || case when p_full then pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('text', p_c.text))
         || case when p_c.mcp_servers is null then '{}' else pg_catalog.jsonb_build_object('mcp_servers', p_c.mcp_servers) end
       else pg_catalog.jsonb_build_object('has_text', p_c.text is not null, 'has_mcp', p_c.mcp_servers is not null,
         'mcp_server_names', coalesce((select pg_catalog.jsonb_agg(k order by k) from pg_catalog.jsonb_object_keys(coalesce(p_c.mcp_servers, '{}')) k), '[]')) end
$$;

create function coord.texts(p_list jsonb) returns text[] language plpgsql immutable set search_path = '' as $$
begin
  return case when pg_catalog.jsonb_typeof(p_list) = 'array' then array(select pg_catalog.jsonb_array_elements_text(p_list)) end;
end $$;

-- Refuses a name that is no directory's.
create function coord.check_name(p_what text, p_name text) returns void language plpgsql set search_path = '' as $$
begin
  if p_name !~ '^[a-zA-Z0-9][a-zA-Z0-9_-]*$' or length(p_name) > 60 then
    perform coord.fail(400, 'invalid', pg_catalog.format('Invalid %s name: %s', p_what, pg_catalog.left(p_name, 80)),
      'names begin with a letter or digit and have letters, digits, - and _ only, at most 60', 'choose another name', 'name');
  end if;
end $$;

-- Demands as they are kept: empty members left out, tags always there; null when nothing is demanded.
create function coord.tidy_demands(p_demands jsonb) returns jsonb language plpgsql immutable set search_path = '' as $$
declare v_d jsonb := coord.canonical_demands(p_demands) - 'task_type' - 'agent_type' - 'min_trust';
begin
  return case when v_d <> '{}' then pg_catalog.jsonb_build_object('tags', '[]'::jsonb) || v_d end;
end $$;

create function coord.get_blueprint(p_name text) returns public.agent_blueprints language plpgsql stable set search_path = '' as $$
declare v_a public.agent_blueprints;
begin
  select * into v_a from public.agent_blueprints a where a.name = p_name;
  if v_a.name is null then
    perform coord.fail(404, 'not_found', 'Agent not found: ' || pg_catalog.left(p_name, 80), 'there is no blueprint of that name', 'list them: GET /agents', 'agent_name');
  end if;
  return v_a;
end $$;

-- A blueprint with its capabilities worked in: prompts joined, MCP servers merged. Raises 422 when one is missing or
-- two define the same server.
create function coord.resolve_blueprint(p_name text) returns jsonb language plpgsql stable set search_path = '' as $$
declare v_a public.agent_blueprints := coord.get_blueprint(p_name); v_c public.capabilities; v_n text; v_clash text;
  v_parts text[] := case when coalesce(v_a.system_prompt, '') <> '' then array[v_a.system_prompt] else '{}' end;
begin
  foreach v_n in array v_a.capabilities loop
    select * into v_c from public.capabilities c where c.name = v_n;
    if v_c.name is null then
      perform coord.fail(422, 'invalid', pg_catalog.format('Capability not found: %s', v_n), pg_catalog.format('the agent %s names it', p_name),
        'create the capability or take it out of the agent', 'capabilities');
    end if;
    if coalesce(v_c.text, '') <> '' then v_parts := v_parts || v_c.text; end if;
    select k into v_clash from pg_catalog.jsonb_object_keys(coalesce(v_c.mcp_servers, '{}')) k where v_a.mcp_servers ? k limit 1;
    if v_clash is not null then
      perform coord.fail(422, 'invalid', pg_catalog.format('MCP server name conflict: %s', v_clash),
        pg_catalog.format('capability %s defines a server that is defined already', v_n), 'rename one of them', 'mcp_servers');
    end if;
    if v_c.mcp_servers is not null then v_a.mcp_servers := coalesce(v_a.mcp_servers, '{}') || v_c.mcp_servers; end if;
  end loop;
  v_a.system_prompt := case when pg_catalog.cardinality(v_parts) > 0 then pg_catalog.array_to_string(v_parts, E'\n\n---\n\n') end;
  return coord.agent_wire(v_a);
end $$;

create function coord.get_agent(p_name text, p_raw boolean) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return case when p_raw then coord.agent_wire(coord.get_blueprint(p_name)) else coord.resolve_blueprint(p_name) end;
end $$;

-- Blueprints by name, inactive ones too; with p_tags those that have all of them.
create function coord.list_agents(p_tags text[]) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((select pg_catalog.jsonb_agg(coord.agent_wire(a) order by a.name) from public.agent_blueprints a
    where p_tags is null or a.tags @> p_tags), '[]');
end $$;

-- Creates (p_create) or changes a blueprint. Members that p_in lacks stay as they are; "", [] and {} clear one.
create function coord.put_agent(p_project bigint, p_by text, p_name text, p_in jsonb, p_create boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_a public.agent_blueprints; v_now timestamptz := coord.now();
begin
  if p_create then
    perform coord.check_name('agent', p_name);
    insert into public.agent_blueprints (name, description, created_at, modified_at) values (p_name, p_in ->> 'description', v_now, v_now)
      on conflict do nothing;
    if not found then
      perform coord.fail(409, 'conflict', 'Agent already exists: ' || p_name, '', 'change it with PATCH, or choose another name', 'name');
    end if;
  end if;
  select * into v_a from public.agent_blueprints a where a.name = p_name for update;
  if v_a.name is null then v_a := coord.get_blueprint(p_name); end if;
  update public.agent_blueprints a set
      description = coalesce(p_in ->> 'description', a.description),
      system_prompt = case when p_in ? 'system_prompt' then nullif(p_in ->> 'system_prompt', '') else a.system_prompt end,
      mcp_servers = case when p_in ? 'mcp_servers' then nullif(p_in -> 'mcp_servers', '{}') else a.mcp_servers end,
      skills = case when p_in ? 'skills' then nullif(coord.texts(p_in -> 'skills'), '{}') else a.skills end,
      tags = coalesce(coord.texts(p_in -> 'tags'), a.tags),
      capabilities = coalesce(coord.texts(p_in -> 'capabilities'), a.capabilities),
      demands = case when p_in ? 'demands' then coord.tidy_demands(p_in -> 'demands') else a.demands end,
      status = coalesce(p_in ->> 'status', a.status), modified_at = v_now
    where a.name = p_name returning * into v_a;
  perform coord.audit(p_project, null, p_by, case when p_create then 'create_agent' when p_in ? 'status' then 'set_agent_status' else 'update_agent' end,
    array[p_name], true, null, pg_catalog.jsonb_build_object('members', (select pg_catalog.jsonb_agg(k) from pg_catalog.jsonb_object_keys(p_in) k)));
  return coord.agent_wire(v_a);
end $$;

create function coord.delete_agent(p_project bigint, p_by text, p_name text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_a public.agent_blueprints;
begin
  delete from public.agent_blueprints a where a.name = p_name returning * into v_a;
  if v_a.name is null then v_a := coord.get_blueprint(p_name); end if;
  perform coord.audit(p_project, null, p_by, 'delete_agent', array[p_name]);
  return '{}';
end $$;

create function coord.get_capability_row(p_name text) returns public.capabilities language plpgsql stable set search_path = '' as $$
declare v_c public.capabilities;
begin
  select * into v_c from public.capabilities c where c.name = p_name;
  if v_c.name is null then
    perform coord.fail(404, 'not_found', 'Capability not found: ' || pg_catalog.left(p_name, 80), 'there is no capability of that name', 'list them: GET /capabilities', 'name');
  end if;
  return v_c;
end $$;

create function coord.get_capability(p_name text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return coord.capability_wire(coord.get_capability_row(p_name), true);
end $$;

create function coord.list_capabilities() returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((select pg_catalog.jsonb_agg(coord.capability_wire(c, false) order by c.name) from public.capabilities c), '[]');
end $$;

create function coord.put_capability(p_project bigint, p_by text, p_name text, p_in jsonb, p_create boolean)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.capabilities; v_now timestamptz := coord.now();
begin
  if p_create then
    perform coord.check_name('capability', p_name);
    insert into public.capabilities (name, description, created_at, modified_at) values (p_name, p_in ->> 'description', v_now, v_now) on conflict do nothing;
    if not found then
      perform coord.fail(409, 'conflict', 'Capability already exists: ' || p_name, '', 'change it with PATCH, or choose another name', 'name');
    end if;
  end if;
  update public.capabilities c set description = coalesce(p_in ->> 'description', c.description),
      text = case when p_in ? 'text' then nullif(p_in ->> 'text', '') else c.text end,
      mcp_servers = case when p_in ? 'mcp_servers' then nullif(p_in -> 'mcp_servers', '{}') else c.mcp_servers end, modified_at = v_now
    where c.name = p_name returning * into v_c;
  if v_c.name is null then v_c := coord.get_capability_row(p_name); end if;
  perform coord.audit(p_project, null, p_by, case when p_create then 'create_capability' else 'update_capability' end, array[p_name]);
  return coord.capability_wire(v_c, true);
end $$;

create function coord.delete_capability(p_project bigint, p_by text, p_name text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.capabilities; v_users text[];
begin
  select * into v_c from public.capabilities c where c.name = p_name for update;
  if v_c.name is null then v_c := coord.get_capability_row(p_name); end if;
  v_users := array(select a.name from public.agent_blueprints a where p_name = any (a.capabilities) order by a.name);
  if pg_catalog.cardinality(v_users) > 0 then
    perform coord.fail(409, 'conflict', pg_catalog.format('Capability is referenced by agents: %s', pg_catalog.array_to_string(v_users, ', ')),
      'they could not be resolved without it', 'take it out of these agents first', 'name');
  end if;
  delete from public.capabilities c where c.name = p_name;
  perform coord.audit(p_project, null, p_by, 'delete_capability', array[p_name]);
  return '{}';
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.get_agent(text, boolean), coord.list_agents(text[]), coord.put_agent(bigint, text, text, jsonb, boolean),
  coord.delete_agent(bigint, text, text), coord.get_capability(text), coord.list_capabilities(),
  coord.put_capability(bigint, text, text, jsonb, boolean), coord.delete_capability(bigint, text, text) to service_role;
