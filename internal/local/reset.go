package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
)

// ErrExternal means that the database is given by URL: it is its owner's to empty.
var ErrExternal = errors.New("the database is given by URL; only the embedded one can be reset")

// Kept says what a reset saved.
type Kept struct {
	Path    string `json:"path"`    // the dump, or the folder of the tables' contents
	Kind    string `json:"kind"`    // pg_dump or copy
	Bytes   int64  `json:"bytes"`   //
	Restore string `json:"restore"` // how to get it back
}

// Reset saves the embedded database into BackupDir, then replaces it by an empty one of the current schema. The
// installation must be down. Nothing is removed before the backup is complete.
func (h Home) Reset(ctx context.Context, cfg config.Database, progress func(string)) (Kept, error) {
	if cfg.URL() != "" {
		return Kept{}, ErrExternal
	}
	if err := h.Make(); err != nil {
		return Kept{}, err
	}
	server, err := embedpg.Start(ctx, embedpg.Options{Progress: progress})
	if err != nil {
		return Kept{}, err
	}
	defer server.Close() //nolint:errcheck // the server stops by itself
	if err := server.EnsureDatabase(ctx, DatabaseName); err != nil {
		return Kept{}, err
	}
	kept, err := h.backup(ctx, server, progress)
	if err != nil {
		return kept, fmt.Errorf("backup, nothing was removed: %w", err)
	}
	progress("saved " + kept.Path)
	if err := replaceDatabase(ctx, server); err != nil {
		return kept, err
	}
	if _, err := migrate.Up(ctx, server.DSN(DatabaseName), migrate.Options{}); err != nil {
		return kept, fmt.Errorf("migrate: %w", err)
	}
	if err := os.Remove(h.keyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kept, fmt.Errorf("remove the old key: %w", err)
	}
	return kept, nil
}

func replaceDatabase(ctx context.Context, server *embedpg.Server) error {
	conn, err := pgx.Connect(ctx, server.AdminDSN())
	if err != nil {
		return fmt.Errorf("replace the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	name := pgx.Identifier{DatabaseName}.Sanitize()
	for _, sql := range []string{"drop database " + name + " with (force)", "create database " + name} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("replace the database: %w", err)
		}
	}
	return nil
}

func (h Home) backup(ctx context.Context, server *embedpg.Server, progress func(string)) (Kept, error) {
	if err := os.MkdirAll(h.BackupDir(), 0o700); err != nil {
		return Kept{}, err
	}
	base := filepath.Join(h.BackupDir(), DatabaseName+"-"+time.Now().UTC().Format("20060102T150405.000Z"))
	dump := filepath.Join(server.Info().Binaries, "pg_dump")
	if runtime.GOOS == "windows" {
		dump += ".exe"
	}
	if _, err := os.Stat(dump); err == nil {
		progress("saving the database with pg_dump")
		return dumpTo(ctx, dump, server.LoopbackDSN(DatabaseName), base+".dump")
	}
	progress("saving the tables' contents (this Postgres has no pg_dump)")
	return copyTo(ctx, server.DSN(DatabaseName), base)
}

func dumpTo(ctx context.Context, program, dsn, path string) (Kept, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return Kept{}, err
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return Kept{}, errors.Join(err, f.Close())
	}
	cmd := exec.CommandContext(ctx, program, "--format=custom", "--no-password", "-h", cfg.Host, "-p", fmt.Sprint(cfg.Port), "-U", cfg.User, cfg.Database)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+cfg.Password) // not on the command line, where others read it
	cmd.Stdout = f
	var said tailBuffer
	cmd.Stderr = &said
	if err := errors.Join(cmd.Run(), f.Sync(), f.Close()); err != nil {
		return Kept{}, fmt.Errorf("pg_dump: %w: %s", err, said)
	}
	st, err := os.Stat(path)
	if err != nil {
		return Kept{}, err
	}
	return Kept{
		Path: path, Kind: "pg_dump", Bytes: st.Size(),
		Restore: "pg_restore --clean --if-exists -d \"$(jq -r .database_url " + filepath.Join(filepath.Dir(filepath.Dir(path)), "up.json") + ")\" " + path,
	}, nil
}

// tailBuffer keeps what a short-lived program says on stderr.
type tailBuffer []byte

func (b *tailBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), max(0, 4096-len(*b)))]...)
	return len(p), nil
}

func (b tailBuffer) String() string { return string(b) }

// copyTo writes every table's rows into a file of its own, in one snapshot.
func copyTo(ctx context.Context, dsn, dir string) (Kept, error) {
	kept := Kept{Path: dir, Kind: "copy", Restore: `for each file: \copy <schema.table> from '<file>' into a migrated, empty database`}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return kept, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return kept, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return kept, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	rows, err := tx.Query(ctx, `select n.nspname, c.relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and n.nspname in ('public', 'coord') order by 1, 2`)
	if err != nil {
		return kept, err
	}
	tables, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (id pgx.Identifier, err error) {
		id = make(pgx.Identifier, 2)
		return id, row.Scan(&id[0], &id[1])
	})
	if err != nil {
		return kept, err
	}
	for _, t := range tables {
		n, err := copyTable(ctx, tx.Conn(), t, filepath.Join(dir, t[0]+"."+t[1]+".copy"))
		if err != nil {
			return kept, fmt.Errorf("%s.%s: %w", t[0], t[1], err)
		}
		kept.Bytes += n
	}
	return kept, nil
}

func copyTable(ctx context.Context, conn *pgx.Conn, table pgx.Identifier, path string) (int64, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = conn.PgConn().CopyTo(ctx, f, "copy "+table.Sanitize()+" to stdout")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}
