//go:build prove

package coord_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestProveWorkNoDoubleClaim(t *testing.T) {
	t.Parallel()
	noDoubleClaim(t, 20_000, 32)
}

func TestProveWorkEverythingAtOnce(t *testing.T) {
	t.Parallel()
	everythingAtOnce(t, 32, 400)
}

// Claimants that are killed at any moment: between claim and end, after the end was sent but before the reply, with or
// without a session that is ended for them. Every task is completed once or dead, and none is completed by two.
func TestProveWorkKilledClaimants(t *testing.T) {
	t.Parallel()
	const tasks, workers = 3000, 16
	k := &killer{t: t, q: newQueue(t, pgtest.MaxConns(8))}
	k.q.many(k.q.as("boss"), tasks)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// Attempts enough for most, and a clock that leaps an hour every second, so that leases and backoffs are over soon.
	for _, sql := range []string{
		`update public.work_queue set max_attempts = 20`,
		`create or replace function coord.now() returns timestamptz language sql volatile parallel safe
			as $$ select pg_catalog.clock_timestamp() + interval '1 hour' * (extract(epoch from pg_catalog.clock_timestamp())::bigint % 100000) $$`,
	} {
		if _, err := k.q.pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				k.live(ctx, fmt.Sprint("worker", w+n*workers))
			}
		})
	}
	limit := time.After(5 * time.Minute)
	for open := 1; open > 0; {
		select {
		case <-limit:
			t.Fatalf("%d tasks are stuck", open)
		case <-time.After(100 * time.Millisecond):
		}
		k.q.sweep()
		if err := k.q.pool.QueryRow(ctx, `select count(*) from public.work_queue where status not in ('completed', 'dead')`).Scan(&open); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	all.Wait()
	k.q.tidy()
	var dead, finished int
	if err := k.q.pool.QueryRow(context.Background(), `select count(*) filter (where status = 'dead'), count(*) filter (where status = 'completed')
		from public.work_queue`).Scan(&dead, &finished); err != nil || dead+finished != tasks {
		t.Fatalf("%d dead and %d completed of %d, %v", dead, finished, tasks, err)
	}
	t.Logf("%d completed, %d of them acknowledged, %d dead, %d claimants killed", finished, k.done.Load(), dead, k.killed.Load())
}

// killer runs claimants and ends some of them.
type killer struct {
	t            *testing.T
	q            *queue
	completed    sync.Map // task → who completed it
	done, killed atomic.Int64
}

// live is one claimant's life: until there is nothing to do, or until it is killed.
func (k *killer) live(ctx context.Context, name string) {
	agent := k.q.as(name)
	for ctx.Err() == nil {
		call, kill := context.WithCancel(ctx)
		doomed := rand.IntN(5) == 0
		if doomed { // a kill takes the connection with it, at any point of a call
			time.AfterFunc(time.Duration(rand.IntN(4000))*time.Microsecond, kill)
		}
		out, err := k.q.store.ClaimWork(call, agent, client.GetWork{LeaseSeconds: 10, Limit: 2})
		if err == nil && !(doomed && rand.IntN(2) == 0) {
			for _, task := range out.Tasks {
				k.finish(call, agent, task)
			}
		}
		kill()
		if doomed {
			k.killed.Add(1)
			if rand.IntN(2) == 0 { // its host notices
				_, _ = k.q.store.EndSession(context.Background(), agent, client.EndSession{})
			}
			return
		}
		if err == nil && !out.Success {
			return
		}
	}
}

func (k *killer) finish(ctx context.Context, c ident.Caller, task client.BatchClaim) {
	end, err := k.q.store.CompleteWork(ctx, c, client.CompleteWork{TaskID: task.TaskID, Success: true, LeaseToken: task.LeaseToken})
	if err != nil || !end.Success || end.Replayed {
		return
	}
	k.done.Add(1)
	if other, twice := k.completed.LoadOrStore(task.TaskID, c.Agent); twice {
		k.t.Errorf("%s was completed by %v and %s", task.TaskID, other, c.Agent)
	}
}
