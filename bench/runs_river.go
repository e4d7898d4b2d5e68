package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

const (
	insertBatch = 5000 // jobs of one commit, on both sides
	claimBatch  = 500
	claimers    = 2
	inserters   = 16
	queueConns  = 16
)

// duel is a database with our queue and River's, and a pool for each.
type duel struct {
	ours, theirs *pgxpool.Pool
	store        *coord.Store
	who          ident.Caller
}

type noop struct{}

func (noop) Kind() string { return "noop" }

type noopWorker struct{ river.WorkerDefaults[noop] }

func (noopWorker) Work(context.Context, *river.Job[noop]) error { return nil }

func (r *rig) newDuel(ctx context.Context, name string) (*duel, error) {
	dsn, err := r.copyDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	d := &duel{}
	if d.ours, err = coord.Open(ctx, dsn, queueConns); err != nil {
		return nil, err
	}
	r.undo = append(r.undo, func() error { d.ours.Close(); return nil })
	if d.theirs, err = coord.Open(ctx, dsn, queueConns); err != nil {
		return nil, err
	}
	r.undo = append(r.undo, func() error { d.theirs.Close(); return nil })
	migrator, err := rivermigrate.New(riverpgxv5.New(d.theirs), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	d.store = coord.New(d.ours)
	admin := ident.Principal{Name: "bench", Scopes: []ident.Scope{ident.Admin}}
	d.who, err = d.store.Resolve(ctx, admin, ident.Claim{Project: project, Agent: "worker", Session: "worker"}, true)
	return d, err
}

// submit puts n no-op tasks in by commits of size, from as many goroutines as by.
func (d *duel) submit(ctx context.Context, n, size, by int) error {
	return d.split(n/size, by, func() error {
		if size == 1 { // what meets shares a commit, as in the product
			_, err := d.store.SubmitWork(ctx, d.who, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "noop", Description: "bench"}})
			return err
		}
		tasks := make([]client.BatchTask, size)
		for i := range tasks {
			tasks[i].TaskSpec = client.TaskSpec{TaskType: "noop", Description: "bench"}
		}
		_, err := d.store.SubmitTasks(ctx, d.who, client.SubmitTasks{Tasks: tasks})
		return err
	})
}

func (d *duel) split(times, by int, do func() error) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, by)
	for w := range by {
		wg.Go(func() {
			for next.Add(1) <= int64(times) && errs[w] == nil {
				errs[w] = do()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// work claims and completes n tasks in batches.
func (d *duel) work(ctx context.Context, n int) error {
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, claimers)
	for w := range claimers {
		wg.Go(func() {
			for done.Load() < int64(n) && errs[w] == nil {
				got, err := d.store.ClaimWork(ctx, d.who, client.GetWork{Limit: claimBatch})
				if err != nil || !got.Success {
					errs[w] = err
					return // the other one has the rest
				}
				items := make([]client.CompleteWork, len(got.Tasks))
				for i, t := range got.Tasks {
					items[i] = client.CompleteWork{TaskID: t.TaskID, Success: true}
				}
				out, err := d.store.CompleteTasks(ctx, d.who, client.CompleteTasks{Tasks: items})
				if err == nil && !out.Success {
					err = fmt.Errorf("%w: a task could not be completed", errRefused)
				}
				errs[w] = err
				done.Add(int64(len(items)))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if done.Load() != int64(n) {
		return fmt.Errorf("%w: %d of %d tasks completed", errRefused, done.Load(), n)
	}
	return nil
}

// riverClient has the settings of River's own benchmark.
func (d *duel) riverClient(work bool) (*river.Client[pgx.Tx], error) {
	cfg := &river.Config{Logger: slog.New(slog.DiscardHandler)}
	if work {
		workers := river.NewWorkers()
		river.AddWorker(workers, noopWorker{})
		cfg.Workers = workers
		cfg.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}}
		cfg.FetchCooldown, cfg.FetchPollInterval = 2*time.Millisecond, 20*time.Millisecond
	}
	return river.NewClient(riverpgxv5.New(d.theirs), cfg)
}

func (d *duel) riverInsert(ctx context.Context, n, size, by int) error {
	c, err := d.riverClient(false)
	if err != nil {
		return err
	}
	return d.split(n/size, by, func() error {
		if size == 1 {
			_, err := c.Insert(ctx, noop{}, nil)
			return err
		}
		params := make([]river.InsertManyParams, size)
		for i := range params {
			params[i].Args = noop{}
		}
		_, err := c.InsertManyFast(ctx, params)
		return err
	})
}

func (d *duel) riverWork(ctx context.Context, n int) error {
	c, err := d.riverClient(true)
	if err != nil {
		return err
	}
	done, cancel := c.SubscribeConfig(&river.SubscribeConfig{Kinds: []river.EventKind{river.EventKindJobCompleted}, ChanSize: n + 1000})
	defer cancel()
	if err := c.Start(ctx); err != nil {
		return err
	}
	for range n {
		select {
		case <-done:
		case <-time.After(time.Minute):
			return errors.New("the jobs of River were not completed within a minute")
		}
	}
	return c.Stop(context.WithoutCancel(ctx))
}

// beside compares insert+claim+complete of n jobs with River's insert+work, in alternating rounds.
func (r *rig) beside(ctx context.Context, goal, what string, n, size, by int) (Result, error) {
	d, err := r.newDuel(ctx, "duel_"+strings.ToLower(goal))
	if err != nil {
		return Result{}, err
	}
	rate := func(insert, work func() error) side {
		return func() (float64, error) {
			start := time.Now()
			if err := errors.Join(insert(), work()); err != nil {
				return 0, err
			}
			return float64(n) / time.Since(start).Seconds(), nil
		}
	}
	p, err := r.alternate(
		rate(func() error { return d.submit(ctx, n, size, by) }, func() error { return d.work(ctx, n) }),
		rate(func() error { return d.riverInsert(ctx, n, size, by) }, func() error { return d.riverWork(ctx, n) }))
	if err != nil {
		return Result{}, err
	}
	return compare(goal, what, p, "coordinator", "River v0.51", "jobs/s").
		with("%d jobs a round; claims and completions in batches of %d by %d claimers; River with 2,000 workers, cooldown 2 ms, poll 20 ms", n, claimBatch, claimers), nil
}

func (r *rig) besideRiverBatch(ctx context.Context) ([]Result, error) {
	res, err := r.beside(ctx, "G6", "insert+claim+complete / insert+work, batches of 5,000", 3*insertBatch, insertBatch, 1)
	return []Result{res.atLeast(2.5, 6)}, err
}

func (r *rig) besideRiverSingle(ctx context.Context) ([]Result, error) {
	res, err := r.beside(ctx, "G7", "the same, one call per insert, 16 inserters", 2000*r.o.seconds, 1, inserters)
	return []Result{res.atLeast(1.5, 4).with("every insert is acknowledged after its commit; ours that arrive while another commits share the next one")}, err
}
