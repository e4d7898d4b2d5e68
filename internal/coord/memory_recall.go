package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"
	"github.com/agent-coordinator/agent-coordinator/internal/tokens"
)

// maxProjects is how many projects scope all searches at most, those with the newest memories.
const maxProjects = 50

// found is a hit with its text.
type found struct {
	recall.Hit
	in  projectRef
	doc memoryDoc
}

// memoryDoc is what coord.memory_json and coord.skill_json answer.
type memoryDoc struct {
	MemoryType  string         `json:"memory_type"`
	MemoryID    string         `json:"memory_id"`
	AgentID     string         `json:"agent_id"`
	SessionID   string         `json:"session_id"`
	EventType   string         `json:"event_type"`
	Summary     string         `json:"summary"`
	Details     map[string]any `json:"details"`
	Outcome     string         `json:"outcome"`
	Lessons     []string       `json:"lessons"`
	Tags        []string       `json:"tags"`
	Repository  string         `json:"repository"`
	Path        string         `json:"path"`
	LineFrom    int            `json:"line_from"`
	LineTo      int            `json:"line_to"`
	Digest      string         `json:"digest"`
	Stale       bool           `json:"stale"`
	Archived    bool           `json:"archived"`
	Merged      int            `json:"merged"`
	TaskID      string         `json:"task_id"`
	Source      string         `json:"source"`
	SkillName   string         `json:"skill_name"`
	Description string         `json:"description"`
	Steps       []any          `json:"steps"`
	Uses        int            `json:"uses"`
	Successes   int            `json:"successes"`
	SuccessRate float64        `json:"success_rate"`
	Tokens      int            `json:"tokens"`
	CreatedAt   string         `json:"created_at"`
	UpdatedAt   string         `json:"updated_at"`
}

// Recall finds memories. Errors: invalid for scope own without an agent. Nothing relevant is an answer.
func (s *Store) Recall(ctx context.Context, c ident.Caller, in client.Recall) (client.Recalled, error) {
	q := recall.Query{
		Text: in.TaskDescription, Tags: filled(in.Tags), Paths: in.Paths, Limit: cmp.Or(in.Limit, 10), MinRelevance: in.MinRelevance,
		Now: time.Now().Unix(), Archived: in.IncludeArchived, NoStale: in.IncludeStale != nil && !*in.IncludeStale,
	}
	if in.EventType != "" {
		q.Need = append(q.Need, recall.TypeTerm(in.EventType))
	}
	projects := []projectRef{{ID: c.ProjectID}}
	switch in.Scope {
	case "own":
		if c.Agent == "" {
			return client.Recalled{}, fault.Invalid("scope", "scope own needs an agent", "send agent_id, or scope project")
		}
		q.Need = append(q.Need, recall.AgentTerm(c.Agent))
	case "all":
		var err error
		projects, err = list[projectRef](ctx, s, `select * from coord.projects_with_memory($1, $2)`, boundProject(c), maxProjects+1)
		if err != nil {
			return client.Recalled{}, err
		}
	}
	vector, note := s.meaning(ctx, q.Text)
	r, notes, err := s.search(ctx, q, projects, vector)
	if err != nil {
		return client.Recalled{}, err
	}
	if note != "" {
		notes = append(notes, note)
	}
	out := client.Recalled{Truncated: r.Truncated, NothingRelevant: r.Nothing, LowConfidence: r.Unsure, Reason: r.Reason, Notes: notes, Memories: []client.Memory{}}
	hits, err := s.read(ctx, r.found)
	if err != nil {
		return client.Recalled{}, err
	}
	for _, h := range hits {
		m := h.memory(in.Explain, c.Door != "mcp")
		n := h.tokens()
		if in.TokenBudget > 0 && out.Tokens+n > in.TokenBudget {
			out.Truncated = true
			continue // a shorter one may still fit
		}
		out.Tokens += n
		out.Memories = append(out.Memories, m)
	}
	out.Count = len(out.Memories)
	if out.Count == 0 && !out.NothingRelevant {
		out.Reason = "no memory fits the token budget"
	}
	return out, nil
}

// projectRef names a project to search.
type projectRef struct {
	ID   int64
	Name string
}

// searched is the united result of several projects.
type searched struct {
	recall.Result
	found []found
}

// search runs q in each project and unites the hits by relevance, which is relative to the question and so comparable.
// A vector of the question adds the memories that are near by meaning.
func (s *Store) search(ctx context.Context, q recall.Query, projects []projectRef, vector []float32) (searched, []string, error) {
	var out searched
	var notes []string
	if len(projects) > maxProjects {
		projects = projects[:maxProjects]
		notes = append(notes, fmt.Sprintf("only the %d projects with the newest memories were searched", maxProjects))
	}
	out.Nothing, out.Unsure = true, true
	for _, p := range projects {
		q.Project = p.ID
		r, err := recall.Search(ctx, memorySource{s, p.ID}, q, s.recallParams())
		if err == nil && vector != nil {
			r, err = s.withMeaning(ctx, q, r, vector)
		}
		if err != nil {
			return out, nil, err
		}
		for _, h := range r.Hits {
			out.found = append(out.found, found{Hit: h, in: p})
		}
		out.Truncated = out.Truncated || r.Truncated
		if !r.Nothing {
			out.Nothing = false
			out.Unsure = out.Unsure && r.Unsure
		} else if out.Reason == "" {
			out.Reason = r.Reason
		}
	}
	if len(projects) == 0 {
		out.Reason = "there are no memories yet"
	}
	out.Unsure = out.Unsure && !out.Nothing
	if !out.Nothing {
		out.Reason = ""
	}
	slices.SortStableFunc(out.found, func(a, b found) int { return cmp.Compare(b.Relevance, a.Relevance) })
	if len(out.found) > q.Limit {
		out.found, out.Truncated = out.found[:q.Limit], true
	}
	return out, notes, nil
}

// recallParams are the ranking's parameters.
func (s *Store) recallParams() recall.Params { return recall.Default() }

// read fetches the texts of hits, in their order. One that was forgotten meanwhile is left out.
func (s *Store) read(ctx context.Context, hits []found) ([]found, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	projects, ids := make([]int64, len(hits)), make([]int64, len(hits))
	for i, h := range hits {
		projects[i], ids[i] = h.in.ID, h.ID
	}
	docs := make(map[int64]json.RawMessage, len(hits))
	rows, err := list[struct {
		ID  int64
		Doc json.RawMessage
	}](ctx, s, `select * from coord.memories_by_id($1, $2)`, projects, ids)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		docs[r.ID] = r.Doc
	}
	out := hits[:0]
	for _, h := range hits {
		raw, ok := docs[h.ID]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, &h.doc); err != nil {
			return nil, fmt.Errorf("read memory: %w", err)
		}
		out = append(out, h)
	}
	return out, nil
}

// memory is a hit as the reply shows it. wide adds the members that older clients read beside content.
func (h *found) memory(explain, wide bool) client.Memory {
	d := &h.doc
	m := client.Memory{
		MemoryType: d.MemoryType, MemoryID: d.MemoryID, Relevance: round4(h.Relevance), Why: h.why(), Stale: d.Stale, Archived: d.Archived,
		Project: h.in.Name, AgentID: d.AgentID, CreatedAt: d.CreatedAt, Content: d.content(),
	}
	if wide {
		m.ID, m.EventType, m.Summary, m.Details, m.Outcome, m.Lessons, m.Tags = d.MemoryID, d.EventType, d.Summary, d.Details, d.Outcome, d.Lessons, d.Tags
		m.RelevanceScore = m.Relevance
		if d.MemoryType == "procedural" {
			m.EventType, m.Summary = "skill", d.SkillName
		}
	}
	if explain {
		p := h.Parts
		m.Score = &client.MemoryScore{
			Words: round4(p.Words), Context: round4(p.Context), Tags: round4(p.Tags), Paths: round4(p.Paths), Factor: round4(p.Factor),
			Coverage: round4(p.Coverage), Matched: p.Matched, Parameters: recall.Default().Version,
		}
		if m.Score.Matched == nil {
			m.Score.Matched = []string{}
		}
	}
	return m
}

// content is the memory itself, without what is empty.
func (d *memoryDoc) content() map[string]any {
	out := map[string]any{}
	put := func(key string, v any, there bool) {
		if there {
			out[key] = v
		}
	}
	if d.MemoryType == "procedural" {
		out["skill_id"], out["skill_name"], out["steps"], out["success_rate"], out["uses"] = d.MemoryID, d.SkillName, d.Steps, d.SuccessRate, d.Uses
		put("description", d.Description, d.Description != "")
		put("tags", d.Tags, len(d.Tags) > 0)
		return out
	}
	out["event_type"], out["summary"] = d.EventType, d.Summary
	put("outcome", d.Outcome, d.Outcome != "")
	put("lessons", d.Lessons, len(d.Lessons) > 0)
	put("details", d.Details, len(d.Details) > 0)
	put("tags", d.Tags, len(d.Tags) > 0)
	put("path", d.Path, d.Path != "")
	put("lines", fmt.Sprintf("%d-%d", d.LineFrom, max(d.LineFrom, d.LineTo)), d.LineFrom > 0)
	return out
}

// why names what matched, in a few words.
func (h *found) why() string {
	var parts []string
	var words []string
	for _, t := range h.Parts.Matched {
		if t = strings.TrimLeft(t, "=@!"); len(words) < 8 && !slices.Contains(words, t) {
			words = append(words, t)
		}
	}
	if len(words) > 0 {
		parts = append(parts, "matches "+strings.Join(words, ", "))
	}
	if h.Parts.Context > h.Parts.Words {
		parts = append(parts, "its session is about this")
	}
	if h.Parts.Meaning {
		parts = append(parts, "near in meaning")
	}
	if h.Parts.Newer {
		parts = append(parts, "newest version")
	}
	if h.Parts.Older {
		parts = append(parts, "an older version")
	}
	if h.doc.Stale {
		parts = append(parts, "stale: "+h.doc.Path+" changed since")
	}
	if len(parts) == 0 {
		return "among the newest"
	}
	return strings.Join(parts, "; ")
}

// tokens is what an agent reads of a memory, from the count made when it was indexed: counting again would take longer
// than finding it. Names of members and tags add some.
func (h *found) tokens() int { return h.doc.Tokens + 20 + 3*len(h.doc.Tags) }

// Tokens counts the tokens of a text as a language model reads it.
func Tokens(text string) int { return tokens.Count(text) }

// contentTokens counts what an agent reads of a memory.
func contentTokens(m client.Memory) int {
	raw, err := json.Marshal(m.Content)
	if err != nil {
		return 0
	}
	return tokens.Count(string(raw))
}

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }
