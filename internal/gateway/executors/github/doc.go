// Package github verifies a change by a workflow of the repository's own GitHub Actions: it dispatches the workflow on the
// default branch with the commit as input, and reads the run's conclusion.
//
// The workflow file is the default branch's, never the change's, so a change cannot edit its own verifier. A dispatched
// run hangs on the default branch's commit, not on the change; the gateway tells the verdict there.
//
// # One run for a job
//
// The job's id is the workflow's input correlation_id and stands in the run's title. GitHub answers a dispatch with the
// run's id where it can (return_run_details); older servers answer nothing, and a broken connection answers nothing
// either. Then the title is the proof: the run is looked up by it, and the dispatch is not repeated under the same id. A
// run counts only if it was dispatched, on the default branch, from the file in question, and, where its title names a
// commit, for this one.
//
// # Failure
//
// What GitHub refuses (no such workflow, no such input, no right) is an error of Start. A rate limit or a GitHub that does
// not answer is never a verdict: under a limit nothing is dispatched, and Check tries again. A dispatch that nothing is known of is InfraError once the run has had Settle to appear.
// Only the conclusion success is success; skipped, neutral, stale, action_required and words that are new to us are
// Blocked unless the policy accepts them.
package github
