//go:build unix && !linux

package embedpg

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// postmasterRuns reports whether pid is the server of dataDir, by its command line: there is no /proc, and
// after a restart of the machine the number in a pid file belongs to anybody.
func postmasterRuns(pid int, dataDir string) bool {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false // ps fails for a process that does not exist
	}
	line := string(out)
	return strings.Contains(line, "postgres") && strings.Contains(line, filepath.Base(filepath.Dir(dataDir)))
}

// serverProcesses is empty: children of a dead server carry no trace of its directory in their titles.
func serverProcesses(string) []int { return nil }
