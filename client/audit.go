package client

// QueryAudit filters the audit trail.
type QueryAudit struct {
	AgentID   string `json:"agent_id,omitempty" maxLength:"200" doc:"only this agent"`
	Operation string `json:"operation,omitempty" maxLength:"100" doc:"only this operation"`
	Since     string `json:"since,omitempty" maxLength:"40" doc:"RFC 3339, or an age such as 90m, 24h, 7d"`
	Success   *bool  `json:"success,omitempty" doc:"only executed changes (true) or refused calls (false)"`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"20" doc:"most rows to return"`
}

// AuditEntry is one executed change or refused call.
type AuditEntry struct {
	ID         string   `json:"id"`
	CreatedAt  string   `json:"created_at"`
	Principal  string   `json:"principal,omitempty"`
	AgentID    string   `json:"agent_id,omitempty"`
	AgentType  string   `json:"agent_type,omitempty"`
	SessionID  string   `json:"session_id,omitempty"`
	Operation  string   `json:"operation"`
	ObjectIDs  []string `json:"object_ids"`
	Success    bool     `json:"success"`
	Reason     string   `json:"reason,omitempty"`
	Parameters any      `json:"parameters,omitempty"`
	Result     any      `json:"result,omitempty"`
	DurationMS float64  `json:"duration_ms,omitempty" doc:"milliseconds in the database"`
}

// AuditEntries is a page of the audit trail, newest first.
type AuditEntries struct {
	Entries   []AuditEntry `json:"entries"`
	Count     int          `json:"count"`
	Truncated bool         `json:"truncated"`
	Hint      string       `json:"hint,omitempty"`
}

// PurgeAudit removes old rows of the audit trail.
type PurgeAudit struct {
	Days int `json:"days" minimum:"30" maximum:"36500" doc:"rows older than this go; at least 30"`
}

// PurgedAudit says how many went.
type PurgedAudit struct {
	Success bool `json:"success"`
	Deleted int  `json:"deleted" doc:"at most 10000 a call; call again while it is not less"`
}
