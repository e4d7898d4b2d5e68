package client

// UsageReport is what one turn of a model, or one run, used.
type UsageReport struct {
	Key              string   `json:"key" minLength:"1" maxLength:"200" doc:"names this use for ever in the project: a second report of it changes nothing"`
	At               string   `json:"at,omitempty" format:"date-time" doc:"when; default now. It counts in the period it lies in, however late it comes"`
	Model            string   `json:"model,omitempty" maxLength:"200"`
	InputTokens      int64    `json:"input_tokens,omitempty" minimum:"0" maximum:"1000000000000" doc:"not those read from or written to a cache"`
	OutputTokens     int64    `json:"output_tokens,omitempty" minimum:"0" maximum:"1000000000000"`
	CacheReadTokens  int64    `json:"cache_read_tokens,omitempty" minimum:"0" maximum:"1000000000000"`
	CacheWriteTokens int64    `json:"cache_write_tokens,omitempty" minimum:"0" maximum:"1000000000000"`
	CostUSD          *float64 `json:"cost_usd,omitempty" minimum:"0" maximum:"1000000" doc:"left out: not known"`
	Agent            string   `json:"agent,omitempty" maxLength:"200" doc:"default: the caller's; of a run: its agent"`
	Session          string   `json:"session,omitempty" maxLength:"200" doc:"default: the caller's; of a run: its session"`
	RunID            string   `json:"run_id,omitempty" maxLength:"200"`
	TaskID           string   `json:"task_id,omitempty" format:"uuid" doc:"default: the run's task, else the one task the session holds"`
	Source           string   `json:"source,omitempty" maxLength:"40" doc:"who counted: executor, hook, …"`
}

// ReportUsage reports uses, all or none.
type ReportUsage struct {
	Reports []UsageReport `json:"reports" minItems:"1" maxItems:"1000"`
}

// ReportedUsage says what was new.
type ReportedUsage struct {
	Success    bool     `json:"success"`
	Counted    int      `json:"counted"`
	Duplicates int      `json:"duplicates" doc:"reported before; not counted again"`
	Budgets    []Budget `json:"budgets,omitempty" doc:"budgets that are near their limit or over it"`
}

// UsageQuery asks for sums of use.
type UsageQuery struct {
	By      string `json:"by,omitempty" enum:"project,agent,session,task,run,model,day,change" default:"agent" doc:"change: cost of each change that was verified, by its task or session"`
	Since   string `json:"since,omitempty" format:"date-time" doc:"default: 30 days ago"`
	Until   string `json:"until,omitempty" format:"date-time"`
	Agent   string `json:"agent,omitempty" maxLength:"200"`
	Session string `json:"session,omitempty" maxLength:"200"`
	TaskID  string `json:"task_id,omitempty" format:"uuid"`
	RunID   string `json:"run_id,omitempty" maxLength:"200"`
	Model   string `json:"model,omitempty" maxLength:"200"`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"100" doc:"most groups, the dearest first; days: the latest first"`
}

// UsageSum is the use of one group.
type UsageSum struct {
	Key              string  `json:"key" doc:"what it is grouped by; empty: not known"`
	Name             string  `json:"name,omitempty" doc:"of a task or change: its title"`
	InputTokens      int64   `json:"input_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	CacheReadTokens  int64   `json:"cache_read_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens"`
	Tokens           int64   `json:"tokens" doc:"all four"`
	CostUSD          float64 `json:"cost_usd" doc:"of the reports that name a cost"`
	Reports          int64   `json:"reports"`
	Uncosted         int64   `json:"uncosted,omitempty" doc:"reports without a cost"`
}

// UsageSummary is use, by group and in all.
type UsageSummary struct {
	By        string     `json:"by"`
	Since     string     `json:"since"`
	Groups    []UsageSum `json:"groups"`
	Total     UsageSum   `json:"total" doc:"of everything that was asked for, also what is cut off"`
	Truncated bool       `json:"truncated"`
}

// SetBudget sets a budget, or changes it. One of the limits is needed; either of two stops.
type SetBudget struct {
	Name        string  `json:"name" minLength:"1" maxLength:"100"`
	Agent       string  `json:"agent,omitempty" maxLength:"200" doc:"for this agent; left out: for the project"`
	Period      string  `json:"period,omitempty" enum:"day,month,total" default:"month" doc:"in UTC; total: for ever"`
	LimitUSD    float64 `json:"limit_usd,omitempty" minimum:"0" maximum:"10000000"`
	LimitTokens int64   `json:"limit_tokens,omitempty" minimum:"0" maximum:"1000000000000000" doc:"input, output and cache together"`
	Action      string  `json:"action,omitempty" enum:"warn,stop" default:"stop" doc:"stop: nothing new is claimed or dispatched until the period ends or the limit is raised"`
	WarnPercent int     `json:"warn_percent,omitempty" minimum:"1" maximum:"100" default:"80"`
	Reason      string  `json:"reason,omitempty" maxLength:"500"`
}

// Budget is a limit and what is used of it.
type Budget struct {
	Name        string  `json:"name"`
	Agent       string  `json:"agent,omitempty"`
	Period      string  `json:"period" enum:"day,month,total"`
	LimitUSD    float64 `json:"limit_usd,omitempty"`
	LimitTokens int64   `json:"limit_tokens,omitempty"`
	Action      string  `json:"action" enum:"warn,stop"`
	WarnPercent int     `json:"warn_percent"`
	SpentUSD    float64 `json:"spent_usd"`
	SpentTokens int64   `json:"spent_tokens"`
	Percent     float64 `json:"percent" doc:"of the limit that is nearer"`
	State       string  `json:"state" enum:"ok,warned,exceeded,stopped" doc:"exceeded: over the limit, and action is warn"`
	Uncosted    int64   `json:"uncosted,omitempty" doc:"reports of this period without a cost: a limit in USD does not see them"`
	StateSince  string  `json:"state_since,omitempty"`
	PeriodStart string  `json:"period_start,omitempty"`
	PeriodEnd   string  `json:"period_end,omitempty"`
	SetBy       string  `json:"set_by"`
}

// Budgets lists budgets, the fullest first.
type Budgets struct {
	Budgets []Budget `json:"budgets"`
}

// BudgetRef names a budget.
type BudgetRef struct {
	Name string `json:"name" minLength:"1" maxLength:"100"`
}
