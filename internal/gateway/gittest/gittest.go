// Package gittest makes real repositories for tests: one that somebody works in, and the bare remote that it is pushed to.
package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Work is a working copy on branch main and its remote.
type Work struct {
	t      testing.TB
	Dir    string // the working copy
	Remote string // the bare repository, by its path
	Root   string // the folder of both
}

// New makes both, empty; they go with the test.
func New(t testing.TB) *Work {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &Work{t: t, Root: root, Dir: filepath.Join(root, "work"), Remote: filepath.Join(root, "remote.git")}
	w.Sh(root, "git", "init", "-q", "--bare", w.Remote)
	w.Sh(root, "git", "init", "-q", "-b", "main", w.Dir)
	return w
}

// Sh runs a command in dir and returns what it printed; its failure is the test's.
func (w *Work) Sh(dir, name string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Git runs git in the working copy.
func (w *Work) Git(args ...string) string { w.t.Helper(); return w.Sh(w.Dir, "git", args...) }

// Write writes a file of the working copy.
func (w *Work) Write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// Commit commits everything, pushes it to the branch unless that is "", and returns the commit's name.
func (w *Work) Commit(branch string) string {
	w.t.Helper()
	w.Git("add", "-A")
	w.Git("commit", "-q", "--allow-empty", "-m", "change")
	if branch != "" {
		w.Git("push", "-q", "--force", w.Remote, "HEAD:refs/heads/"+branch)
	}
	return w.Git("rev-parse", "HEAD")
}
