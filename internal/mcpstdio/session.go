package mcpstdio

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Session is one connection as mcp-go and its hooks see it. Handlers find it
// with SessionFromContext. It is safe for concurrent use.
type Session struct {
	id string
	c  *conn

	initialized atomic.Bool

	mu       sync.RWMutex
	client   mcp.Implementation
	can      mcp.ClientCapabilities
	legacy   string // negotiated by initialize, "" if there was none
	protocol string // of the latest message that said one
	level    mcp.LoggingLevel
	uris     map[string]struct{} // resources/subscribe

	// delivering is held while an update is checked against uris and queued, so
	// that none follows the reply to resources/unsubscribe.
	delivering sync.Mutex
}

var (
	_ server.SessionWithLogging               = (*Session)(nil)
	_ server.SessionWithClientInfo            = (*Session)(nil)
	_ server.SessionWithProtocolVersion       = (*Session)(nil)
	_ server.SessionWithResourceSubscriptions = (*Session)(nil)
)

// sessionCount makes the ids distinct within the process: several transports
// may register with one MCPServer.
var sessionCount atomic.Uint64

func newSession(c *conn) *Session {
	return &Session{
		id:    "stdio-" + strconv.FormatUint(sessionCount.Add(1), 10),
		c:     c,
		level: mcp.LoggingLevelError,
		uris:  make(map[string]struct{}),
	}
}

// SessionFromContext returns the connection that the request of ctx came from,
// or nil if it did not come through this package.
func SessionFromContext(ctx context.Context) *Session {
	switch s := server.ClientSessionFromContext(ctx).(type) {
	case *requestSession:
		return s.Session
	case *Session:
		return s
	default:
		return nil
	}
}

// Client returns what the client calls itself, empty as long as it said
// nothing. It is a claim, not an identity.
func (s *Session) Client() (name, version string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.client.Name, s.client.Version
}

// Protocol returns the revision in use: the one that the latest message with
// its own revision declared, else the one that initialize negotiated, else "".
// For the revision of one request use server.RequestProtocolVersion.
func (s *Session) Protocol() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.protocol
}

func (s *Session) setProtocol(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.protocol = version
}

// SessionID is unique within the process and means nothing outside of it.
func (s *Session) SessionID() string { return s.id }

// Initialize is called by mcp-go for initialize and for every request with its
// own revision.
func (s *Session) Initialize() { s.initialized.Store(true) }

// Initialized reports whether notifications may be sent.
func (s *Session) Initialized() bool { return s.initialized.Load() }

// NotificationChannel takes notifications that belong to no request. It waits
// while the client reads slower than they are sent.
func (s *Session) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return s.c.broadcasts.slot(s.c.dead)
}

// SetLogLevel sets the level of notifications/message for legacy clients.
func (s *Session) SetLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

// GetLogLevel returns the level set by logging/setLevel, error by default.
func (s *Session) GetLogLevel() mcp.LoggingLevel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.level
}

// GetClientInfo returns what the client said about itself last.
func (s *Session) GetClientInfo() mcp.Implementation {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.client
}

// SetClientInfo is called by mcp-go.
func (s *Session) SetClientInfo(client mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = client
}

// GetClientCapabilities returns what the client declared last.
func (s *Session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.can
}

// SetClientCapabilities is called by mcp-go.
func (s *Session) SetClientCapabilities(can mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.can = can
}

// ProtocolVersion returns the revision that initialize negotiated, "" if there
// was no initialize: mcp-go takes it as the default for requests that declare
// none.
func (s *Session) ProtocolVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.legacy
}

// SetProtocolVersion is called by mcp-go when initialize succeeded.
func (s *Session) SetProtocolVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.legacy, s.protocol = version, version
}

// SubscribeToResource records a resources/subscribe.
func (s *Session) SubscribeToResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uris[uri] = struct{}{}
}

// UnsubscribeFromResource removes what SubscribeToResource recorded. It waits
// for an update of uri that is being queued.
func (s *Session) UnsubscribeFromResource(uri string) {
	s.delivering.Lock()
	defer s.delivering.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uris, uri)
}

// SubscribedResources returns the sorted URIs of this connection, those of its
// listen streams included.
func (s *Session) SubscribedResources() []string {
	s.mu.RLock()
	all := maps.Clone(s.uris)
	s.mu.RUnlock()
	for _, r := range s.c.listeners() {
		r.listen.collect(all)
	}
	return slices.Sorted(maps.Keys(all))
}

// IsSubscribedToResource reports whether uri is among SubscribedResources.
func (s *Session) IsSubscribedToResource(uri string) bool {
	if s.subscribed(uri) {
		return true
	}
	for _, r := range s.c.listeners() {
		if r.listen.wants(mcp.MethodNotificationResourceUpdated, uri) {
			return true
		}
	}
	return false
}

// subscribed leaves the listen streams out.
func (s *Session) subscribed(uri string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.uris[uri]
	return ok
}

// requestSession is the session as one request sees it: what is sent through it
// belongs to that request, so it can be kept in order with its reply and tagged
// with its subscription id. mcp-go finds it in the request's context.
type requestSession struct {
	*Session
	r *request
}

var (
	_ server.SessionWithLogging               = (*requestSession)(nil)
	_ server.SessionWithClientInfo            = (*requestSession)(nil)
	_ server.SessionWithProtocolVersion       = (*requestSession)(nil)
	_ server.SessionWithResourceSubscriptions = (*requestSession)(nil)
	_ server.SessionWithSubscriptionFilter    = (*requestSession)(nil)
)

// NotificationChannel takes notifications of this request. It waits while the
// client reads slower than they are sent.
func (s *requestSession) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return s.r.slot()
}

// SetSubscriptionFilter is called by mcp-go with what a listen request may get.
func (s *requestSession) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	s.r.listen.setFilter(f)
}

// SubscriptionFilter reports the filter of a listen request.
func (s *requestSession) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	return s.r.listen.current()
}

// SubscribeToResource does nothing for a listen request, whose URIs are part of
// its filter.
func (s *requestSession) SubscribeToResource(uri string) {
	if s.r.listen == nil {
		s.Session.SubscribeToResource(uri)
	}
}

// UnsubscribeFromResource does nothing for a listen request.
func (s *requestSession) UnsubscribeFromResource(uri string) {
	if s.r.listen == nil {
		s.Session.UnsubscribeFromResource(uri)
	}
}
