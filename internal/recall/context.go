package recall

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// addContext adds to the best hits what their sessions say around them.
func (c *compiled) addContext(ctx context.Context, src Source, s *scorer, hits []Hit) error {
	near, err := src.Windows(ctx, spans(hits, int32(c.p.Radius)))
	if err != nil {
		return err
	}
	groups := map[int64][]neighbour{}
	for i := range near {
		n := neighbour{doc: &near[i]}
		s.score(&near[i], &n.match)
		groups[near[i].Group] = append(groups[near[i].Group], n)
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b neighbour) int { return cmp.Compare(a.doc.Seq, b.doc.Seq) })
	}
	idf := c.sessionIDF()
	for i := range hits {
		h := &hits[i]
		if h.Group != 0 {
			c.around(h, s, groups[h.Group], idf)
		}
		h.Relevance = h.raw()
	}
	return nil
}

type neighbour struct {
	doc   *Doc
	match match
}

// spans are the windows of the hits, overlapping ones merged.
func spans(hits []Hit, radius int32) []Span {
	var all []Span
	for _, h := range hits {
		if h.Group != 0 {
			all = append(all, Span{Group: h.Group, From: h.Seq - radius, To: h.Seq + radius})
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.From, b.From)) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && out[n-1].Group == s.Group && s.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// sessionIDF estimates in how many sessions each term is from in how many memories: with N/S memories a session, of
// which half as many are independent.
func (c *compiled) sessionIDF() []float64 {
	groups := max(1, float64(c.stats.Groups))
	out := make([]float64, len(c.terms))
	for i, t := range c.terms {
		df := groups * (1 - math.Pow(1-min(1, float64(t.df)/c.n), max(1, .5*c.n/groups)))
		out[i] = idf(groups, df)
	}
	return out
}

// around adds the scores of the neighbours at distance 1 and 2, and of the window as one document.
func (c *compiled) around(h *Hit, s *scorer, group []neighbour, idf []float64) {
	at, found := slices.BinarySearchFunc(group, h.Seq, func(n neighbour, seq int32) int { return cmp.Compare(n.doc.Seq, seq) })
	if !found {
		return // it was moved or forgotten between the two reads
	}
	p, radius := &c.p, int32(c.p.Radius)
	share, k1 := 1., p.Told.K1
	if h.Flags&Imported != 0 {
		share, k1 = p.Imported, p.Files.K1
	}
	counts := make([]float64, len(c.terms))
	length, n := 0., 0
	var seen bitset
	sum := 0.
	for i := at; i >= 0 && group[i].doc.Seq >= h.Seq-radius; i-- {
		n++
		length += pool(group[i], counts)
	}
	for i := at + 1; i < len(group) && group[i].doc.Seq <= h.Seq+radius; i++ {
		n++
		length += pool(group[i], counts)
	}
	for _, w := range [...]struct {
		by     int
		weight float64
	}{{-1, p.Prev}, {1, p.Next}, {-2, p.Prev2}, {2, p.Next2}, {0, 0}} {
		i := at + w.by
		if i < 0 || i >= len(group) || abs(group[i].doc.Seq-h.Seq) > 2*radius {
			continue
		}
		sum += w.weight * group[i].match.score
		seen.join(group[i].match.seen)
	}
	if n > 1 {
		norm := .5 + .5*length/(float64(n)*(s.avgT+s.avgB))
		for i, tf := range counts {
			if tf > 0 {
				sum += p.Window * c.terms[i].weight * idf[i] * tf * (k1 + 1) / (k1*norm + tf)
			}
		}
	}
	h.Parts.Context = share * sum / c.best
	if h.Flags&Imported == 0 {
		h.Parts.Coverage = max(h.Parts.Coverage, s.coverage(seen))
	}
}

// pool adds a neighbour's counts to those of the window and returns its length in tokens.
func pool(n neighbour, counts []float64) float64 {
	for _, x := range n.match.counts {
		counts[x[0]] += float64(x[1] + x[2])
	}
	return float64(n.doc.LenTitle) + float64(n.doc.LenBody)
}

func abs(n int32) int32 {
	if n < 0 {
		return -n
	}
	return n
}
