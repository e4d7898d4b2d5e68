package world

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Build makes the world of a seed. The same seed and size give the same world.
func Build(seed uint64, size Size) *World {
	w := &World{Seed: seed, Start: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)}
	w.End = w.Start.Add((days + 2) * 24 * time.Hour)
	var all []*history
	for i := range size.Projects {
		rng := rand.New(rand.NewPCG(seed, uint64(i)+1))
		h := newHistory(rng, size, projectNames[i%len(projectNames)])
		h.run(w.Start)
		h.write()
		all = append(all, h)
		w.Projects = append(w.Projects, h.p)
	}
	for i, h := range all {
		h.ask(i, all)
	}
	return w
}

// write renders the log, and the notes on what works, in the order of time.
func (h *history) write() {
	said := map[string]bool{}
	seqs := map[int]int{}
	add := func(e *Event) *Memory {
		m := h.render(e)
		for range 5 {
			if !said[e.Agent+m.EventType+m.Summary] {
				break
			}
			m = h.render(e)
		}
		if key := e.Agent + m.EventType + m.Summary; said[key] {
			m.Summary += " (" + e.At.Format("Jan 2 15:04") + ")" // the service would merge it
		} else {
			said[key] = true
		}
		m.ID, m.Session = int64(len(h.p.Memories)+1), e.Session
		h.p.Memories = append(h.p.Memories, m)
		return m
	}
	skills := h.skills()
	for _, e := range h.p.Log {
		m := add(e)
		seqs[e.Session]++
		m.Seq = seqs[e.Session]
		if s := skills[e]; s != nil {
			k := add(s)
			k.Skill, k.Success, k.Session, k.Seq = true, 40+h.rng.IntN(60), -1, 0
		}
	}
	for _, m := range h.p.Memories {
		m.Stale = m.Digest != "" && m.Digest != h.p.Digests[m.Path]
	}
}

// skills are notes on how to do what the present commands do, each written after the event that found the command.
func (h *history) skills() map[*Event]*Event {
	out := map[*Event]*Event{}
	for _, key := range h.sortedKeys() {
		f := h.facts[key]
		if f.stated.Kind != Works || h.rng.Float64() < .3 {
			continue
		}
		s := *f.stated
		s.Kind, s.Restates = Skill, f.stated
		s.At = s.At.Add(30 * time.Second)
		out[f.stated] = &s
	}
	return out
}

// render writes a memory about an event.
func (h *history) render(e *Event) *Memory {
	t := h.template(e)
	fill := h.slots(e)
	noisy := t.reg == terse || t.reg == logline
	m := &Memory{Event: e, EventType: typeNames[e.Kind], Summary: h.noise(fill.Replace(t.sum), noisy)}
	if t.lesson != "" && h.rng.Float64() < .8 {
		m.Lessons = []string{h.noise(fill.Replace(t.lesson), noisy)}
	}
	if t.details != "" {
		m.Details = map[string]string{t.key: fill.Replace(t.details)}
	}
	switch e.Kind {
	case BugFix, Works:
		m.Outcome = "success"
	case Fails:
		m.Outcome = "failure"
	}
	if h.rng.Float64() < .5 {
		m.Tags = []string{typeNames[e.Kind]}
		if e.Comp != nil && h.rng.Float64() < .6 {
			m.Tags = append(m.Tags, slug(e.Comp))
		}
	}
	switch {
	case e.Bound:
		m.Path, m.Digest = e.Comp.Path, e.Digest
	case e.Comp != nil && h.rng.Float64() < .25:
		m.Path = e.Comp.Path
	}
	return m
}

// template chooses one that the event allows, most often in the register of its writer.
func (h *history) template(e *Event) template {
	bare := !e.First && e.Restates == nil
	switch e.Kind {
	case Config, Ownership, Decision, Adoption:
		bare = bare && h.rng.Float64() < .15
	default:
		bare = bare && h.rng.Float64() < .3
	}
	own := vendorRegister(e.Vendor)
	like := h.rng.Float64() < .6
	var fit, fitOwn []template
	for _, t := range templates[e.Kind] {
		if t.bare != bare && bare || t.bare && !bare {
			continue
		}
		fit = append(fit, t)
		if t.reg == own {
			fitOwn = append(fitOwn, t)
		}
	}
	if len(fit) == 0 { // the type has no bare ones
		for _, t := range templates[e.Kind] {
			if !t.bare {
				fit = append(fit, t)
			}
		}
	}
	if like && len(fitOwn) > 0 {
		return pick(h.rng, fitOwn)
	}
	return pick(h.rng, fit)
}

func vendorRegister(name string) register {
	i := slices.IndexFunc(vendors, func(v vendor) bool { return v.name == name })
	return vendors[i].register
}

// slots are the values of an event's template.
func (h *history) slots(e *Event) *strings.Replacer {
	s := map[string]string{"{new}": e.New, "{old}": e.Old, "{why}": e.Why, "{agent}": e.Agent, "{subject}": e.New}
	if e.Old == "" {
		s["{old}"] = "the default"
		if e.Kind == Ownership {
			s["{old}"] = "nobody"
		}
	}
	if c := e.Comp; c != nil {
		s["{cmp}"], s["{sym}"], s["{path}"], s["{slug}"], s["{fn}"] = c.Noun, c.Type, c.Path, slug(c), e.Fn
		s["{subject}"] = pick(h.rng, []string{"the " + c.Noun, c.Type})
	}
	if b := e.Bug; b != nil {
		s["{code}"], s["{fix}"] = b.Code, fixes[b.Fix]
		s["{symptom}"], s["{cause}"] = pick(h.rng, symptoms[b.Symptom].doc), pick(h.rng, causes[b.Cause].doc)
	}
	if lib, ok := strings.CutPrefix(e.Fact, "lib:"); ok {
		s["{lib}"], s["{subject}"], s["{slug}"], s["{rel}"] = lib, lib, lib, "version"
	}
	if table := tableOf(e.Fact); table != nil {
		s["{rel}"], s["{key}"] = pick(h.rng, table[e.Rel].doc), table[e.Rel].key
	}
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(s)) {
		pairs = append(pairs, k, s[k])
	}
	return strings.NewReplacer(pairs...)
}

// tableOf is the table that a fact's relation is a row of; nil when it has none.
func tableOf(fact string) []phrase {
	kind, _, _ := strings.Cut(fact, ":")
	return map[string][]phrase{
		"set": settings, "topic": topics, "aspect": aspects, "convention": conventions, "purpose": purposes, "fails": purposes,
	}[kind]
}

func slug(c *Component) string { return strings.ReplaceAll(c.Noun, " ", "-") }

// noise puts in what hurried writers do: letters swapped in long words, and in some registers shorthand.
func (h *history) noise(s string, hurried bool) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		if short, ok := shorthand[w]; ok && hurried {
			words[i] = short
			continue
		}
		if len(w) >= 6 && plainWord(w) && h.rng.Float64() < .015 {
			at := 1 + h.rng.IntN(len(w)-3)
			words[i] = w[:at] + w[at+1:at+2] + w[at:at+1] + w[at+2:]
		}
	}
	return strings.Join(words, " ")
}

func plainWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}
