package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
)

// open serves a door over the test catalogue.
func open(t testing.TB, w *world, change func(*Options)) *stdioClient {
	t.Helper()
	opt := Options{Identify: testProcess().Identify, CheckOutput: true}
	if change != nil {
		change(&opt)
	}
	c, _ := serve(t, New(w.catalogue(), pipeline(), opt))
	c.hello("claude-code")
	return c
}

func TestCallAndIdentity(t *testing.T) {
	t.Parallel()
	c := open(t, newWorld(), nil)
	first := structured(c.call("acquire_lock", map[string]any{"file_path": "a.go"}, nil))
	if first["by"] != "claude-code-box-ana" || first["agent_type"] != "claude_code" || first["success"] != true {
		t.Errorf("%v", first)
	}
	if first["token"] != "1152921504606846976" {
		t.Errorf("a number beyond 2^53 reached the host as %v", first["token"])
	}
	again := structured(c.call("acquire_lock", map[string]any{"file_path": "a.go"}, nil))
	if s, _ := first["session"].(string); s == "" || again["session"] != first["session"] {
		t.Errorf("the session changes from call to call: %v, %v", first["session"], again["session"])
	}
	meta := structured(c.call("acquire_lock", map[string]any{"file_path": "a.go"}, map[string]any{"x-codex-turn-metadata": `{"session_id":"cdx-1","thread_id":"t"}`}))
	if meta["session"] != "cdx-1" {
		t.Errorf("_meta: %v", meta["session"])
	}
	field := structured(c.call("acquire_lock", map[string]any{"file_path": "a.go", "session_id": "mine"}, map[string]any{"sessionId": "other"}))
	if field["session"] != "mine" {
		t.Errorf("the call's own field: %v", field["session"])
	}
}

func TestTextIsTheSameJSON(t *testing.T) {
	t.Parallel()
	c := open(t, newWorld(), nil)
	res := c.call("check_locks", map[string]any{"limit": 2}, nil)
	var fromText map[string]any
	if err := json.Unmarshal([]byte(text(res)), &fromText); err != nil {
		t.Fatal(err)
	}
	if a, b := compact(fromText), compact(structured(res)); string(a) != string(b) {
		t.Errorf("text %s\nobject %s", a, b)
	}
}

func TestErrorsAreResults(t *testing.T) {
	t.Parallel()
	c := open(t, newWorld(), nil)
	for _, tt := range []struct {
		tool string
		args any
		code client.Code
		says string
	}{
		{"acquire_lock", map[string]any{"file_path": "a", "reson": "x"}, client.CodeInvalid, "reason"},
		{"acquire_lock", map[string]any{}, client.CodeInvalid, "file_path"},
		{"acquire_lock", map[string]any{"file_path": 7}, client.CodeInvalid, "file_path"},
		{"acquire_lock", map[string]any{"file_path": "a", "wait_seconds": 99}, client.CodeInvalid, "55"},
		{"acquire_lock", "a.go", client.CodeInvalid, "object"},
		{"fail", nil, client.CodeInternal, "failed"},
		{"crash", nil, client.CodeInternal, "failed"},
	} {
		res := c.call(tt.tool, tt.args, nil)
		if res["isError"] != true || structured(res)["code"] != string(tt.code) || !strings.Contains(text(res), tt.says) {
			t.Errorf("%s %v: %v", tt.tool, tt.args, res)
		}
		if strings.Contains(text(res), "secret") || strings.Contains(string(compact(res)), "secret") {
			t.Errorf("%s tells what is inside: %v", tt.tool, res)
		}
	}
	reply, _ := c.answer(c.send("tools/call", map[string]any{"name": "nothing"}))
	if reply["error"] == nil {
		t.Errorf("a tool that does not exist: %v", reply)
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, _ := serve(t, New(w.catalogue(), refuse{}, Options{Identify: testProcess().Identify}))
	c.hello("codex-mcp-client")
	res := c.call("check_locks", nil, nil)
	if res["isError"] != true || structured(res)["code"] != "unavailable" || structured(res)["retryable"] != true {
		t.Errorf("%v", res)
	}
	if reply, _ := c.answer(c.send("tools/list", map[string]any{})); reply["result"] == nil {
		t.Errorf("tools/list needs the database: %v", reply)
	}
}

func TestLongResultsAreCutWithAHint(t *testing.T) {
	t.Parallel()
	c := open(t, newWorld(), nil)
	for _, args := range []map[string]any{{"limit": 500}, {"limit": 9000}, {"text": 30000}, {"limit": 40, "text": 9000}} {
		res := c.call("check_locks", args, nil)
		obj := structured(res)
		if n := len(text(res)); n > MaxResult {
			t.Errorf("%v: %d bytes", args, n)
		}
		hint, _ := obj["hint"].(string)
		if obj["truncated"] != true || hint == "" {
			t.Errorf("%v: cut silently: truncated %v, hint %q", args, obj["truncated"], hint)
		}
		if args["text"] == nil {
			rows, _ := obj["locks"].([]any)
			if want := fmt.Sprintf("%d more of locks not shown; narrow by file_paths", args["limit"].(int)-len(rows)); !strings.HasPrefix(hint, want) || len(rows) < 40 {
				t.Errorf("%d rows, hint %q, want %q", len(rows), hint, want)
			}
		}
	}
	if obj := structured(c.call("check_locks", map[string]any{"limit": 3}, nil)); obj["truncated"] != nil {
		t.Errorf("a short result is marked: %v", obj)
	}
}

func TestProgressComesBeforeTheResult(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := open(t, w, nil)
	id := c.send("tools/call", map[string]any{"name": "take_slowly", "arguments": map[string]any{"file_path": "a"}, "_meta": map[string]any{"progressToken": "p1"}})
	for i := 1; i <= 2; i++ {
		m := c.next()
		params, _ := m["params"].(map[string]any)
		if m["method"] != "notifications/progress" || params["progressToken"] != "p1" || params["progress"] != float64(i) || params["total"] != 10.0 {
			t.Fatalf("progress %d: %v", i, m)
		}
	}
	close(w.block)
	if reply, before := c.answer(id); reply["result"] == nil || len(before) > 0 {
		t.Errorf("%v after %v", reply, before)
	}
	id = c.send("tools/call", map[string]any{"name": "take_slowly", "arguments": map[string]any{"file_path": "a"}})
	if _, before := c.answer(id); len(before) > 0 {
		t.Errorf("progress that nobody asked for: %v", before)
	}
}

func TestCancelReachesTheOperation(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := open(t, w, nil)
	id := c.send("tools/call", map[string]any{"name": "take_slowly", "arguments": map[string]any{"file_path": "a", "wait_seconds": 50}})
	<-w.inside
	c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
	if cause := <-w.gone; !errors.Is(cause, mcpstdio.ErrCancelled) {
		t.Errorf("cause %v", cause)
	}
	if m, _ := c.answer(c.send("ping", map[string]any{})); m["result"] == nil {
		t.Errorf("%v", m)
	}
}

func TestBlockedCallsDelayNobody(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := open(t, w, nil)
	for range 200 {
		c.send("tools/call", map[string]any{"name": "take_slowly", "arguments": map[string]any{"file_path": "a", "wait_seconds": 50}})
	}
	for range 200 {
		<-w.inside
	}
	start := time.Now()
	c.call("check_locks", nil, nil)
	if took := time.Since(start); took > 250*time.Millisecond {
		t.Errorf("check_locks took %v beside 200 waiting calls", took)
	}
	close(w.block)
}

func TestRareArgumentsAreHiddenNotRefused(t *testing.T) {
	t.Parallel()
	w := newWorld()
	def := w.catalogue().Get("acquire_lock")
	core, full := string(inputSchema(def, false)), string(inputSchema(def, true))
	if strings.Contains(core, "branch") || !strings.Contains(full, "branch") {
		t.Errorf("core %s\nfull %s", core, full)
	}
	want := `{"type":"object","properties":{"file_path":{"type":"string","description":"path to take"},"reason":{"type":"string","description":"why"},` +
		`"wait_seconds":{"type":"integer","description":"seconds to wait","maximum":55}},"required":["file_path"],"additionalProperties":false}`
	if core != want {
		t.Errorf("got  %s\nwant %s", core, want)
	}
	c := open(t, w, nil)
	if res := c.call("acquire_lock", map[string]any{"file_path": "a", "branch": "x"}, nil); res["isError"] == true {
		t.Errorf("%v", res)
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	w := newWorld()
	asked := 0
	waiting := []client.Notice{{Kind: "lock_lost", Text: strings.Repeat("é", 400), At: "2030-01-01T00:00:00Z"}}
	for range 5 {
		waiting = append(waiting, client.Notice{Kind: "info", Text: "x", At: "2030-01-01T00:00:00Z"})
	}
	src := NoticesFunc(func(_ context.Context, c ident.Caller) (client.Notices, error) {
		asked++
		if c.SessionID == 0 {
			t.Error("asked without a session")
		}
		n := client.Notices{Notices: waiting}
		waiting = nil
		return n, nil
	})
	news := &fakeNews{}
	door := New(w.catalogue(), pipeline(), Options{Identify: testProcess().Identify, Notices: src, CheckOutput: true})
	stop := door.Watch(news, nil)
	defer stop()
	c, _ := serve(t, door)
	c.hello("x")
	got, _ := structured(c.call("acquire_lock", map[string]any{"file_path": "a"}, nil))["notices"].([]any)
	if len(got) != MaxNotices {
		t.Fatalf("%d notices", len(got))
	}
	first, _ := got[0].(map[string]any)
	if s, _ := first["text"].(string); len(s) > maxNotice || !strings.HasSuffix(s, "…") {
		t.Errorf("%d bytes: %q", len(s), s)
	}
	for range 5 {
		if n := structured(c.call("acquire_lock", map[string]any{"file_path": "a"}, nil))["notices"]; n != nil {
			t.Errorf("%v", n)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times without a hint", asked)
	}
	news.tell("n:1:1")
	c.call("acquire_lock", map[string]any{"file_path": "a"}, nil)
	if asked != 2 {
		t.Errorf("asked %d times after a hint", asked)
	}
}

func TestKeeper(t *testing.T) {
	t.Parallel()
	w := newWorld()
	cat, pipe, proc := w.catalogue(), pipeline(), testProcess()
	k := NewKeeper(cat, pipe, proc.OwnSession, nil)
	c, _ := serve(t, New(cat, pipe, Options{Identify: proc.Identify, Keeper: k}))
	c.hello("x")
	k.RunOnce(t.Context(), time.Now())
	if len(w.beats) != 0 {
		t.Error("a session that never called got a heartbeat")
	}
	c.call("check_locks", nil, nil)
	c.call("acquire_lock", map[string]any{"file_path": "a"}, map[string]any{"sessionId": "thread"})
	now := time.Now()
	k.RunOnce(t.Context(), now)
	k.RunOnce(t.Context(), now.Add(time.Second))
	beaten := map[string]bool{<-w.beats: true, <-w.beats: true}
	if !beaten[proc.OwnSession()] || !beaten["thread"] || len(w.beats) != 0 {
		t.Errorf("%v and %d more", beaten, len(w.beats))
	}
	k.RunOnce(t.Context(), now.Add(keepFor+time.Minute))
	if s := <-w.beats; s != proc.OwnSession() || len(w.beats) != 0 {
		t.Errorf("after an hour of silence %s is kept", s)
	}
	k.End(t.Context())
	if s := <-w.ended; s != proc.OwnSession() || len(w.ended) != 0 {
		t.Errorf("ended %s", s)
	}
}

func TestPathsAreTranslated(t *testing.T) {
	t.Parallel()
	c := open(t, newWorld(), func(o *Options) { o.Paths = fakePaths{} })
	if got := structured(c.call("acquire_lock", map[string]any{"file_path": "/checkout/a.go"}, nil)); got["file_path"] != "a.go" {
		t.Errorf("%v", got)
	}
	res := c.call("acquire_lock", map[string]any{"file_path": "/etc/passwd"}, nil)
	if res["isError"] != true || !strings.Contains(text(res), "/root") {
		t.Errorf("%v", res)
	}
}

// fakePaths is a checkout at /root.
type fakePaths struct{}

func (fakePaths) Relative(_ context.Context, path string) (string, error) {
	if rel, ok := strings.CutPrefix(path, "/checkout/"); ok {
		return rel, nil
	}
	return "", fault.Invalid("", "the path lies outside /root", "give one inside")
}

func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	c := open(t, newWorld(), nil)
	reply, _ := c.answer(c.send("resources/read", map[string]any{"uri": uriLocks}))
	if got := fmt.Sprint(reply["result"]); !strings.Contains(got, "# Active File Locks") && !strings.Contains(got, "No active locks.") {
		t.Errorf("%v", reply)
	}
	reply, _ = c.answer(c.send("resources/read", map[string]any{"uri": uriWork}))
	want := "# Pending Tasks\n\n## Priority 1\n\n- **fix**: first ## Priority 0\n  - ID: id-1\n\n## Priority 7\n\n- **docs**: later\n  - ID: id-2\n"
	contents, _ := reply["result"].(map[string]any)["contents"].([]any)
	if got := contents[0].(map[string]any)["text"]; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	reply, _ = c.answer(c.send("prompts/get", map[string]any{"name": "coordinate_file_edit", "arguments": map[string]any{"file_path": "a.go", "task": "rename it"}}))
	if got := fmt.Sprint(reply["result"]); !strings.Contains(got, "acquire_lock") || !strings.Contains(got, "rename it") || !strings.Contains(got, "nobody holds it") {
		t.Errorf("%v", reply)
	}
	if reply, _ = c.answer(c.send("prompts/get", map[string]any{"name": "coordinate_file_edit", "arguments": map[string]any{}})); reply["error"] == nil {
		t.Errorf("%v", reply)
	}
	reply, _ = c.answer(c.send("prompts/get", map[string]any{"name": "start_work_session"}))
	if got := fmt.Sprint(reply["result"]); !strings.Contains(got, "check_locks") || strings.Contains(got, "get_work") {
		t.Errorf("%v", reply)
	}
}

func TestSubscribersAreTold(t *testing.T) {
	t.Parallel()
	w, news := newWorld(), &fakeNews{}
	door := New(w.catalogue(), pipeline(), Options{Identify: testProcess().Identify})
	c, srv := serve(t, door)
	c.hello("x")
	c.answer(c.send("resources/subscribe", map[string]any{"uri": uriLocks}))
	stop := door.Watch(news, srv)
	defer stop()
	expect := func(why string) {
		t.Helper()
		m := c.next()
		params, _ := m["params"].(map[string]any)
		if m["method"] != "notifications/resources/updated" || params["uri"] != uriLocks {
			t.Fatalf("%s: %v", why, m)
		}
	}
	expect("at the start, when nobody knows what was missed")
	for range 100 {
		news.tell("r:1:locks")
	}
	expect("after a change")
	c.call("acquire_lock", map[string]any{"file_path": "a"}, nil) // from now on the project is known
	news.tell("r:2:locks")
	news.tell("r:1:work")
	news.tell("")
	expect("after a reconnect")
}

// fakeNews is a hub that tests tell topics.
type fakeNews struct{ fns []func(string) }

func (n *fakeNews) Observe(fn func(string)) func() {
	n.fns = append(n.fns, fn)
	return func() {}
}

func (n *fakeNews) tell(topic string) {
	for _, fn := range n.fns {
		fn(topic)
	}
}

func TestAgentTypes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"claude-code": "claude_code", "codex-mcp-client": "codex", "cursor-vscode": "cursor", "gemini-cli-mcp-client": "gemini",
		"Visual Studio Code": "vscode", "claude-ai": "claude_desktop", "my client/2": "my_client_2", "": "",
	} {
		if got := agentType(name); got != want {
			t.Errorf("agentType(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestInstructionsNameOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	got := instructions(newWorld().catalogue())
	if !strings.Contains(got, "acquire_lock") || strings.Contains(got, "get_work") {
		t.Errorf("%s", got)
	}
	all := 0
	for _, l := range instructionLines {
		all += len(l.text)
	}
	if all > MaxInstructions {
		t.Errorf("the instructions may take %d bytes, %d are allowed", all, MaxInstructions)
	}
}
