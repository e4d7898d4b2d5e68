package coord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

func (m *mind) exec(sql string, args ...any) {
	m.t.Helper()
	if _, err := m.pool.Exec(context.Background(), sql, args...); err != nil {
		m.t.Fatalf("%s: %v", sql, err)
	}
}

func (m *mind) count(sql string, args ...any) (n int) {
	m.t.Helper()
	if err := m.pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		m.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// sweep runs the upkeep until there is nothing left to count.
func (m *mind) sweep() coord.SweptMemory {
	m.t.Helper()
	var all coord.SweptMemory
	for {
		did, err := m.store.SweepMemory(context.Background(), 100)
		if err != nil {
			m.t.Fatal(err)
		}
		all.Folded += did.Folded
		all.Archived += did.Archived
		all.Deleted += did.Deleted
		all.Indexed += did.Indexed
		all.Embedded += did.Embedded
		if did.Folded+did.Indexed == 0 {
			return all
		}
	}
}

func TestMemoriesStayInTheirProject(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	web, app := m.as("web", "ana"), m.as("app", "ana")
	m.remember(web, client.Remember{Summary: "the signing key of the release lives in vault/release"})
	m.remember(app, client.Remember{Summary: "screenshots are compared with pixelmatch"})
	// The worst case of a hash collision: the other project's row has this project's very terms, and the same place in a
	// session of the same number.
	m.exec(`update coord.memory_index i set terms = w.terms, sig = w.sig, group_id = w.group_id, seq = w.seq + 1
		from coord.memory_index w where w.project_id = $1 and i.project_id = $2`, web.ProjectID, app.ProjectID)
	for _, small := range []bool{true, false} {
		if !small { // beyond the size that is scored whole, so that every query of the plan is used
			m.exec(`insert into coord.memory_stat (project_id, n, groups) values ($1, 100000, 10) on conflict (project_id) do update set n = 100000`, web.ProjectID)
			m.exec(`insert into coord.memory_index select project_id, id + 1000 + g, group_id, 100 + g, kind, at, len_title, len_body, flags, skill, version, rev, sig, terms
				from coord.memory_index, generate_series(1, 1100) g where project_id = $1`, app.ProjectID)
		}
		for _, q := range []client.Recall{{TaskDescription: "signing key of the release"}, {}, {Paths: []string{"vault/release"}}, {TaskDescription: "release", EventType: "discovery"}} {
			got := m.recall(web, q)
			if got.Count != 1 || got.Memories[0].Summary != "the signing key of the release lives in vault/release" {
				t.Errorf("small %v: %+v found %v", small, q, summaries(got))
			}
		}
	}
	if got := m.recall(m.as("app", "ana"), client.Recall{Scope: "all", TaskDescription: "signing key of the release", Limit: 100}); got.Count != 1 || got.Memories[0].Project != "web" {
		t.Errorf("every project: %v", summaries(got))
	}
	bound := app
	bound.Bound = true
	for _, mem := range m.recall(bound, client.Recall{Scope: "all", TaskDescription: "signing key of the release", Limit: 100}).Memories {
		if mem.Project != "app" || strings.Contains(mem.Summary, "vault") {
			t.Errorf("a key bound to app saw %+v", mem)
		}
	}
}

func TestObservationsKnowWhenTheirFileChanged(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	m.remember(ana, client.Remember{Summary: "handler.go retries twice on timeouts", Path: "api/handler.go", LineFrom: 10, LineTo: 20, Digest: "d1"})
	m.remember(ana, client.Remember{Summary: "router.go keeps routes in a timeouts trie", Path: "api/router.go", Digest: "r1"})
	m.remember(ana, client.Remember{Summary: "handler.go was written for timeouts of the old gateway", Path: "api/handler.go"})
	report := func(digest string) client.ReportedDigests {
		out, err := m.store.ReportDigests(context.Background(), ana, client.ReportDigests{Files: []client.FileDigest{{Path: "api/handler.go", Digest: digest}}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	stale := func() (out []string) {
		for _, mem := range m.recall(ana, client.Recall{TaskDescription: "timeouts handler.go router.go"}).Memories {
			if mem.Stale {
				out = append(out, mem.Summary)
				if !strings.Contains(mem.Why, "stale") {
					t.Errorf("why: %s", mem.Why)
				}
			}
		}
		return out
	}
	if got := report("d1"); got.Changed != 1 || got.MarkedStale != 0 || len(stale()) != 0 {
		t.Errorf("the digest seen: %+v", got)
	}
	if got := report("d2"); got.MarkedStale != 1 || len(stale()) != 1 || !strings.Contains(stale()[0], "retries") {
		t.Errorf("another digest: %+v, stale %v", got, stale())
	}
	if got := report("d2"); got.Changed != 0 || got.MarkedStale != 0 {
		t.Errorf("said again: %+v", got)
	}
	no := false
	if got := m.recall(ana, client.Recall{TaskDescription: "handler.go retries twice on timeouts", IncludeStale: &no}); strings.Contains(strings.Join(summaries(got), " "), "retries") {
		t.Errorf("stale ones were to be left out: %v", summaries(got))
	}
	if got := report("d1"); got.MarkedFresh != 1 || len(stale()) != 0 {
		t.Errorf("the change was taken back: %+v", got)
	}
	if got := report(""); got.MarkedStale != 1 {
		t.Errorf("the file is gone: %+v", got)
	}
}

func TestAnotherBranchMakesNothingStale(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	m.remember(ana, client.Remember{Summary: "the handler retries twice", Path: "api/handler.go", Digest: "d1", Branch: "main"})
	m.remember(ana, client.Remember{Summary: "the handler keeps no state", Path: "api/handler.go", Digest: "d1"}) // somebody whose branch is unknown
	steps := []struct {
		branch, digest string
		stale, fresh   int
	}{
		{"main", "d1", 0, 0},
		{"feature", "d2", 0, 0}, // a look at another branch
		{"main", "d1", 0, 0},    // and back: nothing flips
		{"main", "d2", 2, 0},    // merged
		{"feature", "d1", 0, 1}, // taken back there: only what names no branch stands again
		{"main", "d1", 0, 1},
	}
	for i, s := range steps {
		out, err := m.store.ReportDigests(context.Background(), ana, client.ReportDigests{Branch: s.branch, Files: []client.FileDigest{{Path: "api/handler.go", Digest: s.digest}}})
		if err != nil || out.MarkedStale != s.stale || out.MarkedFresh != s.fresh {
			t.Errorf("step %d, %s at %s: %+v %v", i, s.branch, s.digest, out, err)
		}
	}
}

func TestWorkingMemoryUnderConcurrentUpdates(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	ctx := context.Background()
	add := func(text string, pinned bool) client.WorkingUpdated {
		out, err := m.store.UpdateWorking(ctx, ana, client.WorkingUpdate{ContextItem: client.WorkingItem{Type: "note", Content: text, Pinned: pinned}, TokenBudget: 300})
		if err != nil {
			t.Error(err)
		}
		return out
	}
	if out := add("PINNED: never push to the branch release", true); !out.Success {
		t.Fatalf("%+v", out)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				if out := add(fmt.Sprintf("Note %d-%d. ", i, j)+strings.Repeat("The build of module alpha failed again because of the cache. ", 6), false); !out.Success || out.Tokens > 300 {
					t.Errorf("%+v", out)
				}
			}
		})
	}
	wg.Wait()
	w, err := m.store.GetWorking(ctx, ana, client.GetWorking{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, it := range w.Items {
		sum += it.Tokens
	}
	if w.Tokens > 300 || sum != w.Tokens || len(w.Items) == 0 || !w.Items[0].Pinned || !strings.HasPrefix(w.Items[0].Content, "PINNED: never push") {
		t.Errorf("%d tokens, %d in sum, first %+v", w.Tokens, sum, w.Items[0])
	}
	all, err := m.store.GetWorking(ctx, ana, client.GetWorking{Originals: true})
	if err != nil || len(all.Items) != 21 {
		t.Fatalf("%d originals, %v", len(all.Items), err)
	}
	for _, it := range all.Items[1:] {
		if !strings.HasSuffix(it.Content, "because of the cache. ") {
			t.Errorf("an original was changed: %q", it.Content)
		}
	}
	if out := add(strings.Repeat("a pinned text that does not fit ", 60), true); out.Success || out.Reason != "over_budget" {
		t.Errorf("%+v", out)
	}
	if n := m.count(`select count(*)::int from public.memory_working`); n != 21 {
		t.Errorf("%d items after the refusal", n)
	}
}

// brokenModel fails; the built-in shortening serves.
type brokenModel struct{ calls int }

func (*brokenModel) Name() string { return "broken" }
func (b *brokenModel) Summarise(context.Context, string, int) (string, error) {
	b.calls++
	return "", errors.New("the endpoint answered 500")
}

func TestWorkingMemorySaysWhenTheModelFails(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	model := &brokenModel{}
	m.store.SummariseWith(model)
	ana := m.as("web", "ana")
	var last client.WorkingUpdated
	for i := range 4 {
		var err error
		last, err = m.store.UpdateWorking(context.Background(), ana, client.WorkingUpdate{TokenBudget: 200, ContextItem: client.WorkingItem{
			Type: "log", Content: fmt.Sprintf("Step %d. ", i) + strings.Repeat("The test of the parser failed with E1042. ", 9),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if model.calls == 0 || last.CompressedBy != recall.Extractive || len(last.Notes) != 1 || !strings.Contains(last.Notes[0], "answered 500") || last.Tokens > 200 {
		t.Errorf("%d calls, %+v", model.calls, last)
	}
}

func TestCountsFollowEveryChange(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	ctx := context.Background()
	var ids []string
	for i := range 30 {
		ids = append(ids, m.remember(ana, client.Remember{Summary: fmt.Sprintf("note %d about gateways", i), Lessons: []string{"check the gateways"}}).MemoryID)
	}
	m.remember(ana, client.Remember{Summary: "note 0 about gateways", Lessons: []string{"and the firewalls"}}) // merged, indexed again
	if _, err := m.store.StoreSkill(ctx, ana, client.StoreSkill{Name: "restart gateways", Steps: []any{"systemctl restart"}}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := m.store.SweepMemory(ctx, 7); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if out, err := m.store.ForgetMemory(ctx, ana, client.ForgetMemory{MemoryIDs: ids[:10], Reason: "test"}); err != nil || len(out.Forgotten) != 10 {
		t.Fatalf("%+v %v", out, err)
	}
	m.sweep()
	if n := m.count(`select count(*)::int from (
			select project_id, t as term, count(*) as n from coord.memory_index, unnest(terms) t group by 1, 2) x
		full join (select * from coord.memory_terms where n <> 0) y using (project_id, term) where x.n is distinct from y.n`); n != 0 {
		t.Errorf("%d terms are counted wrongly", n)
	}
	if n := m.count(`select count(*)::int from coord.memory_stat s join (select project_id, count(*) n, sum(len_title) lt, sum(len_body) lb from coord.memory_index group by 1) x
		using (project_id) where s.n = x.n and s.len_title = x.lt and s.len_body = x.lb and s.groups = 1`); n != 1 {
		t.Error("the project's figures are wrong")
	}
	if n := m.count(`select count(*)::int from coord.audit_log where operation = 'memory_forget' and cardinality(object_ids) = 10 and reason = 'test'`); n != 1 {
		t.Error("forgetting left no audit row")
	}
	if out, err := m.store.ForgetMemory(ctx, m.as("web", "ben"), client.ForgetMemory{MemoryIDs: ids[10:11]}); err != nil || out.Success || len(out.Unknown) != 1 {
		t.Errorf("ben forgot what ana remembered: %+v %v", out, err)
	}
	if _, err := m.store.GetMemory(ctx, ana, client.GetMemory{MemoryID: ids[0]}); !fault.Is(err, client.CodeNotFound) {
		t.Errorf("a forgotten memory: %v", err)
	}
}

func TestRetentionArchivesThenDeletes(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	c := fakeClock(t, m.pool)
	ana := m.as("web", "ana")
	ctx := context.Background()
	m.remember(ana, client.Remember{Summary: "the old cluster ran on port 7000"})
	if _, err := m.store.UpdateWorking(ctx, ana, client.WorkingUpdate{ContextItem: client.WorkingItem{Type: "note", Content: "x"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.store.MemoryRetention(ctx, ana, client.MemoryRetention{Layer: "episodic", ArchiveDays: 100, DeleteDays: 200}); err != nil {
		t.Fatal(err)
	}
	m.sweep()
	c.pass(101 * 24 * time.Hour)
	if did := m.sweep(); did.Archived != 1 || did.Deleted != 1 {
		t.Errorf("after 101 days: %+v", did)
	}
	q := client.Recall{TaskDescription: "port of the old cluster"}
	if got := m.recall(ana, q); got.Count != 0 || !got.NothingRelevant {
		t.Errorf("archived, but found: %+v", got)
	}
	q.IncludeArchived = true
	if got := m.recall(ana, q); got.Count != 1 || !got.Memories[0].Archived {
		t.Errorf("archived ones on request: %+v", got)
	}
	c.pass(100 * 24 * time.Hour)
	if did := m.sweep(); did.Deleted != 1 || m.count(`select count(*)::int from coord.memory_index`) != 0 {
		t.Errorf("after 201 days: %+v", did)
	}
	p, err := m.store.MemoryRetention(ctx, ana, client.MemoryRetention{})
	if err != nil || len(p.Policies) != 3 || p.Policies[0].DeleteDays != 200 || p.Policies[1].DeleteDays != 30 || p.Policies[2].ArchiveDays != 365 {
		t.Errorf("%+v %v", p, err)
	}
}

func TestExportComesBackElsewhere(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ctx := context.Background()
	ana, other := m.as("web", "ana"), m.as("app", "ben")
	for i := range 5 {
		m.remember(ana, client.Remember{Summary: fmt.Sprintf("fact %d about the flux capacitor", i), Lessons: []string{"l"}, Details: map[string]any{"k": i}, Tags: []string{"t"}})
	}
	if _, err := m.store.StoreSkill(ctx, ana, client.StoreSkill{Name: "charge the capacitor", Steps: []any{"wait", map[string]any{"run": "charge"}}}); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for after := int64(0); ; {
		page, err := m.store.ExportMemory(ctx, ana, client.ExportMemory{Format: "jsonl", After: after, Limit: 4})
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(page.Text)
		if after = page.Next; !page.Truncated {
			break
		}
	}
	for i, want := range []int{6, 0} {
		got, err := m.store.ImportMemory(ctx, other, client.ImportMemory{JSONL: text.String() + "\n", Source: "web"})
		if err != nil || got.Imported != want || got.Skipped != 6-want {
			t.Fatalf("import %d: %+v %v", i+1, got, err)
		}
	}
	found := m.recall(other, client.Recall{TaskDescription: "fact 3 about the flux capacitor"})
	if found.Count < 1 || found.Memories[0].Summary != "fact 3 about the flux capacitor" || found.Memories[0].AgentID != "ana" || found.Memories[0].Details["k"] != 3.0 {
		t.Errorf("%v", summaries(found))
	}
	md, err := m.store.ExportMemory(ctx, other, client.ExportMemory{})
	if err != nil || md.Count != 6 || !strings.Contains(md.Text, "## fact 0 about the flux capacitor") || !strings.Contains(md.Text, "## Skill: charge the capacitor\n") || !strings.Contains(md.Text, `2. {"run":"charge"}`) {
		t.Errorf("%v\n%s", err, md.Text)
	}
	for _, bad := range []string{`{"lessons":["no summary"]}`, "no JSON", `["x"]`} {
		if _, err := m.store.ImportMemory(ctx, other, client.ImportMemory{JSONL: `{"summary":"fine"}` + "\n" + bad}); !fault.Is(err, client.CodeInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestRecallKeepsToItsBudgetAndExplains(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	for i := range 12 {
		m.remember(ana, client.Remember{Summary: fmt.Sprintf("webhook %d is signed with the secret", i), Lessons: []string{strings.Repeat("verify the signature of webhook calls ", 5)}})
	}
	got := m.recall(ana, client.Recall{TaskDescription: "webhook signature secret", TokenBudget: 200, Explain: true})
	if got.Count == 0 || got.Tokens > 200 || !got.Truncated {
		t.Errorf("%d memories, %d tokens", got.Count, got.Tokens)
	}
	if s := got.Memories[0].Score; s == nil || s.Words <= 0 || len(s.Matched) == 0 || s.Parameters != recall.Default().Version {
		t.Errorf("%+v", s)
	}
	if got := m.recall(m.as("web", "ben"), client.Recall{TaskDescription: "webhook", Scope: "own"}); got.Count != 0 {
		t.Errorf("ben has no memories of his own: %v", summaries(got))
	}
	if _, err := m.store.Recall(context.Background(), m.as("web", ""), client.Recall{Scope: "own"}); !fault.Is(err, client.CodeInvalid) {
		t.Errorf("nobody's own: %v", err)
	}
	mcp := ana
	mcp.Door = "mcp"
	if one := m.recall(mcp, client.Recall{TaskDescription: "webhook", Limit: 1}).Memories[0]; one.Summary != "" || one.Content["summary"] == nil {
		t.Errorf("an MCP reply says everything twice: %+v", one)
	}
}

func TestTypingErrorsAreRepaired(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	if m.count(`select count(*)::int from pg_extension where extname = 'pg_trgm'`) == 0 {
		t.Skip("this Postgres has no pg_trgm: recall does not repair typing errors here")
	}
	m.remember(ana, client.Remember{Summary: "the certificate of the registry expires in March"})
	m.remember(ana, client.Remember{Summary: "E1042 means a broken manifest"})
	m.sweep()
	if got := m.recall(ana, client.Recall{TaskDescription: "certficate regstry"}); got.Count != 1 || !strings.Contains(got.Memories[0].Summary, "certificate") {
		t.Errorf("%+v", got)
	}
	if got := m.recall(ana, client.Recall{TaskDescription: "E1043"}); got.Count != 0 {
		t.Errorf("an error code was repaired: %v", summaries(got))
	}
}

func TestOneKeyOneMemory(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	ana.RequestKey = "k"
	for range 2 {
		_, _, err := m.store.Once(context.Background(), ana, "remember", []byte("h"), func(ctx context.Context) (out json.RawMessage, err error) {
			_, err = m.store.Remember(ctx, ana, client.Remember{Summary: "said once"})
			return json.RawMessage(`{}`), err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := m.count(`select merged from public.memory_episodic`); n != 0 {
		t.Errorf("the repeat was merged %d times instead of answered", n)
	}
}
