// Package operator looks at the real programs as whoever runs them does: traces, metrics, logs, what a support bundle
// holds, and that no secret is in any of it.
package operator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

const root = "../.."

func TestMain(m *testing.M) { pgtest.Main(m) }

// programs builds them into a folder of the test's own.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "coord-operator-")
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{dir + string(filepath.Separator), "./cmd/coordctl", "./cmd/api", "./cmd/gateway", "./cmd/agent-runner", "./cmd/mcp-server"},
		{filepath.Join(dir, "executors", "test-executor", "ao-test-exec"), "./executors/test-executor"},
	} {
		cmd := exec.Command("go", append([]string{"build", "-o"}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return dir, nil
})

// program is one that runs, with everything it says.
type program struct {
	t    *testing.T
	cmd  *exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
	addr chan string
	done chan struct{}
}

// begin starts a program with these variables and no others of ours; it is ended with the test.
func begin(t *testing.T, vars []string, name string, args ...string) *program {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, cmd: exec.Command(filepath.Join(dir, name), args...), addr: make(chan string, 1), done: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, vars...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	go p.read(out)
	t.Cleanup(p.end)
	return p
}

func (p *program) read(out io.ReadCloser) {
	defer close(p.done)
	defer out.Close()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.said.Write(lines.Bytes())
		p.said.WriteByte('\n')
		p.mu.Unlock()
		var line struct{ Msg, Addr string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Addr != "" && strings.Contains(line.Msg, "listens") {
			p.addr <- line.Addr
		}
	}
}

func (p *program) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// url waits until the program says where it listens.
func (p *program) url() string {
	p.t.Helper()
	select {
	case a := <-p.addr:
		return "http://" + a
	case <-p.done:
	case <-time.After(30 * time.Second):
	}
	p.t.Fatalf("it does not listen:\n%s", p.log())
	return ""
}

// end stops the program as an operator does.
func (p *program) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		p.t.Errorf("it did not stop:\n%s", p.log())
	}
	<-p.done
}

// ask makes a request; headers are "Name: value" lines.
func ask(t *testing.T, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		k, v, _ := strings.Cut(line, ": ")
		req.Header.Set(k, v)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-tick.C {
		if holds() {
			return
		}
	}
	t.Fatalf("%s did not happen", what)
}

const key = "operator-key-0123456789"

// base are the variables of every server of one installation.
func base(dsn string, more ...string) []string {
	return append([]string{
		"COORD_DATABASE_URL=" + dsn, "API_ADDR=127.0.0.1:0", "GATEWAY_ADDR=127.0.0.1:0", "COORD_DB_CONNECTIONS=6", "COORDINATION_API_KEYS=" + key,
	}, more...)
}

// ran posts a run and waits until it is over. It returns its status.
func ran(t *testing.T, url string, headers ...string) string {
	t.Helper()
	status, body := ask(t, "POST", url+"/runs", `{"type": "start_session", "prompt": "hello"}`, headers...)
	var run struct {
		RunID  string `json:"run_id"`
		Status string `json:"status"`
	}
	if status != 200 && status != 201 || json.Unmarshal([]byte(body), &run) != nil {
		t.Fatalf("%d %s", status, body)
	}
	eventually(t, "the end of "+run.RunID, func() bool {
		_, body := ask(t, "GET", url+"/runs/"+run.RunID, "", headers[0])
		return json.Unmarshal([]byte(body), &run) == nil && (run.Status == "completed" || run.Status == "failed")
	})
	return run.Status
}
