package recall

import (
	"cmp"
	"context"
	"slices"
)

// collect finds the memories worth scoring. exact: the best by words are provably among them.
func (c *compiled) collect(ctx context.Context, src Source) (docs []Doc, exact bool, err error) {
	if c.stats.N <= int64(c.p.Small) {
		docs, err = src.Candidates(ctx, Pick{Need: c.need, Archived: c.Archived, Limit: c.p.Small + 1})
		if err != nil {
			return nil, false, err
		}
		if len(docs) <= c.p.Small {
			c.count(docs)
			return docs, true, c.repair(ctx, src)
		}
		c.n = max(c.n, float64(len(docs)))
		c.weigh()
	}
	if err := c.repair(ctx, src); err != nil {
		return nil, false, err
	}
	if few := c.fewest(); few != nil {
		docs, err = src.Candidates(ctx, Pick{All: [][]int64{c.need}, Need: c.need, Archived: c.Archived, Limit: 2 * int(c.room())})
		return docs, int64(len(docs)) < 2*c.room(), err
	}
	return c.byTerms(ctx, src)
}

// room is how many memories the rare terms may bring in: enough to keep the exact
// best in a project of this size (measured with bench/memory: 100 % at 100,000 memories, 96 % with half of it).
func (c *compiled) room() int64 {
	return int64(max(min(c.p.Candidates, 1500), min(c.p.Candidates, int(c.n/25))))
}

// fewest returns a term that every result needs and that few enough memories have to score them all.
func (c *compiled) fewest() *term {
	for i, t := range c.terms {
		if t.kind == needTerm && t.df > 0 && t.df <= c.room() {
			return &c.terms[i]
		}
	}
	return nil
}

// byTerms takes the rarest terms whole and of the others what has two of them, in one go: the best have more than one
// word of the question, and rows are what costs time. Then a term comes in whole that could be among the best alone.
func (c *compiled) byTerms(ctx context.Context, src Source) ([]Doc, bool, error) {
	limit := 2 * int(c.room())
	pick, left := c.pick(limit)
	if pick.newest() && len(left) == 0 { // only words that most memories have
		docs, err := src.Candidates(ctx, Pick{Need: c.need, Archived: c.Archived, Limit: c.p.Newest})
		return docs, false, err
	}
	var docs []Doc
	var err error
	if !pick.newest() {
		if docs, err = src.Candidates(ctx, pick); err != nil {
			return nil, false, err
		}
		if len(docs) >= limit && c.correct(docs) { // a term was newer than the counts: plan again with what was seen
			if pick, left = c.pick(limit); !pick.newest() {
				if docs, err = src.Candidates(ctx, pick); err != nil {
					return nil, false, err
				}
			}
		}
	}
	full := len(docs) >= limit
	if c.proven(docs, left) {
		return docs, !full, nil
	}
	if single := c.single(docs, left); len(single) > 0 {
		more, err := src.Candidates(ctx, Pick{Any: single, Need: c.need, Archived: c.Archived, Limit: limit})
		if err != nil {
			return nil, false, err
		}
		docs = unite(docs, more)
	}
	if len(docs) < c.Limit && len(left) > 0 { // common words that hardly go together: the newest that have the rarest of them
		more, err := src.Candidates(ctx, Pick{Need: append(slices.Clone(c.need), left[0].hash), Archived: c.Archived, Limit: c.p.Newest / 30})
		if err != nil {
			return nil, false, err
		}
		docs = unite(docs, more)
	}
	return docs, false, nil
}

// pick plans the first look, and returns the terms that it does not take whole, rarest first.
func (c *compiled) pick(limit int) (Pick, []*term) {
	p := Pick{Need: c.need, Archived: c.Archived, Limit: limit}
	rare, left := c.split()
	p.Any = rare
	near := left[:min(len(left), maxPaired)]
	// The rarest left over are paired with every other one, as many as keep the expected size within bounds.
	n, room := 0, c.p.Paired*float64(c.room())
	for n < min(len(near)-1, maxLeading) {
		size := 0.
		for _, o := range near[n+1:] {
			size += float64(near[n].df) * float64(o.df) / c.n
		}
		if room -= size; room < 0 {
			break
		}
		n++
	}
	if n == 0 {
		p.All = c.conjunctions(near)
		return p, left
	}
	for i, t := range near[:n] {
		for _, o := range near[i+1 : n] {
			p.All = append(p.All, []int64{t.hash, o.hash})
		}
		p.One = append(p.One, t.hash)
	}
	for _, o := range near[n:] {
		p.Other = append(p.Other, o.hash)
	}
	return p, left
}

const (
	maxPaired  = 16 // terms that take part in pairs
	maxLeading = 4  // of them, those that are paired with all others: their own pairs are six
)

// single returns the terms left over that a memory could be among the best with if it has none of the others.
func (c *compiled) single(docs []Doc, left []*term) []int64 {
	least := 0.
	if len(docs) >= c.p.ContextTop {
		least = c.least(docs)
	}
	var out []int64
	sum := int64(0)
	for _, t := range left {
		if sum += t.df; sum > c.room() || t.weight*t.idf*c.p.once() < least {
			break
		}
		out = append(out, t.hash)
	}
	return out
}

// split divides the searchable terms into those to fetch whole and the ones left over, both rarest first. Tags and paths
// are fetched whole up to the limit: what has them is looked for even if it has no word of the question.
func (c *compiled) split() (rare []int64, left []*term) {
	byDF := make([]*term, 0, len(c.terms))
	for i := range c.terms {
		if c.terms[i].kind != needTerm {
			byDF = append(byDF, &c.terms[i])
		}
	}
	slices.SortStableFunc(byDF, func(a, b *term) int { return cmp.Compare(a.df, b.df) })
	common := c.common()
	words, marks := min(int64(c.p.Whole), c.room()), c.room()
	for _, t := range byDF {
		budget := &words
		if t.kind != textTerm {
			budget = &marks
		}
		switch {
		case t.df > common:
		case t.df <= *budget:
			*budget -= t.df
			rare = append(rare, t.hash)
		default:
			*budget = 0 // rarest first: what follows is not rarer
			left = append(left, t)
		}
	}
	return rare, left
}

// common is in how many memories a term is at most that is searched for.
func (c *compiled) common() int64 { return max(int64(c.p.MaxShare*c.n), c.room()/2) }

// correct raises frequencies that the candidates disprove; true when the plan should be made again.
func (c *compiled) correct(docs []Doc) bool {
	counts := c.counts(docs)
	changed := false
	for i := range c.terms {
		if n := counts[i]; n > 2*c.terms[i].df+100 {
			c.terms[i].df, changed = max(n, c.room()+1), true
		}
	}
	if changed {
		c.weigh()
	}
	return changed
}

// count takes the statistics from the memories themselves: all of them are there.
func (c *compiled) count(docs []Doc) {
	groups := map[int64]bool{}
	lenT, lenB := 0., 0.
	for i := range docs {
		groups[docs[i].Group] = true
		lenT += float64(docs[i].LenTitle)
		lenB += float64(docs[i].LenBody)
	}
	n := max(1, float64(len(docs)))
	c.n = n
	c.stats = Stats{N: int64(len(docs)), Groups: int64(len(groups)), LenTitle: lenT / n, LenBody: lenB / n}
	for i, df := range c.counts(docs) {
		c.terms[i].df = df
	}
	c.weigh()
}

// counts returns for each term how many of docs have it.
func (c *compiled) counts(docs []Doc) []int64 {
	s, out := c.scorer(), make([]int64, len(c.terms))
	var m match
	for i := range docs {
		s.score(&docs[i], &m)
		for j := range out {
			if m.seen.has(j) {
				out[j]++
			}
		}
	}
	return out
}

// proven reports whether no memory outside docs can be among the best by words: the terms left over together cannot
// reach the score of the Limit-th candidate.
func (c *compiled) proven(docs []Doc, left []*term) bool {
	bound := 0.
	for _, t := range c.terms {
		if t.df > c.common() {
			bound += t.weight * t.idf * (c.p.most() + 1)
		}
	}
	for _, t := range left {
		bound += t.weight * t.idf * (c.p.most() + 1)
	}
	if bound == 0 {
		return true
	}
	if len(docs) < c.Limit {
		return false
	}
	return c.least(docs) >= bound
}

// least is the score by words of the Limit-th best of docs, or of the last.
func (c *compiled) least(docs []Doc) float64 {
	s, best := c.scorer(), newTop(c.Limit)
	for i := range docs {
		best.offer(place{score: float64(c.words(s, docs, i).score), doc: int32(i)})
	}
	return best.heap[0].score // the worst of the best
}

// conjunctions are pairs and triples of the rarest terms left over, the most informative first, as long as they are
// expected to bring in no more than Candidates memories.
func (c *compiled) conjunctions(left []*term) [][]int64 {
	type set struct {
		terms []int64
		info  float64
		size  float64
	}
	left = left[:min(len(left), 6)]
	var sets []set
	for i := range left {
		for j := i + 1; j < len(left); j++ {
			two := set{
				terms: []int64{left[i].hash, left[j].hash}, info: left[i].idf + left[j].idf,
				size: float64(left[i].df) * float64(left[j].df) / c.n,
			}
			sets = append(sets, two)
			for k := j + 1; k < len(left); k++ {
				sets = append(sets, set{
					terms: append(slices.Clone(two.terms), left[k].hash), info: two.info + left[k].idf, size: two.size * float64(left[k].df) / c.n,
				})
			}
		}
	}
	slices.SortStableFunc(sets, func(a, b set) int { return cmp.Compare(b.info, a.info) })
	var out [][]int64
	room := float64(c.room())
	for _, s := range sets {
		if s.size <= room && len(out) < c.p.Pairs {
			room -= s.size
			out = append(out, s.terms)
		}
	}
	return out
}

// unite appends the memories of more that docs lacks.
func unite(docs, more []Doc) []Doc {
	seen := make(map[int64]bool, len(docs))
	for i := range docs {
		seen[docs[i].ID] = true
	}
	for _, d := range more {
		if !seen[d.ID] {
			docs = append(docs, d)
		}
	}
	return docs
}

// repair adds for words that no memory has the known ones most like them. Only plain words are repaired.
func (c *compiled) repair(ctx context.Context, src Source) error {
	var words []string
	for _, t := range c.terms {
		if t.kind == textTerm && t.df == 0 {
			c.unknown = append(c.unknown, t.text)
			if repairable(t.word) && len(words) < 3 {
				words = append(words, t.word)
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	found, err := src.Similar(ctx, words)
	if err != nil || len(found) == 0 {
		return err
	}
	var extra []term
	for _, w := range words {
		for i, like := range found[w] {
			termsOf(like.Word, func(text, word string) {
				h := Hash64(c.Project, text)
				extra = append(extra, term{text: text, word: word, hash: h, h32: hash32(h), weight: c.p.Repaired * like.Score, spare: i > 0})
			})
		}
		if len(found[w]) > 0 { // the misspelt word itself asks for nothing any more
			c.terms = slices.DeleteFunc(c.terms, func(t term) bool { return t.word == w })
		}
	}
	return c.admit(ctx, src, extra)
}

// admit adds terms that stand in for unknown ones, with their frequencies.
func (c *compiled) admit(ctx context.Context, src Source, extra []term) error {
	hashes := make([]int64, 0, len(extra))
	for _, t := range extra {
		hashes = append(hashes, t.hash)
	}
	s, err := src.Stats(ctx, hashes)
	if err != nil {
		return err
	}
	for i, t := range extra {
		t.df = s.DF[i]
		if t.df > 0 && !slices.ContainsFunc(c.terms, func(o term) bool { return o.hash == t.hash }) {
			c.terms = append(c.terms, t)
		}
	}
	c.weigh()
	return nil
}
