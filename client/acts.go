package client

// Act is an act that waits for a person, or waited.
type Act struct {
	ActID       string         `json:"act_id"`
	Kind        string         `json:"kind" enum:"command,work,force_release,policies,guardrails,safeguards" doc:"command: of a tool call, which may be made once when it is approved; the others: the operation is done with the approval"`
	Operation   string         `json:"operation" doc:"what is done when it is approved"`
	Title       string         `json:"title" doc:"one line: what and on what"`
	Why         string         `json:"why,omitempty" doc:"why it is asked, and the reason given"`
	Arguments   map[string]any `json:"arguments,omitempty"`
	AgentID     string         `json:"agent_id,omitempty"`
	SessionID   string         `json:"session_id,omitempty"`
	RequestedBy string         `json:"requested_by"`
	Status      string         `json:"status" enum:"pending,approved,denied,used,expired" doc:"approved: a command that was let through and has not run yet; used: done"`
	CreatedAt   string         `json:"created_at"`
	ExpiresAt   string         `json:"expires_at"`
	DecidedBy   string         `json:"decided_by,omitempty"`
	DecidedAt   string         `json:"decided_at,omitempty"`
	Comment     string         `json:"comment,omitempty"`
}

// ListActs asks for acts that wait for a person.
type ListActs struct {
	Status string `json:"status,omitempty" enum:"pending,approved,denied,used,expired,all" default:"pending"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100"`
}

// Acts lists acts that wait for a person: open ones the oldest first, decided ones the newest first.
type Acts struct {
	Acts      []Act `json:"acts"`
	Truncated bool  `json:"truncated"`
}

// DecideAct decides about an act that waits.
type DecideAct struct {
	ActID   string `json:"act_id" format:"uuid"`
	Comment string `json:"comment,omitempty" maxLength:"2000" doc:"kept, and told to who asked"`
}

// DecidedAct is the act after the decision.
type DecidedAct struct {
	Act
	Result map[string]any `json:"result,omitempty" doc:"approved: what the operation answered"`
}

// Safeguards are acts that need a second person in this project.
type Safeguards struct {
	TwoPerson []string `json:"two_person" enum:"force_release,policies,guardrails" doc:"acts that wait for another person's approval; while the list is not empty, changing it is one of them"`
}

// SetSafeguards sets which acts need a second person.
type SetSafeguards struct {
	TwoPerson []string `json:"two_person" enum:"force_release,policies,guardrails" maxItems:"3"`
	Reason    string   `json:"reason" minLength:"1" maxLength:"500"`
}
