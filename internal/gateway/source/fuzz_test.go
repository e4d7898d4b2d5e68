package source

import (
	"strings"
	"testing"
)

// FuzzDiff: names and patches in git's output are those of a change: anything at all.
func FuzzDiff(f *testing.F) {
	f.Add([]byte(":100644 100644 a b M\x00a.go\x001\t2\ta.go\x00"), []byte("diff --git a/a b/a\n+++ \"b/\\303\\244\\n\"\n@@ -1,2 +3,4 @@ x\n"))
	f.Add([]byte(":100644 100644 a b R100\x00a\x00b\x00-\t-\t\x00a\x00b\x00"), []byte("+++ /dev/null\n@@ -0,0 +99999999999999999999 @@\n"))
	f.Fuzz(func(t *testing.T, raw, patch []byte) {
		if files, _, err := parseChanges(raw); err == nil {
			for _, c := range files {
				if strings.Contains(c.Path, "\x00") {
					t.Fatalf("%q has the file %q", raw, c.Path)
				}
			}
		}
		lines := map[string][]Range{}
		patched(patch, lines)
		for name, ranges := range lines {
			for _, r := range ranges {
				if name == "" {
					t.Fatalf("%q: a range %v of no file", patch, r)
				}
			}
		}
	})
}
