package operator

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// span is one that a program handed over.
type span struct {
	service, name, trace, id, parent string
	kind                             string
	attributes                       map[string]string
}

// collectorStub is where programs hand spans over: OTLP over HTTP, protobuf.
type collectorStub struct {
	url   string
	mu    sync.Mutex
	spans []span
	raw   []byte
}

func newCollector(t *testing.T) *collectorStub {
	t.Helper()
	c := &collectorStub{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var in collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(raw, &in) != nil {
			t.Errorf("%s %s: no export", r.Method, r.URL)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw = append(c.raw, raw...)
		for _, rs := range in.ResourceSpans {
			service := ""
			for _, a := range rs.Resource.Attributes {
				if a.Key == "service.name" {
					service = a.Value.GetStringValue()
				}
			}
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					out := span{
						service, s.Name, hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId), s.Kind.String(),
						map[string]string{},
					}
					for _, a := range s.Attributes {
						out.attributes[a.Key] = a.Value.GetStringValue()
					}
					c.spans = append(c.spans, out)
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(srv.Close)
	c.url = srv.URL
	return c
}

// find returns a span of that trace for which ok holds, nil when there is none yet.
func (c *collectorStub) find(trace string, ok func(span) bool) *span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.spans, func(s span) bool { return (trace == "" || s.trace == trace) && ok(s) }); i >= 0 {
		s := c.spans[i]
		return &s
	}
	return nil
}

// await waits for a span.
func (c *collectorStub) await(t *testing.T, trace, what string, ok func(span) bool) span {
	t.Helper()
	var got *span
	eventually(t, "the span of "+what, func() bool { got = c.find(trace, ok); return got != nil })
	return *got
}

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

func named(service, name string) func(span) bool {
	return func(s span) bool { return s.service == service && s.name == name }
}

// One request's spans hang together over the programs: the client's, the API's route, the operation, its statements, and the
// run in the runner with what that reports back. A webhook's likewise, through the inbox to the routing.
func TestTraces(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	otel := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_BSP_SCHEDULE_DELAY=50"}
	dsn := pgtest.DSN(t)
	url := begin(t, base(dsn, otel...), "api").url()
	dir := t.TempDir()
	begin(t, append(otel, "COORDINATION_API_URL="+url, "COORDINATION_API_KEY="+key, "COORD_HOME="+dir), "agent-runner", "--executor", "test-executor", "--project-dir", dir)
	if got := ran(t, url, "X-API-Key: "+key, "Traceparent: 00-"+traceID+"-"+spanID+"-01"); got != "completed" {
		t.Fatalf("the run %s", got)
	}
	request := c.await(t, traceID, "the request", named("agent-coordinator-api", "POST /runs"))
	if request.parent != spanID || request.kind != "SPAN_KIND_SERVER" || request.attributes["http.route"] != "/runs" {
		t.Errorf("%+v", request)
	}
	operation := c.await(t, traceID, "the operation", named("agent-coordinator-api", "create_run"))
	if operation.parent != request.id || operation.attributes["coord.door"] != "http" {
		t.Errorf("%+v", operation)
	}
	c.await(t, traceID, "a statement", func(s span) bool {
		return s.parent == operation.id && s.attributes["db.system.name"]+s.attributes["db.system"] == "postgresql"
	})
	run := c.await(t, traceID, "the run", named("agent-coordinator-runner", "run"))
	if run.parent != operation.id {
		t.Errorf("the run is not under the operation that made it: %+v", run)
	}
	started := "POST /runner/runs/:run_id/started"
	if told := c.await(t, traceID, started, named("agent-coordinator-api", started)); told.parent != run.id {
		t.Errorf("%+v", told)
	}

	secret := "webhook-secret"
	gateway := begin(t, base(dsn, append(otel, "GITHUB_WEBHOOK_SECRET="+secret, "COORD_HOME="+dir, "GATEWAY_DIR="+t.TempDir())...), "gateway").url()
	if status, body := ask(t, "POST", gateway+"/webhook/github", push, delivery(push, secret)...); status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	hook := c.await(t, "", "the webhook", named("agent-coordinator-gateway", "POST /webhook/github"))
	delivered := c.await(t, hook.trace, "the delivery", named("agent-coordinator-gateway", "deliver"))
	if delivered.parent != hook.id {
		t.Errorf("%+v", delivered)
	}
	if routed := c.await(t, hook.trace, "the routing", named("agent-coordinator-gateway", "route")); routed.parent != delivered.id {
		t.Errorf("%+v", routed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.Contains(string(c.raw), key) || strings.Contains(string(c.raw), secret) {
		t.Error("a secret is in a span")
	}
}

const push = `{"ref": "refs/heads/main", "before": "1111111111111111111111111111111111111111", "after": "2222222222222222222222222222222222222222",
	"repository": {"id": 1, "full_name": "acme/shop", "clone_url": "https://git.example/acme/shop.git", "html_url": "https://git.example/acme/shop", "default_branch": "main", "pushed_at": 1000},
	"sender": {"login": "dev"}}`

func delivery(body, secret string) []string {
	return []string{
		"Content-Type: application/json", "X-GitHub-Event: push", "X-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958",
		"X-Hub-Signature-256: " + githubevent.Sign(secret, []byte(body)),
	}
}

// A collector that is away is no failure, and is told once.
func TestCollectorAway(t *testing.T) {
	t.Parallel()
	p := begin(t, base(pgtest.DSN(t), "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_BSP_SCHEDULE_DELAY=20", "OTEL_BSP_EXPORT_TIMEOUT=200"), "api")
	url := p.url()
	for range 3 {
		if status, body := ask(t, "GET", url+"/projects", "", "X-API-Key: "+key); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	eventually(t, "a word about it", func() bool { return strings.Contains(p.log(), "spans could not be handed over") })
}
