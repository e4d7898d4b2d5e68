package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// An agent reserves a file, edits it and gives it back; what it cannot have, it leaves alone.
func ExampleAgentCoordinationClient() {
	ctx := context.Background()
	c, err := client.New("http://127.0.0.1:8765", "ac_…", client.WithAgent("ana", "codex"), client.WithSession("ses_1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	lock, err := c.AcquireLock(ctx, client.AcquireLock{FilePath: "internal/login.go", Reason: "fix the redirect"})
	var e *client.Error
	switch {
	case errors.As(err, &e) && e.Code == client.CodeUnavailable:
		fmt.Println("cannot tell whether it is free: wait")
	case err != nil:
		fmt.Println(err)
	case !lock.Success:
		fmt.Println("held by", lock.LockedBy, "until", lock.ExpiresAt)
	default:
		// … edit internal/login.go …
		_, err = c.ReleaseLock(ctx, client.ReleaseLock{FilePath: "internal/login.go"})
		fmt.Println("done", err)
	}
}

// WithLock reserves paths for as long as a function runs.
func ExampleAgentCoordinationClient_WithLock() {
	ctx := context.Background()
	c, err := client.New("http://127.0.0.1:8765", "ac_…", client.WithAgent("ana", "codex"), client.WithSession("ses_1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	err = c.WithLock(ctx, client.AcquireLock{FilePath: "internal/login.go", WaitSeconds: 30}, func(ctx context.Context, held client.HeldLock) error {
		// … edit internal/login.go; stop when ctx ends: the lock is lost then …
		fmt.Println("editing under token", held.FencingToken)
		return nil
	})
	var refused *client.RefusedError
	if errors.As(err, &refused) {
		fmt.Println("held by", refused.Result.LockedBy)
	}
}

// A Worker takes tasks, renews them while it does them, and reports how they ended.
func ExampleWorker() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := client.New("http://127.0.0.1:8765", "ac_…", client.WithAgent("builder-1", "ci"), client.WithSession("builder-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	w := client.Worker{Client: c, TaskTypes: []string{"build"}, Do: func(ctx context.Context, task client.BatchClaim) (map[string]any, error) {
		return map[string]any{"built": task.Description}, nil
	}}
	fmt.Println(w.Run(ctx)) // returns after Ctrl-C, when what was under way is done
}
