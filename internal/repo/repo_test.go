package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs git in dir with a fixed identity and returns its output.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(cleanEnv(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// tempDir is t.TempDir with symlinks resolved, as git prints paths.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// project makes a repository with two commits and, unless it is empty, a remote called origin.
func project(t *testing.T, dir, remote string) (root string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "src", "a.go"), "package a\n")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "one")
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "two")
	if remote != "" {
		run(t, dir, "remote", "add", "origin", remote)
	}
	return run(t, dir, "rev-list", "--max-parents=0", "HEAD")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func noEnv(string) string { return "" }

func identify(t *testing.T, dir string) Repo {
	t.Helper()
	r, err := IdentifyEnv(t.Context(), dir, noEnv)
	if err != nil {
		t.Fatalf("Identify(%s): %v", dir, err)
	}
	return r
}

const remote = "git@GitHub.com:acme/shop.git"

// want compares what identifies a repository.
func want(t *testing.T, r Repo, remote, root, name string) {
	t.Helper()
	if r.Remote != remote || r.RootCommit != root || r.Name != name {
		t.Errorf("remote %q root %q name %q, want %q %q %q", r.Remote, r.RootCommit, r.Name, remote, root, name)
	}
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	t.Run("clone", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := project(t, filepath.Join(dir, "a"), remote)
		r := identify(t, filepath.Join(dir, "a", "src"))
		want(t, r, "github.com/acme/shop", root, "shop")
		if !r.Git || r.Root != filepath.Join(dir, "a") || r.WorktreeRoot != r.Root || r.Branch != "main" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("worktree", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := project(t, filepath.Join(dir, "a"), remote)
		run(t, filepath.Join(dir, "a"), "worktree", "add", "-q", "-b", "feature", filepath.Join(dir, "w"))
		r := identify(t, filepath.Join(dir, "w", "src"))
		want(t, r, "github.com/acme/shop", root, "shop")
		if r.Root != filepath.Join(dir, "a") || r.WorktreeRoot != filepath.Join(dir, "w") || r.Branch != "feature" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("bare repository with worktrees", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := project(t, filepath.Join(dir, "a"), "")
		run(t, dir, "clone", "-q", "--bare", filepath.Join(dir, "a"), filepath.Join(dir, "b.git"))
		run(t, filepath.Join(dir, "b.git"), "remote", "set-url", "origin", "https://github.com/acme/shop")
		run(t, filepath.Join(dir, "b.git"), "worktree", "add", "-q", filepath.Join(dir, "w"), "main")
		r := identify(t, filepath.Join(dir, "w"))
		want(t, r, "github.com/acme/shop", root, "shop")
		if r.Root != filepath.Join(dir, "b.git") || r.WorktreeRoot != filepath.Join(dir, "w") {
			t.Errorf("%+v", r)
		}
		want(t, identify(t, filepath.Join(dir, "b.git")), "github.com/acme/shop", root, "shop")
	})
	t.Run("nested repository", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		outer := project(t, dir, remote)
		inner := project(t, filepath.Join(dir, "vendor", "lib"), "https://example.com/acme/lib.git")
		want(t, identify(t, filepath.Join(dir, "vendor", "lib")), "example.com/acme/lib", inner, "lib")
		want(t, identify(t, filepath.Join(dir, "vendor")), "github.com/acme/shop", outer, "shop")
	})
	t.Run("submodule", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		lib := project(t, filepath.Join(dir, "lib"), "https://example.com/acme/lib.git")
		project(t, filepath.Join(dir, "a"), remote)
		run(t, filepath.Join(dir, "a"), "submodule", "--quiet", "add", filepath.Join(dir, "lib"), "sub")
		r := identify(t, filepath.Join(dir, "a", "sub"))
		want(t, r, "example.com/acme/lib", lib, "lib") // its remote is a folder here, which is followed
		if r.WorktreeRoot != filepath.Join(dir, "a", "sub") || r.Root != r.WorktreeRoot {
			t.Errorf("%+v", r)
		}
	})
	t.Run("symlink", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := project(t, filepath.Join(dir, "a"), remote)
		if err := os.Symlink(filepath.Join(dir, "a", "src"), filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		r := identify(t, filepath.Join(dir, "link"))
		want(t, r, "github.com/acme/shop", root, "shop")
		if r.WorktreeRoot != filepath.Join(dir, "a") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("shallow clone", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		project(t, filepath.Join(dir, "a"), "")
		run(t, dir, "clone", "-q", "--depth", "1", "file://"+filepath.Join(dir, "a"), "s")
		run(t, filepath.Join(dir, "s"), "remote", "set-url", "origin", remote)
		want(t, identify(t, filepath.Join(dir, "s")), "github.com/acme/shop", "", "shop")
	})
	t.Run("shallow clone of a folder", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := project(t, filepath.Join(dir, "a"), "")
		run(t, dir, "clone", "-q", "--depth", "1", "file://"+filepath.Join(dir, "a"), "s")
		want(t, identify(t, filepath.Join(dir, "s")), "", root, "s")
	})
	t.Run("no commits", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		run(t, dir, "init", "-q")
		r := identify(t, dir)
		want(t, r, "", "", filepath.Base(dir))
		if !r.Git || r.Branch != "main" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("no remote", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(tempDir(t), "shop")
		root := project(t, dir, "")
		want(t, identify(t, dir), "", root, "shop")
	})
	t.Run("container path and renamed folder", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := project(t, filepath.Join(dir, "home", "ana", "shop"), "")
		if err := os.MkdirAll(filepath.Join(dir, "workspace"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "home", "ana", "shop"), filepath.Join(dir, "workspace", "src")); err != nil {
			t.Fatal(err)
		}
		want(t, identify(t, filepath.Join(dir, "workspace", "src")), "", root, "src")
	})
	t.Run("clone of a clone", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := project(t, filepath.Join(dir, "a"), remote)
		run(t, dir, "clone", "-q", filepath.Join(dir, "a"), "b")
		run(t, dir, "clone", "-q", filepath.Join(dir, "b"), "c")
		want(t, identify(t, filepath.Join(dir, "c")), "github.com/acme/shop", root, "shop")
	})
	t.Run("remote added later", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(tempDir(t), "shop")
		root := project(t, dir, "")
		want(t, identify(t, dir), "", root, "shop")
		run(t, dir, "remote", "add", "origin", "ssh://git@github.com:22/acme/shop.git/")
		want(t, identify(t, dir), "github.com/acme/shop", root, "shop")
	})
	t.Run("no repository", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(tempDir(t), "notes")
		write(t, filepath.Join(dir, "a.md"), "")
		r := identify(t, dir)
		want(t, r, "", "", "notes")
		if r.Git || r.WorktreeRoot != dir {
			t.Errorf("%+v", r)
		}
	})
}

func TestOverride(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	project(t, dir, remote)
	write(t, filepath.Join(dir, ConfigFile), "project = \"team/all\"\nrepository = \"web\"\n")
	r := identify(t, filepath.Join(dir, "src"))
	if r.Project != "team/all" || r.Repository != "web" || r.Name != "web" {
		t.Errorf("%+v", r)
	}
	r, err := IdentifyEnv(t.Context(), dir, func(name string) string {
		if name == "COORD_PROJECT" {
			return "other"
		}
		return ""
	})
	if err != nil || r.Project != "other" {
		t.Errorf("%+v, %v", r, err)
	}
	write(t, filepath.Join(dir, ConfigFile), "project = [")
	if _, err := IdentifyEnv(t.Context(), dir, noEnv); err == nil || !strings.Contains(err.Error(), ConfigFile) {
		t.Errorf("a broken file: %v", err)
	}
}

func TestNormaliseRemote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://github.com/acme/shop.git":                 "github.com/acme/shop",
		"https://user:p%40ss@GitHub.com/acme/shop":         "github.com/acme/shop",
		"https://x-access-token:ghs_1@github.com/a/b.git/": "github.com/a/b",
		"http://git.example.com:8080//team///shop.git//":   "git.example.com/team/shop",
		"ssh://git@github.com:22/acme/shop.git":            "github.com/acme/shop",
		"ssh://git@gitlab.example.com:2222/a/b/c.git":      "gitlab.example.com/a/b/c",
		"git@github.com:acme/shop.git":                     "github.com/acme/shop",
		"git@github.com:/acme/shop.git":                    "github.com/acme/shop",
		"github.com:acme/shop":                             "github.com/acme/shop",
		"git://github.com/acme/shop.git":                   "github.com/acme/shop",
		"git+ssh://git@github.com/acme/shop":               "github.com/acme/shop",
		"ssh://host.example.com/~ana/shop.git":             "host.example.com/ana/shop",
		"https://github.com/acme/shop.GIT":                 "github.com/acme/shop.GIT",
		"https://dev.azure.com/org/proj/_git/shop":         "dev.azure.com/org/proj/_git/shop",
		"git@[::1]:acme/shop.git":                          "::1/acme/shop",
		"https://ana:p^ss%w@github.com/acme/shop.git":      "github.com/acme/shop",
		"file:///srv/git/shop.git":                         "",
		"/srv/git/shop.git":                                "",
		"../shop":                                          "",
		"~/shop":                                           "",
		`C:\src\shop`:                                      "",
		"https://github.com":                               "",
		"":                                                 "",
	} {
		if got := NormaliseRemote(in); got != want {
			t.Errorf("NormaliseRemote(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	root := filepath.Join(dir, "a")
	project(t, root, remote)
	run(t, root, "worktree", "add", "-q", filepath.Join(dir, "w"))
	write(t, filepath.Join(root, "web", "src", "b.ts"), "")
	if err := os.Symlink("src", filepath.Join(root, "alias")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "outside-link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ cwd, in, want string }{
		{"", "src/a.go", "src/a.go"},
		{"", "./src//a.go", "src/a.go"},
		{"", root + "/src/a.go", "src/a.go"},
		{"", root + "/src/", "src/"},
		{"", "src", "src/"}, // a folder is everything in it
		{"", "alias", "src/"},
		{"web", "src", "web/src/"},
		{"", root, "."},
		{"", "new/dir/file.go", "new/dir/file.go"},
		{"", "alias/a.go", "src/a.go"},
		{"", filepath.Join(dir, "outside-link", "src", "a.go"), "src/a.go"},
		{"", filepath.Join(dir, "w", "src", "a.go"), "src/a.go"},
		{"", "src/**/*.go", "src/**/*.go"},
		{"", root + "/src/*.go", "src/*.go"},
		{"", "**/*.go", "**/*.go"},
		{"", "app/[id]/page.tsx", "app/[id]/page.tsx"},
		{"", "db:slot", "db:slot"},
		{"", "api:GET /users/{id}", "api:GET /users/{id}"},
		{"", root + "/db:slot", "./db:slot"},
		{"", "@lib//src/x.go", "@lib//src/x.go"},
		{"web", "src/b.ts", "web/src/b.ts"},
		{"web", "web/src/b.ts", "web/src/b.ts"},
		{"web", "src/new.ts", "web/src/new.ts"},
		{"web", "../src/a.go", "src/a.go"},
		{"web", "*.ts", "web/*.ts"},
		{"web", "package.json", "web/package.json"},
	} {
		p, err := NewPaths(identify(t, root), filepath.Join(root, tt.cwd))
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Relative(t.Context(), tt.in)
		if err != nil || got != tt.want {
			t.Errorf("in %q: Relative(%q) = %q, %v, want %q", tt.cwd, tt.in, got, err, tt.want)
		}
	}
	p, err := NewPaths(identify(t, root), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"../x", "/etc/passwd", dir + "/b/c", dir + "/b/*.go"} {
		if got, err := p.Relative(t.Context(), in); err == nil || !strings.Contains(err.Error(), root) {
			t.Errorf("Relative(%q) = %q, %v, want an error that names %s", in, got, err, root)
		}
	}
	if got := p.Complete("s"); len(got) != 1 || got[0] != "src/" {
		t.Errorf("Complete: %v", got)
	}
	if got := p.Complete("../"); got != nil {
		t.Errorf("Complete outside: %v", got)
	}
}
