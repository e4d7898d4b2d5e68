package ops_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

func use(key string, more ...any) map[string]any {
	return members(map[string]any{"key": key}, more...)
}

func (w *world) used(agent string, reports ...any) client.ReportedUsage {
	w.t.Helper()
	return must[client.ReportedUsage](w, anyone, agent, "s", "report_usage", map[string]any{"reports": reports})
}

func (w *world) budget(name string, more ...any) client.Budget {
	w.t.Helper()
	return must[client.Budget](w, admin, "", "", "set_budget", members(map[string]any{"name": name}, more...))
}

func (w *world) budgets() map[string]client.Budget {
	w.t.Helper()
	out := map[string]client.Budget{}
	for _, b := range must[client.Budgets](w, anyone, "", "", "list_budgets", nil).Budgets {
		out[b.Name] = b
	}
	return out
}

func TestUseIsCountedOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w := f.world
	task := w.submit("the parser")
	if got := w.claim("ana", "s"); got.TaskID == nil {
		t.Fatal("nothing claimed")
	}
	first := w.used("ana", use("m1", "model", "opus", "input_tokens", 100.0, "output_tokens", 10.0, "cache_read_tokens", 1000.0, "cost_usd", 0.05), use("m2", "model", "haiku", "output_tokens", 5.0))
	if first.Counted != 2 || first.Duplicates != 0 {
		t.Fatalf("%+v", first)
	}
	if again := w.used("ana", use("m1", "input_tokens", 9.0), use("m3", "input_tokens", 1.0), use("m3", "input_tokens", 1.0)); again.Counted != 1 || again.Duplicates != 2 {
		t.Fatalf("%+v", again)
	}
	run := f.run()
	f.claim(f.register("h"), run.RunID)
	must[client.ReportedUsage](w, runnerKey, "", "", "report_usage", map[string]any{"reports": []any{use("r1", "run_id", run.RunID, "cost_usd", 0.5)}})
	sum := func(by string, more ...any) client.UsageSummary {
		return must[client.UsageSummary](w, anyone, "", "", "usage_summary", members(map[string]any{"by": by}, more...))
	}
	all := sum("project")
	if all.Total.CostUSD != 0.55 || all.Total.Tokens != 1116 || all.Total.Reports != 4 || all.Total.Uncosted != 2 || len(all.Groups) != 1 || all.Groups[0].Key != "demo" {
		t.Errorf("%+v", all)
	}
	if got := sum("task"); len(got.Groups) != 2 || got.Groups[1].Key != task || got.Groups[1].Name != "the parser" || got.Groups[1].CostUSD != 0.05 {
		t.Errorf("by task: %+v", got)
	}
	if got := sum("run", "run_id", run.RunID); len(got.Groups) != 1 || got.Groups[0].Key != run.RunID || got.Groups[0].CostUSD != 0.5 {
		t.Errorf("by run: %+v", got)
	}
	if got := sum("session"); len(got.Groups) != 2 || got.Groups[0].Key != run.SessionID {
		t.Errorf("by session: %+v", got)
	}
	if got := sum("model", "agent", "ana", "limit", 1.0); len(got.Groups) != 1 || got.Groups[0].Key != "opus" || !got.Truncated || got.Total.Reports != 3 {
		t.Errorf("by model: %+v", got)
	}
	for _, by := range []string{"agent", "day", "change"} {
		if got := sum(by); len(got.Groups) == 0 || got.Total.CostUSD != 0.55 {
			t.Errorf("by %s: %+v", by, got)
		}
	}
	if got := sum("agent", "since", "2999-01-01T00:00:00Z"); len(got.Groups) != 0 || got.Total.Reports != 0 {
		t.Errorf("nothing found: %+v", got)
	}
	_, err := do[client.ReportedUsage](w, anyone, "ana", "s", "report_usage", map[string]any{"reports": []any{use("x", "input_tokens", -1.0)}})
	w.refused(err, client.CodeInvalid)
}

func TestABudgetWarnsThenStops(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w := f.world
	w.here("ana", "s")
	w.here("bob", "s")
	w.submit("one")
	w.submit("two")
	w.used("ana", use("before", "cost_usd", 1.0))
	if b := w.budget("month", "limit_usd", 10.0); b.SpentUSD != 1 || b.State != "ok" || b.Percent != 10 || b.PeriodEnd == "" {
		t.Fatalf("%+v", b)
	}
	if got := w.used("ana", use("a", "cost_usd", 6.9)); len(got.Budgets) != 0 {
		t.Fatalf("79 %%: %+v", got)
	}
	if got := w.used("bob", use("b", "cost_usd", 0.1)); len(got.Budgets) != 1 || got.Budgets[0].State != "warned" {
		t.Fatalf("80 %%: %+v", got)
	}
	if got := w.claim("ana", "s"); !got.Success {
		t.Fatalf("a warning stops nothing: %+v", got)
	}
	if got := w.used("ana", use("c", "cost_usd", 2.0)); got.Budgets[0].State != "stopped" {
		t.Fatalf("%+v", got)
	}
	got := w.claim("bob", "s")
	if got.Success || got.Reason != "budget_exhausted" || !strings.Contains(got.Why, "the budget month is used up (10.00 of 10.00 USD this month)") {
		t.Errorf("%+v", got)
	}
	runner := f.register("h")
	run := f.run()
	if p := f.poll(runner); p.Run != nil {
		t.Errorf("dispatched: %s", p.Run)
	}
	if why := must[client.RunWhy](w, anyone, "", "", "why_run", map[string]any{"run_id": run.RunID}); why.Reason != "budget_exhausted" || !strings.Contains(why.Why, "budget month") {
		t.Errorf("%+v", why)
	}
	if got := w.takes("bob", "s", "still.go"); !got.Success {
		t.Errorf("what is begun may be ended: %+v", got)
	}
	told := w.notices("bob", "s")
	if len(told) != 1 || !strings.Contains(told[0].Text, "is used up") {
		t.Errorf("%+v", told)
	}
	w.used("ana", use("d", "cost_usd", 1.0))
	if told := w.notices("bob", "s"); len(told) != 0 {
		t.Errorf("nagging: %+v", told)
	}
	if b := w.budget("month", "limit_usd", 100.0); b.State != "ok" {
		t.Fatalf("%+v", b)
	}
	f.claim(runner, run.RunID)
	if got := w.claim("bob", "s"); !got.Success {
		t.Errorf("%+v", got)
	}
	w.budget("month", "limit_usd", 1.0)
	if got := must[client.Ok](w, admin, "", "", "delete_budget", map[string]any{"name": "month"}); !got.OK {
		t.Errorf("%+v", got)
	}
	w.submit("three")
	if got := w.claim("bob", "s"); !got.Success {
		t.Errorf("%+v", got)
	}
	_, err := do[client.Budget](w, admin, "", "", "set_budget", map[string]any{"name": "none"})
	w.refused(err, client.CodeInvalid)
	_, err = do[client.Ok](w, admin, "", "", "delete_budget", map[string]any{"name": "none"})
	w.refused(err, client.CodeNotFound)
}

// A budget of one agent, in tokens, by the day: the others go on, and so does it on the next day. A report of the day
// before that comes late counts for the day before.
func TestABudgetEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	w.here("bob", "s")
	w.submit("one")
	w.submit("two")
	w.budget("ana", "agent", "ana", "period", "day", "limit_tokens", 1000.0)
	w.budget("all", "limit_tokens", 1000.0, "action", "warn")
	yesterday := time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
	w.used("ana", use("late", "input_tokens", 5000.0, "at", yesterday))
	if b := w.budgets()["ana"]; b.SpentTokens != 0 || b.State != "ok" {
		t.Errorf("a late report of another period: %+v", b)
	}
	w.used("ana", use("now", "cache_read_tokens", 1000.0))
	if got := w.claim("ana", "s"); got.Success || got.Reason != "budget_exhausted" {
		t.Errorf("%+v", got)
	}
	if got := w.claim("bob", "s"); !got.Success {
		t.Errorf("it is not bob's, and the other only warns: %+v", got)
	}
	if b := w.budgets()["all"]; b.State != "exceeded" {
		t.Errorf("%+v", b)
	}
	w.later(25 * time.Hour)
	if got := w.claim("ana", "s"); !got.Success {
		t.Errorf("the next day: %+v", got)
	}
	if n, err := w.store.SweepBudgets(t.Context(), 100); err != nil || n == 0 {
		t.Errorf("%d, %v", n, err)
	}
	if b := w.budgets()["ana"]; b.State != "ok" || b.SpentTokens != 0 {
		t.Errorf("%+v", b)
	}
	if l := must[client.Holds](w, anyone, "", "", "list_holds", nil); l.Count != 0 {
		t.Errorf("%+v", l)
	}
}

// Reports come at once from many sides, some twice, while agents claim. The sum is exact, the one that reaches the limit
// stops, and nothing is claimed once its report was answered.
func TestABudgetStopsUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tasks, reports, limit = 60, 40, 20
	for i := range tasks {
		w.submit(fmt.Sprint(i))
	}
	w.budget("b", "limit_tokens", float64(limit))
	var stopped atomic.Bool
	var late atomic.Int32
	var wg sync.WaitGroup
	for i := range 4 {
		agent := fmt.Sprint("agent", i)
		wg.Go(func() {
			for range tasks {
				after := stopped.Load()
				got, err := do[client.Work](w, anyone, agent, "s", "get_work", nil)
				if err != nil {
					t.Error(err)
					return
				}
				if got.Success && after {
					late.Add(1)
				}
				if !got.Success {
					return
				}
			}
		})
		wg.Go(func() {
			for n := range reports / 2 { // each key comes from two sides
				key := fmt.Sprint("k", (i%2)*reports/2+n)
				got, err := do[client.ReportedUsage](w, anyone, agent, "s", "report_usage", map[string]any{"reports": []any{use(key, "output_tokens", 1.0)}})
				if err != nil {
					t.Error(err)
					return
				}
				if len(got.Budgets) == 1 && got.Budgets[0].State == "stopped" {
					stopped.Store(true)
				}
			}
		})
	}
	wg.Wait()
	b := w.budgets()["b"]
	if b.SpentTokens != reports || b.State != "stopped" || late.Load() != 0 {
		t.Errorf("%+v, %d claims after the stop", b, late.Load())
	}
	if n := scan[int](w, `select count(*) from coord.audit_log where operation = 'budget_stopped'`); n != 1 {
		t.Errorf("stopped %d times", n)
	}
	if got := w.claim("agent9", "s"); got.Success {
		t.Errorf("%+v", got)
	}
}
