package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const headerRequestID = "X-Request-Id"

// frame surrounds every request: its id, the count of requests in flight, the log line, and the net under panics.
func (s *Server) frame(c *gin.Context) {
	start := time.Now()
	h := c.Writer.Header()
	h.Set(headerRequestID, saneID(c.GetHeader(headerRequestID)))
	h.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{}) // that of the connection's last answer is over
	if s.opts.InFlight != nil {
		s.opts.InFlight.Inc()
		defer s.opts.InFlight.Dec()
	}
	span := begin(c)
	defer func() { finish(c, span) }()
	defer s.recovered(c)
	c.Next()
	ctx := c.Request.Context()
	if s.log.Enabled(ctx, slog.LevelDebug) {
		s.log.DebugContext(ctx, "request", "method", c.Request.Method, "path", c.Request.URL.Path, "status", c.Writer.Status(),
			"dur_ms", time.Since(start).Milliseconds(), "bytes", c.Writer.Size(), "request_id", requestID(c))
	}
}

// untraced routes are asked for by machines, over and over.
var untraced = []string{"/health", "/live", "/ready", "/metrics"}

// begin starts the request's span, under the one that the client names.
func begin(c *gin.Context) (span trace.Span) {
	if !trace.Enabled() || slices.Contains(untraced, c.FullPath()) {
		return span
	}
	ctx := trace.Extract(c.Request.Context(), c.Request.Header)
	ctx, span = trace.Start(ctx, strings.TrimSpace(c.Request.Method+" "+c.FullPath()), trace.Server,
		"http.request.method", c.Request.Method, "http.route", c.FullPath(), "coord.request_id", requestID(c))
	c.Request = c.Request.WithContext(ctx)
	return span
}

func finish(c *gin.Context, span trace.Span) {
	status, failure := c.Writer.Status(), ""
	if status >= http.StatusInternalServerError {
		failure = http.StatusText(status)
	}
	span.SetInt("http.response.status_code", status)
	span.End(failure)
}

// recovered turns a panic into a 500 that reveals nothing; the log has the stack under the request id.
func (s *Server) recovered(c *gin.Context) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p) // net/http's own way to drop a connection
	}
	s.log.ErrorContext(c.Request.Context(), "panic", "path", c.FullPath(), "request_id", requestID(c), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	c.Abort()
	if !c.Writer.Written() {
		s.fail(c.Writer, c.Request, errors.New("panic"), requestID(c))
	}
}

// requestID is the request's id, given by the client or made by frame.
func requestID(c *gin.Context) string {
	if v := c.Writer.Header()[headerRequestID]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// saneID returns id when it is a short plain word, else a new random one. A log line must not be forged by a header.
func saneID(id string) string {
	if id != "" && len(id) <= 64 && plainWord(id) {
		return id
	}
	return strconv.FormatUint(rand.Uint64()|1<<63, 16)
}

// plainWord reports whether s is made of letters, digits and ._-/ alone.
func plainWord(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '.', b == '_', b == '-', b == '/':
		default:
			return false
		}
	}
	return true
}

// headerWord makes a client's text safe for a header: plain words as they are, others quoted in ASCII and cut.
func headerWord(s string) string {
	if plainWord(s) && len(s) <= 64 {
		return s
	}
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
