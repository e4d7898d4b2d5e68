package client

// AcquireLock asks for one path or several, all or none.
type AcquireLock struct {
	FilePath    string   `json:"file_path,omitempty" kind:"path" maxLength:"1024" doc:"file, dir/, glob, or key such as api:users"`
	FilePaths   []string `json:"file_paths,omitempty" kind:"path" minItems:"1" maxItems:"200" doc:"several: all or none"`
	Mode        string   `json:"mode,omitempty" enum:"exclusive,shared" default:"exclusive" mcp:"full" doc:"shared: several sessions may hold it, none exclusively"`
	TTLMinutes  int      `json:"ttl_minutes,omitempty" minimum:"1" maximum:"480" default:"30" doc:"kept so long unless renewed"`
	Reason      string   `json:"reason,omitempty" maxLength:"500" doc:"shown to others"`
	Branch      string   `json:"branch,omitempty" maxLength:"255" mcp:"full" doc:"the lock counts on this branch only; left out: on every branch"`
	WaitSeconds float64  `json:"wait_seconds,omitempty" minimum:"0" maximum:"55" default:"0" doc:"queue so long when held"`
}

// LockConflict is one lock, or one earlier waiter, that stands in the way.
type LockConflict struct {
	FilePath    string `json:"file_path" doc:"the requested path"`
	HeldPath    string `json:"held_path,omitempty" doc:"the path that overlaps it, when it is another"`
	LockedBy    string `json:"locked_by" doc:"agent that holds it"`
	AgentType   string `json:"agent_type,omitempty"`
	SessionID   string `json:"session_id,omitempty" doc:"session that holds it"`
	Mode        string `json:"mode,omitempty" enum:"exclusive,shared"`
	Branch      string `json:"branch,omitempty" doc:"branch of the lock; left out: every branch"`
	Reason      string `json:"reason,omitempty" doc:"what the holder wrote"`
	LockedAt    string `json:"locked_at,omitempty" doc:"RFC 3339 UTC"`
	ExpiresAt   string `json:"expires_at,omitempty" doc:"RFC 3339 UTC"`
	SecondsLeft int    `json:"seconds_left,omitempty"`
	Waiting     bool   `json:"waiting,omitempty" doc:"it does not hold the path but asked for it earlier"`
}

// LockWaiter is one member of a circle of sessions that wait for each other.
type LockWaiter struct {
	AgentID   string `json:"agent_id"`
	SessionID string `json:"session_id"`
	WaitsFor  string `json:"waits_for" doc:"path held by the next member; the last waits for the first"`
}

// LockToken is one path of a request for several, with its fencing token.
type LockToken struct {
	FilePath     string `json:"file_path"`
	FencingToken string `json:"fencing_token"`
}

// LockResult is the answer to acquire_lock.
type LockResult struct {
	Success       bool           `json:"success" doc:"false: nothing was locked"`
	Action        string         `json:"action" enum:"acquired,refreshed,blocked"`
	FilePath      string         `json:"file_path,omitempty" doc:"the path asked for, cleaned; the first of several"`
	Mode          string         `json:"mode,omitempty" enum:"exclusive,shared"`
	ExpiresAt     string         `json:"expires_at,omitempty" doc:"end of your lock, or of the one in the way; RFC 3339 UTC"`
	FencingToken  string         `json:"fencing_token,omitempty" doc:"grows with every grant; a store can refuse writes with an older one"`
	Locks         []LockToken    `json:"locks,omitempty" doc:"each path and its token, when there are several"`
	Reason        string         `json:"reason,omitempty" doc:"on failure: locked_by_other, deadlock, agent_paused or ttl_out_of_range"`
	LockedBy      string         `json:"locked_by,omitempty" doc:"agent in the way"`
	LockReason    string         `json:"lock_reason,omitempty" doc:"what the agent in the way is doing; with agent_paused: who paused you, and why"`
	Conflicts     []LockConflict `json:"conflicts,omitempty" doc:"everything in the way, at most 20"`
	FreeNearby    []string       `json:"free_nearby,omitempty" doc:"requested paths that are free, and what is free within a refused directory or glob"`
	QueuePosition int            `json:"queue_position,omitempty" doc:"place in line, 1 is next"`
	Ticket        string         `json:"ticket,omitempty" doc:"number drawn while it waited"`
	WaitedMS      int            `json:"waited_ms,omitempty" doc:"milliseconds spent waiting"`
	Cycle         []LockWaiter   `json:"cycle,omitempty" doc:"with reason deadlock: who waits for whom"`
	Next          string         `json:"next,omitempty" doc:"what to do now"`
}

// ReleaseLock gives back one path, several, or everything the session holds.
type ReleaseLock struct {
	FilePath  string   `json:"file_path,omitempty" kind:"path" maxLength:"1024" doc:"as it was locked"`
	FilePaths []string `json:"file_paths,omitempty" kind:"path" minItems:"1" maxItems:"200" doc:"several"`
	All       bool     `json:"all,omitempty" doc:"all locks of this session"`
	Branch    string   `json:"branch,omitempty" maxLength:"255" mcp:"full" doc:"only the lock on this branch; left out: on any"`
}

// ReleaseResult is the answer to release_lock.
type ReleaseResult struct {
	Success   bool     `json:"success" doc:"true when something was released"`
	Action    string   `json:"action,omitempty" enum:"released"`
	Released  bool     `json:"released"`
	FilePath  string   `json:"file_path,omitempty" doc:"the path, the first of several"`
	FilePaths []string `json:"file_paths,omitempty" doc:"everything released, when several"`
	Count     int      `json:"count" doc:"how many paths were released"`
	NotHeld   []string `json:"not_held,omitempty" doc:"asked for, but not held by this session"`
	Reason    string   `json:"reason,omitempty" doc:"lock_not_found_or_not_owner when nothing was released"`
}

// CheckLocks reads without taking anything.
type CheckLocks struct {
	FilePaths []string `json:"file_paths,omitempty" kind:"path" maxItems:"200" doc:"only locks that overlap these; left out: all"`
	FilePath  string   `json:"file_path,omitempty" kind:"path" maxLength:"1024" mcp:"full" doc:"one path instead of several"`
	LockedBy  string   `json:"locked_by,omitempty" maxLength:"200" mcp:"full" doc:"only locks of this agent"`
	Branch    string   `json:"branch,omitempty" maxLength:"255" mcp:"full" doc:"only locks that count on this branch"`
	Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"200" mcp:"full" doc:"at most so many, oldest first"`
}

// Lock is one held lock.
type Lock struct {
	FilePath     string `json:"file_path"`
	LockedBy     string `json:"locked_by" doc:"agent that holds it"`
	AgentType    string `json:"agent_type"`
	SessionID    string `json:"session_id,omitempty" doc:"session that holds it"`
	Mode         string `json:"mode" enum:"exclusive,shared"`
	Branch       string `json:"branch,omitempty" doc:"left out: every branch"`
	Repository   string `json:"repository,omitempty" doc:"left out: a logical key"`
	LockedAt     string `json:"locked_at" doc:"RFC 3339 UTC"`
	ExpiresAt    string `json:"expires_at" doc:"RFC 3339 UTC"`
	SecondsLeft  int    `json:"seconds_left"`
	Reason       string `json:"reason,omitempty"`
	FencingToken string `json:"fencing_token"`
}

// Locks is the answer to check_locks.
type Locks struct {
	Locks     []Lock `json:"locks" doc:"an empty list means that nobody holds any of it"`
	Count     int    `json:"count"`
	Truncated bool   `json:"truncated" doc:"there are more than limit"`
}

// LockStatus asks about one path.
type LockStatus struct {
	FilePath string `json:"file_path" kind:"path" minLength:"1" maxLength:"1024" doc:"file, directory (a/), glob or logical key"`
}

// LockState is the answer to lock_status.
type LockState struct {
	Locked   bool   `json:"locked" doc:"true when a lock overlaps the path"`
	FilePath string `json:"file_path"`
	Lock     *Lock  `json:"lock,omitempty" doc:"the lock, the oldest of several"`
}

// VerifyLock checks a fencing token before a write.
type VerifyLock struct {
	FilePath     string `json:"file_path" kind:"path" minLength:"1" maxLength:"1024" doc:"the path to be written; a lock on its directory counts too"`
	FencingToken string `json:"fencing_token" pattern:"^[0-9]{1,18}$" doc:"token that acquire_lock returned"`
}

// VerifiedLock says that the token is good until ExpiresAt.
type VerifiedLock struct {
	Success      bool   `json:"success"`
	Valid        bool   `json:"valid"`
	FilePath     string `json:"file_path"`
	LockedBy     string `json:"locked_by"`
	FencingToken string `json:"fencing_token"`
	ExpiresAt    string `json:"expires_at" doc:"RFC 3339 UTC"`
	SecondsLeft  int    `json:"seconds_left"`
}

// ForceReleaseLock takes a lock away from its holder.
type ForceReleaseLock struct {
	FilePath string `json:"file_path" kind:"path" minLength:"1" maxLength:"1024" doc:"the lock's path, exactly as listed"`
	Reason   string `json:"reason" minLength:"3" maxLength:"500" doc:"why; the holder and the audit trail get it"`
	LockedBy string `json:"locked_by,omitempty" maxLength:"200" doc:"only if this agent holds it"`
}

// ForceReleased says whose lock is gone.
type ForceReleased struct {
	Released           bool   `json:"released" doc:"false: nobody held it"`
	FilePath           string `json:"file_path"`
	Count              int    `json:"count" doc:"locks removed; a shared one counts once a holder"`
	PriorHolderAgentID string `json:"prior_holder_agent_id,omitempty"`
	PriorLockedAt      string `json:"prior_acquired_at,omitempty" doc:"RFC 3339 UTC"`
}

// RenewLocks prolongs everything the session holds.
type RenewLocks struct {
	TTLMinutes int `json:"ttl_minutes,omitempty" minimum:"1" maximum:"480" doc:"new length; left out: each lock's own"`
}

// RenewedLocks says what the session still holds.
type RenewedLocks struct {
	Success   bool   `json:"success"`
	Renewed   int    `json:"renewed" doc:"locks prolonged; those with two thirds of their time left are not touched"`
	Held      int    `json:"held" doc:"paths the session holds; an expired lock is not brought back"`
	ExpiresAt string `json:"expires_at,omitempty" doc:"when the first of them ends, RFC 3339 UTC"`
	Reason    string `json:"reason,omitempty"`
}
