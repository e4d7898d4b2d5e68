package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
)

// OutsideError is a path that does not belong to the repository.
type OutsideError struct{ Path, Root string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s lies outside the repository at %s", e.Path, e.Root)
}

// Paths translates paths for one working directory.
type Paths struct {
	Repo Repo
	Cwd  string // absolute, symlinks resolved; what relative paths start from
}

// NewPaths translates paths that are written in dir.
func NewPaths(r Repo, dir string) (*Paths, error) {
	cwd, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	return &Paths{Repo: r, Cwd: cwd}, nil
}

// Relative returns path relative to the root of its working tree, with slashes. path may be absolute, relative to the
// working directory, or relative to the root (agents write all three): a relative one is taken from the directory
// unless it, or the folder it would lie in, exists only under the root. Files need not exist. Symlinks are resolved,
// except in a glob's part with wildcards. A folder that exists gets its trailing slash. Logical keys (db:slot) and paths of named repositories (@name//x) come back
// as they are. A path in another worktree of the same repository counts as the same file.
//
// Error: *OutsideError.
func (p *Paths) Relative(ctx context.Context, path string) (string, error) {
	if lockpath.IsLogical(path) || strings.HasPrefix(path, "@") && strings.Contains(path, "//") {
		return path, nil
	}
	if home, err := os.UserHomeDir(); err == nil && (path == "~" || strings.HasPrefix(path, "~/")) {
		path = home + path[1:]
	}
	plain, pattern := splitGlob(filepath.ToSlash(path))
	abs := p.absolute(plain, pattern != "")
	root, rel, ok := p.within(ctx, Resolve(abs))
	if !ok {
		return "", &OutsideError{Path: path, Root: root}
	}
	switch {
	case pattern != "" && rel == ".":
		rel = pattern
	case pattern != "":
		rel += "/" + pattern
	case rel != "." && (strings.HasSuffix(plain, "/") || isDir(filepath.Join(root, filepath.FromSlash(rel)))):
		rel += "/" // a folder means all that lies in it, however it was written
	}
	if lockpath.IsLogical(rel) {
		rel = "./" + rel
	}
	return rel, nil
}

// splitGlob cuts path before its first name with a wildcard. Names in brackets that exist are files, not patterns, but
// that the lock engine decides; here only the folders before matter.
func splitGlob(path string) (plain, pattern string) {
	i := strings.IndexAny(path, "*?[{")
	if i < 0 {
		return path, ""
	}
	slash := strings.LastIndexByte(path[:i], '/')
	if slash < 0 {
		return ".", path
	}
	if slash == 0 {
		return "/", path[1:]
	}
	return path[:slash], path[slash+1:]
}

// absolute makes a relative path absolute by looking where it, or its folder, exists.
func (p *Paths) absolute(plain string, isFolder bool) string {
	native := filepath.FromSlash(plain)
	if filepath.IsAbs(native) {
		return filepath.Clean(native)
	}
	here, there := filepath.Join(p.Cwd, native), filepath.Join(p.Repo.WorktreeRoot, native)
	if here == there || exists(here) {
		return here
	}
	if exists(there) && !(isFolder && plain == ".") {
		return there
	}
	if h, t := filepath.Dir(here), filepath.Dir(there); !exists(h) && exists(t) {
		return there
	}
	return here
}

// exists also holds for what may not be looked at.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// Resolve follows the symlinks of the part of path, which is absolute, that exists.
func Resolve(path string) string {
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = up
	}
}

// within returns path relative to the working tree it lies in: ours, or another one of the same repository.
func (p *Paths) within(ctx context.Context, path string) (root, rel string, ok bool) {
	root = p.Repo.WorktreeRoot
	if rel, ok = relative(root, path); ok {
		return root, rel, true
	}
	if !p.Repo.Git {
		return root, "", false
	}
	dir := path
	for !isDir(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	out, err := git(ctx, dir, "rev-parse", "--git-common-dir", "--show-toplevel")
	common, top, found := strings.Cut(out, "\n")
	if err != nil || !found || absolute(dir, common) != p.Repo.CommonDir {
		return root, "", false
	}
	rel, ok = relative(filepath.FromSlash(top), path)
	return root, rel, ok
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func relative(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Complete lists files and folders whose path begins with prefix, relative to the root, at most 100, folders with a
// trailing slash. Hidden ones are left out unless asked for by a dot.
func (p *Paths) Complete(prefix string) []string {
	dir, name := "", prefix
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		dir, name = prefix[:i+1], prefix[i+1:]
	}
	full := filepath.Join(p.Repo.WorktreeRoot, filepath.FromSlash(dir))
	if _, ok := relative(p.Repo.WorktreeRoot, Resolve(full)); !ok {
		return nil
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		n := e.Name()
		if !strings.HasPrefix(n, name) || strings.HasPrefix(n, ".") && !strings.HasPrefix(name, ".") {
			continue
		}
		if e.IsDir() {
			n += "/"
		}
		if out = append(out, dir+n); len(out) == 100 {
			break
		}
	}
	return out
}
