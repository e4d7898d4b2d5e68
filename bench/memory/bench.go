package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

const (
	vocabulary  = 200_000
	perSession  = 40
	storeCalls  = 300
	rateSeconds = 4
)

// bench is a database that grows.
type bench struct {
	pool    *pgxpool.Pool
	dsn     string
	store   *coord.Store
	out     io.Writer
	say     func(string, ...any)
	rng     *rand.Rand
	zipf    *rand.Zipf
	words   []string
	project int64
	other   int64
	caller  ident.Caller
	exact   *recall.Memory // the same memories in process, for what the plan misses
	n       int
	sample  []string // texts to ask about
	noExact bool     // exact is empty, and what the plan misses is not known
	profile string   // file for a CPU profile
}

func (b *bench) begin(ctx context.Context) error {
	b.rng = rand.New(rand.NewPCG(7, 11))
	b.zipf = rand.NewZipf(b.rng, 1.07, 90, vocabulary-1) // the commonest word is in some six of a hundred memories
	const letters = "bcdfghklmnprstvwz"
	for i := range vocabulary { // pronounceable, distinct, without English endings
		var w strings.Builder
		for x := i + 289; x > 0; x /= 85 {
			w.WriteByte(letters[x%17])
			w.WriteByte("aeiou"[x/17%5])
		}
		b.words = append(b.words, w.String()+"k")
	}
	var err error
	b.caller, err = b.store.Resolve(ctx, ident.Principal{Name: "key:bench", Scopes: []ident.Scope{ident.Write}}, ident.Claim{Project: "bench", Agent: "ana"}, true)
	if err != nil {
		return err
	}
	b.project = b.caller.ProjectID
	b.exact = recall.NewMemory(b.project)
	other, err := b.store.Resolve(ctx, ident.Principal{Name: "key:bench", Scopes: []ident.Scope{ident.Write}}, ident.Claim{Project: "other"}, false)
	b.other = other.ProjectID
	fmt.Fprintf(b.out, "%9s %22s %22s %10s %18s %22s %8s\n", "memories", "recall ms p50 / p95", "common words p50 / p95", "recalls/s", "store ms p50 / p95", "top 10 kept % / common", "MB")
	return err
}

func (b *bench) text(n int) string {
	var t strings.Builder
	for i := range n {
		if i > 0 {
			t.WriteByte(' ')
		}
		t.WriteString(b.words[b.zipf.Uint64()])
	}
	return t.String()
}

// row is one synthetic memory.
type row struct {
	project, id, group int64
	seq                int32
	summary, lesson    string
	at                 time.Time
	e                  recall.Entry
}

// grow fills the database up to n memories, by copying: what is measured is a full one, not the filling.
func (b *bench) grow(ctx context.Context, n int) error {
	var there int
	if err := b.pool.QueryRow(ctx, `select coalesce(max(id), 0) from coord.memory_index`).Scan(&there); err != nil {
		return err
	}
	filled := there >= n
	switch {
	case filled && b.noExact:
		b.n = there
		return b.sampled(ctx)
	case filled:
		b.say("the database is filled; making its %d memories again for the exhaustive ranking", n)
	default:
		b.say("filling up to %d memories", n)
		if _, err := b.pool.Exec(ctx, `drop index if exists coord.memory_index_terms`); err != nil {
			return err
		}
	}
	start := time.Now().Add(-time.Duration(n) * time.Minute)
	for b.n < n {
		rows := make([]row, 0, 20_000)
		for len(rows) < cap(rows) && b.n < n {
			b.n++
			r := row{project: b.project, id: int64(b.n), group: int64(1_000_000 + b.n/perSession), seq: int32(b.n%perSession + 1), at: start.Add(time.Duration(b.n) * time.Minute)}
			if b.n%5 == 0 {
				r.project = b.other
			}
			r.summary, r.lesson = b.text(10), b.text(20+b.rng.IntN(20))
			doc := recall.Document{Title: r.summary, Body: r.lesson, Agent: "ana", Type: "discovery"}
			r.e = recall.Index(r.project, doc)
			if r.project == b.project {
				if !b.noExact {
					b.exact.Add(recall.Doc{ID: r.id, Group: r.group, Seq: r.seq, Kind: recall.Episodic, CreatedAt: r.at.Unix()}, doc)
				}
				if b.rng.IntN(max(1, n/2000)) == 0 {
					b.sample = append(b.sample, r.summary+" "+r.lesson)
				}
			}
			rows = append(rows, r)
		}
		if filled {
			continue
		}
		if err := b.copy(ctx, rows); err != nil {
			return err
		}
	}
	if filled {
		b.n = there
		return nil
	}
	b.say("building the index and counting terms")
	for _, sql := range []string{
		`set statement_timeout = 0`, `set maintenance_work_mem = '512MB'`,
		`create index memory_index_terms on coord.memory_index using gin (terms) with (fastupdate = off)`,
		`truncate coord.memory_terms, coord.memory_stat`,
		`insert into coord.memory_terms select project_id, t, count(*) from coord.memory_index, unnest(terms) t group by 1, 2`,
		`insert into coord.memory_stat (project_id, n, groups, len_title, len_body, swept_at)
			select project_id, count(*), count(distinct group_id), sum(len_title), sum(len_body), now() from coord.memory_index group by 1`,
		`select setval('coord.memory_ids', (select max(id) from coord.memory_index))`,
		`vacuum analyze coord.memory_index`, `vacuum analyze coord.memory_terms`, `vacuum analyze public.memory_episodic`,
	} {
		if err := b.plain(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// sampled takes the texts to ask about from the database.
func (b *bench) sampled(ctx context.Context) error {
	rows, err := b.pool.Query(ctx, `select e.summary || ' ' || e.lessons[1] from public.memory_episodic e where e.project_id = $1 and e.id % $2 = 1 and e.lessons <> '{}'`,
		b.project, max(2, b.n/2000))
	if err != nil {
		return err
	}
	b.sample, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}

// plain runs a statement of the filling on one connection without a time limit.
func (b *bench) plain(ctx context.Context, sql string) error {
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `set statement_timeout = 0`); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return err
}

func (b *bench) copy(ctx context.Context, rows []row) error {
	if _, err := b.pool.CopyFrom(ctx, pgx.Identifier{"public", "memory_episodic"},
		[]string{"project_id", "id", "agent_id", "event_type", "summary", "lessons", "dedup", "tokens", "created_at"},
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			r := rows[i]
			return []any{r.project, r.id, "ana", "discovery", r.summary, []string{r.lesson}, r.id, 60, r.at}, nil
		})); err != nil {
		return err
	}
	_, err := b.pool.CopyFrom(ctx, pgx.Identifier{"coord", "memory_index"},
		[]string{"project_id", "id", "group_id", "seq", "kind", "at", "len_title", "len_body", "version", "rev", "sig", "terms"},
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			r := rows[i]
			return []any{r.project, r.id, r.group, r.seq, int16(1), r.at, int16(r.e.LenTitle), int16(r.e.LenBody), int16(recall.TokeniserVersion), int32(1), r.e.Sig, r.e.Terms}, nil
		}))
	return err
}

// question is words of a memory and one or two others; common ones are words that most of a project's size have.
func (b *bench) question(common bool) string {
	var q []string
	if common {
		for range 3 + b.rng.IntN(4) {
			q = append(q, b.words[60+b.rng.IntN(240)])
		}
		return strings.Join(q, " ")
	}
	words := strings.Fields(b.sample[b.rng.IntN(len(b.sample))])
	for range 3 + b.rng.IntN(6) {
		q = append(q, words[b.rng.IntN(len(words))])
	}
	for range 1 + b.rng.IntN(2) {
		q = append(q, b.words[b.zipf.Uint64()])
	}
	return strings.Join(q, " ")
}

func (b *bench) measure(ctx context.Context, asked int) error {
	ask := func(q string) (client.Recalled, error) {
		return b.store.Recall(ctx, b.caller, client.Recall{TaskDescription: q})
	}
	for range 30 { // warm
		if _, err := ask(b.question(false)); err != nil {
			return err
		}
	}
	var normal, common []time.Duration
	var kept, keptCommon float64
	stop, err := b.profiled()
	if err != nil {
		return err
	}
	for i := range asked {
		rare := i%5 != 0
		q := b.question(!rare)
		start := time.Now()
		if _, err := ask(q); err != nil {
			return err
		}
		took := time.Since(start)
		share, err := b.kept(ctx, q)
		if err != nil {
			return err
		}
		if rare {
			normal, kept = append(normal, took), kept+share
		} else {
			common, keptCommon = append(common, took), keptCommon+share
		}
	}
	if err := stop(); err != nil {
		return err
	}
	rate, err := b.rate(ctx)
	if err != nil {
		return err
	}
	stores, err := b.stores(ctx)
	if err != nil {
		return err
	}
	var size int64
	if err := b.pool.QueryRow(ctx, `select pg_total_relation_size('coord.memory_index') + pg_total_relation_size('public.memory_episodic')
		+ pg_total_relation_size('coord.memory_terms')`).Scan(&size); err != nil {
		return err
	}
	overlap := "not measured"
	if !b.noExact {
		overlap = fmt.Sprintf("%.1f / %.1f", 100*kept/float64(len(normal)), 100*keptCommon/float64(max(1, len(common))))
	}
	fmt.Fprintf(b.out, "%9d %13.1f / %6.1f %13.1f / %6.1f %10.0f %9.2f / %6.2f %22s %8d\n", b.n, at(normal, .5), at(normal, .95), at(common, .5), at(common, .95),
		rate, at(stores, .5), at(stores, .95), overlap, size>>20)
	return nil
}

// profiled begins a CPU profile, when one was asked for, and returns what ends it.
func (b *bench) profiled() (stop func() error, err error) {
	if b.profile == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(b.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { pprof.StopCPUProfile(); return f.Close() }, nil
}

// kept is the share of the exact ranking's top ten by words that the plan's candidates keep; ties count as kept.
func (b *bench) kept(ctx context.Context, q string) (float64, error) {
	if b.noExact {
		return 0, nil
	}
	p := recall.Default()
	p.AbsentBelow, p.SameFrom = 0, 2 // versions are left where they are
	p.Window, p.Prev, p.Next, p.Prev2, p.Next2 = 0, 0, 0, 0, 0
	ask := recall.Query{Project: b.project, Text: q, Limit: 10, Now: time.Now().Unix()}
	got, err := recall.Search(ctx, b.store.MemorySource(b.project), ask, p)
	if err != nil {
		return 0, err
	}
	p.Candidates, p.MaxShare = b.n, 1
	want, err := recall.Search(ctx, b.exact, ask, p)
	if err != nil || len(want.Hits) == 0 {
		return 1, err
	}
	// The stores of earlier rounds are in the database alone, so that the two differ a little in how rare a word is.
	least := want.Hits[len(want.Hits)-1].Relevance * .995
	n := 0
	for _, h := range got.Hits {
		if h.Relevance >= least {
			n++
		}
	}
	return min(1, float64(n)/float64(len(want.Hits))), nil
}

// rate is how many recalls a second two clients get.
func (b *bench) rate(ctx context.Context) (float64, error) {
	questions := make([]string, 64)
	for i := range questions {
		questions[i] = b.question(i%5 == 0)
	}
	client0, server0, _ := b.cpu(ctx)
	end := time.Now().Add(rateSeconds * time.Second)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	total := 0
	for c := range 2 {
		wg.Go(func() {
			n := 0
			for i := c; time.Now().Before(end); i += 2 {
				if _, err := b.store.Recall(ctx, b.caller, client.Recall{TaskDescription: questions[i%len(questions)]}); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				n++
			}
			mu.Lock()
			total += n
			mu.Unlock()
		})
	}
	wg.Wait()
	if client1, server1, ok := b.cpu(ctx); ok && total > 0 {
		b.say("processor time of a recall: %.1f ms here, %.1f ms in the database", 1000*(client1-client0)/float64(total), 1000*(server1-server0)/float64(total))
	}
	return float64(total) / rateSeconds, failed
}

// stores are the times of single stores.
func (b *bench) stores(ctx context.Context) ([]time.Duration, error) {
	var out []time.Duration
	for range storeCalls {
		in := client.Remember{EventType: "discovery", Summary: b.text(10), Lessons: []string{b.text(30)}, Tags: []string{"bench"}}
		start := time.Now()
		if _, err := b.store.Remember(ctx, b.caller, in); err != nil {
			return nil, err
		}
		out = append(out, time.Since(start))
	}
	b.n += storeCalls
	return out[20:], nil
}

func at(d []time.Duration, p float64) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return float64(d[min(int(p*float64(len(d))), len(d)-1)].Microseconds()) / 1000
}
