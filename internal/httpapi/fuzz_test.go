package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// FuzzArguments: bodies and query strings become arguments or a fault of the caller's.
func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"agent_id": "a", "n": 1}`), "list=1&list=2&n=%2B1&b=t&o=%7B%22a%22%3A1%7D&x=[1,\"2\"]", "application/json")
	f.Add([]byte(`{"n": 1e400}`), "n=NaN&list=[&%zz", "text/plain; charset=x")
	f.Add([]byte("\xff{"), "a=%ff", "application/x-www-form-urlencoded")
	f.Add([]byte(strings.Repeat(`{"a":`, 200)), "", "")
	d := &op.Def{Aliases: map[string]string{"old": "list"}, In: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"list": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeInteger}}, "n": {Type: huma.TypeInteger}, "f": {Type: huma.TypeNumber},
		"b": {Type: huma.TypeBoolean}, "o": {Type: huma.TypeObject}, "s": {Type: huma.TypeString},
	}}}
	f.Fuzz(func(t *testing.T, body []byte, query, contentType string) {
		args, err := decode(body, http.Header{"Content-Type": {contentType}})
		if err == nil {
			if args == nil {
				args = map[string]any{}
			}
			err = mergeQuery(args, d, query)
		}
		if e := fault.From(err); err != nil && (e.Code != client.CodeInvalid || e.What == "" || e.Status < 400 || e.Status > 499) {
			t.Fatalf("%q %q: %v", body, query, err)
		}
	})
}

// FuzzKeys: the keys of the environment admit who they name and nobody else, and a failure never quotes one.
func FuzzKeys(f *testing.F) {
	f.Add("k1,k2", `{"k1": {"agent_id": "a", "scopes": ["read"]}}`, "k1")
	f.Add(" , ", `{"secret-of-somebody": 1`, "")
	f.Fuzz(func(t *testing.T, list, identities, asked string) {
		keys, err := NewKeys(strings.Split(list, ","), identities)
		if err != nil {
			return
		}
		known := false
		for k := range strings.SplitSeq(list, ",") {
			known = known || strings.TrimSpace(k) == asked && asked != ""
		}
		if _, ok := keys.find(asked); ok != known {
			t.Fatalf("%q of %q: %v", asked, list, ok)
		}
	})
}
