package supabase_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// audience is who may read a table through the Data API. Nobody writes but service_role.
type audience string

const (
	project      audience = "members of the project, and everybody where the project is open" // policies ask projects
	members      audience = "members of the project only"                                     // mail
	installation audience = "whoever is signed in"                                            // runners and blueprints serve all projects
)

// readers says for every table and view of schema public who may read it. Tables of schema coord are for nobody. A new
// table is missing here until somebody decided.
var readers = map[string]audience{
	"projects": project, "repositories": project, "agents": project, "agent_sessions": project, "file_locks": project, "work_queue": project,
	"handoff_documents": project, "memory_episodic": project, "memory_procedural": project, "memory_working": project,
	"sessions": project, "events": project, "runs": project, "lock_list": project, "work_list": project, "session_list": project,
	"changesets": project, "changeset_files": project, "verification_results": project, "approval_queue": project, "approval_votes": project,
	"changeset_events": project, "verification_policies": project, "verification_policy_versions": project, "agent_trust": project, "trust_events": project,
	"lock_violations": project, "holds": project,
	"messages": members, "message_recipients": members, "usage_reports": members, "budgets": members,
	"acts": members, "guardrail_rules": members, "guardrail_violations": members,
	"runners": installation, "agent_blueprints": installation, "capabilities": installation,
}

// The whole matrix: every table and view × anon, authenticated of this and of another project and of none, service_role
// × select, insert, update, delete, on two projects with a row in each table. The tables come from the catalogue.
func TestEveryRoleOnEveryTable(t *testing.T) {
	t.Parallel()
	for name, pool := range worlds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMatrix(t, pool)
			for _, r := range m.relations {
				m.check(r)
			}
			m.checkBoundRunner()
		})
	}
}

type relation struct {
	schema, name, kind string
	scoped             bool // has project_id
	columns            []string
}

func (r relation) full() string { return pgx.Identifier{r.schema, r.name}.Sanitize() }

type matrix struct {
	t         *testing.T
	pool      *pgxpool.Pool
	relations []relation
	mine      int64 // a closed project; other: an open one
	other     int64
}

const (
	memberOfMine  = `{"role": "authenticated", "app_metadata": {"projects": ["mine"]}}`
	memberOfOther = `{"role": "authenticated", "app_metadata": {"projects": ["other"]}}`
	ofNothing     = `{"role": "authenticated", "user_metadata": {"projects": ["mine", "other"]}}` // what users write about themselves opens nothing
)

// newMatrix puts a row of each of two projects into every table. Checks, foreign keys and triggers are taken off first:
// they are not what is tested, and so any table can be filled by its column types alone.
func newMatrix(t *testing.T, pool *pgxpool.Pool) *matrix {
	t.Helper()
	ctx := context.Background()
	m := &matrix{t: t, pool: pool}
	for _, sql := range []string{
		`do $$ declare k record; begin
			for k in select conrelid::regclass::text as tab, conname from pg_constraint c where contype in ('c', 'f') and conrelid <> 0
				and connamespace in ('public'::regnamespace, 'coord'::regnamespace) loop
				execute format('alter table %s drop constraint %I', k.tab, k.conname); end loop;
			for k in select c.oid::regclass::text as tab from pg_class c where relkind = 'r' and relnamespace in ('public'::regnamespace, 'coord'::regnamespace) loop
				execute format('alter table %s disable trigger user', k.tab); end loop;
		end $$`,
		`insert into public.projects (name, anon_read) values ('mine', false), ('other', true)`,
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.QueryRow(ctx, `select (select id from public.projects where name = 'mine'), (select id from public.projects where name = 'other')`).Scan(&m.mine, &m.other); err != nil {
		t.Fatal(err)
	}
	rows, _ := pool.Query(ctx, `select n.nspname, c.relname, c.relkind::text, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id' and (a.attnotnull or c.relkind = 'v')),
			array(select a.attname || ' ' || case when a.attname = 'project_id' then 'project' when t.typcategory = 'A' then 'array' when t.typname in ('jsonb', 'json') then 'json'
				when t.typcategory = 'N' then 'number' when t.typname = 'uuid' then 'uuid' when t.typcategory = 'D' then 'time' when t.typcategory = 'B' then 'bool'
				when t.typname = 'bytea' then 'bytes' when a.attname in ('expires_at') then 'time' else 'text' end
				from pg_attribute a join pg_type t on t.oid = a.atttypid where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
				and a.attidentity = '' and a.attgenerated = '' and (a.attnotnull and not a.atthasdef or a.attname = 'expires_at') order by a.attnum)
		from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'coord') and c.relkind in ('r', 'p', 'v', 'm', 'f') order by 1, 3, 2`)
	var err error
	m.relations, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (relation, error) {
		var r relation
		return r, row.Scan(&r.schema, &r.name, &r.kind, &r.scoped, &r.columns)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range m.relations {
		if r.kind == "r" && r.name != "projects" {
			m.fill(r)
		}
	}
	return m
}

func (m *matrix) fill(r relation) {
	m.t.Helper()
	for i, id := range []int64{m.mine, m.other} {
		if _, err := m.pool.Exec(context.Background(), insert(r, id, i)); err != nil {
			m.t.Fatalf("%s: %v", r.full(), err)
		}
		if !r.scoped { // one row is of the installation
			return
		}
	}
}

// insert is a statement that puts a row of the project into r. n tells rows apart.
func insert(r relation, project int64, n int) string {
	var names, values []string
	for _, c := range r.columns {
		name, kind, _ := strings.Cut(c, " ")
		names = append(names, pgx.Identifier{name}.Sanitize())
		values = append(values, map[string]string{
			"project": fmt.Sprint(project), "array": "'{}'", "json": "'{}'", "number": fmt.Sprint(n + 1), "uuid": "gen_random_uuid()",
			"time": "now() + interval '1 day'", "bool": "true", "bytes": fmt.Sprintf("'\\x0%d'", n), "text": fmt.Sprintf("'%s-%d'", name, n),
		}[kind])
	}
	if len(names) == 0 {
		return "insert into " + r.full() + " default values on conflict do nothing"
	}
	return fmt.Sprintf("insert into %s (%s) values (%s) on conflict do nothing", r.full(), strings.Join(names, ", "), strings.Join(values, ", "))
}

// as runs sql in a transaction that is rolled back, as a role with these claims, and returns the rows it saw or changed.
func (m *matrix) as(role, claims, sql string) (n int64, err error) {
	ctx := context.Background()
	tx, err := m.pool.Begin(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`, claims, role); err != nil {
		m.t.Fatal(err)
	}
	tag, err := tx.Exec(ctx, sql)
	return tag.RowsAffected(), err
}

func (m *matrix) check(r relation) {
	t := m.t
	t.Helper()
	who, known := readers[r.name]
	if r.schema == "public" && !known {
		t.Errorf("%s is new: say in `readers` who may read it", r.full())
		return
	}
	of := func(project int64) string {
		switch {
		case r.name == "projects":
			return fmt.Sprintf("select from %s where id = %d", r.full(), project)
		case r.scoped:
			return fmt.Sprintf("select from %s where project_id = %d", r.full(), project)
		}
		return "select from " + r.full()
	}
	reads := func(label, role, claims string, project int64, want bool) {
		t.Helper()
		n, err := m.as(role, claims, of(project))
		refused := r.schema == "coord" || role == "anon" && who == members
		if refused != denied(err) || !refused && (err != nil || (n > 0) != want) {
			t.Errorf("%s: %s sees %d rows (%v), want any: %v, refused: %v", r.full(), label, n, err, want, refused)
		}
	}
	reads("anon, closed project", "anon", "{}", m.mine, false)
	reads("anon, open project", "anon", "{}", m.other, who == project)
	reads("a member", "authenticated", memberOfMine, m.mine, true)
	reads("a member of another project", "authenticated", memberOfMine, m.other, who == installation)
	reads("somebody signed in, without projects", "authenticated", ofNothing, m.mine, who == installation)
	if r.kind != "r" { // a view refuses what it cannot do before it asks who may
		for _, role := range []string{"anon", "authenticated"} {
			var may bool
			if err := m.pool.QueryRow(context.Background(), `select has_table_privilege($1, $2::regclass, 'insert, update, delete, truncate, references, trigger')`,
				role, r.full()).Scan(&may); err != nil || may {
				t.Errorf("%s: %s may change it (%v)", r.full(), role, err)
			}
		}
		m.checkService(r, of)
		return
	}
	for _, w := range []string{insert(r, m.mine, 7), "update " + r.full() + " set " + firstColumn(r) + " = default", "delete from " + r.full(), "truncate " + r.full()} {
		for _, role := range []string{"anon", "authenticated"} {
			if _, err := m.as(role, memberOfMine, w); !denied(err) {
				t.Errorf("%s: %s may: %s (%v)", r.full(), role, w, err)
			}
		}
	}
	m.checkService(r, of)
}

// checkBoundRunner: a runner that registered with a project's key is that project's to see.
func (m *matrix) checkBoundRunner() {
	m.t.Helper()
	if _, err := m.pool.Exec(context.Background(), `update public.runners set project_id = $1`, m.mine); err != nil {
		m.t.Fatal(err)
	}
	for claims, want := range map[string]int64{memberOfMine: 1, memberOfOther: 0, ofNothing: 0} {
		if n, err := m.as("authenticated", claims, "select from public.runners"); err != nil || n != want {
			m.t.Errorf("%s sees %d bound runners (%v), want %d", claims, n, err, want)
		}
	}
}

// seen are the private tables of which service_role may read some columns, because a function that becomes part of its
// caller's query reads them; as security definer that function would cost a quarter more.
var seen = map[string]bool{"lock_wait_keys": true} // by coord.lock_holder

// checkService: service_role reads and writes the public tables of every project; private tables it reaches through
// functions only.
func (m *matrix) checkService(r relation, of func(int64) string) {
	t := m.t
	t.Helper()
	for _, project := range []int64{m.mine, m.other} {
		n, err := m.as("service_role", "{}", of(project))
		if r.schema == "coord" && denied(err) == seen[r.name] || r.schema == "public" && (err != nil || n == 0) {
			t.Errorf("%s: service_role sees %d rows of project %d (%v)", r.full(), n, project, err)
		}
	}
	if r.schema != "public" || r.kind != "r" {
		return
	}
	if n, err := m.as("service_role", "{}", "delete from "+r.full()); err != nil || n == 0 {
		t.Errorf("%s: service_role deletes %d rows (%v)", r.full(), n, err)
	}
	if _, err := m.as("service_role", "{}", insert(r, m.mine, 8)); err != nil {
		t.Errorf("%s: service_role inserts: %v", r.full(), err)
	}
}

func firstColumn(r relation) string {
	switch {
	case r.scoped:
		return "project_id"
	case len(r.columns) > 0:
		name, _, _ := strings.Cut(r.columns[0], " ")
		return pgx.Identifier{name}.Sanitize()
	}
	return "id"
}

func denied(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42501"
}
