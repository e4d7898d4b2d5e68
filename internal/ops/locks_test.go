package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

var reviewer = ident.Principal{Name: "person:rev", Person: "rev", Scopes: []ident.Scope{ident.Reviewer}}

// lock acquires as agent in a session named after it. more are further arguments, name and value alternating.
func (w *world) lock(agent, path string, more ...any) client.LockResult {
	w.t.Helper()
	args := map[string]any{"file_path": path}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	if args["file_paths"] != nil {
		delete(args, "file_path")
	}
	return must[client.LockResult](w, anyone, agent, agent+"-s", "acquire_lock", args)
}

func (w *world) unlock(agent, path string) client.ReleaseResult {
	w.t.Helper()
	return must[client.ReleaseResult](w, anyone, agent, agent+"-s", "release_lock", map[string]any{"file_path": path})
}

func (w *world) granted(r client.LockResult) client.LockResult {
	w.t.Helper()
	if !r.Success || r.FencingToken == "" || r.ExpiresAt == "" {
		w.t.Fatalf("not granted: %+v", r)
	}
	return r
}

func (w *world) blocked(r client.LockResult, by string) client.LockResult {
	w.t.Helper()
	if r.Success || r.Action != "blocked" || r.Reason != "locked_by_other" || r.LockedBy != by || len(r.Conflicts) == 0 || r.Next == "" {
		w.t.Fatalf("want blocked by %s: %+v", by, r)
	}
	return r
}

func TestLockLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.granted(w.lock("ana", "src/a.go", "reason", "refactoring"))
	if a.Action != "acquired" || a.FilePath != "src/a.go" {
		t.Fatalf("%+v", a)
	}
	b := w.blocked(w.lock("bob", "./src//x/../a.go"), "ana")
	if c := b.Conflicts[0]; b.LockReason != "refactoring" || b.ExpiresAt != a.ExpiresAt || b.QueuePosition != 1 || c.SessionID != "ana-s" ||
		c.SecondsLeft < 1790 || c.SecondsLeft > 1800 || c.FilePath != "src/a.go" {
		t.Fatalf("%+v", b)
	}
	again := w.granted(w.lock("ana", "src/a.go", "ttl_minutes", 60.0))
	if again.Action != "refreshed" || again.FencingToken != a.FencingToken || again.ExpiresAt <= a.ExpiresAt {
		t.Fatalf("renewal: %+v", again)
	}
	if r := w.unlock("bob", "src/a.go"); r.Success || r.Reason != "lock_not_found_or_not_owner" || r.Released {
		t.Fatalf("a stranger released: %+v", r)
	}
	if r := w.unlock("ana", "src/a.go"); !r.Success || !r.Released || r.Action != "released" || r.FilePath != "src/a.go" || r.Count != 1 {
		t.Fatalf("%+v", r)
	}
	if r := w.unlock("ana", "src/a.go"); r.Success || r.Reason != "lock_not_found_or_not_owner" {
		t.Fatalf("released twice: %+v", r)
	}
	if c := w.granted(w.lock("bob", "src/a.go")); c.Action != "acquired" || len(c.FencingToken) < len(a.FencingToken) || c.FencingToken == a.FencingToken {
		t.Fatalf("%+v", c)
	}
	if n := w.audited("acquire_lock", true); n != 2 {
		t.Errorf("%d audit rows of acquire_lock, want one per grant", n)
	}
	if n := w.audited("release_lock", true); n != 1 {
		t.Errorf("%d audit rows of release_lock", n)
	}
}

func TestLockManyAllOrNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "b.go"))
	r := w.blocked(w.lock("bob", "", "file_paths", []any{"a.go", "b.go", "c.go", "db:migration"}), "ana")
	if len(r.Conflicts) != 1 || r.Conflicts[0].FilePath != "b.go" || !slices.Equal(r.FreeNearby, []string{"a.go", "c.go", "db:migration"}) {
		t.Fatalf("%+v", r)
	}
	if n := scan[int](w, `select count(*) from public.file_locks`); n != 1 {
		t.Fatalf("%d rows after a refusal", n)
	}
	g := w.granted(w.lock("bob", "", "file_paths", []any{"a.go", "c.go", "db:migration", "lib/", "**/*.sql", "x/{p,q}.ts"}))
	if len(g.Locks) != 7 {
		t.Fatalf("%+v", g)
	}
	dir := w.blocked(w.lock("ana", "x/"), "bob")
	if !slices.Equal(dir.FreeNearby, []string{"x/ except **/*.sql, x/p.ts, x/q.ts"}) {
		t.Errorf("%q", dir.FreeNearby)
	}
	if r := w.blocked(w.lock("ana", "lib/sub/"), "bob"); len(r.FreeNearby) != 0 {
		t.Errorf("nothing is free within a locked directory: %q", r.FreeNearby)
	}
	for _, p := range []string{"lib/deep/er.go", "lib", "db/001.sql", "db:migration", "x/*.ts", "**"} {
		w.blocked(w.lock("ana", p), "bob")
	}
	w.granted(w.lock("ana", "db:other"))
	rel := must[client.ReleaseResult](w, anyone, "bob", "bob-s", "release_lock", map[string]any{"all": true})
	if !rel.Success || rel.Count != 7 {
		t.Fatalf("%+v", rel)
	}
	w.granted(w.lock("ana", "**"))
}

func TestLockBranchesRepositoriesAndModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f", "branch", "main"))
	w.granted(w.lock("bob", "f", "branch", "dev"))
	w.blocked(w.lock("cyd", "f"), "ana")
	w.exec(`insert into public.repositories (project_id, name) select id, 'other' from public.projects where name = 'demo'`)
	w.granted(w.lock("ana", "@other//f"))
	if r := w.blocked(w.lock("bob", "@other//f"), "ana"); r.FilePath != "@other//f" || r.Conflicts[0].FilePath != "@other//f" {
		t.Fatalf("%+v", r)
	}
	w.granted(w.lock("ana", "doc/", "mode", "shared"))
	w.granted(w.lock("bob", "doc/a.md", "mode", "shared"))
	w.blocked(w.lock("cyd", "doc/a.md"), "ana")
	w.blocked(w.lock("ana", "doc/"), "bob") // upgrade while another shares
}

func TestLockSessionsOfOneAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.granted(w.lock("ana", "f"))
	r := must[client.LockResult](w, anyone, "ana", "second", "acquire_lock", map[string]any{"file_path": "f"})
	w.blocked(r, "ana")
	if !strings.Contains(r.Next, "ana-s") {
		t.Fatalf("it is not told that it is itself: %q", r.Next)
	}
	if r := must[client.ReleaseResult](w, anyone, "ana", "second", "release_lock", map[string]any{"file_path": "f"}); r.Success {
		t.Fatalf("another session released: %+v", r)
	}
	if r := must[client.ReleaseResult](w, anyone, "ana", "", "release_lock", map[string]any{"file_path": "f"}); !r.Success {
		t.Fatalf("without a session: %+v", r)
	}
}

func TestLockExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.granted(w.lock("ana", "f", "ttl_minutes", 1.0))
	w.later(59 * time.Second)
	w.blocked(w.lock("bob", "f"), "ana")
	w.later(61 * time.Second)
	if s := must[client.LockState](w, anyone, "", "", "lock_status", map[string]any{"file_path": "f"}); s.Locked {
		t.Fatalf("%+v", s)
	}
	w.granted(w.lock("bob", "f"))
	n := w.notices("ana", "ana-s")
	if len(n) != 1 || n[0].Kind != "lock_lost" || !strings.Contains(n[0].Text, "bob") {
		t.Fatalf("the loser is not told: %+v", n)
	}
	if _, err := do[client.VerifiedLock](w, anyone, "", "", "verify_lock", map[string]any{"file_path": "f", "fencing_token": a.FencingToken}); err == nil {
		t.Fatal("a stale token is good")
	} else if f := w.refused(err, client.CodeLeaseLost); !strings.Contains(f.Why, "bob") {
		t.Fatalf("%+v", f)
	}
	if r := w.unlock("ana", "f"); r.Success {
		t.Fatal("the former owner freed the new owner's lock")
	}
	w.blocked(w.lock("cyd", "f"), "bob")
	if got := scan[int](w, `select locks_expired from public.agents where agent_id = 'ana'`); got != 1 {
		t.Fatalf("locks_expired = %d", got)
	}
	w.later(40 * time.Minute)
	if _, err := w.store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.notices("bob", "bob-s"); len(n) != 1 || n[0].Kind != "lock_lost" {
		t.Fatalf("%+v", n)
	}
	if scan[int](w, `select count(*) from public.file_locks`) != 0 || w.audited("expire_lock", true) != 1 {
		t.Fatal("the sweep left the row, or no audit row")
	}
}

func TestLockVerifyForceRenew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.granted(w.lock("ana", "src/", "ttl_minutes", 10.0))
	v := must[client.VerifiedLock](w, anyone, "", "", "verify_lock", map[string]any{"file_path": "src/x.go", "fencing_token": a.FencingToken})
	if !v.Valid || v.LockedBy != "ana" {
		t.Fatalf("%+v", v)
	}
	w.later(5 * time.Minute)
	r := must[client.RenewedLocks](w, anyone, "ana", "ana-s", "renew_locks", nil)
	if r.Renewed != 1 || r.Held != 1 {
		t.Fatalf("%+v", r)
	}
	if r = must[client.RenewedLocks](w, anyone, "ana", "ana-s", "renew_locks", nil); r.Renewed != 0 || r.Held != 1 {
		t.Fatalf("%+v", r)
	}
	if _, err := do[client.ForceReleased](w, anyone, "bob", "", "force_release_lock", map[string]any{"file_path": "src/", "reason": "stuck"}); err == nil {
		t.Fatal("without the scope")
	}
	f, err := do[client.ForceReleased](w, reviewer, "", "", "force_release_lock", map[string]any{"file_path": "src/", "reason": "stuck for an hour"})
	if err != nil || !f.Released || f.PriorHolderAgentID != "ana" || f.PriorLockedAt == "" {
		t.Fatalf("%+v %v", f, err)
	}
	if n := w.notices("ana", "ana-s"); len(n) != 1 || !strings.Contains(n[0].Text, "stuck for an hour") {
		t.Fatalf("%+v", n)
	}
	w.granted(w.lock("bob", "src/x.go"))
}

func TestLockRefusesBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, args := range []map[string]any{
		{},
		{"file_path": "/etc/passwd"},
		{"file_path": "../x"},
		{"file_path": `C:\x`},
		{"file_path": "a\x00b"},
		{"file_path": "a", "file_paths": []any{"b"}},
		{"file_paths": []any{}},
		{"file_path": strings.Repeat("x", 1025)},
		{"file_path": "a", "ttl_minutes": 0.0},
		{"file_path": "a", "ttl_minutes": 481.0},
		{"file_path": "a", "wait_seconds": 56.0},
		{"file_path": "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"},
	} {
		_, err := do[client.LockResult](w, anyone, "ana", "", "acquire_lock", args)
		w.refused(err, client.CodeInvalid)
	}
	if n := scan[int](w, `select count(*) from public.file_locks`); n != 0 {
		t.Fatalf("%d rows", n)
	}
	_, err := do[client.LockResult](w, anyone, "ana", "", "acquire_lock", map[string]any{"file_path": "a"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = do[client.LockResult](w, anyone, "ana", "", "acquire_lock", map[string]any{"file_path": "@nowhere//a"})
	w.refused(err, client.CodeNotFound)
}

func TestLockLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.granted(w.lock("ana", fmt.Sprintf("a/%d.go", i)))
	}
	w.granted(w.lock("bob", "app/[id]/page.tsx"))
	w.granted(w.lock("bob", "api:GET /users/{id}"))
	all := must[client.Locks](w, anyone, "", "", "check_locks", nil)
	if all.Count != 7 || all.Truncated {
		t.Fatalf("%+v", all)
	}
	some := must[client.Locks](w, anyone, "", "", "check_locks", map[string]any{"file_paths": []any{"a/*.go", "app/[id]/"}, "limit": 3.0})
	if some.Count != 3 || !some.Truncated || some.Locks[0].FilePath != "a/0.go" || some.Locks[2].FilePath != "a/2.go" { // oldest first
		t.Fatalf("%+v", some)
	}
	// A lock that is stored under two readings of its brackets counts once, also against the limit.
	if one := must[client.Locks](w, anyone, "", "", "check_locks", map[string]any{"file_paths": []any{"app/[id]/"}, "limit": 1.0}); one.Count != 1 || one.Truncated {
		t.Fatalf("%+v", one)
	}
	if got := must[client.Locks](w, anyone, "", "", "check_locks", map[string]any{"file_paths": []any{"app/[id]/page.tsx"}}); got.Count != 1 || got.Locks[0].LockedBy != "bob" {
		t.Fatalf("%+v", got)
	}
	if got := must[client.Locks](w, anyone, "", "", "check_locks", map[string]any{"locked_by": "bob"}); got.Count != 2 {
		t.Fatalf("%+v", got)
	}
	for _, p := range []string{"a,b.py", "x&y.py", "12345", "true", "ünï.go"} {
		w.granted(w.lock("ana", p))
		if s := must[client.LockState](w, anyone, "", "", "lock_status", map[string]any{"file_path": p}); !s.Locked || s.Lock.LockedBy != "ana" {
			t.Fatalf("%s: %+v", p, s)
		}
	}
}
