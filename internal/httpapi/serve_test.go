package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
)

func TestNoticesComeWithReplies(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := w.door(nil)
	one := client.Notices{Notices: []client.Notice{{Kind: "info", Text: "hello", At: "now"}}, More: 1}
	w.notices = []client.Notices{one, {Notices: one.Notices}}
	for i, want := range []int{1, 1, 0, 0} {
		a := send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good)
		list, _ := a.body["notices"].([]any)
		if len(list) != want || (i == 0) != (a.body["notices_more"] != nil) {
			t.Errorf("call %d: %v", i, a.body)
		}
	}
	if w.asked != 2 {
		t.Errorf("asked %d times, want 2: once, and again because more were waiting", w.asked)
	}
	w.observe("n:1:3")
	w.observe("w:1:x")
	send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good)
	if w.asked != 2 {
		t.Error("news of another session made the door ask")
	}
	w.observe("n:1:2")
	send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good)
	w.observe("")
	send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good)
	if w.asked != 4 {
		t.Errorf("asked %d times, want 4", w.asked)
	}
	send(t, h, "GET", "/echo", "", good)
	if w.asked != 4 {
		t.Error("a read asked for notices")
	}
}

func TestOpenRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var dbErr error
	h := w.door(func(o *httpapi.Options) {
		o.Ping = func(context.Context) error { return dbErr }
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "coord_up 1\n") })
	})
	for _, path := range []string{"/health", "/live", "/ready", "/openapi.json", "/docs"} {
		if a := send(t, h, "GET", path, ""); a.Code != 200 || a.Body.Len() == 0 {
			t.Errorf("%s: %d", path, a.Code)
		}
		if a := send(t, h, "HEAD", path, ""); a.Code != 200 {
			t.Errorf("HEAD %s: %d", path, a.Code)
		}
	}
	if a := send(t, h, "GET", "/health", ""); a.body["status"] != "healthy" || a.body["db"] != "ok" || a.body["version"] != "v" {
		t.Errorf("health: %v", a.body)
	}
	if page := send(t, h, "GET", "/docs", "").Body.String(); strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("the page loads something from elsewhere")
	}
	if a := send(t, h, "GET", "/metrics", ""); a.Code != 401 { // httptest's client is 192.0.2.1
		t.Errorf("metrics from elsewhere: %d", a.Code)
	}
	if a := send(t, h, "GET", "/metrics", "", good); a.Code != 200 {
		t.Errorf("metrics with a key: %d", a.Code)
	}
}

func TestHealthWithoutDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld().door(func(o *httpapi.Options) {
		o.Ping = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() } // a database that hangs
	})
	began := time.Now()
	if a := send(t, h, "GET", "/health", ""); a.Code != 200 || a.body["db"] != "unavailable" || a.body["status"] != "degraded" {
		t.Errorf("health: %d %v", a.Code, a.body)
	}
	if a := send(t, h, "GET", "/ready", ""); a.Code != 503 || a.body["code"] != "unavailable" {
		t.Errorf("ready: %d %v", a.Code, a.body)
	}
	if took := time.Since(began); took > 1400*time.Millisecond {
		t.Errorf("took %s; clients give up after 1.5 s", took)
	}
}

func TestMCPIsBehindTheKey(t *testing.T) {
	t.Parallel()
	h := newWorld().door(func(o *httpapi.Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, ok := httpapi.PrincipalFrom(r.Context())
			if !ok {
				t.Error("no principal")
			}
			_, _ = io.WriteString(w, p.Name)
		})
	})
	if a := send(t, h, "POST", "/mcp", `{}`); a.Code != 401 {
		t.Errorf("without a key: %d", a.Code)
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if a := send(t, h, method, "/mcp", ``, good); a.Code != 200 || a.Body.String() != "key:good" {
			t.Errorf("%s: %d %s", method, a.Code, a.Body)
		}
	}
}

// serve runs the door on a real listener.
func serve(t *testing.T, s *httpapi.Server) (url string, stop context.CancelFunc, done chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done = make(chan error, 1)
	ended := make(chan struct{})
	go func() { defer close(ended); done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() { cancel(); <-ended })
	return "http://" + ln.Addr().String(), cancel, done
}

func post(ctx context.Context, url, body string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-API-Key", "good")
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func TestAStoppingServerAnswersWaitingCalls(t *testing.T) {
	t.Parallel()
	w := newWorld()
	url, stop, done := serve(t, w.door(nil))
	status := make(chan int, 1)
	go func() {
		code, _ := post(t.Context(), url+"/wait", `{"agent_id":"a","wait_seconds":50}`)
		status <- code
	}()
	<-w.waiting
	began := time.Now()
	stop()
	if code := <-status; code != 503 {
		t.Errorf("the waiting call got %d", code)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if _, err := post(t.Context(), url+"/echo", `{}`); err == nil {
		t.Error("a stopped server accepted a connection")
	}
}

func TestALeavingClientCancelsItsCall(t *testing.T) {
	t.Parallel()
	w := newWorld()
	url, stop, done := serve(t, w.door(nil))
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = post(ctx, url+"/wait", `{"agent_id":"a","wait_seconds":50}`)
	}()
	<-w.waiting
	leave()
	<-left
	// The call's goroutine ends by the cancelled context: the clean stop below would else take the whole drain.
	began := time.Now()
	stop()
	if err := <-done; err != nil || time.Since(began) > 3*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

func TestChunkedBodies(t *testing.T) {
	t.Parallel()
	url, _, _ := serve(t, newWorld().door(nil))
	for body, want := range map[string]int{`{"agent_id":"a"}`: 200, `{"name":"` + strings.Repeat("x", 2000) + `"}`: 413} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/echo", io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", "good")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%d bytes: %d", len(body), resp.StatusCode)
		}
	}
}

// discard is a ResponseWriter that costs nothing, so that a benchmark sees the door alone.
type discard struct{ h http.Header }

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkDoor is what the door and the pipeline add to an operation: routing, key, JSON both ways, validation.
func BenchmarkDoor(b *testing.B) {
	static, err := httpapi.NewKeys([]string{"env-key"}, "")
	if err != nil {
		b.Fatal(err)
	}
	h := newWorld().door(func(o *httpapi.Options) { o.Static, o.Notices = static, nil })
	req, err := http.NewRequestWithContext(b.Context(), "POST", "/echo", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-API-Key", "env-key")
	const body = `{"agent_id":"agent-1","agent_type":"codex","name":"src/main.go","count":30,"tags":["a","b"]}`
	req.ContentLength = int64(len(body))
	b.ReportAllocs()
	for b.Loop() {
		req.Body = io.NopCloser(strings.NewReader(body))
		h.ServeHTTP(&discard{http.Header{}}, req)
	}
}
