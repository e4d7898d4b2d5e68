// Command mcp-server gives one agent host the coordinator's tools over MCP: on standard input and output as hosts start
// it, or with --transport=http|sse on a local port. It works on the database directly (the embedded one unless
// COORD_DATABASE_URL or DATABASE_URL is set), or on a remote API when COORDINATION_API_URL is set. Everything else is
// configured by environment variables: see .env.example.
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

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/trace/otlp"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

func main() {
	out := mcpstdio.TakeStdout() // first: nothing else may reach the protocol's stream
	embedpg.RunWatcherIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, out)
	stop()
	switch {
	case err == nil, errors.Is(err, context.Canceled):
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "mcp-server:", err)
		os.Exit(1)
	}
}

// errUnhealthy ends --check with exit code 1; what is wrong was printed.
var errUnhealthy = errors.New("not healthy")

// options are the command line.
type options struct {
	check     bool
	version   bool
	transport string
	host      string
	port      int
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("mcp-server", flag.ContinueOnError)
	fs.SetOutput(os.Stderr)
	fs.BoolVar(&o.check, "check", false, "print a diagnosis as JSON and exit 0 (works) or 1")
	fs.BoolVar(&o.version, "version", false, "print the version")
	fs.StringVar(&o.transport, "transport", "stdio", "stdio, http (streamable HTTP at /mcp) or sse (the same, and the old SSE transport at /sse)")
	fs.StringVar(&o.host, "host", "127.0.0.1", "loopback address to listen on with http and sse")
	fs.IntVar(&o.port, "port", 8082, "port to listen on with http and sse; 0 picks a free one")
	conformanceFlags(fs, &o)
	if err := fs.Parse(args); err != nil {
		return o, errors.Join(flag.ErrHelp, err)
	}
	switch {
	case fs.NArg() == 1 && fs.Arg(0) == "version":
		o.version = true
	case fs.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", fs.Arg(0))
	}
	if o.transport != "stdio" && o.transport != "http" && o.transport != "sse" {
		return o, fmt.Errorf("--transport is stdio, http or sse, not %q", o.transport)
	}
	return o, nil
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.version {
		_, err := fmt.Fprintln(out, version.String())
		return err
	}
	cfg, err := config.Load[config.MCP]()
	if err != nil {
		return err
	}
	log := obs.NewLogger(os.Stderr, quietLevel(cfg.Level), cfg.Debug)
	stopTracing, err := otlp.Start(ctx, "agent-coordinator-mcp", version.String(), log)
	if err != nil {
		return err
	}
	defer stopTracing()
	p, err := newProcess(cfg, log)
	if err != nil {
		return err
	}
	switch {
	case o.check:
		return p.check(ctx, out)
	case o.transport == "stdio":
		return p.serveStdio(ctx, in, out)
	}
	return p.serveHTTP(ctx, o)
}

// quietLevel is the level of a server whose stderr a person sees in the host's window: only what needs them, unless
// asked for more.
func quietLevel(level string) string {
	if strings.EqualFold(strings.TrimSpace(level), "info") {
		return "warn"
	}
	return level
}
