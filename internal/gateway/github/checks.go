package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

const (
	// maxAnnotations is how many GitHub takes in one call.
	maxAnnotations = 50
	// maxSummary bounds the text of a check run; GitHub's own bound is 65535 characters.
	maxSummary = 60_000
	// RerunAction is the identifier of the button that a check run offers.
	RerunAction = "rerun"
)

// showCheck shows a status as a check run and returns its id. id is the check run shown before, 0 when unknown.
func (c *Client) showCheck(ctx context.Context, client *gh.Client, owner, name string, s gateway.Status, id int64) (int64, error) {
	current, err := c.findCheck(ctx, client, owner, name, s, id)
	if err != nil {
		return 0, err
	}
	state, conclusion := checkState(s.State)
	if current != nil && current.GetStatus() == state && current.GetConclusion() == conclusion && current.GetOutput().GetTitle() == title(s) {
		return current.GetID(), nil // shown before a restart
	}
	batches := annotations(s.Findings)
	// A check run that is completed stays so; a new round gets a new one, and GitHub shows the newest.
	if current == nil || current.GetStatus() == "completed" && state != "completed" {
		return createCheck(ctx, client, owner, name, s, batches)
	}
	return current.GetID(), updateCheck(ctx, client, owner, name, current.GetID(), s, batches)
}

// findCheck returns the newest check run that this App made for the status, or nil.
func (c *Client) findCheck(ctx context.Context, client *gh.Client, owner, name string, s gateway.Status, id int64) (*gh.CheckRun, error) {
	list, _, err := client.Checks.ListCheckRunsForRef(ctx, owner, name, s.HeadSHA, &gh.ListCheckRunsOptions{
		CheckName: gh.Ptr(s.Context), Filter: gh.Ptr("latest"), AppID: gh.Ptr(c.config.AppID), ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if status(err) == http.StatusUnprocessableEntity || status(err) == http.StatusNotFound {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the check run: %w", err)
	}
	var newest *gh.CheckRun
	for _, r := range list.CheckRuns {
		if r.GetName() == s.Context && (newest == nil || r.GetID() > newest.GetID() || r.GetID() == id) {
			newest = r
		}
	}
	return newest, nil
}

// checkState maps a status to a check run's state and conclusion. An error is no success and no finding, and GitHub lets a
// pull request through on anything but failure, timed_out, cancelled and action_required.
func checkState(s gateway.StatusState) (state, conclusion string) {
	switch s {
	case gateway.StatusPending:
		return "in_progress", ""
	case gateway.StatusSuccess:
		return "completed", "success"
	default:
		return "completed", "failure"
	}
}

func title(s gateway.Status) string {
	first, _, _ := strings.Cut(s.Description, "\n")
	if s.State == gateway.StatusError {
		first = "Could not be verified: " + first
	}
	return cut(first, 200)
}

func output(s gateway.Status, batch []*gh.CheckRunAnnotation) *gh.CheckRunOutput {
	return &gh.CheckRunOutput{Title: gh.Ptr(title(s)), Summary: gh.Ptr(cut(s.Description, maxSummary)), Annotations: batch}
}

func createCheck(ctx context.Context, client *gh.Client, owner, name string, s gateway.Status, batches [][]*gh.CheckRunAnnotation) (int64, error) {
	state, conclusion := checkState(s.State)
	opts := gh.CreateCheckRunOptions{
		Name: s.Context, HeadSHA: s.HeadSHA, ExternalID: gh.Ptr(s.ChangesetID), Status: gh.Ptr(state), Output: output(s, batches[0]),
	}
	if u, ok := link(s.TargetURL); ok {
		opts.DetailsURL = gh.Ptr(u)
	}
	if conclusion != "" {
		opts.Conclusion, opts.Actions = gh.Ptr(conclusion), buttons(s.State)
	}
	r, _, err := client.Checks.CreateCheckRun(ctx, owner, name, opts)
	if err != nil {
		return 0, err
	}
	return r.GetID(), more(ctx, client, owner, name, r.GetID(), s, batches[1:])
}

func updateCheck(ctx context.Context, client *gh.Client, owner, name string, id int64, s gateway.Status, batches [][]*gh.CheckRunAnnotation) error {
	state, conclusion := checkState(s.State)
	opts := gh.UpdateCheckRunOptions{Name: s.Context, ExternalID: gh.Ptr(s.ChangesetID), Status: gh.Ptr(state), Output: output(s, batches[0])}
	if u, ok := link(s.TargetURL); ok {
		opts.DetailsURL = gh.Ptr(u)
	}
	if conclusion != "" {
		opts.Conclusion, opts.Actions = gh.Ptr(conclusion), buttons(s.State)
	}
	if _, _, err := client.Checks.UpdateCheckRun(ctx, owner, name, id, opts); err != nil {
		return err
	}
	return more(ctx, client, owner, name, id, s, batches[1:])
}

// more adds the annotations that did not fit into one call; GitHub keeps what it has.
func more(ctx context.Context, client *gh.Client, owner, name string, id int64, s gateway.Status, batches [][]*gh.CheckRunAnnotation) error {
	for _, batch := range batches {
		if _, _, err := client.Checks.UpdateCheckRun(ctx, owner, name, id, gh.UpdateCheckRunOptions{Name: s.Context, Output: output(s, batch)}); err != nil {
			return err
		}
	}
	return nil
}

func buttons(state gateway.StatusState) []*gh.CheckRunAction {
	if state == gateway.StatusSuccess {
		return nil
	}
	return []*gh.CheckRunAction{{Label: "Verify again", Description: "Runs again what did not pass", Identifier: RerunAction}}
}

// annotations puts findings into batches of GitHub's size; there is always a first one.
func annotations(findings []executors.Finding) [][]*gh.CheckRunAnnotation {
	batches := [][]*gh.CheckRunAnnotation{nil}
	for _, f := range findings {
		if f.Path == "" {
			continue
		}
		if last := len(batches) - 1; len(batches[last]) == maxAnnotations {
			batches = append(batches, nil)
		}
		start := max(f.Line, 1)
		a := &gh.CheckRunAnnotation{
			Path: gh.Ptr(f.Path), StartLine: gh.Ptr(start), EndLine: gh.Ptr(max(f.EndLine, start)), AnnotationLevel: gh.Ptr(level(f.Level)),
			Message: gh.Ptr(cut(orDash(f.Message), maxSummary)),
		}
		if t := strings.TrimSpace(f.Tool + " " + f.Rule); t != "" {
			a.Title = gh.Ptr(cut(t, 255))
		}
		last := len(batches) - 1
		batches[last] = append(batches[last], a)
	}
	return batches
}

func level(sarif string) string {
	switch sarif {
	case "error":
		return "failure"
	case "none", "note":
		return "notice"
	}
	return "warning"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
