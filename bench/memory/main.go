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
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *dsn == "" {
		stop, url, err := private(ctx)
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
	b := &bench{pool: pool, store: coord.New(pool), out: out, say: func(format string, a ...any) { fmt.Fprintf(errs, format+"\n", a...) }}
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
	}
	return nil
}

// private starts a server of its own, as an installation has it.
func private(ctx context.Context) (stop func() error, dsn string, err error) {
	dir, err := os.MkdirTemp("", "coord-memory-")
	if err != nil {
		return nil, "", err
	}
	home := filepath.Join(dir, "pg")
	pg, err := embedpg.Start(ctx, embedpg.Options{Dir: home, Grace: 10 * time.Second})
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		data := pg.Info().DataDir
		err := errors.Join(pg.Close(), embedpg.Stop(ctx, home), os.RemoveAll(dir))
		if data != "" {
			err = errors.Join(err, os.RemoveAll(data))
		}
		return err
	}
	if err := pg.EnsureDatabase(ctx, "memory"); err != nil {
		return nil, "", errors.Join(err, stop())
	}
	return stop, pg.DSN("memory"), nil
}
