//go:build unix

package embedpg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestHome(t *testing.T) { //nolint:paralleltest // t.Setenv
	t.Setenv("COORD_HOME", "/srv/coord")
	t.Setenv("COORD_PG_ROOT", "")
	if dir, err := DefaultDir(); err != nil || dir != "/srv/coord/postgres" {
		t.Errorf("COORD_HOME: %s, %v", dir, err)
	}
	t.Setenv("COORD_PG_ROOT", "/srv/pg")
	if dir, err := DefaultDir(); err != nil || dir != "/srv/pg" {
		t.Errorf("COORD_PG_ROOT: %s, %v", dir, err)
	}
	t.Setenv("COORD_HOME", "")
	t.Setenv("XDG_DATA_HOME", "/home/x/data")
	want := "/home/x/data/agent-coordinator"
	if os.Geteuid() == 0 {
		want = "/var/lib/agent-coordinator"
	}
	if dir, err := Home(); err != nil || dir != want {
		t.Errorf("default: %s, %v", dir, err)
	}
}

func TestClusterBesideAClosedHome(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs Postgres under another account")
	}
	base, err := os.MkdirTemp("", "embedpg-layout-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o711); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(base, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	system := filepath.Join(base, "varlib")
	if err := os.Mkdir(system, 0o700); err != nil { // made closed by some other part
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "home", "postgres")
	l, u, err := prepareLayoutIn(dir, system)
	if err != nil {
		t.Fatal(err)
	}
	if l.ctl != dir || filepath.Dir(filepath.Dir(l.store)) != system || !canEnter(u, l.store) || canEnter(u, l.ctl) {
		t.Fatalf("layout %+v", l)
	}
	again, err := readLayout(dir)
	if err != nil || again != l {
		t.Fatalf("read back %+v, %v; want %+v", again, err, l)
	}
	if second, _, err := prepareLayoutIn(dir, system); err != nil || second != l {
		t.Fatalf("second time %+v, %v", second, err)
	}
	// And a server really runs there.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := Start(ctx, Options{Dir: dir, Grace: -1, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Info().DataDir; got != l.data() {
		t.Errorf("data in %s", got)
	}
	if err := errors.Join(s.Alive(ctx), s.Close(), Stop(ctx, dir)); err != nil {
		t.Fatal(err)
	}
}

func TestChooseUser(t *testing.T) { //nolint:paralleltest // t.Setenv
	if os.Geteuid() != 0 {
		t.Skip("only root changes the account")
	}
	tests := []struct{ asked, want string }{{"nobody", "nobody"}, {"no-such-account", ""}, {"root", ""}, {"65534", ""}}
	for _, tt := range tests { //nolint:paralleltest // t.Setenv
		t.Run(tt.asked, func(t *testing.T) {
			t.Setenv("COORD_PG_USER", tt.asked)
			u, err := chooseUser(filepath.Join(t.TempDir(), "data"))
			if tt.want == "" {
				if !errors.Is(err, ErrDBUser) {
					t.Fatalf("got %+v, %v", u, err)
				}
				return
			}
			if err != nil || u.name != tt.want || !u.drop {
				t.Fatalf("got %+v, %v", u, err)
			}
		})
	}
	// The owner of a cluster stays, whatever accounts appear later.
	data := t.TempDir()
	if err := os.Chown(data, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COORD_PG_USER", "")
	if u, err := chooseUser(data); err != nil || u.uid != 65534 {
		t.Fatalf("got %+v, %v", u, err)
	}
	t.Setenv("COORD_PG_USER", "postgres")
	if u, err := chooseUser(data); !errors.Is(err, ErrDBUser) {
		t.Fatalf("got %+v, %v", u, err)
	}
}

func TestControlDirOfAnotherAccount(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to make such a directory")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, _, err := prepareLayout(dir); !errors.Is(err, ErrNotOurs) {
		t.Fatalf("got %v", err)
	}
}

func TestLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	if _, err := lockedByOther(path, true); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("looking created the file: %v", err)
	}
	open := func() *fileLock {
		l, err := openLock(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.release)
		return l
	}
	a, b, c := open(), open(), open()
	must := func(l *fileLock, exclusive, want bool) {
		t.Helper()
		if ok, err := l.try(exclusive); err != nil || ok != want {
			t.Fatalf("try: %v, %v; want %v", ok, err, want)
		}
	}
	must(a, false, true)
	must(b, false, true)
	must(c, true, false)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := c.acquire(ctx, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	a.release()
	a.release()
	b.release()
	must(c, true, true)
	if held, err := lockedByOther(path, false); err != nil || !held {
		t.Fatalf("held %v, %v", held, err)
	}
}
