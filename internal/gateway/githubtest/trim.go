package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Trim cuts GitHub's whole description (api.github.com.json of the npm package @octokit/openapi) down to Operations:
// texts and examples are dropped, answers need not be complete, and neither requests nor answers may have members that are
// not described.
func Trim(full []byte) ([]byte, error) {
	var doc struct {
		OpenAPI    string                               `json:"openapi"`
		Info       map[string]any                       `json:"info"`
		Paths      map[string]map[string]map[string]any `json:"paths"`
		Components map[string]map[string]any            `json:"components"`
	}
	if err := json.Unmarshal(full, &doc); err != nil {
		return nil, err
	}
	paths, components := map[string]any{}, map[string]map[string]any{}
	for _, name := range Operations {
		method, path, _ := strings.Cut(name, " ")
		method = strings.ToLower(method)
		op, ok := doc.Paths[path][method]
		if !ok {
			return nil, fmt.Errorf("the description has no %s", name)
		}
		trimmed := map[string]any{}
		for k, v := range op {
			if !slices.Contains(texts, k) {
				trimmed[k] = trim(v, k != "responses", true)
			}
		}
		item, ok := paths[path].(map[string]any)
		if !ok {
			item = map[string]any{}
			paths[path] = item
		}
		item[method] = trimmed
	}
	for pending := refs(paths, nil); len(pending) > 0; {
		parts := strings.Split(pending[0], "/") // #/components/kind/name
		pending = pending[1:]
		if len(parts) != 4 || components[parts[2]][parts[3]] != nil {
			continue
		}
		value := trim(doc.Components[parts[2]][parts[3]], parts[2] == "parameters", true)
		if components[parts[2]] == nil {
			components[parts[2]] = map[string]any{}
		}
		components[parts[2]][parts[3]] = value
		pending = refs(value, pending)
	}
	info := map[string]any{"title": doc.Info["title"], "version": doc.Info["version"], "license": doc.Info["license"]}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{"openapi": doc.OpenAPI, "info": info, "paths": paths, "components": components})
	return out.Bytes(), err
}

// texts are the members that say nothing about form.
var texts = []string{"description", "example", "examples", "externalDocs", "tags", "summary", "x-github", "x-displayName", "deprecated", "title"}

// trim copies a value. strict keeps what is required; closed says that objects with named members have no others.
func trim(value any, strict, closed bool) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, trim(e, strict, closed))
		}
		return out
	case map[string]any:
		return trimObject(v, strict, closed)
	}
	return value
}

func trimObject(v map[string]any, strict, closed bool) map[string]any {
	out := map[string]any{}
	for k, e := range v {
		_, list := e.([]any)
		switch {
		case k == "properties":
			out[k] = members(e, strict, closed)
		case slices.Contains(texts, k), k == "required" && list && !strict:
		case k == "allOf", k == "anyOf", k == "oneOf":
			// Beside named members, or all at once, the alternatives know only a part of them.
			out[k] = trim(e, strict, closed && k != "allOf" && v["properties"] == nil)
		default:
			out[k] = trim(e, strict, closed)
		}
	}
	if v["properties"] != nil && v["additionalProperties"] == nil && closed {
		out["additionalProperties"] = false
	}
	if isResponse(v) {
		out["description"] = "" // an answer must have one
	}
	return out
}

// members trims the values of named members; the names are not words of the schema.
func members(value any, strict, closed bool) any {
	named, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := make(map[string]any, len(named))
	for k, e := range named {
		out[k] = trim(e, strict, closed)
	}
	return out
}

// isResponse tells an answer from a schema, a parameter and a header.
func isResponse(v map[string]any) bool {
	if _, described := v["description"].(string); !described {
		return false
	}
	for _, k := range []string{"type", "$ref", "schema", "properties", "anyOf", "oneOf", "allOf", "enum", "in"} {
		if v[k] != nil {
			return false
		}
	}
	return true
}

// refs appends the references below a value.
func refs(value any, to []string) []string {
	switch v := value.(type) {
	case map[string]any:
		for k, e := range v {
			if s, ok := e.(string); ok && k == "$ref" {
				to = append(to, s)
				continue
			}
			to = refs(e, to)
		}
	case []any:
		for _, e := range v {
			to = refs(e, to)
		}
	}
	return to
}
