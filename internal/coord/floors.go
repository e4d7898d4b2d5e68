package coord

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	floorAfter = 64          // tasks taken out of a lane before it is worth to remember where it begins
	floorFor   = time.Second // how long; then one claim looks at the whole lane
	floorMost  = 64          // lanes sent with a claim
)

// lane is what coord.ready is ordered by within a project's queue.
type lane struct {
	class    int32
	priority int16
}

// laneFloor is where a lane began when it was last claimed from.
type laneFloor struct {
	below  int64     // nothing up to this id was there to be seen
	taken  int       // tasks claimed since it was forgotten
	looked time.Time // when a claim last looked at all of the lane
}

// floors remember, for the work queue of each project, up to where its lanes are consumed. A claim that is told walks over
// no deleted entries: those stay in the index as long as anybody's old snapshot might see them. A floor is a hint. What
// comes back below it in this process makes it forgotten at once (see heard); what another process put back is found by
// the claim that looks at everything every second, and by every claim that finds nothing. The zero value is ready.
type floors struct {
	mu  sync.Mutex
	all map[int64]map[lane]*laneFloor
}

// low are floors in the columns that coord.claim_tasks takes.
type low struct {
	classes    []int32
	priorities []int16
	ids        []int64
}

// under returns what is known of the lanes of these classes. One caller a second gets nothing of a lane and looks at all
// of it.
func (f *floors) under(project int64, classes []int32, now time.Time) (out low) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l, have := range f.all[project] {
		if have.taken < floorAfter || len(out.ids) >= floorMost || !slices.Contains(classes, l.class) {
			continue
		}
		if now.Sub(have.looked) >= floorFor {
			have.looked = now
			continue
		}
		out.classes, out.priorities, out.ids = append(out.classes, l.class), append(out.priorities, l.priority), append(out.ids, have.below)
	}
	return out
}

// note learns from a claim of n tasks: heads are (class, priority, first id that could be seen) of the lanes it took from.
func (f *floors) note(project int64, heads []int64, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lanes := f.all[project]
	if lanes == nil || len(lanes) > cacheSize {
		if f.all == nil || len(f.all) > cacheSize {
			f.all = map[int64]map[lane]*laneFloor{}
		}
		lanes = map[lane]*laneFloor{}
		f.all[project] = lanes
	}
	seen := map[lane]bool{}
	for ; len(heads) >= 3; heads = heads[3:] {
		l := lane{int32(heads[0]), int16(heads[1])}
		if seen[l] { // the claim came back to it; where it began says its first visit
			continue
		}
		seen[l] = true
		have := lanes[l]
		if have == nil {
			have = &laneFloor{looked: time.Now()}
			lanes[l] = have
		}
		have.below = heads[2] - 1
		have.taken += n
	}
}

// heard forgets the lanes in topics: something was put into them that may be older than what they hold.
func (f *floors) heard(topics []string) {
	for _, t := range topics {
		rest, ok := strings.CutPrefix(t, "w:")
		if !ok {
			continue
		}
		parts := strings.Split(rest, ":")
		if len(parts) != 3 || parts[1] != strconv.Itoa(WorkQueue) {
			continue
		}
		project, _ := strconv.ParseInt(parts[0], 10, 64)
		class, err := strconv.ParseInt(parts[2], 10, 32)
		if err != nil { // "+": a new lane has no floor
			continue
		}
		f.mu.Lock()
		for l := range f.all[project] {
			if l.class == int32(class) {
				delete(f.all[project], l)
			}
		}
		f.mu.Unlock()
	}
}
