package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// targets are the Makefile's, each of which must say what it does.
func targets(t *testing.T) []string {
	t.Helper()
	makefile := read(t, filepath.Join(root, "Makefile"))
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.+)$`).FindStringSubmatch(makefile)
	if phony == nil {
		t.Fatal("the Makefile declares no .PHONY targets")
	}
	names := strings.Fields(phony[1])
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `:.*## \S`).MatchString(makefile) {
			t.Errorf("target %s has no ## line", name)
		}
	}
	return names
}

func TestDocumentsNameOnlyTargetsThatExist(t *testing.T) {
	t.Parallel()
	names := targets(t)
	called := regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z0-9/-]*)(?:`|\\s*$|\\s+#| [A-Z_]+=)")
	for _, path := range files(t, ".md") {
		for _, m := range called.FindAllStringSubmatch(read(t, path), -1) {
			if !slices.Contains(names, m[1]) {
				t.Errorf("%s tells people to run `make %s`, which is no target", path, m[1])
			}
		}
	}
}

func TestLinksBetweenDocumentsHold(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	for _, path := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(read(t, path), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
	}
}

// TestMapNamesTheRooms: every package under internal stands in ARCHITECTURE.md, and every one named there exists.
func TestMapNamesTheRooms(t *testing.T) {
	t.Parallel()
	text := read(t, filepath.Join(root, "ARCHITECTURE.md"))
	entries, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found, err := filepath.Glob(filepath.Join(root, "internal", e.Name(), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 && !regexp.MustCompile(`internal/(\{[a-z,]*)?`+e.Name()+`\b`).MatchString(text) {
			t.Errorf("ARCHITECTURE.md does not say what internal/%s is", e.Name())
		}
	}
}
