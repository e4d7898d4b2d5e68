package openapitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Request is one generated request.
type Request struct {
	Operation Operation
	Kind      string // what is special about it: "fitting", "wrong type", …
	Target    string // path and query
	Headers   map[string]string
	Body      []byte
}

// String shows the request for a failure's text.
func (r Request) String() string {
	body := string(r.Body)
	if len(body) > 300 {
		body = fmt.Sprintf("%s… (%d bytes)", body[:300], len(body))
	}
	target := r.Target
	if len(target) > 300 {
		target = target[:300] + "…"
	}
	return fmt.Sprintf("[%s] %s %s %v %s", r.Kind, r.Operation.Method, target, r.Headers, body)
}

// generator makes requests. The same seed and the same known values give the same requests.
type generator struct {
	*rand.Rand
	doc   *Document
	known map[string][]any // values of earlier replies, by member name, and by noun and member name: ids that exist
	noun  string           // first segment of the operation's path
	fixed map[string]any   // members that always have one value
}

// oddTexts are texts that something somewhere takes for more than text.
var oddTexts = []string{
	"", " ", "\t\n", "\u0000", "a\u0000b", "\u202e", "ä\u0301", "\uffff", "\U0010ffff", "日本語", "NaN", "-1", "null", "true", "[]", "{", "\\", "%", "%00", "%s%n", "\"", "'; drop table x; --",
	"../..", "..", "/etc/passwd", "C:\\x", "**", "src/{a,b}/[!c]*.go", "[", "{a,", "api:GET /v1", "00000000-0000-0000-0000-000000000000", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
	"0001-01-01T00:00:00Z", "2026-13-45", "infinity", "-infinity", "now", "epoch", "1e400", "ses_", "run_x", "refs/heads/../x", "-rf", "http://[::1", strings.Repeat("x", 300), strings.Repeat("y/", 600),
}

var oddNumbers = []any{
	0.0, -0.5, 1.0, -1.0, 2.0, 0.5, 100.0, 1e6, 2147483647.0, 2147483648.0, -2147483649.0, 9007199254740993.0, 1e18, 1e19, 1e300, -1e300,
	json.RawMessage("9223372036854775807"), json.RawMessage("9223372036854775808"), json.RawMessage("1e-400"),
}

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

func types(schema map[string]any) []string {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, x := range t {
			if s, ok := x.(string); ok && s != "null" {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func number(schema map[string]any, key string, otherwise float64) float64 {
	if n, ok := schema[key].(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return otherwise
}

// merged is a schema whose allOf parts are one object.
func (g *generator) merged(schema map[string]any) map[string]any {
	parts, ok := schema["allOf"].([]any)
	if !ok {
		return schema
	}
	properties, required := map[string]any{}, []any{}
	for _, p := range parts {
		part, _ := g.doc.follow(p, "")
		more, _ := part["properties"].(map[string]any)
		maps.Copy(properties, more)
		list, _ := part["required"].([]any)
		required = append(required, list...)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// fitting is a value that fits the schema of the member name.
func (g *generator) fitting(name string, schema map[string]any, depth int) any {
	if v, ok := g.fixed[name]; ok {
		return v
	}
	for _, pool := range []string{g.noun + "." + name, name} { // what this noun's replies called so, else any reply
		if have := g.known[pool]; len(have) > 0 && g.IntN(4) > 0 {
			return have[g.IntN(len(have))]
		}
	}
	if enum, ok := schema["enum"].([]any); ok && len(enum) > 0 {
		return enum[g.IntN(len(enum))]
	}
	kind := ""
	if t := types(schema); len(t) > 0 {
		kind = t[g.IntN(len(t))]
	}
	switch kind {
	case "string":
		return g.fittingText(name, schema)
	case "integer", "number":
		low := number(schema, "minimum", 0)
		v := low + float64(g.IntN(int(min(max(number(schema, "maximum", low+1000)-low, 0), 1000))+1))
		if kind == "integer" {
			return int64(v)
		}
		return v
	case "boolean":
		return g.IntN(2) == 0
	case "array":
		items, _ := g.doc.follow(schema["items"], "")
		n := int(number(schema, "minItems", 0)) + g.IntN(3)
		list := make([]any, 0, n)
		for range min(n, int(number(schema, "maxItems", 1000))) {
			list = append(list, g.fitting(strings.TrimSuffix(name, "s"), items, depth+1))
		}
		return list
	case "object":
		return g.object(schema, depth+1)
	}
	return map[string]any{"k": g.text()}
}

func (g *generator) fittingText(name string, schema map[string]any) string {
	if format, _ := schema["format"].(string); format == "uuid" {
		return fmt.Sprintf("%08x-0000-4000-8000-%012x", g.Uint32(), g.Uint32())
	} else if format == "date-time" {
		return "2026-01-02T03:04:05Z"
	}
	words := []string{"a", "build", "src/main.go", "x-1", "fix the form", "ä b", "refs/heads/main", "0123456789abcdef0123456789abcdef01234567"}
	if strings.HasSuffix(name, "_id") || name == "name" {
		words = []string{"a1", "ses_b", "c-3"}
	}
	if pattern, _ := schema["pattern"].(string); pattern != "" {
		rule, err := regexp.Compile(pattern)
		fit := slices.DeleteFunc(append(words, "0123456789abcdef0123456789abcdef01234567", "a", "2026-01-02T03:04:05Z"), func(w string) bool { return err != nil || !rule.MatchString(w) })
		if len(fit) > 0 {
			words = fit
		}
	}
	text := words[g.IntN(len(words))]
	low, high := int(number(schema, "minLength", 0)), int(number(schema, "maxLength", 1e6))
	for len(text) < low {
		text += "x"
	}
	return text[:min(len(text), high)]
}

func (g *generator) object(schema map[string]any, depth int) map[string]any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) && (depth > 4 || g.IntN(3) > 0) && g.fixed[name] == nil {
			continue
		}
		sub, _ := g.doc.follow(properties[name], "")
		out[name] = g.fitting(name, sub, depth)
	}
	return out
}

// draft is a request before it is written down.
type draft struct {
	path, query, headers map[string]any
	body                 map[string]any // nil: none
	raw                  []byte         // in place of body
	contentType          string
}

func (g *generator) draft(o Operation) (draft, map[string]map[string]any) {
	g.noun = o.noun()
	d := draft{path: map[string]any{}, query: map[string]any{}, headers: map[string]any{}, contentType: "application/json"}
	schemas := map[string]map[string]any{}
	for _, p := range g.doc.parameters(o) {
		schemas[p.in+":"+p.name] = p.schema
		switch p.in {
		case "path":
			d.path[p.name] = g.fitting(p.name, p.schema, 0)
		case "query":
			if g.fixed[p.name] != nil || g.IntN(3) == 0 {
				d.query[p.name] = g.fitting(p.name, p.schema, 0)
			}
		}
	}
	if schema := g.doc.body(o); schema != nil {
		schema = g.merged(schema)
		properties, _ := schema["properties"].(map[string]any)
		for name, sub := range properties {
			schemas["body:"+name], _ = g.doc.follow(sub, "")
		}
		d.body = g.object(schema, 0)
	} else {
		d.headers["X-Agent-Id"] = g.fixed["agent_id"]
	}
	return d, schemas
}

func (g *generator) finish(o Operation, kind string, d draft) Request {
	target := o.Path
	for name, v := range d.path {
		target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(fmt.Sprint(v)))
	}
	if len(d.query) > 0 {
		q := url.Values{}
		for name, v := range d.query {
			if list, ok := v.([]any); ok {
				for _, x := range list {
					q.Add(name, plain(x))
				}
				continue
			}
			q.Add(name, plain(v))
		}
		target += "?" + q.Encode()
	}
	r := Request{Operation: o, Kind: kind, Target: target, Headers: map[string]string{}, Body: d.raw}
	if d.body != nil && d.raw == nil {
		r.Body = encoded(d.body)
	}
	if r.Body != nil {
		r.Headers["Content-Type"] = d.contentType
	}
	for name, v := range d.headers {
		r.Headers[name] = headerSafe(fmt.Sprint(v))
	}
	return r
}

func plain(v any) string {
	switch v.(type) {
	case map[string]any, []any, json.RawMessage:
		return string(encoded(v))
	}
	return fmt.Sprint(v)
}

// headerSafe drops what HTTP itself does not carry in a header.
func headerSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
