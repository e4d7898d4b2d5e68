package client

// OrchestratedSession is a conversation that runners execute. Members that are not known are null.
type OrchestratedSession struct {
	SessionID         string  `json:"session_id"`
	Status            string  `json:"status" enum:"pending,running,stopping,stopped,finished,failed"`
	CreatedAt         string  `json:"created_at"`
	ProjectDir        *string `json:"project_dir"`
	AgentName         *string `json:"agent_name"`
	LastResumedAt     *string `json:"last_resumed_at"`
	ParentSessionID   *string `json:"parent_session_id"`
	ExecutionMode     string  `json:"execution_mode" enum:"sync,async_poll,async_callback"`
	ExecutorSessionID *string `json:"executor_session_id"`
	ExecutorProfile   *string `json:"executor_profile"`
	Hostname          *string `json:"hostname"`
}

// ListOrchestratedSessions filters the list of sessions.
type ListOrchestratedSessions struct {
	Status          string `json:"status,omitempty" maxLength:"40" doc:"only sessions in this status"`
	ParentSessionID string `json:"parent_session_id,omitempty" maxLength:"200" doc:"only children of this session"`
	AgentName       string `json:"agent_name,omitempty" maxLength:"200" doc:"only sessions of this agent"`
	Limit           int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"10000" doc:"most sessions of one page"`
	Before          string `json:"before,omitempty" maxLength:"200" doc:"session id that the page before ended with"`
}

// OrchestratedSessions is a page of sessions, newest first.
type OrchestratedSessions struct {
	Sessions  []OrchestratedSession `json:"sessions"`
	Truncated bool                  `json:"truncated,omitempty" doc:"there are more: ask with before"`
}

// CreateOrchestratedSession opens a session without a run.
type CreateOrchestratedSession struct {
	SessionID       string `json:"session_id" minLength:"1" maxLength:"200"`
	ProjectDir      string `json:"project_dir,omitempty" maxLength:"4096"`
	AgentName       string `json:"agent_name,omitempty" maxLength:"200"`
	ParentSessionID string `json:"parent_session_id,omitempty" maxLength:"200"`
	ExecutionMode   string `json:"execution_mode,omitempty" enum:"sync,async_poll,async_callback"`
}

// OrchestratedSessionReply is the reply of calls that change one session.
type OrchestratedSessionReply struct {
	OK      bool                `json:"ok"`
	Session OrchestratedSession `json:"session"`
}

// OrchestratedSessionRef names a session.
type OrchestratedSessionRef struct {
	SessionID string `json:"session_id" minLength:"1" maxLength:"200"`
}

// OneOrchestratedSession is the reply of a read.
type OneOrchestratedSession struct {
	Session OrchestratedSession `json:"session"`
}

// SessionStatus is a session's status; not_existent is no error.
type SessionStatus struct {
	Status string `json:"status" enum:"pending,running,stopping,stopped,finished,failed,not_existent"`
}

// SessionResult is what a finished session ended with.
type SessionResult struct {
	Result     string `json:"result" doc:"text of the assistant's last message"`
	ResultData any    `json:"result_data,omitempty" doc:"structured result, where the executor sent one"`
}

// Affinity says where a session's conversation lives.
type Affinity struct {
	SessionID         string  `json:"session_id"`
	ExecutorSessionID *string `json:"executor_session_id"`
	Hostname          *string `json:"hostname"`
	ProjectDir        *string `json:"project_dir"`
	ExecutorProfile   *string `json:"executor_profile"`
}

// SessionAffinity is the reply of a read of the affinity.
type SessionAffinity struct {
	Affinity Affinity `json:"affinity"`
}

// BindSession says which executor works on a session, where.
type BindSession struct {
	SessionID         string `json:"session_id" minLength:"1" maxLength:"200"`
	ExecutorSessionID string `json:"executor_session_id" maxLength:"500"`
	Hostname          string `json:"hostname" maxLength:"255"`
	ExecutorProfile   string `json:"executor_profile" maxLength:"200"`
	ProjectDir        string `json:"project_dir,omitempty" maxLength:"4096"`
}

// UpdateSessionMetadata changes what is known about a session; what is left out stays.
type UpdateSessionMetadata struct {
	SessionID         string `json:"session_id" minLength:"1" maxLength:"200"`
	ProjectDir        string `json:"project_dir,omitempty" maxLength:"4096"`
	AgentName         string `json:"agent_name,omitempty" maxLength:"200"`
	LastResumedAt     string `json:"last_resumed_at,omitempty" maxLength:"100"`
	ExecutorSessionID string `json:"executor_session_id,omitempty" maxLength:"500"`
	ExecutorProfile   string `json:"executor_profile,omitempty" maxLength:"200"`
	Hostname          string `json:"hostname,omitempty" maxLength:"255"`
}

// StopSession stops the run a session is at, and those that wait behind it.
type StopSession struct {
	SessionID string `json:"session_id" minLength:"1" maxLength:"200"`
	Tree      bool   `json:"tree,omitempty" doc:"stop everything below it, too; ends of children are then told to nobody"`
}

// StoppedSession says what a stop did.
type StoppedSession struct {
	OK                 bool   `json:"ok"`
	SessionID          string `json:"session_id"`
	RunID              string `json:"run_id,omitempty"`
	Status             string `json:"status" doc:"stopping: its runner is told; else the status it has"`
	Message            string `json:"message,omitempty"`
	DescendantsStopped *int   `json:"descendants_stopped,omitempty"`
}

// DeleteSession deletes a session with its runs and events.
type DeleteSession struct {
	SessionID string `json:"session_id" minLength:"1" maxLength:"200"`
	Tree      *bool  `json:"tree,omitempty" doc:"also delete everything below it (default); false leaves its children without a parent"`
}

// DeletedCounts says what a deletion removed.
type DeletedCounts struct {
	Session  bool `json:"session"`
	Events   int  `json:"events_count"`
	Runs     int  `json:"runs_count"`
	Sessions int  `json:"sessions_count" doc:"itself and what was below it"`
}

// DeletedSession is the reply of DeleteSession.
type DeletedSession struct {
	OK          bool          `json:"ok"`
	SessionID   string        `json:"session_id"`
	Deleted     DeletedCounts `json:"deleted"`
	RunsRemoved int           `json:"runs_removed_from_cache" doc:"the same as runs_count"`
}
