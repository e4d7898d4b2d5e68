package client

// SessionEvent is one thing that happened in a session, as its executor reports it.
type SessionEvent struct {
	EventType  string           `json:"event_type" minLength:"1" maxLength:"200" doc:"session_start, message, post_tool, result, session_stop, or any other word"`
	SessionID  string           `json:"session_id" minLength:"1" maxLength:"200"`
	Timestamp  string           `json:"timestamp" maxLength:"100"`
	ToolName   string           `json:"tool_name,omitempty" maxLength:"500"`
	ToolInput  map[string]any   `json:"tool_input,omitempty"`
	ToolOutput any              `json:"tool_output,omitempty"`
	Error      string           `json:"error,omitempty"`
	ExitCode   *int             `json:"exit_code,omitempty" minimum:"-2147483648" maximum:"2147483647"`
	Reason     string           `json:"reason,omitempty"`
	Role       string           `json:"role,omitempty" maxLength:"100"`
	Content    []map[string]any `json:"content,omitempty"`
	ResultText *string          `json:"result_text,omitempty" doc:"of an event result"`
	ResultData any              `json:"result_data,omitempty" doc:"of an event result"`
}

// Ok is the reply of calls that have nothing to say.
type Ok struct {
	OK bool `json:"ok"`
}

// ListSessionEvents asks for a page of events.
type ListSessionEvents struct {
	SessionID string `json:"session_id" minLength:"1" maxLength:"200"`
	AfterID   int64  `json:"after_id,omitempty" minimum:"0" doc:"only events after this one"`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"10000" doc:"most events of one page"`
}

// StoredEvent is an event as it was stored. Members that were not sent are null.
type StoredEvent struct {
	ID         int64            `json:"id"`
	SessionID  string           `json:"session_id"`
	EventType  string           `json:"event_type"`
	Timestamp  string           `json:"timestamp"`
	ToolName   *string          `json:"tool_name"`
	ToolInput  map[string]any   `json:"tool_input" nullable:"true"`
	ToolOutput any              `json:"tool_output"`
	Error      *string          `json:"error"`
	ExitCode   *int             `json:"exit_code"`
	Reason     *string          `json:"reason"`
	Role       *string          `json:"role"`
	Content    []map[string]any `json:"content"`
	ResultText *string          `json:"result_text,omitempty"`
	ResultData any              `json:"result_data,omitempty"`
}

// SessionEvents is a page of events, oldest first.
type SessionEvents struct {
	Events      []StoredEvent `json:"events"`
	Truncated   bool          `json:"truncated,omitempty" doc:"there are more"`
	NextAfterID int64         `json:"next_after_id,omitempty" doc:"after_id of the next page"`
}
