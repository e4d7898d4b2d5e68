package supabase_test

import (
	"context"
	"io/fs"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/supabase"
)

// worlds are the two kinds of projects that Supabase has: in the older one whatever is created in public is granted to
// the roles of the Data API at once. What the migrations grant and revoke must come to the same in both.
func worlds(t *testing.T) map[string]*pgxpool.Pool {
	t.Helper()
	dsn := pgtest.Empty(t)
	old := connect(t, dsn)
	for _, name := range []string{"00_plain_postgres.sql", "legacy_grants.sql"} {
		raw, err := fs.ReadFile(supabase.Bootstrap, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := old.Exec(context.Background(), string(raw)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if _, err := migrate.Up(context.Background(), dsn, migrate.Options{}); err != nil {
		t.Fatal(err)
	}
	return map[string]*pgxpool.Pool{"explicit grants": pgtest.New(t, pgtest.MaxConns(2)), "automatic grants": old}
}

func connect(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
