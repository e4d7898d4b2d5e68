-- Ids of a batch that follow each other: version 7 of RFC 9562 with its random part drawn once a call and counted up (6.2,
-- method 2). They cost a third of as many random ones, and are stored side by side.
set local lock_timeout = '5s';

create or replace function coord.uuid7_many(p_n int) returns uuid[] language plpgsql volatile set search_path = '' as $$
declare v_ms text := pg_catalog.lpad(pg_catalog.to_hex((extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint), 12, '0');
  v_random text := pg_catalog.gen_random_uuid()::text; v_low bigint;
begin
  v_ms := pg_catalog.left(v_ms, 8) || '-' || pg_catalog.right(v_ms, 4) || '-7' || pg_catalog.substr(v_random, 16, 9);
  v_low := ('x' || pg_catalog.substr(v_random, 25, 12))::bit(48)::bigint % (281474976710656 - p_n);
  return array(select (v_ms || pg_catalog.lpad(pg_catalog.to_hex(v_low + n), 12, '0'))::uuid from pg_catalog.generate_series(1, p_n) n);
end $$;

revoke execute on function coord.uuid7_many(int) from public;
