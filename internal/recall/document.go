package recall

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
)

const (
	maxTerms = 512  // distinct terms kept of one memory, the first ones
	maxTF    = 15   // occurrences counted per field: four bits
	maxWords = 128  // words handed to the vocabulary
	maxLen   = 4000 // tokens of a field that count as length
)

// sigEntry is the size of one entry of a signature: the term's hash (32 bit) and its counts in title and body (4 bit each).
// The terms end at an entry without counts, the memory's type, or at the end; behind it are the former values that the
// text names (changes.go).
const sigEntry = 5

// Document is a memory as the index sees it.
type Document struct {
	Title string   // summary, or a skill's name and first line
	Body  string   // everything else that is text: lessons, details, steps
	Tags  []string // become "#tag", and words of the body
	Agent string   // becomes "@agent"
	Type  string   // becomes "!type": event type, or "skill"
	Path  string   // becomes "=path", and words of the body
}

// Entry is an indexed document: what a store keeps of it.
type Entry struct {
	Terms    []int64  // distinct Hash64 of every term, ascending
	Sig      []byte   // (hash32, counts)*
	Words    []string // plain words worth repairing to, unstemmed, for the vocabulary
	LenTitle int      // tokens
	LenBody  int
}

// Hash64 is the index key of a term: FNV-1a of project and term, then a finaliser (fmix64 of MurmurHash3), so that the
// upper half is good for Hash32. The project in it makes an index on terms lead with the project.
func Hash64(project int64, term string) int64 {
	h := fnv.New64a()
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], uint64(project))
	_, _ = h.Write(p[:]) // never fails
	_, _ = h.Write([]byte(term))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return int64(x)
}

// hash32 is how a signature names a term.
func hash32(h int64) uint32 { return uint32(uint64(h) >> 32) }

// TagTerm is the term of a tag.
func TagTerm(tag string) string { return "#" + strings.ToLower(tag) }

// AgentTerm is the term of who remembered.
func AgentTerm(agent string) string { return "@" + agent }

// TypeTerm is the term of an event type.
func TypeTerm(kind string) string { return "!" + strings.ToLower(kind) }

// PathTerm is the term of a file.
func PathTerm(path string) string { return "=" + strings.ToLower(path) }

// Index makes the entry of a document of a project.
func Index(project int64, d Document) Entry {
	b := builder{project: project, at: map[string]int{}}
	termsOf(d.Title, func(t, word string) { b.e.LenTitle++; b.add(t, word, 1, 0) })
	body := func(t, word string) { b.e.LenBody++; b.add(t, word, 0, 1) }
	termsOf(d.Body, body)
	for _, tag := range d.Tags {
		termsOf(tag, body)
		b.mark(TagTerm(tag))
	}
	if d.Path != "" {
		termsOf(d.Path, body)
		b.mark(PathTerm(d.Path))
	}
	if d.Agent != "" {
		b.mark(AgentTerm(d.Agent))
	}
	if d.Type != "" {
		b.mark(TypeTerm(d.Type))
		b.counts[b.at[TypeTerm(d.Type)]] = [2]int{} // no text has such a term; an entry without counts is the type
	}
	return b.finish(append(formerValues(d.Title), formerValues(d.Body)...))
}

type builder struct {
	project int64
	at      map[string]int // term → place in counts
	terms   []string
	counts  [][2]int
	e       Entry
}

func (b *builder) add(term, word string, title, body int) {
	i, ok := b.at[term]
	if !ok {
		if len(b.terms) >= maxTerms {
			return
		}
		i = len(b.terms)
		b.at[term] = i
		b.terms = append(b.terms, term)
		b.counts = append(b.counts, [2]int{})
		if repairable(word) && len(b.e.Words) < maxWords {
			b.e.Words = append(b.e.Words, word)
		}
	}
	b.counts[i][0] = min(maxTF, b.counts[i][0]+title)
	b.counts[i][1] = min(maxTF, b.counts[i][1]+body)
}

// mark adds an attribute's term, beyond the limit if need be; it counts once.
func (b *builder) mark(term string) {
	if _, ok := b.at[term]; !ok {
		b.at[term] = len(b.terms)
		b.terms = append(b.terms, term)
		b.counts = append(b.counts, [2]int{0, 1})
	}
}

func (b *builder) finish(former []string) Entry {
	b.e.LenTitle, b.e.LenBody = min(b.e.LenTitle, maxLen), min(b.e.LenBody, maxLen)
	b.e.Sig = make([]byte, 0, sigEntry*len(b.terms))
	b.e.Terms = make([]int64, 0, len(b.terms))
	for i, t := range b.terms {
		h := Hash64(b.project, t)
		b.e.Terms = append(b.e.Terms, h)
		b.e.Sig = binary.BigEndian.AppendUint32(b.e.Sig, hash32(h))
		b.e.Sig = append(b.e.Sig, byte(b.counts[i][0]<<4|b.counts[i][1]))
	}
	if len(former) > 0 {
		if typeOf(b.e.Sig) == 0 {
			b.e.Sig = append(b.e.Sig, make([]byte, sigEntry)...)
		}
		for _, t := range former {
			b.e.Sig = append(binary.BigEndian.AppendUint32(b.e.Sig, hash32(Hash64(b.project, t))), 1)
		}
	}
	slices.Sort(b.e.Terms)
	b.e.Terms = slices.Compact(b.e.Terms)
	return b.e
}

// typeOf is the hash of a memory's type, 0 when it has none: the one entry of its signature without a count.
func typeOf(sig []byte) uint32 {
	for i := len(sig) - sigEntry; i >= 0; i -= sigEntry { // it is near the end
		if sig[i+4] == 0 {
			return binary.BigEndian.Uint32(sig[i:])
		}
	}
	return 0
}

// repairable reports whether a word may stand in for a misspelt one: a plain one of at least five letters. Error codes,
// hashes and versions never: the nearest one is another one.
func repairable(word string) bool {
	if len(word) < 5 {
		return false
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}
