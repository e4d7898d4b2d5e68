package mcpstdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/server"
)

// Causes that context.Cause reports on the context of a request that was ended
// before its handler returned, and the error of a Serve that left one behind.
var (
	// ErrCancelled: the client cancelled the request. It will never see the
	// result, so a handler should give back what it just acquired.
	ErrCancelled = errors.New("the client cancelled the request")
	// ErrShutdown: the input ended or Serve's context was done, and the grace
	// is over. A result returned now is still written.
	ErrShutdown = errors.New("the server is shutting down")
	// ErrDisconnected: the output failed. Nobody will see the result.
	ErrDisconnected = errors.New("the client is gone")
	// ErrAbandoned: a request did not end after its context was cancelled,
	// because its handler ignored that or the client reads nothing.
	ErrAbandoned = errors.New("a request did not end after its context was cancelled")
)

// Server serves one mcp-go server over line-delimited streams. Its methods are
// safe for concurrent use.
type Server struct {
	mcp *server.MCPServer
	options

	mu    sync.Mutex
	conns map[*conn]struct{}
}

// New returns a transport for mcp. mcp may be served by other transports at the
// same time.
func New(mcp *server.MCPServer, opts ...Option) *Server {
	s := &Server{
		mcp: mcp,
		options: options{
			grace:       DefaultGrace,
			quietGap:    DefaultQuietGap,
			maxInFlight: DefaultMaxInFlight,
			maxMessage:  DefaultMaxMessage,
			log:         slog.Default(),
		},
		conns: make(map[*conn]struct{}),
	}
	for _, opt := range opts {
		opt(&s.options)
	}
	return s
}

// Serve reads messages from in and writes messages to out until in ends, ctx is
// done or out fails, then shuts down as the package comment says. The contexts
// of requests carry ctx's values but not its cancellation, so that ending ctx
// lets running calls finish. It takes at most the grace twice plus one second
// to return.
//
// It returns nil after an orderly end, of the input as well as of ctx. Errors:
// the wrapped read or write error; ErrAbandoned.
//
// in is read by one goroutine that ends when Read returns. When ctx ends first
// that goroutine stays in Read; close in afterwards unless the process exits.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c := newConn(s, ctx)
	if err := s.mcp.RegisterSession(c.base, c.session); err != nil {
		c.kill(nil)
		c.broadcasts.close()
		return fmt.Errorf("register session: %w", err)
	}
	defer s.mcp.UnregisterSession(c.base, c.session.SessionID())
	s.track(c, true)
	defer s.track(c, false)
	return c.run(ctx, in, out)
}

func (s *Server) track(c *conn, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.conns[c] = struct{}{}
	} else {
		delete(s.conns, c)
	}
}

func (s *Server) open() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	return conns
}

// ResourceUpdated tells every client that subscribed to exactly this uri, by
// resources/subscribe or on a listen stream, that the resource changed. It
// never blocks. Calls for the same uri that come faster than the client reads
// become one notification; slower ones are the caller's to debounce.
func (s *Server) ResourceUpdated(uri string) {
	for _, c := range s.open() {
		c.resourceUpdated(uri)
	}
}

// SubscribedResources returns the sorted URIs that some client of this Server
// subscribed to: what to announce after a gap in the source of changes.
func (s *Server) SubscribedResources() []string {
	var uris []string
	for _, c := range s.open() {
		uris = append(uris, c.session.SubscribedResources()...)
	}
	slices.Sort(uris)
	return slices.Compact(uris)
}
