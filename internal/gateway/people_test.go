package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// reviewed is a pull request that touches what a person must see, with its approval open.
func reviewed(t *testing.T) (*world, client.ChangesetDetail) {
	t.Helper()
	w, _, _ := two(t, "src/auth/token.go")
	w.run()
	w.deliver("pull_request", pull("opened", 7, "topic", sha(1), 1000, nil))
	c := w.state(sha(1), "awaiting_approval")
	if len(c.Approvals) != 1 || c.Approvals[0].Status != "pending" || c.Approvals[0].HeadSHA != sha(1) || c.Approvals[0].ExpiresAt == "" {
		t.Fatalf("%+v", c.Approvals)
	}
	return w, c
}

func comment(number int, login, body string, at string) map[string]any {
	return map[string]any{
		"action": "created", "repository": repository(), "sender": map[string]any{"login": login},
		"issue":   map[string]any{"number": number, "state": "open", "pull_request": map[string]any{"url": "x"}},
		"comment": map[string]any{"id": 1, "body": body, "created_at": at, "user": map[string]any{"login": login, "type": "User"}},
	}
}

func review(login, state, commit string) map[string]any {
	p := pull("submitted", 7, "topic", sha(1), 1001, nil)
	p["review"] = map[string]any{"id": 1, "state": state, "commit_id": commit, "submitted_at": "2026-01-01T00:00:00Z", "user": map[string]any{"login": login, "type": "User"}}
	return p
}

// deliverDone delivers and waits until it was done; it returns what the inbox says of it.
func (w *world) deliverDone(event string, payload map[string]any) (state, why string) {
	w.t.Helper()
	if got := w.deliver(event, payload); got != 202 {
		w.t.Fatalf("%d", got)
	}
	w.eventually("the delivery is done", func() bool {
		return w.count(`select count(*) from coord.webhook_deliveries where state in ('received', 'failed')`) == 0
	})
	if err := w.pool.QueryRow(context.Background(), `select state, coalesce(error, '') from coord.webhook_deliveries order by id desc limit 1`).Scan(&state, &why); err != nil {
		w.t.Fatal(err)
	}
	return state, why
}

func TestVotesCountForOneCommitAndNotOnesOwn(t *testing.T) {
	t.Parallel()
	w, c := reviewed(t)
	w.forge.set(func(f *fakeForge) { f.permission = map[string]string{"guest": "read"} })
	for _, tc := range []struct{ login, commit, why string }{
		{"dev", sha(1), ""},         // the author: counted nowhere
		{"rita", sha(9), "unknown"}, // another commit
		{"guest", sha(1), "write access"},
	} {
		_, why := w.deliverDone("pull_request_review", review(tc.login, "approved", tc.commit))
		if got := w.changeset(sha(1)); got.State != "awaiting_approval" || len(got.Approvals[0].Votes) != 0 || !strings.Contains(why, tc.why) {
			t.Errorf("%s: %s %+v (%s)", tc.login, got.State, got.Approvals[0].Votes, why)
		}
	}
	ctx, who := context.Background(), w.caller()
	own := who
	own.Person = "dev"
	vote := client.VoteApproval{ApprovalID: c.Approvals[0].ApprovalID}
	if _, err := w.store.VoteApproval(ctx, own, vote, "approve"); code(err) != client.CodeForbidden {
		t.Errorf("one's own change: %v", err)
	}
	agent := ident.Caller{ProjectID: who.ProjectID, Agent: "bot", By: "key:bot", Scopes: []ident.Scope{ident.Reviewer}}
	if _, err := w.store.VoteApproval(ctx, agent, vote, "approve"); code(err) != client.CodeForbidden {
		t.Errorf("an agent: %v", err)
	}
	stale := vote
	stale.HeadSHA = sha(5)
	if _, err := w.store.VoteApproval(ctx, who, stale, "approve"); code(err) != client.CodeConflict {
		t.Errorf("another commit: %v", err)
	}
	if out, err := w.store.VoteApproval(ctx, who, vote, "approve"); err != nil || out.Status != "approved" || out.ChangesetState != "passed" {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := w.store.VoteApproval(ctx, who, vote, "deny"); code(err) != client.CodeConflict {
		t.Errorf("after the decision: %v", err)
	}
	// A newer head starts without any approval.
	w.deliver("pull_request", pull("synchronize", 7, "topic", sha(2), 2000, nil))
	if c := w.state(sha(2), "awaiting_approval"); len(c.Approvals[0].Votes) != 0 {
		t.Errorf("%+v", c.Approvals)
	}
}

func TestADenialStands(t *testing.T) {
	t.Parallel()
	w, c := reviewed(t)
	w.deliverDone("pull_request_review", review("rita", "changes_requested", sha(1)))
	if got := w.state(sha(1), "failed"); !strings.Contains(got.Reason, "denied by rita") {
		t.Errorf("%q", got.Reason)
	}
	if _, err := w.store.RerunChangeset(context.Background(), w.caller(), client.RerunChangeset{ChangesetID: c.ChangesetID}); code(err) != client.CodeConflict {
		t.Errorf("run again: %v", err)
	}
}

func TestCommentsCommand(t *testing.T) {
	t.Parallel()
	w, _ := reviewed(t)
	w.forge.set(func(f *fakeForge) { f.permission = map[string]string{"guest": "read"} })
	for _, tc := range []struct{ login, body, at, state, why string }{
		{"guest", "/approve", "2027-01-01T00:00:00Z", "ignored", "no write access"},
		{"rita", "> /approve", "2027-01-01T00:00:00Z", "ignored", "no command"},
		{"rita", "/override", "2027-01-01T00:00:00Z", "ignored", "no command"},
		{"rita", "/approve", "1970-01-01T00:00:10Z", "ignored", "newer commit"}, // the head is of second 1000
		{"dev", "/override it is fine", "2027-01-01T00:00:00Z", "ignored", "may not override"},
		{"rita", "/rerun", "2027-01-01T00:00:00Z", "processed", ""},
	} {
		state, why := w.deliverDone("issue_comment", comment(7, tc.login, tc.body, tc.at))
		if state != tc.state || !strings.Contains(why, tc.why) {
			t.Errorf("%s by %s: %s %q", tc.body, tc.login, state, why)
		}
	}
	w.await(sha(1), "it was routed again", func(c client.ChangesetDetail) bool { return c.RouteVersion == 2 && c.State == "awaiting_approval" })
	w.deliverDone("issue_comment", comment(7, "rita", "looks good\n/approve nice", "2027-01-01T00:00:00Z"))
	if c := w.state(sha(1), "passed"); c.Approvals[0].DecidedBy != "rita" || c.Approvals[0].Votes[0].Source != "github_comment" {
		t.Errorf("%+v", c.Approvals)
	}
	w.deliver("pull_request", pull("synchronize", 7, "topic", sha(2), 2000, nil))
	w.state(sha(2), "awaiting_approval")
	w.deliverDone("issue_comment", comment(7, "sam", "/override the policy is wrong here", "2027-01-01T00:00:00Z"))
	c := w.state(sha(2), "passed")
	if c.Override == nil || c.Override.By != "sam" || c.Override.HeadSHA != sha(2) || !strings.Contains(c.Reason, "the policy is wrong here") {
		t.Errorf("%+v %q", c.Override, c.Reason)
	}
}

func TestAgentsSubmit(t *testing.T) {
	t.Parallel()
	w, _, _ := two(t, "README.md")
	w.run()
	ctx := context.Background()
	project := w.caller().ProjectID
	submit := func(in client.SubmitChangeset) (client.SubmittedChangeset, error) {
		c, err := w.store.Resolve(ctx, ident.Principal{Name: "key:bot", Agent: "bot", ProjectID: project, Scopes: []ident.Scope{ident.Write}}, ident.Claim{Session: "s"}, true)
		if err != nil {
			t.Fatal(err)
		}
		return w.store.SubmitChangeset(ctx, c, in)
	}
	in := client.SubmitChangeset{Repository: remote, Branch: "agent/bot/x", HeadSHA: sha(1), ChangedFiles: []string{"src/auth/login.go"}}
	first, err := submit(in)
	if err != nil || !first.Created || first.StatusURL != "/status/"+first.ChangesetID {
		t.Fatalf("%+v %v", first, err)
	}
	if again, err := submit(in); err != nil || again.Created || again.ChangesetID != first.ChangesetID {
		t.Errorf("%+v %v", again, err)
	}
	// What it claims can only add: the claimed path needs a person.
	if c := w.await(sha(1), "people are asked", func(c client.ChangesetDetail) bool {
		return len(c.Approvals) == 1 && c.Approvals[0].Status == "pending"
	}); c.AgentID != "bot" || c.SessionID != "s" || c.Source != "agent" || c.FileCount != 2 {
		t.Errorf("%+v", c.Changeset)
	}
	// Nobody can tell what the commit holds: its word is not enough.
	w.forge.set(func(f *fakeForge) { f.err = ErrElsewhere })
	if _, err := submit(client.SubmitChangeset{Branch: "b", HeadSHA: sha(2), ChangedFiles: []string{"README.md"}}); err != nil {
		t.Fatal(err)
	}
	c := w.await(sha(2), "it was routed", func(c client.ChangesetDetail) bool { return c.RouteVersion == 1 })
	if c.Provenance != "agent_claimed" || !c.FilesTruncated || len(c.Tiers) != 5 {
		t.Errorf("%s %v %v", c.Provenance, c.FilesTruncated, c.Tiers)
	}
	for _, bad := range []client.SubmitChangeset{{Repository: "nowhere", Branch: "b", HeadSHA: sha(3)}, {Repository: remote, Branch: "b", HeadSHA: sha(3), TaskID: "00000000-0000-0000-0000-000000000000"}} {
		if _, err := submit(bad); code(err) != client.CodeNotFound {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
