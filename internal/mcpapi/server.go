package mcpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// Invoker runs an operation. *op.Pipeline does it in this process, *Remote over HTTP. Every error is a *fault.Error.
type Invoker interface {
	Call(ctx context.Context, d *op.Def, r op.Request) (op.Response, error)
}

// NoticeSource hands over waiting notices of the caller's session, at most MaxNotices of them.
type NoticeSource interface {
	Notices(ctx context.Context, c ident.Caller) (client.Notices, error)
}

// NoticesFunc makes a NoticeSource of a function.
type NoticesFunc func(ctx context.Context, c ident.Caller) (client.Notices, error)

// Notices calls f.
func (f NoticesFunc) Notices(ctx context.Context, c ident.Caller) (client.Notices, error) {
	return f(ctx, c)
}

// News tells which topics changed (see internal/dispatch); "" means that anything may have.
type News interface {
	Observe(fn func(topic string)) (stop func())
}

// Identify says who a request acts for. meta is the request's _meta, never nil.
type Identify func(ctx context.Context, meta map[string]any) (ident.Principal, ident.Claim, error)

// PathMapper translates paths as agents write them into repository-relative ones.
type PathMapper interface {
	Relative(ctx context.Context, path string) (string, error)
}

// Options are the parts of a door that differ between a stdio server and /mcp.
type Options struct {
	Version  string   // of the program, as serverInfo says it
	Full     bool     // list the full tool profile
	Identify Identify // needed
	Paths    PathMapper
	Notices  NoticeSource // nil: there are none, or they come inside replies
	Keeper   *Keeper      // nil: sessions are not kept alive from here
	Complete func(prefix string) []string
	Log      *slog.Logger
	// Extra are further options of the mcp-go server (the conformance build).
	Extra []server.ServerOption
	// CheckOutput validates every result against its tool's output schema (tests).
	CheckOutput bool
}

// Door is an MCP server over a catalogue.
type Door struct {
	cat     *op.Catalogue
	inv     Invoker
	opt     Options
	mcp     *server.MCPServer
	notices *noticeGate
	subs    *subscriptions

	projectMu sync.Mutex
	projects  map[int64]bool // that calls went to
}

// DefaultServerName is what hosts see as the server's name.
const DefaultServerName = "agent-coordinator"

// New builds the door. inv may answer unavailable for as long as its database is not there yet.
func New(cat *op.Catalogue, inv Invoker, opt Options) *Door {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	d := &Door{
		cat: cat, inv: inv, opt: opt, notices: newNoticeGate(opt.Notices), subs: newSubscriptions(), projects: map[int64]bool{},
	}
	hooks := &server.Hooks{}
	d.subs.hook(hooks)
	opts := []server.ServerOption{
		server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true),
		// Nothing is ever logged to a client; clients of old revisions set a level all the same.
		server.WithLogging(),
		server.WithCompletions(), server.WithPromptCompletionProvider(completer(opt.Complete)),
		server.WithTitle("Agent Coordinator"), server.WithInstructions(instructions(cat)),
		server.WithRecovery(), server.WithResourceRecovery(), server.WithHooks(hooks),
		// Lists change with the program only; what a resource says may be another thing the next moment.
		server.WithCacheHints(60_000, mcp.CacheScopePublic), server.WithMethodCacheHints(mcp.MethodResourcesRead, 0, mcp.CacheScopePrivate),
	}
	if opt.CheckOutput {
		opts = append(opts, server.WithOutputSchemaValidation())
	}
	version := opt.Version
	if version == "" {
		version = "dev"
	}
	d.mcp = server.NewMCPServer(DefaultServerName, version, append(opts, opt.Extra...)...)
	d.addTools()
	d.addResources()
	d.addPrompts()
	return d
}

// MCP is the server to be served by a transport.
func (d *Door) MCP() *server.MCPServer { return d.mcp }

// quietGap is the pause between the last progress and the result where the transport does not see to it itself.
const quietGap = mcpstdio.DefaultQuietGap

// pause waits for the quiet gap, or less when the call ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
