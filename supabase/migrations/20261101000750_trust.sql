-- Trust in agents, per repository: a level from 0 to 4 that routing looks at, and the evidence that moves it.
--
-- A person sets the level and its ceiling; without that a new agent has 1 and stays there. Evidence is the outcome of an
-- agent's first attempts at required verification: a Beta distribution, alpha for what passed and beta for what failed,
-- each change weighing min(1, lines / 50), halved every 30 days. What counts is the bound that the true rate exceeds with
-- 95 %: from 0.9 with 20 changes of evidence the level rises by one, up to the ceiling; below 0.5 with 10 it sinks by one;
-- after either, evidence for the next move is counted anew. A failure after a waiver takes a level at once, and none is
-- given for 7 days. Failures of the place of verification count for nothing. Only an agent whose own key submitted the
-- change is judged: a name in a commit, a branch or a body is no identity.
set local lock_timeout = '5s';

create table public.agent_trust (
  project_id    bigint   not null,
  agent_id      text     not null,
  repository    text     not null default '',        -- '': what a person set for all, and where new repositories begin
  level         smallint not null check (level between 0 and 4),
  ceiling       smallint not null check (ceiling between 0 and 4),
  alpha         float8   not null default 1,         -- as of evidence_at
  beta          float8   not null default 1,
  since_change  float8   not null default 0,         -- weight of the changes since the level moved last; does not fade
  evidence_at   timestamptz not null default coord.now(),
  frozen_until  timestamptz,
  set_by        text,
  updated_at    timestamptz not null default coord.now(),
  primary key (project_id, agent_id, repository)
);

-- What happened to trust, append only.
create table public.trust_events (
  project_id   bigint   not null,
  id           bigint   generated always as identity,
  at           timestamptz not null default coord.now(),
  agent_id     text     not null,
  repository   text     not null,
  kind         text     not null check (kind in ('passed', 'failed', 'denied', 'waived_failure', 'set', 'raised', 'lowered')),
  changeset_id uuid,
  weight       float8,
  alpha        float8,
  beta         float8,
  bound        float8,
  level        smallint not null,                    -- afterwards
  by           text     not null,
  reason       text     not null default '',
  primary key (project_id, id)
);
create index trust_events_of on public.trust_events (project_id, agent_id, id);
create unique index trust_events_once on public.trust_events (project_id, changeset_id, (case when kind = 'waived_failure' then kind else 'verdict' end))
  where changeset_id is not null and kind in ('passed', 'failed', 'denied', 'waived_failure');

create function coord.trust_events_guard() returns trigger language plpgsql set search_path = '' as $$
begin
  perform coord.fail(403, 'forbidden', 'the history of trust cannot be changed', 'rows of trust_events are append-only', 'set the level you want: PUT /trust');
  return null;
end $$;
create trigger trust_events_immutable before update or delete on public.trust_events for each row execute function coord.trust_events_guard();
create trigger trust_events_no_truncate before truncate on public.trust_events for each statement execute function coord.trust_events_guard();

do $$ declare v_table text; begin
  foreach v_table in array array['agent_trust', 'trust_events'] loop
    execute pg_catalog.format('alter table public.%I enable row level security', v_table);
    execute pg_catalog.format('revoke all on public.%I from anon, authenticated', v_table);
    execute pg_catalog.format('grant select on public.%I to anon, authenticated', v_table);
    execute pg_catalog.format('grant select, insert, update, delete on public.%I to service_role', v_table);
    execute pg_catalog.format('create policy %I on public.%I for select to anon, authenticated using (project_id in (select id from public.projects))', v_table || '_read', v_table);
    execute pg_catalog.format('create policy %I on public.%I to service_role using (true) with check (true)', v_table || '_service', v_table);
  end loop;
end $$;

---------------------------------------------------------------------------------------- Beta distribution
-- ln Γ(x) for x > 0, by Lanczos (g = 7, n = 9): about 15 digits.
create function coord.ln_gamma(p_x float8) returns float8 language sql immutable strict set search_path = '' as $$
  select 0.9189385332046728 + (p_x - 0.5) * pg_catalog.ln(p_x + 6.5) - (p_x + 6.5)
    + pg_catalog.ln(0.99999999999980993 + 676.5203681218851 / p_x - 1259.1392167224028 / (p_x + 1) + 771.32342877765313 / (p_x + 2)
      - 176.61502916214059 / (p_x + 3) + 12.507343278686905 / (p_x + 4) - 0.13857109526572012 / (p_x + 5)
      + 9.9843695780195716e-6 / (p_x + 6) + 1.5056327351493116e-7 / (p_x + 7))
$$;

-- The chance that a Beta(a, b) variable is at most x: the regularised incomplete beta function, by its continued fraction
-- (modified Lentz).
create function coord.beta_cdf(p_x float8, p_a float8, p_b float8) returns float8 language plpgsql immutable strict set search_path = '' as $$
declare v_f float8 := 1; v_c float8 := 1; v_d float8; v_n float8; v_m int; v_tiny constant float8 := 1e-30; v_front float8;
begin
  if p_x <= 0 then return 0; end if;
  if p_x >= 1 then return 1; end if;
  if p_x > (p_a + 1) / (p_a + p_b + 2) then return 1 - coord.beta_cdf(1 - p_x, p_b, p_a); end if;
  v_front := pg_catalog.exp(coord.ln_gamma(p_a + p_b) - coord.ln_gamma(p_a) - coord.ln_gamma(p_b) + p_a * pg_catalog.ln(p_x) + p_b * pg_catalog.ln(1 - p_x)) / p_a;
  v_d := 1 - (p_a + p_b) * p_x / (p_a + 1);
  if pg_catalog.abs(v_d) < v_tiny then v_d := v_tiny; end if;
  v_d := 1 / v_d; v_f := v_d;
  for v_m in 1 .. 200 loop
    v_n := v_m * (p_b - v_m) * p_x / ((p_a + 2 * v_m - 1) * (p_a + 2 * v_m));
    v_d := 1 + v_n * v_d; if pg_catalog.abs(v_d) < v_tiny then v_d := v_tiny; end if;
    v_c := 1 + v_n / v_c; if pg_catalog.abs(v_c) < v_tiny then v_c := v_tiny; end if;
    v_d := 1 / v_d; v_f := v_f * v_d * v_c;
    v_n := -(p_a + v_m) * (p_a + p_b + v_m) * p_x / ((p_a + 2 * v_m) * (p_a + 2 * v_m + 1));
    v_d := 1 + v_n * v_d; if pg_catalog.abs(v_d) < v_tiny then v_d := v_tiny; end if;
    v_c := 1 + v_n / v_c; if pg_catalog.abs(v_c) < v_tiny then v_c := v_tiny; end if;
    v_d := 1 / v_d; v_f := v_f * v_d * v_c;
    exit when pg_catalog.abs(v_d * v_c - 1) < 1e-12;
  end loop;
  return v_front * v_f;
end $$;

-- The value that a Beta(a, b) variable exceeds with 95 %, to five digits.
create function coord.beta_bound(p_a float8, p_b float8) returns float8 language plpgsql immutable strict set search_path = '' as $$
declare v_low float8 := 0; v_high float8 := 1; v_mid float8;
begin
  for i in 1 .. 20 loop
    v_mid := (v_low + v_high) / 2;
    if coord.beta_cdf(v_mid, p_a, p_b) < 0.05 then v_low := v_mid; else v_high := v_mid; end if;
  end loop;
  return pg_catalog.round(((v_low + v_high) / 2)::numeric, 5)::float8;
end $$;

------------------------------------------------------------------------------------------------ level
-- The row that says an agent's trust in a repository: its own, else what a person set for all, else 1.
create function coord.trust_row(p_project bigint, p_agent text, p_repository text) returns public.agent_trust language plpgsql stable set search_path = '' as $$
declare v_t public.agent_trust;
begin
  select * into v_t from public.agent_trust t where t.project_id = p_project and t.agent_id = p_agent and t.repository in (p_repository, '')
    order by t.repository = p_repository desc limit 1;
  if v_t.agent_id is null then
    v_t.project_id := p_project; v_t.agent_id := p_agent;
    v_t.level := coalesce((select a.trust from public.agents a where a.project_id = p_project and a.agent_id = p_agent), 1);
    v_t.ceiling := v_t.level;
  end if;
  if v_t.repository is distinct from p_repository then  -- evidence belongs to one repository
    v_t.repository := p_repository; v_t.alpha := 1; v_t.beta := 1; v_t.since_change := 0; v_t.evidence_at := coord.now(); v_t.frozen_until := null;
  end if;
  return v_t;
end $$;

-- The trust level, 0 to 4, of an agent in a repository.
create function coord.trust_level(p_project bigint, p_agent text, p_repository text) returns int language sql stable security definer set search_path = '' as $$
  select (coord.trust_row(p_project, p_agent, coalesce(p_repository, ''))).level::int
$$;

-- The trust level of who made a change: an agent's own where its key submitted it. A branch's name can be chosen by
-- anybody who pushes, so it can lower the level and never raise it; then what the forge lets the pusher do counts.
create function coord.author_trust(p_project bigint, p_repository text, p_agent text, p_verified boolean, p_permission text) returns int
language plpgsql stable security definer set search_path = '' as $$
begin
  if p_verified then return coord.trust_level(p_project, p_agent, p_repository); end if;
  return least(case when p_permission in ('admin', 'maintain', 'write') then 2 else 1 end,
    case when exists (select from public.agents a where a.project_id = p_project and a.agent_id = p_agent)
      or exists (select from public.agent_trust t where t.project_id = p_project and t.agent_id = p_agent) then coord.trust_level(p_project, p_agent, p_repository) else 2 end);
end $$;

create function coord.faded(p_value float8, p_from timestamptz, p_now timestamptz) returns float8 language sql immutable set search_path = '' as $$
  select p_value * pg_catalog.power(0.5::float8, greatest(extract(epoch from p_now - p_from)::float8, 0) / (30 * 86400))
$$;

create function coord.trust_event(p_t public.agent_trust, p_kind text, p_changeset uuid, p_weight float8, p_bound float8, p_by text, p_reason text) returns boolean
language plpgsql set search_path = '' as $$
begin
  insert into public.trust_events (project_id, at, agent_id, repository, kind, changeset_id, weight, alpha, beta, bound, level, by, reason)
    values (p_t.project_id, coord.now(), p_t.agent_id, p_t.repository, p_kind, p_changeset, p_weight, p_t.alpha, p_t.beta, p_bound, p_t.level, p_by, coalesce(p_reason, ''))
    on conflict do nothing;
  return found;
end $$;

-- Locks the agent's row of a repository, made on first need, with its evidence as of now.
create function coord.lock_trust(p_project bigint, p_agent text, p_repository text) returns public.agent_trust language plpgsql set search_path = '' as $$
declare v_t public.agent_trust; v_now timestamptz := coord.now();
begin
  v_t := coord.trust_row(p_project, p_agent, p_repository);
  insert into public.agent_trust (project_id, agent_id, repository, level, ceiling) values (p_project, p_agent, p_repository, v_t.level, v_t.ceiling) on conflict do nothing;
  select * into v_t from public.agent_trust t where t.project_id = p_project and t.agent_id = p_agent and t.repository = p_repository for update;
  v_t.alpha := 1 + coord.faded(v_t.alpha - 1, v_t.evidence_at, v_now);
  v_t.beta := 1 + coord.faded(v_t.beta - 1, v_t.evidence_at, v_now);
  v_t.evidence_at := v_now;
  return v_t;
end $$;

create function coord.save_trust(p_t public.agent_trust) returns void language sql set search_path = '' as $$
  update public.agent_trust t set level = p_t.level, ceiling = p_t.ceiling, alpha = p_t.alpha, beta = p_t.beta, since_change = p_t.since_change,
      evidence_at = p_t.evidence_at, frozen_until = p_t.frozen_until, set_by = p_t.set_by, updated_at = coord.now()
    where t.project_id = p_t.project_id and t.agent_id = p_t.agent_id and t.repository = p_t.repository
$$;

-- Takes one outcome into the evidence and moves the level if that is due. p_kind: passed, failed or denied, which counts
-- double. A changeset counts once, whatever is run again.
create function coord.add_evidence(p_project bigint, p_agent text, p_repository text, p_kind text, p_changeset uuid, p_weight float8) returns void
language plpgsql set search_path = '' as $$
declare v_t public.agent_trust := coord.lock_trust(p_project, p_agent, p_repository); v_bound float8;
begin
  if p_kind = 'passed' then v_t.alpha := v_t.alpha + p_weight; else v_t.beta := v_t.beta + p_weight * case p_kind when 'denied' then 2 else 1 end; end if;
  v_t.since_change := v_t.since_change + p_weight;
  v_bound := coord.beta_bound(v_t.alpha, v_t.beta);
  if not coord.trust_event(v_t, p_kind, p_changeset, p_weight, v_bound, 'gateway', null) then return; end if;
  if v_bound < 0.5 and pg_catalog.round(v_t.since_change::numeric, 6) >= 10 and v_t.level > 0 then
    v_t.level := v_t.level - 1; v_t.since_change := 0;
    perform coord.trust_event(v_t, 'lowered', null, null, v_bound, 'gateway', pg_catalog.format('at least %s of its changes pass, which is less than 0.5', v_bound));
  elsif v_bound >= 0.9 and pg_catalog.round(v_t.since_change::numeric, 6) >= 20 and v_t.level < v_t.ceiling and coalesce(v_t.frozen_until <= coord.now(), true) then
    v_t.level := v_t.level + 1; v_t.since_change := 0;
    perform coord.trust_event(v_t, 'raised', null, null, v_bound, 'gateway', pg_catalog.format('at least %s of its changes pass', v_bound));
  end if;
  perform coord.save_trust(v_t);
end $$;

-- The outcome of a decided changeset, for its author's trust: of each required policy the first attempt that the place of
-- verification did not spoil. A denial by a person counts double. Called in the transaction of the verdict.
create function coord.note_outcome(p_c public.changesets) returns void language plpgsql set search_path = '' as $$
declare v_weight float8 := least(1, (p_c.additions + p_c.deletions) / 50.0); v_bad int; v_good int; v_denied boolean;
begin
  if p_c.agent_id is null or not p_c.agent_verified or v_weight <= 0 then return; end if;
  v_denied := exists (select from public.approval_queue a where a.project_id = p_c.project_id and a.changeset_id = p_c.id and a.status = 'denied');
  select count(*) filter (where f.conclusion in ('failure', 'timed_out')), count(*) filter (where f.conclusion = 'success') into v_bad, v_good from (
    select distinct on (r.policy_name) r.conclusion from public.verification_results r
    where r.project_id = p_c.project_id and r.changeset_id = p_c.id and r.required and r.tier < 4 and r.conclusion in ('success', 'failure', 'timed_out')
    order by r.policy_name, r.attempt) f;
  if v_denied or v_bad > 0 or v_good > 0 and p_c.state = 'passed' then
    perform coord.add_evidence(p_c.project_id, p_c.agent_id, p_c.repository, case when v_denied then 'denied' when v_bad > 0 then 'failed' else 'passed' end, p_c.id, v_weight);
  end if;
end $$;

-- What a waiver let pass turned out to fail: a level less at once, and none more for 7 days.
create function coord.note_waived_failure(p_c public.changesets, p_reason text) returns void language plpgsql set search_path = '' as $$
declare v_t public.agent_trust;
begin
  if p_c.agent_id is null or not p_c.agent_verified then return; end if;
  v_t := coord.lock_trust(p_c.project_id, p_c.agent_id, p_c.repository);
  v_t.level := greatest(v_t.level - 1, 0); v_t.since_change := 0; v_t.beta := v_t.beta + 1;
  v_t.frozen_until := coord.now() + interval '7 days';
  if coord.trust_event(v_t, 'waived_failure', p_c.id, 1, coord.beta_bound(v_t.alpha, v_t.beta), 'gateway', p_reason) then perform coord.save_trust(v_t); end if;
end $$;

-- A policy that the routing waived runs all the same, as advisory, for one change in ten: its failure tells on the waiver.
create function coord.audit_waiver() returns trigger language plpgsql security definer set search_path = '' as $$
declare v_c public.changesets;
begin
  select * into v_c from public.changesets c where c.project_id = new.project_id and c.id = new.changeset_id;
  if exists (select from pg_catalog.jsonb_array_elements(coalesce(v_c.decision -> 'waived', '[]')) w where w ->> 'policy' = new.policy_name) then
    perform coord.note_waived_failure(v_c, new.policy_name || ' was waived and failed');
    perform coord.changeset_note(new.project_id, v_c.id, 'trust', new.policy_name || ' was waived and failed: its author loses a level of trust');
  end if;
  return null;
end $$;
create trigger verification_results_waiver after update of status on public.verification_results for each row
  when (new.status = 'completed' and old.status <> 'completed' and not new.required and new.conclusion in ('failure', 'timed_out')) execute function coord.audit_waiver();

---------------------------------------------------------------------------------------------- reading, setting
-- As the wire shows trust: the level and all that it was made of.
create function coord.trust_wire(p_t public.agent_trust) returns jsonb language plpgsql stable set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_a float8 := 1 + coord.faded(p_t.alpha - 1, p_t.evidence_at, v_now); v_b float8 := 1 + coord.faded(p_t.beta - 1, p_t.evidence_at, v_now);
begin
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('agent_id', p_t.agent_id, 'repository', p_t.repository, 'level', p_t.level, 'ceiling', p_t.ceiling,
    'alpha', pg_catalog.round(v_a::numeric, 3), 'beta', pg_catalog.round(v_b::numeric, 3), 'pass_rate_bound', coord.beta_bound(v_a, v_b),
    'evidence', pg_catalog.round(p_t.since_change::numeric, 3),
    'frozen_until', case when p_t.frozen_until > v_now then coord.ts(p_t.frozen_until) end, 'set_by', p_t.set_by, 'updated_at', coord.ts(p_t.updated_at)));
end $$;

-- The trust in the project's agents. An agent that nobody set and that has no evidence is shown when it is asked for.
create function coord.list_trust(p_project bigint, p_agent text, p_repository text, p_limit int) returns jsonb language plpgsql stable security definer set search_path = '' as $$
declare v_rows jsonb; v_n int;
begin
  select pg_catalog.jsonb_agg(coord.trust_wire(t) order by t.agent_id, t.repository), count(*) into v_rows, v_n from (
    select * from public.agent_trust x where x.project_id = p_project and (p_agent is null or x.agent_id = p_agent) and (p_repository is null or x.repository = p_repository)
    order by x.agent_id, x.repository limit p_limit) t;
  if v_n = 0 and p_agent is not null then
    v_rows := pg_catalog.jsonb_build_array(coord.trust_wire(coord.trust_row(p_project, p_agent, coalesce(p_repository, ''))));
  end if;
  return pg_catalog.jsonb_build_object('trust', coalesce(v_rows, '[]'), 'events', case when p_agent is null then null else coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('at', coord.ts(e.at), 'repository', e.repository, 'kind', e.kind, 'changeset_id', e.changeset_id,
      'weight', e.weight, 'pass_rate_bound', e.bound, 'level', e.level, 'by', e.by, 'reason', nullif(e.reason, ''))) order by e.id desc)
    from (select * from public.trust_events x where x.project_id = p_project and x.agent_id = p_agent and (p_repository is null or x.repository in (p_repository, '')) order by x.id desc limit p_limit) e), '[]') end);
end $$;

-- A person sets an agent's level, its ceiling or both, in one repository or (p_repository '') in all of them.
create function coord.set_trust(p_project bigint, p_by text, p_agent text, p_repository text, p_level int, p_ceiling int, p_reason text) returns jsonb
language plpgsql security definer set search_path = '' as $$
declare v_t public.agent_trust; v_out public.agent_trust; v_repository text;
begin
  if p_level is null and p_ceiling is null then
    perform coord.fail(422, 'invalid', 'neither level nor ceiling is given', 'there is nothing to set', 'send one of them, 0 to 4', 'level');
  end if;
  if p_level > coalesce(p_ceiling, 4) then
    perform coord.fail(422, 'invalid', 'the level is above the ceiling', 'the ceiling is the highest level', 'raise the ceiling too', 'ceiling');
  end if;
  for v_repository in select p_repository union select t.repository from public.agent_trust t where p_repository = '' and t.project_id = p_project and t.agent_id = p_agent order by 1 loop
    v_t := coord.lock_trust(p_project, p_agent, v_repository);
    v_t.ceiling := coalesce(p_ceiling, greatest(v_t.ceiling, p_level));
    v_t.level := least(coalesce(p_level, v_t.level), v_t.ceiling);
    v_t.since_change := 0; v_t.set_by := p_by;
    if p_level is not null then v_t.frozen_until := null; end if;
    perform coord.save_trust(v_t);
    perform coord.trust_event(v_t, 'set', null, null, null, p_by, p_reason);
    if v_repository = p_repository then v_out := v_t; end if;
  end loop;
  if p_repository = '' then  -- what tasks with min_trust_level look at
    insert into public.agents as a (project_id, agent_id, trust) values (p_project, p_agent, v_out.level)
      on conflict (project_id, agent_id) do update set trust = excluded.trust where a.trust <> excluded.trust;
  end if;
  perform coord.audit(p_project, null, p_by, 'set_trust', array[p_agent], true, nullif(p_reason, ''),
    pg_catalog.jsonb_build_object('repository', p_repository, 'level', p_level, 'ceiling', p_ceiling));
  v_out.updated_at := coord.now();
  return coord.trust_wire(v_out);
end $$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.trust_level(bigint, text, text), coord.author_trust(bigint, text, text, boolean, text), coord.list_trust(bigint, text, text, int),
  coord.set_trust(bigint, text, text, text, int, int, text) to service_role;
