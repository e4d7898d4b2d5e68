//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runnerDir builds the agent runner and its executors into a folder of their own.
func runnerDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, pkg := range map[string]string{
		"agent-runner":                              "../../cmd/agent-runner",
		"executors/test-executor/ao-test-exec":      "../../executors/test-executor",
		"executors/claude-code/ao-claude-code-exec": "../../executors/claude-code",
	} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// startRunner starts an agent runner of the installation; it is stopped when the test ends.
func (in *install) startRunner(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "agent-runner"), append([]string{"-c", in.APIURL, "-p", in.Work}, args...)...)
	var log bytes.Buffer
	cmd.Env = append(in.env("COORDINATION_API_KEY="+in.APIKey), env...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("runner:\n%s", log.String())
		}
	})
	return cmd
}

// do calls the API and decodes the answer; the status must be 200.
func (in *install) do(t *testing.T, method, path string, body any) map[string]any {
	t.Helper()
	status, out, err := in.call(method, path, body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s %s: %d %v %v", method, path, status, out, err)
	}
	return out
}

func (in *install) call(method, path string, body any) (int, map[string]any, error) {
	return in.send(method, path, "", body)
}

// keyed is a POST with a request key: repeated, it is done once.
func (in *install) keyed(key, path string, body any) (int, map[string]any, error) {
	return in.send(http.MethodPost, path, key, body)
}

func (in *install) send(method, path, key string, body any) (int, map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequest(method, in.APIURL+path, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+in.APIKey)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	raw, err = io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return res.StatusCode, out, nil
}

// runEnds waits until a run has ended and returns its status.
func (in *install) runEnds(t *testing.T, id string) map[string]any {
	t.Helper()
	var run map[string]any
	eventually(t, 90*time.Second, "the end of run "+id, func() error {
		status, out, err := in.call(http.MethodGet, "/runs/"+id, nil)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%d %v", status, err)
		}
		switch run = out; out["status"] {
		case "completed", "failed", "stopped":
			return nil
		}
		return fmt.Errorf("it is %v", out["status"])
	})
	return run
}

func (in *install) startRun(t *testing.T, body map[string]any) (run, session string) {
	t.Helper()
	out := in.do(t, http.MethodPost, "/runs", body)
	run, _ = out["run_id"].(string)
	session, _ = out["session_id"].(string)
	return run, session
}

func (in *install) result(t *testing.T, session string) string {
	t.Helper()
	text, _ := in.do(t, http.MethodGet, "/sessions/"+session+"/result", nil)["result"].(string)
	return text
}

// TestRunnerExecutesRuns: a run posted over HTTP is executed by a real executor and its result read back; it is resumed, one
// fails, one is stopped; the runner is killed and the API restarted in between.
func TestRunnerExecutesRuns(t *testing.T) {
	in, dir := up(t), runnerDir(t)
	runner := in.startRunner(t, dir, nil, "-x", "test-executor")

	run, session := in.startRun(t, map[string]any{"type": "start_session", "prompt": "hello", "additional_demands": map[string]any{"executor_profile": "test-executor"}})
	if got := in.runEnds(t, run); got["status"] != "completed" {
		t.Fatalf("run %v", got)
	}
	if got := in.result(t, session); got != "[TEST-EXECUTOR] Received: hello" {
		t.Errorf("result %q", got)
	}
	run, _ = in.startRun(t, map[string]any{"type": "resume_session", "session_id": session, "prompt": "and again"})
	if got := in.runEnds(t, run); got["status"] != "completed" {
		t.Fatalf("resume %v", got)
	}
	if got := in.result(t, session); got != "[TEST-EXECUTOR] Received: and again" {
		t.Errorf("result of the resume %q", got)
	}

	run, _ = in.startRun(t, map[string]any{"type": "start_session", "prompt": "test:fail 3 no more disk"})
	if got := in.runEnds(t, run); got["status"] != "failed" || !strings.Contains(fmt.Sprint(got["error"]), "no more disk") {
		t.Errorf("failing run %v", got)
	}

	run, _ = in.startRun(t, map[string]any{"type": "start_session", "prompt": "test:sleep 5m"})
	in.runIs(t, run, "running")
	in.do(t, http.MethodPost, "/runs/"+run+"/stop", nil)
	if got := in.runEnds(t, run); got["status"] != "stopped" {
		t.Errorf("stopped run %v", got)
	}

	run, _ = in.startRun(t, map[string]any{"type": "start_session", "prompt": "test:hang"})
	in.runIs(t, run, "running")
	_ = runner.Process.Kill()
	_ = runner.Wait()
	in.startRunner(t, dir, nil, "-x", "test-executor")
	if got := in.runEnds(t, run); got["status"] != "failed" {
		t.Errorf("run of the killed runner %v", got)
	}
	run, _ = in.startRun(t, map[string]any{"type": "start_session", "prompt": "after all"})
	if got := in.runEnds(t, run); got["status"] != "completed" {
		t.Errorf("run after all %v", got)
	}
}

// runIs waits until a run has the status.
func (in *install) runIs(t *testing.T, id, want string) {
	t.Helper()
	eventually(t, 60*time.Second, "run "+id+" to be "+want, func() error {
		if _, out, err := in.call(http.MethodGet, "/runs/"+id, nil); err != nil || out["status"] != want {
			return fmt.Errorf("%v %v", out["status"], err)
		}
		return nil
	})
}

// TestRunnerSurvivesTheCoordinator: the coordinator is killed while a run is executed; the run goes on, its events and its
// end reach the next coordinator, and the runner takes further runs.
func TestRunnerSurvivesTheCoordinator(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	in, dir := up(t, "API_ADDR="+address), runnerDir(t)
	in.startRunner(t, dir, nil, "-x", "test-executor")
	run, session := in.startRun(t, map[string]any{"type": "start_session", "prompt": "test:sleep 3s"})
	in.runIs(t, run, "running")
	if p, err := os.FindProcess(in.PID); err != nil || p.Kill() != nil {
		t.Fatal("the coordinator cannot be killed", err)
	}
	in.start(t, "API_ADDR="+address)
	if got := in.runEnds(t, run); got["status"] != "completed" {
		t.Fatalf("run %v", got)
	}
	if got := in.result(t, session); got != "[TEST-EXECUTOR] Received: test:sleep 3s" {
		t.Errorf("result %q", got)
	}
	run, _ = in.startRun(t, map[string]any{"type": "start_session", "prompt": "next"})
	if got := in.runEnds(t, run); got["status"] != "completed" {
		t.Errorf("the next run %v", got)
	}
}

// TestExecutorsTakeLocksAsTheirSession: what an executor locks through the gateway is its session's, and is freed with its end.
func TestExecutorsTakeLocksAsTheirSession(t *testing.T) {
	in, dir := up(t), runnerDir(t)
	script := `#!/bin/sh
cat >/dev/null
send() { curl -sf -H 'Content-Type: application/json' -d "$1" "$AGENT_ORCHESTRATOR_API_URL/$2"; }
send "{\"session_id\":\"$AGENT_SESSION_ID\",\"executor_session_id\":\"sh\"}" bind || exit 2
send '{"file_path":"src/app.go"}' locks/acquire >lock.json || exit 3
exec sleep 300
`
	path := filepath.Join(dir, "executors", "sh", "ao-sh-exec")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	in.startRunner(t, dir, nil, "-x", "sh")
	run, session := in.startRun(t, map[string]any{"type": "start_session", "prompt": "lock"})
	eventually(t, 60*time.Second, "the lock", func() error {
		raw, err := os.ReadFile(filepath.Join(in.Work, "lock.json"))
		if err != nil || !strings.Contains(string(raw), `"success":true`) {
			return fmt.Errorf("%s %v", raw, err)
		}
		return nil
	})
	if locks := fmt.Sprint(in.do(t, http.MethodGet, "/locks", nil)); !strings.Contains(locks, "src/app.go") || !strings.Contains(locks, session) {
		t.Errorf("locks %s", locks)
	}
	in.do(t, http.MethodPost, "/runs/"+run+"/stop", nil)
	if got := in.runEnds(t, run); got["status"] != "stopped" {
		t.Fatalf("run %v", got)
	}
	if locks := fmt.Sprint(in.do(t, http.MethodGet, "/locks", nil)); strings.Contains(locks, "src/app.go") {
		t.Errorf("the lock outlived the session: %s", locks)
	}
}
