package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// filePath is the path that a client of the given side locks; seatMark stands for its number.
func filePath(side string) string { return "src/" + side + seatMark + "/file.go" }

func (r *rig) duration() time.Duration { return time.Duration(r.o.seconds) * time.Second }

// pairSteps are the two requests with which client i locks and frees paths over HTTP.
func (r *rig) pairSteps(i int, paths ...string) []step {
	for j, p := range paths {
		paths[j] = `"` + strings.ReplaceAll(p, seatMark, fmt.Sprint(i)) + `"`
	}
	which := `"file_path": ` + paths[0]
	if len(paths) > 1 {
		which = `"file_paths": [` + strings.Join(paths, ", ") + `]`
	}
	agent := fmt.Sprintf("http-%d", i)
	return []step{
		{request("POST", "/locks/acquire", r.key, agent, `{`+which+`, "reason": "editing", "ttl_minutes": 30}`), []byte(`"success":true`)},
		{request("POST", "/locks/release", r.key, agent, `{`+which+`}`), []byte(`"success":true`)},
	}
}

// httpPairs measures pairs per second over HTTP.
func (r *rig) httpPairs(ctx context.Context, clients int, paths ...string) side {
	steps := make([][]step, clients)
	for i := range steps {
		steps[i] = r.pairSteps(i, append([]string(nil), paths...)...)
	}
	return func() (float64, error) {
		rate, _, err := httpLoad(ctx, r.api.addr, r.duration(), steps)
		return rate, err
	}
}

// sqlPairs measures the same by pgbench.
func (r *rig) sqlPairs(ctx context.Context, name string, clients int, paths ...string) (side, error) {
	k, err := r.keys(paths...)
	if err != nil {
		return nil, err
	}
	return func() (float64, error) { return r.pgbench(ctx, r.dsn, name, k.pairScript(r), clients) }, nil
}

func (r *rig) lockPairs(ctx context.Context, goal string, clients int) ([]Result, error) {
	sql, err := r.sqlPairs(ctx, "pairs", clients, filePath("sql"))
	if err != nil {
		return nil, err
	}
	p, err := r.alternate(r.httpPairs(ctx, clients, filePath("http")), sql)
	if err != nil {
		return nil, err
	}
	res := compare(goal, fmt.Sprintf("lock pairs, %d clients", clients), p, "HTTP", "pgbench", "pairs/s")
	if clients > 16 {
		return []Result{res.atLeast(0.9, 1.5)}, nil
	}
	return []Result{res.atLeast(0.6, 0.95)}, nil
}

// lockLatency compares the median time of a pair over HTTP with one over a bare connection.
func (r *rig) lockLatency(ctx context.Context) ([]Result, error) {
	k, err := r.keys(strings.ReplaceAll(filePath("sql"), seatMark, "0"))
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, r.dsn)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	args := k.oneArgs(r, r.seats.First)
	raw := func() (float64, error) {
		_, p50, err := drive(ctx, r.duration()/2, 1, func(ctx context.Context, _ int) error {
			if _, err := conn.Exec(ctx, takeOneSQL, args...); err != nil {
				return err
			}
			var freed bool
			err := conn.QueryRow(ctx, freeOneSQL, args...).Scan(&freed)
			if err == nil && !freed {
				err = errRefused
			}
			return err
		})
		return float64(p50.Microseconds()) / 1000, err
	}
	steps := [][]step{r.pairSteps(0, filePath("http"))}
	overHTTP := func() (float64, error) {
		_, p50, err := httpLoad(ctx, r.api.addr, r.duration()/2, steps)
		return float64(p50.Microseconds()) / 1000, err
	}
	p, err := r.alternate(overHTTP, raw)
	if err != nil {
		return nil, err
	}
	return []Result{compare("G3", "lock pair, 1 client, p50", p, "HTTP", "raw pgx", "ms").atMost(2.5, 1.5)}, nil
}

// refusals measures acquires of a path that another session holds, beside the cheapest statement there is: by the look
// that the API sends for a path it was refused lately, and by the call that it sends for any other.
func (r *rig) refusals(ctx context.Context) ([]Result, error) {
	k, err := r.keys(heldPath)
	if err != nil {
		return nil, err
	}
	again := func() (float64, error) { return r.pgbench(ctx, r.dsn, "refused", r.seatScript()+k.holderScript(r), 16) }
	first := func() (float64, error) {
		return r.pgbench(ctx, r.dsn, "refused1", r.seatScript()+k.acquireScript(r), 16)
	}
	select1 := func() (float64, error) { return r.pgbench(ctx, r.dsn, "select1", "select 1;\n", 16) }
	p, err := r.alternate(again, select1)
	if err != nil {
		return nil, err
	}
	f, err := r.alternate(first, select1)
	if err != nil {
		return nil, err
	}
	wal, xids, err := r.traces(ctx, k, tracedRefusals)
	if err != nil {
		return nil, err
	}
	steps := make([][]step, 16)
	for i := range steps {
		steps[i] = []step{{request("POST", "/locks/acquire", r.key, fmt.Sprintf("http-%d", i), `{"file_path": "`+heldPath+`"}`), []byte(`"success":false`)}}
	}
	h, err := r.alternate(
		func() (float64, error) {
			rate, _, err := httpLoad(ctx, r.api.addr, r.duration(), steps)
			return rate, err
		}, again)
	if err != nil {
		return nil, err
	}
	trace := func(what string, n float64) Result {
		return Result{Goal: "G4", What: what, Value: n, Unit: fmt.Sprintf("in %d", 2*tracedRefusals)}.atMost(0, 0)
	}
	return []Result{
		compare("G4", "refused acquires, 16 clients", p, "refused", "select 1", "/s").atLeast(0.35, 0.7).with("both by pgbench"),
		compare("G4", "first refusals of a path, 16 clients", f, "refused", "select 1", "/s").with("both by pgbench"),
		trace("WAL bytes of refusals", wal), trace("transaction ids of refusals", xids),
		compare("G4", "refused acquires over HTTP, 16 clients", h, "HTTP", "pgbench", "/s"),
	}, nil
}

const tracedRefusals = 500

// traces counts what n first refusals and n more leave behind: bytes of WAL and transaction ids. Both counters are the
// whole server's, so the quietest of five tries counts.
func (r *rig) traces(ctx context.Context, k lockKeys, n int) (wal, xids float64, err error) {
	const counters = `select (pg_current_wal_insert_lsn() - '0/0')::float8, pg_snapshot_xmax(pg_current_snapshot())::text::float8`
	for try := range 5 {
		var lsn, xid [2]float64
		if err := r.pool.QueryRow(ctx, counters).Scan(&lsn[0], &xid[0]); err != nil {
			return 0, 0, err
		}
		for range n {
			var outcome, holder string
			if err := r.pool.QueryRow(ctx, "select outcome from ("+takeOneSQL+") x", k.oneArgs(r, r.seats.First)...).Scan(&outcome); err != nil {
				return 0, 0, err
			}
			if err := r.pool.QueryRow(ctx, "select locked_by from ("+holderSQL+") x", k.holderArgs(r, r.seats.First)...).Scan(&holder); err != nil {
				return 0, 0, err
			}
			if outcome != "held" || holder != "refuser" {
				return 0, 0, fmt.Errorf("%w: %s by %s", errRefused, outcome, holder)
			}
		}
		if err := r.pool.QueryRow(ctx, counters).Scan(&lsn[1], &xid[1]); err != nil {
			return 0, 0, err
		}
		if d := lsn[1] - lsn[0]; try == 0 || d < wal {
			wal = d
		}
		if d := xid[1] - xid[0]; try == 0 || d < xids {
			xids = d
		}
		if wal == 0 && xids == 0 {
			break
		}
	}
	return wal, xids, nil
}

// manyKeys compares keys per second of one call for 20 keys with one call per key.
func (r *rig) manyKeys(ctx context.Context) ([]Result, error) {
	const n = 20
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("src/many%s/file%d.go", seatMark, i)
	}
	many, err := r.sqlPairs(ctx, "many", 16, paths...)
	if err != nil {
		return nil, err
	}
	single, err := r.sqlPairs(ctx, "pairs", 16, filePath("sql"))
	if err != nil {
		return nil, err
	}
	p, err := r.alternate(func() (float64, error) { rate, err := many(); return rate * n, err }, single)
	if err != nil {
		return nil, err
	}
	return []Result{compare("G5", "20 keys per call, 16 clients", p, "20 at once", "one by one", "keys/s").
		atLeast(6, 12).with("both by pgbench")}, nil
}

// generalPath reports what patterns cost, and what a literal costs while somebody waits anywhere in the project.
func (r *rig) generalPath(ctx context.Context) ([]Result, error) {
	glob := func(side string) string { return "src/" + side + seatMark + "/*_test.go" }
	sql, err := r.sqlPairs(ctx, "globs", 16, glob("sql"))
	if err != nil {
		return nil, err
	}
	globs, err := r.alternate(r.httpPairs(ctx, 16, glob("http")), sql)
	if err != nil {
		return nil, err
	}
	literal, err := r.sqlPairs(ctx, "pairs", 16, filePath("sql"))
	if err != nil {
		return nil, err
	}
	beside, err := r.alternate(sql, literal)
	if err != nil {
		return nil, err
	}
	held, err := r.keys(filePath("sql"))
	if err != nil {
		return nil, err
	}
	held.one = nil // the functions for any number of keys
	general, err := r.alternate(func() (float64, error) { return r.pgbench(ctx, r.dsn, "general", held.pairScript(r), 16) }, literal)
	if err != nil {
		return nil, err
	}
	release, err := r.wait(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	waiters, err := r.alternate(r.httpPairs(ctx, 16, filePath("http")), literal)
	if err != nil {
		return nil, err
	}
	return []Result{
		compare("general", "glob pairs, 16 clients", globs, "HTTP", "pgbench", "pairs/s"),
		compare("general", "glob beside literal, 16 clients", beside, "globs", "literals", "pairs/s").with("both by pgbench"),
		compare("general", "one literal on the general path, 16 clients", general, "general", "short path", "pairs/s").with("both by pgbench"),
		compare("general", "literal pairs while one waits, 16 clients", waiters, "HTTP", "pgbench", "pairs/s"),
	}, nil
}

// wait puts one waiter in line for the held path until the returned function is called.
func (r *rig) wait(ctx context.Context) (release func(), err error) {
	w, err := dialWire(r.api.addr)
	if err != nil {
		return nil, err
	}
	req := request("POST", "/locks/acquire", r.key, "waiter", `{"file_path": "`+heldPath+`", "wait_seconds": 55}`)
	if _, err := w.conn.Write(req); err != nil {
		return nil, err
	}
	for {
		var n int
		if err := r.pool.QueryRow(ctx, "select count(*) from coord.lock_waits").Scan(&n); err != nil {
			return nil, err
		}
		if n > 0 {
			return w.close, nil // a client that leaves takes its place in line with it
		}
	}
}
