package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
)

func newReader(b []byte) io.Reader { return bytes.NewReader(b) }

// ErrInUse means that other programs of ours work on the database that was to be replaced.
var ErrInUse = errors.New("the coordinator's programs are connected to this database: stop them first")

// ErrNotEmpty means that the database holds agents, tasks or keys, and nobody said that they may go.
var ErrNotEmpty = errors.New("the database is not empty")

// ErrNoBackup means that the file is none of ours, or broken.
var ErrNoBackup = errors.New("this is no backup of the coordinator")

// Read brings a backup back into the database at dsn, a session connection, which it migrates first. A database that is
// in use is refused, and one that is not empty, unless replace is set. All of it is back when Read returns nil; else the
// rows are as they were.
func Read(ctx context.Context, dsn string, from io.Reader, replace bool) (Manifest, error) {
	m, content, err := unpack(from)
	if err != nil {
		return m, err
	}
	defer content.close()
	status, err := migrate.ReadStatus(ctx, dsn, migrate.Options{})
	switch {
	case err != nil:
		return m, err
	case m.Schema > status.Latest:
		return m, fmt.Errorf("%w (it has %d, this program %d)", ErrNewer, m.Schema, status.Latest)
	}
	if _, err := migrate.Up(ctx, dsn, migrate.Options{}); err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it was committed, or is undone
	tx, err := conn.Begin(ctx)
	if err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // a no-op after the commit
	if err := mayReplace(ctx, tx, replace); err != nil {
		return m, err
	}
	if err := fill(ctx, tx, m, content); err != nil {
		return m, fmt.Errorf("restore, nothing was changed: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return m, fmt.Errorf("restore, nothing was changed: %w", err)
	}
	return m, nil
}

func mayReplace(ctx context.Context, tx pgx.Tx, replace bool) error {
	var busy, full bool
	if err := tx.QueryRow(ctx, `select exists (select from pg_catalog.pg_stat_activity where datname = pg_catalog.current_database() and application_name = 'agent-coordinator'),
		exists (select from public.agents) or exists (select from public.work_queue) or exists (select from coord.api_keys)`).Scan(&busy, &full); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	switch {
	case busy:
		return ErrInUse
	case full && !replace:
		return ErrNotEmpty
	}
	return nil
}

// fill empties the tables of the backup and puts its rows there, what others refer to first.
func fill(ctx context.Context, tx pgx.Tx, m Manifest, content *spool) error {
	rows, _ := tx.Query(ctx, `select format('%s.%s', n.nspname, c.relname), format('%s.%s', f.nspname, r.relname) from pg_catalog.pg_constraint k
		join pg_catalog.pg_class c on c.oid = k.conrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		join pg_catalog.pg_class r on r.oid = k.confrelid join pg_catalog.pg_namespace f on f.oid = r.relnamespace where k.contype = 'f'`)
	references, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (pair [2]string, err error) { return pair, row.Scan(&pair[0], &pair[1]) })
	if err != nil {
		return err
	}
	tables, err := inOrder(m.Tables, references)
	if err != nil {
		return err
	}
	names := ""
	for i, t := range tables {
		if i > 0 {
			names += ", "
		}
		names += t.id().Sanitize()
		// The audit lets nobody remove rows, and triggers have done their work when the rows were first written.
		if _, err := tx.Exec(ctx, "alter table "+t.id().Sanitize()+" disable trigger user"); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, "truncate "+names+" cascade"); err != nil {
		return err
	}
	for _, t := range tables {
		part, err := content.part(t)
		if err != nil {
			return err
		}
		tag, err := tx.Conn().PgConn().CopyFrom(ctx, part, "copy "+t.id().Sanitize()+" ("+columns(t.Columns)+") from stdin")
		if err != nil {
			return fmt.Errorf("%s: %w", t.id().Sanitize(), err)
		}
		if tag.RowsAffected() != t.Rows {
			return fmt.Errorf("%w: %s has %d rows, the manifest says %d", ErrNoBackup, t.id().Sanitize(), tag.RowsAffected(), t.Rows)
		}
		if _, err := tx.Exec(ctx, "alter table "+t.id().Sanitize()+" enable trigger user"); err != nil {
			return err
		}
	}
	for _, s := range m.Sequences {
		if _, err := tx.Exec(ctx, `select pg_catalog.setval($1::regclass, $2, $3)`, pgx.Identifier{s.Schema, s.Name}.Sanitize(), s.Value, s.Called); err != nil {
			return err
		}
	}
	return nil
}

// spool is a backup's content on the disk: it is read whole before anything is changed.
type spool struct {
	file  *os.File
	parts map[string][2]int64 // offset and size
}

func (s *spool) close() {
	_ = s.file.Close()           // it was only read
	_ = os.Remove(s.file.Name()) // a scratch file
}

func (s *spool) part(t Table) (io.Reader, error) {
	p, ok := s.parts[t.file()]
	if !ok {
		return nil, fmt.Errorf("%w: %s is missing", ErrNoBackup, t.file())
	}
	return io.NewSectionReader(s.file, p[0], p[1]), nil
}

const maxManifest = 1 << 20 // bytes

func unpack(from io.Reader) (m Manifest, content *spool, err error) {
	zip, err := gzip.NewReader(from)
	if err != nil {
		return m, nil, fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	in := tar.NewReader(zip)
	head, err := in.Next()
	if err != nil || head.Name != manifestFile {
		return m, nil, errors.Join(ErrNoBackup, err)
	}
	if err := json.NewDecoder(io.LimitReader(in, maxManifest)).Decode(&m); err != nil || m.Format != 1 {
		return m, nil, errors.Join(fmt.Errorf("%w: format %d", ErrNoBackup, m.Format), err)
	}
	for _, t := range m.Tables { // names go into SQL, quoted; other schemas are none of ours
		if !slices.Contains([]string{"public", "coord"}, t.Schema) || len(t.Columns) == 0 {
			return m, nil, fmt.Errorf("%w: table %s.%s", ErrNoBackup, t.Schema, t.Name)
		}
	}
	file, err := os.CreateTemp("", "coord-restore-")
	if err != nil {
		return m, nil, err
	}
	content = &spool{file, map[string][2]int64{}}
	offset := int64(0)
	for {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			if _, err = io.Copy(io.Discard, zip); err == nil { // its checksum stands at the very end
				return m, content, nil
			}
		}
		if err == nil {
			_, err = io.Copy(file, in)
		}
		if err != nil {
			content.close()
			return m, nil, fmt.Errorf("%w: %w", ErrNoBackup, err)
		}
		content.parts[head.Name] = [2]int64{offset, head.Size}
		offset += head.Size
	}
}
