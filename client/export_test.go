package client

import (
	"context"
	"time"
)

// HoldFor is WithLock with a lease of its own length, which the service does not know of.
func HoldFor(ctx context.Context, c *AgentCoordinationClient, in AcquireLock, ttl time.Duration, fn func(context.Context, HeldLock) error) error {
	return c.withLock(ctx, in, ttl, fn)
}
