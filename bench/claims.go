package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	otherClasses   = 150 // demand classes nobody here may take: 95 of 100 tasks, in front by priority
	claimerClasses = 8   // those of our claimer
)

// claimerTags are what our claimer offers.
func claimerTags() []string {
	tags := []string{"cpu"}
	for i := range claimerClasses {
		tags = append(tags, fmt.Sprintf("kind%d", i))
	}
	return tags
}

// fillSQL makes $2 tasks in project $1: of every 20, one for our claimer, at priority 5, behind all of the others.
const fillSQL = `
with c as (
  select array(select (coord.class_of($1, 1::smallint, coord.canonical_demands(jsonb_build_object('task_type', 'build', 'tags', jsonb_build_array('gpu', 'model' || i))))).class_id
    from generate_series(0, $3::int - 1) i) as theirs,
    array(select (coord.class_of($1, 1::smallint, coord.canonical_demands(jsonb_build_object('task_type', 'build', 'tags', jsonb_build_array('cpu', 'kind' || i))))).class_id
    from generate_series(0, $4::int - 1) i) as mine),
t as (
  insert into public.work_queue (project_id, task_type, description, priority, class_id, task_id, submitted_by, tags)
  select $1, 'build', 'task ' || n, case when n % $5::int = 0 then 5 else 1 + n % 3 end,
    case when n % $5::int = 0 then c.mine[1 + n / $5::int % $4::int] else c.theirs[1 + n % $3::int] end, gen_random_uuid(), 'bench',
    case when n % $5::int = 0 then array['cpu', 'kind' || (n / $5::int % $4::int)] else array['gpu', 'model' || (n % $3::int)] end
  from generate_series(1, $2::int) n, c
  returning id, class_id, priority)
insert into coord.ready (project_id, queue, class_id, priority, id) select $1, 1, class_id, priority, id from t`

// queue is a database with tasks and a claimer.
type queue struct {
	depth   int
	dsn     string
	conn    *pgx.Conn
	project int64
	session int64
	memo    struct {
		Classes []int32 `json:"classes"`
		Epoch   int32   `json:"epoch"`
		Caps    string  `json:"caps"`
	}
}

// fill makes a queue of its own database; every share-th task is for our claimer.
func (r *rig) fill(ctx context.Context, name string, depth, share int) (*queue, error) {
	dsn, err := r.copyDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	r.undo = append(r.undo, func() error { return conn.Close(context.Background()) })
	q := &queue{depth: depth, dsn: dsn, conn: conn}
	if err := conn.QueryRow(ctx, "select coord.ensure_project($1)", project).Scan(&q.project); err != nil {
		return nil, err
	}
	if err := conn.QueryRow(ctx, "select coord.open_session($1, 'claimer', 'bench', 'claimer')", q.project).Scan(&q.session); err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, fillSQL, q.project, depth, otherClasses, claimerClasses, share); err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "vacuum analyze"); err != nil {
		return nil, err
	}
	// The API's connections wait for the disk; here execution is what is compared.
	if _, err := conn.Exec(ctx, "set synchronous_commit = off"); err != nil {
		return nil, err
	}
	return q, q.claim(ctx)
}

// claim takes one task as internal/coord does, remembering what the reply says to.
func (q *queue) claim(ctx context.Context) error {
	var none *string
	var memo []byte
	if err := q.conn.QueryRow(ctx, claimSQL, q.args()...).Scan(&none, &memo); err != nil {
		return err
	}
	if none != nil {
		return fmt.Errorf("no task left of %d: %s", q.depth, *none)
	}
	if memo != nil {
		return json.Unmarshal(memo, &q.memo)
	}
	return nil
}

func (q *queue) args() []any {
	classes := q.memo.Classes
	if classes == nil {
		classes = []int32{}
	}
	return []any{q.project, q.session, claimerTags(), classes, q.memo.Epoch, q.memo.Caps}
}

// p50 is the median time of n claims, in milliseconds.
func (q *queue) p50(ctx context.Context, n int) (float64, error) {
	times := make([]time.Duration, 0, n)
	for range n {
		start := time.Now()
		if err := q.claim(ctx); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	return float64(percentile(times, 0.5).Microseconds()) / 1000, nil
}

// buffers is the median number of 8 kB pages that a statement touches, in transactions that are rolled back.
func (q *queue) buffers(ctx context.Context, sql string, args ...any) (float64, error) {
	var all []float64
	for range 5 {
		tx, err := q.conn.Begin(ctx)
		if err != nil {
			return 0, err
		}
		var raw []byte
		err = tx.QueryRow(ctx, "explain (analyze, buffers, format json) "+sql, args...).Scan(&raw)
		_ = tx.Rollback(ctx) // the connection's next use shows what is wrong with it
		if err != nil {
			return 0, err
		}
		var plans []struct {
			Plan struct {
				Hit  float64 `json:"Shared Hit Blocks"`
				Read float64 `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal(raw, &plans); err != nil {
			return 0, err
		}
		all = append(all, plans[0].Plan.Hit+plans[0].Plan.Read)
	}
	return median(all), nil
}

func count(n int) string {
	if n >= 1e6 {
		return fmt.Sprintf("%dM", n/1e6)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// claims measures one claim at several depths of the queue.
func (r *rig) claims(ctx context.Context) ([]Result, error) {
	depths := []int{1000, 100_000, 1_000_000}
	if r.o.quick {
		depths = depths[:2]
	} else if r.o.deep {
		depths = append(depths, 5_000_000)
	}
	var queues []*queue
	for _, d := range depths {
		r.say("filling a queue of %s tasks", count(d))
		q, err := r.fill(ctx, "queue_"+strings.ToLower(count(d)), d, 20)
		if err != nil {
			return nil, err
		}
		if _, err := q.p50(ctx, 5); err != nil { // plans are made, pages are read
			return nil, err
		}
		queues = append(queues, q)
	}
	base := queues[1]
	var out []Result
	for _, q := range queues {
		if q == base {
			continue
		}
		n := min(200, q.depth/20*2/3/r.o.rounds) // leave some: the last ones would be found by looking past the others
		p, err := r.alternate(
			func() (float64, error) { return q.p50(ctx, n) },
			func() (float64, error) { return base.p50(ctx, max(n, 100)) })
		if err != nil {
			return nil, err
		}
		res := compare("G8", "claim p50 at "+count(q.depth), p, "at "+count(q.depth), "at "+count(base.depth), "ms")
		out = append(out, res.atMost(1.5, 1.1).with("95 %% of the tasks are in front and not for this claimer, who matches %d classes; synchronous_commit off", claimerClasses))
	}
	for _, q := range queues {
		whole, err := q.buffers(ctx, claimSQL, q.args()...)
		if err != nil {
			return nil, err
		}
		engine, err := q.buffers(ctx, "select coord.claim_ready($1, 1::smallint, $2, 1)", q.project, q.memo.Classes)
		if err != nil {
			return nil, err
		}
		res := Result{Goal: "G8", What: "claim buffers at " + count(q.depth), Value: engine, Unit: "pages"}
		out = append(out, res.atMost(70, 30).with("finding and taking the task; with session, lease, audit row and reply %.0f pages", whole))
	}
	return out, nil
}

// claimRate reports claims per second of 16 claimers on a queue where every task is for them.
func (r *rig) claimRate(ctx context.Context) ([]Result, error) {
	q, err := r.fill(ctx, "queue_rate", 30_000*r.o.seconds*r.o.rounds/4, 1)
	if err != nil {
		return nil, err
	}
	one := fmt.Sprintf("select * from coord.claim_tasks(%d, %d, '%s', null, '%s', 1, 1800, '%s', %d, '%s', null, null, null);\n", q.project, q.session, by,
		braces(claimerTags()), braces(q.memo.Classes), q.memo.Epoch, q.memo.Caps)
	ten := strings.Replace(one, ", 1, 1800,", ", 10, 1800,", 1)
	p, err := r.alternate(
		func() (float64, error) { rate, err := r.pgbench(ctx, q.dsn, "claim10", ten, 16); return rate * 10, err },
		func() (float64, error) { return r.pgbench(ctx, q.dsn, "claim1", one, 16) })
	if err != nil {
		return nil, err
	}
	return []Result{compare("claims", "16 claimers, one queue", p, "10 a call", "1 a call", "tasks/s").
		with("both by pgbench; every claim is durable before it is answered")}, nil
}

// braces is a list as Postgres reads arrays. The elements need no quotes.
func braces[T any](list []T) string {
	return "{" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(list), "[]")), ",") + "}"
}
