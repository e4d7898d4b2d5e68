// Package coord is the data layer: one thin typed method per SQL function, a file per noun. It is the only room that
// knows SQL. Methods return client structs or *fault.Error; a lost race is a result, never an error. An outage is
// always client.CodeUnavailable: no method answers "nothing" when it cannot tell.
package coord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pooler"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

// Store calls the coordinator's SQL functions through a pool.
type Store struct {
	pool   *pgxpool.Pool
	reads  rowReads
	lanes  lanesSeen
	cache  identCache
	waker  Waker
	claims claimCache
	orch   orchestration
	minds  minds
	takes  *batcher[oneKey, fastRow]
	frees  *batcher[oneKey, bool]
	asked  asked

	submits *batcher[submission, client.SubmittedWork]
	ends    *batcher[ending, ended]
	floors  floors
	routers routerCache
}

// Waker is told, after a change committed, which topics have news (see internal/dispatch). A topic may repeat: each
// mention wakes one waiter.
type Waker interface{ Wake(topics []string) }

// WakeTo sets who is told of changes; without it nobody waits in this process.
func (s *Store) WakeTo(w Waker) { s.waker = w }

// New returns a store over pool, which it does not own.
func New(pool *pgxpool.Pool) *Store {
	s := &Store{pool: pool, cache: newIdentCache()}
	s.takes, s.frees = newTakes(s), newFrees(s)
	s.submits, s.ends = newSubmits(s), newEnds(s)
	return s
}

// Open connects a pool with the settings every process uses. maxConns ≤ 0 takes 12. A transaction pooler in between
// (see package pooler) switches to descriptions cached per connection instead of named statements.
func Open(ctx context.Context, dsn string, maxConns int32) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	if maxConns <= 0 {
		maxConns = 12
	}
	cfg.MaxConns = maxConns
	cfg.MaxConnIdleTime = time.Minute // dozens of agents share one server: what a burst opened goes back soon
	cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	if pooler.Between(cfg.ConnConfig) {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	} else {
		cfg.ConnConfig.RuntimeParams["application_name"] = "agent-coordinator"
		cfg.ConnConfig.RuntimeParams["statement_timeout"] = "15000"
		// Our transactions never wait for a person: one that idles belongs to a process that was stopped in the middle,
		// and what it holds is in everybody's way.
		cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "10000"
	}
	if trace.Enabled() {
		cfg.ConnConfig.Tracer = newSQLSpans()
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	return pool, nil
}

// Pool returns the pool, for the notification listener and the tests.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

type txKey struct{}

// unit is the transaction a context carries, with the wake-ups owed once it commits.
type unit struct {
	pgx.Tx
	wake []string
	back []string // of them, those of lanes that something may have come back to
}

// wake is tell for changes that may have put something back into a lane, below what else it holds.
func (s *Store) wake(ctx context.Context, topics []string) {
	s.floors.heard(topics)
	if u, ok := ctx.Value(txKey{}).(*unit); ok {
		u.back = append(u.back, topics...) // a claim before the commit may have looked once more
	}
	s.tell(ctx, topics)
}

// tell tells the waker, at once or, inside InTx, after the commit.
func (s *Store) tell(ctx context.Context, topics []string) {
	if len(topics) == 0 || s.waker == nil {
		return
	}
	if u, ok := ctx.Value(txKey{}).(*unit); ok {
		u.wake = append(u.wake, topics...)
		return
	}
	s.waker.Wake(topics)
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// q is the transaction that the context carries, else the pool.
func (s *Store) q(ctx context.Context) querier {
	if tx, ok := ctx.Value(txKey{}).(*unit); ok {
		return tx
	}
	return s.pool
}

// InTx runs fn in one transaction; store methods called with fn's context take part in it. It commits when fn
// returns nil. A nested call joins the outer transaction.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if _, ok := ctx.Value(txKey{}).(*unit); ok {
		return fn(ctx)
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return mapErr(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	u := &unit{Tx: tx}
	if err := fn(context.WithValue(ctx, txKey{}, u)); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return mapErr(err)
	}
	s.floors.heard(u.back)
	s.tell(ctx, u.wake)
	return nil
}

// reply runs a query that answers one jsonb value and decodes it into T. SQL null leaves T's zero value.
func reply[T any](ctx context.Context, s *Store, sql string, args ...any) (T, error) {
	var out T
	raw, err := one[[]byte](ctx, s, sql, args...)
	if err != nil || raw == nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("decode reply of %.40q: %w", sql, err)
	}
	return out, nil
}

// act is reply for a changing function: the topics in the reply's member wake go to the waker once the change is
// committed.
func act[T any](ctx context.Context, s *Store, sql string, args ...any) (T, error) {
	raw, err := one[[]byte](ctx, s, sql, args...)
	if err != nil || raw == nil {
		var none T
		return none, err
	}
	return heard[T](ctx, s, sql, raw)
}

// heard takes the reply of a changing function: see act.
func heard[T any](ctx context.Context, s *Store, sql string, raw []byte) (T, error) {
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("decode reply of %.40q: %w", sql, err)
	}
	if !bytes.Contains(raw, wakeMember) { // most changes wake nobody: one reading is enough
		return out, nil
	}
	var news struct {
		Wake []string `json:"wake"`
	}
	if err := json.Unmarshal(raw, &news); err != nil {
		return out, fmt.Errorf("decode reply of %.40q: %w", sql, err)
	}
	s.wake(ctx, news.Wake)
	return out, nil
}

var wakeMember = []byte(`"wake"`)

// one runs a query that answers exactly one column of exactly one row. The row is only trusted once the statement
// ended: a function's row arrives before its commit.
func one[T any](ctx context.Context, s *Store, sql string, args ...any) (T, error) {
	var zero T
	rows, err := s.q(ctx).Query(ctx, sql, args...)
	if err != nil {
		return zero, mapErr(err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	return v, mapErr(err)
}

// list runs a query and maps each row by column name onto T.
func list[T any](ctx context.Context, s *Store, sql string, args ...any) ([]T, error) {
	rows, err := s.q(ctx).Query(ctx, sql, args...)
	if err != nil {
		return nil, mapErr(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	return out, mapErr(err)
}

// exec runs a query for its effect.
func exec(ctx context.Context, s *Store, sql string, args ...any) error {
	rows, err := s.q(ctx).Query(ctx, sql, args...)
	if err != nil {
		return mapErr(err)
	}
	rows.Close()
	return mapErr(rows.Err())
}

// Once implements op.Once: see there.
func (s *Store) Once(ctx context.Context, c ident.Caller, operation string, hash []byte,
	run func(ctx context.Context) (json.RawMessage, error),
) (out json.RawMessage, replayed bool, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		who := c.Agent
		if who == "" {
			who = c.By
		}
		out, err = one[[]byte](ctx, s, `select coord.once_begin($1, $2, $3, $4, $5)`, c.ProjectID, who, operation, c.RequestKey, hash)
		if err != nil {
			return err
		}
		if out != nil {
			replayed = true
			return nil
		}
		if out, err = run(ctx); err != nil {
			return err
		}
		return exec(ctx, s, `select coord.once_end($1, $2, $3, $4, $5)`, c.ProjectID, who, operation, c.RequestKey, []byte(out))
	})
	return out, replayed, err
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return mapErr(err)
	}
	return nil
}

var errNoRows = errors.New("no row")
