package world

import "strings"

// sharing says which names a question has in common with its answer: it uses their Doc words there.
type sharing struct{ rel, comp bool }

// shareKind draws how a question words things: four in ten share nothing but what the language forces.
func (h *history) shareKind(hasComp bool) sharing {
	switch x := h.rng.Float64(); {
	case x < .4:
		return sharing{}
	case !hasComp || x < .65:
		return sharing{rel: true}
	case x < .85:
		return sharing{comp: true}
	}
	return sharing{true, true}
}

// askedKind is what a question is about.
type askedKind int

const (
	askValue askedKind = iota
	askCurrent
	askBeforeMark
	askPrevious
	askFirst
	askWhy
	askCause
	askChoice
	askRule
	askHow
	askCode
	askObserved
	askOwnerOfBug
	askEditionBehind
)

// wordings are the templates of questions. None of their words is used in a template of memories.
var wordings = map[askedKind][]string{
	askValue: {
		"what is the {rel} for the {cmp}", "tell me the {rel} of the {cmp}", "{cmp}: {rel}?", "I must know {cmp} {rel}",
		"remind me about the {rel} concerning the {cmp}", "which {rel} holds for the {cmp}",
	},
	askCurrent: {
		"what is the {rel} of the {cmp} these days", "current {rel}, {cmp}?", "latest {rel} for the {cmp}", "which {rel} does the {cmp} have at present",
		"up to date {rel} for the {cmp} please", "{cmp}: present {rel}?",
	},
	askBeforeMark: {
		"what was the {rel} of the {cmp} before the {mark}", "{rel} of the {cmp} prior to the {mark}?", "ahead of the {mark}, which {rel} did the {cmp} have",
		"the {cmp} and its {rel} when the {mark} began", "in the days preceding the {mark}: {cmp} {rel}",
	},
	askPrevious: {
		"what did the {rel} of the {cmp} used to be", "former {rel} of the {cmp}", "{cmp}: {rel} a while earlier",
		"which {rel} did the {cmp} have until it got altered", "the {rel} that the {cmp} abandoned",
	},
	askFirst: {
		"what was the original {rel} of the {cmp}", "{rel} of the {cmp} at the outset", "the very earliest {rel}, {cmp}", "{cmp} {rel} in the beginning",
		"which {rel} did the {cmp} originally have",
	},
	askWhy: {
		"why does the {cmp} suffer: {rel}", "explanation for {rel} at the {cmp}", "{rel}, {cmp}: what lies beneath", "ground of the {rel} around the {cmp}",
		"something known about {rel} in the {cmp}",
	},
	askCause: {
		"did anybody meet {rel} in the {cmp}", "{cmp}: was it {rel}?", "trouble with the {cmp} owing to {rel}", "{rel} around the {cmp}, any recollection?",
		"has the {cmp} had {rel}",
	},
	askChoice: {
		"which {rel} is the {cmp} meant to have", "{rel} for the {cmp}: what holds?", "what did people prefer as {rel} in the {cmp}", "{cmp} {rel}, what was the outcome",
		"tell me the {rel} concerning the {cmp}",
	},
	askRule: {
		"how should I approach {rel}", "house guideline regarding {rel}", "{rel}: what is expected of me", "what is customary regarding {rel}", "am I supposed to follow something about {rel}",
	},
	askHow: {
		"how do I {rel}", "what to enter so as to {rel}", "I want to {rel}", "the way to {rel} here", "must {rel}, how",
	},
	askCode: {"{code}", "what is {code}", "{code} again?", "getting {code}, any idea", "meaning of {code}"},
	askObserved: {
		"{cmp}: {rel}?", "with the {cmp}, {rel}?", "what about {rel} in the {cmp}", "clarify {rel} for the {cmp}", "{rel} when touching the {cmp}",
	},
	askOwnerOfBug: {
		"whom should I ping about {rel} in the {cmp}", "{rel} at the {cmp}: who is responsible", "person responsible where {rel} bites the {cmp}",
		"who can help with {rel} of the {cmp}", "{cmp} {rel}, whose duty?",
	},
	askEditionBehind: {
		"which edition of the library beneath the {cmp} do we carry", "what sits beneath the {cmp} and how recent is it", "edition of whatever powers the {cmp}",
		"the {cmp} stands on which external library, and which edition", "how recent is the library powering the {cmp}",
	},
}

// wording is a question of a kind.
func (h *history) wording(kind askedKind, rel, comp string, more ...string) string {
	return strings.NewReplacer(append([]string{"{rel}", rel, "{cmp}", comp}, more...)...).Replace(pick(h.rng, wordings[kind]))
}

// compName is what a question calls a component.
func (h *history) compName(c *Component, shared bool) string {
	switch {
	case !shared:
		return c.Ask
	case h.rng.Float64() < .3:
		return c.Type
	}
	return c.Noun
}

// relName is what a question calls a relation.
func (h *history) relName(p phrase, shared bool) string {
	if shared {
		return pick(h.rng, p.doc)
	}
	return pick(h.rng, p.ask)
}

// subject words the relation and component of a fact: a setting, topic, aspect, owner.
func (h *history) subject(e *Event, how sharing) (rel, comp string) {
	if e.Comp != nil {
		comp = h.compName(e.Comp, how.comp)
	}
	switch kind, name, _ := strings.Cut(e.Fact, ":"); kind {
	case "owner":
		if how.rel {
			return pick(h.rng, []string{"owner", "maintainer"}), comp
		}
		return "person responsible", comp
	case "lib":
		if how.rel {
			return "version", name
		}
		return "edition", name
	}
	return h.relName(tableOf(e.Fact)[e.Rel], how.rel), comp
}
