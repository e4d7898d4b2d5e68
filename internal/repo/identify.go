package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// ConfigFile is the file in the root of a working tree that overrides what git says.
const ConfigFile = ".coord.toml"

// Repo is what a checkout knows about itself.
type Repo struct {
	Git          bool   // the folder belongs to a git repository
	Root         string // main working tree, or the bare repository's folder; symlinks resolved
	WorktreeRoot string // root of this working tree: what paths are relative to; the folder itself without git
	CommonDir    string // git's shared folder, one for all worktrees
	Remote       string // normalised: host/owner/name, empty when there is none
	RootCommit   string // first commit, empty when there is none or the clone is shallow
	Branch       string // checked-out branch, empty when detached
	Name         string // for people: the remote's last part, else the folder's
	Project      string // from COORD_PROJECT or .coord.toml; empty: the server decides
	Repository   string // from .coord.toml; empty: the server decides
}

// config is .coord.toml.
type config struct {
	Project    string `toml:"project"`
	Repository string `toml:"repository"`
}

// maxFollow bounds how many local remotes are followed (a clone of a clone of …).
const maxFollow = 4

// Identify looks at dir and the folders above it. Errors: dir cannot be read, .coord.toml is wrong.
func Identify(ctx context.Context, dir string) (Repo, error) {
	return IdentifyEnv(ctx, dir, os.Getenv)
}

// IdentifyEnv is Identify with another environment.
func IdentifyEnv(ctx context.Context, dir string, getenv func(string) string) (Repo, error) {
	dir, err := realDir(dir)
	if err != nil {
		return Repo{}, err
	}
	r := look(ctx, dir, 0)
	c, err := readConfig(r, dir)
	if err != nil {
		return Repo{}, err
	}
	r.Project, r.Repository = c.Project, c.Repository
	if p := strings.TrimSpace(getenv("COORD_PROJECT")); p != "" {
		r.Project = p
	}
	if r.Repository != "" {
		r.Name = r.Repository
	}
	return r, nil
}

func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("folder of the repository: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("folder of the repository: %w", err)
	}
	if st, err := os.Stat(real); err == nil && !st.IsDir() {
		real = filepath.Dir(real)
	}
	return real, nil
}

// look reads what git knows about dir.
func look(ctx context.Context, dir string, depth int) Repo {
	r := Repo{Root: dir, WorktreeRoot: dir, Name: filepath.Base(dir)}
	out, err := git(ctx, dir, "rev-parse", "--is-bare-repository", "--is-shallow-repository", "--git-common-dir")
	lines := strings.Split(out, "\n")
	if err != nil || len(lines) != 3 {
		return r
	}
	r.Git = true
	bare, shallow := lines[0] == "true", lines[1] == "true"
	r.CommonDir = absolute(dir, lines[2])
	if top, err := git(ctx, dir, "rev-parse", "--show-toplevel"); err == nil && top != "" {
		r.WorktreeRoot = filepath.FromSlash(top)
	} else { // a bare repository, or inside .git
		r.WorktreeRoot = r.CommonDir
	}
	r.Root = mainRoot(r, bare)
	r.Name = strings.TrimSuffix(filepath.Base(r.Root), ".git")
	r.Branch, _ = git(ctx, dir, "symbolic-ref", "--short", "--quiet", "HEAD") // detached: no branch
	if !shallow {
		r.RootCommit = rootCommit(ctx, dir)
	}
	r.remote(ctx, dir, depth)
	if r.Remote != "" {
		r.Name = r.Remote[strings.LastIndexByte(r.Remote, '/')+1:]
	}
	return r
}

// mainRoot is the main working tree that owns the common folder, else that folder.
func mainRoot(r Repo, bare bool) string {
	switch {
	case filepath.Base(r.CommonDir) == ".git":
		return filepath.Dir(r.CommonDir)
	case bare || strings.HasSuffix(r.CommonDir, ".git"):
		return r.CommonDir
	}
	return r.WorktreeRoot // a submodule: its git folder lies in its parent's
}

// absolute resolves a path that git printed for dir.
func absolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// rootCommit is the oldest commit without a parent; several exist where histories were merged.
func rootCommit(ctx context.Context, dir string) string {
	out, err := git(ctx, dir, "rev-list", "--max-parents=0", "HEAD")
	if err != nil || out == "" {
		return ""
	}
	return out[strings.LastIndexByte(out, '\n')+1:]
}

// remote fills Remote from origin, else the current branch's remote, else the first by name. A remote on this machine is
// followed.
func (r *Repo) remote(ctx context.Context, dir string, depth int) {
	out, err := git(ctx, dir, "remote")
	if err != nil || out == "" {
		return
	}
	names := strings.Split(out, "\n")
	slices.Sort(names)
	name := names[0]
	if slices.Contains(names, "origin") {
		name = "origin"
	} else if r.Branch != "" {
		if n, err := git(ctx, dir, "config", "--get", "branch."+r.Branch+".remote"); err == nil && slices.Contains(names, n) {
			name = n
		}
	}
	url, err := git(ctx, dir, "remote", "get-url", name)
	if err != nil {
		return
	}
	if r.Remote = NormaliseRemote(url); r.Remote != "" || depth >= maxFollow {
		return
	}
	base := r.WorktreeRoot
	path := strings.TrimPrefix(url, "file://")
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return
	}
	up := look(ctx, path, depth+1)
	r.Remote = up.Remote
	if r.RootCommit == "" {
		r.RootCommit = up.RootCommit
	}
}

// readConfig reads .coord.toml of the working tree; without git, the nearest one above dir, whose folder is the root.
func readConfig(r Repo, dir string) (config, error) {
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, ConfigFile)
		raw, err := os.ReadFile(path)
		if err == nil {
			var c config
			if err := toml.Unmarshal(raw, &c); err != nil {
				return c, fmt.Errorf("%s: %w", path, err)
			}
			return c, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return config{}, fmt.Errorf("%s: %w", path, err)
		}
		if r.Git && at == r.WorktreeRoot || at == filepath.Dir(at) {
			return config{}, nil
		}
	}
}
