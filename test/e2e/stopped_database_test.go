//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
)

// server is a Postgres of somebody else's: nobody but the test starts and stops it.
type server struct {
	dsn string
	ctl func(args ...string) // pg_ctl
}

// ownServer makes a cluster with pg_ctl and a database in it.
func ownServer(t *testing.T) *server {
	t.Helper()
	found, err := embedpg.FindBinaries(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "coord-e2e-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	data := filepath.Join(dir, "data")
	program := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(found.Dir, name), args...)
		cmd.Dir = dir
		if err := asPostgres(cmd, dir); err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	program("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
	s := &server{
		dsn: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port),
		ctl: func(args ...string) {
			t.Helper()
			program("pg_ctl", append([]string{"-D", data, "-w", "-s", "-l", filepath.Join(dir, "log"), "-o", fmt.Sprintf("-p %d -k %s -c listen_addresses=127.0.0.1 -c max_connections=100 -c fsync=off", port, dir)}, args...)...)
		},
	}
	s.ctl("start")
	t.Cleanup(func() { s.ctl("stop", "-m", "immediate") })
	conn, err := pgx.Connect(t.Context(), s.dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "create database coord"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.dsn = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/coord?sslmode=disable", port)
	return s
}

// TestStoppedDatabase stops the database as an administrator does (pg_ctl stop), and starts it later. Meanwhile calls are
// answered with 503 and nothing else, and a run at work goes on. Afterwards the same API and the same runner go on, too:
// the end of that run is told, what was acknowledged is executed once, and new runs are.
func TestStoppedDatabase(t *testing.T) {
	db := ownServer(t)
	in := up(t, "COORD_DATABASE_URL="+db.dsn, "RUNNER_POLL_TIMEOUT=5", "RUN_CLAIM_LEASE=5")
	runner := in.startRunner(t, runnerDir(t), nil, "-x", "test-executor")
	first, _ := in.startRun(t, map[string]any{"type": "start_session", "prompt": "before"})
	in.runEnds(t, first)
	for range trials(t, 1) {
		long, _ := in.startRun(t, map[string]any{"type": "start_session", "prompt": "test:sleep 2s"})
		eventually(t, 30*time.Second, "the run is at work", func() error {
			if s := in.do(t, http.MethodGet, "/runs/"+long, nil)["status"]; s != "running" {
				return fmt.Errorf("it is %v", s)
			}
			return nil
		})
		acknowledged := []string{long}
		for i := range 5 { // just acknowledged, and at any point of their way to the runner
			run, _ := in.startRun(t, map[string]any{"type": "start_session", "prompt": fmt.Sprint("acknowledged ", i)})
			acknowledged = append(acknowledged, run)
		}
		db.ctl("stop", "-m", "fast")
		away := time.NewTimer(4 * time.Second) // the long run ends meanwhile
		for asked := 0; ; asked++ {
			pause(20 * time.Millisecond)
			for _, call := range []struct{ method, path string }{{http.MethodPost, "/runs"}, {http.MethodGet, "/runs/" + long}, {http.MethodGet, "/runs"}} {
				status, reply, err := in.call(call.method, call.path, map[string]any{"type": "start_session", "prompt": "refused"})
				if err != nil || status != http.StatusServiceUnavailable {
					t.Fatalf("%s %s of a stopped database: %d %v %v", call.method, call.path, status, reply, err)
				}
			}
			select {
			case <-away.C:
			default:
				continue
			}
			t.Logf("%d times three calls were refused", asked+1)
			break
		}
		if res, err := http.Get(in.APIURL + "/live"); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("the API does not live: %v %v", res, err)
		}
		db.ctl("start")
		back := time.Now()
		var after string
		eventually(t, 30*time.Second, "the API takes runs again", func() error {
			status, reply, err := in.call(http.MethodPost, "/runs", map[string]any{"type": "start_session", "prompt": "after"})
			after, _ = reply["run_id"].(string)
			if err != nil || after == "" {
				return fmt.Errorf("%d %v %v", status, reply, err)
			}
			return nil
		})
		taken := time.Since(back)
		for _, run := range append(acknowledged, after) {
			out := in.runEnds(t, run)
			if out["status"] != "completed" {
				t.Errorf("run %s: %v, %v", run, out["status"], out["error"])
			}
		}
		t.Logf("runs were taken %s after the start, all had ended after %s", taken.Round(time.Millisecond), time.Since(back).Round(time.Millisecond))
	}
	if runner.ProcessState != nil {
		t.Error("the runner has ended")
	}
	conn, err := pgx.Connect(t.Context(), db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // nothing is left to send
	var twice int
	if err := conn.QueryRow(t.Context(), `select count(*) from (select from public.events e where e.role = 'assistant' group by e.session_id having count(*) > 1) x`).Scan(&twice); err != nil {
		t.Fatal(err)
	}
	if twice > 0 {
		t.Errorf("%d sessions were executed twice", twice)
	}
	runs := in.do(t, http.MethodGet, "/runs", nil)["runs"].([]any)
	for _, r := range runs {
		if r.(map[string]any)["prompt"] == "refused" {
			t.Errorf("a run was stored that was refused: %v", r)
		}
	}
}
