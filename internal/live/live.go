// Package live shows clients what happens as it happens: one reader of the numbered log for all clients of a process.
//
// Promise: a client gets every entry that concerns it, in order, from where it began or says it was (replay), or is told
// which numbers it can no longer get (a gap entry). A client is a position in the log: however slow it is, it holds
// nothing but that. What it needs is in the ring of the latest entries, else it is read again.
//
// Failure: when the log cannot be read, clients wait; Next fails only when it has to read for its own client.
package live

import (
	"context"
	"sync"
	"time"
)

const (
	ringSize = 256             // entries kept in memory
	pageSize = 200             // entries read at a time
	recheck  = 5 * time.Second // how often the log is looked at without having been told of news
)

// Entry is one line of the log. Project 0 concerns the whole installation.
type Entry struct {
	Seq      int64
	Project  int64
	Type     string
	Session  string
	AtMillis int64
	Data     map[string]any
}

// Page is what a Source returns: entries after a number, the newest number, the oldest that is kept, and the last
// number that the page covers.
type Page struct {
	Head, Oldest, Last int64
	Entries            []Entry
}

// Source reads the log.
type Source func(ctx context.Context, after int64, limit int) (Page, error)

// Hub reads the log while anybody listens. Kick tells it that there is news.
type Hub struct {
	src  Source
	kick chan struct{}

	mu      sync.Mutex
	ring    []Entry
	from    int64 // every entry after this number is in the ring
	head    int64 // up to this number the log was read
	changed chan struct{}
	clients int
}

// New returns a hub; nothing is read before Run.
func New(src Source) *Hub {
	return &Hub{src: src, kick: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Kick says that the log may have news. It never blocks.
func (h *Hub) Kick() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// Clients is the number of open streams, for the metrics.
func (h *Hub) Clients() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clients
}

// Run reads until ctx is done.
func (h *Hub) Run(ctx context.Context) {
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.kick:
		case <-tick.C:
		}
		for h.read(ctx) {
		}
	}
}

// read takes one page in; more tells that there may be another.
func (h *Hub) read(ctx context.Context) (more bool) {
	h.mu.Lock()
	idle, head := h.clients == 0, h.head
	h.mu.Unlock()
	if idle || ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, recheck)
	defer cancel()
	page, err := h.src(ctx, head, pageSize)
	if err != nil || page.Last <= head {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.head != head { // a first client began anew meanwhile
		return true
	}
	h.ring = append(h.ring, page.Entries...)
	if cut := len(h.ring) - ringSize; cut > 0 {
		h.from = h.ring[cut-1].Seq
		h.ring = append([]Entry(nil), h.ring[cut:]...)
	}
	h.head = page.Last
	close(h.changed)
	h.changed = make(chan struct{})
	return page.Last < page.Head
}

// Filter says what a client wants to see.
type Filter struct {
	Project int64
	Session string // empty: every session
}

func (f Filter) wants(e Entry) bool {
	return (e.Project == 0 || e.Project == f.Project) && (f.Session == "" || e.Session == f.Session)
}

// Stream is one client's position. It is for one goroutine.
type Stream struct {
	hub    *Hub
	filter Filter
	at     int64
	ready  []Entry
}

// Open begins a stream after a number; nil: at the end of the log as it is now. Close must be called.
func (h *Hub) Open(ctx context.Context, f Filter, after *int64) (*Stream, error) {
	page, err := h.src(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients == 0 { // nobody listened: what the ring has is old
		h.ring, h.from, h.head = nil, page.Head, page.Head
	}
	h.clients++
	s := &Stream{hub: h, filter: f, at: page.Head}
	if after != nil && *after < page.Head {
		s.at = max(*after, 0)
	}
	return s, nil
}

// At is the number up to which the client has seen the log.
func (s *Stream) At() int64 { return s.at }

// Close ends the stream.
func (s *Stream) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.clients--
}

// Next returns the next entry the client wants, waiting for it. An entry of type gap says that the numbers Data["from"]
// to Data["to"] are not kept any more. Errors: ctx's, and the source's when this client has to read for itself.
func (s *Stream) Next(ctx context.Context) (Entry, error) {
	for {
		for len(s.ready) > 0 {
			e := s.ready[0]
			s.ready = s.ready[1:]
			s.at = max(s.at, e.Seq)
			if e.Type == "gap" || s.filter.wants(e) {
				return e, nil
			}
		}
		s.hub.mu.Lock()
		changed, inRing, head := s.hub.changed, s.at >= s.hub.from, s.hub.head
		if inRing {
			for _, e := range s.hub.ring {
				if e.Seq > s.at {
					s.ready = append(s.ready, e)
				}
			}
		}
		s.hub.mu.Unlock()
		if len(s.ready) > 0 {
			continue
		}
		if !inRing {
			if err := s.replay(ctx); err != nil {
				return Entry{}, err
			}
			continue
		}
		s.at = max(s.at, head) // numbers without an entry
		select {
		case <-changed:
		case <-ctx.Done():
			return Entry{}, ctx.Err()
		}
	}
}

// replay reads what is no longer in the ring.
func (s *Stream) replay(ctx context.Context) error {
	page, err := s.hub.src(ctx, s.at, pageSize)
	if err != nil {
		return err
	}
	if page.Oldest > s.at+1 {
		s.ready = append(s.ready, Entry{
			Seq: page.Oldest - 1, Type: "gap", AtMillis: time.Now().UnixMilli(),
			Data: map[string]any{"from": s.at + 1, "to": page.Oldest - 1},
		})
	}
	s.ready = append(s.ready, page.Entries...)
	if len(page.Entries) == 0 {
		s.at = max(s.at, page.Last, page.Oldest-1)
	}
	return nil
}
