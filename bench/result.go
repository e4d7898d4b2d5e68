package main

import (
	"fmt"
	"slices"
)

// Result is one line of the report. Ours and Theirs are medians of the rounds.
type Result struct {
	Goal    string   `json:"goal"`
	What    string   `json:"what"`
	Ours    *Figure  `json:"ours,omitempty"`
	Theirs  *Figure  `json:"yardstick,omitempty"`
	Value   float64  `json:"value"` // what floor and stretch are about: a ratio unless Unit says otherwise
	Unit    string   `json:"unit"`
	Range   string   `json:"range,omitempty"` // lowest and highest round
	Floor   *float64 `json:"floor,omitempty"`
	Stretch *float64 `json:"stretch,omitempty"`
	Less    bool     `json:"less_is_better,omitempty"`
	Verdict string   `json:"verdict"`
	Note    string   `json:"note,omitempty"`
}

// Figure is a raw measurement.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Verdicts.
const (
	verdictOK      = "ok"
	verdictStretch = "ok, stretch"
	verdictBelow   = "BELOW FLOOR"
	verdictInfo    = "reported"
)

// compare makes a line from alternating rounds: value is ours over theirs.
func compare(goal, what string, p pair, ours, theirs, unit string) Result {
	res := Result{
		Goal: goal, What: what, Value: median(p.Ratios), Unit: "x", Verdict: verdictInfo,
		Ours: &Figure{ours, p.Ours, unit}, Theirs: &Figure{theirs, p.Theirs, unit},
	}
	if len(p.Ratios) > 1 {
		res.Range = fmt.Sprintf("%.2f–%.2f", slices.Min(p.Ratios), slices.Max(p.Ratios))
	}
	return res
}

// atLeast judges a value that should be high.
func (r Result) atLeast(floor, stretch float64) Result {
	r.Floor, r.Stretch = &floor, &stretch
	return r.judge(r.Value >= floor, r.Value >= stretch)
}

// atMost judges a value that should be low.
func (r Result) atMost(floor, stretch float64) Result {
	r.Floor, r.Stretch, r.Less = &floor, &stretch, true
	return r.judge(r.Value <= floor, r.Value <= stretch)
}

func (r Result) judge(held, stretched bool) Result {
	switch {
	case !held:
		r.Verdict = verdictBelow
	case stretched:
		r.Verdict = verdictStretch
	default:
		r.Verdict = verdictOK
	}
	return r
}

// with adds a note.
func (r Result) with(format string, a ...any) Result {
	r.Note = fmt.Sprintf(format, a...)
	return r
}
