package coord_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
)

// modelLock is one lock of the model: who has what, how, until when.
type modelLock struct {
	owner  int
	key    lockpath.Key
	branch string
	shared bool
	until  time.Time
	token  int64
}

// lockModel is what locks are meant to do, in fifty lines: a list, and overlap by lockpath.
type lockModel struct {
	now   time.Time
	locks []modelLock
}

func (m *lockModel) live() []modelLock {
	return slices.DeleteFunc(slices.Clone(m.locks), func(l modelLock) bool { return !l.until.After(m.now) })
}

// inTheWay tells whether somebody else holds what conflicts with the keys.
func (m *lockModel) inTheWay(owner int, keys []lockpath.Key, branch string, shared bool) bool {
	for _, l := range m.live() {
		for _, k := range keys {
			if l.owner != owner && (!l.shared || !shared) && (l.branch == "" || branch == "" || l.branch == branch) && lockpath.Meet(l.key, k) {
				return true
			}
		}
	}
	return false
}

// take grants the keys and tells whether all of them were held alike before.
func (m *lockModel) take(owner int, keys []lockpath.Key, branch string, shared bool, ttl time.Duration, token int64) (renewed bool) {
	renewed = true
	for _, k := range keys {
		i := slices.IndexFunc(m.locks, func(l modelLock) bool {
			return l.owner == owner && l.key.Base == k.Base && l.key.Key == k.Key && l.branch == branch
		})
		if i >= 0 && m.locks[i].until.After(m.now) && m.locks[i].shared == shared {
			m.locks[i].until = m.now.Add(ttl)
			continue
		}
		renewed = false
		if i >= 0 {
			m.locks = slices.Delete(m.locks, i, i+1)
		}
		m.locks = append(m.locks, modelLock{owner, k, branch, shared, m.now.Add(ttl), token})
	}
	return renewed
}

func (m *lockModel) free(owner int, keys []lockpath.Key) (freed bool) {
	m.locks = slices.DeleteFunc(m.locks, func(l modelLock) bool {
		hit := l.owner == owner && l.until.After(m.now) && slices.ContainsFunc(keys, func(k lockpath.Key) bool { return k.Base == l.key.Base && k.Key == l.key.Key })
		freed = freed || hit
		return hit
	})
	return freed
}

// TestLockModel runs random calls against the database and the model: I1 to I4 and I23 of the contract.
func TestLockModel(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 2)
	clock := fakeClock(t, l.pool)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := &lockModel{now: clock.now()}
		agents := make([]ident.Caller, 3)
		for i := range agents {
			c, err := l.store.Resolve(context.Background(), lockKey, ident.Claim{Agent: fmt.Sprintf("m%d", i), Session: "s", Project: "model" + strconv.Itoa(run)}, true)
			if err != nil {
				rt.Fatal(err)
			}
			agents[i] = c
		}
		paths := []string{"a", "a/", "a/b", "a/b/", "a/*", "**/b", "c", "db:a", "x/{a,b}", "[ab]"}
		who, what := rapid.IntRange(0, 2), rapid.SampledFrom(paths)
		rt.Repeat(map[string]func(*rapid.T){
			"acquire": func(rt *rapid.T) {
				modelAcquire(l, rt, m, agents, who.Draw(rt, "who"), rapid.SliceOfN(what, 1, 3).Draw(rt, "paths"))
			},
			"release": func(rt *rapid.T) {
				o, p := who.Draw(rt, "who"), what.Draw(rt, "path")
				keys, _ := lockpath.Parse(p)
				res, err := l.store.ReleaseLock(context.Background(), agents[o], client.ReleaseLock{FilePath: p})
				if want := m.free(o, keys); err != nil || res.Success != want {
					rt.Fatalf("release %s by %d: %+v %v, want %t", p, o, res, err, want)
				}
			},
			"time": func(rt *rapid.T) {
				d := time.Duration(rapid.IntRange(10, 90).Draw(rt, "seconds")) * time.Second
				clock.pass(d)
				m.now = m.now.Add(d)
			},
			"sweep": func(rt *rapid.T) {
				if err := exec(l, `select coord.sweep_locks(100)`); err != nil {
					rt.Fatal(err)
				}
			},
			"verify": func(rt *rapid.T) {
				if len(m.locks) == 0 {
					rt.Skip()
				}
				k := rapid.SampledFrom(m.locks).Draw(rt, "lock")
				_, err := l.store.VerifyLock(context.Background(), agents[0], client.VerifyLock{FilePath: k.key.Path, FencingToken: strconv.FormatInt(k.token, 10)})
				// The keys of one call share its token: a live one that covers an expired one vouches for it.
				valid := slices.ContainsFunc(m.live(), func(l modelLock) bool { return l.token == k.token && vouches(l.key, k.key.Path) })
				if valid != (err == nil) || err != nil && !fault.Is(err, client.CodeLeaseLost) {
					rt.Fatalf("verify %s token %d: %v", k.key.Key, k.token, err)
				}
			},
			"": func(rt *rapid.T) { modelCompare(l, rt, m, agents[0]) },
		})
	})
}

// vouches tells whether a lock on key is one on all of path: the same, or path is one file, or key a folder around it.
func vouches(key lockpath.Key, path string) bool {
	keys, _ := lockpath.Parse(path)
	k := keys[0]
	inside := key.Kind == lockpath.Dir && (k.Base == key.Base || key.Base == "" || strings.HasPrefix(k.Base, key.Base+"/"))
	return lockpath.Meet(key, k) && (key.Key == k.Key || k.Kind == lockpath.Literal || inside)
}

func exec(l *lockers, sql string, args ...any) error {
	_, err := l.pool.Exec(context.Background(), sql, args...)
	return err
}

func modelAcquire(l *lockers, rt *rapid.T, m *lockModel, agents []ident.Caller, o int, paths []string) {
	keys, err := lockpath.ParseAll(paths)
	if err != nil {
		rt.Fatal(err)
	}
	shared, minutes, branch := rapid.Bool().Draw(rt, "shared"), rapid.IntRange(1, 2).Draw(rt, "minutes"), rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "branch")
	in := client.AcquireLock{FilePaths: paths, TTLMinutes: minutes, Branch: branch}
	if shared {
		in.Mode = "shared"
	}
	a, err := l.store.AcquireLock(context.Background(), agents[o], in, nil)
	if err != nil {
		rt.Fatal(err)
	}
	res := a.Result
	if blocked := m.inTheWay(o, keys, branch, shared); blocked == res.Success {
		rt.Fatalf("%d takes %q (shared %t, branch %q): %+v, model says blocked %t", o, paths, shared, branch, res, blocked)
	}
	if !res.Success {
		if len(res.Conflicts) == 0 || res.LockedBy == agents[o].Agent {
			rt.Fatalf("a refusal that names nobody else: %+v", res)
		}
		return
	}
	renewed := m.take(o, keys, branch, shared, time.Duration(minutes)*time.Minute, a.Grant)
	if renewed != (res.Action == "refreshed") || renewed != (a.Grant == 0) {
		rt.Fatalf("%q: %+v, model says renewed %t", paths, res, renewed)
	}
}

// modelCompare: the live rows are the model's live locks, and no two of them conflict.
func modelCompare(l *lockers, rt *rapid.T, m *lockModel, c ident.Caller) {
	rows, err := l.pool.Query(context.Background(), `select locked_by || ' ' || key || ' ' || branch || ' ' || mode || ' ' || token from public.file_locks
		where project_id = $1 and expires_at > coord.now()`, c.ProjectID)
	if err != nil {
		rt.Fatal(err)
	}
	got := map[string]bool{}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			rt.Fatal(err)
		}
		got[s] = true
	}
	want := map[string]bool{}
	for i, k := range m.live() {
		mode := "exclusive"
		if k.shared {
			mode = "shared"
		}
		want[fmt.Sprintf("m%d %s %s %s %d", k.owner, k.key.Key, k.branch, mode, k.token)] = true
		if m.inTheWay(k.owner, []lockpath.Key{k.key}, k.branch, k.shared) {
			rt.Fatalf("lock %d of the model conflicts with another", i)
		}
	}
	if !maps.Equal(got, want) {
		rt.Fatalf("held: %q, model: %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}
