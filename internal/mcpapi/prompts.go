package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

func (d *Door) addPrompts() {
	d.mcp.AddPrompt(mcp.NewPrompt("coordinate_file_edit",
		mcp.WithPromptTitle("Edit a file others may be editing"),
		mcp.WithPromptDescription("Steps to change one file safely while other agents work here."),
		mcp.WithArgument("file_path", mcp.RequiredArgument(), mcp.ArgumentDescription("the file, from the repository's root")),
		mcp.WithArgument("task", mcp.RequiredArgument(), mcp.ArgumentDescription("what to change"))), d.coordinateFileEdit)
	d.mcp.AddPrompt(mcp.NewPrompt("start_work_session",
		mcp.WithPromptTitle("Start a work session"),
		mcp.WithPromptDescription("What to look at first, and how to take work without getting in another agent's way.")), d.startWorkSession)
}

func (d *Door) coordinateFileEdit(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	path, task := line(req.Params.Arguments["file_path"]), line(req.Params.Arguments["task"])
	if path == "" || task == "" {
		return nil, errors.New("coordinate_file_edit needs file_path and task")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "I need to change `%s`: %s\n\nOther agents work in this repository. Do it in this order:\n\n", path, task)
	steps := []string{
		fmt.Sprintf("Call acquire_lock with file_path %q and a reason that says what you are doing.", path),
		"If it answers success:false, do not edit. Say who holds the file and until when, then wait with wait_seconds (at most 55) or work on something else.",
		"With the lock, make the change and check it.",
		fmt.Sprintf("Call release_lock with file_path %q, also when the change failed.", path),
	}
	for i, s := range steps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s)
	}
	if now := d.holderNow(ctx, path, metaFields(req.Params.Meta)); now != "" {
		fmt.Fprintf(&b, "\nRight now: %s\n", now)
	}
	return promptOf("Edit "+path+" without a conflict", b.String()), nil
}

// holderNow says who holds path; empty when that cannot be told, since the steps hold either way.
func (d *Door) holderNow(ctx context.Context, path string, meta map[string]any) string {
	def := d.cat.Get("check_locks")
	if def == nil {
		return ""
	}
	args := map[string]any{"file_paths": []any{path}}
	if d.mapPaths(ctx, def, args) != nil {
		return ""
	}
	var reply struct {
		Locks []lockRow `json:"locks"`
	}
	if d.ask(ctx, "check_locks", args, meta, &reply) != nil {
		return ""
	}
	if len(reply.Locks) == 0 {
		return "nobody holds it."
	}
	l := reply.Locks[0]
	text := fmt.Sprintf("%s is locked by %s until %s", line(l.FilePath), line(l.LockedBy), l.ExpiresAt)
	if l.Reason != "" {
		text += fmt.Sprintf(" (%s)", line(l.Reason))
	}
	return text + "."
}

func (d *Door) startWorkSession(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	steps := []struct{ needs, text string }{
		{"session_brief", "Call session_brief: who is active, what is locked, what is yours already."},
		{"check_locks", "Call check_locks before you plan: leave alone what others hold."},
		{"get_work", "Call get_work for a task. It names the files to lock. When there is none, say so and ask what to do."},
		{"acquire_lock", "Call acquire_lock for every path before you edit it, and release_lock when you are done with it."},
		{"complete_work", "Call complete_work with the result, also when you failed: then another agent can take over."},
		{"handoff", "When you stop half-way, call handoff with what is done, what is left and why."},
	}
	var b strings.Builder
	b.WriteString("Start a work session in this repository. Other agents work here too.\n\n")
	n := 0
	for _, s := range steps {
		if def := d.cat.Get(s.needs); def != nil && Listed(def, d.opt.Full) {
			n++
			fmt.Fprintf(&b, "%d. %s\n", n, s.text)
		}
	}
	if def := d.cat.Get("session_brief"); def != nil && def.Tool.Profile != op.NoTool {
		var brief json.RawMessage
		if d.ask(ctx, "session_brief", map[string]any{}, metaFields(req.Params.Meta), &brief) == nil && len(brief) <= MaxResult {
			fmt.Fprintf(&b, "\nThe brief as of now:\n\n%s\n", brief)
		}
	}
	return promptOf("Start a work session", b.String()), nil
}

func promptOf(title, text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Description: title, Messages: []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}}
}

// completer completes the file_path argument of prompts.
type completer func(prefix string) []string

// CompletePromptArgument implements server.PromptCompletionProvider.
func (c completer) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	out := &mcp.Completion{Values: []string{}}
	if c == nil || prompt != "coordinate_file_edit" || arg.Name != "file_path" {
		return out, nil
	}
	all := c(arg.Value)
	out.Values = append(out.Values, all[:min(len(all), 100)]...)
	out.Total, out.HasMore = len(all), len(all) > 100
	return out, nil
}

var _ server.PromptCompletionProvider = completer(nil)
