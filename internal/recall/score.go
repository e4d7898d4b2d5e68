package recall

import "encoding/binary"

// scorer finds a query's terms in signatures. The table is open addressing over the terms' 32-bit hashes.
type scorer struct {
	c     *compiled
	table []int16 // place in c.terms + 1
	mask  uint32
	avgT  float64
	avgB  float64
	info  []float64
}

func (c *compiled) scorer() *scorer {
	size := 16
	for size < 4*len(c.terms) {
		size *= 2
	}
	s := &scorer{c: c, table: make([]int16, size), mask: uint32(size - 1), avgT: max(1, c.stats.LenTitle), avgB: max(1, c.stats.LenBody)}
	for i, t := range c.terms {
		at := t.h32 & s.mask
		for s.table[at] != 0 {
			at = (at + 1) & s.mask
		}
		s.table[at] = int16(i + 1)
		s.info = append(s.info, information(t))
	}
	return s
}

func (s *scorer) find(h uint32) int {
	for at := h & s.mask; s.table[at] != 0; at = (at + 1) & s.mask {
		if i := int(s.table[at] - 1); s.c.terms[i].h32 == h {
			return i
		}
	}
	return -1
}

// match is what a memory has of a query.
type match struct {
	score       float64 // BM25F
	tags, paths int
	seen        bitset
	counts      [][3]int32 // place of term, count in title, count in body
}

// bitset is a set of places in a query's terms; Params.QueryTerms and the attributes of a request stay below its size.
type bitset [4]uint64

func (b *bitset) add(i int)      { b[i>>6&3] |= 1 << (i & 63) }
func (b *bitset) has(i int) bool { return b[i>>6&3]&(1<<(i&63)) != 0 }
func (b *bitset) covers(o bitset) bool {
	for i := range b {
		if b[i]&o[i] != o[i] {
			return false
		}
	}
	return true
}

func (b *bitset) join(o bitset) {
	for i := range b {
		b[i] |= o[i]
	}
}

// score computes the BM25F of a memory into m, whose former content is lost.
func (s *scorer) score(d *Doc, m *match) {
	*m = match{counts: m.counts[:0]}
	p := &s.c.p.Told
	if d.Flags&Imported != 0 {
		p = &s.c.p.Files
	}
	normT := 1 - p.TitleB + p.TitleB*float64(d.LenTitle)/s.avgT
	normB := 1 - p.BodyB + p.BodyB*float64(d.LenBody)/s.avgB
	for sig := d.Sig; len(sig) >= sigEntry && sig[4] != 0; sig = sig[sigEntry:] {
		i := s.find(binary.BigEndian.Uint32(sig))
		if i < 0 {
			continue
		}
		t := &s.c.terms[i]
		m.seen.add(i)
		switch t.kind {
		case tagTerm:
			m.tags++
		case pathTerm:
			m.paths++
		case textTerm:
			title, body := int32(sig[4]>>4), int32(sig[4]&15)
			tf := p.TitleWeight*float64(title)/normT + float64(body)/normB
			m.score += t.weight * t.idf * tf * (p.K1 + 1) / (p.K1 + tf)
			m.counts = append(m.counts, [3]int32{int32(i), title, body})
		}
	}
}

// coverage is the share of the query's information in the terms seen.
func (s *scorer) coverage(seen bitset) float64 {
	if s.c.cover == 0 {
		return 0
	}
	sum := 0.
	for i, t := range s.c.terms {
		if t.kind == textTerm && !t.spare && seen.has(i) {
			sum += s.info[i]
		}
	}
	return min(1, sum/s.c.cover)
}

// matched lists the terms seen, without the marks of attributes.
func (s *scorer) matched(seen bitset) []string {
	var out []string
	for i, t := range s.c.terms {
		if t.kind != needTerm && seen.has(i) {
			out = append(out, t.text)
		}
	}
	return out
}

// byWords is what a memory's own words and attributes give.
type byWords struct {
	score       float32
	tags, paths uint8
}

// words is the score of docs[i]; it is computed once as long as the terms' weights stay.
func (c *compiled) words(s *scorer, docs []Doc, i int) byWords {
	if i < len(c.scored) {
		return c.scored[i]
	}
	for j := len(c.scored); j <= i; j++ {
		s.score(&docs[j], &c.scratch)
		c.scored = append(c.scored, byWords{float32(c.scratch.score), uint8(min(c.scratch.tags, 255)), uint8(min(c.scratch.paths, 255))})
	}
	return c.scored[i]
}
