package apiserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// TestBlueprintsLiveInTheirFolder: what the folder holds is served, what changes is written there, what is deleted goes.
func TestBlueprintsLiveInTheirFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "agents")
	for path, text := range map[string]string{
		"helper/agent.json":             `{"name": "helper", "description": "helps", "tags": ["external"], "demands": {"executor_profile": "coding"}}`,
		"helper/agent.system-prompt.md": "Help.", "helper/.disabled": "",
		"helper/agent.mcp.json": `{"mcpServers": {"o": {"type": "http", "url": "${AGENT_ORCHESTRATOR_MCP_URL}"}}}`,
		"notes/README":          "not a blueprint",
	} {
		at := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, url := newSeed(t), open(t, pgtest.DSN(t), map[string]string{"AGENT_ORCHESTRATOR_AGENTS_DIR": dir})
	eventually(t, func() bool { // else: the folder was not loaded
		status, a := s.send("GET", url+"/agents/helper?raw=true", "")
		m, _ := a.(map[string]any)
		return status == 200 && m["system_prompt"] == "Help." && m["status"] == "inactive"
	})
	s.is(200, "PATCH", url+"/agents/helper/status", `{"status": "active"}`)
	s.is(200, "PATCH", url+"/agents/helper", `{"system_prompt": "Help more.", "mcp_servers": {}}`)
	s.is(201, "POST", url+"/capabilities", `{"name": "cap", "description": "d", "text": "words"}`)
	eventually(t, func() bool { // else: changes were not written
		prompt, _ := os.ReadFile(filepath.Join(dir, "helper", "agent.system-prompt.md"))
		words, _ := os.ReadFile(filepath.Join(filepath.Dir(dir), "capabilities", "cap", "capability.text.md"))
		_, disabled := os.Stat(filepath.Join(dir, "helper", ".disabled"))
		_, servers := os.Stat(filepath.Join(dir, "helper", "agent.mcp.json"))
		return string(prompt) == "Help more." && string(words) == "words" && os.IsNotExist(disabled) && os.IsNotExist(servers)
	})
	own, err := os.ReadFile(filepath.Join(dir, "helper", "agent.json"))
	if err != nil || !strings.Contains(string(own), `"executor_profile": "coding"`) {
		t.Errorf("%s %v", own, err)
	}
	s.is(204, "DELETE", url+"/agents/helper", "")
	eventually(t, func() bool { // else: a deleted agent's directory is still there
		_, err := os.Stat(filepath.Join(dir, "helper"))
		return os.IsNotExist(err)
	})
	if _, err := os.Stat(filepath.Join(dir, "notes", "README")); err != nil {
		t.Errorf("what is no blueprint was touched: %v", err)
	}
}
