package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// connect returns a client of a server that h answers for; both go with the test.
func connect(t *testing.T, h http.Handler, opts ...client.Option) *client.AgentCoordinationClient {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL+"/", "secret", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Every operation of the catalogue has its method: name in CamelCase, the same structs, the canonical route.
func TestEveryOperationHasItsMethod(t *testing.T) {
	t.Parallel()
	var method, path, key string
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, path, key = r.Method, r.URL.EscapedPath(), r.Header.Get("Idempotency-Key")
		_, _ = io.WriteString(w, "{}")
	}))
	for _, d := range ops.Catalogue(ops.Deps{}).Defs() {
		var name strings.Builder
		for part := range strings.SplitSeq(d.Name, "_") {
			name.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
		m := reflect.ValueOf(c).MethodByName(name.String())
		if !m.IsValid() {
			t.Errorf("%s: the client has no method %s", d.Name, name.String())
			continue
		}
		want := reflect.FuncOf([]reflect.Type{reflect.TypeFor[context.Context](), d.Types[0]}, []reflect.Type{d.Types[1], reflect.TypeFor[error]()}, false)
		if m.Type() != want {
			t.Errorf("%s: the method is %s, want %s", d.Name, m.Type(), want)
			continue
		}
		in := reflect.New(d.Types[0])
		wantPath := pathOf(t, d.Routes[0].Path, in.Interface())
		out := m.Call([]reflect.Value{reflect.ValueOf(t.Context()), in.Elem()})
		if err, _ := out[1].Interface().(error); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		if method != d.Routes[0].Method || path != wantPath {
			t.Errorf("%s: called %s %s, want %s %s", d.Name, method, path, d.Routes[0].Method, wantPath)
		}
		if (key != "") != (method != http.MethodGet) {
			t.Errorf("%s: Idempotency-Key %q with %s", d.Name, key, method)
		}
	}
}

// pathOf sets the members that a route names to "a b/c" and returns the path this gives.
func pathOf(t *testing.T, pattern string, in any) string {
	t.Helper()
	segments := strings.Split(pattern, "/")
	for i, seg := range segments {
		if seg == "" || (seg[0] != ':' && seg[0] != '*') {
			continue
		}
		raw, _ := json.Marshal(map[string]string{seg[1:]: "a b/c"})
		if err := json.Unmarshal(raw, in); err != nil {
			t.Fatal(err)
		}
		segments[i] = map[byte]string{':': "a%20b%2Fc", '*': "a%20b/c"}[seg[0]]
	}
	return strings.Join(segments, "/")
}

func TestMembersGoWhereTheRouteWants(t *testing.T) {
	t.Parallel()
	var query, body string
	var h http.Header
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		query, body, h = r.URL.RawQuery, string(raw), r.Header
		_, _ = io.WriteString(w, "{}")
	}), client.WithAgent("ana", "codex"), client.WithSession("s1"), client.WithProject("p"), client.WithRepository("r"))
	yes := true
	if _, err := c.QueryAudit(t.Context(), client.QueryAudit{AgentID: "a&b", Success: &yes, Limit: 5}); err != nil {
		t.Fatal(err)
	}
	if query != "agent_id=a%26b&limit=5&success=true" || body != "" {
		t.Errorf("query %q, body %q", query, body)
	}
	for name, want := range map[string]string{
		"X-Api-Key": "secret", "X-Agent-Id": "ana", "X-Agent-Type": "codex", "X-Session-Id": "s1", "X-Project": "p", "X-Repository": "r", "Idempotency-Key": "",
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, h.Get(name), want)
		}
	}
	if _, err := c.SendMessage(client.WithRequestKey(t.Context(), "mine"), client.SendMessage{To: []string{"bob"}, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if body != `{"text":"x","to":["bob"]}` || h.Get("Idempotency-Key") != "mine" {
		t.Errorf("body %s, key %q", body, h.Get("Idempotency-Key"))
	}
	_, err := c.RevokeKey(t.Context(), client.RevokeKey{})
	var e *client.Error
	if !errors.As(err, &e) || e.Code != client.CodeInvalid || e.Field != "name" {
		t.Errorf("an empty path member: %v", err)
	}
}

func TestRepeatsUntilTheServiceIsBack(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var keys []string
	answers := []int{503, 0, 502, 200} // 0: the connection breaks
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch status := answers[len(keys)-1]; status {
		case 0:
			panic(http.ErrAbortHandler)
		case 200:
			_, _ = io.WriteString(w, `{"success": true, "message_id": "m"}`)
		default:
			w.WriteHeader(status)
		}
	}))
	got, err := c.SendMessage(t.Context(), client.SendMessage{To: []string{"bob"}, Text: "x"})
	if err != nil || got.MessageID != "m" {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(keys) != 4 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] || keys[2] != keys[3] {
		t.Fatalf("the tries are not one change: %q", keys)
	}
}

// A service that asks for patience gets it: Retry-After is waited out, from a body as from a proxy's bare answer, and a call
// whose time does not suffice gives up at once.
func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	const problem = `{"status":429,"code":"exhausted","what":"too many requests with this key","retryable":true,"retry_after":1}`
	for name, body := range map[string]string{"problem": problem, "bare": "slow down"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var at []time.Time
			c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if at = append(at, time.Now()); len(at) == 1 {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusTooManyRequests)
					_, _ = io.WriteString(w, body)
					return
				}
				_, _ = io.WriteString(w, `{"projects": [], "count": 0}`)
			}))
			if _, err := c.ListProjects(t.Context(), client.None{}); err != nil {
				t.Fatal(err)
			}
			if len(at) != 2 || at[1].Sub(at[0]) < time.Second {
				t.Errorf("%v", at)
			}
			at = nil
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			var e *client.Error
			if _, err := c.ListProjects(ctx, client.None{}); !errors.As(err, &e) || e.Code != client.CodeExhausted || e.RetryAfter != 1 || ctx.Err() != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestFailuresAreTyped(t *testing.T) {
	t.Parallel()
	const problem = `{"type":"about:blank","title":"Gone","status":410,"detail":"d","code":"lease_lost","what":"stale","next":"get_work","retryable":false}`
	tries := 0
	var status int
	var answer string
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tries++
		if status == http.StatusFound {
			w.Header().Set("Location", "https://elsewhere.example/")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}), client.WithRetries(1), client.WithMaxReply(1000))
	for _, tc := range []struct {
		status int
		answer string
		code   client.Code
		tries  int
	}{
		{410, problem, client.CodeLeaseLost, 1},
		{401, `{"detail":"Invalid API key"}`, client.CodeUnauthenticated, 1},
		{422, "no json", client.CodeInvalid, 1},
		{409, "", client.CodeConflict, 1},
		{500, "", client.CodeInternal, 2},
		{503, "<html>", client.CodeUnavailable, 2},
		{302, "", client.CodeInternal, 1},
		{200, strings.Repeat(" ", 1001), client.CodeTooLarge, 1},
		{200, "<html>", client.CodeInternal, 1},
	} {
		tries, status, answer = 0, tc.status, tc.answer
		_, err := c.Whoami(t.Context(), client.None{})
		var e *client.Error
		if !errors.As(err, &e) || e.Code != tc.code || e.What == "" {
			t.Errorf("%d %.20q: %v, want %s", tc.status, tc.answer, err, tc.code)
		}
		if tries != tc.tries {
			t.Errorf("%d: %d tries, want %d", tc.status, tries, tc.tries)
		}
	}
}

func TestContextEndsTheCall(t *testing.T) {
	t.Parallel()
	arrived, leave := make(chan struct{}), make(chan struct{})
	c := connect(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-leave
	}))
	defer close(leave)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := c.Whoami(ctx, client.None{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	// Too little time for another try: the last answer, not a bare timeout.
	away, err := client.New("http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	short, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	_, err = away.Whoami(short, client.None{})
	var e *client.Error
	if !errors.As(err, &e) || e.Code != client.CodeUnavailable {
		t.Fatalf("%v", err)
	}
	if _, err := client.New("localhost:8765", ""); err == nil {
		t.Fatal("an address without a scheme was taken")
	}
}

// service is the real door on a database of its own.
func service(t *testing.T) *httpapi.Server {
	t.Helper()
	door, err := doorTo(pgtest.New(t, pgtest.MaxConns(4)), "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(door.Stop)
	return door
}

// The SDK against the real door and database.
func TestAgainstTheService(t *testing.T) {
	t.Parallel()
	door := service(t)
	ana := connect(t, door, client.WithAgent("ana", "codex"), client.WithSession("s"), client.WithProject("demo"))
	bob := connect(t, door, client.WithAgent("bob", "codex"), client.WithProject("demo"))
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	me, err := ana.Whoami(ctx, client.None{})
	must(err)
	if me.AgentID != "ana" || me.Project != "demo" || me.SessionID != "s" {
		t.Fatalf("%+v", me)
	}
	lock, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: "dir/a b,&?.go"})
	must(err)
	held, err := bob.IsFileLocked(ctx, "dir/a b,&?.go")
	must(err)
	if !lock.Success || !held {
		t.Fatalf("lock %+v, held %v", lock, held)
	}
	_, err = bob.Heartbeat(ctx, client.Heartbeat{})
	must(err)
	_, err = ana.SendMessage(ctx, client.SendMessage{To: []string{"bob"}, Text: "mine"})
	must(err)
	mail, err := bob.ListMessages(ctx, client.ListMessages{WaitSeconds: 1})
	must(err)
	if mail.Count != 1 || mail.Messages[0].From != "ana" {
		t.Fatalf("%+v", mail)
	}
	who, err := bob.WhoIsActive(ctx, client.WhoIsActive{})
	must(err)
	if who.Count != 2 {
		t.Fatalf("%+v", who)
	}
	_, err = bob.CreateKey(ctx, client.CreateKey{Name: "x"})
	var e *client.Error
	if !errors.As(err, &e) || e.Code != client.CodeForbidden || e.RequestID == "" {
		t.Fatalf("%v", err)
	}
	_, err = ana.EndSession(ctx, client.EndSession{})
	must(err)
	if held, err = bob.IsFileLocked(ctx, "dir/a b,&?.go"); held || err != nil {
		t.Fatalf("%v, %v", held, err)
	}
}
