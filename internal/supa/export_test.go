package supa

import "time"

// Hurry shortens what a test would wait for.
func (r *Realtime) Hurry(heartbeat, settle, reconnect time.Duration) {
	r.every, r.settle, r.backoff = heartbeat, settle, reconnect
}
