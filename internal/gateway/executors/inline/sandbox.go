package inline

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits bound one tool's process tree. Zero values are the defaults that are named.
type Limits struct {
	Processes int   // at once; 0: 256
	Memory    int64 // bytes: of all together where a memory cgroup can be made, else of each process; 0: 2 GiB
	Scratch   int64 // bytes that may be written, all in memory; 0: 1 GiB
	Output    int   // bytes of standard output and of standard error each; 0: 1 MiB
}

// sandbox runs commands that see a read-only system, a read-only source and an empty home, and nothing else: no
// network, no other process, no secrets. It is built anew for each command.
type sandbox struct {
	bwrap, prlimit, shell string
	uid, gid              int // dropped to when we are root; else -1
	limits                Limits
	groups                *groups
}

// call is one command for the sandbox. Paths in it are those inside.
type call struct {
	argv   []string
	dir    string   // working folder; "": /src
	env    []string // beside the fixed ones
	source string   // the folder outside that is /src inside
	binds  []bind
	output int // 0: as in the limits
}

// bind makes a folder or file of the outside visible, read-only unless write is set.
type bind struct {
	outside, inside string
	write           bool
}

// ended is how a command ended.
type ended struct {
	exit           int // 128 + signal when it was killed
	stdout, stderr []byte
	overflow       bool // it wrote more than it may and was killed
	timedOut       bool // the context's deadline killed it
}

const (
	home    = "/tmp/home"
	srcDir  = "/src"
	release = "read -r ready && exec \"$@\" </dev/null" // waits for the limits, which are set from outside
)

// errSandbox says that no sandbox could be made: the machine is at fault, not the change.
var errSandbox = errors.New("no sandbox")

func newSandbox(bwrap, prlimit string, uid, gid int, limits Limits, cgroup string) (*sandbox, error) {
	s := &sandbox{uid: -1, gid: -1, limits: limits}
	var err error
	for program, at := range map[string]*string{or(bwrap, "bwrap"): &s.bwrap, or(prlimit, "prlimit"): &s.prlimit, "/bin/sh": &s.shell} {
		if *at, err = exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%w: %s is not installed (packages bubblewrap and util-linux)", errSandbox, program)
		}
	}
	if os.Geteuid() == 0 {
		// As root the kernel does not hold the limit on processes.
		s.uid, s.gid = uid, gid
	}
	s.groups = newGroups(cgroup)
	return s, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// arguments is the command line of bubblewrap; what binds name must be readable for the dropped user.
func (s *sandbox) arguments(c call) []string {
	scratch := strconv.FormatInt(s.limits.Scratch, 10)
	args := []string{
		s.bwrap, "--json-status-fd", "3", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
		"--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox", "--ro-bind", "/usr", "/usr",
	}
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	for _, file := range []string{"/etc/ld.so.cache", "/etc/alternatives"} {
		args = append(args, "--ro-bind-try", file, file)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", "67108864", "--tmpfs", "/dev/shm",
		"--size", scratch, "--tmpfs", "/tmp", "--dir", home)
	if c.source != "" {
		args = append(args, "--ro-bind", c.source, srcDir)
	} else {
		args = append(args, "--dir", srcDir)
	}
	for _, b := range c.binds {
		how := "--ro-bind"
		if b.write {
			how = "--bind"
		}
		args = append(args, how, b.outside, b.inside)
	}
	args = append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", or(c.dir, srcDir))
	for _, e := range append([]string{"HOME=" + home, "TMPDIR=/tmp", "LANG=C.UTF-8", "USER=nobody", "NO_COLOR=1"}, c.env...) {
		name, value, _ := strings.Cut(e, "=")
		args = append(args, "--setenv", name, value)
	}
	// The limits are set inside: there they count this sandbox's processes alone, outside those of all sandboxes.
	args = append(args, "--", s.prlimit, "--core=0", "--nofile=1024:1024", fmt.Sprintf("--nproc=%d:%d", s.limits.Processes, s.limits.Processes),
		fmt.Sprintf("--fsize=%d:%d", s.limits.Scratch, s.limits.Scratch), fmt.Sprintf("--data=%d:%d", s.limits.Memory, s.limits.Memory), "--")
	return append(args, c.argv...)
}

// run runs the command until it ends or ctx is done, then kills whatever it left. An error wraps errSandbox, or is
// ctx's cause when that was no deadline.
func (s *sandbox) run(ctx context.Context, c call) (ended, error) {
	group, err := s.groups.make(s.limits)
	if err != nil {
		return ended{}, fmt.Errorf("%w: %w", errSandbox, err)
	}
	defer group.remove()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	cmd := exec.CommandContext(ctx, s.shell, append([]string{"-c", release, "sh"}, s.arguments(c)...)...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	confine(cmd, s.uid, s.gid)
	cmd.Cancel = func() error { group.kill(); return killTree(cmd) }
	cmd.WaitDelay = 2 * time.Second
	most := or(c.output, s.limits.Output)
	out, errs := &sink{left: most, full: stop}, &sink{left: most, full: stop}
	cmd.Stdout, cmd.Stderr = out, errs
	status, err := s.start(cmd, group)
	if err != nil {
		return ended{}, fmt.Errorf("%w: %w", errSandbox, err)
	}
	report := make(chan int, 1)
	go func() { report <- exitCode(status) }()
	waited := cmd.Wait()
	runtime.UnlockOSThread()
	_ = status.SetReadDeadline(time.Now().Add(time.Second))
	code := <-report
	_ = status.Close()
	return s.judge(ctx, code, waited, out, errs)
}

// start starts the command and lets it go on once it is in its group.
func (s *sandbox) start(cmd *exec.Cmd, group *group) (status *os.File, err error) {
	status, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	cmd.ExtraFiles = []*os.File{theirs} // 3
	gate, err := cmd.StdinPipe()
	if err == nil {
		// The command dies with the thread that started it; this one must stay until it has been waited for.
		runtime.LockOSThread()
		err = cmd.Start()
		if err != nil {
			runtime.UnlockOSThread()
		}
	}
	if err != nil {
		_ = status.Close()
		return nil, err
	}
	if err = group.add(cmd.Process.Pid); err == nil {
		_, err = io.WriteString(gate, "go\n")
	}
	_ = gate.Close()
	if err != nil {
		_ = killTree(cmd)
		_ = cmd.Wait()
		runtime.UnlockOSThread()
		_ = status.Close()
		return nil, fmt.Errorf("setting limits: %w", err)
	}
	return status, nil
}

func (s *sandbox) judge(ctx context.Context, code int, waited error, out, errs *sink) (ended, error) {
	e := ended{exit: code, stdout: out.bytes(), stderr: errs.bytes(), overflow: out.over() || errs.over()}
	if e.overflow {
		return e, nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		e.timedOut = true
		return e, nil
	case cause != nil:
		return e, cause
	}
	if code < 0 {
		return e, fmt.Errorf("%w: %w: %s", errSandbox, errors.Join(waited, errors.New("bubblewrap could not set it up")), tail(e.stderr, 500))
	}
	return e, nil
}

// exitCode reads what bubblewrap reports; -1 when it never got as far as running the command.
func exitCode(status io.Reader) int {
	in := bufio.NewScanner(status)
	code := -1
	for in.Scan() {
		var line struct {
			Exit *int `json:"exit-code"`
		}
		if json.Unmarshal(in.Bytes(), &line) == nil && line.Exit != nil {
			code = *line.Exit
		}
	}
	return code
}

// sink keeps output up to a limit, and ends the command at the limit.
type sink struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	left int
	done bool
	full context.CancelCauseFunc
}

var errOutput = errors.New("too much output")

func (k *sink) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(p), k.left)
	k.buf.Write(p[:n])
	k.left -= n
	if n < len(p) && !k.done {
		k.done = true
		k.full(errOutput)
	}
	return len(p), nil
}

func (k *sink) bytes() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.buf.Bytes())
}

func (k *sink) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.done
}

// tail is the end of the text, at most n bytes of it.
func tail(text []byte, n int) string {
	text = bytes.TrimSpace(text)
	if len(text) > n {
		text = append([]byte("…"), text[len(text)-n:]...)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// readable says whether everybody may read the file and pass the folders above it: the dropped user must.
func readable(name string) error {
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("%s is closed to the user that tools run as", dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
