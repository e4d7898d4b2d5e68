// Command agent-runner executes the runs of a coordinator on this machine. docs/RUNNER.md tells how.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-coordinator/agent-coordinator/internal/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	hurry, hurryUp := context.WithCancel(context.Background())
	context.AfterFunc(ctx, func() {
		second := make(chan os.Signal, 1)
		signal.Notify(second, syscall.SIGINT, syscall.SIGTERM)
		<-second
		hurryUp()
	})
	cmd := command(hurry, os.Stdout)
	cmd.SetArgs(os.Args[1:])
	err := cmd.ExecuteContext(ctx)
	stop()
	switch {
	case err == nil:
	case errors.Is(err, runner.ErrDuplicate):
		fmt.Fprint(os.Stderr, duplicateText)
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "agent-runner:", err)
		os.Exit(1)
	}
}

const duplicateText = `
============================================================
DUPLICATE RUNNER
A runner with this host, project folder and profile is already running.
Stop it, or start this one with another --project-dir or --executor.
============================================================
`
