package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

func issue(action string, number int, state string, labels ...string) map[string]any {
	var list []any
	for _, l := range labels {
		list = append(list, map[string]any{"name": l})
	}
	return map[string]any{
		"action": action, "repository": repository(), "sender": map[string]any{"login": "dev"},
		"issue": map[string]any{"number": number, "state": state, "title": "Rework the token", "body": "all of it", "html_url": "https://" + remote + "/issues/3", "labels": list, "updated_at": "2026-01-01T00:00:00Z"},
	}
}

func TestLabelsLockAndAssign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	locked := func() (out []string) {
		held, err := w.store.CheckLocks(context.Background(), ident.Caller{ProjectID: w.caller().ProjectID, Repository: remote}, client.CheckLocks{LockedBy: "issue:acme/shop#3"})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range held.Locks {
			out = append(out, l.FilePath)
		}
		return out
	}
	w.deliverDone("issues", issue("labeled", 3, "open", "bug"))
	if w.count(`select count(*) from public.agents`) != 0 {
		t.Error("a label that asks for nothing made an agent")
	}
	w.deliverDone("issues", issue("labeled", 3, "open", "bug", "locked:src/auth/", "locked:go.mod"))
	if got := locked(); len(got) != 2 {
		t.Fatalf("%v", got)
	}
	w.deliverDone("issues", issue("unlabeled", 3, "open", "locked:go.mod"))
	if got := locked(); len(got) != 1 || got[0] != "go.mod" {
		t.Errorf("%v", got)
	}
	if n, err := w.store.RenewLabelLocks(context.Background(), labelTTL); err != nil || n != 1 {
		t.Errorf("renewed %d, %v", n, err)
	}
	// A change to it goes past the lock: that asks for more, and names the holder.
	w.forge.set(func(f *fakeForge) { f.files = append(f.files[:0], changed("go.mod")...) })
	w.deliver("push", push("main", sha(0), sha(1), 1000))
	c := w.await(sha(1), "it was routed", func(c client.ChangesetDetail) bool { return c.RouteVersion == 1 })
	if len(c.LockViolations) != 1 || c.LockViolations[0].Holder != "issue:acme/shop#3" {
		t.Errorf("%+v", c.LockViolations)
	}
	w.deliverDone("issues", issue("closed", 3, "closed", "locked:go.mod"))
	if got := locked(); len(got) != 0 {
		t.Errorf("after closing: %v", got)
	}
	for range 2 {
		w.deliverDone("issues", issue("labeled", 4, "open", "agent:ana", "status:assigned"))
	}
	if n := w.count(`select count(*) from public.work_queue where task_type = 'issue' and 'agent:ana' = any (labels)`); n != 1 {
		t.Errorf("%d tasks", n)
	}
}

// A task that a label assigns is for the agent it names, whatever others call themselves or can do.
func TestOnlyTheAssignedAgentGetsTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	w.deliverDone("issues", issue("labeled", 4, "open", "agent:ana", "status:assigned"))
	take := func(agent string, tags ...string) client.Work {
		t.Helper()
		who, err := w.store.Resolve(context.Background(), ident.Principal{Name: "key:test", ProjectID: w.caller().ProjectID, Scopes: []ident.Scope{ident.Write}}, ident.Claim{Agent: agent, Repository: remote}, true)
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.store.ClaimWork(context.Background(), who, client.GetWork{Tags: tags, LeaseSeconds: 60, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := take("bert"); got.Success {
		t.Errorf("bert got %+v", got)
	}
	if got := take("bert", "agent:ana"); got.Success {
		t.Errorf("bert, calling himself ana, got %+v", got)
	}
	if got := take("ana"); !got.Success || got.TaskType != "issue" {
		t.Errorf("ana got %+v", got)
	}
}

func TestAnAgentsBranchHoldsWhatItChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.files = changed("src/a.go")
	w.run()
	w.deliver("push", push("agent/ana/fix-1", "", sha(1), 1000))
	c := w.await(sha(1), "it was routed", func(c client.ChangesetDetail) bool { return c.RouteVersion == 1 })
	if c.AgentID != "ana" || len(c.LockViolations) != 0 {
		t.Errorf("%+v", c.Changeset)
	}
	w.eventually("its file is locked", func() bool {
		held, err := w.store.CheckLocks(context.Background(), ident.Caller{ProjectID: w.caller().ProjectID, Repository: remote}, client.CheckLocks{LockedBy: "ana"})
		return err == nil && len(held.Locks) == 1 && held.Locks[0].FilePath == "src/a.go" && strings.Contains(held.Locks[0].Reason, "agent/ana/fix-1")
	})
}
