package main

import (
	"context"
	"math"
	"runtime"
	"sync"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// budgets are the tokens of memory an agent may be given.
var budgets = []int{500, 1000, 2000}

// tally adds up what one system did in one world: sums and counts by name.
type tally struct {
	sum, n map[string]float64
	times  []float64 // ms
}

func newTally() *tally { return &tally{sum: map[string]float64{}, n: map[string]float64{}} }

func (t *tally) add(name string, value float64) { t.sum[name] += value; t.n[name]++ }

func (t *tally) yes(name string, is bool) {
	if is {
		t.add(name, 1)
	} else {
		t.add(name, 0)
	}
}

// mean is NaN where nothing was counted.
func (t *tally) mean(name string) float64 {
	if t.n[name] == 0 {
		return math.NaN()
	}
	return t.sum[name] / t.n[name]
}

func (t *tally) join(o *tally) {
	for k, v := range o.sum {
		t.sum[k] += v
		t.n[k] += o.n[k]
	}
	t.times = append(t.times, o.times...)
}

// count takes in the reply to one question.
func (t *tally) count(c *corpus, q *question, r reply) {
	switch q.Class {
	case world.Absence:
		t.yes("absent", r.absent)
		t.yes("absent nothing", r.nothing)
		return
	case world.Freshness:
		t.fresh(q, r)
		return
	}
	slice := "zero"
	if q.words() {
		slice = "words"
		t.yes("wrong", r.absent)
		t.yes("wrong nothing", r.nothing)
	} else {
		t.yes("wrong zero", r.absent)
	}
	r10 := recallAt(q.Facts, r.ids, 10)
	for _, in := range []string{"all", slice} {
		for _, of := range []string{"every", string(q.Class)} {
			t.add("R@5/"+of+"/"+in, recallAt(q.Facts, r.ids, 5))
			t.add("R@10/"+of+"/"+in, r10)
			t.add("nDCG/"+of+"/"+in, ndcg(q.Facts, r.ids, 10))
			t.add("MRR/"+of+"/"+in, reciprocal(q.Facts, r.ids))
		}
	}
	if q.Class == world.Evolving && len(q.Older) > 0 && q.words() && anyOf(r.ids, 10, q.Latest, q.Older) {
		t.yes("latest first", latestFirst(q.Latest, q.Older, r.ids))
		t.yes("latest on top", len(r.ids) > 0 && latestFirst(q.Latest, nil, r.ids[:1]))
	}
	for _, b := range budgets {
		gold, used := density(q.Facts, r.ids, b, c.tokens)
		t.add(densityName(b, "gold"), float64(gold))
		t.add(densityName(b, "tokens"), float64(used))
		t.add(densityName(b, "facts"), float64(len(q.Facts)))
	}
}

func densityName(budget int, what string) string {
	return map[int]string{500: "500 ", 1000: "1000 ", 2000: "2000 "}[budget] + what
}

// fresh counts a question about code that may have changed since it was observed.
func (t *tally) fresh(q *question, r reply) {
	top := r.ids[:min(10, len(r.ids))]
	t.add("fresh recall", recallAt(q.Facts, r.ids, 10))
	asFact, trueFirst, seen := false, true, false
	for _, id := range top {
		switch {
		case anyOf([]int64{id}, 1, q.Outdated):
			asFact = asFact || !r.stale[id]
			if !seen {
				trueFirst = false
			}
			seen = true
		case anyOf([]int64{id}, 1, q.Facts[0].Best):
			seen = true
		}
	}
	t.yes("stale as fact", asFact)
	if len(q.Outdated) > 0 {
		t.yes("outdated first", !trueFirst)
	}
}

// anyOf reports whether one of the first k of ids is in one of the lists.
func anyOf(ids []int64, k int, lists ...[]int64) bool {
	for _, id := range ids[:min(k, len(ids))] {
		for _, l := range lists {
			for _, x := range l {
				if x == id {
					return true
				}
			}
		}
	}
	return false
}

// evaluate asks every question of a world to every system, two projects at a time.
func evaluate(ctx context.Context, corpora []*corpus, systems []named) (map[string]*tally, error) {
	out := map[string]*tally{}
	for _, s := range systems {
		out[s.name] = newTally()
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var first error
	free := make(chan struct{}, max(1, min(2, runtime.NumCPU())))
	for _, c := range corpora {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			for _, s := range systems {
				t, err := examine(ctx, c, s)
				mu.Lock()
				if err != nil && first == nil {
					first = err
				} else if err == nil {
					out[s.name].join(t)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return out, first
}

// examine asks one system the questions of one project.
func examine(ctx context.Context, c *corpus, s named) (*tally, error) {
	sys, err := s.make(c)
	if err != nil {
		return nil, err
	}
	t := newTally()
	for i := range c.questions {
		q := &c.questions[i]
		r, took, err := timed(ctx, sys, q)
		if err != nil {
			return nil, err
		}
		t.times = append(t.times, took)
		t.count(c, q, r)
	}
	return t, nil
}

// absence is the F1 over absences and those answerable questions whose words can be found at all. sure: only an empty
// reply counts as saying that there is no answer.
func (t *tally) absence(ratio float64, sure bool) float64 {
	kind := ""
	if sure {
		kind = " nothing"
	}
	return absentF1(int(t.sum["absent"+kind]), int(t.n["absent"+kind]), int(t.sum["wrong"+kind]), int(t.n["wrong"+kind]), ratio)
}

// corporaOf prepares a world.
func corporaOf(w *world.World) []*corpus {
	out := make([]*corpus, len(w.Projects))
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i] = newCorpus(w, i) })
	}
	wg.Wait()
	return out
}
