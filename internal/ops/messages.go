package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// mailRecheck is how often a waiting list_messages looks without having been woken.
const mailRecheck = 5 * time.Second

// messages declares the mail between agents.
func messages(c *op.Catalogue, s *coord.Store, hub *dispatch.Hub) {
	op.Register(c, op.Op[client.SendMessage, client.SentMessage]{
		Name: "send_message", Title: "Send a message", Text: "Sends a message to agents by name, or to everybody active with \"*\". It is kept until read, and shown to each open session of the " +
			"recipient with its next call; an agent without a session is told when it opens one. A name never seen in the project is refused.",
		Routes: []op.Route{{Method: "POST", Path: "/messages"}, {Method: "POST", Path: "/messages/send"}}, Scope: ident.Write,
		Tool: op.Tool{Profile: op.Core, Text: "Message agents; they see it with their next call. Yours arrive in notices; list_messages or session_brief has them too."},
		CLI:  "message send", Mailbox: true, RefuseEmpty: true, Do: s.SendMessage,
	})
	op.Register(c, op.Op[client.ListMessages, client.Messages]{
		Name: "list_messages", Title: "List messages", Text: "The caller's mailbox: unread messages (marked read by this), all, or what it sent and what became of it.",
		Routes: []op.Route{{Method: "GET", Path: "/messages"}, {Method: "POST", Path: "/messages/list"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full}, CLI: "message list", Mailbox: true, Waits: true,
		Do: func(ctx context.Context, c ident.Caller, in client.ListMessages) (client.Messages, error) {
			return awaitMail(ctx, s, hub, c, in)
		},
	})
	op.Register(c, op.Op[client.AckMessage, client.AckedMessages]{
		Name: "ack_message", Title: "Acknowledge messages", Text: "Acknowledges messages; who asked for it is told. Twice changes nothing.",
		Routes: []op.Route{{Method: "POST", Path: "/messages/ack"}}, Scope: ident.Write,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "message ack", Mailbox: true, RefuseEmpty: true, Do: s.AckMessage,
	})
}

// awaitMail lists the mailbox; an empty unread one is watched for wait_seconds. Running out of time is an empty page.
func awaitMail(ctx context.Context, s *coord.Store, hub *dispatch.Hub, c ident.Caller, in client.ListMessages) (client.Messages, error) {
	if in.WaitSeconds == 0 || hub == nil || (in.Box != "" && in.Box != "unread") {
		return s.ListMessages(ctx, c, in)
	}
	c, _, err := s.Mailbox(ctx, c)
	if err != nil {
		return client.Messages{}, err
	}
	w := hub.Park(fmt.Sprintf("n:%d:%d", c.ProjectID, c.SessionID))
	defer w.Close()
	end := time.NewTimer(time.Duration(in.WaitSeconds) * time.Second)
	defer end.Stop()
	look := time.NewTicker(mailRecheck)
	defer look.Stop()
	for {
		out, err := s.ListMessages(ctx, c, in)
		if err != nil || out.Count > 0 {
			return out, err
		}
		select {
		case <-w.C:
			w.Requeue()
		case <-look.C:
		case <-end.C:
			return out, nil
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

// handoffs declares what a session leaves for the next one.
func handoffs(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.Handoff, client.HandoffReply]{
		Name: "handoff", Title: "Hand off", Text: "action write: leaves a summary for the next session (done, in progress, decisions, next steps, files). action read: returns the newest ones.",
		Routes: []op.Route{{Method: "POST", Path: "/handoffs"}}, Scope: ident.Write, Acts: true, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Core, Text: "write, before you stop: a summary for the next session. read: the newest one."},
		Do: func(ctx context.Context, c ident.Caller, in client.Handoff) (client.HandoffReply, error) {
			if in.Action == "read" {
				out, err := s.ReadHandoff(ctx, c, client.ReadHandoff{AgentName: in.AgentName, Limit: in.Limit})
				return client.HandoffReply{Success: true, Handoffs: out.Handoffs, Count: out.Count, Truncated: out.Truncated}, err
			}
			out, err := s.WriteHandoff(ctx, c, client.WriteHandoff{
				Summary: in.Summary, CompletedWork: anys(in.CompletedWork), InProgress: anys(in.InProgress), Decisions: anys(in.Decisions),
				NextSteps: anys(in.NextSteps), RelevantFiles: anys(in.RelevantFiles), To: in.To,
			})
			return client.HandoffReply{Success: out.Success, HandoffID: out.HandoffID}, err
		},
	})
	op.Register(c, op.Op[client.WriteHandoff, client.WrittenHandoff]{
		Name: "write_handoff", Title: "Write a handoff", Text: "Leaves a structured summary for the next session.",
		Routes: []op.Route{{Method: "POST", Path: "/handoffs/write"}}, Scope: ident.Write, Acts: true,
		Tool: op.Tool{Profile: op.Full}, CLI: "handoff write", RefuseEmpty: true, Do: s.WriteHandoff,
	})
	op.Register(c, op.Op[client.ReadHandoff, client.Handoffs]{
		Name: "read_handoff", Title: "Read handoffs", Text: "The newest handoffs, of one agent or of anybody.",
		Routes: []op.Route{{Method: "POST", Path: "/handoffs/read"}, {Method: "GET", Path: "/handoffs"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "handoff read", Do: s.ReadHandoff,
	})
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
