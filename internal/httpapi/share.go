package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/limit"
)

// Limits say how much one key may ask for. A key's own limits win. What comes straight from this machine counts against
// a key's own limits only: who shares the machine shares its processors anyway.
type Limits struct {
	Rate    int // requests a second; 0: no limit
	Streams int // waiting calls and open streams at a time; 0: no limit
}

// Face says how a server stands towards other machines. The zero value speaks plain HTTP, believes no proxy and sets no
// limit.
type Face struct {
	Limits  Limits         // of keys that have none of their own
	Proxies []netip.Prefix // whose X-Forwarded-For is believed
	TLS     *tls.Config
}

// Outside reads a face from the configuration.
func Outside(e config.Exposure, log *slog.Logger) (f Face, err error) {
	if f.Proxies, err = ReadProxies(e.ProxyList()); err != nil {
		return f, fmt.Errorf("TRUSTED_PROXIES: %w", err)
	}
	if e.RateLimit < 0 || e.StreamLimit < 0 {
		return f, errors.New("COORD_RATE_LIMIT and COORD_STREAM_LIMIT are not negative")
	}
	f.Limits = Limits{Rate: e.RateLimit, Streams: e.StreamLimit}
	f.TLS, err = LoadTLS(e.TLSCert, e.TLSKey, log)
	return f, err
}

const (
	failedRate  = 10              // attempts with unknown keys a second that one address may make; five seconds' worth at once
	streamPause = 5 * time.Second // after which a refused stream may be tried again
	knownKeys   = 20_000          // that are remembered as good
)

// shares counts what callers ask for.
type shares struct {
	limits   Limits
	keys     *limit.Limiter
	failures *limit.Limiter // attempts with unknown keys by address
	known    knownSet
}

func newShares(l Limits) *shares {
	return &shares{limits: l, keys: limit.New(nil), failures: limit.New(nil), known: knownSet{hashes: map[[32]byte]struct{}{}}}
}

// Watch registers counters of what callers asked for beyond their share.
func (s *Server) Watch(counter func(name, help string, read func() float64)) {
	requests := func() float64 { n, _ := s.shares.keys.Refused(); return float64(n) }
	streams := func() float64 { _, n := s.shares.keys.Refused(); return float64(n) }
	attempts := func() float64 { n, _ := s.shares.failures.Refused(); return float64(n) }
	counter("coord_limited_requests_total", "Requests refused because their key had made too many.", requests)
	counter("coord_limited_streams_total", "Waiting calls and streams refused because their key had too many open.", streams)
	counter("coord_limited_attempts_total", "Requests refused because their address had sent too many unknown keys.", attempts)
}

// knownSet remembers keys that were good, so that somebody who tries others from the same address does not lock them out.
type knownSet struct {
	mu     sync.Mutex
	hashes map[[32]byte]struct{}
}

func (k *knownSet) add(key string) {
	h := sha256.Sum256([]byte(key))
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.hashes) >= knownKeys {
		clear(k.hashes)
	}
	k.hashes[h] = struct{}{}
}

func (k *knownSet) has(key string) bool {
	h := sha256.Sum256([]byte(key))
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.hashes[h]
	return ok
}

// origin is where a request comes from: the address that a trusted proxy names, else the connection's own.
type origin struct {
	address string
	local   bool // straight from this machine
}

type originKey struct{}

// forwarded are the headers by which a proxy says for whom it asks.
var forwarded = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"}

// originOf reads the origin; gin knows the trusted proxies.
func (s *Server) originOf(c *gin.Context) origin {
	o := origin{address: c.ClientIP()}
	if ip, err := netip.ParseAddr(o.address); err == nil && ip.Is6() && !ip.Is4In6() { // a provider gives a home a /64
		if p, err := ip.Prefix(64); err == nil {
			o.address = p.String()
		}
	}
	host, _, _ := net.SplitHostPort(c.Request.RemoteAddr)
	ip := net.ParseIP(host)
	o.local = ip != nil && ip.IsLoopback() && !s.proxied(ip)
	for _, h := range forwarded {
		o.local = o.local && c.Request.Header.Get(h) == ""
	}
	return o
}

// proxied reports whether ip is a trusted proxy's: what comes from there comes from elsewhere.
func (s *Server) proxied(ip net.IP) bool {
	a, ok := netip.AddrFromSlice(ip)
	if !ok {
		return false
	}
	for _, p := range s.proxies {
		if p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// ReadProxies reads addresses and networks of proxies, such as 10.0.0.7 or 10.1.0.0/16.
func ReadProxies(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, err := netip.ParseAddr(text)
			if err != nil {
				return nil, fmt.Errorf("%q is no address such as 10.0.0.7 and no network such as 10.1.0.0/16", text)
			}
			p = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// admit authenticates a request and counts it. Codes: unauthenticated, unavailable, exhausted.
func (s *Server) admit(r *http.Request, o origin) (ident.Principal, error) {
	p, err := s.recognise(r, o)
	if err != nil {
		return p, err
	}
	perSecond := p.RateLimit
	if perSecond == 0 && !o.local {
		perSecond = s.shares.limits.Rate
	}
	if p.Key == "" {
		return p, nil
	}
	if wait, ok := s.shares.keys.Take(p.Key, perSecond); !ok {
		return p, exhausted(wait, "too many requests with this key", fmt.Sprintf("the limit of %s is %d requests a second", p.Key, perSecond),
			"repeat the call in %d s, with the same request key if it changes something; an administrator may raise the limit: coordctl keys limit")
	}
	return p, nil
}

// recognise authenticates. An address that sent many unknown keys is refused without the database being asked, unless
// the key was good before.
func (s *Server) recognise(r *http.Request, o origin) (ident.Principal, error) {
	key := keyOf(r.Header)
	if o.local || key == "" {
		return s.authenticate(r)
	}
	if wait, empty := s.shares.failures.Empty(o.address, failedRate); empty && !s.shares.known.has(key) {
		return ident.Principal{}, exhausted(wait, "too many unknown keys from this address", "", "wait %d s and send a valid key")
	}
	p, err := s.authenticate(r)
	switch {
	case err == nil:
		s.shares.known.add(key)
	case fault.Is(err, client.CodeUnauthenticated):
		s.shares.failures.Take(o.address, failedRate)
	}
	return p, err
}

// enter counts a waiting call or a stream of p; leave ends it. Code: exhausted.
func (s *Server) enter(p ident.Principal, o origin) (leave func(), err error) {
	most := p.StreamLimit
	if most == 0 && !o.local {
		most = s.shares.limits.Streams
	}
	if p.Key == "" {
		return func() {}, nil
	}
	leave, ok := s.shares.keys.Enter(p.Key, most)
	if !ok {
		return nil, exhausted(streamPause, "too many waiting calls and streams with this key", fmt.Sprintf("the limit of %s is %d at a time", p.Key, most),
			"end some, or try again in %d s; an administrator may raise the limit: coordctl keys limit")
	}
	return leave, nil
}

func exhausted(wait time.Duration, what, why, next string) *fault.Error {
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	f := fault.New(client.CodeExhausted, what, why, fmt.Sprintf(next, seconds))
	f.RetryAfter = seconds
	return f
}

// withOrigin keeps the origin for handlers that authenticate by themselves, through Authenticate.
func withOrigin(ctx context.Context, o origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}
