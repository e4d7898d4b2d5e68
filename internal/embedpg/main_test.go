package embedpg_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// helperEnv turns the test binary into a user of the server in the directory it names.
const helperEnv = "EMBEDPG_TEST_DIR"

func TestMain(m *testing.M) {
	embedpg.RunWatcherIfAsked()
	if dir := os.Getenv(helperEnv); dir != "" {
		os.Exit(helper(dir))
	}
	pgtest.Main(m)
}

// said is one line of a helper's output.
type said struct {
	Progress string `json:",omitempty"` // while starting
	Ready    bool   `json:",omitempty"`
	PID      int    `json:",omitempty"` // of the postmaster
	Took     time.Duration
	Err      string `json:",omitempty"`
}

// helper uses the server until its stdin ends.
func helper(dir string) int {
	out := json.NewEncoder(os.Stdout)
	grace, err := time.ParseDuration(os.Getenv("EMBEDPG_TEST_GRACE"))
	if err != nil {
		return 2
	}
	began := time.Now()
	s, err := embedpg.Start(context.Background(), embedpg.Options{
		Dir: dir, Grace: grace, Unsafe: true,
		Progress: func(p string) { _ = out.Encode(said{Progress: p}) },
	})
	if err == nil {
		err = s.Alive(context.Background())
	}
	if err != nil {
		_ = out.Encode(said{Err: err.Error()})
		return 1
	}
	_ = out.Encode(said{Ready: true, PID: s.Info().PID, Took: time.Since(began)})
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0 // without Close: the end of the process must be enough
}

// user is another process that uses the server.
type user struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

func startUser(t *testing.T, dir string, grace time.Duration, env ...string) *user {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), append(env, helperEnv+"="+dir, "EMBEDPG_TEST_GRACE="+grace.String())...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	u := &user{cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
	t.Cleanup(func() { u.exit() })
	return u
}

// next reads the helper's next line.
func (u *user) next(t *testing.T) said {
	t.Helper()
	if !u.lines.Scan() {
		t.Fatalf("the other process ended: %v", u.lines.Err())
	}
	var s said
	if err := json.Unmarshal(u.lines.Bytes(), &s); err != nil {
		t.Fatalf("%q: %v", u.lines.Text(), err)
	}
	return s
}

// ready waits until the helper uses the server; created says whether it made the cluster.
func (u *user) ready(t *testing.T) (s said, created bool) {
	t.Helper()
	for {
		s = u.next(t)
		switch {
		case s.Err != "":
			t.Fatal(s.Err)
		case s.Ready:
			return s, created
		default:
			created = created || len(s.Progress) > 8 && s.Progress[:8] == "creating"
		}
	}
}

// exit lets the process end by itself.
func (u *user) exit() {
	_ = u.stdin.Close()
	_ = u.cmd.Wait()
}

// kill ends it with SIGKILL.
func (u *user) kill() {
	_ = u.cmd.Process.Kill()
	_ = u.cmd.Wait()
}

// tempDir is a directory that the account which runs Postgres can enter (t.TempDir is closed), whose
// server is stopped at the end.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "embedpg-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := embedpg.Stop(ctx, dir); err != nil {
			t.Errorf("stop: %v", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func start(t *testing.T, o embedpg.Options) *embedpg.Server {
	t.Helper()
	o.Unsafe = true
	if o.Grace == 0 {
		o.Grace = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := embedpg.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// eventually polls until ok or the deadline.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			t.Fatalf("not within %s: %s", within, what)
		case <-tick.C:
		}
	}
}

func query[T any](t *testing.T, dsn, sql string, args ...any) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // test
	var v T
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func execute(t *testing.T, dsn, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // test
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func pidFile(dir string) string { return filepath.Join(dir, "data", "postmaster.pid") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func inspect(t *testing.T, dir string) embedpg.Info {
	t.Helper()
	i, err := embedpg.Inspect(dir)
	if err != nil {
		t.Fatal(fmt.Errorf("inspect: %w", err))
	}
	return i
}
