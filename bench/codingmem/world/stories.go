package world

import (
	"fmt"
	"slices"
)

// story is a line of work on one subject, one to seven steps long; nil when every subject is taken in this session.
// Stories of a session have different subjects, so that the order in which they are told changes nothing.
func (h *history) story(busy map[string]bool) []step {
	length := [...]int{1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7}[h.rng.IntN(11)]
	if h.rng.Float64() < .3 {
		subject := [...]string{"purpose", "convention", "library"}[h.rng.IntN(3)]
		if busy[subject] {
			return nil
		}
		busy[subject] = true
		return h.projectStory(subject, min(length, 3))
	}
	c := pick(h.rng, h.comps)
	if busy[c.Type] {
		return nil
	}
	busy[c.Type] = true
	var steps []step
	for len(steps) < length {
		switch h.rng.IntN(10) {
		case 0, 1, 2:
			steps = append(steps, h.configure(c), h.configure(c))
		case 3, 4, 5:
			steps = append(steps, h.bug(c)...)
		case 6, 7:
			steps = append(steps, h.decide(c), h.adopt(c), h.own(c))
		default:
			steps = append(steps, h.observe(c), h.rework(c), h.observe(c))
		}
	}
	return steps[:length]
}

func (h *history) projectStory(subject string, length int) []step {
	var steps []step
	for range length {
		switch subject {
		case "purpose":
			steps = append(steps, h.command())
		case "convention":
			steps = append(steps, h.agree())
		default:
			steps = append(steps, h.bump())
		}
	}
	return steps
}

func (h *history) configure(c *Component) step {
	return func(first bool) *Event {
		rel := pick(h.rng, h.rows["set:"+c.Type])
		key := fmt.Sprintf("set:%s:%d", c.Type, rel)
		return h.set(&Event{Kind: Config, Comp: c, Rel: rel, First: first}, key, settings[rel].values)
	}
}

// set gives a fact another value, now and then its former one.
func (h *history) set(e *Event, key string, values []string) *Event {
	f := h.facts[key]
	if f == nil {
		return h.change(e, key, pick(h.rng, values))
	}
	if n := len(f.past); n > 0 && f.past[n-1] != f.value && h.rng.Float64() < .2 {
		e.Kind = Revert
		return h.change(e, key, f.past[n-1])
	}
	return h.change(e, key, other(h.rng, values, f.value))
}

func (h *history) decide(c *Component) step {
	return func(first bool) *Event {
		rel := pick(h.rng, h.rows["topic:"+c.Type])
		return h.set(&Event{Kind: Decision, Comp: c, Rel: rel, First: first}, fmt.Sprintf("topic:%s:%d", c.Type, rel), topics[rel].values)
	}
}

func (h *history) own(c *Component) step {
	return func(first bool) *Event {
		if len(h.rows["owner:"+c.Type]) == 0 {
			return nil
		}
		who := pick(h.rng, people) + " (" + pick(h.rng, teams) + ")"
		if f := h.facts["owner:"+c.Type]; f != nil && f.value == who {
			return nil
		}
		return h.change(&Event{Kind: Ownership, Comp: c, First: first}, "owner:"+c.Type, who)
	}
}

func (h *history) adopt(c *Component) step {
	return func(first bool) *Event {
		key := "uses:" + c.Type
		if h.facts[key] != nil {
			return nil
		}
		return h.change(&Event{Kind: Adoption, Comp: c, First: first}, key, pick(h.rng, h.libs))
	}
}

func (h *history) bump() step {
	return func(first bool) *Event {
		lib := pick(h.rng, h.libs)
		e, key := &Event{Kind: Dependency, First: first}, "lib:"+lib
		f := h.facts[key]
		if f != nil && len(f.past) > 0 && h.rng.Float64() < .15 {
			e.Kind = Revert
			return h.change(e, key, f.past[len(f.past)-1])
		}
		major, minor := 1+h.rng.IntN(3), h.rng.IntN(9)
		if f != nil {
			if _, err := fmt.Sscanf(f.value, "v%d.%d", &major, &minor); err != nil {
				panic("a version of " + lib + " is " + f.value)
			}
			if minor += 1 + h.rng.IntN(3); h.rng.Float64() < .2 {
				major, minor = major+1, 0
			}
		}
		return h.change(e, key, fmt.Sprintf("v%d.%d.%d", major, minor, h.rng.IntN(10)))
	}
}

func (h *history) agree() step {
	return func(first bool) *Event {
		rel := pick(h.rng, h.rows["convention"])
		key := fmt.Sprintf("convention:%d", rel)
		if h.facts[key] != nil && h.rng.Float64() < .7 {
			return nil
		}
		f := h.facts[key]
		if f == nil {
			return h.change(&Event{Kind: Convention, Rel: rel, First: first}, key, pick(h.rng, conventions[rel].values))
		}
		return h.change(&Event{Kind: Convention, Rel: rel, First: first}, key, other(h.rng, conventions[rel].values, f.value))
	}
}

// command finds that the known command still works or fails, in which case the next one found works.
func (h *history) command() step {
	return func(first bool) *Event {
		rel := pick(h.rng, h.rows["purpose"])
		key, gone := fmt.Sprintf("purpose:%d", rel), fmt.Sprintf("fails:%d", rel)
		f := h.facts[key]
		switch {
		case f == nil:
			return h.change(&Event{Kind: Works, Rel: rel, First: first}, key, pick(h.rng, purposes[rel].values))
		case h.facts[gone] != nil && h.facts[gone].value == f.value:
			return h.change(&Event{Kind: Works, Rel: rel, First: first}, key, other(h.rng, purposes[rel].values, f.value))
		case h.rng.Float64() < .5:
			e := h.change(&Event{Kind: Fails, Rel: rel, First: first, Why: pick(h.rng, failures)}, gone, f.value)
			e.Old = ""
			return e
		}
		return nil
	}
}

// bug is a report, its cause and its fix. A component has a symptom once and a cause once.
func (h *history) bug(c *Component) []step {
	var b *Bug
	tell := func(kind Kind, part string) step {
		return func(first bool) *Event {
			if b == nil {
				return nil
			}
			if kind == BugFix {
				h.edit(c)
			}
			return h.change(&Event{Kind: kind, Comp: c, Bug: b, First: first}, "bug:"+b.Code+":"+part, b.Code)
		}
	}
	begin := func(first bool) *Event {
		symptom, cause := h.rng.IntN(len(symptoms)), h.rng.IntN(len(causes))
		one, two := fmt.Sprintf("s%s%d", c.Type, symptom), fmt.Sprintf("c%s%d", c.Type, cause)
		if h.bugs[one] || h.bugs[two] {
			return nil
		}
		h.bugs[one], h.bugs[two] = true, true
		h.codes += 1 + h.rng.IntN(3)
		b = &Bug{Code: fmt.Sprintf("%s%03d", h.prefix, h.codes), Symptom: symptom, Cause: cause, Fix: cause}
		return tell(BugReport, "report")(first)
	}
	return []step{begin, tell(BugCause, "cause"), tell(BugFix, "fix")}
}

// observe writes down what the code does now.
func (h *history) observe(c *Component) step {
	return func(first bool) *Event {
		rel := pick(h.rng, h.rows["aspect:"+c.Type])
		key := fmt.Sprintf("aspect:%s:%d", c.Type, rel)
		f := h.facts[key]
		if f == nil {
			return h.change(&Event{Kind: Observation, Comp: c, Rel: rel, First: first}, key, pick(h.rng, aspects[rel].values))
		}
		if f.stated.Session == h.session && f.stated.Version == f.version {
			return nil // just seen
		}
		e := &Event{Kind: Observation, Comp: c, Rel: rel, First: first, Fact: key, New: f.value, Version: f.version}
		if f.stated.Version == f.version {
			e.Restates = f.stated
		}
		e = h.emit(e)
		f.stated = e
		return e
	}
}

// rework edits the file and now and then renames the function.
func (h *history) rework(c *Component) step {
	return func(first bool) *Event {
		h.edit(c)
		if h.rng.Float64() < .7 {
			return nil
		}
		name := c.Fn + pick(h.rng, []string{"Locked", "V2", "Batch", "Safe", "Now", "Strict"})
		if name == h.fn[c] {
			return nil
		}
		h.fn[c] = name
		return h.change(&Event{Kind: Rename, Comp: c, First: first}, "name:"+c.Type, name)
	}
}

// sortedKeys are the facts in a fixed order.
func (h *history) sortedKeys() []string { return slices.Sorted(slices.Values(h.keys)) }
