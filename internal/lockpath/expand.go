package lockpath

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type tokenKind byte

const (
	char  tokenKind = iota // one character as it stands
	any1                   // ?
	star                   // *
	class                  // [..]
)

// token is one element of a path: a character or a wildcard.
type token struct {
	kind   tokenKind
	r      rune
	text   string // the class as it was written, with its brackets
	negate bool
	ranges [][2]rune
}

// expand returns every reading of s: braces multiplied out, each bracket expression as a class and as a name.
func expand(s string) ([][]token, error) {
	if strings.ContainsRune(s, '\\') {
		return nil, fmt.Errorf(`%q contains a backslash; separate names with "/", and write brackets as they are`, clip(s))
	}
	texts, err := braces(s)
	if err != nil {
		return nil, err
	}
	var out [][]token
	for _, t := range texts {
		if out = append(out, readings(t)...); len(out) > MaxExpansion {
			return nil, tooMany(s)
		}
	}
	return out, nil
}

func tooMany(s string) error {
	return fmt.Errorf("%q expands to more than %d keys; lock the directory instead", clip(s), MaxExpansion)
}

// braces multiplies out {a,b}. Braces without a comma, or without a partner, are ordinary characters.
func braces(s string) ([]string, error) {
	open, close, commas := findBrace(s)
	if open < 0 {
		return []string{s}, nil
	}
	tails, err := braces(s[close+1:])
	if err != nil {
		return nil, err
	}
	var out []string
	from := open + 1
	for _, to := range append(commas, close) {
		heads, err := braces(s[from:to])
		if err != nil {
			return nil, err
		}
		from = to + 1
		for _, h := range heads {
			for _, t := range tails {
				if out = append(out, s[:open]+h+t); len(out) > MaxExpansion {
					return nil, tooMany(s)
				}
			}
		}
	}
	return out, nil
}

// findBrace finds the first balanced pair with a comma at its own level; open is -1 when there is none.
func findBrace(s string) (open, close int, commas []int) {
	for open = strings.IndexByte(s, '{'); open >= 0; {
		depth := 0
		commas = commas[:0]
		for i := open; i < len(s); i++ {
			switch s[i] {
			case '{':
				depth++
			case ',':
				if depth == 1 {
					commas = append(commas, i)
				}
			case '}':
				depth--
			}
			if depth == 0 {
				if len(commas) > 0 {
					return open, i, commas
				}
				break
			}
		}
		next := strings.IndexByte(s[open+1:], '{')
		if next < 0 {
			break
		}
		open += 1 + next
	}
	return -1, -1, nil
}

// readings tokenises s; each bracket expression doubles the readings: as a class, and as the characters it is
// written with.
func readings(s string) [][]token {
	out := [][]token{nil}
	add := func(t token) {
		for i := range out {
			out[i] = append(out[i], t)
		}
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch r {
		case '*':
			add(token{kind: star})
		case '?':
			add(token{kind: any1})
		case '[':
			if c, ok := parseClass(s); ok && len(out) <= MaxExpansion {
				n = len(c.text)
				named := make([][]token, 0, 2*len(out))
				for _, o := range out {
					lit := append([]token(nil), o...)
					for _, r := range c.text {
						lit = append(lit, token{kind: char, r: r})
					}
					named = append(named, append(append([]token(nil), o...), c), lit)
				}
				out = named
				break
			}
			fallthrough
		default:
			add(token{kind: char, r: r})
		}
		s = s[n:]
	}
	return out
}

// parseClass reads a bracket expression at the start of s. It must close within its name, and not be empty.
func parseClass(s string) (token, bool) {
	t := token{kind: class}
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		t.negate = true
		i++
	}
	for first := true; i < len(s); first = false {
		if s[i] == ']' && !first {
			t.text = s[:i+1]
			return t, len(t.ranges) > 0
		}
		lo, n := utf8.DecodeRuneInString(s[i:])
		hi := lo
		i += n
		if i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			hi, n = utf8.DecodeRuneInString(s[i+1:])
			i += 1 + n
		}
		if lo == '/' || hi == '/' {
			return t, false
		}
		if lo <= hi {
			t.ranges = append(t.ranges, [2]rune{lo, hi})
		}
	}
	return t, false
}

// splitNames cuts at slashes.
func splitNames(text []token) [][]token {
	names := [][]token{nil}
	for _, t := range text {
		if t.kind == char && t.r == '/' {
			names = append(names, nil)
			continue
		}
		names[len(names)-1] = append(names[len(names)-1], t)
	}
	return names
}

func isText(n []token, s string) bool {
	i := 0
	for _, r := range s {
		if i >= len(n) || n[i].kind != char || n[i].r != r {
			return false
		}
		i++
	}
	return i == len(n)
}

func isPlain(n []token) bool {
	for _, t := range n {
		if t.kind != char {
			return false
		}
	}
	return true
}
