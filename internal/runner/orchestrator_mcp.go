package runner

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	longestPrompt = 100_000 // characters
	longestResult = 50_000  // characters; longer results are cut
	cutResult     = "\n\n[Result truncated at 50000 characters]"
	maxToolCall   = 4 << 20 // bytes of a request
)

// caller is who calls a tool and what its headers say.
type caller struct {
	session string         // the session that calls, parent of what it starts; empty: none
	tags    string         // only blueprints with all of these are listed
	demands map[string]any // added to those of the agents that are started
	project string         // of the run that calls
}

type callerKey struct{}

// mcpURL is the embedded MCP server for the job. The token in it says which session calls.
func (r *Runner) mcpURL(j *job) string {
	return "http://" + r.mcp.Addr().String() + "/r/" + j.token + "/mcp"
}

// orchestrator serves the orchestrator's tools. A call comes either through the URL of a run (its session is the caller
// whatever the headers say) or, when a port was configured, through the plain /mcp: then X-Agent-Session-Id names the
// caller, which must be a session that runs here. The returned function ends open streams.
func (r *Runner) orchestrator() (http.Handler, func()) {
	s := server.NewMCPServer("Agent Orchestrator", "1", server.WithToolCapabilities(false), server.WithRecovery())
	for _, t := range r.tools() {
		s.AddTool(t.tool, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			who, _ := ctx.Value(callerKey{}).(caller)
			out, err := t.call(ctx, who, req)
			if err != nil {
				out = map[string]any{"error": err.Error()}
				if t.list {
					out = []any{out}
				}
			}
			return toolResult(out)
		})
	}
	door := server.NewStreamableHTTPServer(s, server.WithStateLess(true), server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)))
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		who, ok := r.caller(req)
		if !ok {
			refuse(w, http.StatusForbidden, "this MCP server needs the URL that the executor was given, and its run must be running")
			return
		}
		req.Body = http.MaxBytesReader(w, req.Body, maxToolCall)
		door.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), callerKey{}, who)))
	})
	return h, func() { door.CloseSessions(context.Background()) }
}

// caller identifies a request; false: it may not call.
func (r *Runner) caller(req *http.Request) (caller, bool) {
	who := caller{session: req.Header.Get("X-Agent-Session-Id"), tags: req.Header.Get("X-Agent-Tags")}
	_ = json.Unmarshal([]byte(req.Header.Get("X-Additional-Demands")), &who.demands) // what is no object counts as none
	if j, path := r.byToken(req.URL.EscapedPath()); j != nil && path == "/mcp" {
		who.session, who.project = j.SessionID, j.Project
		return who, true
	}
	if r.cfg.MCPPort == 0 || req.URL.Path != "/mcp" {
		return who, false
	}
	return who, who.session == "" || r.runsHere(who.session)
}

// runsHere reports whether a run of the session is executed by this runner now.
func (r *Runner) runsHere(session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.SessionID == session {
			return true
		}
	}
	return false
}

// toolResult is an answer as text and as structure. Lists are wrapped, for a structure is always an object.
func toolResult(out any) (*mcp.CallToolResult, error) {
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	structured := out
	if list, ok := out.([]any); ok {
		structured = map[string]any{"result": list}
	}
	return mcp.NewToolResultStructured(structured, string(raw)), nil
}

// cut shortens a result to longestResult characters.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= longestResult {
		return text
	}
	return string([]rune(text)[:longestResult]) + cutResult
}
