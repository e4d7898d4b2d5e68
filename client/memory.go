package client

// Remember stores an experience for every agent of the project.
type Remember struct {
	EventType  string         `json:"event_type,omitempty" maxLength:"100" default:"discovery" doc:"error, decision, lesson, …"`
	Summary    string         `json:"summary" minLength:"1" maxLength:"4000" doc:"one sentence with names to search for"`
	Details    map[string]any `json:"details,omitempty" mcp:"full" doc:"anything else, at most 64 KB"`
	Outcome    string         `json:"outcome,omitempty" maxLength:"100" doc:"success, failure"`
	Lessons    []string       `json:"lessons,omitempty" maxItems:"50" doc:"for next time"`
	Tags       []string       `json:"tags,omitempty" maxItems:"50"`
	Path       string         `json:"path,omitempty" maxLength:"1000" kind:"path" doc:"file it is about"`
	LineFrom   int            `json:"line_from,omitempty" minimum:"1" mcp:"full" doc:"first line it is about"`
	LineTo     int            `json:"line_to,omitempty" minimum:"1" mcp:"full" doc:"last line"`
	Digest     string         `json:"digest,omitempty" maxLength:"200" mcp:"full" doc:"digest of the file's content as seen; the memory is stale once another one is reported"`
}

// Remembered confirms it.
type Remembered struct {
	Success  bool   `json:"success"`
	MemoryID string `json:"memory_id"`
	Action   string `json:"action" enum:"stored,merged" doc:"merged: you said the same within the hour; lessons, tags and details were united"`
}

// Recall asks the memories. Everything is optional; without words, tags and paths the newest come back.
type Recall struct {
	TaskDescription string   `json:"task_description,omitempty" maxLength:"20000" doc:"what you are about to do, or a question"`
	Tags            []string `json:"tags,omitempty" maxItems:"50" doc:"prefer these"`
	EventType       string   `json:"event_type,omitempty" maxLength:"100" mcp:"full" doc:"only this type; skill: only skills"`
	Limit           int      `json:"limit,omitempty" minimum:"1" maximum:"100" default:"10" doc:"most to return"`
	MinRelevance    float64  `json:"min_relevance,omitempty" minimum:"0" maximum:"1" mcp:"full" doc:"leave out what is less relevant"`
	Scope           string   `json:"scope,omitempty" enum:"project,own,all" default:"project" mcp:"full" doc:"project: everybody's here; own: the caller's; all: every project the key may see"`
	Paths           []string `json:"paths,omitempty" maxItems:"50" kind:"path" doc:"files at hand"`
	TokenBudget     int      `json:"token_budget,omitempty" minimum:"1" maximum:"200000" mcp:"full" doc:"most tokens to return"`
	Explain         bool     `json:"explain,omitempty" mcp:"full" doc:"say how each relevance came about"`
	IncludeArchived bool     `json:"include_archived,omitempty" mcp:"full" doc:"also archived memories"`
	IncludeStale    *bool    `json:"include_stale,omitempty" default:"true" mcp:"full" doc:"false: leave out memories whose file changed since"`
}

// Memory is one found memory: memory_type, content and relevance for those that know the first clients, the members of
// content beside them for the others. An MCP reply has content alone.
type Memory struct {
	MemoryType string         `json:"memory_type" enum:"episodic,procedural"`
	MemoryID   string         `json:"memory_id"`
	Content    map[string]any `json:"content" doc:"episodic: event_type, summary, outcome, lessons, details, tags; procedural: skill_name, description, steps, success_rate"`
	Relevance  float64        `json:"relevance" doc:"0..1, what the list is sorted by"`
	Why        string         `json:"why" doc:"what matched"`
	Stale      bool           `json:"stale,omitempty" doc:"its file changed since: check before relying on it"`
	Archived   bool           `json:"archived,omitempty"`
	Project    string         `json:"project,omitempty" doc:"scope all: where it is from"`
	AgentID    string         `json:"agent_id,omitempty" doc:"who remembered"`
	CreatedAt  string         `json:"created_at,omitempty"`

	ID             string         `json:"id,omitempty" doc:"memory_id again"`
	EventType      string         `json:"event_type,omitempty"`
	Summary        string         `json:"summary,omitempty"`
	Details        map[string]any `json:"details,omitempty"`
	Outcome        string         `json:"outcome,omitempty"`
	Lessons        []string       `json:"lessons,omitempty"`
	Tags           []string       `json:"tags,omitempty"`
	RelevanceScore float64        `json:"relevance_score,omitempty" doc:"relevance again"`
	Score          *MemoryScore   `json:"score,omitempty"`
}

// MemoryScore is how a relevance came about: 1 − exp(−(words + context + tags + paths) × factor). Shares are of the best
// possible score of the question.
type MemoryScore struct {
	Words      float64  `json:"words"`
	Context    float64  `json:"context" doc:"from its neighbours in the session"`
	Tags       float64  `json:"tags"`
	Paths      float64  `json:"paths"`
	Factor     float64  `json:"factor" doc:"age, staleness and a skill's success together"`
	Coverage   float64  `json:"coverage" doc:"share of the question's information that it and its neighbours have"`
	Matched    []string `json:"matched" doc:"index terms; = marks whole identifiers, paths and codes"`
	Parameters int      `json:"parameters" doc:"version of the ranking's parameters"`
}

// Recalled is the answer to Recall.
type Recalled struct {
	Memories        []Memory `json:"memories"`
	Count           int      `json:"count"`
	Truncated       bool     `json:"truncated" doc:"more matched than limit or budget allow"`
	NothingRelevant bool     `json:"nothing_relevant,omitempty" doc:"searched, and nothing fits; an outage is an error instead"`
	LowConfidence   bool     `json:"low_confidence,omitempty" doc:"the best match covers little of the question"`
	Reason          string   `json:"reason,omitempty"`
	Tokens          int      `json:"tokens" doc:"of the memories' content"`
	Notes           []string `json:"notes,omitempty" doc:"what was not done, and why"`
}
