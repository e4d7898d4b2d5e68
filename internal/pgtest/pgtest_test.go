package pgtest_test

import (
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestDatabasesAreIndependent(t *testing.T) {
	t.Parallel()
	for range 2 {
		pool := pgtest.New(t, pgtest.MaxConns(2))
		if _, err := pool.Exec(t.Context(), "create table public.only_here (i int)"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSchemaIsThere(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	var n int
	if err := pool.QueryRow(t.Context(), "select count(*) from coord_meta.schema_migrations where not dirty").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 1 {
		t.Fatalf("got %d versions, want 1", n)
	}
}
