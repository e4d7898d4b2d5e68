package recall

// fusion is the constant of reciprocal rank fusion (Cormack, Clarke, Buettcher: Reciprocal rank fusion outperforms
// Condorcet and individual rank learning methods, 2009).
const fusion = 60

// Fuse unites what was found by words with the memories nearest by meaning, the nearest first, by reciprocal rank. The
// relevance is then that of the ranks: 1 is first in both. What was found by meaning alone is marked unsure.
func Fuse(r Result, near []Doc, q Query, p Params) Result {
	c := &compiled{Query: q, p: p}
	at := map[int64]int{}
	hits := make([]Hit, 0, len(r.Hits)+len(near))
	share := func(rank int) float64 { return (fusion + 1.) / 2 / (fusion + 1 + float64(rank)) }
	for i, h := range r.Hits {
		at[h.ID] = i
		h.Relevance = share(i)
		hits = append(hits, h)
	}
	rank := 0
	for _, d := range near {
		if q.NoStale && d.Flags&Stale != 0 {
			continue
		}
		i, known := at[d.ID]
		if !known {
			i = len(hits)
			hits = append(hits, Hit{Doc: d, Parts: Parts{Factor: 1}})
		}
		hits[i].Relevance += share(rank)
		hits[i].Parts.Meaning = true
		rank++
	}
	if rank == 0 {
		return r
	}
	sortHits(hits)
	out := c.cut(hits)
	out.Truncated = out.Truncated || r.Truncated
	out.Searched, out.Exact, out.Coverage = r.Searched+rank, r.Exact, r.Coverage
	out.Unsure = r.Unsure || r.Nothing
	if len(out.Hits) == 0 {
		out.Nothing, out.Unsure, out.Reason = true, false, "no memory reaches min_relevance"
	}
	return out
}
