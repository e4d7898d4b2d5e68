package mcpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// Limits of a result.
const (
	MaxResult  = 8 << 10 // bytes of the JSON object; hosts move longer results into files that models do not open
	MaxNotices = 3       // notices with one result
	maxNotice  = 300     // bytes of a notice's text
)

// finish turns a reply into the result: notices added, numbers safe, and no longer than MaxResult.
func finish(def *op.Def, raw []byte, n client.Notices) []byte {
	fits := len(raw) <= MaxResult && !hasBigInt(raw) && !bytes.Contains(raw, []byte(`"notices":`))
	if fits && len(n.Notices) == 0 {
		return raw
	}
	obj, err := object(raw)
	if err != nil { // not an object: no operation declares that, but a remote server may send anything
		obj = map[string]any{"result": string(raw)}
	}
	if len(n.Notices) > 0 {
		obj["notices"] = noticeObjects(n)
	} else if own, ok := obj["notices"].([]any); ok && def.Out.Properties["notices"] == nil {
		obj["notices"] = trimNotices(own)
	}
	for k, v := range obj {
		obj[k] = safeNumbers(v)
	}
	return shrink(def, obj)
}

// object decodes a JSON object, numbers as written.
func object(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var obj map[string]any
	if err := dec.Decode(&obj); err != nil {
		return nil, err
	}
	if obj == nil {
		obj = map[string]any{}
	}
	return obj, nil
}

func noticeObjects(n client.Notices) []any {
	out := make([]any, 0, MaxNotices)
	for _, x := range n.Notices[:min(len(n.Notices), MaxNotices)] {
		o := map[string]any{"kind": x.Kind, "text": cut(x.Text, maxNotice), "at": x.At}
		if len(x.Data) > 0 && len(compact(x.Data)) <= maxNotice {
			o["data"] = x.Data
		}
		out = append(out, o)
	}
	return out
}

// trimNotices holds a remote server's notices to the same limits.
func trimNotices(own []any) []any {
	own = own[:min(len(own), MaxNotices)]
	for _, x := range own {
		if o, ok := x.(map[string]any); ok {
			if text, ok := o["text"].(string); ok {
				o["text"] = cut(text, maxNotice)
			}
		}
	}
	return own
}

// cut shortens s to at most n bytes on a character's border.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// hasBigInt reports whether raw may hold a number that a JavaScript host would corrupt: 16 digits or more in a row.
func hasBigInt(raw []byte) bool {
	run := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			run = 0
			continue
		}
		if run++; run >= 16 {
			return true
		}
	}
	return false
}

// safeNumbers turns integers beyond 2^53 into strings.
func safeNumbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		if i, err := x.Int64(); !strings.ContainsAny(string(x), ".eE") && (err != nil || i > 1<<53 || i < -(1<<53)) {
			return string(x)
		}
	case map[string]any:
		for k, e := range x {
			x[k] = safeNumbers(e)
		}
	case []any:
		for i, e := range x {
			x[i] = safeNumbers(e)
		}
	}
	return v
}

// shrink encodes obj; while it is too long, the member that takes most of it loses what does not fit: an array its
// last elements, a text its end. What was left out and how to see it is said in `hint`.
func shrink(def *op.Def, obj map[string]any) []byte {
	raw := compact(obj)
	for round := 0; len(raw) > MaxResult && round < 8; round++ {
		name, size := largest(obj)
		if name == "" {
			break
		}
		obj["truncated"] = true
		spare := MaxResult - (len(raw) - size) - 300 // the hint's own bytes
		obj[name] = shorten(def, obj, name, obj[name], max(spare, 200))
		raw = compact(obj)
	}
	if len(raw) > MaxResult { // thousands of small members: nothing declared looks like this
		raw = compact(map[string]any{"truncated": true, "hint": "the reply is too long to show here; " + narrower(def)})
	}
	return raw
}

func largest(obj map[string]any) (name string, size int) {
	for k, v := range obj {
		if n := len(compact(v)); k != "hint" && k != "notices" && (n > size || n == size && k < name) {
			name, size = k, n
		}
	}
	return name, size
}

// shorten returns v in at most size bytes and leaves a hint in obj.
func shorten(def *op.Def, obj map[string]any, name string, v any, size int) any {
	switch x := v.(type) {
	case []any:
		used, keep := 2, 0
		for _, e := range x {
			if used += len(compact(e)) + 1; used > size {
				break
			}
			keep++
		}
		if keep > 0 || len(x) > 1 {
			hint(obj, fmt.Sprintf("%d more of %s not shown; %s", len(x)-keep, name, narrower(def)))
			return x[:keep]
		}
		if len(x) == 1 { // one element that alone is too long: shorten inside it
			return []any{shorten(def, obj, name, x[0], size-2)}
		}
	case map[string]any:
		if inner, n := largest(x); inner != "" {
			x[inner] = shorten(def, obj, name+"."+inner, x[inner], size-(len(compact(x))-n))
		}
		return x
	case string:
		hint(obj, fmt.Sprintf("%s is cut: %d bytes in all", name, len(x)))
		for n := size - 2; n > 0; n /= 2 { // escapes may make it longer than its bytes
			if s := cut(x, n); len(compact(s)) <= size {
				return s
			}
		}
		return ""
	}
	return v
}

func hint(obj map[string]any, text string) {
	if have, ok := obj["hint"].(string); ok && have != "" && !strings.Contains(have, text) {
		text = have + "; " + text
	}
	obj["hint"] = cut(text, 280)
}

// narrowing are the arguments that make an answer shorter, most useful first.
var narrowing = []string{"file_paths", "file_path", "path", "task_types", "tags", "status", "agent_id", "query", "since", "limit"}

// narrower says how to ask this operation for less.
func narrower(def *op.Def) string {
	var have []string
	for _, n := range narrowing {
		if def.In.Properties[n] != nil && !slices.Contains(def.RareFields, n) {
			have = append(have, n)
		}
	}
	if len(have) == 0 {
		return "ask for a single one by its id"
	}
	return "narrow by " + strings.Join(have[:min(len(have), 3)], " or ")
}
