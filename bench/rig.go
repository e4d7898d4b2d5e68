package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
)

const (
	project    = "bench"
	clean      = "bench_clean" // migrated and never connected to again: other databases are copied from it
	maxClients = 64
	stopTime   = 20 * time.Second
)

// rig is everything a run works with: the server, a migrated database with sessions, the binaries, the API.
type rig struct {
	o   options
	say func(string, ...any)

	dir   string // temporary: cluster, binaries, scripts
	pg    *embedpg.Server
	bin   string // folder of api and mcp-server
	dsn   string // of the database that the API serves
	pool  *pgxpool.Pool
	api   *apiProcess
	key   string
	seats seats
	undo  []func() error // in reverse order
}

// seats are what the load works with: a project, its repository, and a session per client of either side.
type seats struct {
	Project, Home, Refuser int64
	First                  int64 // internal ids of pgbench's sessions are First … First+maxClients-1
}

func newRig(ctx context.Context, o options, say func(string, ...any)) (_ *rig, err error) {
	r := &rig{o: o, say: say}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.dir, err = os.MkdirTemp("", "coord-bench-"); err != nil {
		return nil, err
	}
	r.undo = append(r.undo, func() error { return os.RemoveAll(r.dir) })
	if err := r.binaries(ctx); err != nil {
		return nil, err
	}
	if err := r.database(ctx); err != nil {
		return nil, err
	}
	if err := r.seat(ctx); err != nil {
		return nil, err
	}
	say("starting the API")
	if r.api, err = r.serve(ctx); err != nil {
		return nil, err
	}
	r.undo = append(r.undo, r.api.stop)
	return r, nil
}

// close takes everything down, last started first.
func (r *rig) close() error {
	var err error
	for _, f := range slices.Backward(r.undo) {
		err = errors.Join(err, f())
	}
	r.undo = nil
	return err
}

// binaries builds api, gateway and mcp-server from the tree, unless a folder with them was named.
func (r *rig) binaries(ctx context.Context) error {
	if r.bin = r.o.bin; r.bin != "" {
		abs, err := filepath.Abs(r.bin)
		r.bin = abs
		return err
	}
	r.bin = filepath.Join(r.dir, "bin")
	r.say("building api, gateway and mcp-server")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", "..", "-trimpath", "-o", r.bin+string(filepath.Separator), "./cmd/api", "./cmd/gateway", "./cmd/mcp-server")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the binaries: %w\n%s", err, text)
	}
	return nil
}

// database starts a private server as an installation has it (fsync on, our settings) and migrates two databases.
func (r *rig) database(ctx context.Context) error {
	dir := filepath.Join(r.dir, "pg")
	r.say("starting Postgres")
	var err error
	r.pg, err = embedpg.Start(ctx, embedpg.Options{Dir: dir, Grace: 10 * time.Second, Settings: map[string]string{"max_connections": "200"}})
	if err != nil {
		return err
	}
	r.undo = append(r.undo, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		return errors.Join(r.pg.Close(), embedpg.Stop(ctx, dir), dropStore(r.pg.Info()))
	})
	if err := r.pg.EnsureDatabase(ctx, clean); err != nil {
		return err
	}
	if _, err := migrate.Up(ctx, r.pg.DSN(clean), migrate.Options{}); err != nil {
		return err
	}
	r.dsn, err = r.copyDatabase(ctx, "bench")
	if err != nil {
		return err
	}
	r.pool, err = coord.Open(ctx, r.dsn, 8)
	if err != nil {
		return err
	}
	r.undo = append(r.undo, func() error { r.pool.Close(); return nil })
	return nil
}

// dropStore removes the cluster where it lies outside of our own folder (as root's does when another account runs it).
func dropStore(i embedpg.Info) error {
	if i.DataDir == "" {
		return nil
	}
	return os.RemoveAll(filepath.Dir(i.DataDir))
}

// copyDatabase makes a migrated, empty database.
func (r *rig) copyDatabase(ctx context.Context, name string) (dsn string, err error) {
	conn, err := pgx.Connect(ctx, r.pg.AdminDSN())
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	if _, err := conn.Exec(ctx, "create database "+name+" template "+clean); err != nil {
		return "", err
	}
	return r.pg.DSN(name), nil
}

// seat makes the key, the sessions of pgbench's clients, and a lock for others to be refused by.
func (r *rig) seat(ctx context.Context) error {
	store := coord.New(r.pool)
	admin := ident.Principal{Name: "bench", Scopes: []ident.Scope{ident.Admin}}
	c, err := store.Resolve(ctx, admin, ident.Claim{Project: project}, false)
	if err != nil {
		return err
	}
	r.seats.Project = c.ProjectID
	created, err := store.CreateKey(ctx, c, client.CreateKey{Name: "bench", Scopes: []string{"read", "write", "runner"}})
	if err != nil {
		return err
	}
	r.key = created.Secret
	for i := range maxClients {
		id, err := r.session(ctx, r.pool, r.seats.Project, fmt.Sprintf("sql-%d", i))
		if err != nil {
			return err
		}
		if i == 0 {
			r.seats.First = id
		}
		if id != r.seats.First+int64(i) {
			return fmt.Errorf("session %d has id %d: something else opens sessions here", i, id)
		}
	}
	if r.seats.Refuser, err = r.session(ctx, r.pool, r.seats.Project, "refuser"); err != nil {
		return err
	}
	if err := r.pool.QueryRow(ctx, "select id from coord.lock_space($1, '')", r.seats.Project).Scan(&r.seats.Home); err != nil {
		return err
	}
	held, err := r.keys(heldPath)
	if err != nil {
		return err
	}
	_, err = r.pool.Exec(ctx, acquireSQL, held.acquireArgs(r, r.seats.Refuser)...)
	return err
}

func (r *rig) session(ctx context.Context, pool *pgxpool.Pool, project int64, agent string) (id int64, err error) {
	err = pool.QueryRow(ctx, "select coord.open_session($1, $2, 'bench', $2)", project, agent).Scan(&id)
	return id, err
}
