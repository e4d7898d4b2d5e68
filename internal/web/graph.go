package web

import (
	"cmp"
	"slices"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// graph is what waits for what, laid out in columns: what must be done first is at the left.
type graph struct {
	Nodes         []graphNode
	Edges         []graphEdge
	Width, Height int
	Label         string // the same in a sentence

	tasks map[string]client.Task
	next  map[string][]string // who waits for it
	deps  map[string][]string // what it waits for
	memo  map[string]int
}

type graphNode struct {
	ID, Title, Note string
	Look            look
	X, Y, W         int
	Critical        bool
	Link            string
}

type graphEdge struct {
	Path     string
	Critical bool
}

const (
	nodeW, nodeH = 224, 32
	stepX, stepY = 268, 42
	nodeText     = 24 // characters that fit
)

// newGraph knows the tasks given and those that they wait for.
func newGraph(tasks map[string]client.Task) *graph {
	g := &graph{tasks: tasks, next: map[string][]string{}, deps: map[string][]string{}, memo: map[string]int{}}
	ids := make([]string, 0, len(tasks))
	for id := range tasks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		t := tasks[id]
		for _, d := range t.WaitsFor {
			if _, ok := tasks[d.TaskID]; !ok {
				tasks[d.TaskID] = client.Task{TaskID: d.TaskID, TaskType: d.TaskType, Status: d.Status, State: d.Status, Description: d.TaskType + " " + short(d.TaskID)}
			}
		}
		for _, d := range t.DependsOn {
			if _, ok := tasks[d]; ok { // what completed is not in the way
				g.deps[id], g.next[d] = append(g.deps[id], d), append(g.next[d], id)
			}
		}
	}
	return g
}

// depth is how many tasks the longest chain up to this one has.
func (g *graph) depth(id string) int {
	if n, ok := g.memo[id]; ok {
		return n
	}
	g.memo[id] = 1 // dependencies have no circles; a broken answer must not hang the page
	n := 1
	for _, d := range g.deps[id] {
		n = max(n, 1+g.depth(d))
	}
	g.memo[id] = n
	return n
}

// goals are tasks that wait and that nobody waits for, those at the end of the longest chains first.
func (g *graph) goals() []client.Task {
	var out []client.Task
	for id, t := range g.tasks {
		if len(g.deps[id]) > 0 && len(g.next[id]) == 0 {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b client.Task) int {
		return cmp.Or(cmp.Compare(g.depth(b.TaskID), g.depth(a.TaskID)), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.TaskID, b.TaskID))
	})
	return out[:min(len(out), 12)]
}

// chain is the longest way to a task, first things first.
func (g *graph) chain(id string) []string {
	var out []string
	for id != "" {
		out = append(out, id)
		best := ""
		for _, d := range g.deps[id] {
			if best == "" || g.depth(d) > g.depth(best) {
				best = d
			}
		}
		id = best
	}
	slices.Reverse(out)
	return out
}

// around is a task with everything before and behind it, nearest first, at most so many.
func (g *graph) around(id string, most int) []string {
	out, seen := []string{id}, map[string]bool{id: true}
	for _, way := range []map[string][]string{g.deps, g.next} {
		front := []string{id}
		for len(front) > 0 {
			var further []string
			for _, at := range front {
				for _, n := range way[at] {
					if !seen[n] && len(out) < most {
						seen[n] = true
						out, further = append(out, n), append(further, n)
					}
				}
			}
			front = further
		}
	}
	return out
}

// draw lays the tasks out. A task stands right of everything it waits for; within a column near what it hangs on.
func (g *graph) draw(ids, critical []string) *graph {
	in := map[string]int{}
	for _, id := range ids {
		in[id] = -1
	}
	var column func(id string) int
	column = func(id string) int {
		if in[id] >= 0 {
			return in[id]
		}
		in[id] = 0
		at := 0
		for _, d := range g.deps[id] {
			if _, ok := in[d]; ok {
				at = max(at, column(d)+1)
			}
		}
		in[id] = at
		return at
	}
	var columns [][]string
	for _, id := range ids {
		for at := column(id); len(columns) <= at; {
			columns = append(columns, nil)
		}
		columns[in[id]] = append(columns[in[id]], id)
	}
	row := map[string]float64{}
	for i, c := range columns {
		slices.SortStableFunc(c, func(a, b string) int {
			return cmp.Or(cmp.Compare(g.middle(a, row), g.middle(b, row)), cmp.Compare(g.tasks[a].Priority, g.tasks[b].Priority), cmp.Compare(a, b))
		})
		for k, id := range c {
			row[id] = float64(k)
		}
		columns[i] = c
	}
	tallest := 0
	for _, c := range columns {
		tallest = max(tallest, len(c))
	}
	out := &graph{Width: len(columns)*stepX - (stepX - nodeW) + 4, Height: tallest*stepY - (stepY - nodeH) + 4}
	at := map[string]graphNode{}
	for x, c := range columns {
		for y, id := range c {
			t := g.tasks[id]
			n := graphNode{ID: id, Title: cut(t.Description, nodeText), Look: stateOf(cmp.Or(t.State, t.Status)), X: 2 + x*stepX, Y: 2 + y*stepY + (tallest-len(c))*stepY/2, W: nodeW, Critical: slices.Contains(critical, id), Link: "/ui/tasks/" + id}
			n.Note = n.Look.Word
			at[id] = n
			out.Nodes = append(out.Nodes, n)
		}
	}
	for _, critical := range []bool{false, true} { // those that matter lie on top
		for _, id := range ids {
			for _, d := range g.deps[id] {
				from, ok := at[d]
				if e := (graphEdge{Critical: from.Critical && at[id].Critical}); ok && e.Critical == critical {
					e.Path = curve(from.X+nodeW, from.Y+nodeH/2, at[id].X-3, at[id].Y+nodeH/2)
					out.Edges = append(out.Edges, e)
				}
			}
		}
	}
	out.Label = number(len(out.Nodes), "task", "tasks") + " in " + number(len(columns), "step", "steps") + "; each waits for those to its left."
	return out
}

// middle is where what a task waits for stands, on average.
func (g *graph) middle(id string, row map[string]float64) float64 {
	sum, n := 0.0, 0
	for _, d := range g.deps[id] {
		if r, ok := row[d]; ok {
			sum, n = sum+r, n+1
		}
	}
	return sum / float64(max(n, 1))
}
