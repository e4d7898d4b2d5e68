package client

import "encoding/json"

// AgentRequirements are demands on the agent that may take a task, beside its tags.
type AgentRequirements struct {
	AgentType       string `json:"agent_type,omitempty" maxLength:"200" doc:"only agents of this type"`
	Archetype       string `json:"archetype,omitempty" maxLength:"80" doc:"only agents with the capability archetype:<this>"`
	MinTrustLevel   int    `json:"min_trust_level,omitempty" minimum:"0" maximum:"4" doc:"least trust of the agent"`
	Hostname        string `json:"hostname,omitempty" maxLength:"255" doc:"exact host"`
	ProjectDir      string `json:"project_dir,omitempty" maxLength:"1000" doc:"exact directory"`
	ExecutorProfile string `json:"executor_profile,omitempty" maxLength:"200" doc:"exact profile: a runner executes the task as a run"`
	AgentName       string `json:"agent_name,omitempty" maxLength:"60" doc:"blueprint of that run"`
}

// TaskSpec describes a task to submit.
type TaskSpec struct {
	TaskType     string             `json:"task_type" minLength:"1" maxLength:"200" doc:"a word workers filter by"`
	Description  string             `json:"description" minLength:"1" maxLength:"20000" doc:"what to do"`
	InputData    map[string]any     `json:"input_data,omitempty" doc:"up to 256 KiB"`
	Priority     int                `json:"priority,omitempty" minimum:"1" maximum:"10" default:"5" doc:"1 is first"`
	Tags         []string           `json:"tags,omitempty" maxItems:"50" minLength:"1" maxLength:"100" doc:"the worker needs all"`
	Files        []string           `json:"files,omitempty" maxItems:"200" minLength:"1" maxLength:"4096" kind:"path" doc:"to lock before work"`
	Labels       []string           `json:"labels,omitempty" maxItems:"50" minLength:"1" maxLength:"200" mcp:"full" doc:"words to find it by; they demand nothing"`
	DelaySeconds float64            `json:"delay_seconds,omitempty" minimum:"0" maximum:"31536000" mcp:"full" doc:"begin no sooner than in so many seconds"`
	RunAt        string             `json:"run_at,omitempty" format:"date-time" mcp:"full" doc:"begin no sooner than at this time"`
	Deadline     string             `json:"deadline,omitempty" format:"date-time" mcp:"full" doc:"fails when it is not finished by then"`
	MaxAttempts  int                `json:"max_attempts,omitempty" minimum:"1" maximum:"20" default:"3" mcp:"full" doc:"claims before it is dead; releases and lost leases count"`
	Requirements *AgentRequirements `json:"agent_requirements,omitempty" mcp:"full" doc:"demands on the agent"`
}

// SubmitWork submits one task.
type SubmitWork struct {
	TaskSpec
	DependsOn []string `json:"depends_on,omitempty" maxItems:"200" format:"uuid" doc:"task ids to complete first"`
}

// BatchTask is one task of SubmitTasks. DependsOn may name tasks of the same batch by their ref.
type BatchTask struct {
	TaskSpec
	Ref       string   `json:"ref,omitempty" minLength:"1" maxLength:"100" doc:"a name for depends_on within this batch"`
	DependsOn []string `json:"depends_on,omitempty" maxItems:"200" minLength:"1" maxLength:"100" doc:"task ids, or refs of this batch"`
}

// SubmitTasks submits many tasks, all or none.
type SubmitTasks struct {
	Tasks []BatchTask `json:"tasks" minItems:"1" maxItems:"5000" doc:"the tasks, in any order"`
}

// SubmittedTask is one task as it was taken in.
type SubmittedTask struct {
	TaskID  string `json:"task_id"`
	Status  string `json:"status" enum:"pending,scheduled"`
	Blocked bool   `json:"blocked" doc:"waits for dependencies"`
}

// FlaggedWork says that a submission asks for something destructive and waits for a person. Nothing was put into the queue.
type FlaggedWork struct {
	Error            string `json:"error,omitempty" mcp:"full"`             // destructive_operation_blocked
	Operation        string `json:"operation,omitempty" mcp:"full"`         // the guardrail that it meets, with _ for -: force_push, drop_table, …
	ApprovalRequired bool   `json:"approval_required,omitempty" mcp:"full"` // it is submitted once a person approves ActID: see ListActs
	ActID            string `json:"act_id,omitempty" mcp:"full"`
}

// SubmittedWork is the reply of SubmitWork. TaskID is the first task's.
type SubmittedWork struct {
	Success bool   `json:"success" doc:"false: it waits for a person's approval"`
	TaskID  string `json:"task_id"`
	Status  string `json:"status" enum:"pending,scheduled,awaiting_approval"`
	Blocked bool   `json:"blocked" doc:"waits for dependencies"`
	FlaggedWork
}

// SubmittedTasks is the reply of SubmitTasks, in the order sent.
type SubmittedTasks struct {
	Success bool            `json:"success" doc:"false: all of them wait for a person's approval"`
	TaskIDs []string        `json:"task_ids"`
	Tasks   []SubmittedTask `json:"tasks"`
	FlaggedWork
}

// GetWork claims the best task the caller may take: by priority, then age.
type GetWork struct {
	TaskTypes    []string `json:"task_types,omitempty" maxItems:"100" minLength:"1" maxLength:"200" doc:"only these types"`
	Tags         []string `json:"tags,omitempty" maxItems:"100" minLength:"1" maxLength:"100" doc:"what you offer; tagged tasks need all their tags"`
	WaitSeconds  float64  `json:"wait_seconds,omitempty" minimum:"0" maximum:"30" doc:"wait for one"`
	LeaseSeconds int      `json:"lease_seconds,omitempty" minimum:"10" maximum:"86400" default:"1800" mcp:"full" doc:"renew within this time, or the task goes to another"`
	Limit        int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"1" mcp:"full" doc:"claim up to so many"`
}

// ClaimedTask is a task the caller now has.
type ClaimedTask struct {
	TaskType        string          `json:"task_type,omitempty"`
	Description     string          `json:"description,omitempty"`
	TaskDescription string          `json:"task_description,omitempty" doc:"the same as description"`
	InputData       json.RawMessage `json:"input_data,omitempty" doc:"what the submitter sent along"`
	Priority        int             `json:"priority,omitempty"`
	Deadline        string          `json:"deadline,omitempty"`
	Attempt         int             `json:"attempt,omitempty" doc:"which try this is"`
	MaxAttempts     int             `json:"max_attempts,omitempty"`
	LastError       string          `json:"last_error,omitempty" doc:"how the attempt before ended"`
	LeaseToken      string          `json:"lease_token,omitempty" doc:"send it with complete_work to be told when the task was lost"`
	LeaseExpiresAt  string          `json:"lease_expires_at,omitempty" doc:"renew before then"`
	Files           []string        `json:"files,omitempty" kind:"path" doc:"lock these before you begin"`
	Repository      string          `json:"repository,omitempty"`
	Tags            []string        `json:"tags,omitempty"`
	DependsOn       []string        `json:"depends_on,omitempty" doc:"completed tasks whose results may help: get_task"`
}

// BatchClaim is one of several tasks claimed by one call.
type BatchClaim struct {
	TaskID string `json:"task_id"`
	ClaimedTask
}

// QueueState tells "nothing at all" from "nothing for you now". Counts stop at 100.
type QueueState struct {
	ReadyOther int `json:"ready_other" doc:"ready, but they demand other types, tags or agents"`
	Blocked    int `json:"blocked" doc:"wait for dependencies"`
	Scheduled  int `json:"scheduled" doc:"begin later"`
	Claimed    int `json:"claimed" doc:"others are at work on them"`
}

// Work is the reply of GetWork: the claimed task, or success false, task_id null and a reason.
type Work struct {
	Success bool    `json:"success" doc:"false: there was no task for you"`
	TaskID  *string `json:"task_id"`
	ClaimedTask
	Tasks  []BatchClaim `json:"tasks,omitempty" doc:"all of them, when limit is over 1"`
	Reason string       `json:"reason,omitempty" enum:"no_tasks_available,agent_paused,agent_draining,budget_exhausted"`
	Held   bool         `json:"held,omitempty" mcp:"full" doc:"kept from new work: see why, next"`
	Why    string       `json:"why,omitempty" mcp:"full"`
	Next   string       `json:"next,omitempty" mcp:"full"`
	Queue  *QueueState  `json:"queue,omitempty" doc:"why there was none"`

	Memories   []Memory `json:"memories,omitempty" doc:"what earlier agents learned about it, at most three"`
	MemoryNote string   `json:"memory_note,omitempty" doc:"why memories are missing"`
}

// CompleteWork ends a task the caller claimed.
type CompleteWork struct {
	TaskID       string         `json:"task_id" format:"uuid"`
	Success      bool           `json:"success" doc:"false: it failed"`
	Result       map[string]any `json:"result,omitempty"`
	ErrorMessage string         `json:"error_message,omitempty" maxLength:"20000"`
	Retryable    bool           `json:"retryable,omitempty" doc:"a failure another attempt may mend"`
	LeaseToken   string         `json:"lease_token,omitempty" maxLength:"40" doc:"as claimed"`
	HeadSHA      string         `json:"head_sha,omitempty" pattern:"^([0-9a-f]{40}|[0-9a-f]{64})$" doc:"your commit: completed once it passes verification"`
	Remember     *bool          `json:"remember,omitempty" default:"true" mcp:"full" doc:"keep what the result teaches (its lessons or summary, or the error) for others"`
	SkillID      string         `json:"skill_id,omitempty" format:"uuid" mcp:"full" doc:"skill you followed; its success is counted"`
}

// CompleteTasks ends several tasks in one transaction; each has its own outcome.
type CompleteTasks struct {
	Tasks []CompleteWork `json:"tasks" minItems:"1" maxItems:"500"`
}

// CompletedTasks are the outcomes, in the order sent.
type CompletedTasks struct {
	Success bool         `json:"success" doc:"every task was ended"`
	Results []TaskChange `json:"results"`
}

// TaskChange is the reply of every call that changes one task.
type TaskChange struct {
	Success        bool   `json:"success"`
	TaskID         string `json:"task_id"`
	Status         string `json:"status,omitempty" doc:"the task's status now"`
	Reason         string `json:"reason,omitempty" doc:"a word for why nothing was changed"`
	Why            string `json:"why,omitempty" doc:"the same as a sentence"`
	RetryAt        string `json:"retry_at,omitempty" doc:"when a task that failed comes back"`
	LeaseExpiresAt string `json:"lease_expires_at,omitempty"`
	Replayed       bool   `json:"replayed,omitempty" doc:"this was done before; nothing was changed now"`
	Cancelled      int    `json:"cancelled,omitempty" doc:"how many tasks were cancelled, dependents included"`
	MemoryID       string `json:"memory_id,omitempty" doc:"experience that was recorded"`
	MemoryNote     string `json:"memory_note,omitempty" doc:"why none was"`
}

// UpdateWork renews, reports on or gives back a task the caller claimed.
type UpdateWork struct {
	TaskID       string  `json:"task_id" format:"uuid"`
	Action       string  `json:"action" enum:"heartbeat,progress,release"`
	Percent      float64 `json:"percent,omitempty" minimum:"0" maximum:"100"`
	Note         string  `json:"note,omitempty" maxLength:"2000" doc:"progress, or why you release"`
	LeaseToken   string  `json:"lease_token,omitempty" maxLength:"40" mcp:"full" doc:"as claimed"`
	LeaseSeconds int     `json:"lease_seconds,omitempty" minimum:"10" maximum:"86400" mcp:"full" doc:"a new length of the lease"`
}

// HeartbeatWork renews the lease of a task.
type HeartbeatWork struct {
	TaskID       string `json:"task_id" format:"uuid"`
	LeaseSeconds int    `json:"lease_seconds,omitempty" minimum:"10" maximum:"86400" doc:"a new length of the lease; else as claimed"`
	LeaseToken   string `json:"lease_token,omitempty" maxLength:"40" doc:"as claimed"`
}

// RenewedWork is the reply of a renewal of all leases.
type RenewedWork struct {
	Success bool `json:"success"`
	Renewed int  `json:"renewed" doc:"tasks the session holds; a lost one is not brought back"`
}

// ProgressWork reports how far a task is and renews its lease.
type ProgressWork struct {
	TaskID     string  `json:"task_id" format:"uuid"`
	Percent    float64 `json:"percent,omitempty" minimum:"0" maximum:"100"`
	Note       string  `json:"note,omitempty" maxLength:"2000" doc:"one sentence others will see"`
	LeaseToken string  `json:"lease_token,omitempty" maxLength:"40" doc:"as claimed"`
}

// ReleaseWork gives a task back to the queue. The attempt counts.
type ReleaseWork struct {
	TaskID     string `json:"task_id" format:"uuid"`
	Reason     string `json:"reason,omitempty" maxLength:"2000" doc:"what the next one should know"`
	LeaseToken string `json:"lease_token,omitempty" maxLength:"40" doc:"as claimed"`
}

// CancelWork cancels a task and all that depend on it.
type CancelWork struct {
	TaskID string `json:"task_id" format:"uuid"`
	Reason string `json:"reason,omitempty" maxLength:"2000"`
}

// TaskRef names a task.
type TaskRef struct {
	TaskID string `json:"task_id" format:"uuid"`
}

// PrioritiseWork gives a task another priority.
type PrioritiseWork struct {
	TaskID   string `json:"task_id" format:"uuid"`
	Priority int    `json:"priority" minimum:"1" maximum:"10" doc:"1 is first"`
}
