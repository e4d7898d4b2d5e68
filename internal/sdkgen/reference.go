package sdkgen

import (
	"fmt"
	"strings"
)

// Reference returns docs/API_REFERENCE.md: every operation with its members and its answer, by tag.
func (d *Document) Reference() ([]byte, error) {
	calls, err := d.calls()
	if err != nil {
		return nil, err
	}
	byTag := map[string][]call{}
	for _, c := range calls {
		tag := "other"
		if len(c.Tags) > 0 {
			tag = c.Tags[0]
		}
		byTag[tag] = append(byTag[tag], c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# API reference\n\nWritten from `openapi.json`, which the service also serves at `/openapi.json`; `/docs` shows it as a page. Every operation is a method of the\n"+
		"Go, TypeScript and Python SDKs and a command of coordctl, too.\n\n%s\n\n", strings.TrimSpace(d.Info.Description))
	b.WriteString("Failures:\n\n| code | when |\n|---|---|\n")
	for _, n := range sorted(d.Components.Responses) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", n, cell(d.Components.Responses[n].Description))
	}
	b.WriteString("\n")
	for _, tag := range sorted(byTag) {
		fmt.Fprintf(&b, "- [%s](#%s): ", tag, tag)
		for i, c := range byTag[tag] {
			if i > 0 {
				b.WriteString(" · ")
			}
			fmt.Fprintf(&b, "[%s](#%s)", c.ID, c.ID)
		}
		b.WriteString("\n")
	}
	for _, tag := range sorted(byTag) {
		fmt.Fprintf(&b, "\n## %s\n", tag)
		for _, c := range byTag[tag] {
			d.describe(&b, c)
		}
	}
	return []byte(b.String()), nil
}

func (d *Document) describe(b *strings.Builder, c call) {
	fmt.Fprintf(b, "\n### %s\n\n`%s %s` · scope %s%s\n\n%s\n", c.ID, c.method, c.path, c.Scope, d.spellings(c), sentence(c.Description))
	if all := d.members(c); len(all) > 0 {
		b.WriteString("\n| member | type | |\n|---|---|---|\n")
		for _, m := range all {
			name := "`" + m.name + "`"
			if m.required {
				name += " (needed)"
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", name, words(m.schema), cell(m.schema.about()))
		}
	}
	out := d.Components.Schemas[c.out]
	if out == nil || out.Properties == nil {
		return
	}
	b.WriteString("\nAnswer:\n\n| member | type | |\n|---|---|---|\n")
	for _, n := range sorted(out.Properties) {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", n, words(out.Properties[n]), cell(out.Properties[n].about()))
	}
}

// spellings are the other routes of a call.
func (d *Document) spellings(c call) string {
	var also []string
	for _, path := range sorted(d.Paths) {
		for _, method := range sorted(d.Paths[path]) {
			if id := d.Paths[path][method].ID; numbered.MatchString(id) && numbered.ReplaceAllString(id, "") == c.ID {
				also = append(also, "`"+strings.ToUpper(method)+" "+path+"`")
			}
		}
	}
	if len(also) == 0 {
		return ""
	}
	return " · also " + strings.Join(also, ", ")
}

// words is a schema's type for people.
func words(s *schema) string {
	if s.Ref != "" {
		return name(s.Ref)
	}
	kind, null := s.kind()
	if kind == "array" && s.Items != nil {
		kind = "list of " + words(s.Items)
	}
	if kind == "" {
		kind = "any"
	}
	if null && !strings.HasPrefix(kind, "list") {
		kind += " or null"
	}
	return kind
}

func cell(text string) string { return strings.ReplaceAll(sentence(text), "|", `\|`) }
