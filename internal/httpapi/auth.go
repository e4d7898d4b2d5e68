package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

type principalKey struct{}

// PrincipalFrom returns the principal of a request that came in at /mcp.
func PrincipalFrom(ctx context.Context) (ident.Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(ident.Principal)
	return p, ok
}

// WithPrincipal puts a principal where PrincipalFrom finds it.
func WithPrincipal(ctx context.Context, p ident.Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Keys are the static keys of the environment.
type Keys struct {
	hashes     [][32]byte
	principals []ident.Principal
}

// binding is one value of COORDINATION_API_KEY_IDENTITIES.
type binding struct {
	AgentID   string        `json:"agent_id"`
	AgentType string        `json:"agent_type"`
	Scopes    []ident.Scope `json:"scopes"`

	RateLimit   int `json:"rate_limit"`
	StreamLimit int `json:"stream_limit"`
}

// staticScopes are what a static key may do unless its identity says otherwise. Deciding over others' work
// (reviewer) and governing (admin) must be granted by name.
var staticScopes = []ident.Scope{ident.Read, ident.Write, ident.Runner}

// NewKeys reads static keys. identities is empty or a JSON object from key to {agent_id, agent_type, scopes,
// rate_limit, stream_limit}; it binds keys of the list and adds none. Blank keys admit nobody.
func NewKeys(keys []string, identities string) (*Keys, error) {
	bound := map[string]binding{}
	if strings.TrimSpace(identities) != "" {
		if err := json.Unmarshal([]byte(identities), &bound); err != nil {
			return nil, fmt.Errorf("COORDINATION_API_KEY_IDENTITIES: %w", withoutValue(err))
		}
	}
	k := &Keys{}
	for _, key := range keys {
		key = strings.TrimSpace(key)
		if key == "" {
			continue
		}
		h := sha256.Sum256([]byte(key))
		name := "key:env-" + hex.EncodeToString(h[:4])
		p := ident.Principal{Name: name, Key: name, Scopes: staticScopes}
		if b, ok := bound[key]; ok {
			p.Agent, p.AgentType, p.RateLimit, p.StreamLimit = b.AgentID, b.AgentType, b.RateLimit, b.StreamLimit
			if p.RateLimit < 0 || p.StreamLimit < 0 {
				return nil, errors.New("COORDINATION_API_KEY_IDENTITIES: rate_limit and stream_limit are not negative")
			}
			if len(b.Scopes) > 0 {
				p.Scopes = b.Scopes
			}
			for _, sc := range p.Scopes {
				if !slices.Contains([]ident.Scope{ident.Read, ident.Write, ident.Runner, ident.Reviewer, ident.Admin}, sc) {
					return nil, fmt.Errorf("COORDINATION_API_KEY_IDENTITIES: no scope %q", sc)
				}
			}
		}
		k.hashes, k.principals = append(k.hashes, h), append(k.principals, p)
	}
	return k, nil
}

// withoutValue keeps the place of a JSON error and drops its text, which may quote a key.
func withoutValue(err error) error {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("not JSON at byte %d", s.Offset)
	}
	return errors.New(`not an object like {"key": {"agent_id": "a", "agent_type": "t"}}`)
}

// find compares with every key, so that the time says nothing about which one was close.
func (k *Keys) find(key string) (ident.Principal, bool) {
	if k == nil || key == "" {
		return ident.Principal{}, false
	}
	h, at := sha256.Sum256([]byte(key)), -1
	for i := range k.hashes {
		if subtle.ConstantTimeCompare(h[:], k.hashes[i][:]) == 1 {
			at = i
		}
	}
	if at < 0 {
		return ident.Principal{}, false
	}
	return k.principals[at], true
}

// keyOf reads the key from the headers, in the order Authorization, X-Coordinator-API-Key, X-API-Key.
func keyOf(h http.Header) string {
	if scheme, key, ok := strings.Cut(h.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		if key = strings.TrimSpace(key); key != "" {
			return key
		}
	}
	if key := strings.TrimSpace(h.Get("X-Coordinator-Api-Key")); key != "" {
		return key
	}
	return strings.TrimSpace(h.Get("X-Api-Key"))
}

// localPrincipal is everybody on this machine when authentication is off.
var localPrincipal = ident.Principal{Name: "local", Scopes: []ident.Scope{ident.Admin}}

// authenticate returns whose key the request carries. Codes: unauthenticated, unavailable.
func (s *Server) authenticate(r *http.Request) (ident.Principal, error) {
	key := keyOf(r.Header)
	if p, ok := s.opts.Static.find(key); ok {
		return p, nil
	}
	if s.opts.Open {
		// A key still says who calls; a wrong one does not lock out whom no key would let in.
		if key != "" && s.opts.Auth != nil {
			if p, err := s.opts.Auth.Authenticate(r.Context(), key); err == nil {
				return p, nil
			}
		}
		return localPrincipal, nil
	}
	if key == "" || len(key) > 512 || s.opts.Auth == nil {
		why := "no key was sent"
		if key != "" {
			why = "the key is unknown"
		}
		return ident.Principal{}, fault.New(client.CodeUnauthenticated, "Invalid API key", why,
			"send a valid key in X-API-Key or as Authorization: Bearer; a person creates one with: coordctl keys create")
	}
	return s.opts.Auth.Authenticate(r.Context(), key)
}

// localOnly guards a door without keys: a page of another site must not reach it through the user's browser, neither
// by a name that was made to point here (Host) nor by a cross-site request (Origin).
func (s *Server) localOnly(c *gin.Context) {
	if !loopbackHost(c.Request.Host) {
		s.abort(c, fault.New(client.CodeForbidden, "this server answers to local names only", "authentication is off, so the Host header must be a loopback name",
			"call 127.0.0.1 or localhost, or turn authentication on"))
		return
	}
	if origin := c.GetHeader("Origin"); origin != "" && !slices.Contains(s.opts.Origins, origin) {
		if u, err := url.Parse(origin); err != nil || !loopbackHost(u.Host) {
			s.abort(c, fault.New(client.CodeForbidden, "pages of other sites may not call this server", "authentication is off and the Origin is not local",
				"turn authentication on, or name the origin in CORS_ORIGINS"))
		}
	}
}

// loopbackHost reports whether a Host header names this machine only.
func loopbackHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// LoopbackAddr reports whether a listener on addr (host:port) is reachable from this machine only.
func LoopbackAddr(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && host != "" && loopbackHost(net.JoinHostPort(host, "0"))
}

// cors answers browsers of the configured origins, preflights included.
func (s *Server) cors(c *gin.Context) {
	origin := c.GetHeader("Origin")
	if origin == "" {
		return
	}
	h := c.Writer.Header()
	h.Add("Vary", "Origin")
	if !slices.Contains(s.opts.Origins, origin) && !slices.Contains(s.opts.Origins, "*") {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, X-Unknown-Fields, Idempotency-Replayed, Retry-After, Mcp-Session-Id")
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, X-API-Key, X-Coordinator-API-Key, X-Agent-Id, X-Agent-Type, "+
			"X-Session-Id, X-Project, X-Repository, X-Request-Id, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "600")
		c.AbortWithStatus(http.StatusNoContent)
	}
}
