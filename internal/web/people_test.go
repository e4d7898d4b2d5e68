package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// A person pauses an agent, the page says so, and lets it go on; work changes hands with a word.
func TestHoldsAndHandOver(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), t.Context()
	bob, err := client.New(srv.URL, "reviewer", client.WithAgent("bob", "codex"), client.WithSession("bob-s"))
	if err != nil {
		t.Fatal(err)
	}
	defer bob.Close()
	for _, c := range []*client.AgentCoordinationClient{ana, bob} {
		if _, err := c.RegisterSession(ctx, client.RegisterSession{CurrentTask: "something"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: "a.go"}); err != nil {
		t.Fatal(err)
	}
	act := func(name string, form url.Values) {
		t.Helper()
		if status, body, _ := b.do(http.MethodPost, "/ui/act/"+name, form); status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, status, body)
		}
	}
	act("pause", url.Values{"id": {"ana"}, "reason": {"a word first"}})
	has(t, "the fleet", b.get("/ui/fleet"), ">Held<", "Paused by", "a word first")
	has(t, "the agent", b.get("/ui/agents/ana"), "/ui/dialog/resume?id=ana")
	act("resume", url.Values{"id": {"ana"}})
	act("nudge", url.Values{"id": {"ana"}})
	has(t, "what changes hands", b.get("/ui/dialog/hand-over?id=ana"), "0 tasks and 1 lock change hands", "<option>bob</option>")
	act("hand-over", url.Values{"id": {"ana"}, "to": {"bob"}, "reason": {"a.go is half done"}})
	if held, err := bob.CheckLocks(ctx, client.CheckLocks{LockedBy: "bob"}); err != nil || held.Count != 1 {
		t.Errorf("%+v %v", held, err)
	}
}

// What is put off is hidden and counted apart; a command that a rule stopped waits for a person, who lets it through.
func TestSnoozeAndGuardrails(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), t.Context()
	got, err := ana.CheckGuardrail(ctx, client.CheckGuardrail{Rules: []string{"force-push-protected"}, Command: "git push --force origin main", Why: "rewrites history"})
	if err != nil || got.ActID == "" {
		t.Fatalf("%+v %v", got, err)
	}
	has(t, "it waits", b.get("/ui/"), "One thing needs you", "Guardrail", "git push --force origin main", "Let it happen")
	if status, body, _ := b.do(http.MethodPost, "/ui/act/snooze", url.Values{"id": {"act-" + got.ActID}, "for": {"15 minutes"}}); status != http.StatusOK {
		t.Fatalf("snooze: %d %s", status, body)
	}
	has(t, "it is put off", b.get("/ui/"), "Nothing needs you")
	has(t, "it is kept apart", b.get("/ui/?show=snoozed"), "git push --force", "Show it again", `Snoozed <span class="num">1<`)
	has(t, "what is asked", b.get("/ui/dialog/approve-act?id="+got.ActID), "may run this very command once")
	if status, body, _ := b.do(http.MethodPost, "/ui/act/approve-act", url.Values{"id": {got.ActID}}); status != http.StatusOK {
		t.Fatalf("approve: %d %s", status, body)
	}
	again, err := ana.CheckGuardrail(ctx, client.CheckGuardrail{Rules: []string{"force-push-protected"}, Command: "git push --force origin main", Why: "rewrites history"})
	if err != nil || again.Action != "allow" {
		t.Errorf("let through: %+v %v", again, err)
	}
}

// Use is shown by day and by agent; a budget that is used up needs a person.
func TestCost(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), t.Context()
	has(t, "nothing", b.get("/ui/cost"), "No use is reported yet", "coordctl usage report")
	if status, body, _ := b.do(http.MethodPost, "/ui/act/set-budget", url.Values{"id": {""}, "name": {"day"}, "usd": {"2"}, "period": {"day"}, "action": {"stop"}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	usd := 3.5
	if _, err := ana.ReportUsage(ctx, client.ReportUsage{Reports: []client.UsageReport{{Key: "k", InputTokens: 12_000, CostUSD: &usd}}}); err != nil {
		t.Fatal(err)
	}
	has(t, "cost", b.get("/ui/cost"), "$3.50 in 30 days", `class="cost"`, "$3.50 of $2.00", "stopped")
	if body := b.get("/ui/"); !strings.Contains(body, "Budget day is used up") {
		t.Error("the budget is not shown first")
	}
	if body := b.get("/ui/audit?op=set_budget"); !strings.Contains(body, "set_budget") {
		t.Error("the audit")
	}
	if _, body, h := b.do(http.MethodGet, "/ui/audit.ndjson?op=set_budget", nil); !strings.HasPrefix(body, `{"id"`) || !strings.Contains(h.Get("Content-Disposition"), "audit.ndjson") {
		t.Errorf("the export: %s", body)
	}
}
