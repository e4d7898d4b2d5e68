package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

func noSuch(what, id string) error {
	return fault.New(client.CodeNotFound, "there is no "+what+" "+id, "it was removed, or it belongs to another project", "look in the list")
}

// sessionView is one session: its runs and its events, compact or as they are.
type sessionView struct {
	Session client.OrchestratedSession
	Runs    []client.Run
	Events  []eventRow
	As      string
	Cut     bool
}

// eventRow is one event, or several of one tool in a row.
type eventRow struct {
	client.StoredEvent
	Times int
	Text  string
}

const maxEvents = 1000

func session(q *request) (any, error) {
	id := q.PathValue("id")
	v := &sessionView{As: cmp.Or(q.URL.Query().Get("view"), "compact")}
	got, err := ask[client.OrchestratedSession](q, "get_orchestrated_session", map[string]any{"session_id": id})
	if err != nil {
		return nil, err
	}
	v.Session = got
	runs, err := ask[client.Runs](q, "list_runs", map[string]any{"session_id": id, "limit": 100})
	if err != nil {
		return nil, err
	}
	v.Runs = runs.Runs
	events, err := ask[client.SessionEvents](q, "list_session_events", map[string]any{"session_id": id, "limit": maxEvents})
	if err != nil {
		return nil, err
	}
	v.Cut = events.Truncated
	for _, e := range events.Events {
		row := eventRow{StoredEvent: e, Times: 1, Text: eventText(e)}
		if n := len(v.Events); v.As == "compact" && n > 0 && v.Events[n-1].EventType == e.EventType && deref(v.Events[n-1].ToolName) == deref(e.ToolName) && deref(e.ToolName) != "" {
			row.Times += v.Events[n-1].Times
			v.Events[n-1] = row
			continue
		}
		v.Events = append(v.Events, row)
	}
	return v, nil
}

// eventText is what an event says, in one line.
func eventText(e client.StoredEvent) string {
	if deref(e.Error) != "" {
		return line(*e.Error)
	}
	for _, block := range e.Content {
		if text, ok := block["text"].(string); ok {
			return line(text)
		}
	}
	if e.ResultText != nil {
		return line(*e.ResultText)
	}
	if len(e.ToolInput) > 0 {
		if raw, err := marshal(e.ToolInput); err == nil {
			return line(raw)
		}
	}
	return line(deref(e.Reason))
}

func (v *sessionView) title() (string, string) {
	name := cmp.Or(deref(v.Session.AgentName), v.Session.SessionID)
	return name + ": " + strings.ToLower(stateOf(v.Session.Status).Word), fmt.Sprintf("%s, %s.", number(len(v.Runs), "run", "runs"), number(len(v.Events), "event", "events"))
}

type changesView struct {
	Changes []client.Changeset
	State   string
	open    int
	Cut     bool
}

func changes(q *request) (any, error) {
	v := &changesView{State: q.URL.Query().Get("state")}
	args := map[string]any{"limit": maxRows}
	if v.State != "" {
		args["state"] = v.State
	}
	list, err := ask[client.Changesets](q, "list_changesets", args)
	if err != nil {
		return nil, err
	}
	v.Changes, v.Cut = list.Changesets, list.Truncated
	for _, c := range v.Changes {
		if slices.Contains([]string{"received", "routing", "verifying", "awaiting_approval"}, c.State) {
			v.open++
		}
	}
	return v, nil
}

func (v *changesView) title() (string, string) {
	if len(v.Changes) == 0 && v.State == "" {
		return "No changes yet", ""
	}
	return fmt.Sprintf("%s %s verified now", count(v.open), plural(v.open, "change is", "changes are")), number(len(v.Changes), "change is", "changes are") + " shown, the newest first."
}

// changeView is one change: its verdict, its ladder, its findings, its files.
type changeView struct {
	client.ChangesetDetail
	Rungs []rung
	Acts  []button
}

// rung is one step of the ladder: the latest run of a policy, or why there is none.
type rung struct {
	Tier   int
	Policy string
	Look   look
	Run    *client.VerificationRun
	Why    string
}

func change(q *request) (any, error) {
	d, err := ask[client.ChangesetDetail](q, "get_changeset", map[string]any{"changeset_id": q.PathValue("id")})
	if err != nil {
		return nil, err
	}
	v := &changeView{ChangesetDetail: d}
	latest := map[string]*client.VerificationRun{}
	for i := range d.Runs {
		if r := &d.Runs[i]; latest[r.Policy] == nil || latest[r.Policy].Attempt <= r.Attempt {
			latest[r.Policy] = r
		}
	}
	for _, s := range d.Plan {
		r := rung{Tier: s.Tier, Policy: s.Policy, Why: s.Blocked, Look: stateOf("pending"), Run: latest[s.Policy]}
		switch {
		case r.Run != nil && r.Run.Conclusion != "":
			r.Look, r.Why = stateOf(r.Run.Conclusion), cmp.Or(r.Run.Reason, r.Why)
		case r.Run != nil:
			r.Look = stateOf(r.Run.Status)
		case s.Blocked != "":
			r.Look = stateOf("blocked")
		}
		for _, a := range d.Approvals {
			if s.Tier == 4 && a.Policy == s.Policy {
				r.Look, r.Why = stateOf(a.Status), a.Reason
			}
		}
		v.Rungs = append(v.Rungs, r)
	}
	for _, s := range d.Waived {
		v.Rungs = append(v.Rungs, rung{Tier: s.Tier, Policy: s.Policy, Look: stateOf("waived"), Why: "Not required: the author's trust waives it for a small change."})
	}
	slices.SortStableFunc(v.Rungs, func(a, b rung) int { return cmp.Compare(a.Tier, b.Tier) })
	v.Acts = append(v.Acts, button{Label: "Run again", Action: "rerun", ID: d.ChangesetID, Key: "a"})
	if q.may(ident.Reviewer) {
		for _, a := range d.Approvals {
			if a.Status == "pending" {
				v.Acts = append([]button{{Label: "Approve", Action: "approve", ID: a.ApprovalID, Primary: true}, {Label: "Deny", Action: "deny", ID: a.ApprovalID}}, v.Acts...)
			}
		}
		v.Acts = append(v.Acts, button{Label: "Decide by hand", Action: "override", ID: d.ChangesetID})
	}
	return v, nil
}

func (v *changeView) title() (string, string) {
	return cmp.Or(v.Title, v.Branch, short(v.HeadSHA)), fmt.Sprintf("%s at %s by %s.", v.Repository, short(v.HeadSHA), cmp.Or(v.AgentID, v.Actor, "an unknown author"))
}

type inboxView struct {
	Messages []client.Message
	Box      string
	unread   int
}

func inbox(q *request) (any, error) {
	v := &inboxView{Box: cmp.Or(q.URL.Query().Get("box"), "all")}
	list, err := ask[client.Messages](q, "list_messages", map[string]any{"box": v.Box, "peek": true, "limit": 200})
	if err != nil {
		return nil, err
	}
	v.Messages, v.unread = list.Messages, list.Unread
	return v, nil
}

func (v *inboxView) title() (string, string) {
	if v.unread == 0 {
		return "No unread messages", ""
	}
	return count(v.unread) + " unread " + plural(v.unread, "message", "messages"), ""
}

type memoryView struct {
	Q      string
	Result *client.Recalled
}

func memory(q *request) (any, error) {
	v := &memoryView{Q: strings.TrimSpace(q.URL.Query().Get("q"))}
	if v.Q == "" {
		return v, nil
	}
	got, err := ask[client.Recalled](q, "recall", map[string]any{"task_description": v.Q, "limit": 30, "explain": true, "include_archived": true})
	v.Result = &got
	return v, err
}

func (v *memoryView) title() (string, string) {
	switch {
	case v.Result == nil:
		return "Memory", "What agents learned. Ask as an agent would."
	case len(v.Result.Memories) == 0:
		return "Nothing relevant", "No memory fits the question."
	}
	return count(len(v.Result.Memories)) + " " + plural(len(v.Result.Memories), "memory fits", "memories fit"), number(v.Result.Tokens, "token", "tokens") + " would be given to an agent."
}

type runnersView struct {
	Runners []client.Runner
	Runs    []client.Run
	Stats   client.WorkStats
}

func runnersAndQueues(q *request) (any, error) {
	v := &runnersView{}
	list, err := ask[client.Runners](q, "list_runners", nil)
	if err != nil {
		return nil, err
	}
	v.Runners = list.Runners
	if v.Stats, err = ask[client.WorkStats](q, "work_stats", nil); err != nil {
		return nil, err
	}
	runs, err := ask[client.Runs](q, "list_runs", map[string]any{"newest": true, "limit": 100})
	v.Runs = runs.Runs
	return v, err
}

func (v *runnersView) title() (string, string) {
	online := 0
	for _, r := range v.Runners {
		if r.Status == "online" {
			online++
		}
	}
	return fmt.Sprintf("%s %s online", count(online), plural(online, "runner is", "runners are")), fmt.Sprintf("%s ready, %s in work.", number(v.Stats.Ready, "task is", "tasks are"), number(v.Stats.Claimed, "task is", "tasks are"))
}

type auditView struct {
	Entries          []client.AuditEntry
	Agent, Operation string
	Cut              bool
}

func audit(q *request) (any, error) {
	v := &auditView{Agent: q.URL.Query().Get("agent"), Operation: q.URL.Query().Get("op")}
	args := map[string]any{"limit": 200}
	if v.Agent != "" {
		args["agent_id"] = v.Agent
	}
	if v.Operation != "" {
		args["operation"] = v.Operation
	}
	list, err := ask[client.AuditEntries](q, "query_audit", args)
	v.Entries, v.Cut = list.Entries, list.Truncated
	return v, err
}

func (v *auditView) title() (string, string) {
	return "Who changed what", number(len(v.Entries), "entry is", "entries are") + " shown, the newest first. Nobody can change them."
}
