-- Callbacks: the end of a child, told to its parent as one more run of the parent. The outbox row is written in the
-- transaction of the child's end; a later transaction, which locks the parent alone, delivers what is open once the
-- parent is idle. So the end of a child is told at least once whatever dies in between, and once only by the row's source.
set local lock_timeout = '5s';

-- The dispatch topic of "there may be callbacks to deliver".
create function coord.callbacks_topic() returns text language sql immutable parallel safe as $$ select 'o:callbacks' $$;

-- Notes the end of p_s for its parent, if it has one that asked for it (async_callback). p_r is the run that ended; null:
-- the session ended by itself, during its run at work if it has one. p_text null: the session's result.
create function coord.tell_parent(p_s public.sessions, p_r public.runs, p_failed boolean, p_text text) returns text[] language plpgsql set search_path = '' as $$
declare v_r public.runs := p_r; v_parent text; v_text text := p_text;
begin
  if v_r.id is null then
    select * into v_r from public.runs r where r.session_id = p_s.session_id and r.status in ('claimed', 'running', 'stopping') order by r.id limit 1;
  end if;
  v_parent := coalesce(v_r.parent_session_id, p_s.parent_session_id);
  if v_parent is not null and v_parent <> p_s.session_id and not coalesce(v_r.quiet, false) and coalesce(v_r.execution_mode, p_s.execution_mode) = 'async_callback' then
    if not p_failed and v_text is null then v_text := (coord.result_text(p_s.session_id)).result; end if;
    insert into coord.callbacks (source, project_id, parent_session_id, child_session_id, failed, text)
      values (coalesce(v_r.run_id, p_s.session_id || ':' || coord.uuid7()), p_s.project_id, v_parent, p_s.session_id, p_failed, v_text)
      on conflict (source) do nothing;
  end if;
  return array[coord.callbacks_topic()];  -- this session's own children may have waited for it, too
end $$;

-- The prompt that tells of one child, or of several.
create function coord.callback_prompt(p_rows coord.callbacks[]) returns text language plpgsql immutable set search_path = '' as $$
declare v_c coord.callbacks; v_parts text[] := '{}';
begin
  if pg_catalog.cardinality(p_rows) = 1 then
    v_c := p_rows[1];
    if v_c.failed then
      return 'The child agent session "' || v_c.child_session_id || E'" has failed.\n\n## Error\n\n' || coalesce(nullif(v_c.text, ''), 'Unknown error')
        || E'\n\nPlease handle this failure and continue with the orchestration.';
    end if;
    return 'The child agent session "' || v_c.child_session_id || E'" has completed.\n\n## Child Result\n\n' || coalesce(nullif(v_c.text, ''), '(No result available)')
      || E'\n\nPlease continue with the orchestration based on this result.';
  end if;
  foreach v_c in array p_rows loop
    v_parts := v_parts || ('### Child: ' || v_c.child_session_id || case when v_c.failed then ' (FAILED)' else ' (completed)' end || E'\n\n'
      || coalesce(nullif(v_c.text, ''), case when v_c.failed then 'Unknown error' else '(No result available)' end));
  end loop;
  return E'Multiple child agent sessions have completed.\n\n' || pg_catalog.array_to_string(v_parts, E'\n\n---\n\n')
    || E'\n\nPlease continue with the orchestration based on these results.';
end $$;

-- Delivers what is open to at most p_limit parents that are idle: over, and with no run waiting or claimed. A parent
-- that another call holds is left for the next time. Everything open for a parent becomes one run. Tasks are told of the
-- end of their runs likewise.
create function coord.deliver_callbacks(p_no_match int, p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_parent text; v_s public.sessions; v_rows coord.callbacks[]; v_r public.runs; v_n int := 0; v_wake text[] := '{}'; v_now timestamptz := coord.now(); v_out jsonb;
begin
  v_out := coord.settle_tasks(p_limit);
  for v_parent in
    select c.parent_session_id from coord.callbacks c left join public.sessions s on s.session_id = c.parent_session_id
    where c.delivered_at is null and (s.id is null or s.status in ('finished', 'stopped', 'failed')
      and not exists (select from public.runs r where r.session_id = s.session_id and r.status in ('pending', 'claimed')))
    group by 1 order by pg_catalog.min(c.id) limit p_limit
  loop
    select * into v_s from public.sessions s where s.session_id = v_parent for update skip locked;
    if v_s.id is null then
      update coord.callbacks c set delivered_at = v_now where c.parent_session_id = v_parent and c.delivered_at is null
        and not exists (select from public.sessions s where s.session_id = v_parent);
      continue;
    end if;
    continue when v_s.status not in ('finished', 'stopped', 'failed')
      or exists (select from public.runs r where r.session_id = v_parent and r.status in ('pending', 'claimed'));
    select pg_catalog.array_agg(c order by c.id) into v_rows from coord.callbacks c where c.parent_session_id = v_parent and c.delivered_at is null;
    continue when v_rows is null;
    v_r := coord.add_run(v_s, 'system', pg_catalog.jsonb_build_object('type', 'resume_session', 'prompt', coord.callback_prompt(v_rows), 'agent_name', v_s.agent_name,
        'project_dir', v_s.project_dir, 'parent_session_id', v_s.parent_session_id, 'execution_mode', v_s.execution_mode),
      coord.merge_demands(pg_catalog.jsonb_build_object('hostname', v_s.hostname, 'executor_profile', v_s.executor_profile),
        coalesce((select a.demands from public.agent_blueprints a where a.name = v_s.agent_name), '{}')), p_no_match);
    update coord.callbacks c set delivered_at = v_now, delivered_run_id = v_r.run_id where c.id in (select x.id from unnest(v_rows) x);
    v_wake := v_wake || coord.enqueue_run(v_r) || coord.live_topic();
    perform coord.run_news(v_r);
    perform coord.audit(v_s.project_id, null, 'system', 'deliver_callback', array[v_r.run_id, v_parent], true, null,
      pg_catalog.jsonb_build_object('children', pg_catalog.cardinality(v_rows)));
    v_n := v_n + 1;
  end loop;
  return pg_catalog.jsonb_build_object('delivered', v_n + (v_out ->> 'settled')::int, 'wake', v_wake || coord.texts(v_out -> 'wake'));
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.deliver_callbacks(int, int) to service_role;
