package world

import "fmt"

// multiHop asks for what two memories say together.
func (a *asker) multiHop() *Question {
	how := a.shareKind(true)
	if a.rng.Float64() < .5 {
		key := pick(a.rng, a.keysOf("bug"))
		e := a.facts[key].stated
		owner := a.facts["owner:"+e.Comp.Type]
		if owner == nil {
			return nil
		}
		bug := Fact{Best: a.part(e.Bug.Code, "report"), Also: a.part(e.Bug.Code, "cause")}
		text := a.wording(askOwnerOfBug, a.relName(symptoms[e.Bug.Symptom], how.rel), a.compName(e.Comp, how.comp))
		return &Question{Text: text, Facts: []Fact{bug, a.present("owner:" + e.Comp.Type)}}
	}
	keys := a.keysOf("uses")
	if len(keys) == 0 {
		return nil
	}
	e := a.facts[pick(a.rng, keys)].stated
	if a.facts["lib:"+e.New] == nil {
		return nil
	}
	text := a.wording(askEditionBehind, "", a.compName(e.Comp, how.comp))
	return &Question{Text: text, Facts: []Fact{a.present(e.Fact), a.present("lib:" + e.New)}}
}

// crossAgent asks for what an agent of another vendor wrote, in half of the questions by the vendor's name.
func (a *asker) crossAgent() *Question {
	key := pick(a.rng, a.keysOf("set", "topic", "bug", "aspect"))
	q := a.crossQuestion(key)
	if q == nil {
		return nil
	}
	writer := a.p.Memories[q.Facts[0].Best[0]-1].Event.Vendor
	for _, who := range a.rng.Perm(len(a.agents)) {
		if a.agents[who].vendor.name != writer {
			q.Agent = a.agents[who].name
		}
	}
	if q.Agent == "" {
		return nil
	}
	if a.rng.Float64() < .5 {
		return q
	}
	q.Text = fmt.Sprintf(pick(a.rng, []string{"%s, perhaps: %s", "what %s told: %s", "%s might know: %s", "from %s, %s", "according to %s, %s"}), writer, q.Text)
	f := &q.Facts[0]
	var best []int64
	for _, id := range f.Best {
		if a.p.Memories[id-1].Event.Vendor == writer {
			best = append(best, id)
		} else {
			f.Also = append(f.Also, id)
		}
	}
	f.Best = best
	return q
}

func (a *asker) crossQuestion(key string) *Question {
	e := a.facts[key].stated
	how := a.shareKind(true)
	if e.Bug != nil {
		return a.aboutBug(e, how)
	}
	f := a.present(key)
	if len(f.Best) == 0 {
		return nil
	}
	rel, comp := a.subject(e, how)
	kind := askValue
	switch e.Kind {
	case Observation:
		kind = askObserved
	case Decision:
		kind = askChoice
	}
	return &Question{Text: a.wording(kind, rel, comp), Facts: []Fact{f}}
}

// procedural asks how something is done here.
func (a *asker) procedural() *Question {
	if a.rng.Float64() < .25 {
		key := pick(a.rng, a.keysOf("convention"))
		rel, _ := a.subject(a.facts[key].stated, a.shareKind(false))
		return &Question{Text: a.wording(askRule, rel, ""), Facts: []Fact{a.present(key)}}
	}
	key := pick(a.rng, a.keysOf("purpose"))
	e := a.facts[key].stated
	if gone := a.facts[fmt.Sprintf("fails:%d", e.Rel)]; gone != nil && gone.value == e.New {
		return nil // nothing is known to work
	}
	rel, _ := a.subject(e, a.shareKind(false))
	return &Question{Text: a.wording(askHow, rel, ""), Facts: []Fact{a.present(key)}}
}

// freshness asks what code does, in plain words, where something true was observed.
func (a *asker) freshness() *Question {
	key := pick(a.rng, a.keysOf("aspect"))
	e, value := a.facts[key].stated, a.facts[key].value
	q := &Question{
		Facts:    []Fact{{Best: ids(a.byFact[key], func(m *Memory) bool { return m.Event.New == value })}},
		Outdated: ids(a.byFact[key], func(m *Memory) bool { return m.Event.New != value }),
	}
	if len(q.Facts[0].Best) == 0 {
		return nil
	}
	rel, comp := a.subject(e, sharing{true, true})
	q.Text = a.wording(askObserved, rel, comp)
	return q
}

// absence asks, in the words of questions that have an answer, for something that nobody wrote down here: a known part
// with a relation it lacks, a part that only other projects have, an error code beside the known ones.
func (a *asker) absence(self int, others []*history) *Question {
	how := pick(a.rng, []sharing{{rel: true}, {comp: true}, {true, true}})
	switch x := a.rng.Float64(); {
	case x < .15:
		code := fmt.Sprintf("%s%03d", a.prefix, 1+a.rng.IntN(max(1, a.codes)))
		if a.facts["bug:"+code+":report"] != nil {
			return nil
		}
		return &Question{Text: a.wording(askCode, "", "", "{code}", code)}
	case x < .35:
		o := others[(self+1+a.rng.IntN(max(1, len(others)-1)))%len(others)]
		c := pick(a.rng, o.comps)
		if _, here := a.fn[c]; here || o == a.history {
			return nil
		}
		return a.lacking(c, sharing{true, true}, true)
	}
	return a.lacking(pick(a.rng, a.comps), how, false)
}

// lacking asks for a relation that a component does not have in this project.
func (a *asker) lacking(c *Component, how sharing, foreign bool) *Question {
	comp := a.compName(c, how.comp)
	q := &Question{Foreign: foreign}
	switch a.rng.IntN(5) {
	case 0, 1:
		rel := a.rng.IntN(len(settings))
		if a.facts[fmt.Sprintf("set:%s:%d", c.Type, rel)] != nil {
			return nil
		}
		q.Text = a.wording(pick(a.rng, []askedKind{askValue, askCurrent}), a.relName(settings[rel], how.rel), comp)
	case 2:
		rel := a.rng.IntN(len(topics))
		if a.facts[fmt.Sprintf("topic:%s:%d", c.Type, rel)] != nil {
			return nil
		}
		q.Text = a.wording(askChoice, a.relName(topics[rel], how.rel), comp)
	case 3:
		rel := a.rng.IntN(len(symptoms))
		if a.bugs[fmt.Sprintf("s%s%d", c.Type, rel)] {
			return nil
		}
		q.Text = a.wording(askWhy, a.relName(symptoms[rel], how.rel), comp)
	default:
		rel := a.rng.IntN(len(aspects))
		if a.facts[fmt.Sprintf("aspect:%s:%d", c.Type, rel)] != nil {
			return nil
		}
		q.Text = a.wording(askObserved, a.relName(aspects[rel], how.rel), comp)
	}
	return q
}
