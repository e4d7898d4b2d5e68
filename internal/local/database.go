package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
)

// DatabaseName is the database on the embedded server.
const DatabaseName = "coord"

// DatabaseOptions says how a database is opened.
type DatabaseOptions struct {
	Config config.Database
	// Migrate brings it to this binary's schema. The embedded database and one that is already ours always may; a
	// database with other people's tables needs MigrateForeign too.
	Migrate        bool
	MigrateForeign bool
	Grace          time.Duration     // how long the embedded server outlives its users; 0: its default
	Settings       map[string]string // of the embedded server
	Log            *slog.Logger
	Progress       func(string)
}

// Database is an open installation's database: given by URL, or embedded.
type Database struct {
	URL       string // for the pool
	DirectURL string // for sessions: migrations, LISTEN
	Loopback  string // for other programs; equals URL unless embedded
	Embedded  bool
	Report    migrate.Report

	server *embedpg.Server
	opts   embedpg.Options
}

// OpenDatabase uses the database of the configuration, else starts or joins the embedded one, and migrates it if
// asked. Close it.
func OpenDatabase(ctx context.Context, o DatabaseOptions) (*Database, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	d := &Database{URL: o.Config.URL(), DirectURL: o.Config.DirectURL(), Loopback: o.Config.URL()}
	if d.URL == "" {
		if err := d.startEmbedded(ctx, o); err != nil {
			return nil, err
		}
	}
	if !o.Migrate {
		return d, nil
	}
	var err error
	d.Report, err = migrate.Up(ctx, d.DirectURL, migrate.Options{AllowForeign: o.MigrateForeign, Log: o.Log})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("migrate: %w", err), d.Close())
	}
	if n := len(d.Report.Applied); n > 0 {
		o.Progress(fmt.Sprintf("applied %d migrations, the schema is at %d", n, d.Report.To))
	}
	return d, nil
}

func (d *Database) startEmbedded(ctx context.Context, o DatabaseOptions) error {
	d.Embedded = true
	d.opts = embedpg.Options{Grace: o.Grace, Settings: o.Settings, Log: o.Log, Progress: o.Progress}
	server, err := embedpg.Start(ctx, d.opts)
	if err != nil {
		return err
	}
	if err := server.EnsureDatabase(ctx, DatabaseName); err != nil {
		return errors.Join(err, server.Close())
	}
	d.use(server)
	return nil
}

func (d *Database) use(server *embedpg.Server) {
	d.server = server
	d.URL = server.DSN(DatabaseName)
	d.DirectURL, d.Loopback = d.URL, server.LoopbackDSN(DatabaseName)
}

// Info describes the embedded server; the zero value when there is none.
func (d *Database) Info() embedpg.Info {
	if d.server == nil {
		return embedpg.Info{}
	}
	return d.server.Info()
}

const (
	watchEvery  = time.Second
	aliveWithin = 5 * time.Second
)

// Watch restarts the embedded server when it dies, until ctx ends. It returns ErrMoved when the server came back
// under another address, which the pools of this process do not know; else nil. An external database is its
// owner's to watch.
func (d *Database) Watch(ctx context.Context, log *slog.Logger) error {
	if d.server == nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := d.repair(ctx, log); err != nil {
			return err
		}
	}
}

// ErrMoved means that the embedded server runs again, under another address.
var ErrMoved = errors.New("the embedded server moved to another port")

func (d *Database) repair(ctx context.Context, log *slog.Logger) error {
	probe, cancel := context.WithTimeout(ctx, aliveWithin)
	err := d.server.Alive(probe)
	cancel()
	if err == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to stop, not the server that died
	}
	log.WarnContext(ctx, "the embedded Postgres does not answer, starting it again", "err", err)
	server, err := embedpg.Start(ctx, d.opts)
	if err != nil {
		log.ErrorContext(ctx, "the embedded Postgres could not be started; trying again", "err", err)
		return nil
	}
	before := d.URL
	old := d.server
	d.use(server)
	if err := old.Close(); err != nil {
		log.WarnContext(ctx, "let go of the dead server", "err", err)
	}
	log.InfoContext(ctx, "the embedded Postgres runs again", "pid", server.Info().PID, "moved", before != d.URL)
	if before != d.URL {
		return ErrMoved
	}
	return nil
}

// Close lets go of the embedded server; it stops by itself when nobody uses it any more.
func (d *Database) Close() error {
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}
