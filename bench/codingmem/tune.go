package main

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// tune chooses the parameters of the BM25 baseline on the dev seeds.
func tune(ctx context.Context, o *options, out io.Writer) error {
	size := world.Full
	if o.quick {
		size = world.Quick
	}
	var worlds [][]*corpus
	for _, seed := range devSeeds[:min(o.worlds, 3)] {
		worlds = append(worlds, corporaOf(world.Build(seed, size)))
	}
	top, bestF1 := bm25{}, 0.
	found := -1.
	for _, k1 := range []float64{.4, .8, 1.2, 1.6, 2.4} {
		for _, b := range []float64{0, .2, .4, .6, .75, .9} {
			t, err := tuned(ctx, worlds, bm25{k1: k1, b: b})
			if err != nil {
				return err
			}
			r := t.mean("R@10/every/words")
			fmt.Fprintf(out, "k1 %.1f b %.2f: R@10 words %.2f\n", k1, b, 100*r)
			if r > found {
				found, top = r, bm25{k1: k1, b: b}
			}
		}
	}
	for below := .1; below < .9; below += .05 {
		try := top
		try.below = below
		t, err := tuned(ctx, worlds, try)
		if err != nil {
			return err
		}
		f1 := t.absence(absenceRatio, false)
		fmt.Fprintf(out, "below %.2f: F1 %.3f\n", below, f1)
		if f1 > bestF1 {
			bestF1, top.below = f1, below
		}
	}
	fmt.Fprintf(out, "best: k1 %.1f b %.2f below %.2f\n", top.k1, top.b, top.below)
	return nil
}

func tuned(ctx context.Context, worlds [][]*corpus, s bm25) (*tally, error) {
	all := newTally()
	for _, w := range worlds {
		got, err := evaluate(ctx, w, []named{{"x", s.over}})
		if err != nil {
			return nil, err
		}
		all.join(got["x"])
	}
	return all, nil
}
