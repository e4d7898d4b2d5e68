package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/pooler"
)

// Errors to be recognised with errors.Is.
var (
	// ErrForeign means that the database holds tables and none of them is known to be ours.
	ErrForeign = errors.New("the database belongs to something else")
	// ErrPooler means that the connection string names a transaction pooler.
	ErrPooler = errors.New("migrations need a direct or session connection, this one leads to a transaction pooler (set COORD_DIRECT_URL)")
	// ErrUnknownVersion means that the database is at a version that this binary should know but does not.
	ErrUnknownVersion = errors.New("the database is at a version that is not one of ours")
)

// Status describes a database against the set of files. It is read without changing anything.
type Status struct {
	Version  uint64   `json:"version"`  // last applied file, 0 for none
	Latest   uint64   `json:"latest"`   // last file of the set
	Pending  []string `json:"pending"`  // names of the files to be applied
	Newer    bool     `json:"newer"`    // the database is ahead of the set
	Dirty    bool     `json:"dirty"`    // a run was cut short; the next Up clears it
	Foreign  []string `json:"foreign"`  // some tables, when the database holds only tables that are not ours
	Supabase bool     `json:"supabase"` // the platform's roles exist
}

// ReadStatus compares the database at dsn with the embedded set, or with o.FS.
func ReadStatus(ctx context.Context, dsn string, o Options) (Status, error) {
	o = o.withDefaults()
	files, err := load(o.FS)
	if err != nil {
		return Status{}, err
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return Status{}, fmt.Errorf("connection string: %w", err)
	}
	if pooler.Between(cfg) {
		cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return Status{}, fmt.Errorf("migration status: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	st, err := readState(ctx, conn, files)
	if err != nil {
		return Status{}, err
	}
	return st.status(files), nil
}

// state is what the database says about itself.
type state struct {
	hasMeta  bool     // golang-migrate's table exists
	meta     uint64   // its version, 0 for none
	dirty    bool     // its mark
	history  []string // versions in Supabase's history
	foreign  []string // tables of others, when nothing is ours
	supabase bool
	at       int  // index of the last applied file, -1 for none
	newer    bool // at a version past our last
}

func (s state) status(files []file) Status {
	out := Status{Version: s.version(files), Newer: s.newer, Dirty: s.dirty, Foreign: s.foreign, Supabase: s.supabase}
	if len(files) > 0 {
		out.Latest = files[len(files)-1].version
	}
	if !s.newer {
		for _, f := range files[s.at+1:] {
			out.Pending = append(out.Pending, f.path)
		}
	}
	return out
}

func (s state) version(files []file) uint64 {
	switch {
	case s.newer:
		return s.meta
	case s.at < 0:
		return 0
	default:
		return files[s.at].version
	}
}

func readState(ctx context.Context, conn *pgx.Conn, files []file) (state, error) {
	var s state
	var hasHistory bool
	err := conn.QueryRow(ctx, `select to_regclass('coord_meta.schema_migrations') is not null,
		to_regclass('supabase_migrations.schema_migrations') is not null,
		exists (select from pg_catalog.pg_roles where rolname = 'supabase_admin')`).Scan(&s.hasMeta, &hasHistory, &s.supabase)
	if err != nil {
		return s, fmt.Errorf("read the state of the schema: %w", err)
	}
	if s.hasMeta {
		err := conn.QueryRow(ctx, "select version, dirty from coord_meta.schema_migrations where version > 0").Scan(&s.meta, &s.dirty)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return s, fmt.Errorf("read the schema's version: %w", err)
		}
	}
	if hasHistory {
		if s.history, err = readHistory(ctx, conn); err != nil {
			return s, err
		}
	}
	if err := s.locate(files); err != nil {
		return s, err
	}
	if !s.hasMeta && s.at < 0 {
		s.foreign, err = foreignTables(ctx, conn)
	}
	return s, err
}

func readHistory(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, "select version::text from supabase_migrations.schema_migrations")
	if err != nil {
		return nil, fmt.Errorf("read Supabase's history: %w", err)
	}
	versions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read Supabase's history: %w", err)
	}
	return versions, nil
}

// locate finds the last applied file: golang-migrate's version or the longest prefix of our list in
// Supabase's history, whichever is further.
func (s *state) locate(files []file) error {
	prefix := -1
	for prefix+1 < len(files) && slices.Contains(s.history, files[prefix+1].text()) {
		prefix++
	}
	s.at = prefix
	if s.meta == 0 {
		return nil
	}
	own := indexOf(files, s.meta)
	if own < 0 {
		if len(files) == 0 || s.meta > files[len(files)-1].version {
			s.newer = true
			return nil
		}
		return fmt.Errorf("%w: %d", ErrUnknownVersion, s.meta)
	}
	// A mark left by a run that was cut short says that the file was begun. The history, written in the
	// file's own transaction, says whether it was finished.
	if s.dirty && !slices.Contains(s.history, files[own].text()) {
		own--
	}
	s.at = max(own, prefix)
	return nil
}

// platformSchemas belong to Supabase or to common extensions; what lies there is nobody's application.
var platformSchemas = []string{
	"information_schema", "auth", "storage", "realtime", "_realtime", "extensions", "graphql", "graphql_public", "pgbouncer",
	"pgsodium", "pgsodium_masks", "vault", "supabase_functions", "supabase_migrations", "cron", "net", "pgmq", "pgtle",
	"_analytics", "_supavisor", "tiger", "tiger_data", "topology", "coord_meta",
}

// foreignTables lists up to five tables that belong neither to the platform nor to an extension.
func foreignTables(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `select n.nspname || '.' || c.relname
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where c.relkind in ('r', 'p', 'f') and n.nspname <> all ($1) and n.nspname !~ '^pg_'
		  and not exists (select from pg_catalog.pg_depend d
		    where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
		order by 1 limit 5`, platformSchemas)
	if err != nil {
		return nil, fmt.Errorf("look for foreign tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for foreign tables: %w", err)
	}
	return tables, nil
}

func foreignError(database string, tables []string) error {
	return fmt.Errorf("%w: database %q holds %s and nothing of ours", ErrForeign, database, strings.Join(tables, ", "))
}
