package main

import (
	"context"
	"fmt"
	"slices"
)

// goal is one thing to measure; its lines come out together.
type goal struct {
	name string
	text string
	do   func(r *rig, ctx context.Context) ([]Result, error)
}

var goals = []goal{
	{"G1", "acquire and release, 16 clients", func(r *rig, ctx context.Context) ([]Result, error) { return r.lockPairs(ctx, "G1", 16) }},
	{"G2", "acquire and release, 64 clients", func(r *rig, ctx context.Context) ([]Result, error) { return r.lockPairs(ctx, "G2", 64) }},
	{"G3", "acquire and release, one client", (*rig).lockLatency},
	{"G4", "refused acquires", (*rig).refusals},
	{"G5", "20 keys in one call", (*rig).manyKeys},
	{"G8", "a claim at 1k, 100k and more tasks", (*rig).claims},
	{"G13", "an MCP tool call", (*rig).mcpCall},
	{"G15", "starting", (*rig).starting},
	{"GENERAL", "patterns and waiters: the general path of locks", (*rig).generalPath},
	{"CLAIMS", "16 claimers", (*rig).claimRate},
}

// measure runs the goals that were asked for.
func (r *rig) measure(ctx context.Context) ([]Result, error) {
	goals := slices.Concat(goals, runGoals, gatewayGoals, hookGoals)
	var known []string
	for _, g := range goals {
		known = append(known, g.name)
	}
	for _, name := range r.o.only {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-only: no goal %q; they are %v", name, known)
		}
	}
	var out []Result
	for _, g := range goals {
		if len(r.o.only) > 0 && !slices.Contains(r.o.only, g.name) {
			continue
		}
		r.say("%s: %s", g.name, g.text)
		lines, err := g.do(r, ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		out = append(out, lines...)
	}
	return out, nil
}
