//go:build e2e

package e2e

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// TestUpgradeWhileServing upgrades under 200 writes a second: programs of an older commit serve, the new ones migrate the
// schema meanwhile, a new API joins the old one, and the old one is stopped. Every write is there, once.
// E2E_UPGRADE_FROM names the older commit; without it, the one before the newest migration came.
func TestUpgradeWhileServing(t *testing.T) {
	old, from := older(t)
	in := up(t, "GATEWAY_ADDR=off", "COORD_RUNNER=none")
	dsn := emptyDatabase(t, in.DatabaseURL)
	migrate := func(dir string) string {
		cmd := exec.Command(filepath.Join(dir, "coordctl"), "migrate")
		cmd.Env = in.env("COORD_DATABASE_URL=" + dsn)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("migrate: %v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	before := migrate(old)
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w := &writing{t: t, dir: t.TempDir(), pool: pool, addrs: []string{spareAddr(t), spareAddr(t)}, dsn: dsn, apis: make([]*victim, 2)}
	w.doors = newCutter(t, "tcp", w.addrs...)
	w.url = "http://" + w.doors.addr()
	w.http = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: writeHands}}
	t.Cleanup(w.http.CloseIdleConnections)
	w.spawn(0, old)
	t.Cleanup(func() {
		for _, v := range w.apis {
			if v != nil {
				v.kill()
			}
		}
	})
	eventually(t, 30*time.Second, "the older API is ready", func() error { return w.ready(0) })
	ctx, stop := context.WithCancel(t.Context())
	offered := make(chan int, 1)
	go func() { offered <- w.offer(ctx) }()
	steps := func() {
		defer stop()
		time.Sleep(2 * time.Second) // both schemas and both programs serve for a while
		began := time.Now()
		after := migrate(bin)
		t.Logf("from %s: %s; then, while it served, in %s: %s", from, before, time.Since(began).Round(time.Millisecond), after)
		time.Sleep(2 * time.Second)
		w.spawn(1, bin)
		eventually(t, 30*time.Second, "the newer API is ready", func() error { return w.ready(1) })
		time.Sleep(2 * time.Second)
		_ = w.apis[0].cmd.Process.Signal(syscall.SIGTERM)
		<-w.apis[0].exited
		time.Sleep(2 * time.Second)
	}
	steps()
	n := <-offered
	w.checkReplies()
	w.checkRows(n)
	t.Logf("%d writes, all acknowledged and there once; %d of %d tries said unavailable, %d had no answer", n, w.unavailable.Load(), w.tries.Load(), w.lost.Load())
}

// older builds the programs of an older commit.
func older(t *testing.T) (dir, commit string) {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = repoRoot()
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("SKIPPED, nothing was proven: the history is not here: git %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	commit = os.Getenv("E2E_UPGRADE_FROM")
	if commit == "" {
		newest := git("ls-files", "supabase/migrations")
		newest = newest[strings.LastIndexByte(newest, '\n')+1:]
		commit = git("log", "-n", "1", "--format=%h", "--diff-filter=A", "--", newest) + "~1"
	}
	commit = git("rev-parse", "--short", commit)
	dir = t.TempDir()
	archive := filepath.Join(dir, "src.tar")
	git("archive", "-o", archive, commit)
	for _, step := range [][]string{
		{"mkdir", "src"}, {"tar", "xf", archive, "-C", "src"}, {"go", "-C", "src", "build", "-buildvcs=false", "-o", dir + "/", "./cmd/api", "./cmd/coordctl"}, {"rm", "-rf", "src", archive},
	} {
		cmd := exec.Command(step[0], step[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", step, err, out)
		}
	}
	return dir, commit
}

// emptyDatabase makes another database on the installation's server.
func emptyDatabase(t *testing.T, dsn string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "create database upgrade"); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/upgrade"
	return u.String()
}
