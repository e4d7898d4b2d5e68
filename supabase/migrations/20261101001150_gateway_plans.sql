-- What the gateway calls for every change finds its rows by index from the first call on, however small the tables were when
-- its plans were made. And the status that was told last is found without reading those of all other changes.
set local lock_timeout = '5s';

create index gateway_outbox_last on coord.gateway_outbox (project_id, kind, target, id);

-- Each of these reads rows by the whole of an index's leading columns. Plans are kept by a session, and one that was made over
-- empty tables would read them from end to end until statistics come.
do $$ declare v_f regprocedure; begin
  for v_f in select p.oid from pg_catalog.pg_proc p where p.pronamespace = 'coord'::regnamespace and p.proname in ('apply_head', 'apply_gone', 'line_head', 'turn_line',
      'supersede_line', 'close_changeset', 'reopen_changeset', 'take_changesets', 'prior_failures', 'store_route', 'verdict_of', 'decide', 'settle', 'status_out', 'end_runs',
      'take_runs', 'verification_started', 'verification_ended', 'take_cancels', 'cancel_done', 'take_outbox', 'end_outbox', 'take_deliveries', 'end_delivery',
      'vote_from_forge', 'vote_approval', 'on_verdict') loop
    execute pg_catalog.format('alter function %s set enable_seqscan = off', v_f);
  end loop;
end $$;

-- The small ones that are called for every row, in the language that keeps its plans.
create or replace function coord.changeset_note(p_project bigint, p_id uuid, p_kind text, p_text text, p_data jsonb default null)
returns void language plpgsql set search_path = '' as $$
begin
  insert into public.changeset_events (project_id, changeset_id, kind, text, data)
    values (p_project, p_id, p_kind, pg_catalog.left(p_text, 1000), p_data);
end $$;

create or replace function coord.word_list(p_list jsonb) returns text[] language plpgsql immutable parallel safe set search_path = '' as $$
begin
  if pg_catalog.jsonb_typeof(p_list) is distinct from 'array' then return '{}'; end if;
  return array(select x from pg_catalog.jsonb_array_elements_text(p_list) x);
end $$;

-- The bases that a head is compared with: a push without one means the default branch.
create or replace function coord.base_names(p_in jsonb) returns text[] language plpgsql immutable parallel safe set search_path = '' as $$
begin
  return pg_catalog.array_remove(array[coalesce(p_in ->> 'base_ref', p_in ->> 'default_branch')], null);
end $$;
