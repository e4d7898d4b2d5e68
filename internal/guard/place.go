package guard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/repo"
)

// worktree is what is remembered of a working tree between calls, in one file of the state folder.
type worktree struct {
	Root       string    `json:"root"`
	Repo       repo.Repo `json:"repo"`
	Server     string    `json:"server"` // whose names these are
	Project    string    `json:"project"`
	Repository string    `json:"repository"`
	Asked      time.Time `json:"asked"`
	Config     time.Time `json:"config"` // when git's configuration changed last
	Seen       *seen     `json:"seen,omitempty"`

	file string
}

// placeFor is how long a working tree's names are believed.
const placeFor = 10 * time.Minute

// rootOf returns the root of the working tree that path lies in, by its .git; "" when there is none.
func rootOf(path string) string {
	for at := path; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			return ""
		}
		at = up
	}
}

// real resolves the symlinks of the part of path that exists, but for a link that is itself the last name: writing
// through it, the file behind it counts; removing it, the link.
func real(path string, del bool) string {
	if del {
		return filepath.Join(repo.Resolve(filepath.Dir(path)), filepath.Base(path))
	}
	return repo.Resolve(path)
}

// place returns what is known of the working tree that path, with symlinks resolved, lies in. A path outside of every
// repository belongs to the folder the agent works in when it lies there, else to nothing: nil.
func (g *Guard) place(ctx context.Context, path, cwd string) (*worktree, error) {
	root := rootOf(path)
	if root == "" {
		cwd = real(cwd, false)
		if !below(cwd, path) || rootOf(cwd) != "" {
			return nil, nil // belonging to no repository is an answer, not a failure
		}
		root = cwd
	}
	sum := sha256.Sum256([]byte(root))
	w := &worktree{file: filepath.Join(g.State, hex.EncodeToString(sum[:8])+".json")}
	raw, err := os.ReadFile(w.file)
	if err == nil && json.Unmarshal(raw, w) != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
		*w = worktree{file: w.file}
	}
	config := time.Time{}
	if w.Repo.CommonDir != "" {
		config = modified(filepath.Join(w.Repo.CommonDir, "config"))
	}
	if w.Root == root && w.Server == g.Server && time.Since(w.Asked) < placeFor && w.Config.Equal(config) {
		return w, nil
	}
	r, err := repo.IdentifyEnv(ctx, root, g.Getenv)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", root, err)
	}
	w.Root, w.Repo, w.Server = root, r, g.Server
	if w.Repo.CommonDir != "" {
		w.Config = modified(filepath.Join(w.Repo.CommonDir, "config"))
	}
	if err := g.resolve(ctx, w); err != nil {
		return nil, err
	}
	w.Asked = time.Now()
	w.save()
	return w, nil
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func modified(path string) time.Time {
	st, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime().UTC()
}

// save keeps the file; a state that cannot be written only costs time.
func (w *worktree) save() {
	raw, err := json.Marshal(w)
	if err != nil {
		return
	}
	dir := filepath.Dir(w.file)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), w.file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the state stays as it was
	}
}

// resolve asks the server for its names of the repository, as the MCP server does. A key that may not write there works
// in its own project.
func (g *Guard) resolve(ctx context.Context, w *worktree) error {
	c, err := g.Dial(Who{})
	if err != nil {
		return err
	}
	defer c.Close()
	project := w.Repo.Project
	who, err := c.Whoami(ctx, client.None{})
	if err != nil {
		return err
	}
	if who.BoundTo == "project" {
		project = who.Project
	}
	if w.Repo.Remote == "" && w.Repo.RootCommit == "" && project == "" {
		project = "default"
	}
	got, err := c.ResolveRepository(ctx, client.ResolveRepository{
		Name: w.Repo.Name, Remote: w.Repo.Remote, RootCommit: w.Repo.RootCommit, Project: project,
	})
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == client.CodeForbidden {
		got, err = client.ResolvedRepository{Project: project}, nil
	}
	if err != nil {
		return err
	}
	w.Project, w.Repository = cmp.Or(got.Project, project), got.Repository
	return nil
}

// who is a session that works here.
func (w *worktree) who(session string) Who {
	return Who{Session: session, Project: w.Project, Repository: w.Repository}
}

// relative is path as locks know it.
func (w *worktree) relative(ctx context.Context, path string, tree bool) (string, error) {
	p := &repo.Paths{Repo: w.Repo, Cwd: w.Root}
	rel, err := p.Relative(ctx, path)
	if err == nil && tree && rel != "." && rel[len(rel)-1] != '/' {
		rel += "/"
	}
	return rel, err
}
