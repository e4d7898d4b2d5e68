//go:build !unix

package mcpstdio

import "os"

func duplicate(f *os.File) *os.File { return f }
