package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	gh "github.com/google/go-github/v88/github"

	ghexec "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/github"
)

// maxRuns bounds how many runs Find reads; GitHub itself lists at most 1000 for a search.
const maxRuns = 1000

// Dispatch implements the executor's Actions.
func (c *Client) Dispatch(ctx context.Context, repository, workflow string, inputs map[string]string) (ghexec.Run, error) {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return ghexec.Run{}, refused(err)
	}
	branch, err := c.defaultBranch(ctx, client, owner, name)
	if err != nil {
		return ghexec.Run{}, refused(err) // nothing was sent yet
	}
	given := make(map[string]any, len(inputs))
	for k, v := range inputs {
		given[k] = v
	}
	request := gh.CreateWorkflowDispatchEventRequest{Ref: branch, Inputs: given, ReturnRunDetails: gh.Ptr(true)}
	details, _, err := client.Actions.CreateWorkflowDispatchEventByFileName(ctx, owner, name, workflow, request)
	if status(err) == http.StatusUnprocessableEntity && says(err, "return_run_details") {
		// A server from before 2026 that checks the members it is given.
		request.ReturnRunDetails = nil
		details, _, err = client.Actions.CreateWorkflowDispatchEventByFileName(ctx, owner, name, workflow, request)
	}
	if err != nil {
		return ghexec.Run{}, dispatchError(repository, workflow, branch, err)
	}
	if details == nil || details.WorkflowRunID == nil {
		return ghexec.Run{}, nil
	}
	url := ""
	if details.HTMLURL != nil {
		url = *details.HTMLURL
	}
	return ghexec.Run{ID: *details.WorkflowRunID, Attempt: 1, Branch: branch, Status: "queued", URL: url}, nil
}

// refused marks an error from before the dispatch was sent: nothing runs.
func refused(err error) error {
	if errors.Is(err, ghexec.ErrLimited) {
		return err
	}
	return fmt.Errorf("%w: %w", ghexec.ErrRefused, err)
}

func dispatchError(repository, workflow, branch string, err error) error {
	err = classify(err)
	if errors.Is(err, ghexec.ErrLimited) {
		return err
	}
	switch code := status(err); {
	case code == http.StatusNotFound:
		return fmt.Errorf("%w to dispatch %s of %s: it is not on the branch %s, or the credentials lack actions:write", ghexec.ErrRefused, workflow, repository, branch)
	case code >= 400 && code < 500 && code != http.StatusRequestTimeout:
		return fmt.Errorf("%w to dispatch %s of %s: %s", ghexec.ErrRefused, workflow, repository, message(err))
	}
	return fmt.Errorf("dispatching %s of %s: %w", workflow, repository, err)
}

// Find implements the executor's Actions.
func (c *Client) Find(ctx context.Context, repository, workflow string, since time.Time) ([]ghexec.Run, error) {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return nil, err
	}
	branch, err := c.defaultBranch(ctx, client, owner, name)
	if err != nil {
		return nil, err
	}
	opts := &gh.ListWorkflowRunsOptions{
		Branch: branch, Event: "workflow_dispatch", Created: ">=" + since.UTC().Format(time.RFC3339), ExcludePullRequests: true,
		ListOptions: gh.ListOptions{PerPage: perPage},
	}
	var runs []ghexec.Run
	for len(runs) < maxRuns {
		page, resp, err := client.Actions.ListWorkflowRunsByFileName(ctx, owner, name, workflow, opts)
		if status(err) == http.StatusNotFound {
			return nil, nil // no such workflow: it has no runs
		}
		if err != nil {
			return nil, fmt.Errorf("the runs of %s in %s: %w", workflow, repository, classify(err))
		}
		for _, r := range page.WorkflowRuns {
			// GitHub's filters are asked for above; what comes is checked all the same.
			if r.GetEvent() == "workflow_dispatch" && r.GetHeadBranch() == branch {
				runs = append(runs, run(r))
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	slices.SortFunc(runs, func(a, b ghexec.Run) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return runs, nil
}

func run(r *gh.WorkflowRun) ghexec.Run {
	return ghexec.Run{
		ID: r.GetID(), Attempt: r.GetRunAttempt(), Title: r.GetDisplayTitle(), Branch: r.GetHeadBranch(), Status: r.GetStatus(),
		Conclusion: r.GetConclusion(), URL: r.GetHTMLURL(), CreatedAt: r.GetCreatedAt().Time, StartedAt: r.GetRunStartedAt().Time,
		UpdatedAt: r.GetUpdatedAt().Time,
	}
}

// Run implements the executor's Actions.
func (c *Client) Run(ctx context.Context, repository string, id int64) (ghexec.Run, error) {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return ghexec.Run{}, err
	}
	r, _, err := client.Actions.GetWorkflowRunByID(ctx, owner, name, id)
	if status(err) == http.StatusNotFound {
		return ghexec.Run{}, fmt.Errorf("%w: %d in %s", ghexec.ErrNoRun, id, repository)
	}
	if err != nil {
		return ghexec.Run{}, fmt.Errorf("workflow run %d of %s: %w", id, repository, classify(err))
	}
	return run(r), nil
}

// Jobs implements the executor's Actions.
func (c *Client) Jobs(ctx context.Context, repository string, id int64, attempt int) ([]ghexec.Step, error) {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return nil, err
	}
	var out []ghexec.Step
	for opts := (&gh.ListOptions{PerPage: perPage}); len(out) < maxRuns; {
		page, resp, err := client.Actions.ListWorkflowJobsAttempt(ctx, owner, name, id, int64(attempt), opts)
		if status(err) == http.StatusNotFound {
			return nil, fmt.Errorf("%w: attempt %d of %d in %s", ghexec.ErrNoRun, attempt, id, repository)
		}
		if err != nil {
			return nil, fmt.Errorf("the jobs of workflow run %d of %s: %w", id, repository, classify(err))
		}
		for _, j := range page.Jobs {
			job := ghexec.Step{Name: j.GetName(), Status: j.GetStatus(), Conclusion: j.GetConclusion(), URL: j.GetHTMLURL()}
			for _, s := range j.Steps {
				job.Steps = append(job.Steps, ghexec.Step{Name: s.GetName(), Status: s.GetStatus(), Conclusion: s.GetConclusion()})
			}
			out = append(out, job)
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return out, nil
}

// Cancel implements the executor's Actions.
func (c *Client) Cancel(ctx context.Context, repository string, id int64) error {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return err
	}
	_, err = client.Actions.CancelWorkflowRunByID(ctx, owner, name, id)
	var accepted *gh.AcceptedError
	switch {
	case err == nil, errors.As(err, &accepted):
		return nil
	case status(err) == http.StatusConflict, status(err) == http.StatusNotFound:
		return nil // it has ended, or it is no longer there
	}
	return fmt.Errorf("cancelling workflow run %d of %s: %w", id, repository, classify(err))
}
