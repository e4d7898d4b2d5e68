package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
)

// maxViolations bounds what one report records.
const maxViolations = 100

// ReportChanges looks which of the changed files other sessions hold, records those and tells their holders. Digests
// that come along mark memories stale. Codes: invalid.
func (s *Store) ReportChanges(ctx context.Context, c ident.Caller, in client.ReportChanges) (client.ReportedChanges, error) {
	out := client.ReportedChanges{Success: true, Files: len(in.Files), Violations: []client.LockConflict{}}
	digests := client.ReportDigests{Branch: in.Branch}
	for _, f := range in.Files {
		if f.Digest != "" || f.Deleted {
			digests.Files = append(digests.Files, client.FileDigest{Path: f.FilePath, Digest: f.Digest})
		}
	}
	found, err := s.violations(ctx, c, in.Files)
	if err != nil {
		return out, err
	}
	if len(digests.Files) > 0 {
		if _, err := s.ReportDigests(ctx, c, digests); err != nil {
			return out, err
		}
	}
	if len(found) == 0 {
		return out, nil
	}
	out.Violations = found
	rows, err := json.Marshal(found)
	if err != nil {
		return out, fmt.Errorf("encode violations: %w", err)
	}
	told, err := act[struct{ Told int }](ctx, s, `select coord.report_violations($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), $8, $9, nullif($10, ''))`,
		c.ProjectID, c.SessionID, c.By, c.Repository, rows, in.Tool, in.Command, cmp.Or(in.Stage, "edit"), in.Unknown, in.Bypass)
	out.Told = told.Told
	return out, err
}

// violations pairs each file with the locks of other sessions that cover it.
func (s *Store) violations(ctx context.Context, c ident.Caller, files []client.ReportedFile) ([]client.LockConflict, error) {
	var out []client.LockConflict
	for from := 0; from < len(files) && len(out) < maxViolations; from += maxLockPaths {
		batch := files[from:min(from+maxLockPaths, len(files))]
		paths := make([]string, len(batch))
		for i, f := range batch {
			paths[i] = f.FilePath
		}
		held, err := s.CheckLocks(ctx, c, client.CheckLocks{FilePaths: paths, Limit: 10_000})
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			for _, l := range held.Locks {
				if l.SessionID == c.Session && l.LockedBy == c.Agent || l.Mode == "shared" || len(out) >= maxViolations {
					continue
				}
				meets, err := meet(path, l.FilePath)
				if err != nil {
					return nil, err
				}
				if meets {
					out = append(out, client.LockConflict{
						FilePath: path, HeldPath: l.FilePath, LockedBy: l.LockedBy, AgentType: l.AgentType, SessionID: l.SessionID, Mode: l.Mode,
						Branch: l.Branch, Reason: l.Reason, LockedAt: l.LockedAt, ExpiresAt: l.ExpiresAt, SecondsLeft: l.SecondsLeft,
					})
				}
			}
		}
	}
	return out, nil
}

// maxLockPaths is how many paths one look at locks takes.
const maxLockPaths = 200

func meet(a, b string) (bool, error) {
	ka, err := lockpath.Parse(a)
	if err != nil {
		return false, fault.Invalid("files", err.Error(), "correct the path")
	}
	kb, err := lockpath.Parse(b)
	if err != nil {
		return false, fmt.Errorf("a lock's path: %w", err)
	}
	for _, x := range ka {
		for _, y := range kb {
			if x.Repo == y.Repo && lockpath.Meet(x, y) {
				return true, nil
			}
		}
	}
	return false, nil
}

// ListViolations lists changes of files that somebody else held, newest first.
func (s *Store) ListViolations(ctx context.Context, c ident.Caller, in client.ListViolations) (client.Violations, error) {
	return reply[client.Violations](ctx, s, `select coord.list_violations($1, nullif($2, ''), $3)`, c.ProjectID, in.AgentID, cmp.Or(in.Limit, 100))
}

// ListLockWaits lists who waits for which lock, first in line first.
func (s *Store) ListLockWaits(ctx context.Context, c ident.Caller, in client.ListLockWaits) (client.LockWaits, error) {
	home, err := s.space(ctx, c.ProjectID, c.Repository)
	if err != nil {
		return client.LockWaits{}, err
	}
	return reply[client.LockWaits](ctx, s, `select coord.lock_waiters($1, $2, $3)`, c.ProjectID, home.ID, cmp.Or(in.Limit, 200))
}
