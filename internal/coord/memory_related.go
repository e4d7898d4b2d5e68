package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"
	"github.com/agent-coordinator/agent-coordinator/internal/tokens"
)

const (
	relatedMost  = 3    // memories attached to a reply that was not asked for them
	relatedLeast = .6   // of the best one's relevance: what is attached must be nearly as good
	emptyAge     = 5    // seconds a project counts as being without memories
	fullAge      = 3600 // seconds it counts as having some
)

// minds are the models the memory may use, of which none is needed, and what is known of the projects.
type minds struct {
	summariser Summariser
	embedder   Embedder
	vectors    atomic.Int32 // whether the database can keep vectors: 0 unknown, 1 yes, 2 no

	mu   sync.Mutex
	full map[int64]cached[bool]
}

// hasMemories reports whether a project remembers anything; a first memory stored by another process may be overlooked
// for some seconds. A queue without memories must not pay for them with every claim.
func (s *Store) hasMemories(ctx context.Context, project int64) (bool, error) {
	now := time.Now()
	s.minds.mu.Lock()
	known, ok := s.minds.full[project]
	s.minds.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.value, nil
	}
	full, err := one[bool](ctx, s, `select coord.has_memories($1)`, project)
	if err == nil {
		s.knowMemories(project, full, now)
	}
	return full, err
}

func (s *Store) knowMemories(project int64, full bool, now time.Time) {
	age := emptyAge * time.Second
	if full {
		age = fullAge * time.Second
	}
	s.minds.mu.Lock()
	defer s.minds.mu.Unlock()
	if s.minds.full == nil || len(s.minds.full) >= cacheSize {
		s.minds.full = map[int64]cached[bool]{}
	}
	s.minds.full[project] = cached[bool]{value: full, until: now.Add(age)}
}

// RelatedMemories returns the at most three memories that are worth showing unasked to somebody who starts on text with
// paths at hand, in at most budget tokens of content; long ones are shortened. None is the usual answer: what is unsure
// is not attached, unless it is about one of the paths.
func (s *Store) RelatedMemories(ctx context.Context, c ident.Caller, text string, paths []string, budget int) ([]client.Memory, error) {
	if strings.TrimSpace(text) == "" && len(paths) == 0 {
		return nil, nil
	}
	if full, err := s.hasMemories(ctx, c.ProjectID); err != nil || !full {
		return nil, err
	}
	q := recall.Query{Text: text, Paths: paths[:min(len(paths), 50)], Limit: 2 * relatedMost, Now: time.Now().Unix()}
	r, _, err := s.search(ctx, q, []projectRef{{ID: c.ProjectID}}, nil)
	if err != nil || len(r.found) == 0 {
		return nil, err
	}
	best := r.found[0].Relevance
	keep := slices.DeleteFunc(r.found, func(h found) bool {
		return h.Parts.Paths == 0 && (r.Unsure || h.Relevance < relatedLeast*best) || h.Parts.Older
	})
	hits, err := s.read(ctx, keep[:min(len(keep), relatedMost)])
	if err != nil {
		return nil, err
	}
	var out []client.Memory
	for i, h := range hits {
		m := h.memory(false, false)
		share := budget / (len(hits) - i) // what earlier ones left is the later ones'
		n := contentTokens(m)
		if n > share {
			h.doc.shorten(share)
			m = h.memory(false, false)
			n = contentTokens(m)
		}
		if n <= budget {
			budget -= n
			out = append(out, m)
		}
	}
	return out, nil
}

// LatestMemories is what is worth showing to somebody who says nothing about their work yet: the newest two things that
// were mended, the newest session, and the two skills that work best. Each list may be empty.
func (s *Store) LatestMemories(ctx context.Context, c ident.Caller) ([]client.Memory, []client.Skill, error) {
	if full, err := s.hasMemories(ctx, c.ProjectID); err != nil || !full {
		return nil, nil, err
	}
	var out []client.Memory
	for _, kind := range []struct {
		event string
		most  int
	}{{"fix", 2}, {"session", 1}} {
		r, err := s.Recall(ctx, c, client.Recall{EventType: kind.event, Limit: kind.most})
		if err != nil {
			return nil, nil, err
		}
		out = append(out, r.Memories...)
	}
	skills, err := s.ListSkills(ctx, c, client.ListSkills{Limit: 2})
	return out, skills.Skills, err
}

// shorten makes a memory's content about limit tokens: details and tags go, then lessons, then words of the summary.
func (d *memoryDoc) shorten(limit int) {
	const frame = 30 // of the members' names
	d.Details, d.Tags = nil, nil
	room := max(limit-frame, 10)
	if d.MemoryType == "procedural" {
		d.Description = recall.Extract(d.Description, max(room/3, 5), tokens.Count)
		left := room - tokens.Count(d.Description) - tokens.Count(d.SkillName)
		for i, step := range d.Steps {
			raw, _ := json.Marshal(step) // it came from JSON
			if left -= tokens.Count(string(raw)) + 2; left < 0 {
				d.Steps = append(slices.Clone(d.Steps[:i]), "…")
				break
			}
		}
		return
	}
	d.Summary = recall.Extract(d.Summary, max(room/2, 10), tokens.Count)
	left := room - tokens.Count(d.Summary) - tokens.Count(d.Path)
	for i, l := range d.Lessons {
		short := recall.Extract(l, max(left, 0), tokens.Count)
		n := tokens.Count(short) + 2
		if short == "" || n > left {
			d.Lessons = d.Lessons[:i]
			break
		}
		d.Lessons[i], left = short, left-n
	}
}

// RememberTask records the end of a task as an experience of the caller's agent, when there is something to learn from
// it: lessons or a summary in the result, or an error. It counts the use of the skill that the caller says it followed.
// Nothing is recorded when the caller does not allow it. The memory's id is empty when there was nothing to record.
func (s *Store) RememberTask(ctx context.Context, c ident.Caller, in client.CompleteWork, status string) (string, error) {
	if in.SkillID != "" {
		if _, err := s.RecordSkillUse(ctx, c, client.RecordSkillUse{SkillID: in.SkillID, Success: in.Success}); err != nil {
			return "", err
		}
	}
	lessons, summary := textsOf(in.Result["lessons"]), firstText(in.Result, "summary", "lesson")
	if in.Remember != nil && !*in.Remember || len(lessons) == 0 && summary == "" && in.ErrorMessage == "" {
		return "", nil
	}
	task, err := s.GetTask(ctx, c, client.TaskRef{TaskID: in.TaskID})
	if err != nil || task.Task == nil {
		return "", err
	}
	t := task.Task
	x := client.Remember{
		EventType: "task_" + status, Outcome: "success", Lessons: lessons, Tags: append([]string{t.TaskType}, t.Tags...),
		Summary: cutText(fmt.Sprintf("%s: %s", t.TaskType, cmp.Or(firstLine(t.Description), "no description")), 400),
		Details: map[string]any{},
	}
	if !in.Success {
		x.Outcome = "failure"
	}
	if summary != "" {
		x.Details["result"] = cutText(summary, 4000)
	}
	if in.ErrorMessage != "" {
		x.Details["error"] = cutText(in.ErrorMessage, 4000)
	}
	if len(t.Files) > 0 {
		x.Path = t.Files[0]
		x.Details["files"] = t.Files
	}
	out, err := s.remember(ctx, c, x, in.TaskID)
	return out.MemoryID, err
}

// textsOf reads a list of texts, or one text, out of a result.
func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return filled([]string{cutText(v, 2000)})
	case []any:
		var out []string
		for _, item := range v {
			if s, ok := item.(string); ok && len(out) < 20 {
				out = append(out, cutText(s, 2000))
			}
		}
		return filled(out)
	}
	return nil
}

func firstText(m map[string]any, keys ...string) string {
	for _, k := range keys {
		if s, ok := m[k].(string); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// cutText shortens s to at most n bytes at a character's border.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
