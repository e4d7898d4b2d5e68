package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// item is one thing that waits for a person, or broke, or soon will.
type item struct {
	ID, Icon, Kind, Title, Sub, At string
	Class                          string // is-needs, is-error or none
	What, Why, Next                string
	Link                           string // to the thing itself
	Agents                         []string
	Show                           string // what was said, word for word
	Snoozed                        bool
	Until                          string // snoozed until then
	Acts                           []button
}

// button opens the dialog of an act.
type button struct {
	Label, Action, ID, Key string
	Primary, Danger        bool
}

// URL is where the button's dialog is.
func (b button) URL() string { return "/ui/dialog/" + b.Action + "?id=" + escape(b.ID) }

// group of items, in the order of attention.
type group struct {
	Name, Class, Icon, Note string
	Items                   []item
}

// pulse are the counts that every view shows.
type pulse struct{ Needs, Broken, Running, Waiting, Idle, Unread int }

// Total is what the browser's tab says.
func (p pulse) Total() int { return p.Needs + p.Broken }

// Icon is the tab's icon.
func (p pulse) Icon() string {
	switch {
	case p.Broken > 0 && p.Needs == 0:
		return "error"
	case p.Needs > 0:
		return "needs"
	}
	return "ok"
}

// gathered is what the counts and the first view are made of.
type gathered struct {
	decide, broken, soon []item
	snoozed              []item
	agents               client.Agents
	waits                client.LockWaits
	unread               int
}

const (
	recent   = 24 * time.Hour // failures older than that are history
	soonFor  = time.Hour
	slowRun  = time.Minute // a run that waits longer has no runner that fits
	overlook = time.Hour   // writes past a lock are shown so long
)

// gather asks for everything that may concern a person. What cannot be asked fails the whole: a count that leaves
// something out would be a lie.
func gather(q *request) (*gathered, error) {
	g := &gathered{}
	kinds := []func(*request, *gathered) error{approvals, waitingActs, budgets, changesets, tasks, runs, runners, violations, questions}
	found := make([]gathered, len(kinds))
	var off client.SnoozedItems
	parts := []func() error{
		asks(q, &g.waits, "list_lock_waits", map[string]any{"limit": 500}),
		func() (err error) { g.agents, err = agents(q); return err },
		asks(q, &off, "list_snoozed", nil),
	}
	for i, kind := range kinds {
		parts = append(parts, func() error { return kind(q, &found[i]) })
	}
	if err := together(parts...); err != nil {
		return nil, err
	}
	for _, f := range found {
		g.decide, g.broken, g.soon, g.unread = append(g.decide, f.decide...), append(g.broken, f.broken...), append(g.soon, f.soon...), g.unread+f.unread
	}
	putOff(q, g, off)
	for _, list := range [][]item{g.decide, g.broken, g.soon} {
		slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(a.At, b.At) })
	}
	return g, nil
}

// agents are the agents of the project. People who act over the page have a mailbox as agents do, but are none.
func agents(q *request) (client.Agents, error) {
	if q.gathered != nil { // the counts were made of them
		return q.gathered.agents, nil
	}
	list, err := ask[client.Agents](q, "discover_agents", map[string]any{"limit": 2000})
	list.Agents = slices.DeleteFunc(list.Agents, func(a client.Agent) bool { return a.AgentType == "person" })
	return list, err
}

func (q *request) recently(at string, d time.Duration) bool { return q.now.Sub(parse(at)) < d }

func approvals(q *request, g *gathered) error {
	list, err := ask[client.ApprovalList](q, "list_approvals", map[string]any{"limit": 200})
	if err != nil {
		return err
	}
	for _, a := range list.Approvals {
		name := cmp.Or(a.Title, a.Branch, short(a.HeadSHA))
		x := item{
			ID: "ap-" + a.ApprovalID, Icon: "change", Kind: "Approval", At: a.OpenedAt, Link: "/ui/changes/" + a.ChangesetID,
			Title: "Approve: " + name, Sub: strings.Join([]string{cmp.Or(a.RequestedBy, "unknown author"), a.Policy}, " · "),
			Agents: []string{a.RequestedBy},
			What:   fmt.Sprintf("%s at %s waits for %s.", a.Repository, short(a.HeadSHA), number(a.RequiredCount-len(a.Votes), "approval", "approvals")),
			Why:    a.Reason, Next: "Approve or deny this very commit. A new push voids the question. It expires at " + clock(a.ExpiresAt) + ".",
		}
		if q.may(ident.Reviewer) {
			x.Acts = []button{{Label: "Approve", Action: "approve", ID: a.ApprovalID, Key: "a", Primary: true}, {Label: "Deny", Action: "deny", ID: a.ApprovalID, Key: "d"}}
		}
		g.decide = append(g.decide, x)
		if parse(a.ExpiresAt).Sub(q.now) < soonFor {
			g.soon = append(g.soon, item{ID: "ex-" + a.ApprovalID, Icon: "change", Kind: "Approval", At: a.ExpiresAt, Title: "Approval of " + name + " expires", Sub: "Nothing passes then", Link: x.Link, What: x.What, Next: x.Next})
		}
	}
	return nil
}

func changesets(q *request, g *gathered) error {
	list, err := ask[client.Changesets](q, "list_changesets", map[string]any{"limit": 200})
	if err != nil {
		return err
	}
	for _, c := range list.Changesets {
		name, link := cmp.Or(c.Title, c.Branch, short(c.HeadSHA)), "/ui/changes/"+c.ChangesetID
		rerun := button{Label: "Run again", Action: "rerun", ID: c.ChangesetID, Key: "a", Primary: true}
		switch {
		case (c.State == "failed" || c.State == "error") && q.recently(c.DecidedAt, recent):
			g.broken = append(g.broken, item{
				ID: "cs-" + c.ChangesetID, Icon: "error", Kind: stateOf(c.State).Word, At: c.DecidedAt, Link: link, Title: name + " " + strings.ToLower(stateOf(c.State).Word),
				Sub: strings.Join([]string{cmp.Or(c.AgentID, c.Actor, "unknown author"), c.Repository}, " · "), What: c.Reason, Agents: []string{c.AgentID},
				Next: "The author was told. Look at the evidence, then let it run again or leave it to the author.", Acts: []button{rerun},
			})
		case c.BlockedSince != "":
			g.decide = append(g.decide, item{
				ID: "cs-" + c.ChangesetID, Icon: "server", Kind: "Blocked", At: c.BlockedSince, Link: link, Title: "Nothing can verify " + name, Sub: c.Repository, What: c.Reason,
				Why: "No executor that the policy names can run it now.", Next: "Provide the executor, or decide by hand with a reason.",
				Acts: []button{rerun, {Label: "Decide by hand", Action: "override", ID: c.ChangesetID}},
			})
		}
	}
	return nil
}

func tasks(q *request, g *gathered) error {
	list, err := ask[client.Tasks](q, "list_work", map[string]any{"status": []any{"dead", "failed"}, "limit": 100})
	if err != nil {
		return err
	}
	for _, t := range list.Tasks {
		if !q.recently(t.UpdatedAt, recent) {
			continue
		}
		word := strings.ToLower(stateOf(t.Status).Word)
		g.broken = append(g.broken, item{
			ID: "t-" + t.TaskID, Icon: stateOf(t.Status).Icon, Kind: "Task", At: t.UpdatedAt, Link: "/ui/tasks/" + t.TaskID, Title: line(t.Description) + ": " + word,
			Sub: fmt.Sprintf("attempt %d of %d · %s", t.Attempt, t.MaxAttempts, t.TaskType), What: cmp.Or(t.ErrorMessage, "It ended without a message."),
			Why: "Tasks that depend on it stay blocked.", Next: "Try it again, or cancel it and what depends on it.",
			Acts: []button{{Label: "Try again", Action: "retry", ID: t.TaskID, Key: "a", Primary: true}, {Label: "Cancel", Action: "cancel-task", ID: t.TaskID}},
		})
	}
	return nil
}

func runs(q *request, g *gathered) error {
	for _, status := range []string{"failed", "pending"} {
		list, err := ask[client.Runs](q, "list_runs", map[string]any{"status": status, "newest": true, "limit": 50})
		if err != nil {
			return err
		}
		for _, r := range list.Runs {
			link := "/ui/sessions/" + r.SessionID
			switch {
			case status == "failed" && r.CompletedAt != nil && q.recently(*r.CompletedAt, recent):
				g.broken = append(g.broken, item{
					ID: "r-" + r.RunID, Icon: "error", Kind: "Run", At: *r.CompletedAt, Link: link, Title: "Run of " + cmp.Or(deref(r.AgentName), "an agent") + " failed", Sub: line(r.Prompt), What: deref(r.Error),
					Next: "Look at its session. A parent that waits was told.",
				})
			case status == "pending" && !q.recently(r.CreatedAt, slowRun):
				g.decide = append(g.decide, item{
					ID: "r-" + r.RunID, Icon: "server", Kind: "Run", At: r.CreatedAt, Link: link, Title: "No runner takes the run of " + cmp.Or(deref(r.AgentName), "an agent"), Sub: line(r.Prompt),
					What: "It has waited " + span(q.now.Sub(parse(r.CreatedAt))) + ".", Why: "No runner is online that fits its demands, or all are busy.",
					Next: "Start a runner that fits (coordctl run why " + r.RunID + " says what it asks for), or stop the run.", Acts: []button{{Label: "Stop the run", Action: "stop-run", ID: r.RunID, Danger: true}},
				})
			}
		}
	}
	return nil
}

func runners(q *request, g *gathered) error {
	list, err := ask[client.Runners](q, "list_runners", nil)
	if err != nil {
		return err
	}
	for _, r := range list.Runners {
		if r.Status == "stale" {
			g.broken = append(g.broken, item{
				ID: "rn-" + r.RunnerID, Icon: "off", Kind: "Runner", At: r.LastHeartbeat, Link: "/ui/runners", Title: "Runner on " + r.Hostname + " is lost", Sub: r.ExecutorProfile,
				What: "It was last heard " + age(r.LastHeartbeat, q.now) + " ago.", Why: "The machine, the network or the process is gone.", Next: "Its runs are offered again by themselves. Start it anew when you can.",
			})
		}
	}
	return nil
}

func violations(q *request, g *gathered) error {
	list, err := ask[client.Violations](q, "list_violations", map[string]any{"limit": 100})
	if err != nil {
		return err
	}
	for _, v := range list.Violations {
		if !q.recently(v.At, overlook) {
			continue
		}
		who := v.AgentID
		if v.Unknown {
			who = "somebody, perhaps " + v.AgentID
		}
		x := item{
			ID: "v-" + v.ID, Icon: "file", Kind: "Wrote unlocked", At: v.At, Link: "/ui/locks?q=" + escape(v.HeldPath), Agents: []string{v.AgentID}, Title: "Written without a lock: " + v.FilePath, Sub: who + " · held by " + v.LockedBy,
			What: fmt.Sprintf("%s changed %s while %s held %s.", who, v.FilePath, v.LockedBy, v.HeldPath), Why: cmp.Or(v.Bypass, v.Command, v.Tool),
			Next: "Both were told. Ask the one who wrote to undo it, or let them agree.",
		}
		if q.may(ident.Write) {
			x.Acts = []button{{Label: "Message both", Action: "message", ID: v.AgentID + "," + v.LockedBy, Key: "m", Primary: true}}
		}
		g.broken = append(g.broken, x)
	}
	return nil
}

func questions(q *request, g *gathered) error {
	list, err := ask[client.Messages](q, "list_messages", map[string]any{"box": "unread", "peek": true, "limit": 50})
	if err != nil {
		return err
	}
	g.unread = list.Unread
	for _, m := range list.Messages {
		if !m.AckRequired && m.Kind != "question" && m.Kind != "request" {
			continue
		}
		g.decide = append(g.decide, item{
			ID: "m-" + m.MessageID, Icon: "msg", Kind: "Question", At: m.CreatedAt, Link: "/ui/inbox?thread=" + escape(m.Thread), Agents: []string{m.From}, Title: m.From + " asks: " + line(m.Text), Sub: m.Kind, What: m.Text,
			Next: "Answer. " + m.From + " reads it with its next call.", Acts: []button{{Label: "Answer", Action: "reply", ID: m.MessageID + "," + m.From, Key: "a", Primary: true}},
		})
	}
	return nil
}

// line is the beginning of a text, on one line.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 90 {
		s = strings.TrimSpace(string(r[:90])) + "…"
	}
	return s
}

// pulseOf counts; the first view shares its work.
func pulseOf(q *request) (pulse, error) {
	g, err := gather(q)
	if err != nil {
		return pulse{}, err
	}
	q.gathered = g
	p := pulse{Needs: len(g.decide), Broken: len(g.broken), Unread: g.unread}
	waiting := map[string]bool{}
	for _, w := range g.waits.Waits {
		waiting[w.SessionID] = true
	}
	for _, a := range g.agents.Agents {
		switch {
		case waiting[a.SessionID]:
			p.Waiting++
		case a.Status == "active":
			p.Running++
		case a.Status == "idle":
			p.Idle++
		}
	}
	return p, nil
}

// needsView is the first view.
type needsView struct {
	Groups   []group
	Selected *item
	Running  []string // who is at work, for the good empty state
	Show     string
	Shows    []segment
	Chosen   bool // the item was asked for: on a phone it has the page for itself
	Count    int
	oldest   string
	now      time.Time
}

func needs(q *request) (any, error) {
	g := q.gathered
	if g == nil {
		var err error
		if g, err = gather(q); err != nil {
			return nil, err
		}
	}
	v := &needsView{now: q.now, Count: len(g.decide) + len(g.broken), Show: "open", Chosen: q.URL.Query().Get("item") != ""}
	v.Shows = []segment{{Key: "open", Text: "Open", URL: "/ui/", Count: v.Count}, {Key: "snoozed", Text: "Snoozed", URL: "/ui/?show=snoozed", Count: len(g.snoozed)}}
	parts := []group{
		{"To decide", "is-needs", "needs", "agents may be stopped until you decide", g.decide}, {"Broken", "is-error", "error", "", g.broken}, {"Soon", "", "clock", "nothing to do yet", g.soon},
	}
	if q.URL.Query().Get("show") == "snoozed" {
		v.Show, parts = "snoozed", []group{{"Snoozed", "is-wait", "clock", "hidden for you alone", g.snoozed}}
	}
	for _, part := range parts {
		if len(part.Items) > 0 {
			v.Groups = append(v.Groups, part)
		}
		for i := range part.Items {
			x := &part.Items[i]
			x.Class = part.Class
			if q.URL.Query().Get("item") == x.ID || v.Selected == nil && q.URL.Query().Get("item") == "" {
				v.Selected = x
			}
			if part.Name != "Soon" && (v.oldest == "" || x.At < v.oldest) {
				v.oldest = x.At
			}
		}
	}
	for _, a := range g.agents.Agents {
		if a.Status == "active" && len(v.Running) < 12 {
			v.Running = append(v.Running, a.AgentID)
		}
	}
	return v, nil
}

func (v *needsView) title() (string, string) {
	if v.Count == 0 {
		return "Nothing needs you", map[bool]string{true: "No agent is at work.", false: "Agents are at work; you will see here when one needs you."}[len(v.Running) == 0]
	}
	return count(v.Count) + " " + plural(v.Count, "thing needs you", "things need you"), "The oldest has waited since " + age(v.oldest, v.now) + "."
}
