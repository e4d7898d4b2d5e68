package op

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

func init() {
	// Without this huma accepts File_Path for file_path and pays for it in every validation.
	huma.ValidateStrictCasing = true
}

// identityFields are members that every call may carry beside an operation's own.
var identityFields = []string{"agent_id", "agent_type", "session_id", "project", "repository"}

const (
	maxIdentity = 200 // bytes of a name
	maxKey      = 255 // bytes of a request key, as the table has it
	maxDepth    = 64  // of nested values; Postgres reads jsonb with recursion
	maxTexts    = 10  // failures named in one validation error
)

// claimed returns the member of the claim that an identity field fills.
func claimed(claim *ident.Claim, field string) *string {
	switch field {
	case "agent_id":
		return &claim.Agent
	case "agent_type":
		return &claim.AgentType
	case "session_id":
		return &claim.Session
	case "project":
		return &claim.Project
	}
	return &claim.Repository
}

// takeIdentity moves identity members that the operation does not itself declare out of args into the claim, and
// checks the whole claim, wherever its members came from.
func (d *Def) takeIdentity(args map[string]any, claim *ident.Claim) *fault.Error {
	for _, f := range identityFields {
		v, sent := args[f]
		if sent && d.In.Properties[f] == nil {
			delete(args, f)
			s, isString := v.(string)
			if v != nil && !isString {
				return fault.Invalid(f, f+" must be a string", "send a short name")
			}
			if s != "" {
				*claimed(claim, f) = s
			}
		}
		if s := *claimed(claim, f); s != "" && !plainName(s) {
			return fault.Invalid(f, fmt.Sprintf("%s must have at most %d bytes and no control characters", f, maxIdentity), "send a short name")
		}
	}
	return nil
}

// plainName reports whether s can be shown in a line of text and stored.
func plainName(s string) bool {
	return len(s) <= maxIdentity && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// takeKey moves the member request_key out of args unless the operation declares it; key is the one sent as header.
func (d *Def) takeKey(args map[string]any, key string) (string, *fault.Error) {
	if v, sent := args["request_key"]; sent && d.In.Properties["request_key"] == nil {
		delete(args, "request_key")
		s, isString := v.(string)
		if v != nil && !isString {
			return "", fault.Invalid("request_key", "request_key must be a string", "send a fresh one for every change, such as a uuid")
		}
		if key == "" {
			key = s
		}
	}
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsRune(key, 0) {
		return "", fault.Invalid("request_key", fmt.Sprintf("a request key has at most %d bytes of text", maxKey), "send a shorter one, such as a uuid")
	}
	return key, nil
}

// says reports whether args holds a member that means something to the operation, identity and request key included.
func (d *Def) says(args map[string]any) bool {
	for k, v := range args {
		if v != nil && (d.In.Properties[k] != nil || d.Aliases[k] != "" || k == "request_key" || slices.Contains(identityFields, k)) {
			return true
		}
	}
	return false
}

// prepare maps old spellings, drops or refuses unknown members, drops nulls of optional ones, fills in defaults, and
// validates.
func (d *Def) prepare(args map[string]any, strict bool) (unknown []string, err *fault.Error) {
	for old, name := range d.Aliases {
		if v, ok := args[old]; ok {
			if now, both := args[name]; !both || now == nil {
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
		case v == nil && !slices.Contains(d.In.Required, k):
			delete(args, k)
		}
	}
	if !strict {
		for k, v := range args {
			unknown = append(unknown, dropUnknown(d.In.Properties[k], v, k, 0)...)
		}
	}
	if field, what := unstorable(args, "", 0); what != "" {
		return unknown, fault.Invalid(field, what, "correct the named member; nothing was changed")
	}
	if err := d.validate(args); err != nil {
		return unknown, err
	}
	for k, v := range d.defaults {
		if _, sent := args[k]; !sent {
			args[k] = v
		}
	}
	return unknown, nil
}

// dropUnknown removes members of nested objects that their schema does not know, and names them.
func dropUnknown(s *huma.Schema, v any, path string, depth int) (unknown []string) {
	if s == nil || depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			unknown = append(unknown, dropUnknown(s.Items, item, fmt.Sprintf("%s[%d]", path, i), depth+1)...)
		}
	case map[string]any:
		if open, _ := s.AdditionalProperties.(bool); len(s.Properties) == 0 || open {
			return nil
		}
		for k, item := range v {
			if s.Properties[k] == nil {
				if _, typed := s.AdditionalProperties.(*huma.Schema); !typed {
					unknown = append(unknown, path+"."+k)
					delete(v, k)
				}
				continue
			}
			unknown = append(unknown, dropUnknown(s.Properties[k], item, path+"."+k, depth+1)...)
		}
	}
	return unknown
}

// unstorable names the first value that the database cannot hold: a NUL character, or nesting without end.
func unstorable(v any, path string, depth int) (field, what string) {
	if depth > maxDepth {
		return path, fmt.Sprintf("values are nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case string:
		if strings.IndexByte(v, 0) >= 0 {
			return path, "a text holds a NUL character"
		}
		if !utf8.ValidString(v) {
			return path, "a text is not UTF-8"
		}
	case []any:
		for _, item := range v {
			if field, what = unstorable(item, path, depth+1); what != "" {
				return field, what
			}
		}
	case map[string]any:
		for k, item := range v {
			at := path
			if depth == 0 {
				at = k
			}
			if strings.IndexByte(k, 0) >= 0 {
				return path, "a member's name holds a NUL character"
			}
			if field, what = unstorable(item, at, depth+1); what != "" {
				return field, what
			}
		}
	}
	return "", ""
}

// validate checks args against the input's schema.
func (d *Def) validate(args map[string]any) (err *fault.Error) {
	defer func() {
		if recover() != nil { // huma hashes the items of a unique list and does not expect lists or objects there
			err = fault.Invalid("", "a list holds values of a kind that does not fit", "compare the request with /openapi.json")
		}
	}()
	var res huma.ValidateResult
	huma.Validate(inline{}, d.In, huma.NewPathBuffer(make([]byte, 0, 64), 0), huma.ModeWriteToServer, args, &res)
	if len(res.Errors) == 0 {
		return nil
	}
	return d.validationFault(res.Errors)
}

func (d *Def) unknownField(name string) *fault.Error {
	e := fault.Invalid(name, fmt.Sprintf("%s has no argument %q", d.Name, name), "")
	names := slices.Sorted(maps.Keys(d.In.Properties))
	best, score := "", 4
	for _, p := range names {
		if len(name) > 64 {
			break
		}
		if s := Distance(strings.ToLower(name), p); s < score {
			best, score = p, s
		}
	}
	switch {
	case best != "":
		e.Next = fmt.Sprintf("did you mean %q?", best)
	case len(names) == 0:
		e.Next = "it takes no arguments"
	default:
		e.Next = "its arguments are " + strings.Join(names, ", ")
	}
	return e
}

// validationFault says in one sentence what is wrong where. Field is the first member named.
func (d *Def) validationFault(errs []error) *fault.Error {
	type wrong struct{ at, text string }
	all := make([]wrong, 0, len(errs))
	for _, err := range errs {
		var detail *huma.ErrorDetail
		if !errors.As(err, &detail) {
			all = append(all, wrong{"", err.Error()})
			continue
		}
		w := wrong{detail.Location, plainText(detail.Message)}
		if name, ok := missingProperty(detail.Message); ok {
			if w.at != "" {
				w.at += "."
			}
			w.at, w.text = w.at+name, "is needed"
		}
		all = append(all, w)
	}
	texts := make([]string, 0, len(all))
	for i, w := range all {
		if i == maxTexts {
			texts = append(texts, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		texts = append(texts, strings.TrimSpace(w.at+" "+w.text))
	}
	return fault.Invalid(all[0].at, strings.Join(texts, "; "), "correct the named members; nothing was changed")
}

// phrases are how huma's "expected …" reads as "must …", the longer beginning first.
var phrases = [][2]string{
	{"length ", "must have length "},
	{"array length ", "must have length "},
	{"array items to be ", "items must be "},
	{"value to be ", "must be "},
	{"string to be ", "must be "},
	{"string to match ", "must match "},
	{"number to be ", "must be "},
	{"number ", "must be "},
	{"object with ", "must be an object with "},
	{"property ", "needs "},
}

// plainText turns "expected X" into "must be X".
func plainText(msg string) string {
	rest, ok := strings.CutPrefix(msg, "expected ")
	if !ok {
		return msg
	}
	for _, p := range phrases {
		if tail, ok := strings.CutPrefix(rest, p[0]); ok {
			return p[1] + tail
		}
	}
	switch rest {
	case "string", "number", "boolean":
		return "must be a " + rest
	case "integer", "array", "object":
		return "must be an " + rest
	}
	return "must be " + rest
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

// unfit explains why valid JSON does not go into the input struct; what is left for it are numbers out of range.
func unfit(err error) *fault.Error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fault.Invalid(t.Field, fmt.Sprintf("%s cannot be %s", cmp.Or(t.Field, "the request"), t.Value), "send a value in range")
	}
	return fault.Invalid("", "the request does not fit this operation", "compare it with /openapi.json")
}
