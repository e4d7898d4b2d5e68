//go:build unix && !linux

package runner

import (
	"os/exec"
	"strconv"
	"strings"
)

// groupAlive reports whether any process of the group is left.
func groupAlive(pgid int) bool { return groupExists(pgid) }

// startOf is when the process began, as ps prints it; empty when there is none.
func startOf(pid int) string {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// leftBehind returns the process group that a dead runner left for the run, if its leader is still the recorded one.
func leftBehind(_ string, c child) []int {
	if c.PID > 0 && c.Started != "" && startOf(c.PID) == c.Started {
		return []int{c.PID}
	}
	return nil
}
