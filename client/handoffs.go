package client

// WriteHandoff leaves a structured summary for the next session. Lists take strings, or small objects.
type WriteHandoff struct {
	Summary       string `json:"summary" minLength:"1" maxLength:"8000" doc:"what was done and where it stands, for somebody who was not there"`
	CompletedWork []any  `json:"completed_work,omitempty" maxItems:"100" doc:"what is finished"`
	InProgress    []any  `json:"in_progress,omitempty" maxItems:"100" doc:"what is half done"`
	Decisions     []any  `json:"decisions,omitempty" maxItems:"100" doc:"what was decided, and why"`
	NextSteps     []any  `json:"next_steps,omitempty" maxItems:"100" doc:"what to do next, first things first"`
	RelevantFiles []any  `json:"relevant_files,omitempty" maxItems:"200" kind:"path" doc:"files to look at"`
	To            string `json:"to,omitempty" maxLength:"200" doc:"agent to tell of it"`
}

// WrittenHandoff confirms it.
type WrittenHandoff struct {
	Success   bool   `json:"success"`
	HandoffID string `json:"handoff_id"`
}

// ReadHandoff asks for the newest handoffs.
type ReadHandoff struct {
	AgentName string `json:"agent_name,omitempty" maxLength:"200" doc:"whose; default: anybody's"`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"1" doc:"how many"`
}

// HandoffDocument is one handoff.
type HandoffDocument struct {
	ID            string `json:"id"`
	AgentName     string `json:"agent_name"`
	SessionID     string `json:"session_id,omitempty"`
	To            string `json:"to,omitempty"`
	Summary       string `json:"summary"`
	CompletedWork []any  `json:"completed_work"`
	InProgress    []any  `json:"in_progress"`
	Decisions     []any  `json:"decisions"`
	NextSteps     []any  `json:"next_steps"`
	RelevantFiles []any  `json:"relevant_files"`
	CreatedAt     string `json:"created_at"`
}

// Handoffs is a list of handoffs, newest first.
type Handoffs struct {
	Handoffs  []HandoffDocument `json:"handoffs"`
	Count     int               `json:"count"`
	Truncated bool              `json:"truncated"`
}

// Handoff writes or reads handoffs, as one tool. A whole document has at most 64 KB.
type Handoff struct {
	Action        string   `json:"action" enum:"write,read"`
	Summary       string   `json:"summary,omitempty" maxLength:"8000" doc:"write: where it stands"`
	CompletedWork []string `json:"completed_work,omitempty"`
	InProgress    []string `json:"in_progress,omitempty"`
	Decisions     []string `json:"decisions,omitempty"`
	NextSteps     []string `json:"next_steps,omitempty"`
	RelevantFiles []string `json:"relevant_files,omitempty" kind:"path"`
	To            string   `json:"to,omitempty" maxLength:"200" mcp:"full" doc:"write: agent to tell of it"`
	AgentName     string   `json:"agent_name,omitempty" maxLength:"200" doc:"read: whose"`
	Limit         int      `json:"limit,omitempty" minimum:"1" maximum:"100" default:"1" mcp:"full" doc:"read: how many"`
}

// HandoffReply is the answer to Handoff: HandoffID after a write, the list after a read.
type HandoffReply struct {
	Success   bool              `json:"success"`
	HandoffID string            `json:"handoff_id,omitempty"`
	Handoffs  []HandoffDocument `json:"handoffs,omitempty"`
	Count     int               `json:"count,omitempty"`
	Truncated bool              `json:"truncated,omitempty"`
}
