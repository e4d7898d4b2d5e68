//go:build unix

package embedpg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeBinaries makes a folder of scripts that answer --version.
func fakeBinaries(t *testing.T, version string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		script := "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + "'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var all = []string{"initdb", "pg_ctl", "postgres"}

// caller runs programs as the test's own account.
var caller = dbUser{}

func TestInspectBinaries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, version string
		programs      []string
		major         int
		full          string
		refused       error
	}{
		{"release", "17.10", all, 17, "17.10", nil},
		{"with the distribution's words", "15.18 (Debian 15.18-0+deb12u1)", all, 15, "15.18", nil},
		{"pre-release", "19beta2", all, 19, "19beta2", nil},
		{"too old", "14.9", all, 0, "", errTooOld},
		{"client only", "17.1", []string{"pg_ctl"}, 0, "", errIncomplete},
		{"without pg_ctl", "17.1", []string{"initdb", "postgres"}, 0, "", errIncomplete},
		{"without the server", "17.1", []string{"initdb", "pg_ctl"}, 0, "", errIncomplete},
		{"something else", "?", all, 0, "", errNotPostgres},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := inspectBinaries(t.Context(), caller, fakeBinaries(t, tt.version, tt.programs...), "test")
			if !errors.Is(err, tt.refused) {
				t.Fatalf("got %v, want %v", err, tt.refused)
			}
			if err == nil && (b.Major != tt.major || b.Version != tt.full) {
				t.Fatalf("got %+v", b)
			}
		})
	}
}

func TestInspectBinariesFollowsLinks(t *testing.T) {
	t.Parallel()
	real, links := fakeBinaries(t, "16.2", all...), t.TempDir()
	for _, name := range all[:1] { // as in a folder that holds links to some of the programs
		if err := os.Symlink(filepath.Join(real, name), filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := inspectBinaries(t.Context(), caller, links, "test")
	if err != nil || !samePath(b.Dir, real) {
		t.Fatalf("got %s, %v; want %s", b.Dir, err, real)
	}
}

// Reads the environment, therefore not parallel.
func TestFindBinaries(t *testing.T) { //nolint:paralleltest // t.Setenv
	old, sixteen, seventeen := fakeBinaries(t, "13.1", all...), fakeBinaries(t, "16.2", all...), fakeBinaries(t, "17.1", all...)
	tests := []struct {
		name, bin string
		path      []string
		major     int
		want      string
		err       error
	}{
		{name: "named folder wins", bin: sixteen, path: []string{seventeen}, want: sixteen},
		{name: "named folder is not replaced by another", bin: old, path: []string{seventeen}, err: ErrNoBinaries},
		{name: "named folder of the wrong version", bin: sixteen, major: 17, path: []string{seventeen}, err: ErrMajor},
		{name: "first usable on PATH", path: []string{t.TempDir(), old, seventeen, sixteen}, want: seventeen},
		{name: "the cluster's version on PATH", path: []string{seventeen, sixteen}, major: 16, want: sixteen},
		{name: "a version nobody has", path: []string{seventeen}, major: 99, err: ErrMajor},
	}
	for _, tt := range tests { //nolint:paralleltest // t.Setenv
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("COORD_PG_BIN", tt.bin)
			t.Setenv("PATH", strings.Join(tt.path, string(os.PathListSeparator)))
			b, err := findBinaries(t.Context(), caller, tt.major, func(string) {})
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if tt.want != "" && !samePath(b.Dir, tt.want) {
				t.Fatalf("got %s, want %s", b.Dir, tt.want)
			}
		})
	}
}

func TestNoBinariesNamesTheWaysOut(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"Install Postgres", "npm", "COORD_DATABASE_URL"} {
		if !strings.Contains(waysOut(), way) {
			t.Errorf("%q is not in %q", way, waysOut())
		}
	}
}

func TestEveryPlatformHasPlaces(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows", "freebsd"} {
		if len(wellKnown(goos)) == 0 {
			t.Errorf("%s: no well-known folders", goos)
		}
		for _, p := range wellKnown(goos) {
			if _, err := filepath.Match(p, "x"); err != nil {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
	for _, goos := range []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"} {
		if npmIntegrity[goos] == "" {
			t.Errorf("%s: no pinned package", goos)
		}
	}
	if got := npmPlatform("linux", "amd64"); got != "linux-x64" {
		t.Errorf("got %s", got)
	}
}

func TestChildrenGetNoSecrets(t *testing.T) { //nolint:paralleltest // t.Setenv
	t.Setenv("SOME_API_KEY", "secret")
	t.Setenv("PGPASSWORD", "secret")
	t.Setenv("LC_ALL", "xx")
	for _, kv := range childEnv() {
		if strings.Contains(kv, "secret") || kv == "LC_ALL=xx" {
			t.Errorf("%s is handed on", kv)
		}
	}
}

func TestStartWithoutHook(t *testing.T) { //nolint:paralleltest // changes the package's state for a moment
	hooked.Store(false)
	defer hooked.Store(true)
	if _, err := Start(context.Background(), Options{Dir: t.TempDir()}); !errors.Is(err, ErrNoHook) {
		t.Fatalf("got %v", err)
	}
}
