package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// RunnerPolls answers the long-poll of runners.
type RunnerPolls interface {
	// Poll waits for something to tell the runner and returns it; nil: there was nothing in time. ctx ends the wait.
	Poll(ctx context.Context, c ident.Caller, runner string) (any, error)
}

// LiveQuery says what a live view wants: one session or all of the project, the state first (Init), or what came after
// a number it has seen.
type LiveQuery struct {
	SessionID string
	Init      bool
	After     *int64
}

// LiveFrame is one thing that happened.
type LiveFrame struct {
	Seq      int64
	AtMillis int64
	Type     string
	Data     map[string]any
}

// LiveStream hands frames over one after the other.
type LiveStream interface {
	// Next waits for the next frame; the context's error when it ends first.
	Next(ctx context.Context) (LiveFrame, error)
	Close()
}

// LiveFeed opens live views.
type LiveFeed interface {
	Open(ctx context.Context, c ident.Caller, q LiveQuery) (LiveStream, error)
}

const (
	liveHeartbeat = 30 * time.Second // between signs of life on a silent stream
	liveWrite     = 10 * time.Second // a client that takes no frame for so long is dropped
)

// streamRoutes are the routes that keep a connection: long-poll and live views.
func (s *Server) streamRoutes(e *gin.Engine) {
	get := func(path string, scope ident.Scope, h func(*gin.Context, ident.Caller)) {
		s.paths = append(s.paths, path)
		e.GET(path, func(c *gin.Context) {
			caller, leave, err := s.caller(c, scope)
			if err != nil {
				s.abort(c, err)
				return
			}
			defer leave()
			ctx, end := s.context(c.Request.Context(), true)
			defer end()
			c.Request = c.Request.WithContext(ctx)
			h(c, caller)
		})
	}
	if s.opts.Polls != nil {
		get("/runner/runs", ident.Runner, s.servePoll)
	}
	if s.opts.Live != nil {
		get("/sse/sessions", ident.Read, s.serveSSE)
		get("/ws", ident.Read, s.serveWS)
	}
}

// caller is who opens a stream, which leave ends. A browser's EventSource and WebSocket can send no header: the key may
// stand in api_key.
func (s *Server) caller(c *gin.Context, scope ident.Scope) (who ident.Caller, leave func(), err error) {
	if key := c.Query("api_key"); key != "" && keyOf(c.Request.Header) == "" {
		c.Request.Header.Set("X-Api-Key", key)
	}
	from := s.originOf(c)
	p, err := s.admit(c.Request, from)
	if err != nil {
		return who, nil, err
	}
	claimed := claim(c.Request.Header)
	if !p.May(scope) {
		why := "the key lacks the scope " + string(scope)
		s.pipe.Resolver.Denied(c.Request.Context(), p, claimed, c.FullPath(), why)
		return who, nil, fault.New(client.CodeForbidden, "this key may not call "+c.FullPath(), why, "use a key with the scope "+string(scope))
	}
	if leave, err = s.enter(p, from); err != nil {
		return who, nil, err
	}
	if who, err = s.pipe.Resolver.Resolve(c.Request.Context(), p, claimed, false); err != nil {
		leave()
	}
	return who, leave, err
}

// servePoll is GET /runner/runs: 200 with what there is, 204 when there was nothing in time or the server stops.
func (s *Server) servePoll(c *gin.Context, who ident.Caller) {
	runner := c.Query("runner_id")
	if runner == "" || len(runner) > 200 {
		f := fault.Invalid("runner_id", "runner_id is needed", "name the runner that polls: GET /runner/runs?runner_id=…")
		f.Detail = []any{map[string]any{"type": "missing", "loc": []string{"query", "runner_id"}, "msg": "Field required", "input": nil}}
		s.abort(c, f)
		return
	}
	body, err := s.opts.Polls.Poll(c.Request.Context(), who, runner)
	switch {
	case err != nil && c.Request.Context().Err() != nil, err == nil && body == nil:
		c.Writer.WriteHeader(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
	case err != nil:
		s.abort(c, err)
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			s.abort(c, err)
			return
		}
		s.write(c.Writer, http.StatusOK, "application/json", raw)
	}
}

// liveAbbreviations stand in the ids of SSE frames.
var liveAbbreviations = map[string]string{
	"init": "ini", "session_created": "scr", "session_updated": "sup", "session_deleted": "sdl", "event": "evt", "run_failed": "rfl",
	"run_created": "rcr", "run_updated": "rup", "runner_registered": "rrg", "runner_updated": "rru", "runner_removed": "rrm", "gap": "gap",
	"changeset_updated": "csu",
}

// lastEventID reads the log's number out of an id that serveSSE gave.
func lastEventID(id string) (int64, bool) {
	at := strings.LastIndexByte(id, '-')
	if at < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(id[at+1:], 10, 64)
	return n, err == nil && n >= 0
}

// serveSSE is GET /sse/sessions. A client that names the last id it saw gets what came after it, in place of init.
func (s *Server) serveSSE(c *gin.Context, who ident.Caller) {
	ctx, w := c.Request.Context(), c.Writer
	q := LiveQuery{SessionID: c.Query("session_id"), Init: c.Query("include_init") != "false"}
	if after, ok := lastEventID(c.GetHeader("Last-Event-ID")); ok {
		q.Init, q.After = false, &after
	}
	stream, err := s.opts.Live.Open(ctx, who, q)
	if err != nil {
		s.abort(c, err)
		return
	}
	defer stream.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Connection", "keep-alive")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(liveWrite))
		_, err := w.WriteString(text)
		return err == nil && control.Flush() == nil
	}
	if !send(": open\n\n") {
		return
	}
	for {
		wait, cancel := context.WithTimeout(ctx, liveHeartbeat)
		frame, err := stream.Next(wait)
		cancel()
		switch {
		case err == nil:
			data, err := json.Marshal(frame.Data)
			abbreviation := liveAbbreviations[frame.Type]
			if err != nil || !send(fmt.Sprintf("id: %d-%s-%03d\nevent: %s\ndata: %s\n\n", frame.AtMillis, abbreviation, frame.Seq, frame.Type, data)) {
				return
			}
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			if !send(": heartbeat\n\n") {
				return
			}
		default: // the client left, the server stops, or the log cannot be read: the client comes back with its last id
			return
		}
	}
}

// serveWS is GET /ws: the frames of /sse/sessions as text, each with its type; what the client sends is ignored.
func (s *Server) serveWS(c *gin.Context, who ident.Caller) {
	// Without keys localOnly has judged the Origin already; with keys no other page has one, and cookies there are none.
	conn, err := websocket.Accept(c.Writer, c.Request, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		c.Abort() // Accept has answered
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithCancel(c.Request.Context())
	defer cancel()
	go func() {
		defer cancel()
		for {
			if _, _, err := conn.Read(ctx); err != nil {
				return
			}
		}
	}()
	stream, err := s.opts.Live.Open(ctx, who, LiveQuery{SessionID: c.Query("session_id"), Init: true})
	if err != nil {
		_ = conn.Close(websocket.StatusTryAgainLater, "the log cannot be read now")
		return
	}
	defer stream.Close()
	for {
		wait, stop := context.WithTimeout(ctx, liveHeartbeat)
		frame, err := stream.Next(wait)
		stop()
		switch {
		case err == nil:
			if !sendFrame(ctx, conn, frame) {
				return
			}
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			ping, stop := context.WithTimeout(ctx, liveWrite)
			err := conn.Ping(ping)
			stop()
			if err != nil {
				return
			}
		default:
			_ = conn.Close(websocket.StatusGoingAway, "")
			return
		}
	}
}

func sendFrame(ctx context.Context, conn *websocket.Conn, f LiveFrame) bool {
	flat := maps.Clone(f.Data)
	if flat == nil {
		flat = map[string]any{}
	}
	flat["type"] = f.Type
	raw, err := json.Marshal(flat)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, liveWrite)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, raw) == nil
}
