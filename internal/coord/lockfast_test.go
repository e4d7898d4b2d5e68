package coord

import (
	"context"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// literal is a call of the short path.
func (c *crowd) literal(who ident.Caller, path, branch string) oneKey {
	c.t.Helper()
	a, err := c.store.lockArgs(context.Background(), who, "file_path", []string{path})
	if err != nil {
		c.t.Fatal(err)
	}
	f, ok := a.fastKey()
	if !ok {
		c.t.Fatalf("%s is no file", path)
	}
	return oneKey{c: who, f: f, anc: f.key.Ancestors(), branch: branch, mode: exclusive, ttl: defaultTTL}
}

func (c *crowd) acquire(who ident.Caller, in client.AcquireLock) client.LockResult {
	c.t.Helper()
	got, err := c.store.AcquireLock(context.Background(), who, in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return got.Result
}

func (c *crowd) exec(sql string, args ...any) {
	c.t.Helper()
	if _, err := c.store.Pool().Exec(context.Background(), sql, args...); err != nil {
		c.t.Fatal(err)
	}
}

// TestLockHolderIsNamedOnlyWhenCertain: the look before the asking answers for a live exclusive lock of another session
// that nobody waits around, and for nothing else.
func TestLockHolderIsNamedOnlyWhenCertain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		lock   client.AcquireLock
		then   string // SQL that changes the scene
		branch string // that is asked for
		owner  bool   // the owner asks
		held   bool
	}{
		{name: "held", held: true},
		{name: "nothing there", lock: client.AcquireLock{FilePath: "src/other.go"}},
		{name: "my own", owner: true},
		{name: "expired", then: "update public.file_locks set expires_at = coord.now()"},
		{name: "shared", lock: client.AcquireLock{FilePath: "src/file.go", Mode: "shared"}},
		{name: "in a directory", lock: client.AcquireLock{FilePath: "src/"}},
		{name: "every branch, one asked for", branch: "main", held: true},
		{name: "one branch, the same asked for", lock: client.AcquireLock{FilePath: "src/file.go", Branch: "main"}, branch: "main", held: true},
		{name: "one branch, another asked for", lock: client.AcquireLock{FilePath: "src/file.go", Branch: "main"}, branch: "next"},
		{name: "one branch, every one asked for", lock: client.AcquireLock{FilePath: "src/file.go", Branch: "main"}},
		{name: "somebody waits for it", then: `insert into coord.lock_wait_keys (project_id, space, base, key, wait_id, session_id, branch, kind, mode, path, anc)
			select project_id, space, base, key, 1, 0, '', 'l', 'exclusive', 'src/file.go', '{}' from public.file_locks`},
		{name: "somebody waits for its directory", then: `insert into coord.lock_wait_keys (project_id, space, base, key, wait_id, session_id, branch, kind, mode, path, anc)
			select project_id, space, 'src', 'src/', 1, 0, '', 'd', 'exclusive', 'src/', '{}' from public.file_locks`},
		{name: "somebody waits elsewhere", then: `insert into coord.lock_wait_keys (project_id, space, base, key, wait_id, session_id, branch, kind, mode, path, anc)
			select project_id, space, 'src/other.go', 'src/other.go', 1, 0, '', 'l', 'exclusive', 'src/other.go', '{}' from public.file_locks`, held: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newCrowd(t)
			ana, bob := w.agent(0), w.agent(1)
			if c.lock.FilePath == "" {
				c.lock.FilePath = "src/file.go"
			}
			c.lock.Reason = "editing"
			if got := w.acquire(ana, c.lock); !got.Success {
				t.Fatalf("%+v", got)
			}
			if c.then != "" {
				w.exec(c.then)
			}
			who := bob
			if c.owner {
				who = ana
			}
			r, held, err := w.store.holder(t.Context(), w.literal(who, "src/file.go", c.branch))
			if err != nil || held != c.held {
				t.Fatalf("held %t, want %t: %v", held, c.held, err)
			}
			if held && (*r.LockedBy != "agent-0" || *r.HolderSession != "agent-0" || *r.Reason != "editing" || !r.ExpiresAt.After(*r.Now) || r.LockedAt.After(*r.Now)) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestLockRefusedAgain: a path that was refused lately is looked at first; the reply is the same, and what changed
// meanwhile is seen at once.
func TestLockRefusedAgain(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	ana, bob := c.agent(0), c.agent(1)
	in := client.AcquireLock{FilePath: "src/file.go", Reason: "editing"}
	id := func() lockID { k := c.literal(bob, in.FilePath, ""); return k.id() }()
	remembered := func() bool {
		c.store.asked.refused.mu.Lock()
		defer c.store.asked.refused.mu.Unlock()
		_, ok := c.store.asked.refused.until[id]
		return ok
	}
	refused := func(what string) client.LockResult {
		t.Helper()
		got := c.acquire(bob, in)
		if got.Success || got.LockedBy != "agent-0" || len(got.Conflicts) != 1 || got.Conflicts[0].SessionID != "agent-0" || got.QueuePosition != 1 {
			t.Fatalf("%s: %+v", what, got)
		}
		if !remembered() {
			t.Fatalf("%s: not remembered", what)
		}
		return got
	}
	c.acquire(ana, in)
	first, again := refused("first"), refused("again")
	first.Conflicts[0].SecondsLeft, again.Conflicts[0].SecondsLeft = 0, 0
	if first.ExpiresAt != again.ExpiresAt || first.LockReason != again.LockReason || first.Conflicts[0] != again.Conflicts[0] || first.Next != again.Next {
		t.Errorf("the first refusal says\n%+v\nthe second\n%+v", first, again)
	}
	if got := c.acquire(ana, in); got.Action != "refreshed" {
		t.Errorf("the owner asks again: %+v", got)
	}
	refused("after the owner's renewal")

	c.exec("update public.file_locks set expires_at = coord.now()")
	if got := c.acquire(bob, in); got.Action != "acquired" {
		t.Errorf("after expiry: %+v", got)
	}
	if remembered() {
		t.Error("a key that was had is remembered as refused")
	}
	if got := c.acquire(ana, in); got.Success || got.LockedBy != "agent-1" {
		t.Errorf("the former owner: %+v", got)
	}
	if _, err := c.store.ReleaseLock(t.Context(), bob, client.ReleaseLock{FilePath: in.FilePath}); err != nil || remembered() {
		t.Errorf("after the release: remembered %t, %v", remembered(), err)
	}
}
