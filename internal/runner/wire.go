package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/jsoncall"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const maxReply = 32 << 20 // bytes of one answer of the coordinator

// run is what the runner needs of a run on the wire.
type run struct {
	RunID      string          `json:"run_id"`
	Type       string          `json:"type"`
	SessionID  string          `json:"session_id"`
	AgentName  string          `json:"agent_name"`
	Prompt     string          `json:"prompt"`
	ProjectDir string          `json:"project_dir"`
	Project    string          `json:"project"`                  // what its calls of the coordination tools are about
	Blueprint  json.RawMessage `json:"resolved_agent_blueprint"` // newer coordinators resolve it themselves
}

type registration struct {
	Hostname            string   `json:"hostname"`
	ProjectDir          string   `json:"project_dir"`
	ExecutorProfile     string   `json:"executor_profile"`
	Executor            Executor `json:"executor"`
	Tags                []string `json:"tags"`
	RequireMatchingTags bool     `json:"require_matching_tags"`
	InstanceID          string   `json:"instance_id"`        // the same over restarts: a returning runner is not a duplicate
	Capacity            int      `json:"capacity,omitempty"` // runs at once; absent: no limit
}

type registered struct {
	RunnerID         string  `json:"runner_id"`
	PollTimeout      float64 `json:"poll_timeout_seconds"`
	HeartbeatSeconds float64 `json:"heartbeat_interval_seconds"`
}

// delivery is the answer to a poll; empty when there was nothing.
type delivery struct {
	Run          *run     `json:"run"`
	StopRuns     []string `json:"stop_runs"`
	StopSessions []string `json:"stop_sessions"` // newer coordinators
	Deregistered bool     `json:"deregistered"`
	Traceparent  string   `json:"traceparent"` // the span that the run began with
}

// statusError is an answer of the coordinator other than 2xx.
type statusError struct {
	Status int
	Detail string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the coordinator answered %d: %s", e.Status, e.Detail)
}

// status is the HTTP status in err, 0 when the coordinator did not answer.
func status(err error) int {
	var s *statusError
	if errors.As(err, &s) {
		return s.Status
	}
	return 0
}

// final reports whether repeating the call cannot help: the coordinator understood it and said no.
func final(err error) bool {
	s := status(err)
	return s >= 400 && s < 500 && s != http.StatusUnauthorized && s != http.StatusRequestTimeout && s != http.StatusTooManyRequests
}

// coordinator calls the runner's side of the wire. Failures are *statusError, or those of net/http.
type coordinator struct {
	base    string
	key     string
	project string
	http    *http.Client
}

func newCoordinator(cfg Config) *coordinator {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	return &coordinator{base: cfg.CoordinatorURL, key: cfg.APIKey, project: cfg.Project, http: &http.Client{Transport: transport}}
}

// authorise puts the runner's own credentials into a request.
func (c *coordinator) authorise(h http.Header) {
	if c.key != "" {
		h.Set("Authorization", "Bearer "+c.key)
	}
	if c.project != "" {
		h.Set("X-Project", c.project)
	}
}

// in is the coordinator for calls about a project; empty: the runner's own.
func (c *coordinator) in(project string) *coordinator {
	other := *c
	other.project = cmp.Or(project, c.project)
	return &other
}

// call does one request within timeout. in nil sends no body; out nil ignores the answer's.
func (c *coordinator) call(ctx context.Context, timeout time.Duration, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := jsoncall.Request(ctx, method, c.base+path, in)
	if err != nil {
		return err
	}
	c.authorise(req.Header)
	trace.Inject(ctx, req.Header)
	code, raw, err := jsoncall.Do(c.http, req, maxReply)
	if err != nil {
		return err
	}
	if !jsoncall.Good(code) {
		return &statusError{code, detail(raw)}
	}
	if out == nil || len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	return json.Unmarshal(raw, out)
}

// detail is the text of an error body: its "detail" if that is a string, its message, else the body's beginning.
func detail(raw []byte) string {
	var body struct {
		Detail any `json:"detail"`
	}
	if json.Unmarshal(raw, &body) == nil {
		switch d := body.Detail.(type) {
		case string:
			return d
		case map[string]any:
			if m, ok := d["message"].(string); ok {
				return m
			}
		}
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(raw[:min(len(raw), 300)])), "")
}

func (c *coordinator) register(ctx context.Context, in registration) (registered, error) {
	var out registered
	err := c.call(ctx, callTimeout, http.MethodPost, "/runner/register", in, &out)
	if err == nil && out.RunnerID == "" {
		err = errors.New("the coordinator's registration names no runner_id")
	}
	return out, err
}

// poll waits for something to do.
func (c *coordinator) poll(ctx context.Context, runnerID string, timeout time.Duration) (delivery, error) {
	var out delivery
	err := c.call(ctx, timeout, http.MethodGet, "/runner/runs?"+url.Values{"runner_id": {runnerID}}.Encode(), nil, &out)
	return out, err
}

func (c *coordinator) heartbeat(ctx context.Context, runnerID string) error {
	return c.call(ctx, callTimeout, http.MethodPost, "/runner/heartbeat", map[string]string{"runner_id": runnerID}, nil)
}

// report sends started, completed, failed or stopped for a run.
func (c *coordinator) report(ctx context.Context, runID, kind string, body map[string]string) error {
	return c.call(ctx, callTimeout, http.MethodPost, "/runner/runs/"+url.PathEscape(runID)+"/"+kind, body, nil)
}

func (c *coordinator) deregister(ctx context.Context, runnerID string) error {
	return c.call(ctx, callTimeout, http.MethodDelete, "/runners/"+url.PathEscape(runnerID)+"?self=true", nil, nil)
}

func (c *coordinator) blueprint(ctx context.Context, name string) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.call(ctx, callTimeout, http.MethodGet, "/agents/"+url.PathEscape(name), nil, &out)
	return out, err
}
