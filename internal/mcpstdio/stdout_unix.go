//go:build unix

package mcpstdio

import (
	"os"
	"syscall"
)

// duplicate returns f itself if the descriptor cannot be duplicated: then only
// the protection from SIGPIPE is missing.
func duplicate(f *os.File) *os.File {
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return f
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), f.Name())
}
