package pooler

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"postgres://u:p@h:5432/d":                 false,
		"postgres://u:p@h:6543/d":                 true,
		"postgres://u:p@h:6432/d?pgbouncer=true":  true,
		"postgres://u:p@h:6543/d?pgbouncer=true":  true,
		"postgres://u:p@h:5432/d?pgbouncer=false": false,
		"host=h port=6543 user=u dbname=d":        true,
		"host=h user=u dbname=d pgbouncer=true":   true,
		"host=h port=5432 user=u dbname=d":        false,
	} {
		cfg, err := pgx.ParseConfig(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := Between(cfg); got != want {
			t.Errorf("%s: %v", s, got)
		}
		if _, kept := cfg.RuntimeParams["pgbouncer"]; kept {
			t.Errorf("%s: the server would be sent the parameter", s)
		}
		if (Session(s) == "") != want {
			t.Errorf("%s: session %q", s, Session(s))
		}
	}
	if Session("%%") != "" {
		t.Error("no connection string")
	}
}
