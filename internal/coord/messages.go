package coord

import (
	"cmp"
	"context"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// personPrefix starts the address of a person; no agent may take such a name.
const personPrefix = "person:"

// Mailbox returns the caller's address and, when an agent calls, opens its session. A person who claims no agent has
// the address person:<name>. Error: invalid when nobody is named.
func (s *Store) Mailbox(ctx context.Context, c ident.Caller) (ident.Caller, string, error) {
	switch {
	case strings.HasPrefix(c.Agent, personPrefix):
		return c, "", fault.Invalid("agent_id", "agent ids that begin with person: stand for persons", "send another agent_id; a person calls with a key of their own and no agent_id")
	case c.Agent != "":
		var err error
		if c.SessionID == 0 {
			c.SessionID, err = s.sessionID(ctx, c)
		}
		return c, c.Agent, err
	case c.Person != "":
		return c, personPrefix + c.Person, nil
	}
	return c, "", fault.Invalid("agent_id", "agent_id is needed: messages have a sender and a mailbox", "send agent_id in the body or the header X-Agent-Id")
}

// SendMessage sends a message as the caller's agent, or as the person behind the key. Errors: invalid for recipients
// that were never seen, not_found for an unknown reply_to.
func (s *Store) SendMessage(ctx context.Context, c ident.Caller, in client.SendMessage) (client.SentMessage, error) {
	c, from, err := s.Mailbox(ctx, c)
	if err != nil {
		return client.SentMessage{}, err
	}
	return act[client.SentMessage](ctx, s, `select coord.send_message($1, nullif($2, 0), $3, $4, $5, $6, nullif($7, ''), nullif($8, '')::uuid, nullif($9, ''), nullif($10, ''), $11, $12)`,
		c.ProjectID, c.SessionID, c.By, from, in.To, in.Text, in.Thread, in.ReplyTo, in.Kind, in.Urgency, in.AckRequired, in.AllowUnknown)
}

// ListMessages returns a page of the caller's mailbox; unread ones are marked read unless in.Peek. It never waits.
func (s *Store) ListMessages(ctx context.Context, c ident.Caller, in client.ListMessages) (client.Messages, error) {
	_, box, err := s.Mailbox(ctx, c)
	if err != nil {
		return client.Messages{}, err
	}
	return reply[client.Messages](ctx, s, `select coord.list_messages($1, $2, $3, nullif($4, ''), $5, $6)`,
		c.ProjectID, box, cmp.Or(in.Box, "unread"), in.Thread, cmp.Or(in.Limit, 20), in.Peek)
}

// AckMessage acknowledges messages of the caller's mailbox.
func (s *Store) AckMessage(ctx context.Context, c ident.Caller, in client.AckMessage) (client.AckedMessages, error) {
	c, box, err := s.Mailbox(ctx, c)
	if err != nil {
		return client.AckedMessages{}, err
	}
	return act[client.AckedMessages](ctx, s, `select coord.ack_messages($1, nullif($2, 0), $3, $4, $5::text[]::uuid[])`,
		c.ProjectID, c.SessionID, c.By, box, in.MessageIDs)
}
