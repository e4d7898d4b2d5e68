package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type echo struct {
	Name  string         `json:"name,omitempty" maxLength:"50"`
	Count int            `json:"count,omitempty" minimum:"0" maximum:"100"`
	Rate  float64        `json:"rate,omitempty"`
	Loud  bool           `json:"loud,omitempty"`
	Tags  []string       `json:"tags,omitempty"`
	Nums  []int          `json:"nums,omitempty"`
	Data  map[string]any `json:"data,omitempty"`
	Wait  float64        `json:"wait_seconds,omitempty" minimum:"0" maximum:"55"`
}

type echoed struct {
	Success bool   `json:"success"`
	In      echo   `json:"in"`
	Agent   string `json:"agent"`
	By      string `json:"by"`
	Session string `json:"session"`
	Project string `json:"project"`
	Key     string `json:"key"`
}

// world is a door without a database: fakes for whom the pipeline and the door ask.
type world struct {
	mu      sync.Mutex
	keys    map[string]ident.Principal
	authErr error
	notices []client.Notices
	asked   int
	observe func(topic string)
	stored  map[string]json.RawMessage
	waiting chan struct{} // receives when a waiting call began
}

func (w *world) Authenticate(_ context.Context, key string) (ident.Principal, error) {
	if w.authErr != nil {
		return ident.Principal{}, w.authErr
	}
	if p, ok := w.keys[key]; ok {
		return p, nil
	}
	return ident.Principal{}, fault.New(client.CodeUnauthenticated, "Invalid API key", "", "")
}

func (w *world) Resolve(_ context.Context, p ident.Principal, c ident.Claim, acts bool) (ident.Caller, error) {
	agent := c.Agent
	if p.Agent != "" {
		if agent != "" && agent != p.Agent {
			return ident.Caller{}, fault.New(client.CodeForbidden, "API key is not permitted to act as requested agent_id", "", "")
		}
		agent = p.Agent
	}
	if acts && agent == "" {
		return ident.Caller{}, fault.Invalid("agent_id", "agent_id is needed", "")
	}
	return ident.Caller{ProjectID: 1, SessionID: 2, Agent: agent, By: p.Name, Session: c.Session, Project: c.Project}, nil
}
func (w *world) Forget(ident.Caller)                                                  {}
func (w *world) Denied(context.Context, ident.Principal, ident.Claim, string, string) {}

func (w *world) Once(ctx context.Context, c ident.Caller, _ string, _ []byte, run func(context.Context) (json.RawMessage, error)) (json.RawMessage, bool, error) {
	if r, ok := w.stored[c.RequestKey]; ok {
		return r, true, nil
	}
	r, err := run(ctx)
	if err == nil {
		w.stored[c.RequestKey] = r
	}
	return r, false, err
}

func (w *world) Notices(context.Context, ident.Caller) (client.Notices, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if len(w.notices) == 0 {
		return client.Notices{}, nil
	}
	n := w.notices[0]
	w.notices = w.notices[1:]
	return n, nil
}

func newWorld() *world {
	return &world{stored: map[string]json.RawMessage{}, waiting: make(chan struct{}, 8), keys: map[string]ident.Principal{
		"good":   {Name: "key:good", Scopes: []ident.Scope{ident.Write}},
		"reader": {Name: "key:reader", Scopes: []ident.Scope{ident.Read}},
		"bound":  {Name: "key:bound", Agent: "me", Scopes: []ident.Scope{ident.Write}},
	}}
}

func (w *world) door(change func(*httpapi.Options)) *httpapi.Server {
	cat := op.NewCatalogue()
	say := func(_ context.Context, c ident.Caller, in echo) (echoed, error) {
		return echoed{true, in, c.Agent, c.By, c.Session, c.Project, c.RequestKey}, nil
	}
	op.Register(cat, op.Op[echo, echoed]{
		Name: "do_echo", Title: "Echo", Text: "Echoes.", Scope: ident.Write, Acts: true, RefuseEmpty: true, Do: say,
		Routes: []op.Route{{Method: "POST", Path: "/echo"}, {Method: "POST", Path: "/echo/:name"}}, Aliases: map[string]string{"title": "name"},
	})
	op.Register(cat, op.Op[echo, echoed]{
		Name: "get_echo", Title: "Read echo", Text: "Echoes.", Scope: ident.Read, Do: say,
		Routes: []op.Route{{Method: "GET", Path: "/echo"}, {Method: "GET", Path: "/echo/of/*name"}},
	})
	op.Register(cat, op.Op[echo, echoed]{
		Name: "wait_echo", Title: "Wait", Text: "Waits.", Scope: ident.Write, Acts: true, Waits: true, Routes: []op.Route{{Method: "POST", Path: "/wait"}},
		Do: func(ctx context.Context, _ ident.Caller, _ echo) (echoed, error) {
			w.waiting <- struct{}{}
			<-ctx.Done()
			return echoed{}, context.Cause(ctx)
		},
	})
	op.Register(cat, op.Op[echo, echoed]{
		Name: "fail_echo", Title: "Fail", Text: "Fails.", Scope: ident.Write, Acts: true, Routes: []op.Route{{Method: "POST", Path: "/fail"}},
		Do: func(_ context.Context, _ ident.Caller, in echo) (echoed, error) {
			switch in.Name {
			case "panic":
				panic("secret")
			case "away":
				return echoed{}, fault.Unavailable(errors.New("gone"))
			}
			return echoed{}, errors.New("secret")
		},
	})
	pipe := &op.Pipeline{Resolver: w, Once: w}
	opts := httpapi.Options{Auth: w, Version: "v", Notices: w, MaxBody: 1000, Observe: func(fn func(string)) func() { w.observe = fn; return func() {} }}
	if change != nil {
		change(&opts)
	}
	return httpapi.New(cat, pipe, opts)
}

type answer struct {
	*httptest.ResponseRecorder
	body map[string]any
}

// send makes a request; headers are "Name: value" lines.
func send(t testing.TB, h http.Handler, method, target, body string, headers ...string) answer {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequestWithContext(context.Background(), method, target, r)
	for _, line := range headers {
		k, v, _ := strings.Cut(line, ": ")
		if k == "Host" {
			req.Host = v
		} else {
			req.Header.Add(k, v)
		}
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	a := answer{ResponseRecorder: rec}
	if strings.Contains(rec.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(rec.Body.Bytes(), &a.body); err != nil {
			t.Fatalf("%s %s: %d, not an object: %.200s", method, target, rec.Code, rec.Body.Bytes())
		}
	}
	return a
}

const good = "X-API-Key: good"

func TestKeys(t *testing.T) {
	t.Parallel()
	static, err := httpapi.NewKeys([]string{" env-key ", "", "bound-key"}, `{"bound-key":{"agent_id":"ci","agent_type":"codex"},"not-listed":{"agent_id":"x"}}`)
	if err != nil {
		t.Fatal(err)
	}
	h := newWorld().door(func(o *httpapi.Options) { o.Static = static })
	tests := []struct {
		name    string
		headers []string
		status  int
		agent   string
	}{
		{"none", nil, 401, ""},
		{"empty", []string{"X-API-Key: "}, 401, ""},
		{"wrong", []string{"X-API-Key: nope"}, 401, ""},
		{"huge", []string{"X-API-Key: " + strings.Repeat("k", 600)}, 401, ""},
		{"X-API-Key", []string{good}, 200, "a"},
		{"X-Coordinator-API-Key", []string{"X-Coordinator-API-Key: good"}, 200, "a"},
		{"bearer", []string{"Authorization: Bearer good"}, 200, "a"},
		{"bearer in lower case", []string{"Authorization: bearer  good"}, 200, "a"},
		{"another scheme", []string{"Authorization: Basic good"}, 401, ""},
		{"bearer wins", []string{"Authorization: Bearer nope", good}, 401, ""},
		{"static, trimmed", []string{"X-API-Key: env-key"}, 200, "a"},
		{"static, bound", []string{"X-API-Key: bound-key"}, 403, ""},
		{"bound to another", []string{"X-API-Key: bound"}, 403, ""},
		{"an identity adds no key", []string{"X-API-Key: not-listed"}, 401, ""},
		{"lacks the scope", []string{"X-API-Key: reader"}, 403, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := send(t, h, "POST", "/echo", `{"agent_id":"a"}`, tt.headers...)
			if a.Code != tt.status || tt.agent != "" && a.body["agent"] != tt.agent {
				t.Errorf("%d %v", a.Code, a.body)
			}
			if a.Code == 401 && (a.body["detail"] != "Invalid API key" || a.Header().Get("WWW-Authenticate") == "") {
				t.Errorf("detail %v", a.body["detail"])
			}
		})
	}
	if a := send(t, h, "POST", "/echo", `{"name":"n"}`, "X-API-Key: bound-key"); a.Code != 200 || a.body["agent"] != "ci" {
		t.Errorf("a bound key fills the agent in: %d %v", a.Code, a.body)
	}
}

func TestNoKeysAdmitNobody(t *testing.T) {
	t.Parallel()
	static, err := httpapi.NewKeys([]string{"", " "}, "")
	if err != nil {
		t.Fatal(err)
	}
	h := newWorld().door(func(o *httpapi.Options) { o.Static, o.Auth = static, nil })
	for _, key := range []string{"", " ", "x"} {
		if a := send(t, h, "POST", "/echo", `{"agent_id":"a"}`, "X-API-Key: "+key); a.Code != 401 {
			t.Errorf("%q: %d", key, a.Code)
		}
	}
}

func TestBadIdentities(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{`, `[]`, `{"secret-key":5}`, `{"secret-key":{"scopes":["root"]}}`} {
		_, err := httpapi.NewKeys([]string{"secret-key"}, text)
		if err == nil || strings.Contains(err.Error(), "secret-key") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestKeyComesBeforeTheRequestsForm(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	for _, body := range []string{`{`, `{}`, strings.Repeat("x", 2000)} {
		if a := send(t, h, "POST", "/echo", body); a.Code != 401 {
			t.Errorf("%.10s: %d", body, a.Code)
		}
	}
}

func TestTheDatabaseOfKeysIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.authErr = fault.Unavailable(errors.New("gone"))
	if a := send(t, w.door(nil), "POST", "/echo", `{"agent_id":"a"}`, good); a.Code != 503 || a.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", a.Code, a.body)
	}
}

func TestOpenDoor(t *testing.T) {
	t.Parallel()
	h := newWorld().door(func(o *httpapi.Options) { o.Open = true; o.Origins = []string{"https://dash.example"} })
	tests := []struct {
		name    string
		headers []string
		status  int
		by      string
	}{
		{"localhost", []string{"Host: localhost:8765"}, 200, "local"},
		{"127.0.0.1", []string{"Host: 127.0.0.1"}, 200, "local"},
		{"ipv6", []string{"Host: [::1]:8765"}, 200, "local"},
		{"a key says who", []string{"Host: localhost", good}, 200, "key:good"},
		{"a wrong key does not lock out", []string{"Host: localhost", "X-API-Key: nope"}, 200, "local"},
		{"a name that was made to point here", []string{"Host: evil.example:8765"}, 403, ""},
		{"a name that looks local", []string{"Host: localhost.evil.example"}, 403, ""},
		{"another site's page", []string{"Host: localhost", "Origin: https://evil.example"}, 403, ""},
		{"a page without origin", []string{"Host: localhost", "Origin: null"}, 403, ""},
		{"a local page", []string{"Host: localhost", "Origin: http://127.0.0.1:3000"}, 200, "local"},
		{"a named page", []string{"Host: localhost", "Origin: https://dash.example"}, 200, "local"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := send(t, h, "POST", "/echo", `{"agent_id":"a"}`, tt.headers...)
			if a.Code != tt.status || tt.by != "" && a.body["by"] != tt.by {
				t.Errorf("%d %v", a.Code, a.body)
			}
		})
	}
}

func TestLoopbackAddr(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "localhost:0": true, "127.8.9.1:1": true,
		":8765": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.com:1": false, "nonsense": false,
	} {
		if httpapi.LoopbackAddr(addr) != want {
			t.Errorf("%s: want %v", addr, want)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	preflight := []string{"Origin: https://dash.example", "Access-Control-Request-Method: POST"}
	closed := newWorld().door(nil)
	if a := send(t, closed, "OPTIONS", "/echo", "", preflight...); a.Header().Get("Access-Control-Allow-Origin") != "" || a.Code != 405 {
		t.Errorf("by default: %d %v", a.Code, a.Header())
	}
	for origins, want := range map[string]string{"https://dash.example": "https://dash.example", "*": "https://dash.example", "https://other.example": ""} {
		h := newWorld().door(func(o *httpapi.Options) { o.Origins = []string{origins} })
		if a := send(t, h, "OPTIONS", "/echo", "", preflight...); a.Header().Get("Access-Control-Allow-Origin") != want {
			t.Errorf("%s: %d %v", origins, a.Code, a.Header())
		}
		if a := send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good, "Origin: https://dash.example"); a.Code != 200 || a.Header().Get("Access-Control-Allow-Origin") != want {
			t.Errorf("%s: %d %v", origins, a.Code, a.Header())
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	tests := []struct{ name, method, target, body, want string }{
		{"body", "POST", "/echo", `{"agent_id":"a","name":"n","count":3}`, `{"name":"n","count":3}`},
		{"query beside an empty body", "POST", "/echo?agent_id=a&name=n&count=3&rate=0.5&loud=true", ``, `{"name":"n","count":3,"rate":0.5,"loud":true}`},
		{"old spelling in the query", "POST", "/echo?agent_id=a&title=n", ``, `{"name":"n"}`},
		{"body over query", "POST", "/echo?name=q&count=1", `{"agent_id":"a","name":"b"}`, `{"name":"b","count":1}`},
		{"path over body", "POST", "/echo/p", `{"agent_id":"a","name":"b"}`, `{"name":"p"}`},
		{"list by comma", "GET", "/echo?tags=a,b&nums=1,2", ``, `{"tags":["a","b"],"nums":[1,2]}`},
		{"list by repetition", "GET", "/echo?tags=a,b&tags=c", ``, `{"tags":["a,b","c"]}`},
		{"list as JSON", "GET", "/echo?tags=%5B%22a%2Cb%22%5D", ``, `{"tags":["a,b"]}`},
		{"object as JSON", "GET", "/echo?data=%7B%22k%22%3A1%7D", ``, `{"data":{"k":1}}`},
		{"nothing where a number stands", "GET", "/echo?count=&name=", ``, `{}`},
		{"path with slashes", "GET", "/echo/of/src/a%20b.go", ``, `{"name":"src/a b.go"}`},
		{"null body", "POST", "/echo?agent_id=a", `null`, `{}`},
		{"wrong content type", "POST", "/echo", `{"agent_id":"a","name":"n"}`, `{"name":"n"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := send(t, h, tt.method, tt.target, tt.body, good, "Content-Type: application/x-www-form-urlencoded")
			got, _ := json.Marshal(a.body["in"])
			var want any
			_ = json.Unmarshal([]byte(tt.want), &want)
			if norm, _ := json.Marshal(want); a.Code != 200 || !bytes.Equal(got, norm) {
				t.Errorf("%d %s, want %s (%v)", a.Code, got, norm, a.body["what"])
			}
		})
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	tests := []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		want                       string
	}{
		{"not JSON", "POST", "/echo", "{\"agent_id\":\n \"a\",,}", nil, 422, "line 2, column 6"},
		{"cut off", "POST", "/echo", `{"agent_id":"a"`, nil, 422, "not JSON"},
		{"two values", "POST", "/echo", `{} {}`, nil, 422, "not JSON"},
		{"a list", "POST", "/echo", `[1]`, nil, 422, "must be a JSON object"},
		{"a text", "POST", "/echo", `"x"`, nil, 422, "must be a JSON object"},
		{"a form", "POST", "/echo", `a=b`, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "not JSON"},
		{"compressed", "POST", "/echo", `xx`, []string{"Content-Encoding: gzip"}, 415, "Content-Encoding"},
		{"not UTF-8", "POST", "/echo", "{\"agent_id\":\"a\",\"name\":\"\xff\"}", nil, 422, "UTF-8"},
		{"a number without end", "POST", "/echo", `{"agent_id":"a","rate":1e999}`, nil, 422, "out of range"},
		{"NUL", "POST", "/echo", `{"agent_id":"a","name":"\u0000"}`, nil, 422, "NUL"},
		{"too large", "POST", "/echo", `{"name":"` + strings.Repeat("x", 1000) + `"}`, nil, 413, "larger than 1000 bytes"},
		{"empty", "POST", "/echo", `{}`, nil, 422, "empty request"},
		{"nothing", "POST", "/echo", ``, nil, 422, "empty request"},
		{"wrong type in the query", "GET", "/echo?count=many", ``, nil, 422, "count must be an integer"},
		{"bad query", "GET", "/echo?name=%zz", ``, nil, 422, "query string"},
		{"query not UTF-8", "GET", "/echo?name=%ff", ``, nil, 422, "UTF-8"},
		{"path not UTF-8", "GET", "/echo/of/%ff", ``, nil, 422, "UTF-8"},
		{"agent in a header", "POST", "/echo", `{"count":1}`, []string{"X-Agent-Id: " + strings.Repeat("a", 300)}, 422, "agent_id"},
		{"unknown route", "POST", "/ehco", `{}`, nil, 404, "no route"},
		{"wrong method", "DELETE", "/echo", ``, nil, 405, "not a method"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := send(t, h, tt.method, tt.target, tt.body, append(tt.headers, good)...)
			what, _ := a.body["what"].(string)
			if a.Code != tt.status || !strings.Contains(what, tt.want) || a.body["detail"] != a.body["what"] || a.body["request_id"] != a.Header().Get("X-Request-Id") {
				t.Errorf("%d %v", a.Code, a.body)
			}
			if ct := a.Header().Get("Content-Type"); ct != "application/problem+json" {
				t.Errorf("content type %q", ct)
			}
		})
	}
	if a := send(t, h, "POST", "/ehco", ``, good); a.body["next"] != "did you mean /echo? All routes are in /openapi.json" {
		t.Errorf("next: %v", a.body["next"])
	}
	if a := send(t, h, "DELETE", "/echo", ``, good); a.Header().Get("Allow") == "" {
		t.Error("405 without Allow")
	}
}

func TestIdentityHeadersAndBody(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	head := []string{good, "X-Agent-Id: head", "X-Session-Id: s1", "X-Project: p1"}
	if a := send(t, h, "POST", "/echo", `{"count":1}`, head...); a.body["agent"] != "head" || a.body["session"] != "s1" || a.body["project"] != "p1" {
		t.Errorf("headers: %v", a.body)
	}
	if a := send(t, h, "POST", "/echo", `{"agent_id":"body","session_id":"s2"}`, head...); a.body["agent"] != "body" || a.body["session"] != "s2" || a.body["project"] != "p1" {
		t.Errorf("body over headers: %v", a.body)
	}
}

func TestUnknownFieldsAreNamedAndCannotForgeHeaders(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	a := send(t, h, "POST", "/echo?zoo=1", `{"agent_id":"a","b\r\nX-Evil: 1":2,"ä":3}`, good)
	if got := a.Header().Get("X-Unknown-Fields"); a.Code != 200 || got != `"b\r\nX-Evil: 1", zoo, "\u00e4"` {
		t.Errorf("%d %q", a.Code, got)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	for sent, kept := range map[string]bool{"abc-1.2_3": true, "": false, "a b": false, "a\"b": false, strings.Repeat("a", 65): false} {
		got := send(t, h, "GET", "/live", "", "X-Request-Id: "+sent).Header().Get("X-Request-Id")
		if (got == sent) != kept || got == "" {
			t.Errorf("%q: %q", sent, got)
		}
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	for i, want := range []string{"", "true"} {
		a := send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good, "Idempotency-Key: k")
		if a.Code != 200 || a.body["key"] != "k" || a.Header().Get("Idempotency-Replayed") != want {
			t.Errorf("call %d: %d %v", i, a.Code, a.Header())
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	h := newWorld().door(nil)
	for name, status := range map[string]int{"panic": 500, "error": 500, "away": 503} {
		a := send(t, h, "POST", "/fail", `{"agent_id":"a","name":"`+name+`"}`, good)
		if a.Code != status || strings.Contains(a.Body.String(), "secret") || (a.Header().Get("Retry-After") != "") != (status == 503) {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
}
