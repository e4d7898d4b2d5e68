package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/tokens"
)

// text reads the one text of a resource or prompt.
func (a *agent) text(method string, params map[string]any) string {
	a.t.Helper()
	reply := a.answer(a.send(method, params))
	raw, err := json.Marshal(reply["result"])
	if err != nil {
		a.t.Fatal(err)
	}
	var out struct {
		Contents []struct{ Text string }
		Messages []struct{ Content struct{ Text string } }
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		a.t.Fatal(err)
	}
	switch {
	case len(out.Contents) == 1:
		return out.Contents[0].Text
	case len(out.Messages) == 1:
		return out.Messages[0].Content.Text
	}
	a.t.Fatalf("%s: %v", method, reply)
	return ""
}

func TestRecentMemoriesResource(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	read := map[string]any{"uri": "memories://recent"}
	if got := b.text("resources/read", read); got != "No memories yet." {
		t.Errorf("before anything was remembered: %q", got)
	}
	for i := range 22 {
		a.call("remember", map[string]any{
			"event_type": "discovery", "summary": fmt.Sprintf("the build of part %d needs\n# two steps", i), "outcome": "positive", "lessons": []string{fmt.Sprintf("lesson %d", i)},
		})
	}
	got := b.text("resources/read", read)
	if n := strings.Count(got, "- **discovery**: "); n != 20 || !strings.HasPrefix(got, "# Recent Memories\n") || strings.Contains(got, "\n# two") {
		t.Errorf("%d memories shown: %s", n, got)
	}
	for _, want := range []string{"the build of part 21 needs", "  - By: ana, ", "  - Outcome: positive", "  - Lesson: lesson 21"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown: %s", want, got)
		}
	}
	if strings.Contains(got, "lesson 0\n") || strings.Index(got, "part 21 ") > strings.Index(got, "part 20 ") {
		t.Errorf("these are not the newest, the newest first: %s", got)
	}
}

// The brief that begins a session is the same as a tool, over HTTP and in the prompt, in at most 600 tokens each.
func TestSessionBriefIsSmallThroughEveryDoor(t *testing.T) {
	t.Parallel()
	url, dir := api(t), checkout(t)
	ana := start(t, dir, map[string]string{"COORDINATION_API_URL": url, "COORDINATION_API_KEY": freeKey, "AGENT_ID": "ana", "SESSION_ID": "sa"})
	ben := start(t, dir, map[string]string{"COORDINATION_API_URL": url, "COORDINATION_API_KEY": freeKey, "AGENT_ID": "ben", "SESSION_ID": "sb"})
	long := strings.Repeat("a long story about the parser and its tests, ", 20)
	ben.call("check_locks", nil) // from now on he is known
	for i := range 8 {
		for tool, args := range map[string]map[string]any{
			"acquire_lock": {"file_path": fmt.Sprintf("src/file%d.go", i), "reason": long[:400]},
			"submit_work":  {"task_type": "fix", "description": fmt.Sprintf("task %d: %s", i, long)},
			"remember":     {"event_type": "discovery", "summary": fmt.Sprintf("lesson %d: %s", i, long), "lessons": []string{long}},
			"send_message": {"to": []string{"ben"}, "text": fmt.Sprintf("message %d: %s", i, long)},
		} {
			if r := ana.call(tool, args); r["success"] != true {
				t.Fatalf("%s: %v", tool, r)
			}
		}
	}
	tool := ben.call("session_brief", nil)
	check := func(door string, raw []byte) {
		t.Helper()
		var whole map[string]any
		if err := json.Unmarshal(raw, &whole); err != nil {
			t.Fatalf("%s: %v: %s", door, err, raw)
		}
		delete(whole, "notices") // they go with the result of any call, and have bounds of their own
		raw = compactJSON(t, whole)
		var b client.Brief
		if err := json.Unmarshal(raw, &b); err != nil || b.AgentID != "ben" || b.OthersLocksTotal != 8 || !b.Shortened {
			t.Errorf("%s: %v: %s", door, err, raw)
		}
		if n := tokens.Count(string(raw)); n > 600 {
			t.Errorf("%s: %d tokens: %s", door, n, raw)
		}
	}
	check("tool", compactJSON(t, tool))
	project, _ := tool["project"].(string)
	c, err := client.New(url, freeKey, client.WithAgent("ben", ""), client.WithSession("sb"), client.WithProject(project))
	if err != nil {
		t.Fatal(err)
	}
	brief, err := c.SessionBrief(t.Context(), client.None{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(brief)
	if err != nil {
		t.Fatal(err)
	}
	check("HTTP", raw)
	prompt := ben.text("prompts/get", map[string]any{"name": "start_work_session"})
	steps, inPrompt, found := strings.Cut(prompt, "The brief as of now:\n\n")
	if !found || !strings.Contains(steps, "1. Call session_brief") {
		t.Fatalf("prompt: %s", prompt)
	}
	check("prompt", []byte(strings.TrimSpace(inPrompt)))
}
