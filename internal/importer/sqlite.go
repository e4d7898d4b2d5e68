package importer

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// openSQLite opens a database that its tool may be using: for reading, and waiting for writers. Error: ErrNotThis when the
// file is no SQLite database or lacks one of the tables.
func openSQLite(ctx context.Context, path string, tables ...string) (*sql.DB, error) {
	if st, err := os.Stat(path); err != nil || st.IsDir() {
		return nil, fmt.Errorf("%w: there is no database %s", ErrNotThis, path)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(full), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	for _, t := range tables {
		have, err := hasTable(ctx, db, t)
		if err == nil && !have {
			err = fmt.Errorf("%w: %s has no table %s", ErrNotThis, path, t)
		}
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

func hasTable(ctx context.Context, db *sql.DB, name string) (bool, error) {
	var n int
	if err := db.QueryRowContext(ctx, `select count(*) from sqlite_master where type = 'table' and name = ?`, name).Scan(&n); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotThis, err)
	}
	return n > 0, nil
}

// row is one row by column name, so that columns which a version of the tool lacks are empty.
type row map[string]any

// text is a column as text: times and numbers as SQLite has them, blobs of 16 bytes as UUIDs.
func (r row) text(name string) string {
	switch v := r[name].(type) {
	case nil:
		return ""
	case string:
		return clean(v)
	case []byte:
		if len(v) == 16 {
			h := hex.EncodeToString(v)
			return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
		}
		return clean(string(v))
	case time.Time: // the driver reads columns that are declared as times
		return v.UTC().Format(time.RFC3339Nano)
	default:
		return fmt.Sprint(v)
	}
}

func (r row) yes(name string) bool {
	v := strings.ToLower(r.text(name))
	return v != "" && v != "0" && v != "false"
}

// rows reads a whole table, in the order of its rows.
func rows(ctx context.Context, db *sql.DB, query string, args ...any) ([]row, error) {
	res, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	defer res.Close() //nolint:errcheck // Err below tells
	names, err := res.Columns()
	if err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	var out []row
	for res.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := res.Scan(into...); err != nil {
			return nil, fmt.Errorf("read the database: %w", err)
		}
		r := row{}
		for i, n := range names {
			r[n] = values[i]
		}
		out = append(out, r)
	}
	if err := res.Err(); err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	return out, nil
}

// pick is the project that is meant: the one that from names (by any of its names), else the only one. Error: ErrWhichOne.
func pick(list []row, from string, names ...string) (row, error) {
	var all []string
	var found []row
	for _, p := range list {
		all = append(all, p.text(names[0]))
		for _, n := range names {
			if from != "" && p.text(n) == from {
				found = append(found, p)
				break
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case from == "" && len(list) == 1:
		return list[0], nil
	case len(list) == 0:
		return nil, fmt.Errorf("%w: it holds no project", ErrNotThis)
	case from == "":
		return nil, fmt.Errorf("%w; say which with --from: %s", ErrWhichOne, strings.Join(all, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("%w of the name %s; name one by its id", ErrWhichOne, from)
	}
	return nil, fmt.Errorf("%w, and none is %s; there are %s", ErrWhichOne, from, strings.Join(all, ", "))
}
