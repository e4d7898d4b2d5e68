// Package gatewayserver is the verification gateway put together: pool, data layer, places of verification, door and
// stages. cmd/gateway and coordctl up run it. It shares the database with the API and nothing else.
//
// A database that is away when it starts or later is no failure: webhooks answer 503 until it is back, and what was
// accepted before is taken up again.
package gatewayserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/chat"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/loop"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgnotify"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

// Config is what the gateway runs with. Log may be nil.
type Config struct {
	config.GatewayServer
	Dir string // state folder: mirrors of repositories, caches of tools
	Log *slog.Logger
	// Places, when not nil, replaces the places of verification that the environment configures; Forge likewise.
	Places func() ([]gateway.Place, error)
	Forge  gateway.Forge
}

// ErrNoDatabase means that no connection string is set.
var ErrNoDatabase = errors.New("no database: set COORD_DATABASE_URL, or start everything with: coordctl up")

// ErrOpenDoor means that authentication is off on an address that others can reach.
var ErrOpenDoor = errors.New("AUTH_ENABLED=false is honoured on loopback addresses only; set GATEWAY_ADDR to 127.0.0.1:port")

// Run serves until ctx is done. ready, when not nil, is called once with the address it listens on.
func Run(ctx context.Context, cfg Config, ready func(addr string)) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.URL() == "" {
		return ErrNoDatabase
	}
	if !cfg.AuthEnabled && !httpapi.LoopbackAddr(cfg.Gateway.Addr) {
		return ErrOpenDoor
	}
	static, err := httpapi.NewKeys(cfg.KeyList(), cfg.KeyIdentities)
	if err != nil {
		return err
	}
	face, err := httpapi.Outside(cfg.Exposure, cfg.Log)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Gateway.Addr)
	if err != nil {
		return fmt.Errorf("GATEWAY_ADDR: %w", err)
	}
	defer func() { _ = ln.Close() }() // Serve closed it already; this is for the paths that never get there
	pool, err := coord.Open(ctx, cfg.URL(), cfg.MaxConns)
	if err != nil {
		return err
	}
	defer pool.Close()
	s, err := assemble(cfg, pool, static, face)
	if err != nil {
		return err
	}
	defer s.close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { s.news.Run(ctx, s.hub); return nil })
	g.Go(func() error {
		if err := s.awaitSchema(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		return s.gateway.Run(ctx)
	})
	g.Go(func() error { return s.door.Serve(ctx, ln) })
	for _, do := range s.prepare {
		g.Go(func() error { do(ctx); return nil })
	}
	for _, l := range s.loops {
		g.Go(func() error { return l.Run(ctx) })
	}
	cfg.Log.InfoContext(ctx, "gateway listens", "addr", ln.Addr().String(), "version", version.String(), "owner", s.gateway.Owner())
	if ready != nil {
		ready(ln.Addr().String())
	}
	return g.Wait()
}

// server is the assembled process.
type server struct {
	cfg         Config
	store       *coord.Store
	hub         *dispatch.Hub
	news        *pgnotify.Notifier
	metrics     *obs.Metrics
	gateway     *gateway.Gateway
	door        *httpapi.Server
	closers     []func()
	loops       []loop.Loop             // that clean up after the places
	prepare     []func(context.Context) // what is done once in the background after the start
	schemaKnown atomic.Bool
	figures     atomic.Pointer[coord.GatewayState]
}

func (s *server) close() {
	for _, f := range s.closers {
		f()
	}
}

func assemble(cfg Config, pool *pgxpool.Pool, static *httpapi.Keys, face httpapi.Face) (*server, error) {
	s := &server{cfg: cfg, store: coord.New(pool), metrics: obs.NewMetrics(version.String())}
	s.news = pgnotify.New(pgnotify.Config{Pool: pool, ListenDSN: listenURL(cfg.Database), Log: cfg.Log})
	s.hub = dispatch.New(s.news.Send)
	s.store.WakeTo(s.hub)
	gw, err := s.places()
	if err != nil {
		s.close()
		return nil, err
	}
	gw.Store, gw.Report, gw.Log = s.store, s.metrics.Ran, cfg.Log
	gw.Secrets, gw.Page = []string{cfg.WebhookSecret, cfg.WebhookSecretBefore}, cfg.PageURL
	if cfg.NotifyURL != "" {
		if gw.Notify, err = chat.New(cfg.NotifyURL, nil); err != nil {
			s.close()
			return nil, fmt.Errorf("NOTIFY_WEBHOOK_URL: %w", err)
		}
	}
	s.gateway = gateway.New(gw)
	s.closers = append(s.closers, s.hub.Observe(s.gateway.Hear))
	s.watch()
	cat := ops.GatewayCatalogue(ops.Deps{Store: s.store, Hub: s.hub})
	pipe := &op.Pipeline{Resolver: s.store, Once: s.store, Observe: s.metrics.Observe, Log: cfg.Log}
	s.door = httpapi.New(cat, pipe, httpapi.Options{
		Auth: s.store, Static: static, Open: !cfg.AuthEnabled, Origins: cfg.Origins(), Version: version.String(), Ping: s.ping,
		Metrics: s.metrics.Handler(), InFlight: s.metrics.InFlight, Log: cfg.Log, Face: face,
		Webhooks: map[string]httpapi.Webhook{"/webhook/github": s.gateway.ReceiveGitHub},
		Signed:   map[string]httpapi.BodyCheck{"/webhook/agent": httpapi.SignedByAgent(config.List(cfg.AgentSecrets))},
	})
	s.door.Watch(s.metrics.Counter)
	return s, nil
}

// listenURL is a connection string on which LISTEN works, empty when there is none: a transaction pooler hands its
// connections to others. Without one, stages look again every two seconds.
func listenURL(d config.Database) string {
	url := d.DirectURL()
	if c, err := pgconn.ParseConfig(url); err != nil || c.Port == 6543 {
		return ""
	}
	return url
}

func (s *server) ping(ctx context.Context) error {
	if err := s.store.Ping(ctx); err != nil {
		return err
	}
	if !s.schemaKnown.Load() {
		return errors.New("the schema is not known yet")
	}
	return nil
}

const (
	schemaRetry = time.Second
	askTime     = 5 * time.Second
	figuresAge  = 5 * time.Second
)

// awaitSchema asks until the database answers; one that is older than this program is a failure.
func (s *server) awaitSchema(ctx context.Context) error {
	warned := false
	for {
		ask, cancel := context.WithTimeout(ctx, askTime)
		status, err := migrate.ReadStatus(ask, s.cfg.DirectURL(), migrate.Options{})
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was stopped while it asked
		case err == nil && len(status.Pending) > 0:
			return fmt.Errorf("the database's schema (%d) is older than this program needs (%d): run coordctl migrate", status.Version, status.Latest)
		case err == nil:
			s.schemaKnown.Store(true)
			return nil
		case !warned:
			s.cfg.Log.WarnContext(ctx, "the database does not answer yet; webhooks get 503 until it does", "err", err)
			warned = true
		}
		if loop.Pause(ctx, schemaRetry) != nil {
			return nil //nolint:nilerr // it was stopped while it waited
		}
	}
}

// watch adds the gateway's figures to the metrics. They are read at most every few seconds, by whoever asks.
func (s *server) watch() {
	var at atomic.Int64
	read := func(get func(coord.GatewayState) float64) func() float64 {
		return func() float64 {
			if last := at.Load(); time.Since(time.Unix(0, last)) > figuresAge && at.CompareAndSwap(last, time.Now().UnixNano()) {
				ctx, cancel := context.WithTimeout(context.Background(), askTime)
				defer cancel()
				if f, err := s.store.GatewayState(ctx); err == nil {
					s.figures.Store(&f)
				}
			}
			if f := s.figures.Load(); f != nil {
				return get(*f)
			}
			return 0
		}
	}
	gauge := func(name, help string, get func(coord.GatewayState) float64) { s.metrics.Gauge(name, help, read(get)) }
	gauge("gateway_deliveries_waiting", "Deliveries that are stored and not worked on yet.", func(f coord.GatewayState) float64 { return float64(f.Waiting) })
	gauge("gateway_deliveries_dead", "Deliveries that were given up.", func(f coord.GatewayState) float64 { return float64(f.Dead) })
	gauge("gateway_deliveries_oldest_seconds", "Age of the oldest waiting delivery.", func(f coord.GatewayState) float64 { return f.OldestSeconds })
	gauge("gateway_outbox_waiting", "Statuses and notifications that are not sent yet.", func(f coord.GatewayState) float64 { return float64(f.Outbox) })
	gauge("gateway_changesets_blocked", "Changesets with a required run that can run nowhere.", func(f coord.GatewayState) float64 { return float64(f.Blocked) })
	gauge("gateway_changesets_oldest_seconds", "Age of the oldest changeset under verification.", func(f coord.GatewayState) float64 { return f.OldestOpenSeconds })
	for _, state := range []string{"received", "routing", "verifying", "awaiting_approval"} {
		gauge("gateway_changesets_"+state, "Changesets in the state "+state+".", func(f coord.GatewayState) float64 { return float64(f.Changesets[state]) })
	}
	for _, place := range []string{"inline", "github", "e2b", "ntm"} {
		gauge("gateway_runs_queued_"+place, "Runs that wait for "+place+".", func(f coord.GatewayState) float64 { return float64(f.Runs[place+":queued"]) })
		gauge("gateway_runs_running_"+place, "Runs in "+place+".", func(f coord.GatewayState) float64 {
			return float64(f.Runs[place+":running"] + f.Runs[place+":dispatching"])
		})
	}
}
