package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// array is a JSON array in a text, edited as object is.
type array struct {
	text     string
	at       span // from the opening to behind the closing bracket
	elements []span
}

// parseArray reads the array that text holds at offset.
func parseArray(text string, offset int) (array, error) {
	a := array{text: text}
	dec := json.NewDecoder(strings.NewReader(text[offset:]))
	tok, err := dec.Token()
	if err != nil {
		return a, fmt.Errorf("it is not JSON: %w", err)
	}
	if tok != json.Delim('[') {
		return a, errors.New("it holds no JSON array")
	}
	pos := func() int { return offset + int(dec.InputOffset()) }
	a.at.from = pos() - 1
	for dec.More() {
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return a, fmt.Errorf("it is not JSON: %w", err)
		}
		a.elements = append(a.elements, span{pos() - len(value), pos()})
	}
	if _, err := dec.Token(); err != nil {
		return a, fmt.Errorf("it is not JSON: %w", err)
	}
	a.at.to = pos()
	return a, nil
}

// add returns the text with value as the last element, written at depth levels of indent.
func (a array) add(value any, indent string, depth int) (text, added string) {
	margin := strings.Repeat(indent, depth)
	added = margin + indented(value, margin, indent)
	if n := len(a.elements); n > 0 {
		end := a.elements[n-1].to
		return a.text[:end] + ",\n" + added + a.text[end:], added
	}
	return a.text[:a.at.from] + "[\n" + added + "\n" + strings.Repeat(indent, depth-1) + "]" + a.text[a.at.to:], added
}

// remove returns the text without the element at index, and what went.
func (a array) remove(index int) (text, removed string) {
	e := a.elements[index]
	from, to := a.at.from+1, a.at.to-1
	switch {
	case index > 0:
		from, to = a.elements[index-1].to, e.to
	case len(a.elements) > 1:
		from, to = e.from, a.elements[1].from
	}
	return a.text[:from] + a.text[to:], a.text[e.from:e.to]
}

// indented is value as JSON whose further lines begin with margin.
func indented(value any, margin, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(margin, indent)
	_ = enc.Encode(value) // strings, lists and objects of ours
	return strings.TrimSpace(b.String())
}
