-- A gateway takes no more of its inbox into memory at once than 32 MB, however many large deliveries wait.
set local lock_timeout = '5s';

-- Up to p_limit due deliveries, leased for p_lease seconds, in order of arrival: the first, and those after it whose bodies
-- are 32 MB together at most.
create or replace function coord.take_deliveries(p_limit int, p_lease int)
returns table (source text, delivery_id text, event text, body bytea, headers jsonb, attempts int, received_at timestamptz)
language plpgsql security definer set search_path = '' set enable_seqscan = off as $$
declare v_now timestamptz := coord.now();
begin
  return query with due as (
      select d.source, d.delivery_id, d.id, d.next_attempt_at, octet_length(d.body) as size from coord.webhook_deliveries d
        where d.state in ('received', 'failed') and d.next_attempt_at <= v_now order by d.next_attempt_at, d.id limit p_limit for update skip locked),
    fits as (select x.* from (select due.*, pg_catalog.sum(due.size) over w as total, row_number() over w as n from due window w as (order by due.next_attempt_at, due.id)) x
      where x.n = 1 or x.total <= 33554432),
    taken as (update coord.webhook_deliveries d set attempts = d.attempts + 1, next_attempt_at = v_now + pg_catalog.make_interval(secs => p_lease)
      from fits where d.source = fits.source and d.delivery_id = fits.delivery_id returning d.*)
    select t.source, t.delivery_id, t.event, t.body, t.headers, t.attempts, t.received_at from taken t order by t.id;
end $$;
