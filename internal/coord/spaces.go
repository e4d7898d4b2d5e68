package coord

import (
	"context"
	"fmt"
	"time"
)

// space is a repository as locks know it; ID 0 holds the logical keys.
type space struct {
	ID   int64
	Name string
}

type spaceKey struct {
	project int64
	name    string
}

// space finds the repository that a name means; empty is the project's first. The answer is remembered for cacheAge,
// so that a lock costs one statement. Codes: not_found.
func (s *Store) space(ctx context.Context, project int64, name string) (space, error) {
	key := spaceKey{project, name}
	s.cache.mu.Lock()
	e, ok := s.cache.spaces[key]
	s.cache.mu.Unlock()
	if ok && time.Now().Before(e.until) {
		return e.value, nil
	}
	rows, err := list[space](ctx, s, `select * from coord.lock_space($1, $2)`, project, name)
	if err != nil {
		return space{}, err
	}
	if len(rows) != 1 {
		return space{}, fmt.Errorf("coord.lock_space answered %d rows", len(rows))
	}
	if _, ok := ctx.Value(txKey{}).(*unit); ok {
		return rows[0], nil // it may have been made in a transaction that is rolled back yet
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if len(s.cache.spaces) >= cacheSize {
		clear(s.cache.spaces)
	}
	s.cache.spaces[key] = cached[space]{value: rows[0], until: time.Now().Add(cacheAge)}
	return rows[0], nil
}
