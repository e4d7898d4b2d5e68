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
)

// startAttempts bounds the tries of one Start: a port may be taken between our look and the server's
// bind, and children of a killed postmaster keep its shared memory for a moment.
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
		if err := removeStalePID(l.data()); err != nil {
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

// removeStalePID removes a pid file whose number is not a server of ours: Postgres refuses to start when
// any process of the same account has it, as happens after a restart of the machine. Its own check of the
// shared memory, which finds living children, does not need the file.
func removeStalePID(dataDir string) error {
	pm, ok := readPostmasterPID(dataDir)
	if !ok || postmasterRuns(pm.pid, dataDir) {
		return nil
	}
	if err := os.Remove(filepath.Join(dataDir, "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the stale pid file: %w", err)
	}
	return nil
}

// startServer runs pg_ctl until the server answers.
func startServer(ctx context.Context, o Options, l layout, u dbUser, b Binaries, password string) (endpoint, error) {
	socket, err := socketDir(l, u)
	if err != nil {
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
		if attempt == startAttempts || ctx.Err() != nil {
			return endpoint{}, err
		}
		o.Log.Warn("start failed, trying again", "attempt", attempt, "err", err)
		last = 0
		if err := awaitOrphans(ctx, l.data(), attempt >= startAttempts-2); err != nil {
			return endpoint{}, err
		}
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
	if wanted > 0 {
		if ln, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(wanted)); err == nil {
			return wanted, ln.Close()
		}
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

// awaitOrphans waits for the children of a killed postmaster to notice and go; with force it ends those
// that do not, since they would hold the shared memory for as long as their query runs.
func awaitOrphans(ctx context.Context, dataDir string, force bool) error {
	const wait, step = 2 * time.Second, 50 * time.Millisecond
	for waited := time.Duration(0); waited < wait; waited += step {
		if err := pause(ctx, step); err != nil {
			return err
		}
		orphans := serverProcesses(dataDir)
		if len(orphans) == 0 {
			return nil
		}
		if force {
			quit(orphans)
		}
	}
	return nil
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
