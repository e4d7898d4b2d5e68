package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// lockReply is what the demonstration reads of a lock's reply.
type lockReply struct {
	Success       bool   `json:"success"`
	Action        string `json:"action"`
	Reason        string `json:"reason"`
	LockedBy      string `json:"locked_by"`
	LockReason    string `json:"lock_reason"`
	ExpiresAt     string `json:"expires_at"`
	Token         string `json:"fencing_token"`
	QueuePosition int    `json:"queue_position"`
}

const (
	contested = "src/login.go"
	because   = "rewriting the login form"
)

func acquire(ctx context.Context, a agent, path string, wait int) (lockReply, error) {
	var r lockReply
	args := map[string]any{"file_path": path, "reason": because}
	if wait > 0 {
		args["wait_seconds"] = float64(wait)
	}
	return r, a.call(ctx, "acquire_lock", args, &r)
}

func release(ctx context.Context, a agent, path string) error {
	var r lockReply
	if err := a.call(ctx, "release_lock", map[string]any{"file_path": path}, &r); err != nil {
		return err
	}
	if !r.Success {
		return fmt.Errorf("%s could not release %s: %s", a.name(), path, r.Reason)
	}
	return nil
}

// sameFile: who comes second is refused, and told by whom, why and for how long.
func (s *stage) sameFile(ctx context.Context) error {
	s.tell.act("Three agents want the same file")
	first, err := acquire(ctx, s.ana, contested, 0)
	if err != nil {
		return err
	}
	s.tell.check(first.Success, "the first agent gets the file", "ana locked %s, token %s", contested, first.Token)
	second, err := acquire(ctx, s.bob, contested, 0)
	if err != nil {
		return err
	}
	left := minutesLeft(second.ExpiresAt)
	s.tell.check(!second.Success && second.LockedBy == "ana" && second.LockReason == because && left > 0,
		"the second is refused and told why", "bob: %s by %s (%q), %d minutes left", second.Action, second.LockedBy, second.LockReason, left)
	glob, err := acquire(ctx, s.cleo, "src/**", 0)
	if err != nil {
		return err
	}
	s.tell.check(!glob.Success && glob.LockedBy == "ana", "a pattern over the file is refused too", "cleo asked for src/** over HTTP: %s by %s", glob.Action, glob.LockedBy)
	free, err := acquire(ctx, s.cleo, "docs/guide.md", 0)
	if err != nil {
		return err
	}
	s.tell.check(free.Success, "another file is free", "cleo locked docs/guide.md, token %s", free.Token)
	return nil
}

func minutesLeft(expires string) int {
	at, err := time.Parse(time.RFC3339Nano, expires)
	if err != nil {
		return 0
	}
	return int(math.Ceil(time.Until(at).Minutes()))
}

// served is a waiting call's end.
type served struct {
	reply lockReply
	err   error
	at    time.Time
}

func waitFor(ctx context.Context, a agent, path string, seconds int) <-chan served {
	done := make(chan served, 1)
	go func() {
		r, err := acquire(ctx, a, path, seconds)
		done <- served{r, err, time.Now()}
	}()
	return done
}

// awaitPlace asks, without queuing, until a newcomer would be at that place in the queue.
func (s *stage) awaitPlace(ctx context.Context, path string, place int) error {
	for {
		r, err := acquire(ctx, s.watcher, path, 0)
		if err != nil {
			return err
		}
		if r.Success {
			return errors.Join(fmt.Errorf("%s was free while it should be held", path), release(ctx, s.watcher, path))
		}
		if r.QueuePosition >= place {
			return nil
		}
		if err := loop.Pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// queue: those who wait are served in the order they came.
func (s *stage) queue(ctx context.Context) error {
	s.tell.act("They queue for it")
	bob := waitFor(ctx, s.bob, contested, 30)
	if err := s.awaitPlace(ctx, contested, 2); err != nil {
		return err
	}
	cleo := waitFor(ctx, s.cleo, contested, 30)
	if err := s.awaitPlace(ctx, contested, 3); err != nil {
		return err
	}
	s.tell.say("bob waits, cleo waits behind bob; ana releases.")
	freed := time.Now()
	if err := release(ctx, s.ana, contested); err != nil {
		return err
	}
	var b, c served
	select {
	case b = <-bob:
	case c = <-cleo:
		s.tell.check(false, "first come, first served", "cleo was served before bob")
		return errors.Join(c.err, errors.New("the queue was not kept"))
	}
	if b.err != nil {
		return b.err
	}
	s.tell.check(b.reply.Success, "first come, first served", "bob got it %d ms after ana's release", b.at.Sub(freed).Milliseconds())
	freed = time.Now()
	if err := release(ctx, s.bob, contested); err != nil {
		return err
	}
	if c = <-cleo; c.err != nil {
		return c.err
	}
	s.tell.check(c.reply.Success, "then the next", "cleo got it %d ms after bob's release", c.at.Sub(freed).Milliseconds())
	s.bob.token, s.cleo.token = b.reply.Token, c.reply.Token
	return nil
}

// staleToken: whoever held the file earlier is found out by the token.
func (s *stage) staleToken(ctx context.Context) error {
	s.tell.act("An old token no longer counts")
	old, now := s.bob.token, s.cleo.token
	was, errWas := strconv.ParseInt(old, 10, 64)
	is, errIs := strconv.ParseInt(now, 10, 64)
	s.tell.check(errors.Join(errWas, errIs) == nil && is > was, "tokens grow", "bob's was %s, cleo's is %s", old, now)
	err := s.watcher.call(ctx, "verify_lock", map[string]any{"file_path": contested, "fencing_token": old}, nil)
	if err != nil && !fault.Is(err, client.CodeLeaseLost) {
		return err
	}
	s.tell.check(fault.Is(err, client.CodeLeaseLost), "the old token is rejected", "%s", answerOf(err))
	err = s.watcher.call(ctx, "verify_lock", map[string]any{"file_path": contested, "fencing_token": now}, nil)
	if err != nil && !fault.Is(err, client.CodeLeaseLost) {
		return err
	}
	s.tell.check(err == nil, "the present one is accepted", "%s", answerOf(err))
	return release(ctx, s.cleo, contested)
}

func answerOf(err error) string {
	if err == nil {
		return "accepted"
	}
	f := fault.From(err)
	return fmt.Sprintf("%s: %s", f.Code, f.What)
}
