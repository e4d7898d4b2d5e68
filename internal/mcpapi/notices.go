package mcpapi

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

const (
	noticeRecheck = 15 * time.Second // without a hint, ask at least this often
	noticeTimeout = 2 * time.Second  // a call's result does not wait longer for its notices
	gateSize      = 20_000           // sessions remembered; a full gate is emptied
)

// noticeGate asks for a session's notices only when there may be some: at its first call, after a hint that named it,
// and every noticeRecheck. Without hints it asks every time.
type noticeGate struct {
	src      NoticeSource
	mu       sync.Mutex
	hinted   bool // hints are coming in
	sessions map[string]*gateState
}

type gateState struct {
	due     bool
	checked time.Time
}

func newNoticeGate(src NoticeSource) *noticeGate {
	return &noticeGate{src: src, sessions: map[string]*gateState{}}
}

// watch lets hints from news decide from now on.
func (g *noticeGate) watch(news News) (stop func()) {
	g.mu.Lock()
	g.hinted = true
	g.mu.Unlock()
	unobserve := news.Observe(g.hint)
	return func() {
		unobserve()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.hinted = false
	}
}

func (g *noticeGate) hint(topic string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if topic == "" {
		for _, s := range g.sessions {
			s.due = true
		}
		return
	}
	if !strings.HasPrefix(topic, "n:") {
		return
	}
	if s := g.sessions[topic]; s != nil {
		s.due = true
	}
}

// due reports whether to ask now, and takes the hint.
func (g *noticeGate) due(topic string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[topic]
	if s == nil {
		if len(g.sessions) >= gateSize {
			clear(g.sessions)
		}
		s = &gateState{due: true}
		g.sessions[topic] = s
	}
	if g.hinted && !s.due && now.Sub(s.checked) < noticeRecheck {
		return false
	}
	s.due, s.checked = false, now
	return true
}

// take returns the notices that go with a result. An outage here does not fail a call that succeeded: they stay
// waiting, and the next call asks again.
func (g *noticeGate) take(ctx context.Context, c ident.Caller) client.Notices {
	if g.src == nil || c.SessionID == 0 || ctx.Err() != nil { // nobody would see them
		return client.Notices{}
	}
	topic := fmt.Sprintf("n:%d:%d", c.ProjectID, c.SessionID)
	if !g.due(topic, time.Now()) {
		return client.Notices{}
	}
	ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	n, err := g.src.Notices(ctx, c)
	if err != nil || n.More > 0 {
		g.hint(topic)
	}
	if err != nil {
		return client.Notices{}
	}
	return n
}
