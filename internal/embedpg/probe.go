package embedpg

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	probeTimeout   = 3 * time.Second
	startupTimeout = 60 * time.Second // crash recovery after a power cut replays up to max_wal_size
)

// probe asks whether the server at e is the one of dataDir. It returns nil when it is, and waits while
// that server is starting up.
func probe(ctx context.Context, e endpoint, password, dataDir string) error {
	deadline := time.Now().Add(startupTimeout)
	for {
		err := probeOnce(ctx, e, password, dataDir)
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) {
			return err
		}
		switch pgErr.Code {
		case pgerrcode.TooManyConnections:
			// It lives, and refuses us for want of a slot: its own pid file says whose it is.
			if pm, ok := readPostmasterPID(dataDir); ok && pm.port == e.Port && postmasterRuns(pm.pid, dataDir) {
				return nil
			}
			return err
		case pgerrcode.CannotConnectNow:
			if time.Now().After(deadline) {
				return err
			}
			if perr := loop.Pause(ctx, 50*time.Millisecond); perr != nil {
				return fmt.Errorf("%w: %w", ErrNotAlive, perr)
			}
		default:
			return err
		}
	}
}

func probeOnce(ctx context.Context, e endpoint, password, dataDir string) error {
	if e.Port == 0 {
		return fmt.Errorf("%w: never started", ErrNotAlive)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, e.dsn(password, superuser, false))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotAlive, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	var dir string
	// Another server may have taken the port since.
	if err := conn.QueryRow(ctx, "show data_directory").Scan(&dir); err != nil {
		return fmt.Errorf("%w: %w", ErrNotAlive, err)
	}
	if !samePath(dir, dataDir) {
		return fmt.Errorf("%w: port %d serves %s", ErrNotAlive, e.Port, dir)
	}
	return nil
}

func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	ra, err1 := filepath.EvalSymlinks(a)
	rb, err2 := filepath.EvalSymlinks(b)
	return err1 == nil && err2 == nil && ra == rb
}
