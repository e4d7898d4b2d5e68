package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/llm"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/loop"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgnotify"
	"github.com/agent-coordinator/agent-coordinator/internal/pooler"
	"github.com/agent-coordinator/agent-coordinator/internal/supa"
)

const (
	// startWait is how long a call waits for a database that is being started; creating one takes some seconds.
	startWait   = 20 * time.Second
	firstPause  = 500 * time.Millisecond
	longPause   = 10 * time.Second
	maxConns    = 4 // of one agent's server: dozens of them share one Postgres
	maxReads    = 1 // beside them, for what changes nothing
	perNotices  = mcpapi.MaxNotices
	unreachable = "it is not running, or does not answer"
)

// backend runs operations on the database of this installation. It connects in the background, so that the host sees
// the server at once, and calls wait for it.
type backend struct {
	cfg config.MCP
	log *slog.Logger

	mu    sync.Mutex
	live  *live
	up    chan struct{} // closed while live is set
	fault error         // why it is not, once that is known
}

// live is an open database with what works on it.
type live struct {
	db    *local.Database
	hub   *dispatch.Hub
	news  *pgnotify.Notifier
	calls lane
	reads lane // never behind a herd of calls that all ask for the same lock

	supabase *supa.Link // what is used of a Supabase project
}

// lane is a pool with the operations that work on it.
type lane struct {
	pool  *pgxpool.Pool
	store *coord.Store
	cat   *op.Catalogue
	pipe  *op.Pipeline
}

// equip makes the operations of a lane.
func (l *lane) equip(store *coord.Store, hub *dispatch.Hub, log *slog.Logger) {
	store.WakeTo(hub)
	l.store, l.cat = store, ops.Catalogue(ops.Deps{Store: store, Hub: hub})
	l.pipe = &op.Pipeline{Resolver: store, Once: store, Log: log}
}

func newBackend(cfg config.MCP, log *slog.Logger) *backend {
	return &backend{cfg: cfg, log: log, up: make(chan struct{})}
}

// Call implements mcpapi.Invoker.
func (b *backend) Call(ctx context.Context, d *op.Def, r op.Request) (op.Response, error) {
	l, err := b.get(ctx)
	if err != nil {
		return op.Response{}, err
	}
	via := &l.calls
	if d.Scope == ident.Read && !d.Waits {
		via = &l.reads
	}
	return via.pipe.Call(ctx, via.cat.Get(d.Name), r)
}

// get waits for the database while its first start is under way; once a start failed it does not make calls wait.
func (b *backend) get(ctx context.Context) (*live, error) {
	b.mu.Lock()
	l, up, cause := b.live, b.up, b.fault
	b.mu.Unlock()
	if l != nil {
		return l, nil
	}
	if cause == nil {
		timer := time.NewTimer(startWait)
		defer timer.Stop()
		select {
		case <-up:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
		}
		b.mu.Lock()
		l, cause = b.live, b.fault
		b.mu.Unlock()
		if l != nil {
			return l, nil
		}
	}
	if cause == nil {
		cause = errors.New("it is still being started")
	}
	return nil, fault.Unavailable(cause)
}

func (b *backend) notices(ctx context.Context, c ident.Caller) (client.Notices, error) {
	l, err := b.get(ctx)
	if err != nil {
		return client.Notices{}, err
	}
	return l.reads.store.TakeNotices(ctx, c, perNotices)
}

// run connects, keeps the connection, and connects again when the database moved, until ctx ends.
func (b *backend) run(ctx context.Context, door *mcpapi.Door, stdio mcpapi.Updater) {
	pause := firstPause
	for ctx.Err() == nil {
		l, err := b.open(ctx)
		if ctx.Err() != nil && err != nil {
			return
		}
		if err != nil {
			b.failed(err)
			b.log.WarnContext(ctx, "no database", "err", err)
			sleep(ctx, pause)
			pause = min(pause*2, longPause)
			continue
		}
		pause = firstPause
		b.set(l)
		stop := door.Watch(l.hub, stdio)
		lctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { l.news.Run(lctx, l.hub) })
		wg.Go(func() { l.supabase.Run(lctx) })
		wg.Go(func() { _ = l.sweep(b.log).Run(lctx) }) // a loop has no failure of its own
		if err := l.db.Watch(ctx, b.log); err != nil {
			b.log.WarnContext(ctx, "connecting again", "err", err)
		}
		b.clear()
		cancel()
		wg.Wait()
		stop()
		l.close()
	}
}

// sweep does what is due by time (silent sessions, expired locks and leases): the API server may not be running. Many
// of these processes share one database, so each looks rarely.
func (l *live) sweep(log *slog.Logger) loop.Loop {
	return loop.Loop{
		Name: "sweep", Every: 2 * time.Second, Idle: 8 * time.Second, Jitter: 4 * time.Second, Log: log,
		Do: func(ctx context.Context) (int, error) {
			did, err := l.calls.store.Sweep(ctx)
			return did.SessionsLapsed + did.LocksExpired + did.TasksRequeued + did.TasksReadied, err
		},
	}
}

// open starts or joins the database and assembles what works on it.
func (b *backend) open(ctx context.Context) (*live, error) {
	db, err := local.OpenDatabase(ctx, local.DatabaseOptions{Config: b.cfg.Database, Migrate: b.mayMigrate(), Grace: b.cfg.PgGrace, Log: b.log})
	if err != nil {
		return nil, err
	}
	if !db.Embedded && !b.mayMigrate() {
		if err := checkSchema(ctx, db); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	l := &live{db: db}
	if l.calls.pool, err = coord.Open(ctx, db.URL, min(b.cfg.MaxConns, maxConns)); err == nil {
		l.reads.pool, err = coord.Open(ctx, db.URL, maxReads)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	l.news = pgnotify.New(pgnotify.Config{Pool: l.calls.pool, ListenDSN: pooler.Session(db.DirectURL), Log: b.log})
	l.hub = dispatch.New(l.news.Send)
	l.calls.equip(coord.New(l.calls.pool), l.hub, b.log)
	// A hub of its own: operations register their re-checks with the one they are given, once.
	l.reads.equip(coord.New(l.reads.pool), dispatch.New(l.hub.Wake), b.log)
	if b.cfg.LLMURL != "" {
		l.calls.store.SummariseWith(llm.New(b.cfg.LLMURL, b.cfg.LLMKey, b.cfg.LLMModel))
	}
	if b.cfg.EmbeddingsURL != "" {
		for _, store := range []*coord.Store{l.calls.store, l.reads.store} {
			store.EmbedWith(llm.New(b.cfg.EmbeddingsURL, b.cfg.EmbeddingsKey, b.cfg.EmbeddingsModel))
		}
	}
	l.supabase, err = supa.Connect(supa.Config{URL: b.cfg.ProjectURL, Secret: b.cfg.Secret(), Public: b.cfg.Public(), TokenFile: b.cfg.TokenFile, Log: b.log},
		l.hub, pooler.Session(db.DirectURL) != "", l.calls.store, l.reads.store)
	if err != nil {
		l.close()
		return nil, err
	}
	if err := l.calls.store.Ping(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// mayMigrate: the embedded database is ours; another one only when asked.
func (b *backend) mayMigrate() bool { return b.cfg.Database.URL() == "" || b.cfg.AutoMigrate }

var errOldSchema = errors.New("its schema is too old")

func checkSchema(ctx context.Context, db *local.Database) error {
	status, err := migrate.ReadStatus(ctx, db.DirectURL, migrate.Options{})
	if err != nil {
		return errors.New(unreachable)
	}
	if len(status.Pending) > 0 {
		return fmt.Errorf("%w: it is at %d and this program needs %d; run coordctl migrate", errOldSchema, status.Version, status.Latest)
	}
	return nil
}

func (b *backend) set(l *live) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live, b.fault = l, nil
	close(b.up)
}

func (b *backend) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live, b.up = nil, make(chan struct{})
}

// failed lets calls that wait know why.
func (b *backend) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = reason(err)
	close(b.up)
	b.up = make(chan struct{})
}

// tellable are the failures of a start whose text helps whoever reads it; others may name addresses and are logged only.
var tellable = []error{
	embedpg.ErrNoBinaries, embedpg.ErrMajor, embedpg.ErrNotOurs, embedpg.ErrDBUser, supa.ErrNoKey, migrate.ErrForeign, migrate.ErrPooler, errOldSchema,
}

func reason(err error) error {
	for _, t := range tellable {
		if errors.Is(err, t) {
			return err
		}
	}
	return errors.New(unreachable)
}

func (l *live) close() {
	for _, p := range []*pgxpool.Pool{l.calls.pool, l.reads.pool} {
		if p != nil {
			p.Close()
		}
	}
	_ = l.db.Close() // the embedded server goes by itself once nobody uses it
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
