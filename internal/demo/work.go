package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// task is what the demonstration reads of the queue's replies.
type task struct {
	Success bool   `json:"success"`
	ID      string `json:"task_id"`
	Reason  string `json:"reason"`
	Status  string `json:"status"`
}

func submit(ctx context.Context, a agent, kind, text string) (string, error) {
	var t task
	err := a.call(ctx, "submit_work", map[string]any{"task_type": kind, "task_description": text}, &t)
	return t.ID, err
}

func claimTask(ctx context.Context, a agent, kind string, wait int) (task, error) {
	var t task
	args := map[string]any{"task_types": []any{kind}}
	if wait > 0 {
		args["wait_seconds"] = float64(wait)
	}
	return t, a.call(ctx, "get_work", args, &t)
}

func complete(ctx context.Context, a agent, id string) error {
	var t task
	if err := a.call(ctx, "complete_work", map[string]any{"task_id": id, "success": true}, &t); err != nil {
		return err
	}
	if !t.Success {
		return fmt.Errorf("%s could not complete %s: %s", a.name(), id, t.Reason)
	}
	return nil
}

const tasks = 30

// thirtyTasks: three agents take tasks at the same time; none is taken twice, none is left.
func (s *stage) thirtyTasks(ctx context.Context) error {
	s.tell.act(fmt.Sprintf("%d tasks, three agents at once", tasks))
	for i := range tasks {
		if _, err := submit(ctx, s.cleo, "demo", fmt.Sprintf("task %d", i+1)); err != nil {
			return err
		}
	}
	began := time.Now()
	var mu sync.Mutex
	var errs []error
	takers := map[string][]string{} // task → who claimed it
	var all sync.WaitGroup
	for _, a := range []agent{s.ana, s.bob, s.cleo} {
		all.Go(func() {
			err := workOff(ctx, a, "demo", func(id string) {
				mu.Lock()
				defer mu.Unlock()
				takers[id] = append(takers[id], a.name())
			})
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	took := time.Since(began)
	twice, share := 0, map[string]int{}
	for _, who := range takers {
		if len(who) > 1 {
			twice++
		}
		for _, name := range who {
			share[name]++
		}
	}
	s.tell.check(len(takers) == tasks, "every task was claimed", "%d of %d in %d ms (%s)", len(takers), tasks, took.Milliseconds(), shares(share))
	s.tell.check(twice == 0, "none was claimed twice", "%d double claims", twice)
	done := 0
	for id := range takers {
		status, err := s.status(ctx, id)
		if err != nil {
			return err
		}
		if status == "completed" {
			done++
		}
	}
	s.tell.check(done == tasks, "every task ended once, completed", "%d of %d are completed", done, tasks)
	return nil
}

func shares(share map[string]int) string {
	var parts []string
	for name, n := range share {
		parts = append(parts, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func workOff(ctx context.Context, a agent, kind string, took func(id string)) error {
	for {
		t, err := claimTask(ctx, a, kind, 0)
		if err != nil || !t.Success {
			return err
		}
		took(t.ID)
		if err := complete(ctx, a, t.ID); err != nil {
			return err
		}
	}
}

func (s *stage) status(ctx context.Context, id string) (string, error) {
	var r struct {
		Task struct {
			Status string `json:"status"`
		} `json:"task"`
	}
	err := s.watcher.call(ctx, "get_task", map[string]any{"task_id": id}, &r)
	return r.Task.Status, err
}

const (
	lapse     = 5 // seconds of silence after which dora's session counts as dead; 120 unless set
	orphaned  = "src/payment.go"
	waitAfter = 40
)

// killed: what a dead agent held is free again once its session lapsed.
func (s *stage) killed(ctx context.Context) error {
	s.tell.act("An agent is killed in the middle of its work")
	dora, err := s.mcpAgent(ctx, "dora", "claude_code")
	if err != nil {
		return err
	}
	id, err := s.busy(ctx, dora)
	if err != nil {
		return errors.Join(err, dora.client.Kill())
	}
	pid := dora.client.PID()
	died := time.Now()
	if err := dora.client.Kill(); err != nil {
		return fmt.Errorf("kill dora: %w", err)
	}
	s.tell.say("dora (process %d) holds %s and a task and is killed with -9; its session lapses after %d s of silence (120 unless set).", pid, orphaned, lapse)
	lock := waitFor(ctx, s.bob, orphaned, waitAfter)
	t, err := claimTask(ctx, s.cleo, "fragile", 30)
	if err != nil {
		return err
	}
	s.tell.check(t.Success && t.ID == id, "its task comes back", "cleo got the same task %.1f s after the kill", time.Since(died).Seconds())
	if t.Success {
		if err := complete(ctx, s.cleo, t.ID); err != nil {
			return err
		}
	}
	got := <-lock
	if got.err != nil {
		return got.err
	}
	s.tell.check(got.reply.Success, "its lock is freed, long before its TTL", "bob got %s %.1f s after the kill", orphaned, got.at.Sub(died).Seconds())
	if !got.reply.Success {
		return nil
	}
	return release(ctx, s.bob, orphaned)
}

// busy gives dora a session that lapses soon, a lock and a task, and returns the task.
func (s *stage) busy(ctx context.Context, dora *mcpAgent) (string, error) {
	id, err := submit(ctx, s.cleo, "fragile", "a task whose agent dies")
	if err != nil {
		return "", err
	}
	if err := dora.call(ctx, "register_session", map[string]any{"lapse_seconds": float64(lapse)}, nil); err != nil {
		return "", err
	}
	lock, err := acquire(ctx, dora, orphaned, 0)
	if err != nil {
		return "", err
	}
	t, err := claimTask(ctx, dora, "fragile", 0)
	if err != nil {
		return "", err
	}
	if !lock.Success || t.ID != id {
		return "", fmt.Errorf("dora could not begin: lock %s, task %s", lock.Reason, t.Reason)
	}
	return id, dora.call(ctx, "heartbeat", map[string]any{}, nil)
}

// twice: a request repeated with its key happens once.
func (s *stage) twice(ctx context.Context) error {
	s.tell.act("A request is repeated after a lost reply")
	args := map[string]any{"task_type": "once", "task_description": "charge the card"}
	var first, second task
	if _, err := s.cleo.callOnce(ctx, "submit_work", "order-4711", args, &first); err != nil {
		return err
	}
	replayed, err := s.cleo.callOnce(ctx, "submit_work", "order-4711", args, &second)
	if err != nil {
		return err
	}
	s.tell.check(replayed && first.ID != "" && first.ID == second.ID, "the repeat gets the first reply", "both say task %.8s…", second.ID)
	found := 0
	if err := workOff(ctx, s.bob, "once", func(string) { found++ }); err != nil {
		return err
	}
	s.tell.check(found == 1, "and happens once", "the queue held %d task", found)
	return nil
}

// borrowed: a key that is bound to one agent cannot act as another.
func (s *stage) borrowed(ctx context.Context) error {
	s.tell.act("A key is used in somebody else's name")
	thief := &httpAgent{id: "bob", remote: s.cleo.remote, cat: s.cat}
	_, err := acquire(ctx, thief, "src/secret.go", 0)
	if err != nil && !fault.Is(err, client.CodeForbidden) {
		return err
	}
	s.tell.check(fault.Is(err, client.CodeForbidden), "cleo's key cannot act as bob", "%s", answerOf(err))
	return nil
}
