package mcpstdio

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// childVar makes the test binary be a server on its real standard streams.
const childVar = "MCPSTDIO_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		os.Exit(child())
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

func child() int {
	out := TakeStdout()
	fmt.Println("a stray print before the first message")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	f := newFixture()
	if err := New(f.mcp).Serve(ctx, os.Stdin, out); err != nil {
		fmt.Fprintln(os.Stderr, "served with error:", err)
		return 1
	}
	fmt.Println("a stray print after the last message")
	fmt.Fprintln(os.Stderr, "served")
	return 0
}
