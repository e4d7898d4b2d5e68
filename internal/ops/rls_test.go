package ops_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// as runs sql as a role of the Data API with these claims, in a transaction that is rolled back.
func (w *world) as(role, claims, sql string) (n int, err error) {
	w.t.Helper()
	ctx := context.Background()
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, fmt.Sprintf(`set local role %s; select set_config('request.jwt.claims', '%s', true)`, role, claims)); err != nil {
		w.t.Fatal(err)
	}
	err = tx.QueryRow(ctx, sql).Scan(&n)
	return n, err
}

// membersOnly are the tables that anon may not read, in an open project either: mail, money, and what waits for a person.
var membersOnly = strings.Fields("messages message_recipients usage_reports budgets acts guardrail_rules guardrail_violations")

// What anonymous and logged-in readers of the Data API see: rows of the projects they may, no private table, and they
// change nothing.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("bob", "b1")
	must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": "private"})
	must[client.WrittenHandoff](w, anyone, "ana", "a1", "write_handoff", map[string]any{"summary": "s"})
	must[client.LockResult](w, anyone, "ana", "a1", "acquire_lock", map[string]any{"file_path": "a.go"})
	must[client.SubmittedWork](w, anyone, "ana", "a1", "submit_work", map[string]any{"task_type": "t", "task_description": "d"})
	w.exec(`select coord.ensure_project('hidden')`)

	const member, stranger = `{"app_metadata": {"projects": ["demo"]}}`, `{"app_metadata": {"projects": ["hidden"]}}`
	tables := w.readable()
	for _, needed := range []string{"agents", "agent_sessions", "messages", "handoff_documents", "file_locks", "work_queue"} {
		if !slices.Contains(tables, needed) {
			t.Errorf("authenticated may not read %s", needed)
		}
	}
	for _, open := range []bool{false, true} {
		w.exec(`update public.projects set anon_read = $1 where name = 'demo'`, open)
		for _, table := range tables {
			sql := `select count(*) from public.` + table
			all := scan[int](w, sql)
			if n, err := w.as("authenticated", member, sql); err != nil || (all > 0) != (n > 0) {
				t.Errorf("a member sees %d of %d rows of %s (%v)", n, all, table, err)
			}
			if n, err := w.as("authenticated", stranger, sql); err != nil || n > 0 && table != "projects" && !strings.HasPrefix(table, "verification_polic") { // every project has those of its own
				t.Errorf("a stranger sees %d rows of %s (%v)", n, table, err)
			}
			if n, err := w.as("authenticated", "{}", sql); err != nil || n > 0 {
				t.Errorf("somebody without projects sees %d rows of %s (%v)", n, table, err)
			}
			members := slices.Contains(membersOnly, table)
			if n, err := w.as("anon", "{}", sql); (n > 0) != (open && all > 0 && !members) || (err != nil) != (members && denied(err)) {
				t.Errorf("anon_read=%v: anon sees %d rows of %s (%v)", open, n, table, err)
			}
		}
	}
	for _, sql := range []string{
		`with x as (update public.projects set anon_read = true returning 1) select count(*) from x`,
		`with x as (insert into public.agents (project_id, agent_id) values (1, 'x') returning 1) select count(*) from x`,
		`with x as (delete from public.agent_sessions returning 1) select count(*) from x`,
		`select count(*) from coord.api_keys`, `select count(*) from coord.audit_log`, `select count(*) from coord.notices`,
		`select coord.ensure_project('mine')`, `select count(*) from coord.authenticate('')`,
	} {
		for _, role := range []string{"anon", "authenticated"} {
			if _, err := w.as(role, member, sql); !denied(err) {
				t.Errorf("%s: %s: %v, want permission denied", role, sql, err)
			}
		}
	}
}

// readable lists the tables of schema public that a logged-in reader may select from.
func (w *world) readable() []string {
	w.t.Helper()
	rows, _ := w.pool.Query(context.Background(), `select c.relname::text from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
		and has_table_privilege('authenticated', c.oid, 'select') and c.relname !~ 'migrations' order by 1`)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// Every table has row level security on, and no function of the coordinator can be called by the Data API's readers.
func TestNothingIsOpenByMistake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if open := scan[string](w, `select coalesce(string_agg(c.oid::regclass::text, ', '), '') from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'coord') and c.relkind in ('r', 'p') and not c.relrowsecurity and c.relname !~ 'migrations'`); open != "" {
		t.Errorf("without row level security: %s", open)
	}
	if open := scan[string](w, `select coalesce(string_agg(distinct p.oid::regprocedure::text, ', '), '') from pg_proc p cross join unnest(array['anon', 'authenticated']) r
		where p.pronamespace = 'coord'::regnamespace and has_schema_privilege(r, 'coord', 'usage')`); open != "" {
		t.Errorf("reachable functions: %s", open)
	}
	if open := scan[string](w, `select coalesce(string_agg(p.oid::regprocedure::text, ', '), '') from pg_proc p
		where p.pronamespace = 'coord'::regnamespace and p.prosecdef and not coalesce(p.proconfig::text ~ 'search_path=', false)`); open != "" {
		t.Errorf("security definer without a fixed search_path: %s", open)
	}
}

func denied(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42501"
}
