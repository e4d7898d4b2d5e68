package migrate_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// set makes a set of files from name, content pairs.
func set(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

const (
	one   = "20260101000100_one.sql"
	two   = "20260101000200_two.sql"
	three = "20260101000300_three.sql"
	vOne  = uint64(20260101000100)
	vTwo  = uint64(20260101000200)
	vLast = uint64(20260101000300)
)

// three files, the last one of the kind that cannot run in a transaction.
func good() fstest.MapFS {
	return set(
		one, "set local lock_timeout = '5s';\ncreate table public.a (i int);\ncreate function public.f() returns int language plpgsql as $$ begin return 1; end $$;",
		two, "create table public.b (i int); insert into public.b select generate_series(1, 100) -- the last line is a comment",
		three, "-- alone in its file\ncreate index concurrently if not exists b_i on public.b (i);\n",
	)
}

func up(t *testing.T, dsn string, o migrate.Options) migrate.Report {
	t.Helper()
	r, err := migrate.Up(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func status(t *testing.T, dsn string, o migrate.Options) migrate.Status {
	t.Helper()
	s, err := migrate.ReadStatus(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, dsn, sql string) {
	t.Helper()
	if _, err := connect(t, dsn).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func query[T any](t *testing.T, dsn, sql string) T {
	t.Helper()
	var v T
	if err := connect(t, dsn).QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// history is what the Supabase CLI would see.
func history(t *testing.T, dsn string) []string {
	t.Helper()
	return query[[]string](t, dsn, "select coalesce(array_agg(version || '_' || name order by version), '{}') from supabase_migrations.schema_migrations")
}

const makeHistory = `create schema supabase_migrations;
	create table supabase_migrations.schema_migrations (version text not null primary key, statements text[], name text);`
