package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Item is an entry of a working memory. Shown is what is seen of Text, which is kept by the store whatever happens here.
type Item struct {
	ID          int64
	Text        string
	Shown       string
	Tokens      int // of Text
	ShownTokens int // of Shown
	Pinned      bool
	By          string // what shortened it: Extractive, or the name the Shorten function gave; empty: it is whole
}

// Extractive names the shortening that is built in.
const Extractive = "extractive"

// shortest is the least an item is shortened to, in tokens; below it an item is hidden instead.
const shortest = 12

// Shorten returns text in at most limit tokens and the name of what did it; "" when it cannot.
type Shorten func(id int64, text string, limit int) (short, by string)

// Fit makes items, oldest first, fit a budget of tokens and returns those it changed. Pinned items stay whole: when they
// alone exceed the budget ok is false and nothing is changed. The newest items stay whole as long as they take no more
// than half of what the pinned ones leave; older ones are shortened to a quarter, oldest first, then hidden, oldest
// first; only then the newest ones are shortened, and the last to go is the very newest. Deterministic, but for shorten.
func Fit(items []Item, budget int, count func(string) int, shorten Shorten) (changed []Item, ok bool) {
	total, pinned := 0, 0
	for _, it := range items {
		total += it.ShownTokens
		if it.Pinned {
			pinned += it.ShownTokens
		}
	}
	if pinned > budget {
		return nil, false
	}
	f := fitting{items: slices.Clone(items), over: total - budget, count: count, shorten: shorten, touched: map[int]bool{}}
	recent := f.recentFrom((budget - pinned) / 2)
	for _, step := range []func(i int){f.quarter, f.hide} {
		for i := 0; i < recent && f.over > 0; i++ {
			step(i)
		}
	}
	last := len(items) - 1
	for _, step := range []func(i int){f.quarter, f.hide} {
		for i := recent; i < last && f.over > 0; i++ {
			step(i)
		}
	}
	if last >= 0 && f.over > 0 { // the newest gets what is left
		f.to(last, f.items[last].ShownTokens-f.over)
	}
	for i := range f.items {
		if f.touched[i] {
			changed = append(changed, f.items[i])
		}
	}
	return changed, true
}

type fitting struct {
	items   []Item
	over    int // tokens above the budget
	count   func(string) int
	shorten Shorten
	touched map[int]bool
}

// recentFrom is the place of the first of the newest items that together take at most room tokens.
func (f *fitting) recentFrom(room int) int {
	for i := len(f.items) - 1; i >= 0; i-- {
		if f.items[i].Pinned {
			continue
		}
		if room -= f.items[i].ShownTokens; room < 0 {
			return i + 1
		}
	}
	return 0
}

func (f *fitting) quarter(i int) {
	it := &f.items[i]
	if it.Pinned || it.By != "" || it.ShownTokens <= shortest {
		return
	}
	f.to(i, max(shortest, it.Tokens/4))
}

func (f *fitting) hide(i int) {
	if !f.items[i].Pinned {
		f.set(i, "", 0, cmp.Or(f.items[i].By, Extractive))
	}
}

// to shortens item i to at most limit tokens, and hides it when that cannot be.
func (f *fitting) to(i, limit int) {
	it := &f.items[i]
	if it.Pinned {
		return
	}
	if limit < shortest {
		f.hide(i)
		return
	}
	short, by := "", ""
	if f.shorten != nil {
		short, by = f.shorten(it.ID, it.Text, limit)
	}
	n := f.count(short)
	if short == "" || n > limit {
		short, by = Extract(it.Text, limit, f.count), Extractive
		n = f.count(short)
	}
	if n > limit || n >= it.ShownTokens {
		if n > limit {
			short, n = "", 0
		} else {
			return
		}
	}
	f.set(i, short, n, by)
}

func (f *fitting) set(i int, shown string, n int, by string) {
	f.over += n - f.items[i].ShownTokens
	f.items[i].Shown, f.items[i].ShownTokens, f.items[i].By = shown, n, by
	f.touched[i] = true
}

// signal words make a sentence worth keeping.
var signals = []string{
	"error", "fail", "fix", "cause", "because", "decid", "must", "never", "always", "use ", "instead", "todo", "next", "result",
	"conclusion", "lesson", "note", "root", "works", "broken",
}

// Extract keeps the sentences and lines of text that say most, in their order, in at most limit tokens: those with
// identifiers, paths, figures and signal words, the first and the last, and those whose terms recur (the idea of Luhn:
// The automatic creation of literature abstracts, 1958). Left-out stretches show as "…". Deterministic.
func Extract(text string, limit int, count func(string) int) string {
	if count(text) <= limit {
		return text
	}
	type sentence struct {
		at     int
		text   string
		tokens int
		score  float64
	}
	var all []sentence
	freq := map[string]int{}
	for _, s := range sentences(text) {
		all = append(all, sentence{at: len(all), text: s, tokens: count(s) + 1})
		Terms(s, func(t string) { freq[t]++ })
	}
	for i := range all {
		s := &all[i]
		seen := map[string]bool{}
		Terms(s.text, func(t string) {
			if seen[t] {
				return
			}
			seen[t] = true
			s.score += min(3, float64(freq[t])) / 3
			if t[0] == '=' {
				s.score++
			}
		})
		low := strings.ToLower(s.text)
		for _, w := range signals {
			if strings.Contains(low, w) {
				s.score += 2
			}
		}
		s.score /= 4 + float64(s.tokens)
		if i == 0 || i == len(all)-1 {
			s.score *= 1.5
		}
	}
	slices.SortStableFunc(all, func(a, b sentence) int { return cmp.Compare(b.score, a.score) })
	left := limit - 1
	kept := all[:0:0]
	for _, s := range all {
		if s.tokens+1 <= left {
			left -= s.tokens + 1
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(a, b sentence) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	next := 0
	for _, s := range kept {
		if s.at > next {
			out.WriteString("… ")
		}
		out.WriteString(s.text)
		out.WriteByte(' ')
		next = s.at + 1
	}
	short := strings.TrimSpace(out.String())
	if short == "" || count(short) > limit {
		return head(text, limit, count)
	}
	return short
}

// head is the longest beginning of text, at a character's border, that has at most limit tokens with its ellipsis.
func head(text string, limit int, count func(string) int) string {
	low, high := 0, min(len(text), 16*limit)
	for low < high {
		mid := (low + high + 1) / 2
		if count(beginning(text, mid)+"…") <= limit {
			low = mid
		} else {
			high = mid - 1
		}
	}
	if low == 0 {
		return ""
	}
	return beginning(text, low) + "…"
}

func beginning(text string, n int) string {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// sentences splits text at line ends and behind . ! ? that a blank follows.
func sentences(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		start := 0
		for i := 0; i+1 < len(line); i++ {
			if strings.IndexByte(".!?", line[i]) >= 0 && unicode.IsSpace(rune(line[i+1])) {
				out = append(out, strings.TrimSpace(line[start:i+1]))
				start = i + 1
			}
		}
		if s := strings.TrimSpace(line[start:]); s != "" {
			out = append(out, s)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
