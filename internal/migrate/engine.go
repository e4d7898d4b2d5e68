package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	gomigrate "github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// engine is golang-migrate on a connection of its own. It knows no contexts: step cancels the statement
// in the server when ctx ends.
type engine struct {
	m     *gomigrate.Migrate
	files []file
	conn  *atomic.Pointer[pgconn.PgConn]
}

func newEngine(ctx context.Context, cfg *pgx.ConnConfig, files []file) (*engine, error) {
	src, err := iofs.New(sourceFS{files}, ".")
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	var current atomic.Pointer[pgconn.PgConn]
	db := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		current.Store(c.PgConn())
		_, err := c.Exec(ctx, "set statement_timeout = 0")
		return err
	}))
	db.SetMaxOpenConns(1) // the session that holds golang-migrate's own lock is the one that migrates
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate: %w", err), db.Close())
	}
	driver, err := migratepgx.WithInstance(db, &migratepgx.Config{
		DatabaseName:          cfg.Database,
		SchemaName:            "coord_meta",
		MigrationsTable:       `"coord_meta"."schema_migrations"`,
		MigrationsTableQuoted: true,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("migrate: %w", err), db.Close())
	}
	m, err := gomigrate.NewWithInstance("iofs", src, "pgx5", driver)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("migrate: %w", err), driver.Close())
	}
	return &engine{m: m, files: files, conn: &current}, nil
}

// step applies the next file.
func (e *engine) step(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		cancelCtx, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		_ = e.conn.Load().CancelRequest(cancelCtx) // if it does not arrive the statement runs to its end
	})
	defer stop()
	return e.m.Steps(1)
}

// force sets the version to that of file i, clean; i = -1 means none.
func (e *engine) force(i int) error {
	version := database.NilVersion
	if i >= 0 {
		version = int(e.files[i].version)
	}
	if err := e.m.Force(version); err != nil {
		return fmt.Errorf("set the schema's version: %w", err)
	}
	return nil
}

func (e *engine) close() {
	_, _ = e.m.Close() // both connections are done with; what matters was reported
}
