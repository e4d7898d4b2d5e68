package world

import (
	"fmt"
	"slices"
	"strings"
)

// asker makes the questions of one project.
type asker struct {
	*history
	byFact map[string][]*Memory // in the order of time
	marks  []*Event
	seen   map[string]bool
}

// ask makes the project's questions from its log. others are the histories of all projects.
func (h *history) ask(self int, others []*history) {
	a := &asker{history: h, byFact: map[string][]*Memory{}, seen: map[string]bool{}}
	for _, m := range h.p.Memories {
		if m.Event.Fact != "" {
			a.byFact[m.Event.Fact] = append(a.byFact[m.Event.Fact], m)
		}
		if m.Event.Kind == Milestone {
			a.marks = append(a.marks, m.Event)
		}
	}
	one := map[Class]func() *Question{
		Exact: a.exact, Paraphrase: a.paraphrase, Temporal: a.temporal, Evolving: a.evolving, MultiHop: a.multiHop,
		CrossAgent: a.crossAgent, Procedural: a.procedural, Freshness: a.freshness,
		Absence: func() *Question { return a.absence(self, others) },
	}
	for _, class := range []Class{Exact, Paraphrase, Temporal, Evolving, MultiHop, CrossAgent, Procedural, Freshness, Absence} {
		n := h.size.PerClass
		if class == Absence {
			n = 2*n + 2
		}
		a.collect(class, n, one[class])
	}
}

// collect asks for questions until there are n different ones or enough was tried.
func (a *asker) collect(class Class, n int, one func() *Question) {
	for tries := 0; n > 0 && tries < 400; tries++ {
		q := one()
		if q == nil || a.seen[q.Text] {
			continue
		}
		a.seen[q.Text] = true
		q.Class = class
		q.ID = fmt.Sprintf("%s/%s/%d", a.p.Name, class, n)
		if q.Agent == "" {
			q.Agent = pick(a.rng, a.agents).name
		}
		a.p.Questions = append(a.p.Questions, q)
		n--
	}
}

// keysOf are the stated facts of some kinds, in a fixed order.
func (a *asker) keysOf(kinds ...string) []string {
	return slices.DeleteFunc(a.sortedKeys(), func(k string) bool {
		kind, _, _ := strings.Cut(k, ":")
		return !slices.Contains(kinds, kind)
	})
}

// present is the fact as it holds at the end: Best are the statements of the present version.
func (a *asker) present(key string) Fact {
	var f Fact
	cur := a.facts[key]
	for _, m := range a.byFact[key] {
		switch {
		case m.Event.New == cur.value && m.Event.Version == cur.version:
			f.Best = append(f.Best, m.ID)
		case m.Event.New == cur.value:
			f.Also = append(f.Also, m.ID)
		}
	}
	return f
}

// statements of a bug's part.
func (a *asker) part(code, part string) []int64 {
	return ids(a.byFact["bug:"+code+":"+part], func(*Memory) bool { return true })
}

func ids(list []*Memory, keep func(*Memory) bool) []int64 {
	var out []int64
	for _, m := range list {
		if keep(m) {
			out = append(out, m.ID)
		}
	}
	return out
}

func (a *asker) exact() *Question {
	switch a.rng.IntN(4) {
	case 0, 1: // an error code
		key := pick(a.rng, a.keysOf("bug"))
		b := a.facts[key].stated.Bug
		q := &Question{Text: a.wording(askCode, "", "", "{code}", b.Code)}
		report, cause, fix := a.part(b.Code, "report"), a.part(b.Code, "cause"), a.part(b.Code, "fix")
		if len(cause) == 0 {
			q.Facts = []Fact{{Best: report}}
			return q
		}
		q.Facts = []Fact{{Best: cause, Also: report}}
		if len(fix) > 0 {
			q.Facts = append(q.Facts, Fact{Best: fix})
		}
		return q
	case 2: // a symbol or path and a setting
		keys := a.keysOf("set", "topic")
		e := a.facts[pick(a.rng, keys)].stated
		rel, _ := a.subject(e, sharing{rel: true})
		return &Question{Text: pick(a.rng, []string{e.Comp.Type, e.Comp.Path}) + " " + rel, Facts: []Fact{a.present(e.Fact)}}
	}
	keys := a.keysOf("name")
	if len(keys) == 0 {
		return nil
	}
	e := a.byFact[pick(a.rng, keys)][0].Event
	return &Question{
		Text:  pick(a.rng, []string{e.Old + "?", "where is " + e.New + " from", e.New, "what became of " + e.New}),
		Facts: []Fact{{Best: ids(a.byFact[e.Fact], func(m *Memory) bool { return m.Event.Old == e.Old || m.Event.New == e.New })}},
	}
}

func (a *asker) paraphrase() *Question {
	keys := a.keysOf("set", "topic", "bug", "aspect", "convention", "owner")
	key := pick(a.rng, keys)
	e := a.facts[key].stated
	how := a.shareKind(e.Comp != nil)
	switch {
	case e.Bug != nil:
		return a.aboutBug(e, how)
	case strings.HasPrefix(key, "aspect:"):
		f := a.present(key)
		if len(f.Best) == 0 {
			return nil
		}
		rel, comp := a.subject(e, how)
		return &Question{Text: a.wording(askObserved, rel, comp), Facts: []Fact{f}}
	case strings.HasPrefix(key, "convention:"):
		rel, _ := a.subject(e, how)
		return &Question{Text: a.wording(askRule, rel, ""), Facts: []Fact{a.present(key)}}
	case strings.HasPrefix(key, "topic:"):
		rel, comp := a.subject(e, how)
		return &Question{Text: a.wording(askChoice, rel, comp), Facts: []Fact{a.present(key)}}
	}
	rel, comp := a.subject(e, how)
	return &Question{Text: a.wording(askValue, rel, comp), Facts: []Fact{a.present(key)}}
}

// aboutBug asks why something happens, or whether a cause was met.
func (a *asker) aboutBug(e *Event, how sharing) *Question {
	b := e.Bug
	cause := a.part(b.Code, "cause")
	if len(cause) == 0 {
		return nil
	}
	f := Fact{Best: cause, Also: append(a.part(b.Code, "report"), a.part(b.Code, "fix")...)}
	comp := a.compName(e.Comp, how.comp)
	if a.rng.Float64() < .5 {
		return &Question{Text: a.wording(askCause, a.relName(causes[b.Cause], how.rel), comp), Facts: []Fact{f}}
	}
	return &Question{Text: a.wording(askWhy, a.relName(symptoms[b.Symptom], how.rel), comp), Facts: []Fact{f}}
}

// versions are the first statements of each version of a fact.
func (a *asker) versions(key string) []*Event {
	var out []*Event
	for _, m := range a.byFact[key] {
		if e := m.Event; e.Restates == nil && (len(out) == 0 || out[len(out)-1].Version < e.Version) {
			out = append(out, e)
		}
	}
	return out
}

func (a *asker) temporal() *Question {
	key := pick(a.rng, a.keysOf("set", "topic", "owner", "lib"))
	v := a.versions(key)
	if len(v) < 2 {
		return nil
	}
	rel, comp := a.subject(v[0], a.shareKind(v[0].Comp != nil))
	var asked *Event
	var text string
	switch x := a.rng.Float64(); {
	case x < .5:
		mark := pick(a.rng, a.marks)
		i := slices.IndexFunc(v, func(e *Event) bool { return e.At.After(mark.At) })
		if i < 1 {
			return nil
		}
		asked, text = v[i-1], a.wording(askBeforeMark, rel, comp, "{mark}", mark.New)
	case x < .75 || len(v) < 3:
		asked, text = v[len(v)-2], a.wording(askPrevious, rel, comp)
	default:
		asked, text = v[0], a.wording(askFirst, rel, comp)
	}
	f := Fact{Best: ids(a.byFact[key], func(m *Memory) bool { return m.Event.Version == asked.Version })}
	f.Also = ids(a.byFact[key], func(m *Memory) bool { return m.Event.Version == asked.Version+1 }) // says what it was
	return &Question{Text: text, Facts: []Fact{f}}
}

func (a *asker) evolving() *Question {
	key := pick(a.rng, a.keysOf("set", "topic", "owner", "lib"))
	v := a.versions(key)
	if len(v) < 2 {
		return nil
	}
	rel, comp := a.subject(v[0], a.shareKind(v[0].Comp != nil))
	f, value := a.present(key), a.facts[key].value
	return &Question{
		Text: a.wording(askCurrent, rel, comp), Facts: []Fact{f}, Latest: f.Best,
		Older: ids(a.byFact[key], func(m *Memory) bool { return m.Event.New != value }),
	}
}
