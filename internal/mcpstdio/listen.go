package mcpstdio

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// listen is what one subscriptions/listen stream asked for. A nil listen, that
// of any other request, wants nothing.
type listen struct {
	mu     sync.RWMutex
	filter mcp.SubscriptionFilter
	uris   map[string]struct{}
	// acknowledged opens the stream: nothing may be sent on it before.
	acknowledged bool
}

func (l *listen) setFilter(f mcp.SubscriptionFilter) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filter = f
	l.uris = make(map[string]struct{}, len(f.ResourceSubscriptions))
	for _, uri := range f.ResourceSubscriptions {
		l.uris[uri] = struct{}{}
	}
}

func (l *listen) acknowledge() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged = true
}

func (l *listen) current() (mcp.SubscriptionFilter, bool) {
	if l == nil {
		return mcp.SubscriptionFilter{}, false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.filter, !l.filter.IsEmpty()
}

// wants reports whether the stream is open and asked for this event. uri is
// empty unless method is notifications/resources/updated.
func (l *listen) wants(method, uri string) bool {
	if l == nil {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.acknowledged {
		return false
	}
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return l.filter.ToolsListChanged
	case mcp.MethodNotificationPromptsListChanged:
		return l.filter.PromptsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return l.filter.ResourcesListChanged
	case mcp.MethodNotificationResourceUpdated:
		_, ok := l.uris[uri]
		return ok
	default:
		// A server must not deliver a type that the client did not ask for.
		return false
	}
}

func (l *listen) collect(uris map[string]struct{}) {
	if l == nil {
		return
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for uri := range l.uris {
		uris[uri] = struct{}{}
	}
}
