package coord

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// StoreSkill stores a skill or changes the one of that name.
func (s *Store) StoreSkill(ctx context.Context, c ident.Caller, in client.StoreSkill) (client.StoredSkill, error) {
	var steps []byte
	if in.Steps != nil {
		var err error
		if steps, err = json.Marshal(in.Steps); err != nil {
			return client.StoredSkill{}, fault.Invalid("steps", "the steps are not JSON", "send a list of texts")
		}
	}
	out, err := act[struct {
		client.StoredSkill
		Reindex int64 `json:"reindex"`
	}](ctx, s, `select coord.store_skill($1, $2, $3, $4, nullif($5, ''), $6, $7)`, c.ProjectID, c.SessionID, c.By, in.Name, in.Description, steps, in.Tags)
	if err != nil {
		return client.StoredSkill{}, err
	}
	_, err = s.indexByID(ctx, c.ProjectID, []int64{out.Reindex})
	return out.StoredSkill, err
}

// RecordSkillUse counts a use of a skill. Error: not_found.
func (s *Store) RecordSkillUse(ctx context.Context, c ident.Caller, in client.RecordSkillUse) (client.UsedSkill, error) {
	return act[client.UsedSkill](ctx, s, `select coord.record_skill_use($1, nullif($2, 0), $3, $4::text::uuid, $5)`, c.ProjectID, c.SessionID, c.By, in.SkillID, in.Success)
}

// ListSkills lists skills, the highest mean of success first.
func (s *Store) ListSkills(ctx context.Context, c ident.Caller, in client.ListSkills) (client.Skills, error) {
	return reply[client.Skills](ctx, s, `select coord.list_skills($1, $2, $3, $4)`, c.ProjectID, filled(in.Tags), in.IncludeArchived, cmp.Or(in.Limit, 20))
}

// ReportDigests takes in what files are like now.
func (s *Store) ReportDigests(ctx context.Context, c ident.Caller, in client.ReportDigests) (client.ReportedDigests, error) {
	files, err := json.Marshal(in.Files)
	if err != nil {
		return client.ReportedDigests{}, fmt.Errorf("encode digests: %w", err)
	}
	return act[client.ReportedDigests](ctx, s, `select coord.report_digests($1, nullif($2, ''), nullif($3, 0), $4, $5, $6, $7)`,
		c.ProjectID, c.Agent, c.SessionID, c.By, c.Repository, in.Branch, files)
}

// GetMemory returns one memory. Error: not_found.
func (s *Store) GetMemory(ctx context.Context, c ident.Caller, in client.GetMemory) (client.Memory, error) {
	doc, err := reply[*memoryDoc](ctx, s, `select coord.get_memory($1, $2::text::uuid)`, c.ProjectID, in.MemoryID)
	if err != nil {
		return client.Memory{}, err
	}
	if doc == nil {
		return client.Memory{}, fault.NotFound("memory", in.MemoryID)
	}
	h := found{doc: *doc}
	m := h.memory(false, c.Door != "mcp")
	m.Relevance, m.RelevanceScore, m.Why = 1, 0, "asked for by id"
	return m, nil
}

// ForgetMemory deletes memories for good. An agent may forget its own; administrators and reviewers any.
func (s *Store) ForgetMemory(ctx context.Context, c ident.Caller, in client.ForgetMemory) (client.ForgottenMemory, error) {
	var owner *string
	if !slices.Contains(c.Scopes, ident.Admin) && !slices.Contains(c.Scopes, ident.Reviewer) {
		if c.Agent == "" {
			return client.ForgottenMemory{}, fault.Invalid("agent_id", "agent_id is needed: an agent forgets what it remembered itself",
				"send agent_id, or use a reviewer's key")
		}
		owner = &c.Agent
	}
	return act[client.ForgottenMemory](ctx, s, `select coord.forget_memory($1, nullif($2, 0), $3, $4, $5::text[]::uuid[], $6)`,
		c.ProjectID, c.SessionID, c.By, owner, in.MemoryIDs, in.Reason)
}

// ExportMemory returns a page of memories as text, oldest first.
func (s *Store) ExportMemory(ctx context.Context, c ident.Caller, in client.ExportMemory) (client.ExportedMemory, error) {
	limit := cmp.Or(in.Limit, 1000)
	out := client.ExportedMemory{Format: cmp.Or(in.Format, "markdown")}
	rows, err := list[struct {
		ID  int64
		Doc json.RawMessage
	}](ctx, s, `select * from coord.export_memory($1, nullif($2, ''), $3, $4, $5)`, c.ProjectID, in.Layer, in.After, in.IncludeArchived, limit+1)
	if err != nil {
		return out, err
	}
	if len(rows) > limit {
		rows, out.Truncated = rows[:limit], true
		out.Next = rows[limit-1].ID
	}
	var text strings.Builder
	if out.Format == "markdown" && in.After == 0 {
		text.WriteString("# Memories\n")
	}
	for _, r := range rows {
		if out.Format == "jsonl" {
			var line bytes.Buffer
			if err := json.Compact(&line, r.Doc); err != nil {
				return out, fmt.Errorf("read memory: %w", err)
			}
			text.Write(line.Bytes())
			text.WriteByte('\n')
			continue
		}
		var d memoryDoc
		if err := json.Unmarshal(r.Doc, &d); err != nil {
			return out, fmt.Errorf("read memory: %w", err)
		}
		d.markdown(&text)
	}
	out.Text, out.Count = text.String(), len(rows)
	return out, nil
}

// markdown writes a memory for people.
func (d *memoryDoc) markdown(w *strings.Builder) {
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(w, "- %s: %s\n", label, strings.ReplaceAll(value, "\n", " "))
		}
	}
	if d.MemoryType == "procedural" {
		fmt.Fprintf(w, "\n## Skill: %s\n\n", d.SkillName)
		line("When", d.Description)
		line("Worked", fmt.Sprintf("%d of %d times", d.Successes, d.Uses))
	} else {
		fmt.Fprintf(w, "\n## %s\n\n", strings.ReplaceAll(d.Summary, "\n", " "))
		line("Type", d.EventType)
		line("Outcome", d.Outcome)
		line("File", d.Path)
	}
	line("By", d.AgentID)
	line("At", d.CreatedAt)
	line("Tags", strings.Join(d.Tags, ", "))
	line("Id", d.MemoryID)
	if d.Stale {
		line("Stale", "the file changed since")
	}
	for _, l := range d.Lessons {
		line("Lesson", l)
	}
	for i, step := range d.Steps {
		text, ok := step.(string)
		if !ok {
			raw, _ := json.Marshal(step) // it came from JSON
			text = string(raw)
		}
		fmt.Fprintf(w, "%d. %s\n", i+1, strings.ReplaceAll(text, "\n", " "))
	}
	if len(d.Details) > 0 {
		raw, _ := json.MarshalIndent(d.Details, "", "  ") // it came from JSON
		fmt.Fprintf(w, "\n```json\n%s\n```\n", raw)
	}
}

// importBatch bounds the rows of one statement; all batches of a call share one transaction.
const importBatch = 500

// ImportMemory takes in what ExportMemory wrote as jsonl, all or nothing. Error: invalid, naming the line.
func (s *Store) ImportMemory(ctx context.Context, c ident.Caller, in client.ImportMemory) (client.ImportedMemory, error) {
	docs, err := importLines(in.JSONL)
	if err != nil {
		return client.ImportedMemory{}, err
	}
	out := client.ImportedMemory{Success: true}
	err = s.InTx(ctx, func(ctx context.Context) error {
		for batch := range slices.Chunk(docs, importBatch) {
			raw, err := json.Marshal(batch)
			if err != nil {
				return fmt.Errorf("encode import: %w", err)
			}
			done, err := act[struct {
				client.ImportedMemory
				IDs []int64 `json:"ids"`
			}](ctx, s, `select coord.import_memory($1, $2, $3, $4, $5)`, c.ProjectID, c.SessionID, c.By, cmp.Or(in.Source, "import"), raw)
			if err != nil {
				return err
			}
			out.Imported += done.Imported
			out.Skipped += done.Skipped
			if len(done.IDs) > 0 {
				if _, err := s.indexByID(ctx, c.ProjectID, done.IDs); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return out, err
}

// importLines checks and completes the lines of an import.
func importLines(text string) ([]map[string]any, error) {
	var docs []map[string]any
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var d map[string]any
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil || d == nil {
			return nil, fault.Invalid("jsonl", fmt.Sprintf("line %d is not a JSON object", n), "send one JSON object a line")
		}
		need := "summary"
		if d["memory_type"] == "procedural" {
			need = "skill_name"
		} else if d["event_type"] == nil {
			d["event_type"] = "imported"
		}
		if s, _ := d[need].(string); strings.TrimSpace(s) == "" || len(s) > 4000 {
			return nil, fault.Invalid("jsonl", fmt.Sprintf("line %d has no %s", n, need), "give every memory a summary, every skill a skill_name")
		}
		docs = append(docs, d)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Invalid("jsonl", "a line is longer than 1 MB", "leave that memory out")
	}
	return docs, nil
}

// MemoryRetention shows the retention of the project's layers; with in.Layer it sets that one first.
func (s *Store) MemoryRetention(ctx context.Context, c ident.Caller, in client.MemoryRetention) (client.MemoryPolicies, error) {
	return act[client.MemoryPolicies](ctx, s, `select coord.set_memory_policy($1, $2, nullif($3, ''), nullif($4, 0), nullif($5, 0))`,
		c.ProjectID, c.By, in.Layer, in.ArchiveDays, in.DeleteDays)
}

// SweptMemory says what one SweepMemory did.
type SweptMemory struct {
	Folded   int `json:"folded"`
	Archived int `json:"archived"`
	Deleted  int `json:"deleted"`
	Indexed  int `json:"-"`
	Embedded int `json:"-"`
}

// SweepMemory keeps the index: folds queued counts, indexes what SQL alone wrote or an older tokeniser indexed, applies
// retention, each at most limit rows, and embeds the next memories where that is set up. Idempotent and safe beside itself.
func (s *Store) SweepMemory(ctx context.Context, limit int) (SweptMemory, error) {
	out, err := act[SweptMemory](ctx, s, `select coord.sweep_memory($1)`, limit)
	if err != nil {
		return out, err
	}
	if out.Indexed, err = s.IndexMemories(ctx, limit); err != nil {
		return out, err
	}
	out.Embedded, err = s.EmbedMemories(ctx)
	return out, err
}
