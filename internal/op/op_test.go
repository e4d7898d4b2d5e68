package op

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type item struct {
	Path string `json:"path" minLength:"1" maxLength:"20"`
	Mode string `json:"mode,omitempty" enum:"r,w"`
}

type paint struct {
	FilePath string         `json:"file_path" minLength:"1" maxLength:"100" kind:"path" doc:"what to paint"`
	Coats    int            `json:"coats,omitempty" minimum:"1" maximum:"10" default:"3"`
	Tags     []string       `json:"tags,omitempty" uniqueItems:"true" maxItems:"5"`
	Items    []item         `json:"items,omitempty"`
	Extra    map[string]any `json:"extra,omitempty" mcp:"full"`
	Wait     float64        `json:"wait_seconds,omitempty" minimum:"0" maximum:"55"`
	ID       string         `json:"id,omitempty" format:"uuid"`
	Big      int64          `json:"big,omitempty"`
}

type painted struct {
	Success bool  `json:"success"`
	In      paint `json:"in"`
}

// fakes implement Resolver and Once without a database.
type fakes struct {
	mu      sync.Mutex
	claims  []ident.Claim
	denied  []string
	forgot  int
	replies map[string]json.RawMessage
}

func (f *fakes) Resolve(_ context.Context, p ident.Principal, c ident.Claim, acts bool) (ident.Caller, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claims = append(f.claims, c)
	if p.Agent != "" && c.Agent != "" && c.Agent != p.Agent {
		return ident.Caller{}, fault.New(client.CodeForbidden, "not as this agent", "", "")
	}
	if acts && c.Agent == "" {
		return ident.Caller{}, fault.Invalid("agent_id", "agent_id is needed", "")
	}
	return ident.Caller{ProjectID: 1, Agent: c.Agent, By: p.Name, SessionID: 7}, nil
}

func (f *fakes) Forget(ident.Caller) { f.forgot++ }

func (f *fakes) Denied(_ context.Context, _ ident.Principal, _ ident.Claim, operation, _ string) {
	f.denied = append(f.denied, operation)
}

func (f *fakes) Once(ctx context.Context, c ident.Caller, _ string, _ []byte, run func(context.Context) (json.RawMessage, error)) (json.RawMessage, bool, error) {
	if r, ok := f.replies[c.RequestKey]; ok {
		return r, true, nil
	}
	r, err := run(ctx)
	if err == nil {
		f.replies[c.RequestKey] = r
	}
	return r, false, err
}

var writer = ident.Principal{Name: "key:t", Scopes: []ident.Scope{ident.Write}}

// fixture is a catalogue with one operation whose input the test reads back.
func fixture(t testing.TB, change func(*Op[paint, painted])) (*Pipeline, *Def, *fakes) {
	t.Helper()
	o := Op[paint, painted]{
		Name: "paint_file", Title: "Paint", Text: "Paints a file.", Scope: ident.Write, Acts: true,
		Routes: []Route{{"POST", "/paint"}}, Aliases: map[string]string{"path": "file_path"},
		Do: func(_ context.Context, _ ident.Caller, in paint) (painted, error) { return painted{true, in}, nil },
	}
	if change != nil {
		change(&o)
	}
	c := NewCatalogue()
	Register(c, o)
	f := &fakes{replies: map[string]json.RawMessage{}}
	return &Pipeline{Resolver: f, Once: f}, c.Get("paint_file"), f
}

func args(t testing.TB, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// wantFault checks an error's code and field, and that its text speaks of want.
func wantFault(t *testing.T, err error, code client.Code, field, want string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a fault", err)
	}
	if f.Code != code || f.Field != field || !strings.Contains(f.What, want) {
		t.Errorf("got %s, field %q: %q; want %s, field %q: …%s…", f.Code, f.Field, f.What, code, field, want)
	}
}

func TestValidationTexts(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, field, want string }{
		{"missing", `{"agent_id":"a"}`, "file_path", "file_path is needed"},
		{"null where needed", `{"agent_id":"a","file_path":null}`, "file_path", "file_path must be a string"},
		{"wrong type", `{"agent_id":"a","file_path":5}`, "file_path", "file_path must be a string"},
		{"too short", `{"agent_id":"a","file_path":""}`, "file_path", "file_path must have length >= 1"},
		{"below minimum", `{"agent_id":"a","file_path":"x","coats":0}`, "coats", "coats must be >= 1"},
		{"fraction", `{"agent_id":"a","file_path":"x","coats":1.5}`, "coats", "coats must be an integer"},
		{"a text for a number", `{"agent_id":"a","file_path":"x","coats":"2"}`, "coats", "coats must be an integer"},
		{"twice the same", `{"agent_id":"a","file_path":"x","tags":["b","b"]}`, "tags", "tags items must be unique"},
		{"objects in a unique list", `{"agent_id":"a","file_path":"x","tags":[{"a":1}]}`, "", "kind that does not fit"},
		{"nested", `{"agent_id":"a","file_path":"x","items":[{"path":"p"},{"mode":"r"}]}`, "items[1].path", "items[1].path is needed"},
		{"nested enum", `{"agent_id":"a","file_path":"x","items":[{"path":"p","mode":"q"}]}`, "items[0].mode", `must be one of "r, w"`},
		{"format", `{"agent_id":"a","file_path":"x","id":"nope"}`, "id", "id must be RFC 4122 uuid"},
		{"out of range", `{"agent_id":"a","file_path":"x","big":1e300}`, "big", "big cannot be number"},
		{"a NUL", `{"agent_id":"a","file_path":"a\u0000b"}`, "file_path", "NUL"},
		{"a nested NUL", `{"agent_id":"a","file_path":"x","extra":{"k":["\u0000"]}}`, "extra", "NUL"},
		{"a NUL in a name", `{"agent_id":"a","file_path":"x","extra":{"\u0000":1}}`, "extra", "NUL"},
		{"without end", `{"agent_id":"a","file_path":"x","extra":{"k":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`, "extra", "nested"},
		{"no agent", `{"file_path":"x"}`, "agent_id", "agent_id is needed"},
		{"an agent that is no text", `{"agent_id":5,"file_path":"x"}`, "agent_id", "must be a string"},
		{"an agent that is no line", `{"agent_id":"a\nb","file_path":"x"}`, "agent_id", "control characters"},
		{"an agent without end", `{"agent_id":"` + strings.Repeat("a", 201) + `","file_path":"x"}`, "agent_id", "at most 200 bytes"},
		{"a key that is no text", `{"agent_id":"a","file_path":"x","request_key":1}`, "request_key", "must be a string"},
		{"a key without end", `{"agent_id":"a","file_path":"x","request_key":"` + strings.Repeat("k", 256) + `"}`, "request_key", "at most 255"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, d, _ := fixture(t, nil)
			_, err := p.Call(t.Context(), d, Request{Principal: writer, Args: args(t, tt.in)})
			wantFault(t, err, client.CodeInvalid, tt.field, tt.want)
		})
	}
}

func TestArgumentsAreMappedDefaultedAndNamed(t *testing.T) {
	t.Parallel()
	p, d, f := fixture(t, nil)
	res, err := p.Call(t.Context(), d, Request{
		Principal: writer, Claim: ident.Claim{Agent: "header", Project: "p"},
		Args: args(t, `{"agent_id":"a","session_id":"","path":"x","tags":null,"zoo":1,"File_Path":"y","items":[{"path":"q","size":3}],"extra":{"free":{"er":1}}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	out, ok := res.Body.(painted)
	if !ok || out.In.FilePath != "x" || out.In.Coats != 3 || out.In.Tags != nil || len(out.In.Items) != 1 || out.In.Extra["free"] == nil {
		t.Errorf("got %+v", res.Body)
	}
	if got := strings.Join(res.Unknown, " "); got != "File_Path items[0].size zoo" {
		t.Errorf("unknown: %q", got)
	}
	if want := (ident.Claim{Agent: "a", Project: "p"}); f.claims[0] != want {
		t.Errorf("claim: %+v", f.claims[0])
	}
}

func TestBothSpellingsTheNewOneWins(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"agent_id":"a","path":"old","file_path":"new"}`: "new",
		`{"agent_id":"a","path":"old","file_path":null}`:  "old",
	} {
		p, d, _ := fixture(t, nil)
		res, err := p.Call(t.Context(), d, Request{Principal: writer, Args: args(t, in), Strict: true})
		if out, _ := res.Body.(painted); err != nil || out.In.FilePath != want {
			t.Errorf("%s: got %+v, %v", in, res.Body, err)
		}
	}
}

func TestStrictRefusesAndSuggests(t *testing.T) {
	t.Parallel()
	for in, next := range map[string]string{
		`{"agent_id":"a","file_path":"x","coat":1}`:          `did you mean "coats"?`,
		`{"agent_id":"a","file_path":"x","FILE_PATH":1}`:     `did you mean "file_path"?`,
		`{"agent_id":"a","file_path":"x","zzzzzzzzzzzzz":1}`: "its arguments are big, coats, extra, file_path, id, items, tags, wait_seconds",
	} {
		p, d, _ := fixture(t, nil)
		_, err := p.Call(t.Context(), d, Request{Principal: writer, Args: args(t, in), Strict: true})
		if f := fault.From(err); f == nil || f.Code != client.CodeInvalid || f.Next != next {
			t.Errorf("%s: got %v", in, err)
		}
	}
	p, d, _ := fixture(t, nil)
	_, err := p.Call(t.Context(), d, Request{Principal: writer, Args: args(t, `{"agent_id":"a","file_path":"x","items":[{"path":"p","size":1}]}`), Strict: true})
	wantFault(t, err, client.CodeInvalid, "items[0].size", "unexpected property")
}

func TestRefuseEmpty(t *testing.T) {
	t.Parallel()
	for in, refused := range map[string]bool{`{}`: true, `{"foo":1}`: true, `{"agent_id":null}`: true, `{"agent_id":"a"}`: false, `{"coats":2}`: false, `{"request_key":"k"}`: false} {
		p, d, f := fixture(t, func(o *Op[paint, painted]) { o.RefuseEmpty = true })
		_, err := p.Call(t.Context(), d, Request{Principal: ident.Principal{Agent: "a", Scopes: writer.Scopes}, Args: args(t, in), FromBody: true})
		if got := err != nil && strings.Contains(err.Error(), "an empty request"); got != refused {
			t.Errorf("%s: %v", in, err)
		}
		if refused && len(f.claims) > 0 {
			t.Errorf("%s reached the resolver", in)
		}
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for held, allowed := range map[ident.Scope]bool{ident.Read: false, ident.Write: true, ident.Admin: true, ident.Runner: false} {
		p, d, f := fixture(t, nil)
		_, err := p.Call(t.Context(), d, Request{Principal: ident.Principal{Scopes: []ident.Scope{held}}, Args: args(t, `{"agent_id":"a","file_path":"x"}`)})
		if (err == nil) != allowed || (len(f.denied) == 0) != allowed {
			t.Errorf("%s: %v, denied %v", held, err, f.denied)
		}
		if !allowed && !fault.Is(err, client.CodeForbidden) {
			t.Errorf("%s: %v", held, err)
		}
	}
}

func TestActingAsAnotherIsDeniedAndRecorded(t *testing.T) {
	t.Parallel()
	p, d, f := fixture(t, nil)
	bound := ident.Principal{Agent: "me", Scopes: writer.Scopes}
	_, err := p.Call(t.Context(), d, Request{Principal: bound, Args: args(t, `{"agent_id":"you","file_path":"x"}`)})
	if !fault.Is(err, client.CodeForbidden) || len(f.denied) != 1 {
		t.Errorf("got %v, denied %v", err, f.denied)
	}
}

func TestRequestKeyReplays(t *testing.T) {
	t.Parallel()
	runs := 0
	p, d, _ := fixture(t, func(o *Op[paint, painted]) {
		o.Do = func(context.Context, ident.Caller, paint) (painted, error) {
			runs++
			return painted{Success: true}, nil
		}
	})
	for i := range 3 {
		res, err := p.Call(t.Context(), d, Request{Principal: writer, Args: args(t, `{"agent_id":"a","file_path":"x","request_key":"k"}`)})
		if err != nil || res.Replayed != (i > 0) {
			t.Errorf("call %d: replayed %v, %v", i, res.Replayed, err)
		}
	}
	if runs != 1 {
		t.Errorf("ran %d times", runs)
	}
}

func TestWaitingOperationsApplyTheKeyThemselves(t *testing.T) {
	t.Parallel()
	p, d, f := fixture(t, func(o *Op[paint, painted]) {
		o.Waits = true
		o.Do = func(_ context.Context, c ident.Caller, _ paint) (painted, error) {
			return painted{Success: c.RequestKey == "k"}, nil
		}
	})
	res, err := p.Call(t.Context(), d, Request{Principal: writer, RequestKey: "k", Args: args(t, `{"agent_id":"a","file_path":"x"}`)})
	if out, _ := res.Body.(painted); err != nil || !out.Success || len(f.replies) != 0 {
		t.Errorf("got %+v, %v", res.Body, err)
	}
}

func TestDeadlineCoversTheWait(t *testing.T) {
	t.Parallel()
	var left time.Duration
	p, d, _ := fixture(t, func(o *Op[paint, painted]) {
		o.Timeout = 2 * time.Second
		o.Do = func(ctx context.Context, _ ident.Caller, _ paint) (painted, error) {
			at, _ := ctx.Deadline()
			left = time.Until(at)
			return painted{}, nil
		}
	})
	if _, err := p.Call(t.Context(), d, Request{Principal: writer, Args: args(t, `{"agent_id":"a","file_path":"x","wait_seconds":40}`)}); err != nil {
		t.Fatal(err)
	}
	if left < 41*time.Second || left > 42*time.Second {
		t.Errorf("%s left, want 42s", left)
	}
}

func TestALapsedSessionIsOpenedAgainOnce(t *testing.T) {
	t.Parallel()
	for lapses, ok := range map[int]bool{1: true, 2: false} {
		n := 0
		p, d, f := fixture(t, func(o *Op[paint, painted]) {
			o.Do = func(context.Context, ident.Caller, paint) (painted, error) {
				if n++; n <= lapses {
					return painted{}, ident.ErrSessionLapsed
				}
				return painted{}, nil
			}
		})
		_, err := p.Call(t.Context(), d, Request{Principal: writer, Args: args(t, `{"agent_id":"a","file_path":"x"}`)})
		if (err == nil) != ok || f.forgot != 1 {
			t.Errorf("%d lapses: %v, forgot %d", lapses, err, f.forgot)
		}
	}
}

func TestDefectsRevealNothing(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func() error{
		"error": func() error { return errors.New("secret") },
		"panic": func() error { panic("secret") },
	} {
		var code client.Code
		p, d, _ := fixture(t, func(o *Op[paint, painted]) {
			o.Do = func(context.Context, ident.Caller, paint) (painted, error) { return painted{}, do() }
		})
		p.Observe = func(_, _ string, c client.Code, _ time.Duration) { code = c }
		_, err := p.Call(t.Context(), d, Request{Principal: writer, RequestID: "r1", Args: args(t, `{"agent_id":"a","file_path":"x"}`)})
		f := fault.From(err)
		if f.Code != client.CodeInternal || f.RequestID != "r1" || strings.Contains(f.Error(), "secret") || code != client.CodeInternal {
			t.Errorf("%s: %v, observed %s", name, err, code)
		}
	}
}

func TestASharedFaultIsNotChanged(t *testing.T) {
	t.Parallel()
	shared := fault.New(client.CodeConflict, "c", "", "")
	p, d, _ := fixture(t, func(o *Op[paint, painted]) {
		o.Do = func(context.Context, ident.Caller, paint) (painted, error) { return painted{}, shared }
	})
	_, err := p.Call(t.Context(), d, Request{Principal: writer, RequestID: "r1", Args: args(t, `{"agent_id":"a","file_path":"x"}`)})
	if fault.From(err).RequestID != "r1" || shared.RequestID != "" {
		t.Errorf("got %v, shared %v", err, shared)
	}
}

func TestBadDeclarationsPanic(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Op[paint, painted]){
		"no name":           func(o *Op[paint, painted]) { o.Name = "" },
		"no scope":          func(o *Op[paint, painted]) { o.Scope = "" },
		"nothing to do":     func(o *Op[paint, painted]) { o.Do = nil },
		"alias to nowhere":  func(o *Op[paint, painted]) { o.Aliases = map[string]string{"a": "b"} },
		"alias of a member": func(o *Op[paint, painted]) { o.Aliases = map[string]string{"coats": "file_path"} },
		"alias of identity": func(o *Op[paint, painted]) { o.Aliases = map[string]string{"agent_id": "file_path"} },
		"method":            func(o *Op[paint, painted]) { o.Routes = []Route{{"FETCH", "/x"}} },
		"route twice":       func(o *Op[paint, painted]) { o.Routes = []Route{{"GET", "/x"}, {"GET", "/x"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("it was accepted")
				}
			}()
			fixture(t, change)
		})
	}
}

func TestTaggedFields(t *testing.T) {
	t.Parallel()
	_, d, _ := fixture(t, nil)
	if strings.Join(d.PathFields, " ") != "file_path" || strings.Join(d.RareFields, " ") != "extra" || d.CLI != "paint-file" {
		t.Errorf("paths %v, rare %v, cli %q", d.PathFields, d.RareFields, d.CLI)
	}
}

// FuzzCall: whatever a client sends, a call ends in a reply or in a fault that blames the request.
func FuzzCall(f *testing.F) {
	for _, s := range []string{
		`{"agent_id":"a","file_path":"x"}`, `{"agent_id":"a","path":"x","coats":3,"zoo":[]}`, `{"file_path":{"a":1},"items":[1]}`,
		`{"tags":[[1]],"items":{"path":1},"extra":[],"wait_seconds":"x"}`, `{"agent_id":null,"request_key":{},"project":[]}`, `{"big":1e308,"coats":-0}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, strict bool) {
		var m map[string]any
		if json.Unmarshal(body, &m) != nil {
			return
		}
		p, d, _ := fixture(t, nil)
		res, err := p.Call(t.Context(), d, Request{Principal: writer, Args: m, Strict: strict, FromBody: true})
		if err != nil {
			if e := fault.From(err); e.Code != client.CodeInvalid || e.What == "" {
				t.Fatalf("%s: %v", body, err)
			}
			return
		}
		if _, err := json.Marshal(res.Body); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	p, d, _ := fixture(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		in := map[string]any{"agent_id": "a", "file_path": "src/main.go", "coats": 2.0, "tags": []any{"a", "b"}}
		if _, err := p.Call(b.Context(), d, Request{Principal: writer, Args: in}); err != nil {
			b.Fatal(err)
		}
	}
}
