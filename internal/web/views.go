package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// views is the map of the page, in the order of the navigation; those without a group have no entry of their own there.
var views = []view{
	{"needs", "Needs you", "/ui/{$}", "needs", "n", "-", needs},
	{"fleet", "Fleet", "/ui/fleet", "fleet", "f", "Watch", fleet},
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
	{"audit", "Audit", "/ui/audit", "audit", "a", "Operate", audit},
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

// fleetView shows who works on what.
type fleetView struct {
	Groups []fleetGroup
	Total  int
	active int
}

type fleetGroup struct {
	Look   look
	Agents []client.Agent
}

func fleet(q *request) (any, error) {
	list, err := agents(q)
	if err != nil {
		return nil, err
	}
	v := &fleetView{Total: len(list.Agents)}
	for _, state := range []string{"active", "idle", "disconnected"} {
		g := fleetGroup{Look: stateOf(state)}
		for _, a := range list.Agents {
			if a.Status == state && (state != "disconnected" || q.recently(a.LastSeen, recent)) && len(g.Agents) < 250 {
				g.Agents = append(g.Agents, a)
			}
		}
		if state == "active" {
			v.active = len(g.Agents)
		}
		if len(g.Agents) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	return v, nil
}

func (v *fleetView) title() (string, string) {
	if v.Total == 0 {
		return "No agents yet", ""
	}
	held := 0
	for _, g := range v.Groups {
		for _, a := range g.Agents {
			held += a.LocksHeld
		}
	}
	return fmt.Sprintf("%s %s at work", count(v.active), plural(v.active, "agent", "agents")), number(held, "lock is held", "locks are held") + " by them."
}

// locksView is the lock map: the tree of what is held, folders opened by the query.
type locksView struct {
	Rows        []lockRow
	Locks       int
	Q, Selected string
	Lock        *client.Lock
	Written     map[string]bool
	Cut         bool
	May         bool
}

// lockRow is a folder with what is held below it, or a lock.
type lockRow struct {
	Level int
	Path  string // whole
	Name  string
	Held  int // at or below
	Heat  int // 0..5
	Lock  *client.Lock
	Part  string // share of its time that is left, in per cent
	Low   bool
	Dirty bool
}

const maxRows = 250

func locks(q *request) (any, error) {
	query := q.URL.Query()
	v := &locksView{Q: query.Get("q"), Selected: query.Get("sel"), Written: map[string]bool{}, May: q.may(ident.Reviewer)}
	list, err := ask[client.Locks](q, "check_locks", map[string]any{"limit": 10_000})
	if err != nil {
		return nil, err
	}
	seen, err := ask[client.Violations](q, "list_violations", map[string]any{"limit": 200})
	if err != nil {
		return nil, err
	}
	for _, x := range seen.Violations {
		if q.recently(x.At, overlook) {
			v.Written[bare(x.HeldPath)] = true
		}
	}
	v.Locks = list.Count
	shown := slices.DeleteFunc(list.Locks, func(l client.Lock) bool {
		return v.Q != "" && !strings.Contains(strings.ToLower(l.FilePath+" "+l.LockedBy+" "+l.Reason), strings.ToLower(v.Q))
	})
	slices.SortFunc(shown, func(a, b client.Lock) int {
		return cmp.Or(cmp.Compare(a.FilePath, b.FilePath), cmp.Compare(a.LockedBy, b.LockedBy))
	})
	for i := range shown {
		if shown[i].FilePath+"|"+shown[i].SessionID == v.Selected {
			v.Lock = &shown[i]
		}
	}
	v.Rows = tree(shown, q.now, v.Written)
	if len(v.Rows) > maxRows {
		v.Rows, v.Cut = v.Rows[:maxRows], true
	}
	return v, nil
}

// tree puts locks below the folders they lie in. Every folder carries the number of locks at or below it.
func tree(list []client.Lock, now time.Time, dirty map[string]bool) []lockRow {
	below := map[string]int{}
	for _, l := range list {
		for _, f := range folders(l.FilePath) {
			below[f]++
		}
	}
	var rows []lockRow
	var open []string
	for i, l := range list {
		parents := folders(l.FilePath)
		for level, f := range parents {
			if level < len(open) && open[level] == f {
				continue
			}
			open = append(open[:min(level, len(open))], f)
			rows = append(rows, lockRow{Level: level + 1, Path: f, Name: base(f), Held: below[f], Heat: heat(below[f])})
		}
		open = open[:min(len(parents), len(open))]
		from, to := parse(l.LockedAt), parse(l.ExpiresAt)
		whole, rest := to.Sub(from).Seconds(), to.Sub(now).Seconds()
		rows = append(rows, lockRow{
			Level: len(parents) + 1, Path: l.FilePath, Name: strings.TrimPrefix(l.FilePath, last(parents)), Held: 1, Heat: 1, Lock: &list[i],
			Part: percent(rest, whole), Low: rest < whole/4, Dirty: dirty[bare(l.FilePath)],
		})
	}
	return rows
}

// folders are the ancestors of a path, outermost first, each with its slash; of a key, its word.
func folders(path string) []string {
	if i := strings.IndexByte(path, ':'); i > 0 && !strings.Contains(path[:i], "/") {
		return []string{path[:i+1]}
	}
	var out []string
	trimmed, from := strings.TrimSuffix(path, "/"), 0
	if i := strings.Index(path, "//"); path[0] == '@' && i > 0 { // another repository of the project
		out, from = append(out, path[:i+2]), i+2
	}
	for i := from; i < len(trimmed); i++ {
		if trimmed[i] == '/' {
			out = append(out, path[:i+1])
		}
	}
	return out
}

// bare is a path without the name of its repository.
func bare(path string) string {
	if _, rest, ok := strings.Cut(path, "//"); ok && strings.HasPrefix(path, "@") {
		return rest
	}
	return path
}

func base(folder string) string {
	if strings.HasSuffix(folder, "//") {
		return strings.TrimSuffix(folder, "//")
	}
	trimmed := strings.TrimSuffix(folder, "/")
	return folder[strings.LastIndexByte(trimmed, '/')+1:]
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func heat(n int) int {
	switch {
	case n >= 40:
		return 5
	case n >= 15:
		return 4
	case n >= 6:
		return 3
	case n >= 3:
		return 2
	}
	return min(n, 1)
}

func (v *locksView) title() (string, string) {
	if v.Locks == 0 {
		return "No locks held", ""
	}
	who := map[string]int{}
	for _, r := range v.Rows {
		if r.Lock != nil {
			who[r.Lock.LockedBy]++
		}
	}
	return fmt.Sprintf("%s %s held", count(v.Locks), plural(v.Locks, "lock", "locks")), "By " + number(len(who), "agent", "agents") + "."
}

// boardView is the queue by state.
type boardView struct {
	Columns []column
	ready   int
}

type column struct {
	Name  string
	Look  look
	Tasks []client.Task
	More  bool
}

const perColumn = 50

func board(q *request) (any, error) {
	v := &boardView{}
	for _, c := range []struct {
		name   string
		states []any
	}{{"Ready", []any{"ready"}}, {"Claimed", []any{"claimed", "running"}}, {"Verifying", []any{"verifying"}}, {"Blocked", []any{"blocked"}}, {"Scheduled", []any{"scheduled"}}} {
		list, err := ask[client.Tasks](q, "list_work", map[string]any{"status": c.states, "limit": perColumn})
		if err != nil {
			return nil, err
		}
		name, _ := c.states[0].(string)
		v.Columns = append(v.Columns, column{Name: c.name, Look: stateOf(name), Tasks: list.Tasks, More: list.Truncated})
	}
	v.ready = len(v.Columns[0].Tasks)
	return v, nil
}

func (v *boardView) title() (string, string) {
	total := 0
	for _, c := range v.Columns {
		total += len(c.Tasks)
	}
	if total == 0 {
		return "No work is waiting", ""
	}
	more := map[bool]string{true: "More than ", false: ""}[v.Columns[0].More]
	return fmt.Sprintf("%s%s %s ready", more, count(v.ready), plural(v.ready, "task is", "tasks are")),
		fmt.Sprintf("%s in work, %s blocked.", number(len(v.Columns[1].Tasks), "task", "tasks"), number(len(v.Columns[3].Tasks), "task", "tasks"))
}

type taskView struct {
	Task client.Task
	Why  client.WhyNotReady
}

func task(q *request) (any, error) {
	got, err := ask[client.TaskReply](q, "get_task", map[string]any{"task_id": q.PathValue("id")})
	if err != nil {
		return nil, err
	}
	if got.Task == nil {
		return nil, noSuch("task", q.PathValue("id"))
	}
	v := &taskView{Task: *got.Task}
	v.Why, err = ask[client.WhyNotReady](q, "why_not_ready", map[string]any{"task_id": q.PathValue("id")})
	return v, err
}

func (v *taskView) title() (string, string) {
	return line(v.Task.Description), fmt.Sprintf("%s, priority %d, attempt %d of %d.", stateOf(v.Task.State).Word, v.Task.Priority, v.Task.Attempt, v.Task.MaxAttempts)
}

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
