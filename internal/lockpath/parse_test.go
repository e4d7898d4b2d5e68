package lockpath

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"a.go": {"l a.go"}, "./a.go": {"l a.go"}, "x/../a.go": {"l a.go"}, "a//b/./c": {"l a/b/c"}, "a/../b/../c": {"l c"},
		"src/": {"d src/"}, "src/.": {"d src/"}, "src/x/..": {"d src/"}, "src/**": {"d src/"}, "src/**/": {"d src/"}, "src/**/**": {"d src/"},
		".": {"d ./"}, "./": {"d ./"}, "**": {"d ./"}, "a/..": {"d ./"},
		"*.go": {"g *.go"}, "a/**/b": {"g a/**/b"}, "a/**/**/b": {"g a/**/b"}, "a***b": {"g a*b"}, "src/*/": {"g src/*/**"}, "a/b?/c": {"g a/b?/c"},
		"{a,b}.go": {"l a.go", "l b.go"}, "x/{a/b,c}/d": {"l x/a/b/d", "l x/c/d"}, "{a,{b,c}}": {"l a", "l b", "l c"}, "a{,b}": {"l a", "l ab"},
		"{{cookie.x}}/a": {"l {{cookie.x}}/a"}, "{a": {"l {a"}, "a}b{c,d}": {"l a}bc", "l a}bd"}, "{a{b,c}": {"l {ab", "l {ac"},
		"app/[id]/p.tsx": {"g app/[id]/p.tsx", "l app/[id]/p.tsx"}, "app/[id]/*": {"g app/[id]/*", `g app/\[id]/*`},
		"[!a]": {"g [!a]", "l [!a]"}, "[": {"l ["}, "[]": {"l []"}, "a[b": {"l a[b"}, "[z-a]": {"l [z-a]"}, "[]a]": {"g []a]", "l []a]"},
		"api:GET /users/{id}": {"L api:GET /users/{id}"}, "db:x": {"L db:x"}, "build-slot:1": {"L build-slot:1"}, "db:": {"l db:"},
		"./db:x": {"l db:x"}, "Db:x": {"l Db:x"}, "@types/node": {"l @types/node"}, "@r//a": {"r l a"}, "@github.com/o/r//a/": {"github.com/o/r d a/"},
		"cafe\u0301": {"l caf\u00e9"}, " a ": {"l  a "}, "a,b": {"l a,b"}, "...": {"l ..."}, "~a": {"l ~a"}, "a/~": {"l a/~"},
	} {
		keys, err := Parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		var got []string
		for _, k := range keys {
			s := string(rune(k.Kind)) + " " + k.Key
			if k.Logical {
				s = "L " + k.Key
			}
			if k.Repo != "" {
				s = k.Repo + " " + s
			}
			got = append(got, s)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "/etc/passwd", "/", "//a", "~", "~/x", `C:\x`, "C:/x", "c:x", `\\host\share`, `a\b`, "..", "../x", "a/../../x", "x*/../a", "**/..",
		"a\x00b", "a\nb", "a\x7fb", "a\u0085b", "\xff", strings.Repeat("a", 1025), strings.Repeat("{a,b}", 7), strings.Repeat("[a]", 7), "@//a", "@r//", "@r///x", "@r//../x",
	} {
		if keys, err := Parse(in); err == nil {
			t.Errorf("%q is taken as %+v", in, keys)
		}
	}
}

func TestSpellingsOfOneFile(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"a/b", "./a/b", "a//b", "x/../a/b", "a/./b", "a/c/../b", ".//a/b"} {
		if got, err := Clean(in); err != nil || got != "a/b" {
			t.Errorf("%q → %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{"./db:x": "./db:x", "db:x": "db:x", "a/": "a/", "@r//./a": "@r//a", "app/[id]": "app/[id]", ".": "./"} {
		if got, err := Clean(in); err != nil || got != want {
			t.Errorf("%q → %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestParseAllOrdersAndDropsRepetitions(t *testing.T) {
	t.Parallel()
	keys, err := ParseAll([]string{"b", "./b", "a/", "db:x", "a/c", "@r//a", "a/**"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range keys {
		got = append(got, k.Path)
	}
	if !slices.Equal(got, []string{"db:x", "a/", "a/c", "b", "a"}) {
		t.Errorf("%q", got)
	}
}

// TestParseOfCleanPaths: the short way for ordinary files gives what the long one gives, and takes nothing else.
func TestParseOfCleanPaths(t *testing.T) {
	t.Parallel()
	for in, clean := range map[string]bool{
		"a": true, "a/b.go": true, ".github/x_y-z+1.yml": true, "...": true, "a/.../b": true, ".a": true, strings.Repeat("a", MaxLength): true,
		"": false, "/a": false, "a/": false, "a//b": false, ".": false, "..": false, "./a": false, "a/.": false, "a/../b": false, "a/..": false,
		"a:b": false, "@r//a": false, "~": false, "*": false, "a b": false, "é": false, "a\\b": false, "a\x00": false, strings.Repeat("a", MaxLength+1): false,
	} {
		if isClean(in) != clean {
			t.Errorf("%.40q: clean %t", in, !clean)
		}
		if clean {
			sameAsLong(t, in)
		}
	}
}

func sameAsLong(t *testing.T, s string) {
	t.Helper()
	short, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	if long, err := parse(s); err != nil || !reflect.DeepEqual(short, long) {
		t.Fatalf("%q: the short way gives %+v, the long one %+v, %v", s, short, long, err)
	}
}

// FuzzParse: whatever comes in, nothing panics; what comes out is clean, and parsing it again changes nothing.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a/b", "x/../{a,b}/[!c]*/**", "@r//a", "db:x", `C:\x`, "[]", "{{a}}", "a/**/", "\u0301", "{,}", "./a:b", "[[...slug]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if isClean(s) {
			sameAsLong(t, s)
		}
		keys, err := Parse(s)
		if err != nil {
			return
		}
		if len(keys) == 0 || len(keys) > MaxExpansion {
			t.Fatalf("%q: %d keys", s, len(keys))
		}
		for _, k := range keys {
			if k.Logical {
				continue
			}
			if strings.HasPrefix(k.Base, "/") || strings.HasSuffix(k.Base, "/") || slices.Contains(strings.Split(k.Base, "/"), "..") || strings.ContainsAny(k.Path, "\x00\n") {
				t.Fatalf("%q → %+v", s, k)
			}
			if !Meet(k, k) {
				t.Fatalf("%q does not overlap itself", s)
			}
			if !strings.ContainsAny(k.Path, "[{") && !strings.HasPrefix(k.Path, "@") && !strings.HasPrefix(k.Path, "~") && len(k.Path) <= MaxLength {
				again, err := Parse(k.Path)
				if err != nil || len(again) != 1 || again[0].Key != k.Key || again[0].Base != k.Base {
					t.Fatalf("%q → %q → %+v, %v", s, k.Path, again, err)
				}
			}
		}
	})
}

// FuzzMeet: whether two patterns overlap does not depend on their order, and the one who holds a file's own name overlaps
// what covers it.
func FuzzMeet(f *testing.F) {
	f.Add("a/**/b?", "a/[x-z]/*")
	f.Add("{a,b}/c/", "b/c/d.go")
	f.Add("@r//**", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, errX := Parse(a)
		y, errY := Parse(b)
		if errX != nil || errY != nil {
			return
		}
		for _, k := range x {
			for _, l := range y {
				if Meet(k, l) != Meet(l, k) {
					t.Fatalf("%q and %q: %v one way, %v the other", a, b, Meet(k, l), Meet(l, k))
				}
				if k.Repo == l.Repo && !k.Logical && !l.Logical && l.Kind == Literal && k.Covers(l.Base) && !Meet(k, l) {
					t.Fatalf("%q covers %q and does not overlap it", a, b)
				}
			}
		}
	})
}
