package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// The resources, as coordination.md names them.
const (
	uriLocks  = "locks://current"
	uriWork   = "work://pending"
	uriDigest = "newsletters://status"
	uriMemory = "memories://recent"
)

// maxListed bounds the rows a resource shows; what is left out is counted.
const maxListed = 100

// view is a resource and the operations it is made of; it is listed once the first of them exists.
type view struct {
	uri, name, title, text string
	needs                  string
	render                 func(d *Door, ctx context.Context, meta map[string]any) (string, error)
}

var views = []view{
	{uriLocks, "current_locks", "Active file locks", "Who holds which files now, why, and until when.", "check_locks", (*Door).locksText},
	{uriWork, "pending_work", "Pending tasks", "Tasks that wait for an agent, most urgent first.", "ready_work", (*Door).workText},
	{uriDigest, "newsletter_status", "What changed", "What happened in this project since this agent last looked.", "project_digest", (*Door).digestText},
	{uriMemory, "recent_memories", "Recent memories", "What agents of this project remembered last.", "recall", (*Door).memoryText},
}

func (d *Door) addResources() {
	for _, v := range views {
		if d.cat.Get(v.needs) == nil {
			continue
		}
		r := mcp.NewResource(v.uri, v.name, mcp.WithResourceTitle(v.title), mcp.WithResourceDescription(v.text), mcp.WithMIMEType("text/markdown"))
		d.mcp.AddResource(r, func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			text, err := v.render(d, ctx, metaFields(req.Params.Meta))
			if err != nil {
				f := fault.From(err)
				return nil, fmt.Errorf("%s %s Next: %s", sentence(f.What), sentence(f.Why), sentence(f.Next))
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: v.uri, MIMEType: "text/markdown", Text: text}}, nil
		})
	}
}

// ask runs an operation for a resource and decodes its reply into out.
func (d *Door) ask(ctx context.Context, name string, args, meta map[string]any, out any) error {
	def := d.cat.Get(name)
	for k := range args {
		if def.In.Properties[k] == nil {
			delete(args, k)
		}
	}
	resp, err := d.invoke(ctx, def, args, meta)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(resp.Body)
	if err != nil {
		return fmt.Errorf("encode the reply of %s: %w", name, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read the reply of %s: %w", name, err)
	}
	return nil
}

// lockRow is what the resource shows of a lock, in the wire's names.
type lockRow struct {
	FilePath  string `json:"file_path"`
	LockedBy  string `json:"locked_by"`
	AgentType string `json:"agent_type"`
	Reason    string `json:"reason"`
	ExpiresAt string `json:"expires_at"`
}

func (d *Door) locksText(ctx context.Context, meta map[string]any) (string, error) {
	var reply struct {
		Locks []lockRow `json:"locks"`
	}
	if err := d.ask(ctx, "check_locks", map[string]any{"limit": 1000.0}, meta, &reply); err != nil {
		return "", err
	}
	if len(reply.Locks) == 0 {
		return "No active locks.", nil
	}
	var b strings.Builder
	b.WriteString("# Active File Locks\n\n")
	for i, l := range reply.Locks {
		if i == maxListed {
			fmt.Fprintf(&b, "\n%d more; ask check_locks with file_paths.\n", len(reply.Locks)-i)
			break
		}
		fmt.Fprintf(&b, "- **%s**\n  - Locked by: %s (%s)\n", line(l.FilePath), line(l.LockedBy), line(l.AgentType))
		if l.Reason != "" {
			fmt.Fprintf(&b, "  - Reason: %s\n", line(l.Reason))
		}
		fmt.Fprintf(&b, "  - Expires: %s\n", l.ExpiresAt)
	}
	return b.String(), nil
}

// taskRow is what the resource shows of a task.
type taskRow struct {
	TaskID      string `json:"task_id"`
	TaskType    string `json:"task_type"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
	Why         string `json:"why"`
}

// workText lists what can be claimed and what waits for other tasks.
func (d *Door) workText(ctx context.Context, meta map[string]any) (string, error) {
	type page struct {
		Tasks     []taskRow `json:"tasks"`
		Truncated bool      `json:"truncated"`
	}
	var ready, blocked page
	if err := d.ask(ctx, "ready_work", map[string]any{"limit": float64(maxListed)}, meta, &ready); err != nil {
		return "", err
	}
	if d.cat.Get("blocked_work") != nil {
		if err := d.ask(ctx, "blocked_work", map[string]any{"limit": float64(maxListed / 2)}, meta, &blocked); err != nil {
			return "", err
		}
	}
	tasks := append(ready.Tasks, blocked.Tasks...)
	if len(tasks) == 0 {
		return "No pending tasks.", nil
	}
	slices.SortStableFunc(tasks, func(a, b taskRow) int { return a.Priority - b.Priority })
	var b strings.Builder
	b.WriteString("# Pending Tasks\n")
	last := -1
	for _, t := range tasks {
		if t.Priority != last {
			fmt.Fprintf(&b, "\n## Priority %d\n\n", t.Priority)
			last = t.Priority
		}
		fmt.Fprintf(&b, "- **%s**: %s\n  - ID: %s\n", line(t.TaskType), line(cut(t.Description, 300)), t.TaskID)
		if t.Why != "" {
			fmt.Fprintf(&b, "  - Blocked: %s\n", line(t.Why))
		}
	}
	if ready.Truncated || blocked.Truncated {
		b.WriteString("\nThere are more; get_work hands out the most urgent first.\n")
	}
	return b.String(), nil
}

func (d *Door) digestText(ctx context.Context, meta map[string]any) (string, error) {
	var reply struct {
		Markdown string `json:"markdown"`
		Text     string `json:"text"`
	}
	if err := d.ask(ctx, "project_digest", map[string]any{}, meta, &reply); err != nil {
		return "", err
	}
	if reply.Markdown != "" {
		return reply.Markdown, nil
	}
	return reply.Text, nil
}

// line keeps text that agents wrote from breaking out of its place in a document.
func line(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)), " ")
}

// memoryText lists the newest memories and skills.
func (d *Door) memoryText(ctx context.Context, meta map[string]any) (string, error) {
	var reply struct {
		Memories []struct {
			Type    string `json:"memory_type"`
			ID      string `json:"memory_id"`
			Agent   string `json:"agent_id"`
			At      string `json:"created_at"`
			Stale   bool   `json:"stale"`
			Content struct {
				EventType string   `json:"event_type"`
				Summary   string   `json:"summary"`
				Skill     string   `json:"skill_name"`
				Outcome   string   `json:"outcome"`
				Lessons   []string `json:"lessons"`
			} `json:"content"`
		} `json:"memories"`
	}
	if err := d.ask(ctx, "recall", map[string]any{"limit": 20.0}, meta, &reply); err != nil {
		return "", err
	}
	if len(reply.Memories) == 0 {
		return "No memories yet.", nil
	}
	var b strings.Builder
	b.WriteString("# Recent Memories\n\n")
	for _, m := range reply.Memories {
		kind, text := m.Content.EventType, m.Content.Summary
		if m.Type == "procedural" {
			kind, text = "skill", m.Content.Skill
		}
		fmt.Fprintf(&b, "- **%s**: %s\n  - By: %s, %s\n", line(kind), line(cut(text, 300)), line(m.Agent), m.At)
		if m.Content.Outcome != "" {
			fmt.Fprintf(&b, "  - Outcome: %s\n", line(m.Content.Outcome))
		}
		for _, l := range m.Content.Lessons[:min(len(m.Content.Lessons), 3)] {
			fmt.Fprintf(&b, "  - Lesson: %s\n", line(cut(l, 300)))
		}
		if m.Stale {
			b.WriteString("  - Stale: its file changed since\n")
		}
	}
	return b.String(), nil
}
