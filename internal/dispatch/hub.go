// Package dispatch parks calls that wait for something and wakes them. A wake-up is a hint to look again, never the
// data: whoever is woken re-reads the database. Wake-ups come from this process (at once, after the commit) and from
// others (one debounced NOTIFY, sent outside every writer's transaction); a lost one is covered by the waiter's own
// slow re-check. After a reconnect everybody is woken.
//
// Topics are short strings: "l:<project>:<ticket>" a lock waiter, "w:<project>:<queue>:<class>" work of one demand
// class, "n:<project>:<session>" notices, "r:<project>:locks" and "r:<project>:work" changed resources.
package dispatch

import (
	"slices"
	"sync"
)

// Hub is the waiting room of one process. The zero value is not usable; see New.
type Hub struct {
	mu        sync.Mutex
	parked    map[string][]*Waiter // longest-waiting first
	observers map[int]func(topic string)
	nextObs   int
	outbox    func(topics []string) // tells other processes; nil: there are none
}

// New returns an empty hub. outbox, when not nil, is given every topic woken here, to tell other processes; it must
// not block.
func New(outbox func(topics []string)) *Hub {
	return &Hub{parked: map[string][]*Waiter{}, observers: map[int]func(string){}, outbox: outbox}
}

// Waiter is one parked call. C receives once per wake-up (coalesced). Close must be called.
type Waiter struct {
	C      chan struct{}
	hub    *Hub
	topics []string
}

// Park registers a waiter before its caller looks, so that no wake-up falls between look and wait.
func (h *Hub) Park(topics ...string) *Waiter {
	w := &Waiter{C: make(chan struct{}, 1), hub: h, topics: topics}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range topics {
		h.parked[t] = append(h.parked[t], w)
	}
	return w
}

// Close takes the waiter out. A wake-up it got and did not use is passed on to the next waiter of the same topics.
func (w *Waiter) Close() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	for _, t := range w.topics {
		rest := slices.DeleteFunc(w.hub.parked[t], func(x *Waiter) bool { return x == w })
		if len(rest) == 0 {
			delete(w.hub.parked, t)
		} else {
			w.hub.parked[t] = rest
		}
	}
	select {
	case <-w.C:
		for _, t := range w.topics {
			w.hub.wakeOne(t)
		}
	default:
	}
}

// Requeue moves the waiter to the end of its topics' queues: it was woken, looked, found nothing, and waits on.
func (w *Waiter) Requeue() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	for _, t := range w.topics {
		rest := slices.DeleteFunc(w.hub.parked[t], func(x *Waiter) bool { return x == w })
		w.hub.parked[t] = append(rest, w)
	}
}

// Wake wakes one waiter per mention of a topic, the longest-waiting first, calls the observers, and passes the
// topics on to other processes. It implements coord.Waker.
func (h *Hub) Wake(topics []string) {
	h.Local(topics)
	if h.outbox != nil {
		h.outbox(topics)
	}
}

// Local is Wake for news that came from another process: it is not passed on.
func (h *Hub) Local(topics []string) {
	h.mu.Lock()
	for _, t := range topics {
		h.wakeOne(t)
	}
	obs := make([]func(string), 0, len(h.observers))
	for _, fn := range h.observers {
		obs = append(obs, fn)
	}
	h.mu.Unlock()
	for _, fn := range obs {
		for _, t := range topics {
			fn(t)
		}
	}
}

// wakeOne signals the first waiter of t that is not signalled yet.
func (h *Hub) wakeOne(t string) {
	for _, w := range h.parked[t] {
		select {
		case w.C <- struct{}{}:
			return
		default:
		}
	}
}

// All wakes everybody: after a reconnect nobody knows what was missed. Observers get the topic "".
func (h *Hub) All() {
	h.mu.Lock()
	for _, ws := range h.parked {
		for _, w := range ws {
			select {
			case w.C <- struct{}{}:
			default:
			}
		}
	}
	obs := make([]func(string), 0, len(h.observers))
	for _, fn := range h.observers {
		obs = append(obs, fn)
	}
	h.mu.Unlock()
	for _, fn := range obs {
		fn("")
	}
}

// Observe calls fn with every topic that has news, from here or elsewhere, until stop is called. fn must not block
// and must not call the hub. Topic "" means: anything may have changed.
func (h *Hub) Observe(fn func(topic string)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := h.nextObs
	h.nextObs++
	h.observers[id] = fn
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.observers, id)
	}
}

// Parked is the number of waiters, for the metrics.
func (h *Hub) Parked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[*Waiter]struct{}{}
	for _, ws := range h.parked {
		for _, w := range ws {
			seen[w] = struct{}{}
		}
	}
	return len(seen)
}
