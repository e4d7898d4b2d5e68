package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

// process is one running server.
type process struct {
	cfg     config.MCP
	log     *slog.Logger
	cat     *op.Catalogue // declarations; what runs has one of its own
	invoker mcpapi.Invoker
	local   *backend // nil in remote mode
	remote  *mcpapi.Remote
	place   *place
	ident   *mcpapi.Process
	keeper  *mcpapi.Keeper
	door    *mcpapi.Door
}

func newProcess(cfg config.MCP, log *slog.Logger) (*process, error) {
	p := &process{cfg: cfg, log: log, cat: ops.Catalogue(ops.Deps{})}
	if url := cfg.Remote.URL(); url != "" {
		r, err := mcpapi.NewRemote(url, cfg.Key)
		if err != nil {
			return nil, fmt.Errorf("COORDINATION_API_URL: %w", err)
		}
		p.invoker, p.remote = r, r
	} else {
		p.local = newBackend(cfg, log)
		p.invoker = p.local
	}
	p.place = newPlace(p.cat, p.invoker, cfg.Project, p.remote != nil)
	p.ident = &mcpapi.Process{
		Agent: cfg.ID, AgentType: cfg.Type, Session: cfg.Session(), Host: mcpapi.HostName(), User: mcpapi.UserName(), Place: p.place.of,
	}
	if p.remote != nil {
		p.ident.Bound = p.place.bound
	}
	p.keeper = mcpapi.NewKeeper(p.cat, p.invoker, p.ident.OwnSession, log)
	opt := mcpapi.Options{
		Version: version.String(), Full: strings.EqualFold(cfg.ToolProfile, "full"), Identify: p.ident.Identify,
		Paths: p.place, Keeper: p.keeper, Complete: p.place.complete, Log: log,
		Extra: conformanceOptions(),
	}
	if p.local != nil {
		opt.Notices = mcpapi.NoticesFunc(p.local.notices)
	}
	p.door = mcpapi.New(p.cat, p.invoker, opt)
	addFixtures(p.door.MCP())
	return p, nil
}

// endWithin bounds ending the sessions at an orderly end. Hosts kill a server that stays longer.
const endWithin = 1500 * time.Millisecond

// background runs what keeps the process useful until stop is called, also after parent's end: calls are being
// finished then. stop ends the sessions.
func (p *process) background(parent context.Context, stdio mcpapi.Updater) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	var wg sync.WaitGroup
	wg.Go(func() { p.keeper.Run(ctx) })
	wg.Go(func() { p.place.warm(ctx) })
	if p.local != nil {
		wg.Go(func() { p.local.run(ctx, p.door, stdio) })
	}
	return func() {
		ectx, done := context.WithTimeout(ctx, endWithin)
		p.keeper.End(ectx)
		done()
		cancel()
		finished := make(chan struct{})
		go func() { wg.Wait(); close(finished) }()
		select { // a start of Postgres that is under way is left behind: the next process joins it
		case <-finished:
		case <-time.After(endWithin):
		}
		if p.remote != nil {
			p.remote.Close()
		}
	}
}

func (p *process) serveStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	srv := mcpstdio.New(p.door.MCP(), mcpstdio.WithLogger(p.log))
	stop := p.background(ctx, srv)
	defer stop()
	return srv.Serve(ctx, in, out)
}

// serveHTTP is for tests and for hosts that cannot start a process: everybody who reaches the loopback address is this
// machine's user, as on stdio.
func (p *process) serveHTTP(ctx context.Context, o options) error {
	if ip := net.ParseIP(o.host); o.host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errors.New("--host must be a loopback address: this transport asks for no key; use cmd/api's /mcp for other machines")
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(o.host, fmt.Sprint(o.port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	local := ident.Principal{Name: "local", Scopes: []ident.Scope{ident.Read, ident.Write}}
	handler, closeStreams := p.door.HTTPHandler(func(context.Context) (ident.Principal, bool) { return local, true })
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	if o.transport == "sse" {
		sse := server.NewSSEServer(p.door.MCP(), server.WithKeepAlive(true))
		mux.Handle("/sse", sse.SSEHandler())
		mux.Handle("/message", sse.MessageHandler())
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug)}
	stop := p.background(ctx, nil)
	defer stop()
	fmt.Fprintf(os.Stderr, "mcp-server listens on http://%s/mcp\n", ln.Addr())
	unwatch := context.AfterFunc(ctx, func() {
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mcpstdio.DefaultGrace)
		defer cancel()
		closeStreams(sctx)
		_ = srv.Shutdown(sctx) // what is still running then is cut
		_ = srv.Close()
	})
	defer unwatch()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
