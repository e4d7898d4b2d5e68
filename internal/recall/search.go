package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Result is the answer to a Query.
type Result struct {
	Hits      []Hit  // by relevance
	Nothing   bool   // nothing relevant: an answer, not a failure
	Reason    string // why nothing was found, or what could not be done
	Unsure    bool   // the best result covers little of the question
	Truncated bool   // more memories matched than Hits has
	Coverage  float64
	Searched  int  // memories scored
	Exact     bool // the candidates provably hold the best by words
}

// Hit is one found memory.
type Hit struct {
	Doc
	Relevance float64 // 0..1; what hits are sorted by
	Parts     Parts
	own       float64 // coverage by its own words
}

// Parts is how a relevance came about. Words, Context, Tags and Paths are shares of the best possible score.
type Parts struct {
	Words, Context, Tags, Paths float64
	Factor                      float64 // of age, staleness, success, completeness, type and version together
	Coverage                    float64
	Matched                     []string // terms of the query it has
	Newer                       bool     // an older version is behind it
	Older                       bool     // there is a newer version
	Meaning                     bool     // its vector is near the question's
}

// Search runs q over src. It fails only when src does.
func Search(ctx context.Context, src Source, q Query, p Params) (Result, error) {
	c := compile(q, p)
	if len(c.terms) == len(c.need) {
		return newest(ctx, src, c)
	}
	stats, err := src.Stats(ctx, c.hashes())
	if err != nil {
		return Result{}, err
	}
	c.learn(stats)
	docs, exact, err := c.collect(ctx, src)
	if err != nil {
		return Result{}, err
	}
	c.anchor(docs)
	hits, more, err := c.rank(ctx, src, docs)
	if err != nil {
		return Result{}, err
	}
	r := c.answer(hits, len(docs), exact)
	r.Truncated = r.Truncated || more && len(r.Hits) == c.Limit
	return r, nil
}

// newest answers a query without words, tags and paths: the newest memories, their relevance halved with each HalfLife.
func newest(ctx context.Context, src Source, c *compiled) (Result, error) {
	docs, err := src.Candidates(ctx, Pick{Need: c.need, Archived: c.Archived, Limit: c.p.Newest})
	if err != nil {
		return Result{}, err
	}
	hits := make([]Hit, 0, len(docs))
	for _, d := range docs {
		f := c.factor(&d)
		h := Hit{Doc: d, Parts: Parts{Factor: f}}
		h.Relevance = f / (1 + c.p.Recency) * max(.01, math.Exp2(-c.days(&d)/c.p.HalfLife))
		hits = append(hits, h)
	}
	sortHits(hits)
	r := c.cut(hits)
	r.Searched, r.Exact = len(docs), len(docs) < c.p.Newest
	if len(r.Hits) == 0 {
		r.Nothing, r.Reason = true, "there are no such memories"
	}
	return r, nil
}

// rank scores docs, gives the best their context and returns them, at least Limit if there are so many. more: others
// match too.
func (c *compiled) rank(ctx context.Context, src Source, docs []Doc) (hits []Hit, more bool, err error) {
	s := c.scorer()
	most := max(c.p.ContextTop, c.Limit)
	best := newTop(most)
	matching, scale := 0, c.boostScale()
	for i := range docs {
		d := &docs[i]
		if c.NoStale && d.Flags&Stale != 0 {
			continue
		}
		w := c.words(s, docs, i)
		boost := scale * (c.p.TagBoost*float64(w.tags) + c.p.PathBoost*float64(min(w.paths, 2)))
		if w.score == 0 && boost == 0 {
			continue
		}
		matching++
		best.offer(place{(float64(w.score)/c.best + boost) * c.factor(d), d.ID, int32(i)})
	}
	var m match
	for _, at := range best.sorted() {
		d := &docs[at.doc]
		s.score(d, &m)
		h := Hit{Doc: *d}
		h.Parts = Parts{
			Words: m.score / c.best, Tags: scale * c.p.TagBoost * float64(m.tags), Paths: scale * c.p.PathBoost * float64(min(m.paths, 2)),
			Factor: c.factor(d), Coverage: s.coverage(m.seen), Matched: s.matched(m.seen),
		}
		h.own = h.Parts.Coverage
		if d.Flags&Imported == 0 {
			h.Parts.Factor *= 1 + c.p.CoverBoost*h.own*h.own
		}
		h.Relevance = h.raw()
		hits = append(hits, h)
	}
	head := hits[:min(len(hits), c.p.ContextTop)]
	if c.hasText() {
		if err := c.addContext(ctx, src, s, head); err != nil {
			return nil, false, err
		}
	}
	c.versions(head, docs)
	for i := range hits {
		hits[i].Relevance = squash(hits[i].Relevance)
	}
	sortHits(hits)
	return hits, matching > len(hits), nil
}

// boostScale makes tags and paths the whole score when there are no words: having all that was asked for is 1.
func (c *compiled) boostScale() float64 {
	most := c.p.TagBoost*float64(len(c.Tags)) + c.p.PathBoost*float64(min(len(c.Paths), 2))
	if c.hasText() || most == 0 {
		return 1
	}
	return 1 / most
}

func (h *Hit) raw() float64 {
	return (h.Parts.Words + h.Parts.Context + h.Parts.Tags + h.Parts.Paths) * h.Parts.Factor
}

// squash maps a score in units of the best possible to 0..1, keeping the order: all the words once is 0.63.
func squash(x float64) float64 { return 1 - math.Exp(-x) }

// factor is the product of the multipliers of a memory.
func (c *compiled) factor(d *Doc) float64 {
	f := 1 + c.p.Recency*math.Exp2(-c.days(d)/c.p.HalfLife)
	if c.form.now {
		f = 1 + c.p.NowRecency*math.Exp2(-c.days(d)/c.p.NowHalf)
	}
	if d.Flags&Stale != 0 {
		f *= c.p.Stale
	}
	if c.form.wants(d) {
		f *= 1 + c.p.TypeBoost
	}
	if d.Kind == Procedural {
		f *= 1 + c.p.SkillSpread*(float64(d.Skill)/100-.5)
	}
	return f
}

func (c *compiled) days(d *Doc) float64 { return max(0, float64(c.Now-d.CreatedAt)) / 86400 }

func sortHits(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), cmp.Compare(b.ID, a.ID))
	})
}

// cut applies the least relevance and the limit.
func (c *compiled) cut(hits []Hit) Result {
	n := len(hits)
	if c.MinRelevance > 0 {
		n, _ = slices.BinarySearchFunc(hits, c.MinRelevance, func(h Hit, least float64) int {
			if h.Relevance >= least {
				return -1
			}
			return 1
		})
	}
	r := Result{Truncated: n > c.Limit}
	r.Hits = hits[:min(n, c.Limit)]
	return r
}

// answer decides whether there is anything to say.
func (c *compiled) answer(hits []Hit, searched int, exact bool) Result {
	text := c.hasText()
	best := 0.
	for i := range min(len(hits), 10) {
		best = max(best, hits[i].Parts.Coverage)
	}
	absent := text && best < c.p.AbsentBelow
	if absent { // what was asked for by tag or path is still an answer
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Parts.Tags+h.Parts.Paths == 0 })
	}
	r := c.cut(hits)
	r.Searched, r.Exact, r.Coverage = searched, exact, best
	r.Unsure = text && c.doubt(hits) >= c.p.UnsureFrom && len(r.Hits) > 0
	switch {
	case len(r.Hits) > 0:
	case searched == 0 || len(hits) == 0 && !absent:
		r.Nothing, r.Reason = true, "no memory has any of these words"
	case absent:
		r.Nothing = true
		r.Reason = fmt.Sprintf("the nearest memory covers %.0f %% of what is asked, less than %.0f %%", 100*best, 100*c.p.AbsentBelow)
	default:
		r.Nothing, r.Reason = true, "no memory reaches min_relevance"
	}
	return r
}
