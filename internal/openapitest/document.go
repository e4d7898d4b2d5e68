// Package openapitest holds a server to its OpenAPI document: it reads the document that the server serves, generates
// requests for every operation in it (fitting, unfitting and odd ones, the same for the same seed), and holds every reply
// against what the document says.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is an OpenAPI 3.1 document, whose schemas are JSON Schema 2020-12.
type Document struct {
	root     map[string]any
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// Operation is one method of one path.
type Operation struct {
	Method, Path string
	at           string // JSON pointer
	spec         map[string]any
}

// noun is the first segment of the path.
func (o Operation) noun() string {
	noun, _, _ := strings.Cut(strings.TrimPrefix(o.Path, "/"), "/")
	return noun
}

const documentURL = "openapi.json"

// Parse reads a document.
func Parse(raw []byte) (*Document, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	root, ok := parsed.(map[string]any)
	if !ok || root["paths"] == nil {
		return nil, fmt.Errorf("no OpenAPI document: it has no paths")
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(documentURL, root); err != nil {
		return nil, err
	}
	return &Document{root: root, compiler: c, compiled: map[string]*jsonschema.Schema{}}, nil
}

// Operations lists the operations, by path and method.
func (d *Document) Operations() []Operation {
	var out []Operation
	paths, _ := d.root["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item, _ := paths[path].(map[string]any)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			spec, ok := item[method].(map[string]any)
			if !ok || method == "parameters" {
				continue
			}
			out = append(out, Operation{Method: strings.ToUpper(method), Path: path, spec: spec, at: "/paths/" + escape(path) + "/" + method})
		}
	}
	return out
}

func escape(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "{", "%7B", "}", "%7D").Replace(s)
}

// follow resolves $ref, and returns where the thing stands.
func (d *Document) follow(node any, at string) (map[string]any, string) {
	m, _ := node.(map[string]any)
	ref, ok := m["$ref"].(string)
	if !ok {
		return m, at
	}
	var found any = d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		inner, _ := found.(map[string]any)
		found = inner[part]
	}
	return d.follow(found, strings.TrimPrefix(ref, "#"))
}

// parameter is one that the operation documents.
type parameter struct {
	name, in string
	schema   map[string]any
}

func (d *Document) parameters(o Operation) []parameter {
	var out []parameter
	list, _ := o.spec["parameters"].([]any)
	for _, p := range list {
		m, _ := d.follow(p, "")
		name, _ := m["name"].(string)
		in, _ := m["in"].(string)
		schema, _ := d.follow(m["schema"], "")
		out = append(out, parameter{name, in, schema})
	}
	return out
}

// body is the schema of the request's JSON body, nil when there is none.
func (d *Document) body(o Operation) map[string]any {
	body, _ := o.spec["requestBody"].(map[string]any)
	content, _ := body["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	schema, _ := d.follow(media["schema"], "")
	return schema
}

// Check says what is wrong with a reply: a status or a media type that the operation does not document, or a body that
// does not fit its schema. Empty: it fits.
func (d *Document) Check(o Operation, status int, contentType string, body []byte) string {
	responses, _ := o.spec["responses"].(map[string]any)
	documented, ok := responses[fmt.Sprint(status)]
	if !ok {
		return fmt.Sprintf("the status %d is not documented", status)
	}
	response, at := d.follow(documented, fmt.Sprintf("%s/responses/%d", o.at, status))
	content, _ := response["content"].(map[string]any)
	if len(content) == 0 {
		if len(body) > 0 {
			return "a body where none is documented"
		}
		return ""
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || content[media] == nil {
		return fmt.Sprintf("the content type %q is not documented", contentType)
	}
	if !strings.HasSuffix(media, "json") {
		return ""
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return "the body is not JSON: " + err.Error()
	}
	schema, err := d.schema(at + "/content/" + escape(media) + "/schema")
	if err != nil {
		return "the documented schema cannot be used: " + err.Error()
	}
	if err := schema.Validate(value); err != nil {
		return err.Error()
	}
	return ""
}

func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	if s := d.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(documentURL + "#" + pointer)
	if err == nil {
		d.compiled[pointer] = s
	}
	return s, err
}

// encoded is v as JSON; json.RawMessage stays as it is, valid or not.
func encoded(v any) []byte {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil { // a RawMessage inside that is none
		return []byte(`{"unencodable": true}`)
	}
	return out
}
