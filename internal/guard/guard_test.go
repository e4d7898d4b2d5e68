package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/guard"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/internal/repo"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// notices hands every waiting notice to the door.
type notices struct{ store *coord.Store }

func (n notices) Notices(ctx context.Context, c ident.Caller) (client.Notices, error) {
	return n.store.TakeNotices(ctx, c, 10)
}

// world is the service with a repository that has two working trees, ana's and bob's.
type world struct {
	t        *testing.T
	url      string
	ana, bob string // working trees
	states   map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	store, hub := coord.New(pgtest.New(t, pgtest.MaxConns(6))), dispatch.New(nil)
	store.WakeTo(hub)
	cat := ops.Catalogue(ops.Deps{Store: store, Hub: hub})
	static, err := httpapi.NewKeys([]string{"secret", "supervisor"}, `{"supervisor": {"scopes": ["admin"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	door := httpapi.New(cat, &op.Pipeline{Resolver: store, Once: store}, httpapi.Options{Auth: store, Static: static, Ping: store.Ping, Notices: notices{store}, Observe: hub.Observe})
	srv := httptest.NewServer(door)
	t.Cleanup(func() { door.Stop(); srv.Close() })
	w := &world{t: t, url: srv.URL, ana: tree(t, "src/held.go", "src/free.go", "other.txt"), states: map[string]string{}}
	w.sh(w.ana, "git init -q -b main . && echo '*.log' > .gitignore && git add -A && git -c user.name=a -c user.email=a@x commit -qm one")
	w.sh(w.ana, "echo 'two' > src/held.go && git -c user.name=a -c user.email=a@x commit -qam two")
	w.bob = filepath.Join(tree(t), "bob")
	w.sh(w.ana, "git worktree add -q -b bob "+w.bob)
	return w
}

// sh runs a command as an agent's shell would.
func (w *world) sh(dir, command string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "bash", "-c", command)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// guard is the hook of an agent, on a machine of its own.
func (w *world) guard(agent string) *guard.Guard {
	if w.states[agent] == "" {
		w.states[agent] = w.t.TempDir()
	}
	return &guard.Guard{
		Fail: guard.FailOpen, State: w.states[agent], Server: w.url, Getenv: func(string) string { return "" },
		Dial: func(who guard.Who, told ...func(client.Notices)) (*client.AgentCoordinationClient, error) {
			opts := []client.Option{client.WithRetries(0), client.WithProject(who.Project), client.WithRepository(who.Repository)}
			if who.Session != "" {
				opts = append(opts, client.WithAgent(agent, "claude_code"), client.WithSession(who.Session))
			}
			for _, tell := range told {
				opts = append(opts, client.WithNotices(tell))
			}
			return client.New(w.url, "secret", opts...)
		},
	}
}

// hook sends one hook call of agent, whose session is named after it.
func (w *world) hook(agent, cwd, event, tool string, input any) guard.Decision {
	w.t.Helper()
	raw, err := json.Marshal(map[string]any{"session_id": agent + "-s", "cwd": cwd, "hook_event_name": event, "tool_name": tool, "tool_input": input})
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := guard.Decode(guard.ClaudeCode, raw, cwd)
	if err != nil {
		w.t.Fatal(err)
	}
	d := w.guard(agent).Handle(w.t.Context(), c)
	if d.Person != "" && strings.Contains(d.Person, "could not be asked") && w.url != "" {
		w.t.Fatalf("%s %s: %s", event, tool, d.Person)
	}
	return d
}

// bash runs a command in dir as the agent's tool call, between its hooks: refused, or what the hook after it says.
func (w *world) bash(agent, dir, command string) (refused bool, after guard.Decision) {
	w.t.Helper()
	in := map[string]string{"command": command}
	if d := w.hook(agent, dir, "PreToolUse", "Bash", in); d.Deny != "" {
		return true, d
	}
	cmd := exec.CommandContext(w.t.Context(), "bash", "-c", command)
	cmd.Dir = dir
	_ = cmd.Run() // the tool's failure is no matter of the hooks
	return false, w.hook(agent, dir, "PostToolUse", "Bash", in)
}

func (w *world) api(agent string) *client.AgentCoordinationClient {
	w.t.Helper()
	r, err := repo.IdentifyEnv(w.t.Context(), w.ana, func(string) string { return "" })
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := client.New(w.url, "secret")
	if err != nil {
		w.t.Fatal(err)
	}
	at, err := c.ResolveRepository(w.t.Context(), client.ResolveRepository{Name: r.Name, RootCommit: r.RootCommit})
	if err != nil {
		w.t.Fatal(err)
	}
	c.Close()
	c, err = client.New(w.url, "secret", client.WithAgent(agent, "codex"), client.WithSession(agent+"-s"), client.WithProject(at.Project), client.WithRepository(at.Repository))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// Thirty and more ways to write a file that ana holds, tried by bob in another working tree: each is refused, or it is
// reported with the culprit right after the call.
func TestNoWayAroundALock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if d := w.hook("ana", w.ana, "PreToolUse", "Edit", map[string]string{"file_path": filepath.Join(w.ana, "src/held.go")}); d.Deny != "" {
		t.Fatal(d.Deny)
	}
	w.hook("bob", w.bob, "SessionStart", "", nil)
	held := filepath.Join(w.bob, "src/held.go")
	for _, tool := range []string{"Edit", "Write", "MultiEdit"} {
		if d := w.hook("bob", w.bob, "PreToolUse", tool, map[string]string{"file_path": held}); !strings.Contains(d.Deny, "src/held.go is held by ana") {
			t.Errorf("%s: %+v", tool, d)
		}
	}
	if d := w.hook("bob", w.bob, "PreToolUse", "NotebookEdit", map[string]string{"notebook_path": held}); d.Deny == "" {
		t.Error("NotebookEdit was let through")
	}
	patch := "*** Begin Patch\n*** Update File: src/held.go\n@@\n-two\n+3\n*** End Patch"
	if d := w.hook("bob", w.bob, "PreToolUse", "apply_patch", map[string]string{"command": patch}); d.Deny == "" {
		t.Error("apply_patch was let through")
	}
	diff := `printf -- '--- a/src/held.go\n+++ b/src/held.go\n@@ -1 +1 @@\n-two\n+3\n' > /tmp/p$$.patch; `
	refused, reported := 0, 0
	for _, command := range []string{
		"echo 3 > src/held.go", "echo 3 >> src/held.go", "echo 3 >| src/held.go", "echo 3 | tee src/held.go", "cat > src/held.go <<'E'\n3\nE",
		"sed -i s/two/3/ src/held.go", "sed -i.bak s/two/3/ src/*.go", "perl -pi -e s/two/3/ src/held.go", "mv other.txt src/held.go", "cp other.txt src/held.go",
		"rm src/held.go", "rm -rf src", "truncate -s 0 src/held.go", "dd if=/dev/null of=src/held.go", "ln -sf ../other.txt src/held.go",
		"install -m 644 other.txt src/held.go", "git checkout HEAD~1 -- src/held.go", "git restore -s HEAD~1 src/held.go", "git rm -q src/held.go",
		"git mv src/held.go src/moved.go", "mv src lib", "sh -c 'echo 3 > src/held.go'", "cd src && echo 3 > held.go", "f=src/held.go; echo 3 > $f",
		"eval 'echo 3 > src/held.go'", "ln -s src/held.go link && echo 3 > link", "for f in src/*.go; do echo 3 > $f; done", "echo 3 > \"$PWD/src/held.go\"",
		"(echo 3 > src/held.go) &\nwait", "env -i bash -c 'echo 3 > src/held.go'", "sort -o src/held.go other.txt",
		diff + "git apply /tmp/p$$.patch; rm /tmp/p$$.patch", diff + "patch -s -p1 < /tmp/p$$.patch; rm /tmp/p$$.patch",
		"find src -name held.go -exec sh -c 'echo 3 > $0' {} \\;", "echo src/held.go | xargs sed -i s/two/3/", "find src -name held.go -delete",
		"w() { echo 3 > $1; }; w src/held.go", "f=$(echo src/held.go); echo 3 > $f", "awk 'BEGIN { print 3 > \"src/held.go\" }'",
		"perl -e 'open F, \">src/held.go\"; print F 3'", "printf 'echo 3 > src/held.go' > x.sh; sh x.sh; rm x.sh",
		"python3 -c \"open('src/held.go','w').write('3')\"", "python3 - <<'E'\nimport pathlib\npathlib.Path('src/held.go').write_text('3')\nE",
		"git reset -q --hard HEAD~1 && git reset -q --soft HEAD@{1}", "git show HEAD~1:src/held.go | (cat > src/held.go)", "yes | head -1 | while read l; do echo $l > src/held.go; done",
	} {
		no, d := w.bash("bob", w.bob, command)
		told := strings.Contains(strings.Join(d.Context, "\n"), "src/held.go (held by ana)")
		raw, err := os.ReadFile(held)
		untouched := err == nil && string(raw) == "two\n"
		switch {
		case no && untouched:
			refused++
		case told && !untouched:
			reported++
		case !no && untouched && !told:
			t.Logf("%s: it did nothing here (a tool is missing?)", command)
		default:
			t.Errorf("%s\n\trefused %v, reported %v, the file is untouched %v: %+v", command, no, told, untouched, d)
		}
		w.sh(w.bob, "git reset -q --hard && git checkout -q bob && git clean -qfd")
		w.hook("bob", w.bob, "SessionStart", "", nil) // the tree is as it was: what the reset changed is nobody's doing
	}
	t.Logf("%d refused beforehand, %d reported afterwards", refused, reported)
	if refused < 30 {
		t.Errorf("only %d were refused beforehand", refused)
	}
	list, err := w.api("eva").ListViolations(t.Context(), client.ListViolations{})
	if err != nil || list.Count == 0 && reported > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, v := range list.Violations {
		if v.AgentID != "bob" || v.LockedBy != "ana" {
			t.Errorf("the culprit is %s, the holder %s", v.AgentID, v.LockedBy)
		}
	}
}

// What bob may do although ana works nearby.
func TestOrdinaryCallsAreNotRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook("ana", w.ana, "PreToolUse", "Edit", map[string]string{"file_path": filepath.Join(w.ana, "src/held.go")})
	w.hook("bob", w.bob, "SessionStart", "", nil)
	for _, command := range []string{
		"ls -la", "cat src/held.go", "grep -rn two src", "git status", "git diff", "git log --oneline", "echo 3 > src/free.go", "sed -i s/x/y/ other.txt",
		"echo note > build.log", "mkdir -p out && echo 1 > out/a.txt", "wc -l src/*.go", "sed -n 1,3p src/held.go", "cat src/held.go > /dev/null",
		"cp src/held.go src/copy.go", "diff src/held.go src/free.go", "sort src/held.go | uniq -c", "git stash list", "git show HEAD:src/held.go | head -1",
		"find . -name '*.go' | head", "test -f src/held.go && echo yes", "rm -f src/copy.go", "git add -A", "git -c user.name=b -c user.email=b@x commit -qm b",
	} {
		refused, d := w.bash("bob", w.bob, command)
		if refused || strings.Contains(strings.Join(d.Context, "\n"), "held by ana") {
			t.Errorf("%s: refused %v, %+v", command, refused, d)
		}
	}
	for _, tool := range []string{"Read", "Grep", "Glob", "WebFetch", "TodoWrite", "Task", "mcp__coord__acquire_lock"} {
		if d := w.hook("bob", w.bob, "PreToolUse", tool, map[string]string{"file_path": filepath.Join(w.bob, "src/held.go")}); d.Deny != "" {
			t.Errorf("%s: %s", tool, d.Deny)
		}
	}
	for _, path := range []string{filepath.Join(w.bob, ".git/info/exclude"), "/tmp/elsewhere.txt", filepath.Join(w.bob, "new/file.go")} {
		if d := w.hook("bob", w.bob, "PreToolUse", "Write", map[string]string{"file_path": path}); d.Deny != "" {
			t.Errorf("%s: %s", path, d.Deny)
		}
	}
}

func TestASessionsLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	start := w.hook("ana", w.ana, "SessionStart", "", nil)
	if len(start.Context) == 0 || !strings.Contains(start.Context[0], "You are ana, session ana-s") {
		t.Fatalf("%+v", start)
	}
	file := filepath.Join(w.ana, "src/held.go")
	w.hook("ana", w.ana, "PreToolUse", "Write", map[string]string{"file_path": file})
	if _, err := w.api("bob").SendMessage(ctx, client.SendMessage{To: []string{"ana"}, Text: "mind the tests"}); err != nil {
		t.Fatal(err)
	}
	w.sh(w.ana, "echo 3 > src/held.go")
	after := w.hook("ana", w.ana, "PostToolUse", "Write", map[string]string{"file_path": file})
	if !strings.Contains(strings.Join(after.Context, "\n"), "mind the tests") {
		t.Errorf("the message did not come with the hook: %+v", after)
	}
	if again := w.hook("ana", w.ana, "UserPromptSubmit", "", nil); strings.Contains(strings.Join(again.Context, "\n"), "mind the tests") {
		t.Errorf("the message came twice: %+v", again)
	}
	holders := func() int {
		t.Helper()
		l, err := w.api("eva").CheckLocks(ctx, client.CheckLocks{})
		if err != nil {
			t.Fatal(err)
		}
		return l.Count
	}
	if n := holders(); n != 1 {
		t.Fatalf("%d locks, want 1", n)
	}
	w.hook("ana", w.ana, "Stop", "", nil)
	if n := holders(); n != 0 {
		t.Errorf("%d locks after the turn, want none", n)
	}
	w.hook("ana", w.ana, "PreToolUse", "Write", map[string]string{"file_path": file})
	w.hook("ana", w.ana, "SessionEnd", "", nil)
	if n := holders(); n != 0 {
		t.Errorf("%d locks after the session, want none", n)
	}
}

func TestFailModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.url = "" // nobody answers
	dead := httptest.NewServer(nil)
	dead.Close()
	for _, mode := range []guard.Fail{guard.FailOpen, guard.FailClosed} {
		g := &guard.Guard{
			Fail: mode, State: t.TempDir(), Server: dead.URL, Getenv: func(string) string { return "" },
			Dial: func(guard.Who, ...func(client.Notices)) (*client.AgentCoordinationClient, error) {
				return client.New(dead.URL, "secret", client.WithRetries(0))
			},
		}
		d := g.Handle(context.Background(), guard.Call{Event: guard.BeforeTool, Session: "s", Cwd: w.ana, Tool: "Write", Input: json.RawMessage(`{"file_path":"src/held.go"}`)})
		if closed := d.Deny != ""; closed != (mode == guard.FailClosed) || !closed && !strings.Contains(d.Person, "NOT checked") {
			t.Errorf("%s: %+v", mode, d)
		}
		if d := g.Handle(context.Background(), guard.Call{Event: guard.Stop, Session: "s", Cwd: w.ana}); d.Deny != "" || d.Person == "" {
			t.Errorf("%s at the end of a turn: %+v", mode, d)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	deny := guard.Decision{Deny: "no"}
	for _, c := range []struct {
		call guard.Call
		d    guard.Decision
		want string
	}{
		{guard.Call{Host: guard.ClaudeCode, Event: guard.BeforeTool, HostName: "PreToolUse"}, deny, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`},
		{guard.Call{Host: guard.Codex, Event: guard.BeforeTool, HostName: "PreToolUse"}, guard.Decision{}, ``},
		{guard.Call{Host: guard.ClaudeCode, Event: guard.AfterTool, HostName: "PostToolUse"}, guard.Decision{Context: []string{"a", "b"}}, `{"hookSpecificOutput":{"additionalContext":"a\nb","hookEventName":"PostToolUse"}}`},
		{guard.Call{Host: guard.ClaudeCode, Event: guard.Stop, HostName: "Stop"}, guard.Decision{Person: "p"}, `{"systemMessage":"p"}`},
		{guard.Call{Host: guard.Cursor, Event: guard.BeforeTool, HostName: "preToolUse"}, deny, `{"agent_message":"no","permission":"deny","user_message":"no"}`},
	} {
		if got := strings.TrimSpace(string(c.call.Answer(c.d))); got != c.want {
			t.Errorf("%s %s: %s", c.call.Host, c.call.HostName, got)
		}
	}
}

// The guard at the commit and the push, in a repository with a remote.
func TestCommitAndPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	remote := filepath.Join(tree(t), "r.git")
	w.sh(w.ana, "git init -q --bare -b main "+remote+" && git push -q "+remote+" main && git remote add up "+remote+" && git fetch -q up")
	if _, err := w.api("ana").AcquireLock(ctx, client.AcquireLock{FilePath: "src/", Reason: "moving things"}); err != nil {
		t.Fatal(err)
	}
	bypass := ""
	commit := func(agent, session, dir string, stage guard.Stage, in string) (string, error) {
		g := w.guard(agent)
		g.Getenv = func(name string) string { return map[string]string{guard.BypassVariable: bypass}[name] }
		dial := g.Dial
		g.Dial = func(who guard.Who, told ...func(client.Notices)) (*client.AgentCoordinationClient, error) {
			if who.Session == "" && who.Acts {
				who.Session = agent + "-s"
			}
			return dial(who, told...)
		}
		return g.Commit(ctx, stage, dir, session, nil, strings.NewReader(in))
	}

	w.sh(w.bob, "echo 3 > src/held.go && echo 3 > other.txt && git add -A")
	if _, err := commit("bob", "bob-s", w.bob, guard.PreCommit, ""); !errors.Is(err, guard.ErrRefused) || !strings.Contains(err.Error(), `src/held.go is held by ana, who says: "moving things"`) ||
		strings.Contains(err.Error(), "other.txt") {
		t.Errorf("bob's commit: %v", err)
	}
	if _, err := commit("ana", "ana-s", w.bob, guard.PreCommit, ""); err != nil {
		t.Errorf("the holder's own commit: %v", err)
	}
	bypass = "ana is away"
	note, err := commit("bob", "", w.bob, guard.PreCommit, "")
	if err != nil || !strings.Contains(note, "recorded and told") {
		t.Errorf("with a reason: %q, %v", note, err)
	}
	if list, err := w.api("eva").ListViolations(ctx, client.ListViolations{}); err != nil || list.Count != 1 || list.Violations[0].Bypass != "ana is away" || list.Violations[0].Stage != "commit" {
		t.Errorf("%+v, %v", list, err)
	}
	bypass = ""

	w.sh(w.bob, "git -c user.name=b -c user.email=b@x commit -qm three")
	refs := "refs/heads/bob " + strings.TrimSpace(w.sh(w.bob, "git rev-parse HEAD")) + " refs/heads/bob " + strings.Repeat("0", 40) + "\n"
	if _, err := commit("bob", "bob-s", w.bob, guard.PrePush, refs); !errors.Is(err, guard.ErrRefused) || !strings.Contains(err.Error(), "src/held.go") {
		t.Errorf("bob's push: %v", err)
	}
	if _, err := commit("bob", "bob-s", w.bob, guard.PrePush, "(delete) "+strings.Repeat("0", 40)+" refs/heads/x "+strings.Repeat("1", 40)+"\n"); err != nil {
		t.Errorf("deleting a branch: %v", err)
	}

	msg := filepath.Join(t.TempDir(), "msg")
	if err := os.WriteFile(msg, []byte("four\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.sh(w.bob, "echo 4 > src/held.go && git add -A")
	if _, err := w.guard("ana").Commit(ctx, guard.CommitMsg, w.bob, "ana-s", []string{msg}, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(msg)
	if err != nil || !strings.Contains(string(raw), "Coord-Session: ana-s") || !strings.Contains(string(raw), "Coord-Fence: ") || !strings.Contains(string(raw), " src/") {
		t.Errorf("the message: %s, %v", raw, err)
	}
}
