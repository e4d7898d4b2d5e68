package runner

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const patience = 30 * time.Second // of tests on a busy machine; nothing that works waits so long

var binaries string // folder with executors/test-executor/ao-test-exec

func TestMain(m *testing.M) {
	if raw := os.Getenv(asRunner); raw != "" {
		os.Exit(beRunner(raw))
	}
	code, err := func() (int, error) {
		dir, err := os.MkdirTemp("", "runner-test-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "executors", "test-executor", "ao-test-exec"),
			"github.com/agent-coordinator/agent-coordinator/executors/test-executor").CombinedOutput()
		if err != nil {
			return 1, fmt.Errorf("%w: %s", err, out)
		}
		binaries = dir
		code := m.Run()
		if code == 0 {
			err = goleak.Find()
		}
		return code, err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// fake is a coordinator that speaks the wire of runners, in memory.
type fake struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced whenever something happens
	runners  map[string]registration
	online   map[string]bool
	queue    []map[string]any // runs to deliver
	stops    []string
	leave    bool              // deregister at the next poll
	runs     map[string]string // run → last accepted report
	details  map[string]string // run → its error or signal
	ended    map[string]int    // run → accepted terminal reports
	events   []map[string]any
	bound    map[string]map[string]any
	agents   map[string]map[string]any
	sessions map[string]map[string]any
	calls    map[string]int // by route
	down     int            // answer 503 so often
	holding  time.Duration  // of a poll
	posted   []map[string]any
	used     []map[string]any
	deleted  []string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{
		t: t, changed: make(chan struct{}), runners: map[string]registration{}, online: map[string]bool{},
		ended: map[string]int{}, runs: map[string]string{}, details: map[string]string{}, bound: map[string]map[string]any{},
		agents: map[string]map[string]any{}, sessions: map[string]map[string]any{}, calls: map[string]int{}, holding: 20 * time.Second,
	}
	f.Server = httptest.NewServer(f.handler())
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *fake) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /runner/register", f.register)
	mux.HandleFunc("GET /runner/runs", f.poll)
	mux.HandleFunc("POST /runner/runs/{id}/{kind}", f.report)
	mux.HandleFunc("POST /runner/heartbeat", func(w http.ResponseWriter, r *http.Request) {
		if f.known(w, text(decode(r), "runner_id")) {
			answer(w, 200, map[string]any{"ok": true})
		}
	})
	mux.HandleFunc("DELETE /runners/{id}", func(w http.ResponseWriter, r *http.Request) {
		f.change(func() { delete(f.runners, r.PathValue("id")) })
		answer(w, 200, map[string]any{"ok": true, "message": "Runner deregistered", "initiated_by": "self"})
	})
	mux.HandleFunc("GET /agents/{name}", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if a, ok := f.agents[r.PathValue("name")]; ok {
			answer(w, 200, a)
			return
		}
		answer(w, 404, map[string]any{"detail": "Agent not found: " + r.PathValue("name")})
	})
	mux.HandleFunc("POST /sessions/{id}/bind", func(w http.ResponseWriter, r *http.Request) {
		f.change(func() { f.bound[r.PathValue("id")] = decode(r) })
		answer(w, 200, map[string]any{"ok": true})
	})
	mux.HandleFunc("POST /sessions/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		f.change(func() { f.events = append(f.events, decode(r)) })
		answer(w, 200, map[string]any{"ok": true})
	})
	mux.HandleFunc("POST /usage", func(w http.ResponseWriter, r *http.Request) {
		f.change(func() { f.used = append(f.used, decode(r)) })
		answer(w, 200, map[string]any{"success": true, "counted": 1})
	})
	mux.HandleFunc("PATCH /sessions/{id}/metadata", func(w http.ResponseWriter, r *http.Request) {
		f.change(func() { f.posted = append(f.posted, decode(r)) })
		answer(w, 200, map[string]any{"ok": true})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.calls[r.Method+" "+r.URL.Path]++
		down := f.down > 0
		if down {
			f.down--
		}
		f.mu.Unlock()
		if down {
			answer(w, 503, map[string]any{"detail": "restarting"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// change applies what happened and wakes everybody.
func (f *fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// until waits for something to be true.
func (f *fake) until(what string, ok func() bool) {
	f.t.Helper()
	timer, recheck := time.NewTimer(patience), time.NewTicker(20*time.Millisecond)
	defer timer.Stop()
	defer recheck.Stop()
	for {
		f.mu.Lock()
		done, changed := ok(), f.changed
		f.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-recheck.C: // not everything that tests wait for happens here
		case <-timer.C:
			f.mu.Lock()
			defer f.mu.Unlock()
			f.t.Fatalf("waited in vain for %s; runs %v %v, calls %v", what, f.runs, f.details, f.calls)
		}
	}
}

func (f *fake) register(w http.ResponseWriter, r *http.Request) {
	var in registration
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Hostname == "" || in.ProjectDir == "" || in.ExecutorProfile == "" {
		answer(w, 422, map[string]any{"detail": []any{}})
		return
	}
	sum := sha256.Sum256([]byte(in.Hostname + ":" + in.ProjectDir + ":" + in.ExecutorProfile))
	id := fmt.Sprintf("lnch_%x", sum[:6])
	f.mu.Lock()
	old, exists := f.runners[id]
	f.mu.Unlock()
	if exists && old.InstanceID != in.InstanceID {
		answer(w, 409, map[string]any{"detail": map[string]any{"error": "duplicate_runner", "message": "already there", "runner_id": id}})
		return
	}
	f.change(func() { f.runners[id] = in })
	answer(w, 200, map[string]any{"runner_id": id, "poll_endpoint": "/runner/runs", "poll_timeout_seconds": 30, "heartbeat_interval_seconds": 60})
}

func (f *fake) known(w http.ResponseWriter, id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.runners[id]; !ok {
		answer(w, 401, map[string]any{"detail": "Runner not registered"})
		return false
	}
	return true
}

func (f *fake) poll(w http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(f.holding)
	defer timer.Stop()
	for {
		if !f.known(w, r.URL.Query().Get("runner_id")) {
			return
		}
		f.mu.Lock()
		var out map[string]any
		switch {
		case len(f.stops) > 0:
			out, f.stops = map[string]any{"stop_runs": f.stops}, nil
		case f.leave:
			out = map[string]any{"deregistered": true}
		case len(f.queue) > 0:
			out, f.queue = map[string]any{"run": f.queue[0]}, f.queue[1:]
		}
		changed := f.changed
		f.mu.Unlock()
		if out != nil {
			answer(w, 200, out)
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			w.WriteHeader(http.StatusNoContent)
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fake) report(w http.ResponseWriter, r *http.Request) {
	body, run, kind := decode(r), r.PathValue("id"), r.PathValue("kind")
	if !f.known(w, text(body, "runner_id")) {
		return
	}
	f.mu.Lock()
	was := f.runs[run]
	f.mu.Unlock()
	if was == "completed" || was == "failed" || was == "stopped" {
		answer(w, 409, map[string]any{"detail": "the run has ended"})
		return
	}
	f.change(func() {
		f.runs[run] = kind
		if kind != "started" {
			f.ended[run]++
		}
		f.details[run] = text(body, "error") + text(body, "signal")
	})
	answer(w, 200, map[string]any{"ok": true})
}

// give queues a run for the next poll.
func (f *fake) give(id, prompt string, more ...map[string]any) {
	run := map[string]any{
		"run_id": id, "type": "start_session", "session_id": "ses_" + id, "agent_name": nil, "prompt": prompt,
		"project_dir": nil, "parent_session_id": nil, "execution_mode": "sync", "demands": nil, "status": "claimed",
	}
	for _, m := range more {
		maps.Copy(run, m)
	}
	f.change(func() { f.queue = append(f.queue, run) })
}

// ends waits for the terminal report of a run and returns it with its error or signal.
func (f *fake) ends(id string) (kind, detail string) {
	f.t.Helper()
	f.until("the end of "+id, func() bool { return f.runs[id] != "" && f.runs[id] != "started" })
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs[id], f.details[id]
}

// texts are the texts of a session's messages, and the types of its other events, in order.
func (f *fake) texts(session string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, e := range f.events {
		if e["session_id"] != session {
			continue
		}
		s := text(e, "event_type")
		if content, ok := e["content"].([]any); ok && len(content) > 0 {
			part, _ := content[0].(map[string]any)
			s = text(e, "role") + ": " + text(part, "text")
		}
		out = append(out, s)
	}
	return out
}

func (f *fake) config(t *testing.T) Config {
	t.Helper()
	_, ex, err := Select(binaries, "test-executor")
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		CoordinatorURL: f.URL, ProjectDir: t.TempDir(), Hostname: "here", Executor: ex, StateDir: t.TempDir(),
		Log:   slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug})),
		grace: 2 * time.Second, backoff: 5 * time.Millisecond,
	}
}

// starts runs a runner until the test ends; the function ends it sooner and returns what Run returned.
func (f *fake) starts(t *testing.T, cfg Config) (*Runner, func() error) {
	t.Helper()
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := newContext(t)
	result := make(chan error, 1)
	go func() { result <- r.Run(ctx, ctxNever) }()
	end := sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-result:
			return err
		case <-time.After(patience):
			return errors.New("the runner does not end")
		}
	})
	t.Cleanup(func() {
		if err := end(); err != nil && !t.Failed() {
			t.Log("Run:", err)
		}
	})
	return r, end
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

func decode(r *http.Request) map[string]any {
	var out map[string]any
	_ = json.NewDecoder(r.Body).Decode(&out)
	return out
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// freeAddress is an address nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
