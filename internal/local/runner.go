package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// RunnerOptions says which agent runner is kept running beside the API.
type RunnerOptions struct {
	Program    string // agent-runner
	Profile    string // profile or executor, by name
	ProjectDir string // where runs work that name no folder; made if absent
}

// UpRunner is the runner that runs, as up.json tells it.
type UpRunner struct {
	Profile    string `json:"profile"`
	ProjectDir string `json:"project_dir"`
	PID        int    `json:"pid"`
	Log        string `json:"log"`
}

const (
	runnerStop    = 30 * time.Second // a runner ends its executors (5 s), sends its last reports (10 s) and deregisters
	runnerSteady  = 10 * time.Second // a runner that lived so long is started again at once
	runnerPause   = time.Second      // between starts of one that does not live; doubles
	longestPause  = 30 * time.Second
	adoptedCheck  = 500 * time.Millisecond
	maxRunnerLog  = 16 << 20 // bytes; a longer log begins anew with the next start
	runnerProgram = "agent-runner"
)

// keeper keeps one agent runner alive.
type keeper struct {
	home    Home
	o       RunnerOptions
	key     string
	left    *UpRunner    // still runs, from an `up` that was killed
	leftURL string       // the API it was told
	changed func()       // told after every start
	tell    func(string) // progress

	busy  sync.Mutex // held while it is started or stopped
	url   string
	end   context.CancelFunc
	ended chan struct{}

	mu  sync.Mutex
	pid int
}

// RunnerLog is where the runner writes.
func (h Home) RunnerLog() string { return filepath.Join(h.Dir, "runner.log") }

func (h Home) runnerKeyFile() string { return filepath.Join(h.Dir, "runner.key") }

// point makes the runner work for the API at url. The first start is done when it returns.
func (k *keeper) point(ctx context.Context, url string) error {
	k.busy.Lock()
	defer k.busy.Unlock()
	if k.end != nil && k.url == url || ctx.Err() != nil {
		return nil
	}
	k.halt()
	if err := os.MkdirAll(k.o.ProjectDir, 0o755); err != nil {
		return fmt.Errorf("folder of the runner: %w", err)
	}
	ctx, k.end = context.WithCancel(context.WithoutCancel(ctx)) // it ends by stop, before the API does
	k.url, k.ended = url, make(chan struct{})
	first := make(chan struct{})
	go func() {
		defer close(k.ended)
		k.keep(ctx, sync.OnceFunc(func() { close(first) }))
	}()
	<-first
	return nil
}

// stop ends the runner and waits for that. It may be called again.
func (k *keeper) stop() {
	k.busy.Lock()
	defer k.busy.Unlock()
	k.halt()
}

func (k *keeper) halt() {
	if k.end != nil {
		k.end()
		<-k.ended
		k.end = nil
	}
}

// up is what up.json says of the runner.
func (k *keeper) up() *UpRunner {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &UpRunner{Profile: k.o.Profile, ProjectDir: k.o.ProjectDir, PID: k.pid, Log: k.home.RunnerLog()}
}

func (k *keeper) now(pid int) {
	k.mu.Lock()
	k.pid = pid
	k.mu.Unlock()
	k.changed()
}

// keep starts the runner again whenever it ends, until ctx is done. started is called after the first attempt.
func (k *keeper) keep(ctx context.Context, started func()) {
	defer started()
	k.adopt(ctx, started)
	pause := runnerPause
	for ctx.Err() == nil {
		began := time.Now()
		err := k.once(ctx, started)
		started()
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > runnerSteady {
			pause = runnerPause
		}
		k.tell(fmt.Sprintf("the runner ended (%v), see %s; it is started again in %s", err, k.home.RunnerLog(), pause))
		_ = loop.Pause(ctx, pause) // the loop looks at ctx
		pause = min(2*pause, longestPause)
	}
}

// adopt lets a runner that outlived the `up` before this one work on, when it is the one that is wanted; else it is ended.
func (k *keeper) adopt(ctx context.Context, started func()) {
	left := k.left
	k.left = nil
	if left == nil || !isRunner(left.PID) {
		return
	}
	if left.Profile == k.o.Profile && left.ProjectDir == k.o.ProjectDir && k.leftURL == k.url {
		k.now(left.PID)
		started()
		for isRunner(left.PID) && ctx.Err() == nil {
			_ = loop.Pause(ctx, adoptedCheck) // the loop looks at ctx
		}
		if ctx.Err() == nil {
			return
		}
	}
	endRunner(left.PID)
}

// once runs the runner until it ends or ctx does; then it is ended.
func (k *keeper) once(ctx context.Context, started func()) error {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if st, err := os.Stat(k.home.RunnerLog()); err == nil && st.Size() > maxRunnerLog {
		flags |= os.O_TRUNC
	}
	log, err := os.OpenFile(k.home.RunnerLog(), flags, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the runner writes to its own copy
	cmd := exec.Command(k.o.Program, "--coordinator-url", k.url, "--executor", k.o.Profile, "--project-dir", k.o.ProjectDir)
	cmd.Env = append(os.Environ(), "COORDINATION_API_KEY="+k.key)
	// A group of its own: Ctrl-C reaches it through stop, once.
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, Detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	k.now(cmd.Process.Pid)
	started()
	ended := make(chan struct{})
	go func() {
		err = cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		if err == nil {
			err = errors.New("it was deregistered")
		}
		return err
	case <-ctx.Done():
	}
	_ = terminate(cmd.Process.Pid) // one that just ended cannot be told
	select {
	case <-ended:
	case <-time.After(runnerStop):
		_ = cmd.Process.Kill()
		<-ended
	}
	return nil
}

// endRunner ends a runner that is not our child.
func endRunner(pid int) {
	_ = terminate(pid) // one that just ended cannot be told
	for end := time.Now().Add(runnerStop); isRunner(pid); time.Sleep(joinPoll) {
		if time.Now().After(end) {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
			return
		}
	}
}

// isRunner reports whether pid is a living agent runner. Where the system tells the command line, it is looked at: the
// number may be another process's by now.
func isRunner(pid int) bool {
	if !processLives(pid) {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Stat("/proc/self")
		return err != nil // without /proc nothing can be said against it
	}
	program, _, _ := strings.Cut(string(line), "\x00")
	return err == nil && strings.HasPrefix(filepath.Base(program), runnerProgram)
}

// Alive reports whether the runner's process lives.
func (u UpRunner) Alive() bool { return isRunner(u.PID) }
