package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// views is the map of the page, in the order of the navigation; those without a group have no entry of their own there.
var views = []view{
	{"needs", "Needs you", "/ui/{$}", "needs", "n", "-", needs},
	{"fleet", "Fleet", "/ui/fleet", "fleet", "f", "Watch", fleet},
	{"agent", "Agent", "/ui/agents/{id...}", "fleet", "", "", agent},
	{"locks", "Lock map", "/ui/locks", "lock", "l", "Watch", locks},
	{"sessions", "Sessions", "/ui/sessions", "time", "s", "Watch", sessions},
	{"session", "Session", "/ui/sessions/{id}", "time", "", "", session},
	{"board", "Board", "/ui/board", "board", "b", "Work", board},
	{"task", "Task", "/ui/tasks/{id}", "board", "", "", task},
	{"changes", "Changes", "/ui/changes", "change", "c", "Work", changes},
	{"change", "Change", "/ui/changes/{id}", "change", "", "", change},
	{"inbox", "Inbox", "/ui/inbox", "inbox", "i", "Work", inbox},
	{"memory", "Memory", "/ui/memory", "memory", "m", "Know", memory},
	{"runners", "Runners and queues", "/ui/runners", "server", "r", "Operate", runnersAndQueues},
	{"audit", "Audit and cost", "/ui/audit", "audit", "a", "Operate", audit},
	{"cost", "Cost", "/ui/cost", "audit", "", "", cost},
}

// Href is the view's address in the navigation.
func (v view) Href() string { return strings.TrimSuffix(v.path, "{$}") }

// InNav reports whether the view has an entry of its own.
func (v view) InNav() bool { return v.group != "" }

// Name, Title, Icon, Key and Group are for the templates.
func (v view) Name() string  { return v.name }
func (v view) Title() string { return v.title }
func (v view) Icon() string  { return v.icon }
func (v view) Key() string   { return v.key }
func (v view) Group() string { return strings.Trim(v.group, "-") }

func escape(s string) string { return url.QueryEscape(s) }

type sessionsView struct {
	Sessions []client.OrchestratedSession
	State    string
	running  int
}

func sessions(q *request) (any, error) {
	list, err := ask[client.OrchestratedSessions](q, "list_orchestrated_sessions", map[string]any{"limit": maxRows})
	if err != nil {
		return nil, err
	}
	v := &sessionsView{State: q.URL.Query().Get("state")}
	slices.SortStableFunc(list.Sessions, func(a, b client.OrchestratedSession) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	for _, s := range list.Sessions {
		if s.Status == "running" {
			v.running++
		}
		if v.State == "" || s.Status == v.State {
			v.Sessions = append(v.Sessions, s)
		}
	}
	return v, nil
}

func (v *sessionsView) title() (string, string) {
	if len(v.Sessions) == 0 && v.State == "" {
		return "No sessions yet", ""
	}
	return fmt.Sprintf("%s %s", count(v.running), plural(v.running, "session runs", "sessions run")), number(len(v.Sessions), "session is", "sessions are") + " shown, the newest first."
}
