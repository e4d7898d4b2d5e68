package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
)

const (
	defaultMaxConns = 8
	setupTimeout    = 2 * time.Minute // of one test's database; the first of a run waits for initdb and migrations
	dropTimeout     = 30 * time.Second
	closeTimeout    = 10 * time.Second
)

// Option changes the pool of New.
type Option func(*pgxpool.Config)

// MaxConns sets the most connections the pool opens. Many packages run at once: ask for few.
func MaxConns(n int32) Option { return func(c *pgxpool.Config) { c.MaxConns = n } }

// Main is TestMain for every package: it runs the tests and then fails if goroutines are left.
func Main(m *testing.M) { MainWith(m, nil) }

// MainWith is Main for a package whose examples need a server: before is called first, with a pool on a fresh database, and
// what it returns last.
func MainWith(m *testing.M, before func(*pgxpool.Pool) (after func(), err error)) {
	embedpg.RunWatcherIfAsked()
	code := 1
	if after, err := prepare(before); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
	} else {
		code = m.Run()
		after()
	}
	shared.close()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines left after the tests: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// prepare calls before with a database that goes with what it returns.
func prepare(before func(*pgxpool.Pool) (func(), error)) (after func(), err error) {
	if before == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	srv, err := shared.get(ctx)
	if err != nil {
		return nil, err
	}
	name, err := srv.clone(ctx)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, withDatabase(srv.admin, name))
	if err != nil {
		return nil, err
	}
	stop, err := before(pool)
	return func() {
		if stop != nil {
			stop()
		}
		pool.Close()
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		defer cancel()
		_ = srv.drop(ctx, name) // what stays goes with the next run
	}, err
}

// New returns a pool on a fresh database with the current schema. Both go with the test.
func New(t testing.TB, opts ...Option) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(DSN(t))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	cfg.MaxConns, cfg.MinConns = defaultMaxConns, 0
	for _, o := range opts {
		o(cfg)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	// Registered after DSN's cleanup, hence before the drop.
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() { pool.Close(); close(closed) }()
		timer := time.NewTimer(closeTimeout)
		defer timer.Stop()
		select {
		case <-closed:
		case <-timer.C:
			t.Errorf("pgtest: %d connections were not given back to the pool", pool.Stat().AcquiredConns())
		}
	})
	return pool
}

// DSN returns the connection string of a fresh database with the current schema, dropped with the test
// whoever is still connected.
func DSN(t testing.TB) string {
	t.Helper()
	return database(t, (*server).clone)
}

// Empty returns the connection string of a fresh database without any schema, dropped with the test.
func Empty(t testing.TB) string {
	t.Helper()
	return database(t, (*server).empty)
}

func database(t testing.TB, create func(*server, context.Context) (string, error)) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	srv, err := shared.get(ctx)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name, err := create(srv, ctx)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		defer cancel()
		if err := srv.drop(ctx, name); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return withDatabase(srv.admin, name)
}

// Admin returns the connection string of the maintenance database of the test server.
func Admin(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	srv, err := shared.get(ctx)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return srv.admin
}

// withDatabase replaces the database in a connection string, URL or key=value.
func withDatabase(dsn, name string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return dsn + " dbname=" + name // the last one wins
	}
	u.Path = "/" + name
	return u.String()
}
