package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// action is something a person can do: an operation with its words. With several ids it is done to each in turn.
type action struct {
	Title, Verb    string
	Scope          ident.Scope
	Reason         string // label of the reason; empty: none is asked for
	Optional       bool   // the reason may stay empty
	Fields         []field
	Danger, NoUndo bool
	Bulk           bool     // it may be done to several at once
	effects        []string // what will happen, whatever it is about
	operation      string
	args           func(id, reason string, form url.Values) map[string]any
	preview        func(q *request, ids []string, d *dialogData) error // what will happen to these
	do             func(q *request, id, reason string) (string, error) // instead of one call of the operation
	toast          string
}

// field is one more thing that a dialog asks for.
type field struct {
	Name, Label, Kind, Value, Hint string // kind: number, text, select
	Min, Max                       int
	Options                        []string
}

// maxBulk bounds what one dialog does.
const maxBulk = 200

// actions by name. The id is what the operation calls it. They are put together at the start, as some previews look
// others up.
var actions = map[string]action{}

func init() {
	for _, some := range []map[string]action{changeActions(), workActions(), runActions(), agentActions(), personActions()} {
		maps.Copy(actions, some)
	}
}

// changeActions are about changes and their verification.
func changeActions() map[string]action {
	return map[string]action{
		"approve": {
			Title: "Approve this commit", Verb: "Approve", Scope: ident.Reviewer, Reason: "Comment, kept with the vote", Optional: true, operation: "approve_change", args: voted, preview: previewVote,
			effects: []string{"Your vote is bound to this commit; a new push voids it."}, toast: "Your approval counts.",
		},
		"deny": {
			Title: "Deny this commit", Verb: "Deny and tell the author", Scope: ident.Reviewer, Reason: "Reason, shown to the author", operation: "deny_change", Danger: true, NoUndo: true, args: voted, preview: previewVote,
			effects: []string{"The verdict is failed, for this commit for good.", "The author's task goes back to the author with your reason."}, toast: "Denied. The author is told.",
		},
		"rerun": {
			Title: "Run the verification again", Verb: "Run again", Scope: ident.Write, Reason: "Reason", Optional: true, operation: "rerun_changeset", Bulk: true, args: about1("changeset_id", "reason"),
			effects: []string{"The change is routed anew, with the policies as they are now.", "Every tier it needs runs again."}, toast: "It is routed anew.",
		},
		"rerun-failed": {
			Title: "Run again what failed", Verb: "Run again", Scope: ident.Write, Reason: "Reason", Optional: true, operation: "rerun_changeset", toast: "What failed runs again.",
			effects: []string{"The tier that failed runs again, and what did not succeed above it.", "What passed stays passed."},
			args: func(id, reason string, _ url.Values) map[string]any {
				change, tier, _ := strings.Cut(id, "|")
				n, _ := strconv.Atoi(tier)
				return withReason(map[string]any{"changeset_id": change, "tier": n}, "reason", reason)
			},
		},
		"override": {
			Title: "Let it pass by hand", Verb: "Let it pass", Scope: ident.Reviewer, Reason: "Reason, shown with the verdict for ever", operation: "override_changeset", Danger: true, NoUndo: true, args: about1("changeset_id", "reason"),
			effects: []string{"The verdict is passed, by you, for this commit only.", "What did not run stays shown as not run."}, toast: "The verdict is set by hand.",
		},
		"cancel-change": {
			Title: "End the verification", Verb: "End it", Scope: ident.Write, Reason: "Reason", Optional: true, operation: "cancel_changeset", Danger: true, args: about1("changeset_id", "reason"),
			effects: []string{"What runs is ended, also where it runs.", "There is no verdict until it is run again."}, toast: "The verification is ended.",
		},
	}
}

// workActions are about locks and tasks.
func workActions() map[string]action {
	return map[string]action{
		"release-lock": {
			Title: "Take the lock away", Verb: "Release and tell the holder", Scope: ident.Reviewer, Reason: "Reason, shown to the holder", operation: "force_release_lock", Danger: true, NoUndo: true, Bulk: true, preview: previewRelease,
			args: func(id, reason string, _ url.Values) map[string]any {
				path, by, _ := strings.Cut(id, "|")
				return withReason(map[string]any{"file_path": path, "reason": reason}, "locked_by", by)
			}, toast: "The lock is free. The holder is told.",
		},
		"release-all": {
			Title: "Take all locks of an agent away", Verb: "Release all and tell it", Scope: ident.Reviewer, Reason: "Reason, shown to the agent", operation: "force_release_lock", Danger: true, NoUndo: true,
			preview: previewReleaseAll, do: releaseAll,
		},
		"retry": {
			Title: "Try again", Verb: "Try again", Scope: ident.Write, operation: "retry_work", Bulk: true, preview: previewTasks, args: about1("task_id", ""),
			effects: []string{"It is ready at once, with its attempts counted anew."}, toast: "The task is ready again.",
		},
		"cancel-task": {
			Title: "Cancel", Verb: "Cancel it for good", Scope: ident.Write, Reason: "Reason", Optional: true, operation: "cancel_work", Danger: true, NoUndo: true, Bulk: true, preview: previewCancel, args: about1("task_id", "reason"),
			effects: []string{"It is over for good.", "Whoever works on it is told."}, toast: "The task is cancelled.",
		},
		"prioritise": {
			Title: "Change the priority", Verb: "Set the priority", Scope: ident.Write, operation: "prioritise_work", Bulk: true, preview: previewPriority,
			Fields:  []field{{Name: "priority", Label: "Priority, 1 is first", Kind: "number", Value: "1", Min: 1, Max: 10}},
			effects: []string{"It counts from the next claim on. Nobody who is at work is interrupted."}, toast: "The priority is set.",
			args: func(id, _ string, form url.Values) map[string]any {
				n, _ := strconv.Atoi(form.Get("priority"))
				return map[string]any{"task_id": id, "priority": n}
			},
		},
		"new-task": {
			Title: "New task", Verb: "Put it into the queue", Scope: ident.Write, Reason: "What is to be done", operation: "submit_work", toast: "The task is in the queue.",
			Fields:  []field{{Name: "task_type", Label: "Type, a word that workers filter by", Kind: "text", Value: "implement"}, {Name: "priority", Label: "Priority, 1 is first", Kind: "number", Value: "5", Min: 1, Max: 10}},
			effects: []string{"The first agent whose demands it meets gets it, at its next ask."},
			args: func(_, reason string, form url.Values) map[string]any {
				n, _ := strconv.Atoi(form.Get("priority"))
				return map[string]any{"task_type": form.Get("task_type"), "description": reason, "priority": n}
			},
		},
	}
}

// runActions are about runs, sessions, runners, messages and memories.
func runActions() map[string]action {
	return map[string]action{
		"start-run": {
			Title: "Start a run", Verb: "Start it", Scope: ident.Write, Reason: "What the agent is told", operation: "create_run", toast: "The run waits for a runner.",
			Fields: []field{{Name: "agent_name", Label: "Blueprint, empty for none", Kind: "text"}}, effects: []string{"The first runner that fits executes it. It fails when none does within five minutes."},
			args: func(_, reason string, form url.Values) map[string]any {
				return withReason(map[string]any{"type": "start_session", "prompt": reason}, "agent_name", form.Get("agent_name"))
			},
		},
		"stop-run": {
			Title: "Stop the run", Verb: "Stop the run", Scope: ident.Write, operation: "stop_run", Danger: true, Bulk: true, args: about1("run_id", ""),
			effects: []string{"A run that waits ends at once; one that runs is told to end.", "A parent that waits for it is told."}, toast: "The run is told to stop.",
		},
		"resume-session": {
			Title: "Go on with the session", Verb: "Go on", Scope: ident.Write, Reason: "What the agent is told", operation: "create_run", toast: "The session goes on when its runner has room.",
			effects: []string{"The conversation goes on where it ended, on the host where it lives."},
			args: func(id, reason string, _ url.Values) map[string]any {
				return map[string]any{"type": "resume_session", "session_id": id, "prompt": reason}
			},
		},
		"stop-session": {
			Title: "Stop the session", Verb: "Stop the session", Scope: ident.Write, operation: "stop_session", Danger: true, args: about1("session_id", ""),
			effects: []string{"Its run is told to end; its locks and tasks are free then."}, toast: "The session is told to stop.",
		},
		"remove-runner": {
			Title: "Take the runner off", Verb: "Take it off", Scope: ident.Runner, operation: "deregister_runner", Danger: true, args: about1("runner_id", ""),
			effects: []string{"It is told to end with its next poll and takes no run after that.", "Runs that it executes are ended by it and reported."}, toast: "The runner is told at its next poll.",
		},
		"message": {
			Title: "Write to them", Verb: "Send", Scope: ident.Write, Reason: "Message", operation: "send_message", effects: []string{"They read it with their next call, before anything that agents wrote."}, toast: "Sent.",
			args: func(id, reason string, _ url.Values) map[string]any {
				return map[string]any{"to": list(id), "text": reason, "urgency": "high"}
			},
		},
		"reply": {
			Title: "Answer", Verb: "Answer", Scope: ident.Write, Reason: "Answer", operation: "send_message", effects: []string{"The agent reads it with its next call."}, toast: "Answered.",
			args: func(id, reason string, _ url.Values) map[string]any {
				message, _, _ := strings.Cut(id, ",")
				return map[string]any{"reply_to": message, "text": reason, "kind": "answer"}
			},
		},
		"forget": {
			Title: "Forget the memory", Verb: "Forget it", Scope: ident.Reviewer, Reason: "Reason", Optional: true, operation: "memory_forget", Danger: true, NoUndo: true,
			effects: []string{"It is deleted for good; no agent is given it again.", "The audit keeps its id and your reason, not its text."}, toast: "Forgotten.",
			args: func(id, reason string, _ url.Values) map[string]any {
				return withReason(map[string]any{"memory_ids": []any{id}}, "reason", reason)
			},
		},
		"remember": {
			Title: "Write a memory", Verb: "Keep it", Scope: ident.Write, Reason: "One sentence with names to search for", operation: "remember", toast: "Kept. Agents are given it where it fits.",
			Fields: []field{{Name: "path", Label: "File it is about, if any", Kind: "text"}}, effects: []string{"Every agent of the project may be given it."},
			args: func(_, reason string, form url.Values) map[string]any {
				return withReason(map[string]any{"summary": reason, "event_type": "lesson"}, "path", form.Get("path"))
			},
		},
	}
}

// about1 makes the arguments of an operation about one thing.
func about1(id, reason string) func(string, string, url.Values) map[string]any {
	return func(value, why string, _ url.Values) map[string]any {
		m := map[string]any{id: value}
		if reason != "" {
			withReason(m, reason, why)
		}
		return m
	}
}

func list(ids string) []any {
	var out []any
	for s := range strings.SplitSeq(ids, ",") {
		if s != "" && !slices.Contains(out, any(s)) {
			out = append(out, s)
		}
	}
	return out
}

func voted(id, reason string, _ url.Values) map[string]any {
	return withReason(map[string]any{"approval_id": id}, "comment", reason)
}

func withReason(m map[string]any, name, value string) map[string]any {
	if value != "" {
		m[name] = value
	}
	return m
}

type dialogData struct {
	action
	Name, About, Problem string
	IDs                  []string
	Effects              []effect
	Refused              bool // the person's key does not allow it
	Text                 string
}

// effect is one thing that an act will do.
type effect struct{ Icon, Class, Text string }

// about names what the act is about, for the dialog's first line.
func about(name string, ids []string) string {
	if len(ids) > 1 {
		return fmt.Sprintf("%s, and %d more", strings.Join(ids[:min(3, len(ids))], ", "), max(0, len(ids)-3))
	}
	id := strings.Join(ids, "")
	switch name {
	case "release-lock":
		path, by, _ := strings.Cut(id, "|")
		return path + ", held by " + by
	case "rerun-failed":
		change, tier, _ := strings.Cut(id, "|")
		return short(change) + ", tier " + tier
	case "reply":
		_, who, _ := strings.Cut(id, ",")
		return who
	case "message":
		if id == "*" {
			return "Every agent that is active"
		}
	case "new-task", "start-run", "remember", "set-budget", "snooze", "unsnooze":
		return ""
	}
	return strings.ReplaceAll(strings.TrimPrefix(id, ","), ",", ", ")
}

// dialog shows what an act will do, before it is done.
func (p *Page) dialog(w http.ResponseWriter, q *request) {
	name := q.PathValue("action")
	a, ok := actions[name]
	if !ok {
		http.NotFound(w, q.Request)
		return
	}
	p.showDialog(w, q, http.StatusOK, p.prepare(q, name, a, q.URL.Query()["id"], q.URL.Query()))
}

// prepare fills a dialog: the effects that are always the same, then those on what it is about now.
func (p *Page) prepare(q *request, name string, a action, ids []string, given url.Values) dialogData {
	if len(ids) > maxBulk {
		ids = ids[:maxBulk]
	}
	d := dialogData{action: a, Name: name, IDs: ids, About: about(name, ids), Refused: !q.may(a.Scope)}
	d.Fields = slices.Clone(a.Fields)
	for i, f := range d.Fields {
		if v := given.Get(f.Name); v != "" {
			d.Fields[i].Value = v
		}
	}
	if len(ids) > 1 {
		d.Title = a.Title + ": " + thousands(len(ids)) + " at once"
	}
	if a.preview != nil {
		if err := a.preview(q, ids, &d); err != nil {
			d.Effects = append(d.Effects, effect{"error", "is-error", "What it would do could not be looked up: " + fault.From(err).What + "."})
		}
	}
	for _, text := range a.effects {
		d.Effects = append(d.Effects, effect{"arrow", "", text})
	}
	return d
}

func (p *Page) showDialog(w http.ResponseWriter, q *request, status int, d dialogData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := p.tmpl.ExecuteTemplate(w, "dialog", d); err != nil {
		p.opts.Log.ErrorContext(q.Context(), "dialog not rendered", "action", d.Name, "err", err)
	}
}

// act does it. The answer is a toast; a refusal is the dialog again, with what was said.
func (p *Page) act(w http.ResponseWriter, q *request) {
	name := q.PathValue("action")
	a, ok := actions[name]
	if !ok {
		http.NotFound(w, q.Request)
		return
	}
	q.Body = http.MaxBytesReader(w, q.Body, 64<<10)
	reason := strings.TrimSpace(q.PostFormValue("reason")) // this parses the form
	ids := q.PostForm["id"]
	again := func(status int, what string) {
		d := p.prepare(q, name, a, ids, q.PostForm)
		d.Problem, d.Text = what, reason
		p.showDialog(w, q, status, d)
	}
	switch {
	case a.Reason != "" && !a.Optional && reason == "":
		again(http.StatusUnprocessableEntity, "A reason is needed. Nothing was changed.")
		return
	case len(ids) == 0:
		ids = []string{""}
	case len(ids) > 1 && !a.Bulk || len(ids) > maxBulk:
		again(http.StatusUnprocessableEntity, "That is too much at once. Nothing was changed.")
		return
	}
	done, toast := 0, a.toast
	for _, id := range ids {
		said, status, problem := p.one(q, a, id, reason)
		if problem != "" {
			if done > 0 {
				problem = fmt.Sprintf("%d of %d are done, then: %s", done, len(ids), strings.ReplaceAll(problem, "Nothing was changed.", "The rest was not changed."))
			}
			again(status, problem)
			return
		}
		done++
		if said != "" {
			toast = said
		}
	}
	if done > 1 {
		toast = fmt.Sprintf("%d done. %s", done, toast)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(toast))
}

// one does an act to one thing and says what came of it, or why it was not done.
func (p *Page) one(q *request, a action, id, reason string) (said string, status int, problem string) {
	if a.do != nil {
		said, err := a.do(q, id, reason)
		if err != nil {
			f := fault.From(err)
			return "", f.Status, strings.TrimSpace(f.What+". "+f.Why) + " " + f.Next
		}
		return said, 0, ""
	}
	out, err := ask[map[string]any](q, a.operation, a.args(id, reason, q.PostForm))
	if err != nil {
		f := fault.From(err)
		return "", f.Status, strings.TrimSpace(f.What+". "+f.Why) + " Nothing was changed. " + f.Next
	}
	if done, ok := out["success"].(bool); ok && !done {
		why, _ := out["reason"].(string)
		return "", http.StatusConflict, "It came too late or is not possible (" + strings.ReplaceAll(why, "_", " ") + "). Nothing was changed."
	}
	if done, ok := out["released"].(bool); ok && !done {
		return "", http.StatusConflict, "Nobody held it any more. Nothing was changed."
	}
	return "", 0, ""
}
