package mcpstdio

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// request is one message that mcp-go handles: a request, or a client
// notification, which has no id and gets no reply.
type request struct {
	c      *conn
	raw    json.RawMessage
	id     json.RawMessage // as the client wrote it; nil for a notification
	key    string
	method string
	batch  *batch  // nil unless it came in a batch
	listen *listen // nil unless it is subscriptions/listen
	begun  time.Time

	ctx    context.Context
	cancel context.CancelCauseFunc
	// dropped is set when the client cancelled it: nothing of it is written any
	// more. It is not under mu, because a writer that waits for a slow client
	// holds mu and the cancel must get through.
	dropped atomic.Bool
	done    chan struct{}

	// mu orders the lines of this request: none follows the reply.
	mu     sync.Mutex
	closed bool

	boxMu sync.Mutex
	box   *mailbox // opened by the first notification

	progressed atomic.Bool
	// lastProgress is when the latest progress line was written, in
	// nanoseconds since the connection began.
	lastProgress atomic.Int64
}

// slot is the notification channel of this request.
func (r *request) slot() chan<- mcp.JSONRPCNotification {
	r.boxMu.Lock()
	if r.box == nil {
		r.box = openMailbox(r.send)
	}
	box := r.box
	r.boxMu.Unlock()
	return box.slot(r.ctx.Done())
}

// run handles the request and writes its reply.
func (r *request) run() {
	var ended func(Outcome)
	if r.c.srv.observe != nil && r.id != nil {
		ended = r.c.srv.observe(r.ctx, r.method)
	}
	reply, code := withID(r.call(), r.id)
	if r.id == nil {
		// A notification has no reply; what its handler sends still goes out.
		r.closeBox()
		r.c.release(r)
		return
	}
	r.settle()
	cancelled := r.reply(reply)
	if ended != nil {
		ended(Outcome{Code: code, Cancelled: cancelled, Elapsed: time.Since(r.begun)})
	}
}

func (r *request) call() (reply mcp.JSONRPCMessage) {
	defer func() {
		if p := recover(); p != nil {
			r.c.log.Error("a request handler panicked", "method", r.method, "panic", p, "stack", string(debug.Stack()))
			reply = errorReply(r.id, mcp.INTERNAL_ERROR, "internal error; the server log says more")
		}
	}()
	if r.ctx.Err() == nil {
		reply = r.c.srv.mcp.HandleMessage(r.ctx, r.raw)
	}
	// mcp-go reports the bare context error, which tells the caller nothing.
	failed, isError := reply.(mcp.JSONRPCError)
	ended := reply == nil || isError && failed.Error.Code == mcp.INTERNAL_ERROR
	if ended && errors.Is(context.Cause(r.ctx), ErrShutdown) {
		reply = errorReply(r.id, codeBusy, "the server shut down before the call finished; whether it took effect is not known")
	}
	return reply
}

// settle waits until everything the handler sent is queued and, if it sent
// progress, until the quiet gap after the last progress line is over.
func (r *request) settle() {
	r.closeBox()
	if !r.progressed.Load() || r.c.srv.quietGap == 0 {
		return
	}
	written := make(chan struct{})
	if !r.c.enqueue(frame{written: written}) {
		return
	}
	select {
	case <-written:
	case <-r.c.dead:
		return
	}
	gap := r.c.srv.quietGap - (r.c.sinceStart() - time.Duration(r.lastProgress.Load()))
	if gap <= 0 {
		return
	}
	timer := time.NewTimer(gap)
	defer timer.Stop()
	ended := r.ctx.Done()
	for {
		select {
		case <-timer.C:
			return
		case <-r.c.dead:
			return
		case <-ended:
			if r.dropped.Load() {
				return
			}
			// The shutdown cancelled it: the reply is still wanted, in order.
			ended = nil
		}
	}
}

// closeBox queues what the handler sent and turns later notifications away.
func (r *request) closeBox() {
	r.boxMu.Lock()
	box := r.box
	if box == nil {
		// So that a goroutine the handler left behind opens none.
		r.box = closedMailbox
	}
	r.boxMu.Unlock()
	if box != nil {
		box.close()
	}
}

// reply queues the reply unless the client cancelled the request, which it
// reports.
func (r *request) reply(reply mcp.JSONRPCMessage) (cancelled bool) {
	b, err := line(reply, r.id)
	if err != nil {
		r.c.log.Error("a result cannot be encoded", "method", r.method, "err", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	// Before the reply is written: the client may use the id again after it.
	r.c.release(r)
	if r.dropped.Load() {
		b = nil
	}
	switch {
	case r.batch != nil:
		r.batch.add(b)
	case b != nil:
		r.c.enqueue(frame{line: b})
	}
	return b == nil
}

// send queues a notification of this request. It is called by its mailbox.
func (r *request) send(n mcp.JSONRPCNotification) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.encode(n)
	if f.line == nil || !r.enqueue(f) {
		return
	}
	switch n.Method {
	case string(mcp.MethodNotificationProgress):
		r.progressed.Store(true)
	case mcp.MethodNotificationSubscriptionsAcknowledged:
		r.listen.acknowledge()
	}
}

// sendEvent queues an event on this listen stream if it still wants it.
func (r *request) sendEvent(n mcp.JSONRPCNotification, uri string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listen.wants(n.Method, uri) {
		if f := r.encode(n); f.line != nil {
			r.enqueue(f)
		}
	}
}

// encode returns a frame without line if n may not or cannot be sent.
func (r *request) encode(n mcp.JSONRPCNotification) frame {
	if r.closed || r.dropped.Load() {
		return frame{}
	}
	if r.listen != nil {
		// The map may be shared with other receivers.
		meta := make(map[string]any, len(n.Params.Meta)+1)
		maps.Copy(meta, n.Params.Meta)
		meta[mcp.MetaKeySubscriptionID] = r.id
		n.Params.Meta = meta
	}
	b, err := line(n, nil)
	if err != nil {
		r.c.log.Error("a notification cannot be encoded", "method", n.Method, "err", err)
		return frame{}
	}
	f := frame{line: b}
	if n.Method == string(mcp.MethodNotificationProgress) {
		f.progressOf = r
	}
	return f
}

// enqueue gives up when the client cancels while it does not read.
func (r *request) enqueue(f frame) bool {
	select {
	case r.c.out <- f:
		return true
	case <-r.c.dead:
		return false
	case <-r.ctx.Done():
	}
	return !r.dropped.Load() && r.c.enqueue(f)
}

// drop cancels the request for the client.
func (r *request) drop() {
	r.dropped.Store(true)
	r.cancel(ErrCancelled)
}
