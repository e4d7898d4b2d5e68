-- Which commit is the head of a line is worked out from all that is known of the line, not from the order in which it was
-- told. So several gateways on one database, deliveries that come late or twice, and a forge whose clock has whole seconds
-- end at the same head.
--
-- A push is a move from one commit to the next. The moves of a line are one walk, and the end of a walk is the commit that
-- was arrived at more often than it was left, however they are shuffled. Only where moves are missing do clocks decide.
set local lock_timeout = '5s';

-- before_sha '': the commit was seen as the head, as when a pull request is opened. pushed: the times of the pushes that made
-- this move; one row may stand for several. seen_at: when it was told here last.
alter table coord.line_moves add column pushed timestamptz[] not null default '{}';
alter table coord.line_moves add column seen_at timestamptz;
create index line_moves_seen on coord.line_moves (project_id, repository, line, seen_at);

-- What older rows say: the heads as they stand.
insert into coord.line_moves (project_id, repository, line, before_sha, after_sha, at)
  select h.project_id, h.repository, h.line, '', h.head_sha, h.at from coord.line_heads h on conflict do nothing;

-- Adds what was told of a line. p_before null: p_after was seen as its head. p_push: a push told it, each of which is told
-- once by its own time. Returns whether it is news.
create function coord.note_move(p_project bigint, p_repository text, p_line text, p_before text, p_after text, p_at timestamptz, p_push boolean)
returns boolean language plpgsql set search_path = '' as $$
declare v_now timestamptz := pg_catalog.clock_timestamp(); v_pushed timestamptz[] := case when p_push and p_at is not null then array[p_at] else '{}' end;
begin
  insert into coord.line_moves as m (project_id, repository, line, before_sha, after_sha, at, pushed, seen_at)
    values (p_project, p_repository, p_line, coalesce(p_before, ''), p_after, p_at, v_pushed, v_now)
    on conflict (project_id, repository, line, before_sha, after_sha) do update
      set at = greatest(m.at, excluded.at), pushed = case when excluded.pushed <@ m.pushed then m.pushed else m.pushed || excluded.pushed end, seen_at = v_now
      where not excluded.pushed <@ m.pushed or coalesce(excluded.at > m.at, excluded.at is not null);
  return found;
end $$;

-- The head of a line by its latest 500 moves: {head_sha, at}; no row when nothing is known. 40 zeros: it was deleted.
-- A commit that was only seen counts as arrived at once. A head that was seen more than 30 s after the end of the walk is
-- believed instead (clocks of several machines), any later one after a deletion: a closed pull request is opened again.
create function coord.line_head(p_project bigint, p_repository text, p_line text) returns table (head_sha text, at timestamptz)
language plpgsql stable set search_path = '' as $$
declare v_gone constant text := pg_catalog.repeat('0', 40);
begin
  return query
    with m as (
      select x.before_sha as b, x.after_sha as a, greatest(pg_catalog.cardinality(x.pushed), 1) as n, x.at, x.seen_at, coalesce(x.at, x.seen_at, '-infinity') as t
      from coord.line_moves x where x.project_id = p_project and x.repository = p_repository and x.line = p_line
      order by x.seen_at desc nulls last limit 500),
    nodes as (
      select s.sha, pg_catalog.sum(s.came) as came, pg_catalog.sum(s.went) as went, pg_catalog.max(s.at) as at, pg_catalog.max(s.t) as t, pg_catalog.max(s.seen_at) as seen_at
      from (select m.a as sha, case when m.b = '' then 0 else m.n end as came, 0 as went, m.b = '' as seen, m.at, m.t, m.seen_at from m
        union all select m.b, 0, m.n, false, null, null, null from m where m.b <> '') s
      group by s.sha having pg_catalog.max(s.t) is not null),
    seen as (select distinct m.a as sha from m where m.b = ''),
    ends as (select n.* from nodes n where greatest(n.came, case when n.sha in (select s.sha from seen s) then 1 else 0 end) > n.went),
    walked as (
      select x.* from (select e.* from ends e union all select n.* from nodes n where not exists (select from ends)) x
      order by x.t desc, x.sha = v_gone, x.seen_at desc nulls last limit 1),
    latest as (select n.* from nodes n order by n.t desc, n.sha = v_gone, n.seen_at desc nulls last limit 1)
    select case when v.later then l.sha else w.sha end, case when v.later then l.at else w.at end
    from walked w cross join latest l
    cross join lateral (select l.t > w.t + case when w.sha = v_gone then interval '0' else interval '30 seconds' end as later) v;
end $$;

-- Brings the line's head up to date after something was told of it. A head that it turns out to have been all along is
-- verified after all. Returns the head, and topics to wake.
create function coord.turn_line(p_project bigint, p_repository text, p_line text, p_told text, out head text, out wake text[])
language plpgsql set search_path = '' as $$
declare v_old text; v_new record; v_c public.changesets;
begin
  wake := '{}';
  select h.head_sha into v_old from coord.line_heads h where h.project_id = p_project and h.repository = p_repository and h.line = p_line;
  select * into v_new from coord.line_head(p_project, p_repository, p_line);
  head := v_new.head_sha;
  insert into coord.line_heads as h (project_id, repository, line, head_sha, at) values (p_project, p_repository, p_line, v_new.head_sha, v_new.at)
    on conflict (project_id, repository, line) do update set head_sha = excluded.head_sha, at = excluded.at
      where (h.head_sha, h.at) is distinct from (excluded.head_sha, excluded.at);
  if head is not distinct from p_told or head is not distinct from v_old then return; end if;
  if head = pg_catalog.repeat('0', 40) then
    wake := wake || coord.supersede_line(p_project, p_repository, p_line, null, 'cancelled', 'its branch is gone');
  else
    select * into v_c from public.changesets c where c.project_id = p_project and c.repository = p_repository and c.head_sha = head for update;
    if v_c.state = 'superseded' then
      update public.changesets c set line = p_line where c.project_id = p_project and c.id = v_c.id returning * into v_c;
      wake := wake || coord.reopen_changeset(v_c, 'it is the head of its branch: what came between was told late');
    end if;
    if v_c.id is not null then
      wake := wake || coord.supersede_line(p_project, p_repository, p_line, v_c.id, 'superseded', 'a newer head: ' || pg_catalog.left(head, 10));
    end if;
  end if;
end $$;

-- Stores a head that the source told of. p_in: source, repository, clone_url, default_branch, branch, ref, head_sha, before,
-- base_ref, base_sha, pr_number, fork, draft, title, actor, contributors[], at, agent_id, agent_type, session_id, task_id,
-- claimed_files[], metadata. Returns {changeset_id, created, rerouted, superseded (it came late), wake}.
create or replace function coord.apply_head(p_project bigint, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets; v_repo text := p_in ->> 'repository'; v_head text := p_in ->> 'head_sha'; v_before text := p_in ->> 'before';
  v_at timestamptz := (p_in ->> 'at')::timestamptz; v_fork boolean := coalesce((p_in ->> 'fork')::boolean, false); v_wake text[]; v_turn record;
  v_line text := coord.line_of(p_in ->> 'source', coalesce(p_in ->> 'branch', ''), v_fork, (p_in ->> 'pr_number')::int); v_news boolean; v_newer boolean; v_new boolean := false; v_again text;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(pg_catalog.concat_ws(chr(1), 'coord.line', p_project, v_repo, v_line), 0));
  if p_in ->> 'source' = 'github' and p_in ->> 'pr_number' is null then  -- a new branch comes from nothing
    v_before := coalesce(v_before, pg_catalog.repeat('0', 40));
  end if;
  v_news := coord.note_move(p_project, v_repo, v_line, nullif(v_before, v_head), v_head, v_at, p_in ->> 'source' = 'github' and p_in ->> 'pr_number' is null);
  v_turn := coord.turn_line(p_project, v_repo, v_line, v_head);
  v_newer := v_turn.head = v_head;
  v_wake := v_turn.wake;
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
    v_again := coord.why_again(v_c, p_in, v_newer and (v_news or v_c.state <> 'cancelled'));
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

-- The branch was deleted, the pull request closed, the merge group dissolved: what is under way there ends. A pull request
-- that is closed leaves its branch where it is, unless that lies in a fork.
create or replace function coord.apply_gone(p_project bigint, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_repo text := p_in ->> 'repository'; v_wake text[] := '{}'; v_at timestamptz := (p_in ->> 'at')::timestamptz; v_h coord.line_heads; v_turn record;
  v_fork boolean := coalesce((p_in ->> 'fork')::boolean, false); v_gone constant text := pg_catalog.repeat('0', 40); v_stays boolean := p_in ->> 'pr_number' is not null and not v_fork;
  v_line text := coord.line_of(p_in ->> 'source', coalesce(p_in ->> 'branch', ''), v_fork, (p_in ->> 'pr_number')::int);
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(pg_catalog.concat_ws(chr(1), 'coord.line', p_project, v_repo, v_line), 0));
  select * into v_h from coord.line_heads h where h.project_id = p_project and h.repository = v_repo and h.line = v_line;
  if v_stays then
    if v_h.line is not null and (v_at < v_h.at or p_in ->> 'head_sha' is not null and p_in ->> 'head_sha' <> v_h.head_sha and not coalesce(v_at > v_h.at, false)) then
      return pg_catalog.jsonb_build_object('late', true, 'wake', '[]'::jsonb);  -- a late word about an older head does not end the newer one
    end if;
  else
    perform coord.note_move(p_project, v_repo, v_line, nullif(coalesce(p_in ->> 'before', p_in ->> 'head_sha', v_h.head_sha), v_gone), v_gone, v_at, p_in ->> 'pr_number' is null);
    v_turn := coord.turn_line(p_project, v_repo, v_line, v_gone);
    v_wake := v_turn.wake;
    if v_turn.head <> v_gone then
      return pg_catalog.jsonb_build_object('late', true, 'wake', v_wake || array['g:route', coord.live_topic()]);
    end if;
  end if;
  v_wake := v_wake || coord.supersede_line(p_project, v_repo, v_line, null, 'cancelled', coalesce(p_in ->> 'why', 'its branch is gone'));
  return pg_catalog.jsonb_build_object('late', false, 'wake', v_wake || array['g:runs', coord.live_topic()]);
end $$;

drop function coord.is_newer_head(bigint, text, text, text, text, timestamptz);

revoke execute on all functions in schema coord from public;
