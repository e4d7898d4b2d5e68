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
