-- Handing work over: locks and tasks of one agent become another's in one transaction, with new tokens, so that whatever
-- the old holder still sends is refused.
-- Lock order: rows of the sessions, the lock engine's session locks, its gates, the locks, the tasks (as everything else).
set local lock_timeout = '5s';

-- The session that gets the work: the named one, else the agent's that was heard last, else its implicit one.
-- Raises not_found.
create function coord.receiving_session(p_project bigint, p_agent text, p_session text) returns bigint language plpgsql set search_path = '' as $$
declare v_id bigint;
begin
  select s.id into v_id from public.agent_sessions s where s.project_id = p_project and s.agent_id = p_agent and s.status = 'active'
    and (p_session is null or s.session_id = p_session) order by greatest(s.last_seen_at, s.heartbeat_at) desc, s.id desc limit 1;
  if v_id is null and (p_session is not null or not exists (select from public.agents a where a.project_id = p_project and a.agent_id = p_agent)) then
    perform coord.fail(404, 'not_found', pg_catalog.format('%s has no open session%s', p_agent, coalesce(' ' || p_session, '')), coord.like_agents(p_project, p_agent),
      'list the sessions: GET /discovery/agents', 'to');
  end if;
  return coalesce(v_id, coord.open_session(p_project, p_agent, null, null));
end $$;

-- Writes the locks to their new session. One that it shares already is merged. Returns [{file_path, fencing_token}].
create function coord.move_locks(p_locks public.file_locks[], p_to public.agent_sessions, p_now timestamptz) returns jsonb language plpgsql set search_path = '' as $$
declare v_l public.file_locks; v_own public.file_locks; v_token bigint := pg_catalog.nextval('coord.lock_token'); v_out jsonb := '[]';
begin
  foreach v_l in array p_locks loop
    delete from public.file_locks l where l.project_id = v_l.project_id and l.space = v_l.space and l.base = v_l.base and l.key = v_l.key and l.branch = v_l.branch
      and l.session_id = p_to.id returning * into v_own;
    update public.file_locks l set session_id = p_to.id, locked_by = p_to.agent_id, agent_type = p_to.agent_type, session_name = p_to.session_id, token = v_token,
        acquired_at = p_now, expires_at = greatest(l.expires_at, v_own.expires_at), mode = case when v_own.mode = 'exclusive' then 'exclusive' else l.mode end
      where l.project_id = v_l.project_id and l.space = v_l.space and l.base = v_l.base and l.key = v_l.key and l.branch = v_l.branch and l.session_id = v_l.session_id;
    v_out := v_out || pg_catalog.jsonb_build_object('file_path', v_l.file_path, 'fencing_token', v_token::text);
  end loop;
  return (select coalesce(pg_catalog.jsonb_agg(distinct x), '[]') from pg_catalog.jsonb_array_elements(v_out) x);
end $$;

-- Writes the tasks to their new session, with a fresh lease. Returns [{task_id, lease_token}].
create function coord.move_tasks(p_tasks public.work_queue[], p_to public.agent_sessions, p_now timestamptz) returns jsonb language plpgsql set search_path = '' as $$
declare v_out jsonb;
begin
  update coord.lease l set session_id = p_to.id from pg_catalog.unnest(p_tasks) t
    where l.project_id = t.project_id and l.queue = 1 and l.until = t.lease_due and l.id = t.id;
  with moved as (
    update public.work_queue w set claimed_by = p_to.agent_id, session_id = p_to.id, fence = w.fence + 1, updated_at = p_now,
        lease_until = greatest(w.lease_until, p_now + pg_catalog.make_interval(secs => w.lease_seconds))
      from pg_catalog.unnest(p_tasks) t where w.project_id = t.project_id and w.id = t.id returning w.id, w.task_id, w.fence)
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('task_id', m.task_id, 'lease_token', m.fence::text) order by m.id) into v_out from moved m;
  return coalesce(v_out, '[]');
end $$;

-- Leaves the note: a handoff document, a message to who gets the work, a notice to who had it. Returns {handoff_id, wake}.
create function coord.note_hand_over(p_from text, p_session text, p_to public.agent_sessions, p_by text, p_note text, p_tasks public.work_queue[], p_paths text[])
returns jsonb language plpgsql set search_path = '' as $$
declare v_id uuid := coord.uuid7(); v_m public.messages; v_wake text[];
begin
  insert into public.handoff_documents (project_id, id, agent_name, session_id, to_agent, summary, in_progress, relevant_files)
    values (p_to.project_id, v_id, p_from, p_session, p_to.agent_id, p_note,
      (select coalesce(pg_catalog.jsonb_agg(pg_catalog.left(t.description, 200) order by t.id), '[]') from pg_catalog.unnest(p_tasks) t), pg_catalog.to_jsonb(p_paths[1:100]));
  v_m.project_id := p_to.project_id; v_m.id := coord.uuid7(); v_m.created_at := coord.now(); v_m.thread := 'handoff:' || v_id; v_m.sender := p_by;
  v_m.sender_kind := 'person'; v_m.kind := 'handoff'; v_m.urgency := 'overseer'; v_m.ack_required := false;
  v_m.text := pg_catalog.left(pg_catalog.format('%s gave you %s task(s) and %s lock(s) of %s: %s', p_by, pg_catalog.cardinality(p_tasks), pg_catalog.cardinality(p_paths), p_from, p_note), 4000);
  v_wake := coord.texts(coord.post_message(v_m, array[p_to.agent_id], null) -> 'wake');
  with told as (
    insert into coord.notices (project_id, session_id, kind, text, data)
    select p_to.project_id, s.id, 'work_lost', coord.cut(pg_catalog.format('%s gave %s task(s) and %s lock(s) of yours to %s: %s. Do not write there any more.', p_by,
        pg_catalog.cardinality(p_tasks), pg_catalog.cardinality(p_paths), p_to.agent_id, coord.cut(p_note, 120)), 290),
      pg_catalog.jsonb_build_object('urgency', 'overseer', 'task_ids', (select pg_catalog.jsonb_agg(t.task_id) from pg_catalog.unnest(p_tasks[1:20]) t), 'file_paths', pg_catalog.to_jsonb(p_paths[1:20]))
    from public.agent_sessions s where s.project_id = p_to.project_id and s.agent_id = p_from and s.status = 'active' and s.id <> p_to.id
      and (p_session is null or s.session_id = p_session) order by s.last_seen_at desc limit 20 returning session_id)
  select pg_catalog.array_agg(pg_catalog.format('n:%s:%s', p_to.project_id, t.session_id)) into v_wake from (select told.session_id from told) t;
  return pg_catalog.jsonb_build_object('handoff_id', v_id, 'wake', coalesce(v_wake, '{}') || pg_catalog.format('n:%s:%s', p_to.project_id, p_to.id));
end $$;

-- Hands over p_tasks and p_paths of p_from (both empty: everything), all or nothing. A result, nothing changed, when
-- p_from does not hold all that was named. Raises not_found, conflict (the receiver is paused), invalid.
create function coord.hand_over(p_project bigint, p_by text, p_from text, p_from_session text, p_to text, p_to_session text, p_tasks uuid[], p_paths text[], p_note text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_all boolean := coalesce(pg_catalog.cardinality(p_tasks), 0) + coalesce(pg_catalog.cardinality(p_paths), 0) = 0; v_from bigint[]; v_to public.agent_sessions; v_to_id bigint;
  v_locks public.file_locks[]; v_work public.work_queue[]; v_keys coord.lock_key[]; v_now timestamptz; v_paths text[]; v_note jsonb; v_out jsonb;
begin
  v_to_id := coord.receiving_session(p_project, p_to, p_to_session);
  v_from := array(select s.id from public.agent_sessions s where s.project_id = p_project and s.agent_id = p_from and s.status = 'active' and s.id <> v_to_id
    and (p_from_session is null or s.session_id = p_from_session));
  perform 1 from public.agent_sessions s where s.project_id = p_project and s.id = any (v_from || v_to_id) order by s.id for share;
  perform pg_catalog.pg_advisory_xact_lock_shared(pg_catalog.hashtextextended('coord.lock.session', x)) from (select u from pg_catalog.unnest(v_from || v_to_id) u order by u) o (x);
  v_to := coord.session(p_project, v_to_id);
  if (coord.pause_of(p_project, v_to.agent_id, v_to.id)).project_id is not null then
    perform coord.fail(409, 'conflict', v_to.agent_id || ' is paused', 'a paused agent takes nothing new', 'resume it first, or give the work to another', 'to');
  end if;
  v_locks := array(select l from public.file_locks l where l.project_id = p_project and l.session_id = any (v_from) and l.expires_at > coord.now()
    and (v_all or l.file_path = any (p_paths) or '@' || l.repository || '//' || l.file_path = any (p_paths)) order by l.space, l.base, l.key, l.branch, l.session_id);
  v_keys := coord.lock_row_keys(v_locks);
  if pg_catalog.cardinality(v_keys) > 0 then perform coord.lock_gates(p_project, v_keys, null, true); end if;
  v_now := coord.now();
  v_locks := array(select l from public.file_locks l where l.project_id = p_project and l.session_id = any (v_from) and l.expires_at > v_now
    and (v_all or l.file_path = any (p_paths) or '@' || l.repository || '//' || l.file_path = any (p_paths)) order by l.space, l.base, l.key, l.branch, l.session_id for update);
  perform coord.lock_tasks(p_project, array(select l.id from coord.lease l where l.project_id = p_project and l.queue = 1 and l.session_id = any (v_from)));
  v_work := array(select w from coord.lease l join public.work_queue w on w.project_id = p_project and w.id = l.id
    where l.project_id = p_project and l.queue = 1 and l.session_id = any (v_from) and w.session_id = any (v_from) and w.claimed_by = p_from and w.status in ('claimed', 'running')
      and (v_all or w.task_id = any (p_tasks)) order by w.id);
  v_paths := array(select distinct l.file_path from pg_catalog.unnest(v_locks) l order by 1);
  if pg_catalog.cardinality(v_locks) + pg_catalog.cardinality(v_work) = 0 or not v_all and (pg_catalog.cardinality(v_work) < coalesce(pg_catalog.cardinality(p_tasks), 0)
      or exists (select from pg_catalog.unnest(p_paths) p where not exists (select from pg_catalog.unnest(v_locks) l where p in (l.file_path, '@' || l.repository || '//' || l.file_path)))) then
    return pg_catalog.jsonb_build_object('success', false, 'reason', 'nothing_to_hand_over', 'from', p_from, 'to', p_to, 'tasks', '[]'::jsonb, 'locks', '[]'::jsonb);
  end if;
  v_out := pg_catalog.jsonb_build_object('locks', coord.move_locks(v_locks, v_to, v_now), 'tasks', coord.move_tasks(v_work, v_to, v_now));
  v_note := coord.note_hand_over(p_from, p_from_session, v_to, p_by, p_note, v_work, v_paths);
  perform coord.emit(p_project, 'handed_over', v_to.session_id, pg_catalog.jsonb_build_object('from', p_from, 'to', p_to, 'by', p_by));
  perform coord.audit(p_project, null, p_by, 'hand_over', array[p_from, p_to] || array(select w.task_id::text from pg_catalog.unnest(v_work) w) || v_paths[1:100], true, pg_catalog.left(p_note, 500));
  return v_out || pg_catalog.jsonb_build_object('success', true, 'from', p_from, 'to', p_to, 'to_session', v_to.session_id, 'handoff_id', v_note -> 'handoff_id',
    'wake', (v_note -> 'wake') || coord.lock_to_wake(p_project, v_keys, v_now) || pg_catalog.jsonb_build_array(coord.work_topic(p_project), 'r:' || p_project || ':locks', coord.live_topic()));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.hand_over(bigint, text, text, text, text, text, uuid[], text[], text) to service_role;
