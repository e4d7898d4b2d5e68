package client

// HoldAgent keeps an agent, or one of its sessions, from new work. "*" is every agent of the project.
type HoldAgent struct {
	Agent   string `json:"agent" minLength:"1" maxLength:"200" doc:"agent id; * = every agent of the project"`
	Session string `json:"session,omitempty" maxLength:"200" doc:"only this session of the agent"`
	Reason  string `json:"reason" minLength:"1" maxLength:"500" doc:"shown to the agent and kept"`
}

// FreeAgent ends a hold.
type FreeAgent struct {
	Agent   string `json:"agent" minLength:"1" maxLength:"200" doc:"agent id; * = the hold on every agent of the project"`
	Session string `json:"session,omitempty" maxLength:"200" doc:"the hold on this session of the agent"`
	Reason  string `json:"reason,omitempty" maxLength:"500" doc:"shown to the agent and kept"`
}

// HoldRunner keeps a runner from new runs.
type HoldRunner struct {
	RunnerID string `json:"runner_id" minLength:"1" maxLength:"200"`
	Reason   string `json:"reason,omitempty" maxLength:"500" doc:"kept, and shown where the runner is listed"`
}

// Hold is what keeps an agent, a session, a runner or a whole project from new work.
type Hold struct {
	Kind     string `json:"kind" enum:"pause,drain,budget" doc:"pause: no new locks and no new work; drain, budget: no new work"`
	Agent    string `json:"agent,omitempty" doc:"* = every agent of the project"`
	Session  string `json:"session,omitempty"`
	RunnerID string `json:"runner_id,omitempty"`
	Reason   string `json:"reason"`
	By       string `json:"by"`
	Since    string `json:"since"`
	Until    string `json:"until,omitempty" doc:"ends by itself then: the budget's next period"`
	Locks    int    `json:"locks" doc:"locks that who is held still has"`
	Tasks    int    `json:"tasks" doc:"tasks, of a runner runs, that who is held still has; at 0 a drain is done"`
}

// Holds lists holds.
type Holds struct {
	Holds []Hold `json:"holds"`
	Count int    `json:"count"`
}

// ListHolds asks for holds.
type ListHolds struct {
	Agent string `json:"agent,omitempty" maxLength:"200" doc:"only those that concern this agent"`
}

// HoldResult says what became of a hold.
type HoldResult struct {
	Success      bool   `json:"success"`
	Already      bool   `json:"already,omitempty" doc:"it was so before; the reason is the new one"`
	Agent        string `json:"agent,omitempty"`
	Session      string `json:"session,omitempty"`
	RunnerID     string `json:"runner_id,omitempty"`
	Reason       string `json:"reason,omitempty"`
	SessionsTold int    `json:"sessions_told" doc:"open sessions that are told with their next call"`
}

// NudgeAgent is a person's short word to an agent.
type NudgeAgent struct {
	Agent   string `json:"agent" minLength:"1" maxLength:"200"`
	Session string `json:"session,omitempty" maxLength:"200" doc:"only this session of the agent"`
	Text    string `json:"text,omitempty" maxLength:"500" doc:"default: asks where it stands"`
}

// Nudged says what became of a nudge.
type Nudged struct {
	Success      bool   `json:"success"`
	Already      bool   `json:"already,omitempty" doc:"an earlier nudge of yours was not taken yet; nothing was added"`
	MessageID    string `json:"message_id"`
	SessionsTold int    `json:"sessions_told" doc:"open sessions that are told with their next call"`
}

// HandOver moves work from one agent to another, all of it or nothing.
type HandOver struct {
	From        string   `json:"from" minLength:"1" maxLength:"200" doc:"agent that has it"`
	FromSession string   `json:"from_session,omitempty" maxLength:"200" doc:"only what this session has"`
	To          string   `json:"to" minLength:"1" maxLength:"200" doc:"agent that gets it"`
	ToSession   string   `json:"to_session,omitempty" maxLength:"200" doc:"default: the session of to that was heard last"`
	TaskIDs     []string `json:"task_ids,omitempty" maxItems:"200" format:"uuid" doc:"tasks; with file_paths also empty: everything"`
	FilePaths   []string `json:"file_paths,omitempty" maxItems:"1000" maxLength:"1024" kind:"path" doc:"locks, as they were taken"`
	Note        string   `json:"note" minLength:"1" maxLength:"4000" doc:"what the next one must know; kept as a handoff document"`
}

// HandedTask is a task that changed hands.
type HandedTask struct {
	TaskID     string `json:"task_id"`
	LeaseToken string `json:"lease_token" doc:"the new holder's; the old one is worth nothing"`
}

// HandedLock is a lock that changed hands.
type HandedLock struct {
	FilePath     string `json:"file_path"`
	FencingToken string `json:"fencing_token" doc:"the new holder's, higher than the old one"`
}

// HandedOver says what changed hands.
type HandedOver struct {
	Success   bool         `json:"success"`
	Reason    string       `json:"reason,omitempty" doc:"nothing_to_hand_over: from holds nothing of it; nothing was changed"`
	From      string       `json:"from"`
	To        string       `json:"to"`
	ToSession string       `json:"to_session,omitempty"`
	Tasks     []HandedTask `json:"tasks"`
	Locks     []HandedLock `json:"locks"`
	HandoffID string       `json:"handoff_id,omitempty"`
}

// Snooze hides an item that needs a person, for the caller alone, until a time.
type Snooze struct {
	Item    string  `json:"item" minLength:"1" maxLength:"200" doc:"the item's id, as the page shows it"`
	Minutes float64 `json:"minutes,omitempty" minimum:"1" maximum:"43200" doc:"for so long; default 60"`
	Until   string  `json:"until,omitempty" format:"date-time" doc:"until then, instead of minutes"`
	Reason  string  `json:"reason,omitempty" maxLength:"500"`
}

// Unsnooze shows an item again.
type Unsnooze struct {
	Item string `json:"item" minLength:"1" maxLength:"200"`
}

// Snoozed is an item that is hidden for the caller.
type Snoozed struct {
	Item   string `json:"item"`
	Until  string `json:"until,omitempty" doc:"left out: it is not hidden"`
	Reason string `json:"reason,omitempty"`
}

// SnoozedItems are the items hidden for the caller.
type SnoozedItems struct {
	Items []Snoozed `json:"items"`
}
