package mcpstdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// readLoop reads until the input ends and returns why it did.
func (c *conn) readLoop(in io.Reader) error {
	lines := newLineReader(in, c.srv.maxMessage)
	for {
		l, err := lines.next()
		if err != nil {
			return err
		}
		select {
		case <-c.dead:
			return nil // Serve may have returned long ago
		default:
		}
		if l.cut {
			c.answer(nil, errorReply(idOfCut(l.head, l.tail), mcp.INVALID_REQUEST,
				fmt.Sprintf("the message is longer than %d bytes; send less in one request", c.srv.maxMessage)))
			continue
		}
		if l.message[0] == '[' {
			c.batch(l.message)
		} else {
			c.message(l.message, nil)
		}
	}
}

// answer queues a reply that needs no handler. b is the batch it belongs to,
// nil if none.
func (c *conn) answer(b *batch, reply mcp.JSONRPCError) {
	encoded, err := line(reply, nil)
	if err != nil {
		c.log.Error("an error reply cannot be encoded", "err", err)
	}
	if b != nil {
		b.add(encoded)
		return
	}
	c.enqueue(frame{line: encoded})
}

// message routes one message. If it belongs to batch b, b.add is called once.
func (c *conn) message(raw json.RawMessage, b *batch) {
	e, err := openEnvelope(raw)
	if err != nil {
		c.answer(b, errorReply(nil, mcp.PARSE_ERROR, "the message is not valid JSON"))
		return
	}
	switch e.kind() {
	case kindResponse:
		b.add(nil)
	case kindNotification:
		c.notification(raw, &e, b)
	case kindRequest:
		c.request(raw, &e, b)
	case kindInvalid:
		c.answer(b, errorReply(usableID(e.ID), mcp.INVALID_REQUEST,
			"the message is not a JSON-RPC 2.0 request or notification"))
	}
}

func (c *conn) notification(raw json.RawMessage, e *envelope, b *batch) {
	defer b.add(nil)
	if e.Method == string(mcp.MethodNotificationCancelled) {
		// Not for mcp-go: it would mix up the ids 1 and "1" and answer anyway.
		c.drop(e.Params.RequestID)
		return
	}
	r := c.newRequest(raw, e)
	if err := c.admit(r); err != nil {
		c.log.Warn("a client notification is dropped", "method", e.Method, "err", err)
		return
	}
	c.spawn(r, true)
}

func (c *conn) request(raw json.RawMessage, e *envelope, b *batch) {
	key, ok := idKey(e.ID)
	if !ok {
		c.answer(b, errorReply(nil, mcp.INVALID_REQUEST, "the id must be a string or a number"))
		return
	}
	if b != nil && e.Method == string(mcp.MethodInitialize) {
		c.answer(b, errorReply(e.ID, mcp.INVALID_REQUEST, "initialize must not be part of a batch"))
		return
	}
	if v := e.Params.Meta.Version; mcp.IsModernProtocol(v) && mcp.IsValidProtocolVersion(v) {
		c.session.setProtocol(v)
	}
	r := c.newRequest(raw, e)
	r.id, r.key, r.batch = e.ID, key, b
	if e.Method == string(mcp.MethodSubscriptionsListen) {
		r.listen = &listen{}
	}
	if err := c.admit(r); err != nil {
		id, code := e.ID, codeBusy
		if errors.Is(err, errDuplicate) {
			id, code = nil, mcp.INVALID_REQUEST
		}
		c.answer(b, errorReply(id, code, err.Error()))
		return
	}
	switch e.Method {
	case string(mcp.MethodInitialize):
		// What is piped behind it must find the session it sets up.
		c.spawn(r, true)
		<-r.done
		c.handshaken.Store(c.session.ProtocolVersion() != "")
	case string(mcp.MethodResourcesSubscribe),
		string(mcp.MethodResourcesUnsubscribe),
		string(mcp.MethodSetLogLevel):
		c.spawn(r, true)
	default:
		c.spawn(r, false)
	}
}

func (c *conn) newRequest(raw json.RawMessage, e *envelope) *request {
	r := &request{c: c, raw: raw, method: e.Method, begun: time.Now(), done: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(c.base)
	r.cancel = cancel
	ctx = c.srv.mcp.WithContext(ctx, &requestSession{Session: c.session, r: r})
	if c.srv.context != nil {
		ctx = c.srv.context(ctx)
	}
	r.ctx = ctx
	return r
}

var errDuplicate = errors.New("the id is in use by a request that is still running")

// admit counts the request in. Its error is the text of the refusal.
func (c *conn) admit(r *request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.refusal(r)
	if err != nil {
		r.cancel(err)
		return err
	}
	if r.id != nil {
		c.running[r.key] = r
	}
	if r.listen != nil {
		c.listens[r] = struct{}{}
	}
	c.count++
	c.bytes += len(r.raw)
	c.wg.Add(1)
	return nil
}

func (c *conn) refusal(r *request) error {
	limit := c.srv.maxMessage * inFlightMessages
	switch {
	case c.stopping:
		return errors.New("the server is shutting down")
	case c.count >= c.srv.maxInFlight:
		return fmt.Errorf("%d requests are in progress, which is the limit; retry after a reply", c.count)
	case c.bytes+len(r.raw) > limit:
		return fmt.Errorf("the requests in progress have %d bytes together and %d is the limit; retry after a reply", c.bytes, limit)
	}
	if _, ok := c.running[r.key]; ok && r.id != nil {
		return errDuplicate
	}
	return nil
}

func (c *conn) release(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.id != nil {
		delete(c.running, r.key)
	}
	delete(c.listens, r)
	c.count--
	c.bytes -= len(r.raw)
}

// drop cancels the running request with this id for the client, if there is
// one. initialize must not be cancelled.
func (c *conn) drop(id json.RawMessage) {
	key, ok := idKey(id)
	if !ok {
		return
	}
	c.mu.Lock()
	r := c.running[key]
	c.mu.Unlock()
	if r != nil && r.method != string(mcp.MethodInitialize) {
		r.drop()
	}
}

// spawn runs an admitted request on its own goroutine. Ordered ones wait for
// each other, in the order of the calls of spawn.
func (c *conn) spawn(r *request, ordered bool) {
	var before <-chan struct{}
	if ordered {
		before, c.lane = c.lane, r.done
	}
	go func() {
		defer c.wg.Done()
		defer close(r.done)
		defer r.cancel(nil)
		if before == nil {
			r.run()
			return
		}
		select {
		case <-before:
		case <-r.ctx.Done():
			// run sees that and calls nothing; the order of those behind
			// must hold all the same.
			defer func() { <-before }()
		}
		r.run()
	}()
}

// batch collects the replies to the members of a JSON-RPC batch. The methods of
// a nil batch do nothing.
type batch struct {
	c *conn

	mu      sync.Mutex
	left    int
	replies [][]byte
}

// batch handles a line that is an array.
func (c *conn) batch(raw json.RawMessage) {
	var members []json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		c.answer(nil, errorReply(nil, mcp.PARSE_ERROR, "the message is not valid JSON"))
		return
	}
	// Only this revision has batches; earlier it was unspecified, later it was
	// removed.
	if c.session.ProtocolVersion() != mcp.ProtocolVersion20250326 {
		c.answer(nil, errorReply(nil, mcp.INVALID_REQUEST,
			"batches exist only in protocol version "+mcp.ProtocolVersion20250326+"; send the messages one by one"))
		return
	}
	if len(members) == 0 || len(members) > c.srv.maxInFlight {
		c.answer(nil, errorReply(nil, mcp.INVALID_REQUEST,
			fmt.Sprintf("a batch has 1 to %d messages", c.srv.maxInFlight)))
		return
	}
	b := &batch{c: c, left: len(members)}
	for _, member := range members {
		c.message(member, b)
	}
}

// add records that one member is done, with the line of its reply or nil, and
// writes all replies as one line after the last.
func (b *batch) add(reply []byte) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if reply != nil {
		b.replies = append(b.replies, reply[:len(reply)-1])
	}
	b.left--
	if b.left > 0 || len(b.replies) == 0 {
		return
	}
	all := []byte{'['}
	for i, r := range b.replies {
		if i > 0 {
			all = append(all, ',')
		}
		all = append(all, r...)
	}
	b.c.enqueue(frame{line: append(all, ']', '\n')})
}
