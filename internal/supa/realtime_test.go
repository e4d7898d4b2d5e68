package supa_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agent-coordinator/agent-coordinator/internal/supa"
)

// hub records what it is told.
type hub struct {
	mu    sync.Mutex
	told  []string
	fresh chan struct{}
}

func newHub() *hub { return &hub{fresh: make(chan struct{}, 100)} }

func (h *hub) add(s string) {
	h.mu.Lock()
	h.told = append(h.told, s)
	h.mu.Unlock()
	h.fresh <- struct{}{}
}
func (h *hub) Local(topics []string)    { h.add("local " + strings.Join(topics, " ")) }
func (h *hub) Nudge(prefixes ...string) { h.add("nudge " + strings.Join(prefixes, " ")) }
func (h *hub) All()                     { h.add("all") }

// wait waits until everything in want was told.
func (h *hub) wait(t *testing.T, want ...string) {
	t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	for {
		h.mu.Lock()
		missing := slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(h.told, w) })
		told := slices.Clone(h.told)
		if !missing {
			h.told = nil
		}
		h.mu.Unlock()
		if !missing {
			return
		}
		select {
		case <-h.fresh:
		case <-timer.C:
			t.Fatalf("told %q, want %q", told, want)
		}
	}
}

// phoenix is a server of the protocol. Each connection runs script.
type phoenix struct {
	t      *testing.T
	url    string
	script func(*line)
	wg     sync.WaitGroup
}

// line is one connection as the server sees it.
type line struct {
	t       *testing.T
	ctx     context.Context
	conn    *websocket.Conn
	arrays  bool
	n       int // which connection this is
	joinRef string
	deaf    bool // heartbeats stay without answer
	beats   chan struct{}
}

func newPhoenix(t *testing.T, script func(*line)) *phoenix {
	t.Helper()
	p := &phoenix{t: t, script: script}
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/realtime/v1/websocket" || r.URL.Query().Get("apikey") == "" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		n++
		if r.URL.Query().Get("vsn") == "1.0.0" && r.URL.Query().Get("apikey") == "sb_secret_new" {
			http.Error(w, "version 1.0.0 is gone", http.StatusBadRequest)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		p.wg.Add(1)
		defer p.wg.Done()
		script(&line{t: t, ctx: ctx, conn: conn, n: n, arrays: r.URL.Query().Get("vsn") == "2.0.0", beats: make(chan struct{}, 100)})
	}))
	t.Cleanup(func() { cancel(); p.wg.Wait(); srv.Close() })
	p.url = srv.URL
	return p
}

func (l *line) send(ref any, topic, event, payload string) {
	raw := fmt.Sprintf(`{"ref": %s, "topic": %q, "event": %q, "payload": %s}`, quote(ref), topic, event, payload)
	if l.arrays {
		raw = fmt.Sprintf(`[%s, %s, %q, %q, %s]`, quote(nil), quote(ref), topic, event, payload)
	}
	_ = l.conn.Write(l.ctx, websocket.MessageText, []byte(raw))
}

func quote(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// recv reads a message; ok is false when the connection is gone.
func (l *line) recv() (ref, topic, event string, payload map[string]any, ok bool) {
	_, raw, err := l.conn.Read(l.ctx)
	if err != nil {
		return "", "", "", nil, false
	}
	if l.arrays {
		var join *string
		if err := json.Unmarshal(raw, &[]any{&join, &ref, &topic, &event, &payload}); err != nil {
			l.t.Errorf("%v in %s", err, raw)
		}
		return ref, topic, event, payload, true
	}
	var m struct {
		Ref, Topic, Event string
		Payload           map[string]any
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		l.t.Errorf("%v in %s", err, raw)
	}
	return m.Ref, m.Topic, m.Event, m.Payload, true
}

// accept answers the join and confirms the subscription; it returns what was asked for.
func (l *line) accept() map[string]any {
	ref, topic, event, payload, ok := l.recv()
	if !ok || topic != "realtime:agent-coordinator" || event != "phx_join" {
		l.t.Errorf("the first message is %s %s", topic, event)
		return nil
	}
	l.joinRef = ref
	l.send(ref, topic, "phx_reply", `{"status": "ok", "response": {"postgres_changes": [{"id": 1}]}}`)
	l.send(nil, topic, "system", `{"status": "ok", "extension": "postgres_changes", "message": "Subscribed to PostgreSQL"}`)
	return payload
}

func (l *line) change(table, record, old string) {
	l.send(nil, "realtime:agent-coordinator", "postgres_changes",
		fmt.Sprintf(`{"ids": [1], "data": {"schema": "public", "table": %q, "type": "UPDATE", "record": %s, "old_record": %s, "errors": null}}`, table, record, old))
}

// serve answers heartbeats until the connection ends.
func (l *line) serve() {
	for {
		ref, topic, event, _, ok := l.recv()
		if !ok {
			return
		}
		if topic == "phoenix" && event == "heartbeat" {
			select {
			case l.beats <- struct{}{}:
			default:
			}
			if !l.deaf {
				l.send(ref, "phoenix", "phx_reply", `{"status": "ok", "response": {}}`)
			}
		}
	}
}

func follow(t *testing.T, url, key string, h supa.Hub, beat time.Duration) *supa.Realtime {
	t.Helper()
	r, err := supa.NewRealtime(supa.Config{URL: url, Secret: key}, h)
	if err != nil {
		t.Fatal(err)
	}
	r.Hurry(beat, time.Millisecond, time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func TestChangesBecomeHints(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"objects": "eyJ.jwt.x", "arrays": "sb_secret_new"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, ready := newHub(), make(chan struct{})
			p := newPhoenix(t, func(l *line) {
				asked := l.accept()
				if _, token := asked["access_token"]; token != strings.HasPrefix(key, "eyJ") {
					t.Errorf("access_token sent: %v, with key %s", token, key)
				}
				if tables := fmt.Sprint(asked["config"]); !strings.Contains(tables, "work_queue") || !strings.Contains(tables, "file_locks") {
					t.Errorf("asked for %s", tables)
				}
				<-ready
				l.change("file_locks", `{"project_id": 7, "file_path": "a.go"}`, `{}`)
				l.change("file_locks", `{}`, `{"project_id": 8, "base": "a.go"}`)
				l.send(nil, "realtime:agent-coordinator", "presence_state", `{}`)
				l.change("work_queue", `{"project_id": 7}`, `null`)
				l.serve()
			})
			r := follow(t, p.url, key, h, time.Minute)
			h.wait(t, "all") // joined: nobody knows what was missed
			close(ready)
			deadline := time.NewTimer(20 * time.Second)
			defer deadline.Stop()
			for seen := ""; !strings.Contains(seen, "r:7:locks") || !strings.Contains(seen, "r:8:locks") || !strings.Contains(seen, "r:7:work") ||
				!strings.Contains(seen, "l:7:") || !strings.Contains(seen, "l:8:") || !strings.Contains(seen, "w:7:"); {
				select {
				case <-h.fresh:
				case <-deadline.C:
					t.Fatalf("told %s", seen)
				}
				h.mu.Lock()
				seen = strings.Join(h.told, " ")
				h.mu.Unlock()
			}
			if st := r.Stats(); !st.Joined || st.Changes != 3 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A server that stops answering, closes the channel, refuses it or goes away is joined again, and everybody looks.
func TestRejoinsAndEverybodyLooks(t *testing.T) {
	t.Parallel()
	h, over := newHub(), make(chan struct{})
	p := newPhoenix(t, func(l *line) {
		switch l.n {
		case 1: // dies at once
		case 2: // speaks 2.0.0, refuses
			ref, topic, _, _, _ := l.recv()
			l.send(ref, topic, "phx_reply", `{"status": "error", "response": {"reason": "Unauthorized"}}`)
			l.serve()
		case 3: // the subscription fails after the join
			ref, topic, _, _, _ := l.recv()
			l.send(ref, topic, "phx_reply", `{"status": "ok", "response": {}}`)
			l.send(nil, topic, "system", `{"status": "error", "extension": "postgres_changes", "message": "no publication"}`)
			l.serve()
		case 4: // joined, then deaf
			l.accept()
			l.deaf = true
			l.serve()
		case 5: // joined, then an error of the channel
			l.accept()
			l.send(nil, "realtime:agent-coordinator", "phx_error", `{}`)
			l.serve()
		case 6: // joined, then nonsense
			l.accept()
			_ = l.conn.Write(l.ctx, websocket.MessageText, []byte(`"what"`))
			l.serve()
		default:
			l.accept()
			l.change("runs", `{"run_id": "r"}`, `{}`)
			l.change("nobody_knows", `{}`, `{}`)
			if l.n == 7 {
				close(over)
			}
			l.serve()
		}
	})
	r := follow(t, p.url, "sb_secret_x", h, 50*time.Millisecond)
	select {
	case <-over:
	case <-time.After(30 * time.Second):
		t.Fatalf("%+v", r.Stats())
	}
	h.wait(t, "all", "all")
	if st := r.Stats(); st.Reconnects < 6 {
		t.Errorf("%+v", st)
	}
}

// An access token that is renewed while the channel is joined is sent on, once, and the channel stays.
func TestTokenIsRenewed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("eyJ.first.x")
	sent := make(chan string, 10)
	h := newHub()
	p := newPhoenix(t, func(l *line) {
		sent <- fmt.Sprint(l.accept()["access_token"])
		write("eyJ.second.x")
		for beats := 0; ; {
			ref, topic, event, payload, ok := l.recv()
			switch {
			case !ok:
				return
			case event == "access_token":
				sent <- fmt.Sprint(topic, " ", payload["access_token"])
			case event == "heartbeat":
				l.send(ref, "phoenix", "phx_reply", `{"status": "ok", "response": {}}`)
				if beats++; beats == 5 {
					sent <- "five beats"
				}
			}
		}
	})
	r, err := supa.NewRealtime(supa.Config{URL: p.url, Secret: "sb_secret_new", TokenFile: file}, h)
	if err != nil {
		t.Fatal(err)
	}
	r.Hurry(20*time.Millisecond, time.Millisecond, time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	for _, want := range []string{"eyJ.first.x", "realtime:agent-coordinator eyJ.second.x", "five beats"} {
		select {
		case got := <-sent:
			if got != want {
				t.Fatalf("sent %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing was sent, want %q", want)
		}
	}
	if st := r.Stats(); st.Renewals != 1 {
		t.Errorf("%+v", st)
	}
}
