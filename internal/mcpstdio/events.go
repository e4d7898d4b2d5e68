package mcpstdio

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// event is a notification that only says "look again". A nil stream is the
// untagged one of a client that used initialize.
type event struct {
	stream *request
	method string
	uri    string // of notifications/resources/updated
}

// eventQueue holds events until the writer takes them. An event that is already
// waiting is not added again, which bounds the queue by what is subscribed and
// lets push never block.
type eventQueue struct {
	mu      sync.Mutex
	waiting map[event]struct{}
	order   []event
	more    chan struct{} // capacity 1
}

func newEventQueue() *eventQueue {
	return &eventQueue{waiting: make(map[event]struct{}), more: make(chan struct{}, 1)}
}

func (q *eventQueue) push(e event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.waiting[e]; ok {
		return
	}
	q.waiting[e] = struct{}{}
	q.order = append(q.order, e)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *eventQueue) pop() (event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return event{}, false
	}
	e := q.order[0]
	q.order = q.order[1:]
	delete(q.waiting, e)
	return e, true
}

// eventLoop queues events for the writer until stop is closed, then what is
// left.
func (c *conn) eventLoop(stop <-chan struct{}) {
	for {
		for {
			e, ok := c.events.pop()
			if !ok {
				break
			}
			c.writeEvent(e)
		}
		select {
		case <-c.events.more:
		case <-stop:
			if e, ok := c.events.pop(); ok {
				c.writeEvent(e)
				continue
			}
			return
		}
	}
}

func (c *conn) writeEvent(e event) {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = e.method
	if e.uri != "" {
		n.Params.AdditionalFields = map[string]any{"uri": e.uri}
	}
	if e.stream != nil {
		e.stream.sendEvent(n, e.uri)
		return
	}
	c.session.delivering.Lock()
	defer c.session.delivering.Unlock()
	if e.method == mcp.MethodNotificationResourceUpdated && !c.session.subscribed(e.uri) {
		return
	}
	c.notify(n)
}

func (c *conn) resourceUpdated(uri string) {
	if c.session.subscribed(uri) {
		c.events.push(event{method: mcp.MethodNotificationResourceUpdated, uri: uri})
	}
	c.pushToListeners(mcp.MethodNotificationResourceUpdated, uri)
}

// pushToListeners reports whether the connection has an open listen stream,
// whatever that asked for.
func (c *conn) pushToListeners(method, uri string) bool {
	listeners := c.listeners()
	for _, r := range listeners {
		if r.listen.wants(method, uri) {
			c.events.push(event{stream: r, method: method, uri: uri})
		}
	}
	return len(listeners) > 0
}

// broadcast routes what mcp-go sends to the connection rather than to one of
// its requests.
func (c *conn) broadcast(n mcp.JSONRPCNotification) {
	switch n.Method {
	case mcp.MethodNotificationResourceUpdated:
		if uri, ok := n.Params.AdditionalFields["uri"].(string); ok && uri != "" {
			c.resourceUpdated(uri)
		}
	case mcp.MethodNotificationToolsListChanged,
		mcp.MethodNotificationPromptsListChanged,
		mcp.MethodNotificationResourcesListChanged:
		// A client with listen streams gets what they ask for and nothing
		// besides, even if it used initialize before.
		if !c.pushToListeners(n.Method, "") && c.handshaken.Load() {
			c.events.push(event{method: n.Method})
		}
	case string(mcp.MethodNotificationProgress):
		// Its request may be answered already, and progress for a token that
		// is no longer live makes some clients close the connection.
		c.log.Warn("progress that was not sent with its request's context is dropped")
	default:
		// Modern clients get nothing they cannot have asked for.
		if c.handshaken.Load() && len(c.listeners()) == 0 {
			c.notify(n)
		}
	}
}

// notify queues a notification that belongs to no request.
func (c *conn) notify(n mcp.JSONRPCNotification) {
	b, err := line(n, nil)
	if err != nil {
		c.log.Error("a notification cannot be encoded", "method", n.Method, "err", err)
		return
	}
	c.enqueue(frame{line: b})
}
