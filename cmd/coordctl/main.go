// Command coordctl runs Agent Coordinator on this machine and calls every one of its operations.
package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/agent-coordinator/agent-coordinator/internal/apiserver"
	"github.com/agent-coordinator/agent-coordinator/internal/cli"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/gatewayserver"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/trace/otlp"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

func main() {
	embedpg.RunWatcherIfAsked() // before anything else: the watcher of the embedded server is a copy of this program
	os.Exit(cli.Run(context.Background(), cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Args: os.Args[1:], Serve: serve, Gateway: serveGateway,
	}))
}

// serve runs the API in this process against the database that `up` opened.
func serve(ctx context.Context, d *local.Database, addr string, ready func(string)) error {
	cfg, err := config.Load[config.API]()
	if err != nil {
		return err
	}
	if os.Getenv("LOG_LEVEL") == "" {
		cfg.Level = "warn" // a person reads this terminal
	}
	cfg.CoordURL, cfg.CoordDirectURL, cfg.Addr = d.URL, d.DirectURL, addr
	cfg.TLSCert, cfg.TLSKey = "", "" // what up serves is for this machine
	log := logger(cfg.Logging)
	stopTracing, err := tracing(ctx, log)
	if err != nil {
		return err
	}
	defer stopTracing()
	return apiserver.Run(ctx, apiserver.Config{API: cfg, Log: log}, ready)
}

// serveGateway runs the verification gateway in this process, against the same database.
func serveGateway(ctx context.Context, d *local.Database, addr string, ready func(string)) error {
	cfg, err := config.Load[config.GatewayServer]()
	if err != nil {
		return err
	}
	if os.Getenv("LOG_LEVEL") == "" {
		cfg.Level = "warn"
	}
	dir := cfg.StateDir
	if dir == "" {
		home, err := local.FindHome()
		if err != nil {
			return err
		}
		dir = filepath.Join(home.Dir, "gateway")
	}
	cfg.CoordURL, cfg.CoordDirectURL, cfg.Gateway.Addr = d.URL, d.DirectURL, addr
	cfg.GitHubToken = "" // a token that lies in somebody's shell is theirs: only GATEWAY_GITHUB_TOKEN is meant for the gateway
	cfg.TLSCert, cfg.TLSKey = "", ""
	log := logger(cfg.Logging)
	if _, err := tracing(ctx, log); err != nil { // the API's end hands over what is left
		return err
	}
	return gatewayserver.Run(ctx, gatewayserver.Config{GatewayServer: cfg, Dir: dir, Log: log}, ready)
}

var traced struct {
	sync.Once
	stop func()
	err  error
}

// tracing begins once for what runs in this process.
func tracing(ctx context.Context, log *slog.Logger) (stop func(), err error) {
	traced.Do(func() { traced.stop, traced.err = otlp.Start(ctx, "agent-coordinator", version.String(), log) })
	return traced.stop, traced.err
}

func logger(l config.Logging) *slog.Logger { return obs.NewLogger(os.Stderr, l.Level, l.Debug) }
