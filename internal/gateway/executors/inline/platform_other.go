//go:build !linux

package inline

import (
	"errors"
	"os/exec"
)

// Namespaces are Linux's: without bubblewrap the self-test says so and nothing is ever run.
func confine(*exec.Cmd, int, int) {}

func killTree(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func kill(int) {}

func ownerOf(string) (int, error) { return 0, errors.New("only Linux has these sandboxes") }
