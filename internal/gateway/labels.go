package gateway

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
)

// labels does what the labels of an issue or pull request say: see coordination.
func (g *Gateway) labels(_ context.Context, _ int64, _ githubevent.Event) (done, error) {
	return done{ignored: "labels decide nothing here"}, nil
}
