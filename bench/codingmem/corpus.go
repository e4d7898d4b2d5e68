package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
	"github.com/agent-coordinator/agent-coordinator/internal/tokens"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// corpus is a project as every system gets it: the same text, and the same terms of it.
type corpus struct {
	number    int64
	p         *world.Project
	now       int64
	docs      []doc // docs[i] has ID i+1
	questions []question
}

// doc is a memory's text.
type doc struct {
	m     *world.Memory
	in    recall.Document
	text  string
	terms map[string]int // plain and whole terms of text with their counts
	len   int
	cost  int // tokens, counted when first asked for
}

// question is a question with what can be said about its words.
type question struct {
	*world.Question
	terms  []string // distinct
	shared int      // distinct stems in common with that statement of an answer which has most of them
}

// words reports whether the question has a stem in common with a statement of its answer.
func (q *question) words() bool { return q.shared > 0 }

func newCorpus(w *world.World, number int) *corpus {
	c := &corpus{number: int64(number) + 1, p: w.Projects[number], now: w.End.Unix()}
	for _, m := range c.p.Memories {
		c.docs = append(c.docs, newDoc(m))
	}
	for _, q := range c.p.Questions {
		one := question{Question: q, terms: distinct(q.Text)}
		for _, f := range q.Facts {
			for _, id := range f.Best {
				one.shared = max(one.shared, shared(one.terms, c.docs[id-1].terms))
			}
		}
		c.questions = append(c.questions, one)
	}
	return c
}

// newDoc lays a memory out as the service does: the summary is the title, the rest is the body.
func newDoc(m *world.Memory) doc {
	var body strings.Builder
	if m.Skill {
		body.WriteString(strings.Join(m.Lessons, " ") + "\n")
		for _, k := range slices.Sorted(maps.Keys(m.Details)) {
			body.WriteString(m.Details[k] + "\n")
		}
	} else {
		for _, l := range m.Lessons {
			body.WriteString(l + "\n")
		}
		if m.Outcome != "" {
			body.WriteString(m.Outcome + "\n")
		}
		for _, k := range slices.Sorted(maps.Keys(m.Details)) {
			body.WriteString(k + " " + m.Details[k] + "\n")
		}
	}
	d := doc{m: m, terms: map[string]int{}, in: recall.Document{
		Title: m.Summary, Body: body.String(), Tags: m.Tags, Agent: m.Event.Agent, Type: m.EventType, Path: m.Path,
	}}
	d.text = strings.TrimSpace(m.Summary + "\n" + d.in.Body + strings.Join(m.Tags, " ") + "\n" + m.Path)
	recall.Terms(d.text, func(t string) { d.terms[t]++; d.len++ })
	return d
}

// tokens are what the memory costs an agent that reads it.
func (c *corpus) tokens(id int64) int {
	d := &c.docs[id-1]
	if d.cost == 0 {
		d.cost = max(1, tokens.Count(d.text))
	}
	return d.cost
}

func distinct(text string) []string {
	var out []string
	recall.Terms(text, func(t string) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	})
	return out
}

func shared(terms []string, in map[string]int) int {
	n := 0
	for _, t := range terms {
		if in[t] > 0 {
			n++
		}
	}
	return n
}
