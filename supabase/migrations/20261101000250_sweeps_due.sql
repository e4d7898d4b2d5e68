-- What the sweeps would find, asked in one statement: when idle, Store.Sweep sends this and nothing else. It speaks of
-- tables that later files make.
set local lock_timeout = '5s';

-- Which sweeps have something to do. Each condition is that of its sweep or a wider one, so that nothing due is missed:
-- sessions, verdicts, locks (and those who stopped waiting for one), work, memory.
-- p_tokeniser is the version with which memories should be indexed.
create function coord.sweeps_due(p_tokeniser int) returns table (sessions boolean, verdicts boolean, locks boolean, work boolean, memory boolean)
language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  return query select
    exists (select from public.agent_sessions s where s.status = 'active' and s.heartbeat_at is not null
      and greatest(s.heartbeat_at, s.last_seen_at) < v_now - pg_catalog.make_interval(secs => s.lapse_seconds)),
    exists (select from coord.task_verdicts),
    exists (select from public.file_locks l where l.expires_at <= v_now)
      or exists (select from coord.lock_waits w where w.alive_until < v_now - interval '1 minute'),
    exists (select from coord.due_projects(1::smallint, v_now)),
    exists (select from coord.memory_fold) or exists (select from coord.memory_stat s where s.swept_at < v_now - interval '10 minutes')
      or exists (select from coord.memories_to_index(null, null, p_tokeniser, 1));
end $$;

revoke execute on function coord.sweeps_due(int) from public;
grant execute on function coord.sweeps_due(int) to service_role;
