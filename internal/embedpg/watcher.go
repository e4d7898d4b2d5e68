package embedpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// watchEnv tells a copy of the program that it is the watcher of a directory.
const watchEnv = "COORD_PG_WATCH"

// watchPoll is how often the watcher looks for users, or a quarter of the grace period if that is less.
const watchPoll = time.Second

var hooked atomic.Bool

// RunWatcherIfAsked turns this process into the watcher of a server when it was started as one; it does
// not return then. Call it first thing in main (and in TestMain), before flags or the environment are
// read: the watcher is a second copy of the calling program.
func RunWatcherIfAsked() {
	hooked.Store(true)
	dir := os.Getenv(watchEnv)
	if dir == "" {
		return
	}
	_ = os.Unsetenv(watchEnv)
	clearLibpqEnv()
	// A terminal's hang-up or Ctrl-C is meant for the program that started us.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	err := watch(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // a person removed the directory; nothing is left to watch
	}
	if err != nil {
		slog.Error("postgres watcher", "err", err) // stderr is watcher.log
		os.Exit(1)
	}
	os.Exit(0)
}

// ensureWatcher starts the watcher of l unless one lives. The caller holds start.lock.
func ensureWatcher(l layout) error {
	mine, err := openLock(l.watchLock()) // creates the file, which the watcher itself does not
	if err != nil {
		return err
	}
	free, err := mine.try(false)
	mine.release()
	if err != nil || !free {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the watcher: %w", err)
	}
	if runtime.GOOS == "linux" {
		exe = "/proc/self/exe" // still there after an upgrade replaced the file
	}
	log, err := os.OpenFile(l.watchLog(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start the watcher: %w", err)
	}
	defer log.Close() //nolint:errcheck // the watcher has its own copy
	cmd := exec.Command(exe)
	cmd.Args = []string{"agent-coordinator-postgres-watcher", l.ctl}
	cmd.Dir = l.ctl
	cmd.Env = append(os.Environ(), watchEnv+"="+l.ctl)
	cmd.Stdout, cmd.Stderr = log, log // never the caller's: they may be an MCP host's pipes
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the watcher: %w", err)
	}
	// Not waited for: it outlives us as a rule.
	if err := cmd.Process.Release(); err != nil {
		return fmt.Errorf("start the watcher: %w", err)
	}
	return nil
}

// watch waits until nobody has used the server of dir for the grace period, stops it and returns. It
// returns at once when another watcher lives or the server is to stay, and fails with fs.ErrNotExist when
// the directory is removed.
func watch(dir string) error {
	l, err := readLayout(dir)
	if err != nil {
		return err
	}
	mine, err := openExistingLock(l.watchLock())
	if err != nil {
		return err
	}
	defer mine.release()
	// Whoever looks whether a watcher lives holds the lock for an instant: so not one try only.
	ctx, cancel := context.WithTimeout(context.Background(), watchPoll)
	defer cancel()
	if err := mine.acquire(ctx, true); err != nil {
		if ctx.Err() != nil {
			return nil // another watcher lives
		}
		return err
	}
	free, was := time.Now(), true // since when nobody uses it; was it used at the last look
	for {
		grace := readGrace(l)
		if grace < 0 {
			return nil
		}
		used, err := usedSince(l, free)
		if err != nil {
			return err
		}
		if used || was { // the grace begins at the first look that finds nobody: never early
			free = time.Now()
		}
		was = used
		if time.Since(free) >= grace {
			done, err := stopUnused(l, mine)
			if done {
				return nil
			}
			if errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err != nil {
				slog.Error("postgres watcher: stop", "err", err) // and try again
			}
		}
		if err := loop.Pause(context.Background(), max(min(watchPoll, grace/4), 20*time.Millisecond)); err != nil {
			return err
		}
	}
}

// usedSince reports whether somebody uses the server or did after t; a use shorter than our pause is seen
// by the time that Start and Close leave on the lock file.
func usedSince(l layout, t time.Time) (bool, error) {
	used, err := lockedByOther(l.usersLock(), true)
	if err != nil || used {
		return used, err
	}
	st, err := os.Stat(l.usersLock())
	if err != nil {
		return false, fmt.Errorf("watch: %w", err)
	}
	return st.ModTime().After(t), nil
}

// stopUnused stops the server if nobody is about to use it: with start.lock and users.lock, in that
// order, nobody can be.
func stopUnused(l layout, mine *fileLock) (done bool, err error) {
	start, err := openExistingLock(l.startLock())
	if err != nil {
		return false, err
	}
	defer start.release()
	if ok, err := start.try(true); err != nil || !ok {
		return false, err
	}
	users, err := openExistingLock(l.usersLock())
	if err != nil {
		return false, err
	}
	defer users.release()
	if ok, err := users.try(true); err != nil || !ok {
		return false, err
	}
	raw, err := os.ReadFile(l.secretFile())
	if err != nil {
		return false, fmt.Errorf("watch: %w", err)
	}
	if err := stopServer(context.Background(), l, strings.TrimSpace(string(raw))); err != nil {
		return false, err
	}
	// Before start.lock: whoever starts next must find no watcher and make one.
	mine.release()
	return true, nil
}

// writeGrace notes how long the server is to outlive its users. A caller that joins without a wish of its
// own leaves the noted one.
func writeGrace(l layout, grace time.Duration, joined bool) error {
	if grace == 0 {
		if joined {
			return nil
		}
		grace = DefaultGrace
	}
	if readGrace(l) == grace {
		return nil
	}
	return writeFileAtomic(l.graceFile(), []byte(grace.String()+"\n"))
}

func readGrace(l layout) time.Duration {
	raw, err := os.ReadFile(l.graceFile())
	if err != nil {
		return DefaultGrace
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(raw)))
	if err != nil {
		return DefaultGrace
	}
	return d
}
