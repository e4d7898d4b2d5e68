package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// What a person does to agents and runners, and to items of the first view.
// agentActions are what a person does to agents and runners.
func agentActions() map[string]action {
	agentOnly := func(id, reason string, _ url.Values) map[string]any {
		return withReason(map[string]any{"agent": id}, "reason", reason)
	}
	return map[string]action{
		"pause": {
			Title: "Pause the agent", Verb: "Pause it", Scope: ident.Reviewer, Reason: "Reason, shown to the agent", operation: "pause_agent", args: agentOnly, Bulk: true, preview: previewHold, toast: "It is paused. Resume it when it may go on.",
			effects: []string{"It gets no new lock and no new task until somebody resumes it.", "It keeps what it holds; locks run out as they would. It is told with its next call."},
		},
		"resume": {
			Title: "Let the agent go on", Verb: "Resume it", Scope: ident.Reviewer, Reason: "Reason, shown to the agent", Optional: true, operation: "resume_agent", args: agentOnly, Bulk: true, toast: "It goes on.",
			effects: []string{"It may take locks and tasks again at once, and is told so."},
		},
		"drain": {
			Title: "Drain the agent", Verb: "Drain it", Scope: ident.Reviewer, Reason: "Reason, shown to the agent", operation: "drain_agent", args: agentOnly, Bulk: true, preview: previewHold, toast: "It finishes what it has and takes nothing new.",
			effects: []string{"It finishes what it has, with the locks that needs, and gets no new task."},
		},
		"undrain": {
			Title: "Let the agent take work again", Verb: "End the drain", Scope: ident.Reviewer, Reason: "Reason, shown to the agent", Optional: true, operation: "undrain_agent", args: agentOnly, Bulk: true, toast: "It takes work again.",
			effects: []string{"It is offered tasks again at once."},
		},
		"nudge": {
			Title: "Nudge the agent", Verb: "Nudge it", Scope: ident.Reviewer, Reason: "What to say; empty asks where it stands", Optional: true, operation: "nudge_agent", toast: "It is told with its next call.",
			effects: []string{"It reads it before anything else, with its next call. A nudge that was not read yet is not repeated."},
			args: func(id, reason string, _ url.Values) map[string]any {
				return withReason(map[string]any{"agent": id}, "text", reason)
			},
		},
		"hand-over": {
			Title: "Hand its work over", Verb: "Hand it over", Scope: ident.Reviewer, Reason: "What the next one must know", operation: "hand_over", preview: previewHandOver, NoUndo: true, toast: "It changed hands. Both are told.",
			Fields:  []field{{Name: "to", Label: "To", Kind: "select"}},
			effects: []string{"All its tasks and locks move, or none. Tokens rise: what the old holder still sends is refused.", "Both are told; your words are kept as a handoff."},
			args: func(id, reason string, form url.Values) map[string]any {
				return map[string]any{"from": id, "to": form.Get("to"), "note": reason}
			},
		},
		"drain-runner": {
			Title: "Drain the runner", Verb: "Drain it", Scope: ident.Reviewer, Reason: "Reason, shown where it is listed", Optional: true, operation: "drain_runner", args: about1("runner_id", "reason"), Bulk: true, toast: "It finishes what it has and takes nothing new.",
			effects: []string{"It finishes the runs it has and is offered no new one.", "Runs that only it could execute wait."},
		},
		"undrain-runner": {
			Title: "Let the runner take runs again", Verb: "End the drain", Scope: ident.Reviewer, operation: "undrain_runner", args: about1("runner_id", ""), Bulk: true, toast: "It takes runs again.",
			effects: []string{"It is offered runs at once."},
		},
	}
}

// personActions are about what waits for a person, and about money.
func personActions() map[string]action {
	return map[string]action{
		"snooze": {
			Title: "Put it off", Verb: "Put it off", Scope: ident.Write, operation: "snooze", toast: "It comes back by itself.",
			Fields:  []field{{Name: "for", Label: "For", Kind: "select", Value: "1 hour", Options: []string{"15 minutes", "1 hour", "4 hours", "1 day"}}},
			effects: []string{"It is hidden for you alone. Agents that wait for it go on waiting."},
			args: func(id, _ string, form url.Values) map[string]any {
				return map[string]any{"item": id, "minutes": map[string]any{"15 minutes": 15, "4 hours": 240, "1 day": 1440, "1 hour": 60}[cmp.Or(form.Get("for"), "1 hour")]}
			},
		},
		"unsnooze": {
			Title: "Show it again", Verb: "Show it again", Scope: ident.Write, operation: "unsnooze", toast: "It is back.", effects: []string{"It is shown among what is open."},
			args: func(id, _ string, _ url.Values) map[string]any { return map[string]any{"item": id} },
		},
		"approve-act": {
			Title: "Let it happen", Verb: "Let it happen", Scope: ident.Reviewer, Reason: "Comment, told to who asked", Optional: true, operation: "approve_act", args: about1("act_id", "comment"), preview: previewAct, toast: "It is let through.",
		},
		"deny-act": {
			Title: "Refuse it", Verb: "Refuse and tell who asked", Scope: ident.Reviewer, Reason: "Reason, told to who asked", operation: "deny_act", args: about1("act_id", "comment"), preview: previewAct, toast: "Refused. Who asked is told.",
			effects: []string{"It does not happen. The same may be asked again."},
		},
		"set-budget": {
			Title: "Set a budget", Verb: "Set the budget", Scope: ident.Admin, Reason: "Reason", Optional: true, operation: "set_budget", toast: "The budget holds from now on.",
			Fields: []field{
				{Name: "name", Label: "Name", Kind: "text", Value: "project"},
				{Name: "agent", Label: "Agent, empty for the whole project", Kind: "text"},
				{Name: "usd", Label: "Limit in US dollars", Kind: "number", Value: "50", Min: 1, Max: 1000000},
				{Name: "period", Label: "Period, in UTC", Kind: "select", Value: "day", Options: []string{"day", "month", "total"}},
				{Name: "action", Label: "Over the limit", Kind: "select", Value: "stop", Options: []string{"stop", "warn"}},
			},
			effects: []string{"Stop: nothing new is claimed or dispatched until the period ends or the limit is raised. What runs goes on."},
			args: func(_, reason string, form url.Values) map[string]any {
				usd, _ := strconv.ParseFloat(form.Get("usd"), 64)
				m := map[string]any{"name": form.Get("name"), "limit_usd": usd, "period": form.Get("period"), "action": form.Get("action")}
				return withReason(withReason(m, "agent", form.Get("agent")), "reason", reason)
			},
		},
		"delete-budget": {
			Title: "Remove the budget", Verb: "Remove it", Scope: ident.Admin, operation: "delete_budget", args: about1("name", ""), Danger: true, toast: "The budget is gone.",
			effects: []string{"Work that it stopped goes on at once."},
		},
	}
}

// previewHold says what the agent keeps.
func previewHold(q *request, ids []string, d *dialogData) error {
	if slices.Contains(ids, "*") {
		d.About = "Every agent of the project"
		return nil
	}
	held, err := ask[client.Locks](q, "check_locks", map[string]any{"locked_by": strings.Join(ids[:min(1, len(ids))], ""), "limit": 1000})
	if err == nil && len(ids) == 1 {
		d.add("lock", "", "It holds %s now.", number(len(held.Locks), "lock", "locks"))
	}
	return err
}

// previewHandOver counts what moves and offers those who could take it.
func previewHandOver(q *request, ids []string, d *dialogData) error {
	id := strings.Join(ids, "")
	held, err := ask[client.Locks](q, "check_locks", map[string]any{"locked_by": id, "limit": 1000})
	if err != nil {
		return err
	}
	work, err := ask[client.Tasks](q, "list_work", map[string]any{"claimed_by": id, "status": []any{"claimed", "running"}, "limit": 100})
	if err != nil {
		return err
	}
	d.add("arrow", "is-run", "%s and %s change hands.", number(len(work.Tasks), "task", "tasks"), number(len(held.Locks), "lock", "locks"))
	list, err := agents(q)
	for _, a := range list.Agents {
		if a.AgentID != id && a.Status != "disconnected" && a.Hold == "" && !slices.Contains(d.Fields[0].Options, a.AgentID) {
			d.Fields[0].Options = append(d.Fields[0].Options, a.AgentID)
		}
	}
	slices.Sort(d.Fields[0].Options)
	return err
}

// previewAct shows what was asked, word for word.
func previewAct(q *request, ids []string, d *dialogData) error {
	list, err := ask[client.Acts](q, "list_acts", map[string]any{"limit": 200})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list.Acts, func(a client.Act) bool { return slices.Contains(ids, a.ActID) })
	if at < 0 {
		d.About = ""
		d.add("x", "is-error", "It was decided already, or it expired.")
		return nil
	}
	a := list.Acts[at]
	d.About = a.Title
	if d.Name == "approve-act" {
		if a.Kind == "command" {
			d.add("arrow", "is-needs", "%s may run this very command once; the approval is used up by it.", cmp.Or(a.AgentID, a.RequestedBy))
		} else {
			d.add("arrow", "is-needs", "It is done at once, in the name of %s.", a.RequestedBy)
		}
	}
	return nil
}

// waitingActs are acts that wait for a person: destructive commands, acts that need two.
func waitingActs(q *request, g *gathered) error {
	list, err := ask[client.Acts](q, "list_acts", map[string]any{"limit": 200})
	if err != nil {
		return err
	}
	for _, a := range list.Acts {
		x := item{
			ID: "act-" + a.ActID, Icon: "needs", Kind: map[bool]string{true: "Guardrail", false: "Second person"}[a.Kind == "command" || a.Kind == "work"], At: a.CreatedAt, Title: a.Title, Sub: cmp.Or(a.AgentID, a.RequestedBy) + " · " + strings.ReplaceAll(a.Operation, "_", " "),
			What: fmt.Sprintf("%s asks to do it.", cmp.Or(a.AgentID, a.RequestedBy)), Why: a.Why, Next: "Let it happen once, or refuse it. It expires at " + clock(a.ExpiresAt) + ".", Agents: []string{a.AgentID},
		}
		if len(a.Arguments) > 0 {
			x.Show = pretty(a.Arguments)
		}
		if q.may(ident.Reviewer) {
			x.Acts = []button{{Label: "Let it happen", Action: "approve-act", ID: a.ActID, Key: "a", Primary: true}, {Label: "Refuse", Action: "deny-act", ID: a.ActID, Key: "d"}}
		}
		g.decide = append(g.decide, x)
	}
	return nil
}

// budgets that stop work, or soon will.
func budgets(q *request, g *gathered) error {
	list, err := ask[client.Budgets](q, "list_budgets", nil)
	if err != nil {
		return err
	}
	for _, b := range list.Budgets {
		x := item{
			ID: "bu-" + b.Name, Icon: "clock", Kind: "Budget", At: cmp.Or(b.StateSince, b.PeriodStart), Link: "/ui/cost", Sub: cmp.Or(b.Agent, "the whole project") + " · " + b.Period,
			What: fmt.Sprintf("%s of %s are spent in this %s.", dollars(b.SpentUSD), dollars(b.LimitUSD), b.Period), Agents: []string{b.Agent},
		}
		if b.LimitUSD == 0 {
			x.What = fmt.Sprintf("%s of %s tokens are used in this %s.", tokens(b.SpentTokens), tokens(b.LimitTokens), b.Period)
		}
		switch b.State {
		case "stopped":
			x.Title, x.Why, x.Next = "Budget "+b.Name+" is used up: nothing new is dispatched", "It is set to stop.", "Raise it, or wait until the period ends at "+clock(b.PeriodEnd)+"."
			if q.may(ident.Admin) {
				x.Acts = []button{{Label: "Raise it", Action: "set-budget", Key: "a", Primary: true}}
			}
			g.decide = append(g.decide, x)
		case "exceeded", "warned":
			x.Title, x.Next = fmt.Sprintf("Budget %s is at %.0f %%", b.Name, b.Percent), "Nothing yet."
			g.soon = append(g.soon, x)
		}
	}
	return nil
}

// putOff takes away what the person put off, and keeps it apart.
func putOff(q *request, g *gathered, list client.SnoozedItems) {
	until := map[string]string{}
	for _, s := range list.Items {
		if parse(s.Until).After(q.now) {
			until[s.Item] = s.Until
		}
	}
	for _, part := range []*[]item{&g.decide, &g.broken, &g.soon} {
		*part = slices.DeleteFunc(*part, func(x item) bool {
			at, off := until[x.ID]
			if off {
				x.Snoozed, x.Until = true, at
				if q.may(ident.Write) {
					x.Acts = append(x.Acts, button{Label: "Show it again", Action: "unsnooze", ID: x.ID})
				}
				g.snoozed = append(g.snoozed, x)
			}
			return off
		})
		for i := range *part {
			if q.may(ident.Write) {
				(*part)[i].Acts = append((*part)[i].Acts, button{Label: "Snooze", Action: "snooze", ID: (*part)[i].ID, Key: "s"})
			}
		}
	}
}

// costView is what was used, by day, agent, task, model or change, and the budgets.
type costView struct {
	By      string
	Sums    client.UsageSummary
	Days    []costDay
	Budgets []client.Budget
	Top     float64 // of the days
	May     bool
}

// costDay is a bar of the chart.
type costDay struct {
	X, W, Y, H, TextX string
	Text, Title       string
}

const costDays = 30

func cost(q *request) (any, error) {
	v := &costView{By: cmp.Or(q.URL.Query().Get("by"), "agent"), May: q.may(ident.Admin)}
	var err error
	if v.Sums, err = ask[client.UsageSummary](q, "usage_summary", map[string]any{"by": v.By, "limit": 100}); err != nil {
		return nil, err
	}
	days, err := ask[client.UsageSummary](q, "usage_summary", map[string]any{"by": "day", "limit": costDays})
	if err != nil {
		return nil, err
	}
	list, err := ask[client.Budgets](q, "list_budgets", nil)
	v.Budgets = list.Budgets
	v.chart(q, days.Groups)
	return v, err
}

// chart draws a bar a day, the latest at the right; days without use have none.
func (v *costView) chart(q *request, days []client.UsageSum) {
	byDay := map[string]client.UsageSum{}
	for _, d := range days {
		byDay[d.Key[:min(10, len(d.Key))]] = d
		v.Top = max(v.Top, d.CostUSD)
	}
	if v.Top == 0 {
		return
	}
	for i := range costDays {
		at := q.now.UTC().AddDate(0, 0, i-costDays+1)
		d := byDay[at.Format(time.DateOnly)]
		x, h := 100*float64(i)/costDays, 132*d.CostUSD/v.Top
		day := costDay{X: pct(x + 0.4), W: pct(100.0/costDays - 0.8), Y: fmt.Sprintf("%.1f", 150-h), H: fmt.Sprintf("%.1f", h), TextX: pct(x + 50.0/costDays), Title: at.Format("2 Jan") + ": " + dollars(d.CostUSD) + ", " + tokens(d.Tokens) + " tokens"}
		if i%5 == 4 {
			day.Text = at.Format("2 Jan")
		}
		v.Days = append(v.Days, day)
	}
}

func (v *costView) title() (string, string) {
	if v.Sums.Total.Reports == 0 {
		return "No use is reported yet", ""
	}
	sentence := tokens(v.Sums.Total.Tokens) + " tokens in 30 days."
	if n := v.Sums.Total.Uncosted; n > 0 {
		sentence += " " + number(int(n), "report names", "reports name") + " no cost."
	}
	return dollars(v.Sums.Total.CostUSD) + " in 30 days", sentence
}

// spent is what each agent cost in the last 30 days; empty when nothing is reported.
func spent(q *request) map[string]string {
	out := map[string]string{}
	sums, err := ask[client.UsageSummary](q, "usage_summary", map[string]any{"by": "agent", "limit": 1000})
	if err != nil {
		return out // the cards do without
	}
	for _, s := range sums.Groups {
		if s.CostUSD > 0 {
			out[s.Key] = dollars(s.CostUSD)
		}
	}
	return out
}
