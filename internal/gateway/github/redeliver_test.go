package github_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubtest"
)

const secret = "s3cret"

// receiver is where webhooks arrive, up or down.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	down int            // status to answer instead of 202
	got  map[string]int // deliveries that were answered with 202, by id
	bad  int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{got: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if githubevent.Verify(req.Header, body, secret) != nil {
			r.bad++
		}
		if r.down != 0 {
			w.WriteHeader(r.down)
			return
		}
		e, err := githubevent.ReadEnvelope(req.Header)
		if err != nil {
			r.bad++
		}
		r.got[e.Delivery]++
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) set(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = status
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	s, r, c := start(t)
	to := newReceiver(t)
	hook := r.AddHook(githubtest.Hook{URL: to.URL, Secret: secret})
	if err := c.AddHook(github.Hook{Repository: "acme/shop", ID: hook.ID}); err != nil {
		t.Fatal(err)
	}
	since := time.Now().Add(-time.Hour)
	for range 3 {
		r.Push(githubtest.Push{Branch: "topic", Before: base, After: head, Pusher: "ada"})
	}
	to.set(http.StatusServiceUnavailable)
	for range 150 { // more than a page
		r.Push(githubtest.Push{Branch: "topic", Before: base, After: head, Pusher: "ada"})
	}
	hook.Lose = func(string, string) bool { return true }
	for range 2 {
		r.Push(githubtest.Push{Branch: "lost", Before: base, After: head, Pusher: "ada"})
	}
	hook.Lose = nil
	to.set(0)
	n, err := c.Redeliver(t.Context(), since)
	if err != nil || n != 152 {
		t.Fatalf("asked for %d, %v", n, err)
	}
	s.Redelivered()
	if n, err = c.Redeliver(t.Context(), since); err != nil || n != 0 {
		t.Errorf("asked again for %d, %v", n, err)
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	if len(to.got) != 155 || to.bad != 0 {
		t.Errorf("%d deliveries arrived, %d badly signed", len(to.got), to.bad)
	}
	for id, times := range to.got {
		if times != 1 {
			t.Errorf("%s arrived %d times", id, times)
		}
	}
	if len(s.Deliveries(hook)) != 155+152 {
		t.Errorf("%d attempts", len(s.Deliveries(hook)))
	}
}

// What is refused every time is asked for a few times only, and what is older than asked for not at all.
func TestRedeliverGivesUp(t *testing.T) {
	t.Parallel()
	s, r, c := start(t)
	to := newReceiver(t)
	to.set(http.StatusUnauthorized)
	hook := r.AddHook(githubtest.Hook{URL: to.URL, Secret: secret, Form: true})
	if err := c.AddHook(github.Hook{Repository: r.Remote(), ID: hook.ID}); err != nil {
		t.Fatal(err)
	}
	since := time.Now().Add(-time.Hour)
	r.Push(githubtest.Push{Branch: "topic", Before: base, After: head, Pusher: "ada"})
	total := 0
	for range 10 {
		n, err := c.Redeliver(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		total += n
		s.Redelivered()
	}
	if total != 4 {
		t.Errorf("asked for %d times", total)
	}
	if n, err := c.Redeliver(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 0 {
		t.Errorf("what is old: %d, %v", n, err)
	}
	if err := c.AddHook(github.Hook{Repository: r.Remote(), ID: 99}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Redeliver(t.Context(), since); err == nil {
		t.Error("a hook that is not there is no error")
	}
}

func TestRedeliverOfAnApp(t *testing.T) {
	t.Parallel()
	s, r, _ := start(t)
	app := s.NewApp(r)
	to := newReceiver(t)
	app.AddHook(s, githubtest.Hook{URL: to.URL, Secret: secret})
	cfg := config(s)
	cfg.AppID, cfg.PrivateKey = app.ID, app.PrivateKey
	c := client(t, cfg)
	to.set(http.StatusBadGateway)
	r.Push(githubtest.Push{Branch: "topic", Before: base, After: head, Pusher: "ada"})
	to.set(0)
	if n, err := c.Redeliver(t.Context(), time.Now().Add(-time.Hour)); err != nil || n != 1 {
		t.Fatalf("asked for %d, %v", n, err)
	}
	s.Redelivered()
	to.mu.Lock()
	defer to.mu.Unlock()
	if len(to.got) != 1 {
		t.Errorf("%d arrived", len(to.got))
	}
}
