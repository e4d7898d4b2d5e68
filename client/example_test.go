package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// The examples run against a real server, which TestMain starts; the documents show their text.

// An agent reserves a file; another one is told who has it. "Cannot tell" is neither.
func ExampleAgentCoordinationClient() {
	ctx := context.Background()
	for _, agent := range []string{"ana", "bob"} {
		c, err := client.New(os.Getenv("COORDINATION_API_URL"), os.Getenv("COORDINATION_API_KEY"), client.WithAgent(agent, "codex"), client.WithSession(agent+"-1"))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer c.Close()
		lock, err := c.AcquireLock(ctx, client.AcquireLock{FilePath: "internal/login.go", Reason: "fix the redirect"})
		var e *client.Error
		switch {
		case errors.As(err, &e) && e.Code == client.CodeUnavailable:
			fmt.Println(agent, "cannot tell whether it is free, and waits")
		case err != nil:
			fmt.Println(err)
		case lock.Success:
			fmt.Println(agent, "edits")
		default:
			fmt.Println(agent, "leaves it to", lock.LockedBy)
		}
	}
	// Output:
	// ana edits
	// bob leaves it to ana
}

// WithLock reserves paths for as long as a function runs.
func ExampleAgentCoordinationClient_WithLock() {
	edit := func(_ context.Context, token string) error {
		fmt.Println("editing, under a token:", token != "")
		return nil
	}
	ctx := context.Background()
	c, err := client.New(os.Getenv("COORDINATION_API_URL"), os.Getenv("COORDINATION_API_KEY"), client.WithAgent("cleo", "codex"), client.WithSession("s1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	err = c.WithLock(ctx, client.AcquireLock{FilePath: "login.go", WaitSeconds: 30}, func(ctx context.Context, held client.HeldLock) error {
		return edit(ctx, held.FencingToken) // ctx ends when the lock is lost
	})
	var refused *client.RefusedError
	if errors.As(err, &refused) {
		fmt.Println("held by", refused.Result.LockedBy)
	}
	// Output:
	// editing, under a token: true
}

// A Worker takes tasks, renews them while it does them, and reports how they ended.
func ExampleWorker() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c, err := client.New(os.Getenv("COORDINATION_API_URL"), os.Getenv("COORDINATION_API_KEY"), client.WithAgent("builder-1", "ci"), client.WithSession("builder-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	task, err := c.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "build", Description: "the documents"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	worker := client.Worker{Client: c, TaskTypes: []string{"build"}, Do: func(ctx context.Context, t client.BatchClaim) (map[string]any, error) {
		defer stop() // it is the only one here; a worker of yours runs until a signal
		return map[string]any{"built": t.Description}, nil
	}}
	if err := worker.Run(ctx); err != nil {
		fmt.Println(err)
	}
	done, err := c.GetTask(context.Background(), client.TaskRef{TaskID: task.TaskID})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s\n", done.Task.Status, done.Task.Result)
	// Output:
	// completed {"built":"the documents"}
}
