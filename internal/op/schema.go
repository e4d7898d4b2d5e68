package op

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// inline is a huma registry that never makes references: MCP hosts show the model one schema a tool, and a
// reference there is a lost description.
type inline struct{}

func (r inline) Schema(t reflect.Type, _ bool, _ string) *huma.Schema {
	return huma.SchemaFromType(r, t)
}
func (inline) SchemaFromRef(string) *huma.Schema            { return nil }
func (inline) TypeFromRef(string) reflect.Type              { return nil }
func (inline) Map() map[string]*huma.Schema                 { return nil }
func (inline) RegisterTypeAlias(reflect.Type, reflect.Type) {}

func schemaOf(r huma.Registry, t reflect.Type) *huma.Schema {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("%s is not a struct", t))
	}
	s := r.Schema(t, false, "")
	delete(s.Properties, "$schema")
	return s
}

// taggedFields reads the tags that doors need beyond the schema: kind:"path" and mcp:"full".
func taggedFields(t reflect.Type) (paths, rare []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			p, r := taggedFields(f.Type)
			paths, rare = append(paths, p...), append(rare, r...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("kind") == "path" {
			paths = append(paths, name)
		}
		if f.Tag.Get("mcp") == "full" {
			rare = append(rare, name)
		}
	}
	return paths, rare
}

func typed[In, Out any](do func(context.Context, ident.Caller, In) (Out, error)) func(context.Context, ident.Caller, []byte) (any, error) {
	if do == nil {
		return nil
	}
	return func(ctx context.Context, c ident.Caller, args []byte) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fault.Invalid("", "the request does not fit this operation: "+err.Error(), "compare it with /openapi.json")
		}
		out, err := do(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

// identityFields are members that every HTTP call may carry beside an operation's own.
var identityFields = []string{"agent_id", "agent_type", "session_id", "project", "repository"}

// takeIdentity moves identity members that the operation does not itself declare out of args into the claim.
func (d *Def) takeIdentity(args map[string]any, claim *ident.Claim) *fault.Error {
	for _, f := range identityFields {
		v, sent := args[f]
		if !sent || d.In.Properties[f] != nil {
			continue
		}
		delete(args, f)
		s, isString := v.(string)
		if v == nil || (isString && s == "") {
			continue
		}
		if !isString || len(s) > 200 {
			return fault.Invalid(f, f+" must be a string of at most 200 characters", "send a short name")
		}
		switch f {
		case "agent_id":
			claim.Agent = s
		case "agent_type":
			claim.AgentType = s
		case "session_id":
			claim.Session = s
		case "project":
			claim.Project = s
		case "repository":
			claim.Repository = s
		}
	}
	return nil
}

// prepare maps old spellings, drops or refuses unknown members, drops nulls of optional ones, and validates.
func (d *Def) prepare(args map[string]any, strict bool) (unknown []string, err *fault.Error) {
	for old, name := range d.Aliases {
		if v, ok := args[old]; ok {
			if _, both := args[name]; !both {
				args[name] = v
			}
			delete(args, old)
		}
	}
	for k, v := range args {
		switch {
		case d.In.Properties[k] == nil && strict:
			return nil, d.unknownField(k)
		case d.In.Properties[k] == nil:
			unknown = append(unknown, k)
			delete(args, k)
		case v == nil && !d.required(k):
			delete(args, k)
		}
	}
	var res huma.ValidateResult
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	huma.Validate(inline{}, d.In, path, huma.ModeWriteToServer, args, &res)
	if len(res.Errors) > 0 {
		return unknown, d.validationFault(res.Errors)
	}
	return unknown, nil
}

func (d *Def) required(name string) bool {
	for _, r := range d.In.Required {
		if r == name {
			return true
		}
	}
	return false
}

func (d *Def) unknownField(name string) *fault.Error {
	e := fault.Invalid(name, fmt.Sprintf("%s has no argument %q", d.Name, name), "")
	best, score := "", 4
	names := make([]string, 0, len(d.In.Properties))
	for p := range d.In.Properties {
		names = append(names, p)
		if s := Distance(name, p); s < score {
			best, score = p, s
		}
	}
	if best != "" {
		e.Next = fmt.Sprintf("did you mean %q?", best)
	} else {
		e.Next = "its arguments are " + strings.Join(sorted(names), ", ")
	}
	return e
}

func (d *Def) validationFault(errs []error) *fault.Error {
	var first *huma.ErrorDetail
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		detail, ok := err.(*huma.ErrorDetail)
		if !ok {
			texts = append(texts, err.Error())
			continue
		}
		if first == nil {
			first = detail
		}
		if detail.Location != "" {
			texts = append(texts, detail.Location+": "+detail.Message)
		} else {
			texts = append(texts, detail.Message)
		}
	}
	e := fault.Invalid("", strings.Join(texts, "; "), "correct the named members; nothing was changed")
	if first != nil {
		e.Field = first.Location
		if name, ok := missingProperty(first.Message); ok && e.Field == "" {
			e.Field = name
		}
	}
	return e
}

// missingProperty reads the member's name out of huma's text for a missing one.
func missingProperty(msg string) (string, bool) {
	rest, ok := strings.CutPrefix(msg, "expected required property ")
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, " ")
	return name, ok
}
