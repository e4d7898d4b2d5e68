package github

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

// Conclusions of GitHub that say that nothing was verified; a policy may accept these and no others.
var acceptable = []string{"skipped", "neutral", "stale", "action_required"}

// conclude maps a conclusion of GitHub's to ours.
func conclude(conclusion string, accept []string) executors.Conclusion {
	switch conclusion {
	case "success":
		return executors.Success
	case "failure", "startup_failure":
		return executors.Failure
	case "timed_out":
		return executors.TimedOut
	case "cancelled":
		return executors.Cancelled
	}
	if slices.Contains(acceptable, conclusion) && slices.Contains(accept, conclusion) {
		return executors.Success
	}
	return executors.Blocked
}

// outcome makes the result of a run that is completed.
func outcome(run Run, jobs []Step, accept []string) *executors.Outcome {
	o := &executors.Outcome{
		Conclusion: conclude(run.Conclusion, accept), ExternalURL: run.URL, StartedAt: run.StartedAt, CompletedAt: run.UpdatedAt,
		Output: report(run, jobs),
	}
	if o.StartedAt.IsZero() {
		o.StartedAt = run.CreatedAt
	}
	// A run whose every job was skipped by a condition can be green all the same.
	if run.Conclusion == "success" && len(jobs) > 0 && !slices.ContainsFunc(jobs, func(j Step) bool { return j.Conclusion == "success" }) {
		o.Conclusion = executors.Blocked
		o.Reason = "The workflow run is green, but none of its jobs did anything."
		return o
	}
	if o.Conclusion == executors.Success {
		return o
	}
	o.Reason = reason(run, jobs, o.Conclusion)
	return o
}

func reason(run Run, jobs []Step, c executors.Conclusion) string {
	failed := failures(jobs)
	switch {
	case len(failed) > 0 && c == executors.Failure:
		return fmt.Sprintf("The workflow failed in %s.", strings.Join(failed[:min(len(failed), 3)], ", "))
	case run.Conclusion == "startup_failure":
		return "GitHub could not start the workflow: its file is not valid."
	case c == executors.Failure:
		return "The workflow failed."
	case c == executors.TimedOut:
		return "The workflow ran out of time."
	case c == executors.Cancelled:
		return "The workflow run was cancelled."
	case run.Conclusion == "":
		return "The workflow run ended without a conclusion; nothing was verified."
	default:
		return fmt.Sprintf("The workflow run ended as %q; nothing was verified.", run.Conclusion)
	}
}

// failures names the jobs and steps that did not pass.
func failures(jobs []Step) []string {
	var out []string
	for _, j := range jobs {
		if !bad(j.Conclusion) {
			continue
		}
		name := fmt.Sprintf("job %q", j.Name)
		for _, s := range j.Steps {
			if bad(s.Conclusion) {
				name += fmt.Sprintf(", step %q", s.Name)
				break
			}
		}
		out = append(out, name)
	}
	return out
}

func bad(conclusion string) bool {
	return conclusion != "" && conclusion != "success" && conclusion != "skipped" && conclusion != "neutral"
}

// report is what a person or an agent reads of the run: each job, its failed steps and where the log is.
func report(run Run, jobs []Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (attempt %d)\n%s\n", run.Title, word(run.Conclusion), max(run.Attempt, 1), run.URL)
	for _, j := range jobs {
		fmt.Fprintf(&b, "%s: %s", j.Name, word(j.Conclusion))
		if bad(j.Conclusion) && j.URL != "" {
			fmt.Fprintf(&b, ", log: %s", j.URL)
		}
		b.WriteString("\n")
		for _, s := range j.Steps {
			if bad(s.Conclusion) {
				fmt.Fprintf(&b, "  %s: %s\n", s.Name, s.Conclusion)
			}
		}
	}
	text := b.String()
	if len(text) > executors.MaxOutput {
		text = strings.ToValidUTF8(text[:executors.MaxOutput], "")
	}
	return text
}

func word(conclusion string) string {
	if conclusion == "" {
		return "no conclusion"
	}
	return conclusion
}
