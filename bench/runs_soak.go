package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// claimer claims from a queue the way the product does, through its data layer.
type claimer struct {
	*queue
	pool  *pgxpool.Pool
	store *coord.Store
	who   ident.Caller
}

func (r *rig) newClaimer(ctx context.Context, tasks int) (*claimer, error) {
	q, err := r.fill(ctx, "queue_held", tasks, 1)
	if err != nil {
		return nil, err
	}
	if _, err := q.conn.Exec(ctx, "alter database queue_held set synchronous_commit = off"); err != nil { // execution is what is compared
		return nil, err
	}
	c := &claimer{queue: q}
	if c.pool, err = coord.Open(ctx, q.dsn, 2); err != nil {
		return nil, err
	}
	c.store = coord.New(c.pool)
	c.who, err = c.store.Resolve(ctx, ident.Principal{Name: by, Scopes: []ident.Scope{ident.Admin}}, ident.Claim{Project: project, Agent: "claimer", Session: "claimer"}, true)
	if err != nil {
		c.pool.Close()
	}
	return c, err
}

func (c *claimer) claim(ctx context.Context, n int) error {
	got, err := c.store.ClaimWork(ctx, c.who, client.GetWork{Tags: claimerTags(), Limit: n})
	if err == nil && !got.Success {
		err = errors.New("no task left")
	}
	return err
}

// times claims n single tasks; ms.
func (c *claimer) times(ctx context.Context, n int) (p50, p99 float64, err error) {
	all := make([]time.Duration, n)
	for i := range all {
		start := time.Now()
		if err := c.claim(ctx, 1); err != nil {
			return 0, 0, err
		}
		all[i] = time.Since(start)
	}
	return float64(percentile(all, 0.5).Microseconds()) / 1000, float64(percentile(all, 0.99).Microseconds()) / 1000, nil
}

// heldSnapshot compares a claim of a queue out of which 100,000 were claimed while somebody held a snapshot with one of
// the fresh queue. How long the snapshot is held matters only by what happened meanwhile.
func (r *rig) heldSnapshot(ctx context.Context) ([]Result, error) {
	claimed := 100_000
	if r.o.quick {
		claimed = 20_000
	}
	c, err := r.newClaimer(ctx, claimed+10_000)
	if err != nil {
		return nil, err
	}
	defer c.pool.Close()
	const n = 500
	if _, _, err := c.times(ctx, n); err != nil { // plans are made
		return nil, err
	}
	fresh, freshTail, err := c.times(ctx, n)
	if err != nil {
		return nil, err
	}
	holder, err := pgx.Connect(ctx, c.dsn)
	if err != nil {
		return nil, err
	}
	defer holder.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	tx, err := holder.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return nil, err
	}
	var one int
	if err := tx.QueryRow(ctx, "select count(*) from coord.ready").Scan(&one); err != nil {
		return nil, err
	}
	r.say("G9: claiming %d tasks while a snapshot is held", claimed)
	for range claimed / 500 {
		if err := c.claim(ctx, 500); err != nil {
			return nil, err
		}
	}
	held, heldTail, err := c.times(ctx, n)
	if err != nil {
		return nil, err
	}
	pages, err := c.buffers(ctx, "select coord.claim_ready($1, 1::smallint, $2, 1)", c.project, c.memo.Classes)
	if err != nil {
		return nil, err
	}
	if err := tx.Rollback(ctx); err != nil {
		return nil, err
	}
	note, err := c.recovery(ctx, fresh)
	res := Result{
		Goal: "G9", What: fmt.Sprintf("claim p50 with a held snapshot and %dk claims since", claimed/1000), Value: held / fresh, Unit: "x",
		Ours: &Figure{"held", held, "ms"}, Theirs: &Figure{"fresh", fresh, "ms"},
	}
	return []Result{res.atMost(2, 1.2).with("p99 %.2f ms fresh, %.2f ms held; once a second a claim looks at whole lanes, which touches %.0f pages; %s", freshTail, heldTail, pages, note)}, err
}

// recovery waits, a minute at most, until claims take at most half as long again as on the fresh queue.
func (c *claimer) recovery(ctx context.Context, fresh float64) (string, error) {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(200 * time.Millisecond) {
		p, _, err := c.times(ctx, 20)
		if err != nil {
			return "", err
		}
		if p <= 1.5*fresh {
			return fmt.Sprintf("as fast as before %.1f s after the snapshot's end", time.Since(began).Seconds()), nil
		}
	}
	return "it did not recover within a minute after the snapshot's end", nil
}

// soak submits, claims and completes for minutes beside millions of finished tasks, and compares the last minute with the
// second. It takes half an hour (a few minutes with -quick), so only -only G16 or -deep runs it.
func (r *rig) soak(ctx context.Context) ([]Result, error) {
	if !r.asked("G16") {
		return nil, nil
	}
	minutes, kept := 30, 5_000_000
	if r.o.quick {
		minutes, kept = 4, 500_000
	}
	d, err := r.newDuel(ctx, "soak")
	if err != nil {
		return nil, err
	}
	r.say("G16: writing %d finished tasks", kept)
	if err := d.submit(ctx, 1, 1, 1); err != nil {
		return nil, err
	}
	if err := d.work(ctx, 1); err != nil {
		return nil, err
	}
	if _, err := d.ours.Exec(ctx, `set statement_timeout = 0; insert into public.work_queue (project_id, task_type, description, status, class_id, claimed_by, submitted_by, completed_at, result)
		select w.project_id, 'noop', 'done ' || g, 'completed', w.class_id, 'worker', 'bench', coord.now(), '{"ok": true}'
		from (select project_id, class_id from public.work_queue limit 1) w, generate_series(1, `+fmt.Sprint(kept)+`) g`, pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, err
	}
	var rates []float64
	for m := range minutes {
		n, end := 0, time.Now().Add(time.Minute)
		for time.Now().Before(end) {
			const step = 2000
			if err := d.submit(ctx, step, 500, 2); err != nil {
				return nil, err
			}
			if err := d.work(ctx, step); err != nil {
				return nil, err
			}
			n += step
		}
		rates = append(rates, float64(n)/60)
		r.say("G16: minute %d: %.0f tasks/s", m+1, rates[m])
	}
	first, last := rates[1], rates[minutes-1]
	res := Result{
		Goal: "G16", What: fmt.Sprintf("throughput, minute %d / minute 2", minutes), Value: last / first, Unit: "x",
		Ours: &Figure{fmt.Sprintf("minute %d", minutes), last, "tasks/s"}, Theirs: &Figure{"minute 2", first, "tasks/s"},
	}
	return []Result{res.atLeast(0.9, 0.98).with("submit, claim and complete in batches of 500 beside %dM finished tasks; autovacuum on", kept/1_000_000)}, nil
}
