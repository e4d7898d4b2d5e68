package embedpg

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// postmasterRuns reports whether pid is a Postgres program. Whose it is cannot be seen; Postgres itself
// looks at its shared memory as well.
func postmasterRuns(pid int, _ string) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h) //nolint:errcheck // a query handle
	buf := make([]uint16, windows.MAX_PATH)
	n := uint32(len(buf))
	if err := windows.QueryFullProcessImageName(h, 0, &buf[0], &n); err != nil {
		return false
	}
	return strings.EqualFold(filepath.Base(windows.UTF16ToString(buf[:n])), "postgres.exe")
}

// serverProcesses is empty: orphans cannot be told from the processes of other servers.
func serverProcesses(string) []int { return nil }
