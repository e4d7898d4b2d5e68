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
	env := map[string]string{"AGENT_TYPE": "claude_code"}
	for _, name := range set(r, passedPlain) {
		env[name] = r.Getenv(name)
	}
	for _, name := range set(r, passedSecret) {
		env[name] = "${" + name + ":-}"
	}
	return claudeServer{Type: "stdio", Command: r.Command, Args: []string{}, Env: env}
}

const claudeServers = "mcpServers"

func claudeEdit(r Request, before []byte, add bool) (change, error) {
	same := change{after: before}
	text := string(before)
	if strings.TrimSpace(text) == "" {
		if !add {
			return same, nil
		}
		text = "{}\n"
	}
	top, err := wholeObject(text)
	if err != nil {
		return same, err
	}
	indent := indentOf(text)
	_, at := top.get(claudeServers)
	if at < 0 {
		if !add {
			return same, nil
		}
		after, added := top.set(claudeServers, map[string]any{ServerName: claudeEntry(r)}, indent, 1)
		return change{after: []byte(after), added: added}, nil
	}
	servers, err := parseObject(text, top.members[at].value.from)
	if err != nil {
		return same, fmt.Errorf("%s: %w", claudeServers, err)
	}
	have, ours := servers.get(ServerName)
	switch {
	case ours >= 0 && !oursJSON([]byte(have)):
		return same, fmt.Errorf("%s.%s: %w; remove or rename it first", claudeServers, ServerName, ErrNotOurs)
	case add:
		entry, err := json.Marshal(claudeEntry(r))
		if err != nil {
			return same, fmt.Errorf("write JSON: %w", err)
		}
		if ours >= 0 && sameJSON([]byte(have), entry) {
			return same, nil
		}
		after, added := servers.set(ServerName, claudeEntry(r), indent, 2)
		return change{after: []byte(after), removed: have, added: added}, nil
	case ours < 0:
		return same, nil
	}
	return claudeRemove(top, at, servers, ours), nil
}

// claudeRemove takes our entry out, and what would be left empty.
func claudeRemove(top object, at int, servers object, ours int) change {
	if len(servers.members) > 1 {
		after, removed := servers.remove(ours)
		return change{after: []byte(after), removed: removed}
	}
	after, removed := top.remove(at)
	if len(top.members) == 1 {
		return change{removed: removed} // the file held nothing but us
	}
	return change{after: []byte(after), removed: removed}
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
