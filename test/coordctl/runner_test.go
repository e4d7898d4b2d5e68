package coordctl

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// upRunner is the runner of up.json.
type upRunner struct {
	Profile string `json:"profile"`
	Dir     string `json:"project_dir"`
	PID     int    `json:"pid"`
}

func (p *place) runner() *upRunner {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.home, "up.json"))
	var u struct {
		Runner *upRunner `json:"runner"`
	}
	if err != nil || json.Unmarshal(raw, &u) != nil {
		p.t.Fatalf("%v %s", err, raw)
	}
	return u.Runner
}

// executes posts a run and waits until the runner has completed it.
func (p *place) executes(prompt string) {
	p.t.Helper()
	var run struct {
		RunID     string `json:"run_id"`
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(p.must("bin/coordctl run create --type start_session --prompt '"+prompt+"' --json")), &run); err != nil {
		p.t.Fatal(err)
	}
	eventually(p.t, "run "+run.RunID+" being completed", func() bool {
		return strings.Contains(p.must("bin/coordctl run get "+run.RunID+" --json"), `"status":"completed"`)
	})
	if out := p.must("bin/coordctl ses result " + run.SessionID + " --json"); !strings.Contains(out, prompt) {
		p.t.Errorf("result %s", out)
	}
}

// lives reports whether a process runs; one that only waits to be reaped does not.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) == nil && (err != nil || !strings.Contains(string(stat), ") Z "))
}

// TestUpKeepsARunner: `up` starts a runner with a key of its own; killed, it is started again; killed with the whole `up`, it
// is adopted by the next; `down` ends it.
func TestUpKeepsARunner(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "COORD_RUNNER=test-executor", "API_ADDR="+ln.Addr().String())
	_ = ln.Close()
	first := p.up()
	r := p.runner()
	if r == nil || r.Profile != "test-executor" || !lives(r.PID) || r.Dir != filepath.Join(p.home, "workspace") {
		t.Fatalf("runner %+v", r)
	}
	p.executes("hello")
	if out := p.must("bin/coordctl status"); !strings.Contains(out, "test-executor") {
		t.Errorf("status says %s", out)
	}
	if out := p.sh("bin/coordctl doctor").out; !strings.Contains(out, "agent runner") {
		t.Errorf("doctor says %s", out)
	}
	if raw, err := os.ReadFile(filepath.Join(p.home, "runner.key")); err != nil || strings.TrimSpace(string(raw)) == first.APIKey || len(raw) < 20 {
		t.Errorf("the runner's key: %d bytes, %v", len(raw), err)
	}

	kill(t, r.PID)
	eventually(t, "another runner", func() bool { now := p.runner(); return now != nil && now.PID != r.PID && lives(now.PID) })
	p.executes("again")

	r = p.runner()
	kill(t, first.PID)
	eventually(t, "status noticing it", func() bool { return p.sh("bin/coordctl status").code == 3 })
	p.up()
	if now := p.runner(); now == nil || now.PID != r.PID {
		t.Errorf("the runner of the killed up was not adopted: %+v, was %+v", now, r)
	}
	p.executes("once more")

	if out := p.must("bin/coordctl down"); !strings.Contains(out, "the API") {
		t.Errorf("down says %s", out)
	}
	if lives(r.PID) {
		t.Error("the runner outlived down")
	}
	p.must("bin/coordctl up -d --no-runner --json")
	if now := p.runner(); now != nil {
		t.Errorf("with --no-runner there is %+v", now)
	}
	if r := p.sh("bin/coordctl up --runner nosuch", "COORD_HOME="+p.home+"2"); r.code != 2 || !strings.Contains(r.err, "nosuch") {
		t.Errorf("an unknown runner: %d %s", r.code, r.err)
	}
}

// TestDownEndsTheRunnerOfAKilledUp: nobody is left behind.
func TestDownEndsTheRunnerOfAKilledUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = append(p.env, "COORD_RUNNER=test-executor")
	first := p.up()
	r := p.runner()
	kill(t, first.PID)
	eventually(t, "status noticing it", func() bool { return p.sh("bin/coordctl status").code == 3 })
	if out := p.must("bin/coordctl down"); !strings.Contains(out, "the runner") {
		t.Errorf("down says %s", out)
	}
	if lives(r.PID) {
		t.Error("the runner lives on")
	}
}
