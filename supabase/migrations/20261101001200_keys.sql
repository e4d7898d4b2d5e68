-- Keys that change their secret without changing what they are, and limits of their own.
set local lock_timeout = '5s';

-- Limits: null takes the server's defaults. A limit holds for the key, whatever its secret.
alter table coord.api_keys
  add column rotated_at   timestamptz,
  add column rate_limit   int check (rate_limit between 1 and 100000),   -- requests a second
  add column stream_limit int check (stream_limit between 1 and 100000); -- waiting calls and open streams at a time

-- What a key's secret was before, while it still opens the door. Hashes alone, as in api_keys.
create table coord.old_secrets (
  hash         bytea primary key check (length(hash) = 32),
  key_id       bigint not null references coord.api_keys (id) on delete cascade,
  prefix       text not null,
  expires_at   timestamptz not null,
  last_used_at timestamptz
);
create index old_secrets_key on coord.old_secrets (key_id);
alter table coord.old_secrets enable row level security;

create or replace function coord.key_json(p_key coord.api_keys) returns jsonb language sql stable set search_path = '' as $$
  select pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'name', p_key.name, 'prefix', p_key.prefix, 'scopes', p_key.scopes,
    'project', (select p.name from public.projects p where p.id = p_key.project_id),
    'agent_id', p_key.agent_id, 'agent_type', p_key.agent_type, 'person', p_key.person,
    'status', case when p_key.revoked_at is not null then 'revoked'
                   when p_key.expires_at <= coord.now() then 'expired' else 'active' end,
    'created_at', coord.ts(p_key.created_at), 'expires_at', coord.ts(p_key.expires_at),
    'revoked_at', coord.ts(p_key.revoked_at), 'rotated_at', coord.ts(p_key.rotated_at), 'last_used_at', coord.ts(p_key.last_used_at),
    'rate_limit', p_key.rate_limit, 'stream_limit', p_key.stream_limit))
$$;

-- Who is behind a secret's hash: {key, name, scopes, agent_id, agent_type, project_id, person, seconds_left, rate_limit,
-- stream_limit}; null when it is unknown, revoked or expired. A secret from before a rotation counts until its grace ends.
-- Marks the use at most once a minute. A person's key holds the person's roles, and no more than the key's own scopes.
create function coord.principal_of(p_hash bytea) returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_now timestamptz := coord.now(); v_key coord.api_keys; v_until timestamptz; v_scopes text[];
begin
  select * into v_key from coord.api_keys k where k.hash = p_hash;
  if v_key.id is null then
    select k.* into v_key from coord.old_secrets o join coord.api_keys k on k.id = o.key_id where o.hash = p_hash and o.expires_at > v_now;
    if v_key.id is null then return null; end if;
    update coord.old_secrets o set last_used_at = v_now
      where o.hash = p_hash and (o.last_used_at is null or o.last_used_at < v_now - interval '1 minute');
    select o.expires_at into v_until from coord.old_secrets o where o.hash = p_hash;
  end if;
  if v_key.revoked_at is not null or v_key.expires_at <= v_now then return null; end if;
  if v_key.last_used_at is null or v_key.last_used_at < v_now - interval '1 minute' then
    update coord.api_keys k set last_used_at = v_now where k.id = v_key.id;
  end if;
  v_until := least(v_until, v_key.expires_at); -- nulls do not count
  v_scopes := v_key.scopes;
  if v_key.person is not null then
    select coalesce(array_agg(x), '{}') into v_scopes from coord.persons p, pg_catalog.unnest(v_key.scopes) x where p.name = v_key.person and x = any (p.roles);
  end if;
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('key', v_key.id, 'name', v_key.name, 'scopes', v_scopes,
    'agent_id', v_key.agent_id, 'agent_type', v_key.agent_type, 'project_id', v_key.project_id, 'person', v_key.person,
    'seconds_left', extract(epoch from v_until - v_now), 'rate_limit', v_key.rate_limit, 'stream_limit', v_key.stream_limit));
end $$;

-- The same for programs of before, in their columns.
create or replace function coord.authenticate(p_hash bytea)
returns table (name text, scopes text[], agent_id text, agent_type text, project_id bigint, person text)
language sql security definer set search_path = '' as $$
  select x.name, x.scopes, coalesce(x.agent_id, ''), coalesce(x.agent_type, ''), coalesce(x.project_id, 0), coalesce(x.person, '')
  from pg_catalog.jsonb_to_record(coord.principal_of(p_hash)) as x (name text, scopes text[], agent_id text, agent_type text, project_id bigint, person text)
  where x.name is not null
$$;

-- Stores a key. p_project is the acting administrator's project (for the audit row), p_for the project the key is
-- good for (null: all). Null p_scopes: the person's roles, else read and write. Null limits: the server's defaults.
-- Raises conflict when the name is taken, not_found for an unknown person.
create function coord.make_key(p_project bigint, p_by text, p_name text, p_hash bytea, p_prefix text, p_scopes text[],
  p_for bigint, p_agent text, p_type text, p_person text, p_days int, p_rate int, p_streams int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_key coord.api_keys; v_roles text[]; v_now timestamptz := coord.now();
begin
  if p_person is not null then
    select p.roles into v_roles from coord.persons p where p.name = p_person;
    if not found then
      perform coord.fail(404, 'not_found', pg_catalog.format('there is no person %s', p_person), 'a key can only stand for somebody who is registered',
        'create the person first', 'person');
    end if;
  end if;
  insert into coord.api_keys (name, hash, prefix, project_id, scopes, agent_id, agent_type, person, created_at, expires_at, rate_limit, stream_limit)
    values (p_name, p_hash, p_prefix, p_for, coalesce(nullif(p_scopes, '{}'), nullif(v_roles, '{}'), array['read', 'write']), p_agent, p_type, p_person,
      v_now, v_now + pg_catalog.make_interval(days => p_days), p_rate, p_streams)
    on conflict (name) do nothing returning * into v_key;
  if v_key.id is null then
    perform coord.fail(409, 'conflict', pg_catalog.format('a key named %s exists', p_name), 'names of keys are never used twice, so that the audit trail stays clear',
      'choose another name, or give that key a new secret with: coordctl keys rotate', 'name');
  end if;
  perform coord.audit(coalesce(p_for, p_project), null, p_by, 'create_key', array[p_name], true, null, coord.key_json(v_key) - 'prefix');
  return coord.key_json(v_key);
end $$;

-- The same without limits, as programs of before call it.
create or replace function coord.create_key(p_project bigint, p_by text, p_name text, p_hash bytea, p_prefix text, p_scopes text[],
  p_for bigint, p_agent text, p_type text, p_person text, p_days int)
returns jsonb language sql security definer set search_path = '' as $$
  select coord.make_key(p_project, p_by, p_name, p_hash, p_prefix, p_scopes, p_for, p_agent, p_type, p_person, p_days, null, null)
$$;

-- The key of that name for its administrator, locked. p_bound: the project the acting key is bound to (null: any); keys of
-- others do not exist for it. Raises not_found, conflict when it was revoked or has expired.
create function coord.living_key(p_bound bigint, p_name text) returns coord.api_keys language plpgsql set search_path = '' as $$
declare v_key coord.api_keys;
begin
  select * into v_key from coord.api_keys k where k.name = p_name and (p_bound is null or k.project_id = p_bound) for update;
  if v_key.id is null then
    perform coord.fail(404, 'not_found', pg_catalog.format('there is no key named %s', p_name), null, 'list the keys to see their names', 'name');
  elsif v_key.revoked_at is not null or v_key.expires_at <= coord.now() then
    perform coord.fail(409, 'conflict', pg_catalog.format('the key %s %s', p_name, case when v_key.revoked_at is null then 'has expired' else 'was revoked' end),
      'what ended does not come back', 'make a new key with: coordctl keys create', 'name');
  end if;
  return v_key;
end $$;

-- Gives a key a new secret. The old one, and those before it, stay good for at most p_grace; none outlives the key.
-- Of two rotations at once one wins: the other would hand out a secret that is old already. Raises not_found, conflict.
create function coord.rotate_key(p_project bigint, p_bound bigint, p_by text, p_name text, p_hash bytea, p_prefix text, p_grace interval)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_before bytea; v_key coord.api_keys; v_now timestamptz; v_until timestamptz;
begin
  select k.hash into v_before from coord.api_keys k where k.name = p_name;
  v_key := coord.living_key(p_bound, p_name);
  if v_key.hash <> v_before then
    perform coord.fail(409, 'conflict', pg_catalog.format('the key %s was rotated at this very moment by somebody else', p_name), 'only one new secret can be the newest',
      'ask who rotated it for the new secret, or rotate again', 'name');
  end if;
  v_now := coord.now();
  v_until := least(v_now + p_grace, v_key.expires_at);
  delete from coord.old_secrets o where o.key_id = v_key.id and least(o.expires_at, v_until) <= v_now;
  update coord.old_secrets o set expires_at = v_until where o.key_id = v_key.id and o.expires_at > v_until;
  if v_until > v_now then
    insert into coord.old_secrets (hash, key_id, prefix, expires_at, last_used_at) values (v_key.hash, v_key.id, v_key.prefix, v_until, v_key.last_used_at);
  end if;
  update coord.api_keys k set hash = p_hash, prefix = p_prefix, rotated_at = v_now, last_used_at = null where k.id = v_key.id returning * into v_key;
  perform coord.audit(coalesce(v_key.project_id, p_project), null, p_by, 'rotate_key', array[p_name], true, null,
    pg_catalog.jsonb_build_object('grace_seconds', extract(epoch from p_grace)));
  return pg_catalog.jsonb_build_object('success', true, 'key', coord.key_json(v_key)) ||
    case when v_until > v_now then pg_catalog.jsonb_build_object('old_secret_until', coord.ts(v_until)) else '{}' end;
end $$;

-- Sets a key's own limits; null members go back to the server's defaults. Raises not_found, conflict.
create function coord.limit_key(p_project bigint, p_bound bigint, p_by text, p_name text, p_rate int, p_streams int)
returns jsonb language plpgsql security definer set search_path = '' as $$
declare v_key coord.api_keys;
begin
  v_key := coord.living_key(p_bound, p_name);
  update coord.api_keys k set rate_limit = p_rate, stream_limit = p_streams where k.id = v_key.id returning * into v_key;
  perform coord.audit(coalesce(v_key.project_id, p_project), null, p_by, 'limit_key', array[p_name], true, null,
    pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('rate_limit', p_rate, 'stream_limit', p_streams)));
  return pg_catalog.jsonb_build_object('success', true, 'key', coord.key_json(v_key));
end $$;

-- Keys, and the secrets from before a rotation that still open the door.
create or replace function coord.list_keys(p_bound bigint, p_all boolean)
returns jsonb language sql stable security definer set search_path = '' as $$
  select pg_catalog.jsonb_build_object('keys', coalesce(pg_catalog.jsonb_agg(coord.key_json(k) order by k.name), '[]'), 'count', count(*),
    'old_secrets', (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('name', j.name, 'prefix', o.prefix,
        'expires_at', coord.ts(o.expires_at), 'last_used_at', coord.ts(o.last_used_at))) order by j.name, o.expires_at), '[]')
      from coord.old_secrets o join coord.api_keys j on j.id = o.key_id
      where (p_bound is null or j.project_id = p_bound) and j.revoked_at is null and o.expires_at > coord.now()))
  from coord.api_keys k
  where (p_bound is null or k.project_id = p_bound)
    and (p_all or (k.revoked_at is null and (k.expires_at is null or k.expires_at > coord.now())))
$$;

revoke execute on all functions in schema coord from public;
grant execute on function coord.principal_of(bytea), coord.rotate_key(bigint, bigint, text, text, bytea, text, interval),
  coord.limit_key(bigint, bigint, text, text, int, int),
  coord.make_key(bigint, text, text, bytea, text, text[], bigint, text, text, text, int, int, int) to service_role;
