package recall

import (
	"cmp"
	"context"
	"slices"
)

// Memory is a Source in process, for benchmarks, tests and small tools. Not safe for use beside Add.
type Memory struct {
	Project  int64
	docs     []Doc
	terms    [][]int64
	postings map[int64][]int32
	groups   map[int64][]int32
	sum      [2]int64
}

// NewMemory returns an empty source of a project.
func NewMemory(project int64) *Memory {
	return &Memory{Project: project, postings: map[int64][]int32{}, groups: map[int64][]int32{}}
}

// Add indexes a document; d's ID, Group, Seq, Kind, CreatedAt and Flags are kept. IDs must ascend, and Seq within a group.
func (m *Memory) Add(d Doc, text Document) {
	e := Index(m.Project, text)
	d.LenTitle, d.LenBody, d.Sig = uint16(e.LenTitle), uint16(e.LenBody), e.Sig
	i := int32(len(m.docs))
	m.docs, m.terms = append(m.docs, d), append(m.terms, e.Terms)
	for _, t := range e.Terms {
		m.postings[t] = append(m.postings[t], i)
	}
	if d.Group != 0 {
		m.groups[d.Group] = append(m.groups[d.Group], i)
	}
	m.sum[0] += int64(e.LenTitle)
	m.sum[1] += int64(e.LenBody)
}

// Stats implements Source.
func (m *Memory) Stats(_ context.Context, terms []int64) (Stats, error) {
	s := Stats{N: int64(len(m.docs)), Groups: int64(len(m.groups)), DF: make([]int64, len(terms))}
	if s.N > 0 {
		s.LenTitle, s.LenBody = float64(m.sum[0])/float64(s.N), float64(m.sum[1])/float64(s.N)
	}
	for i, t := range terms {
		s.DF[i] = int64(len(m.postings[t]))
	}
	return s, nil
}

// Candidates implements Source.
func (m *Memory) Candidates(_ context.Context, p Pick) ([]Doc, error) {
	var hits []int32
	for _, t := range p.Any {
		hits = append(hits, m.postings[t]...)
	}
	for _, all := range p.All {
		rare := slices.MinFunc(all, func(a, b int64) int { return cmp.Compare(len(m.postings[a]), len(m.postings[b])) })
		for _, i := range m.postings[rare] {
			if m.has(i, all) {
				hits = append(hits, i)
			}
		}
	}
	for _, t := range p.One {
		for _, i := range m.postings[t] {
			if slices.ContainsFunc(p.Other, func(o int64) bool { return m.has(i, []int64{o}) }) {
				hits = append(hits, i)
			}
		}
	}
	if p.newest() {
		for i := len(m.docs) - 1; i >= 0 && len(hits) < p.Limit; i-- {
			if m.fits(int32(i), p) {
				hits = append(hits, int32(i))
			}
		}
	}
	slices.Sort(hits)
	out := make([]Doc, 0, min(len(hits), p.Limit))
	for _, i := range slices.Compact(hits) {
		if len(out) < p.Limit && m.fits(i, p) {
			out = append(out, m.docs[i])
		}
	}
	return out, nil
}

func (m *Memory) fits(i int32, p Pick) bool {
	return (p.Archived || m.docs[i].Flags&Archived == 0) && m.has(i, p.Need)
}

func (m *Memory) has(i int32, terms []int64) bool {
	for _, t := range terms {
		if _, ok := slices.BinarySearch(m.terms[i], t); !ok {
			return false
		}
	}
	return true
}

// Windows implements Source.
func (m *Memory) Windows(_ context.Context, spans []Span) ([]Doc, error) {
	var out []Doc
	for _, s := range spans {
		g := m.groups[s.Group]
		from, _ := slices.BinarySearchFunc(g, s.From, func(i, seq int32) int { return cmp.Compare(m.docs[i].Seq, seq) })
		for ; from < len(g) && m.docs[g[from]].Seq <= s.To; from++ {
			out = append(out, m.docs[g[from]])
		}
	}
	return out, nil
}

// Similar implements Source: it knows no vocabulary.
func (m *Memory) Similar(context.Context, []string) (map[string][]Similar, error) { return nil, nil }
