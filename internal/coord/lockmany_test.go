package coord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// crowd is a store whose calls of the short path all go in batches, and agents that use it.
type crowd struct {
	t     *testing.T
	store *Store
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	s := New(pgtest.New(t, pgtest.MaxConns(6)))
	s.takes.direct, s.frees.direct = 0, 0
	return &crowd{t, s}
}

func (c *crowd) agent(i int) ident.Caller {
	c.t.Helper()
	name := fmt.Sprintf("agent-%d", i)
	who, err := c.store.Resolve(context.Background(), ident.Principal{Name: "key:crowd", Scopes: []ident.Scope{ident.Write}},
		ident.Claim{Agent: name, Session: name, Project: "crowd"}, true)
	if err != nil {
		c.t.Fatal(err)
	}
	return who
}

// all runs fn for n agents at once.
func (c *crowd) all(n int, fn func(i int, who ident.Caller) error) {
	c.t.Helper()
	agents := make([]ident.Caller, n)
	for i := range agents {
		agents[i] = c.agent(i)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = fn(i, agents[i]) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			c.t.Errorf("agent %d: %v", i, err)
		}
	}
}

func (c *crowd) count(sql string) (n int) {
	c.t.Helper()
	if err := c.store.Pool().QueryRow(context.Background(), sql).Scan(&n); err != nil {
		c.t.Fatal(err)
	}
	return n
}

func TestManyLocksAtOnceAreEachTheirOwn(t *testing.T) {
	t.Parallel()
	const agents, rounds = 40, 5
	c := newCrowd(t)
	c.all(agents, func(i int, who ident.Caller) error {
		path := fmt.Sprintf("src/pkg%d/file.go", i)
		last := ""
		for range rounds {
			got, err := c.store.AcquireLock(context.Background(), who, client.AcquireLock{FilePath: path, Reason: "editing"}, nil)
			if err != nil || got.Result.Action != "acquired" || got.Result.FilePath != path || len(got.Result.FencingToken) < len(last) {
				return fmt.Errorf("acquire: %+v, %w", got.Result, err)
			}
			last = got.Result.FencingToken
			again, err := c.store.AcquireLock(context.Background(), who, client.AcquireLock{FilePath: path}, nil)
			if err != nil || again.Result.Action != "refreshed" || again.Result.FencingToken != last {
				return fmt.Errorf("renew: %+v, %w", again.Result, err)
			}
			freed, err := c.store.ReleaseLock(context.Background(), who, client.ReleaseLock{FilePath: path})
			if err != nil || !freed.Released || freed.FilePath != path {
				return fmt.Errorf("release: %+v, %w", freed, err)
			}
		}
		return nil
	})
	if n := c.count("select count(*) from public.file_locks"); n != 0 {
		t.Errorf("%d locks are left", n)
	}
	if n := c.count("select count(*) from coord.audit_log where operation in ('acquire_lock', 'release_lock') and agent_id = session_id"); n != 2*agents*rounds {
		t.Errorf("%d audit rows, want one per change: %d", n, 2*agents*rounds)
	}
}

// One key is granted once, whether the calls for it meet in one batch or in several, beside calls that lock what lies
// around it.
func TestManyLocksAtOnceHaveOneWinner(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	for round := range 10 {
		path := fmt.Sprintf("src/race%d/file.go", round)
		var mu sync.Mutex
		held, blocked := 0, 0
		c.all(30, func(i int, who ident.Caller) error {
			in := client.AcquireLock{FilePath: path}
			if i%10 == 9 {
				in.FilePath = fmt.Sprintf("src/race%d/", round)
			}
			got, err := c.store.AcquireLock(context.Background(), who, in, nil)
			mu.Lock()
			defer mu.Unlock()
			if got.Result.Success {
				held++
			} else if got.Result.Reason == "locked_by_other" && got.Result.LockedBy != who.Agent {
				blocked++
			}
			return err
		})
		if held != 1 || blocked != 29 {
			t.Fatalf("round %d: %d hold it, %d were refused", round, held, blocked)
		}
	}
}

func TestManyReleasesFreeOnlyWhatIsHeld(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	owner := c.agent(0)
	if _, err := c.store.AcquireLock(t.Context(), owner, client.AcquireLock{FilePath: "src/file.go"}, nil); err != nil {
		t.Fatal(err)
	}
	c.all(20, func(i int, who ident.Caller) error {
		freed, err := c.store.ReleaseLock(context.Background(), who, client.ReleaseLock{FilePath: "src/file.go"})
		if freed.Released != (i == 0) {
			return fmt.Errorf("%+v", freed)
		}
		return err
	})
}

// A grant that was made together with others goes back when its caller left meanwhile; the others keep theirs.
func TestManyLocksAtOnceGiveBackWhoLeft(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.store.takes.workers = 1
	holder, leaver, stayer := c.agent(0), c.agent(1), c.agent(2)

	// The first call holds the only worker, so that the next two wait and go together; their answer is held back.
	began, first, together, answer := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	alone, many := c.store.takes.alone, c.store.takes.many
	c.store.takes.alone = func(ctx context.Context, k oneKey) (fastRow, error) {
		close(began)
		<-first
		return alone(ctx, k)
	}
	c.store.takes.many = func(ctx context.Context, k []oneKey) ([]fastRow, error) {
		out, err := many(ctx, k)
		close(together)
		<-answer
		return out, err
	}
	undone := make(chan struct{})
	undo := c.store.takes.undo
	c.store.takes.undo = func(ctx context.Context, k oneKey, r fastRow) {
		undo(ctx, k, r)
		close(undone)
	}

	var wg sync.WaitGroup
	defer wg.Wait()
	take := func(ctx context.Context, who ident.Caller, path string) chan error {
		done := make(chan error, 1)
		wg.Go(func() {
			got, err := c.store.AcquireLock(ctx, who, client.AcquireLock{FilePath: path}, nil)
			if err == nil && !got.Result.Success {
				err = fmt.Errorf("%+v", got.Result)
			}
			done <- err
		})
		return done
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	a := take(context.Background(), holder, "src/a.go")
	<-began
	b, d := take(ctx, leaver, "src/b.go"), take(context.Background(), stayer, "src/d.go")
	for n := 0; n < 2; {
		c.store.takes.mu.Lock()
		n = len(c.store.takes.queue)
		c.store.takes.mu.Unlock()
	}
	close(first)
	<-together
	leave()
	if err := <-b; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	close(answer)
	<-undone
	if err := errors.Join(<-a, <-d); err != nil {
		t.Error(err)
	}
	if n := c.count("select count(*) from public.file_locks where locked_by in ('agent-0', 'agent-2')"); n != 2 {
		t.Errorf("%d locks of those who stayed, want 2", n)
	}
	if n := c.count("select count(*) from public.file_locks where locked_by = 'agent-1'"); n != 0 {
		t.Errorf("%d locks of the one who left", n)
	}
	if n := c.count("select count(*) from coord.audit_log where agent_id = 'agent-1' and operation = 'release_lock' and reason = 'caller_gone'"); n != 1 {
		t.Errorf("%d audit rows of what was given back", n)
	}
}
