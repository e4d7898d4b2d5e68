-- Two indexes began with columns that a more exact index of their table begins with as well. Before a table has statistics the
-- planner takes one row for either, and took these: every change then read all runs and all heads of its repository, on a
-- new database until the first ANALYZE. Beginning with what only their own queries name, they serve those and no others.
set local lock_timeout = '5s';

create index verification_results_by_policy on public.verification_results (policy_name, project_id, completed_at);
drop index public.verification_results_policy;

create index line_heads_by_sha on coord.line_heads (head_sha, repository, project_id);
drop index coord.line_heads_of;
