package mcpstdio

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	mailboxSize = 128
	// mailboxFull leaves room for senders that asked for the channel at the
	// same moment, each of which may put one notification into it.
	mailboxFull = mailboxSize / 2
)

// mailbox makes the notification channel that mcp-go sends to lossless and
// ordered. mcp-go sends without blocking and drops what finds no room, so the
// waiting is done before: slot returns the channel only while it has room to
// spare. One goroutine hands the notifications on, in the order they were sent.
//
// Nothing is reserved for a sender that asks for the channel and then does not
// send, so such a sender costs nothing.
type mailbox struct {
	ch   chan mcp.JSONRPCNotification
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex
	room   chan struct{} // closed when there may be room again; nil if nobody waits
	closed bool
}

// openMailbox starts handing notifications to deliver; close ends it.
func openMailbox(deliver func(mcp.JSONRPCNotification)) *mailbox {
	m := &mailbox{
		ch:   make(chan mcp.JSONRPCNotification, mailboxSize),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	go m.run(deliver)
	return m
}

func (m *mailbox) run(deliver func(mcp.JSONRPCNotification)) {
	defer close(m.done)
	for {
		select {
		case n := <-m.ch:
			m.wake()
			deliver(n)
		case <-m.stop:
			for {
				select {
				case n := <-m.ch:
					deliver(n)
				default:
					return
				}
			}
		}
	}
}

func (m *mailbox) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.room != nil {
		close(m.room)
		m.room = nil
	}
}

// slot returns a channel that takes one notification without blocking. It waits
// for room until gone is closed; after that, and after close, it returns a
// channel that nobody reads, because an undeliverable notification is no error
// of the sender.
func (m *mailbox) slot(gone <-chan struct{}) chan<- mcp.JSONRPCNotification {
	for {
		m.mu.Lock()
		if m.closed {
			m.mu.Unlock()
			return sink()
		}
		if len(m.ch) < mailboxFull {
			m.mu.Unlock()
			return m.ch
		}
		if m.room == nil {
			m.room = make(chan struct{})
		}
		room := m.room
		m.mu.Unlock()
		select {
		case <-room:
		case <-gone:
			return sink()
		}
	}
}

// close returns when everything sent before it was called has been handed on.
// It may be called once.
func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.wake()
	close(m.stop)
	<-m.done
}

func sink() chan<- mcp.JSONRPCNotification {
	return make(chan mcp.JSONRPCNotification, 1)
}

// closedMailbox turns everything away.
var closedMailbox = &mailbox{closed: true}
