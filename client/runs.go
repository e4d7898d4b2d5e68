package client

// Demands say which runner may take a run. All must hold; tags: the runner has all of them.
type Demands struct {
	Hostname        string   `json:"hostname,omitempty" maxLength:"255"`
	ProjectDir      string   `json:"project_dir,omitempty" maxLength:"4096"`
	ExecutorProfile string   `json:"executor_profile,omitempty" maxLength:"200"`
	Tags            []string `json:"tags,omitempty" maxItems:"50" minLength:"1" maxLength:"100"`
}

// CreateRun starts a session or resumes one.
type CreateRun struct {
	Type              string   `json:"type" enum:"start_session,resume_session"`
	Prompt            string   `json:"prompt" maxLength:"1000000"`
	SessionID         string   `json:"session_id,omitempty" maxLength:"200" doc:"the session to resume; for a start its id, else one is made"`
	AgentName         string   `json:"agent_name,omitempty" maxLength:"200" doc:"blueprint to use; a resume keeps the session's"`
	ProjectDir        string   `json:"project_dir,omitempty" maxLength:"4096"`
	ParentSessionID   string   `json:"parent_session_id,omitempty" maxLength:"200" doc:"session that started this one"`
	ExecutionMode     string   `json:"execution_mode,omitempty" enum:"sync,async_poll,async_callback" default:"sync" doc:"async_callback: the parent is resumed when this ends"`
	AdditionalDemands *Demands `json:"additional_demands,omitempty" doc:"demands beside those of the session's place and the blueprint; they add, never override"`
	Priority          int      `json:"priority,omitempty" minimum:"1" maximum:"10" default:"5" doc:"1 is first"`
	Retries           int      `json:"retries,omitempty" minimum:"0" maximum:"19" doc:"further attempts after a failure"`
	TimeoutSeconds    float64  `json:"timeout_seconds,omitempty" minimum:"1" maximum:"2592000" doc:"it is stopped when it is not over by then"`
	Deadline          string   `json:"deadline,omitempty" format:"date-time" doc:"the same as a time"`
	DelaySeconds      float64  `json:"delay_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"begin no sooner"`
}

// CreatedRun is the reply of CreateRun.
type CreatedRun struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Status    string `json:"status" enum:"pending"`
}

// RunDemands are the merged demands of a run.
type RunDemands struct {
	Hostname        string   `json:"hostname,omitempty"`
	ProjectDir      string   `json:"project_dir,omitempty"`
	ExecutorProfile string   `json:"executor_profile,omitempty"`
	Tags            []string `json:"tags"`
}

// Run is one execution of a session by a runner.
type Run struct {
	RunID           string      `json:"run_id"`
	Type            string      `json:"type" enum:"start_session,resume_session"`
	SessionID       string      `json:"session_id"`
	AgentName       *string     `json:"agent_name"`
	Prompt          string      `json:"prompt"`
	ProjectDir      *string     `json:"project_dir"`
	ParentSessionID *string     `json:"parent_session_id"`
	ExecutionMode   string      `json:"execution_mode" enum:"sync,async_poll,async_callback"`
	Demands         *RunDemands `json:"demands" nullable:"true"`
	Status          string      `json:"status" enum:"pending,claimed,running,stopping,completed,failed,stopped"`
	RunnerID        *string     `json:"runner_id"`
	Error           *string     `json:"error"`
	CreatedAt       string      `json:"created_at"`
	ClaimedAt       *string     `json:"claimed_at"`
	StartedAt       *string     `json:"started_at"`
	CompletedAt     *string     `json:"completed_at"`
	TimeoutAt       *string     `json:"timeout_at" doc:"while it is pending: it fails then unless a runner fits"`
	Priority        int         `json:"priority"`
	Attempt         int         `json:"attempt" doc:"how often it was claimed"`
	MaxAttempts     int         `json:"max_attempts"`
	Deadline        *string     `json:"deadline"`
	Project         string      `json:"project"`
	TaskID          *string     `json:"task_id" doc:"the task of the work queue that it executes"`
}

// RunRef names a run.
type RunRef struct {
	RunID string `json:"run_id" minLength:"1" maxLength:"200"`
}

// ListRuns filters the list of runs.
type ListRuns struct {
	Status    string `json:"status,omitempty" maxLength:"40" doc:"only runs in this status"`
	SessionID string `json:"session_id,omitempty" maxLength:"200" doc:"only runs of this session"`
	RunnerID  string `json:"runner_id,omitempty" maxLength:"200" doc:"only runs this runner has or had"`
	Newest    bool   `json:"newest,omitempty" doc:"newest first; else oldest first"`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"10000" doc:"most runs of one page"`
	After     string `json:"after,omitempty" maxLength:"200" doc:"run id that the page before ended with"`
}

// Runs is a page of runs.
type Runs struct {
	Runs      []Run `json:"runs"`
	Truncated bool  `json:"truncated,omitempty" doc:"there are more: ask with after"`
}

// StoppedRun is the reply of a stop.
type StoppedRun struct {
	OK        bool   `json:"ok"`
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Status    string `json:"status" enum:"stopping,stopped" doc:"stopping: its runner is told"`
	Message   string `json:"message,omitempty"`
}

// RunnerFit says whether a runner may take a run, and what it lacks.
type RunnerFit struct {
	RunnerID        string   `json:"runner_id"`
	Hostname        string   `json:"hostname"`
	ExecutorProfile string   `json:"executor_profile"`
	Status          string   `json:"status" enum:"online,stale"`
	Fits            bool     `json:"fits"`
	Lacks           []string `json:"lacks"`
}

// RunWhy explains where a run stands.
type RunWhy struct {
	RunID       string      `json:"run_id"`
	Status      string      `json:"status"`
	Reason      string      `json:"reason" doc:"session_busy, delayed, queued, at_capacity, no_runner, no_match, agent_paused, agent_draining, budget_exhausted, or the status"`
	Why         string      `json:"why" doc:"the same as a sentence"`
	Demands     *RunDemands `json:"demands" nullable:"true"`
	Ahead       int         `json:"ahead" doc:"runs with the same demands that are served before it"`
	WaitsForRun string      `json:"waits_for_run,omitempty"`
	Runners     []RunnerFit `json:"runners"`
}
