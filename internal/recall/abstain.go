package recall

import "math"

// doubts weighs what speaks against the best hits having an answer: a logistic regression on the questions of dev worlds
// 1 to 3 of bench/codingmem whose words overlap (2,278 questions, one absent to two answerable; F1 .62 on worlds 4 and 5).
// A neighbour's words do not count: that a session also mentions the other half of a question is no answer.
var doubts = [...]float64{
	1.05,  // always
	-1.39, // share of the information that the project knows which the best hit has
	-3.65, // share of all the information of the question
	-.50,  // information in words that no memory has
	2.43,  // few known words: e^(−n/2)
	1.04,  // information of the rarest known word that the best hit lacks, of the rarest of all
}

// doubt is the probability that the project has no answer, from the ten best hits.
func (c *compiled) doubt(hits []Hit) float64 {
	known, total, most, n := 0., 0., 0., 0.
	asked := func(t term) bool { return t.kind == textTerm && !t.spare }
	for _, t := range c.terms {
		if !asked(t) {
			continue
		}
		total += information(t)
		if t.df > 0 {
			n++
			known += information(t)
			most = max(most, information(t))
		}
	}
	if total == 0 {
		return 0
	}
	var best *Hit
	for i := range min(len(hits), 10) {
		if best == nil || hits[i].own > best.own {
			best = &hits[i]
		}
	}
	f := [len(doubts)]float64{1, 0, 0, 1 - known/total, math.Exp(-n / 2), 0}
	if best != nil && known > 0 {
		f[1], f[2] = min(1, best.own*c.cover/min(known, c.cover)), best.own
		has := map[string]bool{}
		for _, t := range best.Parts.Matched {
			has[t] = true
		}
		for _, t := range c.terms {
			if asked(t) && t.df > 0 && !has[t.text] {
				f[5] = max(f[5], information(t)/most)
			}
		}
	}
	z := 0.
	for i, x := range f {
		z += doubts[i] * x
	}
	return 1 / (1 + math.Exp(-z))
}
