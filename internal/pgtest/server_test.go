package pgtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func databases(t *testing.T, like string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), Admin(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // test
	if err := conn.QueryRow(t.Context(), "select count(*) from pg_database where datname like $1", like).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A second view of the server stands for another process.
func TestDatabasesOfDeadProcessesGo(t *testing.T) {
	t.Parallel()
	other, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left, err := other.clone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mine := DSN(t)
	third, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	third.close()
	if databases(t, left) != 1 {
		t.Fatal("a live process lost its database")
	}
	other.close() // without dropping, as a killed process does
	if third, err = open(t.Context()); err != nil {
		t.Fatal(err)
	}
	third.close()
	if databases(t, left) != 0 {
		t.Fatal("the database of a dead process stays")
	}
	conn, err := pgx.Connect(t.Context(), mine)
	if err != nil {
		t.Fatalf("a live process lost its database: %v", err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTemplateTidiedAwayIsMadeAgain(t *testing.T) {
	t.Parallel()
	srv, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.close)
	for _, state := range []string{"gone", "half made"} {
		if err := srv.exec(t.Context(), "alter database "+srv.template+" with is_template false"); err != nil {
			t.Fatal(err)
		}
		if state == "gone" {
			if err := srv.exec(t.Context(), "drop database "+srv.template+" with (force)"); err != nil {
				t.Fatal(err)
			}
		} else if err := srv.ensureTemplate(t.Context()); err != nil {
			t.Fatal(err)
		}
		name, err := srv.clone(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if err := srv.drop(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEmptyHasNoSchema(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // test
	var there bool
	if err := conn.QueryRow(t.Context(), "select to_regnamespace('coord_meta') is not null").Scan(&there); err != nil || there {
		t.Fatalf("%v, %v", there, err)
	}
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	tests := []struct{ dsn, want string }{
		{"postgres://u:p@h:1/postgres?sslmode=disable", "postgres://u:p@h:1/x?sslmode=disable"},
		{"postgres://u:p@/postgres?host=%2Ftmp%2Fs", "postgres://u:p@/x?host=%2Ftmp%2Fs"},
		{"host=h dbname=postgres user=u", "host=h dbname=postgres user=u dbname=x"},
	}
	for _, tt := range tests {
		if got := withDatabase(tt.dsn, "x"); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
