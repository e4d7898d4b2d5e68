package mcpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
)

const (
	httpHeartbeat = 25 * time.Second // proxies cut streams that are silent for 30 s or more
	httpIdle      = 30 * time.Minute // after which a session of an old client is forgotten
)

type httpKey struct{}

// httpCaller is what the HTTP request says about who calls.
type httpCaller struct {
	principal ident.Principal
	known     bool
	claim     ident.Claim
}

// HTTPHandler serves the door over streamable HTTP, for both protocol eras. principal returns who authenticated the
// request (its context is the argument). closeStreams ends old clients' open streams; those of others end with their
// requests.
func (d *Door) HTTPHandler(principal func(context.Context) (ident.Principal, bool)) (h http.Handler, closeStreams func(context.Context)) {
	srv := server.NewStreamableHTTPServer(d.mcp,
		server.WithStateful(true),
		server.WithHeartbeatInterval(httpHeartbeat), server.WithSessionIdleTTL(httpIdle),
		server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)),
		server.WithHTTPContextFunc(func(ctx context.Context, r *http.Request) context.Context {
			c := httpCaller{claim: claimFromHeaders(r.Header)}
			c.principal, c.known = principal(r.Context())
			if c.claim.Session == "" {
				c.claim.Session = r.Header.Get(server.HeaderKeySessionID)
			}
			return context.WithValue(ctx, httpKey{}, c)
		}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mcpstdio.DefaultMaxMessage)
		srv.ServeHTTP(w, r)
	}), func(ctx context.Context) { _ = srv.Shutdown(ctx) } // closes the streams and ends the sweeper of idle sessions; it owns no listener
}

func claimFromHeaders(h http.Header) ident.Claim {
	return ident.Claim{
		Project: h.Get("X-Project"), Repository: h.Get("X-Repository"), Agent: h.Get("X-Agent-Id"),
		AgentType: h.Get("X-Agent-Type"), Session: h.Get("X-Session-Id"),
	}
}

// IdentifyHTTP implements Identify for HTTPHandler: the principal is the key's; the agent is the header's, else the
// one the key is bound to, else the key's own name, so that a host that can only set a key works too.
func IdentifyHTTP(ctx context.Context, meta map[string]any) (ident.Principal, ident.Claim, error) {
	c, ok := ctx.Value(httpKey{}).(httpCaller)
	if !ok || !c.known {
		return ident.Principal{}, ident.Claim{}, fault.New(client.CodeUnauthenticated, "no key was sent", "", "send a valid key in X-API-Key")
	}
	claim := c.claim
	claim.AgentType = cmp.Or(claim.AgentType, c.principal.AgentType, agentType(clientName(ctx, meta)))
	if claim.Agent == "" && c.principal.Agent == "" {
		_, name, _ := strings.Cut(c.principal.Name, ":")
		claim.Agent = cmp.Or(slug(name, 120), "mcp")
	}
	claim.Session = cmp.Or(sessionFromMeta(meta), claim.Session)
	return c.principal, claim, nil
}

// boundProject is the project that a request's key is bound to, 0: any.
func boundProject(ctx context.Context) int64 {
	c, _ := ctx.Value(httpKey{}).(httpCaller)
	return c.principal.ProjectID
}
