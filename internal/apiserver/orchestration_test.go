package apiserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// seed speaks to servers as clients of the older service do: no key, no headers.
type seed struct {
	t    testing.TB
	http *http.Client
}

func newSeed(t testing.TB) seed {
	t.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(tr.CloseIdleConnections)
	return seed{t, &http.Client{Transport: tr, Timeout: 40 * time.Second}}
}

// send returns status and body; a body that is JSON is decoded.
func (s seed) send(method, url, body string) (int, any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.http.Do(req)
	if err != nil {
		s.t.Error(err)
		return 0, nil
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Error(err)
	}
	var out any
	_ = json.Unmarshal(raw, &out)
	return res.StatusCode, out
}

// text fetches a page.
func (s seed) text(url string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET", url, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// is sends and checks the status; the answer's members are returned.
func (s seed) is(status int, method, url, body string) map[string]any {
	s.t.Helper()
	got, out := s.send(method, url, body)
	if got != status {
		s.t.Fatalf("%s %s: %d %v, want %d", method, url, got, out, status)
	}
	m, _ := out.(map[string]any)
	return m
}

func open(t testing.TB, dsn string, more map[string]string) string {
	t.Helper()
	vars := map[string]string{"AUTH_ENABLED": "false", "COORDINATION_API_KEYS": ""}
	for k, v := range more {
		vars[k] = v
	}
	return start(t, configured(t, dsn, vars))
}

// TestCurlLinesOfTheSeed: the calls printed in the older service's documents work as printed.
func TestCurlLinesOfTheSeed(t *testing.T) {
	t.Parallel()
	s, url := newSeed(t), open(t, pgtest.DSN(t), nil)
	r := s.is(200, "POST", url+"/runner/register", `{"hostname": "test", "project_dir": "/tmp", "executor_profile": "coding",
		"executor": {"type": "claude-code", "command": "...", "config": {}}, "tags": ["python"]}`)
	if r["poll_endpoint"] != "/runner/runs" || r["poll_timeout_seconds"] != 30.0 || r["heartbeat_interval_seconds"] != 60.0 || r["runner_id"] != "lnch_8ef1ddae2c87" && !strings.HasPrefix(asText(r["runner_id"]), "lnch_") {
		t.Errorf("%v", r)
	}
	dup := s.is(409, "POST", url+"/runner/register", `{"hostname": "test", "project_dir": "/tmp", "executor_profile": "coding", "executor": null, "tags": null}`)
	if d, _ := dup["detail"].(map[string]any); d["error"] != "duplicate_runner" || d["runner_id"] != r["runner_id"] || d["hostname"] != "test" {
		t.Errorf("%v", dup)
	}
	list, _ := s.is(200, "GET", url+"/runners", "")["runners"].([]any)
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	if one, _ := list[0].(map[string]any); one["status"] != "online" || one["require_matching_tags"] != false || fmt.Sprint(one["tags"]) != "[python]" || one["executor"] == nil {
		t.Errorf("%v", list)
	}
	if h := s.is(200, "GET", url+"/health", ""); h["status"] != "healthy" {
		t.Errorf("%v", h)
	}
	missing := s.is(422, "POST", url+"/runs", `{"type": "start_session"}`)
	if d, _ := missing["detail"].([]any); len(d) != 1 || fmt.Sprint(d[0].(map[string]any)["loc"]) != "[body prompt]" || d[0].(map[string]any)["type"] != "missing" {
		t.Errorf("%v", missing)
	}
	if _, bare := s.send("GET", url+"/agents", ""); bare == nil || len(bare.([]any)) != 0 {
		t.Errorf("agents: %v", bare)
	}
	s.is(201, "POST", url+"/agents", `{"name": "a", "description": "d", "mcp_servers": {"x": {"command": "c", "args": ["${AGENT_SESSION_ID}"]}}}`)
	a := s.is(200, "GET", url+"/agents/a?raw=true", "")
	if _, has := a["system_prompt"]; has || a["status"] != "active" || fmt.Sprint(a["mcp_servers"]) != "map[x:map[args:[${AGENT_SESSION_ID}] command:c type:stdio]]" {
		t.Errorf("%v", a)
	}
	s.is(400, "POST", url+"/agents", `{"name": "../x", "description": "d"}`)
	for _, server := range []string{`{"command": "c", "colour": 1}`, `{}`, `{"type": "http"}`, `{"url": "u", "command": "c"}`} {
		s.is(422, "POST", url+"/agents", `{"name": "b", "description": "d", "mcp_servers": {"x": `+server+`}}`)
		s.is(422, "PATCH", url+"/agents/a", `{"mcp_servers": {"x": `+server+`}}`)
		s.is(422, "POST", url+"/capabilities", `{"name": "b", "description": "d", "mcp_servers": {"x": `+server+`}}`)
	}
	s.is(404, "GET", url+"/agents/b", "")
	s.is(204, "DELETE", url+"/agents/a", "")
	if e := s.is(404, "GET", url+"/agents/a", ""); e["detail"] != "Agent not found: a" {
		t.Errorf("%v", e)
	}
	if e := s.is(404, "GET", url+"/sessions/ses_x", ""); e["detail"] != "Session not found" {
		t.Errorf("%v", e)
	}
	s.is(200, "POST", url+"/events", `{"event_type": "session_start", "session_id": "ses_old", "timestamp": "2026-01-01T00:00:00"}`)
	if e := s.is(400, "POST", url+"/sessions/ses_old/events", `{"event_type": "message", "session_id": "ses_other", "timestamp": "t"}`); e["detail"] != "Event session_id must match URL session_id" {
		t.Errorf("%v", e)
	}
	s.is(200, "GET", url+"/events/ses_old", "")
	s.is(401, "GET", url+"/runner/runs?runner_id=lnch_x", "")
	s.is(422, "GET", url+"/runner/runs", "")
	s.is(401, "POST", url+"/runner/heartbeat", `{"runner_id": "lnch_x"}`)
	s.is(200, "DELETE", fmt.Sprintf("%s/runners/%s", url, r["runner_id"]), "")
	if out := s.is(200, "GET", fmt.Sprintf("%s/runner/runs?runner_id=%s", url, r["runner_id"]), ""); out["deregistered"] != true {
		t.Errorf("%v", out)
	}
}

// TestTwoServersOneDatabase: a runner polls at one, the run is created at the other; 50 pollers, each run goes to one.
func TestTwoServersOneDatabase(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s, a, b := newSeed(t), open(t, dsn, nil), open(t, dsn, nil)
	const pollers = 50
	var got sync.Map
	var n atomic.Int32
	var wg sync.WaitGroup
	for i := range pollers {
		id := s.is(200, "POST", a+"/runner/register", fmt.Sprintf(`{"hostname": "h%d", "project_dir": "/w", "executor_profile": "p"}`, i))["runner_id"]
		wg.Go(func() {
			base := a
			if i%2 == 1 {
				base = b
			}
			status, out := s.send("GET", fmt.Sprintf("%s/runner/runs?runner_id=%s", base, id), "")
			m, _ := out.(map[string]any)
			run, _ := m["run"].(map[string]any)
			if status != 200 || run["status"] != "claimed" {
				t.Errorf("poll: %d %v", status, out)
				return
			}
			if _, twice := got.LoadOrStore(run["run_id"], true); twice {
				t.Errorf("%v was claimed twice", run["run_id"])
			}
			n.Add(1)
		})
	}
	for range pollers {
		s.is(200, "POST", a+"/runs", `{"type": "start_session", "prompt": "x"}`)
	}
	wg.Wait()
	if n.Load() != pollers {
		t.Errorf("%d of %d", n.Load(), pollers)
	}
}

// TestAPollIsWokenByAnotherServer: far sooner than any re-check.
func TestAPollIsWokenByAnotherServer(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s, a, b := newSeed(t), open(t, dsn, nil), open(t, dsn, nil)
	id := s.is(200, "POST", a+"/runner/register", `{"hostname": "h", "project_dir": "/w", "executor_profile": "p"}`)["runner_id"]
	best := time.Hour
	for range 3 {
		type answer struct {
			at  time.Time
			out map[string]any
		}
		done := make(chan answer, 1)
		go func() {
			_, out := s.send("GET", fmt.Sprintf("%s/runner/runs?runner_id=%s", a, id), "")
			m, _ := out.(map[string]any)
			done <- answer{time.Now(), m}
		}()
		run := s.is(200, "POST", b+"/runs", `{"type": "start_session", "prompt": "x"}`)
		posted := time.Now()
		got := <-done
		if r, _ := got.out["run"].(map[string]any); r["run_id"] != run["run_id"] {
			t.Fatalf("%v", got.out)
		}
		best = min(best, got.at.Sub(posted))
	}
	if best > 2*time.Second {
		t.Errorf("the best of three took %s", best)
	}
}

// frames reads an event stream.
type frames struct{ lines *bufio.Scanner }

func (f frames) next(t testing.TB) (id, event string, data map[string]any) {
	t.Helper()
	for f.lines.Scan() {
		line := f.lines.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "event: "):
			event = line[7:]
		case strings.HasPrefix(line, "data: "):
			if err := json.Unmarshal([]byte(line[6:]), &data); err != nil {
				t.Fatal(err)
			}
		case line == "" && event != "":
			return id, event, data
		}
	}
	t.Fatalf("the stream ended: %v", f.lines.Err())
	return "", "", nil
}

func (s seed) sse(url, last string) frames {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", url, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := s.http.Do(req) //nolint:bodyclose // closed in the cleanup
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cancel(); _ = res.Body.Close() })
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") || res.Header.Get("X-Accel-Buffering") != "no" {
		s.t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	return frames{bufio.NewScanner(res.Body)}
}

func TestLiveViews(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s, a, b := newSeed(t), open(t, dsn, nil), open(t, dsn, nil)
	sse := s.sse(a+"/sse/sessions", "")
	if id, event, data := sse.next(t); event != "init" || !strings.Contains(id, "-ini-") || data["sessions"] == nil {
		t.Fatalf("%s %s %v", id, event, data)
	}
	ws, _, err := websocket.Dial(t.Context(), strings.Replace(a, "http", "ws", 1)+"/ws", &websocket.DialOptions{HTTPClient: &http.Client{Transport: s.http.Transport}}) //nolint:bodyclose // the library's
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	frame := func() map[string]any {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, raw, err := ws.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if f := frame(); f["type"] != "init" {
		t.Fatalf("%v", f)
	}
	if err := ws.Write(t.Context(), websocket.MessageText, []byte("ignored")); err != nil {
		t.Fatal(err)
	}
	run := s.is(200, "POST", b+"/runs", `{"type": "start_session", "prompt": "x"}`)
	ses := asText(run["session_id"])
	s.is(200, "POST", b+"/sessions/"+ses+"/bind", `{"executor_session_id": "e", "hostname": "h", "executor_profile": "p"}`)
	s.is(200, "POST", b+"/sessions/"+ses+"/events", `{"event_type": "message", "session_id": "`+ses+`", "timestamp": "t", "role": "user", "content": [{"type": "text", "text": "x"}]}`)
	s.is(200, "POST", b+"/sessions/"+ses+"/events", `{"event_type": "session_stop", "session_id": "`+ses+`", "timestamp": "t", "exit_code": 0}`)
	want := []string{"session_created", "run_created", "session_updated", "event", "session_updated", "event"}
	var ids []string
	for i, w := range want {
		id, event, data := sse.next(t)
		ids = append(ids, id)
		f := frame()
		if event != w || f["type"] != w {
			t.Fatalf("frame %d is %s and %v, want %s", i, event, f["type"], w)
		}
		if w == "event" {
			if e, _ := data["data"].(map[string]any); e["session_id"] != ses || e["id"] != nil {
				t.Errorf("%v", data)
			}
		}
	}
	again := s.sse(b+"/sse/sessions?session_id="+ses, ids[3]) // replay at the other server
	if id, event, _ := again.next(t); id != ids[4] || event != "session_updated" {
		t.Errorf("%s %s, want %s", id, event, ids[4])
	}
	s.is(200, "DELETE", a+"/sessions/"+ses, "")
	for {
		if _, event, data := again.next(t); event == "session_deleted" {
			if data["session_id"] != ses || data["runs_deleted"] != 1.0 {
				t.Errorf("%v", data)
			}
			break
		}
	}
}

// A changeset's way to its verdict is seen live, at every server.
func TestLiveChangesets(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s, a, b := newSeed(t), open(t, dsn, nil), open(t, dsn, nil)
	sse := s.sse(b+"/sse/sessions", "")
	if _, event, _ := sse.next(t); event != "init" {
		t.Fatal(event)
	}
	head := strings.Repeat("a", 40)
	made := s.is(200, "POST", a+"/changesets", `{"agent_id": "ana", "repository": "git.example/acme/shop", "branch": "fix", "head_sha": "`+head+`"}`)
	for _, want := range []string{"received", "cancelled"} {
		id, event, data := sse.next(t)
		c, _ := data["changeset"].(map[string]any)
		if event != "changeset_updated" || !strings.Contains(id, "-csu-") || c["state"] != want || c["head_sha"] != head || c["changeset_id"] != made["changeset_id"] {
			t.Fatalf("%s %s %v, want %s", id, event, data, want)
		}
		if want == "received" {
			s.is(200, "POST", a+"/changesets/"+asText(made["changeset_id"])+"/cancel", `{}`)
		}
	}
	if got := s.is(200, "GET", b+"/verification?head_sha="+head, ""); got["state"] != "cancelled" || got["decided"] != true {
		t.Errorf("%v", got)
	}
	if got := s.is(200, "POST", b+"/policies/simulate", `{"files": [{"path": "main.py", "status": "added", "additions": 3, "deletions": 0}], "trust_level": 2}`); len(got["tiers"].([]any)) != 2 {
		t.Errorf("%v", got)
	}
}
