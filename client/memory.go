package client

// Remember stores an experience for every agent of the project.
type Remember struct {
	EventType string         `json:"event_type,omitempty" maxLength:"100" default:"discovery" doc:"error, decision, lesson, …"`
	Summary   string         `json:"summary" minLength:"1" maxLength:"4000" doc:"one sentence with names to search for"`
	Details   map[string]any `json:"details,omitempty" mcp:"full" doc:"anything else, at most 64 KB"`
	Outcome   string         `json:"outcome,omitempty" maxLength:"100" doc:"success, failure"`
	Lessons   []string       `json:"lessons,omitempty" maxItems:"50" doc:"for next time"`
	Tags      []string       `json:"tags,omitempty" maxItems:"50"`
	Path      string         `json:"path,omitempty" maxLength:"1000" kind:"path" doc:"file it is about"`
	LineFrom  int            `json:"line_from,omitempty" minimum:"1" mcp:"full" doc:"first line it is about"`
	LineTo    int            `json:"line_to,omitempty" minimum:"1" mcp:"full" doc:"last line"`
	Digest    string         `json:"digest,omitempty" maxLength:"200" mcp:"full" doc:"digest of the file's content as seen; the memory is stale once another one is reported"`
	Branch    string         `json:"branch,omitempty" maxLength:"255" mcp:"full" doc:"branch the file was seen on; left out: a digest that is the newest of any branch stands"`
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

// WorkingUpdate adds something to what the caller's session has in mind.
type WorkingUpdate struct {
	ContextItem WorkingItem `json:"context_item"`
	TokenBudget int         `json:"token_budget,omitempty" minimum:"100" maximum:"200000" default:"8000" doc:"most tokens of the session's working memory; older items are shortened to fit"`
}

// WorkingItem is one thing to have in mind.
type WorkingItem struct {
	Type      string `json:"type" minLength:"1" maxLength:"100" doc:"note, decision, file, error, …"`
	Content   any    `json:"content" doc:"text; anything else is kept as JSON"`
	Timestamp string `json:"timestamp,omitempty" format:"date-time" doc:"when it was; default: now"`
	Pinned    bool   `json:"pinned,omitempty" doc:"never shorten it"`
}

// WorkingUpdated says how the working memory stands.
type WorkingUpdated struct {
	Success      bool     `json:"success"`
	Reason       string   `json:"reason,omitempty" doc:"over_budget: pinned items would exceed the budget; nothing was changed"`
	ItemID       int64    `json:"item_id,omitempty"`
	Tokens       int      `json:"tokens" doc:"of all items as shown"`
	TokenBudget  int      `json:"token_budget"`
	Compressed   int      `json:"compressed" doc:"older items that were shortened or hidden by this; their originals stay readable"`
	CompressedBy string   `json:"compressed_by,omitempty" doc:"extractive, or the model that did it"`
	Notes        []string `json:"notes,omitempty"`
}

// GetWorking asks for the session's working memory.
type GetWorking struct {
	Originals bool `json:"originals,omitempty" doc:"every item as it was stored, also those no longer shown"`
	Limit     int  `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"1000" doc:"the newest so many"`
}

// Working is a session's working memory, oldest first.
type Working struct {
	Items  []WorkingEntry `json:"items"`
	Count  int            `json:"count"`
	Tokens int            `json:"tokens" doc:"of all items as shown"`
	Hidden int            `json:"hidden" doc:"items no longer shown; originals=true has them"`
}

// WorkingEntry is one item as the session sees it.
type WorkingEntry struct {
	ItemID       int64  `json:"item_id"`
	Type         string `json:"type"`
	Content      string `json:"content"`
	Pinned       bool   `json:"pinned,omitempty"`
	Tokens       int    `json:"tokens"`
	Compressed   bool   `json:"compressed,omitempty"`
	CompressedBy string `json:"compressed_by,omitempty"`
	Timestamp    string `json:"timestamp"`
}

// StoreSkill stores how something is done, or changes the skill of that name.
type StoreSkill struct {
	Name        string   `json:"name" minLength:"1" maxLength:"200" doc:"what it does; unique in the project"`
	Description string   `json:"description,omitempty" maxLength:"8000" doc:"when to use it"`
	Steps       []any    `json:"steps,omitempty" maxItems:"100" doc:"what to do, in order"`
	Tags        []string `json:"tags,omitempty" maxItems:"50" doc:"task types it is for"`
}

// StoredSkill confirms it.
type StoredSkill struct {
	Success bool   `json:"success"`
	SkillID string `json:"skill_id"`
	Action  string `json:"action" enum:"stored,updated"`
}

// RecordSkillUse tells whether a skill worked.
type RecordSkillUse struct {
	SkillID string `json:"skill_id" format:"uuid"`
	Success bool   `json:"success"`
}

// Skill is a way of doing something, with how often it was used and worked. SuccessRate is the mean of the Beta
// posterior with a uniform prior, (successes + 1) / (uses + 2): 0.5 for one never used. Suggestions are ranked by that
// mean; nothing is drawn at random, so the same question has the same answer.
type Skill struct {
	SkillID     string   `json:"skill_id"`
	SkillName   string   `json:"skill_name"`
	Description string   `json:"description"`
	Steps       []any    `json:"steps"`
	Tags        []string `json:"tags"`
	AgentID     string   `json:"agent_id" doc:"who stored it"`
	Uses        int      `json:"uses"`
	Successes   int      `json:"successes"`
	SuccessRate float64  `json:"success_rate"`
	Archived    bool     `json:"archived,omitempty"`
	CreatedAt   string   `json:"created_at"`
	UpdatedAt   string   `json:"updated_at"`
}

// UsedSkill is the skill after its use was counted.
type UsedSkill struct {
	Success     bool    `json:"success"`
	SkillID     string  `json:"skill_id"`
	SkillName   string  `json:"skill_name"`
	Uses        int     `json:"uses"`
	Successes   int     `json:"successes"`
	SuccessRate float64 `json:"success_rate"`
}

// ListSkills asks for the skills of the project.
type ListSkills struct {
	Tags            []string `json:"tags,omitempty" maxItems:"50" doc:"with one of these"`
	IncludeArchived bool     `json:"include_archived,omitempty"`
	Limit           int      `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"20" doc:"most to return"`
}

// Skills is a list of skills, the most successful first.
type Skills struct {
	Skills    []Skill `json:"skills"`
	Count     int     `json:"count"`
	Truncated bool    `json:"truncated"`
}

// ReportDigests tells what files are like now. Observations of another content become stale, those of the same fresh.
type ReportDigests struct {
	Files  []FileDigest `json:"files" minItems:"1" maxItems:"5000"`
	Branch string       `json:"branch,omitempty" maxLength:"255" doc:"branch that was looked at; memories of other branches stay as they are"`
}

// FileDigest is a file's content as a digest: any digest, as long as everybody uses the same (Git's blob id is a good one).
type FileDigest struct {
	Path   string `json:"path" minLength:"1" maxLength:"1000"`
	Digest string `json:"digest,omitempty" maxLength:"200" doc:"empty: the file is gone"`
}

// ReportedDigests says what that changed.
type ReportedDigests struct {
	Success     bool `json:"success"`
	Files       int  `json:"files"`
	Changed     int  `json:"changed" doc:"files whose digest is new"`
	MarkedStale int  `json:"marked_stale" doc:"observations that no longer hold"`
	MarkedFresh int  `json:"marked_fresh" doc:"observations that hold again"`
}

// GetMemory names a memory.
type GetMemory struct {
	MemoryID string `json:"memory_id" format:"uuid"`
}

// ForgetMemory deletes memories for good.
type ForgetMemory struct {
	MemoryIDs []string `json:"memory_ids" minItems:"1" maxItems:"1000"`
	Reason    string   `json:"reason,omitempty" maxLength:"500" doc:"for the audit trail, which keeps the ids and not the text"`
}

// ForgottenMemory says what is gone.
type ForgottenMemory struct {
	Success   bool     `json:"success" doc:"false when none of the ids was there, or was the caller's to forget"`
	Forgotten []string `json:"forgotten"`
	Unknown   []string `json:"unknown"`
}

// ExportMemory asks for memories as text.
type ExportMemory struct {
	Format          string `json:"format,omitempty" enum:"markdown,jsonl" default:"markdown" doc:"markdown to read; jsonl to import elsewhere"`
	Layer           string `json:"layer,omitempty" enum:"episodic,procedural" doc:"default: both"`
	IncludeArchived bool   `json:"include_archived,omitempty"`
	After           int64  `json:"after,omitempty" minimum:"0" doc:"next of the page before"`
	Limit           int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"1000" doc:"most memories in a page"`
}

// ExportedMemory is a page of an export, oldest first.
type ExportedMemory struct {
	Format    string `json:"format"`
	Text      string `json:"text"`
	Count     int    `json:"count"`
	Truncated bool   `json:"truncated"`
	Next      int64  `json:"next,omitempty" doc:"send it as after for the next page"`
}

// ImportMemory takes in an export. What is there already is left alone.
type ImportMemory struct {
	JSONL  string `json:"jsonl" minLength:"2" maxLength:"4000000" doc:"one memory a line, as memory_export with format jsonl writes them; summary alone is enough"`
	Source string `json:"source,omitempty" maxLength:"200" default:"import" doc:"where they are from"`
}

// ImportedMemory says what was taken in.
type ImportedMemory struct {
	Success  bool `json:"success"`
	Imported int  `json:"imported"`
	Skipped  int  `json:"skipped" doc:"there already"`
}

// MemoryRetention shows the retention of the project's layers, and sets that of one.
type MemoryRetention struct {
	Layer       string `json:"layer,omitempty" enum:"episodic,working,procedural" doc:"layer to set; absent: only show"`
	ArchiveDays int    `json:"archive_days,omitempty" minimum:"0" maximum:"36500" doc:"archive after so many days (searchable on request); 0: never"`
	DeleteDays  int    `json:"delete_days,omitempty" minimum:"0" maximum:"36500" doc:"delete after so many days, experiences only once archived; 0: never"`
}

// MemoryPolicies is the retention of each layer.
type MemoryPolicies struct {
	Policies []MemoryPolicy `json:"policies"`
}

// MemoryPolicy is the retention of a layer; absent: never.
type MemoryPolicy struct {
	Layer       string `json:"layer"`
	ArchiveDays int    `json:"archive_days,omitempty"`
	DeleteDays  int    `json:"delete_days,omitempty"`
}
