package trace_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

// Without a collector tracing takes no memory and leaves contexts and headers alone.
func TestOffCostsNothing(t *testing.T) { //nolint:paralleltest // allocations are counted for the whole process
	ctx, h := context.Background(), http.Header{}
	n := testing.AllocsPerRun(100, func() {
		inner, span := trace.Start(trace.Under(ctx, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), "x", trace.Server, "a", "b", "c", "")
		span.Set("d", "e")
		span.SetInt("f", 1)
		trace.Inject(inner, h)
		if inner = trace.Extract(inner, h); inner != ctx || trace.Parent(inner) != "" || trace.Within(inner) || len(h) != 0 {
			t.Error("something was done")
		}
		span.End("failed")
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
