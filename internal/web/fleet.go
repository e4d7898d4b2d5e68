package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// manyAgents is from where on the fleet is a table unless cards are asked for.
const manyAgents = 60

// fleetView shows who works on what, those who are stopped first.
type fleetView struct {
	Groups                        []fleetGroup
	By, As                        string
	Many                          bool
	total, active, stopped, locks int
	waits                         int
}

type fleetGroup struct {
	Name, Note string
	Look       look
	Cards      []card
}

// card is one session of an agent.
type card struct {
	client.Agent
	State      look
	Word       string // of the badge, when it needs a person or broke
	Rule       string // why it is in this state
	Item       string // what to decide about it
	Task       *client.Task
	File       string // what it took last
	Waits      []client.LockWait
	rank       int
	What, Link string
	Spent      string // in the last 30 days
}

// The states of a card, in the order of attention.
var fleetStates = []struct {
	name, note string
	look       look
}{
	{"Needs you", "act on these first", look{"is-needs", "needs", "Needs you"}},
	{"Broken", "", look{"is-error", "error", "Broken"}},
	{"Held", "somebody keeps them from new work", look{"is-wait", "pause", "Held"}},
	{"Waiting", "for a lock; they go on by themselves", look{"is-wait", "wait", "Waiting"}},
	{"Running", "", look{"is-run", "run", "Running"}},
	{"Idle", "open, not heard for 15 minutes", look{"is-idle", "idle", "Idle"}},
	{"Gone", "ended today", look{"is-idle", "off", "Gone"}},
}

const (
	fleetNeeds = iota
	fleetBroken
	fleetHeld
	fleetWaiting
	fleetRunning
	fleetIdle
	fleetGone
)

func fleet(q *request) (any, error) {
	cards, err := cards(q)
	if err != nil {
		return nil, err
	}
	query := q.URL.Query()
	v := &fleetView{By: cmp.Or(query.Get("group"), "state"), As: query.Get("as"), Many: len(cards) > manyAgents, waits: len(q.gathered.waits.Waits)}
	if v.As == "" {
		v.As = map[bool]string{true: "table", false: "cards"}[v.Many]
	}
	at := map[string]int{}
	for _, c := range cards {
		v.locks += c.LocksHeld
		if c.rank != fleetGone {
			v.total++
		}
		if c.rank <= fleetBroken {
			v.stopped++
		}
		if c.rank == fleetRunning {
			v.active++
		}
		g := fleetGroup{Name: fleetStates[c.rank].name, Note: fleetStates[c.rank].note, Look: fleetStates[c.rank].look}
		switch v.By {
		case "task":
			g = fleetGroup{Name: "Without a task", Look: look{"is-idle", "board", ""}}
			if c.Task != nil {
				g.Name = c.Task.TaskType
			}
		case "type":
			g = fleetGroup{Name: c.AgentType, Look: look{"is-idle", "fleet", ""}}
		}
		i, ok := at[g.Name]
		if !ok {
			i = len(v.Groups)
			at[g.Name], v.Groups = i, append(v.Groups, g)
		}
		v.Groups[i].Cards = append(v.Groups[i].Cards, c)
	}
	return v, nil
}

// cards are the sessions of the project, those that need a person first, at most maxRows.
func cards(q *request) ([]card, error) {
	g := q.gathered
	if g == nil {
		var err error
		if g, err = gather(q); err != nil {
			return nil, err
		}
		q.gathered = g
	}
	var held client.Locks
	var work client.Tasks
	var costs map[string]string
	if err := together(
		asks(q, &held, "check_locks", map[string]any{"limit": 10_000}),
		asks(q, &work, "list_work", map[string]any{"status": []any{"claimed", "running", "verifying"}, "limit": 500}),
		func() error { costs = spent(q); return nil },
	); err != nil {
		return nil, err
	}
	newest, waits, tasks := map[string]client.Lock{}, map[string][]client.LockWait{}, map[string]*client.Task{}
	for _, l := range held.Locks {
		if l.LockedAt >= newest[l.LockedBy+"|"+l.SessionID].LockedAt {
			newest[l.LockedBy+"|"+l.SessionID] = l
		}
	}
	for _, w := range g.waits.Waits {
		waits[w.AgentID+"|"+w.SessionID] = append(waits[w.AgentID+"|"+w.SessionID], w)
	}
	for i := range work.Tasks {
		tasks[work.Tasks[i].ClaimedBy] = &work.Tasks[i]
	}
	var out []card
	for _, a := range g.agents.Agents {
		if a.Status == "disconnected" && !q.recently(a.LastSeen, recent) {
			continue
		}
		c := card{Agent: a, File: newest[a.AgentID+"|"+a.SessionID].FilePath, Waits: waits[a.AgentID+"|"+a.SessionID], Link: "/ui/agents/" + escapePath(a.AgentID), Spent: costs[a.AgentID]}
		if a.TasksHeld > 0 {
			c.Task = tasks[a.AgentID]
		}
		c.What = a.CurrentTask
		if c.Task != nil {
			c.What = line(c.Task.Description)
		}
		c.judge(q, g)
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b card) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.AgentID, b.AgentID)) })
	return out[:min(len(out), maxRows)], nil
}

// judge finds the state of a card and the rule that made it.
func (c *card) judge(q *request, g *gathered) {
	set := func(rank int) { c.rank, c.State = rank, fleetStates[rank].look }
	about := func(list []item) *item {
		for i := range list {
			if slices.Contains(list[i].Agents, c.AgentID) {
				return &list[i]
			}
		}
		return nil
	}
	if c.Status == "disconnected" {
		set(fleetGone)
		return
	}
	if x := about(g.decide); x != nil {
		set(fleetNeeds)
		c.Word, c.Rule, c.Item = x.Kind, x.Title, x.ID
		return
	}
	if x := about(g.broken); x != nil {
		set(fleetBroken)
		c.Word, c.Rule, c.Item = x.Kind, x.Title, x.ID
		return
	}
	switch {
	case c.Hold != "":
		set(fleetHeld)
		c.Word = map[string]string{"pause": "Paused", "drain": "Draining", "budget": "Budget used up"}[c.Hold]
		c.Rule = c.Word + " by " + cmp.Or(c.HeldBy, "a budget")
		if c.HoldReason != "" { // first, as a card shows the beginning alone
			c.Rule = c.HoldReason + ". " + c.Rule
		}
	case len(c.Waits) > 0:
		set(fleetWaiting)
		w := c.Waits[0]
		c.Rule = fmt.Sprintf("Waits for %s, held by %s, since %s", base(w.FilePath), cmp.Or(w.HeldBy, "others in line"), age(w.Since, q.now))
	case c.Status == "idle":
		set(fleetIdle)
	default:
		set(fleetRunning)
	}
}

func (v *fleetView) title() (string, string) {
	if v.total == 0 && len(v.Groups) == 0 {
		return "No agents yet", ""
	}
	sentence := number(v.locks, "lock", "locks") + " held, " + number(v.waits, "wait", "waits") + "."
	if v.stopped > 0 {
		sentence = fmt.Sprintf("%s %s by something you or a gateway must settle. %s", count(v.stopped), plural(v.stopped, "is stopped", "are stopped"), sentence)
	}
	return fmt.Sprintf("%s, %d at work", number(v.total, "agent", "agents"), v.active), sentence
}

// agentView is one agent: all its sessions, what it holds, waits for, did.
type agentView struct {
	ID      string
	Cards   []card
	Locks   []client.Lock
	Waits   []client.LockWait
	Tasks   []client.Task
	Audit   []client.AuditEntry
	Items   []item
	Changes []client.Changeset
	State   look
	Hold    string // pause, drain or budget
}

func agent(q *request) (any, error) {
	v := &agentView{ID: q.PathValue("id")}
	list, err := cards(q)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.AgentID == v.ID {
			v.Cards, v.Waits = append(v.Cards, c), append(v.Waits, c.Waits...)
		}
	}
	held, err := ask[client.Locks](q, "check_locks", map[string]any{"locked_by": v.ID, "limit": 200})
	if err != nil {
		return nil, err
	}
	work, err := ask[client.Tasks](q, "list_work", map[string]any{"claimed_by": v.ID, "limit": 20})
	if err != nil {
		return nil, err
	}
	done, err := ask[client.AuditEntries](q, "query_audit", map[string]any{"agent_id": v.ID, "limit": 30})
	if err != nil {
		return nil, err
	}
	changes, err := ask[client.Changesets](q, "list_changesets", map[string]any{"agent_id": v.ID, "limit": 10})
	if err != nil {
		return nil, err
	}
	if len(v.Cards) == 0 && len(done.Entries) == 0 {
		return nil, noSuch("agent", v.ID)
	}
	v.Locks, v.Tasks, v.Audit, v.Changes = held.Locks, work.Tasks, done.Entries, changes.Changesets
	for _, part := range [][]item{q.gathered.decide, q.gathered.broken} {
		for _, x := range part {
			if slices.Contains(x.Agents, v.ID) {
				v.Items = append(v.Items, x)
			}
		}
	}
	v.State = fleetStates[fleetGone].look
	if len(v.Cards) > 0 {
		v.State, v.Hold = v.Cards[0].State, v.Cards[0].Hold
	}
	return v, nil
}

func (v *agentView) title() (string, string) {
	what := "It is gone."
	if len(v.Cards) > 0 {
		what = cmp.Or(v.Cards[0].What, "It says nothing about what it does.")
	}
	return v.ID, what
}
