// Command codingmem measures how well the memories of coding agents are found again, on generated projects whose truth is
// known and on natural text. It needs no network and no model. docs/MEMORY_BENCHMARK.md says what the figures mean.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

func main() {
	embedpg.RunWatcherIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "codingmem:", err)
		os.Exit(1)
	}
}

// errMissed ends a -gate run in which a bar was missed; the table says which.
var errMissed = errors.New("a bar was missed")

// options are the command line.
type options struct {
	set, file, seeds string
	worlds           int
	quick, gate      bool
	postgres, tune   bool
	params           recall.Params
	errs             io.Writer
	began            time.Time
}

func (o *options) say(format string, a ...any) {
	fmt.Fprintf(o.errs, "%3.0f s  "+format+"\n", append([]any{time.Since(o.began).Seconds()}, a...)...)
}

func parse(args []string, errs io.Writer) (*options, error) {
	o := &options{errs: errs, began: time.Now(), params: recall.Default()}
	var override string
	fs := flag.NewFlagSet("codingmem", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.StringVar(&o.set, "set", "codingmem", "codingmem, go, man, locomo or longmemeval")
	fs.StringVar(&o.file, "file", "", "file of the sets locomo and longmemeval")
	fs.StringVar(&o.seeds, "seeds", "test", "test, or dev: the ones that parameters may be tuned on")
	fs.IntVar(&o.worlds, "worlds", 5, "worlds to average over, at most 5")
	fs.BoolVar(&o.quick, "quick", false, "two small worlds")
	fs.BoolVar(&o.gate, "gate", false, "exit with 1 when a bar is missed")
	fs.BoolVar(&o.postgres, "postgres", true, "also full text search and the service's own store, on a private Postgres")
	fs.BoolVar(&o.tune, "tune", false, "choose the parameters of the BM25 baseline on the dev seeds, print them and stop")
	fs.StringVar(&override, "params", "", "parameters of the engine to change, such as Stale=.6,Recency=.1 (dev seeds only)")
	if err := fs.Parse(args); err != nil {
		return nil, errors.Join(flag.ErrHelp, err)
	}
	if o.quick {
		o.worlds = min(o.worlds, 2)
	}
	if o.worlds < 1 || o.worlds > len(devSeeds) || o.seeds != "test" && o.seeds != "dev" {
		return nil, errors.New("-worlds is 1 to 5, -seeds test or dev")
	}
	if override != "" && o.set == "codingmem" && o.seeds != "dev" {
		return nil, errors.New("-params needs -seeds dev: nothing is tuned on test worlds")
	}
	return o, set(&o.params, override)
}

// set changes fields of p as "Name=value,Told.K1=value,…" says.
func set(p *recall.Params, override string) error {
	for pair := range strings.SplitSeq(override, ",") {
		if pair == "" {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		f := reflect.ValueOf(p).Elem()
		for part := range strings.SplitSeq(name, ".") {
			if f.Kind() == reflect.Struct {
				f = f.FieldByName(part)
			}
		}
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || !f.IsValid():
			return fmt.Errorf("-params: %q is no parameter with a number", pair)
		case f.CanInt():
			f.SetInt(int64(x))
		case f.CanFloat():
			f.SetFloat(x)
		}
	}
	return nil
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	o, err := parse(args, errs)
	if err != nil {
		return err
	}
	var missed int
	switch {
	case o.tune:
		return tune(ctx, o, out)
	case o.set == "codingmem":
		missed, err = generated(ctx, o, out)
	case naturalSets[o.set].read != nil:
		missed, err = natural(ctx, o, naturalSets[o.set], out)
	case o.set == "locomo" || o.set == "longmemeval":
		missed, err = conversations(ctx, o, out)
	default:
		err = fmt.Errorf("there is no set %q", o.set)
	}
	if err == nil && o.gate && missed > 0 {
		err = errMissed
	}
	return err
}

// generated runs the benchmark on generated worlds.
func generated(ctx context.Context, o *options, out io.Writer) (missed int, err error) {
	if now, err := digest(); err != nil {
		return 0, err
	} else if now != frozen {
		return 0, fmt.Errorf("the generator (%.12s) is not the frozen one (%.12s): its figures compare with nothing", now, frozen)
	}
	size, seeds := world.Full, testSeeds(o.worlds)
	if o.quick {
		size = world.Quick
	}
	if o.seeds == "dev" {
		seeds = devSeeds[:o.worlds]
	}
	var pg *server
	if o.postgres {
		o.say("starting Postgres")
		if pg, err = startServer(ctx); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, pg.close()) }()
	}
	var res results
	var last []*corpus
	for i, seed := range seeds {
		last = corporaOf(world.Build(seed, size))
		o.say("world %d of %d (seed %d): %d projects, %d memories", i+1, len(seeds), seed, len(last), memories(last))
		list := systems(o)
		if pg != nil {
			if err := pg.load(ctx, last); err != nil {
				return 0, err
			}
			list = append(list, pg.systems()...)
		}
		got, err := evaluate(ctx, last, list)
		if err != nil {
			return 0, err
		}
		res.worlds, res.systems = append(res.worlds, got), namesOf(list)
	}
	fmt.Fprintf(out, "CodingMem, %s seeds, %d worlds, last one: %d projects, %d memories; generator %.12s, parameters version %d\n\n",
		o.seeds, len(seeds), len(last), memories(last), frozen, o.params.Version)
	res.print(out, last)
	list := res.bars()
	if pg != nil {
		o.say("the store itself")
		more, err := pg.throughStore(ctx, o, seeds[0], out)
		if err != nil {
			return 0, err
		}
		list = append(list, more...)
	}
	missed = printBars(out, list)
	o.say("done")
	return missed, nil
}

func memories(corpora []*corpus) (n int) {
	for _, c := range corpora {
		n += len(c.docs)
	}
	return n
}

func namesOf(list []named) (out []string) {
	for _, s := range list {
		out = append(out, s.name)
	}
	return out
}

// systems are those that need no database.
func systems(o *options) []named {
	noContext := o.params
	noContext.Window, noContext.Prev, noContext.Next, noContext.Prev2, noContext.Next2 = 0, 0, 0, 0, 0
	plain := o.params
	plain.TypeBoost = 0
	silent := o.params
	silent.AbsentBelow = 0
	return []named{
		{"random", func(c *corpus) (system, error) { return random{c}, nil }},
		{"newest", func(c *corpus) (system, error) { return newest{c}, nil }},
		{"grep", newGrep},
		{"BM25", plainBM25.over},
		{theirs, tunedBM25.over},
		{ours, newEngine(o.params, false)},
		{"ours, never empty", newEngine(silent, false)},
		{"ours, no question forms", newEngine(plain, false)},
		{alone, newEngine(noContext, false)},
		{shuffled, newEngine(o.params, true)},
		{"(ceiling of words)", newCeiling},
	}
}
