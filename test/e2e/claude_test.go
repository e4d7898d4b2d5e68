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
	"testing"
)

// model stands in for the model API: it has an orchestrator start one child and repeats what the child said; whoever is
// asked again says so.
func model(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Model    string `json:"model"`
			Messages []struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		_ = json.NewDecoder(r.Body).Decode(&req)
		if !strings.HasPrefix(r.URL.Path, "/v1/messages") || strings.Contains(r.URL.Path, "count_tokens") || len(req.Messages) == 0 {
			_, _ = fmt.Fprint(w, `{"input_tokens":1}`)
			return
		}
		all, err := json.Marshal(req.Messages)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(event string, data map[string]any) {
			data["type"] = event
			raw, _ := json.Marshal(data)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, raw)
		}
		send("message_start", map[string]any{"message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model, "content": []any{}, "stop_reason": nil, "usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
		}})
		block, delta, reason := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta"}, "end_turn"
		switch text := string(all); {
		case strings.Contains(text, "ask once more"):
			delta["text"] = "asked once more"
		case strings.Contains(text, "[TEST-EXECUTOR] Received: ping"):
			delta["text"] = "the child said: [TEST-EXECUTOR] Received: ping"
		case strings.Contains(text, "start your child") && !strings.Contains(text, "tool_result"):
			block = map[string]any{"type": "tool_use", "id": "toolu_1", "name": "mcp__orchestrator__start_agent_session", "input": map[string]any{}}
			delta, reason = map[string]any{"type": "input_json_delta", "partial_json": `{"agent_name":"e2e-echo","prompt":"ping"}`}, "tool_use"
		default:
			delta["text"] = "no child"
		}
		send("content_block_start", map[string]any{"index": 0, "content_block": block})
		send("content_block_delta", map[string]any{"index": 0, "delta": delta})
		send("content_block_stop", map[string]any{"index": 0})
		send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason}, "usage": map[string]int{"output_tokens": 2}})
		send("message_stop", map[string]any{})
	}))
	t.Cleanup(srv.Close)
	return srv
}

// TestHostClaudeCodeAsExecutor: the real Claude Code CLI runs a session through its executor, starts a child through the
// orchestrator's MCP server, and is resumed.
func TestHostClaudeCodeAsExecutor(t *testing.T) {
	nodeBin := filepath.Join(hosts(t), "node_modules", ".bin")
	in, dir, api := up(t), runnerDir(t), model(t)
	in.startRunner(t, dir, nil, "-x", "test-executor")
	in.startRunner(t, dir, []string{
		"HOME=" + t.TempDir(), "PATH=" + nodeBin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"ANTHROPIC_BASE_URL=" + api.URL, "ANTHROPIC_API_KEY=sk-ant-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"IS_SANDBOX=1", "ENABLE_TOOL_SEARCH=false", // the CLI refuses to bypass permissions as root outside a sandbox
	}, "-x", "claude-code")
	for _, agent := range []map[string]any{
		{"name": "e2e-echo", "description": "echoes", "demands": map[string]any{"executor_profile": "test-executor"}},
		{
			"name": "e2e-lead", "description": "leads", "system_prompt": "You lead.", "demands": map[string]any{"executor_profile": "claude-code"},
			"mcp_servers": map[string]any{"orchestrator": map[string]any{
				"type": "http", "url": "${AGENT_ORCHESTRATOR_MCP_URL}", "headers": map[string]any{"X-Agent-Session-Id": "${AGENT_SESSION_ID}"},
			}},
		},
	} {
		if status, out, err := in.call(http.MethodPost, "/agents", agent); err != nil || status != http.StatusCreated {
			t.Fatalf("POST /agents: %d %v %v", status, out, err)
		}
	}

	run, session := in.startRun(t, map[string]any{"type": "start_session", "agent_name": "e2e-lead", "prompt": "start your child"})
	if got := in.runEnds(t, run); got["status"] != "completed" {
		t.Fatalf("run %v", got)
	}
	if got := in.result(t, session); got != "the child said: [TEST-EXECUTOR] Received: ping" {
		t.Errorf("result %q", got)
	}
	events := fmt.Sprint(in.do(t, http.MethodGet, "/sessions/"+session+"/events", nil)["events"])
	if !strings.Contains(events, "mcp__orchestrator__start_agent_session") {
		t.Errorf("the tool call is not among the events: %s", events)
	}
	run, _ = in.startRun(t, map[string]any{"type": "resume_session", "session_id": session, "prompt": "ask once more"})
	if got := in.runEnds(t, run); got["status"] != "completed" {
		t.Fatalf("resume %v", got)
	}
	if got := in.result(t, session); got != "asked once more" {
		t.Errorf("result of the resume %q", got)
	}
}
