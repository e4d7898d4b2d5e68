package runner

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// groupAlive reports whether any process of the group still runs. Zombies do not count: in a container nobody may be
// there to reap the orphans of a dead runner.
func groupAlive(pgid int) bool {
	if !groupExists(pgid) {
		return false
	}
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(found) == 0 { // no /proc to look at
		return true
	}
	group := strconv.Itoa(pgid)
	for _, path := range found {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if f := statFields(pid); len(f) > 2 && f[2] == group && f[0] != "Z" && f[0] != "X" {
			return true
		}
	}
	return false
}

// startOf is when the process began, in clock ticks since boot; empty when there is none.
func startOf(pid int) string {
	if f := statFields(pid); len(f) > 19 {
		return f[19]
	}
	return ""
}

// statFields are the fields of /proc/<pid>/stat from the third (state) on: the name before them may hold anything.
func statFields(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, ok := strings.Cut(string(raw[max(bytes.LastIndexByte(raw, ')'), 0):]), ") ")
	if !ok {
		return nil
	}
	return strings.Fields(rest)
}

// leftBehind returns the process groups that a dead runner left for the run: the recorded one if its leader is still
// the recorded process, and those of processes that carry the run's id in their environment. A group that is a
// session of its own is a daemon and not ours to end.
func leftBehind(runID string, c child) []int {
	var groups []int
	if c.PID > 0 && c.Started != "" && startOf(c.PID) == c.Started {
		groups = append(groups, c.PID)
	}
	mark := []byte(envRun + "=" + runID + "\x00")
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return groups
	}
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, raw...), append([]byte{0}, mark...)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		f := statFields(pid)
		if len(f) < 4 || f[2] == f[3] {
			continue
		}
		pgid, err := strconv.Atoi(f[2])
		if err == nil && pgid > 1 && pgid != syscall.Getpgrp() && !slices.Contains(groups, pgid) {
			groups = append(groups, pgid)
		}
	}
	return groups
}
