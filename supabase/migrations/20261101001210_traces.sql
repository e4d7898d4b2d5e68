-- Which span (W3C traceparent) a run or a changeset began with, so that what happens to it later, in other processes, is
-- seen under it. Written while OpenTelemetry is on; never needed for anything else.
set local lock_timeout = '5s';

create table coord.traces (
  kind        text not null check (kind in ('run', 'changeset')),
  id          text not null check (length(id) <= 200),
  traceparent text not null check (length(traceparent) <= 200),
  created_at  timestamptz not null default coord.now(),
  primary key (kind, id)
);
create index traces_created on coord.traces (created_at);
alter table coord.traces enable row level security;

-- Keeps the first one said, and lets go of some that are older than three days.
create function coord.keep_trace(p_kind text, p_id text, p_traceparent text) returns void
language sql security definer set search_path = '' as $$
  delete from coord.traces t where t.ctid = any (array(
    select o.ctid from coord.traces o where o.created_at < coord.now() - interval '3 days' order by o.created_at limit 5 for update skip locked));
  insert into coord.traces (kind, id, traceparent) values (p_kind, p_id, p_traceparent) on conflict do nothing;
$$;

create function coord.trace_of(p_kind text, p_id text) returns text
language sql stable security definer set search_path = '' as $$
  select t.traceparent from coord.traces t where t.kind = p_kind and t.id = p_id
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.keep_trace(text, text, text), coord.trace_of(text, text) to service_role;
