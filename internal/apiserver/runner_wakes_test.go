package apiserver

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// parked is a runner's poll under way.
type parked struct {
	t    testing.TB
	done chan map[string]any
}

func (s seed) park(url string, runner any) parked {
	p := parked{s.t, make(chan map[string]any, 1)}
	go func() {
		_, out := s.send("GET", fmt.Sprintf("%s/runner/runs?runner_id=%v", url, runner), "")
		m, _ := out.(map[string]any)
		p.done <- m
	}()
	return p
}

// run is what the poll brought; it must come long before a slow re-check would bring it.
func (p parked) run() map[string]any {
	p.t.Helper()
	select {
	case out := <-p.done:
		run, _ := out["run"].(map[string]any)
		if run == nil {
			p.t.Fatalf("the poll brought %v", out)
		}
		return run
	case <-time.After(4 * time.Second):
		p.t.Fatal("nothing woke the poll")
		return nil
	}
}

// waiters waits until so many calls are parked on a server.
func (s seed) waiters(url string, n int) {
	s.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		status, out := s.text(url + "/metrics")
		if status == 200 && strings.Contains(out, fmt.Sprintf("\ncoord_waiters %d\n", n)) {
			return
		}
		if s.t.Context().Err() != nil {
			s.t.Fatal("they never parked")
		}
	}
}

// TestATaskWakesARunner: a task of a kind nobody knew is claimed by a parked runner at once, submitted at another server.
func TestATaskWakesARunner(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s, a, b := newSeed(t), open(t, dsn, nil), open(t, dsn, nil)
	id := s.is(200, "POST", a+"/runner/register", `{"hostname": "h", "project_dir": "/w", "executor_profile": "p"}`)["runner_id"]
	for i := range 2 { // the first makes the kind, the second finds the runner parked on it
		poll := s.park(a, id)
		s.waiters(a, 1)
		task := s.is(200, "POST", b+"/work/submit", `{"agent_id": "boss", "task_type": "t", "description": "d", "agent_requirements": {"executor_profile": "p"}}`)["task_id"]
		run := poll.run()
		if run["task_id"] != task || run["status"] != "claimed" {
			t.Fatalf("%d: %v", i, run)
		}
		s.is(200, "POST", fmt.Sprintf("%s/runner/runs/%s/completed", a, run["run_id"]), fmt.Sprintf(`{"runner_id": "%s"}`, id))
		for {
			got := s.is(200, "POST", a+"/work/get", fmt.Sprintf(`{"task_id": "%s"}`, task))
			if inner, _ := got["task"].(map[string]any); inner["status"] == "completed" {
				break
			}
		}
	}
}

// TestAFullRunnerIsWokenByAPlace, and what it cannot take goes to another that is parked.
func TestAFullRunnerIsWokenByAPlace(t *testing.T) {
	t.Parallel()
	s, url := newSeed(t), open(t, pgtest.DSN(t), nil)
	full := s.is(200, "POST", url+"/runner/register", `{"hostname": "h", "project_dir": "/w", "executor_profile": "p", "capacity": 1}`)["runner_id"]
	create := func() any {
		return s.is(200, "POST", url+"/runs", `{"type": "start_session", "prompt": "x"}`)["run_id"]
	}
	first := create()
	if got := s.park(url, full).run(); got["run_id"] != first {
		t.Fatalf("%v", got)
	}
	waiting := s.park(url, full)
	s.waiters(url, 1)
	second := create()
	other := s.is(200, "POST", url+"/runner/register", `{"hostname": "h2", "project_dir": "/w", "executor_profile": "p"}`)["runner_id"]
	if got := s.park(url, other).run(); got["run_id"] != second {
		t.Fatalf("%v", got)
	}
	third := create()
	s.is(200, "POST", fmt.Sprintf("%s/runner/runs/%s/completed", url, first), fmt.Sprintf(`{"runner_id": "%s"}`, full))
	if got := waiting.run(); got["run_id"] != third {
		t.Errorf("%v", got)
	}
}

// TestAGapIsDeclared: who comes back after longer than the log is kept is told which numbers are gone, over both doors.
func TestAGapIsDeclared(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s, url := newSeed(t), open(t, dsn, nil)
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	live := s.sse(url+"/sse/sessions", "")
	live.next(t)
	var ids []string
	for range 3 {
		s.is(200, "POST", url+"/runs", `{"type": "start_session", "prompt": "x"}`)
		for range 2 {
			id, _, _ := live.next(t)
			ids = append(ids, id)
		}
	}
	if _, err := pool.Exec(t.Context(), `delete from coord.live_log where seq <= 4`); err != nil {
		t.Fatal(err)
	}
	restarted := open(t, dsn, nil) // nothing of it in memory
	again := s.sse(restarted+"/sse/sessions", ids[0])
	id, event, data := again.next(t)
	if event != "gap" || !strings.Contains(id, "-gap-") || data["from"] != 2.0 || data["to"] != 4.0 {
		t.Fatalf("%s %s %v", id, event, data)
	}
	if id, event, _ := again.next(t); id != ids[4] || event != "session_created" {
		t.Errorf("after the gap comes %s %s, want %s", id, event, ids[4])
	}
	// Everything is gone: the gap reaches to the end, and what comes next follows.
	if _, err := pool.Exec(t.Context(), `delete from coord.live_log`); err != nil {
		t.Fatal(err)
	}
	late := s.sse(open(t, dsn, nil)+"/sse/sessions", ids[0])
	s.is(200, "POST", url+"/runs", `{"type": "start_session", "prompt": "x"}`)
	if _, event, data := late.next(t); event != "gap" || data["from"] != 2.0 || data["to"] != 6.0 {
		t.Fatalf("%s %v", event, data)
	}
	if _, event, _ := late.next(t); event != "session_created" {
		t.Errorf("%s", event)
	}
}

// curlLines are the commands printed in the older service's documents.
var curlLines = []struct{ line, answer string }{
	{"curl http://localhost:8765/health", `"status":"healthy"`},
	{`curl -X POST http://localhost:8765/runner/register \
  -H "Content-Type: application/json" \
  -d '{
    "hostname": "test",
    "project_dir": "/tmp",
    "executor_profile": "coding",
    "executor": {"type": "claude-code", "command": "...", "config": {}},
    "tags": ["python"]
  }'`, `"runner_id":"lnch_`},
	{"curl http://localhost:8765/runners", `"require_matching_tags":false`},
}

// TestCurlLinesAsPrinted runs them in a shell, with this server's address for theirs.
func TestCurlLinesAsPrinted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl on this machine")
	}
	url := open(t, pgtest.DSN(t), nil)
	for _, c := range curlLines {
		line := strings.Replace(strings.Replace(c.line, "http://localhost:8765", url, 1), "curl ", "curl -sS --fail-with-body ", 1)
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.answer) {
			t.Errorf("%s\n%v %s", c.line, err, out)
		}
	}
}

// TestWhatCouldNotWorkIsRefused, and nothing of it is stored.
func TestWhatCouldNotWorkIsRefused(t *testing.T) {
	t.Parallel()
	s, url := newSeed(t), open(t, pgtest.DSN(t), nil)
	for _, more := range []string{`"session_id": "../../etc"`, `"session_id": "a/b"`, `"session_id": ".."`, `"session_id": "a\nb"`, `"deadline": "1999-01-01T00:00:00Z"`} {
		s.is(400, "POST", url+"/runs", `{"type": "start_session", "prompt": "x", `+more+`}`)
	}
	s.is(400, "POST", url+"/sessions", `{"session_id": "a/b"}`)
	s.is(400, "POST", url+"/events", `{"event_type": "session_start", "session_id": "a/b", "timestamp": "t"}`)
	if runs, _ := s.is(200, "GET", url+"/runs", "")["runs"].([]any); len(runs) != 0 {
		t.Errorf("%v", runs)
	}
	if sessions, _ := s.is(200, "GET", url+"/sessions", "")["sessions"].([]any); len(sessions) != 0 {
		t.Errorf("%v", sessions)
	}
}
