package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
)

// ServeFunc runs the API until ctx ends. It calls ready once, with the address it listens on, when it answers.
type ServeFunc func(ctx context.Context, d *Database, addr string, ready func(addr string)) error

// UpOptions says what is brought up.
type UpOptions struct {
	Database DatabaseOptions
	Addr     string // where the API listens; port 0 picks a free one
	Project  string // for up.json: the project of calls that name none
	Serve    ServeFunc
	Log      *slog.Logger
	Progress func(string)
	Runner   *RunnerOptions  // kept running beside the API; nil: none
	Gateway  *GatewayOptions // the same for the verification gateway
	// Ready is told once, when everything answers and up.json is written.
	Ready func(Started)
}

// Started is what Ready is told.
type Started struct {
	Up
	KeyCreated bool
	Embedded   embedpg.Info // the zero value for an external database
	Took       time.Duration
}

// RunningError says that another process of this user runs the installation.
type RunningError struct{ Up Up }

func (e *RunningError) Error() string {
	return fmt.Sprintf("it runs already (pid %d, %s)", e.Up.PID, e.Up.APIURL)
}

const (
	joinWithin = 90 * time.Second // how long a second `up` waits for the first to be ready
	joinPoll   = 100 * time.Millisecond
)

// Up brings the installation up and keeps it up until ctx ends. It fails with *RunningError when another process has
// it up, *PortTakenError when somebody listens on the address, else with the errors of OpenDatabase.
func (h Home) Up(ctx context.Context, o UpOptions) error {
	began := time.Now()
	if err := h.Make(); err != nil {
		return err
	}
	lock, before, err := h.takeLock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // the kernel drops the lock all the same
	if err := checkFree(o.Addr); err != nil {
		return err
	}
	db, err := OpenDatabase(ctx, o.Database)
	if err != nil {
		return err
	}
	key, created, err := h.EnsureKey(ctx, db.URL)
	if err != nil {
		return errors.Join(fmt.Errorf("local key: %w", err), db.Close())
	}
	up := &running{home: h, up: Up{DatabaseURL: db.Loopback, Project: o.Project, APIKey: key, PID: os.Getpid()}}
	if err := up.withRunner(ctx, o, before, db.URL); err != nil {
		return errors.Join(err, db.Close())
	}
	told := false
	for {
		err = up.serve(ctx, o, db, func(u Up) {
			if !told {
				told = true
				o.Ready(Started{Up: u, KeyCreated: created, Embedded: db.Info(), Took: time.Since(began)})
			}
		})
		if !errors.Is(err, ErrMoved) {
			up.stopRunner()
			return errors.Join(err, h.removeUp(), db.Close())
		}
		up.move(db.Loopback)
	}
}

// running is what is up, and its up.json.
type running struct {
	home   Home
	runner *keeper // nil: none is kept

	mu sync.Mutex
	up Up
}

// withRunner prepares the runner, or ends one that an `up` before left behind and nobody wants now.
func (r *running) withRunner(ctx context.Context, o UpOptions, before *Up, dsn string) error {
	if o.Runner == nil {
		if before != nil && before.Runner != nil && before.Runner.Alive() {
			endRunner(before.Runner.PID)
		}
		return nil
	}
	key, err := r.home.ensureRunnerKey(ctx, dsn)
	if err != nil {
		return fmt.Errorf("key of the runner: %w", err)
	}
	r.runner = &keeper{home: r.home, o: *o.Runner, key: key, tell: o.Progress}
	if before != nil {
		r.runner.left, r.runner.leftURL = before.Runner, before.APIURL
	}
	r.runner.changed = func() {
		if err := r.write(func(*Up) {}); err != nil {
			o.Progress("up.json could not be written: " + err.Error())
		}
	}
	return nil
}

func (r *running) stopRunner() {
	if r.runner != nil {
		r.runner.stop()
	}
}

func (r *running) move(dsn string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up.DatabaseURL = dsn
}

// write changes what is up and writes up.json, once the API has an address.
func (r *running) write(f func(*Up)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.up)
	if r.runner != nil {
		r.up.Runner = r.runner.up()
	}
	if r.up.APIURL == "" {
		return nil
	}
	return r.home.writeUp(r.up)
}

func (r *running) view() Up {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.up
}

// serve runs the API (and the gateway) and watches the database until ctx ends, one fails, or the database moved. When ctx ends the
// runner goes first, so that its last reports arrive.
func (r *running) serve(ctx context.Context, o UpOptions, db *Database, ready func(Up)) error {
	serving, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	group, serving := errgroup.WithContext(serving)
	group.Go(func() error {
		select {
		case <-ctx.Done():
			r.stopRunner()
			stop(context.Cause(ctx))
		case <-serving.Done():
		}
		return nil
	})
	group.Go(func() error { return db.Watch(serving, o.Log) })
	gateway := make(chan struct{})
	if o.Gateway == nil {
		close(gateway)
	} else {
		group.Go(func() error {
			r.keepGateway(serving, o, db, func() { close(gateway) })
			return nil
		})
	}
	var failed error
	group.Go(func() error {
		err := o.Serve(serving, db, o.Addr, func(addr string) {
			select { // up.json names both from the beginning
			case <-gateway:
			case <-serving.Done():
			}
			url := "http://" + reachable(addr)
			if r.runner != nil {
				failed = r.runner.point(ctx, url)
			}
			if failed == nil {
				failed = r.write(func(u *Up) { u.APIURL = url })
			}
			if failed != nil {
				stop(failed)
				return
			}
			ready(r.view())
		})
		return errors.Join(err, failed)
	})
	return group.Wait()
}

// reachable is the address a client on this machine uses for one that a server listens on.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// takeLock takes up.lock, or waits until the process that has it is ready and fails with *RunningError. before is what a
// process that was killed had up, nil for none.
func (h Home) takeLock(ctx context.Context) (lock *os.File, before *Up, err error) {
	f, err := os.OpenFile(h.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the installation: %w", err)
	}
	deadline := time.Now().Add(joinWithin)
	for {
		ok, err := tryLock(f)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("lock the installation: %w", err), f.Close())
		}
		if ok {
			if u, err := h.ReadUp(); err == nil {
				before = &u
			}
			return f, before, h.dropStale()
		}
		if u, running := h.Running(ctx); running {
			return nil, nil, errors.Join(&RunningError{u}, f.Close())
		}
		if time.Now().After(deadline) {
			return nil, nil, errors.Join(errors.New("another `coordctl up` is starting and does not get ready; see its output, or coordctl down"), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(joinPoll):
		}
	}
}

// dropStale removes the up.json of a process that was killed: the lock is ours, so nobody runs.
func (h Home) dropStale() error {
	err := os.Remove(h.upFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Down stops the process that has the installation up, then the embedded server. what tells what was stopped.
func (h Home) Down(ctx context.Context) (what []string, err error) {
	u, readErr := h.ReadUp()
	if readErr == nil && processLives(u.PID) && h.locked() {
		if err := terminate(u.PID); err != nil {
			return nil, fmt.Errorf("stop pid %d: %w", u.PID, err)
		}
		if err := h.awaitUnlocked(ctx); err != nil {
			return nil, err
		}
		what = append(what, fmt.Sprintf("the API (pid %d)", u.PID))
	}
	if readErr == nil && u.Runner != nil && u.Runner.Alive() { // it outlived an `up` that was killed
		endRunner(u.Runner.PID)
		what = append(what, fmt.Sprintf("the runner (pid %d)", u.Runner.PID))
	}
	info, err := embedpg.Inspect("")
	if err != nil {
		return what, err
	}
	if info.Running {
		if err := embedpg.Stop(ctx, ""); err != nil {
			return what, err
		}
		what = append(what, fmt.Sprintf("the embedded Postgres (pid %d)", info.PID))
	}
	return what, nil
}

// locked reports whether some process has the installation up.
func (h Home) locked() bool {
	f, err := os.OpenFile(h.lockFile(), os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // drops a lock that was taken to look
	ok, err := tryLock(f)
	return err == nil && !ok
}

func (h Home) awaitUnlocked(ctx context.Context) error {
	for h.locked() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it does not stop: %w", context.Cause(ctx))
		case <-time.After(joinPoll):
		}
	}
	return nil
}
