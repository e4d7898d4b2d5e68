package sdkgen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// pyWords are words that a Python argument cannot be called.
var pyWords = []string{"self", "request_key", "from", "class", "global", "import", "in", "is", "not", "pass", "return", "with", "async", "await", "def", "del", "for", "if", "or", "and", "as"}

func pyName(n string) string {
	if slices.Contains(pyWords, n) {
		return n + "_"
	}
	return n
}

// Python returns the Python SDK's types.py and operations.py.
func (d *Document) Python() (types, operations []byte, err error) {
	calls, err := d.calls()
	if err != nil {
		return nil, nil, err
	}
	p := &pyTypes{d: d}
	for _, n := range sorted(d.Components.Schemas) {
		if _, err := p.define(pyType(n), d.Components.Schemas[n]); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", n, err)
		}
	}
	var o strings.Builder
	o.WriteString("# Written by internal/sdkgen from openapi.json; do not edit.\n\"\"\"The operations of the service, a method each.\"\"\"\n\n" +
		"from __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, Optional\n\nfrom . import types as t\n\n\nclass Operations:\n" +
		"    \"\"\"Methods of the client. A member that is None is not sent. request_key makes a repeated change happen once.\"\"\"\n\n" +
		"    def _call(self, method: str, path: str, body: bool, members: Dict[str, Any], request_key: Optional[str]) -> Any:\n        raise NotImplementedError\n")
	p.where = "t."
	for _, c := range calls {
		fmt.Fprintf(&o, "\n    def %s(\n        self,\n        *,\n", c.ID)
		all := d.members(c)
		for _, m := range all {
			kind, err := p.kind("", m.schema)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", c.ID, err)
			}
			if m.required {
				fmt.Fprintf(&o, "        %s: %s,\n", pyName(m.name), kind)
			} else {
				fmt.Fprintf(&o, "        %s: %s = None,\n", pyName(m.name), optional(kind))
			}
		}
		out := "Dict[str, Any]"
		if c.out != "" {
			out = "t." + pyType(c.out)
		}
		fmt.Fprintf(&o, "        request_key: Optional[str] = None,\n    ) -> %s:\n        %s\n", out, pyDoc(c.Description, "        "))
		o.WriteString("        members = {\n")
		for _, m := range all {
			fmt.Fprintf(&o, "            %q: %s,\n", m.name, pyName(m.name))
		}
		word := "False"
		if c.body {
			word = "True"
		}
		fmt.Fprintf(&o, "        }\n        return self._call(%q, %q, %s, members, request_key)\n", c.method, pattern(c), word)
	}
	head := "# Written by internal/sdkgen from openapi.json; do not edit.\n\"\"\"The structs of the wire as typed dictionaries.\"\"\"\n\n" +
		"from __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, Optional, TypedDict\n"
	return []byte(head + p.b.String()), []byte(o.String()), nil
}

func optional(kind string) string {
	if strings.HasPrefix(kind, "Optional[") || kind == "Any" {
		return kind
	}
	return "Optional[" + kind + "]"
}

// pyDoc is a docstring on as few lines as it takes.
func pyDoc(text, indent string) string {
	const width = 110
	var lines []string
	line := ""
	for _, word := range strings.Fields(strings.ReplaceAll(text, `"""`, `'''`)) {
		if len(indent)+len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	lines = append(lines, line)
	if len(lines) == 1 {
		return `"""` + lines[0] + `"""`
	}
	return `"""` + strings.Join(lines, "\n"+indent) + "\n" + indent + `"""`
}

// pyType is the Python name of a schema; None is taken.
func pyType(n string) string {
	if n == "None" {
		return "Nothing"
	}
	return n
}

// pyTypes collects the definitions; structs within structs get names of their own.
type pyTypes struct {
	d     *Document
	b     strings.Builder
	where string // put in front of names that types.py defines
}

// define writes the definition of a named schema, those within it first.
func (p *pyTypes) define(n string, s *schema) (string, error) {
	if s.Properties == nil {
		kind, err := p.kind(n, s)
		if err == nil {
			fmt.Fprintf(&p.b, "\n%s = %s\n", n, kind)
		}
		return n, err
	}
	kinds := map[string]string{}
	awkward := false
	for _, f := range sorted(s.Properties) {
		kind, err := p.kind(n+strings.ToUpper(f[:1])+f[1:], s.Properties[f])
		if err != nil {
			return "", err
		}
		kinds[f] = kind
		awkward = awkward || pyName(f) != f
	}
	parts := [][]string{{}, {}}
	for _, f := range sorted(s.Properties) {
		i := 1
		if slices.Contains(s.Required, f) {
			i = 0
		}
		parts[i] = append(parts[i], f)
	}
	base := "TypedDict"
	for i, fields := range parts {
		total, own := "", n
		if i == 0 && len(parts[1]) > 0 {
			own = "_" + n + "Required"
		}
		if i == 1 {
			total = ", total=False"
		}
		if len(fields) == 0 && (i == 0 || base != "TypedDict") {
			continue
		}
		if awkward { // a member is called by a word of the language: only the other form can say that
			fmt.Fprintf(&p.b, "\n%s = TypedDict(\n    %q,\n    {\n", own, own)
			for _, f := range append(slices.Clone(parts[0]), parts[1]...) {
				fmt.Fprintf(&p.b, "        %q: %q,\n", f, kinds[f])
			}
			fmt.Fprintf(&p.b, "    },\n    total=False,\n)\n")
			if own != n {
				fmt.Fprintf(&p.b, "%s = %s\n", n, own)
			}
			return n, nil
		}
		fmt.Fprintf(&p.b, "\n\nclass %s(%s%s):\n", own, base, total)
		if i == 1 || len(parts[1]) == 0 {
			if text := sentence(s.Description); text != "" {
				fmt.Fprintf(&p.b, "    %s\n\n", pyDoc(text, "    "))
			}
		}
		for _, f := range fields {
			fmt.Fprintf(&p.b, "    %s: %s\n", f, kinds[f])
			if text := s.Properties[f].about(); text != "" {
				fmt.Fprintf(&p.b, "    %s\n", pyDoc(text, "    "))
			}
		}
		base = own
	}
	if base == "TypedDict" {
		fmt.Fprintf(&p.b, "\n\nclass %s(TypedDict):\n    pass\n", n)
	}
	return n, nil
}

// kind is the Python type of s; a struct in it is defined as n.
func (p *pyTypes) kind(n string, s *schema) (string, error) {
	if s.Ref != "" {
		return p.where + pyType(name(s.Ref)), nil
	}
	kind, null := s.kind()
	var out string
	switch kind {
	case "string":
		out = "str"
		if len(s.Enum) > 0 {
			words := make([]string, len(s.Enum))
			for i, e := range s.Enum {
				words[i] = fmt.Sprintf("%q", e)
			}
			out = "Literal[" + strings.Join(words, ", ") + "]"
		}
	case "boolean":
		out = "bool"
	case "integer":
		out = "int"
	case "number":
		out = "float"
	case "array":
		item, err := p.kind(n, s.Items)
		if err != nil {
			return "", err
		}
		out = "List[" + item + "]"
	case "object":
		var err error
		if out, err = p.object(n, s); err != nil {
			return "", err
		}
	case "":
		return "Any", nil
	default:
		return "", fmt.Errorf("type %q is not known", kind)
	}
	if null {
		out = optional(out)
	}
	return out, nil
}

func (p *pyTypes) object(n string, s *schema) (string, error) {
	switch {
	case s.Properties != nil && n != "":
		return p.define(n, s)
	case len(s.Additional) > 0 && s.Additional[0] == '{':
		var inner schema
		if err := json.Unmarshal(s.Additional, &inner); err != nil {
			return "", err
		}
		item, err := p.kind(n, &inner)
		return "Dict[str, " + item + "]", err
	}
	return "Dict[str, Any]", nil
}
