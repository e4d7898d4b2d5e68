package world

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

// stems are the distinct plain terms of texts, slots left out.
func stems(into map[string]string, texts ...string) {
	for _, text := range texts {
		plain := text
		for _, slot := range []string{
			"{new}", "{old}", "{why}", "{agent}", "{subject}", "{cmp}", "{sym}", "{path}", "{slug}", "{fn}", "{code}", "{fix}",
			"{symptom}", "{cause}", "{lib}", "{rel}", "{key}", "{mark}",
		} {
			plain = strings.ReplaceAll(plain, slot, " ")
		}
		recall.Terms(plain, func(t string) {
			if !strings.HasPrefix(t, "=") {
				into[t] = text
			}
		})
	}
}

func docWords() map[string]string {
	out := map[string]string{}
	for _, list := range templates {
		for _, t := range list {
			stems(out, t.sum, t.lesson, t.key, t.details)
		}
	}
	for _, table := range [][]phrase{settings, symptoms, causes, topics, aspects, conventions, purposes} {
		for _, p := range table {
			stems(out, p.doc...)
			stems(out, p.values...)
			stems(out, p.key)
		}
	}
	for _, c := range components {
		stems(out, c.Noun, c.Type, c.Fn, c.Path)
	}
	stems(out, fixes...)
	stems(out, reasons...)
	stems(out, failures...)
	stems(out, teams...)
	stems(out, slices.Collect(maps.Values(typeNames))...)
	stems(out, "owner", "maintainer", "version", "default", "nobody", "again", "success", "failure")
	return out
}

func askWords() map[string]string {
	out := map[string]string{}
	for _, list := range wordings {
		stems(out, list...)
	}
	for _, table := range [][]phrase{settings, symptoms, causes, topics, aspects, conventions, purposes} {
		for _, p := range table {
			stems(out, p.ask...)
		}
	}
	for _, c := range components {
		stems(out, c.Ask)
	}
	stems(out, "person responsible", "edition", "where is from", "what became of", "perhaps told might know according to")
	return out
}

func TestVocabulariesAreDisjoint(t *testing.T) {
	t.Parallel()
	doc, ask := docWords(), askWords()
	for _, w := range slices.Sorted(maps.Keys(ask)) {
		if in, ok := doc[w]; ok && w != "use" && w != "databas" { // "used to be" has no other word; a path's "db" is short for one that questions have
			t.Errorf("%q is asked in %q and written in %q", w, ask[w], in)
		}
	}
}

func TestEveryEventTypeHasFiveTemplates(t *testing.T) {
	t.Parallel()
	for kind := Config; kind <= Skill; kind++ {
		full, bare := 0, 0
		for _, x := range templates[kind] {
			if x.bare {
				bare++
			} else {
				full++
			}
		}
		if full < 5 {
			t.Errorf("event type %d has %d templates that name their subject", kind, full)
		}
	}
	for kind := askValue; kind <= askEditionBehind; kind++ {
		if len(wordings[kind]) < 5 {
			t.Errorf("question kind %d has %d wordings", kind, len(wordings[kind]))
		}
	}
}

func TestSameSeedSameWorld(t *testing.T) {
	t.Parallel()
	size := Size{Projects: 3, Sessions: 10, Events: 12, PerClass: 4}
	a, b, c := Build(7, size), Build(7, size), Build(8, size)
	if !reflect.DeepEqual(a, b) {
		t.Error("two worlds of a seed differ")
	}
	if reflect.DeepEqual(a.Projects[0].Memories[0].Summary+a.Projects[1].Memories[5].Summary, c.Projects[0].Memories[0].Summary+c.Projects[1].Memories[5].Summary) {
		t.Error("worlds of two seeds begin alike")
	}
}

// TestAnswersFollowFromTheLog replays each log on its own and compares what the questions claim.
func TestAnswersFollowFromTheLog(t *testing.T) {
	t.Parallel()
	w := Build(11, Size{Projects: 4, Sessions: 30, Events: 16, PerClass: 8})
	count := map[Class]int{}
	for _, p := range w.Projects {
		last := map[string]*Event{} // the newest statement of each fact
		at := p.Log[0].At
		for _, e := range p.Log {
			if e.At.Before(at) {
				t.Fatalf("%s: event %d is before the one in front of it", p.Name, e.ID)
			}
			at = e.At
			if was := last[e.Fact]; was != nil && e.Fact != "" && e.Restates == nil && e.Kind != Observation && e.Kind != Fails && e.Old != was.New {
				t.Errorf("%s: event %d says that %s was %q; it was %q", p.Name, e.ID, e.Fact, e.Old, was.New)
			}
			last[e.Fact] = e
		}
		for i, m := range p.Memories {
			if m.ID != int64(i+1) {
				t.Fatalf("memory %d has id %d", i+1, m.ID)
			}
			if strings.ContainsAny(m.Summary, "{}") {
				t.Errorf("a slot is left in %q", m.Summary)
			}
			if m.Stale != (m.Digest != "" && m.Digest != p.Digests[m.Path]) {
				t.Errorf("stale flag of %q", m.Summary)
			}
		}
		for _, q := range p.Questions {
			count[q.Class]++
			checkQuestion(t, p, q, last)
		}
	}
	for _, class := range append(slices.Clone(Answerable), Absence, Freshness) {
		if count[class] < 20 {
			t.Errorf("%d questions of class %s", count[class], class)
		}
	}
}

func checkQuestion(t *testing.T, p *Project, q *Question, last map[string]*Event) {
	t.Helper()
	if (q.Class == Absence) != (len(q.Facts) == 0) || strings.ContainsAny(q.Text, "{}") || strings.Contains(q.Text, "%!") {
		t.Errorf("%s: %q with %d facts", q.ID, q.Text, len(q.Facts))
	}
	for _, f := range q.Facts {
		if len(f.Best) == 0 {
			t.Errorf("%s: %q has a fact without statement", q.ID, q.Text)
		}
	}
	for _, id := range q.Latest {
		e := p.Memories[id-1].Event
		if now := last[e.Fact]; now.New != e.New {
			t.Errorf("%s: %q is said to be the latest of %s, the log ends with %q", q.ID, e.New, e.Fact, now.New)
		}
	}
	for _, id := range q.Older {
		if e := p.Memories[id-1].Event; last[e.Fact].New == e.New {
			t.Errorf("%s: %q of %s counts as old and is what the log ends with", q.ID, e.New, e.Fact)
		}
	}
	for _, id := range q.Outdated {
		if m := p.Memories[id-1]; m.Event.Restates == nil && m.Digest != "" && !m.Stale {
			t.Errorf("%s: %q is outdated although its file did not change", q.ID, m.Summary)
		}
	}
}
