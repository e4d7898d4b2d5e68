package mcpapi

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
)

// debounce is how long changes of one resource are gathered before subscribers are told once.
const debounce = 250 * time.Millisecond

// Updater tells the subscribers of one transport that a resource changed. *mcpstdio.Server is one.
type Updater interface{ ResourceUpdated(uri string) }

// Watch takes hints from news from now on: waiting notices are looked for when there may be some, and subscribers of
// resources are told of changes. It sends one update for every resource first, since nobody knows what was missed.
func (d *Door) Watch(news News, stdio Updater) (stop func()) {
	u := &updates{door: d, stdio: stdio, timers: map[string]*time.Timer{}}
	stopGate := d.notices.watch(news)
	stopUpdates := news.Observe(u.hint)
	u.hint("")
	return func() {
		stopUpdates()
		stopGate()
		u.stop()
	}
}

// updates debounces hints per topic.
type updates struct {
	door  *Door
	stdio Updater

	mu      sync.Mutex
	stopped bool
	timers  map[string]*time.Timer // running ones, by topic
}

// hint is called by the hub: it only notes the topic.
func (u *updates) hint(topic string) {
	project, kind, ok := resourceTopic(topic)
	if !ok {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped || u.timers[topic] != nil {
		return
	}
	u.timers[topic] = time.AfterFunc(debounce, func() {
		u.mu.Lock()
		delete(u.timers, topic)
		stopped := u.stopped
		u.mu.Unlock()
		if !stopped {
			u.door.publish(project, kind, u.stdio)
		}
	})
}

func (u *updates) stop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stopped = true
	for _, t := range u.timers {
		t.Stop()
	}
}

// resourceTopic reads "r:<project>:locks" and "r:<project>:work"; "" means every resource of every project.
func resourceTopic(topic string) (project int64, kind string, ok bool) {
	if topic == "" {
		return 0, "", true
	}
	rest, ok := strings.CutPrefix(topic, "r:")
	if !ok {
		return 0, "", false
	}
	id, kind, ok := strings.Cut(rest, ":")
	project, err := strconv.ParseInt(id, 10, 64)
	return project, kind, ok && err == nil
}

// publish tells the subscribers of a project's resources of that kind; project 0 and kind "" mean all.
func (d *Door) publish(project int64, kind string, stdio Updater) {
	uris := []string{uriDigest}
	if kind == "" || kind == "locks" {
		uris = append(uris, uriLocks)
	}
	if kind == "" || kind == "work" {
		uris = append(uris, uriWork)
	}
	for _, uri := range uris {
		if stdio != nil && d.inProject(project) {
			stdio.ResourceUpdated(uri)
		}
		d.subs.publish(d.mcp, project, uri)
	}
}

// inProject reports whether a stdio client may be reading that project: it called in it, or in none yet.
func (d *Door) inProject(project int64) bool {
	if project == 0 {
		return true
	}
	d.projectMu.Lock()
	defer d.projectMu.Unlock()
	return len(d.projects) == 0 || d.projects[project]
}

func (d *Door) calledIn(project int64) {
	if project == 0 {
		return
	}
	d.projectMu.Lock()
	defer d.projectMu.Unlock()
	d.projects[project] = true
}

// subscriptions are those of HTTP clients: mcp-go keeps none itself. Old clients subscribe per session and get updates
// on their GET stream; clients of 2026-07-28 name the URIs in a listen request and get them on its own stream.
type subscriptions struct {
	mu      sync.Mutex
	uris    map[string]map[string]int64         // session id → uri → project (0: any)
	listens map[server.ClientSession]listenedTo // open listen streams
}

type listenedTo struct {
	project int64
	uris    []string
}

func newSubscriptions() *subscriptions {
	return &subscriptions{uris: map[string]map[string]int64{}, listens: map[server.ClientSession]listenedTo{}}
}

// overHTTP returns the session of a request that did not come over stdio, whose transport keeps its own.
func overHTTP(ctx context.Context) server.ClientSession {
	if mcpstdio.SessionFromContext(ctx) != nil {
		return nil
	}
	return server.ClientSessionFromContext(ctx)
}

func (s *subscriptions) hook(h *server.Hooks) {
	h.AddAfterSubscribe(func(ctx context.Context, _ any, m *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		if cs := overHTTP(ctx); cs != nil && cs.SessionID() != "" {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.uris[cs.SessionID()] == nil {
				s.uris[cs.SessionID()] = map[string]int64{}
			}
			s.uris[cs.SessionID()][m.Params.URI] = boundProject(ctx)
		}
	})
	h.AddAfterUnsubscribe(func(ctx context.Context, _ any, m *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		if cs := overHTTP(ctx); cs != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.uris[cs.SessionID()], m.Params.URI)
		}
	})
	h.AddOnUnregisterSession(func(_ context.Context, cs server.ClientSession) {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.uris, cs.SessionID())
	})
	h.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, m *mcp.SubscriptionsListenRequest) {
		cs := overHTTP(ctx)
		if cs == nil || len(m.Params.Notifications.ResourceSubscriptions) == 0 {
			return
		}
		s.mu.Lock()
		s.listens[cs] = listenedTo{boundProject(ctx), slices.Clone(m.Params.Notifications.ResourceSubscriptions)}
		s.mu.Unlock()
		context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.listens, cs)
		})
	})
}

func (s *subscriptions) publish(srv *server.MCPServer, project int64, uri string) {
	s.mu.Lock()
	var ids []string
	for id, uris := range s.uris {
		if p, ok := uris[uri]; ok && (p == 0 || project == 0 || p == project) {
			ids = append(ids, id)
		}
	}
	var streams []server.ClientSession
	for cs, l := range s.listens {
		if slices.Contains(l.uris, uri) && (l.project == 0 || project == 0 || l.project == project) {
			streams = append(streams, cs)
		}
	}
	s.mu.Unlock()
	params := map[string]any{"uri": uri}
	for _, id := range ids {
		if err := srv.SendNotificationToSpecificClient(id, mcp.MethodNotificationResourceUpdated, params); err != nil {
			s.mu.Lock()
			delete(s.uris, id) // the session is gone; a live one whose queue is full will read anyway
			s.mu.Unlock()
		}
	}
	for _, cs := range streams {
		s.stream(cs, params)
	}
}

// stream sends an update on a listen stream once that was acknowledged. A full queue drops it: the client has unread
// updates already.
func (s *subscriptions) stream(cs server.ClientSession, params map[string]any) {
	f, ok := cs.(server.SessionWithSubscriptionFilter)
	if !ok {
		return
	}
	if filter, open := f.SubscriptionFilter(); !open || len(filter.ResourceSubscriptions) == 0 {
		return
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = mcp.MethodNotificationResourceUpdated
	n.Params.AdditionalFields = params
	select {
	case cs.NotificationChannel() <- n:
	default:
	}
}
