package coord

import (
	"context"
	"errors"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

const (
	sweepSessions = 100         // sessions lapsed in one Sweep, each in its own transaction
	sweepRows     = 200         // rows of any other kind in one Sweep
	sweepMemories = 1000        // memories counted in one Sweep
	tidyEvery     = time.Minute // how often leftovers are removed
)

// Swept says what one Sweep did.
type Swept struct {
	SessionsLapsed int
	LocksExpired   int
	TasksRequeued  int // by lapsed sessions and by leases that ran out
	TasksReadied   int // scheduled tasks whose time came
	MemoriesFolded int // memories counted, indexed, archived or deleted
}

// sweepsDue says which sweeps have something to do.
type sweepsDue struct{ Sessions, Verdicts, Locks, Work, Memory bool }

// Sweep does what is due by time: reports the calls seen since the last one, lapses silent sessions (each in its own
// transaction), expires locks and leases, readies scheduled tasks, and once a minute removes leftovers. It is bounded
// and idempotent; any number of processes may sweep at the same time. A step that fails does not stop the others. When
// nothing is due it is one statement.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	var out Swept
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	note(s.flushSeen(ctx))
	due := sweepsDue{true, true, true, true, true} // where it cannot be told, all are tried
	if rows, err := list[sweepsDue](ctx, s, `select * from coord.sweeps_due($1)`, recall.TokeniserVersion); err != nil {
		note(err)
	} else if len(rows) == 1 {
		due = rows[0]
	}
	if due.Sessions {
		note(s.lapseSessions(ctx, &out))
	}
	if due.Verdicts {
		settled, err := s.SweepVerdicts(ctx, sweepRows)
		note(err)
		out.TasksRequeued += settled
	}
	if due.Locks {
		n, err := act[struct {
			Expired int `json:"expired"`
		}](ctx, s, `select coord.sweep_locks($1)`, sweepRows)
		note(err)
		out.LocksExpired = n.Expired
	}
	if due.Work {
		n, err := act[struct {
			Requeued int `json:"requeued"`
			Readied  int `json:"readied"`
		}](ctx, s, `select coord.sweep_work($1)`, sweepRows)
		note(err)
		out.TasksRequeued += n.Requeued
		out.TasksReadied = n.Readied
	}
	if due.Memory {
		n, err := s.SweepMemory(ctx, sweepMemories)
		note(err)
		out.MemoriesFolded = n.Folded + n.Archived + n.Deleted + n.Indexed
	}
	if s.cache.tidyDue(time.Now()) {
		note(exec(ctx, s, `select coord.sweep_leftovers(1000)`))
	}
	return out, errors.Join(errs...)
}

// lapseSessions lapses silent sessions, each in its own transaction.
func (s *Store) lapseSessions(ctx context.Context, out *Swept) error {
	for range sweepSessions {
		n, err := act[struct {
			Lapsed   int `json:"lapsed"`
			Requeued int `json:"tasks_requeued"`
		}](ctx, s, `select coord.sweep_sessions(1)`)
		out.SessionsLapsed += n.Lapsed
		out.TasksRequeued += n.Requeued
		if err != nil || n.Lapsed == 0 {
			return err
		}
	}
	return nil
}

// flushSeen reports which sessions called since the last flush, so that "who is active" costs calls nothing.
func (s *Store) flushSeen(ctx context.Context) error {
	seen := s.cache.takeSeen()
	if len(seen) == 0 {
		return nil
	}
	projects, ids := make([]int64, 0, len(seen)), make([]int64, 0, len(seen))
	for k := range seen {
		projects, ids = append(projects, k.project), append(ids, k.session)
	}
	return exec(ctx, s, `select coord.touch_sessions($1, $2)`, projects, ids)
}

// seenKey names a session that called.
type seenKey struct{ project, session int64 }

func (c *identCache) takeSeen() map[seenKey]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = map[seenKey]struct{}{}
	return seen
}

// tidyDue reports, at most once every tidyEvery, that leftovers should be removed.
func (c *identCache) tidyDue(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.tidied) < tidyEvery {
		return false
	}
	c.tidied = now
	return true
}
