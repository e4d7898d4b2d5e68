package blueprintdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/blueprintdir"
)

// What people keep as a blueprint is read or named as skipped, and what was read is read again as it was written.
func FuzzRead(f *testing.F) {
	f.Add(`{"name": "a", "description": "d", "tags": ["x"], "demands": {"tags": ["y"]}}`, "be kind", `{"mcpServers": {"s": {"url": "http://x"}}}`)
	f.Add(`{"name": "b"}`, "", `{"mcpServers": {"s": {}}}`)
	f.Add(`[]`, "\xff", `{"servers": {}}`)
	f.Fuzz(func(t *testing.T, agent, prompt, servers string) {
		dir := filepath.Join(t.TempDir(), "agents")
		if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"agent.json": agent, "agent.system-prompt.md": prompt, "agent.mcp.json": servers} {
			if err := os.WriteFile(filepath.Join(dir, "a", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		set, skipped, err := blueprintdir.Read(dir)
		if err != nil || len(set.Agents)+len(skipped) != 1 {
			t.Fatalf("%d agents, skipped %v, %v", len(set.Agents), skipped, err)
		}
		if len(set.Agents) == 0 {
			return
		}
		again := filepath.Join(t.TempDir(), "agents")
		if err := blueprintdir.Write(again, set); err != nil {
			t.Fatal(err)
		}
		if back, skipped, err := blueprintdir.Read(again); err != nil || len(skipped) > 0 || len(back.Agents) != 1 || back.Agents[0].SystemPrompt != set.Agents[0].SystemPrompt {
			t.Fatalf("written and read again: %+v, skipped %v, %v", back, skipped, err)
		}
	})
}
