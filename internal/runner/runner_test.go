package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var ctxNever = context.Background()

func newContext(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(context.Background())
}

func TestARunIsExecutedAndReported(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	cfg.Tags, cfg.RequireMatchingTags = []string{"go"}, true
	f.give("run_1", "hello")
	_, end := f.starts(t, cfg)
	if kind, detail := f.ends("run_1"); kind != "completed" || detail != "" {
		t.Errorf("%s %s", kind, detail)
	}
	want := []string{"user: hello", "assistant: [TEST-EXECUTOR] Received: hello", "session_stop"}
	if got := f.texts("ses_run_1"); !slices.Equal(got, want) {
		t.Errorf("events %q", got)
	}
	b := f.bound["ses_run_1"]
	if b["hostname"] != "here" || b["executor_profile"] != "test-executor" || b["project_dir"] != cfg.ProjectDir || text(b, "executor_session_id") == "" || b["session_id"] != nil {
		t.Errorf("bound as %v", b)
	}
	for _, reg := range f.runners {
		if !reg.RequireMatchingTags || !slices.Equal(reg.Tags, []string{"go"}) || reg.Executor.Type != "test-executor" || reg.InstanceID == "" {
			t.Errorf("registered as %+v", reg)
		}
	}
	f.give("run_2", "again", map[string]any{"type": "resume_session", "session_id": "ses_run_1"})
	if kind, detail := f.ends("run_2"); kind != "completed" {
		t.Errorf("resume: %s %s", kind, detail)
	}
	if got := f.texts("ses_run_1"); got[3] != "session_start" || got[5] != "assistant: [TEST-EXECUTOR] Received: again" {
		t.Errorf("events of the resume %q", got)
	}
	if err := end(); err != nil || len(f.runners) != 0 {
		t.Errorf("end: %v, runners left %v", err, f.runners)
	}
}

func TestFailuresCarryTheirReason(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.starts(t, f.config(t))
	tests := []struct {
		id, prompt string
		more       map[string]any
		want       string
	}{
		{"run_code", "test:fail 7 the disk is full", nil, "Process exited with code 7: the disk is full"},
		{"run_agent", "x", map[string]any{"agent_name": "nobody"}, "Blueprint not found: nobody"},
		{"run_dir", "x", map[string]any{"project_dir": "/nowhere/at/all"}, "/nowhere/at/all does not exist"},
		{"run_type", "x", map[string]any{"type": "other"}, `type "other"`},
		{"run_resume", "x", map[string]any{"type": "resume_session"}, "was not started by this executor"},
	}
	for _, tt := range tests {
		f.give(tt.id, tt.prompt, tt.more)
	}
	for _, tt := range tests {
		if kind, detail := f.ends(tt.id); kind != "failed" || !strings.Contains(detail, tt.want) {
			t.Errorf("%s: %s %q", tt.id, kind, detail)
		}
	}
}

func TestMuchOutputBlocksNobody(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.starts(t, f.config(t))
	f.give("run_flood", "test:flood 10000000")
	if kind, detail := f.ends("run_flood"); kind != "completed" {
		t.Errorf("%s %q", kind, detail)
	}
}

// TestAHungTreeIsKilled: neither the executor nor its child honours SIGTERM; meanwhile the runner works on.
func TestAHungTreeIsKilled(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, _ := f.starts(t, f.config(t))
	f.give("run_hung", "test:child")
	pids := hangers(t, f, r, "run_hung", 2)
	f.change(func() { f.stops = append(f.stops, "run_hung") })
	f.give("run_next", "meanwhile")
	if kind, _ := f.ends("run_next"); kind != "completed" {
		t.Errorf("the other run: %s", kind)
	}
	if kind, signal := f.ends("run_hung"); kind != "stopped" || signal != "SIGKILL" {
		t.Errorf("%s %s", kind, signal)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
}

func TestAStopBySIGTERM(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.starts(t, f.config(t))
	f.give("run_s", "test:sleep 1m")
	f.until("the bind", func() bool { return f.bound["ses_run_s"] != nil })
	f.change(func() { f.stops = append(f.stops, "run_s", "run_unknown") })
	if kind, signal := f.ends("run_s"); kind != "stopped" || signal != "SIGTERM" {
		t.Errorf("%s %s", kind, signal)
	}
	if kind, _ := f.ends("run_unknown"); kind != "stopped" {
		t.Errorf("a run that is not here: %s", kind)
	}
}

// TestAStopRacesTheEnd: whatever comes first, exactly one end is reported.
func TestAStopRacesTheEnd(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, _ := f.starts(t, f.config(t))
	for i := range 12 {
		id := fmt.Sprintf("run_%d", i)
		f.give(id, "test:sleep "+strconv.Itoa(i)+"ms")
		f.until("the bind", func() bool { return f.bound["ses_"+id] != nil })
		f.change(func() { f.stops = append(f.stops, id) })
		if kind, detail := f.ends(id); kind != "completed" && kind != "stopped" {
			t.Errorf("%s: %s %s", id, kind, detail)
		}
	}
	f.until("every report to be acknowledged", func() bool { return len(r.state.view().Reports) == 0 })
}

func TestARestartedCoordinatorIsToldAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, _ := f.starts(t, f.config(t))
	f.give("run_1", "test:sleep 300ms")
	f.until("the start", func() bool { return f.runs["run_1"] == "started" })
	// The coordinator comes back without memory of its runners: polls and reports get 401.
	f.change(func() { f.runners, f.down = map[string]registration{}, 4 })
	f.CloseClientConnections()
	if kind, detail := f.ends("run_1"); kind != "completed" {
		t.Errorf("%s %s", kind, detail)
	}
	f.give("run_2", "on")
	if kind, _ := f.ends("run_2"); kind != "completed" {
		t.Errorf("the next run: %s", kind)
	}
	if r.generation() < 2 {
		t.Error("it never registered again")
	}
}

// TestReportsOutliveTheRunner: the end of a run is delivered by the next life of the runner.
func TestReportsOutliveTheRunner(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	s, err := openState(mustNormalise(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	f.change(func() { f.runs["run_old"] = "started" })
	if err := s.change(func(s *saved) { s.Reports = []report{{RunID: "run_old", Kind: "failed", Error: "late"}} }); err != nil {
		t.Fatal(err)
	}
	s.close()
	f.starts(t, cfg)
	if kind, detail := f.ends("run_old"); kind != "failed" || detail != "late" {
		t.Errorf("%s %s", kind, detail)
	}
}

// TestARunGivenToAnotherIsEnded: the coordinator gave the run up while it did not hear from this runner.
func TestARunGivenToAnotherIsEnded(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, _ := f.starts(t, f.config(t))
	f.give("run_1", "test:child")
	pids := hangers(t, f, r, "run_1", 2)
	f.change(func() {
		f.runs["run_1"] = "failed" // which refuses every further report
		f.runners = map[string]registration{}
	})
	f.until("the end of its processes", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
	f.until("nothing left in the state", func() bool {
		v := r.state.view()
		return len(v.Runs)+len(v.Reports) == 0
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.calls["POST /runner/runs/run_1/failed"] + f.calls["POST /runner/runs/run_1/stopped"]; n != 0 {
		t.Errorf("it reported a run that is not its own %d times", n)
	}
}

func TestDeliveredTwiceRunsOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, _ := f.starts(t, f.config(t))
	f.give("run_1", "test:sleep 200ms")
	f.give("run_1", "test:sleep 200ms")
	f.ends("run_1")
	f.until("the acknowledgement", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.jobs) == 0 && len(r.state.view().Reports) == 0
	})
	f.give("run_1", "test:sleep 200ms") // its start is refused: the run has ended
	f.give("run_2", "x")
	f.ends("run_2")
	f.until("the refusal", func() bool { return f.calls["POST /runner/runs/run_1/started"] >= 2 })
	if n := len(f.texts("ses_run_1")); n != 3 {
		t.Errorf("%d events: %q", n, f.texts("ses_run_1"))
	}
}

func TestTheLimitHoldsRunsBack(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	cfg.MaxRuns = 1
	f.starts(t, cfg)
	f.give("run_a", "test:sleep 1m")
	f.until("the bind", func() bool { return f.bound["ses_run_a"] != nil })
	f.give("run_b", "x")
	f.give("run_c", "x")
	f.until("both to be delivered", func() bool { return len(f.queue) == 0 })
	f.change(func() { f.stops = append(f.stops, "run_c") })
	if kind, _ := f.ends("run_c"); kind != "stopped" {
		t.Errorf("stopping a run that waits: %s", kind)
	}
	f.mu.Lock()
	if f.runs["run_b"] != "" {
		t.Errorf("the second run is %s beside the first", f.runs["run_b"])
	}
	f.mu.Unlock()
	f.change(func() { f.stops = append(f.stops, "run_a") })
	if kind, _ := f.ends("run_b"); kind != "completed" {
		t.Errorf("the second run: %s", kind)
	}
}

func TestShutdownEndsAndReportsRuns(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, end := f.starts(t, f.config(t))
	f.give("run_s", "test:child")
	pids := hangers(t, f, r, "run_s", 2)
	if err := end(); err != nil {
		t.Error(err)
	}
	if kind, detail := f.ends("run_s"); kind != "failed" || !strings.Contains(detail, "shut down") {
		t.Errorf("%s %s", kind, detail)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
	f.give("run_late", "x")
	if len(f.queue) != 1 || len(f.runners) != 0 {
		t.Errorf("queue %v, runners %v", f.queue, f.runners)
	}
}

// TestASecondSignalKills: nothing is waited for, neither the drain nor the grace.
func TestASecondSignalKills(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	cfg.Drain, cfg.grace = time.Hour, time.Hour
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := newContext(t)
	defer cancel()
	hurry, hurryUp := newContext(t)
	defer hurryUp()
	result := make(chan error, 1)
	go func() { result <- r.Run(ctx, hurry) }()
	f.give("run_s", "test:child")
	pids := hangers(t, f, r, "run_s", 2)
	cancel()
	hurryUp()
	select {
	case err := <-result:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the runner does not end")
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
	// The report was not waited for either: the next life sends it.
	cfg.Drain, cfg.grace = 0, time.Second
	f.starts(t, cfg)
	if kind, detail := f.ends("run_s"); kind != "failed" || !strings.Contains(detail, "shut down") {
		t.Errorf("%s %s", kind, detail)
	}
}

func TestShutdownMayWait(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	cfg.Drain = patience
	_, end := f.starts(t, cfg)
	f.give("run_s", "test:sleep 300ms")
	f.until("the start", func() bool { return f.runs["run_s"] == "started" })
	if err := end(); err != nil {
		t.Error(err)
	}
	if kind, detail := f.ends("run_s"); kind != "completed" {
		t.Errorf("%s %s", kind, detail)
	}
}

func TestARunThatTakesTooLongFails(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	cfg.RunTimeout = 300 * time.Millisecond
	f.starts(t, cfg)
	f.give("run_s", "test:sleep 1m")
	if kind, detail := f.ends("run_s"); kind != "failed" || !strings.Contains(detail, "longer") {
		t.Errorf("%s %s", kind, detail)
	}
}

func TestDeregisteredFromOutside(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, err := New(f.config(t))
	if err != nil {
		t.Fatal(err)
	}
	f.change(func() { f.leave = true })
	if err := r.Run(t.Context(), ctxNever); err != nil {
		t.Error(err)
	}
	for call := range f.calls {
		if strings.HasPrefix(call, "DELETE") {
			t.Errorf("it deregistered itself all the same: %s", call)
		}
	}
}

func TestRegistrationThatIsRefused(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	f.starts(t, cfg)
	f.until("the registration", func() bool { return len(f.runners) == 1 })
	// The same state: the file is locked.
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), ctxNever); !errors.Is(err, ErrDuplicate) {
		t.Errorf("second process: %v", err)
	}
	// Another machine with the same name: the coordinator says so.
	cfg.StateDir = t.TempDir()
	if r, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), ctxNever); !errors.Is(err, ErrDuplicate) {
		t.Errorf("other machine: %v", err)
	}
	shut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 401, map[string]any{"detail": "no key"})
	}))
	defer shut.Close()
	cfg.CoordinatorURL = shut.URL
	if r, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), ctxNever); !errors.Is(err, ErrRefused) {
		t.Errorf("wrong key: %v", err)
	}
}

// TestACoordinatorThatStartsLater is waited for.
func TestACoordinatorThatStartsLater(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	address := freeAddress(t)
	cfg.CoordinatorURL = "http://" + address
	f.give("run_1", "x")
	_, end := f.starts(t, cfg)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip("somebody took the port:", err)
	}
	srv := &http.Server{Handler: f.Config.Handler}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	if kind, _ := f.ends("run_1"); kind != "completed" {
		t.Errorf("%s", kind)
	}
	if err := end(); err != nil { // before the server goes: the runner still has to deregister
		t.Error(err)
	}
}

func mustNormalise(t *testing.T, cfg Config) Config {
	t.Helper()
	if err := cfg.normalise(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// hangers waits until n processes of the run's executor hang, and returns their group's members.
func hangers(t *testing.T, f *fake, r *Runner, run string, n int) []int {
	t.Helper()
	f.until("the bind", func() bool { return f.bound["ses_"+run] != nil })
	var pids []int
	deadline := time.Now().Add(patience)
	for tick := time.Tick(10 * time.Millisecond); time.Now().Before(deadline); <-tick {
		pgid := r.state.view().Runs[run].PID
		if pids = members(pgid); pgid > 0 && len(pids) >= n {
			return pids
		}
	}
	t.Fatalf("%d processes of %s, want %d", len(pids), run, n)
	return nil
}

// members are the processes of a group that ignore SIGTERM already.
func members(pgid int) []int {
	var out []int
	found, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range found {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if fields := statFields(pid); len(fields) > 2 && fields[2] == strconv.Itoa(pgid) && ignoresTerm(pid) {
			out = append(out, pid)
		}
	}
	return out
}

func ignoresTerm(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		if mask, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			bits, _ := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return bits&(1<<(uint(syscall.SIGTERM)-1)) != 0
		}
	}
	return false
}

// alive reports whether the process runs; a zombie that nobody reaped does not.
func alive(pid int) bool {
	f := statFields(pid)
	return len(f) > 0 && f[0] != "Z" && f[0] != "X"
}
