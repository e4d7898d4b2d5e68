package main

import (
	"context"
	"math"
	"slices"
)

// ceiling is no contestant: it ranks by the information of the words a memory shares with the question, and among equals
// it knows the answer. No ranking by a memory's own words can do better, so what it misses needs something else: context,
// synonyms, vectors.
type ceiling struct{ b *bm25 }

func newCeiling(c *corpus) (system, error) {
	s, err := tunedBM25.over(c)
	b, _ := s.(*bm25) // it is what over makes
	return ceiling{b}, err
}

func (s ceiling) answer(_ context.Context, q *question) (reply, error) {
	n := float64(len(s.b.c.docs))
	scores := make([]float64, len(s.b.c.docs))
	for _, t := range q.terms {
		df := float64(len(s.b.postings[t]))
		for _, p := range s.b.postings[t] {
			scores[p.doc] += math.Log(1 + (n-df+.5)/(df+.5))
		}
	}
	for i := range scores {
		id := int64(i + 1)
		for _, f := range q.Facts {
			if scores[i] > 0 && slices.Contains(f.Best, id) && !slices.Contains(q.Older, id) {
				scores[i] += 1e-6 // before its equals
			}
		}
	}
	return reply{ids: best(scores)}, nil
}
