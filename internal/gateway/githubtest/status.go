package githubtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Status is a commit status that was posted.
type Status struct {
	SHA         string `json:"-"`
	State       string `json:"state"`
	Context     string `json:"context"`
	Description string `json:"description"`
	TargetURL   string `json:"target_url"`
	At          time.Time
}

// CheckRun is a check run that was written.
type CheckRun struct {
	ID         int64
	SHA        string
	Name       string
	Status     string
	Conclusion string
	ExternalID string
	DetailsURL string
	Title      string
	Summary    string
	// Annotations are all that were added, in order.
	Annotations []map[string]any
	Actions     []map[string]any
	app         *App
}

// Statuses returns the statuses of a commit, oldest first.
func (r *Repo) Statuses(sha string) []Status {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var out []Status
	for _, st := range r.statuses {
		if st.SHA == sha {
			out = append(out, st)
		}
	}
	return out
}

// CheckRuns returns the check runs of a commit, oldest first.
func (r *Repo) CheckRuns(sha string) []CheckRun {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var out []CheckRun
	for _, run := range r.checks {
		if run.SHA == sha {
			out = append(out, *run)
		}
	}
	return out
}

func (s *Server) statusHandlers() map[string]handler {
	return map[string]handler{
		"POST /repos/{owner}/{repo}/statuses/{sha}":             s.postStatus,
		"POST /repos/{owner}/{repo}/check-runs":                 s.postCheck,
		"PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}": s.patchCheck,
		"GET /repos/{owner}/{repo}/commits/{ref}/check-runs":    listChecks,
	}
}

func (s *Server) postStatus(c *call) reply {
	st := Status{SHA: c.params["sha"], Context: "default", At: time.Now()}
	if err := json.Unmarshal(c.body, &st); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	if !c.repo.has(st.SHA) {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: %s", st.SHA)
	}
	if utf8.RuneCountInString(st.Description) > 140 {
		return refuse(http.StatusUnprocessableEntity, "Validation Failed: description is too long (maximum is 140 characters)")
	}
	same := 0
	for _, other := range c.repo.statuses {
		if other.SHA == st.SHA && other.Context == st.Context {
			same++
		}
	}
	if same >= statusCap {
		return refuse(http.StatusUnprocessableEntity, "Validation Failed: This SHA and context has reached the maximum number of statuses.")
	}
	c.repo.statuses = append(c.repo.statuses, st)
	return answer(http.StatusCreated, object{
		"id": s.id(), "state": st.State, "context": st.Context, "description": orNil(st.Description), "target_url": orNil(st.TargetURL), "created_at": stamp(st.At),
	})
}

// checkBody is what creating and updating a check run share.
type checkBody struct {
	Name       *string `json:"name"`
	HeadSHA    string  `json:"head_sha"`
	Status     *string `json:"status"`
	Conclusion *string `json:"conclusion"`
	ExternalID *string `json:"external_id"`
	DetailsURL *string `json:"details_url"`
	Output     *struct {
		Title       string           `json:"title"`
		Summary     string           `json:"summary"`
		Annotations []map[string]any `json:"annotations"`
	} `json:"output"`
	Actions []map[string]any `json:"actions"`
}

func (b checkBody) apply(run *CheckRun) string {
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&run.Name, b.Name)
	set(&run.Status, b.Status)
	set(&run.ExternalID, b.ExternalID)
	set(&run.DetailsURL, b.DetailsURL)
	if b.Conclusion != nil {
		run.Conclusion, run.Status = *b.Conclusion, "completed"
	}
	if run.Status == "" {
		run.Status = "queued"
	}
	if run.Status == "completed" && run.Conclusion == "" {
		return "a completed check run needs a conclusion"
	}
	if b.Output != nil {
		if len(b.Output.Annotations) > 50 {
			return "No more than 50 annotations are allowed in a request"
		}
		run.Title, run.Summary = b.Output.Title, b.Output.Summary
		run.Annotations = append(run.Annotations, b.Output.Annotations...)
	}
	if b.Actions != nil {
		run.Actions = b.Actions
	}
	return ""
}

func (s *Server) checkRequest(c *call) (checkBody, *reply) {
	var b checkBody
	if c.who.kind != "installation" {
		r := refuse(http.StatusForbidden, "You must authenticate via a GitHub App.")
		return b, &r
	}
	if err := json.Unmarshal(c.body, &b); err != nil {
		r := refuse(http.StatusBadRequest, "Problems parsing JSON")
		return b, &r
	}
	return b, nil
}

func (s *Server) postCheck(c *call) reply {
	b, refused := s.checkRequest(c)
	if refused != nil {
		return *refused
	}
	if !c.repo.has(b.HeadSHA) {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: %s", b.HeadSHA)
	}
	run := &CheckRun{ID: s.id(), SHA: b.HeadSHA, app: c.who.app}
	if why := b.apply(run); why != "" {
		return refuse(http.StatusUnprocessableEntity, "Invalid request. %s", why)
	}
	c.repo.checks = append(c.repo.checks, run)
	return answer(http.StatusCreated, run.object())
}

func (s *Server) patchCheck(c *call) reply {
	b, refused := s.checkRequest(c)
	if refused != nil {
		return *refused
	}
	for _, run := range c.repo.checks {
		if strconv.FormatInt(run.ID, 10) == c.params["check_run_id"] {
			if run.app != c.who.app {
				return refuse(http.StatusForbidden, "Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", c.who.app.ID)
			}
			if why := b.apply(run); why != "" {
				return refuse(http.StatusUnprocessableEntity, "Invalid request. %s", why)
			}
			return answer(http.StatusOK, run.object())
		}
	}
	return notFound()
}

func (r *CheckRun) object() object {
	return object{
		"id": r.ID, "head_sha": r.SHA, "name": r.Name, "status": r.Status, "conclusion": orNil(r.Conclusion), "external_id": orNil(r.ExternalID),
		"details_url": orNil(r.DetailsURL), "output": object{"title": orNil(r.Title), "summary": orNil(r.Summary), "annotations_count": len(r.Annotations)},
	}
}

func listChecks(c *call) reply {
	q := c.URL.Query()
	if !c.repo.has(c.params["ref"]) {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: %s", c.params["ref"])
	}
	var found []*CheckRun
	for _, run := range c.repo.checks {
		if run.SHA != c.params["ref"] || q.Get("check_name") != "" && q.Get("check_name") != run.Name {
			continue
		}
		if id := q.Get("app_id"); id != "" && id != strconv.FormatInt(run.app.ID, 10) {
			continue
		}
		found = append(found, run)
	}
	if !strings.EqualFold(q.Get("filter"), "all") && len(found) > 1 {
		found = found[len(found)-1:]
	}
	out := []any{}
	for _, run := range found {
		out = append(out, run.object())
	}
	return answer(http.StatusOK, object{"total_count": len(out), "check_runs": out})
}
