package blueprintdir_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/blueprintdir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "agents")
	want := blueprintdir.Set{
		Agents: []blueprintdir.Agent{
			{CreateAgent: client.CreateAgent{
				Name: "a", Description: "d", SystemPrompt: "be good\n", Tags: []string{"x"}, Capabilities: []string{"c"},
				Demands:    &client.Demands{ExecutorProfile: "coding"},
				MCPServers: map[string]client.MCPServer{"s": {Type: "http", URL: "${AGENT_ORCHESTRATOR_MCP_URL}", Headers: map[string]string{"X-Agent-Session-Id": "${AGENT_SESSION_ID}"}}},
			}},
			{CreateAgent: client.CreateAgent{Name: "off", Description: "d"}, Inactive: true},
		},
		Capabilities: []client.CreateCapability{{Name: "c", Description: "d", Text: "more"}},
	}
	for range 2 { // writing again changes nothing
		if err := blueprintdir.Write(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	got, skipped, err := blueprintdir.Read(dir)
	if err != nil || len(skipped) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\n%v %v", got, skipped, err)
	}
}

func TestWhatIsNoBlueprintIsSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"good/agent.json": `{"name": "good", "description": "d"}`, "renamed/agent.json": `{"name": "other", "description": "d"}`,
		"broken/agent.json": `{`, "bare/agent.json": `{"name": "bare"}`, "empty/readme": "", ".git/agent.json": `{}`,
	} {
		at := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, skipped, err := blueprintdir.Read(dir)
	if err != nil || len(set.Agents) != 1 || set.Agents[0].Name != "good" || len(skipped) != 4 {
		t.Errorf("%+v\n%v %v", set, skipped, err)
	}
	if set, _, err = blueprintdir.Read(filepath.Join(dir, "none")); err != nil || len(set.Agents) != 0 {
		t.Errorf("%+v %v", set, err)
	}
	if err := blueprintdir.Write(dir, blueprintdir.Set{Agents: []blueprintdir.Agent{{CreateAgent: client.CreateAgent{Name: "../x"}}}}); err == nil {
		t.Error("a name that leaves the folder was written")
	}
}

// TestAServerNobodyCouldReachIsSkipped, with its agent, and named.
func TestAServerNobodyCouldReachIsSkipped(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]string{
		"a member that is not known": `{"command": "x", "colour": 1}`, "no command": `{}`, "no url": `{"type": "http"}`,
		"both": `{"type": "http", "url": "u", "command": "c"}`, "another type": `{"type": "sse", "url": "u"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at := filepath.Join(dir, "a")
			for file, text := range map[string]string{"agent.json": `{"name": "a", "description": "d"}`, "agent.mcp.json": `{"mcpServers": {"s": ` + server + `}}`} {
				if err := os.MkdirAll(at, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(at, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, skipped, err := blueprintdir.Read(dir)
			if err != nil || len(got.Agents) != 0 || len(skipped) != 1 {
				t.Errorf("%+v %v %v", got, skipped, err)
			}
		})
	}
}
