package apiserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// TestSessionsOfTheContract replays what dashboards and executors of the older service send, row by row.
func TestSessionsOfTheContract(t *testing.T) {
	t.Parallel()
	s, url := newSeed(t), open(t, pgtest.DSN(t), nil)
	made := s.is(200, "POST", url+"/sessions", `{"session_id": "ses_1", "project_dir": "/p", "unknown": 1}`)
	ses, _ := made["session"].(map[string]any)
	for _, member := range []string{"session_id", "status", "created_at", "project_dir", "agent_name", "last_resumed_at", "parent_session_id", "execution_mode", "executor_session_id", "executor_profile", "hostname"} {
		if _, has := ses[member]; !has {
			t.Errorf("a session lacks %s: %v", member, ses)
		}
	}
	if made["ok"] != true || !strings.HasSuffix(asText(ses["created_at"]), "+00:00") {
		t.Errorf("%v", made)
	}
	if e := s.is(409, "POST", url+"/sessions", `{"session_id": "ses_1"}`); e["detail"] != "Session 'ses_1' already exists" {
		t.Errorf("%v", e)
	}
	for path, want := range map[string]string{"/sessions/ses_x/status": "not_existent", "/sessions/ses_1/status": "pending"} {
		if got := s.is(200, "GET", url+path, "")["status"]; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	bound := s.is(200, "POST", url+"/sessions/ses_1/bind", `{"executor_session_id": "e", "hostname": "h", "executor_profile": "p"}`)
	if b, _ := bound["session"].(map[string]any); bound["ok"] != true || b["status"] != "running" || b["project_dir"] != "/p" {
		t.Errorf("%v", bound)
	}
	if a, _ := s.is(200, "GET", url+"/sessions/ses_1/affinity", "")["affinity"].(map[string]any); fmt.Sprint(a) != "map[executor_profile:p executor_session_id:e hostname:h project_dir:/p session_id:ses_1]" {
		t.Errorf("%v", a)
	}
	changed := s.is(200, "PATCH", url+"/sessions/ses_1/metadata", `{"last_resumed_at": "2026-01-02T03:04:05", "agent_name": null}`)
	if c, _ := changed["session"].(map[string]any); c["last_resumed_at"] != "2026-01-02T03:04:05" || c["agent_name"] != nil {
		t.Errorf("%v", changed)
	}
	event := func(body string) {
		t.Helper()
		s.is(200, "POST", url+"/sessions/ses_1/events", `{"session_id": "ses_1", "timestamp": "2026-01-01T00:00:00", `+body+`}`)
	}
	event(`"event_type": "post_tool", "tool_name": "bash", "tool_input": {"a": 1}, "tool_output": 0, "error": null`)
	event(`"event_type": "message", "role": "assistant", "content": [{"type": "text", "text": "fine"}]`)
	if e := s.is(400, "GET", url+"/sessions/ses_1/result", ""); e["detail"] != "Session not finished" {
		t.Errorf("%v", e)
	}
	event(`"event_type": "session_stop", "exit_code": 0, "reason": "completed"`)
	if r := s.is(200, "GET", url+"/sessions/ses_1/result", ""); r["result"] != "fine" {
		t.Errorf("%v", r)
	}
	events, _ := s.is(200, "GET", url+"/events/ses_1", "")["events"].([]any)
	if first, _ := events[0].(map[string]any); len(events) != 3 || first["tool_output"] != nil || fmt.Sprint(first["tool_input"]) != "map[a:1]" || first["timestamp"] != "2026-01-01T00:00:00" {
		t.Errorf("%v", events)
	}
	stop := s.is(200, "POST", url+"/sessions/ses_1/stop", "")
	if stop["ok"] != true || stop["status"] != "finished" || stop["message"] == nil {
		t.Errorf("%v", stop)
	}
	resumed := s.is(200, "POST", url+"/runs", `{"type": "resume_session", "session_id": "ses_1", "prompt": "go on", "agent_name": null, "additional_demands": null}`)
	run := s.is(200, "GET", url+"/runs/"+asText(resumed["run_id"]), "")
	if d, _ := run["demands"].(map[string]any); d["hostname"] != "h" || d["executor_profile"] != "p" || fmt.Sprint(d["tags"]) != "[]" || run["project_dir"] != "/p" || run["execution_mode"] != "sync" {
		t.Errorf("%v", run)
	}
	why := s.is(200, "GET", url+"/runs/"+asText(resumed["run_id"])+"/why", "")
	if why["reason"] != "no_runner" {
		t.Errorf("%v", why)
	}
	gone := s.is(200, "DELETE", url+"/sessions/ses_1", "")
	if d, _ := gone["deleted"].(map[string]any); gone["ok"] != true || gone["runs_removed_from_cache"] != 1.0 || d["session"] != true || d["events_count"] != 3.0 || d["runs_count"] != 1.0 {
		t.Errorf("%v", gone)
	}
	if _, out := s.send("GET", url+"/events/ses_1", ""); fmt.Sprint(out) != "map[events:[]]" {
		t.Errorf("%v", out)
	}
	s.is(404, "GET", url+"/sessions/ses_1/events", "")
	s.is(404, "DELETE", url+"/sessions/ses_1", "")
}

// TestBlueprintsOfTheContract: capabilities worked into agents, conflicts, clearing, tags.
func TestBlueprintsOfTheContract(t *testing.T) {
	t.Parallel()
	s, url := newSeed(t), open(t, pgtest.DSN(t), nil)
	s.is(201, "POST", url+"/capabilities", `{"name": "c1", "description": "d", "text": "one", "mcp_servers": {"s1": {"url": "http://x"}}}`)
	s.is(409, "POST", url+"/capabilities", `{"name": "c1", "description": "d"}`)
	s.is(201, "POST", url+"/agents", `{"name": "a", "description": "d", "system_prompt": "be", "tags": ["external", "x"], "capabilities": ["c1"], "mcp_servers": {"s0": {"command": "c"}}}`)
	s.is(409, "POST", url+"/agents", `{"name": "a", "description": "d"}`)
	a := s.is(200, "GET", url+"/agents/a", "")
	if a["system_prompt"] != "be\n\n---\n\none" || len(a["mcp_servers"].(map[string]any)) != 2 {
		t.Errorf("%v", a)
	}
	if raw := s.is(200, "GET", url+"/agents/a?raw=true", ""); raw["system_prompt"] != "be" || raw["skills"] != nil {
		t.Errorf("%v", raw)
	}
	for query, want := range map[string]int{"": 1, "?tags=external": 1, "?tags=external,x": 1, "?tags=external,y": 0} {
		if _, list := s.send("GET", url+"/agents"+query, ""); len(list.([]any)) != want {
			t.Errorf("%s: %v", query, list)
		}
	}
	if _, list := s.send("GET", url+"/capabilities", ""); fmt.Sprint(list.([]any)[0].(map[string]any)["mcp_server_names"]) != "[s1]" {
		t.Errorf("%v", list)
	}
	s.is(409, "DELETE", url+"/capabilities/c1", "")
	s.is(200, "PATCH", url+"/agents/a", `{"mcp_servers": {"s1": {"command": "clash"}}}`)
	if e := s.is(422, "GET", url+"/agents/a", ""); asText(e["detail"]) != "MCP server name conflict: s1" {
		t.Errorf("%v", e)
	}
	s.is(200, "PATCH", url+"/agents/a", `{"capabilities": [], "mcp_servers": {}, "system_prompt": ""}`)
	if a = s.is(200, "GET", url+"/agents/a", ""); a["system_prompt"] != nil || a["mcp_servers"] != nil || fmt.Sprint(a["capabilities"]) != "[]" || a["description"] != "d" {
		t.Errorf("%v", a)
	}
	s.is(204, "DELETE", url+"/capabilities/c1", "")
	s.is(404, "GET", url+"/capabilities/c1", "")
	s.is(422, "PATCH", url+"/agents/a/status", `{"status": "away"}`)
}

// TestKeysOfRunners: with authentication on, a runner's key does what runners do and nothing else; a browser's key may
// stand in the query.
func TestKeysOfRunners(t *testing.T) {
	t.Parallel()
	const runner, reader = "runner-key-0123456789", "reader-key-0123456789"
	url := start(t, configured(t, pgtest.DSN(t), map[string]string{
		"COORDINATION_API_KEYS":           runner + "," + reader,
		"COORDINATION_API_KEY_IDENTITIES": `{"` + runner + `": {"scopes": ["runner"]}, "` + reader + `": {"scopes": ["read"]}}`,
	}))
	s := newSeed(t)
	send := func(key, method, path, body string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := s.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, tc := range []struct {
		key, method, path, body string
		want                    int
	}{
		{runner, "POST", "/runner/register", `{"hostname": "h", "project_dir": "/w", "executor_profile": "p"}`, 200},
		{runner, "POST", "/runs", `{"type": "start_session", "prompt": "x", "session_id": "ses_1"}`, 200},
		{runner, "GET", "/agents", "", 200},
		{runner, "POST", "/sessions/ses_1/events", `{"session_id": "ses_1", "event_type": "message", "timestamp": "t"}`, 200},
		{runner, "POST", "/agents", `{"name": "a", "description": "d"}`, 403},
		{reader, "GET", "/runs", "", 200},
		{reader, "POST", "/runs", `{"type": "start_session", "prompt": "x"}`, 403},
		{reader, "GET", "/runner/runs?runner_id=lnch_x", "", 403},
		{"wrong", "GET", "/sse/sessions", "", 401},
	} {
		if got := send(tc.key, tc.method, tc.path, tc.body); got != tc.want {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, got, tc.want)
		}
	}
	f := s.sse(url+"/sse/sessions?api_key="+reader+"&session_id=ses_1", "")
	if _, event, data := f.next(t); event != "init" || len(data["sessions"].([]any)) != 1 {
		t.Errorf("%s %v", event, data)
	}
	_, _, err := websocket.Dial(t.Context(), strings.Replace(url, "http", "ws", 1)+"/ws", &websocket.DialOptions{HTTPClient: &http.Client{Transport: s.http.Transport}}) //nolint:bodyclose // the library's
	if err == nil {
		t.Error("a WebSocket was opened without a key")
	}
}
