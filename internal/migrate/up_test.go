package migrate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestFreshThenNothingToDo(t *testing.T) {
	t.Parallel()
	dsn, o := pgtest.Empty(t), migrate.Options{FS: good()}
	if s := status(t, dsn, o); s.Version != 0 || s.Latest != vLast || len(s.Pending) != 3 || len(s.Foreign) != 0 {
		t.Fatalf("before: %+v", s)
	}
	r := up(t, dsn, o)
	if r.From != 0 || r.To != vLast || r.Adopted != 0 || !slices.Equal(r.Applied, []string{one, two, three}) {
		t.Fatalf("first: %+v", r)
	}
	r = up(t, dsn, o)
	if r.From != vLast || r.To != vLast || len(r.Applied) != 0 || r.Adopted != 0 {
		t.Fatalf("second: %+v", r)
	}
	if s := status(t, dsn, o); s.Version != vLast || len(s.Pending) != 0 || s.Dirty || s.Newer {
		t.Fatalf("after: %+v", s)
	}
	want := []string{strings.TrimSuffix(one, ".sql"), strings.TrimSuffix(two, ".sql"), strings.TrimSuffix(three, ".sql")}
	if got := history(t, dsn); !slices.Equal(got, want) {
		t.Fatalf("Supabase's history: %v", got)
	}
	if n := query[int](t, dsn, "select count(*) from pg_tables where schemaname = 'public' and tablename = 'schema_migrations'"); n != 0 {
		t.Fatal("golang-migrate's table stands in public, where the Data API shows it")
	}
}

func TestEmbeddedSet(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	r := up(t, dsn, migrate.Options{})
	if len(r.Applied) == 0 || r.To == 0 {
		t.Fatalf("%+v", r)
	}
	if r := up(t, dsn, migrate.Options{}); len(r.Applied) != 0 {
		t.Fatalf("second run: %+v", r)
	}
}

func TestFourAtOnce(t *testing.T) {
	t.Parallel()
	dsn, o := pgtest.Empty(t), migrate.Options{FS: good()}
	var wg sync.WaitGroup
	reports := make([]migrate.Report, 4)
	for i := range reports {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			var err error
			if reports[i], err = migrate.Up(ctx, dsn, o); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var applied []string
	for _, r := range reports {
		if r.To != vLast {
			t.Errorf("%+v", r)
		}
		applied = append(applied, r.Applied...)
	}
	if !slices.Equal(applied, []string{one, two, three}) {
		t.Fatalf("applied in all: %v", applied)
	}
}

func TestFailingFileLeavesACleanState(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	broken := good()
	broken[two].Data = []byte("create table public.b (i int);\nselect no_such_column\nfrom public.b;")
	r, err := migrate.Up(t.Context(), dsn, migrate.Options{FS: broken})
	var fileErr *migrate.FileError
	var pgErr *pgconn.PgError
	if !errors.As(err, &fileErr) || fileErr.File != two || fileErr.Line != 2 {
		t.Fatalf("got %#v", err)
	}
	if !errors.As(err, &pgErr) || pgErr.Code != pgerrcode.UndefinedColumn {
		t.Fatalf("the server's error is lost: %v", err)
	}
	if r.To != vOne || !slices.Equal(r.Applied, []string{one}) {
		t.Fatalf("report of the failed run: %+v", r)
	}
	if s := status(t, dsn, migrate.Options{FS: good()}); s.Dirty || s.Version != vOne || len(s.Pending) != 2 {
		t.Fatalf("after the failure: %+v", s)
	}
	if got := history(t, dsn); len(got) != 1 {
		t.Fatalf("Supabase's history: %v", got)
	}
	r = up(t, dsn, migrate.Options{FS: good()})
	if r.From != vOne || !slices.Equal(r.Applied, []string{two, three}) {
		t.Fatalf("second run: %+v", r)
	}
}

func TestFirstFileFails(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	if r, err := migrate.Up(t.Context(), dsn, migrate.Options{FS: set(one, "create table a (i int); select 1/0")}); err == nil || r.To != 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if r := up(t, dsn, migrate.Options{FS: good()}); r.From != 0 || len(r.Applied) != 3 {
		t.Fatalf("%+v", r)
	}
}

func TestFailedIndexIsBuiltAnew(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	o := migrate.Options{FS: set(
		one, "create table public.a (i int); insert into public.a values (1), (1);",
		two, "create unique index concurrently if not exists a_i on public.a (i);")}
	if _, err := migrate.Up(t.Context(), dsn, o); err == nil {
		t.Fatal("a unique index on duplicates")
	}
	if !query[bool](t, dsn, "select not indisvalid from pg_index where indexrelid = 'public.a_i'::regclass") {
		t.Fatal("expected what Postgres leaves behind: an invalid index")
	}
	execute(t, dsn, "delete from public.a")
	if r := up(t, dsn, o); !slices.Equal(r.Applied, []string{two}) {
		t.Fatalf("%+v", r)
	}
	if !query[bool](t, dsn, "select indisvalid from pg_index where indexrelid = 'public.a_i'::regclass") {
		t.Fatal("the invalid index was kept")
	}
}

func TestAdoptsWhatSupabaseApplied(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		history []string
		adopted uint64
		applied []string
	}{
		{"everything", []string{"20260101000100", "20260101000200", "20260101000300"}, vLast, nil},
		{"the first ones", []string{"20260101000100"}, vOne, []string{two, three}},
		{"beside migrations of the application", []string{"20250101000000", "20260101000100", "20260101000150"}, vOne, []string{two, three}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.Empty(t)
			execute(t, dsn, makeHistory+"create table public.a (i int); create table if not exists public.app (i int)")
			for _, v := range tt.history {
				execute(t, dsn, "insert into supabase_migrations.schema_migrations (version, name, statements) values ('"+v+"', 'x', '{select 1}')")
			}
			r := up(t, dsn, migrate.Options{FS: good()})
			if r.From != 0 || r.Adopted != tt.adopted || r.To != vLast || !slices.Equal(r.Applied, tt.applied) {
				t.Fatalf("%+v", r)
			}
			if n := query[int](t, dsn, "select count(*) from supabase_migrations.schema_migrations where statements is not null"); n != len(tt.history) {
				t.Fatalf("%d of the CLI's rows left", n)
			}
			if r := up(t, dsn, migrate.Options{FS: good()}); r.Adopted != 0 || len(r.Applied) != 0 {
				t.Fatalf("second run: %+v", r)
			}
		})
	}
}

// A process that dies between the file and golang-migrate's mark leaves the mark; the history, written in
// the file's own transaction, tells what happened.
func TestRunCutShort(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		finished bool
		applied  []string
	}{
		{"before the file ended", false, []string{two, three}},
		{"after the file ended", true, []string{three}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.Empty(t)
			upTo := set(one, string(good()[one].Data))
			if tt.finished {
				upTo[two] = good()[two]
			}
			up(t, dsn, migrate.Options{FS: upTo})
			execute(t, dsn, "update coord_meta.schema_migrations set version = 20260101000200, dirty = true")
			if s := status(t, dsn, migrate.Options{FS: good()}); !s.Dirty || !slices.Equal(s.Pending, tt.applied) {
				t.Fatalf("%+v", s)
			}
			if r := up(t, dsn, migrate.Options{FS: good()}); !slices.Equal(r.Applied, tt.applied) || r.To != vLast || r.Adopted != 0 {
				t.Fatalf("%+v", r)
			}
			if s := status(t, dsn, migrate.Options{FS: good()}); s.Dirty || len(s.Pending) != 0 {
				t.Fatalf("%+v", s)
			}
		})
	}
}

func TestDatabaseOfAnotherVersion(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	up(t, dsn, migrate.Options{FS: good()})
	older := set(one, string(good()[one].Data))
	if r := up(t, dsn, migrate.Options{FS: older}); r.From != vLast || r.To != vLast || len(r.Applied) != 0 {
		t.Fatalf("an older program: %+v", r)
	}
	if s := status(t, dsn, migrate.Options{FS: older}); !s.Newer || s.Version != vLast || len(s.Pending) != 0 {
		t.Fatalf("%+v", s)
	}
	gap := set(one, string(good()[one].Data), "20260101000400_four.sql", "select 1")
	if _, err := migrate.Up(t.Context(), dsn, migrate.Options{FS: gap}); !errors.Is(err, migrate.ErrUnknownVersion) {
		t.Fatalf("got %v", err)
	}
}

func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tables string
		foreign      bool
	}{
		{"empty", "select 1", false},
		{"a view and a sequence", "create view public.v as select 1; create sequence public.s", false},
		{"the platform's own schemas", "create schema storage; create table storage.objects (i int); create schema auth; create table auth.users (i int)", false},
		{"a table in public", "create table public.customers (i int)", true},
		{"a table elsewhere", "create schema shop; create table shop.orders (i int)", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.Empty(t)
			execute(t, dsn, tt.tables)
			o := migrate.Options{FS: good()}
			_, err := migrate.Up(t.Context(), dsn, o)
			if got := errors.Is(err, migrate.ErrForeign); got != tt.foreign || (err != nil) != tt.foreign {
				t.Fatalf("got %v", err)
			}
			if !tt.foreign {
				return
			}
			if n := query[int](t, dsn, "select count(*) from pg_namespace where nspname in ('coord_meta', 'supabase_migrations', 'extensions')"); n != 0 {
				t.Fatal("a refused database was changed")
			}
			o.AllowForeign = true
			if r := up(t, dsn, o); len(r.Applied) != 3 {
				t.Fatalf("%+v", r)
			}
			o.AllowForeign = false // ours from now on
			if r := up(t, dsn, o); len(r.Applied) != 0 {
				t.Fatalf("%+v", r)
			}
		})
	}
}

func TestRefusesATransactionPooler(t *testing.T) {
	t.Parallel()
	_, err := migrate.Up(t.Context(), "postgres://u:p@pooler.example.com:6543/postgres", migrate.Options{FS: good()})
	if !errors.Is(err, migrate.ErrPooler) {
		t.Fatalf("got %v", err)
	}
}

func TestWaitsForAnotherRun(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	holder := connect(t, dsn)
	if _, err := holder.Exec(t.Context(), "select pg_advisory_lock($1)", migrate.LockKey); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := migrate.Up(ctx, dsn, migrate.Options{FS: good()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if err := holder.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	up(t, dsn, migrate.Options{FS: good()})
}

func TestCancelStopsTheStatement(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	slow := set(one, "create table public.half (i int); select pg_sleep(60)")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := migrate.Up(ctx, dsn, migrate.Options{FS: slow})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 20*time.Second {
		t.Fatalf("after %s: %v", time.Since(began), err)
	}
	if n := query[int](t, dsn, "select count(*) from pg_tables where tablename = 'half'"); n != 0 {
		t.Fatal("half a migration stayed")
	}
	if r := up(t, dsn, migrate.Options{FS: good()}); len(r.Applied) != 3 {
		t.Fatalf("%+v", r)
	}
}
