package route

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds what the braces of one pattern may stand for: matching tries them all.
const maxAlternatives = 256

// shape says how an alternative is matched. The simple shapes are what nearly every pattern is; they give the same
// answers as doublestar, which a fuzz test holds them to.
type shape int

const (
	general shape = iota // by doublestar
	all                  // ** and **/*
	suffix               // **/*.ext: the path ends with lit
	base                 // **/name: the last segment is lit
	inside               // **/dir/**: a segment is lit
	under                // dir/sub/**: the path is lit or begins with it
)

// lookup says by which index of a change the few paths are found that an alternative can match.
type lookup int

const (
	byNothing lookup = iota // every path
	byText                  // every path that contains key
	byExt
	byBase
	byBasePrefix
	bySegment
)

// alternative is a pattern without braces.
type alternative struct {
	pattern string
	shape   shape
	lit     string
	look    lookup
	key     string
}

// glob is a pattern, compiled.
type glob struct {
	source       string
	alternatives []alternative
}

// compileGlob reads a pattern; what is wrong with it comes back as text.
func compileGlob(source string, fold bool) (glob, string) {
	switch {
	case source == "":
		return glob{}, "is empty"
	case len(source) > 1000:
		return glob{}, "is longer than 1000 bytes"
	case strings.HasPrefix(source, "/") || strings.HasPrefix(source, "./"):
		return glob{}, "begins with a slash or dot, but paths are relative to the repository"
	case strings.HasSuffix(source, "/"):
		return glob{}, "ends with a slash and so matches no file; a directory is dir/**"
	case !doublestar.ValidatePattern(source):
		return glob{}, "is no valid glob"
	}
	p := source
	if fold {
		p = strings.ToLower(p)
	}
	list := []string{p}
	if strings.ContainsAny(p, `[\`) { // braces beside classes and escapes are left to doublestar
		if strings.Count(p, "{")+strings.Count(p, ",") > 8 {
			return glob{}, "has too many alternatives beside a class or an escape"
		}
	} else {
		if count(p) > maxAlternatives {
			return glob{}, "has braces that stand for more than 256 patterns"
		}
		list = expand(p)
	}
	g := glob{source: source}
	for _, one := range list {
		g.alternatives = append(g.alternatives, newAlternative(one))
	}
	return g, ""
}

// count is how many patterns the braces of p stand for; above maxAlternatives it stops counting.
func count(p string) int {
	_, options, after, ok := braces(p)
	if !ok {
		return 1
	}
	n := 0
	for _, o := range options {
		if n += count(o); n > maxAlternatives {
			return n
		}
	}
	return n * min(count(after), maxAlternatives+1)
}

// expand resolves the braces of p.
func expand(p string) []string {
	before, options, after, ok := braces(p)
	if !ok {
		return []string{p}
	}
	var out []string
	tails := expand(after)
	for _, o := range options {
		for _, head := range expand(o) {
			for _, tail := range tails {
				out = append(out, before+head+tail)
			}
		}
	}
	return out
}

// braces cuts p at its first group of braces.
func braces(p string) (before string, options []string, after string, ok bool) {
	open := strings.IndexByte(p, '{')
	if open < 0 {
		return p, nil, "", false
	}
	depth, from := 0, open+1
	for i := open; i < len(p); i++ {
		switch p[i] {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				options, from = append(options, p[from:i]), i+1
			}
		case '}':
			if depth--; depth == 0 {
				return p[:open], append(options, p[from:i]), p[i+1:], true
			}
		}
	}
	return p, nil, "", false
}

const meta = `*?[]{}\`

func newAlternative(p string) alternative {
	a := alternative{pattern: p}
	rest, deep := strings.CutPrefix(p, "**/")
	dir, below := strings.CutSuffix(rest, "/**")
	plain := func(s string) bool { return s != "" && !strings.ContainsAny(s, meta) }
	switch {
	case p == "**" || p == "**/*":
		a.shape = all
		return a
	case deep && strings.HasPrefix(rest, "*.") && plain(rest[1:]) && !strings.Contains(rest, "/"):
		a.shape, a.lit = suffix, rest[1:]
	case deep && below && plain(dir) && !strings.Contains(dir, "/"):
		a.shape, a.lit = inside, dir
	case deep && plain(rest) && !strings.Contains(rest, "/"):
		a.shape, a.lit = base, rest
	case !deep && below && plain(dir):
		a.shape, a.lit = under, dir
	}
	a.look, a.key = lookupOf(p)
	return a
}

// lookupOf finds the most telling literal of a pattern.
func lookupOf(p string) (lookup, string) {
	if strings.ContainsAny(p, `[{\`) {
		return byNothing, ""
	}
	segments := strings.Split(p, "/")
	last := segments[len(segments)-1]
	if last != "**" {
		end := last[strings.LastIndexAny(last, "*?")+1:]
		if end == last {
			return byBase, last
		}
		if dot := strings.LastIndexByte(end, '.'); dot >= 0 {
			return byExt, end[dot:]
		}
	}
	best := ""
	for _, s := range segments[:len(segments)-1] {
		if !strings.ContainsAny(s, "*?") && len(s) > len(best) {
			best = s
		}
	}
	if best != "" {
		return bySegment, best
	}
	if last != "**" {
		if start := last[:strings.IndexAny(last, "*?")]; start != "" {
			return byBasePrefix, start
		}
	}
	for _, s := range strings.FieldsFunc(p, func(r rune) bool { return r == '*' || r == '?' || r == '/' }) {
		if len(s) > len(best) {
			best = s
		}
	}
	if best != "" {
		return byText, best
	}
	return byNothing, ""
}

// matches reports whether the alternative matches the clean path p.
func (a *alternative) matches(p string) bool {
	switch a.shape {
	case all:
		return true
	case suffix:
		return strings.HasSuffix(p, a.lit)
	case base:
		return path.Base(p) == a.lit
	case inside:
		return hasSegment(p, a.lit)
	case under:
		return strings.HasPrefix(p, a.lit) && (len(p) == len(a.lit) || p[len(a.lit)] == '/')
	}
	if a.look == byText && !strings.Contains(p, a.key) {
		return false
	}
	return doublestar.MatchUnvalidated(a.pattern, p)
}

func (g *glob) matches(p string) bool {
	for i := range g.alternatives {
		if g.alternatives[i].matches(p) {
			return true
		}
	}
	return false
}

// hasSegment reports whether seg is one of p's segments.
func hasSegment(p, seg string) bool {
	for more := true; more; {
		var first string
		if first, p, more = strings.Cut(p, "/"); first == seg {
			return true
		}
	}
	return false
}
