//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	chaosLease = 5 * time.Second // RUN_CLAIM_LEASE of this installation
	chaosKills = 5               // a round
	chaosRuns  = 10              // a round
)

// chaos is an installation with a runner, whose parts are killed.
type chaos struct {
	*install
	t      *testing.T
	dir    string
	addr   string
	runner *exec.Cmd
	dead   int            // the latest database server that was killed
	hits   map[string]int // kills by victim
	found  map[string]int // what runs were doing when something was killed
}

// TestChaosLosesNothing kills the runner, its executors, the coordinator and the database (SIGKILL) at random moments,
// while children of a parent run and are stopped. After each round: nothing is stuck once the claim lease and five seconds
// have passed, no run ended or was executed twice, and every child's end reached its parent exactly once.
func TestChaosLosesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	c := &chaos{t: t, dir: runnerDir(t), addr: addr, hits: map[string]int{}, found: map[string]int{}}
	c.install = up(t, c.env()...)
	c.startRunner()
	t.Cleanup(func() { c.stopRunner() })
	kills, slowest := 0, time.Duration(0)
	for round := range trials(t, 4) {
		took := c.round(round)
		kills += chaosKills
		slowest = max(slowest, took)
		if testing.Verbose() {
			t.Logf("round %d: settled after %s", round, took.Round(10*time.Millisecond))
		}
	}
	t.Logf("%d kills %v, runs at these moments %v; the slowest round settled %s after its last kill was mended", kills, c.hits, c.found, slowest.Round(10*time.Millisecond))
}

func (c *chaos) env() []string {
	return []string{"API_ADDR=" + c.addr, fmt.Sprintf("RUN_CLAIM_LEASE=%d", int(chaosLease.Seconds())), "RUNNER_POLL_TIMEOUT=5"}
}

func (c *chaos) startRunner() {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(c.dir, "agent-runner"), "-c", c.APIURL, "-p", c.Work, "-x", "test-executor")
	cmd.Env = c.install.env("COORDINATION_API_KEY=" + c.APIKey)
	log, err := os.OpenFile(filepath.Join(c.dir, "runner.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.runner = cmd
}

func (c *chaos) stopRunner() {
	_ = c.runner.Process.Signal(os.Interrupt)
	_ = c.runner.Wait()
	if raw, err := os.ReadFile(filepath.Join(c.dir, "runner.log")); err == nil && c.t.Failed() {
		c.t.Logf("runner:\n%s", raw[max(0, len(raw)-20_000):])
	}
}

// one is a child of a round.
type one struct{ run, session, prompt string }

// round posts children of a new parent, kills chaosKills times meanwhile, and checks what is left. It returns how long
// the last run took to end once everything was up again.
func (c *chaos) round(n int) time.Duration {
	parentRun, parent := c.startRun(c.t, map[string]any{"type": "start_session", "prompt": fmt.Sprint("parent ", n)})
	c.runEnds(c.t, parentRun)
	var mu sync.Mutex
	var children []one
	var posting sync.WaitGroup
	for i := range chaosRuns {
		prompt := []string{"quick", "quick too", "test:sleep 150ms", "test:sleep 600ms", "test:fail 3 broken", "test:sleep 10m"}[rand.N(6)]
		stopSoon := rand.N(4) == 0
		posting.Go(func() {
			pause(time.Duration(i) * 150 * time.Millisecond)
			out := c.insist(fmt.Sprintf("chaos-%d-%d", n, i), "/runs", map[string]any{
				"type": "start_session", "prompt": prompt, "parent_session_id": parent, "execution_mode": "async_callback",
			})
			ch := one{fmt.Sprint(out["run_id"]), fmt.Sprint(out["session_id"]), prompt}
			mu.Lock()
			children = append(children, ch)
			mu.Unlock()
			if stopSoon {
				pause(rand.N(300 * time.Millisecond))
				_, _, _ = c.call(http.MethodPost, "/runs/"+ch.run+"/stop", nil)
			}
		})
	}
	for range chaosKills {
		pause(rand.N(500 * time.Millisecond))
		mu.Lock()
		known := append([]one(nil), children...)
		mu.Unlock()
		c.kill(known)
	}
	posting.Wait()
	eventually(c.t, 60*time.Second, "everything to be up", func() error {
		if now, err := c.readPostmaster(); err != nil || now == c.dead {
			return errors.New("the database is not back") // the processes of the dead one answer for an instant
		}
		status, _, err := c.call(http.MethodGet, "/runners", nil)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%d %v", status, err)
		}
		return nil
	})
	began := time.Now()
	for _, ch := range children {
		if ch.prompt == "test:sleep 10m" { // over by itself only if its runner or executor was killed
			_, _, _ = c.call(http.MethodPost, "/runs/"+ch.run+"/stop", nil)
		}
	}
	for _, ch := range children {
		eventually(c.t, chaosLease+5*time.Second-time.Since(began), "the end of "+ch.run+" ("+ch.prompt+") in time", func() error { return c.over(ch.run) })
	}
	took := time.Since(began)
	c.parentHears(parent, children)
	c.nothingTwice(children)
	return took
}

func pause(d time.Duration) { <-time.After(d) }

func (c *chaos) over(run string) error {
	status, out, err := c.call(http.MethodGet, "/runs/"+run, nil)
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("%d %v", status, err)
	}
	switch out["status"] {
	case "completed", "failed", "stopped":
		return nil
	}
	_, why, _ := c.call(http.MethodGet, "/runs/"+run+"/why", nil)
	return fmt.Errorf("it is %v: %v", out, why["why"])
}

// insist posts under a request key until it is acknowledged, as a careful client does.
func (c *chaos) insist(key, path string, body map[string]any) map[string]any {
	var out map[string]any
	eventually(c.t, 60*time.Second, "POST "+path, func() error {
		status, reply, err := c.keyed(key, path, body)
		out = reply
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%d %v %v", status, reply, err)
		}
		return nil
	})
	return out
}

// kill kills one part and brings it back.
func (c *chaos) kill(known []one) {
	c.t.Helper()
	for _, ch := range known {
		if _, out, err := c.call(http.MethodGet, "/runs/"+ch.run, nil); err == nil {
			c.found[fmt.Sprint(out["status"])]++
		}
	}
	victim := []string{"runner", "executor", "executor", "coordinator", "database"}[rand.N(5)]
	alive := executors(c.dir)
	if victim == "executor" && len(alive) == 0 {
		victim = "runner"
	}
	c.hits[victim]++
	switch victim {
	case "runner":
		_ = c.runner.Process.Kill()
		_ = c.runner.Wait()
		pause(rand.N(300 * time.Millisecond))
		c.startRunner()
	case "executor":
		_ = syscall.Kill(alive[0], syscall.SIGKILL)
	case "coordinator":
		_ = syscall.Kill(c.PID, syscall.SIGKILL)
		c.start(c.t, c.env()...)
	case "database":
		if pid, err := c.readPostmaster(); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			c.dead = pid
		}
	}
}

// executors are the processes of executors built into dir.
func executors(dir string) []int {
	entries, _ := os.ReadDir("/proc")
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if exe, err := os.Readlink("/proc/" + e.Name() + "/exe"); err == nil && strings.HasPrefix(exe, filepath.Join(dir, "executors")) {
			out = append(out, pid)
		}
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// parentHears waits until the parent was told of every child, and checks that it was told of each once.
func (c *chaos) parentHears(parent string, children []one) {
	c.t.Helper()
	told := map[string]int{}
	eventually(c.t, chaosLease+30*time.Second, "the parent to hear of all its children", func() error {
		status, out, err := c.call(http.MethodGet, "/runs?session_id="+parent, nil)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%d %v", status, err)
		}
		clear(told)
		runs, _ := out["runs"].([]any)
		for _, r := range runs {
			run, _ := r.(map[string]any)
			switch run["status"] {
			case "completed", "failed", "stopped":
			default:
				return fmt.Errorf("%v of the parent is %v", run["run_id"], run["status"])
			}
			for _, ch := range children {
				told[ch.session] += strings.Count(fmt.Sprint(run["prompt"]), ch.session)
			}
		}
		for _, ch := range children {
			if told[ch.session] == 0 {
				return fmt.Errorf("not of %s (%s)", ch.run, ch.prompt)
			}
		}
		return nil
	})
	for _, ch := range children {
		if told[ch.session] != 1 {
			c.t.Errorf("the parent was told %d times of %s (%s)", told[ch.session], ch.run, ch.prompt)
		}
	}
}

// nothingTwice checks in the database that each run ended once and was executed at most once.
func (c *chaos) nothingTwice(children []one) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DatabaseURL)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, ch := range children {
		var ends, answers int
		err := conn.QueryRow(ctx, `select
			(select count(*) from (select l.data from coord.live_log l where l.type = 'run_updated' and l.session_id = $2
				union all select i.data from coord.live_inbox i where i.type = 'run_updated' and i.session_id = $2) x
				where x.data -> 'run' ->> 'run_id' = $1 and x.data -> 'run' ->> 'status' in ('completed', 'failed', 'stopped')),
			(select count(*) from public.events e where e.session_id = $2 and e.role = 'assistant')`, ch.run, ch.session).Scan(&ends, &answers)
		if err != nil {
			c.t.Fatal(err)
		}
		if ends != 1 || answers > 1 {
			c.t.Errorf("%s (%s) ended %d times and answered %d times", ch.run, ch.prompt, ends, answers)
		}
	}
	var left int
	if err := conn.QueryRow(ctx, `select (select count(*) from coord.lease where queue = 2) + (select count(*) from coord.ready where queue = 2)`).Scan(&left); err != nil {
		c.t.Fatal(err)
	}
	if left != 0 {
		c.t.Errorf("%d lanes or leases are left", left)
	}
}
