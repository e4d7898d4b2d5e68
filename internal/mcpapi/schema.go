package mcpapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// inputSchema is d.In as a tool shows it: strict, without what only costs tokens, rare members left out unless full.
func inputSchema(d *op.Def, full bool) json.RawMessage {
	s := *d.In
	s.Properties = map[string]*huma.Schema{}
	for name, p := range d.In.Properties {
		if full || !slices.Contains(d.RareFields, name) {
			s.Properties[name] = p
		}
	}
	s.Required = slices.DeleteFunc(slices.Clone(d.In.Required), func(n string) bool { return s.Properties[n] == nil })
	var b bytes.Buffer
	writeSchema(&b, &s, schemaStyle{docs: true, limits: true, strict: true, order: fieldOrder(d.Types[0])})
	return b.Bytes()
}

// problemTypes are the members of a failure. Clients check a failed call's object against the same output schema, so
// a member that an operation's reply shares with it must allow both.
var problemTypes = map[string]string{
	"type": "string", "title": "string", "status": "integer", "code": "string", "what": "string", "why": "string",
	"next": "string", "field": "string", "retryable": "boolean", "retry_after": "integer", "request_id": "string", "detail": "string",
}

// outputSchema is d.Out plus the members that any result may carry. Hosts do not show it to the model, so it says
// only what a program needs: names and types of the top-level members (the whole of tools/list has a budget too; what
// lies deeper is in the OpenAPI document). Members may be added later, so it is not strict; and it requires none, since
// a failed call's object has others. For the same reason rare members may go without a declaration.
func outputSchema(d *op.Def, full bool) json.RawMessage {
	s := *d.Out
	s.Required = nil
	s.Properties = map[string]*huma.Schema{}
	for name, p := range d.Out.Properties {
		if !full && slices.Contains(d.RareOut, name) {
			continue
		}
		if t := problemTypes[name]; t != "" && t != p.Type {
			p = &huma.Schema{}
		}
		s.Properties[name] = p
	}
	order := fieldOrder(d.Types[1])
	if s.Properties["notices"] == nil { // truncated and hint, which long results get, need no declaration
		s.Properties["notices"] = &huma.Schema{Type: "array"}
		order = append(order, "notices")
	}
	for name, p := range s.Properties {
		s.Properties[name] = shallow(p)
	}
	var b bytes.Buffer
	writeSchema(&b, &s, schemaStyle{order: order})
	return b.Bytes()
}

// shallow is a schema without what lies inside it.
func shallow(s *huma.Schema) *huma.Schema { return &huma.Schema{Type: s.Type, Nullable: s.Nullable} }

// schemaStyle says what writeSchema keeps beside names and types.
type schemaStyle struct {
	docs, limits, strict bool
	order                []string // of the top-level properties; others follow by name
}

// writeSchema writes s as compact JSON in a fixed order: the bytes of tools/list must not change between runs. It
// leaves out titles, formats, examples and $schema, which models read and never need.
func writeSchema(b *bytes.Buffer, s *huma.Schema, style schemaStyle) {
	b.WriteByte('{')
	first := true
	member := func(name string, value any) {
		writeMember(b, &first, name, value)
	}
	switch {
	case s.Type != "" && s.Nullable && !style.strict:
		member("type", []string{s.Type, "null"})
	case s.Type != "":
		member("type", s.Type)
	}
	if style.docs && s.Description != "" {
		member("description", s.Description)
	}
	if len(s.Enum) > 0 && style.limits {
		member("enum", s.Enum)
	}
	if style.limits {
		writeLimits(member, s)
	}
	inner := style
	inner.order = nil
	if s.Items != nil && !isAny(s.Items) {
		writeMember(b, &first, "items", nil)
		writeSchema(b, s.Items, inner)
	}
	if len(s.Properties) > 0 {
		writeMember(b, &first, "properties", nil)
		writeProperties(b, s, style)
	}
	if len(s.Required) > 0 {
		member("required", slices.Sorted(slices.Values(s.Required)))
	}
	writeAdditional(b, &first, s, style)
	b.WriteByte('}')
}

// writeLimits shows limits that change what a model sends. Lengths are checked, not shown: no model counts characters
// or elements, and the refusal says the limit. Zero as default or minimum goes without saying.
func writeLimits(member func(string, any), s *huma.Schema) {
	if s.Default != nil && !reflect.ValueOf(s.Default).IsZero() {
		member("default", s.Default)
	}
	if s.Minimum != nil && *s.Minimum != 0 {
		member("minimum", *s.Minimum)
	}
	if s.Maximum != nil {
		member("maximum", *s.Maximum)
	}
}

func writeProperties(b *bytes.Buffer, s *huma.Schema, style schemaStyle) {
	names := make([]string, 0, len(s.Properties))
	for _, n := range style.order {
		if s.Properties[n] != nil && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	var rest []string
	for n := range s.Properties {
		if !slices.Contains(names, n) {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	inner := style
	inner.order = nil
	b.WriteByte('{')
	first := true
	for _, n := range append(names, rest...) {
		writeMember(b, &first, n, nil)
		writeSchema(b, s.Properties[n], inner)
	}
	b.WriteByte('}')
}

// writeAdditional closes objects with known members in strict schemas and describes the values of maps.
func writeAdditional(b *bytes.Buffer, first *bool, s *huma.Schema, style schemaStyle) {
	switch extra := s.AdditionalProperties.(type) {
	case *huma.Schema:
		if !isAny(extra) {
			writeMember(b, first, "additionalProperties", nil)
			inner := style
			inner.order = nil
			writeSchema(b, extra, inner)
		}
	case bool:
		if !extra && style.strict {
			writeMember(b, first, "additionalProperties", false)
		}
	}
}

// isAny reports whether s accepts every value: saying so costs bytes and tells nothing.
func isAny(s *huma.Schema) bool { return s.Type == "" && len(s.Properties) == 0 && len(s.Enum) == 0 }

// writeMember writes a name and, unless value is nil, its value.
func writeMember(b *bytes.Buffer, first *bool, name string, value any) {
	if !*first {
		b.WriteByte(',')
	}
	*first = false
	b.Write(compact(name))
	b.WriteByte(':')
	if value != nil {
		b.Write(compact(value))
	}
}

// compact is JSON without HTML escapes. The values are schema members that have been marshalled before at start.
func compact(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// fieldOrder lists a struct's members as declared.
func fieldOrder(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			names = append(names, fieldOrder(f.Type)...)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
