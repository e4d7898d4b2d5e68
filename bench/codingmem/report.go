package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// ours and theirs are the two systems that the bars compare.
const (
	ours     = "ours"
	theirs   = "BM25 tuned"
	shuffled = "ours, sessions shuffled"
	alone    = "ours, no context"
)

// results holds the tallies of every world, by system.
type results struct {
	systems []string
	worlds  []map[string]*tally
}

// over is a figure of a system over the worlds.
func (r *results) over(system string, figure func(*tally) float64) interval {
	var values []float64
	for _, w := range r.worlds {
		values = append(values, figure(w[system]))
	}
	return confidence(values)
}

// lead is the difference of two systems, taken in each world.
func (r *results) lead(a, b string, figure func(*tally) float64) interval {
	var values []float64
	for _, w := range r.worlds {
		values = append(values, figure(w[a])-figure(w[b]))
	}
	return confidence(values)
}

func share(name string) func(*tally) float64 {
	return func(t *tally) float64 { return 100 * t.mean(name) }
}

func (i interval) String() string {
	switch {
	case math.IsNaN(i.mean):
		return "–"
	case math.IsNaN(i.half):
		return fmt.Sprintf("%.1f", i.mean)
	}
	return fmt.Sprintf("%.1f ±%.1f", i.mean, i.half)
}

// table writes rows of cells as Markdown.
func table(out io.Writer, head []string, rows [][]string) {
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range rows {
		fmt.Fprintf(out, "| %s |\n", strings.Join(r, " | "))
	}
	fmt.Fprintln(out)
}

// print writes all tables of a run on generated worlds.
func (r *results) print(out io.Writer, corpora []*corpus) {
	r.printSlices(out)
	r.printClasses(out, "R@10", "words", "Recall@10 by class, where question and answer share a stem")
	r.printClasses(out, "R@10", "all", "Recall@10 by class, all questions")
	r.printRest(out)
	r.printDensity(out)
	printOverlap(out, corpora)
}

func (r *results) printSlices(out io.Writer) {
	fmt.Fprintln(out, "### Ranking")
	fmt.Fprintln(out)
	var rows [][]string
	for _, s := range r.systems {
		row := []string{s}
		for _, m := range []string{"R@5/every/words", "R@10/every/words", "nDCG/every/words", "MRR/every/words", "R@10/every/zero", "R@10/every/all"} {
			row = append(row, r.over(s, share(m)).String())
		}
		var times []float64
		for _, w := range r.worlds {
			times = append(times, w[s].times...)
		}
		rows = append(rows, append(row, fmt.Sprintf("%.2f / %.2f", percentile(times, .5), percentile(times, .95))))
	}
	table(out, []string{"system", "R@5 words", "R@10 words", "nDCG@10 words", "MRR words", "R@10 zero overlap", "R@10 all", "ms p50 / p95"}, rows)
}

func (r *results) printClasses(out io.Writer, metric, slice, title string) {
	fmt.Fprintf(out, "### %s\n\n", title)
	head := []string{"system"}
	for _, c := range world.Answerable {
		head = append(head, string(c))
	}
	var rows [][]string
	for _, s := range r.systems {
		row := []string{s}
		for _, c := range world.Answerable {
			row = append(row, r.over(s, share(metric+"/"+string(c)+"/"+slice)).String())
		}
		rows = append(rows, row)
	}
	table(out, head, rows)
}

func (r *results) printRest(out io.Writer) {
	fmt.Fprint(out, "### Evolving facts, changed code, abstention\n\n")
	var rows [][]string
	for _, s := range r.systems {
		row := []string{s}
		for _, m := range []string{"latest first", "latest on top", "MRR/temporal/words", "fresh recall", "stale as fact", "outdated first"} {
			row = append(row, r.over(s, share(m)).String())
		}
		f1 := func(sure bool) string {
			return r.over(s, func(t *tally) float64 { return 100 * t.absence(absenceRatio, sure) }).String()
		}
		rows = append(rows, append(row, f1(false), f1(true), r.over(s, share("wrong")).String(), r.over(s, share("wrong nothing")).String()))
	}
	table(out, []string{
		"system", "latest before older", "latest at rank 1", "MRR temporal", "fresh recall@10", "stale as fact", "outdated before true",
		"abstention F1", "F1, empty replies only", "answerable called absent", "answerable left empty",
	}, rows)
}

func (r *results) printDensity(out io.Writer) {
	fmt.Fprint(out, "### What a token budget buys\n\n")
	head := []string{"system"}
	for _, b := range budgets {
		head = append(head, fmt.Sprintf("facts found of all, %d tokens", b), "gold per 1,000 tokens")
	}
	var rows [][]string
	for _, s := range r.systems {
		row := []string{s}
		for _, b := range budgets {
			row = append(row,
				r.over(s, func(t *tally) float64 { return 100 * t.sum[densityName(b, "gold")] / t.sum[densityName(b, "facts")] }).String(),
				r.over(s, func(t *tally) float64 {
					return 1000 * t.sum[densityName(b, "gold")] / max(1, t.sum[densityName(b, "tokens")])
				}).String())
		}
		rows = append(rows, row)
	}
	table(out, head, rows)
}

// printOverlap shows how many stems questions share with their answers, so that lexical luck is visible.
func printOverlap(out io.Writer, corpora []*corpus) {
	fmt.Fprint(out, "### Words that questions share with their answers (after stemming and splitting)\n\n")
	var rows [][]string
	n, zero := 0, 0
	for _, class := range world.Answerable {
		var of []int
		none, stems := 0, 0
		for _, c := range corpora {
			for i := range c.questions {
				if q := &c.questions[i]; q.Class == class {
					of = append(of, q.shared)
					stems += q.shared
					if !q.words() {
						none++
					}
				}
			}
		}
		slices.Sort(of)
		n, zero = n+len(of), zero+none
		if len(of) > 0 {
			rows = append(rows, []string{
				string(class), fmt.Sprint(len(of)), fmt.Sprintf("%.2f", float64(stems)/float64(len(of))), fmt.Sprint(of[len(of)/2]),
				fmt.Sprintf("%.0f %%", 100*float64(none)/float64(len(of))),
			})
		}
	}
	rows = append(rows, []string{"all", fmt.Sprint(n), "", "", fmt.Sprintf("%.0f %%", 100*float64(zero)/float64(max(1, n)))})
	table(out, []string{"class", "questions", "shared stems, mean", "median", "none shared"}, rows)
}
