package embedpg_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
)

func TestManyProcessesColdStartOneServer(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	const n = 8
	began := time.Now()
	users := make([]*user, n)
	for i := range users {
		users[i] = startUser(t, dir, time.Second)
	}
	created, pids := 0, map[int]int{}
	for _, u := range users {
		s, made := u.ready(t)
		pids[s.PID]++
		if made {
			created++
		}
	}
	t.Logf("%d processes served after %s", n, time.Since(began))
	if created != 1 || len(pids) != 1 {
		t.Fatalf("%d clusters created, postmasters %v; want one of each", created, pids)
	}
	if i := inspect(t, dir); !i.Running || !i.InUse || !i.Watched {
		t.Fatalf("want running, in use and watched: %+v", i)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	began := time.Now()
	first := start(t, embedpg.Options{Dir: dir})
	cold := time.Since(began)
	began = time.Now()
	second := start(t, embedpg.Options{Dir: dir})
	t.Logf("cold %s, join %s", cold, time.Since(began))
	if a, b := first.Info().PID, second.Info().PID; a != b || a == 0 {
		t.Fatalf("postmasters %d and %d", a, b)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatalf("second Close: %v", err)
	}
	if err := first.Alive(t.Context()); err != nil {
		t.Fatalf("after another user left: %v", err)
	}
	for _, dsn := range []string{first.AdminDSN(), first.LoopbackDSN("postgres")} {
		if got := query[string](t, dsn, "select current_user"); got != "postgres" {
			t.Fatalf("connected as %s", got)
		}
	}
}

func TestStopsAfterLastUser(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*user){"exit": (*user).exit, "kill": (*user).kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempDir(t)
			const grace = 500 * time.Millisecond
			one, two := startUser(t, dir, grace), startUser(t, dir, grace)
			one.ready(t)
			two.ready(t)
			end(one)
			if i := inspect(t, dir); !i.Running {
				t.Fatal("stopped while somebody used it")
			}
			left := time.Now() // before the end, so that a slow machine cannot make the grace look short
			end(two)
			eventually(t, 10*time.Second, "server stopped", func() bool { return !exists(pidFile(dir)) })
			if took := time.Since(left); took < grace {
				t.Fatalf("stopped after %s, before the grace period", took)
			}
			eventually(t, 5*time.Second, "watcher gone", func() bool { return !inspect(t, dir).Watched })
			start(t, embedpg.Options{Dir: dir}) // and it comes back
		})
	}
}

func TestStaysForEverWhenAsked(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	u := startUser(t, dir, 100*time.Millisecond)
	u.ready(t)
	s := start(t, embedpg.Options{Dir: dir, Grace: -1})
	u.exit()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The watcher reads the new wish and goes without stopping the server.
	eventually(t, 5*time.Second, "watcher gone", func() bool { return !inspect(t, dir).Watched })
	if i := inspect(t, dir); !i.Running || i.Grace >= 0 {
		t.Fatalf("want a running server that stays: %+v", i)
	}
}

func TestStopAndStartKeepPortAndData(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	s := start(t, embedpg.Options{Dir: dir})
	if err := s.EnsureDatabase(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	execute(t, s.DSN("app"), "create table kept as select 42 as n")
	if err := embedpg.Stop(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Alive(t.Context()); !errors.Is(err, embedpg.ErrNotAlive) {
		t.Fatalf("after Stop: %v", err)
	}
	if i := inspect(t, dir); i.Running || !i.Exists || i.PID != 0 {
		t.Fatalf("want a stopped cluster: %+v", i)
	}
	if err := embedpg.Stop(t.Context(), dir); err != nil {
		t.Fatalf("second Stop: %v", err)
	}
	began := time.Now()
	again := start(t, embedpg.Options{Dir: dir})
	t.Logf("warm start %s", time.Since(began))
	// The connection strings that others hold work again.
	if got := query[int](t, s.DSN("app"), "select n from kept"); got != 42 {
		t.Fatalf("got %d", got)
	}
	if s.Info().Port != again.Info().Port {
		t.Logf("the port was taken meanwhile: %d, now %d", s.Info().Port, again.Info().Port)
	}
}

func TestEnsureDatabaseAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, embedpg.Options{Dir: tempDir(t)})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := s.EnsureDatabase(t.Context(), `odd "name"`); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := query[int](t, s.AdminDSN(), "select count(*) from pg_database where datname = $1", `odd "name"`); got != 1 {
		t.Fatalf("%d databases", got)
	}
}

func TestCallersEnvironmentDoesNotMatter(t *testing.T) {
	t.Parallel()
	u := startUser(t, tempDir(t), time.Second, "PGSERVICE=no-such-service", "PGHOST=192.0.2.1", "PGOPTIONS=-c no.such=1 -c port=1",
		"PGDATA=/nonexistent", "LC_ALL=xx_YY.nonsense", "PGTARGETSESSIONATTRS=read-only")
	u.ready(t)
}

func TestLongPathsUseAShortSocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tempDir(t), strings.Repeat("long/", 25))
	s := start(t, embedpg.Options{Dir: dir, Grace: -1})
	t.Cleanup(func() {
		if err := embedpg.Stop(context.Background(), dir); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(s.Info().SocketDir); err != nil {
			t.Error(err)
		}
	})
	if n := len(s.Info().SocketDir); n > 90 {
		t.Fatalf("socket directory of %d bytes", n)
	}
	if err := s.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
}
