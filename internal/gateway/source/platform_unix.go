//go:build unix

package source

import (
	"os/exec"
	"syscall"
)

// endTogether makes the end of the command the end of its children too.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
