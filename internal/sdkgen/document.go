// Package sdkgen writes what is derived from the OpenAPI document: the types and operations of the TypeScript and Python
// SDKs, and docs/API_REFERENCE.md. It knows no operation; a golden test keeps the files what the document says.
//
// Promise: the same document gives the same bytes. A document with a form that it does not know is an error.
package sdkgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Document is the part of an OpenAPI 3.1 document that is read.
type Document struct {
	Info struct {
		Title, Version, Description string
	}
	Paths      map[string]map[string]*operation
	Components struct {
		Schemas    map[string]*schema
		Parameters map[string]*parameter
		Responses  map[string]struct{ Description string }
	}
}

type operation struct {
	ID          string `json:"operationId"`
	Summary     string
	Description string
	Tags        []string
	Scope       string `json:"x-scope"`
	Deprecated  bool
	Parameters  []*parameter
	RequestBody *struct {
		Content map[string]struct{ Schema *schema }
	} `json:"requestBody"`
	Responses map[string]struct {
		Ref         string `json:"$ref"`
		Description string
		Content     map[string]struct{ Schema *schema }
	}
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      *schema
}

type schema struct {
	Ref         string    `json:"$ref"`
	Type        kinds     `json:"type"`
	AllOf       []*schema `json:"allOf"`
	Items       *schema
	Properties  map[string]*schema
	Additional  json.RawMessage `json:"additionalProperties"`
	Required    []string
	Enum        []any
	Description string
	Default     any
	Minimum     *float64
	Maximum     *float64
	MinLength   *int
	MaxLength   *int
	MinItems    *int
	MaxItems    *int
	Format      string
}

// kinds is a schema's type: one word or several.
type kinds []string

func (k *kinds) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		*k = make(kinds, 1)
		return json.Unmarshal(raw, &(*k)[0])
	}
	return json.Unmarshal(raw, (*[]string)(k))
}

// kind is the type beside null.
func (s *schema) kind() (kind string, null bool) {
	for _, k := range s.Type {
		if k == "null" {
			null = true
		} else {
			kind = k
		}
	}
	return kind, null
}

// Parse reads a document.
func Parse(raw []byte) (*Document, error) {
	var d Document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	return &d, nil
}

// call is an operation as an SDK offers it.
type call struct {
	*operation
	method, path string
	in, out      string // names of schemas; "" for none
	params       []*parameter
	body         bool
}

var numbered = regexp.MustCompile(`_[0-9]+$`)

// calls are the operations that SDKs offer, by name: each under its canonical route, streams and probes left out.
func (d *Document) calls() ([]call, error) {
	var out []call
	for path, methods := range d.Paths {
		for method, o := range methods {
			if numbered.MatchString(o.ID) || o.Scope == "" {
				continue
			}
			c := call{operation: o, method: strings.ToUpper(method), path: path}
			for _, p := range o.Parameters {
				if p.Ref == "" && (p.In == "path" || p.In == "query") {
					c.params = append(c.params, p)
				}
			}
			if o.RequestBody != nil {
				s := o.RequestBody.Content["application/json"].Schema
				c.body = true
				if s != nil && len(s.AllOf) > 0 {
					c.in = name(s.AllOf[0].Ref)
				}
			}
			named := false
			for status, r := range o.Responses {
				if s := r.Content["application/json"].Schema; strings.HasPrefix(status, "2") && s != nil && s.Ref != "" {
					c.out, named = name(s.Ref), true
				} else if status == "204" {
					named = true
				}
			}
			if named {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b call) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(out); i++ {
		if out[i].ID == out[i-1].ID {
			return nil, fmt.Errorf("operation %s occurs twice", out[i].ID)
		}
	}
	return out, nil
}

// member is one argument of a call.
type member struct {
	name     string
	schema   *schema
	required bool
	in       string // path, query or body
}

// members are all arguments of a call, required ones first, each in the order of its name.
func (d *Document) members(c call) []member {
	var out []member
	seen := map[string]bool{}
	for _, p := range c.params {
		s := *p.Schema
		if s.Description == "" {
			s.Description = p.Description
		}
		out = append(out, member{p.Name, &s, p.Required || p.In == "path", p.In})
		seen[p.Name] = true
	}
	if in := d.Components.Schemas[c.in]; in != nil {
		for _, n := range sorted(in.Properties) {
			if !seen[n] {
				out = append(out, member{n, in.Properties[n], slices.Contains(in.Required, n), "body"})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b member) int {
		if a.required != b.required {
			if a.required {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// slashes reports whether a path member keeps its slashes: paths of files do.
func slashes(c call, param string) bool {
	return param == "file_path" && strings.HasSuffix(c.path, "{file_path}")
}

func name(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// sentence is text on one line.
func sentence(s string) string { return strings.Join(strings.Fields(s), " ") }

// limits are what a value must be like, in words; empty when nothing is said.
func (s *schema) limits() string {
	var all []string
	add := func(format string, v any) { all = append(all, fmt.Sprintf(format, v)) }
	if s.Format != "" && s.Format != "int64" && s.Format != "double" {
		add("%s", s.Format)
	}
	if s.Minimum != nil && s.Maximum != nil {
		all = append(all, fmt.Sprintf("%v to %v", *s.Minimum, *s.Maximum))
	} else if s.Minimum != nil {
		add("at least %v", *s.Minimum)
	} else if s.Maximum != nil {
		add("at most %v", *s.Maximum)
	}
	if s.MaxLength != nil {
		add("at most %v characters", *s.MaxLength)
	}
	if s.MaxItems != nil {
		add("at most %v items", *s.MaxItems)
	}
	if len(s.Enum) > 0 {
		words := make([]string, len(s.Enum))
		for i, e := range s.Enum {
			words[i] = fmt.Sprint(e)
		}
		add("one of %s", strings.Join(words, ", "))
	}
	if s.Default != nil {
		add("default %v", s.Default)
	}
	return strings.Join(all, "; ")
}

// about is a schema's description with its limits.
func (s *schema) about() string {
	text, limits := sentence(s.Description), s.limits()
	switch {
	case limits == "":
		return text
	case text == "":
		return limits
	}
	return text + " (" + limits + ")"
}
