package coord

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
)

const (
	defaultTTL   = 30  // minutes
	defaultLocks = 200 // rows of check_locks
)

// LockWait says how an attempt to take locks waits. The zero value does not.
type LockWait struct {
	Topic  string // dispatch topic on which the caller is parked already
	Ticket int64  // from an earlier attempt; 0: not in the queue yet
	Last   bool   // the time is up: take it or be refused
}

// LockAttempt is the outcome of one attempt. Unless Waiting or Retry is set, Result is final.
type LockAttempt struct {
	Result  client.LockResult
	Waiting bool          // in the queue: Result says what is in the way
	Retry   bool          // somebody came in between, or the place in the queue is gone: ask again without a ticket
	Ticket  int64         // place in the queue
	Again   time.Duration // look again after this at the latest: the first blocker ends then, which wakes nobody
	Grant   int64         // fencing token of newly taken keys, for UndoLock
}

// lockArgs are the cleaned keys of a call in the columns that the SQL functions take.
type lockArgs struct {
	home                                        int64
	keys                                        []lockpath.Key
	space                                       []int64
	kind, base, key, path, repo, re, pre, likes []string
}

// columns are the arguments from p_home to p_lk.
func (a *lockArgs) columns() []any {
	return []any{a.home, a.space, a.kind, a.base, a.key, a.path, a.repo, a.re, a.pre, a.likes}
}

// lockArgs cleans paths and finds their repositories. Codes: invalid, not_found (a repository).
func (s *Store) lockArgs(ctx context.Context, c ident.Caller, field string, paths []string) (*lockArgs, error) {
	keys, err := lockpath.ParseAll(paths)
	if err != nil {
		return nil, fault.Invalid(field, err.Error(), "correct the path; nothing was changed")
	}
	home, err := s.space(ctx, c.ProjectID, c.Repository)
	if err != nil {
		return nil, err
	}
	a := &lockArgs{home: home.ID}
	type place struct {
		space int64
		key   string
	}
	seen := map[place]bool{}
	for _, k := range keys {
		sp := home
		switch {
		case k.Logical:
			sp = space{}
		case k.Repo != "":
			if sp, err = s.space(ctx, c.ProjectID, k.Repo); err != nil {
				return nil, err
			}
		}
		at := place{sp.ID, k.Key}
		if seen[at] { // the same path, once with its repository's name
			continue
		}
		seen[at] = true
		a.keys = append(a.keys, k)
		a.space = append(a.space, sp.ID)
		a.repo = append(a.repo, sp.Name)
		a.kind = append(a.kind, string(rune(k.Kind)))
		a.base, a.key, a.path = append(a.base, k.Base), append(a.key, k.Key), append(a.path, k.Path)
		a.re, a.pre, a.likes = append(a.re, k.Re), append(a.pre, k.Pre), append(a.likes, k.Like)
	}
	return a, nil
}

// oneOf returns the paths of a call that gives one path or several.
func oneOf(one string, many []string) ([]string, error) {
	switch {
	case one != "" && len(many) > 0:
		return nil, fault.Invalid("file_paths", "file_path and file_paths were both sent", "send one of them")
	case one != "":
		return []string{one}, nil
	case len(many) == 0:
		return nil, fault.Invalid("file_path", "file_path is needed", "send file_path, or file_paths for several")
	}
	return many, nil
}

// AcquireLock makes one attempt. A refusal is a result. Codes: invalid, not_found.
func (s *Store) AcquireLock(ctx context.Context, c ident.Caller, in client.AcquireLock, w *LockWait) (LockAttempt, error) {
	paths, err := oneOf(in.FilePath, in.FilePaths)
	if err != nil {
		return LockAttempt{}, err
	}
	a, err := s.lockArgs(ctx, c, "file_path", paths)
	if err != nil {
		return LockAttempt{}, err
	}
	if f, ok := a.fastKey(); ok && (w == nil || w.Ticket == 0) {
		t, done, err := s.acquireOne(ctx, c, f, in)
		switch {
		case err != nil, done && !t.Result.Success && w == nil:
			return t, err
		case done && t.Result.Success:
			s.wakeLocks(ctx, c)
			return t, nil
		}
	}
	return s.acquire(ctx, c, a, in, w)
}

func (s *Store) acquire(ctx context.Context, c ident.Caller, a *lockArgs, in client.AcquireLock, w *LockWait) (LockAttempt, error) {
	type answer struct {
		client.LockResult
		Ticket  int64             `json:"ticket"`
		Grant   int64             `json:"grant"`
		Waiting bool              `json:"waiting"`
		Retry   bool              `json:"retry"`
		AgainMS float64           `json:"again_ms"`
		Refusal client.LockResult `json:"refusal"`
	}
	if w == nil {
		w = &LockWait{}
	}
	waits := w.Topic != "" && !w.Last
	args := append([]any{c.ProjectID, c.SessionID, c.By}, a.columns()...)
	args = append(args, in.Branch, cmp.Or(in.Mode, exclusive), cmp.Or(in.TTLMinutes, defaultTTL), in.Reason, waits, w.Topic, w.Ticket)
	out, err := act[answer](ctx, s, `select coord.acquire_locks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
		nullif($17, ''), $18, nullif($19, ''), nullif($20, 0))`, args...)
	if err != nil {
		return LockAttempt{}, err
	}
	t := LockAttempt{
		Result: out.LockResult, Waiting: out.Waiting, Retry: out.Retry, Ticket: out.Ticket, Grant: out.Grant,
		Again: time.Duration(out.AgainMS * float64(time.Millisecond)),
	}
	if t.Waiting {
		t.Result = out.Refusal
	}
	if t.Result.Success {
		s.wakeLocks(ctx, c)
	}
	return t, nil
}

// wakeLocks tells those who watch the list of locks that it changed.
func (s *Store) wakeLocks(ctx context.Context, c ident.Caller) {
	s.wake(ctx, []string{"r:" + strconv.FormatInt(c.ProjectID, 10) + ":locks"})
}

// CancelWait leaves the queue; whoever stood behind is woken.
func (s *Store) CancelWait(ctx context.Context, c ident.Caller, ticket int64) error {
	_, err := act[struct{}](ctx, s, `select coord.cancel_wait($1, $2, $3)`, c.ProjectID, c.SessionID, ticket)
	return err
}

// UndoLock gives back what an attempt granted after its caller had gone. Keys it held before stay.
func (s *Store) UndoLock(ctx context.Context, c ident.Caller, grant int64) error {
	_, err := act[struct{}](ctx, s, `select coord.undo_locks($1, $2, $3, $4)`, c.ProjectID, c.SessionID, c.By, grant)
	s.wakeLocks(ctx, c)
	return err
}

// ReleaseLock releases one path, several, or all of the session. Without a session the path is released in whichever
// session of the agent holds it.
func (s *Store) ReleaseLock(ctx context.Context, c ident.Caller, in client.ReleaseLock) (client.ReleaseResult, error) {
	a := &lockArgs{}
	if in.All {
		if in.FilePath != "" || len(in.FilePaths) > 0 {
			return client.ReleaseResult{}, fault.Invalid("all", "all was sent together with a path", "send one of them")
		}
	} else {
		paths, err := oneOf(in.FilePath, in.FilePaths)
		if err != nil {
			return client.ReleaseResult{}, err
		}
		if a, err = s.lockArgs(ctx, c, "file_path", paths); err != nil {
			return client.ReleaseResult{}, err
		}
	}
	if f, ok := a.fastKey(); ok && in.Branch == "" { // without a session: held by the implicit one, as a rule
		if out, done, err := s.releaseOne(ctx, c, f); err != nil || done {
			if err == nil {
				s.wakeLocks(ctx, c)
			}
			return out, err
		}
	}
	args := append([]any{c.ProjectID, c.SessionID, c.By}, a.columns()...)
	out, err := act[client.ReleaseResult](ctx, s, `select coord.release_locks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		append(args, in.Branch, c.Session == "", in.All)...)
	if err == nil && out.Count > 0 {
		s.wakeLocks(ctx, c)
	}
	return out, err
}

// CheckLocks lists live locks.
func (s *Store) CheckLocks(ctx context.Context, c ident.Caller, in client.CheckLocks) (client.Locks, error) {
	paths := in.FilePaths
	if in.FilePath != "" {
		paths = append(paths[:len(paths):len(paths)], in.FilePath)
	}
	a := &lockArgs{}
	var err error
	if len(paths) > 0 {
		a, err = s.lockArgs(ctx, c, "file_paths", paths)
	} else if c.Repository != "" {
		var home space
		home, err = s.space(ctx, c.ProjectID, c.Repository)
		a.home = home.ID
	}
	if err != nil {
		return client.Locks{}, err
	}
	if len(paths) == 0 && in.Branch == "" {
		return s.listLocks(ctx, c, a.home, in)
	}
	args := append([]any{c.ProjectID}, a.columns()...)
	return reply[client.Locks](ctx, s, `select coord.check_locks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, nullif($12, ''), nullif($13, ''), $14)`,
		append(args, in.LockedBy, in.Branch, cmp.Or(in.Limit, defaultLocks))...)
}

// LockStatus tells whether a path is locked.
func (s *Store) LockStatus(ctx context.Context, c ident.Caller, in client.LockStatus) (client.LockState, error) {
	name, err := lockpath.Clean(in.FilePath)
	if err != nil {
		return client.LockState{}, fault.Invalid("file_path", err.Error(), "correct the path")
	}
	list, err := s.CheckLocks(ctx, c, client.CheckLocks{FilePath: in.FilePath, Limit: 1})
	if err != nil || len(list.Locks) == 0 {
		return client.LockState{FilePath: name}, err
	}
	return client.LockState{Locked: true, FilePath: name, Lock: &list.Locks[0]}, nil
}

// VerifyLock checks a fencing token. Codes: lease_lost, invalid.
func (s *Store) VerifyLock(ctx context.Context, c ident.Caller, in client.VerifyLock) (client.VerifiedLock, error) {
	a, err := s.lockArgs(ctx, c, "file_path", []string{in.FilePath})
	if err != nil {
		return client.VerifiedLock{}, err
	}
	token, err := strconv.ParseInt(in.FencingToken, 10, 64)
	if err != nil {
		return client.VerifiedLock{}, fault.Invalid("fencing_token", "a fencing token is a number in a string", "send it as acquire_lock returned it")
	}
	args := append([]any{c.ProjectID}, a.columns()...)
	return reply[client.VerifiedLock](ctx, s, `select coord.verify_lock($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`, append(args, token)...)
}

// ForceReleaseLock takes a lock away from whoever holds it; the holder gets a notice.
func (s *Store) ForceReleaseLock(ctx context.Context, c ident.Caller, in client.ForceReleaseLock) (client.ForceReleased, error) {
	a, err := s.lockArgs(ctx, c, "file_path", []string{in.FilePath})
	if err != nil {
		return client.ForceReleased{}, err
	}
	args := append([]any{c.ProjectID, c.By}, a.columns()...)
	out, err := act[client.ForceReleased](ctx, s, `select coord.force_release_locks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, nullif($13, ''), $14)`,
		append(args, in.LockedBy, in.Reason)...)
	if err == nil && out.Released {
		s.wakeLocks(ctx, c)
	}
	return out, err
}

// RenewLocks prolongs what the caller's session holds.
func (s *Store) RenewLocks(ctx context.Context, c ident.Caller, in client.RenewLocks) (client.RenewedLocks, error) {
	return reply[client.RenewedLocks](ctx, s, `select coord.renew_session_locks($1, $2, nullif($3, 0))`, c.ProjectID, c.SessionID, in.TTLMinutes)
}
