package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/supabase"
)

const (
	grace         = 5 * time.Second
	keepTemplates = 4 // trees that were tested lately, each 8 MB

	// Classes of the advisory locks taken in the maintenance database.
	lockTemplate int32 = 0x70677401 // one process at a time makes templates
	lockOwner    int32 = 0x70677402 // held with a process's number for as long as it lives
)

// lazy is the server of this process, had on first use.
type lazy struct {
	mu  sync.Mutex
	srv *server
	err error
}

var shared lazy

func (l *lazy) get(ctx context.Context) (*server, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.srv == nil && l.err == nil {
		l.srv, l.err = open(ctx) // a failure is final: 200 tests need not wait for it again
	}
	return l.srv, l.err
}

func (l *lazy) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.srv != nil {
		l.srv.close()
		l.srv = nil
	}
}

// server is this process's view of the test server.
type server struct {
	embedded *embedpg.Server // nil when COORD_TEST_DATABASE_URL names one
	admin    string
	pool     *pgxpool.Pool
	owner    *pgx.Conn // holds the lock that says this process lives
	number   int32     // of this process, part of its databases' names
	template string
	count    atomic.Int64
}

func open(ctx context.Context) (*server, error) {
	s := &server{admin: os.Getenv("COORD_TEST_DATABASE_URL")}
	if s.admin == "" {
		embedded, err := embedpg.Start(ctx, embedpg.Options{
			Dir:      filepath.Join(os.TempDir(), "coord-pgtest-"+strconv.Itoa(os.Getuid())),
			Grace:    grace,
			Unsafe:   true,
			Settings: map[string]string{"max_connections": "300", "shared_buffers": "128MB"},
		})
		if err != nil {
			return nil, fmt.Errorf("start the test server: %w", err)
		}
		s.embedded, s.admin = embedded, embedded.AdminDSN()
	}
	if err := s.connect(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *server) connect(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(s.admin)
	if err != nil {
		return fmt.Errorf("test server: %w", err)
	}
	cfg.MaxConns = 2 // each creates or drops one database at a time
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return fmt.Errorf("test server: %w", err)
	}
	if s.owner, err = pgx.Connect(ctx, s.admin); err != nil {
		return fmt.Errorf("test server: %w", err)
	}
	for owned := false; !owned; {
		var b [4]byte
		rand.Read(b[:])
		s.number = int32(binary.BigEndian.Uint32(b[:]) >> 1)
		if err := s.owner.QueryRow(ctx, "select pg_catalog.pg_try_advisory_lock($1, $2)", lockOwner, s.number).Scan(&owned); err != nil {
			return fmt.Errorf("test server: %w", err)
		}
	}
	tidyDatabases(ctx, s.owner)
	return s.ensureTemplate(ctx)
}

func (s *server) close() {
	if s.pool != nil {
		s.pool.Close()
	}
	if s.owner != nil {
		_ = s.owner.Close(context.Background()) // the lock goes with the session
	}
	if s.embedded != nil {
		_ = s.embedded.Close() // never fails
	}
}

func (s *server) nextName() string { return fmt.Sprintf("t_%08x_%d", s.number, s.count.Add(1)) }

// clone copies the template to a new database.
func (s *server) clone(ctx context.Context) (string, error) {
	name := s.nextName()
	for {
		// file_copy forces two checkpoints and is many times slower.
		err := s.exec(ctx, "create database "+name+" template "+s.template+" strategy wal_log")
		var pgErr *pgconn.PgError
		switch {
		case err == nil:
			return name, nil
		case !errors.As(err, &pgErr):
			return "", err
		case pgErr.Code == pgerrcode.ObjectInUse: // another process opens or drops the template
			if err := loop.Pause(ctx, 50*time.Millisecond); err != nil {
				return "", err
			}
		case pgErr.Code == pgerrcode.InvalidCatalogName: // tidied away by tests of other trees
			if err := s.ensureTemplate(ctx); err != nil {
				return "", err
			}
		default:
			return "", err
		}
	}
}

func (s *server) empty(ctx context.Context) (string, error) {
	name := s.nextName()
	return name, s.exec(ctx, "create database "+name+" template template0 strategy wal_log")
}

func (s *server) drop(ctx context.Context, name string) error {
	return s.exec(ctx, "drop database if exists "+name+" with (force)")
}

func (s *server) exec(ctx context.Context, sql string) error {
	if _, err := s.pool.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// ensureTemplate makes the migrated template of this tree unless another process has, and tidies up.
func (s *server) ensureTemplate(ctx context.Context) error {
	hash, err := schemaHash()
	if err != nil {
		return err
	}
	s.template = "tpl_" + hash
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return fmt.Errorf("test template: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // ends the lock
	for locked := false; !locked; {
		if err := conn.QueryRow(ctx, "select pg_catalog.pg_try_advisory_lock($1, 0)", lockTemplate).Scan(&locked); err != nil {
			return fmt.Errorf("test template: %w", err)
		}
		if !locked {
			if err := loop.Pause(ctx, 50*time.Millisecond); err != nil {
				return fmt.Errorf("test template: %w", err)
			}
		}
	}
	var ready bool
	err = conn.QueryRow(ctx, "select datistemplate from pg_catalog.pg_database where datname = $1", s.template).Scan(&ready)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("test template: %w", err)
	}
	if ready {
		return nil
	}
	tidyTemplates(ctx, conn)
	return s.makeTemplate(ctx, conn)
}

// makeTemplate migrates under a working name: a template is complete or does not exist.
func (s *server) makeTemplate(ctx context.Context, conn *pgx.Conn) error {
	work := s.template + "_new"
	for _, sql := range []string{
		"drop database if exists " + s.template + " with (force)", // one that was renamed and not finished
		"create database " + work + " template template0 strategy wal_log",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("test template: %s: %w", sql, err)
		}
	}
	if _, err := migrate.Up(ctx, withDatabase(s.admin, work), migrate.Options{}); err != nil {
		return fmt.Errorf("test template: %w", err)
	}
	for _, sql := range []string{
		"alter database " + work + " rename to " + s.template,
		"alter database " + s.template + " with is_template true allow_connections false", // cloning needs it unused
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("test template: %s: %w", sql, err)
		}
	}
	return nil
}

// tidyTemplates drops old templates and unfinished ones; the caller holds the lock under which they are
// made. Best effort, as tidyDatabases is: what stays is dropped by a later run.
func tidyTemplates(ctx context.Context, conn *pgx.Conn) {
	rows, err := conn.Query(ctx, `(select datname from pg_catalog.pg_database where datname ~ '^tpl_[0-9a-f]+$' order by oid desc offset $1)
		union all select datname from pg_catalog.pg_database where datname ~ '^tpl_[0-9a-f]+_new$'`, keepTemplates-1)
	if err != nil {
		return
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return
	}
	for _, name := range old {
		if _, err := conn.Exec(ctx, "alter database "+name+" with is_template false"); err == nil {
			_, _ = conn.Exec(ctx, "drop database if exists "+name+" with (force)") // see above
		}
	}
}

// tidyDatabases drops the databases of processes that died: a live one holds the lock of its number.
func tidyDatabases(ctx context.Context, conn *pgx.Conn) {
	rows, err := conn.Query(ctx, `with owned as (
			select datname, ('x' || substring(datname from '^t_([0-9a-f]{8})_'))::bit(32)::int::bigint as number
			from pg_catalog.pg_database where datname ~ '^t_[0-9a-f]{8}_[0-9]+$')
		select datname from owned where not exists (
			select from pg_catalog.pg_locks l where l.locktype = 'advisory' and l.classid::bigint = $1 and l.objid::bigint = owned.number
			and l.database = (select oid from pg_catalog.pg_database where datname = current_database()))`, int64(lockOwner))
	if err != nil {
		return
	}
	dead, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return
	}
	for _, name := range dead {
		_, _ = conn.Exec(ctx, "drop database if exists "+name+" with (force)") // another process may be at it, too
	}
}

// schemaHash names the state of the files that make the schema.
func schemaHash() (string, error) {
	h := sha256.New()
	for _, fsys := range []fs.FS{supabase.Bootstrap, supabase.Migrations} {
		paths, err := fs.Glob(fsys, "*.sql")
		if err != nil {
			return "", fmt.Errorf("test template: %w", err)
		}
		for _, p := range paths {
			raw, err := fs.ReadFile(fsys, p)
			if err != nil {
				return "", fmt.Errorf("test template: %w", err)
			}
			fmt.Fprintf(h, "%s %d\n%s", p, len(raw), raw)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}
