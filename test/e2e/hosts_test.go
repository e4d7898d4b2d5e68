//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestHostClaudeCodeConnects registers the server as a person would and asks the real Claude Code whether it connects.
func TestHostClaudeCodeConnects(t *testing.T) {
	home := t.TempDir()
	hosts(t)
	in := up(t)
	env := []string{"DISABLE_AUTOUPDATER=1", "COORD_HOME=" + in.Home}
	out, err := hostCommand(t, home, t.TempDir(), env, "claude", "mcp", "add", "coord", "-s", "user",
		"-e", "COORD_HOME="+in.Home, "-e", "AGENT_ID=claude-e2e", "--", filepath.Join(bin, "mcp-server"))
	if err != nil {
		t.Fatalf("claude mcp add: %v\n%s", err, out)
	}
	out, err = hostCommand(t, home, t.TempDir(), env, "claude", "mcp", "list")
	if err != nil || !strings.Contains(out, "Connected") {
		t.Fatalf("claude mcp list does not say Connected: %v\n%s", err, out)
	}
}

// TestHostCodexCallsATool lets the real Codex, with a local stand-in for the model, call acquire_lock under
// approval_policy=never: a tool whose annotations are wrong would be refused there.
func TestHostCodexCallsATool(t *testing.T) {
	hosts(t)
	in := up(t)
	model := newModel(t, `{"file_path":"src/codex.go","reason":"e2e"}`)
	home := t.TempDir()
	config := fmt.Sprintf(`model = "stand-in"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "read-only"
[model_providers.local]
name = "local"
base_url = %q
wire_api = "responses"
env_key = "STAND_IN_KEY"
[mcp_servers.coord]
command = %q
env = { COORD_HOME = %q, AGENT_ID = "codex-e2e", COORD_PROJECT = "default" }
`, model.URL+"/v1", filepath.Join(bin, "mcp-server"), in.Home)
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".codex", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := hostCommand(t, home, t.TempDir(), []string{"STAND_IN_KEY=x", "CODEX_HOME=" + filepath.Join(home, ".codex")},
		"codex", "exec", "--skip-git-repo-check", "--json", "lock the file")
	if err != nil {
		t.Fatalf("codex exec: %v\n%s", err, out)
	}
	if strings.Contains(out, "requires approval") || !strings.Contains(out, `"action":"acquired"`) && !strings.Contains(out, `\"action\":\"acquired\"`) {
		t.Fatalf("codex did not get the lock:\n%s", out)
	}
	status, reply := in.post(t, "/locks/acquire", map[string]any{"agent_id": "http-e2e", "file_path": "src/codex.go"})
	if status != http.StatusOK || reply["success"] != false || reply["locked_by"] != "codex-e2e" {
		// A lock that codex took and its server freed at exit is fine as well: then we hold it now.
		if reply["success"] != true {
			t.Fatalf("after codex: %d %v", status, reply)
		}
	}
}

// newModel answers like an OpenAI Responses endpoint: the first turn calls acquire_lock, the next repeats what came back.
func newModel(t *testing.T, arguments string) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPost {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"data":[],"models":[]}`))
			return
		}
		var req struct {
			Input []map[string]any `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		item := map[string]any{
			"type": "function_call", "id": "fc_1", "call_id": "call_1", "namespace": "mcp__coord", "name": "acquire_lock", "arguments": arguments,
		}
		for _, x := range req.Input {
			if x["type"] == "function_call_output" {
				item = map[string]any{
					"type": "message", "id": "m_1", "role": "assistant",
					"content": []map[string]any{{"type": "output_text", "text": fmt.Sprint(x["output"])}},
				}
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range []map[string]any{
			{"type": "response.created", "response": map[string]any{"id": "r_1"}},
			{"type": "response.output_item.done", "item": item},
			{"type": "response.completed", "response": map[string]any{"id": "r_1", "usage": map[string]any{
				"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2,
			}}},
		} {
			raw, _ := json.Marshal(ev)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", ev["type"], raw)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// TestHostInspector drives the server with the official Inspector's command line.
func TestHostInspector(t *testing.T) {
	hosts(t)
	in := up(t)
	home := t.TempDir()
	server := filepath.Join(bin, "mcp-server")
	env := []string{"COORD_HOME=" + in.Home, "AGENT_ID=inspector-e2e", "COORD_PROJECT=default"}
	inspect := func(args ...string) string {
		t.Helper()
		all := []string{"--cli"}
		for _, kv := range env {
			all = append(all, "-e", kv)
		}
		all = append(append(all, server), args...)
		out, err := hostCommand(t, home, t.TempDir(), env, "mcp-inspector", all...)
		if err != nil {
			t.Fatalf("inspector %v: %v\n%s", args, err, out)
		}
		return out
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--method", "tools/list"}, `"acquire_lock"`},
		{[]string{"--method", "resources/list"}, "locks://current"},
		{[]string{"--method", "resources/read", "--uri", "locks://current"}, "No active locks."},
		{[]string{"--method", "prompts/list"}, "coordinate_file_edit"},
		{[]string{"--method", "tools/call", "--tool-name", "acquire_lock", "--tool-arg", "file_path=a.go"}, `"acquired"`},
	} {
		if out := inspect(c.args...); !strings.Contains(out, c.want) {
			t.Errorf("inspector %v: no %s in\n%s", c.args, c.want, out)
		}
	}
}

// TestHostTypeScriptSDK runs the scripted sequence of hosts/sequence.mjs: every tool listed, progress in order,
// cancellation, and not one error on the client's side.
func TestHostTypeScriptSDK(t *testing.T) {
	dir := hosts(t)
	in := up(t)
	script, err := os.ReadFile(filepath.Join(repoRoot(), "test", "e2e", "hosts", "sequence.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	// The script must lie beside node_modules for its imports to resolve.
	path := filepath.Join(dir, "sequence.mjs")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := hostCommand(t, t.TempDir(), t.TempDir(), []string{"COORD_HOME=" + in.Home, "MCP_SERVER=" + filepath.Join(bin, "mcp-server")}, "node", path)
	if err != nil {
		t.Fatalf("sequence: %v\n%s", err, out)
	}
	var report struct {
		OnError  []string `json:"onerror"`
		Progress int      `json:"progress"`
		Canceled bool     `json:"cancelled"`
		Free     bool     `json:"place_freed"`
		P50      float64  `json:"check_locks_p50_ms"`
		P99      float64  `json:"check_locks_p99_ms"`
		Tools    int      `json:"tools"`
	}
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &report); err != nil {
		t.Fatalf("sequence printed no report: %v\n%s", err, out)
	}
	t.Logf("TypeScript SDK: %+v", report)
	if len(report.OnError) != 0 || report.Progress == 0 || !report.Canceled || !report.Free || report.Tools == 0 {
		t.Fatalf("sequence: %+v", report)
	}
}
