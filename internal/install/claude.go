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
	title: "Claude Code", file: claudeFile, edit: claudeEdit, command: claudeCommand, native: claudeNative, verify: claudeVerify, next: claudeNext,
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

// claudeEntry is one value of mcpServers. Variables that may hold secrets are references, with an empty default:
// Claude Code leaves a reference to an unset variable as it is.
func claudeEntry(r Request) json.RawMessage {
	env := map[string]string{"AGENT_TYPE": "claude_code"}
	for _, name := range set(r, passedPlain) {
		env[name] = r.Getenv(name)
	}
	for _, name := range set(r, passedSecret) {
		env[name] = "${" + name + ":-}"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct { // strings only
		Type    string            `json:"type"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}{"stdio", r.Command, []string{}, env})
	return bytes.TrimSpace(b.Bytes())
}

func claudeEdit(r Request, before []byte, add bool) ([]byte, error) {
	if len(bytes.TrimSpace(before)) == 0 {
		if !add {
			return before, nil
		}
		before = nil
	}
	top := members{}
	var err error
	if before != nil {
		if top, err = parseObject(before); err != nil {
			return nil, err
		}
	}
	servers := members{}
	if raw := top.get("mcpServers"); raw != nil {
		if servers, err = parseObject(raw); err != nil {
			return nil, fmt.Errorf("mcpServers: %w", err)
		}
	}
	have := servers.get(ServerName)
	if add && sameJSON(have, claudeEntry(r)) || !add && have == nil {
		return before, nil
	}
	if have != nil && !oursJSON(have) {
		return nil, fmt.Errorf("mcpServers.%s: %w; remove or rename it first", ServerName, ErrNotOurs)
	}
	if add {
		servers = servers.with(ServerName, claudeEntry(r))
	} else {
		servers = servers.with(ServerName, nil)
	}
	if len(servers) == 0 && len(top) == 1 {
		return nil, nil // the file held nothing but us
	}
	if len(servers) == 0 {
		return top.with("mcpServers", nil).pretty(before)
	}
	return top.with("mcpServers", servers.compact()).pretty(before)
}

// oursJSON recognises an entry by the program it starts.
func oursJSON(entry []byte) bool {
	var e struct{ Command string }
	return json.Unmarshal(entry, &e) == nil && isServer(e.Command)
}

func isServer(command string) bool {
	name := strings.TrimSuffix(filepath.Base(command), ".exe")
	return name == "mcp-server"
}

func claudeCommand(content []byte) (string, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		return "", nil
	}
	var f struct {
		Servers map[string]struct{ Command string } `json:"mcpServers"`
	}
	if err := json.Unmarshal(content, &f); err != nil {
		return "", fmt.Errorf("it is not JSON: %w", err)
	}
	return f.Servers[ServerName].Command, nil
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
	return [][]string{remove, {"claude", "mcp", "add-json", "-s", "user", ServerName, string(claudeEntry(r))}}
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
