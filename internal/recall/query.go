package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Query is one question to a project's memories. All members but Project and Limit are optional.
type Query struct {
	Project      int64
	Text         string
	Tags, Paths  []string
	Need         []string // whole terms that every result must have: AgentTerm, TypeTerm
	Limit        int      // ≥ 1
	MinRelevance float64
	Now          int64 // Unix seconds, for ages
	Archived     bool  // also archived memories
	NoStale      bool  // leave stale ones out
}

// term is one term of a query.
type term struct {
	text   string
	word   string // the plain word it was made from
	hash   int64
	h32    uint32
	weight float64 // 0: an attribute, which finds but does not score by itself
	df     int64
	idf    float64
	kind   termKind
	spare  bool // a further stand-in for a misspelt word: it scores, but is not part of what was asked
}

type termKind uint8

const (
	textTerm termKind = iota
	tagTerm
	pathTerm
	needTerm
)

// compiled is a query with what the project knows about its terms.
type compiled struct {
	Query
	p     Params
	terms []term
	need  []int64
	stats Stats
	n     float64 // memories, at least 1
	// best is the score of a memory that has the CoverTerms most informative terms once each at ordinary length;
	// cover the information in them.
	best, cover float64
	unknown     []string  // terms of the query that no memory has, for the explanation
	form        form      // what the question's wording asks for
	scored      []byWords // of the candidates in order, while the weights stay
	scratch     match
}

// compile turns a query into its terms, without frequencies yet.
func compile(q Query, p Params) *compiled {
	c := &compiled{Query: q, p: p, form: formOf(q)}
	at := map[string]int{}
	add := func(text, word string, weight float64, kind termKind) {
		if i, ok := at[text]; ok {
			if kind == textTerm && c.terms[i].kind == textTerm { // said again: a little more important
				c.terms[i].weight = min(2, c.terms[i].weight+.25)
			}
			return
		}
		at[text] = len(c.terms)
		h := Hash64(q.Project, text)
		c.terms = append(c.terms, term{text: text, word: word, hash: h, h32: hash32(h), weight: weight, kind: kind})
	}
	for _, t := range q.Paths {
		add(PathTerm(t), "", 0, pathTerm)
	}
	for _, t := range q.Tags {
		add(TagTerm(t), "", 0, tagTerm)
	}
	for _, t := range q.Need {
		add(t, "", 0, needTerm)
		c.need = append(c.need, Hash64(q.Project, t))
	}
	termsOf(q.Text, func(t, word string) {
		if len(c.terms) < 8*p.QueryTerms {
			add(t, word, 1, textTerm)
		}
	})
	return c
}

// hashes of all terms, in order.
func (c *compiled) hashes() []int64 {
	out := make([]int64, len(c.terms))
	for i := range c.terms {
		out[i] = c.terms[i].hash
	}
	return out
}

// learn sets frequencies and what follows from them, and keeps the most informative terms.
func (c *compiled) learn(s Stats) {
	c.stats, c.n = s, max(1, float64(s.N))
	for i := range c.terms {
		c.terms[i].df = min(s.DF[i], max(s.N, 0))
	}
	c.weigh()
}

// weigh computes IDFs and the best possible score from the present frequencies.
func (c *compiled) weigh() {
	c.scored = c.scored[:0]
	for i := range c.terms {
		c.terms[i].idf = idf(max(c.n, c.p.LeastN), float64(c.terms[i].df))
	}
	slices.SortStableFunc(c.terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(b2i(a.kind == textTerm), b2i(b.kind == textTerm)), cmp.Compare(b.weight*b.idf, a.weight*a.idf))
	})
	var info []float64
	kept := c.terms[:0]
	for _, t := range c.terms {
		if t.kind == textTerm {
			if len(info) >= c.p.QueryTerms {
				continue
			}
			if !t.spare {
				info = append(info, information(t))
			}
		}
		kept = append(kept, t)
	}
	c.terms = kept
	slices.SortFunc(info, func(a, b float64) int { return cmp.Compare(b, a) })
	c.cover = 0
	for i, v := range info {
		if i < c.p.CoverTerms {
			c.cover += v
		}
	}
	c.best = 0
	for i, n := 0, 0; i < len(c.terms) && n < c.p.CoverTerms; i++ {
		if t := c.terms[i]; t.kind == textTerm && !t.spare {
			c.best += t.weight * t.idf
			n++
		}
	}
	c.best = max(c.best, 1e-9)
}

// information is what a term says about a memory that has it. A compound says less than its IDF: its parts are terms too.
func information(t term) float64 {
	if strings.HasPrefix(t.text, "=") {
		return .5 * t.weight * t.idf
	}
	return t.weight * t.idf
}

// idf is Robertson and Spärck Jones' weight in the form that is never negative.
func idf(n, df float64) float64 { return math.Log(1 + (n-df+.5)/(df+.5)) }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// hasText reports whether the query has words to score by.
func (c *compiled) hasText() bool {
	return slices.ContainsFunc(c.terms, func(t term) bool { return t.kind == textTerm })
}
