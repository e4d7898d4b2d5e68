package client

// Guardrail is a rule about destructive commands.
type Guardrail struct {
	Rule    string `json:"rule" doc:"the rule's name"`
	Text    string `json:"text" doc:"what it catches"`
	Default string `json:"default" enum:"deny,ask,allow"`
	Action  string `json:"action" enum:"deny,ask,allow" doc:"what holds now. deny: refused, a person may approve the one command; ask: the host asks its person, elsewhere as deny; allow: goes on"`
	Pattern string `json:"pattern,omitempty" doc:"of a rule of the project's own: a regular expression (RE2) over the command"`
	SetBy   string `json:"set_by,omitempty"`
	SetAt   string `json:"set_at,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Guardrails are the rules, those of the project's own last.
type Guardrails struct {
	Rules []Guardrail `json:"rules"`
}

// SetGuardrail changes what a rule does, or adds one of the project's own.
type SetGuardrail struct {
	Rule    string `json:"rule" minLength:"1" maxLength:"60" pattern:"^[a-z0-9][a-z0-9_-]*$"`
	Action  string `json:"action" enum:"deny,ask,allow,default" doc:"default: as delivered; a rule of the project's own is removed"`
	Pattern string `json:"pattern,omitempty" maxLength:"500" doc:"a regular expression (RE2) over the command: makes or changes a rule of the project's own"`
	Reason  string `json:"reason" minLength:"1" maxLength:"500"`
}

// CheckGuardrail asks what a rule says of one command. Hooks send it.
type CheckGuardrail struct {
	Rules   []string `json:"rules" minItems:"1" maxItems:"20" maxLength:"60" doc:"the rules that the command meets; the strictest counts"`
	Command string   `json:"command" minLength:"1" maxLength:"4000"`
	Why     string   `json:"why,omitempty" maxLength:"500" doc:"what it would destroy"`
	Tool    string   `json:"tool,omitempty" maxLength:"100"`
	Asks    bool     `json:"asks,omitempty" doc:"the host can ask its person itself"`
}

// GuardrailAnswer is what is to be done with a command.
type GuardrailAnswer struct {
	Action   string `json:"action" enum:"deny,ask,allow"`
	Rule     string `json:"rule"`
	ActID    string `json:"act_id,omitempty" doc:"deny: a person can approve this one command: approve_act"`
	Approved bool   `json:"approved,omitempty" doc:"allow: a person approved this very command; the approval is used up"`
	By       string `json:"by,omitempty" doc:"who approved it"`
}

// ListGuardrailHits asks for what rules caught.
type ListGuardrailHits struct {
	Agent string `json:"agent,omitempty" maxLength:"200"`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100"`
}

// GuardrailHit is a command that a rule caught.
type GuardrailHit struct {
	ID        string `json:"id"`
	At        string `json:"at"`
	AgentID   string `json:"agent_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Rule      string `json:"rule"`
	Action    string `json:"action" enum:"deny,ask,allow,approved" doc:"what was done; approved: a person had let it through"`
	Where     string `json:"where" enum:"hook,queue"`
	Command   string `json:"command"`
	Why       string `json:"why,omitempty"`
	ActID     string `json:"act_id,omitempty"`
}

// GuardrailHits lists what rules caught, newest first.
type GuardrailHits struct {
	Hits      []GuardrailHit `json:"hits"`
	Truncated bool           `json:"truncated"`
}
