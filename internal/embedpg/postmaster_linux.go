package embedpg

import (
	"os"
	"path/filepath"
	"strconv"
)

// postmasterRuns reports whether pid is a server process of dataDir. A pid file outlives its server, and
// after a restart of the machine its number belongs to anybody; a Postgres process works in its data
// directory, a stranger does not.
func postmasterRuns(pid int, dataDir string) bool {
	cwd, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	if err != nil {
		// Gone, or somebody else's: Postgres itself decides by the pid file and its shared memory.
		return false
	}
	return samePath(cwd, dataDir)
}

// serverProcesses lists the live processes of dataDir, the postmaster and its children alike.
func serverProcesses(dataDir string) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var pids []int
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil || !postmasterRuns(pid, dataDir) {
			continue
		}
		exe, err := os.Readlink(filepath.Join(d, "exe"))
		if err == nil && filepath.Base(exe) == "postgres" {
			pids = append(pids, pid)
		}
	}
	return pids
}
