-- Handoff documents: what a session leaves for the next one. Lists are jsonb arrays because clients put strings and
-- small objects into them.
set local lock_timeout = '5s';

create table public.handoff_documents (
  project_id     bigint not null references public.projects (id) on delete cascade,
  id             uuid not null default coord.uuid7(),
  agent_name     text not null,
  session_id     text,
  to_agent       text,
  summary        text not null check (length(summary) between 1 and 8000),
  completed_work jsonb not null default '[]',
  in_progress    jsonb not null default '[]',
  decisions      jsonb not null default '[]',
  next_steps     jsonb not null default '[]',
  relevant_files jsonb not null default '[]',
  created_at     timestamptz not null default coord.now(),
  primary key (project_id, id)
);
create index handoff_documents_agent on public.handoff_documents (project_id, agent_name, id);

alter table public.handoff_documents enable row level security;
revoke all on public.handoff_documents from anon, authenticated;
grant select on public.handoff_documents to anon, authenticated;
grant select, insert, update, delete on public.handoff_documents to service_role;
create policy handoff_documents_read on public.handoff_documents for select to anon, authenticated
  using (project_id in (select id from public.projects));
create policy handoff_documents_service on public.handoff_documents to service_role using (true) with check (true);

-- Writes a handoff; p_doc has the lists. p_to, when given, is told by a message (known yet or not: the next agent may
-- still have to start). Raises invalid when the document is larger than 64 KB.
create function coord.write_handoff(p_project bigint, p_session bigint, p_by text, p_summary text, p_doc jsonb, p_to text)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions; v_id uuid := coord.uuid7(); v_m public.messages; v_wake jsonb := '[]';
begin
  v_s := coord.session(p_project, p_session);
  if pg_catalog.octet_length(p_doc::text) > 65536 then
    perform coord.fail(422, 'invalid', 'the handoff is larger than 65536 bytes', 'the next session has to read it', 'shorten the lists; name files instead of quoting them');
  end if;
  insert into public.handoff_documents (project_id, id, agent_name, session_id, to_agent, summary, completed_work, in_progress, decisions, next_steps, relevant_files)
    values (p_project, v_id, v_s.agent_id, v_s.session_id, p_to, p_summary, coalesce(p_doc -> 'completed_work', '[]'), coalesce(p_doc -> 'in_progress', '[]'),
      coalesce(p_doc -> 'decisions', '[]'), coalesce(p_doc -> 'next_steps', '[]'), coalesce(p_doc -> 'relevant_files', '[]'));
  if p_to is not null then
    v_m.project_id := p_project; v_m.id := coord.uuid7(); v_m.created_at := coord.now(); v_m.thread := 'handoff:' || v_id;
    v_m.sender := v_s.agent_id; v_m.sender_session := v_s.session_id; v_m.sender_kind := 'agent'; v_m.kind := 'handoff'; v_m.urgency := 'high';
    v_m.text := pg_catalog.left(p_summary, 3900); v_m.ack_required := false;
    v_wake := coord.post_message(v_m, array[p_to], p_session) -> 'wake';
  end if;
  perform coord.audit(p_project, p_session, p_by, 'write_handoff', array[v_id::text], true, null,
    pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('to', p_to, 'length', length(p_summary))));
  return pg_catalog.jsonb_build_object('success', true, 'handoff_id', v_id, 'wake', v_wake);
end $$;

-- The newest handoffs, of one agent or of all.
create function coord.read_handoffs(p_project bigint, p_agent text, p_limit int)
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  select count(*), pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('id', h.id, 'agent_name', h.agent_name, 'session_id', h.session_id,
      'to', h.to_agent, 'summary', h.summary, 'completed_work', h.completed_work, 'in_progress', h.in_progress, 'decisions', h.decisions,
      'next_steps', h.next_steps, 'relevant_files', h.relevant_files, 'created_at', coord.ts(h.created_at))) order by h.id desc)
    into v_n, v_rows
    from (select * from public.handoff_documents d where d.project_id = p_project and (p_agent is null or d.agent_name = p_agent)
          order by d.id desc limit p_limit + 1) h;
  if v_n > p_limit then v_rows := v_rows - p_limit; end if;
  return pg_catalog.jsonb_build_object('handoffs', coalesce(v_rows, '[]'), 'count', least(v_n, p_limit), 'truncated', v_n > p_limit);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on all functions in schema coord to service_role;
