package obs

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v9")
	m.Observe("acquire_lock", "http", "", 3*time.Millisecond)
	m.Observe("acquire_lock", "mcp", client.CodeUnavailable, time.Second)
	m.Ran("sweep", 4, nil)
	m.Ran("sweep", 0, errors.New("x"))
	m.Gauge("coord_waiters", "w", func() float64 { return 7 })
	m.InFlight.Inc()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, want := range []string{
		`coord_operation_duration_seconds_count{code="ok",door="http",op="acquire_lock"} 1`,
		`coord_operation_duration_seconds_count{code="unavailable",door="mcp",op="acquire_lock"} 1`,
		`coord_swept_total{loop="sweep"} 4`, `coord_loop_runs_total{loop="sweep",result="error"} 1`,
		`coord_waiters 7`, `coord_http_in_flight 1`, `coord_build_info{version="v9"} 1`, "go_goroutines",
	} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestTwoSetsDoNotMeet(t *testing.T) {
	t.Parallel()
	NewMetrics("a")
	NewMetrics("a")
}

func TestLogger(t *testing.T) {
	t.Parallel()
	tests := []struct {
		level string
		debug bool
		lines int
	}{{"error", false, 1}, {"WARN", false, 2}, {"", false, 3}, {"nonsense", false, 3}, {"debug", false, 4}, {"error", true, 4}}
	for _, tt := range tests {
		var out bytes.Buffer
		l := NewLogger(&out, tt.level, tt.debug)
		l.Debug("d")
		l.Info("i")
		l.Warn("w")
		l.Error("e", "k", 1)
		if n := strings.Count(out.String(), "\n"); n != tt.lines {
			t.Errorf("level %q, debug %v: %d lines", tt.level, tt.debug, n)
		}
		last := strings.Split(strings.TrimSpace(out.String()), "\n")
		var line map[string]any
		if json.Unmarshal([]byte(last[len(last)-1]), &line) != nil || line["msg"] != "e" {
			t.Errorf("not JSON: %s", last)
		}
	}
}
