package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/gittest"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, w *gittest.Work, change func(*Config)) *Store {
	t.Helper()
	cfg := Config{Dir: filepath.Join(t.TempDir(), "state"), LocalRoots: []string{filepath.Dir(w.Remote)}}
	if change != nil {
		change(&cfg)
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFetchesWhatWasPushed(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("a.txt", "one\ntwo\nthree\n")
	base := w.Commit("main")
	w.Write("a.txt", "one\n2\nthree\nfour\n")
	w.Write("sub/new.go", "package sub\n")
	head := w.Commit("feature")
	s, ctx := open(t, w, nil), t.Context()
	must(t, s.Fetch(ctx, w.Remote, head, ""))
	must(t, s.Fetch(ctx, "file://"+w.Remote, base, ""))
	must(t, s.Fetch(ctx, w.Remote, base, "")) // no tip any more: by name all the same

	files, err := s.ChangedFiles(ctx, w.Remote, base, head)
	must(t, err)
	want := []route.File{
		{Path: "a.txt", Status: "modified", Additions: 2, Deletions: 1, Mode: "100644"},
		{Path: "sub/new.go", Status: "added", Additions: 1, Mode: "100644"},
	}
	if !reflect.DeepEqual(files, want) {
		t.Errorf("changed files: %+v", files)
	}
	lines, err := s.ChangedLines(ctx, w.Remote, base, head)
	must(t, err)
	if !reflect.DeepEqual(lines, map[string][]Range{"a.txt": {{2, 2}, {4, 4}}, "sub/new.go": {{1, 1}}}) {
		t.Errorf("changed lines: %v", lines)
	}
	tree, cleanup, err := s.Checkout(ctx, w.Remote, head)
	must(t, err)
	got, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt"))
	if err != nil || string(got) != "one\n2\nthree\nfour\n" {
		t.Errorf("written out: %q, %v", got, err)
	}
	cleanup()
	if _, err := os.Stat(tree.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the clean-up: %v", err)
	}
	if old, err := s.ReadFile(ctx, w.Remote, base, "a.txt", 100); err != nil || string(old) != "one\ntwo\nthree\n" {
		t.Errorf("the base's file: %q, %v", old, err)
	}
	if _, err := s.ReadFile(ctx, w.Remote, base, "none", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestComparesWithWhereTheBranchLeft(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("a", "1\n")
	w.Commit("main")
	w.Git("checkout", "-q", "-b", "feature")
	w.Write("b", "1\n")
	head := w.Commit("feature")
	w.Git("checkout", "-q", "main")
	w.Write("c", "1\n")
	base := w.Commit("main")
	s := open(t, w, nil)
	must(t, s.Fetch(t.Context(), w.Remote, base, ""))
	must(t, s.Fetch(t.Context(), w.Remote, head, ""))
	files, err := s.ChangedFiles(t.Context(), w.Remote, base, head)
	must(t, err)
	if len(files) != 1 || files[0].Path != "b" {
		t.Errorf("what main did since shows as the branch's: %+v", files)
	}
	all, err := s.ChangedFiles(t.Context(), w.Remote, "", head)
	must(t, err)
	if len(all) != 2 {
		t.Errorf("against nothing: %+v", all)
	}
}

func TestEveryKindOfChangeAndOddNames(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	long := strings.Repeat("some line\n", 20)
	for _, name := range []string{"moved.txt", "gone.txt", "mode.sh", "kind"} {
		w.Write(name, name+"\n"+long)
	}
	base := w.Commit("main")
	w.Git("mv", "moved.txt", "to here.txt")
	w.Git("rm", "-q", "gone.txt")
	must(t, os.Chmod(filepath.Join(w.Dir, "mode.sh"), 0o755))
	must(t, os.Remove(filepath.Join(w.Dir, "kind")))
	must(t, os.Symlink("/etc/shadow", filepath.Join(w.Dir, "kind")))
	odd := []string{"-rf", "tab\there", "new\nline", `quo"te`, "ünï", "b/+++ b", "--", ":(top)x", "bad\xffbyte"}
	for _, name := range odd {
		w.Write(name, "@@ -1 +1 @@\n+++ b/none\nx\n")
	}
	w.Write("bin", "\x00\x01")
	w.Git("update-index", "--add", "--cacheinfo", "160000,"+base+",module")
	w.Git("add", "-A", "--", ".", ":(exclude)module")
	w.Git("commit", "-q", "-m", "odd")
	w.Git("push", "-q", w.Remote, "HEAD:refs/heads/odd")
	head := w.Git("rev-parse", "HEAD")
	s, ctx := open(t, w, nil), t.Context()
	must(t, s.Fetch(ctx, w.Remote, head, ""))
	files, err := s.ChangedFiles(ctx, w.Remote, base, head)
	must(t, err)
	lines, err := s.ChangedLines(ctx, w.Remote, base, head)
	must(t, err)
	by := map[string]route.File{}
	for _, f := range files {
		by[f.Path] = f
	}
	for path, want := range map[string]route.File{
		"to here.txt": {PreviousPath: "moved.txt", Status: "renamed", Mode: "100644"},
		"gone.txt":    {Status: "removed", Mode: "100644", Deletions: 21},
		"mode.sh":     {Status: "modified", Mode: "100755"},
		"kind":        {Status: "changed", Mode: "120000", Additions: 1, Deletions: 21},
		"module":      {Status: "added", Mode: "160000", Additions: 1},
		"bin":         {Status: "added", Mode: "100644"},
	} {
		want.Path = path
		if by[path] != want {
			t.Errorf("%s: %+v, want %+v", path, by[path], want)
		}
	}
	for _, name := range odd {
		name = clean(name)
		if by[name].Additions != 3 {
			t.Errorf("%q: %+v", name, by[name])
		}
		if !reflect.DeepEqual(lines[name], []Range{{1, 3}}) {
			t.Errorf("%q: lines %v", name, lines[name])
		}
	}
	tree, cleanup, err := s.Checkout(ctx, w.Remote, head)
	must(t, err)
	defer cleanup()
	if text, err := os.ReadFile(filepath.Join(tree.Dir, "kind")); err != nil || string(text) != "/etc/shadow" {
		t.Errorf("a link is no plain file: %q, %v", text, err)
	}
	if !slices.Equal(tree.Links, []string{"kind"}) || !slices.Equal(tree.Submodules, []string{"module"}) {
		t.Errorf("links %v, submodules %v", tree.Links, tree.Submodules)
	}
}

// What a tree says of its own files must not change what tools see of them.
func TestAttributesOfTheTreeAreIgnored(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("secret.txt", "key\n")
	w.Write("id.txt", "$Id$ $Format:%H$\n")
	w.Commit("main")
	w.Write(".git/info/attributes", "* -working-tree-encoding -ident -filter\n") // store the bytes as they are
	w.Write(".gitattributes", "secret.txt working-tree-encoding=UTF-16 export-ignore -diff\nid.txt ident export-subst filter=evil\n* diff=evil\n")
	w.Write("secret.txt", "key\nmore\n")
	head := w.Commit("main")
	s, ctx := open(t, w, nil), t.Context()
	must(t, s.Fetch(ctx, w.Remote, head, ""))
	tree, cleanup, err := s.Checkout(ctx, w.Remote, head)
	must(t, err)
	defer cleanup()
	for name, want := range map[string]string{"secret.txt": "key\nmore\n", "id.txt": "$Id$ $Format:%H$\n"} {
		if got, err := os.ReadFile(filepath.Join(tree.Dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	lines, err := s.ChangedLines(ctx, w.Remote, w.Git("rev-parse", "HEAD~1"), head)
	must(t, err)
	if !reflect.DeepEqual(lines["secret.txt"], []Range{{2, 2}}) {
		t.Errorf("lines: %v", lines)
	}
	file, err := s.Archive(ctx, w.Remote, head)
	must(t, err)
	defer func() { _ = os.Remove(file) }()
	packed := untar(t, file)
	if packed["secret.txt"] != "key\nmore\n" || packed["id.txt"] != "$Id$ $Format:%H$\n" {
		t.Errorf("archived: %q", packed)
	}
}

func untar(t *testing.T, file string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	must(t, err)
	unzipped, err := gzip.NewReader(bytes.NewReader(raw))
	must(t, err)
	out, in := map[string]string{}, tar.NewReader(unzipped)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		must(t, err)
		body, err := io.ReadAll(in)
		must(t, err)
		out[h.Name] = string(body)
	}
}

func TestRefusesRemotes(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	head := w.Commit("main")
	s := open(t, w, func(c *Config) { c.Hosts = []string{"github.com"} })
	outside := t.TempDir()
	w.Sh(outside, "git", "clone", "-q", "--bare", w.Remote, "other.git")
	must(t, os.Symlink(filepath.Join(outside, "other.git"), filepath.Join(filepath.Dir(w.Remote), "link.git")))
	for _, address := range []string{
		"ext::sh -c touch%20/tmp/x", "https://evil.example/x.git", "http://github.com/a/b.git", "git://github.com/a/b.git",
		"https://user:secret@github.com/a/b", "https://token@github.com/a/b", "git@evil.example:a/b.git", "git@github.com:-oProxyCommand=x",
		"--upload-pack=touch", "", "relative/path", filepath.Join(outside, "other.git"), "file://" + outside + "/other.git",
		filepath.Join(filepath.Dir(w.Remote), "..", filepath.Base(outside)), filepath.Join(filepath.Dir(w.Remote), "link.git"),
		"https://169.254.169.254/latest", "ftp://github.com/a",
	} {
		if err := s.Fetch(t.Context(), address, head, ""); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, sha := range []string{"HEAD", "main", "", "--upload-pack=x", head[:10], strings.Repeat("0", 40)} {
		if err := s.Fetch(t.Context(), w.Remote, sha, ""); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", sha, err)
		}
	}
}

func TestRefOfAPullRequest(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Commit("main")
	w.Write("x", "1")
	head := w.Commit("")
	w.Git("push", "-q", w.Remote, "HEAD:refs/pull/7/head")
	w.Git("--git-dir", w.Remote, "config", "uploadpack.allowAnySHA1InWant", "false")
	s := open(t, w, nil)
	must(t, s.Fetch(t.Context(), w.Remote, head, "refs/pull/7/head"))
	w.Write("x", "2")
	moved := w.Commit("")
	w.Git("push", "-q", w.Remote, "HEAD:refs/pull/7/head")
	w.Write("x", "3")
	never := w.Commit("")
	if err := s.Fetch(t.Context(), w.Remote, never, "refs/pull/7/head"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another commit than the ref's was accepted: %v", err)
	}
	must(t, s.Fetch(t.Context(), w.Remote, moved, "refs/pull/7/head"))
}

func TestBundleOfAnUnpushedCommit(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("x", "1\n")
	base := w.Commit("main")
	w.Write("x", "2\n")
	head := w.Commit("")
	file := filepath.Join(t.TempDir(), "b")
	w.Git("bundle", "create", "-q", file, "main", "^"+base)
	raw, err := os.ReadFile(file)
	must(t, err)
	s, ctx := open(t, w, nil), t.Context()
	if err := s.Fetch(ctx, w.Remote, head, ""); !errors.Is(err, ErrNotFound) {
		t.Fatalf("before: %v", err)
	}
	must(t, s.Fetch(ctx, w.Remote, base, ""))
	for name, bad := range map[string][]byte{"empty": nil, "torn": raw[:len(raw)-20], "other": []byte("# v2 git bundle\n\n")} {
		if err := s.AddBundle(ctx, w.Remote, bytes.NewReader(bad), head); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s bundle: %v", name, err)
		}
	}
	if err := s.AddBundle(ctx, w.Remote, bytes.NewReader(raw), base); !errors.Is(err, ErrNotFound) {
		t.Errorf("a commit that is not its head: %v", err)
	}
	must(t, s.AddBundle(ctx, w.Remote, bytes.NewReader(raw), head))
	files, err := s.ChangedFiles(ctx, w.Remote, base, head)
	if err != nil || len(files) != 1 {
		t.Errorf("changed: %v, %v", files, err)
	}
	small := open(t, w, func(c *Config) { c.MaxBundle = 10 })
	if err := small.AddBundle(ctx, w.Remote, bytes.NewReader(raw), head); !errors.Is(err, ErrTooLarge) {
		t.Errorf("beyond the size: %v", err)
	}
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("zeros", strings.Repeat("\x00", 8<<20)) // a few kB in the pack
	head := w.Commit("main")
	s := open(t, w, func(c *Config) { c.MaxTree = 1 << 20 })
	must(t, s.Fetch(t.Context(), w.Remote, head, ""))
	if _, _, err := s.Checkout(t.Context(), w.Remote, head); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a tree beyond the size: %v", err)
	}
	s = open(t, w, func(c *Config) { c.MaxBytes = 1 << 10 })
	if err := s.Fetch(t.Context(), w.Remote, head, ""); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a repository beyond the size: %v", err)
	}
	if n := size(s.mirrors()); n > 0 {
		t.Errorf("%d bytes are left of it", n)
	}
}

func TestManyAtOnceFetchOnce(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("x", "1")
	head := w.Commit("main")
	s := open(t, w, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := s.Fetch(t.Context(), w.Remote, head, ""); err != nil {
				t.Error(err)
			}
			_, cleanup, err := s.Checkout(t.Context(), w.Remote, head)
			cleanup()
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// overHTTP serves the folder by git's own http-backend behind basic authentication, as a forge does.
func overHTTP(t *testing.T, root, want string, seen *sync.Map) *httptest.Server {
	t.Helper()
	backend := strings.TrimSpace(output(t, "git", "--exec-path")) + "/git-http-backend"
	if _, err := os.Stat(backend); err != nil {
		t.Skipf("SKIPPED: git-http-backend is not installed: %v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization"), true)
		if r.Header.Get("Authorization") != want {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		(&cgi.Handler{Path: backend, Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		}, InheritEnv: []string{"PATH"}}).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	must(t, err)
	return string(out)
}

func TestCredentialsGoIntoAHeader(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	head := w.Commit("main")
	var seen sync.Map
	header := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:s3cret"))
	server := overHTTP(t, filepath.Dir(w.Remote), header, &seen)
	host := strings.TrimPrefix(server.URL, "http://")
	s := open(t, w, func(c *Config) {
		c.Insecure = []string{host}
		c.Credentials = func(context.Context, string) (string, error) { return header, nil }
	})
	must(t, s.Fetch(t.Context(), server.URL+"/remote.git", head, ""))
	without := open(t, w, func(c *Config) { c.Insecure = []string{host}; c.Timeout = 20 * time.Second })
	err := without.Fetch(t.Context(), server.URL+"/remote.git", head, "")
	if err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("without credentials it cannot tell, and said: %v", err)
	}
	// Nothing of it is kept on disk.
	_ = filepath.WalkDir(s.cfg.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if bytes.Contains(raw, []byte(header[6:])) {
			t.Errorf("%s holds the credentials", name)
		}
		return err
	})
}

func TestSweepForgetsWhatNobodyUses(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("x", "1")
	base := w.Commit("main")
	w.Write("x", "2")
	head := w.Commit("main")
	s, ctx := open(t, w, nil), t.Context()
	must(t, s.Fetch(ctx, w.Remote, base, ""))
	must(t, s.Fetch(ctx, w.Remote, head, ""))
	mirror := s.mirror(w.Remote)
	old := time.Now().Add(-48 * time.Hour)
	must(t, os.Chtimes(filepath.Join(mirror, keptRef(base)), old, old))
	if n, err := s.Sweep(ctx, 24*time.Hour); n != 1 || err != nil {
		t.Errorf("the old commit: %d, %v", n, err)
	}
	if s.kept(ctx, mirror, base) || !s.kept(ctx, mirror, head) {
		t.Error("the wrong one is kept")
	}
	must(t, os.Chtimes(mirror, old, old))
	if n, err := s.Sweep(ctx, 24*time.Hour); n != 1 || err != nil {
		t.Errorf("the mirror: %d, %v", n, err)
	}
	must(t, s.Fetch(ctx, w.Remote, head, ""))
}
