package embedpg

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

func setCredential(*exec.Cmd, dbUser) {}

// detach separates cmd from our console, out of reach of its Ctrl-C.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS,
		HideWindow:    true,
	}
}

// quit is never called with processes here, see serverProcesses.
func quit([]int) {}
