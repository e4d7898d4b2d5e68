package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

// two is a world with both places at hand.
func two(t *testing.T, files ...string) (w *world, inline, github *fakePlace) {
	t.Helper()
	inline, github = newPlace("inline"), newPlace("github")
	w = newWorld(t, func(c *Config) {
		c.Places = []Place{{Executor: inline, CheckEvery: 50 * time.Millisecond}, {Executor: github, CheckEvery: 100 * time.Millisecond}}
	})
	w.forge.files = changed(files...)
	return w, inline, github
}

func ends(c executors.Conclusion, reason string) func(executors.Job) *executors.Outcome {
	return func(executors.Job) *executors.Outcome { return &executors.Outcome{Conclusion: c, Reason: reason} }
}

func runs(executors.Job) *executors.Outcome { return nil }

func (p *fakePlace) count() (begun, ended int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.begun), len(p.ended)
}

func runOf(c client.ChangesetDetail, policy string) (out client.VerificationRun) {
	for _, r := range c.Runs {
		if r.Policy == policy {
			out = r // the latest attempt is last
		}
	}
	return out
}

func TestLadderGoesUpAndStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	w, inline, github := two(t, "a.go")
	inline.set(runs)
	w.run()
	w.deliver("push", push("main", sha(0), sha(1), 1000))
	c := w.await(sha(1), "tier 0 runs", func(c client.ChangesetDetail) bool { return runOf(c, "static-all").Status == "running" })
	if r := runOf(c, "unit-code"); r.Status != "pending" {
		t.Errorf("tier 1 is %s before tier 0 is done", r.Status)
	}
	inline.set(ends(executors.Failure, "gitleaks: a key"))
	c = w.state(sha(1), "failed")
	if r := runOf(c, "unit-code"); r.Conclusion != "cancelled" || !strings.Contains(r.Reason, "fail_fast") {
		t.Errorf("%+v", r)
	}
	if begun, _ := github.count(); begun != 0 || !strings.Contains(c.Reason, "gitleaks: a key") {
		t.Errorf("%d begun, %q", begun, c.Reason)
	}
	inline.set(ends(executors.Success, ""))
	w.deliver("push", push("main", sha(1), sha(2), 1001))
	if c = w.state(sha(2), "passed"); !runOf(c, "unit-code").Success {
		t.Errorf("%+v", c.Runs)
	}
}

func TestAFailureEndsWhatStillRuns(t *testing.T) {
	t.Parallel()
	w, _, github := two(t, "a.go")
	if _, err := w.store.CreatePolicy(context.Background(), w.caller(), client.CreatePolicy{Name: "second", Tier: 1, Patterns: []string{"**/*.go"}}); err != nil {
		t.Fatal(err)
	}
	github.set(runs)
	w.run()
	w.deliver("push", push("main", sha(0), sha(1), 1000))
	w.eventually("both run", func() bool { begun, _ := github.count(); return begun == 2 })
	github.set(func(j executors.Job) *executors.Outcome {
		if j.Policy.Name == "second" {
			return &executors.Outcome{Conclusion: executors.Failure, Reason: "red"}
		}
		return nil
	})
	w.state(sha(1), "failed")
	w.eventually("the other is ended where it runs", func() bool { _, ended := github.count(); return ended == 1 })
}

func TestOnlyInfrastructureIsTriedAgain(t *testing.T) {
	t.Parallel()
	w, inline, _ := two(t, "README.md")
	n := 0
	inline.set(func(executors.Job) *executors.Outcome {
		if n++; n == 1 {
			return &executors.Outcome{Conclusion: executors.InfraError, Reason: "no sandbox"}
		}
		return &executors.Outcome{Conclusion: executors.Success}
	})
	w.run()
	w.deliver("push", push("main", sha(0), sha(1), 1000))
	if c := w.state(sha(1), "passed"); len(c.Runs) != 2 || c.Runs[0].Conclusion != "infra_error" || c.Runs[1].Flaky {
		t.Errorf("%+v", c.Runs)
	}
	inline.set(ends(executors.Conclusion("skipped"), ""))
	w.exec(`update public.verification_results set infra_retries = 2 where status <> 'completed'`)
	w.deliver("push", push("main", sha(1), sha(2), 1001))
	w.eventually("its attempts are used up", func() bool {
		w.exec(`update public.verification_results set not_before = null, infra_retries = 2 where status = 'queued'`)
		return w.changeset(sha(2)).State == "error"
	})
	if c := w.changeset(sha(2)); !strings.Contains(c.Reason, "skipped") {
		t.Errorf("%q", c.Reason)
	}
}

func TestNothingThatCannotRunPasses(t *testing.T) {
	t.Parallel()
	w, _, github := two(t, "a.go", "go.mod") // tier 2 has no place here
	github.refuse = fmt.Errorf("no token")
	w.run()
	w.deliver("push", push("main", sha(0), sha(1), 1000))
	c := w.await(sha(1), "it is blocked", func(c client.ChangesetDetail) bool { return c.BlockedSince != "" })
	if c.State != "verifying" || runOf(c, "unit-code").Conclusion != "blocked" || !strings.Contains(runOf(c, "unit-code").Reason, "no token") || runOf(c, "deps").Conclusion != "blocked" {
		t.Errorf("%s %+v", c.State, c.Runs)
	}
	w.later(25 * time.Hour)
	w.g.byName["sweep"].poke()
	w.eventually("it ends in error", func() bool { w.g.byName["sweep"].poke(); return w.changeset(sha(1)).State == "error" })
}

func TestForcePushesLeaveOneLadder(t *testing.T) {
	t.Parallel()
	w, inline, _ := two(t, "README.md")
	inline.set(runs)
	w.run()
	before := ""
	for i := range 40 {
		w.deliver("push", push("main", before, sha(i), 1000)) // all within one second
		before = sha(i)
	}
	w.await(sha(39), "the last runs", func(c client.ChangesetDetail) bool { return runOf(c, "static-all").Status == "running" })
	w.eventually("the older are superseded", func() bool {
		return w.count(`select count(*) from public.changesets where state = 'superseded'`) == 39
	})
	w.eventually("and ended where they ran", func() bool { begun, ended := inline.count(); return ended == begun-1 })
	inline.set(ends(executors.Success, ""))
	w.state(sha(39), "passed")
}

func TestLateEventsChangeNothing(t *testing.T) {
	t.Parallel()
	w, _, _ := two(t, "README.md")
	w.run()
	w.deliver("push", push("main", sha(1), sha(2), 1002))
	w.state(sha(2), "passed")
	w.deliver("push", push("main", sha(0), sha(1), 1001)) // sent before, comes after
	if c := w.state(sha(1), "superseded"); len(c.Runs) != 0 {
		t.Errorf("%+v", c)
	}
	w.deliver("pull_request", pull("opened", 7, "main", sha(2), 1003, nil)) // the same head, the same base
	w.await(sha(2), "the pull request is known", func(c client.ChangesetDetail) bool { return c.PRNumber == 7 })
	if c := w.changeset(sha(2)); c.State != "passed" || c.RouteVersion != 1 {
		t.Errorf("%+v", c)
	}
	w.deliver("pull_request", pull("edited", 7, "main", sha(2), 1004, map[string]any{"base": map[string]any{"ref": "release", "sha": sha(0), "repo": map[string]any{"id": 1, "full_name": "acme/shop"}}}))
	w.eventually("edits of anything but the base are ignored", func() bool {
		return w.count(`select count(*) from coord.webhook_deliveries where state = 'ignored'`) == 1
	})
	w.deliver("pull_request", pull("opened", 8, "main", sha(2), 1005, map[string]any{"base": map[string]any{"ref": "release", "sha": sha(0), "repo": map[string]any{"id": 1, "full_name": "acme/shop"}}}))
	w.await(sha(2), "another base routes it anew", func(c client.ChangesetDetail) bool { return c.RouteVersion == 2 && c.State == "passed" })
}

func TestDraftsWait(t *testing.T) {
	t.Parallel()
	w, _, _ := two(t, "a.go")
	w.run()
	w.deliver("pull_request", pull("opened", 7, "topic", sha(1), 1000, map[string]any{"draft": true}))
	c := w.await(sha(1), "its static checks are done", func(c client.ChangesetDetail) bool { return runOf(c, "static-all").Success })
	if c.State != "verifying" || !c.Draft {
		t.Errorf("%s %q", c.State, c.Reason)
	}
	w.deliver("pull_request", pull("ready_for_review", 7, "topic", sha(1), 1001, nil))
	if c = w.state(sha(1), "passed"); !runOf(c, "unit-code").Success {
		t.Errorf("%+v", c.Runs)
	}
	w.deliver("pull_request", pull("synchronize", 7, "topic", sha(2), 1002, nil))
	w.deliver("pull_request", pull("closed", 7, "topic", sha(2), 1003, map[string]any{"state": "closed", "merged": true}))
	w.await(sha(2), "it is over", func(c client.ChangesetDetail) bool { return c.State == "cancelled" || c.State == "passed" })
}

// exec runs a statement.
func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.pool.Exec(context.Background(), sql, args...); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// later moves the database's clock.
func (w *world) later(d time.Duration) {
	w.t.Helper()
	w.exec(fmt.Sprintf(`create or replace function coord.now() returns timestamptz language sql volatile parallel safe
		as $$ select pg_catalog.clock_timestamp() + interval '%f seconds' $$`, d.Seconds()))
}

func code(err error) client.Code {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}
