package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// has fails for every text that a page lacks.
func has(t *testing.T, where, body string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(body, s) {
			_, main, _ := strings.Cut(body, "<main")
			t.Errorf("%s lacks %q: %s", where, s, main)
			return
		}
	}
}

// Folders open and close by the address; a filter leaves what it names; a lock elsewhere in the tree stays closed.
func TestLockMapOpensFolders(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), t.Context()
	for _, p := range []string{"src/api/a.go", "src/web/deep/b.ts", "db:slot"} {
		if _, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: p, Reason: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	body := b.get("/ui/locks")
	has(t, "the whole tree", body, "3 locks, 0 waits", ">a.go<", ">b.ts<", ">web/deep<", ">slot<")
	if strings.Contains(body, "@default") {
		t.Error("the only repository's name is shown")
	}
	body = b.get("/ui/locks?open=src/")
	has(t, "src is open", body, `aria-expanded="true"`, ">api<")
	if strings.Contains(body, ">a.go<") || strings.Contains(body, ">slot<") {
		t.Error("closed folders show what is in them")
	}
	if body = b.get("/ui/locks?q=slot"); strings.Contains(body, ">a.go<") || !strings.Contains(body, ">slot<") {
		t.Error("the filter")
	}
	has(t, "flat", b.get("/ui/locks?as=flat"), ">src/web/deep/b.ts<")
	has(t, "no hit", b.get("/ui/locks?q=zzz"), "No lock fits", "Clear filter")
}

// The board, its graph and its list; a bulk act from the list; what is cancelled along is said before.
func TestBoardGraphAndBulk(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), t.Context()
	reply, err := ana.SubmitTasks(ctx, client.SubmitTasks{Tasks: []client.BatchTask{
		{Ref: "a", TaskSpec: client.TaskSpec{TaskType: "t", Description: "first step"}},
		{Ref: "b", TaskSpec: client.TaskSpec{TaskType: "t", Description: "second step"}, DependsOn: []string{"a"}},
		{Ref: "c", TaskSpec: client.TaskSpec{TaskType: "t", Description: "last step"}, DependsOn: []string{"b"}},
		{Ref: "d", TaskSpec: client.TaskSpec{TaskType: "t", Description: "alone"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	has(t, "the board", b.get("/ui/board"), "Two tasks are ready", "The longest chain has three tasks", "“first step”", "After first step")
	has(t, "the graph", b.get("/ui/board?as=graph"), `class="dag plain"`, "last step", "3 tasks in 3 steps")
	has(t, "the list", b.get("/ui/board?as=list&state=ready"), "alone", `name="id" value="`+reply.TaskIDs[3])
	has(t, "a task", b.get("/ui/tasks/"+reply.TaskIDs[1]), "Why it is not ready", "Before and behind it")
	has(t, "what cancelling means", b.get("/ui/dialog/cancel-task?id="+reply.TaskIDs[0]), "2 tasks are cancelled with it", "last step")
	ids := url.Values{"id": {reply.TaskIDs[0], reply.TaskIDs[3]}, "priority": {"1"}}
	has(t, "several", b.get("/ui/dialog/prioritise?"+ids.Encode()), "2 at once", "first step, alone")
	if status, body, _ := b.do(http.MethodPost, "/ui/act/prioritise", ids); status != http.StatusOK || !strings.Contains(body, "2 done.") {
		t.Fatalf("%d %s", status, body)
	}
	if got, err := ana.GetTask(ctx, client.TaskRef{TaskID: reply.TaskIDs[3]}); err != nil || got.Task.Priority != 1 {
		t.Errorf("%+v %v", got.Task, err)
	}
	if status, body, _ := b.do(http.MethodPost, "/ui/act/new-task", url.Values{"reason": {"from the page"}, "task_type": {"fix"}, "priority": {"2"}}); status != http.StatusOK {
		t.Errorf("a new task: %d %s", status, body)
	}
	has(t, "the new task", b.get("/ui/board"), "from the page", "P2")
	if status, body, _ := b.do(http.MethodPost, "/ui/act/approve", url.Values{"id": {"x", "y"}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, "too much at once") {
		t.Errorf("two approvals at once: %d %s", status, body)
	}
}

// Cards say what an agent holds and why it stands still; its own page has the same; all its locks can be taken away.
func TestFleetAndAgent(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), t.Context()
	if _, err := ana.RegisterSession(ctx, client.RegisterSession{CurrentTask: "moves the router"}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if _, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: fmt.Sprintf("src/f%d.go", i)}); err != nil {
			t.Fatal(err)
		}
	}
	has(t, "the fleet", b.get("/ui/fleet"), "1 agent, 1 at work", "moves the router", "f4.go", `href="/ui/agents/ana"`)
	has(t, "as a table", b.get("/ui/fleet?as=table"), "<table", "moves the router")
	has(t, "the agent", b.get("/ui/agents/ana"), "moves the router", "src/f3.go", "acquire_lock")
	has(t, "all its locks", b.get("/ui/dialog/release-all?id=ana"), "5 locks are released: src/f0.go", "and more")
	if status, body, _ := b.do(http.MethodPost, "/ui/act/release-all", url.Values{"id": {"ana"}, "reason": {"it is stuck"}}); status != http.StatusOK || !strings.Contains(body, "5 locks are free") {
		t.Fatalf("%d %s", status, body)
	}
	if held, err := ana.CheckLocks(ctx, client.CheckLocks{}); err != nil || held.Count != 0 {
		t.Errorf("%+v %v", held, err)
	}
	if status, _, _ := b.do(http.MethodGet, "/ui/agents/nobody", nil); status != http.StatusNotFound {
		t.Errorf("nobody: %d", status)
	}
}

// The command bar finds acts, views and things, and nothing that the key does not allow.
func TestCommandBar(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	ctx := t.Context()
	if _, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: "src/router.go"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ana.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: "split the <route> table"}}); err != nil {
		t.Fatal(err)
	}
	b := login(t, srv.URL, "reviewer")
	has(t, "nothing asked", b.get("/ui/find?q="), "New task", "Lock map", "Message all agents")
	has(t, "router", b.get("/ui/find?q=router"), "src/router.go", "held by ana", "Ask the memory")
	has(t, "release", b.get("/ui/find?q=force+rout"), "Force-release src/router.go", "data-dialog")
	has(t, "a task", b.get("/ui/find?q=split+table"), "split the &lt;route&gt; table")
	reader := login(t, srv.URL, "reader")
	if body := reader.get("/ui/find?q=release"); strings.Contains(body, "data-dialog") {
		t.Errorf("a reader is offered acts: %s", body)
	}
}

// One log in three views, a problem found, silence named.
func TestSessionTimeline(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), t.Context()
	run, err := ana.CreateRun(ctx, client.CreateRun{Type: "start_session", Prompt: "do it"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(minute int) string { return fmt.Sprintf("2026-01-02T10:%02d:00Z", minute) }
	for _, e := range []client.SessionEvent{
		{EventType: "session_start", Timestamp: at(0)},
		{EventType: "message", Role: "assistant", Timestamp: at(1), Content: []map[string]any{{"type": "text", "text": "I look <first>"}}},
		{EventType: "post_tool", ToolName: "mcp__coord__acquire_lock", Timestamp: at(2), ToolInput: map[string]any{"file_path": "a.go"}, ToolOutput: map[string]any{"success": true, "waited_ms": 30000}},
		{EventType: "post_tool", ToolName: "Edit", Timestamp: at(3), ToolInput: map[string]any{"file_path": "a.go"}},
		{EventType: "post_tool", ToolName: "Edit", Timestamp: at(4), ToolInput: map[string]any{"file_path": "b.go"}},
		{EventType: "post_tool", ToolName: "Bash", Timestamp: at(20), ToolInput: map[string]any{"command": "go test"}, Error: "exit 1: it broke"},
	} {
		e.SessionID = run.SessionID
		if _, err := ana.AddSessionEvent(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	path := "/ui/sessions/" + run.SessionID
	has(t, "compact", b.get(path), "× 2", "a.go, b.go", "Bash failed", "No events for 16 min", "One problem among 6 events", "exit 1: it broke", "I look &lt;first&gt;")
	has(t, "gantt", b.get(path+"?view=gantt"), `class="gantt"`, ">Locks<", ">Waits<", "no events 16 min", "b-error", `id="scrub"`)
	has(t, "raw", b.get(path+"?view=raw"), "&#34;event_type&#34;:&#34;session_start&#34;")
	if body := b.get(path + "?only=problems"); strings.Contains(body, "I look &lt;first&gt;</td>") {
		t.Error("problems only shows more")
	}
}
