package install_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/install"
)

// The plugin of the repository finds both programs on the PATH. UPDATE_GOLDEN=1 writes it anew.
func TestGoldenPlugin(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "plugins", "claude-code")
	want := install.Plugin(install.Request{Command: "mcp-server", Coordctl: "coordctl", Fail: "open", Getenv: func(string) string { return "" }}, "")
	for _, name := range slices.Sorted(maps.Keys(want)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(want[name]), 0o644); err != nil { //nolint:gosec // part of the repository
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != want[name] {
			t.Errorf("%s differs from what the installer says (%v); UPDATE_GOLDEN=1 go test -run Golden ./internal/install writes it anew", path, err)
		}
	}
}

// The plugin and the installer say the same: server entry, hooks, instructions.
func TestPluginSaysWhatInstallWrites(t *testing.T) {
	t.Parallel()
	r := request(t, "claude-code", nil)
	r.Coordctl, r.Fail, r.Instructions = "/opt/coordctl", "closed", true
	r.Getenv = func(name string) string {
		return map[string]string{"COORDINATION_API_KEY": "top-secret", "COORD_HOME": "/srv/coord"}[name]
	}
	res, err := install.Install(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for range 2 {
		if _, err := install.WritePlugin(r, dir, "1.2.3"); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := install.WritePlugin(r, dir, "1.2.3"); err != nil || len(again.Changed) != 0 || len(again.Files) != 5 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	for _, pair := range []struct{ member, installed, plugin string }{
		{"mcpServers", res.File, ".mcp.json"},
		{"hooks", res.Hooks.File, "hooks/hooks.json"},
	} {
		have, want := member(t, filepath.Join(dir, pair.plugin), pair.member), member(t, pair.installed, pair.member)
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s: the plugin has %v, install wrote %v", pair.member, have, want)
		}
	}
	skill, note := read(t, filepath.Join(dir, "skills/coordinate/SKILL.md")), read(t, res.Instructions.File)
	for line := range strings.Lines(skill[strings.LastIndex(skill, "---\n")+4:]) {
		if !strings.Contains(note, line) {
			t.Errorf("the skill says %q, the instructions do not", line)
		}
	}
	for _, name := range []string{"README.md", ".mcp.json", "hooks/hooks.json"} {
		if strings.Contains(read(t, filepath.Join(dir, name)), "top-secret") {
			t.Errorf("%s holds a secret", name)
		}
	}
	write(t, filepath.Join(dir, ".claude-plugin/plugin.json"), `{"name":"other"}`)
	if _, err := install.WritePlugin(r, dir, "1.2.3"); !errors.Is(err, install.ErrNotOurs) {
		t.Errorf("another plugin was overwritten: %v", err)
	}
}

func member(t *testing.T, path, name string) any {
	t.Helper()
	var f map[string]any
	if err := json.Unmarshal([]byte(read(t, path)), &f); err != nil {
		t.Fatal(err)
	}
	return f[name]
}
