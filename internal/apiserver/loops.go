package apiserver

import "github.com/agent-coordinator/agent-coordinator/internal/loop"

// loops are the periodic workers of this process. Every one is bounded, idempotent and safe beside the same worker
// of another process.
func (s *server) loops() []loop.Loop {
	return nil
}
