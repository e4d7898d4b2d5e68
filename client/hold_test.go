package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

func TestWithLockHoldsAndGivesBack(t *testing.T) {
	t.Parallel()
	door := service(t)
	renewed := make(chan struct{}, 100)
	ana := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		door.ServeHTTP(w, r)
		if r.URL.Path == "/locks/acquire" {
			renewed <- struct{}{}
		}
	}), client.WithAgent("ana", "codex"), client.WithSession("a"))
	bob := connect(t, door, client.WithAgent("bob", "codex"), client.WithSession("b"))
	ctx := t.Context()
	broken := errors.New("broken")
	err := client.HoldFor(ctx, ana, client.AcquireLock{FilePath: "a.go"}, 6*time.Second, func(ctx context.Context, held client.HeldLock) error {
		if held.FencingToken == "" || held.FilePath != "a.go" {
			t.Errorf("%+v", held)
		}
		refused := bob.WithLock(ctx, client.AcquireLock{FilePath: "a.go"}, func(context.Context, client.HeldLock) error { t.Error("bob ran"); return nil })
		var r *client.RefusedError
		if !errors.As(refused, &r) || r.Result.LockedBy != "ana" || r.Error() == "" {
			t.Errorf("bob: %v", refused)
		}
		// A lock within is the same lock: it is left to whom it belongs.
		if err := ana.WithLock(ctx, client.AcquireLock{FilePath: "a.go"}, func(context.Context, client.HeldLock) error { return nil }); err != nil {
			t.Errorf("within: %v", err)
		}
		if held, err := bob.IsFileLocked(ctx, "a.go"); !held || err != nil {
			t.Errorf("after the one within: %v, %v", held, err)
		}
		for range 3 { // taken, taken within, renewed
			<-renewed
		}
		return broken
	})
	if !errors.Is(err, broken) || errors.Is(err, client.ErrLeaseLost) {
		t.Fatal(err)
	}
	if err := bob.WithLock(ctx, client.AcquireLock{FilePaths: []string{"a.go", "b/"}}, func(_ context.Context, held client.HeldLock) error {
		if len(held.Locks) != 2 {
			t.Errorf("%+v", held)
		}
		return nil
	}); err != nil {
		t.Fatalf("it was not given back: %v", err)
	}
	if held, err := ana.IsFileLocked(ctx, "b/x.go"); held || err != nil {
		t.Errorf("%v, %v", held, err)
	}
}

// A function learns that its lock is gone, whoever took it and whether or not the service can still be reached.
func TestWithLockTellsOfTheLoss(t *testing.T) {
	t.Parallel()
	door := service(t)
	var gone atomic.Bool
	ana := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() && r.URL.Path == "/locks/acquire" {
			panic(http.ErrAbortHandler)
		}
		door.ServeHTTP(w, r)
	}), client.WithAgent("ana", "codex"), client.WithSession("a"), client.WithRetries(0))
	boss := connect(t, door, client.WithAgent("bob", "codex"), client.WithSession("b"))
	ctx := t.Context()
	for name, take := range map[string]func() error{
		"another has it": func() error {
			if _, err := ana.ReleaseLock(ctx, client.ReleaseLock{FilePath: "a.go"}); err != nil {
				return err
			}
			_, err := boss.AcquireLock(ctx, client.AcquireLock{FilePath: "a.go"})
			return err
		},
		"it ended in between": func() error {
			_, err := ana.ReleaseLock(ctx, client.ReleaseLock{FilePath: "a.go"})
			return err
		},
		"nobody can be asked": func() error { gone.Store(true); return nil },
	} {
		err := client.HoldFor(ctx, ana, client.AcquireLock{FilePath: "a.go"}, 900*time.Millisecond, func(ctx context.Context, _ client.HeldLock) error {
			if err := take(); err != nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Second):
				t.Errorf("%s: not told", name)
			}
			if !errors.Is(context.Cause(ctx), client.ErrLeaseLost) {
				t.Errorf("%s: cause %v", name, context.Cause(ctx))
			}
			return nil
		})
		if !errors.Is(err, client.ErrLeaseLost) {
			t.Errorf("%s: %v", name, err)
		}
		gone.Store(false)
		for _, c := range []*client.AgentCoordinationClient{ana, boss} {
			if _, err := c.ReleaseLock(ctx, client.ReleaseLock{All: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestWorkerDoesTasksUntilItIsStopped(t *testing.T) {
	t.Parallel()
	door := service(t)
	c := connect(t, door, client.WithAgent("w", "codex"), client.WithSession("w"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ids := map[string]string{}
	for _, kind := range []string{"good", "bad", "mad", "slow"} {
		out, err := c.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: kind, Description: kind, InputData: map[string]any{"n": 1}, MaxAttempts: 1}})
		if err != nil {
			t.Fatal(err)
		}
		ids[kind] = out.TaskID
	}
	begun, heard := make(chan struct{}), make(chan error, 10)
	w := client.Worker{
		Client: c, AtOnce: 4, Drain: 50 * time.Millisecond, OnError: func(_ string, err error) { heard <- err },
		Do: func(ctx context.Context, task client.BatchClaim) (map[string]any, error) {
			switch task.TaskType {
			case "bad":
				return nil, client.Failed(errors.New("cannot be done"))
			case "mad":
				panic("a defect")
			case "slow":
				close(begun)
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), client.ErrStopped) {
					t.Errorf("cause %v", context.Cause(ctx))
				}
				return nil, ctx.Err()
			}
			return map[string]any{"input": string(task.InputData)}, nil
		},
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	state := func(kind string) client.Task {
		out, err := c.GetTask(t.Context(), client.TaskRef{TaskID: ids[kind]})
		if err != nil || out.Task == nil {
			t.Fatalf("%s: %+v, %v", kind, out, err)
		}
		return *out.Task
	}
	<-begun
	<-heard
	<-heard
	for end := time.Now().Add(20 * time.Second); state("good").Status != "completed" || state("bad").Status != "failed" || state("mad").Status != "failed"; {
		if time.Now().After(end) {
			t.Fatalf("good %s, bad %s, mad %s", state("good").Status, state("bad").Status, state("mad").Status)
		}
		<-time.After(5 * time.Millisecond)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := state("slow"); got.Status != "dead" { // its one attempt is used up
		t.Errorf("the task that was under way: %+v", got)
	}
	if got := state("mad"); got.ErrorMessage != "panic: a defect" {
		t.Errorf("%+v", got)
	}
}

// A worker whose task was taken away reports nothing about it; one that is refused ends; one that finds nobody goes on.
func TestWorkerMeetsTrouble(t *testing.T) {
	t.Parallel()
	refused := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	do := func(ctx context.Context, _ client.BatchClaim) (map[string]any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	var e *client.Error
	if err := (client.Worker{Client: refused, Do: do}).Run(t.Context()); !errors.As(err, &e) || e.Code != client.CodeForbidden {
		t.Errorf("%v", err)
	}
	if err := (client.Worker{}).Run(t.Context()); err == nil {
		t.Error("a worker without anything ran")
	}
	var completed, claims atomic.Int32
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lost := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/work/claim":
			switch claims.Add(1) {
			case 1:
				w.WriteHeader(http.StatusServiceUnavailable)
			case 2:
				_, _ = io.WriteString(w, `{"success": true, "task_id": "t1", "task_type": "t", "lease_token": "9"}`)
			default:
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}
		case "/work/heartbeat":
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, `{"code": "lease_lost", "status": 410, "what": "the lease is another's"}`)
		default:
			completed.Add(1)
			_, _ = io.WriteString(w, `{"success": true}`)
		}
	}), client.WithRetries(0))
	heard := make(chan error, 10)
	done := make(chan error, 1)
	w := client.Worker{Client: lost, Do: do, Lease: 30 * time.Millisecond, OnError: func(_ string, err error) { heard <- err }}
	go func() { done <- w.Run(ctx) }()
	for range 2 { // the outage, the loss
		<-heard
	}
	stop()
	if err := <-done; err != nil || completed.Load() != 0 {
		t.Errorf("%v; %d reports about a task that was lost", err, completed.Load())
	}
}
