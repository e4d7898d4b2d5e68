package github_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
	ghexec "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]githubtest.Workflow{"run details": {}, "204": {NoRunDetails: true}, "204, strict": {NoRunDetails: true, StrictMembers: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executortest.Run(t, func(t *testing.T) executortest.Place {
				kinds := map[string]executortest.Kind{}
				w := mode
				w.Script = func(in map[string]string) githubtest.Script {
					switch kinds[in["correlation_id"]] {
					case executortest.Fails:
						return githubtest.Script{Conclusion: "failure", Jobs: []githubtest.Job{{Name: "test", Conclusion: "failure"}}}
					case executortest.Hangs:
						return githubtest.Script{Hold: true}
					case executortest.Floods:
						return githubtest.Script{Conclusion: "failure", Jobs: manyJobs(300)}
					}
					return githubtest.Script{Conclusion: "success"}
				}
				b := newBench(t, w)
				o := ghexec.Options{Settle: time.Nanosecond} // the fake has no lag here
				return executortest.Place{
					Executor: b.executor(o), Restart: func() executors.Executor { return b.executor(o) },
					Job: func(kind executortest.Kind) executors.Job {
						job := b.job()
						kinds[job.ID] = kind
						return job
					},
					Ran: func(job executors.Job) int {
						n := 0
						for _, run := range b.r.Runs() {
							if run.Inputs["correlation_id"] == job.ID {
								n++
							}
						}
						return n
					},
					Slack: 500 * time.Millisecond,
				}
			})
		})
	}
}

func manyJobs(n int) []githubtest.Job {
	out := make([]githubtest.Job, 0, n)
	for i := range n {
		j := githubtest.Job{Name: fmt.Sprintf("job %d %s", i, strings.Repeat("é", 100)), Conclusion: "failure"}
		for s := range 5 {
			j.Steps = append(j.Steps, githubtest.Job{Name: fmt.Sprintf("step %d %s", s, strings.Repeat("x", 100)), Conclusion: "failure"})
		}
		out = append(out, j)
	}
	return out
}
