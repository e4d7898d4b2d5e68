package client

// SendMessage sends a message to other agents.
type SendMessage struct {
	To           []string `json:"to,omitempty" maxLength:"200" doc:"agent ids; * = all active; default: sender of reply_to"`
	Text         string   `json:"text" minLength:"1" maxLength:"4000"`
	ReplyTo      string   `json:"reply_to,omitempty" format:"uuid" doc:"message answered; acknowledges it"`
	AckRequired  bool     `json:"ack_required,omitempty" doc:"ask for ack_message"`
	Kind         string   `json:"kind,omitempty" enum:"note,question,answer,request,warning" mcp:"full" doc:"default: note, or answer with reply_to"`
	Urgency      string   `json:"urgency,omitempty" enum:"normal,high" mcp:"full" doc:"messages of persons are above both"`
	Thread       string   `json:"thread,omitempty" maxLength:"200" mcp:"full" doc:"thread to join; a reply joins that of its original"`
	AllowUnknown bool     `json:"allow_unknown,omitempty" mcp:"full" doc:"keep it for agents never seen in this project, instead of refusing"`
}

// SentMessage confirms a message.
type SentMessage struct {
	Success           bool     `json:"success"`
	MessageID         string   `json:"message_id"`
	Thread            string   `json:"thread"`
	Recipients        []string `json:"recipients"`
	SessionsTold      int      `json:"sessions_told" doc:"open sessions that get it with their next call; a recipient without one is told when it comes"`
	UnknownRecipients []string `json:"unknown_recipients,omitempty" doc:"recipients never seen in this project"`
}

// ListMessages asks for the caller's mailbox.
type ListMessages struct {
	Box         string `json:"box,omitempty" enum:"unread,all,sent" default:"unread" doc:"unread: urgent first, then oldest, and marked read; all, sent: newest first"`
	Thread      string `json:"thread,omitempty" maxLength:"200" doc:"only this thread"`
	Limit       int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"20" doc:"most messages to return"`
	Peek        bool   `json:"peek,omitempty" doc:"do not mark them read"`
	WaitSeconds int    `json:"wait_seconds,omitempty" minimum:"0" maximum:"30" doc:"with box unread: wait so long for the first one"`
}

// Message is a message as its recipient or sender sees it.
type Message struct {
	MessageID    string             `json:"message_id"`
	From         string             `json:"from" doc:"agent id, or person:<name>"`
	FromKind     string             `json:"from_kind" enum:"agent,person"`
	Kind         string             `json:"kind"`
	Urgency      string             `json:"urgency" enum:"normal,high,overseer" doc:"overseer: from a person, goes before everything else"`
	Text         string             `json:"text"`
	Thread       string             `json:"thread"`
	ReplyTo      string             `json:"reply_to,omitempty"`
	AckRequired  bool               `json:"ack_required"`
	Unread       bool               `json:"unread,omitempty" doc:"it was unread until now"`
	Acknowledged bool               `json:"acknowledged,omitempty"`
	CreatedAt    string             `json:"created_at"`
	Recipients   []MessageRecipient `json:"recipients,omitempty" doc:"box sent: what became of it"`
}

// MessageRecipient is what became of a message at one recipient.
type MessageRecipient struct {
	AgentID     string `json:"agent_id"`
	DeliveredAt string `json:"delivered_at,omitempty" doc:"a session was told, or read it"`
	ReadAt      string `json:"read_at,omitempty"`
	AckedAt     string `json:"acked_at,omitempty"`
}

// Messages is a page of a mailbox.
type Messages struct {
	Messages  []Message `json:"messages"`
	Count     int       `json:"count"`
	Truncated bool      `json:"truncated"`
	Unread    int       `json:"unread" doc:"messages still unread, at most 1000 are counted"`
}

// AckMessage acknowledges messages.
type AckMessage struct {
	MessageIDs []string `json:"message_ids" minItems:"1" maxItems:"200" doc:"ids of list_messages or of a notice"`
}

// AckedMessages says what was acknowledged.
type AckedMessages struct {
	Success      bool     `json:"success" doc:"false when none of the ids is in the mailbox"`
	Acknowledged []string `json:"acknowledged" doc:"acknowledged by this call; the others were before"`
	Unknown      []string `json:"unknown" doc:"ids that are not in the mailbox"`
}
