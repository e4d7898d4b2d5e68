-- Commits that are not pushed: an agent hands over a git bundle with them, which waits here until a gateway fetches the
-- commit. And the retention of what the gateway writes down.
set local lock_timeout = '5s';

create table coord.changeset_bundles (
  project_id   bigint      not null,
  changeset_id uuid        not null,
  head_sha     text        not null,
  bundle       bytea       not null check (octet_length(bundle) <= 3000000),
  at           timestamptz not null default coord.now(),
  primary key (project_id, changeset_id)
);
alter table coord.changeset_bundles alter column bundle set storage external;  -- packed already
alter table coord.changeset_bundles enable row level security;
create index changeset_bundles_of on coord.changeset_bundles (head_sha);
create index changeset_bundles_age on coord.changeset_bundles (at);

-- A commit that an agent hands over. The repository is named as the project knows it, or by its normalised remote; empty is
-- the project's only one. Whose key called decides whether the agent is who it says (verified). Reply: SubmittedChangeset.
create or replace function coord.submit_changeset(p_project bigint, p_session bigint, p_by text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions := coord.session(p_project, p_session); v_name text := nullif(p_in ->> 'repository', ''); v_r public.repositories; v_url text; v_default text; v_n int; v_out jsonb; v_c public.changesets; v_repo text;
begin
  select count(*) into v_n from public.repositories r where r.project_id = p_project;
  if v_name is null and v_n > 1 then
    perform coord.fail(422, 'invalid', 'repository is needed', 'this project has several', 'name one of them: ' || (select pg_catalog.string_agg(coalesce(x.remote, x.name), ', ') from (select * from public.repositories r where r.project_id = p_project order by r.id limit 20) x), 'repository');
  end if;
  select * into v_r from public.repositories r where r.project_id = p_project and (v_name is null or r.name = v_name or pg_catalog.lower(r.remote) = pg_catalog.lower(v_name))
    order by r.remote = v_name desc nulls last, r.name = v_name desc, r.id limit 1;
  if v_r.id is null and v_name ~ '^[a-z0-9.-]+\.[a-z0-9.-]+(/[A-Za-z0-9._-]+)+$' then
    if (select (coord.known_alias('remote:' || v_name)).project_id) <> p_project then
      perform coord.fail(409, 'conflict', 'that repository belongs to another project', 'a repository belongs to one project', 'send the project it belongs to', 'repository');
    end if;
    perform coord.resolve_repository((select p.name from public.projects p where p.id = p_project), v_name, null, pg_catalog.regexp_replace(v_name, '^.*/', ''));
    select * into v_r from public.repositories r where r.project_id = p_project and pg_catalog.lower(r.remote) = pg_catalog.lower(v_name) order by r.id limit 1;
  end if;
  if v_r.id is null then
    perform coord.fail(404, 'not_found', 'no such repository in this project', 'it was never seen', 'send its remote, such as github.com/acme/shop', 'repository');
  end if;
  if p_in ->> 'task_id' is not null and not exists (select from public.work_queue w where w.project_id = p_project and w.task_id = (p_in ->> 'task_id')::uuid) then
    perform coord.fail(404, 'not_found', 'Task not found', 'this project has no such task', 'leave task_id out, or send the id that get_work gave', 'task_id');
  end if;
  v_repo := coalesce(v_r.remote, v_r.name);
  select c.clone_url, c.default_branch into v_url, v_default from public.changesets c where c.project_id = p_project and c.repository = v_repo and c.clone_url is not null order by c.seq desc limit 1;
  -- A base is an agent's word until a push says that its branch was there.
  if not exists (select from coord.line_moves m where m.project_id = p_project and m.repository = v_repo and m.line = coalesce(nullif(p_in ->> 'base_ref', ''), v_default)
      and m.after_sha = p_in ->> 'base_sha' and m.pushed <> '{}') then
    p_in := p_in - 'base_sha';
  end if;
  v_url := coalesce(v_url, 'https://' || v_r.remote || '.git');
  v_out := coord.apply_head(p_project, (p_in - 'changed_files' - 'bundle') || pg_catalog.jsonb_build_object('source', 'agent', 'repository', v_repo, 'claimed_files', p_in -> 'changed_files',
    'clone_url', v_url, 'default_branch', v_default, 'agent_id', v_s.agent_id, 'agent_type', v_s.agent_type, 'session_id', v_s.session_id, 'session', p_session, 'by', p_by, 'fork', false,
    'ref', 'refs/heads/' || (p_in ->> 'branch'), 'agent_verified', exists (select from coord.api_keys k where 'key:' || k.name = p_by and k.agent_id = v_s.agent_id and k.revoked_at is null)));
  if p_in ->> 'bundle' is not null then
    insert into coord.changeset_bundles as b (project_id, changeset_id, head_sha, bundle) values (p_project, (v_out ->> 'changeset_id')::uuid, p_in ->> 'head_sha', pg_catalog.decode(p_in ->> 'bundle', 'base64'))
      on conflict (project_id, changeset_id) do update set bundle = excluded.bundle, at = excluded.at;
  end if;
  select * into v_c from public.changesets c where c.project_id = p_project and c.id = (v_out ->> 'changeset_id')::uuid;
  return pg_catalog.jsonb_build_object('changeset_id', v_c.id, 'state', v_c.state, 'created', (v_out ->> 'created')::boolean, 'status_url', '/status/' || v_c.id::text, 'wake', v_out -> 'wake');
end $$;

-- The bundle of a commit of the repository that is fetched from there; null when nobody handed one over.
create function coord.bundle_of(p_clone_url text, p_sha text) returns bytea language sql stable security definer set search_path = '' as $$
  select b.bundle from coord.changeset_bundles b join public.changesets c on c.project_id = b.project_id and c.id = b.changeset_id
    where b.head_sha = p_sha and c.clone_url = p_clone_url order by b.at desc limit 1
$$;

-- Why a known head must be routed anew, or null.
create or replace function coord.why_again(p_c public.changesets, p_in jsonb, p_newer boolean) returns text language sql immutable set search_path = '' as $$
  select case
    when not p_newer then null  -- a late word about an older head
    when p_c.state = 'superseded' then 'it is the head of its branch again'
    when p_c.state = 'cancelled' then 'it is back'
    when p_c.provenance = 'agent_claimed' and p_in ->> 'source' <> 'agent' then 'it was pushed: what it changes can be read'
    when cardinality(p_c.bases) > 0 and not coord.base_names(p_in) <@ p_c.bases then 'it is to be merged into ' || coalesce(p_in ->> 'base_ref', p_in ->> 'default_branch', 'another base') || ' as well'
    when p_c.draft and p_in ->> 'draft' = 'false' then 'it is ready for review'
    when not p_c.is_fork and p_in ->> 'fork' = 'true' then 'it comes from a fork'
  end
$$;

-- Removes, at most p_limit rows of each kind: lines of timelines and moves of branches that are older than p_days, unless the
-- changeset is under way or the move leads to the present head; bundles a week after their changeset was decided.
create index changeset_events_age on public.changeset_events (at);
create index line_moves_age on coord.line_moves (coalesce(seen_at, at));
create function coord.purge_history(p_days int, p_limit int) returns int language plpgsql security definer set search_path = '' as $$
declare v_before timestamptz := coord.now() - pg_catalog.make_interval(days => p_days); v_n int; v_sum int := 0;
begin
  delete from public.changeset_events e where (e.project_id, e.id) in (select x.project_id, x.id from public.changeset_events x
    join public.changesets c on c.project_id = x.project_id and c.id = x.changeset_id
    where x.at < v_before and coord.changeset_final(c.state) and coalesce(c.decided_at, c.created_at) < v_before order by x.at limit p_limit);
  get diagnostics v_sum = row_count;
  delete from coord.line_moves m where m.ctid = any (array(select x.ctid from coord.line_moves x where coalesce(x.seen_at, x.at) < v_before
    and not exists (select from coord.line_heads h where h.project_id = x.project_id and h.repository = x.repository and h.line = x.line and h.head_sha = x.after_sha)
    order by coalesce(x.seen_at, x.at) limit p_limit for update skip locked));
  get diagnostics v_n = row_count;
  v_sum := v_sum + v_n;
  delete from coord.changeset_bundles b where (b.project_id, b.changeset_id) in (select x.project_id, x.changeset_id from coord.changeset_bundles x
    join public.changesets c on c.project_id = x.project_id and c.id = x.changeset_id
    where x.at < coord.now() - interval '7 days' and coord.changeset_final(c.state) order by x.at limit p_limit);
  get diagnostics v_n = row_count;
  return v_sum + v_n;
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.bundle_of(text, text), coord.purge_history(int, int) to service_role;
