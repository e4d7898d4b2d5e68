//go:build linux

package embedpg_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
)

// serverPIDs lists the server's processes by their working directory.
func serverPIDs(t *testing.T, dir string) []int {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, l := range links {
		if cwd, err := os.Readlink(l); err == nil && cwd == filepath.Join(dir, "data") {
			if pid, err := strconv.Atoi(strings.Split(l, "/")[2]); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func TestStartRepairsADeadServer(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, dir string, postmaster int){
		"postmaster killed": func(t *testing.T, _ string, pm int) {
			if err := syscall.Kill(pm, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
		"power cut": func(t *testing.T, dir string, _ int) {
			for _, pid := range serverPIDs(t, dir) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // children go by themselves, too
			}
		},
	}
	for name, kill := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempDir(t)
			s := start(t, embedpg.Options{Dir: dir})
			execute(t, s.AdminDSN(), "create table kept as select 42 as n")
			kill(t, dir, s.Info().PID)
			eventually(t, 5*time.Second, "death noticed", func() bool { return errors.Is(s.Alive(t.Context()), embedpg.ErrNotAlive) })
			began := time.Now()
			again := start(t, embedpg.Options{Dir: dir})
			t.Logf("recovered in %s", time.Since(began))
			if got := query[int](t, again.AdminDSN(), "select n from kept"); got != 42 {
				t.Fatalf("got %d", got)
			}
			if again.Info().PID == s.Info().PID {
				t.Fatal("same postmaster")
			}
		})
	}
}

func TestBusyOrphanDoesNotBlockTheRestart(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	s := start(t, embedpg.Options{Dir: dir})
	// A query that never looks whether its postmaster lives.
	u := make(chan struct{})
	t.Cleanup(func() { <-u })
	psql := exec.Command(filepath.Join(s.Info().Binaries, "psql"), s.AdminDSN(), "-c",
		"do $$ declare n bigint := 0; begin while n < 1e13 loop n := n + 1; end loop; end $$")
	if err := psql.Start(); err != nil {
		close(u)
		t.Skipf("needs psql: %v", err)
	}
	go func() { _ = psql.Wait(); close(u) }()
	t.Cleanup(func() { _ = psql.Process.Kill() })
	eventually(t, 10*time.Second, "query runs", func() bool {
		return query[int](t, s.AdminDSN(), "select count(*) from pg_stat_activity where state = 'active' and query like 'do %'") == 1
	})
	if err := syscall.Kill(s.Info().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	again := start(t, embedpg.Options{Dir: dir})
	t.Logf("recovered in %s", time.Since(began))
	if err := again.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStarterKilledWhileCreating(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	u := startUser(t, dir, time.Second)
	for {
		if s := u.next(t); strings.HasPrefix(s.Progress, "creating") {
			break
		}
	}
	eventually(t, 5*time.Second, "initdb at work", func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "data.init-*", "PG_VERSION"))
		return err == nil && len(found) == 1
	})
	u.kill()
	if exists(filepath.Join(dir, "data")) {
		t.Fatal("a half made cluster stands in the real place")
	}
	s := start(t, embedpg.Options{Dir: dir})
	if err := s.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestWhatACrashLeaves damages a stopped or running server's files and expects Start to cope.
func TestWhatACrashLeaves(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		running bool
		damage  func(t *testing.T, dir string)
	}{
		{"info.json lost, server runs", true, func(t *testing.T, dir string) { remove(t, dir, "info.json") }},
		{"info.json cut short", false, func(t *testing.T, dir string) { write(t, dir, "info.json", `{"port": 12`) }},
		{"password lost", false, func(t *testing.T, dir string) { remove(t, dir, "password") }},
		{"pid file names a stranger of the same account", false, func(t *testing.T, dir string) {
			st, err := os.Stat(filepath.Join(dir, "data"))
			if err != nil {
				t.Fatal(err)
			}
			sys, ok := st.Sys().(*syscall.Stat_t)
			if !ok {
				t.Fatal("no owner")
			}
			stranger := exec.Command("sleep", "60")
			if os.Geteuid() == 0 {
				stranger.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: sys.Uid, Gid: sys.Gid}}
			}
			if err := stranger.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
			write(t, dir, "data/postmaster.pid", fmt.Sprintf("%d\n%s\n1\n5432\n/tmp\n127.0.0.1\n 1 1\nready   \n", stranger.Process.Pid, filepath.Join(dir, "data")))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := tempDir(t)
			s := start(t, embedpg.Options{Dir: dir, Grace: time.Minute})
			execute(t, s.AdminDSN(), "create table kept as select 42 as n")
			if !tt.running {
				if err := embedpg.Stop(t.Context(), dir); err != nil {
					t.Fatal(err)
				}
			}
			tt.damage(t, dir)
			again := start(t, embedpg.Options{Dir: dir})
			if got := query[int](t, again.AdminDSN(), "select n from kept"); got != 42 {
				t.Fatalf("got %d", got)
			}
			if same := again.Info().PID == s.Info().PID; same != tt.running {
				t.Fatalf("same postmaster: %v, want %v", same, tt.running)
			}
		})
	}
}

func TestRefusesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  error
	}{
		{"other major version", map[string]string{"data/PG_VERSION": "12\n", "data/base/1": "precious"}, embedpg.ErrMajor},
		{"no cluster", map[string]string{"data/letter.txt": "precious"}, embedpg.ErrNotOurs},
		{"damaged version", map[string]string{"data/PG_VERSION": "fifteen"}, embedpg.ErrNotOurs},
		{"relative pointer", map[string]string{"store.path": "../elsewhere"}, embedpg.ErrNotOurs},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "embedpg-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			for name, content := range tt.files {
				write(t, dir, name, content)
			}
			if data := filepath.Join(dir, "data"); os.Geteuid() == 0 && exists(data) {
				if err := os.Chown(data, 65534, 65534); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := embedpg.Start(t.Context(), embedpg.Options{Dir: dir}); !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			for name, content := range tt.files {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
					t.Fatalf("%s was touched: %q, %v", name, got, err)
				}
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// write replaces a file and gives it to the account that owns its directory.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(filepath.Dir(path)); err == nil && os.Geteuid() == 0 {
		if sys, ok := st.Sys().(*syscall.Stat_t); ok {
			if err := os.Chown(path, int(sys.Uid), int(sys.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
