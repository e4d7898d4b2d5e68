-- What a person who watches needs beside what agents need: who waits for which lock, and another priority for a task.
set local lock_timeout = '5s';

-- Who waits for a lock, in the order of the queue, at most p_limit paths of waiters, and who is in the way of each:
-- holders, else an earlier waiter. p_home: the caller's repository, paths elsewhere print as @repo//path.
create function coord.lock_waiters(p_project bigint, p_home bigint, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_rows jsonb; v_n int;
begin
  select coalesce(pg_catalog.jsonb_agg(x.j order by x.wait_id, x.key) filter (where x.n <= p_limit), '[]'), count(*) into v_rows, v_n from (
    select w.wait_id, w.key, pg_catalog.row_number() over (order by w.wait_id, w.key) n, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
      'file_path', case when w.space in (0, p_home) then '' else '@' || r.name || '//' end || w.path,
      'agent_id', q.agent_id, 'agent_type', s.agent_type, 'session_id', s.session_id, 'mode', w.mode, 'branch', nullif(w.branch, ''),
      'since', coord.ts(q.created_at), 'held_path', case when w.space in (0, p_home) then '' else '@' || r.name || '//' end || h.path,
      'held_by', h.agent_id, 'ahead', nullif(h.ahead, 0))) j
    from coord.lock_waits q
    join coord.lock_wait_keys w on w.project_id = q.project_id and w.wait_id = q.id
    join public.agent_sessions s on s.project_id = q.project_id and s.id = q.session_id
    left join public.repositories r on r.project_id = q.project_id and r.id = w.space
    cross join lateral (
      select pg_catalog.min(y.path) path, pg_catalog.min(y.agent_id) agent_id, pg_catalog.max(y.ahead) ahead from (
        select l.file_path path, l.locked_by agent_id, 0 ahead
        from coord.lock_rivals(p_project, w.session_id, w.space, w.kind, w.base, w.key, w.branch, w.mode, w.re, w.pre, w.lk, w.anc) l
        where l.expires_at > v_now
        union all
        select null, null, count(distinct o.wait_id)::int
        from coord.lock_rivals_waiting(p_project, w.session_id, w.wait_id, w.space, w.kind, w.base, w.key, w.branch, w.mode, w.re, w.pre, w.lk, w.anc) o
        join coord.lock_waits e on e.project_id = p_project and e.id = o.wait_id and e.alive_until > v_now) y) h
    where q.project_id = p_project and q.alive_until > v_now and (h.agent_id is not null or h.ahead > 0)
    order by w.wait_id, w.key limit p_limit + 1) x;
  return pg_catalog.jsonb_build_object('waits', v_rows, 'count', least(v_n, p_limit), 'truncated', v_n > p_limit);
end $$;
revoke execute on function coord.lock_waiters(bigint, bigint, int) from public;
grant execute on function coord.lock_waiters(bigint, bigint, int) to service_role;

-- Gives a task another priority. One that is ready moves in its lane at once; what a claim is just taking stays as it
-- is. Lock order: the task, then coord.ready with SKIP LOCKED, as everything but a claim. Codes: forbidden.
create function coord.prioritise_work(p_project bigint, p_session bigint, p_by text, p_agent text, p_privileged boolean, p_task uuid, p_priority int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_w public.work_queue := coord.lock_task(p_project, p_task);
begin
  if v_w.id is null then return pg_catalog.jsonb_build_object('success', false, 'task_id', p_task, 'reason', 'task_not_found'); end if;
  perform coord.may_manage(v_w, p_agent, p_by, p_privileged, 'prioritise');
  if v_w.status not in ('scheduled', 'pending', 'claimed', 'running', 'verifying') then
    return pg_catalog.jsonb_build_object('success', false, 'task_id', p_task, 'status', v_w.status, 'reason', 'ended');
  end if;
  if v_w.priority <> p_priority and v_w.status = 'pending' and v_w.waiting_on = 0 then
    update coord.ready d set priority = p_priority where d.ctid = any (array(
      select r.ctid from coord.ready r where r.project_id = p_project and r.queue = 1 and r.class_id = v_w.class_id
        and r.priority = v_w.priority and r.id = v_w.id for update skip locked));
    if not found then
      return pg_catalog.jsonb_build_object('success', false, 'task_id', p_task, 'status', v_w.status, 'reason', 'being_claimed');
    end if;
  end if;
  update public.work_queue w set priority = p_priority, updated_at = coord.now() where w.project_id = p_project and w.id = v_w.id;
  perform coord.audit(p_project, p_session, p_by, 'prioritise_work', array[p_task::text], true, null,
    pg_catalog.jsonb_build_object('priority', p_priority, 'before', v_w.priority));
  return pg_catalog.jsonb_build_object('success', true, 'task_id', p_task, 'status', v_w.status, 'wake', array[coord.work_topic(p_project)]);
end $$;
revoke execute on function coord.prioritise_work(bigint, bigint, text, text, boolean, uuid, int) from public;
grant execute on function coord.prioritise_work(bigint, bigint, text, text, boolean, uuid, int) to service_role;
