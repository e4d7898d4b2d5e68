package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// span is a piece of a JSON text.
type span struct{ from, to int }

// object is a JSON object in a text: where it stands and where its members' names and values do. Edits splice the
// text, so that everything else stays byte for byte as people and programs wrote it.
type object struct {
	text    string
	at      span // from the opening to behind the closing brace
	members []memberAt
}

type memberAt struct {
	key         string
	name, value span
}

// parseObject reads the object that text holds at offset.
func parseObject(text string, offset int) (object, error) {
	o := object{text: text, at: span{from: offset}}
	dec := json.NewDecoder(strings.NewReader(text[offset:]))
	tok, err := dec.Token()
	if err != nil {
		return o, fmt.Errorf("it is not JSON: %w", err)
	}
	if tok != json.Delim('{') {
		return o, errors.New("it holds no JSON object")
	}
	pos := func() int { return offset + int(dec.InputOffset()) }
	o.at.from = pos() - 1
	for dec.More() {
		from := pos()
		key, err := dec.Token()
		if err != nil {
			return o, fmt.Errorf("it is not JSON: %w", err)
		}
		m := memberAt{name: span{from + strings.IndexByte(text[from:pos()], '"'), pos()}}
		m.key, _ = key.(string) // an object's names are strings
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return o, fmt.Errorf("it is not JSON: %w", err)
		}
		m.value = span{pos() - len(value), pos()}
		o.members = append(o.members, m)
	}
	if _, err := dec.Token(); err != nil {
		return o, fmt.Errorf("it is not JSON: %w", err)
	}
	o.at.to = pos()
	return o, nil
}

// wholeObject is parseObject for a file that must hold one object and nothing else.
func wholeObject(text string) (object, error) {
	o, err := parseObject(text, 0)
	if err == nil && strings.TrimSpace(text[o.at.to:]) != "" {
		err = errors.New("it is not JSON: there is text behind the object")
	}
	return o, err
}

// get returns the text of a member's value, empty when there is none, and its index.
func (o object) get(key string) (value string, index int) {
	for i, m := range o.members {
		if m.key == key {
			return o.text[m.value.from:m.value.to], i
		}
	}
	return "", -1
}

// set returns the text with the member, whose value is written at depth levels of indent.
func (o object) set(key string, value any, indent string, depth int) (text, added string) {
	margin := strings.Repeat(indent, depth)
	body := indented(value, margin, indent)
	if _, i := o.get(key); i >= 0 {
		at := o.members[i].value
		return o.text[:at.from] + body + o.text[at.to:], margin + `"` + key + `": ` + body
	}
	name, _ := json.Marshal(key) // a string
	added = margin + string(name) + ": " + body
	if n := len(o.members); n > 0 {
		end := o.members[n-1].value.to
		return o.text[:end] + ",\n" + added + o.text[end:], added
	}
	outer := strings.Repeat(indent, depth-1)
	return o.text[:o.at.from] + "{\n" + added + "\n" + outer + "}" + o.text[o.at.to:], added
}

// remove returns the text without the member at index, and what went.
func (o object) remove(index int) (text, removed string) {
	m := o.members[index]
	from, to := o.at.from+1, o.at.to-1
	switch {
	case index > 0:
		from, to = o.members[index-1].value.to, m.value.to
	case len(o.members) > 1:
		from, to = m.name.from, o.members[1].name.from
	}
	return o.text[:from] + o.text[to:], o.text[m.name.from:m.value.to]
}

// indentOf is the first line's indent inside the object, two spaces when it has none.
func indentOf(text string) string {
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		if n := len(rest) - len(strings.TrimLeft(rest, " \t")); n > 0 {
			return rest[:n]
		}
	}
	return "  "
}

// sameJSON compares two values without regard to spaces and the order of members.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	ca, errA := json.Marshal(x)
	cb, errB := json.Marshal(y)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}
