//go:build unix

package embedpg

import (
	"os/exec"
	"syscall"
)

func setCredential(cmd *exec.Cmd, u dbUser) {
	cmd.Dir = "/" // the caller's directory may be closed to the account
	if u.drop {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid)}}
	}
}

// detach puts cmd into a session of its own, out of reach of the terminal's Ctrl-C.
func detach(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

// quit ends server processes at once, the way a crashing postmaster ends its children.
func quit(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGQUIT) // it may have gone meanwhile
	}
}
