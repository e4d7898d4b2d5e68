// Command api serves the coordinator over HTTP. Everything is configured by environment variables: see .env.example.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-coordinator/agent-coordinator/internal/apiserver"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
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
			fmt.Fprint(os.Stderr, "usage: api [version]\nServes the coordinator over HTTP; configured by the environment, see .env.example.\n")
			os.Exit(2)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, stop)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stop func()) error {
	cfg, err := config.Load[config.API]()
	if err != nil {
		return err
	}
	// A second signal during the drain ends the process at once.
	context.AfterFunc(ctx, stop)
	log := obs.NewLogger(os.Stderr, cfg.Level, cfg.Debug)
	stopTracing, err := otlp.Start(ctx, "agent-coordinator-api", version.String(), log)
	if err != nil {
		return err
	}
	defer stopTracing()
	return apiserver.Run(ctx, apiserver.Config{API: cfg, Log: log}, nil)
}
