package source

import "os/exec"

// endTogether changes nothing: git's children end with their pipes.
func endTogether(*exec.Cmd) {}
