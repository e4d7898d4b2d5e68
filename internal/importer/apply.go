package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// Dial returns a client that acts for an agent; empty: for the importing one.
type Dial func(agent, program string) (*client.AgentCoordinationClient, error)

// Count says what became of one kind of thing.
type Count struct {
	Found    int `json:"found"`
	Imported int `json:"imported"`
	There    int `json:"there"`  // from an earlier import
	Failed   int `json:"failed"` // see problems
}

// Result says what was imported, or with DryRun what would be.
type Result struct {
	Source   string    `json:"source"`
	DryRun   bool      `json:"dry_run"`
	Tasks    Count     `json:"tasks"`
	Memories Count     `json:"memories"`
	Messages Count     `json:"messages"` // delivered because somebody had not read them
	Locks    Count     `json:"locks"`
	Agents   []string  `json:"agents"` // that the source names
	Left     []Left    `json:"left"`   // on purpose
	Problems []Problem `json:"problems"`
}

const (
	taskBatch   = 1000
	memoryBatch = 2 << 20 // bytes of a request
	maxText     = 20000   // bytes of a task's description
	maxData     = 200 << 10
)

// Apply writes what was found. now decides how long locks are taken. Errors: of the coordinator, when it cannot be
// asked; what it refuses of single things stands in the result.
func Apply(ctx context.Context, dial Dial, f Found, now time.Time, dryRun bool) (Result, error) {
	res := Result{Source: f.Source, DryRun: dryRun, Agents: f.Agents, Left: f.Left, Problems: f.Problems}
	res.Tasks.Found, res.Memories.Found, res.Messages.Found, res.Locks.Found = len(f.Tasks), len(f.Memories), len(f.Mail), len(f.Locks)
	api, err := dial("", "")
	if err != nil {
		return res, err
	}
	defer api.Close()
	for _, part := range []func(context.Context, *client.AgentCoordinationClient, Found, *Result) error{tasks, mail, memories} {
		if err := part(ctx, api, f, &res); err != nil {
			return res, err
		}
	}
	return res, locks(ctx, dial, f, now, &res)
}

func label(source string) string { return "import:" + source }

func refLabel(source, ref string) string { return cut(label(source)+":"+ref, 200) }

// tasks submits what is not there yet. Batches keep the order: a task comes after what it waits for.
func tasks(ctx context.Context, api *client.AgentCoordinationClient, f Found, res *Result) error {
	if len(f.Tasks) == 0 {
		return nil
	}
	there, err := imported(ctx, api, f.Source)
	if err != nil {
		return err
	}
	var todo []Task
	for _, t := range ordered(f.Tasks) {
		if there[refLabel(f.Source, t.Ref)] != "" {
			res.Tasks.There++
			continue
		}
		todo = append(todo, t)
	}
	if res.DryRun {
		res.Tasks.Imported = len(todo)
		return nil
	}
	for batch := range slices.Chunk(todo, taskBatch) {
		in := client.SubmitTasks{}
		inBatch := map[string]string{}
		for i, t := range batch {
			inBatch[t.Ref] = fmt.Sprintf("t%d", i)
		}
		for _, t := range batch {
			spec := client.BatchTask{Ref: inBatch[t.Ref], TaskSpec: t.spec(f.Source, res)}
			for _, ref := range t.DependsOn {
				spec.DependsOn = append(spec.DependsOn, cmp.Or(there[refLabel(f.Source, ref)], inBatch[ref]))
			}
			if n := len(spec.DependsOn); n > 200 {
				res.problem(t.where, "%s waits for %d others; the first 200 count", t.Ref, n)
				spec.DependsOn = spec.DependsOn[:200]
			}
			in.Tasks = append(in.Tasks, spec)
		}
		out, err := api.SubmitTasks(ctx, in)
		if err != nil {
			return fmt.Errorf("submit tasks: %w", err)
		}
		for i, id := range out.TaskIDs {
			there[refLabel(f.Source, batch[i].Ref)] = id
		}
		res.Tasks.Imported += len(out.TaskIDs)
	}
	return nil
}

func (r *Result) problem(where, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Where: where, What: fmt.Sprintf(format, args...)})
}

// spec is the task in our words.
func (t Task) spec(source string, res *Result) client.TaskSpec {
	s := client.TaskSpec{TaskType: cut(t.Type, 200), Description: cut(clean(t.Text), maxText), Priority: t.Priority, Labels: []string{label(source), refLabel(source, t.Ref)}, InputData: t.Data}
	if len(t.Text) > maxText {
		res.problem(t.where, "the text of %s is longer than %d bytes; the whole of it stands in the task's data", t.Ref, maxText)
		s.InputData = map[string]any{"text": clean(t.Text)}
		for k, v := range t.Data {
			s.InputData[k] = v
		}
	}
	if raw, err := json.Marshal(s.InputData); err != nil || len(raw) > maxData {
		res.problem(t.where, "the data of %s is larger than %d KB and was cut", t.Ref, maxData>>10)
		s.InputData = map[string]any{"text": cut(clean(t.Text), maxData/2)}
	}
	for _, l := range t.Labels {
		if l = cut(clean(strings.TrimSpace(l)), 200); l != "" && len(s.Labels) < 50 {
			s.Labels = append(s.Labels, l)
		}
	}
	return s
}

// ordered puts tasks behind what they wait for; there are no circles any more.
func ordered(list []Task) []Task {
	at, put := map[string]int{}, map[string]bool{}
	for i, t := range list {
		at[t.Ref] = i
	}
	var out []Task
	var visit func(t Task)
	visit = func(t Task) {
		if put[t.Ref] {
			return
		}
		put[t.Ref] = true
		for _, ref := range t.DependsOn {
			visit(list[at[ref]])
		}
		out = append(out, t)
	}
	for _, t := range list {
		visit(t)
	}
	return out
}

// imported lists what an earlier import left: label → task.
func imported(ctx context.Context, api *client.AgentCoordinationClient, source string) (map[string]string, error) {
	out := map[string]string{}
	in := client.ListWork{Label: label(source), Limit: 500}
	for {
		page, err := api.ListWork(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list what is there: %w", err)
		}
		for _, t := range page.Tasks {
			for _, l := range t.Labels {
				if strings.HasPrefix(l, label(source)+":") {
					out[l] = t.TaskID
				}
			}
		}
		if in.Cursor = page.NextCursor; in.Cursor == "" {
			return out, nil
		}
	}
}

// memories imports experiences; what is there, by id, stays as it is.
func memories(ctx context.Context, api *client.AgentCoordinationClient, f Found, res *Result) error {
	var lines strings.Builder
	send := func() error {
		if lines.Len() == 0 {
			return nil
		}
		out, err := api.MemoryImport(ctx, client.ImportMemory{JSONL: lines.String(), Source: f.Source})
		lines.Reset()
		if err != nil {
			return fmt.Errorf("import experiences: %w", err)
		}
		res.Memories.Imported += out.Imported
		res.Memories.There += out.Skipped
		return nil
	}
	for _, m := range f.Memories {
		if res.DryRun {
			known, err := knows(ctx, api, idOf(f.Source, "memory", m.Ref))
			switch {
			case err != nil:
				return err
			case known:
				res.Memories.There++
			default:
				res.Memories.Imported++
			}
			continue
		}
		line := m.line(f.Source)
		if lines.Len()+len(line) > memoryBatch {
			if err := send(); err != nil {
				return err
			}
		}
		lines.WriteString(line + "\n")
	}
	return send()
}

func knows(ctx context.Context, api *client.AgentCoordinationClient, id string) (bool, error) {
	_, err := api.MemoryGet(ctx, client.GetMemory{MemoryID: id})
	var e *client.Error
	if errors.As(err, &e) && e.Code == client.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look what is there: %w", err)
	}
	return true, nil
}

func (m Memory) line(source string) string {
	doc := map[string]any{"memory_type": "episodic", "memory_id": idOf(source, "memory", m.Ref), "event_type": m.EventType, "summary": m.Summary, "details": m.Details}
	for name, v := range map[string]string{"outcome": m.Outcome, "agent_id": m.AgentID, "created_at": m.CreatedAt} {
		if v != "" {
			doc[name] = v
		}
	}
	if len(m.Lessons) > 0 {
		doc["lessons"] = m.Lessons
	}
	if len(m.Tags) > 0 {
		doc["tags"] = m.Tags
	}
	raw, _ := json.Marshal(doc) // texts, and what was read from JSON
	if len(raw) > 60<<10 {      // a memory holds 64 KB
		doc["details"] = map[string]any{"cut": cut(string(raw), 40<<10)}
		raw, _ = json.Marshal(doc)
	}
	return string(raw)
}

// mail delivers what somebody has not read, unless an earlier import did: its experience is there then.
func mail(ctx context.Context, api *client.AgentCoordinationClient, f Found, res *Result) error {
	for _, m := range f.Mail {
		known, err := knows(ctx, api, idOf(f.Source, "memory", m.Ref))
		switch {
		case err != nil:
			return err
		case known:
			res.Messages.There++
			continue
		case res.DryRun:
			res.Messages.Imported++
			continue
		}
		in := client.SendMessage{To: m.To, Text: m.Text, AckRequired: m.AckRequired, Thread: m.Thread, AllowUnknown: true}
		if m.Urgent {
			in.Urgency = "high"
		}
		_, err = api.SendMessage(client.WithRequestKey(ctx, "import-"+idOf(f.Source, "mail", m.Ref)), in)
		if refused(err) {
			res.Messages.Failed++
			res.problem("message "+m.Ref, "it could not be delivered: %v", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("deliver messages: %w", err)
		}
		res.Messages.Imported++
	}
	return nil
}

// refused tells an answer about one thing from a coordinator that cannot be asked.
func refused(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && (e.Code == client.CodeInvalid || e.Code == client.CodeForbidden || e.Code == client.CodeConflict || e.Code == client.CodeNotFound)
}

// locks takes reservations for their agents, for the time they have left.
func locks(ctx context.Context, dial Dial, f Found, now time.Time, res *Result) error {
	for _, l := range f.Locks {
		if res.DryRun {
			res.Locks.Imported++
			continue
		}
		api, err := dial(l.Agent, l.Program)
		if err != nil {
			return err
		}
		in := client.AcquireLock{FilePath: l.Path, Reason: l.Reason, TTLMinutes: min(max(int(math.Ceil(l.Until.Sub(now).Minutes())), 1), 480)}
		if l.Shared {
			in.Mode = "shared"
		}
		r, err := api.AcquireLock(ctx, in)
		api.Close()
		where := "reservation of " + l.Agent
		switch {
		case refused(err):
			res.Locks.Failed++
			res.problem(where, "%s was not locked: %v", l.Path, err)
		case err != nil:
			return fmt.Errorf("take locks: %w", err)
		case !r.Success:
			res.Locks.Failed++
			res.problem(where, "%s was not locked: %s has it", l.Path, r.LockedBy)
		case r.Action != "acquired":
			res.Locks.There++
		default:
			res.Locks.Imported++
		}
	}
	return nil
}
