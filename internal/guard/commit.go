package guard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
)

// Stage is a git hook that the guard stands in.
type Stage string

// The stages.
const (
	PreCommit Stage = "pre-commit"
	CommitMsg Stage = "commit-msg"
	PrePush   Stage = "pre-push"
)

// Stages lists them.
func Stages() []Stage { return []Stage{PreCommit, CommitMsg, PrePush} }

// BypassVariable holds the reason with which a person goes past the locks of others, once. It is recorded.
const BypassVariable = "COORD_BYPASS"

// ErrRefused ends a git hook that does not let its operation go on; its text says why.
var ErrRefused = errors.New("refused by Agent Coordinator")

const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" // git's name of a tree without files

// Commit answers a git hook in dir. args are the hook's own, in what it reads from stdin. What it returns in note is for
// the person's terminal. Error: ErrRefused.
func (g *Guard) Commit(ctx context.Context, stage Stage, dir, session string, args []string, in io.Reader) (note string, err error) {
	w, err := g.place(ctx, real(dir, false), dir)
	switch {
	case err != nil:
		return g.commitFailed(stage, err)
	case w == nil || !w.Repo.Git:
		return "", nil
	}
	if stage == CommitMsg {
		if len(args) != 1 {
			return "", fmt.Errorf("commit-msg is called with the message's file, got %d arguments", len(args))
		}
		return "", g.sign(ctx, w, session, args[0])
	}
	paths, err := touched(ctx, w.Root, stage, in)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	list, err := g.othersHold(ctx, w, session, paths)
	switch {
	case err != nil:
		return g.commitFailed(stage, err)
	case len(list) == 0:
		return "", nil
	}
	reason := strings.TrimSpace(g.Getenv(BypassVariable))
	if reason == "" {
		return "", fmt.Errorf("%w: %s\nNothing was changed. Wait for the holder, ask them (coordctl message send), or go past it once, with a reason that is kept:\n  %s='why' git %s",
			ErrRefused, heldText(list, 5, false), BypassVariable, strings.TrimPrefix(string(stage), "pre-"))
	}
	files := make([]client.ReportedFile, 0, len(list))
	for _, x := range list {
		files = append(files, client.ReportedFile{FilePath: x.FilePath})
	}
	api, err := g.Dial(Who{Session: session, Project: w.Project, Repository: w.Repository, Acts: true})
	if err != nil {
		return g.commitFailed(stage, err)
	}
	defer api.Close()
	if _, err := api.ReportChanges(ctx, client.ReportChanges{
		Files: files[:min(len(files), 1000)], Tool: "git", Stage: strings.TrimPrefix(string(stage), "pre-"), Bypass: reason,
	}); err != nil {
		return g.commitFailed(stage, err)
	}
	return "Agent Coordinator: gone past locks, recorded and told to the holders: " + heldText(list, 5, false), nil
}

// commitFailed is the answer when the coordinator could not be asked.
func (g *Guard) commitFailed(stage Stage, err error) (string, error) {
	if g.Fail == FailClosed {
		return "", fmt.Errorf("%w: the coordinator could not be asked (%s), and the guard is set to fail closed; `coordctl doctor` says more", ErrRefused, short(err))
	}
	return fmt.Sprintf("Agent Coordinator: the coordinator could not be asked (%s); this %s was NOT checked against the locks of others.", short(err), stage), nil
}

// touched lists what the commit or the push changes, both names of a rename.
func touched(ctx context.Context, root string, stage Stage, in io.Reader) ([]string, error) {
	if stage == PreCommit {
		out, err := gitOut(ctx, root, nil, "diff", "--cached", "--name-only", "-z", "--no-renames")
		return split(out), err
	}
	var paths []string
	lines := bufio.NewScanner(in)
	for lines.Scan() { // <local ref> <local sha> <remote ref> <remote sha>
		f := strings.Fields(lines.Text())
		if len(f) != 4 || strings.Trim(f[1], "0") == "" { // deleting a branch changes no file
			continue
		}
		base := f[3]
		if _, err := gitOut(ctx, root, nil, "cat-file", "-e", base+"^{commit}"); strings.Trim(base, "0") == "" || err != nil {
			base = newSince(ctx, root, f[1])
		}
		out, err := gitOut(ctx, root, nil, "diff", "--name-only", "-z", "--no-renames", base, f[1])
		if err != nil {
			return nil, err
		}
		for _, p := range split(out) {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths, lines.Err()
}

// newSince is what a branch that the remote does not have is compared with: where it left the newest of the remote's.
func newSince(ctx context.Context, root, sha string) string {
	newest, err := gitOut(ctx, root, nil, "for-each-ref", "--count=1", "--sort=-committerdate", "--format=%(objectname)", "refs/remotes")
	if remote := strings.TrimSpace(string(newest)); err == nil && remote != "" {
		if base, err := gitOut(ctx, root, nil, "merge-base", sha, remote); err == nil {
			return strings.TrimSpace(string(base))
		}
	}
	return emptyTree
}

func split(out []byte) []string {
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" })
}

// othersHold lists the paths that sessions other than ours hold exclusively.
func (g *Guard) othersHold(ctx context.Context, w *worktree, session string, paths []string) ([]client.LockConflict, error) {
	api, err := g.Dial(w.who(session))
	if err != nil {
		return nil, err
	}
	defer api.Close()
	who, err := api.Whoami(ctx, client.None{})
	if err != nil {
		return nil, err
	}
	var out []client.LockConflict
	for batch := range slices.Chunk(plainPaths(paths), maxLockPaths) {
		held, err := api.CheckLocks(ctx, client.CheckLocks{FilePaths: batch, Limit: 10_000})
		if err != nil {
			return nil, err
		}
		for _, l := range held.Locks {
			if l.Mode == "shared" || l.SessionID == session && session != "" || session == "" && l.LockedBy == who.AgentID && who.AgentID != "" {
				continue
			}
			for _, p := range batch {
				if covers(l.FilePath, p) {
					out = append(out, client.LockConflict{FilePath: p, HeldPath: l.FilePath, LockedBy: l.LockedBy, SessionID: l.SessionID, Reason: l.Reason, SecondsLeft: l.SecondsLeft})
				}
			}
		}
	}
	return out, nil
}

// plainPaths writes files whose names look like patterns or keys so that they mean themselves.
func plainPaths(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if _, err := lockpath.Parse(p); err != nil {
			continue // a name that no lock can have
		}
		if lockpath.IsLogical(p) {
			p = "./" + p
		}
		out = append(out, p)
	}
	return out
}

// covers reports whether a lock covers a file.
func covers(lock, path string) bool {
	keys, err := lockpath.Parse(lock)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(keys, func(k lockpath.Key) bool {
		return k.Repo == "" && (k.Covers(path) || k.Kind == lockpath.Dir && k.Base == path)
	})
}

// maxTrailers bounds what a commit message carries.
const maxTrailers = 20

// sign writes the session and the fencing tokens of its locks that cover the commit's files into the message, as
// trailers. A commit without a session, and one made while the coordinator is away, stays as it is.
func (g *Guard) sign(ctx context.Context, w *worktree, session, file string) error {
	if session == "" {
		return nil
	}
	paths, err := touched(ctx, w.Root, PreCommit, nil)
	if err != nil || len(paths) == 0 {
		return err
	}
	api, err := g.Dial(w.who(session))
	if err != nil {
		return nil // the commit itself was let through by pre-commit's fail mode
	}
	defer api.Close()
	args := []string{"interpret-trailers", "--in-place", "--if-exists", "addIfDifferent"}
	for batch := range slices.Chunk(plainPaths(paths), maxLockPaths) {
		held, err := api.CheckLocks(ctx, client.CheckLocks{FilePaths: batch, Limit: 1000})
		if err != nil {
			return nil // as above
		}
		for _, l := range held.Locks {
			if l.SessionID == session && len(args) < 2*maxTrailers {
				args = append(args, "--trailer", "Coord-Fence: "+l.FencingToken+" "+l.FilePath)
			}
		}
	}
	args = append(args, "--trailer", "Coord-Session: "+session, file)
	_, err = gitOut(ctx, w.Root, nil, args...)
	return err
}
