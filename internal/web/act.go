package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// action is something a person can do: an operation with its words.
type action struct {
	Title, Text, Verb string
	Scope             ident.Scope
	Reason            string   // label of the reason; empty: none is asked for
	Optional          bool     // the reason may stay empty
	Effects           []string // what will happen
	Danger, NoUndo    bool
	operation         string
	args              func(id, reason string) map[string]any
	toast             string
}

// actions by name. The id is what the operation calls it.
var actions = map[string]action{
	"approve": {
		Title: "Approve this commit", Verb: "Approve", Scope: ident.Reviewer, Reason: "Comment, kept with the vote", Optional: true, operation: "approve_change",
		Effects: []string{"Your vote is bound to this commit; a new push voids it.", "With the last vote that is missing the verdict goes out."}, toast: "Your approval counts.", args: voted,
	},
	"deny": {
		Title: "Deny this commit", Verb: "Deny", Scope: ident.Reviewer, Reason: "Reason, shown to the author", operation: "deny_change", Danger: true, NoUndo: true,
		Effects: []string{"The verdict is failed, for this commit for good.", "The author's task goes back to the author with your reason."}, toast: "Denied. The author is told.", args: voted,
	},
	"rerun": {
		Title: "Run the verification again", Verb: "Run again", Scope: ident.Write, Reason: "Reason", Optional: true, operation: "rerun_changeset",
		Effects: []string{"The change is routed anew, with the policies as they are now.", "Every tier it needs runs again."}, toast: "It is routed anew.",
		args: func(id, reason string) map[string]any {
			return withReason(map[string]any{"changeset_id": id}, "reason", reason)
		},
	},
	"override": {
		Title: "Let it pass by hand", Verb: "Let it pass", Scope: ident.Reviewer, Reason: "Reason, shown with the verdict for ever", operation: "override_changeset", Danger: true, NoUndo: true,
		Effects: []string{"The verdict is passed, by you, for this commit only.", "What did not run stays shown as not run."}, toast: "The verdict is set by hand.",
		args: func(id, reason string) map[string]any { return map[string]any{"changeset_id": id, "reason": reason} },
	},
	"release-lock": {
		Title: "Take the lock away", Verb: "Release and tell the holder", Scope: ident.Reviewer, Reason: "Reason, shown to the holder", operation: "force_release_lock", Danger: true, NoUndo: true,
		Effects: []string{"The lock is free at once; the first in line gets it.", "The holder is told with its next call; its fencing token is worth nothing from now on.", "What the holder changed stays in its working tree."}, toast: "The lock is free. The holder is told.",
		args: func(id, reason string) map[string]any {
			path, by, _ := strings.Cut(id, "|")
			return withReason(map[string]any{"file_path": path, "reason": reason}, "locked_by", by)
		},
	},
	"retry": {
		Title: "Try the task again", Verb: "Try again", Scope: ident.Write, operation: "retry_work", Effects: []string{"It is ready at once, with its attempts counted anew."}, toast: "The task is ready again.",
		args: func(id, _ string) map[string]any { return map[string]any{"task_id": id} },
	},
	"cancel-task": {
		Title: "Cancel the task", Verb: "Cancel the task", Scope: ident.Write, Reason: "Reason", Optional: true, operation: "cancel_work", Danger: true, NoUndo: true,
		Effects: []string{"It is over for good; what depends on it is cancelled, too.", "Whoever works on it is told."}, toast: "The task is cancelled.",
		args: func(id, reason string) map[string]any {
			return withReason(map[string]any{"task_id": id}, "reason", reason)
		},
	},
	"stop-run": {
		Title: "Stop the run", Verb: "Stop the run", Scope: ident.Write, operation: "stop_run", Danger: true,
		Effects: []string{"A run that waits ends at once; one that runs is told to end.", "A parent that waits for it is told."}, toast: "The run is told to stop.",
		args: func(id, _ string) map[string]any { return map[string]any{"run_id": id} },
	},
	"stop-session": {
		Title: "Stop the session", Verb: "Stop the session", Scope: ident.Write, operation: "stop_session", Danger: true,
		Effects: []string{"Its run is told to end; its locks and tasks are free then."}, toast: "The session is told to stop.",
		args: func(id, _ string) map[string]any { return map[string]any{"session_id": id} },
	},
	"message": {
		Title: "Write to them", Verb: "Send", Scope: ident.Write, Reason: "Message", operation: "send_message", Effects: []string{"They read it with their next call."}, toast: "Sent.",
		args: func(id, reason string) map[string]any {
			return map[string]any{"to": list(id), "text": reason, "urgency": "high"}
		},
	},
	"reply": {
		Title: "Answer", Verb: "Answer", Scope: ident.Write, Reason: "Answer", operation: "send_message", Effects: []string{"The agent reads it with its next call."}, toast: "Answered.",
		args: func(id, reason string) map[string]any {
			message, _, _ := strings.Cut(id, ",")
			return map[string]any{"reply_to": message, "text": reason, "kind": "answer"}
		},
	},
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

func voted(id, reason string) map[string]any {
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
	Name, ID, About, Problem string
	Refused                  bool // the person's key does not allow it
}

// about names what the act is about, for the dialog's first line.
func about(name, id string) string {
	if name == "release-lock" {
		path, by, _ := strings.Cut(id, "|")
		return path + ", held by " + by
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
	id := q.URL.Query().Get("id")
	p.showDialog(w, q, http.StatusOK, dialogData{action: a, Name: name, ID: id, About: about(name, id), Refused: !q.may(a.Scope)})
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
	id, reason := q.PostFormValue("id"), strings.TrimSpace(q.PostFormValue("reason"))
	again := func(status int, what string) {
		p.showDialog(w, q, status, dialogData{action: a, Name: name, ID: id, About: about(name, id), Problem: what})
	}
	if a.Reason != "" && !a.Optional && reason == "" {
		again(http.StatusUnprocessableEntity, "A reason is needed. Nothing was changed.")
		return
	}
	out, err := ask[map[string]any](q, a.operation, a.args(id, reason))
	if err != nil {
		f := fault.From(err)
		again(f.Status, strings.TrimSpace(f.What+". "+f.Why)+" Nothing was changed. "+f.Next)
		return
	}
	if done, ok := out["success"].(bool); ok && !done {
		why, _ := out["reason"].(string)
		again(http.StatusConflict, "It came too late or is not possible ("+strings.ReplaceAll(why, "_", " ")+"). Nothing was changed.")
		return
	}
	if done, ok := out["released"].(bool); ok && !done {
		again(http.StatusConflict, "Nobody held it any more. Nothing was changed.")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(a.toast))
}
