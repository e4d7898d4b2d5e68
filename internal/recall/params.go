package recall

// Params are the numbers of the ranking. They live in one place and under one version, which a search's explanation
// names. Values without a remark are those measured on LoCoMo and the Go standard library.
type Params struct {
	Version int

	// Candidates.
	Small      int     // memories: a project of at most so many is scored whole, exactly
	Candidates int     // memories: the most that rare terms may bring in, in a large project; every query's limit is twice that
	MaxShare   float64 // of the project's memories: terms in more are scored but never searched for
	Pairs      int     // conjunctions of common terms asked for
	Newest     int     // memories scored when only such terms are left
	LeastN     float64 // memories assumed at least when rarity is judged: among three memories every word is rare
	QueryTerms int     // distinct terms of a query, the rarest are kept

	// BM25F. B near 1 punishes length; dialogue would want less on bodies, code wants this.
	K1, TitleWeight, TitleB, BodyB float64

	// Context: for the best ContextTop, memories at most Radius before or after in the same session. Dialogue gains from twice
	// these weights (LoCoMo), sessions of interleaved work lose by them (bench/codingmem).
	ContextTop                       int
	Radius                           int
	Window, Prev, Next, Prev2, Next2 float64
	Imported                         float64 // share of the context's weight for imported notes: a file's neighbours say less

	// Multipliers of the score, chosen on the dev seeds of bench/codingmem. A stale memory is marked rather than buried: most
	// edits of a file leave what was said about it true.
	Stale       float64 // of memories whose file changed since
	Recency     float64 // at most so much more for a new memory …
	HalfLife    float64 // … halved every so many days
	SkillSpread float64 // a skill's success mean m multiplies by 1 + SkillSpread·(m − ½)
	TagBoost    float64 // per asked tag the memory has, as a share of the best possible score
	PathBoost   float64 // per asked path the memory is bound to or names
	Duplicate   float64 // Jaccard similarity of terms from which the newer memory replaces the older
	SameTopic   float64 // the same for memories that have SameWords of the words of the question in common
	SameWords   float64
	Repaired    float64 // weight of a term that stands in for an unknown one, times the similarity

	// Abstention (chosen likewise: a question in other words than the answer shares little with it), on the share of the query's information (IDF) that the best two-memory neighbourhood covers.
	AbsentBelow float64 // below: nothing relevant
	UnsureBelow float64 // below: low confidence
	CoverTerms  int     // the query's most informative terms that count; a task's whole description never fits a memory
}

// Default are the parameters of the service.
func Default() Params {
	return Params{
		Version: 1,
		Small:   1000, Candidates: 5000, MaxShare: .10, Pairs: 6, Newest: 3000, LeastN: 300, QueryTerms: 48,
		K1: 1.8, TitleWeight: 4, TitleB: .5, BodyB: .75,
		ContextTop: 50, Radius: 6, Window: .5, Prev: .15, Next: .1, Prev2: .1, Next2: .1, Imported: .4,
		Stale: .9, Recency: .06, HalfLife: 14, SkillSpread: .4, TagBoost: .15, PathBoost: .2, Duplicate: .5, SameTopic: .15, SameWords: 1, Repaired: .7,
		AbsentBelow: .06, UnsureBelow: .45, CoverTerms: 12,
	}
}
