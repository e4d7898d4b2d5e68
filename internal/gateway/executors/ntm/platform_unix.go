//go:build unix

package ntm

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// process reads a process number that the wrapper wrote, and says whether it still is what it was: numbers are used again.
func process(dir, file string) (pid int, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || pid <= 1 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return 0, false
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if errors.Is(err, os.ErrNotExist) && exists("/", "proc/self") {
		return 0, false
	}
	return pid, err != nil || bytes.Contains(line, []byte(dir))
}

// alive says whether the wrapper runs.
func alive(dir string) bool {
	_, ok := process(dir, filePID)
	return ok
}

// killRun kills the wrapper and the command, with their groups, and says whether there was something to kill.
func killRun(dir string) (found bool) {
	for _, file := range []string{fileChild, filePID} {
		pid, ok := process(dir, file)
		if !ok {
			continue
		}
		found = true
		if group, err := syscall.Getpgid(pid); err == nil && group > 1 && group != syscall.Getpgrp() {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return found
}
