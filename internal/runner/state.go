package runner

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// child is a run that the coordinator may believe to be running here.
type child struct {
	SessionID string `json:"session_id"`
	PID       int    `json:"pid,omitempty"`     // of the executor and its process group; 0: not spawned yet
	Started   string `json:"started,omitempty"` // tells this process from a later one with the same pid
}

// report is how a run ended, until the coordinator acknowledged it.
type report struct {
	RunID  string `json:"run_id"`
	Kind   string `json:"kind"` // completed, failed or stopped
	Error  string `json:"error,omitempty"`
	Signal string `json:"signal,omitempty"`
}

// saved is the content of a state file.
type saved struct {
	InstanceID string           `json:"instance_id"`
	RunnerID   string           `json:"runner_id,omitempty"` // set while registered: still there at the start means a crash
	Runs       map[string]child `json:"runs"`
	Reports    []report         `json:"reports"`
}

// state is one runner's memory over restarts: a file, locked for as long as the runner lives. Every change is written
// before the call returns (to a new file that replaces the old one).
type state struct {
	path string
	lock *os.File

	mu   sync.Mutex
	data saved
}

// openState opens the state of the runner with this identity. ErrDuplicate: another process has it.
func openState(cfg Config) (*state, error) {
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, err
	}
	raw, err := json.Marshal([]string{cfg.CoordinatorURL, cfg.Hostname, cfg.ProjectDir, cfg.Profile})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	s := &state{path: filepath.Join(cfg.StateDir, hex.EncodeToString(sum[:8])+".json")}
	s.lock, err = os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	free, err := tryLock(s.lock)
	if err == nil && !free {
		err = ErrDuplicate
	}
	if err == nil {
		err = s.load()
	}
	if err != nil {
		_ = s.lock.Close()
		return nil, err
	}
	return s, nil
}

// load reads the file. One that cannot be read as ours is kept aside: it may be the only trace of a run.
func (s *state) load() error {
	raw, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && json.Unmarshal(raw, &s.data) != nil {
		s.data = saved{}
		if err := os.Rename(s.path, s.path+".unreadable"); err != nil {
			return err
		}
	}
	if s.data.Runs == nil {
		s.data.Runs = map[string]child{}
	}
	if s.data.InstanceID == "" {
		s.data.InstanceID = randomToken(16)
	}
	return s.save()
}

// change applies f and writes the file.
func (s *state) change(f func(*saved)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.data)
	return s.save()
}

func (s *state) save() error {
	raw, err := json.Marshal(s.data)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), ".runner-*")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync() // a report must outlive a power cut too
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("writing the runner's state: %w", err)
	}
	return nil
}

// view returns a copy of the content.
func (s *state) view() saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.data
	v.Runs, v.Reports = maps.Clone(v.Runs), slices.Clone(v.Reports)
	return v
}

// pending reports whether the end of this run still has to be reported.
func (s *state) pending(runID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.data.Reports, func(r report) bool { return r.RunID == runID })
}

func (s *state) close() { _ = s.lock.Close() } // which unlocks it

// randomToken is n random bytes in hex.
func randomToken(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
