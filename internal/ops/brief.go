package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// The most a brief may take as JSON. Bytes are what is looked at first: they cost nothing to count.
const (
	briefTokens = 600
	briefBytes  = 2400
)

// brief declares what an agent reads to find its way.
func brief(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.None, client.Brief]{
		Name: "session_brief", Title: "Session brief", Text: "Everything a session needs to begin, in one call of at most 600 tokens: locks and tasks it holds, locks of others, " +
			"the first ready tasks, unread messages, the newest handoff. The messages shown count as told.",
		Routes: []op.Route{{Method: "GET", Path: "/brief"}, {Method: "POST", Path: "/brief"}}, Scope: ident.Read, Acts: true,
		Tool: op.Tool{Profile: op.Core, Text: "Call first: your locks and tasks, others' locks, ready tasks, unread messages, latest handoff."},
		CLI:  "brief",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Brief, error) {
			b, err := s.SessionBrief(ctx, c)
			if err == nil {
				b.Lessons = lessonsFor(ctx, s, c, b)
			}
			fitBrief(&b)
			return b, err
		},
	})
	op.Register(c, op.Op[client.ProjectDigest, client.Digest]{
		Name: "project_digest", Title: "Project digest", Text: "What others changed in the project since the caller looked last, as markdown and as data, and the tasks whose type starts with newsletter.",
		Routes: []op.Route{{Method: "GET", Path: "/status/digest"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "digest",
		Do: func(ctx context.Context, c ident.Caller, in client.ProjectDigest) (client.Digest, error) {
			d, err := s.ProjectDigest(ctx, c, in)
			if err == nil {
				d.Markdown = digestMarkdown(d)
			}
			return d, err
		},
	})
}

// fitBrief shortens b until its JSON fits. What others do goes first, what was sent to this agent
// last: a message left out would count as told.
func fitBrief(b *client.Brief) {
	over := func() bool {
		raw, _ := json.Marshal(b) // plain strings and numbers always marshal
		return len(raw) > briefBytes || coord.Tokens(string(raw)) > briefTokens
	}
	for over() {
		b.Shortened = true
		switch {
		case len(b.OthersLocks) > 2:
			b.OthersLocks = b.OthersLocks[:len(b.OthersLocks)-1]
		case len(b.Ready) > 2:
			b.Ready = b.Ready[:len(b.Ready)-1]
		case len(b.Lessons) > 1:
			b.Lessons = b.Lessons[:len(b.Lessons)-1]
		case len(b.MyLocks) > 2:
			b.MyLocks = b.MyLocks[:len(b.MyLocks)-1]
		case len(b.MyTasks) > 2:
			b.MyTasks = b.MyTasks[:len(b.MyTasks)-1]
		case b.Handoff != nil && len(b.Handoff.NextSteps) > 1:
			b.Handoff.NextSteps = b.Handoff.NextSteps[:1]
		case b.Handoff != nil && len(b.Handoff.Summary) > 150:
			b.Handoff.Summary = cut(b.Handoff.Summary, 147)
		case len(b.OthersLocks)+len(b.Ready) > 0:
			b.OthersLocks, b.Ready = b.OthersLocks[:0], b.Ready[:0]
		case len(b.Lessons) > 0:
			b.Lessons = nil
		case b.Handoff != nil:
			b.Handoff = nil
		case len(b.MyLocks)+len(b.MyTasks) > 0:
			b.MyLocks, b.MyTasks = b.MyLocks[:0], b.MyTasks[:0]
		default:
			if !cutMail(b) {
				return
			}
		}
	}
}

// cutMail halves the longest message text; false when all are short.
func cutMail(b *client.Brief) bool {
	longest := -1
	for i, m := range b.Messages {
		if len(m.Text) > 20 && (longest < 0 || len(m.Text) > len(b.Messages[longest].Text)) {
			longest = i
		}
	}
	if longest < 0 {
		return false
	}
	m := &b.Messages[longest]
	m.Text, m.More = cut(m.Text, len(m.Text)/2), true
	return true
}

// cut shortens s to at most n bytes and an ellipsis, at a character's border.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// digestMarkdown writes a digest for people and models. Names of others stand in code spans, so that they read as
// data.
func digestMarkdown(d client.Digest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Status of %s\n\nSince %s: %d change(s) by others.\n", d.Project, d.Since, d.Changes)
	if len(d.Kinds) > 0 {
		b.WriteString("\n## Changes\n")
	}
	for _, k := range d.Kinds {
		fmt.Fprintf(&b, "- **%s** ×%d", k.Operation, k.Count)
		if len(k.Agents) > 0 {
			fmt.Fprintf(&b, " by %s", spans(k.Agents))
		}
		if len(k.Objects) > 0 {
			fmt.Fprintf(&b, ": %s", spans(k.Objects))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n## Newsletter tasks\n")
	if len(d.Newsletters) == 0 {
		b.WriteString("None.\n")
		return b.String()
	}
	for _, status := range slices.Sorted(maps.Keys(d.Newsletters)) {
		fmt.Fprintf(&b, "- %s: %d\n", status, d.Newsletters[status])
	}
	b.WriteString("\nThe last ones:\n")
	for _, t := range d.NewsletterTasks {
		fmt.Fprintf(&b, "- %s (%s, %s): %s\n", span(t.TaskID), span(t.TaskType), t.Status, span(t.Description))
	}
	return b.String()
}

func spans(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = span(s)
	}
	return strings.Join(out, ", ")
}

// span puts s in a code span that it cannot leave.
func span(s string) string {
	return "`" + strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "'")), " ") + "`"
}
