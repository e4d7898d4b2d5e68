package source

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// A tree is there for one run; older ones were left by a process that is gone.
const leftBehind = 24 * time.Hour

// Sweep removes mirrors that nobody used for keep and trees that were left behind; in the other mirrors it forgets
// commits that nobody asked for in that time. It returns how much it removed.
func (s *Store) Sweep(ctx context.Context, keep time.Duration) (int, error) {
	removed := 0
	for folder, age := range map[string]time.Duration{s.mirrors(): keep, s.trees(): leftBehind} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return removed, err
		}
		for _, e := range entries {
			n, err := s.sweep(ctx, filepath.Join(folder, e.Name()), age)
			if removed += n; err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

// sweep removes a folder that is older than age, or what is old in it.
func (s *Store) sweep(ctx context.Context, dir string, age time.Duration) (int, error) {
	release, err := s.hold(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer release()
	info, err := os.Stat(dir)
	if err != nil {
		return 0, nil // another process removed it
	}
	if time.Since(info.ModTime()) >= age {
		return 1, removeAll(dir)
	}
	old, err := filepath.Glob(filepath.Join(dir, "refs", "*", "*"))
	if err != nil {
		return 0, err
	}
	forgotten := 0
	for _, ref := range old {
		if info, err := os.Stat(ref); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= age {
			forgotten++
			if err := os.Remove(ref); err != nil {
				return forgotten, err
			}
		}
	}
	if forgotten == 0 {
		return 0, nil
	}
	for _, args := range [][]string{{"repack", "-a", "-d", "-q"}, {"prune", "--expire=now"}} {
		if _, err := s.git(ctx, dir, args...); err != nil {
			return forgotten, err
		}
	}
	return forgotten, nil
}
