package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// actor is a caller who acts in a session of the forge's project.
func (w *world) actor(agent string) ident.Caller {
	w.t.Helper()
	project := w.caller().ProjectID
	name := ""
	if err := w.pool.QueryRow(context.Background(), `select name from public.projects where id = $1`, project).Scan(&name); err != nil {
		w.t.Fatal(err)
	}
	c, err := w.store.Resolve(context.Background(), ident.Principal{Name: "key:" + agent, Agent: agent, Scopes: []ident.Scope{ident.Read, ident.Write}},
		ident.Claim{Agent: agent, Session: agent + "-s", Project: name, Repository: "shop"}, true)
	if err != nil {
		w.t.Fatal(err)
	}
	two := 2
	if _, err := w.store.SetTrust(context.Background(), w.caller(), client.SetTrust{Agent: agent, Level: &two}); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// waitFor waits until ok.
func (w *world) waitFor(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.t.Fatalf("%s did not come about", what)
		}
	}
}

// A task is completed with a commit, the commit is pushed and fails, the task comes back with the findings, the mended
// commit passes, and only then is the task completed.
func TestTaskIsCompletedByTheVerdictOnItsCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan.set(func(j executors.Job) *executors.Outcome {
		if j.HeadSHA == sha(1) {
			return &executors.Outcome{
				Conclusion: executors.Failure, Reason: "gofmt would change a file",
				Findings: []executors.Finding{{Tool: "gofmt", Rule: "format", Level: "error", Message: "not formatted", Path: "a.go", Line: 3}},
			}
		}
		return &executors.Outcome{Conclusion: executors.Success}
	})
	w.run()
	ctx, ana := context.Background(), w.actor("ana")
	task, err := w.store.SubmitWork(ctx, ana, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "fix", Description: "mend it"}})
	if err != nil {
		t.Fatal(err)
	}
	status := func() string {
		got, err := w.store.GetTask(ctx, ana, client.TaskRef{TaskID: task.TaskID})
		if err != nil {
			t.Fatal(err)
		}
		return got.Task.Status
	}
	complete := func(head string) {
		t.Helper()
		work, err := w.store.ClaimWork(ctx, ana, client.GetWork{})
		if err != nil || !work.Success {
			t.Fatalf("%+v, %v", work, err)
		}
		if head == sha(2) && !strings.Contains(string(work.InputData), "not formatted") {
			t.Errorf("the findings are not with the task: %s", work.InputData)
		}
		done, err := w.store.CompleteWork(ctx, ana, client.CompleteWork{TaskID: task.TaskID, Success: true, HeadSHA: head})
		if err != nil || done.Status != "verifying" {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	complete(sha(1))
	w.deliver("push", push("agent/ana/"+task.TaskID, sha(0), sha(1), 1000))
	w.state(sha(1), "failed")
	w.waitFor("the task's return", func() bool { return status() == "pending" })
	complete(sha(2))
	w.deliver("push", push("agent/ana/"+task.TaskID, sha(1), sha(2), 2000))
	w.state(sha(2), "passed")
	w.waitFor("the task's completion", func() bool { return status() == "completed" })
}

// fakeChannel fails as often as it is told before it takes a message.
type fakeChannel struct {
	mu    sync.Mutex
	fail  int
	tries int
	got   []Notification
}

func (f *fakeChannel) Notify(_ context.Context, n Notification) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tries++; f.tries <= f.fail {
		return errors.New("away")
	}
	f.got = append(f.got, n)
	return nil
}

func TestPeopleAreToldWhenTheyAreNeeded(t *testing.T) {
	t.Parallel()
	channel := &fakeChannel{fail: 2}
	w := newWorld(t, func(c *Config) { c.Notify, c.Page = channel, "https://host/changesets/" })
	w.forge.set(func(f *fakeForge) {
		f.files = []route.File{{Path: "src/auth/token.md", Status: "modified", Additions: 3}}
	})
	w.run()
	if got := w.deliver("push", push("main", sha(0), sha(1), 1000)); got != http.StatusAccepted {
		t.Fatal(got)
	}
	c := w.state(sha(1), "awaiting_approval")
	w.waitFor("the message", func() bool { channel.mu.Lock(); defer channel.mu.Unlock(); return len(channel.got) > 0 })
	n := channel.got[0]
	if n.Kind != "needs_approval" || n.ChangesetID != c.ChangesetID || n.URL != "https://host/changesets/"+c.ChangesetID || !strings.Contains(n.Text, "security-review") || n.Project == "" || channel.tries != 3 {
		t.Errorf("%+v after %d tries", n, channel.tries)
	}
}

// A file that another agent holds, or held when it was changed, takes the change up a tier, and the violation is named.
func TestLockViolationsRaiseATier(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	ctx, bob, ana := context.Background(), w.actor("bob"), w.actor("ana")
	lock := func(path string) {
		t.Helper()
		if got, err := w.store.AcquireLock(ctx, bob, client.AcquireLock{FilePath: path, Reason: "rewrite"}, nil); err != nil || !got.Result.Success {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	lock("docs/held.md")
	lock("docs/was.md")
	if _, err := w.store.ReportChanges(ctx, ana, client.ReportChanges{Files: []client.ReportedFile{{FilePath: "docs/was.md"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.ReleaseLock(ctx, bob, client.ReleaseLock{FilePath: "docs/was.md"}); err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		path, branch string
		violated     bool
	}{{"docs/free.md", "agent/ana/x1", false}, {"docs/held.md", "agent/ana/x2", true}, {"docs/was.md", "agent/ana/x3", true}, {"docs/held.md", "agent/bob/x4", false}} {
		w.forge.set(func(f *fakeForge) {
			f.files = []route.File{{Path: tt.path, Status: "modified"}, {Path: "docs/a\x01b", Status: "added"}}
		})
		w.deliver("push", push(tt.branch, "", sha(i+1), int64(1000+i)))
		c := w.await(sha(i+1), "routing", func(c client.ChangesetDetail) bool { return c.RouteVersion > 0 })
		named := slices.ContainsFunc(c.Reasons, func(r client.RouteReason) bool {
			return r.Code == "lock_violation" && r.Path == tt.path && strings.Contains(r.Text, "bob")
		})
		if named != tt.violated || slices.Contains(c.Tiers, 1) != tt.violated || (len(c.LockViolations) > 0) != tt.violated {
			t.Errorf("%s on %s: tiers %v, violations %+v, reasons %+v", tt.path, tt.branch, c.Tiers, c.LockViolations, c.Reasons)
		}
	}
}

// A policy whose environment is not there is blocked, never passed.
func TestMissingEnvironmentBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	env := []string{"ROUTE_TEST_IS_NOT_SET"}
	if _, err := w.store.UpdatePolicy(context.Background(), w.caller(), client.UpdatePolicy{Name: "static-all", PolicyRest: client.PolicyRest{RequiredEnv: &env}}); err != nil {
		t.Fatal(err)
	}
	w.deliver("push", push("main", sha(0), sha(1), 1000))
	c := w.await(sha(1), "a blocked run", func(c client.ChangesetDetail) bool { return len(c.Runs) > 0 })
	if c.Runs[0].Conclusion != "blocked" || !strings.Contains(c.Runs[0].Reason, env[0]) || c.State == "passed" {
		t.Errorf("%+v", c)
	}
}
