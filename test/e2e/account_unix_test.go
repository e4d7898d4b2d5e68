//go:build e2e && unix

package e2e

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asPostgres lets root run a program of Postgres, which refuses root, as an account that may not do anything else, and hands
// it the folder.
func asPostgres(cmd *exec.Cmd, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(dir, uid, gid)
}
