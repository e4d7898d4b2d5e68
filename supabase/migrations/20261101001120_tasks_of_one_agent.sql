-- Issues that a label assigns become tasks that the named agent alone may take. They demand the tag agent:<id>, which from
-- then on is that agent's: it has it always, and nobody else by saying so. Agents without such tasks offer what they did.
set local lock_timeout = '5s';

create table coord.reserved_agents (
  project_id bigint not null,
  agent_id   text   not null,
  primary key (project_id, agent_id)
);
alter table coord.reserved_agents enable row level security;

-- What a session offers to demands: its agent's type and trust, its own and its agent's capabilities as tags, with
-- those of the call. types null = any.
create or replace function coord.work_claimer(p_session public.agent_sessions, p_types text[], p_tags text[])
returns jsonb language plpgsql stable set search_path = '' as $$
declare v_trust int; v_capabilities text[]; v_own text[];
begin
  select a.trust, a.capabilities into v_trust, v_capabilities from public.agents a
    where a.project_id = p_session.project_id and a.agent_id = p_session.agent_id;
  if exists (select from coord.reserved_agents r where r.project_id = p_session.project_id and r.agent_id = p_session.agent_id) then
    v_own := array['agent:' || p_session.agent_id];
  end if;
  return pg_catalog.jsonb_build_object('types', p_types, 'agent_type', p_session.agent_type, 'trust', coalesce(v_trust, 0),
    'tags', (select coalesce(pg_catalog.jsonb_agg(distinct t order by t), '[]')
      from unnest(coalesce(p_tags, '{}') || p_session.capabilities || coalesce(v_capabilities, '{}') || v_own) t
      where not pg_catalog.starts_with(t, 'agent:') or t = any (v_own)
        or not exists (select from coord.reserved_agents r where r.project_id = p_session.project_id and r.agent_id = pg_catalog.substr(t, 7))));
end $$;

-- Makes a task of an issue for one agent, once; says which task it is.
create or replace function coord.assign_issue(p_project bigint, p_key text, p_repository text, p_task jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_id uuid; v_out jsonb;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(pg_catalog.concat_ws(chr(1), 'coord.issue', p_project, p_key), 0));
  select t.task_id into v_id from coord.issue_tasks t where t.project_id = p_project and t.key = p_key;
  if v_id is not null then return pg_catalog.jsonb_build_object('task_id', v_id, 'created', false); end if;
  insert into coord.reserved_agents (project_id, agent_id)
    select p_project, pg_catalog.substr(x, 7) from pg_catalog.jsonb_array_elements_text(coalesce(p_task -> 'tags', '[]')) x where pg_catalog.starts_with(x, 'agent:')
    on conflict do nothing;
  v_out := coord.submit_work(p_project, null, 'gateway', p_repository, pg_catalog.jsonb_build_array(p_task));
  v_id := (v_out #>> '{tasks,0,task_id}')::uuid;
  insert into coord.issue_tasks (project_id, key, task_id) values (p_project, p_key, v_id);
  return v_out || pg_catalog.jsonb_build_object('task_id', v_id, 'created', true);
end $$;
