package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// lines is a log handler that writes for people:
//
//	2025-01-15 10:00:05 [INFO] poller: Received run run_xyz789 (start_session)
//
// {key} in a message is replaced by that attribute; the attribute component names the part of the program; all others
// follow as key=value. A value never breaks the line.
type lines struct {
	out   io.Writer
	level slog.Level
	attrs []slog.Attr
}

var writing sync.Mutex // one line at a time, from all handlers

func (h *lines) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *lines) Handle(_ context.Context, rec slog.Record) error {
	attrs := slices.Clone(h.attrs)
	rec.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	component, message, rest := "agent-runner", rec.Message, ""
	for _, a := range attrs {
		value := strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(a.Value.Resolve().String())
		switch place := "{" + a.Key + "}"; {
		case a.Key == "component":
			component = value
		case strings.Contains(message, place):
			message = strings.ReplaceAll(message, place, value)
		default:
			rest += " " + a.Key + "=" + value
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s [%s] %s: %s%s\n", rec.Time.Format("2006-01-02 15:04:05"), levelName(rec.Level), component, message, rest)
	writing.Lock()
	defer writing.Unlock()
	_, err := h.out.Write(b.Bytes())
	return err
}

func (h *lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lines{out: h.out, level: h.level, attrs: append(slices.Clone(h.attrs), attrs...)}
}

func (h *lines) WithGroup(string) slog.Handler { return h }

func levelName(l slog.Level) string {
	if l == slog.LevelWarn {
		return "WARNING"
	}
	return l.String()
}
