package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// members is a JSON object whose values are kept as they were written, in order.
type members []struct {
	name  string
	value json.RawMessage
}

func parseObject(raw []byte) (members, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if tok != json.Delim('{') {
		return nil, errors.New("it holds no JSON object")
	}
	var out members
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("it is not JSON: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("it is not JSON: %w", err)
		}
		text, _ := name.(string) // an object's names are strings
		out = append(out, struct {
			name  string
			value json.RawMessage
		}{text, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return out, nil
}

func (m members) get(name string) json.RawMessage {
	for _, f := range m {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// with returns m with name set; nil removes it.
func (m members) with(name string, value json.RawMessage) members {
	out := make(members, 0, len(m)+1)
	found := false
	for _, f := range m {
		if f.name == name {
			found = true
			if value == nil {
				continue
			}
			f.value = value
		}
		out = append(out, f)
	}
	if !found && value != nil {
		out = append(out, struct {
			name  string
			value json.RawMessage
		}{name, value})
	}
	return out
}

func (m members) compact() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(f.name) // a string
		b.Write(name)
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// pretty indents like the original did.
func (m members) pretty(original []byte) ([]byte, error) {
	indent := "  "
	if _, rest, ok := strings.Cut(string(original), "\n"); ok {
		if n := len(rest) - len(strings.TrimLeft(rest, " \t")); n > 0 {
			indent = rest[:n]
		}
	}
	var b bytes.Buffer
	if err := json.Indent(&b, m.compact(), "", indent); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if original == nil || bytes.HasSuffix(original, []byte("\n")) {
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
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
