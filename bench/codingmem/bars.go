package main

import (
	"fmt"
	"io"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// absenceRatio is how many answerable questions there are to an absent one when F1 is computed.
const absenceRatio = 2

// bar is one demand and whether it is met.
type bar struct {
	name, wanted, got string
	met               bool
}

// bars are the demands on generated worlds.
func (r *results) bars() []bar {
	lead := r.lead(ours, theirs, share("R@10/every/words"))
	list := []bar{{"R@10 above tuned BM25 where words overlap, points", "≥ 8", lead.String(), lead.mean >= 8}}
	for _, c := range world.Answerable {
		d := r.lead(ours, theirs, share("R@10/"+string(c)+"/all"))
		list = append(list, bar{"class " + string(c) + ": R@10 above tuned BM25, points", "≥ 0", d.String(), d.mean >= 0})
	}
	order := r.over(ours, share("latest first"))
	list = append(list, bar{"latest of an evolving fact before its older versions, %", "≥ 95", order.String(), order.mean >= 95})
	stale, fresh := r.over(ours, share("stale as fact")), r.over(ours, share("fresh recall"))
	list = append(
		list,
		bar{"outdated observations given as fact, %", "≤ 1", stale.String(), stale.mean <= 1},
		bar{"recall@10 of observations that are true, %", "≥ 95", fresh.String(), fresh.mean >= 95},
	)
	f1 := r.over(ours, func(t *tally) float64 { return t.absence(absenceRatio, false) })
	list = append(list, bar{"abstention F1", "≥ 0.80", fmt.Sprintf("%.2f ±%.2f", f1.mean, f1.half), f1.mean >= .8})
	control := r.lead(shuffled, alone, share("R@10/every/words"))
	return append(list, bar{"context with sessions shuffled, points beside none", "≥ -1", control.String(), control.mean >= -1})
}

// printBars writes the demands and returns how many are missed.
func printBars(out io.Writer, list []bar) int {
	fmt.Fprint(out, "### Bars\n\n")
	missed := 0
	var rows [][]string
	for _, b := range list {
		state := "met"
		if !b.met {
			state = "**missed**"
			missed++
		}
		rows = append(rows, []string{b.name, b.wanted, b.got, state})
	}
	table(out, []string{"bar", "wanted", "measured", ""}, rows)
	return missed
}
