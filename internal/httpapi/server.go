package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// Authenticator looks an API key up that is not one of the static keys. An unknown key is an unauthenticated fault.
type Authenticator interface {
	Authenticate(ctx context.Context, key string) (ident.Principal, error)
}

// Notifier hands over what a caller's session must be told, at most a few notices a call.
type Notifier interface {
	Notices(ctx context.Context, c ident.Caller) (client.Notices, error)
}

// Options configure the door. The zero value admits nobody and serves the catalogue alone.
type Options struct {
	Auth     Authenticator // keys of the database; nil: static keys only
	Static   *Keys         // static keys; nil: none
	Open     bool          // no key needed: only for loopback listeners; Host and Origin are checked instead
	Origins  []string      // origins that browsers may call from; "*": every one
	MaxBody  int64         // bytes; 0: 4 MiB
	Version  string        // of the build, for /health
	Ping     func(ctx context.Context) error
	Notices  Notifier                           // nil: replies carry no notices
	Observe  func(fn func(topic string)) func() // news of topics "n:<project>:<session>" (dispatch.Hub.Observe); may be nil
	Polls    RunnerPolls                        // GET /runner/runs; nil: not served
	Live     LiveFeed                           // GET /sse/sessions and /ws; nil: not served
	Webhooks map[string]Webhook                 // POST routes that check their senders themselves
	Signed   map[string]BodyCheck               // routes of operations whose raw body is checked as well
	MCP      http.Handler                       // served at /mcp with the same keys; nil: not served
	Metrics  http.Handler                       // served at /metrics; nil: not served
	InFlight Gauge                              // counts requests; may be nil
	Face     Face                               // how it stands towards other machines
	Log      *slog.Logger
}

// Webhook answers a POST that authenticates by itself, such as a signed delivery: a status with what is answered as JSON, or
// a fault.
type Webhook func(r *http.Request) (status int, reply any, err error)

// BodyCheck refuses a body as it was sent, such as one that is not signed, with a fault.
type BodyCheck func(header http.Header, body []byte) error

// Gauge is a number that goes up and down.
type Gauge interface {
	Inc()
	Dec()
}

// Server is the door. It is an http.Handler.
type Server struct {
	opts    Options
	cat     *op.Catalogue
	pipe    *op.Pipeline
	engine  *gin.Engine
	log     *slog.Logger
	hints   *hints
	health  *health
	shares  *shares
	proxies []netip.Prefix

	headerTimeout time.Duration // for a request's header to arrive
	paths         []string
	openapi       func() []byte
	unwatch       func()

	stopping context.Context // done once Stop was called: waiting calls end
	stop     context.CancelCauseFunc
}

// errStopping is the cause with which waiting calls are cancelled.
var errStopping = errors.New("the server is stopping")

var ginMode sync.Once

// New builds the door over a catalogue and the pipeline that runs it.
func New(cat *op.Catalogue, pipe *op.Pipeline, opts Options) *Server {
	ginMode.Do(func() { gin.SetMode(gin.ReleaseMode) })
	if opts.MaxBody <= 0 {
		opts.MaxBody = 4 << 20
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts, cat: cat, pipe: pipe, log: opts.Log, hints: newHints(), health: &health{ping: opts.Ping}, shares: newShares(opts.Face.Limits), proxies: opts.Face.Proxies, headerTimeout: headerTimeout}
	s.stopping, s.stop = context.WithCancelCause(context.Background())
	s.openapi = sync.OnceValue(func() []byte {
		return describeAll(cat, beside{polls: opts.Polls != nil, live: opts.Live != nil, webhooks: opts.Webhooks})
	})
	if opts.Observe != nil && opts.Notices != nil {
		s.unwatch = opts.Observe(s.hints.note)
	}
	s.engine = s.routes()
	return s
}

// Authenticate returns whose key it is, as for a request that carries it. Called with the context of a mounted handler's
// request it counts that request. Codes: unauthenticated, unavailable, exhausted.
func (s *Server) Authenticate(ctx context.Context, key string) (ident.Principal, error) {
	r := (&http.Request{Header: http.Header{}}).WithContext(ctx)
	if key != "" {
		r.Header.Set("X-Api-Key", key)
	}
	if o, ok := ctx.Value(originKey{}).(origin); ok {
		return s.admit(r, o)
	}
	return s.authenticate(r)
}

// Mount serves h below prefix, such as /ui. h authenticates by itself. To be called before the first request.
func (s *Server) Mount(prefix string, h http.Handler) {
	s.paths = append(s.paths, prefix)
	serve := func(c *gin.Context) {
		ctx, end := s.context(withOrigin(c.Request.Context(), s.originOf(c)), true)
		defer end()
		h.ServeHTTP(c.Writer, c.Request.WithContext(ctx))
	}
	s.engine.Any(prefix, serve)
	s.engine.Any(prefix+"/*rest", serve)
}

// headerNotices with the value none keeps notices for a caller that would read them.
const headerNotices = "X-Notices"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.engine.ServeHTTP(w, r) }

// Stop makes every waiting call and stream end soon. New requests are still answered, without waiting.
func (s *Server) Stop() {
	s.stop(errStopping)
	if s.unwatch != nil {
		s.unwatch()
	}
}

func (s *Server) routes() *gin.Engine {
	e := gin.New()
	var trusted []string
	for _, p := range s.proxies {
		trusted = append(trusted, p.String())
	}
	_ = e.SetTrustedProxies(trusted) // they were read already
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.ContextWithFallback = false
	e.NoRoute(s.unknownRoute)
	e.NoMethod(s.wrongMethod)
	e.Use(s.frame)
	if len(s.opts.Origins) > 0 {
		e.Use(s.cors)
	}
	if s.opts.Open {
		e.Use(s.localOnly)
	}
	s.openRoutes(e)
	for _, d := range s.cat.Defs() {
		for _, r := range d.Routes {
			s.paths = append(s.paths, r.Path)
			e.Handle(r.Method, r.Path, s.operation(d, r))
		}
	}
	for path, hook := range s.opts.Webhooks {
		s.paths = append(s.paths, path)
		e.POST(path, s.webhook(hook))
	}
	s.streamRoutes(e)
	if s.opts.MCP != nil {
		e.Any("/mcp", s.stream(s.opts.MCP))
		e.Any("/mcp/*rest", s.stream(s.opts.MCP))
	}
	return e
}

// openRoutes are the ones that need no key.
func (s *Server) openRoutes(e *gin.Engine) {
	get := func(path string, h gin.HandlerFunc) {
		s.paths = append(s.paths, path)
		e.GET(path, h)
		e.HEAD(path, h)
	}
	get("/health", s.serveHealth)
	get("/live", s.serveLive)
	get("/ready", s.serveReady)
	get("/openapi.json", s.serveOpenAPI)
	get("/docs", s.serveDocs)
	if s.opts.Metrics != nil {
		get("/metrics", s.serveMetrics)
	}
}

// operation serves one route of an operation.
func (s *Server) operation(d *op.Def, r op.Route) gin.HandlerFunc {
	params := pathParams(d, r.Path)
	hasBody := r.Method != http.MethodGet && r.Method != http.MethodHead
	ownNotices := d.Out.Properties["notices"] != nil
	// A call that does not wait is not cut short when the server stops: the drain lets it finish.
	wait := d.In.Properties["wait_seconds"]
	waits, waitsUnasked := d.Waits, d.Waits && (wait == nil || wait.Default != nil)
	return func(c *gin.Context) {
		req, w := c.Request, c.Writer
		id, from := requestID(c), s.originOf(c)
		p, err := s.admit(req, from)
		if err != nil {
			s.fail(w, req, err, id)
			return
		}
		args, err := s.arguments(c, d, params, hasBody)
		if err != nil {
			s.fail(w, req, d.AsListed(fault.From(err)), id)
			return
		}
		_, asks := args["wait_seconds"]
		mayWait := waits && asks || waitsUnasked
		if mayWait && wait != nil {
			leave, err := s.enter(p, from)
			if err != nil {
				s.fail(w, req, err, id)
				return
			}
			defer leave()
		}
		ctx, end := s.context(req.Context(), mayWait)
		res, err := s.pipe.Call(ctx, d, op.Request{
			Principal: p, Claim: claim(req.Header), Args: args, RequestKey: req.Header.Get("Idempotency-Key"),
			RequestID: id, Door: "http", FromBody: hasBody,
		})
		stopped := err != nil && errors.Is(context.Cause(ctx), errStopping)
		end()
		if stopped {
			err = stoppingFault()
		}
		if len(res.Unknown) > 0 {
			w.Header().Set("X-Unknown-Fields", fieldList(res.Unknown))
		}
		if err != nil {
			s.fail(w, req, err, id)
			return
		}
		s.reply(req.Context(), w, d.Status, res, !ownNotices && d.Acts && req.Header.Get(headerNotices) != "none")
	}
}

// webhook serves a route that authenticates by itself.
func (s *Server) webhook(hook Webhook) gin.HandlerFunc {
	return func(c *gin.Context) {
		status, reply, err := hook(c.Request)
		if err != nil {
			s.fail(c.Writer, c.Request, err, requestID(c))
			return
		}
		s.reply(c.Request.Context(), c.Writer, status, op.Response{Body: reply}, false)
	}
}

// context is the request's; one that may wait also ends when the server stops.
func (s *Server) context(ctx context.Context, waits bool) (context.Context, func()) {
	if !waits {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	undo := context.AfterFunc(s.stopping, func() { cancel(errStopping) })
	return ctx, func() { undo(); cancel(nil) }
}

// stream serves a handler that keeps its connections open, behind the key. The principal is in the request's context.
func (s *Server) stream(h http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		from := s.originOf(c)
		p, err := s.admit(c.Request, from)
		if err != nil {
			s.fail(c.Writer, c.Request, err, requestID(c))
			return
		}
		leave, err := s.enter(p, from)
		if err != nil {
			s.fail(c.Writer, c.Request, err, requestID(c))
			return
		}
		defer leave()
		ctx, end := s.context(context.WithValue(c.Request.Context(), principalKey{}, p), true)
		defer end()
		h.ServeHTTP(c.Writer, c.Request.WithContext(ctx))
	}
}

// claim reads who the caller says it is from the headers.
func claim(h http.Header) ident.Claim {
	return ident.Claim{
		Agent: h.Get("X-Agent-Id"), AgentType: h.Get("X-Agent-Type"), Session: h.Get("X-Session-Id"),
		Project: h.Get("X-Project"), Repository: h.Get("X-Repository"),
	}
}

// fieldList prints names of ignored members for a header: at most 20, quoted where they are not plain words.
func fieldList(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == 20 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(headerWord(n))
	}
	return b.String()
}
