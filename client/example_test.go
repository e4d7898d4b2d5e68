package client_test

import (
	"context"
	"errors"
	"fmt"

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
