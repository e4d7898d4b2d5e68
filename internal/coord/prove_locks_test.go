//go:build prove

package coord_test

import (
	"testing"
	"time"
)

// TestProveLockRace: 64 clients for a minute, some of which leave their locks to expiry; nobody ever holds what
// overlaps another's.
func TestProveLockRace(t *testing.T) {
	t.Parallel()
	l := newLockers(t, 32)
	granted, refused := race(l, 64, time.Minute, 12)
	t.Logf("%d granted, %d refused", granted, refused)
	if granted < 1000 || refused < 1000 {
		t.Error("the race has no teeth")
	}
}

// TestProveLockOverlap: the database and lockpath agree on 10^5 random pairs; lockpath is proven against brute force
// in its own package.
func TestProveLockOverlap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		sqlOverlap(newLockers(t, 2), 10_000, 200, 100+seed)
	}
}
