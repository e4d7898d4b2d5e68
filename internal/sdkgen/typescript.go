package sdkgen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// TypeScript returns sdk/typescript's types.d.ts and operations.js.
func (d *Document) TypeScript() (types, operations []byte, err error) {
	calls, err := d.calls()
	if err != nil {
		return nil, nil, err
	}
	var t, o strings.Builder
	t.WriteString("// Written by internal/sdkgen from openapi.json; do not edit.\n")
	for _, n := range sorted(d.Components.Schemas) {
		s := d.Components.Schemas[n]
		text, err := d.tsObject(s, "")
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", n, err)
		}
		comment(&t, "", s.Description)
		if strings.HasPrefix(text, "{") {
			fmt.Fprintf(&t, "export interface %s %s\n\n", n, text)
		} else {
			fmt.Fprintf(&t, "export type %s = %s;\n\n", n, text)
		}
	}
	t.WriteString("/** What may be said with one call. */\nexport interface CallOptions {\n  /** makes a repeated change happen once, also across restarts; random unless set */\n  requestKey?: string;\n" +
		"  signal?: AbortSignal;\n  /** milliseconds before the call is given up; 30,000 beyond its wait_seconds unless set */\n  timeout?: number;\n}\n\n" +
		"/** One method for every operation. */\nexport interface Operations {\n")
	o.WriteString("// Written by internal/sdkgen from openapi.json; do not edit.\n\n/** Method, path, and whether members go into the body. */\nexport const operations = {\n")
	for _, c := range calls {
		in, optional := "Record<string, never>", "?"
		if all := d.members(c); len(all) > 0 {
			var b strings.Builder
			b.WriteString("{ ")
			for i, m := range all {
				if i > 0 {
					b.WriteString("; ")
				}
				kind, err := d.tsType(m.schema, "")
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", c.ID, err)
				}
				mark := "?"
				if m.required {
					mark, optional = "", ""
				}
				fmt.Fprintf(&b, "%s%s: %s", key(m.name), mark, kind)
			}
			b.WriteString(" }")
			in = b.String()
			if c.in != "" && !slices.ContainsFunc(all, func(m member) bool { return m.in != "body" }) {
				in = c.in
			}
		}
		out := c.out
		if out == "" {
			out = "Record<string, never>"
		}
		comment(&t, "  ", c.Description)
		fmt.Fprintf(&t, "  %s(members%s: %s, options?: CallOptions): Promise<%s>;\n", camel(c.ID), optional, in, out)
		fmt.Fprintf(&o, "  %s: [%q, %q, %v],\n", camel(c.ID), c.method, pattern(c), c.body)
	}
	t.WriteString("}\n")
	o.WriteString("};\n")
	return []byte(t.String()), []byte(o.String()), nil
}

// pattern is the path with members that keep their slashes marked: {+name}.
func pattern(c call) string {
	if slashes(c, "file_path") {
		return strings.Replace(c.path, "{file_path}", "{+file_path}", 1)
	}
	return c.path
}

func camel(id string) string {
	parts := strings.Split(id, "_")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "")
}

func key(n string) string {
	if strings.ContainsFunc(n, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		q, _ := json.Marshal(n) // a string always marshals
		return string(q)
	}
	return n
}

func comment(b *strings.Builder, indent, text string) {
	if text = sentence(text); text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, strings.ReplaceAll(text, "*/", "* /"))
	}
}

func (d *Document) tsObject(s *schema, indent string) (string, error) {
	if s.Properties == nil {
		return d.tsType(s, indent)
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, n := range sorted(s.Properties) {
		p := s.Properties[n]
		kind, err := d.tsType(p, indent+"  ")
		if err != nil {
			return "", err
		}
		comment(&b, indent+"  ", p.about())
		mark := "?"
		if slices.Contains(s.Required, n) {
			mark = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, key(n), mark, kind)
	}
	return b.String() + indent + "}", nil
}

func (d *Document) tsType(s *schema, indent string) (string, error) {
	if s.Ref != "" {
		return name(s.Ref), nil
	}
	kind, null := s.kind()
	var out string
	switch kind {
	case "string", "boolean":
		out = kind
		if len(s.Enum) > 0 {
			words := make([]string, len(s.Enum))
			for i, e := range s.Enum {
				q, err := json.Marshal(e)
				if err != nil {
					return "", err
				}
				words[i] = string(q)
			}
			out = strings.Join(words, " | ")
		}
	case "integer", "number":
		out = "number"
	case "array":
		item, err := d.tsType(s.Items, indent)
		if err != nil {
			return "", err
		}
		out = "Array<" + item + ">"
	case "object":
		switch {
		case s.Properties != nil:
			return d.tsObject(s, indent)
		case len(s.Additional) > 0 && s.Additional[0] == '{':
			var inner schema
			if err := json.Unmarshal(s.Additional, &inner); err != nil {
				return "", err
			}
			item, err := d.tsType(&inner, indent)
			if err != nil {
				return "", err
			}
			out = "Record<string, " + item + ">"
		default:
			out = "Record<string, unknown>"
		}
	case "":
		return "unknown", nil
	default:
		return "", fmt.Errorf("type %q is not known", kind)
	}
	if null {
		out += " | null"
	}
	return out, nil
}
