package ntm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stub behaves as ntm serve 1.29.3 was seen to: command steps by /bin/sh in groups of their own, ends as text in errors,
// a key that is remembered only as long as it lives.
type stub struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	runs    map[string]*stubRun
	keys    map[string]string
	started int

	// What goes wrong on purpose.
	double   bool // starts every command twice
	keepGo   bool // on_error: continue, so that a failed step is a success
	never    bool // acknowledges and starts nothing
	shorter  time.Duration
	refusing int // status of every answer
}

type stubRun struct {
	status, text string
	cmds         []*exec.Cmd
	over         chan struct{}
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{t: t, runs: map[string]*stubRun{}, keys: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/pipelines/exec", s.exec)
	mux.HandleFunc("GET /api/v1/pipelines/{id}/", s.get)
	mux.HandleFunc("POST /api/v1/pipelines/{id}/cancel", s.cancel)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.mu.Lock()
		for _, r := range s.runs {
			r.kill()
		}
		s.mu.Unlock()
		s.Close()
	})
	return s
}

func (r *stubRun) kill() {
	for _, c := range r.cmds {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
}

func (s *stub) exec(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Session  string
		Workflow struct {
			Steps []struct{ ID, Command, Timeout string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Session == "" || len(in.Workflow.Steps) != 1 {
		http.Error(w, `{"error_code":"INVALID_FLAG"}`, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusing != 0 {
		http.Error(w, `{"success":false,"error_code":"INTERNAL_ERROR"}`, s.refusing)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if id := s.keys[key]; id != "" && key != "" {
		_, _ = fmt.Fprintf(w, `{"success":true,"run_id":%q}`, id)
		return
	}
	id := fmt.Sprintf("run-%d", len(s.runs)+1)
	s.keys[key] = id
	limit, err := time.ParseDuration(in.Workflow.Steps[0].Timeout)
	if err != nil {
		http.Error(w, `{"error_code":"INVALID_FLAG"}`, http.StatusBadRequest)
		return
	}
	if s.shorter > 0 {
		limit = s.shorter
	}
	run := &stubRun{status: "running", over: make(chan struct{})}
	s.runs[id] = run
	times := 1
	if s.double {
		times = 2
	}
	if s.never {
		times, run.status = 0, "failed"
	}
	for range times {
		s.begin(run, in.Workflow.Steps[0].Command, limit)
	}
	_, _ = fmt.Fprintf(w, `{"success":true,"run_id":%q}`, id)
}

// begin starts the step. The lock is held.
func (s *stub) begin(run *stubRun, command string, limit time.Duration) {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "SECRET_OF_NTM=s3cret")
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return
	}
	s.started++
	run.cmds = append(run.cmds, cmd)
	timer := time.AfterFunc(limit, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		run.text = fmt.Sprintf("timed out after %s", limit)
		run.kill()
	})
	go func() {
		err := cmd.Wait()
		timer.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case run.status == "cancelled":
		case err == nil || s.keepGo:
			run.status = "completed"
		default:
			run.status, run.text = "failed", fmt.Sprintf("command exited with exit_code=%d", cmd.ProcessState.ExitCode())
		}
	}()
}

func (s *stub) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[r.PathValue("id")]
	if run == nil {
		http.Error(w, `{"success":false,"error_code":"PIPELINE_NOT_FOUND"}`, http.StatusNotFound)
		return
	}
	_, _ = fmt.Fprintf(w, `{"success":true,"status":%q,"steps":{"verify":{"error":%q}}}`, run.status, run.text)
}

func (s *stub) cancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[r.PathValue("id")]
	if run == nil {
		http.Error(w, `{"success":false,"error_code":"PIPELINE_NOT_FOUND"}`, http.StatusNotFound)
		return
	}
	run.status = "cancelled"
	run.kill()
	_, _ = fmt.Fprint(w, `{"success":true}`)
}

// crash is kill -9 and a restart: commands run on as orphans, runs and keys are forgotten.
func (s *stub) crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs, s.keys = map[string]*stubRun{}, map[string]string{}
}
