package lockpath

import "strings"

// segment is one name of a path. deep is "**".
type segment struct {
	deep    bool
	literal bool
	text    string // of a literal
	toks    []token
}

func newSegment(n []token) segment {
	if len(n) == 2 && n[0].kind == star && n[1].kind == star {
		return segment{deep: true}
	}
	toks := make([]token, 0, len(n))
	for _, t := range n {
		if t.kind == star && len(toks) > 0 && toks[len(toks)-1].kind == star {
			continue
		}
		toks = append(toks, t)
	}
	s := segment{toks: toks, literal: isPlain(toks)}
	if s.literal {
		var b strings.Builder
		for _, t := range toks {
			b.WriteRune(t.r)
		}
		s.text = b.String()
	}
	return s
}

func joinLiteral(segs []segment) string {
	names := make([]string, len(segs))
	for i, s := range segs {
		names[i] = s.text
	}
	return strings.Join(names, "/")
}

// globText prints a glob; escaped, it can be read back without the ambiguity of brackets.
func globText(segs []segment, escaped bool) string {
	var b strings.Builder
	for i, s := range segs {
		if i > 0 {
			b.WriteByte('/')
		}
		if s.deep {
			b.WriteString("**")
		}
		for _, t := range s.toks {
			switch t.kind {
			case star:
				b.WriteByte('*')
			case any1:
				b.WriteByte('?')
			case class:
				b.WriteString(t.text)
			case char:
				if escaped && t.r == '[' {
					b.WriteByte('\\')
				}
				b.WriteRune(t.r)
			}
		}
	}
	return b.String()
}

// compileRe builds the anchored expression of the matching paths.
func compileRe(segs []segment) string {
	var b strings.Builder
	b.WriteByte('^')
	slash := false
	for i, s := range segs {
		switch {
		case s.deep && i == len(segs)-1:
			b.WriteString("(?:/.*)?")
		case s.deep:
			if slash {
				b.WriteByte('/')
			}
			b.WriteString("(?:[^/]+/)*")
			slash = false
		default:
			if slash {
				b.WriteByte('/')
			}
			writeSegment(&b, s)
			slash = true
		}
	}
	b.WriteByte('$')
	return b.String()
}

// compilePre builds the expression of the directories that have a matching path beneath them: the names before the
// last, each optional with all that follow it; from "**" on anything.
func compilePre(segs []segment) string {
	var b strings.Builder
	b.WriteByte('^')
	depth := 0
	for i, s := range segs {
		if s.deep {
			if i == 0 {
				b.WriteString(".*")
			} else {
				b.WriteString("(?:/.*)?")
			}
			break
		}
		if i == len(segs)-1 {
			break
		}
		b.WriteString("(?:")
		if i > 0 {
			b.WriteByte('/')
		}
		writeSegment(&b, s)
		depth++
	}
	b.WriteString(strings.Repeat(")?", depth))
	b.WriteByte('$')
	return b.String()
}

func writeSegment(b *strings.Builder, s segment) {
	if len(s.toks) == 1 && s.toks[0].kind == star {
		b.WriteString("[^/]+")
		return
	}
	for _, t := range s.toks {
		switch t.kind {
		case star:
			b.WriteString("[^/]*")
		case any1:
			b.WriteString("[^/]")
		case class:
			writeClass(b, t)
		case char:
			writeEscaped(b, t.r)
		}
	}
}

func writeClass(b *strings.Builder, t token) {
	b.WriteByte('[')
	if t.negate {
		b.WriteString("^/")
	}
	for _, r := range t.ranges {
		writeEscaped(b, r[0])
		if r[1] != r[0] {
			b.WriteByte('-')
			writeEscaped(b, r[1])
		}
	}
	b.WriteByte(']')
}

// writeEscaped writes a character that stands for itself, inside and outside of brackets.
func writeEscaped(b *strings.Builder, r rune) {
	if r < 0x80 && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != '/' {
		b.WriteByte('\\')
	}
	b.WriteRune(r)
}

// compileLike builds a LIKE pattern that matches at least what the expression matches.
func compileLike(segs []segment) string {
	var b strings.Builder
	slash := false
	for i, s := range segs {
		if s.deep {
			if slash && i < len(segs)-1 {
				b.WriteByte('/')
			}
			b.WriteByte('%')
			slash = false
			continue
		}
		if slash {
			b.WriteByte('/')
		}
		for _, t := range s.toks {
			switch {
			case t.kind == star:
				b.WriteByte('%')
			case t.kind != char:
				b.WriteByte('_')
			case t.r == '%' || t.r == '_' || t.r == '\\':
				b.WriteByte('\\')
				b.WriteRune(t.r)
			default:
				b.WriteRune(t.r)
			}
		}
		slash = true
	}
	return b.String()
}
