package httpapi

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

//go:embed docs.html
var docsPage []byte

// health asks the database whether it answers, at most once per healthAge and with one question at a time.
type health struct {
	ping func(ctx context.Context) error
	mu   sync.Mutex
	at   time.Time
	err  error
}

const (
	healthAge  = time.Second            // how old an answer may be
	healthWait = 800 * time.Millisecond // below the 1.5 s after which known clients give up
)

func (h *health) check(ctx context.Context) error {
	if h.ping == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.at) < healthAge {
		return h.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthWait)
	defer cancel()
	h.err = h.ping(ctx)
	h.at = time.Now()
	return h.err
}

// serveHealth is 200 while the process lives: what watches it must not restart a server whose database is away.
func (s *Server) serveHealth(c *gin.Context) {
	status, db := "healthy", "ok"
	if s.health.check(c.Request.Context()) != nil {
		status, db = "degraded", "unavailable"
	}
	c.JSON(http.StatusOK, map[string]string{"status": status, "db": db, "version": s.opts.Version})
}

func (s *Server) serveLive(c *gin.Context) {
	c.JSON(http.StatusOK, map[string]string{"status": "ok", "version": s.opts.Version})
}

// serveReady is 200 when calls can succeed.
func (s *Server) serveReady(c *gin.Context) {
	if s.stopping.Err() != nil {
		s.abort(c, stoppingFault())
		return
	}
	if s.health.check(c.Request.Context()) != nil {
		s.abort(c, fault.New(client.CodeUnavailable, "the database does not answer", "", "retry; the server recovers by itself when the database is back"))
		return
	}
	c.JSON(http.StatusOK, map[string]string{"status": "ready", "db": "ok", "version": s.opts.Version})
}

func (s *Server) serveOpenAPI(c *gin.Context) {
	s.write(c.Writer, http.StatusOK, "application/json", s.openapi())
}

func (s *Server) serveDocs(c *gin.Context) {
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	s.write(c.Writer, http.StatusOK, "text/html; charset=utf-8", docsPage)
}

// serveMetrics is open to this machine, else it needs a key. A request that was forwarded is not from this machine.
func (s *Server) serveMetrics(c *gin.Context) {
	if from := s.originOf(c); !from.local {
		if _, err := s.admit(c.Request, from); err != nil {
			s.abort(c, err)
			return
		}
	}
	s.opts.Metrics.ServeHTTP(c.Writer, c.Request)
}

// unknownRoute answers 404 and names the nearest route.
func (s *Server) unknownRoute(c *gin.Context) {
	asked := c.Request.URL.Path
	next := "the routes are in /openapi.json"
	if near := s.nearest(asked); near != "" {
		next = fmt.Sprintf("did you mean %s? All routes are in /openapi.json", near)
	}
	f := fault.New(client.CodeNotFound, "there is no route "+c.Request.Method+" "+headerWord(asked), "", next)
	s.abort(c, f)
}

// nearest is the route that asked is most likely a misspelling of, empty when none is near.
func (s *Server) nearest(asked string) string {
	if len(asked) > 200 {
		return ""
	}
	asked = path.Clean(asked)
	best, score := "", max(2, len(asked)/4)
	for _, p := range slices.Compact(slices.Sorted(slices.Values(s.paths))) {
		if p == asked {
			return p
		}
		if strings.ContainsAny(p, ":*") {
			continue
		}
		if d := op.Distance(asked, p); d <= score {
			best, score = p, d-1
		}
	}
	return best
}

// wrongMethod answers 405 and names the methods that the path has; gin set the Allow header.
func (s *Server) wrongMethod(c *gin.Context) {
	allow := c.Writer.Header().Get("Allow")
	f := fault.New(client.CodeInvalid, c.Request.Method+" is not a method of this route", "", "use "+allow)
	f.Status, f.Title = http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed)
	s.abort(c, f)
}
