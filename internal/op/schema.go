package op

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

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

// outSchema is schemaOf for a reply. One whose only member is tagged wire:"bare" is that member on the wire.
func outSchema(r huma.Registry, t reflect.Type) *huma.Schema {
	s := schemaOf(r, t)
	if t.NumField() == 1 && t.Field(0).Tag.Get("wire") == "bare" {
		name, _, _ := strings.Cut(t.Field(0).Tag.Get("json"), ",")
		return s.Properties[name]
	}
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

// defaultsOf are the defaults of optional top-level members as JSON would give them.
func defaultsOf(s *huma.Schema) map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		if p.Default == nil || slices.Contains(s.Required, name) {
			continue
		}
		raw, err := json.Marshal(p.Default)
		var v any
		if err == nil {
			err = json.Unmarshal(raw, &v)
		}
		if err != nil {
			panic(fmt.Sprintf("default of %s: %v", name, err))
		}
		out[name] = v
	}
	return out
}

func typed[In, Out any](do func(context.Context, ident.Caller, In) (Out, error)) func(context.Context, ident.Caller, []byte) (any, error) {
	if do == nil {
		return nil
	}
	return func(ctx context.Context, c ident.Caller, args []byte) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, unfit(err)
		}
		out, err := do(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}
