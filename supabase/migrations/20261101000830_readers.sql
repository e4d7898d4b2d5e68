-- Two gaps that the role tests found: a runner bound to a project was shown to members of others, and service_role could
-- not insert memories because their ids come from a sequence it had no right to.
set local lock_timeout = '5s';

alter policy runners_read on public.runners using (project_id is null or project_id in (select id from public.projects));
grant usage on sequence coord.memory_ids to service_role;

-- Nobody but service_role draws numbers; older projects of Supabase grant all sequences of public to everybody.
revoke all on all sequences in schema public from anon, authenticated;
grant usage on all sequences in schema public to service_role;
