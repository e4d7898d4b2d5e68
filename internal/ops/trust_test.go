package ops_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

const shop = "github.com/acme/shop"

// decided puts a decided changeset by an agent into the database, with one required run per conclusion (in order of
// attempts at one policy), and returns its id.
func (w *world) decided(agent, state string, lines int, conclusions ...string) string {
	w.t.Helper()
	w.exec(`select coord.ensure_project('demo')`)
	id := scan[string](w, `insert into public.changesets (project_id, source, repository, line, head_sha, agent_id, agent_verified, additions, state, verdict, route_version)
		values ((select id from public.projects where name = 'demo'), 'agent', $1, 'b', encode(sha256(random()::text::bytea), 'hex'), $2, true, $3, $4, $4, 1) returning id::text`,
		shop, agent, lines, state)
	for i, c := range conclusions {
		w.exec(`insert into public.verification_results (project_id, changeset_id, head_sha, route_version, policy_name, policy, tier, executor, required, attempt, status, conclusion)
			select c.project_id, c.id, c.head_sha, 1, 'unit', '{}', 1, 'github', true, $2, 'completed', $3 from public.changesets c where c.id = $1`, id, i+1, c)
	}
	return id
}

func (w *world) outcome(id string) {
	w.t.Helper()
	w.exec(`select coord.note_outcome(c) from public.changesets c where c.id = $1`, id)
}

func (w *world) trustOf(agent string) client.AgentTrust {
	w.t.Helper()
	repository := shop
	got := must[client.TrustList](w, anyone, "", "", "list_trust", map[string]any{"agent": agent, "repository": repository})
	if len(got.Trust) != 1 {
		w.t.Fatalf("%+v", got)
	}
	return got.Trust[0]
}

func (w *world) setTrust(agent string, level, ceiling int) client.AgentTrust {
	w.t.Helper()
	return must[client.AgentTrust](w, admin, "", "", "set_trust", map[string]any{"agent": agent, "repository": shop, "level": float64(level), "ceiling": float64(ceiling)})
}

// Values of the distribution that can be had in closed form, or from tables.
func TestBetaBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ a, b, want float64 }{
		{1, 1, 0.05},
		{2, 1, math.Pow(0.05, 1.0/2)},
		{21, 1, math.Pow(0.05, 1.0/21)},
		{30.5, 1, math.Pow(0.05, 1/30.5)},
		{1, 5, 1 - math.Pow(0.95, 1.0/5)},
		{5, 2, 0.418197},
		{10, 10, 0.320018},
		{100, 3, 0.940020}, // R: qbeta(0.05, a, b)
	} {
		if got := scan[float64](w, `select coord.beta_bound($1, $2)`, c.a, c.b); math.Abs(got-c.want) > 2e-3*c.want+1e-5 {
			t.Errorf("Beta(%v, %v): %v, want %v", c.a, c.b, got, c.want)
		}
	}
	for _, x := range []float64{0.01, 0.2, 0.5, 0.77, 0.99} {
		if got, want := scan[float64](w, `select coord.beta_cdf($1, 1, 1)`, x), x; math.Abs(got-want) > 1e-9 {
			t.Errorf("uniform at %v: %v", x, got)
		}
		if got, want := scan[float64](w, `select coord.beta_cdf($1, 3, 2)`, x), 4*x*x*x-3*x*x*x*x; math.Abs(got-want) > 1e-9 {
			t.Errorf("Beta(3, 2) at %v: %v, want %v", x, got, want)
		}
	}
}

func TestNewAgentHasTrustOneAndStaysThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must[client.TrustList](w, anyone, "", "", "list_trust", nil)
	if got := w.trustOf("nova"); got.Level != 1 || got.Ceiling != 1 || got.Alpha != 1 || got.Beta != 1 || got.Evidence != 0 {
		t.Errorf("%+v", got)
	}
	for range 60 {
		w.outcome(w.decided("nova", "passed", 100, "success"))
	}
	if got := w.trustOf("nova"); got.Level != 1 || got.PassRateBound < 0.9 || got.Evidence < 59 {
		t.Errorf("nobody raised the ceiling: %+v", got)
	}
}

func TestEvidenceMovesTheLevel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setTrust("ana", 1, 3)
	w.setTrust("bob", 3, 3)
	n := 0
	for w.trustOf("ana").Level == 1 && n < 100 {
		w.outcome(w.decided("ana", "passed", 100, "success"))
		n++
	}
	if n != 28 { // 0.05^(1/29) is the first bound of at least 0.9
		t.Errorf("it rose after %d", n)
	}
	for range 19 {
		w.outcome(w.decided("ana", "passed", 100, "success"))
	}
	if got := w.trustOf("ana"); got.Level != 2 {
		t.Errorf("evidence for the next level was not counted anew: %+v", got)
	}
	for range 40 {
		w.outcome(w.decided("ana", "passed", 100, "success"))
	}
	if got := w.trustOf("ana"); got.Level != 3 {
		t.Errorf("past the ceiling or short of it: %+v", got)
	}
	for range 9 {
		w.outcome(w.decided("bob", "failed", 100, "failure"))
	}
	if got := w.trustOf("bob"); got.Level != 3 {
		t.Errorf("it sank on too little: %+v", got)
	}
	w.outcome(w.decided("bob", "failed", 100, "failure"))
	if got := w.trustOf("bob"); got.Level != 2 || got.Evidence != 0 {
		t.Errorf("ten failures: %+v", got)
	}
	list := must[client.TrustList](w, anyone, "", "", "list_trust", map[string]any{"agent": "bob"})
	kinds := map[string]int{}
	for _, e := range list.Events {
		kinds[e.Kind]++
	}
	if kinds["failed"] != 10 || kinds["lowered"] != 1 || kinds["set"] != 1 || list.Events[0].Kind != "lowered" || list.Events[0].Reason == "" {
		t.Errorf("%v, newest %+v", kinds, list.Events[0])
	}
}

func TestWhatCountsAsEvidence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		state       string
		lines       int
		conclusions []string
		change      string // SQL on the changeset $1
		alpha, beta float64
	}{
		{name: "passed", state: "passed", lines: 50, conclusions: []string{"success"}, alpha: 2, beta: 1},
		{name: "a small change weighs little", state: "passed", lines: 5, conclusions: []string{"success"}, alpha: 1.1, beta: 1},
		{name: "failed", state: "failed", lines: 50, conclusions: []string{"failure"}, alpha: 1, beta: 2},
		{name: "timed out", state: "failed", lines: 50, conclusions: []string{"timed_out"}, alpha: 1, beta: 2},
		{name: "flaky: the first attempt counts", state: "passed", lines: 50, conclusions: []string{"failure", "success"}, alpha: 1, beta: 2},
		{name: "infrastructure is not the author's", state: "passed", lines: 50, conclusions: []string{"infra_error", "success"}, alpha: 2, beta: 1},
		{name: "an error is no outcome", state: "error", lines: 50, conclusions: []string{"infra_error", "infra_error"}, alpha: 1, beta: 1},
		{name: "blocked is no outcome", state: "error", lines: 50, conclusions: []string{"blocked"}, alpha: 1, beta: 1},
		{name: "a denial counts double", state: "failed", lines: 50, conclusions: []string{"success"}, change: `insert into public.approval_queue (project_id, changeset_id, head_sha, route_version, policy_name, status)
			select project_id, id, head_sha, 1, 'security-review', 'denied' from public.changesets where id = $1`, alpha: 1, beta: 3},
		{name: "a name in a branch is no identity", state: "passed", lines: 50, conclusions: []string{"success"}, change: `update public.changesets set agent_verified = false where id = $1`, alpha: 1, beta: 1},
		{name: "an advisory run decides nothing", state: "passed", lines: 50, conclusions: []string{"failure"}, change: `update public.verification_results set required = false where changeset_id = $1`, alpha: 1, beta: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.decided("ana", tt.state, tt.lines, tt.conclusions...)
			if tt.change != "" {
				w.exec(tt.change, id)
			}
			w.outcome(id)
			w.outcome(id) // run again: it counted
			if got := w.trustOf("ana"); math.Abs(got.Alpha-tt.alpha) > 0.001 || math.Abs(got.Beta-tt.beta) > 0.001 {
				t.Errorf("%+v, want %v and %v", got, tt.alpha, tt.beta)
			}
		})
	}
}

func TestEvidenceFades(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 8 {
		w.outcome(w.decided("ana", "passed", 50, "success"))
	}
	w.later(30 * 24 * time.Hour)
	if got := w.trustOf("ana"); math.Abs(got.Alpha-5) > 0.01 || got.Evidence != 8 {
		t.Errorf("after a half-life: %+v", got)
	}
	w.outcome(w.decided("ana", "failed", 50, "failure"))
	w.later(60 * 24 * time.Hour)
	if got := w.trustOf("ana"); math.Abs(got.Alpha-3) > 0.01 || math.Abs(got.Beta-1.5) > 0.01 {
		t.Errorf("after another: %+v", got)
	}
}

// A waived policy that runs for audit and fails takes a level at once and freezes the rise.
func TestWaivedFailureFreezes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setTrust("ana", 3, 4)
	id := w.decided("ana", "passed", 50, "success")
	w.exec(`update public.changesets set decision = '{"waived": [{"policy": "unit-code"}]}' where id = $1`, id)
	w.exec(`insert into public.verification_results (project_id, changeset_id, head_sha, route_version, policy_name, policy, tier, executor, required, status)
		select c.project_id, c.id, c.head_sha, 1, 'unit-code', '{}', 1, 'github', false, 'running' from public.changesets c where c.id = $1`, id)
	w.exec(`update public.verification_results set status = 'completed', conclusion = 'failure' where policy_name = 'unit-code'`)
	got := w.trustOf("ana")
	if got.Level != 2 || got.FrozenUntil == "" {
		t.Fatalf("%+v", got)
	}
	for range 70 {
		w.outcome(w.decided("ana", "passed", 100, "success"))
	}
	if got := w.trustOf("ana"); got.Level != 2 || got.PassRateBound < 0.9 {
		t.Errorf("it rose while frozen: %+v", got)
	}
	w.later(8 * 24 * time.Hour)
	w.outcome(w.decided("ana", "passed", 100, "success"))
	if got := w.trustOf("ana"); got.Level != 3 || got.FrozenUntil != "" {
		t.Errorf("after the freeze: %+v", got)
	}
}

func TestTrustIsSetByPersonsAndKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := must[client.AgentTrust](w, admin, "", "", "set_trust", map[string]any{"agent": "ana", "level": 2.0, "reason": "known"})
	if all.Level != 2 || all.Ceiling != 2 || all.SetBy != "key:admin" || all.Repository != "" {
		t.Errorf("%+v", all)
	}
	if got := w.trustOf("ana"); got.Level != 2 {
		t.Errorf("a repository begins with what is set for all: %+v", got)
	}
	if n := scan[int](w, `select trust from public.agents where agent_id = 'ana'`); n != 2 {
		t.Errorf("tasks that demand trust see %d", n)
	}
	w.setTrust("ana", 0, 1)
	if got := w.trustOf("ana"); got.Level != 0 || got.Ceiling != 1 {
		t.Errorf("%+v", got)
	}
	for _, bad := range []map[string]any{{"agent": "ana"}, {"agent": "ana", "level": 5.0}, {"agent": "ana", "level": 3.0, "ceiling": 2.0}, {"level": 1.0}} {
		_, err := do[client.AgentTrust](w, admin, "", "", "set_trust", bad)
		w.refused(err, client.CodeInvalid)
	}
	_, err := do[client.AgentTrust](w, anyone, "ana", "", "set_trust", map[string]any{"agent": "ana", "level": 4.0})
	w.refused(err, client.CodeForbidden)
	for _, sql := range []string{`update public.trust_events set level = 4`, `delete from public.trust_events`, `truncate public.trust_events`} {
		if _, err := w.pool.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s was allowed", sql)
		}
	}
}

// Who made a change: an agent by its key; else what the forge lets the pusher do, lowered by the name in the branch.
func TestAuthorTrust(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setTrust("high", 4, 4)
	w.setTrust("low", 0, 1)
	project := scan[int64](w, `select id from public.projects where name = 'demo'`)
	var got []string
	for _, c := range []struct {
		agent      string
		verified   bool
		permission string
	}{{"high", true, ""}, {"high", false, "write"}, {"high", false, ""}, {"low", true, "admin"}, {"low", false, "admin"}, {"unknown", true, ""}, {"unknown", false, "write"}, {"", false, "admin"}, {"", false, "none"}} {
		got = append(got, fmt.Sprint(scan[int](w, `select coord.author_trust($1, $2, nullif($3, ''), $4, $5)`, project, shop, c.agent, c.verified, c.permission)))
		if level, err := w.store.AuthorTrust(t.Context(), project, shop, c.agent, c.verified, c.permission); err != nil || fmt.Sprint(level) != got[len(got)-1] {
			t.Errorf("%+v: %d (%v), the database says %s", c, level, err, got[len(got)-1])
		}
	}
	if want := []string{"4", "2", "1", "0", "0", "1", "2", "2", "1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
