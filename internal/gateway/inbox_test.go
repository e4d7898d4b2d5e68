package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
)

// However much waits, no more of it is in memory at once than 32 MB, and a delivery larger than that still gets its turn.
func TestLargeDeliveriesAreTakenFewAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.pool.Exec(context.Background(), `insert into coord.webhook_deliveries (source, delivery_id, event, body, body_sha256)
		select 'github', n::text, 'ping', convert_to(repeat('x', case n when 1 then 34 else 12 end << 20), 'UTF8'), sha256('') from generate_series(1, 6) n`); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 2, 2, 1, 0} {
		got := 0
		if err := w.store.TakeDeliveries(context.Background(), inboxBatch, time.Minute, func(coord.Delivery) { got++ }); err != nil || got != want {
			t.Fatalf("take %d: %d deliveries, want %d (%v)", i, got, want, err)
		}
	}
}
