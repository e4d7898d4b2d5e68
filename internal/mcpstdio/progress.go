package mcpstdio

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// ProgressFunc reports how far a call is. progress must rise from report to
// report, in any unit; a report that does not rise is not sent, because the
// protocol forbids it. total is in the same unit, 0 or less if unknown.
//
// It returns mcp-go's error if the session cannot take the notification now,
// which no caller has to act on: progress is advice. It is safe for concurrent
// use.
type ProgressFunc func(progress, total float64, message string) error

// Progress returns the reporter for the request of ctx, whose params carried
// meta, on any transport of mcp-go. If the client asked for no progress, or ctx
// is not that of a request, the reporter does nothing.
//
// On this transport a report waits while the client does not read, returns at
// the latest when ctx ends, and does nothing after the handler returned.
func Progress(ctx context.Context, meta *mcp.Meta) ProgressFunc {
	srv := server.ServerFromContext(ctx)
	if srv == nil || meta == nil || meta.ProgressToken == nil {
		return func(float64, float64, string) error { return nil }
	}
	var mu sync.Mutex
	var last float64
	var sent bool
	return func(progress, total float64, message string) error {
		mu.Lock()
		defer mu.Unlock()
		if sent && progress <= last {
			return nil
		}
		params := map[string]any{"progressToken": meta.ProgressToken, "progress": progress}
		if total > 0 {
			params["total"] = total
		}
		if message != "" {
			params["message"] = message
		}
		if err := srv.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), params); err != nil {
			return err
		}
		last, sent = progress, true
		return nil
	}
}
