package openapitest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// mutation makes a fitting request an odd one, or a bad one that must be refused. apply reports whether that is possible
// with this operation.
type mutation struct {
	kind  string
	bad   bool
	apply func(g *generator, d *draft, schemas map[string]map[string]any) bool
}

// member picks a member of the request's body or query, "" when there is none.
func (g *generator) member(d *draft, schemas map[string]map[string]any) (in map[string]any, name string, schema map[string]any) {
	where, in := "query:", d.query
	if d.body != nil {
		where, in = "body:", d.body
	}
	var names []string
	for key := range schemas {
		if rest, ok := strings.CutPrefix(key, where); ok {
			names = append(names, rest)
		}
	}
	if len(names) == 0 {
		return nil, "", nil
	}
	slices.Sort(names)
	name = names[g.IntN(len(names))]
	return in, name, schemas[where+name]
}

// set puts a value into a member that has one of the types.
func set(kinds []string, value func(g *generator) any) func(*generator, *draft, map[string]map[string]any) bool {
	return func(g *generator, d *draft, schemas map[string]map[string]any) bool {
		for range 8 {
			in, name, schema := g.member(d, schemas)
			if in == nil {
				return false
			}
			if len(kinds) == 0 || slices.ContainsFunc(types(schema), func(t string) bool { return slices.Contains(kinds, t) }) {
				in[name] = value(g)
				return true
			}
		}
		return false
	}
}

func body(raw func(g *generator) []byte, contentType string) func(*generator, *draft, map[string]map[string]any) bool {
	return func(g *generator, d *draft, _ map[string]map[string]any) bool {
		if d.body == nil {
			return false
		}
		d.raw, d.contentType = raw(g), contentType
		return true
	}
}

func nested(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat(`{"a":[`, depth/2) + strings.Repeat(`]}`, depth/2))
}

const plainJSON = "application/json"

var text, list = []string{"string"}, []string{"array"}

// large is inBody where there is a body, else inQuery: what a request's line and headers may hold is less.
func large(inBody, inQuery func(*generator, *draft, map[string]map[string]any) bool) func(*generator, *draft, map[string]map[string]any) bool {
	return func(g *generator, d *draft, schemas map[string]map[string]any) bool {
		if d.body != nil {
			return inBody(g, d, schemas)
		}
		return inQuery(g, d, schemas)
	}
}

// mutations are what is tried with every operation.
var mutations = []mutation{
	{"wrong type", true, func(g *generator, d *draft, schemas map[string]map[string]any) bool {
		in, name, schema := g.member(d, schemas)
		if in == nil || d.body == nil || len(types(schema)) == 0 {
			return false
		}
		wrong := []any{"text", true, []any{map[string]any{}}, map[string]any{"a": 1}, 1.5}
		kinds := []string{"string", "boolean", "array", "object", "number"}
		for _, i := range g.Perm(len(wrong)) {
			if t := types(schema); !slices.Contains(t, kinds[i]) {
				in[name] = wrong[i]
				return true
			}
		}
		return false
	}},
	{"missing member", false, func(g *generator, d *draft, _ map[string]map[string]any) bool {
		if len(d.body) == 0 {
			return false
		}
		names := slices.Sorted(maps.Keys(d.body))
		delete(d.body, names[g.IntN(len(names))])
		return true
	}},
	{"null member", false, func(g *generator, d *draft, schemas map[string]map[string]any) bool {
		in, name, _ := g.member(d, schemas)
		if in == nil || d.body == nil {
			return false
		}
		in[name] = nil
		return true
	}},
	{"huge text", false, large(set(text, func(*generator) any { return strings.Repeat("h", 200_000) }), set(text, func(*generator) any { return strings.Repeat("h", 20_000) }))},
	{"odd text", false, set(text, func(g *generator) any { return g.text() })},
	{"NUL", false, set(text, func(*generator) any { return "a\x00b" })},
	{"odd number", false, set([]string{"integer", "number"}, func(g *generator) any { return oddNumbers[g.IntN(len(oddNumbers))] })},
	{"negative number", false, set([]string{"integer", "number"}, func(*generator) any { return -1 })},
	{"long list", false, large(set(list, func(*generator) any { return slices.Repeat([]any{"x"}, 20_000) }), set(list, func(*generator) any { return slices.Repeat([]any{"x"}, 1000) }))},
	{"odd list", false, set(list, func(g *generator) any { return []any{g.anything(0), g.anything(0), g.text()} })},
	{"odd object", false, set([]string{"object"}, func(g *generator) any { return map[string]any{g.text(): g.anything(0), "\x00": "\x00"} })},
	{"deep value", false, large(set(nil, func(g *generator) any { return nested([]int{100, 3000, 9000}[g.IntN(3)]) }), set(nil, func(*generator) any { return nested(600) }))},
	{"anything", false, set(nil, func(g *generator) any { return g.anything(0) })},
	{"unknown member", false, func(g *generator, d *draft, _ map[string]map[string]any) bool {
		in := d.query
		if d.body != nil {
			in = d.body
		}
		in[[]string{"", "zzz", "__proto__", "ä\x00", "agent_id ", strings.Repeat("k", 5000)}[g.IntN(6)]] = g.anything(0)
		return true
	}},
	{"bad id in the path", false, func(g *generator, d *draft, _ map[string]map[string]any) bool {
		if len(d.path) == 0 {
			return false
		}
		for name := range d.path {
			d.path[name] = []any{"x", "0", "\x00", "a\x00b", "..", "a/b", "\xff\xfe", "00000000-0000-0000-0000-000000000000", strings.Repeat("p", 3000), "%", " ", "日本", "-1"}[g.IntN(13)]
		}
		return true
	}},
	{"odd identity", false, func(g *generator, d *draft, _ map[string]map[string]any) bool {
		names := []string{"X-Agent-Id", "X-Agent-Type", "X-Session-Id", "X-Project", "X-Repository", "Idempotency-Key", "X-Request-Id"}
		values := []string{"ä", "\xff", strings.Repeat("i", 5000), "../..", " ", "'", "a b", "日本語"}
		d.headers[names[g.IntN(len(names))]] = values[g.IntN(len(values))]
		return true
	}},
	{"identity of a wrong type", true, func(g *generator, d *draft, _ map[string]map[string]any) bool {
		if d.body == nil {
			return false
		}
		d.body[[]string{"agent_id", "session_id", "project", "repository", "agent_type", "request_key"}[g.IntN(6)]] = []any{map[string]any{}, []any{1}, true}[g.IntN(3)]
		return true
	}},
	{"no body", false, body(func(*generator) []byte { return []byte{} }, plainJSON)},
	{"empty object", false, body(func(*generator) []byte { return []byte("{}") }, plainJSON)},
	{"not JSON", true, body(func(g *generator) []byte {
		return []byte([]string{"{", "x", `{"a":}`, "{}{}", "\xff\xfe", `{"a": NaN}`}[g.IntN(6)])
	}, plainJSON)},
	{"no object", true, body(func(g *generator) []byte { return []byte([]string{"[]", "1", `"x"`, "true"}[g.IntN(4)]) }, plainJSON)},
	{"too deep", true, body(func(*generator) []byte { return nested(40_000) }, plainJSON)},
	{"too large", true, body(func(*generator) []byte { return []byte(`{"reason": "` + strings.Repeat("l", 5<<20) + `"}`) }, plainJSON)},
	{"a form", true, body(func(*generator) []byte { return []byte("agent_id=a&file_path=b") }, "application/x-www-form-urlencoded")},
	{"odd content type", true, body(func(*generator) []byte { return []byte("<a/>") }, "text/xml; charset=\"")},
	{"half a character", false, body(func(*generator) []byte { return []byte(`{"agent_id": "a", "reason": "\ud800"}`) }, plainJSON)},
}
