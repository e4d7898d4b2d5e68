// Package dispatch parks calls that wait for something and wakes them. A wake-up is a hint to look again, never the
// data: whoever is woken re-reads the database. Wake-ups come from this process (at once, after the commit) and from
// others (one debounced NOTIFY, sent outside every writer's transaction); a lost one is covered by the waiter's own
// slow re-check, or by one re-check for all of them (see Recheck). After a reconnect everybody is woken.
//
// Topics are short strings: "l:<project>:<ticket>" a lock waiter, "w:<project>:<queue>:<class>" work of one demand
// class, "n:<project>:<session>" notices, "r:<project>:locks" and "r:<project>:work" changed resources. A topic that
// ends in "+" ("w:<project>:<queue>:+": there is a new demand class) concerns everybody parked on it, not one.
package dispatch

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Hub is the waiting room of one process. The zero value is not usable; see New.
type Hub struct {
	mu        sync.Mutex
	parked    map[string][]*Waiter // longest-waiting first
	observers map[int]func(topic string)
	nextObs   int
	checks    []*check
	online    atomic.Bool
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
	unit   string // the topic of the unit it was woken for and is not done with
	all    bool   // it was woken for everybody's news
}

// Park registers a waiter before its caller looks, so that no wake-up falls between look and wait.
func (h *Hub) Park(topics ...string) *Waiter {
	w := &Waiter{C: make(chan struct{}, 1), hub: h}
	w.Add(topics...)
	return w
}

// Add parks the waiter on further topics and reports whether any of them is new to it. The caller looks again then.
func (w *Waiter) Add(topics ...string) bool {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	n := len(w.topics)
	for _, t := range topics {
		if slices.Contains(w.topics, t) {
			continue
		}
		w.topics = append(w.topics, t)
		w.hub.parked[t] = append(w.hub.parked[t], w)
		w.hub.count(t, 1)
	}
	return len(w.topics) > n
}

// Why tells what the wake-up just received from C was: one unit of something, news for everybody, or both. A caller
// that treats every wake-up alike need not ask.
func (w *Waiter) Why() (unit, everybody bool) {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	unit, everybody = w.unit != "", w.all
	w.unit, w.all = "", false
	return unit, everybody
}

// Unit is Why for callers that may have to pass the unit on: its topic, empty when it was news for everybody.
func (w *Waiter) Unit() string {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	unit := w.unit
	w.unit, w.all = "", false
	return unit
}

// Close takes the waiter out. A unit it was woken for and did not look at is passed on to the next waiter.
func (w *Waiter) Close() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	for _, t := range w.topics {
		w.hub.remove(t, w)
		w.hub.count(t, -1)
	}
	w.topics = nil
	select {
	case <-w.C:
		if w.unit != "" {
			w.hub.wakeOne(w.unit)
		}
	default:
	}
}

// Requeue moves the waiter to the end of its topics' queues: it was woken, looked, found nothing, and waits on.
func (w *Waiter) Requeue() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	if len(w.C) == 0 { // else there is news again already
		w.unit, w.all = "", false
	}
	for _, t := range w.topics {
		w.hub.remove(t, w)
		w.hub.parked[t] = append(w.hub.parked[t], w)
	}
}

func (h *Hub) remove(t string, w *Waiter) {
	rest := slices.DeleteFunc(h.parked[t], func(x *Waiter) bool { return x == w })
	if len(rest) == 0 {
		delete(h.parked, t)
	} else {
		h.parked[t] = rest
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
		if strings.HasSuffix(t, "+") {
			for _, w := range h.parked[t] {
				w.broadcast()
			}
			continue
		}
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

// wakeOne gives a unit to the first waiter of t that has none; else to the first one that is just looking for another,
// since it may have looked too early for this one.
func (h *Hub) wakeOne(t string) {
	for _, busy := range []bool{false, true} {
		for _, w := range h.parked[t] {
			if w.unit == "" || busy && len(w.C) == 0 {
				w.unit = t
				w.signal()
				return
			}
		}
	}
}

// broadcast tells w something that concerns everybody.
func (w *Waiter) broadcast() {
	w.all = true
	w.signal()
}

func (w *Waiter) signal() {
	select {
	case w.C <- struct{}{}:
	default:
	}
}

// All wakes everybody: after a reconnect nobody knows what was missed. Observers get the topic "".
func (h *Hub) All() {
	h.mu.Lock()
	for t, ws := range h.parked {
		for _, w := range ws {
			w.broadcast()
			w.unit = t
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

// Nudge makes everybody look who is parked on a topic that begins with one of the prefixes: something of that kind
// changed, and nobody knows whom it concerns. Observers are not told.
func (h *Hub) Nudge(prefixes ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for t, ws := range h.parked {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(t, p) }) {
			continue
		}
		for _, w := range ws {
			w.broadcast()
		}
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
