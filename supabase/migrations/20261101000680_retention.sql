-- Retention of what is over: sessions that runners executed (with their runs and events), sessions of agents, messages,
-- handoffs. Only what ended p_days ago goes, and nothing that open work refers to. Every project's deletions of one call
-- are one audit row. The audit itself, memories and finished tasks have retentions of their own.
set local lock_timeout = '5s';

create index sessions_over on public.sessions (updated_at) where status in ('finished', 'failed', 'stopped');
create index agent_sessions_over on public.agent_sessions (ended_at) where status <> 'active';
create index callbacks_child on coord.callbacks (child_session_id);
create index messages_age on public.messages (created_at);
create index handoff_documents_age on public.handoff_documents (created_at);

-- Orchestrated sessions that may go, at most p_limit: nothing of them is at work, their tree neither, no parent waits to
-- hear of them, and no task waits for the end of one of their runs.
create function coord.old_sessions(p_before timestamptz, p_limit int) returns setof public.sessions language sql stable set search_path = '' as $$
  select s.* from public.sessions s
  where s.status in ('finished', 'failed', 'stopped') and s.updated_at < p_before
    and not exists (select from public.runs r where r.session_id = s.session_id
      and (r.status in ('pending', 'claimed', 'running', 'stopping') or r.task_open or r.completed_at >= p_before))
    and not exists (select from public.sessions c where c.parent_session_id = s.session_id and not (c.status in ('finished', 'failed', 'stopped') and c.updated_at < p_before))
    and not exists (select from coord.callbacks c where c.delivered_at is null and (c.parent_session_id = s.session_id or c.child_session_id = s.session_id))
    and not exists (select from public.agent_sessions a where a.session_id = s.session_id and a.status = 'active')
  order by s.updated_at limit p_limit
$$;

-- Deletes old orchestrated sessions: their events first, at most p_limit rows a call, then what has none left.
create function coord.purge_sessions(p_before timestamptz, p_limit int) returns jsonb language plpgsql set search_path = '' as $$
declare v_s public.sessions; v_events int := 0; v_n int; v_sums jsonb := '{}';
begin
  for v_s in select * from coord.old_sessions(p_before, greatest(p_limit / 20, 1)) loop
    exit when v_events >= p_limit;
    perform 1 from public.sessions s where s.session_id = v_s.session_id and s.updated_at < p_before for update skip locked;
    continue when not found;
    delete from public.events e where e.project_id = v_s.project_id and e.id = any (array(
      select x.id from public.events x where x.session_id = v_s.session_id and x.project_id = v_s.project_id order by x.id limit p_limit - v_events));
    get diagnostics v_n = row_count;
    v_events := v_events + v_n;
    continue when exists (select from public.events e where e.session_id = v_s.session_id);
    delete from coord.callbacks c where c.child_session_id = v_s.session_id;
    delete from public.runs r where r.session_id = v_s.session_id;
    update public.sessions s set parent_session_id = null where s.parent_session_id = v_s.session_id;
    delete from public.sessions s where s.session_id = v_s.session_id;
    v_sums := coord.add_to(v_sums, v_s.project_id, 'sessions');
  end loop;
  return v_sums;
end $$;

-- One more of a kind for a project.
create function coord.add_to(p_sums jsonb, p_project bigint, p_kind text, p_n int default 1) returns jsonb language sql immutable set search_path = '' as $$
  select pg_catalog.jsonb_set(p_sums || case when p_sums ? p_project::text then '{}' else pg_catalog.jsonb_build_object(p_project, '{}'::jsonb) end,
    array[p_project::text, p_kind], pg_catalog.to_jsonb(coalesce((p_sums -> p_project::text ->> p_kind)::int, 0) + p_n))
$$;

-- Sessions of agents that are over and hold nothing: no lock, no task, no notice that waits, no working memory. Tasks they
-- submitted name their agent and lose nothing.
create function coord.purge_agent_sessions(p_before timestamptz, p_limit int) returns table (project_id bigint, n int) language sql set search_path = '' as $$
  with old as (
    select a.project_id, a.id from public.agent_sessions a
    where a.status <> 'active' and a.ended_at < p_before
      and not exists (select from public.file_locks l where l.project_id = a.project_id and l.session_id = a.id)
      and not exists (select from coord.lease l where l.project_id = a.project_id and l.session_id = a.id)
      and not exists (select from coord.notices x where x.project_id = a.project_id and x.session_id = a.id and x.delivered_at is null)
      and not exists (select from public.memory_working m where m.project_id = a.project_id and m.session = a.id)
    order by a.ended_at limit p_limit for update skip locked),
  gone as (delete from public.agent_sessions a using old where a.project_id = old.project_id and a.id = old.id returning a.project_id)
  select g.project_id, count(*)::int from gone g group by 1
$$;

-- Messages that every recipient read (and acknowledged, where that was asked for), unless one that stays answers to them.
create function coord.purge_messages(p_before timestamptz, p_limit int) returns table (project_id bigint, n int) language sql set search_path = '' as $$
  with old as (
    select m.project_id, m.id from public.messages m
    where m.created_at < p_before
      and not exists (select from public.message_recipients r where r.project_id = m.project_id and r.message_id = m.id
        and (r.read_at is null or m.ack_required and r.acked_at is null))
      and not exists (select from public.messages x where x.project_id = m.project_id and x.thread = m.thread and x.created_at >= p_before)
    order by m.created_at limit p_limit for update skip locked),
  gone as (delete from public.messages m using old where m.project_id = old.project_id and m.id = old.id returning m.project_id)
  select g.project_id, count(*)::int from gone g group by 1
$$;

-- Handoffs, but for the newest of each agent, from it and to it: that is what its next session begins with.
create function coord.purge_handoffs(p_before timestamptz, p_limit int) returns table (project_id bigint, n int) language sql set search_path = '' as $$
  with old as (
    select h.project_id, h.id from public.handoff_documents h
    where h.created_at < p_before
      and exists (select from public.handoff_documents x where x.project_id = h.project_id and x.agent_name = h.agent_name and x.id > h.id
        and x.to_agent is not distinct from h.to_agent)
    order by h.created_at limit p_limit for update skip locked),
  gone as (delete from public.handoff_documents h using old where h.project_id = old.project_id and h.id = old.id returning h.project_id)
  select g.project_id, count(*)::int from gone g group by 1
$$;

-- Applies the retention: at most p_limit rows of each kind. Returns {deleted}. Any number of processes may call it.
create function coord.sweep_retention(p_days int, p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_before timestamptz := coord.now() - pg_catalog.make_interval(days => p_days); v_sums jsonb; v_x record; v_total int := 0;
begin
  if p_days is null or p_days < 1 then return '{"deleted": 0}'; end if;
  v_sums := coord.purge_sessions(v_before, p_limit);
  for v_x in select 'agent_sessions' as kind, p.* from coord.purge_agent_sessions(v_before, p_limit) p
      union all select 'messages', p.* from coord.purge_messages(v_before, p_limit) p
      union all select 'handoffs', p.* from coord.purge_handoffs(v_before, p_limit) p loop
    v_sums := coord.add_to(v_sums, v_x.project_id, v_x.kind, v_x.n);
  end loop;
  for v_x in select k::bigint as project_id, v as counts from pg_catalog.jsonb_each(v_sums) e (k, v) loop
    perform coord.audit(v_x.project_id, null, 'retention', 'purge_ended', '{}', true, null, pg_catalog.jsonb_build_object('days', p_days), v_x.counts);
    v_total := v_total + (select sum(n::int) from pg_catalog.jsonb_each_text(v_x.counts) c (kind, n));
  end loop;
  return pg_catalog.jsonb_build_object('deleted', v_total);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.sweep_retention(int, int) to service_role;
