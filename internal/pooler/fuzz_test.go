package pooler

import "testing"

// FuzzSession: any connection string is one for sessions, or none.
func FuzzSession(f *testing.F) {
	f.Add("postgres://u:p@h:6543/d")
	f.Add("host=h port=99999999999 pgbouncer=true")
	f.Add("postgres://h/d?sslmode=require&pgbouncer=%zz")
	f.Fuzz(func(t *testing.T, dsn string) {
		if got := Session(dsn); got != "" && got != dsn {
			t.Fatalf("%q became %q", dsn, got)
		}
	})
}
