package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	workerLease = 5 * time.Minute
	workerDrain = 30 * time.Second
	workerWait  = 20 // seconds that a claim waits for a task
	workerPause = time.Second
)

// Worker takes tasks and does them until it is told to stop. The zero values of its members are fit for use, but for
// Client and Do.
type Worker struct {
	Client *AgentCoordinationClient
	// Do does one task. What it returns is the task's result; an error fails the task, see Failed. Its context ends when the
	// task's lease is lost (cause ErrLeaseLost) or the worker stops and Drain is over (cause ErrStopped).
	Do        func(ctx context.Context, task BatchClaim) (map[string]any, error)
	TaskTypes []string      // only these; none: all
	Tags      []string      // what this worker offers
	Lease     time.Duration // how long a task is kept without a sign of life, 5 min unless set; renewed every third of it
	AtOnce    int           // tasks at a time, 1 unless set
	Drain     time.Duration // how long tasks may go on after the worker was told to stop, 30 s unless set
	// OnError hears of what went wrong with a task or with asking for one; nil: nobody does. It may be called from several
	// goroutines.
	OnError func(task string, err error)
}

// ErrStopped is the cause of the context of a task whose worker stops. Such a task is given back.
var ErrStopped = errors.New("the worker stops")

// Failed makes err a failure for good: the task is not tried again. Any other error of Do sends the task back while
// attempts remain.
func Failed(err error) error { return &failedError{err} }

type failedError struct{ error }

func (e *failedError) Unwrap() error { return e.error }

// Run takes and does tasks until ctx is done, then lets those under way end, within Drain, and returns nil. It outlives
// every outage of the service; it fails at once when the service refuses the worker (a wrong key, wrong members).
func (w Worker) Run(ctx context.Context) error {
	if w.Client == nil || w.Do == nil {
		return errors.New("a worker needs Client and Do")
	}
	w.Lease, w.Drain, w.AtOnce = positive(w.Lease, workerLease), positive(w.Drain, workerDrain), max(w.AtOnce, 1)
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var running sync.WaitGroup
	seats := make(chan struct{}, w.AtOnce)
	err := w.loop(ctx, work, seats, &running)
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	patience := time.NewTimer(w.Drain)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
		stop(ErrStopped)
		<-ended
	}
	return err
}

func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// loop takes tasks while there are seats.
func (w Worker) loop(ctx, work context.Context, seats chan struct{}, running *sync.WaitGroup) error {
	in := GetWork{TaskTypes: w.TaskTypes, Tags: w.Tags, WaitSeconds: workerWait, LeaseSeconds: int(max(w.Lease, 10*time.Second) / time.Second)}
	for {
		select {
		case <-ctx.Done():
			return nil
		case seats <- struct{}{}:
		}
		asked := time.Now()
		got, err := w.Client.GetWork(ctx, in)
		switch {
		case err != nil:
			<-seats
			if ctx.Err() != nil { // a claim that was granted at this very moment ends with its lease
				continue
			}
			w.tell("", err)
			if !again(err) {
				return err
			}
			if !pause(ctx, 3, err) {
				return nil
			}
		case !got.Success || got.TaskID == nil:
			<-seats
			if time.Since(asked) < workerPause && !pause(ctx, 3, nil) { // the service does not let claims wait
				return nil
			}
		default:
			running.Go(func() {
				defer func() { <-seats }()
				w.one(work, BatchClaim{TaskID: *got.TaskID, ClaimedTask: got.ClaimedTask})
			})
		}
	}
}

// one does a task and reports how it ended.
func (w Worker) one(ctx context.Context, task BatchClaim) {
	var result map[string]any
	renew := func(ctx context.Context) error {
		out, err := w.Client.HeartbeatWork(ctx, HeartbeatWork{TaskID: task.TaskID, LeaseToken: task.LeaseToken})
		if err == nil && !out.Success {
			err = fmt.Errorf("%w: %s", ErrLeaseLost, out.Why)
		}
		return err
	}
	err := keep(ctx, time.Now(), w.Lease, renew, func(ctx context.Context) (err error) {
		defer func() {
			if v := recover(); v != nil { // a defect of one task ends that task, not the worker
				err = Failed(fmt.Errorf("panic: %v", v))
			}
		}()
		result, err = w.Do(ctx, task)
		return err
	})
	if errors.Is(err, ErrLeaseLost) { // it is somebody else's now
		w.tell(task.TaskID, err)
		return
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(releaseTimeout, w.Lease/3))
	defer cancel()
	var change TaskChange
	var failed *failedError
	var report error
	switch {
	case err == nil:
		change, report = w.Client.CompleteWork(last, CompleteWork{TaskID: task.TaskID, Success: true, Result: result, LeaseToken: task.LeaseToken})
	case context.Cause(ctx) != nil:
		change, report = w.Client.ReleaseWork(last, ReleaseWork{TaskID: task.TaskID, Reason: ErrStopped.Error(), LeaseToken: task.LeaseToken})
	default:
		w.tell(task.TaskID, err)
		change, report = w.Client.CompleteWork(last, CompleteWork{
			TaskID: task.TaskID, ErrorMessage: err.Error(), Result: result, Retryable: !errors.As(err, &failed), LeaseToken: task.LeaseToken,
		})
	}
	if report == nil && !change.Success && change.Reason != "" && err == nil {
		report = fmt.Errorf("the end was not taken: %s", change.Why)
	}
	if report != nil {
		w.tell(task.TaskID, report)
	}
}

func (w Worker) tell(task string, err error) {
	if w.OnError != nil {
		w.OnError(task, err)
	}
}
