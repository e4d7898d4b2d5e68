package runner

import (
	"context"
	"net/http"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

const defaultHeartbeat = 60 * time.Second

// heartbeatLoop tells the coordinator that this runner lives.
func (r *Runner) heartbeatLoop() loop.Loop {
	return loop.Loop{
		Name: "heartbeat", Every: r.heartbeatEvery(), Timeout: callTimeout, Log: r.log("heartbeat"),
		Do: func(ctx context.Context) (int, error) {
			gen := r.generation()
			err := r.api.heartbeat(ctx, r.id())
			if status(err) == http.StatusUnauthorized {
				r.reregister(ctx, gen)
				return 1, nil
			}
			return 1, err
		},
	}
}

// heartbeatEvery is what was configured, else what the coordinator wants.
func (r *Runner) heartbeatEvery() time.Duration {
	if r.cfg.Heartbeat > 0 {
		return r.cfg.Heartbeat
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.reg.HeartbeatSeconds; s >= 1 {
		return time.Duration(s * float64(time.Second))
	}
	return defaultHeartbeat
}
