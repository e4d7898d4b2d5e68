package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// boardView is the queue: by state, as the graph of what waits for what, or as a list.
type boardView struct {
	As      string
	Columns []column
	Graph   *graph
	Goal    string
	Goals   []client.Task // what others lead to
	State   string
	Tasks   []client.Task
	Next    string
	stats   client.WorkStats
	chain   []string
	empty   bool
}

type column struct {
	Name, Key string
	Look      look
	Tasks     []client.Task
	Total     int
	More      bool
	All       bool
}

const (
	perColumn = 50
	perList   = 100
	graphFrom = 500 // waiting tasks that are looked at for the graph
	boardDAG  = 14  // nodes of the strip above the board; a larger graph is shown as its longest chain
)

func board(q *request) (any, error) {
	query := q.URL.Query()
	v := &boardView{As: cmp.Or(query.Get("as"), "board"), Goal: query.Get("goal")}
	stats := asks(q, &v.stats, "work_stats", nil)
	if v.As == "list" {
		return v, together(stats, func() error { return v.list(q) })
	}
	known := map[string]client.Task{}
	columns := []struct {
		name, key string
		states    []any
	}{
		{"Ready", "ready", nil},
		{"Claimed", "claimed", []any{"claimed", "running"}},
		{"Verifying", "verifying", []any{"verifying"}},
		{"Blocked", "blocked", nil},
		{"Parked", "scheduled", []any{"scheduled"}},
	}
	lists, parts := make([]client.Tasks, len(columns)), []func() error{stats}
	shown := func(key string) int {
		if query.Get("more") == key {
			return maxRows
		}
		return perColumn
	}
	for i, c := range columns {
		limit := shown(c.key)
		if c.key == "blocked" || v.As == "graph" {
			limit = graphFrom
		}
		name, args := "list_work", map[string]any{"status": c.states, "limit": limit}
		switch c.key {
		case "ready": // in the order in which they are claimed
			name, args = "ready_work", map[string]any{"limit": limit}
		case "blocked": // which says for each why
			name, args = "blocked_work", map[string]any{"limit": limit}
		}
		parts = append(parts, asks(q, &lists[i], name, args))
	}
	if err := together(parts...); err != nil {
		return nil, err
	}
	totals := map[string]int{"ready": v.stats.Ready, "blocked": v.stats.Blocked, "scheduled": v.stats.Scheduled}
	for i, c := range columns {
		list := lists[i]
		for _, t := range list.Tasks {
			known[t.TaskID] = t
		}
		slices.SortStableFunc(list.Tasks, func(a, b client.Task) int {
			return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.CreatedAt, b.CreatedAt))
		})
		cut := list.Tasks[:min(len(list.Tasks), shown(c.key))]
		v.Columns = append(v.Columns, column{Name: c.name, Key: c.key, Look: stateOf(c.key), Tasks: cut, Total: max(totals[c.key], len(list.Tasks)), More: list.Truncated || len(cut) < len(list.Tasks), All: shown(c.key) == maxRows})
	}
	for _, c := range v.Columns {
		for i := range c.Tasks {
			c.Tasks[i].Why = after(c.Tasks[i], known)
		}
	}
	v.empty = len(known) == 0
	g := newGraph(known)
	v.Goals = g.goals()
	goal := v.Goal
	if goal == "" && len(v.Goals) > 0 {
		goal = v.Goals[0].TaskID
	}
	if goal == "" {
		return v, nil
	}
	v.chain = g.chain(goal)
	around := g.around(goal, 60)
	if v.As == "board" && len(around) > boardDAG {
		around = v.chain
	}
	v.Graph = g.draw(around, v.chain)
	for i, id := range v.chain {
		v.chain[i] = line(cmp.Or(known[id].Description, id))
	}
	return v, nil
}

// after says what a blocked task waits for by name. Why it can never begin is said as the service says it.
func after(t client.Task, known map[string]client.Task) string {
	for _, d := range t.WaitsFor {
		if slices.Contains([]string{"failed", "dead", "cancelled"}, d.Status) {
			return strings.TrimPrefix(t.Why, "blocked: ")
		}
	}
	if len(t.WaitsFor) == 0 {
		return t.Why
	}
	first := t.WaitsFor[0]
	text := "After " + cut(cmp.Or(known[first.TaskID].Description, first.TaskType+" "+short(first.TaskID)), 50)
	if n := len(t.WaitsFor) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if _, more, ok := strings.Cut(t.Why, "; "); ok {
		text += "; " + more
	}
	return text
}

// list is one state, page by page.
func (v *boardView) list(q *request) error {
	query := q.URL.Query()
	v.State = cmp.Or(query.Get("state"), "ready")
	args := map[string]any{"status": []any{v.State}, "limit": perList}
	if at := query.Get("after"); at != "" {
		args["cursor"] = at
	}
	list, err := ask[client.Tasks](q, "list_work", args)
	v.Tasks, v.Next = list.Tasks, list.NextCursor
	return err
}

func (v *boardView) title() (string, string) {
	if v.empty && v.As != "list" {
		return "No work is waiting", ""
	}
	sentence := fmt.Sprintf("%s in work, %s.", number(v.stats.Claimed, "task", "tasks"), number(v.stats.Blocked, "is blocked", "are blocked"))
	if n := len(v.chain); n > 1 {
		sentence = fmt.Sprintf("%s %s The longest chain has %s tasks: it begins with “%s” and ends with “%s”.", thousands(v.stats.Claimed)+" in work,", number(v.stats.Blocked, "blocked.", "blocked."), strings.ToLower(count(n)), v.chain[0], v.chain[n-1])
	}
	return fmt.Sprintf("%s %s ready", count(v.stats.Ready), plural(v.stats.Ready, "task is", "tasks are")), sentence
}

// taskView is one task, with why it is not ready and what it stands between.
type taskView struct {
	Task    client.Task
	Why     client.WhyNotReady
	Graph   *graph
	Changes []client.Changeset
	Ended   bool
}

func task(q *request) (any, error) {
	id := q.PathValue("id")
	got, err := ask[client.TaskReply](q, "get_task", map[string]any{"task_id": id})
	if err != nil {
		return nil, err
	}
	if got.Task == nil {
		return nil, noSuch("task", id)
	}
	v := &taskView{Task: *got.Task, Ended: slices.Contains([]string{"completed", "failed", "dead", "cancelled"}, got.Task.Status)}
	if v.Why, err = ask[client.WhyNotReady](q, "why_not_ready", map[string]any{"task_id": id}); err != nil {
		return nil, err
	}
	changes, err := ask[client.Changesets](q, "list_changesets", map[string]any{"task_id": id, "limit": 5})
	if err != nil {
		return nil, err
	}
	v.Changes = changes.Changesets
	known := map[string]client.Task{id: v.Task}
	blocked, err := ask[client.Tasks](q, "list_work", map[string]any{"status": []any{"blocked"}, "limit": graphFrom})
	if err != nil {
		return nil, err
	}
	for _, t := range blocked.Tasks {
		known[t.TaskID] = t
	}
	for i, dep := range v.Task.DependsOn {
		if _, ok := known[dep]; !ok && i < 20 {
			if d, err := ask[client.TaskReply](q, "get_task", map[string]any{"task_id": dep}); err == nil && d.Task != nil {
				known[dep] = *d.Task
			}
		}
	}
	g := newGraph(known)
	if around := g.around(id, 30); len(around) > 1 {
		v.Graph = g.draw(around, []string{id})
	}
	return v, nil
}

func (v *taskView) title() (string, string) {
	return line(v.Task.Description), fmt.Sprintf("%s, priority %d, attempt %d of %d.", stateOf(v.Task.State).Word, v.Task.Priority, v.Task.Attempt, v.Task.MaxAttempts)
}
