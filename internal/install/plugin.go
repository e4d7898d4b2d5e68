package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// PluginName is the plugin's name; its tools show up as mcp__plugin_coord_coord__acquire_lock and the like.
const PluginName = "coord"

const pluginText = "File locks that refuse, a task queue, messages and memory for agents that share a repository"

const pluginReadme = `# coord

%s.

It registers the MCP server (` + "`%s`" + `) and the guard (` + "`%s hook claude-code`" + `), which takes locks before edits, refuses edits of
what other agents hold, reports what slipped by, gives the brief when a session starts and frees what it took when the session
ends. Both programs are part of Agent Coordinator; ` + "`coordctl up`" + ` starts what they talk to, ` + "`coordctl doctor`" + ` says what is wrong.

It says the same as ` + "`coordctl install claude-code`" + `: use one of the two, or every hook runs twice.
`

// Plugin is what Install writes for Claude Code, as the files of a plugin: the same server entry, the same hooks, and
// the instructions as a skill. Names are slash-separated. The version is the plugin's; empty: it has none.
func Plugin(r Request, version string) map[string]string {
	hooks := map[string][]any{}
	for _, g := range matcherGroups("claude-code", claudeTools, r) {
		hooks[g.event] = append(hooks[g.event], g.value)
	}
	manifest := map[string]any{
		"name": PluginName, "license": "Apache-2.0", "description": pluginText, "author": map[string]string{"name": "Agent Coordinator"},
	}
	if version != "" {
		manifest["version"] = version
	}
	return map[string]string{
		".claude-plugin/plugin.json": pluginJSON(manifest),
		"README.md":                  fmt.Sprintf(pluginReadme, pluginText, r.Command, r.Coordctl),
		".mcp.json":                  pluginJSON(map[string]any{serversMember: map[string]any{ServerName: claudeEntry(r)}}),
		"hooks/hooks.json":           pluginJSON(map[string]any{hooksMember: hooks}),
		"skills/coordinate/SKILL.md": "---\nname: coordinate\ndescription: How to work in a repository that other agents change at the same time: locks before edits, tasks, messages, memory. " +
			"Use it when an edit is refused, before larger changes, and when tasks are handed out.\n---\n\n" + protocol,
	}
}

func pluginJSON(v any) string { return indented(v, "", "  ") + "\n" }

// PluginResult says what was written.
type PluginResult struct {
	Dir     string   `json:"dir"`
	Files   []string `json:"files"`   // all of the plugin
	Changed []string `json:"changed"` // that were not there, or differed
	DryRun  bool     `json:"dry_run"`
}

// WritePlugin writes the plugin into dir. What lies there beside its files stays. Error: dir holds another plugin.
func WritePlugin(r Request, dir, version string) (PluginResult, error) {
	res := PluginResult{Dir: dir, DryRun: r.DryRun}
	have, err := readFile(filepath.Join(dir, ".claude-plugin", "plugin.json"))
	if err != nil {
		return res, err
	}
	var other struct{ Name string }
	if have != nil && (json.Unmarshal(have, &other) != nil || other.Name != PluginName) {
		return res, fmt.Errorf("%s holds another plugin: %w", dir, ErrNotOurs)
	}
	files := Plugin(r, version)
	for name := range files {
		res.Files = append(res.Files, name)
	}
	slices.Sort(res.Files)
	for _, name := range res.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		now, err := readFile(path)
		if err != nil {
			return res, err
		}
		if now != nil && string(now) == files[name] {
			continue
		}
		res.Changed = append(res.Changed, name)
		if r.DryRun {
			continue
		}
		if err := replaceFile(path, []byte(files[name])); err != nil {
			return res, err
		}
		if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // a plugin is read by whoever runs the host; it holds no secret
			return res, fmt.Errorf("write the plugin: %w", err)
		}
	}
	return res, nil
}
