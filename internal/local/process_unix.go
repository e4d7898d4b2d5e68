//go:build unix

package local

import (
	"errors"
	"os"
	"syscall"
)

// processLives reports whether pid is a process, ours or not.
func processLives(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// terminate asks a process to stop cleanly.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

// Detached are the attributes of a process that outlives its terminal.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// tryLock takes the file's lock for this process; ok is false when another has it. The kernel drops it when the
// process ends in whatever way.
func tryLock(f *os.File) (ok bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
