package importer

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// bead is one line of beads' JSONL export.
type bead struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Description  string   `json:"description"`
	Design       string   `json:"design"`
	Acceptance   string   `json:"acceptance_criteria"`
	Notes        string   `json:"notes"`
	Status       string   `json:"status"`
	Priority     *int     `json:"priority"`
	Type         string   `json:"issue_type"`
	Assignee     string   `json:"assignee"`
	CreatedAt    string   `json:"created_at"`
	ClosedAt     string   `json:"closed_at"`
	CloseReason  string   `json:"close_reason"`
	ExternalRef  string   `json:"external_ref"`
	Labels       []string `json:"labels"`
	Dependencies []struct {
		DependsOn string `json:"depends_on_id"`
		Type      string `json:"type"`
	} `json:"dependencies"`
	Comments []struct {
		Author string `json:"author"`
		Text   string `json:"text"`
	} `json:"comments"`
}

const maxLine = 16 << 20 // bytes of one issue

// Beads reads an export of beads: one issue a line. Errors: ErrNotThis when no line is an issue; of reading.
func Beads(in io.Reader) (Found, error) {
	f := Found{Source: "beads"}
	lines := bufio.NewReaderSize(in, 64<<10)
	done, seen := map[string]bool{}, map[string]string{}
	issues := 0
	for n := 1; ; n++ {
		raw, err := readLine(lines)
		if errors.Is(err, io.EOF) && raw == nil {
			break
		}
		where := fmt.Sprintf("line %d", n)
		switch {
		case errors.Is(err, errLong):
			f.problem(where, "it is longer than %d MB", maxLine>>20)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return f, fmt.Errorf("read the export: %w", err)
		}
		if text := strings.TrimSpace(string(raw)); text != "" {
			var b bead
			if err := json.Unmarshal([]byte(text), &b); err != nil {
				f.problem(where, "it is no JSON object of an issue: %v", err)
			} else if b.ID == "" || strings.TrimSpace(b.Title) == "" {
				f.problem(where, "it has no id or no title")
			} else if before := seen[b.ID]; before != "" {
				f.problem(where, "%s was on %s already; the first one counts", b.ID, before)
			} else {
				seen[b.ID] = where
				issues++
				f.bead(b, where, []byte(text), done)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	if issues == 0 && len(f.Problems) > 0 {
		return f, fmt.Errorf("%w: no line is an issue of beads; %s: %s", ErrNotThis, f.Problems[0].Where, f.Problems[0].What)
	}
	f.settle(done)
	return f, nil
}

var errLong = errors.New("the line is too long")

// readLine reads up to the end of the line; a line that is too long is read over. nil and io.EOF: there is no more.
func readLine(in *bufio.Reader) ([]byte, error) {
	var out []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(out)+len(part) > maxLine; !long {
			out = append(out, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return out, errLong
		}
		return out, err
	}
}

// bead takes one issue in: open ones as tasks, closed ones as experiences.
func (f *Found) bead(b bead, where string, raw []byte, done map[string]bool) {
	f.agent(b.Assignee)
	for _, c := range b.Comments {
		f.agent(c.Author)
	}
	var all map[string]any
	_ = json.Unmarshal(raw, &all) // it was read as an issue
	switch b.Status {
	case "tombstone":
		done[b.ID] = true
		f.left("deleted issues", "beads keeps them as tombstones only")
		return
	case "closed":
		done[b.ID] = true
		m := Memory{
			Ref: b.ID, EventType: "task_completed", Outcome: "success", Summary: cut(clean(b.ID+": "+b.Title), 1000), Tags: append([]string{"beads"}, b.Labels...),
			AgentID: b.Assignee, Details: map[string]any{"issue": all}, CreatedAt: moment(cmp.Or(b.ClosedAt, b.CreatedAt)),
		}
		if b.CloseReason != "" {
			m.Lessons = []string{cut(clean(b.CloseReason), 2000)}
		}
		f.Memories = append(f.Memories, m)
		return
	case "open", "in_progress", "blocked", "hooked", "pinned", "deferred", "":
	default:
		f.problem(where, "%s has the status %q, which beads does not define; it is taken as open", b.ID, b.Status)
	}
	t := Task{Ref: b.ID, Type: cmp.Or(b.Type, "task"), Priority: 5, Labels: b.Labels, Data: map[string]any{"issue": all}, where: where}
	if b.Priority != nil {
		if *b.Priority < 0 || *b.Priority > 4 {
			f.problem(where, "%s has the priority %d, which is none of 0 to 4; it gets 5 of 10", b.ID, *b.Priority)
		} else {
			t.Priority = 1 + 2**b.Priority
		}
	}
	for _, d := range b.Dependencies {
		if d.Type == "blocks" || d.Type == "" {
			t.DependsOn = append(t.DependsOn, d.DependsOn)
			continue
		}
		f.left("links of the kind "+d.Type, "only what blocks becomes a dependency; the link stands in the task's data")
	}
	text := b.ID + ": " + b.Title
	for _, part := range []struct{ name, text string }{{"", b.Description}, {"Design", b.Design}, {"Acceptance", b.Acceptance}, {"Notes", b.Notes}} {
		if strings.TrimSpace(part.text) == "" {
			continue
		}
		if text += "\n\n"; part.name != "" {
			text += part.name + ":\n"
		}
		text += part.text
	}
	for _, c := range b.Comments {
		text += "\n\nComment by " + c.Author + ":\n" + c.Text
	}
	t.Text = text
	f.Tasks = append(f.Tasks, t)
}

// moment is a time of another tool as ours are written; empty when it is none.
func moment(text string) string {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02"} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t.UTC().Format(time.RFC3339Nano)
		}
	}
	return ""
}
