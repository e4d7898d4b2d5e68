-- A new database has no statistics until autovacuum comes by, a minute later or more. Plans that sessions made over empty tables
-- take every index that begins with the project for as good as the exact one, so a burst of changes reads all rows of its
-- project for each. Statistics end such plans.
set local lock_timeout = '5s';

-- Analyses those of the gateway's tables that have 100 rows or more and no statistics that know of as many. Returns how many
-- it analysed; where one is busy, autovacuum is at it.
create function coord.first_statistics() returns int language plpgsql security definer set search_path = '' as $$
declare v_t regclass; v_grown boolean; v_n int := 0;
begin
  for v_t in select c.oid::regclass from pg_catalog.pg_class c where c.reltuples < 100 and c.oid in ('coord.webhook_deliveries'::regclass,
      'coord.line_moves'::regclass, 'coord.line_heads'::regclass, 'public.changesets'::regclass, 'public.changeset_files'::regclass,
      'public.changeset_events'::regclass, 'public.verification_results'::regclass, 'public.approval_queue'::regclass, 'coord.gateway_outbox'::regclass) loop
    execute pg_catalog.format('select exists (select from %s offset 99)', v_t) into v_grown;
    if v_grown then
      execute pg_catalog.format('analyze (skip_locked) %s', v_t);
      v_n := v_n + 1;
    end if;
  end loop;
  return v_n;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.first_statistics() to service_role;
