// Package apiserver wires the API server: pool, data layer, waiting room, catalogue, pipeline, door and loops. cmd/api
// runs it as a process, coordctl inside its own.
//
// Run returns when ctx is done, after a drain of at most ten seconds. A database that is away when the server starts
// or later is no failure: calls answer 503 until it is back. A database whose schema is older than the program is one.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/live"
	"github.com/agent-coordinator/agent-coordinator/internal/llm"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgnotify"
	"github.com/agent-coordinator/agent-coordinator/internal/pooler"
	"github.com/agent-coordinator/agent-coordinator/internal/supa"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
	"github.com/agent-coordinator/agent-coordinator/internal/web"
)

// Config is what the server runs with. Log may be nil.
type Config struct {
	config.API
	Log *slog.Logger
}

// ErrNoDatabase means that no connection string is set.
var ErrNoDatabase = errors.New("no database: set COORD_DATABASE_URL, or start everything with: coordctl up")

// ErrOpenDoor means that authentication is off on an address that others can reach.
var ErrOpenDoor = errors.New("AUTH_ENABLED=false is honoured on loopback addresses only; set API_ADDR to 127.0.0.1:port")

// Run serves until ctx is done. ready, when not nil, is called once with the address it listens on.
func Run(ctx context.Context, cfg Config, ready func(addr string)) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.URL() == "" {
		return ErrNoDatabase
	}
	if !cfg.AuthEnabled && !httpapi.LoopbackAddr(cfg.Addr) {
		return ErrOpenDoor
	}
	if !slices.Contains([]string{"stale", "all", "none"}, cfg.RecoveryMode) {
		return errors.New("RUN_RECOVERY_MODE must be stale, all or none")
	}
	static, err := httpapi.NewKeys(cfg.KeyList(), cfg.KeyIdentities)
	if err != nil {
		return err
	}
	face, err := httpapi.Outside(cfg.Exposure, cfg.Log)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return fmt.Errorf("API_ADDR: %w", err)
	}
	defer func() { _ = ln.Close() }() // Serve closed it already; this is for the paths that never get there
	pool, err := coord.Open(ctx, cfg.URL(), cfg.MaxConns)
	if err != nil {
		return err
	}
	defer pool.Close()
	s := assemble(cfg, pool, static, face)
	defer s.endStreams(ctx)
	if err := s.useSupabase(); err != nil {
		return err
	}
	known, err := s.checkSchema(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	if !known {
		g.Go(func() error { return s.awaitSchema(ctx) })
	}
	g.Go(func() error { s.news.Run(ctx, s.hub); return nil })
	g.Go(func() error { s.live.Run(ctx); return nil })
	g.Go(func() error { return s.followSupabase(ctx) })
	g.Go(func() error { s.deliverCallbacks(ctx); return nil })
	g.Go(func() error { s.keepBlueprints(ctx); return nil })
	g.Go(func() error { s.tellNewClasses(ctx); return nil })
	for _, l := range s.loops() {
		g.Go(func() error { return l.Run(ctx) })
	}
	g.Go(func() error { return s.door.Serve(ctx, ln) })
	cfg.Log.InfoContext(ctx, "API listens", "addr", ln.Addr().String(), "version", version.String())
	if ready != nil {
		ready(ln.Addr().String())
	}
	return g.Wait()
}

// server is the assembled process.
type server struct {
	cfg     Config
	store   *coord.Store
	hub     *dispatch.Hub
	news    *pgnotify.Notifier
	metrics *obs.Metrics
	door    *httpapi.Server

	supabase *supa.Link // what is used of a Supabase project

	live        *live.Hub
	callbacks   chan struct{}         // a parent may have to be told
	blueprints  chan struct{}         // a blueprint changed
	classes     chan struct{}         // there is a new kind of task
	recovered   atomic.Bool           // runs of lost runners were taken up after the start
	schemaKnown atomic.Bool           // the schema was found fit: before that the server is not ready
	endStreams  func(context.Context) // closes what MCP clients left open
}

func assemble(cfg Config, pool *pgxpool.Pool, static *httpapi.Keys, face httpapi.Face) *server {
	s := &server{cfg: cfg, store: coord.New(pool), metrics: obs.NewMetrics(version.String())}
	s.news = pgnotify.New(pgnotify.Config{Pool: pool, ListenDSN: pooler.Session(cfg.DirectURL()), Log: cfg.Log})
	s.hub = dispatch.New(s.news.Send)
	s.store.WakeTo(s.hub)
	if cfg.LLMURL != "" {
		s.store.SummariseWith(llm.New(cfg.LLMURL, cfg.LLMKey, cfg.LLMModel))
	}
	if cfg.EmbeddingsURL != "" {
		s.store.EmbedWith(llm.New(cfg.EmbeddingsURL, cfg.EmbeddingsKey, cfg.EmbeddingsModel))
	}
	watchPool(s.metrics, pool)
	s.watchFigures()
	s.orchestrate()
	s.metrics.Counter("coord_notify_reconnects_total", "Times the notification listener lost its connection or got none.", func() float64 { return float64(s.news.Stats().Reconnects) })
	s.metrics.Counter("coord_notify_sent_total", "Notifications sent to other processes.", func() float64 { return float64(s.news.Stats().Sent) })
	s.metrics.Counter("coord_notify_heard_total", "Notifications of other processes.", func() float64 { return float64(s.news.Stats().Heard) })
	s.metrics.Gauge("coord_waiters", "Calls that wait for something.", func() float64 { return float64(s.hub.Parked()) })
	cat := ops.Catalogue(ops.Deps{Store: s.store, Hub: s.hub})
	pipe := &op.Pipeline{Resolver: s.store, Once: s.store, Observe: s.metrics.Observe, Log: cfg.Log}
	tools := mcpapi.New(cat, pipe, mcpapi.Options{
		Version: version.String(), Full: strings.EqualFold(cfg.ToolProfile, "full"), Identify: mcpapi.IdentifyHTTP,
		Notices: mcpapi.NoticesFunc(notices{s.store}.Notices), Log: cfg.Log,
	})
	unwatch := tools.Watch(s.hub, nil)
	streams, closeStreams := tools.HTTPHandler(httpapi.PrincipalFrom)
	s.endStreams = func(ctx context.Context) { unwatch(); closeStreams(context.WithoutCancel(ctx)) }
	s.door = httpapi.New(cat, pipe, httpapi.Options{
		Auth: s.store, Static: static, Open: !cfg.AuthEnabled, Origins: cfg.Origins(), Version: version.String(),
		Ping: s.ping, Notices: notices{s.store}, Observe: s.hub.Observe, MCP: streams,
		Polls: runnerPolls{s.store, s.hub}, Live: liveFeed{s.store, s.live},
		Metrics: s.metrics.Handler(), InFlight: s.metrics.InFlight, Log: cfg.Log, Face: face,
		Signed: map[string]httpapi.BodyCheck{"/webhook/agent": httpapi.SignedByAgent(config.List(cfg.AgentSecrets))},
	})
	s.door.Watch(s.metrics.Counter)
	s.door.Mount("/ui", web.New(web.Options{Catalogue: cat, Pipeline: pipe, Authenticate: s.door.Authenticate, Observe: s.hub.Observe, Log: cfg.Log}))
	return s
}

// noticesPerReply keeps what a reply carries beside its own answer small.
const noticesPerReply = 3

// notices adapts the data layer to the door.
type notices struct{ store *coord.Store }

func (n notices) Notices(ctx context.Context, c ident.Caller) (client.Notices, error) {
	return n.store.TakeNotices(ctx, c, noticesPerReply)
}

func watchPool(m *obs.Metrics, pool *pgxpool.Pool) {
	m.Gauge("coord_db_connections", "Open connections of the pool.", func() float64 { return float64(pool.Stat().TotalConns()) })
	m.Gauge("coord_db_connections_busy", "Connections in use.", func() float64 { return float64(pool.Stat().AcquiredConns()) })
	m.Gauge("coord_db_connections_max", "Most connections the pool may open.", func() float64 { return float64(pool.Stat().MaxConns()) })
	m.Counter("coord_db_uses_total", "Times a connection was taken out of the pool: about one a statement.", func() float64 { return float64(pool.Stat().AcquireCount()) })
	m.Counter("coord_db_waits_total", "Times a call waited for a connection.", func() float64 { return float64(pool.Stat().EmptyAcquireCount()) })
	m.Counter("coord_db_wait_seconds_total", "Time spent waiting for connections.", func() float64 { return pool.Stat().EmptyAcquireWaitTime().Seconds() })
}

// ping says whether calls can succeed.
func (s *server) ping(ctx context.Context) error {
	if err := s.store.Ping(ctx); err != nil {
		return err
	}
	if !s.schemaKnown.Load() {
		return errors.New("the schema is not known yet")
	}
	return nil
}

// schemaRetry is how often a database that was away at the start is asked for its schema.
const schemaRetry = 2 * time.Second

// checkSchema reports whether the database could be asked, and fails when its schema is too old. It migrates first
// when the configuration says so. A newer schema is fine: older programs keep working beside newer ones.
func (s *server) checkSchema(ctx context.Context) (known bool, err error) {
	url := s.cfg.DirectURL()
	ask, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.store.Ping(ask); err != nil {
		if ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "the database does not answer yet; calls get 503 until it does", "err", err)
		}
		return false, ctx.Err()
	}
	if s.cfg.AutoMigrate {
		report, err := migrate.Up(ctx, url, migrate.Options{Log: s.cfg.Log})
		if err != nil {
			return false, fmt.Errorf("COORD_AUTO_MIGRATE: %w", err)
		}
		s.cfg.Log.InfoContext(ctx, "schema is current", "version", report.To, "applied", len(report.Applied))
		s.schemaKnown.Store(true)
		return true, nil
	}
	status, err := migrate.ReadStatus(ask, url, migrate.Options{})
	switch {
	case err != nil && ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		s.cfg.Log.WarnContext(ctx, "the database's schema could not be read; asking again", "err", err)
		return false, nil
	case len(status.Pending) > 0:
		return true, fmt.Errorf("the database's schema (%d) is older than this program needs (%d): run coordctl migrate, or set COORD_AUTO_MIGRATE=1",
			status.Version, status.Latest)
	}
	s.schemaKnown.Store(true)
	return true, nil
}

// awaitSchema asks until the database answers.
func (s *server) awaitSchema(ctx context.Context) error {
	tick := time.NewTicker(schemaRetry)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if known, err := s.checkSchema(ctx); known || err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}
