package client

// VerificationStatus asks where a commit stands.
type VerificationStatus struct {
	HeadSHA     string  `json:"head_sha,omitempty" minLength:"7" maxLength:"64" pattern:"^[0-9a-f]+$" doc:"commit; default: your latest"`
	ChangesetID string  `json:"changeset_id,omitempty" format:"uuid" mcp:"full" doc:"the same by its changeset"`
	TaskID      string  `json:"task_id,omitempty" format:"uuid" mcp:"full" doc:"the same by the task it was made for"`
	WaitSeconds float64 `json:"wait_seconds,omitempty" minimum:"0" maximum:"30" doc:"wait for the verdict"`
}

// VerificationState is where a commit stands. Only state passed means that it passed.
type VerificationState struct {
	Found       bool              `json:"found" doc:"false: the gateway knows no such commit"`
	ChangesetID string            `json:"changeset_id,omitempty"`
	HeadSHA     string            `json:"head_sha"`
	State       string            `json:"state" doc:"a changeset's state, or unknown"`
	Decided     bool              `json:"decided" doc:"nothing more happens by itself"`
	Reason      string            `json:"reason,omitempty" doc:"why the verdict, or what it waits for"`
	Tiers       []int             `json:"tiers,omitempty"`
	Runs        []VerificationRan `json:"runs,omitempty" doc:"the latest attempt at each policy"`
	WaitsFor    []string          `json:"waits_for,omitempty" doc:"policies that people are asked about"`
	Findings    []Finding         `json:"findings,omitempty" doc:"at most 20, when it failed"`
	Denied      []Denial          `json:"denied,omitempty"`
}

// VerificationRan is the latest attempt at one policy, in few words.
type VerificationRan struct {
	Policy   string `json:"policy"`
	Tier     int    `json:"tier"`
	State    string `json:"state" doc:"its conclusion, or how far it is"`
	Required bool   `json:"required"`
	Reason   string `json:"reason,omitempty"`
	URL      string `json:"url,omitempty"`
	Output   string `json:"output,omitempty" doc:"the end of it, when it failed"`
}

// Denial is a person's vote against a commit.
type Denial struct {
	Policy  string `json:"policy"`
	By      string `json:"by"`
	Comment string `json:"comment,omitempty"`
}
