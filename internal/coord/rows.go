package coord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// RowReader reads rows of the views in schema public as a reader of one project: row level security holds. There are
// two: the one of this package, over the pool, and Supabase's Data API (internal/supa).
//
// ReadRows returns a JSON array, complete up to q.Limit. An outage is client.CodeUnavailable; any other error means that
// this reader cannot serve q.
type RowReader interface {
	ReadRows(ctx context.Context, q RowQuery) (json.RawMessage, error)
}

// RowQuery asks for rows of one project. Names are literals of this package, never input.
type RowQuery struct {
	View    string
	Columns []string
	Project ident.Caller // whose project is read
	Where   []RowFilter  // all hold; a column occurs once
	Order   []string     // columns, "-" in front: descending
	Limit   int          // most rows
}

// RowFilter compares a column. Op is eq, lt, gt, in (Value is []string) or cs (an array column holds Value, a string).
type RowFilter struct {
	Column, Op string
	Value      any
}

// ReadStats count reads of lists since the start.
type ReadStats struct {
	Postgres int64 // answered by the pool, row level security applied
	DataAPI  int64 // answered by the Data API
	Fallback int64 // of those by the pool: the Data API was asked, or known to be away, and could not answer
	Down     bool  // the Data API is away; it is asked again within dataAPIPause
	Bare     bool  // the database's user may not become a reader: the project's filter alone holds
}

const (
	dataAPITimeout = 2 * time.Second // leaves a call of five seconds time for the pool
	dataAPIPause   = 5 * time.Second // how long a Data API that failed is left alone
)

// rowReads says who reads lists. The zero value reads over the pool.
type rowReads struct {
	remote                      RowReader
	retryAt                     atomic.Int64 // Unix nanoseconds before which remote is not asked
	postgres, dataAPI, fallback atomic.Int64
	bare                        atomic.Bool
}

// ReadWith makes lists be read through r; when r cannot answer, the pool does. Call it before the store is used.
func (s *Store) ReadWith(r RowReader) { s.reads.remote = r }

// ReadStats returns the counters, for the metrics.
func (s *Store) ReadStats() ReadStats {
	r := &s.reads
	return ReadStats{r.postgres.Load(), r.dataAPI.Load(), r.fallback.Load(), time.Now().UnixNano() < r.retryAt.Load(), r.bare.Load()}
}

// readRows reads rows and decodes them.
func readRows[T any](ctx context.Context, s *Store, q RowQuery) ([]T, error) {
	raw, err := s.rows(ctx, q)
	if err != nil {
		return nil, err
	}
	out := []T{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("decode rows of %s: %w", q.View, err)
	}
	return out, nil
}

func (s *Store) rows(ctx context.Context, q RowQuery) (json.RawMessage, error) {
	r := &s.reads
	if _, inside := ctx.Value(txKey{}).(*unit); r.remote != nil && !inside { // what a transaction wrote only itself can see
		if time.Now().UnixNano() >= r.retryAt.Load() {
			ask, cancel := context.WithTimeout(ctx, dataAPITimeout)
			raw, err := r.remote.ReadRows(ask, q)
			cancel()
			if err == nil {
				r.dataAPI.Add(1)
				return raw, nil
			}
			if ctx.Err() != nil {
				return nil, err
			}
			if fault.Is(err, client.CodeUnavailable) {
				r.retryAt.Store(time.Now().Add(dataAPIPause).UnixNano())
			}
		}
		r.fallback.Add(1)
	}
	raw, err := s.poolRows(ctx, q)
	if err == nil {
		r.postgres.Add(1)
	}
	return raw, err
}

// poolRows reads as the role authenticated with the claims of a member of the project, in one round trip. A user that
// may not become that role reads as itself; the query names the project in any case.
func (s *Store) poolRows(ctx context.Context, q RowQuery) (json.RawMessage, error) {
	sql, args, err := rowSQL(q)
	if err != nil {
		return nil, err
	}
	if s.reads.bare.Load() {
		return one[[]byte](ctx, s, sql, args...)
	}
	// One message to the server is one transaction, so what is set for it ends with it; inside a transaction of the
	// caller's the role is put back by hand. The clock is read first: readers may not ask coord for it.
	b := &pgx.Batch{}
	b.Queue(`select set_config('coord.clock', coord.now()::text, true), set_config('request.jwt.claims', json_build_object('role', 'authenticated',
		'app_metadata', json_build_object('projects', array(select name from public.projects where id = $1)))::text, true),
		set_config('role', 'authenticated', true)`, q.Project.ProjectID)
	b.Queue(sql, args...)
	b.Queue(`select set_config('role', 'none', true), set_config('request.jwt.claims', '', true)`)
	var raw []byte
	err = s.batch(ctx, b, func(res pgx.BatchResults) error {
		if _, err := res.Exec(); err != nil {
			return err
		}
		return res.QueryRow().Scan(&raw)
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" && strings.Contains(pg.Message, "role") {
		s.reads.bare.Store(true)
		if _, inside := ctx.Value(txKey{}).(*unit); !inside {
			return one[[]byte](ctx, s, sql, args...)
		}
	}
	return raw, mapErr(err)
}

// batch sends b in one round trip and lets read take its results.
func (s *Store) batch(ctx context.Context, b *pgx.Batch, read func(pgx.BatchResults) error) error {
	sender := interface {
		SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	}(s.pool)
	if u, ok := ctx.Value(txKey{}).(*unit); ok {
		sender = u
	}
	res := sender.SendBatch(ctx, b)
	err := read(res)
	if closed := res.Close(); err == nil {
		err = closed
	}
	return err
}

// rowSQL is q as one statement that answers one json value.
func rowSQL(q RowQuery) (string, []any, error) {
	args := []any{q.Project.ProjectID}
	var b strings.Builder
	fmt.Fprintf(&b, "select coalesce(json_agg(r), '[]') from (select %s from public.%s where project_id = $1", strings.Join(q.Columns, ", "), q.View)
	for _, f := range q.Where {
		args = append(args, f.Value)
		form, ok := map[string]string{"eq": "%s = $%d", "lt": "%s < $%d", "gt": "%s > $%d", "in": "%s = any ($%d)", "cs": "%s @> array[$%d::text]"}[f.Op]
		if !ok {
			return "", nil, fmt.Errorf("no comparison %q", f.Op)
		}
		fmt.Fprintf(&b, " and "+form, f.Column, len(args))
	}
	order := make([]string, len(q.Order))
	for i, o := range q.Order {
		order[i] = o
		if name, desc := strings.CutPrefix(o, "-"); desc {
			order[i] = name + " desc"
		}
	}
	if len(order) > 0 {
		b.WriteString(" order by " + strings.Join(order, ", "))
	}
	args = append(args, q.Limit)
	fmt.Fprintf(&b, " limit $%d) r", len(args))
	return b.String(), args, nil
}
