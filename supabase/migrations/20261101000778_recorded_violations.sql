-- Locks that an agent's change went past and that are no longer held: the guard recorded them when it happened.
set local lock_timeout = '5s';

-- Which of p_paths p_agent changed in the last p_hours while somebody else held them. One row a path, the latest.
create function coord.recorded_violations(p_project bigint, p_agent text, p_paths text[], p_hours int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('path', x.path, 'holder', x.holder_agent_id,
      'reason', 'held when it was changed, at ' || coord.ts(x.last_at) || coalesce('; went ahead because: ' || x.bypass, '')) order by x.path)
    from (select distinct on (v.path) v.* from public.lock_violations v
      where v.project_id = p_project and v.agent_id = p_agent and v.path = any (p_paths) and not v.unknown
        and v.last_at > coord.now() - pg_catalog.make_interval(hours => p_hours)
      order by v.path, v.last_at desc limit 100) x), '[]');
end $$;

revoke execute on function coord.recorded_violations(bigint, text, text[], int) from public;
grant execute on function coord.recorded_violations(bigint, text, text[], int) to service_role;
