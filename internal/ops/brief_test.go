package ops_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

func TestBriefTellsWhatConcernsTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must[client.WrittenHandoff](w, anyone, "ana", "old", "write_handoff", map[string]any{"summary": "s", "next_steps": []any{"n1", map[string]any{"step": "n2"}}})
	must[client.WrittenHandoff](w, anyone, "cyd", "x", "write_handoff", map[string]any{"summary": "of somebody else, later"})
	must[client.SentMessage](w, anyone, "cyd", "x", "send_message", map[string]any{"to": []any{"ana"}, "text": "hello"})
	b := must[client.Brief](w, anyone, "ana", "new", "session_brief", nil)
	if b.Project != "demo" || b.AgentID != "ana" || b.SessionID != "new" || b.OthersActive != 2 || b.Unread != 1 || len(b.Messages) != 1 || b.Messages[0].Text != "hello" ||
		b.Handoff == nil || b.Handoff.AgentName != "ana" || len(b.Handoff.NextSteps) != 2 || b.Shortened {
		t.Fatalf("%+v", b)
	}
	if got := mailOf(w.notices("ana", "new")); len(got) != 0 {
		t.Errorf("told again in a notice: %v", got)
	}
	if b = must[client.Brief](w, anyone, "ana", "new", "session_brief", nil); b.Unread != 0 || len(b.Messages) != 0 {
		t.Errorf("a short message was read: %+v", b)
	}
}

func TestBriefFitsItsBudget(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain": strings.Repeat("lorem ipsum ", 300), "wide": strings.Repeat("日本語", 1200), "escaped": strings.Repeat("<&>", 1200),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i := range 5 {
				must[client.WrittenHandoff](w, anyone, "cyd", "", "write_handoff", map[string]any{"summary": text, "next_steps": []any{text, text, text, text}})
				must[client.SentMessage](w, anyone, "cyd", "", "send_message", map[string]any{"to": []any{"ana"}, "text": text, "allow_unknown": true})
				w.exec(`insert into public.file_locks (project_id, space, base, key, branch, session_id, kind, mode, token, ttl_minutes, acquired_at, expires_at, file_path, locked_by, agent_type, reason)
					select p.id, 0, $1, $1, '', 999 + $3 % 2, 'l', 'exclusive', 1, 30, coord.now(), coord.now() + interval '30 minutes', $1, 'cyd', 't', $2 from public.projects p`,
					fmt.Sprintf("dir%d/", i)+strings.Repeat("x", 300), text, i)
			}
			b := must[client.Brief](w, anyone, "ana", "", "session_brief", nil)
			raw, _ := json.Marshal(b)
			if n := coord.Tokens(string(raw)); n > 600 || len(raw) > 2400 || !b.Shortened || len(b.Messages) != 3 || b.OthersLocksTotal != 5 || b.Unread != 5 {
				t.Fatalf("%d bytes, %d tokens: %s", len(raw), coord.Tokens(string(raw)), raw)
			}
			for _, m := range b.Messages {
				if m.Text == "" || !m.More {
					t.Errorf("a cut message does not say so: %+v", m)
				}
			}
		})
	}
}

func TestDigestSaysWhatOthersChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a")
	must[client.WrittenHandoff](w, anyone, "bob", "`b`", "write_handoff", map[string]any{"summary": "s"})
	d := must[client.Digest](w, anyone, "ana", "", "project_digest", map[string]any{"peek": true})
	if d.Changes != 1 || d.Kinds[0].Operation != "write_handoff" || d.Kinds[0].Agents[0] != "bob" || !strings.Contains(d.Markdown, "- **write_handoff** ×1 by `bob`") ||
		!strings.Contains(d.Markdown, "## Newsletter tasks\nNone.") {
		t.Fatalf("%+v", d)
	}
	if d = must[client.Digest](w, anyone, "ana", "", "project_digest", nil); d.Changes != 1 {
		t.Fatalf("peeking moved the mark: %+v", d)
	}
	if d = must[client.Digest](w, anyone, "ana", "", "project_digest", nil); d.Changes != 0 {
		t.Fatalf("told twice: %+v", d)
	}
	w.here("bob", "`b2`")
	if d = must[client.Digest](w, anyone, "ana", "", "project_digest", nil); d.Changes != 1 || strings.Contains(d.Markdown, "``") {
		t.Fatalf("%+v", d)
	}
}

// The core tools of this noun are shown to every model in every session: their text is a budget.
func TestCoreToolsAreSmall(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, name := range []string{"session_brief", "handoff", "who_is_active", "send_message"} {
		d := catalogue().Get(name)
		raw, err := json.Marshal(d.In)
		if err != nil || d.Tool.Profile != op.Core {
			t.Fatalf("%s: %v, %v", name, err, d.Tool)
		}
		var schema map[string]any
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		if props, ok := schema["properties"].(map[string]any); ok {
			for _, f := range d.RareFields {
				delete(props, f)
			}
		}
		raw, _ = json.Marshal(schema)
		n := len(name) + len(d.Tool.Text) + len(raw)
		t.Logf("%s: %d bytes", name, n)
		sum += n
	}
	if sum > 1700 { // as declared; the MCP door drops lengths and formats, which leaves less than 1500
		t.Errorf("%d bytes", sum)
	}
}
