-- Memory, what recall reads: pairs of words in one look. At a million memories the rows that are fetched are what costs
-- time; those with two words of a question are few, and among them are the best.
set local lock_timeout = '5s';

-- Memories with any of p_any, with all terms of one of the sets p_1 … p_6, or with one of p_one and one of p_other, that
-- have all of p_need. What is null finds nothing. As in coord.memories_any only the GIN index answers in time, and planning
-- with the constants at hand would only cost time.
create function coord.memories_with(p_project bigint, p_any bigint[], p_1 bigint[], p_2 bigint[], p_3 bigint[], p_4 bigint[], p_5 bigint[], p_6 bigint[],
  p_one bigint[], p_other bigint[], p_need bigint[], p_archived boolean, p_limit int)
returns table (id bigint, group_id bigint, seq int, kind smallint, at bigint, len_title smallint, len_body smallint, flags smallint, skill smallint, sig bytea)
language plpgsql stable security definer set search_path = '' set enable_seqscan = off set enable_indexscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
  return query select i.id, i.group_id, i.seq, i.kind, extract(epoch from i.at)::bigint, i.len_title, i.len_body, i.flags, i.skill, i.sig
    from coord.memory_index i
    where (i.terms operator(pg_catalog.&&) p_any
        or i.terms operator(pg_catalog.@>) p_1 or i.terms operator(pg_catalog.@>) p_2 or i.terms operator(pg_catalog.@>) p_3
        or i.terms operator(pg_catalog.@>) p_4 or i.terms operator(pg_catalog.@>) p_5 or i.terms operator(pg_catalog.@>) p_6
        or (i.terms operator(pg_catalog.&&) p_one and i.terms operator(pg_catalog.&&) p_other))
      and i.project_id + 0 = p_project
      and (p_archived or i.flags & 1 = 0) and (p_need is null or (i.terms operator(pg_catalog.@>) p_need) is not false)
    limit p_limit;
end $$;

revoke execute on function coord.memories_with(bigint, bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], boolean, int) from public;
grant execute on function coord.memories_with(bigint, bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], boolean, int) to service_role;
