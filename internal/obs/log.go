// Package obs sets up what operators look at: structured logs on stderr and Prometheus metrics in a registry of
// our own. Standard output is never written: in a stdio server it belongs to the protocol.
package obs

import (
	"io"
	"log/slog"
	"strings"
)

// NewLogger returns a JSON logger. level is debug, info, warn or error (any case; anything else is info); debug
// forces the debug level.
func NewLogger(w io.Writer, level string, debug bool) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.TrimSpace(level))); err != nil {
		l = slog.LevelInfo
	}
	if debug {
		l = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l}))
}
