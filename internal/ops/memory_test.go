package ops_test

import (
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// Bodies as each generation of clients sends them, and the members each reads.
func TestMemoryServesEveryClientGeneration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := must[client.Remembered](w, anyone, "ana", "", "remember", map[string]any{ // the first SDK
		"agent_id": "ana", "session_id": "s", "event_type": "error_resolved", "summary": "deploy fails when MIGRATE_URL is unset",
		"details": map[string]any{"log": "exit 3"}, "outcome": "success", "lessons": []any{"set MIGRATE_URL"}, "tags": []any{"deploy"},
	})
	if !first.Success || first.MemoryID == "" || first.Action != "stored" {
		t.Fatalf("%+v", first)
	}
	again := must[client.Remembered](w, anyone, "ana", "", "remember", map[string]any{"event_type": "error_resolved", "summary": "deploy fails when MIGRATE_URL is unset", "lessons": nil})
	if again.Action != "merged" || again.MemoryID != first.MemoryID {
		t.Errorf("%+v", again)
	}
	for name, body := range map[string]map[string]any{
		"first":   {"agent_id": "ana", "task_description": "fix the deploy", "tags": []any{"deploy"}, "limit": 10.0},
		"later":   {"agent_id": "ana", "tags": []any{"deploy"}, "event_type": "error_resolved", "limit": 5.0},
		"minimal": {"agent_id": "ana"},
		"probe":   {},
	} {
		got := must[client.Recalled](w, anyone, "ana", "", "recall", body)
		if got.Count != 1 || got.Truncated || len(got.Memories) != 1 {
			t.Fatalf("%s: %+v", name, got)
		}
		m := got.Memories[0]
		if m.MemoryType != "episodic" || m.Content["summary"] == nil || m.Relevance <= 0 || m.ID != m.MemoryID || m.EventType != "error_resolved" ||
			m.Summary == "" || m.Outcome != "success" || len(m.Lessons) != 1 || m.Tags[0] != "deploy" || m.RelevanceScore != m.Relevance || m.CreatedAt == "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	item := must[client.WorkingUpdated](w, anyone, "ana", "s", "working_update", map[string]any{
		"context_item": map[string]any{"type": "note", "content": map[string]any{"file": "a.go"}, "timestamp": "2026-01-01T00:00:00Z"},
	})
	if !item.Success || item.Tokens == 0 {
		t.Errorf("%+v", item)
	}
	skill := must[client.StoredSkill](w, anyone, "ana", "", "skill_store", map[string]any{"name": "run the deploy", "steps": []any{"make deploy"}, "tags": []any{"deploy"}})
	used := must[client.UsedSkill](w, anyone, "ana", "", "skill_use", map[string]any{"skill_id": skill.SkillID, "success": true})
	if used.SuccessRate < .66 || used.SuccessRate > .67 || used.Uses != 1 {
		t.Errorf("%+v", used)
	}
	got := must[client.Recalled](w, anyone, "ana", "", "recall", map[string]any{"task_description": "run the deploy"})
	if got.Memories[0].MemoryType != "procedural" || got.Memories[0].Content["success_rate"] != used.SuccessRate || got.Memories[0].Content["skill_name"] != "run the deploy" {
		t.Errorf("%+v", got.Memories)
	}
	if _, err := do[client.UsedSkill](w, anyone, "ana", "", "skill_use", map[string]any{"skill_id": first.MemoryID, "success": true}); !fault.Is(err, client.CodeNotFound) {
		t.Errorf("a memory is no skill: %v", err)
	}
}

func TestWorkTeachesAndIsTaught(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	submit := func(text string) {
		must[client.SubmittedWork](w, anyone, "boss", "", "submit_work", map[string]any{"task_type": "bugfix", "description": text})
	}
	submit("retry the upload client after ECONNRESET")
	first := must[client.Work](w, anyone, "ana", "", "get_work", nil)
	if len(first.Memories) != 0 || first.MemoryNote != "" {
		t.Fatalf("nothing was remembered yet: %+v", first.Memories)
	}
	skill := must[client.StoredSkill](w, anyone, "ana", "", "skill_store", map[string]any{"name": "rotate certificates", "steps": []any{"openssl"}})
	done := must[client.TaskChange](w, anyone, "ana", "", "complete_work", map[string]any{
		"task_id": *first.TaskID, "success": true, "skill_id": skill.SkillID,
		"result": map[string]any{"lessons": []any{"the upload client needs backoff with jitter"}, "commit": "abc"},
	})
	if done.MemoryID == "" || done.MemoryNote != "" {
		t.Fatalf("%+v", done)
	}
	if s := must[client.Skills](w, anyone, "", "", "list_skills", nil).Skills[0]; s.Uses != 1 || s.Successes != 1 {
		t.Errorf("the skill's use was not counted: %+v", s)
	}
	submit("the upload client gives up after ECONNRESET")
	second := must[client.Work](w, anyone, "ben", "", "get_work", nil)
	if len(second.Memories) != 1 || second.Memories[0].MemoryID != done.MemoryID {
		t.Fatalf("the second agent was not told: %+v", second.Memories)
	}
	b := must[client.Brief](w, anyone, "ben", "", "session_brief", nil)
	if len(b.Lessons) != 1 || !strings.Contains(b.Lessons[0].Text, "jitter") {
		t.Errorf("brief: %+v", b.Lessons)
	}
	for _, args := range []map[string]any{{"remember": false, "result": map[string]any{"lessons": []any{"x"}}}, {"result": map[string]any{"commit": "def"}}} {
		submit("write a poem")
		task := must[client.Work](w, anyone, "cyd", "", "get_work", nil)
		if len(task.Memories) != 0 {
			t.Errorf("a poem has nothing to do with %+v", task.Memories)
		}
		args["task_id"], args["success"] = *task.TaskID, true
		if out := must[client.TaskChange](w, anyone, "cyd", "", "complete_work", args); out.MemoryID != "" {
			t.Errorf("recorded unasked: %+v", out)
		}
	}
}
