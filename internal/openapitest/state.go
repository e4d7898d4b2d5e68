package openapitest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Fingerprint says what the database holds, but for who called: projects, agents and their sessions.
func Fingerprint(t testing.TB, conn *pgx.Conn) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select schemaname || '.' || relname from pg_stat_user_tables
		where schemaname in ('public', 'coord') and relname not in ('projects', 'agents', 'agent_sessions') order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, table := range tables {
		var sum string
		if err := conn.QueryRow(t.Context(), fmt.Sprintf(`select count(*) || ':' || coalesce(md5(string_agg(x::text, '|' order by x::text)), '') from %s x`, table)).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", table, sum)
	}
	return b.String()
}
