package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// limited is a door whose keys are limited, with a key that has limits of its own.
func limited(t *testing.T, w *world, proxies ...string) *httpapi.Server {
	t.Helper()
	trusted, err := httpapi.ReadProxies(proxies)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range w.keys {
		p.Key = "key:" + name
		w.keys[name] = p
	}
	w.keys["own"] = ident.Principal{Name: "key:own", Key: "key:own", Scopes: []ident.Scope{ident.Write}, RateLimit: 1, StreamLimit: 1}
	return w.door(func(o *httpapi.Options) {
		o.Face = httpapi.Face{Limits: httpapi.Limits{Rate: 4, Streams: 2}, Proxies: trusted}
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "coord_up 1\n") })
	})
}

// from makes a GET /echo that comes from an address.
func from(t *testing.T, h http.Handler, path, address, key string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(context.Background(), "GET", path, nil)
	req.RemoteAddr = net.JoinHostPort(address, "9")
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	for _, line := range headers {
		k, v, _ := strings.Cut(line, ": ")
		req.Header.Add(k, v)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

func counted(s *httpapi.Server) map[string]float64 {
	out := map[string]float64{}
	s.Watch(func(name, _ string, read func() float64) { out[name] = read() })
	return out
}

// Requests beyond a key's share are refused with the time to wait, and change nothing; other keys go on.
func TestRequestsBeyondTheShareAreRefused(t *testing.T) {
	t.Parallel()
	h := limited(t, newWorld())
	codes := map[int]int{}
	for range 60 {
		codes[send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good).Code]++
	}
	if codes[200] < 20 || codes[200] > 25 || codes[429] != 60-codes[200] {
		t.Fatalf("%v, want 20 of 60 granted", codes)
	}
	a := send(t, h, "POST", "/echo", `{"agent_id":"a"}`, good)
	wait, err := strconv.Atoi(a.Header().Get("Retry-After"))
	if a.Code != 429 || err != nil || wait < 1 || a.body["code"] != "exhausted" || a.body["retryable"] != true || a.body["retry_after"] != float64(wait) ||
		a.body["what"] == nil || a.body["why"] == nil || !strings.Contains(fmt.Sprint(a.body["next"]), "repeat") || a.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v %v", a.Code, a.Header(), a.body)
	}
	if a := send(t, h, "GET", "/echo", "", "X-API-Key: reader"); a.Code != 200 {
		t.Errorf("another key: %d", a.Code)
	}
	if n := counted(h)["coord_limited_requests_total"]; n < 36 {
		t.Errorf("%v counted", n)
	}
}

// What comes straight from this machine is limited by a key's own limit only; what a proxy passes on is not from here.
func TestThisMachineHasNoShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, address, key string
		proxies            []string
		headers            []string
		limited            bool
	}{
		{"straight", "127.0.0.1", "good", nil, nil, false},
		{"straight, IPv6", "::1", "good", nil, nil, false},
		{"with a limit of its own", "127.0.0.1", "own", nil, nil, true},
		{"from elsewhere", "192.0.2.7", "good", nil, nil, true},
		{"passed on", "127.0.0.1", "good", nil, []string{"X-Forwarded-For: 127.0.0.1"}, true},
		{"passed on, the newer header", "127.0.0.1", "good", nil, []string{"Forwarded: for=127.0.0.1"}, true},
		{"by a proxy of ours that says nothing", "127.0.0.1", "good", []string{"127.0.0.1"}, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := limited(t, newWorld(), tt.proxies...)
			refused := 0
			for range 60 {
				if from(t, h, "/echo", tt.address, tt.key, tt.headers...).Code == 429 {
					refused++
				}
			}
			if (refused > 0) != tt.limited {
				t.Errorf("%d refused", refused)
			}
		})
	}
}

// Waiting calls and streams are counted while they last.
func TestStreamsBeyondTheShareAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := limited(t, w)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{}, 3)
	hang := func() {
		req := httptest.NewRequestWithContext(ctx, "POST", "/wait", strings.NewReader(`{"agent_id":"a","wait_seconds":50}`))
		req.Header.Set("X-API-Key", "good")
		h.ServeHTTP(httptest.NewRecorder(), req)
		ended <- struct{}{}
	}
	for range 2 {
		go hang()
		<-w.waiting
	}
	a := send(t, h, "POST", "/wait", `{"agent_id":"a","wait_seconds":50}`, good)
	if a.Code != 429 || a.body["retry_after"] != 5.0 || !strings.Contains(fmt.Sprint(a.body["why"]), "2 at a time") {
		t.Errorf("%d %v", a.Code, a.body)
	}
	if a := send(t, h, "GET", "/echo", "", good); a.Code != 200 {
		t.Errorf("a call that does not wait: %d", a.Code)
	}
	cancel()
	<-ended
	<-ended
	ctx, cancel = context.WithCancel(context.Background())
	go hang()
	<-w.waiting
	cancel()
	<-ended
	if n := counted(h)["coord_limited_streams_total"]; n != 1 {
		t.Errorf("%v counted", n)
	}
}

// Who tries keys is soon refused without the database being asked. A key that was good before still opens from there.
func TestUnknownKeysFromOneAddress(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := limited(t, w)
	if rec := from(t, h, "/echo", "192.0.2.7", "reader"); rec.Code != 200 {
		t.Fatal(rec.Code)
	}
	codes := map[int]int{}
	for i := range 100 {
		codes[from(t, h, "/echo", "192.0.2.7", fmt.Sprint("guess", i)).Code]++
	}
	if codes[401] < 50 || codes[401] > 60 || codes[429] != 100-codes[401] {
		t.Errorf("%v", codes)
	}
	rec := from(t, h, "/echo", "192.0.2.7", "guess")
	if rec.Code != 429 || rec.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	for address, key := range map[string]string{"192.0.2.7": "reader", "192.0.2.8": "good"} {
		if rec := from(t, h, "/echo", address, key); rec.Code != 200 {
			t.Errorf("%s from %s: %d", key, address, rec.Code)
		}
	}
	if n := counted(h)["coord_limited_attempts_total"]; n < 40 {
		t.Errorf("%v counted", n)
	}
}

// X-Forwarded-For counts only from proxies that are named: nobody chooses an address for himself.
func TestForwardedAddresses(t *testing.T) {
	t.Parallel()
	exhaust := func(h http.Handler, address string, headers ...string) {
		for i := range 60 {
			from(t, h, "/echo", address, fmt.Sprint("guess", i), headers...)
		}
	}
	refused := func(h http.Handler, address string, headers ...string) bool {
		return from(t, h, "/echo", address, "guess", headers...).Code == 429
	}
	t.Run("of nobody", func(t *testing.T) {
		t.Parallel()
		h := limited(t, newWorld())
		exhaust(h, "192.0.2.7", "X-Forwarded-For: 198.51.100.1")
		if !refused(h, "192.0.2.7", "X-Forwarded-For: 198.51.100.2") || refused(h, "198.51.100.1") {
			t.Error("a header of a stranger was believed")
		}
	})
	t.Run("of a named proxy", func(t *testing.T) {
		t.Parallel()
		h := limited(t, newWorld(), "10.1.0.0/16")
		exhaust(h, "10.1.2.3", "X-Forwarded-For: 203.0.113.9, 198.51.100.1") // the left one is what the client claimed
		if !refused(h, "10.1.2.3", "X-Forwarded-For: 198.51.100.1") || !refused(h, "198.51.100.1") {
			t.Error("the proxy was not believed")
		}
		if refused(h, "10.1.2.3", "X-Forwarded-For: 203.0.113.9") || refused(h, "10.1.2.3", "X-Forwarded-For: 198.51.100.2") {
			t.Error("what the client claimed was believed, or all behind the proxy are one")
		}
	})
	t.Run("a home has a network", func(t *testing.T) {
		t.Parallel()
		h := limited(t, newWorld())
		exhaust(h, "2001:db8:1:2::1")
		if !refused(h, "2001:db8:1:2:ffff::9") || refused(h, "2001:db8:1:3::1") {
			t.Error("IPv6 is counted by /64")
		}
	})
	if _, err := httpapi.ReadProxies([]string{"10.0.0.7", "::1", "10.0.0.0/8"}); err != nil {
		t.Error(err)
	}
	if _, err := httpapi.ReadProxies([]string{"proxy.example.com"}); err == nil {
		t.Error("a name is no address")
	}
}

// Metrics are open to this machine alone, whatever a header says.
func TestMetricsAreNotOpenedByAHeader(t *testing.T) {
	t.Parallel()
	h := limited(t, newWorld(), "127.0.0.1", "10.0.0.7")
	for _, tt := range []struct {
		address string
		headers []string
		want    int
	}{
		{"127.0.0.1", nil, 401}, // the proxy's own address
		{"127.0.0.2", nil, 200},
		{"192.0.2.1", []string{"X-Forwarded-For: 127.0.0.2"}, 401},
		{"10.0.0.7", []string{"X-Forwarded-For: 127.0.0.2"}, 401},
		{"127.0.0.2", []string{"X-Forwarded-For: 127.0.0.2"}, 401},
	} {
		if rec := from(t, h, "/metrics", tt.address, "", tt.headers...); rec.Code != tt.want {
			t.Errorf("%s %v: %d, want %d", tt.address, tt.headers, rec.Code, tt.want)
		}
	}
}

// A client that sends its header a byte at a time is let go, and costs the others nothing.
func TestAHeaderThatNeverEnds(t *testing.T) {
	t.Parallel()
	s := newWorld().door(nil)
	s.HeaderWithin(1) // a nanosecond
	url, _, _ := serve(t, s)
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /echo HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	if _, err := bufio.NewReader(c).ReadByte(); err != io.EOF {
		t.Errorf("the connection is still open: %v", err)
	}
}

// A header beyond 32 KiB is refused.
func TestAHugeHeader(t *testing.T) {
	t.Parallel()
	url, _, _ := serve(t, newWorld().door(nil))
	req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "good")
	req.Header.Set("X-Large", strings.Repeat("x", 64<<10))
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 431 {
		t.Errorf("%d", resp.StatusCode)
	}
}
