-- Tables that dashboards follow through Supabase Realtime (postgres_changes), in its publication. Row level security
-- decides there, too, who is told of which row. On a plain Postgres the publication is made and nothing streams until
-- somebody subscribes (and wal_level is logical); who may not make publications goes without.
-- Every table here leads its primary key with project_id, which is what a deletion is told with.
set local lock_timeout = '5s';

do $$
declare v_table text;
begin
  if not exists (select from pg_catalog.pg_publication where pubname = 'supabase_realtime') then
    begin
      create publication supabase_realtime;
    exception when insufficient_privilege then
      raise notice 'publication supabase_realtime left out: % may not create publications', current_user;
      return;
    end;
  end if;
  foreach v_table in array array['file_locks', 'work_queue', 'agent_sessions', 'sessions', 'runs', 'messages', 'message_recipients',
    'changesets', 'verification_results', 'approval_queue'] loop
    if pg_catalog.to_regclass('public.' || v_table) is not null and not exists (select from pg_catalog.pg_publication_tables
        where pubname = 'supabase_realtime' and schemaname = 'public' and tablename = v_table) then
      begin
        execute pg_catalog.format('alter publication supabase_realtime add table public.%I', v_table);
      exception when insufficient_privilege then
        raise notice '% left out of supabase_realtime: % does not own the publication', v_table, current_user;
      end;
    end if;
  end loop;
end $$;
