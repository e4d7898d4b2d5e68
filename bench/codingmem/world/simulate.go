package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// days is how long a world lasts.
const days = 240

// history is a project while it is being simulated.
type history struct {
	rng    *rand.Rand
	size   Size
	p      *Project
	comps  []*Component
	fn     map[*Component]string
	rows   map[string][]int // which rows of a table a component, or the project, has at all
	facts  map[string]*fact
	keys   []string // of facts, in the order of their first statement
	hot    []string // facts that are said again and again
	digest map[string]int
	bugs   map[string]bool
	prefix string
	codes  int
	agents []agent
	libs   []string

	session int
	now     time.Time
	by      agent
}

type agent struct {
	name   string
	vendor vendor
}

// fact is the present state of a fact and the event that stated it first in this version.
type fact struct {
	value   string
	past    []string
	version int
	stated  *Event
}

// step does one thing in a session; it returns nil when there is nothing to do.
type step func(first bool) *Event

func newHistory(rng *rand.Rand, size Size, name string) *history {
	h := &history{
		rng: rng, size: size, p: &Project{Name: name, Digests: map[string]string{}}, fn: map[*Component]string{},
		rows: map[string][]int{}, facts: map[string]*fact{}, digest: map[string]int{}, bugs: map[string]bool{},
	}
	for _, i := range rng.Perm(len(components))[:20] {
		c := &components[i]
		h.comps = append(h.comps, c)
		h.fn[c] = c.Fn
		h.facts["name:"+c.Type] = &fact{value: c.Fn}
		h.rows["set:"+c.Type] = rng.Perm(len(settings))[:3+rng.IntN(3)]
		h.rows["topic:"+c.Type] = rng.Perm(len(topics))[:1+rng.IntN(3)]
		h.rows["aspect:"+c.Type] = rng.Perm(len(aspects))[:2+rng.IntN(3)]
		h.rows["owner:"+c.Type] = rng.Perm(10)[:rng.IntN(10)/3] // none for a third of them
	}
	h.rows["purpose"] = rng.Perm(len(purposes))[:10]
	h.rows["convention"] = rng.Perm(len(conventions))[:7]
	for _, i := range rng.Perm(len(libraries))[:8] {
		h.libs = append(h.libs, libraries[i])
	}
	h.prefix = fmt.Sprintf("%c%d", "EFXQ"[rng.IntN(4)], 1+rng.IntN(8))
	for i := range 5 + rng.IntN(4) {
		v := vendors[rng.IntN(len(vendors))]
		h.agents = append(h.agents, agent{fmt.Sprintf("%s-%d", v.name, i+1), v})
	}
	return h
}

// run simulates all sessions.
func (h *history) run(start time.Time) {
	n := max(4, int(float64(h.size.Sessions)*(.6+.8*h.rng.Float64())))
	marks := h.rng.Perm(len(milestones))[:4]
	for i := range n {
		h.session = i
		h.now = start.Add(time.Duration(float64(i)/float64(n)*days*24) * time.Hour).Add(time.Duration(h.rng.IntN(600)) * time.Minute)
		if n := len(h.p.Log); n > 0 && h.now.Before(h.p.Log[n-1].At.Add(time.Hour)) {
			h.now = h.p.Log[n-1].At.Add(time.Hour)
		}
		h.by = h.agents[h.rng.IntN(len(h.agents))]
		if k := i * 5 / n; k > 0 && k != (i-1)*5/n {
			h.emit(&Event{Kind: Milestone, New: milestones[marks[k-1]], First: true})
		}
		h.work(max(3, int(float64(h.size.Events)*(.5+h.rng.Float64()))))
	}
	for _, c := range h.comps {
		h.p.Digests[c.Path] = h.digestOf(c.Path)
	}
}

// work does one session: several stories at a time, in stretches, with other things in between.
func (h *history) work(events int) {
	var open [][]step
	begun := map[int]bool{}
	busy := map[string]bool{}
	ids := []int{}
	next := 0
	for done := 0; done < events; {
		if len(open) < 2 || h.rng.Float64() < .1 {
			if s := h.story(busy); s != nil {
				open, ids = append(open, s), append(ids, next)
				next++
			}
		}
		switch x := h.rng.Float64(); {
		case x < .10 || len(open) == 0:
			h.chatter()
		case x < .20:
			h.restate(busy)
		default:
			i := h.rng.IntN(len(open))
			for stretch := 1 + h.rng.IntN(3); stretch > 0 && len(open[i]) > 0; stretch-- {
				if e := open[i][0](!begun[ids[i]]); e != nil {
					begun[ids[i]] = true
					done++
				}
				open[i] = open[i][1:]
			}
			if len(open[i]) == 0 {
				open, ids = slices.Delete(open, i, i+1), slices.Delete(ids, i, i+1)
			}
			continue
		}
		done++
	}
}

// emit puts an event into the log at the present time.
func (h *history) emit(e *Event) *Event {
	h.now = h.now.Add(time.Duration(60+h.rng.IntN(480)) * time.Second)
	e.ID, e.At, e.Session, e.Agent, e.Vendor = len(h.p.Log)+1, h.now, h.session, h.by.name, h.by.vendor.name
	if e.Comp != nil {
		e.Fn = h.fn[e.Comp]
	}
	if e.Why == "" {
		e.Why = pick(h.rng, reasons)
	}
	if e.Comp != nil && (e.Kind == Observation || (e.Kind == BugCause || e.Kind == BugFix) && h.rng.Float64() < .3) {
		e.Bound, e.Digest = true, h.digestOf(e.Comp.Path)
	}
	h.p.Log = append(h.p.Log, e)
	return e
}

// change sets a fact and puts the event that says so into the log.
func (h *history) change(e *Event, key, value string) *Event {
	f := h.facts[key]
	if f == nil {
		f = &fact{}
		h.facts[key] = f
	} else {
		f.past = append(f.past, f.value)
	}
	if f.stated == nil {
		h.keys = append(h.keys, key)
		if len(h.hot) < 3 && h.rng.Float64() < .1 {
			h.hot = append(h.hot, key)
		}
	}
	e.Fact, e.Old, e.New = key, f.value, value
	f.value = value
	f.version++
	e.Version = f.version
	f.stated = h.emit(e)
	return e
}

// restate says a present fact again, from another session's point of view.
func (h *history) restate(busy map[string]bool) {
	if len(h.keys) == 0 {
		h.chatter()
		return
	}
	key := pick(h.rng, h.keys)
	if len(h.hot) > 0 && h.rng.Float64() < .3 {
		key = pick(h.rng, h.hot)
	}
	was := h.facts[key].stated
	if was.Session == h.session || was.Comp != nil && busy[was.Comp.Type] {
		h.chatter()
		return
	}
	e := *was
	e.Restates, e.First, e.Bound, e.Digest = was, true, false, ""
	if was.Restates != nil {
		e.Restates = was.Restates
	}
	if e.Kind == Observation && h.facts[key].value != e.New { // the code changed and nobody has looked since
		h.chatter()
		return
	}
	h.emit(&e)
}

func (h *history) chatter() {
	h.emit(&Event{Kind: Chatter, Comp: h.comps[h.rng.IntN(len(h.comps))], First: true})
}

// edit changes a file. A third of the edits change something that was observed in it.
func (h *history) edit(c *Component) {
	h.digest[c.Path]++
	if h.rng.Float64() > .35 {
		return
	}
	rel := pick(h.rng, h.rows["aspect:"+c.Type])
	if f := h.facts[fmt.Sprintf("aspect:%s:%d", c.Type, rel)]; f != nil {
		f.past = append(f.past, f.value)
		f.value = other(h.rng, aspects[rel].values, f.value)
		f.version++
	}
}

func (h *history) digestOf(path string) string {
	return fmt.Sprintf("sha256:%016x", mix(uint64(h.digest[path])+1, path+h.p.Name))
}

// pick returns one of list.
func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// other returns one of list that is not x.
func other(rng *rand.Rand, list []string, x string) string {
	for {
		if v := pick(rng, list); v != x {
			return v
		}
	}
}

// mix is FNV-1a over s, begun with x.
func mix(x uint64, s string) uint64 {
	h := x ^ 14695981039346656037
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
