package runner

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	keepStderr = 8 << 10 // bytes of an executor's output that are kept, from the end
	keepStdout = 4 << 10
	drainGrace = time.Second           // for output that is still in the pipes when the process group is gone
	groupCheck = 20 * time.Millisecond // how often a dying group is looked at
)

// process is one executor and all that it spawned.
type process struct {
	cmd            *exec.Cmd
	pgid           int
	stdout, stderr *tail
	exited         chan struct{} // closed when the executor itself has ended; err is set before
	err            error
	pipes          []*os.File
	copying        sync.WaitGroup
}

// spawn starts the program in dir with stdin as its input, as the leader of a process group of its own.
func spawn(path, dir string, env []string, stdin []byte) (*process, error) {
	p := &process{
		cmd: exec.Command(path), exited: make(chan struct{}),
		stdout: &tail{keep: keepStdout}, stderr: &tail{keep: keepStderr},
	}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdin = dir, env, bytes.NewReader(stdin)
	p.cmd.WaitDelay = drainGrace // a process that inherited the input must not keep Wait from returning
	ownGroup(p.cmd)
	var ends []*os.File // the child's
	defer func() {
		for _, f := range ends {
			_ = f.Close()
		}
	}()
	// Pipes of our own: Wait then returns when the executor ends, not when the last of its children does.
	for _, out := range []struct {
		file *io.Writer
		to   *tail
	}{{&p.cmd.Stdout, p.stdout}, {&p.cmd.Stderr, p.stderr}} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closePipes()
			return nil, err
		}
		*out.file = w
		ends, p.pipes = append(ends, w), append(p.pipes, r)
		p.copying.Go(func() { _, _ = io.Copy(out.to, r) })
	}
	if err := p.cmd.Start(); err != nil {
		p.closePipes()
		return nil, err
	}
	p.pgid = p.cmd.Process.Pid
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// end stops the executor: SIGTERM to its group, SIGKILL after grace. It returns the signal that did it, when the
// executor itself has ended.
func (p *process) end(grace time.Duration) string {
	terminate(p.pgid)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return "SIGTERM"
	case <-timer.C:
	}
	kill(p.pgid)
	<-p.exited
	return "SIGKILL"
}

// clear ends what the executor left behind in its group (grace as in end) and collects the rest of the output. Call
// it once, after exited.
func (p *process) clear(grace time.Duration) {
	endGroup(p.pgid, grace)
	done := make(chan struct{})
	go func() {
		p.copying.Wait()
		close(done)
	}()
	timer := time.NewTimer(drainGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C: // a daemon holds the pipe
	}
	p.closePipes()
	<-done
}

func (p *process) closePipes() {
	for _, f := range p.pipes {
		_ = f.Close()
	}
}

// endGroup ends a process group whose leader may be gone: SIGTERM, after grace SIGKILL.
func endGroup(pgid int, grace time.Duration) {
	if !groupAlive(pgid) {
		return
	}
	terminate(pgid)
	tick := time.NewTicker(groupCheck)
	defer tick.Stop()
	for end := time.Now().Add(grace); time.Now().Before(end); <-tick.C {
		if !groupAlive(pgid) {
			return
		}
	}
	kill(pgid)
}

// failure is the text of a failure report: how the executor ended and the end of what it wrote.
func (p *process) failure() string {
	text := fmt.Sprintf("Process exited with code %d", p.cmd.ProcessState.ExitCode())
	if p.cmd.ProcessState.ExitCode() < 0 {
		text = "Process ended: " + p.cmd.ProcessState.String()
	}
	out := p.stderr.String()
	if out == "" {
		out = p.stdout.String()
	}
	if out != "" {
		text += ": " + out
	}
	return text
}

// tail is a writer that never fails and keeps the last keep bytes.
type tail struct {
	keep int

	mu    sync.Mutex
	buf   []byte
	total int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(len(p))
	t.buf = append(t.buf, p[max(0, len(p)-t.keep):]...)
	if len(t.buf) > 2*t.keep { // move rarely
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.keep:]...)
	}
	return len(p), nil
}

// String is what was kept, as valid text; bytes that were dropped before it are counted.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.buf[max(0, len(t.buf)-t.keep):]
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(string(kept), "\uFFFD"), "\x00", ""))
	if cut := t.total - int64(len(kept)); cut > 0 {
		text = fmt.Sprintf("[%d bytes before]… %s", cut, text)
	}
	return text
}
