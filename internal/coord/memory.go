package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"
	"github.com/agent-coordinator/agent-coordinator/internal/tokens"
)

// experience is what coord.remember reads: client.Remember and what the service adds. It is also a row of
// memory_episodic as coord.memories_to_index gives it.
type experience struct {
	MemoryID   string          `json:"memory_id,omitempty"`
	AgentID    string          `json:"agent_id,omitempty"`
	EventType  string          `json:"event_type"`
	Summary    string          `json:"summary"`
	Details    json.RawMessage `json:"details,omitempty"`
	Outcome    *string         `json:"outcome,omitempty"`
	Lessons    []string        `json:"lessons,omitempty"`
	Tags       []string        `json:"tags,omitempty"`
	Repository string          `json:"repository,omitempty"`
	Path       *string         `json:"path,omitempty"`
	LineFrom   *int            `json:"line_from,omitempty"`
	LineTo     *int            `json:"line_to,omitempty"`
	Digest     *string         `json:"digest,omitempty"`
	Branch     string          `json:"branch,omitempty"`
	TaskID     *string         `json:"task_id,omitempty"`
	Source     *string         `json:"source,omitempty"`
	CreatedAt  string          `json:"created_at,omitempty"`
}

// skillRow is a row of memory_procedural.
type skillRow struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Steps       json.RawMessage `json:"steps"`
	Tags        []string        `json:"tags"`
	AgentID     string          `json:"agent_id"`
}

// remembered is the reply of coord.remember.
type remembered struct {
	client.Remembered
	Reindex *int64 `json:"reindex"`
}

// Remember stores an experience of the caller's agent, or merges it into the same one of the last hour. Errors: invalid
// when it is larger than 64 KB.
func (s *Store) Remember(ctx context.Context, c ident.Caller, in client.Remember) (client.Remembered, error) {
	return s.remember(ctx, c, in, "")
}

// remember stores an experience; task is the task whose end it records, if any.
func (s *Store) remember(ctx context.Context, c ident.Caller, in client.Remember, task string) (client.Remembered, error) {
	x := experience{
		EventType: cmp.Or(in.EventType, "discovery"), Summary: strings.TrimSpace(in.Summary), Outcome: some(in.Outcome),
		Lessons: filled(in.Lessons), Tags: filled(in.Tags), Path: some(in.Path), Digest: some(in.Digest),
		LineFrom: some(in.LineFrom), LineTo: some(in.LineTo), TaskID: some(task),
	}
	switch {
	case x.Summary == "":
		return client.Remembered{}, fault.Invalid("summary", "a memory needs a summary", "say in one sentence what happened")
	case in.Path == "" && (in.Digest != "" || in.LineFrom != 0):
		return client.Remembered{}, fault.Invalid("path", "a digest or a line belongs to a file", "send path as well")
	case in.LineTo != 0 && in.LineTo < in.LineFrom:
		return client.Remembered{}, fault.Invalid("line_to", "the last line is before the first", "")
	}
	if x.Path != nil {
		x.Repository, x.Branch = c.Repository, in.Branch
	}
	if in.Details != nil {
		var err error
		if x.Details, err = json.Marshal(in.Details); err != nil {
			return client.Remembered{}, fault.Invalid("details", "the details are not JSON", "send an object")
		}
	}
	return s.storeExperience(ctx, c, x)
}

func (s *Store) storeExperience(ctx context.Context, c ident.Caller, x experience) (client.Remembered, error) {
	e, size := x.index(c.ProjectID, c.Agent)
	doc, err := json.Marshal(x)
	if err != nil {
		return client.Remembered{}, fmt.Errorf("encode memory: %w", err)
	}
	out, err := act[remembered](ctx, s, `select coord.remember($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		c.ProjectID, c.SessionID, c.By, doc, e.Terms, e.Sig, e.Words, e.LenTitle, e.LenBody, size, recall.TokeniserVersion)
	if err != nil {
		return out.Remembered, err
	}
	s.knowMemories(c.ProjectID, true, time.Now())
	if out.Reindex == nil {
		return out.Remembered, nil
	}
	// The merge is stored. When indexing it fails, the queue still has it and IndexMemories comes back to it; within a
	// caller's transaction a failure has ended that anyway.
	if _, err := s.indexByID(ctx, c.ProjectID, []int64{*out.Reindex}); err != nil {
		return out.Remembered, err
	}
	return out.Remembered, nil
}

// index makes the index entry of an experience and counts the tokens of its text.
func (x *experience) index(project int64, agent string) (recall.Entry, int) {
	d := recall.Document{Title: x.Summary, Tags: x.Tags, Agent: agent, Type: x.EventType}
	var body strings.Builder
	for _, l := range x.Lessons {
		body.WriteString(l)
		body.WriteByte('\n')
	}
	if x.Outcome != nil {
		body.WriteString(*x.Outcome)
		body.WriteByte('\n')
	}
	flatten(&body, x.Details)
	if x.Path != nil {
		d.Path = *x.Path
	}
	d.Body = body.String()
	return recall.Index(project, d), tokens.Count(d.Title) + tokens.Count(d.Body)
}

func (k *skillRow) index(project int64) (recall.Entry, int) {
	var body strings.Builder
	body.WriteString(k.Description)
	body.WriteByte('\n')
	flatten(&body, k.Steps)
	e := recall.Index(project, recall.Document{Title: k.Name, Body: body.String(), Tags: k.Tags, Agent: k.AgentID, Type: "skill"})
	return e, tokens.Count(k.Name) + tokens.Count(body.String())
}

// flatten writes the keys and values of a JSON value as lines of text; nothing of what is not JSON.
func flatten(w *strings.Builder, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		flattenValue(w, v)
	}
}

func flattenValue(w *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		w.WriteString(v)
	case float64:
		w.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		for _, item := range v {
			flattenValue(w, item)
		}
		return
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			w.WriteString(k)
			w.WriteByte(' ')
			flattenValue(w, v[k])
		}
		return
	}
	w.WriteByte('\n')
}

// toIndex is a row of coord.memories_to_index.
type toIndex struct {
	ProjectID int64
	ID        int64
	Kind      int16
	Rev       int32
	Doc       json.RawMessage
}

// indexByID indexes memories of a project anew.
func (s *Store) indexByID(ctx context.Context, project int64, ids []int64) (int, error) {
	rows, err := list[toIndex](ctx, s, `select * from coord.memories_to_index($1, $2, $3, $4)`, project, ids, recall.TokeniserVersion, len(ids))
	if err != nil {
		return 0, err
	}
	return s.indexRows(ctx, rows)
}

// IndexMemories indexes at most limit memories of any project that changed behind the program's back or were indexed by
// an older tokeniser, and returns how many. It is safe beside itself: the newest text wins.
func (s *Store) IndexMemories(ctx context.Context, limit int) (int, error) {
	rows, err := list[toIndex](ctx, s, `select * from coord.memories_to_index(null, null, $1, $2)`, recall.TokeniserVersion, limit)
	if err != nil {
		return 0, err
	}
	return s.indexRows(ctx, rows)
}

func (s *Store) indexRows(ctx context.Context, rows []toIndex) (int, error) {
	for i, r := range rows {
		var e recall.Entry
		var size int
		if recall.Kind(r.Kind) == recall.Procedural {
			var k skillRow
			if err := json.Unmarshal(r.Doc, &k); err != nil {
				return i, fmt.Errorf("read skill: %w", err)
			}
			e, size = k.index(r.ProjectID)
		} else {
			var x experience
			if err := json.Unmarshal(r.Doc, &x); err != nil {
				return i, fmt.Errorf("read memory: %w", err)
			}
			e, size = x.index(r.ProjectID, x.AgentID)
		}
		if err := exec(ctx, s, `select coord.reindex_memory($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, r.ProjectID, r.ID, r.Kind, r.Rev,
			e.Terms, e.Sig, e.Words, e.LenTitle, e.LenBody, size, recall.TokeniserVersion); err != nil {
			return i, err
		}
	}
	return len(rows), nil
}

// some is nil for a zero value.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// filled drops blank entries.
func filled(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.TrimSpace(s) == "" })
}
