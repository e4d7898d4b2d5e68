package embedpg

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Server is one process's hold on the running server. Its methods may be called from any goroutine.
type Server struct {
	l        layout
	e        endpoint
	password string

	mu    sync.Mutex
	users *fileLock
}

// DSN is the connection string of database dbname as superuser, over the Unix socket where there is one.
// It holds the password: do not log it.
func (s *Server) DSN(dbname string) string { return s.e.dsn(s.password, dbname, false) }

// AdminDSN is DSN of the maintenance database.
func (s *Server) AdminDSN() string { return s.DSN(superuser) }

// LoopbackDSN is DSN over 127.0.0.1, for programs that cannot use the socket.
func (s *Server) LoopbackDSN(dbname string) string { return s.e.dsn(s.password, dbname, true) }

// Info tells where the server is, as it was when this process joined it.
func (s *Server) Info() Info { return infoOf(s.l, s.e, true) }

// Alive connects and makes sure that our server answers; ErrNotAlive otherwise. It waits up to a minute
// while the server recovers from a crash: bound it by ctx.
func (s *Server) Alive(ctx context.Context) error {
	return probe(ctx, s.e, s.password, s.l.data())
}

// EnsureDatabase creates the database name unless it exists; any number of processes may do so at once.
func (s *Server) EnsureDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.AdminDSN())
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	var exists bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_catalog.pg_database where datname = $1)", name).Scan(&exists); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	if exists {
		return nil
	}
	_, err = conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize())
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && (pgErr.Code == pgerrcode.DuplicateDatabase || pgErr.Code == pgerrcode.UniqueViolation) {
		return nil // another process was quicker
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// Close gives up this process's use. The server is stopped by its watcher once the grace period has
// passed without any user. Closing again does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		return nil
	}
	s.users.touch()
	s.users.release()
	s.users = nil
	return nil
}
