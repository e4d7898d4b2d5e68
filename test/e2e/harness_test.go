//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bin is the folder of the binaries under test, built once.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if dir := os.Getenv(childVar); dir != "" {
		return gatewayChild(dir)
	}
	dir, err := os.MkdirTemp("", "coord-e2e-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	for _, name := range []string{"coordctl", "mcp-server", "api"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(bin, name), "../../cmd/"+name).CombinedOutput()
		if err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", name, err, out)
			return 1
		}
	}
	return m.Run()
}

// install is one running installation in a folder of its own.
type install struct {
	Home        string `json:"-"`
	Work        string `json:"-"` // the folder that every agent works in: one repository for all
	APIURL      string `json:"api_url"`
	DatabaseURL string `json:"database_url"`
	APIKey      string `json:"api_key"`
	PID         int    `json:"pid"`
}

// env is the environment of a process that belongs to the installation.
func (in *install) env(extra ...string) []string {
	return append(cleanEnv(), append([]string{"COORD_HOME=" + in.Home, "API_ADDR=127.0.0.1:0", "GATEWAY_ADDR=127.0.0.1:0"}, extra...)...)
}

// cleanEnv drops everything of the tester's own environment that would steer the binaries.
func cleanEnv() []string {
	var out []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "COORD"), strings.HasPrefix(name, "PG"), strings.HasPrefix(name, "CLAUDE"), strings.HasPrefix(name, "CODEX"):
		case strings.HasSuffix(name, "DATABASE_URL"), strings.HasPrefix(name, "AGENT_"), name == "SESSION_ID", name == "DIRECT_URL":
		default:
			out = append(out, kv)
		}
	}
	return out
}

// up starts `coordctl up` and waits for its up.json; the installation is taken down when the test ends.
func up(t *testing.T, extra ...string) *install {
	t.Helper()
	home, err := os.MkdirTemp("", "coord-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(home, 0o755)
	in := &install{Home: home, Work: t.TempDir()}
	t.Cleanup(func() {
		out, err := in.coordctl(t, "down")
		if err != nil {
			t.Logf("down: %v\n%s", err, out)
		}
		_ = os.RemoveAll(home)
	})
	in.start(t, extra...)
	return in
}

// start runs `coordctl up` until it is ready.
func (in *install) start(t *testing.T, extra ...string) *exec.Cmd {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(filepath.Join(bin, "coordctl"), "up")
	cmd.Env, cmd.Stdout, cmd.Stderr = in.env(extra...), &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, 60*time.Second, "coordctl up is ready", func() error {
		select {
		case err := <-exited:
			t.Fatalf("up ended: %v\n%s", err, log.String())
		default:
		}
		raw, err := os.ReadFile(filepath.Join(in.Home, "up.json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, in); err != nil {
			return err
		}
		if in.PID != cmd.Process.Pid {
			return fmt.Errorf("up.json is of process %d", in.PID)
		}
		res, err := http.Get(in.APIURL + "/ready")
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("ready answers %d", res.StatusCode)
		}
		return nil
	})
	return cmd
}

func (in *install) coordctl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "coordctl"), args...)
	cmd.Env = in.env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// trials is how often a crash is provoked: short in every run, E2E_TRIALS times in `make prove`.
func trials(t *testing.T, short int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("E2E_TRIALS"))
	if err != nil {
		return short
	}
	return n
}

// eventually polls cond until it returns nil. Polling is right here: the other side is another process.
func eventually(t *testing.T, within time.Duration, what string, cond func() error) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var err error
	for {
		if err = cond(); err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("%s: not within %s: %v", what, within, err)
		case <-tick.C:
		}
	}
}

// post calls the HTTP API and decodes the reply; status ≥ 400 is not an error here.
func (in *install) post(t *testing.T, path string, body any) (int, map[string]any) {
	t.Helper()
	status, reply, err := in.tryPost(path, body)
	if err != nil {
		t.Fatalf("POST %s: %v", path, err)
	}
	return status, reply
}

func (in *install) tryPost(path string, body any) (int, map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequest(http.MethodPost, in.APIURL+path, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-API-Key", in.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	reply := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil {
		return res.StatusCode, nil, err
	}
	return res.StatusCode, reply, nil
}

// mcpAgent is one agent's MCP server process, spoken to line by line.
type mcpAgent struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

// agent starts an MCP server process for agent id. It is killed when the test ends.
func (in *install) agent(t *testing.T, id string, extra ...string) *mcpAgent {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "mcp-server"))
	cmd.Env = in.env(append([]string{"AGENT_ID=" + id, "AGENT_TYPE=e2e", "SESSION_ID=ses-" + id, "COORD_PROJECT=default"}, extra...)...)
	cmd.Dir, cmd.Stderr = in.Work, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &mcpAgent{t: t, cmd: cmd, in: stdin, out: bufio.NewReaderSize(stdout, 1<<20)}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	a.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "e2e", "version": "1"},
	})
	a.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return a
}

func (a *mcpAgent) send(msg map[string]any) {
	a.t.Helper()
	raw, err := json.Marshal(msg)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(raw, '\n')); err != nil {
		a.t.Fatalf("write to the MCP server: %v", err)
	}
}

func (a *mcpAgent) request(method string, params map[string]any) map[string]any {
	a.t.Helper()
	a.next++
	a.send(map[string]any{"jsonrpc": "2.0", "id": a.next, "method": method, "params": params})
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			a.t.Fatalf("%s: the MCP server ended: %v", method, err)
		}
		var msg struct {
			ID     any            `json:"id"`
			Result map[string]any `json:"result"`
			Error  map[string]any `json:"error"`
		}
		if err := json.Unmarshal(line, &msg); err != nil {
			a.t.Fatalf("not JSON on stdout: %q", line)
		}
		if id, ok := msg.ID.(float64); !ok || int(id) != a.next {
			continue
		}
		if msg.Error != nil {
			a.t.Fatalf("%s: %v", method, msg.Error)
		}
		return msg.Result
	}
}

// call calls a tool and returns its structured result and whether it is an error.
func (a *mcpAgent) call(tool string, args map[string]any) (map[string]any, bool) {
	a.t.Helper()
	res := a.request("tools/call", map[string]any{"name": tool, "arguments": args})
	structured, _ := res["structuredContent"].(map[string]any)
	failed, _ := res["isError"].(bool)
	return structured, failed
}

// hosts returns the folder in which the MCP hosts are installed, and skips the test where there is none.
func hosts(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("E2E_HOSTS")
	if dir == "" {
		t.Skip("E2E_HOSTS is not set: the real hosts are not installed here (make e2e installs them)")
	}
	return dir
}

// hostCommand runs a host's command with its own home folder and node 22, and returns what it printed.
func hostCommand(t *testing.T, home, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	nodeBin := filepath.Join(hosts(t), "node_modules", ".bin")
	cmd := exec.CommandContext(ctx, filepath.Join(nodeBin, name), args...)
	cmd.Dir = dir
	cmd.Env = append(cleanEnv(), append([]string{"HOME=" + home, "PATH=" + nodeBin + string(os.PathListSeparator) + os.Getenv("PATH")}, env...)...)
	out, err := cmd.CombinedOutput()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatalf("%s %v did not end within 90 s:\n%s", name, args, out)
	}
	return string(out), err
}

func repoRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
