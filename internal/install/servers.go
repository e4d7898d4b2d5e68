package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// Cursor and Gemini keep their servers as Claude Code does, under mcpServers, each in a file of its own.

var cursor = host{
	title: "Cursor", file: inFolder(".cursor", "mcp.json"),
	edit: func(r Request, before []byte, add bool) (change, error) {
		return serversEdit(cursorEntry(r), before, add)
	},
	command: serversCommand, native: noNative, verify: listedTools(inFolder(".cursor", "mcp.json")),
	next: func(r Request) []string {
		return []string{"start Cursor anew and switch " + ServerName + " on under Settings, MCP"}
	},
	hooks: &hookFile{file: inFolder(".cursor", "hooks.json"), groups: cursorHooks, top: map[string]any{"version": 1}},
}

var gemini = host{
	title: "Gemini CLI", file: inFolder(".gemini", "settings.json"),
	edit: func(r Request, before []byte, add bool) (change, error) {
		return serversEdit(geminiEntry(r), before, add)
	},
	command: serversCommand, native: noNative, verify: listedTools(inFolder(".gemini", "settings.json")),
	next: func(Request) []string {
		return []string{"start Gemini CLI in a folder that it trusts; /mcp shows " + ServerName}
	},
	hooks: &hookFile{file: inFolder(".gemini", "settings.json"), groups: geminiHooks},
}

func noNative(Request, bool) [][]string { return nil }

// inFolder is a file in a dot folder of the project or of the user.
func inFolder(names ...string) func(Request) string {
	return func(r Request) string {
		base := r.Home
		if r.Scope == Project {
			base = r.Dir
		}
		return filepath.Join(append([]string{base}, names...)...)
	}
}

// serverEntry is one value of mcpServers without a type.
type serverEntry struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// cursorEntry passes secrets on as ${env:NAME}, which is how Cursor refers to its environment.
func cursorEntry(r Request) serverEntry {
	return serverEntry{Command: r.Command, Args: []string{}, Env: environment(r, "cursor", func(name string) string { return "${env:" + name + "}" })}
}

// geminiEntry: Gemini CLI expands $NAME.
func geminiEntry(r Request) serverEntry {
	return serverEntry{Command: r.Command, Args: []string{}, Env: environment(r, "gemini", func(name string) string { return "$" + name })}
}

// environment is what the server is given; variables that may hold secrets only as references.
func environment(r Request, kind string, reference func(string) string) map[string]string {
	env := map[string]string{"AGENT_TYPE": kind}
	for _, name := range set(r, passedPlain) {
		env[name] = r.Getenv(name)
	}
	for _, name := range set(r, passedSecret) {
		env[name] = reference(name)
	}
	return env
}

func cursorHooks(r Request) []hookGroup {
	run := hookCommand{Command: r.hookLine("cursor")}
	var out []hookGroup
	for _, event := range []string{"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop", "sessionEnd"} {
		out = append(out, hookGroup{event, run})
	}
	return out
}

// geminiTools are Gemini CLI's tools that write.
const geminiTools = "write_file|replace|run_shell_command"

func geminiHooks(r Request) []hookGroup {
	run := []hookCommand{{Name: "agent-coordinator", Type: "command", Command: r.hookLine("gemini"), Timeout: hookSeconds * 1000}}
	var out []hookGroup
	for _, event := range []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"} {
		g := matcherGroup{Hooks: run}
		if strings.HasSuffix(event, "Tool") {
			g.Matcher = geminiTools
		}
		out = append(out, hookGroup{event, g})
	}
	return out
}

func listedTools(file func(Request) string) func(context.Context, Request) (string, error) {
	return func(_ context.Context, r Request) (string, error) {
		return "the server listed its tools, and " + file(r) + " names it", nil
	}
}

const serversMember = "mcpServers"

// serversEdit adds our entry to mcpServers, or takes it out.
func serversEdit(entry any, before []byte, add bool) (change, error) {
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
	_, at := top.get(serversMember)
	if at < 0 {
		if !add {
			return same, nil
		}
		after, added := top.set(serversMember, map[string]any{ServerName: entry}, indent, 1)
		return change{after: []byte(after), added: added}, nil
	}
	servers, err := parseObject(text, top.members[at].value.from)
	if err != nil {
		return same, fmt.Errorf("%s: %w", serversMember, err)
	}
	have, ours := servers.get(ServerName)
	switch {
	case ours >= 0 && !oursJSON([]byte(have)):
		return same, fmt.Errorf("%s.%s: %w; remove or rename it first", serversMember, ServerName, ErrNotOurs)
	case add:
		raw, err := json.Marshal(entry)
		if err != nil {
			return same, fmt.Errorf("write JSON: %w", err)
		}
		if ours >= 0 && sameJSON([]byte(have), raw) {
			return same, nil
		}
		after, added := servers.set(ServerName, entry, indent, 2)
		return change{after: []byte(after), removed: have, added: added}, nil
	case ours < 0:
		return same, nil
	}
	return serversRemove(top, at, servers, ours), nil
}

// serversRemove takes our entry out, and what would be left empty.
func serversRemove(top object, at int, servers object, ours int) change {
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
	return strings.TrimSuffix(filepath.Base(command), ".exe") == "mcp-server"
}

func serversCommand(content []byte) (string, error) {
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
