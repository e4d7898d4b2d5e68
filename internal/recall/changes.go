package recall

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
)

// Who changes something tends to say what it was: "8s -> 15s", "back to 8s from 15s", "(was 8s)", "not Postgres", a diff.
// The values that a memory takes leave of tie it to the older memory that introduced them, even where the two call the
// thing by different names ("timeout", "deadline").

const (
	maxChangeText  = 8000 // bytes of a field that are read for changes: who writes more pastes logs
	maxFormer      = 16   // terms of former values kept of one memory
	maxFormerWords = 3    // words of one former value
)

var (
	// What follows these words is a former value.
	formerAfter = regexp.MustCompile(`(?i)\b(?:was|were|previously|formerly|before|not|over|instead of|rather than|replac(?:es|ed|ing)|supersed(?:es|ed|ing)|undoes|undo|tried|drop(?:s|ped|ping)?|abandon(?:s|ed)?|no longer|remov(?:es|ed|ing))\b[ :=]*`)
	// What stands before these is one.
	formerBefore = regexp.MustCompile(`(?i)\s*(?:->|=>|→)|\s+(?:(?:is|was|were|got) )?(?:rejected|lost|hurt|removed|dropped|deprecated|abandoned|superseded|replaced|did not|didn't|no longer|failed)\b`)
	// "from" is about a change only where its sentence is.
	formerFrom = regexp.MustCompile(`(?i)\b(?:to|upgrad\w*|bump\w*|migrat\w*|moved?|switch\w*|chang\w*|took|takes|back)\b[^.;\n]*?\bfrom +|\bfrom +()(?:[^.,;\n ]+ +){1,3}to\b`)
	// Lines of a diff; the first may follow a word, as details are laid out.
	diffLines = regexp.MustCompile(`(?m)^(?:\w+ )?-(.*)\n(?:-.*\n)*\+(.*)$`)
	wordRun   = regexp.MustCompile(`[\pL\pN_](?:[\pL\pN_./:@#-]*[\pL\pN_])?`)
)

// formerValues are the terms of the values that text says were replaced.
func formerValues(text string) []string {
	text = text[:min(len(text), maxChangeText)]
	var out []string
	add := func(terms []string) {
		for _, t := range terms {
			if len(out) < maxFormer && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	for _, m := range diffLines.FindAllStringSubmatch(text, -1) {
		kept := valueTerms(m[2])
		add(slices.DeleteFunc(valueTerms(m[1]), func(t string) bool { return slices.Contains(kept, t) }))
	}
	for _, at := range formerAfter.FindAllStringIndex(text, -1) {
		add(valueTerms(clause(text[at[1]:], false)))
	}
	for _, at := range formerFrom.FindAllStringSubmatchIndex(text, -1) {
		start := at[1]
		if at[2] >= 0 {
			start = at[2]
		}
		add(valueTerms(clause(text[start:], false)))
	}
	for _, at := range formerBefore.FindAllStringIndex(text, -1) {
		add(valueTerms(clause(text[:at[0]], true)))
	}
	return out
}

// clause is at most maxFormerWords words at the beginning, or end, of text, within one clause.
func clause(text string, end bool) string {
	const stops = ",;()[]{}\"\n!?"
	if end {
		if i := strings.LastIndexAny(text, stops); i >= 0 {
			text = text[i+1:]
		}
		text = text[strings.LastIndex(text, ": ")+1:]
		words := strings.Fields(text)
		return strings.Join(words[max(0, len(words)-1):], " ")
	}
	if i := strings.IndexAny(text, stops); i >= 0 {
		text = text[:i]
	}
	words := strings.Fields(text)
	for i, w := range words {
		if i > 0 && stopWords[strings.ToLower(w)] || w == "->" || w == "=>" {
			words = words[:i]
			break
		}
	}
	return strings.Join(words[:min(len(words), maxFormerWords)], " ")
}

// valueTerms are the terms of a value: a compound as a whole, otherwise the stem.
func valueTerms(value string) []string {
	var out []string
	for _, w := range wordRun.FindAllString(value, -1) {
		var whole, plain string
		termsOf(w, func(t, _ string) {
			if strings.HasPrefix(t, "=") && whole == "" {
				whole = t
			} else if plain == "" {
				plain = t
			}
		})
		if whole != "" {
			plain = whole
		}
		if plain != "" {
			out = append(out, plain)
		}
	}
	return out
}

// formerOf are the hashes of former values in a signature: what stands behind the entry without counts.
func formerOf(sig []byte) []uint32 {
	var out []uint32
	for past := false; len(sig) >= sigEntry; sig = sig[sigEntry:] {
		if past {
			out = append(out, binary.BigEndian.Uint32(sig))
		}
		past = past || sig[4] == 0
	}
	return out
}
