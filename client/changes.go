package client

// ReportChanges tells which files a tool call, a commit or a push changed. Hooks send it after the fact: what a lock of
// another session covers is recorded, and told to the holder.
type ReportChanges struct {
	Files   []ReportedFile `json:"files" minItems:"1" maxItems:"1000" doc:"what changed"`
	Tool    string         `json:"tool,omitempty" maxLength:"100" doc:"what changed it, such as Bash"`
	Command string         `json:"command,omitempty" maxLength:"300" doc:"its command, shortened"`
	Stage   string         `json:"stage,omitempty" enum:"edit,commit,push" default:"edit" doc:"when it was noticed"`
	Unknown bool           `json:"unknown,omitempty" doc:"the change came between calls: another process may have made it"`
	Bypass  string         `json:"bypass,omitempty" maxLength:"500" doc:"why somebody goes ahead past the locks of others; kept with the record"`
	Branch  string         `json:"branch,omitempty" maxLength:"255" doc:"branch that is checked out; memories bound to files of other branches stay as they are"`
}

// ReportedFile is one changed file.
type ReportedFile struct {
	FilePath string `json:"file_path" kind:"path" minLength:"1" maxLength:"1024"`
	Digest   string `json:"digest,omitempty" maxLength:"200" doc:"digest of its content now; memories bound to another one become stale"`
	Deleted  bool   `json:"deleted,omitempty"`
}

// ReportedChanges says which of the files another session holds.
type ReportedChanges struct {
	Success    bool           `json:"success" doc:"true: the report was taken in"`
	Files      int            `json:"files"`
	Violations []LockConflict `json:"violations" doc:"changed files that another session holds, at most 100; an empty list means none"`
	Told       int            `json:"told" doc:"sessions that were told; a repetition within ten minutes tells nobody again"`
}

// ListLockWaits asks who waits for locks.
type ListLockWaits struct {
	Limit int `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"200" doc:"at most so many, first in line first"`
}

// LockWait is a path that a session waits for.
type LockWait struct {
	FilePath  string `json:"file_path" doc:"what it asked for"`
	AgentID   string `json:"agent_id"`
	AgentType string `json:"agent_type,omitempty"`
	SessionID string `json:"session_id"`
	Mode      string `json:"mode" enum:"exclusive,shared"`
	Branch    string `json:"branch,omitempty" doc:"left out: every branch"`
	Since     string `json:"since" doc:"when it joined the queue, RFC 3339 UTC"`
	HeldPath  string `json:"held_path,omitempty" doc:"the lock in the way, the first of several; left out: only earlier waiters are"`
	HeldBy    string `json:"held_by,omitempty" doc:"agent that holds it"`
	Ahead     int    `json:"ahead,omitempty" doc:"waiters for an overlapping path that came earlier"`
}

// LockWaits is a list of waits.
type LockWaits struct {
	Waits     []LockWait `json:"waits" doc:"an empty list means that nobody waits"`
	Count     int        `json:"count"`
	Truncated bool       `json:"truncated" doc:"there are more than limit"`
}

// ListViolations asks for changes of files that somebody else held.
type ListViolations struct {
	AgentID string `json:"by,omitempty" maxLength:"200" doc:"only changes by this agent"`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"at most so many, newest first"`
}

// Violation is a change of a file that another session held.
type Violation struct {
	ID            string `json:"id"`
	FilePath      string `json:"file_path"`
	HeldPath      string `json:"held_path" doc:"the lock's path"`
	Repository    string `json:"repository,omitempty"`
	AgentID       string `json:"agent_id" doc:"who changed it; with unknown: who worked there last"`
	SessionID     string `json:"session_id,omitempty"`
	LockedBy      string `json:"locked_by" doc:"agent that held the lock"`
	HolderSession string `json:"holder_session_id,omitempty"`
	Stage         string `json:"stage" enum:"edit,commit,push"`
	Tool          string `json:"tool,omitempty"`
	Command       string `json:"command,omitempty"`
	Unknown       bool   `json:"unknown,omitempty"`
	Bypass        string `json:"bypass,omitempty" doc:"the reason given for going ahead"`
	At            string `json:"at" doc:"RFC 3339 UTC"`
	LastAt        string `json:"last_at" doc:"when it was reported last, RFC 3339 UTC"`
}

// Violations is the answer to list_violations.
type Violations struct {
	Violations []Violation `json:"violations"`
	Count      int         `json:"count"`
	Truncated  bool        `json:"truncated" doc:"there are more than limit"`
}
