package main

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
	"slices"
	"strconv"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/executor"
)

const (
	longestLine     = 64 << 20 // bytes of one message of the CLI
	longestArgument = 100_000  // bytes; systems allow 128 KiB for one argument
)

// config is the executor_config of a profile.
type config struct {
	PermissionMode  string   `json:"permission_mode"`
	SettingSources  []string `json:"setting_sources"`
	Model           string   `json:"model"`
	AllowedTools    []string `json:"allowed_tools"`
	DisallowedTools []string `json:"disallowed_tools"`
	MaxTurns        int      `json:"max_turns"`
	CLIPath         string   `json:"cli_path"`
}

func readConfig(raw json.RawMessage) (config, error) {
	cfg := config{PermissionMode: "bypassPermissions", SettingSources: []string{"user", "project", "local"}}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &cfg); err != nil {
			return cfg, fmt.Errorf("executor_config: %w", err)
		}
	}
	return cfg, nil
}

// findCLI finds the Claude Code CLI: cli_path of the profile, else claude on the PATH.
func findCLI(cfg config, env []string) (string, error) {
	name := cfg.CLIPath
	if name == "" {
		name = "claude"
	}
	if strings.ContainsRune(name, filepath.Separator) {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("the Claude Code CLI of the profile (cli_path) cannot be executed: %w", err)
		}
		return name, nil
	}
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", errors.New("the Claude Code CLI (claude) is not on this runner's PATH: install it with `npm install -g @anthropic-ai/claude-code`, or set cli_path in the profile's config")
}

// command is one turn of the CLI.
type command struct {
	path, dir, resume, prompt string
	cfg                       config
	blueprint                 *executor.Blueprint
	env                       []string
	errOut                    io.Writer
}

// nested are variables of a Claude Code session around the runner; they would make the CLI part of it.
var nested = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT"}

// stream runs the CLI and hands every line of its output to f, which returns false to end it. The error is how the CLI
// ended.
func (c command) stream(ctx context.Context, f func(context.Context, []byte) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Server headers hold secrets: a private folder, not the command line.
	private, err := os.MkdirTemp("", "ao-claude-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(private) }()
	args, err := c.args(private)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = c.dir, strings.NewReader(c.prompt), c.errOut
	for _, kv := range c.env {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(nested, name) {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 && !f(ctx, line) {
			cancel()
		}
		if err != nil {
			break
		}
	}
	return cmd.Wait()
}

// readLine reads up to the next newline; what is longer than longestLine is dropped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) <= longestLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// args is the command line; files that it names are written to dir.
func (c command) args(dir string) ([]string, error) {
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--permission-mode", c.cfg.PermissionMode}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	add("--setting-sources", strings.Join(c.cfg.SettingSources, ","))
	add("--model", c.cfg.Model)
	add("--allowedTools", strings.Join(c.cfg.AllowedTools, ","))
	add("--disallowedTools", strings.Join(c.cfg.DisallowedTools, ","))
	if c.cfg.MaxTurns > 0 {
		add("--max-turns", strconv.Itoa(c.cfg.MaxTurns))
	}
	add("--resume", c.resume)
	if c.blueprint == nil {
		return args, nil
	}
	if prompt := c.blueprint.SystemPrompt; len(prompt) <= longestArgument {
		add("--append-system-prompt", prompt)
	} else {
		path := filepath.Join(dir, "system-prompt.md")
		if err := os.WriteFile(path, []byte(prompt), 0o600); err != nil {
			return nil, err
		}
		add("--append-system-prompt-file", path)
	}
	if len(c.blueprint.MCPServers) > 0 {
		raw, err := mcpConfig(c.blueprint.MCPServers, c.env)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, "mcp.json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			return nil, err
		}
		add("--mcp-config", path)
	}
	return args, nil
}

// mcpConfig is the CLI's configuration of the blueprint's servers. ${NAME} in headers and env is replaced by the
// executor's environment; unknown names stay.
func mcpConfig(servers map[string]json.RawMessage, env []string) ([]byte, error) {
	out := map[string]any{}
	for name, raw := range servers {
		var server map[string]any
		if err := json.Unmarshal(raw, &server); err != nil {
			return nil, fmt.Errorf("the blueprint's MCP server %s: %w", name, err)
		}
		for _, member := range []string{"headers", "env"} {
			values, _ := server[member].(map[string]any)
			for k, v := range values {
				if s, ok := v.(string); ok {
					values[k] = expand(s, env)
				}
			}
		}
		out[name] = server
	}
	return json.Marshal(map[string]any{"mcpServers": out})
}

func expand(s string, env []string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return b.String() + s
		}
		b.WriteString(before)
		if value := lookup(env, name); value != "" {
			b.WriteString(value)
		} else {
			b.WriteString("${" + name + "}")
		}
		s = after
	}
}

// lookup is the value of a variable, empty when it is not set. The last one wins, as in a process.
func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}
