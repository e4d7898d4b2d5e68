package lockpath

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// matches is the definition of a glob, written as plainly as it can be: the brute force beside Meet and Re.
func matches(glob, path []string) bool {
	if len(glob) == 0 {
		return len(path) == 0
	}
	if glob[0] == "**" {
		return matches(glob[1:], path) || (len(path) > 0 && matches(glob, path[1:]))
	}
	return len(path) > 0 && matchesName([]rune(glob[0]), []rune(path[0])) && matches(glob[1:], path[1:])
}

func matchesName(g, n []rune) bool {
	switch {
	case len(g) == 0:
		return len(n) == 0
	case g[0] == '*':
		return matchesName(g[1:], n) || (len(n) > 0 && matchesName(g, n[1:]))
	case len(n) == 0:
		return false
	case g[0] == '?':
		return matchesName(g[1:], n[1:])
	case g[0] == '\\':
		return g[1] == n[0] && matchesName(g[2:], n[1:])
	case g[0] == '[':
		end := strings.IndexRune(string(g), ']')
		set := string(g[1:end])
		not := strings.HasPrefix(set, "!")
		return strings.ContainsRune(strings.TrimPrefix(set, "!"), n[0]) != not && matchesName(g[end+1:], n[1:])
	}
	return g[0] == n[0] && matchesName(g[1:], n[1:])
}

// tree is every path of up to five names made of a and b, each up to two letters long.
func tree() []string {
	names := []string{"a", "b", "aa", "ab", "ba", "bb"}
	out, level := []string{}, []string{""}
	for range 5 {
		var next []string
		for _, p := range level {
			for _, n := range names {
				next = append(next, strings.TrimPrefix(p+"/"+n, "/"))
			}
		}
		out, level = append(out, next...), next
	}
	return out
}

// randomPattern is a random spelling over the letters of tree.
func randomPattern(r *rand.Rand) string {
	part := func() string {
		switch r.IntN(12) {
		case 0:
			return "*"
		case 1:
			return "?"
		case 2:
			return "[ab]"
		case 3:
			return "[!a]"
		case 4, 5, 6, 7:
			return "a"
		}
		return "b"
	}
	var names []string
	for range 1 + r.IntN(3) {
		if r.IntN(6) == 0 {
			names = append(names, "**")
			continue
		}
		n := ""
		for range 1 + r.IntN(2) {
			n += part()
		}
		names = append(names, n)
	}
	s := strings.Join(names, "/")
	if r.IntN(5) == 0 {
		s += "/"
	}
	return s
}

// sample is a key with the paths of the tree that it covers by brute force.
type sample struct {
	key    Key
	covers []bool
	bits   []uint64 // the same
}

func (s *sample) meets(o sample) bool {
	for i, w := range s.bits {
		if w&o.bits[i] != 0 {
			return true
		}
	}
	return false
}

func samples(t *testing.T, r *rand.Rand, n int, paths []string) []sample {
	t.Helper()
	var out []sample
	for len(out) < n {
		keys, err := Parse(randomPattern(r))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if strings.Contains(k.Key, `\[`) || (k.Kind != Glob && strings.Contains(k.Key, "[")) {
				continue // the reading as a name: the tree has no names with brackets
			}
			s := sample{key: k, covers: make([]bool, len(paths))}
			for i, p := range paths {
				switch k.Kind {
				case Literal:
					s.covers[i] = p == k.Key
				case Dir:
					s.covers[i] = k.Base == "" || strings.HasPrefix(p, k.Base+"/")
				case Glob:
					s.covers[i] = matches(strings.Split(k.Key, "/"), strings.Split(p, "/"))
				}
			}
			s.bits = make([]uint64, len(paths)/64+1)
			for i, c := range s.covers {
				if c {
					s.bits[i/64] |= 1 << (i % 64)
				}
			}
			out = append(out, s)
		}
	}
	return out
}

func TestMeetAgainstBruteForce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	paths := tree()
	all := samples(t, r, 600, paths)
	missed, extra, overlaps := 0, 0, 0
	const pairs = 100_000
	for range pairs {
		a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
		common := a.meets(b)
		got := Meet(a.key, b.key)
		if got != Meet(b.key, a.key) {
			t.Fatalf("%s and %s: not symmetric", a.key.Key, b.key.Key)
		}
		switch {
		case common && !got:
			missed++
			t.Errorf("missed: %s (%c) and %s (%c)", a.key.Key, a.key.Kind, b.key.Key, b.key.Kind)
		case got && !common:
			if extra++; extra <= 5 {
				t.Logf("without a witness: %s and %s", a.key.Key, b.key.Key)
			}
		case common:
			overlaps++
		}
		if missed > 10 {
			t.Fatal("too many")
		}
	}
	t.Logf("%d pairs: %d overlap, %d missed, %d without a witness in the tree", pairs, overlaps, missed, extra)
	if extra*100 > pairs {
		t.Errorf("%d of %d pairs overlap without a witness: more than 1 %%", extra, pairs)
	}
}

func TestExpressionsAgainstBruteForce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	paths := tree()
	for _, s := range samples(t, r, 100, paths) {
		if s.key.Kind != Glob {
			continue
		}
		re, pre, like := regexp.MustCompile(s.key.Re), regexp.MustCompile(s.key.Pre), likeToRegexp(s.key.Like)
		beneath := map[string]bool{}
		for i, p := range paths {
			if s.covers[i] {
				for d := p; strings.Contains(d, "/"); {
					d = d[:strings.LastIndexByte(d, '/')]
					beneath[d] = true
				}
			}
			if re.MatchString(p) != s.covers[i] || s.key.Covers(p) != s.covers[i] {
				t.Fatalf("%s: re %s and path %s: got %t", s.key.Key, s.key.Re, p, !s.covers[i])
			}
			if s.covers[i] && !like.MatchString(p) {
				t.Fatalf("%s: LIKE %s does not match %s", s.key.Key, s.key.Like, p)
			}
		}
		for d := range beneath {
			if !pre.MatchString(d) {
				t.Fatalf("%s: pre %s does not match the directory %s", s.key.Key, s.key.Pre, d)
			}
		}
	}
}

func likeToRegexp(like string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^(?s:")
	for i := 0; i < len(like); i++ {
		switch like[i] {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteString(".")
		case '\\':
			i++
			fallthrough
		default:
			b.WriteString(regexp.QuoteMeta(like[i : i+1]))
		}
	}
	b.WriteString(")$")
	return regexp.MustCompile(b.String())
}

func TestMeetByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "a/b", false},
		{"a/", "a/b", true},
		{"a/", "ab", false},
		{"a", "a/", true}, // one of the spellings must be a mistake
		{"a/", "a/b/", true},
		{"a/b/", "a/c/", false},
		{"./", "x/y", true},
		{"**/*.go", "x/y/z.go", true},
		{"**/*.go", "z.go", true},
		{"**/*.go", "z.ts", false},
		{"*.go", "x/z.go", false},
		{"src/*/a.go", "src/x/", true},
		{"src/*/a.go", "src/x/y/", false},
		{"src/*.go", "src/x/", false},
		{"src/**/a.go", "src/x/y/", true},
		{"src/*_test.go", "src/a*.go", true},
		{"src/*_test.go", "src/*.ts", false},
		{"[a-m]*", "[n-z]*", false},
		{"[!a]x", "[a]x", false},
		{"[!a]x", "[!b]x", true},
		{"?", "ä", true},
		{"a/**/b/**/c", "a/x/**/c", true},
		{"db:a", "db:a", true},
		{"db:a", "./db:a", false},
		{"db:a/", "db:a/b", false},
	} {
		ka, errA := Parse(c.a)
		kb, errB := Parse(c.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		got := false
		for _, x := range ka {
			for _, y := range kb {
				got = got || Meet(x, y)
			}
		}
		if got != c.want {
			t.Errorf("%s and %s: got %t", c.a, c.b, got)
		}
	}
}

func BenchmarkMeet(b *testing.B) {
	x, _ := Parse("src/**/handlers/*_test.go")
	y, _ := Parse("src/api/*/handlers/user*.go")
	for b.Loop() {
		Meet(x[0], y[0])
	}
}
