package client

// RegisterSession describes the session the caller acts in (agent_id, agent_type and session_id name it).
type RegisterSession struct {
	Capabilities  []string       `json:"capabilities,omitempty" maxItems:"50" doc:"what this agent can do, short words"`
	CurrentTask   string         `json:"current_task,omitempty" maxLength:"500" doc:"what it works on now"`
	DelegatedFrom string         `json:"delegated_from,omitempty" maxLength:"200" doc:"agent that started this one"`
	LapseSeconds  int            `json:"lapse_seconds,omitempty" minimum:"5" maximum:"86400" doc:"silence after which the session lapses, once it sent a heartbeat; 120 unless set"`
	Metadata      map[string]any `json:"metadata,omitempty" doc:"anything else worth showing, at most 8 KB"`
}

// Session is the answer to register_session and heartbeat.
type Session struct {
	Success      bool   `json:"success"`
	SessionID    string `json:"session_id" doc:"name of the session; send it with later calls"`
	AgentID      string `json:"agent_id,omitempty"`
	Status       string `json:"status" doc:"active"`
	LapseSeconds int    `json:"lapse_seconds" doc:"seconds of silence after which it lapses, once it sent a heartbeat"`
	LapsesAt     string `json:"lapses_at,omitempty" doc:"when it lapses unless it is heard again, RFC 3339 UTC"`
}

// Heartbeat is a sign of life of the caller's session.
type Heartbeat struct {
	CurrentTask *string `json:"current_task,omitempty" maxLength:"500" doc:"new current task; an empty string clears it"`
}

// EndSession closes the caller's session and gives back what it holds.
type EndSession struct {
	Reason string `json:"reason,omitempty" maxLength:"200" doc:"why, for the audit trail"`
}

// EndedSession says what a closed session gave back.
type EndedSession struct {
	Success       bool     `json:"success"`
	SessionID     string   `json:"session_id"`
	Reason        string   `json:"reason,omitempty" doc:"session_not_found when nothing was ended"`
	Already       string   `json:"already,omitempty" enum:"ended,lapsed" doc:"set when it was closed before"`
	LocksReleased int      `json:"locks_released"`
	FilePaths     []string `json:"file_paths,omitempty" doc:"paths that are free now"`
	TasksRequeued int      `json:"tasks_requeued"`
	TasksDead     int      `json:"tasks_dead,omitempty" doc:"tasks that had no attempt left"`
}

// DiscoverAgents filters the sessions of the project.
type DiscoverAgents struct {
	Capability string `json:"capability,omitempty" maxLength:"100" doc:"only agents with this capability"`
	Status     string `json:"status,omitempty" enum:"active,idle,disconnected" doc:"active: heard within 15 minutes; idle: open but silent for longer; disconnected: ended or lapsed"`
	Limit      int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"10000" doc:"most rows to return"`
}

// WhoIsActive filters the open sessions of the project.
type WhoIsActive struct {
	Capability string `json:"capability,omitempty" maxLength:"100" doc:"only agents able to do this"`
	Limit      int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"20" mcp:"full" doc:"most rows to return"`
}

// Agent is one session of one agent, as others see it.
type Agent struct {
	AgentID       string   `json:"agent_id"`
	AgentType     string   `json:"agent_type"`
	SessionID     string   `json:"session_id"`
	Status        string   `json:"status" enum:"active,idle,disconnected"`
	CurrentTask   string   `json:"current_task,omitempty"`
	Capabilities  []string `json:"capabilities"`
	LocksHeld     int      `json:"locks_held"`
	TasksHeld     int      `json:"tasks_held"`
	LocksExpired  int64    `json:"locks_expired,omitempty" doc:"locks this agent ever let expire instead of releasing them"`
	LastSeen      string   `json:"last_seen" doc:"last call or heartbeat, RFC 3339 UTC"`
	LastHeartbeat string   `json:"last_heartbeat,omitempty" doc:"absent: it never sent one and so cannot lapse"`
	StartedAt     string   `json:"started_at"`
	EndedAt       string   `json:"ended_at,omitempty"`
	DelegatedFrom string   `json:"delegated_from,omitempty"`
	Hold          string   `json:"hold,omitempty" enum:"pause,drain,budget"`
	HoldReason    string   `json:"hold_reason,omitempty"`
	HeldBy        string   `json:"held_by,omitempty"`
}

// Agents is a list of sessions, open ones first, then the last heard.
type Agents struct {
	Agents    []Agent `json:"agents"`
	Count     int     `json:"count"`
	Truncated bool    `json:"truncated"`
	Hint      string  `json:"hint,omitempty"`
}

// CleanupAgents lapses silent sessions of the project.
type CleanupAgents struct {
	StaleThresholdMinutes int  `json:"stale_threshold_minutes,omitempty" minimum:"1" maximum:"525600" default:"15" doc:"minutes since the last heartbeat"`
	IdleMinutes           int  `json:"idle_minutes,omitempty" minimum:"1" maximum:"525600" doc:"also sessions that never sent a heartbeat and were silent for so many minutes"`
	DryRun                bool `json:"dry_run,omitempty" doc:"only name them"`
}

// CleanedAgents says what a clean-up did, or would do.
type CleanedAgents struct {
	Success       bool     `json:"success"`
	DryRun        bool     `json:"dry_run"`
	AgentsCleaned int      `json:"agents_cleaned"`
	Sessions      []string `json:"sessions"`
	LocksReleased int      `json:"locks_released"`
	TasksRequeued int      `json:"tasks_requeued"`
}

// None is the input of operations that need nothing but the caller's identity.
type None struct{}

// WhoAmI is what the service knows about the caller.
type WhoAmI struct {
	Principal string   `json:"principal" doc:"what the key stands for: key:<name>, person:<name> or local"`
	Person    string   `json:"person,omitempty"`
	Scopes    []string `json:"scopes"`
	Project   string   `json:"project"`
	AgentID   string   `json:"agent_id,omitempty"`
	AgentType string   `json:"agent_type,omitempty"`
	SessionID string   `json:"session_id,omitempty" doc:"session that calls with this identity act in"`
	BoundTo   string   `json:"bound_to,omitempty" enum:"project" doc:"project: the key is good for this project alone"`
}
