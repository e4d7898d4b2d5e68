package obs

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// Metrics is one process's metrics, in a registry of its own: two servers in one process do not meet.
type Metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.HistogramVec
	InFlight prometheus.Gauge // HTTP requests being served, waiting ones included
	sweeps   *prometheus.CounterVec
	swept    *prometheus.CounterVec
}

// NewMetrics registers everything a process always has. version is the build's.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coord_operation_duration_seconds", Help: "Duration of operations by operation, door and result code; waiting counts.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"op", "door", "code"}),
		InFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "coord_http_in_flight", Help: "HTTP requests being served."}),
		sweeps:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "coord_loop_runs_total", Help: "Runs of periodic workers by result."}, []string{"loop", "result"}),
		swept:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "coord_swept_total", Help: "Rows that periodic workers changed."}, []string{"loop"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "coord_build_info", Help: "Always 1; the label is the build's version.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.calls, m.InFlight, m.sweeps, m.swept, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Observe records a finished call; it is an op.Observer. An empty code counts as "ok".
func (m *Metrics) Observe(operation, door string, code client.Code, took time.Duration) {
	if code == "" {
		code = "ok"
	}
	m.calls.WithLabelValues(operation, door, string(code)).Observe(took.Seconds())
}

// Ran records one run of a periodic worker that changed rows rows.
func (m *Metrics) Ran(loop string, rows int, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.sweeps.WithLabelValues(loop, result).Inc()
	if rows > 0 {
		m.swept.WithLabelValues(loop).Add(float64(rows))
	}
}

// Gauge registers a value that is read when the metrics are.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Counter registers a growing value that is read when the metrics are.
func (m *Metrics) Counter(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

// Handler serves the metrics in Prometheus's text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
