package supa

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// supabase-go has no way to give a call a context, a timeout or other headers: its HTTP client is private and ends in
// http.DefaultTransport. That transport, however, takes schemes of others. So a client is made for each call with the
// address "coord-supabase://<number>", and the transport of that scheme finds the call by its number.
const scheme = "coord-supabase"

const maxReply = 64 << 20 // bytes

// call is one request through supabase-go.
type call struct {
	ctx    context.Context
	base   *url.URL
	key    string
	via    *http.Transport
	status int // HTTP status of the reply, 0: none came
}

var (
	calls    sync.Map // number → *call
	lastCall atomic.Uint64
)

// register teaches http.DefaultTransport the scheme, once in a process.
var register = sync.OnceValue(func() error {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return errors.New("http.DefaultTransport was replaced; the Data API is not used")
	}
	t.RegisterProtocol(scheme, roundTripper{})
	return nil
})

// begin makes the address for one call; end forgets it.
func begin(c *call) (address string, end func()) {
	n := strconv.FormatUint(lastCall.Add(1), 10)
	calls.Store(n, c)
	return scheme + "://" + n, func() { calls.Delete(n) }
}

type roundTripper struct{}

// RoundTrip sends the request to the project's real address with the call's context and key.
func (roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	v, ok := calls.Load(req.URL.Host)
	if !ok {
		return nil, errors.New("a request outside its call")
	}
	c, ok := v.(*call)
	if !ok {
		return nil, errors.New("a request outside its call")
	}
	out := req.Clone(c.ctx)
	out.URL.Scheme, out.URL.Host, out.URL.Path = c.base.Scheme, c.base.Host, c.base.Path+req.URL.Path
	out.Host = ""
	if opaque(c.key) {
		out.Header.Del("Authorization")
	}
	out.Header.Set("User-Agent", "agent-coordinator")
	res, err := c.via.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	c.status = res.StatusCode
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		_ = res.Body.Close()
		return nil, fmt.Errorf("the Data API answered %s with %q, not JSON", res.Status, res.Header.Get("Content-Type"))
	}
	res.Body = &bounded{res.Body, maxReply}
	return res, nil
}

// bounded fails a reply that is larger than left bytes, and closes it when it was read: the library leaves replies of
// errors open.
type bounded struct {
	io.ReadCloser
	left int64
}

var errTooLarge = errors.New("the Data API's reply is larger than 64 MiB")

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, errTooLarge
	}
	if err != nil {
		_ = b.Close()
	}
	return n, err
}

// newTransport is the transport that reaches the project.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 2 * time.Second, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
	}
}
