// Package backup saves everything the coordinator holds into one file and brings it back, with nothing but a connection:
// the embedded Postgres may have no pg_dump. The file is a tar of COPY data, compressed, with a manifest in front.
//
// Promise: what Write saves is one moment's state. Read changes nothing unless it can bring back all of it: it runs in one
// transaction and checks first. A backup of an older schema goes into a newer one; a newer one into an older is refused.
package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
)

// Manifest says what a backup holds.
type Manifest struct {
	Format    int        `json:"format"` // 1
	Schema    uint64     `json:"schema"` // version of the migrations
	CreatedAt time.Time  `json:"created_at"`
	Server    string     `json:"server"` // version of Postgres
	Tables    []Table    `json:"tables"`
	Sequences []Sequence `json:"sequences"`
}

// Table is one table's content. Columns are those that were saved, in order.
type Table struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
}

// Sequence is where a sequence stands.
type Sequence struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Value  int64  `json:"value"`
	Called bool   `json:"called"`
}

func (t Table) id() pgx.Identifier { return pgx.Identifier{t.Schema, t.Name} }
func (t Table) file() string       { return t.Schema + "." + t.Name + ".copy" }

const manifestFile = "manifest.json"

// ErrNewer means that a backup is of a newer schema than this program knows.
var ErrNewer = errors.New("the backup is of a newer schema than this program: install a newer one first")

// Write saves the database at dsn, which must be of this program's schema or older, and returns what it saved.
func Write(ctx context.Context, dsn string, w io.Writer) (Manifest, error) {
	status, err := migrate.ReadStatus(ctx, dsn, migrate.Options{})
	if err != nil {
		return Manifest{}, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	m, err := describe(ctx, tx)
	if err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	m.Format, m.Schema, m.CreatedAt = 1, status.Version, time.Now().UTC()
	// A tar says each member's size before its content, and the manifest the rows: so the contents come to the disk first.
	scratch, err := os.CreateTemp("", "coord-backup-")
	if err != nil {
		return m, err
	}
	defer (&spool{file: scratch}).close()
	ends := make([]int64, len(m.Tables))
	for i, t := range m.Tables {
		tag, err := tx.Conn().PgConn().CopyTo(ctx, scratch, "copy "+t.id().Sanitize()+" ("+columns(t.Columns)+") to stdout")
		if err != nil {
			return m, fmt.Errorf("backup of %s: %w", t.id().Sanitize(), err)
		}
		m.Tables[i].Rows = tag.RowsAffected()
		if ends[i], err = scratch.Seek(0, io.SeekCurrent); err != nil {
			return m, err
		}
	}
	return m, pack(w, m, scratch, ends)
}

// describe lists tables and sequences. Unlogged tables are empty after a crash in any case and stay out.
func describe(ctx context.Context, tx pgx.Tx) (m Manifest, err error) {
	if err := tx.QueryRow(ctx, `select pg_catalog.current_setting('server_version')`).Scan(&m.Server); err != nil {
		return m, err
	}
	rows, _ := tx.Query(ctx, `select n.nspname, c.relname, array(select a.attname::text from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0
			and not a.attisdropped and a.attgenerated = '' order by a.attnum), 0::bigint
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname in ('public', 'coord') order by 1, 2`)
	if m.Tables, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Table]); err != nil {
		return m, err
	}
	rows, _ = tx.Query(ctx, `select schemaname::text, sequencename::text, coalesce(last_value, start_value), last_value is not null
		from pg_catalog.pg_sequences where schemaname in ('public', 'coord') order by 1, 2`)
	m.Sequences, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Sequence])
	return m, err
}

func pack(w io.Writer, m Manifest, content io.ReadSeeker, ends []int64) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	head, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	member := func(name string, size int64, from io.Reader) error {
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: m.CreatedAt, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err := io.CopyN(out, from, size)
		return err
	}
	if err := member(manifestFile, int64(len(head)), newReader(head)); err != nil {
		return err
	}
	begin := int64(0)
	for i, t := range m.Tables {
		if err := member(t.file(), ends[i]-begin, content); err != nil {
			return err
		}
		begin = ends[i]
	}
	return errors.Join(out.Close(), zip.Close())
}

func columns(names []string) string {
	var out string
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += pgx.Identifier{n}.Sanitize()
	}
	return out
}

// inOrder sorts tables so that what others refer to comes first. references are pairs of names, "a refers to b".
func inOrder(tables []Table, references [][2]string) ([]Table, error) {
	needs := map[string][]string{}
	for _, r := range references {
		if r[0] != r[1] {
			needs[r[0]] = append(needs[r[0]], r[1])
		}
	}
	var out []Table
	done, under := map[string]bool{}, map[string]bool{}
	var visit func(t Table) error
	visit = func(t Table) error {
		name := t.Schema + "." + t.Name
		switch {
		case done[name]:
			return nil
		case under[name]:
			return fmt.Errorf("%s refers to itself in a circle", name)
		}
		under[name] = true
		for _, n := range needs[name] {
			if i := slices.IndexFunc(tables, func(t Table) bool { return t.Schema+"."+t.Name == n }); i >= 0 {
				if err := visit(tables[i]); err != nil {
					return err
				}
			}
		}
		done[name] = true
		out = append(out, t)
		return nil
	}
	for _, t := range tables {
		if err := visit(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}
