package inline

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
)

// BenchmarkVerdict measures tier 0 from the push to the outcome: a Go file of 40 lines in a repository of 500, with the
// mirror and Go's cache warm and every tool that is installed.
func BenchmarkVerdict(b *testing.B) {
	w := newBench(b)
	w.Write("go.mod", "module example.com/x\n\ngo 1.22\n")
	for n := range 500 {
		w.Write(fmt.Sprintf("p%03d/a.go", n), fmt.Sprintf("package p%03d\n\n// A is %d.\nconst A = %d\n", n, n, n))
	}
	base := w.Commit("main")
	verify := func(n int) time.Duration {
		body := "package p001\n\nimport \"fmt\"\n"
		for line := range 9 {
			body += fmt.Sprintf("\n// F%d says so.\nfunc F%d() string {\n\treturn fmt.Sprint(%d)\n}\n", line, line, n)
		}
		w.Write("p001/b.go", body)
		job := w.job(base, w.Commit("main"))
		began := time.Now()
		executortest.Start(b, w.exec, &job)
		out := executortest.Await(b, w.exec, job, 10*time.Minute) // the first one waits for the cache
		if out.Conclusion != "success" {
			b.Fatalf("%s: %s\n%s", out.Conclusion, out.Reason, out.Output)
		}
		if n == 0 {
			b.Logf("%s\n%s", out.Reason, out.Output)
		}
		return time.Since(began)
	}
	verify(0)
	var took []time.Duration
	b.ResetTimer()
	for n := range b.N {
		took = append(took, verify(n+1))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds(), "s/p50")
	b.ReportMetric(took[len(took)*95/100].Seconds(), "s/p95")
}
