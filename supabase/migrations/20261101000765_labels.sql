-- Issues that coordinate work by their labels: which became a task of which agent, and locks held in an issue's name.
set local lock_timeout = '5s';

create table coord.issue_tasks (
  project_id bigint not null,
  key        text   not null,                                        -- repository#number:agent
  task_id    uuid   not null,
  created_at timestamptz not null default coord.now(),
  primary key (project_id, key)
);
alter table coord.issue_tasks enable row level security;

-- Makes a task of an issue for one agent, once; says which task it is.
create function coord.assign_issue(p_project bigint, p_key text, p_repository text, p_task jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_id uuid; v_out jsonb;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(pg_catalog.concat_ws(chr(1), 'coord.issue', p_project, p_key), 0));
  select t.task_id into v_id from coord.issue_tasks t where t.project_id = p_project and t.key = p_key;
  if v_id is not null then return pg_catalog.jsonb_build_object('task_id', v_id, 'created', false); end if;
  v_out := coord.submit_work(p_project, null, 'gateway', p_repository, pg_catalog.jsonb_build_array(p_task));
  v_id := (v_out #>> '{tasks,0,task_id}')::uuid;
  insert into coord.issue_tasks (project_id, key, task_id) values (p_project, p_key, v_id);
  return v_out || pg_catalog.jsonb_build_object('task_id', v_id, 'created', true);
end $$;

-- Locks that labels hold go on as long as the label is there: it is its removal, not a clock, that ends them.
create function coord.renew_label_locks(p_minutes int) returns int language plpgsql security definer set search_path = '' as $$
declare v_n int; v_now timestamptz := coord.now();
begin
  update public.file_locks l set expires_at = v_now + pg_catalog.make_interval(mins => p_minutes), ttl_minutes = p_minutes
    where l.agent_type = 'github' and l.locked_by like 'issue:%' and l.expires_at > v_now;
  get diagnostics v_n = row_count;
  return v_n;
end $$;

-- The session in which an agent is at work: that of the task, else its latest active one; '' is its implicit one.
create function coord.working_session(p_project bigint, p_agent text, p_task uuid) returns text language sql stable security definer set search_path = '' as $$
  select coalesce((select s.session_id from public.work_queue w join public.agent_sessions s on s.project_id = w.project_id and s.id = w.session_id
      where w.project_id = p_project and w.task_id = p_task and s.agent_id = p_agent and s.status = 'active' and not s.implicit),
    (select s.session_id from public.agent_sessions s where s.project_id = p_project and s.agent_id = p_agent and s.status = 'active' and not s.implicit
      order by s.last_seen_at desc limit 1), '')
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.assign_issue(bigint, text, text, jsonb), coord.renew_label_locks(int), coord.working_session(bigint, text, uuid) to service_role;
