package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
)

func runnerFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"claude-code", "test-executor"} {
		path := filepath.Join(dir, "executors", name, "ao-x-exec")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	return dir
}

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	t.Parallel()
	dir := runnerFolder(t)
	env, err := config.LoadFrom[config.AgentRunner](map[string]string{
		"AGENT_ORCHESTRATOR_API_URL": "http://env:1/", "AGENT_EXECUTOR_PATH": "executors/test-executor/ao-x-exec", "COORDINATION_API_KEY": "k",
		"HEARTBEAT_INTERVAL": "7", "RUNNER_TAGS": "a, b", "PROJECT_DIR": "/p",
	})
	if err != nil {
		t.Fatal(err)
	}
	given := func(names string) func(string) bool {
		return func(name string) bool { return strings.Contains(names, name) }
	}
	c, err := configure(flags{}, env, dir, given(""))
	if err != nil || c.CoordinatorURL != "http://env:1" || c.Profile != "test-executor" || c.APIKey != "k" || c.Heartbeat.Seconds() != 7 ||
		len(c.Tags) != 2 || c.ProjectDir != "/p" || c.PollTimeout.Seconds() != 30 || c.MaxRuns != 32 {
		t.Errorf("from the environment: %+v %v", c, err)
	}
	c, err = configure(flags{url: "http://flag:2", name: "claude-code", tags: "c", project: "/q", key: "l", maxRuns: -1}, env, dir, given("tags"))
	if err != nil || c.CoordinatorURL != "http://flag:2" || c.Profile != "claude-code" || c.APIKey != "l" || c.ProjectDir != "/q" || c.Tags[0] != "c" || c.MaxRuns != -1 {
		t.Errorf("from flags: %+v %v", c, err)
	}
	if _, err := configure(flags{mcpPort: 70000}, env, dir, given("")); err == nil {
		t.Error("port 70000 was accepted")
	}
}

func TestListsAndWrongFlags(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := list(&out, runnerFolder(t), flags{list: true}); err != nil || out.String() != "Available executors:\n  claude-code\n  test-executor\nAvailable profiles:\n" {
		t.Errorf("%v\n%s", err, out.String())
	}
	cmd := command(context.Background(), &out)
	cmd.SetArgs([]string{"-x", "a", "-e", "b"})
	if err := cmd.ExecuteContext(t.Context()); err == nil {
		t.Error("-x and -e together were accepted")
	}
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(&lines{out: &out, level: slog.LevelInfo}).With("component", "poller")
	log.Debug("not shown")
	log.Warn("Received run {run} ({type})", "run", "run_1", "type", "start_session", "more", "a\nb")
	if got := out.String(); !strings.HasSuffix(got, ` [WARNING] poller: Received run run_1 (start_session) more=a\nb`+"\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}
