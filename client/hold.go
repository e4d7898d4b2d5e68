package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	holdMinutes    = 2                // TTL of locks that WithLock takes, unless it is told another: it renews them
	releaseTimeout = 10 * time.Second // of the last call, which may not hang a program that ends
)

// ErrLeaseLost is the cause of the context of a function whose lock or task was lost: it expired, was taken away, or the
// service could not be asked for as long as the lease ran. Whoever works under it must stop writing.
var ErrLeaseLost = errors.New("the lease was lost")

// RefusedError is what WithLock returns when others hold the path. Result names them.
type RefusedError struct{ Result LockResult }

// Error says who holds what.
func (e *RefusedError) Error() string {
	r := e.Result
	s := fmt.Sprintf("%s is locked by %s until %s", r.FilePath, r.LockedBy, r.ExpiresAt)
	if r.LockReason != "" {
		s += " (" + r.LockReason + ")"
	}
	if r.LockedBy == "" {
		s = fmt.Sprintf("%s was not locked: %s", r.FilePath, r.Reason)
	}
	return s
}

// HeldLock is what a function under WithLock holds.
type HeldLock struct {
	FilePath     string
	FencingToken string      // send it along with writes, so that a store can refuse those of an earlier holder
	Locks        []LockToken // each path and its token, when there are several
}

// WithLock takes the locks, runs fn, and gives them back. While fn runs they are renewed, every third of their TTL
// (TTLMinutes, 2 unless set). When they are lost, fn's context ends with the cause ErrLeaseLost, and WithLock returns an
// error that wraps it, whatever fn returns.
//
// Set in.WaitSeconds to wait in line. When others hold a path, fn does not run and the error is *RefusedError. Else the
// error is fn's own. A lock that the session held before is renewed and left to its holder; programs that do several
// things at a time under one agent need a session each (WithSession), for a lock belongs to a session.
func (c *AgentCoordinationClient) WithLock(ctx context.Context, in AcquireLock, fn func(ctx context.Context, held HeldLock) error) error {
	if in.TTLMinutes == 0 {
		in.TTLMinutes = holdMinutes
	}
	return c.withLock(ctx, in, time.Duration(in.TTLMinutes)*time.Minute, fn)
}

func (c *AgentCoordinationClient) withLock(ctx context.Context, in AcquireLock, ttl time.Duration, fn func(context.Context, HeldLock) error) error {
	asked := time.Now()
	got, err := c.AcquireLock(ctx, in)
	if err != nil {
		return err
	}
	if !got.Success {
		return &RefusedError{got}
	}
	if waited := time.Duration(got.WaitedMS) * time.Millisecond; waited > 0 {
		asked = asked.Add(waited)
	}
	in.WaitSeconds = 0
	renew := func(ctx context.Context) error {
		again, err := c.AcquireLock(ctx, in)
		switch {
		case err != nil:
			return err
		case !again.Success:
			return fmt.Errorf("%w: %w", ErrLeaseLost, &RefusedError{again})
		case !sameGrant(got, again): // it had ended, and somebody may have been there in between
			return fmt.Errorf("%w: it had expired and was granted anew", ErrLeaseLost)
		}
		return nil
	}
	err = keep(ctx, asked, ttl, renew, func(ctx context.Context) error {
		return fn(ctx, HeldLock{got.FilePath, got.FencingToken, got.Locks})
	})
	if got.Action != "refreshed" {
		// A failure here is none of fn's: the lock ends by itself.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_, _ = c.ReleaseLock(last, ReleaseLock{FilePath: in.FilePath, FilePaths: in.FilePaths, Branch: in.Branch})
	}
	return err
}

func sameGrant(a, b LockResult) bool {
	if a.FencingToken != b.FencingToken || len(a.Locks) != len(b.Locks) {
		return false
	}
	for i := range a.Locks {
		if a.Locks[i] != b.Locks[i] {
			return false
		}
	}
	return true
}

// keep runs fn while renew, every third of ttl, keeps the lease. fn's context ends with the cause ErrLeaseLost when renew
// says so, or when the lease has run out because nobody could be asked. began is when the lease did.
func keep(ctx context.Context, began time.Time, ttl time.Duration, renew, fn func(context.Context) error) error {
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	renewing, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := renewals(renewing, began, ttl, renew); err != nil {
			lose(err)
		}
	}()
	err := fn(ctx)
	stop()
	<-done
	if cause := context.Cause(ctx); errors.Is(cause, ErrLeaseLost) {
		return errors.Join(cause, err)
	}
	return err
}

// renewals renews until ctx is done or the lease is lost, which is its error.
func renewals(ctx context.Context, began time.Time, ttl time.Duration, renew func(context.Context) error) error {
	tick := time.NewTicker(ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		asked := time.Now()
		try, end := context.WithDeadline(ctx, began.Add(ttl))
		err := renew(try)
		end()
		var e *Error
		switch {
		case err == nil:
			began = asked
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrLeaseLost):
			return err
		case errors.As(err, &e) && e.Code == CodeLeaseLost:
			return fmt.Errorf("%w: %w", ErrLeaseLost, err)
		case time.Until(began.Add(ttl)) <= 0:
			return fmt.Errorf("%w: the service could not be asked in time: %w", ErrLeaseLost, err)
		}
	}
}
