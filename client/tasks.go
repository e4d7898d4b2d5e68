package client

import "encoding/json"

// Progress is a claimant's latest report.
type Progress struct {
	Percent *float64 `json:"percent,omitempty"`
	Note    string   `json:"note,omitempty"`
	At      string   `json:"at"`
}

// Dependency is a task another one waits for.
type Dependency struct {
	TaskID       string `json:"task_id"`
	TaskType     string `json:"task_type"`
	Status       string `json:"status"`
	ErrorMessage string `json:"error_message,omitempty"`
}

// Task is a task of the queue as readers see it. Lists shorten the description and leave out input_data and result.
type Task struct {
	ID             string             `json:"id"`
	TaskID         string             `json:"task_id"`
	TaskType       string             `json:"task_type"`
	Description    string             `json:"description"`
	Status         string             `json:"status" enum:"scheduled,pending,claimed,running,verifying,completed,failed,dead,cancelled"`
	State          string             `json:"state" enum:"ready,blocked,scheduled,claimed,running,verifying,completed,failed,dead,cancelled" doc:"the status, with pending split into ready and blocked"`
	Priority       int                `json:"priority"`
	Tags           []string           `json:"tags,omitempty"`
	Labels         []string           `json:"labels,omitempty"`
	Files          []string           `json:"files,omitempty" kind:"path"`
	Repository     string             `json:"repository,omitempty"`
	DependsOn      []string           `json:"depends_on"`
	Requirements   *AgentRequirements `json:"agent_requirements,omitempty"`
	ClaimedBy      string             `json:"claimed_by,omitempty"`
	ClaimedAt      string             `json:"claimed_at,omitempty"`
	LeaseExpiresAt string             `json:"lease_expires_at,omitempty"`
	Attempt        int                `json:"attempt"`
	MaxAttempts    int                `json:"max_attempts"`
	Progress       *Progress          `json:"progress,omitempty"`
	InputData      json.RawMessage    `json:"input_data,omitempty"`
	Result         json.RawMessage    `json:"result,omitempty"`
	ErrorMessage   string             `json:"error_message,omitempty"`
	RunAt          string             `json:"run_at,omitempty"`
	Deadline       string             `json:"deadline,omitempty"`
	SubmittedBy    string             `json:"submitted_by"`
	CreatedAt      string             `json:"created_at"`
	UpdatedAt      string             `json:"updated_at"`
	CompletedAt    string             `json:"completed_at,omitempty"`
	Why            string             `json:"why,omitempty" doc:"why it is not ready"`
	WaitsFor       []Dependency       `json:"waits_for,omitempty" doc:"dependencies that are not completed"`
}

// TaskReply is the reply of get_task.
type TaskReply struct {
	Success bool   `json:"success"`
	Task    *Task  `json:"task,omitempty"`
	Reason  string `json:"reason,omitempty" enum:"task_not_found"`
}

// ListWork lists tasks, newest first.
type ListWork struct {
	Status      []string `json:"status,omitempty" maxItems:"10" enum:"ready,blocked,scheduled,pending,claimed,running,verifying,completed,failed,dead,cancelled" doc:"any of these"`
	TaskTypes   []string `json:"task_types,omitempty" maxItems:"100" doc:"any of these"`
	Tag         string   `json:"tag,omitempty" maxLength:"100"`
	Label       string   `json:"label,omitempty" maxLength:"200"`
	ClaimedBy   string   `json:"claimed_by,omitempty" maxLength:"200"`
	SubmittedBy string   `json:"submitted_by,omitempty" maxLength:"200"`
	Limit       int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50"`
	Cursor      string   `json:"cursor,omitempty" pattern:"^[0-9]{1,18}$" doc:"next_cursor of the page before"`
}

// ReadyWork lists what can be claimed.
type ReadyWork struct {
	TaskTypes []string `json:"task_types,omitempty" maxItems:"100" doc:"any of these"`
	Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50"`
}

// BlockedWork lists what waits for dependencies.
type BlockedWork struct {
	Limit int `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50"`
}

// Tasks is a page of tasks.
type Tasks struct {
	Tasks      []Task `json:"tasks"`
	Count      int    `json:"count"`
	Truncated  bool   `json:"truncated" doc:"there are more"`
	NextCursor string `json:"next_cursor,omitempty" doc:"send as cursor for the next page; a page may be short and still have one"`
}

// WhyNotReady explains where a task stands.
type WhyNotReady struct {
	Success  bool           `json:"success"`
	TaskID   string         `json:"task_id"`
	Reason   string         `json:"reason,omitempty" enum:"task_not_found"`
	Ready    bool           `json:"ready"`
	Status   string         `json:"status,omitempty"`
	State    string         `json:"state,omitempty"`
	Why      string         `json:"why,omitempty" doc:"one sentence"`
	WaitsFor []Dependency   `json:"waits_for,omitempty" doc:"dependencies that are not completed"`
	Demands  map[string]any `json:"demands,omitempty" doc:"what an agent needs to take it"`
	FitsYou  *bool          `json:"fits_you,omitempty" doc:"whether your registered capabilities meet the demands"`
}

// Lane is what is ready of one kind.
type Lane struct {
	TaskType string         `json:"task_type"`
	Demands  map[string]any `json:"demands,omitempty"`
	Ready    int            `json:"ready" doc:"counted to 10,000"`
	Oldest   string         `json:"oldest"`
}

// WorkStats are figures of the queue.
type WorkStats struct {
	Ready     int            `json:"ready"`
	Blocked   int            `json:"blocked"`
	Scheduled int            `json:"scheduled"`
	Claimed   int            `json:"claimed"`
	Lanes     []Lane         `json:"lanes"`
	Latest    map[string]int `json:"latest" doc:"states of the latest 20,000 tasks"`
}

// SweptWork is what one sweep of the queue did.
type SweptWork struct {
	Requeued int `json:"requeued"` // leases that ran out
	Dead     int `json:"dead"`     // of those, tasks whose attempts are used up
	Readied  int `json:"readied"`  // scheduled tasks that became ready
	Overdue  int `json:"overdue"`  // tasks whose deadline passed
}
