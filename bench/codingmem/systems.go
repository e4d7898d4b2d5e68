package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// depth is how many memories a system is asked for: enough for the largest token budget.
const depth = 50

// reply is what a system answers.
type reply struct {
	ids     []int64        // by relevance
	absent  bool           // it says that there is no answer, or that it does not trust the ones it gives
	nothing bool           // it gives none
	stale   map[int64]bool // those it marks as stale
}

// system answers questions over one corpus.
type system interface {
	answer(ctx context.Context, q *question) (reply, error)
}

// named is a system by the name in the tables, made for a corpus.
type named struct {
	name string
	make func(c *corpus) (system, error)
}

type random struct{ c *corpus }

func (s random) answer(_ context.Context, q *question) (reply, error) {
	rng := rand.New(rand.NewPCG(uint64(len(s.c.docs)), uint64(len(q.Text))*131+uint64(q.ID[len(q.ID)-1])))
	r := reply{}
	for _, i := range rng.Perm(len(s.c.docs))[:min(depth, len(s.c.docs))] {
		r.ids = append(r.ids, int64(i+1))
	}
	return r, nil
}

type newest struct{ c *corpus }

func (s newest) answer(context.Context, *question) (reply, error) {
	r := reply{}
	for i := len(s.c.docs); i > 0 && len(r.ids) < depth; i-- {
		r.ids = append(r.ids, int64(i))
	}
	return r, nil
}

// grep counts which of the question's words are in a memory's text, as they stand; the newer first among equals.
type grep struct {
	c     *corpus
	lower []string
}

func newGrep(c *corpus) (system, error) {
	g := &grep{c: c}
	for i := range c.docs {
		g.lower = append(g.lower, strings.ToLower(c.docs[i].text))
	}
	return g, nil
}

var grepStops = strings.Fields("the a an of for to in is it what which how do does did i we my me and or on at with was be about have has had who why that this")

func (g *grep) answer(_ context.Context, q *question) (reply, error) {
	words := strings.FieldsFunc(strings.ToLower(q.Text), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("?,:", r) })
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(grepStops, w) })
	scores := make([]float64, len(g.lower))
	for i, text := range g.lower {
		for _, w := range words {
			if strings.Contains(text, w) {
				scores[i]++
			}
		}
	}
	ids := best(scores)
	return reply{ids: ids, absent: len(ids) == 0, nothing: len(ids) == 0}, nil
}

// best are the ids of the highest scores above 0, the newer first among equals.
func best(scores []float64) []int64 {
	var ids []int64
	for i, s := range scores {
		if s > 0 {
			ids = append(ids, int64(i+1))
		}
	}
	slices.SortFunc(ids, func(a, b int64) int {
		switch x, y := scores[a-1], scores[b-1]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(b - a)
	})
	return ids[:min(len(ids), depth)]
}

// engine is package recall over an index in this process.
type engine struct {
	c      *corpus
	index  *recall.Memory
	params recall.Params
}

// newEngine indexes a corpus. shuffled: the same memories, each in a place of some session that it was not written in.
func newEngine(p recall.Params, shuffled bool) func(*corpus) (system, error) {
	return func(c *corpus) (system, error) {
		e := &engine{c: c, index: recall.NewMemory(c.number), params: p}
		groups := make([]int, len(c.docs))
		for i := range c.docs {
			groups[i] = c.docs[i].m.Session
		}
		if shuffled {
			rand.New(rand.NewPCG(uint64(c.number), 99)).Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		}
		seqs := map[int]int32{}
		for i := range c.docs {
			d, m := &c.docs[i], c.docs[i].m
			seqs[groups[i]]++
			one := recall.Doc{
				ID: m.ID, Group: int64(groups[i]) + 1, Seq: seqs[groups[i]], Kind: recall.Episodic, CreatedAt: m.Event.At.Unix(), Flags: flags(m),
			}
			if m.Skill {
				one.Group, one.Seq, one.Kind, one.Skill = 0, 0, recall.Procedural, uint8(m.Success)
			}
			e.index.Add(one, d.in)
		}
		return e, nil
	}
}

func flags(m *world.Memory) (f uint16) {
	if m.Stale {
		f |= recall.Stale
	}
	switch m.Outcome {
	case "success":
		f |= recall.Good
	case "failure":
		f |= recall.Bad
	}
	return f
}

func (e *engine) answer(ctx context.Context, q *question) (reply, error) {
	res, err := recall.Search(ctx, e.index, recall.Query{Project: e.c.number, Text: q.Text, Limit: depth, Now: e.c.now}, e.params)
	r := reply{nothing: res.Nothing, absent: res.Nothing || res.Unsure, stale: map[int64]bool{}}
	for _, h := range res.Hits {
		r.ids = append(r.ids, h.ID)
		if h.Flags&recall.Stale != 0 {
			r.stale[h.ID] = true
		}
	}
	return r, err
}
