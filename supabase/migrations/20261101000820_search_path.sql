-- Every function of ours has a fixed, empty search_path, helpers included. Left out are the SQL one-liners that the
-- planner writes into their callers' queries: a setting of their own would stop that (measured: acquiring a lock 40 %
-- slower). They are not callable from outside, run with their callers' empty search_path and name everything in full,
-- which supabase/schema_test.go proves. lock_holder is called from outside, with no rights but its caller's.
set local lock_timeout = '5s';

do $$
declare v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_catalog.pg_proc p
    where p.pronamespace = 'coord'::regnamespace and p.prokind = 'f'
      and not exists (select from pg_catalog.unnest(p.proconfig) c where c like 'search_path=%')
      and p.proname not in ('now', 'ts', 'iso', 'task_state', 'lock_under', 'lock_meet', 'lock_rivals', 'lock_rivals_waiting', 'lock_holder')
  loop
    execute pg_catalog.format('alter function %s set search_path = ''''', v_function);
  end loop;
end $$;
