-- Figures for whoever watches the installation: what stands still. Read every few seconds at most.
set local lock_timeout = '5s';

-- Counts end at 100,000: beyond that the number says nothing more. p_stale: seconds after which a runner is silent.
create function coord.figures(p_stale int) returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object(
    'locks', (select count(*) from public.file_locks),
    'locks_overdue', (select count(*) from public.file_locks l where l.expires_at < n.at - interval '30 seconds'),
    'lock_oldest_seconds', coalesce((select extract(epoch from n.at - pg_catalog.min(l.acquired_at)) from public.file_locks l), 0),
    'tasks_ready', (select count(*) from (select from coord.ready r where r.queue = 1 limit 100000) x),
    'task_oldest_seconds', coalesce((select extract(epoch from n.at - pg_catalog.min(w.created_at)) from public.projects p
      cross join lateral (select pg_catalog.min(r.id) id from (select r.id from coord.ready r where r.project_id = p.id and r.queue = 1 limit 100000) r) r
      join public.work_queue w on w.project_id = p.id and w.id = r.id), 0),
    'runs_waiting', (select count(*) from (select from coord.ready r where r.queue = 2 limit 100000) x),
    'run_oldest_seconds', coalesce((select extract(epoch from n.at - pg_catalog.min(q.created_at))
      from (select pg_catalog.min(r.id) id from (select r.id from coord.ready r where r.project_id = 0 and r.queue = 2 limit 100000) r) r join public.runs q on q.id = r.id), 0),
    'runners', (select count(*) from public.runners),
    'runners_silent', (select count(*) from public.runners r where r.last_heartbeat < n.at - pg_catalog.make_interval(secs => p_stale)),
    'approvals_waiting', (select count(*) from public.approval_queue a where a.status = 'pending'),
    'approval_oldest_seconds', coalesce((select extract(epoch from n.at - pg_catalog.min(coalesce(a.opened_at, a.created_at))) from public.approval_queue a where a.status = 'pending'), 0),
    'verdicts_failed', (select count(*) from public.changesets c where c.state in ('failed', 'error') and c.decided_at > n.at - interval '1 hour'),
    'outbox', (select count(*) from coord.gateway_outbox o where o.done_at is null),
    'deliveries_waiting', (select count(*) from coord.webhook_deliveries d where d.state in ('received', 'failed')))
  from (select coord.now() as at) n
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.figures(int) to service_role;
