package recall

// Params are the numbers of the ranking. They live in one place and under one version, which a search's explanation
// names. Values without a remark are those measured on LoCoMo and the Go standard library.
type Params struct {
	Version int

	// Candidates.
	Small      int     // memories: a project of at most so many is scored whole, exactly
	Candidates int     // memories: the most that terms may bring in, in a large project; every query's limit is twice that
	Whole      int     // memories: the most that the rarest words bring in, each with all that have it
	Paired     float64 // of Candidates: the most that pairs of the other words are expected to bring in
	MaxShare   float64 // of the project's memories: terms in more are scored but never searched for
	Pairs      int     // conjunctions of common terms asked for, at most six
	Newest     int     // memories scored when only such terms are left
	LeastN     float64 // memories assumed at least when rarity is judged: among three memories every word is rare
	QueryTerms int     // distinct terms of a query, the rarest are kept

	// BM25F, of what sessions tell and of what was imported from files. B near 1 punishes length: code wants it (Go
	// standard library), the short notes of sessions do not (LoCoMo, bench/codingmem).
	Told, Files Fields
	CoverBoost  float64 // of told memories: at most so much more for having all the information of the question

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
	NowRecency  float64 // both when the question asks for the present state: how things are now is what was told last
	NowHalf     float64
	SkillSpread float64 // a skill's success mean m multiplies by 1 + SkillSpread·(m − ½)
	TagBoost    float64 // per asked tag the memory has, as a share of the best possible score
	PathBoost   float64 // per asked path the memory is bound to or names
	Repaired    float64 // weight of a term that stands in for an unknown one, times the similarity

	// Versions: memories about the same thing, told at different times (versions.go).
	Sample       int     // candidates by which the rarity of words is judged that the question does not have
	SameFrom     float64 // probability from which two memories count as versions of one thing
	Superseded   float64 // share of its score that an older version loses, times that probability
	Rival        float64 // of the older one's score: what the newer needs at least to replace it
	Outlived     float64 // when asked how it was: at most so much more for what a newer version followed
	After        float64 // when asked how it was before an event: share that memories told after it lose
	AnchorWeight float64 // of the words that only name that event
	TypeBoost    float64 // of memories of the type that a question of this form asks for (question.go)

	// Abstention. AbsentBelow is on the share of the question's information (IDF) that the best neighbourhood of two memories
	// covers; a question in other words than the answer shares little with it.
	AbsentBelow float64 // below: nothing relevant
	UnsureFrom  float64 // low confidence from this probability that there is no answer (abstain.go)
	CoverTerms  int     // the query's most informative terms that count; a task's whole description never fits a memory
}

// Fields are the parameters of BM25F.
type Fields struct{ K1, TitleWeight, TitleB, BodyB float64 }

// Default are the parameters of the service.
func Default() Params {
	return Params{
		Version: 3,
		Small:   1000, Candidates: 5000, Whole: 500, Paired: .7, MaxShare: .10, Pairs: 6, Newest: 3000, LeastN: 300, QueryTerms: 48,
		Told: Fields{K1: .9, TitleWeight: 3, TitleB: .1, BodyB: .1}, Files: Fields{K1: 1.8, TitleWeight: 4, TitleB: .5, BodyB: .75}, CoverBoost: 2,
		ContextTop: 50, Radius: 6, Window: .3, Prev: .1, Next: .1, Prev2: .1, Next2: .1, Imported: .65,
		Stale: .99, Recency: .4, HalfLife: 45, NowRecency: 8, NowHalf: 60, SkillSpread: .4, TagBoost: .15, PathBoost: .2, Repaired: .7,
		Sample: 300, SameFrom: .12, Superseded: .4, Rival: .5, Outlived: .2, After: .5, AnchorWeight: .2, TypeBoost: .3,
		AbsentBelow: .06, UnsureFrom: .28, CoverTerms: 12,
	}
}

// most is the larger saturation of both kinds of text: no term gives more than 1 + that.
func (p *Params) most() float64 { return max(p.Told.K1, p.Files.K1) }

// once is what a term gives at ordinary length, in units of its weight, that is in the title and in the body.
func (p *Params) once() float64 { return max(p.Told.once(), p.Files.once()) }

func (f *Fields) once() float64 {
	tf := f.TitleWeight + 1
	return tf * (f.K1 + 1) / (f.K1 + tf)
}
