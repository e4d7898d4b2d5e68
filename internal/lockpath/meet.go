package lockpath

import "strings"

// Meet reports whether some path is covered by both keys. Repositories, branches and modes are the caller's matter,
// but a logical key never meets a path.
func Meet(a, b Key) bool {
	if a.Logical || b.Logical {
		return a.Logical && b.Logical && a.Key == b.Key
	}
	if a.Kind > b.Kind { // 'd' < 'g' < 'l'
		a, b = b, a
	}
	switch {
	case a.Kind == Literal:
		return a.Base == b.Base
	case a.Kind == Dir && b.Kind == Glob:
		return under(b.Base, a.Base) || (under(a.Base, b.Base) && hasBeneath(b.segs, names(a.Base)))
	case a.Kind == Dir && b.Kind == Dir:
		return under(a.Base, b.Base) || under(b.Base, a.Base)
	case a.Kind == Dir:
		return under(b.Base, a.Base)
	case b.Kind == Literal:
		return under(b.Base, a.Base) && meetSegments(a.segs, literals(b.Base))
	}
	return (under(a.Base, b.Base) || under(b.Base, a.Base)) && meetSegments(a.segs, b.segs)
}

// Covers reports whether the key covers the file path, which must be clean.
func (k Key) Covers(path string) bool {
	if k.Kind != Dir {
		return Meet(k, Key{Kind: Literal, Key: path, Base: path, Logical: k.Logical})
	}
	return path != k.Base && under(path, k.Base)
}

// under reports whether path is dir or lies beneath it.
func under(path, dir string) bool {
	return dir == "" || (strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/'))
}

func names(base string) []string {
	if base == "" {
		return nil
	}
	return strings.Split(base, "/")
}

func literals(base string) []segment {
	ns := names(base)
	out := make([]segment, len(ns))
	for i, n := range ns {
		toks := make([]token, 0, len(n))
		for _, r := range n {
			toks = append(toks, token{kind: char, r: r})
		}
		out[i] = segment{literal: true, text: n, toks: toks}
	}
	return out
}

// hasBeneath reports whether the glob matches a path strictly beneath the directory.
func hasBeneath(glob []segment, dir []string) bool {
	for i, n := range literals(strings.Join(dir, "/")) {
		if i < len(glob) && glob[i].deep {
			return true
		}
		if i >= len(glob)-1 || !meetTokens(glob[i].toks, n.toks) {
			return false
		}
	}
	return true
}

// meetSegments walks the product of both globs, name by name: ok[j] tells that the first i names of a and the first
// j of b can be the same names.
func meetSegments(a, b []segment) bool {
	ok := make([]bool, len(b)+1)
	ok[0] = true
	for i := 0; i <= len(a); i++ {
		next := make([]bool, len(b)+1)
		for j := 0; j <= len(b); j++ {
			if !ok[j] {
				continue
			}
			aDeep, bDeep := i < len(a) && a[i].deep, j < len(b) && b[j].deep
			if aDeep {
				next[j] = true // "**" is over
			}
			if bDeep || (aDeep && j < len(b)) {
				ok[j+1] = true // b's "**" is over, or a's "**" swallows b's name
			}
			if bDeep && i < len(a) && !aDeep {
				next[j] = true
			}
			if i < len(a) && j < len(b) && !aDeep && !bDeep &&
				(a[i].literal && b[j].literal && a[i].text == b[j].text ||
					!(a[i].literal && b[j].literal) && meetTokens(a[i].toks, b[j].toks)) {
				next[j+1] = true
			}
		}
		if i == len(a) {
			break
		}
		ok = next
	}
	return ok[len(b)]
}

// meetTokens is the same walk within one name, character by character.
func meetTokens(a, b []token) bool {
	ok := make([]bool, len(b)+1)
	ok[0] = true
	for i := 0; i <= len(a); i++ {
		next := make([]bool, len(b)+1)
		for j := 0; j <= len(b); j++ {
			if !ok[j] {
				continue
			}
			aStar, bStar := i < len(a) && a[i].kind == star, j < len(b) && b[j].kind == star
			if aStar {
				next[j] = true
			}
			if bStar || (aStar && j < len(b)) {
				ok[j+1] = true
			}
			if bStar && i < len(a) && !aStar {
				next[j] = true
			}
			if i < len(a) && j < len(b) && !aStar && !bStar && meetToken(a[i], b[j]) {
				next[j+1] = true
			}
		}
		if i == len(a) {
			break
		}
		ok = next
	}
	return ok[len(b)]
}

// meetToken reports whether one character fits both.
func meetToken(a, b token) bool {
	if a.kind == any1 || b.kind == any1 {
		return true
	}
	if a.kind == char {
		return b.has(a.r)
	}
	if b.kind == char {
		return a.has(b.r)
	}
	if a.negate && b.negate {
		return true
	}
	for _, set := range [][][2]rune{a.ranges, b.ranges} {
		for _, r := range set {
			for _, c := range []rune{r[0], r[1], r[0] - 1, r[1] + 1} {
				if a.has(c) && b.has(c) {
					return true
				}
			}
		}
	}
	return false
}

func (t token) has(r rune) bool {
	if t.kind != class {
		return t.kind == any1 || t.r == r
	}
	in := false
	for _, x := range t.ranges {
		in = in || (x[0] <= r && r <= x[1])
	}
	return in != t.negate && r != '/' && r > 0
}
