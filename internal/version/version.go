// Package version knows what this binary is: the stamp of the build, else what the Go toolchain recorded.
package version

import (
	"runtime/debug"
	"strings"
)

// stamp is set by the Makefile (git describe) at link time.
var stamp string

// String is the version of this binary: the Makefile's stamp, else the module's version (go install), else the
// commit it was built from, else "devel".
func String() string {
	if stamp != "" {
		return stamp
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return strings.TrimSpace(s.Value[:min(12, len(s.Value))])
		}
	}
	return "devel"
}
