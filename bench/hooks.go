package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// hookGoals measure what a coding host waits for before each tool call: a process of coordctl that reads the call, asks
// the coordinator and answers.
var hookGoals = []goal{{"H1", "a hook before an edit, a process a call", (*rig).hooks}}

const (
	hookFloor   = 50 // milliseconds, p95
	hookStretch = 25
	hookCalls   = 100 // of each kind
	hookWarm    = 5   // calls before, which find out where the repository belongs
)

// hooks runs coordctl hook claude-code for edits of free files, of held ones, and for a shell command that writes nothing.
func (r *rig) hooks(ctx context.Context) ([]Result, error) {
	program, err := r.coordctl(ctx)
	if err != nil {
		return nil, err
	}
	api, err := r.serve(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.hookTimes(ctx, program, api.addr)
	return out, errors.Join(err, api.stop())
}

// coordctl is the program, built unless the folder of programs has it.
func (r *rig) coordctl(ctx context.Context) (string, error) {
	program := filepath.Join(r.bin, executable("coordctl"))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", "..", "-trimpath", "-o", program, "./cmd/coordctl")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build coordctl: %w\n%s", err, text)
	}
	return program, nil
}

func (r *rig) hookTimes(ctx context.Context, program, addr string) ([]Result, error) {
	tree := filepath.Join(r.dir, "hooked")
	git := exec.CommandContext(ctx, "sh", "-c", `mkdir -p "$0/src" && cd "$0" && git init -q -b main . && echo x > src/held.go && git add -A && git -c user.name=b -c user.email=b@x commit -qm one`, tree)
	if text, err := git.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a repository: %w\n%s", err, text)
	}
	call := func(session, event, tool string, input map[string]string) (time.Duration, string, error) {
		raw, err := json.Marshal(map[string]any{"session_id": session, "cwd": tree, "hook_event_name": event, "tool_name": tool, "tool_input": input})
		if err != nil {
			return 0, "", err
		}
		cmd := exec.CommandContext(ctx, program, "hook", "claude-code")
		cmd.Dir, cmd.Stdin = tree, bytes.NewReader(raw)
		cmd.Env = environ(map[string]string{
			"COORDINATION_API_URL": "http://" + addr, "COORDINATION_API_KEY": r.key, "COORD_HOME": filepath.Join(r.dir, "home"),
		})
		start := time.Now()
		answer, err := cmd.Output()
		return time.Since(start), string(answer), err
	}
	if _, answer, err := call("holder", "PreToolUse", "Edit", map[string]string{"file_path": filepath.Join(tree, "src/held.go")}); err != nil || answer != "" {
		return nil, fmt.Errorf("hold a file: %q %w", answer, err)
	}
	var out []Result
	for _, kind := range []struct {
		what, tool, refused string
		input               func(n int) map[string]string
	}{
		{"edit of a free file", "Edit", "", func(n int) map[string]string {
			return map[string]string{"file_path": filepath.Join(tree, fmt.Sprintf("src/free%d.go", n))}
		}},
		{"edit of a held file, refused", "Edit", "held by", func(int) map[string]string {
			return map[string]string{"file_path": filepath.Join(tree, "src/held.go")}
		}},
		{"a shell command that writes nothing", "Bash", "", func(int) map[string]string { return map[string]string{"command": "git status && grep -rn x src"} }},
	} {
		var took []float64
		for n := range hookWarm + hookCalls {
			d, answer, err := call("worker", "PreToolUse", kind.tool, kind.input(n))
			if err != nil || strings.Contains(answer, "NOT checked") || (kind.refused == "") != (answer == "") || !strings.Contains(answer, kind.refused) {
				return nil, fmt.Errorf("%s: answered %q: %w", kind.what, answer, err)
			}
			if n >= hookWarm {
				took = append(took, float64(d.Microseconds())/1000)
			}
		}
		out = append(out, Result{Goal: "H1", What: "hook: " + kind.what + ", p95", Value: percentile(took, 0.95), Unit: "ms"}.atMost(hookFloor, hookStretch).
			with("%d processes one after the other; p50 %.1f ms, p99 %.1f ms", len(took), percentile(took, 0.5), percentile(took, 0.99)))
	}
	return out, nil
}
