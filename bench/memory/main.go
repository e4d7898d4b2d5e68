// Command memory measures recall and store through the data layer, at several sizes of one database: p50 and p95 of one
// client, recalls per second of two, how much of the exact ranking's top ten survives the candidate plan, and sizes.
//
//	go run ./memory -n 10000,100000,1000000
//
// Without -dsn it starts a private Postgres with fsync on and takes it down; with -dsn it fills the empty database that
// is named. Texts are synthetic: Zipf-distributed words, about forty a memory, four fifths of all in one project;
// questions are three to eight words of a memory and one or two others, every fifth only common words. Real words depend
// on each other, so figures on real text differ; these are for comparing versions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
)

func main() {
	embedpg.RunWatcherIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) (err error) {
	fs := flag.NewFlagSet("memory", flag.ContinueOnError)
	fs.SetOutput(errs)
	sizes := fs.String("n", "10000,100000", "memories to measure at, ascending; 1000000 takes ten minutes and 3 GB")
	dsn := fs.String("dsn", "", "empty database to fill; default: a private server")
	asked := fs.Int("queries", 300, "questions per size")
	keep := fs.String("keep", "", "folder to keep the private server's data in: a later run finds the database filled")
	buffers := fs.String("buffers", "", "shared_buffers of the private server, as 2GB; default: as an installation has it")
	noExact := fs.Bool("no-exact", false, "do not compare with the exhaustive ranking, which takes a minute and 2 GB at a million")
	throughDoors := fs.Bool("doors", false, "also ask through the doors: HTTP and MCP, with the real programs")
	profile := fs.String("profile", "", "file for a CPU profile of the questions asked")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *keep != "" && strings.Contains(*sizes, ",") {
		return errors.New("-keep goes with one size: a database that is filled has no smaller ones")
	}
	if *dsn == "" {
		stop, url, err := private(ctx, *keep, *buffers)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		*dsn = url
	}
	if _, err := migrate.Up(ctx, *dsn, migrate.Options{}); err != nil {
		return err
	}
	pool, err := coord.Open(ctx, *dsn, 8)
	if err != nil {
		return err
	}
	defer pool.Close()
	b := &bench{pool: pool, dsn: *dsn, store: coord.New(pool), noExact: *noExact, profile: *profile, out: out, say: func(format string, a ...any) { fmt.Fprintf(errs, format+"\n", a...) }}
	if err := b.begin(ctx); err != nil {
		return err
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("-n: %w", err)
		}
		if err := b.grow(ctx, n); err != nil {
			return err
		}
		if err := b.measure(ctx, *asked); err != nil {
			return err
		}
		if *throughDoors {
			if err := b.throughDoors(ctx, *asked); err != nil {
				return err
			}
		}
	}
	return nil
}

// private starts a server of its own, as an installation has it. keep, when it is not empty, is where its data stay.
func private(ctx context.Context, keep, buffers string) (stop func() error, dsn string, err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "coord-memory-"); err != nil {
			return nil, "", err
		}
	}
	home := filepath.Join(dir, "pg")
	o := embedpg.Options{Dir: home, Grace: 10 * time.Second}
	if buffers != "" {
		o.Settings = map[string]string{"shared_buffers": buffers}
	}
	remove := func(dir string) error {
		if keep != "" {
			return nil
		}
		return os.RemoveAll(dir)
	}
	pg, err := embedpg.Start(ctx, o)
	if err != nil {
		return nil, "", errors.Join(err, remove(dir))
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		data := pg.Info().DataDir
		err := errors.Join(pg.Close(), embedpg.Stop(ctx, home), remove(dir))
		if data != "" && keep == "" {
			err = errors.Join(err, os.RemoveAll(data))
		}
		return err
	}
	if err := pg.EnsureDatabase(ctx, "memory"); err != nil {
		return nil, "", errors.Join(err, stop())
	}
	return stop, pg.DSN("memory"), nil
}
