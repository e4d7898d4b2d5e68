//go:build prove

package gateway

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// TestProveNothingPassesFalsely is the long form of TestNothingPassesFalsely: 100,000 random orders of events, in lanes with a
// database each (go test -parallel says how many at a time). What is proved does not rest on the disk, so commits do not
// wait for it.
func TestProveNothingPassesFalsely(t *testing.T) {
	t.Parallel()
	const workers, each = 4, 25_000
	if err := flag.Set("rapid.checks", fmt.Sprint(each)); err != nil {
		t.Fatal(err)
	}
	for i := range workers {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t, pgtest.MaxConns(1))
			if _, err := pool.Exec(context.Background(), `set synchronous_commit = off;`+playSQL); err != nil {
				t.Fatal(err)
			}
			seen := map[string]int{}
			playOn(t, pool, seen)
			t.Logf("%d orders; states in the end: %v", each, seen)
		})
	}
}
