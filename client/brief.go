package client

// Brief is what an agent needs to know at the start of a session, at most 2,400 bytes.
type Brief struct {
	Project          string        `json:"project"`
	AgentID          string        `json:"agent_id"`
	SessionID        string        `json:"session_id"`
	OthersActive     int           `json:"others_active" doc:"other sessions heard within 15 minutes"`
	Hold             string        `json:"hold,omitempty" mcp:"full" doc:"why you are kept from new work, and what to do"`
	MyLocks          []BriefLock   `json:"my_locks"`
	MyLocksTotal     int           `json:"my_locks_total"`
	MyTasks          []BriefTask   `json:"my_tasks"`
	OthersLocks      []BriefLock   `json:"others_locks"`
	OthersLocksTotal int           `json:"others_locks_total"`
	Ready            []BriefTask   `json:"ready" doc:"first tasks this session may claim"`
	ReadyTotal       int           `json:"ready_total" doc:"at most 100 are counted"`
	Messages         []BriefMail   `json:"messages"`
	Unread           int           `json:"unread"`
	Handoff          *BriefNote    `json:"handoff,omitempty" doc:"newest handoff that concerns this agent"`
	Lessons          []BriefLesson `json:"lessons,omitempty" doc:"what earlier agents learned about the files and tasks at hand"`
	Shortened        bool          `json:"shortened,omitempty" doc:"lists were cut to fit; the totals are right"`
}

// BriefLock is a lock in a brief.
type BriefLock struct {
	FilePath  string `json:"file_path"`
	LockedBy  string `json:"locked_by,omitempty"`
	Reason    string `json:"reason,omitempty"`
	ExpiresAt string `json:"expires_at"`
}

// BriefTask is a task in a brief.
type BriefTask struct {
	TaskID      string `json:"task_id"`
	TaskType    string `json:"task_type"`
	Description string `json:"description"`
	Priority    int    `json:"priority,omitempty"`
	LeaseUntil  string `json:"lease_until,omitempty"`
}

// BriefMail is a message in a brief.
type BriefMail struct {
	MessageID   string `json:"message_id"`
	From        string `json:"from"`
	Kind        string `json:"kind"`
	Text        string `json:"text"`
	More        bool   `json:"more,omitempty" doc:"list_messages has the rest"`
	AckRequired bool   `json:"ack_required,omitempty"`
}

// BriefNote is a handoff in a brief.
type BriefNote struct {
	AgentName string   `json:"agent_name"`
	Summary   string   `json:"summary"`
	NextSteps []string `json:"next_steps"`
	CreatedAt string   `json:"created_at"`
}

// BriefLesson is a memory in a brief.
type BriefLesson struct {
	MemoryID string `json:"memory_id,omitempty"`
	Text     string `json:"text"`
	Stale    bool   `json:"stale,omitempty" doc:"its file changed since"`
}

// ProjectDigest asks what changed since the caller looked last.
type ProjectDigest struct {
	Peek bool `json:"peek,omitempty" doc:"do not remember that the caller looked"`
}

// Digest is what changed in a project, as markdown and as data.
type Digest struct {
	Markdown        string         `json:"markdown"`
	Project         string         `json:"project"`
	Since           string         `json:"since" doc:"when the caller looked last; a day ago at the first time"`
	Changes         int            `json:"changes" doc:"changes by others since then, at most 2000"`
	Kinds           []DigestKind   `json:"kinds" doc:"by operation, the latest first"`
	Newsletters     map[string]int `json:"newsletters" doc:"tasks whose type starts with newsletter, by status"`
	NewsletterTasks []DigestTask   `json:"newsletter_tasks" doc:"the last five of them"`
}

// DigestKind is one kind of change in a digest.
type DigestKind struct {
	Operation string   `json:"operation"`
	Count     int      `json:"count"`
	Agents    []string `json:"agents"`
	Objects   []string `json:"objects" doc:"the latest ten things concerned"`
}

// DigestTask is a newsletter task in a digest.
type DigestTask struct {
	TaskID      string `json:"task_id"`
	TaskType    string `json:"task_type"`
	Status      string `json:"status"`
	Description string `json:"description"`
}
