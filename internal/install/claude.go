package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var claudeCode = host{
	title: "Claude Code", file: claudeFile, command: serversCommand, native: claudeNative, verify: claudeVerify, next: claudeNext,
	edit: func(r Request, before []byte, add bool) (change, error) {
		return serversEdit(claudeEntry(r), before, add)
	},
	hooks: &hookFile{file: claudeSettings, groups: func(r Request) []hookGroup { return matcherGroups("claude-code", claudeTools, r) }},
}

func claudeFile(r Request) string {
	if r.Scope == Project {
		return filepath.Join(r.Dir, ".mcp.json")
	}
	if dir := r.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(r.Home, ".claude.json")
}

// claudeTools are the tools that write; what other tools do in the working tree shows with the next of these.
const claudeTools = "Edit|Write|MultiEdit|NotebookEdit|Bash"

func claudeSettings(r Request) string {
	if r.Scope == Project {
		return filepath.Join(r.Dir, ".claude", "settings.json")
	}
	if dir := r.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "settings.json")
	}
	return filepath.Join(r.Home, ".claude", "settings.json")
}

// claudeServer is one value of mcpServers.
type claudeServer struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// claudeEntry is ours. Variables that may hold secrets are references, with an empty default: Claude Code leaves a
// reference to an unset variable as it is.
func claudeEntry(r Request) claudeServer {
	env := environment(r, "claude_code", func(name string) string { return "${" + name + ":-}" })
	return claudeServer{Type: "stdio", Command: r.Command, Args: []string{}, Env: env}
}

// claudeNative asks Claude Code to change its own user configuration, which running sessions write to as well. A
// project's .mcp.json is a plain file that only people write.
func claudeNative(r Request, add bool) [][]string {
	if _, err := exec.LookPath("claude"); err != nil || r.Scope != User {
		return nil
	}
	remove := []string{"claude", "mcp", "remove", "-s", "user", ServerName}
	if !add {
		return [][]string{remove}
	}
	entry, _ := json.Marshal(claudeEntry(r)) // strings only
	return [][]string{remove, {"claude", "mcp", "add-json", "-s", "user", ServerName, string(entry)}}
}

func claudeVerify(ctx context.Context, r Request) (string, error) {
	how := "the server listed its tools, and " + claudeFile(r) + " names it"
	if _, err := exec.LookPath("claude"); err != nil || r.Scope != User {
		return how, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "claude", "mcp", "list")
	cmd.Dir = r.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return how, fmt.Errorf("claude mcp list: %w: %s", err, bytes.TrimSpace(out))
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, ServerName+":") {
			if strings.Contains(line, "Connected") {
				return "claude mcp list shows it Connected", nil
			}
			return how, fmt.Errorf("claude mcp list says: %s", strings.TrimSpace(line))
		}
	}
	return how, fmt.Errorf("claude mcp list does not show %s: %s", ServerName, bytes.TrimSpace(out))
}

func claudeNext(r Request) []string {
	if r.Scope == Project {
		return []string{
			"start Claude Code in " + r.Dir + " and approve the server (/mcp)",
			".mcp.json names this machine's path of mcp-server: keep it out of the repository unless everybody has it there",
		}
	}
	return []string{"start Claude Code anew; /mcp shows " + ServerName}
}
