package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// within bounds everything a test waits for.
const within = 40 * time.Second

// asServer makes the test program the server: the tests drive it as a process of its own.
const asServer = "MCP_SERVER_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		os.Exit(0)
	}
	pgtest.Main(m)
}

// program is the server with the given arguments, in dir.
func program(t testing.TB, dir string, vars map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = dir, environment(vars)
	return cmd
}

// checkout makes a git repository with a file src/a.go.
func checkout(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "src", "a.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "one"},
		{"remote", "add", "origin", "https://github.com/acme/shop.git"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// agent is one running server with a host at its end.
type agent struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan map[string]any
	exited chan error
	nextID int
	kept   map[int]map[string]any // replies that came while waiting for another

	mu     sync.Mutex
	stderr strings.Builder
	wrote  chan struct{} // something came on stderr
}

// environment is what a server of these tests gets: nothing of the machine's own.
func environment(vars map[string]string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), asServer + "=1"}
	for k, v := range vars {
		env = append(env, k+"="+v)
	}
	return env
}

// start runs the server in dir and shakes hands.
func start(t testing.TB, dir string, vars map[string]string) *agent {
	t.Helper()
	a := spawn(t, dir, vars)
	a.hello()
	return a
}

func spawn(t testing.TB, dir string, vars map[string]string, args ...string) *agent {
	t.Helper()
	a := &agent{t: t, lines: make(chan map[string]any, 1000), exited: make(chan error, 1), wrote: make(chan struct{}, 1), kept: map[int]map[string]any{}}
	a.cmd = program(t, dir, vars, args...)
	in, err := a.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.in, a.cmd.Stderr = in, a
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 4<<20)
		for sc.Scan() {
			var m map[string]any
			if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
				m = map[string]any{"junk": sc.Text()}
			}
			a.lines <- m
		}
		close(a.lines)
		a.exited <- a.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = a.in.Close()
		select {
		case <-a.exited:
		case <-time.After(within):
			_ = a.cmd.Process.Kill()
			t.Error("the server did not end with its input")
		}
		if t.Failed() {
			a.mu.Lock()
			defer a.mu.Unlock()
			t.Logf("stderr of the server:\n%s", a.stderr.String())
		}
	})
	return a
}

// Write takes the server's stderr.
func (a *agent) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case a.wrote <- struct{}{}:
	default:
	}
	return a.stderr.Write(p)
}

// listens waits until the server says at which URL it listens.
func (a *agent) listens() string {
	a.t.Helper()
	timeout := time.After(within)
	for {
		a.mu.Lock()
		_, rest, ok := strings.Cut(a.stderr.String(), "listens on ")
		a.mu.Unlock()
		if url, _, whole := strings.Cut(rest, "\n"); ok && whole {
			return url
		}
		select {
		case <-a.wrote:
		case <-timeout:
			a.t.Fatal("the server does not listen")
		}
	}
}

func (a *agent) hello() map[string]any {
	a.t.Helper()
	id := a.send("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "claude-code", "version": "2"}})
	reply := a.answer(id)
	a.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return reply
}

func (a *agent) write(m map[string]any) {
	a.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(raw, '\n')); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) send(method string, params map[string]any) int {
	a.t.Helper()
	a.nextID++
	a.write(map[string]any{"jsonrpc": "2.0", "id": a.nextID, "method": method, "params": params})
	return a.nextID
}

func (a *agent) sendCall(tool string, args map[string]any) int {
	a.t.Helper()
	return a.send("tools/call", map[string]any{"name": tool, "arguments": args})
}

// answer waits for the reply to id.
func (a *agent) answer(id int) map[string]any {
	a.t.Helper()
	if m, ok := a.kept[id]; ok {
		delete(a.kept, id)
		return m
	}
	timeout := time.After(within)
	for {
		select {
		case m, ok := <-a.lines:
			if !ok {
				a.t.Fatal("the server's output ended")
			}
			n, isReply := m["id"].(float64)
			switch {
			case m["junk"] != nil:
				a.t.Errorf("not a message: %v", m["junk"])
			case isReply && int(n) == id:
				return m
			case isReply:
				a.kept[int(n)] = m
			}
		case <-timeout:
			a.t.Fatalf("no reply to %d in time", id)
		}
	}
}

// result is a tool's result object; a failure of the call itself ends the test.
func (a *agent) result(id int) map[string]any {
	a.t.Helper()
	reply := a.answer(id)
	res, _ := reply["result"].(map[string]any)
	obj, ok := res["structuredContent"].(map[string]any)
	if !ok {
		a.t.Fatalf("no result: %v", reply)
	}
	if res["isError"] == true {
		obj["isError"] = true
	}
	return obj
}

func (a *agent) call(tool string, args map[string]any) map[string]any {
	a.t.Helper()
	return a.result(a.sendCall(tool, args))
}

// end closes the input and waits for an orderly exit.
func (a *agent) end() {
	a.t.Helper()
	_ = a.in.Close()
	a.wait()
}

func (a *agent) wait() {
	a.t.Helper()
	select {
	case err := <-a.exited:
		a.exited <- nil // for the cleanup
		if err != nil {
			a.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(within):
		a.t.Fatal("the server did not end")
	}
}

func isExit(err error, code int) bool {
	var e *exec.ExitError
	return errors.As(err, &e) && e.ExitCode() == code
}
