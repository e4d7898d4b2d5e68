package guard_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/guard"
)

// corpus reads a list of commands, one a line: a # at the beginning is a comment, \n a line break. HERE, OTHER and HOME
// stand for the working tree, another one and the home directory.
func corpus(t *testing.T, name string, w *world) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "# ") {
			out = append(out, strings.NewReplacer(`$HOME`, `$HOME`, `\n`, "\n", "HERE", w.bob, "OTHER", w.ana, "HOME", home(t)).Replace(line))
		}
	}
	return out
}

func home(t *testing.T) string {
	t.Helper()
	dir, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	return dir
}

// person is somebody who supervises.
func (w *world) person() *client.AgentCoordinationClient {
	w.t.Helper()
	who, err := w.api("bob").Whoami(w.t.Context(), client.None{})
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := client.New(w.url, "supervisor", client.WithProject(who.Project))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// ask sends one hook call as a host puts it.
func (w *world) ask(agent, cwd string, in map[string]any, host guard.Host) guard.Decision {
	w.t.Helper()
	in["session_id"], in["cwd"] = agent+"-s", cwd
	raw, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := guard.Decode(host, raw, cwd)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.guard(agent).Handle(w.t.Context(), c)
}

// Two hundred ordinary tool calls, while another session holds a file and the rules on destructive commands are as
// delivered: none is refused and nobody is asked.
func TestTwoHundredOrdinaryCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook("ana", w.ana, "PreToolUse", "Edit", map[string]string{"file_path": filepath.Join(w.ana, "src/held.go")})
	w.hook("bob", w.bob, "SessionStart", "", nil)
	list := corpus(t, "ordinary.txt", w)
	for _, command := range list {
		if d := w.hook("bob", w.bob, "PreToolUse", "Bash", map[string]string{"command": command}); d.Deny != "" || d.Ask != "" {
			t.Errorf("%s: %s%s", command, d.Deny, d.Ask)
		}
		w.hook("bob", w.bob, "Stop", "", nil) // gives back what it took
	}
	if len(list) < 200 {
		t.Errorf("%d calls", len(list))
	}
	hits, err := w.api("ana").ListGuardrailHits(t.Context(), client.ListGuardrailHits{})
	if err != nil || len(hits.Hits) != 0 {
		t.Errorf("%+v, %v", hits, err)
	}
}

// Every destructive command of the corpus is refused, or its person asked; a host that cannot ask refuses.
func TestDestructiveCommandsAreStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook("bob", w.bob, "SessionStart", "", nil)
	asked, refused := 0, 0
	for _, line := range corpus(t, "destructive.txt", w) {
		rule, command, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("no rule: %s", line)
		}
		d := w.hook("bob", w.bob, "PreToolUse", "Bash", map[string]string{"command": command})
		if !strings.Contains(d.Deny+d.Ask, "(rule "+rule+")") {
			t.Errorf("%s: want rule %s, got %q", command, rule, d.Deny+d.Ask)
		}
		if d.Ask != "" {
			asked++
		} else if d.Deny != "" {
			refused++
		}
	}
	if asked+refused < 80 {
		t.Errorf("%d asked, %d refused", asked, refused)
	}
	t.Logf("%d refused, %d asked", refused, asked)
	d := w.ask("bob", w.bob, map[string]any{"hook_event_name": "PreToolUse", "tool_name": "shell", "tool_input": map[string]any{"command": []string{"bash", "-lc", "git clean -fdx"}}}, guard.Codex)
	if d.Deny == "" || d.Ask != "" {
		t.Errorf("Codex cannot ask: %+v", d)
	}
	d = w.ask("bob", w.bob, map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Bash", "permission_mode": "bypassPermissions", "tool_input": map[string]any{"command": "git clean -fdx"}}, guard.ClaudeCode)
	if d.Deny == "" {
		t.Errorf("nobody is there to be asked: %+v", d)
	}
	// What others changed in the same tree is not thrown away; what is only one's own is.
	if d := w.hook("bob", w.bob, "PreToolUse", "Bash", map[string]string{"command": "git reset --hard"}); d.Deny+d.Ask != "" {
		t.Errorf("nobody else works here: %+v", d)
	}
	w.hook("ana", w.bob, "PreToolUse", "Edit", map[string]string{"file_path": filepath.Join(w.bob, "other.txt")})
	w.sh(w.bob, "echo changed >> other.txt")
	if d := w.hook("bob", w.bob, "PreToolUse", "Bash", map[string]string{"command": "git reset --hard HEAD~1"}); !strings.Contains(d.Ask, "reset-hard") {
		t.Errorf("%+v", d)
	}
}

// A person lets one command through, once; a rule of the project says otherwise for all; a rule of its own counts, too.
func TestRulesAreThePersons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.person(), t.Context()
	run := func(command string) guard.Decision {
		return w.hook("bob", w.bob, "PreToolUse", "Bash", map[string]string{"command": command})
	}
	const push = "git push --force origin main"
	d := run(push)
	if !strings.Contains(d.Deny, "coordctl act approve ") {
		t.Fatalf("%+v", d)
	}
	run(push) // asked twice is one question
	acts, err := api.ListActs(ctx, client.ListActs{})
	if err != nil || len(acts.Acts) != 1 || acts.Acts[0].Kind != "command" || acts.Acts[0].AgentID != "bob" || acts.Acts[0].Arguments["command"] != push {
		t.Fatalf("%+v, %v", acts, err)
	}
	if _, err := api.ApproveAct(ctx, client.DecideAct{ActID: acts.Acts[0].ActID, Comment: "once"}); err != nil {
		t.Fatal(err)
	}
	if d := run("git push --force origin master"); d.Deny == "" {
		t.Error("another command was let through")
	}
	if d := run(push); d.Deny != "" || !strings.Contains(strings.Join(d.Context, " "), "approved") {
		t.Errorf("%+v", d)
	}
	if d := run(push); d.Deny == "" {
		t.Error("the approval was not used up")
	}
	if _, err := api.SetGuardrail(ctx, client.SetGuardrail{Rule: "force-push-protected", Action: "allow", Reason: "a sandbox"}); err != nil {
		t.Fatal(err)
	}
	if d := run(push); d.Deny != "" {
		t.Errorf("%+v", d)
	}
	if _, err := api.SetGuardrail(ctx, client.SetGuardrail{Rule: "no-deploy", Action: "deny", Pattern: `\bmake deploy\b`, Reason: "on Fridays"}); err != nil {
		t.Fatal(err)
	}
	for file := range strings.Lines(w.sh(w.bob, "ls "+w.states["bob"]+"/rules-*")) { // a minute later
		_ = os.Remove(strings.TrimSpace(file))
	}
	if d := run("make deploy"); !strings.Contains(d.Deny, "no-deploy") {
		t.Errorf("%+v", d)
	}
	hits, err := api.ListGuardrailHits(ctx, client.ListGuardrailHits{Agent: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, h := range hits.Hits {
		did = append(did, h.Action)
	}
	if got := strings.Join(did, " "); got != "deny allow deny approved deny deny deny" {
		t.Errorf("on record: %s", got)
	}
}

// What cannot be asked for: the rules as delivered hold, whatever the fail mode.
func TestRulesHoldWithoutTheCoordinator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook("bob", w.bob, "SessionStart", "", nil)
	g := w.guard("bob")
	g.Fail, g.Dial = guard.FailOpen, func(guard.Who, ...func(client.Notices)) (*client.AgentCoordinationClient, error) {
		return client.New("http://127.0.0.1:1", "secret")
	}
	for command, want := range map[string]string{"rm -rf HOME": "deny", "git clean -fdx": "ask", "ls": ""} {
		command = strings.ReplaceAll(command, "HOME", home(t))
		d := g.Handle(t.Context(), guard.Call{Host: guard.ClaudeCode, Event: guard.BeforeTool, HostName: "PreToolUse", Session: "bob-s", Cwd: w.bob, Tool: "Bash", Input: []byte(`{"command": "` + command + `"}`)})
		if got := map[bool]string{true: "deny", false: map[bool]string{true: "ask"}[d.Ask != ""]}[d.Deny != ""]; got != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

// A paused agent's edits are refused with who paused it and why, and it is told with its next hook.
func TestAPausedAgentsEditIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook("bob", w.bob, "SessionStart", "", nil)
	if _, err := w.person().PauseAgent(t.Context(), client.HoldAgent{Agent: "bob", Reason: "the release is going out"}); err != nil {
		t.Fatal(err)
	}
	edit := map[string]string{"file_path": filepath.Join(w.bob, "src/free.go")}
	if d := w.hook("bob", w.bob, "PreToolUse", "Edit", edit); !strings.Contains(d.Deny, "paused bob: the release is going out") {
		t.Errorf("%+v", d)
	}
	if d := w.hook("bob", w.bob, "UserPromptSubmit", "", nil); !strings.Contains(strings.Join(d.Context, "\n"), "paused you: the release is going out") {
		t.Errorf("%+v", d)
	}
	if d := w.hook("bob", w.bob, "SessionStart", "", nil); !strings.Contains(strings.Join(d.Context, "\n"), "paused bob") {
		t.Errorf("the brief does not say it: %+v", d)
	}
	if _, err := w.person().ResumeAgent(t.Context(), client.FreeAgent{Agent: "bob"}); err != nil {
		t.Fatal(err)
	}
	if d := w.hook("bob", w.bob, "PreToolUse", "Edit", edit); d.Deny != "" {
		t.Errorf("%+v", d)
	}
}

// What the host's transcript says of the models' use is reported when the turn ends, each answer once, however often its
// lines are read.
func TestTheTranscriptsUseIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "s.jsonl")
	say := func(lines ...string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(strings.Join(lines, "\n"))
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	stop := func() {
		w.ask("bob", w.bob, map[string]any{"hook_event_name": "Stop", "transcript_path": file}, guard.ClaudeCode)
	}
	answer := func(id, tokens string) string {
		return `{"type":"assistant","timestamp":"` + time.Now().UTC().Format(time.RFC3339) + `","message":{"id":"` + id + `","model":"opus","usage":{"input_tokens":` + tokens + `,"cache_read_input_tokens":100}}}`
	}
	w.hook("bob", w.bob, "SessionStart", "", nil)
	say(`{"type":"user","message":{"content":"go"}}`, answer("m1", "1"), answer("m1", "2"), `not json`, answer("m2", "3"), "", answer("m3", "4")[:40])
	stop()
	stop()
	say(answer("m3", "4")[40:], answer("m2", "3"), "")
	stop()
	got, err := w.api("ana").UsageSummary(t.Context(), client.UsageQuery{By: "session"})
	if err != nil || len(got.Groups) != 1 || got.Groups[0].Key != "bob-s" || got.Total.Reports != 3 || got.Total.InputTokens != 9 || got.Total.CacheReadTokens != 300 || got.Total.Uncosted != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}
