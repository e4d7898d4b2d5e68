package lockpath

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of one spelling.
const (
	MaxLength    = 1024 // bytes, before and after cleaning
	MaxExpansion = 64   // keys that the braces and brackets of one path may expand to
)

// Kind tells what a key covers.
type Kind byte

// The kinds, in the database's letters.
const (
	Literal Kind = 'l' // one file, or a logical key
	Dir     Kind = 'd' // everything beneath Base
	Glob    Kind = 'g' // what the pattern matches
)

// Key is one cleaned lock key. Keys of equal Repo, Logical, Base and Key are the same lock.
type Key struct {
	Repo    string // repository named in the spelling; empty: the caller's own
	Logical bool   // a logical key: belongs to the project, not to a repository
	Kind    Kind
	Key     string // canonical text: "a/b.go", "a/", "./" (the whole repository), or a glob in which "\" escapes
	Base    string // the file, the directory, or the glob's leading directories without wildcards; "" is the root
	Path    string // how people read it: Key without escapes, with "./" before what would else read as a logical key or absolute

	// What the database needs to test a glob; empty for files and directories.
	Re   string // anchored regular expression (Postgres ARE) of the matching paths
	Pre  string // the same of the directories that have a matching path beneath them
	Like string // LIKE pattern matching at least what Re matches: the cheap test before it

	segs []segment // of directories and globs
}

// Parse cleans one spelling and returns its keys: one, or several when braces or brackets expand. Every error is
// the caller's mistake and says what to write instead.
func Parse(s string) ([]Key, error) {
	if isClean(s) {
		return []Key{{Kind: Literal, Key: s, Base: s, Path: s}}, nil
	}
	return parse(s)
}

// isClean reports whether s is a file's path in which nothing has to be cleaned and nothing has a second meaning, as
// most are: names of ASCII letters, digits and a few signs, none of them "." or "..".
func isClean(s string) bool {
	name := 0 // where the current one begins
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-', c == '+':
		case c == '/' && isName(s[name:i]):
			name = i + 1
		default:
			return false
		}
	}
	return len(s) <= MaxLength && isName(s[name:])
}

func isName(s string) bool { return s != "" && s != "." && s != ".." }

// parse is Parse for every spelling.
func parse(s string) ([]Key, error) {
	s, err := checkText(s)
	if err != nil {
		return nil, err
	}
	if isLogical(s) {
		return []Key{{Logical: true, Kind: Literal, Key: s, Base: s, Path: s}}, nil
	}
	repo, s, err := splitRepo(s)
	if err != nil {
		return nil, err
	}
	if isAbsolute(s) {
		return nil, fmt.Errorf("%q is absolute; write it relative to the repository's root", clip(s))
	}
	readings, err := expand(s)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, 0, len(readings))
	for _, r := range readings {
		k, err := build(r)
		if err != nil {
			return nil, err
		}
		k.Repo = repo
		if !slices.ContainsFunc(keys, func(o Key) bool { return o.Base == k.Base && o.Key == k.Key }) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// ParseAll parses several spellings and returns their keys without repetitions, ordered by (Logical, Repo, Base, Key),
// which is the order in which locks are taken.
func ParseAll(paths []string) ([]Key, error) {
	keys := make([]Key, 0, len(paths))
	for _, p := range paths {
		ks, err := Parse(p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, ks...)
	}
	slices.SortFunc(keys, compare)
	return slices.CompactFunc(keys, func(a, b Key) bool { return compare(a, b) == 0 }), nil
}

func compare(a, b Key) int {
	if a.Logical != b.Logical {
		if a.Logical {
			return -1
		}
		return 1
	}
	for _, p := range [][2]string{{a.Repo, b.Repo}, {a.Base, b.Base}, {a.Key, b.Key}} {
		if c := strings.Compare(p[0], p[1]); c != 0 {
			return c
		}
	}
	return 0
}

// Clean returns the canonical spelling of a path that names one file, directory or logical key; braces and brackets
// stay as they are. It is what a listing prints and what two spellings of one thing have in common.
func Clean(s string) (string, error) {
	keys, err := Parse(s)
	if err != nil {
		return "", err
	}
	k := keys[0]
	if len(keys) > 1 {
		for _, o := range keys {
			if o.Path != k.Path {
				return "", fmt.Errorf("%q names several paths; give one", clip(s))
			}
		}
	}
	if k.Repo != "" {
		return "@" + k.Repo + "//" + k.Path, nil
	}
	return k.Path, nil
}

// IsLogical reports whether s is spelt as a logical key, which doors must not make relative to a checkout.
func IsLogical(s string) bool { return isLogical(s) }

// checkText refuses what no path may contain and returns the NFC form.
func checkText(s string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("a path is empty; name a file, a directory (a/) or a logical key (api:name)")
	case !utf8.ValidString(s):
		return "", errors.New("a path is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", errors.New("a path contains a control character")
	}
	s = norm.NFC.String(s)
	if len(s) > MaxLength {
		return "", fmt.Errorf("a path has %d bytes; at most %d are allowed", len(s), MaxLength)
	}
	return s, nil
}

func isLogical(s string) bool {
	word, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" || len(word) < 2 || len(word) > 32 || word[0] < 'a' || word[0] > 'z' {
		return false
	}
	for _, c := range []byte(word) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// splitRepo cuts "@name//path".
func splitRepo(s string) (repo, path string, err error) {
	rest, ok := strings.CutPrefix(s, "@")
	if !ok {
		return "", s, nil
	}
	name, path, ok := strings.Cut(rest, "//")
	if !ok {
		return "", s, nil // a file or directory whose name begins with @
	}
	if name == "" || path == "" {
		return "", "", fmt.Errorf("%q is not @repository//path", clip(s))
	}
	return name, path, nil
}

func isAbsolute(s string) bool {
	drive := len(s) >= 2 && s[1] == ':' && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z'
	return s[0] == '/' || s[0] == '\\' || drive || s == "~" || strings.HasPrefix(s, "~/")
}

// build makes a key of one reading: text in which only *, ?, ** and marked classes are special.
func build(text []token) (Key, error) {
	names, dir, err := cleanNames(splitNames(text))
	if err != nil {
		return Key{}, err
	}
	segs := make([]segment, 0, len(names)+1)
	for _, n := range names {
		seg := newSegment(n)
		if seg.deep && len(segs) > 0 && segs[len(segs)-1].deep {
			continue
		}
		segs = append(segs, seg)
	}
	plain := 0
	for plain < len(segs) && segs[plain].literal {
		plain++
	}
	k := Key{Base: joinLiteral(segs[:plain]), segs: segs}
	switch {
	case plain == len(segs) && !dir && plain > 0:
		k.Kind, k.Key, k.Path, k.segs = Literal, k.Base, k.Base, nil
	case plain == len(segs) || (plain == len(segs)-1 && segs[plain].deep):
		k.Kind, k.Key, k.segs = Dir, k.Base+"/", segs[:plain]
		if k.Base == "" {
			k.Key = "./"
		}
		k.Path = k.Key
	default:
		if dir && !segs[len(segs)-1].deep {
			segs = append(segs, segment{deep: true})
		}
		k.Kind, k.segs = Glob, segs
		k.Key, k.Path = globText(segs, true), globText(segs, false)
		k.Re, k.Pre, k.Like = compileRe(segs), compilePre(segs), compileLike(segs)
	}
	if isLogical(k.Path) || isAbsolute(k.Path) {
		k.Path = "./" + k.Path
	}
	if len(k.Key) > 2*MaxLength {
		return Key{}, fmt.Errorf("a path is too long")
	}
	return k, nil
}

// cleanNames resolves ".", ".." and empty names. dir tells that the path can only mean a directory.
func cleanNames(names [][]token) (out [][]token, dir bool, err error) {
	for i, n := range names {
		last := i == len(names)-1
		switch {
		case len(n) == 0 || isText(n, "."):
			dir = dir || last
		case isText(n, ".."):
			if len(out) == 0 {
				return nil, false, errors.New("the path leaves the repository; write it relative to the repository's root")
			}
			if !isPlain(out[len(out)-1]) {
				return nil, false, errors.New(`".." after a wildcard has no clear meaning; write the path without it`)
			}
			out, dir = out[:len(out)-1], dir || last
		default:
			out = append(out, n)
		}
	}
	return out, dir || len(out) == 0, nil
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// Ancestors returns "" and every leading part of the key's base, the base last: where the bases of overlapping files,
// directories and globs above it lie.
func (k Key) Ancestors() []string {
	out := make([]string, 1, 8)
	for i, c := range []byte(k.Base) {
		if c == '/' {
			out = append(out, k.Base[:i])
		}
	}
	if k.Base != "" {
		out = append(out, k.Base)
	}
	return out
}
