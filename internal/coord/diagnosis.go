package coord

import (
	"context"
	"encoding/json"
)

// Diagnosis says how the database stands: server, settings, sizes of tables, connections, what is queued. Names and numbers
// alone, no row's content.
func (s *Store) Diagnosis(ctx context.Context) (json.RawMessage, error) {
	return one[[]byte](ctx, s, `select jsonb_pretty(jsonb_build_object(
		'server', version(), 'database_bytes', pg_database_size(current_database()), 'in_recovery', pg_is_in_recovery(),
		'settings', (select jsonb_object_agg(name, setting || coalesce(' ' || unit, '')) from pg_settings where name in ('max_connections', 'shared_buffers', 'work_mem',
			'fsync', 'synchronous_commit', 'wal_level', 'max_wal_size', 'statement_timeout', 'idle_in_transaction_session_timeout', 'autovacuum', 'TimeZone', 'server_encoding',
			'default_transaction_isolation', 'max_worker_processes', 'jit', 'random_page_cost', 'effective_cache_size')),
		'extensions', (select jsonb_object_agg(extname, extversion) from pg_extension),
		'tables', (select jsonb_agg(jsonb_build_object('table', n.nspname || '.' || c.relname, 'rows_estimated', c.reltuples::bigint, 'bytes', pg_total_relation_size(c.oid),
				'dead_rows', t.n_dead_tup, 'vacuumed', greatest(t.last_vacuum, t.last_autovacuum), 'analyzed', greatest(t.last_analyze, t.last_autoanalyze))
				order by pg_total_relation_size(c.oid) desc)
			from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_stat_user_tables t on t.relid = c.oid
			where c.relkind = 'r' and n.nspname in ('public', 'coord', 'coord_meta', 'supabase_migrations')),
		'invalid_indexes', (select coalesce(jsonb_agg(i.indexrelid::regclass::text), '[]') from pg_index i where not i.indisvalid),
		'connections', (select jsonb_agg(x) from (select application_name, state, wait_event_type, count(*), max(now() - xact_start)::text as longest_transaction
			from pg_stat_activity where datname = current_database() group by 1, 2, 3) x),
		'figures', coord.figures($1), 'gateway', coord.gateway_state(),
		'deliveries', (select jsonb_object_agg(state, n) from (select state, count(*) n from coord.webhook_deliveries group by 1) x),
		'outbox', (select jsonb_build_object('waiting', count(*) filter (where done_at is null), 'done', count(*) filter (where done_at is not null)) from coord.gateway_outbox),
		'audited_last_hour', (select jsonb_object_agg(operation, n) from (select operation, count(*) n from coord.audit_log where at > now() - interval '1 hour' group by 1) x)))::text::bytea`,
		wholeSeconds(s.Orchestration().Stale))
}
