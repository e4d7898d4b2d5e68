package migrate_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/supabase"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		set  fstest.MapFS
		ok   bool
	}{
		{"good", good(), true},
		{"none", set(), true},
		{"other files beside", set(one, "select 1", "README.md", "text"), true},
		{"a body that begins", set(one, "create function f() returns void language plpgsql as $$\nbegin\n  null;\nend $$;"), true},
		{"a comment that mentions it", set(one, "-- begin;\n/* create index concurrently x */ select 1;"), true},
		{"short version", set("001_one.sql", "select 1"), false},
		{"long version", set("202601010001000_one.sql", "select 1"), false},
		{"pairs of golang-migrate", set("20260101000100_one.up.sql", "select 1"), false},
		{"no name", set("20260101000100.sql", "select 1"), false},
		{"capital letters", set("20260101000100_One.sql", "select 1"), false},
		{"same version twice", set(one, "select 1", "20260101000100_other.sql", "select 1"), false},
		{"own transaction", set(one, "begin;\nselect 1;\ncommit;"), false},
		{"index in company", set(one, "create table a (i int); create index concurrently if not exists a_i on a (i);"), false},
		{"index that cannot be repeated", set(one, "create index concurrently a_i on a (i);"), false},
		{"drop of an index", set(one, "drop index concurrently if exists a_i;"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := migrate.Check(tt.set)
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, migrate.ErrFiles) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

// The order of the embedded set is its order by name and by number: all versions have 14 digits and grow
// strictly, as Check demands.
func TestEmbeddedSetFollowsTheRules(t *testing.T) {
	t.Parallel()
	if err := migrate.Check(supabase.Migrations); err != nil {
		t.Fatal(err)
	}
}
