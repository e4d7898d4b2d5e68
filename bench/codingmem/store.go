package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// storeSize is small: every memory is stored through the service, one transaction each. Its projects are larger than
// what the engine scores whole, so that candidates are found by the index.
var storeSize = world.Size{Projects: 3, Sessions: 70, Events: 20, PerClass: 10}

// storeRun is the service's own store, filled with a world.
type storeRun struct {
	pool    *pgxpool.Pool
	store   *coord.Store
	callers []ident.Caller     // per project
	ids     []map[string]int64 // per project: memory_id → place in the world
	leaks   int
	marked  int // stale memories that came back with their mark …
	shown   int // … of those that came back
}

// throughStore fills the real store and compares what it recalls with the same questions asked in this process.
func (s *server) throughStore(ctx context.Context, o *options, seed uint64, out io.Writer) ([]bar, error) {
	size := storeSize
	if o.quick {
		size.Projects, size.Sessions, size.PerClass = 2, 24, 6
	}
	w := world.Build(seed, size)
	for _, p := range w.Projects {
		for _, m := range p.Memories {
			m.Success = 50 // what the store says of a skill nobody used yet
		}
	}
	corpora := corporaOf(w)
	run, err := s.fill(ctx, w, corpora)
	if err != nil {
		return nil, err
	}
	defer run.pool.Close()
	direct, same, top1, n := newTally(), 0., 0., 0.
	stored := newTally()
	for _, c := range corpora {
		sys, err := newEngine(o.params, false)(c)
		if err != nil {
			return nil, err
		}
		for j := range c.questions {
			q := &c.questions[j]
			a, took, err := timed(ctx, sys, q)
			if err != nil {
				return nil, err
			}
			direct.times = append(direct.times, took)
			b, err := run.ask(ctx, c, q, stored)
			if err != nil {
				return nil, err
			}
			direct.count(c, q, a)
			stored.count(c, q, b)
			n++
			same += overlap(a.ids, b.ids)
			if len(a.ids) == 0 && len(b.ids) == 0 || len(a.ids) > 0 && len(b.ids) > 0 && a.ids[0] == b.ids[0] {
				top1++
			}
		}
	}
	run.print(out, corpora, direct, stored, 100*same/n, 100*top1/n)
	return []bar{
		{"store: memories of another project in a reply", "0", fmt.Sprint(run.leaks), run.leaks == 0},
		{"store: outdated observations given as fact, %", "≤ 1", fmt.Sprintf("%.1f", 100*stored.mean("stale as fact")), stored.mean("stale as fact") <= .01},
		{"store: its first ten are those of the engine in process, %", "≥ 95", fmt.Sprintf("%.1f", 100*same/n), same/n >= .95},
	}, nil
}

// overlap is the share of the first ten that both have.
func overlap(a, b []int64) float64 {
	a, b = a[:min(10, len(a))], b[:min(10, len(b))]
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	both := 0
	for _, id := range a {
		if slices.Contains(b, id) {
			both++
		}
	}
	return float64(both) / float64(max(len(a), len(b)))
}

func (run *storeRun) print(out io.Writer, corpora []*corpus, direct, stored *tally, same, top1 float64) {
	fmt.Fprintf(out, "### Through the store on Postgres (%d projects, %d memories, first seed)\n\n", len(corpora), memories(corpora))
	row := func(name string, t *tally) []string {
		f := func(m string) string { return fmt.Sprintf("%.1f", 100*t.mean(m)) }
		return []string{
			name, f("R@5/every/words"), f("R@10/every/words"), f("R@10/every/all"), f("latest first"), f("fresh recall"), f("stale as fact"),
			fmt.Sprintf("%.2f", t.absence(absenceRatio, false)), fmt.Sprintf("%.1f / %.1f", percentile(t.times, .5), percentile(t.times, .95)),
		}
	}
	table(out, []string{"path", "R@5 words", "R@10 words", "R@10 all", "latest first", "fresh recall", "stale as fact", "abstention F1", "ms p50 / p95"},
		[][]string{row("in process", direct), row("store", stored)})
	fmt.Fprintf(out, "The first ten agree by %.1f %%, the first one in %.1f %% of the questions. Of %d stale memories shown %d were marked. Leaks: %d.\n\n",
		same, top1, run.shown, run.marked, run.leaks)
}

// fill makes a database of the service and stores the world in it, at the times of the log.
func (s *server) fill(ctx context.Context, w *world.World, corpora []*corpus) (*storeRun, error) {
	if err := s.pg.EnsureDatabase(ctx, "store"); err != nil {
		return nil, err
	}
	if _, err := migrate.Up(ctx, s.pg.DSN("store"), migrate.Options{}); err != nil {
		return nil, err
	}
	pool, err := coord.Open(ctx, s.pg.DSN("store"), 1) // one connection, so that the clock's setting is its own
	if err != nil {
		return nil, err
	}
	run := &storeRun{pool: pool, store: coord.New(pool)}
	// The database's clock is one function; this one tells the time of the log.
	if _, err := pool.Exec(ctx, `create or replace function coord.now() returns timestamptz language sql volatile parallel safe
		as $$ select coalesce(nullif(pg_catalog.current_setting('codingmem.now', true), '')::timestamptz, pg_catalog.clock_timestamp()) $$`); err != nil {
		return nil, err
	}
	shift := time.Since(w.End)
	for _, c := range corpora {
		if err := run.tell(ctx, c, shift); err != nil {
			return nil, err
		}
	}
	// The counts are folded at the beginning of time, where nothing is old enough for retention.
	if err := run.at(ctx, w.Start.Add(shift)); err != nil {
		return nil, err
	}
	for {
		swept, err := run.store.SweepMemory(ctx, 1000)
		if err != nil {
			return nil, err
		}
		if swept.Folded == 0 {
			break
		}
	}
	if err := run.at(ctx, time.Now()); err != nil {
		return nil, err
	}
	return run, run.collide(ctx)
}

func (run *storeRun) at(ctx context.Context, t time.Time) error {
	_, err := run.pool.Exec(ctx, `select set_config('codingmem.now', $1, false)`, t.UTC().Format(time.RFC3339Nano))
	return err
}

// tell stores a project's memories. All projects have agents and sessions of the same names.
func (run *storeRun) tell(ctx context.Context, c *corpus, shift time.Duration) error {
	ids, callers := map[string]int64{}, map[string]ident.Caller{}
	var caller ident.Caller
	for i := range c.docs {
		m := c.docs[i].m
		if err := run.at(ctx, m.Event.At.Add(shift)); err != nil {
			return err
		}
		key := fmt.Sprintf("session-%d/%s", m.Event.Session, m.Event.Agent)
		var ok bool
		if caller, ok = callers[key]; !ok {
			var err error
			caller, err = run.store.Resolve(ctx, ident.Principal{Name: "key:bench", Scopes: []ident.Scope{ident.Write}},
				ident.Claim{Project: c.p.Name, Agent: m.Event.Agent, AgentType: m.Event.Vendor, Session: fmt.Sprintf("session-%d", m.Event.Session)}, true)
			if err != nil {
				return err
			}
			callers[key] = caller
		}
		id, err := run.keep(ctx, caller, m)
		if err != nil {
			return fmt.Errorf("store %q: %w", m.Summary, err)
		}
		ids[id] = m.ID
	}
	var files []client.FileDigest
	for path, digest := range c.p.Digests {
		files = append(files, client.FileDigest{Path: path, Digest: digest})
	}
	if _, err := run.store.ReportDigests(ctx, caller, client.ReportDigests{Files: files}); err != nil {
		return err
	}
	run.ids, run.callers = append(run.ids, ids), append(run.callers, caller)
	return nil
}

// keep stores one memory and returns its id on the wire.
func (run *storeRun) keep(ctx context.Context, caller ident.Caller, m *world.Memory) (string, error) {
	details := map[string]any{}
	for k, v := range m.Details {
		details[k] = v
	}
	if m.Skill {
		var steps []any
		for _, v := range m.Details {
			steps = append(steps, v)
		}
		out, err := run.store.StoreSkill(ctx, caller, client.StoreSkill{
			Name: m.Summary, Description: strings.Join(m.Lessons, " "), Steps: steps, Tags: m.Tags,
		})
		return out.SkillID, err
	}
	out, err := run.store.Remember(ctx, caller, client.Remember{
		EventType: m.EventType, Summary: m.Summary, Details: details, Outcome: m.Outcome, Lessons: m.Lessons, Tags: m.Tags, Path: m.Path, Digest: m.Digest,
	})
	return out.MemoryID, err
}

// collide makes the index of every other project have the terms of the first one too, as if all their hashes collided:
// a reply may still hold memories of its own project only.
func (run *storeRun) collide(ctx context.Context) error {
	_, err := run.pool.Exec(ctx, `update coord.memory_index i set terms = (
		select array_agg(distinct t order by t) from (select unnest(i.terms) union select unnest(j.terms)) x (t))
		from (select distinct on (id % 97) id, terms from coord.memory_index where project_id = $1 order by id % 97, id) j
		where i.project_id <> $1 and i.id % 97 = j.id % 97`, run.callers[0].ProjectID)
	return err
}

// ask recalls through the store.
func (run *storeRun) ask(ctx context.Context, c *corpus, q *question, t *tally) (reply, error) {
	project := int(c.number) - 1
	start := time.Now()
	got, err := run.store.Recall(ctx, run.callers[project], client.Recall{TaskDescription: q.Text, Limit: depth})
	t.times = append(t.times, float64(time.Since(start).Microseconds())/1000)
	if err != nil {
		return reply{}, err
	}
	r := reply{nothing: got.NothingRelevant, absent: got.NothingRelevant || got.LowConfidence, stale: map[int64]bool{}}
	for _, m := range got.Memories {
		id, ok := run.ids[project][m.MemoryID]
		if !ok {
			run.leaks++
			continue
		}
		r.ids = append(r.ids, id)
		if c.docs[id-1].m.Stale {
			run.shown++
		}
		if m.Stale {
			run.marked++
			r.stale[id] = true
		}
	}
	return r, nil
}
