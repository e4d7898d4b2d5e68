package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

const apiText = `Locks, work and messages for agents that share code.

Every call needs a key (X-API-Key or Authorization: Bearer), except the ones marked open. Arguments of a call with a
body may stand in the body or in the query; members that are not known are ignored and named in X-Unknown-Fields.

Who acts: agent_id, agent_type, session_id, project and repository may stand in the body of any call, else in the
headers X-Agent-Id, X-Agent-Type, X-Session-Id, X-Project and X-Repository. A key bound to an agent fills them in.

A lost race (a path is held, no work is waiting) is an answer: status 200, success false, and the reason. Errors are
application/problem+json with a stable code; "retryable" says whether the same call may succeed later. Send an
Idempotency-Key with a change to repeat it safely within 24 hours.`

// schemas is the registry of the document: named component schemas, everything below them inline.
type schemas struct {
	byName map[string]*huma.Schema
	types  map[string]reflect.Type
}

func (s *schemas) Schema(t reflect.Type, _ bool, _ string) *huma.Schema {
	return huma.SchemaFromType(s, t)
}
func (s *schemas) SchemaFromRef(string) *huma.Schema            { return nil }
func (s *schemas) TypeFromRef(string) reflect.Type              { return nil }
func (s *schemas) Map() map[string]*huma.Schema                 { return s.byName }
func (s *schemas) RegisterTypeAlias(reflect.Type, reflect.Type) {}
func (s *schemas) MarshalJSON() ([]byte, error)                 { return json.Marshal(s.byName) }

// ref names a schema after its Go type, or after the operation where that is not possible, and refers to it.
func (s *schemas) ref(t reflect.Type, fallback string, of *huma.Schema) *huma.Schema {
	name := t.Name()
	if name == "" || !plainWord(name) || s.types[name] != nil && s.types[name] != t {
		name = fallback
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if s.types[name] == nil {
		s.types[name], s.byName[name] = t, open(of)
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// open copies a schema without "additionalProperties": false: this door ignores what it does not know, and replies
// may grow.
func open(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	own := *s
	if b, ok := own.AdditionalProperties.(bool); ok && !b {
		own.AdditionalProperties = nil
	} else if sub, ok := own.AdditionalProperties.(*huma.Schema); ok {
		own.AdditionalProperties = open(sub)
	}
	if own.Properties != nil {
		own.Properties = make(map[string]*huma.Schema, len(s.Properties))
		for k, v := range s.Properties {
			own.Properties[k] = open(v)
		}
	}
	own.Items = open(s.Items)
	return &own
}

// OpenAPI is the description of every operation that has routes, and of the API's routes beside them, as indented JSON.
// The same catalogue gives the same bytes.
func OpenAPI(cat *op.Catalogue) []byte { return describeAll(cat, beside{polls: true, live: true}) }

func describeAll(cat *op.Catalogue, more beside) []byte {
	reg := &schemas{byName: map[string]*huma.Schema{}, types: map[string]reflect.Type{}}
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Agent Coordinator", Version: "1", Description: apiText,
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Paths: map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: reg, Parameters: commonHeaders(), Responses: errorResponses(reg),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "the API key as bearer token"},
				"apiKey": {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "the API key"},
			},
		},
		Security: []map[string][]string{{"bearer": {}}, {"apiKey": {}}},
	}
	reg.byName["Identity"] = identitySchema()
	tags := map[string]bool{}
	for _, d := range cat.Defs() {
		for i, r := range d.Routes {
			o := describe(reg, d, r, i)
			tags[o.Tags[0]] = true
			setOperation(doc, openPath(r.Path), r.Method, o)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(tags)) {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: t})
	}
	openOperations(doc)
	besideOperations(doc, more)
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("openapi: %v", err)) // a declaration that cannot be printed: found at the first test
	}
	var out bytes.Buffer
	_ = json.Indent(&out, raw, "", " ") // raw came from Marshal
	out.WriteByte('\n')
	return out.Bytes()
}

// openPath turns gin's pattern into OpenAPI's.
func openPath(pattern string) string {
	segs := strings.Split(pattern, "/")
	for i, s := range segs {
		if s != "" && (s[0] == ':' || s[0] == '*') {
			segs[i] = "{" + s[1:] + "}"
		}
	}
	return strings.Join(segs, "/")
}

// describe makes the operation of one route; only the first route keeps the operation's id.
func describe(reg *schemas, d *op.Def, r op.Route, i int) *huma.Operation {
	noun, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	o := &huma.Operation{
		OperationID: d.Name, Summary: d.Title, Description: d.Text, Tags: []string{noun},
		Responses:  map[string]*huma.Response{},
		Extensions: map[string]any{"x-scope": string(d.Scope)},
	}
	if i > 0 {
		o.OperationID, o.Deprecated = d.Name+"_"+strconv.Itoa(i+1), true
		o.Description = "Another spelling of " + d.Routes[0].Method + " " + openPath(d.Routes[0].Path) + "."
	}
	for _, name := range []string{"AgentId", "AgentType", "SessionId", "Project", "Repository", "RequestId"} {
		o.Parameters = append(o.Parameters, &huma.Param{Ref: "#/components/parameters/" + name})
	}
	if d.Scope != ident.Read {
		o.Parameters = append(o.Parameters, &huma.Param{Ref: "#/components/parameters/IdempotencyKey"})
	}
	params := pathParams(d, r.Path)
	for _, p := range params {
		o.Parameters = append(o.Parameters, param(d, p, "path"))
	}
	if r.Method == http.MethodGet || r.Method == http.MethodDelete {
		for _, p := range slices.Sorted(maps.Keys(d.In.Properties)) {
			if !slices.Contains(params, p) {
				o.Parameters = append(o.Parameters, param(d, p, "query"))
			}
		}
	} else {
		o.RequestBody = requestBody(reg, d, params)
	}
	o.Responses[strconv.Itoa(d.Status)] = &huma.Response{
		Description: "the call was carried out, or lost a race (success: false)",
		Headers: map[string]*huma.Header{
			"X-Unknown-Fields":     {Description: "members of the request that were ignored", Schema: &huma.Schema{Type: huma.TypeString}},
			"Idempotency-Replayed": {Description: "true when this is the reply of an earlier call with the same key", Schema: &huma.Schema{Type: huma.TypeString}},
		},
		Content: map[string]*huma.MediaType{"application/json": {Schema: reg.ref(d.Types[1], d.Name+"_reply", d.Out)}},
	}
	if d.Status == http.StatusNoContent {
		o.Responses["204"] = &huma.Response{Description: "done"}
	}
	addFaults(o)
	if o.RequestBody != nil {
		o.Responses["415"] = &huma.Response{Ref: responsesAt + unsupportedMedia}
	}
	if d.Listed {
		o.Responses["400"] = &huma.Response{Ref: responsesAt + badRequest}
	}
	return o
}

func param(d *op.Def, name, in string) *huma.Param {
	s := open(d.In.Properties[name])
	text := s.Description
	s.Description = ""
	return &huma.Param{Name: name, In: in, Description: text, Required: in == "path" || slices.Contains(d.In.Required, name), Schema: s}
}

// requestBody is the operation's input without what the path already says, together with the identity members.
func requestBody(reg *schemas, d *op.Def, params []string) *huma.RequestBody {
	in := reg.ref(d.Types[0], d.Name+"_request", d.In)
	if len(params) > 0 {
		in = open(d.In)
		in.Required = slices.Clone(in.Required)
		for _, p := range params {
			delete(in.Properties, p)
			in.Required = slices.DeleteFunc(in.Required, func(r string) bool { return r == p })
		}
	}
	return &huma.RequestBody{
		Required: len(d.In.Required) > len(params) || d.RefuseEmpty,
		Content: map[string]*huma.MediaType{"application/json": {
			Schema: &huma.Schema{AllOf: []*huma.Schema{in, {Ref: "#/components/schemas/Identity"}}},
		}},
	}
}

func setOperation(doc *huma.OpenAPI, path, method string, o *huma.Operation) {
	item := doc.Paths[path]
	if item == nil {
		item = &huma.PathItem{}
		doc.Paths[path] = item
	}
	switch method {
	case http.MethodGet:
		item.Get = o
	case http.MethodPost:
		item.Post = o
	case http.MethodPut:
		item.Put = o
	case http.MethodPatch:
		item.Patch = o
	case http.MethodDelete:
		item.Delete = o
	default:
		panic("openapi: method " + method)
	}
}

// identityMembers are the words about who acts: body member, header, component name, text.
var identityMembers = [][4]string{
	{"agent_id", "X-Agent-Id", "AgentId", "who acts; needed by calls that act for an agent unless the key is bound to one"},
	{"agent_type", "X-Agent-Type", "AgentType", "its type, such as claude_code"},
	{"session_id", "X-Session-Id", "SessionId", "session it acts in; default: the agent's implicit session"},
	{"project", "X-Project", "Project", "project; default: the key's, else default"},
	{"repository", "X-Repository", "Repository", "repository in the project that paths belong to; default: the first"},
}

func identitySchema() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Description: "Who acts. Every member may be left out or sent as header instead.", Properties: map[string]*huma.Schema{}}
	longest := 200
	for _, m := range identityMembers {
		s.Properties[m[0]] = &huma.Schema{Type: huma.TypeString, MaxLength: &longest, Description: m[3]}
	}
	return s
}

func commonHeaders() map[string]*huma.Param {
	out := map[string]*huma.Param{
		"RequestId":      {Name: "X-Request-Id", In: "header", Description: "names the call in the server's log; echoed", Schema: &huma.Schema{Type: huma.TypeString}},
		"IdempotencyKey": {Name: "Idempotency-Key", In: "header", Description: "a repeat with the same key and body within 24 hours gets the first reply", Schema: &huma.Schema{Type: huma.TypeString}},
	}
	for _, m := range identityMembers {
		out[m[2]] = &huma.Param{Name: m[1], In: "header", Description: m[3], Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return out
}

// errorTexts say when each code is answered.
var errorTexts = map[client.Code]string{
	client.CodeInvalid:          "the request is wrong; nothing was changed",
	client.CodeUnauthenticated:  "no key, or one that is not known",
	client.CodeForbidden:        "the key may not do this, or not as this agent",
	client.CodeNotFound:         "there is no such thing in this project",
	client.CodeConflict:         "the state does not allow it, or a request key was reused",
	client.CodeLeaseLost:        "the fencing token or lease sent is stale",
	client.CodeApprovalRequired: "it waits for a person now; nothing was changed. act_id names what waits",
	client.CodeTooLarge:         "the request is larger than the server accepts",
	client.CodeExhausted:        "a limit was reached; retry later",
	client.CodeInternal:         "a defect of the server",
	client.CodeUnavailable:      "cannot tell: the database or the server is away; never means nothing found",
}

func errorResponses(reg *schemas) map[string]*huma.Response {
	body := reg.ref(reflect.TypeFor[client.Error](), "Error", huma.SchemaFromType(reg, reflect.TypeFor[client.Error]()))
	out := map[string]*huma.Response{}
	for _, c := range fault.Codes() {
		out[string(c)] = &huma.Response{
			Description: string(c) + ": " + errorTexts[c],
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: body}},
		}
	}
	for name, text := range map[string]string{
		badRequest: "invalid: the request contradicts itself, or the state rules it out for good; nothing was changed", unsupportedMedia: "invalid: the body is not plain JSON",
	} {
		out[name] = &huma.Response{Description: text, Content: map[string]*huma.MediaType{"application/problem+json": {Schema: body}}}
	}
	return out
}
