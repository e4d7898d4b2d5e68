package inline

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The self-test tries what must not be possible.
const (
	probeProcesses = 40
	probeTimeout   = 40 * time.Second
	probeScript    = `
echo "net $(readlink /proc/self/ns/net)"
grep -v -e '|' -e '^ *lo:' /proc/net/dev >/dev/null && echo "wrong: it has a network interface"
(: >/src/written) 2>/dev/null && echo "wrong: the source can be written"
(: >/usr/written) 2>/dev/null && echo "wrong: the system can be written"
(: >/written) 2>/dev/null && echo "wrong: the root folder can be written"
(: >/tmp/written) 2>/dev/null || echo "wrong: there is no scratch space"
(: >/outside/written) 2>/dev/null
[ -r /src/readable ] || echo "wrong: the source cannot be read"
[ -n "$COORD_PROBE_SECRET" ] && echo "wrong: our environment is visible"
[ -e "$2" ] && echo "wrong: files of ours are visible"
command -v bash >/dev/null && bash -c "exec 3<>/dev/tcp/127.0.0.1/$1" 2>/dev/null && echo "wrong: the network can be reached"
(n=0; while [ $n -lt $((2 * ` + "PROCESSES" + `)) ]; do sleep 30 & n=$((n + 1)); done) 2>/dev/null && echo "wrong: more processes than allowed"
echo "done"
`
)

// probe proves that the sandbox holds, and says what is wrong when it does not.
func (s *sandbox) probe(ctx context.Context, scratch string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(scratch, "probe")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	src, out, hidden := filepath.Join(dir, "src"), filepath.Join(dir, "out"), filepath.Join(dir, "hidden")
	err = errors.Join(os.Mkdir(src, 0o755), os.Mkdir(out, 0o755), os.Chmod(out, 0o777), os.WriteFile(hidden, nil, 0o644),
		os.WriteFile(filepath.Join(src, "readable"), nil, 0o644))
	if err != nil {
		return err
	}
	door, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer door.Close()
	_, port, err := net.SplitHostPort(door.Addr().String())
	if err != nil {
		return err
	}
	small := *s
	small.limits.Processes = probeProcesses
	script := strings.ReplaceAll(probeScript, "PROCESSES", fmt.Sprint(probeProcesses))
	e, err := small.run(ctx, call{
		argv: []string{"/bin/sh", "-c", script, "sh", port, hidden}, source: src,
		binds: []bind{{outside: out, inside: "/outside", write: true}},
	})
	if err != nil {
		return err
	}
	return s.readProbe(e, filepath.Join(out, "written"))
}

// readProbe reads what the self-test printed, and whose file it wrote.
func (s *sandbox) readProbe(e ended, written string) error {
	text := string(e.stdout)
	var wrong []error
	switch owner, err := ownerOf(written); {
	case err != nil:
		wrong = append(wrong, fmt.Errorf("it cannot write where it may: %w", err))
	case owner == 0:
		wrong = append(wrong, errors.New("it runs as root outside"))
	}
	finished := false
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "wrong:":
			wrong = append(wrong, errors.New(value))
		case "net":
			if ours, err := os.Readlink("/proc/self/ns/net"); err != nil || value == ours || value == "" {
				wrong = append(wrong, errors.New("it shares our network"))
			}
		case "done":
			finished = true
		}
	}
	if !finished {
		wrong = append(wrong, fmt.Errorf("its self-test did not finish (exit %d, timed out %t): %s", e.exit, e.timedOut, tail(append(e.stdout, e.stderr...), 500)))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %w", errSandbox, errors.Join(wrong...))
	}
	return nil
}

// try runs the tool once to learn its version: present is what runs in here, not what lies on the disk.
func (s *sandbox) try(ctx context.Context, f *found, path []string, node []bind) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	args := f.Version
	if args == nil {
		args = []string{"--version"}
	}
	f.binds = append(f.binds, node...)
	e, err := s.run(ctx, call{argv: append([]string{f.path}, args...), env: toolEnv(path, &f.Tool), binds: f.binds, dir: "/tmp"})
	switch {
	case err != nil:
		return err
	case e.timedOut:
		return errors.New("it does not answer")
	case e.exit > 2: // gofmt -h ends with 2
		return fmt.Errorf("it does not run in the sandbox (exit %d): %s", e.exit, tail(append(e.stdout, e.stderr...), 300))
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(e.stdout)), "\n")
	f.version = tail([]byte(line), 100)
	return nil
}

// toolEnv is the environment of a tool.
func toolEnv(path []string, t *Tool) []string {
	env := append([]string{"PATH=" + strings.Join(path, ":")}, goEnv...)
	return append(env, t.Env...)
}
