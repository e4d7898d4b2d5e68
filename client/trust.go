package client

// AgentTrust is how far an agent is trusted in a repository, and what that was made of.
type AgentTrust struct {
	AgentID       string  `json:"agent_id"`
	Repository    string  `json:"repository" doc:"empty: what was set for all, and where new repositories begin"`
	Level         int     `json:"level" doc:"0 (a person looks at everything) to 4"`
	Ceiling       int     `json:"ceiling" doc:"most that evidence may raise the level to; a person sets it"`
	Alpha         float64 `json:"alpha" doc:"1 and what passed at the first attempt, by size, halved every 30 days"`
	Beta          float64 `json:"beta" doc:"1 and what failed, likewise"`
	PassRateBound float64 `json:"pass_rate_bound" doc:"the true rate of passing exceeds it with 95 %"`
	Evidence      float64 `json:"evidence" doc:"changes since the level moved last: 20 to rise, 10 to sink"`
	FrozenUntil   string  `json:"frozen_until,omitempty" doc:"no rise before, since a waived check failed"`
	SetBy         string  `json:"set_by,omitempty"`
	UpdatedAt     string  `json:"updated_at,omitempty"`
}

// TrustEvent is one thing that moved trust, or could have.
type TrustEvent struct {
	At            string  `json:"at"`
	Repository    string  `json:"repository"`
	Kind          string  `json:"kind" enum:"passed,failed,denied,waived_failure,set,raised,lowered"`
	ChangesetID   string  `json:"changeset_id,omitempty"`
	Weight        float64 `json:"weight,omitempty" doc:"min(1, lines / 50)"`
	PassRateBound float64 `json:"pass_rate_bound,omitempty"`
	Level         int     `json:"level" doc:"afterwards"`
	By            string  `json:"by"`
	Reason        string  `json:"reason,omitempty"`
}

// ListTrust asks for the trust in agents.
type ListTrust struct {
	Agent      string  `json:"agent,omitempty" maxLength:"200" doc:"only this agent, with the events that made its trust"`
	Repository *string `json:"repository,omitempty" maxLength:"500" doc:"normalised remote; empty: what was set for all"`
	Limit      int     `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100"`
}

// TrustList is the trust in agents.
type TrustList struct {
	Trust  []AgentTrust `json:"trust"`
	Events []TrustEvent `json:"events,omitempty" doc:"of the agent asked for, newest first"`
}

// SetTrust sets how far an agent is trusted.
type SetTrust struct {
	Agent      string `json:"agent" minLength:"1" maxLength:"200"`
	Repository string `json:"repository,omitempty" maxLength:"500" doc:"normalised remote; empty: all of them"`
	Level      *int   `json:"level,omitempty" minimum:"0" maximum:"4" doc:"from now on; evidence moves it further"`
	Ceiling    *int   `json:"ceiling,omitempty" minimum:"0" maximum:"4" doc:"most that evidence may raise it to; absent: as it was, or the level if that is higher"`
	Reason     string `json:"reason,omitempty" maxLength:"2000"`
}
