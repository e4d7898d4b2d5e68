package mcpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

const testKey = "test-key-0123456789"

// api serves the test catalogue over HTTP and returns an invoker for it.
func api(t testing.TB, w *world, notices httpapi.Notifier) *Remote {
	t.Helper()
	keys, err := httpapi.NewKeys([]string{testKey}, "")
	if err != nil {
		t.Fatal(err)
	}
	door := httpapi.New(w.catalogue(), pipeline(), httpapi.Options{Static: keys, Notices: notices})
	srv := httptest.NewServer(door)
	r, err := NewRemote(srv.URL+"/", testKey)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); door.Stop(); srv.Close() })
	return r
}

func TestRemote(t *testing.T) {
	t.Parallel()
	w := newWorld()
	told := NoticesFunc(func(context.Context, ident.Caller) (client.Notices, error) {
		return client.Notices{Notices: []client.Notice{{Kind: "info", Text: "hello", At: "2030-01-01T00:00:00Z"}}}, nil
	})
	c, _ := serve(t, New(w.catalogue(), api(t, w, told), Options{Identify: testProcess().Identify, CheckOutput: true}))
	c.hello("codex-mcp-client")
	got := structured(c.call("acquire_lock", map[string]any{"file_path": "a,b.go", "session_id": "mine"}, nil))
	if got["by"] != "codex-box-ana" || got["agent_type"] != "codex" || got["session"] != "mine" || got["file_path"] != "a,b.go" {
		t.Errorf("%v", got)
	}
	if n, _ := got["notices"].([]any); len(n) != 1 {
		t.Errorf("notices of the API's reply: %v", got["notices"])
	}
	if got := structured(c.call("check_locks", map[string]any{"file_paths": []any{"a,b"}, "limit": 2}, nil)); len(got["locks"].([]any)) != 2 {
		t.Errorf("%v", got)
	}
	res := c.call("acquire_lock", map[string]any{"file_path": "a", "reson": "x"}, nil)
	if res["isError"] != true || !strings.Contains(text(res), "reason") {
		t.Errorf("an unknown argument: %v", res)
	}
	if res := c.call("fail", nil, nil); res["isError"] != true || structured(res)["code"] != "internal" || structured(res)["request_id"] == nil {
		t.Errorf("%v", res)
	}
}

func TestRemoteCancelAndWait(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := api(t, w, nil)
	def := w.catalogue().Get("take_slowly")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.Call(ctx, def, op.Request{Claim: ident.Claim{Agent: "a"}, Args: map[string]any{"file_path": "x", "wait_seconds": 50.0}})
		done <- err
	}()
	<-w.inside
	cancel()
	<-w.gone // the operation on the other side noticed
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestRemoteUnavailable(t *testing.T) {
	t.Parallel()
	def := newWorld().catalogue().Get("check_locks")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Cleanup(page.Close)
	for _, base := range []string{page.URL, gone.URL} {
		r, err := NewRemote(base, "")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = r.Call(t.Context(), def, op.Request{})
		if !fault.Is(err, client.CodeUnavailable) || time.Since(start) > within {
			t.Errorf("%s: %v", base, err)
		}
		r.Close()
	}
	for _, bad := range []string{"", "localhost:80", "ftp://x"} {
		if _, err := NewRemote(bad, ""); err == nil {
			t.Errorf("NewRemote(%q) accepts it", bad)
		}
	}
}

func TestRemoteWrongKey(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := api(t, w, nil)
	r.key = "other"
	_, err := r.Call(t.Context(), w.catalogue().Get("check_locks"), op.Request{})
	if !fault.Is(err, client.CodeUnauthenticated) {
		t.Errorf("%v", err)
	}
}

func TestRequestSpelling(t *testing.T) {
	t.Parallel()
	r, err := NewRemote("http://h:1/base", "")
	if err != nil {
		t.Fatal(err)
	}
	req, err := r.request(t.Context(), op.Route{Method: "GET", Path: "/locks/status/*file_path"}, map[string]any{"file_path": "a b/ü?.go", "n": 3.0, "deep": map[string]any{"x": true}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := req.URL.String(), "http://h:1/base/locks/status/a%20b/%C3%BC%3F.go?deep=%7B%22x%22%3Atrue%7D&n=3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := r.request(t.Context(), op.Route{Method: "POST", Path: "/x/:id"}, nil); !fault.Is(err, client.CodeInvalid) {
		t.Errorf("%v", err)
	}
}
