package route_test

import (
	"fmt"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// manyPolicies are policies as large organisations have them: by directory, by language, by name, few of which apply.
func manyPolicies(n int) []route.Policy {
	out := make([]route.Policy, 0, n)
	for i := range n {
		p := route.Policy{Name: fmt.Sprintf("p%d", i), Tier: i % 4, Required: true, Enabled: true, Executors: []string{"github"}, FoldCase: i%7 == 0}
		switch i % 6 {
		case 0:
			p.Patterns, p.ExcludePatterns = []string{fmt.Sprintf("services/s%d/**", i)}, []string{"**/*.md"}
		case 1:
			p.Patterns = []string{fmt.Sprintf("**/*.{x%d,y%d,z%d}", i, i, i)}
		case 2:
			p.Patterns = []string{fmt.Sprintf("**/team%d/**", i), fmt.Sprintf("**/owner-%d.yml", i)}
		case 3:
			p.Patterns = []string{fmt.Sprintf("**/config%d*.y*ml", i), "docs/**/never.go"}
		case 4:
			p.Patterns, p.ExcludePatterns = []string{fmt.Sprintf("**/*secret%d*", i)}, []string{"**/testdata/**"}
		case 5:
			p.Patterns, p.ExcludePatterns = []string{"**/*.go"}, []string{"services/**", fmt.Sprintf("lib%d/**", i)}
		}
		out = append(out, p)
	}
	return out
}

func manyFiles(n int) []route.File {
	out := make([]route.File, 0, n)
	for i := range n {
		out = append(out, route.File{Path: fmt.Sprintf("services/svc%d/internal/pkg%d/file_%d.%s", i%50, i%300, i, []string{"go", "ts", "sql"}[i%3]), Status: "modified", Additions: i % 40})
	}
	return out
}

// BenchmarkRoute measures one routing; the goal is at least 50 a second with 500 policies and 3000 files.
func BenchmarkRoute(b *testing.B) {
	for _, size := range [][2]int{{9, 5}, {9, 300}, {500, 5}, {500, 3000}} {
		b.Run(fmt.Sprintf("policies=%d/files=%d", size[0], size[1]), func(b *testing.B) {
			r := router(b, manyPolicies(size[0]))
			ch := route.Change{Files: manyFiles(size[1]), TrustLevel: 2}
			b.ReportAllocs()
			for b.Loop() {
				r.Route(ch)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "routes/s")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	policies := manyPolicies(500)
	for b.Loop() {
		router(b, policies)
	}
}
