package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
	"github.com/agent-coordinator/agent-coordinator/internal/pooler"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-coordinator/agent-coordinator/supabase"
)

const (
	// lockKey is "coord-mg" in ASCII: the session advisory lock of Up, one per database.
	lockKey  int64 = 0x636f6f72642d6d67
	lockPoll       = 50 * time.Millisecond
)

// Options of Up and ReadStatus. The zero value is the embedded set and a careful hand.
type Options struct {
	// FS holds the files at its root; default the embedded set.
	FS fs.FS
	// AllowForeign lets Up add our schema to a database that holds only tables of others.
	AllowForeign bool
	// Log receives what was done; default: discarded.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = supabase.Migrations
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Report says what one Up did.
type Report struct {
	From    uint64   // version before, 0 for an empty database
	To      uint64   // version after, also when Up failed on the way
	Adopted uint64   // version taken over from Supabase's history, 0 when nothing was
	Applied []string // files applied by this call, in order
}

// FileError is the failure of one migration. The database is at the version before it.
type FileError struct {
	File string
	Line uint // in the file, 0 when the server did not say
	Err  error
}

func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("migration %s, line %d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("migration %s: %v", e.File, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// Up applies what is missing in the database at dsn and reports it; the report is true even beside an
// error. It waits for another Up on the same database until ctx ends; a file that runs when ctx ends is
// cancelled and rolled back. Errors: ErrPooler, ErrForeign, ErrFiles, ErrUnknownVersion, *FileError.
func Up(ctx context.Context, dsn string, o Options) (Report, error) {
	o = o.withDefaults()
	files, err := load(o.FS)
	if err != nil {
		return Report{}, err
	}
	cfg, err := directConfig(dsn)
	if err != nil {
		return Report{}, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return Report{}, fmt.Errorf("migrate: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // ends the session and with it the lock
	if err := lock(ctx, conn); err != nil {
		return Report{}, err
	}
	st, err := readState(ctx, conn, files)
	if err != nil {
		return Report{}, err
	}
	r := Report{From: st.version(files), To: st.version(files)}
	if st.newer {
		o.Log.Warn("the database is newer than this program", "version", st.meta)
		return r, nil
	}
	if len(st.foreign) > 0 && !o.AllowForeign {
		return r, foreignError(cfg.Database, st.foreign)
	}
	if !st.dirty && st.at > indexOf(files, st.meta) {
		r.From, r.Adopted = st.meta, r.To
	}
	u := upper{log: o.Log, conn: conn, cfg: cfg, files: files, st: st}
	if err := u.prepare(ctx); err != nil {
		return r, err
	}
	err = u.apply(ctx, &r)
	return r, err
}

// directConfig refuses what cannot carry session locks.
func directConfig(dsn string) (*pgx.ConnConfig, error) {
	if strconv.IntSize < 64 {
		return nil, fmt.Errorf("%w: versions of 14 digits need a 64-bit system", ErrFiles)
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("connection string: %w", err)
	}
	if pooler.Between(cfg) {
		return nil, ErrPooler
	}
	return cfg, nil
}

// lock takes the session lock without ever waiting inside the server (see the package's text).
func lock(ctx context.Context, conn *pgx.Conn) error {
	for {
		var ok bool
		if err := conn.QueryRow(ctx, "select pg_catalog.pg_try_advisory_lock($1)", lockKey).Scan(&ok); err != nil {
			return fmt.Errorf("migration lock: %w", err)
		}
		if ok {
			return nil
		}
		if err := loop.Pause(ctx, lockPoll); err != nil {
			return fmt.Errorf("wait for another migration: %w", err)
		}
	}
}

// upper is one run of Up under the lock.
type upper struct {
	log   *slog.Logger
	conn  *pgx.Conn
	cfg   *pgx.ConnConfig
	files []file
	st    state
}

// prepare makes what the files and the two histories stand on.
func (u *upper) prepare(ctx context.Context) error {
	if _, err := u.conn.Exec(ctx, "set statement_timeout = 0"); err != nil { // managed servers set one
		return fmt.Errorf("prepare the database: %w", err)
	}
	if !u.st.supabase && u.st.at+1 < len(u.files) {
		if err := u.bootstrap(ctx); err != nil {
			return err
		}
	}
	_, err := u.conn.Exec(ctx, `
		create schema if not exists coord_meta;
		create schema if not exists supabase_migrations;
		create table if not exists supabase_migrations.schema_migrations (version text not null primary key, statements text[], name text);`)
	if err != nil {
		return fmt.Errorf("prepare the database: %w", err)
	}
	return nil
}

// bootstrap gives a plain Postgres what Supabase brings. Roles are shared by all databases of a server, so
// another database that does the same at this moment can make us fail in the catalog; once it has
// committed there is nothing left to do.
func (u *upper) bootstrap(ctx context.Context) error {
	raw, err := fs.ReadFile(supabase.Bootstrap, "00_plain_postgres.sql")
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	for attempt := 1; ; attempt++ {
		_, err = u.conn.Exec(ctx, string(raw))
		var pgErr *pgconn.PgError
		if err == nil || attempt == 8 || !errors.As(err, &pgErr) {
			break
		}
		switch pgErr.Code {
		case pgerrcode.InternalError, // "tuple concurrently updated" has no code of its own
			pgerrcode.UniqueViolation, pgerrcode.DuplicateObject, pgerrcode.DeadlockDetected, pgerrcode.SerializationFailure:
		default:
			return fmt.Errorf("bootstrap: %w", err)
		}
		if perr := loop.Pause(ctx, time.Duration(attempt)*lockPoll); perr != nil {
			return fmt.Errorf("bootstrap: %w", perr)
		}
	}
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

// apply runs the missing files, one by one.
func (u *upper) apply(ctx context.Context, r *Report) error {
	if u.st.hasMeta && !u.st.dirty && u.st.at+1 == len(u.files) && indexOf(u.files, u.st.meta) == u.st.at {
		return u.note(ctx, u.st.at) // the common case: nothing to do
	}
	e, err := newEngine(ctx, u.cfg, u.files)
	if err != nil {
		return err
	}
	defer e.close()
	if u.st.dirty || indexOf(u.files, u.st.meta) != u.st.at {
		if err := e.force(u.st.at); err != nil {
			return err
		}
		u.log.Info("schema version set", "version", r.To, "adopted", r.Adopted, "was_cut_short", u.st.dirty)
	}
	for i := u.st.at + 1; i < len(u.files); i++ {
		if err := u.step(ctx, e, i); err != nil {
			return err
		}
		r.To = u.files[i].version
		r.Applied = append(r.Applied, u.files[i].path)
	}
	if err := u.note(ctx, len(u.files)-1); err != nil {
		return err
	}
	// PostgREST caches the schema; on a server without it nobody listens.
	if _, err := u.conn.Exec(ctx, "notify pgrst, 'reload schema'"); err != nil {
		return fmt.Errorf("announce the new schema: %w", err)
	}
	return nil
}

// step applies file i; on failure the database is at the version before it.
func (u *upper) step(ctx context.Context, e *engine, i int) error {
	f := u.files[i]
	if f.alone {
		if err := u.dropInvalid(ctx, f); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := e.step(ctx); err != nil {
		fe := &FileError{File: f.path, Err: err}
		var dbErr database.Error
		if errors.As(err, &dbErr) {
			fe.Line, fe.Err = dbErr.Line, dbErr.OrigErr
		}
		if ctx.Err() != nil {
			fe.Err = errors.Join(context.Cause(ctx), fe.Err)
		}
		// golang-migrate marks the version dirty although the server rolled the file back. If the
		// connection is gone too, the next Up clears the mark.
		if err := e.force(i - 1); err != nil {
			u.log.Warn("the mark of the failed migration stays until the next run", "err", err)
		}
		return fe
	}
	u.log.Info("migration applied", "file", f.path, "dur_ms", time.Since(began).Milliseconds())
	return nil
}

// note brings Supabase's history up to file i: those that ran outside a transaction, and those applied
// before the history was kept.
func (u *upper) note(ctx context.Context, i int) error {
	for _, f := range u.files[:i+1] {
		if slices.Contains(u.st.history, f.text()) {
			continue
		}
		if _, err := u.conn.Exec(ctx, noteSQL(f)); err != nil {
			return fmt.Errorf("keep Supabase's history: %w", err)
		}
	}
	return nil
}

// dropInvalid removes what a failed CREATE INDEX CONCURRENTLY left: an index that exists by name, so that
// IF NOT EXISTS would skip it, but is not used.
func (u *upper) dropInvalid(ctx context.Context, f file) error {
	rows, err := u.conn.Query(ctx, `select n.nspname, c.relname from pg_catalog.pg_index i
		join pg_catalog.pg_class c on c.oid = i.indexrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where not i.indisvalid and $1 ~ ('\m' || c.relname || '\M') and c.relname ~ '^[a-z0-9_]+$'`, f.sql)
	if err != nil {
		return fmt.Errorf("look for invalid indexes: %w", err)
	}
	type index struct{ Nspname, Relname string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	if err != nil {
		return fmt.Errorf("look for invalid indexes: %w", err)
	}
	for _, x := range found {
		u.log.Warn("dropping an index that a failed migration left invalid", "index", x.Relname)
		if _, err := u.conn.Exec(ctx, "drop index concurrently if exists "+pgx.Identifier{x.Nspname, x.Relname}.Sanitize()); err != nil {
			return fmt.Errorf("drop invalid index %s: %w", x.Relname, err)
		}
	}
	return nil
}
