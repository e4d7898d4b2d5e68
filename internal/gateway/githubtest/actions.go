package githubtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Workflow is a workflow file on the default branch with a workflow_dispatch trigger.
type Workflow struct {
	File string
	// Inputs are those it declares; nil: sha, ref, tier, policy, correlation_id.
	Inputs []string
	// NoRunDetails makes it answer 204, as servers from before February 2026 do.
	NoRunDetails bool
	// StrictMembers refuses the member return_run_details, as such a server may.
	StrictMembers bool
	// Lag is how long a run takes to show in lists.
	Lag time.Duration
	// Title is run-name; nil: "verify <correlation_id> <sha>".
	Title func(inputs map[string]string) string
	// Script says what becomes of a run; nil: success at once.
	Script func(inputs map[string]string) Script
}

// Script is what becomes of one attempt of a run.
type Script struct {
	Running    time.Duration
	Hold       bool // until Finish
	Queued     bool // with Hold: no machine takes it
	Conclusion string
	Jobs       []Job
	Quiet      bool // no webhook tells of its completion
}

// Job is a job of a run, or a step of a job.
type Job struct {
	Name       string
	Conclusion string
	Steps      []Job
}

// Run is a dispatched run.
type Run struct {
	ID         int64
	Attempt    int
	File       string
	Title      string
	Branch     string
	Inputs     map[string]string
	Status     string
	Conclusion string
	Created    time.Time
	Updated    time.Time

	shows  time.Time
	script Script
	repo   *Repo
}

// AddWorkflow puts a workflow file on the default branch.
func (r *Repo) AddWorkflow(w Workflow) {
	if w.Inputs == nil {
		w.Inputs = []string{"sha", "ref", "tier", "policy", "correlation_id"}
	}
	if w.Title == nil {
		w.Title = func(in map[string]string) string { return "verify " + in["correlation_id"] + " " + in["sha"] }
	}
	if w.Script == nil {
		w.Script = func(map[string]string) Script { return Script{Conclusion: "success"} }
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.workflows[w.File] = &w
}

// Runs returns the runs so far, oldest first.
func (r *Repo) Runs() []Run {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	out := make([]Run, 0, len(r.runs))
	for _, run := range r.runs {
		out = append(out, *run)
	}
	return out
}

// Dispatch starts a run as a person would on the page of Actions.
func (r *Repo) Dispatch(file string, inputs map[string]string) Run {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return *r.start(r.workflows[file], r.DefaultBranch, inputs)
}

// Finish ends a held run.
func (r *Repo) Finish(id int64, conclusion string) {
	r.s.mu.Lock()
	run := r.run(id)
	run.script.Conclusion = conclusion
	r.s.mu.Unlock()
	r.complete(run, run.Attempt)
}

// Rerun starts another attempt of a run, as the button "Re-run" does.
func (r *Repo) Rerun(id int64, script Script) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	run := r.run(id)
	run.Attempt++
	r.begin(run, script)
}

func (r *Repo) run(id int64) *Run {
	for _, run := range r.runs {
		if run.ID == id {
			return run
		}
	}
	return nil
}

// start makes a run. s.mu is held.
func (r *Repo) start(w *Workflow, branch string, inputs map[string]string) *Run {
	now := time.Now()
	run := &Run{
		ID: r.s.id(), Attempt: 1, File: w.File, Title: w.Title(inputs), Branch: branch, Inputs: maps.Clone(inputs), Created: now, shows: now.Add(w.Lag), repo: r,
	}
	r.runs = append(r.runs, run)
	r.begin(run, w.Script(inputs))
	return run
}

func (r *Repo) begin(run *Run, script Script) {
	run.script, run.Status, run.Conclusion, run.Updated = script, "in_progress", "", time.Now()
	if script.Hold {
		if script.Queued {
			run.Status = "queued"
		}
		return
	}
	attempt := run.Attempt
	r.s.after(script.Running, func() { r.complete(run, attempt) })
}

// complete ends an attempt and tells the hooks.
func (r *Repo) complete(run *Run, attempt int) {
	r.s.mu.Lock()
	if run.Attempt != attempt || run.Status == "completed" {
		r.s.mu.Unlock()
		return
	}
	run.Status, run.Conclusion, run.Updated = "completed", run.script.Conclusion, time.Now()
	payload, quiet := object{"action": "completed", "workflow_run": run.object()}, run.script.Quiet
	r.s.mu.Unlock()
	if !quiet {
		r.Emit("workflow_run", payload)
	}
}

func (run *Run) object() object {
	return object{
		"id": run.ID, "name": run.File, "display_title": run.Title, "run_attempt": run.Attempt, "event": "workflow_dispatch", "status": run.Status,
		"conclusion": orNil(run.Conclusion), "head_branch": run.Branch, "head_sha": strings.Repeat("d", 40), "path": ".github/workflows/" + run.File,
		"html_url":   fmt.Sprintf("%s/actions/runs/%d", run.repo.htmlURL(), run.ID),
		"created_at": stamp(run.Created), "updated_at": stamp(run.Updated), "run_started_at": stamp(run.Created), "workflow_id": 7,
	}
}

func (s *Server) actionHandlers() map[string]handler {
	return map[string]handler{
		"POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches": dispatch,
		"GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs":        listRuns,
		"GET /repos/{owner}/{repo}/actions/runs/{run_id}": func(c *call) reply {
			if run := c.run(); run != nil {
				return answer(http.StatusOK, run.object())
			}
			return notFound()
		},
		"GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs": listJobs,
		"POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel": func(c *call) reply {
			run := c.run()
			switch {
			case run == nil:
				return notFound()
			case run.Status == "completed":
				return refuse(http.StatusConflict, "Cannot cancel a workflow run that is completed")
			}
			run.script.Conclusion = "cancelled"
			attempt := run.Attempt
			s.after(0, func() { run.repo.complete(run, attempt) })
			return answer(http.StatusAccepted, object{})
		},
	}
}

func (c *call) run() *Run {
	id, err := strconv.ParseInt(c.params["run_id"], 10, 64)
	if err != nil {
		return nil
	}
	return c.repo.run(id)
}

func dispatch(c *call) reply {
	var b struct {
		Ref              string            `json:"ref"`
		Inputs           map[string]string `json:"inputs"`
		ReturnRunDetails *bool             `json:"return_run_details"`
	}
	if err := json.Unmarshal(c.body, &b); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	w := c.repo.workflows[c.params["workflow_id"]]
	switch {
	case w == nil:
		return notFound()
	case b.Ref != c.repo.DefaultBranch:
		c.repo.s.violate("a workflow was dispatched on %q: the change could edit its own verifier", b.Ref)
		return refuse(http.StatusUnprocessableEntity, "No ref found for: %s", b.Ref)
	case w.StrictMembers && b.ReturnRunDetails != nil:
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n\"return_run_details\" is not a permitted key.")
	}
	for name := range b.Inputs {
		if !slices.Contains(w.Inputs, name) {
			return refuse(http.StatusUnprocessableEntity, "Unexpected inputs provided: [%q]", name)
		}
	}
	run := c.repo.start(w, b.Ref, b.Inputs)
	if w.NoRunDetails || b.ReturnRunDetails == nil || !*b.ReturnRunDetails {
		return reply{status: http.StatusNoContent}
	}
	return answer(http.StatusOK, object{
		"workflow_run_id": run.ID, "run_url": fmt.Sprintf("%s/repos/%s/actions/runs/%d", c.repo.s.URL, c.repo.FullName(), run.ID),
		"html_url": fmt.Sprintf("%s/actions/runs/%d", c.repo.htmlURL(), run.ID),
	})
}

func listRuns(c *call) reply {
	w := c.repo.workflows[c.params["workflow_id"]]
	if w == nil {
		return notFound()
	}
	q := c.URL.Query()
	since := time.Time{}
	if text, ok := strings.CutPrefix(q.Get("created"), ">="); ok {
		var err error
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			c.repo.s.violate("created %q is no date", q.Get("created"))
		}
	}
	var found []*Run
	for _, run := range slices.Backward(c.repo.runs) { // newest first
		shown := run.File == w.File && !time.Now().Before(run.shows) && !run.Created.Before(since)
		if shown && (q.Get("branch") == "" || q.Get("branch") == run.Branch) && (q.Get("event") == "" || q.Get("event") == "workflow_dispatch") {
			found = append(found, run)
		}
	}
	from, to, header := c.page(len(found), 30)
	out := []any{}
	for _, run := range found[from:to] {
		out = append(out, run.object())
	}
	return reply{status: http.StatusOK, header: header, body: object{"total_count": len(found), "workflow_runs": out}}
}

func listJobs(c *call) reply {
	run := c.run()
	if run == nil || atoi(c.params["attempt_number"], 0) != run.Attempt {
		return notFound()
	}
	jobs := run.script.Jobs
	if jobs == nil && run.Conclusion != "startup_failure" && run.Conclusion != "stale" { // those have none
		jobs = []Job{{Name: "verify", Conclusion: run.Conclusion}}
	}
	from, to, header := c.page(len(jobs), 30)
	out := []any{}
	for i, j := range jobs[from:to] {
		steps := []any{}
		for n, st := range j.Steps {
			steps = append(steps, object{"name": st.Name, "status": "completed", "conclusion": orNil(st.Conclusion), "number": n + 1})
		}
		id := run.ID*1000 + int64(from+i)
		out = append(out, object{
			"id": id, "run_id": run.ID, "name": j.Name, "status": run.Status, "conclusion": orNil(j.Conclusion), "steps": steps,
			"html_url": fmt.Sprintf("%s/actions/runs/%d/job/%d", c.repo.htmlURL(), run.ID, id), "run_attempt": run.Attempt,
		})
	}
	return reply{status: http.StatusOK, header: header, body: object{"total_count": len(jobs), "jobs": out}}
}
