package apiserver

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// generator makes requests that fit a schema mostly, and not at all sometimes.
type generator struct{ *rand.Rand }

var oddTexts = []string{
	"", " ", "a", "x/y.go", "../..", "/etc/passwd", "**", "src/{a,b}/[!c]*.go", "api:GET /v1", "\u0000", "\u202e", "ä\u0301", "NaN", "-1", "null", "'; drop table x; --",
	"{", "\\", "%", "00000000-0000-0000-0000-000000000000", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "infinity", "1e400", strings.Repeat("x", 300), strings.Repeat("y/", 600), "\uffff", "\U0010ffff",
}

var oddNumbers = []float64{0, 1, -1, 2, 5, 10, 0.5, 100, 1e6, 2147483648, 9007199254740993, 1e18, 1e19, 1e300, -1e300}

func (g *generator) text() string { return oddTexts[g.IntN(len(oddTexts))] }

// anything is a value of any kind.
func (g *generator) anything(depth int) any {
	switch n := g.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return g.IntN(2) == 0
	case n == 2:
		return oddNumbers[g.IntN(len(oddNumbers))]
	case n == 3 && depth < 3:
		return []any{g.anything(depth + 1), g.anything(depth + 1)}
	case n == 4 && depth < 3:
		return map[string]any{g.text(): g.anything(depth + 1), "k": g.anything(depth + 1)}
	}
	return g.text()
}

// fitting is a value of the schema's type, in nine of ten cases.
func (g *generator) fitting(s *huma.Schema, depth int) any {
	if g.IntN(10) == 0 || depth > 4 {
		return g.anything(depth)
	}
	if len(s.Enum) > 0 {
		return s.Enum[g.IntN(len(s.Enum))]
	}
	switch s.Type {
	case huma.TypeString:
		if s.Format == "uuid" {
			return fmt.Sprintf("%08x-0000-4000-8000-%012x", g.Uint32(), g.Uint32())
		}
		return g.text()
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil && s.Maximum != nil && g.IntN(2) == 0 {
			return float64(int(*s.Minimum) + g.IntN(int(*s.Maximum-*s.Minimum)+1))
		}
		return oddNumbers[g.IntN(len(oddNumbers))]
	case huma.TypeBoolean:
		return g.IntN(2) == 0
	case huma.TypeArray:
		list := make([]any, g.IntN(4))
		for i := range list {
			list[i] = g.fitting(s.Items, depth+1)
		}
		return list
	case huma.TypeObject:
		if len(s.Properties) > 0 {
			return g.object(s, depth+1)
		}
	}
	return g.anything(depth)
}

func (g *generator) object(s *huma.Schema, depth int) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) && g.IntN(20) > 0 || g.IntN(3) == 0 {
			out[name] = g.fitting(s.Properties[name], depth)
		}
	}
	return out
}

// arguments are a request of d by an agent.
func (g *generator) arguments(d *op.Def) map[string]any {
	args := g.object(d.In, 0)
	if w, ok := args["wait_seconds"].(float64); ok && w > 0 {
		args["wait_seconds"] = 0.05 // waiting is not what this tests
	}
	for _, f := range []string{"agent_id", "session_id", "project", "request_key"} {
		if d.In.Properties[f] == nil && g.IntN(3) == 0 {
			args[f] = g.anything(0)
		}
	}
	if d.In.Properties["agent_id"] == nil && g.IntN(5) > 0 {
		args["agent_id"] = "fuzz-" + string(rune('a'+g.IntN(3)))
	}
	if g.IntN(5) == 0 {
		args[g.text()] = g.anything(0)
	}
	return args
}

func (g *generator) query(args map[string]any) string {
	q := url.Values{}
	for k, v := range args {
		q.Add(k, strings.Trim(fmt.Sprint(v), "[]"))
	}
	return q.Encode()
}
