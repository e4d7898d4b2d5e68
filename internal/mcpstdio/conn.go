package mcpstdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// outBuffer is how many lines may wait for the writer before senders do.
const outBuffer = 64

// conn is one run of Serve.
type conn struct {
	srv     *Server
	log     *slog.Logger
	session *Session
	begun   time.Time
	base    context.Context // of all requests; not cancelled with Serve's
	cancel  context.CancelCauseFunc

	out        chan frame
	flush      chan struct{} // closed: write what is queued, then end
	dead       chan struct{} // closed: nothing is written any more
	die        sync.Once
	writeErr   error // set before dead is closed
	writerDone chan struct{}

	broadcasts *mailbox
	events     *eventQueue
	// handshaken is set once the reply to initialize is queued; untagged
	// notifications before it would be the first thing the client reads.
	handshaken atomic.Bool
	// lane is the end of the queue of ordered messages; see spawn. Only the
	// reading goroutine uses it.
	lane <-chan struct{}

	wg sync.WaitGroup // running requests

	mu       sync.Mutex
	stopping bool
	running  map[string]*request
	listens  map[*request]struct{}
	count    int
	bytes    int
}

// frame is one unit of work for the writer.
type frame struct {
	line       []byte
	progressOf *request        // set on a progress line
	written    chan<- struct{} // closed when everything before is written
}

func newConn(s *Server, ctx context.Context) *conn {
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &conn{
		srv:        s,
		begun:      time.Now(),
		base:       base,
		cancel:     cancel,
		out:        make(chan frame, outBuffer),
		flush:      make(chan struct{}),
		dead:       make(chan struct{}),
		writerDone: make(chan struct{}),
		events:     newEventQueue(),
		running:    make(map[string]*request),
		listens:    make(map[*request]struct{}),
	}
	c.session = newSession(c)
	c.log = s.log.With("session", c.session.id)
	c.broadcasts = openMailbox(c.broadcast)
	return c
}

func (c *conn) sinceStart() time.Duration { return time.Since(c.begun) }

func (c *conn) run(ctx context.Context, in io.Reader, out io.Writer) error {
	go c.writeLoop(out)
	stopEvents, eventsDone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(eventsDone)
		c.eventLoop(stopEvents)
	}()
	read := make(chan error, 1)
	go func() { read <- c.readLoop(in) }()

	var readErr error
	select {
	case readErr = <-read:
		if errors.Is(readErr, io.EOF) {
			readErr = nil
		}
	case <-ctx.Done():
	case <-c.dead:
	}
	drainErr := c.drain()
	// Whoever waits for the client gives up when dead is closed, so these two
	// end either with everything queued or at the deadline.
	deadline := time.AfterFunc(max(c.srv.grace, settleTime), func() { c.kill(nil) })
	c.broadcasts.close()
	close(stopEvents)
	<-eventsDone
	close(c.flush)
	select {
	case <-c.writerDone:
	case <-c.dead:
	}
	deadline.Stop()
	c.kill(nil)
	if readErr != nil {
		readErr = fmt.Errorf("read: %w", readErr)
	}
	return errors.Join(readErr, c.writeErr, drainErr)
}

// drain ends the requests: listen streams at once, calls after the grace.
func (c *conn) drain() error {
	c.mu.Lock()
	c.stopping = true
	for r := range c.listens {
		r.cancel(ErrShutdown)
	}
	c.mu.Unlock()
	defer c.cancel(ErrShutdown)

	idle := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(idle)
	}()
	grace := time.NewTimer(c.srv.grace)
	defer grace.Stop()
	select {
	case <-idle:
		return nil
	case <-c.dead:
	case <-grace.C:
	}
	c.cancel(ErrShutdown)
	settle := time.NewTimer(settleTime)
	defer settle.Stop()
	select {
	case <-idle:
		return nil
	case <-settle.C:
		methods := c.runningMethods()
		c.log.Error("requests did not end after they were cancelled", "methods", methods)
		return fmt.Errorf("%w: %v", ErrAbandoned, methods)
	}
}

func (c *conn) runningMethods() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	methods := make([]string, 0, len(c.running))
	for _, r := range c.running {
		methods = append(methods, r.method)
	}
	slices.Sort(methods)
	return methods
}

// kill ends all writing; err is the reason if the output failed.
func (c *conn) kill(err error) {
	c.die.Do(func() {
		c.writeErr = err
		c.cancel(ErrDisconnected)
		close(c.dead)
	})
}

// enqueue hands a frame to the writer, waiting for room. It returns false when
// nothing is written any more.
func (c *conn) enqueue(f frame) bool {
	select {
	case c.out <- f:
		return true
	case <-c.dead:
		return false
	}
}

func (c *conn) writeLoop(w io.Writer) {
	defer close(c.writerDone)
	for {
		select {
		case f := <-c.out:
			if !c.write(w, f) {
				return
			}
		case <-c.dead:
			return
		case <-c.flush:
			for {
				select {
				case f := <-c.out:
					if !c.write(w, f) {
						return
					}
				default:
					return
				}
			}
		}
	}
}

func (c *conn) write(w io.Writer, f frame) bool {
	if f.line != nil {
		if _, err := w.Write(f.line); err != nil {
			c.kill(fmt.Errorf("write: %w", err))
			return false
		}
	}
	if f.progressOf != nil {
		f.progressOf.lastProgress.Store(int64(c.sinceStart()))
	}
	if f.written != nil {
		close(f.written)
	}
	return true
}

func (c *conn) listeners() []*request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.listens))
}
