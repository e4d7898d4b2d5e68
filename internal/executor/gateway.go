package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/jsoncall"
)

const (
	callTimeout = 35 * time.Second // the gateway waits up to 30 s for a coordinator that is away
	maxReply    = 32 << 20         // bytes
)

// Event is something that happened in a session. Type, and what belongs to it, are required.
type Event struct {
	Type       string    `json:"event_type"` // session_start, session_stop, message, post_tool, result
	SessionID  string    `json:"session_id"` // filled in
	Timestamp  string    `json:"timestamp"`  // filled in
	ToolName   string    `json:"tool_name,omitempty"`
	ToolInput  any       `json:"tool_input,omitempty"`
	ToolOutput any       `json:"tool_output,omitempty"`
	Error      string    `json:"error,omitempty"`
	ExitCode   *int      `json:"exit_code,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Role       string    `json:"role,omitempty"`
	Content    []Content `json:"content,omitempty"`
}

// Content is a part of a message.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Session is what an executor needs to know of a session it resumes.
type Session struct {
	ExecutorSessionID string `json:"executor_session_id"`
	ProjectDir        string `json:"project_dir"`
}

// Gateway speaks to the coordinator for one session. Its methods fail with the gateway's answer in the text.
type Gateway struct {
	base    string
	session string
	http    *http.Client
	now     func() time.Time
}

// NewGateway uses the gateway at base (AGENT_ORCHESTRATOR_API_URL) for the session.
func NewGateway(base, session string) (*Gateway, error) {
	if base == "" {
		return nil, errors.New("AGENT_ORCHESTRATOR_API_URL is not set: an executor is started by an agent runner")
	}
	return &Gateway{
		base: strings.TrimRight(base, "/"), session: session,
		http: &http.Client{Timeout: callTimeout}, now: time.Now,
	}, nil
}

// Close lets go of connections.
func (g *Gateway) Close() { g.http.CloseIdleConnections() }

// Bind tells the coordinator which session of the executor's own carries this one; projectDir may be empty.
func (g *Gateway) Bind(ctx context.Context, executorSession, projectDir string) error {
	body := map[string]string{"session_id": g.session, "executor_session_id": executorSession}
	if projectDir != "" {
		body["project_dir"] = projectDir
	}
	return g.call(ctx, http.MethodPost, "/bind", body, nil)
}

// Resumed records that the session goes on.
func (g *Gateway) Resumed(ctx context.Context) error {
	return g.call(ctx, http.MethodPatch, "/metadata", map[string]string{"session_id": g.session, "last_resumed_at": g.stamp()}, nil)
}

// Post adds an event to the session.
func (g *Gateway) Post(ctx context.Context, e Event) error {
	e.SessionID, e.Timestamp = g.session, g.stamp()
	return g.call(ctx, http.MethodPost, "/events", e, nil)
}

// Message adds a message of role user or assistant.
func (g *Gateway) Message(ctx context.Context, role, text string) error {
	return g.Post(ctx, Event{Type: "message", Role: role, Content: []Content{{"text", text}}})
}

// Stopped records the end of the turn: the last event.
func (g *Gateway) Stopped(ctx context.Context, exitCode int, reason string) error {
	return g.Post(ctx, Event{Type: "session_stop", ExitCode: &exitCode, Reason: reason})
}

// Usage is what one model used in this run. Cost is nil when it is not known.
type Usage struct {
	Model            string   `json:"model,omitempty"`
	InputTokens      int64    `json:"input_tokens"` // without those of the cache
	OutputTokens     int64    `json:"output_tokens"`
	CacheReadTokens  int64    `json:"cache_read_tokens"`
	CacheWriteTokens int64    `json:"cache_write_tokens"`
	Cost             *float64 `json:"cost_usd,omitempty"`
	Key              string   `json:"key"` // names this use within the run; the gateway completes it
}

// Used reports what models used. A report may be sent again: it is counted once.
func (g *Gateway) Used(ctx context.Context, list []Usage) error {
	return g.call(ctx, http.MethodPost, "/usage", map[string]any{"session_id": g.session, "reports": list}, nil)
}

// Session reads the session.
func (g *Gateway) Session(ctx context.Context) (Session, error) {
	var out struct {
		Session Session `json:"session"`
	}
	err := g.call(ctx, http.MethodGet, "/sessions/"+url.PathEscape(g.session), nil, &out)
	return out.Session, err
}

func (g *Gateway) stamp() string { return g.now().UTC().Format("2006-01-02T15:04:05.000000+00:00") }

func (g *Gateway) call(ctx context.Context, method, path string, in, out any) error {
	req, err := jsoncall.Request(ctx, method, g.base+path, in)
	if err != nil {
		return err
	}
	status, raw, err := jsoncall.Do(g.http, req, maxReply)
	if err != nil {
		var u *url.Error // its text would show the token in the URL
		if errors.As(err, &u) {
			err = u.Err
		}
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if !jsoncall.Good(status) {
		return fmt.Errorf("%s %s: the gateway answered %d: %s", method, path, status, raw[:min(len(raw), 300)])
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}
