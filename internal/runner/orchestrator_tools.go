package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	syncLimit      = 10 * time.Minute // that start and resume wait in mode sync
	firstLook      = 100 * time.Millisecond
	longestLook    = 2 * time.Second // between looks at a run that is waited for
	resultPatience = 5 * time.Second // for the last event of a run that is reported completed
)

type tool struct {
	tool mcp.Tool
	list bool // the answer is a list
	call func(context.Context, caller, mcp.CallToolRequest) (any, error)
}

func (r *Runner) tools() []tool {
	mode := mcp.WithString("mode", mcp.DefaultString("sync"), mcp.Enum("sync", "async_poll", "async_callback"), mcp.Description(
		"sync waits for the result (at most 10 minutes); async_poll returns at once, ask for status and result; "+
			"async_callback returns at once and your session is resumed with the result"))
	prompt := mcp.WithString("prompt", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(longestPrompt), mcp.Description("What the agent is to do."))
	id := mcp.WithString("session_id", mcp.Required(), mcp.Description("The session, like ses_…"))
	readOnly := mcp.WithReadOnlyHintAnnotation(true)
	return []tool{
		{mcp.NewTool("list_agent_blueprints", readOnly, mcp.WithDescription("List the agents that can be started.")), true, r.listBlueprints},
		{mcp.NewTool("list_agent_sessions", readOnly, mcp.WithDescription("List agent sessions, newest first.")), true, r.listSessions},
		{mcp.NewTool("start_agent_session", mcp.WithDescription("Start an agent in a new session."),
			mcp.WithString("agent_name", mcp.Required(), mcp.Description("An agent of list_agent_blueprints.")), prompt,
			mcp.WithString("project_dir", mcp.Description("Folder to work in; default: the runner's.")), mode), false, r.startSession},
		{mcp.NewTool("resume_agent_session", mcp.WithDescription("Give a session that has ended its turn another prompt."), id, prompt, mode), false, r.resumeSession},
		{mcp.NewTool("get_agent_session_status", readOnly, mcp.WithDescription("The status of a session; not_existent when there is none."), id), false, r.sessionStatus},
		{mcp.NewTool("get_agent_session_result", readOnly, mcp.WithDescription("The result of a finished session."), id), false, r.sessionResult},
		{mcp.NewTool("delete_all_agent_sessions", mcp.WithDestructiveHintAnnotation(true), mcp.WithDescription(
			"Delete all sessions that descend from yours; those of others are not touched, running ones are kept and named.")), false, r.deleteSessions},
	}
}

func (r *Runner) listBlueprints(ctx context.Context, who caller, _ mcp.CallToolRequest) (any, error) {
	path := "/agents"
	if who.tags != "" {
		path += "?" + url.Values{"tags": {who.tags}}.Encode()
	}
	var agents []struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tags        []string `json:"tags"`
		Status      string   `json:"status"`
	}
	if err := r.api.call(ctx, callTimeout, http.MethodGet, path, nil, &agents); err != nil {
		return nil, err
	}
	out := []any{}
	for _, a := range agents {
		if a.Status != "inactive" {
			out = append(out, map[string]any{"name": a.Name, "description": a.Description, "tags": append([]string{}, a.Tags...)})
		}
	}
	return out, nil
}

type session struct {
	SessionID     string  `json:"session_id"`
	Status        string  `json:"status"`
	AgentName     *string `json:"agent_name"`
	CreatedAt     string  `json:"created_at"`
	LastResumedAt *string `json:"last_resumed_at"`
	Parent        string  `json:"parent_session_id"`
}

func (r *Runner) sessions(ctx context.Context, who caller) ([]session, error) {
	var out struct {
		Sessions []session `json:"sessions"`
	}
	err := r.api.in(who.project).call(ctx, callTimeout, http.MethodGet, "/sessions", nil, &out)
	return out.Sessions, err
}

func (r *Runner) listSessions(ctx context.Context, who caller, _ mcp.CallToolRequest) (any, error) {
	all, err := r.sessions(ctx, who)
	out := []any{}
	for _, s := range all {
		out = append(out, map[string]any{
			"session_id": s.SessionID, "status": s.Status, "agent_name": s.AgentName,
			"created_at": s.CreatedAt, "last_resumed_at": s.LastResumedAt,
		})
	}
	return out, err
}

func (r *Runner) startSession(ctx context.Context, who caller, req mcp.CallToolRequest) (any, error) {
	body := map[string]any{"type": "start_session", "agent_name": req.GetString("agent_name", "")}
	if body["agent_name"] == "" {
		return nil, errors.New("agent_name is required")
	}
	if dir := req.GetString("project_dir", ""); dir != "" {
		body["project_dir"] = dir
	}
	return r.postRun(ctx, who, req, body)
}

func (r *Runner) resumeSession(ctx context.Context, who caller, req mcp.CallToolRequest) (any, error) {
	id := req.GetString("session_id", "")
	switch id {
	case "":
		return nil, errors.New("session_id is required")
	case who.session:
		return nil, errors.New("a session cannot resume itself: it is running")
	}
	return r.postRun(ctx, who, req, map[string]any{"type": "resume_session", "session_id": id})
}

// postRun completes the body with what both kinds of runs have, posts it and, in mode sync, waits for the result.
func (r *Runner) postRun(ctx context.Context, who caller, req mcp.CallToolRequest, body map[string]any) (any, error) {
	prompt, mode := req.GetString("prompt", ""), req.GetString("mode", "sync")
	switch n := utf8.RuneCountInString(prompt); {
	case n == 0:
		return nil, errors.New("prompt is required")
	case n > longestPrompt:
		return nil, fmt.Errorf("the prompt has %d characters, at most %d are possible", n, longestPrompt)
	case mode != "sync" && mode != "async_poll" && mode != "async_callback":
		return nil, fmt.Errorf("mode %q is not sync, async_poll or async_callback", mode)
	case mode == "async_callback" && who.session == "":
		return nil, errors.New("async_callback needs a session to call back: send X-Agent-Session-Id")
	}
	body["prompt"], body["execution_mode"] = prompt, mode
	if who.session != "" {
		body["parent_session_id"] = who.session
	}
	if len(who.demands) > 0 {
		body["additional_demands"] = who.demands
	}
	var made struct {
		RunID     string `json:"run_id"`
		SessionID string `json:"session_id"`
	}
	if err := r.api.in(who.project).call(ctx, callTimeout, http.MethodPost, "/runs", body, &made); err != nil {
		return nil, err
	}
	if mode != "sync" {
		return map[string]any{"session_id": made.SessionID, "run_id": made.RunID, "status": "pending"}, nil
	}
	if err := r.awaitRun(ctx, made.RunID, made.SessionID); err != nil {
		return nil, err
	}
	result, err := r.awaitResult(ctx, made.SessionID)
	return map[string]any{"session_id": made.SessionID, "result": result}, err
}

// awaitRun waits until the run is completed; any other end is an error. A coordinator that is away is waited for.
func (r *Runner) awaitRun(ctx context.Context, runID, sessionID string) error {
	ctx, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		var run struct {
			Status string  `json:"status"`
			Error  *string `json:"error"`
		}
		err := r.api.call(ctx, callTimeout, http.MethodGet, "/runs/"+url.PathEscape(runID), nil, &run)
		switch {
		case final(err):
			return err
		case err != nil:
		case run.Status == "completed":
			return nil
		case run.Status == "failed" && run.Error != nil:
			return fmt.Errorf("session %s failed: %s", sessionID, *run.Error)
		case run.Status == "failed" || run.Status == "stopped":
			return fmt.Errorf("session %s was %s", sessionID, run.Status)
		}
		if !sleep(ctx, pause) {
			return fmt.Errorf("session %s has not ended within %s; it goes on: ask for its status and result", sessionID, syncLimit)
		}
	}
}

// awaitResult reads the result; the session's last event may come a moment after the run's report.
func (r *Runner) awaitResult(ctx context.Context, sessionID string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, resultPatience)
	defer cancel()
	for {
		text, err := r.result(ctx, sessionID)
		if status(err) != http.StatusBadRequest || !sleep(ctx, firstLook) {
			return text, err
		}
	}
}

func (r *Runner) result(ctx context.Context, sessionID string) (string, error) {
	var out struct {
		Result string `json:"result"`
		Text   string `json:"result_text"` // newer coordinators
	}
	err := r.api.call(ctx, callTimeout, http.MethodGet, "/sessions/"+url.PathEscape(sessionID)+"/result", nil, &out)
	return cut(cmp.Or(out.Result, out.Text)), err
}

func (r *Runner) sessionStatus(ctx context.Context, _ caller, req mcp.CallToolRequest) (any, error) {
	id, err := req.RequireString("session_id")
	if err != nil {
		return nil, err
	}
	var out struct {
		Status string `json:"status"`
	}
	err = r.api.call(ctx, callTimeout, http.MethodGet, "/sessions/"+url.PathEscape(id)+"/status", nil, &out)
	return map[string]any{"session_id": id, "status": out.Status}, err
}

func (r *Runner) sessionResult(ctx context.Context, _ caller, req mcp.CallToolRequest) (any, error) {
	id, err := req.RequireString("session_id")
	if err != nil {
		return nil, err
	}
	text, err := r.result(ctx, id)
	return map[string]any{"session_id": id, "result": text}, err
}

// deleteSessions deletes the caller's descendants, leaves first. What cannot be deleted is named with the reason.
func (r *Runner) deleteSessions(ctx context.Context, who caller, _ mcp.CallToolRequest) (any, error) {
	if who.session == "" {
		return nil, errors.New("only a session's own descendants are deleted, and this call names no session: send X-Agent-Session-Id")
	}
	all, err := r.sessions(ctx, who)
	if err != nil {
		return nil, err
	}
	deleted, kept := 0, []any{}
	for _, id := range descendants(all, who.session) {
		err := r.api.call(ctx, callTimeout, http.MethodDelete, "/sessions/"+url.PathEscape(id), nil, nil)
		if err == nil || status(err) == http.StatusNotFound { // gone with its child's deletion or by somebody else
			deleted++
			continue
		}
		kept = append(kept, map[string]any{"session_id": id, "reason": err.Error()})
	}
	out := map[string]any{"deleted_count": deleted}
	if len(kept) > 0 {
		out["not_deleted"] = kept
	}
	return out, nil
}

// descendants are the sessions below root, children before their parents.
func descendants(all []session, root string) []string {
	children := map[string][]string{}
	for _, s := range all {
		children[s.Parent] = append(children[s.Parent], s.SessionID)
	}
	order, seen := []string{root}, map[string]bool{root: true}
	for i := 0; i < len(order); i++ {
		for _, id := range children[order[i]] {
			if !seen[id] { // a circle in bad data must not hang the call
				seen[id] = true
				order = append(order, id)
			}
		}
	}
	out := make([]string, 0, len(order)-1)
	for i := len(order) - 1; i > 0; i-- {
		out = append(out, order[i])
	}
	return out
}
