// Command bench measures the coordinator beside plain SQL and prints both, side by side, in one run: locks and claims
// over HTTP against pgbench calling the same functions, refusals against `select 1`, a tool call against its SQL.
//
// It brings everything it needs: a private Postgres with fsync on, the real binaries, a real key. It talks to loopback
// addresses and Unix sockets only, and takes down what it started. Figures of one machine say little; the ratios, taken
// in alternating rounds, are what the floors and goals are about. docs/BENCHMARKS.md holds a run and how to read it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
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
	case errors.Is(err, errBelow):
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// errBelow ends a -gate run in which a floor was missed; the table says which.
var errBelow = errors.New("below a floor")

// options are the command line.
type options struct {
	rounds   int
	seconds  int
	only     []string
	quick    bool
	deep     bool
	gate     bool
	json     bool
	markdown bool
	bin      string
	profile  string
	verbose  bool
}

func parse(args []string, errs io.Writer) (options, error) {
	var o options
	var only string
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.IntVar(&o.rounds, "rounds", 5, "alternating rounds per figure; the table shows medians")
	fs.IntVar(&o.seconds, "seconds", 2, "length of each side of a round")
	fs.StringVar(&only, "only", "", "goals to measure, such as G4,G8; default: all")
	fs.BoolVar(&o.quick, "quick", false, "3 short rounds and no million-row queue")
	fs.BoolVar(&o.deep, "deep", false, "G8 with 5 million rows too (takes minutes and 3 GB)")
	fs.BoolVar(&o.gate, "gate", false, "exit with 1 when a floor is missed")
	fs.BoolVar(&o.json, "json", false, "print JSON")
	fs.BoolVar(&o.markdown, "markdown", false, "print Markdown")
	fs.StringVar(&o.bin, "bin", "", "folder with api, gateway and mcp-server; default: built from the tree around this module")
	fs.StringVar(&o.profile, "profile", "", "run the API inside this process and write its CPU profile to this file")
	fs.BoolVar(&o.verbose, "v", false, "say on standard error what is being measured")
	if err := fs.Parse(args); err != nil {
		return o, errors.Join(flag.ErrHelp, err)
	}
	if o.quick {
		o.rounds, o.seconds = min(o.rounds, 3), min(o.seconds, 1)
	}
	if o.rounds < 1 || o.seconds < 1 {
		return o, errors.New("-rounds is at least 1 and -seconds at least 1")
	}
	for g := range strings.SplitSeq(only, ",") {
		if g = strings.ToUpper(strings.TrimSpace(g)); g != "" {
			o.only = append(o.only, g)
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, errs io.Writer) (err error) {
	o, err := parse(args, errs)
	if err != nil {
		return err
	}
	start := time.Now()
	say := func(format string, a ...any) {
		if o.verbose || !o.json && !o.markdown {
			fmt.Fprintf(errs, "%3.0f s  "+format+"\n", append([]any{time.Since(start).Seconds()}, a...)...)
		}
	}
	r, err := newRig(ctx, o, say)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	report := Report{Command: command(args), Began: start.UTC(), Rounds: o.rounds, Seconds: o.seconds}
	if report.Host, err = r.host(ctx); err != nil {
		return err
	}
	if report.Results, err = r.measure(ctx); err != nil {
		return err
	}
	report.LoadAfter = loadAverage()
	report.Took = time.Since(start).Round(time.Second).String()
	if err := report.write(out, o); err != nil {
		return err
	}
	if o.gate && report.below() > 0 {
		return errBelow
	}
	return nil
}

// command is how this run can be repeated.
func command(args []string) string {
	return strings.TrimSpace("cd bench && go run . " + strings.Join(args, " "))
}
