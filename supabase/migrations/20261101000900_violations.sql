-- Changes of files that somebody else held: what slipped past the locks, who did it, who was told.
set local lock_timeout = '5s';

create table public.lock_violations (
  project_id        bigint not null references public.projects (id),
  id                bigint generated always as identity,
  repository        text not null,
  path              text not null,
  held_path         text not null,
  agent_id          text not null,                       -- who changed it
  session_id        text,
  session_ref       bigint not null,
  holder_agent_id   text not null,
  holder_session_id text,
  stage             text not null check (stage in ('edit', 'commit', 'push')),
  tool              text,
  command           text,
  unknown           boolean not null default false,      -- another process may have done it
  bypass            text,                                -- the reason given for going ahead
  created_at        timestamptz not null default coord.now(),
  last_at           timestamptz not null default coord.now(),
  primary key (project_id, id)
);
create index lock_violations_newest on public.lock_violations (project_id, created_at desc, id desc);
create index lock_violations_again on public.lock_violations (project_id, session_ref, path, last_at desc);
alter table public.lock_violations enable row level security;
revoke all on public.lock_violations from anon, authenticated;
revoke all on sequence public.lock_violations_id_seq from anon, authenticated;
grant select on public.lock_violations to anon, authenticated;
grant select, insert, update, delete on public.lock_violations to service_role;
create policy lock_violations_read on public.lock_violations for select to anon, authenticated using (project_id in (select id from public.projects));
create policy lock_violations_service on public.lock_violations to service_role using (true) with check (true);

-- Records what p_session changed though others held it: p_rows [{file_path, held_path, locked_by, session_id}]. The
-- holder's session is told, once in ten minutes for a file. One audit row. Raises: 440 session_lapsed.
create function coord.report_violations(p_project bigint, p_session bigint, p_by text, p_repository text, p_rows jsonb,
  p_tool text, p_command text, p_stage text, p_unknown boolean, p_bypass text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_me public.agent_sessions := coord.session(p_project, p_session); v_now timestamptz := coord.now(); v_row record; v_holder bigint;
  v_id bigint; v_told bigint[] := '{}'; v_wake text[] := '{}';
begin
  for v_row in select x.* from pg_catalog.jsonb_to_recordset(p_rows) as x (file_path text, held_path text, locked_by text, session_id text) order by x.file_path loop
    update public.lock_violations v set last_at = v_now, bypass = coalesce(p_bypass, v.bypass)
      where v.project_id = p_project and v.session_ref = p_session and v.path = v_row.file_path and v.stage = p_stage
        and v.holder_session_id is not distinct from v_row.session_id and v.last_at > v_now - interval '10 minutes' returning v.id into v_id;
    continue when v_id is not null;
    insert into public.lock_violations (project_id, repository, path, held_path, agent_id, session_id, session_ref, holder_agent_id, holder_session_id,
        stage, tool, command, unknown, bypass, created_at, last_at)
      values (p_project, p_repository, v_row.file_path, coalesce(v_row.held_path, v_row.file_path), v_me.agent_id, v_me.session_id, p_session, v_row.locked_by,
        v_row.session_id, p_stage, p_tool, p_command, p_unknown, p_bypass, v_now, v_now);
    select s.id into v_holder from public.agent_sessions s
      where s.project_id = p_project and s.session_id = v_row.session_id and s.agent_id = v_row.locked_by and s.status = 'active';
    if v_holder is not null then
      perform coord.notice(p_project, v_holder, 'info',
        case when p_unknown then 'Somebody (last at work there: ' || v_me.agent_id || ')' else v_me.agent_id end
          || case p_stage when 'edit' then ' changed ' when 'commit' then ' commits ' else ' pushes ' end || v_row.file_path || ', which you hold'
          || coalesce(': ' || p_bypass, '') || '. Look at it before you go on.',
        pg_catalog.jsonb_build_object('violation', true, 'file_path', v_row.file_path, 'agent_id', v_me.agent_id, 'tool', p_tool));
      v_told := v_told || v_holder;
      v_wake := v_wake || ('n:' || p_project || ':' || v_holder);
    end if;
    perform coord.emit(p_project, 'lock_violation', v_me.session_id, pg_catalog.jsonb_build_object('file_path', v_row.file_path, 'repository', p_repository,
      'agent_id', v_me.agent_id, 'locked_by', v_row.locked_by, 'stage', p_stage, 'unknown', p_unknown));
  end loop;
  perform coord.audit(p_project, p_session, p_by, 'report_changes', array(select x.value ->> 'file_path' from pg_catalog.jsonb_array_elements(p_rows) x), true, p_bypass,
    pg_catalog.jsonb_build_object('stage', p_stage, 'tool', p_tool, 'command', p_command, 'unknown', p_unknown), pg_catalog.jsonb_build_object('holders', p_rows));
  return pg_catalog.jsonb_build_object('told', (select count(distinct t) from unnest(v_told) t), 'wake', v_wake || coord.live_topic());
end $$;
revoke execute on function coord.report_violations(bigint, bigint, text, text, jsonb, text, text, text, boolean, text) from public;
grant execute on function coord.report_violations(bigint, bigint, text, text, jsonb, text, text, text, boolean, text) to service_role;

-- The newest violations, p_agent's only when given.
create function coord.list_violations(p_project bigint, p_agent text, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  select coalesce(pg_catalog.jsonb_agg(x.j order by x.created_at desc, x.id desc) filter (where x.n <= p_limit), '[]'), count(*) into v_rows, v_n from (
    select v.created_at, v.id, pg_catalog.row_number() over (order by v.created_at desc, v.id desc) n, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'id', v.id::text, 'file_path', v.path, 'held_path', v.held_path, 'repository', nullif(v.repository, ''), 'agent_id', v.agent_id, 'session_id', v.session_id,
      'locked_by', v.holder_agent_id, 'holder_session_id', v.holder_session_id, 'stage', v.stage, 'tool', v.tool, 'command', v.command,
      'unknown', nullif(v.unknown, false), 'bypass', v.bypass, 'at', coord.ts(v.created_at), 'last_at', coord.ts(v.last_at))) j
    from public.lock_violations v where v.project_id = p_project and (p_agent is null or v.agent_id = p_agent)
    order by v.created_at desc, v.id desc limit p_limit + 1) x;
  return pg_catalog.jsonb_build_object('violations', v_rows, 'count', least(v_n, p_limit), 'truncated', v_n > p_limit);
end $$;
revoke execute on function coord.list_violations(bigint, text, int) from public;
grant execute on function coord.list_violations(bigint, text, int) to service_role;
