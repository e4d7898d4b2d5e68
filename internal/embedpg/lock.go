package embedpg

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// lockPoll is the pause between two tries for a file lock: the kernel's blocking form cannot be cancelled.
const lockPoll = 10 * time.Millisecond

// fileLock is an advisory lock on a whole file, tied to one open file description: the kernel drops it
// when the holder closes the file or dies, however it dies.
type fileLock struct{ f *os.File }

// openLock opens the lock file, which it creates if need be.
func openLock(path string) (*fileLock, error) { return openLockFlags(path, os.O_RDWR|os.O_CREATE) }

// openExistingLock fails with fs.ErrNotExist instead: who only looks must not bring back a directory's
// files while a person removes it.
func openExistingLock(path string) (*fileLock, error) { return openLockFlags(path, os.O_RDWR) }

func openLockFlags(path string, flags int) (*fileLock, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	return &fileLock{f: f}, nil
}

// try takes the lock without waiting and reports whether it got it.
func (l *fileLock) try(exclusive bool) (bool, error) {
	ok, err := tryLock(l.f, exclusive)
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", l.f.Name(), err)
	}
	return ok, nil
}

// acquire waits for the lock until ctx ends.
func (l *fileLock) acquire(ctx context.Context, exclusive bool) error {
	for {
		ok, err := l.try(exclusive)
		if err != nil || ok {
			return err
		}
		if err := loop.Pause(ctx, lockPoll); err != nil {
			return fmt.Errorf("wait for %s: %w", l.f.Name(), err)
		}
	}
}

// release gives the lock up; calling it again does nothing.
func (l *fileLock) release() {
	if l != nil && l.f != nil {
		_ = l.f.Close() // closing is what unlocks; there is nothing to flush
		l.f = nil
	}
}

// lockedByOther reports whether taking the lock file at path would have to wait, and gives it back at once.
// exclusive asks for any holder, else only for an exclusive one (and is invisible to others who ask so).
// It fails with fs.ErrNotExist when there is no such file.
func lockedByOther(path string, exclusive bool) (bool, error) {
	l, err := openExistingLock(path)
	if err != nil {
		return false, err
	}
	defer l.release()
	ok, err := l.try(exclusive)
	return !ok, err
}

// touch leaves the time on the lock file, for the watcher.
func (l *fileLock) touch() {
	now := time.Now()
	_ = os.Chtimes(l.f.Name(), now, now) // at worst the grace period begins a second early
}
