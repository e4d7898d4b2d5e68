package coord_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

var lockKey = ident.Principal{Name: "key:locks", Scopes: []ident.Scope{ident.Write}}

// lockers is a store with helpers that speak of locks.
type lockers struct {
	t     testing.TB
	pool  *pgxpool.Pool
	store *coord.Store
}

func newLockers(t testing.TB, conns int32) *lockers {
	t.Helper()
	pool := pgtest.New(t, pgtest.MaxConns(conns))
	return &lockers{t: t, pool: pool, store: coord.New(pool)}
}

func (l *lockers) caller(agent string) ident.Caller {
	l.t.Helper()
	c, err := l.store.Resolve(context.Background(), lockKey, ident.Claim{Agent: agent, Session: agent + "-s", Project: "locks"}, true)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func (l *lockers) acquire(c ident.Caller, in client.AcquireLock) client.LockResult {
	l.t.Helper()
	a, err := l.store.AcquireLock(context.Background(), c, in, nil)
	if err != nil {
		l.t.Fatalf("%s: %v", in.FilePath, err)
	}
	return a.Result
}

func (l *lockers) exec(sql string, args ...any) {
	l.t.Helper()
	if _, err := l.pool.Exec(context.Background(), sql, args...); err != nil {
		l.t.Fatalf("%.80s: %v", sql, err)
	}
}

// lockPattern is a random spelling over few names, so that many overlap.
func lockPattern(r *rand.Rand) string {
	names := []string{"a", "b", "ab", "*", "a*", "*b", "?", "[ab]", "[!a]", "**", "a?", "{a,b}"}
	s := ""
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			s += "/"
		}
		s += names[r.IntN(len(names))]
	}
	if r.IntN(4) == 0 {
		s += "/"
	}
	return s
}

func lockKeys(t testing.TB, r *rand.Rand, n int) []lockpath.Key {
	t.Helper()
	var out []lockpath.Key
	for len(out) < n {
		keys, err := lockpath.Parse(lockPattern(r))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, keys...)
	}
	return out[:n]
}

// TestLockOverlapInSQL: the database and lockpath decide every pair alike, and the search for rivals by base finds
// exactly the overlapping ones.
func TestLockOverlapInSQL(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 2)
	sqlOverlap(l, 5_000, 120, 7)
}

func sqlOverlap(l *lockers, pairs, held int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, seed))
	ctx := context.Background()
	keys := lockKeys(l.t, r, pairs)
	var cols [12][]string
	for _, a := range keys {
		b := keys[r.IntN(len(keys))]
		for j, v := range []string{string(rune(a.Kind)), a.Base, a.Key, a.Re, a.Pre, a.Like, string(rune(b.Kind)), b.Base, b.Key, b.Re, b.Pre, b.Like} {
			cols[j] = append(cols[j], v)
		}
	}
	args := make([]any, 12)
	for j := range cols {
		args[j] = cols[j]
	}
	rows, err := l.pool.Query(ctx, `select coord.lock_meet(a,b,c,d,e,f,g,h,i,j,k,l) from unnest($1::text[],$2::text[],$3::text[],$4::text[],$5::text[],$6::text[],
		$7::text[],$8::text[],$9::text[],$10::text[],$11::text[],$12::text[]) with ordinality as u(a,b,c,d,e,f,g,h,i,j,k,l,n) order by n`, args...)
	if err != nil {
		l.t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	if err != nil {
		l.t.Fatal(err)
	}
	byKey := map[string]lockpath.Key{}
	for _, k := range keys {
		byKey[k.Base+"\x00"+k.Key] = k
	}
	for i, k := range keys {
		o := byKey[cols[7][i]+"\x00"+cols[8][i]]
		if want := lockpath.Meet(k, o); got[i] != want {
			l.t.Errorf("%s (%c) and %s (%c): SQL says %t, Go %t", k.Key, k.Kind, o.Key, o.Kind, got[i], want)
		}
	}
	rivals(l, keys, held)
}

// rivals stores held keys as locks and asks for those in the way of every other key.
func rivals(l *lockers, keys []lockpath.Key, held int) {
	stored := map[int]lockpath.Key{}
	for i, k := range keys[:held] {
		stored[i] = k
		l.exec(`insert into public.file_locks (project_id, space, base, key, session_id, kind, mode, token, ttl_minutes, acquired_at, expires_at,
			file_path, locked_by, agent_type, re, pre, lk) values (1, 1, $1, $2, $3, $4, 'exclusive', 1, 30, now(), now() + interval '1 hour', 'x', 'x', 'x',
			nullif($5, ''), nullif($6, ''), nullif($7, ''))`, k.Base, k.Key, i, string(rune(k.Kind)), k.Re, k.Pre, k.Like)
	}
	for _, k := range keys[held : held+min(400, len(keys)-held)] {
		rows, err := l.pool.Query(context.Background(), `select session_id from coord.lock_rivals(1, -1, 1, $1, $2, $3, '', 'exclusive', $4, $5, $6, coord.lock_anc($2))`,
			string(rune(k.Kind)), k.Base, k.Key, k.Re, k.Pre, k.Like)
		if err != nil {
			l.t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			l.t.Fatal(err)
		}
		hit := map[int]bool{}
		for _, f := range found {
			if hit[int(f)] {
				l.t.Fatalf("%s: found twice", stored[int(f)].Key)
			}
			hit[int(f)] = true
		}
		for i, s := range stored {
			if hit[i] != lockpath.Meet(k, s) {
				l.t.Errorf("%s (%c) against held %s (%c): found %t", k.Key, k.Kind, s.Key, s.Kind, hit[i])
			}
		}
	}
}

// TestLockRace: many clients, files and patterns; whoever is granted something checks that nobody else holds what
// overlaps it. Tokens grow along every chain of conflicting grants.
func TestLockRace(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 24)
	granted, refused := race(l, 64, 3*time.Second, 0)
	if granted < 50 || refused < 50 {
		t.Errorf("%d granted, %d refused: the race has no teeth", granted, refused)
	}
}

type holding struct {
	keys  []lockpath.Key
	token int64
}

// raceCall is a file, now and then a directory, a glob or three files.
func raceCall(r *rand.Rand) client.AcquireLock {
	file := func() string { return "d/" + strconv.Itoa(r.IntN(6)) + "/f" + strconv.Itoa(r.IntN(3)) }
	switch r.IntN(20) {
	case 0:
		return client.AcquireLock{FilePath: "d/" + strconv.Itoa(r.IntN(6)) + "/"}
	case 1:
		return client.AcquireLock{FilePath: "d/*/f" + strconv.Itoa(r.IntN(3))}
	case 2:
		return client.AcquireLock{FilePaths: []string{file(), "d/0/f1", file()}}
	}
	return client.AcquireLock{FilePath: file()}
}

// race runs clients for a while; some of them, dieEvery th, leave their lock to its expiry. It returns how many calls
// were granted and refused.
func race(l *lockers, clients int, long time.Duration, dieEvery int) (granted, refused int64) {
	var mu sync.Mutex
	held := map[int]holding{}
	var wg sync.WaitGroup
	var nGranted, nRefused atomic.Int64
	end := time.Now().Add(long)
	for id := range clients {
		c := l.caller(fmt.Sprintf("racer%d", id))
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(id), 42))
			for n := 0; time.Now().Before(end) && !l.t.Failed(); n++ {
				in := raceCall(r)
				res := l.acquire(c, in)
				if !res.Success {
					nRefused.Add(1)
					continue
				}
				nGranted.Add(1)
				spelt := in.FilePaths
				if in.FilePath != "" {
					spelt = []string{in.FilePath}
				}
				keys, _ := lockpath.ParseAll(spelt)
				token, _ := strconv.ParseInt(res.FencingToken, 10, 64)
				mu.Lock()
				for other, h := range held {
					for _, a := range keys {
						for _, b := range h.keys {
							if lockpath.Meet(a, b) {
								l.t.Errorf("client %d holds %s (token %d) while client %d holds %s (token %d)", id, a.Key, token, other, b.Key, h.token)
							}
						}
					}
				}
				held[id] = holding{keys, token}
				mu.Unlock()
				if dieEvery > 0 && r.IntN(dieEvery) == 0 { // the database ends it, at once
					mu.Lock()
					delete(held, id)
					mu.Unlock()
					l.exec(`update public.file_locks set expires_at = clock_timestamp() + interval '1 millisecond' where session_id = $1`, c.SessionID)
					continue
				}
				mu.Lock()
				delete(held, id)
				mu.Unlock()
				rel, err := l.store.ReleaseLock(context.Background(), c, client.ReleaseLock{All: true})
				if err != nil || !rel.Success {
					l.t.Errorf("release: %+v %v", rel, err)
				}
			}
		})
	}
	wg.Wait()
	return nGranted.Load(), nRefused.Load()
}

func TestLockTokensGrow(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 4)
	var last int64
	for i := range 40 {
		c := l.caller(fmt.Sprintf("a%d", i%3))
		path := []string{"x/f", "x/", "x/*"}[i%3]
		res := l.acquire(c, client.AcquireLock{FilePath: path})
		token, err := strconv.ParseInt(res.FencingToken, 10, 64)
		if err != nil || token <= last {
			t.Fatalf("token %q after %d", res.FencingToken, last)
		}
		last = token
		if _, err := l.store.ReleaseLock(t.Context(), c, client.ReleaseLock{FilePath: path}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLockRefusalWritesNothing: no transaction id, no WAL, neither on the short path nor on the general one.
func TestLockRefusalWritesNothing(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 2)
	ana, bob := l.caller("ana"), l.caller("bob")
	l.acquire(ana, client.AcquireLock{FilePath: "d/f"})
	for _, in := range []client.AcquireLock{{FilePath: "d/f"}, {FilePath: "d/"}, {FilePath: "d/*"}, {FilePaths: []string{"d/e", "d/f"}}, {FilePath: "d/f", Mode: "shared"}} {
		err := l.store.InTx(t.Context(), func(ctx context.Context) error {
			res, err := l.store.AcquireLock(ctx, bob, in, nil)
			if err != nil || res.Result.Success {
				t.Errorf("%+v: %+v %v", in, res.Result, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var xid *string
		tx, err := l.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		home := `select coord.acquire_locks($1, $2, 't', 1, array[1::bigint], '{l}', '{d/f}', '{d/f}', '{d/f}', '{default}', '{""}', '{""}', '{""}', '', 'exclusive', 30, null)`
		var reply map[string]any
		if err := tx.QueryRow(t.Context(), home, bob.ProjectID, bob.SessionID).Scan(&reply); err != nil || reply["success"] != false {
			t.Fatalf("%v %v", reply, err)
		}
		if err := tx.QueryRow(t.Context(), `select pg_current_xact_id_if_assigned()::text`).Scan(&xid); err != nil || xid != nil {
			t.Fatalf("the refusal took transaction id %v (%v)", xid, err)
		}
		_ = tx.Rollback(t.Context())
	}
	var before, after int64
	wal := `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint from pg_stat_xact_all_tables`
	err := l.store.InTx(t.Context(), func(ctx context.Context) error {
		for range 20 {
			if _, err := l.store.AcquireLock(ctx, bob, client.AcquireLock{FilePath: "d/f"}, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = l.pool.QueryRow(t.Context(), wal).Scan(&before)
	_ = l.pool.QueryRow(t.Context(), wal).Scan(&after)
	if after != before {
		t.Errorf("rows were written: %d, %d", before, after)
	}
}

func TestLockNeedsReadCommitted(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 2)
	c := l.caller("ana")
	tx, err := l.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	var outcome string
	if err := tx.QueryRow(t.Context(), `select outcome from coord.acquire_lock($1, $2, 't', 1, 'f', '{"",f}', 'f', 'f', 'r', '', 'exclusive', 30, null)`,
		c.ProjectID, c.SessionID).Scan(&outcome); err != nil || outcome != "other" {
		t.Fatalf("%s %v", outcome, err)
	}
	_, err = tx.Exec(t.Context(), `select coord.acquire_locks($1, $2, 't', 1, array[1::bigint], '{l}', '{f}', '{f}', '{f}', '{default}', '{""}', '{""}', '{""}', '', 'exclusive', 30, null)`,
		c.ProjectID, c.SessionID)
	if err == nil || !strings.Contains(err.Error(), "READ COMMITTED") {
		t.Fatal(err)
	}
}

// TestLockPlansReadByKey: with 100,000 locks of others in the project a call still touches a handful of pages,
// whatever the statistics were when its plan was made.
func TestLockPlansReadByKey(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 1) // one connection, so that its plans were made when the table was empty
	ana, bob := l.caller("ana"), l.caller("bob")
	calls := []client.AcquireLock{{FilePath: "new/f"}, {FilePath: "new/d/"}, {FilePath: "new/*.go"}, {FilePaths: []string{"new/1", "new/2", "new/3"}}, {FilePath: "new/s", Mode: "shared"}}
	round := func() {
		for _, in := range calls {
			if r := l.acquire(ana, in); !r.Success {
				t.Fatalf("%+v", r)
			}
			in.Mode = "exclusive"
			for range 2 { // the second time the short path looks first who holds it
				if r := l.acquire(bob, in); r.Success {
					t.Fatalf("%+v", r)
				}
			}
			if r, err := l.store.ReleaseLock(t.Context(), ana, client.ReleaseLock{FilePath: in.FilePath, FilePaths: in.FilePaths}); err != nil || !r.Success {
				t.Fatalf("%+v %v", r, err)
			}
		}
	}
	for range 7 {
		round()
	}
	l.exec(`insert into public.file_locks (project_id, space, base, key, session_id, kind, mode, token, ttl_minutes, acquired_at, expires_at, file_path, locked_by, agent_type)
		select $1, (select id from public.repositories where project_id = $1), k, k, 999, 'l', 'exclusive', 1, 30, now(), now() + interval '1 hour', k, 'x', 'x'
		from (select 'old/' || i % 500 || '/' || i k from generate_series(1, 100000) i) x`, ana.ProjectID)
	// A scan reads more than 2,000 pages; a look-up about four.
	read := func() int64 {
		var n int64
		if err := l.pool.QueryRow(t.Context(), `select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::bigint from pg_statio_user_tables where relname = 'file_locks'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	l.exec(`select pg_stat_force_next_flush()`)
	before := read()
	round()
	l.exec(`select pg_stat_force_next_flush()`)
	if pages := read() - before; pages > 1000 {
		t.Errorf("%d calls read %d pages", 4*len(calls), pages)
	} else {
		t.Logf("%d calls read %d pages", 4*len(calls), pages)
	}
}

// A path may be named twice in one call, once with its repository's name: it is one lock.
func TestTheSamePathByTwoNames(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 2)
	c := l.caller("ana")
	l.exec(`select coord.ensure_project('locks')`)
	if r := l.acquire(c, client.AcquireLock{FilePath: "first.go"}); !r.Success { // makes the project's repository
		t.Fatalf("%+v", r)
	}
	var name string
	if err := l.pool.QueryRow(t.Context(), `select r.name from public.repositories r where r.project_id = $1 order by r.id limit 1`, c.ProjectID).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if r := l.acquire(c, client.AcquireLock{FilePaths: []string{"a", "@" + name + "//a"}}); !r.Success {
		t.Errorf("%+v", r)
	}
}
