package install_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/install"
)

const standIn = "COORD_TEST_STAND_IN"

// TestMain is also the stand-in for mcp-server: a script of that name runs this binary with standIn set.
func TestMain(m *testing.M) {
	if os.Getenv(standIn) != "" {
		serve()
		return
	}
	goleak.VerifyTestMain(m)
}

func serve() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     any    `json:"id"`
			Method string `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"stand-in","version":"1"}}`
		if m.Method == "tools/list" {
			result = `{"tools":[{"name":"acquire_lock"},{"name":"release_lock"}]}`
		}
		id, _ := json.Marshal(m.ID)
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result)
	}
}

// request is one of a person with an empty home folder, or one whose hosts have files.
func request(t *testing.T, host string, files map[string]string) install.Request {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin", "mcp-server")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// No process may be forked while the script is open for writing: it would hold it open, and nobody could run it.
	syscall.ForkLock.RLock()
	write(t, bin, "#!/bin/sh\n"+standIn+"=1 exec "+self+"\n")
	syscall.ForkLock.RUnlock()
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	for name, content := range files {
		write(t, filepath.Join(home, name), content)
	}
	return install.Request{
		Host: host, Scope: install.User, Command: bin, Home: home, Dir: filepath.Join(dir, "project"), Getenv: func(string) string { return "" },
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// existing are files as people have them, with entries of others that must survive.
var existing = map[string]struct{ file, content string }{
	"claude-code": {".claude.json", `{
    "numStartups": 12345678901234567890,
    "mcpServers": {
        "other": {"command": "/bin/other", "env": {"TOKEN": "secret"}}
    },
    "zeta": [1.10, "<&>"],
    "alpha": null
}`},
	"cursor": {".cursor/mcp.json", `{"mcpServers": {"other": {"command": "/bin/other"}}}`},
	"gemini": {".gemini/settings.json", "{\n  \"theme\": \"x\",\n  \"mcpServers\": {\"other\": {\"command\": \"/bin/other\"}}\n}\n"},
	"codex":  {".codex/config.toml", "model = \"x\" # a comment\n\n[mcp_servers.other]\ncommand = \"/bin/other\"\n  # indented\n"},
}

func TestInstallAndBack(t *testing.T) {
	t.Parallel()
	for host, have := range existing {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			r := request(t, host, map[string]string{have.file: have.content})
			r.Getenv = func(name string) string {
				return map[string]string{"COORDINATION_API_KEY": "top-secret", "COORD_HOME": "/srv/coord"}[name]
			}
			res, err := install.Install(t.Context(), r)
			if err != nil || !res.Changed || !res.Registered || res.Tools != 2 {
				t.Fatalf("%+v, %v", res, err)
			}
			now := read(t, res.File)
			for _, want := range []string{r.Command, "/bin/other", "/srv/coord"} {
				if !strings.Contains(now, want) {
					t.Errorf("%q is missing in\n%s", want, now)
				}
			}
			if strings.Contains(now, "top-secret") || strings.Contains(res.Diff, "secret\"") {
				t.Errorf("a secret was written or shown:\n%s\n%s", now, res.Diff)
			}
			if read(t, res.Backup) != have.content {
				t.Error("the backup differs from what was there")
			}
			again, err := install.Install(t.Context(), r)
			if err != nil || again.Changed || read(t, res.File) != now {
				t.Errorf("a second time changed something: %+v, %v", again, err)
			}
			back, err := install.Uninstall(t.Context(), r)
			if err != nil || !back.Changed || back.Registered {
				t.Fatalf("uninstall: %+v, %v", back, err)
			}
			if got := read(t, res.File); got != have.content {
				t.Errorf("after install and uninstall:\n%s\nwas:\n%s", got, have.content)
			}
			if again, err := install.Uninstall(t.Context(), r); err != nil || again.Changed {
				t.Errorf("uninstall twice: %+v, %v", again, err)
			}
		})
	}
}

func TestInstallIntoNothing(t *testing.T) {
	t.Parallel()
	for host := range existing {
		for _, scope := range []install.Scope{install.User, install.Project} {
			t.Run(host+" "+string(scope), func(t *testing.T) {
				t.Parallel()
				r := request(t, host, nil)
				r.Scope = scope
				r.DryRun = true
				res, err := install.Install(t.Context(), r)
				if err != nil || !res.Changed || res.Diff == "" {
					t.Fatalf("dry run: %+v, %v", res, err)
				}
				if _, err := os.Stat(res.File); !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("a dry run wrote %s", res.File)
				}
				r.DryRun = false
				if res, err = install.Install(t.Context(), r); err != nil || !res.Registered || res.Backup != "" {
					t.Fatalf("%+v, %v", res, err)
				}
				if res, err = install.Uninstall(t.Context(), r); err != nil || res.Registered {
					t.Fatalf("%+v, %v", res, err)
				}
				if _, err := os.Stat(res.File); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s was left behind", res.File)
				}
			})
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, host, file, content string
		want                      error
	}{
		{"broken JSON", "claude-code", ".claude.json", `{"mcpServers": `, nil},
		{"a list", "claude-code", ".claude.json", `[]`, nil},
		{"somebody else's entry", "claude-code", ".claude.json", `{"mcpServers":{"coord":{"command":"/bin/other"}}}`, install.ErrNotOurs},
		{"broken TOML", "codex", ".codex/config.toml", "[mcp_servers", nil},
		{"somebody else's table", "codex", ".codex/config.toml", "[mcp_servers.coord]\ncommand = \"/bin/other\"\n", install.ErrNotOurs},
		{"half a block", "codex", ".codex/config.toml", "# >>> agent-coordinator >>> written by coordctl install codex; coordctl uninstall codex removes it\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, tt.host, map[string]string{tt.file: tt.content})
			_, err := install.Install(t.Context(), r)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v", err)
			}
			if got := read(t, filepath.Join(r.Home, tt.file)); got != tt.content {
				t.Errorf("the file was changed to %q", got)
			}
		})
	}
}

func TestInstallNeedsAServerThatAnswers(t *testing.T) {
	t.Parallel()
	r := request(t, "codex", nil)
	r.Command = "/bin/false"
	if _, err := install.Install(t.Context(), r); !errors.Is(err, install.ErrNoServer) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.Home, ".codex")); !errors.Is(err, os.ErrNotExist) {
		t.Error("something was written")
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	r := request(t, "claude-code", map[string]string{".claude.json": `{"mcpServers":{"coord":{"command":"/old/mcp-server"}}}`})
	s, err := install.Look(r)
	if err != nil || s.Registered || s.Other != "/old/mcp-server" {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := install.Install(t.Context(), r); err != nil { // an older path of ours is replaced
		t.Fatal(err)
	}
	if s, err = install.Look(r); err != nil || !s.Registered {
		t.Errorf("%+v, %v", s, err)
	}
}
