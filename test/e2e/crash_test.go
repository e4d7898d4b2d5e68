//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// result is what a tool call of a concurrently driven agent came to.
type result struct {
	reply  map[string]any
	failed bool
	took   time.Duration
}

// async calls a tool and delivers its outcome. The agent must not be used until then.
func (a *mcpAgent) async(tool string, args map[string]any) <-chan result {
	done := make(chan result, 1)
	start := time.Now()
	go func() {
		reply, failed := a.call(tool, args)
		done <- result{reply, failed, time.Since(start)}
	}()
	return done
}

// TestDeadlockAcrossProcesses lets two MCP server processes each hold what the other waits for: one of them is told
// so, with the circle named, within a second of closing it; the other gets its lock.
func TestDeadlockAcrossProcesses(t *testing.T) {
	in := up(t)
	a, b := in.agent(t, "dead-a"), in.agent(t, "dead-b")
	for agent, path := range map[*mcpAgent]string{a: "x.go", b: "y.go"} {
		if r, failed := agent.call("acquire_lock", map[string]any{"file_path": path}); failed || r["success"] != true {
			t.Fatalf("first lock of %s: %v", path, r)
		}
	}
	first := a.async("acquire_lock", map[string]any{"file_path": "y.go", "wait_seconds": 20})
	watch := in.agent(t, "dead-watch")
	eventually(t, 5*time.Second, "a is in the queue", func() error {
		r, _ := watch.call("acquire_lock", map[string]any{"file_path": "y.go"})
		if pos, _ := r["queue_position"].(float64); pos < 2 {
			return fmt.Errorf("queue position %v", r["queue_position"])
		}
		return nil
	})
	closing := <-b.async("acquire_lock", map[string]any{"file_path": "x.go", "wait_seconds": 20})
	if closing.reply["reason"] != "deadlock" || closing.took > time.Second {
		t.Fatalf("closing the circle took %s and said %v", closing.took, closing.reply)
	}
	if cycle, _ := closing.reply["cycle"].([]any); len(cycle) != 2 {
		t.Fatalf("the circle is not named: %v", closing.reply["cycle"])
	}
	t.Logf("deadlock named after %s", closing.took)
	if r, failed := b.call("release_lock", map[string]any{"file_path": "y.go"}); failed {
		t.Fatalf("release: %v", r)
	}
	if got := <-first; got.reply["success"] != true {
		t.Fatalf("the other one did not get its lock: %v", got.reply)
	}
}

// TestStoppedHolderIsFenced freezes a holder past the life of its session; the next agent gets the lock, and the
// frozen one, once it runs again, is refused under its old token every time.
func TestStoppedHolderIsFenced(t *testing.T) {
	in := up(t)
	other := in.agent(t, "fresh")
	for trial := range trials(t, 3) {
		path := fmt.Sprintf("frozen-%d.go", trial)
		a := in.agent(t, fmt.Sprintf("frozen-%d", trial), "COORD_TOOL_PROFILE=full")
		if r, failed := a.call("register_session", map[string]any{"lapse_seconds": 5}); failed {
			t.Fatalf("register: %v", r)
		}
		if r, failed := a.call("heartbeat", map[string]any{}); failed {
			t.Fatalf("heartbeat: %v", r)
		}
		held, failed := a.call("acquire_lock", map[string]any{"file_path": path})
		if failed || held["success"] != true {
			t.Fatalf("acquire: %v", held)
		}
		if err := a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		taken, _ := other.call("acquire_lock", map[string]any{"file_path": path, "wait_seconds": 30})
		if err := a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if taken["success"] != true {
			t.Fatalf("the lock of a frozen agent was not freed: %v", taken)
		}
		if r, failed := a.call("verify_lock", map[string]any{"file_path": path, "fencing_token": held["fencing_token"]}); !failed || r["code"] != "lease_lost" {
			t.Fatalf("trial %d: the old token counts: %v", trial, r)
		}
		if r, _ := a.call("acquire_lock", map[string]any{"file_path": path}); r["success"] != false {
			t.Fatalf("trial %d: two hold %s: %v", trial, path, r)
		}
	}
}

// TestKilledAPILosesNothing kills the whole `up` process with -9 in the middle of writes: after the next start every
// acknowledged lock and task is there.
func TestKilledAPILosesNothing(t *testing.T) {
	in := up(t)
	for round := range trials(t, 3) {
		acked, tasks := in.writeUntil(t, round, func() { _ = syscall.Kill(in.PID, syscall.SIGKILL) })
		in.start(t)
		in.mustHold(t, acked, tasks)
		t.Logf("round %d: %d locks and %d tasks acknowledged, all present", round, len(acked), len(tasks))
	}
}

// TestKilledDatabaseIsUnavailableNotEmpty kills the embedded Postgres: calls say unavailable, never "free" or "no
// work", and work again by themselves with everything that was acknowledged.
func TestKilledDatabaseIsUnavailableNotEmpty(t *testing.T) {
	in := up(t)
	_, reply := in.post(t, "/locks/acquire", map[string]any{"agent_id": "keeper", "file_path": "kept.go"})
	if reply["success"] != true {
		t.Fatalf("acquire: %v", reply)
	}
	for range trials(t, 1) {
		in.databaseDies(t)
	}
}

func (in *install) databaseDies(t *testing.T) {
	t.Helper()
	pid := in.postmaster(t)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	eventually(t, 30*time.Second, "the API works again", func() error {
		status, reply, err := in.tryPost("/locks/acquire", map[string]any{"agent_id": "thief", "file_path": "kept.go"})
		if err != nil {
			t.Fatalf("the API itself went away: %v", err)
		}
		seen[status]++
		switch {
		case status == http.StatusServiceUnavailable && reply["code"] == "unavailable" && reply["retryable"] == true:
			return fmt.Errorf("unavailable")
		case status == http.StatusOK && reply["success"] == false && reply["locked_by"] == "keeper":
			if now, err := in.readPostmaster(); err != nil || now == pid {
				return fmt.Errorf("the old server still answers") // its processes outlive their parent for an instant
			}
			return nil
		}
		t.Fatalf("a dead database answered %d %v", status, reply)
		return nil
	})
	status, reply := in.post(t, "/work/claim", map[string]any{"agent_id": "keeper"})
	if status != http.StatusOK || reply["reason"] != "no_tasks_available" {
		t.Fatalf("claim after recovery: %d %v", status, reply)
	}
	t.Logf("statuses while the database was away: %v", seen)
}

// TestKilledClaimants kills agents at random while they work: every task is completed once or dead-lettered.
func TestKilledClaimants(t *testing.T) {
	in := up(t)
	const n = 60
	for i := range n {
		status, reply := in.post(t, "/work/submit", map[string]any{
			"agent_id": "boss", "task_type": "kill", "description": strconv.Itoa(i), "max_attempts": 10,
		})
		if status != http.StatusOK || reply["success"] != true {
			t.Fatalf("submit: %d %v", status, reply)
		}
	}
	for round := range 4 { // each dies with a task in hand
		a := in.agent(t, fmt.Sprintf("mortal-%d", round), "COORD_TOOL_PROFILE=full")
		a.call("register_session", map[string]any{"lapse_seconds": 5})
		a.call("heartbeat", map[string]any{})
		for range 3 {
			if r, failed := a.call("get_work", map[string]any{"task_types": []string{"kill"}}); failed || r["success"] != true {
				t.Fatalf("claim: %v", r)
			}
		}
		_ = a.cmd.Process.Kill()
	}
	survivor := in.agent(t, "survivor")
	done := map[string]int{}
	eventually(t, 90*time.Second, "every task is completed", func() error {
		r, failed := survivor.call("get_work", map[string]any{"task_types": []string{"kill"}, "wait_seconds": 2})
		if failed {
			t.Fatalf("claim: %v", r)
		}
		if r["success"] != true {
			return fmt.Errorf("%d of %d completed, %v", len(done), n, r["reason"])
		}
		id, _ := r["task_id"].(string)
		if c, failed := survivor.call("complete_work", map[string]any{"task_id": id, "success": true}); failed || c["success"] != true {
			t.Fatalf("complete: %v", c)
		}
		if done[id]++; len(done) < n {
			return fmt.Errorf("%d of %d", len(done), n)
		}
		return nil
	})
	for id, times := range done {
		if times != 1 {
			t.Errorf("task %s was completed %d times", id, times)
		}
	}
}

// writeUntil writes locks and tasks from several clients, calls interrupt in the middle, and returns what was
// acknowledged before the server went away.
func (in *install) writeUntil(t *testing.T, round int, interrupt func()) (locks, tasks []string) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	half := make(chan struct{})
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				path := fmt.Sprintf("r%d/w%d/%d.go", round, w, i)
				_, reply, err := in.tryPost("/locks/acquire", map[string]any{"agent_id": "writer", "file_path": path})
				if err != nil {
					return
				}
				mu.Lock()
				if reply["success"] == true {
					locks = append(locks, path)
				}
				if len(locks) == 100 {
					close(half)
				}
				mu.Unlock()
				_, reply, err = in.tryPost("/work/submit", map[string]any{"agent_id": "writer", "task_type": "durable", "description": path})
				if err != nil {
					return
				}
				mu.Lock()
				if id, ok := reply["task_id"].(string); ok {
					tasks = append(tasks, id)
				}
				mu.Unlock()
			}
		})
	}
	<-half
	interrupt()
	wg.Wait()
	return locks, tasks
}

func (in *install) mustHold(t *testing.T, locks, tasks []string) {
	t.Helper()
	for _, path := range locks {
		if _, reply := in.post(t, "/locks/acquire", map[string]any{"agent_id": "auditor", "file_path": path}); reply["locked_by"] != "writer" {
			t.Fatalf("an acknowledged lock is gone: %s: %v", path, reply)
		}
	}
	for _, id := range tasks {
		if _, reply := in.post(t, "/work/get", map[string]any{"task_id": id}); reply["success"] != true {
			t.Fatalf("an acknowledged task is gone: %s: %v", id, reply)
		}
	}
}

// postmaster is the process id of the embedded Postgres, as its own data folder says.
func (in *install) postmaster(t *testing.T) int {
	t.Helper()
	pid, err := in.readPostmaster()
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func (in *install) readPostmaster() (int, error) {
	raw, err := os.ReadFile(filepath.Join(in.Home, "postgres", "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strconv.Atoi(strings.TrimSpace(line))
}
