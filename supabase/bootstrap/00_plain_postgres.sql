-- What Supabase has and a plain Postgres lacks: the roles of the Data API, the schemas auth and
-- extensions, and the three functions that policies read. Never runs on Supabase (role supabase_admin),
-- may run any number of times, and creates only what is missing: an object of somebody else stays as it is.
--
-- Roles belong to the cluster, so two databases may create them at the same moment: the loser sees
-- unique_violation (both inserted) or duplicate_object (it looked later). Both mean "it is there".
do $bootstrap$
declare
  v_role   text;
  v_exists boolean;
  -- The privilege that allows SET ROLE: membership alone until 15, its own option from 16 on.
  v_may    text := case when pg_catalog.current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end;
begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_admin') then
    return;
  end if;

  foreach v_role in array array['anon', 'authenticated', 'service_role', 'authenticator'] loop
    select exists (select from pg_catalog.pg_roles where rolname = v_role) into v_exists;
    continue when v_exists;
    begin
      case v_role
        when 'authenticator' then
          create role authenticator login noinherit;
        when 'service_role' then
          -- BYPASSRLS needs a superuser (from 16 on: somebody who holds it). Without it the policies
          -- "to service_role using (true)" of each table do the same work.
          begin
            create role service_role nologin noinherit bypassrls;
          exception when insufficient_privilege then
            create role service_role nologin noinherit;
          end;
        else
          execute pg_catalog.format('create role %I nologin noinherit', v_role);
      end case;
    exception
      when duplicate_object or unique_violation then
        null;
      when insufficient_privilege then
        raise exception 'the role % is missing and % may not create roles', v_role, current_user
          using errcode = 'insufficient_privilege',
                hint = 'Let an administrator of this server run once: create role anon nologin noinherit; '
                    || 'create role authenticated nologin noinherit; create role service_role nologin noinherit; '
                    || 'create role authenticator login noinherit; grant anon, authenticated, service_role to authenticator, '
                    || pg_catalog.quote_ident(current_user) || ';';
    end;
  end loop;

  -- Who connects must be able to become each of them: authenticator for PostgREST, we ourselves for reads
  -- under row level security. From 16 on the creator of a role is not allowed to SET it by itself.
  foreach v_role in array array['anon', 'authenticated', 'service_role'] loop
    begin
      if not pg_catalog.pg_has_role('authenticator', v_role, 'MEMBER') then
        execute pg_catalog.format('grant %I to authenticator', v_role);
      end if;
      if not (select rolsuper from pg_catalog.pg_roles where rolname = current_user)
         and not pg_catalog.pg_has_role(current_user, v_role, v_may) then
        execute pg_catalog.format('grant %I to %I', v_role, current_user);
      end if;
    exception
      when duplicate_object or unique_violation then
        null;
      when insufficient_privilege then
        raise notice 'membership of % left as it is: % may not grant it', v_role, current_user;
    end;
  end loop;

  create schema if not exists auth;
  create schema if not exists extensions;
  grant usage on schema public, auth, extensions to anon, authenticated, service_role;

  if pg_catalog.to_regprocedure('auth.jwt()') is null then
    create function auth.jwt() returns jsonb language sql stable set search_path = '' as $$
      select coalesce(
        nullif(pg_catalog.current_setting('request.jwt.claim', true), ''),
        nullif(pg_catalog.current_setting('request.jwt.claims', true), ''))::jsonb
    $$;
  end if;
  if pg_catalog.to_regprocedure('auth.role()') is null then
    create function auth.role() returns text language sql stable set search_path = '' as $$
      select coalesce(
        nullif(pg_catalog.current_setting('request.jwt.claim.role', true), ''),
        nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'role')
    $$;
  end if;
  if pg_catalog.to_regprocedure('auth.uid()') is null then
    create function auth.uid() returns uuid language sql stable set search_path = '' as $$
      select coalesce(
        nullif(pg_catalog.current_setting('request.jwt.claim.sub', true), ''),
        nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid
    $$;
  end if;
end
$bootstrap$;
