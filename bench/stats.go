package main

import (
	"cmp"
	"slices"
)

// percentile sorts values and returns the one at p (0…1), the zero value when there is none.
func percentile[T cmp.Ordered](values []T, p float64) T {
	var zero T
	if len(values) == 0 {
		return zero
	}
	slices.Sort(values)
	return values[min(int(p*float64(len(values))), len(values)-1)]
}

// median is the middle value, or the mean of the two middle ones.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

// side is one of the two things compared: one short measurement.
type side func() (float64, error)

// pair is what alternating rounds gave.
type pair struct {
	Ours, Theirs float64   // medians
	Ratios       []float64 // per round, ours over theirs
}

// alternate measures both sides in every round, changing who goes first, so that drift of the machine hits both.
func (r *rig) alternate(ours, theirs side) (pair, error) {
	var p pair
	var a, b []float64
	for i := range r.o.rounds {
		var x, y float64
		var err error
		for _, mine := range []bool{i%2 == 0, i%2 != 0} {
			if mine {
				x, err = ours()
			} else {
				y, err = theirs()
			}
			if err != nil {
				return p, err
			}
		}
		a, b = append(a, x), append(b, y)
		if y != 0 {
			p.Ratios = append(p.Ratios, x/y)
		}
	}
	p.Ours, p.Theirs = median(a), median(b)
	return p, nil
}
