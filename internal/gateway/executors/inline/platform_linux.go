package inline

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// confine gives the command a process group, ends it with us, and drops root's rights.
func confine(cmd *exec.Cmd, uid, gid int) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if uid >= 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: []uint32{}}
	}
}

// killTree kills bubblewrap, and with it everything inside: its first process is the root of their process namespace.
func killTree(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// ownerOf is the number of the user who owns the file.
func ownerOf(name string) (int, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("the file system names no owner")
	}
	return int(stat.Uid), nil
}
