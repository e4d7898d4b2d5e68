package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// sessionView is one session: its runs and one log of events, compact, as a chart, or as they came.
type sessionView struct {
	Session      client.OrchestratedSession
	Runs         []client.Run
	Rows         []eventRow // newest first
	Raw          []string
	Chart        *gantt
	At           *eventRow // the selected event
	As, Only     string
	IDs          string // of all events, for the scrubber
	Index, Count int
	Problem      string // address of the next problem
	Cut          bool
	Live         bool
	Children     []client.OrchestratedSession
	from, to     time.Time
	problems     int
}

// eventRow is one event, or several of one tool in a row.
type eventRow struct {
	client.StoredEvent
	Times    int
	Text     string
	Name     string // what happened, in a word or two
	Look     look
	Took     string // since the event before
	Gap      string // silence before it
	Failed   bool
	Selected bool
	Files    []string
}

const (
	maxEvents = 5000 // asked for
	maxLog    = 500  // rows shown
	silence   = 3 * time.Minute
)

func session(q *request) (any, error) {
	id, query := q.PathValue("id"), q.URL.Query()
	v := &sessionView{As: cmp.Or(query.Get("view"), "compact"), Only: query.Get("only")}
	got, err := ask[client.OneOrchestratedSession](q, "get_orchestrated_session", map[string]any{"session_id": id})
	if err != nil {
		return nil, err
	}
	v.Session = got.Session
	runs, err := ask[client.Runs](q, "list_runs", map[string]any{"session_id": id, "limit": 100})
	if err != nil {
		return nil, err
	}
	v.Runs = runs.Runs
	events, err := ask[client.SessionEvents](q, "list_session_events", map[string]any{"session_id": id, "limit": maxEvents})
	if err != nil {
		return nil, err
	}
	kids, err := ask[client.OrchestratedSessions](q, "list_orchestrated_sessions", map[string]any{"parent_session_id": id, "limit": 20})
	if err != nil {
		return nil, err
	}
	v.Children, v.Cut, v.Count = kids.Sessions, events.Truncated, len(events.Events)
	v.Live = slices.Contains([]string{"pending", "running", "stopping"}, v.Session.Status)
	at, _ := strconv.ParseInt(query.Get("at"), 10, 64)
	v.read(q, events.Events, at)
	if v.As == "gantt" {
		v.Chart = chart(q, v, events.Events, at)
	}
	return v, nil
}

// read turns events into rows, finds the selected one, and the next problem after it.
func (v *sessionView) read(q *request, events []client.StoredEvent, at int64) {
	v.from, v.to = parse(v.Session.CreatedAt), parse(v.Session.CreatedAt)
	var ids []string
	var rows, all []eventRow
	for i, e := range events {
		ids = append(ids, strconv.FormatInt(e.ID, 10))
		row := newRow(e)
		if i > 0 {
			d := parse(e.Timestamp).Sub(parse(events[i-1].Timestamp))
			row.Took = took(d)
			if d > silence {
				row.Gap = fmt.Sprintf("No events for %s.", spanLong(d))
			}
		}
		if t := parse(e.Timestamp); t.After(v.to) {
			v.to = t
		}
		if row.Failed {
			v.problems++
		}
		if row.Selected = e.ID == at; row.Selected {
			v.Index = i
		}
		all = append(all, row)
		if v.Only == "problems" && !row.Failed {
			continue
		}
		if n := len(rows); v.As == "compact" && v.Only == "" && n > 0 && row.Gap == "" && !row.Failed && !rows[n-1].Failed && !row.Selected && !rows[n-1].Selected &&
			deref(e.ToolName) != "" && deref(rows[n-1].ToolName) == deref(e.ToolName) {
			row.Times, row.Files, row.Gap = rows[n-1].Times+1, merge(rows[n-1].Files, row.Files), rows[n-1].Gap
			row.Text = strings.Join(row.Files, ", ")
			rows[n-1] = row
			continue
		}
		rows = append(rows, row)
	}
	if v.Live {
		v.to = q.now
	}
	for i := range all {
		if x := &all[i]; x.ID == at || at == 0 && (v.At == nil || x.Failed || !v.At.Failed) {
			v.At = x
			if at == 0 {
				v.Index = i
			}
		}
		if all[i].Failed && all[i].ID > at && v.Problem == "" {
			v.Problem = "?view=" + v.As + "&at=" + strconv.FormatInt(all[i].ID, 10)
		}
	}
	if v.As == "raw" {
		for i := len(events) - 1; i >= 0 && len(v.Raw) < maxLog; i-- {
			if raw, err := json.Marshal(events[i]); err == nil {
				v.Raw = append(v.Raw, string(raw))
			}
		}
	}
	slices.Reverse(rows)
	v.Rows, v.IDs = rows[:min(len(rows), maxLog)], strings.Join(ids[max(0, len(ids)-2000):], ",")
}

func merge(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

// newRow says what an event means.
func newRow(e client.StoredEvent) eventRow {
	r := eventRow{StoredEvent: e, Times: 1, Text: eventText(e), Failed: deref(e.Error) != "" || e.ExitCode != nil && *e.ExitCode != 0}
	for _, name := range []string{"file_path", "notebook_path", "path"} {
		if f, ok := e.ToolInput[name].(string); ok {
			r.Files = append(r.Files, f)
		}
	}
	tool := shortTool(deref(e.ToolName))
	switch {
	case r.Failed:
		r.Name, r.Look = cmp.Or(tool, e.EventType)+" failed", look{"is-error", "error", "Failed"}
		if strings.HasPrefix(deref(e.Error), "refused") {
			r.Name = tool + " refused"
		}
	case strings.HasSuffix(tool, "acquire_lock"):
		r.Name, r.Look = "Lock asked", look{"", "lock", ""}
	case tool != "":
		r.Name, r.Look = tool, look{"", "run", ""}
	case e.EventType == "message":
		r.Name, r.Look = cmp.Or(map[string]string{"user": "Prompt", "assistant": "Says"}[deref(e.Role)], "Message"), look{"", "msg", ""}
	case e.EventType == "session_start":
		r.Name, r.Look = "Began", look{"is-run", "play", ""}
	case e.EventType == "session_stop":
		r.Name, r.Look = "Ended", look{"is-ok", "stop", ""}
	case e.EventType == "result":
		r.Name, r.Look = "Result", look{"is-ok", "ok", ""}
	default:
		r.Name, r.Look = e.EventType, look{"is-idle", "idle", ""}
	}
	return r
}

// shortTool is a tool's name without the server it belongs to.
func shortTool(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		return name[i+2:]
	}
	return name
}

// eventText is what an event says, in one line.
func eventText(e client.StoredEvent) string {
	if deref(e.Error) != "" {
		return line(*e.Error)
	}
	for _, block := range e.Content {
		if text, ok := block["text"].(string); ok {
			return line(text)
		}
	}
	if e.ResultText != nil {
		return line(*e.ResultText)
	}
	for _, name := range []string{"command", "file_path", "notebook_path", "path", "pattern", "url", "query", "task_description"} {
		if text, ok := e.ToolInput[name].(string); ok {
			return line(text)
		}
	}
	if len(e.ToolInput) > 0 {
		if raw, err := json.Marshal(e.ToolInput); err == nil {
			return line(string(raw))
		}
	}
	return line(deref(e.Reason))
}

// Saw is what the agent was shown, word for word.
func (r *eventRow) Saw() string {
	if deref(r.Error) != "" && r.ToolOutput == nil {
		return *r.Error
	}
	switch out := r.ToolOutput.(type) {
	case nil:
	case string:
		return out
	default:
		return pretty(out)
	}
	var text []string
	for _, block := range r.Content {
		if s, ok := block["text"].(string); ok {
			text = append(text, s)
		}
	}
	return cmp.Or(strings.Join(text, "\n"), deref(r.ResultText), deref(r.Reason))
}

// took is a length of time as a table shows it; nothing below a second is worth a cell.
func took(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return spanLong(d)
}

// spanLong is a length of time with its second unit.
func spanLong(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour && int(d.Seconds())%60 > 0 && d < 10*time.Minute:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

func (v *sessionView) title() (string, string) {
	name := cmp.Or(deref(v.Session.AgentName), v.Session.SessionID)
	say := []string{}
	if host := deref(v.Session.Hostname); host != "" {
		say = append(say, "On "+host+", for "+spanLong(v.to.Sub(v.from))+".")
	}
	if len(v.Runs) > 1 {
		say = append(say, count(len(v.Runs))+" runs.")
	}
	if v.problems > 0 {
		say = append(say, count(v.problems)+" "+plural(v.problems, "problem", "problems")+" among "+number(v.Count, "event", "events")+".")
	} else {
		say = append(say, number(v.Count, "event", "events")+", none failed.")
	}
	return name + ": " + strings.ToLower(stateOf(v.Session.Status).Word), strings.Join(say, " ")
}
