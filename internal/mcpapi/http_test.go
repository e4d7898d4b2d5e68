package mcpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// httpDoor serves the test catalogue at a URL; every request is principal's.
func httpDoor(t testing.TB, w *world, p ident.Principal) (*Door, string) {
	t.Helper()
	door := New(w.catalogue(), pipeline(), Options{Identify: IdentifyHTTP, CheckOutput: true})
	h, closeStreams := door.HTTPHandler(func(context.Context) (ident.Principal, bool) { return p, p.Name != "" })
	srv := httptest.NewServer(h)
	t.Cleanup(func() { closeStreams(context.Background()); srv.Close() })
	return door, srv.URL
}

// post sends one message and returns the messages of the answer, a stream's included, and the session id.
func post(t testing.TB, url string, header map[string]string, method string, params map[string]any) (messages []map[string]any, session string) {
	t.Helper()
	res := postRaw(t, url, header, method, params)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.SplitSeq(string(raw), "\n") {
		l = strings.TrimPrefix(l, "data: ")
		var m map[string]any
		if json.Unmarshal([]byte(l), &m) == nil && m["jsonrpc"] != nil {
			messages = append(messages, m)
		}
	}
	if len(messages) == 0 {
		t.Fatalf("%s: %d %s", method, res.StatusCode, raw)
	}
	return messages, res.Header.Get("Mcp-Session-Id")
}

func postRaw(t testing.TB, url string, header map[string]string, method string, params map[string]any) *http.Response {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// modern is what a client of 2026-07-28 sends with every request.
func modern(method, name string) (header map[string]string, meta map[string]any) {
	return map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name},
		map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "codex", "version": "1"},
		}
}

var writer = ident.Principal{Name: "key:ci", Scopes: []ident.Scope{ident.Read, ident.Write}}

func TestHTTPBothEras(t *testing.T) {
	t.Parallel()
	w := newWorld()
	_, url := httpDoor(t, w, writer)
	m, session := post(t, url, nil, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "cursor-vscode", "version": "1"}})
	if m[0]["result"] == nil || session == "" {
		t.Fatalf("%v, session %q", m, session)
	}
	old := map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}
	m, _ = post(t, url, old, "tools/call", map[string]any{"name": "acquire_lock", "arguments": map[string]any{"file_path": "a"}})
	res, _ := m[0]["result"].(map[string]any)
	if got := structured(res); got["by"] != "ci" || got["session"] != session {
		t.Errorf("without headers the key acts under its own name: %v", got)
	}
	old["X-Agent-Id"], old["X-Agent-Type"], old["X-Session-Id"] = "ana-1", "cursor", "s1"
	m, _ = post(t, url, old, "tools/call", map[string]any{"name": "acquire_lock", "arguments": map[string]any{"file_path": "a"}})
	res, _ = m[0]["result"].(map[string]any)
	if got := structured(res); got["by"] != "ana-1" || got["agent_type"] != "cursor" || got["session"] != "s1" {
		t.Errorf("%v", got)
	}
	header, meta := modern("tools/call", "acquire_lock")
	m, _ = post(t, url, header, "tools/call", map[string]any{"name": "acquire_lock", "arguments": map[string]any{"file_path": "a"}, "_meta": meta})
	res, _ = m[0]["result"].(map[string]any)
	if got := structured(res); got["by"] != "ci" || got["agent_type"] != "codex" {
		t.Errorf("%v", m)
	}
}

func TestHTTPProgressArrives(t *testing.T) {
	t.Parallel()
	w := newWorld()
	close(w.block)
	_, url := httpDoor(t, w, writer)
	for i := range 10 {
		header, meta := modern("tools/call", "take_slowly")
		meta["progressToken"] = "p"
		m, _ := post(t, url, header, "tools/call", map[string]any{"name": "take_slowly", "arguments": map[string]any{"file_path": "a"}, "_meta": meta})
		if len(m) != 3 || m[0]["method"] != "notifications/progress" || m[1]["method"] != "notifications/progress" || m[2]["result"] == nil {
			t.Fatalf("call %d: %v", i, m)
		}
	}
}

func TestHTTPWithoutPrincipal(t *testing.T) {
	t.Parallel()
	_, url := httpDoor(t, newWorld(), ident.Principal{})
	header, meta := modern("tools/call", "check_locks")
	m, _ := post(t, url, header, "tools/call", map[string]any{"name": "check_locks", "_meta": meta})
	res, _ := m[0]["result"].(map[string]any)
	if res["isError"] != true || structured(res)["code"] != "unauthenticated" {
		t.Errorf("%v", m)
	}
}

func TestHTTPListenersAreTold(t *testing.T) {
	t.Parallel()
	door, url := httpDoor(t, newWorld(), writer)
	header, meta := modern("subscriptions/listen", "")
	delete(header, "Mcp-Name")
	res := postRaw(t, url, header, "subscriptions/listen", //nolint:bodyclose // closed below; the linter does not follow postRaw
		map[string]any{"_meta": meta, "notifications": map[string]any{"resourceSubscriptions": []string{uriLocks}}})
	defer res.Body.Close()
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(res.Body)
		for sc.Scan() {
			if l, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
				lines <- l
			}
		}
	}()
	next := func() string {
		select {
		case l := <-lines:
			return l
		case <-time.After(within):
			t.Fatal("no event in time")
			return ""
		}
	}
	if l := next(); !strings.Contains(l, "acknowledged") {
		t.Fatalf("first %s", l)
	}
	news := &fakeNews{}
	stop := door.Watch(news, nil)
	defer stop()
	if l := next(); !strings.Contains(l, uriLocks) || !strings.Contains(l, "subscriptionId") {
		t.Errorf("%s", l)
	}
	news.tell("r:1:locks")
	if l := next(); !strings.Contains(l, uriLocks) {
		t.Errorf("%s", l)
	}
}
