-- What models used and cost, and budgets that stop dispatch.
--
-- A report has a key that names the use for ever: a second one changes nothing. It counts in the period that its time lies
-- in, however late it comes. Every budget has one counter a period, raised in the report's own transaction, so that the
-- report that reaches the limit is the one that stops: it writes the hold (kind budget) that claims and dispatch probe.
-- Lock order: the project's budget lock (shared for reports), reports by key, counters by name and period, holds.
set local lock_timeout = '5s';

create table public.usage_reports (
  project_id         bigint not null references public.projects (id) on delete cascade,
  key                text   not null check (length(key) between 1 and 200),
  at                 timestamptz not null,
  model              text,
  agent_id           text,
  session_id         text,
  run_id             text,
  task_id            uuid,
  input_tokens       bigint not null default 0 check (input_tokens >= 0),
  output_tokens      bigint not null default 0 check (output_tokens >= 0),
  cache_read_tokens  bigint not null default 0 check (cache_read_tokens >= 0),
  cache_write_tokens bigint not null default 0 check (cache_write_tokens >= 0),
  cost_micros        bigint check (cost_micros >= 0),  -- millionths of a US dollar; null: not known
  source             text,
  reported_by        text not null,
  created_at         timestamptz not null default coord.now(),
  primary key (project_id, key)
);
create index usage_reports_at on public.usage_reports (project_id, at);
create index usage_reports_agent on public.usage_reports (project_id, agent_id, at);
create index usage_reports_session on public.usage_reports (project_id, session_id);
create index usage_reports_task on public.usage_reports (project_id, task_id) where task_id is not null;
create index usage_reports_run on public.usage_reports (project_id, run_id) where run_id is not null;

create table public.budgets (
  project_id   bigint   not null references public.projects (id) on delete cascade,
  name         text     not null check (length(name) between 1 and 100),
  agent_id     text,                                                    -- null: the project's
  period       text     not null check (period in ('day', 'month', 'total')),
  limit_micros bigint   check (limit_micros > 0),
  limit_tokens bigint   check (limit_tokens > 0),
  action       text     not null check (action in ('warn', 'stop')),
  warn_percent smallint not null check (warn_percent between 1 and 100),
  state        text     not null default 'ok' check (state in ('ok', 'warned', 'exceeded', 'stopped')),
  state_since  timestamptz not null default coord.now(),
  set_by       text     not null,
  set_at       timestamptz not null default coord.now(),
  primary key (project_id, name),
  check (limit_micros is not null or limit_tokens is not null)
);
create table coord.budget_spend (
  project_id bigint not null,
  name       text   not null,
  period     timestamptz not null,   -- its first moment, in UTC; of period total: -infinity
  micros     bigint not null default 0,
  tokens     bigint not null default 0,
  uncosted   bigint not null default 0,
  primary key (project_id, name, period),
  foreign key (project_id, name) references public.budgets (project_id, name) on delete cascade
);

-- Money is for members.
alter table public.usage_reports enable row level security;
alter table public.budgets enable row level security;
alter table coord.budget_spend enable row level security;
revoke all on public.usage_reports, public.budgets from anon, authenticated;
grant select on public.usage_reports, public.budgets to authenticated;
grant select, insert, update, delete on public.usage_reports, public.budgets to service_role;
create policy usage_reports_read on public.usage_reports for select to authenticated using (project_id in (select id from public.projects));
create policy usage_reports_service on public.usage_reports to service_role using (true) with check (true);
create policy budgets_read on public.budgets for select to authenticated using (project_id in (select id from public.projects));
create policy budgets_service on public.budgets to service_role using (true) with check (true);

create function coord.period_start(p_period text, p_at timestamptz) returns timestamptz language sql immutable parallel safe set search_path = '' as $$
  select case p_period when 'total' then '-infinity' else pg_catalog.date_trunc(p_period, p_at, 'UTC') end
$$;
create function coord.period_end(p_period text, p_at timestamptz) returns timestamptz language sql immutable parallel safe set search_path = '' as $$
  select case p_period when 'day' then pg_catalog.date_trunc('day', p_at, 'UTC') + interval '24 hours'
    when 'month' then (pg_catalog.date_trunc('month', p_at at time zone 'UTC') + interval '1 month') at time zone 'UTC' end
$$;

--------------------------------------------------------------------------------------------- reports
-- The reports with what they leave out: a run tells its agent, session and task; the caller p_agent and p_session (its
-- name, p_sid its id); the one task that the session holds.
create function coord.usage_rows(p_project bigint, p_sid bigint, p_agent text, p_session text, p_reports jsonb, p_now timestamptz)
returns table (key text, at timestamptz, model text, agent_id text, session_id text, run_id text, task_id uuid, i bigint, o bigint, cr bigint, cw bigint, micros bigint, source text)
language plpgsql stable set search_path = '' as $$
#variable_conflict use_column
declare v_task uuid;
begin
  select case when count(*) = 1 then (pg_catalog.array_agg(w.task_id))[1] end into v_task from coord.lease l join public.work_queue w on w.project_id = p_project and w.id = l.id
    where l.project_id = p_project and l.queue = 1 and l.session_id = p_sid;
  return query select distinct on (x.key) x.key, least(coalesce(x.at, p_now), p_now), nullif(x.model, ''),
      coalesce(nullif(x.agent, ''), r.agent_name, p_agent), coalesce(nullif(x.session, ''), r.session_id, p_session), nullif(x.run_id, ''),
      coalesce(x.task_id, r.task_id, case when x.session is null and r.run_id is null then v_task end),
      coalesce(x.input_tokens, 0), coalesce(x.output_tokens, 0), coalesce(x.cache_read_tokens, 0), coalesce(x.cache_write_tokens, 0),
      pg_catalog.round(x.cost_usd * 1000000)::bigint, nullif(x.source, '')
    from pg_catalog.jsonb_to_recordset(p_reports) as x (key text, at timestamptz, model text, agent text, session text, run_id text, task_id uuid, input_tokens bigint,
      output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, cost_usd numeric, source text)
    left join public.runs r on r.project_id = p_project and r.run_id = x.run_id
    order by x.key;
end $$;

-- Counts reports, all or none. Those that were counted before change nothing. p_sid: the caller's session, null: none.
create function coord.report_usage(p_project bigint, p_sid bigint, p_by text, p_agent text, p_session text, p_reports jsonb)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_keys text[]; v_touched text[]; v_out jsonb; v_n int := pg_catalog.jsonb_array_length(p_reports);
begin
  perform pg_catalog.pg_advisory_xact_lock_shared(pg_catalog.hashtextextended('coord.budgets', p_project));
  with added as (
    insert into public.usage_reports (project_id, key, at, model, agent_id, session_id, run_id, task_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
        cost_micros, source, reported_by, created_at)
      select p_project, u.key, u.at, u.model, u.agent_id, u.session_id, u.run_id, u.task_id, u.i, u.o, u.cr, u.cw, u.micros, u.source, p_by, v_now
      from coord.usage_rows(p_project, p_sid, p_agent, p_session, p_reports, v_now) u order by u.key
      on conflict (project_id, key) do nothing returning key)
  select coalesce(pg_catalog.array_agg(a.key), '{}') into v_keys from added a;
  if pg_catalog.cardinality(v_keys) > 0 then
    with spent as (
      insert into coord.budget_spend as s (project_id, name, period, micros, tokens, uncosted)
        select p_project, b.name, coord.period_start(b.period, u.at), coalesce(sum(u.cost_micros), 0),
          sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens), count(*) filter (where u.cost_micros is null)
        from public.usage_reports u join public.budgets b on b.project_id = p_project and (b.agent_id is null or b.agent_id = u.agent_id)
        where u.project_id = p_project and u.key = any (v_keys) group by 2, 3 order by 2, 3
        on conflict (project_id, name, period) do update set micros = s.micros + excluded.micros, tokens = s.tokens + excluded.tokens, uncosted = s.uncosted + excluded.uncosted
        returning name)
    select pg_catalog.array_agg(distinct s.name) into v_touched from spent s;
    perform coord.audit(p_project, p_sid, p_by, 'report_usage', v_keys[1:20], true, null, pg_catalog.jsonb_build_object('reports', pg_catalog.cardinality(v_keys)));
  end if;
  v_out := coord.settle_budgets(p_project, v_touched, v_now);
  return pg_catalog.jsonb_build_object('success', true, 'counted', pg_catalog.cardinality(v_keys), 'duplicates', v_n - pg_catalog.cardinality(v_keys),
    'budgets', v_out -> 'near', 'wake', v_out -> 'wake');
end $$;

--------------------------------------------------------------------------------------------- budgets
-- A budget as it stands at p_now.
create function coord.budget_wire(p_b public.budgets, p_now timestamptz) returns jsonb language plpgsql stable set search_path = '' as $$
declare v_s coord.budget_spend; v_start timestamptz := coord.period_start(p_b.period, p_now);
begin
  select * into v_s from coord.budget_spend s where s.project_id = p_b.project_id and s.name = p_b.name and s.period = v_start;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('name', p_b.name, 'agent', p_b.agent_id, 'period', p_b.period, 'limit_usd', p_b.limit_micros / 1e6, 'limit_tokens', p_b.limit_tokens,
    'action', p_b.action, 'warn_percent', p_b.warn_percent, 'spent_usd', pg_catalog.round(coalesce(v_s.micros, 0) / 1e6, 6), 'spent_tokens', coalesce(v_s.tokens, 0),
    'percent', coord.budget_percent(p_b, v_s), 'state', coord.budget_state(p_b, v_s), 'uncosted', nullif(v_s.uncosted, 0), 'state_since', coord.ts(p_b.state_since),
    'period_start', case when p_b.period <> 'total' then coord.ts(v_start) end, 'period_end', coord.ts(coord.period_end(p_b.period, p_now)), 'set_by', p_b.set_by));
end $$;

-- How much of the nearer limit is used, in percent.
create function coord.budget_percent(p_b public.budgets, p_s coord.budget_spend) returns numeric language sql immutable set search_path = '' as $$
  select pg_catalog.round(coalesce(greatest(100.0 * p_s.micros / p_b.limit_micros, 100.0 * p_s.tokens / p_b.limit_tokens), 0), 2)
$$;
create function coord.budget_state(p_b public.budgets, p_s coord.budget_spend) returns text language sql immutable set search_path = '' as $$
  select case when coalesce(p_s.micros >= p_b.limit_micros, false) or coalesce(p_s.tokens >= p_b.limit_tokens, false) then case p_b.action when 'stop' then 'stopped' else 'exceeded' end
    when coord.budget_percent(p_b, p_s) >= p_b.warn_percent then 'warned' else 'ok' end
$$;

-- Brings the states of budgets (null: all of the project) and their holds up to date: what reached its limit stops, what
-- did so in a period that is over or has a higher limit now goes on. Whom it concerns is told once. Returns {near, wake}.
create function coord.settle_budgets(p_project bigint, p_names text[], p_now timestamptz) returns jsonb language plpgsql set search_path = '' as $$
declare v_b public.budgets; v_s coord.budget_spend; v_state text; v_h public.holds; v_near jsonb := '[]'; v_wake text[] := '{}'; v_freed boolean := false;
begin
  for v_b in select * from public.budgets b where b.project_id = p_project and (p_names is null or b.name = any (p_names)) order by b.name for no key update loop
    select * into v_s from coord.budget_spend s where s.project_id = p_project and s.name = v_b.name and s.period = coord.period_start(v_b.period, p_now);
    v_state := coord.budget_state(v_b, v_s);
    if v_state <> 'ok' then v_near := v_near || coord.budget_wire(v_b, p_now); end if;
    if v_state = 'stopped' then
      insert into public.holds as h (project_id, target, kind, ref, agent_id, reason, set_by, since, until)
        values (p_project, coalesce('agent:' || v_b.agent_id, ''), 'budget', v_b.name, coalesce(v_b.agent_id, '*'),
          pg_catalog.format('the budget %s is used up (%s)', v_b.name, coord.budget_words(v_b, v_s)), 'budget:' || v_b.name, p_now, coord.period_end(v_b.period, p_now))
        on conflict (project_id, target, kind, ref) do update set until = excluded.until, reason = excluded.reason
        returning * into v_h;
    elsif v_b.state = 'stopped' then
      delete from public.holds h where h.project_id = p_project and h.kind = 'budget' and h.ref = v_b.name;
      v_freed := v_freed or found;
    end if;
    continue when v_state = v_b.state;
    update public.budgets b set state = v_state, state_since = p_now where b.project_id = p_project and b.name = v_b.name;
    perform coord.emit(p_project, 'budget_' || v_state, null, pg_catalog.jsonb_build_object('name', v_b.name, 'agent_id', v_b.agent_id, 'state', v_state));
    perform coord.audit(p_project, null, 'system', 'budget_' || v_state, array[v_b.name], true, coord.budget_words(v_b, v_s));
    v_wake := v_wake || coord.live_topic();
    if v_state = 'stopped' then v_wake := v_wake || coord.tell_held(v_h, v_h.reason || '. Finish what you hold; nothing new is given out' || coalesce(' before ' || coord.ts(v_h.until), '') || '.'); end if;
  end loop;
  if v_freed then v_wake := v_wake || coord.free_runs(p_project, 500) || coord.wake_held(p_project); end if;
  return pg_catalog.jsonb_build_object('near', v_near, 'wake', v_wake);
end $$;

create function coord.budget_words(p_b public.budgets, p_s coord.budget_spend) returns text language sql immutable set search_path = '' as $$
  select pg_catalog.concat_ws(', ', case when p_b.limit_micros is not null then pg_catalog.format('%s of %s USD', pg_catalog.round(coalesce(p_s.micros, 0) / 1e6, 2), pg_catalog.round(p_b.limit_micros / 1e6, 2)) end,
    case when p_b.limit_tokens is not null then pg_catalog.format('%s of %s tokens', coalesce(p_s.tokens, 0), p_b.limit_tokens) end)
    || case p_b.period when 'total' then '' else ' this ' || p_b.period end
$$;

-- Sets a budget; what was used before counts. Raises invalid without a limit.
create function coord.set_budget(p_project bigint, p_by text, p_in jsonb) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_b public.budgets; v_now timestamptz := coord.now(); v_wake jsonb;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('coord.budgets', p_project));
  v_b.limit_micros := nullif(pg_catalog.round((p_in ->> 'limit_usd')::numeric * 1000000)::bigint, 0);
  v_b.limit_tokens := nullif((p_in ->> 'limit_tokens')::bigint, 0);
  if v_b.limit_micros is null and v_b.limit_tokens is null then
    perform coord.fail(422, 'invalid', 'a budget needs a limit', 'neither limit_usd nor limit_tokens is over 0', 'give one of them, or both', 'limit_usd');
  end if;
  delete from public.holds h where h.project_id = p_project and h.kind = 'budget' and h.ref = p_in ->> 'name';  -- its agent may be another now; settled below
  insert into public.budgets as b (project_id, name, agent_id, period, limit_micros, limit_tokens, action, warn_percent, set_by, set_at)
    values (p_project, p_in ->> 'name', p_in ->> 'agent', p_in ->> 'period', v_b.limit_micros, v_b.limit_tokens, p_in ->> 'action', (p_in ->> 'warn_percent')::smallint, p_by, v_now)
    on conflict (project_id, name) do update set agent_id = excluded.agent_id, period = excluded.period, limit_micros = excluded.limit_micros, limit_tokens = excluded.limit_tokens,
      action = excluded.action, warn_percent = excluded.warn_percent, set_by = excluded.set_by, set_at = excluded.set_at
    returning * into v_b;
  delete from coord.budget_spend s where s.project_id = p_project and s.name = v_b.name;
  insert into coord.budget_spend (project_id, name, period, micros, tokens, uncosted)
    select p_project, v_b.name, coord.period_start(v_b.period, u.at), coalesce(sum(u.cost_micros), 0),
      sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens), count(*) filter (where u.cost_micros is null)
    from public.usage_reports u where u.project_id = p_project and (v_b.agent_id is null or u.agent_id = v_b.agent_id) and u.at >= coord.period_start(v_b.period, v_now) group by 3;
  perform coord.audit(p_project, null, p_by, 'set_budget', array[v_b.name], true, p_in ->> 'reason', p_in - 'reason');
  v_wake := coord.settle_budgets(p_project, array[v_b.name], v_now) -> 'wake';
  select * into v_b from public.budgets b where b.project_id = p_project and b.name = v_b.name;
  return coord.budget_wire(v_b, v_now) || pg_catalog.jsonb_build_object('wake', v_wake || pg_catalog.to_jsonb(coord.free_runs(p_project, 500) || coord.wake_held(p_project)));
end $$;

-- Ends a budget; what was used stays. Raises not_found.
create function coord.delete_budget(p_project bigint, p_by text, p_name text) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_b public.budgets;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('coord.budgets', p_project));
  select * into v_b from public.budgets b where b.project_id = p_project and b.name = p_name for update;
  if v_b.name is null then
    perform coord.fail(404, 'not_found', pg_catalog.format('there is no budget %s', p_name), null, 'list them: GET /budgets', 'name');
  end if;
  delete from public.holds h where h.project_id = p_project and h.kind = 'budget' and h.ref = p_name;
  delete from public.budgets b where b.project_id = p_project and b.name = p_name;
  perform coord.audit(p_project, null, p_by, 'delete_budget', array[p_name]);
  return pg_catalog.jsonb_build_object('ok', true, 'wake', coord.free_runs(p_project, 500) || coord.wake_held(p_project));
end $$;

create function coord.list_budgets(p_project bigint) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_now timestamptz := coord.now();
begin
  return pg_catalog.jsonb_build_object('budgets', coalesce((select pg_catalog.jsonb_agg(x.j order by (x.j ->> 'percent')::numeric desc, x.j ->> 'name')
    from (select coord.budget_wire(b, v_now) j from public.budgets b where b.project_id = p_project) x), '[]'));
end $$;

-- Budgets whose period is over go on; at most p_limit of all projects. Their holds ended by themselves; here the state
-- follows and the runs that waited go back to their lanes.
create function coord.sweep_budgets(p_limit int) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_due record; v_n int := 0; v_wake jsonb := '[]';
begin
  for v_due in select b.project_id, b.name from public.budgets b where b.state <> 'ok' and b.period <> 'total'
      and coord.period_start(b.period, v_now) > b.state_since order by b.project_id, b.name limit p_limit loop
    v_wake := v_wake || (coord.settle_budgets(v_due.project_id, array[v_due.name], v_now) -> 'wake');
    update public.budgets b set state_since = v_now where b.project_id = v_due.project_id and b.name = v_due.name;
    v_n := v_n + 1;
  end loop;
  return pg_catalog.jsonb_build_object('settled', v_n, 'wake', v_wake);
end $$;

--------------------------------------------------------------------------------------------- summary
-- Sums by p_by (see client.UsageQuery) of what p_filter lets through; the dearest first, days the latest first.
create function coord.usage_summary(p_project bigint, p_by text, p_filter jsonb, p_since timestamptz, p_until timestamptz, p_limit int)
returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_groups jsonb; v_total jsonb; v_n int;
begin
  with u as materialized (
    select x.*, case p_by when 'agent' then x.agent_id when 'session' then x.session_id when 'task' then x.task_id::text when 'run' then x.run_id when 'model' then x.model
        when 'day' then pg_catalog.to_char(x.at at time zone 'UTC', 'YYYY-MM-DD') when 'change' then c.id::text else (select p.name from public.projects p where p.id = p_project) end as grp
    from public.usage_reports x
    left join lateral (select y.id from public.changesets y where p_by = 'change' and y.project_id = p_project
      and (y.task_id = x.task_id or y.task_id is null and y.session_id = x.session_id) order by y.seq desc limit 1) c on true
    where x.project_id = p_project and x.at >= p_since and (p_until is null or x.at < p_until)
      and (p_filter ->> 'agent' is null or x.agent_id = p_filter ->> 'agent') and (p_filter ->> 'session' is null or x.session_id = p_filter ->> 'session')
      and (p_filter ->> 'task_id' is null or x.task_id = (p_filter ->> 'task_id')::uuid) and (p_filter ->> 'run_id' is null or x.run_id = p_filter ->> 'run_id')
      and (p_filter ->> 'model' is null or x.model = p_filter ->> 'model')),
  g as (select coalesce(u.grp, '') k, u.grp is null as none, sum(u.input_tokens) i, sum(u.output_tokens) o, sum(u.cache_read_tokens) cr, sum(u.cache_write_tokens) cw, coalesce(sum(u.cost_micros), 0) m,
      count(*) n, count(*) filter (where u.cost_micros is null) z from u group by u.grp),
  page as (select g.*, row_number() over (order by case when p_by = 'day' then g.k end desc, g.m desc, g.i + g.o + g.cr + g.cw desc, g.k) r from g)
  select pg_catalog.jsonb_agg(coord.usage_sum(p.k, p.i, p.o, p.cr, p.cw, p.m, p.n, p.z) || pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('name', case
        when p.none then null
        when p_by = 'task' then (select pg_catalog.left(w.description, 120) from public.work_queue w where w.project_id = p_project and w.task_id = p.k::uuid)
        when p_by = 'change' then (select coalesce(c.title, c.branch, c.head_sha) || ' (' || c.state || ')' from public.changesets c where c.project_id = p_project and c.id = p.k::uuid) end))
      order by p.r) filter (where p.r <= p_limit),
    count(*), coord.usage_sum('', sum(p.i), sum(p.o), sum(p.cr), sum(p.cw), sum(p.m), sum(p.n), sum(p.z))
    into v_groups, v_n, v_total from page p;
  return pg_catalog.jsonb_build_object('by', p_by, 'since', coord.ts(p_since), 'groups', coalesce(v_groups, '[]'), 'total', v_total, 'truncated', v_n > p_limit);
end $$;

create function coord.usage_sum(p_key text, p_i numeric, p_o numeric, p_cr numeric, p_cw numeric, p_micros numeric, p_n numeric, p_z numeric) returns jsonb language sql immutable set search_path = '' as $$
  select pg_catalog.jsonb_build_object('key', p_key, 'input_tokens', coalesce(p_i, 0), 'output_tokens', coalesce(p_o, 0), 'cache_read_tokens', coalesce(p_cr, 0), 'cache_write_tokens', coalesce(p_cw, 0),
    'tokens', coalesce(p_i + p_o + p_cr + p_cw, 0), 'cost_usd', pg_catalog.round(coalesce(p_micros, 0) / 1e6, 6), 'reports', coalesce(p_n, 0), 'uncosted', coalesce(p_z, 0))
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.report_usage(bigint, bigint, text, text, text, jsonb), coord.set_budget(bigint, text, jsonb), coord.delete_budget(bigint, text, text),
  coord.list_budgets(bigint), coord.sweep_budgets(int), coord.usage_summary(bigint, text, jsonb, timestamptz, timestamptz, int) to service_role;
