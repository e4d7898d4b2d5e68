package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/supabase"
)

// ownCluster is a server without the roles of the Data API, which belong to the whole cluster.
func ownCluster(t *testing.T) *embedpg.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "migrate-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the account that runs Postgres walks through it
		t.Fatal(err)
	}
	s, err := embedpg.Start(t.Context(), embedpg.Options{Dir: dir, Grace: 2 * time.Second, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := errors.Join(s.Close(), embedpg.Stop(ctx, dir), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestDatabasesThatCreateTheRolesAtOnce(t *testing.T) {
	t.Parallel()
	s := ownCluster(t)
	const n = 4
	for i := range n {
		if err := s.EnsureDatabase(t.Context(), fmt.Sprintf("db%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := migrate.Up(t.Context(), s.DSN(fmt.Sprintf("db%d", i)), migrate.Options{}); err != nil {
				t.Errorf("database %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	got := query[string](t, s.AdminDSN(), `select string_agg(rolname || ':' || rolcanlogin || ':' || rolinherit || ':' || rolbypassrls, ' ' order by rolname)
		from pg_roles where rolname in ('anon', 'authenticated', 'service_role', 'authenticator')`)
	if want := "anon:false:false:false authenticated:false:false:false authenticator:true:false:false service_role:false:false:true"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// On managed servers nobody is superuser.
func TestWithoutSuperuser(t *testing.T) {
	t.Parallel()
	s := ownCluster(t)
	execute(t, s.AdminDSN(), "create role plain login password 'x'; create role maker login createrole password 'x'")
	as := func(role, database string) string {
		execute(t, s.AdminDSN(), "create database "+database+" owner "+role)
		u, err := url.Parse(s.DSN(database))
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(role, "x")
		return u.String()
	}
	plain := as("plain", "of_plain")
	_, err := migrate.Up(t.Context(), plain, migrate.Options{})
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != pgerrcode.InsufficientPrivilege || pgErr.Hint == "" {
		t.Fatalf("without CREATEROLE: want a refusal with a hint, got %v", err)
	}
	maker := as("maker", "of_maker")
	if r := up(t, maker, migrate.Options{}); len(r.Applied) == 0 {
		t.Fatalf("%+v", r)
	}
	if query[bool](t, s.AdminDSN(), "select rolbypassrls from pg_roles where rolname = 'service_role'") {
		t.Fatal("bypassrls without the right to give it")
	}
	for _, role := range []string{"anon", "authenticated", "service_role"} {
		execute(t, maker, "begin; set local role "+role+"; commit")
	}
	// An administrator follows the hint; now the roles are there.
	execute(t, s.AdminDSN(), "grant anon, authenticated, service_role to plain")
	if r := up(t, plain, migrate.Options{}); len(r.Applied) == 0 {
		t.Fatalf("%+v", r)
	}
}

func TestPlainPostgresHasWhatPoliciesRead(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	conn := connect(t, dsn)
	ctx := t.Context()
	for _, sql := range []string{
		"begin", "set local role authenticated",
		`select set_config('request.jwt.claims', '{"sub": "3f333df6-90a4-4fda-8dd3-9485d27cee36", "role": "authenticated"}', true)`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	var uid, role, jwt string
	if err := conn.QueryRow(ctx, "select auth.uid()::text, auth.role(), auth.jwt() ->> 'role'").Scan(&uid, &role, &jwt); err != nil {
		t.Fatal(err)
	}
	if uid != "3f333df6-90a4-4fda-8dd3-9485d27cee36" || role != "authenticated" || jwt != role {
		t.Fatalf("%s %s %s", uid, role, jwt)
	}
	if _, err := conn.Exec(ctx, "commit"); err != nil {
		t.Fatal(err)
	}
	if got := query[bool](t, dsn, "select auth.uid() is null and auth.role() is null and auth.jwt() is null"); !got {
		t.Fatal("claims without a request")
	}
}

// The bootstrap must leave alone what is there, on Supabase and elsewhere.
func TestBootstrapIsGuarded(t *testing.T) {
	t.Parallel()
	raw, err := fs.ReadFile(supabase.Bootstrap, "00_plain_postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	s := ownCluster(t)
	for _, name := range []string{"app", "platform"} {
		if err := s.EnsureDatabase(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, s.DSN("app"), "create schema auth; create function auth.uid() returns uuid language sql as $$ select null::uuid $$")
	execute(t, s.DSN("app"), string(raw))
	execute(t, s.DSN("app"), string(raw)) // any number of times
	if src := query[string](t, s.DSN("app"), "select prosrc from pg_proc where oid = 'auth.uid()'::regprocedure"); src != " select null::uuid " {
		t.Fatalf("a function of somebody else was replaced: %s", src)
	}
	execute(t, s.DSN("platform"), "create role supabase_admin")
	execute(t, s.DSN("platform"), string(raw))
	if n := query[int](t, s.DSN("platform"), "select count(*) from pg_namespace where nspname in ('auth', 'extensions')"); n != 0 {
		t.Fatal("the bootstrap ran on the platform")
	}
}

func TestLegacyGrantsThenMigrations(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	for _, name := range []string{"00_plain_postgres.sql", "legacy_grants.sql"} {
		raw, err := fs.ReadFile(supabase.Bootstrap, name)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, dsn, string(raw))
	}
	execute(t, dsn, "create table public.probe (i int)")
	if !query[bool](t, dsn, "select has_table_privilege('anon', 'public.probe', 'insert')") {
		t.Fatal("legacy_grants.sql does not emulate the old world")
	}
	execute(t, dsn, "drop table public.probe")
	up(t, dsn, migrate.Options{})
}
