-- The gateway's inbox, and what deliveries do to changesets: new heads, gone branches and pull requests. Which of two
-- heads of a line is the newer is decided here, whatever order their events arrive in.
--
-- Lines: a branch's name; fork:<n> for a fork's pull request; queue:<branch> for a merge group. Colons stand in no
-- branch's name. Events of one line are serialised by an advisory lock.
set local lock_timeout = '5s';

-- A stored body before its acknowledgement. A delivery that is there already changes nothing, unless it had been given
-- up: GitHub's redelivery (the same id) makes it due again.
create function coord.store_delivery(p_source text, p_delivery text, p_event text, p_body bytea, p_sha256 bytea, p_headers jsonb)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_new boolean;
begin
  insert into coord.webhook_deliveries as d (source, delivery_id, event, body, body_sha256, headers)
    values (p_source, pg_catalog.lower(p_delivery), p_event, p_body, p_sha256, p_headers)
    on conflict (source, delivery_id) do update set state = 'received', attempts = 0, next_attempt_at = coord.now(), error = null, done_at = null
      where d.state = 'dead'
    returning true into v_new;
  return pg_catalog.jsonb_build_object('duplicate', v_new is null, 'wake', case when v_new then '["g:inbox"]' else '[]' end::jsonb);
end $$;

-- Up to p_limit due deliveries, leased for p_lease seconds, in order of arrival.
create function coord.take_deliveries(p_limit int, p_lease int)
returns table (source text, delivery_id text, event text, body bytea, headers jsonb, attempts int, received_at timestamptz)
language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  return query with due as (
      select d.source, d.delivery_id, d.id from coord.webhook_deliveries d
        where d.state in ('received', 'failed') and d.next_attempt_at <= v_now order by d.next_attempt_at, d.id limit p_limit for update skip locked),
    taken as (update coord.webhook_deliveries d set attempts = d.attempts + 1, next_attempt_at = v_now + pg_catalog.make_interval(secs => p_lease)
      from due where d.source = due.source and d.delivery_id = due.delivery_id returning d.*)
    select t.source, t.delivery_id, t.event, t.body, t.headers, t.attempts, t.received_at from taken t order by t.id;
end $$;

-- What became of a delivery: processed or ignored for good, failed to be tried again after p_retry seconds (null: dead).
create function coord.end_delivery(p_source text, p_delivery text, p_state text, p_action text, p_error text, p_result jsonb, p_retry int)
returns void language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  update coord.webhook_deliveries d set action = coalesce(p_action, d.action), error = pg_catalog.left(p_error, 2000), result = p_result,
      state = case when p_state = 'failed' and p_retry is null then 'dead' else p_state end,
      done_at = case when p_state <> 'failed' or p_retry is null then v_now end,
      next_attempt_at = v_now + pg_catalog.make_interval(secs => coalesce(p_retry, 0))
    where d.source = p_source and d.delivery_id = p_delivery and d.state in ('received', 'failed');
end $$;

-- How many deliveries wait, and since when the oldest does; how many were given up.
create function coord.inbox_state() returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('waiting', count(*) filter (where d.state <> 'dead'), 'dead', count(*) filter (where d.state = 'dead'),
    'oldest_seconds', coalesce(extract(epoch from coord.now() - pg_catalog.min(d.received_at) filter (where d.state <> 'dead')), 0))
  from coord.webhook_deliveries d where d.state in ('received', 'failed', 'dead')
$$;

-- Bodies are kept p_days after they were done with, for questions about what happened.
create function coord.purge_deliveries(p_days int, p_limit int) returns int language plpgsql security definer set search_path = '' as $$
declare v_n int;
begin
  delete from coord.webhook_deliveries d where (d.source, d.delivery_id) in (select x.source, x.delivery_id from coord.webhook_deliveries x
    where x.received_at < coord.now() - pg_catalog.make_interval(days => p_days) and x.state in ('processed', 'ignored', 'dead') order by x.received_at limit p_limit);
  get diagnostics v_n = row_count;
  return v_n;
end $$;

---------------------------------------------------------------------------------------- repositories
-- The project of a normalised remote, made on first sight.
create function coord.project_of_remote(p_remote text) returns bigint language plpgsql security definer set search_path = '' as $$
declare v_project bigint;
begin
  select a.project_id into v_project from coord.repository_aliases a where a.alias = 'remote:' || p_remote;
  if v_project is null then
    select r.project_id into v_project from coord.resolve_repository(null, p_remote, null, pg_catalog.regexp_replace(p_remote, '^.*/', '')) r;
  end if;
  return v_project;
end $$;

-- The line that a change belongs to.
create function coord.line_of(p_source text, p_branch text, p_fork boolean, p_pr int) returns text language sql immutable parallel safe as $$
  select case when p_source = 'merge_group' then 'queue:' || p_branch when p_fork then 'fork:' || p_pr::text else p_branch end
$$;

-- Is p_head, told of at p_at (the source's clock, may be null), newer than the line's head? The chain of moves decides
-- before the clocks do, since those have whole seconds and belong to several machines: a head that followed the present
-- one is newer, one that another move left behind is older, a move that was seen before says nothing new.
create function coord.is_newer_head(p_project bigint, p_repository text, p_line text, p_before text, p_head text, p_at timestamptz)
returns boolean language plpgsql stable set search_path = '' as $$
declare v_h coord.line_heads; v_seen coord.line_moves; v_left boolean;
begin
  select * into v_h from coord.line_heads h where h.project_id = p_project and h.repository = p_repository and h.line = p_line;
  if v_h.line is null then return true; end if;
  if v_h.head_sha = p_head then return true; end if;
  select * into v_seen from coord.line_moves m where m.project_id = p_project and m.repository = p_repository and m.line = p_line
    and m.before_sha = p_before and m.after_sha = p_head;
  if v_seen.line is not null and not coalesce(p_at > v_seen.at, false) then return false; end if;
  if p_before = v_h.head_sha then return true; end if;
  v_left := exists (select from coord.line_moves m where m.project_id = p_project and m.repository = p_repository and m.line = p_line and m.before_sha = p_head);
  if v_left then  -- it can only come back by a push that is clearly later
    return coalesce(p_at > v_h.at + interval '30 seconds', false);
  end if;
  if p_at is null or v_h.at is null or p_at = v_h.at then
    -- The present head's own move tells where it came from: from this one, directly or not?
    return not exists (select from public.changesets c where c.project_id = p_project and c.repository = p_repository and c.head_sha = p_head and c.state = 'superseded');
  end if;
  return p_at > v_h.at;
end $$;

------------------------------------------------------------------------------------------- new heads
-- A change's older siblings on its line end here. One that is also the head of another line lives on there.
create function coord.supersede_line(p_project bigint, p_repository text, p_line text, p_keep uuid, p_state text, p_why text)
returns text[] language plpgsql set search_path = '' as $$
declare v_c public.changesets; v_other text; v_wake text[] := '{}';
begin
  for v_c in select * from public.changesets c where c.project_id = p_project and c.repository = p_repository and c.line = p_line
      and c.id is distinct from p_keep and c.state in ('received', 'routing', 'verifying', 'awaiting_approval') order by c.seq for update loop
    select h.line into v_other from coord.line_heads h where h.project_id = p_project and h.repository = p_repository and h.head_sha = v_c.head_sha and h.line <> p_line limit 1;
    if v_other is not null then
      update public.changesets c set line = v_other where c.project_id = p_project and c.id = v_c.id;
    else
      v_wake := v_wake || coord.close_changeset(v_c, p_state, p_why, p_keep);
    end if;
  end loop;
  return v_wake;
end $$;

-- Stores a head that the source told of. p_in: source, repository, clone_url, default_branch, branch, ref, head_sha, before,
-- base_ref, base_sha, pr_number, fork, draft, title, actor, contributors[], at, agent_id, agent_type, session_id, task_id,
-- claimed_files[], metadata. Returns {changeset_id, created, rerouted, superseded (it came late), wake}.
create function coord.apply_head(p_project bigint, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets; v_repo text := p_in ->> 'repository'; v_head text := p_in ->> 'head_sha'; v_before text := p_in ->> 'before';
  v_at timestamptz := (p_in ->> 'at')::timestamptz; v_fork boolean := coalesce((p_in ->> 'fork')::boolean, false); v_wake text[] := '{}';
  v_line text := coord.line_of(p_in ->> 'source', coalesce(p_in ->> 'branch', ''), v_fork, (p_in ->> 'pr_number')::int); v_newer boolean; v_new boolean := false; v_again text;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(pg_catalog.concat_ws(chr(1), 'coord.line', p_project, v_repo, v_line), 0));
  v_newer := coord.is_newer_head(p_project, v_repo, v_line, v_before, v_head, v_at);
  if v_before is not null then
    insert into coord.line_moves as m (project_id, repository, line, before_sha, after_sha, at) values (p_project, v_repo, v_line, v_before, v_head, v_at)
      on conflict (project_id, repository, line, before_sha, after_sha) do update set at = greatest(m.at, excluded.at);
  end if;
  if v_newer then
    insert into coord.line_heads as h (project_id, repository, line, head_sha, at) values (p_project, v_repo, v_line, v_head, v_at)
      on conflict (project_id, repository, line) do update set head_sha = excluded.head_sha, at = greatest(h.at, excluded.at);
  end if;
  insert into public.changesets (project_id, source, repository, clone_url, pr_number, branch, default_branch, line, ref, base_ref, base_sha, bases, head_sha,
      agent_id, agent_type, agent_verified, actor_login, contributors, session_id, task_id, is_fork, draft, claimed_files, title, metadata, state)
    values (p_project, p_in ->> 'source', v_repo, p_in ->> 'clone_url', (p_in ->> 'pr_number')::int, coalesce(p_in ->> 'branch', ''), p_in ->> 'default_branch', v_line,
      p_in ->> 'ref', p_in ->> 'base_ref', p_in ->> 'base_sha', coord.base_names(p_in), v_head, p_in ->> 'agent_id', p_in ->> 'agent_type',
      coalesce((p_in ->> 'agent_verified')::boolean, false), p_in ->> 'actor', coord.word_list(p_in -> 'contributors'), p_in ->> 'session_id', (p_in ->> 'task_id')::uuid, v_fork,
      coalesce((p_in ->> 'draft')::boolean, false), coord.word_list(p_in -> 'claimed_files'), pg_catalog.left(p_in ->> 'title', 300), coalesce(p_in -> 'metadata', '{}'),
      case when v_newer then 'received' else 'superseded' end)
    on conflict (project_id, repository, head_sha) do nothing returning * into v_c;
  if v_c.id is not null then
    v_new := true;
    perform coord.changeset_note(p_project, v_c.id, 'received', pg_catalog.format('%s on %s', pg_catalog.left(v_head, 10), coalesce(nullif(v_c.branch, ''), v_line)),
      pg_catalog.jsonb_build_object('source', v_c.source, 'actor', v_c.actor_login));
    perform coord.audit(p_project, (p_in ->> 'session')::bigint, coalesce(p_in ->> 'by', 'gateway'), 'receive_changeset', array[v_c.id::text], true, null, pg_catalog.jsonb_build_object('repository', v_repo, 'head_sha', v_head));
    if not v_newer then
      perform coord.changeset_note(p_project, v_c.id, 'superseded', 'it arrived after a newer head of its line');
    end if;
    v_wake := v_wake || coord.changeset_news(v_c);
  else
    select * into v_c from public.changesets c where c.project_id = p_project and c.repository = v_repo and c.head_sha = v_head for update;
    v_again := coord.why_again(v_c, p_in, v_newer);
    update public.changesets c set pr_number = coalesce((p_in ->> 'pr_number')::int, c.pr_number), clone_url = coalesce(c.clone_url, p_in ->> 'clone_url'),
        base_ref = coalesce(p_in ->> 'base_ref', c.base_ref), base_sha = coalesce(p_in ->> 'base_sha', c.base_sha), ref = coalesce(p_in ->> 'ref', c.ref),
        default_branch = coalesce(p_in ->> 'default_branch', c.default_branch),
        bases = (select coalesce(pg_catalog.array_agg(distinct x), '{}') from pg_catalog.unnest(c.bases || coord.base_names(p_in)) x),
        is_fork = c.is_fork or v_fork, draft = coalesce((p_in ->> 'draft')::boolean, c.draft), title = coalesce(pg_catalog.left(p_in ->> 'title', 300), c.title),
        contributors = (select coalesce(pg_catalog.array_agg(distinct x), '{}') from pg_catalog.unnest(c.contributors || coord.word_list(p_in -> 'contributors')) x),
        claimed_files = (select coalesce(pg_catalog.array_agg(distinct x), '{}') from pg_catalog.unnest(c.claimed_files || coord.word_list(p_in -> 'claimed_files')) x),
        agent_id = coalesce(c.agent_id, p_in ->> 'agent_id'), agent_type = coalesce(c.agent_type, p_in ->> 'agent_type'),
        agent_verified = c.agent_verified or coalesce((p_in ->> 'agent_verified')::boolean, false) and c.agent_id is not distinct from p_in ->> 'agent_id',
        session_id = coalesce(c.session_id, p_in ->> 'session_id'), task_id = coalesce(c.task_id, (p_in ->> 'task_id')::uuid),
        line = case when v_newer and c.state = 'superseded' then v_line else c.line end, metadata = c.metadata || coalesce(p_in -> 'metadata', '{}')
      where c.project_id = p_project and c.id = v_c.id returning * into v_c;
    if v_again is not null then v_wake := v_wake || coord.reopen_changeset(v_c, v_again); end if;
  end if;
  if v_newer then
    v_wake := v_wake || coord.supersede_line(p_project, v_repo, v_line, v_c.id, 'superseded', 'a newer head: ' || pg_catalog.left(v_head, 10));
  end if;
  return pg_catalog.jsonb_build_object('changeset_id', v_c.id, 'created', v_new, 'rerouted', v_again is not null, 'superseded', not v_newer,
    'wake', v_wake || array['g:route', coord.live_topic()]);
end $$;

create function coord.word_list(p_list jsonb) returns text[] language sql immutable parallel safe set search_path = '' as $$
  select coalesce(pg_catalog.array_agg(x), '{}') from pg_catalog.jsonb_array_elements_text(case when pg_catalog.jsonb_typeof(p_list) = 'array' then p_list else '[]' end) x
$$;

-- The bases that a head is compared with: a push without one means the default branch.
create function coord.base_names(p_in jsonb) returns text[] language sql immutable parallel safe set search_path = '' as $$
  select pg_catalog.array_remove(array[coalesce(p_in ->> 'base_ref', p_in ->> 'default_branch')], null)
$$;

-- Why a known head must be routed anew, or null.
create function coord.why_again(p_c public.changesets, p_in jsonb, p_newer boolean) returns text language sql immutable set search_path = '' as $$
  select case
    when not p_newer then null  -- a late word about an older head
    when p_c.state = 'superseded' then 'it is the head of its branch again'
    when p_c.state = 'cancelled' then 'it is back'
    when cardinality(p_c.bases) > 0 and not coord.base_names(p_in) <@ p_c.bases then 'it is to be merged into ' || coalesce(p_in ->> 'base_ref', p_in ->> 'default_branch', 'another base') || ' as well'
    when p_c.draft and p_in ->> 'draft' = 'false' then 'it is ready for review'
    when not p_c.is_fork and p_in ->> 'fork' = 'true' then 'it comes from a fork'
  end
$$;

-- The branch was deleted, the pull request closed, the merge group dissolved: what is under way there ends.
create function coord.apply_gone(p_project bigint, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_repo text := p_in ->> 'repository'; v_wake text[]; v_at timestamptz := (p_in ->> 'at')::timestamptz; v_h coord.line_heads;
  v_line text := coord.line_of(p_in ->> 'source', coalesce(p_in ->> 'branch', ''), coalesce((p_in ->> 'fork')::boolean, false), (p_in ->> 'pr_number')::int);
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(pg_catalog.concat_ws(chr(1), 'coord.line', p_project, v_repo, v_line), 0));
  select * into v_h from coord.line_heads h where h.project_id = p_project and h.repository = v_repo and h.line = v_line;
  -- A late word about an older head does not end the newer one.
  if v_h.line is not null and (v_at < v_h.at or p_in ->> 'head_sha' is not null and p_in ->> 'head_sha' <> v_h.head_sha and not coalesce(v_at > v_h.at, false)
      or p_in ->> 'before' is not null and p_in ->> 'before' <> v_h.head_sha and not coalesce(v_at > v_h.at, false)) then
    return pg_catalog.jsonb_build_object('late', true, 'wake', '[]'::jsonb);
  end if;
  if p_in ->> 'source' <> 'pull_request' then
    update coord.line_heads h set head_sha = pg_catalog.repeat('0', 40), at = greatest(h.at, v_at) where h.project_id = p_project and h.repository = v_repo and h.line = v_line;
  end if;
  v_wake := coord.supersede_line(p_project, v_repo, v_line, null, 'cancelled', coalesce(p_in ->> 'why', 'its branch is gone'));
  return pg_catalog.jsonb_build_object('late', false, 'wake', v_wake || array['g:runs', coord.live_topic()]);
end $$;

----------------------------------------------------------------------------------- agents' submissions
-- A commit that an agent hands over. The repository is named as the project knows it, or by its normalised remote; empty is
-- the project's only one. Whose key called decides whether the agent is who it says (verified). Reply: SubmittedChangeset.
create function coord.submit_changeset(p_project bigint, p_session bigint, p_by text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_s public.agent_sessions := coord.session(p_project, p_session); v_name text := nullif(p_in ->> 'repository', ''); v_r public.repositories; v_url text; v_default text; v_n int; v_out jsonb; v_c public.changesets;
begin
  select count(*) into v_n from public.repositories r where r.project_id = p_project;
  if v_name is null and v_n > 1 then
    perform coord.fail(422, 'invalid', 'repository is needed', 'this project has several', 'name one of them: ' || (select pg_catalog.string_agg(coalesce(x.remote, x.name), ', ') from (select * from public.repositories r where r.project_id = p_project order by r.id limit 20) x), 'repository');
  end if;
  select * into v_r from public.repositories r where r.project_id = p_project and (v_name is null or r.name = v_name or r.remote = v_name) order by r.remote = v_name desc nulls last, r.id limit 1;
  if v_r.id is null and v_name ~ '^[a-z0-9.-]+\.[a-z0-9.-]+(/[A-Za-z0-9._-]+)+$' then
    if exists (select from coord.repository_aliases a where a.alias = 'remote:' || v_name and a.project_id <> p_project) then
      perform coord.fail(409, 'conflict', 'that repository belongs to another project', 'a repository belongs to one project', 'send the project it belongs to', 'repository');
    end if;
    perform coord.resolve_repository((select p.name from public.projects p where p.id = p_project), v_name, null, pg_catalog.regexp_replace(v_name, '^.*/', ''));
    select * into v_r from public.repositories r where r.project_id = p_project and r.remote = v_name;
  end if;
  if v_r.id is null then
    perform coord.fail(404, 'not_found', 'no such repository in this project', 'it was never seen', 'send its remote, such as github.com/acme/shop', 'repository');
  end if;
  if p_in ->> 'task_id' is not null and not exists (select from public.work_queue w where w.project_id = p_project and w.task_id = (p_in ->> 'task_id')::uuid) then
    perform coord.fail(404, 'not_found', 'Task not found', 'this project has no such task', 'leave task_id out, or send the id that get_work gave', 'task_id');
  end if;
  select c.clone_url, c.default_branch into v_url, v_default from public.changesets c where c.project_id = p_project and c.repository = coalesce(v_r.remote, v_r.name) and c.clone_url is not null order by c.seq desc limit 1;
  v_out := coord.apply_head(p_project, (p_in - 'changed_files') || pg_catalog.jsonb_build_object('source', 'agent', 'repository', coalesce(v_r.remote, v_r.name), 'claimed_files', p_in -> 'changed_files',
    'clone_url', coalesce(v_url, 'https://' || v_r.remote || '.git'), 'default_branch', v_default, 'agent_id', v_s.agent_id, 'agent_type', v_s.agent_type, 'session_id', v_s.session_id, 'session', p_session, 'by', p_by, 'fork', false,
    'ref', 'refs/heads/' || (p_in ->> 'branch'), 'agent_verified', exists (select from coord.api_keys k where 'key:' || k.name = p_by and k.agent_id = v_s.agent_id and k.revoked_at is null)));
  select * into v_c from public.changesets c where c.project_id = p_project and c.id = (v_out ->> 'changeset_id')::uuid;
  return pg_catalog.jsonb_build_object('changeset_id', v_c.id, 'state', v_c.state, 'created', (v_out ->> 'created')::boolean, 'status_url', '/status/' || v_c.id::text, 'wake', v_out -> 'wake');
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.store_delivery(text, text, text, bytea, bytea, jsonb), coord.take_deliveries(int, int),
  coord.end_delivery(text, text, text, text, text, jsonb, int), coord.inbox_state(), coord.purge_deliveries(int, int), coord.project_of_remote(text),
  coord.apply_head(bigint, jsonb), coord.apply_gone(bigint, jsonb), coord.submit_changeset(bigint, bigint, text, jsonb) to service_role;
