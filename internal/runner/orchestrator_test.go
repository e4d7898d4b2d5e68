package runner

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// orchestrated adds what the tools call to a fake coordinator: runs complete by themselves with an echo as result.
func orchestrated(f *fake) *fake {
	inner := f.Config.Handler
	mux := http.NewServeMux()
	mux.Handle("/", inner)
	mux.HandleFunc("GET /agents", func(w http.ResponseWriter, r *http.Request) {
		all := []map[string]any{
			{"name": "coder", "description": "writes", "tags": []string{"go"}, "status": "active"},
			{"name": "old", "description": "gone", "tags": []string{"go"}, "status": "inactive"},
			{"name": "tester", "description": "tests", "status": "active"},
		}
		if tag := r.URL.Query().Get("tags"); tag != "" {
			all = slices.DeleteFunc(all, func(a map[string]any) bool {
				tags, _ := a["tags"].([]string)
				return !slices.Contains(tags, tag)
			})
		}
		answer(w, 200, all)
	})
	mux.HandleFunc("POST /runs", func(w http.ResponseWriter, r *http.Request) {
		body := decode(r)
		if body["agent_name"] == "nobody" {
			answer(w, 404, map[string]any{"detail": "Agent not found: nobody"})
			return
		}
		f.change(func() { f.posted = append(f.posted, body) })
		answer(w, 200, map[string]any{"run_id": "run_c", "session_id": "ses_c", "status": "pending"})
	})
	looks := 0
	mux.HandleFunc("GET /runs/run_c", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		looks++
		last := f.posted[len(f.posted)-1]
		out := map[string]any{"status": []string{"pending", "running", "stopping", "completed"}[min(looks, 3)]}
		if text(last, "prompt") == "fail" {
			out = map[string]any{"status": "failed", "error": "it broke"}
		}
		answer(w, 200, out)
	})
	early := 1
	mux.HandleFunc("GET /sessions/{id}/result", func(w http.ResponseWriter, _ *http.Request) {
		if early > 0 {
			early--
			answer(w, 400, map[string]any{"detail": "Session not finished"})
			return
		}
		answer(w, 200, map[string]any{"result": strings.Repeat("é", 50_001)})
	})
	mux.HandleFunc("GET /sessions/{id}/status", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, map[string]any{"status": "finished"})
	})
	mux.HandleFunc("GET /sessions", func(w http.ResponseWriter, _ *http.Request) {
		list := []map[string]any{}
		for _, s := range [][2]string{{"ses_run_g", ""}, {"kid1", "ses_run_g"}, {"kid2", "ses_run_g"}, {"grandkid", "kid1"}, {"busy", "kid2"}, {"foreign", ""}} {
			list = append(list, map[string]any{"session_id": s[0], "parent_session_id": s[1], "status": "finished", "created_at": "t", "agent_name": nil})
		}
		answer(w, 200, map[string]any{"sessions": list})
	})
	mux.HandleFunc("DELETE /sessions/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "busy" {
			answer(w, 409, map[string]any{"detail": "Stop session first"})
			return
		}
		f.change(func() { f.deleted = append(f.deleted, r.PathValue("id")) })
		answer(w, 200, map[string]any{"ok": true})
	})
	f.Config.Handler = mux
	return f
}

// tool calls a tool over streamable HTTP and returns its answer's text.
func callTool(t *testing.T, endpoint, name string, args map[string]any, header ...string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	if err != nil {
		t.Fatal(err)
	}
	header = append(header, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	code, raw := send(t, "POST", endpoint, string(body), header...)
	if code != 200 {
		return fmt.Sprintf("%d %s", code, raw)
	}
	var out struct {
		Result struct {
			IsError bool                    `json:"isError"`
			Content []struct{ Text string } `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(raw), &out); err != nil || len(out.Result.Content) != 1 || out.Result.IsError {
		t.Fatalf("%s: %v %s", name, err, raw)
	}
	return out.Result.Content[0].Text
}

func TestOrchestratorTools(t *testing.T) {
	t.Parallel()
	f := orchestrated(newFake(t))
	r, j := living(t, f, f.config(t))
	endpoint := r.mcpURL(j)
	if got := callTool(t, endpoint, "list_agent_blueprints", nil); !strings.Contains(got, `"coder"`) || !strings.Contains(got, `"tester"`) || strings.Contains(got, `"old"`) {
		t.Errorf("blueprints %s", got)
	}
	if got := callTool(t, endpoint, "list_agent_blueprints", nil, "X-Agent-Tags", "go"); got != `[{"description":"writes","name":"coder","tags":["go"]}]` {
		t.Errorf("blueprints with a tag %s", got)
	}
	if got := callTool(t, endpoint, "list_agent_sessions", nil); !strings.Contains(got, `"foreign"`) || strings.Contains(got, "parent") {
		t.Errorf("sessions %s", got)
	}

	got := callTool(t, endpoint, "start_agent_session", map[string]any{"agent_name": "coder", "prompt": "do"},
		"X-Agent-Session-Id", "spoofed", "X-Additional-Demands", `{"tags":["gpu"]}`)
	if !strings.HasPrefix(got, `{"result":"éé`) || !strings.Contains(got, `[Result truncated at 50000 characters]","session_id":"ses_c"`) {
		t.Errorf("sync %.80s … %s", got, got[max(0, len(got)-100):])
	}
	posted := f.posted[len(f.posted)-1]
	if demands, _ := posted["additional_demands"].(map[string]any); posted["parent_session_id"] != "ses_run_g" || posted["execution_mode"] != "sync" || demands["tags"] == nil {
		t.Errorf("posted %v", posted)
	}
	got = callTool(t, endpoint, "start_agent_session", map[string]any{"agent_name": "coder", "prompt": "do", "mode": "async_callback"}, "X-Additional-Demands", "{bad")
	if got != `{"run_id":"run_c","session_id":"ses_c","status":"pending"}` {
		t.Errorf("async %s", got)
	}

	for _, tt := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"resume_agent_session", map[string]any{"session_id": "ses_c", "prompt": "fail"}, `{"error":"session ses_c failed: it broke"}`},
		{"resume_agent_session", map[string]any{"session_id": "ses_run_g", "prompt": "x"}, "cannot resume itself"},
		{"start_agent_session", map[string]any{"agent_name": "nobody", "prompt": "x"}, "Agent not found: nobody"},
		{"start_agent_session", map[string]any{"agent_name": "coder", "prompt": strings.Repeat("x", 100_001)}, "at most 100000"},
		{"start_agent_session", map[string]any{"agent_name": "coder", "prompt": "x", "mode": "later"}, `mode \"later\"`},
		{"get_agent_session_status", map[string]any{"session_id": "ses_c"}, `{"session_id":"ses_c","status":"finished"}`},
		{"get_agent_session_result", map[string]any{"session_id": "ses_c"}, `"session_id":"ses_c"`},
	} {
		if got := callTool(t, endpoint, tt.tool, tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: %.200s", tt.tool, tt.args["prompt"], got)
		}
	}
}

// TestDeleteAllStaysInTheCallersTree: not the caller, not others; children before parents; running ones are named.
func TestDeleteAllStaysInTheCallersTree(t *testing.T) {
	t.Parallel()
	f := orchestrated(newFake(t))
	r, j := living(t, f, f.config(t))
	got := callTool(t, r.mcpURL(j), "delete_all_agent_sessions", nil, "X-Agent-Session-Id", "foreign")
	if !strings.Contains(got, `"deleted_count":3`) || !strings.Contains(got, `"busy"`) {
		t.Errorf("answer %s", got)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Index(f.deleted, "grandkid") > slices.Index(f.deleted, "kid1") || slices.Contains(f.deleted, "foreign") || slices.Contains(f.deleted, "ses_run_g") {
		t.Errorf("deleted %v", f.deleted)
	}
}

// TestTheMCPServerKnowsItsCallers: without a token only when a port was chosen, and then only for sessions that run here.
func TestTheMCPServerKnowsItsCallers(t *testing.T) {
	t.Parallel()
	f := orchestrated(newFake(t))
	r, j := living(t, f, f.config(t))
	plain := "http://" + r.mcp.Addr().String() + "/mcp"
	if got := callTool(t, plain, "list_agent_sessions", nil); !strings.HasPrefix(got, "403") {
		t.Errorf("without a token: %s", got)
	}
	if got := callTool(t, strings.Replace(r.mcpURL(j), j.token, strings.Repeat("0", 64), 1), "list_agent_sessions", nil); !strings.HasPrefix(got, "403") {
		t.Errorf("with a wrong one: %s", got)
	}
	g := orchestrated(newFake(t))
	cfg := g.config(t)
	_, port, _ := strings.Cut(freeAddress(t), ":")
	cfg.MCPPort, _ = strconv.Atoi(port)
	r, _ = living(t, g, cfg)
	u := url.URL{Scheme: "http", Host: r.mcp.Addr().String(), Path: "/mcp"}
	if got := callTool(t, u.String(), "list_agent_sessions", nil); !strings.Contains(got, "foreign") {
		t.Errorf("with a port: %s", got)
	}
	if got := callTool(t, u.String(), "list_agent_sessions", nil, "X-Agent-Session-Id", "foreign"); !strings.HasPrefix(got, "403") {
		t.Errorf("as a session that does not run here: %s", got)
	}
	if got := callTool(t, u.String(), "delete_all_agent_sessions", nil); !strings.Contains(got, "names no session") {
		t.Errorf("delete by nobody: %s", got)
	}
	if got := callTool(t, u.String(), "start_agent_session", map[string]any{"agent_name": "coder", "prompt": "x", "mode": "async_callback"}); !strings.Contains(got, "async_callback needs") {
		t.Errorf("callback to nobody: %s", got)
	}
}
