-- Lists as the wire shows them, for readers of the Data API and for our own reads under row level security: locks,
-- tasks, orchestrated sessions. They run with the reader's rights (security_invoker), so the policies of the tables
-- beneath decide what is seen. Columns beyond the wire's (project_id, space, id, the raw times) are for filter and order.
-- Functions of schema coord are closed to readers, hence nothing of it is called here. The time is that of the setting
-- coord.clock where the coordinator's own reader set it, else the statement's.
set local lock_timeout = '5s';

-- Live locks. A pattern that was stored as several keys is one row, as people wrote it.
create view public.lock_list with (security_invoker = true) as
  select distinct on (l.project_id, l.space, l.file_path, l.branch, l.session_id)
    l.project_id, l.space, l.token, l.acquired_at, l.file_path, l.locked_by, l.agent_type, s.session_id, l.mode,
    nullif(l.branch, '') as branch, l.repository,
    pg_catalog.to_char(l.acquired_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as locked_at,
    pg_catalog.to_char(l.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as expires_at,
    pg_catalog.ceil(extract(epoch from l.expires_at - coalesce(nullif(pg_catalog.current_setting('coord.clock', true), '')::timestamptz,
      pg_catalog.statement_timestamp())))::int as seconds_left,
    l.reason, l.token::text as fencing_token
  from public.file_locks l left join public.agent_sessions s on s.project_id = l.project_id and s.id = l.session_id
  where l.expires_at > coalesce(nullif(pg_catalog.current_setting('coord.clock', true), '')::timestamptz, pg_catalog.statement_timestamp());
comment on view public.lock_list is 'Live locks, one row a holder and path, in the wire''s words.';

-- Tasks without their input and result; a description is cut after 300 characters. id orders them, newest last.
create view public.work_list with (security_invoker = true) as
  select w.project_id, w.id as seq, w.task_id as id, w.task_id, w.task_type, pg_catalog."left"(w.description, 300) as description, w.status,
    case when w.status <> 'pending' then w.status when w.waiting_on > 0 then 'blocked' else 'ready' end as state,
    w.priority, w.tags, w.labels, w.files, w.repository, w.depends_on, w.agent_requirements, w.claimed_by,
    pg_catalog.to_char(w.claimed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as claimed_at,
    pg_catalog.to_char(w.lease_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as lease_expires_at,
    w.attempt, w.max_attempts, w.progress, w.error_message,
    pg_catalog.to_char(w.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as run_at,
    pg_catalog.to_char(w.deadline at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as deadline, w.submitted_by,
    pg_catalog.to_char(w.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at,
    pg_catalog.to_char(w.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as updated_at,
    pg_catalog.to_char(w.completed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as completed_at
  from public.work_queue w;
comment on view public.work_list is 'Tasks in the wire''s words, without input and result.';

-- Orchestrated sessions. seq orders those that were created in the same microsecond.
create view public.session_list with (security_invoker = true) as
  select s.project_id, s.id as seq, s.created_at as created, s.session_id, s.status,
    pg_catalog.to_char(s.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as created_at, s.project_dir, s.agent_name,
    s.last_resumed_at, s.parent_session_id, s.execution_mode, s.executor_session_id, s.executor_profile, s.hostname
  from public.sessions s;
comment on view public.session_list is 'Orchestrated sessions in the wire''s words.';

revoke all on public.lock_list, public.work_list, public.session_list from anon, authenticated;
grant select on public.lock_list, public.work_list, public.session_list to anon, authenticated, service_role;
