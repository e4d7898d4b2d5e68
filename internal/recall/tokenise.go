package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// TokeniserVersion changes whenever Terms or Index answer differently; an index of another version must be built again.
const TokeniserVersion = 3

const (
	maxWord  = 64  // bytes of one plain term; longer runs are no words
	maxWhole = 160 // bytes of a compound term, such as a path
)

// Terms calls emit with every index term of text, in order, repeats included. Terms come in two forms:
//
//   - plain: the stem of a word or of a part of an identifier, lower case ("parse", "retri");
//   - whole: "=" and a compound token as it stands, lower case ("=parseconfig", "=internal/coord/db.go", "=e1042").
//
// A compound is split at case changes, between letters and digits, and at _ . / : - and similar; both forms are emitted.
// Hashes and uuids are only kept whole: their pieces mean nothing. Stop words (the list of Postgres' english
// configuration) and single characters are dropped, but for a figure that stands alone. Runs of Han, Hiragana, Katakana and Hangul become overlapping pairs.
func Terms(text string, emit func(term string)) {
	termsOf(text, func(term, _ string) { emit(term) })
}

// termsOf is Terms with the word that each plain term was made from, lower case; empty for the other terms.
func termsOf(text string, emit func(term, word string)) {
	for start := 0; start < len(text); {
		r, size := utf8.DecodeRuneInString(text[start:])
		if !wordRune(r) {
			start += size
			continue
		}
		end := start + size
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if wordRune(r) {
				end += size
				continue
			}
			n := joint(text[end:])
			if n == 0 {
				break
			}
			end += n
		}
		run(text[start:end], emit)
		start = end
	}
}

func wordRune(r rune) bool {
	return r == '_' || r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') ||
		r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// joint is the length of what may stand between two words of one compound at the beginning of s: a joining character
// that a word follows, "::" or "->". 0: the compound ends here.
func joint(s string) int {
	n := 1
	switch {
	case strings.HasPrefix(s, "::"), strings.HasPrefix(s, "->"):
		n = 2
	case strings.IndexByte(`./:-\@#'`, s[0]) < 0:
		return 0
	}
	if len(s) == n {
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(s[n:]); wordRune(r) {
		return n
	}
	return 0
}

// run emits the terms of one maximal run of words and joints.
func run(s string, emit func(term, word string)) {
	if len(s) > 4*maxWhole {
		s = s[:4*maxWhole] // a blob; its beginning is as good as any of it
	}
	if strings.ContainsRune(s, '\'') {
		for part := range strings.SplitSeq(s, "'") { // don't, parser's: no compound
			if part != "" {
				run(part, emit)
			}
		}
		return
	}
	if isASCII(s) && opaque(s) {
		whole(s, emit)
		return
	}
	s = withoutLines(s)
	words := strings.FieldsFunc(s, func(r rune) bool { return !wordRune(r) })
	if len(words) > 1 {
		whole(s, emit)
		if base := strings.LastIndexAny(s, `/\`); base >= 0 && strings.ContainsAny(s[base:], ".-") {
			whole(s[base+1:], emit)
		}
	}
	if len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		emit(s, "") // step 3, phase 2: alone a figure means something
		return
	}
	for _, w := range words {
		word(w, len(words) > 1, emit)
	}
}

// withoutLines drops the line and column that compilers put behind a file name: db.go:12:3 → db.go.
func withoutLines(s string) string {
	for {
		i := strings.LastIndexByte(s, ':')
		if i <= 0 || strings.Trim(s[i+1:], "0123456789") != "" || !strings.ContainsAny(s[:i], "./") {
			return s
		}
		s = s[:i]
	}
}

// word emits the terms of one identifier or plain word.
func word(s string, inside bool, emit func(term, word string)) {
	if !isASCII(s) {
		foreign(s, emit)
		return
	}
	if len(s) >= 7 && opaque(s) {
		if inside {
			whole(s, emit)
		}
		return
	}
	parts := 0
	for from := 0; from < len(s); {
		end := partEnd(s, from)
		if end > from {
			parts++
		}
		from = end
		for from < len(s) && s[from] == '_' {
			from++
		}
	}
	if parts > 1 {
		whole(strings.Trim(s, "_"), emit)
	}
	for from := 0; from < len(s); {
		end := partEnd(s, from)
		if end > from {
			plain(s[from:end], emit)
		}
		from = end
		for from < len(s) && s[from] == '_' {
			from++
		}
	}
}

// partEnd is where the part of an ASCII identifier that begins at from ends: parseHTTPConfig2 → parse HTTP Config 2.
func partEnd(s string, from int) int {
	const lower, upper, digit, none = 1, 2, 3, 0
	class := func(c byte) int {
		switch {
		case c >= 'a' && c <= 'z':
			return lower
		case c >= 'A' && c <= 'Z':
			return upper
		case c >= '0' && c <= '9':
			return digit
		}
		return none
	}
	i := from
	if i < len(s) && class(s[i]) == none {
		return i
	}
	for i++; i < len(s); i++ {
		was, is := class(s[i-1]), class(s[i])
		switch {
		case is == none, was == digit && is != digit, was != digit && is == digit, was == lower && is == upper:
			return i
		case was == upper && is == lower && i-1 > from: // the last capital begins the next part: HTTP|Config
			return i - 1
		}
	}
	return len(s)
}

// plain emits the stem of one part.
func plain(s string, emit func(term, word string)) {
	if len(s) < 2 || len(s) > maxWord {
		return
	}
	s = strings.ToLower(s)
	if stopWords[s] {
		return
	}
	if long, ok := abbreviations()[s]; ok {
		s = long
	}
	term := s
	if s[0] >= 'a' {
		term = english.Stem(s, true)
	}
	emit(term, s)
}

// foreign emits the terms of a word with letters beyond ASCII.
func foreign(s string, emit func(term, word string)) {
	var prev rune
	rest := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			if prev != 0 {
				emit(string([]rune{prev, r}), "")
			}
			prev = r
			return ' '
		}
		prev = 0
		return r
	}, s)
	for w := range strings.FieldsSeq(rest) {
		if isASCII(w) {
			word(w, true, emit)
		} else if w = strings.ToLower(strings.Trim(w, "_")); len(w) > 1 && len(w) <= maxWord {
			emit(w, "")
		}
	}
}

// whole emits a compound token.
func whole(s string, emit func(term, word string)) {
	if len(s) > 1 && len(s) <= maxWhole {
		emit("="+strings.ToLower(s), "")
	}
}

// opaque reports whether an ASCII run is a hash, uuid or the like: at least seven hexadecimal digits, figures among them
// and at least as many changes between letters and figures as no word has, dashes allowed.
func opaque(s string) bool {
	digits, letters, changes, was := 0, 0, 0, byte(0)
	for i := range len(s) {
		c := s[i] | 0x20
		kind := byte(0)
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digits++
			kind = 1
		case c >= 'a' && c <= 'f':
			letters++
			kind = 2
		case s[i] == '-' && i > 0:
			continue
		default:
			return false
		}
		if was != 0 && was != kind {
			changes++
		}
		was = kind
	}
	return digits+letters >= 7 && digits > 0 && letters > 0 && (changes >= 2 || digits+letters >= 32)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
