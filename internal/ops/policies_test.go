package ops_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func simulate(w *world, args map[string]any) client.RouteDecision {
	w.t.Helper()
	return must[client.RouteDecision](w, anyone, "", "", "simulate_policies", args)
}

func changed(paths ...string) []any {
	var out []any
	for _, p := range paths {
		out = append(out, map[string]any{"path": p, "status": "modified", "additions": 1.0, "deletions": 0.0})
	}
	return out
}

func TestProjectsBeginWithTheDefaultPolicies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := must[client.Policies](w, anyone, "", "", "list_policies", nil)
	var names []string
	for _, p := range got.Policies {
		names = append(names, p.Name)
		if p.Version != 1 || !p.Enabled || !p.Required || p.ID == "" || p.TimeoutSeconds < 60 {
			t.Errorf("%+v", p)
		}
	}
	want := []string{"static-all", "unit-code", "deps", "sql", "integration-src", "migrations", "system", "security-review", "verifier-self-protection"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
	if _, err := route.Compile(got.Policies); err != nil {
		t.Error(err)
	}
	// A project that was there before policies were: the migration gives it the same.
	w.exec(`delete from public.verification_policies`)
	w.exec(`select coord.seed_policies(id) from public.projects`)
	if n := scan[int](w, `select count(*) from public.verification_policies where project_id = (select id from public.projects where name = 'demo')`); n != len(want) {
		t.Errorf("%d policies", n)
	}
}

func TestSimulationRoutesAsTheGatewayDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	args := map[string]any{
		"files":       []any{map[string]any{"path": "src/util/token.go", "previous_path": "src/auth/token.go", "status": "renamed", "additions": 0.0, "deletions": 0.0, "mode": "100644"}},
		"trust_level": 4.0, "prior_failures": 0.0, "fork": false, "truncated": false, "unavailable_executors": []any{"ntm"},
	}
	got := simulate(w, args)
	if !slices.Equal(got.Tiers, []int{0, 1, 4}) || len(got.Plan) != 3 || got.Plan[0] != (client.RouteStep{Policy: "static-all", Executor: "inline", Required: true}) || len(got.Reasons) < 3 {
		t.Errorf("%+v", got)
	}
	c, err := w.store.Resolve(context.Background(), anyone, ident.Claim{Project: "demo"}, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.store.Router(context.Background(), c.ProjectID)
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Route(route.Change{Files: []route.File{{Path: "src/util/token.go", PreviousPath: "src/auth/token.go", Status: "renamed"}}, TrustLevel: 4}); !slices.Equal(d.Plan, got.Plan) {
		t.Errorf("the gateway plans %+v", d.Plan)
	}
	if got := simulate(w, map[string]any{"files": changed("README.md"), "trust_level": 0.0}); !slices.Equal(got.Tiers, []int{0, 4}) {
		t.Errorf("trust 0 was not taken: %v", got.Tiers)
	}
	if got := simulate(w, map[string]any{"files": changed("README.md")}); !slices.Equal(got.Tiers, []int{0}) {
		t.Errorf("without a trust: %v", got.Tiers)
	}
	for _, bad := range []map[string]any{
		{"files": []any{map[string]any{"path": ""}}},
		{"files": changed("a"), "trust_level": 5.0},
		{"files": changed("a"), "prior_failures": -1.0},
		{"files": []any{map[string]any{"path": "a", "status": "vanished"}}},
		{"files": "a"},
		{},
	} {
		_, err := do[client.RouteDecision](w, anyone, "", "", "simulate_policies", bad)
		w.refused(err, client.CodeInvalid)
	}
}

func TestPoliciesAreChangedWithTheirHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := func(name string, args map[string]any) (client.VerificationPolicy, error) {
		return do[client.VerificationPolicy](w, admin, "", "", name, args)
	}
	made, err := call("create_policy", map[string]any{"name": "proto", "tier": 2.0, "patterns": []any{"**/*.proto"}})
	if err != nil || made.Version != 1 || !slices.Equal(made.Executors, []string{"e2b", "ntm"}) || made.TimeoutSeconds != 900 || !made.Required || !made.Enabled {
		t.Fatalf("%+v, %v", made, err)
	}
	if got := simulate(w, map[string]any{"files": changed("a.proto")}); !slices.Equal(got.Tiers, []int{0, 2}) {
		t.Errorf("it does not route: %v", got.Tiers)
	}
	_, err = call("create_policy", map[string]any{"name": "proto", "tier": 1.0, "patterns": []any{"x"}})
	w.refused(err, client.CodeConflict)
	changedOne, err := call("update_policy", map[string]any{"name": "proto", "tier": 3.0, "executors": []any{"ntm"}, "version": 1.0})
	if err != nil || changedOne.Version != 2 || changedOne.Tier != 3 || !slices.Equal(changedOne.Patterns, made.Patterns) || changedOne.ID != made.ID {
		t.Fatalf("%+v, %v", changedOne, err)
	}
	if got := simulate(w, map[string]any{"files": changed("a.proto")}); !slices.Equal(got.Tiers, []int{0, 3}) {
		t.Errorf("the change is not seen: %v", got.Tiers)
	}
	_, err = call("update_policy", map[string]any{"name": "proto", "tier": 1.0, "version": 1.0})
	w.refused(err, client.CodeConflict)
	if same, err := call("update_policy", map[string]any{"name": "proto", "tier": 3.0}); err != nil || same.Version != 2 {
		t.Errorf("a change of nothing: %+v, %v", same, err)
	}
	if byID, err := call("disable_policy", map[string]any{"name": made.ID}); err != nil || byID.Enabled || byID.Version != 3 {
		t.Errorf("%+v, %v", byID, err)
	}
	if got := simulate(w, map[string]any{"files": changed("a.proto")}); !slices.Equal(got.Tiers, []int{0}) {
		t.Errorf("a disabled policy routes: %v", got.Tiers)
	}
	h := must[client.PolicyVersions](w, anyone, "", "", "policy_history", map[string]any{"name": "proto"})
	if len(h.Versions) != 3 || h.Versions[0].Version != 3 || h.Versions[2].Policy.Tier != 2 || h.Versions[0].By != "key:admin" || h.Versions[2].At == "" {
		t.Errorf("%+v", h)
	}
}

// What is wrong with a policy is named, and nothing is changed.
func TestBadPoliciesChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must[client.Policies](w, anyone, "", "", "list_policies", nil) // makes the project
	before := scan[int64](w, `select sum(version) from coord.policy_sets`)
	for _, bad := range []struct {
		field string
		args  map[string]any
	}{
		{"patterns", map[string]any{"patterns": []any{"a["}}},
		{"patterns", map[string]any{"patterns": []any{}}},
		{"patterns", map[string]any{"patterns": []any{"/abs/**"}}},
		{"exclude_patterns", map[string]any{"exclude_patterns": []any{"{a"}}},
		{"executors", map[string]any{"executors": []any{"human"}}},
		{"executors", map[string]any{"executors": []any{}}},
		{"tier", map[string]any{"tier": 9.0}},
		{"repository", map[string]any{"repository": "["}},
	} {
		args := map[string]any{"name": "x", "tier": 1.0, "patterns": []any{"**"}}
		for k, v := range bad.args {
			args[k] = v
		}
		_, err := do[client.VerificationPolicy](w, admin, "", "", "create_policy", args)
		if f := w.refused(err, client.CodeInvalid); f.Field != bad.field {
			t.Errorf("%v: names %q: %v", bad.args, f.Field, f)
		}
	}
	_, err := do[client.VerificationPolicy](w, admin, "", "", "update_policy", map[string]any{"name": "unit-code", "patterns": []any{"["}})
	w.refused(err, client.CodeInvalid)
	_, err = do[client.VerificationPolicy](w, admin, "", "", "create_policy", map[string]any{"name": "no/slash", "tier": 1.0, "patterns": []any{"**"}})
	w.refused(err, client.CodeInvalid)
	for _, op := range []string{"get_policy", "policy_history"} {
		_, err = do[map[string]any](w, admin, "", "", op, map[string]any{"name": "nope"})
		w.refused(err, client.CodeNotFound)
	}
	_, err = do[client.VerificationPolicy](w, anyone, "", "", "update_policy", map[string]any{"name": "unit-code", "enabled": false})
	w.refused(err, client.CodeForbidden)
	if after := scan[int64](w, `select sum(version) from coord.policy_sets`); after != before {
		t.Errorf("the set went from %d to %d", before, after)
	}
	if n := scan[int](w, `select count(*) from public.verification_policies where name in ('x', 'no/slash')`); n != 0 {
		t.Errorf("%d bad policies were stored", n)
	}
}

// The table in docs/VERIFICATION.md is what a new project has.
func TestDocumentedPoliciesAreTheDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc, err := os.ReadFile("../../docs/VERIFICATION.md")
	if err != nil {
		t.Fatal(err)
	}
	ticks := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return "`" + strings.Join(list, "`, `") + "`"
	}
	cell := func(s string) string {
		if s == "" {
			return " |"
		}
		return " " + s + " |"
	}
	for _, p := range must[client.Policies](w, anyone, "", "", "list_policies", nil).Policies {
		waivable, seconds := "no", strconv.Itoa(p.TimeoutSeconds)
		if p.Waivable {
			waivable = "yes"
		}
		if p.Tier == route.TierHuman {
			seconds = ""
		}
		row := "|"
		for _, s := range []string{p.Name, strconv.Itoa(p.Tier), strings.Join(p.Executors, ", "), ticks(p.Patterns), ticks(p.ExcludePatterns), waivable, seconds} {
			row += cell(s)
		}
		if !strings.Contains(string(doc), row+"\n") {
			t.Errorf("the table lacks %s", row)
		}
	}
}
