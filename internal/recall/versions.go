package recall

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Two memories are versions when they are about the same thing and were told at different times: a setting that was
// changed, a decision that was revised, the same fact said again. Which of them answers a question depends on the time
// that it asks about: the newest one, the last before an event, the first, one that something newer followed. The others
// stay in the result, behind it, so that ten places hold ten things instead of ten versions of one.

// about is what a memory is about: its terms, weighed by how rare they are.
type about struct {
	terms      []rare // by hash
	sum, title float64
	asked      bitset // terms of the question
	kind       uint32
	incident   bool
	undoes     bool     // it takes something back, whatever that is
	former     []uint32 // hashes of the values that it says were replaced
}

type rare struct {
	h     uint32
	w     float64
	title bool
}

// abouts weighs the terms of hits. The rarity of words that the question does not have is taken from a sample of the
// candidates; memory is cheap there and a lookup of a thousand terms is not.
func (c *compiled) abouts(hits []Hit, docs []Doc) []about {
	terms := 0
	for i := range hits {
		terms += len(hits[i].Sig) / sigEntry
	}
	df := newTally(terms)
	for i := range hits {
		eachTerm(hits[i].Sig, func(h uint32, _ bool) { df.slot(h).hits++ })
	}
	step := max(1, len(docs)/c.p.Sample)
	n := 0.
	for i := 0; i < len(docs); i += step {
		n++
		eachTerm(docs[i].Sig, func(h uint32, _ bool) {
			if x := df.slot(h); x.hits > 0 {
				x.sampled++
			}
		})
	}
	size := max(n, c.p.LeastN)
	s, events, undoing := c.scorer(), typeSet(c.Project, incidents), typeSet(c.Project, undoings)
	out := make([]about, len(hits))
	for i := range hits {
		a := &out[i]
		a.kind = typeOf(hits[i].Sig)
		a.incident, a.undoes = events[a.kind], undoing[a.kind]
		a.former = formerOf(hits[i].Sig)
		eachTerm(hits[i].Sig, func(h uint32, title bool) {
			x := df.slot(h)
			w := idf(size, max(1, float64(x.sampled)))
			if at := s.find(h); at >= 0 {
				w = c.terms[at].idf
				a.asked.add(at)
			}
			if x.hits > 1 { // what a single hit has is in common with none
				a.terms = append(a.terms, rare{h, w, title})
			}
			a.sum += w
			if title {
				a.title += w
			}
		})
		slices.SortFunc(a.terms, func(x, y rare) int { return cmp.Compare(x.h, y.h) })
	}
	return out
}

// tally counts terms: open addressing over their hashes, which are good ones. It never grows: it holds the terms of the
// hits, and looking for another finds an empty slot.
type tally struct {
	slots []slot
	mask  uint32
}

type slot struct {
	h             uint32
	hits, sampled int32 // in how many hits, 0: the slot is free; in how many memories of the sample
}

func newTally(terms int) *tally {
	size := 64
	for size < 2*terms {
		size *= 2
	}
	return &tally{make([]slot, size), uint32(size - 1)}
}

// slot is the place of h; a free one when it is not there.
func (t *tally) slot(h uint32) *slot {
	at := h & t.mask
	for t.slots[at].hits > 0 && t.slots[at].h != h {
		at = (at + 1) & t.mask
	}
	t.slots[at].h = h
	return &t.slots[at]
}

// eachTerm calls do for the terms of a signature.
func eachTerm(sig []byte, do func(h uint32, title bool)) {
	for ; len(sig) >= sigEntry && sig[4] != 0; sig = sig[sigEntry:] {
		do(binary.BigEndian.Uint32(sig), sig[4]>>4 > 0)
	}
}

// kin weighs what speaks for two memories being about the same thing. The weights are those of a logistic regression on the
// first fifty hits of the questions of dev worlds 1 to 3 of bench/codingmem (102,000 pairs; on world 4: area under the curve
// .98, precision .81 where half of the pairs are found), but for the type: there each thing has one, elsewhere it has not.
var kin = [...]float64{
	-7.37, // always
	6.43,  // information in common, of the poorer one's
	1.55,  // … of both together
	3.40,  // … in the titles, of the poorer one's
	2.00,  // the same type
	-2.12, // the rarest common term
	1.57,  // the third rarest: a subject is seldom named by fewer
	-1.47, // common terms
	.64,   // the same terms of the question
	-1.58, // one of them tells of an incident
	2.08,  // the newer one takes leave of a value that the older one had: how rare it is
	1.49,  // … and how rare what else they have in common
}

// replaces is how rare the rarest value is that newer says was replaced and older had; 0: there is none.
func replaces(newer, older *about) float64 {
	most := 0.
	for _, v := range newer.former {
		i, has := slices.BinarySearchFunc(older.terms, v, func(t rare, h uint32) int { return cmp.Compare(t.h, h) })
		if has && !slices.Contains(older.former, v) {
			most = max(most, older.terms[i].w)
		}
	}
	return most
}

// same is the probability that two memories are about the same thing.
func same(a, b *about, value float64) float64 {
	both, title, n := 0., 0., 0
	var top [3]float64
	for i, j := 0, 0; i < len(a.terms) && j < len(b.terms); {
		x, y := a.terms[i], b.terms[j]
		switch {
		case x.h < y.h:
			i++
			continue
		case x.h > y.h:
			j++
			continue
		}
		i, j, n = i+1, j+1, n+1
		both += x.w
		if x.title && y.title {
			title += x.w
		}
		for k, w := 0, x.w; k < len(top); k++ {
			if w > top[k] {
				w, top[k] = top[k], w
			}
		}
	}
	f := [len(kin)]float64{
		1, both / max(1, min(a.sum, b.sum)), both / max(1, a.sum+b.sum-both), title / max(1, min(a.title, b.title)), float64(b2i(a.kind == b.kind || a.undoes || b.undoes)),
		top[0] / 6, top[2] / 6, min(1, float64(n)/8), a.asked.jaccard(b.asked), float64(b2i(a.incident || b.incident)),
		value / 6, float64(b2i(value > 0)) * top[1] / 6,
	}
	z := 0.
	for i, x := range f {
		z += kin[i] * x
	}
	return 1 / (1 + math.Exp(-z))
}

// versions puts the version that was asked for before the others. Only what sessions told is looked at: imported notes
// and skills stand for different things. It leaves hits sorted.
func (c *compiled) versions(hits []Hit, docs []Doc) {
	if c.form.asOf != 0 {
		for i := range hits {
			if hits[i].CreatedAt >= c.form.asOf {
				hits[i].scale(1 - c.p.After)
			}
		}
	}
	sortHits(hits)
	list := c.abouts(hits, docs)
	was, lift, sunk, followed := make([]float64, len(hits)), make([]float64, len(hits)), make([]float64, len(hits)), make([]float64, len(hits))
	for i := range hits {
		was[i] = hits[i].Relevance
		lift[i] = was[i]
	}
	// In the order of time, so that what a question asks for by the name a thing had long ago reaches its newest version
	// step by step.
	order := inTime(hits)
	for at, j := range order {
		for _, i := range order[:at] {
			older, newer := &hits[i], &hits[j]
			value := replaces(&list[j], &list[i])
			p := same(&list[i], &list[j], value)
			if p < c.p.SameFrom {
				continue
			}
			if p >= .5 { // sure enough to be told
				older.Parts.Older, newer.Parts.Newer = true, true
			}
			wins, loses, counts := c.prefer(i, j, newer)
			if !counts {
				followed[i] = max(followed[i], p)
				continue
			}
			if wins < 0 {
				continue
			}
			// By words alone the winner must answer the question itself; one that names the value it replaced need not.
			if value == 0 && !c.form.now && (was[wins] < c.p.Rival*was[loses] || hits[wins].own < hits[loses].own) {
				continue
			}
			sunk[loses] = max(sunk[loses], p)
			switch {
			case value > 0:
				lift[wins] = max(lift[wins], lift[loses])
			case c.form.now:
				lift[wins] = max(lift[wins], was[loses])
			default:
				lift[wins] = max(lift[wins], was[loses]*p)
			}
		}
	}
	for i := range hits {
		switch {
		case c.form.era == former && c.form.asOf == 0:
			hits[i].scale(1 + c.p.Outlived*followed[i])
		case sunk[i] > 0:
			hits[i].scale(1 - c.p.Superseded*sunk[i])
		default:
			hits[i].scale(lift[i] / max(1e-9, was[i]))
		}
	}
	sortHits(hits)
}

// inTime are the places of the hits that sessions told, the oldest first.
func inTime(hits []Hit) []int {
	var out []int
	for i := range hits {
		if h := &hits[i]; h.Kind == Episodic && h.Flags&Imported == 0 {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(i, j int) int {
		return cmp.Or(cmp.Compare(hits[i].CreatedAt, hits[j].CreatedAt), cmp.Compare(hits[i].ID, hits[j].ID))
	})
	return out
}

// prefer says which of two versions the question asks for, by place; wins -1: neither. counts is false when it asks for
// what something newer followed, whatever that is.
func (c *compiled) prefer(older, newer int, h *Hit) (wins, loses int, counts bool) {
	switch {
	case c.form.asOf != 0:
		if h.CreatedAt >= c.form.asOf {
			return -1, 0, true // told after the event
		}
		return newer, older, true
	case c.form.era == first:
		return older, newer, true
	case c.form.era == former:
		return -1, 0, false
	case h.Flags&Stale != 0:
		return -1, 0, true // what is no longer known to hold replaces nothing
	}
	return newer, older, true
}

// scale multiplies the score, and says so in its parts.
func (h *Hit) scale(by float64) {
	h.Relevance *= by
	h.Parts.Factor *= by
}

// jaccard is how alike two sets are.
func (b *bitset) jaccard(o bitset) float64 {
	both, any := 0, 0
	for i := range b {
		both += bits.OnesCount64(b[i] & o[i])
		any += bits.OnesCount64(b[i] | o[i])
	}
	return float64(both) / float64(max(1, any))
}
