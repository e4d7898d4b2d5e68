package runner

import (
	"encoding/json"
	"testing"
)

// A blueprint that comes from the coordinator stays JSON when its placeholders are replaced, and keeps its members.
func FuzzResolve(f *testing.F) {
	f.Add([]byte(`{"name": "a", "mcp_servers": {"o": {"url": "${AGENT_ORCHESTRATOR_MCP_URL}", "headers": {"X": "${AGENT_SESSION_ID}"}}}}`), `http://127.0.0.1:1/"`)
	f.Add([]byte(`{"mcp_servers": [["${AGENT_RUN_ID}"], null, 1e400]}`), "x")
	f.Add([]byte(" "), "")
	f.Fuzz(func(t *testing.T, blueprint []byte, value string) {
		out, err := resolve(blueprint, map[string]string{"AGENT_ORCHESTRATOR_MCP_URL": value, "AGENT_SESSION_ID": value, "AGENT_RUN_ID": value})
		if err != nil || out == nil {
			return
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(blueprint, &before) != nil || json.Unmarshal(out, &after) != nil || len(before) != len(after) {
			t.Fatalf("%s became %s", blueprint, out)
		}
	})
}
