package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

func noSuch(what, id string) error {
	return fault.New(client.CodeNotFound, "there is no "+what+" "+id, "it was removed, or it belongs to another project", "look in the list")
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

// changeView is one change: its verdict, its ladder, its findings, its files, and the decision that it waits for.
type changeView struct {
	client.ChangesetDetail
	Rungs    []rung
	Acts     []button
	Found    []client.Finding
	Waits    *client.Approval // the question that is open
	Vote     []button
	Behind   []string // tasks that wait for its task
	May      bool
	passed   int
	took     float64
	blocking int
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
	v := &changeView{ChangesetDetail: d, May: q.may(ident.Reviewer)}
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
			r.Look = look{"is-needs", "needs", "Blocked"}
		}
		for _, a := range d.Approvals {
			if s.Tier == 4 && a.Policy == s.Policy {
				r.Look, r.Why = stateOf(a.Status), a.Reason
				if a.Status == "pending" {
					r.Look = look{"is-needs", "needs", "Waits for a person"}
				}
			}
		}
		v.Rungs = append(v.Rungs, r)
	}
	for _, s := range d.Waived {
		v.Rungs = append(v.Rungs, rung{Tier: s.Tier, Policy: s.Policy, Look: stateOf("waived"), Why: "Not required: the author's trust waives it for a small change."})
	}
	slices.SortStableFunc(v.Rungs, func(a, b rung) int { return cmp.Compare(a.Tier, b.Tier) })
	v.evidence()
	if d.TaskID != "" {
		if v.Behind, err = behind(q, d.TaskID); err != nil {
			return nil, err
		}
	}
	for i, a := range d.Approvals {
		if a.Status == "pending" && v.Waits == nil {
			v.Waits = &d.Approvals[i]
			if v.May {
				v.Vote = []button{{Label: "Approve", Action: "approve", ID: a.ApprovalID, Primary: true, Key: "a"}, {Label: "Deny", Action: "deny", ID: a.ApprovalID, Danger: true, Key: "d"}}
			}
		}
	}
	if !q.may(ident.Write) {
		return v, nil
	}
	for _, r := range v.Rungs {
		if r.Run != nil && r.Run.Conclusion != "" && !r.Run.Success && r.Tier < 4 {
			v.Acts = append(v.Acts, button{Label: "Run what failed again", Action: "rerun-failed", ID: fmt.Sprintf("%s|%d", d.ChangesetID, r.Tier), Key: "r"})
			break
		}
	}
	if slices.Contains([]string{"received", "routing", "verifying", "awaiting_approval"}, d.State) {
		v.Acts = append(v.Acts, button{Label: "End it", Action: "cancel-change", ID: d.ChangesetID})
	} else {
		v.Acts = append(v.Acts, button{Label: "Run all again", Action: "rerun", ID: d.ChangesetID})
	}
	if v.May && d.State != "passed" {
		v.Acts = append(v.Acts, button{Label: "Decide by hand", Action: "override", ID: d.ChangesetID})
	}
	return v, nil
}

// evidence gathers what the latest runs found, the worst first.
func (v *changeView) evidence() {
	rank := map[string]int{"error": 0, "warning": 1, "note": 2}
	for _, r := range v.Rungs {
		if r.Run == nil {
			continue
		}
		v.Found = append(v.Found, r.Run.Findings...)
		v.took += r.Run.DurationSeconds
		if r.Run.Success {
			v.passed++
		}
	}
	slices.SortStableFunc(v.Found, func(a, b client.Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Level], rank[b.Level]), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	v.Found = v.Found[:min(len(v.Found), maxRows)]
	for _, f := range v.Found {
		if f.Level == "error" {
			v.blocking++
		}
	}
}

// Headline is the verdict in a sentence.
func (v *changeView) Headline() string {
	switch v.State {
	case "awaiting_approval":
		return fmt.Sprintf("Everything else passed. It waits for a person.%s", map[bool]string{true: fmt.Sprintf(" %s passed in %s.", number(v.passed, "tier", "tiers"), spanLong(time.Duration(v.took*float64(time.Second))))}[v.passed > 0])
	case "passed":
		return "Passed."
	case "failed":
		return "Failed."
	case "verifying":
		return "Being verified."
	}
	return stateOf(v.State).Word + "."
}

// None reports whether no finding blocks; Passed whether nothing of the log needs to be read.
func (v *changeView) None() bool   { return v.blocking == 0 }
func (v *changeView) Passed() bool { return v.State != "failed" && v.State != "error" }

// FindingsTitle counts them by level.
func (v *changeView) FindingsTitle() string {
	n := map[string]int{}
	for _, f := range v.Found {
		n[f.Level]++
	}
	var out []string
	for _, level := range []string{"error", "warning", "note"} {
		if n[level] > 0 {
			out = append(out, number(n[level], level, level+"s"))
		}
	}
	return strings.Join(out, ", ")
}

func (v *changeView) title() (string, string) {
	files := fmt.Sprintf("%s, +%d −%d", number(v.FileCount, "file", "files"), v.Additions, v.Deletions)
	return cmp.Or(v.Title, v.Branch, short(v.HeadSHA)), strings.Join([]string{cmp.Or(v.AgentID, v.Actor, "an unknown author"), v.Branch + " into " + cmp.Or(v.BaseRef, "the default branch"), short(v.HeadSHA), files}, " · ")
}

// inboxView is the person's mailbox: messages by thread, and the thread that is open.
type inboxView struct {
	Messages []client.Message
	Box      string
	Open     string
	Thread   []client.Message // oldest first
	unread   int
}

func inbox(q *request) (any, error) {
	query := q.URL.Query()
	v := &inboxView{Box: cmp.Or(query.Get("box"), "all"), Open: query.Get("thread")}
	box := map[string]string{"overdue": "all"}[v.Box]
	list, err := ask[client.Messages](q, "list_messages", map[string]any{"box": cmp.Or(box, v.Box), "peek": true, "limit": 200})
	if err != nil {
		return nil, err
	}
	v.unread = list.Unread
	seen := map[string]bool{}
	for _, m := range list.Messages {
		if v.Box == "overdue" && (!m.AckRequired || m.Acknowledged) || v.Box != "unread" && seen[m.Thread] {
			continue
		}
		seen[m.Thread] = true
		v.Messages = append(v.Messages, m)
	}
	if v.Open == "" && len(v.Messages) > 0 {
		v.Open = v.Messages[0].Thread
	}
	if v.Open == "" {
		return v, nil
	}
	for _, box := range []string{"all", "sent"} {
		thread, err := ask[client.Messages](q, "list_messages", map[string]any{"box": box, "peek": true, "limit": 100, "thread": v.Open})
		if err != nil {
			return nil, err
		}
		v.Thread = append(v.Thread, thread.Messages...)
	}
	slices.SortStableFunc(v.Thread, func(a, b client.Message) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	v.Thread = slices.CompactFunc(v.Thread, func(a, b client.Message) bool { return a.MessageID == b.MessageID })
	return v, nil
}

// Last is the newest message of the open thread that somebody else wrote: what an answer answers.
func (v *inboxView) Last() *client.Message {
	for i := len(v.Thread) - 1; i >= 0; i-- {
		if len(v.Thread[i].Recipients) == 0 {
			return &v.Thread[i]
		}
	}
	return nil
}

func (v *inboxView) title() (string, string) {
	if v.unread == 0 {
		return "No unread messages", ""
	}
	return count(v.unread) + " unread " + plural(v.unread, "message", "messages"), ""
}

// memoryView asks the memory as an agent would, and says why each is where it is and what would fit into the budget.
type memoryView struct {
	Q, Type, Sel string
	Stale        bool // also those whose file changed
	Hits         []hit
	Selected     *hit
	Reason       string
	Tokens       int // of all
	Given        int // tokens that an agent would be given
	GivenCount   int
	Left         int
	May          bool
	asked        bool
}

// hit is a memory that was found, with the parts of its score as shares of a bar.
type hit struct {
	client.Memory
	Text  string
	Parts []share
	Given bool
	Size  int
	Link  string
}

// share is one reason for a score.
type share struct {
	Name, Class, X, W string
	Value             float64
}

// injected is the budget of what an agent is given before a task, in tokens.
const injected = 2000

func memory(q *request) (any, error) {
	query := q.URL.Query()
	v := &memoryView{Q: strings.TrimSpace(query.Get("q")), Type: query.Get("type"), Sel: query.Get("sel"), May: q.may(ident.Reviewer)}
	args := map[string]any{"limit": 30, "explain": true, "include_archived": true}
	if v.Q != "" {
		args["task_description"] = v.Q
	}
	if v.Type != "" {
		args["event_type"] = v.Type
	}
	v.asked = v.Q != ""
	got, err := ask[client.Recalled](q, "recall", args)
	if err != nil {
		return nil, err
	}
	v.Reason, v.Tokens = got.Reason, got.Tokens
	fits := map[string]bool{}
	if v.asked && len(got.Memories) > 0 {
		given, err := ask[client.Recalled](q, "recall", map[string]any{"task_description": v.Q, "limit": 10, "token_budget": injected})
		if err != nil {
			return nil, err
		}
		v.Given, v.GivenCount = given.Tokens, len(given.Memories)
		for _, m := range given.Memories {
			fits[m.MemoryID] = true
		}
	}
	for _, m := range got.Memories {
		h := hit{Memory: m, Given: fits[m.MemoryID], Parts: scoreParts(m), Link: "/ui/memory?q=" + escape(v.Q) + "&type=" + escape(v.Type) + "&sel=" + escape(m.MemoryID)}
		h.Text = m.Summary
		if h.Text == "" {
			h.Text = strings.TrimSpace(fmt.Sprint(cmp.Or(text(m.Content["summary"]), text(m.Content["skill_name"]), text(m.Content["name"])), " ", text(m.Content["description"])))
		}
		v.Hits = append(v.Hits, h)
	}
	for i := range v.Hits {
		if v.Hits[i].MemoryID == v.Sel || v.Sel == "" && i == 0 {
			v.Selected = &v.Hits[i]
		}
	}
	return v, nil
}

// Filled is the share of the budget that is used.
func (v *memoryView) Filled() string { return percent(float64(v.Given), injected) }

func text(v any) string {
	s, _ := v.(string)
	return s
}

// scoreParts are the addends of a score, the largest kinds first as the legend has them.
func scoreParts(m client.Memory) []share {
	if m.Score == nil {
		return nil
	}
	var out []share
	sum, at := m.Score.Words+m.Score.Context+m.Score.Tags+m.Score.Paths, 0.0
	for i, p := range []struct {
		name  string
		value float64
	}{{"Words", m.Score.Words}, {"Same session", m.Score.Context}, {"Files at hand", m.Score.Paths}, {"Tags", m.Score.Tags}} {
		if p.value <= 0 || sum <= 0 {
			continue
		}
		w := 100 * m.Relevance * p.value / sum
		out = append(out, share{Name: p.name, Class: fmt.Sprintf("k%d", i+1), X: pct(at), W: pct(w), Value: p.value})
		at += w
	}
	return out
}

func (v *memoryView) title() (string, string) {
	switch {
	case !v.asked && len(v.Hits) == 0:
		return "No memories yet", "What agents learn shows up here."
	case !v.asked:
		return "What agents learned last", "Ask as an agent would, to see what it would be given and why."
	case len(v.Hits) == 0:
		return "Nothing relevant", "No memory fits the question."
	}
	return count(len(v.Hits)) + " " + plural(len(v.Hits), "memory fits", "memories fit"), fmt.Sprintf("An agent would be given %s: %s of %s tokens.", number(v.GivenCount, "memory", "memories"), thousands(v.Given), thousands(injected))
}
