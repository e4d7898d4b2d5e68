package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// runnersView shows where work is executed, and what waits.
type runnersView struct {
	Runners []runnerRow
	Stats   client.WorkStats
	Runs    []client.Run // the newest
	Broken  []brokenRow
	Sel     string
	online  int
	waiting int
}

// runnerRow is a runner with what it executes now.
type runnerRow struct {
	client.Runner
	State look
	Runs  []client.Run
	Note  string
	Acts  []button
}

// brokenRow is a run that failed or a task that failed or is dead.
type brokenRow struct {
	ID, Kind, Title, Error, At, Link string
	Attempt, Max                     int
	State                            look
}

func runnersAndQueues(q *request) (any, error) {
	v := &runnersView{Sel: q.URL.Query().Get("sel")}
	list, err := ask[client.Runners](q, "list_runners", nil)
	if err != nil {
		return nil, err
	}
	if v.Stats, err = ask[client.WorkStats](q, "work_stats", nil); err != nil {
		return nil, err
	}
	runs, err := ask[client.Runs](q, "list_runs", map[string]any{"newest": true, "limit": 200})
	if err != nil {
		return nil, err
	}
	v.Runs = runs.Runs[:min(len(runs.Runs), 50)]
	busy := map[string][]client.Run{}
	for _, r := range runs.Runs {
		if slices.Contains([]string{"claimed", "running", "stopping"}, r.Status) {
			busy[deref(r.RunnerID)] = append(busy[deref(r.RunnerID)], r)
		}
		if r.Status == "pending" {
			v.waiting++
		}
	}
	for _, r := range list.Runners {
		row := runnerRow{Runner: r, Runs: busy[r.RunnerID], State: stateOf(r.Status)}
		if q.may(ident.Runner) {
			row.Acts = append(row.Acts, button{Label: "Take off", Action: "remove-runner", ID: r.RunnerID})
		}
		if r.Status == "online" {
			v.online++
			if row.State = (look{"is-idle", "idle", "Free"}); len(row.Runs) > 0 {
				row.State = stateOf("running")
			}
		}
		if r.Draining {
			row.State, row.Note = look{"is-wait", "pause", "Draining"}, strings.TrimSpace("draining, by "+r.DrainedBy+" "+r.DrainReason)
		}
		if q.may(ident.Reviewer) {
			b := button{Label: "Drain", Action: "drain-runner", ID: r.RunnerID}
			if r.Draining {
				b = button{Label: "End the drain", Action: "undrain-runner", ID: r.RunnerID}
			}
			row.Acts = append([]button{b}, row.Acts...)
		}
		v.Runners = append(v.Runners, row)
	}
	slices.SortStableFunc(v.Runners, func(a, b runnerRow) int {
		return cmp.Or(cmp.Compare(b.Status, a.Status), cmp.Compare(len(b.Runs), len(a.Runs)), cmp.Compare(a.Hostname, b.Hostname))
	})
	tasks, err := ask[client.Tasks](q, "list_work", map[string]any{"status": []any{"dead", "failed"}, "limit": 50})
	if err != nil {
		return nil, err
	}
	for _, t := range tasks.Tasks {
		v.Broken = append(v.Broken, brokenRow{ID: t.TaskID, Kind: "task", Title: line(t.Description), Error: t.ErrorMessage, At: t.UpdatedAt, Link: "/ui/tasks/" + t.TaskID, Attempt: t.Attempt, Max: t.MaxAttempts, State: stateOf(t.Status)})
	}
	return v, nil
}

func (v *runnersView) title() (string, string) {
	lost := len(v.Runners) - v.online
	title := fmt.Sprintf("%s %s online", count(v.online), plural(v.online, "runner is", "runners are"))
	if lost > 0 {
		title = fmt.Sprintf("%s %s, %s lost", count(len(v.Runners)), plural(len(v.Runners), "runner", "runners"), thousands(lost))
	}
	sentence := fmt.Sprintf("%s ready, %s in work.", number(v.Stats.Ready, "task is", "tasks are"), number(v.Stats.Claimed, "task is", "tasks are"))
	if n := len(v.Broken); n > 0 {
		sentence += fmt.Sprintf(" %s %s for good.", count(n), plural(n, "task failed", "tasks failed"))
	}
	return title, sentence
}

// auditView is who changed what.
type auditView struct {
	Entries                 []client.AuditEntry
	Agent, Operation, Since string
	Refused                 bool
	Cut                     bool
	Export                  string
}

// auditArgs are the filters of the query.
func auditArgs(q *request, limit int) (map[string]any, *auditView) {
	query := q.URL.Query()
	v := &auditView{Agent: query.Get("agent"), Operation: query.Get("op"), Since: query.Get("since"), Refused: query.Get("refused") != ""}
	args := map[string]any{"limit": limit}
	for name, value := range map[string]string{"agent_id": v.Agent, "operation": v.Operation, "since": v.Since} {
		if value != "" {
			args[name] = value
		}
	}
	if v.Refused {
		args["success"] = false
	}
	v.Export = "/ui/audit.ndjson?agent=" + escape(v.Agent) + "&op=" + escape(v.Operation) + "&since=" + escape(v.Since)
	if v.Refused {
		v.Export += "&refused=1"
	}
	return args, v
}

func audit(q *request) (any, error) {
	args, v := auditArgs(q, 200)
	list, err := ask[client.AuditEntries](q, "query_audit", args)
	v.Entries, v.Cut = list.Entries, list.Truncated
	return v, err
}

func (v *auditView) title() (string, string) {
	return "Who changed what", number(len(v.Entries), "entry is", "entries are") + " shown, the newest first. Nobody can change them."
}

// export is the audit as filtered, a line an entry.
func (p *Page) export(w http.ResponseWriter, q *request) {
	args, _ := auditArgs(q, 1000)
	list, err := ask[client.AuditEntries](q, "query_audit", args)
	if err != nil {
		p.problem(w, q, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.ndjson"`)
	out := json.NewEncoder(w)
	for _, e := range list.Entries {
		_ = out.Encode(e) // the reader is gone, or it is not
	}
}
