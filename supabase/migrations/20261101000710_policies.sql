-- Policies of verification: which paths need what verified where. Routing itself is Go (internal/route), so that the
-- gateway, the simulation and the tests run the very same code; here policies are kept, with every version they had.
-- A project has the defaults from its first moment.
set local lock_timeout = '5s';

create table public.verification_policies (
  project_id         bigint   not null,
  id                 uuid     not null default coord.uuid7() unique,
  name               text     not null check (name ~ '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$'),
  version            int      not null default 1,
  repository         text     not null default '',
  branch             text     not null default '',
  tier               smallint not null check (tier between 0 and 4),
  executors          text[]   not null check (cardinality(executors) > 0),
  patterns           text[]   not null check (cardinality(patterns) > 0),
  exclude_patterns   text[]   not null default '{}',
  fold_case          boolean  not null default false,
  required_env       text[]   not null default '{}',
  timeout_seconds    int      not null default 600 check (timeout_seconds between 1 and 86400),
  required           boolean  not null default true,
  waivable           boolean  not null default false,
  requires_approval  boolean  not null default false,
  approvals          jsonb    not null default '{}',
  fail_on            text     not null default 'error' check (fail_on in ('note', 'warning', 'error')),
  retry_max          smallint not null default 0 check (retry_max between 0 and 5),
  accept_conclusions text[]   not null default '{}',
  workflow           text     not null default '',
  command            text     not null default '',
  template           text     not null default '',
  tools              text[]   not null default '{}',
  is_default         boolean  not null default false,
  priority           smallint not null default 100,
  enabled            boolean  not null default true,
  created_at         timestamptz not null default coord.now(),
  updated_at         timestamptz not null default coord.now(),
  updated_by         text     not null default 'default',
  primary key (project_id, id),
  unique (project_id, name)
);
comment on table public.verification_policies is 'What must be verified where. Changed by coord.put_policy only, which keeps every version.';

-- Every version of every policy, as the wire shows it.
create table public.verification_policy_versions (
  project_id bigint not null,
  policy_id  uuid   not null,
  version    int    not null,
  policy     jsonb  not null,
  at         timestamptz not null default coord.now(),
  by         text   not null,
  primary key (project_id, policy_id, version)
);

-- Counts the changes of a project's policies, so that who has compiled them knows when to do it again.
create table coord.policy_sets (
  project_id bigint primary key,
  version    bigint not null default 1
);

alter table public.verification_policies enable row level security;
alter table public.verification_policy_versions enable row level security;
alter table coord.policy_sets enable row level security;
revoke all on public.verification_policies, public.verification_policy_versions from anon, authenticated;
grant select on public.verification_policies, public.verification_policy_versions to anon, authenticated;
grant select, insert, update, delete on public.verification_policies, public.verification_policy_versions to service_role;
create policy verification_policies_read on public.verification_policies for select to anon, authenticated
  using (project_id in (select id from public.projects));
create policy verification_policies_service on public.verification_policies to service_role using (true) with check (true);
create policy verification_policy_versions_read on public.verification_policy_versions for select to anon, authenticated
  using (project_id in (select id from public.projects));
create policy verification_policy_versions_service on public.verification_policy_versions to service_role using (true) with check (true);

-- As the wire shows a policy.
create function coord.policy_wire(p_p public.verification_policies) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_build_object('id', p_p.id, 'name', p_p.name, 'version', p_p.version, 'repository', p_p.repository, 'branch', p_p.branch,
    'tier', p_p.tier, 'executors', p_p.executors, 'patterns', p_p.patterns, 'exclude_patterns', p_p.exclude_patterns, 'fold_case', p_p.fold_case,
    'required_env', p_p.required_env, 'timeout_seconds', p_p.timeout_seconds, 'required', p_p.required, 'waivable', p_p.waivable,
    'requires_approval', p_p.requires_approval, 'approvals', p_p.approvals, 'fail_on', p_p.fail_on, 'retry_max', p_p.retry_max,
    'accept_conclusions', p_p.accept_conclusions, 'workflow', p_p.workflow, 'command', p_p.command, 'template', p_p.template, 'tools', p_p.tools,
    'default', p_p.is_default, 'priority', p_p.priority, 'enabled', p_p.enabled)
$$;

------------------------------------------------------------------------------------------- defaults
-- The policies that a new project has, in the wire's names. They are a beginning: change or disable them.
create function coord.default_policies() returns jsonb language sql immutable set search_path = '' as $$
  select '[
    {"name": "static-all", "tier": 0, "executors": ["inline"], "patterns": ["**/*"], "timeout_seconds": 60, "default": true, "priority": 10},
    {"name": "unit-code", "tier": 1, "executors": ["github"], "patterns": ["**/*.{go,py,ts,tsx,js,jsx,mjs,rs,java,rb,c,cc,h}"],
     "exclude_patterns": ["docs/**", "**/testdata/**"], "timeout_seconds": 600, "waivable": true, "workflow": "verify.yml", "default": true, "priority": 20},
    {"name": "deps", "tier": 2, "executors": ["e2b", "ntm"], "patterns": ["**/go.mod", "**/go.sum", "**/package.json", "**/package-lock.json",
     "**/requirements*.txt", "**/pyproject.toml", "**/uv.lock", "**/Cargo.lock"], "timeout_seconds": 900, "priority": 30},
    {"name": "sql", "tier": 2, "executors": ["ntm", "e2b"], "patterns": ["**/*.sql", "**/database/**", "**/supabase/**"],
     "exclude_patterns": ["**/migrations/**"], "timeout_seconds": 900, "priority": 31},
    {"name": "integration-src", "tier": 2, "executors": ["ntm", "e2b"], "patterns": ["**/integration/**", "**/api/**", "**/handlers/**"],
     "exclude_patterns": ["**/*.md"], "timeout_seconds": 900, "default": true, "priority": 32},
    {"name": "migrations", "tier": 3, "executors": ["ntm"], "patterns": ["**/migrations/**"], "timeout_seconds": 1800, "priority": 40},
    {"name": "system", "tier": 3, "executors": ["ntm"], "patterns": ["**/docker-compose*.y*ml", "**/Dockerfile*", "deploy/**", "**/helm/**", "**/*.tf",
     "**/orchestrator/**", "**/pipeline/**"], "timeout_seconds": 1800, "default": true, "priority": 41},
    {"name": "security-review", "tier": 4, "executors": ["human"], "patterns": ["**/auth/**", "**/credentials/**", "**/*credentials*", "**/.env*", "**/*.env",
     "**/secrets/**", "**/*.pem", "**/*.key", "**/crypto/**"], "exclude_patterns": ["**/*.env.example", "**/.env.example"], "fold_case": true,
     "approvals": {"count": 1}, "timeout_seconds": 600, "default": true, "priority": 50},
    {"name": "verifier-self-protection", "tier": 4, "executors": ["human"], "patterns": [".github/workflows/**", ".github/actions/**", "**/CODEOWNERS",
     ".gateway/**", "**/.golangci.y*ml", "**/.gitleaks.toml", "**/.pre-commit-config.yaml"], "fold_case": true,
     "approvals": {"count": 1}, "timeout_seconds": 600, "priority": 51}
  ]'::jsonb
$$;

-- What a policy has that does not say otherwise.
create function coord.policy_base(p_tier int) returns jsonb language sql immutable set search_path = '' as $$
  select pg_catalog.jsonb_build_object('version', 1, 'repository', '', 'branch', '', 'exclude_patterns', '[]'::jsonb, 'fold_case', false, 'required_env', '[]'::jsonb,
    'executors', (array['["inline"]', '["github"]', '["e2b", "ntm"]', '["ntm"]', '["human"]'])[coalesce(p_tier, 0) + 1]::jsonb,
    'timeout_seconds', (array[60, 600, 900, 1800, 600])[coalesce(p_tier, 0) + 1], 'required', true, 'waivable', false, 'requires_approval', false,
    'approvals', '{}'::jsonb, 'fail_on', 'error', 'retry_max', 0, 'accept_conclusions', '[]'::jsonb, 'workflow', '', 'command', '', 'template', '', 'tools', '[]'::jsonb,
    'default', false, 'priority', 100, 'enabled', true)
$$;

-- Writes a policy whose wire form is complete, new or changed, keeps the version and counts the set's.
create function coord.store_policy(p_project bigint, p_by text, p_id uuid, p_in jsonb) returns public.verification_policies
language plpgsql set search_path = '' as $$
declare v_p public.verification_policies; v_now timestamptz := coord.now();
begin
  select * into v_p from pg_catalog.jsonb_populate_record(null::public.verification_policies, p_in - 'default');
  v_p.project_id := p_project; v_p.id := p_id; v_p.is_default := coalesce((p_in ->> 'default')::boolean, false);
  v_p.created_at := v_now; v_p.updated_at := v_now; v_p.updated_by := p_by;
  insert into public.verification_policies as t select v_p.*
    on conflict (project_id, id) do update set (name, version, repository, branch, tier, executors, patterns, exclude_patterns, fold_case, required_env,
        timeout_seconds, required, waivable, requires_approval, approvals, fail_on, retry_max, accept_conclusions, workflow, command, template, tools,
        is_default, priority, enabled, updated_at, updated_by)
      = (v_p.name, v_p.version, v_p.repository, v_p.branch, v_p.tier, v_p.executors, v_p.patterns, v_p.exclude_patterns, v_p.fold_case, v_p.required_env,
        v_p.timeout_seconds, v_p.required, v_p.waivable, v_p.requires_approval, v_p.approvals, v_p.fail_on, v_p.retry_max, v_p.accept_conclusions, v_p.workflow,
        v_p.command, v_p.template, v_p.tools, v_p.is_default, v_p.priority, v_p.enabled, v_now, p_by)
    returning * into v_p;
  insert into public.verification_policy_versions (project_id, policy_id, version, policy, at, by)
    values (p_project, p_id, v_p.version, coord.policy_wire(v_p), v_now, p_by);
  insert into coord.policy_sets as s (project_id) values (p_project) on conflict (project_id) do update set version = s.version + 1;
  return v_p;
end $$;

create function coord.seed_policies(p_project bigint) returns void language sql set search_path = '' as $$
  select coord.store_policy(p_project, 'default', coord.uuid7(), coord.policy_base((d ->> 'tier')::int) || d)
    from pg_catalog.jsonb_array_elements(coord.default_policies()) d
    where not exists (select from public.verification_policies p where p.project_id = p_project and p.name = d ->> 'name')
$$;

create function coord.seed_new_project() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  perform coord.seed_policies(new.id);
  return null;
end $$;
create trigger projects_policies after insert on public.projects for each row execute function coord.seed_new_project();
select coord.seed_policies(p.id) from public.projects p;

------------------------------------------------------------------------------------------- reading
create function coord.get_policy_row(p_project bigint, p_name text) returns public.verification_policies language plpgsql stable set search_path = '' as $$
declare v_p public.verification_policies;
begin
  select * into v_p from public.verification_policies p where p.project_id = p_project and (p.name = p_name or p.id::text = p_name) order by p.name = p_name desc limit 1;
  if v_p.id is null then
    perform coord.fail(404, 'not_found', 'there is no policy ' || pg_catalog.left(p_name, 100), 'the project has none of that name', 'list them: GET /policies', 'name');
  end if;
  return v_p;
end $$;

create function coord.get_policy(p_project bigint, p_name text) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return coord.policy_wire(coord.get_policy_row(p_project, p_name));
end $$;

-- The project's policies in the order they run, with the number of the set.
create function coord.list_policies(p_project bigint) returns jsonb language plpgsql stable security definer set search_path = '' as $$
begin
  return pg_catalog.jsonb_build_object('set_version', coord.policy_version(p_project), 'policies', coalesce((
    select pg_catalog.jsonb_agg(coord.policy_wire(p) order by p.tier, p.priority, p.name collate "C") from public.verification_policies p where p.project_id = p_project), '[]'));
end $$;

-- The number of the project's set of policies: it changes with every change of one.
create function coord.policy_version(p_project bigint) returns bigint language sql stable security definer set search_path = '' as $$
  select coalesce((select s.version from coord.policy_sets s where s.project_id = p_project), 0)
$$;

-- Every version of a policy, newest first.
create function coord.policy_history(p_project bigint, p_name text, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_p public.verification_policies := coord.get_policy_row(p_project, p_name);
begin
  return pg_catalog.jsonb_build_object('name', v_p.name, 'versions', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('version', h.version, 'at', coord.ts(h.at), 'by', h.by, 'policy', h.policy) order by h.version desc)
    from (select * from public.verification_policy_versions x where x.project_id = p_project and x.policy_id = v_p.id order by x.version desc limit p_limit) h), '[]'));
end $$;

------------------------------------------------------------------------------------------- changing
-- Creates (p_create) or changes a policy: members that p_in lacks stay as they are. p_version: the version the caller
-- saw, 0 for any. A change that changes nothing makes no version. Codes: not_found, conflict, invalid.
create function coord.put_policy(p_project bigint, p_by text, p_name text, p_in jsonb, p_create boolean, p_version int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_p public.verification_policies; v_was jsonb; v_new jsonb; v_changed text[];
begin
  -- One change of a project's policies at a time, so that the set's number tells them apart.
  insert into coord.policy_sets (project_id, version) values (p_project, 0) on conflict do nothing;
  perform 1 from coord.policy_sets s where s.project_id = p_project for update;
  if p_create then
    if p_name !~ '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$' then
      perform coord.fail(422, 'invalid', 'the name is not one of a policy', 'names have letters, digits, dot, dash and underscore, at most 100', 'choose another name', 'name');
    end if;
    if exists (select from public.verification_policies p where p.project_id = p_project and p.name = p_name) then
      perform coord.fail(409, 'conflict', 'there is a policy ' || p_name || ' already', 'names are unique in a project', 'change it with PUT /policies/' || p_name || ', or choose another name', 'name');
    end if;
    v_p := coord.store_policy(p_project, p_by, coord.uuid7(), coord.policy_base((p_in ->> 'tier')::int) || p_in || pg_catalog.jsonb_build_object('name', p_name, 'version', 1));
    perform coord.audit(p_project, null, p_by, 'create_policy', array[p_name], true, null, p_in);
    return coord.policy_wire(v_p);
  end if;
  v_p := coord.get_policy_row(p_project, p_name);
  if p_version > 0 and p_version <> v_p.version then
    perform coord.fail(409, 'conflict', pg_catalog.format('the policy is at version %s, not %s', v_p.version, p_version), 'it was changed since you read it', 'read it again, then change it', 'version');
  end if;
  v_was := coord.policy_wire(v_p);
  v_new := v_was || p_in || pg_catalog.jsonb_build_object('id', v_p.id, 'name', v_p.name, 'version', v_p.version);
  select coalesce(pg_catalog.array_agg(k order by k), '{}') into v_changed from pg_catalog.jsonb_object_keys(v_new) k where v_new -> k is distinct from v_was -> k;
  if pg_catalog.cardinality(v_changed) > 0 then
    v_p := coord.store_policy(p_project, p_by, v_p.id, v_new || pg_catalog.jsonb_build_object('version', v_p.version + 1));
  end if;
  perform coord.audit(p_project, null, p_by, 'update_policy', array[v_p.name], true, null,
    pg_catalog.jsonb_build_object('changed', v_changed, 'version', v_p.version));
  return coord.policy_wire(v_p);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.get_policy(bigint, text), coord.list_policies(bigint), coord.policy_version(bigint), coord.policy_history(bigint, text, int),
  coord.put_policy(bigint, text, text, jsonb, boolean, int) to service_role;
