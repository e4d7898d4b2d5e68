-- The default privileges of Supabase projects from before 2026: whatever is created in public is granted
-- to the roles of the Data API at once. Tests apply this before the migrations, to prove that the grants
-- and revokes written there hold in both worlds. Never applied to a user's database.
grant usage on schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
