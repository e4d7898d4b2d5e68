package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

var codex = host{
	title: "Codex", file: codexFile, edit: codexEdit, command: codexCommand, verify: codexVerify, next: codexNext,
	// codex mcp add knows neither env_vars nor timeouts, so the file is edited.
	native: noNative,
	hooks:  &hookFile{file: codexHooks, groups: func(r Request) []hookGroup { return matcherGroups("codex", "", r) }},
}

var codexTable = block{
	begin: "# >>> agent-coordinator >>> written by coordctl install codex; coordctl uninstall codex removes it",
	end:   "# <<< agent-coordinator <<<",
}

func codexFile(r Request) string {
	if r.Scope == Project {
		return filepath.Join(r.Dir, ".codex", "config.toml")
	}
	if dir := r.Getenv("CODEX_HOME"); dir != "" {
		return filepath.Join(dir, "config.toml")
	}
	return filepath.Join(r.Home, ".codex", "config.toml")
}

func codexHooks(r Request) string { return filepath.Join(filepath.Dir(codexFile(r)), "hooks.json") }

// codexBlock is our table. Codex scrubs the environment of its servers: what may hold a secret is named in env_vars
// and passed on from the shell. A call may wait 55 s for a lock, hence the timeout.
func codexBlock(r Request) (string, error) {
	type server struct {
		Command        string            `toml:"command"`
		Args           []string          `toml:"args"`
		EnvVars        []string          `toml:"env_vars"`
		StartupTimeout int               `toml:"startup_timeout_sec"`
		ToolTimeout    int               `toml:"tool_timeout_sec"`
		Env            map[string]string `toml:"env,inline"`
	}
	env := map[string]string{"AGENT_TYPE": "codex"}
	for _, name := range set(r, passedPlain) {
		env[name] = r.Getenv(name)
	}
	raw, err := toml.Marshal(map[string]map[string]server{"mcp_servers": {ServerName: {
		Command: r.Command, Args: []string{}, EnvVars: slices.Concat(passedSecret, []string{"AGENT_ID"}),
		StartupTimeout: 15, ToolTimeout: 120, Env: env,
	}}})
	if err != nil {
		return "", fmt.Errorf("write TOML: %w", err)
	}
	body := strings.TrimPrefix(string(raw), "[mcp_servers]\n") // an empty table of that name may stand elsewhere
	return codexTable.begin + "\n" + strings.TrimSpace(body) + "\n" + codexTable.end, nil
}

func codexEdit(r Request, before []byte, add bool) (change, error) {
	same := change{after: before}
	rest, old, gone, err := codexTable.cut(string(before))
	if err != nil {
		return same, err
	}
	servers, err := codexServers([]byte(rest))
	if err != nil {
		return same, err
	}
	if _, taken := servers[ServerName]; taken {
		return same, fmt.Errorf("mcp_servers.%s: %w; remove or rename it first", ServerName, ErrNotOurs)
	}
	switch {
	case !add && old == "":
		return same, nil
	case !add && gone:
		return change{removed: old}, nil
	case !add:
		return change{after: []byte(rest), removed: old}, nil
	}
	body, err := codexBlock(r)
	if err != nil {
		return same, err
	}
	if body == old {
		return same, nil
	}
	after, _, err := codexTable.put(string(before), before != nil, body)
	if err != nil {
		return same, err
	}
	if _, err := codexServers([]byte(after)); err != nil {
		return same, err
	}
	return change{after: []byte(after), removed: old, added: body}, nil
}

type codexServer struct {
	Command string `toml:"command"`
}

func codexServers(raw []byte) (map[string]codexServer, error) {
	var f struct {
		Servers map[string]codexServer `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("it is not TOML: %w", err)
	}
	return f.Servers, nil
}

func codexCommand(content []byte) (string, error) {
	servers, err := codexServers(content)
	return servers[ServerName].Command, err
}

func codexVerify(ctx context.Context, r Request) (string, error) {
	how := "the server listed its tools, and " + codexFile(r) + " names it"
	if _, err := exec.LookPath("codex"); err != nil || r.Scope != User {
		return how, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "codex", "mcp", "list", "--json")
	cmd.Dir = r.Dir
	out, err := cmd.Output()
	if err != nil {
		return how, fmt.Errorf("codex mcp list: %w", err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(bytes.TrimSpace(out), &list); err != nil {
		return how, fmt.Errorf("codex mcp list --json: %w", err)
	}
	for _, s := range list {
		if s.Name == ServerName {
			return "codex mcp list shows it", nil
		}
	}
	return how, fmt.Errorf("codex mcp list does not show %s", ServerName)
}

func codexNext(r Request) []string {
	if r.Scope == Project {
		return []string{"start Codex in " + r.Dir + " and trust the folder"}
	}
	return []string{"start Codex anew; codex mcp list shows " + ServerName}
}
