package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// tree is a session with what grows below it while it is stopped.
type tree struct {
	fleet
	top     client.CreatedRun
	stopped atomic.Bool // the stop was answered
	over    atomic.Bool // nobody need look any more; a look that was cut off might still take a run of the next tree

	mu       sync.Mutex
	sessions []string
	grew     chan struct{}
}

// any is a session of the tree.
func (tr *tree) any() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.sessions[rand.N(len(tr.sessions))]
}

// grow starts children of any of its sessions until one of them refuses, being stopped.
func (tr *tree) grow() {
	for {
		run, err := do[client.CreatedRun](tr.world, anyone, "", "", "create_run", map[string]any{"type": "start_session", "prompt": "grow", "parent_session_id": tr.any()})
		var e *client.Error
		switch {
		case err == nil:
			tr.mu.Lock()
			tr.sessions = append(tr.sessions, run.SessionID)
			tr.mu.Unlock()
			select {
			case tr.grew <- struct{}{}:
			default:
			}
		case errors.As(err, &e) && e.Code == client.CodeConflict:
			return
		case errors.As(err, &e) && (e.Code == client.CodeInvalid || e.Code == client.CodeExhausted): // as deep or as wide as trees may be
		default:
			tr.t.Errorf("a child: %v", err)
			return
		}
	}
}

// execute polls for a runner, begins what it gets, and ends what it is told to.
func (tr *tree) execute(runner string) {
	for !tr.over.Load() {
		late := tr.stopped.Load()
		p, err := tr.store.PollRunner(context.Background(), ident.Caller{By: "key:runner"}, runner)
		if err != nil {
			tr.t.Errorf("poll: %v", err)
			return
		}
		if p.Run != nil {
			if late {
				tr.t.Errorf("a run was handed out after the stop: %s", p.Run)
			}
			var run client.Run
			if err := json.Unmarshal(p.Run, &run); err != nil {
				tr.t.Error(err)
			}
			_ = tr.report(runner, run.RunID, "started") // it may have been stopped meanwhile
		}
		for _, id := range p.StopRuns {
			if err := tr.report(runner, id, "stopped"); err != nil {
				tr.t.Errorf("stopped: %v", err)
			}
		}
	}
}

// TestASubtreeThatIsStoppedGrowsNoMore stops a tree while children are started all over it and two runners take them:
// nothing is begun after the stop, and nothing is left that could be.
func TestASubtreeThatIsStoppedGrowsNoMore(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	runners := []string{f.register("a"), f.register("b")}
	for range 6 {
		tr := &tree{fleet: f, top: f.run(), grew: make(chan struct{}, 1)}
		f.claim(runners[0], tr.top.RunID)
		f.reports(runners[0], tr.top.RunID, "started")
		tr.sessions = []string{tr.top.SessionID}
		var growing, executing sync.WaitGroup
		for range 3 {
			growing.Go(tr.grow)
		}
		for _, r := range runners {
			executing.Go(func() { tr.execute(r) })
		}
		for range 1 + rand.N(8) {
			<-tr.grew
		}
		must[client.StoppedSession](f.world, anyone, "", "", "stop_session", map[string]any{"session_id": tr.top.SessionID, "tree": true})
		tr.stopped.Store(true)
		growing.Wait()
		const open = `select count(*) from public.runs r where r.status = any ($2) and r.session_id in (select t.session_id from coord.tree_of($1) t)`
		if n := scan[int](f.world, open, tr.top.SessionID, []string{"pending", "claimed", "running"}); n > 0 {
			t.Errorf("%d runs go on in a tree that was stopped", n)
		}
		for scan[int](f.world, open, tr.top.SessionID, []string{"stopping"}) > 0 {
			next(t)
		}
		tr.over.Store(true)
		executing.Wait()
		if n := scan[int](f.world, `select count(*) from public.sessions s where s.status in ('pending', 'running', 'stopping') and s.session_id in (select t.session_id from coord.tree_of($1) t)`, tr.top.SessionID); n > 0 {
			t.Errorf("%d sessions of the tree are not over", n)
		}
	}
}
