package client

// RegisterRunner makes a runner known. Host, directory and profile are its identity.
type RegisterRunner struct {
	Hostname            string         `json:"hostname" minLength:"1" maxLength:"255"`
	ProjectDir          string         `json:"project_dir" minLength:"1" maxLength:"4096"`
	ExecutorProfile     string         `json:"executor_profile" minLength:"1" maxLength:"200"`
	Executor            map[string]any `json:"executor,omitempty" doc:"type, command and config of its executor"`
	Tags                []string       `json:"tags,omitempty" maxItems:"100" minLength:"1" maxLength:"100"`
	RequireMatchingTags bool           `json:"require_matching_tags,omitempty" doc:"take only runs that demand one of its tags"`
	Capacity            int            `json:"capacity,omitempty" minimum:"1" maximum:"10000" doc:"most runs it takes at once; left out: as many as come"`
	InstanceID          string         `json:"instance_id,omitempty" maxLength:"200" doc:"kept over restarts of one installation: after a crash it may register again at once"`
	RunIDs              *[]string      `json:"run_ids,omitempty" doc:"runs it still executes; others that it had have failed"`
}

// RegisteredRunner is the reply of RegisterRunner.
type RegisteredRunner struct {
	RunnerID                 string  `json:"runner_id"`
	PollEndpoint             string  `json:"poll_endpoint"`
	PollTimeoutSeconds       float64 `json:"poll_timeout_seconds"`
	HeartbeatIntervalSeconds float64 `json:"heartbeat_interval_seconds"`
}

// RunnerRef names a runner.
type RunnerRef struct {
	RunnerID string `json:"runner_id" minLength:"1" maxLength:"200"`
}

// Runner is a runner as others see it.
type Runner struct {
	RunnerID              string         `json:"runner_id"`
	RegisteredAt          string         `json:"registered_at"`
	LastHeartbeat         string         `json:"last_heartbeat"`
	Hostname              string         `json:"hostname"`
	ProjectDir            string         `json:"project_dir"`
	ExecutorProfile       string         `json:"executor_profile"`
	Executor              map[string]any `json:"executor"`
	Tags                  []string       `json:"tags"`
	RequireMatchingTags   bool           `json:"require_matching_tags"`
	Capacity              *int           `json:"capacity" doc:"most runs it takes at once; null: it does not say"`
	Status                string         `json:"status" enum:"online,stale"`
	SecondsSinceHeartbeat float64        `json:"seconds_since_heartbeat"`
	Draining              bool           `json:"draining" doc:"it finishes what it has and takes nothing new"`
	DrainReason           string         `json:"drain_reason,omitempty"`
	DrainedBy             string         `json:"drained_by,omitempty"`
	DrainingSince         string         `json:"draining_since,omitempty"`
}

// Runners is the reply of the list of runners.
type Runners struct {
	Runners []Runner `json:"runners"`
}

// DeregisterRunner takes a runner off the list.
type DeregisterRunner struct {
	RunnerID string `json:"runner_id" minLength:"1" maxLength:"200"`
	Self     bool   `json:"self,omitempty" doc:"the runner itself leaves: at once; else it is told at its next poll"`
}

// DeregisteredRunner is the reply of DeregisterRunner.
type DeregisteredRunner struct {
	OK          bool   `json:"ok"`
	Message     string `json:"message"`
	InitiatedBy string `json:"initiated_by" enum:"self,external"`
}

// RunStarted is a runner's report that it executes a run.
type RunStarted struct {
	RunID    string `json:"run_id" minLength:"1" maxLength:"200"`
	RunnerID string `json:"runner_id" minLength:"1" maxLength:"200"`
}

// RunCompleted is a runner's report that a run's executor ended well.
type RunCompleted struct {
	RunID    string `json:"run_id" minLength:"1" maxLength:"200"`
	RunnerID string `json:"runner_id" minLength:"1" maxLength:"200"`
	Status   string `json:"status,omitempty" maxLength:"100" doc:"success; not looked at"`
}

// RunFailed is a runner's report that a run's executor failed.
type RunFailed struct {
	RunID    string `json:"run_id" minLength:"1" maxLength:"200"`
	RunnerID string `json:"runner_id" minLength:"1" maxLength:"200"`
	Error    string `json:"error" doc:"what went wrong, such as the end of its stderr"`
}

// RunStopped is a runner's report that it ended a run as it was told.
type RunStopped struct {
	RunID    string `json:"run_id" minLength:"1" maxLength:"200"`
	RunnerID string `json:"runner_id" minLength:"1" maxLength:"200"`
	Signal   string `json:"signal,omitempty" maxLength:"100" default:"SIGTERM"`
}
