package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keptBuffer bounds what a buffer in the pool may hold on to, in bytes.
const keptBuffer = 64 << 10

// encode writes v as JSON into b, without a trailing newline.
func encode(b *bytes.Buffer, v any) error {
	if raw, ok := v.(json.RawMessage); ok {
		b.Write(raw)
		return nil
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// reply answers a call that succeeded. A lost race is such an answer too: "success": false.
func (s *Server) reply(ctx context.Context, w http.ResponseWriter, status int, res op.Response, withNotices bool) {
	if status == http.StatusNoContent {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		return
	}
	b, _ := buffers.Get().(*bytes.Buffer)
	b.Reset()
	defer func() {
		if b.Cap() <= keptBuffer {
			buffers.Put(b)
		}
	}()
	if err := encode(b, res.Body); err != nil {
		s.log.ErrorContext(ctx, "reply cannot be encoded", "err", err)
		s.write(w, http.StatusInternalServerError, "application/problem+json", problemBody(fault.From(err)))
		return
	}
	if withNotices {
		s.addNotices(ctx, b, res.Caller)
	}
	if res.Replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	s.write(w, status, "application/json", b.Bytes())
}

// addNotices appends the members notices and notices_more to the object in b. Notices are a courtesy: whatever
// fails here leaves the reply as it is.
func (s *Server) addNotices(ctx context.Context, b *bytes.Buffer, c ident.Caller) {
	if s.opts.Notices == nil || c.SessionID == 0 || b.Len() < 2 || b.Bytes()[b.Len()-1] != '}' || !s.hints.due(c.ProjectID, c.SessionID, time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	n, err := s.opts.Notices.Notices(ctx, c)
	if err != nil {
		s.log.DebugContext(ctx, "notices not read", "err", err)
		return
	}
	if n.More > 0 {
		s.hints.note(topicOf(c.ProjectID, c.SessionID))
	}
	if len(n.Notices) == 0 {
		return
	}
	list, err := json.Marshal(n.Notices)
	if err != nil {
		return
	}
	empty := bytes.Equal(bytes.TrimSpace(b.Bytes()), []byte("{}"))
	b.Truncate(b.Len() - 1)
	if !empty {
		b.WriteByte(',')
	}
	b.WriteString(`"notices":`)
	b.Write(list)
	if n.More > 0 {
		b.WriteString(`,"notices_more":` + strconv.Itoa(n.More))
	}
	b.WriteByte('}')
}

func (s *Server) write(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Cache-Control"] = []string{"no-store"}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // tests' recorders have none
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left is no failure of ours
}

// fail answers with problem+json.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error, requestID string) {
	f := fault.From(err)
	if f.RequestID != requestID { // a shared fault (a cached one, say) must not be changed
		own := *f
		own.RequestID = requestID
		f = &own
	}
	h := w.Header()
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	if f.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="coordinator"`)
	}
	if f.Status >= http.StatusInternalServerError && f.Code != client.CodeInternal {
		s.log.WarnContext(r.Context(), "request failed", "path", r.URL.Path, "code", f.Code, "why", f.Why, "request_id", requestID)
	}
	s.write(w, f.Status, "application/problem+json", problemBody(f))
}

func problemBody(f *fault.Error) []byte {
	body, err := json.Marshal(f)
	if err != nil { // Detail is any; what an operation put there may not be JSON
		own := *f
		own.Detail = own.What
		body, _ = json.Marshal(own)
	}
	return body
}

func (s *Server) abort(c *gin.Context, err error) {
	c.Abort()
	s.fail(c.Writer, c.Request, err, requestID(c))
}

func stoppingFault() *fault.Error {
	return fault.New(client.CodeUnavailable, "the server is stopping", "it answered your waiting call early",
		"repeat the call in a moment; this does not mean that there is no work or that a path is free")
}
