package recall

import (
	"slices"
	"strings"
)

// form is what the wording of a question asks for, beside its subject.
type form struct {
	era    era
	event  string          // words of the event by which the time is told; empty: none
	asOf   int64           // the time of that event once it is found; 0: it is not
	types  map[uint32]bool // of memories that answer such a question
	skills bool            // skills do
	now    bool            // it asks for the present state in so many words
}

// era is the time that a question is about.
type era uint8

const (
	present era = iota
	former      // how it was before
	first       // how it was at the beginning
)

var (
	firstWords  = strings.Fields("original originally first firstly initial initially earliest outset beginning inception")
	nowWords    = strings.Fields("current currently latest newest now nowadays today still present presently")
	nowPhrases  = []string{"these days", "at present", "up to date", "at the moment", "by now", "as of today"}
	formerWords = strings.Fields("before previous previously former formerly earlier prior preceding past historically abandoned replaced superseded old older until back")
	// What stands between these and the end of the clause names an event: "before the move to Kafka".
	eventWords = []string{"before", "prior to", "ahead of", "preceding", "until", "when", "as of", "by the time of", "at the time of"}
)

// incidents are types of memories about something that happened rather than something that holds: they answer why, and a
// newer one does not replace an older one.
var incidents = strings.Fields("error error_resolved fix bug mistake mistake_made failure incident diagnosis root_cause task_failed task_completed")

// undoings are types of memories that take something back: a setting as well as a decision.
var undoings = strings.Fields("revert reverted rollback undo")

// answers pairs forms of questions with the types of memories that answer them, after the classes of Li and Roth (Learning
// question classifiers, 2002): reason, person, manner, and of the trade: rule, version, choice. The types are those of the
// clients and their usual names.
var answers = []struct {
	words, phrases, types []string
	skills                bool
}{
	{words: strings.Fields("why cause caused causes reason reasons explanation explain trouble wrong broken breaks failing crash crashes bug issue problem symptom diagnose"), types: incidents},
	{words: strings.Fields("who whom whose owner owns maintainer responsible contact person"), types: strings.Fields("ownership owner team contact")},
	{
		phrases: []string{"how do i", "how do we", "how to", "how can i", "how can we", "way to", "steps to", "want to"}, words: strings.Fields("command commands"),
		types: strings.Fields("command skill procedure runbook howto success task_completed"), skills: true,
	},
	{
		phrases: []string{"should i", "should we", "supposed to"}, words: strings.Fields("convention guideline guidelines rule rules policy style"),
		types: strings.Fields("convention guideline rule policy pattern pattern_found"),
	},
	{words: strings.Fields("version edition release upgrade library package dependency"), types: strings.Fields("dependency upgrade release")},
	{words: strings.Fields("decide decided decision choose chose chosen choice prefer preferred"), types: []string{"decision"}},
}

func formOf(q Query) form {
	low := strings.ToLower(q.Text)
	words := strings.FieldsFunc(low, func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' })
	text := " " + strings.Join(words, " ") + " "
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	f := form{event: eventOf(low)}
	switch {
	case has(firstWords):
		f.era = first
	case has(formerWords), strings.Contains(text, " used to "):
		f.era = former
	}
	asks := func(phrase string) bool { return strings.Contains(text, " "+phrase+" ") }
	f.now = f.era == present && f.event == "" && (has(nowWords) || slices.ContainsFunc(nowPhrases, asks))
	for _, a := range answers {
		if has(a.words) || slices.ContainsFunc(a.phrases, asks) {
			f.skills = f.skills || a.skills
			f.add(q.Project, a.types)
		}
	}
	return f
}

func (f *form) add(project int64, types []string) {
	if f.types == nil {
		f.types = map[uint32]bool{}
	}
	for h := range typeSet(project, types) {
		f.types[h] = true
	}
}

// wants reports whether d is of a type that answers the question.
func (f *form) wants(d *Doc) bool {
	return f.skills && d.Kind == Procedural || len(f.types) > 0 && f.types[typeOf(d.Sig)]
}

func typeSet(project int64, types []string) map[uint32]bool {
	out := make(map[uint32]bool, len(types))
	for _, t := range types {
		out[hash32(Hash64(project, TypeTerm(t)))] = true
	}
	return out
}

// eventOf returns the words of the event that a question tells the time by: "before the audit, which …" → "the audit".
func eventOf(low string) string {
	for _, w := range eventWords {
		i := strings.Index(" "+low, " "+w+" ")
		if i < 0 {
			continue
		}
		rest := low[min(len(low), i+len(w)+1):]
		if end := strings.IndexAny(rest, ",:;?!"); end >= 0 {
			rest = rest[:end]
		}
		if rest = strings.TrimSpace(rest); rest != "" {
			return rest
		}
	}
	return ""
}

// anchor looks among docs for the memory that tells of the event, and so when it was: the shortest that has all of its
// known words, of which there must be two. The words that only name the event then say little about the answer.
func (c *compiled) anchor(docs []Doc) {
	if c.form.event == "" {
		return
	}
	named := map[string]bool{}
	Terms(c.form.event, func(t string) { named[t] = true })
	var want bitset
	n, others := 0, false
	for i, t := range c.terms {
		switch {
		case t.kind != textTerm || t.df == 0:
		case named[t.text]:
			want.add(i)
			n++
		default:
			others = true
		}
	}
	if n < 2 || !others {
		return
	}
	s, best := c.scorer(), -1
	var m match
	length := func(i int) int { return int(docs[i].LenTitle) + int(docs[i].LenBody) }
	for i := range docs {
		if s.score(&docs[i], &m); m.seen.covers(want) && (best < 0 || length(i) < length(best) || length(i) == length(best) && docs[i].ID < docs[best].ID) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	c.form.asOf = docs[best].CreatedAt
	for i, t := range c.terms {
		if t.kind == textTerm && named[t.text] {
			c.terms[i].weight *= c.p.AnchorWeight
		}
	}
	c.weigh()
}
