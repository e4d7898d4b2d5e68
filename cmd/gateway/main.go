// Command gateway verifies changes: it receives webhooks, routes each change by policy, has it verified and tells the
// verdict. Everything is configured by environment variables: see .env.example.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/gatewayserver"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/trace/otlp"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "version", "-version", "--version":
			fmt.Println(version.String())
			return
		default:
			fmt.Fprint(os.Stderr, "usage: gateway [version]\nReceives webhooks and verifies changes; configured by the environment, see .env.example.\n")
			os.Exit(2)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, stop)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stop func()) error {
	cfg, err := config.Load[config.GatewayServer]()
	if err != nil {
		return err
	}
	dir := cfg.StateDir
	if dir == "" {
		home, err := local.FindHome()
		if err != nil {
			return err
		}
		dir = filepath.Join(home.Dir, "gateway")
	}
	// A second signal during the drain ends the process at once.
	context.AfterFunc(ctx, stop)
	log := obs.NewLogger(os.Stderr, cfg.Level, cfg.Debug)
	stopTracing, err := otlp.Start(ctx, "agent-coordinator-gateway", version.String(), log)
	if err != nil {
		return err
	}
	defer stopTracing()
	return gatewayserver.Run(ctx, gatewayserver.Config{GatewayServer: cfg, Dir: dir, Log: log}, nil)
}
