package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asRunner makes the test program a runner, so that it can be killed. The value is a lifeConfig.
const asRunner = "TEST_AS_RUNNER"

type lifeConfig struct {
	URL, ProjectDir, StateDir, Dir string
}

func beRunner(raw string) int {
	var life lifeConfig
	err := json.Unmarshal([]byte(raw), &life)
	var ex Executor
	if err == nil {
		_, ex, err = Select(life.Dir, "test-executor")
	}
	var r *Runner
	if err == nil {
		r, err = New(Config{
			CoordinatorURL: life.URL, ProjectDir: life.ProjectDir, Hostname: "here", Executor: ex, StateDir: life.StateDir,
			Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		})
	}
	if err == nil {
		err = r.Run(context.Background(), context.Background())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestKilledRunner: a runner is killed (SIGKILL) while an executor and its child run. Its next life is no duplicate, ends
// both processes and reports the run.
func TestKilledRunner(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	raw, err := json.Marshal(lifeConfig{f.URL, cfg.ProjectDir, cfg.StateDir, binaries})
	if err != nil {
		t.Fatal(err)
	}
	first := exec.Command(os.Args[0])
	first.Env = append(os.Environ(), asRunner+"="+string(raw))
	first.Stderr = testWriter{t}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer first.Wait()
	defer first.Process.Kill()
	f.give("run_k", "test:child")
	f.until("the bind", func() bool { return f.bound["ses_run_k"] != nil })
	var pids []int
	f.until("two processes that hang", func() bool {
		pids = members(childOf(t, cfg.StateDir, "run_k"))
		return len(pids) == 2
	})
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("process %d went with the runner; this test proves nothing", pid)
		}
	}

	r, end := f.starts(t, cfg)
	kind, detail := f.ends("run_k")
	if kind != "failed" || !strings.Contains(detail, "killed") {
		t.Errorf("%s %s", kind, detail)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
	f.give("run_l", "x")
	if kind, _ := f.ends("run_l"); kind != "completed" {
		t.Errorf("the next run: %s", kind)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if v := r.state.view(); len(v.Runs)+len(v.Reports) != 0 || v.RunnerID != "" {
		t.Errorf("left in the state: %+v", v)
	}
}

// childOf reads the process of a run from the only state file in dir, 0 when there is none yet.
func childOf(t *testing.T, dir, run string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			raw, err := os.ReadFile(dir + "/" + e.Name())
			var s saved
			if err == nil && json.Unmarshal(raw, &s) == nil {
				return s.Runs[run].PID
			}
		}
	}
	return 0
}

// TestAnOlderCoordinatorForgetsTheDeadInstance: a coordinator of the older kind answers 409 until it holds the dead instance for
// stale; the runner repeats its registration because its state says that the dead instance is its own.
func TestAnOlderCoordinatorForgetsTheDeadInstance(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := mustNormalise(t, f.config(t))
	s, err := openState(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.change(func(s *saved) { s.RunnerID = "lnch_dead" }); err != nil {
		t.Fatal(err)
	}
	s.close()
	refusals := 3
	inner := f.Config.Handler
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/runner/register" && refusals > 0 {
			refusals--
			answer(w, 409, map[string]any{"detail": map[string]any{"error": "duplicate_runner", "message": "online"}})
			return
		}
		inner.ServeHTTP(w, r)
	})
	f.give("run_1", "x")
	f.starts(t, cfg)
	if kind, _ := f.ends("run_1"); kind != "completed" {
		t.Errorf("%s", kind)
	}
}
