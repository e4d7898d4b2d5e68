//go:build e2e

package e2e

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// conformanceRuns is how often the suite must pass in a row; E2E_CONFORMANCE_RUNS overrides it.
const conformanceRuns = 2

// conformanceServer serves a build with the suite's fixtures over streamable HTTP and returns its URL.
func conformanceServer(t *testing.T) string {
	t.Helper()
	in := up(t)
	program := filepath.Join(t.TempDir(), "mcp-server")
	if out, err := exec.Command("go", "build", "-tags", "conformance", "-o", program, "../../cmd/mcp-server").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "--http", "127.0.0.1:0")
	cmd.Env, cmd.Dir = in.env(), in.Work
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	url := make(chan string, 1)
	go func() {
		for sc := bufio.NewScanner(stderr); sc.Scan(); {
			if _, at, ok := strings.Cut(sc.Text(), "listens on "); ok {
				url <- at
			}
		}
	}()
	select {
	case u := <-url:
		return u
	case <-time.After(30 * time.Second):
		t.Fatal("the conformance build does not listen")
		return ""
	}
}

// failedScenarios runs the suite for one revision and returns the scenarios that failed, and how many ran.
func failedScenarios(t *testing.T, url, revision string) (failed []string, ran int) {
	t.Helper()
	out, _ := hostCommand(t, t.TempDir(), t.TempDir(), nil, "conformance", "server", "--url", url, "--requirements", revision)
	for l := range strings.SplitSeq(out, "\n") {
		mark, rest, _ := strings.Cut(l, " ")
		name, _, scenario := strings.Cut(rest, ":")
		switch {
		case !scenario:
		case mark == "✓":
			ran++
		case mark == "✗":
			ran++
			failed = append(failed, name)
		}
	}
	if ran < 20 {
		t.Fatalf("the suite did not run:\n%s", out)
	}
	return failed, ran
}

// TestHostConformance: the official suite passes for 2025-11-25 in every run, and for 2026-07-28 in all scenarios that
// need no fixtures of that revision (input requests, the tasks extension and custom header parameters, which no tool
// of ours uses).
func TestHostConformance(t *testing.T) {
	hosts(t)
	url := conformanceServer(t)
	runs, err := strconv.Atoi(cmp.Or(os.Getenv("E2E_CONFORMANCE_RUNS"), strconv.Itoa(conformanceRuns)))
	if err != nil {
		t.Fatal(err)
	}
	for run := range runs {
		if failed, ran := failedScenarios(t, url, "2025-11-25"); len(failed) > 0 {
			t.Errorf("run %d of 2025-11-25: %d of %d scenarios failed: %v", run+1, len(failed), ran, failed)
		}
		failed, ran := failedScenarios(t, url, "2026-07-28")
		for _, name := range failed {
			if !strings.HasPrefix(name, "input-required-result-") && !strings.HasPrefix(name, "tasks-") && name != "http-custom-header-server-validation" && name != "server-stateless" {
				t.Errorf("run %d of 2026-07-28 (%d scenarios): %s failed", run+1, ran, name)
			}
		}
	}
}
