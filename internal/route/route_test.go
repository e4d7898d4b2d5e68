package route_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// defaults are the policies that the migrations give a new project.
func defaults(t testing.TB) []route.Policy {
	t.Helper()
	pool := pgtest.New(t, pgtest.MaxConns(1))
	var project int64
	var raw []byte
	if err := pool.QueryRow(context.Background(), `select coord.ensure_project('seeded')`).Scan(&project); err != nil {
		t.Fatal(err)
	}
	if err := pool.QueryRow(context.Background(), `select coord.list_policies($1) -> 'policies'`, project).Scan(&raw); err != nil {
		t.Fatal(err)
	}
	var out []route.Policy
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func router(t testing.TB, policies []route.Policy) *route.Router {
	t.Helper()
	r, err := route.Compile(policies)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func files(paths ...string) []route.File {
	var out []route.File
	for _, p := range paths {
		out = append(out, route.File{Path: p, Status: "modified"})
	}
	return out
}

func lines(n int, paths ...string) []route.File {
	out := files(paths...)
	out[0].Additions = n
	return out
}

func many(n int, pattern string) []route.File {
	var out []route.File
	for i := range n {
		out = append(out, files(fmt.Sprintf(pattern, i))...)
	}
	return out
}

// TestWorkedDecisions holds the design's worked decisions against the default policies. Trust is 2 unless stated.
func TestWorkedDecisions(t *testing.T) {
	t.Parallel()
	r := router(t, defaults(t))
	for _, tt := range []struct {
		id     string
		change route.Change // TrustLevel 0 reads as 2 here
		trust  int          // -1: really 0
		tiers  []int
		runs   string // "policy@executor" somewhere in the plan
		code   string // a reason that must be given
	}{
		{id: "D01", change: route.Change{Files: files("README.md", "docs/a.md")}, tiers: []int{0}, runs: "static-all@inline"},
		{id: "D02", change: route.Change{Files: lines(40, "internal/lock/lock.go")}, tiers: []int{0, 1}, runs: "unit-code@github"},
		{id: "D03", change: route.Change{Files: files("main.py")}, tiers: []int{0, 1}, runs: "unit-code@github"},
		{id: "D04", change: route.Change{Files: lines(20, "internal/lock/lock.go")}, trust: 3, tiers: []int{0}, code: "waived"},
		{id: "D05", change: route.Change{Files: lines(200, "internal/lock/lock.go")}, trust: 3, tiers: []int{0, 1}},
		{id: "D07", change: route.Change{Files: files("README.md")}, trust: -1, tiers: []int{0, 4}, runs: "security-review@human", code: "trust"},
		{id: "D08", change: route.Change{Files: files("go.mod", "go.sum")}, tiers: []int{0, 2}, runs: "deps@e2b"},
		{id: "D09", change: route.Change{Files: files("go.sum")}, trust: 4, tiers: []int{0, 2}, runs: "deps@e2b"},
		{id: "D10", change: route.Change{Files: files("report.sql")}, tiers: []int{0, 2}, runs: "sql@ntm"},
		{id: "D11", change: route.Change{Files: files("report.sql"), UnavailableExecutors: []string{"ntm"}}, tiers: []int{0, 2}, runs: "sql@e2b"},
		{id: "D12", change: route.Change{Files: files("db/migrations/009.sql")}, tiers: []int{0, 3}, runs: "migrations@ntm"},
		{id: "D13", change: route.Change{Files: files("db/migrations/009.sql"), UnavailableExecutors: []string{"ntm"}}, tiers: []int{0, 3}, runs: "migrations@blocked"},
		{id: "D14", change: route.Change{Files: files("docker-compose.yml")}, tiers: []int{0, 3}, runs: "system@ntm"},
		{id: "D15", change: route.Change{Files: files("src/auth/token.go")}, tiers: []int{0, 1, 4}, runs: "security-review@human"},
		{id: "D16", change: route.Change{Files: files("src/auth/token.go")}, trust: 4, tiers: []int{0, 1, 4}},
		{id: "D18", change: route.Change{Files: []route.File{{Path: "src/util/token.go", PreviousPath: "src/auth/token.go", Status: "renamed"}}}, tiers: []int{0, 1, 4}},
		{id: "D19", change: route.Change{Files: []route.File{{Path: "config/secrets/prod.yaml", Status: "removed"}}}, tiers: []int{0, 4}},
		{id: "D21", change: route.Change{Files: files(".github/workflows/ci.yml")}, tiers: []int{0, 4}, runs: "verifier-self-protection@human"},
		{id: "D22", change: route.Change{Files: files(".golangci.yml", "a.go")}, tiers: []int{0, 1, 4}},
		{id: "D24", change: route.Change{Files: lines(600, "a.go")}, tiers: []int{0, 1, 2}, runs: "integration-src@ntm", code: "size"},
		{id: "D25", change: route.Change{Files: many(40, "docs/%d.md")}, tiers: []int{0, 1}, code: "size"},
		{id: "D26", change: route.Change{Files: files("a.go"), PriorFailures: 2}, tiers: []int{0, 1, 2}, code: "failures"},
		{id: "D27", change: route.Change{Files: files("a.go"), PriorFailures: 4}, tiers: []int{0, 1, 2, 4}},
		{id: "D28", change: route.Change{Files: files("a.go"), Truncated: true}, tiers: []int{0, 1, 2, 3, 4}, code: "truncated"},
		{id: "D30", change: route.Change{Files: []route.File{{Path: "vendor/lib", Status: "modified", Mode: "160000"}}}, tiers: []int{0, 4}, code: "special_file"},
		{id: "D31", change: route.Change{Files: lines(10, "api/x.go")}, trust: 3, tiers: []int{0, 2}, code: "waived"},
		{id: "D32", change: route.Change{Files: lines(10, "api/x.go", "go.sum")}, trust: 3, tiers: []int{0, 2}, runs: "deps@e2b"},
		// Beside the table: what the rules of the section say without a number.
		{id: "a fork", change: route.Change{Files: files("db/migrations/009.sql"), Fork: true}, tiers: []int{0, 3, 4}, runs: "migrations@blocked", code: "fork"},
		{id: "a removed test", change: route.Change{Files: []route.File{{Path: "internal/lock/lock_test.go", Status: "removed"}}}, tiers: []int{0, 1, 4}, code: "removed_test"},
		{id: "a test renamed away", change: route.Change{Files: []route.File{{Path: "old.md", PreviousPath: "tests/a.md", Status: "renamed"}}}, tiers: []int{0, 4}, code: "removed_test"},
		{id: "a symlink", change: route.Change{Files: []route.File{{Path: "a", Status: "added", Mode: "120000"}}}, tiers: []int{0, 4}, code: "special_file"},
		{id: "a new agent", change: route.Change{Files: files("README.md")}, trust: 1, tiers: []int{0, 1}, runs: "unit-code@github", code: "default_policy"},
		{id: "ntm needs trust", change: route.Change{Files: files("report.sql")}, trust: 1, tiers: []int{0, 2, 3}, runs: "sql@e2b"},
		{id: "system needs trust", change: route.Change{Files: files("report.sql")}, trust: 1, tiers: []int{0, 2, 3}, runs: "system@blocked"},
		{id: "two raises", change: route.Change{Files: lines(600, "a.md")}, trust: 1, tiers: []int{0, 1, 2}},
		{id: "raises end at tier 3", change: route.Change{Files: lines(600, "x/migrations/1.sql"), PriorFailures: 3}, tiers: []int{0, 3}},
		{id: "exactly the bounds", change: route.Change{Files: lines(500, "a.md"), PriorFailures: 1}, tiers: []int{0}},
		{id: "a draft", change: route.Change{Files: files("src/auth/token.go"), Draft: true}, tiers: []int{0}, code: "draft"},
		{
			id: "a lock of another", change: route.Change{Files: files("a.md"), LockViolations: []route.LockViolation{{Path: "a.md", Holder: "bob"}}},
			trust: 3, tiers: []int{0, 1}, code: "lock_violation",
		},
		{id: "nothing changed", change: route.Change{}, tiers: []int{0}, runs: "static-all@inline", code: "always"},
		{id: "folded case", change: route.Change{Files: files("SRC/Auth/x.md")}, tiers: []int{0, 4}},
		{id: "an example is no secret", change: route.Change{Files: files("deploy.env.example")}, tiers: []int{0}},
		{id: "excludes are per path", change: route.Change{Files: files(".env.example", ".env.local")}, tiers: []int{0, 4}},
		{id: "a dotted way to a path", change: route.Change{Files: files("./docs/../src/auth/x")}, tiers: []int{0, 4}},
		{id: "a directory that became a submodule", change: route.Change{Files: files("auth")}, tiers: []int{0, 4}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			ch := tt.change
			ch.TrustLevel = max(tt.trust, 0)
			if tt.trust == 0 {
				ch.TrustLevel = 2
			}
			d := r.Route(ch)
			if !slices.Equal(d.Tiers, tt.tiers) {
				t.Errorf("tiers %v, want %v; reasons %+v", d.Tiers, tt.tiers, d.Reasons)
			}
			var runs []string
			for _, s := range d.Plan {
				place := s.Executor
				if s.Blocked != "" {
					place = "blocked"
				}
				if (s.Executor == "") == (s.Blocked == "") {
					t.Errorf("a step needs an executor or what blocks it: %+v", s)
				}
				runs = append(runs, s.Policy+"@"+place)
			}
			if tt.runs != "" && !slices.Contains(runs, tt.runs) {
				t.Errorf("plan %v lacks %s", runs, tt.runs)
			}
			if tt.code != "" && !slices.ContainsFunc(d.Reasons, func(r route.Reason) bool { return r.Code == tt.code }) {
				t.Errorf("reasons %+v lack %s", d.Reasons, tt.code)
			}
			for _, tier := range tt.tiers {
				if !slices.ContainsFunc(d.Plan, func(s route.Step) bool { return s.Tier == tier && s.Required }) {
					t.Errorf("tier %d has nothing that is required: %+v", tier, d.Plan)
				}
			}
		})
	}
}

func TestViolationsAreNamed(t *testing.T) {
	t.Parallel()
	d := router(t, defaults(t)).Route(route.Change{Files: files("a.go"), TrustLevel: 2, LockViolations: []route.LockViolation{{Path: "a.go", Holder: "bob", Reason: "rewrite"}}})
	i := slices.IndexFunc(d.Reasons, func(r route.Reason) bool { return r.Path == "a.go" && r.Code == "lock_violation" })
	if i < 0 || d.Reasons[i].Text != "a.go was locked by bob: rewrite" {
		t.Errorf("reasons %+v", d.Reasons)
	}
}

// A raised tier runs the policy that is marked as its default, else its first; an advisory one becomes required there.
func TestRaisedTierRunsItsDefault(t *testing.T) {
	t.Parallel()
	policy := func(name string, tier int, change func(*route.Policy)) route.Policy {
		p := route.Policy{Name: name, Tier: tier, Executors: []string{"github"}, Patterns: []string{"never/" + name}, Required: true, Enabled: true}
		if change != nil {
			change(&p)
		}
		return p
	}
	ch := route.Change{Files: files("a.txt"), TrustLevel: 1}
	for _, tt := range []struct {
		name     string
		policies []route.Policy
		want     string
	}{
		{"the default", []route.Policy{policy("a", 1, nil), policy("b", 1, func(p *route.Policy) { p.Default = true })}, "b"},
		{"the first", []route.Policy{policy("c", 1, func(p *route.Policy) { p.Priority = 2 }), policy("d", 1, func(p *route.Policy) { p.Priority = 1 })}, "d"},
		{"an enabled one", []route.Policy{policy("e", 1, func(p *route.Policy) { p.Enabled, p.Default = false, true }), policy("f", 1, nil)}, "f"},
		{"of this repository", []route.Policy{policy("g", 1, func(p *route.Policy) { p.Repository, p.Default = "github.com/else/*", true }), policy("h", 1, nil)}, "h"},
		{"an advisory one", []route.Policy{policy("i", 1, func(p *route.Policy) { p.Required = false })}, "i"},
		{"an advisory one that matches", []route.Policy{policy("j", 1, func(p *route.Policy) { p.Required, p.Patterns = false, []string{"**"} })}, "j"},
		{"none", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := router(t, tt.policies).Route(ch)
			i := slices.IndexFunc(d.Plan, func(s route.Step) bool { return s.Tier == 1 })
			if tt.name == "an advisory one that matches" { // it lifts the floor: the raised tier is 2
				if !slices.Equal(d.Tiers, []int{0, 1, 2}) {
					t.Errorf("tiers %v", d.Tiers)
				}
				return
			}
			if i < 0 || d.Plan[i].Policy != tt.want || !d.Plan[i].Required || (tt.want == "") != (d.Plan[i].Blocked != "") {
				t.Errorf("plan %+v", d.Plan)
			}
			if !slices.ContainsFunc(d.Plan, func(s route.Step) bool { return s.Tier == 0 && s.Blocked != "" }) {
				t.Errorf("tier 0 without a policy must be blocked: %+v", d.Plan)
			}
		})
	}
}

func TestApprovalBesideARun(t *testing.T) {
	t.Parallel()
	d := router(t, []route.Policy{{
		Name: "deploy", Tier: 2, Executors: []string{"e2b"}, Patterns: []string{"deploy/**"}, Required: true, RequiresApproval: true, Enabled: true,
	}}).Route(route.Change{Files: files("deploy/a"), TrustLevel: 4})
	if !slices.Contains(d.Tiers, 4) || !slices.Contains(d.Plan, route.Step{Tier: 4, Policy: "deploy", Executor: "human", Required: true}) {
		t.Errorf("got %+v", d)
	}
}

// The default policy of a raised tier may ask people, too.
func TestApprovalOfADefaultPolicy(t *testing.T) {
	t.Parallel()
	d := router(t, []route.Policy{{
		Name: "unit", Tier: 1, Executors: []string{"github"}, Patterns: []string{"never"}, Required: true, RequiresApproval: true, Enabled: true,
	}}).Route(route.Change{Files: files("a"), TrustLevel: 1})
	if !slices.Equal(d.Tiers, []int{0, 1, 4}) || !slices.Contains(d.Plan, route.Step{Tier: 4, Policy: "unit", Executor: "human", Required: true}) {
		t.Errorf("got %+v", d)
	}
}

// A waiver that is audited: the same tiers, and the waived policy runs without a say.
func TestAuditedWaiver(t *testing.T) {
	t.Parallel()
	ch := route.Change{Files: lines(20, "internal/lock/lock.go"), TrustLevel: 3, AuditWaiver: true}
	d := router(t, defaults(t)).Route(ch)
	if !slices.Equal(d.Tiers, []int{0}) || !slices.Contains(d.Plan, route.Step{Tier: 1, Policy: "unit-code", Executor: "github"}) || len(d.Waived) != 1 || !d.Waived[0].Required {
		t.Errorf("got %+v", d)
	}
	ch.TrustLevel = 2
	if d := router(t, defaults(t)).Route(ch); !slices.Equal(d.Tiers, []int{0, 1}) || len(d.Plan) != 2 {
		t.Errorf("without a waiver: %+v", d)
	}
}

func TestBadPoliciesAreRefused(t *testing.T) {
	t.Parallel()
	good := route.Policy{Name: "p", Tier: 1, Executors: []string{"github"}, Patterns: []string{"**/*.go"}, Enabled: true}
	for _, tt := range []struct {
		field  string
		change func(*route.Policy)
	}{
		{"patterns", func(p *route.Policy) { p.Patterns = nil }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{""} }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{"a["} }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{"a{b"} }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{"/a"} }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{"a/"} }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{strings.Repeat("{a,b}", 20)} }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{`\x` + strings.Repeat("{a,b}", 20)} }},
		{"patterns", func(p *route.Policy) { p.Patterns = []string{strings.Repeat("a", 1001)} }},
		{"exclude_patterns", func(p *route.Policy) { p.ExcludePatterns = []string{"x["} }},
		{"repository", func(p *route.Policy) { p.Repository = "a{" }},
		{"branch", func(p *route.Policy) { p.Branch = "[" }},
		{"tier", func(p *route.Policy) { p.Tier = 5 }},
		{"executors", func(p *route.Policy) { p.Executors = nil }},
		{"executors", func(p *route.Policy) { p.Executors = []string{"jenkins"} }},
		{"executors", func(p *route.Policy) { p.Executors = []string{"human"} }},
		{"executors", func(p *route.Policy) { p.Tier = 4 }},
		{"executors", func(p *route.Policy) { p.Tier, p.Executors = 3, []string{"ntm", "e2b"} }},
	} {
		p := good
		tt.change(&p)
		var wrong *route.PolicyError
		if err := route.Check(p); !errors.As(err, &wrong) || wrong.Field != tt.field {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := route.Compile([]route.Policy{good, good}); err == nil {
		t.Error("two policies of one name were taken")
	}
}

var words = rapid.SampledFrom([]string{"a", "b", "auth", "Auth", "src", "x.go", "go.mod", ".env", "q.test.go", "é", "docs", "migrations", "a.sql", "Dockerfile"})

func genPath() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 1, 4).Draw(t, "segments"), "/") })
}

func genPattern() *rapid.Generator[string] {
	part := rapid.OneOf(words, rapid.SampledFrom([]string{"**", "*", "*.go", "*.{go,sql}", "a*", "?", "[ab]", "**x", "{src,docs}", "{a,auth/x.go}", "*o*", "{**/,}a", `\a`, "*.*", "D*e"}))
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/") })
}

// The prefilters and the simple shapes must give doublestar's own answers.
func TestMatchesAsDoublestarDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := genPattern().Draw(t, "pattern")
		exclude := rapid.SliceOfN(genPattern(), 0, 2).Draw(t, "exclude")
		paths := rapid.SliceOfN(genPath(), 1, 8).Draw(t, "paths")
		r, err := route.Compile([]route.Policy{{Name: "p", Tier: 2, Executors: []string{"e2b"}, Patterns: []string{pattern}, ExcludePatterns: exclude, Enabled: true}})
		if err != nil {
			t.Skip("not a policy: " + err.Error())
		}
		want := slices.ContainsFunc(paths, func(p string) bool {
			return doublestar.MatchUnvalidated(pattern, p) && !slices.ContainsFunc(exclude, func(e string) bool { return doublestar.MatchUnvalidated(e, p) })
		})
		if got := slices.Contains(r.Route(route.Change{Files: files(paths...), TrustLevel: 2}).Tiers, 2); got != want {
			t.Fatalf("%q without %q on %q: %v, doublestar says %v", pattern, exclude, paths, got, want)
		}
	})
}

func genChange() *rapid.Generator[route.Change] {
	file := rapid.Custom(func(t *rapid.T) route.File {
		f := route.File{
			Path: genPath().Draw(t, "path"), Status: rapid.SampledFrom([]string{"added", "removed", "modified", "renamed"}).Draw(t, "status"),
			Additions: rapid.SampledFrom([]int{0, 3, 60, 501}).Draw(t, "additions"), Mode: rapid.SampledFrom([]string{"", "100644", "120000", "160000"}).Draw(t, "mode"),
		}
		if f.Status == "renamed" {
			f.PreviousPath = genPath().Draw(t, "previous")
		}
		return f
	})
	return rapid.Custom(func(t *rapid.T) route.Change {
		return route.Change{
			Files: rapid.SliceOfN(file, 0, 6).Draw(t, "files"), TrustLevel: rapid.IntRange(0, 4).Draw(t, "trust"), PriorFailures: rapid.IntRange(0, 5).Draw(t, "failures"),
			Fork: rapid.Bool().Draw(t, "fork"), Truncated: rapid.Float64Range(0, 1).Draw(t, "truncated") > 0.9, Draft: rapid.Float64Range(0, 1).Draw(t, "draft") > 0.9,
			UnavailableExecutors: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"inline", "github", "e2b", "ntm"}), rapid.ID).Draw(t, "away"),
		}
	})
}

// Whatever comes: tier 0 is there, each tier has a required step, the order of files is nothing, and a file more takes
// away neither a tier that a policy asks for nor the highest one, but for a waiver.
func TestDecisionsHold(t *testing.T) {
	t.Parallel()
	r := router(t, defaults(t))
	rapid.Check(t, func(t *rapid.T) {
		ch := genChange().Draw(t, "change")
		d := r.Route(ch)
		if len(d.Tiers) == 0 || d.Tiers[0] != 0 || !slices.IsSorted(d.Tiers) {
			t.Fatalf("tiers %v", d.Tiers)
		}
		for _, tier := range d.Tiers {
			if !slices.ContainsFunc(d.Plan, func(s route.Step) bool { return s.Tier == tier && s.Required }) {
				t.Fatalf("nothing is required in tier %d: %+v", tier, d.Plan)
			}
		}
		for _, s := range d.Plan {
			if s.Executor != "" && slices.Contains(ch.UnavailableExecutors, s.Executor) || s.Executor == "ntm" && (ch.Fork || ch.TrustLevel < 2) || (s.Executor == "") == (s.Blocked == "") {
				t.Fatalf("step %+v of %+v", s, ch)
			}
		}
		turned := ch
		turned.Files = slices.Clone(ch.Files)
		slices.Reverse(turned.Files)
		if other := r.Route(turned); !slices.Equal(other.Tiers, d.Tiers) || !slices.Equal(other.Plan, d.Plan) {
			t.Fatalf("the order of files changed %v to %v", d.Tiers, other.Tiers)
		}
		more := ch
		more.Files = append(slices.Clone(ch.Files), genChange().Filter(func(c route.Change) bool { return len(c.Files) > 0 }).Draw(t, "more").Files[0])
		grown := r.Route(more)
		if len(d.Waived) == 0 && len(grown.Waived) == 0 {
			for _, reason := range d.Reasons {
				if reason.Code == "matched" && slices.Contains(d.Tiers, reason.Tier) && !slices.Contains(grown.Tiers, reason.Tier) {
					t.Fatalf("one more file took tier %d away: %+v", reason.Tier, more.Files)
				}
			}
			if d.Tiers[len(d.Tiers)-1] > grown.Tiers[len(grown.Tiers)-1] {
				t.Fatalf("one more file lowered %v to %v", d.Tiers, grown.Tiers)
			}
		}
	})
}

// Without a rise there is no exception: the tiers of a change are among those of a larger one.
func TestMoreFilesNeverNeedLess(t *testing.T) {
	t.Parallel()
	r := router(t, defaults(t))
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(genPath(), 1, 8).Draw(t, "paths")
		n := rapid.IntRange(0, len(paths)).Draw(t, "n")
		few, all := r.Route(route.Change{Files: files(paths[:n]...), TrustLevel: 2}), r.Route(route.Change{Files: files(paths...), TrustLevel: 2})
		for _, tier := range few.Tiers {
			if !slices.Contains(all.Tiers, tier) {
				t.Fatalf("%v has tiers %v, %v has %v", paths[:n], few.Tiers, paths, all.Tiers)
			}
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"**/*.go", "a{b,c}", "[a-z]", `\*`, "{{a,b},c}d", "**/{x,y}/**"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, p string) {
		r, err := route.Compile([]route.Policy{{Name: "p", Tier: 2, Executors: []string{"e2b"}, Patterns: []string{pattern}, Enabled: true}})
		if err != nil {
			return
		}
		r.Route(route.Change{Files: files(p), TrustLevel: 2})
	})
}
