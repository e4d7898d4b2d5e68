package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// choice is one line of the command bar: something to do, or somewhere to go.
type choice struct {
	Group, Icon, Text, Note, URL, Key string
	Dialog                            bool
}

const perGroup = 8

// find answers the command bar: acts first, then places, then things whose name has every word of the question.
func (p *Page) find(w http.ResponseWriter, q *request) {
	words := strings.Fields(strings.ToLower(q.URL.Query().Get("q")))
	var out []choice
	count := map[string]int{}
	add := func(c choice, texts ...string) {
		text := strings.ToLower(c.Text + " " + strings.Join(texts, " "))
		if count[c.Group] < perGroup && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			count[c.Group]++
			out = append(out, c)
		}
	}
	t := p.look(q, len(words) > 0)
	p.acts(q, words, add)
	for _, v := range views {
		if v.InNav() {
			add(choice{Group: "Go to", Icon: v.icon, Text: v.title, URL: v.Href(), Key: "g " + v.key})
		}
	}
	add(choice{Group: "Go to", Icon: "audit", Text: "Cost and budgets", URL: "/ui/cost"})
	for _, name := range []string{"graph", "list"} {
		add(choice{Group: "Go to", Icon: "board", Text: "Board as " + name, URL: "/ui/board?as=" + name})
	}
	if len(words) > 0 {
		p.things(q, t, words, add)
	}
	w.Header().Set("Server-Timing", q.took.header(q.now))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err := p.tmpl.ExecuteTemplate(w, "choices", out); err != nil {
		p.opts.Log.ErrorContext(q.Context(), "choices not rendered", "err", err)
	}
}

// found is what the command bar searches in. What could not be asked is not offered: an address of the page leads to it.
type found struct {
	locks    client.Locks
	tasks    client.Tasks
	sessions client.OrchestratedSessions
	changes  client.Changesets
}

// look asks for what the bar offers, the things only when there are words to look for.
func (p *Page) look(q *request, things bool) found {
	var out found
	parts := []func() error{func() error {
		if g, err := gather(q); err == nil {
			q.gathered = g
		}
		return nil
	}}
	if things {
		parts = append(parts,
			asks(q, &out.locks, "check_locks", map[string]any{"limit": 10_000}),
			asks(q, &out.tasks, "list_work", map[string]any{"limit": 500}),
			asks(q, &out.sessions, "list_orchestrated_sessions", map[string]any{"limit": 200}),
			asks(q, &out.changes, "list_changesets", map[string]any{"limit": 200}))
	}
	_ = together(parts...)
	return out
}

// acts are what can be done at once: what the first view asks for, then what needs a word more.
func (p *Page) acts(q *request, words []string, add func(choice, ...string)) {
	do := func(icon, text, name, id, note string, more ...string) {
		if a, ok := actions[name]; ok && q.may(a.Scope) {
			add(choice{Group: "Do", Icon: icon, Text: text, Note: note, URL: button{Action: name, ID: id}.URL(), Dialog: true}, more...)
		}
	}
	if g := q.gathered; g != nil {
		for _, list := range [][]item{g.decide, g.broken} {
			for _, x := range list {
				for _, b := range x.Acts {
					do(x.Icon, b.Label+": "+strings.TrimPrefix(x.Title, b.Label+": "), b.Action, b.ID, "")
				}
			}
		}
		if len(words) > 0 {
			for _, a := range g.agents.Agents {
				if a.Status == "disconnected" {
					continue
				}
				do("msg", "Message "+a.AgentID, "message", a.AgentID, a.CurrentTask)
				do("play", "Nudge "+a.AgentID, "nudge", a.AgentID, a.CurrentTask)
				switch a.Hold {
				case "pause":
					do("play", "Resume "+a.AgentID, "resume", a.AgentID, a.HoldReason)
				case "drain":
					do("play", "End the drain of "+a.AgentID, "undrain", a.AgentID, a.HoldReason)
				default:
					do("pause", "Pause "+a.AgentID, "pause", a.AgentID, a.CurrentTask)
					do("pause", "Drain "+a.AgentID, "drain", a.AgentID, a.CurrentTask)
				}
				if a.LocksHeld+a.TasksHeld > 0 {
					do("arrow", "Hand over the work of "+a.AgentID, "hand-over", a.AgentID, a.CurrentTask, "off")
				}
				if a.LocksHeld > 0 {
					do("lock", "Release all locks of "+a.AgentID, "release-all", a.AgentID, number(a.LocksHeld, "lock", "locks"), "force")
				}
			}
		}
	}
	do("plus", "New task", "new-task", "", "", "submit work")
	do("play", "Start a run", "start-run", "", "", "session")
	do("msg", "Message all agents", "message", "*", "", "everybody broadcast")
	do("pause", "Pause all agents", "pause", "*", "", "everybody")
	do("clock", "Set a budget", "set-budget", "", "", "cost limit")
	do("memory", "Write a memory", "remember", "", "", "lesson")
}

// things are what the project has: agents, tasks, paths, sessions, changes.
func (p *Page) things(q *request, t found, words []string, add func(choice, ...string)) {
	if q.gathered != nil {
		for _, a := range q.gathered.agents.Agents {
			if a.Status != "disconnected" {
				add(choice{Group: "Agents", Icon: "fleet", Text: a.AgentID, Note: a.CurrentTask, URL: "/ui/agents/" + escapePath(a.AgentID)}, a.CurrentTask)
			}
		}
	}
	for _, l := range t.locks.Locks {
		add(choice{Group: "Files", Icon: "lock", Text: l.FilePath, Note: "held by " + l.LockedBy, URL: "/ui/locks?sel=" + escape(l.FilePath+"|"+l.SessionID)}, l.LockedBy)
	}
	if q.may(actions["release-lock"].Scope) && slices.ContainsFunc(words, func(word string) bool {
		return strings.HasPrefix("force-release", word) || strings.HasPrefix("release", word)
	}) {
		for _, l := range t.locks.Locks {
			add(choice{Group: "Take away", Icon: "lock", Text: "Force-release " + l.FilePath, Note: l.LockedBy, URL: button{Action: "release-lock", ID: l.FilePath + "|" + l.LockedBy}.URL(), Dialog: true})
		}
	}
	for _, x := range t.tasks.Tasks {
		add(choice{Group: "Tasks", Icon: stateOf(x.State).Icon, Text: line(x.Description), Note: stateOf(x.State).Word, URL: "/ui/tasks/" + x.TaskID}, x.TaskID, x.TaskType, x.ClaimedBy)
	}
	for _, s := range t.sessions.Sessions {
		add(choice{Group: "Sessions", Icon: "time", Text: s.SessionID, Note: deref(s.AgentName), URL: "/ui/sessions/" + escapePath(s.SessionID)}, deref(s.AgentName), deref(s.Hostname))
	}
	for _, c := range t.changes.Changesets {
		add(choice{Group: "Changes", Icon: "change", Text: cut(c.Title+" "+c.Branch, 80), Note: stateOf(c.State).Word, URL: "/ui/changes/" + c.ChangesetID}, c.HeadSHA, c.AgentID)
	}
	add(choice{Group: "Memory", Icon: "memory", Text: "Ask the memory: " + strings.Join(words, " "), URL: "/ui/memory?q=" + escape(strings.Join(words, " "))})
}
