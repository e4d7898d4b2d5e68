package supabase_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite golden files")

func TestMain(m *testing.M) { pgtest.Main(m) }

const goldenFile = "schema.golden.sql"

// sections are the parts of the golden file: what a reader of a change must see. Function bodies are in the
// migrations; here stands their interface.
var sections = []struct{ title, query string }{
	{"tables", `select format('%I.%I%s', n.nspname, c.relname, case c.relpersistence when 'u' then ' (unlogged)' else '' end) || E'\n' ||
		string_agg(format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
			coalesce(case when a.attidentity <> '' then ' identity' else ' default ' || pg_get_expr(d.adbin, d.adrelid) end, '')), E'\n' order by a.attnum)
		from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum and a.attgenerated = ''
		where n.nspname in ('public', 'coord') and c.relkind in ('r', 'p') group by n.nspname, c.relname, c.relpersistence order by n.nspname, c.relname`},
	{"constraints", `select format('%s: %s %s', conrelid::regclass, conname, pg_get_constraintdef(c.oid)) from pg_constraint c join pg_namespace n on n.oid = c.connamespace
		where n.nspname in ('public', 'coord') and conrelid <> 0 order by 1`},
	{"indexes", `select indexdef from pg_indexes where schemaname in ('public', 'coord') order by schemaname, indexname`},
	{"functions, and who may execute them", `select format('%s.%s(%s) returns %s%s: %s', n.nspname, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
		case when p.prosecdef then ' security definer' else '' end,
		coalesce((select string_agg(case when g.grantee = 0 then 'PUBLIC' else pg_get_userbyid(g.grantee) end, ', ' order by g.grantee = 0 desc, pg_get_userbyid(g.grantee))
			from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g where g.privilege_type = 'EXECUTE' and g.grantee <> p.proowner), 'the owner alone'))
		from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('public', 'coord') order by 1`},
	{"triggers", `select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
		where not t.tgisinternal and n.nspname in ('public', 'coord') order by 1`},
	{"views", `select format('%I.%I%s: %s', n.nspname, c.relname, coalesce(' (' || array_to_string(c.reloptions, ', ') || ')', ''),
		string_agg(format('%s %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum))
		from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
		where n.nspname in ('public', 'coord') and c.relkind = 'v' group by n.nspname, c.relname, c.reloptions order by 1`},
	{"publications", `select format('%s: %s', pubname, string_agg(schemaname || '.' || tablename, ', ' order by tablename)) from pg_publication_tables group by pubname order by 1`},
	{"policies", `select format('%s.%s: %s for %s to %s using (%s) check (%s)', schemaname, tablename, policyname, cmd, array_to_string(roles, ', '),
		coalesce(qual, ''), coalesce(with_check, '')) from pg_policies where schemaname in ('public', 'coord') order by 1`},
	{"grants", `select format('%s: %s to %s', c.oid::regclass, string_agg(distinct g.privilege_type, ', ' order by g.privilege_type), pg_get_userbyid(g.grantee))
		from pg_class c join pg_namespace n on n.oid = c.relnamespace cross join lateral aclexplode(c.relacl) g
		where n.nspname in ('public', 'coord') and c.relkind in ('r', 'p', 'v', 'S') and pg_get_userbyid(g.grantee) in ('anon', 'authenticated', 'service_role')
		group by c.oid, g.grantee order by 1`},
}

// TestGoldenSchema compares the schema that the migrations make with supabase/schema.golden.sql, so that a change of an
// interface shows in review.
func TestGoldenSchema(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	var b strings.Builder
	b.WriteString("-- What the migrations make: interfaces only. Written by `make golden`, read in review.\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n-- %s\n", s.title)
		for _, line := range texts(t, pool, s.query) {
			b.WriteString(line + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(goldenFile, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Fatalf("%s differs from the migrations: run `make golden` and read the diff\n%s", goldenFile, firstDifference(string(want), b.String()))
	}
}

// TestPlpgsqlCheck finds misspelt columns and variables that `create function` accepts.
func TestPlpgsqlCheck(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	ctx := context.Background()
	if len(texts(t, pool, `select 'x' from pg_available_extensions where name = 'plpgsql_check'`)) == 0 {
		t.Skip("the extension plpgsql_check is not installed beside this Postgres (Debian: postgresql-15-plpgsql-check)")
	}
	if _, err := pool.Exec(ctx, "create schema checks; create extension plpgsql_check schema checks"); err != nil {
		t.Fatal(err)
	}
	found := texts(t, pool, `select format('%s: %s', p.oid::regprocedure, e) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
		join pg_language l on l.oid = p.prolang, checks.plpgsql_check_function(p.oid, other_warnings => false, extra_warnings => false) e
		where n.nspname = 'coord' and l.lanname = 'plpgsql' and p.prorettype <> 'trigger'::regtype and e like 'error:%'
		and p.proname <> 'prepare_vectors'`) // it makes the table that it reads, at run time, where pgvector is there
	if len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
}

func texts(t *testing.T, pool *pgxpool.Pool, query string) []string {
	t.Helper()
	rows, err := pool.Query(context.Background(), query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	return out
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d:\n- %s\n+ %s", i+1, w[i], g[i])
		}
	}
	longer := slices.MaxFunc([][]string{w, g}, func(a, b []string) int { return len(a) - len(b) })
	return "one has more: " + longer[min(len(w), len(g))]
}
