package mcpstdio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

type process struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	pipe   io.Closer
	stderr bytes.Buffer
}

func startProcess(t *testing.T) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), childVar+"=1")
	p.Stderr = &p.stderr
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out, p.pipe = in, bufio.NewReader(out), out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) ask(t *testing.T, line string) string {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		t.Fatal(err)
	}
	reply, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestStrayPrintsDoNotReachTheProtocol(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	reply := p.ask(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stray"}}`)
	if !strings.Contains(reply, `"id":1`) {
		t.Errorf("got %s", reply)
	}
	_ = p.in.Close()
	rest, _ := io.ReadAll(p.out)
	if err := p.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("%v, %s", err, rest)
	}
	if n := strings.Count(p.stderr.String(), "a stray print"); n != 3 {
		t.Errorf("%d stray prints on standard error: %s", n, p.stderr.String())
	}
}

func TestTerminationDrains(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	p.ask(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(p.out)
	if err := p.Wait(); err != nil || len(rest) > 0 || !strings.Contains(p.stderr.String(), "served\n") {
		t.Errorf("%v, %s, %s", err, rest, p.stderr.String())
	}
}

// Without the duplicate descriptor the process would die of SIGPIPE here.
func TestClosedOutputEndsInOrder(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	p.ask(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	_ = p.pipe.Close()
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	var err error
	for asking := true; asking; { // again and again: a process that another test is just starting may still hold the pipe's end
		_, _ = fmt.Fprintln(p.in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`) // it may have ended
		select {
		case err = <-ended:
			asking = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	if p.ProcessState.ExitCode() != 1 || !strings.Contains(p.stderr.String(), "broken pipe") {
		t.Errorf("%v, %s", err, p.stderr.String())
	}
}
