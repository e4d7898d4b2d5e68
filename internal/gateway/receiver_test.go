package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
)

func TestReceiverStoresBeforeItAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body, err := json.Marshal(push("main", sha(0), sha(1), 1000))
	if err != nil {
		t.Fatal(err)
	}
	form := []byte(url.Values{"payload": {string(body)}}.Encode())
	const id = "72D3162E-cc78-11e3-81ab-4c9367dc0958"
	edit := func(f func(*http.Request)) *http.Request {
		r := signed(id, "push", body, secret)
		f(r)
		return r
	}
	for _, tc := range []struct {
		name string
		req  *http.Request
		want int
	}{
		{"unsigned", edit(func(r *http.Request) { r.Header.Del(githubevent.SignatureHeader) }), 401},
		{"signed by a stranger", signed(id, "push", body, "guess"), 401},
		{"only the old signature", edit(func(r *http.Request) {
			r.Header.Set("X-Hub-Signature", "sha1=0000000000000000000000000000000000000000")
			r.Header.Del(githubevent.SignatureHeader)
		}), 401},
		{"another body than was signed", func() *http.Request {
			r := signed(id, "push", body, secret)
			r2 := signed(id, "push", append(bytes.Clone(body), ' '), secret)
			r2.Header = r.Header
			return r2
		}(), 401},
		{"no event", edit(func(r *http.Request) { r.Header.Del("X-GitHub-Event") }), 400},
		{"no delivery id", edit(func(r *http.Request) { r.Header.Del("X-GitHub-Delivery") }), 400},
		{"a hostile delivery id", edit(func(r *http.Request) { r.Header.Set("X-GitHub-Delivery", "a b; drop") }), 400},
		{"XML", edit(func(r *http.Request) { r.Header.Set("Content-Type", "text/xml") }), 415},
		{"no JSON", signed(id, "push", []byte("hello"), secret), 400},
		{"an empty object", signed(id, "push", []byte("{}"), secret), 400},
		{"null", signed(id, "push", []byte("null"), secret), 400},
		{"too large", func() *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
			r.ContentLength = githubevent.MaxBody + 1
			return r
		}(), 413},
		{"by the secret before", signed(id, "push", body, "older"), 202},
		{"a second time", signed(id, "push", body, secret), 202},
		{"as a form", func() *http.Request {
			r := signed("72d3162e-cc78-11e3-81ab-000000000000", "push", form, secret)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}(), 202},
		{"an unknown event", signed("72d3162e-cc78-11e3-81ab-000000000001", "moon", body, secret), 202},
	} {
		status, reply, err := w.g.ReceiveGitHub(tc.req)
		if err != nil {
			status = fault.From(err).Status
		}
		if status != tc.want {
			t.Errorf("%s: %d (%v), want %d", tc.name, status, err, tc.want)
		}
		if got, ok := reply.(Accepted); tc.name == "a second time" && (!ok || !got.Duplicate) {
			t.Errorf("%s: %+v", tc.name, reply)
		}
	}
	if n := w.count(`select count(*) from coord.webhook_deliveries`); n != 3 {
		t.Errorf("%d deliveries are stored, want 3", n)
	}
	w.run()
	w.state(sha(1), "passed")
	w.eventually("every delivery is done", func() bool {
		return w.count(`select count(*) from coord.webhook_deliveries where state in ('processed', 'ignored')`) == 3
	})
	if n := w.count(`select count(*) from public.changesets`); n != 1 {
		t.Errorf("%d changesets", n)
	}
}

func TestWithoutASecretNothingIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Secrets = []string{"", " "} })
	if status, _, err := w.g.ReceiveGitHub(signed("a", "push", []byte(`{"a":1}`), "")); status != 0 || fault.From(err).Status != 503 {
		t.Errorf("%d %v", status, err)
	}
}

func TestWhatCannotBeReadIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	if got := w.deliver("push", map[string]any{"ref": "refs/heads/main", "after": "no sha", "repository": repository()}); got != 202 {
		t.Fatalf("%d", got)
	}
	w.eventually("it is dead", func() bool {
		return w.count(`select count(*) from coord.webhook_deliveries where state = 'dead' and attempts = 1`) == 1
	})
	for _, ignored := range []map[string]any{
		{"ref": "refs/tags/v1", "after": sha(1), "before": sha(0), "repository": repository()},
		{"ref": "refs/heads/gone", "after": strings.Repeat("0", 40), "before": sha(0), "deleted": true, "repository": repository()},
	} {
		if got := w.deliver("push", ignored); got != 202 {
			t.Fatalf("%d", got)
		}
	}
	w.eventually("they are done", func() bool {
		return w.count(`select count(*) from coord.webhook_deliveries where state in ('processed', 'ignored')`) == 2
	})
	if n := w.count(`select count(*) from public.changesets`); n != 0 {
		t.Errorf("%d changesets", n)
	}
}

// A large body goes to the database by another call than a small one; what is stored and done is the same.
func TestALargeDeliveryIsStoredWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := push("main", sha(0), sha(1), 1000)
	p["padding"] = strings.Repeat("é", largeBody/2)
	body, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		status, reply, err := w.g.ReceiveGitHub(signed("72d3162e-cc78-11e3-81ab-000000000009", "push", body, secret))
		if got, ok := reply.(Accepted); err != nil || status != http.StatusAccepted || !ok || got.Duplicate != again {
			t.Fatalf("%d %+v %v", status, reply, err)
		}
	}
	if n := w.count(`select count(*) from coord.webhook_deliveries where body = $1 and body_sha256 = sha256(body)`, body); n != 1 {
		t.Errorf("%d deliveries are stored whole", n)
	}
	w.run()
	w.state(sha(1), "passed")
}
