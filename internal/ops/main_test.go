package ops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// world is the whole service but its doors, on a database of its own.
type world struct {
	t     *testing.T
	pool  *pgxpool.Pool
	store *coord.Store
	hub   *dispatch.Hub
	cat   *op.Catalogue
	pipe  *op.Pipeline
}

var (
	anyone = ident.Principal{Name: "key:any", Scopes: []ident.Scope{ident.Read, ident.Write}}
	admin  = ident.Principal{Name: "key:admin", Scopes: []ident.Scope{ident.Admin}}
)

// catalogue has the declarations only.
func catalogue() *op.Catalogue { return ops.Catalogue(ops.Deps{}) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pool: pgtest.New(t, pgtest.MaxConns(6))}
	w.store, w.hub = coord.New(w.pool), dispatch.New(nil)
	w.store.WakeTo(w.hub)
	w.cat = ops.Catalogue(ops.Deps{Store: w.store, Hub: w.hub})
	w.pipe = &op.Pipeline{Resolver: w.store, Once: w.store, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	return w
}

// req is a call in project demo; an empty session is the agent's implicit one.
func (w *world) req(p ident.Principal, agent, session string, args map[string]any) op.Request {
	return op.Request{Principal: p, Claim: ident.Claim{Agent: agent, Session: session, Project: "demo"}, Args: args, Door: "http"}
}

// do calls an operation as agent in session (empty: the implicit one) and decodes the answer.
func do[Out any](w *world, p ident.Principal, agent, session, name string, args map[string]any) (Out, error) {
	w.t.Helper()
	return send[Out](w, name, w.req(p, agent, session, args))
}

func send[Out any](w *world, name string, r op.Request) (Out, error) {
	w.t.Helper()
	var out Out
	d := w.cat.Get(name)
	if d == nil {
		w.t.Fatalf("no operation %s", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	res, err := w.pipe.Call(ctx, d, r)
	if err != nil {
		return out, err
	}
	raw, err := json.Marshal(res.Body)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	return out, nil
}

// must is do for calls that have to succeed.
func must[Out any](w *world, p ident.Principal, agent, session, name string, args map[string]any) Out {
	w.t.Helper()
	out, err := do[Out](w, p, agent, session, name, args)
	if err != nil {
		w.t.Fatalf("%s as %s: %v", name, agent, err)
	}
	return out
}

// refused checks that err is a fault of that code and returns it.
func (w *world) refused(err error, code client.Code) *fault.Error {
	w.t.Helper()
	if !fault.Is(err, code) {
		w.t.Fatalf("got %v, want %s", err, code)
	}
	return fault.From(err)
}

// scan reads one value.
func scan[T any](w *world, sql string, args ...any) T {
	w.t.Helper()
	var v T
	if err := w.pool.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.pool.Exec(context.Background(), sql, args...); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// later moves the database's clock to now + d.
func (w *world) later(d time.Duration) {
	w.t.Helper()
	w.exec(fmt.Sprintf(`create or replace function coord.now() returns timestamptz language sql volatile parallel safe
		as $$ select pg_catalog.clock_timestamp() + interval '%f seconds' $$`, d.Seconds()))
}

// sweep sweeps once and checks how many sessions lapsed.
func (w *world) sweep(lapsed int) {
	w.t.Helper()
	swept, err := w.store.Sweep(context.Background())
	if err != nil || swept.SessionsLapsed != lapsed {
		w.t.Fatalf("%+v, %v; want %d lapsed", swept, err, lapsed)
	}
}

// notices takes what waits for an agent's session, opening it if need be.
func (w *world) notices(agent, session string) []client.Notice {
	w.t.Helper()
	ctx := context.Background()
	c, err := w.store.Resolve(ctx, anyone, ident.Claim{Agent: agent, Session: session, Project: "demo"}, true)
	if err != nil {
		w.t.Fatal(err)
	}
	n, err := w.store.TakeNotices(ctx, c, 50)
	if err != nil {
		w.t.Fatal(err)
	}
	return n.Notices
}

// audited counts audit rows of an operation.
func (w *world) audited(operation string, success bool) int {
	w.t.Helper()
	return scan[int](w, `select count(*) from coord.audit_log where operation = $1 and success = $2`, operation, success)
}
