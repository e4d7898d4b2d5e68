package runner

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// ownGroup keeps Ctrl-C of the console away from cmd.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminate asks the process and its descendants to end.
func terminate(pid int) { _ = exec.Command("taskkill", "/T", "/PID", strconv.Itoa(pid)).Run() }

// kill ends the process and its descendants.
func kill(pid int) { _ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() }

func groupAlive(int) bool { return false }

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && strings.HasSuffix(path, ".exe")
}

// tryLock always succeeds: the state folder is this user's, and the coordinator tells duplicates apart.
func tryLock(*os.File) (bool, error) { return true, nil }

func startOf(int) string { return "" }

// leftBehind finds nothing: a process cannot be told from a later one with its number.
func leftBehind(string, child) []int { return nil }
