package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// living starts a runner with one run that lasts, and returns the run's job.
func living(t *testing.T, f *fake, cfg Config) (*Runner, *job) {
	t.Helper()
	r, _ := f.starts(t, cfg)
	f.give("run_g", "test:sleep 5m")
	f.until("the bind", func() bool { return f.bound["ses_run_g"] != nil })
	r.mu.Lock()
	defer r.mu.Unlock()
	return r, r.jobs["run_g"]
}

// send does one request and returns the status and the body.
func send(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(bytes.TrimSpace(raw))
}

func TestGateway(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, j := living(t, f, f.config(t))
	base, open := r.gatewayURL(j), "http://"+r.gateway.Addr().String()
	tests := []struct {
		name, method, url, body string
		status                  int
		text                    string
	}{
		{"no token", "POST", open + "/bind", `{}`, 403, "needs the URL"},
		{"wrong token", "POST", open + "/r/" + strings.Repeat("0", 64) + "/bind", `{}`, 403, "needs the URL"},
		{"bind without body", "POST", base + "/bind", ``, 400, "Request body required"},
		{"bind without session", "POST", base + "/bind", `{"executor_session_id":"x"}`, 400, "session_id required"},
		{"bind without own session", "POST", base + "/bind", `{"session_id":"ses_run_g"}`, 400, "executor_session_id required"},
		{"bad JSON", "POST", base + "/events", `{`, 400, "Invalid JSON"},
		{"foreign session", "POST", base + "/events", `{"session_id":"ses_other"}`, 403, "not this run's"},
		{"event", "POST", base + "/events", `{"session_id":"ses_run_g","event_type":"post_tool","tool_output":12345678901234567890}`, 200, "ok"},
		{"metadata", "PATCH", base + "/metadata", `{"session_id":"ses_run_g","last_resumed_at":"now"}`, 200, "ok"},
		{"use without a key", "POST", base + "/usage", `{"session_id":"ses_run_g","reports":[{}]}`, 400, "needs a key"},
		{"use of another session", "POST", base + "/usage", `{"session_id":"ses_other","reports":[]}`, 403, "not this run's"},
		{"use", "POST", base + "/usage", `{"session_id":"ses_run_g","reports":[{"key":"opus","agent":"somebody","input_tokens":12345678901234567}]}`, 200, "counted"},
		{"passed on", "GET", base + "/agents/nobody?raw=true", ``, 404, "Agent not found: nobody"},
		{"as the runner", "POST", base + "/runner/heartbeat", `{}`, 403, "act as the runner"},
		{"as the runner, disguised", "POST", base + "/x/..%2frunner/heartbeat", `{}`, 403, "act as the runner"},
		{"as the runner, dots", "POST", base + "/x/%2e%2e/runner/heartbeat", `{}`, 403, "act as the runner"},
		{"removing runners", "DELETE", base + "/runners/x", ``, 403, "act as the runner"},
	}
	for _, tt := range tests {
		if code, body := send(t, tt.method, tt.url, tt.body); code != tt.status || !strings.Contains(body, tt.text) {
			t.Errorf("%s: %d %s", tt.name, code, body)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := f.posted[0]; got["session_id"] != nil || got["last_resumed_at"] != "now" {
		t.Errorf("metadata sent: %v", got)
	}
	if len(f.used) != 1 {
		t.Fatalf("use sent: %v", f.used)
	}
	use, _ := f.used[0]["reports"].([]any)[0].(map[string]any)
	if use["key"] != "run:"+j.RunID+":opus" || use["run_id"] != j.RunID || use["session"] != j.SessionID || use["agent"] != agentID(j) || use["source"] != "executor" {
		t.Errorf("use sent: %v", use)
	}
}

// TestTheGatewayWaitsForTheCoordinator: executors do not notice a restart.
func TestTheGatewayWaitsForTheCoordinator(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r, j := living(t, f, f.config(t))
	f.change(func() { f.down = 3 })
	code, body := send(t, "POST", r.gatewayURL(j)+"/events", `{"session_id":"ses_run_g","event_type":"message"}`)
	if code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

// TestCredentials: the key goes to the coordinator and stays away from executors; the session's identity goes along.
func TestCredentials(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	headers := make(chan http.Header, 1)
	inner := f.Config.Handler
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/locks/acquire" {
			headers <- r.Header
		}
		inner.ServeHTTP(w, r)
	})
	cfg := f.config(t)
	cfg.APIKey, cfg.Project = "the-key", "acme/app"
	cfg.Env = []string{"PATH=/bin", "COORDINATION_API_KEY=the-key", "AGENT_SESSION_ID=outer", "SESSION_ID=outer"}
	r, j := living(t, f, cfg)
	send(t, "POST", r.gatewayURL(j)+"/locks/acquire", `{}`, "Content-Type", "application/json", "Authorization", "Bearer other", "X-Session-Id", "other")
	h := <-headers
	if h.Get("Authorization") != "Bearer the-key" || h.Get("X-Session-Id") != "ses_run_g" || h.Get("X-Project") != "acme/app" || h.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", h)
	}
	env := strings.Join(r.environment(j), "\n")
	if strings.Contains(env, "the-key") || strings.Contains(env, "outer") || !strings.Contains(env, "AGENT_SESSION_ID=ses_run_g") ||
		!strings.Contains(env, "AGENT_ORCHESTRATOR_API_URL="+r.gatewayURL(j)) {
		t.Errorf("environment:\n%s", env)
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	values := map[string]string{"AGENT_SESSION_ID": "ses_1", "AGENT_ORCHESTRATOR_MCP_URL": "http://m/mcp"}
	in := `{"name":"a","system_prompt":"${AGENT_SESSION_ID} stays","mcp_servers":{"o":{"url":"${AGENT_ORCHESTRATOR_MCP_URL}",` +
		`"headers":{"X-Agent-Session-Id":"${AGENT_SESSION_ID}","Authorization":"${MY_TOKEN}"}},"s":{"type":"stdio","command":"c","args":["--s=${AGENT_SESSION_ID}"]}}}`
	raw, err := resolve(json.RawMessage(in), values)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"${AGENT_SESSION_ID} stays"`, `"url":"http://m/mcp"`, `"X-Agent-Session-Id":"ses_1"`, `"Authorization":"${MY_TOKEN}"`, `"--s=ses_1"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
	if raw, err := resolve(nil, values); err != nil || raw != nil {
		t.Errorf("no blueprint: %s %v", raw, err)
	}
}

func TestTails(t *testing.T) {
	t.Parallel()
	out := &tail{keep: 10}
	for _, s := range []string{"a", strings.Repeat("b", 50), "c\x00d\xff", "the end"} {
		if n, err := out.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := out.String(); got != "[52 bytes before]… d\uFFFDthe end" {
		t.Errorf("%q", got)
	}
}
