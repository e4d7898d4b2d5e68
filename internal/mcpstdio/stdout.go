package mcpstdio

import (
	"os"
	"sync"
)

// TakeStdout returns the process's standard output for Serve and points
// os.Stdout at standard error, so that a stray print, or a child process given
// os.Stdout, cannot break into the protocol. Call it first in main, before
// anything can have kept os.Stdout. Further calls return the same file.
//
// On Unix the file is a duplicate under another descriptor: a write to
// descriptor 1 whose reader is gone would kill the process with SIGPIPE, a write
// to another one returns an error, after which Serve can still end in order.
func TakeStdout() *os.File { return takeStdout() }

var takeStdout = sync.OnceValue(func() *os.File {
	out := duplicate(os.Stdout)
	os.Stdout = os.Stderr
	return out
})
