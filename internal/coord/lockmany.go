package coord

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// oneKey is a call of the short path, with what coord.acquire_lock and coord.release_lock are told.
type oneKey struct {
	c      ident.Caller
	f      fast
	anc    []string
	branch string
	mode   string
	ttl    int
	reason string
}

const (
	locksAlone   = 3 // calls of the short path that go alone at a time
	locksBatches = 2 // statements for several at a time
)

func newTakes(s *Store) *batcher[oneKey, fastRow] {
	return &batcher[oneKey, fastRow]{direct: locksAlone, workers: locksBatches, alone: s.takeAlone, many: s.takeMany, undo: s.giveBack}
}

func newFrees(s *Store) *batcher[oneKey, bool] {
	return &batcher[oneKey, bool]{direct: locksAlone, workers: locksBatches, alone: s.freeAlone, many: s.freeMany}
}

// take asks for one key. Who was refused it lately, in this process, has a look first at who holds it, which costs a
// third of asking and is the answer as a rule. A key that the look finds free is asked for as any other.
func (s *Store) take(ctx context.Context, k oneKey) (fastRow, error) {
	id := k.id()
	if s.asked.refused.has(id, time.Now()) {
		if r, ok, err := s.holder(ctx, k); ok || err != nil {
			return r, err
		}
		s.asked.refused.forget(id)
	}
	r, err := s.ask(ctx, id, k)
	if err == nil && r.Outcome == outcomeHeld {
		s.asked.refused.note(id, time.Now().Add(r.ExpiresAt.Sub(*r.Now)))
	}
	return r, err
}

// ask asks for one key, together with others when many ask at once. Calls in a transaction go alone, and so do those
// for shared locks, of which one session may ask for the same twice at a time, and those for a key that is just asked
// for: most of them are refused, which alone is a look without a commit and in a batch would wait for one.
func (s *Store) ask(ctx context.Context, id lockID, k oneKey) (fastRow, error) {
	first, leave := s.asked.enter(id)
	defer leave()
	if _, inTx := ctx.Value(txKey{}).(*unit); inTx || !first || k.mode != exclusive {
		return s.takeAlone(ctx, k)
	}
	return s.takes.do(ctx, k)
}

// lockID names a literal key of the installation.
type lockID struct {
	project, space int64
	key            string
}

func (k *oneKey) id() lockID { return lockID{k.c.ProjectID, k.f.space.ID, k.f.key.Key} }

// refused remembers keys that others held when they were asked for, until the lock that was in the way ends. It is a
// hint: a key may be free long before, and is taken then.
type refused struct {
	mu    sync.Mutex
	until map[lockID]time.Time
}

const refusedMax = 20_000 // keys remembered; a full map is emptied

func (r *refused) has(id lockID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, ok := r.until[id]
	if ok && !now.Before(until) {
		delete(r.until, id)
	}
	return ok && now.Before(until)
}

func (r *refused) note(id lockID, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil || len(r.until) >= refusedMax {
		r.until = map[lockID]time.Time{}
	}
	r.until[id] = until
}

func (r *refused) forget(id lockID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.until, id)
}

// asked counts the calls under way for each key.
type asked struct {
	refused refused

	mu sync.Mutex
	n  map[lockID]int
}

// enter reports whether nobody else asks for the key; leave ends the call.
func (a *asked) enter(id lockID) (first bool, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == nil {
		a.n = map[lockID]int{}
	}
	a.n[id]++
	return a.n[id] == 1, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.n[id]--; a.n[id] == 0 {
			delete(a.n, id)
		}
	}
}

// free is take's counterpart.
func (s *Store) free(ctx context.Context, k oneKey) (bool, error) {
	s.asked.refused.forget(k.id())
	if _, inTx := ctx.Value(txKey{}).(*unit); inTx {
		return s.freeAlone(ctx, k)
	}
	return s.frees.do(ctx, k)
}

// giveBack undoes a grant whose caller left while it was made for several.
func (s *Store) giveBack(ctx context.Context, k oneKey, r fastRow) {
	if r.Outcome == "acquired" && r.Token != nil && k.c.RequestKey == "" {
		_ = s.UndoLock(ctx, k.c, *r.Token) // else it ends with its time
	}
}

// holder looks who has the key; ok is false when coord.acquire_lock has to find out.
func (s *Store) holder(ctx context.Context, k oneKey) (_ fastRow, ok bool, err error) {
	rows, err := list[fastRow](ctx, s, `select 'held' as outcome, null::bigint as token, * from coord.lock_holder($1, $2, $3, $4, $5, $6)`,
		k.c.ProjectID, k.c.SessionID, k.f.space.ID, k.f.key.Key, k.anc, k.branch)
	if err != nil || len(rows) == 0 {
		return fastRow{}, false, err
	}
	return rows[0], true, nil
}

func (s *Store) takeAlone(ctx context.Context, k oneKey) (fastRow, error) {
	rows, err := list[fastRow](ctx, s, `select * from coord.acquire_lock($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, nullif($13, ''))`,
		k.c.ProjectID, k.c.SessionID, k.c.By, k.f.space.ID, k.f.key.Key, k.anc, k.f.key.Path, k.f.shown, k.f.space.Name, k.branch, k.mode, k.ttl, k.reason)
	if err != nil {
		return fastRow{}, err
	}
	if len(rows) != 1 {
		return fastRow{}, fault.New(client.CodeInternal, "coord.acquire_lock answered no row", "", "report it")
	}
	return rows[0], nil
}

func (s *Store) freeAlone(ctx context.Context, k oneKey) (bool, error) {
	return one[bool](ctx, s, `select coord.release_lock($1, $2, $3, $4, $5, $6, $7)`,
		k.c.ProjectID, k.c.SessionID, k.c.By, k.f.space.ID, k.f.key.Key, k.anc, k.f.shown)
}

func (s *Store) takeMany(ctx context.Context, all []oneKey) ([]fastRow, error) {
	return inOrder(all, fastRow{Outcome: "other"}, func(some []oneKey) ([]fastRow, error) {
		a := columnsOf(some)
		return list[fastRow](ctx, s, `select * from coord.acquire_lock_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			a.project, a.session, a.by, a.space, a.key, a.anc, a.path, a.shown, a.repo, a.branch, a.ttl, a.reason)
	})
}

func (s *Store) freeMany(ctx context.Context, all []oneKey) ([]bool, error) {
	return inOrder(all, false, func(some []oneKey) ([]bool, error) {
		a := columnsOf(some)
		return one[[]bool](ctx, s, `select coord.release_lock_many($1, $2, $3, $4, $5, $6, $7)`,
			a.project, a.session, a.by, a.space, a.key, a.anc, a.shown)
	})
}

// inOrder asks for the calls ordered by session and at most one of each, as coord.acquire_lock_many wants them, and
// puts the answers back into the order of the calls. Those left out get other.
func inOrder[T any](all []oneKey, other T, ask func([]oneKey) ([]T, error)) ([]T, error) {
	at := make([]int, len(all))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(all[a].c.SessionID, all[b].c.SessionID) })
	at = slices.CompactFunc(at, func(a, b int) bool { return all[a].c.SessionID == all[b].c.SessionID })
	some := make([]oneKey, len(at))
	for i, from := range at {
		some[i] = all[from]
	}
	got, err := ask(some)
	if err != nil || len(got) != len(some) {
		return nil, err
	}
	out := make([]T, len(all))
	for i := range out {
		out[i] = other
	}
	for i, to := range at {
		out[to] = got[i]
	}
	return out, nil
}

// oneKeyColumns are calls in the columns that the functions for several take.
type oneKeyColumns struct {
	project, session, space                         []int64
	by, key, anc, path, shown, repo, branch, reason []string
	ttl                                             []int32
}

func columnsOf(keys []oneKey) (a oneKeyColumns) {
	for _, k := range keys {
		a.project, a.session, a.space = append(a.project, k.c.ProjectID), append(a.session, k.c.SessionID), append(a.space, k.f.space.ID)
		a.by, a.key, a.anc = append(a.by, k.c.By), append(a.key, k.f.key.Key), append(a.anc, strings.Join(k.anc, "\n"))
		a.path, a.shown, a.repo = append(a.path, k.f.key.Path), append(a.shown, k.f.shown), append(a.repo, k.f.space.Name)
		a.branch, a.reason, a.ttl = append(a.branch, k.branch), append(a.reason, k.reason), append(a.ttl, int32(k.ttl))
	}
	return a
}
