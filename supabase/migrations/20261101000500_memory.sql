-- Memory, the tables: what agents remember (episodic), what a session has in mind (working), what works (procedural),
-- and the index that finds them. Ranking is the program's (internal/recall); SQL keeps text and index in step, merges
-- repetitions, counts terms behind the stores' back and applies retention.
-- Lock order of a store: the advisory lock of (project, agent, type, summary), the session's group, then rows by id.
set local lock_timeout = '5s';

-- One id space for everything that recall finds: the index has one key.
create sequence coord.memory_ids;

create table public.memory_episodic (
  project_id  bigint not null references public.projects (id) on delete cascade,
  id          bigint not null default nextval('coord.memory_ids'),
  memory_id   uuid not null default coord.uuid7(),
  agent_id    text not null,
  agent_type  text not null default 'unknown',
  session_id  text,
  event_type  text not null check (length(event_type) between 1 and 100),
  summary     text not null check (length(summary) between 1 and 4000),
  details     jsonb,
  outcome     text,
  lessons     text[] not null default '{}',
  tags        text[] not null default '{}',
  repository  text not null default '',  -- of path, '' = the project's only one
  path        text,                      -- the file an observation is about …
  line_from   int,
  line_to     int,
  digest      text,                      -- … and its content's digest when it was seen
  branch      text not null default '',  -- where it was seen, '' = unknown
  stale_at    timestamptz,               -- the file was reported with another digest
  task_id     uuid,                      -- the task whose end recorded it
  source      text,                      -- name of the import it came with
  merged      int not null default 0,    -- how often it was said again within the hour
  rev         int not null default 1,    -- raised with every change of what is indexed
  tokens      int not null default 0,    -- of its text, as counted when it was indexed
  dedup       bigint not null,           -- hash of agent, type and summary
  created_at  timestamptz not null default coord.now(),
  updated_at  timestamptz not null default coord.now(),
  archived_at timestamptz,
  primary key (project_id, id),
  unique (project_id, memory_id)
);
create index memory_episodic_dedup on public.memory_episodic (project_id, dedup, id);
create index memory_episodic_path on public.memory_episodic (project_id, path) where path is not null;
create index memory_episodic_age on public.memory_episodic (project_id, created_at) where archived_at is null;
create index memory_episodic_archived on public.memory_episodic (project_id, archived_at) where archived_at is not null;
comment on table public.memory_episodic is 'What agents experienced: errors, discoveries, decisions, lessons.';

create table public.memory_procedural (
  project_id  bigint not null references public.projects (id) on delete cascade,
  id          bigint not null default nextval('coord.memory_ids'),
  memory_id   uuid not null default coord.uuid7(),  -- the skill's id on the wire
  name        text not null check (length(name) between 1 and 200),
  description text not null default '',
  steps       jsonb not null default '[]',
  tags        text[] not null default '{}',
  agent_id    text not null,
  uses        int not null default 0,
  successes   int not null default 0 check (successes between 0 and uses),
  rev         int not null default 1,
  tokens      int not null default 0,
  created_at  timestamptz not null default coord.now(),
  updated_at  timestamptz not null default coord.now(),
  used_at     timestamptz,
  archived_at timestamptz,
  primary key (project_id, id),
  unique (project_id, memory_id),
  unique (project_id, name)
);
comment on table public.memory_procedural is 'Skills: steps that worked, with how often they were used and how often that went well.';

-- Items of a session's working memory. shown is what the session sees of an item: null = content itself, '' = nothing
-- any more; the original stays until retention.
create table public.memory_working (
  project_id   bigint not null references public.projects (id) on delete cascade,
  id           bigint generated always as identity,
  session      bigint not null,  -- internal id of the session
  agent_id     text not null,
  session_id   text not null,
  type         text not null check (length(type) between 1 and 100),
  content      text not null,
  pinned       boolean not null default false,
  tokens       int not null,     -- of content
  shown        text,
  shown_tokens int not null,
  shown_by     text,             -- extractive, or the model that shortened it
  occurred_at  timestamptz not null default coord.now(),
  created_at   timestamptz not null default coord.now(),
  primary key (project_id, id)
);
create index memory_working_session on public.memory_working (project_id, session, id);
create index memory_working_age on public.memory_working (project_id, created_at);
comment on table public.memory_working is 'What a session has in mind, within a budget of tokens.';

------------------------------------------------------------------------------------------ the index
-- A session, or an imported source, as the index sees it. Memories that belong together have consecutive places;
-- a pause of six hours leaves a gap wider than any window, so that yesterday's work is no context of today's.
create table coord.memory_groups (
  project_id bigint not null,
  id         bigint generated always as identity,
  name       text not null,
  imported   boolean not null default false,
  last_seq   int not null default 0,
  last_at    timestamptz not null,
  primary key (project_id, id),
  unique (project_id, name)
);

-- Narrow twin of a memory, written in its transaction. kind 1 = episodic, 2 = procedural. flags: 1 archived, 2 stale,
-- 4 imported, 8 outcome good, 16 outcome bad. terms are hashes of (project, term), so that the GIN index leads with the
-- project; sig holds (hash32, counts)* of internal/recall.
create table coord.memory_index (
  project_id bigint not null,
  id         bigint not null,
  group_id   bigint not null default 0,
  seq        int not null default 0,
  kind       smallint not null,
  at         timestamptz not null,
  len_title  smallint not null,
  len_body   smallint not null,
  flags      smallint not null default 0,
  skill      smallint not null default 0,  -- a skill's success mean in percent
  version    smallint not null,            -- of the tokeniser
  rev        int not null,                 -- of the memory it was made from
  sig        bytea not null,
  terms      bigint[] not null,
  primary key (project_id, id)
);
-- No pending list: it would be read by every recall, and one that was not merged yet doubles their time.
create index memory_index_terms on coord.memory_index using gin (terms) with (fastupdate = off);
create unique index memory_index_place on coord.memory_index (project_id, group_id, seq) where group_id <> 0;
create index memory_index_version on coord.memory_index (version);

-- How many memories have a term. Counted by coord.fold_memory, never by a store: hot rows would serialise the stores.
create table coord.memory_terms (
  project_id bigint not null,
  term       bigint not null,
  n          int not null,
  primary key (project_id, term)
) with (fillfactor = 80);
create table coord.memory_vocab (
  project_id bigint not null,
  word       text not null,
  primary key (project_id, word)
);
create table coord.memory_stat (
  project_id bigint primary key,
  n          bigint not null default 0,
  groups     bigint not null default 0,
  len_title  bigint not null default 0,
  len_body   bigint not null default 0,
  swept_at   timestamptz not null default '-infinity'
);
-- What the counts still lack: delta 1 = indexed, -1 = taken out. Rows, not a watermark: ids commit out of order.
create table coord.memory_fold (
  project_id bigint not null,
  id         bigint generated always as identity,
  delta      smallint not null,
  groups     smallint not null default 0,
  len_title  int not null,
  len_body   int not null,
  terms      bigint[] not null,
  words      text[] not null default '{}',
  primary key (project_id, id)
);
-- Memories whose text changed or was written by SQL alone: the program indexes them.
create table coord.memory_unindexed (
  project_id bigint not null,
  id         bigint not null,
  kind       smallint not null,
  primary key (project_id, id)
);

-- The newest reported digest of a file on each branch ('' = a report that names none).
create table coord.file_digests (
  project_id bigint not null,
  repository text not null default '',
  path       text not null,
  branch     text not null default '',
  digest     text not null,
  at         timestamptz not null,
  agent_id   text,
  primary key (project_id, repository, path, branch)
);

-- Retention. No row: the defaults of coord.memory_policy(). Null days: for ever.
create table coord.memory_policies (
  project_id   bigint not null,
  layer        text not null check (layer in ('episodic', 'working', 'procedural')),
  archive_days int check (archive_days between 1 and 36500),
  delete_days  int check (delete_days between 1 and 36500),
  primary key (project_id, layer)
);

do $$
declare v_table text;
begin
  foreach v_table in array array['memory_episodic', 'memory_procedural', 'memory_working'] loop
    execute pg_catalog.format('alter table public.%I enable row level security', v_table);
    execute pg_catalog.format('revoke all on public.%I from anon, authenticated', v_table);
    execute pg_catalog.format('grant select on public.%I to anon, authenticated', v_table);
    execute pg_catalog.format('grant select, insert, update, delete on public.%I to service_role', v_table);
    execute pg_catalog.format('create policy %I on public.%I for select to anon, authenticated using (project_id in (select id from public.projects))', v_table || '_read', v_table);
    execute pg_catalog.format('create policy %I on public.%I to service_role using (true) with check (true)', v_table || '_service', v_table);
  end loop;
  foreach v_table in array array['memory_groups', 'memory_index', 'memory_terms', 'memory_vocab', 'memory_stat', 'memory_fold',
      'memory_unindexed', 'file_digests', 'memory_policies'] loop
    execute pg_catalog.format('alter table coord.%I enable row level security', v_table);
  end loop;
end $$;

-- Typing errors are repaired with pg_trgm where the server has it; without it recall works and does not repair.
do $$
declare v_schema text;
begin
  begin
    if exists (select from pg_catalog.pg_available_extensions where name = 'pg_trgm') then
      create schema if not exists extensions;
      create extension if not exists pg_trgm with schema extensions;
    end if;
  exception when others then
    raise notice 'pg_trgm is not installed (%): recall will not repair typing errors', sqlerrm;
  end;
  select n.nspname into v_schema from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  if v_schema is not null then
    execute pg_catalog.format('create index memory_vocab_like on coord.memory_vocab using gin (word %I.gin_trgm_ops)', v_schema);
  end if;
end $$;
