package embedpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// startAttempts bounds the tries of one Start: a port may be taken between our look and the server's bind.
const startAttempts = 5

// Start joins the server of o.Dir, or creates and starts it. The server stays up at least until Close.
// Called again after the server died it repairs and starts it anew, on the same port if that is free.
//
// ctx bounds the call only, not the server. Errors: ErrNoBinaries, ErrMajor, ErrNotOurs, ErrDBUser,
// ErrNoHook, ctx's cause, or a failed start with the end of the server's log.
func Start(ctx context.Context, o Options) (*Server, error) {
	if !hooked.Load() && o.Grace >= 0 {
		return nil, ErrNoHook
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	clearLibpqEnv()
	l, u, err := prepareLayout(o.Dir)
	if err != nil {
		return nil, err
	}
	start, err := openLock(l.startLock())
	if err != nil {
		return nil, err
	}
	defer start.release()
	if err := start.acquire(ctx, true); err != nil {
		return nil, err
	}
	users, err := openLock(l.usersLock())
	if err != nil {
		return nil, err
	}
	s, err := startLocked(ctx, o, l, u, users)
	if err != nil {
		users.release()
		return nil, err
	}
	return s, nil
}

// startLocked does Start's work under start.lock.
func startLocked(ctx context.Context, o Options, l layout, u dbUser, users *fileLock) (*Server, error) {
	if err := users.acquire(ctx, false); err != nil {
		return nil, err
	}
	users.touch()
	password, fresh, err := secret(l)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	e, running := findRunning(ctx, l, password)
	if !running {
		e, err = bringUp(ctx, o, l, u, password, fresh)
		if err != nil {
			return nil, err
		}
	}
	if err := writeGrace(l, o.Grace, running); err != nil {
		return nil, err
	}
	if o.Grace >= 0 {
		if err := ensureWatcher(l); err != nil {
			return nil, err
		}
	}
	o.Log.Debug("postgres ready", "joined", running, "port", e.Port, "version", e.Version, "data", e.DataDir,
		"dur_ms", time.Since(began).Milliseconds())
	return &Server{l: l, e: e, password: password, users: users}, nil
}

// findRunning returns the live server of l: the one info.json names, or one whose starter died before it
// could write that, as the server's own pid file names it.
func findRunning(ctx context.Context, l layout, password string) (endpoint, bool) {
	e := readEndpoint(l)
	if e.DataDir == l.data() && probe(ctx, e, password, l.data()) == nil {
		return e, true
	}
	pm, ok := readPostmasterPID(l.data())
	if !ok || !postmasterRuns(pm.pid, l.data()) {
		return e, false
	}
	e.Port, e.SocketDir, e.PID, e.DataDir = pm.port, pm.socketDir, pm.pid, l.data()
	if probe(ctx, e, password, l.data()) != nil {
		return e, false
	}
	return e, writeEndpoint(l, e) == nil
}

// bringUp creates the cluster if needed and starts the server.
func bringUp(ctx context.Context, o Options, l layout, u dbUser, password string, fresh bool) (endpoint, error) {
	major, err := clusterMajor(l.data())
	if err != nil {
		return endpoint{}, err
	}
	b, err := binariesFor(ctx, l, u, major, o.Progress)
	if err != nil {
		return endpoint{}, err
	}
	if major == 0 {
		o.Progress("creating the database cluster in " + l.data())
		if err := createCluster(ctx, l, u, b, password, o.Unsafe); err != nil {
			return endpoint{}, err
		}
	} else {
		if err := clearTheDead(ctx, l.data()); err != nil {
			return endpoint{}, err
		}
		if fresh {
			o.Log.Warn("the password file was lost, a new one is set", "data", l.data())
			if err := resetPassword(ctx, u, b, l.data(), password); err != nil {
				return endpoint{}, err
			}
		}
	}
	o.Progress("starting Postgres " + b.Version)
	return startServer(ctx, o, l, u, b, password)
}

// binariesFor prefers the programs of the last start: no search, and the same minor version.
func binariesFor(ctx context.Context, l layout, u dbUser, major int, progress func(string)) (Binaries, error) {
	if last := readEndpoint(l).BinDir; last != "" && major != 0 && os.Getenv("COORD_PG_BIN") == "" {
		if b, err := inspectBinaries(ctx, u, last, "last start"); err == nil && b.Major == major {
			return b, nil
		}
	}
	return findBinaries(ctx, u, major, progress)
}

// clearTheDead removes what a dead server left in the way of the next one. It touches nothing of a live
// postmaster that merely does not answer.
func clearTheDead(ctx context.Context, dataDir string) error {
	pm, ok := readPostmasterPID(dataDir)
	if ok && postmasterRuns(pm.pid, dataDir) {
		return fmt.Errorf("%w: process %d holds %s but does not answer", ErrNotAlive, pm.pid, dataDir)
	}
	if err := awaitOrphans(ctx, dataDir); err != nil {
		return err
	}
	if !ok {
		return nil
	}
	// Postgres refuses to start when any process of its account has the number in the file, as happens
	// after a restart of the machine. Its own check of the shared memory does not need the file.
	if err := os.Remove(filepath.Join(dataDir, "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the stale pid file: %w", err)
	}
	return nil
}

// awaitOrphans waits for the children of a killed postmaster to notice and go. Those in the middle of a
// long computation do not look; they are ended the way a crashing postmaster ends its children, because
// they hold the shared memory without which no server starts.
func awaitOrphans(ctx context.Context, dataDir string) error {
	const polite, forced, step = time.Second, 5 * time.Second, 20 * time.Millisecond
	for waited := time.Duration(0); waited < forced; waited += step {
		orphans := serverProcesses(dataDir)
		if len(orphans) == 0 {
			return nil
		}
		if waited == polite {
			quit(orphans)
		}
		if err := loop.Pause(ctx, step); err != nil {
			return fmt.Errorf("wait for the dead server's children: %w", err)
		}
	}
	return nil // Postgres decides whether they are in its way
}

// clearSockets removes what a dead server left in its private socket directory, for the same reason.
func clearSockets(dir string) error {
	if dir == "" {
		return nil
	}
	old, err := filepath.Glob(filepath.Join(dir, ".s.PGSQL.*"))
	if err != nil {
		return fmt.Errorf("clear the socket directory: %w", err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear the socket directory: %w", err)
		}
	}
	return nil
}

// startServer runs pg_ctl until the server answers.
func startServer(ctx context.Context, o Options, l layout, u dbUser, b Binaries, password string) (endpoint, error) {
	socket, err := socketDir(l, u)
	if err != nil {
		return endpoint{}, err
	}
	if err := clearSockets(socket); err != nil {
		return endpoint{}, err
	}
	if err := prepareLog(l, u); err != nil {
		return endpoint{}, err
	}
	lz4 := supportsLZ4(ctx, u, b, l.data())
	last := readEndpoint(l).Port
	for attempt := 1; ; attempt++ {
		port, err := freePort(last)
		if err != nil {
			return endpoint{}, err
		}
		if err := writeConf(l.data(), u, settings(port, socket, lz4, o.Unsafe, o.Settings)); err != nil {
			return endpoint{}, err
		}
		e := endpoint{Port: port, SocketDir: socket, DataDir: l.data(), BinDir: b.Dir, Version: b.Version, Account: u.name, StartedAt: time.Now().UTC()}
		if err = pgCtlStart(ctx, l, u, b); err == nil {
			if err = probe(ctx, e, password, l.data()); err == nil {
				pm, _ := readPostmasterPID(l.data())
				e.PID = pm.pid
				return e, writeEndpoint(l, e)
			}
		}
		if attempt == startAttempts || ctx.Err() != nil || isFree(port) {
			return endpoint{}, err // the port was not what it failed for
		}
		o.Log.Warn("the port was taken meanwhile, trying another", "port", port, "attempt", attempt)
	}
}

func pgCtlStart(ctx context.Context, l layout, u dbUser, b Binaries) error {
	var before int64
	if st, err := os.Stat(l.serverLog()); err == nil {
		before = st.Size()
	}
	// Without -l the server would inherit the pipes of an MCP host, which then never sees the end of file.
	cmd := u.command(ctx, b.program("pg_ctl"), "-D", l.data(), "-l", l.serverLog(), "-w", "-t",
		strconv.Itoa(int(startupTimeout.Seconds())), "-s", "start")
	detach(cmd)
	if _, err := run(cmd); err != nil {
		return fmt.Errorf("start Postgres: %w\n%s:\n%s", err, l.serverLog(), logSince(l.serverLog(), before))
	}
	return nil
}

// freePort returns wanted if it is free, else any free port.
func freePort(wanted int) (int, error) {
	if wanted > 0 && isFree(wanted) {
		return wanted, nil
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.Join(fmt.Errorf("find a free port: unexpected address %v", ln.Addr()), ln.Close())
	}
	return addr.Port, ln.Close()
}

func isFree(port int) bool {
	ln, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port))
	return err == nil && ln.Close() == nil
}

const maxServerLog = 8 << 20

// prepareLog makes server.log writable for the account and moves a large one aside.
func prepareLog(l layout, u dbUser) error {
	if st, err := os.Stat(l.serverLog()); err == nil && st.Size() > maxServerLog {
		if err := os.Rename(l.serverLog(), l.serverLog()+".1"); err != nil {
			return fmt.Errorf("rotate the server's log: %w", err)
		}
	}
	f, err := os.OpenFile(l.serverLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("prepare the server's log: %w", err)
	}
	return errors.Join(f.Close(), u.own(l.serverLog()))
}

// logSince returns the last lines that were added to the log after offset.
func logSince(path string, offset int64) string {
	raw, err := os.ReadFile(path)
	if err != nil || int64(len(raw)) < offset {
		return ""
	}
	return lastLines(string(raw[offset:]), 12)
}
