package gateway

import (
	"context"
	"testing"
	"time"
)

// What a line's head rests on, and what belongs to a change under way, stays however old it is; the rest goes when its
// time is over, a few rows at a time.
func TestHistoryIsPurgedWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("push", push("main", "", sha(1), 1000))
	w.apply("push", push("main", sha(1), sha(2), 1001)) // supersedes the first
	w.apply("push", push("topic", "", sha(3), 1002))    // decided below
	w.exec(`update public.changesets set state = 'passed', decided_at = coord.now() where head_sha = $1`, sha(3))
	w.exec(`insert into coord.changeset_bundles (project_id, changeset_id, head_sha, bundle) select project_id, id, head_sha, 'x' from public.changesets`)
	left := func() [3]int {
		return [3]int{
			w.count(`select count(distinct changeset_id) from public.changeset_events`),
			w.count(`select count(*) from coord.line_moves`), w.count(`select count(*) from coord.changeset_bundles`),
		}
	}
	for _, step := range []struct {
		later time.Duration
		want  [3]int // changesets with a timeline, moves, bundles
	}{
		{0, [3]int{3, 3, 3}},
		{8 * 24 * time.Hour, [3]int{3, 3, 1}},  // bundles of what was decided
		{91 * 24 * time.Hour, [3]int{1, 2, 1}}, // the timeline of what is under way, the moves to the two heads
	} {
		w.later(step.later)
		for range 10 { // one row of each kind at a time
			if n, err := w.store.PurgeHistory(context.Background(), historyDays, 1); err != nil || n > 3 {
				t.Fatalf("%d rows, %v", n, err)
			}
		}
		if got := left(); got != step.want {
			t.Errorf("after %s: %v are left, want %v", step.later, got, step.want)
		}
	}
	if n, err := w.store.PurgeHistory(context.Background(), historyDays, 100); err != nil || n != 0 {
		t.Errorf("%d rows more, %v", n, err)
	}
	w.apply("push", push("main", sha(2), sha(4), 2000)) // the walk goes on from what was kept
	due, err := w.store.TakeChangesets(context.Background(), 10, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if len(due) != 1 || due[0].HeadSHA != sha(4) {
		t.Errorf("to be routed: %+v", due)
	}
}

// Plans made over empty tables end once a table has rows: it is analysed once, and then is autovacuum's.
func TestTablesOfANewDatabaseAreAnalysedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill := func(from, to int) {
		w.exec(`insert into coord.line_moves (project_id, repository, line, before_sha, after_sha) select 1, 'r', n::text, '', 'a' from generate_series($1::int, $2::int) n`, from, to)
	}
	for i, want := range []int{0, 1, 0} {
		fill(i*99+1, i*99+99)
		if n, err := w.store.FirstStatistics(context.Background()); err != nil || n != want {
			t.Errorf("call %d: %d tables, want %d (%v)", i, n, want, err)
		}
	}
}
