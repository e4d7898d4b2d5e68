// Package demo is in the making.
package demo

import (
	"context"
	"io"

	"github.com/agent-coordinator/agent-coordinator/internal/local"
)

// Options of Run.
type Options struct {
	Out       io.Writer
	Quiet     bool
	MCPServer string
	Serve     local.ServeFunc
}

// Run shows it.
func Run(context.Context, Options) (bool, error) { return false, nil }
