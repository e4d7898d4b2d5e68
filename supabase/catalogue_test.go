package supabase_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// inlined are the helpers that have no search_path of their own, see 20261101000820_search_path.sql.
const inlined = `array['now', 'ts', 'iso', 'task_state', 'lock_under', 'lock_meet', 'lock_rivals', 'lock_rivals_waiting', 'lock_holder']`

// assertions hold for every schema of ours, now and after the next migration. Numbers are those of the lints of
// `supabase db advisors`, which say the same.
var assertions = []struct{ name, query string }{
	{"a table without row level security (0013)", `select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'coord') and c.relkind in ('r', 'p') and not c.relrowsecurity`},
	{"a table without a primary key (0004)", `select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'coord') and c.relkind in ('r', 'p') and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p')`},
	{"a foreign key without an index (0001)", `select k.conrelid::regclass || '.' || k.conname from pg_constraint k join pg_namespace n on n.oid = k.connamespace
		where n.nspname in ('public', 'coord') and k.contype = 'f' and not exists (select from pg_index i where i.indrelid = k.conrelid
		and (string_to_array(i.indkey::text, ' ')::smallint[])[1:cardinality(k.conkey)] @> k.conkey)`},
	{"two equal indexes (0009)", `select min(indexrelid::regclass::text) from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'coord') group by indrelid, indkey::text, indclass::text, indpred::text, indexprs::text having count(*) > 1`},
	{"an invalid index", `select indexrelid::regclass::text from pg_index where not indisvalid`},
	{"a policy that asks for the caller anew with every row (0003)", `select tablename || '.' || policyname from pg_policies where schemaname in ('public', 'coord')
		and coalesce(qual, '') || coalesce(with_check, '') ~ '(auth\.[a-z]+|current_setting)\(' and lower(coalesce(qual, '') || coalesce(with_check, '')) !~ 'select (auth\.[a-z]+|current_setting)\('`},
	{"two policies for one role and action (0006)", `select p.tablename || ' ' || r || ' ' || a from pg_policies p, unnest(p.roles) r, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) a
		where p.schemaname in ('public', 'coord') and p.permissive = 'PERMISSIVE' and p.cmd in (a, 'ALL') group by p.tablename, r, a having count(*) > 1`},
	{"a policy on a table without row level security (0007)", `select p.tablename from pg_policies p join pg_class c on c.oid = format('%I.%I', p.schemaname, p.tablename)::regclass
		where p.schemaname in ('public', 'coord') and not c.relrowsecurity`},
	{"a readable table without a policy (0008)", `select c.oid::regclass || ' ' || r from pg_class c cross join unnest(array['anon', 'authenticated']) r where c.relnamespace = 'public'::regnamespace
		and c.relkind in ('r', 'p') and has_table_privilege(r, c.oid, 'select') and not exists (select from pg_policies p where p.tablename = c.relname and p.cmd = 'SELECT')`},
	{"a view with its owner's rights (0010)", `select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'coord') and c.relkind = 'v' and not coalesce('security_invoker=true' = any (c.reloptions), false)`},
	{"a function with an open search_path (0011)", `select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
		where n.nspname in ('public', 'coord') and p.proname <> all (` + inlined + `) and not coalesce('search_path=""' = any (p.proconfig), false)`},
	{"an inlined helper that is more than that", `select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
		where n.nspname = 'coord' and p.proname = any (` + inlined + `) and (p.prosecdef or l.lanname <> 'sql')`},
	{"an extension in public (0014)", `select extname::text from pg_extension where extnamespace = 'public'::regnamespace`},
	{"a policy that believes what users write about themselves (0015)", `select tablename || '.' || policyname from pg_policies
		where schemaname in ('public', 'coord') and coalesce(qual, '') || coalesce(with_check, '') ~ 'user_metadata'`},
	{"a materialised view or foreign table (0016, 0017)", `select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'coord') and c.relkind in ('m', 'f')`},
	{"a writing policy for others than service_role (0024)", `select tablename || '.' || policyname from pg_policies
		where schemaname in ('public', 'coord') and cmd <> 'SELECT' and roles <> '{service_role}'`},
	{"a function that anon, authenticated or public may execute (0028, 0029)", `select p.oid::regprocedure || ' ' || r from pg_proc p join pg_namespace n on n.oid = p.pronamespace,
		unnest(array['anon', 'authenticated']) r where n.nspname in ('public', 'coord') and has_function_privilege(r, p.oid, 'execute')`},
	{"a private schema that readers may enter", `select r from unnest(array['anon', 'authenticated']) r, unnest(array['coord', 'coord_meta']) s
		where to_regnamespace(s) is not null and has_schema_privilege(r, s, 'usage')`},
	{"a table or view that readers may change", `select c.oid::regclass || ' ' || p || ' ' || r from pg_class c join pg_namespace n on n.oid = c.relnamespace,
		unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p, unnest(array['anon', 'authenticated']) r
		where n.nspname in ('public', 'coord') and c.relkind in ('r', 'p', 'v') and has_table_privilege(r, c.oid, p)`},
	{"a sequence that readers may draw from", `select c.oid::regclass || ' ' || r from pg_class c join pg_namespace n on n.oid = c.relnamespace,
		unnest(array['anon', 'authenticated']) r where n.nspname in ('public', 'coord') and c.relkind = 'S' and has_sequence_privilege(r, c.oid, 'usage, select, update')`},
	{"a private table that readers can read", `select c.oid::regclass || ' ' || r from pg_class c join pg_namespace n on n.oid = c.relnamespace,
		unnest(array['anon', 'authenticated']) r where n.nspname = 'coord' and c.relkind in ('r', 'p', 'v') and has_table_privilege(r, c.oid, 'select')`},
	{"a public table without an explicit grant to service_role", `select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'public' and c.relkind in ('r', 'p') and not has_table_privilege('service_role', c.oid, 'select, insert')`},
	{"two functions of one name", `select n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
		where n.nspname in ('public', 'coord') group by 1 having count(*) > 1`},
	{"a published table whose deletions do not tell their project", `select t.tablename from pg_publication_tables t join pg_class c on c.oid = format('%I.%I', t.schemaname, t.tablename)::regclass
		where t.pubname = 'supabase_realtime' and not exists (select from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
		where i.indrelid = c.oid and i.indisprimary and a.attname = 'project_id')`},
}

// TestCatalogue asserts what no single migration can promise for the next one, in both worlds of grants.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	for name, pool := range worlds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range assertions {
				if found := texts(t, pool, c.query); len(found) > 0 {
					t.Errorf("%s: %s", c.name, strings.Join(found, ", "))
				}
			}
		})
	}
}

// The inlined helpers need no search_path: their bodies are accepted under an empty one.
func TestInlinedHelpersNameEverythingInFull(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pgtest.MaxConns(1))
	ctx := context.Background()
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `set local search_path = ''`); err != nil {
		t.Fatal(err)
	}
	rows, _ := tx.Query(ctx, `select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'coord'::regnamespace and p.proname = any (`+inlined+`)`)
	definitions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(definitions) != 9 {
		t.Fatalf("%d definitions, %v", len(definitions), err)
	}
	for _, d := range definitions {
		if _, err := tx.Exec(ctx, d); err != nil {
			t.Fatalf("%v in\n%s", err, d)
		}
	}
}
