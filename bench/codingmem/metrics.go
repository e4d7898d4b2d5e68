package main

import (
	"math"
	"slices"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// recallAt is the share of an answer's facts of which at least one best statement is among the first k.
func recallAt(facts []world.Fact, ids []int64, k int) float64 {
	top := ids[:min(k, len(ids))]
	found := 0
	for _, f := range facts {
		if slices.ContainsFunc(f.Best, func(id int64) bool { return slices.Contains(top, id) }) {
			found++
		}
	}
	return float64(found) / float64(len(facts))
}

// reciprocal is 1 over the place of the first best statement of any fact; 0 when there is none.
func reciprocal(facts []world.Fact, ids []int64) float64 {
	for i, id := range ids {
		for _, f := range facts {
			if slices.Contains(f.Best, id) {
				return 1 / float64(i+1)
			}
		}
	}
	return 0
}

// ndcg is the discounted gain of the first k. The first statement of a fact found gains 2 (3 in the usual 2^g−1), any
// further one of the same fact and what merely touches it 1: a duplicate is neither worthless nor a second answer.
func ndcg(facts []world.Fact, ids []int64, k int) float64 {
	const whole, part = 3, 1 // 2^2−1, 2^1−1
	told := make([]bool, len(facts))
	dcg := 0.
	for i, id := range ids[:min(k, len(ids))] {
		gain := 0.
		for j, f := range facts {
			switch {
			case slices.Contains(f.Best, id) && !told[j]:
				told[j], gain = true, max(gain, whole)
			case slices.Contains(f.Best, id), slices.Contains(f.Also, id):
				gain = max(gain, part)
			}
		}
		dcg += gain / math.Log2(float64(i+2))
	}
	ideal, place := 0., 0
	for range facts {
		ideal += whole / math.Log2(float64(place+2))
		place++
	}
	for _, f := range facts {
		for range len(f.Best) - 1 + len(f.Also) {
			if place < k {
				ideal += part / math.Log2(float64(place+2))
			}
			place++
		}
	}
	return min(1, dcg/ideal)
}

// latestFirst reports whether of all statements of an evolving fact among ids a latest one comes first.
func latestFirst(latest, older, ids []int64) bool {
	for _, id := range ids {
		if slices.Contains(latest, id) {
			return true
		}
		if slices.Contains(older, id) {
			return false
		}
	}
	return false
}

// density is how many facts and how many tokens an agent gets that reads the memories in order and leaves out those that
// no longer fit the budget.
func density(facts []world.Fact, ids []int64, budget int, cost func(int64) int) (gold, used int) {
	var read []int64
	for _, id := range ids {
		if n := cost(id); used+n <= budget {
			used += n
			read = append(read, id)
		}
	}
	for _, f := range facts {
		if slices.ContainsFunc(f.Best, func(id int64) bool { return slices.Contains(read, id) }) {
			gold++
		}
	}
	return gold, used
}

// absentF1 is the F1 of saying "absent", with absences weighted so that there is one to ratio answerable questions,
// whatever their numbers are. Counts: absences called absent, absences, answerable ones called absent, answerable ones.
func absentF1(hit, absences, wrong, answerable int, ratio float64) float64 {
	if absences == 0 || answerable == 0 {
		return 0
	}
	weight := float64(answerable) / ratio / float64(absences)
	tp := weight * float64(hit)
	fn := weight * float64(absences-hit)
	return 2 * tp / (2*tp + fn + float64(wrong))
}

// interval is a mean with half the width of its 95 % confidence interval by Student's t.
type interval struct {
	mean, half float64
	n          int
}

// student are the two-sided 95 % points for 1, 2, … degrees of freedom.
var student = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262}

func confidence(values []float64) interval {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := len(v)
	if n == 0 {
		return interval{mean: math.NaN(), half: math.NaN()}
	}
	mean := 0.
	for _, x := range v {
		mean += x / float64(n)
	}
	if n == 1 {
		return interval{mean: mean, half: math.NaN(), n: 1}
	}
	sum := 0.
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	t := 1.96
	if n-2 < len(student) {
		t = student[n-2]
	}
	return interval{mean: mean, half: t * math.Sqrt(sum/float64(n-1)/float64(n)), n: n}
}

// percentile sorts values and returns the one at p (0…1).
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[min(int(p*float64(len(values))), len(values)-1)]
}
