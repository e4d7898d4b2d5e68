package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// member is one member of a JSON object; object keeps the order of the wire.
type member struct {
	name  string
	value any // nil, bool, json.Number, string, []any, object
}

type object []member

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func decodeOrdered(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return decodeValue(dec)
}

func decodeValue(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		var o object
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			o = append(o, member{fmt.Sprint(name), v})
		}
		_, err = dec.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	}
	return tok, nil
}

const maxCell = 72 // characters of a table's cell

// render writes a reply for people: key: value lines, tables for lists of objects, notices last.
func render(w io.Writer, raw []byte) error {
	v, err := decodeOrdered(raw)
	if err != nil {
		return fmt.Errorf("the reply is not JSON: %w", err)
	}
	switch v := v.(type) {
	case object:
		renderObject(w, v, "")
		renderNotices(w, v.get("notices"))
	case []any:
		renderList(w, v, "")
	default:
		fmt.Fprintln(w, scalar(v))
	}
	return nil
}

func renderObject(w io.Writer, o object, indent string) {
	width := 0
	for _, m := range o {
		if isScalar(m.value) && !empty(m.value) {
			width = max(width, len(m.name))
		}
	}
	for _, m := range o {
		if empty(m.value) || (m.name == "notices" && indent == "") {
			continue
		}
		switch v := m.value.(type) {
		case object:
			fmt.Fprintf(w, "%s%s:\n", indent, m.name)
			renderObject(w, v, indent+"  ")
		case []any:
			if allScalar(v) {
				fmt.Fprintf(w, "%s%-*s %s\n", indent, width+1, m.name+":", joined(v))
				continue
			}
			fmt.Fprintf(w, "%s%s (%d):\n", indent, m.name, len(v))
			renderList(w, v, indent+"  ")
		default:
			fmt.Fprintf(w, "%s%-*s %s\n", indent, width+1, m.name+":", strings.ReplaceAll(scalar(v), "\n", "\n"+indent+"  "))
		}
	}
}

// renderList writes a table; members that are themselves objects are shown as JSON.
func renderList(w io.Writer, list []any, indent string) {
	var columns []string
	for _, row := range list {
		o, ok := row.(object)
		if !ok {
			fmt.Fprintf(w, "%s- %s\n", indent, cell(row))
			continue
		}
		for _, m := range o {
			if !empty(m.value) && !slices.Contains(columns, m.name) {
				columns = append(columns, m.name)
			}
		}
	}
	if len(columns) == 0 {
		return
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "%s%s\n", indent, strings.ToUpper(strings.Join(columns, "\t")))
	for _, row := range list {
		o, ok := row.(object)
		if !ok {
			continue
		}
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = cell(o.get(c))
		}
		fmt.Fprintf(tw, "%s%s\n", indent, strings.Join(cells, "\t"))
	}
	_ = tw.Flush() // a terminal that went away
}

func renderNotices(w io.Writer, v any) {
	list, ok := v.([]any)
	if !ok {
		return
	}
	for _, n := range list {
		if o, ok := n.(object); ok {
			fmt.Fprintf(w, "! %s\n", scalar(o.get("text")))
		}
	}
}

func cell(v any) string {
	s := strings.Join(strings.Fields(scalar(v)), " ")
	if r := []rune(s); len(r) > maxCell {
		return string(r[:maxCell-1]) + "…"
	}
	return s
}

func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []any:
		if allScalar(v) {
			return joined(v)
		}
	case string:
		return v
	case json.Number:
		return v.String()
	}
	raw, _ := json.Marshal(plain(v)) // it came from JSON
	return string(raw)
}

// plain turns ordered objects back into what encoding/json knows.
func plain(v any) any {
	switch v := v.(type) {
	case object:
		m := make(map[string]any, len(v))
		for _, f := range v {
			m[f.name] = plain(f.value)
		}
		return m
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	}
	return v
}

func joined(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = scalar(v)
	}
	return strings.Join(texts, ", ")
}

func isScalar(v any) bool {
	switch v := v.(type) {
	case object:
		return false
	case []any:
		return allScalar(v)
	}
	return true
}

func allScalar(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool {
		switch v.(type) {
		case object, []any:
			return true
		}
		return false
	})
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}
